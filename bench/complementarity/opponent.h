// Siconos behind a small face, so that nothing of its headers meets ours.

#ifndef TIPPE_BENCH_OPPONENT_H
#define TIPPE_BENCH_OPPONENT_H

#include "tippe/problems.h"

typedef struct OpponentSolver {
    const char* name;
    tpProblemKind kind;
    int id; // Siconos' number of it
    int iterationLimit;
    int sizeLimit; // rows beyond which it is hopeless (enumeration); 0: none
} OpponentSolver;

extern const OpponentSolver opponentSolvers[];
extern const int opponentSolverCount;

// A problem as Siconos has it, read by its own reader from the file.
typedef struct Opponent Opponent;

// NULL if it cannot be read.
Opponent* readOpponent(const char* path, tpProblemKind kind);

// Solves into z (or r), which hold the starting point; `seconds` is CPU time of the driver alone.
// Memory is left to the end of the process: every solve runs in one of its own.
void runOpponent(Opponent* opponent, const OpponentSolver* solver, double tolerance, double* z,
                 double* seconds);

#endif
