// What auto does not spend on strides and moments: counted work. The accuracy of such motions is in
// the other tests of auto and in bench/auto.

#include "auto_work.h"
#include "steppers/auto/apart.h"
#include "world/world.h"

// A cart rolls on two wheels whose moments differ: their surfaces stay where they are as they turn.
// Wheels .3 m apart were thought to meet by their turning, and longer strides were refused: 3.4e5
// ns.
static void wheelsSpinSideBySide(void** state) {
    (void)state;
    static const char* const cart =
        "{ \"tippe\": 1, \"name\": \"cart\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
        " \"friction\": 0.5 } }, \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", "
        "\"material\":"
        " \"m\", \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { \"name\":"
        " \"chassis\", \"mass\": 2, \"inertia\": [0.05, 0.05, 0.05], \"position\": [0, 0, 0.15],"
        " \"velocity\": [1.5, 0, 0] }, { \"repeat\": { \"i\": [0, 1] }, \"name\": \"w{i}\", "
        "\"mass\":"
        " 0.5, \"inertia\": [0.004, 0.005, 0.004], \"material\": \"m\", \"position\": [\"0.6 * i -"
        " 0.3\", 0, 0.15], \"velocity\": [1.5, 0, 0], \"angular_velocity\": [0, 10, 0],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.15 } ] } ], \"joints\": [ { "
        "\"repeat\":"
        " { \"i\": [0, 1] }, \"name\": \"j{i}\", \"type\": \"revolute\", \"bodies\": [\"chassis\","
        " \"w{i}\"], \"anchor\": [\"0.6 * i - 0.3\", 0, 0.15], \"axis\": [0, 1, 0] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }";
    tpWorld* world = makeWorldFrom(cart);
    const tpSystem* system = &world->system;
    assert_false(tpBody_IsRound(system, &system->bodies.data[1])); // it has no shape
    assert_true(tpBody_IsRound(system, &system->bodies.data[2]));
    assert_false(tpBody_IsBall(system, &system->bodies.data[2])); // its turn is seen by its moments
    for (int i = 0; i < 150; ++i) {
        assert_int_equal(tpWorld_Step(world, 0.01).figures[tp_rejectedFigure], 0);
    }
    CHECK_NEAR(system->poses.data[2].position.x, -0.3 + 1.5 * 1.5, 1e-9);
    tpDestroyWorld(world);
    CHECK_BELOW(workOf(cart, "1e-2", 0.01, 150), 1.5e5);
}

// The face of a hull comes down on the floor, corner by corner. Corners that are near at the end of
// a step of the user, and still apart, touch in the next one. Flows went half of the way to that
// end, and half of the rest, ten times: 9.4e5 ns.
static void cornersComeDownLater(void** state) {
    (void)state;
    static const char* const hull =
        "{ \"tippe\": 1, \"name\": \"hull\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
        " \"friction\": 0.8 } }, \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", "
        "\"material\":"
        " \"m\", \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { \"name\": "
        "\"a\","
        " \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.35], \"rotation\": { \"axis\": "
        "[0,"
        " 1, 0], \"degrees\": 30 }, \"shapes\": [ { \"type\": \"hull\", \"points\": [[0.18, 0,"
        " -0.1], [0.1122, 0.0938, -0.1], [-0.0401, 0.117, -0.1], [-0.1622, 0.0521, -0.1],"
        " [-0.1622, -0.0521, -0.1], [-0.0401, -0.117, -0.1], [0.1122, -0.0938, -0.1],"
        " [0.3, 0, 0], [0.187, 0.1564, 0], [-0.0668, 0.195, 0], [-0.2703, 0.0868, 0],"
        " [-0.2703, -0.0868, 0], [-0.0668, -0.195, 0], [0.187, -0.1564, 0], [0.21, 0,"
        " 0.15], [0.1309, 0.1095, 0.15], [-0.0467, 0.1365, 0.15], [-0.1892, 0.0607, 0.15],"
        " [-0.1892, -0.0607, 0.15], [-0.0467, -0.1365, 0.15], [0.1309, -0.1095, 0.15]] } ]"
        " } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 0.4 } }";
    CHECK_BELOW(workOf(hull, "1e-2", 0.005, 73), 7e5);
}

