// Nonlinear complementarity by callbacks: problems with known solutions, bounds, free variables.

#include <math.h>
#include <string.h>

#include "solver_memory.h"
#include "support/check.h"
#include "tippe/lcp.h"

// Kojima and Shindo's problem [KojimaShindo86]: two solutions, one of them degenerate.
static bool kojimaShindo(const double* x, double* F, void* context) {
    (void)context;
    double a = x[0], b = x[1], c = x[2], d = x[3];
    F[0] = 3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6;
    F[1] = 2 * a * a + a + b * b + 10 * c + 2 * d - 2;
    F[2] = 3 * a * a + a * b + 2 * b * b + 2 * c + 9 * d - 9;
    F[3] = a * a + 3 * b * b + 2 * c + 3 * d - 3;
    return true;
}

static bool kojimaShindoJacobian(const double* x, double* J, void* context) {
    (void)context;
    double a = x[0], b = x[1];
    const double rows[4][4] = { { 6 * a + 2 * b, 2 * a + 4 * b, 1, 3 },
                                { 4 * a + 1, 2 * b, 10, 2 },
                                { 6 * a + b, a + 4 * b, 2, 9 },
                                { 2 * a, 6 * b, 2, 3 } };
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            J[i + 4 * j] = rows[i][j];
        }
    }
    return true;
}

static void solvesKojimaShindo(void** state) {
    (void)state;
    tpRandom random = { 31 };
    tpNcp ncp = { .n = 4,
                  .scale = 1.0,
                  .evaluate = kojimaShindo,
                  .jacobian = kojimaShindoJacobian,
                  .jacobianPattern = tpDenseMatrix(4, 4, NULL) };
    const double solutions[2][4] = { { sqrt(6.0) / 2.0, 0.0, 0.0, 0.5 }, { 1.0, 0.0, 3.0, 0.0 } };
    for (int trial = 0; trial < 200; ++trial) {
        double z[4], distance[2] = { 0.0, 0.0 };
        for (int i = 0; i < 4; ++i) {
            z[i] = trial == 0 ? 0.0 : randomBetween(&random, 0.0, 4.0);
        }
        tpSolveReport report;
        tpSolveStatus status = tpNcp_Solve(&ncp, NULL, memory, z, &report);
        if (status != tp_solved) {
            fail_msg("trial %d: %s, residual %g", trial, tpSolveStatus_Name(status),
                     report.residual);
        }
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 4; ++i) {
                distance[k] = fmax(distance[k], fabs(z[i] - solutions[k][i]));
            }
        }
        // The residual falls with the square of the distance at the degenerate one.
        CHECK_BELOW(fmin(distance[0], distance[1]), 1e-4);
    }
}

// Smooth equations only: all variables free, a system with the root (1, 2).
static bool circleAndLine(const double* x, double* F, void* context) {
    (void)context;
    F[0] = x[0] * x[0] + x[1] * x[1] - 5.0;
    F[1] = x[1] - 2.0 * x[0];
    return true;
}

static bool circleAndLineJacobian(const double* x, double* J, void* context) {
    (void)context;
    J[0] = 2.0 * x[0]; // column 0: rows 0, 1
    J[1] = -2.0;
    J[2] = 2.0 * x[1];
    J[3] = 1.0;
    return true;
}

static void solvesEquations(void** state) {
    (void)state;
    static const int starts[] = { 0, 2, 4 }, rows[] = { 0, 1, 0, 1 };
    bool isFree[] = { true, true };
    tpNcp ncp = { .n = 2,
                  .isFree = isFree,
                  .evaluate = circleAndLine,
                  .jacobian = circleAndLineJacobian,
                  .jacobianPattern = tpSparseMatrix(2, 2, starts, rows, NULL) };
    double z[] = { 3.0, 1.0 };
    tpSolveReport report;
    assert_int_equal(tpNcp_Solve(&ncp, NULL, memory, z, &report), tp_solved);
    CHECK_NEAR(z[0], 1.0, 1e-8);
    CHECK_NEAR(z[1], 2.0, 1e-8);
}

// A logarithm, defined for z > 0 only, with lower bounds: z_i >= l_i, F_i = log z_i - c_i. The
// solution is max(l_i, exp c_i). Long steps leave the domain; the search has to come back.
typedef struct Logs {
    double c[5];
} Logs;

