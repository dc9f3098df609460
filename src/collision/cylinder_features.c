// The nearest points of a cylinder and a convex polyhedron, from feature to feature.
//
// A corner of the polyhedron has its nearest point of the cylinder in closed form: on the side, on
// a cap or on a rim. If no edge leads from the corner towards that point, both are the nearest
// points of the two bodies: the plane between them has each on its side. If one does, the edge is
// asked. Its line crosses the axis (the side is nearest), or one end of the cylinder is nearer, and
// then the point of the line is sought that is nearest to the rim: with q = v + t e, and q at the
// distance rho from the axis and z from the plane of the rim,
//
//     (rho - r) rho' + z z' = 0                                 Newton's method in t
//
// Again the edge is the answer if no other one leads towards the cylinder from its ends. In an
// overlap the normal n is that of the two curves that meet, axis or rim and edge, on the side from
// which they came. It is to be a direction of least depth among those near it. As n turns about the
// edge e, the gap along it, n . (c - q) - r |n - (n . a) a| with c the middle of the rim and a the
// axis, has the second derivative
//
//     -gap - r (e . a)^2 / (1 - (n . a)^2)^(3/2)
//
// which is positive, a saddle, where the overlap is deeper than the rim bends.

#include "collision/cylinder_features.h"

// Corners and edges that are looked at before others are asked.
enum { mostFeatures = 8, mostSteps = 12 };

// Heights that agree to this part of the polyhedron's size are the same.
static const double sameHeight = 1e-9;

// Curves that meet at a smaller sine are parallel: their normal is not well known.
static const double leastSine = 0.02;

// The search.
typedef struct Search {
    const tpHull* hull;
    const tpCylinderPlace* cylinder;
    tpVec3 towards;
    double sameCosine; // of overlaps
    double tolerance;
} Search;

// The neighbour of a corner that leads farthest along m; -1 if none leads by more than the
// tolerance above `least`.
static int32_t leadAlong(const Search* s, int32_t vertex, tpVec3 m, double least, double* most) {
    const tpHull* hull = s->hull;
    int32_t best = -1;
    double highest = least + s->tolerance;
    for (int32_t k = hull->neighborFirst[vertex]; k < hull->neighborFirst[vertex + 1]; ++k) {
        double height = tpDot(m, hull->vertices[hull->neighbors[k]]);
        if (height > highest) {
            highest = height;
            best = hull->neighbors[k];
        }
    }
    *most = highest;
    return best;
}

// The point of the cylinder that is nearest to a corner outside of it, or over the side of which
// the corner is inside.
static bool nearestToCorner(const Search* s, tpVec3 v, tpClosest* out) {
    const tpCylinderPlace* c = s->cylinder;
    tpVec3 d = tpSub(v, c->center);
    double along = tpDot(d, c->axis);
    tpVec3 w = tpMulAdd(d, -along, c->axis);
    double rho = tpLength(w), end = along < 0.0 ? -1.0 : 1.0;
    if (!(rho > 1e-9 * c->radius)) {
        return false;
    }
    if (fabs(along) <= c->half) {
        tpVec3 m = tpScale(-1.0 / rho, w);
        double gap = rho - c->radius;
        *out = (tpClosest){ gap, tpMulAdd(v, gap, m), v, m };
        // As the normal turns towards the axis by phi, the gap changes by -gap phi^2 / 2, less
        // what it loses as the end of the side comes nearer (up to phi = 0.45).
        bool isLeast = -gap < 4.0 * (c->half - fabs(along));
        return gap > 0.0 || (isLeast && tpDot(m, s->towards) > s->sameCosine);
    }
    if (rho <= c->radius) {
        tpVec3 m = tpScale(-end, c->axis);
        double gap = fabs(along) - c->half;
        *out = (tpClosest){ gap, tpMulAdd(v, gap, m), v, m };
        return true;
    }
    tpVec3 rim = tpMulAdd(tpMulAdd(c->center, end * c->half, c->axis), c->radius / rho, w);
    tpVec3 way = tpSub(rim, v);
    double gap = tpLength(way);
    *out = (tpClosest){ gap, rim, v, tpScale(1.0 / gap, way) };
    return gap > 1e-6 * c->radius;
}

// What became of an edge: it is nearest, one of its ends is, or that is not known.
typedef enum EdgeAnswer { found, atFirst, atSecond, unknown } EdgeAnswer;

// The unit normal of two curves that meet, towards the cylinder.
static bool normalOf(const Search* s, tpVec3 e, tpVec3 tangent, tpVec3* m, double* sine) {
    tpVec3 cross = tpCross(e, tangent);
    *sine = tpLength(cross);
    if (*sine < leastSine) {
        return false;
    }
    *m = tpScale((tpDot(cross, s->towards) < 0.0 ? -1.0 : 1.0) / *sine, cross);
    return true;
}

