// The LCP itself: its judge, its checks, its scaled sparse form. Knows no solver.

#include "tippe/lcp.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

#include "complementarity/lcp_form.h"

// Judges --------------------------------------------------------------------------------------

static bool isFree(const tpLcp* lcp, int i) {
    return lcp->isFree != NULL && lcp->isFree[i];
}

static double residualFromW(const tpLcp* lcp, const double* z, const double* w, double* plain) {
    double worst = 0.0;
    bool isFinite = true;
    for (int i = 0; i < lcp->n; ++i) {
        double error = isFree(lcp, i) || w[i] < z[i] ? w[i] : z[i];
        worst = tpLarger(fabs(error), worst);
        isFinite = isFinite && isfinite(z[i]) && isfinite(w[i]);
    }
    worst = isFinite ? worst : HUGE_VAL;
    if (plain != NULL) {
        *plain = worst;
    }
    return worst / fmax(1.0, tpMaxAbs(lcp->q, lcp->n));
}

double tpLcp_ResidualIn(const tpLcp* lcp, const double* z, tpArena* arena, double* plain) {
    tpArenaMark mark = tpArena_Mark(arena);
    double* w = TP_SCRATCH(arena, double, lcp->n);
    double residual = HUGE_VAL;
    if (w != NULL) {
        tpMatrix_Multiply(&lcp->M, z, lcp->q, w);
        residual = residualFromW(lcp, z, w, plain);
    } else if (plain != NULL) {
        *plain = HUGE_VAL;
    }
    tpArena_Release(arena, mark);
    return residual;
}

double tpLcp_Residual(const tpLcp* lcp, const double* z, double* w, tpSolverMemory* memory,
                      double* plain) {
    TP_NEED(lcp, 0.0);
    if (w != NULL) {
        tpMatrix_Multiply(&lcp->M, z, lcp->q, w);
        return residualFromW(lcp, z, w, plain);
    }
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    double residual = tpLcp_ResidualIn(lcp, z, &memory->arena, plain);
    tpSolverMemory_End(memory, mark);
    return residual;
}

// For feasible z: 0 <= y'(M z + q) = (M'y)'z + q'y <= e |z|_1 + q'y, e the excess of M'y over its
// bound; hence |z|_1 >= -q'y / e. Components of y that have the wrong sign are refused.
double tpLcp_InfeasibilityRadius(const tpLcp* lcp, const double* y, tpSolverMemory* memory) {
    TP_NEED(lcp, 0.0);
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    double* product = TP_SCRATCH(&memory->arena, double, lcp->n);
    double radius = 0.0;
    if (product != NULL) {
        tpMatrix_MultiplyTransposed(&lcp->M, y, NULL, product);
        double excess = 0.0;
        double gain = 0.0;
        bool isSound = true;
        for (int i = 0; i < lcp->n; ++i) {
            isSound = isSound && isfinite(y[i]) && (y[i] >= 0.0 || isFree(lcp, i));
            gain -= lcp->q[i] * y[i];
            excess = fmax(excess, isFree(lcp, i) ? fabs(product[i]) : product[i]);
        }
        radius = isSound && gain > 0.0 ? gain / excess : 0.0;
    }
    tpSolverMemory_End(memory, mark);
    return radius;
}

// Checks and the scaled sparse form ------------------------------------------------------------

