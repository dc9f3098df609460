// The collider from inside: what pairs (collider.c) and contacts (narrow_phase.c) of it share.

#ifndef TIPPE_SRC_COLLISION_COLLIDER_PARTS_H
#define TIPPE_SRC_COLLISION_COLLIDER_PARTS_H

#include "collision/collider.h"

#include "base/shared_pool.h"
#include "collision/contact.h"
#include "collision/excluded_pairs.h"
#include "collision/pair_gather.h"

typedef struct tpColliderShape {
    // Its pose is in the frame of the body's centre of mass; NULL in a free slot.
    const tpGeometry* geometry;
    int32_t body; // -1 for a free slot
    bool isMovable;
    bool hasGone; // a shape with this number has gone since pairs were last looked at
    uint32_t group, mask;
    double innerRadius; // of the geometry, m
} tpColliderShape;

typedef TP_ARRAY(tpPairCache) tpCacheArray;

// Contacts of a block of pairs: their part of the scratch memory, and where they go.
typedef struct tpContactBlock {
    int first, room, count, place;
    bool isDone;    // its contacts found room
    bool isSkipped; // the update was stopped before it
} tpContactBlock;

struct tpCollider {
    tpAllocator allocator;
    TP_ARRAY(tpColliderShape) shapes;
    tpSharedPool geometries;   // of shapes: equal ones are kept once
    bool hasGone;              // of a shape
    TP_ARRAY(tpPose) poses;    // of shapes, in the world
    TP_ARRAY(tpBounds) bounds; // grown by margins
    TP_ARRAY(uint8_t) kinds;   // tpProxyKind of shapes
    TP_ARRAY(uint8_t) types;   // tpShapeType of shapes
    const tpBroadPhaseClass* broadPhaseClass;
    tpBroadPhase* broadPhase;
    tpExcludedPairs excluded; // bodies
    tpPairFilter filter;      // or NULL
    void* filterContext;
    const volatile sig_atomic_t* stop; // or NULL
    tpPairArray pairs, oldPairs;       // sorted
    tpCacheArray caches, oldCaches;
    tpContactArray contacts;
    // The narrow phase at work: blocks of pairs, what they find and learn.
    TP_ARRAY(tpContactBlock) blocks;
    TP_ARRAY(int32_t) counts; // contacts of each pair
    TP_ARRAY(tpContactPoint) scratch;
    tpCacheArray learned;
};

// Whether anything is kept about pairs of two types.
static inline bool tpTypesRemember(tpShapeType a, tpShapeType b) {
    bool swapped;
    const tpPairClass* class = tpFindPairClass(a, b, &swapped);
    return class != NULL && !class->forgets;
}

// About a pair of shapes that are in place.
static inline bool tpCollider_Remembers(const tpCollider* collider, tpShapePair pair) {
    return tpTypesRemember((tpShapeType)collider->types.data[pair.shapeA],
                           (tpShapeType)collider->types.data[pair.shapeB]);
}

static inline bool tpCollider_IsStopped(const tpCollider* collider) {
    return collider->stop != NULL && *collider->stop != 0;
}

// Contacts of all pairs; shapes are in place. tp_outOfMemory if memory ran out, tp_notSolved if the
// query was stopped.
tpResult tpCollider_CollidePairs(tpCollider* collider, const double* bodyMargins, tpTasks* tasks);

#endif
