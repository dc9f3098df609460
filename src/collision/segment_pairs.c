// Contacts of capsules with spheres and with each other: closed forms.
//
// Their cores are segments and points, whose nearest points are found at once. So nothing is kept
// about these pairs from one question to the next.

#include "collision/convex_pairs.h"
#include "collision/next_features.h"
#include "collision/over_face.h"
#include "collision/patch_manifold.h"
#include "collision/segments.h"
#include "collision/tube_lines.h"

// The core of a capsule from its lower end on, or the centre of a sphere; returns the radius.
static double coreOf(const tpGeometry* geometry, tpPose pose, tpVec3* from, tpVec3* along) {
    if (geometry->type == tp_sphereShape) {
        *from = pose.position;
        *along = tpZeroVec3();
        return geometry->sphere.radius;
    }
    double half = 0.5 * geometry->capsule.length;
    *from = tpTransformPoint(pose, tpMakeVec3(0.0, 0.0, -half));
    *along = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 2.0 * half));
    return geometry->capsule.radius;
}

tpResult tpClosestOfSegments(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    (void)cache;
    tpVec3 p, u, q, v;
    double radiusA = coreOf(pair->a, pair->poseA, &p, &u);
    double radiusB = coreOf(pair->b, pair->poseB, &q, &v);
    tpClosestSegments(p, u, q, v, out);
    out->distance -= radiusA + radiusB;
    out->pointA = tpMulAdd(out->pointA, -radiusA, out->normal);
    out->pointB = tpMulAdd(out->pointB, radiusB, out->normal);
    return tp_success;
}

// Both ends of what two capsules share of their sides, and the nearest points where these are
// nearer.
static void collideAhead(const tpPair* pair, const tpClosest* closest, tpContactList* out) {
    int before = out->count;
    double smaller = fmin(pair->a->capsule.radius, pair->b->capsule.radius), least = INFINITY;
    tpJoinTubes(pair, closest, out);
    tpContactList_DropDeeper(out, before, closest->distance - 1e-6 * smaller);
    for (int i = before; i < out->count && i < out->capacity; ++i) {
        least = fmin(least, out->points[i].gap);
    }
    if (tpIsNearestMissed(closest, least, smaller)) {
        tpAddNearest(closest, out);
    }
}

static void collideSegments(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpClosest closest;
    tpClosestOfSegments(pair, cache, &closest);
    if (closest.distance > pair->margin) {
        tpPair_SayApart(pair, closest.distance, closest.normal);
        return;
    }
    bool areCapsules = pair->a->type == tp_capsuleShape && pair->b->type == tp_capsuleShape;
    if (areCapsules && !pair->looksAhead) {
        tpCollidePatches(pair, &closest, out);
        return;
    }
    if (areCapsules) {
        collideAhead(pair, &closest, out);
    } else {
        tpAddNearest(&closest, out);
    }
    if (pair->over != NULL && pair->over->beyond <= pair->margin) {
        tpPair_SayNext(pair, &closest);
    }
}

const tpPairClass tp_segmentPair = { collideSegments, tpClosestOfSegments, true };
