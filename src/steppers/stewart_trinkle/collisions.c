// Collision times located inside the step [StewartTrinkle96, sec. 5].
//
// The scheme takes a step over all that is left of it. If that stops a contact that was open and
// has restitution, the step is taken again with the contact let through, and shortened until bodies
// just touch: the first root of the gap along the way. There the law of impact changes the
// velocities, and the rest of the step follows in the same way.
//
//     |--------- scheme ---------|  impact  |---- scheme ----|  impact  |-- scheme --|
//     start                     touch                       touch                   end

#include "steppers/stewart_trinkle/collisions.h"

#include <string.h>

#include "dynamics/joint_laws.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"

// More collisions than this in one step: the rest of it is inelastic, and the report says so.
enum { maxCollisions = 64, maxTrials = 60, maxGrowth = 8, maxRefinements = 6 };

// Bodies touch along a way within this, in units of length.
static const double touchTolerance = 1e-13;

// A collision is located when the step ends this near to it, in units of length: well within what
// counts as closed.
static const double locatedGap = 1e-12;

typedef struct tpLocator {
    tpSystem* system;
    tpStepperMemory* memory;
    const tpStewartTrinkleSettings* settings;
    const tpImpactLaw* impacts;
    tpStepReport* report;

    // The state from which the next part of the step starts.
    tpPose* poses;
    tpVelocity* velocities;
    tpPassage passage;
    tpCollidingPair* pairs;
    int pairCapacity;
} tpLocator;

static void keepState(tpLocator* locator) {
    tpSystem* system = locator->system;
    size_t count = (size_t)system->bodyCount;
    if (count > 0) {
        memcpy(locator->poses, system->poses.data, sizeof(tpPose) * count);
        memcpy(locator->velocities, system->velocities.data, sizeof(tpVelocity) * count);
    }
}

static void goBack(const tpLocator* locator) {
    tpSystem* system = locator->system;
    size_t count = (size_t)system->bodyCount;
    if (count > 0) {
        memcpy(system->poses.data, locator->poses, sizeof(tpPose) * count);
        memcpy(system->velocities.data, locator->velocities, sizeof(tpVelocity) * count);
    }
}

// A step of length h from the state kept; its impulses are applied to the step, not to the system.
static bool solvePart(tpLocator* locator, double h, tpTimeStep* step, tpStepReport* report) {
    goBack(locator);
    locator->system->solveWork = 0.0; // each part of the step has the means of a whole one
    return tpTimeStep_Begin(step, locator->system, h, h) &&
           tpStewartTrinkle_Solve(step, locator->settings, &locator->passage, locator->memory,
                                  report);
}

// The same as a trial: only what it costs stays in the report.
static bool tryPart(tpLocator* locator, double h, tpTimeStep* step) {
    tpStepReport trial;
    memset(&trial, 0, sizeof(trial));
    if (!solvePart(locator, h, step, &trial)) {
        return false;
    }
    locator->report->solveCount += trial.solveCount;
    locator->report->iterationCount += trial.iterationCount;
    return true;
}

static bool isPair(const tpLocator* locator, const tpContact* contact) {
    for (int k = 0; k < locator->passage.pairCount; ++k) {
        if (locator->pairs[k].shapeA == contact->shapeA &&
            locator->pairs[k].shapeB == contact->shapeB) {
            return true;
        }
    }
    return false;
}

// Adds the pairs of contacts that the step stops although they were open at its start: collisions,
// where they are fast and have restitution. Returns how many are new; -1 if memory ran out.
static int addCollisions(tpLocator* locator, const tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    int added = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source != tp_contactSource ||
            !(rows->impulse[rows->firstRows[b]] > 0.0)) {
            continue;
        }
        int index = rows->infos[b].index;
        const tpContact* contact = &step->contacts[index];
        double approach = tpRows_RowVelocity(rows, rows->firstRows[b], step->kicked, contact->bodyA,
                                             contact->bodyB);
        int cursor = 0;
        const tpContact* before = tpContacts_FindSame(
            tpContact_Key(contact), locator->passage.start, locator->passage.startCount, &cursor);
        bool wasOpen = before == NULL || before->gap > tpTouchingGap * step->system->units.length;
        bool isCollision = wasOpen && step->laws[index].restitution > 0.0 &&
                           approach < -locator->impacts->threshold;
        if (!isCollision || isPair(locator, contact)) {
            continue;
        }
        if (locator->passage.pairCount == locator->pairCapacity) {
            int capacity = 2 * locator->pairCapacity + 8;
            tpCollidingPair* pairs = TP_SCRATCH(&locator->system->arena, tpCollidingPair, capacity);
            if (pairs == NULL) {
                return -1;
            }
            for (int k = 0; k < locator->passage.pairCount; ++k) {
                pairs[k] = locator->pairs[k];
            }
            locator->passage.pairs = locator->pairs = pairs;
            locator->pairCapacity = capacity;
        }
        locator->pairs[locator->passage.pairCount++] =
            (tpCollidingPair){ contact->shapeA, contact->shapeB };
        added += 1;
    }
    return added;
}

