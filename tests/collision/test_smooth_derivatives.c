// Derivatives of gap, normal and points against differences of the distance itself, and the paper's
// own equations at its solutions.

#include "collision/random_shapes.h"
#include "collision/smooth_distance.h"

static const tpShapeType types[] = {
    tp_sphereShape,   tp_boxShape,          tp_capsuleShape,   tp_cylinderShape,
    tp_coneShape,     tp_prismShape,        tp_ellipsoidShape, tp_superellipsoidShape,
    tp_implicitShape, tp_intersectionShape, tp_planeShape
};
enum { typeCount = sizeof types / sizeof types[0] };

// Gentle exponents: differences need third derivatives that are not too large.
static const tpShapeRange gentle = { 0.7, 0.7, 1.3, 1.0 };

static tpGeometry makeShape(tpRandom* random, tpShapeType type) {
    if (type != tp_planeShape) {
        return randomShape(random, type, &gentle);
    }
    tpGeometry plane;
    tpError error;
    tpPlane def = { randomVec3(random, -1.0, 1.0), randomBetween(random, -1.0, 0.0) };
    assert_int_equal(tpMakePlane(&def, tpIdentityPose(), &plane, &error), tp_success);
    return plane;
}

// The pose after velocity number k (v, omega in world axes) has acted for h.
static tpPose moved(tpPose pose, int k, double h) {
    tpVec3 e = tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    if (k < 3) {
        pose.position = tpMulAdd(pose.position, h, e);
    } else {
        pose.rotation = tpMulQQ(tpQuatExp(tpScale(h, e)), pose.rotation);
    }
    return pose;
}

typedef struct {
    tpGeometry a, b;
    tpPose bodyA, bodyB;
} Pair;

// All that is differentiated, as ten numbers.
static void query(const Pair* p, int k, double h, const tpSmoothCache* start, double x[10]) {
    tpSmoothCache cache = *start;
    tpSmoothResult r;
    tpPose bodyA = k < 6 ? moved(p->bodyA, k, h) : p->bodyA;
    tpPose bodyB = k < 6 ? p->bodyB : moved(p->bodyB, k - 6, h);
    assert_true(tpSmoothClosest(&p->a, bodyA, &p->b, bodyB, &cache, &r));
    const double values[10] = { r.gap,      r.normal.x, r.normal.y, r.normal.z, r.pointA.x,
                                r.pointA.y, r.pointA.z, r.pointB.x, r.pointB.y, r.pointB.z };
    for (int i = 0; i < 10; ++i) {
        x[i] = values[i];
    }
}

static double derivativeOf(const tpSmoothDerivatives* d, int i, int k) {
    return i == 0   ? d->gap[k]
           : i <= 3 ? d->normal[i - 1][k]
           : i <= 6 ? d->pointA[i - 4][k]
                    : d->pointB[i - 7][k];
}

// Largest difference between the derivatives and fourth-order differences, relative to one plus the
// derivative; -1 if the function has a kink nearby, which two step lengths tell.
static double compare(const Pair* p, const tpSmoothCache* cache, const tpSmoothDerivatives* d) {
    double worst = 0.0, h = 2e-4;
    for (int k = 0; k < 12; ++k) {
        double x[4][10];
        query(p, k, -2.0 * h, cache, x[0]);
        query(p, k, -h, cache, x[1]);
        query(p, k, h, cache, x[2]);
        query(p, k, 2.0 * h, cache, x[3]);
        for (int i = 0; i < 10; ++i) {
            double narrow = (x[2][i] - x[1][i]) / (2.0 * h);
            double wide = (x[3][i] - x[0][i]) / (4.0 * h);
            double fourth = (4.0 * narrow - wide) / 3.0, exact = derivativeOf(d, i, k);
            if (fabs(narrow - wide) > 1e-3 * (1.0 + fabs(fourth))) {
                return -1.0;
            }
            worst = fmax(worst, fabs(fourth - exact) / (1.0 + fabs(exact)));
        }
    }
    return worst;
}

static void testDifferences(void** state) {
    (void)state;
    int checked = 0, kinks = 0, overlaps = 0;
    double worst = 0.0;
    for (int i = 0; i < typeCount; ++i) {
        for (int j = 0; j <= i && !(i == typeCount - 1 && j == i); ++j) {
            tpRandom random = { (uint64_t)(1000 + 100 * i + j) };
            for (int n = 0; n < 24; ++n) {
                Pair p = { makeShape(&random, types[i]),
                           makeShape(&random, types[j]),
                           { randomVec3(&random, -1.0, 1.0), randomRotation(&random) },
                           { randomVec3(&random, -1.0, 1.0), randomRotation(&random) } };
                p.bodyB.position = tpScale(n % 2 == 0 ? 1.0 : 3.0, p.bodyB.position);
                tpSmoothCache cache = { 0 };
                tpSmoothResult r;
                tpSmoothDerivatives d;
                assert_true(tpSmoothClosest(&p.a, p.bodyA, &p.b, p.bodyB, &cache, &r));
                tpDifferentiateSmooth(&r, p.bodyA, p.bodyB, &d);
                assert_true(d.isUnique);
                double error = compare(&p, &cache, &d);
                kinks += error < 0.0;
                if (error > 2e-5) {
                    fail_msg("%s and %s, pair %d: derivatives off by %g (gap %g)",
                             tpShapeTypeName(types[i]), tpShapeTypeName(types[j]), n, error, r.gap);
                }
                worst = fmax(worst, error);
                overlaps += r.gap < 0.0;
                checked += 1;
                tpReleaseGeometry(&p.a);
                tpReleaseGeometry(&p.b);
            }
        }
    }
    print_message("%d pairs, %d overlap, %d next to kinks, worst %.1e\n", checked, overlaps, kinks,
                  worst);
    CHECK_BELOW(kinks, 0.04 * checked);
}

