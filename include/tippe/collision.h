// The signed distance of two shapes with its closest points, and all their contact points.
//
// Everything is in world coordinates. The normal is a unit vector that points from B to A.
// Distances and gaps are signed: positive if the shapes are apart, negative if they overlap. Then
// moving A by -distance along the normal is the shortest way to separate them. Queries store what
// they learned in a tpPairCache. Passing the same cache to the next query of the same pair makes it
// faster. It changes only rounding, and the choice between equally good answers.

#ifndef TIPPE_COLLISION_H
#define TIPPE_COLLISION_H

#include "tippe/geometry.h"

// What a query learned about a pair. Starts as zeros; belongs to one ordered pair of shapes.
typedef struct tpPairCache {
    uint32_t words[20];
} tpPairCache;

// The nearest points of two shapes, or the deepest ones.
typedef struct tpClosest {
    double distance;       // m, negative if they overlap
    tpVec3 pointA, pointB; // on the surfaces; pointA - pointB = distance * normal
    tpVec3 normal;         // unit, from B to A
} tpClosest;

// One point of a contact.
typedef struct tpContactPoint {
    tpVec3 pointA, pointB; // on the surfaces; pointA - pointB = gap * normal
    tpVec3 normal;         // unit, from B to A
    double gap;            // m, negative if they overlap
    uint64_t feature;      // which features touch; stays the same while they do
} tpContactPoint;

// Contact points in memory of the caller's. If there are more than `capacity`, `count` says how
// many there are, and the first `capacity` of them are stored.
typedef struct tpContactList {
    tpContactPoint* points;
    int count, capacity;
} tpContactList;

// Shapes in motion ------------------------------------------------------------------------------

// How the frame of a body moves over a stretch of time: its origin (the centre of mass) on a
// parabola, and a turn about the origin.
typedef struct tpBodyPath {
    tpPose pose;            // at time 0
    tpVec3 velocity;        // of the origin at time 0, m/s
    tpVec3 acceleration;    // of the origin, m/s^2
    tpVec3 angularVelocity; // rad/s, world axes; constant if `rotationAt` is NULL
    double spinBound;       // rad/s: no less than the angular speed at any time; only read if
                            // `rotationAt` is given
    tpQuat (*rotationAt)(const void* context, double time); // or NULL
    const void* context;
} tpBodyPath;

typedef enum tpImpactState {
    tp_noImpact,      // apart for the whole duration
    tp_impact,        // within the tolerance at `time`, farther apart before
    tp_startTouching, // already within the tolerance at time 0
    tp_impactUnclear  // apart up to `time`; the number of queries allowed ran out
} tpImpactState;

typedef struct tpFirstTouch {
    tpImpactState state;
    double time;       // s; never later than the first touch
    tpClosest closest; // at that time (at the end of the duration for tp_noImpact)
    int queryCount;    // distances computed
} tpFirstTouch;

// A shape that meets another one along a straight line.
typedef struct tpShapeHit {
    bool isHit;
    bool startsTouching;
    double fraction; // of the translation, 0 to 1
    tpClosest closest;
} tpShapeHit;

TP_BEGIN_DECLS

// The signed distance of two shapes whose bodies are at bodyA and bodyB. For shapes that are not
// convex it is that of the nearest pair of triangles, or the depth of the deepest contact.
// `cache` may be NULL. tp_unsupported for two planes, and for pairs of height fields with each
// other or with planes: these are infinite or have no inside.
TP_API tpResult tpClosestPoints(const tpGeometry* a, tpPose bodyA, const tpGeometry* b,
                                tpPose bodyB, tpPairCache* cache, tpClosest* out);

// All contact points with a gap of at most `margin` (m, not negative), in ascending order of their
// features: the corners of the polygon in which two faces overlap, the ends of a line of contact,
// or a single point. `cache` may be NULL. tp_unsupported as above.
TP_API tpResult tpCollide(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                          double margin, tpPairCache* cache, tpContactList* out);

// The pose of the frame of a path at a time.
TP_API tpPose tpBodyPath_PoseAt(const tpBodyPath* path, double time);

// The first touch of two moving shapes within `duration` seconds: the first time at which they come
// within `tolerance` (m, positive). No motion is too fast and no shape too thin to be noticed. At
// most `queryLimit` distances are computed (0: 10000). Results as tpClosestPoints.
TP_API tpResult tpTimeOfImpact(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                               const tpBodyPath* pathB, double duration, double tolerance,
                               int queryLimit, tpPairCache* cache, tpFirstTouch* out);

// A time before which two shapes that are `distance` apart along `normal` (from B to A) cannot
// touch: one step of tpTimeOfImpact, for event queues. INFINITY if they cannot within
// `duration`.
TP_API double tpImpactBound(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                            const tpBodyPath* pathB, double distance, tpVec3 normal,
                            double duration);

// Moves shape A by `translation` without turning it until it comes within `tolerance` of B.
TP_API tpResult tpCastShape(const tpGeometry* a, tpPose bodyA, tpVec3 translation,
                            const tpGeometry* b, tpPose bodyB, double tolerance, tpPairCache* cache,
                            tpShapeHit* out);

TP_END_DECLS

#endif
