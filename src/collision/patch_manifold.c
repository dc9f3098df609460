// Lays the outline of one shape over the facet of another: contacts of capsules, cylinders and
// cones with flat parts and with each other.
//
// The corners of the overlap are points of the outline inside the facet, corners of the facet
// inside the outline, and crossings of their borders, all measured along the facet's normal. A
// capsule or a cylinder that lies on a face gives two points, a cap that stands on one eight points
// of its rim (and the lowest, where it tilts), fewer with crossings where it overhangs. Shapes
// without a facet along the normal touch in one point, or along parallel lines in two.

#include "collision/patch_manifold.h"

#include "base/constants.h"
#include "collision/next_features.h"
#include "collision/tube_lines.h"
#include "geometry/patches.h"
#include "geometry/shape.h"
#include "math/elementary.h"

// Lines within 0.6 degrees are parallel.
static const double parallelSine = 0.01;

// A pair that looks ahead also gets contacts over a facet whose normal is within 25 degrees of the
// pair's, if it is so near, of the smaller shape's inner radius: what is farther off may still
// pass. With 45 degrees cylinders take 3 percent more instructions and overlap as much.
static const double aheadCosine = 0.9, aheadPart = 0.06;

// Normals within a thousandth of a radian of a face's are that one, as for what rolls.
static const double flatCosine = 1.0 - 5e-7;

// Directions of so many sides of a facet are found once.
enum { fewSides = 16 };

// The overlap in the making.
typedef struct Overlap {
    const tpFacet* facet;
    const tpOutline* outline;
    bool outlineIsA; // the outline is of body A, the facet of body B
    double margin, rim;
    double* beyond; // least gap of what the margin has left out
    tpContactList* out;
    tpVec3 outward[fewSides]; // of the facet's sides, if they are few
} Overlap;

static double heightOf(const Overlap* o, tpVec3 point) {
    return tpDot(o->facet->normal, tpSub(point, o->facet->center)) - o->outline->radius;
}

// A contact at a point of the outline, or above one of the facet.
static void emit(const Overlap* o, tpVec3 point, double gap, int32_t outlineId, int32_t facetId) {
    if (gap > o->margin) {
        *o->beyond = fmin(*o->beyond, gap);
        return;
    }
    tpVec3 n = o->facet->normal;
    tpVec3 onOutline = tpMulAdd(point, -o->outline->radius, n);
    tpVec3 onFacet = tpMulAdd(onOutline, -gap, n);
    tpContactPoint contact = { onOutline, onFacet, n, gap,
                               tpMakeFeature(tp_smooth, outlineId, facetId) };
    if (!o->outlineIsA) {
        contact.pointA = onFacet;
        contact.pointB = onOutline;
        contact.normal = tpNeg(n);
        contact.feature = tpMakeFeature(tp_smooth, facetId, outlineId);
    }
    tpContactList_Add(o->out, &contact);
}

// Where side k of a polygon looks.
static tpVec3 outwardOf(const tpFacet* facet, int k) {
    tpVec3 p = facet->corners[k], q = facet->corners[k + 1 < facet->count ? k + 1 : 0];
    return tpNormalize(tpCross(tpSub(q, p), facet->normal));
}

// How far a point is outside of side k of the facet.
static double outsideOf(const Overlap* o, int k, tpVec3 point) {
    tpVec3 outward = k < fewSides ? o->outward[k] : outwardOf(o->facet, k);
    return tpDot(outward, tpSub(point, o->facet->corners[k]));
}

static double distanceFromAxis(tpVec3 center, tpVec3 axis, tpVec3 point) {
    tpVec3 r = tpSub(point, center);
    return tpLength(tpMulAdd(r, -tpDot(r, axis), axis));
}

static bool isInside(const Overlap* o, tpVec3 point) {
    const tpFacet* facet = o->facet;
    double rim = o->rim;
    if (facet->radius > 0.0) {
        return distanceFromAxis(facet->center, facet->normal, point) <= facet->radius + rim;
    }
    for (int k = 0; k < facet->count; ++k) {
        if (outsideOf(o, k, point) > rim) {
            return false;
        }
    }
    return true;
}

