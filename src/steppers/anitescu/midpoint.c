// A symmetric step: half a kick, constrained drift, half a kick, constrained velocities.
//
// Deviation from the paper: (4.11) is solved twice a step, once for impulses that keep the positions at
// the end of the drift admissible, with geometry and inertia of the start, and once for those that keep
// the velocities at the end admissible, with geometry and inertia of the end:
//
//     v' = v + (h/2) M^-1 f(q) + M^-1 J(q)' r1,      gap(q1) >= 0, Theta(q1) = 0,  q1 = drift(q, v', h)
//     v1 = v' + (h/2) M^-1 f(q1) + M^-1 J(q1)' r2,   n . v1 >= -e n . v at closed contacts, nu . v1 = 0
//
// Without contacts this is RATTLE [Andersen83], of second order, and the drift of a free body is exact.
// In the second problem it is the sum r1 + r2 of a contact that lies in the friction cone. Were r2 to push
// alone, whatever r1 gives to hold a position would stay as energy. steppers/drift.c has the first problem.
// Restitution acts in the step of the collision, on the approach velocity before it, as (4.10) does one
// step later.

#include "steppers/anitescu/midpoint.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "steppers/drift.h"

typedef struct tpMidpointSettings {
    tpDriftSettings drift;
    double threshold;   // approaches slower than this do not bounce, m/s
    double restitution; // factor of the restitution, 1 unless the energy guard lowers it
} tpMidpointSettings;

// The guard lets energy rise by this part of the energy: rounding and the tolerance of the solves.
static const double guardSlack = 1e-10;

// What joints and free motion do only swings about its mean, as with all symmetric integrators: by less than this
// part a step of the kinetic energy (where bodies turn back, of what gravity gives them in a few steps). More is another
// end of the drift than the near one; in collisions, the work of joints that hold positions.
static const double freeSwing = 0.1, touchedSwing = 1e-3;

// Rows on the velocities at the end, for what is closed there.
static bool addVelocityRows(tpTimeStep* step, const tpTally* first,
                            const tpVelocity* startVelocities, const tpMidpointSettings* settings) {
    bool bounces = false;
    int cursor = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactInfo* info = tpTally_Find(first, contact, &cursor);
        bool hasPushed = info != NULL && info->normalImpulse > 0.0;
        if (contact->gap > tpClosedGap && !hasPushed) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, step->system, step->system->poses.data, contact,
                                      i, &step->laws[i], 0.0);
        int row = step->rows.firstRows[block];
        double approach =
            tpRows_RowVelocity(&step->rows, row, startVelocities, contact->bodyA, contact->bodyB);
        if (approach < -settings->threshold && step->laws[i].restitution > 0.0) {
            step->rows.bias[row] = settings->restitution * step->laws[i].restitution * approach;
            bounces = true;
        }
    }
    tpJointTreatment treatment = { step->h, 0.0, NULL, 0.5 * step->h };
    tpJoints_AddHalfRows(&step->rows, step->system, step->system->poses.data, &treatment,
                         tp_secondHalf);
    return bounces;
}

// The impulses of the first problem, in the frames of the second one's contacts; none in its joints.
static double* firstImpulses(const tpTimeStep* step, const tpTally* first) {
    const tpRows* rows = &step->rows;
    double* impulses = TP_SCRATCH_ZEROED(&step->system->arena, double, rows->rowCount);
    int cursor = 0;
    for (int b = 0; impulses != NULL && b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        int index = rows->infos[b].index;
        const tpContactInfo* info = tpTally_Find(first, &step->contacts[index], &cursor);
        if (info == NULL || !(info->normalImpulse > 0.0)) {
            continue;
        }
        double* own = impulses + rows->firstRows[b];
        own[0] = info->normalImpulse;
        for (int k = 1; k < rows->dimensions[b] && k < 3; ++k) {
            own[k] = tpDot(info->frictionImpulse, step->laws[index].tangents[k - 1]);
        }
        if (rows->dimensions[b] == 4) {
            own[3] = info->torsionalImpulse;
        }
    }
    return impulses;
}

// Second problem, for the sum of both impulses of each contact: r1 is taken back, r1 + r2 is sought in its
// place, and r2 is what remains in the rows. `before` are the velocities after the second kick.
static bool solveVelocities(tpTimeStep* step, const tpTally* first, tpVelocity* before,
                            tpStepperMemory* memory, const tpMidpointSettings* settings,
                            tpStepReport* report) {
    tpRows* rows = &step->rows;
    double* taken = firstImpulses(step, first);
    tpVelocity* without = TP_SCRATCH(&step->system->arena, tpVelocity, step->bodyCount);
    if (taken == NULL || without == NULL) {
        return false;
    }
    if (step->bodyCount > 0) {
        memcpy(without, before, sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] = -taken[k];
    }
    tpRows_ApplyImpulses(rows, without);
    step->freeVelocities = step->freeMoves = without;
    tpTimeStep_SetFreeVelocities(step);
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] = 0.0;
    }
    tpTimeStep_WarmStart(step, &memory->history, 1.0);
    if (!tpRows_Solve(rows, step->system, memory->solver, &settings->drift.solve, report)) {
        return false;
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        rows->impulse[k] -= taken[k];
    }
    return true;
}

