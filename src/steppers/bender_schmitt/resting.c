// Resting contacts during the step [BenderSchmitt06, sec. 3.2].
//
// The impulse of a resting contact is the one after which its points, moved to t0 + h, do not
// overlap: p_n = d_n(t0 + h) / (h n'Kn), (8), iterated over all contacts. The sweeps work on the
// linear part of that, h (u_n + bias); what the motion of the points adds to it (they turn with
// their bodies, (7), and bodies tumble) is found by moving the bodies and put into the bias, until
// the two agree: once or twice, as the paper found.
//
// Deviation from the paper: (7) is a rotation about a fixed axis, written down instead of
// integrated by RK4. It holds for corners on faces; where few things touch, the true gap at the end
// is asked instead, which is right for curved bodies too. Forces act for half a step before and
// half a step after the drift, which gives the same parabola.

#include <string.h>

#include "dynamics/followed_contacts.h"
#include "dynamics/joints.h"
#include "dynamics/matching.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "steppers/bender_schmitt/crowd.h"
#include "steppers/bender_schmitt/first_impact.h"
#include "steppers/bender_schmitt/missed.h"
#include "steppers/bender_schmitt/rest_biases.h"
#include "steppers/bender_schmitt/step.h"
#include "steppers/bender_schmitt/way_out.h"

// Corrections that come closer in the end may first lead away, but not so often in a row.
enum { maxCorrections = 12, maxGrown = 2, maxPasses = 4 };

// The drift of a small problem has to meet gaps and joints to this, in units of length or rad.
static const double driftTolerance = 1e-12;

// A part of the step that still overlaps by more than this after all corrections takes back those
// that made it, in units of length.
static const double lostTolerance = 1e-8;

// One solve and the drift it leads to.
static bool solveOnce(tpBenderStep* step, int sweepLimit) {
    if (!tpTouch_Solve(&step->start, step->settings, step->state->memory->solver, step->time.kicked,
                       step->time.pushed, sweepLimit, step->report)) {
        return false;
    }
    tpTimeStep_FollowPushed(&step->time);
    if (step->hasOneSolve) {
        tpTimeStep_FlyUntouched(&step->time);
    }
    tpTimeStep_Drift(&step->time);
    return true;
}

// Drifts that locate an impact have the contacts of the first of them; others may get more.
static bool mayGuess(const tpBenderStep* step) {
    return step->isLocating && step->start.isSmall;
}

static bool hasGuess(const tpBenderStep* step) {
    return mayGuess(step) && step->guesses != NULL && step->guessTime > 0.0;
}

// Biases begin with what the last drift from here has found.
static void startBiases(const tpBenderStep* step, tpRestBias* biases) {
    double ratio = step->time.h / step->guessTime;
    for (int i = 0; i < step->start.contactCount; ++i) {
        const tpDriftGuess* guess = &step->guesses[i];
        if (biases[i].closing < TP_SWEEP_OPEN) {
            biases[i].turning = ratio * guess->turning;
            biases[i].slip[0] = ratio * guess->slip[0];
            biases[i].slip[1] = ratio * guess->slip[1];
        }
    }
}

// Keeps what this drift has found, for the next one that is tried.
static void keepGuess(tpBenderStep* step, const tpRestBias* biases) {
    const tpTouch* touch = &step->start;
    for (int i = 0; i < touch->contactCount; ++i) {
        tpDriftGuess* guess = &step->guesses[i];
        guess->impulse = tpMulAdd(tpTouch_Friction(touch, i), tpTouch_Normal(touch, i),
                                  touch->contacts[i].normal);
        guess->torsion = tpTouch_Torsion(touch, i);
        guess->turning = biases[i].turning;
        guess->slip[0] = biases[i].slip[0];
        guess->slip[1] = biases[i].slip[1];
    }
    step->guessTime = step->time.h;
}

static bool warmStart(tpBenderStep* step) {
    tpTouch* touch = &step->start;
    int cursor = 0;
    bool isCold = step->settings->isPaperRule; // whose friction counts increments
    // The impulses of a shorter or longer part of a step are in proportion.
    double share = step->time.h / step->duration;
    step->remembered = TP_SCRATCH(&step->system->arena, const tpRestMemory*, touch->contactCount);
    if (step->remembered == NULL) {
        return false;
    }
    double ratio = hasGuess(step) ? step->time.h / step->guessTime : 0.0;
    for (int i = 0; i < touch->contactCount; ++i) {
        const tpRestMemory* rest = tpBenderSchmitt_Find(step->state, &touch->contacts[i], &cursor);
        step->remembered[i] = rest;
        if (hasGuess(step)) {
            const tpDriftGuess* guess = &step->guesses[i];
            tpTouch_SetStart(touch, i, tpScale(ratio, guess->impulse), ratio * guess->torsion);
        } else if (rest != NULL && !isCold) {
            tpTouch_SetStart(touch, i, tpScale(share, rest->drift), share * rest->driftTorsion);
        }
    }
    tpTouch_StartJoints(touch, step->state->driftImpulses.data, step->state->driftImpulses.count,
                        share);
    return true;
}

