// Bodies at both ends of a step, in loops that threads share.

#include <string.h>

#include "dynamics/contacts.h"
#include "dynamics/force_work.h"
#include "dynamics/forces.h"
#include "dynamics/joint_laws.h"
#include "dynamics/motion.h"
#include "dynamics/sweep_input.h"
#include "steppers/small_steps/apart.h"
#include "steppers/small_steps/step.h"

enum { bodiesPerChunk = 128 };

// A body may move farther than contacts were looked for by this part of its size: contacts that it
// then meets are found at the end of the step. In scenes with few contacts it may not.
static const double spareWay = 0.02;
enum { fewManifolds = 50 };

// A body that contacts push and that turns by less than this in a step, rad, has no flight of its
// own: in a step its velocity would change by so much of itself, far less than contacts do.
static const double restingTurn = 1e-6;

// Beginning -----------------------------------------------------------------------------------

static bool turnsLittle(tpVec3 turn) {
    return tpLengthSquared(turn) <= restingTurn * restingTurn;
}

// Where the body would point at the end of the step without contacts, if it tumbles: beside its
// place, where nothing else is.
static void setFreeRotation(const tpSmallStep* step, int n, tpQuat q) {
    step->places[n].angular = tpMakeVec3(q.x, q.y, q.z);
    step->places[n].padding1 = q.w;
}

static tpQuat getFreeRotation(const tpSmallStep* step, int n) {
    const tpVelocity* place = &step->places[n];
    return (tpQuat){ place->padding1, place->angular.x, place->angular.y, place->angular.z };
}

// A body's velocity after flying freely for h, and its rotation if it tumbles. Those of one that
// turns little are found at the end of the step, if nothing has pushed it.
static tpVelocity flyFreely(tpSmallStep* step, int n, int body, tpVelocity velocity) {
    const tpSystem* system = step->system;
    step->mayRest[n] = turnsLittle(tpScale(step->h, velocity.angular));
    // Mechanisms have their own flight.
    if (step->state->map.owners.data[body] < 0 && !step->mayRest[n] &&
        tpSystem_IsTumbling(system, body)) {
        tpQuat rotation = system->poses.data[body].rotation;
        tpSystem_Rotate(system, body, step->h, &rotation, &velocity.angular);
        setFreeRotation(step, n, rotation);
    }
    return velocity;
}

// Whether contacts that were found for this body do not hold any more: forces make it faster than
// was foreseen.
static bool isTooFast(const tpSmallStep* step, int n, int body, double margin) {
    const tpSmallSteps* state = step->state;
    bool isCrowd = state->store.slotCount > fewManifolds;
    double spare = isCrowd ? spareWay * step->system->bodies.data[body].reach : 0.0;
    return !(margin <= state->ways.data[n].margin * (1.0 + 1e-6) + spare);
}

// Whether a body flies as the last step has foreseen, which has left a margin for as much gravity:
// then its own margin is within that one.
static inline bool isForeseen(const tpSmallStep* step, double gravity, const tpVelocity* start,
                              const tpVelocity* end) {
    const tpSmallSteps* state = step->state;
    double most = step->h * gravity * (1.0 + 1e-9);
    tpVec3 gain = tpSub(end->linear, start->linear);
    return !step->system->hasDisturbed && state->foreseenTime == step->h &&
           state->foreseenGravity == gravity && tpLengthSquared(gain) <= most * most &&
           start->angular.x == end->angular.x && start->angular.y == end->angular.y &&
           start->angular.z == end->angular.z;
}

static void setWay(tpBodyWay* way, const tpVelocity* velocity, double spin, double h, double reach,
                   double margin) {
    way->ahead[0] = (float)(h * velocity->linear.x);
    way->ahead[1] = (float)(h * velocity->linear.y);
    way->ahead[2] = (float)(h * velocity->linear.z);
    way->turning = (float)(h * spin * reach);
    way->spin = spin > 0.0 ? tpPackDirection(tpScale(1.0 / spin, velocity->angular)) : 0;
    // Rounded up.
    way->margin = (float)(margin * (1.0 + 1e-7));
}

