#include "steppers/scene_parts.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/contacts.h"
#include "dynamics/joint_state.h"

bool tpSystem_MarkIslands(tpSystem* system, const tpPose* poses, const double* margins,
                          bool* isMarked) {
    int* islands = tpBodyIslands_Find(system);
    bool* isRootMarked = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    tpContact* contacts;
    int count;
    if (islands == NULL || isRootMarked == NULL ||
        tpSystem_FindContacts(system, poses, margins, &contacts, &count) != tp_success) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpBodyIslands_Join(islands, system, contacts[i].bodyA, contacts[i].bodyB);
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (isMarked[i]) {
            isRootMarked[tpBodyIslands_Root(islands, i)] = true;
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        isMarked[i] = tpSystem_IsDynamic(system, i) && isRootMarked[tpBodyIslands_Root(islands, i)];
    }
    return true;
}

bool tpEnds_Begin(tpEnds* ends, tpSystem* system) {
    int numbers = tpJoints_MotionCount(system);
    ends->poses = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    ends->velocities = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    ends->motion = TP_SCRATCH(&system->arena, double, numbers);
    ends->now = TP_SCRATCH(&system->arena, double, numbers);
    return !system->arena.failed;
}

static bool isOutOf(const bool* isOut, int body) {
    return body >= 0 && isOut[body];
}

void tpEnds_Keep(tpEnds* ends, const tpSystem* system, const bool* isOut) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (!isOut[i]) {
            ends->poses[i] = system->poses.data[i];
            ends->velocities[i] = system->velocities.data[i];
        }
    }
    tpJoints_ReadMotion(system, ends->now);
    int place = 0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int end = place + tpJoint_MotionCount(joint);
        bool isIn = !isOutOf(isOut, joint->bodyA) && !isOutOf(isOut, joint->bodyB);
        for (; place < end; ++place) {
            ends->motion[place] = isIn ? ends->now[place] : ends->motion[place];
        }
    }
}

void tpEnds_Write(const tpEnds* ends, tpSystem* system) {
    size_t count = (size_t)system->bodyCount;
    if (count > 0) {
        memcpy(system->poses.data, ends->poses, sizeof(tpPose) * count);
        memcpy(system->velocities.data, ends->velocities, sizeof(tpVelocity) * count);
    }
    tpJoints_WriteMotion(system, ends->motion);
    tpSystem_ForgetFound(system);
}
