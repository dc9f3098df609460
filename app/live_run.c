// A simulation that goes on. The lock guards everything but the world, which is the thread's alone; a step is
// taken without it.

#include "live_run.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "live_frames.h"
#include "recording/shapes_text.h"

// The spring of a dragging hand: critically damped, and never so stiff that a step cannot follow it.
static const double dragFrequency = 16.0; // rad/s
static const double dragPerStep = 0.3;    // rad a step, at most
static const double longestDelay = 0.2;   // s behind the clock, after which the clock gives way

struct tpLiveRun {
    tpRunSource source;
    tpLiveDef def;
    tpAllocator allocator;
    pthread_t thread;
    bool hasThread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool quits;

    tpWorld* world; // the thread's
    tpRoster roster;
    tpShapesText shapes;

    tpLiveFrames frames;

    bool hasRun; // was told to, at least once
    tpLiveStatus status;
    tpLiveOrder drag; // the last one, while it lasts
    bool isDragging;
    tpLiveOrder pending;
    bool hasPending;
    int stepsWanted;
    double clockStart, timeStart; // of the pace: when the world was at timeStart
};

static double secondsNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Under the lock.
static bool keepFrame(tpLiveRun* run, tpLiveFrame* frame) {
    bool isKept = keepLiveFrame(&run->frames, frame);
    run->status.firstFrame = run->frames.firstFrame;
    run->status.frameCount = countLiveFrames(&run->frames);
    return isKept;
}

static void halt(tpLiveRun* run, const char* message) {
    run->status.isRunning = false;
    run->stepsWanted = 0;
    ++run->status.version;
    const int longest = (int)sizeof(run->status.message) - 1; // cut on purpose
    snprintf(run->status.message, sizeof(run->status.message), "%.*s", longest, message);
}

// The world ----------------------------------------------------------------------------------------

static void keepFirstFrame(tpLiveRun* run) {
    tpStepReport report = { .time = tpWorld_GetTime(run->world), .converged = true };
    report.kineticBefore = report.kineticAfter = tpWorld_GetKineticEnergy(run->world);
    report.potentialBefore = report.potentialAfter = tpWorld_GetPotentialEnergy(run->world);
    tpLiveFrame frame;
    if (!makeLiveFrame(&run->frames, &run->roster, run->world, &report, run->status.step, false,
                       &frame) ||
        !keepFrame(run, &frame)) {
        halt(run, "out of memory");
    }
}

static void setPace(tpLiveRun* run) {
    run->clockStart = secondsNow();
    run->timeStart = tpWorld_GetTime(run->world);
}

// Starts from the beginning, with the stepper that was chosen last. Under the lock.
static void restartWorld(tpLiveRun* run) {
    tpWorld* world = NULL;
    tpError error;
    if (tpScene_CreateWorld(run->def.scene, NULL, run->def.threadCount, &world, &error) !=
        tp_success) {
        halt(run, error.message);
        return;
    }
    tpDestroyWorld(run->world);
    run->world = world; // the same scene: the roster's ids hold
    if (tpWorld_SetStepper(world, run->status.stepper) != tp_success) {
        halt(run, "this scene cannot be stepped that way");
        run->status.stepper = tpWorld_GetStepper(world);
    }
    run->isDragging = false;
    clearLiveFrames(&run->frames);
    ++run->status.epoch;
    keepFirstFrame(run);
}

static void obey(tpLiveRun* run, const tpLiveOrder* order) {
    ++run->status.version;
    run->status.message[0] = '\0';
    if (order->setsStepper && order->stepper != run->status.stepper) {
        if (tpWorld_SetStepper(run->world, order->stepper) == tp_success) {
            run->status.stepper = order->stepper;
        } else {
            halt(run, "this scene cannot be stepped that way");
        }
    }
    run->status.step = order->setsStep ? order->step : run->status.step;
    run->status.speed = order->setsSpeed ? order->speed : run->status.speed;
    run->status.isRunning = order->setsRunning ? order->running : run->status.isRunning;
    run->status.isRunning = run->status.isRunning || (order->begins && !run->hasRun);
    run->stepsWanted += order->steps;
    if (order->steps > 0) {
        run->status.isRunning = false;
    }
    if (order->drags) {
        run->drag = *order;
        run->isDragging = true;
    }
    run->isDragging = run->isDragging && !order->drops;
    if (order->restart) {
        restartWorld(run);
    }
    run->hasRun = run->hasRun || run->status.isRunning || order->steps > 0;
    setPace(run);
}

// Dragging -----------------------------------------------------------------------------------------

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

