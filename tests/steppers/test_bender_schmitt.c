// Parts of the iterated impulses: shock propagation; and an option that is another stepper's.

#include "steppers/bender_schmitt/shock.h"
#include "support/column.h"
#include "tippe/world.h"

static void shockCarriesLoadsDown(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-3, true);
    startColumn(column);
    assert_true(tpShock_Propagate(&column->sweeper, &column->arena));
    double worst = 0.0;
    for (int level = 1; level <= height; ++level) {
        double load = height + 1.0 - level;
        worst = fmax(worst, fabs(loadUnder(column, level) / load - 1.0));
    }
    // The pass leaves impulses; velocities follow from them with the true masses.
    memset(column->velocities, 0, sizeof(tpVelocity) * (height + 1));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    tpSweeper_WarmStart(&column->sweeper);
    int after = sweepsTo(column, 1e-3, true);
    print_message("loads after the pass within %.1e; %d sweeps after it, %d without\n", worst,
                  after, plain);
    CHECK_BELOW(worst, 1e-3);
    assert_true(20 * after < plain);
    destroyColumn(column);
}

// What was an option of this stepper is a stepper of its own.
static void substepsAreAnotherStepper(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    tpWorld* world = tpCreateWorld(&def);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "substeps", "4", &error), tp_badInput);
    assert_non_null(strstr(error.message, "small-steps"));
    assert_int_equal(tpWorld_SetStepper(world, tp_smallSteps), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "substeps", "8", &error), tp_success);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shockCarriesLoadsDown),
        cmocka_unit_test(substepsAreAnotherStepper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
