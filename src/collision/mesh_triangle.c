// One triangle of a surface against a convex shape.
//
// Most triangles are settled without a distance: one that looks away from the shape or is farther
// below it than the margin does not matter. If the shape's lowest point lies over the triangle, the
// triangle's normal is the direction of the distance, and the contacts are those over the face. If
// none of its edges is convex, nothing else can push. Only what is left, shapes beside convex
// edges, is asked for the nearest features, and judged by what lies around the triangle
// (triangle_cone.h): a direction that its edge or corner cannot push in is left to the neighbour
// that can, or, if the shape already overlaps the triangle, turned into the triangle's own normal.
//
// Crossings with edges that are flat are no corners of the region of contact and are left out. So a
// box that slides over flat neighbouring triangles has the four contacts it would have on one large
// face, and never feels an edge.

#include "collision/mesh_query.h"

#include "base/constants.h"
#include "collision/difference.h"
#include "collision/hull_manifold.h"
#include "collision/patch_manifold.h"
#include "collision/smooth_distance.h"

#include <float.h>

// Heights that agree to this part of the shape's size are the same.
static const double sameHeight = 1e-8;

// Overlaps up to this part of the smaller one of shape and triangle are with the triangle that
// tells of them; of deeper ones it is asked.
static const double shallowPart = 0.01;

// A triangle, and how the convex shape lies to it.
typedef struct TriangleSide {
    tpTriangle triangle;
    int32_t index;
    int32_t lowest; // vertex of the core over its plane
    uint32_t start; // the features from which planes have been tried
    double offset;  // of its plane
    double height;  // of the lowest point over it
    tpSmallHull hull;
    tpGeometry geometry; // the same as a shape, for round ones
    tpClosest closest;
    tpTrianglePart part; // of the triangle, that is nearest
    int k;
    bool isDeep;             // the core itself overlaps the triangle
    tpSeparation separation; // of the core and the triangle, if it was asked for
} TriangleSide;

// What the shape shows to a plane; neighbouring triangles often have the same normal.
static const tpOutline* outlineOf(tpMeshQuery* query, tpVec3 n) {
    if (!query->hasOutline) {
        return NULL;
    }
    bool isSame = n.x == query->outlineNormal.x && n.y == query->outlineNormal.y &&
                  n.z == query->outlineNormal.z;
    if (!isSame) {
        query->outlineNormal = n;
        query->hasOutline = tpFindOutline(&query->convex, query->pose, n, &query->outline);
    }
    return query->hasOutline ? &query->outline : NULL;
}

// Names and delivery ------------------------------------------------------------------------------

// Corner or edge numbers of the triangle become those of the surface. False if the contact is no
// corner of the region of contact.
static bool nameFeature(const tpMeshQuery* query, const tpTriangle* t, int32_t index,
                        uint64_t* feature) {
    uint64_t mask = (UINT64_C(1) << 31) - 1;
    tpFeatureKind kind = (tpFeatureKind)(*feature >> 62);
    int32_t a = (int32_t)(*feature >> 31 & mask), b = (int32_t)(*feature & mask);
    bool isCorner = kind == tp_faceVertex, isEdge = kind == tp_edgeEdge;
    int k = b;
    if (kind == tp_smooth) {
        if (b >= tp_rimCrossing) {
            // The triangle was the outline: its edges cross a facet of the convex shape.
            isEdge = (b - tp_rimCrossing) / 2 >= 2;
            k = isEdge ? (b - tp_rimCrossing) / 2 - 2 : 0;
        } else {
            isCorner = a == tp_rimCrossing + 2;
            isEdge = a >= tp_rimCrossing && a != tp_rimCrossing + 2 && a != tp_rimCrossing + 3;
        }
    }
    if (isCorner && b < 3) {
        bool isFlat = t->edges[b] == tp_flatEdge && t->edges[(b + 2) % 3] == tp_flatEdge;
        *feature = tpMakeFeature(kind, a, t->vertices[b]);
        return !isFlat;
    }
    if (isEdge && k < 3) {
        *feature = tpMakeFeature(kind, a, tpTriangleEdgeId(&query->view, t, index, k));
        return t->edges[k] != tp_flatEdge;
    }
    *feature = tpMakeFeature(kind, a, index);
    return true;
}

