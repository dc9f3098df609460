// Enumeration of all complementary bases: the last word for small problems.
//
// Every solution set of an LCP has a point whose positive variables belong to independent columns of
// one complementary basis, so trying all 2^m of them finds a solution where there is one. They come in Gray
// code order from the basis with all w. A singular basis counts when its equations hold without
// its dependent columns.

#include <math.h>
#include <string.h>

#include "complementarity/lcp_basis.h"

tpEnumerationOptions tpDefaultEnumerationOptions(void) {
    tpEnumerationOptions options = { .tolerance = 1e-8, .rowLimit = 16 };
    return options;
}

// How far x is from being a solution: its most negative value that has a sign.
static double infeasibility(const tpLcpForm* form, const double* x) {
    double worst = 0.0;
    for (int i = 0; i < form->n; ++i) {
        worst = tpLarger(worst, form->isFree[i] ? 0.0 : -x[i]);
    }
    return worst;
}

static tpSolveStatus enumerate(const tpLcpForm* form, const tpLcp* lcp, double tolerance,
                               tpArena* arena, double* z, int* tried) {
    int n = form->n;
    unsigned char* basis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
    int* rows = TP_SCRATCH(arena, int, n);
    double* x = TP_SCRATCH(arena, double, n);
    double* candidate = TP_SCRATCH(arena, double, n);
    tpBasisSolver solver;
    if (arena->failed || !tpBasisSolver_Create(&solver, form, arena)) {
        return tp_solverOutOfMemory;
    }
    int rowCount = 0;
    for (int i = 0; i < n; ++i) {
        rows[rowCount] = i;
        rowCount += !form->isFree[i];
    }
    double best = HUGE_VAL;
    for (uint64_t k = 0; k < (uint64_t)1 << rowCount; ++k) {
        for (int b = 0; b < rowCount; ++b) {
            basis[rows[b]] = ((k ^ (k >> 1)) >> b) & 1 ? tp_zBasic : tp_wBasic;
        }
        double violation = tpBasisSolver_Solve(&solver, basis, x);
        *tried += 1;
        violation = tpLarger(violation, infeasibility(form, x));
        if (!(violation < best)) {
            continue;
        }
        best = violation;
        for (int i = 0; i < n; ++i) {
            candidate[i] = basis[i] == tp_zBasic || form->isFree[i] ? x[i] : 0.0;
        }
        tpLcpForm_Unscale(form, candidate, z);
        if (tpLcp_ResidualIn(lcp, z, arena, NULL) <= tpSmaller(tolerance, 1e-12)) {
            break;
        }
    }
    return tp_solved;
}

tpSolveStatus tpLcp_SolveEnumeration(const tpLcp* lcp, const tpEnumerationOptions* options,
                                     tpSolverMemory* memory, double* z, tpSolveReport* report) {
    double start = tpCpuSeconds();
    tpEnumerationOptions defaults = tpDefaultEnumerationOptions();
    options = options != NULL ? options : &defaults;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    int tried = 0;
    tpLcpForm form;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, true, &memory->arena);
    if (status == tp_solved) {
        int rowLimit = options->rowLimit < 30 ? options->rowLimit : 30;
        memset(z, 0, sizeof(double) * (size_t)lcp->n);
        status = form.n - form.freeCount > rowLimit
                     ? tp_notApplicable
                     : enumerate(&form, lcp, options->tolerance, &memory->arena, z, &tried);
    }
    status = tpLcp_Finish(lcp, "enumeration", status, tp_stalled, options->tolerance, tried, start,
                          memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
