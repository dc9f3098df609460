// Convex hulls of points.
//
// The points are moved to the centre of their box, scaled by a power of two and rounded to a grid
// of 2^41 steps along the longest side, on which their hull is exact (grid_hull.h). Triangles that
// lie in one plane up to a few steps of the grid become one polygon; the hull keeps the points as
// they were given.

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/grid_hull.h"
#include "geometry/hull.h"

// Points thinner than this, relative to their extent, have no volume worth the name: planes fitted
// to them would be noise.
static const double leastThickness = 1e-10;

// How far the corners of a face may lie below its plane, in steps of the grid. Rounding moves a
// point by up to .87 steps, and a plane through three such points by a little more at its rim. If
// the polygons do not close, a wider tolerance is tried, and in the end the triangles themselves.
static const double leastTolerance = 4.0;
enum { fitCount = 3 };

// Points to the grid ----------------------------------------------------------------------------

// Four points that span a volume: each lies farthest from the point, line or plane through those
// before.
static tpResult findStart(const tpVec3* points, int count, int32_t start[4], tpError* error) {
    tpVec3 origin = points[0], axis = tpZeroVec3(), normal = tpZeroVec3();
    double extent = 0.0, width = 0.0, thickness = 0.0;
    start[0] = 0;
    for (int i = 1; i < count; ++i) {
        tpVec3 d = tpSub(points[i], origin);
        if (tpLength(d) > extent) {
            extent = tpLength(d);
            axis = tpNormalize(d);
            start[1] = i;
        }
    }
    if (!(extent > 0.0)) {
        return tpError_Set(error, tp_badInput, "the points of the hull are all the same");
    }
    for (int i = 1; i < count; ++i) {
        tpVec3 across = tpCross(axis, tpSub(points[i], origin));
        if (tpLength(across) > width) {
            width = tpLength(across);
            normal = tpNormalize(across);
            start[2] = i;
        }
    }
    if (!(width > leastThickness * extent)) {
        return tpError_Set(error, tp_badInput,
                           "the points of the hull lie on one line (%.3g m long, %.3g m wide)",
                           extent, width);
    }
    for (int i = 1; i < count; ++i) {
        double height = fabs(tpDot(normal, tpSub(points[i], origin)));
        if (height > thickness) {
            thickness = height;
            start[3] = i;
        }
    }
    if (!(thickness > leastThickness * extent)) {
        return tpError_Set(error, tp_badInput,
                           "the points of the hull lie in one plane (%.3g m wide, %.3g m thick)",
                           extent, thickness);
    }
    return tp_success;
}

static tpResult checkPoints(const tpVec3* points, int count, tpError* error) {
    if (count < 4) {
        return tpError_Set(error, tp_badInput, "a hull needs at least 4 points, not %d", count);
    }
    for (int i = 0; i < count; ++i) {
        if (!tpIsFiniteVec3(points[i])) {
            return tpError_Set(error, tp_badInput, "point %d is not finite", i);
        }
    }
    return tp_success;
}

static int64_t roundToGrid(double value, int exponent) {
    double scaled = ldexp(value, tp_gridBits + 1 - exponent);
    return (int64_t)(scaled + (scaled < 0.0 ? -0.5 : 0.5));
}

// Returns the length of a step, m.
static double placeOnGrid(const tpVec3* points, int count, tpGridPoint* out) {
    tpBounds box = { points[0], points[0] };
    for (int i = 1; i < count; ++i) {
        box.lower = tpMinVec3(box.lower, points[i]);
        box.upper = tpMaxVec3(box.upper, points[i]);
    }
    tpVec3 center = tpScale(0.5, tpAdd(box.lower, box.upper));
    int exponent; // the longest side is at most 2^exponent
    frexp(tpMaxPart(tpSub(box.upper, box.lower)), &exponent);
    for (int i = 0; i < count; ++i) {
        tpVec3 p = tpSub(points[i], center);
        out[i] = (tpGridPoint){ roundToGrid(p.x, exponent), roundToGrid(p.y, exponent),
                                roundToGrid(p.z, exponent) };
    }
    return ldexp(1.0, exponent - tp_gridBits - 1);
}

// Triangles to polygons -------------------------------------------------------------------------

typedef TP_ARRAY(int32_t) Numbers;

typedef struct Seed {
    double area;
    int32_t triangle;
} Seed;

typedef struct Merging {
    const tpAllocator* allocator;
    const tpGridHull* hull;
    const tpGridPoint* points;
    Seed* seeds;      // [triangles] from the largest to the smallest
    int32_t* owner;   // [triangles] the polygon a triangle belongs to, -1: none yet
    int32_t* mark;    // [triangles] the number of the last growth that took it
    int32_t* after;   // [points] the corner that follows on the rim of a polygon
    double tolerance; // how far corners of a face may lie below its plane at first, steps
    int growths;
    Numbers region; // triangles of the polygon at work
    Numbers corners, first;
} Merging;

