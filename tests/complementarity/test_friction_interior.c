// Interior points: towers of few contacts against the portfolio, and feet with six rows on which
// the matrix is all but singular, with solutions that are known.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "friction_cases.h"

static FrictionCase sample;
static tpSolverMemory* memory;
static const tpFrictionSolver* interior;

static int setUp(void** unused) {
    (void)unused;
    interior = tpFrictionSolver_Find("interior");
    memory = tpCreateSolverMemory(NULL);
    return memory == NULL || interior == NULL;
}

static int tearDown(void** unused) {
    (void)unused;
    tpDestroySolverMemory(memory);
    return 0;
}

static void smallTowersAreSolvedToRounding(void** unused) {
    (void)unused;
    const CaseOptions tower = {
        .bodies = 3, .componentCount = 6, .patch = 1, .massRatio = 1.0, .muLow = 0.1, .muHigh = 0.5
    };
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-12;
    for (int k = 0; k < 50; ++k) {
        makeCase(&sample, &tower, (uint64_t)k);
        tpSolveReport report;
        assert_int_equal(
            interior->solve(&sample.problem, &options, memory, sample.r, sample.u, &report),
            tp_solved);
        assert_true(report.residual <= 1e-12);
        assert_true(report.iterations <= 20);
        // From its solution it has nothing to do.
        interior->solve(&sample.problem, &options, memory, sample.r, NULL, &report);
        assert_int_equal(report.iterations, 0);
    }
}

enum { feet = 4, footRows = 6, rowCount = feet * footRows };

// W = sum of e_k v_k v_k' over orthonormal v_k, with eigenvalues from one down to `least`.
static void makeMatrix(FrictionCase* c, double least, double* W) {
    static double v[rowCount][rowCount];
    memset(W, 0, sizeof(double) * rowCount * rowCount);
    for (int k = 0; k < rowCount; ++k) {
        for (int i = 0; i < rowCount; ++i) {
            v[k][i] = caseUniform(c, -1.0, 1.0);
        }
        for (int pass = 0; pass < 2; ++pass) {
            for (int j = 0; j < k; ++j) {
                double along = 0.0;
                for (int i = 0; i < rowCount; ++i) {
                    along += v[j][i] * v[k][i];
                }
                for (int i = 0; i < rowCount; ++i) {
                    v[k][i] -= along * v[j][i];
                }
            }
        }
        double norm = 0.0;
        for (int i = 0; i < rowCount; ++i) {
            norm += v[k][i] * v[k][i];
        }
        double value = pow(least, (double)k / (rowCount - 1));
        for (int i = 0; i < rowCount; ++i) {
            v[k][i] /= sqrt(norm);
        }
        for (int i = 0; i < rowCount; ++i) {
            for (int j = 0; j < rowCount; ++j) {
                W[i + j * rowCount] += value * v[k][i] * v[k][j];
            }
        }
    }
}

// Two feet stick, one creeps at 1e-8 on the border of its cone, one is in the air.
static void makeSolution(FrictionCase* c, double mu, double* r, double* u) {
    memset(r, 0, sizeof(double) * rowCount);
    memset(u, 0, sizeof(double) * rowCount);
    for (int f = 0; f < feet; ++f) {
        double *force = r + f * footRows, *slip = u + f * footRows, norm = 0.0;
        if (f == 3) {
            slip[0] = 0.3;
            slip[1] = 0.1;
            continue;
        }
        force[0] = 1.0;
        for (int i = 1; i < footRows; ++i) {
            force[i] = caseUniform(c, -1.0, 1.0);
            norm += force[i] * force[i];
        }
        for (int i = 1; i < footRows; ++i) {
            force[i] *= mu / sqrt(norm) * (f < 2 ? 0.6 : 1.0);
            slip[i] = f < 2 ? 0.0 : -1e-8 * force[i];
        }
    }
}

static void feetThatHardlyYieldAreSolved(void** unused) {
    (void)unused;
    static double W[rowCount * rowCount];
    double r[rowCount], u[rowCount], q[rowCount], start[rowCount], found[rowCount];
    const double mu[feet] = { 0.7, 0.7, 0.7, 0.7 };
    const double leasts[] = { 1e-4, 1e-9, 1e-12 };
    for (int k = 0; k < 30; ++k) {
        sample.state = (uint64_t)(k + 1) * 7919u;
        makeMatrix(&sample, leasts[k % 3], W);
        makeSolution(&sample, mu[0], r, u);
        for (int i = 0; i < rowCount; ++i) {
            q[i] = u[i];
            for (int j = 0; j < rowCount; ++j) {
                q[i] -= W[i + j * rowCount] * r[j];
            }
        }
        tpMatrix matrix = tpDenseMatrix(rowCount, rowCount, W);
        tpFrictionProblem problem = {
            .blockCount = feet, .dimension = footRows, .mu = mu, .q = q, .W = &matrix
        };
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-11;
        tpSolveReport report;
        memset(start, 0, sizeof start);
        assert_int_equal(interior->solve(&problem, &options, memory, start, found, &report),
                         tp_solved);
        assert_true(report.iterations <= 60);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(smallTowersAreSolvedToRounding),
                                        cmocka_unit_test(feetThatHardlyYieldAreSolved) };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
