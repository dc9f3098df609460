// Signed distances and contacts of two hulls from arbitrary bytes: the answer proves itself, or
// says that it could not be proved.
//
// Bytes: a pose (seven numbers), the number of points of the first hull, then points of both, three
// bytes each on a coarse grid, so that coplanar, parallel and touching features are common.

#include "fuzz.h"
#include "geometry/hull.h"
#include "tippe/collision.h"

#include <stdlib.h>
#include <string.h>

enum { maxPoints = 64, headSize = 8 };

static tpVec3 readPoint(const uint8_t* bytes) {
    return tpMakeVec3((int8_t)bytes[0] / 16.0, (int8_t)bytes[1] / 16.0, (int8_t)bytes[2] / 16.0);
}

static double support(const tpHull* hull, tpPose pose, tpVec3 direction) {
    double most = -INFINITY;
    for (int i = 0; i < hull->vertexCount; ++i) {
        most = fmax(most, tpDot(direction, tpTransformPoint(pose, hull->vertices[i])));
    }
    return most;
}

static bool makeHull(const uint8_t* bytes, int count, tpGeometry* out) {
    tpVec3 points[maxPoints];
    for (int i = 0; i < count; ++i) {
        points[i] = readPoint(bytes + 3 * i);
    }
    tpAllocator allocator = tpDefaultAllocator();
    return tpMakeHull(&allocator, points, count, tpIdentityPose(), out, NULL) == tp_success;
}

static void check(const tpGeometry* a, tpPose poseA, const tpGeometry* b) {
    tpClosest c;
    tpResult result = tpClosestPoints(a, poseA, b, tpIdentityPose(), NULL, &c);
    double scale = 1.0 + a->hull->radius + b->hull->radius + tpLength(poseA.position);
    double proven =
        -support(a->hull, poseA, tpNeg(c.normal)) - support(b->hull, tpIdentityPose(), c.normal);
    if (result == tp_success && !(fabs(proven - c.distance) <= 1e-9 * scale)) {
        abort();
    }
    tpContactPoint points[128];
    tpContactList list = { points, 0, 128 };
    double margin = 0.1,
           rounding =
               1e-12 * scale; // a distance that is the margin itself may round to either side
    tpCollide(a, poseA, b, tpIdentityPose(), margin, NULL, &list);
    if (result == tp_success && fabs(c.distance - margin) > rounding &&
        (list.count > 0) != (c.distance <= margin)) {
        abort();
    }
    for (int i = 0; i < list.count && i < 128; ++i) {
        if (!(points[i].gap <= margin) || !tpIsFiniteVec3(points[i].pointA)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < headSize + 3 * 8 || size > headSize + 3 * 2 * maxPoints) {
        return 0;
    }
    int total = (int)(size - headSize) / 3, first = 4 + data[7] % (total - 7);
    int second = total - first;
    if (first > maxPoints || second > maxPoints || second < 4) {
        return 0;
    }
    tpPose pose = { readPoint(data), tpMakeQuat((int8_t)data[3], (int8_t)data[4], (int8_t)data[5],
                                                (int8_t)data[6]) };
    if (tpDotQQ(pose.rotation, pose.rotation) == 0.0) {
        pose.rotation = tpIdentityQuat();
    }
    pose.rotation = tpNormalizeQuat(pose.rotation);
    tpGeometry a, b;
    if (!makeHull(data + headSize, first, &a)) {
        return 0;
    }
    if (makeHull(data + headSize + 3 * first, second, &b)) {
        check(&a, pose, &b);
        tpReleaseGeometry(&b);
    }
    tpReleaseGeometry(&a);
    return 0;
}
