// Contacts of two triangle surfaces with each other.
//
// A convex mesh is a convex shape to the other one (mesh_pairs.c). Two meshes that are their hulls
// where they meet touch as these. Other surfaces touch where a corner of one lies over a triangle
// of the other, or where two convex edges cross. Every pair of near triangles is asked for both,
// found through the trees. A corner below the surface is in the solid behind all triangles it lies
// under; the shallowest of them pushes it out, and only to a depth that is small against the
// bodies, so that the far side of a thin wall is not meant.

#include "collision/mesh_pairs.h"

#include "collision/hull_manifold.h"
#include "collision/segments.h"
#include "collision/triangle_cone.h"
#include "geometry/height_field.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

#include <float.h>

// How deep a corner may lie under a triangle, as a fraction of the smaller body's least extent.
static const double depthFraction = 0.25;
static const double rimFraction = 1e-9; // of an edge, by which triangles are larger

typedef struct Surfaces {
    const tpGeometry* a;
    const tpGeometry* b;
    tpPose toB;   // frame of A in that of B
    tpPose world; // frame of B
    double margin, depth;
    tpContactList* out;
} Surfaces;

// A triangle with its number, in the frame of B.
typedef struct Facet {
    tpTriangle triangle;
    int32_t index;
} Facet;

static double leastExtent(const tpGeometry* g) {
    tpVec3 e = g->type == tp_meshShape
                   ? tpSub(g->mesh->bounds.upper, g->mesh->bounds.lower)
                   : tpSub(g->heightField->bounds.upper, g->heightField->bounds.lower);
    // A height field has no underside.
    return g->type == tp_meshShape ? fmin(e.x, fmin(e.y, e.z)) : fmin(e.x, e.y);
}

static void emit(const Surfaces* s, tpVec3 pointB, tpVec3 n, double gap, uint64_t feature) {
    tpContactPoint c = tpMakeContact(tpTransformPoint(s->world, pointB),
                                     tpRotate(s->world.rotation, n), gap, feature);
    tpContactList_Add(s->out, &c);
}

// How far a point is beyond an edge of a triangle, as a part of the edge.
static double beyondEdge(const tpTriangle* t, int k, tpVec3 point) {
    tpVec3 p = t->corners[k], along = tpSub(t->corners[(k + 1) % 3], p);
    return tpDot(tpCross(along, t->normal), tpSub(point, p)) / tpDot(along, along);
}

static bool isOver(const tpTriangle* t, tpVec3 point) {
    return beyondEdge(t, 0, point) <= rimFraction && beyondEdge(t, 1, point) <= rimFraction &&
           beyondEdge(t, 2, point) <= rimFraction;
}

// The same, but for edges where the surface turns away: what runs along those is not inside.
static bool isWithin(const tpTriangle* t, tpVec3 point) {
    for (int k = 0; k < 3; ++k) {
        double most = t->edges[k] == tp_convexEdge ? -rimFraction : rimFraction;
        if (beyondEdge(t, k, point) > most) {
            return false;
        }
    }
    return true;
}

// Corners of one triangle over the other: of A over a triangle of B, or of B over one of A.
static void collideCorners(const Surfaces* s, const Facet* over, const Facet* under, bool isOfA) {
    const tpTriangle* t = &under->triangle;
    if (tpDot(over->triangle.normal, t->normal) >= -1e-3) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        tpVec3 corner = over->triangle.corners[k];
        double gap = tpDot(t->normal, tpSub(corner, t->corners[0]));
        if (gap > s->margin || gap < -s->depth || tpIsFlatCorner(&over->triangle, k) ||
            !isOver(t, corner)) {
            continue;
        }
        int32_t vertex = over->triangle.vertices[k];
        if (isOfA) {
            emit(s, tpMulAdd(corner, -gap, t->normal), t->normal, gap,
                 tpMakeFeature(tp_vertexFace, vertex, under->index));
        } else {
            emit(s, corner, tpNeg(t->normal), gap,
                 tpMakeFeature(tp_faceVertex, under->index, vertex));
        }
    }
}

