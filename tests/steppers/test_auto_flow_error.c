// Steps of the flow that tell what they are off by, and what auto need not do since they do.

#include "auto_flows.h"
#include "auto_work.h"
#include "steppers/auto/flow_error.h"
#include "steppers/auto/stride_levels.h"

// What a step of h seconds is off by in body `body`, held against 64 steps of the same length
// together, and what it tells.
static void compare(tpWorld* worlds[2], int body, bool slides, double h, double* error,
                    double* told) {
    Flowing whole, fine;
    assert_true(beginFlow(&whole, worlds[0], slides) && beginFlow(&fine, worlds[1], slides));
    whole.run.timeScale = fine.run.timeScale = 0.1;
    assert_false(takeStep(&whole, h).isBad);
    for (int k = 0; k < 64; ++k) {
        assert_false(takeStep(&fine, h / 64.0).isBad);
    }
    const tpPose* pose = &worlds[0]->system.poses.data[body];
    const tpPose* truth = &worlds[1]->system.poses.data[body];
    const tpVelocity* velocity = &worlds[0]->system.velocities.data[body];
    const tpVelocity* other = &worlds[1]->system.velocities.data[body];
    double size = worlds[0]->system.bodies.data[body].size;
    double turn = tpLength(tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(truth->rotation))));
    double speed = tpLength(tpSub(velocity->linear, other->linear)) +
                   size * tpLength(tpSub(velocity->angular, other->angular));
    *error = tpLength(tpSub(pose->position, truth->position)) + whole.groups.turnSizes[0] * turn +
             0.1 * speed;
    *told = tpFlow_Error(&whole.flow, &whole.run, h, NULL);
}

// Pendulums, plain and with three moments that swing about all axes: what steps tell is no less
// than their error, and falls with their length by the third power at least.
static void stepsTellTheirErrors(void** state) {
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        double last = INFINITY;
        for (int k = 0; k < 5; ++k) {
            double h = 0.2 * pow(0.5, k), error, told;
            tpWorld* worlds[2];
            for (int i = 0; i < 2; ++i) {
                worlds[i] = makeJointWorld(kind == 0 ? tp_revoluteJoint : tp_ballJoint,
                                           tpMakeVec3(0.8, 0.0, -0.6), tpMakeVec3(0.02, 0.05, 0.04),
                                           tpMakeVec3(0.0, 0.0, 0.0), tpMakeVec3(0.0, 0.0, 0.0));
                if (kind == 1) {
                    tpVelocity* velocity = &worlds[i]->system.velocities.data[0];
                    velocity->angular = tpMakeVec3(2.0, 1.0, 3.0);
                    velocity->linear =
                        tpCross(velocity->angular, worlds[i]->system.poses.data[0].position);
                }
            }
            compare(worlds, 0, false, h, &error, &told);
            assert_true(error > 1e-13);
            assert_true(error <= told);
            CHECK_BELOW(told, last / 7.0);
            last = told;
            tpDestroyWorld(worlds[0]);
            tpDestroyWorld(worlds[1]);
        }
    }
}

// A ball that rolls and spins on the floor with torsional friction.
static const char* const ball =
    "{ \"tippe\": 1, \"name\": \"ball\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
    " \"friction\": { \"static\": 0.47, \"torsional\": 0.0044 } } }, \"bodies\": [ { \"name\":"
    " \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": \"plane\","
    " \"normal\": [0, 0, 1] } ] }, { \"name\": \"b\", \"mass\": 1, \"inertia\": [0.004, 0.004,"
    " 0.004], \"material\": \"m\", \"position\": [0, 0, 0.1], \"velocity\": [-0.85, 0, 0],"
    " \"angular_velocity\": [3.5, 0, 28], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1"
    " } ] } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.1 } }";

