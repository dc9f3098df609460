// Where the solves of Bender and Schmitt's stepper start: steps with impacts cost little more than
// others.

#include "support/floor.h"

static const double h = 1.0 / 240.0;
enum { boxes = 12 };

static const double density = 600.0;

// A box that strikes the floor flat in the fifth step.
static void addStriker(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(-1.0, 0.0, 0.05 + 0.011);
    def.velocity = tpMakeVec3(0.0, 0.0, -0.5);
    addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), density);
}

// The step in which it strikes.
static tpStepReport strike(tpWorld* world) {
    tpStepReport report = { 0 };
    for (int i = 0; i < 5; ++i) {
        report = tpWorld_Step(world, h);
        assert_true(report.violations == 0);
        assert_true(i == 4 || report.substepCount == 1);
    }
    print_message("%d solves, %d iterations\n", report.solveCount, report.iterationCount);
    assert_true(report.substepCount >= 2);
    return report;
}

// Boxes at rest are stopped before an impact elsewhere is resolved. Their impulses are those of
// the first half of the part: 56 iterations, 130 from zero.
static void whatRestsStartsFromTheDrift(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.3, 0.0);
    for (int i = 0; i < boxes; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.2 * i, 0.0, 0.05);
        addSolidBox(world, &def, tpMakeVec3(0.1, 0.02, 0.1), density);
    }
    addStriker(world);
    assert_true(strike(world).iterationCount < 80);
    tpDestroyWorld(world);
}

// The time of an impact is found by several drifts. Each begins with what the one before has found
// for rods that topple: 29 solves and 2,772 iterations, where 38 and 4,802 were needed if each
// drift began anew.
static void driftsStartFromTheLastOne(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.3, 0.0);
    double tilt = 0.3;
    for (int i = 0; i < boxes; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.4 * i, 0.0, 0.01 * sin(tilt) + 0.1 * cos(tilt));
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
        addSolidBox(world, &def, tpMakeVec3(0.02, 0.02, 0.2), density);
    }
    addStriker(world);
    tpStepReport report = strike(world);
    assert_true(report.solveCount < 34);
    assert_true(report.iterationCount < 3800);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatRestsStartsFromTheDrift),
        cmocka_unit_test(driftsStartFromTheLastOne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
