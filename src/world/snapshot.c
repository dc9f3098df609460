// Snapshots that continue bit for bit, and the hash of a state.
//
// What a step reads is the poses and velocities, the time, and what the stepper keeps from step to
// step: that is what a snapshot holds. The structure counter makes sure that it goes back into the same
// set of bodies, shapes, joints and forces.

#include <string.h>

#include "dynamics/joint_state.h"
#include "world/world.h"

struct tpSnapshot {
    tpAllocator allocator;
    size_t size; // of this struct and what follows: poses, velocities, state of the stepper
    uint64_t structure;
    tpStepperId stepperId;
    int bodyCount;
    double time, timeError;
    double energyPeak, energyExcess; // of the certificate
    int64_t stepCount;
    int reactionCount, motionCount; // numbers of joints
    size_t stepperBytes;
};

static unsigned char* posesOf(const tpSnapshot* snapshot) {
    return (unsigned char*)snapshot + sizeof(tpSnapshot);
}

static size_t poseBytes(const tpSnapshot* snapshot) {
    return sizeof(tpPose) * (size_t)snapshot->bodyCount;
}

static size_t velocityBytes(const tpSnapshot* snapshot) {
    return sizeof(tpVelocity) * (size_t)snapshot->bodyCount;
}

static size_t jointBytes(const tpSnapshot* snapshot) {
    return sizeof(double) * (size_t)(snapshot->reactionCount + snapshot->motionCount);
}

tpSnapshot* tpWorld_Snapshot(const tpWorld* world) {
    const tpSystem* system = &world->system;
    const tpStepper* stepper = world->stepper;
    size_t stepperBytes = stepper->savedSize != NULL ? stepper->savedSize(world->stepperState) : 0;
    int reactions = tpJoints_ReactionCount(system), motion = tpJoints_MotionCount(system);
    size_t size = sizeof(tpSnapshot) + stepperBytes +
                  sizeof(double) * (size_t)(reactions + motion) +
                  (sizeof(tpPose) + sizeof(tpVelocity)) * (size_t)system->bodyCount;
    tpSnapshot* snapshot = tpAllocateZeroed(&system->allocator, size);
    if (snapshot == NULL) {
        return NULL;
    }
    snapshot->allocator = system->allocator;
    snapshot->size = size;
    snapshot->structure = system->structure;
    snapshot->stepperId = world->stepperId;
    snapshot->bodyCount = system->bodyCount;
    snapshot->time = system->time;
    snapshot->timeError = system->timeError;
    snapshot->energyPeak = system->energyPeak;
    snapshot->energyExcess = system->energyExcess;
    snapshot->stepCount = system->stepCount;
    snapshot->reactionCount = reactions;
    snapshot->motionCount = motion;
    snapshot->stepperBytes = stepperBytes;
    unsigned char* place = posesOf(snapshot);
    if (system->bodyCount > 0) {
        memcpy(place, system->poses.data, poseBytes(snapshot));
        memcpy(place + poseBytes(snapshot), system->velocities.data, velocityBytes(snapshot));
    }
    place += poseBytes(snapshot) + velocityBytes(snapshot);
    tpJoints_ReadReactions(system, (double*)(void*)place);
    tpJoints_ReadMotion(system, (double*)(void*)place + reactions);
    if (stepperBytes > 0) {
        stepper->save(world->stepperState, place + jointBytes(snapshot));
    }
    return snapshot;
}

tpResult tpWorld_Restore(tpWorld* world, const tpSnapshot* snapshot) {
    tpSystem* system = &world->system;
    if (snapshot->structure != system->structure || snapshot->bodyCount != system->bodyCount ||
        snapshot->stepperId != world->stepperId) {
        return tp_badInput;
    }
    const unsigned char* place = posesOf(snapshot);
    const unsigned char* joints = place + poseBytes(snapshot) + velocityBytes(snapshot);
    const unsigned char* state = joints + jointBytes(snapshot);
    if (snapshot->stepperBytes > 0 &&
        !world->stepper->restore(system, world->stepperState, state)) {
        return tp_outOfMemory;
    }
    if (system->bodyCount > 0) {
        memcpy(system->poses.data, place, poseBytes(snapshot));
        memcpy(system->velocities.data, place + poseBytes(snapshot), velocityBytes(snapshot));
    }
    tpJoints_WriteReactions(system, (const double*)(const void*)joints);
    tpJoints_WriteMotion(system, (const double*)(const void*)joints + snapshot->reactionCount);
    system->time = snapshot->time;
    system->timeError = snapshot->timeError;
    system->energyPeak = snapshot->energyPeak;
    system->energyExcess = snapshot->energyExcess;
    system->stepCount = snapshot->stepCount;
    tpSystem_ForgetContacts(system);
    return tp_success;
}

void tpDestroySnapshot(tpSnapshot* snapshot) {
    if (snapshot != NULL) {
        tpAllocator allocator = snapshot->allocator;
        tpRelease(&allocator, snapshot, snapshot->size);
    }
}

// FNV-1a over the bytes of the numbers.
static uint64_t hashNumbers(uint64_t hash, const double* numbers, int count) {
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof(bits));
        for (int k = 0; k < 8; ++k) {
            hash ^= (bits >> (8 * k)) & 0xffu;
            hash *= UINT64_C(1099511628211);
        }
    }
    return hash;
}

uint64_t tpWorld_HashState(const tpWorld* world) {
    const tpSystem* system = &world->system;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < system->bodyCount; ++i) {
        tpVec3 x = system->poses.data[i].position;
        tpQuat q = system->poses.data[i].rotation;
        tpVec3 v = system->velocities.data[i].linear;
        tpVec3 w = system->velocities.data[i].angular;
        const double numbers[13] = {
            x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z
        };
        hash = hashNumbers(hash, numbers, 13);
    }
    return hash;
}
