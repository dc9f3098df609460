// What holds until it gives way, what whips, and what rolls: blocks that break loose from static
// friction, chains in long steps of the user, and balls whose spin turns about.

#include "support/scene_text.h"
#include "tippe/world.h"

static const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };

// A block rides on a belt at .5 m/s, held by a spring of 60 N/m. It sticks by .6 and slides by .4.
static double rideAndSlip(double t) {
    const double g = 9.81, k = 60.0, v = 0.5, w = sqrt(k), loose = 0.6 * g / k,
                 middle = 0.4 * g / k;
    double slip = t - loose / v;
    return slip < 0.0 ? v * t : middle + (loose - middle) * cos(w * slip) + v / w * sin(w * slip);
}

// The spring pulls at the middle of the block, so its contacts carry loads that differ. They let go
// together. (One by one they did so at 89 % of what they hold together, and the block was off by up
// to 67 times what is asked for, unsaid.)
static void blocksBreakLooseAsAWhole(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"belt\", \"gravity\": [0, 0, -9.81], \"materials\": {"
            " \"m\": { \"friction\": { \"static\": 0.6, \"dynamic\": 0.4 } } }, \"bodies\": ["
            " { \"name\": \"belt\", \"kind\": \"kinematic\", \"material\": \"m\","
            " \"velocity\": [0.5, 0, 0], \"shapes\": ["
            " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
            " \"velocity\": [0.5, 0, 0], \"shapes\": ["
            " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": ["
            " { \"type\": \"spring\", \"bodies\": [null, \"a\"],"
            " \"anchors\": [[-1, 0, 0.1], [0, 0, 0.1]],"
            " \"spring\": { \"stiffness\": 60, \"rest\": 1 } } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 0.8 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 1; i <= 80; ++i) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            assert_int_equal(report.violations, 0);
            CHECK_NEAR(tpBody_GetPosition(world, body).x, rideAndSlip(0.01 * i),
                       0.5 * report.errorAsked);
        }
        tpDestroyWorld(world);
    }
}

// Six links of .3 m let go level, in steps of .04 s: other links come near, and the end whips. The
// flow goes on within the steps. (Methods did, gave up, and were off by 42 times what is asked for
// at 1e-4, which was said; the energy was off by .014 J.)
static void chainsWhipInLongSteps(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"chain\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
            " { \"repeat\": { \"i\": 6 }, \"name\": \"b{i}\", \"mass\": 0.5,"
            " \"inertia\": [1e-4, 0.00375, 0.00375], \"position\": [\"0.3 * i + 0.15\", 0, 0],"
            " \"shapes\": [ { \"type\": \"capsule\", \"radius\": 0.02, \"length\": 0.26,"
            " \"axis\": [1, 0, 0] } ] } ], \"joints\": ["
            " { \"type\": \"revolute\", \"bodies\": [null, \"b0\"], \"anchor\": [0, 0, 0],"
            " \"axis\": [0, -1, 0] }, { \"repeat\": { \"i\": [1, 5] }, \"type\": \"revolute\","
            " \"bodies\": [\"b{i - 1}\", \"b{i}\"], \"anchor\": [\"0.3 * i\", 0, 0],"
            " \"axis\": [0, -1, 0] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.04, \"until\": 1 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        double first = 0.0;
        for (int i = 0; i < 25; ++i) {
            tpStepReport report = tpWorld_Step(world, 0.04);
            first = i == 0 ? report.kineticBefore + report.potentialBefore : first;
            assert_int_equal(report.violations, 0);
            assert_true(report.errorEstimate <= report.errorAsked);
            CHECK_NEAR(report.kineticAfter + report.potentialAfter, first, 1e-3);
        }
        tpDestroyWorld(world);
    }
}

// A ball rolls on a turntable that goes round at 6 rad/s: its centre goes round at 2/7 of that, and
// its spin turns with it. Ways are as long as errors of the path let them be. (The turn of the ball
// was followed too, which goes astray as its spin does: 18 strides of 3 s, and 7 since.)
static void ballsGoFarOnTurntables(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"turntable\", \"gravity\": [0, 0, -9.81], \"materials\": {"
        " \"m\": { \"friction\": 0.8 } }, \"bodies\": ["
        " { \"name\": \"table\", \"kind\": \"kinematic\", \"material\": \"m\","
        " \"angular_velocity\": [0, 0, 6], \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
        " \"material\": \"m\", \"position\": [0.5, 0, 0.1], \"velocity\": [0, 1, 0],"
        " \"angular_velocity\": [20, 0, 0], \"shapes\": ["
        " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 3 } }");
    tpBodyId body = tpWorld_FindBody(world, "a");
    // v = 2/7 w z x r + c: a circle about (0.5 - 7/12, 0), where r' = 0.
    const double rate = 12.0 / 7.0, radius = 1.0 / rate;
    int strides = 0;
    double longest = 0.0;
    for (int i = 1; i <= 300; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_int_equal(report.violations, 0);
        tpVec3 place = tpBody_GetPosition(world, body);
        CHECK_NEAR(place.x, 0.5 - radius + radius * cos(rate * 0.01 * i), 0.1 * report.errorAsked);
        CHECK_NEAR(place.y, radius * sin(rate * 0.01 * i), 0.1 * report.errorAsked);
        strides += report.solveCount > 0 ? 1 : 0;
        longest = fmax(longest, tpBody_GetCarrierStep(world, body));
    }
    print_message("%d strides, the longest of %g s\n", strides, longest);
    assert_true(strides <= 12);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksBreakLooseAsAWhole),
        cmocka_unit_test(chainsWhipInLongSteps),
        cmocka_unit_test(ballsGoFarOnTurntables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
