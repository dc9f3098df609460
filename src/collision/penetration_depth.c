// The point of the boundary of a Minkowski difference nearest to an origin inside it, by the
// expanding polytope algorithm [VanDenBergen01].
//
// A polytope of corners of the difference grows outwards. Its face nearest to the origin bounds the
// depth from below; the farthest corner along that face's normal bounds it from above, and joins
// the polytope. For polyhedra the bounds meet in finitely many rounds, and the answer is the global
// least depth, not a local one. Offsets of faces are signed, so an origin on the boundary, or a
// start that does not surround it, needs no special case: depths near zero are as exact as others.
//
// Adding a corner removes the faces that see it, found by walking from one to its neighbours, and
// joins the corner to the edges of the hole.

#include "collision/difference.h"

#include <float.h>

// Most polytopes are small. The memory for large ones is half a megabyte of the stack, of which
// every page is touched when a function with it is entered: that took longer than the search.
enum { fewCorners = 40, fewFaces = 128, maxCorners = 1536, maxFaces = 6144 };

// Bounds that agree to this fraction of the size have met.
static const double meetTolerance = 2e-14;

// What rounding may leave between bounds and still count as proven.
static const double exactTolerance = 1e-10;

typedef struct DepthFace {
    int16_t corners[3];   // counter-clockwise from outside
    int16_t neighbors[3]; // across the edge from corner k to k + 1
    bool isGone, isSeen;
    bool isThin; // the plane is a neighbour's
    tpVec3 normal;
    double offset; // of the plane along the normal
} DepthFace;

typedef struct Polytope {
    const tpDifference* d;
    int cornerCount, faceCount, heapCount, holeCount;
    int cornerRoom, faceRoom;
    bool isFull; // there was no room
    tpCorner* corners;
    DepthFace* faces;
    int16_t* heap;         // faces, the lowest offset on top; those gone are skipped
    int16_t* hole;         // faces around the hole while a corner is added
    int16_t* edgeOfCorner; // the new face whose edge of the hole starts at a corner
} Polytope;

static bool isNearer(const Polytope* p, int16_t f, int16_t g) {
    double x = p->faces[f].offset, y = p->faces[g].offset;
    return x < y || (x == y && f < g);
}

static void pushFace(Polytope* p, int16_t f) {
    int i = p->heapCount++;
    while (i > 0 && isNearer(p, f, p->heap[(i - 1) / 2])) {
        p->heap[i] = p->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    p->heap[i] = f;
}

static void popFace(Polytope* p) {
    int16_t last = p->heap[--p->heapCount];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= p->heapCount) {
            break;
        }
        if (child + 1 < p->heapCount && isNearer(p, p->heap[child + 1], p->heap[child])) {
            ++child;
        }
        if (!isNearer(p, p->heap[child], last)) {
            break;
        }
        p->heap[i] = p->heap[child];
        i = child;
    }
    p->heap[i] = last;
}

// The nearest face that is still there; -1 for none.
static int16_t nearestFace(Polytope* p) {
    while (p->heapCount > 0 && p->faces[p->heap[0]].isGone) {
        popFace(p);
    }
    return p->heapCount > 0 ? p->heap[0] : -1;
}

// A triangle too thin to have a normal of its own takes the plane of `neighbor` (-1 for none).
static int16_t addFace(Polytope* p, int16_t i, int16_t j, int16_t k, int16_t neighbor) {
    int16_t index = (int16_t)p->faceCount++;
    DepthFace* face = &p->faces[index];
    const tpCorner* c = p->corners;
    face->corners[0] = i;
    face->corners[1] = j;
    face->corners[2] = k;
    face->isGone = face->isSeen = false;
    tpVec3 u = tpDifference_Edge(p->d, &c[i], &c[j]), v = tpDifference_Edge(p->d, &c[i], &c[k]);
    tpVec3 n = tpCross(u, v);
    double nn = tpLengthSquared(n);
    face->isThin = neighbor >= 0 && nn <= 1e-26 * tpLengthSquared(u) * tpLengthSquared(v);
    if (face->isThin) {
        face->normal = p->faces[neighbor].normal;
        face->offset = p->faces[neighbor].offset;
    } else {
        face->normal = tpNormalize(n);
        face->offset = tpDot(face->normal, c[i].point);
    }
    return index;
}

