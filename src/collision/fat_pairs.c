#include "collision/fat_pairs.h"

#include <string.h>

#include "collision/fat_balls.h"

// If more than this part of the shapes has moved out at once, the tree is built anew: many shapes
// by threads, which beats one thread that fits what is there; few, if fitting costs more.
static const double rebuildPart = 0.6, rebuildPartOfMany = 0.25;
enum { many = 4096 };

// The tree is fitted instead while its boxes have grown by no more than this; if more than this
// part has moved, all pairs are looked up, which takes half as long for each.
static const double mostGrown = 1.2, wholePart = 0.5;

enum { proxiesPerChunk = 1024, pairsPerChunk = 4096 };

// Pairs per shape that the first search expects: a little more than spheres have that lie close
// together.
enum { firstPairs = 16 };

void tpCreateFatPairs(tpFatPairs* fat, const tpAllocator* allocator, bool filters) {
    memset(fat, 0, sizeof(*fat));
    fat->allocator = *allocator;
    fat->filters = filters;
    fat->sizeMargin = 0.04;
    fat->motionMargin = 3.0;
    tpCreateBoundsTree(&fat->tree, allocator);
}

void tpDestroyFatPairs(tpFatPairs* fat) {
    const tpAllocator* allocator = &fat->allocator;
    tpDestroyBoundsTree(&fat->tree);
    TP_FREE_ARRAY(allocator, fat->pairs);
    TP_FREE_ARRAY(allocator, fat->proxies);
    TP_FREE_ARRAY(allocator, fat->hasMoved);
    TP_FREE_ARRAY(allocator, fat->moved);
    TP_FREE_ARRAY(allocator, fat->unbounded);
    TP_FREE_ARRAY(allocator, fat->staleCounts);
}

void tpFatPairs_Clear(tpFatPairs* fat) {
    fat->proxies.count = fat->pairs.count = fat->unbounded.count = 0;
    fat->tree.nodes.count = 0;
    fat->tree.root = fat->tree.firstFree = -1;
    fat->tree.leafCount = 0;
}

void tpFatPairs_Disturb(tpFatPairs* fat, int32_t shape) {
    if (shape < fat->proxies.count) {
        // No box has this kind: the shape is taken for a changed one.
        fat->proxies.data[shape].kind = UINT8_MAX;
    }
}

static bool reserve(tpFatPairs* fat, int count) {
    // Numbers beyond the end of the last call's are looked at too.
    int all = count > fat->proxies.count ? count : fat->proxies.count;
    return TP_RESERVE(&fat->allocator, fat->proxies, count) &&
           TP_RESERVE(&fat->allocator, fat->hasMoved, all) &&
           TP_RESERVE(&fat->allocator, fat->staleCounts, tpChunksOf(count, proxiesPerChunk)) &&
           TP_RESERVE(&fat->allocator, fat->moved, count) &&
           TP_RESERVE(&fat->allocator, fat->unbounded, count) &&
           tpBoundsTree_Reserve(&fat->tree, count);
}

// Boxes ---------------------------------------------------------------------------------------

static bool contains(const tpBounds* outer, const tpBounds* inner) {
    return outer->lower.x <= inner->lower.x && outer->lower.y <= inner->lower.y &&
           outer->lower.z <= inner->lower.z && outer->upper.x >= inner->upper.x &&
           outer->upper.y >= inner->upper.y && outer->upper.z >= inner->upper.z;
}

static double sizeOf(const tpBounds* b) {
    tpVec3 d = tpSub(b->upper, b->lower);
    return d.x + d.y + d.z;
}

// Larger all around, and further where the shape is heading.
static tpBounds fatten(const tpFatPairs* fat, const tpBounds* bounds, tpVec3 motion, bool isBall) {
    double more = isBall ? 2.0 : 1.0, margin = more * fat->sizeMargin * sizeOf(bounds);
    tpVec3 grow = tpMakeVec3(margin, margin, margin), zero = tpZeroVec3();
    tpVec3 ahead = tpScale(more * fat->motionMargin, motion);
    return (tpBounds){ tpAdd(tpSub(bounds->lower, grow), tpMinVec3(ahead, zero)),
                       tpAdd(tpAdd(bounds->upper, grow), tpMaxVec3(ahead, zero)) };
}

