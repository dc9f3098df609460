// What joints carry from step to step, as numbers: read, changed and written back.

#include "ball_cases.h"
#include "dynamics/joint_state.h"

static void testRoundTrip(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.0), tpZeroVec3());
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpWorld_GetBody(world, ball);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.anchorA = joint.anchorB = tpMakeVec3(1.0, 0.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    tpJoint* made = &system->joints.data[0];
    made->force = tpMakeVec3(1.0, 2.0, 3.0);
    made->torque = tpMakeVec3(4.0, 5.0, 6.0);
    made->coordinates[0].effort = 7.0;
    made->coordinates[0].limitEffort = 8.0;
    made->coordinates[0].displacement = 9.0;
    made->coordinates[0].rotorSpeed[0] = 10.0;
    int reactions = tpJoints_ReactionCount(system), motions = tpJoints_MotionCount(system);
    assert_true(reactions >= 8 && reactions <= 32 && motions >= 2 && motions <= 32);
    assert_int_equal(tpJoint_MotionCount(made), motions);
    double loads[32], motion[32], sum = 0.0;
    tpJoints_ReadReactions(system, loads);
    tpJoints_ReadMotion(system, motion);
    for (int i = 0; i < reactions; ++i) {
        sum += loads[i];
    }
    CHECK_NEAR(sum, 36.0, 1e-15); // 1 to 8, each once

    // Twice the numbers are twice the loads; motion comes back as it was.
    for (int i = 0; i < reactions; ++i) {
        loads[i] *= 2.0;
    }
    made->coordinates[0].displacement = made->coordinates[0].rotorSpeed[0] = 0.0;
    tpJoints_WriteReactions(system, loads);
    tpJoints_WriteMotion(system, motion);
    CHECK_VEC3(made->force, tpMakeVec3(2.0, 4.0, 6.0), 0.0);
    CHECK_VEC3(made->torque, tpMakeVec3(8.0, 10.0, 12.0), 0.0);
    CHECK_NEAR(made->coordinates[0].effort, 14.0, 0.0);
    CHECK_NEAR(made->coordinates[0].limitEffort, 16.0, 0.0);
    CHECK_NEAR(made->coordinates[0].displacement, 9.0, 0.0);
    CHECK_NEAR(made->coordinates[0].rotorSpeed[0], 10.0, 0.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testRoundTrip) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
