// Lemke's method, both of them, and the others beside it, on contact problems by the thousand.

#include "contact_problems.h"
#include "solver_memory.h"

// Fewer trials where the program runs slowly: a fifth under sanitizers, or as the environment says.
static int trials(int count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    double share = 0.2;
#elif defined(__has_feature)
    double share = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 0.2 : 1.0;
#else
    double share = 1.0;
#endif
    const char* given = getenv("TIPPE_TEST_SHARE");
    int scaled = (int)(count * (given != NULL ? atof(given) : share));
    return scaled > 1 ? scaled : 1;
}

static double* room(int n) {
    return calloc((size_t)n + 1, sizeof(double));
}

static void solvesRandomContactProblems(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 1 };
    for (int trial = 0; trial < trials(2000); ++trial) {
        int bodies = 1 + (int)(randomBits(&random) % 5);
        int contacts = 1 + (int)(randomBits(&random) % 10);
        int directions = (int[]){ 2, 4, 8 }[randomBits(&random) % 3];
        makeRandomProblem(&problem, &random, bodies, contacts, directions, 1.0);
        OwnedLcp owned = makeReducedLcp(&problem);
        double* z = room(owned.lcp.n);
        tpSolveReport report;
        tpSolveStatus status = tpLcp_SolveLemke(&owned.lcp, NULL, memory, z, &report);
        if (status != tp_solved) {
            fail_msg("trial %d, n %d: %s, residual %g after %d pivots", trial, owned.lcp.n,
                     tpSolveStatus_Name(status), report.residual, report.iterations);
        }
        // The judge again, from outside.
        CHECK_BELOW(tpLcp_Residual(&owned.lcp, z, NULL, memory, NULL), 1e-10);
        free(z);
        freeLcp(&owned);
    }
}

// What the paper's tableau finds also solves, and velocities agree where they are unique: without
// friction.
static void agreesWithTheTableau(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 2 };
    for (int trial = 0; trial < trials(500); ++trial) {
        int bodies = 1 + (int)(randomBits(&random) % 5);
        double muMax = trial % 2 == 0 ? 0.0 : 0.8;
        makeRandomProblem(&problem, &random, bodies, 1 + (int)(randomBits(&random) % 8), 4, muMax);
        OwnedLcp owned = makeReducedLcp(&problem);
        double* z = room(owned.lcp.n);
        double* y = room(owned.lcp.n);
        assert_int_equal(tpLcp_SolveLemke(&owned.lcp, NULL, memory, z, NULL), tp_solved);
        assert_int_equal(tpLcp_SolveLemkeTableau(&owned.lcp, NULL, memory, y, NULL), tp_solved);
        double v[maxBodies][6], u[maxBodies][6];
        velocitiesAfter(&problem, z, v);
        velocitiesAfter(&problem, y, u);
        for (int b = 0; muMax == 0.0 && b < bodies; ++b) {
            for (int e = 0; e < 6; ++e) {
                CHECK_NEAR(v[b][e], u[b][e], 1e-8);
            }
        }
        free(z);
        free(y);
        freeLcp(&owned);
    }
}

// M, J and velocities as a sparse mixed problem: same velocities without friction, and always a
// solution of the reduced problem.
static void mixedFormAgreesWithReducedForm(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 3 };
    for (int trial = 0; trial < trials(500); ++trial) {
        int bodies = 1 + (int)(randomBits(&random) % 6);
        double muMax = trial % 2 == 0 ? 0.0 : 0.8;
        makeRandomProblem(&problem, &random, bodies, 1 + (int)(randomBits(&random) % 10), 8, muMax);
        OwnedLcp mixed = makeMixedLcp(&problem);
        OwnedLcp reduced = makeReducedLcp(&problem);
        double* z = room(mixed.lcp.n);
        tpSolveReport report;
        assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, memory, z, &report), tp_solved);
        CHECK_BELOW(tpLcp_Residual(&reduced.lcp, z + 6 * bodies, NULL, memory, NULL), 1e-9);
        double v[maxBodies][6];
        velocitiesAfter(&problem, z + 6 * bodies, v);
        for (int b = 0; b < bodies; ++b) {
            for (int e = 0; e < 6; ++e) {
                CHECK_NEAR(z[6 * b + e], v[b][e], 1e-9);
            }
        }
        free(z);
        freeLcp(&mixed);
        freeLcp(&reduced);
    }
}

