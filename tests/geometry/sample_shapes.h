// Random shapes of every bounded convex type, for tests that hold for all of them.

#ifndef TIPPE_TESTS_GEOMETRY_SAMPLE_SHAPES_H
#define TIPPE_TESTS_GEOMETRY_SAMPLE_SHAPES_H

#include "support/check.h"
#include "tippe/geometry.h"

static inline int randomBelow(tpRandom* random, int count) {
    return (int)(randomBits(random) % (uint64_t)count);
}

static inline tpVec3 randomUnit(tpRandom* random) {
    double z = randomBetween(random, -1.0, 1.0),
           angle = randomBetween(random, 0.0, 6.283185307179586);
    double r = sqrt(1.0 - z * z);
    return tpMakeVec3(r * cos(angle), r * sin(angle), z);
}

static inline tpPose randomPose(tpRandom* random, double size) {
    tpVec3 position = randomVec3(random, -size, size);
    return tpMakePose(position, randomRotation(random));
}

// The largest entry of a - b.
static inline double matrixDistance(tpMat33 a, tpMat33 b) {
    tpMat33 d = tpAddMM(a, tpScaleM(-1.0, b));
    return fmax(tpMaxPart(tpAbsVec3(d.cx)),
                fmax(tpMaxPart(tpAbsVec3(d.cy)), tpMaxPart(tpAbsVec3(d.cz))));
}

// (x^2 + y^2 + z^2 + x^4 + y^4 + z^4) / 2 - 1: smooth and convex, its Hessian positive everywhere.
static inline double quarticBody(tpVec3 p, tpVec3* gradient, tpMat33* hessian, void* context) {
    (void)context;
    tpVec3 s = tpMulParts(p, p);
    if (gradient != NULL) {
        *gradient =
            tpMakeVec3(p.x * (1.0 + 2.0 * s.x), p.y * (1.0 + 2.0 * s.y), p.z * (1.0 + 2.0 * s.z));
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 + 6.0 * s.x, 1.0 + 6.0 * s.y, 1.0 + 6.0 * s.z));
    }
    return 0.5 * (s.x + s.y + s.z + tpDot(s, s)) - 1.0;
}

static inline tpVec3 randomSizes(tpRandom* random) {
    double x = randomBetween(random, 0.2, 2.0), y = randomBetween(random, 0.2, 2.0);
    return tpMakeVec3(x, y, randomBetween(random, 0.2, 2.0));
}

static inline tpResult randomPrism(const tpAllocator* allocator, tpRandom* random, tpPose pose,
                                   tpGeometry* out, tpError* error) {
    double points[9][2];
    int count = 3 + randomBelow(random, 7);
    for (int i = 0; i < count; ++i) {
        double angle = 6.283185307179586 * (i + randomBetween(random, 0.0, 0.5)) / count;
        points[i][0] = 1.3 * cos(angle);
        points[i][1] = sin(angle);
    }
    return tpMakePrism(allocator, (const double(*)[2])points, count,
                       randomBetween(random, 0.2, 2.0), pose, out, error);
}

// A ball, a box and a half space that all hold the origin.
static inline tpResult randomIntersection(const tpAllocator* allocator, tpRandom* random,
                                          tpPose pose, tpGeometry* out, tpError* error) {
    tpGeometry parts[3];
    tpSphere sphere = { randomBetween(random, 0.9, 1.3) };
    tpBox box = { tpMakeVec3(1.5, randomBetween(random, 1.2, 2.0), 1.7) };
    tpPlane plane = { randomUnit(random), randomBetween(random, 0.2, 0.6) };
    tpMakeSphere(&sphere, tpMakePose(randomVec3(random, -0.1, 0.1), tpIdentityQuat()), &parts[0],
                 error);
    tpMakeBox(&box, randomPose(random, 0.1), &parts[1], error);
    tpMakePlane(&plane, tpIdentityPose(), &parts[2], error);
    return tpMakeIntersection(allocator, parts, 3, pose, out, error);
}

static inline tpResult randomHull(const tpAllocator* allocator, tpRandom* random, int count,
                                  tpPose pose, tpGeometry* out, tpError* error) {
    tpVec3 points[400];
    for (int i = 0; i < count; ++i) {
        points[i] = tpMulParts(tpMakeVec3(1.0, 0.8, 1.2), randomUnit(random));
    }
    return tpMakeHull(allocator, points, count, pose, out, error);
}

// A random shape of a convex type other than a plane; release it with tpReleaseGeometry.
static inline tpResult randomShape(const tpAllocator* allocator, tpRandom* random, tpShapeType type,
                                   tpPose pose, tpGeometry* out, tpError* error) {
    tpVec3 s = randomSizes(random);
    tpVec3 axis = randomUnit(random);
    switch (type) {
    case tp_sphereShape:
        return tpMakeSphere(&(tpSphere){ s.x }, pose, out, error);
    case tp_boxShape:
        return tpMakeBox(&(tpBox){ s }, pose, out, error);
    case tp_roundedBoxShape: {
        double least = fmin(s.x, fmin(s.y, s.z)), part = randomBetween(random, 0.02, 0.48);
        return tpMakeRoundedBox(&(tpRoundedBox){ s, part * least }, pose, out, error);
    }
    case tp_capsuleShape:
        return tpMakeCapsule(&(tpCapsule){ s.x, s.y, axis }, pose, out, error);
    case tp_cylinderShape:
        return tpMakeCylinder(&(tpCylinder){ s.x, s.y, axis }, pose, out, error);
    case tp_coneShape:
        return tpMakeCone(&(tpCone){ s.x, s.y, axis }, pose, out, error);
    case tp_prismShape:
        return randomPrism(allocator, random, pose, out, error);
    case tp_ellipsoidShape:
        return tpMakeEllipsoid(&(tpEllipsoid){ s }, pose, out, error);
    case tp_superellipsoidShape: {
        tpSuperellipsoid shape = {
            s, { randomBetween(random, 0.3, 1.9), randomBetween(random, 0.3, 1.9) }
        };
        return tpMakeSuperellipsoid(&shape, pose, out, error);
    }
    case tp_hullShape:
        return randomHull(allocator, random, 10 + randomBelow(random, 90), pose, out, error);
    case tp_intersectionShape:
        return randomIntersection(allocator, random, pose, out, error);
    default: {
        tpImplicit shape = { quarticBody,
                             NULL,
                             { tpMakeVec3(-1.5, -1.5, -1.5), tpMakeVec3(1.5, 1.5, 1.5) } };
        return tpMakeImplicit(&shape, pose, out, error);
    }
    }
}

static const tpShapeType convexTypes[] = {
    tp_sphereShape, tp_boxShape,          tp_capsuleShape,   tp_cylinderShape,
    tp_coneShape,   tp_prismShape,        tp_ellipsoidShape, tp_superellipsoidShape,
    tp_hullShape,   tp_intersectionShape, tp_implicitShape,  tp_roundedBoxShape
};
enum { convexTypeCount = sizeof(convexTypes) / sizeof(convexTypes[0]) };

#endif
