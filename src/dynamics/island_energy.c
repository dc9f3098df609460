// An island on which nothing acts but gravity, contacts and what joints hold cannot gain energy:
// its gain is known from its own motion. Forces, springs and drives do work that is known of all
// islands together only. What the gains of the others do not explain is theirs, in proportion to
// what their bodies have gained.

#include "dynamics/island_energy.h"

#include <float.h>

#include "dynamics/body_islands.h"
#include "dynamics/contact_info.h"
#include "dynamics/forces.h"
#include "dynamics/loads.h"

// Of the energy of an island: gains that are rounding.
static const double roundings = 64.0 * DBL_EPSILON;

// Of what an island has gained: so much of it at least is missing in the account of the step. Else
// it came from another island, which bodies have met that are apart again at the end of the step.
static const double unbookedPart = 0.5;

// By island, at the body that stands for it.
typedef struct Gains {
    int* islands;
    double* gains;  // of kinetic energy and of gravity's, J
    double* moving; // kinetic energy now, J
    double* moved;  // kinetic energy at the start, J
    double* scales; // of its energies, J
    bool* isDriven; // something does work on it, or keeps energy for it
} Gains;

// Who is driven, by island at the body that stands for it.
typedef struct Driven {
    const tpSystem* system;
    int* islands;
    bool* isDriven;
} Driven;

static void markDriven(const Driven* driven, int body) {
    if (tpSystem_IsDynamic(driven->system, body)) {
        driven->isDriven[tpBodyIslands_Root(driven->islands, body)] = true;
    }
}

static bool isKinematic(const tpSystem* system, int body) {
    return body >= 0 && system->bodies.data[body].kind == tp_kinematicBody;
}

// Whether a joint does more than hold bodies that nobody else moves.
static bool isDriving(const tpSystem* system, const tpJoint* joint, bool springsDrive) {
    bool isLaw = (joint->type == tp_springJoint && springsDrive) ||
                 isKinematic(system, joint->bodyA) || isKinematic(system, joint->bodyB);
    for (int k = 0; k < joint->coordinateCount; ++k) {
        const tpCoordinate* coordinate = &joint->coordinates[k];
        const tpCoordinateDef* def = &coordinate->def;
        bool isSprung = def->hasSpring && (springsDrive || def->spring.damping > 0.0);
        isLaw = isLaw || isSprung || def->hasMotor || def->hasServo || def->armature > 0.0 ||
                def->damping > 0.0 || def->friction > 0.0 || coordinate->applied != 0.0;
    }
    return joint->isLive && isLaw;
}

static void markByJoints(const Driven* driven, bool springsDrive) {
    const tpSystem* system = driven->system;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (isDriving(system, joint, springsDrive)) {
            markDriven(driven, joint->bodyA);
            markDriven(driven, joint->bodyB);
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCoupling* coupling = &system->couplings.data[i];
        bool isLaw = coupling->isLive && (coupling->def.hasSpring || coupling->def.hasServo);
        for (int k = 0; isLaw && k < coupling->partCount; ++k) {
            const tpJoint* joint = &system->joints.data[coupling->parts[k].joint];
            markDriven(driven, joint->bodyA);
            markDriven(driven, joint->bodyB);
        }
    }
}

void tpSystem_MarkDriven(const tpSystem* system, int* islands, bool springsDrive, bool* isDriven) {
    Driven driven = { system, islands, isDriven };
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (tpSystem_LoadOf(system, i) != NULL || body->linearDamping > 0.0 ||
            body->angularDamping > 0.0) {
            markDriven(&driven, i);
        }
    }
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].isLive) {
            markDriven(&driven, system->forces.data[i].body);
        }
    }
    markByJoints(&driven, springsDrive);
    for (int i = 0; i < system->contacts.count; ++i) {
        int a = tpContactInfo_BodyA(&system->contacts.data[i]);
        int b = tpContactInfo_BodyB(&system->contacts.data[i]);
        if (system->gives || isKinematic(system, a) || isKinematic(system, b)) {
            markDriven(&driven, a);
            markDriven(&driven, b);
        }
    }
}

double tpSystem_KineticEnergyAt(const tpSystem* system, int i, const tpPose* pose,
                                const tpVelocity* velocity) {
    const tpBody* body = &system->bodies.data[i];
    tpVec3 momentum = tpInertia_Momentum(&body->form->inertia, pose->rotation, velocity->angular);
    return 0.5 *
           (body->mass * tpLengthSquared(velocity->linear) + tpDot(momentum, velocity->angular));
}

static void addGain(const tpSystem* system, const tpPose* startPoses,
                    const tpVelocity* startVelocities, int i, Gains* gains) {
    int root = tpBodyIslands_Root(gains->islands, i);
    const tpBody* body = &system->bodies.data[i];
    const tpPose* pose = &system->poses.data[i];
    double before = tpSystem_KineticEnergyAt(system, i, &startPoses[i], &startVelocities[i]);
    double after = tpSystem_KineticEnergyAt(system, i, pose, &system->velocities.data[i]);
    double pull = body->mass * body->gravityScale;
    double fall = pull * tpDot(system->gravity, tpSub(pose->position, startPoses[i].position));
    double height = pull * tpLength(system->gravity) * tpLength(pose->position);
    gains->gains[root] += after - before - fall;
    gains->moving[root] += after;
    gains->moved[root] += before;
    gains->scales[root] += before + after + height;
}

