// A part of a step: resting contacts, drift, collisions; and how energy is watched over.
//
// Joints do no work. In the second-order drift they do, a little, which only swings about its mean;
// and directions of contacts that change during a part may give energy. If either is more than
// `gainSlack` of the energy, the part is taken again in halves. Far from all contacts it is put
// together from stages from the start, some of them backwards in time: nine that are of sixth order
// together [KahanLi97], and if there are many joints three of fourth order [Yoshida90] before
// those.

#include "steppers/bender_schmitt/part.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/matching.h"
#include "dynamics/motion.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/bender_schmitt/first_impact.h"
#include "steppers/bender_schmitt/step_contacts.h"
#include "steppers/bender_schmitt/way_out.h"

// Halvings of a step whose energy is wrong down to its shortest part, and of all its parts: what
// rolls over a sharp edge takes most of them where it does.
enum { maxHalvings = 7, grossHalvings = 24, leastHalvingsAStep = 40, halvedRows = 400 };

// Joints are brought back to within this after each step, in units of length or rad.
static const double jointTolerance = 1e-10;

// Collisions may raise the energy by this part of it: rounding and the tolerance of the solves.
static const double guardSlack = 1e-10;

// Part of the energy by which a whole step that touches nothing may be wrong, or that it may gain
// shortly after an impact; and the work that is spent on keeping it: tries and parts times rows.
// When that is spent, the part that it may gain. Shares of those for the shortest parts.
static const double sharpSlack = 0.5e-8, gainSlack = 1e-6, leastShare = 1.0 / 64.0;
enum { sharpWork = 700 };

// Contacts are closed below this gap, in units of length.
static const double closedGap = 1e-8;

// Approaches slower than these parts of what gravity gives in a part, and of the largest speed, are
// no impacts.
static const double approachPart = 0.01, speedPart = 1e-6;

// Restitution from which impacts of crowds are located, and contacts that make a crowd for which
// that can be done.
static const double elastic = 0.9;
enum { leastCrowd = 24, largestCrowd = 2000 };

// Part of it that the tolerance of the solves may be to blame for.
static const double solveSlack = 1e-7;

// Overlaps that a part may add, in units of length: corrections of its drift that have come to an
// end leave far less.
static const double overlapSlack = 5e-7;

// Joints that are farther apart at the end of a drift, m or rad, in units of length, are torn.
static const double tornJoints = 1e-2;

static double deepestOf(const tpContact* contacts, int count) {
    double deepest = 0.0;
    for (int i = 0; i < count; ++i) {
        deepest = fmax(deepest, -contacts[i].gap);
    }
    return deepest;
}

// Whether impacts give back next to all that they take: the largest restitution of the contacts
// says so.
static bool isElastic(const tpTouch* touch) {
    double largest = 0.0;
    for (int i = 0; i < touch->contactCount; ++i) {
        largest = fmax(largest, touch->laws[i].restitution);
    }
    return largest >= elastic;
}

static bool isElasticCrowd(const tpBenderStep* step) {
    int count = step->start.contactCount;
    return count >= leastCrowd && count <= largestCrowd && step->isElastic;
}

bool tpBenderStep_HasToHurry(const tpBenderStep* step) {
    return tpStepBudget_IsHard(step->system) && step->system->joints.count == 0 && !step->isElastic;
}

bool tpBenderStep_Touch(tpBenderStep* step, tpTouch* touch, const tpPose* poses,
                        const tpVelocity* before, tpContact* contacts, int count) {
    if (!tpTouch_Create(touch, step->system, poses, before, contacts, count, step->settings)) {
        return false;
    }
    touch->isSmall = touch->isSmall && !step->isHurried;
    return true;
}

