// Two cards that lean on each other by their upper edges.
//
// By symmetry the force between them is horizontal. A card of weight W, height h and thickness t at
// the angle a from upright turns about its inner lower edge: H h cos(a) = W / 2 (h sin(a) - t
// cos(a)). The floor holds it by friction up to mu W, so the cards stand up to tan(a) - t / h = 2
// mu. Edge on edge any direction between the two faces may part them; a contact that takes the
// normal of one face lets the cards slide far below this limit.

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle,     tp_anitescu,     tp_benderSchmitt,
                                        tp_chakrabortyTrinkle, tp_mirtichCanny, tp_smallSteps };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static const double mu = 0.25;

typedef struct Cards {
    double thickness, width, height; // m
    bool isHull;
} Cards;

static tpBodyId addCard(tpWorld* world, const Cards* cards, double angle, double side) {
    double t = 0.5 * cards->thickness, w = 0.5 * cards->width, h = 0.5 * cards->height;
    tpBodyDef def = tpDefaultBodyDef();
    // The inner upper edge is over the origin, the inner lower edge on the floor.
    def.position =
        tpMakeVec3(side * (cos(angle) * t + sin(angle) * h), 0.0, cos(angle) * h + sin(angle) * t);
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), -side * angle);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpGeometry geometry;
    if (cards->isHull) {
        double corners[4][2] = { { t, w }, { -t, w }, { -t, -w }, { t, -w } };
        tpAllocator allocator = tpDefaultAllocator();
        tpMakePrism(&allocator, (const double(*)[2])corners, 4, 2.0 * h, tpIdentityPose(),
                    &geometry, NULL);
    } else {
        tpMakeBox(&(tpBox){ { 2.0 * t, 2.0 * w, 2.0 * h } }, tpIdentityPose(), &geometry, NULL);
    }
    tpCreateShape(world, body, &shapeDef, &geometry, NULL);
    tpReleaseGeometry(&geometry);
    return body;
}

// How far the cards come down in a second.
static double fall(tpStepperId stepper, const Cards* cards, double part) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    double angle = atan(2.0 * mu * part + cards->thickness / cards->height);
    tpBodyId left = addCard(world, cards, angle, -1.0);
    addCard(world, cards, angle, 1.0);
    double before = tpBody_GetPosition(world, left).z;
    for (int k = 0; k < 240; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
    }
    double after = tpBody_GetPosition(world, left).z;
    tpDestroyWorld(world);
    return (before - after) / cards->height;
}

static void standsToTheLimit(void** state) {
    (void)state;
    const Cards kinds[] = { { 0.0006, 0.06, 0.09, false },
                            { 0.0006, 0.06, 0.09, true },
                            { 0.02, 0.3, 0.5, false } };
    for (int s = 0; s < stepperCount; ++s) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
            double low = fall(steppers[s], &kinds[i], 0.7),
                   high = fall(steppers[s], &kinds[i], 0.97);
            double over = fall(steppers[s], &kinds[i], 1.03);
            printf("%s, cards %zu: %.1e of the height at .7, %.1e at .97, %.2f at 1.03\n",
                   tpStepperName(steppers[s]), i, low, high, over);
            CHECK_BELOW(fabs(low), 1e-3);
            CHECK_BELOW(fabs(high), 1e-3);
            assert_true(over > 0.1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(standsToTheLimit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
