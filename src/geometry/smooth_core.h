// The surface of a convex shape as pairs of a point and a normal: a core, and a ball added to it.
//
// A sphere is a point plus a ball, a capsule a segment plus a ball, a rounded box a box plus a
// ball; every other shape is its own core with a ball of radius zero. A ball moves the surface
// along its normal and changes nothing else, so the distance solver works on cores and adds the
// balls at the end.

#ifndef TIPPE_SRC_GEOMETRY_SMOOTH_CORE_H
#define TIPPE_SRC_GEOMETRY_SMOOTH_CORE_H

#include "geometry/hull.h"

// How a surface bends at a point: principal curvatures along `tangent` and across it. 0 is flat,
// INFINITY a sharp edge or corner, across which the normal turns while the point stays.
typedef struct tpCurvature {
    tpVec3 tangent;       // unit, perpendicular to the normal; zero if both curvatures are equal
    double along, across; // 1/m
} tpCurvature;

// A point of a core's surface with one of its outward unit normals and its curvature there: an
// element of the normal bundle, which is a surface without edges even where the core has them.
typedef struct tpElement {
    tpVec3 point, normal;
    tpCurvature curvature;
    tpVec3 local; // the point in the shape's frame, where a small shape far away loses no digits
} tpElement;

typedef struct tpSmoothCore tpSmoothCore;

// Functions of a core, in the frame of the shape.
typedef struct tpSmoothCoreClass {
    // A point farthest along `direction`.
    tpVec3 (*support)(tpSmoothCore* core, tpVec3 direction);
    // The exact element nearest to a point and a normal that are nearly right: mostly that of the
    // projection of point + size normal; ellipsoids keep the normal, which their support map takes.
    void (*element)(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out);
} tpSmoothCoreClass;

struct tpSmoothCore {
    const tpGeometry* geometry;
    const tpSmoothCoreClass* class;
    const tpHull* hull; // of polyhedral cores but boxes
    tpVec3 center;      // a point inside
    tpVec3 half;        // box: half lengths; segment, cylinder, cone: z is half the length
    double radius;      // of cylinders and cones
    double rounding;    // radius of the ball added to the core
    double size;        // the core's extent: the length with which curvature is measured
    double innerRadius; // of some ball inside the core; negative: not known yet
    int32_t hint;       // last support vertex of a hull
};

// The smooth core of a bounded convex shape.
void tpPrepareSmoothCore(const tpGeometry* geometry, tpSmoothCore* out);

// The radius of some ball inside a core.
double tpSmoothCore_InnerRadius(const tpSmoothCore* core);

// Cores that more than one shape has.
extern const tpSmoothCoreClass tp_pointCore, tp_segmentCore, tp_boxCore, tp_hullCore;
extern const tpSmoothCoreClass tp_inequalityCore; // given by its inequalities alone

// Fills a core that is a polyhedron.
void tpUseHullCore(const tpHull* hull, tpSmoothCore* out);

// Curvatures of elements.
static const tpCurvature tp_flatCurvature = { { 0.0, 0.0, 0.0 }, 0.0, 0.0 };
static const tpCurvature tp_sharpCurvature = { { 0.0, 0.0, 0.0 }, INFINITY, INFINITY };

static inline tpCurvature tpBallCurvature(double radius) {
    return (tpCurvature){ tpZeroVec3(), 1.0 / radius, 1.0 / radius };
}

// Principal curvatures of the surface with gradient g (not zero) and Hessian H at a point.
tpCurvature tpImplicitCurvature(tpVec3 gradient, const tpMat33* hessian);

// Curvature of the symmetric 2 x 2 form [xx xy; xy yy] on the tangents t and o, of determinant
// `det`. The determinant comes from the caller, who knows it without cancellation.
tpCurvature tpPrincipalCurvature(tpVec3 t, tpVec3 o, double xx, double xy, double yy, double det);

// The surface after a ball has been added.
static inline tpCurvature tpRoundedCurvature(tpCurvature c, double radius) {
    c.along = c.along > 0.0 ? 1.0 / (1.0 / c.along + radius) : 0.0;
    c.across = c.across > 0.0 ? 1.0 / (1.0 / c.across + radius) : 0.0;
    return c;
}

// The point of a surface nearest to a given one, in the shape's frame.
typedef struct tpSurfacePoint {
    tpVec3 point, normal; // outward
    double distance;      // of the given point, negative inside
    tpCurvature curvature;
} tpSurfacePoint;

// The nearest point of a core whose elements are closed projections, if `p` is outside of it.
bool tpNearestOutside(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out);

// Inside, the nearest of some planes n . x = offset; they are compared in order.
void tpTryNearestPlane(tpVec3 p, tpVec3 n, double offset, tpSurfacePoint* best);

// The element of the surface at a point found by planes.
void tpFinishNearest(const tpGeometry* geometry, tpSurfacePoint* out);

#endif
