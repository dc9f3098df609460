// Records of one size that are kept once, however many have the same.
//
// Most things of a crowd are alike: ten thousand spheres have one geometry. Records with the same
// bytes share one place, which never moves while somebody has it; what one user may change is no
// record. Which records share a place changes no result, only how much memory is read.

#ifndef TIPPE_SRC_BASE_SHARED_POOL_H
#define TIPPE_SRC_BASE_SHARED_POOL_H

#include "base/memory.h"

typedef struct tpSharedPool {
    tpAllocator allocator;
    size_t size;                     // of a record, bytes
    TP_ARRAY(unsigned char*) pieces; // of some entries each
    int32_t entryCount;              // in all pieces that have been begun, with free ones
    int32_t count;                   // records
    int32_t firstFree;               // -1: none
    int32_t recent[2];               // entries that were taken last; they may be free by now
    TP_ARRAY(int32_t)
    heads; // a power of two: the first entry of each list by hash; -1:
           // none
} tpSharedPool;

void tpCreateSharedPool(tpSharedPool* pool, const tpAllocator* allocator, size_t size);
void tpDestroySharedPool(tpSharedPool* pool);

// The place of a record with these bytes, aligned to 8; NULL if memory ran out. Padding counts:
// whoever wants to share clears it.
const void* tpSharedPool_Take(tpSharedPool* pool, const void* record);

// One user less; the last one's record is gone.
void tpSharedPool_GiveBack(tpSharedPool* pool, const void* record);

#endif
