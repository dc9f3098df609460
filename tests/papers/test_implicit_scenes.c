// The geometrically implicit stepper beyond its paper's examples: its two formulations give the
// same steps, and the scenes of rolling bodies keep to their laws.

#include <math.h>
#include <stdlib.h>

#include "papers/paper_world.h"

// Largest difference of velocities over a run, eliminated against full form.
static double compareForms(const char* name, double h, int steps) {
    tpWorld* worlds[2];
    for (int k = 0; k < 2; ++k) {
        worlds[k] = makePaperWorld(name);
        setOption(worlds[k], "theta", "1");
        setOption(worlds[k], "formulation", k == 0 ? "eliminated" : "full");
    }
    double largest = 0.0;
    for (int i = 0; i < steps; ++i) {
        for (int k = 0; k < 2; ++k) {
            tpStepReport report = tpWorld_Step(worlds[k], h);
            assert_int_equal(report.failureCount, 0);
            assert_null(report.fallback);
        }
        for (int b = 0; b < tpWorld_GetBodyCount(worlds[0]); ++b) {
            tpBodyId body = tpWorld_GetBody(worlds[0], b), twin = tpWorld_GetBody(worlds[1], b);
            largest = fmax(largest, tpDistanceBetween(tpBody_GetVelocity(worlds[0], body),
                                                      tpBody_GetVelocity(worlds[1], twin)));
            largest = fmax(largest, tpDistanceBetween(tpBody_GetAngularVelocity(worlds[0], body),
                                                      tpBody_GetAngularVelocity(worlds[1], twin)));
        }
    }
    tpDestroyWorld(worlds[0]);
    tpDestroyWorld(worlds[1]);
    printf("%s: the two formulations differ by %.1e over %d steps\n", name, largest, steps);
    return largest;
}

static void bothFormulationsAgree(void** state) {
    (void)state;
    CHECK_BELOW(compareForms("sphere_spinning", .07, 20), 1e-10);
    CHECK_BELOW(compareForms("sphere_on_two_spheres", .01, 500), 1e-9);
    CHECK_BELOW(compareForms("ellipsoid_on_ellipsoid", .005, 40), 1e-9);
    // Two inequalities active on the lens: the appendix.
    CHECK_BELOW(compareForms("lens", .001, 20), 1e-9);
}

static double energyOf(const tpWorld* world) {
    return tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
}

// What a scene loses of its energy, in J; residuals of every step below `residual`.
static double lossOf(const char* name, const char* theta, double h, double until, double residual) {
    tpWorld* world = makePaperWorld(name);
    setOption(world, "theta", theta);
    double start = energyOf(world);
    int steps = (int)lround(until / h);
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, residual);
        // Energy goes where the report says it goes.
        double change = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                        report.potentialBefore;
        CHECK_NEAR(change, -report.frictionLoss - report.impactLoss, 1e-14 * fabs(start));
        // And it never comes back.
        CHECK_BELOW(change, 1e-12 * fabs(start));
    }
    double loss = start - energyOf(world);
    tpDestroyWorld(world);
    printf("%s, theta %s, h %g: loses %.3g J\n", name, theta, h, loss);
    return loss;
}

static void rollingEllipsoidKeepsItsEnergy(void** state) {
    (void)state;
    double euler = lossOf("ellipsoid_on_ellipsoid", "1", .005, 1.0, 1e-11);
    double between = lossOf("ellipsoid_on_ellipsoid", "0.75", .005, 1.0, 1e-11);
    double midpoint = lossOf("ellipsoid_on_ellipsoid", "0.5", .005, 1.0, 1e-11);
    assert_true(euler > between && between > .25 * euler);
    CHECK_BELOW(fabs(midpoint), 1e-10);
    CHECK_BELOW(fabs(lossOf("ellipsoid_on_ellipsoid", "0.5", .02, 1.0, 1e-11)), 1e-10);
}

static void lensAndBottleRoll(void** state) {
    (void)state;
    CHECK_BELOW(fabs(lossOf("lens", "0.5", .001, 1.0, 1e-11)), 1e-13);
    CHECK_BELOW(fabs(lossOf("bottle", "0.5", .001, 1.0, 1e-11)), 1e-13);
    // The accounts close with any theta.
    lossOf("lens", "0.7", .001, .2, 1e-11);
    lossOf("bottle", "1", .001, .2, 1e-11);
}

// The falling rod of Stewart and Trinkle: impact with friction, slip that turns, slap-down, rest.
static double restOfRod(const char* theta) {
    tpWorld* world = makePaperWorld("falling_rod");
    assert_int_equal(tpWorld_SetStepper(world, tp_chakrabortyTrinkle), tp_success);
    setOption(world, "theta", theta);
    for (int k = 0; k < 400; ++k) {
        tpStepReport report = tpWorld_Step(world, .0025);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, 1e-11);
        CHECK_BELOW(report.penetration, 1e-12);
        // A step that needed more than Newton's method says what carried it.
        if (report.fallback != NULL) {
            printf("falling rod at %.4f s: %s\n", report.time, report.fallback);
        }
    }
    tpBodyId rod = tpWorld_FindBody(world, "rod");
    double x = tpBody_GetPosition(world, rod).x;
    CHECK_BELOW(tpLength(tpBody_GetVelocity(world, rod)), 1e-9);
    tpDestroyWorld(world);
    return x;
}

static void rodComesToRestWhereItShould(void** state) {
    (void)state;
    // Independent calculation of the fixed point with geometry at the end, and the event-driven
    // truth.
    CHECK_NEAR(restOfRod("1"), -.230786, 1e-6);
    CHECK_NEAR(restOfRod("0.5"), -.227359983, .003);
}

static void thrustBearingRuns(void** state) {
    (void)state;
    const char* more = getenv("TIPPE_TEST_STEPS");
    int steps = more != NULL ? atoi(more) : 500;
    tpWorld* world = makePaperWorld("thrust_bearing");
    tpBodyId plate = tpWorld_FindBody(world, "plate");
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, .001);
        assert_int_equal(report.failureCount, 0);
        assert_int_equal(report.substepCount, 1);
        CHECK_BELOW(report.residual, 1e-9);
        CHECK_BELOW(report.penetration, 1e-12);
    }
    // Balls go round at half the speed of the plate, which carries its load and its weight.
    double speed = tpBody_GetAngularVelocity(world, plate).z;
    CHECK_NEAR(tpBody_GetPosition(world, plate).z, .025, 1e-12);
    double load = 0.0;
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        bool isPlate = contacts[i].bodyA.slot == plate.slot || contacts[i].bodyB.slot == plate.slot;
        load += isPlate ? contacts[i].normalImpulse / .001 : 0.0;
    }
    double weight = 9.81 * tpBody_GetMass(world, plate).mass;
    CHECK_NEAR(load, 200.0 + weight, 1e-6);
    tpBodyId ball = tpWorld_FindBody(world, "ball7");
    tpVec3 at = tpBody_GetPosition(world, ball), v = tpBody_GetVelocity(world, ball);
    double rate = (at.x * v.y - at.y * v.x) / (at.x * at.x + at.y * at.y);
    printf("thrust bearing: plate %.4f rad/s, balls %.4f rad/s after %d steps\n", speed, rate,
           steps);
    CHECK_NEAR(rate, .5 * speed, .02 * speed);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bothFormulationsAgree), cmocka_unit_test(rollingEllipsoidKeepsItsEnergy),
        cmocka_unit_test(lensAndBottleRoll),     cmocka_unit_test(rodComesToRestWhereItShould),
        cmocka_unit_test(thrustBearingRuns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
