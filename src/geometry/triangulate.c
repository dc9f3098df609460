// Surfaces as triangles.
//
// A round convex shape is drawn through its support map: a sphere of directions, made of triangles,
// is mapped to the points farthest along them. Neighbouring directions go to neighbouring points,
// so the triangles of the sphere become those of a polyhedron inscribed in the shape. Directions
// that share a corner or an edge crowd there, which keeps what is sharp sharp; triangles that
// shrink to nothing on the way are left out.

#include "geometry/triangulate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/height_field.h"
#include "geometry/hull.h"
#include "geometry/intersection.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "math/elementary.h"

enum {
    slices = 64, // directions around the axis of the sphere
    stacks = 40  // from pole to pole
};

static bool allocateSurface(const tpAllocator* allocator, int vertexCount, int triangleCount,
                            tpSurface* out) {
    *out = (tpSurface){ .allocator = *allocator };
    out->vertices = tpAllocate(allocator, (size_t)vertexCount * sizeof(tpVec3));
    out->triangles = tpAllocate(allocator, (size_t)triangleCount * sizeof(*out->triangles));
    out->vertexCount = vertexCount;
    out->triangleCount = triangleCount;
    if (out->vertices == NULL || out->triangles == NULL) {
        tpReleaseSurface(out);
        return false;
    }
    return true;
}

// Faces have at least three corners and are convex: fans. A hull of F faces and E edges has
// 2 E - 2 F of these triangles.
static tpResult triangulateHull(const tpHull* hull, const tpAllocator* allocator, tpSurface* out) {
    int triangleCount = 2 * (hull->edgeCount - hull->faceCount);
    if (!allocateSurface(allocator, hull->vertexCount, triangleCount, out)) {
        return tp_outOfMemory;
    }
    memcpy(out->vertices, hull->vertices, (size_t)hull->vertexCount * sizeof(tpVec3));
    int count = 0;
    for (int f = 0; f < hull->faceCount; ++f) {
        const int32_t* corners = hull->faceVertices + hull->faceFirst[f];
        for (int k = 2; k < tpHull_FaceSize(hull, f); ++k) {
            int32_t* triangle = out->triangles[count++];
            triangle[0] = corners[0];
            triangle[1] = corners[k - 1];
            triangle[2] = corners[k];
        }
    }
    return tp_success;
}

static tpResult triangulateMesh(const tpMesh* mesh, const tpAllocator* allocator, tpSurface* out) {
    if (!allocateSurface(allocator, mesh->vertexCount, mesh->triangleCount, out)) {
        return tp_outOfMemory;
    }
    memcpy(out->vertices, mesh->vertices, (size_t)mesh->vertexCount * sizeof(tpVec3));
    memcpy(out->triangles, mesh->triangles, (size_t)mesh->triangleCount * sizeof(*out->triangles));
    return tp_success;
}

static tpResult triangulateField(const tpGeometry* geometry, const tpAllocator* allocator,
                                 tpSurface* out) {
    const tpHeightField* field = geometry->heightField;
    int triangleCount = tpTriangleCount(geometry);
    if (!allocateSurface(allocator, field->columns * field->rows, triangleCount, out)) {
        return tp_outOfMemory;
    }
    for (int row = 0; row < field->rows; ++row) {
        for (int column = 0; column < field->columns; ++column) {
            out->vertices[row * field->columns + column] = tpHeightField_Point(field, column, row);
        }
    }
    for (int i = 0; i < triangleCount; ++i) {
        tpTriangle triangle;
        tpHeightField_Corners(field, i, &triangle);
        memcpy(out->triangles[i], triangle.vertices, sizeof(triangle.vertices));
    }
    return tp_success;
}

// Keeps a triangle that has some area.
static void putTriangle(tpSurface* surface, int a, int b, int c, double least) {
    const tpVec3* v = surface->vertices;
    tpVec3 normal = tpCross(tpSub(v[b], v[a]), tpSub(v[c], v[a]));
    if (tpLength(normal) > least) {
        int32_t* triangle = surface->triangles[surface->triangleCount++];
        triangle[0] = a;
        triangle[1] = b;
        triangle[2] = c;
    }
}

// Vertices: the two poles, then rings of `slices` from the top down.
static tpResult triangulateRound(const tpGeometry* geometry, const tpAllocator* allocator,
                                 tpSurface* out) {
    int vertexCount = 2 + (stacks - 1) * slices;
    int capacity = 2 * slices * (stacks - 1);
    if (!allocateSurface(allocator, vertexCount, capacity, out)) {
        return tp_outOfMemory;
    }
    const double turn = 8.0 * tpAtan(1.0);
    out->vertices[0] = tpGeometry_Support(geometry, tpMakeVec3(0.0, 0.0, 1.0));
    out->vertices[1] = tpGeometry_Support(geometry, tpMakeVec3(0.0, 0.0, -1.0));
    for (int i = 1; i < stacks; ++i) {
        double polar = 0.5 * turn * i / stacks;
        for (int k = 0; k < slices; ++k) {
            double around = turn * k / slices;
            tpVec3 direction = tpMakeVec3(tpSin(polar) * tpCos(around),
                                          tpSin(polar) * tpSin(around), tpCos(polar));
            out->vertices[2 + (i - 1) * slices + k] = tpGeometry_Support(geometry, direction);
        }
    }
    double size = tpGeometry_RadiusAbout(geometry, geometry->pose.position);
    double least = 1e-12 * size * size;
    out->triangleCount = 0;
    for (int k = 0; k < slices; ++k) {
        int next = (k + 1) % slices, last = 2 + (stacks - 2) * slices;
        putTriangle(out, 0, 2 + k, 2 + next, least);
        putTriangle(out, 1, last + next, last + k, least);
        for (int i = 0; i < stacks - 2; ++i) {
            int upper = 2 + i * slices, lower = upper + slices;
            putTriangle(out, upper + k, lower + k, lower + next, least);
            putTriangle(out, upper + k, lower + next, upper + next, least);
        }
    }
    // The surface is released by its counts, so its block has to be of exactly that size.
    tpSurface exact;
    bool fits = allocateSurface(allocator, vertexCount, out->triangleCount, &exact);
    if (fits) {
        memcpy(exact.vertices, out->vertices, (size_t)vertexCount * sizeof(tpVec3));
        memcpy(exact.triangles, out->triangles,
               (size_t)exact.triangleCount * sizeof(*exact.triangles));
    }
    out->triangleCount = capacity;
    tpReleaseSurface(out);
    *out = exact;
    return fits ? tp_success : tp_outOfMemory;
}

tpResult tpTriangulate(const tpGeometry* geometry, const tpAllocator* allocator, tpSurface* out) {
    *out = (tpSurface){ .allocator = *allocator };
    switch (geometry->type) {
    case tp_prismShape:
    case tp_hullShape:
        return triangulateHull(geometry->hull, allocator, out);
    case tp_meshShape:
        return triangulateMesh(geometry->mesh, allocator, out);
    case tp_heightFieldShape:
        return triangulateField(geometry, allocator, out);
    case tp_planeShape:
        return tp_unsupported;
    case tp_intersectionShape:
        if (geometry->intersection->hull != NULL) {
            return triangulateHull(geometry->intersection->hull, allocator, out);
        }
        return triangulateRound(geometry, allocator, out);
    default:
        return triangulateRound(geometry, allocator, out);
    }
}
