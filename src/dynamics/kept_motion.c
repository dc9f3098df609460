#include "dynamics/kept_motion.h"

#include <string.h>

#include "dynamics/joint_state.h"

bool tpKeptMotion_Take(tpKeptMotion* kept, tpSystem* system) {
    size_t bodies = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    kept->reactions = TP_SCRATCH(&system->arena, double, tpJoints_ReactionCount(system));
    kept->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (system->arena.failed) {
        return false;
    }
    if (bodies > 0) {
        memcpy(kept->poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(kept->velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    kept->contactEnergy = system->contactEnergy;
    tpJoints_ReadReactions(system, kept->reactions);
    tpJoints_ReadMotion(system, kept->motion);
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
