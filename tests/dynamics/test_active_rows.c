// Contacts that part stay outside the solve, and join when another one's impulse drives them on.

#include "ball_cases.h"
#include "dynamics/active_rows.h"

static void testJoin(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    // The lower ball falls on the floor; the upper one is above it and does not approach it.
    int lower = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -1.0));
    int upper = addBall(world, tpMakeVec3(0.0, 0.0, 3.0 * ballRadius), tpMakeVec3(0.0, 0.0, -0.5));
    int ground = addFloor(world);
    tpContact contacts[2] = { makeContact(system, lower, ground),
                              makeContact(system, upper, lower) };
    tpRows rows = makeRows(system, contacts, 2, 0.0);
    assert_int_equal(rows.rowCount, 2);
    CHECK_NEAR(rows.q[0], -1.0, 1e-15);
    CHECK_NEAR(rows.q[1], 0.5, 1e-15);
    rows.impulse[0] = rows.impulse[1] = 0.0;
    tpActiveRows active;
    assert_true(tpActiveRows_Choose(&active, &rows, &system->arena));
    assert_int_equal(active.activeCount, 1);
    assert_true(active.isActive[0] && !active.isActive[1]);
    tpActiveRows_Gather(&active, &rows);
    assert_int_equal(active.rows.blockCount, 1);
    assert_int_equal(active.sources[0], 0);

    // The floor stops the lower ball; the upper one then approaches it at .5 m/s and joins.
    active.rows.impulse[0] = ballMass;
    active.rows.velocity[0] = 0.0;
    assert_int_equal(tpActiveRows_Scatter(&active, &rows), 1);
    CHECK_NEAR(rows.impulse[0], ballMass, 1e-15);
    assert_true(rows.impulse[1] == 0.0);
    CHECK_NEAR(rows.velocity[1], -0.5, 1e-14);
    assert_int_equal(active.activeCount, 2);
    tpActiveRows_Gather(&active, &rows);
    assert_int_equal(active.rows.blockCount, 2);

    // In the next round the impulse of the start says so at once: what has joined and carries
    // nothing need not join again, which costs a solve in every round of a drift.
    assert_true(tpActiveRows_Choose(&active, &rows, &system->arena));
    assert_int_equal(active.activeCount, 2);

    tpDestroyWorld(world);
}

static void testAll(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, 2.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    rows.impulse[0] = rows.impulse[1] = rows.impulse[2] = 0.0;
    tpActiveRows active;
    assert_true(tpActiveRows_Choose(&active, &rows, &system->arena));
    assert_int_equal(active.activeCount, 0);
    tpActiveRows_TakeAll(&active, &rows);
    assert_int_equal(active.activeCount, 1);
    // One that carried something last time is in from the start.
    rows.impulse[0] = 1.0;
    assert_true(tpActiveRows_Choose(&active, &rows, &system->arena));
    assert_int_equal(active.activeCount, 1);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testJoin), cmocka_unit_test(testAll) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
