// Slots that are taken and given back, with generations.
//
// A slot's generation is odd while it is taken and even while it is free; it grows by one at each
// change, so an id of a destroyed thing never matches its successor in the same slot. The last slot
// given back is the first to be taken again: the order depends on the calls alone.

#ifndef TIPPE_SRC_BASE_ID_POOL_H
#define TIPPE_SRC_BASE_ID_POOL_H

#include "base/memory.h"

typedef struct tpIdPool {
    TP_ARRAY(uint32_t) generations; // a slot each
    TP_ARRAY(int) freeSlots;        // a stack, always with room for every slot
    int liveCount;
} tpIdPool;

// The index of a slot, or -1 if memory ran out.
int tpIdPool_Take(tpIdPool* pool, const tpAllocator* allocator);
void tpIdPool_GiveBack(tpIdPool* pool, int index);
void tpIdPool_Destroy(tpIdPool* pool, const tpAllocator* allocator);

static inline bool tpIdPool_IsLive(const tpIdPool* pool, int index) {
    return index >= 0 && index < pool->generations.count && (pool->generations.data[index] & 1u);
}

// The index behind a public id (slot counted from 1, generation), or -1 if it is not live.
static inline int tpIdPool_Find(const tpIdPool* pool, uint32_t slot, uint32_t generation) {
    if (slot == 0 || slot > (uint32_t)pool->generations.count) {
        return -1;
    }
    int index = (int)(slot - 1);
    return (generation & 1u) && pool->generations.data[index] == generation ? index : -1;
}

#endif