// Resting contacts during the step, and the drift, of h seconds.
bool tpBenderStep_Drift(tpBenderStep* step, double h, tpContact* contacts, int count) {
    tpSystem* system = step->system;
    if (!tpTimeStep_BeginSymmetric(&step->time, system, h, 0.5 * h)) {
        return false;
    }
    step->drifted = h;
    if (contacts == NULL) {
        step->guesses = NULL; // those of another start
        step->guessTime = 0.0;
        if (!tpStepContacts_Start(step, &contacts, &count)) {
            return false;
        }
    }
    step->isHurried = step->isJammed = false;
    step->jointMiss = 0.0;
    if (!tpBenderStep_Touch(step, &step->start, step->time.startPoses, step->time.startVelocities,
                            contacts, count)) {
        return false;
    }
    step->overlap = deepestOf(contacts, count);
    step->isElastic = isElastic(&step->start);
    step->isHurried = step->start.isSmall && tpBenderStep_HasToHurry(step);
    step->start.isSmall = step->start.isSmall && !step->isHurried;
    // Many bodies hit each other in every step: the budget has no room for a drift each time, but
    // where impacts take nothing it is worth what there is.
    step->isCrowd = isElasticCrowd(step);
    step->isLocating = step->settings->isLocated && (step->start.isSmall || step->isCrowd) &&
                       !tpStepBudget_IsSpent(system);
    step->hasOneSolve = !step->isLocating && tpTouch_IsCertifiedCrowd(&step->start, step->settings);
    if (step->hasOneSolve && !tpTimeStep_KickAnew(&step->time, h)) {
        return false;
    }
    return tpResting_Solve(step);
}

// Collisions; where they would raise the energy beyond what it may be, with less restitution.
static bool resolveGuarded(tpBenderStep* step, double allowed) {
    tpSystem* system = step->system;
    tpTrial start;
    if (!tpTrial_Begin(&start, system, NULL, step->report)) {
        return false;
    }
    static const double factors[] = { 1.0, 0.75, 0.5, 0.25, 0.0 };
    double worked = step->report->externalWork;
    double collisions = step->report->figures[tp_collisionFigure];
    for (int k = 0; k < 5; ++k) {
        if (!tpCollisions_Resolve(step, factors[k])) {
            return false;
        }
        double slack = guardSlack * fabs(allowed);
        bool hasRisen =
            tpSystem_Energy(system) > allowed + step->report->externalWork - worked + slack;
        bool isKept = !step->settings->isGuarded || !hasRisen ||
                      step->report->figures[tp_collisionFigure] == collisions;
        if (isKept || k == 4) {
            break;
        }
        tpTrial_Undo(&start);
        tpStepReport_AddNote(step->report, "the energy guard acted");
    }
    return true;
}

// The energies of the impulses in the drift.
static bool accountDrift(tpBenderStep* step) {
    const tpTimeStep* time = &step->time;
    step->report->externalWork += tpTimeStep_ForceWork(time);
    step->report->impactLoss += step->hasOneSolve ? tpTimeStep_WayLoss(time) : 0.0;
    tpRowVelocities velocities = { time->kicked, time->pushed, time->pushed, NULL };
    // What rows answer to kicks is no motion. That of forces is answered half before the drift,
    // half after it, where it is not taken off; that of steady efforts is taken off in both.
    return tpTouch_AccountEnergy(&step->start, &velocities, step->report) &&
           tpTouch_AccountKick(&step->start, time->startVelocities, time->steadied, 0.5,
                               step->report) &&
           tpTouch_AccountKick(&step->start, time->steadied, time->kicked,
                               0.5 * time->h / time->kick, step->report);
}

// NULL if memory ran out.
static tpVelocity* copyVelocities(tpSystem* system) {
    tpVelocity* copy = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (copy != NULL && system->bodyCount > 0) {
        memcpy(copy, system->velocities.data, sizeof(tpVelocity) * (size_t)system->bodyCount);
    }
    return copy;
}