static bool logs(const double* z, double* F, void* context) {
    const Logs* problem = context;
    for (int i = 0; i < 5; ++i) {
        if (!(z[i] > 0.0)) {
            return false;
        }
        F[i] = log(z[i]) - problem->c[i];
    }
    return true;
}

static bool logsJacobian(const double* z, double* J, void* context) {
    (void)context;
    for (int i = 0; i < 5; ++i) {
        J[i] = 1.0 / z[i];
    }
    return true;
}

static void keepsInsideTheDomain(void** state) {
    (void)state;
    static const int starts[] = { 0, 1, 2, 3, 4, 5 }, rows[] = { 0, 1, 2, 3, 4 };
    tpRandom random = { 32 };
    for (int trial = 0; trial < 100; ++trial) {
        Logs problem;
        double z[5], lower[5];
        for (int i = 0; i < 5; ++i) {
            problem.c[i] = randomBetween(&random, -3.0, 3.0);
            lower[i] = randomBetween(&random, 0.01, 5.0);
            z[i] = randomBetween(&random, 0.1, 30.0);
        }
        tpNcp ncp = { .n = 5,
                      .lower = lower,
                      .scale = 1.0,
                      .evaluate = logs,
                      .jacobian = logsJacobian,
                      .jacobianPattern = tpSparseMatrix(5, 5, starts, rows, NULL),
                      .context = &problem };
        tpSolveReport report;
        assert_int_equal(tpNcp_Solve(&ncp, NULL, memory, z, &report), tp_solved);
        for (int i = 0; i < 5; ++i) {
            CHECK_NEAR(z[i], fmax(lower[i], exp(problem.c[i])), 1e-6);
        }
    }
}

// Both Newton functions, alone and with a monotone search.
static void newtonVariantsAgree(void** state) {
    (void)state;
    double values[] = { 4.0, -1.0, 0.0, -1.0, 4.0, -1.0, 0.0, -1.0, 4.0 };
    double q[] = { -3.0, 2.0, -5.0 };
    tpLcp lcp = { .n = 3, .M = tpDenseMatrix(3, 3, values), .q = q };
    for (int k = 0; k < 4; ++k) {
        tpNewtonOptions options = tpDefaultNewtonOptions();
        double z[3];
        options.function = k % 2 == 0 ? tp_fischerBurmeister : tp_naturalMap;
        options.memoryLength = k < 2 ? 1 : 8;
        assert_int_equal(tpLcp_SolveNewton(&lcp, &options, memory, z, NULL), tp_solved);
        // Rows 1 and 3 are tight: 4 z_1 - z_2 = 3, 4 z_3 - z_2 = 5, and w_2 = 4 z_2 - z_1 - z_3 +
        // 2 = 0 would need z_2 = 0: all three hold with z = (3/4, 0, 5/4) and w_2 = 0.
        CHECK_NEAR(z[0], 0.75, 1e-7);
        CHECK_NEAR(z[1], 0.0, 1e-7);
        CHECK_NEAR(z[2], 1.25, 1e-7);
    }
}

// An unsolvable equation is reported, not answered: x^2 + 1 = 0.
static bool noRoot(const double* x, double* F, void* context) {
    (void)context;
    F[0] = x[0] * x[0] + 1.0;
    return true;
}

static bool noRootJacobian(const double* x, double* J, void* context) {
    (void)context;
    J[0] = 2.0 * x[0];
    return true;
}

static void admitsFailure(void** state) {
    (void)state;
    bool isFree[] = { true };
    tpNcp ncp = { .n = 1,
                  .isFree = isFree,
                  .scale = 1.0,
                  .evaluate = noRoot,
                  .jacobian = noRootJacobian,
                  .jacobianPattern = tpDenseMatrix(1, 1, NULL) };
    double z[] = { 2.0 };
    tpSolveReport report;
    tpSolveStatus status = tpNcp_Solve(&ncp, NULL, memory, z, &report);
    assert_true(status != tp_solved);
    assert_true(report.residual >= 1.0 && isfinite(z[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesKojimaShindo),   cmocka_unit_test(solvesEquations),
        cmocka_unit_test(keepsInsideTheDomain), cmocka_unit_test(newtonVariantsAgree),
        cmocka_unit_test(admitsFailure),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
