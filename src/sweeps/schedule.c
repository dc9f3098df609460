#include "sweeps/schedule.h"

#include <string.h>

// What a block's group costs beside its packs, in packs: a visit of its bodies.
enum { packsPerVisit = 8 };

static int weightOf(const tpPackStore* store, int group) {
    int sum = 0;
    for (int i = store->groupFirsts.data[group]; i < store->groupFirsts.data[group + 1]; ++i) {
        sum += store->runs.data[store->order.data[i]].count;
    }
    return sum;
}

// Borders of one colour share no block. Those of a colour stand side by side in the order: a
// block's neighbours do not wait for each other in long rows.
static int colourBorders(tpSchedule* schedule, tpBorder* found, uint8_t* colours, tpArena* arena) {
    const tpPackStore* store = schedule->store;
    uint64_t* masks = TP_SCRATCH_ZEROED(arena, uint64_t, store->blockCount);
    int count = 0;
    if (masks == NULL) {
        return -1;
    }
    for (int g = store->blockCount; g < store->groups.count; ++g) {
        if (store->groupFirsts.data[g + 1] == store->groupFirsts.data[g]) {
            continue;
        }
        const tpPackGroup* group = &store->groups.data[g];
        uint64_t busy = masks[group->blockA] | masks[group->blockB];
        int colour = 0;
        while (colour < 63 && (busy >> colour & 1) != 0) {
            ++colour;
        }
        masks[group->blockA] |= UINT64_C(1) << colour;
        masks[group->blockB] |= UINT64_C(1) << colour;
        colours[count] = (uint8_t)colour;
        found[count++] = (tpBorder){ g, group->blockA, group->blockB, 0, 0 };
    }
    return count;
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
    return true;
}

bool tpSchedule_Create(tpSchedule* schedule, const tpPackStore* store, tpArena* arena) {
    memset(schedule, 0, sizeof(*schedule));
    schedule->store = store;
    schedule->degrees = TP_SCRATCH_ZEROED(arena, int32_t, store->blockCount);
    schedule->weights = TP_SCRATCH(arena, int32_t, store->blockCount);
    schedule->counts = TP_SCRATCH_ZEROED(arena, tpBlockCount, store->blockCount);
    if (arena->failed || !orderBorders(schedule, arena)) {
        return false;
    }
    for (int b = 0; b < store->blockCount; ++b) {
        schedule->weights[b] = weightOf(store, b) + packsPerVisit;
    }
    for (int k = 0; k < schedule->borderCount; ++k) {
        const tpBorder* border = &schedule->borders[k];
        schedule->weights[border->blockA] += weightOf(store, border->group);
    }
    for (int b = 0; b < store->blockCount; ++b) {
        schedule->totalWeight += schedule->weights[b];
    }
    return true;
}

tpCrewMember tpSchedule_Join(const tpSchedule* schedule, int member, int memberCount) {
    int blockCount = schedule->store->blockCount;
    tpCrewMember self = { .schedule = schedule, .isAlone = memberCount == 1 };
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

static void waitFor(tpBlockCount* count, int wanted) {
    for (int turn = 0; atomic_load_explicit(&count->done, memory_order_acquire) < wanted; ++turn) {
        tpCrew_Look(turn);
    }
}

static void finish(tpBlockCount* count) {
    atomic_fetch_add_explicit(&count->done, 1, memory_order_release);
}

// Pieces that are done to a block before a phase begins.
static int doneBefore(const tpCrewMember* member, int block) {
    return member->bodyPhases + member->sweepPhases * (1 + member->schedule->degrees[block]);
}

void tpCrewMember_VisitBlocks(tpCrewMember* member, tpBlockFunction function, void* context) {
    tpBlockCount* counts = member->schedule->counts;
    for (int b = member->blocks.begin; b < member->blocks.end; ++b) {
        if (!member->isAlone) {
            waitFor(&counts[b], doneBefore(member, b));
        }
        function(context, b);
        if (!member->isAlone) {
            finish(&counts[b]);
        }
    }
    member->bodyPhases += 1;
}

static void sweepBlocks(tpCrewMember* member, tpGroupFunction function, void* context,
                        bool isBackward) {
    const tpSchedule* schedule = member->schedule;
    for (int k = 0; k < member->blocks.end - member->blocks.begin; ++k) {
        int b = isBackward ? member->blocks.end - 1 - k : member->blocks.begin + k;
        if (!member->isAlone) {
            waitFor(&schedule->counts[b],
                    doneBefore(member, b) + (isBackward ? schedule->degrees[b] : 0));
        }
        function(context, b, isBackward);
        if (!member->isAlone) {
            finish(&schedule->counts[b]);
        }
    }
}

static void sweepBorders(tpCrewMember* member, tpGroupFunction function, void* context,
                         bool isBackward) {
    const tpSchedule* schedule = member->schedule;
    for (int k = 0; k < schedule->borderCount; ++k) {
        const tpBorder* border = &schedule->borders[isBackward ? schedule->borderCount - 1 - k : k];
        int a = border->blockA, b = border->blockB;
        if (a < member->blocks.begin || a >= member->blocks.end) {
            continue;
        }
        if (!member->isAlone) {
            int rankA = isBackward ? schedule->degrees[a] - 1 - border->rankA : 1 + border->rankA;
            int rankB = isBackward ? schedule->degrees[b] - 1 - border->rankB : 1 + border->rankB;
            waitFor(&schedule->counts[a], doneBefore(member, a) + rankA);
            waitFor(&schedule->counts[b], doneBefore(member, b) + rankB);
        }
        function(context, border->group, isBackward);
        if (!member->isAlone) {
            finish(&schedule->counts[a]);
            finish(&schedule->counts[b]);
        }
    }
}

void tpCrewMember_Sweep(tpCrewMember* member, tpGroupFunction function, void* context,
                        bool isBackward) {
    if (isBackward) {
        sweepBorders(member, function, context, true);
        sweepBlocks(member, function, context, true);
    } else {
        sweepBlocks(member, function, context, false);
        sweepBorders(member, function, context, false);
    }
    member->sweepPhases += 1;
}