// Order of contacts, units of impulse and velocity: the solution mapped back solves the first
// problem.
static void permutationAndScalingChangeNothing(void** state) {
    (void)state;
    static ContactProblem problem, permuted;
    tpRandom random = { 4 };
    for (int trial = 0; trial < trials(300); ++trial) {
        int contacts = 2 + (int)(randomBits(&random) % 8);
        makeRandomProblem(&problem, &random, 3, contacts, 4, trial % 2 == 0 ? 0.0 : 0.7);
        permuted = problem;
        double unit = pow(10.0, randomBetween(&random, -4.0, 4.0));
        for (int c = 0; c < contacts; ++c) {
            int from = contacts - 1 - c;
            permuted.normal[c] = problem.normal[from];
            permuted.mu[c] = problem.mu[from];
            permuted.gap[c] = unit * problem.gap[from];
            memcpy(permuted.tangent[c], problem.tangent[from], sizeof(problem.tangent[c]));
        }
        for (int b = 0; b < 3; ++b) {
            for (int e = 0; e < 6; ++e) {
                permuted.velocity[b][e] *= unit;
                permuted.inverseMass[b][e] *= 1e3;
            }
        }
        OwnedLcp first = makeReducedLcp(&problem);
        OwnedLcp second = makeReducedLcp(&permuted);
        double* z = room(first.lcp.n);
        double* y = room(first.lcp.n);
        assert_int_equal(tpLcp_SolveLemke(&first.lcp, NULL, memory, z, NULL), tp_solved);
        tpLemkeOptions options = tpDefaultLemkeOptions();
        options.tolerance = 1e-12;
        assert_int_equal(tpLcp_SolveLemke(&second.lcp, &options, memory, y, NULL), tp_solved);
        double* back = room(first.lcp.n);
        for (int c = 0; c < contacts; ++c) {
            int to = contacts - 1 - c;
            back[to] = y[c] * 1e3 / unit;
            back[5 * contacts + to] = y[5 * contacts + c] / unit;
            for (int k = 0; k < 4; ++k) {
                back[contacts + 4 * to + k] = y[contacts + 4 * c + k] * 1e3 / unit;
            }
        }
        double residual = tpLcp_Residual(&first.lcp, back, NULL, memory, NULL);
        CHECK_BELOW(residual, 1e-8 * fmax(1.0, 1.0 / unit));
        double v[maxBodies][6], u[maxBodies][6];
        velocitiesAfter(&problem, z, v);
        velocitiesAfter(&problem, back, u);
        for (int b = 0; trial % 2 == 0 && b < 3; ++b) {
            for (int e = 0; e < 6; ++e) {
                CHECK_NEAR(v[b][e], u[b][e], 1e-7 * fmax(1.0, 1.0 / unit));
            }
        }
        free(z);
        free(y);
        free(back);
        freeLcp(&first);
        freeLcp(&second);
    }
}

