// The energy guard of the symmetric step.
//
// A step whose energy leaves its band (dynamics/energy_guard.h), or whose drift does not settle, is
// taken again: with care; with less restitution; in halves, each of them under the same guard; and
// if the halves are as short as they may be, as in the paper, with linear rows. Those overlap by
// h^2 w^2 r where bodies turn: millimetres in a whole step at 1/60 s, micrometres in its 32nd part.

#include "steppers/anitescu/guard.h"

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/parts.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/anitescu/midpoint.h"

// The shortest parts of a step are its halves of halves of halves. Parts that touch nothing cost
// little: they may be shorter.
enum { maxHalvings = 5, maxFreeHalvings = 7, maxExhausted = 4, restitutionTrials = 10 };

// A drift that has missed gaps by more than this with all care is taken in halves, in units of
// length or rad.
static const double lostGap = 1e-6;

static const char guardNote[] = "the energy guard acted";

typedef struct tpGuard {
    tpSystem* system;
    tpStepperMemory* memory;
    const tpOptions* options;
    tpLastResort lastResort;
    tpMidpointSettings settings;
    bool isGuarded;
    tpEnergyGuard energy;
    double threshold; // of bounces in the whole step, m/s
    bool isScaled;    // it goes with the length of a part
    bool knowsStart;  // whether it is astray
    bool isAstray;    // joints are apart, or beyond their limits, at the start of the step
    double duration;  // of the whole step, s
    bool isLively;    // bounces in this step give much back
    int exhausted;    // parts whose solves have used up the work budget of a step
    tpStepReport* report;
} tpGuard;

// How one try of a part has ended.
typedef struct tpOutcome {
    tpMidpointTrial trial;
    double rise;     // of the energy beyond what is accounted for, J
    bool isRight;    // energy stays in its band
    bool isLocating; // it is too long to say when it bounces
} tpOutcome;

// Whether a part of h seconds is as short as parts may be.
static bool isShortest(const tpGuard* guard, double h, bool isTouched) {
    int halvings = isTouched ? maxHalvings : maxFreeHalvings;
    return h < 1.5 * ldexp(guard->duration, -halvings) || guard->exhausted == maxExhausted ||
           tpStepBudget_IsSpent(guard->system);
}

// What all bodies have if they go the way of an overlap in the whole step, J: more is not needed to
// take it back.
static double energyOfPushOut(const tpGuard* guard, double overlap) {
    const tpSystem* system = guard->system;
    double speed = overlap / guard->system->stepDuration, mass = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        mass += tpSystem_IsDynamic(system, i) ? system->bodies.data[i].mass : 0.0;
    }
    return mass * (0.5 * speed * speed + tpLength(system->gravity) * overlap);
}

static bool tryPart(tpGuard* guard, double restitution, bool isCareful, double h,
                    tpOutcome* outcome) {
    tpMidpointTrial* trial = &outcome->trial;
    guard->settings.restitution = restitution;
    guard->settings.threshold =
        guard->isScaled ? guard->threshold * h / guard->duration : guard->threshold;
    guard->settings.drift.isCareful = isCareful;
    guard->settings.drift.gamma =
        guard->options->values[tp_gammaOption] * tpSystem_ShareOfStep(guard->system, h);
    guard->settings.asksApart = !guard->knowsStart;
    if (!tpMidpoint_Step(guard->system, guard->memory, &guard->settings, h, trial, guard->report)) {
        return false;
    }
    guard->isLively = guard->isLively || trial->isLively;
    if (trial->isForeseen) {
        return true;
    }
    // The first try of a step begins where the step does.
    guard->isAstray =
        guard->knowsStart ? guard->isAstray : trial->apart > guard->report->limits.jointDrift;
    guard->knowsStart = true;
    if (trial->isLost) {
        outcome->rise = INFINITY;
        outcome->isRight = false;
        return true;
    }
    outcome->rise =
        tpEnergyGuard_Rise(&guard->energy, guard->system, guard->report, trial->hasCollided);
    // To put right what overlaps or is apart at the start takes energy: no law of motion made it
    // so.
    bool isAstray = guard->isAstray || (trial->overlap > guard->report->limits.penetration &&
                                        outcome->rise <= energyOfPushOut(guard, trial->overlap));
    outcome->rise = isAstray ? fmin(outcome->rise, 0.0) : outcome->rise;
    outcome->isRight = !guard->isGuarded || isAstray ||
                       tpEnergyGuard_Allows(&guard->energy, outcome->rise, h / guard->duration,
                                            trial->isTouched, trial->hasCollided);
    return true;
}

