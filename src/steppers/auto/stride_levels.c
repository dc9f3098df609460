#include "steppers/auto/stride_levels.h"

#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "steppers/auto/body_change.h"
#include "steppers/auto/closing.h"
#include "steppers/auto/flow_error.h"
#include "steppers/auto/modes.h"
#include "steppers/auto/stride.h"

// Of the difference of two levels, and of two results of these: what leads on. Steps of a symmetric
// method go from the second order to the fourth and the sixth, those of a flow from the fourth to
// the fifth and the sixth.
//
// If the two results of higher order are farther apart than `lawful` times what the two last levels
// differ by, errors are not of the order that theory gives them. For steps their difference counts
// whole then. The whole step of a flow is often too long for that while the others are not: it
// counts by and by.
typedef struct LevelParts {
    double first, second;
    double lawful, unlawful;
} LevelParts;
static const LevelParts ofSteps = { 1.0 / 3.0, 1.0 / 15.0, 0.3, 1.0 };
static const LevelParts ofFlows = { 1.0 / 15.0, 1.0 / 31.0, 1.0, 1.0 / 31.0 };

static LevelParts partsOf(const tpStrideLevels* levels) {
    return levels->isFlow ? ofFlows : ofSteps;
}

// The estimate of the error of sixth order is taken so many times.
static const double safety = 10.0;

// Of the difference of two steps of a flow and one: the error of the two steps, which counts as
// that of the result of fifth order. That is thought to be a tenth of it where the next length is
// chosen. So does the difference of four steps and two, if the whole one was too long for its
// order.
static const double shortPart = 1.0 / 15.0, shortReserve = 0.1;

// In parts of what is allowed: if two steps of a flow are off by more, four of them are not tried.
// (Of 4,345 tries 44 of 65 above 100 failed, and all of those above 1,000.)
static const double hopeless = 500.0, hopelessError = 30.0;

// From one stride to the next: where errors are what rounding makes of a simple motion, and
// elsewhere, where the next stride may have more to follow than this one had.
static const double largestGrowth = 8.0, usualGrowth = 1.6;
static const double simple = 1e-4, shortSimple = 1e-5;

// The same where the whole step was too long for its order: soon the others are too.
static const double lateGrowth = 1.2;

// Where errors are so small that a stride of one step of the user must come to two.
static const double small = 3e-3, shortSmall = 2e-2, smallGrowth = 2.5;

// In parts of what is allowed: if the error of two levels is at most that, four steps of a flow are
// not taken, unless what is between the nodes asks for them.
static const double enough = 0.5;

// Taking ------------------------------------------------------------------------------------------

// Whether the same features touch, push and slide in the step as in the first one and before,
// joints go in the same directions, and no limit pushes. A flow looks after its joints itself.
static bool isLikeBefore(const tpGroupRun* run, const tpStrideLevels* levels,
                         const tpTaken* taken) {
    const tpSystem* system = run->system;
    bool areJointsLike = levels->isFlow ||
                         (tpModes_OfJoints(system, run->groups, run->group) == levels->jointModes &&
                          !tpModes_AreAtLimit(system, run->groups, run->group));
    return tpTaken_Pairs(taken) == levels->pushing && areJointsLike && !taken->hasTurned &&
           tpTaken_HaveSameContacts(&levels->taken[0], taken);
}

// Whether the step is a whole one of the method, symmetric and within all limits.
static bool isWhole(const tpGroupRun* run, const tpStrideLevels* levels, const tpTaken* taken) {
    bool isSliding = (tpTaken_Pairs(taken) & tp_slidingBit) != 0;
    return !taken->isBad && taken->report.substepCount <= 1 &&
           (levels->isFlow || !(isSliding && run->method == tp_standardMethod));
}

// Whether the first step tells who pushes and slides: nothing is known, or slips have come to
// nothing where the stride starts. Forces of the flow tell whether contacts can stick from now on.
static bool isNews(const tpStrideLevels* levels, const tpGroupRun* run) {
    bool hasStopped =
        levels->isFlow && (run->pace.pushing & tp_slidingBit) != 0 && !tpFlow_Slides(&levels->flow);
    return !run->pace.knowsPushing || hasStopped;
}

static bool takeStep(tpStrideLevels* levels, tpGroupRun* run, int which, double start, double h) {
    tpTaken* taken = &levels->taken[which];
    bool isQuarter = which >= tp_strideQuarter;
    tpTaken* early = isQuarter                 ? NULL
                     : which == tp_strideWhole ? &levels->early[0]
                                               : &levels->early[which - tp_strideHalf];
    return levels->isFlow ? tpFlow_TakeStep(&levels->flow, run, start, h, taken, early)
                          : tpGroupRun_TakeStep(run, start, h, taken);
}

