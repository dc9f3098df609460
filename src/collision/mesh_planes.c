// Planes between a convex shape and a triangle: which are apart, and where a corner is nearest.

#include "collision/mesh_query.h"

// Heights that agree to this part of the shape's size are the same to rounding.
static const double sameLevel = 1e-12;

// Planes tried between a shape and a triangle before their distance is asked for.
enum { planeTries = 4 };

static double highest(tpVec3 n, const tpVec3 corners[3]) {
    double a = tpDot(n, corners[0]), b = tpDot(n, corners[1]), c = tpDot(n, corners[2]);
    a = a > b ? a : b;
    return a > c ? a : c;
}

bool tpMeshQuery_IsBeyond(tpMeshQuery* query, double limit, const tpVec3 corners[3]) {
    tpVec3 from = query->center;
    for (int k = 0; k < planeTries; ++k) {
        double weights[3];
        tpVec3 n = tpSub(from, tpNearestOnTriangle(corners, from, weights));
        double length = tpLength(n);
        if (!(length > limit)) {
            return false;
        }
        n = tpScale(1.0 / length, n);
        from = tpMeshQuery_Lowest(query, n);
        if (tpDot(n, from) - highest(n, corners) > limit) {
            return true;
        }
    }
    return false;
}

tpPlaneAnswer tpMeshQuery_TryPlanes(tpMeshQuery* query, int32_t vertex, const tpVec3 corners[3],
                                    tpClosest* closest, double weights[3]) {
    for (int k = 0; k < planeTries; ++k) {
        tpVec3 from = vertex >= 0 ? query->corners[vertex] : query->center;
        tpVec3 q = tpNearestOnTriangle(corners, from, weights), n = tpSub(from, q);
        double length = tpLength(n);
        if (!(length > 1e-6 * query->size)) {
            return tp_planesAreOpen;
        }
        n = tpScale(1.0 / length, n);
        tpVec3 low = tpMeshQuery_Lowest(query, n);
        double apart = tpDot(n, low) - highest(n, corners);
        if (apart > query->margin) {
            return tp_planesAreBetween;
        }
        if (query->lowest == vertex) {
            *closest = (tpClosest){ length, from, q, n };
            return tp_planesAtFeatures;
        }
        if (vertex >= 0 && apart <= 0.0) {
            return tp_planesAreOpen;
        }
        vertex = query->lowest;
    }
    return tp_planesAreOpen;
}

// The two features that a start remembers, and how they lie to each other now.
typedef struct Features {
    tpVec3 a[3], b[3]; // different corners of the shape and of the triangle
    int of[3];         // which corners of the triangle
    int countA, countB;
} Features;

static Features featuresOf(const tpMeshQuery* query, const tpVec3 corners[3],
                           const tpStartCorners* start) {
    Features f = { .countA = 0, .countB = 0 };
    for (int i = 0; i < start->count; ++i) {
        bool isNewA = true, isNewB = true;
        for (int k = 0; k < i; ++k) {
            isNewA = isNewA && start->a[k] != start->a[i];
            isNewB = isNewB && start->b[k] != start->b[i];
        }
        if (isNewA) {
            f.a[f.countA++] = query->corners[start->a[i]];
        }
        if (isNewB) {
            f.of[f.countB] = start->b[i];
            f.b[f.countB++] = corners[start->b[i]];
        }
    }
    return f;
}

// Whether the lines of two edges are nearest between their ends.
static bool doEdgesCross(const Features* f, double weights[3], tpVec3* onA) {
    tpVec3 u = tpSub(f->a[1], f->a[0]), v = tpSub(f->b[1], f->b[0]), w = tpSub(f->a[0], f->b[0]);
    double uu = tpDot(u, u), uv = tpDot(u, v), vv = tpDot(v, v), uw = tpDot(u, w), vw = tpDot(v, w);
    double area = uu * vv - uv * uv, s = uv * vw - vv * uw, t = uu * vw - uv * uw;
    if (!(s > 0.0 && s < area && t > 0.0 && t < area)) {
        return false;
    }
    weights[f->of[0]] = 1.0 - t / area;
    weights[f->of[1]] = t / area;
    *onA = tpMulAdd(f->a[0], s / area, u);
    return true;
}

// Whether a corner of the triangle lies below the three corners of a face with the normal n.
static bool isBelowFace(const Features* f, tpVec3 n) {
    int above = 0;
    for (int k = 0; k < 3; ++k) {
        tpVec3 p = tpSub(f->a[k], f->b[0]), q = tpSub(f->a[(k + 1) % 3], f->b[0]);
        above += tpDot(n, tpCross(p, q)) > 0.0 ? 1 : 0;
    }
    return above == 0 || above == 3;
}

tpPlaneAnswer tpMeshQuery_TryFeatures(tpMeshQuery* query, const tpStartCorners* start,
                                      const tpVec3 corners[3], tpClosest* closest,
                                      double weights[3]) {
    Features f = featuresOf(query, corners, start);
    bool areEdges = f.countA == 2 && f.countB == 2, isFace = f.countA == 3 && f.countB == 1;
    if (!areEdges && !isFace) {
        return tpMeshQuery_TryPlanes(query, start->a[0], corners, closest, weights);
    }
    tpVec3 u = tpSub(f.a[1], f.a[0]);
    tpVec3 v = areEdges ? tpSub(f.b[1], f.b[0]) : tpSub(f.a[2], f.a[0]), n = tpCross(u, v);
    double area = tpDot(n, n);
    if (!(area > 1e-6 * tpDot(u, u) * tpDot(v, v))) {
        return tp_planesAreOpen;
    }
    n = tpScale((tpDot(n, tpSub(f.a[0], f.b[0])) > 0.0 ? 1.0 : -1.0) / sqrt(area), n);
    double low = tpDot(n, tpMeshQuery_Lowest(query, n)), high = highest(n, corners);
    double apart = low - high, same = sameLevel * query->size;
    if (apart > query->margin) {
        return tp_planesAreBetween;
    }
    // The features are those that the plane shows, and their nearest points are within them.
    bool areNearest = apart > 1e-6 * query->size && tpDot(n, f.a[0]) <= low + same &&
                      tpDot(n, f.b[0]) >= high - same;
    weights[0] = weights[1] = weights[2] = 0.0;
    tpVec3 onA;
    if (!areNearest || (areEdges ? !doEdgesCross(&f, weights, &onA) : !isBelowFace(&f, n))) {
        return tp_planesAreOpen;
    }
    if (isFace) {
        weights[f.of[0]] = 1.0;
        onA = tpMulAdd(f.b[0], apart, n);
    }
    *closest = (tpClosest){ apart, onA, tpMulAdd(onA, -apart, n), n };
    return tp_planesAtFeatures;
}
