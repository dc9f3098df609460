// LU factors of a matrix whose entries lie near its diagonal, by rows, with partial pivoting.
//
// Joints of a chain meet their neighbours alone, and most of their matrix is zero. Zeros beyond the
// last row of a column and the last column of a row stay zero, and are not looked at. The factors
// are those of `math/dense_lu.h`, bit for bit.

#ifndef TIPPE_SRC_MATH_PROFILE_LU_H
#define TIPPE_SRC_MATH_PROFILE_LU_H

#include <stdbool.h>

enum { tp_mostInProfile = 64 };

typedef struct tpLuProfile {
    int firsts[tp_mostInProfile]; // column of each row
    int ends[tp_mostInProfile];   // last column of each row
    int lows[tp_mostInProfile];   // last row of each column, or of one before it
} tpLuProfile;

// Factorises A (n x n, row by row, n at most tp_mostInProfile) in place; pivots receives the row
// swapped with each. False if A is singular or holds what is no number.
bool tpProfileLu_Factorise(int n, double* A, int* pivots, tpLuProfile* profile);

// Solves A x = b in place.
void tpProfileLu_Solve(int n, const double* A, const int* pivots, const tpLuProfile* profile,
                       double* b);

#endif
