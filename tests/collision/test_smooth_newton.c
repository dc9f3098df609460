// Newton's method on the conditions of closest points: its forms, its linear system, its pace.

#include "collision/random_shapes.h"
#include "collision/smooth_body.h"

// A curvature of each kind: flat, bent, an edge; equal ones have no tangent.
static tpCurvature randomCurvature(tpRandom* random, tpVec3 t, tpVec3 o) {
    double both[2];
    for (int k = 0; k < 2; ++k) {
        unsigned kind = (unsigned)(randomBits(random) % 4);
        both[k] = kind == 0 ? 0.0 : kind == 1 ? INFINITY : exp(randomBetween(random, -3.0, 3.0));
    }
    double angle = randomBetween(random, -3.0, 3.0);
    tpVec3 tangent = tpAdd(tpScale(cos(angle), t), tpScale(sin(angle), o));
    return (tpCurvature){ both[0] == both[1] ? tpZeroVec3() : tangent, both[0], both[1] };
}

static double formAlong(const double form[3], const double x[2], const double y[2]) {
    return form[0] * x[0] * y[0] + form[1] * (x[0] * y[1] + x[1] * y[0]) + form[2] * x[1] * y[1];
}

// Along its principal directions a body has P = 1 / (1 + size k) and Q = k / (1 + size k), so that
// P + size Q = 1 in every direction, and nothing across.
static void testForms(void** state) {
    (void)state;
    tpRandom random = { 71 };
    for (int n = 0; n < 2000; ++n) {
        tpVec3 t, o;
        tpMakeTangents(tpNormalize(randomVec3(&random, -1.0, 1.0)), &t, &o);
        tpCurvature c[2] = { randomCurvature(&random, t, o), randomCurvature(&random, t, o) };
        double sizes[2] = { exp(randomBetween(&random, -3.0, 3.0)),
                            exp(randomBetween(&random, -3.0, 3.0)) };
        double gap = randomBetween(&random, -1.0, 1.0);
        tpPairSystem s;
        tpFillPairSystem(&c[0], &c[1], sizes[0], sizes[1], gap, t, o, &s);
        assert_true(s.gap == gap);
        for (int k = 0; k < 2; ++k) {
            double x[2] = { tpDot(c[k].tangent, t), tpDot(c[k].tangent, o) };
            if (c[k].along == c[k].across) {
                x[0] = 1.0;
            }
            double y[2] = { -x[1], x[0] };
            for (int i = 0; i < 2; ++i) {
                double curvature = i == 0 ? c[k].along : c[k].across;
                const double* way = i == 0 ? x : y;
                double P = isinf(curvature) ? 0.0 : 1.0 / (1.0 + sizes[k] * curvature);
                CHECK_NEAR(formAlong(s.P[k], way, way), P, 1e-14);
                CHECK_NEAR(sizes[k] * formAlong(s.Q[k], way, way), 1.0 - P, 1e-14);
            }
            CHECK_NEAR(formAlong(s.P[k], x, y), 0.0, 1e-14);
            CHECK_NEAR(sizes[k] * formAlong(s.Q[k], x, y), 0.0, 1e-14);
        }
    }
}

// What the two equations say of moves u and v.
static void applySystem(const tpPairSystem* s, const double u[2], const double v[2], double turn[2],
                        double shift[2]) {
    const double *PA = s->P[0], *PB = s->P[1], *QA = s->Q[0], *QB = s->Q[1];
    for (int i = 0; i < 2; ++i) {
        double bent = QB[i] * v[0] + QB[i + 1] * v[1];
        turn[i] = QA[i] * u[0] + QA[i + 1] * u[1] + bent;
        shift[i] =
            PA[i] * u[0] + PA[i + 1] * u[1] - PB[i] * v[0] - PB[i + 1] * v[1] - s->gap * bent;
    }
}