// Steps from the state that the system is in, each of h seconds; the state after half of them is
// kept. False if one is not like the others, or memory ran out.
static bool takeSteps(tpStrideLevels* levels, tpGroupRun* run, int first, int count, double h,
                      tpKept* middle) {
    // The quarters lead to the stride: nothing may be met in them. What touches at the end of the
    // whole step saves them.
    levels->flow.watch = first == tp_strideQuarter ? tp_flowNear
                         : first == tp_strideWhole ? tp_flowTouching
                                                   : tp_flowBlind;
    levels->flow.isAtStart = true;
    for (int k = 0; k < count; ++k) {
        tpTaken* taken = &levels->taken[first + k];
        // What is ahead of the end is not met in this stride.
        bool isEnd = first == tp_strideQuarter && k + 1 == count;
        levels->flow.watch = isEnd ? tp_flowBehind : levels->flow.watch;
        run->hasMemory = takeStep(levels, run, first + k, k * h, h) &&
                         (2 * (k + 1) != count || tpKept_Take(middle, run->system, NULL, NULL));
        if (run->hasMemory && first == tp_strideQuarter && k % 2 == 0) {
            run->hasMemory = tpKept_Take(&levels->odd[k / 2], run->system, NULL, NULL);
        }
        if (!run->hasMemory) {
            return false;
        }
        levels->work += taken->work;
        levels->pushing =
            first + k == 0 && isNews(levels, run) ? tpTaken_Pairs(taken) : levels->pushing;
        levels->isMoment = !isLikeBefore(run, levels, taken);
        if (levels->isFlow && taken->isBad && levels->flow.momentPart >= 0.0) {
            levels->isMoment = true;
            levels->momentPart = (k + levels->flow.momentPart) / count;
        }
        if (levels->isFlow && taken->isBad && levels->flow.aheadPart >= 0.0) {
            levels->aheadPart = (k + levels->flow.aheadPart) / count;
        }
        if (levels->isMoment || !isWhole(run, levels, taken)) {
            return false;
        }
    }
    return true;
}

// Goes back to the start; the end is kept.
static bool goBack(tpGroupRun* run, const tpKept* before, tpKept* end) {
    run->hasMemory = tpKept_Take(end, run->system, NULL, NULL) &&
                     tpKept_PutBack(before, run->system, tpMethod_Stepper(run->method), run->state);
    return run->hasMemory;
}

// Differences -------------------------------------------------------------------------------------

// What four quarters differ by from two halves, and what the result of the last two levels differs
// by from that of the first two. The system is at the end of the last level. If that is the one of
// two halves, what these differ by from the whole step, and nothing.
static void findDifferences(const tpStrideLevels* levels, const tpSystem* system, int i,
                            tpBodyChange* plain, tpBodyChange* higher) {
    const tpKeptMotion *whole = &levels->whole.motion, *halves = &levels->halves.motion;
    const tpKeptMotion* last = levels->isShort ? whole : halves;
    tpBodyChange zero = { 0 };
    *plain = tpBodyChange_Between(&system->poses.data[i], &system->velocities.data[i],
                                  &last->poses[i], &last->velocities[i]);
    *higher = zero;
    if (!levels->isShort && !levels->isLate) {
        double part = partsOf(levels).first;
        tpBodyChange first = tpBodyChange_Between(&halves->poses[i], &halves->velocities[i],
                                                  &whole->poses[i], &whole->velocities[i]);
        *higher = tpBodyChange_Sum(tpBodyChange_Sum(zero, 1.0 + part, *plain), -part, first);
    }
}

static double positionOf(const tpGroupRun* run, int i, const tpBodyChange* difference) {
    return tpLength(difference->position) + run->groups->turnSizes[i] * tpLength(difference->turn);
}

static double speedOf(const tpGroupRun* run, int i, const tpBodyChange* difference) {
    return tpLength(difference->linear) +
           run->system->bodies.data[i].size * tpLength(difference->angular);
}

// The part of the difference of results of higher order that is the error of the end.
static double errorPart(const LevelParts* parts, double plain, double higher) {
    if (higher <= parts->lawful * plain) {
        // Errors of the three orders are powers of one number.
        double ratio = plain > 0.0 ? parts->second * higher / (parts->first * plain) : 0.0;
        return parts->second * fmin(1.0, safety * ratio);
    }
    double excess = higher / fmax(parts->lawful * plain, 1e-300);
    return fmin(1.0, parts->unlawful * excess * excess);
}

