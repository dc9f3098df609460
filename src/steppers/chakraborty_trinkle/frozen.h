// The fallback of Newton's method: geometry frozen where the last iterate leads, the linear problem
// that remains solved by the methods of the complementarity room, and geometry taken anew.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_FROZEN_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_FROZEN_H

#include "steppers/chakraborty_trinkle/newton.h"

typedef enum tpFrozenMethod {
    tp_frozenLemke, // friction pyramid, Lemke's method
    tp_frozenCone   // the true cone, the portfolio
} tpFrozenMethod;

// From the present z and r, up to `passes` times while the equations of the step are not met to
// what is good enough. False if memory ran out.
bool tpIslandProblem_SolveFrozen(tpIslandProblem* problem, tpFrozenMethod method,
                                 int directionCount, tpIslandTolerance tolerance, int passes,
                                 tpSolverMemory* memory, tpStepReport* report, tpIslandSolve* out);

#endif
