// Newton's method on small dense problems: by the judge, and r as it was if it does not get there.

#include "complementarity/friction_solvers.h"
#include "complementarity/solver.h"
#include "friction_cases.h"
#include "solver_memory.h"
#include "support/check.h"

enum { mostBlocks = 40, mostRows = 90 };

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

// The problem of rows that move `width` velocities by G: contacts, then drives, whose first row is
// their load.
static tpFrictionProblem poseDriven(int rows, int contacts, int drives, const double* G,
                                    int width) {
    for (int i = 0; i < rows * rows; ++i) {
        S[i] = 0.0;
        for (int k = 0; k < width; ++k) {
            S[i] += G[i / rows * width + k] * G[i % rows * width + k];
        }
    }
    for (int row = 3 * contacts; row < rows; row += 2) {
        S[row * rows + row] = 1.0;
    }
    matrix = tpDenseMatrix(rows, rows, S);
    return (tpFrictionProblem){ .blockCount = contacts + drives,
                                .dimensions = dimensions,
                                .kinds = kinds,
                                .mu = mu,
                                .q = q,
                                .W = &matrix };
}

// Contacts of a body, and drives: cones of two rows, whose normal rows touch nothing and have an
// impulse of one. `chain` of the drives act on the same few velocities, as friction in the joints
// of gears does.
static tpFrictionProblem makeDriven(uint64_t seed, int contacts, int drives, int chain) {
    static FrictionCase random;
    static double G[mostRows][mostRows + 6];
    random.state = 88172645463325252u + 15485863u * seed;
    int rows = 0;
    memset(G, 0, sizeof(G));
    for (int b = 0; b < contacts + drives; ++b) {
        bool isDrive = b >= contacts;
        kinds[b] = tp_frictionCone;
        dimensions[b] = isDrive ? 2 : 3;
        mu[b] = isDrive ? caseUniform(&random, 0.0, 0.1) : caseUniform(&random, 0.3, 1.0);
        for (int i = 0; i < dimensions[b]; ++i, ++rows) {
            bool isLoad = isDrive && i == 0;
            q[rows] = isLoad ? -1.0 : caseUniform(&random, -1.0, isDrive ? 1.0 : 0.1);
            int from = isDrive && b < contacts + chain ? mostRows : 0;
            for (int k = from; !isLoad && k < mostRows + 3; ++k) {
                G[rows][k] = caseUniform(&random, -1.0, 1.0) + (rows == k ? 5.0 : 0.0);
            }
        }
    }
    return poseDriven(rows, contacts, drives, &G[0][0], mostRows + 6);
}

// What is left of a robot: contacts, and far more drives, some of which slip, some hold, and some
// cannot be told apart.
static void drivesAreSolved(void** state) {
    (void)state;
    int solved = 0, atBound = 0, holding = 0, steps;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        int contacts = 1 + (int)(seed % 3), drives = 28 + (int)(seed % 9);
        tpFrictionProblem problem = makeDriven(seed, contacts, drives, (int)(seed % 7));
        memset(r, 0, sizeof(r));
        if (!solveDense(&problem, &steps)) {
            continue;
        }
        solved += 1;
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
        CHECK_BELOW(residual.velocity, 1e-11);
        for (int b = contacts, row = 3 * contacts; b < problem.blockCount; ++b, row += 2) {
            assert_true(r[row] == 1.0 && fabs(r[row + 1]) <= mu[b] * (1.0 + 1e-12));
            atBound += fabs(r[row + 1]) >= mu[b];
            holding += fabs(r[row + 1]) < 0.99 * mu[b] && fabs(u[row + 1]) < 1e-11;
        }
    }
    assert_true(solved >= 95 && atBound > 200 && holding > 200);
}

