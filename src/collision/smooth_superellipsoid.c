// Superellipsoids.
//
// The surface is N1(N2(x/a, y/b), z/c) = 1 with the norms of exponents p = 2 / e: a superellipse around
// z inside one towards z. Where p > 2 its poles are flat and the support map has no derivative there;
// where p < 2 they are sharp, and the support map is smooth where the surface is not. So each of the two
// superellipses takes its place from whichever of point and normal determines it smoothly: from the
// point where e < 1, from the normal where e >= 1.

#include "collision/smooth_body.h"

#include "geometry/shape.h"
#include "math/elementary.h"

static double normOf(double u, double v, double p) {
    double large = fmax(u, v), small = fmin(u, v);
    return large > 0.0 ? large * tpPow(1.0 + tpPow(small / large, p), 1.0 / p) : 0.0;
}

// The place (u, v) with N(u, v) = 1, from a point or from the normal (alpha, beta), all >= 0.
static void placeOf(double e, double u, double v, double alpha, double beta, double place[2]) {
    if (e < 1.0 || !(fmax(alpha, beta) > 0.0)) {
        double n = normOf(u, v, 2.0 / e);
        place[0] = n > 0.0 ? u / n : 1.0;
        place[1] = n > 0.0 ? v / n : 0.0;
    } else if (e >= 2.0) {
        place[0] = alpha >= beta ? 1.0 : 0.0;
        place[1] = 1.0 - place[0];
    } else {
        double n = normOf(alpha, beta, 2.0 / (2.0 - e));
        place[0] = tpPow(alpha / n, e / (2.0 - e));
        place[1] = tpPow(beta / n, e / (2.0 - e));
    }
}

// The dual norm of (alpha, beta).
static double dualOf(double e, double alpha, double beta) {
    return e >= 2.0 ? fmax(alpha, beta) : normOf(alpha, beta, 2.0 / (2.0 - e));
}

static tpVec3 superellipsoidSupport(tpSmoothBody* body, tpVec3 direction) {
    return tp_shapeClasses[tp_superellipsoidShape].support(body->geometry, direction);
}

static void superellipsoidElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    const tpSuperellipsoid* s = &body->geometry->superellipsoid;
    double toZ = s->exponents[0], around = s->exponents[1];
    tpVec3 r = s->radii, m = tpAbsVec3(tpMulParts(r, normal));
    tpVec3 q = tpAbsVec3(tpMakeVec3(point.x / r.x, point.y / r.y, point.z / r.z));
    double inner[2], outer[2];
    placeOf(around, q.x, q.y, m.x, m.y, inner);
    placeOf(toZ, normOf(q.x, q.y, 2.0 / around), q.z, dualOf(around, m.x, m.y), m.z, outer);
    // Signs come from the same source as the place.
    tpVec3 signAround = around < 1.0 ? point : normal, signToZ = toZ < 1.0 ? point : normal;
    out->point = tpMakeVec3(copysign(r.x * outer[0] * inner[0], signAround.x),
                            copysign(r.y * outer[0] * inner[1], signAround.y),
                            copysign(r.z * outer[1], signToZ.z));
    tpVec3 gradient;
    tpMat33 hessian;
    tpSurfaceValue(body->geometry, 0, out->point, &gradient, &hessian);
    out->normal = tpNormalize(gradient);
    out->curvature = tpImplicitCurvature(gradient, &hessian);
}

const tpCoreClass tp_superellipsoidCore = { superellipsoidSupport, superellipsoidElement };
