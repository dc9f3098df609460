// Steppers that solve the same contact law agree where it has one answer, as the step goes to zero.

#include "support/check.h"
#include "tippe/world.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu };
enum { stepperCount = 2 };

static tpWorld* makeFloor(tpStepperId stepper, double mu, tpShapeDef* shapeDef) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = mu;
    *shapeDef = tpDefaultShapeDef();
    shapeDef->material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), shapeDef,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    return world;
}

// Where a flat block of 3 m/s comes to rest: v^2 / (2 mu g).
static double stoppingDistance(tpStepperId stepper, double h) {
    tpShapeDef shapeDef;
    tpWorld* world = makeFloor(stepper, 0.5, &shapeDef);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = 0.1;
    def.velocity.x = 3.0;
    tpBodyId block = tpCreateBody(world, &def, NULL);
    tpCreateBox(world, block, &shapeDef, &(tpBox){ { 1.0, 1.0, 0.2 } }, NULL);
    for (int k = 0; k < (int)lround(1.0 / h); ++k) {
        tpWorld_Step(world, h);
    }
    double x = tpBody_GetPosition(world, block).x;
    CHECK_NEAR(tpLength(tpBody_GetVelocity(world, block)), 0.0, 1e-9);
    tpDestroyWorld(world);
    return x;
}

static void blocksStopAlike(void** state) {
    (void)state;
    double exact = 9.0 / (2.0 * 0.5 * 9.81);
    for (double h = 0.01; h > 1e-3; h *= 0.5) {
        for (int s = 0; s < stepperCount; ++s) {
            double x = stoppingDistance(steppers[s], h);
            printf("%s, h = %g: %.6f of %.6f m\n", tpStepperName(steppers[s]), h, x, exact);
            CHECK_NEAR(x, exact, 2.0 * h * 3.0);
        }
    }
}

// A rod of 1 m that falls on its end and over, half a second after it was let go at an angle.
static tpVec3 rodAt(tpStepperId stepper, double h) {
    tpShapeDef shapeDef;
    tpWorld* world = makeFloor(stepper, 0.3, &shapeDef);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = 0.7;
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 0.5, 0.0));
    tpBodyId rod = tpCreateBody(world, &def, NULL);
    tpCapsule capsule = { 0.02, 1.0, { 0.0, 0.0, 1.0 } };
    tpCreateCapsule(world, rod, &shapeDef, &capsule, NULL);
    for (int k = 0; k < (int)lround(0.5 / h); ++k) {
        tpWorld_Step(world, h);
    }
    tpVec3 position = tpBody_GetPosition(world, rod);
    tpDestroyWorld(world);
    return position;
}

static void rodsFallAlike(void** state) {
    (void)state;
    double last = INFINITY;
    for (double h = 4e-3; h > 1e-4; h *= 0.0625) {
        double distance = tpDistanceBetween(rodAt(tp_stewartTrinkle, h), rodAt(tp_anitescu, h));
        printf("rods, h = %g: apart by %.2e m\n", h, distance);
        CHECK_BELOW(distance, 0.5 * last);
        last = distance;
    }
    CHECK_BELOW(last, 2e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksStopAlike),
        cmocka_unit_test(rodsFallAlike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