static bool areFinite(const double* x, int n) {
    for (int i = 0; i < n; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static bool isPatternSound(const tpMatrix* M) {
    if (M->columnStarts == NULL) {
        return M->leading >= M->rowCount;
    }
    for (int j = 0; j < M->columnCount; ++j) {
        if (M->columnStarts[j + 1] < M->columnStarts[j]) {
            return false;
        }
        for (int k = M->columnStarts[j]; k < M->columnStarts[j + 1]; ++k) {
            if (M->rowIndices[k] < 0 || M->rowIndices[k] >= M->rowCount) {
                return false;
            }
        }
    }
    return M->columnStarts[0] == 0;
}

// Copies the entries of M that are not zero, in one pass over a matrix that may be large and almost
// empty. Room grows as it fills. False: out of memory, or an entry is not finite (isSound false).
static bool copyEntries(const tpMatrix* M, tpSparseColumns* copy, tpArena* arena, bool* isSound) {
    bool isDense = M->columnStarts == NULL;
    int capacity = isDense ? 16 * M->rowCount + 1 : M->columnStarts[M->columnCount] + 1;
    int used = 0;
    copy->rows = TP_SCRATCH(arena, int, capacity);
    copy->values = TP_SCRATCH(arena, double, capacity);
    for (int j = 0; j < M->columnCount && !arena->failed; ++j) {
        int begin = isDense ? 0 : M->columnStarts[j];
        int end = isDense ? M->rowCount : M->columnStarts[j + 1];
        const double* values = isDense ? M->values + (size_t)j * (size_t)M->leading : M->values;
        copy->starts[j] = used;
        if (capacity - used <= end - begin) {
            capacity = 2 * capacity + (end - begin) + 1;
            int* rows = TP_SCRATCH(arena, int, capacity);
            double* moved = TP_SCRATCH(arena, double, capacity);
            if (arena->failed) {
                return false;
            }
            memcpy(rows, copy->rows, sizeof(int) * (size_t)used);
            memcpy(moved, copy->values, sizeof(double) * (size_t)used);
            copy->rows = rows;
            copy->values = moved;
        }
        for (int k = begin; k < end; ++k) {
            copy->rows[used] = isDense ? k : M->rowIndices[k];
            copy->values[used] = values[k];
            used += values[k] != 0.0;
        }
    }
    copy->starts[M->columnCount] = used;
    *isSound = arena->failed || areFinite(copy->values, used);
    return !arena->failed && *isSound;
}

// One sweep of [Ruiz01] with one scale for row i and column i, rounded to powers of two. True: a
// scale changed.
static bool equilibrate(tpLcpForm* form, double* largest) {
    memset(largest, 0, sizeof(double) * (size_t)form->n);
    tpSparseColumns* M = &form->M;
    for (int j = 0; j < form->n; ++j) {
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            double size = fabs(M->values[k]);
            largest[j] = tpLarger(largest[j], size);
            largest[M->rows[k]] = tpLarger(largest[M->rows[k]], size);
        }
    }
    bool isChanged = false;
    for (int i = 0; i < form->n; ++i) {
        int exponent = 0;
        if (largest[i] > 0.0) {
            (void)frexp(1.0 / sqrt(largest[i]), &exponent);
            exponent -= 1;
        }
        largest[i] = ldexp(1.0, exponent);
        form->D[i] *= largest[i];
        isChanged = isChanged || exponent != 0;
    }
    for (int j = 0; isChanged && j < form->n; ++j) {
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            M->values[k] *= largest[j] * largest[M->rows[k]];
        }
    }
    return isChanged;
}

tpSolveStatus tpLcpForm_Create(tpLcpForm* form, const tpLcp* lcp, bool isScaled, tpArena* arena) {
    int n = lcp->n;
    if (n < 0 || lcp->M.rowCount != n || lcp->M.columnCount != n || !isPatternSound(&lcp->M) ||
        !areFinite(lcp->q, n)) {
        return tp_badProblem;
    }
    form->n = n;
    form->M.n = n;
    form->M.starts = TP_SCRATCH(arena, int, n + 1);
    form->q = TP_SCRATCH(arena, double, n);
    form->D = TP_SCRATCH(arena, double, n);
    bool* none = TP_SCRATCH_ZEROED(arena, bool, n);
    double* largest = TP_SCRATCH(arena, double, n);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    bool isSound = true;
    if (!copyEntries(&lcp->M, &form->M, arena, &isSound)) {
        return isSound ? tp_solverOutOfMemory : tp_badProblem;
    }
    for (int i = 0; i < n; ++i) {
        form->D[i] = 1.0;
    }
    for (int sweep = 0; isScaled && sweep < 4; ++sweep) {
        isScaled = equilibrate(form, largest);
    }
    form->isFree = lcp->isFree != NULL ? lcp->isFree : none;
    form->freeCount = 0;
    for (int i = 0; i < n; ++i) {
        form->q[i] = form->D[i] * lcp->q[i];
        form->freeCount += form->isFree[i];
    }
    double size = tpMaxAbs(form->q, n);
    form->unit = size > 0.0 ? size : 1.0;
    for (int i = 0; i < n; ++i) {
        form->q[i] /= form->unit;
    }
    return tp_solved;
}

void tpLcpForm_Unscale(const tpLcpForm* form, const double* scaled, double* z) {
    for (int i = 0; i < form->n; ++i) {
        double value = form->isFree[i] ? scaled[i] : fmax(scaled[i], 0.0);
        z[i] = form->D[i] * value * form->unit;
    }
}

// Ends ----------------------------------------------------------------------------------------

tpSolveStatus tpLcp_Finish(const tpLcp* lcp, const char* solver, tpSolveStatus status,
                           tpSolveStatus otherwise, double tolerance, int iterations,
                           double startSeconds, tpSolverMemory* memory, double* z,
                           tpSolveReport* report) {
    double plain = HUGE_VAL;
    double residual = HUGE_VAL;
    if (status != tp_badProblem && status != tp_solverOutOfMemory && status != tp_notApplicable) {
        residual = tpLcp_ResidualIn(lcp, z, &memory->arena, &plain);
        if (residual <= tolerance) {
            status = tp_solved;
        } else if (status == tp_solved) {
            status = otherwise;
        }
    }
    if (report != NULL) {
        tpSolveStage stage = { solver, status, residual, iterations,
                               tpCpuSeconds() - startSeconds };
        tpSolveReport_SetOnly(report, &stage, plain);
    }
    return status;
}
