// The change from one state of a body to another, to be measured, scaled and added.

#ifndef TIPPE_SRC_STEPPERS_AUTO_BODY_CHANGE_H
#define TIPPE_SRC_STEPPERS_AUTO_BODY_CHANGE_H

#include "dynamics/system.h"

// Positions, turns, velocities.
typedef struct tpBodyChange {
    tpVec3 position, turn, linear, angular;
} tpBodyChange;

static inline tpBodyChange tpBodyChange_Between(const tpPose* pose, const tpVelocity* velocity,
                                                const tpPose* otherPose,
                                                const tpVelocity* otherVelocity) {
    return (tpBodyChange){
        tpSub(pose->position, otherPose->position),
        tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(otherPose->rotation))),
        tpSub(velocity->linear, otherVelocity->linear),
        tpSub(velocity->angular, otherVelocity->angular),
    };
}

// first + part second.
static inline tpBodyChange tpBodyChange_Sum(tpBodyChange first, double part, tpBodyChange second) {
    return (tpBodyChange){ tpMulAdd(first.position, part, second.position),
                           tpMulAdd(first.turn, part, second.turn),
                           tpMulAdd(first.linear, part, second.linear),
                           tpMulAdd(first.angular, part, second.angular) };
}

static inline void tpBodyChange_Apply(tpPose* pose, tpVelocity* velocity, const tpBodyChange* way) {
    pose->position = tpAdd(pose->position, way->position);
    pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(way->turn), pose->rotation));
    velocity->linear = tpAdd(velocity->linear, way->linear);
    velocity->angular = tpAdd(velocity->angular, way->angular);
}

#endif
