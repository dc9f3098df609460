// Pairs without a manifold: which of them the narrow phase has to look at.
//
// A pair that is known to be apart by more than the next step may need is left alone (apart.h). If
// that is not known any more, shapes are told apart along the direction in which they were apart,
// balls also by their distance, and boxes by their faces, several pairs at once.

#include "collision/box_axes.h"
#include "steppers/small_steps/apart.h"

typedef struct PairWatch {
    const tpContactSearch* search;
    tpChunkFound found;
    tpBoxesApart boxes[tp_boxesAtOnce]; // that are to be told apart
    int32_t places[tp_boxesAtOnce];     // of them, in the list of what was found
    int count;
} PairWatch;

// Takes boxes that are apart off the list, for now by a number that no pair has.
static void tellBoxes(PairWatch* watch) {
    if (watch->count > 0) {
        tpFindBoxesApart(watch->search->step->system, watch->boxes, watch->count);
    }
    for (int k = 0; k < watch->count; ++k) {
        if (watch->boxes[k].isApart) {
            watch->search->numbers[watch->places[k]] = -1;
        }
    }
    watch->count = 0;
}

static tpShapeType typeOf(const tpSystem* system, int32_t shape) {
    return system->shapes.data[shape].form->geometry.type;
}

// A pair of which it is not known any more that it stays apart.
static void watchPair(PairWatch* watch, int i, tpShapePair shapes, const tpBodyWay* a,
                      const tpBodyWay* b, tpPairState* pair) {
    const tpSystem* system = watch->search->step->system;
    tpShapeType typeA = typeOf(system, shapes.shapeA), typeB = typeOf(system, shapes.shapeB);
    bool areBoxes = typeA == tp_boxShape && typeB == tp_boxShape;
    bool areBalls = typeA == tp_sphereShape && typeB == tp_sphereShape;
    if ((!areBoxes && tpFindApart(system, shapes, a, b, pair)) ||
        (areBalls && tpFindBallsApart(system, shapes, a, b, pair))) {
        return;
    }
    int place = watch->found.first + watch->found.count++;
    watch->search->numbers[place] = i;
    if (areBoxes) {
        watch->places[watch->count] = place;
        watch->boxes[watch->count++] = (tpBoxesApart){ shapes, a, b, pair, false };
        if (watch->count == tp_boxesAtOnce) {
            tellBoxes(watch);
        }
    }
}

// Lists the pairs of a chunk that are to be asked.
static void watchChunk(void* context, int chunk, int worker) {
    (void)worker;
    const tpContactSearch* search = context;
    tpSmallSteps* state = search->step->state;
    tpRange range = tpChunkAt(state->pairs.count, tp_pairsPerChunk, chunk);
    PairWatch watch = { .search = search, .found = { range.begin, 0 } };
    for (int i = range.begin; i < range.end; ++i) {
        tpPairState* pair = &state->pairs.data[i];
        if (pair->slot >= 0) {
            continue;
        }
        tpShapePair p = state->fat.pairs.data[i];
        const tpBodyWay* a = &state->ways.data[search->bodies[p.shapeA]];
        const tpBodyWay* b = &state->ways.data[search->bodies[p.shapeB]];
        if (!tpStaysApart(pair, a, b)) {
            watchPair(&watch, i, p, a, b, pair);
        }
    }
    tellBoxes(&watch);
    tpChunkFound found = { range.begin, 0 };
    for (int k = 0; k < watch.found.count; ++k) {
        int32_t number = search->numbers[range.begin + k];
        search->numbers[found.first + found.count] = number;
        found.count += number >= 0 ? 1 : 0;
    }
    search->found[chunk] = found;
}

bool tpContactSearch_WatchPairs(tpContactSearch* search) {
    const tpSmallSteps* state = search->step->state;
    tpArena* arena = &search->step->system->arena;
    int count = state->pairs.count, chunks = tpChunksOf(count, tp_pairsPerChunk);
    search->numbers = TP_SCRATCH(arena, int32_t, count);
    search->found = TP_SCRATCH(arena, tpChunkFound, chunks);
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
