#include "dynamics/joints.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_types.h"
#include "dynamics/locks.h"

// A limit this near counts as reached, m or rad.
static const double limitReached = 1e-9;

// The row that sets the load of a motor or of dry friction has at most this for a velocity, m/s.
static const double loadSpeed = 1.0;

void tpJoints_Count(const tpSystem* system, int* blocks, int* rows) {
    *blocks = 0;
    *rows = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        if (system->joints.data[i].isLive) {
            *blocks += tp_maxJointBlocks;
            *rows += tp_maxJointRows + 6;
        }
    }
}

static void placeRow(tpRows* rows, int block, int k, const tpJointRow* row, double sign,
                     const tpJoint* joint, const tpJointTreatment* treatment) {
    tpWrench onA = sign > 0.0 ? row->onA : tpNegativeWrench(row->onA);
    tpWrench onB = sign > 0.0 ? row->onB : tpNegativeWrench(row->onB);
    tpRows_SetRow(rows, block, k, onA, onB);
    int index = rows->firstRows[block] + k;
    rows->bias[index] = treatment->gain * sign * row->error / treatment->h;
    if (treatment->linearised != NULL) {
        rows->bias[index] -=
            tpRows_RowVelocity(rows, index, treatment->linearised, joint->bodyA, joint->bodyB);
    }
}

// A force of at most `limit` (an impulse) that drives the coordinate's rate to `speed`.
static void addBounded(tpRows* rows, const tpSystem* system, int index, const tpJointRow* row,
                       double speed, double limit) {
    const tpJoint* joint = &system->joints.data[index];
    tpBlockInfo info = { tp_boundedSource, index };
    int block = tpRows_AddBlock(rows, system, info, tp_frictionCone, 2, joint->bodyA, joint->bodyB);
    int first = rows->firstRows[block];
    rows->mu[block] = 1.0;
    // The load is the limit; scaled so that strong motors have no large numbers among the velocities.
    rows->compliance[first] = loadSpeed / (loadSpeed + limit);
    rows->bias[first] = -limit * rows->compliance[first];
    rows->impulse[first] = limit; // solvers start from what is known
    tpRows_SetRow(rows, block, 1, row->onA, row->onB);
    rows->bias[first + 1] = -speed;
}

// How the springs of joints enter the rows.
typedef enum tpSpringRows { tp_wholeSpring, tp_firstHalfSpring, tp_secondHalfSpring } tpSpringRows;

// Response of a row to a unit impulse in it.
static double responseOf(const tpSystem* system, int body, const tpPose* poses,
                         const tpWrench* row) {
    if (!tpSystem_IsDynamic(system, body)) {
        return 0.0;
    }
    const tpBody* owner = &system->bodies.data[body];
    tpVec3 linear = row->linear, angular = row->angular;
    if (system->isPlanar) {
        linear.z = angular.x = angular.y = 0.0;
    }
    linear = tpLocks_Linear(owner->locked, linear);
    tpVec3 turn =
        tpLocks_Turns(owner->locked)
            ? tpMulMV(tpLocks_InverseInertia(&owner->inertia, owner->locked, poses[body].rotation),
                      angular)
            : tpInertia_Velocity(&owner->inertia, poses[body].rotation, angular);
    return owner->inverseMass * tpLengthSquared(linear) + tpDot(angular, turn);
}

// The part of a damper's second half that is taken at the velocity of the drift: all of it, and with that
// second order, unless that would turn the motion round; then no more than stops it.
static double explicitPart(const tpSystem* system, const tpJoint* joint, const tpPose* poses,
                           const tpJointRow* row, double h) {
    double response = responseOf(system, joint->bodyA, poses, &row->onA) +
                      responseOf(system, joint->bodyB, poses, &row->onB);
    double decay = 0.5 * h * joint->def.damping * response;
    return decay > 1.0 ? 1.0 / decay : 1.0;
}