static void deliver(const tpMeshQuery* query, const tpTriangle* t, int32_t index,
                    const tpContactPoint* contact) {
    tpContactPoint c = *contact;
    if (c.gap <= query->margin && nameFeature(query, t, index, &c.feature)) {
        c.pointA = tpTransformPoint(query->toWorld, c.pointA);
        c.pointB = tpTransformPoint(query->toWorld, c.pointB);
        c.normal = tpRotate(query->toWorld.rotation, c.normal);
        tpContactList_Add(query->out, &c);
    }
}

static void deliverAll(const tpMeshQuery* query, const TriangleSide* side,
                       const tpContactList* list) {
    int count = list->count < list->capacity ? list->count : list->capacity;
    for (int i = 0; i < count; ++i) {
        deliver(query, &side->triangle, side->index, &list->points[i]);
    }
}

void tpMeshQuery_Deliver(const tpMeshQuery* query, int32_t index, const tpContactPoint* contact) {
    tpTriangle t = tpSurfaceView_Triangle(&query->view, index);
    deliver(query, &t, index, contact);
}

// Over the face -----------------------------------------------------------------------------------

static bool isOver(const tpTriangle* t, tpVec3 point) {
    for (int k = 0; k < 3; ++k) {
        tpVec3 p = t->corners[k], along = tpSub(t->corners[(k + 1) % 3], p);
        tpVec3 outward = tpCross(along, t->normal);
        if (tpDot(outward, tpSub(point, p)) > TP_RIM_TOLERANCE * tpLengthSquared(along)) {
            return false;
        }
    }
    return true;
}

static void fillHull(const tpMeshQuery* query, TriangleSide* side) {
    tpFillTriangle(&side->hull, side->triangle.corners, side->triangle.normal);
    if (query->core == NULL || query->core->faceCount == 0) {
        side->geometry = (tpGeometry){ .type = tp_hullShape, .pose = tpIdentityPose() };
        side->geometry.hull = &side->hull.hull;
    }
}

// Contacts of the shape over the triangle, along its normal; `lowest` is the shape's lowest point.
static void collideOverTriangle(tpMeshQuery* query, TriangleSide* side, tpVec3 lowest,
                                tpContactList* list) {
    tpVec3 n = side->triangle.normal;
    if (query->cornerCount > 0 && query->core->faceCount > 0) {
        tpMeshQuery_CollideOver(query, &side->triangle, side->offset, side->hull.hull.radius,
                                side->lowest, list);
        tpRoundContacts(list, 0, query->radius, 0.0);
        return;
    }
    if (query->core != NULL && query->core->faceCount > 0) {
        tpCollideOverFace(&side->hull.hull, tpIdentityPose(), 0, query->core, query->pose, -1, 1,
                          query->margin + query->radius, list, NULL);
        tpRoundContacts(list, 0, query->radius, 0.0);
        return;
    }
    const tpOutline* outline = outlineOf(query, n);
    if (outline != NULL) {
        tpFacet facet = { .cosine = 1.0, .normal = n, .radius = 0.0, .count = 3 };
        facet.center = side->triangle.corners[0];
        for (int k = 0; k < 3; ++k) {
            facet.corners[k] = side->triangle.corners[k];
            facet.ids[k] = k;
        }
        tpLayOutline(&facet, outline, true, query->margin, list);
    } else if (isOver(&side->triangle, lowest)) {
        double gap = tpDot(n, lowest) - side->offset;
        tpContactPoint contact = tpMakeContact(tpMulAdd(lowest, -gap, n), n, gap, TP_LONE_POINT);
        tpContactList_Add(list, &contact);
    }
}

