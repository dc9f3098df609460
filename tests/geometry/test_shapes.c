// What holds for every convex shape: support points, bounds, surfaces, lines and rays agree.

#include "geometry/shape.h"

#include <string.h>

#include "sample_shapes.h"

// Runs a check on random shapes of every type; intersections and user functions search for their
// support points and get fewer turns.
typedef void (*Check)(const tpGeometry* geometry, tpRandom* random);

static void forAllShapes(Check check, int turns, uint64_t seed) {
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { seed };
    for (int i = 0; i < convexTypeCount; ++i) {
        bool slow = convexTypes[i] == tp_intersectionShape || convexTypes[i] == tp_implicitShape;
        for (int turn = 0; turn < (slow ? 1 : turns); ++turn) {
            tpGeometry geometry;
            tpError error = { 0 };
            tpPose pose = randomPose(&random, 2.0);
            tpResult made =
                randomShape(&allocator, &random, convexTypes[i], pose, &geometry, &error);
            if (made != tp_success) {
                fail_msg("%s: %s", tpShapeTypeName(convexTypes[i]), error.message);
            }
            check(&geometry, &random);
            tpReleaseGeometry(&geometry);
        }
    }
}

static bool isSearched(const tpGeometry* geometry) {
    return geometry->type == tp_intersectionShape || geometry->type == tp_implicitShape;
}

// The support point is on the surface, and no other point of the surface is farther.
static void checkSupport(const tpGeometry* geometry, tpRandom* random) {
    double tolerance = isSearched(geometry) ? 1e-9 : 1e-12;
    for (int i = 0; i < 20; ++i) {
        tpVec3 direction = randomUnit(random);
        tpVec3 p =
            tpGeometry_Support(geometry, tpScale(randomBetween(random, 0.1, 10.0), direction));
        int k;
        CHECK_NEAR(tpSurfaceMaximum(geometry, p, &k), 0.0, tolerance);
        for (int j = 0; j < 20; ++j) {
            tpVec3 o = randomVec3(random, -0.3, 0.3), d = randomUnit(random);
            tpLineClip clip;
            if (tpClipLine(geometry, o, d, &clip)) {
                CHECK_BELOW(tpDot(direction, tpMulAdd(o, clip.leave, d)),
                            tpDot(direction, p) + tolerance);
            }
        }
        if (i >= 3 && isSearched(geometry)) {
            break;
        }
    }
}

static void supportIsFarthest(void** state) {
    (void)state;
    forAllShapes(checkSupport, 20, 1);
}

// Lines enter and leave at points of the surface, with the surface's normal.
static void checkLines(const tpGeometry* geometry, tpRandom* random) {
    int hits = 0;
    for (int i = 0; i < 100; ++i) {
        tpVec3 target = randomVec3(random, -0.5, 0.5);
        tpVec3 direction = tpScale(randomBetween(random, 0.1, 10.0), randomUnit(random));
        double back = randomBetween(random, -100.0, 100.0);
        tpVec3 origin = tpMulAdd(target, back, direction);
        tpLineClip clip;
        if (!tpClipLine(geometry, origin, direction, &clip)) {
            // The nearest the line comes, by a crude scan, is outside.
            for (int j = -50; j <= 50; ++j) {
                int k;
                tpVec3 p = tpMulAdd(target, 0.02 * j / tpLength(direction), direction);
                assert_true(tpSurfaceMaximum(geometry, p, &k) > -1e-12);
            }
            continue;
        }
        ++hits;
        double scale = 1.0 + tpLength(origin);
        assert_true(clip.enter <= clip.leave);
        const double ends[2] = { clip.enter, clip.leave };
        const tpVec3 normals[2] = { clip.enterNormal, clip.leaveNormal };
        for (int e = 0; e < 2; ++e) {
            int k;
            tpVec3 p = tpMulAdd(origin, ends[e], direction);
            CHECK_NEAR(tpSurfaceMaximum(geometry, p, &k), 0.0, 1e-14 * scale + 1e-12);
            CHECK_NEAR(tpLength(normals[e]), 1.0, 1e-12);
            double slope = tpDot(normals[e], direction);
            assert_true(e == 0 ? slope <= 1e-9 * scale : slope >= -1e-9 * scale);
            // Some inequality that holds with equality has this normal.
            double nearest = HUGE_VAL;
            for (int n = 0; n < tpSurfaceCount(geometry); ++n) {
                tpVec3 gradient;
                if (fabs(tpSurfaceValue(geometry, n, p, &gradient, NULL)) < 1e-9 * scale) {
                    nearest = fmin(nearest, tpDistanceBetween(tpNormalize(gradient), normals[e]));
                }
            }
            CHECK_BELOW(nearest, 1e-6);
        }
        // Between the ends the line is inside.
        int k;
        tpVec3 middle = tpMulAdd(origin, 0.5 * (clip.enter + clip.leave), direction);
        CHECK_BELOW(tpSurfaceMaximum(geometry, middle, &k), 1e-12 * scale);
    }
    assert_true(hits > 0);
}

