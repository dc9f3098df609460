// An allocator that counts what is out and can refuse the n-th request.
//
//     tpFailingAllocator heap = { 0 };
//     tpAllocator allocator = tpMakeFailingAllocator(&heap);
//     for (int n = 1;; ++n) {
//         heap.requests = 0;
//         heap.failAt = n;                     // the n-th request from here on returns NULL
//         tpResult result = make(&allocator, ...);
//         if (result == tp_success) { destroy(...); }
//         assert_int_equal(heap.outstanding, 0);
//         if (heap.requests < n) { break; }    // fewer were asked for: all have been tried
//     }

#ifndef TIPPE_TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define TIPPE_TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include <stdatomic.h>
#include <stdlib.h>

#include "tippe/base.h"

typedef struct tpFailingAllocator {
    atomic_llong requests;    // made so far
    atomic_llong outstanding; // blocks not yet released
    atomic_llong bytes;       // in those blocks, by the sizes that caller and releaser gave
    long long failAt;         // refuse this request (counted from 1); 0: none
    bool failAllAfter;        // refuse the ones after it too
} tpFailingAllocator;

static void* failingAllocate(size_t size, void* context) {
    tpFailingAllocator* heap = (tpFailingAllocator*)context;
    long long request = atomic_fetch_add(&heap->requests, 1) + 1;
    if (heap->failAt > 0 &&
        (request == heap->failAt || (heap->failAllAfter && request > heap->failAt))) {
        return NULL;
    }
    tpAllocator plain = tpDefaultAllocator();
    void* memory = plain.allocate(size, plain.context);
    if (memory != NULL) {
        atomic_fetch_add(&heap->outstanding, 1);
        atomic_fetch_add(&heap->bytes, (long long)size);
    }
    return memory;
}

static void failingRelease(void* memory, size_t size, void* context) {
    tpFailingAllocator* heap = (tpFailingAllocator*)context;
    atomic_fetch_sub(&heap->outstanding, 1);
    atomic_fetch_sub(&heap->bytes, (long long)size);
    tpAllocator plain = tpDefaultAllocator();
    plain.release(memory, size, plain.context);
}

static inline tpAllocator tpMakeFailingAllocator(tpFailingAllocator* heap) {
    tpAllocator allocator = { failingAllocate, failingRelease, heap };
    return allocator;
}

#endif
