// A binary heap of numbered things by time, which knows where each of them is.
//
// Ids are small whole numbers; a thing is in the heap at most once, and its key can change at any
// time. Equal keys come in the order of ids, so that what comes out depends on keys and ids alone,
// not on the order of calls.

#ifndef TIPPE_SRC_BASE_HEAP_H
#define TIPPE_SRC_BASE_HEAP_H

#include "base/memory.h"

typedef struct tpHeapItem {
    double key;
    int32_t id;
} tpHeapItem;

typedef struct tpHeap {
    TP_ARRAY(tpHeapItem) items;
    TP_ARRAY(int32_t) places; // of ids among the items; -1: not there
    int64_t operationCount;   // insertions, changes of keys and removals since it was last cleared
} tpHeap;

// Room for the ids 0 to idCount - 1; until there are more, nothing below allocates. False if
// memory ran out (nothing has changed then).
bool tpHeap_Reserve(tpHeap* heap, const tpAllocator* allocator, int idCount);
void tpHeap_Destroy(tpHeap* heap, const tpAllocator* allocator);

// Takes everything out.
void tpHeap_Clear(tpHeap* heap);

// Puts a thing in, or gives it another key. Keys are not NaN.
void tpHeap_Set(tpHeap* heap, int32_t id, double key);

// Takes a thing out, if it is there.
void tpHeap_Remove(tpHeap* heap, int32_t id);

static inline bool tpHeap_Has(const tpHeap* heap, int32_t id) {
    return id < heap->places.count && heap->places.data[id] >= 0;
}

// The least key and its thing; false if the heap is empty.
bool tpHeap_Top(const tpHeap* heap, int32_t* id, double* key);

#endif
