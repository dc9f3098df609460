// Distance of two segments, which may be points [Ericson04, sec. 5.1.9].
//
// The nearest points of the two lines, each clamped to its segment, and the other then taken anew.
// For nearly parallel lines the first guess is poor, so ends are tried as well, and the best is
// kept.

#include "collision/segments.h"

#include <float.h>

static double clamp01(double t) {
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

static double footOn(tpVec3 point, tpVec3 p, tpVec3 u) {
    double uu = tpDot(u, u);
    return uu > 0.0 ? clamp01(tpDot(tpSub(point, p), u) / uu) : 0.0;
}

void tpNearestOnSegments(tpVec3 p, tpVec3 u, tpVec3 q, tpVec3 v, double* s, double* t) {
    double uu = tpDot(u, u), vv = tpDot(v, v), uv = tpDot(u, v);
    tpVec3 r = tpSub(p, q);
    double denominator = tpLengthSquared(tpCross(u, v));
    double inner =
        denominator > 0.0 ? clamp01((uv * tpDot(v, r) - vv * tpDot(u, r)) / denominator) : 0.0;
    // Candidates for s; t follows, and s once more from t.
    double starts[3] = { inner, 0.0, 1.0 }, least = DBL_MAX;
    int count = denominator > 1e-6 * uu * vv ? 1 : 3;
    for (int k = 0; k < count; ++k) {
        double tt = footOn(tpMulAdd(p, starts[k], u), q, v);
        double ss = footOn(tpMulAdd(q, tt, v), p, u);
        tt = footOn(tpMulAdd(p, ss, u), q, v);
        double d = tpLengthSquared(tpSub(tpMulAdd(p, ss, u), tpMulAdd(q, tt, v)));
        if (d < least) {
            least = d;
            *s = ss;
            *t = tt;
        }
    }
}

void tpClosestSegments(tpVec3 p, tpVec3 u, tpVec3 q, tpVec3 v, tpClosest* out) {
    double s, t;
    tpNearestOnSegments(p, u, q, v, &s, &t);
    out->pointA = tpMulAdd(p, s, u);
    out->pointB = tpMulAdd(q, t, v);
    tpVec3 between = tpSub(out->pointA, out->pointB);
    out->distance = tpLength(between);
    double size = tpLength(u) + tpLength(v) + tpLength(tpSub(p, q));
    if (out->distance > 1e-14 * size) {
        out->normal = tpNormalize(between);
        return;
    }
    // They meet: across both, or across the one there is, or anywhere.
    tpVec3 n = tpCross(u, v), o, longer = tpLengthSquared(u) >= tpLengthSquared(v) ? u : v;
    if (tpLengthSquared(n) <= 1e-24 * tpLengthSquared(u) * tpLengthSquared(v)) {
        longer = tpNormalize(longer);
        if (tpLengthSquared(longer) > 0.0) {
            tpMakeTangents(longer, &n, &o);
        } else {
            n = tpMakeVec3(0.0, 0.0, 1.0);
        }
    }
    out->normal = tpNormalize(n);
}