// A spring and damper as a free row with a compliance: r = -(a (x + b u) + c u) with impulses a for the
// stretch x, b for how much it grows until the spring is measured, and c for the damper.
static void addSpring(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                      const tpJointRow* row, double h, tpSpringRows springs) {
    const tpJoint* joint = &system->joints.data[index];
    const tpJointDef* def = &joint->def;
    double stretch = row->error - def->rest, elastic = 0.0, implicit = 0.0, damping = 0.0;
    switch (springs) {
    case tp_wholeSpring:
        elastic = h * def->stiffness;
        damping = h * def->damping;
        implicit = h * h * def->stiffness + damping;
        break;
    case tp_firstHalfSpring:
        elastic = 0.5 * h * def->stiffness;
        damping = 0.5 * h * def->damping;
        implicit = 0.25 * h * h * def->stiffness + damping;
        break;
    case tp_secondHalfSpring:
        damping = 0.5 * h * def->damping * (1.0 - explicitPart(system, joint, poses, row, h));
        implicit = damping;
        break;
    }
    if (!(implicit > 0.0)) {
        return;
    }
    tpBlockInfo info = { tp_jointSource, index };
    int block = tpRows_AddBlock(rows, system, info, tp_frictionFree, 1, joint->bodyA, joint->bodyB);
    int k = rows->firstRows[block];
    tpRows_SetRow(rows, block, 0, row->onA, row->onB);
    rows->compliance[k] = 1.0 / implicit;
    rows->damping[k] = damping;
    rows->bias[k] = elastic * stretch / implicit;
}

static bool hasSpring(const tpJoint* joint) {
    return joint->def.hasSpring || joint->type == tp_springJoint;
}

static void addCoordinateRows(tpRows* rows, const tpSystem* system, int index, const tpPose* poses,
                              const tpJointRow* row, const tpJointTreatment* treatment,
                              tpSpringRows springs) {
    const tpJoint* joint = &system->joints.data[index];
    const tpJointDef* def = &joint->def;
    tpBlockInfo info = { tp_jointSource, index };
    if (def->hasLimits && joint->type != tp_springJoint) {
        for (int side = 0; side < 2; ++side) {
            if (!isfinite(def->limits[side])) {
                continue;
            }
            tpJointRow limit = *row;
            limit.error -= def->limits[side];
            double room = side == 0 ? limit.error : -limit.error;
            if (treatment->gain == 0.0 && room > limitReached) {
                continue; // on velocities alone a limit acts where it has been reached
            }
            int block = tpRows_AddBlock(rows, system, info, tp_frictionNonnegative, 1, joint->bodyA,
                                        joint->bodyB);
            placeRow(rows, block, 0, &limit, side == 0 ? 1.0 : -1.0, joint, treatment);
        }
    }
    bool isHalf = springs != tp_wholeSpring;
    if (hasSpring(joint) && (isHalf || treatment->gain > 0.0)) {
        addSpring(rows, system, index, poses, row, treatment->h, springs);
    }
    if (def->hasMotor && def->motorEffort > 0.0) {
        addBounded(rows, system, index, row, def->motorSpeed,
                   treatment->duration * def->motorEffort);
    }
    if (def->friction > 0.0) {
        addBounded(rows, system, index, row, 0.0, treatment->duration * def->friction);
    }
}

static void addHeldRows(tpRows* rows, const tpSystem* system, int index, const tpJointPlace* place,
                        const tpJointTreatment* treatment) {
    const tpJoint* joint = &system->joints.data[index];
    tpJointRows list = tpJoint_HeldRows(joint, place);
    int row = 0;
    for (int b = 0; b < list.blockCount; ++b) {
        tpBlockInfo info = { tp_jointSource, index };
        int block = tpRows_AddBlock(rows, system, info, tp_frictionFree, list.blockSizes[b],
                                    joint->bodyA, joint->bodyB);
        for (int k = 0; k < list.blockSizes[b]; ++k) {
            placeRow(rows, block, k, &list.rows[row++], 1.0, joint, treatment);
        }
    }
}

static bool isMovable(const tpSystem* system, const tpJoint* joint) {
    return joint->isLive &&
           (tpSystem_IsDynamic(system, joint->bodyA) || tpSystem_IsDynamic(system, joint->bodyB));
}

static void addAllRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                       const tpJointTreatment* treatment, tpSpringRows springs) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!isMovable(system, joint)) {
            continue;
        }
        tpJointPlace place = tpJoint_Place(joint, poses);
        addHeldRows(rows, system, i, &place, treatment);
        tpJointRow coordinate;
        if (tpJoint_Coordinate(joint, &place, &coordinate)) {
            addCoordinateRows(rows, system, i, poses, &coordinate, treatment, springs);
        }
    }
}

void tpJoints_AddRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                      const tpJointTreatment* treatment) {
    addAllRows(rows, system, poses, treatment, tp_wholeSpring);
}

