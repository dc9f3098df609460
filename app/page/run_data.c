// Heads and frames of a run for the page. Series are in run_series.c.

#include "page/run_data.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum { frameHeadWords = 8, contactWords = 18, framesMagic = 0x31465054 }; // "TPF1"

bool appendBytes(tpBytes* bytes, const void* data, size_t size) {
    tpAllocator allocator = tpDefaultAllocator();
    if (size > (size_t)INT32_MAX / 2 - (size_t)bytes->count ||
        !TP_RESERVE(&allocator, *bytes, bytes->count + (int)size)) {
        return false;
    }
    if (size > 0) {
        memcpy(bytes->data + bytes->count, data, size);
    }
    bytes->count += (int)size;
    return true;
}

void freeBytes(tpBytes* bytes) {
    tpAllocator allocator = tpDefaultAllocator();
    TP_FREE_ARRAY(&allocator, *bytes);
}

// The head
// -----------------------------------------------------------------------------------------

void writeQuoted(tpText* text, const char* words) {
    tpText_Add(text, "\"");
    for (const char* c = words; *c != '\0'; ++c) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte == '<' || byte == '>' || byte == '&' || byte == 0x7f) {
            tpText_Format(text, "\\u%04x", byte);
        } else if (byte == '"' || byte == '\\') {
            tpText_Format(text, "\\%c", byte);
        } else {
            size_t run =
                strcspn(c, "\"\\<>&\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10"
                           "\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f");
            tpText_AddBytes(text, c, run);
            c += run - 1;
        }
    }
    tpText_Add(text, "\"");
}

static void writeNumber(tpText* text, double number) {
    if (isfinite(number)) {
        tpText_AddNumber(text, number);
    } else {
        tpText_Add(text, "null");
    }
}

static void writeNumbers(tpText* text, const char* key, const double* numbers, int count) {
    tpText_Format(text, ",\"%s\":[", key);
    for (int i = 0; i < count; ++i) {
        tpText_Add(text, i > 0 ? "," : "");
        writeNumber(text, numbers[i]);
    }
    tpText_Add(text, "]");
}

static void writeText(tpText* text, const char* key, const char* words) {
    tpText_Format(text, ",\"%s\":", key);
    writeQuoted(text, words);
}

static void writeBody(tpText* text, const tpRecordedBody* body) {
    static const char* const kinds[] = {
        [tp_dynamicBody] = "dynamic", [tp_fixedBody] = "fixed", [tp_kinematicBody] = "kinematic"
    };
    tpText_Format(text, "{\"kind\":\"%s\",\"moving\":%d", kinds[body->kind], body->moving);
    writeText(text, "name", body->name);
    tpText_Add(text, ",\"mass\":");
    writeNumber(text, body->mass);
    tpVec3 p = body->pose.position;
    tpQuat q = body->pose.rotation;
    writeNumbers(text, "position", (double[]){ p.x, p.y, p.z }, 3);
    writeNumbers(text, "rotation", (double[]){ q.w, q.x, q.y, q.z }, 4);
    tpText_Add(text, "}");
}

static void writeNames(tpText* text, const char* key, const tpRunSource* source,
                       const char* (*nameOf)(const tpRunSource*, int), int count) {
    tpText_Format(text, ",\"%s\":[", key);
    for (int i = 0; i < count && nameOf != NULL; ++i) {
        tpText_Add(text, i > 0 ? "," : "");
        writeQuoted(text, nameOf(source, i));
    }
    tpText_Add(text, "]");
}

void writeRunHead(tpRunSource* source, const char* mode, const char* more, tpText* text) {
    tpRunInfo info = source->class->getInfo(source);
    tpRunRange range = source->class->getRange(source);
    tpText_Format(text, "{\"mode\":\"%s\",\"first\":%lld,\"frames\":%lld,\"contacts\":%lld", mode,
                  (long long)range.firstFrame, (long long)range.frameCount,
                  (long long)range.contactCount);
    tpText_Format(text, ",\"every\":%d,\"finished\":%s,\"planar\":%s", info.every,
                  info.finished ? "true" : "false", info.planar ? "true" : "false");
    tpText_Add(text, ",\"step\":");
    writeNumber(text, range.step);
    tpVec3 g = info.gravity;
    writeNumbers(text, "gravity", (double[]){ g.x, g.y, g.z }, 3);
    writeText(text, "version", info.version);
    writeText(text, "stepper", range.stepper);
    writeText(text, "name", info.sceneName);
    writeText(text, "scene", info.sceneText);
    writeText(text, "shapes", info.shapesText);
    writeText(text, "summary", info.summary);
    tpText_Add(text, ",\"bodies\":[");
    for (int i = 0; i < info.bodyCount; ++i) {
        tpRecordedBody body = source->class->getBody(source, i);
        tpText_Add(text, i > 0 ? ",\n" : "\n");
        writeBody(text, &body);
    }
    tpText_Add(text, "]");
    writeNames(text, "joints", source, source->class->getJointName, info.jointCount);
    writeNames(text, "coordinates", source, source->class->getCoordinateName, info.coordinateCount);
    writeNames(text, "sensors", source, source->class->getSensorName, info.sensorCount);
    tpText_Add(text, more);
    tpText_Add(text, "}\n");
}

