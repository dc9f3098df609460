// Cores that are curved everywhere: ellipsoids, superellipsoids and what the user gives by a function.
//
// Ellipsoids follow the normal: the support map is closed and smooth. Superellipsoids with exponents
// above 1 do the same, for their support map is smooth where their surface is not; with exponents
// below 1 it is the other way round, at the flat poles the support map has no derivative, and the
// element follows the point instead. Implicit surfaces have no closed support map and follow the point.

#include "collision/smooth_body.h"

#include "geometry/shape.h"

static tpVec3 ellipsoidSupport(tpSmoothBody* body, tpVec3 direction) {
    tpVec3 radii = body->geometry->ellipsoid.radii;
    tpVec3 d = tpMulParts(radii, direction);
    return tpScale(1.0 / tpLength(d), tpMulParts(radii, d));
}

// The Weingarten map is the tangential part of h D^-2, with h = |D n| and D = diag(radii); its
// determinant h^4 / det(D)^2 is known without cancellation, which pancakes and needles need.
static void ellipsoidElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    (void)point;
    tpVec3 radii = body->geometry->ellipsoid.radii;
    tpVec3 n = tpNormalize(normal), d = tpMulParts(radii, n), t, o;
    double h = tpLength(d);
    out->point = tpScale(1.0 / h, tpMulParts(radii, d));
    out->normal = n;
    tpMakeTangents(n, &t, &o);
    tpVec3 inverse = tpMakeVec3(1.0 / radii.x, 1.0 / radii.y, 1.0 / radii.z);
    tpVec3 ti = tpMulParts(inverse, t), oi = tpMulParts(inverse, o);
    double volume = radii.x * radii.y * radii.z, root = h * h / volume;
    out->curvature = tpPrincipalCurvature(t, o, h * tpDot(ti, ti), h * tpDot(ti, oi),
                                          h * tpDot(oi, oi), root * root);
}

const tpCoreClass tp_ellipsoidCore = { ellipsoidSupport, ellipsoidElement };

static tpVec3 generalSupport(tpSmoothBody* body, tpVec3 direction) {
    return tp_shapeClasses[body->geometry->type].support(body->geometry, direction);
}

// The element on the ray from the centre through `point`. Newton's method along the ray: the function
// is convex, so from outside it comes down to the surface without passing it.
static void elementOnRay(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 d = tpSub(point, body->center), gradient = tpZeroVec3(), p = point;
    tpMat33 hessian;
    if (!(tpLengthSquared(d) > 0.0)) {
        p = generalSupport(body, normal);
        d = tpSub(p, body->center);
    }
    double t = 1.0;
    for (int k = 0; k < 60; ++k) {
        double value = tpSurfaceValue(body->geometry, 0, p, &gradient, NULL);
        double slope = tpDot(gradient, d);
        // Close to the centre the slope says little: go out by doubling.
        double step = slope > 0.0 && value < slope * t ? -value / slope : t;
        step = fmin(step, t);
        t += step;
        p = tpMulAdd(body->center, t, d);
        if (fabs(step) <= 4e-16 * t) {
            break;
        }
    }
    tpSurfaceValue(body->geometry, 0, p, &gradient, &hessian);
    out->point = p;
    out->normal = tpNormalize(gradient);
    out->curvature = tpImplicitCurvature(gradient, &hessian);
}

static void superellipsoidElement(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out) {
    const double* e = body->geometry->superellipsoid.exponents;
    if (e[0] < 1.0 || e[1] < 1.0) {
        elementOnRay(body, point, normal, out);
        return;
    }
    tpVec3 gradient;
    tpMat33 hessian;
    out->point = generalSupport(body, normal);
    out->normal = tpNormalize(normal);
    tpSurfaceValue(body->geometry, 0, out->point, &gradient, &hessian);
    out->curvature = tpImplicitCurvature(gradient, &hessian);
    // The gradient at the support point turns with rounding where the surface is nearly sharp.
    tpVec3 t = out->curvature.tangent, n = out->normal;
    out->curvature.tangent = tpNormalize(tpMulAdd(t, -tpDot(t, n), n));
}

const tpCoreClass tp_superellipsoidCore = { generalSupport, superellipsoidElement };

const tpCoreClass tp_implicitCore = { generalSupport, elementOnRay };