static double leastGap(const tpContactList* list) {
    double least = DBL_MAX;
    for (int i = 0; i < list->count && i < list->capacity; ++i) {
        least = fmin(least, list->points[i].gap);
    }
    return least;
}

// Whether contacts over the triangle are as near as the shape is to its plane, and, in an overlap,
// the way out through one of its convex edges is no shorter.
static bool areProven(const tpMeshQuery* query, const TriangleSide* side, double height,
                      const tpContactList* list) {
    double inwards[3] = { -DBL_MAX, -DBL_MAX, -DBL_MAX };
    const tpTriangle* t = &side->triangle;
    int count = list->count < list->capacity ? list->count : list->capacity;
    if (!(leastGap(list) <= height + sameHeight * query->size)) {
        return false;
    }
    for (int k = 0; k < 3 && height < -sameHeight * query->size; ++k) {
        if (t->edges[k] != tp_convexEdge) {
            continue;
        }
        tpVec3 p = t->corners[k];
        tpVec3 inward = tpNormalize(tpCross(t->normal, tpSub(t->corners[(k + 1) % 3], p)));
        for (int i = 0; i < count; ++i) {
            if (list->points[i].gap <= 0.0) {
                inwards[k] = fmax(inwards[k], tpDot(inward, tpSub(list->points[i].pointB, p)));
            }
        }
        if (inwards[k] < -height) {
            return false;
        }
    }
    return true;
}

// Nearest features --------------------------------------------------------------------------------

static int heaviest(const double weights[3]) {
    int k = weights[1] > weights[0] ? 1 : 0;
    return weights[2] > weights[k] ? 2 : k;
}

// A start for the solver: from the triangle's point nearest to the shape's centre.
static tpSmoothCache guessNearest(tpMeshQuery* query, const TriangleSide* side) {
    double weights[3];
    tpVec3 q = tpNearestOnTriangle(side->triangle.corners, query->center, weights);
    tpVec3 n = tpSub(query->center, q);
    n = tpLengthSquared(n) > 0.0 ? tpNormalize(n) : side->triangle.normal;
    tpVec3 local = tpUnrotate(query->pose.rotation, n);
    tpVec3 low = query->smooth.class->support(&query->smooth, tpNeg(local));
    return (tpSmoothCache){ { (float)local.x, (float)local.y, (float)local.z },
                            { (float)low.x, (float)low.y, (float)low.z },
                            { (float)q.x, (float)q.y, (float)q.z } };
}

// The part of the triangle on which a point lies, to rounding.
static void findPart(TriangleSide* side, tpVec3 point) {
    double weights[3], size = side->hull.hull.radius;
    tpNearestOnTriangle(side->triangle.corners, point, weights);
    for (int k = 0; k < 3; ++k) {
        // Within rounding of the opposite edge.
        tpVec3 p = side->triangle.corners[(k + 1) % 3], q = side->triangle.corners[(k + 2) % 3];
        tpVec3 inward = tpCross(side->triangle.normal, tpNormalize(tpSub(q, p)));
        if (tpDot(inward, tpSub(point, p)) <= 1e-9 * size) {
            weights[k] = 0.0;
        }
    }
    side->part = tpPartOfWeights(weights, &side->k);
}

static bool nearestOfRound(tpMeshQuery* query, double limit, TriangleSide* side) {
    if (tpMeshQuery_IsBeyond(query, limit, side->triangle.corners)) {
        return false;
    }
    tpClosest* c = &side->closest;
    if (tpMeshQuery_NearestOfCylinder(query, &side->triangle, &side->hull.hull, side->height, c)) {
        side->isDeep = c->distance <= 0.0;
        findPart(side, c->pointB);
        return c->distance <= limit;
    }
    tpSmoothCache cache = guessNearest(query, side);
    tpSmoothResult result;
    if (!tpSmoothClosestRoughly(&query->convex, query->pose, &side->geometry, tpIdentityPose(),
                                query->roughness, &cache, &result)) {
        return false;
    }
    *c = (tpClosest){ result.gap, result.pointA, result.pointB, result.normal };
    side->isDeep = c->distance <= 0.0;
    findPart(side, c->pointB);
    return c->distance <= limit;
}

