// Contacts of a convex shape with a mesh or height field.
//
// A mesh that is convex itself collides as its hull, with the least translation that parts the two.
// Of other surfaces each triangle near the shape answers for itself (mesh_triangle.c). What they
// leave open is settled here: shapes across a sharp edge, each of whose triangles alone would push
// it sideways, and shapes that have sunk in by more than half.
//
// A mesh is solid, but a shape that was inside when it was first seen stays there: it is found by a
// ray, and then sees the surface from within. One that came from outside, however deep it is now,
// is pushed out again. The pair's cache remembers which.

#include "collision/mesh_pairs.h"

#include "collision/mesh_query.h"
#include "geometry/mesh.h"

#include <float.h>

enum { maxDeferred = 32 };

// The last word of a pair's cache; 0 means that nothing is known.
enum { sideWord = 19, cameFromOutside = 1, startedInside = 2 };

// The words before belong to the triangles if this one says how many of them are remembered, else
// to the hull of the surface.
enum { startsWord = 18 };
_Static_assert(2 * tp_mostStarts <= startsWord, "a pair cache holds the starts");

// A shape inside a convex mesh may stick out by this part of its width: it rests against a wall.
static const double stickingPart = 0.01;

// Triangles that left the answer to others.
typedef struct Deferred {
    int32_t triangles[maxDeferred]; // that overlap the shape
    int count;
    int32_t behind[maxDeferred]; // that look away from its centre
    int behindCount;
    bool anyAtEdge;        // one of them at a bent edge or corner
    tpContactPoint lowest; // over the triangle below which the shape is shallowest
    int32_t shallowest;    // that triangle
} Deferred;

static void defer(tpMeshQuery* query, int32_t index, Deferred* deferred) {
    if (deferred->count < maxDeferred) {
        deferred->triangles[deferred->count++] = index;
    }
    tpTriangle t = tpSurfaceView_Triangle(&query->view, index);
    tpVec3 low = tpMeshQuery_Lowest(query, t.normal);
    double gap = tpDot(t.normal, tpSub(low, t.corners[0]));
    if (gap > deferred->lowest.gap) {
        deferred->lowest =
            tpMakeContact(tpMulAdd(low, -gap, t.normal), t.normal, gap, TP_LONE_POINT);
        deferred->shallowest = index;
    }
}

// The nearest of the deferred triangles if the shape is moved; false if it still overlaps one.
static bool nearestWhenMoved(const tpMeshQuery* query, tpVec3 by, const Deferred* deferred,
                             tpClosest* out, int32_t* index) {
    tpMeshQuery moved = *query;
    moved.core =
        query->core != NULL ? tpGeometry_Core(&moved.convex, &moved.storage, &moved.radius) : NULL;
    moved.pose.position = tpAdd(query->pose.position, by);
    moved.center = tpAdd(query->center, by);
    moved.starts = NULL;
    tpMeshQuery_PlaceCore(&moved);
    bool isFound = false;
    for (int i = 0; i < deferred->count; ++i) {
        tpClosest closest;
        if (!tpMeshQuery_Distance(&moved, deferred->triangles[i], INFINITY, &closest) ||
            closest.distance <= 0.0) {
            return false;
        }
        if (closest.distance < out->distance) {
            *out = closest;
            *index = deferred->triangles[i];
            isFound = true;
        }
    }
    return isFound;
}

// A shape that lies across a sharp edge or corner of the surface, each of whose triangles alone
// would push it sideways: pulled back along their mean normal until it is free, it sees the edge
// from outside, and the direction between the nearest points is the one to push in. The gap along
// it is then measured where the shape is.
static void pushOffEdge(tpMeshQuery* query, const Deferred* deferred) {
    tpVec3 mean = tpZeroVec3();
    for (int i = 0; i < deferred->count; ++i) {
        mean = tpAdd(mean, tpSurfaceView_Triangle(&query->view, deferred->triangles[i]).normal);
    }
    mean = tpNormalize(mean);
    double step = -deferred->lowest.gap / 64.0;
    for (int k = 0; k < 10; ++k, step *= 2.0) {
        tpClosest closest = { .distance = INFINITY };
        int32_t index = -1;
        if (!nearestWhenMoved(query, tpScale(step, mean), deferred, &closest, &index)) {
            continue;
        }
        tpVec3 n = closest.normal, low = tpMeshQuery_Lowest(query, n);
        double gap = tpDot(n, tpSub(low, closest.pointB));
        tpContactPoint contact = tpMakeContact(closest.pointB, n, gap, TP_LONE_POINT);
        tpMeshQuery_Deliver(query, index, &contact);
        return;
    }
}

