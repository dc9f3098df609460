// The broad phase that remembers: a dynamic tree of boxes a little larger than the shapes'.
//
// A shape's box in the tree (its fat box) is left alone until the shape leaves it. Pairs of fat
// boxes are kept from call to call: only those of shapes that got a new fat box are looked up
// again. The answer is the part of them whose true boxes overlap; so it depends on the boxes alone,
// not on the history, and costs little when little moves far.

#include <string.h>

#include "collision/bounds_tree.h"
#include "collision/broad_phase.h"
#include "collision/pair_gather.h"

// How much larger a fat box is on each side, relative to the size of the shape, and how many steps
// of its motion it reaches ahead. Larger boxes last longer but have more pairs.
static const double sizeMargin = 0.04, motionMargin = 3.0;

// Where more than this part of the shapes has moved out at once, the tree is built anew.
static const double rebuildPart = 0.25;

typedef struct Proxy {
    tpBounds fat;
    tpVec3 lastLower; // of the true box, in the last call
    int32_t leaf;     // in the tree; -1: not there
    uint8_t kind;
    bool leaps; // its new fat box is far from the old one
} Proxy;

typedef struct Tree {
    tpAllocator allocator;
    tpBoundsTree tree;
    TP_ARRAY(Proxy) proxies;
    TP_ARRAY(bool) hasMoved; // of each proxy: it has a new fat box in this call, or none any more
    TP_ARRAY(int32_t) moved, unbounded;
    TP_ARRAY(int)
    staleCounts; // of each chunk of proxies: how many of them the boxes do not serve any more
    int64_t changeCount;                 // new boxes since the tree was last built
    tpPairArray fatPairs, found, merged; // sorted, but for `found` at first
    tpPairGather gather;
} Tree;

struct tpBroadPhase {
    Tree tree;
};

static tpResult createTree(const tpAllocator* allocator, tpBroadPhase** out) {
    *out = tpAllocateZeroed(allocator, sizeof(tpBroadPhase));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    Tree* self = &(*out)->tree;
    self->allocator = self->gather.allocator = *allocator;
    tpCreateBoundsTree(&self->tree, allocator);
    return tp_success;
}

static void destroyTree(tpBroadPhase* broadPhase) {
    Tree* self = &broadPhase->tree;
    tpAllocator allocator = self->allocator;
    tpDestroyBoundsTree(&self->tree);
    TP_FREE_ARRAY(&allocator, self->proxies);
    TP_FREE_ARRAY(&allocator, self->hasMoved);
    TP_FREE_ARRAY(&allocator, self->moved);
    TP_FREE_ARRAY(&allocator, self->staleCounts);
    TP_FREE_ARRAY(&allocator, self->unbounded);
    TP_FREE_ARRAY(&allocator, self->fatPairs);
    TP_FREE_ARRAY(&allocator, self->found);
    TP_FREE_ARRAY(&allocator, self->merged);
    tpDestroyPairGather(&self->gather);
    tpRelease(&allocator, broadPhase, sizeof(tpBroadPhase));
}

// Forgets everything, as after memory ran out half way.
static void startAfresh(Tree* self) {
    self->proxies.count = self->fatPairs.count = 0;
    self->tree.nodes.count = 0;
    self->tree.root = self->tree.firstFree = -1;
    self->tree.leafCount = 0;
}

enum { proxiesAChunk = 1024 };

static bool reserve(Tree* self, int count) {
    // Numbers beyond the end of the last call's are looked at too.
    int all = count > self->proxies.count ? count : self->proxies.count;
    return TP_RESERVE(&self->allocator, self->proxies, count) &&
           TP_RESERVE(&self->allocator, self->hasMoved, all) &&
           TP_RESERVE(&self->allocator, self->staleCounts, tpChunksOf(count, proxiesAChunk)) &&
           TP_RESERVE(&self->allocator, self->moved, count) &&
           TP_RESERVE(&self->allocator, self->unbounded, count) &&
           tpBoundsTree_Reserve(&self->tree, count);
}

// Fat boxes -----------------------------------------------------------------------------------

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
static tpBounds fatten(const tpBounds* bounds, tpVec3 motion) {
    double margin = sizeMargin * sizeOf(bounds);
    tpVec3 grow = tpMakeVec3(margin, margin, margin), zero = tpZeroVec3();
    tpVec3 ahead = tpScale(motionMargin, motion);
    tpBounds fat = { tpAdd(tpSub(bounds->lower, grow), tpMinVec3(ahead, zero)),
                     tpAdd(tpAdd(bounds->upper, grow), tpMaxVec3(ahead, zero)) };
    return fat;
}

// A fat box serves as long as it holds the true one and is not needlessly large, as that of a shape
// that was fast once and is at rest now.
static bool stillServes(const Proxy* proxy, const tpBounds* bounds) {
    return contains(&proxy->fat, bounds) && sizeOf(&proxy->fat) <= 2.5 * sizeOf(bounds);
}

