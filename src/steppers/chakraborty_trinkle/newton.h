// Semismooth Newton's method on the equations of an island.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NEWTON_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NEWTON_H

#include "steppers/chakraborty_trinkle/problem.h"

typedef struct tpIslandSolve {
    double residual; // largest equation left, m/s
    int iterations;
    bool isSolved;
} tpIslandSolve;

// Residuals in m/s: one below which nothing is left to gain, the one aimed at, which rounding
// allows for certain, and the one that is good enough where that cannot be reached.
typedef struct tpIslandTolerance {
    double least, goal, enough;
} tpIslandTolerance;

// From the present z and r, which receive the answer (the best point found where it is not solved).
// False if memory ran out.
bool tpIslandProblem_Solve(tpIslandProblem* problem, tpIslandTolerance tolerance,
                           int iterationLimit, tpSolverMemory* memory, tpIslandSolve* out);

#endif
