// The program as its users meet it: help, suggestions, exit statuses, files.

#include <signal.h>
#include <time.h>

#include "program.h"

static const char spinner[] =
    "{ \"tippe\": 1, \"name\": \"Spinner\", \"bodies\": [\n"
    "  { \"name\": \"top\", \"mass\": 1, \"inertia\": [1, 2, 3], \"velocity\": [1, 0, 0],\n"
    "    \"angular_velocity\": [0.1, 5, 0.1] },\n"
    "  { \"name\": \"table\", \"kind\": \"kinematic\", \"velocity\": [0, 1, 0] },\n"
    "  { \"name\": \"wall\", \"kind\": \"fixed\" } ],\n"
    "  \"simulation\": { \"stepper\": \"free-flight\", \"step\": 0.01, \"until\": 1 } }\n";

static void tellHelp(void** state) {
    (void)state;
    tpOutcome outcome = runTippe("--help");
    CHECK_STATUS(outcome, 0);
    static const char* const commands[] = { "run", "check", "list", "solve", "repair", "schema" };
    for (int i = 0; i < 6; ++i) {
        char arguments[64], again[64];
        CHECK_HAS(outcome.out, commands[i]);
        snprintf(arguments, sizeof(arguments), "%s --help", commands[i]);
        snprintf(again, sizeof(again), "help %s", commands[i]);
        tpOutcome help = runTippe(arguments);
        CHECK_STATUS(help, 0);
        CHECK_HAS(help.out, "usage: tippe ");
        assert_string_equal(help.err, "");
        assert_string_equal(runTippe(again).out, help.out);
    }
    static const char* const options[] = { "--stepper", "--step",  "--until",    "--set",
                                           "--out",     "--csv",   "--contacts", "--every",
                                           "--json",    "--quiet", "--threads",  "--help" };
    outcome = runTippe("run --help");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); ++i) {
        CHECK_HAS(outcome.out, options[i]);
    }
    CHECK_HAS(runTippe("--version").out, "tippe ");
}

static void suggestNames(void** state) {
    (void)state;
    writeText("s.json", spinner);
    static const char* const cases[][2] = {
        { "", "usage: tippe" },
        { "rnu s.json", "unknown command 'rnu'; did you mean 'run'?" },
        { "fit scene.json motions.csv", "To identify numbers of a scene from measured motions" },
        { "score", "part of the Python package" },
        { "frobnicate", "unknown command 'frobnicate'; see tippe --help" },
        { "run", "SCENE is missing" },
        { "run s.json more", "unexpected argument 'more'" },
        { "run s.json --step 1e300", "a step of 1e+300 s is too long" },
        { "run s.json --cvs a.csv", "did you mean --csv?" },
        { "run s.json --stepp 0.1", "did you mean --step" },
        { "run s.json --step", "--step needs a value" },
        { "run s.json --step zero", "--step takes" },
        { "run s.json --step 0", "--step takes a number greater than zero" },
        { "run s.json --step inf", "--step takes" },
        { "run s.json --until -1", "the end must be zero or more" },
        { "run s.json --until nan", "--until takes" },
        { "run s.json --every 0", "--every takes a whole number, one or more" },
        { "run s.json --threads 0", "--threads takes a whole number from 1 to 1024" },
        { "run s.json --threads 100000", "--threads takes a whole number from 1 to 1024" },
        { "run s.json --stepper anitesc",
          "unknown stepper \"anitesc\"; did you mean \"anitescu\"?" },
        { "run s.json --set tolerence=1", "did you mean \"tolerance\"?" },
        { "run s.json --set tolerance", "expected name=value" },
        { "run s.json --set tolerance=high", "the option \"tolerance\" takes a number" },
        { "list steppes", "unknown list 'steppes'; did you mean 'steppers'?" },
        { "check", "SCENE is missing" },
        { "repair none.h5", "none.h5" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpOutcome outcome = runTippe(cases[i][0]);
        CHECK_STATUS(outcome, 2);
        CHECK_HAS(outcome.err, cases[i][1]);
        assert_string_equal(outcome.out, "");
    }
    assert_int_equal(countFiles(), 1);
}

// A scene whose name is not quite right, one in a folder of its own, and a folder of scenes.
static void findScenes(void** state) {
    (void)state;
    tpOutcome outcome = runTippe("run faling_rod");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "faling_rod: cannot be read: No such file or directory; did you mean "
                           "falling_rod?");
    CHECK_STATUS(runTippe("run rattleback --until 0.01 --quiet"), 0);
    CHECK_HAS(runTippe("run ratleback").err, "did you mean rattleback/rattleback?");
    CHECK_HAS(runTippe("run piramid50").err, "did you mean bench/pyramid50?");
    outcome = runTippe("run board");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "did you mean board/bounce, board/cradle, ");
    outcome = runTippe("list scenes");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "\n  ball_platter                    A ball rolls on a turning platter");
    CHECK_HAS(runTippe("list scenes --names").out, "\nrattleback/rattleback\n");
    CHECK_HAS(runTippe("list options").out, "circular (default), pyramid; ");
    // The meshes of a scene by name are found again.
    CHECK_STATUS(runTippe("run marbles --until 0.02 --out m.h5 --quiet"), 0);
    CHECK_STATUS(runTippe("verify m.h5"), 0);
}

