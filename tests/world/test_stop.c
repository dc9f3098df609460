// A step that is stopped in its middle ends there, is undone, and leaves a world that goes on.

#include <signal.h>

#include "support/check.h"
#include "support/floor.h"
#include "tippe/queries.h"
#include "tippe/world.h"
#include "world/world.h"

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

// Balls in layers on a floor, under a certificate that makes a crowd of them.
static tpWorld* createBalls(tpStepperId stepper) {
    enum { side = 8, layers = 5 };
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < side * side * layers; ++i) {
        int layer = i / (side * side);
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(0.19 * (i % side) + 0.05 * (layer % 2),
                                      0.19 * (i / side % side) + 0.03 * layer, 0.09 + 0.15 * layer);
        tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateSphere(world, body, &shape, &(tpSphere){ 0.1 }, NULL);
    }
    return world;
}

// What a step did until its problem number `at`, at which it is stopped.
typedef struct Watched {
    tpWorld* world;
    int at, solves, queries;
} Watched;

static void stopAt(const tpPosedProblem* posed, void* context) {
    (void)posed;
    Watched* watched = context;
    watched->solves += 1;
    if (watched->solves == watched->at) {
        watched->queries = watched->world->system.contactQueryCount;
        stop = 1;
    }
}

// After the solve in which it is stopped a step asks for no contacts and poses no problem, in the
// middle of whatever it is, and bodies are where they were, to the bit.
static void stoppedStepsDoNoMore(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_benderSchmitt, tp_anitescu, tp_stewartTrinkle };
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = createBalls(steppers[s]);
        assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-3", NULL), tp_success);
        tpWorld_SetStop(world, &stop);
        for (int at = 1; at <= 2; ++at) {
            stop = 0;
            Watched watched = { .world = world, .at = at };
            tpVec3 before = tpBody_GetPosition(world, tpWorld_GetBody(world, 170));
            tpWorld_SetProblemHook(world, stopAt, &watched);
            tpStepReport report = tpWorld_Step(world, 0.01);
            if (watched.solves < at) {
                break;
            }
            assert_true(report.undone);
            assert_string_equal(report.notes[0], "stopped");
            assert_int_equal(watched.solves, at);
            assert_int_equal(report.contactQueryCount, watched.queries);
            tpVec3 after = tpBody_GetPosition(world, tpWorld_GetBody(world, 170));
            assert_memory_equal(&after, &before, sizeof(after));
        }
        stop = 0;
        tpWorld_SetProblemHook(world, NULL, NULL);
        assert_false(tpWorld_Step(world, 0.01).undone);
        tpDestroyWorld(world);
    }
}

// A stop is for steps: what users ask a world at rest is answered while it stands.
static void queriesAreAnsweredWhileItStands(void** state) {
    (void)state;
    tpWorld* world = createBalls(tp_benderSchmitt);
    stop = 0;
    int count = tpWorld_FindOverlaps(world, 0.0, NULL, 0);
    assert_true(count > 0);
    tpDestroyWorld(world);
    world = createBalls(tp_benderSchmitt);
    stop = 1;
    tpWorld_SetStop(world, &stop);
    assert_int_equal(tpWorld_FindOverlaps(world, 0.0, NULL, 0), count);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(stoppedStepsAreUndone),
                                        cmocka_unit_test(stoppedStepsDoNoMore),
                                        cmocka_unit_test(queriesAreAnsweredWhileItStands) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
