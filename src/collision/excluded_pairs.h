// Pairs of bodies that do not collide, with counts: a sorted array, and where the pairs of a body
// begin in it.

#ifndef TIPPE_SRC_COLLISION_EXCLUDED_PAIRS_H
#define TIPPE_SRC_COLLISION_EXCLUDED_PAIRS_H

#include "base/memory.h"

typedef struct tpExcludedPair {
    int32_t low, high; // low < high
    int32_t count;
} tpExcludedPair;

typedef struct tpExcludedPairs {
    TP_ARRAY(tpExcludedPair) pairs; // ascending (low, high)
    // Of each body up to the largest `low`: its first pair as that; then the end.
    TP_ARRAY(int32_t) starts;
} tpExcludedPairs;

tpResult tpExcludedPairs_Add(tpExcludedPairs* set, const tpAllocator* allocator, int32_t a,
                             int32_t b);
void tpExcludedPairs_Remove(tpExcludedPairs* set, int32_t a, int32_t b);
bool tpExcludedPairs_Has(const tpExcludedPairs* set, int32_t a, int32_t b);
void tpExcludedPairs_Destroy(tpExcludedPairs* set, const tpAllocator* allocator);

#endif
