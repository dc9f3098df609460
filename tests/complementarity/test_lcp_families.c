// Families of LCPs by formula that defeat one solver or another, and problems with planted
// solutions.
//
// Murty's and Fathi's matrices make Lemke's path exponentially long for a right-hand side of powers
// of two [Murty78; Fathi79]; Csizmadia's has an exponential handicap, with q = e - M e as it is
// used.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver_memory.h"
#include "support/check.h"
#include "tippe/lcp.h"

typedef double (*Entry)(int i, int j);

static double murtyUpper(int i, int j) {
    return i == j ? 1.0 : (j > i ? 2.0 : 0.0);
}

static double murtyLower(int i, int j) {
    return murtyUpper(j, i);
}

static double fathi(int i, int j) {
    return i == j ? 4.0 * i + 1.0 : 4.0 * (i < j ? i : j) + 2.0;
}

static double csizmadia(int i, int j) {
    return i == j ? 1.0 : (j < i ? -1.0 : 0.0);
}

static double tridiagonal(int i, int j) {
    return i == j ? 2.0 : (abs(i - j) == 1 ? -1.0 : 0.0);
}

static void fill(Entry entry, int n, double* values) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            values[i + j * n] = entry(i, j);
        }
    }
}

// Right-hand sides: all minus one, powers of two, at random.
static void fillRightSide(int kind, int n, tpRandom* random, double* q) {
    for (int i = 0; i < n; ++i) {
        q[i] = kind == 0   ? -1.0
               : kind == 1 ? -ldexp(1.0, n < 40 ? n - i : 40 - i)
                           : randomBetween(random, -1.0, 0.5);
    }
}

static void solvesExponentialFamilies(void** state) {
    (void)state;
    static double values[128 * 128], q[128], z[128];
    const Entry families[] = { murtyUpper, murtyLower, fathi, tridiagonal };
    const int sizes[] = { 2, 4, 8, 10, 16, 20, 32, 50, 64, 100, 128 };
    tpRandom random = { 21 };
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); ++f) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
            for (int kind = 0; kind < 3; ++kind) {
                int n = sizes[s];
                fill(families[f], n, values);
                fillRightSide(kind, n, &random, q);
                tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, values), .q = q };
                tpSolveReport report;
                tpSolveStatus status = tpLcp_Solve(&lcp, NULL, memory, z, &report);
                if (status != tp_solved || !(report.residual <= 1e-8)) {
                    fail_msg("family %zu, n %d, q %d: %s, residual %g", f, n, kind,
                             tpSolveStatus_Name(status), report.residual);
                }
                CHECK_BELOW(report.seconds, 5.0);
            }
        }
    }
}

// The closed form of Murty's problem with q = -e is one unit vector: the last for the upper
// triangle.
static void knowsMurtysSolution(void** state) {
    (void)state;
    static double values[100 * 100], q[100], z[100];
    for (int n = 5; n <= 100; n += 19) {
        fill(murtyUpper, n, values);
        fillRightSide(0, n, NULL, q);
        tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, values), .q = q };
        assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, NULL), tp_solved);
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(z[i], i == n - 1 ? 1.0 : 0.0, 1e-8);
        }
    }
}

// q = e - M e >= 0 makes zero the solution; q = -e makes it the powers of two, as far as doubles
// hold them.
static void solvesCsizmadia(void** state) {
    (void)state;
    static double values[100 * 100], q[100], z[100];
    for (int n = 5; n <= 100; n += 19) {
        fill(csizmadia, n, values);
        for (int i = 0; i < n; ++i) {
            q[i] = (double)i;
        }
        tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, values), .q = q };
        assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, NULL), tp_solved);
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(z[i], 0.0, 1e-8);
            q[i] = -1.0;
        }
        if (n <= 30) {
            assert_int_equal(tpLcp_Solve(&lcp, NULL, memory, z, NULL), tp_solved);
            for (int i = 0; i < n; ++i) {
                CHECK_NEAR(z[i], ldexp(1.0, i), 1e-6 * ldexp(1.0, i));
            }
        }
    }
}

// Planted solutions ---------------------------------------------------------------------------

typedef struct Planted {
    int n;
    double values[40 * 40];
    double q[40];
    double z[40];
    bool isFree[40];
} Planted;

