// Edge on edge.
//
// Seen along the reference edge, the reference body is a wedge and the nearest corners of the other
// body are points at (u, h) from the edge: h along the normal of one of the wedge's faces, u along
// that face and outwards. The directions that part the bodies are n(f) = cos f n1 + sin f t:
//
//          n1  n(f)
//           | /      o  incident corner (u, h)       f = 0: normal of this face; f grows up to the
//     ------+--- t                                   normal of the other face. Other corners of the
//      face | \                                      incident body narrow the arc: none of them may
//           |  other face                            be lower along n(f).

#include "collision/edge_contacts.h"

#include "base/constants.h"
#include "math/elementary.h"

#include <float.h>

// In radii of rounding: how far aside of the edge, how deep in an overlap, and how far apart
// corners are moved to the edge's direction. Bodies apart by more than rounding have a direction of
// their own.
static const double farthest = 4.0, deepest = tp_edgeReach, apart = 0.04;

// Arcs below this angle, rad, are one direction: that of a face, which has more contacts.
static const double leastArc = 1e-3;

double tpEdgeRounding(double innerRadiusA, double innerRadiusB) {
    return TP_EDGE_ROUNDING * fmin(innerRadiusA, innerRadiusB);
}

// One of the two bodies, with its frame in that of A.
typedef struct EdgeSide {
    const tpHull* hull;
    tpMat33 rotation;
    tpVec3 offset;
    int32_t vertices[2]; // the lowest ones
    int count;           // 3: more than two
} EdgeSide;

static tpVec3 pointOf(const EdgeSide* side, int32_t vertex) {
    return tpAdd(side->offset, tpMulMV(side->rotation, side->hull->vertices[vertex]));
}

static tpVec3 turned(const EdgeSide* side, tpVec3 v) {
    return tpMulMV(side->rotation, v);
}

// The vertices within `reach` of the lowest along `up` (frame of A): those hang together by edges.
static void findLowest(EdgeSide* side, tpVec3 up, double reach, int32_t hint) {
    tpVec3 direction = tpMulMTV(side->rotation, up);
    const tpHull* hull = side->hull;
    int32_t lowest = tpHull_Support(hull, tpNeg(direction), hint);
    double level = tpDot(direction, hull->vertices[lowest]) + reach;
    side->vertices[0] = lowest;
    side->count = 1;
    for (int32_t k = hull->neighborFirst[lowest]; k < hull->neighborFirst[lowest + 1]; ++k) {
        if (tpDot(direction, hull->vertices[hull->neighbors[k]]) <= level) {
            if (side->count == 1) {
                side->vertices[1] = hull->neighbors[k];
            }
            ++side->count;
        }
    }
}

static int32_t halfEdgeBetween(const tpHull* hull, int32_t from, int32_t to) {
    int32_t first = hull->vertexEdges[from], edge = first;
    while (tpHull_Target(hull, edge) != to) {
        edge = tpHull_NextAround(hull, edge);
        if (edge == first) {
            return -1;
        }
    }
    return edge;
}

// A wedge: an edge of the reference body, and where the incident corners are to it.
typedef struct Wedge {
    tpVec3 origin, along;    // of the edge, unit
    tpVec3 normal, across;   // n1 and t
    double length;           // of the edge
    double first, last;      // the smallest and the largest angle f
    double u[2], h[2], s[2]; // of the incident corners; s along the edge
} Wedge;

static void layWedge(const EdgeSide* reference, int32_t halfEdge, const EdgeSide* incident,
                     Wedge* w) {
    const tpHull* hull = reference->hull;
    const tpHalfEdge* edges = hull->halfEdges;
    w->origin = pointOf(reference, edges[halfEdge].origin);
    tpVec3 along = tpSub(pointOf(reference, tpHull_Target(hull, halfEdge)), w->origin);
    w->length = tpLength(along);
    w->along = tpScale(1.0 / w->length, along);
    w->normal = turned(reference, hull->normals[edges[halfEdge].face]);
    w->across = tpNormalize(tpCross(w->along, w->normal));
    for (int i = 0; i < incident->count; ++i) {
        tpVec3 r = tpSub(pointOf(incident, incident->vertices[i]), w->origin);
        w->u[i] = tpDot(w->across, r);
        w->h[i] = tpDot(w->normal, r);
        w->s[i] = tpDot(w->along, r);
    }
}

// The arc between the normals of the wedge's two faces.
static void layArc(const EdgeSide* reference, int32_t halfEdge, Wedge* w) {
    const tpHull* hull = reference->hull;
    tpVec3 other = turned(reference, hull->normals[hull->halfEdges[halfEdge ^ 1].face]);
    w->first = 0.0;
    w->last = tpAtan2(tpDot(w->across, other), tpDot(w->normal, other));
}

