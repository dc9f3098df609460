// Rows of joints: what they hold fast, then the laws of their coordinates.

#include "dynamics/joints.h"

#include "dynamics/couplings.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"

void tpJoints_Begin(tpSystem* system, double h) {
    tpJoints_BeginLaws(system, h);
}

bool tpJoint_IsMovable(const tpSystem* system, const tpJoint* joint) {
    return joint->isLive &&
           (tpSystem_IsDynamic(system, joint->bodyA) || tpSystem_IsDynamic(system, joint->bodyB));
}

void tpJoints_Count(const tpSystem* system, int* blocks, int* rows) {
    *blocks = 0;
    *rows = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (tpJoint_IsMovable(system, joint)) {
            tpJoint_CountRows(joint, blocks, rows);
        }
    }
    tpCouplings_Count(system, blocks, rows);
}

void tpJoint_CountRows(const tpJoint* joint, int* blocks, int* rows) {
    *blocks += tp_maxHeldBlocks;
    *rows += tp_maxHeldRows;
    tpJoint_CountLaws(joint, blocks, rows);
}

// Directions of a held row, and the bias that takes its error back.
static void placeHeld(tpRows* rows, int index, const tpJoint* joint, const tpJointRow* row,
                      const tpJointTreatment* treatment) {
    tpRows_WriteRow(rows, index, &row->onA, &row->onB);
    rows->bias[index] = treatment->gain * row->error / treatment->h;
    if (treatment->linearised != NULL) {
        rows->bias[index] -=
            tpRows_RowVelocity(rows, index, treatment->linearised, joint->bodyA, joint->bodyB);
    }
}

void tpJoint_AddHeldRows(tpRows* rows, const tpSystem* system, int index, const tpJointPlace* place,
                         const tpJointTreatment* treatment) {
    const tpJoint* joint = &system->joints.data[index];
    tpJointRows list = tpJoint_HeldRows(joint, place);
    int row = 0;
    for (int b = 0; b < list.blockCount; ++b) {
        tpBlockInfo info = { .source = tp_jointSource, .index = index, .role = tp_heldRole };
        int block = tpRows_AddBlock(rows, system, info, tp_frictionFree, list.blockSizes[b],
                                    joint->bodyA, joint->bodyB);
        for (int k = 0; k < list.blockSizes[b]; ++k) {
            placeHeld(rows, rows->firstRows[block] + k, joint, &list.rows[row++], treatment);
        }
    }
}

void tpJoint_AddRowsWith(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                         const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    if (joint->type == tp_revoluteJoint && rows->componentCount == 6) {
        tpHinge_AddRows(rows, system, index, poses, treatment, laws);
        return;
    }
    tpJointPlace place = tpJoint_Place(joint, poses);
    tpJoint_AddHeldRows(rows, system, index, &place, treatment);
    for (int k = 0; k < joint->coordinateCount; ++k) {
        tpJoint_AddLaws(rows, system, index, k, &place, treatment, laws);
    }
}

// Of all joints, or of those that are wanted.
static void addAllRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                       const tpJointTreatment* treatment, tpLawRows laws, const bool* isWanted) {
    for (int i = 0; i < system->joints.count; ++i) {
        bool mayHave = isWanted == NULL || isWanted[i];
        if (mayHave && tpJoint_IsMovable(system, &system->joints.data[i])) {
            tpJoint_AddRowsWith(rows, system, i, poses, treatment, laws);
        }
    }
    tpCouplings_AddRows(rows, system, poses, treatment, laws);
}

void tpJoint_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                     const tpJointTreatment* treatment) {
    tpJoint_AddRowsWith(rows, system, index, poses, treatment,
                        treatment->duration > 0.0 ? tp_wholeLaws : tp_noLaws);
}

void tpJoint_RewriteRows(tpRows* rows, const tpSystem* system, int block, const tpPose* poses,
                         const tpJointTreatment* treatment) {
    int blocks = rows->blockCount, count = rows->rowCount;
    int index = rows->infos[block].index;
    rows->blockCount = block;
    rows->rowCount = rows->firstRows[block];
    tpJoint_AddRows(rows, system, index, poses, treatment);
    TP_ASSERT(rows->blockCount <= blocks && rows->rowCount <= count);
    rows->blockCount = blocks;
    rows->rowCount = count;
}

void tpJoints_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpJointTreatment* treatment) {
    // In a collision, which takes no time, forces do nothing.
    addAllRows(rows, system, poses, treatment, treatment->duration > 0.0 ? tp_wholeLaws : tp_noLaws,
               NULL);
}

void tpJoints_AddHalfRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                          const tpJointTreatment* treatment, tpStepHalf half,
                          const bool* isWanted) {
    addAllRows(rows, system, poses, treatment, half == tp_firstHalf ? tp_firstHalfLaws : tp_noLaws,
               isWanted);
}
