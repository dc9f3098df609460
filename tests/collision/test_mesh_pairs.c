// Convex shapes on surfaces of triangles: contacts that change with the pose without jumps, and
// shapes inside a closed surface.

#include "collision/random_shapes.h"
#include "support/triangle_box.h"
#include "tippe/collision.h"

enum { maxContacts = 256, shapeCount = 8, columns = 21 };

static double leastGap(const tpGeometry* a, tpPose pose, const tpGeometry* b, double margin,
                       tpPairCache* cache) {
    static tpContactPoint points[maxContacts];
    tpContactList list = { points, 0, maxContacts };
    assert_int_equal(tpCollide(a, pose, b, tpIdentityPose(), margin, cache, &list), tp_success);
    double least = INFINITY;
    for (int i = 0; i < list.count && i < maxContacts; ++i) {
        least = fmin(least, points[i].gap);
    }
    return least;
}

static void makeShapes(tpGeometry shapes[shapeCount]) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPose id = tpIdentityPose();
    tpVec3 z = { 0.0, 0.0, 1.0 };
    double corners[5][2] = {
        { 0.2, 0.0 }, { 0.06, 0.2 }, { -0.16, 0.12 }, { -0.16, -0.12 }, { 0.06, -0.2 }
    };
    tpMakeSphere(&(tpSphere){ 0.2 }, id, &shapes[0], NULL);
    tpMakeBox(&(tpBox){ { 0.4, 0.3, 0.3 } }, id, &shapes[1], NULL);
    tpMakeCapsule(&(tpCapsule){ 0.15, 0.3, z }, id, &shapes[2], NULL);
    tpMakeCylinder(&(tpCylinder){ 0.2, 0.3, z }, id, &shapes[3], NULL);
    tpMakeEllipsoid(&(tpEllipsoid){ { 0.2, 0.15, 0.25 } }, id, &shapes[4], NULL);
    tpMakePrism(&allocator, (const double(*)[2])corners, 5, 0.3, id, &shapes[5], NULL);
    tpMakeCone(&(tpCone){ 0.2, 0.35, z }, id, &shapes[6], NULL);
    tpMakeRoundedBox(&(tpRoundedBox){ { 0.4, 0.3, 0.3 }, 0.06 }, id, &shapes[7], NULL);
}

static void releaseShapes(tpGeometry shapes[shapeCount]) {
    for (int k = 0; k < shapeCount; ++k) {
        tpReleaseGeometry(&shapes[k]);
    }
}

// The least gap is a distance: it changes by no more than the shape moves. Steppers gain energy
// from contacts that jump, as those of a ball in a valley did.
static void gapsDoNotJump(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry shapes[shapeCount], field;
    makeShapes(shapes);
    tpRandom random = { 7 };
    double heights[columns * columns];
    for (int i = 0; i < columns * columns; ++i) {
        heights[i] = randomBetween(&random, -0.15, 0.15);
    }
    tpMakeHeightField(&allocator, columns, columns, 0.4, 0.4, heights, tpIdentityPose(), &field,
                      NULL);
    const double step = 2e-4;
    for (int k = 0; k < shapeCount; ++k) {
        int jumps = 0, count = 0;
        for (int n = 0; n < 150; ++n) {
            tpPose pose = { randomVec3(&random, -3.0, 3.0), randomRotation(&random) };
            pose.position.z = 1.0;
            for (int i = 0; i < 30; ++i) {
                tpClosest closest;
                tpClosestPoints(&shapes[k], pose, &field, tpIdentityPose(), NULL, &closest);
                if (closest.distance < 0.002) {
                    break;
                }
                pose.position.z -= 0.95 * closest.distance;
            }
            tpVec3 way = randomVec3(&random, -1.0, 1.0);
            way = tpScale(step / tpLength(way), way);
            double before = leastGap(&shapes[k], pose, &field, 0.02, NULL);
            for (int i = 0; i < 60 && before > -0.005 && before < 0.015; ++i) {
                pose.position = tpAdd(pose.position, way);
                double gap = leastGap(&shapes[k], pose, &field, 0.02, NULL);
                jumps += fabs(gap - before) > 3.0 * step;
                ++count;
                before = gap;
            }
        }
        assert_true(count > 2000);
        if (jumps > 1) {
            fail_msg("%s: %d jumps in %d", tpShapeTypeName(shapes[k].type), jumps, count);
        }
    }
    tpReleaseGeometry(&field);
    releaseShapes(shapes);
}

