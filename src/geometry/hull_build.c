// From loose polygons to a hull: corners that bend nothing are dropped, half-edges are joined with
// their twins, planes are fitted, and everything lands in one block of memory.

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/edge_map.h"
#include "geometry/hull.h"
#include "geometry/mass.h"

// Polygons on their way to a hull. All arrays share one block.
typedef struct Draft {
    int32_t* corners; // compacted in place
    int32_t* first;   // [faceCount + 1]
    int32_t* valence; // [vertexCount] faces at each vertex
    int32_t* number;  // [vertexCount] new number of each vertex, -1: not used
    int faceCount, cornerCount, vertexCount;
    int usedCount; // vertices in use
    void* block;
    size_t byteCount;
} Draft;

static bool createDraft(Draft* draft, const tpAllocator* allocator, const tpPolygons* polygons) {
    int cornerCount = polygons->first[polygons->faceCount];
    size_t numbers =
        (size_t)cornerCount + (size_t)polygons->faceCount + 1 + 2 * (size_t)polygons->vertexCount;
    draft->byteCount = numbers * sizeof(int32_t);
    draft->block = tpAllocate(allocator, draft->byteCount);
    if (draft->block == NULL) {
        return false;
    }
    draft->corners = draft->block;
    draft->first = draft->corners + cornerCount;
    draft->valence = draft->first + polygons->faceCount + 1;
    draft->number = draft->valence + polygons->vertexCount;
    draft->faceCount = polygons->faceCount;
    draft->cornerCount = cornerCount;
    draft->vertexCount = polygons->vertexCount;
    memcpy(draft->corners, polygons->corners, (size_t)cornerCount * sizeof(int32_t));
    memcpy(draft->first, polygons->first, ((size_t)polygons->faceCount + 1) * sizeof(int32_t));
    return true;
}

// Drops corners in fewer than three faces (they lie within an edge) and faces with fewer than three
// corners. True where something was dropped.
static bool dropCorners(Draft* draft) {
    memset(draft->valence, 0, (size_t)draft->vertexCount * sizeof(int32_t));
    for (int i = 0; i < draft->cornerCount; ++i) {
        ++draft->valence[draft->corners[i]];
    }
    int faceCount = 0, cornerCount = 0;
    int32_t begin = 0;
    for (int f = 0; f < draft->faceCount; ++f) {
        int32_t end = draft->first[f + 1];
        int start = cornerCount;
        for (int32_t i = begin; i < end; ++i) {
            if (draft->valence[draft->corners[i]] >= 3) {
                draft->corners[cornerCount++] = draft->corners[i];
            }
        }
        begin = end;
        if (cornerCount - start < 3) {
            cornerCount = start;
        } else {
            draft->first[faceCount++] = start;
        }
    }
    bool changed = cornerCount != draft->cornerCount;
    draft->first[faceCount] = cornerCount;
    draft->faceCount = faceCount;
    draft->cornerCount = cornerCount;
    return changed;
}

// New numbers for the vertices in use, in their old order.
static void numberVertices(Draft* draft) {
    draft->usedCount = 0;
    for (int v = 0; v < draft->vertexCount; ++v) {
        draft->number[v] = draft->valence[v] > 0 ? draft->usedCount++ : -1;
    }
    for (int i = 0; i < draft->cornerCount; ++i) {
        draft->corners[i] = draft->number[draft->corners[i]];
    }
}

// Hands out parts of the hull's block, each aligned for doubles.
static void* takePart(unsigned char** cursor, size_t count, size_t size) {
    void* part = *cursor;
    *cursor += (count * size + 15) & ~(size_t)15;
    return part;
}

// The same arrays as in tpHull, while they may still be written.
typedef struct HullArrays {
    tpVec3* vertices;
    tpVec3* normals;
    double* offsets;
    tpHalfEdge* halfEdges;
    int32_t *vertexEdges, *faceEdges, *faceFirst, *faceVertices, *neighborFirst, *neighbors;
    int32_t* neighborFaces;
} HullArrays;