typedef enum tpGuardVerdict {
    tp_guardAccepts,    // the part is taken
    tp_guardRejects,    // none of the ways will do: the system is at its start
    tp_guardOutOfMemory // the part is not taken
} tpGuardVerdict;

// A bounce that gives energy: looks for the largest factor of the restitution with which the part
// is right. If it is not right without any, the bounce is not the cause.
static tpGuardVerdict lowerRestitution(tpGuard* guard, const tpTrial* start, double h,
                                       tpOutcome* outcome) {
    double low = -1.0, high = 1.0, factor = 0.0;
    for (int k = 0; k < restitutionTrials && (k == 0 || low >= 0.0); ++k) {
        if (k > 0 && tpStepBudget_IsSpent(guard->system)) {
            break;
        }
        if (!tryPart(guard, factor, false, h, outcome)) {
            return tp_guardOutOfMemory;
        }
        low = outcome->isRight ? factor : low;
        high = outcome->isRight ? high : factor;
        factor = 0.5 * (low + high);
        tpTrial_Undo(start);
    }
    if (low < 0.0) {
        return tp_guardRejects;
    }
    return tryPart(guard, low, false, h, outcome) ? tp_guardAccepts : tp_guardOutOfMemory;
}

// A part in one piece. `isLast`: it cannot be halved any more.
static tpGuardVerdict takeWhole(tpGuard* guard, const tpTrial* start, double h, bool isLast,
                                tpOutcome* outcome) {
    for (int isCareful = 0; isCareful < 2; ++isCareful) {
        guard->settings.drift.strikes.areSought = !isShortest(guard, h, false);
        bool isDone = tryPart(guard, 1.0, isCareful, h, outcome);
        guard->settings.drift.strikes.areSought = false;
        if (!isDone) {
            return tp_guardOutOfMemory;
        }
        // A bounce happens where a part ends: only a short part says when.
        if (outcome->trial.isForeseen ||
            (outcome->trial.mayBounce && !isShortest(guard, h, false))) {
            tpTrial_Undo(start);
            outcome->isLocating = true;
            return tp_guardRejects;
        }
        // The last resort may overlap: a small rise is better than that.
        bool isSmall = isLast && outcome->rise <= guard->energy.budget * h / guard->duration;
        outcome->isRight = outcome->isRight || isSmall;
        // If rims and edges roll, the drift may not settle but with care.
        double miss = outcome->trial.miss;
        bool isLost = isCareful ? miss > lostGap && !isLast
                                : miss > tpClosedGap && tpSystem_HasWorkLeft(guard->system);
        if (outcome->isRight && !isLost) {
            return tp_guardAccepts;
        }
        tpTrial_Undo(start);
        if (!outcome->isRight) {
            tpStepReport_AddNote(guard->report, guardNote);
        }
        // Care is for contacts.
        if (!outcome->trial.isTouched && !isLast) {
            break;
        }
    }
    bool mayLower = outcome->trial.bounces && !outcome->isRight;
    return mayLower ? lowerRestitution(guard, start, h, outcome) : tp_guardRejects;
}

// The rest of a step that has cost what it may. If bounces give much back, one symmetric part keeps
// what the paper's step, whose bounces come a step later, would lose.
static tpGuardVerdict takeRest(tpGuard* guard, const tpTrial* start, double h, tpOutcome* outcome) {
    if (!guard->isLively) {
        return tp_guardRejects;
    }
    if (!tryPart(guard, 1.0, false, h, outcome)) {
        return tp_guardOutOfMemory;
    }
    if (outcome->trial.isLively && outcome->isRight && outcome->trial.miss <= lostGap) {
        return tp_guardAccepts;
    }
    tpTrial_Undo(start);
    return tp_guardRejects;
}

