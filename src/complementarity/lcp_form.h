// Inside views of an LCP: checks, the scaled sparse form that solvers work on, the finish of a
// solve.

#ifndef TIPPE_SRC_COMPLEMENTARITY_LCP_FORM_H
#define TIPPE_SRC_COMPLEMENTARITY_LCP_FORM_H

#include "complementarity/solver.h"
#include "math/sparse_lu.h"
#include "tippe/lcp.h"

// The LCP scaled to D M D and D q / unit, with D chosen so that rows and columns have entries
// around one. Equal scaling of rows and columns keeps a copositive M copositive. The solution is D
// z unit.
typedef struct tpLcpForm {
    int n;
    tpSparseColumns M;
    double* q;
    double* D;          // powers of two: scaling rounds nothing
    double unit;        // of q; 1 where q is zero
    const bool* isFree; // never NULL
    int freeCount;
} tpLcpForm;

// tp_solved where the form is made; tp_badProblem; tp_solverOutOfMemory.
tpSolveStatus tpLcpForm_Create(tpLcpForm* form, const tpLcp* lcp, bool isScaled, tpArena* arena);

// z of the original problem from one of the form; negative entries of complementary ones are cut to
// zero.
void tpLcpForm_Unscale(const tpLcpForm* form, const double* scaled, double* z);

// The judged residual with scratch from an arena; infinite if there is no memory.
double tpLcp_ResidualIn(const tpLcp* lcp, const double* z, tpArena* arena, double* plain);

// Ends a single solver: judges z, adds the stage, sets the report's answer. A status of tp_solved
// with a residual above the tolerance becomes `otherwise`. `report` may be NULL.
tpSolveStatus tpLcp_Finish(const tpLcp* lcp, const char* solver, tpSolveStatus status,
                           tpSolveStatus otherwise, double tolerance, int iterations,
                           double startSeconds, tpSolverMemory* memory, double* z,
                           tpSolveReport* report);

// Searches a certificate that the problem has no feasible point (lcp_infeasible.c): tp_infeasible
// with y, tp_stalled where none was found.
tpSolveStatus tpLcp_ProveInfeasible(const tpLcp* lcp, tpSolverMemory* memory, double* y,
                                    int* pivots);

#endif
