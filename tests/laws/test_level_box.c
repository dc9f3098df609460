// A box at rest on a level floor. Its four corners share the load in more ways than one: of all
// impulses that give the same motion those of least norm are reported, equal loads and no friction.

#include "support/check.h"
#include "tippe/world.h"

static tpWorld* makeBox(tpStepperId stepper) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.density = 500.0;
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    shapeDef.material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shapeDef,
                  &(tpPlane){ tpMakeVec3(0.0, 0.0, 1.0), 0.0 }, NULL);
    def.kind = tp_dynamicBody;
    def.position = tpMakeVec3(0.3, -0.1, 0.05);
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 0.0, 0.4));
    tpCreateBox(world, tpCreateBody(world, &def, NULL), &shapeDef,
                &(tpBox){ tpMakeVec3(0.3, 0.2, 0.1) }, NULL);
    return world;
}

static void cornersOfABoxCarryTheSame(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_anitescu,           tp_benderSchmitt, tp_stewartTrinkle,
                                     tp_chakrabortyTrinkle, tp_mirtichCanny,  tp_auto };
    for (size_t s = 0; s < sizeof steppers / sizeof *steppers; ++s) {
        tpWorld* world = makeBox(steppers[s]);
        double h = 0.01, load = 500.0 * 0.3 * 0.2 * 0.1 * 9.81 * h / 4.0;
        for (int k = 0; k < 50; ++k) {
            assert_int_equal(tpWorld_Step(world, h).violations, 0);
            int count;
            const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
            assert_int_equal(count, 4);
            for (int i = 0; i < count; ++i) {
                CHECK_NEAR(contacts[i].normalImpulse / load, 1.0, 1e-8);
                CHECK_BELOW(tpLength(contacts[i].frictionImpulse) / load, 1e-8);
            }
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(cornersOfABoxCarryTheSame) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
