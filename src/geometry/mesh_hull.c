// Meshes that are convex: their hull is the same body, and collides as exactly as hulls do.
//
// A closed surface is convex if each of its triangles lies on a face of the hull of its vertices.
// Files carry six or seven digits: a dent that is no deeper than these leave is none, and triangles
// in one plane up to that are one face.

#include "base/error.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

// How far a triangle may lie below the hull, as a part of the body's radius.
static const double roundedPart = 1e-6;

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

static bool liesOnHull(const tpMesh* mesh, const tpHull* hull, double allowed) {
    int32_t vertex = 0;
    for (int32_t i = 0; i < mesh->triangleCount; ++i) {
        const int32_t* t = mesh->triangles[i];
        tpVec3 n = mesh->normals[i];
        if (isSliver(mesh, t, allowed)) {
            continue;
        }
        vertex = tpHull_Support(hull, n, vertex);
        int32_t face = tpHull_FaceAtVertex(hull, vertex, n);
        double lowest = INFINITY;
        for (int k = 0; k < 3; ++k) {
            lowest = fmin(lowest, tpDot(hull->normals[face], mesh->vertices[t[k]]));
        }
        if (hull->offsets[face] - lowest > allowed || tpDot(n, hull->normals[face]) <= 0.0) {
            return false;
        }
    }
    return true;
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

tpResult tpFindMeshHull(const tpMesh* mesh, tpHull** out, tpError* error) {
    double allowed = roundedPart * mesh->radius;
    *out = NULL;
    // A body as thin as what is allowed has no sides to tell apart.
    if (mesh->thickness <= 16.0 * allowed || hasDent(mesh, allowed)) {
        return tp_success;
    }
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
    if (result == tp_outOfMemory) {
        return tpError_OutOfMemory(error);
    }
    if (*out != NULL && !liesOnHull(mesh, *out, 2.0 * allowed)) {
        tpReleaseHull(*out);
        *out = NULL;
    }
    return tp_success;
}
