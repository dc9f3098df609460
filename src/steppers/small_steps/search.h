// A search for manifolds at work: what its files hand each other.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_SEARCH_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_SEARCH_H

#include "steppers/small_steps/narrow.h"

// A chunk of a loop: what it found.
typedef struct tpChunkFound {
    int first, count; // in `numbers`
} tpChunkFound;

typedef struct tpContactSearch {
    tpSmallStep* step;
    int oldCount;          // pairs before
    tpPairState* oldPairs; // what was known about them
    bool* isKept;          // of each of them
    int32_t* bodies;       // of each shape: the number of its body; -1: it is gone
    int32_t* numbers;      // of pairs or slots, a part for each chunk
    tpChunkFound* found;   // of each chunk
    int32_t* asked;        // pairs to be asked, all together
    int askCount;
    int32_t* places;    // of each slot: its pair; NULL: look for it
    tpAnswers* answers; // of the chunks that are asked at once
    int firstChunk;     // of them
} tpContactSearch;

// Of how far two bodies may move at all, what impulses of the step may bring them nearer than the
// velocities they have: what they make of the rest is seen in the next step.
static const double tp_asidePart = 0.125;

// Threads share loops over pairs in chunks of so many.
enum { tp_pairsPerChunk = 512 };

// Pairs that come and go (pairs.c) ----------------------------------------------------------------

// The box of a shape over the next step: its body goes ahead at the speed it has, turns, and may be
// led aside by impulses as far as tpPairNeed expects. If boxes were larger by all that a body may
// move, those of a crowd that falls side by side would overlap, though it never meets.
tpBounds tpSweepBounds(tpBounds bounds, const tpBodyWay* way);

// Brings the list of pairs of fat boxes up to date, and fills in `bodies`; what hands pairs on
// stays in the arena. False if memory ran out.
bool tpContactSearch_UpdatePairs(tpContactSearch* search);

// Hands on what is known about pairs that are still there, and removes the manifolds of others.
// False if memory ran out.
bool tpContactSearch_HandOnPairs(tpContactSearch* search);

// Manifolds that come and go, and chunks (search.c) -----------------------------------------------

// Gives a manifold a lane, into which it is written later (newcomers.c). False if memory ran out.
bool tpSmallStep_PlaceManifold(tpSmallStep* step, tpAnswer* answer);

// Takes a manifold out. Contacts that carried something in the step are listed though it goes.
// False if memory ran out.
bool tpSmallStep_RemoveManifold(tpSmallStep* step, int32_t slot);

// Points of an answer that a lane takes.
int tpAnswer_PointCount(const tpAnswer* answer);

// Runs the function for all chunks whose answers are in memory, and again for chunks that ran out
// of room. False if memory ran out.
bool tpContactSearch_RunChunks(tpContactSearch* search, tpTaskFunction function, int count);

typedef bool (*tpChunksFunction)(tpContactSearch* search, int chunks);

// All chunks, some at once, whose memory serves the next. False if memory ran out.
bool tpContactSearch_RunInParts(tpContactSearch* search, tpChunksFunction function, int chunks);

// Manifolds with new lanes (newcomers.c) ----------------------------------------------------------

// Writes all manifolds of these chunks that have been placed. False if memory ran out.
bool tpContactSearch_WriteNewcomers(tpContactSearch* search, int chunks);

// Pairs without a manifold (watch.c) --------------------------------------------------------------

// Lists those of which it is not known that they stay apart in the next step. False if memory ran
// out.
bool tpContactSearch_WatchPairs(tpContactSearch* search);

// Stale manifolds (renew.c) -----------------------------------------------------------------------

// Finds all stale manifolds anew. False if memory ran out.
bool tpContactSearch_RenewStale(tpContactSearch* search);

#endif
