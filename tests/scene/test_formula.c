// Formulas of scenes against the compiler's own arithmetic, and their faults.

#include "scene/formula.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

static double valueOf(const char* text, double t) {
    double value = NAN;
    tpFormulaFault fault = { 0, "" };
    if (!tpEvaluateAtTime(text, t, &value, &fault)) {
        fail_msg("'%s': character %d: %s", text, fault.column, fault.message);
    }
    return value;
}

static void testArithmetic(void** state) {
    (void)state;
    double t = 0.7;
    assert_true(valueOf("1 - 9.81*t^2/2", t) == 1.0 - 9.81 * pow(t, 2.0) / 2.0);
    assert_true(valueOf("2^3^2", t) == 512.0);
    assert_true(valueOf("-2^2", t) == -4.0);
    assert_true(valueOf("2**-1", t) == 0.5);
    assert_true(valueOf("8/4/2 - 1 - 2", t) == -2.0);
    assert_true(valueOf(" ( 1 + 2 ) * -+-3 ", t) == 9.0);
    assert_true(valueOf("sin(pi*t) + cos(t)*exp(-t)", t) ==
                sin(3.14159265358979323846 * t) + cos(t) * exp(-t));
    assert_true(valueOf("atan2(t, 2) + hypot(3, 4) + mod(7, 4) + max(1, 2) + min(1, 2)", t) ==
                atan2(t, 2.0) + 5.0 + 3.0 + 2.0 + 1.0);
    assert_true(valueOf("if(t < 0.5, 1, if(t >= 0.7, 2, 3))", t) == 2.0);
    assert_true(valueOf("1e-3 + .5", t) == 1e-3 + .5);
}

static void testFaults(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int column;
        const char* part;
    } faults[] = {
        { "", 1, "ends" },
        { "1 +", 4, "ends" },
        { "x + 1", 1, "unknown name 'x'" },
        { "sin 1", 5, "'('" },
        { "(1", 3, "')'" },
        { "1 2", 3, "operator" },
        { "max(1)", 6, "2 values" },
        { "atan2(1, 2, 3)", 11, "')'" },
        { "1 $", 3, "operator" },
        { "*", 1, "a value" },
    };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
        double value;
        tpFormulaFault fault = { 0, "" };
        assert_false(tpEvaluateAtTime(faults[i].text, 0.0, &value, &fault));
        if (fault.column != faults[i].column || strstr(fault.message, faults[i].part) == NULL) {
            fail_msg("'%s': %d: %s", faults[i].text, fault.column, fault.message);
        }
    }
    char deep[10001];
    double value;
    memset(deep, '(', 10000);
    deep[10000] = '\0';
    assert_false(tpEvaluateAtTime(deep, 0.0, &value, NULL));
    memset(deep, '-', 10000);
    assert_false(tpEvaluateAtTime(deep, 0.0, &value, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testArithmetic),
        cmocka_unit_test(testFaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
