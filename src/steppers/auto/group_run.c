#include <string.h>

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/step_budget.h"
#include "steppers/auto/apart.h"
#include "steppers/auto/check.h"
#include "steppers/auto/flow_on.h"
#include "steppers/auto/giving.h"
#include "steppers/auto/landing.h"
#include "steppers/auto/modes.h"
#include "steppers/auto/outer_forces.h"
#include "steppers/auto/stop.h"
#include "steppers/auto/unchecked.h"

// The user's step is checked no more than so many times, and cut no shorter than a part of it; then
// the group goes on as well as it can for a while, in a few cuts: for some steps of the user at
// first, since it may be a moment that passes, and twice as long each time.
// Methods find impacts of contacts within a step, but the stop of a joint is passed by the shortest
// one.
enum {
    maxCuts = 32,
    maxCutsOfFew = 96,
    fewBodies = 3,
    fewHopeless = 12,
    mostHopeless = 64,
    hopelessCuts = 2
};
static const double contactCut = 256.0, stopCut = 4096.0;

// So it does, for fewer steps of the user and with steps as long as those, if steps cost so much
// that whole and halves would use up what a step may cost: the part of it that they may.
enum { dearFrames = 8 };
static const double checkingPart = 0.5, cheapPart = 0.2, halvesWork = 2.2;

// Steps after one whose error was at most a part of the allowed one are not checked: a few, or more
// where it was small, or very small.
static const double trusted = 0.5, small = 0.1, verySmall = 1e-2;
enum { fewUnchecked = 3, moreUnchecked = 7, mostUnchecked = 31 };

// Control -----------------------------------------------------------------------------------------

static double shortestStep(const tpGroupRun* run) {
    bool hasJoints = run->groups->jointCounts[run->group] > 0;
    return run->length / (hasJoints ? stopCut : contactCut);
}

// The error of the whole step in parts of what whole and halves differ by.
static const double wholePart = 4.0 / 3.0;

static void addErrors(tpGroupRun* run, const tpCheck* check, double h) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double position, speed;
            tpCheck_BodyDifference(run, i, &check->ends, check->part, &position, &speed);
            run->positionErrors[i] += position + h * run->speedErrors[i];
            run->speedErrors[i] += check->isSudden ? 0.0 : speed + check->hidden;
        }
    }
}

static int uncheckedAfter(double error) {
    return error > trusted     ? 0
           : error > small     ? fewUnchecked
           : error > verySmall ? moreUnchecked
                               : mostUnchecked;
}

bool tpPace_IsTrusted(const tpPace* pace) {
    return pace->checkedError <= trusted;
}

// Whether the halves of a step are not to be afforded after the whole one, which has cost all that
// was spent since `before`.
static bool isDear(const tpSystem* system, double before) {
    double used = tpStepBudget_UsedPart(system);
    return used + halvesWork * (used - before) > checkingPart;
}

// A step that is taken as it is, since halves of it would cost too much.
static double goDear(tpGroupRun* run, const tpCheck* check, const tpKept* before, double start,
                     double h) {
    const tpSystem* system = run->system;
    run->pace.hopelessCount = dearFrames;
    run->isAccurate = false;
    run->pace.checkedError = INFINITY;
    run->pace.pushing = tpTaken_Pairs(&check->whole);
    run->pace.features = tpTaken_Features(&check->whole);
    run->pace.givenRate = tpGiving_Rate(&check->whole.tally, system, h);
    run->pace.knowsPushing = true;
    tpGroupRun_Accept(run, &check->whole);
    tpGroupRun_AddUnknown(run, before->motion.velocities, h);
    tpGroupRun_GrowErrors(run, h);
    return start + h;
}

// What a check of a step tells about later ones.
static void learn(tpGroupRun* run, const tpCheck* check, double h) {
    tpPace* pace = &run->pace;
    // Trust grows from check to check. A moment says nothing of the steps after it, unless bodies
    // fly from impact to impact.
    int trust = 2 * pace->trust + 1;
    bool isLike = !check->isMoment || (tpGroupRun_Locates(run) && tpGroupRun_FliesFreely(run));
    int most = isLike ? uncheckedAfter(check->plainError) : 0;
    pace->checkedError = check->plainError;
    pace->trust = trust < most ? trust : most;
    pace->uncheckedCount = 0;
    // What a moment is off by is made once, and does not go on with time.
    double part = check->isMoment ? 0.0 : wholePart / h;
    pace->positionRate = part * check->difference.position;
    pace->speedRate = check->isSame ? part * check->difference.speed : 0.0;
    pace->pushing = check->pushing;
    pace->features = tpTaken_Features(&check->each[1]);
    pace->givenRate = tpGiving_Rate(&check->each[1].tally, run->system, 0.5 * h);
    pace->knowsPushing = true;
    if (check->isMoment) {
        int next = 2 * pace->momentTrust + 1;
        pace->momentTrust = check->error > verySmall ? 0
                            : next < moreUnchecked   ? next
                                                     : moreUnchecked;
        pace->momentCount = 0;
        pace->momentError = check->difference.position;
    }
}

