// Contacts of a convex shape with the triangles of a mesh or height field.
//
// Each triangle near the shape is asked as a flat convex polyhedron. What comes out is then judged by
// what lies around the triangle (triangle_cone.h): a direction that its edge or corner cannot push in
// is left to the neighbour that can, or, where the shape already overlaps the triangle, turned into the
// triangle's own normal. Crossings with edges that are flat are no corners of the region of contact and
// are left out. So a box that slides over flat neighbouring triangles has the four contacts it would
// have on one large face, and never feels an edge.

#include "collision/mesh_pairs.h"

#include "base/constants.h"
#include "collision/difference.h"
#include "collision/hull_manifold.h"
#include "collision/patch_manifold.h"
#include "collision/smooth_distance.h"
#include "collision/triangle_cone.h"
#include "geometry/shape.h"

#include <float.h>

enum { maxOnTriangle = 320, maxDeferred = 32 };

// One convex shape (A) against one surface (B), in the frame of the surface.
typedef struct Query {
    const tpGeometry* convex;
    const tpGeometry* surface;
    tpPose pose; // of the convex shape
    tpVec3 center;
    const tpHull* core; // NULL for other round shapes
    bool isFlat;        // it has faces, lines or rims
    double radius, margin;
    tpPose toWorld;
    tpContactList* out;
} Query;

// A triangle of the surface, and how the convex shape lies to it.
typedef struct Side {
    tpTriangle triangle;
    int32_t index;
    tpSmallHull hull;
    tpGeometry geometry; // the same as a shape
    tpClosest closest;   // frame of the surface
    tpTrianglePart part; // of the triangle, that is nearest
    int k;
    bool isDeep; // the core itself overlaps the triangle
} Side;

static void startQuery(const tpPair* pair, tpCoreStorage* storage, tpContactList* out,
                       Query* query) {
    query->convex = pair->a;
    query->surface = pair->b;
    tpPose toSurface = tpInversePose(pair->poseB);
    query->pose = tpComposePoses(toSurface, pair->poseA);
    query->core = tpGeometry_Core(pair->a, storage, &query->radius);
    query->margin = pair->margin;
    query->toWorld = pair->poseB;
    query->out = out;
    tpOutline outline;
    query->isFlat = tpFindOutline(pair->a, query->pose, tpMakeVec3(0.0, 0.0, 1.0), &outline);
    query->center = query->core != NULL ? tpTransformPoint(query->pose, query->core->center)
                                        : query->pose.position;
}

// The part of the triangle on which a point lies, by its weights.
static void findPart(Side* side, tpVec3 point) {
    const tpVec3* c = side->triangle.corners;
    double size = side->hull.hull.radius, weights[3];
    int zeros = 0, k = 0;
    for (int i = 0; i < 3; ++i) {
        tpVec3 p = c[(i + 1) % 3], q = c[(i + 2) % 3];
        tpVec3 inward = tpCross(side->triangle.normal, tpNormalize(tpSub(q, p)));
        weights[i] = tpDot(inward, tpSub(point, p));
    }
    for (int i = 0; i < 3; ++i) {
        if (weights[i] <= 1e-9 * size) {
            ++zeros;
            k = i;
        }
    }
    side->part = zeros == 0 ? tp_triangleInside : zeros == 1 ? tp_triangleEdge : tp_triangleCorner;
    side->k = (k + 1) % 3;
    if (zeros >= 2) {
        for (int i = 0; i < 3; ++i) {
            if (weights[i] > weights[side->k] || i == 0) {
                side->k = i;
            }
        }
    }
}

// Distinct corners of the triangle that carry the nearest point say which part it is.
static void partOfSimplex(Side* side, const tpCornerSimplex* s) {
    int mask = 0;
    for (int i = 0; i < s->count; ++i) {
        mask |= 1 << s->corners[i].b;
    }
    static const tpTrianglePart parts[8] = { tp_triangleInside, tp_triangleCorner,
                                             tp_triangleCorner, tp_triangleEdge,
                                             tp_triangleCorner, tp_triangleEdge,
                                             tp_triangleEdge,   tp_triangleInside };
    static const int numbers[8] = { 0, 0, 1, 0, 2, 2, 1, 0 };
    side->part = parts[mask];
    side->k = numbers[mask];
}

