// From pairs of shapes to manifolds in lanes.
//
// Pairs of fat boxes (collision/fat_pairs.h) stay from step to step. A pair without a manifold
// knows how far apart its shapes are at least; motion takes from that, and only if less is left
// than the next step may need the narrow phase is asked. A pair with a manifold lets it follow the
// bodies (sweeps/soft_follow_lanes.h) until its run says that it is stale. Threads find the
// manifolds of chunks; what comes and goes in the store is done by one of them, in the order of
// chunks: the bits do not depend on the threads.

#include <float.h>
#include <string.h>

#include "collision/contact.h"
#include "dynamics/contacts.h"
#include "geometry/shape.h"
#include "steppers/small_steps/narrow.h"

// Threads share loops in chunks of so many shapes, pairs, pairs to be asked, and runs.
enum { shapesPerChunk = 512, pairsPerChunk = 2048, asksPerChunk = 64, runsPerChunk = 16 };

// Answers of so many chunks are in memory at once. Fewer make threads wait for each other more
// often.
enum { chunksAtOnce = 48 };

// A chunk of a loop: what it found.
typedef struct Found {
    int first, count; // in `numbers`
} Found;

typedef struct ContactSearch {
    tpSmallStep* step;
    bool* isKept;     // of each old pair
    int32_t* numbers; // of pairs or slots, a part for each chunk
    Found* found;     // of each chunk
    int32_t* asked;   // pairs to be asked, all together
    int askCount;
    tpAnswers* answers; // of the chunks that are asked at once
    int firstChunk;     // of them
} ContactSearch;

// Boxes ---------------------------------------------------------------------------------------

typedef struct Boxes {
    const tpSmallStep* step;
    tpBounds* bounds;
    uint8_t* kinds;
    int count;
} Boxes;

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
            boxes->bounds[i] = (tpBounds){ { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
            continue;
        }
        bool isMovable = tpSystem_IsDynamic(system, shape->body);
        double margin = state->ways.data[state->numbers.data[shape->body]].margin;
        tpVec3 grow = tpMakeVec3(margin, margin, margin);
        tpBounds bounds =
            tpGeometry_Bounds(&shape->geometry, tpSystem_BodyFrame(system, shape->body));
        boxes->kinds[i] = isMovable ? tp_movableProxy : tp_fixedProxy;
        boxes->bounds[i] = (tpBounds){ tpSub(bounds.lower, grow), tpAdd(bounds.upper, grow) };
    }
}

static bool mayPair(const void* context, int32_t a, int32_t b) {
    const tpSystem* system = context;
    return tpCollider_MayCollide(system->collider, a, b);
}

static bool updatePairs(tpSmallStep* step) {
    tpSystem* system = step->system;
    int count = system->shapes.count;
    Boxes boxes = { step, TP_SCRATCH(&system->arena, tpBounds, count),
                    TP_SCRATCH(&system->arena, uint8_t, count), count };
    if (system->arena.failed) {
        return false;
    }
    tpTasks_Run(system->tasks, placeChunk, &boxes, tpChunksOf(count, shapesPerChunk));
    tpProxies proxies = { boxes.bounds, boxes.kinds, count, mayPair, system };
    return tpFatPairs_Update(&step->state->fat, &proxies, system->tasks);
}

// Pairs that come and go ----------------------------------------------------------------------

static void handOnChunk(void* context, int chunk, int worker) {
    (void)worker;
    const ContactSearch* search = context;
    tpSmallSteps* state = search->step->state;
    tpRange range = tpChunkAt(state->fat.pairs.count, pairsPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        int origin = state->fat.origins.data[i];
        state->pairs.data[i] = (tpPairState){ -1, -FLT_MAX };
        if (origin >= 0) {
            search->isKept[origin] = true;
            state->pairs.data[i] = state->oldPairs.data[origin];
        }
        if (state->remembers) {
            static const tpPairCache nothing = { { 0 } };
            state->caches.data[i] = origin >= 0 ? state->oldCaches.data[origin] : nothing;
        }
    }
}

