#include "page/live_world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

// The spring of a dragging hand: critically damped, and never so stiff that a step cannot follow
// it.
static const double dragFrequency = 16.0; // rad/s
static const double dragPerStep = 0.3;    // rad per step, at most
static const double longestDelay = 0.2;   // s behind the clock, after which the clock gives way

double secondsOfClock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool keepFrame(tpLiveWorld* live, tpLiveFrame* frame) {
    bool isKept = keepLiveFrame(&live->frames, frame);
    live->status.firstFrame = live->frames.firstFrame;
    live->status.frameCount = countLiveFrames(&live->frames);
    return isKept;
}

static void halt(tpLiveWorld* live, const char* message) {
    live->status.isRunning = false;
    live->stepsWanted = 0;
    ++live->status.version;
    const int longest = (int)sizeof(live->status.message) - 1; // cut on purpose
    snprintf(live->status.message, sizeof(live->status.message), "%.*s", longest, message);
}

static void setPace(tpLiveWorld* live, double now) {
    live->clockStart = now;
    live->timeStart = tpWorld_GetTime(live->world);
}

// Opening
// --------------------------------------------------------------------------------------------

static void keepFirstFrame(tpLiveWorld* live) {
    tpStepReport report = { .time = tpWorld_GetTime(live->world), .converged = true };
    report.kineticBefore = report.kineticAfter = tpWorld_GetKineticEnergy(live->world);
    report.potentialBefore = report.potentialAfter = tpWorld_GetPotentialEnergy(live->world);
    tpLiveFrame frame;
    if (!makeLiveFrame(&live->frames, &live->roster, live->world, &report, live->status.step, false,
                       &frame) ||
        !keepFrame(live, &frame)) {
        halt(live, "out of memory");
    }
}

tpResult openLiveWorld(tpLiveWorld* live, const tpScene* scene, int threadCount, size_t memoryLimit,
                       tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    *live = (tpLiveWorld){ .scene = scene, .threadCount = threadCount, .allocator = allocator };
    live->frames = (tpLiveFrames){ .allocator = allocator, .memoryLimit = memoryLimit };
    live->settings = (tpLiveSettings){ .allocator = allocator };
    live->status.step = scene->simulation.step;
    live->status.speed = 1.0;
    live->limit = INFINITY;
    tpResult result = tpScene_CreateWorld(scene, NULL, threadCount, &live->world, error);
    if (result != tp_success) {
        live->world = NULL;
        closeLiveWorld(live);
        return result;
    }
    live->status.stepper = tpWorld_GetStepper(live->world);
    if (!tpRoster_Create(&live->roster, live->world, &allocator) ||
        !tpWriteShapesText(&live->roster, live->world, &allocator, &live->shapes)) {
        closeLiveWorld(live);
        return tpError_OutOfMemory(error);
    }
    keepFirstFrame(live);
    setPace(live, secondsOfClock());
    return tp_success;
}

void closeLiveWorld(tpLiveWorld* live) {
    freeLiveFrames(&live->frames);
    freeLiveSettings(&live->settings);
    TP_FREE_ARRAY(&live->allocator, live->shapes);
    tpRoster_Destroy(&live->roster);
    if (live->scene != NULL) {
        tpDestroyWorld(live->world);
    }
    live->world = NULL;
}

// Watching
// --------------------------------------------------------------------------------------------

// What there is to see, from the world as it is.
static bool describeWatched(tpLiveWorld* live) {
    live->structure = tpWorld_GetStructure(live->world);
    live->status.stepper = tpWorld_GetStepper(live->world);
    if (!tpRoster_Create(&live->roster, live->world, &live->allocator) ||
        !tpWriteShapesText(&live->roster, live->world, &live->allocator, &live->shapes)) {
        return false;
    }
    keepFirstFrame(live);
    return true;
}

tpResult watchWorld(tpLiveWorld* live, tpWorld* world, double step, size_t memoryLimit,
                    tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    *live = (tpLiveWorld){ .allocator = allocator, .world = world, .limit = INFINITY };
    live->frames = (tpLiveFrames){ .allocator = allocator,
                                   .memoryLimit = memoryLimit,
                                   .hasNoSnapshots = true };
    live->settings = (tpLiveSettings){ .allocator = allocator };
    live->status.step = step;
    live->status.speed = 1.0;
    live->status.isRunning = live->hasRun = true;
    if (!describeWatched(live)) {
        closeLiveWorld(live);
        return tpError_OutOfMemory(error);
    }
    return tp_success;
}

bool hasWatchedChanged(const tpLiveWorld* live) {
    return tpWorld_GetStructure(live->world) != live->structure;
}