static tpForceId pull(tpLiveRun* run, const tpLiveOrder* drag, double step) {
    tpForceId none = { 0, 0 };
    if (drag->body < 0 || drag->body >= run->roster.bodyCount ||
        run->roster.bodies[drag->body].kind != tp_dynamicBody) {
        return none;
    }
    tpWorld* world = run->world;
    tpBodyId body = run->roster.bodies[drag->body].id;
    tpVec3 at = tpTransformPoint(tpBody_GetPose(world, body), drag->point);
    tpVec3 arm = tpSub(at, tpBody_GetPosition(world, body));
    tpVec3 way = tpSub(drag->target, at);
    tpVec3 velocity = tpAdd(tpBody_GetVelocity(world, body),
                            tpCross(tpBody_GetAngularVelocity(world, body), arm));
    double distance = tpLength(way);
    tpVec3 direction = distance > 0.0 ? tpScale(1.0 / distance, way) : tpMakeVec3(1.0, 0.0, 0.0);
    double mass = effectiveMass(world, body, arm, direction);
    double frequency = fmin(dragFrequency, dragPerStep / step);
    tpForceDef def = tpDefaultForceDef();
    def.body = body;
    def.hasPoint = true;
    def.point = drag->point;
    def.frame = tp_worldFrame;
    def.force = tpSub(tpScale(mass * frequency * frequency, way),
                      tpScale(2.0 * mass * frequency, velocity));
    // A hand carries what it holds: without this a light spring would sag under the weight.
    double weight = tpBody_GetMass(world, body).mass;
    def.force = tpSub(def.force, tpScale(weight, tpWorld_GetGravity(world)));
    return tpIsFiniteVec3(def.force) ? tpCreateForce(world, &def, NULL) : none;
}

// The thread ---------------------------------------------------------------------------------------

static void waitUntil(tpLiveRun* run, double clock) {
    struct timespec until = { .tv_sec = (time_t)clock };
    until.tv_nsec = (long)((clock - floor(clock)) * 1e9);
    pthread_cond_timedwait(&run->changed, &run->lock, &until);
}

// Whether a step is due; waits where it is not. Under the lock.
static bool awaitStep(tpLiveRun* run) {
    if (run->hasPending) {
        run->hasPending = false;
        tpLiveOrder order = run->pending;
        obey(run, &order);
        run->def.news(run->def.context);
        return false;
    }
    if (run->stepsWanted > 0) {
        --run->stepsWanted;
        return true;
    }
    if (!run->status.isRunning) {
        pthread_cond_wait(&run->changed, &run->lock);
        return false;
    }
    double due =
        run->clockStart +
        (tpWorld_GetTime(run->world) + run->status.step - run->timeStart) / run->status.speed;
    double now = secondsNow();
    if (now < due) {
        waitUntil(run, due);
        return false;
    }
    if (now > due + longestDelay) {
        setPace(run);
    }
    return true;
}

// One step, without the lock but for its ends.
static void takeStep(tpLiveRun* run) {
    double step = run->status.step;
    tpLiveOrder drag = run->drag;
    bool isDragging = run->isDragging;
    pthread_mutex_unlock(&run->lock);

    double started = secondsNow();
    tpForceId force = { 0, 0 };
    if (isDragging) {
        force = pull(run, &drag, step);
    }
    tpStepReport report = tpWorld_Step(run->world, step);
    if (force.generation != 0) {
        tpDestroyForce(run->world, force);
    }
    tpLiveFrame frame;
    bool isMade = !report.undone && makeLiveFrame(&run->frames, &run->roster, run->world, &report,
                                                  step, true, &frame);
    double took = secondsNow() - started;

    pthread_mutex_lock(&run->lock);
    if (report.undone) {
        char message[200];
        snprintf(message, sizeof(message), "The simulation could not go on at %.6g s: %s",
                 tpWorld_GetTime(run->world), report.noteCount > 0 ? report.notes[0] : "undone");
        halt(run, message);
    } else if (!isMade || !keepFrame(run, &frame)) {
        halt(run, "out of memory");
    }
    double possible = step / fmax(took, 1e-9);
    double factor = fmin(possible, run->status.speed);
    run->status.factor =
        run->status.factor == 0.0 ? factor : 0.9 * run->status.factor + 0.1 * factor;
    double until = run->def.scene->simulation.until;
    double now = tpWorld_GetTime(run->world);
    if (run->status.isRunning && until > 0.0 && now >= until - 0.5 * step &&
        now < until + 0.5 * step) {
        halt(run, "");
    }
    run->def.news(run->def.context);
}

