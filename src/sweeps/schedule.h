// Sweeps over the groups of a pack store by threads that wait for their neighbours only.
//
// The work of a solve is a list of phases: something done to the bodies of each block, or a sweep
// over all groups, those of blocks first and then those between blocks (a backward sweep goes the
// other way round). Two pieces of work that have a block in common must be done in the order of the
// list; others may be done at once, whatever their phases. So every block knows how far it has
// come, and a piece is ready when it is the next one of its block, or of both its blocks. Nobody
// waits for all: blocks in different corners of a heap may be phases apart.
//
//     block 0:   0 | 0-1 | ...               0-1 is ready when it is next for both;
//     block 1:   1 | 0-1 | 1-2 | ...         then whoever comes first takes it
//     block 2:   2 | 1-2 | 2-3 | ...
//
// A thread takes the pieces of its own blocks, the least advanced first, since their bodies lie in
// its processor's cache. If none is ready it takes one of another thread's: a thread that is late
// keeps nobody waiting. Which thread does a piece changes nothing in the order of two pieces that
// touch; neither does it change the bits. A thread that is alone takes each block as far as it can
// go without its neighbours, so that what belongs to it is read from memory once for many phases.
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

// How far a block has come, and whether a thread is at work on its next piece (schedule_work.c).
typedef struct tpBlockState {
    _Alignas(64) _Atomic(uint64_t) place;
    _Alignas(64) atomic_int meetings; // of its team: members that have come to them, added up
} tpBlockState;

typedef struct tpCrewCounts {
    _Alignas(64) atomic_int blocksLeft; // that have not come to the end of the phases
    _Alignas(64) atomic_int arrivals;   // of blocks at meetings of all, added up
} tpCrewCounts;

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
    // Borders of each block in the order of a forward sweep, and where those of a block begin.
    int32_t *bordersOf, *firstBorders;
    int32_t* groupWeights; // packs of each group
    int32_t* weights;      // of each block: how much work it has with its borders, packs
    tpBlockState* states;
    tpCrewCounts* counts;
    int totalWeight;
    int memberCount;
    // If there are more members than blocks: how many each block has; its groups' stretches, and
    // the first of each group. Else NULL.
    int32_t* teams;
    tpRunStretch* stretches;
    int32_t* firstStretches;
} tpSchedule;

// One thread's share.
typedef struct tpCrewMember {
    tpRange blocks;     // that it has, and with them the borders whose first block is among them
    int rank, teamSize; // which one it is of how many that have these blocks
} tpCrewMember;

// The schedule of a store whose order is up to date, in the arena, for as many of `threads` members
// as there is work for. False if memory ran out.
bool tpSchedule_Create(tpSchedule* schedule, const tpPackStore* store, int threads, tpArena* arena);

// The share of one of the schedule's members, about as much work as others have.
tpCrewMember tpSchedule_Join(const tpSchedule* schedule, int member);

// A phase visits all blocks, sweeps over all groups, or lets all blocks meet: when all have come
// there a function is called once. Meetings are for bodies of no block, which all blocks see. Runs
// of one colour may be swept at once.
typedef enum tpPhaseKind { tp_visitPhase, tp_sweepPhase, tp_meetPhase } tpPhaseKind;

typedef struct tpPhase {
    tpPhaseKind kind;
    bool isBackward; // of a sweep
    void (*visit)(void* context, int block);
    void (*sweep)(void* context, tpSoftRun* run, bool isBackward);
    void (*meet)(void* context);
} tpPhase;

// One member's part in all phases. All members call it with the same phases, once per schedule; it
// returns when the last piece of work has been done.
void tpSchedule_Work(const tpSchedule* schedule, int member, const tpPhase* phases, int phaseCount,
                     void* context);

#endif