// The energy that contacts have given: work of their impulses between the velocities before and after, less
// what moving bodies put in. `late` is a kick that came before the impulses while the drift it belongs to came after:
// of the potential energy that the impulses raise, the kick has paid nothing (NULL: none).
static double energyGiven(const tpTimeStep* step, const tpVelocity* before, const tpVelocity* after,
                          const tpVelocity* late) {
    const tpRows* rows = &step->rows;
    double given = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource) {
            continue;
        }
        const tpContact* contact = &step->contacts[rows->infos[b].index];
        int a = contact->bodyA, c = contact->bodyB;
        int drivenA = tpSystem_IsDynamic(step->system, a) ? -1 : a;
        int drivenB = tpSystem_IsDynamic(step->system, c) ? -1 : c;
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double speed = 0.5 * (tpRows_RowVelocity(rows, row, before, a, c) +
                                  tpRows_RowVelocity(rows, row, after, a, c));
            speed -= tpRows_RowVelocity(rows, row, after, drivenA, drivenB);
            if (late != NULL) {
                speed -= tpRows_RowVelocity(rows, row, before, a, c) -
                         tpRows_RowVelocity(rows, row, late, a, c);
            }
            given += rows->impulse[row] * speed;
        }
    }
    return given;
}

static bool isPushed(const tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource && rows->impulse[rows->firstRows[b]] > 0.0) {
            return true;
        }
    }
    return false;
}

// What one try of the step was like.
typedef struct tpTrial {
    bool bounces;
    double miss;    // of the drift, m or rad
    double given;   // energy from contacts, J
    bool isTouched; // contacts have pushed
} tpTrial;

// One step; leaves the system at its end.
static bool stepOnce(tpSystem* system, tpStepperMemory* memory, const tpMidpointSettings* settings,
                     double h, tpTrial* trial, tpStepReport* report) {
    tpTimeStep step;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    // The careful step has the whole kick before the drift: what it dissipates is |v1 - v|^2 / 2, and more.
    double kick = settings->drift.isCareful ? h : 0.5 * h;
    if (!tpTimeStep_Begin(&step, system, h, kick, report)) {
        return false;
    }
    step.isFlightExact = settings->drift.isCareful;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    if (before == NULL) {
        return false;
    }
    tpTally tally = { NULL, 0 };
    if (!tpDrift_Solve(&step, memory, &settings->drift, &trial->miss, report) ||
        !tpTimeStep_Tally(&step, &tally)) {
        return false;
    }
    tpTimeStep_AccountEnergy(&step, report);
    tpJoints_StoreReactions(system, &step.rows, h);
    trial->given = energyGiven(&step, step.kicked, step.pushed, step.startVelocities);
    trial->isTouched = isPushed(&step);

    // The second half: the system is at the end of the drift.
    report->externalWork += tpSystem_KickWithoutSprings(system, system->time + kick, h - kick);
    tpJoints_KickSprings(system, &step.rows, step.moves, h, report);
    if (bytes > 0) {
        memcpy(before, system->velocities.data, bytes);
    }
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, step.margins, &contacts, &count) !=
            tp_success ||
        !tpTimeStep_UseContacts(&step, contacts, count)) {
        return false;
    }
    trial->bounces = addVelocityRows(&step, &tally, step.startVelocities, settings);
    if (!solveVelocities(&step, &tally, before, memory, settings, report)) {
        return false;
    }
    tpRows_ApplyImpulses(&step.rows, system->velocities.data);
    tpRows_AccountEnergy(&step.rows, system, before, system->velocities.data, step.contacts,
                         report);
    tpJoints_AddReactions(system, &step.rows, h);
    trial->given += energyGiven(&step, before, system->velocities.data, NULL);
    trial->isTouched = trial->isTouched || isPushed(&step);
    return tpTimeStep_Tally(&step, &tally) &&
           tpTimeStep_Report(&step, &tally, memory->solver, &memory->history, report);
}

// The state that a step changes, to try it again.
typedef struct tpAttempt {
    tpPose* poses;
    tpVelocity* velocities;
    tpContactMemory* history;
    int historyCount;
} tpAttempt;

