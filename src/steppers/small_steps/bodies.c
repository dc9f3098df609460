// Bodies at both ends of a step, in loops that threads share.

#include <string.h>

#include "dynamics/force_work.h"
#include "dynamics/forces.h"
#include "dynamics/motion.h"
#include "dynamics/sweep_input.h"
#include "steppers/small_steps/step.h"

enum { bodiesAChunk = 512 };

// A body of a scene with more contacts may move farther than contacts were looked for, by this part of its size:
// contacts that it then meets are found at the end of the step.
enum { fewContacts = 200 };
static const double spareWay = 0.02;

typedef struct Bodies {
    tpSmallStep* step;
    bool* isKnown; // of each chunk
} Bodies;

// A body's velocity after flying freely for h, and its rotation if it tumbles.
static tpVelocity flyFreely(tpSmallStep* step, int i, tpVelocity velocity) {
    const tpSystem* system = step->system;
    if (tpSystem_IsTumbling(system, i)) {
        step->freeRotations[i] = system->poses.data[i].rotation;
        tpSystem_Rotate(system, i, step->h, &step->freeRotations[i], &velocity.angular);
    }
    return velocity;
}

// Whether the contacts that were found for this body still hold: it has not been put elsewhere, and is no
// faster than was looked for.
static bool isBodyKnown(const tpSmallStep* step, int i) {
    const tpSmallSteps* state = step->state;
    bool isCrowd = state->contacts.count > fewContacts;
    double spare = isCrowd ? spareWay * step->system->bodies.data[i].reach : 0.0;
    return memcmp(&state->poses.data[i], &step->system->poses.data[i], sizeof(tpPose)) == 0 &&
           step->margins[i] <= state->margins.data[i] * (1.0 + 1e-9) + spare;
}

static bool couldBeKnown(const tpSmallStep* step) {
    const tpSmallSteps* state = step->state;
    return state->structure == step->system->structure && state->poses.count == step->bodyCount &&
           state->margins.count == step->bodyCount;
}

bool tpSmallStep_KnowsContacts(const tpSmallStep* step) {
    bool isKnown = couldBeKnown(step);
    for (int i = 0; isKnown && i < step->bodyCount; ++i) {
        isKnown = isBodyKnown(step, i);
    }
    return isKnown;
}

static void beginBody(tpSmallStep* step, int i) {
    tpSystem* system = step->system;
    tpVelocity start = step->starts[i];
    tpVelocity end = flyFreely(step, i, system->velocities.data[i]);
    step->frees[i] = end;
    memset(&step->kicks[i], 0, sizeof(tpVelocity));
    step->kicks[i].linear = tpScale(1.0 / step->substeps, tpSub(end.linear, start.linear));
    step->kicks[i].angular = tpScale(1.0 / step->substeps, tpSub(end.angular, start.angular));
    step->velocities[i] = start;
    memset(&step->moved[i], 0, sizeof(tpVelocity));
    memset(&step->given[i], 0, sizeof(tpVelocity));
    step->margins[i] = tpSystem_Margin(system, i, &start, &end, step->h);
    step->masses[i] = tpSystem_SweepBody(system, i);
    step->isPushed[i] = false;
}

static void beginChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Bodies* bodies = context;
    tpSmallStep* step = bodies->step;
    tpRange range = tpChunkAt(step->bodyCount, bodiesAChunk, chunk);
    bool isKnown = step->isKnown;
    for (int i = range.begin; i < range.end; ++i) {
        beginBody(step, i);
        isKnown = isKnown && isBodyKnown(step, i);
    }
    bodies->isKnown[chunk] = isKnown;
}

bool tpSmallStep_BeginBodies(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpArena* arena = &system->arena;
    int count = system->bodyCount, chunks = tpChunksOf(count, bodiesAChunk);
    Bodies bodies = { step, TP_SCRATCH(arena, bool, chunks) };
    step->bodyCount = count;
    step->starts = TP_SCRATCH(arena, tpVelocity, count);
    step->frees = TP_SCRATCH(arena, tpVelocity, count);
    step->kicks = TP_SCRATCH(arena, tpVelocity, count);
    step->bases = TP_SCRATCH(arena, tpVelocity, count);
    step->given = TP_SCRATCH(arena, tpVelocity, count);
    step->velocities = TP_SCRATCH(arena, tpVelocity, count);
    step->moved = TP_SCRATCH(arena, tpVelocity, count);
    step->masses = TP_SCRATCH(arena, tpSweepBody, count);
    step->isPushed = TP_SCRATCH(arena, bool, count);
    step->margins = TP_SCRATCH(arena, double, count);
    step->freeRotations = TP_SCRATCH(arena, tpQuat, count);
    if (arena->failed) {
        return false;
    }
    tpSystem_AimKinematic(system, system->time, step->h);
    if (count > 0) {
        memcpy(step->starts, system->velocities.data, sizeof(tpVelocity) * (size_t)count);
    }
    tpSystem_KickForces(system, system->time, step->h);
    step->report->externalWork += tpSystem_KickDamping(system, step->h);
    step->isKnown = couldBeKnown(step);
    tpTasks_Run(system->tasks, beginChunk, &bodies, chunks);
    for (int c = 0; c < chunks; ++c) {
        step->isKnown = step->isKnown && bodies.isKnown[c];
    }
    return true;
}