// Two convex edges that cross, each pushing in a direction it can.
static void collideEdges(const Surfaces* s, const Facet* a, const Facet* b, int i, int j) {
    const tpTriangle *ta = &a->triangle, *tb = &b->triangle;
    tpVec3 p = ta->corners[i], u = tpSub(ta->corners[(i + 1) % 3], p);
    tpVec3 q = tb->corners[j], v = tpSub(tb->corners[(j + 1) % 3], q);
    tpVec3 n = tpCross(u, v);
    double uu = tpDot(u, u), vv = tpDot(v, v), nn = tpDot(n, n);
    if (nn <= 1e-8 * uu * vv) {
        return;
    }
    tpVec3 r = tpSub(q, p);
    double x = tpDot(tpCross(r, v), n) / nn, y = tpDot(tpCross(r, u), n) / nn;
    if (x < 0.0 || x > 1.0 || y < 0.0 || y > 1.0) {
        return;
    }
    n = tpScale(1.0 / sqrt(nn), n);
    if (tpDot(n, tb->normal) < 0.0) {
        n = tpNeg(n);
    }
    tpVec3 onA = tpMulAdd(p, x, u), onB = tpMulAdd(q, y, v);
    double gap = tpDot(n, tpSub(onA, onB));
    if (gap > s->margin || gap < -s->depth) {
        return;
    }
    tpVec3 towardsB = tpUnrotate(s->toB.rotation, tpNeg(n));
    tpTriangle own = tpGetTriangle(s->a, a->index);
    tpSurfaceView viewA = { s->a, false }, viewB = { s->b, false };
    if (tpTrianglePushes(&viewB, tb, b->index, tp_triangleEdge, j, n) &&
        tpTrianglePushes(&viewA, &own, a->index, tp_triangleEdge, i, towardsB)) {
        emit(s, onB, n, gap,
             tpMakeFeature(tp_edgeEdge, tpTriangleEdgeId(&viewA, &own, a->index, i),
                           tpTriangleEdgeId(&viewB, tb, b->index, j)));
    }
}

// Edges of one surface that run through a triangle of the other: the two bodies overlap, however
// deep the lower ends of the edges lie.
enum { maxPierced = 32 };

typedef struct Pierced {
    tpContactPoint shallowest; // of the lower ends, for bodies that no other contact parts
    tpVec3 ends[maxPierced];
    bool isOfA[maxPierced];
    int count;
} Pierced;

static void pierce(const tpTriangle* edges, const tpTriangle* t, bool isOfA, Pierced* out) {
    for (int k = 0; k < 3; ++k) {
        tpVec3 p = edges->corners[k], q = edges->corners[(k + 1) % 3];
        double s = tpDot(t->normal, tpSub(p, t->corners[0]));
        double e = tpDot(t->normal, tpSub(q, t->corners[0]));
        if (s * e >= 0.0 || !isWithin(t, tpMulAdd(p, s / (s - e), tpSub(q, p)))) {
            continue;
        }
        double gap = fmin(s, e);
        tpVec3 low = s < e ? p : q, foot = tpMulAdd(low, -gap, t->normal);
        if (out->count < maxPierced) {
            out->isOfA[out->count] = isOfA;
            out->ends[out->count] = low;
        }
        if (out->count++ == 0 || gap > out->shallowest.gap) {
            uint64_t feature = tpMakeFeature(tp_smooth, 1, isOfA ? 0 : 1);
            out->shallowest = isOfA ? tpMakeContact(foot, t->normal, gap, feature)
                                    : tpMakeContact(low, tpNeg(t->normal), gap, feature);
        }
    }
}

static void collideTriangles(const Surfaces* s, const Facet* a, const Facet* b) {
    collideCorners(s, a, b, true);
    collideCorners(s, b, a, false);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if (a->triangle.edges[i] == tp_convexEdge && b->triangle.edges[j] == tp_convexEdge) {
                collideEdges(s, a, b, i, j);
            }
        }
    }
}