// Moves are determined unless, along one direction of both bodies, both are flat, or both are
// edges in line with each other: bodies whose axes are turned against each other by chance have
// rank 4 if at most one of them has a flat direction.
static void testSystem(void** state) {
    (void)state;
    tpRandom random = { 72 };
    int ranks[5] = { 0 };
    for (int n = 0; n < 5000; ++n) {
        tpVec3 t, o;
        tpMakeTangents(tpNormalize(randomVec3(&random, -1.0, 1.0)), &t, &o);
        tpCurvature c[2] = { randomCurvature(&random, t, o), randomCurvature(&random, t, o) };
        if (n % 5 == 0) { // parallel tubes, seen from anywhere
            c[0].along = c[1].along = 0.0;
            c[0].across = exp(randomBetween(&random, -9.0, 9.0));
            c[1].across = exp(randomBetween(&random, -9.0, 9.0));
            double angle = randomBetween(&random, -3.0, 3.0);
            c[0].tangent = c[1].tangent = tpAdd(tpScale(cos(angle), t), tpScale(sin(angle), o));
        }
        tpPairSystem s;
        double unit = exp(randomBetween(&random, -2.0, 2.0));
        tpFillPairSystem(&c[0], &c[1], unit, 1.3 * unit, unit * randomBetween(&random, 0.1, 1.0), t,
                         o, &s);
        double u[3][2], v[3][2], turn[3][2], shift[3][2], foundU[3][2], foundV[3][2];
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 2; ++i) {
                u[k][i] = unit * randomBetween(&random, -1.0, 1.0);
                v[k][i] = unit * randomBetween(&random, -1.0, 1.0);
            }
            applySystem(&s, u[k], v[k], turn[k], shift[k]);
        }
        int rank = tpSolvePairSystem(&s, 3, turn, shift, foundU, foundV);
        assert_in_range(rank, 2, 4);
        ranks[rank] += 1;
        int flat = 0; // directions in which a body is flat
        for (int k = 0; k < 2; ++k) {
            flat += (c[k].along == 0.0) + (c[k].across == 0.0);
        }
        assert_true(flat > 1 || rank == 4);
        assert_true(n % 5 != 0 || rank == 3);
        for (int k = 0; k < 3; ++k) {
            double again[2][2];
            applySystem(&s, foundU[k], foundV[k], again[0], again[1]);
            for (int i = 0; i < 2; ++i) {
                CHECK_NEAR(unit * again[0][i], unit * turn[k][i], 1e-10 * unit);
                CHECK_NEAR(again[1][i], shift[k][i], 1e-10 * unit);
                if (rank == 4 && flat == 0) {
                    CHECK_NEAR(foundU[k][i], u[k][i], 1e-8 * unit);
                    CHECK_NEAR(foundV[k][i], v[k][i], 1e-8 * unit);
                }
            }
        }
    }
    print_message("ranks 2, 3, 4: %d, %d, %d\n", ranks[2], ranks[3], ranks[4]);
    assert_true(ranks[2] > 10 && ranks[3] > 1000 && ranks[4] > 3000);
}

// The misfit of a start: points that are not above each other, and normals that are not opposite,
// by what the larger body's points then miss.
static void checkMisfit(tpSmoothBody* a, tpSmoothBody* b, tpVec3 localA, tpVec3 localB, tpVec3 n) {
    tpElementPair pair;
    tpStartPair(a, b, localA, localB, n, &pair);
    tpVec3 d = tpSub(pair.a.point, pair.b.point), sum = tpAdd(pair.a.normal, pair.b.normal);
    double size = a->core.size > b->core.size ? a->core.size : b->core.size;
    CHECK_NEAR(tpLength(pair.normal), 1.0, 1e-14);
    CHECK_NEAR(tpLength(tpCross(pair.normal, tpSub(pair.b.normal, pair.a.normal))), 0.0, 1e-14);
    CHECK_NEAR(pair.gap, tpDot(d, pair.normal), 1e-14);
    CHECK_NEAR(pair.misfit, tpLength(tpCross(d, pair.normal)) + size * tpLength(sum), 1e-13);
}

