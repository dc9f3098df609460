// The elementary functions against the C library's in long double, which on the machines where
// these tests run has 11 bits or more beyond double; special values; and bits that must be the same
// on every machine.

#include "math/elementary.h"

#include <float.h>
#include <string.h>

#include "support/check.h"

static uint64_t state;

static double uniform(void) { // in [0, 1)
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

static double between(double low, double high) {
    return low + (high - low) * uniform();
}

static double signedPower(double low, double high) { // +-2^(low .. high), all exponents alike
    double size = exp2(between(low, high));
    return uniform() < 0.5 ? -size : size;
}

// Units in the last place of the exact value; those of the smallest normal numbers for smaller
// ones.
static double ulpsOff(double got, long double exact) {
    if (isnan(exact) || isinf((double)exact)) {
        return (isnan(exact) && isnan(got)) || got == (double)exact ? 0.0 : 1e9;
    }
    int exponent;
    frexpl(exact, &exponent);
    exponent = exponent < -1021 ? -1021 : exponent;
    return (double)(fabsl((long double)got - exact) / ldexpl(1.0L, exponent - DBL_MANT_DIG));
}

typedef struct range {
    const char* name;
    double (*ours)(double);
    long double (*exact)(long double);
    double low, high; // of arguments
    double bound;     // ulps
} range;

static const range ranges[] = {
    { "sin", tpSin, sinl, -0.8, 0.8, 0.8 },
    { "sin", tpSin, sinl, -10.0, 10.0, 0.8 },
    { "sin", tpSin, sinl, -1e6, 1e6, 0.8 },
    { "sin", tpSin, sinl, -1e9, 1e9, 0.8 },
    { "cos", tpCos, cosl, -0.8, 0.8, 0.8 },
    { "cos", tpCos, cosl, -10.0, 10.0, 0.8 },
    { "cos", tpCos, cosl, -1e6, 1e6, 0.8 },
    { "cos", tpCos, cosl, -1e9, 1e9, 0.8 },
    { "tan", tpTan, tanl, -1.6, 1.6, 0.9 },
    { "tan", tpTan, tanl, -1e4, 1e4, 0.9 },
    { "asin", tpAsin, asinl, -1.0, 1.0, 0.53 },
    { "acos", tpAcos, acosl, -1.0, 1.0, 0.53 },
    { "acos", tpAcos, acosl, 0.9999, 1.0, 0.53 },
    { "atan", tpAtan, atanl, -2.0, 2.0, 0.53 },
    { "atan", tpAtan, atanl, -1e3, 1e3, 0.53 },
    { "exp", tpExp, expl, -1.0, 1.0, 0.53 },
    { "exp", tpExp, expl, -708.0, 709.7, 0.53 },
    { "exp, subnormal", tpExp, expl, -745.0, -708.0, 1.0 },
    { "expm1", tpExpm1, expm1l, -0.3, 0.3, 0.53 },
    { "expm1", tpExpm1, expm1l, -45.0, 45.0, 0.53 },
    { "expm1", tpExpm1, expm1l, 40.0, 709.7, 0.53 },
    { "log", tpLog, logl, 0.99, 1.01, 0.53 },
    { "log", tpLog, logl, 0.3, 3.0, 0.53 },
    { "log", tpLog, logl, 0.0, 1e6, 0.53 },
    { "sinh", tpSinh, sinhl, -0.6, 0.6, 0.6 },
    { "sinh", tpSinh, sinhl, -45.0, 45.0, 0.6 },
    { "cosh", tpCosh, coshl, -45.0, 45.0, 0.6 },
    { "tanh", tpTanh, tanhl, -20.0, 20.0, 2.0 },
    { "cbrt", tpCbrt, cbrtl, -10.0, 10.0, 0.53 },
};

static void errorsAreWithinBounds(void** unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); ++i) {
        const range* r = &ranges[i];
        double worst = 0.0, at = 0.0;
        state = i;
        for (int k = 0; k < 40000; ++k) {
            double x = between(r->low, r->high);
            double error = ulpsOff(r->ours(x), r->exact(x));
            if (error > worst) {
                worst = error;
                at = x;
            }
        }
        printf("%-16s %9.3g to %-9.3g worst %.3f ulp at %a\n", r->name, r->low, r->high, worst, at);
        assert_true(worst < r->bound);
    }
}