// Marks what sees the point, from face `first` on, and collects the edges of the hole as new faces
// between them and the new corner. False if the hole is not one loop, or there is no room.
static bool openHole(Polytope* p, int16_t first, int16_t corner) {
    tpVec3 w = p->corners[corner].point;
    double slack = 1e-15 * p->d->size;
    int16_t stack[256];
    int depth = 0;
    stack[depth++] = first;
    p->faces[first].isSeen = true;
    p->holeCount = 0;
    while (depth > 0) {
        int16_t f = stack[--depth];
        p->faces[f].isGone = true;
        for (int k = 0; k < 3; ++k) {
            int16_t g = p->faces[f].neighbors[k];
            DepthFace* neighbor = &p->faces[g];
            if (neighbor->isSeen) {
                continue;
            }
            if (tpDot(neighbor->normal, w) > neighbor->offset + slack) {
                if (depth == 256) {
                    return false;
                }
                neighbor->isSeen = true;
                stack[depth++] = g;
                continue;
            }
            if (p->faceCount == p->faceRoom) {
                p->isFull = true;
                return false;
            }
            int16_t i = p->faces[f].corners[k], j = p->faces[f].corners[(k + 1) % 3];
            int16_t added = addFace(p, i, j, corner, g);
            p->faces[added].neighbors[0] = g;
            for (int e = 0; e < 3; ++e) {
                if (neighbor->neighbors[e] == f && neighbor->corners[e] == j) {
                    neighbor->neighbors[e] = added;
                }
            }
            p->hole[p->holeCount++] = added;
        }
    }
    return true;
}

// Joins the new faces to each other around the hole. False if it is not one simple loop.
static bool closeHole(Polytope* p) {
    for (int i = 0; i < p->holeCount; ++i) {
        p->edgeOfCorner[p->faces[p->hole[i]].corners[1]] = -1;
    }
    for (int i = 0; i < p->holeCount; ++i) {
        int16_t f = p->hole[i];
        p->edgeOfCorner[p->faces[f].corners[0]] = f;
    }
    int16_t f = p->hole[0];
    for (int i = 0; i < p->holeCount; ++i) {
        int16_t next = p->edgeOfCorner[p->faces[f].corners[1]];
        if (next < 0 || (next == p->hole[0]) != (i + 1 == p->holeCount)) {
            return false;
        }
        p->faces[f].neighbors[1] = next;
        p->faces[next].neighbors[2] = f;
        f = next;
    }
    return true;
}

// Grows the polytope by a corner that face `first` sees.
static bool addCorner(Polytope* p, const tpCorner* w, int16_t first) {
    if (p->cornerCount == p->cornerRoom) {
        p->isFull = true;
        return false;
    }
    int16_t corner = (int16_t)p->cornerCount++;
    p->corners[corner] = *w;
    if (!openHole(p, first, corner) || p->holeCount < 3 || !closeHole(p)) {
        return false;
    }
    for (int i = 0; i < p->holeCount; ++i) {
        pushFace(p, p->hole[i]);
    }
    return true;
}

// The corner farthest along `direction`, if it is farther from what `base` measures than before.
static tpCorner highest(const tpDifference* d, tpVec3 direction, tpCorner from) {
    return tpDifference_Lowest(d, tpNeg(direction), from);
}

// Completes one corner to a segment, a segment to a triangle: the farthest of what a few directions
// across give.
static void growFlat(const tpDifference* d, tpCornerSimplex* s) {
    tpVec3 along =
        s->count == 2 ? tpDifference_Edge(d, &s->corners[0], &s->corners[1]) : tpZeroVec3();
    double alongSquared = tpLengthSquared(along);
    tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    double farthest = -1.0;
    tpCorner best = s->corners[0];
    for (int k = 0; k < 6; ++k) {
        tpVec3 direction = tpScale(k < 3 ? 1.0 : -1.0, axes[k % 3]);
        if (s->count == 2) {
            direction = tpCross(along, direction);
            if (tpLengthSquared(direction) < 0.1 * alongSquared) {
                continue;
            }
        }
        tpCorner w = highest(d, direction, s->corners[0]);
        tpVec3 reach = tpDifference_Edge(d, &s->corners[0], &w);
        double distance = s->count == 2 ? tpLengthSquared(tpCross(along, reach)) / alongSquared
                                        : tpLengthSquared(reach);
        if (distance > farthest) {
            farthest = distance;
            best = w;
        }
    }
    s->corners[s->count++] = best;
}