void describeWatchedAnew(tpLiveWorld* live) {
    clearLiveFrames(&live->frames);
    TP_FREE_ARRAY(&live->allocator, live->shapes);
    tpRoster_Destroy(&live->roster);
    live->shapes = (tpShapesText){ 0 };
    live->roster = (tpRoster){ 0 };
    bool isDescribed = describeWatched(live);
    ++live->status.epoch;
    ++live->status.version;
    snprintf(live->status.message, sizeof(live->status.message), "%s",
             isDescribed ? "the world has other bodies now: load this page again"
                         : "out of memory");
}

void keepWatchedStep(tpLiveWorld* live, const tpStepReport* report, double h) {
    tpLiveFrame frame;
    live->status.step = h;
    live->status.stepper = tpWorld_GetStepper(live->world);
    if (!makeLiveFrame(&live->frames, &live->roster, live->world, report, h, true, &frame) ||
        !keepFrame(live, &frame)) {
        halt(live, "out of memory");
    }
}

// Orders
// ---------------------------------------------------------------------------------------------

// Starts from the beginning, with the stepper and the numbers that were chosen last.
static void restart(tpLiveWorld* live) {
    tpWorld* world = NULL;
    tpError error;
    if (tpScene_CreateWorld(live->scene, NULL, live->threadCount, &world, &error) != tp_success) {
        halt(live, error.message);
        return;
    }
    // Snapshots belong to the world that goes. The new one is of the same scene: the roster's ids
    // hold.
    clearLiveFrames(&live->frames);
    tpDestroyWorld(live->world);
    live->world = world;
    if (tpWorld_SetStepper(world, live->status.stepper) != tp_success) {
        halt(live, "this scene cannot be stepped that way");
        live->status.stepper = tpWorld_GetStepper(world);
    }
    if (repeatLiveChanges(&live->settings, world, &live->roster, &error) != tp_success) {
        halt(live, error.message);
    }
    live->isDragging = false;
    ++live->status.epoch;
    keepFirstFrame(live);
}

// A stepper that is set anew forgets what it has learned.
static bool useStepper(tpWorld* world, tpStepperId stepper) {
    return tpWorld_GetStepper(world) == stepper || tpWorld_SetStepper(world, stepper) == tp_success;
}

// Goes back to the newest frame up to `frame` that has a snapshot, and forgets what came after it.
// What was changed since stays changed.
static void fork(tpLiveWorld* live, int64_t frame) {
    const tpLiveFrame* found = findLiveFrame(&live->frames, frame);
    while (frame > live->frames.firstFrame && (found == NULL || found->snapshot == NULL)) {
        found = findLiveFrame(&live->frames, --frame);
    }
    if (found == NULL || found->snapshot == NULL) {
        halt(live, "this frame is no longer there to go on from");
        return;
    }
    if (!useStepper(live->world, found->stepper) ||
        tpWorld_Restore(live->world, found->snapshot, NULL) != tp_success) {
        halt(live, "the bodies have changed since this frame: it cannot be gone on from");
    } else {
        cutLiveFrames(&live->frames, frame + 1);
        live->status.frameCount = countLiveFrames(&live->frames);
        ++live->status.epoch;
        live->isDragging = false;
        tpError error;
        if (repeatLiveChanges(&live->settings, live->world, &live->roster, &error) != tp_success) {
            halt(live, error.message);
        }
    }
    if (!useStepper(live->world, live->status.stepper)) {
        live->status.stepper = tpWorld_GetStepper(live->world);
    }
}

static void changeStepper(tpLiveWorld* live, tpStepperId stepper) {
    if (stepper == live->status.stepper) {
        return;
    }
    if (tpWorld_SetStepper(live->world, stepper) == tp_success) {
        live->status.stepper = stepper;
    } else {
        halt(live, "this scene cannot be stepped that way");
    }
}

void obeyLiveOrder(tpLiveWorld* live, const tpLiveOrder* order, double now) {
    tpLiveStatus* status = &live->status;
    ++status->version;
    status->message[0] = '\0';
    if (order->setsStepper) {
        changeStepper(live, order->stepper);
    }
    tpError error;
    if (changeLiveWorld(&live->settings, live->world, &live->roster, &order->change, &error) !=
        tp_success) {
        halt(live, error.message);
    }
    status->step = order->setsStep ? order->step : status->step;
    status->speed = order->setsSpeed ? order->speed : status->speed;
    live->limit = order->setsLimit ? order->limit : live->limit;
    status->isRunning = order->setsRunning ? order->running : status->isRunning;
    status->isRunning = status->isRunning || (order->begins && !live->hasRun);
    live->stepsWanted += order->steps;
    if (order->steps > 0) {
        status->isRunning = false;
    }
    if (order->drags) {
        live->drag = *order;
        live->isDragging = true;
    }
    live->isDragging = live->isDragging && !order->drops;
    if (order->restart) {
        restart(live);
    }
    if (order->forks) {
        fork(live, order->frame);
    }
    live->hasRun = live->hasRun || status->isRunning || order->steps > 0;
    setPace(live, now);
}