// The signed distance of the core and the triangle, from where it was when the pair was asked last.
static void separateCore(tpMeshQuery* query, double limit, TriangleSide* side) {
    tpDifference_PutB(&query->difference, &side->hull.hull);
    tpPairCache cache = { { 0 } };
    const tpTriangleStart* start = tpMeshQuery_StartOf(query, side->index);
    if (start != NULL) {
        tpUnpackStart(start->word, &cache);
    } else if (query->cornerCount > 0) {
        tpUnpackStart(tpStartAtVertex(query->lowest, 0), &cache);
    }
    side->separation = tpSeparatePolyhedra(&query->difference, limit, &cache);
    uint32_t word;
    if (tpPackStart(&cache, &word)) {
        tpMeshQuery_KeepStart(query, side->index, word);
    }
}

static bool nearestOfCore(tpMeshQuery* query, double limit, TriangleSide* side) {
    // Triangles that have been asked are known to be within the margin.
    if (limit < query->margin && tpMeshQuery_IsBeyond(query, limit, side->triangle.corners)) {
        return false;
    }
    tpClosest* c = &side->closest;
    separateCore(query, limit + query->radius, side);
    const tpSeparation* s = &side->separation;
    if (s->isFar || s->distance > limit + query->radius) {
        return false;
    }
    c->normal = tpRotate(query->pose.rotation, s->normal);
    c->distance = s->distance - query->radius;
    c->pointA = tpMulAdd(tpTransformPoint(query->pose, s->pointA), -query->radius, c->normal);
    c->pointB = tpTransformPoint(query->pose, s->pointB);
    side->isDeep = s->distance <= 1e-10 * query->difference.size;
    double weights[3] = { 0.0, 0.0, 0.0 };
    for (int i = 0; i < s->simplex.count; ++i) {
        weights[s->simplex.corners[i].b] = 1.0;
    }
    side->part = tpPartOfWeights(weights, &side->k);
    return true;
}

// The same from features that planes have found.
static void knowSeparation(tpMeshQuery* query, TriangleSide* side) {
    const tpDifference* d = &query->difference;
    const tpClosest* c = &side->closest;
    tpDifference_PutB(&query->difference, &side->hull.hull);
    tpSeparation s = { .distance = c->distance,
                       .normal = tpMulMV(d->rotation, c->normal),
                       .pointA = tpAdd(d->offset, tpMulMV(d->rotation, c->pointA)),
                       .pointB = tpAdd(d->offset, tpMulMV(d->rotation, c->pointB)),
                       .isExact = true };
    tpStartCorners start = tpReadStart(side->start);
    s.simplex.count = start.count;
    for (int i = 0; i < start.count; ++i) {
        s.simplex.corners[i] = tpDifference_Corner(d, start.a[i], start.b[i]);
    }
    side->separation = s;
    side->isDeep = false;
    tpMeshQuery_KeepStart(query, side->index, side->start);
}

// The nearest features of the shape and the triangle; false if they are farther than `limit`.
static bool findNearest(tpMeshQuery* query, double limit, TriangleSide* side) {
    return query->core != NULL ? nearestOfCore(query, limit, side)
                               : nearestOfRound(query, limit, side);
}

