// tippe solve from the outside: exit statuses, JSON, the file it writes, and its complaints.

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

static char folder[64];
static char output[1 << 16]; // of the last run, standard output and standard error together

static const char* inFolder(const char* name) {
    static char paths[4][128];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", folder, name);
    return paths[turn];
}

static const char* writeFile(const char* name, const char* text) {
    const char* path = inFolder(name);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

// Runs "tippe solve ARGUMENTS" by the shell and gives the exit status.
static int solve(const char* format, ...) {
    char command[2048];
    int used = snprintf(command, sizeof(command), "%s solve ", TIPPE_PROGRAM);
    va_list arguments;
    va_start(arguments, format);
    used += vsnprintf(command + used, sizeof(command) - (size_t)used, format, arguments);
    va_end(arguments);
    snprintf(command + used, sizeof(command) - (size_t)used, " 2>&1");
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof(output) - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void expectOutput(const char* text) {
    if (strstr(output, text) == NULL) {
        fail_msg("expected \"%s\" in:\n%s", text, output);
    }
}

// The number behind "key": in the last output.
static double jsonNumber(const char* key) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    const char* place = strstr(output, quoted);
    if (place == NULL) {
        fail_msg("no %s in %s", key, output);
    }
    return strtod(place + strlen(quoted), NULL);
}

// The numbers of a file, a number per line; returns how many.
static int readNumbers(const char* path, double* values, int most) {
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    int count = 0;
    char line[128];
    while (fgets(line, sizeof(line), file) != NULL && count < most) {
        char* end;
        values[count++] = strtod(line, &end);
        assert_true(end != line && *end == '\n');
    }
    fclose(file);
    return count;
}

static const char lcp[] = "2 0\n2 1\n1 2\n-5 -6\n0 0\n";
static const char infeasible[] = "2 0\n0 0\n0 1\n-1 -1\n0 0\n";
// One sphere on a table, sliding: r = (1, -0.5, 0).
static const char friction[] = "3 1 0 3 3 3 3  1 0 0  0 1 0  0 0 1  -1 2 0  0.5";
// The same with a mass of 2 behind it: M v = f + H r, u = H^T v.
static const char globalFriction[] = "3 1  0 3 3 3 3  2 0 0  0 2 0  0 0 2"
                                     "  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -2 4 0  0 0 0  0.5";

static void solvedLcp(void** state) {
    (void)state;
    writeFile("lcp.txt", lcp);
    double z[4];
    assert_int_equal(solve("%s --out %s", inFolder("lcp.txt"), inFolder("z.txt")), 0);
    expectOutput("LCP, 2 variables");
    expectOutput("solved by");
    assert_int_equal(readNumbers(inFolder("z.txt"), z, 4), 2);
    CHECK_NEAR(z[0], 4.0 / 3.0, 1e-14);
    CHECK_NEAR(z[1], 7.0 / 3.0, 1e-14);

    assert_int_equal(solve("%s --json --tolerance=1e-12", inFolder("lcp.txt")), 0);
    static const char* const keys[] = { "status",   "kind",           "solver",     "path",
                                        "residual", "residual_plain", "iterations", "time" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        char quoted[32];
        snprintf(quoted, sizeof(quoted), "\"%s\": ", keys[i]);
        expectOutput(quoted);
    }
    expectOutput("\"status\": \"solved\"");
    expectOutput("\"kind\": \"lcp\"");
    CHECK_BELOW(jsonNumber("residual"), 1e-12);
    CHECK_BELOW(jsonNumber("time"), 10.0);
    assert_int_equal(output[0], '{');
    assert_string_equal(output + strlen(output) - 2, "}\n");
}

static void everySolverOfTheTables(void** state) {
    (void)state;
    writeFile("lcp.txt", lcp);
    writeFile("friction.dat", friction);
    static const char* const lcpSolvers[] = { "auto", "lemke", "newton" };
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(solve("%s --solver %s", inFolder("lcp.txt"), lcpSolvers[i]), 0);
    }
    static const char* const frictionSolvers[] = { "auto", "gauss-seidel", "newton" };
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(solve("%s --solver %s", inFolder("friction.dat"), frictionSolvers[i]), 0);
    }
    assert_int_equal(solve("%s --solver lemek", inFolder("lcp.txt")), 2);
    expectOutput("tippe solve: unknown solver for lcp 'lemek'; did you mean 'lemke'?");
    assert_int_equal(solve("%s --solver lemke", inFolder("friction.dat")), 2);
    expectOutput("unknown solver for fc3d 'lemke'");
}