// A number that no body has, or not any more.
static void beginNobody(tpSmallStep* step, int n) {
    memset(&step->starts[n], 0, sizeof(tpVelocity));
    memset(&step->kicks[n], 0, sizeof(tpVelocity));
    memset(&step->velocities[n], 0, sizeof(tpVelocity));
    memset(&step->places[n], 0, sizeof(tpVelocity));
    step->isPushed[n] = step->isDisturbed[n] = false;
    step->strikes[n] = 0;
}

// What only the substeps need of a body.
static void weighBody(const tpSmallStep* step, int n) {
    int body = step->state->bodies.data[n];
    if (body < 0) {
        step->supports[n] = (tpSupport){ .carrier = -1 };
        memset(&step->masses[n], 0, sizeof(tpSweepBody));
        return;
    }
    const tpBodyWay* way = &step->state->ways.data[n];
    const float* carried = way->carried;
    step->supports[n] =
        (tpSupport){ .turned = { carried[0], carried[1], carried[2] }, .carrier = -1 };
    step->masses[n] = tpSystem_SweepBody(step->system, body);
    step->masses[n].spare = way->margin;
}

static void beginBody(tpSmallStep* step, int n, int body, double gravity) {
    tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    tpVelocity start = step->starts[n];
    memset(&step->places[n], 0, sizeof(tpVelocity));
    step->places[n].linear = system->poses.data[body].position;
    tpVelocity end = flyFreely(step, n, body, system->velocities.data[body]);
    memset(&step->kicks[n], 0, sizeof(tpVelocity));
    step->kicks[n].linear = tpScale(1.0 / step->substeps, tpSub(end.linear, start.linear));
    step->kicks[n].angular = tpScale(1.0 / step->substeps, tpSub(end.angular, start.angular));
    step->velocities[n] = start;
    tpBodyWay* way = &state->ways.data[n];
    step->isPushed[n] = false;
    step->strikes[n] = 0;
    // It may have been put elsewhere, or given another velocity.
    bool isSame =
        state->motionMarks.data[n] == tpHashMotion(&system->poses.data[body], &step->starts[n]);
    step->isDisturbed[n] = false;
    if (!isSame || !isForeseen(step, gravity, &start, &end)) {
        const tpBody* own = &system->bodies.data[body];
        double margin = tpSystem_MarginUnder(system, gravity, body, &start, &end, step->h);
        step->isDisturbed[n] = !isSame || isTooFast(step, n, body, margin);
        if (step->isDisturbed[n]) {
            // Whatever was known of its neighbours is gone.
            way->turned = INFINITY;
            memset(way->sag, 0, sizeof(way->sag));
            setWay(way, &end, tpLength(end.angular), step->h, own->reach, margin);
            return;
        }
    }
    memset(way->moved, 0, sizeof(way->moved));
    way->turned = 0.0f;
}

typedef struct Beginning {
    tpSmallStep* step;
    bool* isDisturbed; // of each chunk
} Beginning;

static void startChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Beginning* beginning = context;
    tpSmallStep* step = beginning->step;
    tpRange range = tpChunkAt(step->count, bodiesPerChunk, chunk);
    for (int n = range.begin; n < range.end; ++n) {
        int body = step->state->bodies.data[n];
        if (body >= 0) {
            step->starts[n] = step->system->velocities.data[body];
        }
    }
}

static void beginChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Beginning* beginning = context;
    tpSmallStep* step = beginning->step;
    tpRange range = tpChunkAt(step->count, bodiesPerChunk, chunk);
    bool isAny = false;
    double gravity = tpLength(step->system->gravity);
    for (int n = range.begin; n < range.end; ++n) {
        int body = step->state->bodies.data[n];
        if (body >= 0) {
            beginBody(step, n, body, gravity);
            isAny = isAny || step->isDisturbed[n];
        } else {
            beginNobody(step, n);
        }
        if (step->masses != NULL) {
            weighBody(step, n);
        }
    }
    beginning->isDisturbed[chunk] = isAny;
}

// Manifolds of disturbed bodies are to be found anew.
static void markStale(const tpSmallStep* step) {
    const tpPackStore* store = &step->state->store;
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        for (int lane = 0; run->packs != NULL && lane < tp_packWidth; ++lane) {
            bool isHit = (run->used >> lane & 1) != 0 && (step->isDisturbed[run->bodyA[lane]] ||
                                                          step->isDisturbed[run->bodyB[lane]]);
            run->stale = (uint8_t)(run->stale | (isHit ? 1u << lane : 0));
        }
    }
}

