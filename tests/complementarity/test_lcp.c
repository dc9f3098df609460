// The judge of linear problems, their checks, the table of solvers.

#include <math.h>
#include <string.h>

#include "solver_memory.h"
#include "support/check.h"
#include "tippe/complementarity.h"

static void judgesByTheNaturalMap(void** state) {
    (void)state;
    double values[] = { 2.0, 1.0, 1.0, 2.0 };
    double q[] = { -5.0, -6.0 };
    tpLcp lcp = { .n = 2, .M = tpDenseMatrix(2, 2, values), .q = q };
    double solution[] = { 4.0 / 3.0, 7.0 / 3.0 };
    double plain, w[2];
    CHECK_BELOW(tpLcp_Residual(&lcp, solution, NULL, memory, &plain), 1e-15);
    // z = (3, 0): w = (1, -3), so min(z, w) = (1, -3); |q|_inf is 6.
    double other[] = { 3.0, 0.0 };
    CHECK_NEAR(tpLcp_Residual(&lcp, other, w, memory, &plain), 0.5, 1e-15);
    CHECK_NEAR(plain, 3.0, 1e-15);
    CHECK_NEAR(w[0], 1.0, 1e-15);
    CHECK_NEAR(w[1], -3.0, 1e-15);
    // Where z is free, w counts alone.
    bool isFree[] = { false, true };
    lcp.isFree = isFree;
    double negative[] = { 0.0, -1.0 }; // w = (-6, -8)
    CHECK_NEAR(tpLcp_Residual(&lcp, negative, NULL, memory, &plain), 8.0 / 6.0, 1e-15);
    double bad[] = { 0.0, NAN };
    assert_true(isinf(tpLcp_Residual(&lcp, bad, NULL, memory, &plain)));
    assert_true(isinf(plain));
}

static void denseAndSparseProductsAgree(void** state) {
    (void)state;
    double dense[] = { 1.0, 0.0, 4.0, 0.0, 3.0, -2.0 }; // 3 x 2
    int starts[] = { 0, 2, 4 };
    int rows[] = { 2, 0, 1, 2 };
    double values[] = { 4.0, 1.0, 3.0, -2.0 };
    tpMatrix A = tpDenseMatrix(3, 2, dense);
    tpMatrix B = tpSparseMatrix(3, 2, starts, rows, values);
    double x[] = { 2.0, -1.0 }, b[] = { 1.0, 1.0, 1.0 }, y[3], z[3], u[2], v[2];
    const double product[] = { 3.0, -2.0, 11.0 }, transposed[] = { 47.0, -28.0 };
    tpMatrix_Multiply(&A, x, b, y);
    tpMatrix_Multiply(&B, x, b, z);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(y[i], product[i], 0.0);
        CHECK_NEAR(z[i], y[i], 0.0);
    }
    tpMatrix_MultiplyTransposed(&A, y, NULL, u);
    tpMatrix_MultiplyTransposed(&B, y, NULL, v);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR(u[i], transposed[i], 0.0);
        CHECK_NEAR(v[i], u[i], 0.0);
    }
}

static double radiusOf(const tpLcp* lcp, double y1, double y2) {
    return tpLcp_InfeasibilityRadius(lcp, (double[]){ y1, y2 }, memory);
}

static void measuresCertificates(void** state) {
    (void)state;
    // Row 2 is zero and q_2 < 0: y = (0, 1) proves that nothing is feasible.
    double values[] = { 1.0, 0.0, 0.0, 0.0 };
    double q[] = { 1.0, -1.0 };
    tpLcp lcp = { .n = 2, .M = tpDenseMatrix(2, 2, values), .q = q };
    assert_true(isinf(radiusOf(&lcp, 0.0, 1.0)));
    // A negative entry is no certificate; nor is one whose q'y is not negative.
    CHECK_NEAR(radiusOf(&lcp, -1.0, 1.0), 0.0, 0.0);
    CHECK_NEAR(radiusOf(&lcp, 1.0, 1.0), 0.0, 0.0);
    // With M_22 = 1e-3 the problem is feasible from z_2 = 1000 on, and y says just that.
    values[3] = 1e-3;
    CHECK_NEAR(radiusOf(&lcp, 0.0, 1.0), 1000.0, 1e-9);
}

static void refusesBadProblems(void** state) {
    (void)state;
    double values[] = { 1.0, 0.0, 0.0, NAN };
    double q[] = { -1.0, -1.0 }, z[2];
    int starts[] = { 0, 1, 2 }, rows[] = { 0, 5 };
    tpLcp bad[] = {
        { .n = 2, .M = tpDenseMatrix(2, 2, values), .q = q },
        { .n = 2, .M = tpDenseMatrix(1, 2, values), .q = q },
        { .n = 2, .M = tpSparseMatrix(2, 2, starts, rows, values), .q = q },
        { .n = 1, .M = tpDenseMatrix(1, 1, values), .q = (double[]){ INFINITY } },
    };
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int s = 0; s < count; ++s) {
        for (size_t p = 0; p < sizeof(bad) / sizeof(bad[0]); ++p) {
            tpSolveReport report;
            assert_int_equal(solvers[s].solve(&bad[p], 1e-8, memory, z, &report), tp_badProblem);
            assert_int_equal(report.status, tp_badProblem);
        }
    }
}

