// Triangles of meshes and height fields through one face: fetch one, or all that may touch a box.
//
//     tpTriangleQuery query = tpQueryTriangles(geometry, bounds);
//     for (int32_t t = tpNextTriangle(&query); t >= 0; t = tpNextTriangle(&query)) { ... }
//
// Everything is in the shape's own frame. Triangles come in the same order every time.

#ifndef TIPPE_SRC_GEOMETRY_TRIANGLES_H
#define TIPPE_SRC_GEOMETRY_TRIANGLES_H

#include "tippe/geometry.h"

// How the surface bends at an edge. Only convex edges (and the corners between them) can be touched
// from outside by something wider than a point; at a flat one the normal must be the triangle's.
typedef enum tpEdgeKind { tp_convexEdge, tp_flatEdge, tp_concaveEdge } tpEdgeKind;

typedef struct tpTriangle {
    tpVec3 corners[3];    // counter-clockwise from outside
    tpVec3 normal;        // unit, outward
    int32_t vertices[3];  // numbers of the corners in the whole surface
    int32_t neighbors[3]; // triangle across the edge from corner k to k + 1; -1 at a border
    uint8_t edges[3];     // tpEdgeKind of that edge; a border counts as convex
} tpTriangle;

// Whether the surface around a corner is flat, as far as the triangle knows.
static inline bool tpIsFlatCorner(const tpTriangle* triangle, int k) {
    return triangle->edges[k] == tp_flatEdge && triangle->edges[(k + 2) % 3] == tp_flatEdge;
}

// Number of triangles of a mesh or height field; 0 for other shapes.
int32_t tpTriangleCount(const tpGeometry* geometry);
tpTriangle tpGetTriangle(const tpGeometry* geometry, int32_t index);

// The same in two parts: corners, vertices and normal, which decide whether a triangle matters at
// all, and then its neighbours and edges.
void tpGetCorners(const tpGeometry* geometry, int32_t index, tpTriangle* out);
void tpAddNeighbors(const tpGeometry* geometry, int32_t index, tpTriangle* triangle);

// A triangle seen from behind: what is outside of it was inside, convex edges are concave.
tpTriangle tpFlipTriangle(const tpTriangle* triangle);

// The point of a triangle nearest to p, as weights of its corners; weights that are exactly zero
// tell on which edge or corner it lies.
tpVec3 tpNearestOnTriangle(const tpVec3 corners[3], tpVec3 p, double weights[3]);

// The triangle nearest to a point (shape's frame) and the nearest point of it; -1 if none is nearer
// than `limit`.
int32_t tpNearestTriangle(const tpGeometry* geometry, tpVec3 p, double limit, tpVec3* nearest);

// Whether a point is inside a closed mesh, or below a height field.
bool tpIsInsideSurface(const tpGeometry* geometry, tpVec3 p);

typedef struct tpTriangleQuery {
    const tpGeometry* geometry;
    tpBounds bounds;
    int32_t node, position, end; // meshes: the node to visit, and a leaf's range
    int32_t columns[2], rows[2]; // height fields: cells that overlap, last one excluded
    int32_t column, row, half;
} tpTriangleQuery;

// Triangles whose bounds overlap `bounds` (closed boxes: touching counts).
tpTriangleQuery tpQueryTriangles(const tpGeometry* geometry, tpBounds bounds);
int32_t tpNextTriangle(tpTriangleQuery* query); // -1 at the end

// The first triangle that the ray origin + t direction meets for 0 <= t <= limit, from either side;
// -1 for none. `t` and `normal` (towards the ray's origin) are of the hit.
int32_t tpCastRayAtTriangles(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                             double limit, double* t, tpVec3* normal);

// Möller-Trumbore: where the ray meets one triangle from either side; false if it does not.
bool tpCastRayAtTriangle(const tpVec3 corners[3], tpVec3 origin, tpVec3 direction, double limit,
                         double* t);

// The kind of an edge that runs along `edge` in the triangle with unit normal n, whose neighbour
// has the unit normal m.
tpEdgeKind tpClassifyEdge(tpVec3 edge, tpVec3 n, tpVec3 m);

#endif