// Every contact twice: the sums of the pairs' impulses solve the problem without copies.
static void duplicationOnlySplitsImpulses(void** state) {
    (void)state;
    static ContactProblem problem, doubled;
    tpRandom random = { 5 };
    for (int trial = 0; trial < trials(300); ++trial) {
        int nc = 1 + (int)(randomBits(&random) % 6);
        int nk = 4;
        makeRandomProblem(&problem, &random, 3, nc, nk, trial % 2 == 0 ? 0.0 : 0.7);
        doubled = problem;
        doubled.contactCount = 2 * nc;
        for (int c = 0; c < nc; ++c) {
            doubled.normal[nc + c] = problem.normal[c];
            doubled.mu[nc + c] = problem.mu[c];
            doubled.gap[nc + c] = problem.gap[c];
            memcpy(doubled.tangent[nc + c], problem.tangent[c], sizeof(problem.tangent[c]));
        }
        OwnedLcp single = makeReducedLcp(&problem);
        OwnedLcp twice = makeReducedLcp(&doubled);
        double* y = room(twice.lcp.n);
        double* z = room(single.lcp.n);
        assert_int_equal(tpLcp_SolveLemke(&twice.lcp, NULL, memory, y, NULL), tp_solved);
        double v[maxBodies][6];
        velocitiesAfter(&doubled, y, v);
        for (int c = 0; c < nc; ++c) {
            z[c] = y[c] + y[nc + c];
            double fastest = 0.0;
            for (int k = 0; k < nk; ++k) {
                z[nc + nk * c + k] = y[2 * nc + nk * c + k] + y[2 * nc + nk * (nc + c) + k];
                fastest = fmax(fastest, -rowTimesVelocity(&problem.tangent[c][k], v));
            }
            z[nc * (1 + nk) + c] = fastest;
        }
        CHECK_BELOW(tpLcp_Residual(&single.lcp, z, NULL, memory, NULL), 1e-9);
        free(y);
        free(z);
        freeLcp(&single);
        freeLcp(&twice);
    }
}

// Redundant and degenerate to the last row: stacks at rest, and pushed at the top.
static void solvesStacks(void** state) {
    (void)state;
    static ContactProblem problem;
    for (int boxes = 1; boxes <= 20; boxes = 2 * boxes + 1) {
        for (int push = 0; push < 2; ++push) {
            makeStack(&problem, boxes, 8, 0.5, push * 0.4);
            OwnedLcp reduced = makeReducedLcp(&problem);
            OwnedLcp mixed = makeMixedLcp(&problem);
            double* z = room(mixed.lcp.n);
            assert_int_equal(tpLcp_SolveLemke(&reduced.lcp, NULL, memory, z, NULL), tp_solved);
            assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, memory, z, NULL), tp_solved);
            // At rest nothing moves, and the lowest contacts carry all the weight.
            double weight = 0.0;
            for (int c = 0; c < 4; ++c) {
                weight += z[6 * boxes + c];
            }
            for (int j = 0; push == 0 && j < 6 * boxes; ++j) {
                CHECK_NEAR(z[j], 0.0, 1e-10);
            }
            CHECK_NEAR(weight, 0.0981 * boxes, 1e-9);
            free(z);
            freeLcp(&reduced);
            freeLcp(&mixed);
        }
    }
}

// Joints as equations, every one of them twice: the copies change nothing, and the equations hold.
static void redundantJointsAreHarmless(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 10 };
    for (int trial = 0; trial < trials(200); ++trial) {
        double first[6 * 4];
        makeRandomProblem(&problem, &random, 4, 6, 4, trial % 2 == 0 ? 0.0 : 0.5);
        for (int j = 0; j < 3; ++j) {
            tpVec3 arm = randomVec3(&random, -0.5, 0.5);
            problem.joint[j] = makeRow(j, j + 1, randomDirection(&random), arm, arm);
            problem.joint[3 + j] = problem.joint[j];
        }
        for (int copies = 1; copies <= 2; ++copies) {
            problem.jointCount = 3 * copies;
            OwnedLcp mixed = makeMixedLcp(&problem);
            double* z = room(mixed.lcp.n);
            assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, memory, z, NULL), tp_solved);
            double v[maxBodies][6];
            memcpy(v, z, sizeof(double) * 24);
            for (int j = 0; j < 3; ++j) {
                CHECK_NEAR(rowTimesVelocity(&problem.joint[j], v), 0.0, 1e-8);
            }
            for (int k = 0; k < 24; ++k) {
                if (copies == 2 && trial % 2 == 0) {
                    CHECK_NEAR(z[k], first[k], 1e-8);
                }
                first[k] = z[k];
            }
            free(z);
            freeLcp(&mixed);
        }
    }
}

