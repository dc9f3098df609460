// Spheres and capsules: distances of points and segments, less the radii.

#include "collision/closed_form.h"

static tpCurvature tubeCurvature(tpVec3 axis, double radius) {
    tpCurvature c = { axis, 0.0, 1.0 / radius };
    return c;
}

// Fills in a result from the nearest points of the cores and their distance along the normal.
static void finish(tpVec3 coreA, double radiusA, tpVec3 coreB, double radiusB, tpVec3 normal,
                   double distance, tpSmoothResult* out) {
    out->gap = distance - radiusA - radiusB;
    out->normal = normal;
    out->pointA = tpMulAdd(coreA, -radiusA, normal);
    out->pointB = tpMulAdd(coreB, radiusB, normal);
    out->iterations = 0;
    out->converged = true;
}

// Two points, d from B's to A's, with a normal to take where they coincide to within `rounding`.
static void finishPoints(tpVec3 coreA, double radiusA, tpVec3 coreB, double radiusB, tpVec3 d,
                         double rounding, tpVec3 otherwise, tpSmoothResult* out) {
    double distance = tpLength(d);
    // Squares of tiny or huge components have lost their digits.
    if (distance < 1e-140 || distance > 1e140) {
        double largest = tpMaxPart(tpAbsVec3(d));
        distance = largest > 0.0 ? largest * tpLength(tpScale(1.0 / largest, d)) : 0.0;
    }
    tpVec3 n = distance > rounding ? tpScale(1.0 / distance, d) : otherwise;
    finish(coreA, radiusA, coreB, radiusB, n, distance, out);
}

bool tpSphereSphere(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                    tpSmoothResult* out) {
    finishPoints(shapeA.position, a->sphere.radius, shapeB.position, b->sphere.radius,
                 tpSub(shapeA.position, shapeB.position), 0.0, tpMakeVec3(0.0, 0.0, 1.0), out);
    out->curvatureA = tpBallCurvature(a->sphere.radius);
    out->curvatureB = tpBallCurvature(b->sphere.radius);
    return true;
}

static tpVec3 axisOf(tpPose shape) {
    return tpRotate(shape.rotation, tpMakeVec3(0.0, 0.0, 1.0));
}

bool tpSphereCapsule(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                     tpSmoothResult* out) {
    double half = 0.5 * b->capsule.length;
    tpVec3 axis = axisOf(shapeB), d = tpSub(shapeA.position, shapeB.position), t, o;
    double along = tpDot(axis, d);
    double z = fmin(fmax(along, -half), half);
    tpMakeTangents(axis, &t, &o);
    tpVec3 otherwise = z == along || half == 0.0 ? t : tpScale(copysign(1.0, z), axis);
    finishPoints(shapeA.position, a->sphere.radius, tpMulAdd(shapeB.position, z, axis),
                 b->capsule.radius, tpMulAdd(d, -z, axis), 4e-16 * (half + tpLength(d)), otherwise,
                 out);
    out->curvatureA = tpBallCurvature(a->sphere.radius);
    out->curvatureB =
        z == along ? tubeCurvature(axis, b->capsule.radius) : tpBallCurvature(b->capsule.radius);
    return true;
}

static double clampTo(double x, double half) {
    return fmin(fmax(x, -half), half);
}

// The middle of what two parallel segments share, as a place on the first; `along` is where the
// centre of the second lies on the first.
static double middleOfOverlap(double along, double halfA, double halfB) {
    double low = fmax(-halfA, along - halfB), high = fmin(halfA, along + halfB);
    return low <= high ? 0.5 * (low + high) : clampTo(along, halfA);
}

// Places on two segments about their centres, d the way from B's to A's centre. The free minimum
// comes from cross products, which keep their digits for nearly parallel axes; clamping first one
// place and then the other is exact for a convex function of two unknowns.
static bool nearestPlaces(tpVec3 axisA, double halfA, tpVec3 axisB, double halfB, tpVec3 d,
                          tpVec3 cross, double* s, double* t) {
    double sine = tpLengthSquared(cross), cosine = tpDot(axisA, axisB);
    if (!(sine > 1e-30)) {
        *s = middleOfOverlap(-tpDot(axisA, d), halfA, halfB);
        *t = clampTo(tpDot(axisB, tpMulAdd(d, *s, axisA)), halfB);
        return false;
    }
    double freeS = tpDot(tpCross(axisB, d), cross) / sine;
    double freeT = tpDot(tpCross(axisA, d), cross) / sine;
    *s = clampTo(freeS, halfA);
    if (*s == freeS && fabs(freeT) <= halfB) {
        *t = freeT;
        return true;
    }
    double wanted = tpDot(axisB, tpMulAdd(d, *s, axisA));
    *t = clampTo(wanted, halfB);
    if (*t != wanted) {
        *s = clampTo(cosine * *t - tpDot(axisA, d), halfA);
    }
    return false;
}

bool tpCapsuleCapsule(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                      tpSmoothResult* out) {
    double halfA = 0.5 * a->capsule.length, halfB = 0.5 * b->capsule.length, s, t;
    double radiusA = a->capsule.radius, radiusB = b->capsule.radius;
    tpVec3 axisA = axisOf(shapeA), axisB = axisOf(shapeB), cross = tpCross(axisA, axisB);
    tpVec3 d = tpSub(shapeA.position, shapeB.position);
    bool isCrossing = nearestPlaces(axisA, halfA, axisB, halfB, d, cross, &s, &t);
    tpVec3 coreA = tpMulAdd(shapeA.position, s, axisA), coreB = tpMulAdd(shapeB.position, t, axisB);
    if (isCrossing) {
        // Along the common perpendicular, which is there even where the axes meet.
        tpVec3 n = tpNormalize(cross);
        double distance = tpDot(n, d);
        n = distance < 0.0 ? tpNeg(n) : n;
        finish(coreA, radiusA, coreB, radiusB, n, fabs(distance), out);
    } else {
        // If an end meets the other axis, the perpendicular of both is one of the normals there.
        tpVec3 side, other;
        tpMakeTangents(axisA, &side, &other);
        tpVec3 otherwise = tpLengthSquared(cross) > 1e-30 ? tpNormalize(cross) : side;
        tpVec3 between = tpMulAdd(tpMulAdd(d, s, axisA), -t, axisB);
        finishPoints(coreA, radiusA, coreB, radiusB, between, 4e-16 * (halfA + halfB + tpLength(d)),
                     otherwise, out);
    }
    out->curvatureA = fabs(s) < halfA ? tubeCurvature(axisA, radiusA) : tpBallCurvature(radiusA);
    out->curvatureB = fabs(t) < halfB ? tubeCurvature(axisB, radiusB) : tpBallCurvature(radiusB);
    return true;
}
