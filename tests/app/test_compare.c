// tippe compare from the outside: what it finds on a scene whose truth is known, in each of the
// three ways to say it, and what it refuses.

#include <math.h>

#include "program.h"

// A block thrown along a rough table: x = v t - mu g t^2 / 2 until it stops. A first-order stepper
// is off by about v h / 2.
static const char slide[] =
    "{ \"tippe\": 1, \"name\": \"Slide\", \"gravity\": [0, 0, -10],"
    " \"materials\": { \"m\": { \"friction\": 0.5 } },"
    " \"bodies\": [ { \"name\": \"table\", \"kind\": \"fixed\", \"material\": \"m\","
    " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"block\", \"mass\": 1, \"inertia\": [1, 1, 1], \"material\": \"m\","
    " \"shapes\": [ { \"type\": \"box\", \"size\": [2, 2, 0.1] } ],"
    " \"position\": [0, 0, 0.05], \"velocity\": [2, 0, 0] } ],%s"
    " \"simulation\": { \"stepper\": \"stewart-trinkle\", \"step\": 0.02, \"until\": 0.3 } }";
static const char closedForm[] = " \"closed_form\": [ { \"body\": \"block\", \"coordinate\": \"x\","
                                 " \"formula\": \"2*t - 2.5*t^2\" } ],";

static void writeScene(const char* path, const char* more) {
    char text[2000];
    snprintf(text, sizeof(text), slide, more);
    writeText(path, text);
}

// The number behind "key": after `start` in the text.
static double numberAfter(const char* start, const char* key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char* place = start != NULL ? strstr(start, quoted) : NULL;
    if (place == NULL) {
        fail_msg("no %s", key);
        return NAN;
    }
    return strtod(place + strlen(quoted), NULL);
}

static void testClosedForm(void** state) {
    (void)state;
    writeScene("slide.json", closedForm);
    tpOutcome outcome = runTippe("compare slide.json --steppers stewart-trinkle,anitescu "
                                 "--steps 0.02,0.01 --json --csv table.csv --out page.html");
    assert_int_equal(outcome.status, 0);
    const char* second = strstr(strstr(outcome.out, "stewart-trinkle") + 1, "stewart-trinkle");
    const char* midpoint = strstr(outcome.out, "anitescu");
    // Stewart-Trinkle: x_k = v t - mu g t (t + h) / 2, so that the error at t is mu g h t / 2.
    assert_float_equal(numberAfter(outcome.out, "error_position"), 0.5 * 10 * 0.02 * 0.3 / 2, 1e-9);
    assert_float_equal(numberAfter(second, "error_position"), 0.5 * 10 * 0.01 * 0.3 / 2, 1e-9);
    assert_float_equal(numberAfter(second, "order"), 1.0, 1e-6);
    assert_true(numberAfter(midpoint, "error_position") < 1e-9);
    assert_int_equal(countFiles(), 3);
    char table[4096], page[65536];
    readText("table.csv", table, sizeof(table));
    readText("page.html", page, sizeof(page));
    assert_int_equal(strncmp(table, "stepper,step,steps,error_position,", 34), 0);
    assert_non_null(strstr(page, "data-tippe=\"comparison\">{\"scene\": \"Slide\""));
}

// Who is right, in words: in the terminal and for the page.
static void testVerdict(void** state) {
    (void)state;
    writeScene("slide.json", closedForm);
    tpOutcome outcome =
        runTippe("compare slide.json --steppers stewart-trinkle,anitescu,free-flight "
                 "--steps 0.02,0.01");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out,
              "\nRight to within 1 % of the 0.38 m that bodies move: anitescu (off by ");
    CHECK_HAS(outcome.out, "\nThe cheapest of these: anitescu at a step of 0.0");
    CHECK_HAS(outcome.out, "\nConverging, closer with every smaller step: stewart-trinkle "
                           "(off by 0.0075 m).\n");
    CHECK_HAS(outcome.out, "\nWrong, and smaller steps do not help: free-flight (off by 0.2");
    assert_null(strstr(outcome.out, "All are compared"));
    outcome = runTippe("compare slide.json --steppers anitescu --against finest --json");
    CHECK_HAS(outcome.out, "\"verdict\": [{\"kind\": \"good\", \"word\": \"Right\", ");
    CHECK_HAS(outcome.out, "All are compared with stewart-trinkle itself at a step of 0.00125 s");
}

// Against the finest run, and against a table that a run has written: the same story.
static void testOtherTruths(void** state) {
    (void)state;
    writeScene("slide.json", "");
    tpOutcome outcome =
        runTippe("compare slide.json --steppers stewart-trinkle --steps 0.02,0.01 --json");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "stewart-trinkle at step 0.0025 s"));
    // Errors are those to the closed form less that of the truth, 1/8 and 1/4 of them.
    assert_float_equal(numberAfter(outcome.out, "error_position"), 0.015 * 7 / 8, 1e-9);
    assert_int_equal(runTippe("run slide.json --step 0.0025 --csv fine.csv --quiet").status, 0);
    outcome = runTippe("compare slide.json --steppers stewart-trinkle --steps 0.02 --json "
                       "--reference fine.csv");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "\"against\": \"fine.csv\""));
    double error = numberAfter(outcome.out, "error_position");
    assert_true(error > 0.012 && error < 0.0135);
}

