#include "dynamics/island_rises.h"

#include <float.h>

#include "dynamics/body_islands.h"
#include "dynamics/contact_info.h"
#include "dynamics/couplings.h"
#include "dynamics/island_energy.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/scales.h"

// Of the energies of an island, heights above the origin among them: gains that are rounding.
static const double roundings = 64.0 * DBL_EPSILON;

// By island, at the body that stands for it, J.
typedef struct Islands {
    int* roots;
    double *gains, *energies, *rounding;
    bool *isDriven, *isJoined, *isTooHigh;
} Islands;

static double weightOf(const tpSystem* system, int i, const tpPose* pose) {
    const tpBody* body = &system->bodies.data[i];
    return -body->mass * body->gravityScale * tpDot(system->gravity, pose->position);
}

static bool measure(tpIslandRises* rises, tpSystem* system, const tpPose* poses,
                    const tpVelocity* velocities) {
    rises->bodies = TP_SCRATCH(&system->arena, double, system->bodyCount);
    rises->moving = TP_SCRATCH(&system->arena, double, system->bodyCount);
    rises->joints = TP_SCRATCH(&system->arena, double, system->joints.count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        rises->moving[i] = rises->bodies[i] = 0.0;
        if (tpSystem_IsDynamic(system, i)) {
            rises->moving[i] = tpSystem_KineticEnergyAt(system, i, &poses[i], &velocities[i]);
            rises->bodies[i] = rises->moving[i] + weightOf(system, i, &poses[i]);
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        rises->joints[i] = tpJoint_PotentialEnergy(&system->joints.data[i], poses);
    }
    return true;
}

bool tpIslandRises_Begin(tpIslandRises* rises, tpSystem* system) {
    return measure(rises, system, system->poses.data, system->velocities.data);
}

bool tpIslandRises_BeginAt(tpIslandRises* rises, tpSystem* system, const tpKeptMotion* start) {
    // Angles count whole turns from those that the joints have last had.
    double* now = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (now == NULL) {
        return false;
    }
    tpJoints_ReadMotion(system, now);
    tpJoints_WriteMotion(system, start->motion);
    bool isDone = measure(rises, system, start->poses, start->velocities);
    tpJoints_WriteMotion(system, now);
    return isDone;
}

static bool begin(Islands* islands, tpSystem* system) {
    tpArena* arena = &system->arena;
    int count = system->bodyCount;
    islands->roots = tpSystem_StepIslands(system);
    islands->gains = TP_SCRATCH_ZEROED(arena, double, count);
    islands->energies = TP_SCRATCH_ZEROED(arena, double, count);
    islands->rounding = TP_SCRATCH_ZEROED(arena, double, count);
    islands->isDriven = TP_SCRATCH_ZEROED(arena, bool, count);
    islands->isJoined = TP_SCRATCH_ZEROED(arena, bool, count);
    islands->isTooHigh = TP_SCRATCH_ZEROED(arena, bool, count);
    if (arena->failed) {
        return false;
    }
    tpSystem_MarkDriven(system, islands->roots, false, islands->isDriven);
    return true;
}

static bool addBodies(const tpIslandRises* rises, tpSystem* system, Islands* islands) {
    const double* sizes = tpSystem_BodySizes(system);
    double gravity = tpLength(system->gravity);
    for (int i = 0; sizes != NULL && i < system->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        int root = tpBodyIslands_Root(islands->roots, i);
        double mass = system->bodies.data[i].mass,
               weight = weightOf(system, i, &system->poses.data[i]);
        double moving = tpSystem_KineticEnergyAt(system, i, &system->poses.data[i],
                                                 &system->velocities.data[i]);
        islands->gains[root] += moving + weight - rises->bodies[i];
        islands->energies[root] += fmax(moving, rises->moving[i]) + mass * gravity * sizes[i];
        islands->rounding[root] += roundings * (moving + rises->moving[i] + fabs(weight));
    }
    return sizes != NULL;
}

// The dynamic body of a pair that an island is found by, or -1.
static int dynamicOf(const tpSystem* system, int a, int b) {
    return tpSystem_IsDynamic(system, b) ? b : tpSystem_IsDynamic(system, a) ? a : -1;
}

static void addJoints(const tpIslandRises* rises, const tpSystem* system, double drift,
                      Islands* islands) {
    const tpPose* poses = system->poses.data;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int body = dynamicOf(system, joint->bodyA, joint->bodyB);
        if (!joint->isLive || body < 0) {
            continue;
        }
        int root = tpBodyIslands_Root(islands->roots, body);
        double energy = tpJoint_PotentialEnergy(joint, poses);
        islands->gains[root] += energy - rises->joints[i];
        islands->energies[root] += fmax(energy, rises->joints[i]);
        islands->isJoined[root] = islands->isJoined[root] || joint->type != tp_springJoint;
        islands->isTooHigh[root] =
            islands->isTooHigh[root] || !(tpJoint_PositionError(system, joint, poses) <= drift);
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        int body = tpCoupling_AnyBody(system, i);
        if (body >= 0 && !(tpCoupling_PositionError(system, i, poses) <= drift)) {
            islands->isTooHigh[tpBodyIslands_Root(islands->roots, body)] = true;
        }
    }
}

