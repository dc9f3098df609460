// The algebra of Lorentz' cone against its definitions.

#include "complementarity/lorentz.h"

#include <math.h>
#include <stdint.h>

#include "support/check.h"

static double next(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

// A point inside, `depth` from the border.
static void makeInside(uint64_t* state, int rows, double depth, double* x) {
    double sum = 0.0;
    for (int i = 1; i < rows; ++i) {
        x[i] = next(state);
        sum += x[i] * x[i];
    }
    x[0] = sqrt(sum) + depth;
}

static void scalingsTakeBothToOnePoint(void** unused) {
    (void)unused;
    uint64_t state = 3;
    for (int rows = 1; rows <= TP_FRICTION_MAX_ROWS; ++rows) {
        for (int k = 0; k < 20; ++k) {
            double x[TP_FRICTION_MAX_ROWS], y[TP_FRICTION_MAX_ROWS], a[TP_FRICTION_MAX_ROWS];
            double b[TP_FRICTION_MAX_ROWS], product = 0.0, square = 0.0;
            makeInside(&state, rows, 1.0, x);
            makeInside(&state, rows, k % 2 == 0 ? 0.5 : 1e-6, y);
            tpLorentzScaling scaling;
            assert_true(tpLorentzScaling_Make(&scaling, rows, x, y));
            tpLorentzScaling_Apply(&scaling, y, a);
            tpLorentzScaling_ApplyInverse(&scaling, x, b);
            for (int i = 0; i < rows; ++i) {
                CHECK_NEAR(a[i], scaling.lambda[i], 1e-8);
                CHECK_NEAR(b[i], scaling.lambda[i], 1e-8);
                product += x[i] * y[i];
                square += scaling.lambda[i] * scaling.lambda[i];
            }
            CHECK_NEAR(square, product, 1e-12);
            // W^-2 x = y, entry by entry.
            for (int i = 0; i < rows; ++i) {
                double sum = 0.0;
                for (int j = 0; j < rows; ++j) {
                    sum += tpLorentzScaling_InverseSquare(&scaling, i, j) * x[j];
                }
                CHECK_NEAR(sum, y[i], 1e-9);
            }
        }
    }
}

static void pointsOutsideHaveNone(void** unused) {
    (void)unused;
    const double inside[] = { 1.0, 0.2, 0.3 }, outside[] = { 1.0, 0.8, 0.7 };
    const double opposite[] = { -1.0, 0.2, 0.3 };
    tpLorentzScaling scaling;
    assert_false(tpLorentzScaling_Make(&scaling, 3, inside, outside));
    assert_false(tpLorentzScaling_Make(&scaling, 3, opposite, inside));
    CHECK_NEAR(tpLorentz_Depth(3, outside), 1.0 - sqrt(0.64 + 0.49), 1e-15);
}

static void productsAreUndone(void** unused) {
    (void)unused;
    uint64_t state = 11;
    for (int rows = 1; rows <= TP_FRICTION_MAX_ROWS; ++rows) {
        double a[TP_FRICTION_MAX_ROWS], b[TP_FRICTION_MAX_ROWS], c[TP_FRICTION_MAX_ROWS];
        makeInside(&state, rows, 0.7, a);
        for (int i = 0; i < rows; ++i) {
            b[i] = next(&state);
        }
        tpLorentz_Multiply(rows, a, b, c);
        tpLorentz_Divide(rows, a, c, c);
        for (int i = 0; i < rows; ++i) {
            CHECK_NEAR(c[i], b[i], 1e-13);
        }
    }
}

static void reachesEndAtTheBorder(void** unused) {
    (void)unused;
    uint64_t state = 5;
    int ended = 0;
    for (int k = 0; k < 400; ++k) {
        int rows = 1 + k % TP_FRICTION_MAX_ROWS;
        double x[TP_FRICTION_MAX_ROWS], dx[TP_FRICTION_MAX_ROWS], at[TP_FRICTION_MAX_ROWS];
        makeInside(&state, rows, 0.3, x);
        for (int i = 0; i < rows; ++i) {
            dx[i] = 3.0 * next(&state);
        }
        double reach = tpLorentz_Reach(rows, x, dx, 10.0);
        assert_true(reach > 0.0 && reach <= 10.0);
        for (int part = 1; part <= 10; ++part) {
            for (int i = 0; i < rows; ++i) {
                at[i] = x[i] + 0.0999999 * part * reach * dx[i];
            }
            assert_true(tpLorentz_Depth(rows, at) > 0.0);
        }
        if (reach < 10.0) {
            CHECK_NEAR(tpLorentz_Depth(rows, at), 0.0, 1e-4);
            ++ended;
        }
    }
    assert_true(ended > 100 && ended < 400);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(scalingsTakeBothToOnePoint),
                                        cmocka_unit_test(pointsOutsideHaveNone),
                                        cmocka_unit_test(productsAreUndone),
                                        cmocka_unit_test(reachesEndAtTheBorder) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