// From a start that is off by a thousandth of the shapes the digits double: 1e-3, 1e-6, 1e-12 and
// rounding; a rim or a superellipsoid may take twice as many. From the answer itself at most
// rounding is left; from a third of the shapes away a few get lost.
static void testPace(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_ellipsoidShape, tp_superellipsoidShape,
                                         tp_cylinderShape,  tp_coneShape,
                                         tp_boxShape,       tp_implicitShape };
    tpRandom random = { 73 };
    int total = 0, sums[3] = { 0 }, lost[3] = { 0 };
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j <= i; ++j) {
            for (int k = 0; k < 100; ++k) {
                tpGeometry a = randomShape(&random, types[i], &ordinaryShapes);
                tpGeometry b = randomShape(&random, types[j], &ordinaryShapes);
                tpPose poseA = tpMakePose(tpZeroVec3(), randomRotation(&random));
                tpVec3 way = tpScale(9.0, tpNormalize(randomVec3(&random, -1.0, 1.0)));
                tpPose poseB = tpMakePose(way, randomRotation(&random));
                tpSmoothResult r;
                assert_true(tpSmoothClosest(&a, poseA, &b, poseB, NULL, &r) && r.converged);
                tpSmoothBody bodyA, bodyB;
                tpPrepareSmoothBody(&a, tpGeometry_Pose(&a, poseA), tpZeroVec3(), &bodyA);
                tpPrepareSmoothBody(&b, tpGeometry_Pose(&b, poseB), tpZeroVec3(), &bodyB);
                tpVec3 pointA = tpMulAdd(r.pointA, bodyA.core.rounding, r.normal);
                tpVec3 pointB = tpMulAdd(r.pointB, -bodyB.core.rounding, r.normal);
                for (int m = 0; m < 3; ++m) {
                    double off = m == 0 ? 0.0 : m == 1 ? 1e-3 : 0.3;
                    tpVec3 localA = tpBodyLocal(&bodyA, pointA),
                           localB = tpBodyLocal(&bodyB, pointB);
                    localA =
                        tpMulAdd(localA, off * bodyA.core.size, randomVec3(&random, -1.0, 1.0));
                    localB =
                        tpMulAdd(localB, off * bodyB.core.size, randomVec3(&random, -1.0, 1.0));
                    tpVec3 n = tpNormalize(tpMulAdd(r.normal, off, randomVec3(&random, -1.0, 1.0)));
                    tpElementPair pair;
                    int iterations = 0;
                    tpStartPair(&bodyA, &bodyB, localA, localB, n, &pair);
                    bool isThere = tpPolish(&bodyA, &bodyB, 20, 0.0, &pair, &iterations);
                    double gap = pair.gap - bodyA.core.rounding - bodyB.core.rounding;
                    isThere = isThere && fabs(gap - r.gap) <= 1e-11 &&
                              tpDistanceBetween(pair.normal, r.normal) <= 1e-5;
                    if (!isThere) {
                        lost[m] += 1;
                        continue;
                    }
                    assert_true(iterations <= (m == 0 ? 4 : m == 1 ? 10 : 20));
                    checkMisfit(&bodyA, &bodyB, localA, localB, n);
                    sums[m] += iterations;
                    total += m == 0;
                }
                tpReleaseGeometry(&a);
                tpReleaseGeometry(&b);
            }
        }
    }
    double near = (double)sums[1] / (total - lost[1]), far = (double)sums[2] / (total - lost[2]);
    print_message("%.3f steps, %.3f from afar, in the mean of %d; %d, %d, %d do not get there\n",
                  near, far, total, lost[0], lost[1], lost[2]);
    CHECK_BELOW(near, 3.0);
    CHECK_BELOW(far, 4.9);
    assert_true(lost[0] == 0 && lost[1] <= 2 && lost[2] <= 40);
}

