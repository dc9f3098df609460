// Whether a text is JSON, and if not, where it first goes wrong and what was expected there.

#ifndef TIPPE_SRC_SCENE_JSON_CHECK_H
#define TIPPE_SRC_SCENE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tpJsonFault {
    size_t offset; // of the first byte that is wrong
    char message[200];
} tpJsonFault;

// The text must end in a zero that `length` does not count.
bool tpCheckJson(const char* text, size_t length, tpJsonFault* fault);

// Past blanks, tabs, line ends and comments.
void tpSkipJsonSpace(const char* text, size_t* offset);

#endif