// Arguments of every size, down to the smallest and up to the largest.
static void everySizeIsRight(void** unused) {
    (void)unused;
    static const struct {
        const char* name;
        double (*ours)(double);
        long double (*exact)(long double);
        double low, high; // powers of two
        double bound;
    } all[] = {
        { "sin", tpSin, sinl, -1074.0, 60.0, 0.8 },
        { "cos", tpCos, cosl, -1074.0, 60.0, 0.8 },
        { "tan", tpTan, tanl, -1074.0, 60.0, 0.9 },
        { "asin", tpAsin, asinl, -1074.0, 0.0, 0.53 },
        { "acos", tpAcos, acosl, -1074.0, 0.0, 0.53 },
        { "atan", tpAtan, atanl, -1074.0, 1023.9, 0.53 },
        { "exp", tpExp, expl, -1074.0, 9.4, 1.0 },
        { "expm1", tpExpm1, expm1l, -1074.0, 9.4, 0.53 },
        { "sinh", tpSinh, sinhl, -1074.0, 9.4, 0.6 },
        { "cosh", tpCosh, coshl, -1074.0, 9.4, 0.6 },
        { "tanh", tpTanh, tanhl, -1074.0, 60.0, 2.0 },
        { "cbrt", tpCbrt, cbrtl, -1074.0, 1023.9, 0.53 },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
        double worst = 0.0, at = 0.0;
        state = 100 + i;
        for (int k = 0; k < 40000; ++k) {
            double x = signedPower(all[i].low, all[i].high);
            double error = ulpsOff(all[i].ours(x), all[i].exact(x));
            if (error > worst) {
                worst = error;
                at = x;
            }
        }
        printf("%-6s worst %.3f ulp at %a\n", all[i].name, worst, at);
        assert_true(worst < all[i].bound);
    }
    for (int k = 0; k < 40000; ++k) {
        double x = fabs(signedPower(-1074.0, 1023.9));
        assert_true(ulpsOff(tpLog(x), logl(x)) < 0.53);
    }
}

// Arguments up to the largest double: sin^2 + cos^2 = 1 would hold for a wrong reduction as well,
// so a few are held against values of 60 digits, and the neighbours of multiples of pi / 2 that are
// hardest to reduce.
static void hugeArgumentsAreReduced(void** unused) {
    (void)unused;
    static const struct {
        double x, sine, cosine;
    } known[] = {
        { 0x1p1023, 0x1.205248cbdb760p-1, -0x1.a719f26c232bfp-1 },
        { 1e22, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1 },
        { 0x1.6ac5b262ca1ffp+849, 1.0, -0x1.14ae72e6ba22fp-61 },
        { 1e300, -0x1.a2c16b010e385p-1, -0x1.2699022adc4c1p-1 },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        assert_true(tpSin(known[i].x) == known[i].sine && tpCos(known[i].x) == known[i].cosine);
    }
    state = 5;
    for (int k = 0; k < 40000; ++k) {
        double x = signedPower(20.0, 1023.9), s, c;
        tpSinCos(x, &s, &c);
        assert_true(s == tpSin(x) && c == tpCos(x));
        assert_true(ulpsOff(s, sinl(x)) < 0.8 && ulpsOff(c, cosl(x)) < 0.8);
    }
}

static void powersAreWithinBounds(void** unused) {
    (void)unused;
    state = 7;
    double worst = 0.0, atX = 0.0, atY = 0.0;
    for (int k = 0; k < 200000; ++k) {
        double x = k % 2 == 0 ? between(0.0, 3.0) : fabs(signedPower(-1000.0, 1000.0));
        double limit = 700.0 / fmax(fabs(log(x)), 1e-3);
        double y = between(-limit, limit);
        // powl of some systems is good to a few units of its own only: 2^-9 of ours.
        double error = ulpsOff(tpPow(x, y), powl(x, y));
        if (error > worst) {
            worst = error;
            atX = x;
            atY = y;
        }
    }
    printf("pow worst %.3f ulp at %a, %a\n", worst, atX, atY);
    assert_true(worst < 0.53);
    for (int k = -30; k <= 30; ++k) { // whole powers that are exact
        assert_true(tpPow(2.0, k) == ldexp(1.0, k));
        assert_true(tpPow(-3.0, k < 0 ? 0 : k) == (k < 0 ? 1.0 : (double)powl(-3.0L, k)));
        assert_true(tpPow(10.0, k < 0 || k > 22 ? 0 : k) ==
                    (k < 0 || k > 22 ? 1.0 : (double)powl(10.0L, k)));
    }
}

static void pairsAreWithinBounds(void** unused) {
    (void)unused;
    state = 9;
    double worstAngle = 0.0, worstLength = 0.0;
    for (int k = 0; k < 200000; ++k) {
        double size = k % 3 == 0 ? 1.0 : fabs(signedPower(-1000.0, 1000.0));
        double x = size * between(-1.0, 1.0), y = size * between(-1.0, 1.0);
        if (k % 5 == 0) {
            y = x * signedPower(-70.0, 70.0);
        }
        if (!isfinite(y)) {
            continue;
        }
        worstAngle = fmax(worstAngle, ulpsOff(tpAtan2(y, x), atan2l(y, x)));
        worstLength = fmax(worstLength, ulpsOff(tpHypot(x, y), hypotl(x, y)));
    }
    printf("atan2 worst %.3f ulp, hypot %.3f\n", worstAngle, worstLength);
    assert_true(worstAngle < 0.53 && worstLength < 0.53);
    assert_true(tpHypot(3.0, -4.0) == 5.0 && tpHypot(3e300, 4e300) == 5e300);
    assert_true(tpHypot(0x1p1023, 0x1p1023) == 0x1.6a09e667f3bcdp1023);
}

