// Meshes: what comes in is checked to be a closed surface seen from outside, and its neighbours,
// normals, edges and tree are worked out once.

#include "geometry/mesh.h"

#include <string.h>

#include "base/error.h"
#include "geometry/edge_map.h"
#include "geometry/mass.h"
#include "geometry/shape_parts.h"

typedef struct MeshArrays {
    tpVec3* vertices;
    int32_t (*triangles)[3];
    int32_t (*neighbors)[3];
    uint8_t (*edges)[3];
    tpVec3* normals;
    tpTreeNode* nodes;
    int32_t* order;
} MeshArrays;

static void* takePart(unsigned char** cursor, size_t count, size_t size) {
    void* part = *cursor;
    *cursor += (count * size + 15) & ~(size_t)15;
    return part;
}

static size_t padded(size_t count, size_t size) {
    return (count * size + 15) & ~(size_t)15;
}

static tpMesh* allocateMesh(const tpAllocator* allocator, int vertexCount, int triangleCount,
                            MeshArrays* arrays) {
    size_t v = (size_t)vertexCount, t = (size_t)triangleCount, n = 2 * t;
    size_t head = padded(1, sizeof(tpMesh));
    size_t byteCount = head + padded(v, sizeof(tpVec3)) + 2 * padded(t, sizeof(int32_t[3])) +
                       padded(t, 3) + padded(t, sizeof(tpVec3)) + padded(n, sizeof(tpTreeNode)) +
                       padded(t, sizeof(int32_t));
    tpMesh* mesh = tpAllocateZeroed(allocator, byteCount);
    if (mesh == NULL) {
        return NULL;
    }
    unsigned char* cursor = (unsigned char*)mesh + head;
    arrays->vertices = takePart(&cursor, v, sizeof(tpVec3));
    arrays->normals = takePart(&cursor, t, sizeof(tpVec3));
    arrays->nodes = takePart(&cursor, n, sizeof(tpTreeNode));
    arrays->triangles = takePart(&cursor, t, sizeof(int32_t[3]));
    arrays->neighbors = takePart(&cursor, t, sizeof(int32_t[3]));
    arrays->order = takePart(&cursor, t, sizeof(int32_t));
    arrays->edges = takePart(&cursor, t, 3);
    mesh->vertexCount = vertexCount;
    mesh->triangleCount = triangleCount;
    mesh->vertices = arrays->vertices;
    mesh->triangles = (const int32_t(*)[3])arrays->triangles;
    mesh->neighbors = (const int32_t(*)[3])arrays->neighbors;
    mesh->edges = (const uint8_t(*)[3])arrays->edges;
    mesh->normals = arrays->normals;
    mesh->tree.nodes = arrays->nodes;
    mesh->tree.order = arrays->order;
    mesh->byteCount = byteCount;
    mesh->allocator = *allocator;
    atomic_init(&mesh->references, 1);
    return mesh;
}

static tpResult checkInput(const tpVec3* vertices, int vertexCount, const int32_t (*triangles)[3],
                           int triangleCount, bool mayBeOpen, tpError* error) {
    if (mayBeOpen && (triangleCount < 1 || vertexCount < 3)) {
        return tpError_Set(error, tp_badInput, "a surface needs a triangle");
    }
    if (!mayBeOpen && (triangleCount < 4 || vertexCount < 4)) {
        return tpError_Set(error, tp_badInput,
                           "a mesh needs at least 4 vertices and 4 triangles, not %d and %d",
                           vertexCount, triangleCount);
    }
    for (int i = 0; i < vertexCount; ++i) {
        if (!tpIsFiniteVec3(vertices[i])) {
            return tpError_Set(error, tp_badInput, "vertex %d is not finite", i);
        }
    }
    for (int i = 0; i < triangleCount; ++i) {
        const int32_t* t = triangles[i];
        for (int k = 0; k < 3; ++k) {
            if (t[k] < 0 || t[k] >= vertexCount) {
                return tpError_Set(error, tp_badInput,
                                   "triangle %d uses vertex %d, but there are %d vertices", i, t[k],
                                   vertexCount);
            }
        }
        if (!mayBeOpen && (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])) {
            return tpError_Set(error, tp_badInput, "triangle %d uses the same vertex twice", i);
        }
    }
    return tp_success;
}

static tpResult edgeError(const tpMesh* mesh, int32_t from, int32_t to, const char* what,
                          tpError* error) {
    tpVec3 a = mesh->vertices[from], b = mesh->vertices[to];
    return tpError_Set(
        error, tp_badInput,
        "the edge from vertex %d (%.6g, %.6g, %.6g) to vertex %d (%.6g, %.6g, %.6g) %s", from, a.x,
        a.y, a.z, to, b.x, b.y, b.z, what);
}

