// Coefficients of friction that mean "does not slide": a million, and more than numbers can square.

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu,           tp_mirtichCanny,
                                        tp_benderSchmitt,  tp_chakrabortyTrinkle, tp_auto };
static const double coefficients[] = { 1e3, 1e6, 1e10, 1e300 };
enum { stepperCount = 6, coefficientCount = 4 };

static const double side = 0.2;

// A cube on the floor that is thrown along it trips over its front edge. The cube fell through the
// floor with 1e6 by anitescu, stewart-trinkle and mirtich-canny, and with 1e10 by auto. The motion
// is that of 1e3.
static void thrownCubesTrip(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        tpVec3 first = { 0 };
        for (int c = 0; c < coefficientCount; ++c) {
            tpWorld* world = worldWithFloor(steppers[i], coefficients[c], 0.0);
            tpBodyDef def = tpDefaultBodyDef();
            def.position.z = 0.5 * side;
            def.velocity.x = 1.0;
            tpBodyId cube = addSolidBox(world, &def, tpMakeVec3(side, side, side), 1000.0);
            for (int k = 0; k < 20; ++k) {
                tpStepReport report = tpWorld_Step(world, 0.01);
                assert_int_equal(report.violations, 0);
                assert_true(tpBody_GetPosition(world, cube).z > 0.5 * side - 1e-6);
            }
            tpVec3 end = tpBody_GetPosition(world, cube);
            first = c == 0 ? end : first;
            assert_true(end.x == first.x && end.z == first.z);
            assert_true(end.z > 0.51 * side); // on its edge
            tpDestroyWorld(world);
        }
    }
}

// A plate lies still on a slope of 60 degrees.
static void platesStayOnSlopes(void** state) {
    (void)state;
    const double angle = 1.0471975511965976;
    tpVec3 normal = { sin(angle), 0.0, cos(angle) };
    for (int i = 0; i < stepperCount; ++i) {
        tpWorldDef worldDef = tpDefaultWorldDef();
        worldDef.stepper = steppers[i];
        tpWorld* world = tpCreateWorld(&worldDef);
        addMaterial(world, 1e9, 0.0);
        addFloor(world, normal);
        tpBodyDef def = tpDefaultBodyDef();
        def.rotation = (tpQuat){ cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0 };
        def.position = tpScale(0.05, normal);
        tpBodyId plate = addSolidBox(world, &def, tpMakeVec3(1.0, 1.0, 0.1), 1000.0);
        for (int k = 0; k < 60; ++k) {
            assert_int_equal(tpWorld_Step(world, 1.0 / 60.0).violations, 0);
        }
        CHECK_BELOW(tpDistanceBetween(tpBody_GetPosition(world, plate), def.position), 1e-5);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thrownCubesTrip),
        cmocka_unit_test(platesStayOnSlopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