static void measure(tpStrideLevels* levels, const tpGroupRun* run, double length) {
    double plain = 0.0, higher = 0.0, way = 0.0, plainWay = 0.0;
    LevelParts parts = partsOf(levels);
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            tpBodyChange first, second;
            findDifferences(levels, run->system, i, &first, &second);
            double position = positionOf(run, i, &second);
            plain =
                fmax(plain, positionOf(run, i, &first) + run->timeScale * speedOf(run, i, &first));
            higher = fmax(higher, position + run->timeScale * speedOf(run, i, &second));
            way = fmax(way, parts.second * position);
            plainWay = fmax(plainWay, parts.first * positionOf(run, i, &first));
        }
    }
    double allowed = tpGroupRun_AllowedError(run, false, length);
    levels->part = errorPart(&parts, plain, higher);
    levels->plainError = levels->isFlow ? INFINITY : plain / allowed;
    levels->error = plain > 0.0 ? levels->part * higher / allowed : 0.0;
    levels->middleError = way / tpGroupRun_AllowedError(run, true, 0.0);
    levels->quarterWay = plainWay;
    // A stiff slip makes the whole step of a flow unstable before the halves and the quarters are.
    // The difference of these two tells their error then; the whole one only tells that it was too
    // long. (Balls that rub took strides of .4 T that were off by 1e-3 of what is allowed for ones
    // that were off by eight times that.)
    double late = shortPart * plain / allowed;
    levels->isLate = levels->isFlow && late < levels->error;
    if (levels->isLate) {
        levels->error = late;
        levels->part = shortPart;
        levels->middleError = plainWay / tpGroupRun_AllowedError(run, true, 0.0);
    }
    if (levels->isFlow) {
        levels->stepError = 0.5 * plain; // of each of the halves
        levels->stepLength = 0.5 * length;
    }
}

void tpStrideLevels_Compare(tpStrideLevels* levels, const tpGroupRun* run, int which) {
    const tpSystem* system = run->system;
    double apart = 0.0;
    bool hasQuarters = levels->isFlow && tpStrideLevels_End(levels) == tp_strideSteps;
    for (int i = 0; hasQuarters && i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            const tpKeptMotion* motion = &levels->odd[which].motion;
            tpBodyChange change =
                tpBodyChange_Between(&system->poses.data[i], &system->velocities.data[i],
                                     &motion->poses[i], &motion->velocities[i]);
            apart = fmax(apart, positionOf(run, i, &change));
        }
    }
    // Quarters have errors of their own.
    double error = fmax(0.0, apart - levels->quarterWay);
    levels->betweenError =
        fmax(levels->betweenError, error / tpGroupRun_AllowedError(run, true, 0.0));
}

// Whether nothing can have been met between places, from the start of so many steps of `h` seconds
// to the ends of each, where the bodies are looked at.
static bool isClearAround(tpStrideLevels* levels, tpGroupRun* run, const tpKept* const* places,
                          int steps, double h) {
    tpSystem* system = run->system;
    bool isNear = false;
    for (int k = 0; k <= steps && !isNear && run->hasMemory; ++k) {
        tpFlowWatch watch = k == 0 ? tp_flowAhead : k < steps ? tp_flowNear : tp_flowBehind;
        tpKeptMotion_PutBack(&places[k]->motion, system);
        run->hasMemory = tpFlow_LookAround(&levels->flow, system, 0.5 * h, watch, &isNear);
    }
    tpKeptMotion_PutBack(&levels->before.motion, system);
    return !isNear && run->hasMemory;
}

