// For how long bodies that fly cannot meet.

#include "auto_balls.h"
#include "dynamics/forces.h"
#include "dynamics/motion.h"
#include "steppers/auto/apart.h"

static const double h = 0.01;

// All contacts of a world within a distance of each body.
static int findContacts(tpWorld* world, double margin, tpContact** contacts) {
    tpSystem* system = &world->system;
    double margins[8];
    int count;
    for (int i = 0; i < system->bodyCount; ++i) {
        margins[i] = margin;
    }
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, margins, contacts, &count),
                     tp_success);
    return count;
}

static double timeApart(tpWorld* world) {
    tpContact* contacts;
    double least = INFINITY;
    int count = findContacts(world, 20.0, &contacts);
    for (int i = 0; i < count; ++i) {
        least = fmin(least, tpContact_TimeApart(&world->system, &contacts[i]));
    }
    return least;
}

// A ball that leaves the floor comes back after 2 v / g; one that falls from rest takes
// sqrt(2 d / g), and one that comes near in level flight never meets it without gravity.
static void ballsComeBack(void** state) {
    (void)state;
    tpWorld* world = makeFloorWorld(h);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpMakeVec3(1.0, 0.0, 2.0));
    double g = tpLength(world->system.gravity);
    CHECK_NEAR(timeApart(world), 2.0 * 2.0 / g, 1e-9);
    world->system.poses.data[ball].position.z = 1.1;
    tpSystem_SetVelocity(&world->system, ball, tpZeroVec3(), tpMakeVec3(30.0, 0.0, 0.0));
    CHECK_NEAR(timeApart(world), sqrt(2.0 / g), 1e-5);
    // It touches and does not leave: nothing is known.
    world->system.poses.data[ball].position.z = 0.1;
    CHECK_NEAR(timeApart(world), 0.0, 0.0);
    tpWorld_SetGravity(world, tpZeroVec3());
    world->system.poses.data[ball].position.z = 0.2;
    tpSystem_SetVelocity(&world->system, ball, tpMakeVec3(5.0, 0.0, 0.0), tpZeroVec3());
    assert_true(isinf(timeApart(world)));
    tpDestroyWorld(world);
}

static int addBox(tpWorld* world, tpVec3 place, tpVec3 velocity, tpVec3 angular) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    def.angularVelocity = angular;
    int body = world->system.bodyCount;
    tpBodyId id = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBox box = { tpMakeVec3(0.3, 0.1, 0.5) };
    tpCreateBox(world, id, &shape, &box, NULL);
    return body;
}

// Boxes that tumble past each other and the floor: until the time that is told nothing touches, and
// often something does soon after.
static void timesAreBounds(void** state) {
    (void)state;
    tpRandom random = { 22 };
    int metCount = 0;
    for (int k = 0; k < 200; ++k) {
        tpWorld* world = makeFloorWorld(h);
        tpSystem* system = &world->system;
        for (int i = 0; i < 2; ++i) {
            tpVec3 place = tpAdd(tpMakeVec3(1.2 * i, 0.0, 1.0), randomVec3(&random, -0.3, 0.3));
            addBox(world, place, randomVec3(&random, -3.0, 3.0), randomVec3(&random, -2.0, 2.0));
        }
        double time = fmin(timeApart(world), 1.0);
        tpContact* contacts;
        for (int i = 0; i < 50; ++i) {
            double part = time / 50.0;
            tpSystem_Kick(system, 0.0, 0.5 * part, tp_forwardSweep);
            tpSystem_Drift(system, part);
            tpSystem_Kick(system, 0.0, 0.5 * part, tp_backwardSweep);
            int count = findContacts(world, 20.0, &contacts);
            for (int j = 0; j < count; ++j) {
                assert_true(contacts[j].gap > 0.0);
                metCount += i == 49 && contacts[j].gap < 0.1 ? 1 : 0;
            }
        }
        tpDestroyWorld(world);
    }
    assert_true(metCount > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ballsComeBack),
        cmocka_unit_test(timesAreBounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
