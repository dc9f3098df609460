#include "steppers/auto/kept.h"

#include <string.h>

#include "dynamics/joint_state.h"

static bool copyStepper(tpKept* kept, tpSystem* system, const tpStepper* stepper,
                        const void* state) {
    kept->saved = NULL;
    kept->savedSize = 0;
    if (stepper == NULL || stepper->savedSize == NULL || state == NULL) {
        return true;
    }
    kept->savedSize = stepper->savedSize(state);
    kept->saved = tpArena_Get(&system->arena, kept->savedSize);
    if (kept->saved == NULL || stepper == NULL) {
        return false;
    }
    stepper->save(state, kept->saved);
    return true;
}

bool tpKept_Take(tpKept* kept, tpSystem* system, const tpStepper* stepper, const void* state) {
    size_t count = (size_t)system->bodyCount;
    kept->poses = TP_SCRATCH(&system->arena, tpPose, count);
    kept->velocities = TP_SCRATCH(&system->arena, tpVelocity, count);
    kept->carriers = TP_SCRATCH(&system->arena, const char*, count);
    kept->reactions = TP_SCRATCH(&system->arena, double, tpJoints_ReactionCount(system));
    kept->motion = TP_SCRATCH(&system->arena, double, tpJoints_MotionCount(system));
    if (system->arena.failed) {
        return false;
    }
    if (count > 0) {
        memcpy(kept->poses, system->poses.data, sizeof(tpPose) * count);
        memcpy(kept->velocities, system->velocities.data, sizeof(tpVelocity) * count);
    }
    for (size_t i = 0; i < count; ++i) {
        kept->carriers[i] = system->bodies.data[i].carrier;
    }
    tpJoints_ReadReactions(system, kept->reactions);
    tpJoints_ReadMotion(system, kept->motion);
    return copyStepper(kept, system, stepper, state);
}

bool tpKept_PutBack(const tpKept* kept, tpSystem* system, const tpStepper* stepper, void* state) {
    size_t count = (size_t)system->bodyCount;
    if (count > 0) {
        memcpy(system->poses.data, kept->poses, sizeof(tpPose) * count);
        memcpy(system->velocities.data, kept->velocities, sizeof(tpVelocity) * count);
    }
    for (size_t i = 0; i < count; ++i) {
        system->bodies.data[i].carrier = kept->carriers[i];
    }
    tpJoints_WriteReactions(system, kept->reactions);
    tpJoints_WriteMotion(system, kept->motion);
    tpSystem_ForgetContacts(system);
    if (kept->saved == NULL || stepper == NULL) {
        tpSystem_ForgetFound(system);
        return true;
    }
    tpSavedReader reader = { .place = kept->saved, .left = kept->savedSize };
    return stepper->restore(system, state, &reader);
}
