// Bodies on joints thrown between walls, h = 1/60 s: joints that hold positions through collisions must not give
// energy, and what keeps them from it must not let bodies overlap. A step may swing by a little, as symmetric ones do.

#include "papers/paper_world.h"

static void throwJoined(const char* scene, int steps, double largestOverlap) {
    char path[64];
    snprintf(path, sizeof(path), "../tests/laws/%s", scene);
    tpWorld* world = makePaperWorld(path);
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double largest = start, rise = 0.0, deepest = 0.0;
    for (int k = 0; k < steps; ++k) {
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
    print_message("%s: %.1f J at the start, %.1e of it the largest rise, overlap %.1e m\n", scene,
                  start, rise / start, deepest);
    CHECK_BELOW(rise, 1e-3 * start);
    CHECK_BELOW(largest, 1.001 * start);
    CHECK_BELOW(deepest, largestOverlap);
    tpDestroyWorld(world);
}

// In pairs on ball joints far from their centres, without friction.
static void joinedPairsGainNothing(void** state) {
    (void)state;
    throwJoined("joined_pairs", 60, 1e-6);
}

// Capsules that turn so fast on their joint that a whole step does not settle, e = 0.8.
static void fastTurnsGainNothing(void** state) {
    (void)state;
    throwJoined("thrown_capsules", 120, 1e-5);
}

// A ball on a long arm of an ellipsoid: the paper's linear rows, a whole step long, overlap by 12 mm.
static void halvedStepsKeepApart(void** state) {
    (void)state;
    throwJoined("thrown_egg", 120, 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joinedPairsGainNothing),
        cmocka_unit_test(fastTurnsGainNothing),
        cmocka_unit_test(halvedStepsKeepApart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