// Finds out whether two levels of a flow are enough: the difference of the two is that of the
// fourth order, and the end is of the fifth. The system is at the start.
static void measureShort(tpStrideLevels* levels, tpGroupRun* run, double length) {
    const tpKeptMotion *whole = &levels->whole.motion, *halves = &levels->halves.motion;
    double way = 0.0, plain = 0.0;
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            tpBodyChange change = tpBodyChange_Between(&halves->poses[i], &halves->velocities[i],
                                                       &whole->poses[i], &whole->velocities[i]);
            double position = positionOf(run, i, &change);
            way = fmax(way, position);
            plain = fmax(plain, position + run->timeScale * speedOf(run, i, &change));
        }
    }
    double shortError = shortPart * plain / tpGroupRun_AllowedError(run, false, length);
    double middleError = shortPart * way / tpGroupRun_AllowedError(run, true, 0.0);
    levels->stepError = plain;
    levels->stepLength = length;
    const tpKept* places[] = { &levels->before, &levels->half, &levels->halves };
    levels->isShort = fmax(shortError, middleError) <= enough &&
                      isClearAround(levels, run, places, 2, 0.5 * length);
    if (levels->isShort) {
        levels->error = shortError;
        levels->middleError = middleError;
        levels->part = shortPart;
        levels->quarters2 = levels->half;
        run->hasMemory = tpKept_PutBack(&levels->halves, run->system, NULL, NULL);
    } else if (shortError > hopeless) {
        levels->error = levels->middleError = shortError / hopeless * hopelessError;
        levels->isHopeless = true;
    }
}

// Finds out whether the whole step of a flow is enough, at the end of which the system is.
// In between bodies follow a polynomial of third degree, which has to keep joints closed.
// (Pendulums on it were closed at great cost, and then their energy was wrong there.)
static void measureSingle(tpStrideLevels* levels, tpGroupRun* run, double length, bool isSeen) {
    double middle, largest = tpFlow_Error(&levels->flow, run, length, &middle);
    double singleError = largest / tpGroupRun_AllowedError(run, false, length);
    double drift = tpStride_Drift(run->accuracy, run->lengthScale);
    bool hasJoints = run->groups->jointCounts[run->group] > 0;
    double middleError = middle / tpGroupRun_AllowedError(run, true, 0.0);
    bool isSmooth = !isSeen || (middleError <= tpFlow_Enough && !(hasJoints && middle > drift));
    if (!(singleError <= tpFlow_Enough && isSmooth)) {
        return;
    }
    const tpKept* places[] = { &levels->before, &levels->whole };
    run->hasMemory = tpKept_Take(&levels->whole, run->system, NULL, NULL);
    levels->isSingle = run->hasMemory && isClearAround(levels, run, places, 1, length);
    tpKeptMotion_PutBack(&levels->whole.motion, run->system);
    if (levels->isSingle) {
        levels->error = singleError;
        levels->middleError = isSeen ? middleError : 0.0;
        levels->stepError = largest;
        levels->stepLength = length;
    }
}

// The last level, from the start of the stride.
static void takeQuarters(tpStrideLevels* levels, tpGroupRun* run, double length) {
    levels->isSmooth =
        takeSteps(levels, run, tp_strideQuarter, 4, 0.25 * length, &levels->quarters2);
    if (levels->isSmooth) {
        measure(levels, run, length);
    }
}

// The two levels after the whole step, as far as they are wanted: the system is at its end.
static void takeLevels(tpStrideLevels* levels, tpGroupRun* run, double length) {
    levels->isSmooth = goBack(run, &levels->before, &levels->whole) &&
                       takeSteps(levels, run, tp_strideHalf, 2, 0.5 * length, &levels->half) &&
                       goBack(run, &levels->before, &levels->halves);
    if (levels->isSmooth && levels->isFlow) {
        measureShort(levels, run, length);
    }
    levels->isSmooth = levels->isSmooth && run->hasMemory;
    if (levels->isSmooth && !levels->isShort && !levels->isHopeless) {
        takeQuarters(levels, run, length);
    }
}

bool tpStrideLevels_Lengthen(tpStrideLevels* levels, tpGroupRun* run, double length) {
    bool wasSingle = levels->isSingle;
    levels->isShort = levels->isSingle = false;
    levels->error = levels->middleError = INFINITY;
    levels->betweenError = 0.0;
    const tpKept* start = wasSingle ? &levels->whole : &levels->before;
    run->hasMemory = tpKept_PutBack(start, run->system,
                                    wasSingle ? NULL : tpMethod_Stepper(run->method), run->state);
    if (run->hasMemory && wasSingle) {
        takeLevels(levels, run, length);
    } else if (run->hasMemory) {
        takeQuarters(levels, run, length);
    }
    return run->hasMemory && levels->isSmooth;
}

