// Contact points of two convex polyhedra.
//
// If the normal of the signed distance is nearly that of a face, that face is the reference: the
// facing polygon of the other body is clipped by its sides, and every corner of what is left within
// the margin is a contact, none dropped. Corners of the other body beside the facing polygon join,
// where they hang over the face within the margin: a body about to roll onto its next face meets it
// in time. Otherwise the nearest features are edges or corners that cross, with one contact, or
// parallel edges, with two.
//
//        incident   o---------o
//                   |         |            x  contacts: crossings of edges, and corners inside
//      reference  ==x=========x=====          gaps along the reference face's normal

#include "collision/hull_manifold.h"

#include "base/constants.h"
#include "collision/edge_contacts.h"
#include "collision/hull_flood.h"

#include <float.h>

// A pair that looks ahead also gets contacts over a face whose normal is within 25 degrees of that
// of the edges that meet, if these are so near, of the smaller hull's size: what is farther off may
// still pass.
static const double aheadCosine = 0.9, aheadPart = 0.05;

// Faces have a few corners, as a rule. Memory for many is taken apart from that: every page of a
// large stack is touched when a function with it is entered.
enum { fewPolygon = 40, maxPolygon = 1024 };

// A corner of the clipped polygon: on which two lines it lies. Edges of the incident body count
// from zero; sides of the reference are ~index.
typedef struct ClipCorner {
    tpVec3 point;
    int32_t vertex; // of the incident body; -1 for crossings; ~vertex - 1 of the reference
    int32_t after;  // line to the next corner
} ClipCorner;

// The incident body as the reference sees it.
typedef struct Clip {
    const tpHull* reference;
    const tpHull* incident;
    int32_t face;     // of the reference
    tpVec3 normal;    // of that face
    tpMat33 rotation; // incident axes in the reference's frame
    tpVec3 offset;    // incident origin in the reference's frame
    tpPose pose;      // of the reference
    int side;         // 1: the reference is body B
    double margin, rim;
    tpContactList* out;
    double beyond; // least gap of what the margin has left out
    int room;      // for corners of the polygon
} Clip;

static tpVec3 incidentPoint(const Clip* clip, int32_t vertex) {
    return tpAdd(clip->offset, tpMulMV(clip->rotation, clip->incident->vertices[vertex]));
}

static double gapOf(const Clip* clip, tpVec3 point) {
    return tpDot(clip->normal, point) - clip->reference->offsets[clip->face];
}

// Appends a contact at a point of the incident body, in the reference's frame.
static void emit(const Clip* clip, tpVec3 point, double gap, uint64_t feature) {
    tpVec3 onFace = tpTransformPoint(clip->pose, tpMulAdd(point, -gap, clip->normal));
    tpVec3 onIncident = tpTransformPoint(clip->pose, point);
    tpVec3 normal = tpRotate(clip->pose.rotation, clip->normal);
    tpContactPoint contact = { onIncident, onFace, normal, gap, feature };
    if (clip->side < 0) {
        contact.pointA = onFace;
        contact.pointB = onIncident;
        contact.normal = tpNeg(normal);
        contact.feature = tpSwapFeature(feature);
    }
    tpContactList_Add(clip->out, &contact);
}

// Where the edge from p to q crosses the side; s and t are their heights above it, of opposite
// sign.
static tpVec3 crossing(tpVec3 p, tpVec3 q, double s, double t) {
    return tpMulAdd(p, s / (s - t), tpSub(q, p));
}

// Two neighbouring sides of a face meet in one of its corners.
static int32_t cornerOfSides(const tpHull* hull, int32_t side, int32_t other) {
    const tpHalfEdge* edges = hull->halfEdges;
    return edges[side].next == other ? edges[other].origin : edges[side].origin;
}

