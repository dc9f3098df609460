// Quickhull [Barber96] on integers.
//
// Every point outside the polyhedron waits at one triangle that it lies above. The farthest point
// of a triangle is added: the triangles that it sees are removed, and the edges around the hole are
// joined to it. A point that lies in the plane of a triangle does not see it. So triangles of one
// plane are seen together or not at all, the hole is always a disc, and no new triangle is
// degenerate.
//
// Sides are found in floating point; where rounding could change the sign, in 128-bit integers.

#include "geometry/grid_hull.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

__extension__ typedef __int128 Wide;

// Bound on the rounding error of the height in `roughHeight`. Differences are exact and at most
// 2^41; a part of the normal is at most 2^83 and off by 2^31, the height at most 2^126 and off by
// 2^75.
static const double roughError = 0x1p76;

typedef struct Triangle {
    int32_t corners[3], across[3];
    double normal[3]; // not of unit length
    int32_t first;    // first of the points that wait here, -1: none
    int32_t farthest; // of them
    double height;    // of the farthest one, times the length of the normal
    bool isRemoved, isSeen;
} Triangle;

typedef TP_ARRAY(Triangle) Triangles;
typedef TP_ARRAY(int32_t) Numbers;

typedef struct Work {
    const tpAllocator* allocator;
    const tpGridPoint* points;
    int count;
    Triangles triangles;
    Numbers seen;     // triangles that the new point sees
    Numbers hole;     // edges around them: 3 triangle + side
    Numbers waiting;  // points that were waiting at triangles now removed
    Numbers pending;  // triangles at which points may wait
    int32_t* next;    // [count] the next point that waits at the same triangle
    int32_t* newFrom; // [count] the new triangle whose edge on the hole starts at this point
} Work;

// Sides -----------------------------------------------------------------------------------------

static void setNormal(const Work* work, Triangle* t) {
    const tpGridPoint *a = &work->points[t->corners[0]], *b = &work->points[t->corners[1]];
    const tpGridPoint* c = &work->points[t->corners[2]];
    double ux = (double)(b->x - a->x), uy = (double)(b->y - a->y), uz = (double)(b->z - a->z);
    double vx = (double)(c->x - a->x), vy = (double)(c->y - a->y), vz = (double)(c->z - a->z);
    t->normal[0] = uy * vz - uz * vy;
    t->normal[1] = uz * vx - ux * vz;
    t->normal[2] = ux * vy - uy * vx;
}

static double roughHeight(const Work* work, const Triangle* t, int32_t point) {
    const tpGridPoint *a = &work->points[t->corners[0]], *p = &work->points[point];
    return t->normal[0] * (double)(p->x - a->x) + t->normal[1] * (double)(p->y - a->y) +
           t->normal[2] * (double)(p->z - a->z);
}

// The same height as a sign, exactly.
static int exactSide(const tpGridPoint* a, const tpGridPoint* b, const tpGridPoint* c,
                     const tpGridPoint* p) {
    Wide ux = b->x - a->x, uy = b->y - a->y, uz = b->z - a->z;
    Wide vx = c->x - a->x, vy = c->y - a->y, vz = c->z - a->z;
    Wide height = (uy * vz - uz * vy) * (p->x - a->x) + (uz * vx - ux * vz) * (p->y - a->y) +
                  (ux * vy - uy * vx) * (p->z - a->z);
    return height > 0 ? 1 : height < 0 ? -1 : 0;
}

static bool isAbove(const Work* work, const Triangle* t, int32_t point, double* height) {
    *height = roughHeight(work, t, point);
    if (fabs(*height) > roughError) {
        return *height > 0.0;
    }
    const tpGridPoint* points = work->points;
    return exactSide(&points[t->corners[0]], &points[t->corners[1]], &points[t->corners[2]],
                     &points[point]) > 0;
}

// Triangles -------------------------------------------------------------------------------------

