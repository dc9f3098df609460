// Ellipsoids. The element follows the normal: the support map is closed and smooth.

#include "collision/smooth_body.h"

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
