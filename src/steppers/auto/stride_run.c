// Going over a stride, and along it.

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"
#include "dynamics/joints.h"
#include "dynamics/motion.h"
#include "math/elementary.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/closing.h"
#include "steppers/auto/landing.h"
#include "steppers/auto/outer_forces.h"
#include "steppers/auto/stride_levels.h"

// A stride is taken by seven steps. It is worth them from so many steps of the user on:
// where each of those is checked, and where most are not. That of a flow is cheaper than one step.
enum { leastChecked = 3, leastTrusted = 6, leastFlowing = 1 };

// The first stride of a group, in parts of the time scale: of one ball alone, whose motion is
// mostly simple, and of others.
static const double firstStride = 0.5, firstOfBall = 4.0;

// Strides by levels of steps after which the flow is tried again.
enum { levelsInRow = 64 };

// Flows that come so many steps of the user far are what is wanted. After so many in a row that do
// not, levels of steps are tried: these cost as much as five to twenty strides of the flow.
enum { longFlow = 16, shortFlows = 48 };

// Of the length at which the error would be what is allowed: it is a high power of the length.
static const double careful = 0.85;

// In parts of what is allowed: the error of a stride of one more step of the user.
static const double roomPart = 0.4;

// Strides that are refused are tried again shorter, so often; what was refused is come near to by
// small steps.
enum { strideTries = 6 };
static const double underCeiling = 0.7, ceilingGrowth = 1.1;

// Of a stride in which something happens, nobody knows when: the length of the next try.
static const double beforeMoment = 0.4;

// If rates tell when: the latest part of the stride that it is thought to be, and how many steps of
// the user later it may come. Until then there are no strides.
static const double latestMoment = 0.999, momentDoubt = 1.5;

// Of the time in which bodies meet what is near if they go on as they do: a longer stride finds it
// near again.
static const double aheadLength = 3.0;

// Of the accuracy: gaps that contacts which leave open in a step of the user.
static const double leavingPart = 0.01;

// Of the drift that is left along strides: what joints are closed to where the motion is bent.
static const double bendPart = 0.1;

// Of what the certificate lets energy rise by, that a stride may use up.
static const double energyShare = 0.35;

// After a refusal strides are not tried for so many steps of the user, twice as many after each
// further one.
enum { firstPatience = 4, mostRefusals = 6 };

// Whether the flow, if there is one, takes the next stride: not if it has cost more than levels,
// which groups with motors or servos have none of.
static bool mayFlow(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    bool isDearer = pace->levelCost > 0.0 && pace->levelCost < pace->flowCost;
    bool isUnknown = pace->levelCost == 0.0 && pace->shortCount >= shortFlows;
    // Levels are for more steps of the user. (A top in strides of two was left to its method.)
    double wanted = 2.0 * pace->step / run->length * (1.0 + 1e-9);
    bool hasLevels = wanted >= (tpPace_IsTrusted(pace) ? leastTrusted : leastChecked);
    return !(isDearer || isUnknown) || !hasLevels || pace->levelCount >= levelsInRow ||
           tpStride_IsDriven(run->system, run->groups, run->group);
}

// What a stride of so many steps of the user has cost. That of a flow matters if longer ones were
// refused for their error, and it does not go far.
static void learnCost(tpPace* pace, const tpStrideLevels* levels, int count, double h,
                      bool wasWrong) {
    double cost = levels->work / (count * h);
    if (!levels->isFlow) {
        pace->levelCost = cost;
        pace->levelCount += 1;
        return;
    }
    bool isShort = wasWrong && count < longFlow;
    pace->flowCost = isShort || pace->flowCost > 0.0 ? cost : 0.0;
    pace->shortCount = pace->flowCost > 0.0 && count < longFlow ? pace->shortCount + 1 : 0;
    pace->levelCount = 0;
}

// How many steps of the user there are before something is thought to happen.
static int countBeforeMoment(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    double h = run->length * (1.0 - 1e-9), left = pace->momentBound - run->begin;
    if (left < 0.5 * h) {
        return tp_maxStride;
    }
    return (int)fmin(tp_maxStride, fmax(pace->momentGuess - run->begin, 0.0) / h);
}

// A stride of so many seconds has met something after a part of it, as far as rates tell.
static void guessMoment(tpGroupRun* run, double part, double length) {
    tpPace* pace = &run->pace;
    pace->momentGuess = run->begin + fmin(part, latestMoment) * length;
    pace->momentBound = fmin(run->begin + length, pace->momentGuess + momentDoubt * run->length);
}

