// The nearest points of a cylinder and another shape from the features of the last answer.
//
// Of two shapes in a crowd the same features are nearest step after step. If a flat part of one has
// the other's lowest point p above it, along its normal n,
//
//     distance = n . (p - c)        c: a point of the flat part
//
// Corners and edges of polyhedra, the axis of a capsule and that of a cylinder whose side is met
// are asked one by one (cylinder_features.h).
// Apart, all of these are exact, whatever features were asked: n is a direction in which the shapes
// are that far apart, and the two points are no farther. In an overlap they are a minimum of depth
// among the directions near n; as for the warm start of Newton's method (smooth_distance.c) that is
// trusted up to a fifth of the smaller inner radius. The pair remembers which features it was.

#include "collision/round_features.h"

#include <string.h>

#include "collision/cylinder_features.h"
#include "collision/smooth_distance.h"
#include "geometry/patches.h"
#include "geometry/shape.h"

// How far the features' normal may have turned from the last one (a cosine).
static const double sameCosine = 0.95;

// Of the smaller inner radius: deeper overlaps may have a shorter way out elsewhere.
static const double shallowPart = 0.2;

static bool isFlatSided(const tpGeometry* geometry) {
    return geometry->type == tp_cylinderShape || geometry->type == tp_boxShape ||
           geometry->type == tp_hullShape;
}

static bool isAsked(const tpGeometry* geometry) {
    return isFlatSided(geometry) || geometry->type == tp_capsuleShape;
}

// Whether a point, seen along the facet's normal, is inside the facet.
static bool isOver(const tpFacet* facet, tpVec3 point) {
    if (facet->radius > 0.0) {
        tpVec3 r = tpSub(point, facet->center);
        r = tpMulAdd(r, -tpDot(r, facet->normal), facet->normal);
        return tpLengthSquared(r) <= facet->radius * facet->radius;
    }
    for (int k = 0; k < facet->count; ++k) {
        tpVec3 p = facet->corners[k], q = facet->corners[k + 1 < facet->count ? k + 1 : 0];
        if (tpDot(tpCross(tpSub(q, p), facet->normal), tpSub(point, p)) > 0.0) {
            return false;
        }
    }
    return true;
}

// The lowest point of one shape over a flat part of the other, which looks along `n`.
static bool overFacet(const tpGeometry* flat, tpPose flatPose, const tpGeometry* other,
                      tpPose otherPose, tpVec3 n, tpClosest* out) {
    tpFacet facet;
    if (!isFlatSided(flat) || tpFacetCosine(flat, flatPose, n) < sameCosine ||
        !tpFindFacet(flat, flatPose, n, &facet)) {
        return false;
    }
    tpVec3 down = tpUnrotate(otherPose.rotation, tpNeg(facet.normal));
    tpVec3 lowest = tpTransformPoint(otherPose, tpGeometry_Support(other, down));
    if (!isOver(&facet, lowest)) {
        return false;
    }
    double distance = tpDot(facet.normal, tpSub(lowest, facet.center));
    *out = (tpClosest){ distance, lowest, tpMulAdd(lowest, -distance, facet.normal), facet.normal };
    return true;
}

static tpCylinderPlace placeCylinder(const tpGeometry* cylinder, tpPose pose, tpPose frame) {
    tpVec3 axis = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    return (tpCylinderPlace){ tpUntransformPoint(frame, pose.position),
                              tpUnrotate(frame.rotation, axis), 0.5 * cylinder->cylinder.length,
                              cylinder->cylinder.radius };
}

// A cylinder, which is A here, and a corner or an edge of another shape, or the side of another
// cylinder. `last` is from B to A.
static bool toCylinder(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                       tpVec3 last, tpClosest* out) {
    tpCoreStorage storage;
    double radius;
    tpGeometry axis = { .type = tp_capsuleShape };
    bool isSide = b->type == tp_cylinderShape;
    if (isSide) {
        axis.capsule = (tpCapsule){ b->cylinder.radius, b->cylinder.length, { 0.0, 0.0, 1.0 } };
    }
    const tpHull* core = tpGeometry_Core(isSide ? &axis : b, &storage, &radius);
    if (core == NULL) {
        return false;
    }
    tpCylinderPlace place = placeCylinder(a, poseA, poseB);
    tpVec3 towards = tpUnrotate(poseB.rotation, last);
    if (!tpNearestToCylinder(core, &place, towards, sameCosine, tpHull_Support(core, towards, 0),
                             out)) {
        return false;
    }
    // The core is to be outside of the cylinder; an end of the axis is inside of the other one.
    if ((radius > 0.0 && out->distance <= 0.0) || (isSide && fabs(out->normal.z) > 1e-9)) {
        return false;
    }
    tpVec3 n = tpRotate(poseB.rotation, out->normal);
    tpVec3 onB = tpMulAdd(tpTransformPoint(poseB, out->pointB), radius, n);
    double distance = out->distance - radius;
    *out = (tpClosest){ distance, tpMulAdd(onB, distance, n), onB, n };
    return true;
}

