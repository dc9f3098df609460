// Orders of elimination that keep sparse factors sparse.
//
// One ordering serves every factorisation of the library, and it is our own. Orderings from other
// libraries differ from version to version, and the order decides the rounding errors of a solve:
// with one of them a trajectory would depend on what is installed. It is also all that WebAssembly
// and a bare C compiler have.

#ifndef TIPPE_SRC_MATH_MINIMUM_DEGREE_H
#define TIPPE_SRC_MATH_MINIMUM_DEGREE_H

#include "base/memory.h"

// Order for a symmetric matrix (Cholesky, LU without row exchanges). The neighbours of i are
// neighbours[k], starts[i] <= k < starts[i + 1]; the pattern must be symmetric; i itself may be
// listed. order[k] becomes the k-th to be eliminated. False if memory ran out.
bool tpMinimumDegree_Order(int n, const int* starts, const int* neighbours, tpArena* arena,
                           int* order);

// Order for the columns of a matrix A whose rows are exchanged by a LU with partial pivoting: that
// of A'A, whose factors bound the factors of A for every choice of pivots. A'A is not formed.
// Column j has its entries in the rows rows[k], starts[j] <= k < starts[j + 1]. False if memory ran
// out.
bool tpMinimumDegree_OrderColumns(int rowCount, int columnCount, const int* starts, const int* rows,
                                  tpArena* arena, int* order);

#endif
