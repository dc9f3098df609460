#include "steppers/auto/check.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "math/elementary.h"
#include "steppers/auto/body_change.h"
#include "steppers/auto/closing.h"
#include "steppers/auto/giving.h"
#include "steppers/auto/modes.h"
#include "steppers/pieces.h"

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
    taken->energyPart = fmax(taken->energyPart, next->energyPart);
    taken->hasTurned = taken->hasTurned || next->hasTurned;
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

bool tpGroupRun_TakeStep(tpGroupRun* run, double start, double h, tpTaken* taken) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    if (!tpTaken_Start(taken, system, &run->limits)) {
        return false;
    }
    tpVelocity* starts = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (starts == NULL) {
        return false;
    }
    memcpy(starts, system->velocities.data, sizeof(tpVelocity) * (size_t)system->bodyCount);
    uint64_t modes = tpModes_OfJoints(system, run->groups, run->group);
    // What the step needs meanwhile is of no use afterwards: the next one gets the same memory,
    // which is in the caches then.
    tpArenaMark mark = tpArena_Mark(&system->arena);
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
    // Nobody follows the paths of a group that is not checked: another method may have a part of
    // it.
    run->isPassedOn = run->isPassedOn ||
                      (run->pace.hopelessCount == 0 && tpMethod_HasPassedOn(run->method, report));
    taken->work = tpMethod_Work(run->method, system, report, run->groups, run->group);
    run->lastWork = taken->work;
    run->lastStep = h;
    tpJoints_ReadReactions(system, taken->reactions);
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        taken->reactions[i] *= h;
    }
    tpArena_Release(&system->arena, mark);
    tpTally now = { system->contacts.data, system->contacts.count };
    taken->hasTurned = modes != tpModes_OfJoints(system, run->groups, run->group) ||
                       tpModes_HasSlipTurned(&now, system, starts);
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

// Of the overlap that the certificate allows: torques of shorter arms are rounding.
static const double smallArm = 1e-6;

// Whether a contact of the pair slides, or has a torque against spin or rolling, from the first of
// its contacts on.
static bool slides(const tpTaken* taken, int first) {
    const tpTally* tally = &taken->tally;
    const tpContactInfo* list = tally->list;
    double leastArm = smallArm * taken->report.limits.penetration;
    for (int i = first; i < tally->count && list[i].shapeA.slot == list[first].shapeA.slot &&
                        list[i].shapeB.slot == list[first].shapeB.slot;
         ++i) {
        bool isRubbing = list[i].state == tp_sliding ||
                         fabs(list[i].torsionalImpulse) > leastArm * list[i].normalImpulse ||
                         tpLength(list[i].rollingImpulse) > leastArm * list[i].normalImpulse;
        if (isPushing(&list[i]) && isRubbing) {
            return true;
        }
    }
    return false;
}

uint64_t tpTaken_Pairs(const tpTaken* taken) {
    int i = 0;
    uint64_t pair = 0, number = 0;
    bool hasSliding = false;
    while (nextPair(&taken->tally, &i, &pair)) {
        bool isSliding = slides(taken, i);
        number = (number ^ pair) * 0x100000001b3u + (isSliding ? 2 : 1);
        hasSliding = hasSliding || isSliding;
    }
    return number == 0 ? 0 : (number << 2) | 2u | (hasSliding ? tp_slidingBit : 0u);
}

uint64_t tpTaken_Features(const tpTaken* taken) {
    uint64_t number = 0;
    for (int i = 0; i < taken->tally.count; ++i) {
        const tpContactInfo* info = &taken->tally.list[i];
        uint64_t pair = ((uint64_t)info->shapeA.slot << 32) | info->shapeB.slot;
        uint64_t mixed = (pair ^ (info->feature * 0x9e3779b97f4a7c15u)) * 0x100000001b3u;
        number += isPushing(info) ? mixed ^ (mixed >> 29) : 0u;
    }
    return number;
}

static double turnBetween(tpQuat a, tpQuat b) {
    return tpLength(tpQuatLog(tpMulQQ(a, tpConjugate(b))));
}