static void infeasibleLcp(void** state) {
    (void)state;
    writeFile("none.txt", infeasible);
    unlink(inFolder("z.txt"));
    assert_int_equal(solve("%s --out %s", inFolder("none.txt"), inFolder("z.txt")), 4);
    expectOutput("infeasible");
    assert_int_not_equal(access(inFolder("z.txt"), F_OK), 0); // nothing is written
    assert_int_equal(solve("%s --json", inFolder("none.txt")), 4);
    expectOutput("\"status\": \"infeasible\"");
}

static void frictionLocalAndGlobal(void** state) {
    (void)state;
    writeFile("friction.dat", friction);
    writeFile("global.dat", globalFriction);
    double r[4];
    assert_int_equal(solve("%s --json --out %s", inFolder("friction.dat"), inFolder("r.txt")), 0);
    expectOutput("\"kind\": \"fc3d\"");
    expectOutput("\"global\": false");
    assert_int_equal(readNumbers(inFolder("r.txt"), r, 4), 3);
    CHECK_NEAR(r[0], 1.0, 1e-7);
    CHECK_NEAR(r[1], -0.5, 1e-7);
    CHECK_NEAR(r[2], 0.0, 1e-7);

    assert_int_equal(solve("%s --json --out %s", inFolder("global.dat"), inFolder("r.txt")), 0);
    expectOutput("\"global\": true");
    assert_int_equal(readNumbers(inFolder("r.txt"), r, 4), 3);
    CHECK_NEAR(r[0], 2.0, 1e-7);
    CHECK_NEAR(r[1], -1.0, 1e-7);
}

// A problem that one sweep limit or stalled method cannot finish still gives its best point.
static void notSolvedGivesTheBestPoint(void** state) {
    (void)state;
    // Solvable only by complementary bases that principal pivoting does not look for: M = [0 -1; 1
    // 0].
    writeFile("hard.txt", "2 0\n0 -1\n1 0\n1 -1\n0 0\n");
    assert_int_equal(solve("%s", inFolder("hard.txt")), 0); // z = (1, 0): the portfolio finds it
    writeFile("friction.dat", friction);
    int status =
        solve("%s --tolerance 1e-300 --out %s --json", inFolder("friction.dat"), inFolder("r.txt"));
    // No residual but zero is below 1e-300.
    assert_int_equal(status, jsonNumber("residual") <= 1e-300 ? 0 : 1);
    double r[4];
    assert_int_equal(readNumbers(inFolder("r.txt"), r, 4), 3);
    CHECK_NEAR(r[0], 1.0, 1e-6);
    if (status == 1) {
        expectOutput("\"status\": \"not solved\"");
    }
}

static void badFilesAndUsage(void** state) {
    (void)state;
    writeFile("bad.txt", "2 0\n1 2\n3 x\n");
    writeFile("lcp.txt", lcp);
    assert_int_equal(solve("%s", inFolder("bad.txt")), 2);
    expectOutput("bad.txt:3:3: expected M in row 2 and column 2, found 'x'");
    assert_int_equal(solve("%s --json", inFolder("bad.txt")), 2);
    assert_null(strchr(output, '{'));
    assert_int_equal(solve("%s", inFolder("missing.txt")), 2);
    expectOutput("missing.txt: cannot be read: No such file or directory");
    assert_int_equal(solve("%s", folder), 2);
    assert_int_equal(solve(""), 2);
    expectOutput("tippe solve: FILE is missing");
    assert_int_equal(solve("%s --tolerence 1", inFolder("lcp.txt")), 2);
    expectOutput("unknown option --tolerence; did you mean --tolerance?");
    assert_int_equal(solve("%s --tolerance -1", inFolder("lcp.txt")), 2);
    assert_int_equal(solve("%s --kind fc3d", inFolder("lcp.txt")), 2);
    expectOutput("expected a problem fc3d, found lcp");
    assert_int_equal(solve("%s --kind lpc", inFolder("lcp.txt")), 2);
    expectOutput("did you mean 'lcp'?");
    assert_int_equal(solve("%s --kind lcp", inFolder("lcp.txt")), 0);
    assert_int_equal(solve("%s --out /nonexistent/z", inFolder("lcp.txt")), 2);
    expectOutput("/nonexistent/z: No such file or directory");
    assert_int_equal(solve("--help"), 0);
    expectOutput("Exit status: 0 solved");
}

