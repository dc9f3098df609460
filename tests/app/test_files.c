// No command destroys what it reads: every output against every input and every other output, by
// name, by path, through hard and symbolic links; the files are then what they were, to the last
// byte.

#include <fcntl.h>
#include <sys/stat.h>

#include "program.h"

static const char scene[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"reference\": \"known.csv\",\n"
    "  \"include\": \"ground.json\", \"bodies\": [\n"
    "  { \"name\": \"stone\", \"density\": 1, \"position\": [0, 0, 1],\n"
    "    \"shapes\": [ { \"type\": \"hull\", \"file\": \"meshes/stone.obj\" } ] } ],\n"
    "  \"simulation\": { \"step\": 0.01, \"until\": 0.05 } }\n";

static const char ground[] =
    "{ \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\",\n"
    "  \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] } ] }\n";

static const char stone[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                            "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static const char impacts[] =
    "id,m1,J1xx,J1yy,J1zz,J1xy,J1xz,J1yz,r1x,r1y,r1z,v1x,v1y,v1z,w1x,w1y,w1z,"
    "m2,J2xx,J2yy,J2zz,J2xy,J2xz,J2yz,r2x,r2y,r2z,v2x,v2y,v2z,w2x,w2y,w2z,mu,e\n"
    "1,1,1,1,1,0,0,0,0,0,-1,1,0,-1,0,0,0,inf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.3,0.5\n";

static void makeFiles(void) {
    assert_int_equal(mkdir("meshes", 0777), 0);
    writeText("s.json", scene);
    writeText("ground.json", ground);
    writeText("meshes/stone.obj", stone);
    writeText("known.csv", "time,stone.x\n0,0\n0.01,0\n0.05,0\n");
    writeText("i.csv", impacts);
    writeText("p.dat", "2 1\n2 0\n0 2\n-1 -1\n0.5 0.5\n");
    CHECK_STATUS(runTippe("run s.json --out r.h5 --save half.state --quiet"), 0);
}

// A fingerprint of the files that must stay: their sizes, numbers, times and sums.
static void fingerprint(char* text, size_t size) {
    FILE* pipe = popen(
        "for f in s.json ground.json meshes/stone.obj known.csv r.h5 i.csv p.dat half.state; do "
        "stat -c '%n %s %i %Y' $f; cksum $f; done",
        "r");
    size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    pclose(pipe);
}

// Commands with a place for an output; each is tried on all of the files that it reads.
typedef struct Clash {
    const char* command; // with %s for the output
    const char* input;
    const char* says;
} Clash;

static const Clash clashes[] = {
    { "run s.json --csv %s", "s.json", "is the scene; it would be overwritten" },
    { "run s.json --csv %s", "meshes/stone.obj", "is a mesh of the scene" },
    { "run s.json --joints %s", "ground.json", "is a file that the scene includes" },
    { "run s.json --csv %s", "known.csv", "is the reference of the scene" },
    { "run s.json --contacts %s", "meshes/stone.obj", "is a mesh of the scene" },
    { "run s.json --out %s", "s.json", "is the scene" },
    { "run s.json --out %s", "meshes/stone.obj", "is a mesh of the scene" },
    { "run s.json --from half.state --until 0.1 --csv %s", "half.state", "is the state" },
    { "run s.json --from half.state --until 0.1 --save other.state --csv %s", "half.state",
      "is the state" },
    { "run s.json --from half.state --until 0.1 --save %s", "half.state", "is the state" },
    { "compare s.json --csv %s", "s.json", "is the scene" },
    { "compare s.json --csv %s", "meshes/stone.obj", "is a mesh" },
    { "compare s.json --csv %s", "known.csv", "is the reference" },
    { "compare s.json --out %s", "s.json", "is the scene" },
    { "compare s.json --reference i.csv --csv %s", "i.csv", "is the reference" },
    { "check s.json --write %s", "s.json", "is the scene" },
    { "check s.json --write %s", "meshes/stone.obj", "is a mesh" },
    { "export r.h5 --csv %s", "r.h5", "is the recording" },
    { "export r.h5 --contacts %s", "r.h5", "is the recording" },
    { "export r.h5 --reports %s", "r.h5", "is the recording" },
    { "export r.h5 --pairs %s", "r.h5", "is the recording" },
    { "export r.h5 --html %s", "r.h5", "is the recording" },
    { "export r.h5 --html %s", "s.json", "is the scene of the recording" },
    { "export r.h5 --csv %s", "meshes/stone.obj", "is a mesh of the scene" },
    { "export r.h5 --html %s", "ground.json", "is a file that the scene includes" },
    { "export r.h5 --joints %s", "ground.json", "is a file that the scene includes" },
    { "export r.h5 --pairs %s", "known.csv", "is the reference of the scene" },
    { "collide i.csv --out %s", "i.csv", "is the table of impacts" },
    { "solve p.dat --out %s", "p.dat", "is the problem" },
};

enum { clashCount = sizeof(clashes) / sizeof(clashes[0]), wayCount = 5 };

// The same file by other names.
static void makeName(int way, const char* input, char* name, size_t size) {
    char here[200];
    assert_non_null(getcwd(here, sizeof(here)));
    unlink("soft");
    unlink("hard");
    unlink("chain");
    snprintf(name, size, "%s", input);
    if (way == 1) {
        snprintf(name, size, "./meshes/../%s", input);
    } else if (way == 2) {
        snprintf(name, size, "%s/%s", here, input);
    } else if (way == 3) {
        assert_int_equal(symlink(input, "soft"), 0);
        assert_int_equal(symlink("soft", "chain"), 0);
        snprintf(name, size, "chain");
    } else if (way == 4) {
        assert_int_equal(link(input, "hard"), 0);
        snprintf(name, size, "hard");
    }
}

static void keepInputs(void** state) {
    (void)state;
    makeFiles();
    char before[4000], after[4000];
    fingerprint(before, sizeof(before));
    for (int i = 0; i < clashCount; ++i) {
        for (int way = 0; way < wayCount; ++way) {
            char name[400], arguments[600];
            makeName(way, clashes[i].input, name, sizeof(name));
            snprintf(arguments, sizeof(arguments), clashes[i].command, name);
            tpOutcome outcome = runTippe(arguments);
            if (outcome.status != 2 || strstr(outcome.err, clashes[i].says) == NULL) {
                fail_msg("tippe %s: exit status %d, it said: %s", arguments, outcome.status,
                         outcome.err);
            }
            unlink("soft");
            unlink("hard");
            unlink("chain");
            fingerprint(after, sizeof(after));
            assert_string_equal(after, before);
        }
    }
}

// Names that the program chooses follow no link that somebody has put there.
static void replacePlantedLinks(void** state) {
    (void)state;
    makeFiles();
    writeText("box.json", "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": [\n"
                          "  { \"name\": \"floor\", \"kind\": \"fixed\",\n"
                          "    \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },\n"
                          "  { \"name\": \"box\", \"density\": 1, \"position\": [0, 0, 0.5],\n"
                          "    \"shapes\": [ { \"type\": \"box\", \"size\": [1, 1, 1] } ] } ],\n"
                          "  \"simulation\": { \"step\": 0.01, \"until\": 0.02 } }\n");
    static const char planted[] = "problems/box-000000-0000.hdf5";
    CHECK_STATUS(runTippe("run box.json --dump problems --quiet"), 0);
    assert_int_equal(unlink(planted), 0);
    assert_int_equal(symlink("../known.csv", planted), 0);
    char before[4000], after[4000];
    fingerprint(before, sizeof(before));
    CHECK_STATUS(runTippe("run box.json --dump problems --quiet"), 0);
    fingerprint(after, sizeof(after));
    assert_string_equal(after, before);
    struct stat status;
    assert_int_equal(lstat(planted, &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

// Two outputs in one place, also where nothing is there yet, and beside a recording its journal.
static void keepOutputsApart(void** state) {
    (void)state;
    makeFiles();
    assert_int_equal(symlink("new.csv", "soft"), 0);
    static const char* const cases[][2] = {
        { "run s.json --csv new.csv --contacts new.csv", "--csv and --contacts go to the same" },
        { "run s.json --csv new.csv --contacts meshes/../new.csv", "the same file" },
        { "run s.json --csv new.csv --contacts soft", "the same file soft" },
        { "run s.json --out new.h5 --csv new.h5", "--out and --csv go to the same file new.h5" },
        { "run s.json --out new.h5 --csv new.h5.journal", "is the journal of --out" },
        { "run s.json --csv - --contacts -", "--csv and --contacts both go to standard output" },
        { "run s.json --csv - --json", "--csv and --json both go to standard output" },
        { "run s.json --out -", "a recording cannot go to standard output" },
        { "compare s.json --csv new.csv --out new.csv", "the same file" },
        { "export r.h5 --csv new.csv --pairs new.csv", "--csv and --pairs go to the same file" },
        { "export r.h5 --reports soft --html new.csv", "the same file" },
        { "export r.h5 --csv r.h5.journal", "r.h5.journal is the journal of the recording" },
    };
    int count = countFiles();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpOutcome outcome = runTippe(cases[i][0]);
        CHECK_STATUS(outcome, 2);
        CHECK_HAS(outcome.err, cases[i][1]);
        assert_string_equal(outcome.out, "");
        assert_int_equal(countFiles(), count);
    }
    // Devices may be shared.
    CHECK_STATUS(runTippe("run s.json --csv /dev/null --contacts /dev/null --quiet"), 0);
}

// An output that cannot be opened leaves the others as they were.
static void leaveOthersAlone(void** state) {
    (void)state;
    makeFiles();
    writeText("old.csv", "of last week\n");
    int locked = open("locked.csv", O_RDWR | O_CREAT, 0666);
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 61, .l_len = 1
    };
    assert_int_equal(fcntl(locked, F_SETLK, &lock), 0);
    tpOutcome outcome =
        runTippe("run s.json --csv old.csv --contacts locked.csv --out r.h5 --quiet");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "locked.csv: another run is writing it");
    char text[100];
    readText("old.csv", text, sizeof(text));
    assert_string_equal(text, "of last week\n");
    close(locked);
    CHECK_STATUS(runTippe("run s.json --csv old.csv --contacts locked.csv --out r.h5 --quiet"), 0);
}

// "-" is standard output and standard input.
static void useStandardStreams(void** state) {
    (void)state;
    makeFiles();
    CHECK_STATUS(runTippe("run s.json --csv a.csv --contacts c.csv --quiet"), 0);
    char expected[16384];
    readText("a.csv", expected, sizeof(expected));
    tpOutcome outcome = runTippe("run s.json --csv -");
    CHECK_STATUS(outcome, 0);
    assert_string_equal(outcome.out, expected);
    CHECK_HAS(outcome.err, "largest residual"); // the summary goes where people still see it
    assert_string_equal(runTippe("run - --csv - --quiet < s.json").out, expected);
    assert_string_equal(runTippe("export r.h5 --csv -").out, expected);
    CHECK_HAS(runTippe("check - < s.json").out, "<stdin>: valid");
    outcome = runTippe("check - < i.csv");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "<stdin>:1:1: ");
    assert_string_equal(runTippe("collide i.csv --out -").out, runTippe("collide i.csv").out);
}

// A disk without room is called so, whatever the output, and leaves no part of it.
static void tellOfFullDisks(void** state) {
    (void)state;
    makeFiles();
    CHECK_STATUS(runTippe("run s.json --until 2 --step 0.0005 --out long.h5 --quiet"), 0);
    static const char* const commands[] = { "export long.h5 --html new", "export long.h5 --csv new",
                                            "export long.h5 --reports new",
                                            "run s.json --until 2 --step 0.0005 --csv new",
                                            "run s.json --until 2 --step 0.0005 --out new" };
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
        // A limit on the size of files stands for the disk.
        char command[600], said[1000];
        snprintf(command, sizeof(command),
                 "bash -c 'ulimit -f 64; exec %s %s --quiet' 2> said > /dev/null", TIPPE_PROGRAM,
                 commands[i]);
        if (strncmp(commands[i], "export", 6) == 0) {
            snprintf(command, sizeof(command),
                     "bash -c 'ulimit -f 64; exec %s %s' 2> said > /dev/null", TIPPE_PROGRAM,
                     commands[i]);
        }
        assert_int_equal(WEXITSTATUS(system(command)), 3);
        readText("said", said, sizeof(said));
        CHECK_HAS(said, "File too large");
        assert_int_not_equal(system("ls *.part > /dev/null 2>&1"), 0);
        assert_true(strncmp(commands[i], "run", 3) == 0 || access("new", F_OK) != 0);
        unlink("new");
    }
}

// A pipe that nobody writes to is no reason to wait.
static void refuseNamedPipes(void** state) {
    (void)state;
    makeFiles();
    assert_int_equal(mkfifo("pipe", 0666), 0);
    static const char* const commands[] = {
        "run pipe", "check pipe", "view pipe", "compare pipe", "solve pipe", "collide pipe",
        "export pipe --csv x.csv", "verify pipe", "repair pipe", "compare s.json --reference pipe",
        "run s.json --from pipe",
        // nor one that nobody reads
        "run s.json --csv pipe", "run s.json --out pipe", "run s.json --save pipe",
        "run s.json --contacts pipe", "collide i.csv --out pipe", "check s.json --write pipe",
        // nor a device without an end
        "run /dev/zero", "run s.json --from /dev/zero", "collide /dev/zero", "collide long.csv",
        "compare s.json --reference /dev/zero"
    };
    FILE* file = fopen("long.csv", "w");
    for (int i = 0; i < 2000000; ++i) {
        fputc('x', file);
    }
    fclose(file);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); ++i) {
        char command[400];
        snprintf(command, sizeof(command), "timeout 20 %s %s > /dev/null 2> said", TIPPE_PROGRAM,
                 commands[i]);
        int status = system(command);
        if (WEXITSTATUS(status) != 2) {
            fail_msg("tippe %s ended with %d", commands[i], WEXITSTATUS(status));
        }
        char said[1000];
        readText("said", said, sizeof(said));
        CHECK_HAS(said, strstr(commands[i], "pipe") != NULL ? "pipe" : ": ");
    }
    // With a reader a pipe is as good as a file.
    CHECK_STATUS(runTippe("run s.json --csv a.csv --quiet"), 0);
    char expected[16384], got[16384], command[600];
    readText("a.csv", expected, sizeof(expected));
    snprintf(command, sizeof(command),
             "exec 3<> pipe; %s run s.json --csv pipe --quiet && head -c %zu <&3 > got",
             TIPPE_PROGRAM, strlen(expected));
    assert_int_equal(system(command), 0);
    readText("got", got, sizeof(got));
    assert_string_equal(got, expected);
    snprintf(command, sizeof(command), "%s collide i.csv > /dev/full 2> said", TIPPE_PROGRAM);
    assert_int_equal(WEXITSTATUS(system(command)), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keepInputs, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(replacePlantedLinks, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(keepOutputsApart, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(leaveOthersAlone, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(useStandardStreams, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(tellOfFullDisks, enterDirectory, leaveDirectory),
        cmocka_unit_test_setup_teardown(refuseNamedPipes, enterDirectory, leaveDirectory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
