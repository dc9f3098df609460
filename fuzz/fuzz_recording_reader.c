// Fuzzes the reader of recordings: whatever the file, it is refused with a message, or all that can
// be read from it stays within its bounds.
//
// A recording is a hundred kilobytes, most of them zeros, so random bytes would rarely matter. The
// input is instead a list of changes to a recording made at the start: a byte that says what to do,
// three that say where among the bytes that are not zero, and what to put there. HDF5 crashes on
// some of these files; the reader must have refused them before (base/hdf5_check.h).
//
// HDF5 takes five milliseconds to open and read a recording, the check before it takes a twentieth
// of one. So every file is checked, in memory, and of those that pass one in sixteen is then opened
// and read: runs are many, and half of the time is still spent on HDF5. TIPPE_FUZZ_ALL=1 opens them
// all.

// For memfd_create.
#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hdf5_check.h"
#include "recording/journal.h"
#include "recording/writer.h"
#include "tippe/recording.h"

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { largestFile = 1 << 20, frameCount = 6, contactsInFrame = 3 };

static unsigned char original[largestFile], changed[largestFile];
static size_t originalSize;
static size_t places[largestFile]; // of bytes that are not zero
static size_t placeCount;
static char path[64];
static int image; // the file, in memory
static bool opensAll;

// Freed memory is not kept back for long, and of allocations only the nearest callers are noted:
// both cost more than the reader itself.
const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    return "quarantine_size_mb=4:malloc_context_size=4";
}

// A run of two moving bodies, one joint and some contacts.
static void makeRecording(void) {
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
    snprintf(path, sizeof(path), "/tmp/tippe_fuzz_%d.h5", (int)getpid());
    makeRecording();
    FILE* file = fopen(path, "rb");
    REQUIRE(file != NULL);
    originalSize = fread(original, 1, largestFile, file);
    REQUIRE(originalSize > 0 && originalSize < largestFile && fclose(file) == 0);
    for (size_t i = 0; i < originalSize; ++i) {
        if (original[i] != 0) {
            places[placeCount++] = i;
        }
    }
    unlink(path);
    image = memfd_create("recording", 0);
    REQUIRE(image >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
    opensAll = getenv("TIPPE_FUZZ_ALL") != NULL;
    return 0;
}

// Applies the changes and returns the size of the file.
static size_t change(const uint8_t* data, size_t length) {
    memcpy(changed, original, originalSize);
    size_t size = originalSize;
    while (length >= 5) {
        size_t number = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;
        size_t where = places[number % placeCount] % size;
        size_t count = 1 + (data[0] >> 4); // bytes that follow, or the length of what is moved
        size_t room = size - where;
        count = count < room ? count : room;
        size_t given = count < length - 4 ? count : length - 4;
        switch (data[0] & 7) {
        case 0:
            size = where + 1;
            break;
        case 1:
            changed[where] ^= data[4];
            break;
        case 2:
            memset(changed + where, data[4], count);
            break;
        default:
            memcpy(changed + where, data + 4, given);
            break;
        }
        size_t used = (data[0] & 7) > 2 ? 4 + given : 5;
        data += used;
        length -= used;
    }
    return size;
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
    size_t size = change(data, length);
    tpAllocator allocator = tpDefaultAllocator();
    bool outOfMemory = false;
    REQUIRE(ftruncate(image, (off_t)size) == 0 && tpWriteAll(image, changed, size, 0));
    const char* wrong = tpCheckHdf5(image, size, tp_recordingFile, NULL, &allocator, &outOfMemory);
    REQUIRE(!outOfMemory);
    if (wrong != NULL || (!opensAll && tpHashBytes(data, length) % 16 != 0)) {
        return 0;
    }
    tpError error = { .result = tp_success };
    tpRecording* recording = tpOpenRecording(path, NULL, &error);
    if (recording != NULL) {
        readEverything(recording);
        tpCloseRecording(recording);
    } else {
        REQUIRE(error.result != tp_success && error.message[0] != '\0');
    }
    return 0;
}
