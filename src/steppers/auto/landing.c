#include "steppers/auto/landing.h"

#include "steppers/auto/flow_error.h"
#include "steppers/auto/outer_forces.h"
#include "steppers/auto/stop.h"
#include "steppers/auto/strike.h"

// Tries of the time of a moment, of those that go by rates, and of a time before it.
// And how often a try that is good says where the next one goes: several things may be to come.
// Rates that lead out of the bracket so often tell nothing: a slip turned where one that only
// slowed down would have gone on. (From one end to the other and back a block on a slope took 22
// tries.)
enum { mostTries = 40, guessedTries = 16, mostRetreats = 6, mostLater = 2, mostOutside = 2 };

// In parts of the accuracy and of the time scale: how near to the moment the flow has to come. What
// gravity makes of it in 20 time scales is a fiftieth of what is asked for.
static const double nearPart = 1e-3;

// Of how far a try went beyond the moment that its rates tell: what that may be off by; and of what
// is near enough, at least.
static const double doubtPart = 0.02, closePart = 0.45;

// Of what is near enough: a moment that is told by a try before it may be that far ahead of it.
static const double soonPart = 0.6;

// Of what is left between a time before the moment and one after it: tries keep off both.
static const double offPart = 0.02;

// The growth of the steps by which a moment is looked for beyond the time where it was thought to
// be.
static const double furtherGrowth = 8.0;

// What two half steps of the fourth order are off by, in parts of what the whole one differs by.
static const double halvesPart = 1.0 / 15.0;

// A slip that has turned too far since the start of a try is no moment if one of at least such a
// part of it is good, and tells of none before.
static const double turnPart = 0.5;

// In lengths of the scene: how near shapes that meet have to come, on the way to that by whole
// steps and at its end; and the tries of both.
static const double roughlyClosed = 1e-3, closed = 1e-9;
enum { meetingTries = 6, closingTries = 4 };

// Steps of the flow that are shorter than those of the last stride are off by less, by the fifth
// power of their length: so many times that, if it is at most a part of what is allowed, and the
// step at most such a part of the other.
static const double foreseenSafety = 10.0, foreseenPart = 0.1, shorterPart = 0.5;

// Of the user's step: a rest after an impact that is shorter is none.
static const double leastRest = 1e-8;

// Impacts in a step of the user that flows go on after; what bounces faster is the method's.
enum { mostStrikes = 12 };

// Times before the moment and after it, and where it is thought to be, s; what the step up to the
// time before has done, and is off by as its stages tell, m.
typedef struct Bracket {
    double before, after, guess;
    tpTaken taken;
    double error;
    bool isTurn;    // there is no moment: a slip has turned too far after the time before
    bool isLasting; // and it does not end in the user's step
} Bracket;

bool tpGroupRun_AwaitsMoment(const tpGroupRun* run) {
    const tpPace* pace = &run->pace;
    double h = run->length * (1.0 - 1e-9);
    return pace->momentBound - run->begin >= 0.5 * h && pace->momentGuess - run->begin < h;
}

static bool keepEnd(tpGroupRun* run, tpKept* end) {
    run->hasMemory = run->hasMemory && tpKept_Take(end, run->system, NULL, NULL);
    return run->hasMemory;
}

// One or two steps of the flow from the start, as long as `time` together. Whether they are good;
// the last one is in `taken`, and if there are two the first one in `first`. A step that goes well
// with other contacts than those that are known to push is no way to the moment: its group is
// another one now.
static bool flow(tpGroupRun* run, tpFlow* flow, const tpKept* start, double time, bool isBlind,
                 tpTaken* first, tpTaken* taken) {
    int count = first != NULL ? 2 : 1;
    bool isGood = true;
    tpKeptMotion_PutBack(&start->motion, run->system);
    flow->watch = isBlind ? tp_flowBlind : tp_flowTouching;
    flow->isAtStart = true;
    for (int k = 0; k < count && isGood && run->hasMemory; ++k) {
        tpTaken* next = first != NULL && k == 0 ? first : taken;
        double part = time / count;
        run->hasMemory = tpFlow_TakeStep(flow, run, k * part, part, next, NULL);
        run->taken.work += next->work;
        uint64_t pushing = tpTaken_Pairs(next);
        isGood = !next->isBad && (run->pace.isTold || pushing == run->pace.pushing);
        run->pace.pushing = isGood ? pushing : run->pace.pushing;
    }
    return isGood && run->hasMemory;
}