// If contacts are looked for first, masses come after that: the search has their memory.
static bool isWeighedLate(const tpSmallStep* step) {
    return step->hasWoken || step->hasChanged;
}

static void reserveMasses(tpSmallStep* step) {
    step->supports = TP_SCRATCH(&step->system->arena, tpSupport, step->count);
    step->masses = TP_SCRATCH(&step->system->arena, tpSweepBody, step->count);
}

static bool reserveLines(tpSmallStep* step) {
    tpArena* arena = &step->system->arena;
    int count = step->count = step->state->bodies.count;
    step->velocities = TP_SCRATCH(arena, tpVelocity, count);
    step->places = TP_SCRATCH(arena, tpVelocity, count);
    step->judged = tpArena_Mark(arena);
    step->starts = TP_SCRATCH(arena, tpVelocity, count);
    step->kicks = TP_SCRATCH(arena, tpVelocity, count);
    step->mayRest = TP_SCRATCH(arena, bool, count);
    step->isPushed = TP_SCRATCH(arena, bool, count);
    step->strikes = TP_SCRATCH(arena, int32_t, count);
    step->isDisturbed = TP_SCRATCH(arena, bool, count);
    if (!isWeighedLate(step)) {
        reserveMasses(step);
    }
    return !arena->failed;
}

bool tpSmallStep_BeginBodies(tpSmallStep* step, bool* isSearch) {
    tpSystem* system = step->system;
    if (!reserveLines(step)) {
        return false;
    }
    int chunks = tpChunksOf(step->count, bodiesPerChunk);
    Beginning beginning = { step, TP_SCRATCH(&system->arena, bool, chunks) };
    if (beginning.isDisturbed == NULL) {
        return false;
    }
    tpJoints_BeginRotors(system);
    tpSystem_AimKinematic(system, system->time, step->h);
    tpTasks_Run(system->tasks, startChunk, &beginning, chunks);
    tpSystem_KickForces(system, system->time, step->h);
    step->report->externalWork += tpSystem_KickDamping(system, step->h);
    tpTasks_Run(system->tasks, beginChunk, &beginning, chunks);
    *isSearch = step->hasWoken || step->hasChanged;
    for (int c = 0; c < chunks; ++c) {
        *isSearch = *isSearch || beginning.isDisturbed[c];
    }
    if (*isSearch) {
        markStale(step);
    }
    return true;
}

static void openChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpSmallStep* step = context;
    tpRange range = tpChunkAt(step->count, bodiesPerChunk, chunk);
    size_t size = sizeof(tpVelocity) * (size_t)(range.end - range.begin);
    memset(step->moved + range.begin, 0, size);
    for (int n = range.begin; isWeighedLate(step) && n < range.end; ++n) {
        weighBody(step, n);
    }
}

bool tpSmallStep_OpenBodies(tpSmallStep* step) {
    tpSystem* system = step->system;
    if (isWeighedLate(step)) {
        reserveMasses(step);
    }
    step->bases = TP_SCRATCH(&system->arena, tpVelocity, step->count);
    step->moved = TP_SCRATCH(&system->arena, tpVelocity, step->count);
    if (system->arena.failed) {
        return false;
    }
    tpTasks_Run(system->tasks, openChunk, step, tpChunksOf(step->count, bodiesPerChunk));
    return true;
}

// Moving --------------------------------------------------------------------------------------

// A tumbling body turns as in free flight, and beyond that by what impulses have added to its
// displacement. Its angular momentum is that of free flight and what the impulses have added, with
// the inertia of the start, at which they acted; its velocity follows from the momentum with the
// inertia of the end. So momentum is kept to rounding, and without impulses energy as well.
static void turnTumbling(tpSmallStep* step, int n, int body, tpQuat* rotation, tpVec3* velocity) {
    const tpInertia* inertia = &step->system->bodies.data[body].form->inertia;
    tpVec3 start = step->starts[n].angular;
    // What substeps were told of free flight, and what it is.
    tpVec3 told = tpMulAdd(start, step->substeps, step->kicks[n].angular), free = told;
    tpQuat freeRotation = getFreeRotation(step, n);
    if (step->mayRest[n]) {
        freeRotation = *rotation;
        tpSystem_Rotate(step->system, body, step->h, &freeRotation, &free);
    }
    if (!step->isPushed[n] && step->strikes[n] == 0) {
        *rotation = freeRotation;
        *velocity = free;
        return;
    }
    // Displacement of the substeps without impulses: their velocities grow evenly from start to
    // what they were told.
    double grown = 0.5 * (step->h + step->substepTime);
    tpVec3 drift = tpMulAdd(tpScale(step->h, start), grown, tpSub(told, start));
    tpVec3 more = tpSub(step->moved[n].angular, drift);
    tpVec3 gain = tpInertia_Momentum(inertia, *rotation, tpSub(*velocity, told));
    tpVec3 momentum = tpAdd(tpInertia_Momentum(inertia, freeRotation, free), gain);
    *rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(more), freeRotation));
    *velocity = tpInertia_Velocity(inertia, *rotation, momentum);
}