// The paper's own step, which loses energy where the symmetric one would gain some.
static bool takeLastResort(tpGuard* guard, double h, tpOutcome* outcome) {
    tpSystem* system = guard->system;
    tpStepReport* report = guard->report;
    // It looks at the energy of the part alone.
    double kinetic = report->kineticBefore, potential = report->potentialBefore;
    double work = report->externalWork;
    report->kineticBefore = tpSystem_KineticEnergy(system);
    report->potentialBefore = tpSystem_PotentialEnergy(system);
    report->externalWork = 0.0;
    bool isDone = guard->lastResort(system, guard->memory, guard->options,
                                    guard->settings.threshold, h, report);
    report->kineticBefore = kinetic;
    report->potentialBefore = potential;
    report->externalWork += work;
    if (!isDone) {
        return false;
    }
    outcome->rise = tpEnergyGuard_Rise(&guard->energy, system, report, outcome->trial.hasCollided);
    return true;
}

// How a part of the step has gone.
typedef struct tpPartResult {
    bool isTaken;    // otherwise it has to be halved
    bool isRight;    // energy has stayed in its band
    bool isSmooth;   // nothing has collided
    bool isLocating; // it is to be halved to say when it bounces
    bool isRefused;  // it was taken as in the paper
} tpPartResult;

// Takes a part of h seconds in one piece, or as in the paper if it may not be halved.
static bool takePart(tpGuard* guard, double h, tpPartResult* result) {
    tpSystem* system = guard->system;
    // Half a step has a work budget of its own, but not so often that crowds never end.
    system->solveWork = 0.0;
    tpEnergyGuard_BeginPart(&guard->energy, system, guard->report);
    tpTrial start;
    tpOutcome outcome = { .isLocating = false };
    if (!tpTrial_Begin(&start, system, &guard->memory->history, guard->report)) {
        return false;
    }
    bool isLast = isShortest(guard, h, true);
    bool isHopeless = h == guard->duration && tpEnergyGuard_IsHopeless(&guard->energy);
    tpGuardVerdict verdict = tp_guardRejects;
    if (isHopeless) {
        tpStepReport_AddNote(guard->report, guardNote);
    } else {
        // Once the step has cost what it may, its rest is taken at once.
        verdict = tpStepBudget_IsSpent(system) ? takeRest(guard, &start, h, &outcome)
                                               : takeWhole(guard, &start, h, isLast, &outcome);
    }
    guard->exhausted += tpSystem_HasWorkLeft(system) ? 0 : 1;
    *result = (tpPartResult){ .isTaken = verdict == tp_guardAccepts,
                              .isRight = verdict == tp_guardAccepts && outcome.isRight,
                              .isSmooth = !outcome.trial.hasCollided,
                              .isLocating = outcome.isLocating };
    if (verdict == tp_guardRejects && !outcome.isLocating &&
        (isHopeless || isShortest(guard, h, outcome.trial.isTouched))) {
        result->isTaken = result->isRefused = true;
        if (!takeLastResort(guard, h, &outcome)) {
            return false;
        }
    }
    if (result->isTaken) {
        tpEnergyGuard_Take(&guard->energy, outcome.rise, outcome.trial.hasCollided);
    }
    return verdict != tp_guardOutOfMemory;
}

