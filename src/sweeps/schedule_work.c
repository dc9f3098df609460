// The members of a crew go through the phases of a schedule.
//
// A block's place is the phase that it is in and how many pieces of that phase are done to it. A
// visit or a meeting is one piece. A forward sweep has the block's own group first, then its
// borders in their order; a backward sweep has them the other way round. The last bit of a place
// says that a thread is at work on the next piece:
//
//     place = (phase << 32 | pieces done) << 1 | is taken
//
// A border is next for both its blocks before it is taken, and is taken by the place of its first
// block alone. The second block stays where it is meanwhile: its next piece is this border, and
// nobody can take that a second time.

#include "sweeps/schedule.h"

// Blocks of others that are looked at before a thread looks at its own again.
enum { otherLooks = 32 };

typedef struct CrewWalk {
    const tpSchedule* schedule;
    const tpPhase* phases;
    int phaseCount;
    void* context;
    tpCrewMember member;
    int meetings; // of its team so far
    int cursor;   // among the blocks of others
} CrewWalk;

// The next piece of a block.
typedef struct SweepPiece {
    int block, other; // of a border: its two blocks; else `other` is -1
    int group;        // of a sweep
    uint64_t place;   // of `block`
} SweepPiece;

// Places -----------------------------------------------------------------------------------------

static const uint64_t takenBit = 1;

static uint64_t placeAt(int phase, int done) {
    return ((uint64_t)phase << 32 | (uint32_t)done) << 1;
}

static int phaseOf(uint64_t place) {
    return (int)(place >> 33);
}

static int doneOf(uint64_t place) {
    return (int)(uint32_t)(place >> 1);
}

static uint64_t placeOf(const tpSchedule* schedule, int block) {
    return atomic_load_explicit(&schedule->states[block].place, memory_order_acquire);
}

// The piece of its block that a border is in a sweep.
static int rankOf(const tpSchedule* schedule, const tpBorder* border, int block, bool isBackward) {
    int rank = block == border->blockA ? border->rankA : border->rankB;
    return isBackward ? schedule->degrees[block] - 1 - rank : 1 + rank;
}

// A block goes on to its next piece.
static void goOn(const CrewWalk* walk, int block, uint64_t place) {
    const tpSchedule* schedule = walk->schedule;
    int phase = phaseOf(place), done = doneOf(place) + 1;
    bool isSweep = walk->phases[phase].kind == tp_sweepPhase;
    if (done > (isSweep ? schedule->degrees[block] : 0)) {
        phase += 1;
        done = 0;
    }
    atomic_store_explicit(&schedule->states[block].place, placeAt(phase, done),
                          memory_order_release);
    if (phase == walk->phaseCount) {
        atomic_fetch_sub_explicit(&schedule->counts->blocksLeft, 1, memory_order_release);
    }
}

static void finishPiece(const CrewWalk* walk, const SweepPiece* piece) {
    goOn(walk, piece->block, piece->place);
    if (piece->other >= 0) {
        goOn(walk, piece->other, placeOf(walk->schedule, piece->other));
    }
}

// A block has come to a meeting. The last one to come calls the function, and all go on.
static void arrive(const CrewWalk* walk, const tpPhase* phase) {
    const tpSchedule* schedule = walk->schedule;
    int blockCount = schedule->store->blockCount;
    int arrivals =
        atomic_fetch_add_explicit(&schedule->counts->arrivals, 1, memory_order_acq_rel) + 1;
    if (arrivals % blockCount != 0) {
        return;
    }
    phase->meet(walk->context);
    for (int b = 0; b < blockCount; ++b) {
        goOn(walk, b, placeOf(schedule, b));
    }
}

// Pieces -----------------------------------------------------------------------------------------

