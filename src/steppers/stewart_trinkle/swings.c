#include "steppers/stewart_trinkle/swings.h"

#include <string.h>

#include "dynamics/joint_rows.h"

// Springs that turn the phase of their swing by more than this in a step are damped, as the scheme
// does: their energy would go up and down by a part of some percent.
static const double largestPhase = 0.5;

// What a unit of impulse at an anchor gives to it, at most.
static double responseAt(const tpSystem* system, int body, tpVec3 anchor) {
    if (!tpSystem_IsDynamic(system, body)) {
        return 0.0;
    }
    const tpBody* own = &system->bodies.data[body];
    tpVec3 moments = own->form->inertia.moments;
    double least = fmin(moments.x, fmin(moments.y, moments.z)), square = tpLengthSquared(anchor);
    return own->inverseMass + (square > 0.0 ? square / least : 0.0);
}

// A joint that holds nothing and has a spring, without limits and drives, and is not stiff for h.
static bool isSpring(const tpSystem* system, const tpJoint* joint, double h) {
    if (joint->type != tp_springJoint) {
        return false;
    }
    const tpCoordinateDef* def = &joint->coordinates[0].def;
    double response = responseAt(system, joint->bodyA, joint->anchorA) +
                      responseAt(system, joint->bodyB, joint->anchorB);
    bool isStiff = h * h * def->spring.stiffness * response > largestPhase * largestPhase;
    return !isStiff && !def->hasLimits && !def->hasServo && !def->hasMotor &&
           !(def->friction > 0.0) && !(def->armature > 0.0);
}

static void hold(const tpSystem* system, int body, bool* isHeld) {
    if (tpSystem_IsDynamic(system, body)) {
        isHeld[body] = true;
    }
}

static bool isHeldBody(const tpSystem* system, int body, const bool* isHeld) {
    return tpSystem_IsDynamic(system, body) && isHeld[body];
}

// Bodies with contacts, with joints that are no springs, or with damping.
static bool* findHeld(const tpTimeStep* step) {
    const tpSystem* system = step->system;
    const tpRows* rows = &step->rows;
    bool* isHeld = TP_SCRATCH_ZEROED(&step->system->arena, bool, step->bodyCount);
    for (int b = 0; isHeld != NULL && b < rows->blockCount; ++b) {
        hold(system, rows->bodyA[b], isHeld);
        hold(system, rows->bodyB[b], isHeld);
    }
    for (int i = 0; isHeld != NULL && i < step->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        isHeld[i] = isHeld[i] || body->linearDamping > 0.0 || body->angularDamping > 0.0;
    }
    for (int i = 0; isHeld != NULL && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive && !isSpring(system, joint, step->h)) {
            hold(system, joint->bodyA, isHeld);
            hold(system, joint->bodyB, isHeld);
        }
    }
    return isHeld;
}

// Forces on bodies that swing act half before the drift and half after it too: such a body is at
// rest where its spring carries its weight. False if memory ran out.
static bool halveForces(tpTimeStep* step, const bool* isSwinging) {
    const tpSystem* system = step->system;
    size_t bytes = sizeof(tpVelocity) * (size_t)step->bodyCount;
    bool* isHalved = TP_SCRATCH_ZEROED(&step->system->arena, bool, step->bodyCount);
    if (step->wholeKick == NULL) {
        step->wholeKick = TP_SCRATCH(&step->system->arena, tpVelocity, step->bodyCount);
        if (step->wholeKick != NULL) {
            memcpy(step->wholeKick, step->kicked, bytes);
        }
    }
    if (step->system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (isSwinging[i]) {
            hold(system, joint->bodyA, isHalved);
            hold(system, joint->bodyB, isHalved);
        }
    }
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpVelocity* whole = &step->wholeKick[i];
        const tpVelocity* start = &step->startVelocities[i];
        step->kicked[i] = *whole;
        if (isHalved[i]) {
            step->kicked[i].linear = tpScale(0.5, tpAdd(whole->linear, start->linear));
            step->kicked[i].angular = tpScale(0.5, tpAdd(whole->angular, start->angular));
        }
    }
    tpTimeStep_FindDrift(step, step->kicked, step->freeMeanVelocities, step->freeVelocities);
    return true;
}

bool tpSwings_Find(tpTimeStep* step) {
    tpSystem* system = step->system;
    bool hasSpring = false;
    step->swinging = NULL;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        hasSpring = hasSpring || (joint->isLive && isSpring(system, joint, step->h));
    }
    if (!hasSpring || system->couplings.count > 0) {
        return true;
    }
    bool* isHeld = findHeld(step);
    bool* isSwinging = TP_SCRATCH_ZEROED(&system->arena, bool, system->joints.count);
    // A spring that acts on a body which others hold pulls as the scheme says, and holds its other
    // body too.
    for (bool isSettled = false; !system->arena.failed && !isSettled;) {
        isSettled = true;
        for (int i = 0; i < system->joints.count; ++i) {
            const tpJoint* joint = &system->joints.data[i];
            bool isHeldA = isHeldBody(system, joint->bodyA, isHeld);
            bool isHeldB = isHeldBody(system, joint->bodyB, isHeld);
            bool isLive = joint->isLive && isSpring(system, joint, step->h);
            isSwinging[i] = isLive && !isHeldA && !isHeldB;
            if (isLive && isHeldA != isHeldB) {
                int other = isHeldA ? joint->bodyB : joint->bodyA;
                isSettled = isSettled && !tpSystem_IsDynamic(system, other);
                hold(system, other, isHeld);
            }
        }
    }
    step->swinging = isSwinging;
    return !system->arena.failed && halveForces(step, isSwinging);
}

void tpSwings_AddJointRows(tpTimeStep* step, const tpPose* poses,
                           const tpJointTreatment* treatment) {
    tpSystem* system = step->system;
    if (step->swinging == NULL) {
        tpJoints_AddRows(&step->rows, system, poses, treatment);
        return;
    }
    tpJointTreatment half = { step->h, 1.0, NULL, 0.5 * step->h, 0.0, false };
    for (int i = 0; i < system->joints.count; ++i) {
        if (!tpJoint_IsMovable(system, &system->joints.data[i])) {
            continue;
        }
        if (step->swinging[i]) {
            tpJoint_AddRowsWith(&step->rows, system, i, step->startPoses, &half, tp_firstHalfLaws);
        } else {
            tpJoint_AddRows(&step->rows, system, i, poses, treatment);
        }
    }
}

void tpSwings_Leave(tpTimeStep* step) {
    step->swinging = NULL;
    if (step->wholeKick != NULL) {
        memcpy(step->kicked, step->wholeKick, sizeof(tpVelocity) * (size_t)step->bodyCount);
        tpTimeStep_FindDrift(step, step->kicked, step->freeMeanVelocities, step->freeVelocities);
    }
}

bool tpSwings_Correct(tpTimeStep* step, double* miss) {
    tpRows* rows = &step->rows;
    *miss = 0.0;
    if (step->swinging == NULL) {
        return true;
    }
    tpPose* poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
    if (poses == NULL) {
        return false;
    }
    tpTimeStep_Move(step, step->meanVelocities, poses);
    for (int b = 0; b < rows->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[b];
        if (info->source == tp_contactSource || info->isCoupling || !step->swinging[info->index]) {
            continue;
        }
        int row = rows->firstRows[b];
        double unseen = tpJoints_LawMiss(step->system, poses, rows, b, row, step->h);
        rows->missed[row] += unseen / step->h;
        rows->bias[row] += unseen / step->h;
        *miss = fmax(*miss, fabs(unseen) / step->system->units.length);
    }
    return true;
}
