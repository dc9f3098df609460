// Shapes as the pair functions look at them: a polyhedron with a radius.
//
// Boxes, prisms, hulls and polyhedral intersections are hulls; a sphere is a point and a capsule a
// segment, each with a radius. The distance of two such cores less both radii is that of the shapes.

#ifndef TIPPE_SRC_COLLISION_SHAPE_VIEW_H
#define TIPPE_SRC_COLLISION_SHAPE_VIEW_H

#include "geometry/hull.h"
#include "geometry/intersection.h"

// A polyhedron of up to three vertices: a point, a segment or a triangle with two sides.
typedef struct tpSmallHull {
    tpHull hull;
    tpVec3 vertices[3];
    tpVec3 normals[2];
    double offsets[2];
} tpSmallHull;

// It points into itself: fill it where it stays.
void tpFillPoint(tpSmallHull* out, tpVec3 point);
void tpFillSegment(tpSmallHull* out, tpVec3 from, tpVec3 to);
// Face 0 has the normal given, face 1 the opposite one; edge k runs from corner k to k + 1.
void tpFillTriangle(tpSmallHull* out, const tpVec3 corners[3], tpVec3 normal);

// Memory for a core that is made on the spot.
typedef union tpCoreStorage {
    tpBoxHull box;
    tpSmallHull small;
} tpCoreStorage;

// The core of a shape and its radius; NULL for shapes that have none (planes, other round shapes, and
// shapes that are not convex).
const tpHull* tpViewCore(const tpGeometry* geometry, tpCoreStorage* storage, double* radius);

#endif