// Flat faces in parallel leave the point open, and say so.
static void testParallelFaces(void** state) {
    (void)state;
    tpGeometry box, cylinder;
    tpError error;
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, tpIdentityPose(), &box, &error);
    tpMakeCylinder(&(tpCylinder){ 0.4, 1.0, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &cylinder,
                   &error);
    tpPose below = tpIdentityPose(), above = tpIdentityPose();
    above.position.z = 1.25;
    tpSmoothResult r;
    tpSmoothDerivatives d;
    assert_true(tpSmoothClosest(&cylinder, above, &box, below, NULL, &r));
    CHECK_NEAR(r.gap, 0.25, 1e-15);
    CHECK_VEC3(r.normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-15);
    tpDifferentiateSmooth(&r, above, below, &d);
    assert_false(d.isUnique);
    CHECK_NEAR(d.gap[2], 1.0, 1e-14);
    CHECK_NEAR(d.gap[8], -1.0, 1e-14);
    for (int k = 0; k < 12; ++k) {
        assert_true(isfinite(d.pointA[0][k]) && isfinite(d.pointB[1][k]));
    }
}

// The tip of a cone is a corner of its one inequality, whose gradient does not span the normals
// there.
static bool isConeTip(const tpGeometry* shape, const tpCurvature* curvature) {
    return shape->type == tp_coneShape && isinf(curvature->along) && isinf(curvature->across);
}

// At the closest points the paper's equations hold: eq. 9 for smooth bodies, eq. 22 with
// multipliers.
static void testPaperEquations(void** state) {
    (void)state;
    for (int i = 0; i < typeCount - 1; ++i) {
        for (int j = 0; j <= i; ++j) {
            tpRandom random = { (uint64_t)(5000 + 100 * i + j) };
            for (int n = 0; n < 30; ++n) {
                Pair p = { makeShape(&random, types[i]),
                           makeShape(&random, types[j]),
                           { randomVec3(&random, -1.0, 1.0), randomRotation(&random) },
                           { randomVec3(&random, -3.0, 3.0), randomRotation(&random) } };
                tpSmoothResult r;
                assert_true(tpSmoothClosest(&p.a, p.bodyA, &p.b, p.bodyB, NULL, &r));
                const tpGeometry* shapes[2] = { &p.a, &p.b };
                const tpPose bodies[2] = { p.bodyA, p.bodyB };
                const tpVec3 points[2] = { r.pointA, r.pointB };
                const tpVec3 normals[2] = { tpNeg(r.normal), r.normal };
                const tpCurvature* curvatures[2] = { &r.curvatureA, &r.curvatureB };
                for (int side = 0; side < 2; ++side) {
                    if (isConeTip(shapes[side], curvatures[side])) {
                        continue;
                    }
                    tpActiveSurfaces active;
                    int count = tpFindActiveSurfaces(shapes[side], bodies[side], points[side],
                                                     normals[side], 1e-8, &active);
                    if (count < 1 || !(active.residual < 1e-6)) {
                        fail_msg("%s and %s, pair %d, side %d: %d active, residual %g",
                                 tpShapeTypeName(p.a.type), tpShapeTypeName(p.b.type), n, side,
                                 count, active.residual);
                    }
                    for (int k = 0; k < count; ++k) {
                        CHECK_NEAR(tpWorldSurface(shapes[side], bodies[side], active.index[k],
                                                  points[side], NULL, NULL),
                                   0.0, 1e-8);
                    }
                }
                tpReleaseGeometry(&p.a);
                tpReleaseGeometry(&p.b);
            }
        }
    }
}

// Gradient and Hessian in the world are those of the value in the world.
static void testWorldSurface(void** state) {
    (void)state;
    tpRandom random = { 77 };
    for (int n = 0; n < 500; ++n) {
        tpGeometry shape = makeShape(&random, n % 2 == 0 ? tp_ellipsoidShape : tp_implicitShape);
        tpPose body = { randomVec3(&random, -1.0, 1.0), randomRotation(&random) };
        tpVec3 p = randomVec3(&random, -2.0, 2.0), g;
        tpMat33 H;
        tpWorldSurface(&shape, body, 0, p, &g, &H);
        double h = 1e-5;
        for (int k = 0; k < 3; ++k) {
            tpVec3 e = tpMakeVec3(k == 0, k == 1, k == 2), gp, gm;
            double plus = tpWorldSurface(&shape, body, 0, tpMulAdd(p, h, e), &gp, NULL);
            double minus = tpWorldSurface(&shape, body, 0, tpMulAdd(p, -h, e), &gm, NULL);
            double scale = 1.0 + tpLength(g) + tpLength(H.cx) + tpLength(H.cy) + tpLength(H.cz);
            CHECK_NEAR((plus - minus) / (2.0 * h), tpDot(g, e), 1e-6 * scale);
            tpVec3 slope = tpScale(1.0 / (2.0 * h), tpSub(gp, gm));
            CHECK_VEC3(slope, tpMulMV(H, e), 1e-6 * scale);
        }
        tpReleaseGeometry(&shape);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testDifferences),
        cmocka_unit_test(testParallelFaces),
        cmocka_unit_test(testPaperEquations),
        cmocka_unit_test(testWorldSurface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
