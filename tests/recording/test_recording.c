// Recordings: what goes in comes out, by every way of reading; and the way from a world.

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "falling_world.h"
#include "made_frames.h"

static char path[256];

static void writeMadeRun(MadeRun* run, int64_t frameCount, bool threaded) {
    tpRecordingHead head = madeHead(run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    CHECK_OK(tpWriter_Create(&writer, path, &head, &allocator, failure));
    tpPump_Start(&pump, &writer, &run->roster, threaded, &allocator);
    for (int64_t k = 0; k < frameCount; ++k) {
        CHECK_OK(addMadeFrame(&pump, run, k, failure));
    }
    CHECK_OK(tpPump_Stop(&pump, failure));
    CHECK_OK(tpWriter_Close(&writer, "{\"steps\": 3}\n", failure));
}

static tpRecording* openRecording(const char* which) {
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(which, NULL, &error);
    if (recording == NULL) {
        fail_msg("%s", error.message);
    }
    return recording;
}

static void checkHead(const tpRecording* recording, const MadeRun* run, int64_t frameCount) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    assert_string_equal(info->version, tpVersion());
    assert_string_equal(info->stepper, "free-flight");
    assert_string_equal(info->sceneText, madeHead(run).sceneText);
    assert_string_equal(info->sceneName, "made");
    assert_true(info->step == 0.125 && info->every == 1 && info->gravity.z == -9.81);
    assert_int_equal(info->frameCount, frameCount);
    assert_int_equal(info->bodyCount, run->roster.bodyCount);
    assert_int_equal(info->movingCount, run->roster.movingCount);
    assert_int_equal(info->jointCount, run->roster.jointCount);
    assert_int_equal(info->contactCount, madeContactEnd(frameCount - 1));
    assert_true(info->finished && !info->planar);
    assert_string_equal(tpRecording_GetSummary(recording), "{\"steps\": 3}\n");
    for (int i = 0; i < info->bodyCount; ++i) {
        tpRecordedBody body = tpRecording_GetBody(recording, i);
        assert_string_equal(body.name, run->bodies[i].name);
        assert_true(body.kind == run->bodies[i].kind && body.mass == run->bodies[i].mass.mass);
        assert_int_equal(body.moving, i - 1);
    }
}

// Sizes on both sides of the lengths of chunks; with and without the thread.
static void testRoundTrip(void** state) {
    (void)state;
    const struct {
        int moving, joints;
        int64_t frames;
    } sizes[] = { { 1, 0, 1 }, { 1, 1, 1023 }, { 3, 3, 1024 }, { 2, 2, 2100 }, { 700, 0, 60 } };
    for (size_t s = 0; s < 2 * sizeof(sizes) / sizeof(sizes[0]); ++s) {
        MadeRun run;
        makeRun(&run, sizes[s / 2].moving, sizes[s / 2].joints);
        int64_t frames = sizes[s / 2].frames;
        writeMadeRun(&run, frames, s % 2 == 0);
        tpRecording* recording = openRecording(path);
        checkHead(recording, &run, frames);
        for (int64_t k = 0; k<frames; k += frames> 100 && k > 3 && k < frames - 3 ? 13 : 1) {
            checkMadeFrame(recording, &run, k);
        }
        tpCloseRecording(recording);
        freeRun(&run);
    }
}