// Nearest points of two triangles that do not cross: a corner and a face, or two edges.
static void nearestOnTriangles(const tpTriangle* a, const tpTriangle* b, tpClosest* out) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            tpVec3 p = a->corners[i], u = tpSub(a->corners[(i + 1) % 3], p);
            tpVec3 q = b->corners[j], v = tpSub(b->corners[(j + 1) % 3], q);
            double x, y;
            tpNearestOnSegments(p, u, q, v, &x, &y);
            tpVec3 onA = tpMulAdd(p, x, u), onB = tpMulAdd(q, y, v);
            double distance = tpDistanceBetween(onA, onB);
            if (distance < out->distance) {
                *out = (tpClosest){ distance, onA, onB, tpNormalize(tpSub(onA, onB)) };
            }
        }
        double gap = tpDot(b->normal, tpSub(a->corners[i], b->corners[0]));
        if (fabs(gap) < out->distance && isOver(b, a->corners[i])) {
            tpVec3 n = gap >= 0.0 ? b->normal : tpNeg(b->normal);
            *out = (tpClosest){ fabs(gap), a->corners[i], tpMulAdd(a->corners[i], -gap, b->normal),
                                n };
        }
        gap = tpDot(a->normal, tpSub(b->corners[i], a->corners[0]));
        if (fabs(gap) < out->distance && isOver(a, b->corners[i])) {
            tpVec3 n = gap >= 0.0 ? tpNeg(a->normal) : a->normal;
            *out = (tpClosest){ fabs(gap), tpMulAdd(b->corners[i], -gap, a->normal), b->corners[i],
                                n };
        }
    }
}

static tpBounds triangleBounds(const tpTriangle* t) {
    const tpVec3* c = t->corners;
    return (tpBounds){ tpMinVec3(c[0], tpMinVec3(c[1], c[2])),
                       tpMaxVec3(c[0], tpMaxVec3(c[1], c[2])) };
}

// How far the corners of one triangle are at least from the plane of another, on one side of it.
static double heightOver(const tpTriangle* corners, const tpTriangle* plane) {
    double low = DBL_MAX, high = -DBL_MAX;
    for (int k = 0; k < 3; ++k) {
        double h = tpDot(plane->normal, tpSub(corners->corners[k], plane->corners[0]));
        low = fmin(low, h);
        high = fmax(high, h);
    }
    return fmax(low, -high);
}

// Whether two triangles are farther apart than a limit, by their boxes and planes: a few
// comparisons where the nearest points take some hundred operations.
static bool areFar(const tpTriangle* a, const tpTriangle* b, double limit) {
    tpBounds boxA = triangleBounds(a), boxB = triangleBounds(b);
    tpVec3 gap = tpMaxVec3(tpSub(boxA.lower, boxB.upper), tpSub(boxB.lower, boxA.upper));
    gap = tpMaxVec3(gap, tpZeroVec3());
    return tpLengthSquared(gap) > limit * limit || heightOver(a, b) > limit ||
           heightOver(b, a) > limit;
}

static tpTriangle moveTriangle(tpTriangle t, tpPose pose) {
    for (int k = 0; k < 3; ++k) {
        t.corners[k] = tpTransformPoint(pose, t.corners[k]);
    }
    t.normal = tpRotate(pose.rotation, t.normal);
    return t;
}

static tpBounds growBounds(tpBounds bounds, double by) {
    tpVec3 grow = tpMakeVec3(by, by, by);
    return (tpBounds){ tpSub(bounds.lower, grow), tpAdd(bounds.upper, grow) };
}

static Surfaces startSurfaces(const tpPair* pair, tpContactList* out) {
    Surfaces s = { pair->a, pair->b, tpIdentityPose(), pair->poseB, pair->margin, 0.0, out };
    s.toB = tpComposePoses(tpInversePose(pair->poseB), pair->poseA);
    s.depth = depthFraction * fmin(leastExtent(pair->a), leastExtent(pair->b));
    return s;
}

// The triangles of A that may be near B.
static tpTriangleQuery trianglesNearB(const Surfaces* s, double reach) {
    tpGeometry b = *s->b;
    b.pose = tpIdentityPose();
    tpBounds bounds = tpGeometry_Bounds(&b, tpInversePose(s->toB));
    return tpQueryTriangles(s->a, growBounds(bounds, reach));
}

