// The mixed complementarity problem (10)-(11) of the paper as it stands there: closest points and
// the sliding speed are unknowns of the step. A second formulation of what problem.h eliminates,
// for theta = 1, smooth contacts and no joints.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_FULL_FORM_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_FULL_FORM_H

#include "steppers/chakraborty_trinkle/newton.h"

// Whether an island can be written this way.
bool tpFullForm_Applies(const tpIslandProblem* problem);

// Solves it from the present z and r, which receive the answer. `out` judges it by the eliminated
// equations. False if memory ran out.
bool tpFullForm_Solve(tpIslandProblem* problem, tpIslandTolerance tolerance, tpSolverMemory* memory,
                      tpIslandSolve* out);

#endif