// A run of no steps has no rates to print.
static void runNothing(void** state) {
    (void)state;
    tpOutcome outcome = runTippe("run falling_rod --until 0");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "  steps                  0\n");
    assert_null(strstr(outcome.out, "nan"));
}

static void listThings(void** state) {
    (void)state;
    tpOutcome outcome = runTippe("list");
    CHECK_STATUS(outcome, 0);
    static const char* const names[] = { "free-flight", "lemke", "superellipsoid", "revolute" };
    for (int i = 0; i < 4; ++i) {
        CHECK_HAS(outcome.out, names[i]);
    }
    outcome = runTippe("list joints --names");
    CHECK_HAS(outcome.out, "ball\nrevolute\nprismatic\n");
}

// Files ---------------------------------------------------------------------------------------

static void writeTables(void** state) {
    (void)state;
    writeText("s.json", spinner);
    tpOutcome outcome = runTippe("run s.json --csv run.csv --contacts contacts.csv --out run.h5");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "Spinner, free-flight, step 0.01 s");
    CHECK_HAS(outcome.out, "run.h5");
    assert_string_equal(outcome.err, ""); // no progress if there is no terminal
    assert_int_equal(countFiles(), 4);
    assert_int_equal(countLines("run.csv"), 102); // header, start, 100 steps
    char text[8192];
    readText("run.csv", text, sizeof(text));
    static const char header[] =
        "time,top.x,top.y,top.z,top.qw,top.qx,top.qy,top.qz,top.vx,top.vy,top.vz,top.wx,top.wy,"
        "top.wz,table.x,table.y,table.z,table.qw,table.qx,table.qy,table.qz,table.vx,table.vy,"
        "table.vz,table.wx,table.wy,table.wz\n";
    assert_memory_equal(text, header, sizeof(header) - 1);
    readText("contacts.csv", text, sizeof(text));
    assert_string_equal(text, "time,bodyA,bodyB,px,py,pz,nx,ny,nz,gap,normal_impulse,"
                              "friction_impulse_x,friction_impulse_y,friction_impulse_z,"
                              "torsional_impulse,sliding_speed,state\n");
    // The same bits again, into files that exist already.
    CHECK_STATUS(runTippe("run s.json --csv again.csv --quiet --threads 2"), 0);
    assert_int_equal(system("cmp -s run.csv again.csv"), 0);
}

static void recordEvery(void** state) {
    (void)state;
    writeText("s.json", spinner);
    tpOutcome outcome = runTippe("run s.json --csv run.csv --every 10 --quiet --until 0.995");
    CHECK_STATUS(outcome, 0);
    assert_string_equal(outcome.out, "");
    assert_int_equal(countLines("run.csv"), 12); // round(99.5) = 100 steps
    outcome = runTippe("run s.json --csv start.csv --until 0 --quiet");
    CHECK_STATUS(outcome, 0);
    assert_int_equal(countLines("start.csv"), 2);
}

