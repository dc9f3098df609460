// Convex hulls of points through Qhull [Barber96].
//
// Points are first moved to the centre of their box and scaled by a power of two, so that Qhull's
// tolerances and ours mean the same for every size; the hull keeps the points themselves. Qhull
// merges facets that are coplanar to rounding, or (post-merging, option Cn) nearly so; its merged
// facets give polygons with outward planes. Should they not close, which wide facets of degenerate
// input can cause, stricter merging and in the end joggled input are tried.

#include "geometry/hull.h"
#include "base/error.h"
#include "base/memory.h"

#ifdef TIPPE_HAVE_QHULL

// Before Qhull's headers, which define words of their own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

// Points thinner than this, relative to their extent, have no volume worth the name: planes fitted
// to them would be noise.
static const double flatness = 1e-10;

static const char* const attempts[] = { "qhull Pp C1e-12", "qhull Pp", "qhull Pp QJ QR-1" };
enum { attemptCount = sizeof(attempts) / sizeof(attempts[0]) };

// Distances of the points from a point, then a line, then a plane, each through the farthest
// before.
static tpResult checkSpread(const tpVec3* points, int count, tpError* error) {
    if (count < 4) {
        return tpError_Set(error, tp_badInput, "a hull needs at least 4 points, not %d", count);
    }
    for (int i = 0; i < count; ++i) {
        if (!tpIsFiniteVec3(points[i])) {
            return tpError_Set(error, tp_badInput, "point %d is not finite", i);
        }
    }
    tpVec3 start = points[0], axis = tpZeroVec3(), normal = tpZeroVec3();
    double extent = 0.0, width = 0.0, thickness = 0.0;
    for (int i = 1; i < count; ++i) {
        tpVec3 d = tpSub(points[i], start);
        if (tpLength(d) > extent) {
            extent = tpLength(d);
            axis = tpNormalize(d);
        }
    }
    if (!(extent > 0.0)) {
        return tpError_Set(error, tp_badInput, "the points of the hull are all the same");
    }
    for (int i = 1; i < count; ++i) {
        tpVec3 across = tpCross(axis, tpSub(points[i], start));
        if (tpLength(across) > width) {
            width = tpLength(across);
            normal = tpNormalize(across);
        }
    }
    if (!(width > flatness * extent)) {
        return tpError_Set(error, tp_badInput,
                           "the points of the hull lie on one line (%.3g m long, %.3g m wide)",
                           extent, width);
    }
    for (int i = 1; i < count; ++i) {
        thickness = fmax(thickness, fabs(tpDot(normal, tpSub(points[i], start))));
    }
    if (!(thickness > flatness * extent)) {
        return tpError_Set(error, tp_badInput,
                           "the points of the hull lie in one plane (%.3g m wide, %.3g m thick)",
                           extent, thickness);
    }
    return tp_success;
}

// Fills Qhull's array with the points about the centre of their box, scaled to about one.
static void normalizePoints(const tpVec3* points, int count, coordT* out) {
    tpBounds box = { points[0], points[0] };
    for (int i = 1; i < count; ++i) {
        box.lower = tpMinVec3(box.lower, points[i]);
        box.upper = tpMaxVec3(box.upper, points[i]);
    }
    tpVec3 center = tpScale(0.5, tpAdd(box.lower, box.upper));
    int exponent;
    frexp(tpMaxPart(tpSub(box.upper, box.lower)), &exponent);
    for (int i = 0; i < count; ++i) {
        tpVec3 p = tpSub(points[i], center);
        out[3 * i] = ldexp(p.x, -exponent);
        out[3 * i + 1] = ldexp(p.y, -exponent);
        out[3 * i + 2] = ldexp(p.z, -exponent);
    }
}

typedef TP_ARRAY(int32_t) Numbers;

// The facets as polygons, counter-clockwise from outside.
typedef struct Collected {
    Numbers corners, first;
    bool outOfMemory;
} Collected;

// Whether the corners run clockwise seen from where the facet's normal points.
static bool isClockwise(const coordT* coords, const int32_t* corners, int count,
                        const coordT* normal) {
    tpVec3 origin =
        tpMakeVec3(coords[3 * corners[0]], coords[3 * corners[0] + 1], coords[3 * corners[0] + 2]);
    tpVec3 sum = tpZeroVec3(), last = tpZeroVec3();
    for (int i = 1; i < count; ++i) {
        const coordT* c = coords + 3 * corners[i];
        tpVec3 p = tpSub(tpMakeVec3(c[0], c[1], c[2]), origin);
        sum = tpAdd(sum, tpCross(last, p));
        last = p;
    }
    return tpDot(sum, tpMakeVec3(normal[0], normal[1], normal[2])) < 0.0;
}