// A fat box serves as long as it holds the true one and is not needlessly large, as that of a shape
// that was fast once and is at rest now. The box of a shape without end serves as long as it is the
// true one.
static bool stillServes(const tpFatProxy* proxy, const tpBounds* bounds, bool isBounded) {
    if (!isBounded) {
        return proxy->isUnbounded && memcmp(&proxy->fat, bounds, sizeof(*bounds)) == 0;
    }
    return proxy->leaf >= 0 && contains(&proxy->fat, bounds) &&
           sizeOf(&proxy->fat) <= 2.5 * sizeOf(bounds);
}

// A new fat box for a shape with an end.
static void renewBox(tpFatPairs* fat, const tpProxies* proxies, int32_t i) {
    const tpBounds* bounds = &proxies->bounds[i];
    tpFatProxy* proxy = &fat->proxies.data[i];
    tpVec3 motion = tpSub(bounds->lower, proxy->lastLower);
    // A leap is no motion to be continued.
    proxy->leaps = proxy->leaf < 0 || tpMaxPart(tpAbsVec3(motion)) > 0.5 * sizeOf(bounds);
    proxy->fat =
        fatten(fat, bounds, proxy->leaps ? tpZeroVec3() : motion, tpProxies_IsBall(proxies, i));
    proxy->lastLower = bounds->lower;
}

typedef struct Watch {
    tpFatPairs* fat;
    const tpProxies* proxies;
} Watch;

// Lists the shapes of a chunk whose boxes do not serve any more, at the chunk's place in `moved`.
// Those that have only drifted out of them get new ones.
static void watchChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Watch* watch = context;
    tpFatPairs* fat = watch->fat;
    tpRange range = tpChunkAt(watch->proxies->count, proxiesPerChunk, chunk);
    int stale = 0;
    for (int32_t i = range.begin; i < range.end; ++i) {
        tpFatProxy* proxy = &fat->proxies.data[i];
        const tpBounds* bounds = &watch->proxies->bounds[i];
        uint8_t kind = watch->proxies->kinds[i];
        fat->hasMoved.data[i] = false;
        bool isBounded = tpProxies_IsBounded(watch->proxies, i);
        bool serves =
            proxy->kind == kind && (kind == tp_noProxy || stillServes(proxy, bounds, isBounded));
        if (serves) {
            proxy->lastLower = bounds->lower;
            continue;
        }
        fat->moved.data[range.begin + stale++] = i;
        if (proxy->kind == kind && isBounded && proxy->leaf >= 0) {
            renewBox(fat, watch->proxies, i);
            fat->hasMoved.data[i] = true;
        }
    }
    fat->staleCounts.data[chunk] = stale;
}

// Takes a shape out of the tree, or of the list of those without end.
static void forgetBox(tpFatPairs* fat, int32_t i) {
    tpFatProxy* proxy = &fat->proxies.data[i];
    if (proxy->leaf >= 0) {
        tpBoundsTree_Remove(&fat->tree, proxy->leaf);
        proxy->leaf = -1;
    }
    if (proxy->isUnbounded) {
        proxy->isUnbounded = false;
        int kept = 0;
        for (int k = 0; k < fat->unbounded.count; ++k) {
            if (fat->unbounded.data[k] != i) {
                fat->unbounded.data[kept++] = fat->unbounded.data[k];
            }
        }
        fat->unbounded.count = kept;
    }
}

// Gives one shape a new box, and lists it in `moved`.
static void updateProxy(tpFatPairs* fat, const tpProxies* proxies, int32_t i) {
    tpFatProxy* proxy = &fat->proxies.data[i];
    const tpBounds* bounds = &proxies->bounds[i];
    bool isBounded = tpProxies_IsBounded(proxies, i);
    proxy->kind = proxies->kinds[i];
    fat->hasMoved.data[i] = true;
    if (proxy->kind == tp_noProxy || !isBounded) {
        forgetBox(fat, i);
    }
    if (proxy->kind == tp_noProxy) {
        return;
    }
    if (!isBounded) {
        proxy->fat = *bounds;
        proxy->isUnbounded = true;
        fat->unbounded.data[fat->unbounded.count++] = i;
    } else {
        if (proxy->isUnbounded) {
            forgetBox(fat, i);
        }
        renewBox(fat, proxies, i);
    }
    proxy->lastLower = bounds->lower;
    fat->moved.data[fat->moved.count++] = i;
}

