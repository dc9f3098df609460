// The broad phase that starts afresh: a hierarchical spatial hash [MirtichCanny94, sec. 3.2;
// Overmars92].
//
// A box belongs to the level whose cells are the smallest power of two no smaller than its longest
// side, and there to the one cell that holds its centre. It can then overlap only boxes of its own
// level in neighbouring cells, and every box looks upward: at its own level and at all coarser ones
// that are in use, where a few cells hold whatever it can meet. With boxes of bounded density the
// cost is O(n (1 + log R)), R the ratio of the largest box to the smallest.
//
// The cells of all levels share one table of buckets; entries are sorted into it by counting.

#include "collision/broad_phase.h"
#include "collision/pair_gather.h"
#include "geometry/shape.h"

typedef struct Cell {
    int64_t x, y, z;
    int32_t level;
} Cell;

// A box in its cell. The box is here once more, so that a search reads one stretch of memory.
typedef struct Entry {
    Cell cell;
    int32_t proxy;
    tpBounds bounds;
} Entry;

typedef struct Hash {
    tpAllocator allocator;
    TP_ARRAY(Entry) entries;  // in the order of proxies
    TP_ARRAY(Entry) sorted;   // by bucket
    TP_ARRAY(int32_t) starts; // [bucketCount + 1] into sorted
    TP_ARRAY(int32_t) unbounded;
    TP_ARRAY(int32_t) levels; // in use, ascending, no more than entries
    uint32_t bucketMask;
    tpPairGather gather;
    tpPairArray unsorted; // scratch of sorting
} Hash;

struct tpBroadPhase {
    Hash hash;
};

static tpResult createHash(const tpAllocator* allocator, tpBroadPhase** out) {
    *out = tpAllocateZeroed(allocator, sizeof(tpBroadPhase));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    (*out)->hash.allocator = (*out)->hash.gather.allocator = *allocator;
    return tp_success;
}

static void destroyHash(tpBroadPhase* broadPhase) {
    Hash* self = &broadPhase->hash;
    tpAllocator allocator = self->allocator;
    TP_FREE_ARRAY(&allocator, self->entries);
    TP_FREE_ARRAY(&allocator, self->sorted);
    TP_FREE_ARRAY(&allocator, self->starts);
    TP_FREE_ARRAY(&allocator, self->unbounded);
    TP_FREE_ARRAY(&allocator, self->levels);
    tpDestroyPairGather(&self->gather);
    TP_FREE_ARRAY(&allocator, self->unsorted);
    tpRelease(&allocator, broadPhase, sizeof(tpBroadPhase));
}

// Cells ---------------------------------------------------------------------------------------

// Cells farther out than this share one, on the safe side: the map from places to cells stays
// monotonic.
static const double farthestCell = 1e15;

static int64_t cellOf(double place, double size) {
    return (int64_t)fmin(fmax(floor(place / size), -farthestCell), farthestCell);
}

// A side may exceed its cell by this part: boxes of exactly a power of two, which moving leaves
// larger or smaller by a rounding, then share a level. Searches reach farther by more than that.
static const double levelSlack = 1e-9, reachSlack = 1e-8;

// The smallest e with 2^e > the longest side, but for the slack.
static int32_t levelOf(const tpBounds* b) {
    double side = (1.0 - levelSlack) * tpMaxPart(tpSub(b->upper, b->lower));
    int exponent;
    frexp(fmax(side, 0x1p-1000), &exponent);
    return exponent;
}

static Cell homeOf(const tpBounds* b) {
    int32_t level = levelOf(b);
    double size = ldexp(1.0, level);
    return (Cell){ cellOf(0.5 * b->lower.x + 0.5 * b->upper.x, size),
                   cellOf(0.5 * b->lower.y + 0.5 * b->upper.y, size),
                   cellOf(0.5 * b->lower.z + 0.5 * b->upper.z, size), level };
}

static uint32_t bucketOf(const Hash* self, const Cell* cell) {
    uint64_t h = (uint64_t)cell->x * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)cell->y * UINT64_C(0xc2b2ae3d27d4eb4f) +
                 (uint64_t)cell->z * UINT64_C(0x165667b19e3779f9) +
                 (uint64_t)cell->level * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ (h >> 32)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(h >> 32) & self->bucketMask;
}

static bool isSameCell(const Cell* a, const Cell* b) {
    return a->x == b->x && a->y == b->y && a->z == b->z && a->level == b->level;
}

// Keeps the list of levels in use ascending and without doubles.
static void useLevel(Hash* self, int32_t level) {
    int at = self->levels.count;
    while (at > 0 && self->levels.data[at - 1] >= level) {
        --at;
    }
    if (at < self->levels.count && self->levels.data[at] == level) {
        return;
    }
    for (int i = self->levels.count; i > at; --i) {
        self->levels.data[i] = self->levels.data[i - 1];
    }
    self->levels.data[at] = level;
    ++self->levels.count;
}

static bool reserve(Hash* self, int count) {
    uint32_t buckets = 16;
    while (buckets < (uint32_t)count) {
        buckets *= 2;
    }
    self->bucketMask = buckets - 1;
    return TP_RESERVE(&self->allocator, self->entries, count) &&
           TP_RESERVE(&self->allocator, self->sorted, count) &&
           TP_RESERVE(&self->allocator, self->unbounded, count) &&
           TP_RESERVE(&self->allocator, self->levels, count) &&
           TP_RESERVE(&self->allocator, self->starts, (int)buckets + 1);
}

