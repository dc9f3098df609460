// Pairs with closed forms, to 1e-12, against other ways of computing the same, in long double.

#include "collision/random_shapes.h"
#include "collision/smooth_distance.h"
#include "tippe/collision.h"

static tpGeometry sphereOf(double radius) {
    tpGeometry g;
    tpError error;
    assert_int_equal(tpMakeSphere(&(tpSphere){ radius }, tpIdentityPose(), &g, &error), tp_success);
    return g;
}

static tpGeometry capsuleOf(double radius, double length) {
    tpGeometry g;
    tpError error;
    tpCapsule def = { radius, length, { 0.0, 0.0, 1.0 } };
    assert_int_equal(tpMakeCapsule(&def, tpIdentityPose(), &g, &error), tp_success);
    return g;
}

static tpPose at(double x, double y, double z) {
    return tpMakePose(tpMakeVec3(x, y, z), tpIdentityQuat());
}

static tpPose randomPose(tpRandom* random, double reach) {
    return tpMakePose(randomVec3(random, -reach, reach), randomRotation(random));
}

static double gapOf(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB) {
    tpSmoothResult r;
    assert_true(tpSmoothClosest(a, bodyA, b, bodyB, NULL, &r));
    assert_true(r.converged);
    CHECK_NEAR(tpLength(r.normal), 1.0, 1e-14);
    double size = 1.0 + tpLength(bodyA.position) + tpLength(bodyB.position);
    CHECK_VEC3(tpSub(r.pointA, r.pointB), tpScale(r.gap, r.normal), 1e-12 * size);
    return r.gap;
}

static void testSpheres(void** state) {
    (void)state;
    tpRandom random = { 1 };
    for (int k = 0; k < 5000; ++k) {
        tpGeometry a = sphereOf(exp(randomBetween(&random, -7.0, 7.0)));
        tpGeometry b = sphereOf(exp(randomBetween(&random, -7.0, 7.0)));
        tpPose bodyA = randomPose(&random, 100.0), bodyB = randomPose(&random, 100.0);
        long double x = (long double)bodyA.position.x - (long double)bodyB.position.x;
        long double y = (long double)bodyA.position.y - (long double)bodyB.position.y;
        long double z = (long double)bodyA.position.z - (long double)bodyB.position.z;
        long double exact = sqrtl(x * x + y * y + z * z) - (long double)a.sphere.radius -
                            (long double)b.sphere.radius;
        CHECK_NEAR(gapOf(&a, bodyA, &b, bodyB), (double)exact,
                   1e-14 * (100.0 + a.sphere.radius + b.sphere.radius));
    }
}

// The distance of two segments as the least over all pairs of features, each minimised on its own.
static long double segmentDistance(tpVec3 p, tpVec3 u, double halfA, tpVec3 q, tpVec3 v,
                                   double halfB) {
    long double best = INFINITY;
    long double d[3] = { (long double)p.x - (long double)q.x, (long double)p.y - (long double)q.y,
                         (long double)p.z - (long double)q.z };
    long double U[3] = { (long double)u.x, (long double)u.y, (long double)u.z };
    long double V[3] = { (long double)v.x, (long double)v.y, (long double)v.z };
    long double uu = 0, vv = 0, uv = 0, du = 0, dv = 0;
    for (int i = 0; i < 3; ++i) {
        uu += U[i] * U[i];
        vv += V[i] * V[i];
        uv += U[i] * V[i];
        du += d[i] * U[i];
        dv += d[i] * V[i];
    }
    for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) {
            // 0 stands for the inside of a segment, where the derivative vanishes.
            long double s = i * (long double)halfA, t = j * (long double)halfB;
            if (i == 0 && j == 0) {
                long double determinant = uu * vv - uv * uv;
                s = determinant > 0 ? (uv * dv - vv * du) / determinant : 0;
                t = determinant > 0 ? (uu * dv - uv * du) / determinant : 0;
            } else if (i == 0) {
                s = (uv * t - du) / uu;
            } else if (j == 0) {
                t = (uv * s + dv) / vv;
            }
            if (fabsl(s) <= (long double)halfA && fabsl(t) <= (long double)halfB) {
                long double sum = 0;
                for (int k = 0; k < 3; ++k) {
                    long double x = d[k] + s * U[k] - t * V[k];
                    sum += x * x;
                }
                best = fminl(best, sqrtl(sum));
            }
        }
    }
    return best;
}

