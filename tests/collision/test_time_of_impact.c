// Times of impact: closed forms, dense sampling of random flights, thin and fast things.

#include "collision/random_shapes.h"
#include "tippe/collision.h"

static tpPose at(double x, double y, double z) {
    return tpMakePose(tpMakeVec3(x, y, z), tpIdentityQuat());
}

static tpGeometry ballOf(double radius) {
    tpGeometry g;
    tpError error;
    assert_int_equal(tpMakeSphere(&(tpSphere){ radius }, tpIdentityPose(), &g, &error), tp_success);
    return g;
}

static tpGeometry boxOf(double x, double y, double z) {
    tpGeometry g;
    tpError error;
    tpBox def = { { x, y, z } };
    assert_int_equal(tpMakeBox(&def, tpIdentityPose(), &g, &error), tp_success);
    return g;
}

static tpFirstTouch impactOf(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                             const tpBodyPath* pathB, double duration, double tolerance) {
    tpFirstTouch impact;
    assert_int_equal(tpTimeOfImpact(a, pathA, b, pathB, duration, tolerance, 0, NULL, &impact),
                     tp_success);
    return impact;
}

static double distanceAt(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                         const tpBodyPath* pathB, double time, tpPairCache* cache) {
    tpClosest closest;
    tpResult result = tpClosestPoints(a, tpBodyPath_PoseAt(pathA, time), b,
                                      tpBodyPath_PoseAt(pathB, time), cache, &closest);
    assert_true(result == tp_success || result == tp_notSolved);
    return closest.distance;
}

static void testFallingBall(void** state) {
    (void)state;
    tpGeometry ball = ballOf(0.5), ground;
    tpError error;
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &ground, &error);
    tpBodyPath still = { .pose = tpIdentityPose() };
    tpBodyPath fall = { .pose = at(0.0, 0.0, 3.0),
                        .velocity = { 1.0, 0.0, 4.0 },
                        .acceleration = { 0.0, 0.0, -9.81 },
                        .angularVelocity = { 30.0, -20.0, 10.0 } };
    // 2.5 + 4 t - g t^2 / 2 = 0, and the speed there is 8.06 m/s. Spin does not matter to a ball.
    double exact = (4.0 + sqrt(16.0 + 2.0 * 9.81 * 2.5)) / 9.81, tolerance = 1e-9;
    tpFirstTouch impact = impactOf(&ball, &fall, &ground, &still, 2.0, tolerance);
    assert_int_equal(impact.state, tp_impact);
    CHECK_NEAR(impact.time, exact, tolerance / 8.0);
    assert_true(impact.time <= exact);
    CHECK_VEC3(impact.closest.normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-15);
    assert_in_range(impact.queryCount, 1, 5);
    impact = impactOf(&ball, &fall, &ground, &still, 0.999 * exact, tolerance);
    assert_int_equal(impact.state, tp_noImpact);
    CHECK_NEAR(impact.time, 0.999 * exact, 0.0);

    // The other way round the same, and for two that fall together never.
    impact = impactOf(&ground, &still, &ball, &fall, 2.0, tolerance);
    assert_int_equal(impact.state, tp_impact);
    CHECK_NEAR(impact.time, exact, tolerance / 8.0);
    CHECK_VEC3(impact.closest.normal, tpMakeVec3(0.0, 0.0, -1.0), 1e-15);
    assert_in_range(impact.queryCount, 1, 5);
    tpBodyPath above = fall;
    above.pose.position.z = 4.5;
    impact = impactOf(&ball, &fall, &ball, &above, 9.0, tolerance);
    assert_int_equal(impact.state, tp_noImpact);
    assert_in_range(impact.queryCount, 1, 3);

    // Two bodies in the same gravity: only their relative velocity counts.
    tpBodyPath other = fall;
    other.pose.position.x = 4.0;
    other.velocity = tpMakeVec3(-2.0, 0.0, 4.0);
    impact = impactOf(&ball, &fall, &ball, &other, 5.0, tolerance);
    assert_int_equal(impact.state, tp_impact);
    CHECK_NEAR(impact.time, 1.0, tolerance / 3.0 + 1e-15);
}

