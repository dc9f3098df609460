#include "base/heap.h"

bool tpHeap_Reserve(tpHeap* heap, const tpAllocator* allocator, int idCount) {
    if (!TP_RESERVE(allocator, heap->items, idCount) ||
        !TP_RESERVE(allocator, heap->places, idCount)) {
        return false;
    }
    while (heap->places.count < idCount) {
        heap->places.data[heap->places.count++] = -1;
    }
    return true;
}

void tpHeap_Destroy(tpHeap* heap, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, heap->items);
    TP_FREE_ARRAY(allocator, heap->places);
}

void tpHeap_Clear(tpHeap* heap) {
    heap->items.count = 0;
    heap->operationCount = 0;
    for (int i = 0; i < heap->places.count; ++i) {
        heap->places.data[i] = -1;
    }
}

static bool isBefore(tpHeapItem a, tpHeapItem b) {
    return a.key < b.key || (a.key == b.key && a.id < b.id);
}

static void put(tpHeap* heap, int place, tpHeapItem item) {
    heap->items.data[place] = item;
    heap->places.data[item.id] = place;
}

static void moveUp(tpHeap* heap, int place, tpHeapItem item) {
    while (place > 0) {
        int parent = (place - 1) / 2;
        if (!isBefore(item, heap->items.data[parent])) {
            break;
        }
        put(heap, place, heap->items.data[parent]);
        place = parent;
    }
    put(heap, place, item);
}

static void moveDown(tpHeap* heap, int place, tpHeapItem item) {
    for (;;) {
        int child = 2 * place + 1;
        if (child >= heap->items.count) {
            break;
        }
        if (child + 1 < heap->items.count &&
            isBefore(heap->items.data[child + 1], heap->items.data[child])) {
            ++child;
        }
        if (!isBefore(heap->items.data[child], item)) {
            break;
        }
        put(heap, place, heap->items.data[child]);
        place = child;
    }
    put(heap, place, item);
}

// Puts the item where it belongs, starting from a place that is free.
static void settle(tpHeap* heap, int place, tpHeapItem item) {
    if (place > 0 && isBefore(item, heap->items.data[(place - 1) / 2])) {
        moveUp(heap, place, item);
    } else {
        moveDown(heap, place, item);
    }
}

void tpHeap_Set(tpHeap* heap, int32_t id, double key) {
    TP_ASSERT(id >= 0 && id < heap->places.count && key == key);
    ++heap->operationCount;
    int place = heap->places.data[id];
    settle(heap, place >= 0 ? place : heap->items.count++, (tpHeapItem){ key, id });
}

void tpHeap_Remove(tpHeap* heap, int32_t id) {
    int place = heap->places.data[id];
    if (place < 0) {
        return;
    }
    ++heap->operationCount;
    heap->places.data[id] = -1;
    tpHeapItem last = heap->items.data[--heap->items.count];
    if (place < heap->items.count) {
        settle(heap, place, last);
    }
}

bool tpHeap_Top(const tpHeap* heap, int32_t* id, double* key) {
    if (heap->items.count == 0) {
        return false;
    }
    *id = heap->items.data[0].id;
    *key = heap->items.data[0].key;
    return true;
}