// Narrows the angles to those in which the incident corners stay the lowest of their body. False if
// nothing is left.
static bool narrow(const EdgeSide* incident, Wedge* w) {
    const tpHull* hull = incident->hull;
    for (int i = 0; i < incident->count; ++i) {
        int32_t v = incident->vertices[i];
        for (int32_t k = hull->neighborFirst[v]; k < hull->neighborFirst[v + 1]; ++k) {
            int32_t u = hull->neighbors[k];
            if (incident->count == 2 && u == incident->vertices[1 - i]) {
                continue;
            }
            tpVec3 edge = turned(incident, tpSub(hull->vertices[u], hull->vertices[v]));
            double rise = tpDot(w->normal, edge), run = tpDot(w->across, edge);
            // cos f rise + sin f run >= 0 bounds f from above if run < 0, from below if rise < 0.
            if (rise < 0.0 && run <= 0.0) {
                return false;
            }
            if (run < 0.0) {
                w->last = fmin(w->last, tpAtan2(rise, -run));
            } else if (rise < 0.0) {
                w->first = fmax(w->first, tpAtan2(-rise, run));
            }
        }
    }
    return w->last - w->first > leastArc;
}

// The largest separation along any of the directions: the signed distance of wedge and corner.
static double distanceAt(const Wedge* w, double u, double h) {
    double one = tpCos(w->first) * h + tpSin(w->first) * u;
    double two = tpCos(w->last) * h + tpSin(w->last) * u;
    double angle = tpAtan2(u, h);
    return angle > w->first && angle < w->last ? tpHypot(u, h) : fmax(one, two);
}

// How far the incident corners are from the edge, in radii of rounding.
typedef struct Offset {
    double ahead, aside; // the mean along the middle of the arc and across it
    double distance;     // signed, of the nearest corner
} Offset;

// What measureOffset would say no to whatever the arc: most corners are that far off, and the arc
// takes several arctangents.
static bool isInReach(const Wedge* w, int count, double rounding) {
    double most = 1.001 * (farthest * farthest + deepest * deepest) * rounding * rounding;
    double low = w->s[0], high = w->s[0];
    for (int i = 0; i < count; ++i) {
        if (w->u[i] * w->u[i] + w->h[i] * w->h[i] > most) {
            return false;
        }
        low = w->s[i] < low ? w->s[i] : low;
        high = w->s[i] > high ? w->s[i] : high;
    }
    return low < w->length && high > 0.0;
}

// False if they are too far for the edge to matter, or beyond its ends.
static bool measureOffset(const Wedge* w, int count, double rounding, Offset* offset) {
    double middle = 0.5 * (w->first + w->last), sine, cosine;
    double low = w->s[0], high = w->s[0];
    tpSinCos(middle, &sine, &cosine);
    *offset = (Offset){ 0.0, 0.0, DBL_MAX };
    for (int i = 0; i < count; ++i) {
        double x = (cosine * w->h[i] + sine * w->u[i]) / rounding;
        double y = (cosine * w->u[i] - sine * w->h[i]) / rounding;
        if (x > farthest || x < -deepest || fabs(y) > farthest) {
            return false;
        }
        offset->ahead += x / count;
        offset->aside += y / count;
        offset->distance = fmin(offset->distance, distanceAt(w, w->u[i], w->h[i]) / rounding);
        low = fmin(low, w->s[i]);
        high = fmax(high, w->s[i]);
    }
    return offset->distance < apart && low < w->length && high > 0.0;
}

// The direction: the middle of the arc at the edge and in an overlap, that of the distance farther
// away.
static tpVec3 directionOf(const Wedge* w, const Offset* offset) {
    double sine, cosine, ahead = fmax(offset->ahead, 0.0);
    double weight = 2.0 * fmax(0.0, 1.0 - tpHypot(ahead, offset->aside) / farthest);
    weight *= fmin(1.0, 1.0 - offset->distance / apart);
    double angle = 0.5 * (w->first + w->last) + tpAtan2(offset->aside, ahead + weight);
    angle = fmin(fmax(angle, w->first), w->last);
    tpSinCos(angle, &sine, &cosine);
    return tpAdd(tpScale(cosine, w->normal), tpScale(sine, w->across));
}

typedef struct Emission {
    const Wedge* wedge;
    tpPose poseA;
    tpVec3 direction; // from the reference to the incident body
    bool incidentIsA;
    double margin;
    tpContactList* out;
} Emission;

// A contact at (u, h) from the edge, s along it.
static void emit(const Emission* e, double u, double h, double s, uint64_t feature) {
    const Wedge* w = e->wedge;
    double gap = distanceAt(w, u, h);
    if (gap > e->margin) {
        return;
    }
    tpVec3 point = tpMulAdd(w->origin, s, w->along);
    point = tpMulAdd(tpMulAdd(point, u, w->across), h, w->normal);
    tpVec3 onIncident = tpTransformPoint(e->poseA, point);
    tpVec3 onReference = tpTransformPoint(e->poseA, tpMulAdd(point, -gap, e->direction));
    tpVec3 n = tpRotate(e->poseA.rotation, e->direction);
    tpContactPoint contact = { onIncident, onReference, n, gap, feature };
    if (!e->incidentIsA) {
        contact = (tpContactPoint){ onReference, onIncident, tpNeg(n), gap, feature };
    }
    tpContactList_Add(e->out, &contact);
}

