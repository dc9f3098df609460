#include "page/answers.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

// Replies
// --------------------------------------------------------------------------------------------

void replyWithError(tpReply* reply, int status, const char* message) {
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    reply->bytes.count = 0;
    appendBytes(&reply->bytes, message, strlen(message));
    appendBytes(&reply->bytes, "\n", 1);
}

static void replyWithText(tpReply* reply, const char* type, tpText* text) {
    reply->status = 200;
    reply->type = type;
    if (text->failed || !appendBytes(&reply->bytes, text->bytes.data, (size_t)text->bytes.count)) {
        replyWithError(reply, 503, "out of memory");
    }
    tpText_Free(text);
}

void clearReply(tpReply* reply) {
    freeBytes(&reply->bytes);
    *reply = (tpReply){ 0 };
}

// Queries
// --------------------------------------------------------------------------------------------

// At most 15 digits, so that any number of them fits a double as well.
static bool readDigits(const char* digits, size_t length, int64_t* number) {
    *number = 0;
    if (length == 0 || length > 15) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        if (digits[i] < '0' || digits[i] > '9') {
            return false;
        }
        *number = 10 * *number + (digits[i] - '0');
    }
    return true;
}

bool readQueryNumber(const char* query, const char* name, int64_t missing, int64_t* number) {
    size_t nameLength = strlen(name);
    *number = missing;
    for (const char* part = query; *part != '\0';) {
        size_t length = strcspn(part, "&");
        if (length > nameLength && memcmp(part, name, nameLength) == 0 && part[nameLength] == '=') {
            return readDigits(part + nameLength + 1, length - nameLength - 1, number);
        }
        part += length + (part[length] == '&' ? 1 : 0);
    }
    return true;
}

// Answers
// --------------------------------------------------------------------------------------------

// What only a live run has: steppers to choose from, and numbers to change.
static void writeLiveHead(tpView* view, tpText* text) {
    tpText_Add(text, ",\"until\":");
    double until = view->source->class->getInfo(view->source).until;
    tpText_AddNumber(text, until);
    tpText_Add(text, ",\"steppers\":[");
    bool isFirst = true;
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (tpStepperIsAvailable((tpStepperId)i)) {
            tpText_Format(text, "%s\"%s\"", isFirst ? "" : ",", tpStepperName((tpStepperId)i));
            isFirst = false;
        }
    }
    tpText_Add(text, "],\"settings\":");
    writeSettingsOfLiveRun(view->live, text);
}

static void answerHead(tpView* view, tpReply* reply) {
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator }, more = { .allocator = &allocator };
    tpText_Add(&more, "");
    if (view->live != NULL) {
        writeLiveHead(view, &more);
    }
    text.failed = more.failed;
    writeRunHead(view->source, view->live != NULL ? "live" : "recording",
                 more.failed ? "" : more.bytes.data, &text);
    tpText_Free(&more);
    replyWithText(reply, "application/json", &text);
}

static void answerLabels(tpView* view, tpReply* reply) {
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    writeRunLabels(&view->labels, &text);
    replyWithText(reply, "application/json", &text);
}

// first, count and stride of a query, within what there is.
static bool readRange(tpView* view, const char* query, int64_t* first, int64_t* count,
                      int64_t* stride, tpReply* reply) {
    tpRunRange range = view->source->class->getRange(view->source);
    bool isRead = readQueryNumber(query, "first", 0, first) &&
                  readQueryNumber(query, "count", 1, count) &&
                  readQueryNumber(query, "stride", 1, stride);
    if (!isRead || *count < 1 || *stride < 1) {
        replyWithError(reply, 400, "first, count and stride are whole numbers");
        return false;
    }
    if (*first < range.firstFrame || *first >= range.frameCount) {
        replyWithError(reply, 404, "there is no such frame");
        return false;
    }
    return true;
}

static void answerFrames(tpView* view, const char* query, tpReply* reply) {
    tpFramesQuery frames = { .width = poseWidth, .withReactions = true };
    int64_t contacts = 0;
    if (!readRange(view, query, &frames.first, &frames.count, &frames.stride, reply)) {
        return;
    }
    tpRunRange range = view->source->class->getRange(view->source);
    int64_t most = (range.frameCount - 1 - frames.first) / frames.stride + 1;
    if (frames.count > most || !readQueryNumber(query, "contacts", 1, &contacts)) {
        replyWithError(reply, 404, "there are no such frames");
        return;
    }
    frames.withContacts = contacts != 0;
    tpError error;
    reply->status = 200;
    reply->type = "application/octet-stream";
    if (writeFrames(view->source, &frames, &reply->bytes, &error) != tp_success) {
        freeBytes(&reply->bytes);
        replyWithError(reply, error.result == tp_badInput ? 404 : 500, error.message);
    }
}

static void answerSeries(tpView* view, const char* query, tpSeriesKind kind, tpReply* reply) {
    tpRunInfo info = view->source->class->getInfo(view->source);
    tpSeriesCursor series = { .source = view->source, .kind = kind, .labels = &view->labels };
    int64_t count, body = 0;
    if (!readRange(view, query, &series.next, &count, &series.stride, reply)) {
        return;
    }
    const struct {
        const char* name;
        int count;
    } things[] = { [tp_overviewSeries] = { "body", info.bodyCount },
                   [tp_bodySeries] = { "body", info.movingCount },
                   [tp_jointSeries] = { "joint", info.jointCount },
                   [tp_coordinateSeries] = { "coordinate", info.coordinateCount },
                   [tp_sensorSeries] = { "sensor", info.sensorCount },
                   [tp_carrierSeries] = { "body", info.movingCount },
                   [tp_contactSeries] = { "body", info.bodyCount } };
    tpRunRange range = view->source->class->getRange(view->source);
    if (!readQueryNumber(query, things[kind].name, 0, &body) ||
        (kind != tp_overviewSeries && body >= things[kind].count) ||
        count > range.frameCount - series.next) {
        replyWithError(reply, 404,
                       "there is no such body, joint, coordinate or sensor, or not so many frames");
        return;
    }
    series.end = series.next + count;
    series.body = (int)body;
    reply->status = 200;
    reply->type = "application/octet-stream";
    reply->hasSeries = true;
    reply->series = series;
}