// False where the shape is beyond the margin.
static bool lookAt(const Query* query, int32_t index, Side* side) {
    side->triangle = tpGetTriangle(query->surface, index);
    side->index = index;
    tpFillTriangle(&side->hull, side->triangle.corners, side->triangle.normal);
    side->geometry = (tpGeometry){ .type = tp_hullShape, .pose = tpIdentityPose() };
    side->geometry.hull = &side->hull.hull;
    tpClosest* c = &side->closest;
    if (query->core == NULL) {
        tpGeometry convex = *query->convex;
        convex.pose = tpIdentityPose();
        tpSmoothResult result;
        if (!tpSmoothClosest(&convex, query->pose, &side->geometry, tpIdentityPose(), NULL,
                             &result)) {
            return false;
        }
        *c = (tpClosest){ result.gap, result.pointA, result.pointB, result.normal };
        side->isDeep = c->distance <= 0.0;
        findPart(side, c->pointB);
        return c->distance <= query->margin;
    }
    tpDifference d = tpMakeDifference(query->core, query->pose, &side->hull.hull, tpIdentityPose());
    tpSeparation s = tpSeparatePolyhedra(&d, query->margin + query->radius, NULL);
    if (s.isFar || s.distance > query->margin + query->radius) {
        return false;
    }
    c->normal = tpRotate(query->pose.rotation, s.normal);
    c->distance = s.distance - query->radius;
    c->pointA = tpMulAdd(tpTransformPoint(query->pose, s.pointA), -query->radius, c->normal);
    c->pointB = tpTransformPoint(query->pose, s.pointB);
    side->isDeep = s.distance <= 1e-10 * d.size;
    partOfSimplex(side, &s.simplex);
    return true;
}

// Corner or edge numbers of the triangle become those of the surface. False where the contact is no
// corner of the region of contact.
static bool nameFeature(const Query* query, const Side* side, uint64_t* feature) {
    const tpTriangle* t = &side->triangle;
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
        *feature = tpMakeFeature(kind, a, tpTriangleEdgeId(query->surface, t, side->index, k));
        return t->edges[k] != tp_flatEdge;
    }
    *feature = tpMakeFeature(kind, a, side->index);
    return true;
}

// Moves contacts from the frame of the surface, with features named, to the answer.
static void deliver(const Query* query, const Side* side, const tpContactList* list) {
    int count = list->count < list->capacity ? list->count : list->capacity;
    for (int i = 0; i < count; ++i) {
        tpContactPoint c = list->points[i];
        if (nameFeature(query, side, &c.feature)) {
            c.pointA = tpTransformPoint(query->toWorld, c.pointA);
            c.pointB = tpTransformPoint(query->toWorld, c.pointB);
            c.normal = tpRotate(query->toWorld.rotation, c.normal);
            tpContactList_Add(query->out, &c);
        }
    }
}

// The lowest point of the shape over the plane of the triangle.
static tpContactPoint lowestOver(const Query* query, const Side* side) {
    tpVec3 n = side->triangle.normal, down = tpUnrotate(query->pose.rotation, tpNeg(n));
    tpVec3 low = tpTransformPoint(query->pose, tpGeometry_Support(query->convex, down));
    double gap = tpDot(n, low) - side->hull.offsets[0];
    return tpMakeContact(tpMulAdd(low, -gap, n), n, gap,
                         tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0));
}

