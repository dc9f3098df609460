// Superellipsoids as unit balls of nested norms.
//
// With p = 2 / e the body is N1(N2(x/a, y/b), z/c) <= 1, where Nk(u, v) = (|u|^p + |v|^p)^(1/p).
// This gauge is homogeneous of degree one and never overflows, whatever the exponents, and its
// support points follow from the dual norms, with 1/p + 1/q = 1. Moments of inertia by Beta
// functions [Jaklic00].

#include "base/assert.h"
#include "base/error.h"
#include "geometry/shape_parts.h"
#include "math/elementary.h"

static tpResult checkSuperellipsoid(tpGeometry* geometry, tpError* error) {
    const tpSuperellipsoid* s = &geometry->superellipsoid;
    tpResult result = tpCheckPositiveVec3("radii", s->radii, error);
    for (int i = 0; i < 2 && result == tp_success; ++i) {
        double e = s->exponents[i];
        // Below 0.01 powers of 200 and more make the surface a box to all digits of a float.
        if (!(e >= 0.01 && e <= 2.0)) {
            result =
                tpError_Set(error, tp_badInput,
                            "exponents must be between 0.01 and 2 for a convex body, not %.9g", e);
        }
    }
    return result;
}

tpResult tpMakeSuperellipsoid(const tpSuperellipsoid* superellipsoid, tpPose pose, tpGeometry* out,
                              tpError* error) {
    TP_NEED(superellipsoid, tp_badInput);
    tpGeometry given = { .type = tp_superellipsoidShape, .pose = pose };
    given.superellipsoid = *superellipsoid;
    return tpMakeFromNumbers(&given, out, error);
}

// The norm of two numbers >= 0 with its derivatives.
typedef struct Norm {
    double n;          // (u^p + v^p)^(1/p)
    double u, v;       // first derivatives
    double uu, uv, vv; // second derivatives, where they were asked for
} Norm;

static double normOf(double u, double v, double p) {
    double large = fmax(u, v), small = fmin(u, v);
    return large > 0.0 ? large * tpPow(1.0 + tpPow(small / large, p), 1.0 / p) : 0.0;
}

// For p < 2 second derivatives are infinite where u or v is 0; ratios below this are taken as this.
static const double leastRatio = 1e-12;

static Norm evaluateNorm(double u, double v, double p, bool second) {
    Norm norm = { normOf(u, v, p), 0.0, 0.0, 0.0, 0.0, 0.0 };
    if (!(norm.n > 0.0)) {
        return norm;
    }
    double ru = u / norm.n, rv = v / norm.n;
    norm.u = p > 1.0 || u > 0.0 ? tpPow(ru, p - 1.0) : 0.0;
    norm.v = p > 1.0 || v > 0.0 ? tpPow(rv, p - 1.0) : 0.0;
    if (!second) {
        return norm;
    }
    double c = (p - 1.0) / norm.n;
    norm.uu = c * tpPow(fmax(ru, leastRatio), p - 2.0) * tpPow(rv, p);
    norm.vv = c * tpPow(fmax(rv, leastRatio), p - 2.0) * tpPow(ru, p);
    norm.uv = -c * norm.u * norm.v;
    return norm;
}

