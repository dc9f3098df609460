#include "base/id_pool.h"

int tpIdPool_Take(tpIdPool* pool, const tpAllocator* allocator) {
    int index;
    if (pool->freeSlots.count > 0) {
        index = pool->freeSlots.data[--pool->freeSlots.count];
    } else {
        // Room to give every slot back is made here, so that giving back cannot fail.
        index = pool->generations.count;
        if (!TP_RESERVE(allocator, pool->freeSlots, index + 1) ||
            !TP_PUSH(allocator, pool->generations, 0u)) {
            return -1;
        }
    }
    pool->generations.data[index] += 1u;
    pool->liveCount += 1;
    return index;
}

void tpIdPool_GiveBack(tpIdPool* pool, int index) {
    TP_ASSERT(tpIdPool_IsLive(pool, index));
    pool->generations.data[index] += 1u;
    pool->freeSlots.data[pool->freeSlots.count++] = index;
    pool->liveCount -= 1;
}

void tpIdPool_Destroy(tpIdPool* pool, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, pool->generations);
    TP_FREE_ARRAY(allocator, pool->freeSlots);
    pool->liveCount = 0;
}
