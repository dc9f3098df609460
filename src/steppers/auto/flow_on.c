#include "steppers/auto/flow_on.h"

#include "dynamics/joint_state.h"
#include "steppers/auto/landing.h"
#include "steppers/auto/outer_forces.h"
#include "steppers/auto/stride_levels.h"

// Tries of a length, each shorter than the one before.
enum { mostTries = 4 };

// Groups of more bodies are not tried again while methods have given up.
enum { mostHelped = 3, cutsBeforeHelp = 16 };
static const double helpLength = 16.0; // in steps of the method

// Of the length at which the error would be what is allowed, and of one in which something happens,
// nobody knows when.
static const double careful = 0.85, beforeMoment = 0.4;

// Of the time to a moment that flows cannot land on: the way on, as long as it is more than such a
// part of the user's step. A slip that ends turns the faster the smaller it is, so nobody can step
// over its end, but each step of the flow can come nearer to it.
static const double approachPart = 0.5, leastApproach = 1.0 / 1024.0;

// Errors that let the next length grow by less are near to what is allowed.
static const double smallGrowth = 1.5;

// After a try that has come nowhere there is none for so many steps of the user, twice as many
// after each further one.
enum { firstWait = 1, mostFailures = 6 };

// In parts of the user's step: shorter ones are those of a moment that has just been, and say
// nothing of the flow. Lengths that errors of the flow itself ask for may be shorter. (A chain of
// six links in steps of .04 s was left to methods where it cracks, and missed 1e-4 by 42 times.)
static const double leastPart = 1.0 / 16.0, leastFlowPart = 1.0 / 256.0;

// The length to begin with.
static double firstLength(const tpPace* pace) {
    return pace->flowLength > 0.0 ? pace->flowLength : 2.0 * pace->step;
}

// Whether the length to begin with is one of the flow, and not of a moment.
static bool isLong(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    double least = pace->flowLength > 0.0 ? leastFlowPart : leastPart;
    return firstLength(pace) > least * run->length;
}

// Whether a group is small enough for flows to help its methods, which have given up, or have cut
// the user's step so often since the last try. (An ellipsoid that had begun to slide, whose slip
// turns the faster the smaller it is, was left to methods for as long as they had to cut: .1 s.)
static bool needsHelp(const tpGroupRun* run) {
    bool isCut = run->cutCount % cutsBeforeHelp == 0 && run->cutCount > 0;
    bool isGivenUp = run->pace.hopelessCount > 0 && run->cutCount == 1 && run->pace.flowWait == 0;
    return run->groups->sizes[run->group] <= mostHelped && (isCut || isGivenUp);
}

bool tpGroupRun_MayFlowOn(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    const tpGroups* groups = run->groups;
    // Methods fly up to an impact as exactly, but for joints, forces and media.
    bool isKnown = pace->knowsPushing || run->strikeCount == 0;
    bool awaitsImpact = groups->pairCounts[run->group] > 0 && pace->pushing == 0 && isKnown &&
                        groups->jointCounts[run->group] == 0 &&
                        !tpOuterForce_IsThere(run->system, groups, run->group);
    bool isShort = pace->flowLength > 0.0 && pace->flowLength < run->length;
    bool isWanted = 2.0 * pace->step < run->length || run->strikeCount > 0 || isShort;
    bool isFree = pace->hopelessCount == 0 && pace->flowWait == 0;
    return !awaitsImpact && (needsHelp(run) || (isFree && isLong(run) && isWanted)) &&
           groups->jointCounts[run->group] + groups->pairCounts[run->group] > 0 &&
           groups->sizes[run->group] <= tp_crowdSize &&
           tpStride_CanCarry(run->system, groups, run->group);
}

// A part of what a step has carried, worked and lost. False if memory ran out.
static bool takePart(tpTaken* taken, double part, tpSystem* system) {
    int count = tpJoints_ReactionCount(system);
    double* reactions = TP_SCRATCH(&system->arena, double, count);
    tpContactInfo* list = TP_SCRATCH(&system->arena, tpContactInfo, taken->tally.count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        reactions[i] = part * taken->reactions[i];
    }
    for (int i = 0; i < taken->tally.count; ++i) {
        list[i] = taken->tally.list[i];
        list[i].normalImpulse *= part;
        list[i].frictionImpulse = tpScale(part, list[i].frictionImpulse);
        list[i].torsionalImpulse *= part;
        list[i].rollingImpulse = tpScale(part, list[i].rollingImpulse);
    }
    taken->reactions = reactions;
    taken->tally.list = list;
    taken->report.externalWork *= part;
    taken->report.frictionLoss *= part;
    taken->report.impactLoss *= part;
    taken->work = 0.0; // counted with the levels
    return true;
}

// What the levels have carried and done, in the parts that lead to the end: momenta are sums of
// impulses in each of them, and so they are of those parts. The counts are those of the last level.
// False if memory ran out.
static bool appendLevels(tpGroupRun* run, const tpStrideLevels* levels) {
    double parts[3];
    int count = tpStrideLevels_Parts(levels, parts), last = count == tp_strideSteps ? 2 : count / 2;
    bool isDone = true;
    for (int k = 0; isDone && k < count; ++k) {
        int level = k >= tp_strideQuarter ? 2 : k >= tp_strideHalf ? 1 : 0;
        tpTaken taken = levels->taken[k];
        tpStepReport* report = &taken.report;
        if (level < last) {
            report->substepCount = report->solveCount = report->iterationCount = 0;
            report->contactQueryCount = 0;
        }
        isDone = takePart(&taken, parts[level], run->system) &&
                 tpTaken_Append(&run->taken, run->system, &taken);
    }
    return isDone;
}

