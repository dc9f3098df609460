// tippe run --joints, --save and --from: coordinates as the documents say, and runs that go on bit
// for bit.

#include <math.h>

#include "program.h"

static const char arm[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"bodies\": [\n"
    "  { \"name\": \"upper\", \"density\": 1000, \"position\": [0.25, 0, 1],\n"
    "    \"shapes\": [{ \"type\": \"capsule\", \"radius\": 0.05, \"length\": 0.5,"
    "     \"axis\": [1, 0, 0] }] },\n"
    "  { \"name\": \"lower\", \"density\": 1000, \"position\": [0.75, 0, 1],\n"
    "    \"shapes\": [{ \"type\": \"capsule\", \"radius\": 0.05, \"length\": 0.5,"
    "     \"axis\": [1, 0, 0] }] } ],\n"
    "  \"joints\": [\n"
    "  { \"name\": \"shoulder\", \"type\": \"revolute\", \"bodies\": [null, \"upper\"],"
    "    \"anchor\": [0, 0, 1], \"axis\": [0, 1, 0], \"zero\": 0.25,"
    "    \"servo\": { \"target\": 0.5, \"stiffness\": 100, \"damping\": 10 } },\n"
    "  { \"name\": \"elbow\", \"type\": \"compound\", \"bodies\": [\"upper\", \"lower\"],"
    "    \"anchor\": [0.5, 0, 1], \"axes\": [{ \"turn\": [0, 1, 0], \"name\": \"bend\" },"
    "      { \"turn\": [0, 0, 1], \"name\": \"twist\" }] } ],\n"
    "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 0.4 } }\n";

// The start of a line of a text, counted from zero.
static const char* lineOf(const char* text, int line) {
    for (; line > 0 && text != NULL; --line) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    assert_non_null(text);
    return text;
}

static void writeJoints(void** state) {
    (void)state;
    static char text[65536], motion[65536];
    writeText("arm.json", arm);
    tpOutcome outcome = runTippe("run arm.json --joints j.csv --csv m.csv --every 2");
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "joints      j.csv"));
    readText("j.csv", text, sizeof(text));
    readText("m.csv", motion, sizeof(motion));
    static const char header[] = "time,shoulder.q,shoulder.qd,shoulder.effort,"
                                 "elbow.bend.q,elbow.bend.qd,elbow.bend.effort,"
                                 "elbow.twist.q,elbow.twist.qd,elbow.twist.effort\n";
    assert_int_equal(strncmp(text, header, strlen(header)), 0);
    assert_int_equal(countLines("j.csv"), 1 + 1 + 20);
    double q[10], x[14], before = 0.0;
    for (int row = 1; row <= 21; ++row) {
        const char *c = lineOf(text, row), *m = lineOf(motion, row);
        for (int i = 0; i < 10; ++i) {
            q[i] = strtod(c, (char**)(void*)&c);
            c += 1;
        }
        for (int i = 0; i < 14; ++i) {
            x[i] = strtod(m, (char**)(void*)&m);
            m += 1;
        }
        assert_true(q[0] == x[0]);
        assert_float_equal(q[0], 0.02 * (row - 1), 1e-12);
        // The angle and the turning of the upper arm about y, read off its own state.
        assert_float_equal(q[1], 0.25 + 2.0 * atan2(x[6], x[4]), 1e-9);
        assert_float_equal(q[2], x[12], 1e-9);
        double servo = 100.0 * (0.5 - q[1]) - 10.0 * q[2];
        if (row > 1) { // mean of the last step, between what the servo's law says before and after
            assert_true(q[3] > fmin(servo, before) - 0.5 && q[3] < fmax(servo, before) + 0.5);
        } else {
            assert_true(q[1] == 0.25 && q[3] == 0.0);
        }
        before = servo;
        assert_true(q[6] == 0.0 && q[9] == 0.0); // nothing drives the elbow
    }
    outcome = runTippe("run arm.json --joints - --quiet");
    assert_int_equal(strncmp(outcome.out, header, strlen(header)), 0);
}

