// Frames made by formula: what frame k holds is known without a world, so that a test can tell
// whether a file holds it.

#ifndef TIPPE_TESTS_RECORDING_MADE_FRAMES_H
#define TIPPE_TESTS_RECORDING_MADE_FRAMES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/pump.h"
#include "support/check.h"

enum { madeContactsMost = 40 };

typedef struct MadeRun {
    tpRoster roster;
    tpRosterBody* bodies;
    int* moving;
    tpRosterJoint joints[3];
    tpRosterCoordinate coordinates[3]; // one per joint
    tpRosterValue values[3];           // likewise
    double* states;
    double reactions[18];
    double coordinateNumbers[3 * tp_coordinateWidth], sensorNumbers[3];
    double *carrierSteps, *carrierErrors;
    int* carrierMethods;
    tpRecordedContact contacts[madeContactsMost];
} MadeRun;

// A path in a directory of the test's own; the same for the whole process.
static inline const char* testPath(const char* name) {
    static char directory[64], path[256];
    if (directory[0] == '\0') {
        strcpy(directory, "/tmp/tippe_recording_XXXXXX");
        assert_non_null(mkdtemp(directory));
    }
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static inline void removeTestDirectory(void) {
    char command[300];
    snprintf(command, sizeof(command), "rm -rf %s", testPath(""));
    assert_int_equal(system(command), 0);
}

// One fixed body, then `movingCount` that move.
static inline void makeRun(MadeRun* run, int movingCount, int jointCount) {
    memset(run, 0, sizeof(*run));
    int bodyCount = movingCount + 1;
    run->bodies = calloc((size_t)bodyCount, sizeof(tpRosterBody));
    run->moving = calloc((size_t)bodyCount, sizeof(int));
    run->states = calloc((size_t)bodyCount * tp_stateWidth, sizeof(double));
    for (int i = 0; i < bodyCount; ++i) {
        tpRosterBody* body = &run->bodies[i];
        snprintf(body->name, sizeof(body->name), i == 0 ? "ground" : "ball%d", i);
        body->kind = i == 0 ? tp_fixedBody : i % 5 == 4 ? tp_kinematicBody : tp_dynamicBody;
        body->moving = i - 1;
        body->pose = tpIdentityPose();
        body->mass.mass = i;
        if (i > 0) {
            run->moving[i - 1] = i;
        }
    }
    for (int i = 0; i < jointCount; ++i) {
        snprintf(run->joints[i].name, sizeof(run->joints[i].name), "hinge%d", i);
        snprintf(run->coordinates[i].name, sizeof(run->coordinates[i].name), "hinge%d.turn", i);
        snprintf(run->values[i].name, sizeof(run->values[i].name), "gyro.%c", "xyz"[i]);
    }
    run->carrierMethods = calloc((size_t)bodyCount, sizeof(int));
    run->carrierSteps = calloc((size_t)bodyCount, sizeof(double));
    run->carrierErrors = calloc((size_t)bodyCount, sizeof(double));
    run->roster = (tpRoster){ .bodies = run->bodies,
                              .bodyCount = bodyCount,
                              .moving = run->moving,
                              .movingCount = movingCount,
                              .joints = run->joints,
                              .jointCount = jointCount,
                              .coordinates = run->coordinates,
                              .coordinateCount = jointCount,
                              .values = run->values,
                              .valueCount = jointCount,
                              .hasCarriers = true };
}

static inline void freeRun(MadeRun* run) {
    free(run->bodies);
    free(run->moving);
    free(run->states);
    free(run->carrierMethods);
    free(run->carrierSteps);
    free(run->carrierErrors);
}

static inline tpRecordingHead madeHead(const MadeRun* run) {
    static const tpHeadOption options[] = { { "tolerance", 1e-9, NULL },
                                            { "solver", 0.0, "newton" } };
    return (tpRecordingHead){ .roster = &run->roster,
                              .sceneText = "{ \"tippe\": 1, \"name\": \"m\xc3\xa4"
                                           "de\" }\n",
                              .sceneName = "made",
                              .scenePath = "made.json",
                              .shapesText = "{}",
                              .stepper = "free-flight",
                              .options = options,
                              .optionCount = 2,
                              .step = 0.125,
                              .every = 1,
                              .compression = 1,
                              .gravity = { 0.0, 0.0, -9.81 } };
}

static inline double madeNumber(int64_t frame, int place) {
    return sin(0.37 * (double)frame + 1.7 * place) * (1.0 + place % 7);
}

static inline int madeContactCount(int64_t frame) {
    return (int)(frame * 7 % madeContactsMost);
}

static inline int64_t madeContactEnd(int64_t frame) {
    int64_t end = 0; // contacts repeat after madeContactsMost frames
    int64_t inPeriod = 0;
    for (int k = 0; k < madeContactsMost; ++k) {
        inPeriod += madeContactCount(k);
    }
    end = (frame + 1) / madeContactsMost * inPeriod;
    for (int64_t k = (frame + 1) / madeContactsMost * madeContactsMost; k <= frame; ++k) {
        end += madeContactCount(k);
    }
    return end;
}

static inline tpRecordedContact madeContact(const MadeRun* run, int64_t frame, int i) {
    int bodyCount = run->roster.bodyCount;
    return (tpRecordedContact){ .bodyA = 1 + i % (bodyCount - 1),
                                .bodyB = 0,
                                .feature = (uint64_t)i << 40,
                                .point = { madeNumber(frame, i), 2.0, 3.0 },
                                .normal = { 0.0, 0.0, 1.0 },
                                .gap = madeNumber(frame, i + 1),
                                .normalImpulse = i,
                                .frictionImpulse = { 0.5, madeNumber(frame, i + 2), 0.0 },
                                .torsionalImpulse = -0.25,
                                .slidingSpeed = madeNumber(frame, 5),
                                .state = (tpContactState)(i % 3) };
}

static inline tpStepReport madeReport(int64_t frame) {
    return (tpStepReport){ .time = 0.125 * (double)frame,
                           .contactCount = madeContactCount(frame),
                           .solveCount = 1,
                           .iterationCount = (int)(frame % 1000),
                           .substepCount = 3,
                           .contactQueryCount = 9,
                           .figures = { [tp_budgetEndFigure] = 2,
                                        [tp_checkFigure] = 4,
                                        [tp_collisionFigure] = 5,
                                        [tp_microcollisionFigure] = 6,
                                        [tp_heapOperationFigure] = 7,
                                        [tp_handedOverFigure] = 8 },
                           .violations = frame % 5 == 4 ? 6u : 0u,
                           .energyExcess = madeNumber(frame, 9),
                           .limits = { .energy = madeNumber(frame, 10) },
                           .residual = 1e-9 * madeNumber(frame, 3),
                           .kineticAfter = madeNumber(frame, 8),
                           .converged = frame % 3 != 0,
                           .undone = frame % 17 == 16 };
}

static inline tpFrameData makeFrame(MadeRun* run, int64_t frame) {
    for (int i = 0; i < run->roster.movingCount * tp_stateWidth; ++i) {
        run->states[i] = madeNumber(frame, i);
    }
    for (int i = 0; i < 6 * run->roster.jointCount; ++i) {
        run->reactions[i] = madeNumber(frame, 100 + i);
    }
    for (int i = 0; i < tp_coordinateWidth * run->roster.jointCount; ++i) {
        run->coordinateNumbers[i] = madeNumber(frame, 200 + i);
    }
    for (int i = 0; i < run->roster.jointCount; ++i) {
        run->sensorNumbers[i] = madeNumber(frame, 300 + i);
    }
    for (int i = 0; i < run->roster.movingCount; ++i) {
        run->carrierMethods[i] = frame >= 5 && (frame + i) % 2 == 0 ? 0 : -1;
        run->carrierSteps[i] = madeNumber(frame, 400 + i);
        run->carrierErrors[i] = madeNumber(frame, 500 + i);
    }
    for (int i = 0; i < madeContactCount(frame); ++i) {
        run->contacts[i] = madeContact(run, frame, i);
    }
    return (tpFrameData){ .row = { .step = frame,
                                   .hash = (uint64_t)frame * 977,
                                   .contactEnd = madeContactEnd(frame),
                                   .report = madeReport(frame),
                                   .fallback = frame >= 5 && frame % 4 == 1 ? 0 : -1,
                                   .note = -1,
                                   .moreNotes = { -1, -1, -1 } },
                          .blocks = { [tp_statesColumn] = run->states,
                                      [tp_reactionsColumn] = run->reactions,
                                      [tp_coordinatesColumn] = run->coordinateNumbers,
                                      [tp_sensorsColumn] = run->sensorNumbers,
                                      [tp_carrierMethodColumn] = run->carrierMethods,
                                      [tp_carrierStepColumn] = run->carrierSteps,
                                      [tp_carrierErrorColumn] = run->carrierErrors },
                          .contacts = run->contacts,
                          .contactCount = madeContactCount(frame) };
}

// Frame 5 is the first to fall back on something.
static inline tpResult addMadeFrame(tpPump* pump, MadeRun* run, int64_t frame, tpError* error) {
    const char* labels[] = { "projected Gauss-Seidel" };
    tpFrameData data = makeFrame(run, frame);
    return tpPump_Add(pump, &data, labels, frame == 5 ? 1 : 0, error);
}

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        tpError error_ = { .result = tp_success };                                                 \
        tpError* failure = &error_;                                                                \
        if ((call) != tp_success) {                                                                \
            fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, #call, error_.message);                  \
        }                                                                                          \
    } while (0)

