// Going over a stride, and along it.

#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "steppers/auto/check.h"

// A stride is two steps that are checked. It is worth its six from so many steps of the user on:
// where each of those is checked, and where most are not.
enum { leastChecked = 3, leastTrusted = 6 };

// Of the length at which the error would be what is allowed: errors of a stride go on in velocities
// that nobody corrects.
static const double careful = 0.6;

// Strides that are refused are tried again shorter, so often; what was refused is come near to by
// small steps.
enum { strideTries = 3 };
static const double underCeiling = 0.7, ceilingGrowth = 1.1;

// After a refusal strides are not tried for so many steps of the user, twice as many after each
// further one.
enum { firstPatience = 4, mostRefusals = 6 };

// How many steps of the user the next stride has; 0: none. Where contacts are near but nothing
// pushes, an impact is to come.
static int strideCount(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    int count = (int)fmin(tp_maxStride, 2.0 * pace->step / run->length * (1.0 + 1e-9));
    int least = tpPace_IsTrusted(pace) ? leastTrusted : leastChecked;
    int pairCount = run->groups->pairCounts[run->group];
    bool isSmooth = pairCount == 0 || (pace->knowsPushing && pace->pushing != 0);
    bool isPossible = count >= least && pace->hopelessCount == 0 && pace->patience == 0 &&
                      isSmooth &&
                      (pairCount == 0 || run->groups->sizes[run->group] <= tp_crowdSize) &&
                      tpStride_CanCarry(run->system, run->groups, run->group);
    return isPossible ? count : 0;
}

// Adds to the errors of a stride what a step of it is off by.
static void addStrideErrors(const tpGroupRun* run, const tpCheck* check, tpStride* stride) {
    for (int k = 0; k < stride->bodies.count; ++k) {
        tpStrideBody* body = &stride->bodies.data[k];
        double position, speed;
        tpCheck_BodyDifference(run, (int)body->body, &check->ends, check->part, &position, &speed);
        body->positionError += position;
        body->speedError += speed;
    }
}

// What was done counts in the first step of the user; energy keeps its own account there.
static void bookStride(tpGroupRun* run, const tpCheck* check) {
    const tpStepReport* halves = &check->halves.report;
    tpStepReport* report = &run->taken.report;
    report->substepCount += halves->substepCount;
    report->solveCount += halves->solveCount;
    report->iterationCount += halves->iterationCount;
    report->contactQueryCount += halves->contactQueryCount;
}

// The first step of a stride, or the second one: whole, in halves, and extrapolated. Whether it is
// as accurate as a stride has to be.
static bool takePartOfStride(tpGroupRun* run, tpStride* stride, int which, double h,
                             tpCheck* check) {
    double start = which * h;
    tpKept before;
    if (!tpCheck_Take(check, run, start, h, &before)) {
        return false;
    }
    run->taken.work += check->whole.work + check->halves.work;
    if (!check->extrapolates || check->error > 1.0 || check->halves.isBad) {
        return false;
    }
    for (int half = 0; half < 2; ++half) {
        const tpTaken* taken = &check->each[half];
        if (!tpStrideLoads_Set(&stride->loads, run->system, 2 * which + half, taken->reactions,
                               &taken->report, &taken->tally)) {
            return false;
        }
    }
    addStrideErrors(run, check, stride);
    bookStride(run, check);
    tpCheck_Extrapolate(check, run);
    return tpStride_Set(stride, run->system, which + 1);
}

// How deep bodies overlap between the nodes, where the polynomials are farthest from them.
static bool isClear(tpGroupRun* run, tpStride* stride) {
    tpSystem* system = run->system;
    for (int k = 0; k < 2 && run->hasMemory; ++k) {
        tpStride_Place(stride, system, 0.25 + 0.5 * k);
        run->hasMemory = tpStrideLoads_Look(&stride->loads, system);
    }
    return stride->loads.penetration <= run->limits.penetration;
}

