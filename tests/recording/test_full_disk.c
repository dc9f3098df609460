// A full disk: a clear error, and what was written before stays readable.
//
// The limit is on the size of files (RLIMIT_FSIZE), which any user may set, moved through many
// places; and where mounting is allowed, a file system that is really full.

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "falling_world.h"
#include "made_frames.h"

static const rlim_t unlimited = RLIM_INFINITY;

static void limitFiles(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == unlimited ? limit.rlim_max : bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// Records until it fails; returns the frames that were committed when it did, -1 if the file
// could not even be created.
static int64_t recordUntilFull(const char* path, MadeRun* run, tpError* error) {
    tpRecordingHead head = madeHead(run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    if (tpWriter_Create(&writer, path, &head, &allocator, error) != tp_success) {
        return -1;
    }
    tpFrameBatch batch;
    tpFrameBatch_Create(&batch, &run->roster, &allocator);
    int64_t committed = 0;
    tpResult result = tp_success;
    for (int64_t k = 0; result == tp_success; ++k) {
        assert_true(k < 100000);
        tpFrameData frame = makeFrame(run, k);
        if (k == 5) {
            assert_true(TP_PUSH(&allocator, batch.labels, "projected Gauss-Seidel"));
        }
        assert_true(tpFrameBatch_Add(&batch, &frame));
        if (k % 10 == 9) {
            result = tpWriter_Append(&writer, &batch, error);
            tpFrameBatch_Clear(&batch);
            result = result == tp_success ? tpWriter_Commit(&writer, error) : result;
            committed = result == tp_success ? k + 1 : committed;
        }
    }
    tpError again = { .result = tp_success };
    assert_int_equal(tpWriter_Append(&writer, &batch, &again), tp_ioError); // stays failed
    assert_int_equal(tpWriter_Close(&writer, NULL, &again), tp_ioError);
    tpFrameBatch_Destroy(&batch);
    return committed;
}

static void checkKept(const char* path, MadeRun* run, int64_t committed) {
    tpError error;
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording == NULL) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tpRecording_GetInfo(recording)->frameCount, committed);
    assert_false(tpRecording_GetInfo(recording)->finished);
    for (int64_t k = 0; k < committed; k += 1 + committed / 20) {
        checkMadeFrame(recording, run, k);
    }
    tpCloseRecording(recording);
}

static void testFileLimit(void** state) {
    (void)state;
    char path[256], findParts[400];
    strcpy(path, testPath("full.h5"));
    snprintf(findParts, sizeof(findParts), "ls %s.*.part > /dev/null 2>&1", path);
    MadeRun run;
    makeRun(&run, 20, 2);
    tpRandom random = { 9 };
    int tooEarly = 0, some = 0;
    for (int i = 0; i < 30; ++i) {
        unlink(path);
        rlim_t limit = (rlim_t)randomBetween(&random, 1000.0, i % 2 == 0 ? 120000.0 : 800000.0);
        tpError error = { .result = tp_success };
        limitFiles(limit);
        int64_t committed = recordUntilFull(path, &run, &error);
        limitFiles(unlimited);
        assert_int_equal(error.result, tp_ioError);
        assert_non_null(strstr(error.message, strerror(EFBIG)));
        assert_int_not_equal(system(findParts), 0);
        if (committed < 0) {
            assert_int_equal(access(path, F_OK), -1);
            tooEarly += 1;
        } else {
            checkKept(path, &run, committed);
            some += committed > 0 ? 1 : 0;
        }
    }
    assert_true(tooEarly > 0 && some > 5); // both happened
    freeRun(&run);
}

