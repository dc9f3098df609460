#include "steppers/auto/group_run.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "math/elementary.h"
#include "steppers/pieces.h"

// The user's step is checked no more than so many times, and cut no shorter than a part of it; then
// the group goes on as well as it can for a while, in a few cuts.
enum { maxCuts = 32, shortestCut = 256, hopelessFrames = 64, hopelessCuts = 2 };

// Steps after one whose error was at most a part of the allowed one are not checked: a few, or many
// where it was small.
enum { fewUnchecked = 3, maxUnchecked = 7 };
static const double trusted = 0.5, verySmall = 0.1;

// Part of the error that is asked for that the estimates may add up to.
static const double margin = 0.5;

// The time over which errors may add up to that, in time scales.
static const double span = 20.0;

// A step may grow and shrink by these factors, and aims at less than the allowed error.
static const double largestGrowth = 3.0, smallestGrowth = 0.2, aim = 0.8;

// Taken ------------------------------------------------------------------------------------------

bool tpTaken_Start(tpTaken* taken, tpSystem* system, const tpCertificateLimits* limits) {
    memset(taken, 0, sizeof(*taken));
    taken->report.converged = true;
    taken->report.limits = *limits;
    taken->reactions = TP_SCRATCH_ZEROED(&system->arena, double, tpJoints_ReactionCount(system));
    return taken->reactions != NULL;
}

bool tpTaken_Append(tpTaken* taken, tpSystem* system, const tpTaken* next) {
    tpStepReport_Append(&taken->report, &next->report);
    taken->work += next->work;
    taken->isBad = taken->isBad || next->isBad;
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        taken->reactions[i] += next->reactions[i];
    }
    return tpTally_Merge(&taken->tally, next->tally.list, next->tally.count, &system->arena);
}

// A step ------------------------------------------------------------------------------------------

static bool isFinite(const tpSystem* system) {
    double sum = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpPose* pose = &system->poses.data[i];
        const tpVelocity* velocity = &system->velocities.data[i];
        sum += tpLengthSquared(pose->position) + tpDotQQ(pose->rotation, pose->rotation) +
               tpLengthSquared(velocity->linear) + tpLengthSquared(velocity->angular);
    }
    return isfinite(sum);
}

static bool isBeyond(const tpStepReport* report, double overlap) {
    const tpCertificateLimits* limits = &report->limits;
    return report->undone || report->failureCount > 0 || !(report->residual <= limits->residual) ||
           !(report->jointDrift <= limits->jointDrift) ||
           !(report->penetration <= fmax(limits->penetration, overlap));
}

// One step of h seconds from `start` seconds after the begin.
static bool takeStep(tpGroupRun* run, double start, double h, tpTaken* taken) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    if (!tpTaken_Start(taken, system, &run->limits)) {
        return false;
    }
    tpStepReport* report = &taken->report;
    report->substepCount = 1;
    report->kineticBefore = tpSystem_KineticEnergy(system);
    report->potentialBefore = tpSystem_PotentialEnergy(system);
    system->time = run->begin + start;
    system->solveWork = 0.0;
    system->solveRows = 0;
    system->contactQueryCount = 0;
    tpPieces_AimTargets(system, run->targets, h / (run->length - start));
    tpJoints_ClearReactions(system);
    tpStepper_Take(stepper, system, run->state, &run->options, h, report);
    if (system->listContacts != NULL) {
        system->listContacts(system, system->listContext);
        system->listContacts = NULL;
    }
    taken->isBad = isBeyond(report, run->taken.report.penetration) || !isFinite(system);
    run->isPassedOn = run->isPassedOn || tpMethod_HasPassedOn(run->method, report);
    taken->work = tpMethod_Work(run->method, system, report, run->groups, run->group);
    run->lastWork = taken->work;
    tpJoints_ReadReactions(system, taken->reactions);
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        taken->reactions[i] *= h;
    }
    return tpTally_Merge(&taken->tally, system->contacts.data, system->contacts.count,
                         &system->arena);
}

// Differences -------------------------------------------------------------------------------------

static bool isPushing(const tpContactInfo* info) {
    return info->normalImpulse > 0.0;
}

// The next pair of shapes that push each other, from `*i` on; false: none.
static bool nextPair(const tpTally* tally, int* i, uint64_t* pair) {
    uint64_t last = *pair;
    for (; *i < tally->count; ++*i) {
        const tpContactInfo* info = &tally->list[*i];
        uint64_t now = ((uint64_t)info->shapeA.slot << 32) | info->shapeB.slot;
        if (isPushing(info) && now != last) {
            *pair = now;
            return true;
        }
    }
    return false;
}

