// The map of directed edges: open addressing, at most half full, so that a search ends soon.

#include "geometry/edge_map.h"

#include <string.h>

typedef struct tpEdgeEntry {
    int32_t from, to, value; // value -1: free
} tpEdgeEntry;

bool tpCreateEdgeMap(tpEdgeMap* map, const tpAllocator* allocator, int count) {
    map->size = 16;
    map->allocator = *allocator;
    while (map->size < 2 * (size_t)count) {
        map->size *= 2;
    }
    map->entries = tpAllocate(allocator, map->size * sizeof(tpEdgeEntry));
    if (map->entries == NULL) {
        return false;
    }
    memset(map->entries, 0xff, map->size * sizeof(tpEdgeEntry));
    return true;
}

void tpDestroyEdgeMap(tpEdgeMap* map) {
    tpRelease(&map->allocator, map->entries, map->size * sizeof(tpEdgeEntry));
    map->entries = NULL;
}

// Mixes the two numbers so that grids and strips of triangles spread out [Steele14].
static size_t hashEdge(int32_t from, int32_t to) {
    uint64_t h = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h ^ (h >> 31));
}

static tpEdgeEntry* findEntry(const tpEdgeMap* map, int32_t from, int32_t to) {
    size_t slot = hashEdge(from, to) & (map->size - 1);
    for (;;) {
        tpEdgeEntry* entry = &map->entries[slot];
        if (entry->value < 0 || (entry->from == from && entry->to == to)) {
            return entry;
        }
        slot = (slot + 1) & (map->size - 1);
    }
}

int32_t tpEdgeMap_Add(tpEdgeMap* map, int32_t from, int32_t to, int32_t value) {
    tpEdgeEntry* entry = findEntry(map, from, to);
    if (entry->value >= 0) {
        return entry->value;
    }
    *entry = (tpEdgeEntry){ from, to, value };
    return -1;
}

int32_t tpEdgeMap_Find(const tpEdgeMap* map, int32_t from, int32_t to) {
    return findEntry(map, from, to)->value;
}