// A crowd's answers: after a small motion, from the last answer, by fewer steps, and as near to the
// exact one as they say. Apart, the gap is off by no more than three times the roughness.
static void testRoughness(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_cylinderShape, tp_boxShape, tp_capsuleShape,
                                         tp_coneShape, tp_ellipsoidShape };
    tpRandom random = { 79 };
    int total = 0, rough = 0, exact = 0, fewer = 0;
    double worst = 0.0;
    for (int i = 0; i < 2000; ++i) {
        tpGeometry a = randomShape(&random, types[i % 5], &ordinaryShapes);
        tpGeometry b = randomShape(&random, types[i / 5 % 5], &ordinaryShapes);
        tpPose poseA = tpMakePose(tpZeroVec3(), randomRotation(&random));
        tpVec3 way = tpScale(4.0, tpNormalize(randomVec3(&random, -1.0, 1.0)));
        tpPose poseB = tpMakePose(way, randomRotation(&random));
        tpPose shapeA = tpGeometry_Pose(&a, poseA), shapeB = tpGeometry_Pose(&b, poseB);
        tpSmoothCache cache = { .normal = { 0.0f } };
        tpSmoothResult r, s;
        assert_true(tpSmoothClosestShapes(&a, shapeA, &b, shapeB, &cache, &r));
        shapeA.position = tpMulAdd(shapeA.position, 0.01, randomVec3(&random, -1.0, 1.0));
        tpSmoothCache same = cache;
        assert_true(tpSmoothClosestShapes(&a, shapeA, &b, shapeB, &same, &r));
        assert_true(tpSmoothClosestRoughly(&a, shapeA, &b, shapeB, 1e-7, &cache, &s));
        if (r.iterations > 0 && r.converged && r.gap > 0.0) {
            tpSmoothBody bodyA, bodyB;
            tpPrepareSmoothBody(&a, shapeA, tpZeroVec3(), &bodyA);
            tpPrepareSmoothBody(&b, shapeB, tpZeroVec3(), &bodyB);
            assert_true(s.converged);
            worst = fmax(worst, fabs(s.gap - r.gap) / (bodyA.core.size + bodyB.core.size));
            total += 1;
            rough += s.iterations;
            exact += r.iterations;
            fewer += s.iterations < r.iterations;
        }
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
    }
    print_message("%d pairs: %.3f steps, %.3f to rounding, gap within %.2g\n", total,
                  (double)rough / total, (double)exact / total, worst);
    assert_true(total > 500 && fewer > total / 2);
    CHECK_BELOW((double)rough, 0.8 * exact);
    CHECK_BELOW(worst, 3e-7);
}

// In an overlap the search of all directions finds the same depth, by fewer steps of Newton's
// method: starts that lead nowhere are given up sooner.
static void testRoughDepths(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_cylinderShape, tp_boxShape, tp_coneShape };
    tpRandom random = { 83 };
    int total = 0, rough = 0, exact = 0;
    double worst = 0.0;
    for (int i = 0; i < 300; ++i) {
        tpGeometry a = randomShape(&random, types[i % 3], &ordinaryShapes);
        tpGeometry b = randomShape(&random, tp_cylinderShape, &ordinaryShapes);
        tpPose poseA = tpMakePose(tpZeroVec3(), randomRotation(&random));
        tpPose poseB = tpMakePose(randomVec3(&random, -0.5, 0.5), randomRotation(&random));
        tpPose shapeA = tpGeometry_Pose(&a, poseA), shapeB = tpGeometry_Pose(&b, poseB);
        tpSmoothResult r, s;
        assert_true(tpSmoothClosestShapes(&a, shapeA, &b, shapeB, NULL, &r));
        assert_true(tpSmoothClosestRoughly(&a, shapeA, &b, shapeB, 1e-7, NULL, &s));
        if (r.iterations > 0 && r.converged && r.gap < 0.0) {
            worst = fmax(worst, fabs(s.gap / r.gap - 1.0));
            total += 1;
            rough += s.iterations;
            exact += r.iterations;
        }
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
    }
    print_message("%d overlaps: %.1f steps, %.1f to rounding, depth within %.2g of it\n", total,
                  (double)rough / total, (double)exact / total, worst);
    assert_true(total > 100);
    CHECK_BELOW((double)rough, 0.95 * exact);
    CHECK_BELOW(worst, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testForms),       cmocka_unit_test(testSystem),
        cmocka_unit_test(testPace),        cmocka_unit_test(testRoughness),
        cmocka_unit_test(testRoughDepths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