static void testCapsules(void** state) {
    (void)state;
    tpRandom random = { 2 };
    for (int k = 0; k < 20000; ++k) {
        tpGeometry a =
            capsuleOf(randomBetween(&random, 0.1, 1.0), randomBetween(&random, 0.1, 3.0));
        tpGeometry b =
            capsuleOf(randomBetween(&random, 0.1, 1.0), randomBetween(&random, 0.1, 3.0));
        tpPose bodyA = randomPose(&random, 3.0), bodyB = randomPose(&random, 3.0);
        // Some nearly parallel ones.
        if (k % 4 == 0) {
            tpVec3 turn = tpScale(pow(10.0, randomBetween(&random, -12.0, -1.0)),
                                  randomVec3(&random, -1.0, 1.0));
            bodyB.rotation = tpMulQQ(tpQuatExp(turn), bodyA.rotation);
        }
        tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
        long double exact =
            segmentDistance(bodyA.position, tpRotate(bodyA.rotation, z), 0.5 * a.capsule.length,
                            bodyB.position, tpRotate(bodyB.rotation, z), 0.5 * b.capsule.length);
        exact -= (long double)a.capsule.radius + (long double)b.capsule.radius;
        CHECK_NEAR(gapOf(&a, bodyA, &b, bodyB), (double)exact, 1e-12);
        tpGeometry ball = sphereOf(0.3);
        exact = segmentDistance(bodyA.position, z, 0.0, bodyB.position, tpRotate(bodyB.rotation, z),
                                0.5 * b.capsule.length);
        exact -= 0.3L + (long double)b.capsule.radius;
        CHECK_NEAR(gapOf(&ball, bodyA, &b, bodyB), (double)exact, 1e-12);
    }
}

// Parallel capsules touch in the middle of what they share, in either order; beyond each other,
// with the ends that are nearest.
static void testParallelCapsules(void** state) {
    (void)state;
    tpRandom random = { 3 };
    for (int k = 0; k < 2000; ++k) {
        double halfA = randomBetween(&random, 0.1, 1.5), halfB = randomBetween(&random, 0.1, 1.5);
        double along = randomBetween(&random, -3.0, 3.0), aside = randomBetween(&random, 0.5, 2.0);
        tpGeometry a = capsuleOf(0.1, 2.0 * halfA), b = capsuleOf(0.2, 2.0 * halfB);
        tpPose bodyA = tpMakePose(tpZeroVec3(), tpIdentityQuat());
        tpPose bodyB = tpMakePose(tpMakeVec3(aside, 0.0, along), tpIdentityQuat());
        double low = fmax(-halfA, along - halfB), high = fmin(halfA, along + halfB);
        double middle = 0.5 * (low + high), beyond = fmax(0.0, low - high);
        double onA = beyond > 0.0 ? copysign(halfA, along) : middle;
        double onB = beyond > 0.0 ? along - copysign(halfB, along) : middle;
        double distance = hypot(aside, beyond);
        for (int order = 0; order < 2; ++order) {
            tpSmoothResult r;
            assert_true(order == 0 ? tpSmoothClosest(&a, bodyA, &b, bodyB, NULL, &r)
                                   : tpSmoothClosest(&b, bodyB, &a, bodyA, NULL, &r));
            tpVec3 pointA = order == 0 ? r.pointA : r.pointB;
            tpVec3 pointB = order == 0 ? r.pointB : r.pointA;
            double up = (onB - onA) / distance, out = aside / distance;
            CHECK_NEAR(r.gap, distance - 0.3, 1e-14);
            CHECK_VEC3(pointA, tpMakeVec3(0.1 * out, 0.0, onA + 0.1 * up), 1e-14);
            CHECK_VEC3(pointB, tpMakeVec3(aside - 0.2 * out, 0.0, onB - 0.2 * up), 1e-14);
        }
    }
}

