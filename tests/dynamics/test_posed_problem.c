// Problems of steps as a hook sees them: posed and solved as the reports say.

#include <string.h>

#include "support/check.h"
#include "support/floor.h"
#include "tippe/complementarity.h"
#include "tippe/world.h"

typedef struct Seen {
    int count, contacts;
    double worst;
    long long lastStep;
    int lastIndex;
    tpSolverMemory* memory;
} Seen;

// The answer, judged here, is as good as it was said to be.
static void look(const tpPosedProblem* posed, void* context) {
    Seen* seen = context;
    int rows = tpFriction_RowCount(posed->problem);
    double u[256];
    assert_true(rows > 0 && rows <= 256);
    assert_int_equal(tpFriction_Check(posed->problem, NULL), tp_success);
    tpFrictionResidual judged;
    assert_true(tpFriction_Judge(posed->problem, posed->impulse, u, seen->memory, &judged));
    assert_true(judged.natural <= fmax(1e-8, 2.0 * posed->residual) || judged.velocity < 1e-13);
    assert_true(posed->isSolved);
    assert_true(posed->step > seen->lastStep ||
                (posed->step == seen->lastStep && posed->index == seen->lastIndex + 1));
    assert_true(isfinite(posed->start[0]));
    seen->lastStep = posed->step;
    seen->lastIndex = posed->index;
    seen->count += 1;
    seen->contacts += posed->problem->blockCount;
    seen->worst = fmax(seen->worst, posed->residual);
}

static void testHook(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_stewartTrinkle, tp_benderSchmitt };
    for (int s = 0; s < 3; ++s) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = steppers[s];
        tpWorld* world = tpCreateWorld(&def);
        addMaterial(world, 0.5, 0.0);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(0.0, 0.0, 0.5);
        bodyDef.velocity = tpMakeVec3(1.0, 0.0, 0.0);
        tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateBox(world, body, &shape, &(tpBox){ .size = { 1.0, 1.0, 1.0 } }, NULL);
        Seen seen = { .lastStep = -1, .memory = tpCreateSolverMemory(NULL) };
        tpWorld_SetProblemHook(world, look, &seen);
        double residual = 0.0;
        for (int k = 0; k < 20; ++k) {
            residual = fmax(residual, tpWorld_Step(world, 0.01).residual);
        }
        assert_true(seen.count >= 20 && seen.contacts >= 4 * 20);
        assert_true(seen.worst <= residual);
        // Nobody looks any more.
        int count = seen.count;
        tpWorld_SetProblemHook(world, NULL, NULL);
        tpWorld_Step(world, 0.01);
        assert_int_equal(seen.count, count);
        tpDestroySolverMemory(seen.memory);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testHook) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