static void* simulate(void* context) {
    tpLiveRun* run = context;
    pthread_mutex_lock(&run->lock);
    setPace(run);
    while (!run->quits) {
        if (awaitStep(run)) {
            takeStep(run);
        }
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

// As a source --------------------------------------------------------------------------------------

static tpLiveRun* runOf(const tpRunSource* source) {
    return (tpLiveRun*)(uintptr_t)source;
}

static tpRunInfo getInfo(const tpRunSource* source) {
    const tpLiveRun* run = runOf(source);
    const tpScene* scene = run->def.scene;
    return (tpRunInfo){ .version = tpVersion(),
                        .sceneText = scene->text,
                        .sceneName = run->def.name,
                        .shapesText = run->shapes.data,
                        .summary = "",
                        .every = 1,
                        .bodyCount = run->roster.bodyCount,
                        .movingCount = run->roster.movingCount,
                        .jointCount = run->roster.jointCount,
                        .planar = scene->planar,
                        .gravity = scene->gravity };
}

static tpRunRange getRange(tpRunSource* source) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    tpRunRange range = { .firstFrame = run->status.firstFrame,
                         .frameCount = run->status.frameCount,
                         .contactCount = run->frames.contactTotal,
                         .step = run->status.step,
                         .stepper = tpStepperName(run->status.stepper) };
    pthread_mutex_unlock(&run->lock);
    return range;
}

static double getStep(tpRunSource* source, int64_t frame) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    const tpLiveFrame* found = findLiveFrame(&run->frames, frame);
    double step = found != NULL ? found->step : run->status.step;
    pthread_mutex_unlock(&run->lock);
    return step;
}

static tpRecordedBody getBody(const tpRunSource* source, int body) {
    const tpRosterBody* from = &runOf(source)->roster.bodies[body];
    return (tpRecordedBody){ .name = from->name,
                             .kind = from->kind,
                             .mass = from->mass.mass,
                             .moving = from->moving,
                             .pose = from->pose };
}

static const char* getJointName(const tpRunSource* source, int joint) {
    return runOf(source)->roster.joints[joint].name;
}

// Copies something of each frame of a range under the lock.
typedef void (*frameCopier)(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                            int extra);
static tpResult copyFrames(tpRunSource* source, int64_t first, int64_t count, frameCopier copy,
                           void* to, int extra, tpError* error) {
    tpLiveRun* run = runOf(source);
    tpResult result = tp_success;
    pthread_mutex_lock(&run->lock);
    for (int64_t k = 0; k < count && result == tp_success; ++k) {
        const tpLiveFrame* frame = findLiveFrame(&run->frames, first + k);
        if (frame == NULL) {
            result = tpError_Set(error, tp_badInput, "frame %lld is no longer there",
                                 (long long)(first + k));
        } else {
            copy(run, frame, k, to, extra);
        }
    }
    pthread_mutex_unlock(&run->lock);
    return result;
}

static void copyStates(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                       int extra) {
    (void)extra;
    size_t width = (size_t)run->roster.movingCount * tp_stateWidth;
    if (width > 0) {
        memcpy((double*)to + (size_t)k * width, frame->states, width * sizeof(double));
    }
}

static void copyBodyState(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                          int extra) {
    (void)run;
    memcpy((double*)to + k * tp_stateWidth, frame->states + (size_t)extra * tp_stateWidth,
           tp_stateWidth * sizeof(double));
}

static void copyReport(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                       int extra) {
    (void)run;
    (void)extra;
    ((tpStepReport*)to)[k] = frame->report;
}

static void copyOffsets(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                        int extra) {
    (void)run;
    (void)extra;
    ((int64_t*)to)[k] = frame->contactStart;
    ((int64_t*)to)[k + 1] = frame->contactStart + frame->contactCount;
}

static void copyReactions(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                          int extra) {
    (void)extra;
    size_t width = (size_t)run->roster.jointCount * 6;
    if (width > 0) {
        memcpy((double*)to + (size_t)k * width, frame->reactions, width * sizeof(double));
    }
}

static tpResult readStates(tpRunSource* source, int64_t first, int64_t count, double* states,
                           tpError* error) {
    return copyFrames(source, first, count, copyStates, states, 0, error);
}

static tpResult readBodyStates(tpRunSource* source, int moving, int64_t first, int64_t count,
                               double* states, tpError* error) {
    return copyFrames(source, first, count, copyBodyState, states, moving, error);
}

static tpResult readReports(tpRunSource* source, int64_t first, int64_t count,
                            tpStepReport* reports, tpError* error) {
    return copyFrames(source, first, count, copyReport, reports, 0, error);
}

static tpResult readOffsets(tpRunSource* source, int64_t first, int64_t count, int64_t* offsets,
                            tpError* error) {
    return copyFrames(source, first, count, copyOffsets, offsets, 0, error);
}

static tpResult readReactions(tpRunSource* source, int64_t first, int64_t count, double* reactions,
                              tpError* error) {
    return copyFrames(source, first, count, copyReactions, reactions, 0, error);
}

