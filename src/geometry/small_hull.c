// Polyhedra that are made on the spot. A triangle is a flat hull with two faces, whose half-edges
// are laid out below.

#include "geometry/small_hull.h"

#include <string.h>

// Half-edges 2k run from corner k to k + 1 around face 0, 2k + 1 back around face 1.
static const tpHalfEdge triangleHalfEdges[6] = { { 0, 0, 2 }, { 1, 1, 5 }, { 1, 0, 4 },
                                                 { 2, 1, 1 }, { 2, 0, 0 }, { 0, 1, 3 } };
static const int32_t triangleVertexEdges[3] = { 0, 2, 4 };
static const int32_t triangleFaceEdges[2] = { 0, 1 };
static const int32_t triangleFaceFirst[3] = { 0, 3, 6 };
static const int32_t triangleFaceVertices[6] = { 0, 1, 2, 0, 2, 1 };
static const int32_t triangleNeighborFirst[4] = { 0, 2, 4, 6 };
static const int32_t triangleNeighbors[6] = { 1, 2, 2, 0, 0, 1 };
static const int32_t triangleNeighborFaces[6] = { 0, 1, 0, 1, 0, 1 };
static const int32_t segmentNeighborFirst[3] = { 0, 1, 2 };
static const int32_t segmentNeighbors[2] = { 1, 0 };
static const int32_t pointNeighborFirst[2] = { 0, 0 };

void tpFillPoint(tpSmallHull* out, tpVec3 point) {
    memset(&out->hull, 0, sizeof out->hull);
    out->vertices[0] = point;
    out->hull.vertexCount = 1;
    out->hull.vertices = out->vertices;
    out->hull.neighborFirst = pointNeighborFirst;
    out->hull.center = point;
}

void tpFillSegment(tpSmallHull* out, tpVec3 from, tpVec3 to) {
    memset(&out->hull, 0, sizeof out->hull);
    out->vertices[0] = from;
    out->vertices[1] = to;
    out->hull.vertexCount = 2;
    out->hull.vertices = out->vertices;
    out->hull.neighborFirst = segmentNeighborFirst;
    out->hull.neighbors = segmentNeighbors;
    out->hull.center = tpScale(0.5, tpAdd(from, to));
    out->hull.radius = 0.5 * tpDistanceBetween(from, to);
}

void tpFillTriangle(tpSmallHull* out, const tpVec3 corners[3], tpVec3 normal) {
    tpHull* hull = &out->hull;
    memset(hull, 0, sizeof *hull);
    tpVec3 center = tpScale(1.0 / 3.0, tpAdd(corners[0], tpAdd(corners[1], corners[2])));
    for (int k = 0; k < 3; ++k) {
        out->vertices[k] = corners[k];
        hull->radius = fmax(hull->radius, tpDistanceBetween(corners[k], center));
    }
    out->normals[0] = normal;
    out->normals[1] = tpNeg(normal);
    out->offsets[0] = tpDot(normal, center);
    out->offsets[1] = -out->offsets[0];
    hull->vertexCount = 3;
    hull->edgeCount = 3;
    hull->faceCount = 2;
    hull->vertices = out->vertices;
    hull->normals = out->normals;
    hull->offsets = out->offsets;
    hull->halfEdges = triangleHalfEdges;
    hull->vertexEdges = triangleVertexEdges;
    hull->faceEdges = triangleFaceEdges;
    hull->faceFirst = triangleFaceFirst;
    hull->faceVertices = triangleFaceVertices;
    hull->neighborFirst = triangleNeighborFirst;
    hull->neighbors = triangleNeighbors;
    hull->neighborFaces = triangleNeighborFaces;
    hull->center = center;
}