// Contacts along the triangle's own normal.
static void collideOverTriangle(const Query* query, Side* side) {
    tpContactPoint points[maxOnTriangle];
    tpContactList list = { points, 0, maxOnTriangle };
    if (query->core != NULL && query->core->faceCount > 0) {
        tpCollideOverFace(&side->hull.hull, tpIdentityPose(), 0, query->core, query->pose, -1, 1,
                          query->margin + query->radius, &list);
        tpRoundContacts(&list, 0, query->radius, 0.0);
    } else {
        tpPair pair = { query->convex,    &side->geometry, query->pose,
                        tpIdentityPose(), query->margin,   false };
        tpClosest closest = side->closest;
        tpVec3 n = closest.normal = side->triangle.normal;
        tpCollidePatches(&pair, &closest, &list);
        // A single point was measured along another normal. Where the shape has a line or rim that
        // does not lie over this triangle, its neighbours have it.
        tpContactPoint* last = &list.points[list.count - 1];
        if (last->feature == tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0)) {
            tpOutline outline;
            if (tpFindOutline(query->convex, query->pose, n, &outline)) {
                --list.count;
            } else {
                *last = lowestOver(query, side);
            }
        }
    }
    deliver(query, side, &list);
}

// Contacts along the direction of the nearest features: an edge or a corner of the surface.
static void collideAlongNearest(const Query* query, Side* side) {
    tpContactPoint points[maxOnTriangle];
    tpContactList list = { points, 0, maxOnTriangle };
    tpPair pair = { query->convex,    &side->geometry, query->pose,
                    tpIdentityPose(), query->margin,   false };
    if (query->core != NULL && query->core->faceCount > 0) {
        tpCollideHulls(query->core, query->pose, &side->hull.hull, tpIdentityPose(),
                       query->margin + query->radius, NULL, &list);
        tpRoundContacts(&list, 0, query->radius, 0.0);
    } else {
        tpCollidePatches(&pair, &side->closest, &list);
    }
    deliver(query, side, &list);
}

// Whether a neighbour across a bent edge looks more in the direction n than the triangle does.
static bool isNeighborsTask(const Query* query, const Side* side, tpVec3 n, double cosine) {
    for (int k = 0; k < 3; ++k) {
        int32_t neighbor = side->triangle.neighbors[k];
        if (neighbor >= 0 && side->triangle.edges[k] != tp_flatEdge &&
            tpDot(tpGetTriangle(query->surface, neighbor).normal, n) > cosine + 1e-3) {
            return true;
        }
    }
    return false;
}

// What became of a triangle that overlaps the shape: it answered, it lies behind the shape, or its
// neighbours look more in the direction to push.
typedef enum Outcome { answered, isBehind, isLeftToNeighbors } Outcome;

static Outcome collideTriangle(const Query* query, Side* side) {
    tpVec3 n = side->closest.normal;
    double cosine = tpDot(n, side->triangle.normal);
    bool isOverlapping = side->isDeep || side->closest.distance <= 0.0;
    if (isOverlapping && tpDot(side->triangle.normal, query->center) < side->hull.offsets[0]) {
        return isBehind;
    }
    // A ball has no flat part to lay on the triangle: the direction of its nearest point is exact.
    if (cosine >= TP_FACE_COSINE && (query->isFlat || side->isDeep)) {
        collideOverTriangle(query, side);
    } else if (tpTrianglePushes(query->surface, &side->triangle, side->index, side->part, side->k,
                                n)) {
        collideAlongNearest(query, side);
    } else if (side->isDeep) {
        if (isNeighborsTask(query, side, n, cosine)) {
            return isLeftToNeighbors;
        }
        collideOverTriangle(query, side);
    }
    return answered;
}

// Triangles that left the answer to others.
typedef struct Deferred {
    int32_t triangles[maxDeferred];
    int count;
    bool anyAtEdge;        // one of them at a bent edge or corner
    tpContactPoint lowest; // over the triangle below which the shape is shallowest
    int32_t shallowest;    // that triangle
} Deferred;

static void defer(const Query* query, const Side* side, Outcome outcome, Deferred* deferred) {
    if (deferred->count < maxDeferred) {
        deferred->triangles[deferred->count++] = side->index;
    }
    deferred->anyAtEdge = deferred->anyAtEdge || outcome == isLeftToNeighbors;
    tpContactPoint low = lowestOver(query, side);
    if (low.gap > deferred->lowest.gap) {
        deferred->lowest = low;
        deferred->shallowest = side->index;
    }
}

