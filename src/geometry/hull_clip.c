// Cutting a hull by half spaces: each face loses the part outside, and the cut gets a face of its
// own.
//
// A vertex within rounding of the plane counts as on it and is kept as it is, so that planes
// through vertices, or along faces, make no slivers.

#include "base/error.h"
#include "base/memory.h"
#include "geometry/edge_map.h"
#include "geometry/hull.h"

typedef TP_ARRAY(tpVec3) Points;
typedef TP_ARRAY(int32_t) Numbers;
typedef TP_ARRAY(double) Heights;

typedef struct Cutter {
    const tpAllocator* allocator;
    Points vertices;
    Numbers corners, first;       // polygons now
    Numbers newCorners, newFirst; // polygons after the cut
    Numbers capNext;              // [vertex] the next corner of the cap, -1: not on it
    Heights heights;              // [vertex] above the plane, 0 where on it
    double slack;                 // height that counts as none, m
    bool outOfMemory;
} Cutter;

static bool push(Cutter* c, Numbers* numbers, int32_t value) {
    if (TP_PUSH(c->allocator, *numbers, value)) {
        return true;
    }
    c->outOfMemory = true;
    return false;
}

static void destroyCutter(Cutter* c) {
    TP_FREE_ARRAY(c->allocator, c->vertices);
    TP_FREE_ARRAY(c->allocator, c->corners);
    TP_FREE_ARRAY(c->allocator, c->first);
    TP_FREE_ARRAY(c->allocator, c->newCorners);
    TP_FREE_ARRAY(c->allocator, c->newFirst);
    TP_FREE_ARRAY(c->allocator, c->capNext);
    TP_FREE_ARRAY(c->allocator, c->heights);
}

static bool loadHull(Cutter* c, const tpHull* hull) {
    for (int32_t i = 0; i < hull->vertexCount; ++i) {
        if (!TP_PUSH(c->allocator, c->vertices, hull->vertices[i])) {
            c->outOfMemory = true;
            return false;
        }
    }
    for (int32_t i = 0; i < 2 * hull->edgeCount; ++i) {
        if (!push(c, &c->corners, hull->faceVertices[i])) {
            return false;
        }
    }
    for (int32_t f = 0; f <= hull->faceCount; ++f) {
        if (!push(c, &c->first, hull->faceFirst[f])) {
            return false;
        }
    }
    c->slack = 1e-13 * (hull->radius + tpLength(hull->center));
    return true;
}

// Heights of all vertices above the plane; how many are outside and inside.
static bool measure(Cutter* c, const tpPlane* plane, int* outside, int* inside) {
    c->heights.count = 0;
    c->capNext.count = 0;
    *outside = *inside = 0;
    for (int i = 0; i < c->vertices.count; ++i) {
        double height = tpDot(plane->normal, c->vertices.data[i]) - plane->offset;
        height = fabs(height) <= c->slack ? 0.0 : height;
        if (!TP_PUSH(c->allocator, c->heights, height) || !push(c, &c->capNext, -1)) {
            c->outOfMemory = true;
            return false;
        }
    }
    // Vertices that no polygon uses any more do not count.
    for (int i = 0; i < c->corners.count; ++i) {
        double height = c->heights.data[c->corners.data[i]];
        *outside += height > 0.0;
        *inside += height < 0.0;
    }
    return true;
}

// Where the edge from an inner to an outer vertex meets the plane; made once for each edge.
static int32_t crossing(Cutter* c, tpEdgeMap* made, int32_t inner, int32_t outer) {
    if (c->heights.data[inner] == 0.0) {
        return inner;
    }
    int32_t known = tpEdgeMap_Find(made, inner, outer);
    if (known >= 0) {
        return known;
    }
    double a = c->heights.data[inner], b = c->heights.data[outer];
    tpVec3 p = c->vertices.data[inner];
    p = tpMulAdd(p, a / (a - b), tpSub(c->vertices.data[outer], p));
    if (!TP_PUSH(c->allocator, c->vertices, p) || !push(c, &c->capNext, -1) ||
        !TP_PUSH(c->allocator, c->heights, 0.0)) {
        c->outOfMemory = true;
        return -1;
    }
    tpEdgeMap_Add(made, inner, outer, c->vertices.count - 1);
    return c->vertices.count - 1;
}