// From the end of the drift to the end of the part or stage: the rest of the forces, joints.
static bool finishDrift(tpBenderStep* step) {
    tpSystem* system = step->system;
    tpStepReport* report = step->report;
    double h = step->time.h;
    if (!accountDrift(step)) {
        return false;
    }
    tpJoints_AddReactions(system, &step->start.rows, step->duration);
    if (!step->hasOneSolve) {
        report->externalWork += tpSystem_KickDamping(system, 0.5 * h);
        tpSystem_KickForces(system, system->time + 0.5 * h, 0.5 * h);
    }
    tpStepTimes times = { h, 0.5 * h, step->duration };
    bool hasJoints = system->joints.count > 0;
    step->forced = hasJoints ? copyVelocities(system) : NULL;
    tpJoints_KickRest(system, &step->start.rows, step->time.meanVelocities, &times, NULL, report);
    step->lawed = hasJoints ? copyVelocities(system) : NULL;
    if (system->arena.failed) {
        return false;
    }
    tpJoints_FollowAngles(system);
    tpJoints_Correct(system, step->state->memory->solver, jointTolerance * system->units.length);
    report->jointDrift =
        fmax(report->jointDrift, tpJoints_PositionError(system, system->poses.data));
    return true;
}

// The whole of it: what touches at the end of the part, and collisions.
static bool finishPart(tpBenderStep* step, double energy, tpTally* tally) {
    tpSystem* system = step->system;
    tpContact* contacts;
    int count;
    // Drifts on the way to an impact overlap where it is; what is left at its end is no impact.
    bool isLeft = step->isLocating && !step->start.isSmall;
    if ((isLeft && !tpWayOut_Settle(step)) || !finishDrift(step) ||
        !tpStepContacts_End(step, &contacts, &count)) {
        return false;
    }
    step->match = tpMatchContacts(step->start.contacts, step->start.contactCount, contacts, count,
                                  &system->arena);
    if (step->match == NULL || !tpBenderStep_Touch(step, &step->end, system->poses.data,
                                                   step->time.pushed, contacts, count)) {
        return false;
    }
    step->end.isEnd = true;
    return !tpSystem_IsStopped(system) &&
           resolveGuarded(step, energy + step->report->externalWork) &&
           !tpSystem_IsStopped(system) && tpBenderStep_Tally(step, tally);
}

// Energy that a step is measured by: what there is, and at least that of bodies lifted by their own
// size, or by the way of a fall in the step.
static double energyScale(const tpBenderStep* step) {
    const tpSystem* system = step->system;
    double g = tpLength(system->gravity), lifted = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            double height = fmax(system->bodies.data[i].reach, g * step->duration * step->duration);
            lifted += g * system->bodies.data[i].mass * height;
        }
    }
    const tpStepReport* report = step->report;
    return fmax(lifted, report->kineticBefore + fabs(report->potentialBefore));
}

static bool carries(const tpTouch* touch) {
    for (int i = 0; i < touch->contactCount; ++i) {
        if (tpTouch_Normal(touch, i) > 0.0) {
            return true;
        }
    }
    return false;
}

static bool hasCollided(const tpBenderStep* step) {
    for (int i = 0; i < step->end.contactCount; ++i) {
        if (tpLengthSquared(step->collided[i]) > 0.0) {
            return true;
        }
    }
    return false;
}

// Limits that are hit take energy as contacts do.
static bool holdsLimits(const tpTouch* touch) {
    for (int i = 0; i < touch->sweeper.jointCount; ++i) {
        const tpSweepJoint* joint = &touch->sweeper.joints[i];
        if (joint->kind == tp_oneSidedSweepJoint && joint->impulse[0] > 0.0) {
            return true;
        }
    }
    return false;
}

// The slowest approach that is an impact, m/s: less comes from forces and from what solves leave.
static double leastApproach(const tpBenderStep* step) {
    const tpSystem* system = step->system;
    double speed = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            speed = fmax(speed, tpVelocity_LargestSpeed(system, i, &step->time.startVelocities[i]));
        }
    }
    return fmax(approachPart * fabs(step->time.h) * tpLength(system->gravity), speedPart * speed);
}

// Whether contacts of one of the two problems push that were open at the start of the part, or
// approached.
static bool hasStruck(const tpBenderStep* step, const tpTouch* touch, const int* match) {
    double least = leastApproach(step);
    double closed = closedGap * step->system->units.length;
    for (int i = 0; i < touch->contactCount; ++i) {
        if (!(tpTouch_Normal(touch, i) > 0.0)) {
            continue;
        }
        int same = match == NULL ? i : match[i];
        if (same < 0 || step->start.contacts[same].gap > closed ||
            tpContact_Approach(&step->start.contacts[same], step->time.startPoses,
                               step->time.startVelocities) > least) {
            return true;
        }
    }
    return false;
}

