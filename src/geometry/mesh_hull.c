// The hull of a mesh, and where the mesh is its hull.
//
// A closed surface is convex if each of its triangles lies on a face of the hull of its vertices.
// It then is its hull, and collides as exactly as hulls do. A body with dents is its hull away from
// them: where all triangles lie on the hull, and no face of the hull spans a dent (a lid). Files
// carry six or seven digits: a dent that is no deeper than these leave is none, and triangles in
// one plane up to that are one face.

#include "base/error.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

// How far a triangle may lie below the hull, as a part of the body's radius.
static const double roundedPart = 1e-6;

// Bodies of more triangles than this with dents, and bodies with more lids, collide by their
// triangles alone: their hulls cost time and memory, and say little.
enum { maxDented = 20000, maxLids = 64 };

// Whether a neighbour rises over the plane of a triangle. Finds most bodies that are not convex
// without a hull.
static bool hasDent(const tpMesh* mesh, double allowed) {
    for (int32_t i = 0; i < mesh->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            if (mesh->edges[i][k] != tp_concaveEdge) {
                continue;
            }
            tpVec3 origin = mesh->vertices[mesh->triangles[i][0]];
            const int32_t* other = mesh->triangles[mesh->neighbors[i][k]];
            for (int c = 0; c < 3; ++c) {
                tpVec3 r = tpSub(mesh->vertices[other[c]], origin);
                if (tpDot(mesh->normals[i], r) > allowed) {
                    return true;
                }
            }
        }
    }
    return false;
}

// Whether a triangle is too thin for its normal to mean anything.
static bool isSliver(const tpMesh* mesh, const int32_t* t, double allowed) {
    tpVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
    tpVec3 u = tpSub(b, a), v = tpSub(c, b), w = tpSub(a, c);
    double longest = fmax(tpLength(u), fmax(tpLength(v), tpLength(w)));
    return tpLength(tpCross(u, v)) <= allowed * longest;
}

// The face of the hull on which a triangle lies; -1 for none. `vertex` is where the search starts.
static int32_t faceUnder(const tpMesh* mesh, int32_t triangle, const tpHull* hull, double allowed,
                         int32_t* vertex) {
    const int32_t* t = mesh->triangles[triangle];
    tpVec3 n = mesh->normals[triangle];
    *vertex = tpHull_Support(hull, n, *vertex);
    int32_t face = tpHull_FaceAtVertex(hull, *vertex, n);
    double lowest = INFINITY;
    for (int k = 0; k < 3; ++k) {
        lowest = fmin(lowest, tpDot(hull->normals[face], mesh->vertices[t[k]]));
    }
    bool isOn = hull->offsets[face] - lowest <= allowed && tpDot(n, hull->normals[face]) > 0.0;
    return isOn ? face : -1;
}

static double areaOf(const tpMesh* mesh, const int32_t* t) {
    tpVec3 a = mesh->vertices[t[0]];
    return 0.5 * tpLength(tpCross(tpSub(mesh->vertices[t[1]], a), tpSub(mesh->vertices[t[2]], a)));
}

static double areaOfFace(const tpHull* hull, int32_t face) {
    const int32_t* v = hull->faceVertices + hull->faceFirst[face];
    tpVec3 a = hull->vertices[v[0]], sum = tpZeroVec3();
    for (int k = 1; k + 1 < tpHull_FaceSize(hull, face); ++k) {
        sum =
            tpAdd(sum, tpCross(tpSub(hull->vertices[v[k]], a), tpSub(hull->vertices[v[k + 1]], a)));
    }
    return 0.5 * tpLength(sum);
}

static tpBounds boundsOfFace(const tpHull* hull, int32_t face) {
    const int32_t* v = hull->faceVertices + hull->faceFirst[face];
    tpBounds bounds = { hull->vertices[v[0]], hull->vertices[v[0]] };
    for (int k = 1; k < tpHull_FaceSize(hull, face); ++k) {
        bounds.lower = tpMinVec3(bounds.lower, hull->vertices[v[k]]);
        bounds.upper = tpMaxVec3(bounds.upper, hull->vertices[v[k]]);
    }
    return bounds;
}

// Which triangles lie on the hull; how much of each face of the hull they cover goes to `areas`.
// Returns their number.
static int markTriangles(const tpMesh* mesh, const tpHull* hull, double allowed, bool* isOnHull,
                         double* areas) {
    int32_t vertex = 0;
    int count = 0;
    for (int32_t i = 0; i < mesh->triangleCount; ++i) {
        int32_t face = faceUnder(mesh, i, hull, allowed, &vertex);
        isOnHull[i] = face >= 0 || isSliver(mesh, mesh->triangles[i], allowed);
        count += isOnHull[i];
        if (face >= 0) {
            areas[face] += areaOf(mesh, mesh->triangles[i]);
        }
    }
    return count;
}