static size_t layOut(HullArrays* arrays, unsigned char* memory, const Draft* draft) {
    size_t vertexCount = (size_t)draft->usedCount, faceCount = (size_t)draft->faceCount;
    size_t cornerCount = (size_t)draft->cornerCount;
    unsigned char* cursor = memory;
    arrays->vertices = takePart(&cursor, vertexCount, sizeof(tpVec3));
    arrays->normals = takePart(&cursor, faceCount, sizeof(tpVec3));
    arrays->offsets = takePart(&cursor, faceCount, sizeof(double));
    arrays->halfEdges = takePart(&cursor, cornerCount, sizeof(tpHalfEdge));
    arrays->vertexEdges = takePart(&cursor, vertexCount, sizeof(int32_t));
    arrays->faceEdges = takePart(&cursor, faceCount, sizeof(int32_t));
    arrays->faceFirst = takePart(&cursor, faceCount + 1, sizeof(int32_t));
    arrays->faceVertices = takePart(&cursor, cornerCount, sizeof(int32_t));
    arrays->neighborFirst = takePart(&cursor, vertexCount + 1, sizeof(int32_t));
    arrays->neighbors = takePart(&cursor, cornerCount, sizeof(int32_t));
    arrays->neighborFaces = takePart(&cursor, cornerCount, sizeof(int32_t));
    return (size_t)(cursor - memory);
}

static tpHull* allocateHull(const tpAllocator* allocator, const Draft* draft, HullArrays* arrays) {
    size_t head = (sizeof(tpHull) + 63) & ~(size_t)63;
    size_t vertexCount = (size_t)draft->usedCount, faceCount = (size_t)draft->faceCount;
    size_t cornerCount = (size_t)draft->cornerCount;
    // Eleven arrays, each padded to 16 bytes.
    size_t body = vertexCount * (sizeof(tpVec3) + 2 * sizeof(int32_t)) +
                  faceCount * (sizeof(tpVec3) + sizeof(double) + 2 * sizeof(int32_t)) +
                  cornerCount * (sizeof(tpHalfEdge) + 3 * sizeof(int32_t)) + 2 * sizeof(int32_t) +
                  (size_t)11 * 16;
    tpHull* hull = tpAllocateZeroed(allocator, head + body);
    if (hull == NULL) {
        return NULL;
    }
    size_t used = layOut(arrays, (unsigned char*)hull + head, draft);
    TP_ASSERT(used <= body);
    hull->byteCount = head + body;
    hull->allocator = *allocator;
    atomic_init(&hull->references, 1);
    hull->vertexCount = draft->usedCount;
    hull->faceCount = draft->faceCount;
    hull->edgeCount = draft->cornerCount / 2;
    hull->vertices = arrays->vertices;
    hull->normals = arrays->normals;
    hull->offsets = arrays->offsets;
    hull->halfEdges = arrays->halfEdges;
    hull->vertexEdges = arrays->vertexEdges;
    hull->faceEdges = arrays->faceEdges;
    hull->faceFirst = arrays->faceFirst;
    hull->faceVertices = arrays->faceVertices;
    hull->neighborFirst = arrays->neighborFirst;
    hull->neighbors = arrays->neighbors;
    hull->neighborFaces = arrays->neighborFaces;
    return hull;
}

