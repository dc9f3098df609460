// Solving with those rows alone that can carry something.
//
// Contacts are looked for as far as bodies may move, so in a pile that falls most of them stay
// open; as rows of the problem they would tie everything that is near each other into one large
// island. A contact that is violated neither without impulses nor with those of the start, and
// carried nothing last time, starts outside; where impulses of others make it approach, it joins.
// Outside, impulses are zero and normal velocities not negative, so what solves the smaller problem
// solves the whole.
//
// Who joins is known long before the last digits. While somebody may, a solve of many rows has a
// tenth of its work; in struck walls whole solves of a set that two contacts joined afterwards took
// most of the step's work.

#ifndef TIPPE_SRC_DYNAMICS_ACTIVE_ROWS_H
#define TIPPE_SRC_DYNAMICS_ACTIVE_ROWS_H

#include "dynamics/rows.h"

typedef struct tpActiveRows {
    tpRows rows;  // the active blocks of the whole, compact; masses are shared
    int* sources; // their numbers in the whole
    bool* isActive;
    int activeCount;
    tpVelocity* changes; // scratch
} tpActiveRows;

// Whether a block is one to begin with, whatever the impulses of the others.
bool tpRows_IsActive(const tpRows* rows, int block);

// Chooses the blocks to begin with. Memory is the arena's. False if it ran out.
bool tpActiveRows_Choose(tpActiveRows* active, const tpRows* whole, tpArena* arena);

// Copies the active blocks, impulses to start from included.
void tpActiveRows_Gather(tpActiveRows* active, const tpRows* whole);

// Writes impulses and velocities of all rows back, and lets in the blocks that are approached now.
// Returns how many those are.
int tpActiveRows_Scatter(tpActiveRows* active, tpRows* whole);

// Lets in all blocks.
void tpActiveRows_TakeAll(tpActiveRows* active, const tpRows* whole);

#endif
