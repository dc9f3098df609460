// The lock guards everything but the world, which is the thread's alone; a step is taken without
// it.

#include "page/live_run.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "tippe/state.h"

enum { mostOrders = 256 };

struct tpLiveRun {
    tpRunSource source;
    tpLiveDef def;
    tpLiveWorld live;
    TP_ARRAY(tpLiveOrder) orders; // that have not been obeyed
    tpText settings;              // what can be changed, as it is now
    TP_ARRAY(double) coordinates; // of all joints: values, then speeds, then efforts
    int coordinateCount;          // of the joints that a run starts with
    char* sceneText;              // plain JSON: no comments, parameters, repeats and includes
    size_t sceneLength;
    pthread_t thread;
    bool hasThread, hasLock;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool quits, hasEnded;
    bool isPlanar;
    tpVec3 gravity; // at the start
};

static void describeSettings(tpLiveRun* run) {
    tpText_Free(&run->settings);
    run->settings = (tpText){ .allocator = &run->live.allocator };
    writeLiveSettings(run->live.world, &run->live.roster, &run->settings);
}

// The newest coordinates of joints. A list that there is no memory for stays empty.
static void keepCoordinates(tpLiveRun* run) {
    int count = tpWorld_GetCoordinateCount(run->live.world);
    run->coordinates.count = 0;
    if (count > 0 && TP_RESERVE(&run->live.allocator, run->coordinates, 3 * count)) {
        double* data = run->coordinates.data;
        tpWorld_ReadCoordinates(run->live.world, data, data + count, data + 2 * count);
        run->coordinates.count = 3 * count;
    }
}

// The thread
// -----------------------------------------------------------------------------------------

// Under the lock, as what follows. True if there were orders.
static bool obeyAll(tpLiveRun* run) {
    if (run->orders.count == 0) {
        return false;
    }
    double now = secondsOfClock();
    for (int i = 0; i < run->orders.count; ++i) {
        obeyLiveOrder(&run->live, &run->orders.data[i], now);
    }
    run->orders.count = 0;
    describeSettings(run);
    keepCoordinates(run);
    run->def.news(run->def.context);
    return true;
}

static void step(tpLiveRun* run) {
    tpLiveStep step = startLiveStep(&run->live);
    pthread_mutex_unlock(&run->lock);
    takeLiveStep(&run->live, &step);
    pthread_mutex_lock(&run->lock);
    finishLiveStep(&run->live, &step);
    keepCoordinates(run);
    run->def.news(run->def.context);
}

static void waitFor(tpLiveRun* run, double seconds) {
    if (isinf(seconds)) {
        pthread_cond_wait(&run->changed, &run->lock);
        return;
    }
    double clock = secondsOfClock() + seconds;
    struct timespec until = { .tv_sec = (time_t)clock };
    until.tv_nsec = (long)((clock - floor(clock)) * 1e9);
    pthread_cond_timedwait(&run->changed, &run->lock, &until);
}

static void* simulate(void* context) {
    tpLiveRun* run = context;
    pthread_mutex_lock(&run->lock);
    while (!run->quits) {
        double wait;
        if (obeyAll(run)) {
            continue;
        }
        if (isLiveStepDue(&run->live, secondsOfClock(), &wait)) {
            step(run);
        } else {
            waitFor(run, wait);
        }
    }
    run->hasEnded = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

double advanceLiveRun(tpLiveRun* run, double seconds) {
    double end = secondsOfClock() + seconds, wait = 0.0;
    pthread_mutex_lock(&run->lock);
    do {
        obeyAll(run);
        if (!isLiveStepDue(&run->live, secondsOfClock(), &wait)) {
            break;
        }
        step(run);
    } while (secondsOfClock() < end);
    pthread_mutex_unlock(&run->lock);
    return wait;
}

// As a source
// --------------------------------------------------------------------------------------

static tpLiveRun* runOf(const tpRunSource* source) {
    return (tpLiveRun*)(uintptr_t)source;
}

static tpRunInfo getInfo(const tpRunSource* source) {
    const tpLiveRun* run = runOf(source);
    const tpScene* scene = run->live.scene;
    return (tpRunInfo){ .version = tpVersion(),
                        .sceneText = run->sceneText != NULL ? run->sceneText : "{}",
                        .sceneName = run->def.name,
                        .shapesText = run->live.shapes.data,
                        .summary = "",
                        .every = 1,
                        .bodyCount = run->live.roster.bodyCount,
                        .movingCount = run->live.roster.movingCount,
                        .jointCount = run->live.roster.jointCount,
                        .coordinateCount = run->coordinateCount,
                        .sensorCount = run->live.roster.valueCount,
                        .planar = run->isPlanar,
                        .gravity = run->gravity,
                        .until = scene != NULL ? scene->simulation.until : 0.0 };
}

static tpRunRange getRange(tpRunSource* source) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    tpRunRange range = { .firstFrame = run->live.status.firstFrame,
                         .frameCount = run->live.status.frameCount,
                         .contactCount = run->live.frames.contactTotal,
                         .step = run->live.status.step,
                         .stepper = tpStepperName(run->live.status.stepper) };
    pthread_mutex_unlock(&run->lock);
    return range;
}

