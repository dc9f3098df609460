// Prisms: a convex polygon in x-y, extruded along z.

#include "base/error.h"
#include "base/memory.h"
#include "geometry/hull.h"
#include "math/elementary.h"

static double turn(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
}

// Twice the signed area, relative to the first point.
static double signedArea(const double (*points)[2], int count) {
    double area = 0.0;
    for (int i = 1; i + 1 < count; ++i) {
        area += (points[i][0] - points[0][0]) * (points[i + 1][1] - points[0][1]) -
                (points[i][1] - points[0][1]) * (points[i + 1][0] - points[0][0]);
    }
    return area;
}

// The sum of outer angles must be one full turn: a star turns right at every corner, and twice
// around.
static double totalTurn(const double (*points)[2], int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        const double* a = points[i];
        const double* b = points[(i + 1) % count];
        const double* c = points[(i + 2) % count];
        double along = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
        sum += tpAtan2(turn(a, b, c), along);
    }
    return sum;
}

static tpResult checkPolygon(const double (*points)[2], int count, double length, tpError* error) {
    if (count < 3) {
        return tpError_Set(error, tp_badInput, "a prism needs at least 3 points, not %d", count);
    }
    if (!(length > 0.0) || !isfinite(length)) {
        return tpError_Set(error, tp_badInput, "length must be positive and finite, not %.9g m",
                           length);
    }
    double extent = 0.0;
    for (int i = 0; i < count; ++i) {
        if (!isfinite(points[i][0]) || !isfinite(points[i][1])) {
            return tpError_Set(error, tp_badInput, "point %d is not finite", i);
        }
        extent = fmax(extent, tpHypot(points[i][0] - points[0][0], points[i][1] - points[0][1]));
    }
    double area = signedArea(points, count);
    if (!(fabs(area) > 1e-10 * extent * extent)) {
        return tpError_Set(error, tp_badInput, "the points of the prism lie on one line");
    }
    double sign = copysign(1.0, area);
    for (int i = 0; i < count; ++i) {
        int j = (i + 1) % count, k = (i + 2) % count;
        if (points[i][0] == points[j][0] && points[i][1] == points[j][1]) {
            return tpError_Set(error, tp_badInput, "points %d and %d are the same", i, j);
        }
        if (sign * turn(points[i], points[j], points[k]) < -1e-12 * extent * extent) {
            return tpError_Set(error, tp_badInput, "the polygon is not convex at point %d", j);
        }
    }
    if (fabs(totalTurn(points, count)) > 7.0) {
        return tpError_Set(error, tp_badInput, "the polygon crosses itself");
    }
    return tp_success;
}

// Whether point i bends the outline; others would make two faces of one plane.
static bool isCorner(const double (*points)[2], int count, int i, double extent) {
    return fabs(turn(points[(i + count - 1) % count], points[i], points[(i + 1) % count])) >
           1e-12 * extent * extent;
}

typedef struct PrismArrays {
    tpVec3* vertices;
    int32_t* corners;
    int32_t* first;
} PrismArrays;

// Vertices 0 .. n-1 below, n .. 2n-1 above; faces bottom, top, then the sides.
static tpPolygons fillPrism(const PrismArrays* arrays, const double (*points)[2], int count,
                            double length) {
    double extent = 0.0;
    for (int i = 0; i < count; ++i) {
        extent = fmax(extent, tpHypot(points[i][0] - points[0][0], points[i][1] - points[0][1]));
    }
    bool reversed = signedArea(points, count) < 0.0;
    int n = 0;
    for (int i = 0; i < count; ++i) {
        int from = reversed ? count - 1 - i : i;
        if (isCorner(points, count, from, extent)) {
            arrays->vertices[n++] = tpMakeVec3(points[from][0], points[from][1], -0.5 * length);
        }
    }
    for (int i = 0; i < n; ++i) {
        arrays->vertices[n + i] = arrays->vertices[i];
        arrays->vertices[n + i].z = 0.5 * length;
        arrays->corners[i] = n - 1 - i;
        arrays->corners[n + i] = n + i;
        int32_t* side = arrays->corners + 2 * n + 4 * i;
        int j = (i + 1) % n;
        side[0] = i;
        side[1] = j;
        side[2] = n + j;
        side[3] = n + i;
        arrays->first[2 + i] = 2 * n + 4 * i;
    }
    arrays->first[0] = 0;
    arrays->first[1] = n;
    arrays->first[2 + n] = 6 * n;
    return (tpPolygons){ arrays->vertices, arrays->corners, arrays->first, 2 * n, 2 + n };
}

tpResult tpHullFromPrism(const tpAllocator* allocator, const double (*points)[2], int count,
                         double length, tpHull** out, tpError* error) {
    *out = NULL;
    tpResult result = checkPolygon(points, count, length, error);
    if (result != tp_success) {
        return result;
    }
    size_t n = (size_t)count;
    size_t byteCount = 2 * n * sizeof(tpVec3) + (6 * n + n + 3) * sizeof(int32_t);
    unsigned char* block = tpAllocate(allocator, byteCount);
    if (block == NULL) {
        return tpError_OutOfMemory(error);
    }
    PrismArrays arrays;
    arrays.vertices = (tpVec3*)block;
    arrays.corners = (int32_t*)(arrays.vertices + 2 * n);
    arrays.first = arrays.corners + 6 * n;
    tpPolygons polygons = fillPrism(&arrays, points, count, length);
    result = tpHullFromPolygons(allocator, &polygons, out, error);
    tpRelease(allocator, block, byteCount);
    return result;
}
