// The LCP itself: its judge, its checks, its scaled sparse form. Knows no solver.

#include "tippe/lcp.h"

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
        worst = fmax(worst, fabs(error));
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

// Checks --------------------------------------------------------------------------------------

static bool areFinite(const double* x, int n) {
    for (int i = 0; i < n; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static bool isMatrixSound(const tpMatrix* M) {
    if (M->columnStarts == NULL) {
        for (int j = 0; j < M->columnCount; ++j) {
            if (!areFinite(M->values + (size_t)j * (size_t)M->leading, M->rowCount)) {
                return false;
            }
        }
        return M->leading >= M->rowCount;
    }
    for (int j = 0; j < M->columnCount; ++j) {
        if (M->columnStarts[j + 1] < M->columnStarts[j]) {
            return false;
        }
        for (int k = M->columnStarts[j]; k < M->columnStarts[j + 1]; ++k) {
            if (M->rowIndices[k] < 0 || M->rowIndices[k] >= M->rowCount ||
                !isfinite(M->values[k])) {
                return false;
            }
        }
    }
    return M->columnStarts[0] == 0;
}

bool tpLcp_IsSound(const tpLcp* lcp) {
    return lcp->n >= 0 && lcp->M.rowCount == lcp->n && lcp->M.columnCount == lcp->n &&
           isMatrixSound(&lcp->M) && areFinite(lcp->q, lcp->n);
}

// Scaled sparse form --------------------------------------------------------------------------

static int countEntries(const tpMatrix* M) {
    if (M->columnStarts != NULL) {
        return M->columnStarts[M->columnCount];
    }
    int count = 0;
    for (int j = 0; j < M->columnCount; ++j) {
        for (int i = 0; i < M->rowCount; ++i) {
            count += M->values[i + (size_t)j * (size_t)M->leading] != 0.0;
        }
    }
    return count;
}

static void copyEntries(const tpMatrix* M, tpColumns* copy) {
    int used = 0;
    for (int j = 0; j < M->columnCount; ++j) {
        copy->starts[j] = used;
        bool isDense = M->columnStarts == NULL;
        int begin = isDense ? 0 : M->columnStarts[j];
        int end = isDense ? M->rowCount : M->columnStarts[j + 1];
        const double* values = isDense ? M->values + (size_t)j * (size_t)M->leading : M->values;
        for (int k = begin; k < end; ++k) {
            if (values[k] != 0.0) {
                copy->rows[used] = isDense ? k : M->rowIndices[k];
                copy->values[used++] = values[k];
            }
        }
    }
    copy->starts[M->columnCount] = used;
}

// One sweep of [Ruiz01] with one scale for row i and column i, rounded to powers of two.
static void equilibrate(tpLcpForm* form, double* largest) {
    memset(largest, 0, sizeof(double) * (size_t)form->n);
    tpColumns* M = &form->M;
    for (int j = 0; j < form->n; ++j) {
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            double size = fabs(M->values[k]);
            largest[j] = fmax(largest[j], size);
            largest[M->rows[k]] = fmax(largest[M->rows[k]], size);
        }
    }
    for (int i = 0; i < form->n; ++i) {
        int exponent = 0;
        if (largest[i] > 0.0) {
            (void)frexp(1.0 / sqrt(largest[i]), &exponent);
            exponent -= 1;
        }
        largest[i] = ldexp(1.0, exponent);
        form->D[i] *= largest[i];
    }
    for (int j = 0; j < form->n; ++j) {
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            M->values[k] *= largest[j] * largest[M->rows[k]];
        }
    }
}

tpSolveStatus tpLcpForm_Create(tpLcpForm* form, const tpLcp* lcp, bool isScaled, tpArena* arena) {
    if (!tpLcp_IsSound(lcp)) {
        return tp_badProblem;
    }
    int n = lcp->n;
    int entryCount = countEntries(&lcp->M);
    form->n = n;
    form->M.n = n;
    form->M.starts = TP_SCRATCH(arena, int, n + 1);
    form->M.rows = TP_SCRATCH(arena, int, entryCount);
    form->M.values = TP_SCRATCH(arena, double, entryCount);
    form->q = TP_SCRATCH(arena, double, n);
    form->D = TP_SCRATCH(arena, double, n);
    bool* none = TP_SCRATCH_ZEROED(arena, bool, n);
    double* largest = TP_SCRATCH(arena, double, n);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    copyEntries(&lcp->M, &form->M);
    for (int i = 0; i < n; ++i) {
        form->D[i] = 1.0;
    }
    for (int sweep = 0; isScaled && sweep < 4; ++sweep) {
        equilibrate(form, largest);
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
        tpSolveReport_Start(report);
        tpSolveReport_AddStage(report, &stage);
        report->status = status;
        report->solver = solver;
        report->residual = residual;
        report->plainResidual = plain;
    }
    return status;
}
