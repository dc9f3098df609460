// The blocks of an island that hold (joints, drives within their bounds), eliminated: W_ee
// factorised along the tree of bodies (body_tree.h) if there is one, as a sparse matrix if the
// joints close loops or the island is given by W.

#ifndef TIPPE_SRC_COMPLEMENTARITY_HELD_BLOCKS_H
#define TIPPE_SRC_COMPLEMENTARITY_HELD_BLOCKS_H

#include "complementarity/body_tree.h"

typedef struct tpHeldBlocks {
    const tpFrictionIsland* island;
    tpArena* arena;
    bool isTree;
    tpBodyTree tree;
    tpBlockMatrix W;    // formed if it is needed
    double formWork;    // that this has taken
    const bool* isHeld; // blocks that are eliminated
    tpBlockLu factor;   // of W
} tpHeldBlocks;

// Looks for the tree. The memory is the arena's. False if memory ran out.
bool tpHeldBlocks_Create(tpHeldBlocks* held, const tpFrictionIsland* island, tpArena* arena);

// The blocks that may hold: joints, and drives, cones of two rows whose normal row touches nothing.
bool tpHeldBlocks_IsDrive(const tpHeldBlocks* held, int block);

// W of the island, formed by the first call; NULL if memory ran out.
const tpBlockMatrix* tpHeldBlocks_W(tpHeldBlocks* held);

// Factorises W_ee + eps of the blocks that hold; eps is a part of 1e-12 of its diagonal, which
// keeps the factors of redundant joints finite. `isHeld` is kept by reference. Returns false if
// memory ran out. Factors of a matrix are made anew in the arena.
bool tpHeldBlocks_Factorise(tpHeldBlocks* held, const bool* isHeld, double* work);

// x <- W_ee^-1 x in the rows of held blocks; others are not touched.
void tpHeldBlocks_Solve(tpHeldBlocks* held, double* x);

// Takes W_be x from the velocities of a block's rows, x being the answer of the last solve.
void tpHeldBlocks_TakeResponse(const tpHeldBlocks* held, int block, const double* x, double* rows);

// S = W_cc - W_ce W_ee^-1 W_ec of other blocks by columns, `firstRows` (one more than blocks) being
// their first rows in S. False if memory ran out.
bool tpHeldBlocks_Reduce(tpHeldBlocks* held, int blockCount, const int* blocks,
                         const int* firstRows, double* S);

#endif
