// How far joints are apart at given poses, and the correction of that.

#include <string.h>

#include "base/tasks.h"
#include "dynamics/couplings.h"
#include "dynamics/few_rows.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"
#include "dynamics/joint_types.h"
#include "dynamics/step_budget.h"

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

static double ballDrift(const tpJoint* joint, const tpPose* poses) {
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    // As tpJoint_PlaceAt finds the points: the same bits.
    tpVec3 pointA = tpAdd(tpMulMV(tpMatFromQuat(a.rotation), joint->anchorA), a.position);
    tpVec3 gap = tpSub(tpTransformPoint(b, joint->anchorB), pointA);
    return larger(larger(fabs(gap.x), fabs(gap.y)), fabs(gap.z));
}

static double hingeDrift(const tpJoint* joint, const tpPose* poses, double unit) {
    tpPose a = tpPoseOrWorld(poses, joint->bodyA), b = tpPoseOrWorld(poses, joint->bodyB);
    tpVec3 gap = tpSub(tpTransformPoint(b, joint->anchorB), tpTransformPoint(a, joint->anchorA));
    tpVec3 twist = tpHinge_Twist(joint, a.rotation, b.rotation);
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    double value = def->hasLimits ? tpHinge_Value(joint, a.rotation, b.rotation) + def->zero : 0.0;
    return tpHinge_Drift(joint, gap, twist, value, unit);
}

static bool hasLimits(const tpJoint* joint) {
    for (int k = 0; k < joint->coordinateCount; ++k) {
        if (joint->coordinates[k].def.hasLimits) {
            return true;
        }
    }
    return false;
}

