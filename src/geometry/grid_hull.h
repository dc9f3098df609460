// The exact convex hull of points with integer coordinates, as triangles.
//
// With integers every question of side has an exact answer, so the triangles always close to a
// convex polyhedron; rounding cannot break them. Points in the plane of a triangle do not lie
// outside it: a flat face comes out as several triangles with one plane.

#ifndef TIPPE_SRC_GEOMETRY_GRID_HULL_H
#define TIPPE_SRC_GEOMETRY_GRID_HULL_H

#include "tippe/base.h"

// Coordinates lie within +- 2^tp_gridBits: then a determinant of three differences fits 128 bits.
enum { tp_gridBits = 40 };

typedef struct tpGridPoint {
    int64_t x, y, z;
} tpGridPoint;

typedef struct tpGridTriangle {
    int32_t corners[3]; // counter-clockwise from outside
    int32_t across[3];  // across[k]: the triangle beyond the edge from corner k to corner k + 1
} tpGridTriangle;

typedef struct tpGridHull {
    tpGridTriangle* triangles;
    int count, capacity;
} tpGridHull;

// `start` has four of the points, which must not lie in one plane (tp_badInput if they do).
tpResult tpCreateGridHull(const tpAllocator* allocator, const tpGridPoint* points, int count,
                          const int32_t start[4], tpGridHull* out);
void tpDestroyGridHull(const tpAllocator* allocator, tpGridHull* hull);

#endif