static double leastGap(const tpContactList* list, int first) {
    double least = list->count > list->capacity ? -DBL_MAX : DBL_MAX;
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        least = fmin(least, list->points[i].gap);
    }
    return least;
}

// A shape that has sunk in by more than half: of the triangles that overlap it, the one below which
// it is shallowest pushes. True if there are any.
static bool pushFromBehind(tpMeshQuery* query, Deferred* deferred, int first) {
    for (int i = 0; i < deferred->behindCount; ++i) {
        tpClosest closest;
        if (tpMeshQuery_Distance(query, deferred->behind[i], 0.0, &closest)) {
            defer(query, deferred->behind[i], deferred);
        }
    }
    if (deferred->count == 0) {
        return false;
    }
    tpMeshQuery_PushAlong(query, deferred->shallowest);
    if (leastGap(query->out, first) > 0.0) {
        tpMeshQuery_Deliver(query, deferred->shallowest, &deferred->lowest);
    }
    return true;
}

// The way out for a shape wholly inside the solid: along the shortest way from its centre, or
// straight up out of a height field.
static void pushOutOfDepth(tpMeshQuery* query) {
    tpVec3 nearest;
    int32_t index = tpNearestTriangle(query->view.geometry, query->center, INFINITY, &nearest);
    if (index < 0) {
        return;
    }
    tpVec3 way = tpSub(nearest, query->center);
    double depth = tpLength(way);
    tpVec3 n = depth > 1e-9 * query->size ? tpScale(1.0 / depth, way)
                                          : tpSurfaceView_Triangle(&query->view, index).normal;
    tpVec3 low = tpMeshQuery_Lowest(query, n);
    double gap = tpDot(n, tpSub(low, nearest));
    tpContactPoint contact = tpMakeContact(tpMulAdd(low, -gap, n), n, gap, TP_LONE_POINT);
    tpMeshQuery_Deliver(query, index, &contact);
}

// All triangles near the shape. True if one of them overlaps it or gave a contact.
static bool askTriangles(tpMeshQuery* query, int first) {
    Deferred deferred = { .lowest = { .gap = -DBL_MAX } };
    tpTriangleQuery near = tpMeshQuery_Near(query);
    for (int32_t t = tpNextTriangle(&near); t >= 0; t = tpNextTriangle(&near)) {
        tpTriangleOutcome outcome = tpMeshQuery_Ask(query, t);
        if (outcome == tp_triangleLeaves) {
            deferred.anyAtEdge = true;
            defer(query, t, &deferred);
        } else if (outcome == tp_triangleBehind && deferred.behindCount < maxDeferred) {
            deferred.behind[deferred.behindCount++] = t;
        }
    }
    double touching = 1e-6 * query->size;
    if (deferred.anyAtEdge && leastGap(query->out, first) > touching) {
        pushOffEdge(query, &deferred);
    }
    // A contact that touches has settled it; otherwise the shape may be beyond the surface.
    bool isDeep = leastGap(query->out, first) > touching &&
                  (deferred.behindCount > 0 || deferred.count > 0) &&
                  pushFromBehind(query, &deferred, first);
    return isDeep || query->out->count > first;
}

// A cache of another pair is a mistake, but no reason to read out of bounds.
static bool isStartOf(const tpHull* core, uint32_t word) {
    tpStartCorners start = tpReadStart(word);
    for (int i = 0; i < start.count; ++i) {
        if (start.a[i] >= core->vertexCount || start.b[i] > 2) {
            return false;
        }
    }
    return true;
}

