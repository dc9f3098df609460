// Pairs of fat boxes that come and go, and the manifolds that go with them.

#include <float.h>
#include <string.h>

#include "dynamics/contacts.h"
#include "geometry/shape.h"
#include "geometry/shape_parts.h"
#include "steppers/small_steps/apart.h"
#include "steppers/small_steps/search.h"

// Threads share the loop over shapes in chunks of so many.
enum { shapesPerChunk = 128 };

// Boxes ------------------------------------------------------------------------------------------

typedef struct Boxes {
    const tpSmallStep* step;
    tpBounds* bounds;
    uint8_t* kinds;
    int32_t* bodies; // their numbers
    float* radii;    // of balls; 0 of others, m
    int count;
} Boxes;

tpBounds tpSweepBounds(tpBounds b, const tpBodyWay* way) {
    double aside = way->turning + tp_asidePart * way->margin;
    double grow = aside < way->margin ? aside : way->margin;
    double x = way->ahead[0], y = way->ahead[1], z = way->ahead[2];
    b.lower.x -= grow + 0.5 * (fabs(x) - x);
    b.lower.y -= grow + 0.5 * (fabs(y) - y);
    b.lower.z -= grow + 0.5 * (fabs(z) - z);
    b.upper.x += grow + 0.5 * (fabs(x) + x);
    b.upper.y += grow + 0.5 * (fabs(y) + y);
    b.upper.z += grow + 0.5 * (fabs(z) + z);
    return b;
}

static bool isZero(tpVec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

// The box of a shape. Nothing has to be turned for a ball about the centre of its body.
static tpBounds boundsOf(const tpSystem* system, const tpShape* shape) {
    const tpGeometry* geometry = &shape->form->geometry;
    if (geometry->type == tp_sphereShape && isZero(geometry->pose.position) &&
        !system->bodies.data[shape->body].isOffCenter) {
        double r = geometry->sphere.radius;
        return tpBoundsAbout(system->poses.data[shape->body].position, tpMakeVec3(r, r, r));
    }
    tpPose room;
    return tpClassOf(geometry)->bounds(geometry, *tpFindShapePose(system, shape, &room));
}

static void placeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Boxes* boxes = context;
    const tpSmallSteps* state = boxes->step->state;
    const tpSystem* system = boxes->step->system;
    tpRange range = tpChunkAt(boxes->count, shapesPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        const tpShape* shape = &system->shapes.data[i];
        if (!shape->isLive) {
            boxes->kinds[i] = tp_noProxy;
            boxes->bodies[i] = -1;
            boxes->radii[i] = 0.0f;
            boxes->bounds[i] = (tpBounds){ { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
            continue;
        }
        bool isMovable = tpSystem_IsDynamic(system, shape->body);
        boxes->bodies[i] = state->numbers.data[shape->body];
        tpBounds bounds = boundsOf(system, shape);
        bool isBall = shape->form->geometry.type == tp_sphereShape;
        boxes->radii[i] = isBall ? (float)shape->form->geometry.sphere.radius : 0.0f;
        bool isLinked = state->map.owners.data[shape->body] >= 0;
        boxes->kinds[i] = !isMovable ? tp_fixedProxy : isLinked ? tp_linkedProxy : tp_movableProxy;
        boxes->bounds[i] = tpSweepBounds(bounds, &state->ways.data[boxes->bodies[i]]);
    }
}

static bool mayPair(const void* context, int32_t a, int32_t b) {
    const tpSystem* system = context;
    return tpCollider_MayCollide(system->collider, a, b);
}

bool tpContactSearch_UpdatePairs(tpContactSearch* search) {
    tpSmallStep* step = search->step;
    tpSystem* system = step->system;
    int count = system->shapes.count;
    Boxes boxes = { step,
                    TP_SCRATCH(&system->arena, tpBounds, count),
                    TP_SCRATCH(&system->arena, uint8_t, count),
                    search->bodies,
                    TP_SCRATCH(&system->arena, float, count),
                    count };
    if (system->arena.failed) {
        return false;
    }
    tpTasks_Run(system->tasks, placeChunk, &boxes, tpChunksOf(count, shapesPerChunk));
    tpProxies proxies = { boxes.bounds, boxes.kinds, count, mayPair, system, boxes.radii };
    tpFatPairs* fat = &step->state->fat;
    bool isDone = tpFatPairs_Update(fat, &proxies, system->tasks, &system->arena);
    system->hasTooManyPairs = system->hasTooManyPairs || fat->isOver;
    return isDone;
}

// Pairs ------------------------------------------------------------------------------------------

static void handOnChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
    tpSmallSteps* state = search->step->state;
    tpRange range = tpChunkAt(state->fat.pairs.count, tp_pairsPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        int origin = state->fat.origins[i];
        state->pairs.data[i] = (tpPairState){ -1, -FLT_MAX, 0 };
        if (origin >= 0) {
            search->isKept[origin] = true;
            state->pairs.data[i] = search->oldPairs[origin];
        }
        if (state->remembers) {
            static const tpPairCache nothing = { { 0 } };
            state->caches.data[i] = origin >= 0 ? state->oldCaches.data[origin] : nothing;
        }
    }
}

// Slots of pairs that are gone, put together at the beginning of the chunk's old pairs.
static void dropChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
    tpRange range = tpChunkAt(search->oldCount, tp_pairsPerChunk, chunk);
    tpChunkFound found = { range.begin, 0 };
    for (int i = range.begin; i < range.end; ++i) {
        if (!search->isKept[i] && search->oldPairs[i].slot >= 0) {
            search->oldPairs[found.first + found.count++].slot = search->oldPairs[i].slot;
        }
    }
    search->found[chunk] = found;
}