// Whether the same pairs of shapes have pushed each other.
static bool haveSamePairs(const tpTally* a, const tpTally* b) {
    int i = 0, k = 0;
    uint64_t first = 0, second = 0;
    for (;;) {
        bool hasFirst = nextPair(a, &i, &first), hasSecond = nextPair(b, &k, &second);
        if (!hasFirst || !hasSecond) {
            return hasFirst == hasSecond;
        }
        if (first != second) {
            return false;
        }
    }
}

// A number for the pairs that have pushed each other; 0: none.
static uint64_t numberOfPairs(const tpTally* tally) {
    int i = 0;
    uint64_t pair = 0, number = 0;
    while (nextPair(tally, &i, &pair)) {
        number = (number ^ pair) * 0x100000001b3u + 1;
    }
    return number;
}

static bool hasPushed(const tpTally* tally) {
    int i = 0;
    uint64_t pair = 0;
    return nextPair(tally, &i, &pair);
}

typedef struct Difference {
    double position, speed; // of the body where they are largest, m and m/s
    double way;             // largest, of a body in the step, m
} Difference;

typedef struct Ends {
    const tpPose *start, *poses;  // at the start, at the end of the whole step
    const tpVelocity* velocities; // at the end of the whole step
} Ends;

static double turnBetween(tpQuat a, tpQuat b) {
    return tpLength(tpQuatLog(tpMulQQ(a, tpConjugate(b))));
}

// Of one body, times `part`.
static void findBodyDifference(const tpGroupRun* run, int i, const Ends* ends, double part,
                               double* position, double* speed) {
    const tpSystem* system = run->system;
    const tpPose* pose = &system->poses.data[i];
    const tpVelocity* velocity = &system->velocities.data[i];
    double size = system->bodies.data[i].size, turnSize = run->groups->turnSizes[i];
    *position = part * (tpDistanceBetween(pose->position, ends->poses[i].position) +
                        turnSize * turnBetween(pose->rotation, ends->poses[i].rotation));
    *speed = part * (tpDistanceBetween(velocity->linear, ends->velocities[i].linear) +
                     size * tpDistanceBetween(velocity->angular, ends->velocities[i].angular));
}

static Difference findDifference(const tpGroupRun* run, const Ends* ends, double part) {
    Difference largest = { 0.0, 0.0, 0.0 };
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] != run->group) {
            continue;
        }
        double position, speed;
        findBodyDifference(run, i, ends, part, &position, &speed);
        largest.position = fmax(largest.position, position);
        largest.speed = fmax(largest.speed, speed);
        double way = tpDistanceBetween(ends->poses[i].position, ends->start[i].position) +
                     run->groups->turnSizes[i] *
                         turnBetween(ends->poses[i].rotation, ends->start[i].rotation);
        largest.way = fmax(largest.way, way);
    }
    return largest;
}

static void addErrors(tpGroupRun* run, const Ends* ends, double part, bool countsSpeed, double h) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double position, speed;
            findBodyDifference(run, i, ends, part, &position, &speed);
            run->positionErrors[i] += position + h * run->speedErrors[i];
            run->speedErrors[i] += countsSpeed ? speed : 0.0;
        }
    }
}

// Extrapolation -----------------------------------------------------------------------------------

// Halves of a symmetric method of second order and their difference to the whole step give the
// fourth order.
static const double thirdPart = 1.0 / 3.0;

// The error of the whole step in parts of that difference.
static const double wholePart = 4.0 / 3.0;

// Of the way in a step: errors above this are not of the order that theory gives them.
static const double smallPart = 2e-3;

// The estimate of the error of an extrapolation is taken so many times.
static const double safety = 10.0;

static void extrapolate(tpGroupRun* run, const Ends* ends) {
    tpSystem* system = run->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] != run->group) {
            continue;
        }
        tpPose* pose = &system->poses.data[i];
        tpVelocity* velocity = &system->velocities.data[i];
        const tpVelocity* whole = &ends->velocities[i];
        pose->position =
            tpMulAdd(pose->position, thirdPart, tpSub(pose->position, ends->poses[i].position));
        tpVec3 turn = tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(ends->poses[i].rotation)));
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(thirdPart, turn)), pose->rotation));
        velocity->linear =
            tpMulAdd(velocity->linear, thirdPart, tpSub(velocity->linear, whole->linear));
        velocity->angular =
            tpMulAdd(velocity->angular, thirdPart, tpSub(velocity->angular, whole->angular));
    }
    if (run->groups->jointCounts[run->group] > 0) {
        tpJoints_FollowAngles(system);
        tpJoints_Correct(system, run->solver, 1e-12 * run->lengthScale);
    }
}

// The energy that the extrapolation gave or took is nobody's work: the report's sums go on from
// what is there.
static bool canExtrapolate(const tpGroupRun* run, const tpTaken* whole, const tpTaken* halves) {
    return tpMethod_IsSymmetric(run->method) && !hasPushed(&whole->tally) &&
           !hasPushed(&halves->tally);
}

