// STL, text or binary: loose triangles whose equal corners are welded to one vertex.
//
// A file is binary when its length is exactly what its count of triangles says: some binary files
// start with "solid" too.

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "geometry/surface_file.h"

enum { headerSize = 84, recordSize = 50 };

// A hash table of vertices by their coordinates, bit for bit (but 0 and -0 are the same).
typedef struct Weld {
    int32_t* slots; // vertex number, -1: free
    size_t size;    // a power of two, 0 at first
} Weld;

static uint64_t hashPoint(tpVec3 p) {
    double parts[3] = { p.x + 0.0, p.y + 0.0, p.z + 0.0 }; // -0 becomes 0
    uint64_t h = 0;
    for (int k = 0; k < 3; ++k) {
        uint64_t bits;
        memcpy(&bits, &parts[k], sizeof(bits));
        h = (h ^ bits) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 33;
    }
    return h;
}

static size_t findSlot(const Weld* weld, const tpVec3* vertices, tpVec3 p) {
    size_t slot = (size_t)hashPoint(p) & (weld->size - 1);
    while (weld->slots[slot] >= 0) {
        tpVec3 q = vertices[weld->slots[slot]];
        if (p.x == q.x && p.y == q.y && p.z == q.z) {
            break;
        }
        slot = (slot + 1) & (weld->size - 1);
    }
    return slot;
}

static bool growWeld(Weld* weld, const tpSurfaceReader* reader) {
    Weld bigger = { NULL, weld->size == 0 ? 1024 : 2 * weld->size };
    bigger.slots = tpAllocate(&reader->allocator, bigger.size * sizeof(int32_t));
    if (bigger.slots == NULL) {
        return false;
    }
    memset(bigger.slots, 0xff, bigger.size * sizeof(int32_t));
    for (int32_t i = 0; i < reader->vertices.count; ++i) {
        bigger.slots[findSlot(&bigger, reader->vertices.data, reader->vertices.data[i])] = i;
    }
    tpRelease(&reader->allocator, weld->slots, weld->size * sizeof(int32_t));
    *weld = bigger;
    return true;
}

// The number of the vertex at p, new or known; -1 if memory ran out.
static int32_t weldVertex(tpSurfaceReader* reader, Weld* weld, tpVec3 p) {
    if (2 * (size_t)(reader->vertices.count + 1) > weld->size && !growWeld(weld, reader)) {
        return -1;
    }
    size_t slot = findSlot(weld, reader->vertices.data, p);
    if (weld->slots[slot] < 0) {
        if (!TP_PUSH(&reader->allocator, reader->vertices, p)) {
            return -1;
        }
        weld->slots[slot] = reader->vertices.count - 1;
    }
    return weld->slots[slot];
}

static tpResult addFacet(tpSurfaceReader* reader, Weld* weld, const tpVec3 corners[3]) {
    int32_t v[3];
    for (int k = 0; k < 3; ++k) {
        v[k] = weldVertex(reader, weld, corners[k]);
        if (v[k] < 0) {
            return tpError_OutOfMemory(reader->error);
        }
    }
    return tpSurfaceReader_AddTriangle(reader, v[0], v[1], v[2])
               ? tp_success
               : tpError_OutOfMemory(reader->error);
}

// Binary --------------------------------------------------------------------------------------