static void fillTable(Hash* self, const tpProxies* proxies) {
    self->entries.count = self->unbounded.count = 0;
    self->levels.count = 0;
    for (int32_t i = 0; i < proxies->count; ++i) {
        if (proxies->kinds[i] == tp_noProxy) {
            continue;
        }
        if (!tpProxies_IsBounded(proxies, i)) {
            self->unbounded.data[self->unbounded.count++] = i;
            continue;
        }
        Entry entry = { homeOf(&proxies->bounds[i]), i, proxies->bounds[i] };
        useLevel(self, entry.cell.level);
        self->entries.data[self->entries.count++] = entry;
    }
    int32_t* starts = self->starts.data;
    uint32_t buckets = self->bucketMask + 1;
    for (uint32_t b = 0; b <= buckets; ++b) {
        starts[b] = 0;
    }
    for (int i = 0; i < self->entries.count; ++i) {
        ++starts[bucketOf(self, &self->entries.data[i].cell) + 1];
    }
    for (uint32_t b = 0; b < buckets; ++b) {
        starts[b + 1] += starts[b];
    }
    // Backwards, each bucket from its end: within a bucket the order of proxies stays.
    for (int i = self->entries.count - 1; i >= 0; --i) {
        uint32_t bucket = bucketOf(self, &self->entries.data[i].cell);
        self->sorted.data[--starts[bucket + 1]] = self->entries.data[i];
    }
    // Now starts[b + 1] is where bucket b begins; move them down and close the end.
    for (uint32_t b = 0; b < buckets; ++b) {
        starts[b] = starts[b + 1];
    }
    starts[buckets] = self->entries.count;
}

// Pairs ---------------------------------------------------------------------------------------

typedef struct HashSearch {
    const Hash* self;
    const tpProxies* proxies;
} HashSearch;

// Whether of two boxes on one level the one in cell a looks into cell b, rather than the other way.
static bool looksAt(const Cell* a, const Cell* b) {
    return b->z != a->z ? b->z > a->z : b->y != a->y ? b->y > a->y : b->x >= a->x;
}

// Everything in one cell that pairs with `entry`. Of two in the same cell, the lower number
// reports.
static void searchCell(const HashSearch* search, const Cell* cell, const Entry* entry,
                       tpPairSink* sink) {
    const Hash* self = search->self;
    uint32_t bucket = bucketOf(self, cell);
    bool same = isSameCell(cell, &entry->cell);
    for (int32_t i = self->starts.data[bucket]; i < self->starts.data[bucket + 1]; ++i) {
        const Entry* other = &self->sorted.data[i];
        if (tpBoundsOverlap(&other->bounds, &entry->bounds) && isSameCell(&other->cell, cell) &&
            (!same || other->proxy > entry->proxy) &&
            tpProxies_ArePair(search->proxies, entry->proxy, other->proxy)) {
            tpPairSink_Add(sink, entry->proxy, other->proxy);
        }
    }
}

// All cells of one level whose boxes can reach the entry's: a box sticks out of its cell by half a
// side.
static void searchLevel(const HashSearch* search, const Entry* entry, int32_t level,
                        tpPairSink* sink) {
    const tpBounds* b = &entry->bounds;
    double size = ldexp(1.0, level), half = 0.5 * (1.0 + reachSlack) * size;
    Cell low = { cellOf(b->lower.x - half, size), cellOf(b->lower.y - half, size),
                 cellOf(b->lower.z - half, size), level };
    Cell high = { cellOf(b->upper.x + half, size), cellOf(b->upper.y + half, size),
                  cellOf(b->upper.z + half, size), level };
    Cell cell = { 0, 0, 0, level };
    for (cell.z = low.z; cell.z <= high.z; ++cell.z) {
        for (cell.y = low.y; cell.y <= high.y; ++cell.y) {
            for (cell.x = low.x; cell.x <= high.x; ++cell.x) {
                if (level > entry->cell.level || looksAt(&entry->cell, &cell)) {
                    searchCell(search, &cell, entry, sink);
                }
            }
        }
    }
}

static void findBounded(const void* context, int begin, int end, tpPairSink* sink) {
    const HashSearch* search = context;
    const Hash* self = search->self;
    for (int i = begin; i < end; ++i) {
        const Entry* entry = &self->entries.data[i];
        for (int k = self->levels.count - 1; k >= 0 && self->levels.data[k] >= entry->cell.level;
             --k) {
            searchLevel(search, entry, self->levels.data[k], sink);
        }
    }
}

static tpResult findHashPairs(tpBroadPhase* broadPhase, const tpProxies* proxies, tpTasks* tasks,
                              tpPairArray* out) {
    Hash* self = &broadPhase->hash;
    out->count = 0;
    if (!reserve(self, proxies->count)) {
        return tp_outOfMemory;
    }
    fillTable(self, proxies);
    HashSearch search = { self, proxies };
    tpUnboundedSearch unbounded = { proxies, self->unbounded.data, self->unbounded.count };
    if (!tpPairGather_Run(&self->gather, findBounded, &search, self->entries.count, 0, tasks,
                          &self->allocator, out) ||
        (self->unbounded.count > 0 &&
         !tpPairGather_Run(&self->gather, tpFindUnbounded, &unbounded, proxies->count, 0, tasks,
                           &self->allocator, out)) ||
        !tpSortPairs(&self->allocator, out, proxies->count, &self->unsorted, tasks)) {
        out->count = 0;
        return tp_outOfMemory;
    }
    return tp_success;
}

const tpBroadPhaseClass tp_hashBroadPhase = { "hash", createHash, destroyHash, findHashPairs };
