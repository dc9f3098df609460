// Pairs of convex shapes: which computation of the distance and which contacts go together.

#include "collision/convex_pairs.h"

#include "collision/difference.h"
#include "collision/hull_manifold.h"
#include "collision/patch_manifold.h"
#include "collision/round_features.h"
#include "collision/smooth_distance.h"
#include "geometry/shape.h"

#include <string.h>

// From the nearest points of two cores to those of the rounded shapes.
static void roundOff(double radiusA, double radiusB, tpClosest* c) {
    c->distance -= radiusA + radiusB;
    c->pointA = tpMulAdd(c->pointA, -radiusA, c->normal);
    c->pointB = tpMulAdd(c->pointB, radiusB, c->normal);
}

bool tpContactList_Deepest(const tpContactList* list, tpClosest* out) {
    int stored = list->count < list->capacity ? list->count : list->capacity;
    if (stored == 0) {
        return false;
    }
    const tpContactPoint* best = &list->points[0];
    for (int i = 1; i < stored; ++i) {
        best = list->points[i].gap < best->gap ? &list->points[i] : best;
    }
    *out = (tpClosest){ best->gap, best->pointA, best->pointB, best->normal };
    return true;
}

void tpContactList_DropDeeper(tpContactList* list, int first, double least) {
    if (list->count > list->capacity) {
        return; // asked again with more room
    }
    int kept = first;
    for (int i = first; i < list->count; ++i) {
        if (list->points[i].gap >= least) {
            list->points[kept++] = list->points[i];
        }
    }
    list->count = kept;
}

void tpRoundContacts(tpContactList* list, int first, double radiusA, double radiusB) {
    if (radiusA == 0.0 && radiusB == 0.0) {
        return;
    }
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        tpContactPoint* c = &list->points[i];
        c->gap -= radiusA + radiusB;
        c->pointA = tpMulAdd(c->pointA, -radiusA, c->normal);
        c->pointB = tpMulAdd(c->pointB, radiusB, c->normal);
    }
}

// What is known of cores, as known of the shapes with these radii. A corner that is round does not
// stay the same point of its body.
static void roundOver(tpOverFace* over, double radii) {
    if (over != NULL && radii > 0.0) {
        over->isFace = false;
        over->beyond -= radii;
    }
}

static tpResult smoothClosest(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    _Static_assert(sizeof(tpSmoothCache) <= sizeof(tpPairCache), "a pair cache holds a smooth one");
    tpSmoothCache memory;
    memset(&memory, 0, sizeof memory);
    if (cache != NULL) {
        memcpy(&memory, cache, sizeof memory);
    }
    tpSmoothResult result;
    // Who asks for what is beyond follows the contacts for some steps, by rougher means.
    double roughness = pair->over != NULL ? TP_CROWD_ROUGHNESS : 0.0;
    if (!tpSmoothClosestRoughly(pair->a, pair->poseA, pair->b, pair->poseB, roughness, &memory,
                                &result)) {
        return tp_unsupported;
    }
    if (cache != NULL) {
        memcpy(cache, &memory, sizeof memory);
    }
    out->distance = result.gap;
    out->normal = result.normal;
    out->pointA = result.pointA;
    out->pointB = result.pointB;
    return result.converged ? tp_success : tp_notSolved;
}

// Distances beyond `limit` may come out as anything between it and the truth.
static tpResult coreClosest(const tpPair* pair, double limit, tpPairCache* cache, tpClosest* out) {
    tpCoreStorage storageA, storageB;
    double radiusA, radiusB;
    const tpHull* a = tpGeometry_Core(pair->a, &storageA, &radiusA);
    const tpHull* b = tpGeometry_Core(pair->b, &storageB, &radiusB);
    if (a == NULL || b == NULL) {
        return smoothClosest(pair, cache, out);
    }
    tpDifference d = tpMakeDifference(a, pair->poseA, b, pair->poseB);
    tpSeparation separation = tpSeparatePolyhedra(&d, limit + radiusA + radiusB, cache);
    out->distance = separation.distance;
    out->normal = tpRotate(pair->poseA.rotation, separation.normal);
    out->pointA = tpTransformPoint(pair->poseA, separation.pointA);
    out->pointB = tpTransformPoint(pair->poseA, separation.pointB);
    roundOff(radiusA, radiusB, out);
    return separation.isExact ? tp_success : tp_notSolved;
}

tpResult tpClosestCores(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    return coreClosest(pair, INFINITY, cache, out);
}