// One try: whether the stride has begun.
static bool tryStride(tpGroupRun* run, tpStride* stride, int count) {
    tpSystem* system = run->system;
    tpPace* pace = &run->pace;
    double h = run->length, part = 0.5 * count * h, time = system->time, next = INFINITY;
    tpKept before;
    tpCheck check;
    run->hasMemory = tpStride_Begin(stride, system, run->groups, run->group, count, h) &&
                     tpKept_Take(&before, system, tpMethod_Stepper(run->method), run->state);
    bool isGood = run->hasMemory;
    run->refusedStart = -1.0;
    run->length = 2.0 * part;
    for (int which = 0; isGood && which < 2; ++which) {
        isGood = takePartOfStride(run, stride, which, part, &check);
        next = run->hasMemory ? fmin(next, careful * tpCheck_NextStep(&check, part)) : next;
    }
    isGood = isGood && (stride->loads.contacts.count == 0 || isClear(run, stride));
    run->length = h;
    if (!run->hasMemory) {
        stride->frameCount = 0;
        return false;
    }
    if (isGood) {
        pace->checkedError = check.plainError;
        pace->uncheckedCount = 0;
        pace->pushing = check.pushing;
        pace->knowsPushing = true;
        pace->ceiling *= ceilingGrowth;
        pace->step = pace->ceiling > 0.0 ? fmin(next, fmax(pace->ceiling, part)) : next;
    } else {
        stride->frameCount = 0;
        run->rejectedCount += 1;
        // Something that happens in it says nothing of later ones.
        pace->ceiling = check.isMoment ? 0.0 : underCeiling * part;
        pace->step = fmin(next, underCeiling * part);
    }
    system->time = time;
    const tpStepper* stepper = isGood ? NULL : tpMethod_Stepper(run->method);
    run->hasMemory = tpKept_PutBack(&before, system, stepper, run->state);
    return isGood && run->hasMemory;
}

// Tries of a stride, each shorter than the one before.
static bool tryStrides(tpGroupRun* run, tpStride* stride) {
    double spent = 0.0;
    for (int k = 0; k < strideTries; ++k) {
        int count = strideCount(run);
        run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
        run->taken.work = spent;
        if (count == 0 || !run->hasMemory) {
            break;
        }
        if (tryStride(run, stride, count)) {
            run->pace.refusedCount = 0;
            return true;
        }
        spent = run->taken.work;
    }
    tpPace* pace = &run->pace;
    pace->patience = firstPatience << pace->refusedCount;
    pace->refusedCount += pace->refusedCount < mostRefusals ? 1 : 0;
    return false;
}

// The method whose steps are symmetric there. That of anitescu lets sliding contacts push before
// bodies move, which is of first order in their positions.
static tpMethod strideMethod(const tpGroupRun* run) {
    bool isSliding = (run->pace.pushing & tp_slidingBit) != 0;
    bool isPile =
        isSliding && tpMethod_CanCarry(tp_pileMethod, run->system, run->groups, run->group);
    return isPile ? tp_pileMethod : tp_standardMethod;
}

// The same by a method that may be another one, with nothing kept of former steps then. The guard
// of energy is off: it cuts whole steps as halves are cut, and nothing would tell them apart.
static bool tryBy(tpGroupRun* run, tpStride* stride, tpMethod method) {
    const tpStepper* stepper = tpMethod_Stepper(method);
    bool isOther = method != run->method;
    tpGroupRun smooth = *run;
    smooth.method = method;
    smooth.options.values[tp_energyGuardOption] = 0.0;
    run->hasMemory = !isOther || stepper->create(run->system, &smooth.state);
    if (!run->hasMemory) {
        return false;
    }
    bool hasBegun = tryStrides(&smooth, stride);
    if (isOther) {
        stepper->destroy(run->system, smooth.state);
    }
    run->pace = smooth.pace;
    run->taken = smooth.taken;
    run->rejectedCount = smooth.rejectedCount;
    run->lastWork = smooth.lastWork;
    run->hasMemory = smooth.hasMemory;
    return hasBegun;
}

bool tpGroupRun_TryStride(tpGroupRun* run, tpStride* stride) {
    stride->frameCount = 0;
    run->pace.patience -= run->pace.patience > 0 ? 1 : 0;
    if (strideCount(run) == 0) {
        run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
        return false;
    }
    return tryBy(run, stride, strideMethod(run));
}

void tpGroupRun_FollowStride(tpGroupRun* run, tpStride* stride) {
    tpSystem* system = run->system;
    double h = run->length;
    run->isAccurate = true;
    tpSystem_AimKinematic(system, run->begin, h);
    tpSystem_MoveKinematic(system, run->begin, h);
    tpStride_Advance(stride, system);
    double drift = tpJoints_PositionError(system, system->poses.data);
    if (tpStride_IsOpen(drift, run->lengthScale)) {
        tpGroupRun_CloseJoints(run);
        drift = tpJoints_PositionError(system, system->poses.data);
    }
    tpStride_Leave(stride, system);
    run->taken.report.jointDrift = drift;
    tpStride_AddLoads(stride, system, run->taken.reactions, &run->taken.report);
    run->hasMemory = tpStride_AddContacts(stride, system, &run->taken.tally);
    for (int k = 0; k < stride->bodies.count; ++k) {
        const tpStrideBody* body = &stride->bodies.data[k];
        run->positionErrors[body->body] +=
            body->positionError / stride->frameCount + h * run->speedErrors[body->body];
        run->speedErrors[body->body] += body->speedError / stride->frameCount;
    }
    run->lastStep = stride->frameCount * stride->h;
}