static void forgetLeaf(Tree* self, int32_t i) {
    Proxy* proxy = &self->proxies.data[i];
    if (proxy->leaf >= 0) {
        tpBoundsTree_Remove(&self->tree, proxy->leaf);
        proxy->leaf = -1;
        self->hasMoved.data[i] = true; // its pairs go
    }
}

typedef struct Watch {
    Tree* self;
    const tpProxies* proxies;
} Watch;

// Lists the shapes of a chunk whose boxes do not serve any more, at the chunk's place in `moved`.
static void watchChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Watch* watch = context;
    Tree* self = watch->self;
    int begin = chunk * proxiesAChunk, end = begin + proxiesAChunk, stale = 0;
    end = end < watch->proxies->count ? end : watch->proxies->count;
    for (int32_t i = begin; i < end; ++i) {
        Proxy* proxy = &self->proxies.data[i];
        const tpBounds* bounds = &watch->proxies->bounds[i];
        self->hasMoved.data[i] = false;
        bool serves = proxy->kind == watch->proxies->kinds[i] && proxy->leaf >= 0 &&
                      tpProxies_IsBounded(watch->proxies, i) && stillServes(proxy, bounds);
        if (serves) {
            proxy->lastLower = bounds->lower;
        } else {
            self->moved.data[begin + stale++] = i;
        }
    }
    self->staleCounts.data[chunk] = stale;
}

// Updates one shape's proxy; those that need a new place in the tree are listed in `moved`.
static void updateProxy(Tree* self, const tpProxies* proxies, int32_t i) {
    Proxy* proxy = &self->proxies.data[i];
    const tpBounds* bounds = &proxies->bounds[i];
    proxy->kind = proxies->kinds[i];
    if (proxy->kind == tp_noProxy) {
        forgetLeaf(self, i);
        return;
    }
    if (!tpProxies_IsBounded(proxies, i)) {
        forgetLeaf(self, i);
        self->unbounded.data[self->unbounded.count++] = i;
        return;
    }
    tpVec3 motion = tpSub(bounds->lower, proxy->lastLower);
    proxy->lastLower = bounds->lower;
    // A leap is no motion to be continued.
    proxy->leaps = proxy->leaf < 0 || tpMaxPart(tpAbsVec3(motion)) > 0.5 * sizeOf(bounds);
    proxy->fat = fatten(bounds, proxy->leaps ? tpZeroVec3() : motion);
    self->hasMoved.data[i] = true;
    self->moved.data[self->moved.count++] = i;
}

static void updateProxies(Tree* self, const tpProxies* proxies, tpTasks* tasks) {
    while (self->proxies.count < proxies->count) {
        self->proxies.data[self->proxies.count++] = (Proxy){ .leaf = -1, .kind = tp_noProxy };
    }
    Watch watch = { self, proxies };
    int chunks = tpChunksOf(proxies->count, proxiesAChunk);
    tpTasks_Run(tasks, watchChunk, &watch, chunks);
    // Numbers beyond the end have gone.
    for (int32_t i = proxies->count; i < self->proxies.count; ++i) {
        self->hasMoved.data[i] = false;
        forgetLeaf(self, i);
        self->proxies.data[i].kind = tp_noProxy;
    }
    // The list of those that have moved never overtakes that of the stale ones.
    self->moved.count = self->unbounded.count = 0;
    for (int c = 0; c < chunks; ++c) {
        for (int k = 0; k < self->staleCounts.data[c]; ++k) {
            updateProxy(self, proxies, self->moved.data[c * proxiesAChunk + k]);
        }
    }
}

// After a rebuild, the moved shapes in the order of the leaves: neighbours look for their pairs one
// after the other, in memory that the last search has just read.
static void orderMoved(Tree* self) {
    self->moved.count = 0;
    for (int i = 0; i < self->tree.leafCount; ++i) {
        int32_t number = self->tree.nodes.data[self->tree.scratch.data[i]].child[1];
        if (self->hasMoved.data[number]) {
            self->moved.data[self->moved.count++] = number;
        }
    }
}

// Shapes that drifted out of their boxes keep their places in the tree, those that are new or leapt
// get new ones. That costs a little of the tree's quality each time; when many have changed, now or
// since it was last built, it is built anew.
static void updateTree(Tree* self, tpTasks* tasks) {
    self->changeCount += self->moved.count;
    bool rebuild = self->moved.count > rebuildPart * self->proxies.count ||
                   self->changeCount > self->proxies.count;
    rebuild = rebuild && self->moved.count > 32;
    for (int i = 0; i < self->moved.count; ++i) {
        int32_t number = self->moved.data[i];
        Proxy* proxy = &self->proxies.data[number];
        if (rebuild && proxy->leaf < 0) {
            proxy->leaf = tpBoundsTree_AddLoose(&self->tree, number, proxy->fat);
        } else if (rebuild) {
            tpBoundsTree_SetLeaf(&self->tree, proxy->leaf, proxy->fat);
        } else if (proxy->leaf < 0) {
            proxy->leaf = tpBoundsTree_Insert(&self->tree, number, proxy->fat);
        } else if (proxy->leaps) {
            tpBoundsTree_Remove(&self->tree, proxy->leaf);
            proxy->leaf = tpBoundsTree_Insert(&self->tree, number, proxy->fat);
        } else {
            tpBoundsTree_Refit(&self->tree, proxy->leaf, proxy->fat);
        }
    }
    if (rebuild) {
        tpBoundsTree_Rebuild(&self->tree, tasks);
        self->changeCount = 0;
        orderMoved(self);
    }
}

