// Steps that nobody checks: flights, which are exact, lone impacts, which are located, steps after
// others whose errors were small, and those of groups whose paths nobody can follow.

#include "steppers/auto/unchecked.h"

#include <string.h>

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/giving.h"
#include "steppers/auto/modes.h"
#include "steppers/auto/outer_forces.h"

// Which steps -------------------------------------------------------------------------------------

bool tpGroupRun_Locates(const tpGroupRun* run) {
    bool isLocating = run->method == tp_pileMethod || run->method == tp_eventMethod;
    return isLocating && !run->system->gives;
}

// Whether moments need not be checked: the last ones were as good as exact.
static bool trustsMoments(const tpGroupRun* run) {
    return tpGroupRun_Locates(run) && run->pace.momentCount < run->pace.momentTrust;
}

bool tpGroupRun_FliesFreely(const tpGroupRun* run) {
    const tpSystem* system = run->system;
    bool isFree = run->groups->jointCounts[run->group] == 0 && !system->hasLoads &&
                  !tpOuterForce_IsThere(system, run->groups, run->group);
    for (int i = 0; isFree && i < system->bodyCount; ++i) {
        isFree = run->groups->ofBody[i] != run->group || system->bodies.data[i].locked == 0;
    }
    return isFree;
}

// Whether the group flies, and its moments are trusted.
static bool isFlying(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    return pace->knowsPushing && pace->pushing == 0 && trustsMoments(run) &&
           tpGroupRun_FliesFreely(run);
}

bool tpGroupRun_MayBeExact(const tpGroupRun* run) {
    return run->pace.pushing == 0 && tpGroupRun_Locates(run) && tpGroupRun_FliesFreely(run);
}

// In lengths of the scene: how far from each other bodies are taken to meet.
static const double locatedPart = 1e-8;

// In lengths per time scale: what parts faster has left.
static const double partingPart = 1e-3;

// Whether there were impacts, so many at most, each of one pair of shapes at one point, and all are
// apart again. The law of an impact is exact, and flights before and after it are. (Whole and
// halves of such steps were compared all the same: a third of the instructions of a ball that
// bounces down a slope.)
static bool areLoneImpacts(const tpGroupRun* run, const tpTaken* taken, int most) {
    int pushCount = 0, count = taken->report.figures[tp_collisionFigure];
    bool isApart = true;
    double slow = partingPart * run->lengthScale / run->timeScale;
    for (int i = 0; i < taken->tally.count; ++i) {
        const tpContactInfo* info = &taken->tally.list[i];
        if (info->normalImpulse > 0.0) {
            pushCount += 1;
            isApart = isApart && (info->gap > run->limits.penetration ||
                                  tpModes_SpeedApart(info, run->system) > slow);
        }
    }
    return count >= 1 && count <= most && pushCount >= 1 && pushCount <= count && isApart;
}

static bool isLoneImpact(const tpGroupRun* run, const tpTaken* taken) {
    return areLoneImpacts(run, taken, 1);
}

bool tpGroupRun_NeedsCheck(const tpGroupRun* run) {
    bool isTrusted = tpPace_IsTrusted(&run->pace) && run->pace.uncheckedCount < run->pace.trust;
    return !isTrusted && !isFlying(run);
}

// Taking them -------------------------------------------------------------------------------------

void tpGroupRun_GrowErrors(tpGroupRun* run, double h) {
    double fastest = h * tpLength(run->system->gravity);
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            const tpVelocity* velocity = &run->system->velocities.data[i];
            fastest = fmax(fastest, tpVelocity_LargestSpeed(run->system, i, velocity));
        }
    }
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double rate = fmin(run->pace.positionRate, 2.0 * fastest);
            double speed = run->speedErrors[i];
            run->positionErrors[i] += h * (speed + rate);
            run->speedErrors[i] = fmax(speed, fmin(speed + h * run->pace.speedRate, 2.0 * fastest));
        }
    }
}

void tpGroupRun_Accept(tpGroupRun* run, const tpTaken* next) {
    run->hasMemory = tpTaken_Append(&run->taken, run->system, next) && run->hasMemory;
}

