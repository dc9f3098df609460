#include "dynamics/joints.h"

#include <string.h>

#include "base/tasks.h"
#include "dynamics/couplings.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_types.h"

// Rows --------------------------------------------------------------------------------------------

void tpJoints_Begin(tpSystem* system, double h) {
    tpJoints_BeginLaws(system, h);
}

static bool isMovable(const tpSystem* system, const tpJoint* joint) {
    return joint->isLive &&
           (tpSystem_IsDynamic(system, joint->bodyA) || tpSystem_IsDynamic(system, joint->bodyB));
}

void tpJoints_Count(const tpSystem* system, int* blocks, int* rows) {
    *blocks = 0;
    *rows = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (isMovable(system, joint)) {
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

static void addHeldRows(tpRows* rows, const tpSystem* system, int index, const tpJointPlace* place,
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

static void addRowsOf(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                      const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    tpJointPlace place = tpJoint_Place(joint, poses);
    addHeldRows(rows, system, index, &place, treatment);
    for (int k = 0; k < joint->coordinateCount; ++k) {
        tpJoint_AddLaws(rows, system, index, k, &place, treatment, laws);
    }
}

static void addAllRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                       const tpJointTreatment* treatment, tpLawRows laws) {
    for (int i = 0; i < system->joints.count; ++i) {
        if (isMovable(system, &system->joints.data[i])) {
            addRowsOf(rows, system, i, poses, treatment, laws);
        }
    }
    tpCouplings_AddRows(rows, system, poses, treatment, laws);
}

void tpJoint_AddRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                     const tpJointTreatment* treatment) {
    addRowsOf(rows, system, index, poses, treatment,
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
    addAllRows(rows, system, poses, treatment,
               treatment->duration > 0.0 ? tp_wholeLaws : tp_noLaws);
}

void tpJoints_AddHalfRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                          const tpJointTreatment* treatment, tpStepHalf half) {
    addAllRows(rows, system, poses, treatment, half == tp_firstHalf ? tp_firstHalfLaws : tp_noLaws);
}

double tpJoints_ErrorOf(const tpRows* end, int block, int row) {
    bool isRotor = end->infos[block].role == tp_rotorRole;
    return end->bias[row] + (isRotor ? end->rotor[row] : 0.0);
}

// The blocks of one joint that is a single turn, which needs no rows for it.
static void hingeErrors(const tpSystem* system, const tpRows* rows, int block, int end,
                        const tpPose* poses, double* errors) {
    const tpJoint* joint = &system->joints.data[rows->infos[block].index];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    double value = tpHinge_Value(joint, a.rotation, b.rotation) + coordinate->def.zero;
    for (; block < end; ++block) {
        const tpBlockInfo* info = &rows->infos[block];
        double* own = errors + rows->firstRows[block];
        if (info->role == tp_heldRole && rows->dimensions[block] == 3) {
            tpVec3 gap =
                tpSub(tpTransformPoint(b, joint->anchorB), tpTransformPoint(a, joint->anchorA));
            own[0] = gap.x;
            own[1] = gap.y;
            own[2] = gap.z;
        } else if (info->role == tp_heldRole) {
            tpVec3 twist = tpHinge_Twist(joint, a.rotation, b.rotation), across[2];
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
            addRowsOf(&end, system, info->index, poses, &atEnd, laws);
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
    if (role == tp_rotorRole) {
        // The coordinate has to go as far as the rotor, at the speed that the impulse has left it.
        double speed = rows->rotor[row] - rows->compliance[row] * impulse;
        return error - h * (speed + velocity);
    }
    bool isHeld = role == tp_heldRole || (role == tp_limitRole && impulse != 0.0);
    return isHeld ? error - h * velocity : 0.0;
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
                       const tpStepTimes* times, tpStepReport* report) {
    for (int b = 0; b < first->blockCount; ++b) {
        const tpBlockInfo* info = &first->infos[b];
        bool isLaw = info->source != tp_contactSource &&
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

// Errors ------------------------------------------------------------------------------------------

// Errors of positions count in units of length.
static double heldError(const tpSystem* system, const tpJoint* joint, const tpJointPlace* place,
                        double unit) {
    double drift = 0.0;
    tpJointRows list = tpJoint_HeldRows(joint, place);
    for (int k = 0; k < list.rowCount; ++k) {
        // In planar worlds rows that no motion in the plane can change do not count.
        const tpJointRow* row = &list.rows[k];
        tpVec3 linear = tpAdd(tpAbsVec3(row->onA.linear), tpAbsVec3(row->onB.linear));
        tpVec3 angular = tpAdd(tpAbsVec3(row->onA.angular), tpAbsVec3(row->onB.angular));
        bool isInPlane = linear.x + linear.y + angular.z > 1e-9;
        if (!system->isPlanar || isInPlane) {
            bool isTurn = linear.x + linear.y + linear.z == 0.0;
            drift = fmax(drift, isTurn ? fabs(row->error) : fabs(row->error) / unit);
        }
    }
    return drift;
}

// Threads share loops over joints in so many parts, if there are more joints than a few.
enum { jointParts = 64, fewJoints = 128 };

typedef struct JointLoop {
    tpSystem* system; // for the loop that follows angles
    const tpSystem* seen;
    const tpPose* poses;
    const bool* isDone; // for the loop that ends a step: by joint
    double unit;
    double drift[jointParts];
} JointLoop;

static int partsOf(const tpSystem* system) {
    return system->joints.count > fewJoints ? jointParts : 1;
}

static tpRange jointsOf(const tpSystem* system, int part) {
    return tpChunkRange(system->joints.count, part, partsOf(system));
}

static inline double larger(double a, double b) {
    return a > b ? a : b;
}

// The rows of a hinge in space hold three directions of the anchors and two across the axis.
double tpHinge_Drift(const tpJoint* joint, tpVec3 gap, tpVec3 twist, double value, double unit) {
    tpVec3 across[2];
    double drift = larger(larger(fabs(gap.x), fabs(gap.y)), fabs(gap.z)) / unit;
    tpMakeTangents(joint->coordinates[0].axis, &across[0], &across[1]);
    drift = larger(drift, larger(fabs(tpDot(across[0], twist)), fabs(tpDot(across[1], twist))));
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    return def->hasLimits ? larger(drift, fabs(tpPastLimit(def->limits, value))) : drift;
}

static double hingeDrift(const tpJoint* joint, const tpPose* poses, double unit) {
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    tpVec3 gap = tpSub(tpTransformPoint(b, joint->anchorB), tpTransformPoint(a, joint->anchorA));
    tpVec3 twist = tpHinge_Twist(joint, a.rotation, b.rotation);
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    double value = def->hasLimits ? tpHinge_Value(joint, a.rotation, b.rotation) + def->zero : 0.0;
    return tpHinge_Drift(joint, gap, twist, value, unit);
}

static double driftOf(const tpSystem* system, const tpJoint* joint, const tpPose* poses,
                      double unit) {
    if (joint->type == tp_revoluteJoint && !system->isPlanar) {
        return hingeDrift(joint, poses, unit);
    }
    tpJointPlace place = tpJoint_Place(joint, poses);
    double drift = heldError(system, joint, &place, unit);
    for (int k = 0; k < joint->coordinateCount; ++k) {
        const tpCoordinateDef* def = &joint->coordinates[k].def;
        if (def->hasLimits) {
            double value = tpJoint_CoordinateRow(joint, &place, k).error;
            double past = fabs(tpPastLimit(def->limits, value));
            bool isSlide = joint->coordinates[k].kind == tp_slideAxis;
            drift = fmax(drift, isSlide ? past / unit : past);
        }
    }
    return drift;
}

static void measurePart(void* context, int part, int worker) {
    (void)worker;
    JointLoop* loop = context;
    const tpSystem* system = loop->seen;
    tpRange range = jointsOf(system, part);
    double drift = 0.0;
    for (int i = range.begin; i < range.end; ++i) {
        if (system->joints.data[i].isLive) {
            drift = fmax(drift, driftOf(system, &system->joints.data[i], loop->poses, loop->unit));
        }
    }
    loop->drift[part] = drift;
}

static double driftIn(const tpSystem* system, const tpPose* poses, double unit) {
    JointLoop loop = { .seen = system, .poses = poses, .unit = unit };
    double drift = tpCouplings_PositionError(system, poses);
    tpTasks_Run(system->tasks, measurePart, &loop, partsOf(system));
    for (int part = 0; part < partsOf(system); ++part) {
        drift = fmax(drift, loop.drift[part]);
    }
    return drift;
}

double tpJoints_PositionError(const tpSystem* system, const tpPose* poses) {
    return driftIn(system, poses, 1.0);
}

static void followAngle(const tpSystem* system, tpJoint* joint) {
    if (joint->isLive && joint->type == tp_revoluteJoint) {
        tpQuat a = tpPoseOrWorld(system->poses.data, joint->bodyA).rotation;
        tpQuat b = tpPoseOrWorld(system->poses.data, joint->bodyB).rotation;
        joint->coordinates[0].displacement = tpHinge_Value(joint, a, b);
    } else if (joint->isLive && joint->coordinateCount > 0 && tpJointType_IsChain(joint->type)) {
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        double displacements[tp_maxCoordinates];
        tpJoint_Displacements(joint, &place, displacements);
        for (int k = 0; k < joint->coordinateCount; ++k) {
            joint->coordinates[k].displacement = displacements[k];
        }
    }
}

static void followPart(void* context, int part, int worker) {
    (void)worker;
    tpSystem* system = ((const JointLoop*)context)->system;
    tpRange range = jointsOf(system, part);
    for (int i = range.begin; i < range.end; ++i) {
        followAngle(system, &system->joints.data[i]);
    }
}

static void endPart(void* context, int part, int worker) {
    (void)worker;
    JointLoop* loop = context;
    tpSystem* system = loop->system;
    tpRange range = jointsOf(system, part);
    double drift = 0.0;
    for (int i = range.begin; i < range.end; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (!loop->isDone[i] && joint->isLive) {
            followAngle(system, joint);
            tpJoint_EndRotors(system, joint);
            drift = larger(drift, driftOf(system, joint, system->poses.data, 1.0));
        }
    }
    loop->drift[part] = drift;
}

double tpJoints_End(tpSystem* system, const bool* isDone) {
    JointLoop loop = { .system = system, .isDone = isDone };
    double drift = tpCouplings_PositionError(system, system->poses.data);
    tpTasks_Run(system->tasks, endPart, &loop, partsOf(system));
    for (int part = 0; part < partsOf(system); ++part) {
        drift = larger(drift, loop.drift[part]);
    }
    return drift;
}

void tpJoints_FollowAngles(tpSystem* system) {
    JointLoop loop = { .system = system };
    tpTasks_Run(system->tasks, followPart, &loop, partsOf(system));
}

// Rows of all errors of position, at the current poses.
static void addErrors(tpRows* rows, const tpSystem* system) {
    const tpJointTreatment whole = { 1.0, 1.0, NULL, 0.0, 1.0 };
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!isMovable(system, joint)) {
            continue;
        }
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        addHeldRows(rows, system, i, &place, &whole);
        for (int k = 0; k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            if (!def->hasLimits) {
                continue;
            }
            tpJointRow limit = tpJoint_CoordinateRow(joint, &place, k);
            limit.error = tpPastLimit(def->limits, limit.error);
            if (limit.error != 0.0) {
                tpBlockInfo info = { .source = tp_jointSource, .index = i, .role = tp_limitRole };
                tpLawRow row = { joint->bodyA, joint->bodyB, limit, 0, NULL, NULL };
                tpLawRow_AddHeld(rows, system, info, &row, &whole);
            }
        }
    }
    tpCouplings_AddErrors(rows, system, &whole);
}

// q = J v.
static void findVelocities(tpRows* rows, const tpVelocity* velocities) {
    for (int b = 0; b < rows->blockCount; ++b) {
        int bodyA = rows->bodyA[b] >= 0 ? rows->bodyA[b] : rows->givenA[b];
        int bodyB = rows->bodyB[b] >= 0 ? rows->bodyB[b] : rows->givenB[b];
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k) {
            rows->q[k] = tpRows_RowVelocity(rows, k, velocities, bodyA, bodyB);
        }
    }
}

// The changes M^-1 J' m of bodies by which the rows of joints get rid of `q`: W m = -q, the errors
// of positions, or the velocities of rows if these are given. NULL if memory ran out.
static tpVelocity* findChanges(tpSystem* system, tpSolverMemory* memory,
                               const tpVelocity* velocities) {
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpRows rows;
    if (!tpRows_Create(&rows, system, blocks, count)) {
        return NULL;
    }
    tpRows_SetMasses(&rows, system);
    addErrors(&rows, system);
    memcpy(rows.q, rows.bias, sizeof(double) * (size_t)rows.rowCount);
    if (velocities != NULL) {
        findVelocities(&rows, velocities);
    }
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(&rows, &bodies);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-6; // Newton's method corrects itself
    tpFriction_Solve(&problem, &options, memory, rows.impulse, rows.velocity, NULL);
    tpVelocity* changes = TP_SCRATCH_ZEROED(&system->arena, tpVelocity,
                                            system->bodyCount > 0 ? system->bodyCount : 1);
    if (changes != NULL) {
        tpRows_ApplyImpulses(&rows, changes);
    }
    return changes;
}

// Newton's step on the errors of positions.
static bool correctOnce(tpSystem* system, tpSolverMemory* memory) {
    const tpVelocity* changes = findChanges(system, memory, NULL);
    for (int i = 0; changes != NULL && i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            tpPose* pose = &system->poses.data[i];
            pose->position = tpAdd(pose->position, changes[i].linear);
            pose->rotation =
                tpNormalizeQuat(tpMulQQ(tpQuatExp(changes[i].angular), pose->rotation));
        }
    }
    return changes != NULL;
}

bool tpJoints_CorrectVelocities(tpSystem* system, tpSolverMemory* memory) {
    tpArenaMark mark = tpArena_Mark(&system->arena);
    const tpVelocity* changes = findChanges(system, memory, system->velocities.data);
    for (int i = 0; changes != NULL && i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            tpVelocity* velocity = &system->velocities.data[i];
            velocity->linear = tpAdd(velocity->linear, changes[i].linear);
            velocity->angular = tpAdd(velocity->angular, changes[i].angular);
        }
    }
    tpArena_Release(&system->arena, mark);
    return changes != NULL;
}

// `drift` becomes that of the poses as they are left.
static int correct(tpSystem* system, tpSolverMemory* memory, double tolerance, double* drift) {
    *drift = driftIn(system, system->poses.data, system->units.length);
    for (int iteration = 0; iteration < 8; ++iteration) {
        if (*drift <= tolerance) {
            return iteration;
        }
        tpArenaMark mark = tpArena_Mark(&system->arena);
        bool isDone = correctOnce(system, memory);
        tpArena_Release(&system->arena, mark);
        double last = *drift;
        *drift = driftIn(system, system->poses.data, system->units.length);
        if (!isDone || !(*drift < last)) {
            return -1;
        }
    }
    return *drift <= tolerance ? 8 : -1;
}

int tpJoints_Correct(tpSystem* system, tpSolverMemory* memory, double tolerance) {
    double drift;
    return correct(system, memory, tolerance, &drift);
}

double tpJoints_CorrectAndMeasure(tpSystem* system, tpSolverMemory* memory, double tolerance) {
    double drift;
    correct(system, memory, tolerance, &drift);
    return system->units.length == 1.0 ? drift : tpJoints_PositionError(system, system->poses.data);
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