// The signed distance of a point from an ellipsoid by bisection in long double.
static long double ellipsoidDistance(tpVec3 radii, tpVec3 p) {
    long double a[3] = { (long double)radii.x, (long double)radii.y, (long double)radii.z };
    long double x[3] = { fabsl((long double)p.x), fabsl((long double)p.y),
                         fabsl((long double)p.z) };
    long double least = fminl(a[0], fminl(a[1], a[2])), low = -least * least, high = 0;
    for (int i = 0; i < 3; ++i) {
        high = fmaxl(high, 2 * a[i] * x[i] + a[i] * a[i]);
    }
    high *= 4;
    for (int k = 0; k < 400; ++k) {
        long double t = (low + high) / 2, sum = 0;
        for (int i = 0; i < 3; ++i) {
            long double r = a[i] * x[i] / (a[i] * a[i] + t);
            sum += r * r;
        }
        if (sum > 1) {
            low = t;
        } else {
            high = t;
        }
    }
    long double sum = 0;
    for (int i = 0; i < 3; ++i) {
        long double r = high * x[i] / (a[i] * a[i] + high);
        sum += r * r;
    }
    return copysignl(sqrtl(sum), high);
}

static void testSphereEllipsoid(void** state) {
    (void)state;
    tpRandom random = { 3 };
    static const tpShapeRange thin = { 3.45, 1.0, 1.0, 1.0 };
    for (int k = 0; k < 4000; ++k) {
        tpGeometry b = randomShape(&random, tp_ellipsoidShape, k % 2 ? &thin : &ordinaryShapes);
        tpGeometry a = sphereOf(0.2);
        b.pose = tpIdentityPose();
        tpPose bodyB = randomPose(&random, 1.0), bodyA;
        double reach = k % 3 == 0 ? 0.7 : 3.0;
        tpVec3 local = tpMulParts(randomVec3(&random, -reach, reach), b.ellipsoid.radii);
        bodyA = tpMakePose(tpTransformPoint(bodyB, local), tpIdentityQuat());
        // As rounding has left it.
        local = tpUntransformPoint(bodyB, bodyA.position);
        double exact = (double)(ellipsoidDistance(b.ellipsoid.radii, local) - 0.2L);
        double size = tpMaxPart(b.ellipsoid.radii) * (1.0 + reach);
        CHECK_NEAR(gapOf(&a, bodyA, &b, bodyB), exact, 1e-13 * size + 2e-15);
        CHECK_NEAR(gapOf(&b, bodyB, &a, bodyA), exact, 1e-13 * size + 2e-15);
    }
}

static void testPlanes(void** state) {
    (void)state;
    tpRandom random = { 4 };
    for (int k = 0; k < 3000; ++k) {
        tpGeometry plane, shape = randomShape(&random, tp_ellipsoidShape, &ordinaryShapes);
        tpError error;
        tpPlane def = { randomVec3(&random, -1.0, 1.0), randomBetween(&random, -2.0, 2.0) };
        tpMakePlane(&def, tpIdentityPose(), &plane, &error);
        tpPose bodyA = randomPose(&random, 3.0), bodyB = randomPose(&random, 3.0);
        tpPose place = tpGeometry_Pose(&shape, bodyA);
        tpVec3 n = tpRotate(bodyB.rotation, tpNormalize(def.normal));
        tpVec3 local = tpUnrotate(place.rotation, n);
        double exact = tpDot(n, tpSub(place.position, bodyB.position)) - def.offset -
                       tpLength(tpMulParts(shape.ellipsoid.radii, local));
        CHECK_NEAR(gapOf(&shape, bodyA, &plane, bodyB), exact, 1e-13);
        CHECK_NEAR(gapOf(&plane, bodyB, &shape, bodyA), exact, 1e-13);
    }
    // Two planes: a slab, or no distance at all.
    tpGeometry down, up;
    tpError error;
    tpSmoothResult r;
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &up, &error);
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, -1.0 }, -2.0 }, tpIdentityPose(), &down, &error);
    assert_true(tpSmoothClosest(&down, tpIdentityPose(), &up, tpIdentityPose(), NULL, &r));
    CHECK_NEAR(r.gap, 2.0, 0.0);
    assert_false(tpSmoothClosest(&up, tpIdentityPose(), &up, at(1.0, 2.0, 3.0), NULL, &r));
    // The slab wherever its two bodies are: what they lie along its faces does not count.
    for (int k = 0; k < 100; ++k) {
        tpPose bodyA = at(randomBetween(&random, -9.0, 9.0), randomBetween(&random, -9.0, 9.0),
                          randomBetween(&random, -9.0, 9.0));
        tpPose bodyB = at(randomBetween(&random, -9.0, 9.0), randomBetween(&random, -9.0, 9.0),
                          randomBetween(&random, -9.0, 9.0));
        assert_true(tpSmoothClosest(&down, bodyA, &up, bodyB, NULL, &r));
        CHECK_NEAR(r.gap, 2.0 + bodyA.position.z - bodyB.position.z, 1e-14);
        CHECK_NEAR(r.pointA.z, 2.0 + bodyA.position.z, 1e-14);
        CHECK_VEC3(r.pointB, tpMulAdd(r.pointA, -r.gap, tpMakeVec3(0.0, 0.0, 1.0)), 1e-14);
    }
}