static uint32_t littleEndian(const char* bytes) {
    const unsigned char* b = (const unsigned char*)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double littleFloat(const char* bytes) {
    uint32_t bits = littleEndian(bytes);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool isBinary(const tpSurfaceReader* reader) {
    return reader->length >= headerSize &&
           reader->length ==
               headerSize + (size_t)recordSize * littleEndian(reader->text + headerSize - 4);
}

// A record: normal, three corners (floats), two bytes more.
static tpResult readBinary(tpSurfaceReader* reader, Weld* weld) {
    uint32_t count = littleEndian(reader->text + headerSize - 4);
    for (uint32_t i = 0; i < count; ++i) {
        const char* record = reader->text + headerSize + (size_t)recordSize * i;
        tpVec3 corners[3];
        for (int k = 0; k < 3; ++k) {
            const char* p = record + 12 + 12 * k;
            corners[k] = tpMakeVec3(littleFloat(p), littleFloat(p + 4), littleFloat(p + 8));
            if (!tpIsFiniteVec3(corners[k])) {
                return tpError_Set(reader->error, tp_badInput,
                                   "%s: corner %d of triangle %u (counted from 0) is not finite",
                                   reader->path, k, (unsigned)i);
            }
        }
        tpResult result = addFacet(reader, weld, corners);
        if (result != tp_success) {
            return result;
        }
    }
    return tp_success;
}

// Text ----------------------------------------------------------------------------------------

static void skipToWord(tpSurfaceReader* reader) {
    for (;;) {
        tpSurfaceReader_SkipBlanks(reader);
        if (!tpSurfaceReader_AtLineEnd(reader) || reader->at >= reader->length) {
            return;
        }
        tpSurfaceReader_NextLine(reader);
    }
}

static tpResult expectWord(tpSurfaceReader* reader, const char* word) {
    skipToWord(reader);
    if (tpSurfaceReader_Word(reader, word)) {
        return tp_success;
    }
    char message[64];
    snprintf(message, sizeof(message), "expected \"%s\"", word);
    return tpSurfaceReader_Fail(reader, reader->at, message);
}

static tpResult readNumbers(tpSurfaceReader* reader, double v[3]) {
    tpResult result = tp_success;
    for (int k = 0; k < 3 && result == tp_success; ++k) {
        skipToWord(reader);
        result = tpSurfaceReader_Number(reader, &v[k]);
    }
    return result;
}

// "facet normal n n n outer loop vertex v v v vertex v v v vertex v v v endloop endfacet"; the word
// "facet" has been read.
static tpResult readFacet(tpSurfaceReader* reader, Weld* weld) {
    double numbers[3] = { 0.0 };
    tpVec3 corners[3];
    tpResult result = expectWord(reader, "normal");
    // The normal is not used: some writers leave "nan" there.
    for (int k = 0; k < 3 && result == tp_success; ++k) {
        skipToWord(reader);
        while (reader->at < reader->length && strchr(" \t\r\n", reader->text[reader->at]) == NULL) {
            ++reader->at;
        }
    }
    const char* const before[2] = { "outer", "loop" };
    for (int k = 0; k < 2 && result == tp_success; ++k) {
        result = expectWord(reader, before[k]);
    }
    for (int k = 0; k < 3 && result == tp_success; ++k) {
        result = expectWord(reader, "vertex");
        if (result == tp_success) {
            result = readNumbers(reader, numbers);
        }
        corners[k] = tpMakeVec3(numbers[0], numbers[1], numbers[2]);
    }
    const char* const after[2] = { "endloop", "endfacet" };
    for (int k = 0; k < 2 && result == tp_success; ++k) {
        result = expectWord(reader, after[k]);
    }
    return result == tp_success ? addFacet(reader, weld, corners) : result;
}

// One or several "solid name ... endsolid name".
static tpResult readText(tpSurfaceReader* reader, Weld* weld) {
    tpResult result = expectWord(reader, "solid");
    tpSurfaceReader_NextLine(reader); // the name
    bool open = true;
    while (result == tp_success) {
        skipToWord(reader);
        if (reader->at >= reader->length) {
            break;
        }
        if (open && tpSurfaceReader_Word(reader, "facet")) {
            result = readFacet(reader, weld);
        } else if (open && tpSurfaceReader_Word(reader, "endsolid")) {
            tpSurfaceReader_NextLine(reader);
            open = false;
        } else if (!open && tpSurfaceReader_Word(reader, "solid")) {
            tpSurfaceReader_NextLine(reader);
            open = true;
        } else {
            result = tpSurfaceReader_Fail(reader, reader->at,
                                          open ? "expected \"facet\" or \"endsolid\""
                                               : "expected \"solid\" or the end of the file");
        }
    }
    if (result == tp_success && open) {
        result = tpSurfaceReader_Fail(reader, reader->at, "expected \"endsolid\" before the end");
    }
    return result;
}

tpResult tpReadStl(tpSurfaceReader* reader) {
    Weld weld = { NULL, 0 };
    tpResult result = isBinary(reader) ? readBinary(reader, &weld) : readText(reader, &weld);
    tpRelease(&reader->allocator, weld.slots, weld.size * sizeof(int32_t));
    return result;
}
