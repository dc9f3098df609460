// Rows of contacts: directions, responses, velocities, and what impulses do.

#include "ball_cases.h"

// A ball: 1/m along the normal, 1/m + r^2/I along the floor, nothing between the two.
static void testResponse(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(1.0, 2.0, ballRadius), tpMakeVec3(0.3, -0.4, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    assert_int_equal(rows.dimensions[0], 3);
    double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    CHECK_NEAR(tpRows_Response(&rows, 0, 0), 1.0 / ballMass, 1e-15);
    CHECK_NEAR(tpRows_Response(&rows, 0, 1), along, 1e-14);
    CHECK_NEAR(tpRows_Response(&rows, 0, 2), along, 1e-14);
    double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    tpRows_Coupling(&rows, 0, 0, W);
    CHECK_NEAR(W[0][1], 0.0, 1e-15);
    CHECK_NEAR(W[1][1], along, 1e-14);
    CHECK_NEAR(W[1][2], 0.0, 1e-15);
    // The velocities of the rows are those of the lowest point.
    CHECK_NEAR(rows.q[0], -3.0, 1e-15);
    CHECK_NEAR(rows.q[1], 0.3, 1e-15);
    CHECK_NEAR(rows.q[2], -0.4, 1e-15);
    tpDestroyWorld(world);
}

// Impulses change velocities by r/m and turn the ball by arm x r / I.
static void testImpulses(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    rows.impulse[0] = 6.0;
    rows.impulse[1] = 0.2;
    rows.impulse[2] = -0.1;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    const tpVelocity* after = &system->velocities.data[ball];
    CHECK_VEC3(after->linear, tpMakeVec3(0.1, -0.05, 3.0), 1e-15);
    // (0, 0, -r) x (.2, -.1, 6) / I
    double factor = ballRadius / ballMoment;
    CHECK_VEC3(after->angular, tpMakeVec3(-0.1 * factor, -0.2 * factor, 0.0), 1e-14);
    // The rows see the same: u = W r.
    CHECK_NEAR(tpRows_RowVelocity(&rows, 1, system->velocities.data, ball, -1),
               0.2 * tpRows_Response(&rows, 0, 1), 1e-14);
    tpDestroyWorld(world);
}

// A kinematic body gives no impulse way, and its velocity counts on its own.
static void testKinematic(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.velocity = tpMakeVec3(0.7, 0.0, 0.2);
    int belt = system->bodyCount;
    tpCreateBody(world, &def, NULL);
    tpContact contact = makeContact(system, ball, belt);
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    assert_int_equal(rows.bodyA[0], ball);
    assert_int_equal(rows.bodyB[0], -1);
    assert_int_equal(rows.givenB[0], belt);
    CHECK_NEAR(tpRows_KinematicVelocity(&rows, 0, 0, system->velocities.data), -0.2, 1e-15);
    CHECK_NEAR(tpRows_KinematicVelocity(&rows, 0, 1, system->velocities.data), -0.7, 1e-15);
    CHECK_NEAR(tpRows_Response(&rows, 0, 0), 1.0 / ballMass, 1e-15);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testResponse),
                                        cmocka_unit_test(testImpulses),
                                        cmocka_unit_test(testKinematic) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
