// The friction problem around its solvers: checks, the judge, memory that runs out, the global
// form.

#include "friction_cases.h"

#include "support/check.h"
#include "support/failing_allocator.h"

static FrictionCase sample;

static const CaseOptions tower = { .bodies = 6,
                                   .componentCount = 6,
                                   .patch = 4,
                                   .massRatio = 10.0,
                                   .muLow = 0.2,
                                   .muHigh = 0.8,
                                   .joints = true };

// The example of the header.
static void testExample(void** unused) {
    (void)unused;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    double values[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, q[3] = { -1.0, 2.0, 0.0 }, mu[1] = { 0.5 };
    tpMatrix W = tpDenseMatrix(3, 3, values);
    tpFrictionProblem problem = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
    double r[3] = { 0 }, u[3];
    tpSolveReport report;
    assert_int_equal(tpFriction_Solve(&problem, NULL, memory, r, u, &report), tp_solved);
    double expectedR[3] = { 1.0, -0.5, 0.0 }, expectedU[3] = { 0.0, 1.5, 0.0 };
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(r[i], expectedR[i], 1e-14);
        CHECK_NEAR(u[i], expectedU[i], 1e-14);
    }
    tpDestroySolverMemory(memory);
}

// Residuals that can be worked out by hand: W = 2, so rho = 1/2.
static void testJudge(void** unused) {
    (void)unused;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    double values[9] = { 2, 0, 0, 0, 2, 0, 0, 0, 2 }, q[3] = { -3.0, 4.0, 0.0 }, mu[1] = { 1.0 };
    tpMatrix W = tpDenseMatrix(3, 3, values);
    tpFrictionProblem problem = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
    double r[3] = { 0 }, u[3];
    tpFrictionResidual residual;
    // r = 0: u_hat = (-3 + 4, 4, 0), P_K(-(1, 4, 0) / 2) = (0.75, -0.75, 0) for mu = 1.
    assert_true(tpFriction_Judge(&problem, r, u, memory, &residual));
    CHECK_NEAR(residual.velocity, 2.0 * 0.75 * sqrt(2.0), 1e-14);
    CHECK_NEAR(residual.natural, residual.velocity / 5.0, 1e-15);
    CHECK_NEAR(residual.plain, 1.5 * sqrt(2.0) / 5.0, 1e-14);
    CHECK_NEAR(residual.separation, 3.0, 0.0);
    // Sliding: r = (1.5, -1.5, 0), u = (0, 1, 0) is the solution.
    double solution[3] = { 1.5, -1.5, 0.0 };
    assert_true(tpFriction_Judge(&problem, solution, u, memory, &residual));
    CHECK_NEAR(residual.natural, 0.0, 1e-15);
    CHECK_NEAR(residual.dissipation, 0.0, 1e-15);
    CHECK_NEAR(residual.cone, 0.0, 1e-15);
    // A load where nothing presses: the map is that load, beside the largest of q, r and u.
    double load[3] = { 30.0, 0.0, 0.0 };
    assert_true(tpFriction_Judge(&problem, load, u, memory, &residual)); // u = (57, 4, 0)
    CHECK_NEAR(residual.plain, 30.0 / hypot(57.0, 4.0), 1e-14);
    CHECK_NEAR(residual.separation, 0.0, 0.0);
    CHECK_NEAR(residual.complementarity, 30.0 * 57.0, 1e-11);
    // The same load just stops what approaches, but not the slip: u = (0, 4, 0) with W = 1/10,
    // rho = 10, whose columns are listed or not.
    double tenths[9] = { 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 }, listed[3] = { 0.1, 0.1, 0.1 };
    int starts[4] = { 0, 1, 2, 3 }, places[3] = { 0, 1, 2 };
    tpMatrix dense = tpDenseMatrix(3, 3, tenths), sparse = dense;
    sparse.columnStarts = starts;
    sparse.rowIndices = places;
    sparse.values = listed;
    for (int k = 0; k < 2; ++k) {
        problem.W = k == 0 ? &dense : &sparse;
        assert_true(tpFriction_Judge(&problem, load, u, memory, &residual));
        CHECK_NEAR(residual.plain, hypot(4.0, 4.0) / 30.0, 1e-14); // u_hat itself is missing
        CHECK_NEAR(residual.velocity, hypot(15.0, 15.0) / 10.0, 1e-14);
        CHECK_NEAR(residual.natural, residual.velocity / 5.0, 1e-15);
        CHECK_NEAR(residual.dissipation, 30.0 * 4.0, 1e-12);
    }
    problem.W = &W;
    // What is not finite is infinitely wrong.
    double broken[3] = { NAN, 0.0, 0.0 };
    assert_true(tpFriction_Judge(&problem, broken, u, memory, &residual));
    assert_true(isinf(residual.natural) && isinf(residual.plain));
    // And a start that is not finite is no start.
    assert_int_equal(tpFriction_Solve(&problem, NULL, memory, broken, u, NULL), tp_solved);
    CHECK_NEAR(broken[0], 1.5, 1e-12);
    tpDestroySolverMemory(memory);
}

