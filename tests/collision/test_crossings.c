// Crossings: a bullet and a plate meet at the time of the closed form; slow, parting and passing
// bodies do not cross.

#include "collision/crossings.h"

#include "support/check.h"

typedef struct Scene {
    tpCollider* collider;
    tpBodyPath paths[2];
    double margins[2];
} Scene;

// A plate of 1 mm about the origin, and another shape.
static Scene makeSceneOf(tpGeometry shape, tpVec3 position, tpVec3 velocity) {
    Scene scene = { .collider = NULL };
    tpColliderDef colliderDef = { .allocator = tpDefaultAllocator() };
    assert_int_equal(tpCreateCollider(&colliderDef, &scene.collider), tp_success);
    tpGeometry shapes[2] = { [1] = shape };
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 0.001 } }, tpIdentityPose(), &shapes[0], NULL);
    for (int i = 0; i < 2; ++i) {
        tpColliderShapeDef def = { &shapes[i], tpIdentityPose(), i, i == 1, 1u, 1u };
        assert_int_equal(tpCollider_PutShape(scene.collider, i, &def), tp_success);
    }
    scene.paths[0] = (tpBodyPath){ .pose = tpIdentityPose() };
    scene.paths[1] = (tpBodyPath){ .pose = tpMakePose(position, tpIdentityQuat()) };
    scene.paths[1].velocity = velocity;
    return scene;
}

// The same with a ball of 4 mm.
static Scene makeScene(tpVec3 position, tpVec3 velocity) {
    tpGeometry ball;
    tpMakeSphere(&(tpSphere){ 0.004 }, tpIdentityPose(), &ball, NULL);
    return makeSceneOf(ball, position, velocity);
}

static bool find(Scene* scene, double duration, tpCrossing* out) {
    tpPose poses[2] = { scene->paths[0].pose, scene->paths[1].pose };
    scene->margins[1] = 0.01 + duration * tpLength(scene->paths[1].velocity);
    assert_int_equal(tpCollider_FindPairs(scene->collider, poses, scene->margins, NULL),
                     tp_success);
    bool isFound = tpCollider_FindCrossing(scene->collider, scene->paths, duration, out);
    tpDestroyCollider(scene->collider);
    return isFound;
}

static void bulletsMeetPlates(void** state) {
    (void)state;
    tpCrossing crossing;
    Scene scene = makeScene(tpMakeVec3(0.1, 0.05, 1.0), tpMakeVec3(20.0, 10.0, -500.0));
    assert_true(find(&scene, 1.0 / 240.0, &crossing));
    assert_int_equal(crossing.shapeA, 0);
    assert_int_equal(crossing.shapeB, 1);
    // Just before the ball's lowest point is at the plate's upper side.
    double exact = (1.0 - 0.0045) / 500.0;
    assert_true(crossing.time <= exact);
    CHECK_NEAR(crossing.time, exact, 1e-7);
    CHECK_NEAR(crossing.pause, 0.5 * 0.0045 / 500.0, 1e-9);
}

// A bullet crosses as long as the rest of the step is longer than it takes to pass the thickness.
static void lateBulletsCross(void** state) {
    (void)state;
    const double speed = 500.0, thickness = 0.0045, meets = (1.0 - thickness) / speed;
    for (int i = 0; i < 2; ++i) {
        tpCrossing crossing;
        Scene scene = makeScene(tpMakeVec3(0.1, 0.05, 1.0), tpMakeVec3(0.0, 0.0, -speed));
        double rest = (i == 0 ? 1.1 : 0.9) * thickness / speed;
        assert_int_equal(find(&scene, meets + rest, &crossing), i == 0);
        if (i == 0) {
            CHECK_NEAR(crossing.time, meets, 1e-6);
        }
    }
}

static void othersDoNotCross(void** state) {
    (void)state;
    tpCrossing crossing;
    // Slower than the thickness per step; away from the plate; beside it; not yet there.
    const tpVec3 cases[4][2] = { { { 0.0, 0.0, 0.0045 }, { 0.0, 0.0, -1.0 } },
                                 { { 0.0, 0.0, 0.0050 }, { 0.0, 0.0, 500.0 } },
                                 { { 0.6, 0.0, 1.0 }, { 0.0, 0.0, -500.0 } },
                                 { { 0.0, 0.0, 3.0 }, { 0.0, 0.0, -500.0 } } };
    for (int i = 0; i < 4; ++i) {
        Scene scene = makeScene(cases[i][0], cases[i][1]);
        assert_false(find(&scene, 1.0 / 240.0, &crossing));
    }
}