// Numbers the half-edges and joins them. False if an edge has no twin or is used twice.
static bool joinEdges(tpEdgeMap* map, const Draft* draft, const HullArrays* arrays) {
    // An edge gets its number when its first direction is met; the twin finds it in the map.
    int edgeCount = 0;
    for (int f = 0; f < draft->faceCount; ++f) {
        int begin = draft->first[f], end = draft->first[f + 1];
        for (int i = begin; i < end; ++i) {
            int32_t from = draft->corners[i];
            int32_t to = draft->corners[i + 1 < end ? i + 1 : begin];
            int32_t twin = tpEdgeMap_Find(map, to, from);
            int32_t halfEdge = twin >= 0 ? twin ^ 1 : 2 * edgeCount++;
            if (halfEdge >= draft->cornerCount || tpEdgeMap_Add(map, from, to, halfEdge) >= 0) {
                return false;
            }
        }
    }
    if (2 * edgeCount != draft->cornerCount) {
        return false;
    }
    for (int f = 0; f < draft->faceCount; ++f) {
        int begin = draft->first[f], end = draft->first[f + 1];
        for (int i = begin; i < end; ++i) {
            int32_t from = draft->corners[i];
            int32_t to = draft->corners[i + 1 < end ? i + 1 : begin];
            int32_t after = draft->corners[begin + (i + 2 - begin) % (end - begin)];
            int32_t halfEdge = tpEdgeMap_Find(map, from, to);
            arrays->halfEdges[halfEdge] = (tpHalfEdge){ from, f, tpEdgeMap_Find(map, to, after) };
            arrays->vertexEdges[from] = halfEdge;
            arrays->faceVertices[i] = from;
        }
        arrays->faceFirst[f] = begin;
        arrays->faceEdges[f] =
            tpEdgeMap_Find(map, draft->corners[begin], draft->corners[begin + 1]);
    }
    arrays->faceFirst[draft->faceCount] = draft->cornerCount;
    return true;
}

// Lists the neighbours of each vertex in the order of its fan. False if the faces at a vertex do
// not form one fan.
static bool listNeighbors(const tpHull* hull, const Draft* draft, const HullArrays* arrays) {
    int32_t total = 0;
    for (int32_t old = 0; old < draft->vertexCount; ++old) {
        int32_t v = draft->number[old];
        if (v < 0) {
            continue;
        }
        arrays->neighborFirst[v] = total;
        int32_t h = hull->vertexEdges[v];
        for (int32_t k = 0; k < draft->valence[old]; ++k) {
            arrays->neighbors[total] = tpHull_Target(hull, h);
            arrays->neighborFaces[total++] = hull->halfEdges[h].face;
            h = tpHull_NextAround(hull, h);
        }
        if (h != hull->vertexEdges[v]) {
            return false;
        }
    }
    arrays->neighborFirst[hull->vertexCount] = total;
    return true;
}

// Newell's normal, taken relative to the first corner: exact enough for corners that are coplanar
// to rounding, and an average for those that are not quite.
static tpVec3 newellNormal(const tpHull* hull, int32_t face) {
    int32_t begin = hull->faceFirst[face], end = hull->faceFirst[face + 1];
    tpVec3 origin = hull->vertices[hull->faceVertices[begin]];
    tpVec3 sum = tpZeroVec3();
    for (int32_t i = begin + 1; i + 1 < end; ++i) {
        tpVec3 a = tpSub(hull->vertices[hull->faceVertices[i]], origin);
        tpVec3 b = tpSub(hull->vertices[hull->faceVertices[i + 1]], origin);
        sum = tpAdd(sum, tpCross(a, b));
    }
    return tpNormalize(sum);
}

// Planes, pushed outward where rounding leaves a vertex outside.
static void fitPlanes(const tpHull* hull, const HullArrays* arrays) {
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        tpVec3 normal = newellNormal(hull, f);
        int32_t farthest = tpHull_Support(hull, normal, hull->faceVertices[hull->faceFirst[f]]);
        arrays->normals[f] = normal;
        arrays->offsets[f] = tpDot(normal, hull->vertices[farthest]);
    }
}