// One side of the reference face cuts the polygon: Sutherland and Hodgman, with lines remembered.
static int cutPolygon(const Clip* clip, int32_t halfEdge, const ClipCorner* in, int count,
                      ClipCorner* out) {
    const tpHull* hull = clip->reference;
    tpVec3 origin = hull->vertices[hull->halfEdges[halfEdge].origin];
    tpVec3 along = tpSub(hull->vertices[tpHull_Target(hull, halfEdge)], origin);
    tpVec3 outward = tpNormalize(tpCross(along, clip->normal));
    double limit = tpDot(outward, origin);
    int kept = 0;
    for (int i = 0; i < count && kept + 2 <= clip->room; ++i) {
        const ClipCorner* p = &in[i];
        const ClipCorner* q = &in[i + 1 < count ? i + 1 : 0];
        double s = tpDot(outward, p->point) - limit, t = tpDot(outward, q->point) - limit;
        bool isIn = s <= clip->rim, isNextIn = t <= clip->rim;
        if (isIn) {
            out[kept++] = *p;
        }
        if (isIn == isNextIn) {
            continue;
        }
        // A corner on the rim stands for the crossing; leaving, the polygon goes on along the side.
        if (isIn && s >= -clip->rim) {
            out[kept - 1].after = ~halfEdge;
        }
        if ((isIn ? s : t) < -clip->rim) {
            ClipCorner corner = { crossing(p->point, q->point, s, t), -1, p->after };
            if (p->after < 0) {
                corner.vertex = -2 - cornerOfSides(hull, halfEdge, ~p->after);
            }
            corner.after = isIn ? ~halfEdge : p->after;
            out[kept++] = corner;
        }
    }
    return kept;
}

// Features of a corner between the lines `before` and `after` it, the incident body taken as A.
static uint64_t cornerFeature(const ClipCorner* corner, int32_t before) {
    if (corner->vertex >= 0) {
        return tpMakeFeature(tp_vertexFace, corner->vertex, 0);
    }
    if (corner->vertex <= -2) {
        return tpMakeFeature(tp_faceVertex, 0, -2 - corner->vertex);
    }
    int32_t incident = corner->after >= 0 ? corner->after : before;
    int32_t reference = corner->after >= 0 ? ~before : ~corner->after;
    return tpMakeFeature(tp_edgeEdge, incident / 2, reference / 2);
}

// The incident face, clipped by the sides of the reference face.
static void emitPolygon(Clip* clip, int32_t incidentFace, ClipCorner* const buffers[2]) {
    const tpHull* hull = clip->incident;
    int count = 0;
    int32_t first = hull->faceEdges[incidentFace], edge = first;
    do {
        int32_t vertex = hull->halfEdges[edge].origin;
        buffers[0][count++] = (ClipCorner){ incidentPoint(clip, vertex), vertex, edge };
        edge = hull->halfEdges[edge].next;
    } while (edge != first && count < clip->room);

    int current = 0;
    first = clip->reference->faceEdges[clip->face];
    edge = first;
    do {
        count = cutPolygon(clip, edge, buffers[current], count, buffers[1 - current]);
        current = 1 - current;
        edge = clip->reference->halfEdges[edge].next;
    } while (edge != first && count > 0);

    for (int i = 0; i < count; ++i) {
        const ClipCorner* corner = &buffers[current][i];
        double gap = gapOf(clip, corner->point);
        if (gap <= clip->margin) {
            int32_t before = buffers[current][i > 0 ? i - 1 : count - 1].after;
            emit(clip, corner->point, gap, cornerFeature(corner, before));
        } else {
            clip->beyond = fmin(clip->beyond, gap);
        }
    }
}

__attribute__((noinline)) static void emitLargePolygon(Clip* clip, int32_t incidentFace) {
    ClipCorner buffers[2][maxPolygon];
    clip->room = maxPolygon;
    emitPolygon(clip, incidentFace, (ClipCorner* const[2]){ buffers[0], buffers[1] });
}

static int countSides(const tpHull* hull, int32_t face) {
    return hull->faceFirst[face + 1] - hull->faceFirst[face];
}

static void emitFace(Clip* clip, int32_t incidentFace) {
    // Each side of the reference adds a corner, and roundings no more than another.
    int most =
        countSides(clip->incident, incidentFace) + 2 * countSides(clip->reference, clip->face);
    if (most > fewPolygon) {
        emitLargePolygon(clip, incidentFace);
        return;
    }
    ClipCorner buffers[2][fewPolygon];
    clip->room = fewPolygon;
    emitPolygon(clip, incidentFace, (ClipCorner* const[2]){ buffers[0], buffers[1] });
}

static bool isOverFace(const Clip* clip, tpVec3 point) {
    const tpHull* hull = clip->reference;
    int32_t first = hull->faceEdges[clip->face], edge = first;
    do {
        tpVec3 origin = hull->vertices[hull->halfEdges[edge].origin];
        tpVec3 along = tpSub(hull->vertices[tpHull_Target(hull, edge)], origin);
        tpVec3 outward = tpCross(along, clip->normal);
        if (tpDot(outward, tpSub(point, origin)) > clip->rim * tpLength(outward)) {
            return false;
        }
        edge = hull->halfEdges[edge].next;
    } while (edge != first);
    return true;
}