// The energy of a part.
typedef struct tpPartEnergy {
    double rise; // beyond what is accounted for, J
    bool isTouched, hasCollided;
} tpPartEnergy;

// By how much energy has risen beyond what is accounted for. What overlaps has less energy than it
// should; to take it back is no gain. Bodies that overlapped by 5e-8 m were kept in it for ever,
// for their way out raised the energy of 30 dominoes by 1e-8 J.
static double riseOf(const tpBenderStep* step, bool hasCollided) {
    double rise = tpEnergyGuard_Rise(&step->energy, step->system, step->report, hasCollided);
    return rise > 0.0 ? fmax(0.0, rise - step->workOut) : rise;
}

static tpPartEnergy judgeEnergy(const tpBenderStep* step) {
    tpPartEnergy outcome;
    bool holds = holdsLimits(&step->start) || holdsLimits(&step->end);
    outcome.isTouched = holds || carries(&step->start) || carries(&step->end);
    outcome.hasCollided = holds || hasCollided(step) || hasStruck(step, &step->start, NULL) ||
                          hasStruck(step, &step->end, step->match);
    outcome.isTouched = outcome.isTouched || outcome.hasCollided;
    outcome.rise = riseOf(step, outcome.hasCollided);
    return outcome;
}

// Whether the energy of a part is wrong: it leaves its band, or, if nothing touches, it is not kept
// to the last digits. `power` is that of the last try, and becomes that of this one.
static bool isEnergyWrong(const tpBenderStep* step, const tpPartEnergy* outcome, double* power) {
    const tpEnergyGuard* guard = &step->energy;
    double scale = energyScale(step), rise = outcome->rise, h = step->time.h;
    double share = fmax(h / step->duration, leastShare);
    // What is small and shorter parts do not make smaller is the tolerance of the solves.
    bool isHopeless = fabs(rise) < solveSlack * scale && fabs(rise) > 0.7 * *power * h;
    *power = fabs(rise) / h;
    if (isHopeless) {
        return false;
    }
    if (!outcome->isTouched && step->isSharp) {
        // The books of drives count, too.
        double work = step->report->externalWork - guard->work;
        return fabs(tpSystem_Energy(step->system) - guard->energy - work) >
               sharpSlack * share * scale;
    }
    bool rattles = outcome->isTouched && guard->book->rattle > 0;
    double bare = riseOf(step, true);
    bool isSmall = (rattles || outcome->hasCollided) &&
                   bare <= (step->isSharp ? sharpSlack : gainSlack) * share * scale &&
                   guard->book->excess + bare <= guard->budget;
    return !isSmall && !tpEnergyGuard_Allows(guard, rise, h / step->duration, outcome->isTouched,
                                             outcome->hasCollided);
}

// Ways of putting a part together from stages that are symmetric and of second order, the next one
// where the energy of the last is wrong: of fourth order [Yoshida90], of sixth [KahanLi97].
typedef struct tpComposition {
    int stageCount;
    double lengths[9];
} tpComposition;

static const tpComposition compositions[] = {
    { 3, { 1.35120719195965763405, -1.70241438391931526810, 1.35120719195965763405 } },
    { 9,
      { 0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
        0.08221359629355080023, 0.79854399093482996340, 0.08221359629355080023,
        -0.70624617255763935981, 0.33259913678935943860, 0.39216144400731413928 } },
};
enum { compositionCount = sizeof(compositions) / sizeof(compositions[0]), fewJoints = 16 };

// How long the part at hand is, and whether it is taken in stages.
typedef struct tpPartLength {
    double h;
    bool isStaged; // nothing is near that it could touch
    bool isLong;   // longer than parts that touch something may be
} tpPartLength;

// Whether nothing is near that a part of h seconds could touch. False if memory ran out.
static bool findClear(tpBenderStep* step, double h, bool* isClear) {
    tpSystem* system = step->system;
    tpContact* contacts;
    int count;
    step->time.bodyCount = system->bodyCount;
    step->time.margins = tpSystem_Margins(system, system->velocities.data, NULL, h);
    if (step->time.margins == NULL || !tpStepContacts_Start(step, &contacts, &count)) {
        return false;
    }
    *isClear = count == 0;
    return true;
}

