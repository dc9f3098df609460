// The inner loop of an elimination by block columns. With AVX2 problems of walls are solved in 7 %
// less time, KaplasTower (contacts of three rows) in 8 %.

#ifndef TIPPE_SRC_MATH_BLOCK_COLUMN_H
#define TIPPE_SRC_MATH_BLOCK_COLUMN_H

#include "math/widths.h"

// Subtracts the blocks L[e] U from the blocks rows[e] of the column, for each of `count`. Blocks
// have 3 x 3 or 6 x 6 numbers, row by row, one behind the other.
typedef void tpBlockColumn_Subtract(const double* L, const int* rows, int count, const double* U,
                                    double* column);

// The kernel for blocks of `size` rows (3 or 6) of that width (math/widths.h), NULL if there is
// none. All give the same bits.
tpBlockColumn_Subtract* tpBlockColumn_Find(int size, int width);

#endif
