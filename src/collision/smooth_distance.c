// Signed distance of two convex shapes: closed forms first, then Newton's method from the last
// answer, then the global stages.
//
// Where Newton's method has met the conditions with a positive gap, nothing more is to be shown:
// the elements are exact, so their normals make the gap a lower bound and their points an upper
// one. If the shapes overlap the conditions hold at every stationary direction; the cold start
// then searches all directions, and the warm start stays on the branch it came from as long as that
// is a local minimum of depth and the shapes still overlap.

#include "collision/smooth_body.h"

#include "geometry/shape.h"

// Whether a stationary pair with negative gap is a local minimum of depth: R_A + R_B + gap > 0 on
// the tangents, R the matrices of radii of curvature (flat ones as large as rounding allows).
static bool isLocalMinimum(const tpElementPair* pair, double scale) {
    tpVec3 t, o;
    tpMakeTangents(pair->normal, &t, &o);
    double xx = pair->gap, xy = 0.0, yy = pair->gap;
    const tpCurvature* both[2] = { &pair->a.curvature, &pair->b.curvature };
    for (int k = 0; k < 2; ++k) {
        double r1 = fmin(1.0 / both[k]->along, 1e7 * scale);
        double r2 = fmin(1.0 / both[k]->across, 1e7 * scale);
        double x = tpDot(both[k]->tangent, t), y = tpDot(both[k]->tangent, o);
        if (x * x + y * y < 0.5) {
            x = 1.0;
            y = 0.0;
        }
        xx += r1 * x * x + r2 * y * y;
        xy += (r1 - r2) * x * y;
        yy += r1 * y * y + r2 * x * x;
    }
    return xx + yy > 0.0 && xx * yy - xy * xy > 0.0;
}

// Whether a point of the query's frame is inside a shape.
static bool isInside(const tpSmoothBody* body, tpVec3 p) {
    int k;
    return tpSurfaceMaximum(body->core.geometry, tpBodyLocal(body, p), &k) <= 0.0;
}

// Whether what the warm start found may stand: apart, or in an overlap so shallow that the branch
// can hardly be left for another.
static bool isTrusted(const tpSmoothBody* a, const tpSmoothBody* b, const tpElementPair* pair) {
    if (pair->gap > 0.0) {
        return true;
    }
    if (a->core.rounding > 0.0 || b->core.rounding > 0.0) {
        return false;
    }
    return -pair->gap <
               0.2 * fmin(tpSmoothCore_InnerRadius(&a->core), tpSmoothCore_InnerRadius(&b->core)) &&
           (isInside(b, pair->a.point) || isInside(a, pair->b.point)) &&
           isLocalMinimum(pair, a->core.size + b->core.size);
}

static tpVec3 fromFloats(const float v[3]) {
    return tpMakeVec3((double)v[0], (double)v[1], (double)v[2]);
}