// Turns count with the unit of length.
static double driftOf(const tpSystem* system, const tpJoint* joint, const tpPose* poses) {
    double unit = system->units.length;
    if (joint->type == tp_revoluteJoint && !system->isPlanar) {
        return unit * hingeDrift(joint, poses, unit);
    }
    if (joint->type == tp_ballJoint && !system->isPlanar && !hasLimits(joint)) {
        return ballDrift(joint, poses);
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
    return unit * drift;
}

static void measurePart(void* context, int part, int worker) {
    (void)worker;
    JointLoop* loop = context;
    const tpSystem* system = loop->seen;
    tpRange range = jointsOf(system, part);
    double drift = 0.0;
    for (int i = range.begin; i < range.end; ++i) {
        if (system->joints.data[i].isLive) {
            drift = fmax(drift, driftOf(system, &system->joints.data[i], loop->poses));
        }
    }
    loop->drift[part] = drift;
}

double tpJoints_PositionError(const tpSystem* system, const tpPose* poses) {
    JointLoop loop = { .seen = system, .poses = poses };
    double drift = tpCouplings_PositionError(system, poses);
    tpTasks_Run(system->tasks, measurePart, &loop, partsOf(system));
    for (int part = 0; part < partsOf(system); ++part) {
        drift = fmax(drift, loop.drift[part]);
    }
    return drift;
}

double tpJoint_PositionError(const tpSystem* system, const tpJoint* joint, const tpPose* poses) {
    return joint->isLive ? driftOf(system, joint, poses) : 0.0;
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
            drift = larger(drift, driftOf(system, joint, system->poses.data));
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

// Rows of all errors of position, at the current poses. `sides`: of the coordinates of all joints,
// the limits that they have passed before; NULL if that does not matter.
static void addErrors(tpRows* rows, const tpSystem* system, signed char* sides) {
    const tpJointTreatment whole = { 1.0, 1.0, NULL, 0.0, 1.0, false };
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!tpJoint_IsMovable(system, joint)) {
            continue;
        }
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpJoint_AddHeldRows(rows, system, i, &place, &whole);
        for (int k = 0; k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            if (!def->hasLimits) {
                continue;
            }
            tpJointRow limit = tpJoint_CoordinateRow(joint, &place, k);
            signed char* side = sides != NULL ? &sides[tp_maxCoordinates * i + k] : NULL;
            limit.error = tpPassedLimit(def->limits, limit.error, side);
            if (limit.error != 0.0 || (side != NULL && *side != 0)) {
                tpBlockInfo info = { .source = tp_jointSource, .index = i, .role = tp_limitRole };
                tpLawRow row = { joint->bodyA, joint->bodyB, limit, 0, NULL, NULL };
                tpLawRow_AddHeld(rows, system, info, &row, &whole);
            }
        }
    }
    tpCouplings_AddErrors(rows, system, &whole,
                          sides != NULL ? &sides[tp_maxCoordinates * system->joints.count] : NULL);
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

// What a solve may leave: this part of the largest error, which Newton's method corrects, this much
// at most, and rounding.
static const double roughly = 1e-2, enough = 1e-6, rounding = 1e-13;

static double largestOf(const double* values, int count) {
    double largest = 0.0;
    for (int k = 0; k < count; ++k) {
        largest = fmax(largest, fabs(values[k]));
    }
    return largest;
}

// Errors of positions count from `slack` on, in units of length or rad.
static void leaveSlack(const tpRows* rows, double slack, double* errors) {
    for (int k = 0; k < rows->rowCount; ++k) {
        double left = slack * tpRows_ErrorUnit(rows, k) * rows->scale[k];
        errors[k] -= fmin(fmax(errors[k], -left), left);
    }
}

// The changes M^-1 J' m of bodies by which the rows of joints get rid of `q`: W m = -q, the errors
// of positions, or the velocities of rows if these are given. NULL if memory ran out.
static tpVelocity* findChanges(tpSystem* system, tpSolverMemory* memory,
                               const tpVelocity* velocities, double slack, signed char* sides) {
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpRows rows;
    if (!tpRows_Create(&rows, system, blocks, count)) {
        return NULL;
    }
    tpRows_SetMasses(&rows, system);
    addErrors(&rows, system, sides);
    memcpy(rows.q, rows.bias, sizeof(double) * (size_t)rows.rowCount);
    if (velocities != NULL) {
        findVelocities(&rows, velocities);
    } else if (slack > 0.0) {
        leaveSlack(&rows, slack, rows.q);
    }
    tpSolveReport solve = { .work = 0.0 };
    if (!tpRows_SolveFew(&rows)) {
        tpFrictionBodies bodies;
        tpFrictionProblem problem = tpRows_FrictionProblem(&rows, &bodies);
        tpFrictionOptions options = tpDefaultFrictionOptions();
        double asked = fmin(enough, roughly * largestOf(rows.q, rows.rowCount));
        options.tolerance = fmax(asked, rounding);
        options.workLimit = tpStepBudget_ForSolve(system);
        options.isUntimed = true;
        options.stop = system->stop;
        tpFriction_Solve(&problem, &options, memory, rows.impulse, rows.velocity, &solve);
    }
    tpStepBudget_SpendSolve(system, solve.work, rows.rowCount, rows.blockCount);
    tpVelocity* changes = TP_SCRATCH_ZEROED(&system->arena, tpVelocity,
                                            system->bodyCount > 0 ? system->bodyCount : 1);
    if (changes != NULL) {
        tpRows_ApplyImpulses(&rows, changes);
    }
    return changes;
}

// Newton's step on the errors of positions.
static bool correctOnce(tpSystem* system, tpSolverMemory* memory, double slack,
                        signed char* sides) {
    const tpVelocity* changes = findChanges(system, memory, NULL, slack, sides);
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
    const tpVelocity* changes = findChanges(system, memory, system->velocities.data, 0.0, NULL);
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

// `drift` becomes that of the poses as they are left, as tpJoints_PositionError has it: the best
// that were found.
//
// A limit that has been passed stays in all later iterations. If it left as soon as it is met, the
// next iteration would move its coordinate past it again to close a loop, and errors would fall by
// a third each time. An iteration after which others are past their limits may be a worse one.
static int correct(tpSystem* system, tpSolverMemory* memory, double slack, double tolerance,
                   double* drift) {
    *drift = tpJoints_PositionError(system, system->poses.data);
    if (*drift <= tolerance) {
        return 0;
    }
    tpArenaMark start = tpArena_Mark(&system->arena);
    int places = tp_maxCoordinates * system->joints.count + system->couplings.count;
    signed char* sides = TP_SCRATCH_ZEROED(&system->arena, signed char, places);
    tpPose* best = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    size_t size = sizeof(tpPose) * (size_t)system->bodyCount;
    bool goesOn = sides != NULL && best != NULL;
    int iteration = 0, worse = 0;
    for (; goesOn && *drift > tolerance && iteration < 8 && worse < 2; ++iteration) {
        if (worse == 0) {
            memcpy(best, system->poses.data, size);
        }
        tpArenaMark mark = tpArena_Mark(&system->arena);
        goesOn = correctOnce(system, memory, slack, sides);
        tpArena_Release(&system->arena, mark);
        double now = tpJoints_PositionError(system, system->poses.data);
        worse = now < *drift ? 0 : worse + 1;
        *drift = worse == 0 ? now : *drift;
    }
    if (worse > 0) {
        memcpy(system->poses.data, best, size);
    }
    tpArena_Release(&system->arena, start);
    return *drift <= tolerance ? iteration : -1;
}

int tpJoints_Correct(tpSystem* system, tpSolverMemory* memory, double tolerance) {
    double drift;
    return correct(system, memory, 0.0, tolerance, &drift);
}

double tpJoints_CorrectAndMeasure(tpSystem* system, tpSolverMemory* memory, double tolerance) {
    double drift;
    correct(system, memory, 0.0, tolerance, &drift);
    return drift;
}

double tpJoints_CorrectBeyond(tpSystem* system, tpSolverMemory* memory, double slack,
                              double tolerance) {
    double drift;
    correct(system, memory, slack / system->units.length, tolerance, &drift);
    return drift;
}
