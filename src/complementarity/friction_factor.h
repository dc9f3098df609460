// Sparse LU of a matrix of small blocks, for the Newton systems of an island.
//
// The pattern is that of W restricted to the blocks in play, in an order of minimum degree found
// once for the island. Pivoting stays inside the diagonal blocks: the systems are W plus the
// nonnegative terms of the friction law, close to positive definite. What that loses, refinement of
// the caller's step or the next Newton step wins back.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_FACTOR_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_FACTOR_H

#include "complementarity/friction_island.h"

typedef struct tpBlockFactor {
    const tpFrictionIsland* island;
    tpArena* arena;
    int* order; // blocks of the island by elimination
    int* rank;  // their places in it
    bool* inPlay;

    // The pattern, by places in the elimination of the blocks in play.
    int count;
    int* block;  // block of the island at each place
    int* place;  // place of each block of the island, -1 where not in play
    int* parent; // elimination tree
    int* start;  // L by columns: rows below the diagonal, ascending
    int* rows;
    int* reachStart; // U by columns: rows above the diagonal, each after those it needs
    int* reach;
    int capacity; // of rows and reach
    int* mark;
    int* stack;

    // Values: every block takes 16 numbers of a 4 x 4 frame or 9, see `stride`.
    int stride;      // numbers between blocks
    double* L;       // multipliers, for each entry of rows
    double* U;       // for each entry of reach
    double* inverse; // of the diagonal blocks
    double* column;  // one column of blocks being eliminated
    double work;     // multiply-adds of the last factorisation
} tpBlockFactor;

// Orders the island. False where memory ran out.
bool tpBlockFactor_Create(tpBlockFactor* factor, const tpFrictionIsland* island, tpArena* arena);

// Chooses the blocks in play and finds the pattern, unless it is the one already there. `inPlay` has an
// entry for each block. False where memory ran out.
bool tpBlockFactor_Analyse(tpBlockFactor* factor, const bool* inPlay);

// Factorises the matrix with blocks  velocity_i (W_ij + shift delta_ij) + impulse_i delta_ij, where
// velocity and impulse hold 16 numbers a block of the island (rows x rows, row by row, dense in
// front). Entries of a normalised island are of order one: smaller pivots than 1e-13 are replaced.
void tpBlockFactor_Factorise(tpBlockFactor* factor, const double* velocity, const double* impulse,
                             double shift);

// Solves in place; x has the island's rows, those out of play are not touched.
void tpBlockFactor_Solve(const tpBlockFactor* factor, double* x);

#endif