// Completes the start to a tetrahedron. False if the difference is flat: then s holds a
// triangle.
static bool growTetrahedron(const tpDifference* d, tpCornerSimplex* s) {
    if (s->count == 0) {
        s->corners[0] = highest(d, tpMakeVec3(1.0, 0.0, 0.0), tpDifference_Corner(d, 0, 0));
        s->count = 1;
    }
    while (s->count < 3) {
        growFlat(d, s);
    }
    const tpCorner* c = s->corners;
    tpVec3 n = tpNormalize(
        tpCross(tpDifference_Edge(d, &c[0], &c[1]), tpDifference_Edge(d, &c[0], &c[2])));
    double flat = 1e-13 * d->size;
    if (s->count == 4) {
        if (fabs(tpDot(n, tpDifference_Edge(d, &c[0], &c[3]))) > flat) {
            return true;
        }
        s->count = 3;
    }
    tpCorner above = highest(d, n, c[0]), below = highest(d, tpNeg(n), c[0]);
    double up = tpDot(n, tpDifference_Edge(d, &c[0], &above));
    double down = -tpDot(n, tpDifference_Edge(d, &c[0], &below));
    s->corners[3] = up > down ? above : below;
    s->count = 4;
    return fmax(up, down) > flat;
}

static void startPolytope(Polytope* p, const tpDifference* d, const tpCornerSimplex* s) {
    static const int16_t outward[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 } };
    static const int16_t across[4][3] = { { 1, 3, 2 }, { 2, 3, 0 }, { 0, 3, 1 }, { 1, 2, 0 } };
    p->d = d;
    p->cornerCount = 4;
    p->faceCount = p->heapCount = 0;
    for (int i = 0; i < 4; ++i) {
        p->corners[i] = s->corners[i];
    }
    // The fourth corner is to lie behind the first three.
    tpVec3 n = tpCross(tpDifference_Edge(d, &p->corners[0], &p->corners[1]),
                       tpDifference_Edge(d, &p->corners[0], &p->corners[2]));
    if (tpDot(n, tpDifference_Edge(d, &p->corners[0], &p->corners[3])) > 0.0) {
        tpCorner swap = p->corners[1];
        p->corners[1] = p->corners[2];
        p->corners[2] = swap;
    }
    for (int f = 0; f < 4; ++f) {
        addFace(p, outward[f][0], outward[f][1], outward[f][2], -1);
        for (int k = 0; k < 3; ++k) {
            p->faces[f].neighbors[k] = across[f][k];
        }
        pushFace(p, (int16_t)f);
    }
}

// Weights of the foot of the origin on a face; the least of them is returned.
static double footWeights(const Polytope* p, const DepthFace* face, double weights[3]) {
    const tpCorner* c[3];
    for (int k = 0; k < 3; ++k) {
        c[k] = &p->corners[face->corners[k]];
    }
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        tpVec3 edge = tpDifference_Edge(p->d, c[(k + 1) % 3], c[(k + 2) % 3]);
        weights[k] = -tpDot(face->normal, tpCross(edge, c[(k + 1) % 3]->point));
        sum += weights[k];
    }
    double least = DBL_MAX;
    for (int k = 0; k < 3; ++k) {
        weights[k] = sum > 0.0 ? weights[k] / sum : 1.0 / 3.0;
        least = fmin(least, weights[k]);
    }
    return sum > 0.0 && !face->isThin ? least : -DBL_MAX;
}

// The answer on a face. Several triangles of one facet have the same offset: the one that holds the
// foot of the origin carries the points.
static void answer(const Polytope* p, int16_t face, double offset, tpDepth* out) {
    tpVec3 normal = p->faces[face].normal;
    double best[3], slack = exactTolerance * p->d->size;
    // A face that has been grown over found the direction, but lies below the boundary.
    const DepthFace* carrier = &p->faces[face];
    double bestLeast = offset - carrier->offset <= slack ? footWeights(p, carrier, best) : -DBL_MAX;
    for (int f = 0; f < p->faceCount && bestLeast < 0.0; ++f) {
        const DepthFace* other = &p->faces[f];
        if (other->isGone || other->offset > offset + slack ||
            tpDot(other->normal, normal) < 1.0 - 1e-12) {
            continue;
        }
        double weights[3];
        double least = footWeights(p, other, weights);
        if (least > bestLeast) {
            bestLeast = least;
            carrier = other;
        }
    }
    footWeights(p, carrier, best);
    double sum = 0.0;
    out->simplex.count = 3;
    for (int k = 0; k < 3; ++k) {
        out->simplex.corners[k] = p->corners[carrier->corners[k]];
        out->simplex.weights[k] = fmax(best[k], 0.0);
        sum += out->simplex.weights[k];
    }
    for (int k = 0; k < 3; ++k) {
        out->simplex.weights[k] /= sum;
    }
    out->normal = tpNeg(normal);
    out->depth = offset;
}