static void testChecks(void** unused) {
    (void)unused;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    double values[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, q[3] = { -1.0, 2.0, 0.0 }, mu[1] = { 0.5 };
    double r[3] = { 0 }, u[3];
    tpMatrix W = tpDenseMatrix(3, 3, values);
    tpFrictionProblem good = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
    tpError error;
    assert_int_equal(tpFriction_Check(&good, &error), tp_success);
    tpFrictionProblem bad = good;
    bad.dimension = TP_FRICTION_MAX_ROWS + 1;
    assert_int_equal(tpFriction_Check(&bad, &error), tp_badInput);
    bad = good;
    bad.dimension = 2;
    assert_int_equal(tpFriction_Check(&bad, &error), tp_badInput);
    bad = good;
    bad.W = NULL;
    assert_int_equal(tpFriction_Check(&bad, &error), tp_badInput);
    mu[0] = -0.1;
    assert_int_equal(tpFriction_Check(&good, &error), tp_badInput);
    assert_int_equal(tpFriction_Solve(&good, NULL, memory, r, u, NULL), tp_badProblem);
    mu[0] = 0.5;
    values[4] = INFINITY;
    assert_int_equal(tpFriction_Check(&good, &error), tp_badInput);
    values[4] = 1.0;
    q[1] = NAN;
    assert_int_equal(tpFriction_Solve(&good, NULL, memory, r, u, NULL), tp_badProblem);
    tpFrictionProblem empty = { 0 };
    assert_int_equal(tpFriction_Solve(&empty, NULL, memory, r, u, NULL), tp_solved);
    tpDestroySolverMemory(memory);
}

// Nothing to push against: a contact between fixed bodies that closes has no solution, and is not
// said to have one.
static void testImmovable(void** unused) {
    (void)unused;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    double values[9] = { 0 }, q[3] = { -1.0, 0.0, 0.0 }, mu[1] = { 0.5 }, r[3] = { 0 }, u[3];
    tpMatrix W = tpDenseMatrix(3, 3, values);
    tpFrictionProblem problem = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
    tpSolveReport report;
    assert_int_not_equal(tpFriction_Solve(&problem, NULL, memory, r, u, &report), tp_solved);
    assert_true(report.residual > 1e-8 && isfinite(r[0]));
    q[0] = 1.0;
    memset(r, 0, sizeof r);
    assert_int_equal(tpFriction_Solve(&problem, NULL, memory, r, u, &report), tp_solved);
    tpDestroySolverMemory(memory);
}

// Every request refused in turn: an honest status, nothing lost. And once warm, nothing is asked
// for.
static void testMemory(void** unused) {
    (void)unused;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    int refusals = 0;
    makeCase(&sample, &tower, 7);
    for (int n = 1; n < 1000; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        heap.failAllAfter = n % 2 == 0;
        tpSolverMemory* memory = tpCreateSolverMemory(&allocator);
        memset(sample.r, 0, sizeof sample.r);
        if (memory != NULL) {
            tpSolveStatus status =
                tpFriction_Solve(&sample.problem, NULL, memory, sample.r, sample.u, NULL);
            // A refusal while the memory is tidied up afterwards does not touch the answer.
            assert_true(status == tp_solverOutOfMemory || status == tp_solved);
            refusals += status == tp_solverOutOfMemory;
        }
        tpDestroySolverMemory(memory);
        assert_int_equal(heap.outstanding, 0);
        if (heap.requests < n) {
            break;
        }
        assert_int_not_equal(n, 999);
    }
    assert_true(refusals > 0);
    heap.failAt = 0;
    tpSolverMemory* memory = tpCreateSolverMemory(&allocator);
    for (int k = 0; k < 3; ++k) {
        memset(sample.r, 0, sizeof sample.r);
        long long before = heap.requests;
        assert_int_equal(tpFriction_Solve(&sample.problem, NULL, memory, sample.r, NULL, NULL),
                         tp_solved);
        if (k == 2) {
            assert_int_equal(heap.requests, before);
        }
    }
    tpDestroySolverMemory(memory);
    assert_int_equal(heap.outstanding, 0);
}

// M v = f + H r with the bodies' masses and H = J^T is the same problem.
static void testGlobal(void** unused) {
    (void)unused;
    makeCase(&sample, &tower, 3);
    int rows = sample.rows, n = sample.bodies.bodyCount * 6;
    double* W = caseMatrix(&sample);
    double* M = calloc((size_t)(n * n), sizeof(double));
    double* H = calloc((size_t)(n * rows), sizeof(double));
    double* f = calloc((size_t)n, sizeof(double));
    double* w = calloc((size_t)rows, sizeof(double));
    for (int i = 0; i < n; ++i) {
        double inverse = sample.inverseMass[i * 6 + i % 6];
        M[i + i * n] = 1.0 / inverse;
        f[i] = sample.freeVelocity[i] / inverse;
    }
    for (int b = 0, row = 0; b < sample.problem.blockCount; ++b) {
        for (int k = 0; k < sample.dimensions[b]; ++k, ++row) {
            for (int a = 0; a < 6; ++a) {
                if (sample.bodyA[b] >= 0) {
                    H[sample.bodyA[b] * 6 + a + row * n] += sample.jacobianA[row * 6 + a];
                }
                if (sample.bodyB[b] >= 0) {
                    H[sample.bodyB[b] * 6 + a + row * n] += sample.jacobianB[row * 6 + a];
                }
            }
        }
    }
    tpMatrix mass = tpDenseMatrix(n, n, M), jacobian = tpDenseMatrix(n, rows, H);
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpFrictionGlobal reduced;
    tpError error;
    for (int attempt = 1; attempt < 1000; ++attempt) {
        heap.requests = 0;
        heap.failAt = attempt;
        tpResult result =
            tpFriction_ReduceGlobal(&mass, &jacobian, f, w, &allocator, &reduced, &error);
        if (result == tp_success) {
            break;
        }
        assert_int_equal(result, tp_outOfMemory);
        assert_int_equal(heap.outstanding, 0);
    }
    double* x = calloc((size_t)rows, sizeof(double));
    double* column = calloc((size_t)rows, sizeof(double));
    for (int j = 0; j < rows; ++j) {
        x[j] = 1.0;
        tpMatrix_Multiply(&reduced.W, x, NULL, column);
        x[j] = 0.0;
        for (int i = 0; i < rows; ++i) {
            CHECK_NEAR(column[i], W[i + j * rows], 1e-12);
        }
        CHECK_NEAR(reduced.q[j], sample.q[j], 1e-12);
    }
    tpFrictionGlobal_Destroy(&reduced);
    assert_int_equal(heap.outstanding, 0);
    M[0] = 0.0;
    assert_int_equal(tpFriction_ReduceGlobal(&mass, &jacobian, f, w, NULL, &reduced, &error),
                     tp_badInput);
    free(W);
    free(M);
    free(H);
    free(f);
    free(w);
    free(x);
    free(column);
}

// Joints with compliance: u + C r = 0 in a free block.
static void testCompliance(void** unused) {
    (void)unused;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    double inverse[1] = { 1.0 }, JA[1] = { 1.0 }, JB[1] = { 0.0 }, q[1] = { -2.0 }, C[1] = { 3.0 };
    int bodyA[1] = { 0 }, bodyB[1] = { -1 };
    unsigned char kinds[1] = { tp_frictionFree };
    tpFrictionBodies bodies = { .bodyCount = 1,
                                .componentCount = 1,
                                .inverseMass = inverse,
                                .bodyA = bodyA,
                                .bodyB = bodyB,
                                .jacobianA = JA,
                                .jacobianB = JB };
    tpFrictionProblem problem = {
        .blockCount = 1, .dimension = 1, .kinds = kinds, .q = q, .compliance = C, .bodies = &bodies
    };
    double r[1] = { 0 }, u[1];
    assert_int_equal(tpFriction_Solve(&problem, NULL, memory, r, u, NULL), tp_solved);
    CHECK_NEAR(r[0], 0.5, 1e-8);
    CHECK_NEAR(u[0], 0.0, 1e-8);
    tpDestroySolverMemory(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testExample),    cmocka_unit_test(testJudge),
        cmocka_unit_test(testChecks),     cmocka_unit_test(testImmovable),
        cmocka_unit_test(testMemory),     cmocka_unit_test(testGlobal),
        cmocka_unit_test(testCompliance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