// Ways to the nearest points, in the order in which they are tried.
typedef enum Way { onCylinderA, onCylinderB, onFacetB, onFacetA, wayCount } Way;

static bool tryWay(const tpPair* pair, Way way, tpVec3 last, tpClosest* out) {
    bool isA = pair->a->type == tp_cylinderShape, isB = pair->b->type == tp_cylinderShape;
    bool isFound = false;
    switch (way) {
    case onCylinderA:
        return isA && toCylinder(pair->a, pair->poseA, pair->b, pair->poseB, last, out);
    case onCylinderB:
        isFound = isB && toCylinder(pair->b, pair->poseB, pair->a, pair->poseA, tpNeg(last), out);
        break;
    case onFacetB:
        return overFacet(pair->b, pair->poseB, pair->a, pair->poseA, last, out);
    default:
        isFound = overFacet(pair->a, pair->poseA, pair->b, pair->poseB, tpNeg(last), out);
    }
    if (isFound) {
        tpSwapClosest(out);
    }
    return isFound;
}

static void keep(float to[3], tpVec3 v) {
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

// The next start of Newton's method: points of the cores, which a capsule's radius is not part of.
static void keepAnswer(const tpPair* pair, const tpClosest* c, tpPairCache* cache) {
    double radiusA = pair->a->type == tp_capsuleShape ? pair->a->capsule.radius : 0.0;
    double radiusB = pair->b->type == tp_capsuleShape ? pair->b->capsule.radius : 0.0;
    tpVec3 onA = tpMulAdd(c->pointA, radiusA, c->normal);
    tpVec3 onB = tpMulAdd(c->pointB, -radiusB, c->normal);
    tpSmoothCache next;
    keep(next.normal, tpUnrotate(pair->poseA.rotation, c->normal));
    keep(next.pointA, tpUnrotate(pair->poseA.rotation, tpSub(onA, pair->poseA.position)));
    keep(next.pointB, tpUnrotate(pair->poseB.rotation, tpSub(onB, pair->poseB.position)));
    memcpy(cache, &next, sizeof next);
}

// Where the pair remembers by which way it was answered, behind a tpSmoothCache.
enum { wayWord = 12 };
_Static_assert(sizeof(tpSmoothCache) <= 4 * wayWord, "a pair cache holds both");

bool tpClosestByFeatures(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    tpSmoothCache before;
    memcpy(&before, cache, sizeof before);
    tpVec3 inA = tpMakeVec3(before.normal[0], before.normal[1], before.normal[2]);
    if (!isAsked(pair->a) || !isAsked(pair->b)) {
        return false;
    }
    // Without a last answer the line of centres says where to begin; of overlaps it says nothing.
    bool isCold = !(tpLengthSquared(inA) > 0.5);
    tpVec3 last = isCold ? tpNormalize(tpSub(pair->poseA.position, pair->poseB.position))
                         : tpRotate(pair->poseA.rotation, tpNormalize(inA));
    uint32_t first = cache->words[wayWord] < wayCount ? cache->words[wayWord] : 0u, way = first;
    bool isFound = tryWay(pair, (Way)first, last, out);
    for (uint32_t k = 0; k < wayCount && !isFound; ++k) {
        way = k;
        isFound = k != first && tryWay(pair, (Way)k, last, out);
    }
    double inner = fmin(tpGeometry_InnerRadius(pair->a), tpGeometry_InnerRadius(pair->b));
    if (!isFound || out->distance < -shallowPart * inner || (isCold && out->distance <= 0.0)) {
        return false;
    }
    cache->words[wayWord] = way;
    keepAnswer(pair, out, cache);
    return true;
}
