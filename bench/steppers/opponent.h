// Siconos' lexicographic Lemke behind one function, so that nothing of its headers meets ours.

#ifndef TIPPE_BENCH_STEPPERS_OPPONENT_H
#define TIPPE_BENCH_STEPPERS_OPPONENT_H

// M dense by columns, n x n. Returns the CPU seconds of the driver alone; z receives what it found.
double solveBySiconos(int n, const double* M, const double* q, double* z);

#endif
