// Crossings: a bullet and a plate meet at the time of the closed form; slow, parting and passing
// bodies do not cross.

#include "collision/crossings.h"

#include "support/check.h"

typedef struct Scene {
    tpCollider* collider;
    tpBodyPath paths[2];
    double margins[2];
} Scene;

// A plate of 1 mm about the origin, and a ball of 4 mm.
static Scene makeScene(tpVec3 position, tpVec3 velocity) {
    Scene scene = { .collider = NULL };
    tpColliderDef def = { .allocator = tpDefaultAllocator() };
    assert_int_equal(tpCreateCollider(&def, &scene.collider), tp_success);
    tpGeometry shapes[2];
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 0.001 } }, tpIdentityPose(), &shapes[0], NULL);
    tpMakeSphere(&(tpSphere){ 0.004 }, tpIdentityPose(), &shapes[1], NULL);
    for (int i = 0; i < 2; ++i) {
        tpColliderShapeDef shape = { &shapes[i], tpIdentityPose(), i, i == 1, 1u, 1u };
        assert_int_equal(tpCollider_PutShape(scene.collider, i, &shape), tp_success);
    }
    scene.paths[0] = (tpBodyPath){ .pose = tpIdentityPose() };
    scene.paths[1] = (tpBodyPath){ .pose = tpMakePose(position, tpIdentityQuat()) };
    scene.paths[1].velocity = velocity;
    return scene;
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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(bulletsMeetPlates),
                                        cmocka_unit_test(othersDoNotCross),
                                        cmocka_unit_test(touchingBodiesCrossAtOnce) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