// Slots of pairs that are gone.
static void dropChunk(void* context, int chunk, int worker) {
    (void)worker;
    const ContactSearch* search = context;
    const tpSmallSteps* state = search->step->state;
    tpRange range = tpChunkAt(state->oldPairs.count, pairsPerChunk, chunk);
    Found found = { range.begin, 0 };
    for (int i = range.begin; i < range.end; ++i) {
        if (!search->isKept[i] && state->oldPairs.data[i].slot >= 0) {
            search->numbers[found.first + found.count++] = state->oldPairs.data[i].slot;
        }
    }
    search->found[chunk] = found;
}

// Contacts that carried something in the step are listed though their manifold goes.
static bool removeManifold(tpSmallStep* step, int32_t slot) {
    tpSmallSteps* state = step->state;
    int lane;
    const tpSoftRun* run = tpPackStore_Find(&state->store, slot, &lane);
    double deepest = 0.0;
    step->listed -= tpCountListed(run, lane, &deepest);
    for (int k = 0; k < run->points[lane]; ++k) {
        if (run->packs[k].load[lane] > 0.0) {
            tpContactInfo info = tpDescribeContact(step, run, lane, k);
            if (!TP_PUSH(&step->system->allocator, state->departed, info)) {
                return false;
            }
            step->listed += 1;
        }
    }
    tpPackStore_Remove(&state->store, slot);
    return true;
}

// Hands on what is known about pairs that are still there.
static bool handOnPairs(ContactSearch* search) {
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    tpArena* arena = &step->system->arena;
    const tpAllocator* allocator = &step->system->allocator;
    if (!state->fat.hasChanged) {
        return true;
    }
    int count = state->fat.pairs.count, oldCount = state->pairs.count;
    int oldChunks = tpChunksOf(oldCount, pairsPerChunk);
    search->isKept = TP_SCRATCH_ZEROED(arena, bool, oldCount);
    search->numbers = TP_SCRATCH(arena, int32_t, oldCount);
    search->found = TP_SCRATCH(arena, Found, oldChunks);
    if (arena->failed || !TP_RESERVE(allocator, state->oldPairs, count) ||
        (state->remembers && !TP_RESERVE(allocator, state->oldCaches, count))) {
        return false;
    }
    TP_SWAP_ARRAYS(state->pairs, state->oldPairs);
    TP_SWAP_ARRAYS(state->caches, state->oldCaches);
    state->pairs.count = count;
    state->caches.count = state->remembers ? count : 0;
    tpTasks* tasks = step->system->tasks;
    tpTasks_Run(tasks, handOnChunk, search, tpChunksOf(count, pairsPerChunk));
    tpTasks_Run(tasks, dropChunk, search, oldChunks);
    for (int c = 0; c < oldChunks; ++c) {
        for (int k = 0; k < search->found[c].count; ++k) {
            if (!removeManifold(step, search->numbers[search->found[c].first + k])) {
                return false;
            }
        }
    }
    return true;
}

// Pairs without a manifold --------------------------------------------------------------------

double tpPairNeed(const tpBodyWay* a, const tpBodyWay* b) {
    double x = (double)a->ahead[0] - b->ahead[0], y = (double)a->ahead[1] - b->ahead[1];
    double z = (double)a->ahead[2] - b->ahead[2], most = (double)a->margin + b->margin;
    return fmin(most, sqrt(x * x + y * y + z * z) + a->turning + b->turning + 0.125 * most);
}

static float cameNearer(const tpBodyWay* a, const tpBodyWay* b) {
    float x = a->moved[0] - b->moved[0], y = a->moved[1] - b->moved[1];
    float z = a->moved[2] - b->moved[2];
    // A little more for the rounding.
    return 1.000001f * (sqrtf(x * x + y * y + z * z) + a->turned + b->turned);
}