static double getStep(tpRunSource* source, int64_t frame) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    const tpLiveFrame* found = findLiveFrame(&run->live.frames, frame);
    double step = found != NULL ? found->step : run->live.status.step;
    pthread_mutex_unlock(&run->lock);
    return step;
}

static tpRecordedBody getBody(const tpRunSource* source, int body) {
    const tpRosterBody* from = &runOf(source)->live.roster.bodies[body];
    return (tpRecordedBody){ .name = from->name,
                             .kind = from->kind,
                             .mass = from->mass.mass,
                             .moving = from->moving,
                             .pose = from->pose };
}

static const char* getJointName(const tpRunSource* source, int joint) {
    return runOf(source)->live.roster.joints[joint].name;
}

static const char* getSensorName(const tpRunSource* source, int value) {
    return runOf(source)->live.roster.values[value].name;
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
        const tpLiveFrame* frame = findLiveFrame(&run->live.frames, first + k);
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
    size_t width = (size_t)run->live.roster.movingCount * tp_stateWidth;
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
    size_t width = (size_t)run->live.roster.jointCount * 6;
    if (width > 0) {
        memcpy((double*)to + (size_t)k * width, frame->reactions, width * sizeof(double));
    }
}

static void copyCoordinate(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                           int extra) {
    (void)run;
    memcpy((double*)to + k * coordinateWidth, frame->coordinates + (size_t)extra * coordinateWidth,
           coordinateWidth * sizeof(double));
}

static void copySensor(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                       int extra) {
    (void)run;
    ((double*)to)[k] = frame->sensors[extra];
}

