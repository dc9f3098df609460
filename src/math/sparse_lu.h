// Sparse LU with partial pivoting, and updates in product form: for bases of pivoting methods, and
// for any other sparse square matrix that need not be symmetric.
//
// B has n columns, each at a position; position and column index are the same thing here. Solves:
//     B x = b   (b by rows, x by positions),      B'y = c   (c by positions, y by rows).
// Replacing one column of B costs one stored vector (an eta); when many have gathered, the owner
// factors afresh. All memory comes from an arena; the factor keeps its room from one factorisation
// to the next.

#ifndef TIPPE_SRC_MATH_SPARSE_LU_H
#define TIPPE_SRC_MATH_SPARSE_LU_H

#include "base/memory.h"

// Columns of a matrix, entries in any order: column j is rows[k], values[k], starts[j] <= k <
// starts[j + 1].
typedef struct tpSparseColumns {
    int n;
    int* starts;
    int* rows;
    double* values;
} tpSparseColumns;

// Entries of L or U, gathered column by column.
typedef struct tpLuColumns {
    int* starts; // n + 1
    int* rows;
    double* values;
    int count;
    int capacity;
} tpLuColumns;

typedef struct tpSparseLu {
    tpArena* arena;
    int n;

    // Step k pivots on row rowOfStep[k] of column columnOfStep[k]; the first unitCount steps are
    // unit columns, whose part of L is empty.
    int* rowOfStep;
    int* stepOfRow; // -1: not pivoted
    int* columnOfStep;
    int unitCount;
    tpLuColumns lower; // by step, unit diagonal left out, original row indices
    tpLuColumns upper; // by step, diagonal left out, original row indices
    double* diagonal;  // of U, by step

    // Etas: replacement of column etaPosition[e], entries by position, dense vectors of n.
    double* etas;
    int* etaPosition;
    int* etaBefore;     // the last eta before e at the same position; -1: none
    double* etaBetween; // [g * etaCapacity + e]: entry of eta g at the position of eta e
    int* etaActive;     // scratch of solves
    double* etaWeights; // scratch of solves
    int etaCount;
    int etaCapacity;

    double* rowWork; // n
    int* intWork;    // 6 n
    unsigned char* mark;

    long long factorCost; // multiplications of the last factorisation
    double* work;         // where its work is counted
} tpSparseLu;

// Room for factors of order n with at most etaCapacity updates. Multiply-adds are added to *work.
// False if memory ran out.
bool tpSparseLu_Create(tpSparseLu* factor, tpArena* arena, double* work, int n, int etaCapacity);

// Factors B. Returns how many columns were found dependent (pivot below `tolerance` times the
// largest entry of the column of B); their positions go to `dependent` (n), and each is replaced by
// the unit column of a row in `replacedBy` (n) that no other column could pivot on. -1 if memory
// ran out.
int tpSparseLu_Factorise(tpSparseLu* factor, const tpSparseColumns* B, double tolerance,
                         int* dependent, int* replacedBy);

// b (by rows) is destroyed; x by positions. b and x may not overlap.
void tpSparseLu_Solve(const tpSparseLu* factor, double* b, double* x);

// c (by positions) is destroyed; y by rows.
void tpSparseLu_SolveTransposed(const tpSparseLu* factor, double* c, double* y);

// The column at `position` becomes the one whose solution by tpSparseLu_Solve is `alpha`. Only
// while etaCount < etaCapacity.
void tpSparseLu_Replace(tpSparseLu* factor, int position, const double* alpha);

// What the updates do to a solution of the factors, and before a solve with their transpose
// (sparse_lu_update.c; the solves above call these).
void tpSparseLu_ApplyUpdates(const tpSparseLu* factor, double* x);
void tpSparseLu_ApplyUpdatesTransposed(const tpSparseLu* factor, double* c);

#endif
