// The pyramid instead of the cone: friction acts along the direction that resists most.

#include "ball_cases.h"
#include "dynamics/pyramid.h"

// A ball that hits the floor at 3 m/s and slides at `speed` m/s by `angle` from the first tangent.
static void solveBall(double speed, double angle, int directions, double impulse[3]) {
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    tpVec3 velocity = tpMakeVec3(speed * cos(angle), speed * sin(angle), -3.0);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), velocity);
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    rows.impulse[0] = rows.impulse[1] = rows.impulse[2] = 0.0;
    tpPyramidOptions options = { directions, 1e-10, 1e9, 0.0 };
    tpPyramidResult result;
    assert_true(tpPyramid_Solve(&rows, &system->arena, memory, &options, &result));
    assert_int_equal(result.islandCount, 1);
    assert_int_equal(result.failureCount, 0);
    CHECK_BELOW(result.residual, 1e-9);
    for (int k = 0; k < 3; ++k) {
        impulse[k] = rows.impulse[k];
    }
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

static void testDirections(void** state) {
    (void)state;
    const double rn = 3.0 * ballMass, pi = acos(-1.0);
    const double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    double r[3];
    // Four corners: slip at 20 degrees meets the corner at 0 alone.
    solveBall(50.0, pi / 9.0, 4, r);
    CHECK_NEAR(r[0], rn, 1e-9);
    CHECK_NEAR(r[1], -0.5 * rn, 1e-9);
    CHECK_NEAR(r[2], 0.0, 1e-9);
    // At 70 degrees the other one; eight corners have one at 45.
    solveBall(50.0, 7.0 * pi / 18.0, 4, r);
    CHECK_NEAR(r[1], 0.0, 1e-9);
    CHECK_NEAR(r[2], -0.5 * rn, 1e-9);
    solveBall(50.0, pi / 4.0, 8, r);
    CHECK_NEAR(r[1], -0.5 * rn * sqrt(0.5), 1e-9);
    CHECK_NEAR(r[2], -0.5 * rn * sqrt(0.5), 1e-9);
    // What sticks does so whatever the directions.
    solveBall(0.5, pi / 9.0, 4, r);
    CHECK_NEAR(r[1], -0.5 * cos(pi / 9.0) / along, 1e-9);
    CHECK_NEAR(r[2], -0.5 * sin(pi / 9.0) / along, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testDirections) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