static void answerOverview(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_overviewSeries, reply);
}

static void answerBody(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_bodySeries, reply);
}

static void answerJoint(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_jointSeries, reply);
}

static void answerCoordinate(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_coordinateSeries, reply);
}

static void answerSensor(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_sensorSeries, reply);
}

static void answerCarrier(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_carrierSeries, reply);
}

static void answerContacts(tpView* view, const char* query, tpReply* reply) {
    answerSeries(view, query, tp_contactSeries, reply);
}

static void writeStatus(const tpLiveStatus* status, tpText* text) {
    tpText_Format(text, "{\"first\":%lld,\"frames\":%lld,\"version\":%llu,\"epoch\":%llu",
                  (long long)status->firstFrame, (long long)status->frameCount,
                  (unsigned long long)status->version, (unsigned long long)status->epoch);
    tpText_Format(text, ",\"running\":%s,\"stepper\":\"%s\",\"step\":",
                  status->isRunning ? "true" : "false", tpStepperName(status->stepper));
    tpText_AddNumber(text, status->step);
    tpText_Add(text, ",\"speed\":");
    tpText_AddNumber(text, status->speed);
    tpText_Add(text, ",\"factor\":");
    tpText_AddNumber(text, isfinite(status->factor) ? status->factor : 0.0);
    tpText_Add(text, ",\"message\":");
    writeQuoted(text, status->message);
    tpText_Add(text, "}");
}

// What is new in a live run; put off while there is nothing.
static void answerLive(tpView* view, const char* query, bool isLate, tpReply* reply) {
    int64_t after = 0, version = 0;
    if (view->live == NULL || !readQueryNumber(query, "after", 0, &after) ||
        !readQueryNumber(query, "version", 0, &version)) {
        replyWithError(reply, view->live == NULL ? 404 : 400, "after and version are numbers");
        return;
    }
    tpLiveStatus status = statusOfLiveRun(view->live);
    if (status.frameCount == after && status.version == (uint64_t)version && !isLate) {
        return;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    writeStatus(&status, &text);
    replyWithText(reply, "application/json", &text);
}

static void answerCommand(tpView* view, const tpPageRequest* request, tpReply* reply) {
    tpLiveOrder order;
    tpError error;
    if (view->live == NULL) {
        replyWithError(reply, 404, "a recording takes no orders");
    } else if (readLiveOrder(request->body, request->bodySize, &order, &error) != tp_success) {
        replyWithError(reply, 400, error.message);
    } else if (isLiveRunWatched(view->live)) {
        if (order.begins) { // it has begun already
            reply->status = 204;
            reply->type = "text/plain";
        } else {
            replyWithError(reply, 409, "a program steps this world: it takes no orders from here");
        }
    } else if (!orderLiveRun(view->live, &order)) {
        replyWithError(reply, 503, "too many orders wait already");
    } else {
        reply->status = 204;
        reply->type = "text/plain";
    }
}

static void answerSettings(tpView* view, const char* query, tpReply* reply) {
    (void)query;
    tpAllocator allocator = tpDefaultAllocator();
    tpText text = { .allocator = &allocator };
    if (view->live == NULL) {
        replyWithError(reply, 404, "a recording has no settings");
        return;
    }
    writeSettingsOfLiveRun(view->live, &text);
    replyWithText(reply, "application/json", &text);
}

static void answerCoordinates(tpView* view, const char* query, tpReply* reply) {
    (void)query;
    if (view->live == NULL) {
        replyWithError(reply, 404, "a recording has no coordinates of joints");
        return;
    }
    reply->status = 200;
    reply->type = "application/octet-stream";
    if (!copyCoordinatesOfLiveRun(view->live, &reply->bytes)) {
        replyWithError(reply, 500, "memory ran out");
    }
}

typedef struct question {
    const char* path;
    void (*answer)(tpView* view, const char* query, tpReply* reply);
} question;

static void answerHeadOf(tpView* view, const char* query, tpReply* reply) {
    (void)query;
    answerHead(view, reply);
}

static void answerLabelsOf(tpView* view, const char* query, tpReply* reply) {
    (void)query;
    answerLabels(view, reply);
}

static const question questions[] = {
    { "head", answerHeadOf },
    { "labels", answerLabelsOf },
    { "frames", answerFrames },
    { "overview", answerOverview },
    { "body", answerBody },
    { "joint", answerJoint },
    { "coordinate", answerCoordinate },
    { "sensor", answerSensor },
    { "carrier", answerCarrier },
    { "contacts", answerContacts },
    { "settings", answerSettings },
    { "coordinates", answerCoordinates },
};

void answerPage(tpView* view, const tpPageRequest* request, bool isLate, tpReply* reply) {
    if (request->isOrder != (strcmp(request->path, "command") == 0)) {
        replyWithError(reply, 405, "not that way");
        return;
    }
    if (request->isOrder) {
        answerCommand(view, request, reply);
        return;
    }
    if (strcmp(request->path, "live") == 0) {
        answerLive(view, request->query, isLate, reply);
        return;
    }
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); ++i) {
        if (strcmp(request->path, questions[i].path) == 0) {
            questions[i].answer(view, request->query, reply);
            return;
        }
    }
    replyWithError(reply, 404, "nothing here");
}