// Contacts along the direction of the nearest features: an edge or a corner of the surface.
static void collideAlongNearest(tpMeshQuery* query, TriangleSide* side) {
    tpContactPoint points[tp_maxOnTriangle];
    tpContactList list = { points, 0, tp_maxOnTriangle };
    if (query->core != NULL && query->core->faceCount > 0) {
        tpCollideSeparated(&query->difference, &side->separation, query->pose, tpIdentityPose(),
                           query->margin + query->radius, &list, NULL);
        tpRoundContacts(&list, 0, query->radius, 0.0);
    } else {
        tpPair pair = { &query->convex, &side->geometry, query->pose, tpIdentityPose(),
                        query->margin,  false,           NULL };
        tpCollidePatches(&pair, &side->closest, &list);
    }
    deliverAll(query, side, &list);
}

// Whether a neighbour across a bent edge looks more in the direction n than the triangle does.
static bool isNeighborsTask(const tpMeshQuery* query, const TriangleSide* side, tpVec3 n,
                            double cosine) {
    for (int k = 0; k < 3; ++k) {
        int32_t neighbor = side->triangle.neighbors[k];
        if (neighbor >= 0 && side->triangle.edges[k] != tp_flatEdge &&
            tpDot(tpSurfaceView_Triangle(&query->view, neighbor).normal, n) > cosine + 1e-3) {
            return true;
        }
    }
    return false;
}

// Asking ------------------------------------------------------------------------------------------

// A ball: the nearest point of the triangle to its centre.
static tpTriangleOutcome askBall(tpMeshQuery* query, TriangleSide* side, double height) {
    tpTriangle* t = &side->triangle;
    double weights[3], gap = height;
    tpVec3 q = tpNearestOnTriangle(t->corners, query->center, weights), n = t->normal;
    side->part = tpPartOfWeights(weights, &side->k);
    if (side->part != tp_triangleInside) {
        n = tpSub(query->center, q);
        double distance = tpLength(n);
        n = tpScale(1.0 / distance, n);
        gap = distance - query->radius;
    }
    if (gap > query->margin) {
        return tp_triangleAnswered;
    }
    tpAddNeighbors(query->view.geometry, side->index, t);
    if (side->part == tp_triangleInside ||
        tpTrianglePushes(&query->view, t, side->index, side->part, side->k, n)) {
        tpVec3 low = tpMulAdd(query->center, -query->radius, n);
        tpContactPoint contact = tpMakeContact(tpMulAdd(low, -gap, n), n, gap, TP_LONE_POINT);
        deliver(query, t, side->index, &contact);
    }
    return tp_triangleAnswered;
}

// The triangle as the query sees it, first without its neighbours.
static void getCorners(const tpMeshQuery* query, int32_t index, TriangleSide* side) {
    tpGetCorners(query->view.geometry, index, &side->triangle);
    side->index = index;
    if (query->view.isInside) {
        tpAddNeighbors(query->view.geometry, index, &side->triangle);
        side->triangle = tpFlipTriangle(&side->triangle);
    }
    side->offset = tpDot(side->triangle.normal, side->triangle.corners[0]);
    side->height = 0.0;
}

// Shapes beside a convex edge, or deep in the triangle: by the nearest features. `over` are the
// contacts over the face; if there are none yet (a capacity of 0) they are found if they are asked
// for.
static tpTriangleOutcome askNearest(tpMeshQuery* query, TriangleSide* side, bool isKnown,
                                    tpVec3 lowest, tpContactList* over) {
    if (isKnown) {
        knowSeparation(query, side);
    } else if (!findNearest(query, query->margin, side)) {
        return tp_triangleAnswered;
    }
    tpVec3 n = side->closest.normal;
    double cosine = tpDot(n, side->triangle.normal);
    bool isFace = cosine >= TP_FACE_COSINE && (query->hasOutline || side->isDeep);
    if (over->capacity == 0 && (isFace || side->isDeep)) {
        over->capacity = tp_maxOnTriangle;
        collideOverTriangle(query, side, lowest, over);
    }
    if (isFace) {
        deliverAll(query, side, over);
        // Contacts over the face may have missed the nearest points.
        double slack = 1e-6 * query->size + 1e-4 * fabs(side->closest.distance);
        if (leastGap(over) > side->closest.distance + slack) {
            tpContactPoint contact = { side->closest.pointA, side->closest.pointB, n,
                                       side->closest.distance, TP_LONE_POINT };
            deliver(query, &side->triangle, side->index, &contact);
        }
    } else if (tpTrianglePushes(&query->view, &side->triangle, side->index, side->part, side->k,
                                n)) {
        collideAlongNearest(query, side);
    } else if (side->isDeep) {
        if (over->count == 0 || isNeighborsTask(query, side, n, cosine)) {
            return tp_triangleLeaves;
        }
        deliverAll(query, side, over);
    }
    return tp_triangleAnswered;
}