static bool isVertexOf(const tpHull* hull, int32_t face, int32_t vertex) {
    for (int32_t i = hull->faceFirst[face]; i < hull->faceFirst[face + 1]; ++i) {
        if (hull->faceVertices[i] == vertex) {
            return true;
        }
    }
    return false;
}

// Whether a vertex can be the next to touch a face with this normal (frame of the hull): one of its
// faces looks towards it by 20 degrees or more. The far side of a thin plate does not count.
static bool looksTowards(const tpHull* hull, int32_t vertex, tpVec3 normal) {
    for (int32_t k = hull->neighborFirst[vertex]; k < hull->neighborFirst[vertex + 1]; ++k) {
        if (tpDot(hull->normals[hull->neighborFaces[k]], normal) <= -TP_FACING_SINE) {
            return true;
        }
    }
    return false;
}

void tpCollideOverFace(const tpHull* reference, tpPose referencePose, int32_t face,
                       const tpHull* incident, tpPose incidentPose, int32_t nearest, int side,
                       double margin, tpContactList* out, tpOverFace* over) {
    tpDifference d = tpMakeDifference(reference, referencePose, incident, incidentPose);
    Clip clip = { .reference = reference,
                  .incident = incident,
                  .face = face,
                  .normal = reference->normals[face],
                  .rotation = d.rotation,
                  .offset = d.offset,
                  .pose = referencePose,
                  .side = side,
                  .margin = margin,
                  .rim = TP_RIM_TOLERANCE * reference->radius,
                  .out = out,
                  .beyond = DBL_MAX };
    tpVec3 normal = tpMulMTV(d.rotation, clip.normal);
    int32_t lowest = tpHull_Support(incident, tpNeg(normal), nearest);
    int32_t incidentFace =
        tpHull_FaceAtVertex(incident, nearest >= 0 ? nearest : lowest, tpNeg(normal));
    emitFace(&clip, incidentFace);

    // Other vertices that hang over the face.
    int32_t vertices[tp_maxFlood];
    double reach = margin + reference->offsets[face] - tpDot(clip.normal, clip.offset);
    if (tpDot(normal, incident->vertices[lowest]) > reach) {
        return;
    }
    double next;
    int count = tpHull_Flood(incident, normal, lowest, reach, vertices, &next);
    for (int i = 0; i < count; ++i) {
        if (isVertexOf(incident, incidentFace, vertices[i])) {
            continue;
        }
        tpVec3 point = incidentPoint(&clip, vertices[i]);
        double gap = gapOf(&clip, point);
        if (gap <= margin && isOverFace(&clip, point) &&
            looksTowards(incident, vertices[i], normal)) {
            emit(&clip, point, gap, tpMakeFeature(tp_vertexFace, vertices[i], 0));
        }
    }
    if (over != NULL) {
        tpVec3 outward = tpRotate(referencePose.rotation, clip.normal);
        *over = (tpOverFace){ .isFace = true,
                              .isA = side < 0,
                              .normal = side < 0 ? tpNeg(outward) : outward,
                              .incident =
                                  tpRotate(incidentPose.rotation, incident->normals[incidentFace]),
                              .least = DBL_MAX,
                              .beyond = fmin(clip.beyond, margin + (next - reach)) };
    }
}

// The edge between two vertices, or the first edge of the first where they share none.
static int32_t edgeBetween(const tpHull* hull, int32_t from, int32_t to) {
    int32_t first = hull->vertexEdges[from], edge = first;
    do {
        if (tpHull_Target(hull, edge) == to) {
            return edge / 2;
        }
        edge = tpHull_NextAround(hull, edge);
    } while (edge != first);
    return first / 2;
}

// Different vertices of one body among the corners; the first two of them.
static int distinctVertices(const tpCornerSimplex* s, bool ofA, int32_t vertices[2]) {
    int count = 0;
    for (int i = 0; i < s->count; ++i) {
        int32_t v = ofA ? s->corners[i].a : s->corners[i].b;
        if (count == 0 || (v != vertices[0] && (count == 1 || v != vertices[1]))) {
            if (count < 2) {
                vertices[count] = v;
            }
            ++count;
        }
    }
    return count;
}