// Ranges agree with single frames; ranges outside are refused.
static void testRanges(void** state) {
    (void)state;
    MadeRun run;
    makeRun(&run, 5, 1);
    enum { frames = 1500, width = 5 * tp_stateWidth };
    writeMadeRun(&run, frames, true);
    tpRecording* recording = openRecording(path);
    static double states[frames * width], history[frames * tp_stateWidth];
    static tpStepReport reports[frames];
    static int64_t offsets[frames + 1];
    CHECK_OK(tpRecording_ReadStates(recording, 0, frames, states, failure));
    CHECK_OK(tpRecording_ReadBodyStates(recording, 3, 0, frames, history, failure));
    CHECK_OK(tpRecording_ReadReports(recording, 0, frames, reports, failure));
    CHECK_OK(tpRecording_ReadContactOffsets(recording, 0, frames, offsets, failure));
    for (int k = 0; k < frames; ++k) {
        for (int i = 0; i < width; ++i) {
            assert_true(states[k * width + i] == madeNumber(k, i));
        }
        assert_memory_equal(history + k * tp_stateWidth, states + k * width + 3 * tp_stateWidth,
                            tp_stateWidth * sizeof(double));
        assert_true(reports[k].residual == madeReport(k).residual);
        assert_int_equal(offsets[k + 1], madeContactEnd(k));
    }
    const int64_t wrong[][2] = { { -1, 1 },         { 0, frames + 1 }, { frames, 1 },   { 0, -1 },
                                 { frames + 1, 0 }, { INT64_MAX, 1 },  { 1, INT64_MAX } };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        tpError error;
        assert_int_equal(
            tpRecording_ReadStates(recording, wrong[i][0], wrong[i][1], states, &error),
            tp_badInput);
        assert_int_equal(
            tpRecording_ReadContactOffsets(recording, wrong[i][0], wrong[i][1], offsets, &error),
            tp_badInput);
    }
    tpError error;
    assert_int_equal(tpRecording_ReadBodyStates(recording, 5, 0, 1, history, &error), tp_badInput);
    tpCloseRecording(recording);
    freeRun(&run);
}

static herr_t copyAttribute(hid_t from, const char* name, const H5A_info_t* info, void* to) {
    (void)info;
    char value[4096];
    hid_t old = H5Aopen(from, name, H5P_DEFAULT), type = H5Aget_type(old);
    hid_t space = H5Aget_space(old);
    assert_true(H5Aget_storage_size(old) <= sizeof(value) && H5Aread(old, type, value) >= 0);
    hid_t new = H5Acreate2(*(hid_t*)to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(new, type, value) >= 0);
    H5Aclose(new);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(old);
    return 0;
}

// Memory that is counted, and runs out.
typedef struct Meter {
    int left;     // allocations that succeed
    int64_t live; // bytes that are out
} Meter;

static void* meterAllocate(size_t size, void* context) {
    Meter* meter = context;
    if (meter->left-- <= 0) {
        return NULL;
    }
    meter->live += (int64_t)size;
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    return memory != NULL ? memset(memory, 0xa5, size) : NULL; // what it held before is no matter
}

static void meterRelease(void* memory, size_t size, void* context) {
    ((Meter*)context)->live -= (int64_t)size;
    free(memory);
}

// What is left out of a copy of a group, by name.
typedef struct Omission {
    hid_t to;
    const char* const* names;
    int count;
} Omission;

static herr_t copyLink(hid_t from, const char* name, const H5L_info_t* info, void* context) {
    (void)info;
    const Omission* omission = context;
    for (int i = 0; i < omission->count; ++i) {
        if (strcmp(name, omission->names[i]) == 0) {
            return 0;
        }
    }
    return H5Ocopy(from, name, omission->to, name, H5P_DEFAULT, H5P_DEFAULT);
}

