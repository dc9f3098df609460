// Bodies in pairs on ball joints far from their centres, thrown between walls without friction, h = 1/60 s: joints that
// hold positions through collisions must not give energy. A step may swing by a little, as symmetric ones do.

#include "papers/paper_world.h"

static void joinedPairsGainNothing(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/joined_pairs");
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double largest = start, rise = 0.0, deepest = 0.0;
    for (int k = 0; k < 60; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        double energy = report.kineticAfter + report.potentialAfter;
        largest = fmax(largest, energy);
        rise = fmax(rise, energy - report.kineticBefore - report.potentialBefore);
        deepest = fmax(deepest, report.penetration);
        assert_false(report.undone);
        assert_int_equal(report.failureCount, 0);
        CHECK_BELOW(report.residual, 1e-8);
        CHECK_BELOW(report.jointDrift, 1e-8);
    }
    print_message(
        "joined pairs: %.1f J at the start, %.1e of it the largest rise, overlap %.1e m\n", start,
        rise / start, deepest);
    CHECK_BELOW(rise, 1e-3 * start);
    CHECK_BELOW(largest, 1.001 * start);
    CHECK_BELOW(deepest, 1e-6);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(joinedPairsGainNothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