// Where a line p + t v, seen along the axis, crosses a circle: t[0] <= t[1]. False for none.
static bool crossCircle(tpVec3 center, tpVec3 axis, double radius, tpVec3 p, tpVec3 v,
                        double t[2]) {
    tpVec3 r = tpSub(p, center);
    r = tpMulAdd(r, -tpDot(r, axis), axis);
    v = tpMulAdd(v, -tpDot(v, axis), axis);
    double vv = tpDot(v, v);
    if (vv <= 0.0) {
        return false;
    }
    double middle = -tpDot(r, v) / vv;
    double least = tpLengthSquared(tpMulAdd(r, middle, v));
    double rest = radius * radius - least;
    if (rest <= 0.0) {
        return false;
    }
    double half = sqrt(rest / vv);
    t[0] = middle - half;
    t[1] = middle + half;
    return true;
}

// The part of a segment of the outline over the facet: where borders cut it, contacts.
static void cutSegment(const Overlap* o, tpVec3 p, tpVec3 q, int32_t id) {
    const tpFacet* facet = o->facet;
    double from = 0.0, to = 1.0;
    int32_t fromSide = -1, toSide = -1;
    tpVec3 v = tpSub(q, p);
    if (facet->radius > 0.0) {
        double t[2];
        if (isinf(facet->radius)) {
            return;
        }
        if (!crossCircle(facet->center, facet->normal, facet->radius, p, v, t)) {
            return;
        }
        fromSide = t[0] > from ? 0 : -1;
        toSide = t[1] < to ? 1 : -1;
        from = fmax(from, t[0]);
        to = fmin(to, t[1]);
    }
    for (int k = 0; k < facet->count && facet->radius <= 0.0; ++k) {
        double s = outsideOf(o, k, p), e = outsideOf(o, k, q);
        if (s > o->rim && e > o->rim) {
            return;
        }
        if (s > o->rim && s / (s - e) > from) {
            from = s / (s - e);
            fromSide = facet->ids[k];
        } else if (e > o->rim && s / (s - e) < to) {
            to = s / (s - e);
            toSide = facet->ids[k];
        }
    }
    if (to < from) {
        return;
    }
    if (fromSide >= 0) {
        tpVec3 point = tpMulAdd(p, from, v);
        emit(o, point, heightOf(o, point), tp_rimCrossing + 2 * id, fromSide);
    }
    if (toSide >= 0) {
        tpVec3 point = tpMulAdd(p, to, v);
        emit(o, point, heightOf(o, point), tp_rimCrossing + 2 * id + 1, toSide);
    }
}

// Crossings of the outline's rim with the upright planes over the sides of a polygon: on the rim,
// where cos and sin of the angle around it satisfy one linear equation.
static void crossRimWithSides(const Overlap* o) {
    const tpOutline* outline = o->outline;
    const tpFacet* facet = o->facet;
    tpVec3 e, f;
    tpMakeTangents(outline->rimAxis, &e, &f);
    for (int k = 0; k < facet->count; ++k) {
        tpVec3 p = facet->corners[k], q = facet->corners[k + 1 < facet->count ? k + 1 : 0];
        tpVec3 v = tpSub(q, p), outward = k < fewSides ? o->outward[k] : outwardOf(facet, k);
        double a = outline->rimRadius * tpDot(e, outward),
               b = outline->rimRadius * tpDot(f, outward);
        double c = tpDot(tpSub(p, outline->rimCenter), outward), length = sqrt(a * a + b * b);
        if (fabs(c) >= length) {
            continue;
        }
        double middle = tpAtan2(b, a), half = tpAcos(c / length);
        for (int i = 0; i < 2; ++i) {
            double angle = i == 0 ? middle - half : middle + half;
            tpVec3 r = tpAdd(tpScale(tpCos(angle), e), tpScale(tpSin(angle), f));
            tpVec3 point = tpMulAdd(outline->rimCenter, outline->rimRadius, r);
            double t = tpDot(tpSub(point, p), v) / tpDot(v, v);
            if (t >= 0.0 && t <= 1.0) {
                emit(o, point, heightOf(o, point), tp_rimCrossing + i, facet->ids[k]);
            }
        }
    }
}

