// What the solvers of this room share inside: scratch, the clock, and the writing of reports.

#ifndef TIPPE_SRC_COMPLEMENTARITY_SOLVER_H
#define TIPPE_SRC_COMPLEMENTARITY_SOLVER_H

#include <math.h>

#include "base/memory.h"
#include "tippe/solver.h"

struct tpSolverMemory {
    tpArena arena;
    struct tpFrictionTree* trees; // of the last mechanisms; NULL if there was none
    double work;                  // multiply-adds counted by the solve under way, roughly
    double workLimit;             // where it is to stop; infinite where nobody set one
};

static inline bool tpSolverMemory_IsSpent(const tpSolverMemory* memory) {
    return memory->work >= memory->workLimit;
}

// Scratch for one solve begins and ends with these: nested solves stack up, and the outermost one
// turns the arena into one block.
tpArenaMark tpSolverMemory_Begin(tpSolverMemory* memory);
void tpSolverMemory_End(tpSolverMemory* memory, tpArenaMark mark);

// CPU seconds of this thread, from an arbitrary start.
double tpCpuSeconds(void);

// An empty report (not solved, infinite residual).
void tpSolveReport_Start(tpSolveReport* report);

// Adds a stage and its cost; the answer of the report is for the caller to set.
void tpSolveReport_AddStage(tpSolveReport* report, const tpSolveStage* stage);

// A report of this stage alone, which is its answer.
void tpSolveReport_SetOnly(tpSolveReport* report, const tpSolveStage* stage, double plainResidual);

// Of two numbers, without the library's care for NaN (which costs a call in inner loops).
static inline double tpLarger(double a, double b) {
    return a > b ? a : b;
}
static inline double tpSmaller(double a, double b) {
    return a < b ? a : b;
}

// Largest absolute value; entries that are not numbers are passed over. Four running maxima, since
// one would wait for itself at every entry.
static inline double tpMaxAbs(const double* x, int n) {
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        a = tpLarger(fabs(x[i]), a);
        b = tpLarger(fabs(x[i + 1]), b);
        c = tpLarger(fabs(x[i + 2]), c);
        d = tpLarger(fabs(x[i + 3]), d);
    }
    for (; i < n; ++i) {
        a = tpLarger(fabs(x[i]), a);
    }
    return tpLarger(tpLarger(a, b), tpLarger(c, d));
}

#endif
