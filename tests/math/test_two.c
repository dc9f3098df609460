// Sums and products of doubles without error: their two parts add up to what long doubles and whole
// numbers say.

#include "math/two.h"

#include <stdlib.h>

#include "support/check.h"

static uint64_t state = 1;

static double draw(void) { // in (-1, 1), all 53 bits
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 10) * 0x1p-53 - 1.0;
}

// Whole numbers below 2^31 have products below 2^62, which 64 bits hold exactly.
static void productsAreExact(void** unused) {
    (void)unused;
    for (int i = 0; i < 100000; ++i) {
        int64_t a = (int64_t)(draw() * 0x1p31), b = (int64_t)(draw() * 0x1p31);
        tpTwo product = tpTwoProduct((double)a, (double)b);
        assert_true((int64_t)product.high + (int64_t)product.low == a * b);
        assert_true(fabs(product.low) <= 0.5 * fabs(product.high) * 0x1p-52);
    }
}

static void sumsAreExact(void** unused) {
    (void)unused;
    for (int i = 0; i < 100000; ++i) {
        int64_t a = (int64_t)(draw() * 0x1p61), b = (int64_t)(draw() * 0x1p40);
        a &= ~INT64_C(0x3ff); // so that both are doubles
        tpTwo sum = tpTwoSum((double)b, (double)a), ordered = tpTwoSumOrdered((double)a, (double)b);
        assert_true((int64_t)sum.high + (int64_t)sum.low == a + b);
        if (llabs(a) >= llabs(b)) {
            assert_true(ordered.high == sum.high && ordered.low == sum.low);
        }
    }
}

// (a b + c) / b - c / b = a to some 100 bits.
static void operationsKeepTwicePrecision(void** unused) {
    (void)unused;
    for (int i = 0; i < 10000; ++i) {
        tpTwo a = tpTwoSum(draw(), draw() * 0x1p-54), b = tpTwoSum(2.0 + draw(), draw() * 0x1p-54);
        tpTwo c = tpTwoSum(draw(), draw() * 0x1p-54);
        tpTwo left = tpDivTwo(tpAddTwo(tpMulTwo(a, b), c), b);
        tpTwo back = tpAddTwo(left, tpNegTwo(tpDivTwo(c, b)));
        tpTwo rest = tpAddTwo(back, tpNegTwo(a));
        assert_true(fabs(rest.high) < 0x1p-98);
        double s = draw();
        tpTwo scaled = tpAddTwo(tpScaleTwo(s, a), tpNegTwo(tpMulTwo(tpMakeTwo(s, 0.0), a)));
        assert_true(fabs(scaled.high) < 0x1p-100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(productsAreExact),
        cmocka_unit_test(sumsAreExact),
        cmocka_unit_test(operationsKeepTwicePrecision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