// A run in two parts is the run in one, for steppers that keep something from step to step as well.
static void goOn(void** state) {
    (void)state;
    static const char* const steppers[] = {
        "anitescu", "stewart-trinkle", "bender-schmitt", "mirtich-canny", "chakraborty-trinkle",
        "penalty",  "small-steps"
    };
    writeText("ball.json", "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": {"
                           "   \"friction\": 0.3, \"restitution\": 0.5 } }, \"bodies\": [\n"
                           " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
                           "   \"shapes\": [{ \"type\": \"plane\", \"normal\": [0, 0, 1] }] },\n"
                           " { \"name\": \"box\", \"density\": 1000, \"material\": \"m\","
                           "   \"shapes\": [{ \"type\": \"box\", \"size\": [0.2, 0.3, 0.1] }],"
                           "   \"position\": [0, 0, 0.2], \"velocity\": [1, 0, 0],"
                           "   \"angular_velocity\": [3, 2, 1] } ],\n"
                           " \"simulation\": { \"step\": 0.01, \"until\": 0.5 } }");
    for (size_t i = 0; i < sizeof(steppers) / sizeof(steppers[0]); ++i) {
        static char whole[131072], first[131072], second[131072];
        char command[200];
        snprintf(command, sizeof(command), "run ball.json --stepper %s --csv w.csv --quiet",
                 steppers[i]);
        assert_int_equal(runTippe(command).status, 0);
        snprintf(command, sizeof(command),
                 "run ball.json --stepper %s --until 0.2 --csv 1.csv --save at.state --quiet",
                 steppers[i]);
        assert_int_equal(runTippe(command).status, 0);
        snprintf(command, sizeof(command),
                 "run ball.json --stepper %s --from at.state --csv 2.csv --quiet", steppers[i]);
        assert_int_equal(runTippe(command).status, 0);
        readText("w.csv", whole, sizeof(whole));
        readText("1.csv", first, sizeof(first));
        readText("2.csv", second, sizeof(second));
        size_t length = strlen(first);
        assert_int_equal(countLines("2.csv"), 1 + 1 + 30);
        // The second one starts with the last row of the first.
        if (strncmp(whole, first, length) != 0 || strcmp(whole + length, lineOf(second, 2)) != 0 ||
            strncmp(lineOf(second, 1), lineOf(first, 21), 200) != 0) {
            fail_msg("%s does not go on as it was", steppers[i]);
        }
    }
}

// The state has the options of its run; --set says others from there on.
static void setOptionsOfAState(void** state) {
    (void)state;
    writeText("arm.json", arm);
    assert_int_equal(
        runTippe("run arm.json --set certificate=1e-5 --until 0.1 --save a.state --quiet").status,
        0);
    CHECK_HAS(runTippe("run arm.json --from a.state --until 0.2 --json").out,
              "\"residual_tolerance\": 1.0000000000000001e-05");
    CHECK_HAS(runTippe("run arm.json --from a.state --until 0.2 --json --set certificate=1e-3").out,
              "\"residual_tolerance\": 0.001");
}

static void refuseOtherStates(void** state) {
    (void)state;
    static char bytes[65536];
    writeText("arm.json", arm);
    assert_int_equal(runTippe("run arm.json --save a.state --quiet").status, 0);
    static const struct {
        const char* arguments;
        const char* message;
    } cases[] = {
        { "run arm.json --from none.state", "none.state: cannot be read" },
        { "run arm.json --from arm.json", "arm.json: not a snapshot of Tippe" },
        { "run arm.json --from cut.state", "cut off" },
        { "run arm.json --from a.state --until 0.1", "is the state at t = 0.4 s" },
        { "run arm.json --from a.state --stepper penalty --until 1", "of the stepper anitescu" },
        { "run falling_rod --stepper anitescu --from a.state", "a.state: " },
        { "run arm.json --from a.state --csv a.state", "it would be overwritten" },
        { "run arm.json --save arm.json", "it would be overwritten" },
        { "run arm.json --save x --csv x", "x" },
        { "run arm.json --save nowhere/x", "nowhere/x" },
    };
    FILE* file = fopen("a.state", "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    file = fopen("cut.state", "wb");
    fwrite(bytes, 1, size / 2, file);
    fclose(file);
    int files = countFiles();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpOutcome outcome = runTippe(cases[i].arguments);
        if (outcome.status != 2 || strstr(outcome.err, cases[i].message) == NULL) {
            fail_msg("%s: status %d, %s", cases[i].arguments, outcome.status, outcome.err);
        }
        assert_int_equal(countFiles(), files);
    }
    // verify says what it cannot repeat.
    assert_int_equal(
        runTippe("run arm.json --from a.state --save b.state --until 1 --out r.h5 --quiet").status,
        0);
    tpOutcome outcome = runTippe("verify r.h5");
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(outcome.err, "started from a state at t = 0.4 s"));
}

