// Values of a complementary basis by a fresh factorisation and one step of refinement.

#include "complementarity/lcp_basis.h"

#include <math.h>
#include <string.h>

// Pivots below this, relative to the largest entry of their column, mean a dependent column.
static const double dependentPivot = 1e-12;

bool tpBasisSolver_Create(tpBasisSolver* solver, const tpLcpForm* form, tpSolverMemory* memory) {
    tpArena* arena = &memory->arena;
    int n = form->n;
    int capacity = form->M.starts[n] + n;
    memset(solver, 0, sizeof(*solver));
    solver->form = form;
    solver->columns.n = n;
    solver->columns.starts = TP_SCRATCH(arena, int, n + 1);
    solver->columns.rows = TP_SCRATCH(arena, int, capacity);
    solver->columns.values = TP_SCRATCH(arena, double, capacity);
    solver->dependent = TP_SCRATCH(arena, int, n);
    solver->replacedBy = TP_SCRATCH(arena, int, n);
    solver->rowWork = TP_SCRATCH(arena, double, n);
    solver->correction = TP_SCRATCH(arena, double, n);
    return !arena->failed && tpSparseLu_Create(&solver->factor, arena, &memory->work, n, 0);
}

static void gather(tpBasisSolver* solver, const unsigned char* basis) {
    const tpSparseColumns* M = &solver->form->M;
    tpSparseColumns* B = &solver->columns;
    int used = 0;
    for (int j = 0; j < B->n; ++j) {
        B->starts[j] = used;
        if (basis[j] == tp_zBasic || solver->form->isFree[j]) {
            for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
                B->rows[used] = M->rows[k];
                B->values[used++] = -M->values[k];
            }
        } else {
            B->rows[used] = j;
            B->values[used++] = 1.0;
        }
    }
    B->starts[B->n] = used;
}

// rowWork = q - B x, without the dependent columns (x is zero there).
static void computeDefect(tpBasisSolver* solver, const double* x) {
    const tpSparseColumns* B = &solver->columns;
    memcpy(solver->rowWork, solver->form->q, sizeof(double) * (size_t)B->n);
    for (int j = 0; j < B->n; ++j) {
        for (int k = B->starts[j]; x[j] != 0.0 && k < B->starts[j + 1]; ++k) {
            solver->rowWork[B->rows[k]] -= B->values[k] * x[j];
        }
    }
}

double tpBasisSolver_Solve(tpBasisSolver* solver, const unsigned char* basis, double* x) {
    int n = solver->form->n;
    gather(solver, basis);
    solver->dependentCount = tpSparseLu_Factorise(&solver->factor, &solver->columns, dependentPivot,
                                                  solver->dependent, solver->replacedBy);
    if (solver->dependentCount < 0) {
        return HUGE_VAL;
    }
    memset(x, 0, sizeof(double) * (size_t)n);
    for (int pass = 0; pass < 2; ++pass) {
        computeDefect(solver, x);
        tpSparseLu_Solve(&solver->factor, solver->rowWork, solver->correction);
        for (int j = 0; j < n; ++j) {
            x[j] += solver->correction[j];
        }
        for (int c = 0; c < solver->dependentCount; ++c) {
            x[solver->dependent[c]] = 0.0;
        }
    }
    if (solver->dependentCount == 0) {
        return 0.0;
    }
    computeDefect(solver, x);
    return tpMaxAbs(solver->rowWork, n);
}
