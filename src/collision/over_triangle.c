// Contacts of a convex polyhedron of few corners over one triangle of a surface: what
// tpCollideOverFace finds with the triangle as the reference, with all that is known here already.
// The corners are in the frame of the surface, and most sides of a triangle cut nothing.

#include "collision/mesh_query.h"

#include "base/constants.h"

// A face has at most all corners; each side of the triangle adds one.
enum { maxCorners = tp_fewCorners + 4 };

// A corner of the clipped polygon. Lines from 0 on are half-edges of the shape, ~k is side k of the
// triangle.
typedef struct Corner {
    tpVec3 point;
    int32_t vertex; // of the shape; -1 for crossings; -2 - k for corner k of the triangle
    int32_t after;  // line to the next corner
} Corner;

typedef struct TriangleClip {
    const tpMeshQuery* query;
    const tpTriangle* triangle;
    double offset; // of its plane
    double margin, rim;
    tpContactList* out;
} TriangleClip;

static void emit(const TriangleClip* clip, tpVec3 point, double gap, uint64_t feature) {
    tpVec3 n = clip->triangle->normal;
    tpContactPoint contact = { point, tpMulAdd(point, -gap, n), n, gap, feature };
    tpContactList_Add(clip->out, &contact);
}

// Where side k of the triangle looks, across its plane, as long as the side.
static tpVec3 outwardOf(const tpTriangle* t, int k) {
    return tpCross(tpSub(t->corners[(k + 1) % 3], t->corners[k]), t->normal);
}

// The corner of the triangle at which two sides meet.
static int cornerOfSides(int side, int other) {
    return (side + 1) % 3 == other ? other : side;
}

// Side k cuts the polygon: Sutherland and Hodgman, with lines remembered. The polygon and `room`
// change places if it does.
static int cutPolygon(const TriangleClip* clip, int k, Corner** polygon, int count, Corner** room) {
    const Corner* in = *polygon;
    Corner* out = *room;
    tpVec3 outward = outwardOf(clip->triangle, k);
    double limit = tpDot(outward, clip->triangle->corners[k]);
    double rim = clip->rim * tpLength(outward), beyond[maxCorners];
    int within = 0;
    for (int i = 0; i < count; ++i) {
        beyond[i] = tpDot(outward, in[i].point) - limit;
        within += beyond[i] <= rim ? 1 : 0;
    }
    if (within == count || within == 0) {
        return within;
    }
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        int next = i + 1 < count ? i + 1 : 0;
        double s = beyond[i], t = beyond[next];
        bool isIn = s <= rim, isNextIn = t <= rim;
        if (isIn) {
            out[kept++] = in[i];
        }
        if (isIn == isNextIn) {
            continue;
        }
        // A corner on the rim stands for the crossing; leaving, the polygon goes on along the side.
        if (isIn && s >= -rim) {
            out[kept - 1].after = ~k;
        }
        if ((isIn ? s : t) < -rim) {
            tpVec3 way = tpSub(in[next].point, in[i].point);
            Corner corner = { tpMulAdd(in[i].point, s / (s - t), way), -1, in[i].after };
            if (in[i].after < 0) {
                corner.vertex = -2 - cornerOfSides(k, ~in[i].after);
            }
            corner.after = isIn ? ~k : in[i].after;
            out[kept++] = corner;
        }
    }
    *room = *polygon;
    *polygon = out;
    return kept;
}

static uint64_t featureOf(const Corner* corner, int32_t before) {
    if (corner->vertex >= 0) {
        return tpMakeFeature(tp_vertexFace, corner->vertex, 0);
    }
    if (corner->vertex <= -2) {
        return tpMakeFeature(tp_faceVertex, 0, -2 - corner->vertex);
    }
    int32_t edge = corner->after >= 0 ? corner->after : before;
    int32_t side = corner->after >= 0 ? ~before : ~corner->after;
    return tpMakeFeature(tp_edgeEdge, edge / 2, side);
}

// The face of the shape that looks down, clipped by the sides of the triangle. Marks its corners.
static void emitPolygon(const TriangleClip* clip, int32_t face, bool isTaken[tp_fewCorners]) {
    const tpHull* hull = clip->query->core;
    Corner buffers[2][maxCorners], *polygon = buffers[0], *room = buffers[1];
    int count = 0;
    int32_t first = hull->faceEdges[face], edge = first;
    do {
        int32_t vertex = hull->halfEdges[edge].origin;
        polygon[count++] = (Corner){ clip->query->corners[vertex], vertex, edge };
        isTaken[vertex] = true;
        edge = hull->halfEdges[edge].next;
    } while (edge != first && count < tp_fewCorners);
    for (int k = 0; k < 3 && count > 0; ++k) {
        count = cutPolygon(clip, k, &polygon, count, &room);
    }
    for (int i = 0; i < count; ++i) {
        double gap = tpDot(clip->triangle->normal, polygon[i].point) - clip->offset;
        if (gap <= clip->margin) {
            int32_t before = polygon[i > 0 ? i - 1 : count - 1].after;
            emit(clip, polygon[i].point, gap, featureOf(&polygon[i], before));
        }
    }
}

static bool isOverTriangle(const TriangleClip* clip, tpVec3 point) {
    for (int k = 0; k < 3; ++k) {
        tpVec3 outward = outwardOf(clip->triangle, k);
        tpVec3 way = tpSub(point, clip->triangle->corners[k]);
        if (tpDot(outward, way) > clip->rim * tpLength(outward)) {
            return false;
        }
    }
    return true;
}

// Whether a vertex has a face that looks down by 20 degrees or more. The far side of a thin plate
// does not count.
static bool looksDown(const tpHull* hull, int32_t vertex, tpVec3 down) {
    for (int32_t k = hull->neighborFirst[vertex]; k < hull->neighborFirst[vertex + 1]; ++k) {
        if (tpDot(hull->normals[hull->neighborFaces[k]], down) >= TP_FACING_SINE) {
            return true;
        }
    }
    return false;
}

void tpMeshQuery_CollideOver(const tpMeshQuery* query, const tpTriangle* triangle, double offset,
                             double radius, int32_t lowest, tpContactList* out) {
    TriangleClip clip = {
        query, triangle, offset, query->margin + query->radius, TP_RIM_TOLERANCE * radius, out
    };
    bool isTaken[tp_fewCorners] = { false };
    tpVec3 n = triangle->normal;
    tpVec3 down = tpNeg(tpMulMV(query->difference.rotation, n));
    emitPolygon(&clip, tpHull_FaceAtVertex(query->core, lowest, down), isTaken);
    // Other corners that hang over the triangle.
    for (int32_t i = 0; i < query->cornerCount; ++i) {
        double gap = tpDot(n, query->corners[i]) - offset;
        if (!isTaken[i] && gap <= clip.margin && isOverTriangle(&clip, query->corners[i]) &&
            looksDown(query->core, i, down)) {
            emit(&clip, query->corners[i], gap, tpMakeFeature(tp_vertexFace, i, 0));
        }
    }
}
