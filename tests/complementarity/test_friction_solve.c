// Friction problems by the hundred, solved by the portfolio and judged: random towers with
// redundant contacts, mass ratios up to 10^4, joints, limits and torsion, with W and by bodies.
// What must not matter does not: units, order of contacts, doubling of contacts.
//
// TIPPE_FRICTION_CASES multiplies the number of cases (default 1; less where code is slow, without
// optimisation or under a sanitizer).

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "friction_cases.h"

static FrictionCase sample;
static tpSolverMemory* memory;

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double usualCases = 0.15;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const double usualCases = 0.15;
#else
static const double usualCases = 1.0;
#endif
#else
static const double usualCases = 1.0;
#endif

static int caseCount(int base) {
    const char* factor = getenv("TIPPE_FRICTION_CASES");
    double times = factor != NULL ? atof(factor) : usualCases;
    return (int)fmax(1.0, base * times);
}

static int setUp(void** unused) {
    (void)unused;
    memory = tpCreateSolverMemory(NULL);
    return memory == NULL;
}

static int tearDown(void** unused) {
    (void)unused;
    tpDestroySolverMemory(memory);
    return 0;
}

static const CaseOptions families[] = {
    { .bodies = 3, .componentCount = 6, .patch = 1, .massRatio = 1.0, .muLow = 0.1, .muHigh = 0.5 },
    { .bodies = 6,
      .componentCount = 6,
      .patch = 4,
      .massRatio = 10.0,
      .muLow = 0.2,
      .muHigh = 0.8 },
    { .bodies = 6, .componentCount = 6, .patch = 8, .massRatio = 1e4, .muLow = 0.3, .muHigh = 1.0 },
    { .bodies = 8,
      .componentCount = 6,
      .patch = 4,
      .massRatio = 100.0,
      .muHigh = 0.8,
      .joints = true,
      .limits = true },
    { .bodies = 6,
      .componentCount = 6,
      .patch = 4,
      .massRatio = 100.0,
      .muLow = 0.2,
      .muHigh = 0.8,
      .joints = true,
      .limits = true,
      .torsion = true },
    { .bodies = 10,
      .componentCount = 3,
      .patch = 3,
      .massRatio = 100.0,
      .muLow = 0.2,
      .muHigh = 0.9,
      .joints = true,
      .limits = true },
};

// Solves from zero and checks the report against the judge.
static void solveAndJudge(const tpFrictionProblem* problem, int rows, double* r, double* u) {
    tpSolveReport report;
    memset(r, 0, sizeof(double) * (size_t)rows);
    tpSolveStatus status = tpFriction_Solve(problem, NULL, memory, r, u, &report);
    tpFrictionResidual judged;
    assert_true(tpFriction_Judge(problem, r, u, memory, &judged));
    assert_int_equal(status, tp_solved);
    assert_true(judged.natural <= 1e-8);
    assert_true(judged.natural == report.residual && judged.plain == report.plainResidual);
    assert_true(report.stageCount >= 1);
}

static void testByBodies(void** unused) {
    (void)unused;
    for (int f = 0; f < (int)(sizeof families / sizeof *families); ++f) {
        for (int k = 0; k < caseCount(100); ++k) {
            makeCase(&sample, &families[f], (uint64_t)(1000 * f + k));
            solveAndJudge(&sample.problem, sample.rows, sample.r, sample.u);
        }
    }
}

// Sums of n products are off by at most n eps of the sum of their sizes; the
// judge divides by |q|. Cases that jam have impulses of 1e5.
static double roundingOf(const FrictionCase* c, const double* W) {
    double largest = 0.0, square = 0.0;
    for (int i = 0; i < c->rows; ++i) {
        double sum = fabs(c->problem.q[i]);
        for (int j = 0; j < c->rows; ++j) {
            sum += fabs(W[i * c->rows + j] * c->r[j]);
        }
        largest = fmax(largest, sum);
        square += c->problem.q[i] * c->problem.q[i];
    }
    return c->rows * DBL_EPSILON * largest / sqrt(square);
}