static void collideCores(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpCoreStorage storageA, storageB;
    double radiusA, radiusB;
    const tpHull* a = tpGeometry_Core(pair->a, &storageA, &radiusA);
    const tpHull* b = tpGeometry_Core(pair->b, &storageB, &radiusB);
    if (a != NULL && b != NULL && a->faceCount > 0 && b->faceCount > 0) {
        int first = out->count;
        tpCollideHulls(a, pair->poseA, b, pair->poseB, pair->margin + radiusA + radiusB, cache, out,
                       pair->over);
        roundOver(pair->over, radiusA + radiusB);
        tpRoundContacts(out, first, radiusA, radiusB);
        return;
    }
    tpClosest closest;
    tpResult result = coreClosest(pair, pair->margin, cache, &closest);
    if (result != tp_unsupported && closest.distance <= pair->margin) {
        tpCollidePatches(pair, &closest, out);
    } else if (result == tp_success) {
        tpPair_SayApart(pair, closest.distance, closest.normal);
    }
}

// How far apart two shapes are at least: along the normal of the last answer. -INFINITY if there is
// none.
static double apartAlongLast(const tpPair* pair, const tpPairCache* cache, tpVec3* normal) {
    tpSmoothCache last;
    memcpy(&last, cache, sizeof last);
    tpVec3 inA = tpMakeVec3(last.normal[0], last.normal[1], last.normal[2]);
    double length = tpLength(inA);
    if (!(length > 0.5)) {
        return -INFINITY;
    }
    inA = tpScale(1.0 / length, inA);
    tpVec3 n = tpRotate(pair->poseA.rotation, inA);
    tpVec3 inB = tpUnrotate(pair->poseB.rotation, n);
    *normal = n;
    double a = tpDot(inA, tpGeometry_Support(pair->a, tpNeg(inA)));
    double b = tpDot(inB, tpGeometry_Support(pair->b, inB));
    return a - b + tpDot(n, tpSub(pair->poseA.position, pair->poseB.position));
}

static bool hasClosedSupport(const tpGeometry* geometry) {
    return !tpClassOf(geometry)->supportIsSearch;
}

static void collideSmooth(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    // Most pairs of a crowd that are near are apart, and have been so along the same direction.
    if (pair->over != NULL && cache != NULL && hasClosedSupport(pair->a) &&
        hasClosedSupport(pair->b)) {
        tpVec3 normal = tpZeroVec3();
        double apart = apartAlongLast(pair, cache, &normal);
        if (apart > pair->margin) {
            tpPair_SayApart(pair, apart, normal);
            return;
        }
    }
    tpClosest closest;
    bool isKnown =
        pair->over != NULL && cache != NULL && tpClosestByFeatures(pair, cache, &closest);
    tpResult result = isKnown ? tp_success : smoothClosest(pair, cache, &closest);
    if (result != tp_unsupported && closest.distance <= pair->margin) {
        tpCollidePatches(pair, &closest, out);
    } else if (result == tp_success) {
        tpPair_SayApart(pair, closest.distance, closest.normal);
    }
}

// The plane, as seen in the world.
static tpVec3 planeNormal(const tpPair* pair, double* offset) {
    tpVec3 n = tpRotate(pair->poseB.rotation, pair->b->plane.normal);
    *offset = pair->b->plane.offset + tpDot(n, pair->poseB.position);
    return n;
}

static tpResult closestPlane(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    // The distance solver has faster and finer support maps where the shape's own is a search.
    if (tpClassOf(pair->a)->supportIsSearch) {
        return smoothClosest(pair, cache, out);
    }
    double offset;
    tpVec3 n = planeNormal(pair, &offset);
    tpVec3 lowest = tpGeometry_Support(pair->a, tpUnrotate(pair->poseA.rotation, tpNeg(n)));
    out->normal = n;
    out->pointA = tpTransformPoint(pair->poseA, lowest);
    out->distance = tpDot(n, out->pointA) - offset;
    out->pointB = tpMulAdd(out->pointA, -out->distance, n);
    return tp_success;
}

static void collidePlane(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpCoreStorage storage;
    double radius, offset;
    const tpHull* a = tpGeometry_Core(pair->a, &storage, &radius);
    tpVec3 n = planeNormal(pair, &offset);
    if (a != NULL && a->faceCount > 0) {
        int first = out->count;
        tpCollideHullPlane(a, pair->poseA, n, offset, pair->margin + radius, cache, out,
                           pair->over);
        roundOver(pair->over, radius);
        tpRoundContacts(out, first, radius, 0.0);
        return;
    }
    tpClosest closest;
    closestPlane(pair, cache, &closest);
    if (closest.distance <= pair->margin) {
        tpCollidePatches(pair, &closest, out);
    }
}

const tpPairClass tp_corePair = { collideCores, tpClosestCores, false };
const tpPairClass tp_smoothPair = { collideSmooth, smoothClosest, false };
const tpPairClass tp_planePair = { collidePlane, closestPlane, false };