// The next piece of a block, if it is ready and nobody is at work on it.
static bool findPiece(const CrewWalk* walk, int block, SweepPiece* piece) {
    const tpSchedule* schedule = walk->schedule;
    uint64_t place = placeOf(schedule, block);
    int number = phaseOf(place), done = doneOf(place), degree = schedule->degrees[block];
    if ((place & takenBit) != 0 || number == walk->phaseCount) {
        return false;
    }
    const tpPhase* phase = &walk->phases[number];
    *piece = (SweepPiece){ block, -1, block, place };
    if (phase->kind != tp_sweepPhase || done == (phase->isBackward ? degree : 0)) {
        return true;
    }
    int rank = phase->isBackward ? degree - 1 - done : done - 1;
    const tpBorder* border =
        &schedule->borders[schedule->bordersOf[schedule->firstBorders[block] + rank]];
    int other = block == border->blockA ? border->blockB : border->blockA;
    uint64_t otherPlace = placeOf(schedule, other);
    if (otherPlace != placeAt(number, rankOf(schedule, border, other, phase->isBackward))) {
        return false;
    }
    *piece = block == border->blockA ? (SweepPiece){ block, other, border->group, place }
                                     : (SweepPiece){ other, block, border->group, otherPlace };
    return true;
}

static bool takePiece(const CrewWalk* walk, const SweepPiece* piece) {
    uint64_t expected = piece->place;
    return atomic_compare_exchange_strong_explicit(&walk->schedule->states[piece->block].place,
                                                   &expected, expected | takenBit,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

static void sweepRuns(const CrewWalk* walk, const tpPhase* phase, tpRange range, int stride) {
    const tpPackStore* store = walk->schedule->store;
    for (int k = 0; k < range.end - range.begin; k += stride) {
        int i = phase->isBackward ? range.end - 1 - k : range.begin + k;
        phase->sweep(walk->context, &store->runs.data[store->order.data[i]], phase->isBackward);
    }
}

static void sweepGroup(const CrewWalk* walk, const tpPhase* phase, int group) {
    const int32_t* firsts = walk->schedule->store->groupFirsts.data;
    sweepRuns(walk, phase, (tpRange){ firsts[group], firsts[group + 1] }, 1);
}

static void doPiece(const CrewWalk* walk, const SweepPiece* piece) {
    const tpPhase* phase = &walk->phases[phaseOf(piece->place)];
    if (phase->kind == tp_meetPhase) {
        arrive(walk, phase);
        return;
    }
    if (phase->kind == tp_visitPhase) {
        phase->visit(walk->context, piece->block);
    } else {
        sweepGroup(walk, phase, piece->group);
    }
    finishPiece(walk, piece);
}

// Freely -----------------------------------------------------------------------------------------

// Takes the piece of the least advanced of some blocks, if one is ready. They are counted from
// `first` and begin anew after the last. A block without borders keeps nobody waiting: it goes on
// while its bodies are in the cache.
static bool workOnOne(const CrewWalk* walk, int first, int count) {
    int blockCount = walk->schedule->store->blockCount;
    SweepPiece best = { .block = -1 }, piece;
    for (int k = 0; k < count; ++k) {
        if (findPiece(walk, (first + k) % blockCount, &piece) &&
            (best.block < 0 || piece.place < best.place)) {
            best = piece;
        }
    }
    if (best.block < 0 || !takePiece(walk, &best)) {
        return false;
    }
    int block = best.block;
    bool isApart = walk->schedule->degrees[block] == 0;
    do {
        doPiece(walk, &best);
    } while (isApart && findPiece(walk, block, &best) && takePiece(walk, &best));
    return true;
}

static void goFreely(CrewWalk* walk) {
    const tpSchedule* schedule = walk->schedule;
    tpRange own = walk->member.blocks;
    int blockCount = schedule->store->blockCount, ownCount = own.end - own.begin;
    int otherCount = blockCount - ownCount;
    int looks = otherCount < otherLooks ? otherCount : otherLooks;
    for (int turn = 0;
         atomic_load_explicit(&schedule->counts->blocksLeft, memory_order_acquire) > 0;) {
        bool isDone = workOnOne(walk, own.begin, ownCount);
        if (!isDone && looks > 0) {
            isDone = workOnOne(walk, own.end + walk->cursor, looks);
            walk->cursor = (walk->cursor + looks) % otherCount;
        }
        turn = isDone ? 0 : turn + ownCount + looks;
        if (!isDone) {
            tpCrew_Look(turn);
        }
    }
}

// In teams ---------------------------------------------------------------------------------------

static void waitForPlace(const tpSchedule* schedule, int block, uint64_t wanted) {
    for (int turn = 0; placeOf(schedule, block) < wanted; ++turn) {
        tpCrew_Look(turn);
    }
}

// True for the member that comes last.
static bool comeToMeeting(CrewWalk* walk, tpBlockState* state) {
    walk->meetings += 1;
    return atomic_fetch_add_explicit(&state->meetings, 1, memory_order_acq_rel) ==
           walk->meetings * walk->member.teamSize - 1;
}

// One member's part in a group. True if it has to tell that the group is done.
static bool sweepTogether(CrewWalk* walk, const tpPhase* phase, int group) {
    const tpSchedule* schedule = walk->schedule;
    int teamSize = walk->member.teamSize, rank = walk->member.rank;
    tpBlockState* state = &schedule->states[walk->member.blocks.begin];
    int begin = schedule->firstStretches[group], end = schedule->firstStretches[group + 1];
    for (int k = 0; k < end - begin; ++k) {
        int s = phase->isBackward ? end - 1 - k : begin + k;
        const tpRunStretch* stretch = &schedule->stretches[s];
        tpRange range = { s > begin ? stretch[-1].end : schedule->store->groupFirsts.data[group],
                          stretch->end };
        if (stretch->isShared) {
            range.begin += phase->isBackward ? 0 : rank;
            range.end -= phase->isBackward ? rank : 0;
            sweepRuns(walk, phase, range, teamSize);
        } else if (rank == 0) {
            sweepRuns(walk, phase, range, 1);
        }
        bool isLast = comeToMeeting(walk, state);
        if (k == end - begin - 1) {
            return isLast;
        }
        for (int turn = 0; atomic_load_explicit(&state->meetings, memory_order_acquire) <
                           walk->meetings * teamSize;
             ++turn) {
            tpCrew_Look(turn);
        }
    }
    return rank == 0;
}

static void sweepWithTeam(CrewWalk* walk, int number) {
    const tpSchedule* schedule = walk->schedule;
    const tpPhase* phase = &walk->phases[number];
    int block = walk->member.blocks.begin, degree = schedule->degrees[block];
    for (int k = 0; k <= degree; ++k) {
        SweepPiece piece = { block, -1, block, placeAt(number, k) };
        if (k != (phase->isBackward ? degree : 0)) {
            int rank = phase->isBackward ? degree - 1 - k : k - 1;
            const tpBorder* border =
                &schedule->borders[schedule->bordersOf[schedule->firstBorders[block] + rank]];
            if (border->blockA != block) {
                continue;
            }
            piece.other = border->blockB;
            piece.group = border->group;
            waitForPlace(schedule, piece.other,
                         placeAt(number, rankOf(schedule, border, piece.other, phase->isBackward)));
        }
        waitForPlace(schedule, block, piece.place);
        if (sweepTogether(walk, phase, piece.group)) {
            finishPiece(walk, &piece);
        }
    }
}

static void goWithTeam(CrewWalk* walk) {
    int block = walk->member.blocks.begin;
    for (int number = 0; number < walk->phaseCount; ++number) {
        if (walk->phases[number].kind == tp_sweepPhase) {
            sweepWithTeam(walk, number);
        } else if (walk->member.rank == 0) {
            SweepPiece piece = { block, -1, block, placeAt(number, 0) };
            waitForPlace(walk->schedule, block, piece.place);
            doPiece(walk, &piece);
        }
    }
}

// Alone ------------------------------------------------------------------------------------------

// Each block as far as it comes before its neighbours have to do something, then the next one: its
// bodies, contacts and mechanisms stay in the cache over as many phases as that. A block without
// borders goes through all phases at once.
static void goAlone(const CrewWalk* walk) {
    const tpSchedule* schedule = walk->schedule;
    while (atomic_load_explicit(&schedule->counts->blocksLeft, memory_order_relaxed) > 0) {
        for (int b = 0; b < schedule->store->blockCount; ++b) {
            SweepPiece piece;
            while (findPiece(walk, b, &piece) && takePiece(walk, &piece)) {
                doPiece(walk, &piece);
            }
        }
    }
}

void tpSchedule_Work(const tpSchedule* schedule, int member, const tpPhase* phases, int phaseCount,
                     void* context) {
    CrewWalk walk = { .schedule = schedule,
                      .phases = phases,
                      .phaseCount = phaseCount,
                      .context = context,
                      .member = tpSchedule_Join(schedule, member) };
    if (schedule->memberCount == 1) {
        goAlone(&walk);
    } else if (schedule->teams != NULL) {
        goWithTeam(&walk);
    } else {
        goFreely(&walk);
    }
}