static void linesMeetTheSurface(void** state) {
    (void)state;
    forAllShapes(checkLines, 20, 2);
}

// Bounds hold the shape, and are tight for all but those that say otherwise.
static void checkBounds(const tpGeometry* geometry, tpRandom* random) {
    tpPose body = randomPose(random, 10.0);
    tpPose pose = tpGeometry_Pose(geometry, body);
    tpBounds bounds = tpGeometry_Bounds(geometry, body);
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    for (int i = 0; i < 6; ++i) {
        tpVec3 direction = i % 2 == 0 ? axes[i / 2] : tpNeg(axes[i / 2]);
        tpVec3 p = tpGeometry_Support(geometry, tpUnrotate(pose.rotation, direction));
        double extent = tpDot(direction, tpTransformPoint(pose, p));
        double bound = tpDot(direction, i % 2 == 0 ? bounds.upper : bounds.lower);
        CHECK_BELOW(extent, bound + 1e-12);
        if (!isSearched(geometry)) {
            CHECK_NEAR(extent, bound, 1e-12);
        }
    }
}

static void boundsHoldTheShape(void** state) {
    (void)state;
    forAllShapes(checkBounds, 50, 3);
}

static void checkRadius(const tpGeometry* geometry, tpRandom* random) {
    tpVec3 point = randomVec3(random, -2.0, 2.0);
    tpVec3 own = tpUntransformPoint(geometry->pose, point);
    double radius = tpGeometry_RadiusAbout(geometry, point);
    double farthest = 0.0;
    for (int i = 0; i < (isSearched(geometry) ? 5 : 200); ++i) {
        tpVec3 p = tpGeometry_Support(geometry, randomUnit(random));
        farthest = fmax(farthest, tpDistanceBetween(p, own));
        CHECK_BELOW(tpDistanceBetween(p, own), radius * (1.0 + 1e-12));
    }
    CHECK_BELOW(radius, 3.0 * farthest + 0.5);
}

static void radiusHoldsTheShape(void** state) {
    (void)state;
    forAllShapes(checkRadius, 50, 4);
}

// Gradients against differences of values, Hessians against differences of gradients.
static void checkDerivatives(const tpGeometry* geometry, tpRandom* random) {
    const double h = 1e-6;
    for (int i = 0; i < 20; ++i) {
        tpVec3 p = tpMulAdd(randomVec3(random, -0.2, 0.2), randomBetween(random, 0.3, 1.5),
                            randomUnit(random));
        // Away from the coordinate planes, where superellipsoids bend sharply.
        if (fmin(fabs(p.x), fmin(fabs(p.y), fabs(p.z))) < 0.05) {
            continue;
        }
        for (int k = 0; k < tpSurfaceCount(geometry) && k < 8; ++k) {
            tpVec3 gradient, before, after;
            tpMat33 hessian;
            tpSurfaceValue(geometry, k, p, &gradient, &hessian);
            tpVec3 d = randomUnit(random);
            double low = tpSurfaceValue(geometry, k, tpMulAdd(p, -h, d), &before, NULL);
            double high = tpSurfaceValue(geometry, k, tpMulAdd(p, h, d), &after, NULL);
            double size = 1.0 + tpLength(gradient);
            CHECK_NEAR((high - low) / (2.0 * h), tpDot(gradient, d), 1e-7 * size);
            tpVec3 bend = tpScale(1.0 / (2.0 * h), tpSub(after, before));
            if (geometry->type == tp_capsuleShape &&
                fabs(fabs(p.z) - 0.5 * geometry->capsule.length) < 2.0 * h) {
                continue; // its Hessian jumps there
            }
            double stiff = 1.0 + tpMaxPart(tpAbsVec3(hessian.cx)) +
                           tpMaxPart(tpAbsVec3(hessian.cy)) + tpMaxPart(tpAbsVec3(hessian.cz));
            CHECK_VEC3(bend, tpMulMV(hessian, d), 1e-5 * stiff);
        }
    }
}

static void derivativesMatchDifferences(void** state) {
    (void)state;
    forAllShapes(checkDerivatives, 20, 5);
}