// Whether contacts over the triangle are with the triangle. A wide shape may have its centre in
// front of the triangle's plane and a part of it far behind the triangle, having come around the
// mesh: a cube of triangles stands on a plate, and the plate lies behind the cube's upper faces.
static bool meetsTriangle(tpMeshQuery* query, TriangleSide* side, double gap) {
    double shallow = shallowPart * fmin(query->size, side->hull.hull.radius);
    return !(gap < -shallow) || findNearest(query, 0.0, side);
}

// Whether the lowest corner is not over the triangle, and the only one of that height: then the
// nearest features decide, which often know that nothing is to be done.
static bool liesBeside(const tpMeshQuery* query, const tpTriangle* t, tpVec3 lowest) {
    if (query->convex.type == tp_cylinderShape) {
        return tpMeshQuery_IsCylinderTilted(query, t->normal) && !isOver(t, lowest);
    }
    double level = tpDot(t->normal, lowest) + query->radius + sameHeight * query->size;
    int count = 0;
    for (int i = 0; i < query->cornerCount; ++i) {
        count += tpDot(t->normal, query->corners[i]) <= level ? 1 : 0;
    }
    return count == 1 && !isOver(t, lowest);
}

static tpPlaneAnswer askPlanes(tpMeshQuery* query, TriangleSide* side) {
    const tpVec3* corners = side->triangle.corners;
    const tpTriangleStart* start = tpMeshQuery_StartOf(query, side->index);
    if (query->core == NULL) {
        return tp_planesAreOpen;
    }
    if (query->cornerCount == 0 || query->radius > 0.0) {
        bool isBeyond = start == NULL && tpMeshQuery_IsBeyond(query, query->margin, corners);
        return isBeyond ? tp_planesAreBetween : tp_planesAreOpen;
    }
    double weights[3];
    tpPlaneAnswer answer = tp_planesAreOpen;
    if (start == NULL) {
        answer = tpMeshQuery_TryPlanes(query, -1, corners, &side->closest, weights);
        side->start = tpStartAtVertex(query->lowest, heaviest(weights));
    } else {
        tpStartCorners at = tpReadStart(start->word);
        side->start = start->word;
        if (!at.isInside) {
            answer = tpMeshQuery_TryFeatures(query, &at, corners, &side->closest, weights);
        }
    }
    if (answer == tp_planesAtFeatures) {
        side->part = tpPartOfWeights(weights, &side->k);
    } else if (answer == tp_planesAreBetween && start != NULL) {
        tpMeshQuery_KeepStart(query, side->index, side->start);
    }
    return answer;
}

// Whether nothing is to be done for a triangle below which a corner is nearest, apart from it: the
// direction is none of its own.
static bool isForOthers(tpMeshQuery* query, const TriangleSide* side) {
    tpVec3 n = side->closest.normal;
    if (tpDot(n, side->triangle.normal) >= TP_FACE_COSINE ||
        tpTrianglePushes(&query->view, &side->triangle, side->index, side->part, side->k, n)) {
        return false;
    }
    tpMeshQuery_KeepStart(query, side->index, side->start);
    return true;
}

static bool hasConvexEdge(const tpTriangle* t) {
    return t->edges[0] == tp_convexEdge || t->edges[1] == tp_convexEdge ||
           t->edges[2] == tp_convexEdge;
}