// The smallest gap of the contacts that are let through, `time` into a step that has been solved:
// bodies start at their velocities and end where the step leads. False if memory ran out.
static bool gapAlong(const tpLocator* locator, const tpTimeStep* step, double time, double* gap) {
    tpSystem* system = locator->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpVelocity* meanVelocities = TP_SCRATCH(&system->arena, tpVelocity, step->bodyCount);
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, step->bodyCount);
    if (system->arena.failed) {
        return false;
    }
    double part = time / step->h;
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpVelocity* start = &step->startVelocities[i];
        const tpVelocity* mean = &step->meanVelocities[i];
        meanVelocities[i] = *start;
        meanVelocities[i].linear =
            tpMulAdd(start->linear, part, tpSub(mean->linear, start->linear));
        meanVelocities[i].angular =
            tpMulAdd(start->angular, part, tpSub(mean->angular, start->angular));
    }
    tpTimeStep partial = *step;
    partial.h = time;
    tpTimeStep_Move(&partial, meanVelocities, poses);
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, poses, step->margins, &contacts, &count) != tp_success) {
        return false;
    }
    *gap = INFINITY;
    for (int i = 0; i < count; ++i) {
        if (tpPassage_Lets(&locator->passage, &contacts[i])) {
            *gap = fmin(*gap, contacts[i].gap);
        }
    }
    tpArena_Release(&system->arena, mark);
    return true;
}

// The first time, up to `end`, at which a contact that is let through closes along the way of a
// step; `end` where none does.
static bool findTouch(const tpLocator* locator, const tpTimeStep* step, double end, double* touch) {
    double low = 0.0, high = end, lowGap = INFINITY, highGap;
    double within = touchTolerance * step->system->units.length;
    *touch = end;
    if (!gapAlong(locator, step, end, &highGap)) {
        return false;
    }
    int lastSide = 0;
    for (int trial = 0; trial < maxTrials && highGap < -within && high - low > 1e-15 * end;
         ++trial) {
        // The secant of the two ends, the value that stays halved [DowellJarratt71]; bisection
        // where a gap is beyond what was looked at, and now and then to be sure.
        double middle = 0.5 * (low + high);
        if (isfinite(lowGap) && trial % 4 != 3) {
            middle = low + (high - low) * lowGap / (lowGap - highGap);
        }
        double gap;
        if (!gapAlong(locator, step, middle, &gap)) {
            return false;
        }
        if (fabs(gap) <= within) {
            *touch = middle;
            return true;
        }
        if (gap > 0.0) {
            low = middle;
            lowGap = gap;
            highGap *= lastSide == 1 ? 0.5 : 1.0;
            lastSide = 1;
        } else {
            high = middle;
            highGap = gap;
            lowGap *= lastSide == -1 ? 0.5 : 1.0;
            lastSide = -1;
        }
    }
    *touch = high;
    return true;
}

// Solves a step that ends where the first of the contacts that are let through closes, `left` at
// the most. The way of one step tells the length of the next; for bodies in flight the first is
// right.
static bool stepToTouch(tpLocator* locator, double left, tpTimeStep* step, tpStepReport* report) {
    double touch = left;
    tpStepReport start = *report;
    for (int k = 0; k < maxRefinements; ++k) {
        start.solveCount = report->solveCount;
        start.iterationCount = report->iterationCount;
        *report = start;
        if (!solvePart(locator, touch, step, report)) {
            return false;
        }
        double next, gap;
        if (!gapAlong(locator, step, touch, &gap)) {
            return false;
        }
        if (tpStepBudget_IsSpent(locator->system) || (touch == left && gap >= 0.0) ||
            fabs(gap) <= locatedGap * step->system->units.length) {
            break;
        }
        // If bodies are still apart the way goes on beyond the end of the step.
        double end = gap > 0.0 ? fmin(left, touch + 0.1 * left) : touch;
        if (!findTouch(locator, step, end, &next)) {
            return false;
        }
        if (next == touch) {
            break;
        }
        touch = next;
    }
    return true;
}