// Crossings of the outline's rim with the rim of a disc, where both are parallel. A tilted rim has
// its lowest points elsewhere.
static void crossRims(const Overlap* o) {
    const tpOutline* outline = o->outline;
    const tpFacet* facet = o->facet;
    tpVec3 n = facet->normal, to = tpSub(outline->rimCenter, facet->center);
    tpVec3 flat = tpMulAdd(to, -tpDot(to, n), n);
    double distance = tpLength(flat), r = facet->radius, s = outline->rimRadius;
    if (fabs(tpDot(n, outline->rimAxis)) < TP_FACE_COSINE || distance <= fabs(r - s) ||
        distance >= r + s) {
        return;
    }
    double along = (distance * distance + r * r - s * s) / (2.0 * distance);
    double across = sqrt(fmax(0.0, r * r - along * along));
    tpVec3 u = tpScale(1.0 / distance, flat), w = tpCross(n, u);
    for (int i = 0; i < 2; ++i) {
        tpVec3 below = tpMulAdd(tpMulAdd(facet->center, along, u), i == 0 ? across : -across, w);
        double slope = tpDot(n, outline->rimAxis);
        double up = tpDot(tpSub(outline->rimCenter, below), outline->rimAxis) / slope;
        tpVec3 point = tpMulAdd(below, up, n);
        emit(o, point, heightOf(o, point), tp_rimCrossing + i, tp_rimCrossing + i);
    }
}

// Corners of the facet (vertices, or points of its rim) under the outline's disc or polygon.
static void addFacetCorners(const Overlap* o) {
    const tpOutline* outline = o->outline;
    const tpFacet* facet = o->facet;
    tpVec3 planePoint = outline->rimCenter, planeNormal = outline->rimAxis;
    if (outline->isPolygon) {
        planePoint = outline->points[0];
        planeNormal = tpNormalize(tpCross(tpSub(outline->points[1], outline->points[0]),
                                          tpSub(outline->points[2], outline->points[0])));
    }
    double slope = tpDot(facet->normal, planeNormal);
    // Seen edge-on the outline covers nothing; its edges and rim points have said all.
    if (fabs(slope) < 0.1) {
        return;
    }
    for (int i = 0; i < facet->count; ++i) {
        tpVec3 corner = facet->corners[i];
        double up = tpDot(tpSub(planePoint, corner), planeNormal) / slope;
        tpVec3 point = tpMulAdd(corner, up, facet->normal);
        bool isUnder;
        if (outline->isPolygon) {
            isUnder = true;
            for (int k = 0; k < outline->count && isUnder; ++k) {
                tpVec3 p = outline->points[k], q = outline->points[(k + 1) % outline->count];
                tpVec3 outward = tpCross(tpSub(q, p), planeNormal);
                isUnder = tpDot(outward, tpSub(point, p)) < -o->rim * tpLength(outward);
            }
        } else {
            isUnder = distanceFromAxis(outline->rimCenter, outline->rimAxis, point) <
                      outline->rimRadius - o->rim;
        }
        if (isUnder) {
            emit(o, point, heightOf(o, point), tp_rimCrossing + 2, facet->ids[i]);
        }
    }
}

