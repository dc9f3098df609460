// Friction that is lower in impacts than in sliding.
//
// A box that cannot turn falls on the floor with the speed v_n while it moves along it with v_t.
// Without restitution the impact takes mu_i v_n of v_t, and sliding then takes mu g per second. A
// box that is set down gently has the friction of sliding alone.

#include <string.h>

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_mirtichCanny,
                                        tp_benderSchmitt };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static const double mu = 0.3, reduction = 2.0 / 3.0, gravity = 10.0;

static tpWorld* makeWorld(tpStepperId stepper, double share, tpVec3 position, tpVec3 velocity,
                          tpBodyId* box) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = mu;
    material.friction.impactReduction = share;
    tpCreateMaterial(world, &material, NULL);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.velocity = velocity;
    def.locked = tp_lockTurnX | tp_lockTurnY | tp_lockTurnZ;
    *box = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpGeometry geometry;
    tpMakeBox(&(tpBox){ { 0.2, 0.2, 0.2 } }, tpIdentityPose(), &geometry, NULL);
    tpCreateShape(world, *box, &shapeDef, &geometry, NULL);
    tpReleaseGeometry(&geometry);
    return world;
}

// The speed along the floor `time` seconds after the start.
static double speedAt(tpStepperId stepper, double share, double height, double fall, double h,
                      double time) {
    tpBodyId box;
    tpWorld* world = makeWorld(stepper, share, tpMakeVec3(0.0, 0.0, 0.1 + height),
                               tpMakeVec3(2.0, 0.0, -fall), &box);
    int count = (int)floor(time / h + 0.5);
    for (int k = 0; k < count; ++k) {
        tpWorld_Step(world, h);
    }
    double speed = tpBody_GetVelocity(world, box).x;
    tpDestroyWorld(world);
    return speed;
}

static void impactsTakeTheirOwnShare(void** state) {
    (void)state;
    const double height = 0.15, fall = 1.5, time = 0.2, h = 1e-4;
    double hit = sqrt(fall * fall + 2.0 * gravity * height);
    double flight = (hit - fall) / gravity;
    for (int i = 0; i < stepperCount; ++i) {
        for (int k = 0; k < 2; ++k) {
            double share = k == 0 ? 0.0 : reduction;
            double expected = 2.0 - mu * (1.0 - share) * hit - mu * gravity * (time - flight);
            // A step decides when the impact is.
            assert_float_equal(speedAt(steppers[i], share, height, fall, h, time), expected,
                               2.0 * gravity * h);
        }
    }
}

static void slidingKeepsItsFriction(void** state) {
    (void)state;
    const double h[2] = { 1.0 / 480.0, 1.0 / 60.0 };
    for (int i = 0; i < stepperCount; ++i) {
        for (int k = 0; k < 2; ++k) {
            double speed = speedAt(steppers[i], reduction, 0.0, 0.0, h[k], 0.2);
            assert_float_equal(speed, 2.0 - mu * gravity * 0.2, 1e-6);
        }
    }
}

static void pairsMixAndAreChecked(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpMaterialDef def = tpDefaultMaterialDef();
    def.friction.staticCoefficient = def.friction.dynamicCoefficient = 0.5;
    def.friction.impactReduction = 0.75;
    tpMaterialId first = tpCreateMaterial(world, &def, NULL);
    def.friction.impactReduction = 0.0;
    tpMaterialId second = tpCreateMaterial(world, &def, NULL);
    tpFriction friction;
    double restitution;
    tpGetMaterialPair(world, first, second, &friction, &restitution);
    assert_float_equal(friction.impactReduction, 0.5, 1e-15);
    tpError error;
    def.friction.impactReduction = 1.5;
    assert_int_equal(tpCreateMaterial(world, &def, &error), -1);
    assert_non_null(strstr(error.message, "impactReduction"));
    def.friction.impactReduction = NAN;
    assert_int_equal(tpCreateMaterial(world, &def, &error), -1);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impactsTakeTheirOwnShare),
        cmocka_unit_test(slidingKeepsItsFriction),
        cmocka_unit_test(pairsMixAndAreChecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