static void testWithMatrix(void** unused) {
    (void)unused;
    for (int f = 0; f < (int)(sizeof families / sizeof *families); ++f) {
        for (int k = 0; k < caseCount(40); ++k) {
            makeCase(&sample, &families[f], (uint64_t)(1000 * f + k));
            double* values = caseMatrix(&sample);
            tpMatrix W = tpDenseMatrix(sample.rows, sample.rows, values);
            tpFrictionProblem problem = sample.problem;
            problem.W = &W;
            problem.bodies = NULL;
            solveAndJudge(&problem, sample.rows, sample.r, sample.u);
            // The other form of the same problem says the same of this r, but for the rounding of
            // W r + q.
            double bound = roundingOf(&sample, values);
            tpFrictionResidual byBodies, withMatrix;
            static double u[CASE_ROWS];
            assert_true(tpFriction_Judge(&sample.problem, sample.r, u, memory, &byBodies));
            assert_true(tpFriction_Judge(&problem, sample.r, u, memory, &withMatrix));
            assert_float_equal(byBodies.natural, withMatrix.natural, bound);
            assert_float_equal(byBodies.plain, withMatrix.plain, bound);
            free(values);
        }
    }
}

// Every solver on its own either solves or says that it did not; none worsens what it was given.
static void testEverySolver(void** unused) {
    (void)unused;
    int count = 0;
    const tpFrictionSolver* solvers = tpFrictionSolvers(&count);
    for (int s = 0; s < count; ++s) {
        assert_ptr_equal(tpFrictionSolver_Find(solvers[s].name), &solvers[s]);
        int solved = 0, cases = caseCount(20);
        for (int k = 0; k < cases; ++k) {
            makeCase(&sample, &families[0], (uint64_t)k);
            tpFrictionOptions options = tpDefaultFrictionOptions();
            options.iterationLimit = 2000;
            tpSolveReport report;
            tpSolveStatus status =
                solvers[s].solve(&sample.problem, &options, memory, sample.r, sample.u, &report);
            assert_int_equal(status == tp_solved, report.residual <= 1e-8);
            solved += status == tp_solved;
            tpFrictionResidual judged;
            assert_true(tpFriction_Judge(&sample.problem, sample.r, sample.u, memory, &judged));
            assert_true(judged.natural <= 1.0);
            double before = judged.natural;
            options.iterationLimit = 1;
            solvers[s].solve(&sample.problem, &options, memory, sample.r, NULL, &report);
            assert_true(report.residual <= before * (1.0 + 1e-9) + 1e-15);
        }
        // Plain Gauss-Seidel is the weakest, and gets some.
        assert_true(solved > 0);
        if (strcmp(solvers[s].name, "proximal") == 0 || strcmp(solvers[s].name, "auto") == 0) {
            assert_int_equal(solved, cases);
        }
    }
    assert_null(tpFrictionSolver_Find("no such solver"));
}

// With all contacts sticking or the convex case, u is unique: mu = 0 makes it so.
static void testUniqueVelocities(void** unused) {
    (void)unused;
    CaseOptions smooth = families[1];
    smooth.muLow = smooth.muHigh = 0.0;
    smooth.joints = true;
    static double u[CASE_ROWS];
    for (int k = 0; k < caseCount(50); ++k) {
        makeCase(&sample, &smooth, (uint64_t)k);
        double* values = caseMatrix(&sample);
        tpMatrix W = tpDenseMatrix(sample.rows, sample.rows, values);
        tpFrictionProblem problem = sample.problem;
        problem.W = &W;
        problem.bodies = NULL;
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-12;
        assert_int_equal(tpFriction_Solve(&problem, &options, memory, sample.r, sample.u, NULL),
                         tp_solved);
        memset(sample.r, 0, sizeof sample.r);
        assert_int_equal(tpFriction_Solve(&sample.problem, &options, memory, sample.r, u, NULL),
                         tp_solved);
        for (int i = 0; i < sample.rows; ++i) {
            assert_float_equal(u[i], sample.u[i], 1e-9);
        }
        free(values);
    }
}

