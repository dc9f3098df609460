// Convex shapes as sets of smooth convex inequalities f_k(p) <= 0, in the shape's own frame.
//
// Units are metres: every f_k is scaled so that its gradient has unit length, or nearly, where it
// vanishes, and f_k is then the distance to its surface to first order. Numbers of inequalities:
//
//     sphere 1 (p.p - r^2) / 2r        ellipsoid 1, superellipsoid 1: (gauge^2 - 1) times half the
//     capsule, rounded box 1 (C1)      smallest radius          implicit 1: as the user gives it
//     cylinder 3: side, top, bottom    cone 2: side, base       plane 1
//     box 6, hull and prism: one per face, linear                intersection: those of its parts
//
// The Hessian is infinite at a few places, and what is returned there is finite but not to be
// relied on: the tip of a cone, coordinate planes of superellipsoids with an exponent above 1.

#ifndef TIPPE_SRC_GEOMETRY_SURFACE_H
#define TIPPE_SRC_GEOMETRY_SURFACE_H

#include "tippe/geometry.h"

// 0 for shapes that are not convex.
int tpSurfaceCount(const tpGeometry* geometry);

// Value of inequality k at p; gradient and Hessian where they are not NULL.
double tpSurfaceValue(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian);

// The largest of all values, and which one it is (the lowest of equals).
double tpSurfaceMaximum(const tpGeometry* geometry, tpVec3 p, int* k);

// The part of an intersection that owns inequality k, which becomes a number of that part's own;
// `p` is taken along into its frame. Any other shape owns its inequalities itself.
const tpGeometry* tpSurfaceOwner(const tpGeometry* geometry, int* k, tpVec3* p);

// A point well inside a convex shape, and the value of tpSurfaceMaximum there (negative inside), by
// the ellipsoid method of convex optimisation; a shape with an empty interior gives a value >= 0.
tpVec3 tpInteriorPoint(const tpGeometry* geometry, double* value);

// Where the line origin + t direction is inside a convex shape: enter <= t <= leave, and the
// outward unit normals at both ends. Infinite where the shape is. False if the line misses.
typedef struct tpLineClip {
    double enter, leave;
    tpVec3 enterNormal, leaveNormal;
} tpLineClip;
bool tpClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip);

#endif