// Goes to the end that the levels lead to.
// `wanted`: a length that was not tried since there was less to go, 0: none.
static void accept(tpGroupRun* run, const tpStrideLevels* levels, double length, double wanted) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double position, speed;
            tpStrideLevels_BodyError(levels, run, i, &position, &speed);
            run->positionErrors[i] += position + length * run->speedErrors[i];
            run->speedErrors[i] += speed;
        }
    }
    run->hasMemory = appendLevels(run, levels);
    tpStrideLevels_PutEnd(levels, run);
    tpPace* pace = &run->pace;
    pace->pushing = levels->pushing;
    pace->knowsPushing = true;
    pace->checkedError = INFINITY;
    pace->uncheckedCount = 0;
    double growth = tpStrideLevels_Growth(levels);
    // A rest up to the end of the user's step says nothing against what was thought before, unless
    // its error does.
    pace->flowLength = fmax(length * careful * growth, growth > smallGrowth ? wanted : 0.0);
}

// Up to the moment that a try has met, if rates tell when that was. If its first step has met it,
// nobody knows yet what pushes up to there. (It was taken for nothing then, and each such moment
// was left to the method.)
static double land(tpGroupRun* run, const tpStrideLevels* levels, double length) {
    tpPace* pace = &run->pace;
    bool isFirst = levels->taken[tp_strideWhole].isBad;
    // A slip that turns is approached by halves of the way, and stopped: landing on its end as
    // rates tell it leaves more of it to the method.
    bool isNew = isFirst && !levels->flow.slipHasTurned;
    pace->momentGuess = run->begin + levels->momentPart * length;
    pace->momentBound = run->begin + length;
    pace->knowsPushing = !isNew;
    pace->isTold = isNew;
    pace->pushing = isNew ? pace->pushing : levels->pushing;
    double way = tpGroupRun_Land(run, isFirst ? &levels->flow : NULL);
    pace->isTold = false;
    return way;
}

// Tries from the begin of the run on, for so many seconds at most.
static double flowFor(tpGroupRun* run, double longest) {
    tpSystem* system = run->system;
    double first = run->pace.hopelessCount > 0 ? longest
                   : isLong(run)               ? firstLength(&run->pace)
                                               : helpLength * run->pace.step;
    double length = fmin(longest, first), way = 0.0;
    double userLength = run->length;
    bool isApproaching = false;
    bool isOver = false;
    for (int k = 0; k < mostTries && way == 0.0 && !isOver && run->hasMemory; ++k) {
        tpStrideLevels levels;
        tpKept before;
        double time = system->time;
        run->pace.knowsPushing = false; // who slides and who sticks is seen anew
        run->length = length;
        run->hasMemory =
            tpKept_Take(&before, system, NULL, NULL) &&
            tpStrideLevels_Take(&levels, run, length, (tpStrideWay){ .mayFlow = true });
        if (!run->hasMemory) {
            return 0.0;
        }
        run->taken.work += levels.work;
        isOver = !levels.isFlow;
        if (levels.isSmooth && levels.isFlow && levels.error <= 1.0) {
            accept(run, &levels, length, length < longest ? 0.0 : first);
            run->isAtSlipEnd = isApproaching;
            return length;
        }
        run->rejectedCount += 1;
        run->hasMemory = tpKept_PutBack(&before, system, NULL, NULL);
        system->time = time;
        bool isTold = levels.isMoment && levels.momentPart >= 0.0;
        if (isTold) {
            int strikes = run->strikeCount;
            way = land(run, &levels, length);
            // The moment itself is the method's, in this step of the user, but for impacts.
            bool isNear = levels.momentPart * length <= leastApproach * userLength;
            isOver = way > 0.0 || !levels.flow.slipHasTurned || isNear;
            isApproaching = levels.flow.slipHasTurned;
            run->pace.flowWait = run->strikeCount > strikes || !isOver ? 0 : 1;
        }
        length *= levels.isSmooth ? fmin(beforeMoment, careful * tpStrideLevels_Growth(&levels))
                  : isTold        ? approachPart * levels.momentPart
                                  : beforeMoment;
    }
    return way;
}

double tpGroupRun_FlowOn(tpGroupRun* run, double start) {
    tpPace before = run->pace;
    double begin = run->begin, length = run->length;
    double forced = tpGroupRun_ForcesUntil(run, start);
    run->begin = begin + start;
    double way = flowFor(run, fmin(length, forced) - start);
    run->begin = begin;
    run->length = length;
    tpPace* pace = &run->pace;
    if (way == 0.0) {
        *pace = before;
        pace->flowWait = firstWait << pace->flowFailures;
        pace->flowFailures += pace->flowFailures < mostFailures ? 1 : 0;
        return way;
    }
    pace->flowFailures = pace->hopelessCount = 0;
    // At the end of the user's step a stride may be next. Within it the method's step stays as it
    // is. (A gyroscope was taken on in steps so long that whole and halves were cut alike.)
    if (start + way >= length * (1.0 - 1e-9) && pace->flowLength >= length) {
        pace->step = fmax(pace->step, 0.5 * pace->flowLength);
    }
    return way;
}
