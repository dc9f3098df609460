// Impulses of joints that are not in rows, and what joints report of all impulses.

#include "dynamics/couplings.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"

// Impulses that are not in rows -------------------------------------------------------------------

void tpJoint_AddReaction(const tpSystem* system, tpJoint* joint, tpWrench onB) {
    tpPose pose = tpPoseOrWorld(system->poses.data, joint->bodyB);
    tpVec3 arm = tpSub(tpTransformPoint(pose, joint->anchorB), pose.position);
    joint->force = tpAdd(joint->force, onB.linear);
    joint->torque = tpAdd(joint->torque, tpSub(onB.angular, tpCross(arm, onB.linear)));
}

int tpRows_ForceRow(const tpRows* rows, int block) {
    return rows->firstRows[block] + (rows->infos[block].source == tp_boundedSource ? 1 : 0);
}

double tpJoints_Share(const tpSystem* system, const tpBlockInfo* info) {
    if (info->isCoupling) {
        const tpCoupling* coupling = &system->couplings.data[info->index];
        return info->role == tp_springRole ? coupling->springShare : coupling->servoShare;
    }
    const tpCoordinate* coordinate =
        &system->joints.data[info->index].coordinates[info->coordinate];
    return info->role == tp_springRole  ? coordinate->springShare
           : info->role == tp_servoRole ? coordinate->servoShare
                                        : coordinate->damperShare;
}

// The axis of a ball joint that a damper's block stands for: they come three in a row.
static tpJointRow rowOf(const tpJoint* joint, const tpJointPlace* place, const tpRows* rows,
                        int block) {
    const tpBlockInfo* info = &rows->infos[block];
    if (joint->type != tp_ballJoint || info->role != tp_damperRole) {
        return tpJoint_CoordinateRow(joint, place, info->coordinate);
    }
    const tpVec3 axes[3] = { place->axisA, place->sideA, place->thirdA };
    tpJointRow row = { .error = 0.0 };
    row.onB.angular = axes[info->part];
    row.onA.angular = tpNeg(axes[info->part]);
    return row;
}

// The rest of a law of a joint's coordinate.
static void kickCoordinate(tpSystem* system, const tpRows* first, int block, double share,
                           const tpVelocity* meanVelocities, const tpStepTimes* times,
                           tpStepReport* report) {
    const tpBlockInfo* info = &first->infos[block];
    tpJoint* joint = &system->joints.data[info->index];
    tpCoordinate* coordinate = &joint->coordinates[info->coordinate];
    tpJointRow now;
    if (joint->type == tp_revoluteJoint) {
        now = tpHinge_Direction(joint, system->poses.data);
    } else {
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        now = rowOf(joint, &place, first, block);
    }
    int row = tpRows_ForceRow(first, block);
    double left = (1.0 - share) / share, rest = left * first->impulse[row];
    double lent = 0.0, taken = 0.0;
    if (info->role == tp_servoRole) {
        double effort = first->impulse[row] / (share * times->h);
        lent = tpServoMemory_Advance(&coordinate->servoMemory, effort, share, times, &taken);
        coordinate->effort += rest / times->whole;
    }
    tpJoint_ApplyRow(system, joint, &now, rest + lent);
    double force = (rest + lent - taken) / times->whole;
    tpWrench onB = { tpScale(force, now.onB.linear), tpScale(force, now.onB.angular) };
    tpJoint_AddReaction(system, joint, onB);
    // They act all along the way. What a spring stores is part of the potential energy; its
    // damper's part of the impulse is not.
    double missed = first->missed[row];
    double mean =
        missed + tpRows_RowVelocity(first, row, meanVelocities, joint->bodyA, joint->bodyB);
    double speed = missed != 0.0 ? mean : tpJointRow_Speed(joint, &now, meanVelocities);
    double damped = -left * first->damping[row] * mean;
    tpAddDriveWork((info->role == tp_springRole ? damped : rest + lent - taken) * speed, report);
}

void tpJoints_KickRest(tpSystem* system, const tpRows* first, const tpVelocity* meanVelocities,
                       const tpStepTimes* times, const bool* isWanted, tpStepReport* report) {
    for (int b = 0; b < first->blockCount; ++b) {
        const tpBlockInfo* info = &first->infos[b];
        bool isLaw = info->source != tp_contactSource &&
                     (isWanted == NULL || (!info->isCoupling && isWanted[info->index])) &&
                     (info->role == tp_springRole || info->role == tp_servoRole ||
                      info->role == tp_damperRole);
        if (!isLaw) {
            continue;
        }
        double share = tpJoints_Share(system, info);
        if (info->isCoupling) {
            tpCoupling_KickRest(system, first, b, share, meanVelocities, times, report);
        } else {
            kickCoordinate(system, first, b, share, meanVelocities, times, report);
        }
    }
}

