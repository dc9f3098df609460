// Command lines by tables: values in both spellings, wrong ones refused with a suggestion.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arguments.h"

typedef struct Line {
    bool quiet;
    const char* out;
    double step;
    double gain;
    int every;
    const char* kind;
    tpArgumentList settings;
    const char* file;
    const char* second;
} Line;

// Everything written to standard output and standard error by the last parse.
static char printed[8192];

static tpArgumentsResult parse(Line* line, int count, char** words) {
    static const char* const kinds[] = { "lcp", "mlcp", "fc3d", NULL };
    const tpArgument options[] = {
        { "quiet", optionFlag, &line->quiet, NULL, "print nothing", NULL },
        { "out", optionText, &line->out, "FILE", "where to write", NULL },
        { "step", optionPositive, &line->step, "SECONDS", "time step", NULL },
        { "gain", optionNumber, &line->gain, "X", "any number", NULL },
        { "every", optionCount, &line->every, "N", "record every N steps", NULL },
        { "kind", optionChoice, &line->kind, NULL, "kind of problem", kinds },
        { "set", optionList, &line->settings, "NAME=VALUE", "an option of the stepper", NULL },
    };
    const tpOperand operands[] = {
        { "FILE", &line->file, true, "what to read", NULL },
        { "SECOND", &line->second, false, "what to compare with", NULL },
    };
    const tpArgumentTable table = {
        "try", "Tries things", operands, 2, options, 7, "Exit status: 0 done.\n",
    };

    FILE* capture = tmpfile();
    assert_non_null(capture);
    fflush(stdout);
    fflush(stderr);
    int oldOut = dup(1), oldError = dup(2);
    dup2(fileno(capture), 1);
    dup2(fileno(capture), 2);
    tpArgumentsResult result = parseArguments(&table, count, words);
    fflush(stdout);
    fflush(stderr);
    dup2(oldOut, 1);
    dup2(oldError, 2);
    close(oldOut);
    close(oldError);
    rewind(capture);
    size_t length = fread(printed, 1, sizeof(printed) - 1, capture);
    printed[length] = '\0';
    fclose(capture);
    return result;
}

#define PARSE(line, ...)                                                                           \
    parse(line, (int)(sizeof((char*[]){ __VA_ARGS__ }) / sizeof(char*)), (char*[]){ __VA_ARGS__ })

static void readsBothSpellings(void** state) {
    (void)state;
    Line line = { 0 };
    assert_int_equal(PARSE(&line, "try", "--out", "a.txt", "problem.dat", "--step=0.25", "--gain",
                           "-3e-2", "--quiet", "--every=7", "--kind", "mlcp", "--set", "a=1",
                           "--set=b=2"),
                     argumentsParsed);
    assert_string_equal(line.out, "a.txt");
    assert_string_equal(line.file, "problem.dat");
    assert_null(line.second);
    assert_true(line.step == 0.25 && line.gain == -3e-2 && line.quiet && line.every == 7);
    assert_string_equal(line.kind, "mlcp");
    assert_int_equal(line.settings.count, 2);
    assert_string_equal(line.settings.items[1], "b=2");
    assert_string_equal(printed, "");
}

static void lastOneCountsAndDashesEndOptions(void** state) {
    (void)state;
    Line line = { 0 };
    assert_int_equal(PARSE(&line, "try", "--step", "1", "--step", "2", "--", "--quiet", "-"),
                     argumentsParsed);
    assert_true(line.step == 2.0 && !line.quiet);
    assert_string_equal(line.file, "--quiet");
    assert_string_equal(line.second, "-");
}

static void refusesWithAReason(void** state) {
    (void)state;
    static const struct {
        char* words[4];
        int count;
        const char* message;
    } cases[] = {
        { { "try", "f", "--stpe", "1" }, 4, "unknown option --stpe; did you mean --step?" },
        { { "try", "f", "--stpe=1" }, 3, "unknown option --stpe; did you mean --step?" },
        { { "try", "f", "-out", "1" }, 4, "unknown option -out; did you mean --out?" },
        { { "try", "f", "--xyzzy" }, 3, "unknown option --xyzzy; see tippe try --help" },
        { { "try", "f", "-q" }, 3, "unknown option -q" },
        { { "try", "f", "--step", "0" }, 4, "--step takes a number greater than zero, not '0'" },
        { { "try", "f", "--step", "1s" }, 4, "--step takes a number, not '1s'" },
        { { "try", "f", "--gain", "nan" }, 4, "--gain takes a number, not 'nan'" },
        { { "try", "f", "--gain", "1e999" }, 4, "--gain takes a number, not '1e999'" },
        { { "try", "f", "--gain=" }, 3, "--gain takes a number, not ''" },
        { { "try", "f", "--every", "-1" }, 4, "--every takes a whole number" },
        { { "try", "f", "--every", "99999999999" }, 4, "--every takes a whole number" },
        { { "try", "f", "--every", "1.5" }, 4, "--every takes a whole number" },
        { { "try", "f", "--kind", "lpc" },
          4,
          "unknown value of --kind 'lpc'; did you mean 'lcp'?" },
        { { "try", "f", "--kind", "quadratic" }, 4, "known are lcp, mlcp, fc3d" },
        { { "try", "f", "--quiet=yes" }, 3, "--quiet takes no value" },
        { { "try", "f", "--out" }, 3, "--out needs a value: FILE" },
        { { "try", "f", "--out", "--quiet" }, 4, "--out needs a value: FILE" },
        { { "try", "a", "b", "c" }, 4, "unexpected argument 'c'" },
        { { "try" }, 1, "FILE is missing" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        Line line = { 0 };
        assert_int_equal(parse(&line, cases[i].count, (char**)cases[i].words), argumentsWrong);
        if (strstr(printed, cases[i].message) == NULL) {
            fail_msg("expected \"%s\" in \"%s\"", cases[i].message, printed);
        }
        assert_ptr_equal(strstr(printed, "tippe try: "), printed);
    }
}

static void listsHaveAnEnd(void** state) {
    (void)state;
    char* words[longestArgumentList + 4] = { "try", "file" };
    for (int i = 0; i <= longestArgumentList; ++i) {
        words[2 + i] = "--set=a=1";
    }
    Line line = { 0 };
    assert_int_equal(parse(&line, 2 + longestArgumentList, words), argumentsParsed);
    assert_int_equal(line.settings.count, longestArgumentList);
    Line longer = { 0 };
    assert_int_equal(parse(&longer, 3 + longestArgumentList, words), argumentsWrong);
}

static void helpNamesEverything(void** state) {
    (void)state;
    Line line = { 0 };
    assert_int_equal(PARSE(&line, "try", "--nonsense", "--help"), argumentsHelped);
    static const char* const parts[] = {
        "usage: tippe try FILE [SECOND] [options]",
        "Tries things",
        "--out FILE",
        "--quiet",
        "--kind lcp|mlcp|fc3d",
        "--set NAME=VALUE",
        "--help",
        "Exit status: 0",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        assert_non_null(strstr(printed, parts[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readsBothSpellings),  cmocka_unit_test(lastOneCountsAndDashesEndOptions),
        cmocka_unit_test(refusesWithAReason),  cmocka_unit_test(listsHaveAnEnd),
        cmocka_unit_test(helpNamesEverything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
