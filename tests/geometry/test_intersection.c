// Intersections: polyhedra cut out exactly, and round ones against closed forms.

#include "geometry/intersection.h"

#include <string.h>

#include "geometry/mass.h"
#include "geometry/shape.h"
#include "sample_shapes.h"
#include "support/failing_allocator.h"

static const double pi = 3.14159265358979323846;

static tpGeometry makePlane(tpVec3 normal, double offset) {
    tpGeometry plane;
    assert_int_equal(tpMakePlane(&(tpPlane){ normal, offset }, tpIdentityPose(), &plane, NULL),
                     tp_success);
    return plane;
}

// Six half spaces make a box.
static void planesMakeABox(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 21 };
    for (int trial = 0; trial < 50; ++trial) {
        tpPose pose = randomPose(&random, trial % 2 == 0 ? 1.0 : 1000.0);
        tpVec3 half = tpScale(0.5, randomSizes(&random));
        tpGeometry planes[6], box, reference;
        const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
        for (int i = 0; i < 6; ++i) {
            tpVec3 n = tpRotate(pose.rotation, tpScale(i % 2 == 0 ? 1.0 : -1.0, axes[i / 2]));
            planes[i] = makePlane(n, tpDot(n, pose.position) + tpDot(axes[i / 2], half));
        }
        tpError error = { 0 };
        assert_int_equal(tpMakeIntersection(&allocator, planes, 6, tpIdentityPose(), &box, &error),
                         tp_success);
        const tpHull* hull = box.intersection->hull;
        assert_non_null(hull);
        assert_int_equal(hull->vertexCount, 8);
        assert_int_equal(hull->edgeCount, 12);
        assert_int_equal(hull->faceCount, 6);
        tpMakeBox(&(tpBox){ tpScale(2.0, half) }, pose, &reference, NULL);
        tpMassProperties found, expected;
        tpGeometry_Mass(&box, 1.0, &found, NULL);
        tpGeometry_Mass(&reference, 1.0, &expected, NULL);
        double digits = trial % 2 == 0 ? 1e-13 : 1e-10;
        CHECK_NEAR(found.mass, expected.mass, digits);
        CHECK_VEC3(found.center, expected.center, digits);
        CHECK_BELOW(matrixDistance(found.inertia, expected.inertia), digits);
        tpReleaseGeometry(&box);
    }
}

// A corner cut off a box: what is left and what was cut make the box.
static void cutsAddUp(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 22 };
    for (int trial = 0; trial < 200; ++trial) {
        tpGeometry parts[2], one, other;
        tpPose pose = randomPose(&random, 0.5);
        assert_int_equal(randomShape(&allocator, &random,
                                     trial % 2 == 0 ? tp_boxShape : tp_hullShape, pose, &parts[0],
                                     NULL),
                         tp_success);
        tpMassProperties whole, halves[2];
        tpGeometry_Mass(&parts[0], 1.0, &whole, NULL);
        tpVec3 n = randomUnit(&random);
        double offset = tpDot(n, whole.center) + randomBetween(&random, -0.05, 0.05);
        parts[1] = makePlane(n, offset);
        assert_int_equal(tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &one, NULL),
                         tp_success);
        parts[1] = makePlane(tpNeg(n), -offset);
        assert_int_equal(tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &other, NULL),
                         tp_success);
        tpGeometry_Mass(&one, 1.0, &halves[0], NULL);
        tpGeometry_Mass(&other, 1.0, &halves[1], NULL);
        tpMassProperties sum = tpCombineMass(halves, 2);
        CHECK_NEAR(sum.mass, whole.mass, 1e-13);
        CHECK_VEC3(sum.center, whole.center, 1e-13);
        CHECK_BELOW(matrixDistance(sum.inertia, whole.inertia), 1e-13);
        const tpHull* hull = one.intersection->hull;
        assert_int_equal(hull->vertexCount - hull->edgeCount + hull->faceCount, 2);
        tpReleaseGeometry(&one);
        tpReleaseGeometry(&other);
        tpReleaseGeometry(&parts[0]);
    }
}

