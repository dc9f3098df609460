// Bodies have few joints each: a lookup looks at the pairs of one body alone. (Halving all 3,500 of
// 250 ragdolls took 140 instructions per lookup, which go to and fro in memory.)

#include "collision/excluded_pairs.h"

#include <string.h>

// The place of the pair, or where it would stand.
static int findPair(const tpExcludedPairs* set, int32_t low, int32_t high) {
    if (low + 1 >= set->starts.count) {
        return set->pairs.count;
    }
    int from = set->starts.data[low], to = set->starts.data[low + 1];
    while (from < to) {
        int middle = (from + to) / 2;
        if (set->pairs.data[middle].high < high) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

// Pairs of bodies after `low` begin later by so many.
static void moveStarts(tpExcludedPairs* set, int32_t low, int32_t by) {
    for (int k = low + 1; k < set->starts.count; ++k) {
        set->starts.data[k] += by;
    }
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
    if (!TP_RESERVE(allocator, set->pairs, set->pairs.count + 1) ||
        !TP_RESERVE(allocator, set->starts, low + 2)) {
        return tp_outOfMemory;
    }
    while (set->starts.count < low + 2) {
        set->starts.data[set->starts.count++] = set->pairs.count;
    }
    memmove(&set->pairs.data[place + 1], &set->pairs.data[place],
            (size_t)(set->pairs.count - place) * sizeof(tpExcludedPair));
    set->pairs.data[place] = (tpExcludedPair){ low, high, 1 };
    ++set->pairs.count;
    moveStarts(set, low, 1);
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
        moveStarts(set, low, -1);
    }
}

bool tpExcludedPairs_Has(const tpExcludedPairs* set, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return isAt(set, findPair(set, low, high), low, high);
}

void tpExcludedPairs_Destroy(tpExcludedPairs* set, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, set->pairs);
    TP_FREE_ARRAY(allocator, set->starts);
}
