// Inside a batch.

#ifndef TIPPE_SRC_WORLD_BATCH_H
#define TIPPE_SRC_WORLD_BATCH_H

#include "base/tasks.h"
#include "tippe/batch.h"
#include "world/world.h"

struct tpBatch {
    tpAllocator allocator;
    tpWorld** worlds;
    tpSnapshot** starts; // that worlds are reset to
    int worldCount, threadCount;
    bool ownsWorlds;
    tpTasks* tasks; // NULL for one thread
    int slotCount;  // of each world when the batch was made
    // Slots of all worlds one after the other; those of a world begin on a cache line of their own.
    tpPose* poses;
    tpVelocity* velocities;
    size_t poseStride, velocityStride; // from world to world, in poses and velocities
};

// Something to be done for one world. Results other than tp_success are those of the first world,
// by its number, that has one.
typedef tpResult (*tpBatchWork)(void* context, const tpBatch* batch, int world, tpError* error);

// Does it for all of them on the threads of the batch. The message of an error begins with the
// number of its world.
tpResult tpBatch_Run(const tpBatch* batch, tpBatchWork work, void* context, tpError* error);

#endif