// One contact, at the nearest points.
static void emitNearest(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                        tpContactList* out) {
    int32_t a[2], b[2];
    int countA = distinctVertices(&separation->simplex, true, a);
    int countB = distinctVertices(&separation->simplex, false, b);
    uint64_t feature;
    if (countA == 1) {
        feature = tpMakeFeature(tp_vertexFace, a[0], 0);
    } else if (countB == 1) {
        feature = tpMakeFeature(tp_faceVertex, 0, b[0]);
    } else {
        feature = tpMakeFeature(tp_edgeEdge, edgeBetween(d->a, a[0], a[1]),
                                edgeBetween(d->b, b[0], b[1]));
    }
    tpContactPoint contact = { tpTransformPoint(poseA, separation->pointA),
                               tpTransformPoint(poseA, separation->pointB),
                               tpRotate(poseA.rotation, separation->normal), separation->distance,
                               feature };
    tpContactList_Add(out, &contact);
}

// An edge at the vertex that lies across the direction, -1 for none.
static int32_t edgeAcross(const tpHull* hull, int32_t vertex, tpVec3 direction, double tolerance) {
    int32_t first = hull->vertexEdges[vertex], edge = first, best = -1;
    double least = tolerance;
    do {
        tpVec3 along = tpSub(hull->vertices[tpHull_Target(hull, edge)], hull->vertices[vertex]);
        double dot = fabs(tpDot(along, direction)) / tpLength(along);
        if (dot < least) {
            least = dot;
            best = edge;
        }
        edge = tpHull_NextAround(hull, edge);
    } while (edge != first);
    return best;
}

// Two parallel edges: contacts at both ends of what they share. False if there are none.
static bool emitParallelEdges(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                              tpContactList* out) {
    const double parallel = 1e-6;
    tpVec3 normalB = tpMulMTV(d->rotation, separation->normal);
    int32_t edgeA =
        edgeAcross(d->a, separation->simplex.corners[0].a, separation->normal, parallel);
    int32_t edgeB = edgeAcross(d->b, separation->simplex.corners[0].b, normalB, parallel);
    if (edgeA < 0 || edgeB < 0) {
        return false;
    }
    int32_t endsA[2] = { d->a->halfEdges[edgeA].origin, tpHull_Target(d->a, edgeA) };
    int32_t endsB[2] = { d->b->halfEdges[edgeB].origin, tpHull_Target(d->b, edgeB) };
    tpVec3 originA = d->a->vertices[endsA[0]];
    tpVec3 axis = tpSub(d->a->vertices[endsA[1]], originA);
    double length = tpLength(axis);
    axis = tpScale(1.0 / length, axis);
    tpVec3 alongB = tpMulMV(d->rotation, tpSub(d->b->vertices[endsB[1]], d->b->vertices[endsB[0]]));
    if (tpLength(tpCross(axis, alongB)) > parallel * tpLength(alongB)) {
        return false;
    }
    // The interval of B on the line of A, and what both share.
    double s[2];
    for (int k = 0; k < 2; ++k) {
        s[k] = tpDot(axis, tpSub(tpDifference_PointB(d, endsB[k]), originA));
    }
    int low = s[0] <= s[1] ? 0 : 1;
    double from = fmax(0.0, s[low]), to = fmin(length, s[1 - low]);
    if (to - from <= parallel * length) {
        return false;
    }
    for (int k = 0; k < 2; ++k) {
        double at = k == 0 ? from : to;
        bool isEndOfA = k == 0 ? s[low] <= 0.0 : s[1 - low] >= length;
        uint64_t feature = isEndOfA
                               ? tpMakeFeature(tp_vertexFace, endsA[k], 0)
                               : tpMakeFeature(tp_faceVertex, 0, endsB[k == 0 ? low : 1 - low]);
        tpVec3 onA = tpMulAdd(originA, at, axis);
        tpVec3 onB = tpMulAdd(onA, -separation->distance, separation->normal);
        tpContactPoint contact = { tpTransformPoint(poseA, onA), tpTransformPoint(poseA, onB),
                                   tpRotate(poseA.rotation, separation->normal),
                                   separation->distance, feature };
        tpContactList_Add(out, &contact);
    }
    return true;
}

static double leastGap(const tpContactList* list, int first) {
    double least = DBL_MAX;
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        least = fmin(least, list->points[i].gap);
    }
    return least;
}