// The target is replaced as a whole, keeps its mode, and no temporary file stays.
static void writesWhole(void** state) {
    (void)state;
    writeFile("lcp.txt", lcp);
    writeFile("z.txt", "something longer than the solution will be, in several lines\n\n\n\n\n\n");
    assert_int_equal(chmod(inFolder("z.txt"), 0640), 0);
    assert_int_equal(solve("%s --out %s", inFolder("lcp.txt"), inFolder("z.txt")), 0);
    double z[4];
    assert_int_equal(readNumbers(inFolder("z.txt"), z, 4), 2);
    struct stat status;
    assert_int_equal(stat(inFolder("z.txt"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(solve("%s --out /dev/full", inFolder("lcp.txt")), 3);
    char command[128];
    snprintf(command, sizeof(command), "ls %s/*.part 2>/dev/null | grep -q part", folder);
    assert_int_not_equal(system(command), 0);
    // Seventeen digits bring the same bits back.
    assert_int_equal(solve("%s --out /dev/stdout", inFolder("lcp.txt")), 0);
    assert_true(strtod(output, NULL) == z[0]);
}

static void emptyProblem(void** state) {
    (void)state;
    writeFile("empty.dat", "3 0 0 0 0 0 0");
    assert_int_equal(solve("%s --json --out %s", inFolder("empty.dat"), inFolder("r.txt")), 0);
    double r[1];
    assert_int_equal(readNumbers(inFolder("r.txt"), r, 1), 0);
}

// Problems of a run are files that can be solved; those above a residual, none here, are not
// written.
static void dumpedProblems(void** state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof(command),
             "%s run %s/scenes/stack10.json --until .05 --quiet --dump %s", TIPPE_PROGRAM,
             TIPPE_SOURCE_DIR, inFolder("dump"));
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "ls %s/stack10-000000-0000.hdf5 >%s", inFolder("dump"),
             inFolder("list"));
    assert_int_equal(system(command), 0);
    const char* warm[] = { "", "--warm" };
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(solve("%s/stack10-000000-0000.hdf5 --json %s", inFolder("dump"), warm[k]),
                         0);
        expectOutput("\"kind\": \"fc3d\"");
        expectOutput("\"solution\": [");
        assert_true(jsonNumber("residual") <= 1e-8);
    }
    snprintf(command, sizeof(command),
             "%s run %s/scenes/stack10.json --until .05 --quiet --dump %s --dump-above 1e-3 && "
             "[ -z \"$(ls %s)\" ]",
             TIPPE_PROGRAM, TIPPE_SOURCE_DIR, inFolder("none"), inFolder("none"));
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command),
             "%s run %s/scenes/stack10.json --dump-above 1e-3 2>%s; [ $? = 2 ]", TIPPE_PROGRAM,
             TIPPE_SOURCE_DIR, inFolder("list"));
    assert_int_equal(system(command), 0);
}

int main(void) {
    strcpy(folder, "/tmp/tippe_solve_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvedLcp),
        cmocka_unit_test(everySolverOfTheTables),
        cmocka_unit_test(infeasibleLcp),
        cmocka_unit_test(frictionLocalAndGlobal),
        cmocka_unit_test(notSolvedGivesTheBestPoint),
        cmocka_unit_test(badFilesAndUsage),
        cmocka_unit_test(writesWhole),
        cmocka_unit_test(emptyProblem),
        cmocka_unit_test(dumpedProblems),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? failures : 1;
}
