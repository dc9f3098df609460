// What pairs of bodies do to each other, summed over steps or frames.

#ifndef TIPPE_SRC_RECORDING_PAIR_TALLY_H
#define TIPPE_SRC_RECORDING_PAIR_TALLY_H

#include "base/memory.h"
#include "recording/roster.h"

// Sorted by body A, then body B.
typedef struct tpPairTally {
    tpAllocator allocator;
    TP_ARRAY(tpRecordedPair) pairs;
} tpPairTally;

void tpPairTally_Create(tpPairTally* tally, const tpAllocator* allocator);
void tpPairTally_Destroy(tpPairTally* tally);
void tpPairTally_Clear(tpPairTally* tally); // keeps its memory

// Adds to what is known of a pair. False if memory ran out (nothing has changed then).
bool tpPairTally_Add(tpPairTally* tally, const tpRecordedPair* pair);

// Adds all contacts of the world's last step. False if memory ran out.
bool tpPairTally_AddStep(tpPairTally* tally, const tpRoster* roster, const tpWorld* world);

#endif