// Also if a gain is not a number.
static void judge(const tpSystem* system, double part, double rise, double external,
                  Islands* islands) {
    double rest = rise, energies = fabs(external), rounding = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        rounding += islands->rounding[i];
        if (islands->isDriven[i]) {
            energies += islands->energies[i];
            continue;
        }
        rest -= islands->gains[i];
        bool isHigh = !(islands->gains[i] <= part * islands->energies[i] + islands->rounding[i]);
        islands->isTooHigh[i] = islands->isTooHigh[i] || isHigh;
    }
    bool isDrivenHigh = !(rest <= part * energies + rounding);
    for (int i = 0; i < system->bodyCount; ++i) {
        islands->isTooHigh[i] = islands->isTooHigh[i] || (islands->isDriven[i] && isDrivenHigh);
    }
}

bool tpIslandRises_Mark(const tpIslandRises* rises, tpSystem* system, double part, double rise,
                        double external, double drift, bool* isMarked) {
    Islands islands;
    if (!begin(&islands, system) || !addBodies(rises, system, &islands)) {
        return false;
    }
    addJoints(rises, system, drift, &islands);
    judge(system, part, rise, external, &islands);
    for (int i = 0; i < system->bodyCount; ++i) {
        int root = tpBodyIslands_Root(islands.roots, i);
        isMarked[i] =
            tpSystem_IsDynamic(system, i) && islands.isJoined[root] && islands.isTooHigh[root];
    }
    return true;
}

// Pushes ------------------------------------------------------------------------------------------

// Whether something on a coordinate that pushes one way, or up to a bound, has pushed.
static bool hasPushed(const tpCoordinate* coordinate) {
    const tpCoordinateDef* def = &coordinate->def;
    bool isBounded =
        def->hasMotor || def->friction > 0.0 || (def->hasServo && def->servo.effort < INFINITY);
    return (def->hasLimits && coordinate->limitEffort != 0.0) ||
           (isBounded && coordinate->effort != 0.0) || def->friction > 0.0;
}

static void markPushed(const tpSystem* system, const Islands* islands, bool* isPushed) {
    for (int i = 0; i < system->contacts.count; ++i) {
        const tpContactInfo* contact = &system->contacts.data[i];
        int body = dynamicOf(system, tpContactInfo_BodyA(contact), tpContactInfo_BodyB(contact));
        if (body >= 0 && contact->normalImpulse != 0.0) {
            isPushed[tpBodyIslands_Root(islands->roots, body)] = true;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int body = dynamicOf(system, joint->bodyA, joint->bodyB);
        for (int k = 0; joint->isLive && body >= 0 && k < joint->coordinateCount; ++k) {
            if (hasPushed(&joint->coordinates[k])) {
                isPushed[tpBodyIslands_Root(islands->roots, body)] = true;
            }
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCoupling* coupling = &system->couplings.data[i];
        int body = tpCoupling_AnyBody(system, i);
        bool isBounded = coupling->def.hasLimits || coupling->def.hasServo;
        if (body >= 0 && isBounded && (coupling->effort != 0.0 || coupling->limitEffort != 0.0)) {
            isPushed[tpBodyIslands_Root(islands->roots, body)] = true;
        }
    }
}

double tpIslandRises_Unpaid(const tpIslandRises* rises, tpSystem* system, double rise) {
    Islands islands;
    bool* isPushed = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    if (isPushed == NULL || !begin(&islands, system) || !addBodies(rises, system, &islands)) {
        return INFINITY;
    }
    addJoints(rises, system, INFINITY, &islands);
    markPushed(system, &islands, isPushed);
    double rest = rise, most = 0.0, energies = 0.0;
    bool isDrivenPushed = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (islands.isDriven[i]) {
            isDrivenPushed = isDrivenPushed || isPushed[i];
            energies += islands.energies[i];
            continue;
        }
        rest -= islands.gains[i];
        most = isPushed[i] && !(islands.gains[i] <= most) ? islands.gains[i] : most;
    }
    bool isUnpaid = isDrivenPushed || !(rest <= energies);
    return isUnpaid && !(rest <= most) ? rest : most;
}