// From a start in contact the crossing is at once.
static void touchingBodiesCrossAtOnce(void** state) {
    (void)state;
    tpCrossing crossing;
    Scene scene = makeScene(tpMakeVec3(0.0, 0.0, 0.0045), tpMakeVec3(0.0, 0.0, -500.0));
    assert_true(find(&scene, 1.0 / 240.0, &crossing));
    CHECK_NEAR(crossing.time, 0.0, 0.0);
}

// A plate inside of a mesh is past its triangles: the two may overlap by a quarter of the plate
// alone, also where the mesh is slower than its own thickness per step.
static void meshesHaveNoDepth(void** state) {
    (void)state;
    static const tpVec3 corners[4] = {
        { 0.0, 0.0, -0.3 }, { 0.6, 0.0, 0.3 }, { -0.3, 0.5, 0.3 }, { -0.3, -0.5, 0.3 }
    };
    static const int32_t triangles[4][3] = { { 0, 2, 1 }, { 0, 3, 2 }, { 0, 1, 3 }, { 1, 2, 3 } };
    tpAllocator allocator = tpDefaultAllocator();
    const double speeds[2] = { 500.0, 1.0 };
    for (int i = 0; i < 2; ++i) {
        tpGeometry mesh;
        assert_int_equal(
            tpMakeMesh(&allocator, corners, 4, triangles, 4, tpIdentityPose(), &mesh, NULL),
            tp_success);
        tpCrossing crossing;
        double gap = 5e-4;
        Scene scene = makeSceneOf(mesh, tpMakeVec3(0.0, 0.0, 0.3 + 5e-4 + gap),
                                  tpMakeVec3(0.0, 0.0, -speeds[i]));
        assert_true(find(&scene, 1.0 / 240.0, &crossing));
        CHECK_NEAR(crossing.time, gap / speeds[i], 1.1e-5 / speeds[i]);
        CHECK_NEAR(crossing.pause, 0.25 * 5e-4 / speeds[i], 1e-9);
        tpReleaseGeometry(&mesh);
    }
}

// A box stands on an edge and tips over: the edge that touches holds, and another one comes down
// faster than the plate is thick. Where it touches, and over the gap, it is cut; not if it is slow.
static void edgesComeDown(void** state) {
    (void)state;
    const double spins[3] = { 120.0, 120.0, 0.1 }, gaps[3] = { 0.01, 0.0, 0.01 };
    for (int i = 0; i < 3; ++i) {
        tpGeometry box;
        tpMakeBox(&(tpBox){ { 0.1, 0.1, 0.1 } }, tpIdentityPose(), &box, NULL);
        Scene scene = makeSceneOf(box, tpMakeVec3(0.0, 0.0, 0.06), tpZeroVec3());
        scene.paths[1].angularVelocity = tpMakeVec3(0.0, spins[i], 0.0);
        scene.margins[1] = 1.0;
        tpPose poses[2] = { scene.paths[0].pose, scene.paths[1].pose };
        assert_int_equal(tpCollider_FindPairs(scene.collider, poses, scene.margins, NULL),
                         tp_success);
        // The plate is A; the corner at x = .05 goes down by spin * .05.
        tpVec3 normal = tpMakeVec3(0.0, 0.0, -1.0), corner = tpMakeVec3(0.05, 0.0, 0.01);
        tpContact contact = { 0, 1, 0, 1, 0u, corner, corner, normal, gaps[i] };
        tpCrossing crossing;
        bool isFound =
            tpCollider_FindPassing(scene.collider, &contact, 1, scene.paths, 1.0 / 60.0, &crossing);
        assert_int_equal(isFound, i < 2);
        if (isFound) {
            double speed = spins[i] * 0.05, thickness = 0.0005 + 0.05;
            CHECK_NEAR(crossing.time, gaps[i] / speed, 1e-12);
            CHECK_NEAR(crossing.pause, 0.5 * thickness / speed, 1e-12);
        }
        tpDestroyCollider(scene.collider);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulletsMeetPlates), cmocka_unit_test(lateBulletsCross),
        cmocka_unit_test(othersDoNotCross),  cmocka_unit_test(touchingBodiesCrossAtOnce),
        cmocka_unit_test(meshesHaveNoDepth), cmocka_unit_test(edgesComeDown)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