// The edge from v along e, `length` long, and the rim at one end (1 or -1) of the axis. `t` is
// where on the edge to start.
static EdgeAnswer edgeAtRim(const Search* s, tpVec3 v, tpVec3 e, double length, double end,
                            double t, tpClosest* out) {
    const tpCylinderPlace* c = s->cylinder;
    tpVec3 center = tpMulAdd(c->center, end * c->half, c->axis), w = tpZeroVec3();
    tpVec3 from = tpSub(v, center);
    double rise = tpDot(e, c->axis), height = tpDot(from, c->axis);
    tpVec3 flat = tpMulAdd(e, -rise, c->axis), start = tpMulAdd(from, -height, c->axis);
    double square = tpLengthSquared(flat), rho = 0.0;
    for (int k = 0;; ++k) {
        w = tpMulAdd(start, t, flat);
        rho = tpLength(w);
        if (k == mostSteps || !(rho > 1e-6 * c->radius)) {
            return unknown;
        }
        double slope = tpDot(w, flat) / rho, out2 = rho - c->radius;
        double force = out2 * slope + (height + t * rise) * rise;
        double stiffness = slope * slope + out2 * (square - slope * slope) / rho + rise * rise;
        if (!(stiffness > 1e-3)) {
            return unknown;
        }
        double step = -force / stiffness;
        // Far from the edge it does not matter how far.
        t = fmin(fmax(t + step, -length), 2.0 * length);
        if (fabs(step) <= 1e-9 * length) {
            break;
        }
    }
    if (t <= 0.0 || t >= length) {
        return t <= 0.0 ? atFirst : atSecond;
    }
    tpVec3 outward = tpScale(1.0 / rho, tpMulAdd(start, t, flat));
    tpVec3 m, q = tpMulAdd(v, t, e), p = tpMulAdd(center, c->radius, outward);
    double sine;
    if (!normalOf(s, e, tpCross(c->axis, outward), &m, &sine)) {
        return unknown;
    }
    double gap = tpDot(m, tpSub(p, q)), lean = tpDot(m, c->axis), flatness = 1.0 - lean * lean;
    // The normal is one of the rim's, and what overlaps does so by half of what the head allows.
    bool isOfRim = tpDot(m, outward) <= 1e-9 && end * lean <= 1e-9;
    bool isBent = gap * flatness * sqrt(flatness) > -0.5 * c->radius * rise * rise &&
                  tpDot(m, s->towards) > s->sameCosine;
    *out = (tpClosest){ gap, p, q, m };
    return isOfRim && (gap > 0.0 || isBent) ? found : unknown;
}

// The edge between two corners.
static EdgeAnswer nearestToEdge(const Search* s, int32_t first, int32_t second, tpClosest* out) {
    const tpCylinderPlace* c = s->cylinder;
    tpVec3 v = s->hull->vertices[first], e = tpSub(s->hull->vertices[second], v);
    double length = tpLength(e);
    e = tpScale(1.0 / length, e);
    // Where its line and the axis are nearest.
    tpVec3 d = tpSub(v, c->center);
    double cosine = tpDot(e, c->axis), sine = 1.0 - cosine * cosine;
    if (!(sine > leastSine * leastSine)) {
        return unknown;
    }
    double ofE = tpDot(e, d), ofAxis = tpDot(c->axis, d);
    double t = (cosine * ofAxis - ofE) / sine, along = ofAxis + t * cosine;
    if (fabs(along) > c->half) {
        double end = along < 0.0 ? -1.0 : 1.0;
        // From where the line passes over the end of the axis.
        double from = fabs(cosine) > 0.1 ? (end * c->half - ofAxis) / cosine : t;
        return edgeAtRim(s, v, e, length, end, fmin(fmax(from, 0.0), length), out);
    }
    if (t <= 0.0 || t >= length) {
        // The distance is convex along the line, and least where it is nearest to the axis.
        return t <= 0.0 ? atFirst : atSecond;
    }
    tpVec3 m;
    double of;
    if (!normalOf(s, e, c->axis, &m, &of)) {
        return unknown;
    }
    tpVec3 q = tpMulAdd(v, t, e);
    double distance = -tpDot(m, d), gap = distance - c->radius;
    *out = (tpClosest){ gap, tpMulAdd(q, gap, m), q, m };
    // As for a corner, with the bent side, over which the normal turns about the edge.
    bool isLeast = -gap < 0.5 * c->radius * cosine * cosine + 4.0 * of * (c->half - fabs(along)) &&
                   tpDot(m, s->towards) > s->sameCosine;
    return gap > 0.0 || isLeast ? found : unknown;
}

bool tpNearestToCylinder(const tpHull* hull, const tpCylinderPlace* cylinder, tpVec3 towards,
                         double sameCosine, int32_t start, tpClosest* out) {
    Search s = { hull, cylinder, towards, sameCosine, sameHeight * hull->radius };
    int32_t first = start, second = -1, before = -1;
    for (int k = 0; k < mostFeatures; ++k) {
        double most;
        if (second < 0) {
            if (!nearestToCorner(&s, hull->vertices[first], out)) {
                return false;
            }
            second = leadAlong(&s, first, out->normal, tpDot(out->normal, out->pointB), &most);
            if (second < 0) {
                return true;
            }
            continue;
        }
        EdgeAnswer answer = nearestToEdge(&s, first, second, out);
        if (answer == unknown) {
            return false;
        }
        if (answer != found) {
            first = answer == atFirst ? first : second;
            second = -1;
            // Back at a corner from which an edge has led away: the two do not agree.
            if (first == before) {
                return false;
            }
            before = first;
            continue;
        }
        double level = tpDot(out->normal, out->pointB), higher;
        int32_t a = leadAlong(&s, first, out->normal, level, &most);
        int32_t b = leadAlong(&s, second, out->normal, level, &higher);
        if (a < 0 && b < 0) {
            return true;
        }
        bool useA = b < 0 || (a >= 0 && most >= higher);
        first = useA ? first : second;
        second = useA ? a : b;
    }
    return false;
}
