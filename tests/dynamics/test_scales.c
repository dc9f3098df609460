// The scales of a scene, and units that are powers of 1024.

#include "ball_cases.h"
#include "dynamics/scales.h"

static tpWorld* makeBalls(double factor) {
    tpWorld* world = makeEmptyWorld();
    const double radii[2] = { 0.5, 2.0 };
    for (int i = 0; i < 2; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 3.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(1e-9, 1e-9, 1e-9));
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        tpCreateSphere(world, body, &shape, &(tpSphere){ .radius = factor * radii[i] }, NULL);
    }
    addFloor(world);
    return world;
}

static void testScales(void** state) {
    (void)state;
    tpWorld* world = makeBalls(1.0);
    tpSystem* system = &world->system;
    assert_true(tpSystem_MeasureScales(system));
    // A body's size is the corner of the box around it: sqrt 3 times the radius.
    double a = 0.5 * sqrt(3.0), b = 2.0 * sqrt(3.0);
    CHECK_NEAR(system->scales.smallest, a, 1e-14);
    CHECK_NEAR(system->scales.length, sqrt((a + b) / (1.0 / a + 1.0 / b)), 1e-14);
    CHECK_NEAR(system->scales.fall, 3.0 * 10.0 * (a + b), 1e-12);
    tpSystem_MeasureUnits(system, 0.01);
    assert_true(system->units.length == 1.0 && system->units.time == 1.0);
    tpDestroyWorld(world);
}

// 2^20 times as large or as small, again and again: lengths count in 2^20 m, times in 2^10 s as
// gravity makes them.
static void testUnits(void** state) {
    (void)state;
    for (int k = -3; k <= 3; ++k) {
        tpWorld* world = makeBalls(ldexp(1.0, 20 * k));
        tpSystem* system = &world->system;
        assert_true(tpSystem_MeasureScales(system));
        tpSystem_MeasureUnits(system, ldexp(0.01, 10 * k));
        assert_true(system->units.length == ldexp(1.0, 20 * k));
        assert_true(system->units.time == ldexp(1.0, 10 * k));
        assert_true(system->units.speed == ldexp(1.0, 10 * k));
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testScales), cmocka_unit_test(testUnits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
