// When impulses bog down: bodies with too many events go to a time stepper, and come back.
//
// The paper leaves stacks and hinges to future work (sec. 5.2). Here a body that uses up its share
// of events takes its island, all that it touches through other bodies, to the time stepper; bodies
// of joints are always with it. Its steps are events of the same heap (time_stepper.c). So does a
// body that others press deeper than it can hop out of. A body is taken back when nothing is nearer
// to it than 2 eps_c. Mechanisms that nothing comes near have another one (mechanisms.c).

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/anitescu/anitescu.h"
#include "steppers/mirtich_canny/frame.h"
#include "steppers/pieces.h"

// Of what a frame may cost, for a step of another stepper after events have cost too much.
static const double leastAway = 0.4;

// Bodies of joints, and those with locked directions; no reactions yet.
static void findBound(tpEvents* events) {
    tpSystem* system = events->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i) && system->bodies.data[i].locked != 0) {
            events->flights.data[i].isBound = true;
        }
    }
    tpJoints_ClearReactions(system);
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int side = 0; joint->isLive && side < 2; ++side) {
            int body = side == 0 ? joint->bodyA : joint->bodyB;
            if (tpSystem_IsDynamic(system, body)) {
                events->flights.data[body].isBound = true;
            }
        }
    }
}

void tpSystem_HandOver(tpSystem* system, int body, bool isHandedOver) {
    system->bodies.data[body].carrier = isHandedOver ? "time stepper" : NULL;
}

bool tpEvents_StartTimeStepper(tpEvents* events) {
    tpSystem* system = events->system;
    events->stepTime = INFINITY;
    events->isStepping = false;
    events->stepCount = events->exhaustedCount = 0;
    events->historyLength = 0.0;
    findBound(events);
    bool isUsed = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        tpFlight* flight = &events->flights.data[i];
        bool isOurs = flight->kind == tp_ballistic && (body->carrier != NULL || flight->isBound);
        bool isHandedOver = isOurs && events->settings.handsOver;
        tpSystem_HandOver(system, i, isHandedOver);
        if (isHandedOver) {
            flight->kind = tp_stepped;
            tpEvents_RefreshFlight(events, i);
            isUsed = true;
        } else if (isOurs) {
            tpStepReport_AddNote(events->report, "joints are not held without hand_over");
        }
    }
    return isUsed;
}

// Whether what is known of a pair says that it touches.
static bool isClose(const tpEvents* events, const tpNearPair* pair) {
    for (int i = pair->firstShapes; i >= 0; i = events->nearShapes.data[i].next) {
        if (events->nearShapes.data[i].isClose) {
            return true;
        }
    }
    return false;
}

// Marks all bodies in flight that the listed ones reach through pairs: close ones, or all that are
// near.
static void markReached(tpEvents* events, bool throughNear) {
    for (int k = 0; k < events->island.count; ++k) {
        int link = events->flights.data[events->island.data[k]].firstLink;
        while (link >= 0) {
            const tpNearPair* pair = &events->nearPairs.data[link / 2];
            int other = pair->body[1 - link % 2];
            tpFlight* flight = &events->flights.data[other];
            if (flight->kind == tp_ballistic && !flight->joins &&
                (throughNear || isClose(events, pair))) {
                flight->joins = true;
                events->hasJoiners = true;
                events->island.data[events->island.count++] = other;
            }
            link = pair->nextLink[link % 2];
        }
    }
}

void tpEvents_HandOver(tpEvents* events, int body) {
    if (!events->settings.handsOver || events->flights.data[body].joins) {
        return;
    }
    if (!TP_RESERVE(&events->allocator, events->island, events->flights.count)) {
        events->outOfMemory = true;
        return;
    }
    events->flights.data[body].joins = true;
    events->hasJoiners = true;
    events->island.count = 1;
    events->island.data[0] = body;
    markReached(events, false);
}

// Every body that comes to the time stepper ends its step. If there are too many of them in a
// frame, all that are near come at once.
static void gatherNear(tpEvents* events) {
    if (!TP_RESERVE(&events->allocator, events->island, events->flights.count)) {
        events->outOfMemory = true;
        return;
    }
    events->island.count = 0;
    for (int i = 0; i < events->flights.count; ++i) {
        const tpFlight* flight = &events->flights.data[i];
        if (flight->kind == tp_stepped || flight->joins) {
            events->island.data[events->island.count++] = i;
        }
    }
    markReached(events, true);
}

void tpEvents_TakeOver(tpEvents* events, double time) {
    tpSystem* system = events->system;
    events->outOfMemory = !tpEvents_EndStep(events, time) || events->outOfMemory;
    if (tpEvents_HasManySteps(events)) {
        gatherNear(events);
    }
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (!flight->joins) {
            continue;
        }
        tpEvents_Advance(events, i, time);
        flight->kind = tp_stepped;
        flight->joins = flight->leaves = false;
        tpSystem_HandOver(system, i, true);
        tpEvents_UpdateBody(events, i, time, -1);
    }
    events->hasJoiners = false;
    tpStepReport_AddNote(events->report, "bodies were handed to the time stepper");
    tpEvents_ScheduleStep(events, time);
}

bool tpEvents_FinishTimeStepper(tpEvents* events) {
    tpSystem* system = events->system;
    bool isUsed = false;
    if (!tpEvents_EndStep(events, events->length)) {
        return false;
    }
    for (int i = 0; i < events->flights.count; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (flight->isSwung) {
            tpSystem_HandOver(system, i, true);
        } else if (flight->kind == tp_stepped) {
            isUsed = isUsed || flight->isBound;
            // Whoever is to leave does so as the next frame starts.
            tpSystem_HandOver(system, i, !flight->leaves);
        }
        bool isHandedOver = system->bodies.data[i].carrier != NULL;
        events->report->figures[tp_handedOverFigure] += isHandedOver ? 1 : 0;
    }
    if (isUsed) {
        tpJoints_FollowAngles(system);
        tpJoints_Correct(system, events->memory->solver, 1e-10 * system->units.length);
        double drift = tpJoints_PositionError(system, system->poses.data);
        events->report->jointDrift = fmax(events->report->jointDrift, drift);
    }
    return true;
}

// Whole frames -----------------------------------------------------------------------------------

// Says who was handed over, all bodies in flight or those of the time stepper, by a whole frame.
static void countHandedOver(tpEvents* events, bool isAll) {
    tpSystem* system = events->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isStepped =
            isAll ? tpSystem_IsDynamic(system, i) : events->flights.data[i].kind == tp_stepped;
        tpSystem_HandOver(system, i, isStepped);
        events->report->figures[tp_handedOverFigure] += isStepped ? 1 : 0;
    }
    events->report->fallback = "time stepper";
}

void tpEvents_TellWhole(tpEvents* events) {
    countHandedOver(events, false);
}

void tpEvents_StepAway(tpEvents* events, const tpOptions* options) {
    tpSystem* system = events->system;
    double used = (tpStepBudget_Work(system) - events->startWork) / tpStepBudget_Whole(system);
    system->solveWork = 0.0;
    tpStepBudget_BeginPart(system, fmax(events->share - used, leastAway * events->share));
    system->wasSpent = false;
    tpPieces_Take(&tpAnitescuStepper, system, events->memory, options, events->length,
                  events->report);
    countHandedOver(events, true);
    tpStepReport_AddNote(events->report, "frames of events cost too much: another stepper takes "
                                         "them whole for a while");
}