static bool keepState(tpSystem* system, const tpStepperMemory* memory, tpAttempt* kept) {
    size_t bodies = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    kept->historyCount = memory->history.list.count;
    kept->history = TP_SCRATCH(&system->arena, tpContactMemory, kept->historyCount);
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(kept->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(kept->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    if (kept->historyCount > 0) {
        memcpy(kept->history, memory->history.list.data,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
    return true;
}

static void goBack(tpSystem* system, tpStepperMemory* memory, const tpAttempt* kept) {
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, kept->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, kept->velocities, sizeof(tpVelocity) * bodies);
    }
    // There was room for as many before.
    memory->history.list.count = kept->historyCount;
    if (kept->historyCount > 0) {
        memcpy(memory->history.list.data, kept->history,
               sizeof(tpContactMemory) * (size_t)kept->historyCount);
    }
}

// Undoes the step and starts its report afresh; what the attempt has cost stays in it.
static void retreat(tpSystem* system, tpStepperMemory* memory, const tpAttempt* kept,
                    const tpStepReport* start, tpStepReport* report) {
    int solves = report->solveCount, iterations = report->iterationCount;
    goBack(system, memory, kept);
    *report = *start;
    report->solveCount = solves;
    report->iterationCount = iterations;
}

static double energyRise(const tpSystem* system, const tpStepReport* report) {
    return tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) -
           (report->kineticBefore + report->potentialBefore + report->externalWork);
}

// The kinetic energy, and where bodies turn back what gravity gives them in a few steps.
static double swingScale(const tpSystem* system, double h) {
    double mass = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        mass += tpSystem_IsDynamic(system, i) ? system->bodies.data[i].mass : 0.0;
    }
    return tpSystem_KineticEnergy(system) + 10.0 * mass * h * h * tpLengthSquared(system->gravity);
}

// Whether a rise of the energy is one that the guard has to act on.
static bool isGain(const tpSystem* system, const tpTrial* tried, double rise, double allowed,
                   double h, const tpStepReport* report) {
    if (!(rise > allowed) || tried->given > allowed) {
        return rise > allowed;
    }
    // Impulses of a problem that was not solved may be anything, those of joints too.
    double swing = tried->isTouched || !report->converged ? touchedSwing : freeSwing;
    return rise > swing * swingScale(system, h);
}

// All that the tries of one step have in common.
typedef struct tpGuard {
    tpSystem* system;
    tpStepperMemory* memory;
    tpMidpointSettings settings;
    double h;
    tpAttempt kept;
    tpStepReport start;
    double allowed; // rise of the energy, J
} tpGuard;

// Tries the step from its start with a factor of the restitution.
static bool tryAgain(tpGuard* guard, double restitution, tpTrial* trial, tpStepReport* report) {
    retreat(guard->system, guard->memory, &guard->kept, &guard->start, report);
    guard->settings.restitution = restitution;
    return stepOnce(guard->system, guard->memory, &guard->settings, guard->h, trial, report);
}

// In a collision the joints have their part in the energy too: looks for the largest factor of the
// restitution with which it does not rise. Where it does without any, the bounce is not the cause.
static bool lowerRestitution(tpGuard* guard, tpStepReport* report) {
    double low = -1.0, high = 1.0, factor = 0.0;
    tpTrial trial;
    for (int k = 0; k < 16 && (k == 0 || low >= 0.0); ++k) {
        if (!tryAgain(guard, factor, &trial, report)) {
            return false;
        }
        bool isFine = energyRise(guard->system, report) <= guard->allowed;
        low = isFine ? factor : low;
        high = isFine ? high : factor;
        factor = 0.5 * (low + high);
    }
    bool isFound = low >= 0.0;
    if (!tryAgain(guard, isFound ? low : 1.0, &trial, report)) {
        return false;
    }
    report->note = isFound ? "the energy guard acted" : report->note;
    return true;
}

tpGuardVerdict tpMidpoint_GuardedStep(tpSystem* system, tpStepperMemory* memory,
                                      const tpOptions* options, double threshold, double h,
                                      tpStepReport* report) {
    bool isGuarded = options->values[tp_energyGuardOption] != 0.0;
    tpGuard guard = { .system = system,
                      .memory = memory,
                      .settings = { .drift = { .solve = tpSolveSettings_FromOptions(options),
                                               .gamma = options->values[tp_gammaOption] },
                                    .threshold = threshold },
                      .h = h,
                      .start = *report };
    guard.allowed = guardSlack * (fabs(report->kineticBefore) + fabs(report->potentialBefore));
    if (!keepState(system, memory, &guard.kept)) {
        return tp_guardOutOfMemory;
    }
    // As it is; with care; with less restitution.
    static const double factors[] = { 1.0, 1.0, 0.5, 0.0 };
    for (int trial = 0; trial < 4; ++trial) {
        tpTrial tried;
        guard.settings.drift.isCareful = trial > 0;
        guard.settings.restitution = factors[trial];
        if (!stepOnce(system, memory, &guard.settings, h, &tried, report)) {
            return tp_guardOutOfMemory;
        }
        double rise = energyRise(system, report);
        bool isRising = isGuarded && isGain(system, &tried, rise, guard.allowed, h, report);
        // Where rims and edges roll, the drift may not settle but with care.
        bool isLost = trial == 0 && tried.miss > tpClosedGap && tpSystem_HasMeans(system);
        if (!isRising && !isLost) {
            bool risesInCollision = isGuarded && tried.bounces && rise > guard.allowed;
            bool isDone = !risesInCollision || lowerRestitution(&guard, report);
            return isDone ? tp_guardAccepts : tp_guardOutOfMemory;
        }
        retreat(system, memory, &guard.kept, &guard.start, report);
        report->note = isRising ? "the energy guard acted" : report->note;
        if (trial > 0 && !tried.bounces) {
            break; // restitution is not the cause
        }
    }
    return tp_guardRejects;
}