// The turn from one orientation to another.
static tpVec3 turnBetween(tpQuat from, tpQuat to) {
    return tpQuatLog(tpMulQQ(to, tpConjugate(from)));
}

// Kicks at the starts of substeps move a body by half of one more than forces do. Contacts have
// seen that, but in flight it would cost the body m g^2 h / 2n of its energy per step. This is the
// part that is taken back: all of it in flight and after impacts alone, less the more contacts
// push, and nothing where they carry the body. So a touch as light as rounding does not move it.
static double flyingPart(const tpSmallStep* step, int n) {
    double kick = tpLength(step->kicks[n].linear) * step->substeps;
    if (!step->isPushed[n] || kick == 0.0) {
        return 1.0;
    }
    tpVec3 change = tpSub(step->velocities[n].linear, step->starts[n].linear);
    tpVec3 pushed = tpMulAdd(change, -step->substeps, step->kicks[n].linear);
    return fmax(1.0 - 10.0 * tpLength(pushed) / kick, 0.0);
}

// Moves a body that impulses move; `moved` becomes its displacement over the step.
static void moveBody(tpSmallStep* step, int n, int body) {
    tpPose* pose = &step->system->poses.data[body];
    tpVelocity* velocity = &step->system->velocities.data[body];
    step->isPushed[n] =
        step->isPushed[n] || !tpIsSameVelocity(&step->velocities[n], &step->bases[n]);
    *velocity = step->velocities[n];
    if (step->state->map.owners.data[body] >= 0) {
        *pose = tpSmallStep_JointedPose(step, body);
        return;
    }
    bool isTurning = step->isTurning != NULL && step->isTurning[n]; // kicked in the middle
    if (step->masses[n].inverseMass > 0.0 && !isTurning) {
        step->moved[n].linear = tpMulAdd(
            step->moved[n].linear, -0.5 * step->h * flyingPart(step, n), step->kicks[n].linear);
    }
    pose->position = tpAdd(pose->position, step->moved[n].linear);
    bool rests = step->mayRest[n] && step->isPushed[n] && step->strikes[n] == 0 &&
                 turnsLittle(step->moved[n].angular) &&
                 turnsLittle(tpScale(step->h, velocity->angular));
    if (!rests && tpSystem_IsTumbling(step->system, body)) {
        tpQuat before = pose->rotation;
        turnTumbling(step, n, body, &pose->rotation, &velocity->angular);
        step->moved[n].angular = turnBetween(before, pose->rotation);
    } else {
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(step->moved[n].angular), pose->rotation));
    }
}

// A body that others do not move: its way is known from its velocity.
static void followTold(tpSmallStep* step, int n, int body) {
    tpVec3 before = step->places[n].linear;
    step->moved[n].linear = tpSub(step->system->poses.data[body].position, before);
    step->moved[n].angular = tpScale(step->h, step->starts[n].angular);
}

// Twice the mean of the velocities without contacts and those with them; the kicks are done with.
static void findMean(tpSmallStep* step, int n) {
    tpVelocity* kick = &step->kicks[n];
    const tpVelocity *start = &step->starts[n], *end = &step->velocities[n];
    tpVec3 linear = tpMulAdd(start->linear, step->substeps, kick->linear);
    tpVec3 angular = tpMulAdd(start->angular, step->substeps, kick->angular);
    kick->linear = tpAdd(linear, end->linear);
    kick->angular = tpAdd(angular, end->angular);
}

typedef struct Moving {
    tpSmallStep* step;
    bool* turnsFar; // of each chunk
} Moving;

