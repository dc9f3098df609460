// Wavefront OBJ: vertices and polygons; what does not bear on the surface is passed over.
//
// Polygons of more than three corners are cut into triangles by clipping ears [Meisters75], so that
// those that are not convex come out right too.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/surface_file.h"

// Keywords without a bearing on the surface.
static const char* const passedOver[] = { "vt",       "vn",         "vp",       "o",
                                          "g",        "s",          "mg",       "usemtl",
                                          "mtllib",   "usemap",     "maplib",   "l",
                                          "p",        "bevel",      "lod",      "c_interp",
                                          "d_interp", "shadow_obj", "trace_obj" };
enum { passedOverCount = sizeof(passedOver) / sizeof(passedOver[0]) };

typedef TP_ARRAY(int32_t) Polygon;

static tpResult readVertex(tpSurfaceReader* reader) {
    double v[3];
    for (int k = 0; k < 3; ++k) {
        tpResult result = tpSurfaceReader_Number(reader, &v[k]);
        if (result != tp_success) {
            return result;
        }
    }
    tpVec3 vertex = tpMakeVec3(v[0], v[1], v[2]);
    // A weight or a colour may follow; neither moves the vertex.
    return TP_PUSH(&reader->allocator, reader->vertices, vertex)
               ? tp_success
               : tpError_OutOfMemory(reader->error);
}

// A corner "v", "v/vt", "v//vn" or "v/vt/vn"; v counts from 1, or back from the last if negative.
static tpResult readCorner(tpSurfaceReader* reader, int32_t* vertex) {
    size_t start = reader->at;
    char* end;
    long number = strtol(reader->text + start, &end, 10);
    size_t after = (size_t)(end - reader->text);
    if (after == start || strchr(" \t\v\f\r\n/\\", *end) == NULL) {
        return tpSurfaceReader_Fail(reader, start, "expected the number of a vertex");
    }
    long count = reader->vertices.count;
    if (number == 0 || number > count || number < -count) {
        char message[128];
        snprintf(message, sizeof(message),
                 "vertex %ld is not there: %ld have been given so far, counted from 1", number,
                 count);
        return tpSurfaceReader_Fail(reader, start, message);
    }
    *vertex = (int32_t)(number > 0 ? number - 1 : count + number);
    while (after < reader->length && strchr("0123456789/-+", reader->text[after]) != NULL) {
        ++after; // texture and normal
    }
    reader->at = after;
    return tp_success;
}

static tpVec3 polygonNormal(const tpSurfaceReader* reader, const Polygon* polygon) {
    tpVec3 origin = reader->vertices.data[polygon->data[0]], sum = tpZeroVec3();
    for (int i = 1; i + 1 < polygon->count; ++i) {
        tpVec3 a = tpSub(reader->vertices.data[polygon->data[i]], origin);
        tpVec3 b = tpSub(reader->vertices.data[polygon->data[i + 1]], origin);
        sum = tpAdd(sum, tpCross(a, b));
    }
    return sum;
}

// Whether p is left of, or on, the way from a to b seen along the normal.
static bool isLeft(tpVec3 a, tpVec3 b, tpVec3 p, tpVec3 normal) {
    return tpDot(tpCross(tpSub(b, a), tpSub(p, a)), normal) >= 0.0;
}

// Whether the triangle at corner i bends outward and holds no other corner.
static bool isEar(const tpSurfaceReader* reader, const Polygon* polygon, int i, tpVec3 normal) {
    int n = polygon->count;
    const tpVec3* v = reader->vertices.data;
    int32_t before = polygon->data[(i + n - 1) % n], after = polygon->data[(i + 1) % n];
    tpVec3 a = v[before], b = v[polygon->data[i]], c = v[after];
    if (!(tpDot(tpCross(tpSub(b, a), tpSub(c, b)), normal) > 0.0)) {
        return false;
    }
    for (int k = 0; k < n; ++k) {
        int32_t other = polygon->data[k];
        if (other == before || other == polygon->data[i] || other == after) {
            continue;
        }
        tpVec3 p = v[other];
        if (isLeft(a, b, p, normal) && isLeft(b, c, p, normal) && isLeft(c, a, p, normal)) {
            return false;
        }
    }
    return true;
}

// Cuts ears until a triangle is left. Where none is found (a polygon that crosses itself, or has no
// area) the next corner is taken as it comes.
static bool triangulate(tpSurfaceReader* reader, Polygon* polygon) {
    tpVec3 normal = polygonNormal(reader, polygon);
    while (polygon->count >= 3) {
        int n = polygon->count, ear = 1;
        for (int i = 0; n > 3 && i < n; ++i) {
            if (isEar(reader, polygon, (i + 1) % n, normal)) {
                ear = (i + 1) % n;
                break;
            }
        }
        if (!tpSurfaceReader_AddTriangle(reader, polygon->data[(ear + n - 1) % n],
                                         polygon->data[ear], polygon->data[(ear + 1) % n])) {
            return false;
        }
        memmove(polygon->data + ear, polygon->data + ear + 1,
                (size_t)(n - 1 - ear) * sizeof(int32_t));
        --polygon->count;
    }
    return true;
}

static tpResult readFace(tpSurfaceReader* reader, Polygon* polygon) {
    polygon->count = 0;
    size_t start = reader->at;
    for (;;) {
        tpSurfaceReader_SkipBlanks(reader);
        if (tpSurfaceReader_AtLineEnd(reader)) {
            break;
        }
        int32_t vertex = -1;
        tpResult result = readCorner(reader, &vertex);
        if (result != tp_success) {
            return result;
        }
        if (!TP_PUSH(&reader->allocator, *polygon, vertex)) {
            return tpError_OutOfMemory(reader->error);
        }
    }
    if (polygon->count < 3) {
        return tpSurfaceReader_Fail(reader, start >= reader->lineStart ? start : reader->at,
                                    "a face needs at least 3 vertices");
    }
    return triangulate(reader, polygon) ? tp_success : tpError_OutOfMemory(reader->error);
}

static tpResult readLine(tpSurfaceReader* reader, Polygon* polygon) {
    tpSurfaceReader_SkipBlanks(reader);
    if (tpSurfaceReader_AtLineEnd(reader)) {
        return tp_success;
    }
    if (tpSurfaceReader_Word(reader, "v")) {
        return readVertex(reader);
    }
    if (tpSurfaceReader_Word(reader, "f")) {
        return readFace(reader, polygon);
    }
    for (int i = 0; i < passedOverCount; ++i) {
        if (tpSurfaceReader_Word(reader, passedOver[i])) {
            return tp_success;
        }
    }
    return tpSurfaceReader_Fail(reader, reader->at,
                                "expected v, f or another keyword of OBJ files for polygons");
}

tpResult tpReadObj(tpSurfaceReader* reader) {
    Polygon polygon = { 0 };
    tpResult result = tp_success;
    while (result == tp_success && reader->at < reader->length) {
        result = readLine(reader, &polygon);
        tpSurfaceReader_NextLine(reader);
    }
    TP_FREE_ARRAY(&reader->allocator, polygon);
    return result;
}