// Faces of the hull that triangles do not cover. Returns their number; at most `room` are written.
static int listLids(const tpHull* hull, const double* areas, double allowed, tpBounds* lids,
                    int room) {
    int count = 0;
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        double area = areaOfFace(hull, f);
        if (areas[f] < area - 1e-6 * area - allowed * hull->radius) {
            if (count < room) {
                lids[count] = boundsOfFace(hull, f);
            }
            ++count;
        }
    }
    return count;
}

// The vertices that triangles use. Returns their number.
static int gatherVertices(const tpMesh* mesh, tpVec3* out, bool* isTaken) {
    int count = 0;
    for (int32_t i = 0; i < 3 * mesh->triangleCount; ++i) {
        int32_t v = mesh->triangles[i / 3][i % 3];
        if (!isTaken[v]) {
            isTaken[v] = true;
            out[count++] = mesh->vertices[v];
        }
    }
    return count;
}

// The hull of the mesh's vertices; NULL if there is none worth the name.
static tpResult makeHull(const tpMesh* mesh, double allowed, tpHull** out, tpError* error) {
    size_t count = (size_t)mesh->vertexCount, byteCount = count * (sizeof(tpVec3) + sizeof(bool));
    tpVec3* points = tpAllocateZeroed(&mesh->allocator, byteCount);
    if (points == NULL) {
        return tpError_OutOfMemory(error);
    }
    int used = gatherVertices(mesh, points, (bool*)(points + count));
    tpError unused;
    tpResult result =
        tpHullFromRoundedPoints(&mesh->allocator, points, used, allowed, out, &unused);
    tpRelease(&mesh->allocator, points, byteCount);
    return result == tp_outOfMemory ? tpError_OutOfMemory(error) : tp_success;
}

// Compares the mesh with its hull. False if memory ran out.
static bool compareWithHull(tpMesh* mesh, double allowed) {
    size_t areaBytes = (size_t)mesh->hull->faceCount * sizeof(double);
    size_t byteCount = maxLids * sizeof(tpBounds) + (size_t)mesh->triangleCount * sizeof(bool);
    double* areas = tpAllocateZeroed(&mesh->allocator, areaBytes);
    tpBounds* lids = tpAllocateZeroed(&mesh->allocator, byteCount);
    if (areas != NULL && lids != NULL) {
        bool* isOnHull = (bool*)(lids + maxLids);
        int onHull = markTriangles(mesh, mesh->hull, allowed, isOnHull, areas);
        mesh->isConvex = onHull == mesh->triangleCount;
        mesh->lidCount = mesh->isConvex ? 0 : listLids(mesh->hull, areas, allowed, lids, maxLids);
        mesh->lids = lids;
        mesh->isOnHull = isOnHull;
        mesh->lidBytes = byteCount;
    }
    bool isEnough = areas != NULL && lids != NULL;
    if (!isEnough) {
        tpRelease(&mesh->allocator, lids, byteCount);
    }
    tpRelease(&mesh->allocator, areas, areaBytes);
    return isEnough;
}

void tpForgetMeshHull(tpMesh* mesh) {
    tpReleaseHull(mesh->hull);
    tpRelease(&mesh->allocator, mesh->lids, mesh->lidBytes);
    mesh->hull = NULL;
    mesh->lids = NULL;
    mesh->isOnHull = NULL;
    mesh->isConvex = false;
    mesh->lidCount = 0;
}

tpResult tpFindMeshHull(tpMesh* mesh, tpError* error) {
    double allowed = roundedPart * mesh->radius;
    bool isDented = hasDent(mesh, allowed);
    // A body as thin as what is allowed has no sides to tell apart.
    if (mesh->thickness <= 16.0 * allowed || (isDented && mesh->triangleCount > maxDented)) {
        return tp_success;
    }
    tpResult result = makeHull(mesh, allowed, &mesh->hull, error);
    if (result != tp_success || mesh->hull == NULL) {
        return result;
    }
    if (!compareWithHull(mesh, 2.0 * allowed)) {
        return tpError_OutOfMemory(error);
    }
    if (mesh->lidCount > maxLids) {
        tpForgetMeshHull(mesh);
    }
    return tp_success;
}

bool tpMesh_IsHullWithin(const tpGeometry* geometry, tpBounds bounds) {
    const tpMesh* mesh = geometry->mesh;
    for (int i = 0; i < mesh->lidCount; ++i) {
        if (tpBoundsOverlap(&mesh->lids[i], &bounds)) {
            return false;
        }
    }
    int count = 0;
    tpTriangleQuery query = tpQueryTriangles(geometry, bounds);
    for (int32_t t = tpNextTriangle(&query); t >= 0; t = tpNextTriangle(&query)) {
        if (!mesh->isOnHull[t]) {
            return false;
        }
        ++count;
    }
    return count > 0;
}
