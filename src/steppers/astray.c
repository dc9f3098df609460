#include "steppers/astray.h"

#include "dynamics/certificate.h"
#include "dynamics/couplings.h"
#include "dynamics/deep_bodies.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/island_rises.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/most_gain.h"
#include "dynamics/step_budget.h"

// Joints are torn if they are apart by so many times what a certified step may leave, or by less if
// the step has cost all it may. Steppers for real time leave more.
static const double torn = 10.0, tornInRealTime = 1e3;

// Bodies that are moved whatever their joints say may leave them so many times as far apart as they
// go in the step: turns are rad, by levers shorter than a unit of length.
static const double movedLevers = 30.0;

// Energies this many times as large as what there is, with all that drives and forces can give,
// come from solves that have failed.
static const double wildEnergy = 4.0;

// Gains of a step that has cost all it may are taken from the velocities of bodies. With so many
// times what is certified that leaves nothing of the motion of what hangs on joints, and bodies
// that have been lifted may have less than that. Of one that has cost less they stay: rounds of a
// solve that run away have bodies at any speed, and books of drives that nobody has paid.
static const double grossGain = 100.0, unpaidGain = 3.0;

// Bodies that go this part of their length in a step have no energy worth the word.
static const double slowPart = 1e-3;

// Whether somebody moves bodies whatever their joints say.
static bool hasKinematicMotion(const tpSystem* system) {
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        bool isMoving = body->keyframes != NULL || body->hasTarget ||
                        tpLengthSquared(velocity->linear) > 0.0 ||
                        tpLengthSquared(velocity->angular) > 0.0;
        if (body->isLive && body->kind == tp_kinematicBody && isMoving) {
            return true;
        }
    }
    return false;
}

// How far the fastest of them goes in the step, m.
static double movedWay(const tpJoinedStep* step) {
    const tpSystem* system = step->system;
    double fastest = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (body->isLive && body->kind == tp_kinematicBody) {
            const tpVelocity* now = &system->velocities.data[i];
            const tpVelocity* then = &step->start.motion.velocities[i];
            double reach = body->reach;
            fastest = fmax(fastest, tpLength(now->linear) + reach * tpLength(now->angular));
            fastest = fmax(fastest, tpLength(then->linear) + reach * tpLength(then->angular));
        }
    }
    return step->h * fastest;
}

static double allowedDrift(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    double factor = step->stepper->closesAccount ? torn : tornInRealTime;
    return (isSpent ? 1.0 : factor) * report->limits.jointDrift;
}

// By how much joints were apart or beyond their limits at the start of the step. Angles count whole
// turns from those that the joints have last had: they are measured with the start's own. With
// those of torn joints, which may have turned by anything, a joint at its limit seems to be beyond
// it.
static double startDrift(const tpJoinedStep* step) {
    tpSystem* system = step->system;
    double* now = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (now == NULL) {
        return INFINITY;
    }
    tpJoints_ReadMotion(system, now);
    tpJoints_WriteMotion(system, step->start.motion.motion);
    double drift = tpJoints_PositionError(system, step->start.motion.poses);
    tpJoints_WriteMotion(system, now);
    return drift;
}

// Whether a step, which has cost all it may if `isSpent`, has torn joints apart that were together.
static bool isTorn(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    return step->mayTear && !report->undone &&
           !(report->jointDrift <= allowedDrift(step, isSpent, report)) &&
           !(report->jointDrift <= movedLevers * movedWay(step)) &&
           startDrift(step) <= report->limits.jointDrift;
}

// Whether a step that has cost all it may has driven bodies into each other. Bodies that are held
// between walls that move on come into those.
static bool isDeep(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    return step->stepper->closesAccount && isSpent && !report->undone &&
           !hasKinematicMotion(step->system) &&
           !(report->penetration <= report->limits.penetration) &&
           tpSystem_MarkDeep(step->system, step->start.motion.poses, NULL);
}

// What there is without drives and forces, J.
static double knownEnergy(const tpJoinedStep* step, const tpStepReport* report) {
    const tpSystem* system = step->system;
    double slow = slowPart * system->scales.length / step->h;
    return fmax(report->kineticBefore, system->energyPeak) + system->scales.fall +
           system->scales.mass * slow * slow;
}

// The kinetic energy that there can be after the step, J, as an order of magnitude.
static double mostEnergy(const tpJoinedStep* step, const tpStepReport* report) {
    tpSystem* system = step->system;
    double known = knownEnergy(step, report);
    double* now = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (now == NULL) {
        return INFINITY;
    }
    tpJoints_ReadMotion(system, now);
    tpJoints_WriteMotion(system, step->start.motion.motion);
    known += tpSystem_MostGain(system, &step->start.motion, step->h);
    tpJoints_WriteMotion(system, now);
    return known;
}

// What an island in which something has pushed one way has gained in the step, or all on which
// drives and forces act, J.
static double unpaidRise(const tpJoinedStep* step, double rise) {
    tpIslandRises rises;
    return tpIslandRises_BeginAt(&rises, step->system, &step->start.motion)
               ? tpIslandRises_Unpaid(&rises, step->system, rise)
               : INFINITY;
}