static double signOf(double x) {
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

static double superellipsoidSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                                    tpMat33* hessian) {
    (void)k;
    const tpSuperellipsoid* s = &geometry->superellipsoid;
    tpVec3 r = s->radii;
    double scale = fmin(r.x, fmin(r.y, r.z));
    double p1 = 2.0 / s->exponents[0], p2 = 2.0 / s->exponents[1];
    double u = fabs(p.x) / r.x, v = fabs(p.y) / r.y, w = fabs(p.z) / r.z;
    if (gradient == NULL && hessian == NULL) {
        double gauge = normOf(normOf(u, v, p2), w, p1);
        return 0.5 * scale * (gauge - 1.0) * (gauge + 1.0);
    }
    Norm inner = evaluateNorm(u, v, p2, hessian != NULL);
    Norm outer = evaluateNorm(inner.n, w, p1, hessian != NULL);
    // Signs and radii by the chain rule.
    tpVec3 chain = tpMakeVec3(signOf(p.x) / r.x, signOf(p.y) / r.y, signOf(p.z) / r.z);
    tpVec3 g =
        tpMakeVec3(outer.u * inner.u * chain.x, outer.u * inner.v * chain.y, outer.v * chain.z);
    if (gradient != NULL) {
        *gradient = tpScale(scale * outer.n, g);
    }
    if (hessian != NULL && !(outer.n > 0.0)) {
        *hessian = tpDiagonal(
            tpScale(scale, tpMakeVec3(1.0 / (r.x * r.x), 1.0 / (r.y * r.y), 1.0 / (r.z * r.z))));
    } else if (hessian != NULL) {
        double xx = (outer.uu * inner.u * inner.u + outer.u * inner.uu) / (r.x * r.x);
        double yy = (outer.uu * inner.v * inner.v + outer.u * inner.vv) / (r.y * r.y);
        double zz = outer.vv / (r.z * r.z);
        double xy = (outer.uu * inner.u * inner.v + outer.u * inner.uv) * chain.x * chain.y;
        double xz = outer.uv * inner.u * chain.x * chain.z;
        double yz = outer.uv * inner.v * chain.y * chain.z;
        tpMat33 curvature =
            tpMakeMat33(tpMakeVec3(xx, xy, xz), tpMakeVec3(xy, yy, yz), tpMakeVec3(xz, yz, zz));
        *hessian = tpScaleM(scale, tpAddMM(tpOuter(g, g), tpScaleM(outer.n, curvature)));
    }
    return 0.5 * scale * (outer.n - 1.0) * (outer.n + 1.0);
}

// Maximises alpha u + beta v over N(u, v) <= 1; returns the maximum, the dual norm of (alpha,
// beta).
static double dualNorm(double alpha, double beta, double e, double* u, double* v) {
    if (!(fmax(alpha, beta) > 0.0)) {
        *u = 1.0;
        *v = 0.0;
        return 0.0;
    }
    if (e >= 2.0) { // a diamond: one corner
        *u = alpha >= beta ? 1.0 : 0.0;
        *v = 1.0 - *u;
        return fmax(alpha, beta);
    }
    double n = normOf(alpha, beta, 2.0 / (2.0 - e));
    *u = tpPow(alpha / n, e / (2.0 - e));
    *v = tpPow(beta / n, e / (2.0 - e));
    return n;
}

static tpVec3 superellipsoidSupport(const tpGeometry* geometry, tpVec3 direction) {
    const tpSuperellipsoid* s = &geometry->superellipsoid;
    tpVec3 d = tpAbsVec3(tpMulParts(s->radii, tpNormalize(direction)));
    double u, v, radial, w;
    double inner = dualNorm(d.x, d.y, s->exponents[1], &u, &v);
    dualNorm(inner, d.z, s->exponents[0], &radial, &w);
    if (inner == 0.0) {
        radial = 0.0;
    }
    return tpMakeVec3(copysign(s->radii.x * radial * u, direction.x),
                      copysign(s->radii.y * radial * v, direction.y),
                      copysign(s->radii.z * w, direction.z));
}