static void gammaIsRight(void** unused) {
    (void)unused;
    double worst = 0.0;
    state = 13;
    for (int k = 0; k < 20000; ++k) {
        double x = k % 2 == 0 ? between(0.0, 10.0) : between(0.0, 171.6);
        worst = fmax(worst, ulpsOff(tpGamma(x), tgammal(x)));
    }
    printf("gamma worst %.3f ulp\n", worst);
    assert_true(worst < 24.0);
    assert_true(isinf(tpGamma(172.0)) && isnan(tpGamma(0.0)) && isnan(tpGamma(-1.5)));
}

static bool isSame(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

// Where the result is exact or undefined the C library is right as well [C17, annex F].
static void specialValuesAreThoseOfC(void** unused) {
    (void)unused;
    static const double values[] = { 0.0,        -0.0,   1.0,          -1.0,      0.5,
                                     -0.5,       2.0,    -2.0,         3.0,       -3.0,
                                     2.5,        -2.5,   INFINITY,     -INFINITY, NAN,
                                     1e308,      -1e308, 1e-308,       -1e-308,   0x1p-1074,
                                     -0x1p-1074, 0x1p53, 0x1p53 + 2.0, 800.0,     -800.0 };
    enum { count = sizeof(values) / sizeof(values[0]) };
    static const struct {
        double (*ours)(double);
        double (*theirs)(double);
    } all[] = {
        { tpSin, sin },   { tpCos, cos },   { tpTan, tan },     { tpAsin, asin }, { tpAcos, acos },
        { tpAtan, atan }, { tpExp, exp },   { tpExpm1, expm1 }, { tpLog, log },   { tpSinh, sinh },
        { tpCosh, cosh }, { tpTanh, tanh }, { tpCbrt, cbrt },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
        for (int k = 0; k < count; ++k) {
            double ours = all[i].ours(values[k]), theirs = all[i].theirs(values[k]);
            bool isSpecial = theirs == 0.0 || !isfinite(theirs) || fabs(theirs) == 1.0;
            if (isSpecial ? !isSame(ours, theirs)
                          : !(fabs(ours - theirs) <= 1e-15 * fabs(theirs))) {
                fail_msg("function %zu of %g is %g, not %g", i, values[k], ours, theirs);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < count; ++k) {
            double x = values[i], y = values[k];
            double pairs[3][2] = { { tpAtan2(x, y), atan2(x, y) },
                                   { tpHypot(x, y), hypot(x, y) },
                                   { tpPow(x, y), pow(x, y) } };
            for (int p = 0; p < 3; ++p) {
                double ours = pairs[p][0], theirs = pairs[p][1];
                bool isSpecial = theirs == 0.0 || !isfinite(theirs) || fabs(theirs) == 1.0;
                if (isSpecial ? !isSame(ours, theirs)
                              : !(fabs(ours - theirs) <= 1e-15 * fabs(theirs) + 0x1p-1074)) {
                    fail_msg("pair %d of %g, %g is %g, not %g", p, x, y, ours, theirs);
                }
            }
        }
    }
}

// One hash over a million results: any machine and compiler must give it.
static void bitsAreTheSameEverywhere(void** unused) {
    (void)unused;
    static double (*const functions[])(double) = { tpSin,  tpCos,  tpTan,   tpAsin, tpAcos,
                                                   tpAtan, tpExp,  tpExpm1, tpLog,  tpSinh,
                                                   tpCosh, tpTanh, tpCbrt };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    state = 11;
    for (int k = 0; k < 50000; ++k) {
        double x = between(-4.0, 4.0) * (k % 7 == 0 ? 1e6 : 1.0), y = between(-4.0, 4.0);
        double results[16];
        for (int i = 0; i < 13; ++i) {
            results[i] = functions[i](x);
        }
        results[13] = tpAtan2(x, y);
        results[14] = tpHypot(x, y);
        results[15] = tpPow(fabs(x), y);
        for (int i = 0; i < 16; ++i) {
            results[i] = isnan(results[i]) ? 0.0 : results[i]; // a NaN's sign is anybody's
            uint64_t bits;
            memcpy(&bits, &results[i], sizeof(bits));
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
    }
    printf("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0xb8cc9ddfce57f696));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errorsAreWithinBounds),
        cmocka_unit_test(everySizeIsRight),
        cmocka_unit_test(hugeArgumentsAreReduced),
        cmocka_unit_test(powersAreWithinBounds),
        cmocka_unit_test(pairsAreWithinBounds),
        cmocka_unit_test(specialValuesAreThoseOfC),
        cmocka_unit_test(gammaIsRight),
        cmocka_unit_test(bitsAreTheSameEverywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