static void printJson(void** state) {
    (void)state;
    writeText("s.json", spinner);
    tpOutcome outcome = runTippe("run s.json --json --quiet --step 0.02");
    CHECK_STATUS(outcome, 0);
    static const char* const keys[] = {
        "steps",           "simulated_time", "wall_time",       "realtime_factor",
        "contacts_mean",   "contacts_max",   "penetration_max", "residual_max",
        "dissipation_max", "energy_start",   "energy_end",      "energy_increase_max",
        "solves",          "iterations",     "failures",        "peak_memory_bytes",
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        char quoted[64];
        snprintf(quoted, sizeof(quoted), "\"%s\": ", keys[i]);
        CHECK_HAS(outcome.out, quoted);
    }
    CHECK_HAS(outcome.out, "{\"steps\": 50,");
}

// On bad input nothing is written, whatever was asked for.
static void writeNothing(void** state) {
    (void)state;
    writeText("s.json", spinner);
    writeText("bad.json", "{ \"tippe\": 1,\n  \"bodys\": [] }\n");
    writeText("flat.json",
              "{ \"tippe\": 1, \"simulation\": { \"step\": 1, \"until\": 1 },\n"
              "\"bodies\": [ { \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 9] } ] }");
    static const char* const cases[][2] = {
        { "run bad.json --out o.h5 --csv o.csv --contacts c.csv", "bad.json:2:3: unknown key" },
        { "run flat.json --out o.h5 --csv o.csv", "flat.json:2:13: " },
        { "run none.json --csv o.csv", "none.json: cannot be read: No such file" },
        { "run . --csv o.csv", ".: is a directory" },
        { "run s.json --csv none/o.csv", "none/o.csv" },
        { "run s.json --csv o.csv --out none/o.h5", "none/o.h5" },
        { "run s.json --out o.h5 --csv none/o.csv", "none/o.csv" },
        { "run s.json --out o.h5 --contacts none/o.csv", "none/o.csv" },
        { "run s.json --csv .", "." },
        { "run s.json --csv s.json", "s.json is the scene" },
        { "run s.json --csv ./s.json", "s.json is the scene" },
        { "run s.json --csv o.csv --contacts o.csv", "the same file" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpOutcome outcome = runTippe(cases[i][0]);
        CHECK_STATUS(outcome, 2);
        CHECK_HAS(outcome.err, cases[i][1]);
        assert_string_equal(outcome.out, "");
        if (countFiles() != 3) {
            fail_msg("tippe %s left something behind", cases[i][0]);
        }
    }
    char text[2000];
    readText("s.json", text, sizeof(text));
    assert_string_equal(text, spinner);
}

// A hundred megabytes are refused at once, without being read.
static void refuseLargeFile(void** state) {
    (void)state;
    writeText("s.json", spinner);
    assert_int_equal(truncate("s.json", 100 * 1024 * 1024), 0);
    tpOutcome outcome = runTippe("run s.json --csv run.csv");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err,
              "s.json: the file has 104857600 bytes; the most that is read are 67108864");
    // As many bytes through a pipe, which has no size to look at first.
    assert_int_equal(system("cat s.json | " TIPPE_PROGRAM " check /dev/stdin 2> /dev/null") >> 8,
                     2);
    assert_int_equal(countFiles(), 1);
}