// Narrows the bracket down to the moment. False if it is not found. `end`: where the last try
// before it has come to.
//
// A try that goes too far tells by its rates when the moment was, the better the less it went too
// far. The next tries are a little before that and a little after it: by as much as it may be off.
// (One after the other, from wherever the last one was, a block on a belt took 12 tries.) One that
// does not go too far tells by its rates when the moment will be: if that is near, it is found. If
// it is beyond a try in which a slip turned too far, that one was too long, and there is no moment
// to find. (A block between springs took 20 tries to find out after how many degrees of turn.)
static bool findMoment(tpGroupRun* run, tpFlow* from, const tpKept* start, Bracket* bracket,
                       tpKept* end) {
    double enough = nearPart * run->accuracy * run->timeScale, least = closePart * enough;
    double doubt = least, time = bracket->guess - doubt; // rates may change evenly
    int laterCount = 0, outsideCount = 0;
    double stopSpeed = tpGroupRun_StopSpeed(run);
    bool mayStop = stopSpeed > 0.0, hasTurned = false;
    tpTaken taken;
    tpArenaMark mark = tpArena_Mark(&run->system->arena);
    for (int k = 0; k < mostTries && bracket->after - bracket->before > enough; ++k) {
        double off = fmin(offPart * (bracket->after - bracket->before), 0.5 * enough);
        double first = bracket->before + off, last = bracket->after - off;
        outsideCount += time < first || time > last ? 1 : 0;
        bool isLost = k >= guessedTries || (outsideCount > mostOutside && mayStop);
        time = isLost ? 0.5 * (bracket->before + bracket->after) : fmin(fmax(time, first), last);
        bool isGood = flow(run, from, start, time, false, NULL, &taken);
        if (!run->hasMemory || (!isGood && !taken.isBad) || (isGood && !keepEnd(run, end))) {
            return false;
        }
        if (!isGood) {
            tpArena_Release(&run->system->arena, mark);
        } else {
            mark = tpArena_Mark(&run->system->arena);
            bracket->taken = taken;
            bracket->error = tpFlow_Error(from, run, time, NULL);
        }
        bracket->before = isGood ? time : bracket->before;
        bracket->after = isGood ? bracket->after : time;
        bool isTold = !isGood && from->momentPart >= 0.0;
        hasTurned = isGood ? hasTurned : from->slipHasTurned;
        double later = isGood ? from->laterPart * time : INFINITY;
        bool isEnding = isGood && from->endingSlip <= stopSpeed;
        bracket->isTurn = isGood && hasTurned && !isEnding && later >= bracket->after &&
                          time >= turnPart * bracket->after;
        bracket->isLasting = later >= run->length;
        if (isEnding || bracket->isTurn || later - time <= soonPart * enough) {
            return true;
        }
        if (later < bracket->after && laterCount < mostLater) {
            laterCount += 1;
            doubt = fmax(doubtPart * (later - time), least);
            bracket->guess = later;
            time = later - doubt;
        } else if (isTold) {
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

// Whether halves and whole of a way agree to what a moment may be off by: the system is at the end
// of the halves. Where normals change at once, as at the edges of a mesh, flows go anywhere. (A
// cylinder that rolled over hills had twice its energy 4 ms later.)
static bool doHalvesAgree(const tpGroupRun* run, const tpStepEnds* ends, double time) {
    double error = 0.0;
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            double position, speed;
            tpCheck_BodyDifference(run, i, ends, halvesPart, &position, &speed);
            error = fmax(error, position + run->timeScale * speed);
        }
    }
    return error <= tpGroupRun_AllowedError(run, true, time);
}

// Takes the halves of a way, at the end of which the group is, and their error, by the end of the
// whole one. False if they do not agree: then nothing is taken.
static bool keepHalves(tpGroupRun* run, const tpKept* start, const tpKept* end, double time,
                       tpTaken* first, tpTaken* second) {
    tpSystem* system = run->system;
    tpStepEnds ends = { start->motion.poses, end->motion.poses, start->motion.velocities,
                        end->motion.velocities };
    if (!doHalvesAgree(run, &ends, time)) {
        return false;
    }
    addErrors(run, &ends, time);
    first->work = second->work = 0.0; // counted as they were taken
    run->hasMemory =
        tpTaken_Append(&run->taken, system, first) && tpTaken_Append(&run->taken, system, second);
    run->pace.checkedError = INFINITY;
    return true;
}

// Goes there whole, unless that end is known, and in halves, which are kept. Returns how far it has
// come. If a moment is met before: `told` is its time, INFINITY if nobody knows.
static double goTo(tpGroupRun* run, tpFlow* from, const tpKept* start, double time,
                   const tpKept* known, double* told) {
    tpTaken whole, first, second;
    tpKept end;
    bool isWhole =
        known != NULL || (flow(run, from, start, time, false, NULL, &whole) && keepEnd(run, &end));
    if (!isWhole || !flow(run, from, start, time, false, &first, &second)) {
        double begin = isWhole && !first.isBad ? 0.5 * time : 0.0;
        double length = isWhole ? 0.5 * time : time;
        *told = from->momentPart >= 0.0 ? begin + from->momentPart * length : INFINITY;
        tpKeptMotion_PutBack(&start->motion, run->system);
        return 0.0;
    }
    if (!keepHalves(run, start, known != NULL ? known : &end, time, &first, &second)) {
        *told = 0.0; // the method's
        tpKeptMotion_PutBack(&start->motion, run->system);
        return 0.0;
    }
    return time;
}

// What a step of the flow from the start is off by, m, as the last stride tells, INFINITY if it
// does not: slips that come to their end turn ever faster.
static double foreseenError(const tpGroupRun* run, const tpFlow* from, double time) {
    const tpPace* pace = &run->pace;
    double part = pace->flowStep > 0.0 ? time / pace->flowStep : INFINITY;
    if (pace->isTold || part > shorterPart || isfinite(from->endingSlip)) {
        return INFINITY;
    }
    double error = foreseenSafety * pace->flowError * part * part * part * part * part;
    return error <= foreseenPart * tpGroupRun_AllowedError(run, false, time) ? error : INFINITY;
}

// Whether a step of so many seconds needs no halves.
static bool isEnough(const tpGroupRun* run, double error, double time) {
    return error <= tpFlow_Enough * tpGroupRun_AllowedError(run, false, time);
}

// Keeps a step of the flow that is off by so much, m.
static void keepWhole(tpGroupRun* run, tpTaken* taken, double time, double error) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            run->positionErrors[i] += error + time * run->speedErrors[i];
            run->speedErrors[i] += error / run->timeScale;
        }
    }
    taken->work = 0.0; // counted as it was taken
    run->hasMemory = tpTaken_Append(&run->taken, run->system, taken);
    run->pace.checkedError = INFINITY;
}

