// Polyhedra that are made on the spot: a point, a segment, a triangle, a box.
//
// They are the cores of round shapes and the triangles of meshes, seen through the same struct as a
// hull of any size, so that one distance function serves all.

#ifndef TIPPE_SRC_GEOMETRY_SMALL_HULL_H
#define TIPPE_SRC_GEOMETRY_SMALL_HULL_H

#include "geometry/hull.h"

// A polyhedron of up to three vertices: a point, a segment or a triangle with two sides.
typedef struct tpSmallHull {
    tpHull hull;
    tpVec3 vertices[3];
    tpVec3 normals[2];
    double offsets[2];
} tpSmallHull;

// A small hull points into itself: fill it where it stays.
void tpFillPoint(tpSmallHull* out, tpVec3 point);
void tpFillSegment(tpSmallHull* out, tpVec3 from, tpVec3 to);
// Face 0 has the normal given, face 1 the opposite one; edge k runs from corner k to k + 1.
void tpFillTriangle(tpSmallHull* out, const tpVec3 corners[3], tpVec3 normal);

// Memory for a core that is made on the spot.
typedef union tpCoreStorage {
    tpBoxHull box;
    tpSmallHull small;
} tpCoreStorage;

#endif