// The faces that look at each other, and which of them is the reference.
typedef struct Facing {
    const tpDifference* d;
    tpPose poseA, poseB;
    const tpCorner* corner; // nearest
    int32_t faceA, faceB;
    bool useB;
} Facing;

static void collideFacing(const Facing* f, double margin, tpContactList* out, tpOverFace* over) {
    const tpHull *a = f->d->a, *b = f->d->b;
    if (f->useB) {
        tpCollideOverFace(b, f->poseB, f->faceB, a, f->poseA, f->corner->a, 1, margin, out, over);
    } else {
        tpCollideOverFace(a, f->poseA, f->faceA, b, f->poseB, f->corner->b, -1, margin, out, over);
    }
}

// Beside edges that meet, corners over the face that looks most along the normal: a body that turns
// about those edges comes down on it within the step.
static void lookAhead(const Facing* facing, double distance, double margin, tpContactList* out,
                      tpOverFace* over) {
    int first = out->count;
    collideFacing(facing, margin, out, over);
    tpContactList_DropDeeper(out, first, distance);
    over->hasEdges = true;
    over->beyond = over->isFace ? over->beyond : margin;
    over->isFace = over->isFace && out->count > first;
}

// Contacts over the face that looks along the normal of the separation, or of edges or corners if
// there is none.
static void collideAlong(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                         tpPose poseB, double margin, tpContactList* out, tpOverFace* over) {
    const tpHull *a = d->a, *b = d->b;
    const tpCorner* corner = &separation->simplex.corners[0];
    tpVec3 towardsB = tpNeg(separation->normal);
    tpVec3 towardsA = tpMulMTV(d->rotation, separation->normal);
    Facing facing = { .d = d, .poseA = poseA, .poseB = poseB, .corner = corner };
    facing.faceA = tpHull_FaceAtVertex(a, tpHull_Support(a, towardsB, corner->a), towardsB);
    facing.faceB = tpHull_FaceAtVertex(b, tpHull_Support(b, towardsA, corner->b), towardsA);
    double cosineA = tpDot(a->normals[facing.faceA], towardsB);
    double cosineB = tpDot(b->normals[facing.faceB], towardsA);
    // Of two parallel faces the larger body's is the reference, for no other reason than to choose.
    bool isTie = fabs(cosineA - cosineB) <= 1e-9;
    facing.useB = isTie ? b->radius >= a->radius : cosineB > cosineA;
    int before = out->count;
    if (fmax(cosineA, cosineB) >= TP_FACE_COSINE) {
        collideFacing(&facing, margin, out, over);
    } else if (emitParallelEdges(d, separation, poseA, out)) {
        return;
    }
    // No face, or one whose contacts have missed the nearest points.
    double slack = 1e-6 * fmin(a->radius, b->radius) + 1e-4 * fabs(separation->distance);
    if (leastGap(out, before) > separation->distance + slack) {
        emitNearest(d, separation, poseA, out);
        if (over != NULL) {
            over->hasEdges = true;
        }
        if (over != NULL && !over->isFace && fmax(cosineA, cosineB) >= aheadCosine &&
            separation->distance <= aheadPart * fmin(a->radius, b->radius)) {
            lookAhead(&facing, separation->distance, margin, out, over);
        }
    }
}

// How much higher than its lowest vertex along `normal` the next ones are that are not within
// `reach` of it. Zero if more than an edge is within that.
static double heightOfNext(const tpHull* hull, tpVec3 normal, int32_t hint, double reach) {
    int32_t vertices[tp_maxFlood];
    int32_t lowest = tpHull_Support(hull, tpNeg(normal), hint);
    double low = tpDot(normal, hull->vertices[lowest]), next;
    int count = tpHull_Flood(hull, normal, lowest, low + reach, vertices, &next);
    return count <= 2 ? next - low : 0.0;
}

// Edges or corners have met, along a direction in which all other vertices are higher: what has no
// contact is as much farther off.
static void sayBeyondEdges(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                           double margin, const tpContactList* out, int first, tpOverFace* over) {
    *over = (tpOverFace){ .beyond = margin };
    if (out->count > out->capacity || out->count == first) {
        return;
    }
    const tpContactPoint* point = &out->points[first];
    const tpCorner* corner = &separation->simplex.corners[0];
    double reach = tpEdgeRounding(d->a->innerRadius, d->b->innerRadius);
    tpVec3 normal = tpUnrotate(poseA.rotation, point->normal);
    double a = heightOfNext(d->a, normal, corner->a, reach);
    double b = heightOfNext(d->b, tpMulMTV(d->rotation, tpNeg(normal)), corner->b, reach);
    over->beyond = fmax(margin, point->gap + fmin(a, b));
}