// A group of which nothing else is known begins with a step of its method.
bool tpGroupRun_FliesTowards(const tpGroupRun* run) {
    const tpGroups* groups = run->groups;
    int group = run->group;
    if (groups->pairCounts[group] == 0 || groups->jointCounts[group] > 0 ||
        tpOuterForce_IsThere(run->system, groups, group)) {
        return false;
    }
    for (int i = 0; i < groups->contactCount; ++i) {
        const tpContact* contact = &groups->contacts[i];
        bool isOurs =
            groups->ofBody[contact->bodyA] == group || groups->ofBody[contact->bodyB] == group;
        if (isOurs && contact->gap <= run->limits.penetration) {
            return false;
        }
    }
    return true;
}

// How many steps of the user the next stride has; 0: none. If contacts are near but nothing pushes,
// an impact may be to come: methods fly up to it as exactly as flows, but for joints, forces
// and media.
static int strideCount(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    double forced = tpGroupRun_ForcesUntil(run, 0.0) / run->length * (1.0 + 1e-6);
    double wanted = 2.0 * pace->step / run->length * (1.0 + 1e-9);
    int count = (int)fmin(fmin(countBeforeMoment(run), wanted), forced);
    int least = mayFlow(run) ? leastFlowing : tpPace_IsTrusted(pace) ? leastTrusted : leastChecked;
    int pairCount = run->groups->pairCounts[run->group];
    bool isJoined = mayFlow(run) && (run->groups->jointCounts[run->group] > 0 ||
                                     tpOuterForce_IsThere(run->system, run->groups, run->group));
    bool isUnknown = !pace->knowsPushing && !tpGroupRun_FliesTowards(run);
    bool isSmooth = pairCount == 0 || isUnknown || pace->pushing != 0 || isJoined;
    bool isPossible = count >= least && pace->hopelessCount == 0 && pace->patience == 0 &&
                      isSmooth &&
                      (pairCount == 0 || run->groups->sizes[run->group] <= tp_crowdSize) &&
                      tpStride_CanCarry(run->system, run->groups, run->group);
    return isPossible ? count : 0;
}

// What was thought to be the end of a slip where a try was refused is told anew by the rates at the
// end of a stride before it: nothing, or a later time, if the slip has not gone evenly.
static void guessAgain(tpGroupRun* run, const tpStrideLevels* levels, double length) {
    tpPace* pace = &run->pace;
    double step = (levels->isSingle ? 1.0 : levels->isShort ? 0.5 : 0.25) * length;
    double later = run->begin + length + (levels->flow.laterPart - 1.0) * step;
    if (later > pace->momentGuess + momentDoubt * run->length) {
        pace->momentGuess = isfinite(later) ? later : 0.0;
        pace->momentBound = isfinite(later) ? later + momentDoubt * run->length : 0.0;
    }
}

// What was done counts in the first step of the user; energy keeps its own account there.
static void bookStride(tpGroupRun* run, const tpStrideLevels* levels) {
    tpStepReport* report = &run->taken.report;
    int end = tpStrideLevels_End(levels);
    for (int k = end / 2; k < end; ++k) {
        const tpStepReport* quarter = &levels->taken[k].report;
        report->substepCount += quarter->substepCount;
        report->solveCount += quarter->solveCount;
        report->iterationCount += quarter->iterationCount;
        report->contactQueryCount += quarter->contactQueryCount;
    }
}

// What the quarters have carried, and how far their sums are off. False if memory ran out, or other
// contacts were there.
static bool setLoads(tpGroupRun* run, const tpStrideLevels* levels, tpStride* stride) {
    bool isSet = true;
    for (int k = 0; isSet && k < 4; ++k) {
        tpTaken taken;
        isSet = tpStrideLevels_Quarter(levels, run->system, k, &taken) &&
                tpStrideLoads_Set(&stride->loads, run->system, k, taken.reactions, &taken.report,
                                  &taken.tally);
    }
    const tpTaken* halves = &levels->taken[tp_strideHalf];
    if (isSet && !levels->isFlow) {
        tpStrideLoads_Extrapolate(&stride->loads, run->system, halves[0].reactions,
                                  &halves[0].report, halves[1].reactions, &halves[1].report);
    }
    return isSet;
}

