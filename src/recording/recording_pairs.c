// What pairs of bodies did to each other, over windows of a recording, as CSV.

#include <math.h>

#include "base/assert.h"
#include "base/error.h"
#include "recording/pair_tally.h"
#include "recording/recording.h"

enum { atOnce = 256 };

// A window while it is filled.
typedef struct pairWindow {
    tpRecording* recording;
    tpTextFile* text;
    tpPairTally tally;
    double from, to; // s
} pairWindow;

static void putBody(pairWindow* window, int body) {
    const tpRecording* recording = window->recording;
    tpTextFile_PutName(window->text, body >= 0 ? recording->bodies[body].name : "");
}

static tpResult putHeader(tpTextFile* text, tpError* error) {
    tpTextFile_PutText(text, "from,to,bodyA,bodyB,impulse_x,impulse_y,impulse_z,normal_impulse,"
                             "force_x,force_y,force_z,collisions,microcollisions,energy_lost");
    return tpTextFile_EndRow(text, error);
}

static tpResult putWindow(pairWindow* window, tpError* error) {
    double length = window->to - window->from;
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < window->tally.pairs.count; ++i) {
        const tpRecordedPair* pair = &window->tally.pairs.data[i];
        tpVec3 force = tpScale(length > 0.0 ? 1.0 / length : 0.0, pair->impulse);
        const double numbers[] = { pair->impulse.x,
                                   pair->impulse.y,
                                   pair->impulse.z,
                                   pair->normalImpulse,
                                   force.x,
                                   force.y,
                                   force.z,
                                   pair->collisionCount,
                                   pair->microcollisionCount,
                                   pair->energyLost };
        tpTextFile_PutNumber(window->text, window->from);
        tpTextFile_PutChar(window->text, ',');
        tpTextFile_PutNumber(window->text, window->to);
        tpTextFile_PutChar(window->text, ',');
        putBody(window, pair->bodyA);
        tpTextFile_PutChar(window->text, ',');
        putBody(window, pair->bodyB);
        for (int k = 0; k < (int)(sizeof(numbers) / sizeof(numbers[0])); ++k) {
            tpTextFile_PutChar(window->text, ',');
            tpTextFile_PutNumber(window->text, numbers[k]);
        }
        result = tpTextFile_EndRow(window->text, error);
    }
    tpPairTally_Clear(&window->tally);
    window->from = window->to;
    return result;
}

static tpResult addPairs(pairWindow* window, int64_t first, int64_t end, tpError* error) {
    tpRecordedPair pairs[atOnce];
    tpResult result = tp_success;
    while (result == tp_success && first < end) {
        int64_t count = end - first < atOnce ? end - first : atOnce;
        result = tpRecording_ReadPairs(window->recording, first, count, pairs, error);
        for (int64_t i = 0; result == tp_success && i < count; ++i) {
            if (!tpPairTally_Add(&window->tally, &pairs[i])) {
                result = tpError_OutOfMemory(error);
            }
        }
        first += count;
    }
    return result;
}

static tpResult putAll(pairWindow* window, double length, tpError* error) {
    int64_t frameCount = window->recording->info.frameCount;
    double times[atOnce];
    int64_t offsets[atOnce + 1];
    tpResult result = putHeader(window->text, error);
    for (int64_t first = 0; result == tp_success && first < frameCount; first += atOnce) {
        int64_t count = frameCount - first < atOnce ? frameCount - first : atOnce;
        result = tpRecording_ReadTimes(window->recording, first, count, times, error);
        if (result == tp_success) {
            result = tpRecording_ReadPairOffsets(window->recording, first, count, offsets, error);
        }
        for (int64_t k = 0; result == tp_success && k < count; ++k) {
            window->from = first + k == 0 ? times[k] : window->from;
            window->to = times[k];
            result = addPairs(window, offsets[k], offsets[k + 1], error);
            // A window ends with the frame that fills it, but for rounding of the times.
            bool isFull = window->to - window->from >= length * (1.0 - 1e-9);
            if (result == tp_success && (isFull || first + k + 1 == frameCount)) {
                result = putWindow(window, error);
            }
        }
    }
    return result;
}

static tpResult putPairs(tpRecording* recording, tpTextFile* text, void* context, tpError* error) {
    pairWindow window = { .recording = recording, .text = text };
    tpPairTally_Create(&window.tally, &recording->allocator);
    tpResult result = putAll(&window, *(const double*)context, error);
    tpPairTally_Destroy(&window.tally);
    return result;
}

tpResult tpExportPairs(tpRecording* recording, const char* path, double window, tpError* error) {
    TP_NEED(recording, tp_badInput);
    if (!(window >= 0.0)) {
        return tpError_Set(error, tp_badInput, "a window of %g s", window);
    }
    return tpExportTable(recording, path, putPairs, &window, error);
}
