// Orders of the page to a live run, read from JSON.

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "scene/json.h"
#include "scene/text.h"
#include "view.h"

static const double shortestStep = 1e-7, longestStep = 10.0; // s
static const double mostSteps = 1e4;
static const double leastSpeed = 1e-4, mostSpeed = 1e4;
static const double farthest = 1e9; // m, of a place

static bool readNumber(tpJson* json, double low, double high, double* number) {
    return tpJson_Peek(json) == tp_jsonNumber && tpJson_ReadNumber(json, number) &&
           *number >= low && *number <= high;
}

static bool readBoolean(tpJson* json, bool* value) {
    if (tpJson_Peek(json) != tp_jsonBoolean) {
        return false;
    }
    *value = tpJson_ReadBoolean(json);
    return true;
}

static bool readPlace(tpJson* json, tpVec3* place) {
    double numbers[3];
    if (tpJson_Peek(json) != tp_jsonArray || tpJson_CountItems(json) != 3) {
        return false;
    }
    tpJson_Enter(json);
    for (int i = 0; tpJson_Next(json); ++i) {
        if (!readNumber(json, -farthest, farthest, &numbers[i])) {
            return false;
        }
    }
    *place = tpMakeVec3(numbers[0], numbers[1], numbers[2]);
    return true;
}

static bool readDrag(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    bool hasBody = false, hasPoint = false, hasTarget = false, isFine = true;
    if (tpJson_Peek(json) != tp_jsonObject) {
        return false;
    }
    tpJson_Enter(json);
    while (isFine && tpJson_Next(json)) {
        size_t length;
        const char* key = tpJson_ReadKey(json, arena, &length);
        double body;
        if (key == NULL) {
            return false;
        }
        if (strcmp(key, "body") == 0) {
            hasBody = isFine = readNumber(json, 0.0, 1e9, &body);
            order->body = isFine ? (int)body : 0;
        } else if (strcmp(key, "point") == 0) {
            hasPoint = isFine = readPlace(json, &order->point);
        } else if (strcmp(key, "target") == 0) {
            hasTarget = isFine = readPlace(json, &order->target);
        } else {
            return false;
        }
    }
    order->drags = true;
    return isFine && hasBody && hasPoint && hasTarget;
}

static bool readRunning(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    order->setsRunning = true;
    return readBoolean(json, &order->running);
}

static bool readSteps(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    double steps;
    bool isRead = readNumber(json, 1.0, mostSteps, &steps);
    order->steps = isRead ? (int)steps : 0;
    return isRead;
}

static bool readBegin(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    return readBoolean(json, &order->begins);
}

static bool readRestart(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    return readBoolean(json, &order->restart);
}

static bool readStepper(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    size_t length;
    const char* name =
        tpJson_Peek(json) == tp_jsonText ? tpJson_ReadText(json, arena, &length) : NULL;
    order->setsStepper = true;
    return name != NULL && tpFindStepper(name, &order->stepper) &&
           tpStepperIsAvailable(order->stepper);
}

static bool readStep(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    order->setsStep = true;
    return readNumber(json, shortestStep, longestStep, &order->step);
}

static bool readSpeed(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    order->setsSpeed = true;
    return readNumber(json, leastSpeed, mostSpeed, &order->speed);
}

static bool readDrop(tpJson* json, tpArena* arena, tpLiveOrder* order) {
    (void)arena;
    return readBoolean(json, &order->drops);
}

typedef struct orderEntry {
    const char* key;
    const char* takes;
    bool (*read)(tpJson* json, tpArena* arena, tpLiveOrder* order);
} orderEntry;

static const orderEntry entries[] = {
    { "running", "true or false", readRunning },
    { "begin", "true or false", readBegin },
    { "steps", "a number from 1 to 10000", readSteps },
    { "restart", "true or false", readRestart },
    { "stepper", "the name of a stepper", readStepper },
    { "step", "a number of seconds from 1e-7 to 10", readStep },
    { "speed", "a number from 0.0001 to 10000", readSpeed },
    { "drag", "a body, a point of it and a target", readDrag },
    { "drop", "true or false", readDrop },
};

static const orderEntry* findEntry(const char* key) {
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
        if (strcmp(key, entries[i].key) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}

static tpResult readEntries(tpJson* json, tpArena* arena, tpLiveOrder* order, tpError* error) {
    if (tpJson_Peek(json) != tp_jsonObject) {
        return tpError_Set(error, tp_badInput, "an order is an object");
    }
    tpJson_Enter(json);
    while (tpJson_Next(json)) {
        size_t length;
        const char* key = tpJson_ReadKey(json, arena, &length);
        if (key == NULL) {
            return tpError_OutOfMemory(error);
        }
        const orderEntry* entry = findEntry(key);
        if (entry == NULL) {
            return tpError_Set(error, tp_badInput, "there is no order \"%.40s\"", key);
        }
        if (!entry->read(json, arena, order)) {
            return tpError_Set(error, tp_badInput, "\"%s\" takes %s", key, entry->takes);
        }
    }
    return tp_success;
}

tpResult readLiveOrder(const char* text, size_t length, tpLiveOrder* order, tpError* error) {
    *order = (tpLiveOrder){ .setsRunning = false };
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    tpLocaleScope locale;
    char* copy = TP_SCRATCH(&arena, char, length + 1); // the reader wants a zero at the end
    if (copy == NULL || !tpEnterCLocale(&locale)) {
        tpArena_Destroy(&arena);
        return tpError_OutOfMemory(error);
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    tpJson json;
    tpResult result = tpJson_Open(&json, "order", copy, length, error);
    if (result == tp_success) {
        result = readEntries(&json, &arena, order, error);
    }
    tpLeaveCLocale(&locale);
    tpArena_Destroy(&arena);
    return result;
}
