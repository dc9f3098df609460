// The point of an ellipsoid nearest to a given point, inside or outside, to machine precision.
//
// The foot of p is q_i = a_i^2 p_i / (a_i^2 + t) with the one t > -min a_i^2 at which q lies on the
// surface: sum (a_i p_i / (a_i^2 + t))^2 = 1 (see [Eberly13]). With G(t) that sum, 1 / sqrt(G) - 1 is
// concave and increasing, as in the secular equations of trust regions, so Newton's method climbs to the
// root from the left, and does so in a few steps. The unknown is tau = t + min a_i^2, and differences of
// squares are products, so that nothing cancels deep inside or on needles and pancakes.

#include "collision/closed_form.h"

// The larger extents beyond the smallest: a_i^2 - min a_j^2.
static tpVec3 excessOf(tpVec3 a, double smallest) {
    return tpMakeVec3((a.x - smallest) * (a.x + smallest), (a.y - smallest) * (a.y + smallest),
                      (a.z - smallest) * (a.z + smallest));
}

// The root tau > 0, or 0 where the nearest point leaves the axes at the centre (below).
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

void tpNearestOnEllipsoid(tpVec3 radii, tpVec3 p, tpNearest* out) {
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