// Keeps the inner part of one polygon. If it was cut, the way from the corner where it leaves to
// the one where it comes back is an edge of the cap, run the other way.
static bool cutFace(Cutter* c, tpEdgeMap* made, int32_t begin, int32_t end) {
    int32_t start = c->newCorners.count;
    int32_t leave = -1, back = -1;
    for (int32_t i = begin; i < end; ++i) {
        int32_t from = c->corners.data[i];
        int32_t to = c->corners.data[i + 1 < end ? i + 1 : begin];
        bool fromOut = c->heights.data[from] > 0.0, toOut = c->heights.data[to] > 0.0;
        if (!fromOut && !push(c, &c->newCorners, from)) {
            return false;
        }
        if (fromOut != toOut) {
            int32_t inner = fromOut ? to : from;
            int32_t on = crossing(c, made, inner, fromOut ? from : to);
            if (on < 0 || (on != inner && !push(c, &c->newCorners, on))) {
                return false;
            }
            *(fromOut ? &back : &leave) = on;
        }
    }
    if (leave >= 0 && back >= 0 && leave != back) {
        c->capNext.data[back] = leave;
    }
    if (c->newCorners.count - start < 3) {
        c->newCorners.count = start;
        return true;
    }
    return push(c, &c->newFirst, c->newCorners.count);
}

// Follows the cap around. False if it does not close, which only noise can cause.
static bool addCap(Cutter* c) {
    int32_t start = -1;
    int expected = 0;
    for (int i = 0; i < c->capNext.count; ++i) {
        if (c->capNext.data[i] >= 0) {
            start = start < 0 ? i : start;
            ++expected;
        }
    }
    int32_t at = start;
    for (int i = 0; i < expected; ++i) {
        if (at < 0 || !push(c, &c->newCorners, at)) {
            return false;
        }
        at = c->capNext.data[at];
    }
    return expected >= 3 && at == start && push(c, &c->newFirst, c->newCorners.count);
}

static tpResult cutByPlane(Cutter* c, const tpPlane* plane, bool* empty, tpError* error) {
    int outside, inside;
    if (!measure(c, plane, &outside, &inside)) {
        return tpError_OutOfMemory(error);
    }
    if (outside == 0 || inside == 0) {
        *empty = inside == 0;
        return tp_success;
    }
    tpEdgeMap made;
    if (!tpCreateEdgeMap(&made, c->allocator, c->corners.count)) {
        return tpError_OutOfMemory(error);
    }
    c->newCorners.count = c->newFirst.count = 0;
    bool good = push(c, &c->newFirst, 0);
    for (int f = 0; good && f + 1 < c->first.count; ++f) {
        good = cutFace(c, &made, c->first.data[f], c->first.data[f + 1]);
    }
    good = good && addCap(c);
    tpDestroyEdgeMap(&made);
    if (!good) {
        return c->outOfMemory
                   ? tpError_OutOfMemory(error)
                   : tpError_Set(error, tp_badInput, "the intersection is too thin to be cut out");
    }
    Numbers swap = c->corners;
    c->corners = c->newCorners;
    c->newCorners = swap;
    swap = c->first;
    c->first = c->newFirst;
    c->newFirst = swap;
    return tp_success;
}

tpResult tpClipHull(const tpAllocator* allocator, const tpHull* hull, const tpPlane* planes,
                    int count, tpHull** out, tpError* error) {
    *out = NULL;
    Cutter cutter = { .allocator = allocator };
    tpResult result = loadHull(&cutter, hull) ? tp_success : tpError_OutOfMemory(error);
    bool empty = false;
    for (int i = 0; i < count && result == tp_success && !empty; ++i) {
        result = cutByPlane(&cutter, &planes[i], &empty, error);
    }
    if (result == tp_success && !empty) {
        tpPolygons polygons = { cutter.vertices.data, cutter.corners.data, cutter.first.data,
                                cutter.vertices.count, cutter.first.count - 1 };
        result = tpHullFromPolygons(allocator, &polygons, out, error);
    }
    destroyCutter(&cutter);
    return result;
}