// What the cache remembers of triangles: pairs of words, and how many there are.
static void loadStarts(const tpPairCache* cache, const tpHull* core, tpTriangleStarts* starts) {
    uint32_t count = cache != NULL && core != NULL ? cache->words[startsWord] : 0u;
    starts->foundCount = starts->knownCount = 0;
    for (uint32_t i = 0; i < count && i < (uint32_t)tp_mostStarts; ++i) {
        if (isStartOf(core, cache->words[2 * i + 1])) {
            starts->known[starts->knownCount++] =
                (tpTriangleStart){ (int32_t)cache->words[2 * i], cache->words[2 * i + 1] };
        }
    }
}

static void saveStarts(const tpTriangleStarts* starts, tpPairCache* cache) {
    cache->words[startsWord] = (uint32_t)starts->foundCount;
    for (int i = 0; i < starts->foundCount; ++i) {
        cache->words[2 * i] = (uint32_t)starts->found[i].triangle;
        cache->words[2 * i + 1] = starts->found[i].word;
    }
}

// Contacts with triangles. Returns what is now known of the side.
static uint32_t collideTriangles(const tpPair* pair, tpPairCache* cache, uint32_t known,
                                 tpContactList* out) {
    tpMeshQuery query;
    tpStartMeshQuery(pair, out, &query);
    tpTriangleStarts starts;
    loadStarts(cache, query.core, &starts);
    query.starts = cache != NULL ? &starts : NULL;
    query.view.isInside = known == startedInside;
    int first = out->count;
    if (!askTriangles(&query, first)) {
        // Nothing is near: the shape is either outside or wholly inside.
        bool isInside = tpIsInsideSurface(pair->b, query.center);
        bool isField = pair->b->type == tp_heightFieldShape;
        if (isInside && (isField || known == cameFromOutside)) {
            pushOutOfDepth(&query);
        }
        known = isInside && known != cameFromOutside && !isField ? startedInside : cameFromOutside;
    } else if (known == 0u) {
        known = cameFromOutside;
    }
    tpMergeContacts(out, first);
    if (cache != NULL) {
        saveStarts(&starts, cache);
    }
    return known;
}

// Convex meshes -----------------------------------------------------------------------------------

bool tpHullOfMesh(const tpGeometry* geometry, tpGeometry* out) {
    if (geometry->type != tp_meshShape || !geometry->mesh->isConvex) {
        return false;
    }
    *out = (tpGeometry){ .type = tp_hullShape, .pose = geometry->pose };
    out->hull = geometry->mesh->hull;
    return true;
}

bool tpLiesInHull(const tpPair* pair) {
    const tpHull* hull = pair->b->mesh->hull;
    tpMeshQuery query;
    tpStartMeshQuery(pair, NULL, &query);
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        if (tpDot(hull->normals[f], query.center) >= hull->offsets[f]) {
            return false;
        }
    }
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        tpVec3 n = hull->normals[f];
        double top = tpDot(n, tpMeshQuery_Lowest(&query, tpNeg(n)));
        double width = top - tpDot(n, tpMeshQuery_Lowest(&query, n));
        if (top - hull->offsets[f] > stickingPart * width) {
            return false;
        }
    }
    return true;
}

// The pair as two convex shapes; false if the shape is inside or the surface is not convex. `known`
// is what is known of the side.
static bool isPairOfHulls(const tpPair* pair, tpPairCache* cache, tpGeometry* hull,
                          uint32_t* known) {
    *known = cache != NULL ? cache->words[sideWord] : 0u;
    if (!tpHullOfMesh(pair->b, hull)) {
        return false;
    }
    if (*known == 0u) {
        *known = tpLiesInHull(pair) ? startedInside : cameFromOutside;
    }
    return *known == cameFromOutside;
}

static tpBounds growBounds(tpBounds bounds, double by) {
    tpVec3 grow = tpMakeVec3(by, by, by);
    return (tpBounds){ tpSub(bounds.lower, grow), tpAdd(bounds.upper, grow) };
}

