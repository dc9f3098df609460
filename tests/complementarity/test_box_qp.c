// Quadratic programs in a box: the conditions of the minimum, and the value of all sets there are.

#include "complementarity/box_qp.h"

#include <math.h>
#include <string.h>

#include "complementarity/solver.h"
#include "friction_cases.h"
#include "solver_memory.h"
#include "support/check.h"

enum { mostVariables = 40, fewVariables = 5, stride = mostVariables + 3 };

static FrictionCase numbers;
static double A[mostVariables * stride], b[mostVariables], bound[mostVariables];
static double shift[mostVariables], x[mostVariables], g[mostVariables];

// A = G G' of the given rank; bounds between 0 and 1, some of them 0.
static void makeProgram(uint64_t seed, int n, int rank) {
    double G[mostVariables][mostVariables];
    numbers.state = 88172645463325252u + 104729u * seed;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < rank; ++k) {
            G[i][k] = caseUniform(&numbers, -1.0, 1.0);
        }
        bound[i] = fmax(caseUniform(&numbers, -0.1, 1.0), 0.0);
    }
    for (int i = 0; i < n; ++i) {
        b[i] = 0.0;
        for (int k = 0; k < n; ++k) {
            double sum = 0.0;
            for (int l = 0; l < rank; ++l) {
                sum += G[i][l] * G[k][l];
            }
            A[i * stride + k] = sum;
            b[i] += 0.3 * sum * (double)(k % 5 - 2); // in the range of A
        }
        shift[i] = 1e-9 * A[i * stride + i];
        x[i] = bound[i] * caseUniform(&numbers, -1.0, 1.0);
    }
}

static bool solve(int n, int* steps) {
    tpBoxQp qp = {
        .n = n, .stride = stride, .A = A, .shift = shift, .bound = bound, .x = x, .g = g
    };
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    qp.scratch = tpArena_Get(&memory->arena, sizeof(double) * tpBoxQp_Room(n));
    for (int i = 0; i < n; ++i) {
        g[i] = b[i];
        for (int k = 0; k < n; ++k) {
            g[i] += A[i * stride + k] * x[k];
        }
    }
    *steps = 0;
    bool isSolved = tpBoxQp_Solve(&qp, 1e-12, steps);
    tpArena_Release(&memory->arena, mark);
    return isSolved;
}

static double valueOf(int n, const double* at) {
    double value = 0.0;
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int k = 0; k < n; ++k) {
            sum += A[i * stride + k] * at[k];
        }
        value += at[i] * (0.5 * sum + b[i]);
    }
    return value;
}

// Each variable is in the box, and has no gradient or is held at its bound by it.
static void checkConditions(int n) {
    for (int i = 0; i < n; ++i) {
        double gradient = b[i];
        for (int k = 0; k < n; ++k) {
            gradient += A[i * stride + k] * x[k];
        }
        assert_true(fabs(x[i]) <= bound[i]);
        CHECK_BELOW(fabs(gradient - g[i]), 1e-11);
        bool isHeld = fabs(x[i]) == bound[i] && (bound[i] == 0.0 || x[i] * gradient <= 0.0);
        assert_true(isHeld || fabs(gradient) <= 1e-11);
    }
}

// Regular and singular ones, as drives of gears and loops make them.
static void conditionsAreMet(void** state) {
    (void)state;
    int steps, atBound = 0, within = 0;
    for (uint64_t seed = 0; seed < 120; ++seed) {
        int n = 1 + (int)(seed * 7 % mostVariables);
        makeProgram(seed, n, seed % 2 == 0 ? n : (n + 1) / 2);
        assert_true(solve(n, &steps));
        checkConditions(n);
        for (int i = 0; i < n; ++i) {
            atBound += fabs(x[i]) == bound[i];
            within += fabs(x[i]) < bound[i];
        }
        // From the answer nothing is left to do.
        assert_true(solve(n, &steps));
        assert_int_equal(steps, 0);
    }
    assert_true(atBound > 500 && within > 500);
}

// No point of a grid of the box, corners included, is lower.
static void nothingIsLower(void** state) {
    (void)state;
    enum { side = 5 };
    int steps;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        makeProgram(seed, fewVariables, seed % 2 == 0 ? fewVariables : 3);
        assert_true(solve(fewVariables, &steps));
        double lowest = valueOf(fewVariables, x);
        for (int k = 0; k < side * side * side * side * side; ++k) {
            double at[fewVariables];
            for (int i = 0, rest = k; i < fewVariables; ++i, rest /= side) {
                at[i] = bound[i] * (2.0 * (rest % side) / (side - 1) - 1.0);
            }
            assert_true(valueOf(fewVariables, at) >= lowest - 1e-12);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditionsAreMet),
        cmocka_unit_test(nothingIsLower),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
