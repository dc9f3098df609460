// Sparse LU of a matrix of small blocks, for the Newton systems of an island.
//
// The pattern is symmetric; the order of elimination is one of minimum degree, found once. Some blocks
// may be out of play: their rows and columns are left out. Pivoting stays inside the diagonal blocks:
// the systems are positive definite but for the terms of sliding. What that loses, the next Newton step
// wins back, since it starts from the true residual.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_FACTOR_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_FACTOR_H

#include "complementarity/solver.h"

enum { TP_BLOCK_MAX = 6 }; // rows of a block

// A matrix by block columns of a symmetric pattern, with every diagonal block present.
typedef struct tpBlockMatrix {
    int count;              // blocks in a row
    int uniform;            // rows of every block, or 0 where they differ
    const int* row;         // first row of each block, count + 1
    const int* columnStart; // count + 1
    const int* blockRow;
    const int* value;     // where each block begins in values
    const double* values; // blocks row by row
} tpBlockMatrix;

typedef struct tpBlockFactor {
    const tpBlockMatrix* matrix;
    tpArena* arena;
    int* order; // blocks by elimination
    bool* inPlay;

    // The pattern, by places in the elimination of the blocks in play.
    int count;
    int* block;  // block at each place
    int* size;   // its rows
    int* place;  // place of each block, -1 where not in play
    int* parent; // elimination tree
    int* start;  // L by columns: rows below the diagonal, ascending
    int* rows;
    int* reachStart; // U by columns: rows above the diagonal, each after those it needs
    int* reach;
    int capacity; // of rows and reach
    int* mark;
    int* stack;
    double work; // multiply-adds of a factorisation, estimated from the pattern

    int stride;      // numbers between blocks
    double* L;       // multipliers, for each entry of rows
    double* U;       // for each entry of reach
    double* inverse; // of the diagonal blocks
    double* column;  // one column of blocks being eliminated
} tpBlockFactor;

// Orders the blocks. The matrix is kept by reference. False where memory ran out.
bool tpBlockFactor_Create(tpBlockFactor* factor, const tpBlockMatrix* matrix, tpArena* arena);

// Chooses the blocks in play and finds the pattern, unless it is the one already there. False where
// memory ran out.
bool tpBlockFactor_Analyse(tpBlockFactor* factor, const bool* inPlay);

// Factorises the matrix's values. Entries are expected to be of order one or more: smaller pivots
// than 1e-13 are replaced.
void tpBlockFactor_Factorise(tpBlockFactor* factor);

// Inverse of one n x n block by Gauss-Jordan with partial pivoting, small pivots replaced.
void tpInvertBlock(int n, const double* A, double* inverse);

// Solves in place; x has the matrix's rows, those out of play are not touched.
void tpBlockFactor_Solve(const tpBlockFactor* factor, double* x);

#endif
