// A step that is stopped in its middle ends there, is undone, and leaves a world that goes on.

#include <signal.h>

#include "support/check.h"
#include "support/floor.h"
#include "tippe/world.h"

enum { boxes = 8 };

static volatile sig_atomic_t stop;

// As a signal in the middle of the first solve's step would.
static void stopHere(const tpPosedProblem* posed, void* context) {
    (void)posed;
    *(int*)context += 1;
    stop = 1;
}

static tpWorld* createLeaningBoxes(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < boxes; ++i) {
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(0.11 * i, 0.0, 0.2);
        bodyDef.velocity = tpMakeVec3(1.0, 0.0, 0.0);
        tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateBox(world, body, &shape, &(tpBox){ .size = { 0.1, 0.3, 0.4 } }, NULL);
    }
    return world;
}

static void stoppedStepsAreUndone(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_stewartTrinkle, tp_benderSchmitt,
                                            tp_auto };
    for (int s = 0; s < 4; ++s) {
        tpWorld* world = createLeaningBoxes(steppers[s]);
        int solves = 0;
        stop = 0;
        tpWorld_SetStop(world, &stop);
        tpWorld_Step(world, 0.02);
        double time = tpWorld_GetTime(world);
        CHECK_NEAR(time, 0.02, 1e-15);
        tpWorld_SetProblemHook(world, stopHere, &solves);
        tpStepReport report = tpWorld_Step(world, 0.02);
        assert_true(report.undone && !report.converged);
        assert_int_equal(report.noteCount, 1);
        assert_string_equal(report.notes[0], "stopped");
        CHECK_NEAR(tpWorld_GetTime(world), time, 0.0);
        // Whatever is still solved ends at once.
        assert_true(solves >= 1 && solves < 40);
        // Nothing is taken while it stands.
        assert_true(tpWorld_Step(world, 0.02).undone);
        stop = 0;
        tpWorld_SetProblemHook(world, NULL, NULL);
        report = tpWorld_Step(world, 0.02);
        assert_true(!report.undone && report.violations == 0);
        CHECK_NEAR(tpWorld_GetTime(world), 0.04, 1e-15);
        tpWorld_SetStop(world, NULL);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(stoppedStepsAreUndone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
