// Anderson mixing over light sweeps.

#include "light_rounds.h"
#include "support/column.h"

// Each cube of a column bears all above it, to what single precision allows.
static void columnIsBorne(void** state) {
    (void)state;
    Column* column = makeColumn();
    tpVelocity* start = TP_SCRATCH(&column->arena, tpVelocity, height + 1);
    memcpy(start, column->velocities, sizeof(tpVelocity) * (height + 1));
    int plain = lightSweepsTo(&column->sweeper, start, &column->arena, INFINITY, false, 1e-5);
    startColumn(column);
    int mixed = lightSweepsTo(&column->sweeper, start, &column->arena, INFINITY, true, 1e-5);
    for (int level = 1; level <= height; ++level) {
        CHECK_NEAR(loadUnder(column, level), height + 1.0 - level, 1e-3);
    }
    print_message("%d light sweeps, %d with mixing\n", plain, mixed);
    assert_true(mixed < never && 3 * mixed < plain);
    destroyColumn(column);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columnIsBorne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
