// Semismooth Newton inside: what lcp_newton.c and ncp.c share.

#ifndef TIPPE_SRC_COMPLEMENTARITY_NEWTON_H
#define TIPPE_SRC_COMPLEMENTARITY_NEWTON_H

#include "complementarity/solver.h"
#include "math/sparse_lu.h"
#include "tippe/lcp.h"

// Judges z with its F; the context is that of the problem.
typedef double (*tpNewtonJudge)(const double* z, const double* F, void* context);

// From z (in and out). The best point by the judge is returned; `iterations` is added to.
tpSolveStatus tpNewton_Run(const tpNcp* ncp, const tpNewtonOptions* options, tpNewtonJudge judge,
                           void* judgeContext, tpSolverMemory* memory, double* z, int* iterations);

#endif