static void checkScenes(void** state) {
    (void)state;
    writeText("bad.json", "{ \"tippe\": 1, \"bodies\": [\n    {} ] }\n");
    tpOutcome outcome = runTippe("check bad.json");
    CHECK_STATUS(outcome, 2);
    assert_int_equal(strncmp(outcome.err, "bad.json:2:5: a body needs the key \"name\"", 38), 0);
    writeText("s.json", spinner);
    // Every error has a line of its own, in check and in run.
    writeText("bad2.json", "{ \"tippe\": 1, \"bodies\": 3,\n"
                           "  \"simulation\": { \"step\": 0, \"until\": 1 } }\n");
    static const char* const commands[] = { "check bad2.json", "run bad2.json" };
    for (int i = 0; i < 2; ++i) {
        outcome = runTippe(commands[i]);
        CHECK_STATUS(outcome, 2);
        assert_memory_equal(outcome.err, "bad2.json:1:25: ", 16);
        CHECK_HAS(outcome.err, "\nbad2.json:2:27: \"step\" must be greater");
    }
    outcome = runTippe("check s.json");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "s.json: valid: 3 bodies, 0 shapes, 0 joints, 0 forces, 100 steps");
    assert_string_equal(runTippe("check s.json --quiet").out, "");
    writeText("n.json",
              "{ \"tippe\": 1, \"materials\": { \"wood\": {} }, \"bodies\": [],\n"
              "\"simulation\": { \"stepper\": \"free-flight\", \"step\": 1, \"until\": 1,\n"
              "\"options\": { \"tolerance\": 1e-9 } } }");
    outcome = runTippe("check n.json");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out,
              "n.json:3:14: note: the stepper free-flight does not use the option \"tolerance\"");
    CHECK_HAS(outcome.out, "n.json:1:30: note: no shape is made of the material \"wood\"");
    writeText("f.json", "{ \"tippe\": 1, \"materials\": {\n"
                        "\"wood\": { \"friction\": { \"dynamic\": 0.3, \"torsional\": 1e-3, "
                        "\"rolling\": 1e-3 } } },\n"
                        "\"bodies\": [], \"simulation\": { \"step\": 1, \"until\": 1 } }");
    CHECK_HAS(runTippe("check f.json --stepper mirtich-canny").out,
              "f.json:2:1: note: the stepper mirtich-canny does not use the rolling friction of "
              "\"wood\"; used by stewart-trinkle, anitescu, auto\n");
    assert_null(strstr(runTippe("check f.json --stepper mirtich-canny").out, "torsional"));
    assert_null(strstr(runTippe("check f.json --stepper anitescu").out, "does not use"));
    // Restitution is used by stewart-trinkle only with a law of impact.
    writeText("e.json",
              "{ \"tippe\": 1, \"materials\": {\n\"rubber\": { \"restitution\": 0.8 } },\n"
              "\"bodies\": [], \"simulation\": { \"step\": 1, \"until\": 1 } }");
    CHECK_HAS(runTippe("check e.json --stepper stewart-trinkle").out,
              "e.json:2:1: note: the stepper stewart-trinkle does not use the restitution of "
              "\"rubber\"");
    CHECK_HAS(runTippe("check e.json --stepper penalty").out, "does not use the restitution");
    assert_null(
        strstr(runTippe("check e.json --stepper stewart-trinkle --set impact_law=newton").out,
               "restitution"));
    assert_null(strstr(runTippe("check e.json --stepper anitescu").out, "restitution"));
    // Contacts that give are carried by two steppers, and leave restitution out.
    writeText("g.json", "{ \"tippe\": 1, \"materials\": {\n\"rubber\": { \"restitution\": 0.8, "
                        "\"contact\": { \"compliance\": 1e-5 } } },\n"
                        "\"bodies\": [], \"simulation\": { \"step\": 1, \"until\": 1 } }");
    CHECK_HAS(runTippe("check g.json --stepper bender-schmitt").out,
              "g.json:2:1: note: the stepper bender-schmitt does not use the compliance of "
              "\"rubber\"; used by anitescu, auto\n");
    assert_null(strstr(runTippe("check g.json --stepper bender-schmitt").out, "restitution"));
    CHECK_HAS(runTippe("check g.json --stepper anitescu").out,
              "g.json:2:1: note: contacts that give bounce by their spring, not by the restitution "
              "of \"rubber\"\n");
    // A step of first order shows where something swings or spins.
    writeText("w.json",
              "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": [\n"
              "{ \"name\": \"top\", \"mass\": 1, \"inertia\": [1, 1, 1], \"angular_velocity\": "
              "[0, 0, 9] } ],\n\"joints\": [\n{ \"name\": \"pin\", \"type\": \"ball\", \"bodies\": "
              "[null, \"top\"], \"anchor\": [0, 0, 1] } ],\n"
              "\"simulation\": { \"step\": 0.01, \"until\": 1 } }");
    outcome = runTippe("check w.json --stepper stewart-trinkle");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "w.json:4:1: note: the stepper stewart-trinkle is of first order");
    CHECK_HAS(outcome.out, "swings on the joint \"pin\"");
    CHECK_HAS(outcome.out, "the spinning body \"top\"");
    CHECK_HAS(runTippe("check w.json --stepper penalty").out,
              "w.json:4:1: note: the stepper penalty is of first order");
    outcome = runTippe("check w.json --stepper small-steps");
    CHECK_HAS(outcome.out, "w.json:4:1: note: the stepper small-steps is of first order");
    assert_null(strstr(outcome.out, "wobble")); // without a shape it touches nothing
    writeText(
        "b.json",
        "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": [\n"
        "{ \"name\": \"egg\", \"mass\": 1, \"shapes\": [ { \"type\": \"ellipsoid\", \"radii\": "
        "[1, 1, 2] } ], \"angular_velocity\": [0, 0, 9] } ],\n"
        "\"simulation\": { \"step\": 0.01, \"until\": 1 } }");
    CHECK_HAS(runTippe("check b.json --stepper small-steps").out,
              "b.json:2:1: note: the stepper small-steps damps how bodies wobble on contacts");
    assert_null(strstr(runTippe("check w.json --stepper anitescu").out, "first order"));
    assert_null(strstr(runTippe("check e.json --stepper stewart-trinkle").out, "first order"));
    // What was an option of one stepper is another stepper: an error, unless the scene's own
    // stepper has the option and this one is only tried instead.
    writeText("o.json",
              "{ \"tippe\": 1, \"bodies\": [], \"simulation\": { \"stepper\": \"bender-schmitt\",\n"
              "\"step\": 1, \"until\": 1, \"options\": { \"substeps\": 4 } } }");
    outcome = runTippe("check o.json");
    CHECK_STATUS(outcome, 2);
    CHECK_HAS(outcome.err, "o.json:2:37: bender-schmitt has no option \"substeps\"; the stepper "
                           "\"small-steps\" has it");
    CHECK_STATUS(runTippe("check s.json --stepper bender-schmitt --set substeps=4"), 2);
    writeText("o.json",
              "{ \"tippe\": 1, \"bodies\": [], \"simulation\": { \"stepper\": \"small-steps\",\n"
              "\"step\": 1, \"until\": 1, \"options\": { \"substeps\": 4 } } }");
    CHECK_STATUS(runTippe("check o.json"), 0);
    CHECK_STATUS(runTippe("run o.json --quiet --stepper bender-schmitt"), 0);
    // Written again, it is as right as before, and stays as it is.
    CHECK_STATUS(runTippe("check s.json --write t.json"), 0);
    CHECK_STATUS(runTippe("check t.json --write u.json"), 0);
    assert_int_equal(system("cmp -s t.json u.json"), 0);
}

