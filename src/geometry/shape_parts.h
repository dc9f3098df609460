// What the files of shapes share: the classes for the table, checks of numbers, and helpers.

#ifndef TIPPE_SRC_GEOMETRY_SHAPE_PARTS_H
#define TIPPE_SRC_GEOMETRY_SHAPE_PARTS_H

#include "geometry/shape.h"

// One class per file shape_<name>.c.
extern const tpShapeClass tp_sphereClass, tp_boxClass, tp_roundedBoxClass, tp_capsuleClass;
extern const tpShapeClass tp_cylinderClass, tp_coneClass, tp_prismClass, tp_hullClass;
extern const tpShapeClass tp_ellipsoidClass, tp_superellipsoidClass, tp_implicitClass;
extern const tpShapeClass tp_intersectionClass, tp_meshClass, tp_heightFieldClass, tp_planeClass;

// Checks of numbers: each says in `error` what is wrong, with the name a scene uses -------------

tpResult tpCheckShapePose(tpPose pose, tpError* error);
tpResult tpCheckPositive(const char* name, double value, tpError* error);
tpResult tpCheckPositiveVec3(const char* name, tpVec3 v, tpError* error);

// Radius, length and axis of the shapes that have one; the pose is turned so that the shape's own z
// is along the axis, and the axis becomes z. A capsule's length may be zero.
tpResult tpCheckAxial(double radius, double length, bool mayBeShort, tpVec3* axis, tpPose* pose,
                      tpError* error);

// Bounds and lines ------------------------------------------------------------------------------

// The box of a box that is turned and moved.
tpBounds tpTransformBounds(tpBounds bounds, tpPose pose);

// The box of half extents `half` about `center`.
static inline tpBounds tpBoundsAbout(tpVec3 center, tpVec3 half) {
    return (tpBounds){ tpSub(center, half), tpAdd(center, half) };
}

// Narrows `clip` to the part with normal . (origin + t direction) <= offset. False if nothing is
// left.
bool tpClipByPlane(tpLineClip* clip, tpVec3 normal, double offset, tpVec3 origin, tpVec3 direction);

// Narrow one end of the clip if the new bound is tighter.
void tpRaiseEnter(tpLineClip* clip, double t, tpVec3 normal);
void tpLowerLeave(tpLineClip* clip, double t, tpVec3 normal);

static inline tpLineClip tpWholeLine(void) {
    tpLineClip clip = { -HUGE_VAL, HUGE_VAL, tpZeroVec3(), tpZeroVec3() };
    return clip;
}

// The interval of a line (unit direction) inside a ball of radius r about a point, and inside a box
// or a cylinder about the origin. False if the line misses.
bool tpClipByBall(tpVec3 center, double r, tpVec3 origin, tpVec3 direction, tpLineClip* clip);
bool tpClipByBox(tpVec3 half, tpVec3 origin, tpVec3 direction, tpLineClip* clip);
bool tpClipByCylinder(double r, double half, tpVec3 origin, tpVec3 direction, tpLineClip* clip);

// Widens the interval of a convex union (nothing yet if *any is false) by that of one part.
void tpUniteClip(tpLineClip* clip, const tpLineClip* part, bool* any);

// Line clip of a bounded convex shape with a single smooth inequality, by roots of a convex
// function; `bounds` holds the shape.
bool tpClipByFunction(const tpGeometry* geometry, tpBounds bounds, tpVec3 origin, tpVec3 direction,
                      tpLineClip* clip);

// The farthest point along `direction` of a bounded convex shape given by its inequalities, by the
// ellipsoid method, to about 1e-12 of its size along the direction. Slow: some thousand
// evaluations.
tpVec3 tpSupportBySearch(const tpGeometry* geometry, tpBounds bounds, tpVec3 direction);

// Surfaces --------------------------------------------------------------------------------------

int tpOneSurface(const tpGeometry* geometry);

// normal . p <= offset.
double tpLinearSurface(tpVec3 normal, double offset, tpVec3 p, tpVec3* gradient, tpMat33* hessian);

// Discs and caps about z ------------------------------------------------------------------------

// Extent of a disc of radius r whose unit normal is `axis`, along each coordinate.
tpVec3 tpDiscExtent(double r, tpVec3 axis);

// The point of a disc in x-y farthest along `direction`; its centre if the direction is along z.
tpVec3 tpDiscSupport(double r, tpVec3 direction);

// Polyhedra and shapes that are a polyhedron with a radius: functions for their rows --------------

bool tpCoreFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out);
bool tpCoreOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out);
bool tpCoreLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                double* radius);

// An outline of one segment.
void tpFillSegmentOutline(tpOutline* out, const tpVec3 ends[2], double radius);

// Bodies of revolution about z between two caps (a cap of radius zero is a tip): functions of their
// rows, and the radii of base and other end, and half the length.
typedef struct tpTurned {
    double radius[2], half;
} tpTurned;
bool tpTurnedFacet(const tpTurned* shape, tpPose pose, tpVec3 direction, tpFacet* out);
bool tpTurnedOutline(const tpTurned* shape, tpPose pose, tpVec3 normal, tpOutline* out);
bool tpTurnedLine(const tpTurned* shape, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                  double* radius);

// Elements of bodies of revolution: a point as (unit direction from the axis, r, z).
typedef struct tpMeridian {
    tpVec3 out; // unit; x on the axis
    double r, z;
} tpMeridian;
tpMeridian tpMeridianOf(tpVec3 p);
tpVec3 tpMeridian_Point(const tpMeridian* m, double r, double z);
// Around the axis the curvature is that of the circle, times the part of the normal that leaves it.
tpCurvature tpMeridian_Curvature(const tpMeridian* m, double around, double across);
void tpRimElement(const tpMeridian* m, double radius, double z, tpElement* out);
void tpDiskElement(tpVec3 p, double z, double side, tpElement* out);

// The table of hull shapes, for views of other shapes as hulls.
tpBounds tpHullBounds(const tpHull* hull, tpPose pose);
double tpHullRadius(const tpHull* hull, tpVec3 point);
bool tpHullClipLine(const tpHull* hull, tpVec3 origin, tpVec3 direction, tpLineClip* clip);

#endif