// Control -----------------------------------------------------------------------------------------

// If contacts come or go the error is that of a moment: it is made once, however short the step
// is. Otherwise errors add up over time.
static const double momentPart = 0.1;

static double allowedError(const tpGroupRun* run, bool isMoment, double h) {
    double part = h / (span * run->timeScale);
    part = isMoment ? fmax(momentPart, part) : part;
    return margin * run->accuracy * run->lengthScale * part;
}

static int mostUnchecked(double error) {
    return error > trusted ? 0 : error > verySmall ? fewUnchecked : maxUnchecked;
}

static bool needsCheck(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    return pace->checkedError > trusted || pace->uncheckedCount >= pace->trust;
}

static void accept(tpGroupRun* run, const tpTaken* next) {
    run->hasMemory = tpTaken_Append(&run->taken, run->system, next) && run->hasMemory;
}

// A step that nobody checks. False, and nothing has changed, if other shapes push each other in it
// than before: that is to be looked at.
static bool goUnchecked(tpGroupRun* run, double start, double h, bool isBlind) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    tpKept before;
    tpTaken taken;
    run->hasMemory = (isBlind || tpKept_Take(&before, system, stepper, run->state)) &&
                     takeStep(run, start, h, &taken);
    if (!run->hasMemory) {
        return true;
    }
    uint64_t pushing = numberOfPairs(&taken.tally);
    if (!isBlind && (pushing != run->pace.pushing || taken.isBad)) {
        run->taken.work += taken.work;
        run->pace.checkedError = INFINITY;
        run->hasMemory = tpKept_PutBack(&before, system, stepper, run->state);
        return false;
    }
    run->pace.uncheckedCount += 1;
    run->pace.pushing = pushing;
    run->pace.knowsPushing = true;
    accept(run, &taken);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            run->positionErrors[i] += h * (run->speedErrors[i] + run->pace.positionRate);
            run->speedErrors[i] += h * run->pace.speedRate;
        }
    }
    return true;
}

// The part of the last error that a step of half the length or less has at least if it is no
// better.
static const double noBetter = 0.7;

// Steps beyond a limit of the certificate are taken back as if their error were this many times the
// allowed one.
static const double badError = 8.0;

typedef struct Check {
    tpTaken whole, halves;
    Ends ends;
    double error;      // in parts of the allowed one
    double plainError; // of the whole step, without extrapolation, likewise
    double part;       // of the difference that is the error of the halves
    bool isSame;       // the same shapes have pushed in both
    bool isMoment;     // others have pushed in the step before, or not in both
    bool extrapolates;
    Difference difference;
} Check;

// The order of the error in h, for the next step.
static double orderOf(const Check* check) {
    return check->extrapolates ? 4.0 : check->isMoment ? 1.0 : 2.0;
}

static void measure(tpGroupRun* run, double start, double h, Check* check) {
    check->isSame = haveSamePairs(&check->whole.tally, &check->halves.tally);
    bool isOther =
        run->pace.knowsPushing && numberOfPairs(&check->halves.tally) != run->pace.pushing;
    check->isMoment = !check->isSame || isOther;
    check->extrapolates = canExtrapolate(run, &check->whole, &check->halves);
    double weight = check->isSame ? run->timeScale : h;
    double allowed = allowedError(run, check->isMoment, h);
    Difference difference = findDifference(run, &check->ends, 1.0);
    check->difference = difference;
    double plain = difference.position + weight * difference.speed;
    // A shorter step that is no better has something in it that happens at once, or rounding.
    if (run->refusedStart == start && plain / allowed > noBetter * run->refusedError) {
        check->isMoment = true;
        allowed = allowedError(run, true, h);
    }
    check->plainError = plain / allowed;
    check->part = check->extrapolates ? thirdPart : 1.0;
    if (check->extrapolates && difference.way > 0.0) {
        // The halves are off by a part c of the way; the extrapolation by about c^2, if c is small.
        double part = check->part * difference.position / difference.way;
        check->extrapolates = part < smallPart;
        check->part *= check->extrapolates ? fmin(1.0, safety * part) : 1.0;
    }
    check->error = check->part * check->plainError;
    // Once: what a shorter step does not mend was there before.
    if (check->halves.isBad && !(run->refusedStart == start && run->wasBad)) {
        check->error = fmax(check->error, badError);
    }
}

static double nextStep(const Check* check, double h) {
    double factor =
        check->error > 0.0 ? tpPow(aim / check->error, 1.0 / orderOf(check)) : largestGrowth;
    return h * fmin(fmax(factor, smallestGrowth), largestGrowth);
}

