// Ellipsoids.

#include "base/assert.h"
#include "base/constants.h"
#include "geometry/shape_parts.h"

static tpResult checkEllipsoid(tpGeometry* geometry, tpError* error) {
    return tpCheckPositiveVec3("radii", geometry->ellipsoid.radii, error);
}

tpResult tpMakeEllipsoid(const tpEllipsoid* ellipsoid, tpPose pose, tpGeometry* out,
                         tpError* error) {
    TP_NEED(ellipsoid, tp_badInput);
    tpGeometry given = { .type = tp_ellipsoidShape, .pose = pose, .ellipsoid = *ellipsoid };
    return tpMakeFromNumbers(&given, out, error);
}

static tpBounds ellipsoidBounds(const tpGeometry* geometry, tpPose pose) {
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpVec3 radii = geometry->ellipsoid.radii;
    tpVec3 x = tpScale(radii.x, turn.cx), y = tpScale(radii.y, turn.cy),
           z = tpScale(radii.z, turn.cz);
    tpVec3 half =
        tpMakeVec3(sqrt(x.x * x.x + y.x * y.x + z.x * z.x), sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                   sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
    return (tpBounds){ tpSub(pose.position, half), tpAdd(pose.position, half) };
}

static tpVec3 ellipsoidSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 radii = geometry->ellipsoid.radii;
    return tpMulParts(radii, tpNormalize(tpMulParts(radii, direction)));
}

static tpResult ellipsoidMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    tpVec3 r = geometry->ellipsoid.radii;
    out->mass = 4.0 / 3.0 * TP_PI * r.x * r.y * r.z;
    out->center = tpZeroVec3();
    tpVec3 squares = tpMulParts(r, r);
    out->inertia =
        tpDiagonal(tpScale(0.2 * out->mass, tpMakeVec3(squares.y + squares.z, squares.x + squares.z,
                                                       squares.x + squares.y)));
    return tp_success;
}

static double ellipsoidRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(point) + tpMaxPart(geometry->ellipsoid.radii);
}

static double ellipsoidSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                               tpMat33* hessian) {
    (void)k;
    tpVec3 r = geometry->ellipsoid.radii;
    double scale = fmin(r.x, fmin(r.y, r.z));
    tpVec3 q = tpMakeVec3(p.x / r.x, p.y / r.y, p.z / r.z);
    if (gradient != NULL) {
        *gradient = tpScale(scale, tpMakeVec3(q.x / r.x, q.y / r.y, q.z / r.z));
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(
            tpScale(scale, tpMakeVec3(1.0 / (r.x * r.x), 1.0 / (r.y * r.y), 1.0 / (r.z * r.z))));
    }
    double gauge = tpLength(q);
    return 0.5 * scale * (gauge - 1.0) * (gauge + 1.0);
}

static tpVec3 ellipsoidNormal(tpVec3 radii, tpVec3 onSphere) {
    return tpNormalize(
        tpMakeVec3(onSphere.x / radii.x, onSphere.y / radii.y, onSphere.z / radii.z));
}

// Scaled by its radii the ellipsoid is the unit ball.
static bool ellipsoidClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                              tpLineClip* clip) {
    tpVec3 r = geometry->ellipsoid.radii;
    tpVec3 o = tpMakeVec3(origin.x / r.x, origin.y / r.y, origin.z / r.z);
    tpVec3 d = tpMakeVec3(direction.x / r.x, direction.y / r.y, direction.z / r.z);
    double speed = tpLength(d);
    tpVec3 unit = tpScale(1.0 / speed, d);
    double middle = -tpDot(o, unit);
    double nearest = tpLength(tpMulAdd(o, middle, unit));
    if (nearest > 1.0) {
        return false;
    }
    double half = sqrt((1.0 - nearest) * (1.0 + nearest));
    clip->enter = (middle - half) / speed;
    clip->leave = (middle + half) / speed;
    clip->enterNormal = ellipsoidNormal(r, tpMulAdd(o, middle - half, unit));
    clip->leaveNormal = ellipsoidNormal(r, tpMulAdd(o, middle + half, unit));
    return true;
}

// The smooth core: elements follow the normal, since the support map is closed and smooth ---------

static tpVec3 coreSupport(tpSmoothCore* core, tpVec3 direction) {
    tpVec3 radii = core->geometry->ellipsoid.radii;
    tpVec3 d = tpMulParts(radii, direction);
    return tpScale(1.0 / tpLength(d), tpMulParts(radii, d));
}

// The Weingarten map is the tangential part of h D^-2, with h = |D n| and D = diag(radii); its
// determinant h^4 / det(D)^2 is known without cancellation, which pancakes and needles need.
static void coreElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    (void)point;
    tpVec3 radii = core->geometry->ellipsoid.radii;
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

static const tpSmoothCoreClass ellipsoidCore = { coreSupport, coreElement };

static void ellipsoidSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    tpVec3 r = geometry->ellipsoid.radii;
    out->class = &ellipsoidCore;
    out->size = tpMaxPart(r);
    out->innerRadius = fmin(r.x, fmin(r.y, r.z));
}

