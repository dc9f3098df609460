// A recording as a page in one file: head, overview and all frames, in blocks that the page unpacks
// as it needs them.

#include "run_page.h"

#include <string.h>

#include "page/run_data.h"
#include "page_file.h"

enum {
    blockSize = 4 * 1024 * 1024, // bytes of a block of frames before packing, about
    mostFramesInBlock = 1024
};

// Above this, before packing, frames are left out: browsers do not open much larger files, nor do
// people mail them.
static const double largestPage = 192e6;

typedef struct pageWriter {
    tpRunSource* source;
    tpPageFile file;
    tpRunInfo info;
    int64_t frameCount, stride; // frames of the page, and of the recording for one of them
    double frameSize;           // bytes, mean
} pageWriter;

// Numbers per frame of what is written as series of its own.
static double seriesNumbers(const tpRunInfo* info) {
    return (double)coordinateWidth * info->coordinateCount + info->sensorCount +
           (info->hasCarriers ? info->movingCount : 0);
}

static void planPage(pageWriter* writer, int every) {
    writer->info = writer->source->class->getInfo(writer->source);
    tpRunRange range = writer->source->class->getRange(writer->source);
    double contacts =
        range.frameCount > 0 ? (double)range.contactCount / (double)range.frameCount : 0.0;
    writer->frameSize = 4.0 * tp_stateWidth * writer->info.movingCount + 72.0 * contacts +
                        24.0 * writer->info.jointCount +
                        8.0 * (overviewWidth + seriesNumbers(&writer->info));
    double total = writer->frameSize * (double)range.frameCount;
    writer->stride = every > 0 ? every : 1 + (int64_t)(total / largestPage);
    writer->frameCount = 1 + (range.frameCount - 1) / writer->stride;
}

// The first row is the start; each further one covers the frames since the one before.
static tpResult readOverviewOf(const pageWriter* writer, tpRunLabels* labels, tpBytes* bytes,
                               tpError* error) {
    tpSeriesCursor start = { .source = writer->source, .end = 1, .stride = 1, .labels = labels };
    tpResult result = readSeries(&start, bytes, error);
    tpSeriesCursor rest = { .source = writer->source,
                            .next = 1,
                            .end = (writer->frameCount - 1) * writer->stride + 1,
                            .stride = writer->stride,
                            .labels = labels };
    while (result == tp_success && rest.next < rest.end) {
        result = readSeries(&rest, bytes, error);
    }
    return result;
}

// Coordinates of joints, values of sensors, and the methods that carried bodies: a block each, as
// a page asks for them one at a time. Methods add to the labels.
static tpResult putSeries(pageWriter* writer, tpRunLabels* labels, tpError* error) {
    const struct {
        const char* name;
        tpSeriesKind kind;
        int count;
    } lists[] = {
        { "coordinate", tp_coordinateSeries, writer->info.coordinateCount },
        { "sensor", tp_sensorSeries, writer->info.sensorCount },
        { "carrier", tp_carrierSeries, writer->info.hasCarriers ? writer->info.movingCount : 0 },
    };
    tpBytes bytes = { 0 };
    tpResult result = tp_success;
    for (int list = 0; list < 3; ++list) {
        for (int i = 0; i < lists[list].count && result == tp_success; ++i) {
            tpSeriesCursor cursor = { .source = writer->source,
                                      .kind = lists[list].kind,
                                      .body = i,
                                      .end = (writer->frameCount - 1) * writer->stride + 1,
                                      .stride = writer->stride,
                                      .labels = labels };
            bytes.count = 0;
            while (result == tp_success && cursor.next < cursor.end) {
                result = readSeries(&cursor, &bytes, error);
            }
            char about[64];
            snprintf(about, sizeof(about), "%s %d", lists[list].name, i);
            if (result == tp_success) {
                putPageBlock(&writer->file, "series", about, bytes.data, (size_t)bytes.count, 8);
            }
        }
    }
    freeBytes(&bytes);
    return result;
}

static void putHead(pageWriter* writer, const tpRunLabels* labels) {
    tpAllocator allocator = tpDefaultAllocator();
    tpText head = { .allocator = &allocator }, words = { .allocator = &allocator };
    char more[96];
    snprintf(more, sizeof(more), ",\"kept\":%lld,\"stride\":%lld", (long long)writer->frameCount,
             (long long)writer->stride);
    writeRunHead(writer->source, "file", more, &head);
    writeRunLabels(labels, &words);
    if (head.failed || words.failed) {
        writer->file.failed = true;
    } else {
        putPageText(&writer->file, "head", head.bytes.data);
        putPageText(&writer->file, "labels", words.bytes.data);
    }
    tpText_Free(&head);
    tpText_Free(&words);
}

static tpResult putFrames(pageWriter* writer, tpError* error) {
    int64_t atOnce = (int64_t)(blockSize / writer->frameSize);
    atOnce = atOnce < 1 ? 1 : atOnce > mostFramesInBlock ? mostFramesInBlock : atOnce;
    tpBytes bytes = { 0 };
    tpResult result = tp_success;
    for (int64_t k = 0; k < writer->frameCount && result == tp_success; k += atOnce) {
        int64_t left = writer->frameCount - k;
        tpFramesQuery query = { .first = k * writer->stride,
                                .count = left < atOnce ? left : atOnce,
                                .stride = writer->stride,
                                .width = tp_stateWidth,
                                .withContacts = true,
                                .withReactions = true };
        bytes.count = 0;
        result = writeFrames(writer->source, &query, &bytes, error);
        if (result == tp_success) {
            char about[64];
            snprintf(about, sizeof(about), "%lld %lld", (long long)k, (long long)query.count);
            putPageBlock(&writer->file, "frames", about, bytes.data, (size_t)bytes.count, 4);
        }
    }
    freeBytes(&bytes);
    return result;
}

tpPageResult writeRunPage(const char* command, tpRecording* recording, const char* path, int every,
                          int64_t* kept) {
    tpRecordedRun run = makeRecordedRun(recording);
    pageWriter writer = { .source = &run.source };
    planPage(&writer, every);
    *kept = writer.stride;
    if (!openPageFile(command, path, tpReplayPage(), &writer.file)) {
        return pageNotWritten;
    }
    tpRunLabels labels = { .count = 0 };
    tpBytes overview = { 0 };
    tpError error = { tp_success, "" };
    tpResult result = readOverviewOf(&writer, &labels, &overview, &error);
    if (result == tp_success) {
        result = putSeries(&writer, &labels, &error);
    }
    if (result == tp_success) {
        putHead(&writer, &labels);
        putPageBlock(&writer.file, "overview", "", overview.data, (size_t)overview.count, 8);
        result = putFrames(&writer, &error);
    }
    freeBytes(&overview);
    if (result != tp_success) {
        fprintf(stderr, "tippe %s: %s\n", command, error.message);
        discardOutput(&writer.file.output);
        return pageNotRead;
    }
    return closePageFile(command, &writer.file) ? pageWritten : pageNotWritten;
}
