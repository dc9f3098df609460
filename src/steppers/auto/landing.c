#include "steppers/auto/landing.h"

#include "steppers/auto/flow.h"
#include "steppers/auto/outer_forces.h"

// Tries of the time of a moment, of those that go by rates, and of a time before it.
enum { mostTries = 40, guessedTries = 16, mostRetreats = 6 };

// In parts of the accuracy and of the time scale: how near to the moment the flow has to come. What
// gravity makes of it in 20 time scales is a fiftieth of what is asked for.
static const double nearPart = 1e-3;

// Of how far a try went beyond the moment that its rates tell: what that may be off by; and of what
// is near enough, at least.
static const double doubtPart = 0.02, closePart = 0.45;

// Of what is left between a time before the moment and one after it: tries keep off both.
static const double offPart = 0.02;

// The growth of the steps by which a moment is looked for beyond the time where it was thought to
// be.
static const double furtherGrowth = 8.0;

// What two half steps of the fourth order are off by, in parts of what the whole one differs by.
static const double halvesPart = 1.0 / 15.0;

// Times before the moment and after it, and where it is thought to be, s.
typedef struct Bracket {
    double before, after, guess;
} Bracket;

static bool isExpected(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    double h = run->length * (1.0 - 1e-9);
    return pace->momentBound - run->begin >= 0.5 * h && pace->momentGuess - run->begin < h &&
           pace->knowsPushing && tpStride_CanCarry(run->system, run->groups, run->group);
}

// One or two steps of the flow from the start, as long as `time` together. Whether they are good;
// the last one is in `taken`, and if there are two the first one in `first`. A step that goes well
// with other contacts than those that are known to push is no way to the moment: its group is
// another one now.
static bool flow(tpGroupRun* run, tpFlow* flow, const tpKept* start, double time, tpTaken* first,
                 tpTaken* taken) {
    int count = first != NULL ? 2 : 1;
    bool isGood = true;
    tpKeptMotion_PutBack(&start->motion, run->system);
    flow->watch = tp_flowTouching;
    flow->isAtStart = true;
    for (int k = 0; k < count && isGood && run->hasMemory; ++k) {
        tpTaken* next = first != NULL && k == 0 ? first : taken;
        double part = time / count;
        run->hasMemory = tpFlow_TakeStep(flow, run, k * part, part, next, NULL);
        run->taken.work += next->work;
        isGood = !next->isBad && tpTaken_Pairs(next) == run->pace.pushing;
    }
    return isGood && run->hasMemory;
}

// Narrows the bracket down to the moment. False if it is not found.
//
// A try that goes too far tells by its rates when the moment was, the better the less it went too
// far. The next tries are a little before that and a little after it: by as much as it may be off.
// (One after the other, from wherever the last one was, a block on a belt took 12 tries.)
static bool findMoment(tpGroupRun* run, tpFlow* from, const tpKept* start, Bracket* bracket) {
    double enough = nearPart * run->accuracy * run->timeScale, least = closePart * enough;
    double doubt = least, time = bracket->guess - doubt; // rates may change evenly
    tpTaken taken;
    tpArenaMark mark = tpArena_Mark(&run->system->arena);
    for (int k = 0; k < mostTries && bracket->after - bracket->before > enough; ++k) {
        double off = fmin(offPart * (bracket->after - bracket->before), 0.5 * enough);
        time = k < guessedTries ? time : 0.5 * (bracket->before + bracket->after);
        time = fmin(fmax(time, bracket->before + off), bracket->after - off);
        bool isGood = flow(run, from, start, time, NULL, &taken);
        tpArena_Release(&run->system->arena, mark);
        if (!run->hasMemory || (!isGood && !taken.isBad)) {
            return false;
        }
        bracket->before = isGood ? time : bracket->before;
        bracket->after = isGood ? bracket->after : time;
        bool isTold = !isGood && from->momentPart >= 0.0;
        if (isTold) {
            bracket->guess = from->momentPart * time;
            doubt = fmax(doubtPart * (time - bracket->guess), least);
            time = bracket->guess - doubt;
            time = time > bracket->before ? time : bracket->guess + doubt;
        } else if (isGood && time < bracket->guess) {
            time = bracket->guess + doubt;
        } else {
            // It comes after a time that is good, soon or later. Slips that are next to nothing
            // count as none, and nobody knows when they end: soon before that, or earlier.
            double room = bracket->after - bracket->before;
            doubt = fmax(furtherGrowth * doubt, doubtPart * room);
            time = isGood ? bracket->before + doubt : bracket->after - doubt;
        }
    }
    return bracket->before > 0.0 && bracket->after - bracket->before <= enough;
}

