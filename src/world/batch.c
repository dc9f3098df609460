// Many worlds, dealt out to threads.
//
// Worlds know nothing of each other, so that a world's step is the same bits wherever it is taken.
// While a batch steps, its worlds use no threads of their own. The poses and velocities of all
// worlds lie in two arrays of the batch (tpSystem_LendState), each world's on cache lines of its
// own: they are seen without a copy, and two threads never write to the same line.

#include "world/batch.h"
#include "base/assert.h"

#include <string.h>

#include "base/error.h"
#include "world/require.h"

// Worlds that a thread takes at once: enough to make taking cheap, few enough that threads end
// together.
enum { worldsPerChunk = 8 };

tpBatchDef tpDefaultBatchDef(void) {
    tpBatchDef def;
    memset(&def, 0, sizeof(def));
    def.threadCount = 1;
    def.allocator = tpDefaultAllocator();
    return def;
}

// Loops over worlds -------------------------------------------------------------------------------

typedef struct BatchLoop {
    const tpBatch* batch;
    tpBatchWork work;
    void* context;
    tpResult* results; // of chunks: of the first of its worlds that has one
    int* culprits;     // these worlds
} BatchLoop;

static void runChunk(void* context, int chunk, int worker) {
    (void)worker;
    BatchLoop* loop = context;
    tpRange range = tpChunkAt(loop->batch->worldCount, worldsPerChunk, chunk);
    loop->results[chunk] = tp_success;
    for (int i = range.begin; i < range.end; ++i) {
        tpResult result = loop->work(loop->context, loop->batch, i, NULL);
        if (result != tp_success && loop->results[chunk] == tp_success) {
            loop->results[chunk] = result;
            loop->culprits[chunk] = i;
        }
    }
}

// The message is asked for again: works that fail change nothing.
static tpResult explain(const BatchLoop* loop, int world, tpError* error) {
    tpError own;
    memset(&own, 0, sizeof(own));
    tpResult result = loop->work(loop->context, loop->batch, world, &own);
    return tpError_Set(error, result, "world %d: %.900s", world, own.message);
}

tpResult tpBatch_Run(const tpBatch* batch, tpBatchWork work, void* context, tpError* error) {
    int chunkCount = tpChunksOf(batch->worldCount, worldsPerChunk);
    size_t size = (size_t)chunkCount * (sizeof(tpResult) + sizeof(int));
    tpResult* results = tpAllocate(&batch->allocator, size);
    if (results == NULL) {
        return tpError_OutOfMemory(error);
    }
    BatchLoop loop = { batch, work, context, results, (int*)(void*)(results + chunkCount) };
    tpTasks_Run(batch->tasks, runChunk, &loop, chunkCount);
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < chunkCount; ++i) {
        if (results[i] != tp_success) {
            result = explain(&loop, loop.culprits[i], error);
        }
    }
    tpRelease(&batch->allocator, results, size);
    return result;
}

// Creation ----------------------------------------------------------------------------------------

static tpResult checkWorlds(const tpBatchDef* def, tpError* error) {
    const tpWorld* first = def->worlds[0];
    for (int i = 0; i < def->worldCount; ++i) {
        const tpWorld* world = def->worlds[i];
        if (world == NULL) {
            return tpError_Set(error, tp_badInput, "worlds[%d] is NULL", i);
        }
        if (world->batch != NULL) {
            return tpError_Set(error, tp_badInput, "worlds[%d] is in a batch already", i);
        }
        bool isAlike = world->system.bodyCount == first->system.bodyCount &&
                       tpWorld_GetMovingCount(world) == tpWorld_GetMovingCount(first) &&
                       tpWorld_GetCoordinateCount(world) == tpWorld_GetCoordinateCount(first) &&
                       tpWorld_GetSensorValueCount(world) == tpWorld_GetSensorValueCount(first) &&
                       world->system.materials.count == first->system.materials.count;
        if (!isAlike) {
            return tpError_Set(error, tp_badInput,
                               "worlds[%d] has other bodies, joints, sensors or materials than "
                               "worlds[0]",
                               i);
        }
    }
    return tp_success;
}

// Elements from one world to the next, so that each begins on a cache line.
static size_t strideOf(int slotCount, size_t elementSize) {
    size_t stride = (size_t)slotCount;
    while (stride * elementSize % 64 != 0) {
        ++stride;
    }
    return stride;
}

// Room for the states of all worlds; worlds without bodies need none.
static bool takeMemory(tpBatch* batch, const tpBatchDef* def) {
    size_t count = (size_t)def->worldCount;
    batch->worlds = tpAllocateZeroed(&def->allocator, sizeof(tpWorld*) * count);
    batch->starts = tpAllocateZeroed(&def->allocator, sizeof(tpSnapshot*) * count);
    if (batch->worlds == NULL || batch->starts == NULL) {
        return false;
    }
    if (batch->slotCount == 0) {
        return true;
    }
    batch->poses = tpAllocateZeroed(&def->allocator, sizeof(tpPose) * batch->poseStride * count);
    batch->velocities =
        tpAllocateZeroed(&def->allocator, sizeof(tpVelocity) * batch->velocityStride * count);
    return batch->poses != NULL && batch->velocities != NULL;
}