// Lists the pairs of a chunk that are to be asked.
static void watchChunk(void* context, int chunk, int worker) {
    (void)worker;
    const ContactSearch* search = context;
    tpSmallSteps* state = search->step->state;
    const tpShape* shapes = search->step->system->shapes.data;
    tpRange range = tpChunkAt(state->pairs.count, pairsPerChunk, chunk);
    Found found = { range.begin, 0 };
    for (int i = range.begin; i < range.end; ++i) {
        tpPairState* pair = &state->pairs.data[i];
        if (pair->slot >= 0) {
            continue;
        }
        tpShapePair p = state->fat.pairs.data[i];
        const tpBodyWay* a = &state->ways.data[state->numbers.data[shapes[p.shapeA].body]];
        const tpBodyWay* b = &state->ways.data[state->numbers.data[shapes[p.shapeB].body]];
        pair->slack -= cameNearer(a, b);
        if (!(pair->slack > tpPairNeed(a, b))) {
            search->numbers[found.first + found.count++] = i;
        }
    }
    search->found[chunk] = found;
}

static bool watchPairs(ContactSearch* search) {
    const tpSmallSteps* state = search->step->state;
    tpArena* arena = &search->step->system->arena;
    int count = state->pairs.count, chunks = tpChunksOf(count, pairsPerChunk);
    search->numbers = TP_SCRATCH(arena, int32_t, count);
    search->found = TP_SCRATCH(arena, Found, chunks);
    if (arena->failed) {
        return false;
    }
    tpTasks_Run(search->step->system->tasks, watchChunk, search, chunks);
    // The list of all never overtakes that of a chunk.
    search->asked = search->numbers;
    search->askCount = 0;
    for (int c = 0; c < chunks; ++c) {
        for (int k = 0; k < search->found[c].count; ++k) {
            search->asked[search->askCount++] = search->numbers[search->found[c].first + k];
        }
    }
    return true;
}

// Asking --------------------------------------------------------------------------------------

// Memory for the answers of chunks: points, and contacts that depart.
static bool reserveAnswers(tpSystem* system, tpAnswers* answers, int count) {
    size_t points = 0, departed = 0;
    for (int c = 0; c < count; ++c) {
        points += (size_t)answers[c].pointRoom;
        departed += (size_t)answers[c].departedRoom;
    }
    tpContactPoint* point = TP_SCRATCH(&system->arena, tpContactPoint, points);
    tpContactInfo* info = TP_SCRATCH(&system->arena, tpContactInfo, departed);
    if (system->arena.failed) {
        return false;
    }
    for (int c = 0; c < count; ++c) {
        answers[c].points = point;
        answers[c].departed = (tpDeparted){ info, 0 };
        point += answers[c].pointRoom;
        info += answers[c].departedRoom;
    }
    return true;
}

// Gives chunks that ran out of room what they need, and runs them again.
static bool repeatShort(ContactSearch* search, tpTaskFunction function, tpAnswers* answers,
                        int count) {
    for (int c = 0; c < count; ++c) {
        if (answers[c].pointCount > answers[c].pointRoom) {
            answers[c].pointRoom = answers[c].pointCount;
            answers[c].points =
                TP_SCRATCH(&search->step->system->arena, tpContactPoint, answers[c].pointRoom);
            if (answers[c].points == NULL) {
                return false;
            }
            function(search, c, 0);
        }
    }
    return true;
}

static bool runChunks(ContactSearch* search, tpTaskFunction function, int count) {
    tpSystem* system = search->step->system;
    if (!reserveAnswers(system, search->answers, count)) {
        return false;
    }
    tpTasks_Run(system->tasks, function, search, count);
    return repeatShort(search, function, search->answers, count);
}

static int usualRoom(const tpSystem* system, tpShapePair shapes) {
    bool isBall = system->shapes.data[shapes.shapeA].geometry.type == tp_sphereShape ||
                  system->shapes.data[shapes.shapeB].geometry.type == tp_sphereShape;
    return isBall ? 1 : 8;
}