// The nearest of some triangles when the shape is moved; false where it still overlaps one.
static bool nearestWhenMoved(const Query* query, tpVec3 by, const Deferred* deferred, Side* out) {
    Query moved = *query;
    moved.pose.position = tpAdd(query->pose.position, by);
    moved.margin = INFINITY;
    bool isFound = false;
    for (int i = 0; i < deferred->count; ++i) {
        Side side;
        if (!lookAt(&moved, deferred->triangles[i], &side) || side.isDeep) {
            return false;
        }
        if (!isFound || side.closest.distance < out->closest.distance) {
            // Only what is read later: the hull inside points into itself.
            out->triangle = side.triangle;
            out->index = side.index;
            out->closest = side.closest;
            isFound = true;
        }
    }
    return isFound;
}

// A shape that lies across a sharp edge or corner of the surface, each of whose triangles alone would
// push it sideways: pulled back along their mean normal until it is free, it sees the edge from
// outside, and the direction between the nearest points is the one to push in. The gap along it is then
// measured where the shape is.
static void pushOffEdge(const Query* query, const Deferred* deferred) {
    tpVec3 mean = tpZeroVec3();
    for (int i = 0; i < deferred->count; ++i) {
        mean = tpAdd(mean, tpGetTriangle(query->surface, deferred->triangles[i]).normal);
    }
    mean = tpNormalize(mean);
    double step = -deferred->lowest.gap / 64.0;
    Side side;
    for (int k = 0; k < 10; ++k, step *= 2.0) {
        if (!nearestWhenMoved(query, tpScale(step, mean), deferred, &side)) {
            continue;
        }
        tpVec3 n = side.closest.normal, down = tpUnrotate(query->pose.rotation, tpNeg(n));
        tpVec3 low = tpTransformPoint(query->pose, tpGeometry_Support(query->convex, down));
        double top = -DBL_MAX;
        for (int i = 0; i < deferred->count; ++i) {
            tpTriangle t = tpGetTriangle(query->surface, deferred->triangles[i]);
            for (int c = 0; c < 3; ++c) {
                top = fmax(top, tpDot(n, t.corners[c]));
            }
        }
        tpContactPoint contact = tpMakeContact(side.closest.pointB, n, tpDot(n, low) - top,
                                               tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0));
        tpContactList list = { &contact, 1, 1 };
        deliver(query, &side, &list);
        return;
    }
}

static tpTriangleQuery trianglesNear(const Query* query) {
    tpGeometry convex = *query->convex;
    convex.pose = tpIdentityPose();
    tpBounds bounds = tpGeometry_Bounds(&convex, query->pose);
    tpVec3 grow = tpMakeVec3(query->margin, query->margin, query->margin);
    bounds.lower = tpSub(bounds.lower, grow);
    bounds.upper = tpAdd(bounds.upper, grow);
    return tpQueryTriangles(query->surface, bounds);
}

// A height field is solid all the way down: a shape wholly below it is pushed by the triangle over its
// centre.
static void collideBelowField(const Query* query) {
    tpBounds column = { { query->center.x, query->center.y, -DBL_MAX },
                        { query->center.x, query->center.y, DBL_MAX } };
    tpTriangleQuery above = tpQueryTriangles(query->surface, column);
    for (int32_t t = tpNextTriangle(&above); t >= 0; t = tpNextTriangle(&above)) {
        Side side = { .triangle = tpGetTriangle(query->surface, t), .index = t };
        tpFillTriangle(&side.hull, side.triangle.corners, side.triangle.normal);
        const tpVec3* c = side.triangle.corners;
        bool isOver = tpDot(side.triangle.normal, query->center) < side.hull.offsets[0];
        for (int k = 0; k < 3; ++k) {
            tpVec3 e = tpSub(c[(k + 1) % 3], c[k]), r = tpSub(query->center, c[k]);
            isOver = isOver && e.x * r.y - e.y * r.x >= 0.0;
        }
        if (isOver) {
            tpContactPoint contact = lowestOver(query, &side);
            tpContactList list = { &contact, 1, 1 };
            deliver(query, &side, &list);
            return;
        }
    }
}