// Spheres and solids with edges: the certificate of the support functions, and inside no direction
// that leads out faster.
static void testSphereSolids(void** state) {
    (void)state;
    static const tpShapeType solids[] = { tp_boxShape, tp_cylinderShape, tp_coneShape };
    tpRandom random = { 5 };
    for (int k = 0; k < 9000; ++k) {
        tpGeometry b = randomShape(&random, solids[k % 3], &ordinaryShapes);
        tpGeometry a = sphereOf(randomBetween(&random, 0.05, 1.0));
        tpPose bodyA = randomPose(&random, k % 2 ? 2.0 : 0.7), bodyB = randomPose(&random, 0.3);
        tpSmoothResult r;
        assert_true(tpSmoothClosest(&a, bodyA, &b, bodyB, NULL, &r));
        CHECK_NEAR(gapAlong(&a, bodyA, &b, bodyB, r.normal), r.gap, 1e-12);
        CHECK_VEC3(tpSub(r.pointA, r.pointB), tpScale(r.gap, r.normal), 1e-12);
        for (int i = 0; i < 20; ++i) {
            tpVec3 n = tpNormalize(randomVec3(&random, -1.0, 1.0));
            CHECK_BELOW(gapAlong(&a, bodyA, &b, bodyB, n), r.gap + 1e-12);
        }
    }
}

// Where everything is aligned or coincides.
// A ball whose centre is in a box leaves it by the nearest face, however long the box is; within
// rounding of a corner too. A hair outside, it is pushed away from the nearest point.
static void testBallInBox(void** state) {
    (void)state;
    tpGeometry ball = sphereOf(0.05);
    for (int axis = 0; axis < 3; ++axis) {
        double size[3] = { 0.2, 0.2, 0.2 }, place[3] = { 0.01, 0.01, 0.01 };
        size[axis] = 10.0;
        int across = (axis + 1) % 3;
        place[across] = -0.04;
        tpGeometry box;
        tpMakeBox(&(tpBox){ { size[0], size[1], size[2] } }, tpIdentityPose(), &box, NULL);
        tpPose pose = tpMakePose(tpMakeVec3(place[0], place[1], place[2]), tpIdentityQuat());
        tpContactPoint point;
        tpContactList list = { &point, 0, 1 };
        assert_int_equal(tpCollide(&ball, pose, &box, tpIdentityPose(), 0.01, NULL, &list),
                         tp_success);
        assert_int_equal(list.count, 1);
        double out[3] = { 0.0, 0.0, 0.0 };
        out[across] = -1.0;
        CHECK_VEC3(point.normal, tpMakeVec3(out[0], out[1], out[2]), 1e-15);
        CHECK_NEAR(point.gap, -0.06 - 0.05, 1e-15);
    }
    tpGeometry cube;
    tpMakeBox(&(tpBox){ { 2.0, 2.0, 2.0 } }, tpIdentityPose(), &cube, NULL);
    for (int i = 0; i < 2; ++i) {
        double away = i == 0 ? 1e-11 : 0.0; // of the corner, along each axis
        tpPose pose = tpMakePose(tpMakeVec3(1.0 + away, 1.0 + away, 1.0 + away), tpIdentityQuat());
        tpContactPoint point;
        tpContactList list = { &point, 0, 1 };
        tpCollide(&ball, pose, &cube, tpIdentityPose(), 0.01, NULL, &list);
        assert_int_equal(list.count, 1);
        CHECK_NEAR(point.gap, -0.05, 1e-10);
        double third = 1.0 / sqrt(3.0);
        CHECK_VEC3(point.normal,
                   i == 0 ? tpMakeVec3(third, third, third) : tpMakeVec3(1.0, 0.0, 0.0), 1e-4);
    }
}

