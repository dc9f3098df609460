// Conjugate directions over sweeps.

#include "support/column.h"

static void directionsSaveSweeps(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-3, false);
    // Whichever way it was found, each cube bears all above it.
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 0.05);
    }
    startColumn(column);
    int accelerated = sweepsTo(column, 1e-3, true);
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 0.05);
    }
    print_message("%d sweeps, %d with conjugate directions\n", plain, accelerated);
    assert_true(10 * accelerated < plain);
    destroyColumn(column);
}

static void directionsKeepVelocities(void** state) {
    (void)state;
    Column* column = makeColumn();
    sweepsTo(column, 1e-3, true);
    checkVelocitiesAreOfImpulses(column, 1e-12);
    destroyColumn(column);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directionsSaveSweeps),
        cmocka_unit_test(directionsKeepVelocities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