// Whether a contact from `first` on overlaps, not only comes near.
static bool hasOverlap(const tpContactList* list, int first) {
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        if (list->points[i].gap <= 0.0) {
            return true;
        }
    }
    return list->count > list->capacity;
}

static void collideMesh(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    tpCoreStorage storage;
    Query query;
    Side side;
    startQuery(pair, &storage, out, &query);
    int first = out->count;
    // Triangles that left the answer to others matter where no other gave one.
    Deferred deferred = { .count = 0, .anyAtEdge = false, .lowest = { .gap = -DBL_MAX } };
    tpTriangleQuery near = trianglesNear(&query);
    for (int32_t t = tpNextTriangle(&near); t >= 0; t = tpNextTriangle(&near)) {
        if (lookAt(&query, t, &side)) {
            Outcome outcome = collideTriangle(&query, &side);
            if (outcome != answered) {
                defer(&query, &side, outcome, &deferred);
            }
        }
    }
    if (deferred.anyAtEdge && !hasOverlap(out, first)) {
        pushOffEdge(&query, &deferred);
    }
    if (out->count == first && deferred.count == 0 && pair->b->type == tp_heightFieldShape) {
        collideBelowField(&query);
    }
    // A shape that has sunk in by more than half: the shallowest triangle pushes.
    if (deferred.count > 0 && !hasOverlap(out, first) &&
        lookAt(&query, deferred.shallowest, &side)) {
        collideOverTriangle(&query, &side);
        if (!hasOverlap(out, first)) {
            tpContactList list = { &deferred.lowest, 1, 1 };
            deliver(&query, &side, &list);
        }
    }
    tpMergeContacts(out, first);
}

// The nearest triangle within the margin; false for none.
static bool nearestTriangle(const Query* query, tpClosest* out) {
    Side side;
    bool isFound = false;
    tpTriangleQuery near = trianglesNear(query);
    for (int32_t t = tpNextTriangle(&near); t >= 0; t = tpNextTriangle(&near)) {
        if (lookAt(query, t, &side) && (!isFound || side.closest.distance < out->distance)) {
            isFound = true;
            *out = side.closest;
        }
    }
    return isFound;
}

static tpResult closestMesh(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpCoreStorage storage;
    Query query;
    startQuery(pair, &storage, NULL, &query);
    tpBounds bounds = tpGeometry_Bounds(query.convex, tpIdentityPose());
    double size = tpDistanceBetween(bounds.lower, bounds.upper);
    // Overlapping: the deepest contact.
    tpContactPoint points[maxOnTriangle];
    tpContactList list = { points, 0, maxOnTriangle };
    tpPair touching = *pair;
    touching.margin = 0.0;
    collideMesh(&touching, cache, &list);
    int stored = list.count < list.capacity ? list.count : list.capacity;
    if (stored > 0) {
        int best = 0;
        for (int i = 1; i < stored; ++i) {
            best = points[i].gap < points[best].gap ? i : best;
        }
        *out = (tpClosest){ points[best].gap, points[best].pointA, points[best].pointB,
                            points[best].normal };
        return tp_success;
    }
    // Apart: look ever farther, until the nearest triangle is nearer than what was looked at.
    for (query.margin = 0.1 * size; query.margin < 1e30; query.margin *= 4.0) {
        if (nearestTriangle(&query, out)) {
            out->pointA = tpTransformPoint(query.toWorld, out->pointA);
            out->pointB = tpTransformPoint(query.toWorld, out->pointB);
            out->normal = tpRotate(query.toWorld.rotation, out->normal);
            return tp_success;
        }
    }
    return tp_notSolved;
}

const tpPairClass tp_meshPair = { collideMesh, closestMesh, false };