// A ray in the world against the line in the shape's frame.
static void checkRays(const tpGeometry* geometry, tpRandom* random) {
    tpPose body = randomPose(random, 5.0);
    for (int i = 0; i < 50; ++i) {
        tpVec3 inside =
            tpTransformPoint(tpGeometry_Pose(geometry, body), randomVec3(random, -0.1, 0.1));
        tpVec3 direction = randomUnit(random);
        tpVec3 origin = tpMulAdd(inside, -20.0, direction);
        tpRayHit hit;
        if (!tpGeometry_CastRay(geometry, body, origin, direction, 100.0, &hit)) {
            continue;
        }
        assert_false(hit.startsInside);
        CHECK_VEC3(hit.point, tpMulAdd(origin, hit.t, direction), 1e-12);
        assert_true(tpDot(hit.normal, direction) <= 1e-9);
        tpRayHit again;
        assert_false(tpGeometry_CastRay(geometry, body, origin, direction, hit.t - 1e-6, &again));
        // From just inside the ray starts in the solid; from just outside it hits at once.
        assert_true(tpGeometry_CastRay(geometry, body, tpMulAdd(hit.point, -1e-7, direction),
                                       direction, 1.0, &again));
        CHECK_NEAR(again.t, 1e-7, 1e-10);
    }
    // From deep inside (random shapes of one plane less a ball may not hold the origin).
    double depth;
    tpVec3 center = tpInteriorPoint(geometry, &depth);
    tpRayHit hit;
    assert_true(tpGeometry_CastRay(geometry, body,
                                   tpTransformPoint(tpGeometry_Pose(geometry, body), center),
                                   tpMakeVec3(1.0, 0.0, 0.0), 1.0, &hit));
    assert_true(hit.startsInside && hit.t == 0.0);
}

static void raysHitWhereLinesEnter(void** state) {
    (void)state;
    forAllShapes(checkRays, 20, 6);
}

// Special lines: along axes, through tips, along edges, tangent.
static void specialLines(void** state) {
    (void)state;
    tpGeometry cone, cylinder, box;
    tpMakeCone(&(tpCone){ 1.0, 2.0, { 0.0, 0.0, 0.0 } }, tpIdentityPose(), &cone, NULL);
    tpMakeCylinder(&(tpCylinder){ 1.0, 2.0, { 0.0, 0.0, 0.0 } }, tpIdentityPose(), &cylinder, NULL);
    tpMakeBox(&(tpBox){ tpMakeVec3(2.0, 2.0, 2.0) }, tpIdentityPose(), &box, NULL);
    tpLineClip clip;
    const tpVec3 up = { 0.0, 0.0, 1.0 }, right = { 1.0, 0.0, 0.0 };
    // Up the axis of the cone: from the base to the tip.
    assert_true(tpClipLine(&cone, tpMakeVec3(0.0, 0.0, -5.0), up, &clip));
    CHECK_NEAR(clip.enter, 4.0, 1e-15);
    CHECK_NEAR(clip.leave, 6.0, 1e-14);
    // Down it.
    assert_true(tpClipLine(&cone, tpMakeVec3(0.0, 0.0, 5.0), tpNeg(up), &clip));
    CHECK_NEAR(clip.enter, 4.0, 1e-14);
    CHECK_NEAR(clip.leave, 6.0, 1e-15);
    // Parallel to the side, inside: radius 1 over height 2.
    tpVec3 side = tpMakeVec3(-0.5, 0.0, 1.0);
    assert_true(tpClipLine(&cone, tpMakeVec3(0.5, 0.0, -1.0), side, &clip));
    CHECK_NEAR(clip.enter, 0.0, 1e-15);
    CHECK_NEAR(clip.leave, 1.5, 1e-14); // x = 0.5 - t/2 meets the far side -(1 - z)/2 = -(2 - t)/2
    // Parallel to the side, outside.
    assert_false(tpClipLine(&cone, tpMakeVec3(1.5, 0.0, -1.0), side, &clip));
    // Above the tip, where the other half of the double cone would be.
    assert_false(tpClipLine(&cone, tpMakeVec3(-5.0, 0.0, 1.5), right, &clip));
    // Along the axis of the cylinder, on its surface and beside it.
    assert_true(tpClipLine(&cylinder, tpMakeVec3(0.6, 0.8, -3.0), up, &clip));
    assert_false(tpClipLine(&cylinder, tpMakeVec3(0.6, 0.81, -3.0), up, &clip));
    // In the plane of a face of the box: touching counts.
    assert_true(tpClipLine(&box, tpMakeVec3(-5.0, 1.0, 0.0), right, &clip));
    CHECK_NEAR(clip.leave - clip.enter, 2.0, 1e-15);
    assert_false(tpClipLine(&box, tpMakeVec3(-5.0, 1.0 + 1e-15 * 4.0, 0.0), right, &clip));
    // No direction, no line.
    assert_false(tpClipLine(&box, tpZeroVec3(), tpZeroVec3(), &clip));
}