// Lagged friction limits reach solutions of the same problems, and never claim one that is none.
static void laggedSolvesContactProblems(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 9 };
    int count = trials(300), solved = 0;
    for (int trial = 0; trial < count; ++trial) {
        makeRandomProblem(&problem, &random, 4, 1 + (int)(randomBits(&random) % 10), 4, 0.5);
        OwnedLcp owned = trial % 2 == 0 ? makeReducedLcp(&problem) : makeMixedLcp(&problem);
        double* z = room(owned.lcp.n);
        tpSolveReport report;
        tpSolveStatus status = tpLcp_SolveLagged(&owned.lcp, NULL, memory, z, &report);
        if (status == tp_solved) {
            CHECK_BELOW(tpLcp_Residual(&owned.lcp, z, NULL, memory, NULL), 1.0000001e-8);
        }
        // Without friction anywhere there is nothing to lag.
        solved += status == tp_solved || status == tp_notApplicable;
        free(z);
        freeLcp(&owned);
    }
    assert_true(100 * solved >= 98 * count);
}

// A basis from the solution makes the next solve free of pivots; one from a neighbour makes it
// short.
static void warmStartsSavePivots(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 6 };
    int coldPivots = 0, warmPivots = 0;
    for (int trial = 0; trial < trials(100); ++trial) {
        makeRandomProblem(&problem, &random, 6, 12, 4, 0.6);
        OwnedLcp owned = makeReducedLcp(&problem);
        double* z = room(owned.lcp.n);
        unsigned char* basis = calloc((size_t)owned.lcp.n, 1);
        tpLemkeOptions options = tpDefaultLemkeOptions();
        options.endBasis = basis;
        tpSolveReport report;
        assert_int_equal(tpLcp_SolveLemke(&owned.lcp, &options, memory, z, &report), tp_solved);
        coldPivots += report.iterations;
        options.startBasis = basis;
        assert_int_equal(tpLcp_SolveLemke(&owned.lcp, &options, memory, z, &report), tp_solved);
        assert_int_equal(report.iterations, 0);
        for (int b = 0; b < problem.bodyCount; ++b) {
            for (int e = 0; e < 6; ++e) {
                problem.velocity[b][e] += randomBetween(&random, -0.05, 0.05);
            }
        }
        OwnedLcp next = makeReducedLcp(&problem);
        assert_int_equal(tpLcp_SolveLemke(&next.lcp, &options, memory, z, &report), tp_solved);
        warmPivots += report.iterations;
        // A basis that makes no sense costs time, not correctness.
        for (int i = 0; i < owned.lcp.n; ++i) {
            basis[i] = randomBits(&random) % 2 == 0 ? tp_zBasic : tp_wBasic;
        }
        assert_int_equal(tpLcp_SolveLemke(&next.lcp, &options, memory, z, &report), tp_solved);
        free(z);
        free(basis);
        freeLcp(&owned);
        freeLcp(&next);
    }
    assert_true(3 * warmPivots < coldPivots);
}

// The same bits every time, whatever was solved before in the same memory.
static void repeatsExactly(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 7 };
    makeRandomProblem(&problem, &random, 5, 20, 8, 0.8);
    OwnedLcp owned = makeReducedLcp(&problem);
    size_t size = sizeof(double) * (size_t)owned.lcp.n;
    double* first = room(owned.lcp.n);
    double* again = room(owned.lcp.n);
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int s = 0; s < count; ++s) {
        tpSolverMemory* fresh = tpCreateSolverMemory(NULL);
        memset(first, 0, size);
        memset(again, 0, size);
        solvers[s].solve(&owned.lcp, 1e-8, fresh, first, NULL);
        solvers[s].solve(&owned.lcp, 1e-8, memory, again, NULL);
        assert_memory_equal(first, again, size);
        tpDestroySolverMemory(fresh);
    }
    free(first);
    free(again);
    freeLcp(&owned);
}

// Memory -------------------------------------------------------------------------------------

typedef struct Budget {
    tpAllocator heap;
    size_t inUse;
    size_t most;
    int allocations;
    int failAfter; // allocations that succeed; -1: all
} Budget;