// Two discs on each other, side by side: contacts where their rims cross, which lie on both.
static void testCrossedRims(void** state) {
    (void)state;
    tpGeometry upper, lower;
    tpMakeCylinder(&(tpCylinder){ 0.5, 0.2, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &upper, NULL);
    tpMakeCylinder(&(tpCylinder){ 0.4, 0.2, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &lower, NULL);
    for (int i = 0; i < 20; ++i) {
        double away = 0.15 + 0.035 * i, turn = 0.3 * i; // between 0.1 and 0.9
        tpPose pose = at(away * cos(turn), away * sin(turn), 0.2 - 1e-4);
        tpContactPoint points[32];
        tpContactList list = { points, 0, 32 };
        tpCollide(&upper, pose, &lower, tpIdentityPose(), 0.01, NULL, &list);
        int crossings = 0;
        for (int k = 0; k < list.count; ++k) {
            tpVec3 p = points[k].pointB;
            double fromUpper = hypot(p.x - pose.position.x, p.y - pose.position.y);
            bool isOnBoth = fabs(hypot(p.x, p.y) - 0.4) < 1e-12 && fabs(fromUpper - 0.5) < 1e-12;
            crossings += isOnBoth;
            assert_true(hypot(p.x, p.y) < 0.4 + 1e-12 && fromUpper < 0.5 + 1e-12);
            CHECK_NEAR(points[k].gap, -1e-4, 1e-12);
        }
        assert_int_equal(crossings, 2);
    }
}

static void testDegenerate(void** state) {
    (void)state;
    tpPose o = tpIdentityPose();
    tpPose lying = tpMakePose(tpZeroVec3(),
                              tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), 1.5707963267948966));
    tpGeometry ball = sphereOf(0.5), rod = capsuleOf(0.25, 2.0), solid;
    tpError error;
    CHECK_NEAR(gapOf(&ball, o, &ball, o), -1.0, 0.0);
    CHECK_NEAR(gapOf(&ball, o, &rod, o), -0.75, 0.0);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, 1.0), &rod, o), -0.75, 1e-15);
    CHECK_NEAR(gapOf(&rod, o, &rod, o), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&rod, o, &rod, lying), -0.5, 1e-15);
    for (int i = -2; i <= 2; ++i) { // rods that cross, turned somehow, of any size
        double scale = pow(10.0, 2.0 * i);
        tpGeometry one = capsuleOf(0.25 * scale, 2.0 * scale);
        tpQuat turn = tpQuatFromAxisAngle(tpMakeVec3(0.3, -0.5, 0.7), 1.1);
        tpPose first = tpMakePose(tpMakeVec3(0.3 * scale, 0.2 * scale, 0.1 * scale), turn);
        for (int k = 1; k < 8; ++k) {
            tpPose second = first;
            tpQuat lean = tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), 0.4 * k);
            second.rotation = tpMulQQ(turn, lean);
            CHECK_NEAR(gapOf(&one, first, &one, second), -0.5 * scale, 1e-12 * scale);
        }
    }
    CHECK_NEAR(gapOf(&rod, o, &rod, at(0.0, 0.0, 2.0)), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&rod, o, &rod, at(0.0, 0.0, 3.0)), 0.5, 1e-15);
    CHECK_NEAR(gapOf(&rod, o, &rod, at(0.6, 0.0, 0.7)), 0.1, 1e-15);
    tpMakeEllipsoid(&(tpEllipsoid){ { 3.0, 1.0, 2.0 } }, o, &solid, &error);
    CHECK_NEAR(gapOf(&ball, o, &solid, o), -1.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(0.5, 0.0, 0.0), &solid, o), -0.5 - sqrt(1.0 - 0.25 / 8.0), 1e-14);
    CHECK_NEAR(gapOf(&ball, at(3.0, 0.0, 0.0), &solid, o), -0.5, 1e-15);
    tpMakeCylinder(&(tpCylinder){ 1.0, 4.0, { 0.0, 0.0, 1.0 } }, o, &solid, &error);
    CHECK_NEAR(gapOf(&ball, o, &solid, o), -1.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, 2.0), &solid, o), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(1.0, 0.0, 2.0), &solid, o), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(4.0, 0.0, 6.0), &solid, o), 4.5, 1e-15);
    tpMakeCone(&(tpCone){ 3.0, 4.0, { 0.0, 0.0, 1.0 } }, o, &solid, &error);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, 2.0), &solid, o), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, 7.0), &solid, o), 4.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, -2.0), &solid, o), -0.5, 1e-15);
    // Half way up the side: its slope is 3 : 4, the side is 3/5 * 4 from the middle of the base.
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, -1.9), &solid, o), -0.6, 1e-14);
    CHECK_NEAR(gapOf(&ball, at(0.0, 0.0, 1.0), &solid, o), -0.5 - 0.6, 1e-14);
    tpMakeBox(&(tpBox){ { 2.0, 4.0, 6.0 } }, o, &solid, &error);
    CHECK_NEAR(gapOf(&ball, o, &solid, o), -1.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(1.0, 2.0, 3.0), &solid, o), -0.5, 1e-15);
    CHECK_NEAR(gapOf(&ball, at(2.0, 4.0, 5.0), &solid, o), 2.5, 1e-15);
}

