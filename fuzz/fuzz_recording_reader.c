// Fuzzes the reader of recordings: whatever the file, it is refused with a message, or all that can
// be read from it stays within its bounds.
//
// The input is a list of changes to a recording made at the start (changed_file.h). HDF5 crashes on
// some of these files; the reader must have refused them before (base/hdf5_check.h).
//
// HDF5 takes five milliseconds to open and read a recording, the check before it takes a twentieth
// of one. So every file is checked, in memory, and of those that pass one in sixteen is then opened
// and read: runs are many, and half of the time is still spent on HDF5. TIPPE_FUZZ_ALL=1 opens them
// all.

// For memfd_create.
#define _GNU_SOURCE

#include "base/hdf5_check.h"
#include "changed_file.h"
#include "recording/journal.h"
#include "recording/writer.h"
#include "tippe/recording.h"

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments);

enum { frameCount = 6, contactsInFrame = 3, placeBytes = 3 };

static OriginalFile original;
static FuzzImage image;

// Freed memory is not kept back for long, and of allocations only the nearest callers are noted:
// both cost more than the reader itself.
const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    return "quarantine_size_mb=4:malloc_context_size=4";
}

// A run of two moving bodies, one joint and some contacts.
static void makeRecording(const char* path) {
    tpRosterBody bodies[3] = { { .name = "ground", .kind = tp_fixedBody, .moving = -1 },
                               { .name = "ball", .kind = tp_dynamicBody, .moving = 0 },
                               { .name = "cart", .kind = tp_kinematicBody, .moving = 1 } };
    int moving[2] = { 1, 2 };
    tpRosterJoint joint = { .name = "hinge" };
    tpRosterCoordinate coordinate = { .name = "hinge" };
    tpRosterValue value = { .name = "zone.on" };
    tpRoster roster = { .bodies = bodies,
                        .bodyCount = 3,
                        .moving = moving,
                        .movingCount = 2,
                        .joints = &joint,
                        .jointCount = 1,
                        .coordinates = &coordinate,
                        .coordinateCount = 1,
                        .values = &value,
                        .valueCount = 1,
                        .hasCarriers = true };
    tpRecordingHead head = { .roster = &roster,
                             .sceneText = "{ \"tippe\": 1 }",
                             .sceneName = "fuzz",
                             .scenePath = "fuzz.json",
                             .shapesText = "{ \"bodies\": [], \"surfaces\": [] }",
                             .stepper = "free-flight",
                             .step = 0.01,
                             .every = 1,
                             .compression = 1 };
    tpAllocator allocator = tpDefaultAllocator();
    tpWriter writer;
    tpFrameBatch batch;
    REQUIRE(tpWriter_Create(&writer, path, &head, &allocator, NULL) == tp_success);
    tpFrameBatch_Create(&batch, &roster, &allocator);
    REQUIRE(TP_PUSH(&allocator, batch.labels, "fallback"));
    double states[2 * tp_stateWidth], reactions[6] = { 1.0 };
    double coordinates[tp_coordinateWidth] = { 2.0 }, one = 1.0, pair[2] = { 1.0, 2.0 };
    int methods[2] = { 0, -1 };
    tpRecordedContact contacts[contactsInFrame] = { { .bodyA = 1 }, { .bodyA = 2, .state = 2 } };
    for (int k = 0; k < frameCount; ++k) {
        for (int i = 0; i < 2 * tp_stateWidth; ++i) {
            states[i] = 0.1 * i + k;
        }
        tpFrameData frame = { .row = { .step = k,
                                       .contactEnd = contactsInFrame * (k + 1),
                                       .report = { .time = 0.01 * k, .converged = true },
                                       .fallback = k % 2 - 1,
                                       .note = -1 },
                              .blocks = { [tp_statesColumn] = states,
                                          [tp_reactionsColumn] = reactions,
                                          [tp_coordinatesColumn] = coordinates,
                                          [tp_sensorsColumn] = &one,
                                          [tp_carrierMethodColumn] = methods,
                                          [tp_carrierStepColumn] = pair,
                                          [tp_carrierErrorColumn] = pair },
                              .contacts = contacts,
                              .contactCount = contactsInFrame };
        REQUIRE(tpFrameBatch_Add(&batch, &frame));
    }
    REQUIRE(tpWriter_Append(&writer, &batch, NULL) == tp_success);
    REQUIRE(tpWriter_Close(&writer, "{}", NULL) == tp_success);
    tpFrameBatch_Destroy(&batch);
}

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments) {
    (void)argumentCount;
    (void)arguments;
    char path[64];
    nameScratch(path);
    makeRecording(path);
    takeOriginal(&original, path);
    openImage(&image);
    return 0;
}

static void readEverything(tpRecording* recording) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    for (int i = 0; i < info->bodyCount && i < 100; ++i) {
        tpRecordedBody body = tpRecording_GetBody(recording, i);
        REQUIRE(strlen(body.name) < largestFile && body.moving < info->movingCount);
    }
    for (int i = 0; i < info->jointCount && i < 100; ++i) {
        REQUIRE(strlen(tpRecording_GetJointName(recording, i)) < largestFile);
    }
    REQUIRE(strlen(tpRecording_GetSummary(recording)) <= largestFile);
    enum { room = 64 };
    int64_t frames = info->frameCount < room ? info->frameCount : room;
    int64_t contacts = info->contactCount < room ? info->contactCount : room;
    double times[room];
    tpStepReport reports[room];
    int64_t offsets[room + 1];
    tpRecordedContact read[room];
    tpRecording_ReadTimes(recording, info->frameCount - frames, frames, times, NULL);
    if (tpRecording_ReadReports(recording, 0, frames, reports, NULL) == tp_success) {
        for (int64_t k = 0; k < frames; ++k) {
            REQUIRE(reports[k].fallback == NULL || strlen(reports[k].fallback) < largestFile);
        }
    }
    if (tpRecording_ReadContactOffsets(recording, 0, frames, offsets, NULL) == tp_success) {
        REQUIRE(offsets[0] >= 0 && offsets[frames] <= info->contactCount);
    }
    if (tpRecording_ReadContacts(recording, 0, contacts, read, NULL) == tp_success) {
        for (int64_t k = 0; k < contacts; ++k) {
            REQUIRE(read[k].bodyA < info->bodyCount && (int)read[k].state <= (int)tp_sticking);
        }
    }
    if (info->movingCount <= 16 && info->jointCount <= 16) {
        double numbers[16 * tp_stateWidth];
        for (int64_t k = 0; k < frames; ++k) {
            tpRecording_ReadStates(recording, k, 1, numbers, NULL);
            tpRecording_ReadReactions(recording, k, 1, numbers, NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
    size_t size = changeFile(&image, &original, placeBytes, data, length);
    tpAllocator allocator = tpDefaultAllocator();
    bool outOfMemory = false;
    REQUIRE(ftruncate(image.descriptor, (off_t)size) == 0 &&
            tpWriteAll(image.descriptor, image.bytes, size, 0));
    const char* wrong =
        tpCheckHdf5(image.descriptor, size, tp_recordingFile, NULL, &allocator, &outOfMemory);
    REQUIRE(!outOfMemory);
    if (wrong != NULL || (!image.opensAll && tpHashBytes(data, length) % 16 != 0)) {
        return 0;
    }
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(image.path, NULL, &error);
    if (recording != NULL) {
        readEverything(recording);
        tpCloseRecording(recording);
    } else {
        REQUIRE(error.result != tp_success && error.message[0] != '\0');
    }
    return 0;
}
