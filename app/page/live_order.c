// Orders of the page to a live run, read from JSON: a table of their keys.

#include "page/live_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "scene/json.h"
#include "scene/text.h"
#include "tippe/joints.h"

static const double shortestStep = 1e-7, longestStep = 10.0; // s
static const double mostSteps = 1e4, mostFrames = 1e15, mostBodies = 1e9;
static const double latest = 1e15; // s
static const double leastSpeed = 1e-4, mostSpeed = 1e4;
static const double farthest = 1e9;                     // m, of a place
static const double mostFriction = 100.0;               // of a slider; scenes may have more
static const double longestArm = 1e3;                   // m
static const double leastMass = 1e-12, mostMass = 1e12; // kg
static const double mostGravity = 1e6;                  // m/s^2

typedef struct orderReader {
    tpJson json;
    tpArena arena;
} orderReader;

static bool readNumber(orderReader* in, double low, double high, double* number) {
    return tpJson_Peek(&in->json) == tp_jsonNumber && tpJson_ReadNumber(&in->json, number) &&
           *number >= low && *number <= high;
}

static bool readCount(orderReader* in, double low, double high, int* count) {
    double number;
    bool isRead = readNumber(in, low, high, &number);
    *count = isRead ? (int)number : 0;
    return isRead;
}

static bool readBoolean(orderReader* in, bool* value) {
    if (tpJson_Peek(&in->json) != tp_jsonBoolean) {
        return false;
    }
    *value = tpJson_ReadBoolean(&in->json);
    return true;
}

// A text that fits.
static bool readWords(orderReader* in, char* words, size_t capacity) {
    size_t length;
    const char* text = tpJson_Peek(&in->json) == tp_jsonText
                           ? tpJson_ReadText(&in->json, &in->arena, &length)
                           : NULL;
    if (text == NULL || length >= capacity || strlen(text) != length) {
        return false;
    }
    memcpy(words, text, length + 1);
    return true;
}

static bool readVector(orderReader* in, double size, tpVec3* vector) {
    double numbers[3];
    if (tpJson_Peek(&in->json) != tp_jsonArray || tpJson_CountItems(&in->json) != 3) {
        return false;
    }
    tpJson_Enter(&in->json);
    for (int i = 0; tpJson_Next(&in->json); ++i) {
        if (!readNumber(in, -size, size, &numbers[i])) {
            return false;
        }
    }
    *vector = tpMakeVec3(numbers[0], numbers[1], numbers[2]);
    return true;
}

// Calls `take` for every key of the object that comes; false if one is not taken.
typedef bool (*keyTaker)(orderReader* in, const char* key, tpLiveOrder* order);
static bool readObject(orderReader* in, keyTaker take, tpLiveOrder* order) {
    if (tpJson_Peek(&in->json) != tp_jsonObject) {
        return false;
    }
    tpJson_Enter(&in->json);
    while (tpJson_Next(&in->json)) {
        size_t length;
        const char* key = tpJson_ReadKey(&in->json, &in->arena, &length);
        if (key == NULL || !take(in, key, order)) {
            return false;
        }
    }
    return true;
}

// Parts of orders
// ------------------------------------------------------------------------------------

static bool readDragKey(orderReader* in, const char* key, tpLiveOrder* order) {
    if (strcmp(key, "body") == 0) {
        return readCount(in, 0.0, mostBodies, &order->body);
    }
    if (strcmp(key, "point") == 0) {
        return readVector(in, farthest, &order->point);
    }
    return strcmp(key, "target") == 0 && readVector(in, farthest, &order->target);
}

static bool readDrag(orderReader* in, tpLiveOrder* order) {
    order->body = -1;
    order->point.x = order->target.x = NAN;
    order->drags = true;
    return readObject(in, readDragKey, order) && order->body >= 0 && !isnan(order->point.x) &&
           !isnan(order->target.x);
}