void tpJoints_AddHalfRows(tpRows* rows, const tpSystem* system, const tpPose* poses,
                          const tpJointTreatment* treatment, tpStepHalf half) {
    addAllRows(rows, system, poses, treatment,
               half == tp_firstHalf ? tp_firstHalfSpring : tp_secondHalfSpring);
}

// Adds a force on B, and its moment about the centre of mass, to what the joint reports at its anchor.
static void addReaction(const tpSystem* system, tpJoint* joint, tpWrench onB) {
    tpPose pose = tpPoseOrWorld(system->poses.data, joint->bodyB);
    tpVec3 arm = tpSub(tpTransformPoint(pose, joint->anchorB), pose.position);
    joint->force = tpAdd(joint->force, onB.linear);
    joint->torque = tpAdd(joint->torque, tpSub(onB.angular, tpCross(arm, onB.linear)));
}

// Applies an impulse in a row to both bodies.
static void applyRow(tpSystem* system, const tpJoint* joint, const tpJointRow* row,
                     double impulse) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    const tpWrench* sides[2] = { &row->onA, &row->onB };
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(system, bodies[side])) {
            tpSystem_ApplyImpulse(system, bodies[side], tpScale(impulse, sides[side]->linear),
                                  tpScale(impulse, sides[side]->angular));
        }
    }
}

// Velocity of a row for the given velocities of bodies.
static double rowSpeed(const tpVelocity* velocities, const tpJoint* joint, const tpJointRow* row) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    const tpWrench* sides[2] = { &row->onA, &row->onB };
    double speed = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (bodies[side] >= 0) {
            const tpVelocity* velocity = &velocities[bodies[side]];
            speed += tpDot(sides[side]->linear, velocity->linear) +
                     tpDot(sides[side]->angular, velocity->angular);
        }
    }
    return speed;
}

void tpJoints_KickSprings(tpSystem* system, const tpRows* first, const tpVelocity* moves, double h,
                          tpStepReport* report) {
    for (int b = 0; b < first->blockCount; ++b) {
        int index = first->infos[b].index, row = first->firstRows[b];
        bool isSpring = first->infos[b].source == tp_jointSource && first->compliance[row] > 0.0;
        if (!isSpring) {
            continue;
        }
        tpJoint* joint = &system->joints.data[index];
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpJointRow now;
        if (!tpJoint_Coordinate(joint, &place, &now)) {
            continue;
        }
        double speed = tpRows_RowVelocity(first, row, moves, joint->bodyA, joint->bodyB);
        double damper = 0.5 * h * joint->def.damping * speed;
        double part = explicitPart(system, joint, system->poses.data, &now, h);
        // The impulse of the first half, less the damper's part that the rows of the second half have.
        double impulse = first->impulse[row] + (1.0 - part) * damper;
        applyRow(system, joint, &now, impulse);
        tpWrench onB = { tpScale(impulse / h, now.onB.linear),
                         tpScale(impulse / h, now.onB.angular) };
        addReaction(system, joint, onB);
        // Springs act all along the drift. What a spring joint stores is part of the potential energy; its damper's part
        // of the impulse is not.
        bool isStored = joint->type == tp_springJoint;
        double atEnd = rowSpeed(moves, joint, &now);
        report->externalWork += (isStored ? -part * damper : impulse) * atEnd;
    }
}

// By how much a joint is past one of its limits, signed; 0 where it is not. `row` is its coordinate.
static double pastLimit(const tpJoint* joint, const tpJointPlace* place, tpJointRow* row) {
    bool canBe = joint->def.hasLimits && joint->type != tp_springJoint;
    if (!canBe || !tpJoint_Coordinate(joint, place, row)) {
        return 0.0;
    }
    return fmin(row->error - joint->def.limits[0], 0.0) +
           fmax(row->error - joint->def.limits[1], 0.0);
}

double tpJoints_Drift(const tpSystem* system, const tpPose* poses) {
    double drift = 0.0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!joint->isLive) {
            continue;
        }
        tpJointPlace place = tpJoint_Place(joint, poses);
        tpJointRows list = tpJoint_HeldRows(joint, &place);
        for (int k = 0; k < list.rowCount; ++k) {
            // In planar worlds rows that no motion in the plane can change do not count.
            const tpJointRow* row = &list.rows[k];
            tpVec3 linear = tpAdd(tpAbsVec3(row->onA.linear), tpAbsVec3(row->onB.linear));
            tpVec3 angular = tpAdd(tpAbsVec3(row->onA.angular), tpAbsVec3(row->onB.angular));
            bool isInPlane = linear.x + linear.y + angular.z > 1e-9;
            if (!system->isPlanar || isInPlane) {
                drift = fmax(drift, fabs(row->error));
            }
        }
        tpJointRow coordinate;
        drift = fmax(drift, fabs(pastLimit(joint, &place, &coordinate)));
    }
    return drift;
}

