// Enumeration of all complementary bases: the last word for small problems.
//
// A solution takes its positive variables from one of the 2^m complementary bases. They come in
// Gray code order from the basis with all w. Regular bases are tried first, each by one
// factorisation; then, if none did, the singular ones, where a nonnegative combination of the
// columns B that gives q is sought as the least-squares problem min |B x - q|, x >= 0, itself an
// LCP with the positive semidefinite matrix B'B that Lemke's method always solves.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_basis.h"
#include "math/elementary.h"

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

typedef struct Enumeration {
    const tpLcp* lcp;
    const tpLcpForm* form;
    tpSolverMemory* memory;
    tpBasisSolver solver;
    unsigned char* basis;
    double* x;
    double* values; // B'B of a singular basis
    double* q;      // -B'q
    double* candidate;
    double best; // judged residual of z
    double* z;
    int tried;
} Enumeration;

static bool create(Enumeration* all) {
    tpArena* arena = &all->memory->arena;
    size_t n = (size_t)all->form->n;
    all->basis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
    all->x = TP_SCRATCH(arena, double, n);
    all->values = TP_SCRATCH(arena, double, n* n);
    all->q = TP_SCRATCH(arena, double, n);
    all->candidate = TP_SCRATCH(arena, double, n);
    all->best = HUGE_VAL;
    return !arena->failed && tpBasisSolver_Create(&all->solver, all->form, all->memory);
}

// Judges the values x of the basis; keeps them where they are the best so far.
static void keep(Enumeration* all) {
    const tpLcpForm* form = all->form;
    for (int i = 0; i < form->n; ++i) {
        bool isZ = all->basis[i] == tp_zBasic || form->isFree[i];
        all->x[i] = isZ ? all->x[i] : 0.0;
    }
    tpLcpForm_Unscale(form, all->x, all->candidate);
    double residual = tpLcp_ResidualIn(all->lcp, all->candidate, &all->memory->arena, NULL);
    if (residual < all->best) {
        all->best = residual;
        memcpy(all->z, all->candidate, sizeof(double) * (size_t)form->n);
    }
}

static void tryRegular(Enumeration* all) {
    double violation = tpBasisSolver_Solve(&all->solver, all->basis, all->x);
    all->tried += 1;
    if (tpLarger(violation, infeasibility(all->form, all->x)) < all->best) {
        keep(all);
    }
}

// min |B x - q|, x_i >= 0 if it has a sign.
static void trySingular(Enumeration* all) {
    const tpLcpForm* form = all->form;
    const tpSparseColumns* B = &all->solver.columns;
    int n = form->n;
    tpBasisSolver_Solve(&all->solver, all->basis, all->x);
    if (all->solver.dependentCount == 0) {
        return;
    }
    all->tried += 1;
    for (int j = 0; j < n; ++j) {
        double* column = all->solver.rowWork;
        memset(column, 0, sizeof(double) * (size_t)n);
        for (int k = B->starts[j]; k < B->starts[j + 1]; ++k) {
            column[B->rows[k]] = B->values[k];
        }
        all->q[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int k = B->starts[i]; k < B->starts[i + 1]; ++k) {
                sum += B->values[k] * column[B->rows[k]];
            }
            all->values[i + (size_t)j * (size_t)n] = sum;
            all->q[j] -= column[i] * form->q[i];
        }
    }
    tpLcp least = {
        .n = n, .M = tpDenseMatrix(n, n, all->values), .q = all->q, .isFree = form->isFree
    };
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.tolerance = 1e-12;
    tpLcp_SolveLemke(&least, &options, all->memory, all->x, NULL);
    keep(all);
}

static void visitAll(Enumeration* all, int rowCount, const int* rows, double enough,
                     void (*visit)(Enumeration*)) {
    for (uint64_t k = 0;
         k < (uint64_t)1 << rowCount && all->best > enough && !tpSolverMemory_IsSpent(all->memory);
         ++k) {
        for (int b = 0; b < rowCount; ++b) {
            all->basis[rows[b]] = ((k ^ (k >> 1)) >> b) & 1 ? tp_zBasic : tp_wBasic;
        }
        visit(all);
    }
}

// Work of the second pass beyond which it is left out, in multiplications.
static const double singularWork = 1e10;

static tpSolveStatus enumerate(Enumeration* all, double tolerance) {
    const tpLcpForm* form = all->form;
    tpArena* arena = &all->memory->arena;
    int* rows = TP_SCRATCH(arena, int, form->n);
    if (rows == NULL || !create(all)) {
        return tp_solverOutOfMemory;
    }
    int rowCount = 0;
    for (int i = 0; i < form->n; ++i) {
        rows[rowCount] = i;
        rowCount += !form->isFree[i];
    }
    visitAll(all, rowCount, rows, tpSmaller(tolerance, 1e-12), tryRegular);
    if (all->best > tolerance && ldexp(tpPow(form->n, 3.0), rowCount) < singularWork) {
        visitAll(all, rowCount, rows, tolerance, trySingular);
    }
    return tp_solved;
}

tpSolveStatus tpLcp_SolveEnumeration(const tpLcp* lcp, const tpEnumerationOptions* options,
                                     tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
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
        Enumeration all = { .lcp = lcp, .form = &form, .memory = memory, .z = z };
        status = form.n - form.freeCount > rowLimit ? tp_notApplicable
                                                    : enumerate(&all, options->tolerance);
        tried = all.tried;
    }
    status = tpLcp_Finish(lcp, "enumeration", status, tp_stalled, options->tolerance, tried, start,
                          memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
