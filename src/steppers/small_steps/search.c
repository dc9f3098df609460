// From pairs of shapes to manifolds in lanes.
//
// Pairs of fat boxes (collision/fat_pairs.h) stay from step to step. A pair without a manifold
// knows how far apart its shapes are at least; motion takes from that, and only if less is left
// than the next step may need the narrow phase is asked. A pair with a manifold lets it follow the
// bodies (sweeps/soft_follow_lanes.h) until its run says that it is stale. Threads find the
// manifolds of chunks; one of them hands out lanes, in the order of chunks, and all write into
// these: the bits do not depend on the threads.
//
// Pairs come and go in pairs.c, stale manifolds are found anew in renew.c, new lanes are written in
// newcomers.c; here are pairs without a manifold, and the order of it all.

#include "steppers/small_steps/search.h"

#include <string.h>

#include "dynamics/contacts.h"
#include "geometry/shape.h"
#include "steppers/small_steps/apart.h"

// Threads share pairs to be asked in chunks of so many, which find so many points as a rule: of a
// pile of boxes that is looked at for the first time nearly every pair has four.
enum { asksPerChunk = 32, pointsPerChunk = 5 * asksPerChunk };

// Answers of so many chunks per thread are in memory at once, but of some at least. Fewer make
// threads wait for each other more often.
enum { chunksPerThread = 4, leastChunks = 8 };

// Manifolds that come and go ---------------------------------------------------------------------

int tpAnswer_PointCount(const tpAnswer* answer) {
    return answer->count < tp_mostPoints ? answer->count : tp_mostPoints;
}

bool tpSmallStep_PlaceManifold(tpSmallStep* step, tpAnswer* answer) {
    tpSmallSteps* state = step->state;
    const tpSystem* system = step->system;
    int bodyA = system->shapes.data[answer->shapes.shapeA].body;
    int bodyB = system->shapes.data[answer->shapes.shapeB].body;
    answer->slot =
        tpPackStore_Add(&state->store, state->numbers.data[bodyA], state->numbers.data[bodyB],
                        tpAnswer_PointCount(answer), answer->areBalls);
    if (answer->slot < 0) {
        return false;
    }
    while (state->shapes.count <= answer->slot) {
        if (!TP_PUSH(&system->allocator, state->shapes, answer->shapes)) {
            return false;
        }
    }
    state->shapes.data[answer->slot] = answer->shapes;
    state->pairs.data[answer->pair].slot = answer->slot;
    answer->isPlaced = true;
    return true;
}

bool tpSmallStep_RemoveManifold(tpSmallStep* step, int32_t slot) {
    tpSmallSteps* state = step->state;
    int lane;
    const tpSoftRun* run = tpPackStore_Find(&state->store, slot, &lane);
    double deepest = 0.0;
    step->listed -= tpCountListed(step, run, lane, &deepest);
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

// Chunks -----------------------------------------------------------------------------------------

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
static bool repeatShort(tpContactSearch* search, tpTaskFunction function, tpAnswers* answers,
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

bool tpContactSearch_RunChunks(tpContactSearch* search, tpTaskFunction function, int count) {
    tpSystem* system = search->step->system;
    if (!reserveAnswers(system, search->answers, count)) {
        return false;
    }
    tpTasks_Run(system->tasks, function, search, count);
    return repeatShort(search, function, search->answers, count);
}

bool tpContactSearch_RunInParts(tpContactSearch* search, tpChunksFunction function, int chunks) {
    tpArena* arena = &search->step->system->arena;
    int chunksAtOnce = chunksPerThread * tpTasks_GetActiveCount(search->step->system->tasks);
    chunksAtOnce = chunksAtOnce > leastChunks ? chunksAtOnce : leastChunks;
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

// Pairs without a manifold -----------------------------------------------------------------------

static void askChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
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
        const tpAnswer* answer = &answers->list[k];
        state->pairs.data[answer->pair] = tpMakeApart(answer->slack, answer->along);
    }
}

// Asks some chunks of pairs without a manifold, and gives those that have one now a lane.
static bool askChunks(tpContactSearch* search, int chunks) {
    tpSmallStep* step = search->step;
    tpSystem* system = step->system;
    search->answers = TP_SCRATCH_ZEROED(&system->arena, tpAnswers, chunks);
    tpAnswer* list = TP_SCRATCH(&system->arena, tpAnswer, (size_t)chunks * asksPerChunk);
    if (system->arena.failed) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        search->answers[c].list = list + c * asksPerChunk;
        search->answers[c].pointRoom = pointsPerChunk;
    }
    if (!tpContactSearch_RunChunks(search, askChunk, chunks)) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        const tpAnswers* answers = &search->answers[c];
        for (int k = 0; k < answers->count; ++k) {
            if (answers->list[k].count > 0 && !tpSmallStep_PlaceManifold(step, &answers->list[k])) {
                return false;
            }
        }
    }
    return tpContactSearch_WriteNewcomers(search, chunks);
}

static bool askPairs(tpContactSearch* search) {
    return tpContactSearch_RunInParts(search, askChunks,
                                      tpChunksOf(search->askCount, asksPerChunk));
}

// The search -------------------------------------------------------------------------------------

static bool findManifolds(tpContactSearch* search) {
    tpArena* arena = &search->step->system->arena;
    search->bodies = TP_SCRATCH(arena, int32_t, search->step->system->shapes.count);
    tpArenaMark mark = tpArena_Mark(arena);
    if (search->bodies == NULL || !tpContactSearch_UpdatePairs(search) ||
        !tpContactSearch_HandOnPairs(search)) {
        return false;
    }
    tpArena_Release(arena, mark);
    if (!tpPackStore_Order(&search->step->state->store) || !tpContactSearch_RenewStale(search)) {
        return false;
    }
    tpArena_Release(arena, mark);
    return tpContactSearch_WatchPairs(search) && askPairs(search);
}

bool tpSmallStep_Search(tpSmallStep* step) {
    tpContactSearch search = { .step = step };
    tpArenaMark mark = tpArena_Mark(&step->system->arena);
    step->system->contactQueryCount += 1;
    if (!findManifolds(&search)) {
        return false;
    }
    tpArena_Release(&step->system->arena, mark);
    tpPackStore_Tidy(&step->state->store);
    step->state->isCalm = step->state->store.isOrdered;
    return tpPackStore_Deal(&step->state->store);
}