// A triangle within the margin. Apart from the others, which need less memory: every page of a
// large stack is touched when a function with it is entered.
__attribute__((noinline)) static tpTriangleOutcome
askNear(tpMeshQuery* query, TriangleSide* side, bool isBeside, bool isKnown, tpVec3 lowest) {
    tpContactPoint points[tp_maxOnTriangle];
    tpContactList over = { points, 0, 0 };
    const tpTriangle* t = &side->triangle;
    fillHull(query, side);
    if (isBeside) {
        return askNearest(query, side, isKnown, lowest, &over);
    }
    over.capacity = tp_maxOnTriangle;
    collideOverTriangle(query, side, lowest, &over);
    double height = tpDot(t->normal, lowest) - side->offset;
    if (!hasConvexEdge(t) || areProven(query, side, height, &over)) {
        if (meetsTriangle(query, side, leastGap(&over))) {
            deliverAll(query, side, &over);
        }
        return tp_triangleAnswered;
    }
    return askNearest(query, side, false, lowest, &over);
}

tpTriangleOutcome tpMeshQuery_Ask(tpMeshQuery* query, int32_t index) {
    TriangleSide side;
    getCorners(query, index, &side);
    tpTriangle* t = &side.triangle;
    if (tpDot(t->normal, query->center) <= side.offset) {
        return tp_triangleBehind;
    }
    tpVec3 lowest = tpMeshQuery_Lowest(query, t->normal);
    side.lowest = query->lowest;
    double height = side.height = tpDot(t->normal, lowest) - side.offset;
    if (height > query->margin) {
        return tp_triangleAnswered;
    }
    if (query->core != NULL && query->core->vertexCount == 1) {
        return askBall(query, &side, height);
    }
    // Two of three triangles in the shape's box are beyond the margin.
    tpPlaneAnswer planes = askPlanes(query, &side);
    if (planes == tp_planesAreBetween) {
        return tp_triangleAnswered;
    }
    if (!query->view.isInside) {
        tpAddNeighbors(query->view.geometry, index, t);
    }
    bool isBeside = hasConvexEdge(t) && liesBeside(query, t, lowest);
    bool isKnown = isBeside && planes == tp_planesAtFeatures;
    if (isKnown && isForOthers(query, &side)) {
        return tp_triangleAnswered;
    }
    return askNear(query, &side, isBeside, isKnown, lowest);
}

bool tpMeshQuery_Distance(tpMeshQuery* query, int32_t index, double limit, tpClosest* out) {
    TriangleSide side;
    getCorners(query, index, &side);
    if (query->core != NULL && query->core->vertexCount == 1) {
        double weights[3];
        tpVec3 q = tpNearestOnTriangle(side.triangle.corners, query->center, weights);
        tpVec3 d = tpSub(query->center, q);
        double distance = tpLength(d);
        tpVec3 n =
            distance > 1e-12 * query->size ? tpScale(1.0 / distance, d) : side.triangle.normal;
        *out = (tpClosest){ distance - query->radius, tpMulAdd(query->center, -query->radius, n), q,
                            n };
        return out->distance <= limit;
    }
    fillHull(query, &side);
    bool isFound = findNearest(query, limit, &side);
    *out = side.closest;
    return isFound;
}

void tpMeshQuery_PushAlong(tpMeshQuery* query, int32_t index) {
    TriangleSide side;
    getCorners(query, index, &side);
    if (!query->view.isInside) {
        tpAddNeighbors(query->view.geometry, index, &side.triangle);
    }
    fillHull(query, &side);
    tpContactPoint points[tp_maxOnTriangle];
    tpContactList over = { points, 0, tp_maxOnTriangle };
    tpVec3 lowest = tpMeshQuery_Lowest(query, side.triangle.normal);
    side.lowest = query->lowest;
    collideOverTriangle(query, &side, lowest, &over);
    deliverAll(query, &side, &over);
}