// The length of a part if so much of the step is left. What touches nothing is taken in stages,
// which are of such an order that the part may be longer than others: as long as nothing is near.
static bool chooseLength(tpBenderStep* step, double left, tpPartLength* length) {
    tpSystem* system = step->system;
    double usual = fmin(left, step->longest);
    *length = (tpPartLength){ .h = usual, .isStaged = false, .isLong = false };
    if (!step->settings->isGuarded || !tpSystem_IsReversible(system)) {
        return true;
    }
    double h = fmin(left, fmax(usual, step->longestStaged));
    bool isClear = false;
    for (;; h = fmax(usual, 0.5 * h)) {
        if (!findClear(step, h, &isClear)) {
            return false;
        }
        if (isClear || h <= usual) {
            break;
        }
    }
    *length = (tpPartLength){ .h = h, .isStaged = isClear, .isLong = h > usual };
    // A few joints have the highest order at once: mechanisms are to keep their energy to the last
    // digits.
    step->composition = system->joints.count > fewJoints ? step->composition : compositionCount - 1;
    return true;
}

// Of the budget: what stages may bring a step to.
static const double stagedPart = 1.0;

// The part in stages of which none meets anything. Velocities between them need not be admissible:
// what would make them so acts along the same rows as the impulses of the next stage, which see to
// it that positions are. Where the work of the step comes to its end on the way it is left there:
// `isBroken`.
static bool takeStages(tpBenderStep* step, const tpComposition* composition, double h,
                       double energy, tpTally* tally, bool* isBroken) {
    tpSystem* system = step->system;
    tpContact none;
    double begin = system->time;
    bool isDone = true;
    *isBroken = tpStepBudget_UsedPart(system) >= stagedPart;
    for (int k = 0; isDone && !*isBroken && k < composition->stageCount; ++k) {
        double length = composition->lengths[k] * h;
        step->isStage = k + 1 < composition->stageCount;
        system->carriesRotors = k > 0; // velocities between stages are not admissible
        isDone = tpBenderStep_Drift(step, length, &none, 0) &&
                 (step->isStage ? finishDrift(step) : finishPart(step, energy, tally));
        system->time += length;
        *isBroken = step->isStage && tpStepBudget_UsedPart(system) >= stagedPart;
    }
    step->isStage = false;
    system->carriesRotors = false;
    system->time = begin;
    step->time.h = h;
    return isDone;
}

// Whether bodies overlap by more than they did: the corrections of the drift have found no end.
static bool isTooDeep(const tpBenderStep* step) {
    for (int i = 0; i < step->end.contactCount; ++i) {
        int same = step->match[i];
        double before = same >= 0 ? fmin(0.0, step->start.contacts[same].gap) : 0.0;
        before = fmax(before, -step->overlap); // rows of missed contacts have gaps of their own
        if (step->end.contacts[i].gap < before - overlapSlack * step->system->units.length) {
            return true;
        }
    }
    return false;
}

// Whether the corrections of the drift have left joints so far apart that what brings them together
// afterwards is another motion, whatever it does to the energy.
static bool isTorn(const tpBenderStep* step) {
    return step->start.isSmall && step->jointMiss > tornJoints;
}

static int rowsOf(const tpBenderStep* step) {
    return 1 + step->start.sweeper.jointCount + step->start.contactCount;
}

// Halvings that a step may take: a work budget, of which problems of any size have some.
static int mostHalvings(const tpBenderStep* step) {
    int most = halvedRows / rowsOf(step);
    return most > leastHalvingsAStep ? most : leastHalvingsAStep;
}

// Halvings of a whole that lead to this part of it, or to a shorter one.
static int halvingsOf(double part) {
    int count = 0;
    for (; count < maxHalvings && ldexp(1.0, -count) > part; ++count) {
    }
    return count;
}

// Rises beyond this part of the energy are gross: bodies that turn fast after an impact go through
// radians in parts that are short otherwise.
static const double grossRise = 0.01;

