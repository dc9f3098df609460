// The Minkowski difference A - B of two convex polyhedra: the set of all a - b.
//
// Its signed distance from the origin is that of the two bodies. Everything is in the frame of A; a
// point of the difference is known by the two vertices it comes from. Polyhedra are hulls, or the
// cores of round shapes: a point (sphere), a segment (capsule), a triangle of a mesh.

#ifndef TIPPE_SRC_COLLISION_DIFFERENCE_H
#define TIPPE_SRC_COLLISION_DIFFERENCE_H

#include "geometry/hull.h"
#include "tippe/collision.h"

typedef struct tpDifference {
    const tpHull* a;
    const tpHull* b;
    tpMat33 rotation; // axes of B in the frame of A
    tpVec3 offset;    // origin of B in the frame of A
    double size;      // scale of rounding: extents of both and their distance, m
} tpDifference;

tpDifference tpMakeDifference(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB);

// Another B with the same pose.
void tpDifference_PutB(tpDifference* d, const tpHull* b);

// A vertex of the difference.
typedef struct tpCorner {
    tpVec3 point;
    int32_t a, b; // vertices of A and B
} tpCorner;

// Some of its corners, with weights that sum to one.
typedef struct tpCornerSimplex {
    tpCorner corners[4];
    double weights[4];
    int count;
} tpCornerSimplex;

static inline tpVec3 tpDifference_PointB(const tpDifference* d, int32_t b) {
    return tpAdd(d->offset, tpMulMV(d->rotation, d->b->vertices[b]));
}

static inline tpCorner tpDifference_Corner(const tpDifference* d, int32_t a, int32_t b) {
    tpCorner corner = { tpSub(d->a->vertices[a], tpDifference_PointB(d, b)), a, b };
    return corner;
}

// The corner with the least n . w, searched from a known one.
static inline tpCorner tpDifference_Lowest(const tpDifference* d, tpVec3 n, tpCorner from) {
    int32_t a = tpHull_Support(d->a, tpNeg(n), from.a);
    int32_t b = tpHull_Support(d->b, tpMulMTV(d->rotation, n), from.b);
    return tpDifference_Corner(d, a, b);
}

// From one corner to another, from differences of each body's own coordinates: small bodies beside
// large ones keep their digits.
static inline tpVec3 tpDifference_Edge(const tpDifference* d, const tpCorner* from,
                                       const tpCorner* to) {
    tpVec3 edgeA = tpSub(d->a->vertices[to->a], d->a->vertices[from->a]);
    tpVec3 edgeB = tpSub(d->b->vertices[to->b], d->b->vertices[from->b]);
    return tpSub(edgeA, tpMulMV(d->rotation, edgeB));
}

// The nearest point of the difference to the origin, or the discovery that the origin is inside.
typedef struct tpNearestCorners {
    tpCornerSimplex
        simplex;      // its corners carry the nearest point; four of them surround the origin
    tpVec3 point;     // the nearest point
    double lower;     // a lower bound of its distance; negative if nothing is proven
    tpVec3 direction; // unit, that proves it
    bool isInside;    // the origin is inside, or too near to tell
} tpNearestCorners;

// `simplex` is where to start (from a cache; count 0 for nothing known). The search may stop as
// soon as the distance is known to be greater than `limit`.
void tpFindNearest(const tpDifference* d, const tpCornerSimplex* start, double limit,
                   tpNearestCorners* out);

// The nearest point of the boundary when the origin is inside.
typedef struct tpDepth {
    tpCornerSimplex simplex; // the triangle that carries the nearest point of the boundary
    tpVec3 normal; // unit, from B to A: moving A along it parts the two on the shortest way
    double depth;  // how far; negative if the two turn out to be apart
    bool isExact;  // proven to within rounding
} tpDepth;

void tpFindDepth(const tpDifference* d, const tpCornerSimplex* start, tpDepth* out);

// Both together: the signed distance of two polyhedra.
typedef struct tpSeparation {
    double distance;         // signed
    tpVec3 normal;           // from B to A, frame of A
    tpVec3 pointA, pointB;   // frame of A
    tpCornerSimplex simplex; // the corners that carry the points
    bool isExact;            // primal and dual agree to rounding
    bool isFar;              // beyond `limit`: distance is a lower bound, points are not meant
} tpSeparation;

tpSeparation tpSeparatePolyhedra(const tpDifference* d, double limit, tpPairCache* cache);

// What that cache remembers of a polyhedron A of at most 256 vertices and a triangle B, in one
// word; false if it remembers nothing that fits.
bool tpPackStart(const tpPairCache* cache, uint32_t* word);
void tpUnpackStart(uint32_t word, tpPairCache* cache);

// The corners that a word remembers, vertices of A and of B; and a word that remembers one of each.
typedef struct tpStartCorners {
    int32_t a[3], b[3];
    int count;
    bool isInside; // A and B overlapped
} tpStartCorners;

tpStartCorners tpReadStart(uint32_t word);
uint32_t tpStartAtVertex(int32_t a, int32_t b);

#endif