void tpCheck_BodyDifference(const tpGroupRun* run, int i, const tpStepEnds* ends, double part,
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

static tpStepDifference findDifference(const tpGroupRun* run, const tpStepEnds* ends) {
    tpStepDifference largest = { 0.0, 0.0, 0.0, 0.0 };
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] != run->group) {
            continue;
        }
        double position, speed;
        tpCheck_BodyDifference(run, i, ends, 1.0, &position, &speed);
        largest.position = fmax(largest.position, position);
        largest.speed = fmax(largest.speed, speed);
        double way = tpDistanceBetween(ends->poses[i].position, ends->start[i].position) +
                     run->groups->turnSizes[i] *
                         turnBetween(ends->poses[i].rotation, ends->start[i].rotation);
        largest.way = fmax(largest.way, way);
        const tpVelocity *first = &ends->startVelocities[i], *last = &ends->velocities[i];
        double change =
            tpDistanceBetween(first->linear, last->linear) +
            run->system->bodies.data[i].size * tpDistanceBetween(first->angular, last->angular);
        largest.change = fmax(largest.change, change);
    }
    return largest;
}

// Extrapolation -----------------------------------------------------------------------------------

// Halves of a symmetric method of second order and their difference to the whole step give the
// fourth order.
static const double thirdPart = 1.0 / 3.0;

// Of the way in a step: errors above this are not of the order that theory gives them.
static const double smallPart = 8e-3;

// Of the speed: velocities that change by less are constant, but for rounding.
static const double constantPart = 1e-6;

// The estimate of the error of an extrapolation is taken so many times.
static const double safety = 10.0;

// Moves the end of the halves by a third of what it differs from the end of the whole step.
static void extrapolateBody(tpPose* pose, tpVelocity* velocity, const tpPose* whole,
                            const tpVelocity* wholeVelocity) {
    tpBodyChange zero = { 0 };
    tpBodyChange change = tpBodyChange_Between(pose, velocity, whole, wholeVelocity);
    tpBodyChange part = tpBodyChange_Sum(zero, thirdPart, change);
    tpBodyChange_Apply(pose, velocity, &part);
}

static double beyond(double halves, double whole) {
    return halves + thirdPart * (halves - whole);
}

// Impulses as velocities, so that they make up the momentum: the same contacts are in both.
static void extrapolateLoads(tpCheck* check, const tpSystem* system) {
    tpTaken* halves = &check->halves;
    const tpTaken* whole = &check->whole;
    int count = tpJoints_ReactionCount(system);
    for (int i = 0; i < count; ++i) {
        halves->reactions[i] = beyond(halves->reactions[i], whole->reactions[i]);
    }
    for (int i = 0; i < halves->tally.count; ++i) {
        tpContactInfo* info = &halves->tally.list[i];
        tpContactInfo other = *info;
        const tpContactInfo* first = &whole->tally.list[i];
        other.normalImpulse = -thirdPart * first->normalImpulse;
        other.frictionImpulse = tpScale(-thirdPart, first->frictionImpulse);
        other.torsionalImpulse = -thirdPart * first->torsionalImpulse;
        other.rollingImpulse = tpScale(-thirdPart, first->rollingImpulse);
        other.normal = first->normal;
        info->normalImpulse *= 1.0 + thirdPart;
        info->frictionImpulse = tpScale(1.0 + thirdPart, info->frictionImpulse);
        info->torsionalImpulse *= 1.0 + thirdPart;
        info->rollingImpulse = tpScale(1.0 + thirdPart, info->rollingImpulse);
        tpContactInfo_AddImpulses(info, &other);
    }
    tpStepReport* report = &halves->report;
    report->externalWork = beyond(report->externalWork, whole->report.externalWork);
    report->frictionLoss = beyond(report->frictionLoss, whole->report.frictionLoss);
    report->impactLoss = beyond(report->impactLoss, whole->report.impactLoss);
}

// The state of the system is that of the halves.
void tpCheck_Extrapolate(tpCheck* check, tpGroupRun* run) {
    const tpStepEnds* ends = &check->ends;
    tpSystem* system = run->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            extrapolateBody(&system->poses.data[i], &system->velocities.data[i], &ends->poses[i],
                            &ends->velocities[i]);
        }
    }
    extrapolateLoads(check, system);
    tpGroupRun_Close(run, &check->halves.tally);
}