// As above, where the triangles look at each other along the line between the points.
static void nearestFacing(const tpTriangle* a, const tpTriangle* b, double limit, tpClosest* out) {
    double before = fmin(out->distance, limit);
    tpClosest c = { .distance = before };
    if (areFar(a, b, before)) {
        return;
    }
    nearestOnTriangles(a, b, &c);
    if (c.distance < before && c.distance > 0.0 && tpDot(c.normal, b->normal) >= 0.0 &&
        tpDot(c.normal, a->normal) <= 0.0) {
        *out = c;
    }
}

static double leastGap(const tpContactList* list, int first) {
    double least = DBL_MAX;
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        least = fmin(least, list->points[i].gap);
    }
    return least;
}

// What one look at the surfaces found beside contacts.
typedef struct Look {
    tpClosest nearest; // facing triangles
    Pierced pierced;
} Look;

// All pairs of triangles within `reach` of each other; corners deeper than that are not seen.
static Look lookAt(Surfaces* s, double reach) {
    Look look;
    look.nearest = (tpClosest){ .distance = DBL_MAX };
    look.pierced.count = 0;
    tpTriangleQuery near = trianglesNearB(s, reach);
    for (int32_t i = tpNextTriangle(&near); i >= 0; i = tpNextTriangle(&near)) {
        Facet a = { moveTriangle(tpGetTriangle(s->a, i), s->toB), i };
        tpTriangleQuery under =
            tpQueryTriangles(s->b, growBounds(triangleBounds(&a.triangle), reach));
        for (int32_t j = tpNextTriangle(&under); j >= 0; j = tpNextTriangle(&under)) {
            Facet b = { tpGetTriangle(s->b, j), j };
            collideTriangles(s, &a, &b);
            nearestFacing(&a.triangle, &b.triangle, s->margin, &look.nearest);
            pierce(&a.triangle, &b.triangle, true, &look.pierced);
            pierce(&b.triangle, &a.triangle, false, &look.pierced);
        }
    }
    return look;
}

// The corner of a contact between a corner and a triangle; -1 for other contacts.
static int64_t cornerOf(const tpContactPoint* c) {
    uint64_t kind = c->feature >> 62, mask = (UINT64_C(1) << 31) - 1;
    if (kind == tp_vertexFace) {
        return (int64_t)(c->feature >> 31 & mask);
    }
    return kind == tp_faceVertex ? (int64_t)((c->feature & mask) | UINT64_C(1) << 40) : -1;
}

// A corner inside the other body lies behind several of its triangles. Those much deeper than the
// shallowest see it from the far side of the body.
static void dropFarSides(tpContactList* list, int first) {
    int count = list->count < list->capacity ? list->count : list->capacity, kept = first;
    for (int i = first; i < count; ++i) {
        bool isFar = false;
        for (int j = first; j < count && !isFar; ++j) {
            isFar = cornerOf(&list->points[i]) >= 0 &&
                    cornerOf(&list->points[i]) == cornerOf(&list->points[j]) &&
                    list->points[j].gap < 0.0 && list->points[i].gap < 4.0 * list->points[j].gap;
        }
        if (!isFar) {
            list->points[kept++] = list->points[i];
        }
    }
    if (list->count <= list->capacity) {
        list->count = kept;
    }
}

static bool isDeeperThan(const tpGeometry* surface, tpVec3 p, double depth) {
    tpVec3 nearest;
    return tpNearestTriangle(surface, p, depth, &nearest) < 0 && tpIsInsideSurface(surface, p);
}

// Whether corners lie deeper in the other body than `depth`: the lower ends of edges that run
// through its surface, or, if none does, the whole of one body in the other.
static bool isDeep(const Surfaces* s, const Look* look, double depth) {
    int count = look->pierced.count < maxPierced ? look->pierced.count : maxPierced;
    for (int i = 0; i < count; ++i) {
        tpVec3 end = look->pierced.ends[i];
        if (look->pierced.isOfA[i] ? isDeeperThan(s->b, end, depth)
                                   : isDeeperThan(s->a, tpUntransformPoint(s->toB, end), depth)) {
            return true;
        }
    }
    if (count > 0) {
        return false;
    }
    tpVec3 cornerA = tpTransformPoint(s->toB, s->a->mesh->vertices[0]);
    tpTriangle first;
    tpGetCorners(s->b, 0, &first);
    return tpIsInsideSurface(s->b, cornerA) ||
           tpIsInsideSurface(s->a, tpUntransformPoint(s->toB, first.corners[0]));
}

