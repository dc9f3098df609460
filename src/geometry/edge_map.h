// A map from directed edges (pairs of vertices) to numbers: a hash table of fixed size.

#ifndef TIPPE_SRC_GEOMETRY_EDGE_MAP_H
#define TIPPE_SRC_GEOMETRY_EDGE_MAP_H

#include "base/memory.h"

typedef struct tpEdgeMap {
    struct tpEdgeEntry* entries;
    size_t size; // a power of two
    tpAllocator allocator;
} tpEdgeMap;

// Room for `count` edges. False if memory ran out.
bool tpCreateEdgeMap(tpEdgeMap* map, const tpAllocator* allocator, int count);
void tpDestroyEdgeMap(tpEdgeMap* map);

// Stores `value` (not negative) for the edge, unless it has one; returns what was there, or -1.
int32_t tpEdgeMap_Add(tpEdgeMap* map, int32_t from, int32_t to, int32_t value);

// The value of the edge, or -1.
int32_t tpEdgeMap_Find(const tpEdgeMap* map, int32_t from, int32_t to);

#endif
