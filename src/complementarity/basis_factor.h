// Sparse LU factors of a basis, with product-form updates.
//
// B has n columns, each at a position; position and column index are the same thing here. Solves:
//     B x = b   (b by rows, x by positions),      B'y = c   (c by positions, y by rows).
// Replacing one column of B costs one stored vector (an eta); when many have gathered, the owner
// factors afresh. All memory comes from an arena; the factor keeps its room from one factorisation
// to the next.

#ifndef TIPPE_SRC_COMPLEMENTARITY_BASIS_FACTOR_H
#define TIPPE_SRC_COMPLEMENTARITY_BASIS_FACTOR_H

#include "complementarity/solver.h"

// Columns of a matrix, entries in any order: column j is rows[k], values[k], starts[j] <= k < starts[j + 1].
typedef struct tpColumns {
    int n;
    int* starts;
    int* rows;
    double* values;
} tpColumns;

// Entries of L or U, gathered column by column.
typedef struct tpFactorColumns {
    int* starts; // n + 1
    int* rows;
    double* values;
    int count;
    int capacity;
} tpFactorColumns;

typedef struct tpBasisFactor {
    tpArena* arena;
    int n;

    // Step k pivots on row rowOfStep[k] of column columnOfStep[k]; the first unitCount steps are
    // unit columns, whose part of L is empty.
    int* rowOfStep;
    int* stepOfRow; // -1: not pivoted
    int* columnOfStep;
    int unitCount;
    tpFactorColumns lower; // by step, unit diagonal left out, original row indices
    tpFactorColumns upper; // by step, diagonal left out, original row indices
    double* diagonal;      // of U, by step

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
} tpBasisFactor;

// Room for factors of order n with at most etaCapacity updates. Work is counted in the memory. False: the
// memory gave out.
bool tpBasisFactor_Create(tpBasisFactor* factor, tpSolverMemory* memory, int n, int etaCapacity);

// Factors B. Returns how many columns were found dependent (pivot below `tolerance` times the
// largest entry of the column of B); their positions go to `dependent` (n), and each is replaced by the
// unit column of a row in `replacedBy` (n) that no other column could pivot on. -1: out of memory.
int tpBasisFactor_Compute(tpBasisFactor* factor, const tpColumns* B, double tolerance,
                          int* dependent, int* replacedBy);

// b (by rows) is destroyed; x by positions. b and x may not overlap.
void tpBasisFactor_Solve(const tpBasisFactor* factor, double* b, double* x);

// c (by positions) is destroyed; y by rows.
void tpBasisFactor_SolveTransposed(const tpBasisFactor* factor, double* c, double* y);

// The column at `position` becomes the one whose solution by tpBasisFactor_Solve is `alpha`. Only while
// etaCount < etaCapacity.
void tpBasisFactor_Replace(tpBasisFactor* factor, int position, const double* alpha);

#endif