static void copyCarrier(const tpLiveRun* run, const tpLiveFrame* frame, int64_t k, void* to,
                        int extra) {
    (void)run;
    ((const char**)to)[k] = frame->carriers[extra];
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

static tpResult readCoordinates(tpRunSource* source, int coordinate, int64_t first, int64_t count,
                                double* numbers, tpError* error) {
    return copyFrames(source, first, count, copyCoordinate, numbers, coordinate, error);
}

static tpResult readSensor(tpRunSource* source, int value, int64_t first, int64_t count,
                           double* numbers, tpError* error) {
    return copyFrames(source, first, count, copySensor, numbers, value, error);
}

static tpResult readCarriers(tpRunSource* source, int moving, int64_t first, int64_t count,
                             const char** names, tpError* error) {
    return copyFrames(source, first, count, copyCarrier, names, moving, error);
}

static tpResult readContacts(tpRunSource* source, int64_t firstContact, int64_t count,
                             tpRecordedContact* contacts, tpError* error) {
    tpLiveRun* run = runOf(source);
    pthread_mutex_lock(&run->lock);
    bool isThere = readLiveContacts(&run->live.frames, firstContact, count, contacts);
    pthread_mutex_unlock(&run->lock);
    return isThere ? tp_success
                   : tpError_Set(error, tp_badInput, "these contacts are no longer there");
}

static const tpRunClass liveClass = {
    .getInfo = getInfo,
    .getRange = getRange,
    .getBody = getBody,
    .getJointName = getJointName,
    .getSensorName = getSensorName,
    .getStep = getStep,
    .readStates = readStates,
    .readBodyStates = readBodyStates,
    .readReports = readReports,
    .readOffsets = readOffsets,
    .readContacts = readContacts,
    .readReactions = readReactions,
    .readCoordinates = readCoordinates,
    .readSensor = readSensor,
    .readCarriers = readCarriers,
};

// Making
// -------------------------------------------------------------------------------------------

static bool makeLock(tpLiveRun* run) {
    pthread_condattr_t attributes;
    run->hasLock = pthread_mutex_init(&run->lock, NULL) == 0 &&
                   pthread_condattr_init(&attributes) == 0 &&
                   pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(&run->changed, &attributes) == 0;
    if (run->hasLock) {
        pthread_condattr_destroy(&attributes);
    }
    return run->hasLock;
}

static tpResult openWorld(tpLiveRun* run, tpError* error) {
    const tpLiveDef* def = &run->def;
    if (def->world != NULL) {
        return watchWorld(&run->live, def->world, def->step, def->memoryLimit, error);
    }
    tpResult result = tpFormatScene(def->scene, NULL, &run->sceneText, &run->sceneLength, error);
    return result != tp_success
               ? result
               : openLiveWorld(&run->live, def->scene, def->threadCount, def->memoryLimit, error);
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
    if (openWorld(run, error) != tp_success) {
        tpReleaseSceneText(NULL, run->sceneText, run->sceneLength);
        tpRelease(&allocator, run, sizeof(tpLiveRun));
        return NULL;
    }
    run->coordinateCount = countLiveCoordinates(&run->live.roster, run->live.world);
    run->isPlanar = tpWorld_IsPlanar(run->live.world);
    run->gravity = tpWorld_GetGravity(run->live.world);
    describeSettings(run);
    keepCoordinates(run);
    bool isMade = makeLock(run);
    if (isMade && !def->isDriven && def->world == NULL) {
        isMade = run->hasThread = pthread_create(&run->thread, NULL, simulate, run) == 0;
    }
    if (!isMade) {
        tpError_Set(error, tp_outOfMemory, "the simulation could not be started");
        destroyLiveRun(run);
        return NULL;
    }
    return run;
}

bool endLiveRun(tpLiveRun* run, double patience) {
    if (!run->hasThread) {
        return true;
    }
    double end = secondsOfClock() + patience;
    pthread_mutex_lock(&run->lock);
    run->quits = true;
    pthread_cond_broadcast(&run->changed);
    while (!run->hasEnded && secondsOfClock() < end) {
        waitFor(run, end - secondsOfClock());
    }
    bool hasEnded = run->hasEnded;
    pthread_mutex_unlock(&run->lock);
    return hasEnded;
}

void destroyLiveRun(tpLiveRun* run) {
    if (run == NULL) {
        return;
    }
    if (run->hasThread) {
        endLiveRun(run, 0.0);
        pthread_join(run->thread, NULL);
    }
    if (run->hasLock) {
        pthread_cond_destroy(&run->changed);
        pthread_mutex_destroy(&run->lock);
    }
    tpAllocator allocator = run->live.allocator;
    tpText_Free(&run->settings);
    tpReleaseSceneText(NULL, run->sceneText, run->sceneLength);
    TP_FREE_ARRAY(&allocator, run->orders);
    TP_FREE_ARRAY(&allocator, run->coordinates);
    closeLiveWorld(&run->live);
    tpRelease(&allocator, run, sizeof(tpLiveRun));
}

tpRunSource* sourceOfLiveRun(tpLiveRun* run) {
    return &run->source;
}

tpLiveStatus statusOfLiveRun(tpLiveRun* run) {
    pthread_mutex_lock(&run->lock);
    tpLiveStatus status = run->live.status;
    pthread_mutex_unlock(&run->lock);
    return status;
}

void writeSettingsOfLiveRun(tpLiveRun* run, tpText* text) {
    pthread_mutex_lock(&run->lock);
    if (!run->settings.failed) {
        tpText_Add(text, run->settings.bytes.data);
    }
    pthread_mutex_unlock(&run->lock);
}

bool isLiveRunWatched(const tpLiveRun* run) {
    return run->def.world != NULL;
}

bool noteLiveChange(tpLiveRun* run) {
    pthread_mutex_lock(&run->lock);
    bool hasChanged = hasWatchedChanged(&run->live);
    if (hasChanged) {
        describeWatchedAnew(&run->live);
        run->coordinateCount = countLiveCoordinates(&run->live.roster, run->live.world);
        describeSettings(run);
        keepCoordinates(run);
    }
    pthread_mutex_unlock(&run->lock);
    return hasChanged;
}

void noteLiveStep(tpLiveRun* run, const tpStepReport* report, double h) {
    pthread_mutex_lock(&run->lock);
    keepWatchedStep(&run->live, report, h);
    keepCoordinates(run);
    pthread_mutex_unlock(&run->lock);
    run->def.news(run->def.context);
}

bool copyCoordinatesOfLiveRun(tpLiveRun* run, tpBytes* bytes) {
    pthread_mutex_lock(&run->lock);
    bool isCopied =
        appendBytes(bytes, run->coordinates.data, (size_t)run->coordinates.count * sizeof(double));
    pthread_mutex_unlock(&run->lock);
    return isCopied;
}

// Whether the last order that waits may be replaced by the next one: a hand that drags, or a number
// that slides, passes through many places that nobody asks for.
static bool isOutrun(const tpLiveOrder* last, const tpLiveOrder* next) {
    if (last->setsRunning || last->setsStep || last->setsSpeed || last->setsStepper ||
        last->setsLimit || last->steps > 0 || last->begins || last->restart || last->forks ||
        last->drops) {
        return false;
    }
    bool sameDrag = last->drags && next->drags && last->change.kind == tp_noChange;
    const tpLiveChange *before = &last->change, *after = &next->change;
    bool sameNumbers = before->kind != tp_noChange && isSameChange(before, after) &&
                       before->hasFriction == after->hasFriction &&
                       before->hasTorsion == after->hasTorsion &&
                       before->hasRestitution == after->hasRestitution;
    return sameDrag || (!last->drags && sameNumbers);
}

bool orderLiveRun(tpLiveRun* run, const tpLiveOrder* order) {
    pthread_mutex_lock(&run->lock);
    int count = run->orders.count;
    bool isTaken = true;
    if (count > 0 && isOutrun(&run->orders.data[count - 1], order)) {
        run->orders.data[count - 1] = *order;
    } else {
        isTaken = count < mostOrders && TP_PUSH(&run->live.allocator, run->orders, *order);
    }
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return isTaken;
}