// The length to go on with after a step of h that is accepted. If the step was shorter than it
// might have been, since the user's step ended there or a moment was near, a very small error, or
// the moment itself, says nothing against steps as long as those that a new group begins with.
static double stepAfter(const tpGroupRun* run, const tpCheck* check, double h, double shortest) {
    double next = fmax(tpCheck_NextStep(check, h), shortest);
    double wanted = fmin(run->pace.step, tpGroupRun_FirstStep(run));
    bool saysNothing = check->isMoment || check->error <= verySmall;
    return h < run->pace.step && saysNothing ? fmax(next, wanted) : next;
}

// Takes the halves of a step after the whole one, for which the budget was used by a part `used`
// before; returns where the group is then.
static double goHalves(tpGroupRun* run, double start, double h, tpCheck* check,
                       const tpKept* before, double used) {
    tpSystem* system = run->system;
    double shortest = shortestStep(run);
    if (isDear(system, used)) {
        return goDear(run, check, before, start, h);
    }
    if (!tpCheck_TakeHalves(check, run, start, h, before)) {
        return start;
    }
    bool isShort = h <= 1.5 * shortest;
    run->taken.work += check->whole.work;
    if (check->error > 1.0 && !isShort) {
        run->taken.work += check->halves.work;
        run->rejectedCount += 1;
        run->refusedStart = start;
        run->refusedError = check->plainError;
        run->wasBad = check->halves.isBad;
        run->pace.step = fmax(fmin(tpCheck_NextStep(check, h), 0.5 * h), shortest);
        run->hasMemory = tpKept_PutBack(before, system, tpMethod_Stepper(run->method), run->state);
        return start;
    }
    run->isAccurate = run->isAccurate && check->error <= 1.0;
    addErrors(run, check, h);
    if (check->extrapolates) {
        tpCheck_Extrapolate(check, run);
    }
    run->pace.step = stepAfter(run, check, h, shortest);
    learn(run, check, h);
    tpGroupRun_Accept(run, &check->halves);
    return start + h;
}

// Of the user's step: forces that begin or end nearer to an end of a step do so there.
static const double leastForced = 1e-6;

double tpGroupRun_ForcesUntil(const tpGroupRun* run, double start) {
    double least = leastForced * run->length, begin = run->begin;
    return tpOuterForce_Until(run->system, run->groups, run->group, begin + start + least) - begin;
}

// Up to here forces of the user act on the group as they do after `start`, or to the end of the
// user's step. A step over the time at which one begins or ends would spread it over the step.
static double endOfForces(const tpGroupRun* run, double start) {
    double until = tpGroupRun_ForcesUntil(run, start);
    return until < run->length * (1.0 - leastForced) ? until : run->length;
}

// Whether a force of the user begins or ends at `start`: what was learned before says nothing of
// the steps after it. (A slide at rest on a spring was pushed for .035 s in one step that nobody
// checked, since rest is exact, and was off by 10 times what was asked for.)
static bool isForcedAnew(const tpGroupRun* run, double start) {
    double least = leastForced * run->length;
    return tpGroupRun_ForcesUntil(run, start - 2.0 * least) <= start + least;
}

// The length of the next step: what is left in equal parts.
static double partOf(const tpGroupRun* run, double start) {
    double left = endOfForces(run, start) - start;
    double step = run->pace.step > 0.0 ? run->pace.step : run->length;
    return left / fmax(1.0, ceil(left / step * (1.0 - 1e-9)));
}

bool tpGroupRun_IsLost(const tpGroupRun* run) {
    bool isLost = false;
    for (int i = 0; i < run->system->bodyCount; ++i) {
        isLost = isLost || (run->groups->ofBody[i] == run->group &&
                            run->positionErrors[i] > run->lengthScale);
    }
    return isLost && run->groups->pairCounts[run->group] > 0;
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
    tpCheck check;
    tpKept before;
    if (isBlind || isHopeless) {
        int cuts = run->pace.hopelessCount > dearFrames ? hopelessCuts : 1;
        h = isBlind ? left : fmin(run->length / cuts, left);
        run->isAccurate = run->isAccurate && isBlind;
        tpGroupRun_GoBlindly(run, start, h, isBlind);
        return start + h;
    }
    run->pace.flowStep = 0.0; // a method goes on: what the flow was off by says nothing any more
    double used = tpStepBudget_UsedPart(run->system);
    bool isExact = tpGroupRun_MayBeExact(run), isTaken = !tpGroupRun_NeedsCheck(run) || isExact;
    if (isExact && tpGroupRun_GoByEvents(run, start, h)) {
        return start + h;
    }
    if (isTaken && tpGroupRun_GoUnchecked(run, start, h, false, &check, &before)) {
        return start + h;
    }
    bool isWhole = isTaken || tpCheck_TakeWhole(&check, run, start, h, &before);
    return isWhole && run->hasMemory ? goHalves(run, start, h, &check, &before, used) : start;
}

