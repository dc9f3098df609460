// Dense LU factors against the product, with rows that must be swapped, and singular matrices.

#include "math/dense_lu.h"

#include <math.h>
#include <stdint.h>

#include "support/check.h"

enum { most = 30 };

static double next(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

static void solutionsAreFound(void** unused) {
    (void)unused;
    uint64_t state = 7;
    for (int n = 1; n <= most; ++n) {
        double A[most * most], x[most], b[most];
        int pivots[most];
        for (int i = 0; i < n; ++i) {
            x[i] = next(&state);
            for (int j = 0; j < n; ++j) {
                A[i * n + j] = i == j && n > 1 ? 0.0 : next(&state);
            }
        }
        for (int i = 0; i < n; ++i) {
            b[i] = 0.0;
            for (int j = 0; j < n; ++j) {
                b[i] += A[i * n + j] * x[j];
            }
        }
        assert_true(tpDenseLu_Factorise(n, A, pivots));
        tpDenseLu_Solve(n, A, pivots, b);
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(b[i], x[i], 1e-10);
        }
    }
}

static void singularMatricesAreTold(void** unused) {
    (void)unused;
    int pivots[2];
    double singular[] = { 1.0, 2.0, 2.0, 4.0 }, none[] = { 0.0, 0.0, 0.0, 0.0 };
    double unknown[] = { NAN, 1.0, 1.0, 1.0 };
    assert_false(tpDenseLu_Factorise(2, singular, pivots));
    assert_false(tpDenseLu_Factorise(2, none, pivots));
    assert_false(tpDenseLu_Factorise(2, unknown, pivots));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(solutionsAreFound),
                                        cmocka_unit_test(singularMatricesAreTold) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