static void overlap(const Overlap* o) {
    const tpOutline* outline = o->outline;
    const tpFacet* facet = o->facet;
    for (int i = 0; i < outline->count; ++i) {
        if (isInside(o, outline->points[i])) {
            emit(o, outline->points[i], heightOf(o, outline->points[i]), outline->ids[i], 0);
        }
    }
    if (outline->isPolygon) {
        for (int i = 0; i < outline->count; ++i) {
            int j = i + 1 < outline->count ? i + 1 : 0;
            cutSegment(o, outline->points[i], outline->points[j], 2 + outline->ids[i]);
        }
    }
    for (int i = 0; i < outline->segmentCount; ++i) {
        const int* s = outline->segments[i];
        cutSegment(o, outline->points[s[0]], outline->points[s[1]], i);
    }
    if (isinf(facet->radius)) {
        return;
    }
    if (outline->rimRadius > 0.0 && facet->radius <= 0.0) {
        crossRimWithSides(o);
    }
    if (outline->rimRadius > 0.0 && facet->radius > 0.0) {
        crossRims(o);
    }
    if (outline->isPolygon || outline->rimRadius > 0.0) {
        addFacetCorners(o);
    }
}

// Two parallel lines that lie across the normal.
static void joinLines(const tpPair* pair, const tpClosest* closest, tpContactList* out) {
    tpVec3 a[2], b[2], n = closest->normal;
    double radiusA, radiusB;
    if (!tpFindLine(pair->a, pair->poseA, tpNeg(n), a, &radiusA) ||
        !tpFindLine(pair->b, pair->poseB, n, b, &radiusB)) {
        return;
    }
    tpVec3 axis = tpSub(a[1], a[0]), other = tpSub(b[1], b[0]);
    double length = tpLength(axis), otherLength = tpLength(other);
    axis = tpScale(1.0 / length, axis);
    if (tpLength(tpCross(axis, other)) > parallelSine * otherLength) {
        return;
    }
    double s[2] = { tpDot(axis, tpSub(b[0], a[0])), tpDot(axis, tpSub(b[1], a[0])) };
    double from = fmax(0.0, fmin(s[0], s[1])), to = fmin(length, fmax(s[0], s[1]));
    if (to - from <= 1e-6 * length) {
        return;
    }
    for (int k = 0; k < 2; ++k) {
        double t = k == 0 ? from : to;
        tpVec3 onA = tpMulAdd(a[0], t, axis);
        tpVec3 onB = tpMulAdd(b[0], (t - s[0]) / (s[1] - s[0]), other);
        double gap = tpDot(n, tpSub(onA, onB)) - radiusA - radiusB;
        if (gap <= pair->margin) {
            tpVec3 surface = tpMulAdd(onB, radiusB, n);
            tpContactPoint contact =
                tpMakeContact(surface, n, gap, tpMakeFeature(tp_edgeEdge, k, k));
            tpContactList_Add(out, &contact);
        }
    }
}

double tpLayOutline(const tpFacet* facet, const tpOutline* outline, bool outlineIsA, double margin,
                    tpContactList* out) {
    double beyond = INFINITY;
    double size = facet->radius > 0.0 ? facet->radius
                                      : tpDistanceBetween(facet->corners[0], facet->corners[1]);
    Overlap o = { .facet = facet,
                  .outline = outline,
                  .outlineIsA = outlineIsA,
                  .margin = margin,
                  .rim = isinf(size) ? 0.0 : TP_RIM_TOLERANCE * size,
                  .beyond = &beyond,
                  .out = out };
    for (int k = 0; k < facet->count && k < fewSides && facet->radius <= 0.0; ++k) {
        o.outward[k] = outwardOf(facet, k);
    }
    overlap(&o);
    return beyond;
}

static double smallerRadius(const tpPair* pair) {
    return fmin(tpGeometry_InnerRadius(pair->a), tpGeometry_InnerRadius(pair->b));
}

// Lays the outline of the other shape over a facet, which is B's or A's. Returns the least gap of
// what the margin has left out; the margin itself if nothing is known of that.
static double layOther(const tpPair* pair, const tpFacet* facet, bool isB, tpContactList* out) {
    tpOutline outline;
    if (tpFindOutline(isB ? pair->a : pair->b, isB ? pair->poseA : pair->poseB, facet->normal,
                      &outline)) {
        return tpLayOutline(facet, &outline, isB, pair->margin, out);
    }
    return pair->margin;
}

