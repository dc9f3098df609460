// What holds until it gives way, and what whips: blocks that break loose from static friction, and
// chains in long steps of the user.

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksBreakLooseAsAWhole),
        cmocka_unit_test(chainsWhipInLongSteps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