static void expectRefused(const char* arguments, const char* words) {
    tpOutcome outcome = runTippe(arguments);
    if (outcome.status != 2 || strstr(outcome.err, words) == NULL) {
        fail_msg("%s: status %d, %s", arguments, outcome.status, outcome.err);
    }
    assert_string_equal(outcome.out, "");
}

static void testRefusals(void** state) {
    (void)state;
    writeScene("slide.json", "");
    writeScene("wrong.json", " \"closed_form\": [ { \"body\": \"block\", \"coordinate\": \"x\","
                             " \"formula\": \"2*s\" } ],");
    writeScene("fixed.json", " \"closed_form\": [ { \"body\": \"table\", \"coordinate\": \"x\","
                             " \"formula\": \"0\" } ],");
    writeText("bad.csv", "time,block.x\n0,0\n0.1,zero\n");
    writeText("short.csv", "time,block.x\n0\n");
    writeText("other.csv", "time,ball.x\n0,0\n");
    int files = countFiles();
    expectRefused("compare slide.json --steppers stuart", "unknown stepper 'stuart'");
    expectRefused("compare slide.json --steps 0.1,,0.2", "--steps takes numbers");
    expectRefused("compare slide.json --steps 0.1,-1", "--steps takes numbers");
    expectRefused("compare slide.json --steps 1e300", "a step of 1e+300 s is too long");
    expectRefused("compare slide.json --against closed-form", "no closed form");
    expectRefused("compare slide.json --against reference", "no reference file");
    expectRefused("compare slide.json --reference none.csv",
                  "none.csv: cannot be read: No such file");
    expectRefused("compare slide.json --reference bad.csv", "bad.csv:3:5: expected a number");
    expectRefused("compare slide.json --reference short.csv", "short.csv:2:1: the row has fewer");
    expectRefused("compare slide.json --reference other.csv", "other.csv:1:1: no column belongs");
    expectRefused("compare wrong.json", "unknown name 's'");
    expectRefused("compare fixed.json", "\"table\" is fixed");
    expectRefused("compare slide.json --out nowhere/page.html", "nowhere/page.html");
    expectRefused("compare slide.json --set colour=red", "no stepper has the option");
    assert_int_equal(countFiles(), files);
}

// A run that does not end costs its row only.
static void testTimeLimit(void** state) {
    (void)state;
    writeScene("slide.json", closedForm);
    tpOutcome outcome =
        runTippe("compare slide.json --steppers stewart-trinkle --steps 0.02,0.00000001 --limit 1");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "time up"));
    assert_non_null(strstr(outcome.out, "not done after 1 s of processor time"));
}

// Each piece of advice keeps what it says: the run that is to be taken is exact enough, and what is
// said of it is what a comparison finds.
static void testAdvice(void** state) {
    (void)state;
    writeScene("slide.json", closedForm);
    tpOutcome outcome = runTippe("advise slide.json --json --csv table.csv");
    CHECK_STATUS(outcome, 0);
    // Samples are at multiples of the largest step, 0.08 s.
    assert_float_equal(numberAfter(outcome.out, "scale"), 2.0 * 0.24 - 2.5 * 0.24 * 0.24, 1e-9);
    const char* place = outcome.out;
    for (double share = 1e-2; share > 5e-5; share *= 0.1) {
        place = strstr(place, "\"accuracy\"");
        assert_non_null(place);
        assert_float_equal(numberAfter(place, "accuracy"), share, 1e-9);
        const char* taken = strstr(place, "\"take\": {");
        assert_non_null(taken);
        assert_true(numberAfter(taken, "error") <= share * numberAfter(outcome.out, "scale"));
        place = taken;
    }
    assert_true(countLines("table.csv") > 6 * 5);
    // First order: off by mu g h t / 2, so that no step of these brings it to a thousandth.
    outcome = runTippe("advise slide.json");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out,
              "For an accuracy of 1e-03 of the 0.336 m that bodies move (0.00034 m):\n  take     ");
    assert_null(strstr(outcome.out, "take     stewart-trinkle at a step of 0.02"));
    outcome = runTippe("advise nowhere.json");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "nowhere.json");
}

// A block rocks that begins 3 mm in the floor: how it is put out of it depends on the step, and
// steps do not bring the runs together. That is said once, instead of "no stepper" three times.
static void testAdviceOnLostPaths(void** state) {
    (void)state;
    writeText(
        "rock.json",
        "{ \"tippe\": 1, \"name\": \"rocking\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0.8, \"restitution\": 0.3 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"block\", \"mass\": 2, \"material\": \"m\","
        " \"position\": [-0.0473, 0, 0.2609],"
        " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": 10 },"
        " \"shapes\": [ { \"type\": \"box\", \"size\": [0.2, 0.2, 0.5] } ] } ],"
        " \"simulation\": { \"step\": 0.005, \"until\": 1.5 } }");
    tpOutcome outcome = runTippe("advise rock.json");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "This motion has no reproducible path");
    CHECK_HAS(outcome.out, "in no run are all steps certified");
    assert_null(strstr(outcome.out, "no stepper reaches it at these steps"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(testClosedForm, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testVerdict, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testAdvice, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testAdviceOnLostPaths, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testOtherTruths, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testRefusals, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(testTimeLimit, enterDirectory, leaveDirectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
