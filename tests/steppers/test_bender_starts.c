// Where the solves of Bender and Schmitt's stepper start: steps with impacts cost little more than
// others.

#include "support/floor.h"

static const double h = 1.0 / 240.0;
enum { boxes = 12 };

static tpWorld* makeWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addBox(tpWorld* world, const tpBodyDef* def, tpVec3 size) {
    tpBodyId body = tpCreateBody(world, def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 600.0;
    tpCreateBox(world, body, &shape, &(tpBox){ .size = size }, NULL);
    return body;
}

// A box that strikes the floor flat in the fifth step.
static void addStriker(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(-1.0, 0.0, 0.05 + 0.011);
    def.velocity = tpMakeVec3(0.0, 0.0, -0.5);
    addBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1));
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
    tpWorld* world = makeWorld();
    for (int i = 0; i < boxes; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.2 * i, 0.0, 0.05);
        addBox(world, &def, tpMakeVec3(0.1, 0.02, 0.1));
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
    tpWorld* world = makeWorld();
    double tilt = 0.3;
    for (int i = 0; i < boxes; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.4 * i, 0.0, 0.01 * sin(tilt) + 0.1 * cos(tilt));
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
        addBox(world, &def, tpMakeVec3(0.02, 0.02, 0.2));
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
