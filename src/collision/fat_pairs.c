#include "collision/fat_pairs.h"

#include <string.h>

#include "collision/fat_pairs_parts.h"

// If more than this part of the shapes has moved out at once, but more than a few, pairs are found
// by rows; the second part if the tree has to be fitted first. With .45 and .35 ragdolls take 3
// percent more instructions: their boxes overlap so much that rows compare many. With .75 and .65
// falling spheres do.
static const double rowsPart = 0.6, rowsPartOld = 0.5;
enum { few = 32 };

// If more than this part of many has moved, threads fit the whole tree, which beats one thread that
// fits leaf by leaf. It is built anew if its boxes have grown by more than the last.
static const double renewPart = 0.25, mostGrown = 1.2;
enum { many = 4096 };

enum { proxiesPerChunk = 1024 };

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
    fat->isTreeOld = false;
}

void tpFatPairs_Disturb(tpFatPairs* fat, int32_t shape) {
    if (shape < fat->proxies.count) {
        // No box has this kind: the shape is taken for a changed one.
        fat->proxies.data[shape].kind = UINT8_MAX;
    }
}

void tpFatPairs_Prepare(tpFatPairs* fat, int begin, int end) {
    const tpAllocator* allocator = &fat->allocator;
    (void)(TP_PREPARE(allocator, fat->proxies, begin, end) &&
           TP_PREPARE(allocator, fat->hasMoved, begin, end) &&
           TP_PREPARE(allocator, fat->moved, begin, end) &&
           TP_PREPARE(allocator, fat->unbounded, begin, end) &&
           tpBoundsTree_Reserve(&fat->tree, end) &&
           TP_PREPARE(allocator, fat->tree.nodes, begin, end));
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
static tpBounds fatten(const tpFatPairs* fat, const tpBounds* bounds, tpVec3 motion, bool isBall,
                       bool isLinked) {
    double more = isBall ? 2.0 : 1.0;
    double margin = (isBall || isLinked ? 2.0 : 1.0) * fat->sizeMargin * sizeOf(bounds);
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
    proxy->fat = fatten(fat, bounds, proxy->leaps ? tpZeroVec3() : motion,
                        tpProxies_IsBall(proxies, i), proxies->kinds[i] == tp_linkedProxy);
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
        (fat->isTreeOld ? tpBoundsTree_RemoveLoose : tpBoundsTree_Remove)(&fat->tree, proxy->leaf);
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

static void setChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpFatPairs* fat = context;
    tpRange range = tpChunkAt(fat->proxies.count, proxiesPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        const tpFatProxy* proxy = &fat->proxies.data[i];
        if (proxy->leaf >= 0) {
            tpBoundsTree_SetLeaf(&fat->tree, proxy->leaf, proxy->fat);
        }
    }
}

// Leaves of new shapes, without a place in the tree yet.
static void addLeaves(tpFatPairs* fat) {
    for (int i = 0; i < fat->moved.count; ++i) {
        int32_t number = fat->moved.data[i];
        tpFatProxy* proxy = &fat->proxies.data[number];
        if (!proxy->isUnbounded && proxy->leaf < 0) {
            proxy->leaf = tpBoundsTree_AddLoose(&fat->tree, number, proxy->fat);
        }
    }
}

void tpFatPairs_RenewTree(tpFatPairs* fat, tpTasks* tasks) {
    tpTasks_Run(tasks, setChunk, fat, tpChunksOf(fat->proxies.count, proxiesPerChunk));
    // Leaves that have all moved alike, as in a fall, are as well kept by the tree that they have.
    bool isGood = fat->tree.isOrdered &&
                  tpBoundsTree_RefitAll(&fat->tree, tasks) <= mostGrown * fat->tree.builtArea;
    if (!isGood) {
        tpBoundsTree_Rebuild(&fat->tree, tasks);
    }
    fat->isTreeOld = false;
    fat->changeCount = 0;
}

// Shapes that drifted out of their boxes keep their places in the tree, those that are new or leapt
// get new ones. That costs a little of the tree's quality each time; when many have changed since
// it was last built, it is built anew. If many have changed now, their pairs are found without it,
// and it waits until a few ask.
static void updateTree(tpFatPairs* fat, tpTasks* tasks) {
    int count = fat->proxies.count, moved = fat->moved.count;
    fat->usesRows = false;
    if (moved == 0) {
        return;
    }
    fat->changeCount += moved;
    fat->usesRows = moved > few && moved > (fat->isTreeOld ? rowsPartOld : rowsPart) * count;
    bool isWorn = (count > many && moved > renewPart * count) ||
                  (moved > few && fat->changeCount > 2 * (int64_t)count);
    if (fat->usesRows || fat->isTreeOld || isWorn) {
        addLeaves(fat);
        fat->isTreeOld = true;
        if (!fat->usesRows) {
            tpFatPairs_RenewTree(fat, tasks);
        }
        return;
    }
    for (int i = 0; i < moved; ++i) {
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

bool tpFatPairs_Update(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    fat->oldCount = fat->pairs.count;
    fat->foundCount = 0;
    fat->isOver = false;
    fat->hasChanged = true;
    if (!reserve(fat, proxies->count)) {
        tpFatPairs_Clear(fat);
        return false;
    }
    fat->hasChanged = updateProxies(fat, proxies, tasks);
    if (fat->hasChanged) {
        updateTree(fat, tasks);
        if (!tpFatPairs_Renew(fat, proxies, tasks, arena)) {
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