bool tpTaken_HaveSameContacts(const tpTaken* a, const tpTaken* b) {
    const tpTally *first = &a->tally, *second = &b->tally;
    bool isSame = first->count == second->count;
    for (int i = 0; isSame && i < first->count; ++i) {
        isSame = tpContactInfo_Compare(&first->list[i], &second->list[i]) == 0 &&
                 isPushing(&first->list[i]) == isPushing(&second->list[i]);
    }
    return isSame;
}

// Sliding contacts push before bodies move in the steps of anitescu, which is of first order in
// their positions.
static bool isSymmetric(const tpGroupRun* run, const tpCheck* check) {
    bool isSliding =
        ((tpTaken_Pairs(&check->whole) | tpTaken_Pairs(&check->halves)) & tp_slidingBit) != 0;
    // A step that the method has cut itself is no whole one.
    bool isWhole = check->whole.report.substepCount <= 1;
    return isWhole && tpMethod_IsSymmetric(run->method) &&
           !(isSliding && run->method == tp_standardMethod);
}

// Contacts that stay, sticking or sliding, hold bodies as joints do: both ends are where they
// close, and what lies on the line through them is off by the square of their distance. The energy
// that the extrapolation gave or took is nobody's work: the report's sums go on from what is there.
static bool canExtrapolate(const tpGroupRun* run, const tpCheck* check) {
    return isSymmetric(run, check) && !check->isMoment &&
           tpTaken_Pairs(&check->whole) == tpTaken_Pairs(&check->halves) &&
           tpTaken_HaveSameContacts(&check->each[0], &check->each[1]) &&
           tpTaken_HaveSameContacts(&check->whole, &check->each[1]);
}

// Control -----------------------------------------------------------------------------------------

// If contacts come or go the error is that of a moment: it is made once, however short the step
// is. Otherwise errors add up over time.
static const double momentPart = 0.1;

double tpGroupRun_AllowedError(const tpGroupRun* run, bool isMoment, double h) {
    double part = h / (span * run->timeScale);
    part = isMoment ? fmax(momentPart, part) : part;
    return margin * run->accuracy * run->lengthScale * part;
}

// The part of the last error that a step of half the length or less has at least if it is no
// better.
static const double noBetter = 0.7;

// Where something has turned round, the force of the whole step and those of the halves are wrong
// for parts of the step that nobody knows: their difference counts so many times.
static const double turnedPart = 3.0;

// Steps beyond a limit of the certificate are taken back as if their error were this many times the
// allowed one.
static const double badError = 8.0;

// The order of the error in h, for the next step.
static double orderOf(const tpCheck* check) {
    return check->extrapolates ? 4.0 : check->isMoment ? 1.0 : 2.0;
}

// What contacts that give and end in the step have done wrong in whole and halves alike: forces
// that fall to nothing were left out, or went on beyond.
static double hiddenSpeed(const tpGroupRun* run, const tpCheck* check, double h) {
    double lost = run->pace.givenRate - tpGiving_Rate(&check->halves.tally, run->system, h);
    return 0.5 * h * fmax(lost, 0.0) + 0.25 * h * check->pullRate;
}

// Whether the method has cut the whole step as finely as the halves: both are the same steps then,
// and what they differ by tells nothing. (A block that slid off a table began to tip at the end of
// a step, in both.) Where impacts are located the whole step has one part less.
static bool isCutAlike(const tpCheck* check) {
    int parts = check->each[0].report.substepCount + check->each[1].report.substepCount;
    return check->whole.report.substepCount > 1 && check->whole.report.substepCount >= parts;
}