// In steps of the grid; the corner of the seed is the origin, so that differences are exact.
typedef struct FittedPlane {
    tpVec3 normal;
    double offset;
} FittedPlane;

static tpVec3 gridDifference(const tpGridPoint* a, const tpGridPoint* b) {
    return tpMakeVec3((double)(b->x - a->x), (double)(b->y - a->y), (double)(b->z - a->z));
}

static tpVec3 areaOf(const Merging* merging, int32_t triangle) {
    const int32_t* c = merging->hull->triangles[triangle].corners;
    const tpGridPoint* a = &merging->points[c[0]];
    return tpCross(gridDifference(a, &merging->points[c[1]]),
                   gridDifference(a, &merging->points[c[2]]));
}

static int compareSeeds(const void* a, const void* b) {
    const Seed *p = a, *q = b;
    if (p->area != q->area) {
        return p->area > q->area ? -1 : 1;
    }
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

// Fits the plane to the region: its area vector is the normal, and no corner lies above.
static FittedPlane fitPlane(const Merging* merging, const tpGridPoint* origin) {
    const Numbers* region = &merging->region;
    tpVec3 sum = tpZeroVec3();
    for (int i = 0; i < region->count; ++i) {
        sum = tpAdd(sum, areaOf(merging, region->data[i]));
    }
    FittedPlane plane = { tpNormalize(sum), -HUGE_VAL };
    for (int i = 0; i < region->count; ++i) {
        const int32_t* c = merging->hull->triangles[region->data[i]].corners;
        for (int k = 0; k < 3; ++k) {
            tpVec3 d = gridDifference(origin, &merging->points[c[k]]);
            plane.offset = fmax(plane.offset, tpDot(plane.normal, d));
        }
    }
    return plane;
}

// Whether all corners of a triangle lie in the plane, up to the tolerance.
static bool isInPlane(const Merging* merging, int32_t triangle, const FittedPlane* plane,
                      const tpGridPoint* origin, double tolerance) {
    const int32_t* c = merging->hull->triangles[triangle].corners;
    for (int k = 0; k < 3; ++k) {
        tpVec3 d = gridDifference(origin, &merging->points[c[k]]);
        if (fabs(tpDot(plane->normal, d) - plane->offset) > tolerance) {
            return false;
        }
    }
    // A needle along an edge lies in the planes of both faces; one that looks the other way is the
    // far side of a body as thin as the tolerance.
    return tpDot(areaOf(merging, triangle), plane->normal) >= 0.0;
}

// The free triangles in the plane that hang together with the seed.
static bool growRegion(Merging* merging, int32_t seed, const FittedPlane* plane,
                       const tpGridPoint* origin, double tolerance) {
    Numbers* region = &merging->region;
    int growth = ++merging->growths;
    region->count = 0;
    merging->mark[seed] = growth;
    if (!TP_PUSH(merging->allocator, *region, seed)) {
        return false;
    }
    for (int i = 0; i < region->count && tolerance >= 0.0; ++i) {
        const tpGridTriangle* t = &merging->hull->triangles[region->data[i]];
        for (int k = 0; k < 3; ++k) {
            int32_t other = t->across[k];
            if (merging->mark[other] != growth && merging->owner[other] < 0 &&
                isInPlane(merging, other, plane, origin, tolerance)) {
                merging->mark[other] = growth;
                if (!TP_PUSH(merging->allocator, *region, other)) {
                    return false;
                }
            }
        }
    }
    return true;
}

// Whether the edges around the region form one loop; `after` then leads around it from *start.
static bool findRim(Merging* merging, int32_t* start, int* length) {
    const Numbers* region = &merging->region;
    *length = 0;
    for (int i = 0; i < region->count; ++i) {
        const tpGridTriangle* t = &merging->hull->triangles[region->data[i]];
        for (int k = 0; k < 3; ++k) {
            if (merging->mark[t->across[k]] != merging->growths) {
                *start = t->corners[k];
                merging->after[*start] = t->corners[(k + 1) % 3];
                ++*length;
            }
        }
    }
    int steps = 0;
    int32_t at = *start;
    do {
        at = merging->after[at];
        ++steps;
    } while (at != *start && steps < *length);
    return at == *start && steps == *length;
}

// One polygon from a seed.
static bool addPolygon(Merging* merging, int32_t seed, double tolerance) {
    const tpGridPoint* origin = &merging->points[merging->hull->triangles[seed].corners[0]];
    FittedPlane plane = { tpNormalize(areaOf(merging, seed)), 0.0 };
    for (int i = 0; i < fitCount; ++i) {
        if (!growRegion(merging, seed, &plane, origin, tolerance)) {
            return false;
        }
        plane = fitPlane(merging, origin);
    }
    int32_t start = -1;
    int length;
    if (!findRim(merging, &start, &length)) {
        // Not a disc: the triangle stays alone.
        if (!growRegion(merging, seed, &plane, origin, -1.0)) {
            return false;
        }
        findRim(merging, &start, &length);
    }
    for (int i = 0; i < merging->region.count; ++i) {
        merging->owner[merging->region.data[i]] = merging->first.count;
    }
    for (int i = 0; i < length; ++i, start = merging->after[start]) {
        if (!TP_PUSH(merging->allocator, merging->corners, start)) {
            return false;
        }
    }
    return TP_PUSH(merging->allocator, merging->first, merging->corners.count);
}

static bool mergeTriangles(Merging* merging, double tolerance) {
    int count = merging->hull->count;
    merging->corners.count = merging->first.count = merging->growths = 0;
    for (int i = 0; i < count; ++i) {
        merging->owner[i] = -1;
        merging->mark[i] = 0;
        merging->seeds[i] = (Seed){ tpLength(areaOf(merging, i)), i };
    }
    qsort(merging->seeds, (size_t)count, sizeof(Seed), compareSeeds);
    bool enough = TP_PUSH(merging->allocator, merging->first, 0);
    for (int i = 0; i < count && enough; ++i) {
        int32_t seed = merging->seeds[i].triangle;
        enough = merging->owner[seed] >= 0 || addPolygon(merging, seed, tolerance);
    }
    return enough;
}

static tpResult makePolyhedron(Merging* merging, const tpVec3* points, int count, tpHull** out,
                               tpError* error) {
    const double tolerances[3] = { merging->tolerance, 16.0 * merging->tolerance, -1.0 };
    tpResult result = tp_badInput;
    for (int i = 0; i < 3 && result == tp_badInput; ++i) {
        if (!mergeTriangles(merging, tolerances[i])) {
            return tpError_OutOfMemory(error);
        }
        tpPolygons polygons = { points, merging->corners.data, merging->first.data, count,
                                merging->first.count - 1 };
        result = tpHullFromPolygons(merging->allocator, &polygons, out, error);
    }
    return result;
}

static tpResult mergeHull(const tpAllocator* allocator, const tpGridHull* hull,
                          const tpGridPoint* grid, const tpVec3* points, int count,
                          double tolerance, tpHull** out, tpError* error) {
    size_t triangles = (size_t)hull->count;
    size_t byteCount =
        triangles * (sizeof(Seed) + 2 * sizeof(int32_t)) + (size_t)count * sizeof(int32_t);
    Seed* block = tpAllocate(allocator, byteCount);
    if (block == NULL) {
        return tpError_OutOfMemory(error);
    }
    Merging merging = { .allocator = allocator, .hull = hull, .points = grid, .seeds = block };
    merging.tolerance = tolerance;
    merging.owner = (int32_t*)(block + triangles);
    merging.mark = merging.owner + triangles;
    merging.after = merging.mark + triangles;
    tpResult result = makePolyhedron(&merging, points, count, out, error);
    TP_FREE_ARRAY(allocator, merging.region);
    TP_FREE_ARRAY(allocator, merging.corners);
    TP_FREE_ARRAY(allocator, merging.first);
    tpRelease(allocator, block, byteCount);
    return result;
}

// -----------------------------------------------------------------------------------------------

tpResult tpHullFromRoundedPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                                 double flatness, tpHull** out, tpError* error) {
    int32_t start[4] = { 0 };
    *out = NULL;
    tpResult result = checkPoints(points, count, error);
    if (result == tp_success) {
        result = findStart(points, count, start, error);
    }
    if (result != tp_success) {
        return result;
    }
    size_t byteCount = (size_t)count * sizeof(tpGridPoint);
    tpGridPoint* grid = tpAllocate(allocator, byteCount);
    if (grid == NULL) {
        return tpError_OutOfMemory(error);
    }
    double tolerance = fmax(leastTolerance, flatness / placeOnGrid(points, count, grid));
    tpGridHull hull;
    result = tpCreateGridHull(allocator, grid, count, start, &hull);
    if (result == tp_success) {
        result = mergeHull(allocator, &hull, grid, points, count, tolerance, out, error);
    } else {
        result = result == tp_outOfMemory
                     ? tpError_OutOfMemory(error)
                     : tpError_Set(error, tp_badInput, "the points of the hull lie in one plane");
    }
    tpDestroyGridHull(allocator, &hull);
    tpRelease(allocator, grid, byteCount);
    return result;
}

tpResult tpHullFromPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                          tpHull** out, tpError* error) {
    return tpHullFromRoundedPoints(allocator, points, count, 0.0, out, error);
}