void tpJoints_KickEfforts(tpSystem* system, double duration) {
    for (int i = 0; system->hasEfforts && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            double applied = joint->coordinates[k].applied;
            if (applied != 0.0) {
                tpJointPlace place = tpJoint_Place(joint, system->poses.data);
                tpJointRow row = tpJoint_CoordinateRow(joint, &place, k);
                tpJoint_ApplyRow(system, joint, &row, duration * applied);
            }
        }
    }
}

void tpJoints_FinishEfforts(tpSystem* system) {
    for (int i = 0; system->hasEfforts && i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            tpCoordinate* coordinate = &joint->coordinates[k];
            if (coordinate->applied != 0.0) {
                tpJointPlace place = tpJoint_Place(joint, system->poses.data);
                tpWrench onB = tpJoint_CoordinateRow(joint, &place, k).onB;
                onB.linear = tpScale(coordinate->applied, onB.linear);
                onB.angular = tpScale(coordinate->applied, onB.angular);
                tpJoint_AddReaction(system, joint, onB);
                coordinate->effort += coordinate->applied;
                coordinate->applied = 0.0;
            }
        }
    }
    system->hasEfforts = false;
}

// Reactions and efforts ---------------------------------------------------------------------------

void tpJoints_ClearReactions(tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        joint->force = joint->torque = tpZeroVec3();
        for (int k = 0; k < joint->coordinateCount; ++k) {
            joint->coordinates[k].effort = joint->coordinates[k].limitEffort = 0.0;
        }
    }
    tpCouplings_ClearEfforts(system);
}

void tpJoints_StoreReactions(tpSystem* system, const tpRows* rows, double h) {
    tpJoints_ClearReactions(system);
    tpJoints_AddReactions(system, rows, h);
}

// The wrench on B of the rows from `first` up to `end`.
static tpWrench wrenchOnB(const tpRows* rows, int first, int end, double h) {
    tpWrench sum = { tpZeroVec3(), tpZeroVec3() };
    for (int index = first; index < end; ++index) {
        const double* row = rows->jacobianB + (size_t)index * (size_t)rows->componentCount;
        double force = rows->impulse[index] / h;
        if (rows->componentCount == 3) {
            sum.linear = tpMulAdd(sum.linear, force, tpMakeVec3(row[0], row[1], 0.0));
            sum.angular.z += force * row[2];
        } else {
            sum.linear = tpMulAdd(sum.linear, force, tpMakeVec3(row[0], row[1], row[2]));
            sum.angular = tpMulAdd(sum.angular, force, tpMakeVec3(row[3], row[4], row[5]));
        }
    }
    return sum;
}

void tpCoordinate_AddEffort(tpCoordinate* coordinate, tpRowRole role, int part, double impulse,
                            double h) {
    switch (role) {
    case tp_servoRole:
    case tp_motorRole:
        coordinate->effort += impulse / h;
        break;
    case tp_limitRole: // that of an upper limit pushes down
        coordinate->limitEffort += (part == 1 ? -impulse : impulse) / h;
        break;
    case tp_rotorRole:
    case tp_turnRotorRole:
        coordinate->rotorSpeed[part] -= impulse / coordinate->def.armature;
        break;
    default:
        break;
    }
}

void tpJoints_AddReactions(tpSystem* system, const tpRows* rows, double h) {
    for (int b = 0, next; b < rows->blockCount; b = next) {
        const tpBlockInfo* info = &rows->infos[b];
        next = b + 1;
        if (info->source == tp_contactSource) {
            continue;
        }
        if (info->isCoupling) {
            tpCoupling_AddEffort(system, rows, b, h);
            continue;
        }
        // The blocks of one joint come one after the other.
        tpJoint* joint = &system->joints.data[info->index];
        while (next < rows->blockCount && rows->infos[next].source != tp_contactSource &&
               !rows->infos[next].isCoupling && rows->infos[next].index == info->index) {
            next += 1;
        }
        int end = rows->firstRows[next - 1] + rows->dimensions[next - 1];
        tpJoint_AddReaction(system, joint, wrenchOnB(rows, rows->firstRows[b], end, h));
        for (int k = b; k < next; ++k) {
            const tpBlockInfo* own = &rows->infos[k];
            if (own->role != tp_heldRole) {
                tpCoordinate_AddEffort(&joint->coordinates[own->coordinate], own->role, own->part,
                                       rows->impulse[tpRows_ForceRow(rows, k)], h);
            }
        }
    }
}