// Without its worlds.
static void release(tpBatch* batch) {
    tpAllocator allocator = batch->allocator;
    size_t count = (size_t)batch->worldCount;
    for (int i = 0; batch->starts != NULL && i < batch->worldCount; ++i) {
        tpDestroySnapshot(batch->starts[i]);
    }
    tpDestroyTasks(batch->tasks);
    tpRelease(&allocator, batch->poses, sizeof(tpPose) * batch->poseStride * count);
    tpRelease(&allocator, batch->velocities, sizeof(tpVelocity) * batch->velocityStride * count);
    tpRelease(&allocator, batch->worlds, sizeof(tpWorld*) * count);
    tpRelease(&allocator, batch->starts, sizeof(tpSnapshot*) * count);
    tpRelease(&allocator, batch, sizeof(tpBatch));
}

static void dismissWorlds(tpBatch* batch) {
    for (int i = 0; batch->worlds != NULL && i < batch->worldCount; ++i) {
        tpWorld* world = batch->worlds[i];
        if (world != NULL) {
            tpSystem_ReturnState(&world->system);
            world->batch = NULL;
        }
    }
}

static tpResult fill(tpBatch* batch, const tpBatchDef* def, tpError* error) {
    // More threads than the system gives are no reason to fail: results do not depend on their
    // number.
    if (!takeMemory(batch, def) ||
        (def->threadCount > 1 &&
         tpCreateTasks(&def->allocator, def->threadCount, &batch->tasks) == tp_outOfMemory)) {
        return tpError_OutOfMemory(error);
    }
    for (int i = 0; i < def->worldCount; ++i) {
        tpWorld* world = def->worlds[i];
        if (world->batch == batch) {
            return tpError_Set(error, tp_badInput, "worlds[%d] is in the list twice", i);
        }
        batch->worlds[i] = world;
        world->batch = batch;
        if (batch->slotCount > 0) {
            tpSystem_LendState(&world->system, batch->poses + batch->poseStride * (size_t)i,
                               batch->velocities + batch->velocityStride * (size_t)i);
        }
        batch->starts[i] = tpWorld_Snapshot(world);
        if (batch->starts[i] == NULL) {
            return tpError_OutOfMemory(error);
        }
    }
    return tp_success;
}

tpBatch* tpCreateBatch(const tpBatchDef* def, tpError* error) {
    bool isGood = TP_REQUIRE(def != NULL, "def", "is NULL") &&
                  TP_REQUIRE(def->allocator.allocate != NULL && def->allocator.release != NULL,
                             "def->allocator", "has no functions") &&
                  TP_REQUIRE(def->worldCount >= 1, "def->worldCount", "is %d", def->worldCount) &&
                  TP_REQUIRE(def->worlds != NULL, "def->worlds", "is NULL") &&
                  TP_REQUIRE(def->threadCount >= 1, "def->threadCount", "is %d", def->threadCount);
    if (!isGood) {
        tpError_Set(error, tp_badInput, "the definition of the batch is wrong");
        return NULL;
    }
    if (checkWorlds(def, error) != tp_success) {
        return NULL;
    }
    tpBatch* batch = tpAllocateZeroed(&def->allocator, sizeof(tpBatch));
    if (batch == NULL) {
        tpError_OutOfMemory(error);
        return NULL;
    }
    batch->allocator = def->allocator;
    batch->worldCount = def->worldCount;
    batch->threadCount = def->threadCount;
    batch->slotCount = def->worlds[0]->system.bodyCount;
    batch->poseStride = strideOf(batch->slotCount, sizeof(tpPose));
    batch->velocityStride = strideOf(batch->slotCount, sizeof(tpVelocity));
    if (fill(batch, def, error) != tp_success) {
        dismissWorlds(batch);
        release(batch);
        return NULL;
    }
    batch->ownsWorlds = def->ownsWorlds;
    return batch;
}

void tpDestroyBatch(tpBatch* batch) {
    if (batch == NULL) {
        return;
    }
    dismissWorlds(batch);
    for (int i = 0; batch->ownsWorlds && i < batch->worldCount; ++i) {
        tpDestroyWorld(batch->worlds[i]);
    }
    release(batch);
}

int tpBatch_GetWorldCount(const tpBatch* batch) {
    TP_NEED(batch, 0);
    return batch->worldCount;
}

int tpBatch_GetThreadCount(const tpBatch* batch) {
    TP_NEED(batch, 0);
    return batch->threadCount;
}

