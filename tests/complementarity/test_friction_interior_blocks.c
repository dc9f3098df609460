// Interior points by blocks: the middle of the solutions, and large towers from there.

#include <math.h>
#include <stdlib.h>

#include "box_on_corners.h"
#include "complementarity/friction_solvers.h"
#include "friction_cases.h"
#include "solver_memory.h"

static void moveToTheMiddle(const Box* box, double* r) {
    tpFrictionSystem system;
    assert_true(tpFrictionSystem_Build(&system, &box->problem, &memory->arena));
    tpFrictionSystem_Load(&system, r);
    tpFrictionIsland* island = &system.islands[0];
    island->tolerance = -1.0;
    island->grace = INFINITY;
    island->workLimit = 1e9;
    int steps = 0;
    tpFrictionIsland_Center(island, 40, &memory->arena, &steps);
    assert_true(steps > 1 && steps < 40);
    assert_true(island->residual < 1e-4);
    tpFrictionSystem_Store(&system, r);
}

static void cornersOfABoxAtRestAllCarry(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    // From nothing: what is equal stays so.
    double r[rowCount] = { 0 };
    moveToTheMiddle(&box, r);
    for (int c = 0; c < corners; ++c) {
        CHECK_NEAR(r[3 * c], 0.05, 1e-4);
        CHECK_NEAR(r[3 * c + 1], 0.0, 1e-4);
        CHECK_NEAR(r[3 * c + 2], 0.0, 1e-4);
    }
    // From a solution in which one diagonal carries all: at the border of all that there are.
    memset(r, 0, sizeof r);
    r[0] = r[9] = 0.1;
    moveToTheMiddle(&box, r);
    for (int c = 0; c < corners; ++c) {
        assert_true(r[3 * c] > 1e-3);
        assert_true(hypot(r[3 * c + 1], r[3 * c + 2]) < 0.5 * 0.5 * r[3 * c]);
    }
}

static FrictionCase sample;

// Towers with joints, limits and torsion, several points per pair and duplicates among them:
// solved, by bodies and with W alike.
static void towersAreSolvedFromTheMiddle(void** state) {
    (void)state;
    static double r[sizeof sample.r / sizeof *sample.r];
    const tpFrictionSolver* interior = tpFrictionSolver_Find("interior");
    for (int k = 0; k < 12; ++k) {
        const CaseOptions tower = { .bodies = 20,
                                    .componentCount = 6,
                                    .patch = 4,
                                    .massRatio = 3.0,
                                    .muLow = 0.0,
                                    .muHigh = 0.6,
                                    .joints = k % 3 == 1,
                                    .limits = k % 3 == 2,
                                    .torsion = k % 2 == 1 };
        makeCase(&sample, &tower, (uint64_t)k);
        double* W = caseMatrix(&sample);
        tpMatrix matrix = tpDenseMatrix(sample.rows, sample.rows, W);
        for (int form = 0; form < 2; ++form) {
            tpFrictionProblem problem = sample.problem;
            problem.bodies = form == 0 ? sample.problem.bodies : NULL;
            problem.W = form == 0 ? NULL : &matrix;
            memset(r, 0, sizeof r);
            tpSolveReport report;
            tpFrictionOptions options = tpDefaultFrictionOptions();
            options.workLimit = 1e9;
            assert_int_equal(interior->solve(&problem, &options, memory, r, NULL, &report),
                             tp_solved);
            tpFrictionResidual judged;
            assert_true(tpFriction_Judge(&sample.problem, r, sample.u, memory, &judged));
            assert_true(judged.natural <= 1e-8);
        }
        free(W);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(cornersOfABoxAtRestAllCarry),
                                        cmocka_unit_test(towersAreSolvedFromTheMiddle) };
    return cmocka_run_group_tests(tests, start, stop);
}
