// Newton's method on small dense problems: by the judge, and r as it was if it does not get there.

#include "complementarity/friction_solvers.h"
#include "complementarity/solver.h"
#include "friction_cases.h"
#include "solver_memory.h"
#include "support/check.h"

enum { mostBlocks = 30, mostRows = 90 };

static int dimensions[mostBlocks];
static unsigned char kinds[mostBlocks];
static double mu[mostBlocks], S[mostRows * mostRows], q[mostRows], r[mostRows], u[mostRows];
static tpMatrix matrix;

// Contacts and limits on a body with more velocities than they have rows: S = G G' has full rank.
static tpFrictionProblem makeDense(uint64_t seed, int blocks) {
    static FrictionCase random;
    static double G[mostRows][mostRows + 6];
    random.state = 88172645463325252u + 6271u * seed;
    int rows = 0;
    for (int b = 0; b < blocks; ++b) {
        bool isLimit = caseUniform(&random, 0.0, 1.0) < 0.2;
        kinds[b] = isLimit ? tp_frictionNonnegative : tp_frictionCone;
        dimensions[b] = isLimit ? 1 : 3;
        mu[b] = isLimit ? 0.0 : caseUniform(&random, 0.1, 1.0);
        for (int i = 0; i < dimensions[b]; ++i, ++rows) {
            q[rows] = caseUniform(&random, -1.0, i == 0 ? 0.3 : 1.0);
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < rows + 6; ++k) {
            G[i][k] = caseUniform(&random, -1.0, 1.0) + (i == k ? 3.0 : 0.0);
        }
    }
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) {
            S[i * rows + j] = 0.0;
            for (int k = 0; k < rows + 6; ++k) {
                S[i * rows + j] += G[i][k] * G[j][k];
            }
        }
    }
    matrix = tpDenseMatrix(rows, rows, S);
    return (tpFrictionProblem){ .blockCount = blocks,
                                .dimensions = dimensions,
                                .kinds = kinds,
                                .mu = mu,
                                .q = q,
                                .W = &matrix };
}

static bool solveDense(const tpFrictionProblem* problem, int* steps) {
    tpSmallSolve small = { .tolerance = 1e-13, .limit = 30, .workLimit = 1e9 };
    double work = 0.0;
    *steps = 0;
    bool isSolved = tpFriction_SolveDense(problem, &small, &memory->arena, r, steps, &work);
    assert_true(work >= 0.0 && (*steps == 0 || work > 0.0));
    return isSolved;
}

static void smallProblemsAreSolved(void** state) {
    (void)state;
    int solved = 0, open = 0, sliding = 0, sticking = 0, steps;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        tpFrictionProblem problem = makeDense(seed, 1 + (int)(seed % 12));
        memset(r, 0, sizeof(r));
        if (!solveDense(&problem, &steps)) {
            for (int i = 0; i < mostRows; ++i) {
                assert_true(r[i] == 0.0);
            }
            continue;
        }
        solved += 1;
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
        CHECK_BELOW(residual.velocity, 2e-13);
        for (int b = 0, row = 0; b < problem.blockCount; row += dimensions[b++]) {
            double slip = dimensions[b] == 3 ? hypot(u[row + 1], u[row + 2]) : 0.0;
            open += r[row] == 0.0;
            sliding += r[row] > 0.0 && slip > 1e-6;
            sticking += r[row] > 0.0 && slip < 1e-9;
        }
        // From the answer there is nothing to do.
        assert_true(solveDense(&problem, &steps));
        assert_int_equal(steps, 0);
    }
    assert_true(solved > 180 && open > 50 && sliding > 50 && sticking > 50);
}

// Problems of another kind are left alone.
static void othersAreLeft(void** state) {
    (void)state;
    int steps;
    memset(r, 0, sizeof(r));
    tpFrictionProblem problem = makeDense(3, 30);
    assert_false(solveDense(&problem, &steps));
    problem = makeDense(3, 4);
    kinds[2] = tp_frictionFree;
    assert_false(solveDense(&problem, &steps));
    assert_int_equal(steps, 0);
    // Contacts that press against each other have no answer: W = 0 there.
    double w[9] = { 0 }, closing[3] = { -1.0, 0.0, 0.0 };
    matrix = tpDenseMatrix(3, 3, w);
    problem = (tpFrictionProblem){ .blockCount = 1,
                                   .dimensions = (int[]){ 3 },
                                   .kinds = kinds,
                                   .mu = mu,
                                   .q = closing,
                                   .W = &matrix };
    kinds[0] = tp_frictionCone;
    assert_false(solveDense(&problem, &steps));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallProblemsAreSolved),
        cmocka_unit_test(othersAreLeft),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
