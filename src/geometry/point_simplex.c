// The point of a small simplex nearest to the origin, by trying its faces.

#include "geometry/point_simplex.h"

// Keeps vertex i of the simplex.
static tpVec3 keepVertex(tpPointSimplex* s, int i) {
    s->w[0] = s->w[i];
    s->a[0] = s->a[i];
    s->b[0] = s->b[i];
    s->weight[0] = 1.0;
    s->count = 1;
    return s->w[0];
}

// Keeps the vertices listed (ascending) with their weights.
static void keepVertices(tpPointSimplex* s, const int* index, const double* weight, int count) {
    for (int k = 0; k < count; ++k) {
        s->w[k] = s->w[index[k]];
        s->a[k] = s->a[index[k]];
        s->b[k] = s->b[index[k]];
        s->weight[k] = weight[k];
    }
    s->count = count;
}

// What a face of the simplex offers.
typedef struct {
    tpVec3 v;
    double distance; // squared
    int index[3];
    double weight[3];
    int count;
} Candidate;

static void tryEdge(const tpPointSimplex* s, int i, int j, Candidate* best) {
    tpVec3 a = s->w[i], d = tpSub(s->w[j], a);
    double length = tpLengthSquared(d), t = length > 0.0 ? -tpDot(a, d) / length : 0.0;
    Candidate c = { .count = 1, .weight = { 1.0 } };
    if (t <= 0.0) {
        c.v = a;
        c.index[0] = i;
    } else if (t >= 1.0) {
        c.v = s->w[j];
        c.index[0] = j;
    } else {
        // From the nearer end, so that a long edge does not spoil a short distance.
        c.v = t <= 0.5 ? tpMulAdd(a, t, d) : tpMulAdd(s->w[j], t - 1.0, d);
        c.index[0] = i;
        c.index[1] = j;
        c.weight[0] = 1.0 - t;
        c.weight[1] = t;
        c.count = 2;
    }
    c.distance = tpLengthSquared(c.v);
    if (c.distance < best->distance) {
        *best = c;
    }
}

static void tryTriangle(const tpPointSimplex* s, int i, int j, int k, Candidate* best) {
    tpVec3 a = s->w[i], b = s->w[j], c = s->w[k];
    tpVec3 ab = tpSub(b, a), ac = tpSub(c, a), n = tpCross(ab, ac);
    double area = tpLengthSquared(n);
    if (area > 1e-30 * tpLengthSquared(ab) * tpLengthSquared(ac)) {
        double u = tpDot(n, tpCross(b, c)), v = tpDot(n, tpCross(c, a)),
               w = tpDot(n, tpCross(a, b));
        if (u > 0.0 && v > 0.0 && w > 0.0) {
            Candidate face = { .count = 3, .index = { i, j, k } };
            double sum = u + v + w;
            face.weight[0] = u / sum;
            face.weight[1] = v / sum;
            face.weight[2] = w / sum;
            face.v = tpScale(tpDot(n, a) / area, n);
            face.distance = tpLengthSquared(face.v);
            if (face.distance < best->distance) {
                *best = face;
            }
            return;
        }
    }
    tryEdge(s, i, j, best);
    tryEdge(s, i, k, best);
    tryEdge(s, j, k, best);
}

// Whether the tetrahedron holds the origin; its weights are then set.
static bool holdsOrigin(tpPointSimplex* s) {
    double whole = 0.0, part[4];
    static const int faces[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    for (int k = 0; k < 4; ++k) {
        const int* f = faces[k];
        part[k] = tpDot(s->w[f[0]], tpCross(s->w[f[1]], s->w[f[2]]));
        whole += part[k];
    }
    for (int k = 0; k < 4; ++k) {
        if (!(part[k] * whole > 0.0)) {
            return false;
        }
        s->weight[k] = part[k] / whole;
    }
    return true;
}

tpVec3 tpReducePoints(tpPointSimplex* s) {
    if (s->count == 1) {
        return keepVertex(s, 0);
    }
    Candidate best = { .distance = INFINITY };
    if (s->count == 2) {
        tryEdge(s, 0, 1, &best);
    } else if (s->count == 3) {
        tryTriangle(s, 0, 1, 2, &best);
    } else {
        if (holdsOrigin(s)) {
            return tpZeroVec3();
        }
        tryTriangle(s, 0, 1, 2, &best);
        tryTriangle(s, 0, 1, 3, &best);
        tryTriangle(s, 0, 2, 3, &best);
        tryTriangle(s, 1, 2, 3, &best);
    }
    keepVertices(s, best.index, best.weight, best.count);
    return best.v;
}
