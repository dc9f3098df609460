// The broad phase: which boxes overlap.
//
// Two ways behind one face, a row of functions each: a dynamic tree that remembers (the default)
// and a hierarchical hash that starts afresh every time. Both give the same pairs as testing all
// against all, in ascending order of (shapeA, shapeB), whatever the number of threads and whatever
// came before.

#ifndef TIPPE_SRC_COLLISION_BROAD_PHASE_H
#define TIPPE_SRC_COLLISION_BROAD_PHASE_H

#include "base/memory.h"
#include "base/tasks.h"
#include "tippe/math.h"

// Two shapes that may be close.
typedef struct tpShapePair {
    int32_t shapeA, shapeB; // shapeA < shapeB
} tpShapePair;

typedef TP_ARRAY(tpShapePair) tpPairArray;

typedef enum tpProxyKind {
    tp_noProxy,    // a free number
    tp_fixedProxy, // never pairs with another of its kind
    tp_movableProxy,
    tp_linkedProxy // movable; joints hold it beside others. Fat pairs alone tell it apart
} tpProxyKind;

// The boxes of one moment. Numbers stay the same from one call to the next.
typedef struct tpProxies {
    const tpBounds* bounds; // [count] infinite for planes; any box for free numbers
    const uint8_t* kinds;   // [count] tpProxyKind
    int count;
    // Whether a pair is wanted at all: groups, masks, joints, the same body. a < b. Called by
    // several threads at once.
    bool (*mayPair)(const void* context, int32_t a, int32_t b);
    const void* context;
    // [count] of balls in the middle of their boxes: the radius, which may be less than the box; 0
    // of others. NULL: there are none. Fat pairs alone use it.
    const float* radii;
} tpProxies;

typedef struct tpBroadPhase tpBroadPhase;

typedef struct tpBroadPhaseClass {
    const char* name;
    tpResult (*create)(const tpAllocator* allocator, tpBroadPhase** out);
    void (*destroy)(tpBroadPhase* broadPhase);
    // Replaces the contents of `out` (which belongs to the same allocator). On tp_outOfMemory `out`
    // is empty and the next call starts afresh; so on tp_unsupported: there are too many
    // (tpPairLimit).
    tpResult (*findPairs)(tpBroadPhase* broadPhase, const tpProxies* proxies, tpTasks* tasks,
                          tpPairArray* out);
} tpBroadPhaseClass;

extern const tpBroadPhaseClass tp_treeBroadPhase;
extern const tpBroadPhaseClass tp_hashBroadPhase;

// What both share --------------------------------------------------------------------------------

// Whether both boxes are there, overlap, and are wanted as a pair.
bool tpProxies_ArePair(const tpProxies* proxies, int32_t a, int32_t b);

// Boxes without end are kept out of trees and grids and tested against all others.
bool tpProxies_IsBounded(const tpProxies* proxies, int32_t proxy);

static inline bool tpProxies_IsBall(const tpProxies* proxies, int32_t proxy) {
    return proxies->radii != NULL && proxies->radii[proxy] > 0.0f;
}

#endif