static bool collectFacet(qhT* qh, facetT* facet, const tpAllocator* allocator, const coordT* coords,
                         Collected* out) {
    int32_t begin = out->corners.count;
    setT* vertices = qh_facet3vertex(qh, facet);
    vertexT *vertex, **vertexp;
    FOREACHvertex_(vertices) {
        if (!TP_PUSH(allocator, out->corners, (int32_t)qh_pointid(qh, vertex->point))) {
            qh_settempfree(qh, &vertices);
            return false;
        }
    }
    qh_settempfree(qh, &vertices);
    int32_t* corners = out->corners.data + begin;
    int count = out->corners.count - begin;
    if (isClockwise(coords, corners, count, facet->normal)) {
        for (int i = 0; i < count / 2; ++i) {
            int32_t swap = corners[i];
            corners[i] = corners[count - 1 - i];
            corners[count - 1 - i] = swap;
        }
    }
    return TP_PUSH(allocator, out->first, out->corners.count);
}

// Qhull leaves its functions by longjmp when something is wrong; nothing of ours is live across it
// but what `out` points to.
static bool collectFacets(qhT* qh, const tpAllocator* allocator, const coordT* coords,
                          Collected* out) {
    if (!TP_PUSH(allocator, out->first, 0)) {
        out->outOfMemory = true;
        return false;
    }
    bool complete = false;
    if (setjmp(qh->errexit) == 0) {
        qh->NOerrexit = False;
        facetT* facet;
        FORALLfacets {
            if (!collectFacet(qh, facet, allocator, coords, out)) {
                out->outOfMemory = true;
                break;
            }
        }
        complete = !out->outOfMemory;
    }
    qh->NOerrexit = True;
    return complete;
}

// One run of Qhull with the options of one attempt.
static tpResult runQhull(const tpAllocator* allocator, const char* options, const tpVec3* points,
                         int count, coordT* coords, FILE* log, tpHull** out, tpError* error) {
    char command[64];
    snprintf(command, sizeof(command), "%s", options);
    qhT state;
    memset(&state, 0, sizeof(state));
    qh_zero(&state, log);
    Collected facets = { 0 };
    tpResult result;
    if (qh_new_qhull(&state, 3, count, coords, False, command, log, log) != 0 ||
        !collectFacets(&state, allocator, coords, &facets)) {
        result = facets.outOfMemory ? tpError_OutOfMemory(error)
                                    : tpError_Set(error, tp_badInput,
                                                  "Qhull found no hull of the %d points", count);
    } else {
        tpPolygons polygons = { points, facets.corners.data, facets.first.data, count,
                                facets.first.count - 1 };
        result = tpHullFromPolygons(allocator, &polygons, out, error);
    }
    qh_freeqhull(&state, !qh_ALL);
    int left, total;
    qh_memfreeshort(&state, &left, &total);
    TP_FREE_ARRAY(allocator, facets.corners);
    TP_FREE_ARRAY(allocator, facets.first);
    return result;
}

tpResult tpHullFromPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                          tpHull** out, tpError* error) {
    *out = NULL;
    tpResult result = checkSpread(points, count, error);
    if (result != tp_success) {
        return result;
    }
    size_t byteCount = (size_t)count * 3 * sizeof(coordT);
    coordT* coords = tpAllocate(allocator, byteCount);
    FILE* log = fopen("/dev/null", "w"); // what Qhull prints; its result says enough
    if (coords == NULL || log == NULL) {
        result = coords == NULL ? tpError_OutOfMemory(error)
                                : tpError_Set(error, tp_ioError, "cannot open /dev/null");
    } else {
        result = tp_badInput;
        for (int i = 0; i < attemptCount && result == tp_badInput; ++i) {
            normalizePoints(points, count, coords); // joggling overwrites them
            result = runQhull(allocator, attempts[i], points, count, coords, log, out, error);
        }
    }
    if (log != NULL) {
        fclose(log);
    }
    tpRelease(allocator, coords, byteCount);
    return result;
}

#else

tpResult tpHullFromPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                          tpHull** out, tpError* error) {
    (void)allocator;
    (void)points;
    (void)count;
    *out = NULL;
    return tpError_Set(error, tp_unsupported, "this build has no Qhull, and without it no hulls");
}

#endif