static void* budgetAllocate(size_t size, void* context) {
    Budget* budget = context;
    if (budget->failAfter == 0) {
        return NULL;
    }
    budget->failAfter -= budget->failAfter > 0;
    budget->allocations += 1;
    budget->inUse += size;
    budget->most = budget->inUse > budget->most ? budget->inUse : budget->most;
    return budget->heap.allocate(size, budget->heap.context);
}

static void budgetRelease(void* block, size_t size, void* context) {
    Budget* budget = context;
    budget->inUse -= size;
    budget->heap.release(block, size, budget->heap.context);
}

// The n-th allocation fails, for all n: a status says so, and nothing leaks.
static void survivesFailingMemory(void** state) {
    (void)state;
    static ContactProblem problem;
    tpRandom random = { 8 };
    makeRandomProblem(&problem, &random, 4, 15, 8, 0.8);
    OwnedLcp owned = makeReducedLcp(&problem);
    double* z = room(owned.lcp.n);
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int s = 0; s < count; ++s) {
        tpSolveStatus status = tp_solverOutOfMemory;
        for (int limit = 0; status == tp_solverOutOfMemory && limit < 100; ++limit) {
            Budget budget = { .heap = tpDefaultAllocator(), .failAfter = limit };
            tpAllocator allocator = { budgetAllocate, budgetRelease, &budget };
            tpSolverMemory* small = tpCreateSolverMemory(&allocator);
            if (small != NULL) {
                tpSolveReport report;
                status = solvers[s].solve(&owned.lcp, 1e-8, small, z, &report);
                assert_true(status != tp_solved || report.residual <= 1e-8);
                tpDestroySolverMemory(small);
            }
            assert_int_equal(budget.inUse, 0);
        }
        assert_true(status != tp_solverOutOfMemory);
    }
    free(z);
    freeLcp(&owned);
}

// Memory of a sparse problem grows with contacts, not with their square; a second solve allocates
// nothing.
static void memoryGrowsWithContacts(void** state) {
    (void)state;
    static ContactProblem problem;
    size_t most[2] = { 0, 0 };
    for (int k = 0; k < 2; ++k) {
        Budget budget = { .heap = tpDefaultAllocator(), .failAfter = -1 };
        tpAllocator allocator = { budgetAllocate, budgetRelease, &budget };
        tpSolverMemory* counted = tpCreateSolverMemory(&allocator);
        makeStack(&problem, k == 0 ? 8 : 32, 8, 0.5, 0.0);
        OwnedLcp mixed = makeMixedLcp(&problem);
        double* z = room(mixed.lcp.n);
        assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, counted, z, NULL), tp_solved);
        tpSolveReport report;
        assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, counted, z, &report), tp_solved);
        int allocations = budget.allocations;
        assert_int_equal(tpLcp_SolveLemke(&mixed.lcp, NULL, counted, z, &report), tp_solved);
        assert_int_equal(budget.allocations, allocations);
        most[k] = budget.most;
        tpDestroySolverMemory(counted);
        assert_int_equal(budget.inUse, 0);
        free(z);
        freeLcp(&mixed);
    }
    // Four times the contacts: 4 if linear, 16 if quadratic.
    CHECK_BELOW((double)most[1] / (double)most[0], 7.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesRandomContactProblems),
        cmocka_unit_test(agreesWithTheTableau),
        cmocka_unit_test(mixedFormAgreesWithReducedForm),
        cmocka_unit_test(permutationAndScalingChangeNothing),
        cmocka_unit_test(duplicationOnlySplitsImpulses),
        cmocka_unit_test(solvesStacks),
        cmocka_unit_test(redundantJointsAreHarmless),
        cmocka_unit_test(laggedSolvesContactProblems),
        cmocka_unit_test(warmStartsSavePivots),
        cmocka_unit_test(repeatsExactly),
        cmocka_unit_test(survivesFailingMemory),
        cmocka_unit_test(memoryGrowsWithContacts),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