// Dragging
// -------------------------------------------------------------------------------------------

// The mass that a pull at `arm` from the centre along `direction` has to move.
static double effectiveMass(const tpWorld* world, tpBodyId body, tpVec3 arm, tpVec3 direction) {
    tpMassProperties mass = tpBody_GetMass(world, body);
    tpQuat rotation = tpBody_GetRotation(world, body);
    tpVec3 torque = tpUnrotate(rotation, tpCross(arm, direction)), turn;
    double inverse = 1.0 / mass.mass;
    if (tpSolve33(mass.inertia, torque, &turn) && isfinite(tpDot(torque, turn))) {
        inverse += fmax(tpDot(torque, turn), 0.0);
    }
    return 1.0 / inverse;
}

static void pull(tpLiveWorld* live, const tpLiveOrder* drag, double h) {
    if (drag->body < 0 || drag->body >= live->roster.bodyCount ||
        live->roster.bodies[drag->body].kind != tp_dynamicBody) {
        return;
    }
    tpWorld* world = live->world;
    tpBodyId body = live->roster.bodies[drag->body].id;
    tpVec3 at = tpTransformPoint(tpBody_GetPose(world, body), drag->point);
    tpVec3 arm = tpSub(at, tpBody_GetPosition(world, body));
    tpVec3 way = tpSub(drag->target, at);
    tpVec3 velocity = tpBody_GetPointVelocity(world, body, at);
    double distance = tpLength(way);
    tpVec3 direction = distance > 0.0 ? tpScale(1.0 / distance, way) : tpMakeVec3(1.0, 0.0, 0.0);
    double mass = effectiveMass(world, body, arm, direction);
    double frequency = fmin(dragFrequency, dragPerStep / h);
    tpVec3 force = tpSub(tpScale(mass * frequency * frequency, way),
                         tpScale(2.0 * mass * frequency, velocity));
    // A hand carries what it holds: without this a light spring would sag under the weight.
    double weight = tpBody_GetMass(world, body).mass;
    force = tpSub(force, tpScale(weight, tpWorld_GetGravity(world)));
    if (tpIsFiniteVec3(force)) {
        tpBody_ApplyForceAt(world, body, force, at, tp_worldFrame);
    }
}

// Steps
// ----------------------------------------------------------------------------------------------

bool isLiveStepDue(tpLiveWorld* live, double now, double* wait) {
    *wait = 0.0;
    if (live->stepsWanted > 0) {
        return true;
    }
    double time = tpWorld_GetTime(live->world);
    if (!live->status.isRunning || time > live->limit - 0.5 * live->status.step) {
        *wait = INFINITY;
        return false;
    }
    double ahead = time + live->status.step - live->timeStart;
    double due = live->clockStart + ahead / live->status.speed;
    if (now < due) {
        *wait = due - now;
        return false;
    }
    if (now > due + longestDelay) {
        setPace(live, now);
    }
    return true;
}

tpLiveStep startLiveStep(tpLiveWorld* live) {
    live->stepsWanted -= live->stepsWanted > 0 ? 1 : 0;
    return (
        tpLiveStep){ .h = live->status.step, .isDragging = live->isDragging, .drag = live->drag };
}

void takeLiveStep(tpLiveWorld* live, tpLiveStep* step) {
    double started = secondsOfClock();
    if (step->isDragging) {
        pull(live, &step->drag, step->h);
    }
    step->report = tpWorld_Step(live->world, step->h);
    step->isMade =
        !step->report.undone && makeLiveFrame(&live->frames, &live->roster, live->world,
                                              &step->report, step->h, true, &step->frame);
    step->took = secondsOfClock() - started;
}

void finishLiveStep(tpLiveWorld* live, tpLiveStep* step) {
    tpLiveStatus* status = &live->status;
    const tpStepReport* report = &step->report;
    if (report->undone) {
        char message[200];
        snprintf(message, sizeof(message), "The simulation could not go on at %.6g s: %s",
                 tpWorld_GetTime(live->world),
                 report->noteCount > 0 ? report->notes[0] : "the step was undone");
        halt(live, message);
    } else if (!step->isMade || !keepFrame(live, &step->frame)) {
        halt(live, "out of memory");
    }
    double factor = fmin(step->h / fmax(step->took, 1e-9), status->speed);
    status->factor = status->factor == 0.0 ? factor : 0.9 * status->factor + 0.1 * factor;
    double until = live->scene->simulation.until, time = tpWorld_GetTime(live->world);
    if (status->isRunning && until > 0.0 && time >= until - 0.5 * step->h &&
        time < until + 0.5 * step->h) {
        halt(live, "");
    }
}