// Corners and crossed edges of surfaces that only touch lie no deeper than a small depth. If
// corners are deeper, or an edge runs through a surface and nothing within that depth parts the
// bodies (edges that cross deeper: their ends lie outside), it looks again, as far as the depth
// that counts.
static void collideSurfaces(const tpPair* pair, tpContactList* out) {
    Surfaces s = startSurfaces(pair, out);
    int first = out->count;
    double deepest = s.depth, shallow = 0.01 * deepest;
    s.depth = shallow;
    Look look = lookAt(&s, fmax(shallow, s.margin));
    bool isCrossed = look.pierced.count > 0 && leastGap(out, first) > 0.0;
    if (isCrossed || isDeep(&s, &look, shallow)) {
        out->count = first;
        s.depth = deepest;
        look = lookAt(&s, fmax(deepest, s.margin));
    }
    dropFarSides(out, first);
    double least = leastGap(out, first);
    // Corners beside edges and corners: one contact, if no other is as near.
    if (least > 0.0 && look.pierced.count > 0) {
        const tpContactPoint* c = &look.pierced.shallowest;
        emit(&s, c->pointB, c->normal, c->gap, c->feature);
        least = c->gap;
    }
    if (look.nearest.distance <= s.margin && look.nearest.distance < least - 1e-6 * deepest) {
        emit(&s, look.nearest.pointB, look.nearest.normal, look.nearest.distance,
             tpMakeFeature(tp_smooth, 0, 0));
    }
    tpMergeContacts(out, first);
}

static bool hasHull(const tpGeometry* geometry) {
    return geometry->type == tp_meshShape && geometry->mesh->hull != NULL;
}

// Whether mesh A is its hull around B, and within `reach` of it. The pose is that of B in the frame
// of A.
static bool isHullAround(const tpGeometry* a, const tpGeometry* b, tpPose pose, double reach) {
    tpGeometry hull = { .type = tp_hullShape, .pose = tpIdentityPose() };
    hull.hull = b->mesh->hull;
    return tpMesh_IsHullWithin(a, growBounds(tpGeometry_Bounds(&hull, pose), reach));
}

// Contacts of two meshes that are their hulls where they meet, also after the translation that
// parts them. False, and no contacts, if they are not.
static bool collideAwayFromDents(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    if (!hasHull(pair->a) || !hasHull(pair->b)) {
        return false;
    }
    tpPose aInB = tpComposePoses(tpInversePose(pair->poseB), pair->poseA);
    tpPose bInA = tpInversePose(aInB);
    if (!isHullAround(pair->b, pair->a, aInB, pair->margin) ||
        !isHullAround(pair->a, pair->b, bInA, pair->margin)) {
        return false;
    }
    int first = out->count;
    double distance = tpCollideHulls(pair->a->mesh->hull, pair->poseA, pair->b->mesh->hull,
                                     pair->poseB, pair->margin, cache, out, NULL);
    double reach = pair->margin - distance;
    if (distance < 0.0 && (!isHullAround(pair->b, pair->a, aInB, reach) ||
                           !isHullAround(pair->a, pair->b, bInA, reach))) {
        out->count = first;
        return false;
    }
    return true;
}

// A distance that the surfaces are not farther than: from the middle of A to B, from there to A,
// and so on.
static double boundDistance(const Surfaces* s) {
    tpVec3 p = tpTransformPoint(s->toB, s->a->mesh->mass.center), q = p;
    double distance = INFINITY;
    for (int k = 0; k < 4; ++k) {
        if (tpNearestTriangle(s->b, p, INFINITY, &q) < 0) {
            return INFINITY;
        }
        tpVec3 back;
        tpNearestTriangle(s->a, tpUntransformPoint(s->toB, q), INFINITY, &back);
        p = tpTransformPoint(s->toB, back);
        distance = fmin(distance, tpDistanceBetween(p, q));
    }
    return distance;
}