// Moves the system by a step that has been solved and accounts for it.
static bool moveOn(tpLocator* locator, tpTimeStep* step, tpTally* tally) {
    tpSystem* system = locator->system;
    tpStepReport* report = locator->report;
    tpTimeStep_AccountEnergy(step, report);
    if (step->bodyCount > 0) {
        memcpy(system->velocities.data, step->velocities,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    if (!tpTimeStep_Tally(step, tally)) {
        return false;
    }
    tpTimeStep_Drift(step);
    tpJoints_AddReactions(system, &step->rows, locator->settings->wholeStep);
    tpTimeStep_KickSwings(step, locator->settings->wholeStep, report);
    tpJoints_FollowAngles(system);
    tpJoints_EndRotors(system);
    system->time += step->h;
    return true;
}

static bool impact(tpLocator* locator, const double* margins, tpTally* tally) {
    bool isDone = tpStewartTrinkle_Collide(locator->system, locator->memory, locator->impacts,
                                           margins, tally, locator->report);
    keepState(locator);
    return isDone;
}

// Contacts where the next part of the step starts.
static bool findStart(tpLocator* locator, double left) {
    tpSystem* system = locator->system;
    double* margins = tpSystem_Margins(system, locator->velocities, NULL, left);
    tpContact* start;
    int startCount;
    if (margins == NULL ||
        tpSystem_FindContacts(system, locator->poses, margins, &start, &startCount) != tp_success) {
        return false;
    }
    locator->passage.start = start;
    locator->passage.startCount = startCount;
    locator->passage.touching = tpTouchingGap * locator->system->units.length;
    return true;
}

// The next part of the step: up to a collision and through it, or to the end. `left` is what
// remains.
static bool takePart(tpLocator* locator, double* left, bool isLast, tpTimeStep* step,
                     tpTally* tally) {
    locator->passage.pairCount = 0;
    tpStepReport kept = *locator->report;
    if (!findStart(locator, *left) || !solvePart(locator, *left, step, locator->report)) {
        return false;
    }
    int added = isLast ? 0 : addCollisions(locator, step);
    if (added == 0) {
        *left = 0.0;
        return moveOn(locator, step, tally);
    }
    // Bodies that are let through may hit others.
    for (int k = 0; k < maxGrowth && added > 0 && !tpStepBudget_IsSpent(locator->system); ++k) {
        tpTimeStep trial;
        if (!tryPart(locator, *left, &trial)) {
            return false;
        }
        added = addCollisions(locator, &trial);
    }
    // The solve over the whole rest was a trial.
    kept.solveCount = locator->report->solveCount;
    kept.iterationCount = locator->report->iterationCount;
    *locator->report = kept;
    if (added < 0 || !stepToTouch(locator, *left, step, locator->report) ||
        !moveOn(locator, step, tally)) {
        return false;
    }
    *left = step->h < *left ? *left - step->h : 0.0;
    keepState(locator);
    return impact(locator, step->margins, tally);
}

static bool prepare(tpLocator* locator) {
    tpSystem* system = locator->system;
    locator->poses = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    locator->velocities = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (system->arena.failed) {
        return false;
    }
    tpJoints_ClearReactions(system);
    keepState(locator);
    return true;
}

bool tpStewartTrinkle_StepThroughCollisions(tpSystem* system, tpStepperMemory* memory,
                                            const tpStewartTrinkleSettings* settings,
                                            const tpImpactLaw* impacts, tpStepReport* report) {
    tpLocator locator = { .system = system,
                          .memory = memory,
                          .settings = settings,
                          .impacts = impacts,
                          .report = report };
    tpTally tally = { NULL, 0 };
    double time = system->time;
    double* margins = tpSystem_Margins(system, system->velocities.data, NULL, settings->wholeStep);
    if (margins == NULL || !prepare(&locator)) {
        return false;
    }
    // What is closed already and still approached collides at once.
    double fastest = tpStewartTrinkle_FastestApproach(system, impacts, margins);
    bool isDone = fastest >= 0.0 && (fastest == 0.0 || impact(&locator, margins, &tally));
    double left = settings->wholeStep;
    tpTimeStep step;
    int parts = 0;
    while (isDone && left > 0.0) {
        bool isLast = parts == maxCollisions || tpStepBudget_IsSpent(system);
        isDone = takePart(&locator, &left, isLast, &step, &tally);
        parts += 1;
        if (parts > maxCollisions) {
            tpStepReport_AddNote(report,
                                 "more collisions than a step resolves: the rest was inelastic");
        }
    }
    system->time = time;
    report->substepCount = parts > 1 ? parts : 1;
    isDone = isDone && tpTimeStep_Report(&step, &tally, memory->solver, &memory->history, report);
    tpJoints_EndRotors(system);
    return isDone;
}
