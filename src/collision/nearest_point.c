// The point of a Minkowski difference nearest to the origin, by GJK [GilbertJohnsonKeerthi88].
//
// A simplex of at most four corners holds the nearest point found so far; the corner farthest
// towards the origin joins it, and what does not carry the nearest point leaves. Two bounds close
// in on the distance: the length of the nearest point from above, and the farthest corner along it
// from below. They meet exactly for polyhedra, when that corner is already in the simplex.
//
// Coherence: the search starts from the simplex of the last query, whose corners have moved with
// the bodies. When the same features are still the nearest, one round proves it.

#include "collision/difference.h"

#include <float.h>

// Bounds that agree to this fraction of the size have met: some units in the last place.
static const double meetTolerance = 1e-14;

// Nearer than this fraction of the size, the nearest point is nothing but rounding.
static const double touchTolerance = 1e-15;

static const int maxRounds = 128;

tpDifference tpMakeDifference(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB) {
    tpDifference d;
    tpQuat inverse = tpConjugate(poseA.rotation);
    d.a = a;
    d.rotation = tpMatFromQuat(tpMulQQ(inverse, poseB.rotation));
    d.offset = tpRotate(inverse, tpSub(poseB.position, poseA.position));
    tpDifference_PutB(&d, b);
    return d;
}

void tpDifference_PutB(tpDifference* d, const tpHull* b) {
    const tpHull* a = d->a;
    d->b = b;
    tpVec3 centerB = tpAdd(d->offset, tpMulMV(d->rotation, b->center));
    d->size = a->radius + b->radius + tpDistanceBetween(a->center, centerB) +
              tpMaxPart(tpAbsVec3(a->center)) + tpMaxPart(tpAbsVec3(b->center));
}

static void keep(tpCornerSimplex* s, int i, int j, int k, double wi, double wj, double wk) {
    tpCorner a = s->corners[i], b = s->corners[j], c = s->corners[k];
    s->corners[0] = a;
    s->corners[1] = b;
    s->corners[2] = c;
    s->weights[0] = wi;
    s->weights[1] = wj;
    s->weights[2] = wk;
    s->count = wk > 0.0 ? 3 : wj > 0.0 ? 2 : 1;
}

// Nearest point of the segment between corners i and j.
static tpVec3 nearestOnSegment(const tpDifference* d, tpCornerSimplex* s, int i, int j) {
    tpVec3 a = s->corners[i].point, b = s->corners[j].point;
    tpVec3 ab = tpDifference_Edge(d, &s->corners[i], &s->corners[j]);
    double ta = -tpDot(a, ab), tb = tpDot(b, ab);
    if (ta <= 0.0) {
        keep(s, i, i, i, 1.0, 0.0, 0.0);
        return a;
    }
    if (tb <= 0.0) {
        keep(s, j, j, j, 1.0, 0.0, 0.0);
        return b;
    }
    double t = ta / (ta + tb);
    keep(s, i, j, j, 1.0 - t, t, 0.0);
    return t < 0.5 ? tpMulAdd(a, t, ab) : tpMulAdd(b, t - 1.0, ab);
}

// Nearest point of the triangle of corners i, j, k, by the regions of its corners, edges and inside
// [Ericson04, sec. 5.1.5].
static tpVec3 nearestOnTriangle(const tpDifference* d, tpCornerSimplex* s, int i, int j, int k) {
    tpVec3 a = s->corners[i].point, b = s->corners[j].point, c = s->corners[k].point;
    tpVec3 ab = tpDifference_Edge(d, &s->corners[i], &s->corners[j]);
    tpVec3 ac = tpDifference_Edge(d, &s->corners[i], &s->corners[k]);
    tpVec3 bc = tpDifference_Edge(d, &s->corners[j], &s->corners[k]);
    double abA = -tpDot(ab, a), acA = -tpDot(ac, a);
    if (abA <= 0.0 && acA <= 0.0) {
        keep(s, i, i, i, 1.0, 0.0, 0.0);
        return a;
    }
    double abB = tpDot(ab, b), bcB = -tpDot(bc, b);
    if (abB <= 0.0 && bcB <= 0.0) {
        keep(s, j, j, j, 1.0, 0.0, 0.0);
        return b;
    }
    double acC = tpDot(ac, c), bcC = tpDot(bc, c);
    if (acC <= 0.0 && bcC <= 0.0) {
        keep(s, k, k, k, 1.0, 0.0, 0.0);
        return c;
    }
    // Weights of the inside, as areas seen along the normal.
    tpVec3 n = tpCross(ab, ac);
    double wa = tpDot(n, tpCross(b, c)), wb = tpDot(n, tpCross(c, a)), wc = tpDot(n, tpCross(a, b));
    double nn = tpDot(n, n);
    bool isThin = nn <= 1e-28 * tpDot(ab, ab) * tpDot(ac, ac);
    if (!isThin && wa > 0.0 && wb > 0.0 && wc > 0.0) {
        double sum = wa + wb + wc;
        keep(s, i, j, k, wa / sum, wb / sum, wc / sum);
        return tpScale(tpDot(n, a) / nn, n);
    }
    // On one of the edges that do not see the inside: the nearest of their points.
    tpCornerSimplex best = *s, trial;
    tpVec3 point = a;
    double least = DBL_MAX;
    const int edges[3][2] = { { j, k }, { k, i }, { i, j } };
    const double weights[3] = { wa, wb, wc };
    for (int e = 0; e < 3; ++e) {
        if (weights[e] > 0.0 && !isThin) {
            continue;
        }
        trial = *s;
        tpVec3 p = nearestOnSegment(d, &trial, edges[e][0], edges[e][1]);
        double length = tpLengthSquared(p);
        if (length < least) {
            least = length;
            best = trial;
            point = p;
        }
    }
    *s = best;
    return point;
}