static bool readMaterialKey(orderReader* in, const char* key, tpLiveOrder* order) {
    tpLiveChange* change = &order->change;
    if (strcmp(key, "name") == 0) {
        return readWords(in, change->name, sizeof(change->name));
    }
    if (strcmp(key, "friction") == 0) {
        change->hasFriction = true;
        return readNumber(in, 0.0, mostFriction, &change->friction);
    }
    if (strcmp(key, "torsional") == 0) {
        change->hasTorsion = true;
        return readNumber(in, 0.0, longestArm, &change->torsion);
    }
    change->hasRestitution = true;
    return strcmp(key, "restitution") == 0 && readNumber(in, 0.0, 1.0, &change->restitution);
}

static bool readMaterial(orderReader* in, tpLiveOrder* order) {
    order->change = (tpLiveChange){ .kind = tp_materialChange };
    return readObject(in, readMaterialKey, order) && order->change.name[0] != '\0';
}

static bool readMassKey(orderReader* in, const char* key, tpLiveOrder* order) {
    if (strcmp(key, "body") == 0) {
        return readCount(in, 0.0, mostBodies, &order->change.body);
    }
    return strcmp(key, "mass") == 0 && readNumber(in, leastMass, mostMass, &order->change.mass);
}

static bool readMass(orderReader* in, tpLiveOrder* order) {
    order->change = (tpLiveChange){ .kind = tp_massChange, .body = -1 };
    return readObject(in, readMassKey, order) && order->change.body >= 0 &&
           order->change.mass > 0.0;
}

static bool readOptionKey(orderReader* in, const char* key, tpLiveOrder* order) {
    tpLiveChange* change = &order->change;
    return strcmp(key, "name") == 0
               ? readWords(in, change->name, sizeof(change->name))
               : strcmp(key, "value") == 0 && readWords(in, change->text, sizeof(change->text));
}

static bool readOption(orderReader* in, tpLiveOrder* order) {
    order->change = (tpLiveChange){ .kind = tp_optionChange };
    return readObject(in, readOptionKey, order) && order->change.name[0] != '\0' &&
           order->change.text[0] != '\0';
}

static bool readCoordinateKey(orderReader* in, const char* key, tpLiveOrder* order) {
    tpLiveChange* change = &order->change;
    if (strcmp(key, "joint") == 0) {
        return readCount(in, 0.0, mostBodies, &change->joint);
    }
    if (strcmp(key, "coupling") == 0 && change->kind == tp_targetChange) {
        return readCount(in, 0.0, mostBodies, &change->coupling);
    }
    if (strcmp(key, "coordinate") == 0) {
        return readCount(in, 0.0, tp_maxCoordinates - 1, &change->coordinate);
    }
    return strcmp(key, "value") == 0 && readNumber(in, -farthest, farthest, &change->value);
}

static bool readCoordinate(orderReader* in, tpLiveChangeKind kind, tpLiveOrder* order) {
    tpLiveChange* change = &order->change;
    *change = (tpLiveChange){ .kind = kind, .joint = -1, .coupling = -1, .value = NAN };
    if (!readObject(in, readCoordinateKey, order) || isnan(change->value)) {
        return false;
    }
    if (change->coupling >= 0) {
        change->kind = tp_couplingChange;
        return change->joint < 0 && change->coordinate == 0;
    }
    return change->joint >= 0;
}

static bool readTarget(orderReader* in, tpLiveOrder* order) {
    return readCoordinate(in, tp_targetChange, order);
}

static bool readMotor(orderReader* in, tpLiveOrder* order) {
    return readCoordinate(in, tp_motorChange, order);
}

static bool readGravity(orderReader* in, tpLiveOrder* order) {
    order->change = (tpLiveChange){ .kind = tp_gravityChange };
    return readVector(in, mostGravity, &order->change.gravity);
}

static bool readRunning(orderReader* in, tpLiveOrder* order) {
    order->setsRunning = true;
    return readBoolean(in, &order->running);
}

static bool readSteps(orderReader* in, tpLiveOrder* order) {
    return readCount(in, 1.0, mostSteps, &order->steps);
}

static bool readBegin(orderReader* in, tpLiveOrder* order) {
    return readBoolean(in, &order->begins);
}

static bool readRestart(orderReader* in, tpLiveOrder* order) {
    return readBoolean(in, &order->restart);
}

static bool readFork(orderReader* in, tpLiveOrder* order) {
    double frame;
    order->forks = readNumber(in, 0.0, mostFrames, &frame);
    order->frame = order->forks ? (int64_t)frame : 0;
    return order->forks;
}

