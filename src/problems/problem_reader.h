// What the readers of the room share: the problem being built, and the formats as a table.

#ifndef TIPPE_SRC_PROBLEMS_PROBLEM_READER_H
#define TIPPE_SRC_PROBLEMS_PROBLEM_READER_H

#include "base/memory.h"
#include "problems/scanner.h"
#include "tippe/problems.h"

// A problem and the memory that all its arrays lie in; the public part comes first.
typedef struct tpOwnedProblem {
    tpProblem problem;
    tpAllocator allocator;
    tpArena arena;
} tpOwnedProblem;

// NULL if there is no memory.
tpOwnedProblem* tpCreateOwnedProblem(const tpAllocator* allocator);

// Text of any known format.
tpResult tpReadProblemText(tpScanner* scanner, tpProblemKind kind, tpOwnedProblem* owned);

// An FCLIB file on disk; `kind` as in tpReadProblem.
tpResult tpReadFclib(const char* path, tpProblemKind kind, tpOwnedProblem* owned, tpError* error);

// The names of the datasets that it opens, ended by NULL.
extern const char* const tpFclibNames[];

#endif
