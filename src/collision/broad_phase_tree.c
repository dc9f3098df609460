// The broad phase that remembers: pairs of fat boxes (fat_pairs.h), of which those are the answer
// whose true boxes overlap. So it depends on the boxes alone, not on the history, and costs little
// when little moves far.

#include "collision/broad_phase.h"
#include "collision/fat_pairs.h"

// Scratch for so many pairs per call is always kept.
enum { usualFound = 65536 };

struct tpBroadPhase {
    tpFatPairs fat;
    tpPairGather gather;
    tpArena arena;
};

static tpResult createTree(const tpAllocator* allocator, tpBroadPhase** out) {
    *out = tpAllocateZeroed(allocator, sizeof(tpBroadPhase));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    tpCreateFatPairs(&(*out)->fat, allocator, false);
    (*out)->gather.allocator = *allocator;
    tpArena_Create(&(*out)->arena, allocator);
    return tp_success;
}

static void destroyTree(tpBroadPhase* broadPhase) {
    tpAllocator allocator = broadPhase->fat.allocator;
    tpDestroyFatPairs(&broadPhase->fat);
    tpDestroyPairGather(&broadPhase->gather);
    tpArena_Destroy(&broadPhase->arena);
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
    bool isDone = tpFatPairs_Update(fat, proxies, tasks, &broadPhase->arena);
    if (fat->foundCount > usualFound + fat->pairs.count / 4) {
        // Most of the list was found anew: as much is not needed again soon.
        tpArena_Destroy(&broadPhase->arena);
        tpArena_Create(&broadPhase->arena, &fat->allocator);
    }
    tpArena_Reset(&broadPhase->arena);
    if (!isDone || !tpPairGather_Run(&broadPhase->gather, selectPairs, &selection, fat->pairs.count,
                                     0, tasks, &fat->allocator, out)) {
        out->count = 0;
        tpFatPairs_Clear(fat);
        return fat->isOver ? tp_unsupported : tp_outOfMemory;
    }
    return tp_success;
}

const tpBroadPhaseClass tp_treeBroadPhase = { "tree", createTree, destroyTree, findTreePairs };