// Its slip is stiff, at the rate 7/2 mu g / (arm times spin), 130 per second. Where a step is too
// long for that its stages tell: what they tell is no power of the length there.
static void stiffStepsTellTheirErrors(void** state) {
    (void)state;
    const double lengths[] = { 0.015, 0.01, 0.005, 0.0025, 0.00125 };
    for (int k = 0; k < 5; ++k) {
        tpWorld* worlds[2];
        for (int i = 0; i < 2; ++i) {
            worlds[i] = makeWorldFrom(ball);
            tpWorld_Step(worlds[i], 1e-12); // measures the scales
            tpSystem_SetVelocity(&worlds[i]->system, 1, tpMakeVec3(-0.85, -0.33, 0.0),
                                 tpMakeVec3(3.5, -8.3, 28.0));
            worlds[i]->system.poses.data[1].position = tpMakeVec3(0.0, 0.0, 0.1);
        }
        double error, told;
        compare(worlds, 1, true, lengths[k], &error, &told);
        assert_true(error > 1e-10);
        assert_true(error <= told);
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

// Half way along one step a pendulum is where a polynomial of third degree has it, off its circle:
// a step that is exact enough is the only one where nobody sees what is in between, as in a rest
// of a step of the user, and not where that is seen.
static void jointsAreKeptInBetween(void** state) {
    (void)state;
    for (int isSeen = 0; isSeen < 2; ++isSeen) {
        tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(0.8, 0.0, -0.6),
                                        tpMakeVec3(0.02, 0.05, 0.04), tpZeroVec3(), tpZeroVec3());
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        flowing.run.method = tp_flyingMethod;
        flowing.run.accuracy = 0.5;
        flowing.run.lengthScale = flowing.run.timeScale = 0.3;
        flowing.run.pace.pushing = 0;
        tpStrideLevels levels;
        tpStrideWay way = { .mayFlow = true, .isSeen = isSeen != 0 };
        assert_true(tpStrideLevels_Take(&levels, &flowing.run, 0.03, way));
        assert_true(levels.isSmooth && levels.isFlow);
        assert_int_equal(levels.isSingle, isSeen == 0);
        tpDestroyWorld(world);
    }
}

// A block is put on a belt and comes to go along with it: evenly, in steps whose stages tell that
// they are exact. Each was taken once more in halves, strides and the way to the moment alike:
// 2.08e5 ns.
static void evenStepsAreTakenOnce(void** state) {
    (void)state;
    static const char* const belt =
        "{ \"tippe\": 1, \"name\": \"belt\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
        " \"friction\": 0.25 } }, \"bodies\": [ { \"name\": \"floor\", \"kind\": \"kinematic\","
        " \"material\": \"m\", \"velocity\": [1.2, 0, 0], \"shapes\": [ { \"type\": \"plane\","
        " \"normal\": [0, 0, 1] } ] }, { \"name\": \"a\", \"mass\": 1, \"material\": \"m\","
        " \"position\": [0, 0, 0.1], \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] }"
        " ] } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }";
    tpWorld* world = makeWorldFrom(belt);
    double time = 1.2 / (0.25 * 9.81);
    for (int i = 1; i <= 150; ++i) {
        tpWorld_Step(world, 0.01);
        double t = 0.01 * i, slid = fmin(t, time);
        double place = 0.5 * 0.25 * 9.81 * slid * slid + 1.2 * (t - slid);
        CHECK_NEAR(world->system.poses.data[1].position.x, place, 1e-5);
    }
    tpDestroyWorld(world);
    CHECK_BELOW(workOf(belt, "1e-2", 0.01, 150), 1.2e5);
}

// Two balls on a spring that fall. The whole step of a stride is too long for its order where its
// halves and its quarters are not, and tells nothing of these: two of nine strides were refused.
// 6.9e4 ns.
static void longWholesSayLittle(void** state) {
    (void)state;
    static const char* const swing =
        "{ \"tippe\": 1, \"name\": \"swing\", \"gravity\": [0, 0, -9.81], \"bodies\": [ {"
        " \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004], \"position\":"
        " [0, 0, 5], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] }, { \"name\":"
        " \"b\", \"mass\": 2, \"inertia\": [0.008, 0.008, 0.008], \"position\": [1.2, 0, 5],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": [ {"
        " \"name\": \"s\", \"type\": \"spring\", \"bodies\": [\"a\", \"b\"], \"anchors\":"
        " [[0, 0, 5], [1.2, 0, 5]], \"spring\": { \"stiffness\": 80, \"rest\": 1 } } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";
    tpWorld* world = makeWorldFrom(swing);
    for (int i = 1; i <= 100; ++i) {
        tpWorld_Step(world, 0.01);
        // The masses swing about their own centre with the reduced mass, 2/3 kg.
        double length = 1.0 + 0.2 * cos(sqrt(80.0 * 1.5) * 0.01 * i);
        double place = 0.8 - length * 2.0 / 3.0;
        CHECK_NEAR(world->system.poses.data[0].position.x, place, 1e-4);
    }
    tpDestroyWorld(world);
    CHECK_BELOW(workOf(swing, "1e-2", 0.01, 100), 5.8e4);
}

// A ball spins on the spot until it stays. Its method went on where it had come to rest, and took
// the rest of that step whole and in halves: 3.4e4 ns.
static void ballsStopByTheFlow(void** state) {
    (void)state;
    static const char* const spinning =
        "{ \"tippe\": 1, \"name\": \"spinning\", \"gravity\": [0, 0, -9.81], \"materials\": {"
        " \"m\": { \"friction\": { \"static\": 0.2, \"torsional\": 0.4 } } }, \"bodies\": [ {"
        " \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ {"
        " \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { \"name\": \"b\", \"mass\": 1,"
        " \"inertia\": [0.4, 0.4, 0.4], \"material\": \"m\", \"position\": [0, 0, 1],"
        " \"angular_velocity\": [0, 0, 2], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 }"
        " ] } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.07, \"until\": 1.4 } }";
    tpWorld* world = makeWorldFrom(spinning);
    for (int i = 1; i <= 20; ++i) {
        tpWorld_Step(world, 0.07);
        double spin = fmax(2.0 - 0.2 * 0.4 * 9.81 / 0.4 * 0.07 * i, 0.0);
        CHECK_NEAR(world->system.velocities.data[1].angular.z, spin, 1e-4);
    }
    tpDestroyWorld(world);
    CHECK_BELOW(workOf(spinning, "1e-2", 0.07, 20), 2.4e4);
}

// A block between two springs slides about on the floor: where it goes slowly its slip turns, and
// does not end. How far it may turn in a step was found out by twenty tries: 2.21e6 and 3.81e6 ns.
static void turnsAreNoMoments(void** state) {
    (void)state;
    static const char* const block =
        "{ \"tippe\": 1, \"name\": \"springs\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\":"
        " { \"friction\": 0.22979216710617656 } }, \"bodies\": [ { \"name\": \"floor\", \"kind\":"
        " \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0,"
        " 1] } ] }, { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\":"
        " [0.4245651503844101, -0.1182216538743325, 0.1], \"velocity\": [0, 0.27777630863137226,"
        " 0], \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": [ {"
        " \"repeat\": { \"i\": [0, 1] }, \"name\": \"s{i}\", \"type\": \"spring\", \"bodies\": ["
        "null, \"a\"], \"anchors\": [[\"2 * i - 1\", 0, 0.1], [0.4245651503844101,"
        " -0.1182216538743325, 0.1]], \"spring\": { \"stiffness\": 179.69917007762191, \"rest\":"
        " 0.8 } } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 0.5 } }";
    CHECK_BELOW(workOf(block, "1e-2", 0.01, 50), 2.13e6);
    CHECK_BELOW(workOf(block, "1e-4", 0.01, 50), 3.6e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepsTellTheirErrors),   cmocka_unit_test(stiffStepsTellTheirErrors),
        cmocka_unit_test(jointsAreKeptInBetween), cmocka_unit_test(evenStepsAreTakenOnce),
        cmocka_unit_test(longWholesSayLittle),    cmocka_unit_test(ballsStopByTheFlow),
        cmocka_unit_test(turnsAreNoMoments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
