#include "sweeps/schedule.h"

#include <string.h>

// What a block's group costs beside its packs, in packs: a visit of its bodies.
enum { packsPerVisit = 8 };

// A member of a team has so many packs of its block at least: with fewer it would wait at meetings
// for as long as it works.
enum { packsPerMember = 96, mostOfTeam = 8 };

static int weightOf(const tpPackStore* store, int group) {
    int sum = 0;
    for (int i = store->groupFirsts.data[group]; i < store->groupFirsts.data[group + 1]; ++i) {
        sum += store->runs.data[store->order.data[i]].count;
    }
    return sum;
}

// Classes of weights by powers of two: 0 for the heaviest, the last for groups without runs.
enum { weightClasses = 33 };

static int classOf(const tpSchedule* schedule, int group) {
    const int32_t* firsts = schedule->store->groupFirsts.data;
    return firsts[group + 1] > firsts[group]
               ? __builtin_clz((unsigned)schedule->groupWeights[group] + 1)
               : weightClasses - 1;
}

// Groups between blocks that have runs, heavy ones first. Returns how many.
static int listByWeight(const tpSchedule* schedule, int32_t* groups) {
    const tpPackStore* store = schedule->store;
    int starts[weightClasses + 1] = { 0 };
    for (int g = store->blockCount; g < store->groups.count; ++g) {
        starts[1 + classOf(schedule, g)] += 1;
    }
    for (int c = 0; c < weightClasses; ++c) {
        starts[c + 1] += starts[c];
    }
    int count = starts[weightClasses - 1];
    for (int g = store->blockCount; g < store->groups.count; ++g) {
        groups[starts[classOf(schedule, g)]++] = g;
    }
    return count;
}

// Borders of one colour share no block. Those of a colour stand side by side in the order: a
// block's neighbours do not wait for each other in long rows. Heavy borders are coloured first, so
// that those of one colour take about as long.
static int colourBorders(tpSchedule* schedule, tpBorder* found, uint8_t* colours, tpArena* arena) {
    const tpPackStore* store = schedule->store;
    uint64_t* masks = TP_SCRATCH_ZEROED(arena, uint64_t, store->blockCount);
    int32_t* groups = TP_SCRATCH(arena, int32_t, store->groups.count);
    if (masks == NULL || groups == NULL) {
        return -1;
    }
    int count = listByWeight(schedule, groups);
    for (int k = 0; k < count; ++k) {
        const tpPackGroup* group = &store->groups.data[groups[k]];
        uint64_t busy = masks[group->blockA] | masks[group->blockB];
        int colour = 0;
        while (colour < 63 && (busy >> colour & 1) != 0) {
            ++colour;
        }
        masks[group->blockA] |= UINT64_C(1) << colour;
        masks[group->blockB] |= UINT64_C(1) << colour;
        colours[k] = (uint8_t)colour;
        found[k] = (tpBorder){ groups[k], group->blockA, group->blockB, 0, 0 };
    }
    return count;
}

// Lists the borders of each block.
static bool listBorders(tpSchedule* schedule, tpArena* arena) {
    int blockCount = schedule->store->blockCount;
    schedule->firstBorders = TP_SCRATCH(arena, int32_t, blockCount + 1);
    schedule->bordersOf = TP_SCRATCH(arena, int32_t, 2 * (size_t)schedule->borderCount);
    if (arena->failed) {
        return false;
    }
    schedule->firstBorders[0] = 0;
    for (int b = 0; b < blockCount; ++b) {
        schedule->firstBorders[b + 1] = schedule->firstBorders[b] + schedule->degrees[b];
    }
    for (int k = 0; k < schedule->borderCount; ++k) {
        const tpBorder* border = &schedule->borders[k];
        schedule->bordersOf[schedule->firstBorders[border->blockA] + border->rankA] = k;
        schedule->bordersOf[schedule->firstBorders[border->blockB] + border->rankB] = k;
    }
    return true;
}

static bool orderBorders(tpSchedule* schedule, tpArena* arena) {
    const tpPackStore* store = schedule->store;
    size_t most = (size_t)(store->groups.count - store->blockCount);
    tpBorder* found = TP_SCRATCH(arena, tpBorder, most);
    uint8_t* colours = TP_SCRATCH(arena, uint8_t, most);
    schedule->borders = TP_SCRATCH(arena, tpBorder, most);
    if (arena->failed) {
        return false;
    }
    int count = colourBorders(schedule, found, colours, arena), place = 0;
    if (count < 0) {
        return false;
    }
    for (int colour = 0; colour < 64 && place < count; ++colour) {
        for (int k = 0; k < count; ++k) {
            if (colours[k] == colour) {
                tpBorder border = found[k];
                border.rankA = schedule->degrees[border.blockA]++;
                border.rankB = schedule->degrees[border.blockB]++;
                schedule->borders[place++] = border;
            }
        }
    }
    schedule->borderCount = count;
    return listBorders(schedule, arena);
}

// Weighs blocks, with what lies between them and those of higher numbers.
static void weighBlocks(tpSchedule* schedule) {
    const tpPackStore* store = schedule->store;
    for (int b = 0; b < store->blockCount; ++b) {
        schedule->weights[b] = schedule->groupWeights[b] + packsPerVisit;
    }
    for (int k = 0; k < schedule->borderCount; ++k) {
        const tpBorder* border = &schedule->borders[k];
        schedule->weights[border->blockA] += schedule->groupWeights[border->group];
    }
    for (int b = 0; b < store->blockCount; ++b) {
        schedule->totalWeight += schedule->weights[b];
    }
}