void writeRunLabels(const tpRunLabels* labels, tpText* text) {
    tpText_Add(text, "[");
    for (int i = 0; i < labels->count; ++i) {
        tpText_Add(text, i > 0 ? "," : "");
        writeQuoted(text, labels->names[i]);
    }
    tpText_Add(text, "]");
}

// Frames
// -------------------------------------------------------------------------------------------
//
// A block in words of 32 bits:
//
//     magic  count  moving  width  contacts  joints  0  0
//     frame number [count], first contact [count + 1]
//     states [count][moving][width]                                     floats
//     contacts [contacts][18]: point normal gap impulse friction[3] torsion speed    floats
//                              bodyA bodyB state feature (low, high)    integers
//     reactions [count][joints][6]                                      floats

// Memory of one call, in one arena.
typedef struct frameScratch {
    double* states;
    double* reactions;
    int64_t* starts; // contacts of frame k start at starts[2 k] and end at starts[2 k + 1]
    tpRecordedContact* contacts;
} frameScratch;

static bool appendFloats(tpBytes* out, const double* numbers, int64_t rows, int stride, int width) {
    tpAllocator allocator = tpDefaultAllocator();
    int64_t size = rows * width * (int64_t)sizeof(float);
    if (size > largestFrameBlock || !TP_RESERVE(&allocator, *out, out->count + (int)size)) {
        return false;
    }
    unsigned char* to = out->data + out->count;
    for (int64_t row = 0; row < rows; ++row) {
        for (int i = 0; i < width; ++i) {
            float number = (float)numbers[row * stride + i];
            memcpy(to, &number, sizeof(number));
            to += sizeof(number);
        }
    }
    out->count += (int)size;
    return true;
}

void listContactNumbers(const tpRecordedContact* contact, double numbers[contactNumbers]) {
    const tpVec3 vectors[3] = { contact->point, contact->normal, contact->frictionImpulse };
    static const int places[3] = { 0, 3, 8 };
    for (int i = 0; i < 3; ++i) {
        numbers[places[i]] = vectors[i].x;
        numbers[places[i] + 1] = vectors[i].y;
        numbers[places[i] + 2] = vectors[i].z;
    }
    numbers[6] = contact->gap;
    numbers[7] = contact->normalImpulse;
    numbers[11] = contact->torsionalImpulse;
    numbers[12] = contact->slidingSpeed;
}

static void putContact(const tpRecordedContact* contact, uint32_t words[contactWords]) {
    double numbers[contactNumbers];
    listContactNumbers(contact, numbers);
    for (int i = 0; i < contactNumbers; ++i) {
        float number = (float)numbers[i];
        memcpy(&words[i], &number, sizeof(number));
    }
    words[13] = (uint32_t)contact->bodyA;
    words[14] = (uint32_t)contact->bodyB;
    words[15] = (uint32_t)contact->state;
    words[16] = (uint32_t)contact->feature;
    words[17] = (uint32_t)(contact->feature >> 32);
}

static tpResult readContactStarts(tpRunSource* source, const tpFramesQuery* query,
                                  frameScratch* scratch, int64_t* total, tpError* error) {
    *total = 0;
    for (int64_t k = 0; k < query->count; ++k) {
        scratch->starts[2 * k] = scratch->starts[2 * k + 1] = 0;
        if (query->withContacts) {
            tpResult result = source->class->readOffsets(source, query->first + k * query->stride,
                                                         1, scratch->starts + 2 * k, error);
            if (result != tp_success) {
                return result;
            }
        }
        *total += scratch->starts[2 * k + 1] - scratch->starts[2 * k];
    }
    return tp_success;
}

