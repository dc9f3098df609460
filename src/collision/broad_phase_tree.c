// The broad phase that remembers: pairs of fat boxes (fat_pairs.h), of which those are the answer
// whose true boxes overlap. So it depends on the boxes alone, not on the history, and costs little
// when little moves far.

#include "collision/broad_phase.h"
#include "collision/fat_pairs.h"

struct tpBroadPhase {
    tpFatPairs fat;
    tpPairGather gather;
};

static tpResult createTree(const tpAllocator* allocator, tpBroadPhase** out) {
    *out = tpAllocateZeroed(allocator, sizeof(tpBroadPhase));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    tpCreateFatPairs(&(*out)->fat, allocator, false);
    (*out)->gather.allocator = *allocator;
    return tp_success;
}

static void destroyTree(tpBroadPhase* broadPhase) {
    tpAllocator allocator = broadPhase->fat.allocator;
    tpDestroyFatPairs(&broadPhase->fat);
    tpDestroyPairGather(&broadPhase->gather);
    tpRelease(&allocator, broadPhase, sizeof(tpBroadPhase));
}

typedef struct Selection {
    const tpFatPairs* fat;
    const tpProxies* proxies;
} Selection;

// Pairs whose true boxes overlap. They come out in order.
static void selectPairs(const void* context, int begin, int end, tpPairSink* sink) {
    const Selection* selection = context;
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = selection->fat->pairs.data[i];
        if (tpProxies_ArePair(selection->proxies, pair.shapeA, pair.shapeB)) {
            tpPairSink_Add(sink, pair.shapeA, pair.shapeB);
        }
    }
}

static tpResult findTreePairs(tpBroadPhase* broadPhase, const tpProxies* proxies, tpTasks* tasks,
                              tpPairArray* out) {
    tpFatPairs* fat = &broadPhase->fat;
    Selection selection = { fat, proxies };
    out->count = 0;
    if (!tpFatPairs_Update(fat, proxies, tasks) ||
        !tpPairGather_Run(&broadPhase->gather, selectPairs, &selection, fat->pairs.count, 0, tasks,
                          out)) {
        out->count = 0;
        tpFatPairs_Clear(fat);
        return tp_outOfMemory;
    }
    return tp_success;
}

const tpBroadPhaseClass tp_treeBroadPhase = { "tree", createTree, destroyTree, findTreePairs };