// Impacts ----------------------------------------------------------------------------------------

// Moves an end on by so many seconds.
static void goOn(tpGroupRun* run, tpKept* end, double seconds) {
    for (int i = 0; i < run->system->bodyCount; ++i) {
        if (run->groups->ofBody[i] == run->group) {
            const tpVelocity* velocity = &end->motion.velocities[i];
            tpPose* pose = &end->motion.poses[i];
            tpQuat turn = tpQuatExp(tpScale(seconds, velocity->angular));
            pose->position = tpMulAdd(pose->position, seconds, velocity->linear);
            pose->rotation = tpNormalizeQuat(tpMulQQ(turn, pose->rotation));
        }
    }
}

// Goes in one step to where shapes meet, about. Returns when that is, 0 if it is not found; `end`
// is where the step came to, at `endTime`, and `error` what its stages tell of it, m.
static double findMeeting(tpGroupRun* run, tpFlow* from, const tpKept* start, double guess,
                          tpKept* end, double* endTime, double* error) {
    tpSystem* system = run->system;
    double time = guess;
    tpFlowMeeting meeting;
    tpTaken taken;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    for (int k = 0; k < meetingTries && time > 0.0 && time <= run->length; ++k) {
        bool isGood = flow(run, from, start, time, true, NULL, &taken);
        run->hasMemory = run->hasMemory && tpFlow_LookAhead(from, system, run->length, &meeting);
        tpArena_Release(&system->arena, mark);
        if (!isGood || !run->hasMemory || !isfinite(meeting.first)) {
            return 0.0;
        }
        *endTime = time;
        *error = tpFlow_Error(from, run, time, NULL);
        time += meeting.first;
        if (fabs(meeting.firstGap) <= roughlyClosed * run->lengthScale) {
            return keepEnd(run, end) ? time : 0.0;
        }
    }
    return 0.0;
}