// Whether nothing is left to try against energy that is wrong.
static bool isTriedOut(const tpBenderStep* step, double rise) {
    bool isGross = rise > grossRise * energyScale(step) || isTorn(step);
    return step->time.h <= ldexp(step->duration, isGross ? -grossHalvings : -maxHalvings) ||
           step->halvings >= mostHalvings(step) || !step->settings->isGuarded ||
           !step->end.isSmall || tpStepBudget_IsSpent(step->system);
}

// The part stays: its energy goes into the book, and what was rough may be over.
static void keepPart(tpBenderStep* step, const tpPartEnergy* outcome) {
    if (step->settings->isGuarded) {
        tpEnergyGuard_Take(&step->energy, outcome->rise, outcome->hasCollided);
    }
    step->isSmooth = step->isSmooth && !outcome->hasCollided;
    step->proven = outcome->hasCollided ? step->duration : step->proven;
    double longest = fmin(step->proven, ldexp(step->duration, -step->energy.level));
    if (step->time.h >= step->longest) {
        step->longest = fmin(2.0 * step->longest, fmax(step->longest, longest));
    }
}

// Half of the part is next. What comes after it is hardly smoother, so that parts as long as this
// one are not tried again in the step; but an impact may have made this part the short one. Returns
// the length.
static double halvePart(tpBenderStep* step, const tpPartEnergy* outcome) {
    step->halvings += 1;
    double parts = 2.0 * step->duration / step->time.h;
    step->isSharp = step->isSharp && (step->halvings + parts) * rowsOf(step) < sharpWork;
    if (!outcome->hasCollided) {
        tpEnergyGuard_StartBand(&step->energy);
        step->proven = 0.5 * step->time.h;
    }
    double left = 0.5 * step->time.h;
    step->longest = fmax(left, ldexp(step->duration, -maxHalvings));
    step->level = halvingsOf(step->longest / step->duration);
    tpStepReport_AddNote(step->report, "the energy guard acted");
    return left;
}

bool tpPart_Take(tpBenderStep* step, double left, tpTally* tally) {
    double energy = tpSystem_Energy(step->system) - step->report->externalWork;
    tpTrial start;
    tpPartLength length;
    double power = INFINITY; // by which energy is wrong, W
    if (!chooseLength(step, left, &length) ||
        !tpTrial_Begin(&start, step->system, NULL, step->report)) {
        return false;
    }
    tpTrial_KeepTally(&start, tally);
    tpEnergyGuard_BeginPart(&step->energy, step->system, step->report);
    for (;;) {
        bool isBroken = false;
        bool isDone = length.isStaged
                          ? takeStages(step, &compositions[step->composition], length.h, energy,
                                       tally, &isBroken)
                          : tpFirstImpact_Drift(step, length.h) && finishPart(step, energy, tally);
        if (!isDone) {
            return false;
        }
        if (isBroken) {
            tpTrial_Undo(&start);
            step->found = NULL;
            length = (tpPartLength){ .h = fmin(length.h, step->longest) };
            continue;
        }
        // Something was near the stages after all.
        bool isThrough =
            length.isStaged && deepestOf(step->end.contacts, step->end.contactCount) > 0.0;
        tpPartEnergy outcome = judgeEnergy(step);
        bool isTried = isTriedOut(step, outcome.rise) && !length.isLong;
        bool isRough = length.isStaged && step->composition + 1 < compositionCount &&
                       fabs(outcome.rise) > sharpSlack * energyScale(step);
        bool isWrong = !isTried && (isRough || isEnergyWrong(step, &outcome, &power) ||
                                    isTooDeep(step) || isTorn(step));
        if (!isThrough && !isWrong) {
            keepPart(step, &outcome);
            return true;
        }
        tpTrial_Undo(&start);
        step->found = NULL;
        if (isRough && !isThrough) {
            step->composition += 1;
            power = INFINITY;
        } else if (length.isLong) {
            step->longestStaged = 0.5 * length.h;
            return tpPart_Take(step, left, tally);
        } else if (isThrough) {
            length.isStaged = false;
        } else {
            length.h = halvePart(step, &outcome);
        }
    }
}