// A tumbling body turns as in free flight, and beyond that by what impulses have added to its displacement. Its
// angular momentum is that of free flight and what the impulses have added, with the inertia of the start, at which
// they acted; its velocity follows from the momentum with the inertia of the end. So momentum is kept to rounding, and
// without impulses energy as well.
static void turnTumbling(tpSmallStep* step, int i) {
    const tpInertia* inertia = &step->system->bodies.data[i].inertia;
    tpQuat* rotation = &step->system->poses.data[i].rotation;
    tpVec3* velocity = &step->velocities[i].angular;
    tpVec3 start = step->starts[i].angular, free = step->frees[i].angular;
    if (!step->isPushed[i]) {
        *rotation = step->freeRotations[i];
        *velocity = free;
        return;
    }
    // Displacement of the substeps without impulses: their velocities grow evenly from start to free.
    double grown = 0.5 * (step->h + step->substepTime);
    tpVec3 drift = tpMulAdd(tpScale(step->h, start), grown, tpSub(free, start));
    tpVec3 more = tpSub(step->moved[i].angular, drift);
    tpVec3 gain = tpInertia_Momentum(inertia, *rotation, tpSub(*velocity, free));
    tpVec3 momentum = tpAdd(tpInertia_Momentum(inertia, step->freeRotations[i], free), gain);
    *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(more), step->freeRotations[i]));
    *velocity = tpInertia_Velocity(inertia, *rotation, momentum);
}

static void turn(tpSmallStep* step, int i) {
    if (tpSystem_IsTumbling(step->system, i)) {
        turnTumbling(step, i);
    } else {
        tpQuat* rotation = &step->system->poses.data[i].rotation;
        tpQuat turn = tpQuatExp(step->moved[i].angular);
        *rotation = tpNormalizeQuat(tpMulQQ(turn, *rotation));
    }
}

static void moveChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpSmallStep* step = context;
    tpSystem* system = step->system;
    // Falling, a body is faster in the next step.
    double fall = step->h * step->h * tpLength(system->gravity);
    tpRange range = tpChunkAt(step->bodyCount, bodiesAChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        bool isMoved = step->masses[i].inverseMass > 0.0;
        if (isMoved) {
            tpPose* pose = &system->poses.data[i];
            pose->position = tpAdd(pose->position, step->moved[i].linear);
            turn(step, i);
        }
        system->velocities.data[i] = step->velocities[i];
        step->margins[i] =
            tpSystem_Margin(system, i, &step->velocities[i], &step->starts[i], step->h) +
            (isMoved ? fall : 0.0);
    }
    size_t count = (size_t)(range.end - range.begin);
    memcpy(&step->state->poses.data[range.begin], &system->poses.data[range.begin],
           sizeof(tpPose) * count);
    memcpy(&step->state->margins.data[range.begin], &step->margins[range.begin],
           sizeof(double) * count);
}

// Work of what users apply, by the displacements of the step. False if memory ran out.
static bool addForceWork(tpSmallStep* step) {
    const tpSystem* system = step->system;
    if (system->forces.count == 0 && !system->hasLoads) {
        return true;
    }
    tpVelocity* means = TP_SCRATCH(&step->system->arena, tpVelocity, step->bodyCount);
    if (means == NULL) {
        return false;
    }
    for (int i = 0; i < step->bodyCount; ++i) {
        means[i] = step->moved[i];
        means[i].linear = tpScale(1.0 / step->h, step->moved[i].linear);
        means[i].angular = tpScale(1.0 / step->h, step->moved[i].angular);
    }
    tpWays ways = { system->poses.data, step->starts, means, step->h };
    step->report->externalWork += tpSystem_ForceWork(system, &ways, system->time, step->h);
    return true;
}

bool tpSmallStep_MoveBodies(tpSmallStep* step) {
    tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    const tpAllocator* allocator = &system->allocator;
    int count = step->bodyCount;
    if (!TP_RESERVE(allocator, state->poses, count) ||
        !TP_RESERVE(allocator, state->margins, count) || !addForceWork(step)) {
        return false;
    }
    tpSystem_MoveKinematic(system, system->time, step->h);
    tpTasks_Run(system->tasks, moveChunk, step, tpChunksOf(count, bodiesAChunk));
    state->poses.count = state->margins.count = count;
    return true;
}
