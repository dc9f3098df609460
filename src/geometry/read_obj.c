// Wavefront OBJ: vertices and polygons; what does not bear on the surface is passed over.
//
// Polygons of more than three corners are cut into triangles by clipping ears [Meisters75], so that
// those that are not convex come out right too.

#include <math.h>
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

// Cutting polygons -------------------------------------------------------------------------------
//
// An ear is a corner that bends outward and whose triangle with its neighbours holds no other
// corner. The first one in the order of the file is cut, until a triangle is left. What keeps a
// corner from being an ear is remembered: it need not be looked at again before that corner, or a
// neighbour, is gone. So each ear takes one pass over the corners that are left, most of them told
// apart by two comparisons. In a convex polygon every corner is an ear, and it comes apart as a
// fan.

enum {
    mostCorners = 50000, // of a face; a pass over all of them for each of them takes a second
    cornerUnknown = -2,  // whether it is an ear has to be found out
    cornerBendsInward = -1
};

typedef struct ObjCorner {
    int32_t vertex;
    int32_t before, after; // neighbours that are left
    int32_t obstacle;      // the corner in its triangle, or one of the above
    double x, y;           // in the plane of the face
} ObjCorner;

typedef struct ObjFace {
    ObjCorner* corners;
    int count; // left
    int first; // of those left, in the order of the file
    const tpVec3* vertices;
    tpVec3 normal;
} ObjFace;

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

// A corner in the triangle at corner i, cornerBendsInward, or cornerUnknown: it is an ear.
static int32_t findObstacle(const ObjFace* face, int i) {
    const ObjCorner* corner = &face->corners[i];
    const ObjCorner *before = &face->corners[corner->before],
                    *after = &face->corners[corner->after];
    tpVec3 a = face->vertices[before->vertex], b = face->vertices[corner->vertex];
    tpVec3 c = face->vertices[after->vertex];
    if (!(tpDot(tpCross(tpSub(b, a), tpSub(c, b)), face->normal) > 0.0)) {
        return cornerBendsInward;
    }
    // A little wider than the triangle, so that rounding leaves out no corner on its edge.
    double low = fmin(before->x, fmin(corner->x, after->x));
    double high = fmax(before->x, fmax(corner->x, after->x));
    double bottom = fmin(before->y, fmin(corner->y, after->y));
    double top = fmax(before->y, fmax(corner->y, after->y));
    double slack = 1e-9 * (fabs(low) + fabs(high) + fabs(bottom) + fabs(top));
    for (int k = 0, other = face->first; k < face->count; ++k, other = face->corners[other].after) {
        const ObjCorner* o = &face->corners[other];
        bool isFar = o->x < low - slack || o->x > high + slack || o->y < bottom - slack ||
                     o->y > top + slack;
        if (isFar || o->vertex == before->vertex || o->vertex == corner->vertex ||
            o->vertex == after->vertex) {
            continue;
        }
        tpVec3 point = face->vertices[o->vertex];
        if (isLeft(a, b, point, face->normal) && isLeft(b, c, point, face->normal) &&
            isLeft(c, a, point, face->normal)) {
            return other;
        }
    }
    return cornerUnknown;
}

static bool isEar(ObjFace* face, int i) {
    ObjCorner* corner = &face->corners[i];
    bool isGone = corner->obstacle >= 0 && face->corners[corner->obstacle].after < 0;
    if (corner->obstacle == cornerUnknown || isGone) {
        corner->obstacle = findObstacle(face, i);
    }
    return corner->obstacle == cornerUnknown;
}

// The first ear behind the first corner. If there is none (a polygon that crosses itself, or has
// no area) the corner behind the first is taken as it comes.
static int findEar(ObjFace* face) {
    int i = face->corners[face->first].after;
    for (int k = 0; face->count > 3 && k < face->count; ++k, i = face->corners[i].after) {
        if (isEar(face, i)) {
            return i;
        }
    }
    return face->corners[face->first].after;
}

// Whether it bends outward everywhere, and goes round once: all triangles of its fan are on one
// side.
static bool isConvex(const tpVec3* vertices, const Polygon* polygon, tpVec3 normal) {
    int n = polygon->count;
    tpVec3 origin = vertices[polygon->data[0]];
    for (int i = 0; i < n; ++i) {
        tpVec3 a = vertices[polygon->data[i]], b = vertices[polygon->data[(i + 1) % n]];
        tpVec3 c = vertices[polygon->data[(i + 2) % n]];
        bool isInFan = i > 0 && i + 1 < n;
        if (!(tpDot(tpCross(tpSub(b, a), tpSub(c, b)), normal) > 0.0) ||
            (isInFan && !(tpDot(tpCross(tpSub(a, origin), tpSub(b, origin)), normal) > 0.0))) {
            return false;
        }
    }
    return true;
}

static bool addFan(tpSurfaceReader* reader, const Polygon* polygon) {
    bool isDone = true;
    for (int i = 1; isDone && i + 1 < polygon->count; ++i) {
        isDone = tpSurfaceReader_AddTriangle(reader, polygon->data[0], polygon->data[i],
                                             polygon->data[i + 1]);
    }
    return isDone;
}

static void cutCorner(ObjFace* face, int i) {
    ObjCorner* corner = &face->corners[i];
    int before = corner->before, after = corner->after;
    face->corners[before].after = after;
    face->corners[after].before = before;
    face->corners[before].obstacle = face->corners[after].obstacle = cornerUnknown;
    face->first = face->first == i ? after : face->first;
    corner->after = -1;
    face->count -= 1;
}

static void fillCorners(ObjFace* face, const Polygon* polygon) {
    tpVec3 along, across;
    tpMakeTangents(tpNormalize(face->normal), &along, &across);
    for (int i = 0; i < face->count; ++i) {
        tpVec3 v = face->vertices[polygon->data[i]];
        face->corners[i] = (ObjCorner){ .vertex = polygon->data[i],
                                        .before = i > 0 ? i - 1 : face->count - 1,
                                        .after = i + 1 < face->count ? i + 1 : 0,
                                        .obstacle = cornerUnknown,
                                        .x = tpDot(v, along),
                                        .y = tpDot(v, across) };
    }
}

static bool triangulate(tpSurfaceReader* reader, const Polygon* polygon) {
    tpVec3 normal = polygonNormal(reader, polygon);
    if (isConvex(reader->vertices.data, polygon, normal)) {
        return addFan(reader, polygon);
    }
    size_t size = (size_t)polygon->count * sizeof(ObjCorner);
    ObjFace face = { .corners = tpAllocate(&reader->allocator, size),
                     .count = polygon->count,
                     .vertices = reader->vertices.data,
                     .normal = normal };
    bool isDone = face.corners != NULL;
    if (isDone) {
        fillCorners(&face, polygon);
    }
    while (isDone && face.count >= 3) {
        const ObjCorner* ear = &face.corners[findEar(&face)];
        isDone = tpSurfaceReader_AddTriangle(reader, face.corners[ear->before].vertex, ear->vertex,
                                             face.corners[ear->after].vertex);
        cutCorner(&face, (int)(ear - face.corners));
    }
    tpRelease(&reader->allocator, face.corners, size);
    return isDone;
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
    if (polygon->count > mostCorners) {
        char message[96];
        snprintf(message, sizeof(message), "a face of %d corners; the most is %d", polygon->count,
                 mostCorners);
        return tpSurfaceReader_Fail(reader, start, message);
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