// How many steps of the user are still not checked after one that was not. If it was dear the next
// ones are not either, and if it was cheap the next one is checked.
static int hopelessAfter(const tpGroupRun* run) {
    int left = run->pace.hopelessCount - 1;
    if (left >= dearFrames || run->cutCount > 1) {
        return left;
    }
    bool isCheap = (1.0 + halvesWork) * tpStepBudget_UsedPart(run->system) < cheapPart;
    return isDear(run->system, 0.0) ? dearFrames : isCheap ? 0 : left;
}

// Nothing is checked for a while.
static void giveUpChecks(tpPace* pace) {
    int frames = 2 * pace->hopelessLast;
    frames = frames < fewHopeless ? fewHopeless : frames;
    pace->hopelessCount = pace->hopelessLast = frames < mostHopeless ? frames : mostHopeless;
}

// A few bodies that need many checks have something short in a long step of the user, a soft impact
// in .04 s; more bodies are a heap, and dear.
static int mostCuts(const tpGroupRun* run) {
    return run->groups->sizes[run->group] <= fewBodies ? maxCutsOfFew : maxCuts;
}

// Whether the flow goes up to what the group flies towards, and through the impact: its law is that
// of the method, which would be checked there. Balls have a cheaper method for that. (The end of a
// rod on the floor took 12 million instructions.)
static bool fliesIntoImpact(const tpGroupRun* run) {
    return run->method == tp_pileMethod && tpGroupRun_MayBeExact(run) &&
           run->groups->pairCounts[run->group] > 0 && tpGroupRun_FliesTowards(run) &&
           !tpGroupRun_AreBalls(run);
}

// Goes up to a moment in the user's step, if one is expected. Returns how far it has come.
static double landFirst(tpGroupRun* run) {
    tpPace* pace = &run->pace;
    tpPace before = *pace;
    if (fliesIntoImpact(run)) {
        pace->isTold = true;
        pace->momentGuess = run->begin + 0.5 * run->length;
        pace->momentBound = run->begin + run->length;
    }
    bool isTold = pace->isTold;
    double start = tpGroupRun_Land(run, NULL);
    if (isTold && start == 0.0) {
        *pace = before;
    }
    pace->isTold = false;
    return start;
}

void tpGroupRun_Take(tpGroupRun* run) {
    double start = 0.0;
    bool isBlind = isUnchecked(run);
    run->isAccurate = true;
    run->refusedStart = -1.0;
    run->pace.flowWait -= run->pace.flowWait > 0 ? 1 : 0;
    run->hasMemory = tpTaken_Start(&run->taken, run->system, &run->limits);
    if (run->hasMemory && !isBlind && run->pace.hopelessCount == 0 &&
        endOfForces(run, 0.0) == run->length) {
        start = landFirst(run);
    }
    run->pace.isTold = false;
    int cut = 0; // by methods: flows tell their errors themselves
    while (run->hasMemory && start < run->length) {
        run->isGivenUp = run->mayGiveUp && (run->isPassedOn || run->taken.work > run->workLimit);
        if (run->isGivenUp) {
            return;
        }
        if (cut == mostCuts(run) && !isBlind) {
            giveUpChecks(&run->pace);
            run->isAccurate = false;
        } else if (!isBlind && run->pace.hopelessCount == 0 && tpStepBudget_IsSpent(run->system)) {
            run->pace.hopelessCount = dearFrames;
            run->isAccurate = false;
        }
        run->cutCount += 1;
        run->pace.checkedError = isForcedAnew(run, start) ? INFINITY : run->pace.checkedError;
        bool mayStop = !isBlind && run->isAtSlipEnd;
        double way = mayStop ? tpGroupRun_StopAndFlowOn(run, start) : 0.0;
        bool mayFlow = !isBlind && way == 0.0 && tpGroupRun_MayFlowOn(run);
        way = mayFlow ? tpGroupRun_FlowOn(run, start) : way;
        double next = way > 0.0 ? start + way : goOn(run, start, isBlind);
        cut += way > 0.0 ? 0 : 1;
        start = next > run->length * (1.0 - 1e-12) ? run->length : next;
    }
    // Steps that can be checked again make the next time shorter.
    run->pace.hopelessLast /= run->pace.hopelessCount == 0 ? 2 : 1;
    run->pace.hopelessCount = run->pace.hopelessCount > 0 && !isBlind ? hopelessAfter(run) : 0;
}

double tpGroupRun_LastingWork(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    if (run->cutCount > 1 || run->rejectedCount > 0) {
        return run->taken.work;
    }
    double steps = run->length / fmin(fmax(pace->step, shortestStep(run)), run->length);
    double checks = isUnchecked(run) ? 1.0
                    : pace->checkedError > trusted
                        ? 3.0
                        : 1.0 + 2.0 / (1.0 + uncheckedAfter(pace->checkedError));
    return run->lastWork * steps * checks;
}
