// A recorder in memory: saved, it is the file that a recorder with a path writes, byte for byte.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made_frames.h"
#include "support/scene_text.h"
#include "tippe/scene.h"

static char folder[] = "/tmp/tippe_kept_XXXXXX";

// Two balls that fall on a floor, roll and touch, with a joint, and an arm with a servo, by a
// stepper that leaves bodies to others: for contacts, pairs, labels, reactions, coordinates,
// sensors and carriers.
static const char scene[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": { \"m\": { \"friction\": 0.4 } }, "
    "\"bodies\": ["
    "{ \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": "
    "\"plane\", "
    "\"normal\": [0, 0, 1] } ] },"
    "{ \"name\": \"a\", \"material\": \"m\", \"density\": 1000, \"position\": [0, 0, 0.12], "
    "\"shapes\": "
    "[ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
    "{ \"name\": \"b\", \"material\": \"m\", \"density\": 1000, \"position\": [0.05, 0, 0.32], "
    "\"velocity\": "
    "[0, 1, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
    "{ \"name\": \"arm\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [3, 0, 1] } ],"
    "\"joints\": [ { \"name\": \"j\", \"type\": \"distance\", \"bodies\": [\"a\", \"b\"], "
    "\"anchors\": "
    "[[0, 0, 0.12], [0.05, 0, 0.32]] },"
    "{ \"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [null, \"arm\"], \"anchor\": [3, "
    "0, 2], "
    "\"axis\": [0, 1, 0], \"servo\": { \"target\": 1, \"stiffness\": 10, \"damping\": 1 } } ],"
    "\"sensors\": [ { \"name\": \"gyro\", \"type\": \"gyroscope\", \"body\": \"a\" } ],"
    "\"simulation\": { \"step\": 0.01, \"until\": 1 } }";

static tpRecorder* record(const char* path, bool statesOnly, tpWorld* world, tpAudit* audit) {
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = path;
    def.sceneText = scene;
    def.sceneName = "two balls";
    def.step = 0.01;
    def.every = 3;
    def.statesOnly = statesOnly;
    tpError error = { .result = tp_success };
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    if (recorder == NULL) {
        fail_msg("%s", error.message);
    }
    tpAudit_Start(audit, world);
    for (int k = 0; k < 100; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        tpAudit_AddStep(audit, &report);
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    }
    audit->wallTime = 0.0; // the one number of a summary that differs from run to run
    return recorder;
}

static size_t readFile(const char* path, unsigned char** bytes) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

// The text of the summary has the peak of the process' memory in it, so it is left out of both.
static void testSavedIsTheFile(void** state) {
    (void)state;
    char direct[64], saved[64];
    snprintf(direct, sizeof(direct), "%s/direct.h5", folder);
    snprintf(saved, sizeof(saved), "%s/saved.h5", folder);
    tpAudit audit;
    tpWorld* first = makeWorldFrom(scene);
    CHECK_OK(tpCloseRecorder(record(direct, false, first, &audit), NULL, failure));
    tpWorld* second = makeWorldFrom(scene);
    tpRecorder* kept = record(NULL, false, second, &audit);
    tpDestroyWorld(second); // what is kept does not need the world any more
    CHECK_OK(tpRecorder_Save(kept, saved, NULL, failure));
    unsigned char *a, *b;
    size_t size = readFile(direct, &a);
    assert_int_equal(readFile(saved, &b), size);
    assert_memory_equal(a, b, size);
    free(a);
    free(b);
    // It may be saved again, with a summary, and goes on after a place that cannot be written.
    tpError error = { .result = tp_success };
    assert_int_equal(tpRecorder_Save(kept, "/no/such/place.h5", &audit, &error), tp_ioError);
    CHECK_OK(tpRecorder_Save(kept, saved, &audit, failure));
    tpRecording* recording = tpOpenRecording(saved, NULL, &error);
    assert_non_null(recording);
    assert_non_null(strstr(tpRecording_GetSummary(recording), "\"steps\""));
    tpCloseRecording(recording);
    CHECK_OK(tpCloseRecorder(kept, NULL, failure));
    tpDestroyWorld(first);
    unlink(direct);
    unlink(saved);
}

static void testColumnsAgree(void** state) {
    (void)state;
    char saved[64];
    snprintf(saved, sizeof(saved), "%s/columns.h5", folder);
    tpAudit audit;
    tpWorld* world = makeWorldFrom(scene);
    assert_true(tpStepperHasCarriers(tp_auto) && !tpStepperHasCarriers(tp_anitescu));
    assert_int_equal(tpWorld_SetStepper(world, tp_auto), tp_success);
    tpRecorder* kept = record(NULL, false, world, &audit);
    CHECK_OK(tpRecorder_Save(kept, saved, NULL, failure));
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(saved, NULL, &error);
    assert_non_null(recording);
    int seen = 0;
    for (int i = 0; i < tpRecordedColumnCount(); ++i) {
        tpRecordedColumn mine = tpRecorder_GetColumn(kept, i);
        tpRecordedColumn theirs = tpRecording_GetColumn(recording, i);
        int64_t lead = strstr(mine.path, "/offset") != NULL ? 1 : 0;
        assert_string_equal(mine.path, theirs.path);
        assert_true(mine.width == theirs.width && mine.type == theirs.type);
        assert_int_equal(mine.rowCount + lead, theirs.rowCount);
        size_t number = mine.type == 'B' ? 1 : mine.type == 'i' ? 4 : 8;
        size_t size = (size_t)mine.rowCount * (size_t)mine.width * number;
        unsigned char* a = malloc(size + 1);
        unsigned char* b = malloc(size + 1);
        tpRecorder_CopyColumn(kept, i, a);
        CHECK_OK(tpRecording_ReadColumn(recording, i, lead, mine.rowCount, b, failure));
        assert_memory_equal(a, b, size);
        seen += size > 0;
        free(a);
        free(b);
    }
    assert_int_equal(seen, tpRecordedColumnCount());
    // Joints, coordinates and values of sensors have the names that the world and the recorder
    // give.
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    assert_int_equal(info->jointCount, tpWorld_GetJointCount(world));
    assert_true(info->jointCount > 0 && info->coordinateCount > 0);
    for (int i = 0; i < info->jointCount; ++i) {
        assert_string_equal(tpRecording_GetJointName(recording, i),
                            tpJoint_GetName(world, tpWorld_GetJoint(world, i)));
    }
    for (int i = 0; i < info->coordinateCount; ++i) {
        assert_string_equal(tpRecording_GetCoordinateName(recording, i),
                            tpRecorder_GetCoordinateName(kept, i));
    }
    for (int i = 0; i < info->sensorValueCount; ++i) {
        assert_string_equal(tpRecording_GetSensorColumn(recording, i),
                            tpRecorder_GetSensorColumn(kept, i));
    }
    // 33 frames of steps and the start; every column of the summary of contacts is there.
    assert_int_equal(tpRecording_GetInfo(recording)->frameCount, 34);
    assert_true(tpRecording_GetInfo(recording)->contactCount > 30);
    assert_null(tpRecorder_GetColumn(kept, -1).path);
    assert_null(tpRecording_GetColumn(recording, tpRecordedColumnCount()).path);
    double none[1];
    assert_int_equal(tpRecording_ReadColumn(recording, -1, 0, 0, none, &error), tp_badInput);
    assert_int_equal(tpRecording_ReadColumn(recording, 0, 0, 35, none, &error), tp_badInput);
    assert_null(tpRecorder_GetLabel(kept, -1));
    assert_null(tpRecorder_GetLabel(kept, 64));
    assert_null(tpRecording_GetLabel(recording, -1));
    assert_null(tpRecording_GetLabel(recording, 64));
    tpCloseRecording(recording);
    CHECK_OK(tpCloseRecorder(kept, NULL, failure));
    tpDestroyWorld(world);
    unlink(saved);
}

// More frames than fit into one block, of many bodies that fly.
static void testManyBlocks(void** state) {
    (void)state;
    enum { bodies = 800, frames = 220, width = bodies * tp_stateWidth };
    char saved[64];
    snprintf(saved, sizeof(saved), "%s/blocks.h5", folder);
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_freeFlight;
    tpWorld* world = tpCreateWorld(&worldDef);
    for (int i = 0; i < bodies; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 1.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
        def.velocity = tpMakeVec3(0.01 * i, 0.0, 0.0);
        assert_true(tpCreateBody(world, &def, NULL).slot > 0);
    }
    tpRecorderDef def = tpDefaultRecorderDef();
    def.step = 0.01;
    tpError error = { .result = tp_success };
    tpRecorder* kept = tpCreateRecorder(&def, world, &error);
    assert_non_null(kept);
    for (int k = 1; k < frames; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        CHECK_OK(tpRecorder_Step(kept, world, &report, failure));
    }
    double* mine = malloc(sizeof(double) * frames * width);
    double* theirs = malloc(sizeof(double) * frames * width);
    tpRecorder_CopyColumn(kept, 0, mine);
    for (int k = 0; k < frames; ++k) {
        double x = mine[(size_t)k * width + 799 * tp_stateWidth];
        assert_true(fabs(x - 7.99 * 0.01 * k) < 1e-12);
    }
    CHECK_OK(tpRecorder_Save(kept, saved, NULL, failure));
    tpRecording* recording = tpOpenRecording(saved, NULL, &error);
    assert_non_null(recording);
    CHECK_OK(tpRecording_ReadStates(recording, 0, frames, theirs, failure));
    assert_memory_equal(mine, theirs, sizeof(double) * frames * width);
    tpCloseRecording(recording);
    CHECK_OK(tpCloseRecorder(kept, NULL, failure));
    tpDestroyWorld(world);
    free(mine);
    free(theirs);
    unlink(saved);
}

static void testStatesOnly(void** state) {
    (void)state;
    tpAudit audit;
    tpWorld* world = makeWorldFrom(scene);
    tpRecorder* kept = record(NULL, true, world, &audit);
    tpError error = { .result = tp_success };
    assert_int_equal(tpRecorder_Save(kept, "/tmp/never.h5", NULL, &error), tp_badInput);
    for (int i = 0; i < tpRecordedColumnCount(); ++i) {
        tpRecordedColumn column = tpRecorder_GetColumn(kept, i);
        bool isLeftOut = strncmp(column.path, "/contacts/", 10) == 0 ||
                         strncmp(column.path, "/pairs/", 7) == 0 ||
                         strncmp(column.path, "/carriers/", 10) == 0; // anitescu has none
        bool isOffset = strstr(column.path, "/offset") != NULL;
        assert_int_equal(column.rowCount, isLeftOut && !isOffset ? 0 : 34);
    }
    CHECK_OK(tpCloseRecorder(kept, NULL, failure));
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = "/tmp/never.h5";
    def.step = 0.01;
    def.statesOnly = true;
    assert_null(tpCreateRecorder(&def, world, &error));
    assert_int_equal(error.result, tp_badInput);
    tpDestroyWorld(world);
}

static int makeFolder(void** state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int removeFolder(void** state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSavedIsTheFile),
        cmocka_unit_test(testColumnsAgree),
        cmocka_unit_test(testManyBlocks),
        cmocka_unit_test(testStatesOnly),
    };
    return cmocka_run_group_tests(tests, makeFolder, removeFolder);
}
