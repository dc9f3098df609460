// An allocator with a limit: a reader that asks for more than its file can stand for has failed.

#ifndef TIPPE_FUZZ_BUDGET_H
#define TIPPE_FUZZ_BUDGET_H

#include "fuzz.h"

// Bytes that are in use, and how many may be.
typedef struct Budget {
    size_t used, limit;
} Budget;

static inline void* budgetAllocate(size_t size, void* context) {
    Budget* budget = context;
    budget->used += size;
    REQUIRE(budget->used <= budget->limit);
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static inline void budgetRelease(void* memory, size_t size, void* context) {
    Budget* budget = context;
    REQUIRE(budget->used >= size);
    budget->used -= size;
    free(memory);
}

#endif
