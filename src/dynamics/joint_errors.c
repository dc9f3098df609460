// Where rows of joints have come to at the end of a drift, and by how much they have missed it.

#include <string.h>

#include "dynamics/couplings.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"
#include "dynamics/joint_types.h"

double tpJoints_ErrorOf(const tpRows* end, int block, int row) {
    bool isRotor = tpRowRole_IsRotor(end->infos[block].role);
    return end->bias[row] + (isRotor ? end->rotor[row] : 0.0);
}

// The blocks of one joint that is a single turn, which needs no rows for it.
static void hingeErrors(const tpSystem* system, const tpRows* rows, int block, int end,
                        const tpPose* poses, double* errors) {
    const tpJoint* joint = &system->joints.data[rows->infos[block].index];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    tpVec3 twist, across[2];
    tpHalfTurn half = tpHinge_Split(joint, a.rotation, b.rotation, &twist);
    double value = 0.0;
    bool isMeasured = false;
    for (; block < end; ++block) {
        const tpBlockInfo* info = &rows->infos[block];
        double* own = errors + rows->firstRows[block];
        if (!isMeasured && (info->role == tp_limitRole || info->role == tp_rotorRole)) {
            value = tpHinge_ValueOf(joint, half) + coordinate->def.zero;
            isMeasured = true;
        }
        if (info->role == tp_heldRole && rows->dimensions[block] == 3) {
            tpVec3 gap =
                tpSub(tpTransformPoint(b, joint->anchorB), tpTransformPoint(a, joint->anchorA));
            own[0] = gap.x;
            own[1] = gap.y;
            own[2] = gap.z;
        } else if (info->role == tp_heldRole) {
            tpMakeTangents(coordinate->axis, &across[0], &across[1]);
            own[0] = tpDot(across[0], twist);
            own[1] = tpDot(across[1], twist);
        } else if (info->role == tp_limitRole) {
            double past = value - coordinate->def.limits[info->part];
            own[0] = info->part == 0 ? past : -past;
        } else if (info->role == tp_rotorRole) {
            own[0] = value - coordinate->startValue;
        } else {
            memset(own, 0, sizeof(double) * (size_t)rows->dimensions[block]);
        }
    }
}

bool tpJoints_EndErrors(tpSystem* system, const tpRows* rows, int firstBlock, const tpPose* poses,
                        const tpJointTreatment* treatment, bool isHalf, double* errors) {
    tpJointTreatment atEnd = *treatment;
    atEnd.h = 1.0;
    tpLawRows laws = isHalf                      ? tp_firstHalfLaws
                     : treatment->duration > 0.0 ? tp_wholeLaws
                                                 : tp_noLaws;
    tpRows end;
    bool isMade = false;
    for (int b = firstBlock, next; b < rows->blockCount; b = next) {
        const tpBlockInfo* info = &rows->infos[b];
        for (next = b + 1; next < rows->blockCount && rows->infos[next].index == info->index &&
                           rows->infos[next].isCoupling == info->isCoupling;
             ++next) {
        }
        if (!info->isCoupling && system->joints.data[info->index].type == tp_revoluteJoint) {
            hingeErrors(system, rows, b, next, poses, errors);
            continue;
        }
        if (!isMade) {
            int blocks, count;
            tpJoints_Count(system, &blocks, &count);
            if (!tpRows_Create(&end, system, blocks, count)) {
                return false;
            }
            isMade = true;
        }
        tpRows_Clear(&end);
        if (info->isCoupling) {
            // All of them, which come last.
            tpCouplings_AddRows(&end, system, poses, &atEnd, laws);
            next = rows->blockCount;
        } else {
            tpJoint_AddRowsWith(&end, system, info->index, poses, &atEnd, laws);
        }
        for (int k = b; k < next; ++k) {
            for (int i = 0; i < rows->dimensions[k]; ++i) {
                errors[rows->firstRows[k] + i] =
                    tpJoints_ErrorOf(&end, k - b, end.firstRows[k - b] + i);
            }
        }
    }
    return true;
}

double tpJoints_Miss(const tpRows* rows, int block, int row, double impulse, double velocity,
                     double error, double h) {
    tpRowRole role = rows->infos[block].role;
    if (tpRowRole_IsRotor(role)) {
        // The coordinate has to go as far as the rotor, at the speed that the impulse has left it.
        double speed = rows->rotor[row] - rows->compliance[row] * impulse;
        return error - h * (speed + velocity);
    }
    return role == tp_heldRole || role == tp_limitRole ? error - h * velocity : 0.0;
}

bool tpJoints_IsMissFelt(const tpRows* rows, int block, double impulse, double error) {
    // A limit that has not pushed may have been passed all the same: its row is linear.
    return rows->infos[block].role != tp_limitRole || impulse != 0.0 || error < 0.0;
}

double tpJoints_LawMiss(const tpSystem* system, const tpPose* poses, const tpRows* rows, int block,
                        int row, double h) {
    const tpBlockInfo* info = &rows->infos[block];
    bool isLaw =
        info->source != tp_contactSource && !info->isCoupling &&
        (info->role == tp_springRole || info->role == tp_servoRole || info->role == tp_damperRole);
    if (!isLaw || row != tpRows_ForceRow(rows, block)) {
        return 0.0;
    }
    const tpJoint* joint = &system->joints.data[info->index];
    if (joint->type == tp_revoluteJoint || joint->type == tp_ballJoint) {
        return 0.0;
    }
    const tpCoordinate* coordinate = &joint->coordinates[info->coordinate];
    tpJointPlace place = tpJoint_Place(joint, poses);
    double way =
        tpJoint_CoordinateRow(joint, &place, info->coordinate).error - coordinate->startValue;
    double law = rows->compliance[row] * rows->impulse[row] + rows->bias[row] - rows->missed[row];
    return way - h * (rows->velocity[row] - law);
}
