// Contacts of rounded boxes: those of the core, a radius farther out, against every kind of shape.

#include "collision/random_shapes.h"
#include "tippe/collision.h"

enum { maxContacts = 64 };

static const tpShapeType others[] = { tp_sphereShape,     tp_boxShape,
                                      tp_capsuleShape,    tp_cylinderShape,
                                      tp_coneShape,       tp_prismShape,
                                      tp_ellipsoidShape,  tp_superellipsoidShape,
                                      tp_roundedBoxShape, tp_intersectionShape };

static tpGeometry roundedBox(tpVec3 size, double radius) {
    tpGeometry g;
    assert_int_equal(tpMakeRoundedBox(&(tpRoundedBox){ size, radius }, tpIdentityPose(), &g, NULL),
                     tp_success);
    return g;
}

static tpGeometry coreOf(const tpGeometry* rounded) {
    tpGeometry g;
    double radius;
    tpBox box = { tpBoxCoreSize(rounded, &radius) };
    assert_int_equal(tpMakeBox(&box, rounded->pose, &g, NULL), tp_success);
    return g;
}

// The distance to a shape that does not touch the core is the core's less the radius, with the same
// normal.
static void distanceIsThatOfTheCore(void** state) {
    (void)state;
    tpRandom random = { 21 };
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
        tpGeometry a = randomShape(&random, tp_roundedBoxShape, &ordinaryShapes);
        tpShapeType type = others[i % (int)(sizeof others / sizeof others[0])];
        tpGeometry b = randomShape(&random, type, &ordinaryShapes), core = coreOf(&a);
        tpPose poseA = { randomVec3(&random, -3.0, 3.0), randomRotation(&random) };
        tpPose poseB = { tpZeroVec3(), randomRotation(&random) };
        tpClosest rounded, sharp;
        tpResult one = tpClosestPoints(&a, poseA, &b, poseB, NULL, &rounded);
        tpResult two = tpClosestPoints(&core, poseA, &b, poseB, NULL, &sharp);
        if (one == tp_success && two == tp_success && sharp.distance > 1e-3) {
            CHECK_NEAR(rounded.distance, sharp.distance - a.roundedBox.radius, 1e-12);
            CHECK_VEC3(rounded.normal, sharp.normal, 1e-6);
            ++count;
        }
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
    }
    assert_true(count > 500);
}

static int collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, double margin,
                   tpContactPoint* points) {
    tpContactList list = { points, 0, maxContacts };
    assert_int_equal(tpCollide(a, poseA, b, tpIdentityPose(), margin, NULL, &list), tp_success);
    assert_true(list.count <= maxContacts);
    return list.count;
}

// Flat on a plane, a box, a rounded box, a hull and a mesh: the four corners of the core's face,
// each with the same gap and the face's normal.
static void liesFlatOnEverything(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry box = roundedBox(tpMakeVec3(0.8, 0.6, 0.4), 0.1), ground[5];
    tpPose down = { { 0.0, 0.0, -0.5 }, tpIdentityQuat() };
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &ground[0], NULL);
    tpMakeBox(&(tpBox){ { 3.0, 3.0, 1.0 } }, down, &ground[1], NULL);
    tpMakeRoundedBox(&(tpRoundedBox){ { 3.0, 3.0, 1.0 }, 0.2 }, down, &ground[2], NULL);
    double square[4][2] = { { 2.0, 2.0 }, { -2.0, 2.0 }, { -2.0, -2.0 }, { 2.0, -2.0 } };
    tpMakePrism(&allocator, (const double(*)[2])square, 4, 1.0, down, &ground[3], NULL);
    double heights[9] = { 0.0 };
    tpMakeHeightField(&allocator, 3, 3, 1.5, 1.5, heights, tpIdentityPose(), &ground[4], NULL);
    for (int k = 0; k < 5; ++k) {
        tpPose pose = { { 0.13, 0.21, 0.199 }, tpQuatExp(tpMakeVec3(0.0, 0.0, 0.3)) };
        tpContactPoint points[maxContacts];
        int count = collide(&box, pose, &ground[k], 0.01, points);
        assert_int_equal(count, 4);
        for (int i = 0; i < 4; ++i) {
            CHECK_NEAR(points[i].gap, -0.001, 1e-12);
            CHECK_VEC3(points[i].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            tpVec3 local = tpUntransformPoint(pose, points[i].pointA);
            CHECK_VEC3(tpAbsVec3(local), tpMakeVec3(0.3, 0.2, 0.2), 1e-12);
        }
        tpReleaseGeometry(&ground[k]);
    }
}

// Tilted, the ball about the lowest corner of the core touches.
static void standsOnItsCorner(void** state) {
    (void)state;
    tpGeometry box = roundedBox(tpMakeVec3(1.0, 1.0, 1.0), 0.2), plane;
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &plane, NULL);
    tpQuat turn = tpQuatBetween(tpNormalize(tpMakeVec3(1.0, 1.0, 1.0)), tpMakeVec3(0.0, 0.0, 1.0));
    tpPose pose = { { 0.0, 0.0, 0.3 * sqrt(3.0) + 0.2 }, turn };
    tpContactPoint points[maxContacts];
    assert_int_equal(collide(&box, pose, &plane, 0.001, points), 1);
    CHECK_NEAR(points[0].gap, 0.0, 1e-15);
    CHECK_VEC3(points[0].pointA, tpZeroVec3(), 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distanceIsThatOfTheCore),
        cmocka_unit_test(liesFlatOnEverything),
        cmocka_unit_test(standsOnItsCorner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
