// LU factors of a dense matrix, by rows, with partial pivoting.

#ifndef TIPPE_SRC_MATH_DENSE_LU_H
#define TIPPE_SRC_MATH_DENSE_LU_H

#include <stdbool.h>

// Factorises A (n x n, row by row) in place; pivots receives the row swapped with each. False if
// A is singular or holds what is no number.
bool tpDenseLu_Factorise(int n, double* A, int* pivots);

// Solves A x = b in place.
void tpDenseLu_Solve(int n, const double* A, const int* pivots, double* b);

#endif