static tpResult readContacts(tpRunSource* source, int64_t firstContact, int64_t count,
                             tpRecordedContact* contacts, tpError* error) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    bool isThere = readLiveContacts(&run->frames, firstContact, count, contacts);
    pthread_mutex_unlock(&run->lock);
    return isThere ? tp_success
                   : tpError_Set(error, tp_badInput, "these contacts are no longer there");
}

static const tpRunClass liveClass = {
    .getInfo = getInfo,
    .getRange = getRange,
    .getBody = getBody,
    .getJointName = getJointName,
    .getStep = getStep,
    .readStates = readStates,
    .readBodyStates = readBodyStates,
    .readReports = readReports,
    .readOffsets = readOffsets,
    .readContacts = readContacts,
    .readReactions = readReactions,
};

// Making -------------------------------------------------------------------------------------------

static bool startThread(tpLiveRun* run) {
    pthread_condattr_t attributes;
    bool isMade = pthread_mutex_init(&run->lock, NULL) == 0 &&
                  pthread_condattr_init(&attributes) == 0 &&
                  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                  pthread_cond_init(&run->changed, &attributes) == 0;
    if (isMade) {
        pthread_condattr_destroy(&attributes);
        run->hasThread = pthread_create(&run->thread, NULL, simulate, run) == 0;
    }
    return isMade && run->hasThread;
}

tpLiveRun* createLiveRun(const tpLiveDef* def, tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    tpLiveRun* run = tpAllocateZeroed(&allocator, sizeof(tpLiveRun));
    if (run == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    run->source.class = &liveClass;
    run->def = *def;
    run->allocator = allocator;
    run->frames = (tpLiveFrames){ .allocator = allocator, .memoryLimit = def->memoryLimit };
    run->status.step = def->scene->simulation.step;
    run->status.speed = 1.0;
    tpResult result = tpScene_CreateWorld(def->scene, NULL, def->threadCount, &run->world, error);
    if (result == tp_success) {
        run->status.stepper = tpWorld_GetStepper(run->world);
        bool isMade = tpRoster_Create(&run->roster, run->world, &allocator) &&
                      tpWriteShapesText(&run->roster, run->world, &allocator, &run->shapes);
        if (isMade) {
            keepFirstFrame(run);
        }
        if (!isMade || !startThread(run)) {
            tpError_Set(error, tp_outOfMemory, "the simulation could not be started");
            result = tp_outOfMemory;
        }
    }
    if (result != tp_success) {
        destroyLiveRun(run);
        return NULL;
    }
    return run;
}

void destroyLiveRun(tpLiveRun* run) {
    if (run == NULL) {
        return;
    }
    if (run->hasThread) {
        pthread_mutex_lock(&run->lock);
        run->quits = true;
        pthread_cond_signal(&run->changed);
        pthread_mutex_unlock(&run->lock);
        pthread_join(run->thread, NULL);
        pthread_cond_destroy(&run->changed);
        pthread_mutex_destroy(&run->lock);
    }
    freeLiveFrames(&run->frames);
    TP_FREE_ARRAY(&run->allocator, run->shapes);
    tpRoster_Destroy(&run->roster);
    tpDestroyWorld(run->world);
    tpAllocator allocator = run->allocator;
    tpRelease(&allocator, run, sizeof(tpLiveRun));
}

tpRunSource* sourceOfLiveRun(tpLiveRun* run) {
    return &run->source;
}

tpLiveStatus statusOfLiveRun(tpLiveRun* run) {
    pthread_mutex_lock(&run->lock);
    tpLiveStatus status = run->status;
    pthread_mutex_unlock(&run->lock);
    return status;
}

// Orders that come before the thread has seen the last one are joined to it.
static void joinOrders(tpLiveOrder* order, const tpLiveOrder* next) {
    tpLiveOrder joined = *next;
    if (!next->setsRunning) {
        joined.setsRunning = order->setsRunning;
        joined.running = order->running;
    }
    if (!next->setsStep) {
        joined.setsStep = order->setsStep;
        joined.step = order->step;
    }
    if (!next->setsSpeed) {
        joined.setsSpeed = order->setsSpeed;
        joined.speed = order->speed;
    }
    if (!next->setsStepper) {
        joined.setsStepper = order->setsStepper;
        joined.stepper = order->stepper;
    }
    if (!next->drags) {
        joined.drags = order->drags;
        joined.body = order->body;
        joined.point = order->point;
        joined.target = order->target;
    }
    joined.drops = next->drops || (order->drops && !next->drags);
    joined.steps += order->steps;
    joined.begins = next->begins || order->begins;
    joined.restart = next->restart || order->restart;
    *order = joined;
}

void orderLiveRun(tpLiveRun* run, const tpLiveOrder* order) {
    pthread_mutex_lock(&run->lock);
    tpLiveOrder none = { 0 };
    if (!run->hasPending) {
        run->pending = none;
    }
    joinOrders(&run->pending, order);
    run->hasPending = true;
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
}
