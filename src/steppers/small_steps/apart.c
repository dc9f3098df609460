#include "steppers/small_steps/apart.h"

#include "geometry/shape.h"

// Directions -------------------------------------------------------------------------------------

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

// Bodies that turn by more than this in a step, rad, are not bounded by where they are at its ends.
static const double mostTurn = 3.0;

// How far a shape reached along a direction at the start of the step. Its orientation then, asked
// along n, is the present one, asked along n that has turned with the body.
static double reachBefore(const tpGeometry* shape, tpPose pose, const tpBodyShift* shift,
                          tpVec3 n) {
    bool turns = tpLengthSquared(shift->turn) > 0.0;
    tpVec3 turned = turns ? tpRotate(tpQuatExp(shift->turn), n) : n;
    double center = tpDot(tpSub(n, turned), shift->center) - tpDot(n, shift->shift);
    return center + reachAlong(shape, pose, turned);
}

// How far the centre of a ball is from the axis about which its body turns.
static double aboutAxis(const tpBodyShift* shift, double turn, tpVec3 point) {
    return tpLength(tpCross(shift->turn, tpSub(point, shift->center))) / turn;
}

// How far points of a body may be off from the line between where they are at both ends of the
// step: the height of the arc. Balls, and capsules as all balls along a line, have their centres
// for points, so that a capsule may roll.
static double bendOf(const tpGeometry* shape, tpPose pose, const tpBodyShift* shift) {
    double turn = tpLength(shift->turn), radius = shift->reach;
    // The reach of a plane is infinite.
    if (turn == 0.0) {
        return 0.0;
    }
    if (shape->type == tp_sphereShape) {
        radius = aboutAxis(shift, turn, pose.position);
    } else if (shape->type == tp_capsuleShape) {
        tpVec3 half = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 0.5 * shape->capsule.length));
        radius = fmax(aboutAxis(shift, turn, tpAdd(pose.position, half)),
                      aboutAxis(shift, turn, tpSub(pose.position, half)));
    }
    return turn <= mostTurn ? 0.125 * radius * turn * turn : INFINITY;
}

// The direction from B to A along which shapes are apart, if one of them is a plane: its normal, to
// the last bit. Otherwise the one that is given.
static tpVec3 alongPlane(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 along) {
    return a->type == tp_planeShape   ? tpNeg(tpRotate(poseA.rotation, a->plane.normal))
           : b->type == tp_planeShape ? tpRotate(poseB.rotation, b->plane.normal)
                                      : along;
}

// Each point of a shape is on its line at any time, but for the bend. The separation along n is the
// least of what grows evenly from one end of the step to the other, so that it is never less than
// the lesser of those at both ends.
double tpLeastSeparationAlong(const tpGeometry* a, tpPose poseA, const tpBodyShift* shiftA,
                              const tpGeometry* b, tpPose poseB, const tpBodyShift* shiftB,
                              tpVec3 along) {
    double bend = bendOf(a, poseA, shiftA) + bendOf(b, poseB, shiftB);
    if (!(bend < INFINITY)) {
        return -INFINITY;
    }
    along = alongPlane(a, poseA, b, poseB, along);
    double end = tpSeparationAlong(a, poseA, b, poseB, along);
    double start =
        -reachBefore(a, poseA, shiftA, tpNeg(along)) - reachBefore(b, poseB, shiftB, along);
    return fmin(start, end) - bend;
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
    along = kind == tp_alongFaceOfA   ? faceAlong(poseA.rotation, along)
            : kind == tp_alongFaceOfB ? faceAlong(poseB.rotation, along)
                                      : alongPlane(formA, poseA, formB, poseB, tpNormalize(along));
    double apart = tpSeparationAlong(formA, poseA, formB, poseB, along);
    if (!(apart > 0.0 && apart > tpPairNeedAlong(a, b, along))) {
        return false;
    }
    *pair = tpMakeApart(apart, along, kind);
    return true;
}