// Where the way comes to the shapes that meet, in two steps, or in one if there is no `first`.
// Returns when that is, with the group there, or 0: also if others have met before, which overlap
// there. (What has been in the floor and parts from it does not approach: the next impact of
// another body was taken for the first one.)
static double meet(tpGroupRun* run, tpFlow* from, const tpKept* start, double time, tpTaken* first,
                   tpTaken* last) {
    tpSystem* system = run->system;
    double allowed = tpGroupRun_AllowedError(run, true, run->length);
    tpFlowMeeting meeting;
    for (int k = 0; k < closingTries && time > 0.0 && time <= run->length; ++k) {
        bool isGood = flow(run, from, start, time, true, first, last);
        run->hasMemory = run->hasMemory && tpFlow_LookAhead(from, system, run->length, &meeting);
        if (!isGood || !run->hasMemory || !isfinite(meeting.first)) {
            return 0.0;
        }
        if (fabs(meeting.firstGap) <= closed * run->lengthScale) {
            return meeting.deepest <= allowed ? time : 0.0;
        }
        time += meeting.first;
    }
    return 0.0;
}

// Takes the two parts of a way, at the end of which the group is. The end of the whole step tells
// their error: it was at `end` after `endTime`, unless that is too far from `time`. False if they
// do not agree: then nothing is taken.
static bool keepMeeting(tpGroupRun* run, tpFlow* from, const tpKept* start, double time,
                        tpTaken parts[2], tpKept* end, double endTime) {
    tpTaken whole;
    tpKept met;
    bool isNear = fabs(time - endTime) <= nearPart * run->accuracy * run->timeScale;
    bool isGood = keepEnd(run, &met);
    if (isGood && isNear) {
        goOn(run, end, time - endTime);
    } else if (isGood) {
        isGood = flow(run, from, start, time, true, NULL, &whole) && keepEnd(run, end);
        run->hasMemory = run->hasMemory && tpKept_PutBack(&met, run->system, NULL, NULL);
    }
    return isGood && run->hasMemory && keepHalves(run, start, end, time, &parts[0], &parts[1]) &&
           run->hasMemory;
}

// Carries the group to where shapes meet, and through the impact, unless its law leaves that to the
// method. Returns when that was; 0 if shapes do not meet, and then the group may be anywhere.
static double strike(tpGroupRun* run, tpFlow* from, const tpKept* start) {
    tpSystem* system = run->system;
    tpTaken parts[2], impact;
    tpKept end;
    double time = from->momentPart * run->length;
    bool mayStrike =
        from->hasMet && from->plan.rotorCount == 0 && time > 0.0 && run->strikeCount < mostStrikes;
    double endTime = 0.0, error = INFINITY;
    time = mayStrike ? findMeeting(run, from, start, time, &end, &endTime, &error) : 0.0;
    bool isSingle = time > 0.0 && isEnough(run, error, endTime);
    time = time > 0.0 ? meet(run, from, start, time, isSingle ? NULL : &parts[0], &parts[1]) : 0.0;
    if (time == 0.0 || !run->hasMemory) {
        return 0.0;
    }
    if (isSingle) {
        keepWhole(run, &parts[1], time, error);
    } else if (!keepMeeting(run, from, start, time, parts, &end, endTime)) {
        return 0.0;
    }
    run->hasMemory = run->hasMemory && tpTaken_Start(&impact, system, &run->limits);
    if (run->hasMemory && tpGroupRun_Strike(run, &impact)) {
        run->hasMemory = tpTaken_Append(&run->taken, system, &impact);
        run->pace.knowsPushing = false; // who touches now is seen anew
        run->pace.pushing = 0;
        run->pace.flowWait = 0;
        run->strikeCount += 1;
    }
    return run->length - time > leastRest * run->length ? time : run->length;
}

