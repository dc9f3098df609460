// Tables of long recordings, which are read in many pieces: each cell is what was recorded.

#include "made_frames.h"
#include "tippe/recording.h"

// The first frame is one with contacts.
enum { firstFrame = 1, frames = 700, movingCount = 3, jointCount = 2, cellsMost = 100 };

static const char* recorded(void) {
    static char path[280];
    snprintf(path, sizeof(path), "%s", testPath("long.h5"));
    return path;
}

static void record(MadeRun* run) {
    makeRun(run, movingCount, jointCount);
    tpRecordingHead head = madeHead(run);
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpPump pump;
    CHECK_OK(tpWriter_Create(&writer, recorded(), &head, &allocator, failure));
    tpPump_Start(&pump, &writer, &run->roster, false, &allocator);
    for (int64_t k = firstFrame; k < firstFrame + frames; ++k) {
        CHECK_OK(addMadeFrame(&pump, run, k, failure));
    }
    CHECK_OK(tpPump_Stop(&pump, failure));
    CHECK_OK(tpWriter_Close(&writer, "{}", failure));
}

typedef struct Rows {
    FILE* file;
    char line[8192];
    char *names[cellsMost], *cells[cellsMost], header[4096];
    int count;
} Rows;

static int split(char* line, char** cells) {
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char* at = line; at != NULL;) {
        assert_true(count < cellsMost);
        cells[count++] = at;
        at = strchr(at, ',');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return count;
}

static void openRows(Rows* rows, const char* path) {
    rows->file = fopen(path, "rb");
    assert_non_null(rows->file);
    assert_non_null(fgets(rows->header, sizeof(rows->header), rows->file));
    rows->count = split(rows->header, rows->names);
}

static void next(Rows* rows) {
    assert_non_null(fgets(rows->line, sizeof(rows->line), rows->file));
    assert_int_equal(split(rows->line, rows->cells), rows->count);
}

static void end(Rows* rows) {
    assert_null(fgets(rows->line, sizeof(rows->line), rows->file));
    fclose(rows->file);
}

static double number(const Rows* rows, int cell) {
    return strtod(rows->cells[cell], NULL);
}

static double named(const Rows* rows, const char* name) {
    for (int i = 0; i < rows->count; ++i) {
        if (strcmp(rows->names[i], name) == 0) {
            return number(rows, i);
        }
    }
    fail_msg("no column %s", name);
    return NAN;
}

static double timeOf(int64_t frame) {
    return 0.125 * (double)frame;
}

static void everyRowIsItsFrame(void** state) {
    (void)state;
    MadeRun run;
    record(&run);
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(recorded(), NULL, &error);
    assert_non_null(recording);
    char path[4][280];
    for (int i = 0; i < 4; ++i) {
        snprintf(path[i], sizeof(path[i]), "%s.%d.csv", recorded(), i);
    }
    CHECK_OK(tpExportTrajectory(recording, path[0], failure));
    CHECK_OK(tpExportJoints(recording, path[1], failure));
    CHECK_OK(tpExportContacts(recording, path[2], failure));
    CHECK_OK(tpExportReports(recording, path[3], failure));
    tpCloseRecording(recording);
    static Rows all[4];
    for (int i = 0; i < 4; ++i) {
        openRows(&all[i], path[i]);
        assert_string_equal(all[i].names[0], "time");
    }
    assert_int_equal(all[0].count, 1 + movingCount * tp_stateWidth + jointCount);
    assert_int_equal(all[1].count, 1 + 3 * jointCount);
    for (int64_t k = firstFrame; k < firstFrame + frames; ++k) {
        tpFrameData frame = makeFrame(&run, k);
        next(&all[0]);
        assert_true(number(&all[0], 0) == timeOf(k));
        for (int i = 0; i < movingCount * tp_stateWidth; ++i) {
            assert_true(number(&all[0], 1 + i) == run.states[i]);
        }
        for (int i = 0; i < jointCount; ++i) {
            assert_true(number(&all[0], 1 + movingCount * tp_stateWidth + i) ==
                        run.sensorNumbers[i]);
        }
        next(&all[1]);
        assert_true(number(&all[1], 0) == timeOf(k));
        for (int i = 0; i < 3 * jointCount; ++i) {
            assert_true(number(&all[1], 1 + i) ==
                        run.coordinateNumbers[i / 3 * tp_coordinateWidth + i % 3]);
        }
        for (int i = 0; i < frame.contactCount; ++i) {
            const tpRecordedContact* c = &frame.contacts[i];
            static const char* const states[] = { "separated", "sliding", "sticking" };
            next(&all[2]);
            assert_true(number(&all[2], 0) == timeOf(k));
            assert_string_equal(all[2].cells[1], run.bodies[c->bodyA].name);
            assert_string_equal(all[2].cells[2], run.bodies[c->bodyB].name);
            assert_true(named(&all[2], "px") == c->point.x);
            assert_true(named(&all[2], "nz") == c->normal.z && named(&all[2], "gap") == c->gap);
            assert_true(named(&all[2], "normal_impulse") == c->normalImpulse);
            assert_true(named(&all[2], "friction_impulse_y") == c->frictionImpulse.y);
            assert_true(named(&all[2], "torsional_impulse") == c->torsionalImpulse);
            assert_true(named(&all[2], "sliding_speed") == c->slidingSpeed);
            assert_string_equal(all[2].cells[all[2].count - 1], states[c->state]);
        }
        const tpStepReport* report = &frame.row.report;
        next(&all[3]);
        assert_true(number(&all[3], 0) == timeOf(k));
        assert_true(named(&all[3], "residual") == report->residual);
        assert_true(named(&all[3], "kinetic_after") == report->kineticAfter);
        assert_true(named(&all[3], "energy_limit") == report->limits.energy);
        assert_true(named(&all[3], "contact_count") == report->contactCount);
        assert_true(named(&all[3], "iteration_count") == report->iterationCount);
        assert_true(named(&all[3], "violations") == report->violations);
        assert_true(named(&all[3], "converged") == (report->converged ? 1.0 : 0.0));
        assert_true(named(&all[3], "undone") == (report->undone ? 1.0 : 0.0));
    }
    for (int i = 0; i < 4; ++i) {
        end(&all[i]);
    }
    freeRun(&run);
    removeTestDirectory();
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(everyRowIsItsFrame) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
