// Chains on hinges swing without loss, in the plane as in space, and a chain of n links takes a few
// iterations per step whatever n is.

#include "support/joint_worlds.h"

static const double g = 9.81, h = 1.0 / 240.0;

// Rods on hinges, let go level. In a planar world the hinges have rows that hold nothing.
static tpWorld* makeChain(tpStepperId stepper, bool isPlanar, tpJointType type, int count,
                          double length, tpBodyId* last) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.planar = isPlanar;
    def.gravity = tpMakeVec3(0.0, -g, 0.0);
    tpWorld* world = tpCreateWorld(&def);
    double moment = length * length / 12.0;
    *last = theWorld;
    for (int k = 0; k < count; ++k) {
        tpBodyId rod = addBody(world, tpMakeVec3((k + 0.5) * length, 0.0, 0.0), 1.0,
                               tpMakeVec3(0.1 * moment, moment, moment));
        tpJointDef joint = jointOf(type, *last, rod, tpMakeVec3(k * length, 0.0, 0.0), axisZ);
        addJoint(world, &joint);
        *last = rod;
    }
    return world;
}

static double energyOf(const tpWorld* world) {
    return tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
}

// Steppers that are of second order in smooth motion, and what is left of that at this step.
typedef struct Swing {
    tpStepperId stepper;
    double energy, apart; // J, m
} Swing;

static void planarPendulumsSwingAsInSpace(void** state) {
    (void)state;
    static const Swing swings[] = { { tp_chakrabortyTrinkle, 1e-10, 1e-9 },
                                    { tp_anitescu, 2e-2, 1e-9 },
                                    { tp_benderSchmitt, 2e-2, 1e-6 } };
    for (size_t i = 0; i < sizeof(swings) / sizeof(swings[0]); ++i) {
        tpBodyId flat, free;
        tpWorld* plane = makeChain(swings[i].stepper, true, tp_revoluteJoint, 2, 1.0, &flat);
        tpWorld* space = makeChain(swings[i].stepper, false, tp_revoluteJoint, 2, 1.0, &free);
        double start = energyOf(plane);
        for (int k = 0; k < 240; ++k) {
            tpStepReport report = tpWorld_Step(plane, h);
            tpWorld_Step(space, h);
            assert_int_equal(report.violations, 0);
            assert_null(report.fallback);
            CHECK_NEAR(energyOf(plane), start, swings[i].energy);
        }
        tpVec3 apart = tpSub(tpBody_GetPosition(plane, flat), tpBody_GetPosition(space, free));
        CHECK_BELOW(tpLength(apart), swings[i].apart);
        tpDestroyWorld(plane);
        tpDestroyWorld(space);
    }
}

// The impulses of the last step are those of the next but for a little. From nothing the method of
// chakraborty-trinkle took up to 50 iterations per step, and lost its way.
static void longChainsTakeFewIterations(void** state) {
    (void)state;
    static const int counts[] = { 10, 80 };
    for (int i = 0; i < 2; ++i) {
        tpBodyId last;
        tpWorld* world =
            makeChain(tp_chakrabortyTrinkle, false, tp_ballJoint, counts[i], 0.05, &last);
        double start = energyOf(world), scale = counts[i] * g * 0.05 * counts[i];
        int iterations = 0, steps = 96;
        for (int k = 0; k < steps; ++k) {
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.violations, 0);
            assert_null(report.fallback);
            iterations += report.iterationCount;
        }
        print_message("%d links: %.1f iterations per step, energy off by %.1e of what is at play\n",
                      counts[i], (double)iterations / steps, (energyOf(world) - start) / scale);
        CHECK_NEAR(energyOf(world), start, 1e-9 * scale);
        assert_true(iterations < 16 * steps);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planarPendulumsSwingAsInSpace),
        cmocka_unit_test(longChainsTakeFewIterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
