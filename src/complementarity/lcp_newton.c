// Semismooth Newton on a linear problem, in its scaled form.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_form.h"
#include "complementarity/newton.h"

typedef struct LinearProblem {
    const tpLcpForm* form;
    double judgeScale;
} LinearProblem;

static bool evaluate(const double* z, double* F, void* context) {
    const tpLcpForm* form = ((const LinearProblem*)context)->form;
    memcpy(F, form->q, sizeof(double) * (size_t)form->n);
    for (int j = 0; j < form->n; ++j) {
        for (int k = form->M.starts[j]; z[j] != 0.0 && k < form->M.starts[j + 1]; ++k) {
            F[form->M.rows[k]] += form->M.values[k] * z[j];
        }
    }
    return true;
}

static bool jacobian(const double* z, double* values, void* context) {
    (void)z;
    const tpLcpForm* form = ((const LinearProblem*)context)->form;
    memcpy(values, form->M.values, sizeof(double) * (size_t)form->M.starts[form->n]);
    return true;
}

// The original problem's residual from scaled values.
static double judge(const double* z, const double* F, void* context) {
    const LinearProblem* problem = context;
    const tpLcpForm* form = problem->form;
    double worst = 0.0;
    for (int i = 0; i < form->n; ++i) {
        double w = F[i] * form->unit / form->D[i];
        double error = form->isFree[i] ? w : tpSmaller(z[i] * form->unit * form->D[i], w);
        worst = fabs(error) <= worst ? worst : fabs(error);
    }
    return isnan(worst) ? HUGE_VAL : worst / problem->judgeScale;
}

tpSolveStatus tpLcp_SolveNewton(const tpLcp* lcp, const tpNewtonOptions* options,
                                tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    double start = tpCpuSeconds();
    tpNewtonOptions defaults = tpDefaultNewtonOptions();
    options = options != NULL ? options : &defaults;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    int iterations = 0;
    tpLcpForm form;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, true, arena);
    if (status == tp_solved) {
        LinearProblem problem = { &form, tpLarger(1.0, tpMaxAbs(lcp->q, lcp->n)) };
        tpNcp ncp = { .n = form.n,
                      .isFree = form.isFree,
                      .evaluate = evaluate,
                      .jacobian = jacobian,
                      .jacobianPattern =
                          tpSparseMatrix(form.n, form.n, form.M.starts, form.M.rows, form.M.values),
                      .context = &problem };
        double* scaled = TP_SCRATCH_ZEROED(arena, double, form.n);
        status = tp_solverOutOfMemory;
        if (scaled != NULL) {
            for (int i = 0; options->startFromZ && i < form.n; ++i) {
                scaled[i] = z[i] / (form.D[i] * form.unit);
            }
            status = tpNewton_Run(&ncp, options, judge, &problem, memory, scaled, &iterations);
            tpLcpForm_Unscale(&form, scaled, z);
        }
    }
    const char* name = options->function == tp_naturalMap ? "newton-natural" : "newton";
    status = tpLcp_Finish(lcp, name, status, tp_stalled, options->tolerance, iterations, start,
                          memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