static tpResult closestSurfaces(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpContactPoint points[256];
    tpContactList list = { points, 0, 256 };
    tpPair touching = *pair;
    touching.margin = 0.0;
    if (!collideAwayFromDents(&touching, cache, &list)) {
        collideSurfaces(&touching, &list);
    }
    if (tpContactList_Deepest(&list, out)) {
        return tp_success;
    }
    // Apart: of all pairs within a bound that shrinks on the way, the nearest.
    Surfaces s = startSurfaces(pair, NULL);
    double bound = boundDistance(&s) * (1.0 + 1e-9) + 1e-12 * s.depth;
    if (!isfinite(bound)) {
        return tp_notSolved;
    }
    tpClosest best = { .distance = bound };
    tpTriangleQuery near = trianglesNearB(&s, bound);
    for (int32_t i = tpNextTriangle(&near); i >= 0; i = tpNextTriangle(&near)) {
        tpTriangle a = moveTriangle(tpGetTriangle(s.a, i), s.toB);
        tpTriangleQuery under =
            tpQueryTriangles(s.b, growBounds(triangleBounds(&a), best.distance));
        for (int32_t j = tpNextTriangle(&under); j >= 0; j = tpNextTriangle(&under)) {
            tpTriangle b;
            tpGetCorners(s.b, j, &b);
            if (!areFar(&a, &b, best.distance)) {
                nearestOnTriangles(&a, &b, &best);
            }
        }
    }
    if (best.distance == bound) {
        return tp_notSolved;
    }
    *out = (tpClosest){ best.distance, tpTransformPoint(s.world, best.pointA),
                        tpTransformPoint(s.world, best.pointB),
                        tpRotate(s.world.rotation, best.normal) };
    return tp_success;
}

// Which of two meshes is a convex shape to the other ----------------------------------------------

// The last but one word of a pair's cache. Of two convex meshes A is the shape, unless it was
// around B when the pair was first seen.
enum { roleWord = 18, shapeIsA = 1, shapeIsB = 2 };

// The pair as a convex shape A and a mesh or height field B; false if neither is convex.
static bool isConvexPair(const tpPair* pair, tpPairCache* cache, tpGeometry* hull, tpPair* convex,
                         bool* isSwapped) {
    tpGeometry hullA, hullB;
    bool isConvexA = tpHullOfMesh(pair->a, &hullA), isConvexB = tpHullOfMesh(pair->b, &hullB);
    uint32_t role = cache != NULL ? cache->words[roleWord] : 0u;
    tpPair other = tpSwapPair(pair);
    if (isConvexA && isConvexB && role == 0u) {
        other.a = &hullB;
        role = tpLiesInHull(&other) ? shapeIsB : shapeIsA;
        if (cache != NULL) {
            cache->words[roleWord] = role;
        }
    }
    *isSwapped = !isConvexA || (isConvexB && role == shapeIsB);
    *hull = *isSwapped ? hullB : hullA;
    *convex = *isSwapped ? other : *pair;
    convex->a = hull;
    return isConvexA || isConvexB;
}

static void collideMeshes(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpGeometry hull;
    tpPair convex;
    bool isSwapped;
    int first = out->count;
    if (!isConvexPair(pair, cache, &hull, &convex, &isSwapped)) {
        if (!collideAwayFromDents(pair, cache, out)) {
            collideSurfaces(pair, out);
        }
        return;
    }
    tp_meshPair.collide(&convex, cache, out);
    if (isSwapped) {
        tpSwapContacts(out, first);
    }
}

static tpResult closestMeshes(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpGeometry hull;
    tpPair convex;
    bool isSwapped;
    if (!isConvexPair(pair, cache, &hull, &convex, &isSwapped)) {
        return closestSurfaces(pair, cache, out);
    }
    tpResult result = tp_meshPair.closest(&convex, cache, out);
    if (isSwapped) {
        tpSwapClosest(out);
    }
    return result;
}

const tpPairClass tp_trianglesPair = { collideMeshes, closestMeshes, false };