static void measure(tpGroupRun* run, double start, double h, tpCheck* check) {
    const tpTally *whole = &check->whole.tally, *halves = &check->halves.tally;
    check->isSame = haveSamePairs(whole, halves);
    check->isSudden = !check->isSame &&
                      !(tpGiving_IsAll(whole, run->system) && tpGiving_IsAll(halves, run->system));
    bool isOther = run->pace.knowsPushing && tpTaken_Pairs(&check->halves) != run->pace.pushing;
    check->pullRate = tpGiving_PullRate(&check->each[1].tally, run->system);
    check->isMoment = !check->isSame || isOther || check->whole.hasTurned ||
                      check->halves.hasTurned || check->pullRate > 0.0;
    check->extrapolates = canExtrapolate(run, check);
    double weight = check->isSudden ? h : run->timeScale;
    double allowed = tpGroupRun_AllowedError(run, check->isMoment, h);
    tpStepDifference difference = findDifference(run, &check->ends);
    check->hidden = isOther || check->pullRate > 0.0 ? hiddenSpeed(run, check, h) : 0.0;
    difference.speed += check->hidden;
    check->difference = difference;
    double plain = difference.position + weight * difference.speed;
    // A shorter step that is no better has something in it that happens at once, or rounding.
    if (run->refusedStart == start && plain / allowed > noBetter * run->refusedError) {
        check->isMoment = true;
        allowed = tpGroupRun_AllowedError(run, true, h);
    }
    check->plainError = plain / allowed;
    // While the same shapes push, the halves of a step of second order are off by a third.
    bool isSmooth = isSymmetric(run, check) && !check->isMoment;
    bool hasTurned = check->whole.hasTurned || check->halves.hasTurned;
    check->part = check->extrapolates || isSmooth ? thirdPart : hasTurned ? turnedPart : 1.0;
    if (check->extrapolates && difference.way > 0.0) {
        // The halves are off by a part c of the way, or of what velocities change by; the
        // extrapolation by about c^2, if c is small.
        double ofWay = difference.position / difference.way;
        double floor = constantPart * difference.way / h;
        double ofChange = difference.speed / fmax(difference.change, floor);
        double part = check->part * fmax(ofWay, ofChange);
        check->extrapolates = part < smallPart;
        check->part *= check->extrapolates ? fmin(1.0, safety * part) : 1.0;
    }
    check->error = check->part * check->plainError;
    // Once: what a shorter step does not mend was there before.
    if (check->halves.isBad && !(run->refusedStart == start && run->wasBad)) {
        check->error = fmax(check->error, badError);
    }
    // Contacts that give are cut by the energy guard in whole and halves, down to the shortest
    // step.
    if (isCutAlike(check) && !run->system->gives) {
        check->error = fmax(check->error, badError);
    }
}

double tpGrowth(double error, double order, double most) {
    double factor = error > 0.0 ? tpPow(aim / error, 1.0 / order) : most;
    return fmin(fmax(factor, smallestGrowth), most);
}

double tpCheck_NextStep(const tpCheck* check, double h) {
    return h * tpGrowth(check->error, orderOf(check), largestGrowth);
}

bool tpCheck_TakeWhole(tpCheck* check, tpGroupRun* run, double start, double h, tpKept* before) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    run->hasMemory = tpKept_Take(before, system, stepper, run->state) &&
                     tpGroupRun_TakeStep(run, start, h, &check->whole);
    return run->hasMemory;
}

bool tpCheck_TakeHalves(tpCheck* check, tpGroupRun* run, double start, double h,
                        const tpKept* before) {
    tpSystem* system = run->system;
    const tpStepper* stepper = tpMethod_Stepper(run->method);
    tpKept end;
    run->hasMemory = tpKept_Take(&end, system, NULL, NULL) &&
                     tpKept_PutBack(before, system, stepper, run->state) &&
                     tpGroupRun_TakeStep(run, start, 0.5 * h, &check->halves) &&
                     tpGroupRun_TakeStep(run, start + 0.5 * h, 0.5 * h, &check->each[1]);
    if (!run->hasMemory) {
        return false;
    }
    int count = tpJoints_ReactionCount(system);
    double* first = TP_SCRATCH(&system->arena, double, count);
    for (int i = 0; first != NULL && i < count; ++i) {
        first[i] = check->halves.reactions[i];
    }
    check->each[0] = check->halves;
    check->each[0].reactions = first;
    check->pushing = tpTaken_Pairs(&check->each[1]);
    run->hasMemory = first != NULL && tpTaken_Append(&check->halves, system, &check->each[1]);
    check->ends = (tpStepEnds){ before->motion.poses, end.motion.poses, before->motion.velocities,
                                end.motion.velocities };
    measure(run, start, h, check);
    return run->hasMemory;
}