// Caches are large and go from one memory to the other and back.
static void exchangeCaches(tpSmallSteps* state) {
    tpPairCache* data = state->caches.data;
    int count = state->caches.count, capacity = state->caches.capacity;
    state->caches.data = state->oldCaches.data;
    state->caches.capacity = state->oldCaches.capacity;
    state->oldCaches.data = data;
    state->oldCaches.count = count;
    state->oldCaches.capacity = capacity;
}

// Puts what is known about the old pairs aside, and makes room for the new ones. False if memory
// ran out.
static bool putPairsAside(tpContactSearch* search, int count) {
    tpSmallSteps* state = search->step->state;
    tpArena* arena = &search->step->system->arena;
    const tpAllocator* allocator = &search->step->system->allocator;
    int oldCount = search->oldCount = state->pairs.count;
    search->oldPairs = TP_SCRATCH(arena, tpPairState, oldCount);
    if (arena->failed) {
        return false;
    }
    if (oldCount > 0) {
        memcpy(search->oldPairs, state->pairs.data, sizeof(tpPairState) * (size_t)oldCount);
    }
    exchangeCaches(state);
    state->pairs.count = state->caches.count = 0;
    if (!TP_RENEW(allocator, state->pairs, count) ||
        (state->remembers && !TP_RENEW(allocator, state->caches, count))) {
        return false;
    }
    state->pairs.count = count;
    state->caches.count = state->remembers ? count : 0;
    return true;
}

bool tpContactSearch_HandOnPairs(tpContactSearch* search) {
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    tpArena* arena = &step->system->arena;
    if (!state->fat.hasChanged) {
        return true;
    }
    int count = state->fat.pairs.count, oldCount = state->pairs.count;
    int oldChunks = tpChunksOf(oldCount, tp_pairsPerChunk);
    search->isKept = TP_SCRATCH_ZEROED(arena, bool, oldCount);
    search->found = TP_SCRATCH(arena, tpChunkFound, oldChunks);
    if (arena->failed || !putPairsAside(search, count)) {
        return false;
    }
    tpTasks* tasks = step->system->tasks;
    tpTasks_Run(tasks, handOnChunk, search, tpChunksOf(count, tp_pairsPerChunk));
    tpTasks_Run(tasks, dropChunk, search, oldChunks);
    for (int c = 0; c < oldChunks; ++c) {
        for (int k = 0; k < search->found[c].count; ++k) {
            int32_t slot = search->oldPairs[search->found[c].first + k].slot;
            if (!tpSmallStep_RemoveManifold(step, slot)) {
                return false;
            }
        }
    }
    return true;
}
