// What the rows of joints and couplings tell from step to step, for starts of solves: their
// impulses, and how far the drift bends away from what linear rows foresee.
//
// A joint's rows are linear in the motion, the drift is not. The bias that makes the rows right at
// the end of the drift is found by repeated solves. It changes little from step to step, so a
// polynomial through its values in the last few steps predicts the next one. The degree is the one
// that would have predicted the last value best. If none comes within a tenth of it, as after an
// impact, nothing is predicted.

#ifndef TIPPE_SRC_DYNAMICS_ROW_HISTORY_H
#define TIPPE_SRC_DYNAMICS_ROW_HISTORY_H

#include "dynamics/rows.h"

enum { tp_keptBends = 6 };

// What tells blocks apart.
typedef struct tpRowKey {
    int32_t owner; // joints count up from 0, couplings down from -1
    uint32_t code; // role, coordinate, part and source as in tpBlockInfo
} tpRowKey;

// What a block of rows carries over, beside its numbers.
typedef struct tpRowMemory {
    tpRowKey key;
    int32_t rowCount;
    int32_t first;     // of its numbers
    int32_t bendCount; // how many bends of each row are known; 0 if its rows have none
    bool isBounded;    // its impulses are those of a bounded force
    double h;          // of the steps of these bends, s
} tpRowMemory;

typedef TP_ARRAY(tpRowMemory) tpRowMemories;
typedef TP_ARRAY(double) tpRowNumbers;

// In the order in which rows are written. The numbers of a block are the impulse per second of each
// row and then, if its rows have bends, tp_keptBends of each row, the last first: what the row's
// bias had to be changed by, per second of the step.
typedef struct tpRowHistory {
    tpRowMemories list;
    tpRowNumbers numbers;
    tpRowMemories spare; // room of the list before the last
    tpRowNumbers spareNumbers;
} tpRowHistory;

// Whether all blocks have their numbers. A history that was read from bytes may be anything; one
// that is broken becomes empty.
bool tpRowHistory_CheckRead(tpRowHistory* history);

void tpRowHistory_Destroy(tpRowHistory* history, const tpAllocator* allocator);

// Nothing is known of any row, as at the start.
void tpRowHistory_Forget(tpRowHistory* history);

// Sets the impulses of the blocks that were there in the last step; contacts are left alone.
void tpRowHistory_Start(const tpRowHistory* history, tpRows* rows, double h);

// Adds the bends that are foreseen to the biases of rows that hold positions; to those of springs,
// servos and dampers only if `withLaws`.
void tpRowHistory_Foresee(const tpRowHistory* history, tpRows* rows, double h, bool withLaws);

// The next of the bends of a row by its last ones, of which `count` of tp_keptBends are known.
double tpForeseeBend(const double* bends, int count);

// The same of an even number of rows all of whose bends are known: those of the last step, row by
// row, then those of the step before, and so on.
void tpForeseeBends(int rowCount, const double* bends, double* next);

// Keeps the impulses for the next step, and by what biases differ from those that were written: one
// number per row from the first that is of no contact on, or NULL. False if memory ran out.
bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h, const double* written);

// Gives bounded impulses that are in both the mean of the two.
void tpRowHistory_Balance(tpRowHistory* first, tpRowHistory* second);

#endif
