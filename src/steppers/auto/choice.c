#include "steppers/auto/choice.h"

#include "dynamics/forces.h"
#include "steppers/auto/unchecked.h"

// Comparing methods is allowed so much of the work that a group has cost.
static const double comparisonShare = 0.125;

// What a comparison is thought to cost before there was one, in frames.
static const double firstComparison = 16.0;

// The same in frames like the dearest one so far. (The first frame of a falling rod was a flight,
// and a comparison of methods cost more than its motion up to rest.)
static const double dearestComparison = 4.0;

// Groups of more bodies with contacts are compared before anything is known of them; those of very
// many never: one step of a method that is not theirs can take minutes.
enum { fewBodies = 3, veryMany = 200 };

// Crowds of more bodies whose steps by another method were beyond a limit of the certificate so
// many times in a row are left to the method for crowds: the others would take minutes per second
// for steps that nobody certifies either. (Ten thousand balls poured into a box: 57 of the first 79
// steps were uncertified, at seven times the time.)
enum { badInRow = 3 };

// Another method has to be cheaper by this factor.
static const double clearlyCheaper = 0.8;

// A method is given up if it costs this many times what the best one did.
static const double hopeless = 1.2;

// The work of methods that miss the accuracy, or a limit of the certificate, counts so many times,
// and as many times more as the limit is missed by: one that is cheap because it leaves a problem
// unsolved is no bargain. (With the work alone a crowd that no method carried within its limits in
// one step was given to small-steps, with a residual of 1e7 times the limit, for hundreds.)
static const double shortfall = 1e3;

// A frame that costs so many times what a usual one did, more than all before, and more than this
// for a body, ns, is taken back, and methods are compared. Impacts cost more than what is between.
static const double surprising = 64.0, muchWork = 1e6;

// The part of the last frame in what a frame is thought to cost.
static const double recent = 0.25;

// Of a comparison: the work that each method gets at first for a body, ns, and how often it gets
// twice as much.
static const double firstBudget = 1.6e4;
enum { maxRounds = 16 };

// A comparison goes into no further round when it has cost as much as a surprising frame, ns, and
// this at the least.
static const double dearest = 2e7;

// Each try has this part of what the group's step may cost, and the step itself the rest.
static const double tryPart = 0.3;

// A method that misses the accuracy is taken if the others have not come to the end with so many
// times its work.
static const double patience = 2.0;

// How a method did in a comparison.
typedef struct Racer {
    tpMethod method;
    double work;     // of the last try
    double lasting;  // of a frame like this one, if the method goes on
    bool isOver;     // no more tries: it is done, or it cannot
    bool isDone;     // it came to the end
    bool isAccurate; // as was asked for, and within the limits of the certificate
    double excess;   // the largest part of a limit of the certificate that was used up
} Racer;

// The largest part of a limit of the certificate that a step has used up.
static double excessOf(const tpTaken* taken) {
    const tpStepReport* report = &taken->report;
    const tpCertificateLimits* limits = &report->limits;
    double contact = report->residual / limits->residual;
    double joints = report->jointDrift / limits->jointDrift;
    double overlap = report->penetration / limits->penetration;
    return fmax(fmax(contact, taken->energyPart), fmax(joints, overlap));
}

// Lets a method carry the group over the frame for at most `limit` of work. Nothing is changed.
static void tryMethod(tpUserStep* frame, int group, const tpKept* before, const tpPace* pace,
                      double limit, Racer* racer) {
    tpSystem* system = frame->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    double time = system->time;
    tpCarrier carrier = { .state = NULL };
    racer->isOver = !tpCarrier_Change(&carrier, system, racer->method);
    if (racer->isOver) {
        return;
    }
    tpCarrier_Pace(&carrier, pace);
    tpGroupRun run = tpUserStep_MakeRun(frame, group, &carrier);
    tpUserStep_GiveShare(frame, group, tryPart);
    run.mayGiveUp = true;
    run.workLimit = limit;
    if (tpUserStep_StartErrors(frame, &run)) {
        double kinetic, potential;
        tpSystem_FindEnergies(system, &kinetic, &potential);
        tpGroupRun_Take(&run);
        tpGroupRun_JudgeEnergy(&run, before, kinetic, potential);
        racer->work = run.taken.work;
        racer->lasting = tpGroupRun_LastingWork(&run);
        racer->isDone = run.hasMemory && !run.isGivenUp && !run.isPassedOn;
        racer->isAccurate = racer->isDone && run.isAccurate && !run.taken.isBad;
        racer->excess = excessOf(&run.taken);
    }
    racer->isOver = racer->isDone || run.isPassedOn || !run.hasMemory;
    const tpStepper* stepper = tpMethod_Stepper(racer->method);
    if (stepper->destroy != NULL) {
        stepper->destroy(system, carrier.state);
    }
    tpKept_PutBack(before, system, NULL, NULL);
    tpArena_Release(&system->arena, mark);
    system->time = time;
}