// Nearest point of the tetrahedron; all four corners stay where it contains the origin.
static tpVec3 nearestOnTetrahedron(const tpDifference* d, tpCornerSimplex* s) {
    static const int faces[4][4] = {
        { 0, 1, 2, 3 }, { 0, 3, 1, 2 }, { 0, 2, 3, 1 }, { 1, 3, 2, 0 }
    };
    tpCornerSimplex best = *s;
    tpVec3 point = tpZeroVec3();
    double least = DBL_MAX;
    for (int f = 0; f < 4; ++f) {
        const tpCorner* c = s->corners;
        const int* v = faces[f];
        tpVec3 n = tpCross(tpDifference_Edge(d, &c[v[0]], &c[v[1]]),
                           tpDifference_Edge(d, &c[v[0]], &c[v[2]]));
        tpVec3 toApex = tpDifference_Edge(d, &c[v[0]], &c[v[3]]);
        double apex = tpDot(n, toApex), origin = -tpDot(n, c[v[0]].point);
        // A flat tetrahedron has no inside: its faces are asked in any case.
        double flat = 1e-14 * tpLength(n) * d->size;
        bool isInside = fabs(apex) > flat && (apex > 0.0) == (origin >= 0.0);
        if (isInside) {
            continue;
        }
        tpCornerSimplex trial = *s;
        tpVec3 p = nearestOnTriangle(d, &trial, v[0], v[1], v[2]);
        double length = tpLengthSquared(p);
        if (length < least) {
            least = length;
            best = trial;
            point = p;
        }
    }
    *s = best;
    return point;
}

static tpVec3 nearestOnSimplex(const tpDifference* d, tpCornerSimplex* s) {
    switch (s->count) {
    case 1:
        s->weights[0] = 1.0;
        return s->corners[0].point;
    case 2:
        return nearestOnSegment(d, s, 0, 1);
    case 3:
        return nearestOnTriangle(d, s, 0, 1, 2);
    default:
        return nearestOnTetrahedron(d, s);
    }
}

static bool hasCorner(const tpCornerSimplex* s, const tpCorner* corner) {
    for (int i = 0; i < s->count; ++i) {
        if (s->corners[i].a == corner->a && s->corners[i].b == corner->b) {
            return true;
        }
    }
    return false;
}

void tpFindNearest(const tpDifference* d, const tpCornerSimplex* start, double limit,
                   tpNearestCorners* out) {
    tpCornerSimplex* s = &out->simplex;
    *s = *start;
    if (s->count == 0) {
        s->corners[0] = tpDifference_Corner(d, 0, 0);
        s->count = 1;
    }
    out->point = nearestOnSimplex(d, s);
    out->direction = tpZeroVec3();
    out->lower = -DBL_MAX;
    out->isInside = s->count == 4;
    double touch = touchTolerance * d->size;
    for (int round = 0; round < maxRounds && !out->isInside; ++round) {
        tpVec3 v = out->point;
        double lengthSquared = tpLengthSquared(v);
        if (lengthSquared <= touch * touch) {
            out->isInside = true;
            return;
        }
        // The bound from below; both bounds have met, or rounding keeps them apart.
        tpCorner w = tpDifference_Lowest(d, v, s->corners[0]);
        double length = sqrt(lengthSquared);
        double lower = tpDot(v, w.point) / length;
        if (lower > out->lower) {
            out->lower = lower;
            out->direction = tpScale(1.0 / length, v);
        }
        if (out->lower > limit || length - lower <= meetTolerance * d->size || hasCorner(s, &w)) {
            return;
        }
        tpCornerSimplex next = *s;
        next.corners[next.count++] = w;
        tpVec3 point = nearestOnSimplex(d, &next);
        out->isInside = next.count == 4;
        if (!out->isInside && tpLengthSquared(point) >= lengthSquared) {
            return;
        }
        *s = next;
        out->point = point;
    }
}