static void toFloats(tpVec3 v, float out[3]) {
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

static bool solveWarm(tpSmoothBody* a, tpSmoothBody* b, const tpSmoothCache* cache,
                      double roughness, tpElementPair* pair, int* iterations) {
    tpVec3 normal = tpMulMV(a->rotation, fromFloats(cache->normal));
    if (!(tpLengthSquared(normal) > 0.5)) {
        return false;
    }
    tpStartPair(a, b, fromFloats(cache->pointA), fromFloats(cache->pointB), tpNormalize(normal),
                pair);
    return tpPolish(a, b, tpStepLimit(roughness), roughness, pair, iterations) &&
           isTrusted(a, b, pair);
}

static void pointsOfGjk(const tpGjk* gjk, tpVec3* a, tpVec3* b) {
    const tpPointSimplex* s = &gjk->simplex;
    *a = *b = tpZeroVec3();
    for (int k = 0; k < s->count; ++k) {
        *a = tpMulAdd(*a, s->weight[k], s->a[k]);
        *b = tpMulAdd(*b, s->weight[k], s->b[k]);
    }
}

static void startFromGjk(tpSmoothBody* a, tpSmoothBody* b, const tpGjk* gjk, tpElementPair* pair) {
    tpVec3 pointA, pointB;
    pointsOfGjk(gjk, &pointA, &pointB);
    tpStartPair(a, b, tpBodyLocal(a, pointA), tpBodyLocal(b, pointB), gjk->bestNormal, pair);
}

// The last resort for shapes apart: what the descent itself has found, exact to its bounds. The gap
// is the lower one, so that nothing that trusts it steps too far.
static bool acceptBounds(tpSmoothBody* a, tpSmoothBody* b, const tpGjk* gjk, tpElementPair* pair) {
    double length = tpLength(gjk->v);
    tpVec3 n = tpScale(1.0 / length, gjk->v);
    pointsOfGjk(gjk, &pair->a.point, &pair->b.point);
    pair->normal = n;
    pair->gap = tpDot(n, tpSub(tpBodySupport(a, tpNeg(n)), tpBodySupport(b, n)));
    return length - pair->gap <= 1e-10 * gjk->scale;
}

// Newton's method from the line of centres: often enough for shapes apart, and proved by its gap.
static bool solveStraight(tpSmoothBody* a, tpSmoothBody* b, tpVec3 centerA, tpVec3 centerB,
                          double roughness, tpElementPair* pair, int* iterations) {
    tpVec3 d = tpSub(centerA, centerB);
    if (!(tpLength(d) > 0.5 * (a->core.size + b->core.size))) {
        return false;
    }
    tpStartPair(a, b, a->core.center, b->core.center, tpNormalize(d), pair);
    return tpPolish(a, b, 8, roughness, pair, iterations) && pair->gap > 0.0;
}

static bool solveCold(tpSmoothBody* a, tpSmoothBody* b, double roughness, tpElementPair* pair,
                      int* iterations) {
    static const double tolerances[] = { 0.05, 1e-3, 1e-6, 1e-10, 1e-14 };
    tpVec3 centerA = tpAdd(a->position, tpMulMV(a->rotation, a->core.center));
    tpVec3 centerB = tpAdd(b->position, tpMulMV(b->rotation, b->core.center));
    if (solveStraight(a, b, centerA, centerB, roughness, pair, iterations)) {
        return true;
    }
    tpGjk gjk;
    tpStartGjk(&gjk, a, b, tpSub(centerA, centerB));
    tpGjkStatus status = tp_gjkApart;
    for (int k = 0; k < 5 && status == tp_gjkApart; ++k) {
        status = tpRunGjk(&gjk, a, b, tolerances[k]);
        if (status == tp_gjkOverlap) {
            break;
        }
        startFromGjk(a, b, &gjk, pair);
        if (tpPolish(a, b, 20, roughness, pair, iterations) && pair->gap > 0.0) {
            *iterations += gjk.iterations;
            return true;
        }
    }
    *iterations += gjk.iterations;
    if (status != tp_gjkOverlap && gjk.lower > 1e-9 * gjk.scale) {
        startFromGjk(a, b, &gjk, pair);
        return acceptBounds(a, b, &gjk, pair);
    }
    // Touching to rounding, or overlapping.
    bool isExact;
    if (tpSearchPenetration(a, b, gjk.scale, roughness, pair, &isExact, iterations)) {
        return isExact;
    }
    startFromGjk(a, b, &gjk, pair);
    return tpPolish(a, b, 20, roughness, pair, iterations);
}

static void keepStart(const tpSmoothBody* a, const tpSmoothBody* b, const tpElementPair* pair,
                      tpSmoothCache* cache) {
    toFloats(tpMulMTV(a->rotation, pair->normal), cache->normal);
    toFloats(tpBodyLocal(a, pair->a.point), cache->pointA);
    toFloats(tpBodyLocal(b, pair->b.point), cache->pointB);
}

bool tpSmoothClosestRoughly(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                            double roughness, tpSmoothCache* cache, tpSmoothResult* out) {
    if (tpClosedForm(a, shapeA, b, shapeB, out)) {
        return isfinite(out->gap);
    }
    if (!tpGeometry_IsConvex(a) || !tpGeometry_IsConvex(b)) {
        return false;
    }
    tpVec3 origin = shapeA.position;
    tpSmoothBody bodyA, bodyB;
    tpPrepareSmoothBody(a, shapeA, origin, &bodyA);
    tpPrepareSmoothBody(b, shapeB, origin, &bodyB);
    tpElementPair pair;
    int iterations = 0;
    bool solved = cache != NULL && solveWarm(&bodyA, &bodyB, cache, roughness, &pair, &iterations);
    if (!solved) {
        solved = solveCold(&bodyA, &bodyB, roughness, &pair, &iterations);
    }
    if (cache != NULL) {
        keepStart(&bodyA, &bodyB, &pair, cache);
    }
    tpVec3 n = pair.normal;
    out->normal = n;
    out->gap = pair.gap - bodyA.core.rounding - bodyB.core.rounding;
    out->pointA = tpAdd(origin, tpMulAdd(pair.a.point, -bodyA.core.rounding, n));
    out->pointB = tpAdd(origin, tpMulAdd(pair.b.point, bodyB.core.rounding, n));
    out->curvatureA = tpRoundedCurvature(pair.a.curvature, bodyA.core.rounding);
    out->curvatureB = tpRoundedCurvature(pair.b.curvature, bodyB.core.rounding);
    out->iterations = iterations;
    out->converged = solved;
    return true;
}

bool tpSmoothClosestShapes(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                           tpSmoothCache* cache, tpSmoothResult* out) {
    return tpSmoothClosestRoughly(a, shapeA, b, shapeB, 0.0, cache, out);
}

bool tpSmoothClosest(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                     tpSmoothCache* cache, tpSmoothResult* out) {
    return tpSmoothClosestShapes(a, tpGeometry_Pose(a, poseA), b, tpGeometry_Pose(b, poseB), cache,
                                 out);
}