// Contacts with a mesh that is its hull around the shape, also after the translation that parts the
// two. False, and no contacts, if it is not.
static bool collideAwayFromDents(const tpPair* pair, tpPairCache* cache, uint32_t known,
                                 tpContactList* out) {
    if (pair->b->type != tp_meshShape || pair->b->mesh->hull == NULL || known == startedInside) {
        return false;
    }
    tpPose toB = tpComposePoses(tpInversePose(pair->poseB), pair->poseA);
    tpGeometry shape = *pair->a;
    shape.pose = tpIdentityPose();
    tpBounds around = growBounds(tpGeometry_Bounds(&shape, toB), pair->margin);
    if (!tpMesh_IsHullWithin(pair->b, around) || (known == 0u && tpLiesInHull(pair))) {
        return false;
    }
    tpGeometry hull = { .type = tp_hullShape, .pose = pair->b->pose };
    hull.hull = pair->b->mesh->hull;
    tpPair convex = *pair;
    convex.b = &hull;
    if (cache != NULL && cache->words[startsWord] != 0u) {
        *cache = (tpPairCache){ { [sideWord] = cache->words[sideWord] } };
    }
    int first = out->count;
    tpCollidePair(&convex, cache, out);
    double depth = -leastGap(out, first);
    if (depth > 0.0 && !tpMesh_IsHullWithin(pair->b, growBounds(around, depth))) {
        out->count = first;
        if (pair->over != NULL) {
            *pair->over = (tpOverFace){ .beyond = pair->margin };
        }
        return false;
    }
    return true;
}

static void collideMesh(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpGeometry hull;
    uint32_t known;
    if (isPairOfHulls(pair, cache, &hull, &known)) {
        tpPair convex = *pair;
        convex.b = &hull;
        tpCollidePair(&convex, cache, out);
    } else if (collideAwayFromDents(pair, cache, known, out)) {
        known = cameFromOutside;
    } else {
        known = collideTriangles(pair, cache, known, out);
    }
    if (cache != NULL) {
        cache->words[sideWord] = known;
    }
}

// Distances ---------------------------------------------------------------------------------------

// The least distance of the shape to the triangles within `reach` of its box; false if there is
// none within `reach`.
static bool nearestTriangle(tpMeshQuery* query, double reach, tpClosest* out) {
    bool isFound = false;
    double best = reach;
    query->margin = reach;
    tpTriangleQuery near = tpMeshQuery_Near(query);
    for (int32_t t = tpNextTriangle(&near); t >= 0; t = tpNextTriangle(&near)) {
        // A ball about the centre bounds the distance from below.
        tpTriangle triangle;
        double weights[3];
        tpGetCorners(query->view.geometry, t, &triangle);
        tpVec3 q = tpNearestOnTriangle(triangle.corners, query->center, weights);
        tpClosest closest;
        if (tpDistanceBetween(q, query->center) - query->reach <= best &&
            tpMeshQuery_Distance(query, t, best, &closest)) {
            isFound = true;
            best = closest.distance;
            *out = closest;
        }
    }
    return isFound;
}

static tpResult closestMesh(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpGeometry hull;
    uint32_t known;
    if (isPairOfHulls(pair, cache, &hull, &known)) {
        tpPair convex = *pair;
        convex.b = &hull;
        return tpClosestOfPair(&convex, cache, out);
    }
    // Overlapping: the deepest contact.
    tpContactPoint points[tp_maxOnTriangle];
    tpContactList list = { points, 0, tp_maxOnTriangle };
    tpPair touching = *pair;
    touching.margin = 0.0;
    collideMesh(&touching, cache, &list);
    if (tpContactList_Deepest(&list, out)) {
        return tp_success;
    }
    // Apart: the triangle nearest to the centre bounds the distance from above.
    tpMeshQuery query;
    tpStartMeshQuery(pair, NULL, &query);
    tpVec3 nearest;
    int32_t index = tpNearestTriangle(pair->b, query.center, INFINITY, &nearest);
    if (index < 0 || !tpMeshQuery_Distance(&query, index, INFINITY, out)) {
        return tp_notSolved;
    }
    tpClosest nearer;
    if (nearestTriangle(&query, fmax(out->distance, 0.0), &nearer)) {
        *out = nearer;
    }
    out->pointA = tpTransformPoint(query.toWorld, out->pointA);
    out->pointB = tpTransformPoint(query.toWorld, out->pointB);
    out->normal = tpRotate(query.toWorld.rotation, out->normal);
    return tp_success;
}

const tpPairClass tp_meshPair = { collideMesh, closestMesh, false };