// The states of the stride by its levels. Whether they are as accurate as they have to be.
static bool setStates(tpGroupRun* run, const tpStrideLevels* levels, tpStride* stride) {
    if (!levels->isSmooth || levels->error > 1.0 || levels->middleError > 1.0 ||
        !setLoads(run, levels, stride)) {
        return false;
    }
    for (int k = 0; k < stride->bodies.count; ++k) {
        tpStrideBody* body = &stride->bodies.data[k];
        tpStrideLevels_BodyError(levels, run, (int)body->body, &body->positionError,
                                 &body->speedError);
    }
    tpStrideLevels_PutEnd(levels, run);
    tpStride_Set(stride, run->system, 2);
    if (levels->isSingle) {
        tpStride_SetMiddle(stride);
    } else {
        tpStrideLevels_PutMiddle(levels, run, stride->frameCount > 1);
        tpStride_Set(stride, run->system, 1);
    }
    bool hasQuarters = levels->isFlow && tpStrideLevels_End(levels) == tp_strideSteps;
    tpStride_SetSpins(stride, hasQuarters ? levels->odd[0].motion.velocities : NULL,
                      hasQuarters ? levels->odd[1].motion.velocities : NULL);
    return tpStride_Turn(stride) <= tp_largestTurn;
}

// The turn beyond the spin, and with it the part of the allowed one, is about a square of the
// length.
static double growthByTurn(const tpStride* stride) {
    return sqrt(careful * tp_largestTurn / fmax(tpStride_Turn(stride), 1e-3));
}

// What of the energy has gone up to a part s of the stride without work or a loss that is booked,
// J: `report` has the energies of the start. INFINITY if memory ran out.
static double unbookedLoss(const tpGroupRun* run, const tpStride* stride, double s,
                           tpStepReport* report) {
    tpSystem* system = run->system;
    double* reactions = TP_SCRATCH_ZEROED(&system->arena, double, tpJoints_ReactionCount(system));
    if (reactions == NULL) {
        return INFINITY;
    }
    report->externalWork = report->frictionLoss = report->impactLoss = 0.0;
    tpStrideLoads_Add(&stride->loads, system, 0.0, s, reactions, report);
    report->kineticAfter = tpSystem_KineticEnergy(system);
    report->potentialAfter = tpSystem_PotentialEnergy(system);
    return report->kineticBefore + report->potentialBefore + report->externalWork -
           report->kineticAfter - report->potentialAfter - report->frictionLoss -
           report->impactLoss;
}

// Closes joints between the nodes. Whether bodies overlap there no deeper than the certificate
// allows, and no energy comes back that has gone.
static bool isClear(tpGroupRun* run, tpStride* stride, tpStrideLevels* levels) {
    tpSystem* system = run->system;
    double most = 0.0;
    bool keeps = true;
    tpStride_Place(stride, system, 0.0);
    tpStepReport report = { .kineticBefore = tpSystem_KineticEnergy(system),
                            .potentialBefore = tpSystem_PotentialEnergy(system) };
    double allowed = bendPart * tpStride_Drift(run->accuracy, run->lengthScale);
    // Of one step of the user nothing in between is seen, of two the middle alone, which is a node.
    int every = stride->frameCount == 1 ? 8 : stride->frameCount == 2 ? 4 : 1;
    bool hasBends = every == 1 && run->groups->jointCounts[run->group] > 0;
    for (int k = 0; k < tp_bendCount && hasBends; ++k) {
        tpStride_Place(stride, system, tpStride_BendAt(k));
        if (tpGroupRun_CloseJointsTo(run, allowed)) {
            tpStride_Bend(stride, system, k);
        }
    }
    for (int k = every; k <= 8 && run->hasMemory && keeps; k += every) {
        double s = 0.125 * k;
        tpStride_Place(stride, system, s);
        if (k % 4 == 2) {
            run->hasMemory = tpStrideLoads_Look(&stride->loads, system);
            tpStrideLevels_Compare(levels, run, k / 4);
        }
        double loss = unbookedLoss(run, stride, s, &report);
        keeps = most - loss <= energyShare * tpCertificate_EnergyLimit(system, &report);
        most = fmax(most, loss);
    }
    return keeps && levels->betweenError <= 1.0 &&
           stride->loads.penetration <= run->limits.penetration;
}

// The motion along the stride by its levels. Whether it is as it has to be.
static bool setMotion(tpGroupRun* run, tpStride* stride, tpStrideLevels* levels) {
    return setStates(run, levels, stride) && isClear(run, stride, levels);
}

