// Mechanisms that motors drive, and that strike things.

#include <string.h>

#include "support/check.h"
#include "support/scene_text.h"
#include "tippe/world.h"

// A crank at 6 rad/s drives a slider. The motor holds its speed: it was thought to have lost it
// after a stride, by rounding of the joints, and gave all of its 10,000 N m; and the energy between
// the quarters of strides was not looked at: 5 and 1 of 250 steps were not certified.
static void motorsHoldAlongStrides(void** state) {
    (void)state;
    const char* const accuracies[] = { "1e-2", "1e-3" };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"crank\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
            " { \"name\": \"crank\", \"mass\": 1, \"inertia\": [0.02, 0.02, 0.02],"
            " \"position\": [0.09, 0, 0.12], \"velocity\": [-0.72, 0, 0.54],"
            " \"angular_velocity\": [0, -6, 0], \"shapes\": [] },"
            " { \"name\": \"rod\", \"mass\": 0.5, \"inertia\": [0.04, 0.04, 0.04],"
            " \"position\": [0.67, 0, 0.12], \"velocity\": [-1.583448275862069, 0, 0.54],"
            " \"angular_velocity\": [0, 1.206896551724138, 0], \"shapes\": [] },"
            " { \"name\": \"piston\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1],"
            " \"position\": [1.16, 0, 0], \"velocity\": [-1.726896551724138, 0, 0],"
            " \"shapes\": [] } ], \"joints\": ["
            " { \"type\": \"revolute\", \"bodies\": [null, \"crank\"], \"anchor\": [0, 0, 0],"
            " \"axis\": [0, -1, 0], \"motor\": { \"speed\": 6, \"effort\": 10000 } },"
            " { \"type\": \"revolute\", \"bodies\": [\"crank\", \"rod\"],"
            " \"anchor\": [0.18, 0, 0.24], \"axis\": [0, -1, 0] },"
            " { \"type\": \"revolute\", \"bodies\": [\"rod\", \"piston\"],"
            " \"anchor\": [1.16, 0, 0], \"axis\": [0, -1, 0] },"
            " { \"type\": \"prismatic\", \"bodies\": [null, \"piston\"],"
            " \"anchor\": [1.16, 0, 0], \"axis\": [1, 0, 0] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2.5 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        for (int i = 0; i < 250; ++i) {
            assert_int_equal(tpWorld_Step(world, 0.01).violations, 0);
        }
        tpDestroyWorld(world);
    }
}

// A ball falls onto a plank on a hinge. The method of the plank alone locates no impacts; the one
// that does is taken when the ball comes.
static void planksAreStruck(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"plank\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"restitution\": 0.5 } }, \"bodies\": ["
        " { \"name\": \"plank\", \"mass\": 2, \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"box\", \"size\": [2, 0.3, 0.1] } ] },"
        " { \"name\": \"ball\", \"mass\": 0.5, \"material\": \"m\", \"position\": [0.8, 0, 0.65],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": ["
        " { \"type\": \"revolute\", \"bodies\": [null, \"plank\"], \"anchor\": [0, 0, 0],"
        " \"axis\": [0, 1, 0] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 0.5 } }");
    tpBodyId plank = tpWorld_FindBody(world, "plank");
    bool isLocated = false;
    for (int i = 0; i < 40; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_int_equal(report.violations, 0);
        bool isStruck = report.contactCount > 0 && report.impactLoss > 0.1;
        isLocated = isLocated ||
                    (isStruck && strcmp(tpBody_GetCarrier(world, plank), "bender-schmitt") == 0);
    }
    assert_true(isLocated);
    tpDestroyWorld(world);
}

// A ball on a hinge, from level, strikes a wall at its lowest point, again and again: each impact
// leaves .36 of the energy. The flow knows the moment and goes through the impact: no step is taken
// back for it, and the work is that of a few steps. (By a method, which located it in steps that
// were checked, the work of that step was 40 times as much.)
static void impactsAreOnTheWay(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"strikes\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"restitution\": 0.6 } }, \"bodies\": ["
        " { \"name\": \"wall\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [1, 0, 0], \"offset\": -0.1 } ] },"
        " { \"name\": \"a\", \"mass\": 2, \"material\": \"m\", \"position\": [1, 0, 0],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": ["
        " { \"type\": \"revolute\", \"bodies\": [null, \"a\"], \"anchor\": [0, 0, 0],"
        " \"axis\": [0, -1, 0] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 3 } }");
    double energy = 2.0 * 9.81;
    int impacts = 0;
    for (int i = 0; i < 300; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_int_equal(report.violations, 0);
        if (report.contactCount > 0) {
            CHECK_NEAR(report.impactLoss, (1.0 - 0.36) * energy, 1e-4 * energy);
            energy *= 0.36;
            impacts += 1;
            assert_true(report.work < 5e4);
        }
        double now = report.kineticAfter + report.potentialAfter + 2.0 * 9.81;
        CHECK_NEAR(now, energy, 1e-3 * 2.0 * 9.81);
    }
    assert_int_equal(impacts, 3);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motorsHoldAlongStrides),
        cmocka_unit_test(planksAreStruck),
        cmocka_unit_test(impactsAreOnTheWay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
