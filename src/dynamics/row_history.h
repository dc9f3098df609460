// Impulses of joints and couplings from step to step, for starts of solves.

#ifndef TIPPE_SRC_DYNAMICS_ROW_HISTORY_H
#define TIPPE_SRC_DYNAMICS_ROW_HISTORY_H

#include "dynamics/rows.h"

// What a block of rows carries over.
typedef struct tpRowMemory {
    int owner;                  // joints count up from 0, couplings down from -1
    int role, coordinate, part; // as in tpBlockInfo
    int source, rowCount;
    double force[TP_FRICTION_MAX_ROWS]; // impulse per second
} tpRowMemory;

// In the order in which rows are written.
typedef struct tpRowHistory {
    TP_ARRAY(tpRowMemory) list;
} tpRowHistory;

// Sets the impulses of the blocks that were there in the last step; contacts are left alone.
void tpRowHistory_Start(const tpRowHistory* history, tpRows* rows, double h);

// Keeps the impulses for the next step. False if memory ran out.
bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h);

// Gives bounded impulses that are in both the mean of the two.
void tpRowHistory_Balance(tpRowHistory* first, tpRowHistory* second);

#endif