// Half of the next stride after a good one of so many steps of the user: one step more at least, if
// the error allows that. (Strides of two steps stayed two, since growth by a third is none.)
static double nextPart(const tpStrideLevels* levels, double part, int count, double h) {
    double next = part * careful * tpStrideLevels_Growth(levels);
    double more = (count + 1.0) / count;
    double error = fmax(fmax(levels->error, levels->middleError), levels->betweenError);
    bool isFew = levels->isShort || levels->isSingle;
    bool hasRoom = error * tpPow(more, isFew ? 5.0 : 6.0) <= roomPart;
    return hasRoom ? fmax(next, 0.5 * (count + 1) * h * (1.0 + 1e-9)) : next;
}

// One try: whether the stride has begun. `wasWrong`: it was refused for its error, this time or
// before.
static bool tryStride(tpGroupRun* run, tpStride* stride, int count, bool* wasWrong) {
    tpSystem* system = run->system;
    tpPace* pace = &run->pace;
    double h = run->length, part = 0.5 * count * h, time = system->time;
    tpKept before;
    tpStrideLevels levels;
    run->hasMemory = tpStride_Begin(stride, system, run->groups, run->group, count, h) &&
                     tpKept_Take(&before, system, tpMethod_Stepper(run->method), run->state);
    run->length = 2.0 * part;
    tpStrideWay way = { .mayFlow = mayFlow(run), .isSeen = count > 1 };
    bool isTaken = run->hasMemory && tpStrideLevels_Take(&levels, run, 2.0 * part, way);
    bool isGood = isTaken && setMotion(run, stride, &levels);
    while (isTaken && !isGood && (levels.isShort || levels.isSingle) && run->hasMemory) {
        stride->loads.penetration = stride->loads.residual = 0.0;
        isGood =
            tpStrideLevels_Lengthen(&levels, run, 2.0 * part) && setMotion(run, stride, &levels);
    }
    if (isGood) {
        bookStride(run, &levels);
    }
    run->length = h;
    if (!run->hasMemory) {
        stride->frameCount = 0;
        return false;
    }
    run->taken.work += levels.work;
    double next = part * careful * tpStrideLevels_Growth(&levels);
    bool isAccurate = levels.isSmooth && levels.error <= 1.0 && levels.middleError <= 1.0 &&
                      levels.betweenError <= 1.0;
    if (isGood) {
        tpStride_Settle(stride);
        next = nextPart(&levels, part, count, h);
        next = fmin(next, part * growthByTurn(stride));
        pace->checkedError = levels.plainError;
        pace->uncheckedCount = 0;
        pace->pushing = levels.pushing;
        pace->knowsPushing = true;
        pace->ceiling *= ceilingGrowth;
        pace->flowLength = 0.0;
        pace->flowStep = levels.stepLength;
        pace->flowError = levels.stepError;
        learnCost(pace, &levels, count, h, *wasWrong);
        if (levels.isFlow && pace->awaitsSlip && pace->momentBound > run->begin) {
            guessAgain(run, &levels, 2.0 * part);
        }
        pace->step = pace->ceiling > 0.0 ? fmin(next, fmax(pace->ceiling, part)) : next;
    } else {
        stride->frameCount = 0;
        run->rejectedCount += 1;
        *wasWrong = *wasWrong || (levels.isSmooth && !isAccurate);
        pace->flowLength = levels.isFlow && levels.isSmooth && !isAccurate ? 2.0 * next : 0.0;
        // Where levels have failed at first, flows that are short are better than nothing.
        pace->levelCost = !levels.isFlow && pace->levelCost == 0.0 ? INFINITY : pace->levelCost;
        // Something that happens in it says nothing of later ones, and errors tell their own
        // length.
        bool isTooLong = isAccurate || (!levels.isSmooth && !levels.isMoment);
        pace->ceiling = isTooLong ? underCeiling * part : 0.0;
        // What is near and not to be met within the stride asks for a little less.
        bool isMet = levels.isMoment && !(levels.aheadPart >= 1.0);
        double shorter = (isMet ? beforeMoment : underCeiling) * part;
        shorter = levels.aheadPart >= 0.0 ? fmin(shorter, aheadLength * levels.aheadPart * part)
                                          : shorter;
        bool isKnown = levels.isMoment && levels.momentPart >= 0.0;
        pace->step = levels.isSmooth ? fmin(next, shorter) : isKnown ? pace->step : shorter;
        if (isKnown) {
            guessMoment(run, levels.momentPart, 2.0 * part);
            pace->awaitsSlip = levels.flow.slipHasTurned;
        }
    }
    system->time = time;
    const tpStepper* stepper = isGood ? NULL : tpMethod_Stepper(run->method);
    run->hasMemory = tpKept_PutBack(&before, system, stepper, run->state);
    return isGood && run->hasMemory;
}