static void askChunk(void* context, int chunk, int worker) {
    (void)worker;
    const ContactSearch* search = context;
    tpSmallSteps* state = search->step->state;
    tpAnswers* answers = &search->answers[chunk];
    tpRange range = tpChunkAt(search->askCount, asksPerChunk, search->firstChunk + chunk);
    answers->count = 0;
    for (int k = range.begin; k < range.end; ++k) {
        int i = search->asked[k];
        answers->list[answers->count++] = (tpAnswer){
            .pair = i,
            .slot = -1,
            .shapes = state->fat.pairs.data[i],
            .cache = state->remembers ? &state->caches.data[i] : NULL,
        };
    }
    tpAskNarrowPhase(search->step, answers);
    for (int k = 0; k < answers->count && answers->pointCount <= answers->pointRoom; ++k) {
        state->pairs.data[answers->list[k].pair].slack = (float)answers->list[k].slack;
    }
}

// What a manifold carried when its bodies fell asleep, if they have just woken.
static void recallManifold(const tpSmallStep* step, tpShapePair shapes, tpKeptManifold* kept) {
    const tpSleep* sleep = &step->state->sleep;
    kept->count = 0;
    for (int i = 0; i < sleep->woken.count && kept->count < tp_mostPoints; ++i) {
        const tpContactInfo* info = &sleep->woken.data[i];
        if ((int32_t)info->shapeA.slot - 1 != shapes.shapeA ||
            (int32_t)info->shapeB.slot - 1 != shapes.shapeB) {
            continue;
        }
        tpVec3 total = tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal);
        kept->points[kept->count++] =
            (tpKeptPoint){ .feature = info->feature,
                           .place = info->point,
                           .normal = info->normal,
                           .impulse = tpScale(1.0 / step->substeps, total),
                           .twist = info->torsionalImpulse / step->substeps };
    }
}

static int pointsOf(const tpAnswer* answer) {
    return answer->count < tp_mostPoints ? answer->count : tp_mostPoints;
}

// Gives a manifold a lane, with what it carried elsewhere.
static bool addManifold(tpSmallStep* step, const tpAnswer* answer, const tpContactPoint* points,
                        tpLawMemo* memo, tpKeptManifold* kept) {
    tpSmallSteps* state = step->state;
    const tpSystem* system = step->system;
    int bodyA = system->shapes.data[answer->shapes.shapeA].body;
    int bodyB = system->shapes.data[answer->shapes.shapeB].body;
    int count = pointsOf(answer), lane;
    int32_t slot = tpPackStore_Add(&state->store, state->numbers.data[bodyA],
                                   state->numbers.data[bodyB], count, answer->areBalls);
    if (slot < 0 ||
        !TP_RESERVE(&system->allocator, state->departed, state->departed.count + kept->count + 1)) {
        return false;
    }
    while (state->shapes.count <= slot) {
        if (!TP_PUSH(&system->allocator, state->shapes, answer->shapes)) {
            return false;
        }
    }
    state->shapes.data[slot] = answer->shapes;
    state->pairs.data[answer->pair].slot = slot;
    tpFoundManifold found = { answer->shapes, bodyA, bodyB, points, count, answer->slack };
    tpSoftRun* run = tpPackStore_Find(&state->store, slot, &lane);
    tpDeparted departed = { TP_PLACE(state->departed, state->departed.count), 0 };
    tpWriteManifold(step, &found, memo, kept, run, lane, &departed);
    state->departed.count += departed.count;
    step->listed += tpCountListed(run, lane, &step->penetration) + departed.count;
    return true;
}

