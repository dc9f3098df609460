// Contacts of two triangle surfaces with each other, and of a mesh with a plane.
//
// Surfaces touch where a corner of one lies over a triangle of the other, or where two convex edges
// cross. Every pair of near triangles is asked for both, found through the trees. A corner below the
// surface is in the solid behind all triangles it lies under; the shallowest of them pushes it out, and
// only to a depth that is small against the bodies, so that the far side of a thin wall is not meant.

#include "collision/mesh_pairs.h"

#include "collision/segments.h"
#include "collision/triangle_cone.h"
#include "geometry/height_field.h"
#include "geometry/mesh.h"

#include <float.h>

// How deep a corner may lie under a triangle, as a fraction of the smaller body's least extent.
static const double depthFraction = 0.25;

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

static bool isFlatCorner(const tpTriangle* t, int k) {
    return t->edges[k] == tp_flatEdge && t->edges[(k + 2) % 3] == tp_flatEdge;
}

static bool isOver(const tpTriangle* t, tpVec3 point) {
    for (int k = 0; k < 3; ++k) {
        tpVec3 p = t->corners[k], along = tpSub(t->corners[(k + 1) % 3], p);
        tpVec3 outward = tpCross(along, t->normal);
        double rim = 1e-9 * tpDot(along, along);
        if (tpDot(outward, tpSub(point, p)) > rim) {
            return false;
        }
    }
    return true;
}

