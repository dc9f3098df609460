// Messages for bad input, written into the caller's tpError.

#ifndef TIPPE_SRC_BASE_ERROR_H
#define TIPPE_SRC_BASE_ERROR_H

#include "tippe/base.h"

// Writes the message (cut where it does not fit) and returns `result`. `error` may be NULL.
tpResult tpError_Set(tpError* error, tpResult result, const char* format, ...) TP_PRINTF(3, 4);

tpResult tpError_OutOfMemory(tpError* error);

// The entry of `known` nearest to `word` by edit distance, or NULL if none is near enough to be
// what was meant. Entries that are NULL have no name. For messages that suggest a name.
const char* tpNearestName(const char* word, const char* const* known, int count);

#endif