// A block on a belt sticks, and slides on a few milliseconds later, within one step of the user:
// flows go from moment to moment. Nobody knew what pushes up to the second one, and it was left to
// the method: 3.6e6 ns.
static void momentsFollowMoments(void** state) {
    (void)state;
    static const char* const belt =
        "{ \"tippe\": 1, \"name\": \"belt\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
        " \"friction\": 0.3 } }, \"bodies\": [ { \"name\": \"belt\", \"kind\": \"kinematic\","
        " \"material\": \"m\", \"velocity\": [0.4, 0, 0], \"shapes\": [ { \"type\": \"plane\","
        " \"normal\": [0, 0, 1] } ] }, { \"name\": \"a\", \"mass\": 1, \"material\": \"m\","
        " \"position\": [0, 0, 0.1], \"velocity\": [0.4, 0, 0], \"shapes\": [ { \"type\": \"box\","
        " \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": [ { \"type\": \"spring\", \"bodies\":"
        " [null, \"a\"], \"anchors\": [[-3, 0, 0.1], [0, 0, 0.1]], \"spring\": { \"stiffness\":"
        " 60, \"rest\": 3 } } ], \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, "
        "\"until\": 3"
        " } }";
    CHECK_BELOW(workOf(belt, "1e-2", 0.01, 300), 3.2e6);
    // Halves of a way that come to a moment before its end tell when: without that the way was cut
    // by guesses, and it was 5.2e6 ns.
    CHECK_BELOW(workOf(belt, "1e-4", 0.01, 300), 4.6e6);
}

// A force tips a box.
static const char* const box =
    "{ \"tippe\": 1, \"name\": \"topple\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": "
    "{"
    " \"friction\": 5 } }, \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", "
    "\"material\":"
    " \"m\", \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] }, { \"name\": "
    "\"a\","
    " \"mass\": 1, \"material\": \"m\", \"position\": [-0.2, 0, 0.4], \"shapes\": [ { \"type\":"
    " \"box\", \"size\": [0.4, 0.4, 0.8] } ] } ], \"forces\": [ { \"body\": \"a\", \"force\": "
    "[8,"
    " 0, 0], \"from\": 0, \"to\": 0.15 } ], \"simulation\": { \"stepper\": \"auto\", \"step\":"
    " 0.01, \"until\": 0.4 } }";

// Two of its corners pull from the start on: they come off there, and the flow goes on without them
// from the first step on. That step was left to the method, whole and in halves: 1.5e5 ns.
static void cornersThatPullComeOff(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(box);
    double inertia = 0.8 / 12.0 + 0.2, torque = 8.0 * 0.4 - 9.81 * 0.2;
    double growth = (9.81 * 0.4 + 8.0 * 0.2) / inertia; // of the torque, as it tips
    double spin = 0.01 * torque / inertia * (1.0 + growth * 0.01 * 0.01 / 6.0);
    tpStepReport report = tpWorld_Step(world, 0.01);
    CHECK_NEAR(world->system.velocities.data[1].angular.y, spin, 1e-5 * spin);
    CHECK_BELOW(report.work, 3e4);
    tpDestroyWorld(world);
}

// A ball rolls down a post until it slides, and comes off. Steps of the user before such moments
// are taken by one step of the flow, whose error the last stride foretells: two halves more made it
// 2.7e5 ns.
static void strideTellsOfSteps(void** state) {
    (void)state;
    static const char* const post =
        "{ \"tippe\": 1, \"name\": \"post\", \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
        " \"friction\": 0.6 } }, \"bodies\": [ { \"name\": \"post\", \"kind\": \"fixed\", "
        "\"material\":"
        " \"m\", \"shapes\": [ { \"type\": \"cylinder\", \"radius\": 1, \"length\": 2, "
        "\"rotation\": {"
        " \"axis\": [1, 0, 0], \"degrees\": 90 } } ] }, { \"name\": \"a\", \"mass\": 1, "
        "\"inertia\":"
        " [0.004, 0.004, 0.004], \"material\": \"m\", \"position\": [0.16438194572095916, 0,"
        " 1.0876481857296465], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.3 } }";
    CHECK_BELOW(workOf(post, "1e-2", 0.01, 130), 2.5e5);
}

// A top slips on its point, round and round, until it rolls. Flows come near to the end of the slip
// and stop what is left. If they landed where rates tell the end, the method would take more of it,
// and the error would be said to be 1.4 times what is asked for after .2 s, and 19 times after 1 s.
static void turningSlipsAreStopped(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"top\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0.437558266062787 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
        " { \"name\": \"a\", \"mass\": 0.5, \"inertia\": [0.002, 0.002, 0.001],"
        " \"material\": \"m\", \"position\": [0, 0, 0.16370407670641066],"
        " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": 16.65914038900771 },"
        " \"angular_velocity\": [51.76885798058402, 0, 173.0027361523689], \"shapes\": ["
        " { \"type\": \"sphere\", \"radius\": 0.02, \"position\": [0, 0, -0.15] } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 1 } }");
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", "1e-4", &error), tp_success);
    tpStepReport report = tpWorld_Step(world, 0.005);
    for (int i = 1; i < 40; ++i) {
        report = tpWorld_Step(world, 0.005);
    }
    CHECK_BELOW(report.errorEstimate, 0.5 * 1.7233687939614084e-05);
    tpDestroyWorld(world);
}

// A block slides down and across a slope until it stays. Its slip turns, and goes neither evenly
// nor to its end where a stride that is too long seems to tell that. Two steps of the user were
// taken alone there, and strides began anew after them, thrice: 6.3e5 ns.
static void endsOfSlipsAreToldAnew(void** state) {
    (void)state;
    static const char* const curling =
        "{ \"tippe\": 1, \"name\": \"curling\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0.4 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0.24740395925452294, 0, 0.9689124217106447] } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"inertia\": [1000, 1000, 1000], \"material\": \"m\","
        " \"position\": [0.024740395925452296, 0, 0.09689124217106448],"
        " \"velocity\": [-0.9689124217106447, 1.5, 0.24740395925452294],"
        " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": 14.32394487827058 },"
        " \"shapes\": [ { \"type\": \"box\", \"size\": [0.2, 0.2, 0.2] } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 0.6 } }";
    CHECK_BELOW(workOf(curling, "1e-2", 0.01, 60), 5.8e5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheelsSpinSideBySide),   cmocka_unit_test(cornersComeDownLater),
        cmocka_unit_test(momentsFollowMoments),   cmocka_unit_test(strideTellsOfSteps),
        cmocka_unit_test(cornersThatPullComeOff), cmocka_unit_test(turningSlipsAreStopped),
        cmocka_unit_test(endsOfSlipsAreToldAnew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