// Coordinates, sensors and carriers of frame k, all and one by one.
static inline void checkMadeValues(tpRecording* recording, const MadeRun* run, int64_t k) {
    double numbers[3 * tp_coordinateWidth], values[3];
    int jointCount = run->roster.jointCount;
    size_t one = tp_coordinateWidth * sizeof(double);
    CHECK_OK(tpRecording_ReadCoordinates(recording, k, 1, numbers, failure));
    CHECK_OK(tpRecording_ReadSensors(recording, k, 1, values, failure));
    assert_memory_equal(numbers, run->coordinateNumbers, (size_t)jointCount * one);
    assert_memory_equal(values, run->sensorNumbers, (size_t)jointCount * sizeof(double));
    for (int i = 0; i < jointCount; ++i) {
        CHECK_OK(tpRecording_ReadCoordinate(recording, i, k, 1, numbers, failure));
        CHECK_OK(tpRecording_ReadSensorValue(recording, i, k, 1, values, failure));
        assert_memory_equal(numbers, run->coordinateNumbers + i * tp_coordinateWidth, one);
        assert_true(values[0] == run->sensorNumbers[i]);
        assert_string_equal(tpRecording_GetCoordinateName(recording, i), run->coordinates[i].name);
        assert_string_equal(tpRecording_GetSensorColumn(recording, i), run->values[i].name);
    }
    for (int i = 0; i < run->roster.movingCount; i += 1 + i / 3) {
        tpRecordedCarrier carrier;
        CHECK_OK(tpRecording_ReadCarriers(recording, i, k, 1, &carrier, failure));
        assert_true(carrier.step == run->carrierSteps[i]);
        assert_true(carrier.error == run->carrierErrors[i]);
        assert_int_equal(carrier.method != NULL, run->carrierMethods[i] == 0);
    }
}