// Returns whether any box has changed, come or gone.
static bool updateProxies(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks) {
    bool hasChanged = false;
    while (fat->proxies.count < proxies->count) {
        fat->proxies.data[fat->proxies.count++] = (tpFatProxy){ .leaf = -1, .kind = tp_noProxy };
    }
    Watch watch = { fat, proxies };
    int chunks = tpChunksOf(proxies->count, proxiesPerChunk);
    tpTasks_Run(tasks, watchChunk, &watch, chunks);
    // Numbers beyond the end have gone.
    for (int32_t i = proxies->count; i < fat->proxies.count; ++i) {
        bool wasThere = fat->proxies.data[i].kind != tp_noProxy;
        fat->hasMoved.data[i] = wasThere;
        hasChanged = hasChanged || wasThere;
        forgetBox(fat, i);
        fat->proxies.data[i].kind = tp_noProxy;
    }
    // The list of those that have moved never overtakes that of the stale ones.
    fat->moved.count = 0;
    for (int c = 0; c < chunks; ++c) {
        hasChanged = hasChanged || fat->staleCounts.data[c] > 0;
        for (int k = 0; k < fat->staleCounts.data[c]; ++k) {
            int32_t i = fat->moved.data[c * proxiesPerChunk + k];
            if (fat->hasMoved.data[i]) {
                fat->moved.data[fat->moved.count++] = i;
            } else {
                updateProxy(fat, proxies, i);
            }
        }
    }
    return hasChanged;
}

// The moved shapes among some leaves, at the place of the leaves in `moved`.
static void orderChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpFatPairs* fat = context;
    tpRange range = tpChunkAt(fat->tree.leafCount, proxiesPerChunk, chunk);
    int count = 0;
    for (int i = range.begin; i < range.end; ++i) {
        int32_t number = fat->tree.nodes.data[fat->tree.scratch.data[i]].child[1];
        fat->hasMoved.data[number] = fat->hasMoved.data[number] || fat->isWhole;
        if (fat->hasMoved.data[number]) {
            fat->moved.data[range.begin + count++] = number;
        }
    }
    fat->staleCounts.data[chunk] = count;
}

// After a rebuild, the moved shapes in the order of the leaves: neighbours look for their pairs one
// after the other, in memory that the last search has just read. Those without end come last.
static void orderMoved(tpFatPairs* fat, tpTasks* tasks) {
    int chunks = tpChunksOf(fat->tree.leafCount, proxiesPerChunk);
    tpTasks_Run(tasks, orderChunk, fat, chunks);
    fat->moved.count = 0;
    for (int c = 0; c < chunks; ++c) {
        int count = fat->staleCounts.data[c], first = c * proxiesPerChunk;
        if (count > 0 && first > fat->moved.count) {
            memmove(fat->moved.data + fat->moved.count, fat->moved.data + first,
                    sizeof(int32_t) * (size_t)count);
        }
        fat->moved.count += count;
    }
    for (int k = 0; k < fat->unbounded.count; ++k) {
        if (fat->hasMoved.data[fat->unbounded.data[k]]) {
            fat->moved.data[fat->moved.count++] = fat->unbounded.data[k];
        }
    }
}

static void setChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpFatPairs* fat = context;
    tpRange range = tpChunkAt(fat->moved.count, proxiesPerChunk, chunk);
    for (int k = range.begin; k < range.end; ++k) {
        const tpFatProxy* proxy = &fat->proxies.data[fat->moved.data[k]];
        if (proxy->leaf >= 0) {
            tpBoundsTree_SetLeaf(&fat->tree, proxy->leaf, proxy->fat);
        }
    }
}

static void rebuildTree(tpFatPairs* fat, tpTasks* tasks) {
    for (int i = 0; i < fat->moved.count; ++i) {
        int32_t number = fat->moved.data[i];
        tpFatProxy* proxy = &fat->proxies.data[number];
        if (!proxy->isUnbounded && proxy->leaf < 0) {
            proxy->leaf = tpBoundsTree_AddLoose(&fat->tree, number, proxy->fat);
        }
    }
    tpTasks_Run(tasks, setChunk, fat, tpChunksOf(fat->moved.count, proxiesPerChunk));
    // Leaves that have all moved alike, as in a fall, are as well kept by the tree that they have.
    bool isGood = fat->tree.isOrdered &&
                  tpBoundsTree_RefitAll(&fat->tree, tasks) <= mostGrown * fat->tree.builtArea;
    if (!isGood) {
        tpBoundsTree_Rebuild(&fat->tree, tasks);
    }
    fat->changeCount = 0;
    fat->isWhole = fat->moved.count > wholePart * fat->tree.leafCount;
    orderMoved(fat, tasks);
}