// Adds the error of a moment, m.
static void addMoment(tpGroupRun* run, double error) {
    for (int i = 0; error > 0.0 && i < run->system->bodyCount; ++i) {
        run->positionErrors[i] += run->groups->ofBody[i] == run->group ? error : 0.0;
    }
}

bool tpGroupRun_GoUnchecked(tpGroupRun* run, double start, double h, bool isBlind, tpCheck* check,
                            tpKept* before) {
    tpSystem* system = run->system;
    tpTaken* taken = &check->whole;
    run->hasMemory =
        (isBlind || tpKept_Take(before, system, tpMethod_Stepper(run->method), run->state)) &&
        tpGroupRun_TakeStep(run, start, h, taken);
    if (!run->hasMemory) {
        return true;
    }
    uint64_t pushing = tpTaken_Pairs(taken);
    bool isExact = tpGroupRun_MayBeExact(run) && (pushing == 0 || isLoneImpact(run, taken));
    pushing = isExact ? 0 : pushing;
    bool isMoment = !isBlind && pushing != run->pace.pushing;
    // A step in which contacts come, or all go, need not be checked.
    bool comesOrGoes = pushing == 0 || run->pace.pushing == 0;
    uint64_t features = tpTaken_Features(taken);
    // The same shapes by other features: a block may have begun to tip.
    bool isOther = !isMoment && features != run->pace.features;
    bool isDoubted = (isMoment && !(comesOrGoes && trustsMoments(run))) || isOther;
    if (!isBlind && (taken->isBad || (!isExact && (taken->hasTurned || isDoubted)))) {
        run->pace.checkedError = INFINITY;
        return false;
    }
    run->pace.uncheckedCount += 1;
    run->pace.momentCount += isMoment ? 1 : 0;
    run->pace.pushing = pushing;
    run->pace.features = features;
    run->pace.givenRate = tpGiving_Rate(&taken->tally, system, h);
    run->pace.knowsPushing = true;
    tpGroupRun_Accept(run, taken);
    bool isLone = isExact && taken->report.figures[tp_collisionFigure] > 0;
    double momentError = isLone     ? locatedPart * run->lengthScale
                         : isMoment ? run->pace.momentError
                                    : 0.0;
    addMoment(run, momentError);
    tpGroupRun_GrowErrors(run, h);
    return true;
}

void tpGroupRun_AddUnknown(tpGroupRun* run, const tpVelocity* starts, double h) {
    const tpSystem* system = run->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpVelocity *first = &starts[i], *last = &system->velocities.data[i];
        double change =
            tpDistanceBetween(first->linear, last->linear) +
            system->bodies.data[i].size * tpDistanceBetween(first->angular, last->angular);
        run->positionErrors[i] += run->groups->ofBody[i] == run->group ? 0.5 * h * change : 0.0;
    }
}

double tpGroupRun_EnergyPart(tpSystem* system, const tpKept* before, tpStepReport* report) {
    const tpPose* poses = before->motion.poses;
    const tpVelocity* velocities = before->motion.velocities;
    report->kineticAfter = tpSystem_KineticEnergy(system);
    report->potentialAfter = tpSystem_PotentialEnergy(system);
    double rise = report->kineticAfter + report->potentialAfter - report->kineticBefore -
                  report->potentialBefore - report->externalWork;
    double part = rise / tpCertificate_EnergyLimit(system, report);
    bool hasGained = tpCertificate_HasIslandGained(system, poses, velocities, report);
    return hasGained ? fmax(part, 2.0) : part;
}

void tpGroupRun_JudgeEnergy(tpGroupRun* run, const tpKept* before, double kinetic,
                            double potential) {
    tpTaken* taken = &run->taken;
    if (run->isAccurate || !run->hasMemory || run->isGivenUp) {
        return;
    }
    tpStepReport report = taken->report;
    report.kineticBefore = kinetic;
    report.potentialBefore = potential;
    double part = tpGroupRun_EnergyPart(run->system, before, &report);
    taken->energyPart = fmax(taken->energyPart, part);
    taken->isBad = taken->isBad || part > 1.0;
}

