// Hulls in use: support maps, sharing, and boxes that need no memory of their own.

#include "geometry/hull.h"

#include "base/memory.h"

// Up to this many vertices a plain scan beats climbing.
enum { scanLimit = 32 };

static int32_t scanVertices(const tpHull* hull, tpVec3 direction) {
    int32_t best = 0;
    double most = tpDot(hull->vertices[0], direction);
    for (int32_t i = 1; i < hull->vertexCount; ++i) {
        double along = tpDot(hull->vertices[i], direction);
        if (along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

// On a convex surface a vertex that no neighbour exceeds is the farthest of all, so the climb ends
// right. Values rise strictly, so it ends.
int32_t tpHull_Support(const tpHull* hull, tpVec3 direction, int32_t hint) {
    if (hull->vertexCount <= scanLimit) {
        return scanVertices(hull, direction);
    }
    int32_t best = hint >= 0 ? hint : 0;
    double most = tpDot(hull->vertices[best], direction);
    for (;;) {
        int32_t from = best;
        for (int32_t i = hull->neighborFirst[from]; i < hull->neighborFirst[from + 1]; ++i) {
            double along = tpDot(hull->vertices[hull->neighbors[i]], direction);
            if (along > most) {
                most = along;
                best = hull->neighbors[i];
            }
        }
        if (best == from) {
            return best;
        }
    }
}

int32_t tpHull_FaceAtVertex(const tpHull* hull, int32_t vertex, tpVec3 direction) {
    int32_t first = hull->neighborFirst[vertex];
    int32_t best = hull->neighborFaces[first];
    double most = tpDot(hull->normals[best], direction);
    for (int32_t i = first + 1; i < hull->neighborFirst[vertex + 1]; ++i) {
        int32_t face = hull->neighborFaces[i];
        double along = tpDot(hull->normals[face], direction);
        if (along > most) {
            most = along;
            best = face;
        }
    }
    return best;
}

int32_t tpHull_SupportFace(const tpHull* hull, tpVec3 direction) {
    return tpHull_FaceAtVertex(hull, tpHull_Support(hull, direction, -1), direction);
}

tpHull* tpRetainHull(tpHull* hull) {
    atomic_fetch_add_explicit(&hull->references, 1, memory_order_relaxed);
    return hull;
}

void tpReleaseHull(tpHull* hull) {
    if (hull != NULL &&
        atomic_fetch_sub_explicit(&hull->references, 1, memory_order_acq_rel) == 1) {
        tpAllocator allocator = hull->allocator;
        tpRelease(&allocator, hull, hull->byteCount);
    }
}

// Boxes ---------------------------------------------------------------------------------------

// Corners of the faces +x, -x, +y, -y, +z, -z, counter-clockwise from outside. Half-edges are
// numbered below so that 2e and 2e + 1 are twins.
static const int32_t boxFaceVertices[24] = { 1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3,
                                             0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1 };
static const int32_t boxFaceFirst[7] = { 0, 4, 8, 12, 16, 20, 24 };
static const tpVec3 boxNormals[6] = { { 1.0, 0.0, 0.0 },  { -1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 },
                                      { 0.0, -1.0, 0.0 }, { 0.0, 0.0, 1.0 },  { 0.0, 0.0, -1.0 } };
// { origin, face, next }; edges 0-3 along x, 4-7 along y, 8-11 along z.
static const tpHalfEdge boxHalfEdges[24] = {
    { 0, 3, 18 }, { 1, 5, 8 },  { 2, 5, 11 }, { 3, 2, 20 }, { 4, 4, 14 }, { 5, 3, 17 },
    { 6, 2, 23 }, { 7, 4, 13 }, { 0, 5, 2 },  { 2, 1, 16 }, { 1, 0, 22 }, { 3, 5, 1 },
    { 4, 1, 21 }, { 6, 4, 4 },  { 5, 4, 7 },  { 7, 0, 19 }, { 0, 1, 12 }, { 4, 3, 0 },
    { 1, 3, 5 },  { 5, 0, 10 }, { 2, 2, 6 },  { 6, 1, 9 },  { 3, 0, 15 }, { 7, 2, 3 }
};
static const int32_t boxVertexEdges[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const int32_t boxFaceEdges[6] = { 10, 16, 20, 0, 4, 8 };
static const int32_t boxNeighborFirst[9] = { 0, 3, 6, 9, 12, 15, 18, 21, 24 };
static const int32_t boxNeighbors[24] = { 1, 2, 4, 0, 5, 3, 3, 6, 0, 2, 1, 7,
                                          5, 0, 6, 4, 7, 1, 7, 4, 2, 6, 3, 5 };
static const int32_t boxNeighborFaces[24] = { 3, 5, 1, 5, 3, 0, 5, 2, 1, 2, 5, 0,
                                              4, 3, 1, 3, 4, 0, 2, 4, 1, 4, 2, 0 };

void tpFillBoxHull(tpBoxHull* out, tpVec3 size) {
    tpVec3 half = tpScale(0.5, size);
    for (int i = 0; i < 8; ++i) {
        out->vertices[i] = tpMakeVec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                                      i & 4 ? half.z : -half.z);
    }
    double extents[3] = { half.x, half.y, half.z };
    for (int i = 0; i < 6; ++i) {
        out->offsets[i] = extents[i / 2];
    }
    tpHull* hull = &out->hull;
    hull->vertexCount = 8;
    hull->edgeCount = 12;
    hull->faceCount = 6;
    hull->vertices = out->vertices;
    hull->normals = boxNormals;
    hull->offsets = out->offsets;
    hull->halfEdges = boxHalfEdges;
    hull->vertexEdges = boxVertexEdges;
    hull->faceEdges = boxFaceEdges;
    hull->faceFirst = boxFaceFirst;
    hull->faceVertices = boxFaceVertices;
    hull->neighborFirst = boxNeighborFirst;
    hull->neighbors = boxNeighbors;
    hull->neighborFaces = boxNeighborFaces;
    hull->center = tpZeroVec3();
    hull->radius = tpLength(half);
    hull->innerRadius = fmin(half.x, fmin(half.y, half.z));
    hull->bounds = (tpBounds){ tpNeg(half), half };
    double mass = size.x * size.y * size.z;
    double xx = size.x * size.x, yy = size.y * size.y, zz = size.z * size.z;
    hull->mass.mass = mass;
    hull->mass.center = tpZeroVec3();
    hull->mass.inertia = tpDiagonal(tpScale(mass / 12.0, tpMakeVec3(yy + zz, xx + zz, xx + yy)));
    atomic_init(&hull->references, 1);
    hull->allocator = (tpAllocator){ 0 };
    hull->byteCount = 0;
}