// Shapes that drifted out of their boxes keep their places in the tree, those that are new or leapt
// get new ones. That costs a little of the tree's quality each time; when many have changed, now or
// since it was last built, it is built anew.
static void updateTree(tpFatPairs* fat, tpTasks* tasks) {
    fat->changeCount += fat->moved.count;
    fat->isWhole = false;
    double part = fat->proxies.count > many ? rebuildPartOfMany : rebuildPart;
    bool rebuild = fat->moved.count > part * fat->proxies.count ||
                   fat->changeCount > 2 * (int64_t)fat->proxies.count;
    if (rebuild && fat->moved.count > 32) {
        rebuildTree(fat, tasks);
        return;
    }
    for (int i = 0; i < fat->moved.count; ++i) {
        int32_t number = fat->moved.data[i];
        tpFatProxy* proxy = &fat->proxies.data[number];
        if (proxy->isUnbounded) {
            continue;
        }
        if (proxy->leaf < 0) {
            proxy->leaf = tpBoundsTree_Insert(&fat->tree, number, proxy->fat);
        } else if (proxy->leaps) {
            tpBoundsTree_Remove(&fat->tree, proxy->leaf);
            proxy->leaf = tpBoundsTree_Insert(&fat->tree, number, proxy->fat);
        } else {
            tpBoundsTree_Refit(&fat->tree, proxy->leaf, proxy->fat);
        }
    }
}

// Pairs ---------------------------------------------------------------------------------------

typedef struct FatSearch {
    const tpFatPairs* fat;
    const tpProxies* proxies;
} FatSearch;

static bool areBallsApart(const FatSearch* search, int32_t a, int32_t b, const tpBounds* fatA,
                          const tpBounds* fatB) {
    const tpProxies* p = search->proxies;
    return tpProxies_IsBall(p, a) && tpProxies_IsBall(p, b) &&
           tpFatBallsApart(fatA, fatB, (double)p->radii[a] + p->radii[b]);
}

// Adds a pair of overlapping fat boxes.
static void add(const FatSearch* search, int32_t a, int32_t b, tpPairSink* sink) {
    const tpFatPairs* fat = search->fat;
    if (fat->proxies.data[a].kind != tp_movableProxy &&
        fat->proxies.data[b].kind != tp_movableProxy) {
        return;
    }
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (!fat->filters || search->proxies->mayPair(search->proxies->context, low, high)) {
        tpPairSink_Add(sink, low, high);
    }
}

// If both have moved, the one with the lower number reports.
static void offer(const FatSearch* search, int32_t a, int32_t b, tpPairSink* sink) {
    if (a != b && (!search->fat->hasMoved.data[b] || a < b)) {
        add(search, a, b, sink);
    }
}

// Boxes in the tree that a box of the tree overlaps. If all are looked up, those that come after
// it.
static void findInTree(const FatSearch* search, int32_t a, tpPairSink* sink) {
    const tpFatPairs* fat = search->fat;
    const tpFatProxy* proxy = &fat->proxies.data[a];
    tpTreeWalk walk = fat->isWhole ? tpBoundsTree_WalkAfter(&fat->tree, proxy->leaf)
                                   : tpBoundsTree_Walk(&fat->tree);
    for (int32_t b; (b = tpTreeWalk_Next(&walk, &proxy->fat)) >= 0;) {
        if (!areBallsApart(search, a, b, &proxy->fat, tpTreeWalk_Bounds(&walk))) {
            (fat->isWhole ? add : offer)(search, a, b, sink);
        }
    }
}

// Pairs of the moved shapes.
static void findMoved(const void* context, int begin, int end, tpPairSink* sink) {
    const FatSearch* search = context;
    const tpFatPairs* fat = search->fat;
    for (int i = begin; i < end; ++i) {
        int32_t a = fat->moved.data[i];
        const tpFatProxy* proxy = &fat->proxies.data[a];
        for (int32_t b = 0; proxy->isUnbounded && b < search->proxies->count; ++b) {
            const tpFatProxy* other = &fat->proxies.data[b];
            if (other->kind != tp_noProxy && tpBoundsOverlap(&proxy->fat, &other->fat)) {
                offer(search, a, b, sink);
            }
        }
        if (proxy->isUnbounded) {
            continue;
        }
        findInTree(search, a, sink);
        for (int k = 0; k < fat->unbounded.count; ++k) {
            int32_t b = fat->unbounded.data[k];
            if (tpBoundsOverlap(&proxy->fat, &fat->proxies.data[b].fat)) {
                offer(search, a, b, sink);
            }
        }
    }
}