// A step of the flow as long as the user's, without contacts that pull from its start on. Whether
// it is good. `canGo`: there is a flow without them.
static bool flowWhole(tpGroupRun* run, tpFlow* from, const tpKept* start, tpTaken* taken,
                      bool* canGo) {
    bool isGood = flow(run, from, start, run->length, false, NULL, taken);
    bool mayLetGo = !isGood && run->hasMemory && from->pulls != 0;
    if (mayLetGo && tpFlow_LetGo(from, run, &start->motion, canGo) && *canGo) {
        isGood = flow(run, from, start, run->length, false, NULL, taken);
    }
    return isGood;
}

double tpGroupRun_Land(tpGroupRun* run, const tpFlow* refused) {
    tpSystem* system = run->system;
    tpFlow from;
    tpKept start, end;
    tpTaken taken;
    bool canGo = false;
    bool isExpected = tpGroupRun_AwaitsMoment(run) &&
                      (run->pace.knowsPushing || run->pace.isTold) &&
                      tpStride_CanCarry(system, run->groups, run->group);
    if (!isExpected) {
        return 0.0;
    }
    double time = system->time;
    run->hasMemory = tpKept_Take(&start, system, NULL, NULL) && tpFlow_Begin(&from, run, &canGo);
    // Methods fly as exactly as flows do, but for forces and media.
    bool isForced = tpOuterForce_IsThere(system, run->groups, run->group);
    if (!run->hasMemory || !canGo || !(tpFlow_Holds(&from) || isForced || run->pace.isTold)) {
        return 0.0;
    }
    Bracket bracket = { .after = run->length };
    double way = run->length;
    if (refused == NULL && flowWhole(run, &from, &start, &taken, &canGo)) {
        bool isFree = !tpFlow_Holds(&from) && !isForced; // its method is as exact, and cheaper
        bracket.taken = taken;
        bracket.error = tpFlow_Error(&from, run, way, NULL);
        double error = isFree ? INFINITY : foreseenError(run, &from, way);
        if (isfinite(error)) {
            keepWhole(run, &taken, way, error);
            return way;
        }
        way = isFree || !keepEnd(run, &end) ? 0.0 : way;
    } else if (!canGo) {
        way = 0.0;
    } else {
        from.momentPart = refused != NULL ? refused->momentPart : from.momentPart;
        from.hasMet = refused != NULL ? refused->hasMet : from.hasMet;
        double guess = from.momentPart;
        double struck = run->hasMemory ? strike(run, &from, &start) : 0.0;
        if (struck > 0.0) {
            run->pace.momentBound = 0.0;
            return struck;
        }
        bracket.guess = guess * run->length;
        way = run->hasMemory && guess >= 0.0 && findMoment(run, &from, &start, &bracket, &end)
                  ? bracket.before
                  : 0.0;
    }
    // Halves of the way may come to the moment a little earlier, and tell when.
    double back = nearPart * run->accuracy * run->timeScale, come = 0.0, goal = way;
    if (way > 0.0 && run->hasMemory && isEnough(run, bracket.error, way)) {
        run->hasMemory = tpKept_PutBack(&end, system, NULL, NULL);
        keepWhole(run, &bracket.taken, way, bracket.error);
        come = way;
    }
    for (int k = 0; k < mostRetreats && come == 0.0 && goal > back && run->hasMemory; ++k) {
        double told = INFINITY;
        come = goTo(run, &from, &start, goal, k == 0 ? &end : NULL, &told);
        goal = fmin(way, told) - back;
        back *= furtherGrowth;
    }
    bool isOver = come > 0.0 && come < run->length;
    run->pace.momentBound = isOver ? 0.0 : run->pace.momentBound;
    run->pace.flowStep = isOver ? 0.0 : run->pace.flowStep;
    run->pace.knowsPushing = run->pace.knowsPushing || come > 0.0;
    run->isAtSlipEnd = isOver && !bracket.isTurn && tpFlow_Slides(&from);
    bool goesOn = isOver && bracket.isTurn && bracket.isLasting;
    run->pace.flowLength = goesOn ? come : run->pace.flowLength;
    way = come;
    if (way == 0.0) {
        tpKeptMotion_PutBack(&start.motion, system);
        system->time = time;
    }
    return way;
}