static void testStartTouching(void** state) {
    (void)state;
    tpGeometry ball = ballOf(0.5);
    tpBodyPath a = { .pose = at(0.0, 0.0, 0.9) }, b = { .pose = tpIdentityPose() };
    tpFirstTouch impact = impactOf(&ball, &a, &ball, &b, 1.0, 1e-6);
    assert_int_equal(impact.state, tp_startTouching);
    CHECK_NEAR(impact.time, 0.0, 0.0);
    CHECK_NEAR(impact.closest.distance, -0.1, 1e-15);
    CHECK_NEAR(tpImpactBound(&ball, &a, &ball, &b, -0.1, tpMakeVec3(0.0, 0.0, 1.0), 1.0), 0.0, 0.0);
}

// A thin rod that spins fast and flies fast through a thin plate. Sampling at any sane rate would
// miss it; between two samples it is on the other side.
static void testRodThroughPlate(void** state) {
    (void)state;
    tpRandom random = { 11 };
    tpGeometry plate = boxOf(4.0, 4.0, 1e-4), rod;
    tpError error;
    tpCapsule def = { 1e-3, 1.0, { 0.0, 0.0, 1.0 } };
    tpMakeCapsule(&def, tpIdentityPose(), &rod, &error);
    tpBodyPath still = { .pose = tpIdentityPose() };
    for (int k = 0; k < 60; ++k) {
        tpBodyPath flight = { .pose = { randomVec3(&random, -0.5, 0.5), randomRotation(&random) },
                              .velocity = randomVec3(&random, -20.0, 20.0),
                              .acceleration = { 0.0, 0.0, -9.81 },
                              .angularVelocity = randomVec3(&random, -2000.0, 2000.0) };
        flight.pose.position.z = randomBetween(&random, 0.6, 3.0);
        flight.velocity.z = randomBetween(&random, -2000.0, -200.0);
        double tolerance = 1e-5, duration = 0.05;
        tpFirstTouch impact = impactOf(&rod, &flight, &plate, &still, duration, tolerance);
        assert_int_equal(impact.state, tp_impact);
        CHECK_BELOW(impact.closest.distance, tolerance + 1e-12);
        // Nothing before: a million samples a second.
        tpPairCache cache = { { 0 } };
        for (double t = 0.0; t < impact.time; t += 1e-6) {
            if (!(distanceAt(&rod, &flight, &plate, &still, t, &cache) > 0.0)) {
                fail_msg("flight %d touches at %g, before %g", k, t, impact.time);
            }
        }
    }
}

static const tpShapeType types[] = {
    tp_sphereShape, tp_boxShape,       tp_capsuleShape,        tp_cylinderShape,  tp_coneShape,
    tp_prismShape,  tp_ellipsoidShape, tp_superellipsoidShape, tp_roundedBoxShape
};
enum { typeCount = sizeof types / sizeof types[0] };

// Random flights of all types against dense sampling: nothing touches before the time found, the
// distance then is within the tolerance, and where no impact was found there is none. The bound of
// a single step never passes the first touch either.
static void testRandomFlights(void** state) {
    (void)state;
    tpRandom random = { 12 };
    int hits = 0, misses = 0;
    long queries = 0;
    for (int k = 0; k < 400; ++k) {
        tpGeometry a = randomShape(&random, types[k % typeCount], &ordinaryShapes);
        tpGeometry b = randomShape(&random, types[(k / typeCount) % typeCount], &ordinaryShapes);
        tpBodyPath pathA = { .pose = { randomVec3(&random, -8.0, 8.0), randomRotation(&random) },
                             .acceleration = { 0.0, 0.0, -9.81 },
                             .angularVelocity = randomVec3(&random, -15.0, 15.0) };
        tpBodyPath pathB = { .pose = { tpZeroVec3(), randomRotation(&random) },
                             .velocity = randomVec3(&random, -1.0, 1.0),
                             .angularVelocity = randomVec3(&random, -5.0, 5.0) };
        pathA.velocity = tpAdd(tpScale(-1.0, pathA.pose.position), randomVec3(&random, -3.0, 3.0));
        double duration = 1.5, tolerance = 1e-6;
        tpFirstTouch impact = impactOf(&a, &pathA, &b, &pathB, duration, tolerance);
        assert_int_not_equal(impact.state, tp_impactUnclear);
        queries += impact.queryCount;
        hits += impact.state == tp_impact;
        misses += impact.state == tp_noImpact;
        double end = impact.state == tp_noImpact ? duration : impact.time;
        if (impact.state == tp_impact) {
            double d = distanceAt(&a, &pathA, &b, &pathB, impact.time, NULL);
            CHECK_BELOW(d, tolerance + 1e-9);
            CHECK_BELOW(-1e-8, d);
        }
        tpPairCache cache = { { 0 } };
        for (int i = 0; i < 300; ++i) {
            double d = distanceAt(&a, &pathA, &b, &pathB, end * i / 300.0, &cache);
            if (impact.state != tp_startTouching && !(d > 0.0)) {
                fail_msg("flight %d touches at %g of %g (%g)", k, end * i / 300.0, end, d);
            }
        }
        tpClosest first;
        tpClosestPoints(&a, pathA.pose, &b, pathB.pose, NULL, &first);
        double bound =
            tpImpactBound(&a, &pathA, &b, &pathB, first.distance, first.normal, duration);
        assert_true(impact.state == tp_noImpact || bound <= impact.time + 1e-12);
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
    }
    print_message("%d impacts, %d misses, %.1f queries each\n", hits, misses, queries / 400.0);
    assert_true(hits > 100 && misses > 50);
}