// The list before and what was found, a part for each chunk, become the new list.
typedef struct Renewal {
    tpFatPairs* fat;
    tpPairArray old, found; // sorted, scratch
    int32_t* origins;
    int parts;
    int places[tp_pairChunkCount + 1]; // in the new list, of each part
} Renewal;

// Parts of the old list and of the pairs found that have the same keys.
typedef struct Part {
    int old, oldEnd, found, foundEnd;
} Part;

// The longer list is cut into equal parts.
static Part partAt(const Renewal* renewal, int chunk) {
    const tpPairArray *old = &renewal->old, *found = &renewal->found;
    bool isOldCut = old->count >= found->count;
    const tpPairArray *cut = isOldCut ? old : found, *other = isOldCut ? found : old;
    tpRange range = tpChunkRange(cut->count, chunk, renewal->parts);
    int begin = chunk == 0 ? 0 : tpPairs_Find(other, cut->data[range.begin]);
    int end =
        chunk == renewal->parts - 1 ? other->count : tpPairs_Find(other, cut->data[range.end]);
    return isOldCut ? (Part){ range.begin, range.end, begin, end }
                    : (Part){ begin, end, range.begin, range.end };
}

static bool stays(const tpFatPairs* fat, tpShapePair pair) {
    return !fat->hasMoved.data[pair.shapeA] && !fat->hasMoved.data[pair.shapeB];
}

static void countPart(void* context, int chunk, int worker) {
    (void)worker;
    Renewal* renewal = context;
    Part part = partAt(renewal, chunk);
    int count = part.foundEnd - part.found;
    for (int i = part.old; i < part.oldEnd; ++i) {
        count += stays(renewal->fat, renewal->old.data[i]) ? 1 : 0;
    }
    renewal->places[chunk + 1] = count;
}

// A pair that was found may be an old one, whose shapes have moved and still meet.
static void mergePart(void* context, int chunk, int worker) {
    (void)worker;
    const Renewal* renewal = context;
    tpFatPairs* fat = renewal->fat;
    const tpShapePair *old = renewal->old.data, *found = renewal->found.data;
    Part part = partAt(renewal, chunk);
    int out = renewal->places[chunk], i = part.old;
    for (int j = part.found; j <= part.foundEnd; ++j) {
        while (i < part.oldEnd && (j == part.foundEnd || tpShapePair_IsBefore(old[i], found[j]))) {
            if (stays(fat, old[i])) {
                fat->pairs.data[out] = old[i];
                renewal->origins[out++] = i;
            }
            ++i;
        }
        if (j < part.foundEnd) {
            bool isOld = i < part.oldEnd && !tpShapePair_IsBefore(found[j], old[i]);
            fat->pairs.data[out] = found[j];
            renewal->origins[out++] = isOld ? i++ : -1;
        }
    }
}

// Both lists are sorted.
static bool mergePairs(Renewal* renewal, tpTasks* tasks, tpArena* arena) {
    tpFatPairs* fat = renewal->fat;
    bool isLong = renewal->old.count + renewal->found.count > pairsPerChunk;
    renewal->parts = isLong ? tp_pairChunkCount : 1;
    tpTasks_Run(isLong ? tasks : NULL, countPart, renewal, renewal->parts);
    for (int c = 0; c < renewal->parts; ++c) {
        renewal->places[c + 1] += renewal->places[c];
    }
    int count = renewal->places[renewal->parts];
    fat->pairs.count = 0;
    fat->origins = renewal->origins = TP_SCRATCH(arena, int32_t, count);
    if (arena->failed || !TP_RENEW(&fat->allocator, fat->pairs, count)) {
        return false;
    }
    tpTasks_Run(isLong ? tasks : NULL, mergePart, renewal, renewal->parts);
    fat->pairs.count = count;
    return true;
}

