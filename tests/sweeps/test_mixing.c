// Anderson mixing over sweeps.

#include "support/column.h"
#include "sweeps/mixing.h"

static int mixedSweepsTo(Column* column, double tolerance) {
    tpMixer mixer;
    assert_true(tpMixer_Create(&mixer, &column->sweeper, &column->arena));
    tpMixer_Begin(&mixer, &column->sweeper);
    for (int k = 1; k <= 20000; ++k) {
        tpSweeper_Sweep(&column->sweeper);
        if (tpSweeper_Judge(&column->sweeper).velocity <= tolerance) {
            return k;
        }
        tpMixer_End(&mixer, &column->sweeper);
    }
    return 20000;
}

static void mixingSavesSweeps(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-6, false);
    startColumn(column);
    int mixed = mixedSweepsTo(column, 1e-6);
    // Whichever way it was found, each cube bears all above it.
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 1e-4);
    }
    print_message("%d sweeps, %d with mixing\n", plain, mixed);
    assert_true(5 * mixed < plain);
    destroyColumn(column);
}

// Mixed impulses are sums of many: velocities agree but for rounding.
static void mixingKeepsVelocities(void** state) {
    (void)state;
    Column* column = makeColumn();
    mixedSweepsTo(column, 1e-6);
    checkVelocitiesAreOfImpulses(column, 1e-7);
    destroyColumn(column);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixingSavesSweeps),
        cmocka_unit_test(mixingKeepsVelocities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
