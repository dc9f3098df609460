// The tables of a run, column by column; and that the export of a recording gives the same bytes.

#include <stdlib.h>
#include <string.h>

#include "falling_world.h"
#include "made_frames.h"
#include "recording/table.h"

static char* readFile(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char* text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

// A table of a run that does not begin leaves the file as it was; one of no joints has the time
// alone.
static void testDiscarded(void** state) {
    (void)state;
    char csv[256];
    strcpy(csv, testPath("kept.csv"));
    FILE* file = fopen(csv, "w");
    fputs("old\n", file);
    fclose(file);
    tpWorld* world = makeFallingWorld();
    tpError error = { .result = tp_success };
    tpDiscardTable(tpCreateJointTable(csv, world, 1, &error));
    char* text = readFile(csv);
    assert_string_equal(text, "old\n");
    free(text);
    tpTable* table = tpCreateJointTable(csv, world, 1, &error);
    assert_non_null(table);
    CHECK_OK(tpCloseTable(table, failure));
    text = readFile(csv);
    assert_string_equal(text, "time\n0\n");
    free(text);
    tpDestroyWorld(world);
}

static void testTrajectory(void** state) {
    (void)state;
    char csv[256], exported[256], run[256];
    strcpy(csv, testPath("run.csv"));
    strcpy(exported, testPath("exported.csv"));
    strcpy(run, testPath("run.h5"));
    tpWorld* world = makeFallingWorld();
    tpError error = { .result = tp_success };
    tpTable* table = tpCreateTrajectoryTable(csv, world, 3, &error);
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = run;
    def.every = 3;
    def.step = fallingStep;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(table);
    assert_non_null(recorder);
    double time = 0.0, height = 0.0;
    for (int k = 1; k <= 10; ++k) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        CHECK_OK(tpTable_Step(table, world, failure));
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
        if (k == 9) {
            time = tpWorld_GetTime(world);
            height = tpBody_GetPosition(world, tpWorld_FindBody(world, "top")).z;
        }
    }
    CHECK_OK(tpCloseTable(table, failure));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);

    char* text = readFile(csv);
    const char header[] = "time,top.x,top.y,top.z,top.qw,top.qx,top.qy,top.qz,top.vx,top.vy,top.vz,"
                          "top.wx,top.wy,top.wz,body2.x,";
    assert_memory_equal(text, header, strlen(header));
    assert_non_null(strstr(text, ",turntable.wz\n0,"));
    assert_null(strstr(text, "table.x,table")); // the fixed table has no columns
    int rows = 0;
    char* last = text;
    for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        rows += 1;
        last = line;
    }
    assert_int_equal(rows, 1 + 1 + 3); // the header, the start, steps 3, 6 and 9
    char* end;
    assert_true(strtod(last, &end) == time);
    strtod(end + 1, &end);
    strtod(end + 1, &end);
    assert_true(strtod(end + 1, &end) == height);
    free(text);

    tpRecording* recording = tpOpenRecording(run, NULL, &error);
    CHECK_OK(tpExportTrajectory(recording, exported, failure));
    tpCloseRecording(recording);
    char *a = readFile(csv), *b = readFile(exported);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

// Contacts by formula, through a recording, against rows written out here.
static void testContacts(void** state) {
    (void)state;
    char run[256], csv[256];
    strcpy(run, testPath("contacts.h5"));
    strcpy(csv, testPath("contacts.csv"));
    MadeRun made;
    makeRun(&made, 3, 0);
    tpRecordingHead head = madeHead(&made);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    CHECK_OK(tpWriter_Create(&writer, run, &head, &allocator, failure));
    tpPump_Start(&pump, &writer, &made.roster, false, &allocator);
    for (int k = 0; k < 50; ++k) {
        CHECK_OK(addMadeFrame(&pump, &made, k, failure));
    }
    CHECK_OK(tpPump_Stop(&pump, failure));
    CHECK_OK(tpWriter_Close(&writer, NULL, failure));
    tpError error;
    tpRecording* recording = tpOpenRecording(run, NULL, &error);
    assert_non_null(recording);
    CHECK_OK(tpExportContacts(recording, csv, failure));
    tpCloseRecording(recording);

    char* text = readFile(csv);
    char* line = strtok(text, "\n");
    assert_string_equal(line, "time,bodyA,bodyB,px,py,pz,nx,ny,nz,gap,normal_impulse,"
                              "friction_impulse_x,friction_impulse_y,friction_impulse_z,"
                              "torsional_impulse,sliding_speed,state");
    static const char* const states[] = { "separated", "sliding", "sticking" };
    for (int k = 0; k < 50; ++k) {
        for (int i = 0; i < madeContactCount(k); ++i) {
            tpRecordedContact c = madeContact(&made, k, i);
            char expected[600];
            snprintf(expected, sizeof(expected),
                     "%.17g,%s,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
                     "%.17g,%.17g,%.17g,%s",
                     0.125 * k, made.bodies[c.bodyA].name, "ground", c.point.x, c.point.y,
                     c.point.z, c.normal.x, c.normal.y, c.normal.z, c.gap, c.normalImpulse,
                     c.frictionImpulse.x, c.frictionImpulse.y, c.frictionImpulse.z,
                     c.torsionalImpulse, c.slidingSpeed, states[c.state]);
            line = strtok(NULL, "\n");
            assert_non_null(line);
            assert_string_equal(line, expected);
        }
    }
    assert_null(strtok(NULL, "\n"));
    free(text);
    freeRun(&made);
}