// Free rotation of a body with three different moments, sampled beforehand by small Runge-Kutta
// steps.
typedef struct {
    tpQuat rotations[2001];
    double step;
} Tumble;

static tpVec3 eulerRate(tpVec3 I, tpVec3 w) {
    return tpMakeVec3((I.y - I.z) * w.y * w.z / I.x, (I.z - I.x) * w.z * w.x / I.y,
                      (I.x - I.y) * w.x * w.y / I.z);
}

static void fillTumble(Tumble* tumble, tpQuat rotation, tpVec3 I, tpVec3 w, double duration) {
    double h = tumble->step = duration / 2000.0;
    for (int k = 0; k <= 2000; ++k) {
        tumble->rotations[k] = rotation;
        tpVec3 k1 = eulerRate(I, w), k2 = eulerRate(I, tpMulAdd(w, 0.5 * h, k1));
        tpVec3 middle = tpMulAdd(w, 0.5 * h, k2);
        w = tpMulAdd(w, h, eulerRate(I, middle));
        rotation = tpNormalizeQuat(tpMulQQ(rotation, tpQuatExp(tpScale(h, middle))));
    }
}

static tpQuat tumbleAt(const void* context, double time) {
    const Tumble* tumble = (const Tumble*)context;
    double place = time / tumble->step;
    int k = place < 1999.0 ? (int)place : 1999;
    tpQuat q = tumble->rotations[k], r = tumble->rotations[k + 1];
    tpVec3 turn = tpQuatLog(tpMulQQ(r, tpConjugate(q)));
    return tpMulQQ(tpQuatExp(tpScale(place - k, turn)), q);
}

static void testTumbling(void** state) {
    (void)state;
    static Tumble tumble;
    tpRandom random = { 13 };
    int hits = 0;
    for (int n = 0; n < 40; ++n) {
        // A flat long box; moments of a homogeneous one.
        tpVec3 size = tpMakeVec3(2.0, 0.6, 0.1);
        tpGeometry box = boxOf(size.x, size.y, size.z), ball = ballOf(0.4);
        tpVec3 I = tpMakeVec3(size.y * size.y + size.z * size.z, size.x * size.x + size.z * size.z,
                              size.x * size.x + size.y * size.y);
        tpVec3 w = randomVec3(&random, -20.0, 20.0), L = tpMulParts(I, w);
        double least = fmin(I.x, fmin(I.y, I.z)), duration = 1.0;
        tpBodyPath path = { .pose = { randomVec3(&random, -3.0, 3.0), randomRotation(&random) },
                            .acceleration = { 0.0, 0.0, -9.81 },
                            .rotationAt = tumbleAt,
                            .context = &tumble };
        // Bounds on the angular speed that hold for all time.
        path.spinBound = fmin(tpLength(L) / least, sqrt(tpDot(w, L) / least));
        path.velocity = tpAdd(tpScale(-1.0, path.pose.position), tpMakeVec3(0.0, 0.0, 4.9));
        fillTumble(&tumble, path.pose.rotation, I, w, duration);
        tpBodyPath still = { .pose = tpIdentityPose() };
        tpFirstTouch impact = impactOf(&box, &path, &ball, &still, duration, 1e-6);
        assert_int_not_equal(impact.state, tp_impactUnclear);
        hits += impact.state == tp_impact;
        double end = impact.state == tp_noImpact ? duration : impact.time;
        for (int i = 0; i < 500 && impact.state != tp_startTouching; ++i) {
            assert_true(distanceAt(&box, &path, &ball, &still, end * i / 500.0, NULL) > 0.0);
        }
    }
    assert_true(hits > 10);
}

