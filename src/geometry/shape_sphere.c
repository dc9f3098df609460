// Spheres.

#include "base/assert.h"
#include "base/constants.h"
#include "geometry/shape_parts.h"

static tpResult checkSphere(tpGeometry* geometry, tpError* error) {
    return tpCheckPositive("radius", geometry->sphere.radius, error);
}

tpResult tpMakeSphere(const tpSphere* sphere, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(sphere, tp_badInput);
    tpGeometry given = { .type = tp_sphereShape, .pose = pose, .sphere = *sphere };
    return tpMakeFromNumbers(&given, out, error);
}

static tpBounds sphereBounds(const tpGeometry* geometry, tpPose pose) {
    double r = geometry->sphere.radius;
    return tpBoundsAbout(pose.position, tpMakeVec3(r, r, r));
}

static tpVec3 sphereSupport(const tpGeometry* geometry, tpVec3 direction) {
    return tpScale(geometry->sphere.radius, tpNormalize(direction));
}

static tpResult sphereMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->sphere.radius;
    out->mass = 4.0 / 3.0 * TP_PI * r * r * r;
    out->center = tpZeroVec3();
    double moment = 0.4 * out->mass * r * r;
    out->inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
    return tp_success;
}

static double sphereRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(point) + geometry->sphere.radius;
}

static double sphereSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                            tpMat33* hessian) {
    (void)k;
    double r = geometry->sphere.radius;
    if (gradient != NULL) {
        *gradient = tpScale(1.0 / r, p);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, 1.0 / r));
    }
    double distance = tpLength(p);
    return (distance - r) * (distance + r) / (2.0 * r);
}

static bool sphereClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                           tpLineClip* clip) {
    return tpClipByBall(tpZeroVec3(), geometry->sphere.radius, origin, direction, clip);
}

static const tpHull* sphereCore(const tpGeometry* geometry, tpCoreStorage* storage,
                                double* radius) {
    *radius = geometry->sphere.radius;
    tpFillPoint(&storage->small, tpZeroVec3());
    return &storage->small.hull;
}

static void sphereSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &tp_pointCore;
    out->rounding = out->size = geometry->sphere.radius;
    out->innerRadius = 0.0;
}

const tpShapeClass tp_sphereClass = {
    .name = "sphere",
    .kind = tp_ballKind,
    .isConvex = true,
    .numbers = { TP_SHAPE_NUMBER("radius", sphere.radius) },
    .numberCount = 1,
    .check = checkSphere,
    .bounds = sphereBounds,
    .support = sphereSupport,
    .mass = sphereMass,
    .radius = sphereRadius,
    .surfaceCount = tpOneSurface,
    .surface = sphereSurface,
    .clipLine = sphereClipLine,
    .core = sphereCore,
    .smoothCore = sphereSmoothCore,
};
