// Mass properties: of polyhedra, by quadrature, together, checked, and in principal axes.

#ifndef TIPPE_SRC_GEOMETRY_MASS_H
#define TIPPE_SRC_GEOMETRY_MASS_H

#include "tippe/geometry.h"

// Principal moments and the rotation that turns principal axes into the axes of `inertia`: inertia
// = R diag(moments) transpose(R). A diagonal inertia keeps its axes (no rotation); otherwise the
// moments ascend.
void tpPrincipalFrame(tpMat33 inertia, tpVec3* moments, tpQuat* rotation);

// Properties in the frame from which `pose` leads: what they are for the thing placed by pose.
tpMassProperties tpTransformMass(const tpMassProperties* properties, tpPose pose);

// Whether mass, centre and inertia are finite numbers.
bool tpIsFiniteMass(const tpMassProperties* properties);

// Exact integrals over a solid bounded by triangles (counter-clockwise from outside), at density
// one. A negative mass means that the surface is inside out.
tpMassProperties tpIntegrateTriangles(const tpVec3* vertices, const int32_t (*triangles)[3],
                                      int count);

// Numerical integrals over a convex shape, about a point inside it, at density one, to a relative
// 1e-10 or better.
tpResult tpIntegrateConvex(const tpGeometry* geometry, tpVec3 interior, tpMassProperties* out,
                           tpError* error);

#endif