// What is allowed but may not be meant: no gravity, bodies that start inside each other.
static void noteWhatMayNotBeMeant(void** state) {
    (void)state;
    writeText("s.json",
              "{ \"tippe\": 1, \"simulation\": { \"step\": 1, \"until\": 1 }, \"bodies\": [\n"
              "{ \"name\": \"floor\", \"kind\": \"fixed\",\n"
              "  \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },\n"
              "{ \"name\": \"deep\", \"density\": 1, \"position\": [0, 0, 0.75],\n"
              "  \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 } ] },\n"
              "{ \"name\": \"resting\", \"density\": 1, \"position\": [9, 0, 0.9999],\n"
              "  \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 } ] } ] }");
    tpOutcome outcome = runTippe("check s.json");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "s.json:1:1: note: there is no gravity");
    CHECK_HAS(outcome.out,
              "s.json:4:1: note: \"floor\" and \"deep\" overlap by 0.25 m at the start\n");
    assert_null(strstr(outcome.out, "resting"));
    CHECK_HAS(outcome.out, "s.json: valid: 3 bodies");
    assert_null(strstr(runTippe("check falling_rod").out, "note"));
}

// Every scene that comes with Tippe is right, and is found by its name.
static void checkOurScenes(void** state) {
    (void)state;
    assert_int_equal(system("cd " TIPPE_SOURCE_DIR
                            "/scenes && for scene in $(find . -name '*.json'); "
                            "do " TIPPE_PROGRAM " check --quiet $scene || exit 1; done"),
                     0);
    CHECK_STATUS(runTippe("check t_handle"), 0);
    CHECK_STATUS(runTippe("check bench/pyramid20"), 0);
    CHECK_STATUS(runTippe("check no_such_scene"), 2);
}

// Ends ----------------------------------------------------------------------------------------

