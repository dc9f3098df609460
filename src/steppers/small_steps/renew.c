// Manifolds that have followed their bodies for too long are found anew.

#include <string.h>

#include "steppers/small_steps/apart.h"
#include "steppers/small_steps/search.h"

// Threads share runs in chunks of so many.
enum { runsPerChunk = 8 };

static tpRange runsOf(const tpPackStore* store, int chunk) {
    return tpChunkAt(store->order.count, runsPerChunk, chunk);
}

// The place of a manifold's pair in the list.
static int placeOfPair(const tpContactSearch* search, int32_t slot, tpShapePair shapes) {
    return search->places != NULL ? search->places[slot]
                                  : tpPairs_Find(&search->step->state->fat.pairs, shapes);
}

// Notes the place of each manifold's pair: they are put together once, which is less work than to
// look for those of many.
static void placeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
    const tpSmallSteps* state = search->step->state;
    tpRange range = tpChunkAt(state->pairs.count, tp_pairsPerChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        if (state->pairs.data[i].slot >= 0) {
            search->places[state->pairs.data[i].slot] = i;
        }
    }
}

// False if memory ran out.
static bool placePairs(tpContactSearch* search) {
    const tpSmallSteps* state = search->step->state;
    search->places = TP_SCRATCH(&search->step->system->arena, int32_t, state->shapes.count);
    if (search->places == NULL) {
        return false;
    }
    tpTasks_Run(search->step->system->tasks, placeChunk, search,
                tpChunksOf(state->pairs.count, tp_pairsPerChunk));
    return true;
}

static void listStale(const tpContactSearch* search, tpRange runs, tpAnswers* answers) {
    const tpSmallSteps* state = search->step->state;
    answers->count = 0;
    for (int r = runs.begin; r < runs.end; ++r) {
        const tpSoftRun* run = &state->store.runs.data[state->store.order.data[r]];
        for (int lane = 0; run->stale != 0 && lane < tp_packWidth; ++lane) {
            if ((run->stale >> lane & 1) == 0) {
                continue;
            }
            tpShapePair shapes = state->shapes.data[run->slots[lane]];
            int32_t slot = run->slots[lane];
            int pair = state->remembers ? placeOfPair(search, slot, shapes) : -1;
            answers->list[answers->count++] =
                (tpAnswer){ .pair = pair,
                            .slot = slot,
                            .shapes = shapes,
                            .cache = pair >= 0 ? &state->caches.data[pair] : NULL };
        }
    }
}

// A manifold that leaves its lane: its contacts that carried something in the step are listed
// though it goes.
static void departManifold(const tpSmallStep* step, const tpSoftRun* run, int lane,
                           tpAnswers* answers) {
    double deepest = 0.0;
    answers->listed -= tpCountListed(step, run, lane, &deepest);
    for (int k = 0; k < run->points[lane]; ++k) {
        if (run->packs[k].load[lane] > 0.0) {
            answers->departed.list[answers->departed.count++] =
                tpDescribeContact(step, run, lane, k);
            answers->listed += 1;
        }
    }
}

// Whether a manifold that has been found anew stays in its lane.
static bool keepsLane(const tpSoftRun* run, const tpAnswer* answer) {
    return answer->count > 0 && answer->areBalls == run->areBalls;
}

static void writeRenewed(const tpSmallStep* step, tpAnswers* answers, tpAnswer* answer,
                         tpLawMemo* memo) {
    int lane;
    tpSoftRun* run = tpPackStore_Find(&step->state->store, answer->slot, &lane);
    double before = 0.0;
    answers->listed -= tpCountListed(step, run, lane, &before);
    tpFoundManifold found = { answer->shapes,
                              step->system->shapes.data[answer->shapes.shapeA].body,
                              step->system->shapes.data[answer->shapes.shapeB].body,
                              answers->points + answer->first,
                              tpAnswer_PointCount(answer),
                              answer->slack,
                              &answer->over };
    int gone = answers->departed.count;
    tpKeptPoint points[tp_mostPoints];
    tpKeptManifold kept = { points, 0 };
    tpKeepManifold(step, run, lane, &kept);
    tpWriteManifold(step, &found, memo, &kept, run, lane, &answers->departed);
    answers->listed += tpCountListed(step, run, lane, &answers->penetration);
    answers->listed += answers->departed.count - gone;
    answer->isWritten = true;
}

// Finds the stale manifolds of a chunk of runs, and writes those that fit into their lanes.
static void renewChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    tpAnswers* answers = &search->answers[chunk];
    listStale(search, runsOf(&state->store, search->firstChunk + chunk), answers);
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
        if (!keepsLane(run, answer)) {
            answer->pair = placeOfPair(search, answer->slot, answer->shapes);
            departManifold(step, run, lane, answers);
            continue;
        }
        // Packs for more points are handed out by one thread.
        if (tpAnswer_PointCount(answer) <= run->room) {
            writeRenewed(step, answers, answer, memo);
        }
    }
}

// A manifold that is none any more goes. If balls have become others or the reverse, since their
// material or their centre of mass has changed, it gets another lane.
static bool moveManifold(tpContactSearch* search, tpAnswer* answer) {
    tpSmallSteps* state = search->step->state;
    state->pairs.data[answer->pair] = tpMakeApart(answer->slack, answer->along);
    tpPackStore_Remove(&state->store, answer->slot);
    return answer->count == 0 || tpSmallStep_PlaceManifold(search->step, answer);
}

// Manifolds that stay in their lanes with more points than their runs have packs for.
static bool writeLarger(const tpSmallStep* step, tpAnswers* answers) {
    tpPackStore* store = &step->state->store;
    tpLawMemo memo[tp_lawMemoSize];
    memset(memo, 0, sizeof(memo));
    for (int k = 0; k < answers->count; ++k) {
        tpAnswer* answer = &answers->list[k];
        int lane;
        tpSoftRun* run = tpPackStore_Find(store, answer->slot, &lane);
        if (!answer->isWritten && keepsLane(run, answer)) {
            if (!tpPackStore_NeedRoom(store, run, tpAnswer_PointCount(answer))) {
                return false;
            }
            writeRenewed(step, answers, answer, memo);
        }
    }
    return true;
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
static bool renewChunks(tpContactSearch* search, int chunks) {
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
    if (system->arena.failed || !tpContactSearch_RunChunks(search, renewChunk, chunks)) {
        return false;
    }
    for (int c = 0; c < chunks; ++c) {
        tpAnswers* answers = &search->answers[c];
        if (!writeLarger(step, answers)) {
            return false;
        }
        step->listed += answers->listed;
        step->penetration = fmax(step->penetration, answers->penetration);
        for (int k = 0; k < answers->departed.count; ++k) {
            if (!TP_PUSH(&system->allocator, state->departed, answers->departed.list[k])) {
                return false;
            }
        }
        for (int k = 0; k < answers->count; ++k) {
            tpAnswer* answer = &answers->list[k];
            if (!answer->isWritten && !moveManifold(search, answer)) {
                return false;
            }
        }
    }
    return tpContactSearch_WriteNewcomers(search, chunks);
}

bool tpContactSearch_RenewStale(tpContactSearch* search) {
    int runs = search->step->state->store.order.count;
    search->places = NULL;
    if (search->step->state->remembers && !placePairs(search)) {
        return false;
    }
    return tpContactSearch_RunInParts(search, renewChunks, tpChunksOf(runs, runsPerChunk));
}
