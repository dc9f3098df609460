// Friction limits lagged: contact LCPs as a sequence of monotone ones.
//
// What makes a contact LCP hard is the one-sided coupling mu between normal impulse and friction
// limit: an entry M_ij > 0 whose mirror M_ji is zero, in a row without diagonal. Without these
// entries, N, the matrix is positive semidefinite (symmetric and skew parts only), and Lemke's path
// for it is short: z0 never rises. So N z is taken from the last point,
//     LCP(M - N, q + N z_k)  ->  z_{k+1},
// the fixed point of [Panagiotopoulos75] between normal and tangential problem, each one started
// from the last basis. After every few steps Lemke's method is tried on the whole problem from the
// basis reached: from a good one it needs few pivots even where its path from w = q takes tens of
// thousands.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_form.h"

typedef struct Lagged {
    const tpLcp* lcp;
    const tpLaggedOptions* options;
    tpSolverMemory* memory;
    tpLcp monotone; // M - N and the lagged right-hand side
    tpSparseColumns N;
    double* q; // of the monotone problem
    double* next;
    double* trial;
    unsigned char* basis;
    unsigned char* trialBasis;
    double best; // judged residual of z
    int pivots;
} Lagged;

tpLaggedOptions tpDefaultLaggedOptions(void) {
    tpLaggedOptions options = { .tolerance = 1e-8, .iterationLimit = 100 };
    return options;
}

// Marks the rows without a diagonal entry.
static void findEmptyDiagonals(const tpSparseColumns* M, bool* isEmpty) {
    for (int j = 0; j < M->n; ++j) {
        isEmpty[j] = true;
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            isEmpty[j] = isEmpty[j] && M->rows[k] != j;
        }
    }
}

static bool hasEntry(const tpSparseColumns* M, int row, int column) {
    for (int k = M->starts[column]; k < M->starts[column + 1]; ++k) {
        if (M->rows[k] == row) {
            return true;
        }
    }
    return false;
}

// Splits M into M - N and N, in the form's own arrays and fresh ones. The number of entries of N;
// -1: out of memory.
static int split(Lagged* lagged, tpLcpForm* form, tpArena* arena) {
    tpSparseColumns* M = &form->M;
    tpSparseColumns* N = &lagged->N;
    int n = form->n;
    bool* isEmpty = TP_SCRATCH(arena, bool, n);
    N->n = n;
    N->starts = TP_SCRATCH(arena, int, n + 1);
    N->rows = TP_SCRATCH(arena, int, M->starts[n]);
    N->values = TP_SCRATCH(arena, double, M->starts[n]);
    unsigned char* isLagged = TP_SCRATCH_ZEROED(arena, unsigned char, M->starts[n]);
    if (arena->failed) {
        return -1;
    }
    findEmptyDiagonals(M, isEmpty);
    int count = 0;
    for (int j = 0; j < n; ++j) {
        N->starts[j] = count;
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            int i = M->rows[k];
            if (i != j && isEmpty[i] && !form->isFree[i] && M->values[k] > 0.0 &&
                !hasEntry(M, j, i)) {
                isLagged[k] = 1;
                N->rows[count] = i;
                N->values[count++] = M->values[k];
            }
        }
    }
    N->starts[n] = count;
    int kept = 0;
    for (int j = 0; j < n; ++j) {
        int begin = M->starts[j];
        M->starts[j] = kept;
        for (int k = begin; k < M->starts[j + 1]; ++k) {
            M->rows[kept] = M->rows[k];
            M->values[kept] = M->values[k];
            kept += isLagged[k] == 0;
        }
    }
    M->starts[n] = kept;
    return count;
}

// The next point from z: true if the monotone problem was solved.
static bool takeStep(Lagged* lagged, const double* z, bool isWarm) {
    const tpSparseColumns* N = &lagged->N;
    memcpy(lagged->q, lagged->lcp->q, sizeof(double) * (size_t)N->n);
    for (int j = 0; j < N->n; ++j) {
        for (int k = N->starts[j]; k < N->starts[j + 1]; ++k) {
            lagged->q[N->rows[k]] += N->values[k] * z[j];
        }
    }
    tpSolveReport report;
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.startBasis = isWarm ? lagged->basis : NULL;
    options.endBasis = lagged->basis;
    tpSolveStatus status =
        tpLcp_SolveLemke(&lagged->monotone, &options, lagged->memory, lagged->next, &report);
    lagged->pivots += report.iterations;
    return status == tp_solved;
}

// Lemke's method on the whole problem from the basis reached.
static void tryWhole(Lagged* lagged, double* z) {
    int n = lagged->lcp->n;
    tpSolveReport report;
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.tolerance = lagged->options->tolerance;
    options.startBasis = lagged->basis;
    options.endBasis = lagged->trialBasis;
    options.pivotLimit = n / 2 + 50;
    tpLcp_SolveLemke(lagged->lcp, &options, lagged->memory, lagged->trial, &report);
    lagged->pivots += report.iterations;
    if (report.residual < lagged->best) {
        lagged->best = report.residual;
        memcpy(z, lagged->trial, sizeof(double) * (size_t)n);
    }
}

static tpSolveStatus iterate(Lagged* lagged, double* z) {
    int n = lagged->lcp->n;
    double* last = lagged->trial + n;
    double tolerance = lagged->options->tolerance;
    memset(last, 0, sizeof(double) * (size_t)n);
    for (int k = 0; k < lagged->options->iterationLimit; ++k) {
        if (!takeStep(lagged, last, k > 0)) {
            return tp_numericalTrouble;
        }
        memcpy(last, lagged->next, sizeof(double) * (size_t)n);
        double residual = tpLcp_ResidualIn(lagged->lcp, last, &lagged->memory->arena, NULL);
        if (residual < lagged->best) {
            lagged->best = residual;
            memcpy(z, last, sizeof(double) * (size_t)n);
        }
        if (lagged->best > tolerance && (k == 4 || k % 10 == 9)) {
            tryWhole(lagged, z);
        }
        if (lagged->best <= tolerance) {
            return tp_solved;
        }
    }
    return tp_iterationLimit;
}

tpSolveStatus tpLcp_SolveLagged(const tpLcp* lcp, const tpLaggedOptions* options,
                                tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    double start = tpCpuSeconds();
    tpLaggedOptions defaults = tpDefaultLaggedOptions();
    Lagged lagged = { .lcp = lcp,
                      .options = options != NULL ? options : &defaults,
                      .memory = memory,
                      .best = HUGE_VAL };
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    tpLcpForm form;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, false, arena);
    if (status == tp_solved) {
        size_t n = (size_t)lcp->n;
        memset(z, 0, sizeof(double) * n);
        lagged.q = TP_SCRATCH(arena, double, n);
        lagged.next = TP_SCRATCH(arena, double, n);
        lagged.trial = TP_SCRATCH(arena, double, 2 * n);
        lagged.basis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
        lagged.trialBasis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
        int count = arena->failed ? -1 : split(&lagged, &form, arena);
        lagged.monotone =
            (tpLcp){ .n = lcp->n,
                     .M = tpSparseMatrix(lcp->n, lcp->n, form.M.starts, form.M.rows, form.M.values),
                     .q = lagged.q,
                     .isFree = lcp->isFree };
        status = count < 0    ? tp_solverOutOfMemory
                 : count == 0 ? tp_notApplicable
                              : iterate(&lagged, z);
    }
    status = tpLcp_Finish(lcp, "lagged", status, tp_stalled, lagged.options->tolerance,
                          lagged.pivots, start, memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