// Takes a step whole and in halves; returns where the group is then.
static double goChecked(tpGroupRun* run, double start, double h) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    tpKept before, end;
    Check check;
    tpTaken second;
    double shortest = run->length / shortestCut;
    run->hasMemory = tpKept_Take(&before, system, stepper, run->state) &&
                     takeStep(run, start, h, &check.whole) &&
                     tpKept_Take(&end, system, NULL, NULL) &&
                     tpKept_PutBack(&before, system, stepper, run->state) &&
                     takeStep(run, start, 0.5 * h, &check.halves) &&
                     takeStep(run, start + 0.5 * h, 0.5 * h, &second) &&
                     tpTaken_Append(&check.halves, system, &second);
    if (!run->hasMemory) {
        return start;
    }
    check.ends = (Ends){ before.motion.poses, end.motion.poses, end.motion.velocities };
    measure(run, start, h, &check);
    bool isShort = h <= 1.5 * shortest;
    run->taken.work += check.whole.work;
    if (check.error > 1.0 && !isShort) {
        run->taken.work += check.halves.work;
        run->rejectedCount += 1;
        run->refusedStart = start;
        run->refusedError = check.plainError;
        run->wasBad = check.halves.isBad;
        run->pace.step = fmax(fmin(nextStep(&check, h), 0.5 * h), shortest);
        run->hasMemory = tpKept_PutBack(&before, system, stepper, run->state);
        return start;
    }
    run->isAccurate = run->isAccurate && check.error <= 1.0;
    addErrors(run, &check.ends, check.part, check.isSame, h);
    if (check.extrapolates) {
        extrapolate(run, &check.ends);
    }
    run->pace.step = fmax(nextStep(&check, h), shortest);
    run->pace.checkedError = check.plainError;
    // Trust grows from check to check.
    int trust = 2 * run->pace.trust + 1;
    int most = mostUnchecked(check.plainError);
    run->pace.trust = trust < most ? trust : most;
    run->pace.positionRate = wholePart * check.difference.position / h;
    run->pace.speedRate = check.isSame ? wholePart * check.difference.speed / h : 0.0;
    run->pace.uncheckedCount = 0;
    run->pace.pushing = numberOfPairs(&second.tally);
    run->pace.knowsPushing = true;
    accept(run, &check.halves);
    return start + h;
}

// The length of the next step: what is left in equal parts.
static double partOf(const tpGroupRun* run, double start) {
    double left = run->length - start;
    double step = run->pace.step > 0.0 ? run->pace.step : run->length;
    return left / fmax(1.0, ceil(left / step * (1.0 - 1e-9)));
}

// Whether nothing is checked: the flying are exact, and nobody can follow crowds.
static bool isUnchecked(const tpGroupRun* run) {
    bool isCrowd =
        run->groups->sizes[run->group] > tp_crowdSize && run->groups->pairCounts[run->group] > 0;
    return run->method == tp_flyingMethod || isCrowd;
}

// The next step; returns where the group is then.
static double goOn(tpGroupRun* run, double start, bool isBlind) {
    double left = run->length - start, h = partOf(run, start);
    bool isHopeless = run->pace.hopelessCount > 0;
    if (isBlind || isHopeless) {
        h = isBlind ? left : fmin(run->length / hopelessCuts, left);
        run->isAccurate = run->isAccurate && isBlind;
        goUnchecked(run, start, h, true);
        return start + h;
    }
    if (!needsCheck(run) && goUnchecked(run, start, h, false)) {
        return start + h;
    }
    return run->hasMemory ? goChecked(run, start, h) : start;
}

void tpGroupRun_Take(tpGroupRun* run) {
    double start = 0.0;
    bool isBlind = isUnchecked(run);
    run->isAccurate = true;
    run->refusedStart = -1.0;
    run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
    for (int cut = 0; run->hasMemory && start < run->length; ++cut) {
        run->isGivenUp = run->mayGiveUp && (run->isPassedOn || run->taken.work > run->workLimit);
        if (run->isGivenUp) {
            return;
        }
        if (cut == maxCuts && !isBlind) {
            run->pace.hopelessCount = hopelessFrames;
            run->isAccurate = false;
        }
        run->cutCount += 1;
        double next = goOn(run, start, isBlind);
        start = next > run->length * (1.0 - 1e-12) ? run->length : next;
    }
    run->pace.hopelessCount -= run->pace.hopelessCount > 0 ? 1 : 0;
}

double tpGroupRun_LastingWork(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    if (run->cutCount > 1 || run->rejectedCount > 0) {
        return run->taken.work;
    }
    double steps = run->length / fmin(fmax(pace->step, run->length / shortestCut), run->length);
    double checks = isUnchecked(run) ? 1.0
                    : pace->checkedError > trusted
                        ? 3.0
                        : 1.0 + 2.0 / (1.0 + mostUnchecked(pace->checkedError));
    return run->lastWork * steps * checks;
}