// M general or positive semidefinite of low rank with a skew part; free variables among them.
static void plant(Planted* planted, tpRandom* random, int n, bool isMonotone, bool isMixed) {
    double factor[40][40];
    int rank = 1 + (int)(randomBits(random) % (uint64_t)n);
    planted->n = n;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            factor[i][j] = randomBits(random) % 3 == 0 ? 0.0 : randomBetween(random, -1.0, 1.0);
        }
        planted->isFree[i] = isMixed && randomBits(random) % 2 == 0;
        planted->z[i] = planted->isFree[i] ? randomBetween(random, -1.0, 1.0)
                                           : fmax(0.0, randomBetween(random, -1.0, 1.0));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double value = isMonotone ? 0.5 * (factor[i][j] - factor[j][i]) : factor[i][j];
            for (int k = 0; isMonotone && k < rank; ++k) {
                value += factor[k][i] * factor[k][j];
            }
            planted->values[i + j * n] = value;
        }
    }
    for (int i = 0; i < n; ++i) {
        bool isPositive = planted->z[i] > 0.0 || planted->isFree[i];
        planted->q[i] = isPositive ? 0.0 : fmax(0.0, randomBetween(random, -0.3, 1.0));
        for (int j = 0; j < n; ++j) {
            planted->q[i] -= planted->values[i + j * n] * planted->z[j];
        }
    }
}

static void checkPlanted(const Planted* planted, bool byLemke, int trial) {
    double z[40];
    tpLcp lcp = { .n = planted->n,
                  .M = tpDenseMatrix(planted->n, planted->n, planted->values),
                  .q = planted->q,
                  .isFree = planted->isFree };
    tpSolveReport report;
    tpSolveStatus status = byLemke ? tpLcp_SolveLemke(&lcp, NULL, memory, z, &report)
                                   : tpLcp_Solve(&lcp, NULL, memory, z, &report);
    if (status != tp_solved) {
        fail_msg("trial %d, n %d: %s, residual %g", trial, planted->n, tpSolveStatus_Name(status),
                 report.residual);
    }
    CHECK_BELOW(tpLcp_Residual(&lcp, z, NULL, memory, NULL), 1.0000001e-8);
}

// Lemke alone solves everything monotone, with any free variables and any rank.
static void lemkeSolvesMonotoneProblems(void** state) {
    (void)state;
    static Planted planted;
    tpRandom random = { 22 };
    for (int trial = 0; trial < 1000; ++trial) {
        plant(&planted, &random, 2 + (int)(randomBits(&random) % 38), true, trial % 2 == 0);
        checkPlanted(&planted, true, trial);
    }
}

// The portfolio solves small ones of any kind.
static void portfolioSolvesSmallProblems(void** state) {
    (void)state;
    static Planted planted;
    tpRandom random = { 23 };
    for (int trial = 0; trial < 500; ++trial) {
        plant(&planted, &random, 2 + (int)(randomBits(&random) % 9), false, trial % 2 == 0);
        checkPlanted(&planted, false, trial);
    }
}

// Enumeration knows all solutions: where it finds none, no solver claims one.
static void nobodyInventsSolutions(void** state) {
    (void)state;
    tpRandom random = { 24 };
    int unsolvable = 0, infeasible = 0;
    for (int trial = 0; trial < 400; ++trial) {
        double values[36], q[6], z[6];
        int n = 2 + (int)(randomBits(&random) % 5);
        for (int k = 0; k < n * n; ++k) {
            values[k] = (double)((int)(randomBits(&random) % 5) - 3);
        }
        for (int k = 0; k < n; ++k) {
            q[k] = (double)((int)(randomBits(&random) % 5) - 3);
        }
        tpLcp lcp = { .n = n, .M = tpDenseMatrix(n, n, values), .q = q };
        bool hasSolution = tpLcp_SolveEnumeration(&lcp, NULL, memory, z, NULL) == tp_solved;
        tpSolveReport report;
        tpSolveStatus status = tpLcp_Solve(&lcp, NULL, memory, z, &report);
        assert_int_equal(status == tp_solved, hasSolution);
        unsolvable += !hasSolution;
        infeasible += status == tp_infeasible;
        if (status == tp_solved) {
            CHECK_BELOW(tpLcp_Residual(&lcp, z, NULL, memory, NULL), 1.0000001e-8);
        }
    }
    // The sample has all three kinds, or this test tests nothing.
    assert_true(unsolvable > infeasible && infeasible > 10 && unsolvable < 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesExponentialFamilies),
        cmocka_unit_test(knowsMurtysSolution),
        cmocka_unit_test(solvesCsizmadia),
        cmocka_unit_test(lemkeSolvesMonotoneProblems),
        cmocka_unit_test(portfolioSolvesSmallProblems),
        cmocka_unit_test(nobodyInventsSolutions),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