// Whether a step has made energy of nothing, or books work that nobody can have done. What books of
// drives may be off by is not meant.
static bool hasGoneWild(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    tpSystem* system = step->system;
    if (!step->stepper->closesAccount || report->undone || system->gives) {
        return false;
    }
    double kinetic, potential;
    tpSystem_FindEnergies(system, &kinetic, &potential);
    // Whoever moves bodies against all others works as much as it takes.
    double work = hasKinematicMotion(system)
                      ? 0.0
                      : fabs(report->externalWork) - tpStepReport_GetDriveSlack(report);
    double rise = kinetic + potential - report->kineticBefore - report->potentialBefore -
                  report->externalWork;
    // A gain can be taken from velocities up to the kinetic energy that there is.
    bool mayPay = rise <= kinetic;
    double gain = isSpent && mayPay ? grossGain : unpaidGain;
    double allowed = gain * tpCertificate_EnergyLimit(system, report);
    if (rise > allowed && (!mayPay || (step->mayTear && unpaidRise(step, rise) > allowed))) {
        return true;
    }
    // Bodies that were thrown and then stopped are elsewhere.
    double made = kinetic + fmax(potential - report->potentialBefore, 0.0);
    double known = knownEnergy(step, report);
    if (made <= wildEnergy * known && work <= wildEnergy * known) {
        return false;
    }
    known = mostEnergy(step, report);
    return !(made <= wildEnergy * known) || !(work <= wildEnergy * known);
}

// Bodies that were in each other before the step are pushed out, whatever that costs.
static bool isWild(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    return hasGoneWild(step, isSpent, report) &&
           tpSystem_DeepestOverlap(step->system, step->start.motion.poses) <=
               report->limits.penetration;
}

bool tpJoinedStep_IsAstray(const tpJoinedStep* step, bool isSpent, const tpStepReport* report) {
    return !tpSystem_IsStopped(step->system) &&
           (isTorn(step, isSpent, report) || isDeep(step, isSpent, report) ||
            isWild(step, isSpent, report));
}

// Marks -------------------------------------------------------------------------------------------

static void markPair(const tpSystem* system, bool* isHeld, int a, int b) {
    for (int side = 0; side < 2; ++side) {
        int body = side == 0 ? a : b;
        if (tpSystem_IsDynamic(system, body)) {
            isHeld[body] = true;
        }
    }
}

// Marks the bodies of the joint or coupling that is farthest apart where the step has ended. It is
// marked alone: others may be apart because it has used up the work of the step, even those that
// are apart by nearly as much. If not, the next round finds them. Joints that were apart within the
// step may be together again at its end: the worst one is marked even so.
static void markApart(const tpSystem* system, bool* isHeld) {
    const tpPose* poses = system->poses.data;
    double most = -1.0;
    int joint = -1, coupling = -1;
    for (int i = 0; i < system->joints.count; ++i) {
        double error = tpJoint_PositionError(system, &system->joints.data[i], poses);
        if (!(error <= most)) {
            most = error;
            joint = i;
        }
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        double error = tpCoupling_PositionError(system, i, poses);
        if (!(error <= most)) {
            most = error;
            coupling = i;
        }
    }
    int body;
    for (int k = 0; coupling >= 0 && tpCoupling_BodyAt(system, coupling, k, &body); ++k) {
        markPair(system, isHeld, body, -1);
    }
    if (coupling < 0 && joint >= 0) {
        markPair(system, isHeld, system->joints.data[joint].bodyA,
                 system->joints.data[joint].bodyB);
    }
}

// Marks bodies that have more energy than all of them can have, or those of all joints, or all: of
// what drives do, and of who was lifted, only the sum is known.
static void markWild(const tpJoinedStep* step, const tpStepReport* report, bool* isHeld) {
    const tpSystem* system = step->system;
    double most = wildEnergy * mostEnergy(step, report);
    bool isAny = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isFast =
            tpSystem_IsDynamic(system, i) && !(tpSystem_BodyKineticEnergy(system, i) <= most);
        isHeld[i] = isHeld[i] || isFast;
        isAny = isAny || isFast;
    }
    for (int i = 0; !isAny && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (joint->isLive) {
            markPair(system, isHeld, joint->bodyA, joint->bodyB);
        }
    }
    for (int i = 0; !isAny && !step->mayTear && i < system->bodyCount; ++i) {
        isHeld[i] = tpSystem_IsDynamic(system, i);
    }
}

// Marks bodies because of which a step is taken again, and adds the laws that it would break. Torn
// joints come first: bodies whose joints are torn may be anywhere.
void tpJoinedStep_MarkAstray(const tpJoinedStep* step, bool isSpent, const tpStepReport* report,
                             bool* isHeld, unsigned* laws) {
    if (isTorn(step, isSpent, report)) {
        markApart(step->system, isHeld);
        *laws |= 1u << tp_jointLaw;
    } else if (isDeep(step, isSpent, report)) {
        tpSystem_MarkDeep(step->system, step->start.motion.poses, isHeld);
        *laws |= 1u << tp_overlapLaw;
    } else {
        markWild(step, report, isHeld);
        *laws |= 1u << tp_energyLaw;
    }
}