// The whole step. If contacts pull from its start on, they come off there, and it goes on without
// them. (Boxes that a force tips, or whose corners came down one by one, were left to methods.)
static bool takeWhole(tpStrideLevels* levels, tpGroupRun* run, double length) {
    tpKept none;
    bool isTaken = takeSteps(levels, run, tp_strideWhole, 1, length, &none);
    if (isTaken || !run->hasMemory || !levels->isFlow || levels->flow.pulls == 0) {
        return isTaken;
    }
    bool canGo = false;
    if (!tpFlow_LetGo(&levels->flow, run, &levels->before.motion, &canGo) || !canGo) {
        return false;
    }
    levels->isMoment = false;
    levels->momentPart = levels->aheadPart = -1.0;
    return takeSteps(levels, run, tp_strideWhole, 1, length, &none);
}

bool tpStrideLevels_Take(tpStrideLevels* levels, tpGroupRun* run, double length, tpStrideWay way) {
    tpSystem* system = run->system;
    levels->work = 0.0;
    levels->error = levels->plainError = levels->middleError = INFINITY;
    levels->part = 1.0;
    levels->betweenError = levels->quarterWay = 0.0;
    levels->stepError = levels->stepLength = 0.0;
    levels->isMoment = levels->isSingle = levels->isShort = levels->isLate = levels->isHopeless =
        false;
    levels->momentPart = levels->aheadPart = -1.0;
    levels->pushing = run->pace.pushing;
    levels->jointModes = tpModes_OfJoints(system, run->groups, run->group);
    run->hasMemory =
        tpKept_Take(&levels->before, system, tpMethod_Stepper(run->method), run->state);
    levels->isFlow = false;
    run->hasMemory =
        run->hasMemory && (!way.mayFlow || tpFlow_Begin(&levels->flow, run, &levels->isFlow));
    levels->flow.isFar = true;
    bool mayGo = levels->isFlow ||
                 (run->pace.knowsPushing && !tpStride_IsDriven(system, run->groups, run->group));
    levels->isSmooth = run->hasMemory && mayGo && takeWhole(levels, run, length);
    if (levels->isSmooth && levels->isFlow) {
        measureSingle(levels, run, length, way.isSeen);
    }
    if (levels->isSmooth && !levels->isSingle && run->hasMemory) {
        takeLevels(levels, run, length);
    }
    return run->hasMemory;
}

void tpStrideLevels_BodyError(const tpStrideLevels* levels, const tpGroupRun* run, int body,
                              double* position, double* speed) {
    if (levels->isSingle) {
        tpFlowError error = tpFlow_BodyError(&levels->flow, run, body, levels->stepLength);
        *position = error.position;
        *speed = error.speed;
        return;
    }
    tpBodyChange plain, higher;
    findDifferences(levels, run->system, body, &plain, &higher);
    higher = levels->isShort || levels->isLate ? plain : higher;
    *position = levels->part * positionOf(run, body, &higher);
    *speed = levels->part * speedOf(run, body, &higher);
}

// Ends --------------------------------------------------------------------------------------------

// Joints are closed, and stay so: the motion in between is made of velocities too.
static void closeAll(tpGroupRun* run, const tpTaken* last) {
    tpGroupRun_Close(run, &last->tally);
    if (run->groups->jointCounts[run->group] > 0) {
        run->hasMemory = tpJoints_CorrectVelocities(run->system, run->solver) && run->hasMemory;
    }
}

void tpStrideLevels_PutEnd(const tpStrideLevels* levels, tpGroupRun* run) {
    tpSystem* system = run->system;
    LevelParts parts = partsOf(levels);
    for (int i = 0; !levels->isSingle && i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            tpBodyChange plain, higher, zero = { 0 };
            findDifferences(levels, system, i, &plain, &higher);
            tpBodyChange way =
                tpBodyChange_Sum(tpBodyChange_Sum(zero, parts.first, plain), parts.second, higher);
            tpBodyChange_Apply(&system->poses.data[i], &system->velocities.data[i], &way);
        }
    }
    closeAll(run, &levels->taken[tpStrideLevels_End(levels) - 1]);
}

int tpStrideLevels_Parts(const tpStrideLevels* levels, double parts[3]) {
    LevelParts own = partsOf(levels);
    double a = own.first, b = own.second;
    if (levels->isSingle) {
        parts[0] = 1.0;
        parts[1] = parts[2] = 0.0;
        return tp_strideHalf;
    }
    if (levels->isShort) {
        parts[0] = -a;
        parts[1] = 1.0 + a;
        parts[2] = 0.0;
        return tp_strideQuarter;
    }
    if (levels->isLate) {
        parts[0] = 0.0;
        parts[1] = -a;
        parts[2] = 1.0 + a;
        return tp_strideSteps;
    }
    parts[0] = a * b;
    parts[1] = -a - b * (1.0 + 2.0 * a);
    parts[2] = 1.0 + a + b * (1.0 + a);
    return tp_strideSteps;
}

