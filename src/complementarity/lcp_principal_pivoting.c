// Block principal pivoting [JudicePires94] with the least-index rule of [Murty74].
//
// A complementary basis is held by its set of basic z. While the number of infeasible values falls,
// all infeasible pairs are exchanged at once; when it has not fallen for a while, only the pair
// with the largest index, which for a P matrix ends after finitely many steps whatever happened
// before. No artificial variable, no path: on P matrices where Lemke's path is exponentially long
// this is usually a handful of factorisations.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_basis.h"

tpPrincipalPivotingOptions tpDefaultPrincipalPivotingOptions(void) {
    tpPrincipalPivotingOptions options = { .tolerance = 1e-8, .blockLimit = 10 };
    return options;
}

// Exchanges infeasible pairs, all or the last one. Returns how many are infeasible.
static int countInfeasible(const tpLcpForm* form, const double* x, double tolerance) {
    int count = 0;
    for (int i = 0; i < form->n; ++i) {
        count += !form->isFree[i] && x[i] < -tolerance;
    }
    return count;
}

static void exchange(const tpLcpForm* form, const double* x, double tolerance, bool isBlock,
                     unsigned char* basis) {
    for (int i = form->n - 1; i >= 0; --i) {
        if (!form->isFree[i] && x[i] < -tolerance) {
            basis[i] = basis[i] == tp_zBasic ? tp_wBasic : tp_zBasic;
            if (!isBlock) {
                return;
            }
        }
    }
}

static tpSolveStatus pivotPrincipally(const tpLcpForm* form,
                                      const tpPrincipalPivotingOptions* options,
                                      tpSolverMemory* memory, double* scaled, int* steps) {
    tpArena* arena = &memory->arena;
    int n = form->n;
    int limit = options->pivotLimit > 0 ? options->pivotLimit : n + 100;
    unsigned char* basis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
    double* x = TP_SCRATCH(arena, double, n);
    tpBasisSolver solver;
    if (arena->failed || !tpBasisSolver_Create(&solver, form, memory)) {
        return tp_solverOutOfMemory;
    }
    int fewest = n + 1;
    int blocksLeft = options->blockLimit;
    tpSolveStatus status = tp_iterationLimit;
    for (*steps = 0;
         *steps < limit && status == tp_iterationLimit && !tpSolverMemory_IsSpent(memory);
         ++*steps) {
        double violation = tpBasisSolver_Solve(&solver, basis, x);
        if (!(violation < HUGE_VAL)) {
            return tp_numericalTrouble;
        }
        double tolerance = 1e-13 * tpLarger(1.0, tpMaxAbs(x, n));
        int count = countInfeasible(form, x, tolerance);
        if (count == 0) {
            status = violation <= options->tolerance ? tp_solved : tp_numericalTrouble;
            for (int i = 0; i < n; ++i) {
                scaled[i] = basis[i] == tp_zBasic || form->isFree[i] ? x[i] : 0.0;
            }
            break;
        }
        if (count < fewest) {
            fewest = count;
            blocksLeft = options->blockLimit;
        } else if (blocksLeft > 0) {
            blocksLeft -= 1;
        }
        exchange(form, x, tolerance, blocksLeft > 0, basis);
    }
    return status;
}

tpSolveStatus tpLcp_SolvePrincipalPivoting(const tpLcp* lcp,
                                           const tpPrincipalPivotingOptions* options,
                                           tpSolverMemory* memory, double* z,
                                           tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    double start = tpCpuSeconds();
    tpPrincipalPivotingOptions defaults = tpDefaultPrincipalPivotingOptions();
    options = options != NULL ? options : &defaults;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    int steps = 0;
    tpLcpForm form;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, true, arena);
    if (status == tp_solved) {
        double* scaled = TP_SCRATCH_ZEROED(arena, double, lcp->n);
        status = scaled != NULL ? pivotPrincipally(&form, options, memory, scaled, &steps)
                                : tp_solverOutOfMemory;
        if (scaled != NULL) {
            tpLcpForm_Unscale(&form, scaled, z);
        }
    }
    status = tpLcp_Finish(lcp, "principal-pivoting", status, tp_numericalTrouble,
                          options->tolerance, steps, start, memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
