// Sparse LU of a matrix of small blocks, for systems of bodies and of contacts.
//
// The pattern is symmetric; the order of elimination is one of minimum degree, found once. Some
// blocks may be out of play: their rows and columns are left out. Pivoting stays inside the
// diagonal blocks, so the matrix should be positive definite or close to it.

#ifndef TIPPE_SRC_MATH_BLOCK_LU_H
#define TIPPE_SRC_MATH_BLOCK_LU_H

#include "base/memory.h"
#include "math/block_column.h"

enum { TP_BLOCK_MAX = 6 }; // rows of a block

// A matrix by block columns of a symmetric pattern, with every diagonal block present.
typedef struct tpBlockMatrix {
    int count;              // blocks in a row
    int uniform;            // rows of every block, or 0 if they differ
    const int* row;         // first row of each block, count + 1
    const int* columnStart; // count + 1
    const int* blockRow;
    const int* value;     // where each block begins in values
    const double* values; // blocks row by row
} tpBlockMatrix;

typedef struct tpBlockLu {
    const tpBlockMatrix* matrix;
    tpArena* arena;
    int* order; // blocks by elimination
    bool* inPlay;

    // The pattern, by places in the elimination of the blocks in play.
    int count;
    int* block;  // block at each place
    int* size;   // its rows
    int* place;  // place of each block, -1 if not in play
    int* parent; // elimination tree
    int* start;  // L by columns: rows below the diagonal, ascending
    int* rows;
    int* reachStart; // U by columns: rows above the diagonal, each after those it needs
    int* reach;
    int capacity; // of rows and reach
    int* mark;
    int* stack;
    double work; // multiply-adds of a factorisation, estimated from the pattern

    int stride;                       // numbers between blocks
    double* L;                        // multipliers, for each entry of rows
    double* U;                        // for each entry of reach
    double* inverse;                  // of the diagonal blocks
    double* column;                   // one column of blocks being eliminated
    tpBlockColumn_Subtract* subtract; // for blocks of one size, or NULL
    tpSixKernels six;
} tpBlockLu;

// Orders the blocks. The matrix is kept by reference. False if memory ran out.
bool tpBlockLu_Create(tpBlockLu* factor, const tpBlockMatrix* matrix, tpArena* arena);

// Chooses the blocks in play and finds the pattern, unless it is the one already there. False if
// memory ran out.
bool tpBlockLu_Analyse(tpBlockLu* factor, const bool* inPlay);

// Factorises the matrix's values. Entries are expected to be of order one or more: smaller pivots
// than 1e-13 are replaced.
void tpBlockLu_Factorise(tpBlockLu* factor);

// Inverse of one n x n block by Gauss-Jordan with partial pivoting, small pivots replaced.
void tpInvertBlock(int n, const double* A, double* inverse);

// C = A B of small blocks, row by row: m x k times k x n.
static inline void tpMultiplyBlocks(int m, int k, int n, const double* A, const double* B,
                                    double* C) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int l = 0; l < k; ++l) {
                sum += A[i * k + l] * B[l * n + j];
            }
            C[i * n + j] = sum;
        }
    }
}

// Solves in place; x has the matrix's rows, those out of play are not touched.
void tpBlockLu_Solve(const tpBlockLu* factor, double* x);

// For symmetric matrices, A = L D L^T: x <- L^-1 x, which passes over blocks that are zero, and
// y = D^-1 x. Rows out of play are not touched. x . A^-1 z is then the product of L^-1 x and D^-1
// L^-1 z.
void tpBlockLu_SolveLower(const tpBlockLu* factor, double* x);
void tpBlockLu_SolveDiagonal(const tpBlockLu* factor, const double* x, double* y);

#endif
