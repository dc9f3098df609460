// A surface of triangles, seen from outside or from inside, and which directions its triangles push
// in.
//
// A closed surface pushes along the normals of its faces, at convex edges along the directions
// between the normals of both faces, at corners along those that no face or edge around would push
// nearer. At flat and concave edges there is nothing between the faces' own normals. A contact with
// another direction comes from looking at one triangle alone; its neighbour knows better.

#ifndef TIPPE_SRC_COLLISION_TRIANGLE_CONE_H
#define TIPPE_SRC_COLLISION_TRIANGLE_CONE_H

#include "geometry/triangles.h"

// The triangles of a mesh or height field. From inside normals point inwards.
typedef struct tpSurfaceView {
    const tpGeometry* geometry;
    bool isInside;
} tpSurfaceView;

// A triangle as the view shows it.
tpTriangle tpSurfaceView_Triangle(const tpSurfaceView* view, int32_t index);

// A feature of a triangle: its inside, edge 0 to 2 (from corner k to k + 1), or corner 0 to 2.
typedef enum tpTrianglePart {
    tp_triangleInside,
    tp_triangleEdge,
    tp_triangleCorner
} tpTrianglePart;

// The feature on which a point with these weights of the corners lies: those that are not zero.
tpTrianglePart tpPartOfWeights(const double weights[3], int* k);

// Whether `n` (unit, frame of the shape) is one of the directions of a feature of the triangle.
bool tpTrianglePushes(const tpSurfaceView* view, const tpTriangle* triangle, int32_t index,
                      tpTrianglePart part, int k, tpVec3 n);

// Numbers of edges in the whole surface: the same from both triangles and from both sides.
int32_t tpTriangleEdgeId(const tpSurfaceView* view, const tpTriangle* triangle, int32_t index,
                         int k);

#endif