// A ball cut off at z = 0.5, against planes all around it: its support function is known.
static void testCutBall(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry parts[2], cut, plane;
    tpError error;
    parts[0] = sphereOf(1.0);
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.5 }, tpIdentityPose(), &parts[1], &error);
    assert_int_equal(tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &cut, &error),
                     tp_success);
    for (int k = 0; k <= 360; ++k) {
        double angle = k * 3.14159265358979323846 / 180.0, s = sin(angle), c = cos(angle);
        double h = c > 0.5 ? 0.5 * c + sqrt(0.75) * fabs(s) : 1.0;
        tpMakePlane(&(tpPlane){ { -s, 0.0, -c }, -3.0 }, tpIdentityPose(), &plane, &error);
        CHECK_NEAR(gapOf(&cut, tpIdentityPose(), &plane, tpIdentityPose()), 3.0 - h, 1e-12);
        tpClosest closest;
        assert_int_equal(
            tpClosestPoints(&cut, tpIdentityPose(), &plane, tpIdentityPose(), NULL, &closest),
            tp_success);
        CHECK_NEAR(closest.distance, 3.0 - h, 1e-12);
        // And a ball that far out.
        tpGeometry ball = sphereOf(0.5);
        double x = 3.0 * s, z = 3.0 * c, rim = sqrt(0.75), exact;
        if (z <= 0.5 || (z - 0.5) * rim <= (fabs(x) - rim) * 0.5) {
            exact = 2.0;
        } else if (fabs(x) <= rim) {
            exact = z - 0.5;
        } else {
            exact = hypot(fabs(x) - rim, z - 0.5);
        }
        CHECK_NEAR(gapOf(&ball, at(x, 0.0, z), &cut, tpIdentityPose()), exact - 0.5, 1e-12);
    }
    tpReleaseGeometry(&cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSpheres),          cmocka_unit_test(testCapsules),
        cmocka_unit_test(testParallelCapsules), cmocka_unit_test(testSphereEllipsoid),
        cmocka_unit_test(testPlanes),           cmocka_unit_test(testSphereSolids),
        cmocka_unit_test(testDegenerate),       cmocka_unit_test(testCutBall),
        cmocka_unit_test(testBallInBox),        cmocka_unit_test(testCrossedRims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