// The number of a new triangle, -1 if memory ran out.
static int32_t addTriangle(Work* work, int32_t a, int32_t b, int32_t c) {
    Triangle made = {
        .corners = { a, b, c }, .across = { -1, -1, -1 }, .first = -1, .farthest = -1
    };
    setNormal(work, &made);
    return TP_PUSH(work->allocator, work->triangles, made) ? work->triangles.count - 1 : -1;
}

// Lets a point wait at one of the triangles from `begin` on that it lies above; inside all of them
// it is forgotten.
static void placePoint(Work* work, int32_t point, int32_t begin) {
    for (int32_t i = begin; i < work->triangles.count; ++i) {
        Triangle* t = &work->triangles.data[i];
        double height;
        if (isAbove(work, t, point, &height)) {
            if (t->first < 0 || height > t->height) {
                t->farthest = point;
                t->height = height;
            }
            work->next[point] = t->first;
            t->first = point;
            return;
        }
    }
}

// Four triangles around the four points of the start, and all other points at their places.
static tpResult start(Work* work, const int32_t corners[4]) {
    static const int32_t faces[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 1, 3, 2 }, { 2, 3, 0 } };
    static const int32_t neighbors[4][3] = { { 1, 2, 3 }, { 3, 2, 0 }, { 1, 3, 0 }, { 2, 1, 0 } };
    const tpGridPoint* points = work->points;
    int32_t c[4] = { corners[0], corners[1], corners[2], corners[3] };
    int side = exactSide(&points[c[0]], &points[c[1]], &points[c[2]], &points[c[3]]);
    if (side == 0) {
        return tp_badInput;
    }
    if (side > 0) { // the fourth point has to lie below the first triangle
        c[1] = corners[2];
        c[2] = corners[1];
    }
    for (int f = 0; f < 4; ++f) {
        int32_t made = addTriangle(work, c[faces[f][0]], c[faces[f][1]], c[faces[f][2]]);
        if (made < 0 || !TP_PUSH(work->allocator, work->pending, made)) {
            return tp_outOfMemory;
        }
        memcpy(work->triangles.data[made].across, neighbors[f], sizeof(neighbors[f]));
    }
    for (int32_t i = 0; i < work->count; ++i) {
        placePoint(work, i, 0);
    }
    return tp_success;
}

// Adding a point --------------------------------------------------------------------------------

// All triangles that the point sees, from one of them outward, and the edges around them.
static bool findHole(Work* work, int32_t from, int32_t point) {
    Triangle* triangles = work->triangles.data;
    work->seen.count = work->hole.count = 0;
    triangles[from].isSeen = true;
    if (!TP_PUSH(work->allocator, work->seen, from)) {
        return false;
    }
    for (int i = 0; i < work->seen.count; ++i) {
        int32_t at = work->seen.data[i];
        for (int k = 0; k < 3; ++k) {
            int32_t other = triangles[at].across[k];
            double height;
            if (triangles[other].isSeen) {
                continue;
            }
            if (isAbove(work, &triangles[other], point, &height)) {
                triangles[other].isSeen = true;
                if (!TP_PUSH(work->allocator, work->seen, other)) {
                    return false;
                }
            } else if (!TP_PUSH(work->allocator, work->hole, 3 * at + k)) {
                return false;
            }
        }
    }
    return true;
}

// Takes the seen triangles away and keeps the points that waited there.
static bool removeSeen(Work* work) {
    work->waiting.count = 0;
    for (int i = 0; i < work->seen.count; ++i) {
        Triangle* t = &work->triangles.data[work->seen.data[i]];
        t->isRemoved = true;
        for (int32_t p = t->first; p >= 0; p = work->next[p]) {
            if (!TP_PUSH(work->allocator, work->waiting, p)) {
                return false;
            }
        }
    }
    return true;
}

