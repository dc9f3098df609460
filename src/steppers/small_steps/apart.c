#include "steppers/small_steps/apart.h"

#include "geometry/shape.h"

// Directions -------------------------------------------------------------------------------------

// Numbers from -1 to 1; the sum is positive, so that cutting it off rounds x.
static uint32_t packNumber(double x, int shift) {
    return ((uint32_t)((int32_t)(511.0 * x + 512.5) - 512) & 0x3ffu) << shift;
}

static uint32_t packDirection(tpVec3 v) {
    return packNumber(v.x, 0) | packNumber(v.y, 10) | packNumber(v.z, 20);
}

tpPairState tpMakeApart(double slack, tpVec3 along) {
    return (tpPairState){ -1, (float)slack, packDirection(along) };
}

// Shapes -----------------------------------------------------------------------------------------

// How far a shape reaches along a direction, from the origin.
static double reachAlong(const tpGeometry* shape, tpPose pose, tpVec3 direction) {
    const tpShapeClass* class = tpClassOf(shape);
    if (class->support == NULL || class->supportIsSearch) {
        return INFINITY;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    return tpDot(direction, pose.position) + tpDot(local, class->support(shape, local));
}

double tpSeparationAlong(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along) {
    return -reachAlong(a, poseA, tpNeg(along)) - reachAlong(b, poseB, along);
}