// A whole recorder with its thread: the error comes back from a later step, once and for all.
static void testRecorderStops(void** state) {
    (void)state;
    char path[256];
    strcpy(path, testPath("recorder.h5"));
    tpWorld* world = makeFallingWorld();
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = path;
    def.compression = 0;
    tpError error = { .result = tp_success };
    limitFiles(400000);
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    assert_non_null(recorder);
    tpResult result = tp_success;
    int64_t steps = 0;
    while (result == tp_success && steps < 10000000) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        result = tpRecorder_Step(recorder, world, &report, &error);
        steps += 1;
    }
    assert_int_equal(result, tp_ioError);
    assert_non_null(strstr(error.message, strerror(EFBIG)));
    assert_int_equal(tpCloseRecorder(recorder, NULL, &error), tp_ioError);
    limitFiles(unlimited);
    tpDestroyWorld(world);
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    assert_non_null(recording);
    assert_in_range(tpRecording_GetInfo(recording)->frameCount, 0, steps);
    tpCloseRecording(recording);
}

// A file system of one megabyte, where mounting one is allowed.
static void testFullFileSystem(void** state) {
    (void)state;
    char directory[256], path[300];
    strcpy(directory, testPath("small"));
    snprintf(path, sizeof(path), "%s/run.h5", directory);
    assert_int_equal(mkdir(directory, 0777), 0);
    if (mount("tmpfs", directory, "tmpfs", 0, "size=1m") != 0) {
        print_message("no small file system can be mounted here: %s\n", strerror(errno));
        skip();
    }
    MadeRun run;
    makeRun(&run, 30, 2);
    for (int i = 0; i < 5; ++i) {
        unlink(path);
        tpError error = { .result = tp_success };
        int64_t committed = recordUntilFull(path, &run, &error);
        assert_non_null(strstr(error.message, strerror(ENOSPC)));
        assert_true(committed > 0);
        bool repaired = false;
        assert_int_equal(tpRepairRecording(path, &repaired, &error), tp_success);
        assert_false(repaired);
        checkKept(path, &run, committed);
    }
    freeRun(&run);
    assert_int_equal(umount(directory), 0);
}

static void testTables(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpError error = { .result = tp_success };
    tpTable* table = tpCreateTrajectoryTable("/dev/full", world, 1, &error);
    assert_non_null(table); // its rows are in the buffer still
    tpResult result = tp_success;
    for (int k = 0; k < 100000 && result == tp_success; ++k) {
        tpWorld_Step(world, fallingStep);
        result = tpTable_Step(table, world, &error);
    }
    assert_int_equal(result, tp_ioError);
    assert_string_equal(error.message, "/dev/full: cannot write: No space left on device");
    assert_int_equal(tpCloseTable(table, &error), tp_ioError);
    // A row that does not fit is cut off again.
    char path[256];
    strcpy(path, testPath("cut.csv"));
    limitFiles(500000);
    table = tpCreateTrajectoryTable(path, world, 1, &error);
    result = tp_success;
    for (int k = 0; k < 100000 && result == tp_success; ++k) {
        tpWorld_Step(world, fallingStep);
        result = tpTable_Step(table, world, &error);
    }
    tpCloseTable(table, &error);
    limitFiles(unlimited);
    assert_int_equal(result, tp_ioError);
    FILE* file = fopen(path, "r");
    int c, last = 0, commas = 0, expected = -1;
    while ((c = fgetc(file)) != EOF) {
        commas += c == ',' ? 1 : 0;
        if (c == '\n') {
            expected = expected < 0 ? commas : expected;
            assert_int_equal(commas, expected);
            commas = 0;
        }
        last = c;
    }
    fclose(file);
    assert_int_equal(last, '\n');
    assert_int_equal(expected, 3 * tp_stateWidth);
    tpDestroyWorld(world);
}

static int setUp(void** state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN); // the limit is to be an error of write, not the end
    testPath("");
    return 0;
}

static int tearDown(void** state) {
    (void)state;
    umount(testPath("small")); // where a failure has left it
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testFileLimit),
        cmocka_unit_test(testRecorderStops),
        cmocka_unit_test(testFullFileSystem),
        cmocka_unit_test(testTables),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
