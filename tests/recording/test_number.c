// Numbers as text: what printf writes in the C locale, for every kind of double, in any locale.

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording/number.h"
#include "support/check.h"

static void checkNumber(double value) {
    char ours[tp_numberCapacity + 1], theirs[64];
    int length = tpFormatNumber(ours, value);
    assert_in_range(length, 1, tp_numberCapacity);
    ours[length] = '\0';
    snprintf(theirs, sizeof(theirs), "%.17g", value);
    if (strcmp(ours, theirs) != 0) {
        fail_msg("%a: %s instead of %s", value, ours, theirs);
    }
}

static void testSpecial(void** state) {
    (void)state;
    const double values[] = { 0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              0.1,
                              1e-4,
                              9.9999999999999991e-5,
                              1e16,
                              1e17,
                              1e18,
                              1e22,
                              1e23,
                              123456789012345678.0,
                              5e-324,
                              DBL_MIN,
                              DBL_MAX,
                              0.5,
                              0.3,
                              2.0 / 3.0,
                              INFINITY,
                              -INFINITY,
                              0x1p53,
                              0x1.fffffffffffffp52,
                              9007199254740993.0,
                              9.995e-5,
                              99999999999999999.0 };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        checkNumber(values[i]);
    }
    char text[tp_numberCapacity];
    assert_int_equal(tpFormatNumber(text, -(double)NAN), 3);
    assert_memory_equal(text, "nan", 3);
}

static void testPowers(void** state) {
    (void)state;
    for (int e = -1074; e <= 1023; ++e) {
        checkNumber(ldexp(1.0, e));
        checkNumber(nextafter(ldexp(1.0, e), 0.0));
    }
    for (int e = -323; e <= 308; ++e) {
        double ten =
            strtod((char[8]){ '1', 'e', (char)(e < 0 ? '-' : '+'), (char)('0' + abs(e) / 100),
                              (char)('0' + abs(e) / 10 % 10), (char)('0' + abs(e) % 10), 0 },
                   NULL);
        checkNumber(ten);
        checkNumber(nextafter(ten, INFINITY));
        checkNumber(nextafter(ten, 0.0));
    }
}

// All bit patterns; integers; short decimals; dyadic fractions, whose 17th digit may be a tie.
static void testRandom(void** state) {
    (void)state;
    tpRandom random = { 1 };
    for (int i = 0; i < 200000; ++i) {
        uint64_t bits = randomBits(&random);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (!isnan(value)) {
            checkNumber(value);
        }
        checkNumber((double)(bits >> (bits & 63)));
        checkNumber((double)(int)(bits % 2000001) / 1000.0 - 1000.0);
        checkNumber((double)(int64_t)bits * ldexp(1.0, -(int)(bits % 90)));
        checkNumber(randomBetween(&random, -1.0, 1.0));
    }
}

static void testReadsBack(void** state) {
    (void)state;
    tpRandom random = { 2 };
    for (int i = 0; i < 100000; ++i) {
        uint64_t bits = randomBits(&random);
        double value;
        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value)) {
            char text[tp_numberCapacity + 1];
            text[tpFormatNumber(text, value)] = '\0';
            double back = strtod(text, NULL);
            assert_memory_equal(&back, &value, sizeof(value));
        }
    }
}

// Locales with a decimal comma, where the system has one; round numbers go through the C library's
// printf.
static void testLocale(void** state) {
    (void)state;
    const char* const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF",
                                  "nl_NL.UTF-8" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (setlocale(LC_ALL, names[i]) != NULL) {
            const double values[] = { 1.5, 1e20, 0x1p-30, 0.1, 99999999999999999.0 };
            for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); ++k) {
                char text[tp_numberCapacity + 1];
                text[tpFormatNumber(text, values[k])] = '\0';
                assert_null(strchr(text, ','));
                setlocale(LC_ALL, "C");
                assert_true(strtod(text, NULL) == values[k]);
                setlocale(LC_ALL, names[i]);
            }
            setlocale(LC_ALL, "C");
            return;
        }
    }
    print_message("no locale with a decimal comma is installed\n");
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSpecial),   cmocka_unit_test(testPowers), cmocka_unit_test(testRandom),
        cmocka_unit_test(testReadsBack), cmocka_unit_test(testLocale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