static uint64_t vertexFeature(int32_t vertex, bool isOfA) {
    return isOfA ? tpMakeFeature(tp_vertexFace, vertex, 0)
                 : tpMakeFeature(tp_faceVertex, 0, vertex);
}

// The ends of what the two edges share; a lone corner is its own end.
static void emitShared(const Emission* e, const EdgeSide* reference, int32_t halfEdge,
                       const EdgeSide* incident) {
    const Wedge* w = e->wedge;
    if (incident->count == 1) {
        emit(e, w->u[0], w->h[0], w->s[0], vertexFeature(incident->vertices[0], e->incidentIsA));
        return;
    }
    int low = w->s[0] <= w->s[1] ? 0 : 1, high = 1 - low;
    double span = w->s[high] - w->s[low];
    for (int k = 0; k < 2; ++k) {
        int end = k == 0 ? low : high;
        bool isOwn = k == 0 ? w->s[low] >= 0.0 : w->s[high] <= w->length;
        double s = isOwn ? w->s[end] : k == 0 ? 0.0 : w->length;
        double part = isOwn ? k : (s - w->s[low]) / span; // an edge across has no span
        int32_t own = k == 0 ? reference->hull->halfEdges[halfEdge].origin
                             : tpHull_Target(reference->hull, halfEdge);
        uint64_t feature = isOwn ? vertexFeature(incident->vertices[end], e->incidentIsA)
                                 : vertexFeature(own, !e->incidentIsA);
        emit(e, w->u[low] + part * (w->u[high] - w->u[low]),
             w->h[low] + part * (w->h[high] - w->h[low]), s, feature);
    }
}

// Tries one edge of the reference body.
static bool tryEdge(const EdgeSide* reference, int32_t halfEdge, const EdgeSide* incident,
                    bool incidentIsA, double rounding, tpPose poseA, double margin,
                    tpContactList* out) {
    Wedge wedge;
    Offset offset;
    layWedge(reference, halfEdge, incident, &wedge);
    if (!isInReach(&wedge, incident->count, rounding)) {
        return false;
    }
    layArc(reference, halfEdge, &wedge);
    if (!narrow(incident, &wedge) || !measureOffset(&wedge, incident->count, rounding, &offset)) {
        return false;
    }
    tpVec3 direction = directionOf(&wedge, &offset);
    Emission e = { &wedge, poseA, direction, incidentIsA, margin, out };
    emitShared(&e, reference, halfEdge, incident);
    return true;
}

// The edges of the face over which the incident corners may be, or the one lowest edge.
static bool tryReference(const EdgeSide* reference, const EdgeSide* incident, tpVec3 towards,
                         bool incidentIsA, double rounding, tpPose poseA, double margin,
                         tpContactList* out) {
    const tpHull* hull = reference->hull;
    if (reference->count == 2) {
        int32_t edge = halfEdgeBetween(hull, reference->vertices[0], reference->vertices[1]);
        return edge >= 0 &&
               tryEdge(reference, edge, incident, incidentIsA, rounding, poseA, margin, out);
    }
    int32_t face = tpHull_SupportFace(hull, tpMulMTV(reference->rotation, towards));
    int32_t first = hull->faceEdges[face], edge = first;
    do {
        if (tryEdge(reference, edge, incident, incidentIsA, rounding, poseA, margin, out)) {
            return true;
        }
        edge = hull->halfEdges[edge].next;
    } while (edge != first);
    return false;
}

bool tpCollideEdges(const tpDifference* d, tpPose poseA, tpVec3 normal, double distance,
                    tpCorner nearest, double margin, tpContactList* out) {
    double rounding = tpEdgeRounding(d->a->innerRadius, d->b->innerRadius);
    if (!(distance < apart * rounding && distance > -deepest * rounding)) {
        return false;
    }
    EdgeSide a = { .hull = d->a, .rotation = tpIdentityMat33(), .offset = tpZeroVec3() };
    EdgeSide b = { .hull = d->b, .rotation = d->rotation, .offset = d->offset };
    findLowest(&a, normal, rounding, nearest.a);
    findLowest(&b, tpNeg(normal), rounding, nearest.b);
    if ((a.count == 1 && b.count == 1) || (a.count > 2 && b.count > 2)) {
        return false;
    }
    // The body with the more corners is the reference.
    return a.count > b.count
               ? tryReference(&a, &b, tpNeg(normal), false, rounding, poseA, margin, out)
               : tryReference(&b, &a, normal, true, rounding, poseA, margin, out);
}
