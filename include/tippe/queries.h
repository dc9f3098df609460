// Queries of a world: what a ray hits, what a moving shape hits, what is in a box or a shape, and
// the distance of two shapes.
//
// Queries use the present poses and change nothing, so several threads may query one world at once
// as long as none changes it. They cost a few nanoseconds a body, and an exact test for each shape
// that is near. A shape takes part if its group is in the query's mask; shapes of overlap sensors
// do not.

#ifndef TIPPE_QUERIES_H
#define TIPPE_QUERIES_H

#include "tippe/collision.h"
#include "tippe/world.h"

typedef struct tpRayResult {
    bool isHit;
    bool startsInside; // the ray starts in the solid: fraction 0, normal against the ray
    tpShapeId shape;
    tpBodyId body;
    double fraction; // of the ray's translation, 0 to 1
    tpVec3 point;
    tpVec3 normal;    // unit, outward
    int32_t triangle; // of meshes and height fields; -1 otherwise
} tpRayResult;

typedef struct tpShapeCastResult {
    tpShapeHit hit; // A is the shape that is cast
    tpShapeId shape;
    tpBodyId body;
} tpShapeCastResult;

typedef struct tpOverlap {
    tpShapeId shapeA, shapeB;
    double depth; // m, of the deepest contact of the two
} tpOverlap;

TP_BEGIN_DECLS

// The first shape that the ray from `origin` to `origin + translation` meets. Of equally near ones,
// the one in the lowest slot.
TP_API tpRayResult tpWorld_CastRay(const tpWorld* world, tpVec3 origin, tpVec3 translation,
                                   uint32_t mask);

// Every shape that the ray meets, each at its own first hit, in no particular order but the same
// every time. Return false to stop.
typedef bool (*tpRayCallback)(const tpRayResult* result, void* context);
TP_API void tpWorld_CastRayAtAll(const tpWorld* world, tpVec3 origin, tpVec3 translation,
                                 uint32_t mask, tpRayCallback callback, void* context);

// The first shape that `geometry`, its body at `pose`, comes within `tolerance` (m, positive) of
// when it is moved by `translation` without turning. tp_unsupported if a pair of types cannot be
// asked.
TP_API tpResult tpWorld_CastShape(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                                  tpVec3 translation, double tolerance, uint32_t mask,
                                  tpShapeCastResult* out);

// Shapes that overlap an axis-aligned box, or a shape, exactly (touching counts). Stores at most
// `capacity` ids and returns how many there are.
TP_API int tpWorld_OverlapBounds(const tpWorld* world, tpBounds bounds, uint32_t mask,
                                 tpShapeId* ids, int capacity);
TP_API int tpWorld_OverlapShape(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                                uint32_t mask, tpShapeId* ids, int capacity);

// Pairs of shapes that collide with each other and overlap by more than `depth` (m, zero or more)
// where they are now. Stores at most `capacity` of them, in the order of their slots, and returns
// how many there are; -1 if memory ran out. It uses the world's own collider: no other thread may
// call it at the same time.
TP_API int tpWorld_FindOverlaps(tpWorld* world, double depth, tpOverlap* overlaps, int capacity);

// The signed distance of two shapes of the world. tp_badInput if an id is not valid.
TP_API tpResult tpWorld_ClosestPoints(const tpWorld* world, tpShapeId a, tpShapeId b,
                                      tpClosest* out);

TP_END_DECLS

#endif