// Asks some chunks of pairs without a manifold, and gives those that have one now a lane.
static bool askChunks(ContactSearch* search, int chunks) {
    tpSmallStep* step = search->step;
    tpSystem* system = step->system;
    search->answers = TP_SCRATCH_ZEROED(&system->arena, tpAnswers, chunks);
    tpAnswer* list = TP_SCRATCH(&system->arena, tpAnswer, (size_t)chunks * asksPerChunk);
    if (system->arena.failed) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        tpRange range = tpChunkAt(search->askCount, asksPerChunk, search->firstChunk + c);
        search->answers[c].list = list + c * asksPerChunk;
        for (int k = range.begin; k < range.end; ++k) {
            search->answers[c].pointRoom +=
                usualRoom(system, step->state->fat.pairs.data[search->asked[k]]);
        }
    }
    if (!runChunks(search, askChunk, chunks)) {
        return false;
    }
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            const tpAnswer* answer = &answers->list[k];
            if (answer->count == 0) {
                continue;
            }
            tpKeptManifold kept;
            recallManifold(step, answer->shapes, &kept);
            if (!addManifold(step, answer, answers->points + answer->first, memo, &kept)) {
                return false;
            }
        }
    }
    return true;
}

typedef bool (*ChunksFunction)(ContactSearch* search, int chunks);

// All chunks, some at once, whose memory serves the next.
static bool runInParts(ContactSearch* search, ChunksFunction function, int chunks) {
    tpArena* arena = &search->step->system->arena;
    for (int first = 0; first < chunks; first += chunksAtOnce) {
        tpArenaMark mark = tpArena_Mark(arena);
        search->firstChunk = first;
        int count = chunks - first < chunksAtOnce ? chunks - first : chunksAtOnce;
        if (!function(search, count)) {
            return false;
        }
        tpArena_Release(arena, mark);
    }
    return true;
}

static bool askPairs(ContactSearch* search) {
    return runInParts(search, askChunks, tpChunksOf(search->askCount, asksPerChunk));
}

// Stale manifolds -----------------------------------------------------------------------------

static tpRange runsOf(const tpPackStore* store, int chunk) {
    return tpChunkAt(store->order.count, runsPerChunk, chunk);
}

// The place of a pair in the list.
static int placeOfPair(const tpSmallSteps* state, tpShapePair shapes) {
    return tpPairs_Find(&state->fat.pairs, shapes);
}

static void listStale(const tpSmallSteps* state, tpRange runs, tpAnswers* answers) {
    answers->count = 0;
    for (int r = runs.begin; r < runs.end; ++r) {
        const tpSoftRun* run = &state->store.runs.data[state->store.order.data[r]];
        for (int lane = 0; run->stale != 0 && lane < tp_packWidth; ++lane) {
            if ((run->stale >> lane & 1) == 0) {
                continue;
            }
            tpShapePair shapes = state->shapes.data[run->slots[lane]];
            int pair = state->remembers ? placeOfPair(state, shapes) : -1;
            answers->list[answers->count++] =
                (tpAnswer){ .pair = pair,
                            .slot = run->slots[lane],
                            .shapes = shapes,
                            .cache = pair >= 0 ? &state->caches.data[pair] : NULL };
        }
    }
}

// Finds the stale manifolds of a chunk of runs, and writes those that fit into their lanes.
static void renewChunk(void* context, int chunk, int worker) {
    (void)worker;
    const ContactSearch* search = context;
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    tpAnswers* answers = &search->answers[chunk];
    listStale(state, runsOf(&state->store, search->firstChunk + chunk), answers);
    if (answers->count == 0) {
        return;
    }
    tpAskNarrowPhase(step, answers);
    if (answers->pointCount > answers->pointRoom) {
        return;
    }
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int k = 0; k < answers->count; ++k) {
        tpAnswer* answer = &answers->list[k];
        int lane;
        tpSoftRun* run = tpPackStore_Find(&state->store, answer->slot, &lane);
        if (answer->count == 0 || pointsOf(answer) > run->capacity ||
            answer->areBalls != run->areBalls) {
            continue;
        }
        double before = 0.0;
        answers->listed -= tpCountListed(run, lane, &before);
        tpFoundManifold found = { answer->shapes,
                                  step->system->shapes.data[answer->shapes.shapeA].body,
                                  step->system->shapes.data[answer->shapes.shapeB].body,
                                  answers->points + answer->first,
                                  pointsOf(answer),
                                  answer->slack };
        int gone = answers->departed.count;
        tpKeptManifold kept;
        tpKeepManifold(step, run, lane, &kept);
        tpWriteManifold(step, &found, memo, &kept, run, lane, &answers->departed);
        answers->listed += tpCountListed(run, lane, &answers->penetration);
        answers->listed += answers->departed.count - gone;
        answer->isWritten = true;
    }
}