// The columns of sensors stand behind those of the bodies; they say what the states say.
static void writeSensors(void** state) {
    (void)state;
    static char text[131072];
    writeText(
        "s.json",
        "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": { \"friction\": 0.5 } "
        "},\n"
        "  \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
        "    \"shapes\": [{ \"type\": \"plane\", \"normal\": [0, 0, 1] }] },\n"
        "  { \"name\": \"box\", \"mass\": 2, \"material\": \"m\", \"position\": [0, 0, 0.05],"
        "    \"shapes\": [{ \"type\": \"box\", \"size\": [0.2, 0.2, 0.1] }] },\n"
        "  { \"name\": \"bob\", \"mass\": 1, \"position\": [2, 0, 1],"
        "    \"shapes\": [{ \"type\": \"sphere\", \"radius\": 0.1 }] } ],\n"
        "  \"joints\": [ { \"name\": \"pin\", \"type\": \"revolute\", \"bodies\": [null, \"bob\"],"
        "    \"anchor\": [2, 0, 1.5], \"axis\": [0, 1, 0] } ],\n"
        "  \"sensors\": [ { \"name\": \"imu\", \"type\": \"accelerometer\", \"body\": \"box\" },"
        "    { \"name\": \"feet\", \"type\": \"contact_force\", \"body\": \"box\" },"
        "    { \"name\": \"angle\", \"type\": \"joint_state\", \"joint\": \"pin\" },"
        "    { \"name\": \"load\", \"type\": \"force_torque\", \"joint\": \"pin\" },"
        "    { \"name\": \"gyro\", \"type\": \"gyroscope\", \"body\": \"bob\" } ],\n"
        "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 0.5 } }");
    tpOutcome outcome = runTippe("run s.json --csv s.csv --quiet");
    if (outcome.status != 0) {
        fail_msg("%s", outcome.err);
    }
    readText("s.csv", text, sizeof(text));
    static const char columns[] =
        ",imu.x,imu.y,imu.z,feet.n,feet.fx,feet.fy,feet.fz,angle.q,angle.qd,angle.effort,"
        "load.fx,load.fy,load.fz,load.tx,load.ty,load.tz,gyro.x,gyro.y,gyro.z\n";
    char* end = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(end - strlen(columns), columns, strlen(columns)), 0);
    double x[1 + 26 + 19];
    const char* c = lineOf(text, 51);
    for (int i = 0; i < 46; ++i) {
        x[i] = strtod(c, (char**)(void*)&c);
        c += 1;
    }
    const double* sensors = x + 27;
    assert_float_equal(sensors[2], 9.81, 1e-6);       // at rest: less that of free fall
    assert_float_equal(sensors[3], 2.0 * 9.81, 1e-6); // the box's weight
    assert_float_equal(sensors[6], 2.0 * 9.81, 1e-6);
    assert_float_equal(sensors[7], 0.0, 1e-9);   // the bob hangs
    assert_float_equal(sensors[12], 9.81, 1e-6); // on it the joint carries its weight
    assert_float_equal(sensors[17], x[14 + 11], 1e-12);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enterDirectory, leaveDirectory)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(writeJoints),        IN_DIRECTORY(writeSensors),      IN_DIRECTORY(goOn),
        IN_DIRECTORY(setOptionsOfAState), IN_DIRECTORY(refuseOtherStates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
