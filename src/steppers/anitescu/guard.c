// The energy guard of the symmetric step.
//
// A step that gains energy, or whose drift does not settle, is taken again: with care; with less restitution;
// in halves, each of them under the same guard; and where the halves are as short as they may be, as in the
// paper, with linear rows. Those overlap by h^2 w^2 r where bodies turn: millimetres in a whole step at 1/60 s,
// micrometres in its 32nd part.

#include "steppers/anitescu/guard.h"

#include <string.h>

#include "dynamics/contacts.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "steppers/anitescu/midpoint.h"

// The shortest parts of a step are its halves of halves of halves...
enum { maxHalvings = 5, maxDrains = 4 };

// The guard lets energy rise by this part of the energy: rounding and the tolerance of the solves.
// A step that has been halved may have more: what contacts give and take as bodies roll on them swings too, by
// h^3 a part.
static const double guardSlack = 1e-10, partSlack = 1e-8;

// What joints and free motion do only swings about its mean, as with all symmetric integrators: by less than this
// part a step of the kinetic energy (where bodies turn back, of what gravity gives them in a few steps). More is another
// end of the drift than the near one, a step too long for how fast joints turn, or in collisions the work of joints that
// hold positions.
static const double largestSwing = 1e-3;

// A drift that has missed gaps by more than this with all care is taken in halves, m or rad.
static const double lostGap = 1e-6;

// The state that a step changes, to try it again.
typedef struct tpAttempt {
    tpPose* poses;
    tpVelocity* velocities;
    tpContactMemory* history;
    int historyCount;
    tpStepReport report;
    tpArenaMark mark; // scratch memory behind it is that of a try
} tpAttempt;

typedef struct tpGuard {
    tpSystem* system;
    tpStepperMemory* memory;
    const tpOptions* options;
    tpLastResort lastResort;
    tpMidpointSettings settings;
    bool isGuarded;
    bool isReversible; // energy can fall in contacts only
    double duration;   // of the whole step, s
    int drains;        // parts whose solves have taken all the means of a step
    tpStepReport* report;
} tpGuard;