// Each solver of the table on problems of one variable, whose answers are known by eye.
static void solvesOneVariable(void** state) {
    (void)state;
    struct {
        double M, q, z;
    } cases[] = { { 2.0, -3.0, 1.5 }, { 2.0, 3.0, 0.0 }, { 1.0, 0.0, 0.0 }, { 1e-6, -1e3, 1e9 } };
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    assert_string_equal(solvers[0].name, "auto");
    for (int s = 0; s < count; ++s) {
        assert_ptr_equal(tpLcpSolver_Find(solvers[s].name), &solvers[s]);
        for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); ++c) {
            tpLcp lcp = { .n = 1, .M = tpDenseMatrix(1, 1, &cases[c].M), .q = &cases[c].q };
            double z = -1.0;
            tpSolveReport report;
            tpSolveStatus status = solvers[s].solve(&lcp, 1e-8, memory, &z, &report);
            if (strcmp(solvers[s].name, "lagged") == 0) {
                assert_int_equal(status, tp_notApplicable); // there is nothing to lag
                continue;
            }
            assert_int_equal(status, tp_solved);
            CHECK_NEAR(z, cases[c].z, 1e-8 * fmax(1.0, cases[c].z));
            assert_true(report.stageCount >= 1);
        }
    }
    assert_null(tpLcpSolver_Find("simplex"));
}

static void emptyProblemsAreSolved(void** state) {
    (void)state;
    double nothing = 0.0;
    tpLcp lcp = { .n = 0, .M = tpDenseMatrix(0, 0, &nothing), .q = &nothing };
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int s = 0; s < count; ++s) {
        tpSolveReport report;
        tpSolveStatus status = solvers[s].solve(&lcp, 1e-8, memory, &nothing, &report);
        assert_true(status == tp_solved || status == tp_notApplicable);
    }
}

// A ray says nothing; a certificate does; a problem that is feasible has none.
static void tellsRaysFromInfeasibility(void** state) {
    (void)state;
    double z[3];
    tpSolveReport report;
    double zeroRow[] = { 1.0, 0.0, 2.0, 0.0 };
    double q2[] = { -1.0, -1.0 };
    tpLcp lcp = { .n = 2, .M = tpDenseMatrix(2, 2, zeroRow), .q = q2 };
    assert_int_equal(tpLcp_SolveLemke(&lcp, NULL, memory, z, &report), tp_secondaryRay);
    assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, &report), tp_infeasible);
    // M = -1, q = 1 is solved by 0 and by 1; M = -1, q = -1 by nothing.
    double minusOne = -1.0, one = 1.0;
    lcp = (tpLcp){ .n = 1, .M = tpDenseMatrix(1, 1, &minusOne), .q = &one };
    assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, &report), tp_solved);
    lcp.q = &minusOne;
    assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, &report), tp_infeasible);
    // Feasible but without a solution: w_1 = z_2 - 1 >= 0 makes z_2 positive, and w_2 = 1.
    double values[] = { 0.0, 0.0, 1.0, 0.0 };
    double q3[] = { -1.0, 1.0 };
    lcp = (tpLcp){ .n = 2, .M = tpDenseMatrix(2, 2, values), .q = q3 };
    tpSolveStatus status = tpLcp_Solve(&lcp, NULL, memory, z, &report);
    assert_true(status != tp_infeasible && status != tp_solved);
}

// Huge but exact solutions are not called infeasible.
static void hugeIsNotInfeasible(void** state) {
    (void)state;
    enum { n = 64 };
    static double values[n * n], q[n], z[n];
    for (int j = 0; j < n; ++j) {
        q[j] = -1.0 - 0.01 * j;
        for (int i = 0; i < n; ++i) {
            values[i + j * n] = i == j ? 1.0 : (j > i ? -1.0 : 0.0);
        }
    }
    tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, values), .q = q };
    tpSolveReport report;
    tpSolveStatus status = tpLcp_Solve(&lcp, NULL, memory, z, &report);
    assert_true(status != tp_infeasible);
    assert_true((status == tp_solved) == (report.residual <= 1e-8));
}

// Entries of M that are small are entries: the solution lies beyond their reciprocals. By rows 0
// and 3 and the free row 2, with z_1 = 0: z_2 = 2 z_3 + 13 / 8, z_2 + z_3 = 16 / 1.5e-8, and z_0 is
// what row 3 then lacks over 4e-9.
static void farIsNotInfeasible(void** state) {
    (void)state;
    double values[] = { 0.0,    0.008,  0.0, 4e-9, 0.0,    0.0, 0.0,   0.0,
                        1.5e-8, 1.5e-8, 8.0, 4.5,  1.5e-8, 9.0, -16.0, -16.0 };
    double q[] = { -16.0, -16.0, -13.0, 2.0 };
    bool isFree[] = { false, false, true, false };
    double z3 = (16.0 / 1.5e-8 - 13.0 / 8.0) / 3.0, z2 = 2.0 * z3 + 13.0 / 8.0;
    double solution[] = { (16.0 * z3 - 4.5 * z2 - 2.0) / 4e-9, 0.0, z2, z3 };
    tpLcp lcp = { .n = 4, .M = tpDenseMatrix(4, 4, values), .q = q, .isFree = isFree };
    assert_true(tpLcp_Residual(&lcp, solution, NULL, memory, NULL) < 1e-6);
    double z[4];
    tpSolveReport report;
    assert_int_not_equal(tpLcp_Solve(&lcp, NULL, memory, z, &report), tp_infeasible);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judgesByTheNaturalMap),      cmocka_unit_test(denseAndSparseProductsAgree),
        cmocka_unit_test(measuresCertificates),       cmocka_unit_test(refusesBadProblems),
        cmocka_unit_test(solvesOneVariable),          cmocka_unit_test(emptyProblemsAreSolved),
        cmocka_unit_test(tellsRaysFromInfeasibility), cmocka_unit_test(hugeIsNotInfeasible),
        cmocka_unit_test(farIsNotInfeasible),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
