// The functions that fill the rows of the shape table, one family a source file.

#ifndef TIPPE_SRC_GEOMETRY_SHAPE_KINDS_H
#define TIPPE_SRC_GEOMETRY_SHAPE_KINDS_H

#include "geometry/shape.h"

#define TP_DECLARE_SHAPE(kind)                                                                     \
    tpBounds tp##kind##Bounds(const tpGeometry* geometry, tpPose pose);                            \
    tpVec3 tp##kind##Support(const tpGeometry* geometry, tpVec3 direction);                        \
    tpResult tp##kind##Mass(const tpGeometry* geometry, tpMassProperties* out, tpError* error);    \
    double tp##kind##Radius(const tpGeometry* geometry, tpVec3 point);                             \
    int tp##kind##SurfaceCount(const tpGeometry* geometry);                                        \
    double tp##kind##Surface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,        \
                             tpMat33* hessian);                                                    \
    bool tp##kind##ClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,           \
                            tpLineClip* clip)

TP_DECLARE_SHAPE(Sphere);
TP_DECLARE_SHAPE(Box);
TP_DECLARE_SHAPE(Capsule);
TP_DECLARE_SHAPE(Cylinder);
TP_DECLARE_SHAPE(Cone);
TP_DECLARE_SHAPE(Ellipsoid);
TP_DECLARE_SHAPE(Superellipsoid);
TP_DECLARE_SHAPE(Hull);
TP_DECLARE_SHAPE(Intersection);
TP_DECLARE_SHAPE(Implicit);

tpBounds tpMeshBounds(const tpGeometry* geometry, tpPose pose);
tpResult tpMeshMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error);
double tpMeshRadius(const tpGeometry* geometry, tpVec3 point);

tpBounds tpHeightFieldBounds(const tpGeometry* geometry, tpPose pose);
double tpHeightFieldRadius(const tpGeometry* geometry, tpVec3 point);

tpBounds tpPlaneBounds(const tpGeometry* geometry, tpPose pose);
double tpPlaneRadius(const tpGeometry* geometry, tpVec3 point);
double tpPlaneSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                      tpMat33* hessian);
bool tpPlaneClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction, tpLineClip* clip);

int tpOneSurface(const tpGeometry* geometry);

// Helpers ----------------------------------------------------------------------------------------

// The box of a box that is turned and moved.
tpBounds tpTransformBounds(tpBounds bounds, tpPose pose);

// Narrows `clip` to where normal . (origin + t direction) <= offset. False where nothing is left.
bool tpClipByPlane(tpLineClip* clip, tpVec3 normal, double offset, tpVec3 origin, tpVec3 direction);

static inline tpLineClip tpWholeLine(void) {
    tpLineClip clip = { -HUGE_VAL, HUGE_VAL, tpZeroVec3(), tpZeroVec3() };
    return clip;
}

// Line clip of a bounded convex shape with a single smooth inequality, by roots of a convex
// function; `bounds` holds the shape.
bool tpClipByFunction(const tpGeometry* geometry, tpBounds bounds, tpVec3 origin, tpVec3 direction,
                      tpLineClip* clip);

// The farthest point along `direction` of a bounded convex shape given by its inequalities, by the
// ellipsoid method, to about 1e-12 of its size along the direction. Slow: some thousand
// evaluations.
tpVec3 tpSupportBySearch(const tpGeometry* geometry, tpBounds bounds, tpVec3 direction);

#endif