// Kilograms into grams: W grows by 1000, r falls by it, the residual and u stay.
static void testUnits(void** unused) {
    (void)unused;
    static double r[CASE_ROWS], u[CASE_ROWS];
    for (int k = 0; k < caseCount(20); ++k) {
        makeCase(&sample, &families[2], (uint64_t)k);
        solveAndJudge(&sample.problem, sample.rows, sample.r, sample.u);
        for (size_t i = 0; i < sizeof sample.inverseMass / sizeof(double); ++i) {
            sample.inverseMass[i] *= 1024.0;
        }
        memset(r, 0, sizeof r);
        assert_int_equal(tpFriction_Solve(&sample.problem, NULL, memory, r, u, NULL), tp_solved);
        for (int i = 0; i < sample.rows; ++i) {
            // A power of four scales every rounding alike: the same bits.
            assert_true(u[i] == sample.u[i]);
            assert_true(r[i] * 1024.0 == sample.r[i]);
        }
    }
}

// A contact given twice shares its impulse between the two. Halves of a solution solve the doubled
// problem, and the sums of a solution of that solve the first.
static void testDuplication(void** unused) {
    (void)unused;
    static FrictionCase twice;
    for (int k = 0; k < caseCount(50); ++k) {
        makeCase(&sample, &families[k % 2], (uint64_t)k);
        twice = sample;
        twice.bodies.inverseMass = twice.inverseMass;
        twice.bodies.bodyA = twice.bodyA;
        twice.bodies.bodyB = twice.bodyB;
        twice.bodies.jacobianA = twice.jacobianA;
        twice.bodies.jacobianB = twice.jacobianB;
        twice.problem.bodies = &twice.bodies;
        twice.problem.dimensions = twice.dimensions;
        twice.problem.kinds = twice.kinds;
        twice.problem.mu = twice.mu;
        twice.problem.scale = twice.scale;
        twice.problem.q = twice.q;
        // Rows of the copies follow those of the originals.
        int blocks = sample.problem.blockCount, rows = sample.rows;
        twice.problem.blockCount = 2 * blocks;
        twice.rows = 2 * rows;
        for (int b = 0; b < blocks; ++b) {
            twice.dimensions[blocks + b] = sample.dimensions[b];
            twice.kinds[blocks + b] = sample.kinds[b];
            twice.mu[blocks + b] = sample.mu[b];
            twice.bodyA[blocks + b] = sample.bodyA[b];
            twice.bodyB[blocks + b] = sample.bodyB[b];
        }
        for (int i = 0; i < rows; ++i) {
            twice.q[rows + i] = sample.q[i];
            twice.scale[rows + i] = sample.scale[i];
        }
        memcpy(twice.jacobianA + rows * 6, sample.jacobianA, sizeof(double) * 6 * (size_t)rows);
        memcpy(twice.jacobianB + rows * 6, sample.jacobianB, sizeof(double) * 6 * (size_t)rows);

        solveAndJudge(&sample.problem, rows, sample.r, sample.u);
        for (int i = 0; i < rows; ++i) {
            twice.r[i] = twice.r[rows + i] = 0.5 * sample.r[i];
        }
        tpFrictionResidual judged;
        assert_true(tpFriction_Judge(&twice.problem, twice.r, twice.u, memory, &judged));
        assert_true(judged.natural <= 2e-8);
        solveAndJudge(&twice.problem, 2 * rows, twice.r, twice.u);
        for (int i = 0; i < rows; ++i) {
            sample.r[i] = twice.r[i] + twice.r[rows + i];
        }
        assert_true(tpFriction_Judge(&sample.problem, sample.r, sample.u, memory, &judged));
        assert_true(judged.natural <= 4e-8);
    }
}