static void moveChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Moving* moving = context;
    tpSmallStep* step = moving->step;
    bool turnsFar = false;
    tpSystem* system = step->system;
    tpSmallSteps* state = step->state;
    // Falling, a body is faster in the next step.
    double gravity = tpLength(system->gravity), fall = step->h * step->h * gravity;
    tpRange range = tpChunkAt(step->count, bodiesPerChunk, chunk);
    for (int n = range.begin; n < range.end; ++n) {
        int body = state->bodies.data[n];
        if (body < 0) {
            continue; // its lines are zeros
        }
        bool isMoved = step->masses[n].inverseMass > 0.0;
        if (isMoved) {
            moveBody(step, n, body);
        } else {
            followTold(step, n, body);
        }
        findMean(step, n);
        const tpVelocity* velocity = &system->velocities.data[body];
        const tpBody* own = &system->bodies.data[body];
        const tpVelocity* start = &step->starts[n];
        double reach = own->reach, spin = tpLength(velocity->angular);
        double speed = tpLength(velocity->linear) + reach * spin;
        double last = tpLength(start->linear) + reach * tpLength(start->angular);
        double margin = tpBody_MarginAt(own, gravity, last > speed ? last : speed, step->h) +
                        (isMoved ? fall : 0.0);
        step->places[n].linear = system->poses.data[body].position;
        tpVelocity* shift = &step->moved[n];
        shift->padding0 = tpLength(shift->angular) * reach;
        shift->padding1 = reach;
        tpBodyWay* way = &state->ways.data[n];
        way->moved[0] = (float)shift->linear.x;
        way->moved[1] = (float)shift->linear.y;
        way->moved[2] = (float)shift->linear.z;
        way->turned = (float)shift->padding0;
        setWay(way, velocity, spin, step->h, reach, margin);
        turnsFar = turnsFar || tpSmallStep_TurnsFar(step, n, body);
        tpVelocity* ahead = &step->starts[n];
        *ahead = (tpVelocity){ .linear = tpScale(step->h, velocity->linear),
                               .padding0 = way->turning,
                               .angular = tpSmallStep_Sag(step, n, body, shift->angular),
                               .padding1 = way->margin };
        state->motionMarks.data[n] = tpHashMotion(&system->poses.data[body], velocity);
    }
    moving->turnsFar[chunk] = turnsFar;
}

// Work of what users apply, by the displacements of the step. False if memory ran out.
static bool addForceWork(tpSmallStep* step) {
    tpSystem* system = step->system;
    if (system->forces.count == 0 && !system->hasLoads && !system->hasEfforts) {
        return true;
    }
    tpVelocity* starts = TP_SCRATCH_ZEROED(&system->arena, tpVelocity, system->bodyCount);
    tpVelocity* means = TP_SCRATCH_ZEROED(&system->arena, tpVelocity, system->bodyCount);
    if (system->arena.failed) {
        return false;
    }
    for (int n = 0; n < step->count; ++n) {
        int body = step->state->bodies.data[n];
        if (body >= 0) {
            starts[body] = step->starts[n];
            means[body].linear = tpScale(1.0 / step->h, step->moved[n].linear);
            means[body].angular = tpScale(1.0 / step->h, step->moved[n].angular);
        }
    }
    tpWays ways = { system->poses.data, starts, means, step->h };
    step->report->externalWork += tpSystem_ForceWork(system, &ways, system->time, step->h);
    return true;
}

bool tpSmallStep_MoveBodies(tpSmallStep* step) {
    tpSystem* system = step->system;
    if (!addForceWork(step)) {
        return false;
    }
    tpSystem_MoveKinematic(system, system->time, step->h);
    int chunks = tpChunksOf(step->count, bodiesPerChunk);
    Moving moving = { step, TP_SCRATCH(&system->arena, bool, chunks) };
    if (moving.turnsFar == NULL) {
        return false;
    }
    tpTasks_Run(system->tasks, moveChunk, &moving, chunks);
    for (int c = 0; c < chunks; ++c) {
        step->turnsFar = step->turnsFar || moving.turnsFar[c];
    }
    // Bodies that turn far may still be put elsewhere.
    step->state->foreseenTime = step->turnsFar ? 0.0 : step->h;
    step->state->foreseenGravity = tpLength(system->gravity);
    return true;
}