static void planesAreHalfSpaces(void** state) {
    (void)state;
    tpGeometry plane;
    tpMakePlane(&(tpPlane){ tpMakeVec3(0.0, 0.0, 5.0), 2.0 }, tpIdentityPose(), &plane, NULL);
    tpBounds bounds = tpGeometry_Bounds(&plane, tpIdentityPose());
    CHECK_NEAR(bounds.upper.z, 2.0, 0.0);
    assert_true(isinf(bounds.lower.z) && isinf(bounds.upper.x));
    tpRayHit hit;
    assert_true(tpGeometry_CastRay(&plane, tpIdentityPose(), tpMakeVec3(1.0, 1.0, 10.0),
                                   tpMakeVec3(0.0, 0.0, -2.0), 100.0, &hit));
    CHECK_NEAR(hit.t, 4.0, 0.0);
    CHECK_VEC3(hit.normal, tpMakeVec3(0.0, 0.0, 1.0), 0.0);
    assert_false(tpGeometry_CastRay(&plane, tpIdentityPose(), tpMakeVec3(1.0, 1.0, 10.0),
                                    tpMakeVec3(0.0, 0.0, 2.0), 100.0, &hit));
    assert_true(tpGeometry_CastRay(&plane, tpIdentityPose(), tpMakeVec3(1.0, 1.0, 1.0),
                                   tpMakeVec3(0.0, 0.0, 2.0), 100.0, &hit));
    assert_true(hit.startsInside);
}

// An axis given is the z axis of the shape's own frame.
static void axesBecomePoses(void** state) {
    (void)state;
    tpRandom random = { 12 };
    for (int i = 0; i < 200; ++i) {
        tpVec3 axis = i == 0 ? tpMakeVec3(0.0, 0.0, -3.0) : randomVec3(&random, -2.0, 2.0);
        tpPose pose = randomPose(&random, 1.0);
        tpGeometry cone;
        assert_int_equal(tpMakeCone(&(tpCone){ 1.0, 2.0, axis }, pose, &cone, NULL), tp_success);
        tpVec3 tip = tpTransformPoint(cone.pose, tpMakeVec3(0.0, 0.0, 1.0));
        CHECK_VEC3(tip, tpTransformPoint(pose, tpNormalize(axis)), 1e-14);
    }
}

static void expectRefused(tpResult result, const tpError* error, const char* words) {
    assert_int_equal(result, tp_badInput);
    if (strstr(error->message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error->message, words);
    }
}

static void badNumbersAreRefused(void** state) {
    (void)state;
    tpGeometry g;
    tpError e;
    tpPose at = tpIdentityPose(), bad = tpMakePose(tpZeroVec3(), tpMakeQuat(1.0, 1.0, 0.0, 0.0));
    expectRefused(tpMakeSphere(&(tpSphere){ 0.0 }, at, &g, &e), &e, "radius must be positive");
    expectRefused(tpMakeSphere(&(tpSphere){ NAN }, at, &g, &e), &e, "radius must be positive");
    expectRefused(tpMakeSphere(&(tpSphere){ 1.0 }, bad, &g, &e), &e, "unit quaternion");
    expectRefused(tpMakeBox(&(tpBox){ { 1.0, -1.0, 1.0 } }, at, &g, &e), &e,
                  "size must be positive");
    expectRefused(tpMakeCylinder(&(tpCylinder){ 1.0, 0.0, { 0.0, 0.0, 1.0 } }, at, &g, &e), &e,
                  "length must be positive");
    expectRefused(tpMakeCone(&(tpCone){ 1.0, 1.0, { NAN, 0.0, 1.0 } }, at, &g, &e), &e, "axis");
    assert_int_equal(tpMakeCapsule(&(tpCapsule){ 1.0, 0.0, { 0.0, 0.0, 0.0 } }, at, &g, &e),
                     tp_success);
    expectRefused(tpMakePlane(&(tpPlane){ { 0.0, 0.0, 0.0 }, 0.0 }, at, &g, &e), &e, "normal");
    tpSuperellipsoid hollow = { { 1.0, 1.0, 1.0 }, { 1.0, 2.5 } };
    expectRefused(tpMakeSuperellipsoid(&hollow, at, &g, &e), &e, "exponents");
    tpImplicit nowhere = { quarticBody, NULL, { { 2.0, 2.0, 2.0 }, { 3.0, 3.0, 3.0 } } };
    expectRefused(tpMakeImplicit(&nowhere, at, &g, &e), &e, "nowhere negative");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supportIsFarthest),
        cmocka_unit_test(linesMeetTheSurface),
        cmocka_unit_test(boundsHoldTheShape),
        cmocka_unit_test(radiusHoldsTheShape),
        cmocka_unit_test(derivativesMatchDifferences),
        cmocka_unit_test(raysHitWhereLinesEnter),
        cmocka_unit_test(specialLines),
        cmocka_unit_test(planesAreHalfSpaces),
        cmocka_unit_test(axesBecomePoses),
        cmocka_unit_test(badNumbersAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