// Volume integrals over a fan of triangles for each face.
static tpResult integrateHull(const tpAllocator* allocator, tpHull* hull, tpError* error) {
    int triangleCount = 2 * hull->edgeCount - 2 * hull->faceCount;
    size_t byteCount = (size_t)triangleCount * sizeof(int32_t[3]);
    int32_t(*triangles)[3] = tpAllocate(allocator, byteCount);
    if (triangles == NULL) {
        return tpError_OutOfMemory(error);
    }
    int count = 0;
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        const int32_t* corners = hull->faceVertices + hull->faceFirst[f];
        for (int32_t k = 1; k + 1 < tpHull_FaceSize(hull, f); ++k) {
            triangles[count][0] = corners[0];
            triangles[count][1] = corners[k];
            triangles[count][2] = corners[k + 1];
            ++count;
        }
    }
    hull->mass = tpIntegrateTriangles(hull->vertices, (const int32_t(*)[3])triangles, count);
    tpRelease(allocator, triangles, byteCount);
    if (!(hull->mass.mass > 0.0)) {
        return tpError_Set(error, tp_badInput, "the polyhedron has no volume");
    }
    return tp_success;
}

static void measure(tpHull* hull) {
    hull->center = hull->mass.center;
    hull->bounds = (tpBounds){ hull->vertices[0], hull->vertices[0] };
    hull->radius = 0.0;
    for (int32_t i = 0; i < hull->vertexCount; ++i) {
        hull->bounds.lower = tpMinVec3(hull->bounds.lower, hull->vertices[i]);
        hull->bounds.upper = tpMaxVec3(hull->bounds.upper, hull->vertices[i]);
        hull->radius = fmax(hull->radius, tpDistanceBetween(hull->vertices[i], hull->center));
    }
    hull->innerRadius = hull->radius;
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        double inside = hull->offsets[f] - tpDot(hull->normals[f], hull->center);
        hull->innerRadius = fmax(0.0, fmin(hull->innerRadius, inside));
    }
}

// Fills a hull whose arrays are laid out.
static tpResult assemble(tpHull* hull, const HullArrays* arrays, const tpPolygons* polygons,
                         const Draft* draft, tpError* error) {
    for (int v = 0; v < draft->vertexCount; ++v) {
        if (draft->number[v] >= 0) {
            arrays->vertices[draft->number[v]] = polygons->vertices[v];
        }
    }
    tpEdgeMap map;
    if (!tpCreateEdgeMap(&map, &hull->allocator, draft->cornerCount)) {
        return tpError_OutOfMemory(error);
    }
    bool joined = joinEdges(&map, draft, arrays);
    tpDestroyEdgeMap(&map);
    if (!joined || !listNeighbors(hull, draft, arrays) ||
        hull->vertexCount - hull->edgeCount + hull->faceCount != 2) {
        return tpError_Set(error, tp_badInput, "the faces do not close to a convex polyhedron");
    }
    fitPlanes(hull, arrays);
    tpResult result = integrateHull(&hull->allocator, hull, error);
    if (result == tp_success) {
        measure(hull);
    }
    return result;
}

tpResult tpHullFromPolygons(const tpAllocator* allocator, const tpPolygons* polygons, tpHull** out,
                            tpError* error) {
    *out = NULL;
    Draft draft;
    if (!createDraft(&draft, allocator, polygons)) {
        return tpError_OutOfMemory(error);
    }
    while (dropCorners(&draft)) {
    }
    numberVertices(&draft);
    tpResult result = tp_badInput;
    if (draft.faceCount < 4 || draft.cornerCount % 2 != 0) {
        tpError_Set(error, tp_badInput, "the faces do not close to a convex polyhedron");
    } else {
        HullArrays arrays;
        tpHull* hull = allocateHull(allocator, &draft, &arrays);
        result = hull != NULL ? assemble(hull, &arrays, polygons, &draft, error)
                              : tpError_OutOfMemory(error);
        if (result == tp_success) {
            *out = hull;
        } else {
            tpReleaseHull(hull);
        }
    }
    tpRelease(allocator, draft.block, draft.byteCount);
    return result;
}
