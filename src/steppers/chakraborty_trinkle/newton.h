// Semismooth Newton's method on the equations of an island.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NEWTON_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NEWTON_H

#include "steppers/chakraborty_trinkle/problem.h"

typedef struct tpIslandSolve {
    double residual; // largest equation left, m/s
    int iterations;
    bool isSolved;
} tpIslandSolve;

// From the present z and r, which receive the answer (the best point found where it is not solved).
// `tolerance` in m/s. False where memory ran out.
bool tpIslandProblem_Solve(tpIslandProblem* problem, double tolerance, int iterationLimit,
                           tpSolverMemory* memory, tpIslandSolve* out);

#endif
