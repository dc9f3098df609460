// Joints are few against pairs: a sorted array is small, and most lookups end at its first test.

#include "collision/excluded_pairs.h"

#include <string.h>

static bool isBefore(const tpExcludedPair* p, int32_t low, int32_t high) {
    return p->low < low || (p->low == low && p->high < high);
}

// The place of the pair, or where it would stand.
static int findPair(const tpExcludedPairs* set, int32_t low, int32_t high) {
    int from = 0, to = set->pairs.count;
    while (from < to) {
        int middle = (from + to) / 2;
        if (isBefore(&set->pairs.data[middle], low, high)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

static bool isAt(const tpExcludedPairs* set, int place, int32_t low, int32_t high) {
    return place < set->pairs.count && set->pairs.data[place].low == low &&
           set->pairs.data[place].high == high;
}

tpResult tpExcludedPairs_Add(tpExcludedPairs* set, const tpAllocator* allocator, int32_t a,
                             int32_t b) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    int place = findPair(set, low, high);
    if (isAt(set, place, low, high)) {
        ++set->pairs.data[place].count;
        return tp_success;
    }
    if (!TP_RESERVE(allocator, set->pairs, set->pairs.count + 1)) {
        return tp_outOfMemory;
    }
    memmove(&set->pairs.data[place + 1], &set->pairs.data[place],
            (size_t)(set->pairs.count - place) * sizeof(tpExcludedPair));
    set->pairs.data[place] = (tpExcludedPair){ low, high, 1 };
    ++set->pairs.count;
    return tp_success;
}

void tpExcludedPairs_Remove(tpExcludedPairs* set, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    int place = findPair(set, low, high);
    TP_ASSERT(isAt(set, place, low, high));
    if (--set->pairs.data[place].count == 0) {
        --set->pairs.count;
        memmove(&set->pairs.data[place], &set->pairs.data[place + 1],
                (size_t)(set->pairs.count - place) * sizeof(tpExcludedPair));
    }
}

bool tpExcludedPairs_Has(const tpExcludedPairs* set, int32_t a, int32_t b) {
    if (set->pairs.count == 0) {
        return false;
    }
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return isAt(set, findPair(set, low, high), low, high);
}

void tpExcludedPairs_Destroy(tpExcludedPairs* set, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, set->pairs);
}
