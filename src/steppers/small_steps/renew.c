// Manifolds that have followed their bodies for too long are found anew.

#include <string.h>

#include "steppers/small_steps/search.h"

// Threads share runs in chunks of so many.
enum { runsPerChunk = 8 };

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
                            .from = -1,
                            .shapes = shapes,
                            .cache = pair >= 0 ? &state->caches.data[pair] : NULL };
        }
    }
}

// A manifold that is none any more: its contacts that carried something in the step are listed
// though it goes.
static void departManifold(const tpSmallStep* step, const tpSoftRun* run, int lane,
                           tpAnswers* answers) {
    double deepest = 0.0;
    answers->listed -= tpCountListed(run, lane, &deepest);
    for (int k = 0; k < run->points[lane]; ++k) {
        if (run->packs[k].load[lane] > 0.0) {
            answers->departed.list[answers->departed.count++] =
                tpDescribeContact(step, run, lane, k);
            answers->listed += 1;
        }
    }
}

// Finds the stale manifolds of a chunk of runs, and writes those that fit into their lanes.
static void renewChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
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
        if (answer->count == 0 ||
            !tpSoftRun_Suits(run, tpAnswer_PointCount(answer), answer->areBalls)) {
            answer->pair = placeOfPair(state, answer->shapes);
            if (answer->count == 0) {
                departManifold(step, run, lane, answers);
            }
            continue;
        }
        double before = 0.0;
        answers->listed -= tpCountListed(run, lane, &before);
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
        answers->listed += tpCountListed(run, lane, &answers->penetration);
        answers->listed += answers->departed.count - gone;
        answer->isWritten = true;
    }
}

// Manifolds that do not fit into their lanes any more, or are none: the first get other lanes. What
// the old one holds is read when the new one is written.
static bool moveManifold(tpContactSearch* search, tpAnswer* answer) {
    tpSmallStep* step = search->step;
    tpSmallSteps* state = step->state;
    state->pairs.data[answer->pair] = (tpPairState){ -1, (float)answer->slack };
    if (answer->count == 0) {
        tpPackStore_Remove(&state->store, answer->slot);
        return true;
    }
    answer->from = tpPackStore_Leave(&state->store, answer->slot);
    tpSoftRun* run = &state->store.runs.data[answer->from / tp_packWidth];
    run->slots[answer->from % tp_packWidth] = -1 - search->lastLeft;
    search->lastLeft = answer->from;
    return tpSmallStep_PlaceManifold(step, answer);
}

// Lanes that manifolds have left are for others. If memory ran out some may not be cleared yet.
static void vacateLanes(tpContactSearch* search, bool areCleared) {
    tpPackStore* store = &search->step->state->store;
    while (search->lastLeft >= 0) {
        int32_t place = search->lastLeft;
        search->lastLeft = -1 - store->runs.data[place / tp_packWidth].slots[place % tp_packWidth];
        if (!areCleared) {
            tpSoftRun_ClearLane(&store->runs.data[place / tp_packWidth], place % tp_packWidth);
        }
        tpPackStore_Vacate(store, place);
    }
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
    search->lastLeft = -1;
    bool isDone = tpContactSearch_RunInParts(search, renewChunks, tpChunksOf(runs, runsPerChunk));
    vacateLanes(search, isDone);
    return isDone;
}
