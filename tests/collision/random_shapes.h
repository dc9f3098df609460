// Random convex shapes of every bounded type, reproducible.

#ifndef TIPPE_TESTS_COLLISION_RANDOM_SHAPES_H
#define TIPPE_TESTS_COLLISION_RANDOM_SHAPES_H

#include <stdlib.h>

#include "geometry/shape.h"
#include "support/check.h"
#include "tippe/geometry.h"

// What shapes may look like.
typedef struct tpShapeRange {
    double spread;          // sizes are exp(-spread) to exp(spread)
    double lowest, highest; // exponents of superellipsoids
    double scale;           // of all sizes
} tpShapeRange;

static const tpShapeRange ordinaryShapes = { 1.0, 0.3, 1.7, 1.0 };

static inline double randomSize(tpRandom* random, const tpShapeRange* range) {
    return range->scale * exp(randomBetween(random, -range->spread, range->spread));
}

static inline tpVec3 randomSizes(tpRandom* random, const tpShapeRange* range) {
    double x = randomSize(random, range), y = randomSize(random, range);
    return tpMakeVec3(x, y, randomSize(random, range));
}

// A quartic convex body, sum of (x_i / r_i)^4 + (x_i / r_i)^2 <= 2 with radii in the context.
static inline double quarticBody(tpVec3 p, tpVec3* gradient, tpMat33* hessian, void* context) {
    tpVec3 r = *(const tpVec3*)context;
    double x = p.x / r.x, y = p.y / r.y, z = p.z / r.z;
    if (gradient != NULL) {
        *gradient = tpMakeVec3((4.0 * x * x * x + 2.0 * x) / r.x, (4.0 * y * y * y + 2.0 * y) / r.y,
                               (4.0 * z * z * z + 2.0 * z) / r.z);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3((12.0 * x * x + 2.0) / (r.x * r.x),
                                         (12.0 * y * y + 2.0) / (r.y * r.y),
                                         (12.0 * z * z + 2.0) / (r.z * r.z)));
    }
    return x * x * x * x + x * x + y * y * y * y + y * y + z * z * z * z + z * z - 2.0;
}

// Cylinders cut by balls that reach over their rims: curved edges of two kinds. Their moments of
// inertia take a while to compute, so a few of them serve for all; they are never released.
static inline const tpGeometry* pooledIntersection(tpRandom* random, const tpShapeRange* range) {
    enum { poolSize = 4, poolCount = 8 };
    static tpGeometry pool[poolCount][poolSize];
    static tpShapeRange ranges[poolCount];
    static int count = 0;
    int k = 0;
    while (k < count && (ranges[k].scale != range->scale || ranges[k].spread != range->spread)) {
        k += 1;
    }
    if (k == count) {
        tpAllocator allocator = tpDefaultAllocator();
        ranges[count++] = *range;
        for (int i = 0; i < poolSize; ++i) {
            tpGeometry parts[2];
            tpError error;
            tpVec3 s = randomSizes(random, range);
            double radius = hypot(s.x, 0.5 * s.y) * randomBetween(random, 0.85, 0.98);
            tpMakeCylinder(&(tpCylinder){ s.x, s.y, { 0.0, 0.0, 1.0 } }, tpIdentityPose(),
                           &parts[0], &error);
            tpMakeSphere(&(tpSphere){ fmax(radius, 1.02 * fmax(s.x, 0.5 * s.y)) }, tpIdentityPose(),
                         &parts[1], &error);
            if (tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &pool[k][i], &error) !=
                tp_success) {
                fail_msg("could not make an intersection: %s", error.message);
            }
        }
    }
    return &pool[k][randomBits(random) % poolSize];
}

// A shape of the given type in a random pose of its own; release it with tpReleaseGeometry.
static inline tpGeometry randomShape(tpRandom* random, tpShapeType type,
                                     const tpShapeRange* range) {
    static tpVec3 quarticRadii = { 0.8, 1.0, 1.3 };
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3 s = randomSizes(random, range);
    tpPose pose = tpMakePose(randomVec3(random, -0.3, 0.3), randomRotation(random));
    pose.position = tpScale(range->scale, pose.position);
    tpGeometry out = { 0 };
    tpError error;
    tpResult result = tp_unsupported;
    switch (type) {
    case tp_sphereShape:
        result = tpMakeSphere(&(tpSphere){ s.x }, pose, &out, &error);
        break;
    case tp_boxShape:
        result = tpMakeBox(&(tpBox){ s }, pose, &out, &error);
        break;
    case tp_roundedBoxShape: {
        double least = fmin(s.x, fmin(s.y, s.z)), part = randomBetween(random, 0.02, 0.48);
        result = tpMakeRoundedBox(&(tpRoundedBox){ s, part * least }, pose, &out, &error);
        break;
    }
    case tp_capsuleShape:
        result = tpMakeCapsule(&(tpCapsule){ s.x, s.y, { 0.0, 0.0, 1.0 } }, pose, &out, &error);
        break;
    case tp_cylinderShape:
        result = tpMakeCylinder(&(tpCylinder){ s.x, s.y, { 0.0, 0.0, 1.0 } }, pose, &out, &error);
        break;
    case tp_coneShape:
        result = tpMakeCone(&(tpCone){ s.x, s.y, { 0.0, 0.0, 1.0 } }, pose, &out, &error);
        break;
    case tp_ellipsoidShape:
        result = tpMakeEllipsoid(&(tpEllipsoid){ s }, pose, &out, &error);
        break;
    case tp_superellipsoidShape: {
        tpSuperellipsoid e = { s,
                               { randomBetween(random, range->lowest, range->highest),
                                 randomBetween(random, range->lowest, range->highest) } };
        result = tpMakeSuperellipsoid(&e, pose, &out, &error);
        break;
    }
    case tp_prismShape: {
        double corners[5][2];
        for (int k = 0; k < 5; ++k) {
            corners[k][0] = s.x * cos(1.2566370614359172 * k);
            corners[k][1] = s.y * sin(1.2566370614359172 * k);
        }
        result = tpMakePrism(&allocator, (const double(*)[2])corners, 5, s.z, pose, &out, &error);
        break;
    }
    case tp_implicitShape: {
        tpImplicit implicit = { quarticBody,
                                &quarticRadii,
                                { { -1.4, -1.4, -1.4 }, { 1.4, 1.4, 1.4 } } };
        result = tpMakeImplicit(&implicit, pose, &out, &error);
        break;
    }
    case tp_intersectionShape:
        out = tpRetainGeometry(pooledIntersection(random, range));
        out.pose = pose;
        return out;
    default:
        break;
    }
    if (result != tp_success) {
        fail_msg("could not make a %s: %s", tpShapeTypeName(type), error.message);
    }
    return out;
}

// h(n) of a shape whose body is at `body`, about the point `origin`.
static inline double supportValue(const tpGeometry* geometry, tpPose body, tpVec3 n,
                                  tpVec3 origin) {
    tpPose pose = tpGeometry_Pose(geometry, body);
    tpVec3 p = tpGeometry_Support(geometry, tpUnrotate(pose.rotation, n));
    return tpDot(n, tpAdd(tpSub(pose.position, origin), tpRotate(pose.rotation, p)));
}

// The gap along n: how far apart the two shapes are in that direction. The distance is its maximum.
static inline double gapAlong(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                              tpVec3 n) {
    return -supportValue(a, bodyA, tpNeg(n), bodyA.position) -
           supportValue(b, bodyB, n, bodyA.position);
}

#endif
