// A number that tells structures apart: bodies, shapes and joints as they were made, not the state
// nor what can be set.

#ifndef TIPPE_SRC_WORLD_FINGERPRINT_H
#define TIPPE_SRC_WORLD_FINGERPRINT_H

#include "world/world.h"

// FNV-1a, 64 bits.
#define TP_HASH_START UINT64_C(14695981039346656037)
uint64_t tpFingerprint_Add(uint64_t hash, const void* bytes, size_t size);

uint64_t tpWorld_Fingerprint(const tpWorld* world);

#endif
