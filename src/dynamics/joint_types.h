// What each type of joint holds fast, as rows, and the one quantity that its limits, motors, springs and dry
// friction act on.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_TYPES_H
#define TIPPE_SRC_DYNAMICS_JOINT_TYPES_H

#include "dynamics/joints.h"

// Where a joint's two sides are.
typedef struct tpJointPlace {
    tpVec3 centerA, centerB;     // centres of mass
    tpVec3 pointA, pointB;       // anchors
    tpVec3 axisA, sideA, thirdA; // joint axes fixed in A
    tpVec3 axisB;                // fixed in B
    tpVec3 twist;                // rotation of B relative to A since the joint was made, world axes
    double turn;                 // part of it about axisA, followed past half a turn
} tpJointPlace;

typedef struct tpJointRow {
    tpWrench onA, onB;
    double error; // of the quantity whose velocity the row is
} tpJointRow;

typedef struct tpJointRows {
    tpJointRow rows[tp_maxJointRows];
    int rowCount;
    int blockSizes[tp_maxJointBlocks];
    int blockCount;
} tpJointRows;

static inline tpWrench tpNegativeWrench(tpWrench wrench) {
    tpWrench other = { tpNeg(wrench.linear), tpNeg(wrench.angular) };
    return other;
}

// A body's pose, or that of the world where there is no body.
static inline tpPose tpPoseOrWorld(const tpPose* poses, int body) {
    return body >= 0 ? poses[body] : tpIdentityPose();
}

tpJointPlace tpJoint_Place(const tpJoint* joint, const tpPose* poses);

// The rows that the joint holds fast, in blocks.
tpJointRows tpJoint_HeldRows(const tpJoint* joint, const tpJointPlace* place);

// The joint's coordinate, with its present value as the error. False where its type has none.
bool tpJoint_Coordinate(const tpJoint* joint, const tpJointPlace* place, tpJointRow* row);

#endif