tpWorld* tpBatch_GetWorld(const tpBatch* batch, int index) {
    TP_NEED(batch, NULL);
    bool isThere = TP_REQUIRE(index >= 0 && index < batch->worldCount, "index",
                              "is %d, of %d worlds", index, batch->worldCount);
    return isThere ? batch->worlds[index] : NULL;
}

// Steps -------------------------------------------------------------------------------------------

typedef struct Stepping {
    double h;
    int stepCount;
    tpStepReport* reports;
} Stepping;

static tpResult stepWorld(void* context, const tpBatch* batch, int index, tpError* error) {
    (void)error;
    const Stepping* stepping = context;
    tpWorld* world = batch->worlds[index];
    tpTasks* own = world->system.tasks;
    world->system.tasks = NULL;
    tpStepReport report;
    for (int k = 0; k < stepping->stepCount; ++k) {
        report = tpWorld_Step(world, stepping->h);
    }
    world->system.tasks = own;
    if (stepping->reports != NULL) {
        stepping->reports[index] = report;
    }
    return tp_success;
}

tpResult tpBatch_Step(tpBatch* batch, double h, int stepCount, tpStepReport* reports) {
    TP_NEED(batch, tp_badInput);
    if (!TP_REQUIRE(h > 0.0 && isfinite(h), "h", "is %g, not a positive time", h) ||
        !TP_REQUIRE(stepCount >= 1, "stepCount", "is %d", stepCount)) {
        return tp_badInput;
    }
    Stepping stepping = { h, stepCount, reports };
    return tpBatch_Run(batch, stepWorld, &stepping, NULL);
}

typedef struct Calling {
    tpBatchFunction function;
    void* context;
} Calling;

static tpResult callFunction(void* context, const tpBatch* batch, int index, tpError* error) {
    (void)error;
    const Calling* calling = context;
    calling->function(calling->context, batch->worlds[index], index);
    return tp_success;
}

void tpBatch_ForEach(tpBatch* batch, tpBatchFunction function, void* context) {
    TP_NEED(batch, );
    if (TP_REQUIRE(function != NULL, "function", "is NULL")) {
        Calling calling = { function, context };
        tpBatch_Run(batch, callFunction, &calling, NULL);
    }
}

// Starts ------------------------------------------------------------------------------------------

static tpResult resetWorld(void* context, const tpBatch* batch, int index, tpError* error) {
    const bool* which = context;
    return which == NULL || which[index]
               ? tpWorld_Restore(batch->worlds[index], batch->starts[index], error)
               : tp_success;
}

static tpResult keepWorld(void* context, const tpBatch* batch, int index, tpError* error) {
    const bool* which = context;
    if (which != NULL && !which[index]) {
        return tp_success;
    }
    tpSnapshot* start = tpWorld_Snapshot(batch->worlds[index]);
    if (start == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpDestroySnapshot(batch->starts[index]);
    batch->starts[index] = start;
    return tp_success;
}

tpResult tpBatch_Reset(tpBatch* batch, const bool* which, tpError* error) {
    TP_NEED(batch, tp_badInput);
    return tpBatch_Run(batch, resetWorld, (void*)which, error);
}

tpResult tpBatch_Keep(tpBatch* batch, const bool* which, tpError* error) {
    TP_NEED(batch, tp_badInput);
    return tpBatch_Run(batch, keepWorld, (void*)which, error);
}

// View --------------------------------------------------------------------------------------------

tpResult tpBatch_ViewState(const tpBatch* batch, tpBatchView* view, tpError* error) {
    TP_NEED(batch, tp_badInput);
    if (!TP_REQUIRE(view != NULL, "view", "is NULL")) {
        return tpError_Set(error, tp_badInput, "there is no view");
    }
    memset(view, 0, sizeof(*view));
    for (int i = 0; batch->slotCount > 0 && i < batch->worldCount; ++i) {
        if (!tpSystem_IsStateLent(&batch->worlds[i]->system)) {
            return tpError_Set(error, tp_unsupported,
                               "world %d has got bodies since the batch was made", i);
        }
    }
    view->worldCount = batch->worldCount;
    view->slotCount = batch->slotCount;
    view->poseStride = sizeof(tpPose) / sizeof(double);
    view->velocityStride = sizeof(tpVelocity) / sizeof(double);
    view->worldPoseStride = batch->poseStride * view->poseStride;
    view->worldVelocityStride = batch->velocityStride * view->velocityStride;
    if (batch->slotCount > 0) {
        view->positions = &batch->poses[0].position.x;
        view->rotations = &batch->poses[0].rotation.w;
        view->velocities = &batch->velocities[0].linear.x;
        view->angularVelocities = &batch->velocities[0].angular.x;
    }
    return tp_success;
}