static tpGeometry makeCube(double half) {
    tpVec3 vertices[8];
    for (int i = 0; i < 8; ++i) {
        vertices[i] = tpMakeVec3(i & 1 ? half : -half, i & 2 ? half : -half, i & 4 ? half : -half);
    }
    const int32_t triangles[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                       { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                       { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    tpError error;
    if (tpMakeMesh(&allocator, vertices, 8, triangles, 12, tpIdentityPose(), &mesh, &error) !=
        tp_success) {
        fail_msg("%s", error.message);
    }
    return mesh;
}

// A shape that is inside when it is first seen touches the surface from within.
static void shapesInsideStayInside(void** state) {
    (void)state;
    tpGeometry cube = makeCube(1.0), shapes[shapeCount];
    makeShapes(shapes);
    for (int k = 0; k < shapeCount; ++k) {
        tpPairCache cache = { { 0 } };
        tpPose pose = tpIdentityPose();
        assert_true(isinf(leastGap(&shapes[k], pose, &cube, 0.01, &cache)));
        // Down to the floor and a little into it.
        tpVec3 low = tpGeometry_Support(&shapes[k], tpMakeVec3(0.0, 0.0, -1.0));
        for (int i = 0; i < 3; ++i) {
            double gap = 0.005 - 0.005 * i;
            tpContactPoint points[maxContacts];
            tpContactList list = { points, 0, maxContacts };
            pose.position.z = -1.0 - low.z + gap;
            tpCollide(&shapes[k], pose, &cube, tpIdentityPose(), 0.01, &cache, &list);
            assert_true(list.count > 0);
            for (int n = 0; n < list.count; ++n) {
                CHECK_VEC3(points[n].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-9);
                CHECK_NEAR(points[n].gap, gap, 1e-9);
            }
        }
    }
    tpReleaseGeometry(&cube);
    releaseShapes(shapes);
}

// One that came from outside is pushed out again, however deep it is.
static void shapesFromOutsideArePushedOut(void** state) {
    (void)state;
    tpGeometry cube = makeCube(1.0), shapes[shapeCount];
    makeShapes(shapes);
    for (int k = 0; k < shapeCount; ++k) {
        tpPairCache cache = { { 0 } };
        tpPose pose = tpIdentityPose();
        pose.position = tpMakeVec3(0.3, 0.1, 1.5);
        assert_true(isinf(leastGap(&shapes[k], pose, &cube, 0.01, &cache)));
        pose.position.z = 0.6; // wholly inside
        tpContactPoint points[maxContacts];
        tpContactList list = { points, 0, maxContacts };
        tpCollide(&shapes[k], pose, &cube, tpIdentityPose(), 0.01, &cache, &list);
        assert_true(list.count > 0);
        CHECK_VEC3(points[0].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-9);
        tpVec3 low = tpGeometry_Support(&shapes[k], tpMakeVec3(0.0, 0.0, -1.0));
        CHECK_NEAR(points[0].gap, 0.6 + low.z - 1.0, 1e-9);
    }
    tpReleaseGeometry(&cube);
    releaseShapes(shapes);
}

// A cube of triangles stands on its corner, on a wide plate. The plate lies behind the cube's upper
// triangles, too, 2 m away along their normals, and none of them may tell of an overlap.
static void platesTouchCornersAlone(void** state) {
    (void)state;
    tpGeometry cube = makeTriangleBox(tpMakeVec3(0.6, 0.6, 0.6)), plate;
    tpMakeBox(&(tpBox){ { 4.0, 4.0, 0.001 } }, tpIdentityPose(), &plate, NULL);
    tpRandom random = { 5 };
    for (int k = 0; k < 200; ++k) {
        tpPose pose = tpMakePose(tpZeroVec3(), randomRotation(&random));
        double lowest = INFINITY;
        for (int i = 0; i < 8; ++i) {
            tpVec3 corner = tpMakeVec3(i & 1 ? 0.3 : -0.3, i & 2 ? 0.3 : -0.3, i & 4 ? 0.3 : -0.3);
            lowest = fmin(lowest, tpTransformPoint(pose, corner).z);
        }
        pose.position = randomVec3(&random, -1.2, 1.2);
        pose.position.z = 5e-4 - lowest + randomBetween(&random, -1e-9, 1e-9);
        // The plate as the cube sees it.
        double gap = leastGap(&plate, tpInversePose(pose), &cube, 0.01, NULL);
        CHECK_NEAR(gap, 0.0, 1e-8);
    }
    tpReleaseGeometry(&cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gapsDoNotJump),
        cmocka_unit_test(shapesInsideStayInside),
        cmocka_unit_test(shapesFromOutsideArePushedOut),
        cmocka_unit_test(platesTouchCornersAlone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