// A difference without volume, such as that of two parallel triangles: the origin lies in it, or
// beside.
static void answerFlat(const tpDifference* d, const tpCornerSimplex* s, tpDepth* out) {
    const tpCorner* c = s->corners;
    tpVec3 n = tpNormalize(
        tpCross(tpDifference_Edge(d, &c[0], &c[1]), tpDifference_Edge(d, &c[0], &c[2])));
    double offset = tpDot(n, c[0].point);
    out->normal = offset >= 0.0 ? n : tpNeg(n);
    out->depth = -fabs(offset);
    out->simplex = *s;
    out->simplex.count = 1;
    out->simplex.weights[0] = 1.0;
    out->isExact = false;
}

static bool isCornerOf(const Polytope* p, const DepthFace* face, const tpCorner* w) {
    for (int k = 0; k < 3; ++k) {
        const tpCorner* c = &p->corners[face->corners[k]];
        if (c->a == w->a && c->b == w->b) {
            return true;
        }
    }
    return false;
}

// Grows the polytope from a tetrahedron until a face of it is proven to be the nearest.
static void growPolytope(Polytope* p, const tpDifference* d, const tpCornerSimplex* s,
                         tpDepth* out) {
    startPolytope(p, d, s);
    double upper = DBL_MAX, lower = -DBL_MAX;
    int16_t upperFace = 0;
    for (int16_t f = nearestFace(p); f >= 0; f = nearestFace(p)) {
        DepthFace* face = &p->faces[f];
        lower = face->offset;
        if (upper - lower <= meetTolerance * d->size) {
            break;
        }
        tpCorner w = highest(d, face->normal, p->corners[face->corners[0]]);
        double reach = tpDot(face->normal, w.point);
        if (reach < upper) {
            upper = reach;
            upperFace = f;
        }
        // A thin face whose plane is off by rounding finds its own corner above it: nothing more is
        // to be had from it, and others may be nearer.
        if (reach - lower <= meetTolerance * d->size || isCornerOf(p, face, &w)) {
            popFace(p);
        } else if (!addCorner(p, &w, f)) {
            break;
        }
    }
    answer(p, upperFace, upper, out);
    out->isExact = upper - lower <= exactTolerance * d->size;
}

__attribute__((noinline)) static void growLarge(const tpDifference* d, const tpCornerSimplex* s,
                                                tpDepth* out) {
    tpCorner corners[maxCorners];
    DepthFace faces[maxFaces];
    int16_t heap[maxFaces], hole[maxFaces], edgeOfCorner[maxCorners];
    Polytope p = { .cornerRoom = maxCorners,
                   .faceRoom = maxFaces,
                   .corners = corners,
                   .faces = faces,
                   .heap = heap,
                   .hole = hole,
                   .edgeOfCorner = edgeOfCorner };
    growPolytope(&p, d, s, out);
}

void tpFindDepth(const tpDifference* d, const tpCornerSimplex* start, tpDepth* out) {
    tpCornerSimplex s = *start;
    if (!growTetrahedron(d, &s)) {
        answerFlat(d, &s, out);
        return;
    }
    tpCorner corners[fewCorners];
    DepthFace faces[fewFaces];
    int16_t heap[fewFaces], hole[fewFaces], edgeOfCorner[fewCorners];
    Polytope p = { .cornerRoom = fewCorners,
                   .faceRoom = fewFaces,
                   .corners = corners,
                   .faces = faces,
                   .heap = heap,
                   .hole = hole,
                   .edgeOfCorner = edgeOfCorner };
    growPolytope(&p, d, &s, out);
    if (p.isFull) {
        growLarge(d, &s, out);
    }
}