// A step that should be checked and is not: nobody knows how well it is, but for the energy.
static void goHopelessly(tpGroupRun* run, double start, double h) {
    tpSystem* system = run->system;
    tpCheck check;
    tpKept before;
    run->hasMemory = tpKept_Take(&before, system, NULL, NULL);
    if (!run->hasMemory) {
        return;
    }
    tpGroupRun_GoUnchecked(run, start, h, true, &check, NULL);
    if (run->hasMemory) {
        double part = tpGroupRun_EnergyPart(system, &before, &check.whole.report);
        run->taken.energyPart = fmax(run->taken.energyPart, part);
        run->taken.isBad = run->taken.isBad || part > 1.0;
        tpGroupRun_AddUnknown(run, before.motion.velocities, h);
    }
}

// A step of a crowd, whose paths nobody follows.
static void goInCrowd(tpGroupRun* run, double start, double h) {
    tpSystem* system = run->system;
    tpCheck check;
    tpVelocity* starts = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    run->hasMemory = starts != NULL;
    if (run->hasMemory) {
        memcpy(starts, system->velocities.data, sizeof(tpVelocity) * (size_t)system->bodyCount);
        tpGroupRun_GoUnchecked(run, start, h, true, &check, NULL);
    }
    if (run->hasMemory) {
        tpGroupRun_AddUnknown(run, starts, h);
    }
}

bool tpGroupRun_AreBalls(const tpGroupRun* run) {
    const tpSystem* system = run->system;
    bool areBalls = true;
    for (int i = 0; areBalls && i < system->bodyCount; ++i) {
        areBalls =
            run->groups->ofBody[i] != run->group || tpBody_IsBall(system, &system->bodies.data[i]);
    }
    return areBalls;
}

// In worlds of more bodies its state, which has room for all of them, costs more than it saves.
// And the impacts of a step, one after the other, of balls that were apart at its start.
enum { mostForEvents = 64, mostLone = 8 };

bool tpGroupRun_GoByEvents(tpGroupRun* run, double start, double h) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(tp_eventMethod);
    if (run->method != tp_pileMethod || system->bodyCount > mostForEvents ||
        !tpGroupRun_AreBalls(run) ||
        !tpMethod_CanCarry(tp_eventMethod, system, run->groups, run->group)) {
        return false;
    }
    tpGroupRun own = *run;
    tpKept before;
    tpTaken taken;
    own.method = tp_eventMethod;
    own.state = NULL;
    run->hasMemory =
        tpKept_Take(&before, system, NULL, NULL) && stepper->create(system, &own.state);
    if (!run->hasMemory) {
        return false;
    }
    run->hasMemory = tpGroupRun_TakeStep(&own, start, h, &taken);
    stepper->destroy(system, own.state);
    int most = start == 0.0 && tpGroupRun_FliesTowards(run) ? mostLone : 1;
    bool isLone = areLoneImpacts(run, &taken, most);
    bool isGood = run->hasMemory && !taken.isBad && !own.isPassedOn &&
                  taken.report.figures[tp_microcollisionFigure] == 0 &&
                  (isLone || tpTaken_Pairs(&taken) == 0);
    if (!isGood) {
        run->taken.work += taken.work;
        run->hasMemory = tpKept_PutBack(&before, system, NULL, NULL) && run->hasMemory;
        return false;
    }
    run->pace.uncheckedCount += 1;
    run->pace.features = tpTaken_Features(&taken);
    run->pace.knowsPushing = true;
    run->lastStep = h;
    run->lastWork = taken.work;
    run->isByEvents = true;
    tpGroupRun_Accept(run, &taken);
    int impactCount = taken.report.figures[tp_collisionFigure];
    addMoment(run, isLone ? impactCount * locatedPart * run->lengthScale : 0.0);
    tpGroupRun_GrowErrors(run, h);
    return true;
}

void tpGroupRun_GoBlindly(tpGroupRun* run, double start, double h, bool isCrowd) {
    // What no check holds the guard of energy does.
    double own = run->options.values[tp_energyGuardOption];
    run->options.values[tp_energyGuardOption] = run->guard;
    if (run->method == tp_flyingMethod) {
        tpCheck check;
        tpGroupRun_GoUnchecked(run, start, h, true, &check, NULL);
    } else if (isCrowd) {
        goInCrowd(run, start, h);
    } else {
        goHopelessly(run, start, h);
    }
    run->options.values[tp_energyGuardOption] = own;
}
