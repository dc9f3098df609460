// What each type of joint holds fast, as rows, and the coordinates that it leaves free, each with
// the row whose velocity is the coordinate's rate.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_TYPES_H
#define TIPPE_SRC_DYNAMICS_JOINT_TYPES_H

#include "dynamics/joint_chain.h"

enum { tp_maxHeldRows = 6, tp_maxHeldBlocks = 3 };

// Where a joint's two sides are.
typedef struct tpJointPlace {
    tpVec3 centerA, centerB;     // centres of mass
    tpVec3 pointA, pointB;       // anchors
    tpVec3 axisA, sideA, thirdA; // joint axes fixed in A
    tpVec3 axisB;                // fixed in B
    tpQuat rotationA, rotationB;
    tpChain chain; // of types that are turns and slides
} tpJointPlace;

typedef struct tpJointRow {
    tpWrench onA, onB;
    double error; // of the quantity whose velocity the row is; of a coordinate: its value
} tpJointRow;

typedef struct tpJointRows {
    tpJointRow rows[tp_maxHeldRows];
    int rowCount;
    int blockSizes[tp_maxHeldBlocks];
    int blockCount;
} tpJointRows;

// A body's pose, or that of the world if there is no body.
static inline tpPose tpPoseOrWorld(const tpPose* poses, int body) {
    return body >= 0 ? poses[body] : tpIdentityPose();
}

tpJointPlace tpJoint_Place(const tpJoint* joint, const tpPose* poses);
tpJointPlace tpJoint_PlaceAt(const tpJoint* joint, tpPose a, tpPose b);

// The row of the coordinate of a hinge (a chain of a single turn), which needs no place, without
// the coordinate's value: its error is 0.
tpJointRow tpHinge_Direction(const tpJoint* joint, const tpPose* poses);

// The rows that the joint holds fast, in blocks.
tpJointRows tpJoint_HeldRows(const tpJoint* joint, const tpJointPlace* place);

// The row of a coordinate.
tpJointRow tpJoint_CoordinateRow(const tpJoint* joint, const tpJointPlace* place, int coordinate);

// Rate of a row for the velocities of all bodies.
double tpJointRow_Speed(const tpJoint* joint, const tpJointRow* row, const tpVelocity* velocities);

// Whether the type is made of turns and slides, each with a displacement and a zero.
bool tpJointType_IsChain(tpJointType type);

// Displacements of a chain or screw at the place given, coordinate by coordinate.
void tpJoint_Displacements(const tpJoint* joint, const tpJointPlace* place, double* displacements);

// The pose of B for given displacements, if A stays where it is.
tpPose tpJoint_PoseOfB(const tpJoint* joint, tpPose a, const double* displacements);

// Applies an impulse in a row of the joint to both bodies.
void tpJoint_ApplyRow(tpSystem* system, const tpJoint* joint, const tpJointRow* row,
                      double impulse);

#endif
