// Directions of edges and corners of a surface, from the triangles around them.

#include "collision/triangle_cone.h"

// Directions this far outside of their range (as a sine) still belong to it.
static const double coneSlack = 1e-3;

static const int maxFan = 128;

tpTriangle tpSurfaceView_Triangle(const tpSurfaceView* view, int32_t index) {
    tpTriangle t = tpGetTriangle(view->geometry, index);
    return view->isInside ? tpFlipTriangle(&t) : t;
}

// Bits of the corners that carry a point say which part it is.
tpTrianglePart tpPartOfWeights(const double weights[3], int* k) {
    static const tpTrianglePart parts[8] = { tp_triangleInside, tp_triangleCorner,
                                             tp_triangleCorner, tp_triangleEdge,
                                             tp_triangleCorner, tp_triangleEdge,
                                             tp_triangleEdge,   tp_triangleInside };
    static const int numbers[8] = { 0, 0, 1, 0, 2, 2, 1, 0 };
    int mask =
        (weights[0] != 0.0 ? 1 : 0) | (weights[1] != 0.0 ? 2 : 0) | (weights[2] != 0.0 ? 4 : 0);
    *k = numbers[mask];
    return parts[mask];
}

static tpVec3 edgeDirection(const tpTriangle* t, int k) {
    return tpNormalize(tpSub(t->corners[(k + 1) % 3], t->corners[k]));
}

// Between the two normals at a convex edge: no farther than either face's inside begins.
static bool edgePushes(const tpSurfaceView* view, const tpTriangle* t, int k, tpVec3 n) {
    tpVec3 along = edgeDirection(t, k);
    // Towards the inside of this face, seen from the edge.
    if (tpDot(n, tpCross(t->normal, along)) > coneSlack) {
        return false;
    }
    if (t->neighbors[k] < 0) {
        return tpDot(n, t->normal) > -coneSlack;
    }
    tpTriangle other = tpSurfaceView_Triangle(view, t->neighbors[k]);
    // The edge runs the other way around the neighbour.
    return tpDot(n, tpCross(along, other.normal)) <= coneSlack &&
           tpDot(n, tpAdd(t->normal, other.normal)) > 0.0;
}

// The edge of a triangle that starts at a vertex; -1 if the vertex is not one of its corners.
static int edgeFrom(const tpTriangle* t, int32_t vertex) {
    for (int k = 0; k < 3; ++k) {
        if (t->vertices[k] == vertex) {
            return k;
        }
    }
    return -1;
}

// At a corner no edge may lead towards n, and none of the faces around may look away from it.
static bool cornerPushes(const tpSurfaceView* view, const tpTriangle* triangle, int32_t index,
                         int k, tpVec3 n) {
    int32_t vertex = triangle->vertices[k], current = index;
    tpTriangle t = *triangle;
    double most = -1.0;
    for (int i = 0; i < maxFan; ++i) {
        int edge = edgeFrom(&t, vertex);
        if (edge < 0) {
            return false;
        }
        int before = (edge + 2) % 3;
        most = fmax(most, tpDot(n, t.normal));
        if (tpDot(n, edgeDirection(&t, edge)) > coneSlack ||
            tpDot(n, edgeDirection(&t, before)) < -coneSlack) {
            return false;
        }
        // On across the edge that leads to the vertex.
        current = t.neighbors[before];
        if (current < 0 || current == index) {
            break;
        }
        t = tpSurfaceView_Triangle(view, current);
    }
    return most > 0.0;
}

bool tpTrianglePushes(const tpSurfaceView* view, const tpTriangle* triangle, int32_t index,
                      tpTrianglePart part, int k, tpVec3 n) {
    if (tpDot(n, triangle->normal) >= 1.0 - 1e-9) {
        return true;
    }
    switch (part) {
    case tp_triangleEdge:
        return triangle->edges[k] == tp_convexEdge && edgePushes(view, triangle, k, n);
    case tp_triangleCorner:
        return cornerPushes(view, triangle, index, k, n);
    default:
        return false;
    }
}

int32_t tpTriangleEdgeId(const tpSurfaceView* view, const tpTriangle* triangle, int32_t index,
                         int k) {
    // Edge k of a triangle seen from behind is edge 2 - k from the front.
    int32_t neighbor = triangle->neighbors[k];
    if (neighbor < 0 || neighbor > index) {
        return 3 * index + (view->isInside ? 2 - k : k);
    }
    tpTriangle other = tpSurfaceView_Triangle(view, neighbor);
    int edge = edgeFrom(&other, triangle->vertices[(k + 1) % 3]);
    edge = edge >= 0 ? edge : 0;
    return 3 * neighbor + (view->isInside ? 2 - edge : edge);
}
