// LU factors within a profile against dense ones: the same bits, with rows that must be swapped.

#include "math/profile_lu.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense_lu.h"
#include "support/check.h"

enum { most = 30 };

static double next(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

// A band of uneven width, with a few rows at the end that reach far back, as contacts of a chain
// do. Diagonals are small, so that most rows are swapped.
static void fill(int n, uint64_t* state, double* A) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int width = 1 + (i * 7 + j * 3) % 5;
            bool isFar = (i >= n - 2 && j % 4 == 1) || (j >= n - 2 && i % 4 == 1);
            bool isThere = abs(i - j) <= width || isFar;
            double value = next(state);
            A[i * n + j] = !isThere ? 0.0 : i == j ? 1e-3 * value : value;
        }
    }
}

static void factorsAreThoseOfTheDenseOnes(void** unused) {
    (void)unused;
    uint64_t state = 11;
    int swapCount = 0;
    for (int n = 1; n <= most; ++n) {
        double A[most * most], B[most * most], a[most], b[most];
        int pivots[most], others[most];
        tpLuProfile profile;
        fill(n, &state, A);
        memcpy(B, A, sizeof(A));
        for (int i = 0; i < n; ++i) {
            a[i] = b[i] = next(&state);
        }
        assert_true(tpDenseLu_Factorise(n, A, pivots));
        assert_true(tpProfileLu_Factorise(n, B, others, &profile));
        assert_memory_equal(pivots, others, sizeof(int) * (size_t)n);
        for (int i = 0; i < n * n; ++i) {
            assert_true(A[i] == B[i]);
        }
        tpDenseLu_Solve(n, A, pivots, a);
        tpProfileLu_Solve(n, B, others, &profile, b);
        for (int i = 0; i < n; ++i) {
            assert_true(a[i] == b[i]);
            swapCount += pivots[i] != i ? 1 : 0;
        }
    }
    assert_true(swapCount > 100);
}

static void singularMatricesAreTold(void** unused) {
    (void)unused;
    int pivots[2];
    tpLuProfile profile;
    double singular[] = { 1.0, 2.0, 2.0, 4.0 }, none[] = { 0.0, 0.0, 0.0, 0.0 };
    double unknown[] = { NAN, 1.0, 1.0, 1.0 };
    assert_false(tpProfileLu_Factorise(2, singular, pivots, &profile));
    assert_false(tpProfileLu_Factorise(2, none, pivots, &profile));
    assert_false(tpProfileLu_Factorise(2, unknown, pivots, &profile));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(factorsAreThoseOfTheDenseOnes),
                                        cmocka_unit_test(singularMatricesAreTold) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