static bool readStepper(orderReader* in, tpLiveOrder* order) {
    char name[64];
    order->setsStepper = true;
    return readWords(in, name, sizeof(name)) && tpFindStepper(name, &order->stepper) &&
           tpStepperIsAvailable(order->stepper);
}

static bool readStep(orderReader* in, tpLiveOrder* order) {
    order->setsStep = true;
    return readNumber(in, shortestStep, longestStep, &order->step);
}

static bool readSpeed(orderReader* in, tpLiveOrder* order) {
    order->setsSpeed = true;
    return readNumber(in, leastSpeed, mostSpeed, &order->speed);
}

static bool readLimit(orderReader* in, tpLiveOrder* order) {
    order->setsLimit = true;
    return readNumber(in, 0.0, latest, &order->limit);
}

static bool readDrop(orderReader* in, tpLiveOrder* order) {
    return readBoolean(in, &order->drops);
}

// Whole orders
// ---------------------------------------------------------------------------------------

typedef struct orderEntry {
    const char* key;
    const char* takes;
    bool (*read)(orderReader* in, tpLiveOrder* order);
} orderEntry;

static const orderEntry entries[] = {
    { "running", "true or false", readRunning },
    { "begin", "true or false", readBegin },
    { "steps", "a number from 1 to 10000", readSteps },
    { "restart", "true or false", readRestart },
    { "fork", "the number of a frame", readFork },
    { "stepper", "the name of a stepper", readStepper },
    { "step", "a number of seconds from 1e-7 to 10", readStep },
    { "speed", "a number from 0.0001 to 10000", readSpeed },
    { "limit", "a number of seconds", readLimit },
    { "drag", "a body, a point of it and a target", readDrag },
    { "drop", "true or false", readDrop },
    { "target", "a joint and its coordinate, or a coupling, and a value", readTarget },
    { "motor", "a joint, its coordinate and a value", readMotor },
    { "material", "a name with friction from 0 to 100, torsional or restitution from 0 to 1",
      readMaterial },
    { "mass", "a body and a mass in kilograms", readMass },
    { "gravity", "three numbers up to 1e6", readGravity },
    { "option", "a name and a value, both texts", readOption },
};

static const orderEntry* findEntry(const char* key) {
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
        if (strcmp(key, entries[i].key) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}

static tpResult readEntries(orderReader* in, tpLiveOrder* order, tpError* error) {
    if (tpJson_Peek(&in->json) != tp_jsonObject) {
        return tpError_Set(error, tp_badInput, "an order is an object");
    }
    tpJson_Enter(&in->json);
    while (tpJson_Next(&in->json)) {
        size_t length;
        const char* key = tpJson_ReadKey(&in->json, &in->arena, &length);
        if (key == NULL) {
            return tpError_OutOfMemory(error);
        }
        const orderEntry* entry = findEntry(key);
        if (entry == NULL) {
            return tpError_Set(error, tp_badInput, "there is no order \"%.40s\"", key);
        }
        if (!entry->read(in, order)) {
            return tpError_Set(error, tp_badInput, "\"%s\" takes %s", key, entry->takes);
        }
    }
    return tp_success;
}

tpResult readLiveOrder(const char* text, size_t length, tpLiveOrder* order, tpError* error) {
    *order = (tpLiveOrder){ .setsRunning = false };
    tpAllocator allocator = tpDefaultAllocator();
    orderReader in;
    tpArena_Create(&in.arena, &allocator);
    tpLocaleScope locale;
    char* copy = TP_SCRATCH(&in.arena, char, length + 1); // the reader wants a zero at the end
    if (copy == NULL || !tpEnterCLocale(&locale)) {
        tpArena_Destroy(&in.arena);
        return tpError_OutOfMemory(error);
    }
    if (length > 0) {
        memcpy(copy, text, length);
    }
    copy[length] = '\0';
    tpResult result = tpJson_Open(&in.json, "order", 0, copy, length, error);
    if (result == tp_success) {
        result = readEntries(&in, order, error);
    }
    tpLeaveCLocale(&locale);
    tpArena_Destroy(&in.arena);
    return result;
}