// The methods that can carry the group, what it has now first.
static int listRacers(const tpUserStep* frame, int group, tpMethod present,
                      Racer racers[tp_methodCount]) {
    int count = 0;
    for (int i = 0; i < tp_methodCount; ++i) {
        tpMethod method = (tpMethod)((present + i) % tp_methodCount);
        if (tpMethod_CanCarry(method, frame->system, &frame->groups, group)) {
            racers[count++] = (Racer){ .method = method };
        }
    }
    return count;
}

// What counts in a comparison: what it has now has an advantage, those that miss something come
// last.
static double countedWork(const Racer* racer, const tpCarrier* carrier) {
    bool isPresent = racer->method == carrier->method && !carrier->isFresh;
    return racer->lasting * (isPresent ? clearlyCheaper : 1.0) *
           (racer->isAccurate ? 1.0 : shortfall * fmax(racer->excess, 1.0));
}

// Whether all that have not come to the end have had as much work as the best one.
static bool isBehind(const Racer* racers, int count, double work) {
    for (int i = 0; i < count; ++i) {
        if (!racers[i].isOver && racers[i].work < work) {
            return false;
        }
    }
    return true;
}

// All go in turn, each for the same work at most, and for twice as much in the next round, until
// one is there: so a comparison costs no more than a few times what the best one does, whatever the
// others need.
static const Racer* race(tpUserStep* frame, int group, const tpKept* before,
                         const tpCarrier* carrier, Racer* racers, int count, double* spent) {
    const Racer* best = NULL;
    double budget = firstBudget * frame->groups.sizes[group];
    double most = fmax(dearest, muchWork * frame->groups.sizes[group]);
    for (int round = 0; round < maxRounds && *spent < most; ++round, budget *= 2.0) {
        bool isOver = true;
        for (int i = 0; i < count; ++i) {
            Racer* racer = &racers[i];
            if (racer->isOver) {
                continue;
            }
            double least = best != NULL && best->isAccurate ? hopeless * best->work : INFINITY;
            double limit = round + 1 == maxRounds ? INFINITY : budget;
            tryMethod(frame, group, before, &carrier->pace, fmin(limit, least), racer);
            *spent += racer->work;
            isOver = isOver && racer->isOver;
            if (racer->isDone &&
                (best == NULL || countedWork(racer, carrier) < countedWork(best, carrier))) {
                best = racer;
            }
        }
        bool isGood = best != NULL && (best->isAccurate || budget > patience * best->work);
        if (isOver || (isGood && isBehind(racers, count, best->work))) {
            break;
        }
    }
    return best;
}

// A method that goes on at the pace that the group had.
static bool change(tpUserStep* frame, tpCarrier* carrier, tpMethod method) {
    if (method == carrier->method) {
        return true;
    }
    tpPace pace = carrier->pace;
    frame->switchCount += carrier->isFresh ? 0 : 1;
    if (!tpCarrier_Change(carrier, frame->system, method)) {
        return false;
    }
    tpCarrier_Pace(carrier, &pace);
    return true;
}

bool tpChoice_Compare(tpUserStep* frame, int group, tpCarrier* carrier) {
    tpSystem* system = frame->system;
    tpKept before;
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    Racer racers[tp_methodCount];
    int count = listRacers(frame, group, carrier->method, racers);
    bool isTooLarge = frame->groups.sizes[group] > veryMany;
    if (count <= 1 || isTooLarge) {
        tpMethod method = count == 1   ? racers[0].method
                          : isTooLarge ? tpMethod_First(system, &frame->groups, group)
                                       : tp_standardMethod;
        frame->isTaken = frame->isTaken || isTooLarge;
        bool isDone = change(frame, carrier, method);
        carrier->isFresh = false;
        carrier->expected = INFINITY;
        return isDone;
    }
    if (!tpKept_Take(&before, system, stepper, carrier->state)) {
        return false;
    }
    double spent = 0.0;
    const Racer* best = race(frame, group, &before, carrier, racers, count, &spent);
    tpUserStep_GiveShare(frame, group, 1.0 - tryPart);
    if (!tpKept_PutBack(&before, system, stepper, carrier->state) ||
        !change(frame, carrier, best != NULL ? best->method : racers[0].method)) {
        return false;
    }
    carrier->isFresh = false;
    carrier->compared += spent;
    carrier->expected = spent;
    carrier->typical = best != NULL ? best->lasting : 0.0;
    frame->taken.work += spent;
    return true;
}