// A plate on a floor, and under a ceiling that leaves it no room by `squeeze`, beside a drive: gaps
// may be changed by the slack so that they agree, and by no more.
static void gapsAreMadeToAgree(void** state) {
    (void)state;
    enum { rows = 8 };
    double W[rows * rows] = { 0 }, changes[rows], work = 0.0;
    for (int i = 0; i < 36; ++i) {
        double sign = i / 6 % 3 == 0 && i / 6 != i % 6 ? -1.0 : 1.0;
        W[i / 6 * rows + i % 6] = i / 6 % 3 == i % 3 ? sign : 0.0;
    }
    W[6 * rows + 6] = W[7 * rows + 7] = 1.0;
    matrix = tpDenseMatrix(rows, rows, W);
    const double squeezes[] = { 1e-9, 1e-7 };
    for (int k = 0; k < 2; ++k) {
        double closing[rows] = { -1.0, 0.0, 0.0, 1.0 - squeezes[k], 0.0, 0.0, -1.0, 0.3 };
        tpFrictionProblem problem = { .blockCount = 3,
                                      .dimensions = (int[]){ 3, 3, 2 },
                                      .kinds = (unsigned char[]){ tp_frictionCone, tp_frictionCone,
                                                                  tp_frictionCone },
                                      .mu = (double[]){ 0.5, 0.5, 0.1 },
                                      .q = closing,
                                      .W = &matrix };
        int steps = 0;
        memset(changes, 0, sizeof(changes));
        memset(r, 0, sizeof(r));
        tpSmallSolve small = {
            .tolerance = 1e-13, .limit = 30, .workLimit = 1e9, .slack = 1e-8, .shift = changes
        };
        bool isSolved = tpFriction_SolveDense(&problem, &small, &memory->arena, r, &steps, &work);
        assert_true(isSolved == (k == 0));
        for (int i = 0; i < rows; ++i) {
            assert_true(fabs(changes[i]) <= (k == 0 ? squeezes[k] : 0.0));
            closing[i] += changes[i];
        }
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
        assert_true(k == 1 || residual.velocity <= 1e-11);
    }
}

// Two soles of eight corners each under a body, on drives: each corner shares its load in many
// ways, and gaps contradict each other by `apart`.
static tpFrictionProblem makeSoles(uint64_t seed, int drives, double apart) {
    enum { corners = 8, velocities = 12 };
    static FrictionCase random;
    static double G[mostRows][velocities + 6];
    random.state = 88172645463325252u + 32452843u * seed;
    int contacts = 2 * corners, rows = 0;
    memset(G, 0, sizeof(G));
    for (int b = 0; b < contacts; ++b) {
        double x = 0.1 * caseUniform(&random, -1.0, 1.0),
               y = 0.05 * caseUniform(&random, -1.0, 1.0);
        double arms[3][6] = { { 0, 0, 1, y, -x, 0 }, { 1, 0, 0, 0, 0, -y }, { 0, 1, 0, 0, 0, x } };
        kinds[b] = tp_frictionCone;
        dimensions[b] = 3;
        mu[b] = 0.6;
        for (int i = 0; i < 3; ++i, ++rows) {
            memcpy(G[rows] + 6 * (b / corners), arms[i], sizeof(arms[i]));
            q[rows] = i == 0 ? -0.05 + apart * caseUniform(&random, -1.0, 1.0) : 0.01;
        }
    }
    for (int b = contacts; b < contacts + drives; ++b) {
        kinds[b] = tp_frictionCone;
        dimensions[b] = 2;
        mu[b] = caseUniform(&random, 0.0, 0.02);
        q[rows++] = -1.0;
        for (int k = 0; k < velocities + 6; ++k) {
            G[rows][k] = caseUniform(&random, -1.0, 1.0);
        }
        q[rows++] = caseUniform(&random, -0.02, 0.02);
    }
    return poseDriven(rows, contacts, drives, &G[0][0], velocities + 6);
}

// A robot on its soles: what gaps contradict each other by is taken up within the slack, and what
// is left is solved.
static void solesAreSolved(void** state) {
    (void)state;
    static double changes[mostRows];
    int solved = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
        const double aparts[] = { 1e-10, 1e-8, 1e-7 };
        tpFrictionProblem problem = makeSoles(seed, 4 + (int)(seed % 17), aparts[seed % 3]);
        double work = 0.0;
        int steps = 0;
        memset(changes, 0, sizeof(changes));
        memset(r, 0, sizeof(r));
        tpSmallSolve small = {
            .tolerance = 1e-13, .limit = 30, .workLimit = 1e9, .slack = 2e-6, .shift = changes
        };
        if (!tpFriction_SolveDense(&problem, &small, &memory->arena, r, &steps, &work)) {
            continue;
        }
        solved += 1;
        for (int i = 0; i < problem.W->rowCount; ++i) {
            assert_true(fabs(changes[i]) <= 2e-6);
            q[i] += changes[i];
        }
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
        CHECK_BELOW(residual.velocity, 1e-11);
    }
    assert_true(solved > 70); // without contacts that give 66
}

// Problems of another kind are left alone.
static void othersAreLeft(void** state) {
    (void)state;
    int steps;
    memset(r, 0, sizeof(r));
    tpFrictionProblem problem = makeDense(3, 4);
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
        cmocka_unit_test(smallProblemsAreSolved), cmocka_unit_test(drivesAreSolved),
        cmocka_unit_test(gapsAreMadeToAgree),     cmocka_unit_test(solesAreSolved),
        cmocka_unit_test(othersAreLeft),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
