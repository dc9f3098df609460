// Derivatives of closest points, normal and gap with respect to both poses, by the implicit
// function theorem on the conditions that smooth_newton.c solves.
//
// A body that moves carries its surface: at velocity (v, omega) a point moves by v + omega x r and
// the normal by omega x n, and both may slide over the surface by P u and Q u. The slides u, v
// follow from keeping the normals opposite and a - b along them, for each of the twelve velocities
// at once. The gap needs none of this: by the envelope theorem it changes as if the points were
// fixed to their bodies.

#include "collision/smooth_body.h"

// A length that suits the curvature of one body; any positive one gives the same derivatives.
static double measure(const tpCurvature* c, double gap) {
    double k = isfinite(c->along) ? c->along : 0.0;
    if (isfinite(c->across) && c->across > k) {
        k = c->across;
    }
    double length = k > 0.0 ? 1.0 / k : fabs(gap);
    return length > 0.0 && isfinite(length) ? length : 1.0;
}

// Velocity number k of a body at a point r from its origin, and of a normal.
static tpVec3 carriedPoint(int k, tpVec3 r) {
    tpVec3 e = tpMakeVec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    return k < 3 ? e : tpCross(e, r);
}

static tpVec3 carriedNormal(int k, tpVec3 n) {
    return k < 3 ? tpZeroVec3() : tpCross(tpMakeVec3(k == 3, k == 4, k == 5), n);
}

static tpVec3 slide(const double form[3], const double u[2], tpVec3 t, tpVec3 o) {
    return tpAdd(tpScale(form[0] * u[0] + form[1] * u[1], t),
                 tpScale(form[1] * u[0] + form[2] * u[1], o));
}

static void setColumn(double rows[3][12], int k, tpVec3 x) {
    rows[0][k] = x.x;
    rows[1][k] = x.y;
    rows[2][k] = x.z;
}

void tpDifferentiateSmooth(const tpSmoothResult* result, tpPose poseA, tpPose poseB,
                           tpSmoothDerivatives* out) {
    tpVec3 n = result->normal, t, o;
    tpMakeTangents(n, &t, &o);
    tpPairSystem system;
    tpFillPairSystem(&result->curvatureA, &result->curvatureB,
                     measure(&result->curvatureA, result->gap),
                     measure(&result->curvatureB, result->gap), result->gap, t, o, &system);

    tpVec3 dPointA[12], dPointB[12], dNormalA[12], dNormalB[12];
    double turn[12][2], shift[12][2], u[12][2], v[12][2];
    tpVec3 rA = tpSub(result->pointA, poseA.position), rB = tpSub(result->pointB, poseB.position);
    for (int k = 0; k < 12; ++k) {
        bool isA = k < 6;
        dPointA[k] = isA ? carriedPoint(k, rA) : tpZeroVec3();
        dNormalA[k] = isA ? carriedNormal(k, tpNeg(n)) : tpZeroVec3();
        dPointB[k] = isA ? tpZeroVec3() : carriedPoint(k - 6, rB);
        dNormalB[k] = isA ? tpZeroVec3() : carriedNormal(k - 6, n);
        tpVec3 sum = tpAdd(dNormalA[k], dNormalB[k]);
        tpVec3 d = tpSub(tpSub(dPointA[k], dPointB[k]), tpScale(result->gap, dNormalB[k]));
        turn[k][0] = -tpDot(sum, t);
        turn[k][1] = -tpDot(sum, o);
        shift[k][0] = -tpDot(d, t);
        shift[k][1] = -tpDot(d, o);
    }
    out->isUnique = tpSolvePairSystem(&system, 12, turn, shift, u, v) == 4;

    for (int k = 0; k < 12; ++k) {
        out->gap[k] = tpDot(n, tpSub(dPointA[k], dPointB[k]));
        setColumn(out->pointA, k, tpAdd(dPointA[k], slide(system.P[0], u[k], t, o)));
        setColumn(out->pointB, k, tpAdd(dPointB[k], slide(system.P[1], v[k], t, o)));
        setColumn(out->normal, k, tpAdd(dNormalB[k], slide(system.Q[1], v[k], t, o)));
    }
}