// Teams -------------------------------------------------------------------------------------------

// Members beyond one per block go where most work is left for each.
static void formTeams(tpSchedule* schedule, int threads) {
    int blockCount = schedule->store->blockCount;
    for (int b = 0; b < blockCount; ++b) {
        schedule->teams[b] = 1;
    }
    for (schedule->memberCount = blockCount; schedule->memberCount < threads;) {
        int best = 0;
        for (int b = 1; b < blockCount; ++b) {
            if ((int64_t)schedule->weights[b] * schedule->teams[best] >
                (int64_t)schedule->weights[best] * schedule->teams[b]) {
                best = b;
            }
        }
        if (schedule->teams[best] == mostOfTeam ||
            schedule->weights[best] < packsPerMember * (schedule->teams[best] + 1)) {
            break;
        }
        schedule->teams[best] += 1;
        schedule->memberCount += 1;
    }
}

// Whether a run may be swept at once with the others of its colour, of which there are some.
static bool isShared(const tpPackStore* store, int place, int end) {
    int colour = store->runs.data[store->order.data[place]].colour;
    return colour < tp_maskColours && place + 1 < end &&
           store->runs.data[store->order.data[place + 1]].colour == colour;
}

static void cutStretches(tpSchedule* schedule) {
    const tpPackStore* store = schedule->store;
    int count = 0;
    for (int g = 0; g < store->groups.count; ++g) {
        schedule->firstStretches[g] = count;
        int end = store->groupFirsts.data[g + 1];
        for (int i = store->groupFirsts.data[g]; i < end;) {
            tpRunStretch stretch = { i + 1, isShared(store, i, end) };
            int colour = store->runs.data[store->order.data[i]].colour;
            while (stretch.end < end &&
                   (stretch.isShared
                        ? store->runs.data[store->order.data[stretch.end]].colour == colour
                        : !isShared(store, stretch.end, end))) {
                ++stretch.end;
            }
            i = stretch.end;
            schedule->stretches[count++] = stretch;
        }
    }
    schedule->firstStretches[store->groups.count] = count;
}

static bool makeTeams(tpSchedule* schedule, int threads, tpArena* arena) {
    const tpPackStore* store = schedule->store;
    schedule->teams = TP_SCRATCH(arena, int32_t, store->blockCount);
    schedule->stretches = TP_SCRATCH(arena, tpRunStretch, store->order.count);
    schedule->firstStretches = TP_SCRATCH(arena, int32_t, store->groups.count + 1);
    if (arena->failed) {
        return false;
    }
    formTeams(schedule, threads);
    cutStretches(schedule);
    return true;
}

// Members -----------------------------------------------------------------------------------------

bool tpSchedule_Create(tpSchedule* schedule, const tpPackStore* store, int threads,
                       tpArena* arena) {
    memset(schedule, 0, sizeof(*schedule));
    schedule->store = store;
    schedule->memberCount = threads > 1 ? threads : 1;
    schedule->degrees = TP_SCRATCH_ZEROED(arena, int32_t, store->blockCount);
    schedule->weights = TP_SCRATCH(arena, int32_t, store->blockCount);
    schedule->groupWeights = TP_SCRATCH(arena, int32_t, store->groups.count);
    schedule->states = TP_SCRATCH_ZEROED(arena, tpBlockState, store->blockCount);
    schedule->counts = TP_SCRATCH_ZEROED(arena, tpCrewCounts, 1);
    if (arena->failed) {
        return false;
    }
    for (int g = 0; g < store->groups.count; ++g) {
        schedule->groupWeights[g] = weightOf(store, g);
    }
    if (!orderBorders(schedule, arena)) {
        return false;
    }
    atomic_init(&schedule->counts->blocksLeft, store->blockCount);
    weighBlocks(schedule);
    return threads <= store->blockCount || makeTeams(schedule, threads, arena);
}

// The team that has the member, and its block.
static tpCrewMember joinTeam(const tpSchedule* schedule, int member) {
    int block = 0;
    for (; member >= schedule->teams[block]; ++block) {
        member -= schedule->teams[block];
    }
    return (tpCrewMember){ .blocks = { block, block + 1 },
                           .rank = member,
                           .teamSize = schedule->teams[block] };
}

tpCrewMember tpSchedule_Join(const tpSchedule* schedule, int member) {
    if (schedule->teams != NULL) {
        return joinTeam(schedule, member);
    }
    int blockCount = schedule->store->blockCount, memberCount = schedule->memberCount;
    tpCrewMember self = { .teamSize = 1 };
    // The block in the middle of which a share ends belongs to the share with more of it.
    int64_t sum = 0, total = schedule->totalWeight;
    int64_t begin = total * member / memberCount, end = total * (member + 1) / memberCount;
    self.blocks = (tpRange){ blockCount, blockCount };
    bool hasBegun = false;
    for (int b = 0; b < blockCount; ++b) {
        int64_t middle = sum + schedule->weights[b] / 2;
        sum += schedule->weights[b];
        if (!hasBegun && middle >= begin) {
            self.blocks.begin = b;
            hasBegun = true;
        }
        if (middle >= end && member + 1 < memberCount) {
            self.blocks.end = b;
            break;
        }
    }
    self.blocks.begin = hasBegun ? self.blocks.begin : blockCount;
    self.blocks.end = self.blocks.end < self.blocks.begin ? self.blocks.begin : self.blocks.end;
    return self;
}
