// The order in which sweeps go through the runs of the store: by group, colour and number.

#include <string.h>

#include "sweeps/pack_store_parts.h"

enum { colourLists = tp_maskColours + 1 };

static bool isOccupied(const tpSoftRun* run) {
    return run->packs != NULL && run->used != 0;
}

// Sorts the runs of one group, which stand in the order of their numbers, by colour.
static void sortGroup(tpPackStore* store, int32_t begin, int32_t end, int32_t* scratch) {
    int32_t starts[colourLists + 1] = { 0 };
    const tpSoftRun* runs = store->runs.data;
    int32_t* order = store->order.data;
    for (int32_t i = begin; i < end; ++i) {
        starts[runs[order[i]].colour + 1] += 1;
    }
    for (int k = 0; k < colourLists; ++k) {
        starts[k + 1] += starts[k];
    }
    for (int32_t i = begin; i < end; ++i) {
        scratch[starts[runs[order[i]].colour]++] = order[i];
    }
    memcpy(order + begin, scratch, sizeof(int32_t) * (size_t)(end - begin));
}

bool tpPackStore_Order(tpPackStore* store) {
    if (store->isOrdered && store->groupFirsts.count == store->groups.count + 1) {
        return true;
    }
    const tpAllocator* allocator = &store->allocator;
    int runCount = store->runs.count, groupCount = store->groups.count;
    // The second half of the order is scratch.
    if (!TP_RESERVE(allocator, store->order, 2 * runCount) ||
        !TP_RESERVE(allocator, store->groupFirsts, groupCount + 1)) {
        return false;
    }
    int32_t* firsts = store->groupFirsts.data;
    memset(firsts, 0, sizeof(int32_t) * (size_t)(groupCount + 1));
    for (int r = 0; r < runCount; ++r) {
        firsts[store->runs.data[r].group] += isOccupied(&store->runs.data[r]) ? 1 : 0;
    }
    int32_t sum = 0;
    for (int g = 0; g <= groupCount; ++g) {
        int32_t count = g < groupCount ? firsts[g] : 0;
        firsts[g] = sum;
        sum += count;
    }
    store->order.count = sum;
    for (int r = 0; r < runCount; ++r) {
        if (isOccupied(&store->runs.data[r])) {
            store->order.data[firsts[store->runs.data[r].group]++] = r;
        }
    }
    for (int g = groupCount; g > 0; --g) {
        firsts[g] = firsts[g - 1];
    }
    firsts[0] = 0;
    store->groupFirsts.count = groupCount + 1;
    for (int g = 0; g < groupCount; ++g) {
        if (firsts[g + 1] > firsts[g]) {
            sortGroup(store, firsts[g], firsts[g + 1], store->order.data + runCount);
        }
    }
    store->isOrdered = true;
    return true;
}
