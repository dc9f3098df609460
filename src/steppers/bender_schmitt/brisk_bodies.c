// Bodies at both ends of a step in parts, in loops that threads share.

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/motion.h"
#include "steppers/bender_schmitt/brisk_step.h"

enum { bodiesAChunk = 512 };

typedef struct Bodies {
    tpBrisk* brisk;
    bool* isKnown; // of each chunk
} Bodies;

// A body's velocity after flying freely for h: that of a tumbling one changes.
static tpVelocity flyFreely(const tpSystem* system, int i, tpVelocity velocity, double h) {
    const tpBody* body = &system->bodies.data[i];
    if (body->inverseMass > 0.0 && !system->isPlanar && !body->inertia.isIsotropic) {
        tpQuat rotation = system->poses.data[i].rotation;
        tpRotateFreely(&body->inertia, h, &rotation, &velocity.angular);
    }
    return velocity;
}

// Whether the contacts that were found for this body still hold: it has not been put elsewhere, and is no
// faster than was looked for. Where much touches, a body that has been hit may outrun its margin by a part of
// its size: what it meets is then found at the end of the step.
static bool isBodyKnown(const tpBrisk* brisk, int i) {
    const tpBenderSchmitt* state = brisk->state;
    bool isFine = state->contacts.count <= brisk->settings->budget / 1500.0;
    double spare = isFine ? 0.0 : TP_SPARE_WAY * brisk->system->bodies.data[i].reach;
    return memcmp(&state->poses.data[i], &brisk->system->poses.data[i], sizeof(tpPose)) == 0 &&
           brisk->margins[i] <= state->margins.data[i] * (1.0 + 1e-9) + spare;
}

static void beginBody(tpBrisk* brisk, int i) {
    tpSystem* system = brisk->system;
    tpVelocity start = brisk->starts[i];
    tpVelocity end = flyFreely(system, i, system->velocities.data[i], brisk->h);
    brisk->frees[i] = end;
    memset(&brisk->kicks[i], 0, sizeof(tpVelocity));
    brisk->kicks[i].linear = tpScale(1.0 / brisk->parts, tpSub(end.linear, start.linear));
    brisk->kicks[i].angular = tpScale(1.0 / brisk->parts, tpSub(end.angular, start.angular));
    brisk->velocities[i] = start;
    memset(&brisk->moved[i], 0, sizeof(tpVelocity));
    memset(&brisk->given[i], 0, sizeof(tpVelocity));
    brisk->margins[i] = tpSystem_Margin(system, i, &start, &end, brisk->h);
    brisk->masses[i] = tpMakeSweepBody(system, i);
}

static void beginChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Bodies* bodies = context;
    tpBrisk* brisk = bodies->brisk;
    tpRange range = tpChunkAt(brisk->bodyCount, bodiesAChunk, chunk);
    bool isKnown = brisk->isKnown;
    for (int i = range.begin; i < range.end; ++i) {
        beginBody(brisk, i);
        isKnown = isKnown && isBodyKnown(brisk, i);
    }
    bodies->isKnown[chunk] = isKnown;
}

bool tpBrisk_BeginBodies(tpBrisk* brisk) {
    tpSystem* system = brisk->system;
    const tpBenderSchmitt* state = brisk->state;
    tpArena* arena = &system->arena;
    int count = system->bodyCount, chunks = tpChunksOf(count, bodiesAChunk);
    Bodies bodies = { brisk, TP_SCRATCH(arena, bool, chunks) };
    brisk->bodyCount = count;
    brisk->starts = TP_SCRATCH(arena, tpVelocity, count);
    brisk->frees = TP_SCRATCH(arena, tpVelocity, count);
    brisk->kicks = TP_SCRATCH(arena, tpVelocity, count);
    brisk->bases = TP_SCRATCH(arena, tpVelocity, count);
    brisk->given = TP_SCRATCH(arena, tpVelocity, count);
    brisk->velocities = TP_SCRATCH(arena, tpVelocity, count);
    brisk->moved = TP_SCRATCH(arena, tpVelocity, count);
    brisk->masses = TP_SCRATCH(arena, tpSweepBody, count);
    brisk->margins = TP_SCRATCH(arena, double, count);
    if (arena->failed) {
        return false;
    }
    tpSystem_AimKinematic(system, system->time, brisk->h);
    if (count > 0) {
        memcpy(brisk->starts, system->velocities.data, sizeof(tpVelocity) * (size_t)count);
    }
    brisk->report->externalWork += tpSystem_KickWithoutSprings(system, system->time, brisk->h);
    brisk->isKnown = state->layout == system->layout && state->poses.count == count &&
                     state->margins.count == count;
    tpTasks_Run(system->tasks, beginChunk, &bodies, chunks);
    for (int c = 0; c < chunks; ++c) {
        brisk->isKnown = brisk->isKnown && bodies.isKnown[c];
    }
    return true;
}

static void moveChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpBrisk* brisk = context;
    tpSystem* system = brisk->system;
    // Falling, a body is faster in the next step.
    double fall = brisk->h * brisk->h * tpLength(system->gravity);
    tpRange range = tpChunkAt(brisk->bodyCount, bodiesAChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        system->velocities.data[i] = brisk->velocities[i];
        brisk->margins[i] =
            tpSystem_Margin(system, i, &brisk->velocities[i], &brisk->starts[i], brisk->h);
        if (brisk->masses[i].inverseMass > 0.0) {
            tpPose* pose = &system->poses.data[i];
            pose->position = tpAdd(pose->position, brisk->moved[i].linear);
            tpQuat turn = tpQuatExp(brisk->moved[i].angular);
            pose->rotation = tpNormalizeQuat(tpMulQQ(turn, pose->rotation));
            brisk->margins[i] += fall;
        }
    }
    size_t count = (size_t)(range.end - range.begin);
    memcpy(&brisk->state->poses.data[range.begin], &system->poses.data[range.begin],
           sizeof(tpPose) * count);
    memcpy(&brisk->state->margins.data[range.begin], &brisk->margins[range.begin],
           sizeof(double) * count);
}

bool tpBrisk_MoveBodies(tpBrisk* brisk) {
    tpSystem* system = brisk->system;
    tpBenderSchmitt* state = brisk->state;
    const tpAllocator* allocator = &system->allocator;
    int count = brisk->bodyCount;
    if (!TP_RESERVE(allocator, state->poses, count) ||
        !TP_RESERVE(allocator, state->margins, count)) {
        return false;
    }
    tpSystem_MoveKinematic(system, system->time, brisk->h);
    tpTasks_Run(system->tasks, moveChunk, brisk, tpChunksOf(count, bodiesAChunk));
    state->poses.count = state->margins.count = count;
    return true;
}