void tpStrideLevels_PutMiddle(const tpStrideLevels* levels, tpGroupRun* run, bool isSeen) {
    tpSystem* system = run->system;
    const tpKeptMotion *two = &levels->half.motion, *four = &levels->quarters2.motion;
    tpKeptMotion_PutBack(four, system);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            tpBodyChange zero = { 0 },
                         second = tpBodyChange_Between(&four->poses[i], &four->velocities[i],
                                                       &two->poses[i], &two->velocities[i]);
            tpBodyChange way = tpBodyChange_Sum(zero, partsOf(levels).first, second);
            tpBodyChange_Apply(&system->poses.data[i], &system->velocities.data[i], &way);
        }
    }
    if (isSeen) {
        closeAll(run, &levels->taken[levels->isShort ? tp_strideHalf : tp_strideQuarter + 1]);
    }
}

// Such parts of what a step has done, and of what its first half has. False if memory ran out.
static bool addUp(double part, const tpTaken* all, double earlyPart, const tpTaken* early,
                  tpSystem* system, tpTaken* sum) {
    int count = tpJoints_ReactionCount(system);
    *sum = *all;
    sum->reactions = TP_SCRATCH(&system->arena, double, count);
    sum->tally.list = TP_SCRATCH(&system->arena, tpContactInfo, all->tally.count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        sum->reactions[i] = part * all->reactions[i] + earlyPart * early->reactions[i];
    }
    for (int i = 0; i < all->tally.count; ++i) {
        tpContactInfo* info = &sum->tally.list[i];
        const tpContactInfo* first = &early->tally.list[i];
        *info = all->tally.list[i];
        info->normalImpulse = part * info->normalImpulse + earlyPart * first->normalImpulse;
        info->frictionImpulse =
            tpMulAdd(tpScale(part, info->frictionImpulse), earlyPart, first->frictionImpulse);
        info->torsionalImpulse =
            part * info->torsionalImpulse + earlyPart * first->torsionalImpulse;
        info->rollingImpulse =
            tpMulAdd(tpScale(part, info->rollingImpulse), earlyPart, first->rollingImpulse);
    }
    tpStepReport* report = &sum->report;
    report->externalWork = part * report->externalWork + earlyPart * early->report.externalWork;
    report->frictionLoss = part * report->frictionLoss + earlyPart * early->report.frictionLoss;
    report->impactLoss = part * report->impactLoss + earlyPart * early->report.impactLoss;
    return true;
}

bool tpStrideLevels_Quarter(const tpStrideLevels* levels, tpSystem* system, int quarter,
                            tpTaken* taken) {
    // The parabola through nothing, the first half and all.
    static const double parts[4][2] = {
        { -0.125, 0.75 }, { 0.125, 0.25 }, { 0.375, -0.25 }, { 0.625, -0.75 }
    };
    const tpTaken* early = &levels->early[levels->isSingle ? 0 : quarter / 2];
    if (levels->isSingle) {
        return addUp(parts[quarter][0], &levels->taken[tp_strideWhole], parts[quarter][1], early,
                     system, taken);
    }
    *taken = levels->isShort ? *early : levels->taken[tp_strideQuarter + quarter];
    return !levels->isShort || quarter % 2 == 0 ||
           addUp(1.0, &levels->taken[tp_strideHalf + quarter / 2], -1.0, early, system, taken);
}

double tpStrideLevels_Growth(const tpStrideLevels* levels) {
    bool isFew = levels->isShort || levels->isSingle;
    double simplest = isFew ? shortSimple : simple;
    if (levels->isSmooth && levels->isLate) {
        return fmin(tpGrowth(levels->error, 5.0, lateGrowth),
                    tpGrowth(levels->betweenError, 6.0, lateGrowth));
    }
    double error = fmax(levels->error, levels->middleError);
    bool isSmall = error < (isFew ? shortSmall : small);
    double most = error < simplest ? largestGrowth : isSmall ? smallGrowth : usualGrowth;
    double inside =
        fmin(tpGrowth(levels->middleError, 5.0, most), tpGrowth(levels->betweenError, 6.0, most));
    double growth = isFew ? tpGrowth(shortReserve * levels->error, 5.0, most)
                          : tpGrowth(levels->error, 6.0, most);
    return levels->isSmooth ? fmin(growth, inside) : tpGrowth(INFINITY, 1.0, most);
}
