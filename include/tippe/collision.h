// How two shapes lie to each other: the signed distance with its closest points, and all contact points.
//
// Everything is in world coordinates. The normal is a unit vector that points from B to A. Distances
// and gaps are signed: positive apart, negative overlapping, when moving A by -distance along the
// normal is the shortest way to part the two. Queries keep what they learned in a tpPairCache; handing
// the same one to the next query of the same pair makes that one faster. It changes nothing else but
// rounding, and the choice where several answers are equally good.

#ifndef TIPPE_COLLISION_H
#define TIPPE_COLLISION_H

#include "tippe/geometry.h"

// What a query learned about a pair. Starts as zeros; belongs to one ordered pair of shapes.
typedef struct tpPairCache {
    uint32_t words[20];
} tpPairCache;

// The nearest points of two shapes, or the deepest ones.
typedef struct tpClosest {
    double distance;       // m, negative where they overlap
    tpVec3 pointA, pointB; // on the surfaces; pointA - pointB = distance * normal
    tpVec3 normal;         // unit, from B to A
} tpClosest;

// One point of a contact.
typedef struct tpContactPoint {
    tpVec3 pointA, pointB; // on the surfaces; pointA - pointB = gap * normal
    tpVec3 normal;         // unit, from B to A
    double gap;            // m, negative where they overlap
    uint64_t feature;      // which features touch; stays the same while they do
} tpContactPoint;

// Contact points in memory of the caller's. Where there are more than `capacity`, `count` says how
// many there are, and the first `capacity` of them are stored.
typedef struct tpContactList {
    tpContactPoint* points;
    int count, capacity;
} tpContactList;

TP_BEGIN_DECLS

// The signed distance of two shapes whose bodies are at bodyA and bodyB. For shapes that are not
// convex it is that of the nearest pair of triangles, or the depth of the deepest contact.
// `cache` may be NULL. tp_unsupported for two planes, and for pairs of height fields with each other
// or with planes: both are infinite or have no inside to be compared.
TP_API tpResult tpClosestPoints(const tpGeometry* a, tpPose bodyA, const tpGeometry* b,
                                tpPose bodyB, tpPairCache* cache, tpClosest* out);

// All contact points with a gap of at most `margin` (m, not negative), in ascending order of their
// features: the corners of the polygon in which two faces overlap, the ends of a line of contact, or
// a single point. `cache` may be NULL. tp_unsupported as above.
TP_API tpResult tpCollide(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                          double margin, tpPairCache* cache, tpContactList* out);

TP_END_DECLS

#endif