static bool keepState(tpGuard* guard, tpAttempt* kept) {
    tpSystem* system = guard->system;
    size_t bodies = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    kept->historyCount = guard->memory->history.list.count;
    kept->history = TP_SCRATCH(&system->arena, tpContactMemory, kept->historyCount);
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(kept->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(kept->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    if (kept->historyCount > 0) {
        memcpy(kept->history, guard->memory->history.list.data,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
    kept->report = *guard->report;
    kept->mark = tpArena_Mark(&system->arena);
    return true;
}

// Undoes the try and starts its report afresh; what it has cost stays in it.
static void goBack(tpGuard* guard, const tpAttempt* kept) {
    tpSystem* system = guard->system;
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, kept->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, kept->velocities, sizeof(tpVelocity) * bodies);
    }
    // There was room for as many before.
    guard->memory->history.list.count = kept->historyCount;
    if (kept->historyCount > 0) {
        memcpy(guard->memory->history.list.data, kept->history,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
    int solves = guard->report->solveCount, iterations = guard->report->iterationCount;
    *guard->report = kept->report;
    guard->report->solveCount = solves;
    guard->report->iterationCount = iterations;
    tpArena_Release(&system->arena, kept->mark);
}

static double energyRise(const tpGuard* guard) {
    const tpStepReport* report = guard->report;
    return tpSystem_KineticEnergy(guard->system) + tpSystem_PotentialEnergy(guard->system) -
           (report->kineticBefore + report->potentialBefore + report->externalWork);
}

static double allowedRise(const tpGuard* guard, double h) {
    double slack = h < guard->duration ? partSlack * h / guard->duration : guardSlack;
    return slack * (fabs(guard->report->kineticBefore) + fabs(guard->report->potentialBefore));
}

// The kinetic energy, and where bodies turn back what gravity gives them in a few steps.
static double swingScale(const tpSystem* system, double h) {
    double mass = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        mass += tpSystem_IsDynamic(system, i) ? system->bodies.data[i].mass : 0.0;
    }
    return tpSystem_KineticEnergy(system) + 10.0 * mass * h * h * tpLengthSquared(system->gravity);
}

// Whether a rise of the energy is one that the guard has to act on. `isLast`: shorter parts cannot be had.
static bool isWrong(const tpGuard* guard, const tpMidpointTrial* tried, double rise, double h,
                    bool isLast) {
    double allowed = allowedRise(guard, h);
    if (!guard->isGuarded || (rise > allowed && tried->given > allowed)) {
        return guard->isGuarded;
    }
    // What has been taken at one time and is not given back at another would be lost.
    bool mayFall = tried->isTouched || isLast || !guard->isReversible;
    return (mayFall ? rise : fabs(rise)) >
           fmax(allowed, largestSwing * swingScale(guard->system, h));
}

static bool tryPart(tpGuard* guard, double restitution, double h, tpMidpointTrial* trial) {
    guard->settings.restitution = restitution;
    return tpMidpoint_Step(guard->system, guard->memory, &guard->settings, h, trial, guard->report);
}

// In a collision the joints have their part in the energy too: looks for the largest factor of the
// restitution with which it does not rise. Where it does without any, the bounce is not the cause.
static bool lowerRestitution(tpGuard* guard, const tpAttempt* kept, double h) {
    double low = -1.0, high = 1.0, factor = 0.0;
    tpMidpointTrial trial;
    for (int k = 0; k < 16 && (k == 0 || low >= 0.0); ++k) {
        goBack(guard, kept);
        if (!tryPart(guard, factor, h, &trial)) {
            return false;
        }
        bool isFine = energyRise(guard) <= allowedRise(guard, h);
        low = isFine ? factor : low;
        high = isFine ? high : factor;
        factor = 0.5 * (low + high);
    }
    bool isFound = low >= 0.0;
    goBack(guard, kept);
    if (!tryPart(guard, isFound ? low : 1.0, h, &trial)) {
        return false;
    }
    if (isFound) {
        tpStepReport_AddNote(guard->report, "the energy guard acted");
    }
    return true;
}

typedef enum tpGuardVerdict {
    tp_guardAccepts,    // the part is taken
    tp_guardRejects,    // energy would rise, whatever the restitution: the system is at its start
    tp_guardOutOfMemory // the part is not taken
} tpGuardVerdict;

// A part in one piece. `isLast`: it cannot be halved any more.
static tpGuardVerdict takeWhole(tpGuard* guard, const tpAttempt* kept, double h, bool isLast) {
    // As it is; with care; with less restitution.
    static const double factors[] = { 1.0, 1.0, 0.5, 0.0 };
    for (int trial = 0; trial < 4; ++trial) {
        tpMidpointTrial tried;
        guard->settings.drift.isCareful = trial > 0;
        if (!tryPart(guard, factors[trial], h, &tried)) {
            return tp_guardOutOfMemory;
        }
        double rise = energyRise(guard);
        bool isRising = isWrong(guard, &tried, rise, h, isLast);
        // Where rims and edges roll, the drift may not settle but with care.
        bool isLost = trial == 0 ? tried.miss > tpClosedGap && tpSystem_HasMeans(guard->system)
                                 : tried.miss > lostGap && !isLast;
        if (!isRising && !isLost) {
            bool risesInCollision =
                guard->isGuarded && tried.bounces && rise > allowedRise(guard, h);
            bool isDone = !risesInCollision || lowerRestitution(guard, kept, h);
            return isDone ? tp_guardAccepts : tp_guardOutOfMemory;
        }
        goBack(guard, kept);
        if (isRising) {
            tpStepReport_AddNote(guard->report, "the energy guard acted");
        }
        // Care is for contacts, less restitution for bounces.
        if (trial > 0 ? !tried.bounces : !tried.isTouched && !isLast) {
            break;
        }
    }
    return tp_guardRejects;
}

// What the parts of a step have done together.
typedef struct tpParts {
    tpTally tally;     // impulses of contacts
    double* reactions; // of joints, means over the whole step
    double* last;      // those of the last part
    int reactionCount;
} tpParts;

// Adds what a part of h seconds has left: its contacts, and reactions of joints that are means over it.
static bool gatherPart(tpGuard* guard, double h, tpParts* parts) {
    tpSystem* system = guard->system;
    double share = h / guard->duration;
    tpJoints_ReadReactions(system, parts->last);
    for (int i = 0; i < parts->reactionCount; ++i) {
        parts->reactions[i] += share * parts->last[i];
    }
    tpJoints_WriteReactions(system, parts->reactions);
    return tpTally_Merge(&parts->tally, system->contacts.data, system->contacts.count,
                         &system->arena);
}

// Takes a part of h seconds in one piece, or as in the paper where it may not be halved. `isTaken` is false
// where it has to be halved.
static bool takePart(tpGuard* guard, double h, bool* isTaken) {
    tpSystem* system = guard->system;
    tpStepReport* report = guard->report;
    // The account of the part alone, for those who look at the energy in it.
    double kinetic = report->kineticBefore, potential = report->potentialBefore;
    double work = report->externalWork;
    report->kineticBefore = tpSystem_KineticEnergy(system);
    report->potentialBefore = tpSystem_PotentialEnergy(system);
    report->externalWork = 0.0;
    // Half a step has means of its own, but not so often that crowds never end.
    bool isLast = h < 1.5 * ldexp(guard->duration, -maxHalvings) || guard->drains == maxDrains;
    system->solveWork = 0.0;
    tpAttempt kept;
    tpGuardVerdict verdict =
        keepState(guard, &kept) ? takeWhole(guard, &kept, h, isLast) : tp_guardOutOfMemory;
    *isTaken = verdict != tp_guardRejects || isLast;
    guard->drains += tpSystem_HasMeans(system) ? 0 : 1;
    bool isDone = verdict != tp_guardOutOfMemory;
    if (verdict == tp_guardRejects && *isTaken) {
        // The paper's own step loses energy where the symmetric one would gain some.
        isDone = guard->lastResort(system, guard->memory, guard->options, guard->settings.threshold,
                                   h, report);
    }
    report->kineticBefore = kinetic;
    report->potentialBefore = potential;
    report->externalWork += work;
    return isDone;
}

// The whole step in parts, of which the first has been found too long. The rest of the step is no smoother:
// what was too long once is not tried again.
static bool takeParts(tpGuard* guard) {
    tpSystem* system = guard->system;
    double begin = system->time, longest = 0.5 * guard->duration;
    int numbers = tpJoints_ReactionCount(system);
    tpParts parts = { .reactions = TP_SCRATCH_ZEROED(&system->arena, double, numbers),
                      .last = TP_SCRATCH(&system->arena, double, numbers),
                      .reactionCount = numbers };
    bool isDone = !system->arena.failed;
    int count = 0, shortest = 1 << maxHalvings; // parts and time in the shortest parts
    for (int taken = 0, length = shortest / 2; isDone && taken < shortest;) {
        bool isTaken;
        system->time = begin + taken * ldexp(guard->duration, -maxHalvings);
        isDone = takePart(guard, longest, &isTaken);
        if (isDone && isTaken) {
            isDone = gatherPart(guard, longest, &parts);
            taken += length;
            count += 1;
        } else {
            longest *= 0.5;
            length /= 2;
        }
    }
    system->time = begin;
    guard->report->substepCount = count;
    double* margins =
        isDone ? tpSystem_Margins(system, system->velocities.data, NULL, guard->duration) : NULL;
    return margins != NULL && tpTally_List(&parts.tally, system, margins, guard->report);
}

bool tpGuard_Step(tpSystem* system, tpStepperMemory* memory, const tpOptions* options,
                  double threshold, double h, tpLastResort lastResort, tpStepReport* report) {
    tpGuard guard = { .system = system,
                      .memory = memory,
                      .options = options,
                      .lastResort = lastResort,
                      .settings = { .drift = { .solve = tpSolveSettings_FromOptions(options),
                                               .gamma = options->values[tp_gammaOption] },
                                    .threshold = threshold },
                      .isGuarded = options->values[tp_energyGuardOption] != 0.0,
                      .isReversible = tpSystem_IsReversible(system),
                      .duration = h,
                      .report = report };
    bool isTaken;
    return takePart(&guard, h, &isTaken) && (isTaken || takeParts(&guard));
}
