// The rows of a hinge in space, written straight from the poses of its bodies.
//
// Most joints of robots are hinges. The general way places all axes of a joint, lists its rows and
// copies them; a hinge holds the three directions of its anchor and two across its axis, and needs
// neither a list nor a place. The rows are those of joint_types.c.

#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"
#include "dynamics/joint_types.h"

// A row of space: forces and moments on both bodies, the error that its bias takes back.
static void writeRow(tpRows* rows, int row, tpVec3 force, tpVec3 momentA, tpVec3 momentB,
                     double bias) {
    double *a = rows->jacobianA + (size_t)6 * (size_t)row,
           *b = rows->jacobianB + (size_t)6 * (size_t)row;
    tpWriteSix(a, tpNeg(force), tpNeg(momentA));
    tpWriteSix(b, force, momentB);
    rows->bias[row] = bias;
    if (rows->lengthUnit != 1.0) {
        tpRows_ScaleTurn(rows, row);
    }
}

// Both anchors are one point.
static void holdPoint(tpRows* rows, int row, tpVec3 armA, tpVec3 armB, tpVec3 gap, double gain) {
    writeRow(rows, row, tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.0, armA.z, -armA.y),
             tpMakeVec3(0.0, armB.z, -armB.y), gain * gap.x);
    writeRow(rows, row + 1, tpMakeVec3(0.0, 1.0, 0.0), tpMakeVec3(-armA.z, 0.0, armA.x),
             tpMakeVec3(-armB.z, 0.0, armB.x), gain * gap.y);
    writeRow(rows, row + 2, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(armA.y, -armA.x, 0.0),
             tpMakeVec3(armB.y, -armB.x, 0.0), gain * gap.z);
}

// What has led to the poses is taken off.
static void takeLinearised(tpRows* rows, const tpJoint* joint, int first,
                           const tpVelocity* linearised) {
    for (int row = first; linearised != NULL && row < first + 5; ++row) {
        rows->bias[row] -= tpRows_RowVelocity(rows, row, linearised, joint->bodyA, joint->bodyB);
    }
}

// The angle matters to limits and laws, and to a rotor that holds its position.
static bool needsValue(const tpCoordinateDef* def, const tpJointTreatment* treatment,
                       tpLawRows laws) {
    return def->hasLimits || (def->armature > 0.0 && treatment->gain != 0.0) ||
           (laws != tp_noLaws && (def->hasSpring || def->hasServo || def->damping > 0.0));
}

void tpHinge_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                     const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    double gain = treatment->gain / treatment->h;
    tpMat33 turnA = tpMatFromQuat(a.rotation);
    tpVec3 armA = tpMulMV(turnA, joint->anchorA), armB = tpRotate(b.rotation, joint->anchorB);
    tpVec3 gap = tpSub(tpAdd(b.position, armB), tpAdd(a.position, armA));
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .role = tp_heldRole };
    int block =
        tpRows_OpenBlock(rows, system, info, tp_frictionFree, 3, joint->bodyA, joint->bodyB);
    int row = rows->firstRows[block];
    holdPoint(rows, row, armA, armB, gap, gain);
    tpVec3 across[2], twist;
    tpHalfTurn half = tpHinge_Split(joint, a.rotation, b.rotation, &twist);
    tpMakeTangents(coordinate->axis, &across[0], &across[1]);
    tpRows_OpenBlock(rows, system, info, tp_frictionFree, 2, joint->bodyA, joint->bodyB);
    for (int k = 0; k < 2; ++k) {
        tpVec3 direction = tpMulMV(turnA, across[k]);
        writeRow(rows, row + 3 + k, tpZeroVec3(), direction, direction,
                 gain * tpDot(across[k], twist));
    }
    takeLinearised(rows, joint, row, treatment->linearised);
    double value = needsValue(&coordinate->def, treatment, laws)
                       ? tpHinge_ValueOf(joint, half) + coordinate->def.zero
                       : 0.0;
    tpHinge_AddLaws(rows, system, index, tpMulMV(turnA, coordinate->axis), value, treatment, laws);
}
