// Mechanisms that nothing comes near in a frame: the anitescu stepper makes it for them.
//
// The time stepper of bodies that were handed over takes energy from all that swings: a mass that
// goes round on a spring lost half of it in 20 s as soon as there was a ball to bounce anywhere in
// the scene. The symmetric steps of anitescu do not, and no event needs to look at bodies that have
// no pair in the frame. So these bodies take it first, by themselves, and stand where it ends until
// all others have come there.

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/step_budget.h"
#include "steppers/anitescu/anitescu.h"
#include "steppers/mirtich_canny/frame.h"

// Steps of it are no longer than this, in units of time.
static const double longestStep = 5e-3;

static bool isMovable(const tpFlight* flight) {
    return flight->kind == tp_ballistic || flight->kind == tp_stepped;
}

// Which bodies can move and are in no such mechanism; how many are in one.
static bool findOthers(tpEvents* events, bool* isOther, int* count) {
    tpSystem* system = events->system;
    int* islands = tpBodyIslands_Find(system);
    bool* isBusy = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    if (islands == NULL || isBusy == NULL) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpFlight* flight = &events->flights.data[i];
        bool isFree = flight->kind == tp_stepped && flight->isBound && flight->firstLink < 0;
        if (tpSystem_IsDynamic(system, i) && !isFree) {
            isBusy[tpBodyIslands_Root(islands, i)] = true;
        }
    }
    *count = 0;
    for (int i = 0; i < system->bodyCount; ++i) {
        bool isIn = isMovable(&events->flights.data[i]);
        isOther[i] = isIn && isBusy[tpBodyIslands_Root(islands, i)];
        *count += isIn && !isOther[i] ? 1 : 0;
    }
    return true;
}

// The frame in steps of the other stepper, for all bodies that are in the system.
static void takeSteps(tpEvents* events, const tpOptions* options) {
    tpSystem* system = events->system;
    double start = system->time;
    int count =
        (int)fmin(ceil(events->length / (longestStep * system->units.time) * (1.0 - 1e-9)), 1e6);
    count = count > 0 ? count : 1;
    double h = events->length / count;
    for (int k = 0; k < count && !events->report->undone; ++k) {
        system->time = start + k * h;
        system->solveWork = 0.0;
        tpStepBudget_BeginPart(system, 1.0 / count);
        tpAnitescuStepper.step(system, events->mechanisms, options, h, events->report);
    }
    system->time = start;
    events->report->substepCount = count;
    events->report->fallback = "time stepper";
}

// The same with the others out of the system; these are then where they were.
static bool takeApart(tpEvents* events, const tpOptions* options, const bool* isOther) {
    tpSystem* system = events->system;
    size_t count = (size_t)system->bodyCount;
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, count);
    tpVelocity* velocities = TP_SCRATCH(&system->arena, tpVelocity, count);
    if (system->arena.failed) {
        return false;
    }
    memcpy(poses, system->poses.data, sizeof(tpPose) * count);
    memcpy(velocities, system->velocities.data, sizeof(tpVelocity) * count);
    tpSystem_TakeOut(system, isOther);
    takeSteps(events, options);
    tpSystem_PutIn(system, isOther);
    for (int i = 0; i < system->bodyCount; ++i) {
        tpFlight* flight = &events->flights.data[i];
        if (!isMovable(flight) || isOther[i]) {
            continue;
        }
        poses[i] = system->poses.data[i];
        velocities[i] = system->velocities.data[i];
        flight->kind = tp_standing;
        flight->isSwung = true;
    }
    memcpy(system->poses.data, poses, sizeof(tpPose) * count);
    memcpy(system->velocities.data, velocities, sizeof(tpVelocity) * count);
    tpSystem_ForgetFound(system);
    tpSystem_ForgetContacts(system);
    return !events->report->undone;
}

bool tpEvents_SwingMechanisms(tpEvents* events, const tpOptions* options, bool* areAll) {
    tpSystem* system = events->system;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    bool* isOther = TP_SCRATCH(&system->arena, bool, system->bodyCount);
    int count;
    if (isOther == NULL || !findOthers(events, isOther, &count)) {
        return false;
    }
    bool hasOthers = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        hasOthers = hasOthers || isOther[i];
    }
    *areAll = count > 0 && !hasOthers && events->nearPairs.count == 0;
    if (*areAll) {
        takeSteps(events, options);
        return !events->report->undone;
    }
    bool isDone = count == 0 || takeApart(events, options, isOther);
    tpArena_Release(&system->arena, mark);
    return isDone;
}