// A ball cut by a plane at distance d from its centre: volume pi h^2 (3 r - h) / 3 with h = r + d,
// and the centre of mass of the cap.
static void ballCapsHaveClosedForms(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    const double cuts[] = { -0.7, 0.0, 0.3 };
    for (int i = 0; i < 3; ++i) {
        double d = cuts[i], r = 1.0, h = r + d;
        tpGeometry parts[2], cap;
        tpMakeSphere(&(tpSphere){ r }, tpIdentityPose(), &parts[0], NULL);
        parts[1] = makePlane(tpMakeVec3(0.6, 0.0, 0.8), d);
        assert_int_equal(tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &cap, NULL),
                         tp_success);
        tpMassProperties found;
        assert_int_equal(tpGeometry_Mass(&cap, 1.0, &found, NULL), tp_success);
        double volume = pi * h * h * (3.0 * r - h) / 3.0;
        double arm = 0.75 * (2.0 * r - h) * (2.0 * r - h) / (3.0 * r - h);
        // About the axis: half the integral of (r^2 - z^2)^2 over the slices.
        double axial =
            0.5 * pi * ((d - 2.0 / 3.0 * d * d * d + 0.2 * d * d * d * d * d) + 8.0 / 15.0);
        CHECK_NEAR(found.mass, volume, 1e-10 * volume);
        CHECK_VEC3(found.center, tpScale(-arm, tpMakeVec3(0.6, 0.0, 0.8)), 1e-10);
        tpVec3 axis = tpMakeVec3(0.6, 0.0, 0.8);
        CHECK_NEAR(tpDot(axis, tpMulMV(found.inertia, axis)), axial, 1e-10 * axial);
        tpReleaseGeometry(&cap);
    }
}

// Two equal cylinders at right angles: volume 16 r^3 / 3.
static void crossedCylinders(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry parts[2], body;
    tpMakeCylinder(&(tpCylinder){ 1.0, 4.0, { 1.0, 0.0, 0.0 } }, tpIdentityPose(), &parts[0], NULL);
    tpMakeCylinder(&(tpCylinder){ 1.0, 4.0, { 0.0, 1.0, 0.0 } }, tpIdentityPose(), &parts[1], NULL);
    tpError error = { 0 };
    assert_int_equal(tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &body, &error),
                     tp_success);
    tpMassProperties found;
    assert_int_equal(tpGeometry_Mass(&body, 1.0, &found, NULL), tp_success);
    CHECK_NEAR(found.mass, 16.0 / 3.0, 1e-10);
    CHECK_VEC3(found.center, tpZeroVec3(), 1e-10);
    tpBounds bounds = tpGeometry_Bounds(&body, tpIdentityPose());
    CHECK_VEC3(bounds.upper, tpMakeVec3(1.0, 1.0, 1.0), 1e-8);
    CHECK_VEC3(bounds.lower, tpMakeVec3(-1.0, -1.0, -1.0), 1e-8);
    tpReleaseGeometry(&body);
}

static void expectRefused(const tpGeometry* parts, int count, const char* words) {
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry out;
    tpError error = { 0 };
    assert_int_equal(tpMakeIntersection(&allocator, parts, count, tpIdentityPose(), &out, &error),
                     tp_badInput);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static void emptyOnesAreRefused(void** state) {
    (void)state;
    tpGeometry parts[3] = { 0 };
    expectRefused(parts, 0, "at least one");
    tpPose away = tpMakePose(tpMakeVec3(3.0, 0.0, 0.0), tpIdentityQuat());
    tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &parts[0], NULL);
    tpMakeSphere(&(tpSphere){ 1.0 }, away, &parts[1], NULL);
    expectRefused(parts, 2, "empty");
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, tpIdentityPose(), &parts[0], NULL);
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, away, &parts[1], NULL);
    expectRefused(parts, 2, "empty");
    parts[0] = makePlane(tpMakeVec3(0.0, 0.0, 1.0), 0.0);
    parts[1] = makePlane(tpMakeVec3(1.0, 0.0, 1.0), 0.0);
    expectRefused(parts, 2, "not bounded");
}

static void failingMemoryLeaksNothing(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpGeometry parts[2];
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, tpIdentityPose(), &parts[0], NULL);
    parts[1] = makePlane(tpMakeVec3(1.0, 1.0, 1.0), 0.1);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpGeometry out;
        tpResult result = tpMakeIntersection(&allocator, parts, 2, tpIdentityPose(), &out, NULL);
        if (result == tp_success) {
            tpReleaseGeometry(&out);
        } else {
            assert_int_equal(result, tp_outOfMemory);
        }
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planesMakeABox),          cmocka_unit_test(cutsAddUp),
        cmocka_unit_test(ballCapsHaveClosedForms), cmocka_unit_test(crossedCylinders),
        cmocka_unit_test(emptyOnesAreRefused),     cmocka_unit_test(failingMemoryLeaksNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