// A copy of the recording whose reports lack some numbers.
static void copyWithout(const char* copy, const char* const* names, int count) {
    static const char* const reports[] = { "reports" };
    hid_t old = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t new = H5Fcreate(copy, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t from = H5Gopen2(old, "reports", H5P_DEFAULT);
    hid_t to = H5Gcreate2(new, "reports", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    Omission omitted = { new, reports, 1 }, omittedReports = { to, names, count };
    assert_true(H5Aiterate2(old, H5_INDEX_NAME, H5_ITER_INC, NULL, copyAttribute, &new) >= 0);
    assert_true(H5Literate(old, H5_INDEX_NAME, H5_ITER_INC, NULL, copyLink, &omitted) >= 0);
    assert_true(H5Literate(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copyLink, &omittedReports) >= 0);
    H5Gclose(to);
    H5Gclose(from);
    H5Fclose(new);
    H5Fclose(old);
}

// Splits a line of cells at its commas, in place; returns how many there are.
static int splitCells(char* line, char** cells, int capacity) {
    int count = 0;
    for (char* at = line; at != NULL && count < capacity;) {
        cells[count++] = at;
        at = strchr(at, ',');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return count;
}

// Numbers that the reports of earlier versions did not have are 0, known to be absent, and empty in
// tables; everything else reads as ever. A number that was always there may not be missing.
static void testEarlierVersion(void** state) {
    (void)state;
    static const char* const later[] = {
        "budget_count",         "check_count",       "collision_count",   "microcollision_count",
        "heap_operation_count", "handed_over_count", "more_notes",        "contact_query_count",
        "energy_increase",      "energy_excess",     "violations",        "residual_limit",
        "energy_limit",         "joint_drift_limit", "penetration_limit", "switch_count",
        "rejected_count"
    };
    enum { frames = 3, laterCount = sizeof(later) / sizeof(later[0]) };
    MadeRun run;
    makeRun(&run, 2, 1);
    writeMadeRun(&run, frames, false);
    tpRecording* recording = openRecording(path);
    for (int i = 0; i < laterCount; ++i) {
        assert_true(tpRecording_HasReport(recording, later[i]));
    }
    tpCloseRecording(recording);
    char copy[280], table[280];
    snprintf(copy, sizeof(copy), "%s.earlier.h5", path);
    snprintf(table, sizeof(table), "%s.csv", path);
    copyWithout(copy, later, laterCount);
    Meter meter = { INT_MAX, 0 };
    tpAllocator allocator = { meterAllocate, meterRelease, &meter };
    recording = tpOpenRecording(copy, &allocator, NULL);
    assert_non_null(recording);
    checkHead(recording, &run, frames);
    for (int i = 0; i < laterCount; ++i) {
        assert_false(tpRecording_HasReport(recording, later[i]));
    }
    assert_true(tpRecording_HasReport(recording, "residual"));
    assert_true(tpRecording_HasReport(recording, "note"));
    assert_false(tpRecording_HasReport(recording, "no_such_number"));
    tpStepReport reports[frames];
    CHECK_OK(tpRecording_ReadReports(recording, 0, frames, reports, failure));
    for (int k = 0; k < frames; ++k) {
        tpStepReport made = madeReport(k);
        assert_true(reports[k].residual == made.residual);
        assert_int_equal(reports[k].substepCount, made.substepCount);
        assert_int_equal(tpStepReport_GetFigure(&reports[k], "budget_ends"), 0);
        assert_int_equal(reports[k].noteCount, 0);
        assert_int_equal(tpStepReport_GetFigure(&reports[k], "handed_over"), 0);
        assert_int_equal(tpStepReport_GetFigure(&reports[k], "switches"), 0);
        assert_int_equal(reports[k].contactQueryCount + (int)reports[k].violations, 0);
        assert_true(reports[k].energyIncrease == 0.0 && reports[k].energyExcess == 0.0);
        assert_true(reports[k].limits.residual == 0.0 && reports[k].limits.energy == 0.0);
        assert_true(reports[k].limits.jointDrift == 0.0 && reports[k].limits.penetration == 0.0);
    }
    CHECK_OK(tpExportReports(recording, table, failure));
    tpCloseRecording(recording);
    assert_int_equal(meter.live, 0);
    // Cells of numbers that were not measured are empty, and of the others only fallback and notes
    // may be.
    FILE* file = fopen(table, "rb");
    assert_non_null(file);
    char header[4096], line[4096], *names[100], *cells[100];
    assert_non_null(fgets(header, sizeof(header), file));
    header[strcspn(header, "\r\n")] = '\0';
    int columns = splitCells(header, names, 100);
    for (int k = 0; k < frames; ++k) {
        assert_non_null(fgets(line, sizeof(line), file));
        line[strcspn(line, "\r\n")] = '\0';
        assert_int_equal(splitCells(line, cells, 100), columns);
        for (int i = 0; i < columns; ++i) {
            bool isLater = false;
            for (int j = 0; j < laterCount; ++j) {
                isLater = isLater || strcmp(names[i], later[j]) == 0;
            }
            bool mayBeEmpty = strcmp(names[i], "fallback") == 0 || strcmp(names[i], "note") == 0;
            assert_true(cells[i][0] == '\0' ? isLater || mayBeEmpty : !isLater);
        }
    }
    fclose(file);

    static const char* const residual[] = { "residual" };
    copyWithout(copy, residual, 1);
    tpError error = { .result = tp_success };
    assert_null(tpOpenRecording(copy, NULL, &error));
    assert_int_equal(error.result, tp_badInput);
    assert_non_null(strstr(error.message, "/reports/residual"));
    freeRun(&run);
}

// From a world -----------------------------------------------------------------------------------

static tpRecorder* createRecorder(const tpWorld* world, int every, bool background) {
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = path;
    def.sceneText = "{}";
    def.step = fallingStep;
    def.every = every;
    def.background = background;
    tpError error = { .result = tp_success };
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    if (recorder == NULL) {
        fail_msg("%s", error.message);
    }
    return recorder;
}

static void testFromWorld(void** state) {
    (void)state;
    enum { steps = 300 };
    static double expected[steps + 1][3 * tp_stateWidth];
    static uint64_t hashes[steps + 1];
    tpWorld* world = makeFallingWorld();
    tpRecorder* recorder = createRecorder(world, 1, true);
    tpAudit audit;
    tpAudit_Start(&audit, world);
    for (int k = 0; k <= steps; ++k) {
        if (k > 0) {
            tpStepReport report = tpWorld_Step(world, fallingStep);
            tpAudit_AddStep(&audit, &report);
            CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
        }
        hashes[k] = tpWorld_HashState(world);
        for (int i = 0; i < 3; ++i) {
            tpBodyId body = tpWorld_GetBody(world, i + 1);
            tpVec3 x = tpBody_GetPosition(world, body), v = tpBody_GetVelocity(world, body);
            tpVec3 w = tpBody_GetAngularVelocity(world, body);
            tpQuat q = tpBody_GetPose(world, body).rotation;
            const double row[] = {
                x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z
            };
            memcpy(expected[k] + i * tp_stateWidth, row, sizeof(row));
        }
    }
    CHECK_OK(tpCloseRecorder(recorder, &audit, failure));
    tpDestroyWorld(world);

    tpRecording* recording = openRecording(path);
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    assert_int_equal(info->frameCount, steps + 1);
    assert_int_equal(info->bodyCount, 4);
    assert_int_equal(info->movingCount, 3);
    assert_string_equal(tpRecording_GetBody(recording, 2).name, "body2");
    assert_int_equal(tpRecording_GetBody(recording, 0).moving, -1);
    assert_true(tpRecording_GetBody(recording, 3).kind == tp_kinematicBody);
    static double states[steps + 1][3 * tp_stateWidth], times[steps + 1];
    static uint64_t read[steps + 1];
    CHECK_OK(tpRecording_ReadStates(recording, 0, steps + 1, states[0], failure));
    CHECK_OK(tpRecording_ReadHashes(recording, 0, steps + 1, read, failure));
    CHECK_OK(tpRecording_ReadTimes(recording, 0, steps + 1, times, failure));
    assert_memory_equal(states, expected, sizeof(states));
    assert_memory_equal(read, hashes, sizeof(read));
    for (int k = 0; k <= steps; ++k) {
        assert_true(times[k] == k * fallingStep);
    }
    assert_non_null(strstr(tpRecording_GetSummary(recording), "\"steps\": 300"));
    // Nobody carried bodies of this stepper: that is what is read, not nothing.
    tpRecordedCarrier carriers[2];
    memset(carriers, 0x55, sizeof(carriers));
    CHECK_OK(tpRecording_ReadCarriers(recording, 0, 0, 2, carriers, failure));
    for (int k = 0; k < 2; ++k) {
        assert_true(carriers[k].method == NULL && carriers[k].step == 0.0 &&
                    carriers[k].error == 0.0);
    }
    tpCloseRecording(recording);
}

// Reports of steps between frames are merged: works add up, the first "before" and the last "after"
// stay, and a step that was undone is not forgotten.
static void testEvery(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpRecorder* recorder = createRecorder(world, 4, false);
    for (int k = 1; k <= 11; ++k) {
        tpStepReport report = tpWorld_Step(world, fallingStep);
        report.solveCount = k;
        report.residual = k == 2 ? 0.5 : 1e-9;
        report.kineticBefore = k - 1;
        report.kineticAfter = k;
        report.externalWork = 0.25 * k;
        report.undone = k == 6;
        report.fallback = k == 5 ? "slower" : NULL;
        CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    }
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
    tpRecording* recording = openRecording(path);
    assert_int_equal(tpRecording_GetInfo(recording)->frameCount, 3);
    assert_int_equal(tpRecording_GetInfo(recording)->every, 4);
    tpStepReport reports[3];
    CHECK_OK(tpRecording_ReadReports(recording, 0, 3, reports, failure));
    assert_true(reports[1].time == 4 * fallingStep && reports[2].time == 8 * fallingStep);
    assert_int_equal(reports[1].solveCount, 1 + 2 + 3 + 4);
    assert_int_equal(reports[2].solveCount, 5 + 6 + 7 + 8);
    assert_true(reports[1].residual == 0.5 && reports[2].residual == 1e-9);
    assert_true(reports[1].kineticBefore == 0.0 && reports[1].kineticAfter == 4.0);
    assert_true(reports[2].kineticBefore == 4.0 && reports[2].kineticAfter == 8.0);
    assert_true(reports[1].externalWork == 2.5 && reports[2].externalWork == 6.5);
    assert_true(!reports[1].undone && reports[2].undone);
    assert_null(reports[1].fallback);
    assert_string_equal(reports[2].fallback, "slower");
    tpCloseRecording(recording);
}

// A body that is destroyed has no state any more; one that comes later is not recorded.
static void testBodiesComeAndGo(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpRecorder* recorder = createRecorder(world, 1, true);
    tpDestroyBody(world, tpWorld_FindBody(world, "top"));
    addBody(world, "late", tp_dynamicBody, 9.0);
    tpStepReport report = tpWorld_Step(world, fallingStep);
    CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
    tpRecording* recording = openRecording(path);
    double states[2][3 * tp_stateWidth];
    assert_int_equal(tpRecording_GetInfo(recording)->movingCount, 3);
    CHECK_OK(tpRecording_ReadStates(recording, 0, 2, states[0], failure));
    assert_true(isfinite(states[0][0]) && isnan(states[1][0]) && isnan(states[1][12]));
    assert_true(isfinite(states[1][13]) && states[1][13 + 2] > 2.5);
    tpCloseRecording(recording);
}

// A world without anything that moves still has a recording.
static void testNothingMoves(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpRecorder* recorder = createRecorder(world, 1, true);
    tpStepReport report = tpWorld_Step(world, fallingStep);
    CHECK_OK(tpRecorder_Step(recorder, world, &report, failure));
    CHECK_OK(tpCloseRecorder(recorder, NULL, failure));
    tpDestroyWorld(world);
    tpRecording* recording = openRecording(path);
    assert_int_equal(tpRecording_GetInfo(recording)->frameCount, 2);
    assert_int_equal(tpRecording_GetInfo(recording)->movingCount, 0);
    double none[1];
    CHECK_OK(tpRecording_ReadStates(recording, 0, 2, none, failure));
    CHECK_OK(tpExportTrajectory(recording, testPath("none.csv"), failure));
    tpCloseRecording(recording);
}

// Bad definitions and places --------------------------------------------------------------------

static void testRefused(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    tpRecorderDef def = tpDefaultRecorderDef();
    tpError error;
    def.path = "/nonexistent/run.h5";
    assert_null(tpCreateRecorder(&def, world, &error));
    assert_int_equal(error.result, tp_ioError);
    assert_non_null(strstr(error.message, "No such file or directory"));
    static char folder[256], pipe[256];
    strcpy(folder, testPath("folder"));
    strcpy(pipe, testPath("pipe"));
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mkfifo(pipe, 0666), 0);
    const char* const others[] = { "/dev/null", folder, pipe }; // not to be replaced by a file
    for (int i = 0; i < 3; ++i) {
        def.path = others[i];
        assert_null(tpCreateRecorder(&def, world, &error));
        assert_int_equal(error.result, tp_badInput);
        assert_non_null(strstr(error.message, "not a regular file"));
    }
    rmdir(folder);
    unlink(pipe);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    def.path = path;
    def.every = 0;
    assert_null(tpCreateRecorder(&def, world, &error));
    tpDestroyWorld(world);
}

// HDF5 says its errors as before: what a program has asked of it is not changed by recordings.
static herr_t sayNothing(hid_t stack, void* context) {
    (void)stack;
    (void)context;
    return 0;
}

static void checkHandler(void) {
    H5E_auto2_t handler;
    void* context;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &handler, &context) >= 0);
    assert_true(handler == sayNothing && context == path);
}

