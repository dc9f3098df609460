// Numbers are read to the same bits as the C library reads them, and places are counted right.

#include <stdlib.h>
#include <string.h>

#include "problems/scanner.h"
#include "support/check.h"

static void checkReal(const char* text) {
    double value, expected = strtod(text, NULL);
    if (!tpWord_ToReal((tpWord){ text, (int)strlen(text) }, &value) || value != expected ||
        signbit(value) != signbit(expected)) {
        fail_msg("%s was read as %.17g", text, value);
    }
}

static void realsAreThoseOfStrtod(void** state) {
    (void)state;
    static const char* const formats[] = { "%.0f", "%.3f",  "%g",      "%.15g", "%.17g",
                                           "%e",   "%.14e", "%32.24e", "%+.2E", "%.20f" };
    tpRandom random = { 11 };
    for (int i = 0; i < 200000; ++i) {
        double exponent = randomBetween(&random, -30.0, 30.0);
        double value = randomBetween(&random, -1.0, 1.0) * pow(10.0, exponent);
        char text[128];
        snprintf(text, sizeof(text), formats[i % 10], value);
        const char* start = text + strspn(text, " ");
        if (strlen(start) <= 100) {
            checkReal(start);
        }
    }
    static const char* const special[] = {
        "0",
        "-0",
        "-0.0e-400",
        "5.",
        ".5",
        "-.5e1",
        "1e22",
        "1e23",
        "9007199254740993",
        "123456789012345e22",
        "123456789012345e-22",
        "4.9e-324",
        "1.7976931348623157e308",
        "000000000000000000000000000000.1",
        "0.000000000000000000000000e+00",
        "1e-400",
    };
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); ++i) {
        checkReal(special[i]);
    }
}

static void whatIsNoNumber(void** state) {
    (void)state;
    static const char* const words[] = { "",       "-",        ".",     "e5",    "1e",
                                         "1e+",    "1.2.3",    "nan",   "inf",   "0x10",
                                         "1_0",    "--1",      "1-2",   "1e5.0", "1e999",
                                         "-1e999", "infinity", "1e5e5", "1f",    "+" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        double value;
        assert_false(tpWord_ToReal((tpWord){ words[i], (int)strlen(words[i]) }, &value));
    }
    static const char* const notInts[] = { "",           "-1", "1.0", "1e3",
                                           "2147483648", "x",  "+",   "99999999999999999999" };
    for (size_t i = 0; i < sizeof(notInts) / sizeof(notInts[0]); ++i) {
        assert_int_equal(tpWord_ToInt((tpWord){ notInts[i], (int)strlen(notInts[i]) }), -1);
    }
    assert_int_equal(tpWord_ToInt((tpWord){ "2147483647", 10 }), 2147483647);
    assert_int_equal(tpWord_ToInt((tpWord){ "+12", 3 }), 12);
    assert_int_equal(tpWord_ToInt((tpWord){ "007", 3 }), 7);
}

static void wordsAndPlaces(void** state) {
    (void)state;
    static const char text[] = "# head\n a\tbc # rest\r\n\f\v d";
    tpScanner scanner;
    tpError error;
    tpScanner_Start(&scanner, "file", text, sizeof(text) - 1, &error);
    assert_true(tpWord_Is(tpScanner_Next(&scanner), "a"));
    assert_true(tpWord_Is(tpScanner_Peek(&scanner), "bc"));
    tpWord word = tpScanner_Next(&scanner);
    tpScanner_FailExpected(&scanner, word, "x");
    assert_string_equal(error.message, "file:2:4: expected x, found 'bc'");
    assert_true(tpWord_Is(tpScanner_Next(&scanner), "d"));
    word = tpScanner_Next(&scanner);
    assert_int_equal(word.length, 0);
    tpScanner_FailExpected(&scanner, word, "x");
    assert_string_equal(error.message, "file:3:5: expected x, found the end of the file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(realsAreThoseOfStrtod),
        cmocka_unit_test(whatIsNoNumber),
        cmocka_unit_test(wordsAndPlaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