static tpBounds superellipsoidBounds(const tpGeometry* geometry, tpPose pose) {
    tpMat33 rows = tpTranspose(tpMatFromQuat(pose.rotation));
    tpVec3 half = tpMakeVec3(tpDot(rows.cx, superellipsoidSupport(geometry, rows.cx)),
                             tpDot(rows.cy, superellipsoidSupport(geometry, rows.cy)),
                             tpDot(rows.cz, superellipsoidSupport(geometry, rows.cz)));
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

// The largest a^2 s + b^2 t over s^(1/e) + t^(1/e) <= 1: for e < 1 a dual norm, else the larger
// square.
static double largestSquare(double a, double b, double e) {
    double aa = a * a, bb = b * b;
    return e < 1.0 ? normOf(aa, bb, 1.0 / (1.0 - e)) : fmax(aa, bb);
}

static double superellipsoidRadius(const tpGeometry* geometry, tpVec3 point) {
    const tpSuperellipsoid* s = &geometry->superellipsoid;
    double across = sqrt(largestSquare(s->radii.x, s->radii.y, s->exponents[1]));
    return tpLength(point) + sqrt(largestSquare(across, s->radii.z, s->exponents[0]));
}

static double beta(double a, double b) {
    return tpGamma(a) * tpGamma(b) / tpGamma(a + b);
}

static tpResult superellipsoidMass(const tpGeometry* geometry, tpMassProperties* out,
                                   tpError* error) {
    (void)error;
    const tpSuperellipsoid* s = &geometry->superellipsoid;
    double e1 = s->exponents[0], e2 = s->exponents[1];
    tpVec3 r = s->radii;
    double factor = r.x * r.y * r.z * e1 * e2;
    out->mass = 2.0 * factor * beta(0.5 * e1 + 1.0, e1) * beta(0.5 * e2, 0.5 * e2);
    out->center = tpZeroVec3();
    // Integrals of (x/a)^2, which equals that of (y/b)^2, and of (z/c)^2.
    double across = 0.5 * factor * beta(1.5 * e2, 0.5 * e2) * beta(0.5 * e1, 2.0 * e1 + 1.0);
    double along = 2.0 * factor * beta(0.5 * e2, 0.5 * e2 + 1.0) * beta(1.5 * e1, e1 + 1.0);
    double xx = across * r.x * r.x, yy = across * r.y * r.y, zz = along * r.z * r.z;
    out->inertia = tpDiagonal(tpMakeVec3(yy + zz, xx + zz, xx + yy));
    return tp_success;
}

static bool superellipsoidClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                                   tpLineClip* clip) {
    tpVec3 radii = geometry->superellipsoid.radii;
    return tpClipByFunction(geometry, (tpBounds){ tpNeg(radii), radii }, origin, direction, clip);
}

// The smooth core ---------------------------------------------------------------------------------
//
// The surface is a superellipse around z inside one towards z. If p > 2 its poles are flat and
// the support map has no derivative there; where p < 2 they are sharp, and the support map is
// smooth where the surface is not. So each of the two superellipses takes its place from whichever
// of point and normal determines it smoothly: from the point if e < 1, from the normal if e >= 1.

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

static tpVec3 coreSupport(tpSmoothCore* core, tpVec3 direction) {
    return superellipsoidSupport(core->geometry, direction);
}

static void coreElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    const tpSuperellipsoid* s = &core->geometry->superellipsoid;
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
    superellipsoidSurface(core->geometry, 0, out->point, &gradient, &hessian);
    out->normal = tpNormalize(gradient);
    out->curvature = tpImplicitCurvature(gradient, &hessian);
}

static const tpSmoothCoreClass superellipsoidCore = { coreSupport, coreElement };

static void superellipsoidSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &superellipsoidCore;
    out->size = tpMaxPart(geometry->superellipsoid.radii);
}

const tpShapeClass tp_superellipsoidClass = {
    .name = "superellipsoid",
    .kind = tp_roundKind,
    .isConvex = true,
    .isCurved = true,
    .numbers = { TP_SHAPE_NUMBER("radii", superellipsoid.radii),
                 TP_SHAPE_NUMBER("exponents", superellipsoid.exponents) },
    .numberCount = 2,
    .check = checkSuperellipsoid,
    .bounds = superellipsoidBounds,
    .support = superellipsoidSupport,
    .mass = superellipsoidMass,
    .radius = superellipsoidRadius,
    .surfaceCount = tpOneSurface,
    .surface = superellipsoidSurface,
    .clipLine = superellipsoidClipLine,
    .smoothCore = superellipsoidSmoothCore,
};