bool tpChoice_CanCompare(const tpUserStep* frame, int group) {
    return group != frame->groups.flying && frame->groups.pairCounts[group] > 0 &&
           frame->groups.sizes[group] <= veryMany;
}

// Whether the group has joints and nothing in it touches: the flow carries it, by any method.
static bool swingsFreely(const tpUserStep* frame, int group) {
    const tpGroups* groups = &frame->groups;
    double touching = TP_TOUCH_DISTANCE * frame->system->units.length;
    bool isFree = groups->jointCounts[group] > 0;
    for (int i = 0; isFree && i < groups->contactCount; ++i) {
        const tpContact* contact = &groups->contacts[i];
        bool isOurs =
            groups->ofBody[contact->bodyA] == group || groups->ofBody[contact->bodyB] == group;
        isFree = !isOurs || contact->gap > touching;
    }
    return isFree;
}

bool tpChoice_Begin(tpUserStep* frame, int group, tpCarrier* carrier) {
    const tpGroups* groups = &frame->groups;
    int size = groups->sizes[group];
    bool isCompared = groups->pairCounts[group] > 0 && size > fewBodies && size <= veryMany &&
                      !swingsFreely(frame, group);
    if (isCompared) {
        return tpChoice_Compare(frame, group, carrier);
    }
    tpMethod method = tpMethod_First(frame->system, groups, group);
    bool isDone = change(frame, carrier, method);
    // Without contacts nobody knows which method those that come will need.
    carrier->isFresh = groups->pairCounts[group] == 0 && group != groups->flying;
    return isDone;
}

bool tpChoice_IsDue(const tpUserStep* frame, int group, const tpCarrier* carrier) {
    if (!tpMethod_CanCarry(carrier->method, frame->system, &frame->groups, group)) {
        return true;
    }
    if (frame->groups.pairCounts[group] > 0 && frame->groups.sizes[group] > veryMany) {
        return false;
    }
    // If contacts are near but nothing pushes all are as good.
    bool isTelling = frame->groups.pairCounts[group] == 0 || carrier->pace.pushing != 0;
    return isTelling && carrier->expected > 0.0 &&
           comparisonShare * carrier->spent > carrier->compared + carrier->expected;
}

bool tpChoice_IsLeft(const tpUserStep* frame, int group, const tpCarrier* carrier) {
    return frame->groups.sizes[group] > tp_hugeCrowd && carrier->method != tp_crowdMethod &&
           carrier->pace.badCount >= badInRow &&
           tpMethod_CanCarry(tp_crowdMethod, frame->system, &frame->groups, group);
}

bool tpChoice_Leave(tpUserStep* frame, tpCarrier* carrier) {
    frame->isLeft = true;
    return change(frame, carrier, tp_crowdMethod);
}

bool tpChoice_StaysOne(const tpUserStep* frame) {
    const tpCarriers* carriers = frame->carriersOf;
    int count = 0;
    for (int i = 0; i < carriers->bodies.count; ++i) {
        int last = carriers->bodies.data[i].carrier;
        count += last >= 0 && carriers->list[last].method == tp_crowdMethod ? 1 : 0;
    }
    return frame->system->joints.count == 0 && count > tp_hugeCrowd;
}

void tpChoice_Book(tpCarrier* carrier, double work) {
    carrier->spent += work;
    carrier->typical += (carrier->typical > 0.0 ? recent : 1.0) * (work - carrier->typical);
    if (carrier->compared == 0.0) {
        double first = carrier->expected == 0.0 ? firstComparison * work : carrier->expected;
        carrier->expected = fmax(first, dearestComparison * work);
    }
}

double tpChoice_WorkLimit(const tpUserStep* frame, int group, const tpCarrier* carrier) {
    if (carrier->typical == 0.0 || group == frame->groups.flying) {
        return INFINITY;
    }
    return fmax(fmax(surprising * carrier->typical, carrier->spent),
                muchWork * frame->groups.sizes[group]);
}
