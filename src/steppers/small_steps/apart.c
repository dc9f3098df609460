#include "steppers/small_steps/apart.h"

#include "geometry/shape.h"

// Directions -------------------------------------------------------------------------------------

// Numbers from -1 to 1; the sum is positive, so that cutting it off rounds x.
static uint32_t packNumber(double x, int shift) {
    return ((uint32_t)((int32_t)(511.0 * x + 512.5) - 512) & 0x3ffu) << shift;
}

uint32_t tpPackDirection(tpVec3 v) {
    return packNumber(v.x, 0) | packNumber(v.y, 10) | packNumber(v.z, 20);
}

// The two bits that a direction leaves.
enum { kindShift = 30 };

tpPairState tpMakeApart(double slack, tpVec3 along, tpAlongKind kind) {
    uint32_t word = tpPackDirection(along);
    return (tpPairState){ -1, (float)slack, word != 0 ? word | (uint32_t)kind << kindShift : 0 };
}

// Shapes -----------------------------------------------------------------------------------------

tpPose tpShapePose(const tpSystem* system, const tpShape* shape) {
    tpPose pose = system->poses.data[shape->body];
    tpVec3 offset =
        tpSub(shape->form->geometry.pose.position, system->bodies.data[shape->body].center);
    tpQuat q = shape->form->geometry.pose.rotation;
    bool isTurned = q.x != 0.0 || q.y != 0.0 || q.z != 0.0;
    bool isMoved = offset.x != 0.0 || offset.y != 0.0 || offset.z != 0.0;
    tpVec3 place = isMoved ? tpAdd(pose.position, tpRotate(pose.rotation, offset)) : pose.position;
    return tpMakePose(place, isTurned ? tpMulQQ(pose.rotation, q) : pose.rotation);
}

// How far a shape reaches along a direction, from the origin.
static double reachAlong(const tpGeometry* shape, tpPose pose, tpVec3 direction) {
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    double place = tpDot(direction, pose.position);
    if (shape->type == tp_boxShape) {
        tpVec3 size = shape->box.size;
        return place +
               0.5 * (fabs(local.x) * size.x + fabs(local.y) * size.y + fabs(local.z) * size.z);
    }
    if (shape->type == tp_planeShape) {
        return tpDot(local, shape->plane.normal) > 1.0 - 1e-15 ? place + shape->plane.offset
                                                               : INFINITY;
    }
    const tpShapeClass* class = tpClassOf(shape);
    if (class->support == NULL || class->supportIsSearch) {
        return INFINITY;
    }
    return place + tpDot(local, class->support(shape, local));
}

double tpSeparationAlong(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along) {
    return -reachAlong(a, poseA, tpNeg(along)) - reachAlong(b, poseB, along);
}

// The normal of the face of a box that looks most along a direction.
static tpVec3 faceAlong(tpQuat rotation, tpVec3 along) {
    tpVec3 local = tpUnrotate(rotation, along), size = tpAbsVec3(local);
    tpVec3 axis = size.x >= size.y && size.x >= size.z
                      ? tpMakeVec3(copysign(1.0, local.x), 0.0, 0.0)
                  : size.y >= size.z ? tpMakeVec3(0.0, copysign(1.0, local.y), 0.0)
                                     : tpMakeVec3(0.0, 0.0, copysign(1.0, local.z));
    return tpRotate(rotation, axis);
}

bool tpFindApart(const tpSystem* system, tpShapePair shapes, const tpBodyWay* a, const tpBodyWay* b,
                 tpPairState* pair) {
    if (pair->along == 0) {
        return false;
    }
    const tpShape* shapeA = &system->shapes.data[shapes.shapeA];
    const tpShape* shapeB = &system->shapes.data[shapes.shapeB];
    tpPose poseA = tpShapePose(system, shapeA), poseB = tpShapePose(system, shapeB);
    const tpGeometry *formA = &shapeA->form->geometry, *formB = &shapeB->form->geometry;
    tpAlongKind kind = (tpAlongKind)(pair->along >> kindShift);
    tpVec3 along = tpUnpackDirection(pair->along);
    along = kind == tp_alongFaceOfA        ? faceAlong(poseA.rotation, along)
            : kind == tp_alongFaceOfB      ? faceAlong(poseB.rotation, along)
            : formA->type == tp_planeShape ? tpNeg(tpRotate(poseA.rotation, formA->plane.normal))
            : formB->type == tp_planeShape ? tpRotate(poseB.rotation, formB->plane.normal)
                                           : tpNormalize(along);
    double apart = tpSeparationAlong(formA, poseA, formB, poseB, along);
    if (!(apart > 0.0 && apart > tpPairNeedAlong(a, b, along))) {
        return false;
    }
    *pair = tpMakeApart(apart, along, kind);
    return true;
}