// Corners of one triangle over the other. `side` is 1 for corners of A over a triangle of B.
static void collideCorners(const Surfaces* s, const Facet* over, const Facet* under, int side) {
    const tpTriangle* t = &under->triangle;
    if (tpDot(over->triangle.normal, t->normal) >= -1e-3) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        tpVec3 corner = over->triangle.corners[k];
        double gap = tpDot(t->normal, tpSub(corner, t->corners[0]));
        if (gap > s->margin || gap < -s->depth || isFlatCorner(&over->triangle, k) ||
            !isOver(t, corner)) {
            continue;
        }
        int32_t vertex = over->triangle.vertices[k];
        if (side > 0) {
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
    if (tpTrianglePushes(s->b, tb, b->index, tp_triangleEdge, j, n) &&
        tpTrianglePushes(s->a, &own, a->index, tp_triangleEdge, i, towardsB)) {
        emit(s, onB, n, gap,
             tpMakeFeature(tp_edgeEdge, tpTriangleEdgeId(s->a, &own, a->index, i),
                           tpTriangleEdgeId(s->b, tb, b->index, j)));
    }
}

// Where an edge of one triangle runs through the other, the two bodies overlap, however deep the edge's
// lower end lies. The shallowest of such ends is kept, for bodies that no other contact parts.
static void pierce(const tpTriangle* edges, const tpTriangle* t, int side, tpContactPoint* out) {
    for (int k = 0; k < 3; ++k) {
        tpVec3 p = edges->corners[k], q = edges->corners[(k + 1) % 3];
        double s = tpDot(t->normal, tpSub(p, t->corners[0]));
        double e = tpDot(t->normal, tpSub(q, t->corners[0]));
        double gap = fmin(s, e);
        if (s * e >= 0.0 || gap <= out->gap || !isOver(t, tpMulAdd(p, s / (s - e), tpSub(q, p)))) {
            continue;
        }
        tpVec3 low = s < e ? p : q, foot = tpMulAdd(low, -gap, t->normal);
        uint64_t feature = tpMakeFeature(tp_smooth, 1, side > 0 ? 0 : 1);
        *out = side > 0 ? tpMakeContact(foot, t->normal, gap, feature)
                        : tpMakeContact(low, tpNeg(t->normal), gap, feature);
    }
}

static void collideTriangles(const Surfaces* s, const Facet* a, const Facet* b) {
    collideCorners(s, a, b, 1);
    collideCorners(s, b, a, -1);
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

static tpBounds triangleBounds(const tpTriangle* t) {
    const tpVec3* c = t->corners;
    return (tpBounds){ tpMinVec3(c[0], tpMinVec3(c[1], c[2])),
                       tpMaxVec3(c[0], tpMaxVec3(c[1], c[2])) };
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
static void nearestFacing(const tpTriangle* a, const tpTriangle* b, tpClosest* out) {
    tpClosest c = { .distance = out->distance };
    nearestOnTriangles(a, b, &c);
    if (c.distance < out->distance && c.distance > 0.0 && tpDot(c.normal, b->normal) >= 0.0 &&
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

static void collideSurfaces(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    Surfaces s = startSurfaces(pair, out);
    tpClosest nearest = { .distance = DBL_MAX };
    tpContactPoint pierced = { .gap = -DBL_MAX };
    int first = out->count;
    double reach = fmax(s.margin, s.depth);
    tpTriangleQuery near = trianglesNearB(&s, reach);
    for (int32_t i = tpNextTriangle(&near); i >= 0; i = tpNextTriangle(&near)) {
        Facet a = { moveTriangle(tpGetTriangle(s.a, i), s.toB), i };
        tpTriangleQuery under =
            tpQueryTriangles(s.b, growBounds(triangleBounds(&a.triangle), reach));
        for (int32_t j = tpNextTriangle(&under); j >= 0; j = tpNextTriangle(&under)) {
            Facet b = { tpGetTriangle(s.b, j), j };
            collideTriangles(&s, &a, &b);
            nearestFacing(&a.triangle, &b.triangle, &nearest);
            pierce(&a.triangle, &b.triangle, 1, &pierced);
            pierce(&b.triangle, &a.triangle, -1, &pierced);
        }
    }
    // Corners beside edges and corners: one contact, where no other is as near.
    double least = leastGap(out, first);
    if (least > 0.0 && pierced.gap > -DBL_MAX) {
        emit(&s, pierced.pointB, pierced.normal, pierced.gap, pierced.feature);
        least = pierced.gap;
    }
    if (nearest.distance <= s.margin && nearest.distance < least - 1e-6 * s.depth) {
        emit(&s, nearest.pointB, nearest.normal, nearest.distance, tpMakeFeature(tp_smooth, 0, 0));
    }
    tpMergeContacts(out, first);
}

static tpResult closestSurfaces(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpContactPoint points[256];
    tpContactList list = { points, 0, 256 };
    tpPair touching = *pair;
    touching.margin = 0.0;
    collideSurfaces(&touching, cache, &list);
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
    Surfaces s = startSurfaces(pair, NULL);
    for (double reach = 0.1 * leastExtent(pair->a); reach < 1e30; reach *= 4.0) {
        tpClosest best = { .distance = DBL_MAX };
        tpTriangleQuery near = trianglesNearB(&s, reach);
        for (int32_t i = tpNextTriangle(&near); i >= 0; i = tpNextTriangle(&near)) {
            tpTriangle a = moveTriangle(tpGetTriangle(s.a, i), s.toB);
            tpTriangleQuery under = tpQueryTriangles(s.b, growBounds(triangleBounds(&a), reach));
            for (int32_t j = tpNextTriangle(&under); j >= 0; j = tpNextTriangle(&under)) {
                tpTriangle b = tpGetTriangle(s.b, j);
                nearestOnTriangles(&a, &b, &best);
            }
        }
        if (best.distance <= reach) {
            *out = (tpClosest){ best.distance, tpTransformPoint(s.world, best.pointA),
                                tpTransformPoint(s.world, best.pointB),
                                tpRotate(s.world.rotation, best.normal) };
            return tp_success;
        }
    }
    return tp_notSolved;
}

// Mesh and plane ------------------------------------------------------------------------------

// The lowest corner of a box along n.
static double lowestOf(const tpBounds* b, tpVec3 n) {
    return n.x * (n.x > 0.0 ? b->lower.x : b->upper.x) +
           n.y * (n.y > 0.0 ? b->lower.y : b->upper.y) +
           n.z * (n.z > 0.0 ? b->lower.z : b->upper.z);
}

// Corners of triangles that look down at the plane, within the margin. Corners in the middle of flat
// parts carry nothing that those at its border do not.
static void collidePlane(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    const tpMesh* mesh = pair->a->mesh;
    tpVec3 normal = tpRotate(pair->poseB.rotation, pair->b->plane.normal);
    double offset = pair->b->plane.offset + tpDot(normal, pair->poseB.position);
    tpVec3 n = tpUnrotate(pair->poseA.rotation, normal);
    double level = offset - tpDot(normal, pair->poseA.position);
    int first = out->count;
    for (int32_t node = 0; node < mesh->tree.nodeCount;) {
        const tpTreeNode* tree = &mesh->tree.nodes[node];
        if (lowestOf(&tree->bounds, n) - level > pair->margin) {
            node = tree->skip;
            continue;
        }
        for (int32_t i = 0; i < tree->count; ++i) {
            tpTriangle t = tpGetTriangle(pair->a, mesh->tree.order[tree->first + i]);
            for (int k = 0; k < 3; ++k) {
                double gap = tpDot(n, t.corners[k]) - level;
                if (gap > pair->margin || isFlatCorner(&t, k) || tpDot(n, t.normal) >= -1e-3) {
                    continue;
                }
                tpVec3 point = tpTransformPoint(pair->poseA, t.corners[k]);
                tpContactPoint c = { point, tpMulAdd(point, -gap, normal), normal, gap,
                                     tpMakeFeature(tp_vertexFace, t.vertices[k], 0) };
                tpContactList_Add(out, &c);
            }
        }
        ++node;
    }
    tpMergeContacts(out, first);
}

static tpResult closestPlane(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    (void)cache;
    const tpMesh* mesh = pair->a->mesh;
    tpVec3 n = tpRotate(pair->poseB.rotation, pair->b->plane.normal);
    tpVec3 local = tpUnrotate(pair->poseA.rotation, n);
    int32_t lowest = 0;
    for (int32_t i = 1; i < mesh->vertexCount; ++i) {
        if (tpDot(local, mesh->vertices[i]) < tpDot(local, mesh->vertices[lowest])) {
            lowest = i;
        }
    }
    out->normal = n;
    out->pointA = tpTransformPoint(pair->poseA, mesh->vertices[lowest]);
    out->distance = tpDot(n, tpSub(out->pointA, pair->poseB.position)) - pair->b->plane.offset;
    out->pointB = tpMulAdd(out->pointA, -out->distance, n);
    return tp_success;
}

const tpPairClass tp_trianglesPair = { collideSurfaces, closestSurfaces, false };
const tpPairClass tp_meshPlanePair = { collidePlane, closestPlane, false };