// Corrections do not settle where contacts open and close among them: then only those are kept that
// hold bodies farther apart, which cannot overlap where linear rows do not.
static bool settle(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences, int limit) {
    for (int i = 0; i < step->start.contactCount; ++i) {
        biases[i].turning = fmin(biases[i].turning, 0.0);
    }
    tpRestBiases_Set(step, biases, step->time.meanVelocities, step->time.pushed, differences);
    return solveOnce(step, limit);
}

// How exactly the drift has to meet gaps: no better than solves have known them. Gaps that
// contradict each other were changed so that they agree, and corrections would change them back.
static double toleranceOf(const tpBenderStep* step) {
    double changed = step->report->gapShift / step->system->units.length;
    return driftTolerance + fmin(changed, lostTolerance);
}

// A small problem: solves and corrections until the end of the drift is admissible.
static bool solveFinely(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences) {
    tpTouch* touch = &step->start;
    tpArena* arena = &step->system->arena;
    int limit = tpBenderStep_SweepLimit(step, touch), grown = 0;
    double miss = INFINITY, last = INFINITY;
    tpFollowedContacts ends;
    if (!tpFollowedContacts_Begin(&ends, step->system, touch->contacts, touch->contactCount,
                                  step->time.startPoses)) {
        return false;
    }
    for (int k = 0; k < maxCorrections && miss > toleranceOf(step); ++k) {
        if (!solveOnce(step, limit)) {
            return false;
        }
        if (touch->contactCount == 0 && touch->sweeper.jointCount == 0) {
            return true;
        }
        tpArenaMark mark = tpArena_Mark(arena);
        miss = tpRestBiases_Correct(step, biases, &ends);
        tpArena_Release(arena, mark);
        if (miss < 0.0) {
            return false;
        }
        if (tpStepBudget_IsSpent(step->system)) {
            return true;
        }
        // The part is too long for its corrections: more of them lead farther away.
        grown = miss > last ? grown + 1 : 0;
        last = miss;
        if (grown == maxGrown) {
            break;
        }
        tpRestBiases_Set(step, biases, step->time.meanVelocities, step->time.pushed, differences);
    }
    return miss <= lostTolerance || settle(step, biases, differences, limit);
}

// Room that contacts are asked for because corners turn is not asked for: standing still is
// admissible then. Returns whether there was any.
static bool dropTurning(const tpBenderStep* step, tpRestBias* biases) {
    bool hasDropped = false;
    for (int i = 0; i < step->start.contactCount; ++i) {
        double least = -fmax(biases[i].closing, 0.0);
        hasDropped = hasDropped || biases[i].turning < least;
        biases[i].turning = fmax(biases[i].turning, least);
    }
    return hasDropped;
}

