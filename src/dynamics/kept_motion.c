#include "dynamics/kept_motion.h"

#include <string.h>

#include "base/tasks.h"
#include "dynamics/joint_state.h"

typedef struct Copying {
    const tpSystem* system;
    tpKeptMotion* kept;
} Copying;

static void copyChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Copying* copying = context;
    const tpSystem* system = copying->system;
    tpRange range = tpChunkAt(system->bodyCount, tp_bodiesPerChunk, chunk);
    size_t count = (size_t)(range.end - range.begin);
    memcpy(copying->kept->poses + range.begin, system->poses.data + range.begin,
           sizeof(tpPose) * count);
    memcpy(copying->kept->velocities + range.begin, system->velocities.data + range.begin,
           sizeof(tpVelocity) * count);
}

bool tpKeptMotion_Take(tpKeptMotion* kept, tpSystem* system) {
    size_t bodies = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    kept->reactions = TP_SCRATCH(&system->arena, double, tpJoints_ReactionCount(system));
    kept->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (system->arena.failed) {
        return false;
    }
    Copying copying = { system, kept };
    tpTasks_Run(tpSystem_BodyTasks(system), copyChunk, &copying,
                tpChunksOf(system->bodyCount, tp_bodiesPerChunk));
    kept->contactEnergy = system->contactEnergy;
    tpJoints_ReadAll(system, kept->reactions, kept->motion);
    return true;
}

void tpKeptMotion_PutBack(const tpKeptMotion* kept, tpSystem* system) {
    size_t bodies = (size_t)system->bodyCount;
    if (bodies > 0) {
        memcpy(system->poses.data, kept->poses, sizeof(tpPose) * bodies);
        memcpy(system->velocities.data, kept->velocities, sizeof(tpVelocity) * bodies);
    }
    system->contactEnergy = kept->contactEnergy;
    tpJoints_WriteReactions(system, kept->reactions);
    tpJoints_WriteMotion(system, kept->motion);
}