void tpCollideSeparated(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                        tpPose poseB, double margin, tpContactList* out, tpOverFace* over) {
    int before = out->count;
    tpOverFace face = { .beyond = DBL_MAX };
    if (!tpCollideEdges(d, poseA, separation->normal, separation->distance,
                        separation->simplex.corners[0], margin, out)) {
        collideAlong(d, separation, poseA, poseB, margin, out, over != NULL ? &face : NULL);
    }
    if (over != NULL) {
        *over = face;
        if (!face.isFace) {
            sayBeyondEdges(d, separation, poseA, margin, out, before, over);
            over->beyond = fmax(margin, fmin(over->beyond, face.beyond));
        }
    }
}

double tpCollideHulls(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB, double margin,
                      tpPairCache* cache, tpContactList* out, tpOverFace* over) {
    tpDifference d = tpMakeDifference(a, poseA, b, poseB);
    tpSeparation separation = tpSeparatePolyhedra(&d, margin, cache);
    if (separation.isFar || separation.distance > margin) {
        if (over != NULL) {
            *over = (tpOverFace){ .beyond = separation.distance,
                                  .away = tpRotate(poseA.rotation, separation.normal) };
        }
        return separation.distance;
    }
    tpCollideSeparated(&d, &separation, poseA, poseB, margin, out, over);
    return separation.distance;
}

// Whether an edge that rises by no more than 1 in 50 joins vertex i of the list to one taken before
// it.
static bool isLevelWithTaken(const tpHull* hull, tpVec3 normal, const int32_t* vertices,
                             const bool* isTaken, int i) {
    int32_t v = vertices[i];
    for (int32_t k = hull->neighborFirst[v]; k < hull->neighborFirst[v + 1]; ++k) {
        for (int j = 0; j < i; ++j) {
            if (vertices[j] == hull->neighbors[k] && isTaken[j]) {
                tpVec3 edge = tpSub(hull->vertices[v], hull->vertices[vertices[j]]);
                if (tpDot(normal, edge) <= 0.02 * tpLength(edge)) {
                    return true;
                }
            }
        }
    }
    return false;
}

void tpCollideHullPlane(const tpHull* a, tpPose poseA, tpVec3 normal, double offset, double margin,
                        tpPairCache* cache, tpContactList* out, tpOverFace* over) {
    // The plane in the frame of the hull.
    tpVec3 n = tpUnrotate(poseA.rotation, normal);
    double level = offset - tpDot(normal, poseA.position);
    int32_t hint =
        cache != NULL && cache->words[0] < (uint32_t)a->vertexCount ? (int32_t)cache->words[0] : 0;
    int32_t lowest = tpHull_Support(a, tpNeg(n), hint);
    if (cache != NULL) {
        cache->words[0] = (uint32_t)lowest;
    }
    double lowestGap = tpDot(n, a->vertices[lowest]) - level;
    if (lowestGap > margin) {
        if (over != NULL) {
            over->beyond = lowestGap;
        }
        return;
    }
    double next;
    int32_t vertices[tp_maxFlood];
    bool isTaken[tp_maxFlood];
    int count = tpHull_Flood(a, n, lowest, level + margin, vertices, &next);
    for (int i = 0; i < count; ++i) {
        tpVec3 v = a->vertices[vertices[i]];
        // A steep edge or tip has no face that looks down, but its lowest line touches.
        isTaken[i] = i == 0 || looksTowards(a, vertices[i], n) ||
                     isLevelWithTaken(a, n, vertices, isTaken, i);
        if (isTaken[i]) {
            double gap = tpDot(n, v) - level;
            tpVec3 point = tpTransformPoint(poseA, v);
            tpContactPoint contact = { point, tpMulAdd(point, -gap, normal), normal, gap,
                                       tpMakeFeature(tp_vertexFace, vertices[i], 0) };
            tpContactList_Add(out, &contact);
        }
    }
    if (over != NULL) {
        *over = (tpOverFace){
            .isFace = true, .normal = normal, .least = lowestGap, .beyond = next - level
        };
    }
}