// The nearest point, inside or outside, to machine precision --------------------------------------
//
// The foot of p is q_i = a_i^2 p_i / (a_i^2 + t) with the one t > -min a_i^2 at which q lies on the
// surface: sum (a_i p_i / (a_i^2 + t))^2 = 1 (see [Eberly13]). With G(t) that sum, 1 / sqrt(G) - 1
// is concave and increasing, as in the secular equations of trust regions, so Newton's method
// climbs to the root from the left, and does so in a few steps. The unknown is tau = t + min a_i^2,
// and differences of squares are products, so that nothing cancels deep inside or on needles and
// pancakes.

// The larger extents beyond the smallest: a_i^2 - min a_j^2.
static tpVec3 excessOf(tpVec3 a, double smallest) {
    return tpMakeVec3((a.x - smallest) * (a.x + smallest), (a.y - smallest) * (a.y + smallest),
                      (a.z - smallest) * (a.z + smallest));
}

// The root tau > 0, or 0 if the nearest point leaves the axes at the centre (below).
static double solveTau(tpVec3 ap, tpVec3 excess) {
    tpVec3 start = tpSub(ap, excess);
    double tau = fmax(tpMaxPart(start), 0.0);
    if (!(tau > 0.0)) {
        // No single term reaches one; all together still may.
        tau = 1e-300;
    }
    for (int k = 0; k < 100; ++k) {
        tpVec3 d = tpMakeVec3(excess.x + tau, excess.y + tau, excess.z + tau);
        tpVec3 r = tpMakeVec3(ap.x / d.x, ap.y / d.y, ap.z / d.z);
        double sum = tpDot(r, r), root = sqrt(sum);
        double slope = r.x * r.x / d.x + r.y * r.y / d.y + r.z * r.z / d.z;
        if (!(sum > 1.0)) {
            return k == 0 && tau <= 1e-300 ? 0.0 : tau;
        }
        double next = tau + (root - 1.0) * sum / slope;
        if (!(next > tau * (1.0 + 2e-16))) {
            return tau;
        }
        tau = next;
    }
    return tau;
}

// With tau = 0 the point is on the plane across the shortest axis, near the centre: the foot leaves
// that plane, to either side equally; the positive one is taken.
static tpVec3 footOfCentral(tpVec3 a, tpVec3 p, tpVec3 excess) {
    tpVec3 q = tpMakeVec3(excess.x > 0.0 ? a.x * a.x * p.x / excess.x : 0.0,
                          excess.y > 0.0 ? a.y * a.y * p.y / excess.y : 0.0,
                          excess.z > 0.0 ? a.z * a.z * p.z / excess.z : 0.0);
    tpVec3 r = tpMakeVec3(q.x / a.x, q.y / a.y, q.z / a.z);
    double rest = sqrt(fmax(1.0 - tpDot(r, r), 0.0));
    if (!(excess.x > 0.0)) {
        q.x = a.x * rest;
    } else if (!(excess.y > 0.0)) {
        q.y = a.y * rest;
    } else {
        q.z = a.z * rest;
    }
    return q;
}

static void nearestOn(tpVec3 radii, tpVec3 p, tpSurfacePoint* out) {
    double smallest = fmin(radii.x, fmin(radii.y, radii.z));
    tpVec3 excess = excessOf(radii, smallest);
    tpVec3 ap = tpMulParts(radii, tpAbsVec3(p));
    double tau = solveTau(ap, excess);
    tpVec3 q;
    if (tau > 0.0) {
        q = tpMakeVec3(radii.x * radii.x * p.x / (excess.x + tau),
                       radii.y * radii.y * p.y / (excess.y + tau),
                       radii.z * radii.z * p.z / (excess.z + tau));
    } else {
        q = footOfCentral(radii, p, excess);
    }
    tpVec3 g =
        tpMakeVec3(q.x / (radii.x * radii.x), q.y / (radii.y * radii.y), q.z / (radii.z * radii.z));
    out->normal = tpNormalize(g);
    out->point = q;
    out->distance = tpDot(out->normal, tpSub(p, q));
}

static void ellipsoidNearest(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    nearestOn(geometry->ellipsoid.radii, p, out);
    tpFinishNearest(geometry, out);
}

const tpShapeClass tp_ellipsoidClass = {
    .name = "ellipsoid",
    .kind = tp_roundKind,
    .isConvex = true,
    .isCurved = true,
    .numbers = { TP_SHAPE_NUMBER("radii", ellipsoid.radii) },
    .numberCount = 1,
    .check = checkEllipsoid,
    .bounds = ellipsoidBounds,
    .support = ellipsoidSupport,
    .mass = ellipsoidMass,
    .radius = ellipsoidRadius,
    .surfaceCount = tpOneSurface,
    .surface = ellipsoidSurface,
    .clipLine = ellipsoidClipLine,
    .smoothCore = ellipsoidSmoothCore,
    .nearest = ellipsoidNearest,
};