// What whole and halves differ by, in each body of the group: the system is at the end of the
// halves.
static void addErrors(tpGroupRun* run, const tpStepEnds* ends, double time) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double position, speed;
            tpCheck_BodyDifference(run, i, ends, halvesPart, &position, &speed);
            run->positionErrors[i] += position + time * run->speedErrors[i];
            run->speedErrors[i] += speed;
        }
    }
}

// Goes there whole and in halves, which are kept. Returns how far it has come.
static double goTo(tpGroupRun* run, tpFlow* from, const tpKept* start, double time) {
    tpSystem* system = run->system;
    tpTaken whole, first, second;
    tpKept end;
    bool isGood = flow(run, from, start, time, NULL, &whole);
    run->hasMemory = run->hasMemory && tpKept_Take(&end, system, NULL, NULL);
    isGood = isGood && run->hasMemory && flow(run, from, start, time, &first, &second);
    if (!isGood) {
        tpKeptMotion_PutBack(&start->motion, system);
        return 0.0;
    }
    tpStepEnds ends = { start->motion.poses, end.motion.poses, start->motion.velocities,
                        end.motion.velocities };
    addErrors(run, &ends, time);
    first.work = second.work = 0.0; // counted as they were taken
    run->hasMemory =
        tpTaken_Append(&run->taken, system, &first) && tpTaken_Append(&run->taken, system, &second);
    run->pace.checkedError = INFINITY;
    return time;
}

double tpGroupRun_Land(tpGroupRun* run) {
    tpSystem* system = run->system;
    tpFlow from;
    tpKept start;
    tpTaken taken;
    bool canGo = false;
    if (!isExpected(run)) {
        return 0.0;
    }
    double time = system->time;
    run->hasMemory = tpKept_Take(&start, system, NULL, NULL) && tpFlow_Begin(&from, run, &canGo);
    // Methods fly as exactly as flows do, but for forces and media.
    bool isForced = tpOuterForce_IsThere(system, run->groups, run->group);
    if (!run->hasMemory || !canGo || !(tpFlow_Holds(&from) || isForced)) {
        return 0.0;
    }
    Bracket bracket = { 0.0, run->length, 0.0 };
    double way = run->length;
    if (!flow(run, &from, &start, run->length, NULL, &taken)) {
        bracket.guess = from.momentPart * run->length;
        way = run->hasMemory && from.momentPart >= 0.0 && findMoment(run, &from, &start, &bracket)
                  ? bracket.before
                  : 0.0;
    }
    // Halves of the way may come to the moment a little earlier.
    double back = nearPart * run->accuracy * run->timeScale, end = 0.0;
    for (int k = 0; k < mostRetreats && end == 0.0 && way > back && run->hasMemory; ++k) {
        end = goTo(run, &from, &start, way == run->length ? way : way - back);
        back *= furtherGrowth;
    }
    bool isOver = end > 0.0 && way < run->length;
    run->pace.momentBound = isOver ? 0.0 : run->pace.momentBound;
    way = end;
    if (way == 0.0) {
        tpKeptMotion_PutBack(&start.motion, system);
        system->time = time;
    }
    return way;
}