// Manifolds that do not fit into their lanes any more, or are none: the first get other lanes.
static bool moveManifold(tpSmallStep* step, tpAnswer* answer, const tpContactPoint* points,
                         tpLawMemo* memo) {
    tpSmallSteps* state = step->state;
    answer->pair = placeOfPair(state, answer->shapes);
    state->pairs.data[answer->pair] = (tpPairState){ -1, (float)answer->slack };
    if (answer->count == 0) {
        return removeManifold(step, answer->slot);
    }
    int lane;
    tpKeptManifold kept;
    tpSoftRun* run = tpPackStore_Find(&state->store, answer->slot, &lane);
    tpKeepManifold(step, run, lane, &kept);
    double deepest = 0.0;
    step->listed -= tpCountListed(run, lane, &deepest);
    tpPackStore_Remove(&state->store, answer->slot);
    return addManifold(step, answer, points, memo, &kept);
}

static int countStale(const tpPackStore* store, tpRange runs, int* points) {
    int count = 0;
    for (int r = runs.begin; r < runs.end; ++r) {
        const tpSoftRun* run = &store->runs.data[store->order.data[r]];
        for (int lane = 0; run->stale != 0 && lane < tp_packWidth; ++lane) {
            if ((run->stale >> lane & 1) != 0) {
                count += 1;
                *points += run->points[lane];
            }
        }
    }
    return count;
}

// Finds the stale manifolds of some chunks of runs anew.
static bool renewChunks(ContactSearch* search, int chunks) {
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    tpSystem* system = step->system;
    search->answers = TP_SCRATCH_ZEROED(&system->arena, tpAnswers, chunks);
    if (search->answers == NULL) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        tpAnswers* answers = &search->answers[c];
        int stale = countStale(&state->store, runsOf(&state->store, search->firstChunk + c),
                               &answers->departedRoom);
        answers->pointRoom = 8 * stale;
        answers->list = TP_SCRATCH(&system->arena, tpAnswer, stale);
    }
    if (system->arena.failed || !runChunks(search, renewChunk, chunks)) {
        return false;
    }
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int c = 0; c < chunks; ++c) {
        tpAnswers* answers = &search->answers[c];
        step->listed += answers->listed;
        step->penetration = fmax(step->penetration, answers->penetration);
        for (int k = 0; k < answers->departed.count; ++k) {
            if (!TP_PUSH(&system->allocator, state->departed, answers->departed.list[k])) {
                return false;
            }
        }
        for (int k = 0; k < answers->count; ++k) {
            tpAnswer* answer = &answers->list[k];
            if (!answer->isWritten &&
                !moveManifold(step, answer, answers->points + answer->first, memo)) {
                return false;
            }
        }
    }
    return true;
}

static bool renewStale(ContactSearch* search) {
    int runs = search->step->state->store.order.count;
    return runInParts(search, renewChunks, tpChunksOf(runs, runsPerChunk));
}

// The search ----------------------------------------------------------------------------------

static bool findManifolds(ContactSearch* search) {
    tpArena* arena = &search->step->system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    if (!updatePairs(search->step) || !handOnPairs(search) ||
        !tpPackStore_Order(&search->step->state->store) || !renewStale(search)) {
        return false;
    }
    tpArena_Release(arena, mark);
    return watchPairs(search) && askPairs(search);
}

bool tpSmallStep_Search(tpSmallStep* step) {
    ContactSearch search = { .step = step };
    tpArenaMark mark = tpArena_Mark(&step->system->arena);
    step->system->contactQueryCount += 1;
    if (!findManifolds(&search)) {
        return false;
    }
    tpArena_Release(&step->system->arena, mark);
    tpPackStore_Tidy(&step->state->store);
    return true;
}