void tpJoints_FollowAngles(tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        tpJoint* joint = &system->joints.data[i];
        if (joint->isLive) {
            joint->turn = tpJoint_Place(joint, system->poses.data).turn;
        }
    }
}

// Newton's step on the errors e: W m = -e, then bodies move by M^-1 J' m.
static bool correctOnce(tpSystem* system, tpSolverMemory* memory) {
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpRows rows;
    if (!tpRows_Create(&rows, system, blocks, count)) {
        return false;
    }
    tpRows_SetMasses(&rows, system);
    const tpJointTreatment whole = { 1.0, 1.0, NULL, 0.0 };
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (isMovable(system, joint)) {
            tpJointPlace place = tpJoint_Place(joint, system->poses.data);
            addHeldRows(&rows, system, i, &place, &whole);
            tpJointRow limit;
            double past = pastLimit(joint, &place, &limit);
            if (past != 0.0) {
                limit.error = past;
                tpBlockInfo info = { tp_jointSource, i };
                int block = tpRows_AddBlock(&rows, system, info, tp_frictionFree, 1, joint->bodyA,
                                            joint->bodyB);
                placeRow(&rows, block, 0, &limit, 1.0, joint, &whole);
            }
        }
    }
    memcpy(rows.q, rows.bias, sizeof(double) * (size_t)rows.rowCount);
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_FrictionProblem(&rows, &bodies);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-6; // Newton's method corrects itself
    tpFriction_Solve(&problem, &options, memory, rows.impulse, rows.velocity, NULL);
    tpVelocity* moves = TP_SCRATCH_ZEROED(&system->arena, tpVelocity,
                                          system->bodyCount > 0 ? system->bodyCount : 1);
    if (moves == NULL) {
        return false;
    }
    tpRows_ApplyImpulses(&rows, moves);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            tpPose* pose = &system->poses.data[i];
            pose->position = tpAdd(pose->position, moves[i].linear);
            pose->rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(moves[i].angular), pose->rotation));
        }
    }
    return true;
}

int tpJoints_Correct(tpSystem* system, tpSolverMemory* memory, double tolerance) {
    double drift = tpJoints_Drift(system, system->poses.data);
    for (int iteration = 0; iteration < 8; ++iteration) {
        if (drift <= tolerance) {
            return iteration;
        }
        tpArenaMark mark = tpArena_Mark(&system->arena);
        bool isDone = correctOnce(system, memory);
        tpArena_Release(&system->arena, mark);
        double now = tpJoints_Drift(system, system->poses.data);
        if (!isDone || !(now < drift)) {
            return -1;
        }
        drift = now;
    }
    return drift <= tolerance ? 8 : -1;
}

void tpJoints_ClearReactions(tpSystem* system) {
    for (int i = 0; i < system->joints.count; ++i) {
        system->joints.data[i].force = system->joints.data[i].torque = tpZeroVec3();
    }
}

void tpJoints_StoreReactions(tpSystem* system, const tpRows* rows, double h) {
    tpJoints_ClearReactions(system);
    tpJoints_AddReactions(system, rows, h);
}

void tpJoints_AddReactions(tpSystem* system, const tpRows* rows, double h) {
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            continue;
        }
        tpJoint* joint = &system->joints.data[rows->infos[b].index];
        tpWrench sum = { tpZeroVec3(), tpZeroVec3() };
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int index = rows->firstRows[b] + k;
            const double* row = rows->jacobianB + (size_t)index * (size_t)rows->degrees;
            double force = rows->impulse[index] / h;
            if (rows->degrees == 3) {
                sum.linear = tpMulAdd(sum.linear, force, tpMakeVec3(row[0], row[1], 0.0));
                sum.angular.z += force * row[2];
            } else {
                sum.linear = tpMulAdd(sum.linear, force, tpMakeVec3(row[0], row[1], row[2]));
                sum.angular = tpMulAdd(sum.angular, force, tpMakeVec3(row[3], row[4], row[5]));
            }
        }
        addReaction(system, joint, sum);
    }
}