int* tpSystem_StepIslands(tpSystem* system) {
    int* islands = tpBodyIslands_Find(system);
    for (int i = 0; islands != NULL && i < system->contacts.count; ++i) {
        const tpContactInfo* contact = &system->contacts.data[i];
        tpBodyIslands_Join(islands, system, tpContactInfo_BodyA(contact),
                           tpContactInfo_BodyB(contact));
    }
    return islands;
}

// False if memory ran out.
static bool findGains(tpSystem* system, int* islands, const tpPose* startPoses,
                      const tpVelocity* startVelocities, Gains* gains) {
    gains->islands = islands;
    gains->gains = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    gains->moving = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    gains->moved = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    gains->scales = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    gains->isDriven = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            addGain(system, startPoses, startVelocities, i, gains);
        }
    }
    tpSystem_MarkDriven(system, islands, true, gains->isDriven);
    return true;
}

// Makes of the gains what is to be taken from each island; returns the sum.
static double chooseTaken(const tpSystem* system, double rise, Gains* gains) {
    double unexplained = rise, drivenGain = 0.0, drivenMoving = 0.0, sum = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (gains->isDriven[i]) {
            drivenGain += fmax(gains->gains[i], 0.0);
            drivenMoving += gains->moving[i];
        } else {
            unexplained -= gains->gains[i];
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        double gain = fmax(gains->gains[i], 0.0);
        if (gains->isDriven[i]) {
            gain = drivenGain > 0.0     ? unexplained * (gain / drivenGain)
                   : drivenMoving > 0.0 ? unexplained * (gains->moving[i] / drivenMoving)
                                        : 0.0;
        }
        gain = gain > roundings * gains->scales[i] ? gain : 0.0;
        gains->gains[i] = fmin(gain, gains->moving[i]);
        sum += gains->gains[i];
    }
    return sum;
}

double tpSystem_TakeGains(tpSystem* system, const tpKeptMotion* start, double rise) {
    Gains gains;
    if (!findGains(system, tpSystem_StepIslands(system), start->poses, start->velocities, &gains)) {
        return 0.0;
    }
    double taken = chooseTaken(system, rise, &gains);
    for (int i = 0; i < system->bodyCount; ++i) {
        int root = tpBodyIslands_Root(gains.islands, i);
        double gain = gains.gains[root], moving = gains.moving[root];
        if (tpSystem_IsDynamic(system, i) && gain > 0.0) {
            double factor = gain < moving ? sqrt(1.0 - gain / moving) : 0.0;
            tpVelocity* velocity = &system->velocities.data[i];
            velocity->linear = tpScale(factor, velocity->linear);
            velocity->angular = tpScale(factor, velocity->angular);
        }
    }
    return taken;
}

// Whether there are two islands at least. False too if memory ran out.
static bool areSeveral(const tpSystem* system, int* islands) {
    int first = -1;
    for (int i = 0; islands != NULL && i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            int root = tpBodyIslands_Root(islands, i);
            first = first < 0 ? root : first;
            if (root != first) {
                return true;
            }
        }
    }
    return false;
}

// Whether an island has gained more than a part of its energies. `falls`: what gravity gives over
// the sizes of its bodies, J.
static bool isBeyond(const tpSystem* system, const Gains* gains, const double* falls, double part,
                     tpIslandWork work) {
    double rest = work.rise, known = 0.0, rounding = 0.0, most = 0.0;
    bool hasDriven = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        double energies = fmax(gains->moving[i], gains->moved[i]) + falls[i];
        double unsure = roundings * gains->scales[i];
        if (gains->isDriven[i]) {
            hasDriven = true;
            known += energies;
        } else {
            rest -= gains->gains[i];
            most = gains->gains[i] > part * energies + unsure ? fmax(most, gains->gains[i]) : most;
        }
        rounding += unsure;
    }
    known += tpSystem_SpringEnergy(system) + fabs(work.external);
    most = hasDriven && rest > part * known + rounding ? fmax(most, rest) : most;
    return most > 0.0 && work.given > unbookedPart * most;
}

bool tpSystem_HasIslandGained(tpSystem* system, const tpPose* startPoses,
                              const tpVelocity* startVelocities, double part, tpIslandWork work) {
    Gains gains;
    int* islands = tpSystem_StepIslands(system);
    if (!areSeveral(system, islands) ||
        !findGains(system, islands, startPoses, startVelocities, &gains)) {
        return false;
    }
    const double* sizes = tpSystem_BodySizes(system);
    double* falls = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    for (int i = 0; sizes != NULL && falls != NULL && i < system->bodyCount; ++i) {
        falls[tpBodyIslands_Root(gains.islands, i)] +=
            system->bodies.data[i].mass * tpLength(system->gravity) * sizes[i];
    }
    return !system->arena.failed && isBeyond(system, &gains, falls, part, work);
}
