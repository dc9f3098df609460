// Convex polyhedra: vertices, polygonal faces, and the half-edges that join them.
//
// Half-edges 2e and 2e + 1 are the two directions of edge e, so the twin of h is h ^ 1. Each runs
// counter-clockwise around its face, seen from outside:
//
//          next(h)
//        o<--------o          h       from its origin to the origin of next(h)
//        |  face   ^ h        h ^ 1   the other way, in the neighbouring face
//        |         |          next(h ^ 1) of the vertex's fan: see tpHull_NextAround
//
// Coplanar triangles have been merged: neighbouring faces have different planes, every vertex has
// at least three edges, and vertices - edges + faces = 2. A hull never changes once made; copies
// share it by a reference count.

#ifndef TIPPE_SRC_GEOMETRY_HULL_H
#define TIPPE_SRC_GEOMETRY_HULL_H

#include <stdatomic.h>

#include "tippe/geometry.h"

typedef struct tpHalfEdge {
    int32_t origin; // vertex it starts from
    int32_t face;   // face to its left
    int32_t next;   // half-edge that follows around the face
} tpHalfEdge;

struct tpHull {
    int32_t vertexCount, edgeCount, faceCount;
    const tpVec3* vertices;       // [vertexCount]
    const tpVec3* normals;        // [faceCount] outward unit normals
    const double* offsets;        // [faceCount] the body is normal . x <= offset, for every vertex
    const tpHalfEdge* halfEdges;  // [2 edgeCount]
    const int32_t* vertexEdges;   // [vertexCount] a half-edge that leaves the vertex
    const int32_t* faceEdges;     // [faceCount] a half-edge of the face
    const int32_t* faceFirst;     // [faceCount + 1] into faceVertices
    const int32_t* faceVertices;  // [2 edgeCount] corners of each face, counter-clockwise
    const int32_t* neighborFirst; // [vertexCount + 1] into neighbors
    const int32_t* neighbors;     // [2 edgeCount] vertices joined to each vertex, in its fan's
                                  // order
    const int32_t* neighborFaces; // [2 edgeCount] the face to the left of the way to each of them
    tpVec3 center;                // centre of volume
    double radius;                // largest distance of a vertex from `center`
    double innerRadius;           // least distance of a face from `center`; 0 for flat hulls
    tpBounds bounds;              // in the hull's own frame
    tpMassProperties mass;        // at density one, in the hull's own frame
    atomic_int references;
    tpAllocator allocator;
    size_t byteCount; // of the one block that holds the hull and its arrays
};

// The next half-edge that leaves the same vertex, clockwise seen from outside.
static inline int32_t tpHull_NextAround(const tpHull* hull, int32_t halfEdge) {
    return hull->halfEdges[halfEdge ^ 1].next;
}

// The vertex at which a half-edge ends.
static inline int32_t tpHull_Target(const tpHull* hull, int32_t halfEdge) {
    return hull->halfEdges[halfEdge ^ 1].origin;
}

// The number of corners of a face.
static inline int32_t tpHull_FaceSize(const tpHull* hull, int32_t face) {
    return hull->faceFirst[face + 1] - hull->faceFirst[face];
}

// A vertex farthest along `direction` (any length). Small hulls are scanned; on large ones the
// search climbs from `hint` (a vertex, such as the last answer; -1 for none) to a neighbour while
// it can.
int32_t tpHull_Support(const tpHull* hull, tpVec3 direction, int32_t hint);

// Of the faces around a vertex, the one that looks along `direction` most.
int32_t tpHull_FaceAtVertex(const tpHull* hull, int32_t vertex, tpVec3 direction);

// The same around the farthest vertex along `direction`.
int32_t tpHull_SupportFace(const tpHull* hull, tpVec3 direction);

tpHull* tpRetainHull(tpHull* hull);
void tpReleaseHull(tpHull* hull);

// A box as a hull, in memory of the caller's. It points into itself: fill it where it stays. Vertex
// i has the sign of bit 0, 1, 2 of i along x, y, z; faces are +x, -x, +y, -y, +z, -z.
typedef struct tpBoxHull {
    tpHull hull;
    tpVec3 vertices[8];
    double offsets[6];
} tpBoxHull;
void tpFillBoxHull(tpBoxHull* out, tpVec3 size);

// Building --------------------------------------------------------------------------------------

// Polygons of a convex surface, counter-clockwise from outside: the corners of face f are
// corners[first[f]] to corners[first[f + 1] - 1].
typedef struct tpPolygons {
    const tpVec3* vertices;
    const int32_t* corners;
    const int32_t* first;
    int vertexCount, faceCount;
} tpPolygons;

// Joins polygons to a hull. Vertices that no face uses, and those in the middle of a straight edge,
// are left out. tp_badInput if the polygons do not close.
tpResult tpHullFromPolygons(const tpAllocator* allocator, const tpPolygons* polygons, tpHull** out,
                            tpError* error);

// The convex hull of points; tp_badInput if they lie in one plane.
tpResult tpHullFromPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                          tpHull** out, tpError* error);

// The same for points that are known to `flatness` (m): those that lie below a face by no more
// belong to the face.
tpResult tpHullFromRoundedPoints(const tpAllocator* allocator, const tpVec3* points, int count,
                                 double flatness, tpHull** out, tpError* error);

// The convex polygon extruded along z.
tpResult tpHullFromPrism(const tpAllocator* allocator, const double (*points)[2], int count,
                         double length, tpHull** out, tpError* error);

// The part of a hull where normal . x <= offset for all the planes given; *out is NULL if
// nothing with volume is left.
tpResult tpClipHull(const tpAllocator* allocator, const tpHull* hull, const tpPlane* planes,
                    int count, tpHull** out, tpError* error);

#endif