// Pairs ---------------------------------------------------------------------------------------

// Fat pairs of the moved shapes. Where both have moved, the one with the lower number reports.
static void findMoved(const void* context, int begin, int end, tpPairSink* sink) {
    const Tree* self = context;
    for (int i = begin; i < end; ++i) {
        int32_t a = self->moved.data[i];
        const Proxy* proxy = &self->proxies.data[a];
        tpTreeWalk walk = tpBoundsTree_Walk(&self->tree);
        for (int32_t b = tpTreeWalk_Next(&walk, &proxy->fat); b >= 0;
             b = tpTreeWalk_Next(&walk, &proxy->fat)) {
            const Proxy* other = &self->proxies.data[b];
            bool mine = a != b && (!self->hasMoved.data[b] || a < b);
            if (mine && (proxy->kind == tp_movableProxy || other->kind == tp_movableProxy)) {
                tpPairSink_Add(sink, a, b);
            }
        }
    }
}

// Old pairs without a moved shape.
static void keepPairs(const void* context, int begin, int end, tpPairSink* sink) {
    const Tree* self = context;
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = self->fatPairs.data[i];
        if (!self->hasMoved.data[pair.shapeA] && !self->hasMoved.data[pair.shapeB]) {
            tpPairSink_Add(sink, pair.shapeA, pair.shapeB);
        }
    }
}

static void swapPairs(tpPairArray* a, tpPairArray* b) {
    tpPairArray swap = *a;
    *a = *b;
    *b = swap;
}

// They stay, those found for moved shapes come in.
static bool updateFatPairs(Tree* self, tpTasks* tasks) {
    self->merged.count = 0;
    if (!tpPairGather_Run(&self->gather, keepPairs, self, self->fatPairs.count, tasks,
                          &self->merged)) {
        return false;
    }
    swapPairs(&self->fatPairs, &self->merged);
    if (self->moved.count == 0) {
        return true;
    }
    self->found.count = 0;
    if (!tpPairGather_Run(&self->gather, findMoved, self, self->moved.count, tasks, &self->found) ||
        !tpPairGather_Sort(&self->gather, &self->found, self->proxies.count) ||
        !tpMergePairs(&self->allocator, &self->fatPairs, &self->found, tasks, &self->merged)) {
        return false;
    }
    swapPairs(&self->fatPairs, &self->merged);
    return true;
}

typedef struct Selection {
    const Tree* self;
    const tpProxies* proxies;
} Selection;

// Fat pairs whose true boxes overlap. They come out in order.
static void selectPairs(const void* context, int begin, int end, tpPairSink* sink) {
    const Selection* selection = context;
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = selection->self->fatPairs.data[i];
        if (tpProxies_ArePair(selection->proxies, pair.shapeA, pair.shapeB)) {
            tpPairSink_Add(sink, pair.shapeA, pair.shapeB);
        }
    }
}

static bool selectAll(Tree* self, const tpProxies* proxies, tpTasks* tasks, tpPairArray* out) {
    Selection selection = { self, proxies };
    out->count = 0;
    if (self->unbounded.count == 0) {
        return tpPairGather_Run(&self->gather, selectPairs, &selection, self->fatPairs.count, tasks,
                                out);
    }
    tpUnboundedSearch unbounded = { proxies, self->unbounded.data, self->unbounded.count };
    self->merged.count = self->found.count = 0;
    return tpPairGather_Run(&self->gather, selectPairs, &selection, self->fatPairs.count, tasks,
                            &self->merged) &&
           tpPairGather_Run(&self->gather, tpFindUnbounded, &unbounded, proxies->count, tasks,
                            &self->found) &&
           tpPairGather_Sort(&self->gather, &self->found, proxies->count) &&
           tpMergePairs(&self->allocator, &self->merged, &self->found, tasks, out);
}

static tpResult findTreePairs(tpBroadPhase* broadPhase, const tpProxies* proxies, tpTasks* tasks,
                              tpPairArray* out) {
    Tree* self = &broadPhase->tree;
    out->count = 0;
    if (!reserve(self, proxies->count)) {
        startAfresh(self);
        return tp_outOfMemory;
    }
    updateProxies(self, proxies, tasks);
    updateTree(self, tasks);
    if (!updateFatPairs(self, tasks) || !selectAll(self, proxies, tasks, out)) {
        startAfresh(self);
        out->count = 0;
        return tp_outOfMemory;
    }
    self->proxies.count = proxies->count;
    return tp_success;
}

const tpBroadPhaseClass tp_treeBroadPhase = { "tree", createTree, destroyTree, findTreePairs };