// Contacts that the next step may make: along lines, and over a facet that looks the right way.
static void lookAhead(const tpPair* pair, const tpClosest* closest, const tpFacet* facet, bool isB,
                      double smaller, tpContactList* out) {
    int first = out->count;
    if (tpIsTube(pair->a) && tpIsTube(pair->b)) {
        tpJoinTubes(pair, closest, out);
    } else {
        joinLines(pair, closest, out);
    }
    if (facet != NULL) {
        layOther(pair, facet, isB, out);
    }
    tpContactList_DropDeeper(out, first, closest->distance - 1e-6 * smaller);
}

// How far a point is from the border of a facet below it.
static double roomOf(const tpFacet* facet, tpVec3 point) {
    if (facet->radius > 0.0) {
        return facet->radius - distanceFromAxis(facet->center, facet->normal, point);
    }
    double room = INFINITY;
    for (int k = 0; k < facet->count; ++k) {
        room = fmin(room, -tpDot(outwardOf(facet, k), tpSub(point, facet->corners[k])));
    }
    return fmax(room, 0.0);
}

// What is known beside the contacts. `beyond` is the least gap of what the margin has left out over
// a facet.
static void sayBeyond(const tpPair* pair, const tpClosest* closest, const tpFacet* facet, bool useB,
                      double cosine, double beyond) {
    if (cosine >= TP_FACE_COSINE && beyond > pair->margin) {
        pair->over->isPlane = pair->over->isAlong = true;
        pair->over->isA = !useB;
        pair->over->beyond = beyond;
    } else if (cosine >= flatCosine && (useB ? pair->a : pair->b)->type == tp_sphereShape) {
        tpPair_SayBallOverFace(pair, useB, roomOf(facet, useB ? closest->pointB : closest->pointA));
    } else if (cosine < TP_FACE_COSINE && pair->over->beyond <= pair->margin) {
        tpPair_SayNext(pair, closest);
    }
}

bool tpIsNearestMissed(const tpClosest* closest, double least, double smaller) {
    double missed = least - closest->distance - 1e-4 * fabs(closest->distance);
    return missed > 0.0 && missed > 1e-6 * smaller;
}

void tpAddNearest(const tpClosest* closest, tpContactList* out) {
    tpContactPoint contact = { closest->pointA, closest->pointB, closest->normal, closest->distance,
                               tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0) };
    tpContactList_Add(out, &contact);
}

void tpCollidePatches(const tpPair* pair, const tpClosest* closest, tpContactList* out) {
    int before = out->count;
    tpVec3 n = closest->normal;
    double cosineA = tpFacetCosine(pair->a, pair->poseA, tpNeg(n));
    double cosineB = tpFacetCosine(pair->b, pair->poseB, n);
    bool useB = cosineB >= cosineA - 1e-9;
    double cosine = fmax(cosineA, cosineB), smaller = smallerRadius(pair);
    bool isAhead = pair->looksAhead && cosine >= aheadCosine && cosine < TP_FACE_COSINE &&
                   closest->distance <= aheadPart * smaller;
    tpFacet facet;
    if (cosine >= TP_FACE_COSINE || isAhead) {
        tpFindFacet(useB ? pair->b : pair->a, useB ? pair->poseB : pair->poseA, useB ? n : tpNeg(n),
                    &facet);
    }
    double beyond = pair->margin;
    if (cosine >= TP_FACE_COSINE) {
        beyond = layOther(pair, &facet, useB, out);
    } else if (pair->looksAhead) {
        lookAhead(pair, closest, isAhead ? &facet : NULL, useB, smaller, out);
    } else {
        joinLines(pair, closest, out);
    }
    // No facet or line, or one whose contacts have missed the nearest points.
    double least = INFINITY;
    for (int i = before; i < out->count && i < out->capacity; ++i) {
        least = fmin(least, out->points[i].gap);
    }
    if (tpIsNearestMissed(closest, least, smaller)) {
        tpAddNearest(closest, out);
        beyond = pair->margin;
    }
    if (pair->over != NULL) {
        sayBeyond(pair, closest, &facet, useB, cosine, beyond);
    }
}