// Pairs of the moved shapes, sorted. The list of all pairs, which has been put aside, lends its
// memory.
static bool findPairs(Renewal* renewal, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    tpFatPairs* fat = renewal->fat;
    tpAllocator scratch = tpArena_AsAllocator(arena);
    FatSearch search = { fat, proxies };
    // A shape has half of its pairs with those of higher numbers; if few have moved, it may have
    // all.
    int old = renewal->old.count;
    int perShape = old > 0 ? 2 * old / fat->proxies.count + 1 : firstPairs;
    tpPairGather gather = { .allocator = scratch };
    tpArenaMark mark = tpArena_Mark(arena);
    fat->pairs.count = 0;
    if (!tpPairGather_Run(&gather, findMoved, &search, fat->moved.count,
                          perShape * fat->moved.count, tasks, &fat->allocator, &fat->pairs)) {
        return false;
    }
    // Lists of chunks are done with: what they took serves as scratch of the sort.
    tpArena_Release(arena, mark);
    if (!TP_RENEW(&scratch, renewal->found, fat->pairs.count) ||
        !tpSortPairs(&scratch, &fat->pairs, fat->proxies.count, &renewal->found, tasks)) {
        return false;
    }
    tpPairs_Copy(&fat->pairs, &renewal->found, tasks);
    fat->foundCount = renewal->found.count;
    return true;
}

// Old pairs without moved shapes stay, those found for moved shapes come in.
static bool updatePairs(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    tpAllocator scratch = tpArena_AsAllocator(arena);
    Renewal renewal = { .fat = fat };
    if (!TP_RENEW(&scratch, renewal.old, fat->pairs.count)) {
        return false;
    }
    tpPairs_Copy(&fat->pairs, &renewal.old, tasks);
    return findPairs(&renewal, proxies, tasks, arena) && mergePairs(&renewal, tasks, arena);
}

bool tpFatPairs_Update(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    fat->oldCount = fat->pairs.count;
    fat->foundCount = 0;
    fat->hasChanged = true;
    if (!reserve(fat, proxies->count)) {
        tpFatPairs_Clear(fat);
        return false;
    }
    fat->hasChanged = updateProxies(fat, proxies, tasks);
    if (fat->hasChanged) {
        updateTree(fat, tasks);
        if (!updatePairs(fat, proxies, tasks, arena)) {
            tpFatPairs_Clear(fat);
            return false;
        }
    }
    fat->proxies.count = proxies->count;
    return true;
}

// Snapshots -----------------------------------------------------------------------------------

// Counts, boxes, pairs.
typedef struct SavedPairs {
    int32_t proxyCount, pairCount;
} SavedPairs;

size_t tpFatPairs_SavedSize(const tpFatPairs* fat) {
    return sizeof(SavedPairs) + sizeof(tpFatProxy) * (size_t)fat->proxies.count +
           sizeof(tpShapePair) * (size_t)fat->pairs.count;
}

void tpFatPairs_Save(const tpFatPairs* fat, void* saved) {
    SavedPairs head = { fat->proxies.count, fat->pairs.count };
    unsigned char* place = saved;
    size_t proxyBytes = sizeof(tpFatProxy) * (size_t)fat->proxies.count;
    memcpy(place, &head, sizeof(head));
    place += sizeof(head);
    if (proxyBytes > 0) {
        memcpy(place, fat->proxies.data, proxyBytes);
    }
    if (head.pairCount > 0) {
        memcpy(place + proxyBytes, fat->pairs.data, sizeof(tpShapePair) * (size_t)head.pairCount);
    }
}

bool tpFatPairs_Load(tpFatPairs* fat, tpSavedReader* reader) {
    SavedPairs head;
    tpFatPairs_Clear(fat);
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.proxyCount, sizeof(tpFatProxy)) ||
        !tpSavedReader_Has(reader, head.pairCount, sizeof(tpShapePair)) ||
        !reserve(fat, head.proxyCount) ||
        !TP_RESERVE(&fat->allocator, fat->pairs, head.pairCount)) {
        return false;
    }
    if (!tpSavedReader_Take(reader, fat->proxies.data,
                            sizeof(tpFatProxy) * (size_t)head.proxyCount) ||
        !tpSavedReader_Take(reader, fat->pairs.data,
                            sizeof(tpShapePair) * (size_t)head.pairCount)) {
        return false;
    }
    fat->proxies.count = head.proxyCount;
    fat->pairs.count = head.pairCount;
    // What a query finds does not depend on the tree's shape: it is built anew.
    for (int32_t i = 0; i < head.proxyCount; ++i) {
        tpFatProxy* proxy = &fat->proxies.data[i];
        if (proxy->leaf >= 0) {
            proxy->leaf = tpBoundsTree_AddLoose(&fat->tree, i, proxy->fat);
        }
        if (proxy->isUnbounded) {
            fat->unbounded.data[fat->unbounded.count++] = i;
        }
    }
    tpBoundsTree_Rebuild(&fat->tree, NULL);
    fat->changeCount = 0;
    return true;
}
