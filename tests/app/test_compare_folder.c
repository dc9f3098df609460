// tippe compare --reference FOLDER: many known motions of one thing, each from its own start.

#include <math.h>

#include "program.h"

static const char ball[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -10], \"bodies\": [\n"
    "  { \"name\": \"ball\", \"density\": 1000, \"position\": [0, 0, 1],\n"
    "    \"shapes\": [{ \"type\": \"sphere\", \"radius\": 0.1 }] } ],\n"
    "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }\n";

// A throw with the velocity (u, 0, w) from the height z, `off` metres too high after the start, and
// turned about z by `turn` rad; a row each tenth of a second.
static void writeThrow(const char* path, double z, double u, double w, double off, double turn) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "time,ball.x,ball.y,ball.z,ball.qw,ball.qx,ball.qy,ball.qz,ball.vx,ball.vy,ball.vz\n");
    for (int i = 0; i <= 10; ++i) {
        double t = 0.1 * i, angle = i > 0 ? turn : 0.0;
        fprintf(file, "%.17g,%.17g,0,%.17g,%.17g,0,0,%.17g,%.17g,0,%.17g\n", t, u * t,
                z + w * t - 5.0 * t * t + (i > 0 ? off : 0.0), cos(0.5 * angle), sin(0.5 * angle),
                u, w - 10.0 * t);
    }
    fclose(file);
}

static double numberAfter(const char* text, const char* key) {
    const char* found = strstr(text, key);
    if (found == NULL) {
        fail_msg("no %s in %s", key, text);
        return NAN;
    }
    return strtod(found + strlen(key), NULL);
}

static void holdAgainstAll(void** state) {
    (void)state;
    writeText("ball.json", ball);
    assert_int_equal(system("mkdir throws"), 0);
    writeThrow("throws/a.csv", 1.0, 2.0, 3.0, 0.0, 0.0);
    writeThrow("throws/b.csv", 7.0, -1.0, 0.0, 0.11, 0.2);
    writeThrow("throws/c.csv", 3.0, 0.0, 5.0, -0.22, -0.4);
    writeText("throws/notes.txt", "no table\n");
    tpOutcome outcome = runTippe("compare ball.json --reference throws --steppers anitescu "
                                 "--steps 0.01 --json --csv all.csv");
    assert_int_equal(outcome.status, 0);
    // Exact free fall: the errors are those that were put in, in ten of eleven rows.
    assert_true(numberAfter(outcome.out, "\"references\": ") == 3.0);
    assert_true(numberAfter(outcome.out, "\"ended\": ") == 3.0);
    const char* mean = strstr(outcome.out, "\"error_position_mean\"");
    assert_non_null(mean);
    assert_float_equal(numberAfter(mean, "\"mean\": "), 0.1, 1e-9);
    assert_float_equal(numberAfter(mean, "\"median\": "), 0.1, 1e-9);
    assert_float_equal(numberAfter(mean, "\"largest\": "), 0.2, 1e-9);
    const char* angle = strstr(outcome.out, "\"error_angle\"");
    assert_non_null(angle);
    assert_float_equal(numberAfter(angle, "\"mean\": "), 0.2, 1e-9);
    assert_float_equal(numberAfter(angle, "\"largest\": "), 0.4, 1e-9);
    assert_float_equal(numberAfter(strstr(outcome.out, "\"error_position_end\""), "\"largest\": "),
                       0.22, 1e-9);
    assert_int_equal(countLines("all.csv"), 4);
    outcome =
        runTippe("compare ball.json --reference throws --steppers anitescu --steps 0.02,0.01");
    assert_int_equal(outcome.status, 0);
    CHECK_HAS(outcome.out, "against 3 references");
    CHECK_HAS(outcome.out, "10.4"); // mean of the rotations, degrees: ten rows of eleven
}

static void refuseWhatIsNone(void** state) {
    (void)state;
    writeText("ball.json", ball);
    assert_int_equal(system("mkdir empty late bad"), 0);
    writeText("late/a.csv", "time,ball.x\n0.5,0\n1,0\n");
    writeText("bad/a.csv", "time,ball.x\n0,zero\n");
    static const struct {
        const char* arguments;
        const char* message;
    } cases[] = {
        { "compare ball.json --reference empty", "empty holds no tables" },
        { "compare ball.json --reference late", "late/a.csv:2:1: the first row must be at time 0" },
        { "compare ball.json --reference bad", "bad/a.csv:2:3: " },
        { "compare ball.json --reference bad --out page.html", "takes no folder" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpOutcome outcome = runTippe(cases[i].arguments);
        if (outcome.status != 2 || strstr(outcome.err, cases[i].message) == NULL) {
            fail_msg("%s: status %d, %s", cases[i].arguments, outcome.status, outcome.err);
        }
    }
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enterDirectory, leaveDirectory)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(holdAgainstAll),
        IN_DIRECTORY(refuseWhatIsNone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
