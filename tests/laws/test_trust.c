// What users ask of contact first: blocks that do not creep, heavy on light without overlap, stacks
// that stand. Default settings, one and the same, h = 1/60 s.

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_benderSchmitt,
                                        tp_chakrabortyTrinkle, tp_mirtichCanny };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static tpWorld* makeWorld(tpStepperId stepper, double slope) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(9.81 * sin(slope), 0.0, -9.81 * cos(slope));
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addCube(tpWorld* world, double z, double density) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = z;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = density;
    tpBox box = { { 1.0, 1.0, 1.0 } };
    tpCreateBox(world, body, &shapeDef, &box, NULL);
    return body;
}

// Steps for a time; returns the deepest penetration. Every solve has to meet its tolerance.
static double run(tpWorld* world, double seconds) {
    double deepest = 0.0;
    int steps = (int)lround(60.0 * seconds);
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        deepest = fmax(deepest, report.penetration);
        CHECK_BELOW(report.residual, 1e-8);
        assert_int_equal(report.failureCount, 0);
    }
    return deepest;
}

static void boxHoldsOnASlope(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = makeWorld(steppers[s], 10.0 * acos(-1.0) / 180.0);
        tpBodyId cube = addCube(world, 0.5, 1000.0);
        run(world, 1.0);
        tpVec3 before = tpBody_GetPosition(world, cube);
        run(world, 9.0);
        double creep = tpDistanceBetween(tpBody_GetPosition(world, cube), before) / 9.0;
        printf("%s: creep %.1e m/s\n", tpStepperName(steppers[s]), creep);
        CHECK_BELOW(creep, 1e-9);
        tpDestroyWorld(world);
    }
}

static void boxSlidesWhereItMust(void** state) {
    (void)state;
    // 30 degrees and mu = .5: a = g (sin - mu cos); the distance is that of the scheme to first
    // order.
    double slope = acos(-1.0) / 6.0, a = 9.81 * (sin(slope) - 0.5 * cos(slope));
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = makeWorld(steppers[s], slope);
        tpBodyId cube = addCube(world, 0.5, 1000.0);
        run(world, 2.0);
        CHECK_NEAR(tpBody_GetVelocity(world, cube).x, 2.0 * a, 1e-8);
        CHECK_NEAR(tpBody_GetPosition(world, cube).x, 2.0 * a, s == 0 ? a / 60.0 + 1e-8 : 1e-8);
        tpDestroyWorld(world);
    }
}

static void heavyStandsOnLight(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        for (double ratio = 10.0; ratio < 2e4; ratio *= 10.0) {
            tpWorld* world = makeWorld(steppers[s], 0.0);
            addCube(world, 0.5, 1000.0);
            tpBodyId heavy = addCube(world, 1.5, 1000.0 * ratio);
            double overlap = run(world, 10.0);
            printf("%s: mass ratio %g, overlap %.1e m\n", tpStepperName(steppers[s]), ratio,
                   overlap);
            CHECK_BELOW(overlap, 1e-6);
            CHECK_NEAR(tpBody_GetPosition(world, heavy).z, 1.5, 1e-6);
            tpDestroyWorld(world);
        }
    }
}

static void stacksStand(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        for (int count = 10; count <= 40; count *= 2) {
            tpWorld* world = makeWorld(steppers[s], 0.0);
            tpBodyId top = { 0, 0 };
            for (int i = 0; i < count; ++i) {
                top = addCube(world, 0.5 + i, 1000.0);
            }
            run(world, 10.0);
            tpVec3 place = tpBody_GetPosition(world, top);
            printf("%s: stack of %d, the top sinks %.1e m\n", tpStepperName(steppers[s]), count,
                   count - 0.5 - place.z);
            // Impacts hold a stack as far above its floor as they are told apart.
            double most = steppers[s] == tp_mirtichCanny ? 1e-6 : 1e-11;
            CHECK_NEAR(place.z, count - 0.5, most);
            CHECK_VEC3(place, tpMakeVec3(0.0, 0.0, count - 0.5), 1e-6);
            tpDestroyWorld(world);
        }
    }
}

// The forces of the contacts under a box sum to its weight, and their moments vanish.
static void contactForcesCarryTheWeight(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorld* world = makeWorld(steppers[s], 0.0);
        tpBodyId cube = addCube(world, 0.5, 1000.0);
        run(world, 1.0);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        assert_int_equal(count, 4);
        tpVec3 force = tpZeroVec3(), moment = tpZeroVec3();
        for (int i = 0; i < count; ++i) {
            bool isA = contacts[i].bodyA.slot == cube.slot;
            tpVec3 impulse = tpMulAdd(contacts[i].frictionImpulse, contacts[i].normalImpulse,
                                      contacts[i].normal);
            impulse = isA ? impulse : tpNeg(impulse);
            force = tpMulAdd(force, 60.0, impulse);
            tpVec3 arm = tpSub(contacts[i].point, tpBody_GetPosition(world, cube));
            moment = tpMulAdd(moment, 60.0, tpCross(arm, impulse));
            assert_int_equal(contacts[i].state, tp_sticking);
        }
        CHECK_VEC3(force, tpMakeVec3(0.0, 0.0, 9810.0), 1e-4);
        CHECK_VEC3(moment, tpZeroVec3(), 1e-4);
        tpDestroyWorld(world);
    }
}

// What holds bodies at rest takes nothing from them: on a slope and in a stack.
static void restLosesNothing(void** state) {
    (void)state;
    const tpStepperId accurate[] = { tp_stewartTrinkle, tp_anitescu };
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = makeWorld(accurate[s], 0.15);
        for (int i = 0; i < 4; ++i) {
            addCube(world, 0.5 + i, 1000.0);
        }
        for (int k = 0; k < 60; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            CHECK_NEAR(report.impactLoss, 0.0, 1e-6);
            CHECK_NEAR(report.frictionLoss, 0.0, 1e-6);
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restLosesNothing),     cmocka_unit_test(boxHoldsOnASlope),
        cmocka_unit_test(boxSlidesWhereItMust), cmocka_unit_test(heavyStandsOnLight),
        cmocka_unit_test(stacksStand),          cmocka_unit_test(contactForcesCarryTheWeight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
