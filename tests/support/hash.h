// Hashes of bits, for tests that hold them to what is known.

#ifndef TIPPE_TESTS_SUPPORT_HASH_H
#define TIPPE_TESTS_SUPPORT_HASH_H

#include "support/check.h"
#include "tippe/collision.h"

static const uint64_t hashStart = UINT64_C(0xcbf29ce484222325);

// FNV-1a.
static inline void hashBytes(uint64_t* hash, const void* start, size_t size) {
    const unsigned char* bytes = start;
    for (size_t k = 0; k < size; ++k) {
        *hash = (*hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    }
}

static inline void hashNumber(uint64_t* hash, double number) {
    number += 0.0; // one zero
    hashBytes(hash, &number, sizeof(number));
}

static inline void hashVector(uint64_t* hash, tpVec3 v) {
    hashNumber(hash, v.x);
    hashNumber(hash, v.y);
    hashNumber(hash, v.z);
}

static inline void hashClosest(uint64_t* hash, const tpClosest* closest) {
    hashNumber(hash, closest->distance);
    hashVector(hash, closest->normal);
    hashVector(hash, closest->pointA);
    hashVector(hash, closest->pointB);
}

static inline void writeHash(uint64_t hash, char text[16]) {
    snprintf(text, 16, "%08x", (unsigned)(hash ^ (hash >> 32)));
}

#endif