// Everything that frame k of the file says, against the formula.
static inline void checkMadeFrame(tpRecording* recording, MadeRun* run, int64_t k) {
    int stateCount = run->roster.movingCount * tp_stateWidth;
    tpFrameData frame = makeFrame(run, k);
    double time, *states = malloc((size_t)stateCount * sizeof(double)), reactions[18] = { 0 };
    uint64_t hash;
    int64_t offsets[2];
    tpStepReport report;
    tpRecordedContact contacts[madeContactsMost];
    CHECK_OK(tpRecording_ReadTimes(recording, k, 1, &time, failure));
    CHECK_OK(tpRecording_ReadHashes(recording, k, 1, &hash, failure));
    CHECK_OK(tpRecording_ReadStates(recording, k, 1, states, failure));
    CHECK_OK(tpRecording_ReadReactions(recording, k, 1, reactions, failure));
    CHECK_OK(tpRecording_ReadReports(recording, k, 1, &report, failure));
    CHECK_OK(tpRecording_ReadContactOffsets(recording, k, 1, offsets, failure));
    assert_true(time == frame.row.report.time);
    assert_true(hash == frame.row.hash);
    assert_memory_equal(states, run->states, (size_t)stateCount * sizeof(double));
    assert_memory_equal(reactions, run->reactions,
                        6 * sizeof(double) * (size_t)run->roster.jointCount);
    assert_int_equal(offsets[0], k == 0 ? 0 : madeContactEnd(k - 1));
    assert_int_equal(offsets[1], madeContactEnd(k));
    checkMadeValues(recording, run, k);
    tpStepReport expected = frame.row.report;
    assert_true(report.time == expected.time && report.residual == expected.residual);
    assert_true(report.kineticAfter == expected.kineticAfter);
    assert_int_equal(report.contactCount, expected.contactCount);
    assert_int_equal(report.iterationCount, expected.iterationCount);
    assert_int_equal(report.converged, expected.converged);
    assert_int_equal(report.undone, expected.undone);
    if (frame.row.fallback == 0) {
        assert_string_equal(report.fallback, "projected Gauss-Seidel");
    } else {
        assert_null(report.fallback);
    }
    CHECK_OK(
        tpRecording_ReadContacts(recording, offsets[0], frame.contactCount, contacts, failure));
    for (int i = 0; i < frame.contactCount; ++i) {
        const tpRecordedContact *a = &contacts[i], *b = &frame.contacts[i];
        assert_true(a->bodyA == b->bodyA && a->bodyB == b->bodyB && a->feature == b->feature);
        assert_true(a->state == b->state && a->gap == b->gap);
        assert_memory_equal(&a->point, &b->point, sizeof(tpVec3));
        assert_memory_equal(&a->frictionImpulse, &b->frictionImpulse, sizeof(tpVec3));
        assert_true(a->normalImpulse == b->normalImpulse && a->slidingSpeed == b->slidingSpeed);
        assert_true(a->torsionalImpulse == b->torsionalImpulse);
    }
    free(states);
}

#endif