// A pendulum with a limit beside a ball that rolls on a floor: the tables of contacts and of joints
// that a run writes, and those of its recording.
static void testTablesOfARun(void** state) {
    (void)state;
    char live[2][256], exported[256], run[256];
    strcpy(live[0], testPath("live_contacts.csv"));
    strcpy(live[1], testPath("live_joints.csv"));
    strcpy(exported, testPath("exported.csv"));
    strcpy(run, testPath("touching.h5"));
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_stewartTrinkle;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shape = tpDefaultShapeDef();
    addBody(world, "floor", tp_fixedBody, 0.0);
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpWorld_FindBody(world, "floor"), &shape, &plane, NULL);
    tpBodyId ball = addBody(world, "ball, \"big\"", tp_dynamicBody, 0.2);
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.2 }, NULL);
    tpJointDef joint = tpDefaultJointDef();
    joint.name = "swing";
    joint.type = tp_revoluteJoint;
    joint.bodyB = addBody(world, "bob", tp_dynamicBody, 2.0);
    joint.anchorA = joint.anchorB = tpMakeVec3(0.0, 0.0, 3.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    tpError error = { .result = tp_success };
    tpTable* tables[2] = { tpCreateContactTable(live[0], world, 2, &error),
                           tpCreateJointTable(live[1], world, 2, &error) };
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = run;
    def.every = 2;
    def.step = fallingStep;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_true(tables[0] != NULL && tables[1] != NULL && recorder != NULL);
    int touching = 0;
    for (int k = 1; k <= 41; ++k) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        touching += k % 2 == 0 ? report.contactCount : 0;
        CHECK_OK(tpTable_Step(tables[0], world, failure));
        CHECK_OK(tpTable_Step(tables[1], world, failure));
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    }
    CHECK_OK(tpCloseTable(tables[0], failure));
    CHECK_OK(tpCloseTable(tables[1], failure));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
    assert_true(touching > 10);
    tpRecording* recording = tpOpenRecording(run, NULL, &error);
    assert_non_null(recording);
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(i == 0 ? tpExportContacts(recording, exported, failure)
                        : tpExportJoints(recording, exported, failure));
        char *a = readFile(live[i]), *b = readFile(exported);
        assert_string_equal(a, b);
        int rows = 0;
        for (const char* c = a; *c != '\0'; ++c) {
            rows += *c == '\n';
        }
        assert_int_equal(rows, 1 + (i == 0 ? touching : 21)); // joints have a row of the start
        free(a);
        free(b);
    }
    tpCloseRecording(recording);
}

// Rows longer than the buffer, and names that need quotes.
static void testLongRowsAndNames(void** state) {
    (void)state;
    char csv[256];
    strcpy(csv, testPath("long.csv"));
    tpAllocator allocator = tpDefaultAllocator();
    tpTextFile text;
    CHECK_OK(tpTextFile_Create(&text, csv, tp_growingText, &allocator, failure));
    tpTextFile_PutName(&text, "a \"b\", c");
    for (int i = 0; i < 200000; ++i) {
        tpTextFile_PutChar(&text, ',');
        tpTextFile_PutNumber(&text, i);
    }
    CHECK_OK(tpTextFile_EndRow(&text, failure));
    CHECK_OK(tpTextFile_Close(&text, failure));
    char* content = readFile(csv);
    assert_memory_equal(content, "\"a \"\"b\"\", c\",0,1,", 17);
    assert_string_equal(content + strlen(content) - 8, ",199999\n");
    free(content);
}

// A text that is given up before anything was written leaves no file where there was none.
static void testGivenUp(void** state) {
    (void)state;
    char csv[512];
    strcpy(csv, testPath("given_up.csv"));
    remove(csv);
    tpAllocator allocator = tpDefaultAllocator();
    tpTextFile text;
    CHECK_OK(tpTextFile_Create(&text, csv, tp_growingText, &allocator, failure));
    tpTextFile_PutText(&text, "lost");
    tpTextFile_Abandon(&text);
    assert_null(fopen(csv, "r"));
}

static void testRefused(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpError error;
    assert_null(tpCreateTrajectoryTable("/nonexistent/x.csv", world, 1, &error));
    assert_int_equal(error.result, tp_ioError);
    assert_string_equal(error.message,
                        "/nonexistent/x.csv: cannot create: No such file or directory");
    assert_null(tpCreateContactTable(testPath("x.csv"), world, 0, &error));
    assert_int_equal(error.result, tp_badInput);
    tpDestroyWorld(world);
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testDiscarded),        cmocka_unit_test(testTrajectory),
        cmocka_unit_test(testContacts),         cmocka_unit_test(testTablesOfARun),
        cmocka_unit_test(testLongRowsAndNames), cmocka_unit_test(testRefused),
        cmocka_unit_test(testGivenUp),
    };
    return cmocka_run_group_tests(tests, NULL, tearDown);
}
