// Quiet islands fall asleep after their time, and wake when something concerns them.

#include "ball_cases.h"
#include "dynamics/sleep.h"

static const tpSleepSettings settings = { .speed = 1e-3, .time = 0.45 };

// A step in which nothing happens.
static void passStep(tpSleep* sleep, tpSystem* system) {
    tpStepReport report = { .converged = true };
    tpArena_Reset(&system->arena);
    assert_true(tpSleep_Begin(sleep, system, 0.1));
    assert_true(tpSleep_End(sleep, system, &settings, 0.1, &report));
}

static void testSleep(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int still = addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    int moving = addBall(world, tpMakeVec3(5.0, 0.0, 1.0), tpMakeVec3(0.1, 0.0, 0.0));
    system->gravity = tpZeroVec3();
    tpSleep sleep = { 0 };
    for (int k = 1; k <= 6; ++k) {
        passStep(&sleep, system);
        assert_int_equal(system->bodies.data[still].isAsleep, k >= 5);
        assert_false(system->bodies.data[moving].isAsleep);
    }
    // Within a step it is out of the system, between steps it is as if nobody slept.
    tpArena_Reset(&system->arena);
    assert_true(tpSleep_Begin(&sleep, system, 0.1));
    assert_true(system->bodies.data[still].inverseMass == 0.0);
    assert_false(tpSleep_IsAll(system)); // the other one moves
    tpStepReport report = { .converged = true };
    assert_true(tpSleep_End(&sleep, system, &settings, 0.1, &report));
    assert_true(system->bodies.data[still].inverseMass == 1.0 / ballMass);

    // A user gives it a velocity: it wakes.
    system->velocities.data[still].linear.y = 0.5;
    system->bodies.data[still].isDisturbed = true;
    system->hasDisturbed = true;
    passStep(&sleep, system);
    assert_false(system->bodies.data[still].isAsleep);
    CHECK_NEAR(system->velocities.data[still].linear.y, 0.5, 0.0);
    tpSleep_Destroy(&sleep, system);
    tpDestroyWorld(world);
}

// Gravity that changes wakes all.
static void testGravity(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    system->gravity = tpZeroVec3();
    tpSleep sleep = { 0 };
    for (int k = 0; k < 8; ++k) {
        passStep(&sleep, system);
    }
    assert_true(system->bodies.data[0].isAsleep);
    system->gravity = tpMakeVec3(0.0, 0.0, -1.0);
    passStep(&sleep, system);
    assert_false(system->bodies.data[0].isAsleep);
    tpSleep_Destroy(&sleep, system);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testSleep),
                                        cmocka_unit_test(testGravity) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
