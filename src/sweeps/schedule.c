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

// Weighs blocks, with what lies between them and those of higher numbers.
static void weighBlocks(tpSchedule* schedule) {
    const tpPackStore* store = schedule->store;
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
    schedule->counts = TP_SCRATCH_ZEROED(arena, tpBlockCount, store->blockCount + 1);
    schedule->whole = schedule->counts + store->blockCount;
    if (arena->failed || !orderBorders(schedule, arena)) {
        return false;
    }
    weighBlocks(schedule);
    return threads <= store->blockCount || makeTeams(schedule, threads, arena);
}

// The team that has the member, and its block.
static tpCrewMember joinTeam(const tpSchedule* schedule, int member) {
    int block = 0;
    for (; member >= schedule->teams[block]; ++block) {
        member -= schedule->teams[block];
    }
    return (tpCrewMember){ .schedule = schedule,
                           .blocks = { block, block + 1 },
                           .rank = member,
                           .teamSize = schedule->teams[block],
                           .isAlone = schedule->memberCount == 1 };
}

tpCrewMember tpSchedule_Join(const tpSchedule* schedule, int member) {
    if (schedule->teams != NULL) {
        return joinTeam(schedule, member);
    }
    int blockCount = schedule->store->blockCount, memberCount = schedule->memberCount;
    tpCrewMember self = { .schedule = schedule, .teamSize = 1, .isAlone = memberCount == 1 };
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

// Phases ------------------------------------------------------------------------------------------

static void waitFor(atomic_int* count, int wanted) {
    for (int turn = 0; atomic_load_explicit(count, memory_order_acquire) < wanted; ++turn) {
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
    for (int b = member->blocks.begin; member->rank == 0 && b < member->blocks.end; ++b) {
        if (!member->isAlone) {
            waitFor(&counts[b].done, doneBefore(member, b));
        }
        function(context, b);
        if (!member->isAlone) {
            finish(&counts[b]);
        }
    }
    member->bodyPhases += 1;
}

// What a sweep does to runs.
typedef struct Sweep {
    tpRunFunction function;
    void* context;
    bool isBackward;
} Sweep;

static void sweepRuns(const Sweep* sweep, const tpPackStore* store, tpRange range, int stride) {
    for (int k = 0; k < range.end - range.begin; k += stride) {
        int i = sweep->isBackward ? range.end - 1 - k : range.begin + k;
        sweep->function(sweep->context, &store->runs.data[store->order.data[i]], sweep->isBackward);
    }
}

// True for the member that comes last.
static bool comeToMeeting(tpCrewMember* member, tpBlockCount* count) {
    member->meetings += 1;
    return atomic_fetch_add_explicit(&count->meetings, 1, memory_order_acq_rel) ==
           member->meetings * member->teamSize - 1;
}

// One member's part in a group. True if it has to tell that the group is done.
static bool sweepTogether(tpCrewMember* member, const Sweep* sweep, int group) {
    const tpSchedule* schedule = member->schedule;
    tpBlockCount* count = &schedule->counts[member->blocks.begin];
    int begin = schedule->firstStretches[group], end = schedule->firstStretches[group + 1];
    for (int k = 0; k < end - begin; ++k) {
        int s = sweep->isBackward ? end - 1 - k : begin + k;
        const tpRunStretch* stretch = &schedule->stretches[s];
        tpRange range = { s > begin ? stretch[-1].end : schedule->store->groupFirsts.data[group],
                          stretch->end };
        if (stretch->isShared) {
            range.begin += sweep->isBackward ? 0 : member->rank;
            range.end -= sweep->isBackward ? member->rank : 0;
            sweepRuns(sweep, schedule->store, range, member->teamSize);
        } else if (member->rank == 0) {
            sweepRuns(sweep, schedule->store, range, 1);
        }
        bool isLast = comeToMeeting(member, count);
        if (k == end - begin - 1) {
            return isLast;
        }
        waitFor(&count->meetings, member->meetings * member->teamSize);
    }
    return member->rank == 0;
}

// Sweeps a group. True if this thread has to tell that the group is done.
static bool sweepGroup(tpCrewMember* member, const Sweep* sweep, int group) {
    if (member->teamSize > 1) {
        return sweepTogether(member, sweep, group);
    }
    const tpPackStore* store = member->schedule->store;
    tpRange range = { store->groupFirsts.data[group], store->groupFirsts.data[group + 1] };
    sweepRuns(sweep, store, range, 1);
    return !member->isAlone;
}

static void sweepBlocks(tpCrewMember* member, const Sweep* sweep) {
    const tpSchedule* schedule = member->schedule;
    for (int k = 0; k < member->blocks.end - member->blocks.begin; ++k) {
        int b = sweep->isBackward ? member->blocks.end - 1 - k : member->blocks.begin + k;
        if (!member->isAlone) {
            waitFor(&schedule->counts[b].done,
                    doneBefore(member, b) + (sweep->isBackward ? schedule->degrees[b] : 0));
        }
        if (sweepGroup(member, sweep, b)) {
            finish(&schedule->counts[b]);
        }
    }
}

static void waitForBorder(const tpCrewMember* member, const tpBorder* border, bool isBackward) {
    const tpSchedule* schedule = member->schedule;
    int a = border->blockA, b = border->blockB;
    int rankA = isBackward ? schedule->degrees[a] - 1 - border->rankA : 1 + border->rankA;
    int rankB = isBackward ? schedule->degrees[b] - 1 - border->rankB : 1 + border->rankB;
    waitFor(&schedule->counts[a].done, doneBefore(member, a) + rankA);
    waitFor(&schedule->counts[b].done, doneBefore(member, b) + rankB);
}

static void sweepBorders(tpCrewMember* member, const Sweep* sweep) {
    const tpSchedule* schedule = member->schedule;
    for (int k = 0; k < schedule->borderCount; ++k) {
        const tpBorder* border =
            &schedule->borders[sweep->isBackward ? schedule->borderCount - 1 - k : k];
        if (border->blockA < member->blocks.begin || border->blockA >= member->blocks.end) {
            continue;
        }
        if (!member->isAlone) {
            waitForBorder(member, border, sweep->isBackward);
        }
        if (sweepGroup(member, sweep, border->group)) {
            finish(&schedule->counts[border->blockA]);
            finish(&schedule->counts[border->blockB]);
        }
    }
}

void tpCrewMember_Sweep(tpCrewMember* member, tpRunFunction function, void* context,
                        bool isBackward) {
    Sweep sweep = { function, context, isBackward };
    if (isBackward) {
        sweepBorders(member, &sweep);
        sweepBlocks(member, &sweep);
    } else {
        sweepBlocks(member, &sweep);
        sweepBorders(member, &sweep);
    }
    member->sweepPhases += 1;
}

void tpCrewMember_Meet(tpCrewMember* member, void (*function)(void* context), void* context) {
    tpBlockCount* whole = member->schedule->whole;
    int memberCount = member->schedule->memberCount;
    member->wholeMeetings += 1;
    if (atomic_fetch_add_explicit(&whole->meetings, 1, memory_order_acq_rel) ==
        member->wholeMeetings * memberCount - 1) {
        function(context);
        finish(whole);
    } else {
        waitFor(&whole->done, member->wholeMeetings);
    }
}
