// Joints as chains of turns and slides: README.md, "Coordinates of joints".
//
// From body A to body B the chain has up to three turns and three slides in a given order, all
// through one anchor when the joint is made. With P_k the product of the turns before axis k,
//
//     rotation of B in A since the joint was made    R = exp(a_1 q_1) exp(a_2 q_2) ... of the turns
//     way from A's anchor to B's                     d = sum of P_k a_k q_k of the slides
//
// There are no bodies in between: the coordinates q are found from the poses of A and B.

#ifndef TIPPE_SRC_DYNAMICS_JOINT_CHAIN_H
#define TIPPE_SRC_DYNAMICS_JOINT_CHAIN_H

#include "dynamics/system.h"

// One turn or slide of the chain, where it is now.
typedef struct tpChainAxis {
    int coordinate;
    double value;  // displacement since the joint was made, rad or m
    tpVec3 axis;   // unit, world
    tpVec3 dual;   // dual . (relative angular velocity, or velocity) is the rate; world
    tpVec3 lever;  // turns: velocity of B's anchor relative to A for a unit rate of the turn
    tpQuat before; // slides: the turns before it, in the axes of A
} tpChainAxis;

typedef struct tpChain {
    int turnCount, slideCount;
    tpChainAxis turns[3], slides[3];
    tpVec3 twist; // the rotation of B that the turns do not explain, world
    tpVec3 gap;   // the way to B's anchor that the slides do not explain, world
} tpChain;

// Whether the joint is a chain of a single turn.
static inline bool tpJoint_IsHinge(const tpJoint* joint) {
    return joint->coordinateCount == 1 && joint->coordinates[0].kind == tp_turnAxis;
}

// Of a chain of a single turn: its displacement since the joint was made, rad, and the rotation of
// B that the turn does not explain, in the axes of A.
double tpHinge_Value(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB);
tpVec3 tpHinge_Twist(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB);

// Both at once: the twist, and the turn as sine and cosine of its half. tpHinge_ValueOf makes the
// value of these; tpHinge_ValueNear from those of a value that is known, in a third of the time if
// the two are near each other.
typedef struct tpHalfTurn {
    double sine, cosine;
} tpHalfTurn;
tpHalfTurn tpHinge_Split(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB, tpVec3* twist);
double tpHinge_ValueOf(const tpJoint* joint, tpHalfTurn half);
bool tpHinge_ValueNear(tpHalfTurn half, tpHalfTurn knownHalf, double known, double* value);

// Its axis in the world.
static inline tpVec3 tpHinge_Axis(const tpJoint* joint, tpQuat rotationA) {
    return tpRotate(rotationA, joint->coordinates[0].axis);
}

// The chain at given orientations; `span` leads from A's anchor to B's. Turns are those nearest to
// the joint's own.
void tpChain_Place(const tpJoint* joint, tpQuat rotationA, tpQuat rotationB, tpVec3 span,
                   tpChain* chain);

// The rotation of B seen from A, and the way from A's anchor to B's in the axes of A, for given
// displacements.
void tpChain_Pose(const tpJoint* joint, const double* displacements, tpQuat* rotation,
                  tpVec3* span);

// Whether the directions of turns (or of slides) can be told apart: at most three, none in the span
// of the others.
bool tpAreIndependent(const tpVec3* directions, int count);

#endif
