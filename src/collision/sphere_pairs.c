// Contacts of a sphere with a sphere and with a box, rounded or not: closed forms.
//
// Piles of grains are made of these pairs, and nothing but the distance of a point is needed.
// Distances asked for alone go the general way (convex_pairs.c), which is as exact.

#include "collision/convex_pairs.h"

#include "collision/next_features.h"
#include "geometry/shape.h"

// One contact at a point of the sphere A. A sphere touches another convex body in one point.
static void emit(tpVec3 centerA, double radiusA, tpVec3 normal, double gap, tpContactList* out) {
    tpVec3 pointA = tpMulAdd(centerA, -radiusA, normal);
    tpContactPoint contact = { pointA, tpMulAdd(pointA, -gap, normal), normal, gap,
                               tpMakeFeature(tp_smooth, tp_rimCrossing + 3, 0) };
    tpContactList_Add(out, &contact);
}

static void collideSpheres(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    double radiusA = pair->a->sphere.radius, radiusB = pair->b->sphere.radius;
    tpVec3 between = tpSub(pair->poseA.position, pair->poseB.position);
    double reach = radiusA + radiusB + pair->margin, square = tpLengthSquared(between);
    // Farther than the rounding of squares can be wrong by.
    if (square > reach * reach * (1.0 + 1e-12)) {
        return;
    }
    double distance = sqrt(square), gap = distance - radiusA - radiusB;
    if (gap > pair->margin) {
        return;
    }
    tpVec3 normal = distance > 1e-14 * (radiusA + radiusB) ? tpScale(1.0 / distance, between)
                                                           : tpMakeVec3(0.0, 0.0, 1.0);
    emit(pair->poseA.position, radiusA, normal, gap, out);
}

// The way out of the box for a centre inside of it: through the nearest face.
static tpVec3 nearestFace(const double center[3], const double half[3], double* distance) {
    int nearest = 0;
    *distance = fabs(center[0]) - half[0];
    for (int k = 1; k < 3; ++k) {
        if (fabs(center[k]) - half[k] > *distance) {
            *distance = fabs(center[k]) - half[k];
            nearest = k;
        }
    }
    double sign = center[nearest] >= 0.0 ? 1.0 : -1.0;
    return tpMakeVec3(nearest == 0 ? sign : 0.0, nearest == 1 ? sign : 0.0,
                      nearest == 2 ? sign : 0.0);
}

// What is known of a sphere beside its contact with a box. Over a face that is how far away its
// border is.
static void sayBeyond(const tpPair* pair, const double center[3], const double half[3],
                      const double outside[3], tpVec3 normal, double gap) {
    int faces = 0;
    double room = INFINITY;
    for (int k = 0; k < 3; ++k) {
        faces += outside[k] != 0.0 ? 1 : 0;
        room = outside[k] != 0.0 ? room : fmin(room, half[k] - fabs(center[k]));
    }
    if (faces == 1) {
        tpPair_SayBallOverFace(pair, true, room);
    } else if (faces > 1) {
        tpClosest closest = { .distance = gap, .normal = normal };
        tpPair_SayNext(pair, &closest);
    }
}

static void collideSphereBox(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    (void)cache;
    double radius = pair->a->sphere.radius, rounding;
    tpVec3 c = tpUnrotate(pair->poseB.rotation, tpSub(pair->poseA.position, pair->poseB.position));
    tpVec3 h = tpScale(0.5, tpBoxCoreSize(pair->b, &rounding));
    const double center[3] = { c.x, c.y, c.z }, half[3] = { h.x, h.y, h.z };
    double outside[3], square = 0.0;
    for (int k = 0; k < 3; ++k) {
        double nearest = fmin(fmax(center[k], -half[k]), half[k]);
        outside[k] = center[k] - nearest;
        square += outside[k] * outside[k];
    }
    double distance = sqrt(square);
    tpVec3 normal;
    if (distance > 1e-14 * (half[0] + half[1] + half[2])) {
        normal = tpScale(1.0 / distance, tpMakeVec3(outside[0], outside[1], outside[2]));
    } else {
        normal = nearestFace(center, half, &distance);
    }
    double gap = distance - radius - rounding;
    if (gap <= pair->margin) {
        normal = tpRotate(pair->poseB.rotation, normal);
        emit(pair->poseA.position, radius, normal, gap, out);
        if (pair->over != NULL && rounding == 0.0) {
            sayBeyond(pair, center, half, outside, normal, gap);
        }
    } else {
        tpPair_SayApart(pair, gap, tpRotate(pair->poseB.rotation, normal));
    }
}

const tpPairClass tp_spherePair = { collideSpheres, tpClosestOfSegments, true };
const tpPairClass tp_sphereBoxPair = { collideSphereBox, tpClosestCores, true };