// A large one: a single solve within the budget. How corners turn is predicted from the motion
// without impulses. A row of bodies wedged between two walls may be asked for more room by that
// than there is: no impulses answer, and loads grow for as long as they are swept. Such a step is
// solved again without, and what turns into others is taken back at the end of the drift.
static bool solveHastily(tpBenderStep* step, tpRestBias* biases, tpVelocity* differences) {
    if (!tpRestBiases_PredictTurning(step, biases)) {
        return false;
    }
    if (step->isJammed) {
        dropTurning(step, biases);
    }
    int limit = tpBenderStep_SweepLimit(step, &step->start);
    tpStepReport before = *step->report;
    tpRestBiases_Set(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    if (!solveOnce(step, limit)) {
        return false;
    }
    bool hasFailed = step->report->failureCount > before.failureCount;
    if (step->isJammed || !hasFailed || !dropTurning(step, biases) ||
        !tpCrowd_HasRunAway(&step->start, step->time.kicked)) {
        return true;
    }
    step->isJammed = true;
    tpStepReport_ForgetVerdict(step->report, &before);
    tpRestBiases_Set(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    return solveOnce(step, limit);
}

// The contacts of a pass of a large problem go on from what those of the pass before have ended
// with; few of them are new.
typedef struct tpPassed {
    const tpContact* contacts;
    tpVec3* impulses; // on A in world axes
    double* torsions;
    int count;
} tpPassed;

static bool keepPassed(const tpBenderStep* step, tpPassed* passed) {
    const tpTouch* touch = &step->start;
    tpArena* arena = &step->system->arena;
    passed->contacts = touch->contacts;
    passed->count = touch->isSmall || touch->sweeper.jointCount > 0 ? 0 : touch->contactCount;
    passed->impulses = TP_SCRATCH(arena, tpVec3, passed->count);
    passed->torsions = TP_SCRATCH(arena, double, passed->count);
    for (int i = 0; !arena->failed && i < passed->count; ++i) {
        passed->impulses[i] = tpMulAdd(tpTouch_Friction(touch, i), tpTouch_Normal(touch, i),
                                       touch->contacts[i].normal);
        passed->torsions[i] = tpTouch_Torsion(touch, i);
    }
    return !arena->failed;
}

static bool startFromPassed(tpBenderStep* step, const tpPassed* passed) {
    tpTouch* touch = &step->start;
    int* match = tpMatchContacts(passed->contacts, passed->count, touch->contacts,
                                 touch->contactCount, &step->system->arena);
    for (int i = 0; match != NULL && i < touch->contactCount; ++i) {
        if (match[i] >= 0) {
            tpTouch_SetStart(touch, i, passed->impulses[match[i]], passed->torsions[match[i]]);
        }
    }
    return match != NULL;
}

// The work of contacts along the ways by which they leave an overlap, J. They lift what they carry;
// the impulses of the drift carry one half of the forces, those at its end the other.
static double findWorkOut(const tpBenderStep* step, const tpRestBias* biases) {
    double work = 0.0;
    for (int i = 0; i < step->start.contactCount; ++i) {
        double speed = fmax(-biases[i].closing, 0.0);
        work += 2.0 * speed * tpTouch_Normal(&step->start, i);
    }
    return work;
}

static bool solveDrift(tpBenderStep* step, const tpPassed* passed) {
    tpArena* arena = &step->system->arena;
    tpRestBias* biases = TP_SCRATCH(arena, tpRestBias, step->start.contactCount);
    tpVelocity* differences = TP_SCRATCH(arena, tpVelocity, step->time.bodyCount);
    if (biases == NULL || differences == NULL || !warmStart(step)) {
        return false;
    }
    if (mayGuess(step) && step->guesses == NULL) {
        step->guesses = TP_SCRATCH(arena, tpDriftGuess, step->start.contactCount);
        if (step->guesses == NULL) {
            return false;
        }
    }
    if (passed->count > 0 && !startFromPassed(step, passed)) {
        return false;
    }
    tpRestBiases_Make(step, biases);
    step->workOut = 0.0;
    if (!step->start.isSmall) {
        return solveHastily(step, biases, differences);
    }
    if (hasGuess(step)) {
        startBiases(step, biases);
    }
    tpRestBiases_Set(step, biases, step->time.freeMeanVelocities, step->time.kicked, differences);
    bool isDone = solveFinely(step, biases, differences);
    if (isDone && mayGuess(step)) {
        keepGuess(step, biases);
    }
    step->workOut = isDone ? findWorkOut(step, biases) : 0.0;
    return isDone;
}

bool tpResting_Solve(tpBenderStep* step) {
    tpSystem* system = step->system;
    const tpPose* poses = step->time.startPoses;
    tpPassed passed = { NULL, NULL, NULL, 0 };
    tpStepReport before = *step->report;
    for (int pass = 0; pass < maxPasses; ++pass) {
        double gain = tpRestBiases_IsShort(step) ? 0.0 : 1.0;
        tpJointTreatment treatment = { step->time.h, gain, NULL, 0.5 * step->time.h, 0.0, false };
        if (tpSystem_IsStopped(system) ||
            !tpTouch_AddJoints(&step->start, &treatment, tp_firstHalf, step->time.kicked) ||
            !solveDrift(step, &passed)) {
            return false;
        }
        if (step->isStage) {
            return true;
        }
        if (!tpMissed_Look(step)) {
            return false;
        }
        tpContact* contacts;
        int count;
        bool isLast = pass + 1 == maxPasses || step->isLocating || tpStepBudget_IsSpent(system);
        if (isLast) {
            break;
        }
        if (!tpMissed_Add(step, &contacts, &count)) {
            return false;
        }
        if (count == step->start.contactCount) {
            break;
        }
        memcpy(system->poses.data, poses, sizeof(tpPose) * (size_t)step->time.bodyCount);
        // It is the last pass that is judged.
        tpStepReport_ForgetVerdict(step->report, &before);
        if (!keepPassed(step, &passed) ||
            !tpBenderStep_Touch(step, &step->start, poses, step->time.startVelocities, contacts,
                                count)) {
            return false;
        }
    }
    // A part that ends at its first impact overlaps nowhere.
    return step->start.isSmall || step->isLocating || tpWayOut_Settle(step);
}
