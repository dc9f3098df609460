// What all solvers share: matrix products, scratch memory, reports.

#include "complementarity/solver.h"
#include "base/assert.h"
#include "complementarity/friction_tree.h"

#include <math.h>
#include <string.h>
#include <time.h>

void tpMatrix_Multiply(const tpMatrix* A, const double* x, const double* b, double* y) {
    TP_NEED(A, );
    if (b == NULL) {
        memset(y, 0, sizeof(double) * (size_t)A->rowCount);
    } else if (b != y) {
        memcpy(y, b, sizeof(double) * (size_t)A->rowCount);
    }
    for (int j = 0; j < A->columnCount; ++j) {
        double xj = x[j];
        if (xj == 0.0) {
            continue;
        }
        if (A->columnStarts == NULL) {
            const double* column = A->values + (size_t)j * (size_t)A->leading;
            for (int i = 0; i < A->rowCount; ++i) {
                y[i] += column[i] * xj;
            }
        } else {
            for (int k = A->columnStarts[j]; k < A->columnStarts[j + 1]; ++k) {
                y[A->rowIndices[k]] += A->values[k] * xj;
            }
        }
    }
}

void tpMatrix_MultiplyTransposed(const tpMatrix* A, const double* x, const double* b, double* y) {
    TP_NEED(A, );
    for (int j = 0; j < A->columnCount; ++j) {
        double sum = b != NULL ? b[j] : 0.0;
        if (A->columnStarts == NULL) {
            const double* column = A->values + (size_t)j * (size_t)A->leading;
            for (int i = 0; i < A->rowCount; ++i) {
                sum += column[i] * x[i];
            }
        } else {
            for (int k = A->columnStarts[j]; k < A->columnStarts[j + 1]; ++k) {
                sum += A->values[k] * x[A->rowIndices[k]];
            }
        }
        y[j] = sum;
    }
}

tpSolverMemory* tpCreateSolverMemory(const tpAllocator* allocator) {
    tpAllocator chosen = allocator != NULL ? *allocator : tpDefaultAllocator();
    tpSolverMemory* memory = tpAllocate(&chosen, sizeof(tpSolverMemory));
    if (memory != NULL) {
        tpArena_Create(&memory->arena, &chosen);
        memory->trees = NULL;
        memory->work = 0.0;
        memory->workLimit = HUGE_VAL;
    }
    return memory;
}

void tpDestroySolverMemory(tpSolverMemory* memory) {
    if (memory != NULL) {
        tpAllocator allocator = memory->arena.allocator;
        tpFrictionTrees_Destroy(memory->trees);
        tpArena_Destroy(&memory->arena);
        tpRelease(&allocator, memory, sizeof(tpSolverMemory));
    }
}

tpArenaMark tpSolverMemory_Begin(tpSolverMemory* memory) {
    return tpArena_Mark(&memory->arena);
}

void tpSolverMemory_End(tpSolverMemory* memory, tpArenaMark mark) {
    if (mark.used == 0) {
        tpArena_Reset(&memory->arena);
    } else {
        tpArena_Release(&memory->arena, mark);
    }
}

double tpCpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char* tpSolveStatus_Name(tpSolveStatus status) {
    static const char* const names[] = {
        [tp_solved] = "solved",
        [tp_iterationLimit] = "iteration limit",
        [tp_stalled] = "stalled",
        [tp_secondaryRay] = "secondary ray",
        [tp_infeasible] = "infeasible",
        [tp_numericalTrouble] = "numerical trouble",
        [tp_badProblem] = "bad problem",
        [tp_solverOutOfMemory] = "out of memory",
        [tp_notApplicable] = "not applicable",
        [tp_solvedToRounding] = "solved to rounding",
    };
    bool isKnown = (int)status >= 0 && (size_t)status < sizeof(names) / sizeof(names[0]);
    return isKnown ? names[status] : "unknown";
}

void tpSolveReport_Start(tpSolveReport* report) {
    memset(report, 0, sizeof(*report));
    report->status = tp_iterationLimit;
    report->solver = "none";
    report->residual = HUGE_VAL;
    report->plainResidual = HUGE_VAL;
}

void tpSolveReport_AddStage(tpSolveReport* report, const tpSolveStage* stage) {
    if (report->stageCount < TP_MAX_SOLVE_STAGES) {
        report->stages[report->stageCount] = *stage;
    }
    report->stageCount += 1;
    report->iterations += stage->iterations;
    report->seconds += stage->seconds;
}

void tpSolveReport_SetOnly(tpSolveReport* report, const tpSolveStage* stage, double plainResidual) {
    tpSolveReport_Start(report);
    tpSolveReport_AddStage(report, stage);
    report->status = stage->status;
    report->solver = stage->solver;
    report->residual = stage->residual;
    report->plainResidual = plainResidual;
}