// Every edge must be run once in each direction.
static tpResult findNeighbors(const tpMesh* mesh, const MeshArrays* arrays, tpError* error) {
    tpEdgeMap map;
    if (!tpCreateEdgeMap(&map, &mesh->allocator, 3 * mesh->triangleCount)) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = tp_success;
    for (int i = 0; i < mesh->triangleCount && result == tp_success; ++i) {
        for (int k = 0; k < 3 && result == tp_success; ++k) {
            int32_t from = mesh->triangles[i][k], to = mesh->triangles[i][(k + 1) % 3];
            if (tpEdgeMap_Add(&map, from, to, i) >= 0) {
                result =
                    edgeError(mesh, from, to,
                              "is run twice in the same direction: more than two triangles meet "
                              "there, or one is turned over",
                              error);
            }
        }
    }
    for (int i = 0; i < mesh->triangleCount && result == tp_success; ++i) {
        for (int k = 0; k < 3 && result == tp_success; ++k) {
            int32_t from = mesh->triangles[i][k], to = mesh->triangles[i][(k + 1) % 3];
            arrays->neighbors[i][k] = tpEdgeMap_Find(&map, to, from);
            if (arrays->neighbors[i][k] < 0) {
                result = edgeError(mesh, from, to,
                                   "belongs to one triangle only: the surface is open", error);
            }
        }
    }
    tpDestroyEdgeMap(&map);
    return result;
}

static tpVec3 triangleNormal(const tpMesh* mesh, int i) {
    const int32_t* t = mesh->triangles[i];
    tpVec3 a = mesh->vertices[t[0]];
    return tpNormalize(tpCross(tpSub(mesh->vertices[t[1]], a), tpSub(mesh->vertices[t[2]], a)));
}

static void findNormals(const tpMesh* mesh, const MeshArrays* arrays) {
    for (int i = 0; i < mesh->triangleCount; ++i) {
        arrays->normals[i] = triangleNormal(mesh, i);
    }
    // A triangle without area takes the normal of a neighbour that has one.
    for (int i = 0; i < mesh->triangleCount; ++i) {
        for (int k = 0; k < 3 && tpLengthSquared(arrays->normals[i]) == 0.0; ++k) {
            arrays->normals[i] = arrays->normals[mesh->neighbors[i][k]];
        }
    }
}

static void classifyEdges(const tpMesh* mesh, const MeshArrays* arrays) {
    for (int i = 0; i < mesh->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            int32_t from = mesh->triangles[i][k], to = mesh->triangles[i][(k + 1) % 3];
            int32_t neighbor = mesh->neighbors[i][k];
            tpVec3 edge = tpSub(mesh->vertices[to], mesh->vertices[from]);
            arrays->edges[i][k] =
                (uint8_t)tpClassifyEdge(edge, mesh->normals[i], mesh->normals[neighbor]);
        }
    }
}

static tpResult buildTree(tpMesh* mesh, const MeshArrays* arrays, tpError* error) {
    size_t byteCount = (size_t)mesh->triangleCount * sizeof(tpBounds);
    tpBounds* bounds = tpAllocate(&mesh->allocator, byteCount);
    if (bounds == NULL) {
        return tpError_OutOfMemory(error);
    }
    for (int i = 0; i < mesh->triangleCount; ++i) {
        const int32_t* t = mesh->triangles[i];
        tpVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
        bounds[i] = (tpBounds){ tpMinVec3(a, tpMinVec3(b, c)), tpMaxVec3(a, tpMaxVec3(b, c)) };
    }
    tpBuildTriangleTree(bounds, mesh->triangleCount, arrays->nodes, arrays->order,
                        &mesh->tree.nodeCount);
    mesh->bounds = arrays->nodes[0].bounds;
    tpRelease(&mesh->allocator, bounds, byteCount);
    return tp_success;
}

static tpResult measure(tpMesh* mesh, tpError* error) {
    mesh->mass = tpIntegrateTriangles(mesh->vertices, mesh->triangles, mesh->triangleCount);
    tpResult result = tpCheckMeshParts(mesh, error);
    if (result != tp_success) {
        return result;
    }
    if (!(mesh->mass.mass > 0.0)) {
        return tpError_Set(error, tp_badInput, "the surface encloses no volume");
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        tpVec3 corner = mesh->vertices[mesh->triangles[i / 3][i % 3]];
        mesh->radius = fmax(mesh->radius, tpDistanceBetween(corner, mesh->mass.center));
    }
    double area = 0.0;
    for (int i = 0; i < mesh->triangleCount; ++i) {
        const int32_t* t = mesh->triangles[i];
        tpVec3 p = mesh->vertices[t[0]];
        area +=
            0.5 * tpLength(tpCross(tpSub(mesh->vertices[t[1]], p), tpSub(mesh->vertices[t[2]], p)));
    }
    mesh->thickness = mesh->mass.mass / area;
    return tp_success;
}