static tpResult appendFrameHead(const tpFramesQuery* query, const tpRunInfo* info,
                                const int64_t* starts, int64_t contactCount, tpBytes* out,
                                tpError* error) {
    uint32_t head[frameHeadWords] = { framesMagic,
                                      (uint32_t)query->count,
                                      (uint32_t)info->movingCount,
                                      (uint32_t)query->width,
                                      (uint32_t)contactCount,
                                      query->withReactions ? (uint32_t)info->jointCount : 0 };
    bool fits = appendBytes(out, head, sizeof(head));
    for (int64_t k = 0; fits && k < query->count; ++k) {
        uint32_t frame = (uint32_t)(query->first + k * query->stride);
        fits = appendBytes(out, &frame, sizeof(frame));
    }
    uint32_t offset = 0;
    for (int64_t k = 0; fits && k <= query->count; ++k) {
        fits = appendBytes(out, &offset, sizeof(offset));
        offset += k < query->count ? (uint32_t)(starts[2 * k + 1] - starts[2 * k]) : 0;
    }
    return fits ? tp_success : tpError_OutOfMemory(error);
}

static tpResult appendFrameStates(tpRunSource* source, const tpFramesQuery* query,
                                  const tpRunInfo* info, double* states, tpBytes* out,
                                  tpError* error) {
    for (int64_t k = 0; k < query->count && info->movingCount > 0; ++k) {
        tpResult result =
            source->class->readStates(source, query->first + k * query->stride, 1, states, error);
        if (result != tp_success) {
            return result;
        }
        if (!appendFloats(out, states, info->movingCount, tp_stateWidth, query->width)) {
            return tpError_OutOfMemory(error);
        }
    }
    return tp_success;
}

static tpResult appendFrameContacts(tpRunSource* source, const tpFramesQuery* query,
                                    const frameScratch* scratch, tpBytes* out, tpError* error) {
    for (int64_t k = 0; k < query->count; ++k) {
        int64_t start = scratch->starts[2 * k], count = scratch->starts[2 * k + 1] - start;
        tpResult result =
            count > 0 ? source->class->readContacts(source, start, count, scratch->contacts, error)
                      : tp_success;
        if (result != tp_success) {
            return result;
        }
        for (int64_t i = 0; i < count; ++i) {
            uint32_t words[contactWords];
            putContact(&scratch->contacts[i], words);
            if (!appendBytes(out, words, sizeof(words))) {
                return tpError_OutOfMemory(error);
            }
        }
    }
    return tp_success;
}

static tpResult appendFrameReactions(tpRunSource* source, const tpFramesQuery* query,
                                     const tpRunInfo* info, double* reactions, tpBytes* out,
                                     tpError* error) {
    if (!query->withReactions || info->jointCount == 0) {
        return tp_success;
    }
    for (int64_t k = 0; k < query->count; ++k) {
        tpResult result = source->class->readReactions(source, query->first + k * query->stride, 1,
                                                       reactions, error);
        if (result != tp_success) {
            return result;
        }
        if (!appendFloats(out, reactions, info->jointCount, 6, 6)) {
            return tpError_OutOfMemory(error);
        }
    }
    return tp_success;
}

tpResult writeFrames(tpRunSource* source, const tpFramesQuery* query, tpBytes* out,
                     tpError* error) {
    tpRunInfo info = source->class->getInfo(source);
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    frameScratch scratch = {
        .states = TP_SCRATCH(&arena, double, (size_t)info.movingCount* tp_stateWidth),
        .reactions = TP_SCRATCH(&arena, double, (size_t)info.jointCount * 6),
        .starts = TP_SCRATCH(&arena, int64_t, 2 * query->count),
    };
    int64_t total = 0, largest = 0;
    tpResult result = arena.failed ? tpError_OutOfMemory(error)
                                   : readContactStarts(source, query, &scratch, &total, error);
    for (int64_t k = 0; result == tp_success && k < query->count; ++k) {
        int64_t count = scratch.starts[2 * k + 1] - scratch.starts[2 * k];
        largest = count > largest ? count : largest;
    }
    int64_t reactions = query->withReactions ? 6 * (int64_t)info.jointCount : 0;
    int64_t words = query->count * (2 + (int64_t)info.movingCount * query->width + reactions) +
                    total * contactWords;
    if (result == tp_success && words > largestFrameBlock / 4) {
        result = tpError_Set(error, tp_badInput, "more than fits in one block; ask for less");
    }
    if (result == tp_success) {
        scratch.contacts = TP_SCRATCH(&arena, tpRecordedContact, largest);
        result = arena.failed ? tpError_OutOfMemory(error)
                              : appendFrameHead(query, &info, scratch.starts, total, out, error);
    }
    if (result == tp_success) {
        result = appendFrameStates(source, query, &info, scratch.states, out, error);
    }
    if (result == tp_success) {
        result = appendFrameContacts(source, query, &scratch, out, error);
    }
    if (result == tp_success) {
        result = appendFrameReactions(source, query, &info, scratch.reactions, out, error);
    }
    tpArena_Destroy(&arena);
    return result;
}
