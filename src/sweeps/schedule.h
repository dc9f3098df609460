// Sweeps over the groups of a pack store by threads that wait for their neighbours only.
//
// The work of a solve is a list of phases: something done to the bodies of each block, or a sweep
// over all groups, those of blocks first and then those between blocks (a backward sweep goes the
// other way round). Two pieces of work that have a block in common must be done in the order of the
// list; others may be done at once, whatever their phases. So every block counts the pieces that
// have been done to it, and a piece begins when its blocks' counts say that all before it are done.
// Nobody waits for all: threads that have blocks in different corners of a heap do not meet.
//
//     thread 0 has blocks 0 and 1:   0 | 1 | 0-1 | 1-2 | ...
//     thread 1 has blocks 2 and 3:   2 | 3 |  (waits for 1-2) 2-3 | ...
//
// Each thread takes its own pieces in the order of the list: the first piece that is not done
// always belongs to a thread that has come to it, so that all get through. The order of two pieces
// that touch does not depend on the threads: neither do the bits.
//
// If there are more threads than blocks, a team of them has one block. Its members share the runs
// of each colour, which touch no body in common, and meet after it.

#ifndef TIPPE_SRC_SWEEPS_SCHEDULE_H
#define TIPPE_SRC_SWEEPS_SCHEDULE_H

#include <stdatomic.h>

#include "base/crew.h"
#include "sweeps/pack_store.h"

// A group between two blocks, and which of the groups of each it is in a forward sweep.
typedef struct tpBorder {
    int32_t group, blockA, blockB;
    int32_t rankA, rankB;
} tpBorder;

typedef struct tpBlockCount {
    _Alignas(64) atomic_int done;     // pieces of work
    _Alignas(64) atomic_int meetings; // of its team: members that have come to them, added up
} tpBlockCount;

// Runs of a group after which a team meets: those of one colour, which its members share, or the
// only runs of some colours in a row, which one of them takes.
typedef struct tpRunStretch {
    int32_t end; // in the order of the store
    bool isShared;
} tpRunStretch;

typedef struct tpSchedule {
    const tpPackStore* store;
    tpBorder* borders; // in the order of a forward sweep
    int borderCount;
    int32_t* degrees; // of each block: borders
    int32_t* weights; // of each block: how much work it has, packs
    tpBlockCount* counts;
    tpBlockCount* whole; // meetings of all members
    int totalWeight;
    int memberCount;
    // If there are more members than blocks: how many each block has; its groups' stretches, and
    // the first of each group. Else NULL.
    int32_t* teams;
    tpRunStretch* stretches;
    int32_t* firstStretches;
} tpSchedule;

// One thread's way through the phases.
typedef struct tpCrewMember {
    const tpSchedule* schedule;
    tpRange blocks;     // that it has, and with them the borders whose first block is among them
    int rank, teamSize; // which one it is of how many that have these blocks
    int bodyPhases, sweepPhases; // done so far
    int meetings, wholeMeetings; // of its team so far, and of all
    bool isAlone;
} tpCrewMember;

// The schedule of a store whose order is up to date, in the arena, for as many of `threads` members
// as there is work for. False if memory ran out.
bool tpSchedule_Create(tpSchedule* schedule, const tpPackStore* store, int threads, tpArena* arena);

// The share of one of the schedule's members, about as much work as others have.
tpCrewMember tpSchedule_Join(const tpSchedule* schedule, int member);

// One phase; all members call the same phases in the same order. Runs of one colour may be swept at
// once.
typedef void (*tpBlockFunction)(void* context, int block);
typedef void (*tpRunFunction)(void* context, tpSoftRun* run, bool isBackward);
void tpCrewMember_VisitBlocks(tpCrewMember* member, tpBlockFunction function, void* context);
void tpCrewMember_Sweep(tpCrewMember* member, tpRunFunction function, void* context,
                        bool isBackward);

// All members wait for each other; when the last has come it calls the function, and all go on. For
// what is done to bodies of no block, which all blocks see.
void tpCrewMember_Meet(tpCrewMember* member, void (*function)(void* context), void* context);

#endif