// A turning plane: only what lies near the other body counts of its infinite extent.
static void testTurningPlane(void** state) {
    (void)state;
    tpGeometry ball = ballOf(0.25), plane;
    tpError error;
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &plane, &error);
    tpBodyPath still = { .pose = at(2.0, 0.0, 1.0) };
    // About -y, the plane comes up at the ball: it touches where 2 sin t - cos t = -0.25.
    tpBodyPath turn = { .pose = tpIdentityPose(), .angularVelocity = { 0.0, -1.0, 0.0 } };
    double exact = asin(-0.25 / sqrt(5.0)) + atan2(1.0, 2.0);
    tpFirstTouch impact = impactOf(&ball, &still, &plane, &turn, 1.0, 1e-9);
    assert_int_equal(impact.state, tp_impact);
    CHECK_NEAR(impact.time, exact, 1e-8);
    assert_true(impact.time <= exact);
}

static void testCast(void** state) {
    (void)state;
    tpRandom random = { 14 };
    int hits = 0;
    for (int k = 0; k < 2000; ++k) {
        // Two balls: a quadratic.
        tpGeometry a = ballOf(randomBetween(&random, 0.1, 1.0));
        tpGeometry b = ballOf(randomBetween(&random, 0.1, 1.0));
        tpPose bodyA = tpMakePose(randomVec3(&random, -5.0, 5.0), randomRotation(&random));
        tpVec3 way = tpAdd(tpScale(-2.0, bodyA.position), randomVec3(&random, -2.0, 2.0));
        tpShapeHit hit;
        assert_int_equal(tpCastShape(&a, bodyA, way, &b, tpIdentityPose(), 1e-9, NULL, &hit),
                         tp_success);
        double r = a.sphere.radius + b.sphere.radius;
        double A = tpDot(way, way), B = tpDot(way, bodyA.position);
        double C = tpDot(bodyA.position, bodyA.position) - r * r, D = B * B - A * C;
        if (C <= 0.0) {
            assert_true(hit.startsTouching);
        } else if (D > 1e-6 && -B - sqrt(D) > 0.0 && -B - sqrt(D) < A) {
            double fraction = (-B - sqrt(D)) / A;
            assert_true(hit.isHit);
            // The speed of approach at the touch is sqrt(D) / r.
            CHECK_NEAR(hit.fraction, fraction, 1e-9 * r / sqrt(D) + 1e-12);
            hits += 1;
        } else if (D < -1e-6) {
            assert_false(hit.isHit);
        }
    }
    assert_true(hits > 500);
    // A box onto a box, face to face.
    tpGeometry box = boxOf(1.0, 1.0, 1.0);
    tpShapeHit hit;
    assert_int_equal(tpCastShape(&box, at(0.3, 0.2, 5.0), tpMakeVec3(0.0, 0.0, -8.0), &box,
                                 tpIdentityPose(), 1e-9, NULL, &hit),
                     tp_success);
    assert_true(hit.isHit);
    CHECK_NEAR(hit.fraction, 0.5, 1e-9);
    CHECK_VEC3(hit.closest.normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testFallingBall),
        cmocka_unit_test(testStartTouching),
        cmocka_unit_test(testRodThroughPlate),
        cmocka_unit_test(testRandomFlights),
        cmocka_unit_test(testTumbling),
        cmocka_unit_test(testTurningPlane),
        cmocka_unit_test(testCast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