static void testErrorsAreSaid(void** state) {
    (void)state;
    H5E_auto2_t before;
    void* context;
    H5Eget_auto2(H5E_DEFAULT, &before, &context);
    H5Eset_auto2(H5E_DEFAULT, sayNothing, (void*)path);
    MadeRun run;
    makeRun(&run, 3, 2);
    writeMadeRun(&run, 20, false);
    checkHandler();
    tpRecording* recording = openRecording(path);
    checkHandler();
    checkMadeFrame(recording, &run, 7);
    checkHandler();
    CHECK_OK(tpExportTrajectory(recording, testPath("said.csv"), failure));
    checkHandler();
    tpCloseRecording(recording);
    checkHandler();
    tpError error;
    assert_null(tpOpenRecording(testPath("none.h5"), NULL, &error));
    checkHandler();
    H5Eset_auto2(H5E_DEFAULT, before, context);
    freeRun(&run);
}

// A recording replaces an older one only when it is there, and follows a link to it.
static void testReplaces(void** state) {
    (void)state;
    char link[256];
    strcpy(link, testPath("link.h5"));
    MadeRun run;
    makeRun(&run, 1, 0);
    writeMadeRun(&run, 4, false);
    unlink(link);
    assert_int_equal(symlink(path, link), 0);
    tpRecordingHead head = madeHead(&run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    CHECK_OK(tpWriter_Create(&writer, link, &head, &allocator, failure));
    CHECK_OK(tpWriter_Close(&writer, NULL, failure));
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    tpRecording* recording = openRecording(path);
    assert_int_equal(tpRecording_GetInfo(recording)->frameCount, 0);
    tpCloseRecording(recording);
    freeRun(&run);
}

// Memory runs out ---------------------------------------------------------------------------------

// Every allocation fails once; nothing leaks, and what is left can be read.
static void testOutOfMemory(void** state) {
    (void)state;
    tpWorld* world = makeFallingWorld();
    bool done = false;
    for (int n = 0; !done; ++n) {
        assert_in_range(n, 0, 1000);
        Meter meter = { n, 0 };
        tpRecorderDef def = tpDefaultRecorderDef();
        def.path = path;
        def.background = false;
        def.allocator = (tpAllocator){ meterAllocate, meterRelease, &meter };
        tpError error = { .result = tp_success };
        tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
        tpResult result = recorder == NULL ? error.result : tp_success;
        for (int k = 0; recorder != NULL && result == tp_success && k < 3; ++k) {
            tpStepReport report = tpWorld_Step(world, fallingStep);
            result = tpRecorder_Step(recorder, world, &report, &error);
        }
        tpResult closed = tpCloseRecorder(recorder, NULL, &error);
        assert_int_equal(meter.live, 0);
        done = result == tp_success && closed == tp_success;
        if (recorder != NULL) {
            tpCloseRecording(openRecording(path));
        }
    }
    done = false;
    for (int n = 0; !done; ++n) {
        assert_in_range(n, 0, 1000);
        Meter meter = { n, 0 };
        tpAllocator allocator = { meterAllocate, meterRelease, &meter };
        tpError error;
        tpStepReport reports[2];
        tpRecording* recording = tpOpenRecording(path, &allocator, &error);
        done = recording != NULL &&
               tpRecording_ReadReports(recording, 0, 2, reports, &error) == tp_success &&
               tpExportTrajectory(recording, testPath("memory.csv"), &error) == tp_success;
        assert_true(done || error.result == tp_outOfMemory);
        tpCloseRecording(recording);
        assert_int_equal(meter.live, 0);
    }
    tpDestroyWorld(world);
}

static int setUp(void** state) {
    (void)state;
    strcpy(path, testPath("run.h5"));
    return 0;
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testRoundTrip),       cmocka_unit_test(testRanges),
        cmocka_unit_test(testFromWorld),       cmocka_unit_test(testEvery),
        cmocka_unit_test(testBodiesComeAndGo), cmocka_unit_test(testNothingMoves),
        cmocka_unit_test(testRefused),         cmocka_unit_test(testErrorsAreSaid),
        cmocka_unit_test(testReplaces),        cmocka_unit_test(testOutOfMemory),
        cmocka_unit_test(testEarlierVersion),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
