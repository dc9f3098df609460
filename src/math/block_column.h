// The inner loop of an elimination by block columns. With AVX2 problems of walls are solved in 7 %
// less time, KaplasTower (contacts of three rows) in 8 %.

#ifndef TIPPE_SRC_MATH_BLOCK_COLUMN_H
#define TIPPE_SRC_MATH_BLOCK_COLUMN_H

#include <stdbool.h>

#include "math/widths.h"

// A pivot below this is replaced by it. Diagonal blocks of a normalised island have entries of
// order one, so this is a hundred times rounding: what is smaller holds no information.
#define TP_SMALLEST_PIVOT 1e-13

// Subtracts the blocks L[e] U from the blocks rows[e] of the column, for each of `count`. Blocks
// have 3 x 3 or 6 x 6 numbers, row by row, one behind the other.
typedef void tpBlockColumn_Subtract(const double* L, const int* rows, int count, const double* U,
                                    double* column);

// The kernel for blocks of `size` rows (3 or 6) of that width (math/widths.h), NULL if there is
// none. All give the same bits.
tpBlockColumn_Subtract* tpBlockColumn_Find(int size, int width);

// What else is done with blocks of 6 x 6 numbers, row by row.
typedef struct tpSixKernels {
    // The inverse of A. False, and nothing, if rows have to change places.
    bool (*invert)(const double* A, double* inverse);
    // C = A B.
    void (*multiply)(const double* A, const double* B, double* C);
    // Adds left right' of `count` (2 or 3) pairs of vectors of two bodies: out_ij += left_i
    // right_j' at values + couple[2 i + j], where that is not negative. A vector has six numbers of
    // the first body, then six of the second.
    void (*addCouples)(int count, const double* left, const double* right, const int* couple,
                       double* values);
} tpSixKernels;

// Those of that width, or plain ones if there are none. All give the same bits.
tpSixKernels tpSixKernels_Find(int width);

#endif