// The step in parts of its 2^level-th, shorter ones where these are too long. The rest of a step is
// no smoother: what was too long once is not tried again in it.
static bool takeParts(tpGuard* guard, int level, tpPartResult whole) {
    tpSystem* system = guard->system;
    double begin = system->time;
    tpParts parts;
    bool isDone = tpParts_Begin(&parts, system, guard->duration);
    int count = 0, all = 1 << maxFreeHalvings; // parts; the step's duration in its shortest parts
    bool isRight = true, isSmooth = whole.isSmooth;
    int usual = whole.isLocating ? level - 1 : level; // halvings but for looking for a bounce
    int located = whole.isLocating ? all : 0;         // until when one is looked for
    for (int taken = 0; isDone && taken < all;) {
        tpPartResult part;
        bool isEnding = tpStepBudget_IsSpent(system);
        int length = isEnding ? all - taken : all >> level;
        double longest = length * ldexp(guard->duration, -maxFreeHalvings);
        system->time = begin + taken * ldexp(guard->duration, -maxFreeHalvings);
        tpArenaMark mark = tpArena_Mark(&system->arena);
        isDone = takePart(guard, longest, &part);
        isSmooth = isSmooth && part.isSmooth;
        if (isDone && part.isTaken) {
            isDone = tpParts_Add(&parts, longest, &mark);
            isRight = isRight && part.isRight;
            taken += length;
            count += 1;
            // It has bounced, or does not: on with parts as long as they were, where these begin.
            located = part.isSmooth && taken < located ? located : 0;
            for (level = located > 0 ? level : usual; taken % (all >> level) != 0; ++level) {
            }
        } else {
            if (part.isLocating) {
                located = located > 0 ? located : taken + length;
            } else if (located == 0) {
                usual = level + 1;
            }
            level += 1;
            if (part.isSmooth) {
                tpEnergyGuard_StartBand(&guard->energy);
            }
        }
    }
    // The next steps begin with parts as long as have been right in this one.
    if (isRight && isSmooth && usual <= maxHalvings) {
        tpEnergyGuard_RaiseLevel(&guard->energy, usual);
    }
    system->time = begin;
    guard->report->substepCount = count;
    return isDone && tpParts_List(&parts, guard->report);
}

// Of the largest speed: approaches that are rounding, and those that are worth locating without
// restitution.
static const double leastPart = 1e-6, hardPart = 0.02;

static double largestSpeed(const tpSystem* system) {
    double speed = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            speed = fmax(speed, tpVelocity_LargestSpeed(system, i, &system->velocities.data[i]));
        }
    }
    return speed;
}

bool tpGuard_Step(tpSystem* system, tpStepperMemory* memory, const tpOptions* options,
                  double threshold, double h, tpLastResort lastResort, tpStepReport* report) {
    tpGuard guard = { .system = system,
                      .memory = memory,
                      .options = options,
                      .lastResort = lastResort,
                      .settings = { .drift = { .solve = tpSolveSettings_FromOptions(options),
                                               .mayGiveUp = true },
                                    .threshold = threshold },
                      .threshold = threshold,
                      .isScaled = options->values[tp_restitutionThresholdOption] < 0.0,
                      .isGuarded = options->values[tp_energyGuardOption] != 0.0,
                      .duration = h,
                      .report = report };
    // Hard impacts are faster than what gravity gives in a quarter of the step. Without gravity
    // parts of the speeds count.
    double speed = largestSpeed(system);
    double least = guard.isScaled ? ldexp(threshold, -maxFreeHalvings) : threshold;
    guard.settings.drift.strikes.least = fmax(least, leastPart * speed);
    guard.settings.drift.strikes.hard = fmax(0.125 * threshold, hardPart * speed);
    tpEnergyGuard_Begin(&guard.energy, &memory->book, system, h, report);
    int level = guard.isGuarded ? guard.energy.level : 0;
    tpPartResult whole = { .isSmooth = true };
    bool isDone = true;
    if (level == 0) {
        isDone = takePart(&guard, h, &whole);
        level = 1;
        if (!whole.isTaken && whole.isSmooth) {
            tpEnergyGuard_StartBand(&guard.energy);
        }
    }
    tpEnergyGuard_NoteRefused(&guard.energy, whole.isRefused && whole.isSmooth);
    isDone = isDone && (whole.isTaken || takeParts(&guard, level, whole));
    tpEnergyGuard_End(&guard.energy);
    return isDone;
}