// Tries of a stride, each shorter than the one before.
static bool tryStrides(tpGroupRun* run, tpStride* stride) {
    double spent = 0.0, step = fmin(run->pace.step, run->length);
    bool wasWrong = false;
    tpArenaMark mark = tpArena_Mark(&run->system->arena);
    for (int k = 0; k < strideTries; ++k) {
        int count = strideCount(run);
        tpArena_Release(&run->system->arena, mark);
        run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
        run->taken.work = spent;
        if (count == 0 || !run->hasMemory) {
            break;
        }
        if (tryStride(run, stride, count, &wasWrong)) {
            run->pace.refusedCount = 0;
            return true;
        }
        if (!(run->taken.work > spent)) {
            break; // there is nothing that could take it
        }
        spent = run->taken.work;
    }
    tpPace* pace = &run->pace;
    // What happens is passed by steps of the method, which are not shorter for it.
    pace->step = wasWrong ? pace->step : fmax(pace->step, step);
    pace->ceiling = 0.0; // no length was good: this one tells nothing
    if (countBeforeMoment(run) == 0) {
        return false;
    }
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
    // Ends of strides are closed apart.
    run->system->driftTolerance = tpStride_Drift(run->accuracy, 1.0);
    bool hasBegun = tryStrides(&smooth, stride);
    run->system->driftTolerance = 0.0;
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

// Whether shapes that touch leave each other, as after an impact: so fast that the gap after the
// user's step is a part of the accuracy.
static bool isLeaving(const tpGroupRun* run) {
    const tpSystem* system = run->system;
    const tpGroups* groups = run->groups;
    double least = leavingPart * run->accuracy * run->lengthScale / run->length;
    for (int i = 0; groups->pairCounts[run->group] > 0 && i < groups->contactCount; ++i) {
        const tpContact* contact = &groups->contacts[i];
        bool isOurs = groups->ofBody[contact->bodyA] == run->group ||
                      groups->ofBody[contact->bodyB] == run->group;
        if (isOurs && contact->gap <= TP_TOUCH_DISTANCE * system->units.length &&
            -tpContact_Approach(contact, system->poses.data, system->velocities.data) > least) {
            return true;
        }
    }
    return false;
}

static bool isLoneBall(const tpGroupRun* run) {
    const tpSystem* system = run->system;
    const tpGroups* groups = run->groups;
    bool isLone = groups->sizes[run->group] == 1 && groups->jointCounts[run->group] == 0;
    for (int i = 0; isLone && i < system->bodyCount; ++i) {
        isLone = groups->ofBody[i] != run->group || tpBody_IsBall(system, &system->bodies.data[i]);
    }
    return isLone;
}

double tpGroupRun_FirstStep(const tpGroupRun* run) {
    double first = isLoneBall(run) ? firstOfBall : firstStride;
    return fmax(run->length, 0.5 * first * run->timeScale);
}

bool tpGroupRun_TryStride(tpGroupRun* run, tpStride* stride) {
    stride->frameCount = 0;
    run->pace.patience -= run->pace.patience > 0 ? 1 : 0;
    if (run->pace.step == 0.0) {
        run->pace.step = tpGroupRun_FirstStep(run);
    }
    if (strideCount(run) == 0 || isLeaving(run)) {
        run->pace.isTold = !run->pace.knowsPushing && tpGroupRun_AwaitsMoment(run);
        run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
        return false;
    }
    tpPace before = run->pace;
    bool hasBegun = tryBy(run, stride, strideMethod(run));
    // A group of which nothing was known has gone nowhere: the method starts as it would have, but
    // for a moment in this step, up to which the flow may go.
    before.flowLength = run->pace.flowLength;
    before.isTold = !hasBegun && !before.knowsPushing && tpGroupRun_AwaitsMoment(run);
    if (before.isTold) {
        before.momentGuess = run->pace.momentGuess;
        before.momentBound = run->pace.momentBound;
    }
    run->pace = hasBegun || before.knowsPushing ? run->pace : before;
    return hasBegun;
}

void tpGroupRun_FollowStride(tpGroupRun* run, tpStride* stride) {
    tpSystem* system = run->system;
    double h = run->length;
    run->isAccurate = true;
    tpSystem_AimKinematic(system, run->begin, h);
    tpSystem_MoveKinematic(system, run->begin, h);
    tpStride_Advance(stride, system);
    double drift = tpJoints_PositionError(system, system->poses.data);
    if (drift > tpStride_Drift(run->accuracy, run->lengthScale)) {
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