static void stopWhereNumbersEnd(void** state) {
    (void)state;
    writeText(
        "s.json",
        "{ \"tippe\": 1, \"bodies\": [ { \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],\n"
        "\"velocity\": [9e153, 0, 0] } ], \"forces\": [ { \"body\": \"a\", \"force\": [2e152, 0, "
        "0] "
        "} ],\n"
        "\"simulation\": { \"stepper\": \"free-flight\", \"step\": 1, \"until\": 1000 } }");
    tpOutcome outcome = runTippe("run s.json --csv run.csv --out run.h5");
    CHECK_STATUS(outcome, 3);
    CHECK_HAS(outcome.err, "the simulation could not go on at t = ");
    assert_true(countLines("run.csv") >= 3 && countLines("run.csv") < 100);
    outcome = runTippe("repair run.h5");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "nothing to repair");
}

static void waitSeconds(double seconds) {
    struct timespec time = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&time, NULL);
}

// Ctrl-C in the middle of a long run: files are finished, and say so.
static void endOnInterrupt(void** state) {
    (void)state;
    writeText("s.json", spinner);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("err", "w", stderr) == NULL || freopen("out", "w", stdout) == NULL) {
            _exit(99);
        }
        execl(TIPPE_PROGRAM, "tippe", "run", "s.json", "--until", "1e9", "--csv", "run.csv",
              "--out", "run.h5", "--every", "100", (char*)NULL);
        _exit(99);
    }
    assert_true(child > 0);
    for (int i = 0; i < 200 && (access("run.csv", F_OK) != 0 || access("run.h5", F_OK) != 0); ++i) {
        waitSeconds(0.05);
    }
    waitSeconds(1.0);
    kill(child, SIGINT);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    char text[4096];
    readText("err", text, sizeof(text));
    CHECK_HAS(text, "interrupted at t = ");
    tpOutcome outcome = runTippe("repair run.h5");
    CHECK_STATUS(outcome, 0);
    CHECK_HAS(outcome.out, "nothing to repair");
    // The table ends with a whole line.
    assert_int_equal(system("test $(tail -c 1 run.csv | wc -l) -eq 1"), 0);
    assert_true(countLines("run.csv") > 2);
}

// A full disk is an error that is told, not a success. /dev/full takes nothing.
static void noticeFullDisk(void** state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    writeText("s.json", spinner);
    tpOutcome outcome = runTippe("run s.json --csv /dev/full");
    CHECK_STATUS(outcome, 3);
    CHECK_HAS(outcome.err, "/dev/full");
    assert_int_equal(system(TIPPE_PROGRAM " list > /dev/full 2> err") >> 8, 3);
}

// Damaged scenes through the whole program: valid or refused, never anything else.
static void surviveDamage(void** state) {
    (void)state;
    tpRandom random = { 99 };
    size_t length = strlen(spinner);
    char text[sizeof(spinner) + 8];
    for (int i = 0; i < 120; ++i) {
        strcpy(text, spinner);
        int changes = 1 + (int)(randomBits(&random) % 3);
        for (int k = 0; k < changes; ++k) {
            static const char bytes[] = "{}[]:,\"0123456789-.e \n\\abz";
            text[randomBits(&random) % length] = bytes[randomBits(&random) % (sizeof(bytes) - 1)];
        }
        writeText("s.json", text);
        tpOutcome outcome = runTippe("check s.json");
        if (outcome.status != 0) {
            int line, column;
            if (outcome.status != 2 || sscanf(outcome.err, "s.json:%d:%d: ", &line, &column) != 2) {
                fail_msg("status %d, \"%s\" for\n%s", outcome.status, outcome.err, text);
            }
        }
    }
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enterDirectory, leaveDirectory)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(tellHelp),        IN_DIRECTORY(suggestNames),
        IN_DIRECTORY(findScenes),      IN_DIRECTORY(listThings),
        IN_DIRECTORY(runNothing),      IN_DIRECTORY(writeTables),
        IN_DIRECTORY(recordEvery),     IN_DIRECTORY(printJson),
        IN_DIRECTORY(writeNothing),    IN_DIRECTORY(checkScenes),
        IN_DIRECTORY(refuseLargeFile), IN_DIRECTORY(noteWhatMayNotBeMeant),
        IN_DIRECTORY(checkOurScenes),  IN_DIRECTORY(stopWhereNumbersEnd),
        IN_DIRECTORY(endOnInterrupt),  IN_DIRECTORY(noticeFullDisk),
        IN_DIRECTORY(surviveDamage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