// Joins the edges of the hole to the point.
static bool fillHole(Work* work, int32_t point) {
    int32_t begin = work->triangles.count;
    for (int i = 0; i < work->hole.count; ++i) {
        const Triangle* old = &work->triangles.data[work->hole.data[i] / 3];
        int side = work->hole.data[i] % 3;
        int32_t a = old->corners[side], b = old->corners[(side + 1) % 3];
        int32_t beyond = old->across[side], made = addTriangle(work, a, b, point);
        if (made < 0 || !TP_PUSH(work->allocator, work->pending, made)) {
            return false;
        }
        work->triangles.data[made].across[0] = beyond;
        work->newFrom[a] = made;
        Triangle* neighbor = &work->triangles.data[beyond];
        for (int k = 0; k < 3; ++k) {
            if (neighbor->corners[k] == b && neighbor->corners[(k + 1) % 3] == a) {
                neighbor->across[k] = made;
            }
        }
    }
    for (int32_t i = begin; i < work->triangles.count; ++i) {
        int32_t after = work->newFrom[work->triangles.data[i].corners[1]];
        work->triangles.data[i].across[1] = after;
        work->triangles.data[after].across[2] = i;
    }
    return true;
}

static bool addPoint(Work* work, int32_t from) {
    int32_t point = work->triangles.data[from].farthest, begin = work->triangles.count;
    if (!findHole(work, from, point) || !removeSeen(work) || !fillHole(work, point)) {
        return false;
    }
    for (int i = 0; i < work->waiting.count; ++i) {
        if (work->waiting.data[i] != point) {
            placePoint(work, work->waiting.data[i], begin);
        }
    }
    return true;
}

// -----------------------------------------------------------------------------------------------

// The triangles that are left, numbered anew.
static tpResult handOver(Work* work, tpGridHull* out) {
    Triangle* triangles = work->triangles.data;
    int count = 0;
    for (int i = 0; i < work->triangles.count; ++i) {
        triangles[i].first = triangles[i].isRemoved ? -1 : count++;
    }
    out->triangles = tpAllocate(work->allocator, (size_t)count * sizeof(tpGridTriangle));
    if (out->triangles == NULL) {
        return tp_outOfMemory;
    }
    out->count = out->capacity = count;
    for (int i = 0; i < work->triangles.count; ++i) {
        if (!triangles[i].isRemoved) {
            tpGridTriangle* made = &out->triangles[triangles[i].first];
            for (int k = 0; k < 3; ++k) {
                made->corners[k] = triangles[i].corners[k];
                made->across[k] = triangles[triangles[i].across[k]].first;
            }
        }
    }
    return tp_success;
}

static tpResult build(Work* work, const int32_t corners[4], tpGridHull* out) {
    tpResult result = start(work, corners);
    while (result == tp_success && work->pending.count > 0) {
        int32_t at = work->pending.data[--work->pending.count];
        const Triangle* t = &work->triangles.data[at];
        if (!t->isRemoved && t->first >= 0 && !addPoint(work, at)) {
            result = tp_outOfMemory;
        }
    }
    return result == tp_success ? handOver(work, out) : result;
}

tpResult tpCreateGridHull(const tpAllocator* allocator, const tpGridPoint* points, int count,
                          const int32_t corners[4], tpGridHull* out) {
    memset(out, 0, sizeof(*out));
    size_t byteCount = 2 * (size_t)count * sizeof(int32_t);
    int32_t* numbers = tpAllocate(allocator, byteCount);
    if (numbers == NULL) {
        return tp_outOfMemory;
    }
    Work work = { .allocator = allocator, .points = points, .count = count };
    work.next = numbers;
    work.newFrom = numbers + count;
    tpResult result = build(&work, corners, out);
    TP_FREE_ARRAY(allocator, work.triangles);
    TP_FREE_ARRAY(allocator, work.seen);
    TP_FREE_ARRAY(allocator, work.hole);
    TP_FREE_ARRAY(allocator, work.waiting);
    TP_FREE_ARRAY(allocator, work.pending);
    tpRelease(allocator, numbers, byteCount);
    return result;
}

void tpDestroyGridHull(const tpAllocator* allocator, tpGridHull* hull) {
    tpRelease(allocator, hull->triangles, (size_t)hull->capacity * sizeof(tpGridTriangle));
    memset(hull, 0, sizeof(*hull));
}
