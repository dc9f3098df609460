// Simplices of points, for descents towards the origin.

#ifndef TIPPE_SRC_GEOMETRY_POINT_SIMPLEX_H
#define TIPPE_SRC_GEOMETRY_POINT_SIMPLEX_H

#include "tippe/math.h"

// Points of a difference A - B with the points of A and B they come from.
typedef struct tpPointSimplex {
    int count; // 1 to 4
    tpVec3 w[4], a[4], b[4];
    double weight[4]; // of the point nearest to the origin
} tpPointSimplex;

// Reduces a simplex to the smallest face that holds the point nearest to the origin; returns that
// point. Exact zero for a tetrahedron that holds the origin.
tpVec3 tpReducePoints(tpPointSimplex* simplex);

#endif