// Blocks in reverse order: another path, the same verdict.
static void testPermutation(void** unused) {
    (void)unused;
    static double W[400 * 400], q[400], mu[200], r[400], u[400];
    for (int k = 0; k < caseCount(40); ++k) {
        CaseOptions options = families[1];
        options.bodies = 4;
        makeCase(&sample, &options, (uint64_t)k);
        double* values = caseMatrix(&sample);
        int n = sample.problem.blockCount, rows = sample.rows;
        assert_true(rows <= 400);
        for (int a = 0; a < n; ++a) {
            mu[a] = sample.mu[n - 1 - a];
            for (int i = 0; i < 3; ++i) {
                int row = 3 * a + i, from = 3 * (n - 1 - a) + i;
                q[row] = sample.q[from];
                for (int j = 0; j < rows; ++j) {
                    int source = 3 * (n - 1 - j / 3) + j % 3;
                    W[row + j * rows] = values[from + source * rows];
                }
            }
        }
        tpMatrix matrix = tpDenseMatrix(rows, rows, W);
        tpFrictionProblem problem = {
            .blockCount = n, .dimension = 3, .mu = mu, .q = q, .W = &matrix
        };
        solveAndJudge(&problem, rows, r, u);
        free(values);
    }
}

// Unsymmetric W, as implicit gyroscopic terms make it.
static void testUnsymmetric(void** unused) {
    (void)unused;
    for (int k = 0; k < caseCount(60); ++k) {
        makeCase(&sample, &families[1], (uint64_t)k);
        double* values = caseMatrix(&sample);
        int rows = sample.rows;
        for (int b = 0; b < rows / 3; ++b) {
            // A skew part on the diagonal blocks keeps W positive.
            double skew = 0.03 * values[3 * b + 3 * b * rows] * caseUniform(&sample, -1.0, 1.0);
            for (int i = 0; i < 3; ++i) {
                int j = (i + 1) % 3;
                values[3 * b + i + (3 * b + j) * rows] += skew;
                values[3 * b + j + (3 * b + i) * rows] -= skew;
            }
        }
        tpMatrix W = tpDenseMatrix(rows, rows, values);
        tpFrictionProblem problem = sample.problem;
        problem.W = &W;
        problem.bodies = NULL;
        solveAndJudge(&problem, rows, sample.r, sample.u);
        free(values);
    }
}

// Two runs, the second in memory that is already there: the same bits.
static void testRepeats(void** unused) {
    (void)unused;
    static double r[CASE_ROWS];
    for (int k = 0; k < caseCount(10); ++k) {
        makeCase(&sample, &families[3], (uint64_t)k);
        tpFriction_Solve(&sample.problem, NULL, memory, sample.r, NULL, NULL);
        memset(r, 0, sizeof r);
        tpSolverMemory* fresh = tpCreateSolverMemory(NULL);
        tpFriction_Solve(&sample.problem, NULL, fresh, r, NULL, NULL);
        tpDestroySolverMemory(fresh);
        assert_memory_equal(r, sample.r, sizeof(double) * (size_t)sample.rows);
    }
}

// With a goal that rounding puts out of reach, a residual that will do ends the solve as solved,
// for no more work than without it; the answer is at least as good as was asked.
static void testEnough(void** unused) {
    (void)unused;
    double spent = 0.0, spentWithout = 0.0;
    for (int k = 0; k < caseCount(10); ++k) {
        makeCase(&sample, &families[2], (uint64_t)k);
        double size = 0.0;
        for (int i = 0; i < sample.rows; ++i) {
            size += sample.problem.q[i] * sample.problem.q[i];
        }
        size = sqrt(size);
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-18;
        options.workLimit = 1e9;
        tpSolveReport report;
        static double r[CASE_ROWS];
        memset(r, 0, sizeof r);
        assert_int_not_equal(tpFriction_Solve(&sample.problem, &options, memory, r, NULL, &report),
                             tp_solved);
        spentWithout += report.work;
        options.enough = 1e-6 * size;
        assert_int_equal(
            tpFriction_Solve(&sample.problem, &options, memory, sample.r, NULL, &report),
            tp_solved);
        spent += report.work;
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&sample.problem, sample.r, sample.u, memory, &residual));
        assert_true(residual.velocity <= options.enough);
    }
    assert_true(spent <= spentWithout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testByBodies),    cmocka_unit_test(testWithMatrix),
        cmocka_unit_test(testEverySolver), cmocka_unit_test(testUniqueVelocities),
        cmocka_unit_test(testUnits),       cmocka_unit_test(testDuplication),
        cmocka_unit_test(testPermutation), cmocka_unit_test(testUnsymmetric),
        cmocka_unit_test(testRepeats),     cmocka_unit_test(testEnough),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