// What is only seen: every triangle is its own neighbour, and the surface has no inside.
static void leaveAlone(tpMesh* mesh, const MeshArrays* arrays) {
    for (int i = 0; i < mesh->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            arrays->neighbors[i][k] = i;
            mesh->radius = fmax(mesh->radius, tpLength(mesh->vertices[mesh->triangles[i][k]]));
        }
    }
}

tpResult tpCreateMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                      const int32_t (*triangles)[3], int triangleCount, bool mayBeOpen,
                      tpMesh** out, tpError* error) {
    *out = NULL;
    tpResult result = checkInput(vertices, vertexCount, triangles, triangleCount, mayBeOpen, error);
    if (result != tp_success) {
        return result;
    }
    MeshArrays arrays;
    tpMesh* mesh = allocateMesh(allocator, vertexCount, triangleCount, &arrays);
    if (mesh == NULL) {
        return tpError_OutOfMemory(error);
    }
    memcpy(arrays.vertices, vertices, (size_t)vertexCount * sizeof(tpVec3));
    memcpy(arrays.triangles, triangles, (size_t)triangleCount * sizeof(int32_t[3]));
    mesh->isOpen = mayBeOpen;
    if (mayBeOpen) {
        leaveAlone(mesh, &arrays);
    } else {
        result = findNeighbors(mesh, &arrays, error);
    }
    if (result == tp_success && !mayBeOpen) {
        result = measure(mesh, error);
    }
    if (result == tp_success) {
        findNormals(mesh, &arrays);
        classifyEdges(mesh, &arrays);
        result = buildTree(mesh, &arrays, error);
    }
    if (result == tp_success && !mayBeOpen) {
        result = tpFindMeshHull(mesh, error);
    }
    if (result == tp_success) {
        *out = mesh;
    } else {
        tpReleaseMesh(mesh);
    }
    return result;
}

tpMesh* tpRetainMesh(tpMesh* mesh) {
    atomic_fetch_add_explicit(&mesh->references, 1, memory_order_relaxed);
    return mesh;
}

void tpReleaseMesh(tpMesh* mesh) {
    if (mesh != NULL &&
        atomic_fetch_sub_explicit(&mesh->references, 1, memory_order_acq_rel) == 1) {
        tpAllocator allocator = mesh->allocator;
        tpForgetMeshHull(mesh);
        tpRelease(&allocator, mesh, mesh->byteCount);
    }
}

// The row of the table --------------------------------------------------------------------------

static tpResult makeMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                         const int32_t (*triangles)[3], int triangleCount, bool mayBeOpen,
                         tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = tpCheckShapePose(pose, error);
    tpMesh* mesh;
    if (result == tp_success) {
        result = tpCreateMesh(allocator, vertices, vertexCount, triangles, triangleCount, mayBeOpen,
                              &mesh, error);
    }
    if (result == tp_success) {
        *out = (tpGeometry){ .type = tp_meshShape, .pose = pose, .mesh = mesh };
    }
    return result;
}

tpResult tpMakeMesh(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                    const int32_t (*triangles)[3], int triangleCount, tpPose pose, tpGeometry* out,
                    tpError* error) {
    return makeMesh(allocator, vertices, vertexCount, triangles, triangleCount, false, pose, out,
                    error);
}

tpResult tpMakeOpenSurface(const tpAllocator* allocator, const tpVec3* vertices, int vertexCount,
                           const int32_t (*triangles)[3], int triangleCount, tpPose pose,
                           tpGeometry* out, tpError* error) {
    return makeMesh(allocator, vertices, vertexCount, triangles, triangleCount, true, pose, out,
                    error);
}

static const void* sharedMesh(const tpGeometry* geometry) {
    return geometry->mesh;
}

static void retainMesh(const tpGeometry* geometry) {
    tpRetainMesh(geometry->mesh);
}

static void releaseMesh(tpGeometry* geometry) {
    tpReleaseMesh(geometry->mesh);
    geometry->mesh = NULL;
}

static tpBounds meshBounds(const tpGeometry* geometry, tpPose pose) {
    return tpTransformBounds(geometry->mesh->bounds, pose);
}

static tpResult meshMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    *out = geometry->mesh->mass;
    return tp_success;
}

// Exact about the centre of mass, elsewhere a bound.
static double meshRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpDistanceBetween(point, geometry->mesh->mass.center) + geometry->mesh->radius;
}

static double meshInnerRadius(const tpGeometry* geometry) {
    return geometry->mesh->thickness;
}

const tpShapeClass tp_meshClass = {
    .name = "mesh",
    .kind = tp_meshKind,
    .shared = sharedMesh,
    .retain = retainMesh,
    .release = releaseMesh,
    .bounds = meshBounds,
    .mass = meshMass,
    .radius = meshRadius,
    .innerRadius = meshInnerRadius,
};
