// Nonlinear complementarity: the judge, Newton on callbacks, and Josephy-Newton with Lemke inside.
//
// Josephy's method [Josephy79] solves at each point z_k the linear problem
//     F(z_k) + F'(z_k) (z - z_k)  complementary to  z - l,
// by Lemke's method started from the last basis. It gets past points where the merit of the
// semismooth method has a local minimum. A step is taken as far along as |min(z - l, F)| falls; the
// bound is lifted now and then, since a step that raises it may lead on.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_form.h"
#include "complementarity/newton.h"

tpNcpOptions tpDefaultNcpOptions(void) {
    tpNcpOptions options = { .tolerance = 1e-8, .iterationLimit = 100 };
    return options;
}

double tpNcp_Residual(const tpNcp* ncp, const double* z, const double* F, double scale,
                      double* plain) {
    TP_NEED(ncp, 0.0);
    double worst = 0.0;
    bool isFinite = true;
    for (int i = 0; i < ncp->n; ++i) {
        bool isFree = ncp->isFree != NULL && ncp->isFree[i];
        double distance = z[i] - (ncp->lower != NULL ? ncp->lower[i] : 0.0);
        double error = isFree || F[i] < distance ? F[i] : distance;
        worst = tpLarger(fabs(error), worst);
        isFinite = isFinite && isfinite(z[i]) && isfinite(F[i]);
    }
    worst = isFinite ? worst : HUGE_VAL;
    if (plain != NULL) {
        *plain = worst;
    }
    return worst / scale;
}

// The scale of the residual, fixed at the start of a solve.
typedef struct Judged {
    const tpNcp* ncp;
    double scale;
} Judged;

static double judge(const double* z, const double* F, void* context) {
    const Judged* judged = context;
    return tpNcp_Residual(judged->ncp, z, F, judged->scale, NULL);
}

static bool startJudging(const tpNcp* ncp, const double* z, tpArena* arena, Judged* judged) {
    double* F = TP_SCRATCH(arena, double, ncp->n);
    judged->ncp = ncp;
    judged->scale = ncp->scale;
    if (F == NULL) {
        return false;
    }
    if (!(ncp->scale > 0.0)) {
        bool isDefined = ncp->evaluate(z, F, ncp->context);
        judged->scale = isDefined ? tpLarger(1.0, tpMaxAbs(F, ncp->n)) : 1.0;
    }
    return true;
}

// Judges the point of a stage and writes its report.
static tpSolveStatus finish(const Judged* judged, const char* solver, tpSolveStatus status,
                            double tolerance, int iterations, double start, tpArena* arena,
                            const double* z, tpSolveReport* report) {
    const tpNcp* ncp = judged->ncp;
    double plain = HUGE_VAL;
    double residual = HUGE_VAL;
    double* F = TP_SCRATCH(arena, double, ncp->n);
    if (F != NULL && ncp->evaluate(z, F, ncp->context)) {
        residual = tpNcp_Residual(ncp, z, F, judged->scale, &plain);
    }
    if (residual <= tolerance) {
        status = tp_solved;
    } else if (status == tp_solved) {
        status = tp_stalled;
    }
    tpSolveStage stage = { solver, status, residual, iterations, tpCpuSeconds() - start };
    tpSolveReport_SetOnly(report, &stage, plain);
    return status;
}

static tpSolveStatus runNewton(const Judged* judged, const tpNewtonOptions* options,
                               tpSolverMemory* memory, double* z, tpSolveReport* report) {
    tpArena* arena = &memory->arena;
    double start = tpCpuSeconds();
    int iterations = 0;
    tpArenaMark mark = tpArena_Mark(arena);
    tpSolveStatus status =
        tpNewton_Run(judged->ncp, options, judge, (void*)judged, memory, z, &iterations);
    const char* name = options->function == tp_naturalMap ? "newton-natural" : "newton";
    status = finish(judged, name, status, options->tolerance, iterations, start, arena, z, report);
    tpArena_Release(arena, mark);
    return status;
}

tpSolveStatus tpNcp_SolveNewton(const tpNcp* ncp, const tpNewtonOptions* options,
                                tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(ncp, (tpSolveStatus){ 0 });
    tpNewtonOptions defaults = tpDefaultNewtonOptions();
    tpSolveReport own;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    Judged judged;
    tpSolveStatus status = tp_solverOutOfMemory;
    report = report != NULL ? report : &own;
    tpSolveReport_Start(report);
    report->status = status;
    if (startJudging(ncp, z, &memory->arena, &judged)) {
        status = runNewton(&judged, options != NULL ? options : &defaults, memory, z, report);
    }
    tpSolverMemory_End(memory, mark);
    return status;
}

// Josephy-Newton ------------------------------------------------------------------------------

typedef struct Linearised {
    double* F;
    double* q;
    double* solution;
    double* trial;
    double* trialF;
    double* values;
    unsigned char* basis;
} Linearised;

static bool createLinearised(Linearised* linear, const tpNcp* ncp, tpArena* arena) {
    int n = ncp->n;
    const tpMatrix* pattern = &ncp->jacobianPattern;
    size_t entries = pattern->columnStarts != NULL ? (size_t)pattern->columnStarts[n]
                                                   : (size_t)n * (size_t)pattern->leading;
    linear->F = TP_SCRATCH(arena, double, n);
    linear->q = TP_SCRATCH(arena, double, n);
    linear->solution = TP_SCRATCH_ZEROED(arena, double, n);
    linear->trial = TP_SCRATCH(arena, double, n);
    linear->trialF = TP_SCRATCH(arena, double, n);
    linear->values = TP_SCRATCH_ZEROED(arena, double, entries);
    linear->basis = TP_SCRATCH_ZEROED(arena, unsigned char, n);
    return !arena->failed;
}

// Solves the problem linearised at z; the solution is z - l of the next point.
static bool solveLinearised(Linearised* linear, const tpNcp* ncp, bool isWarm,
                            tpSolverMemory* memory, const double* z) {
    tpMatrix J = ncp->jacobianPattern;
    J.values = linear->values;
    if (!ncp->jacobian(z, linear->values, ncp->context)) {
        return false;
    }
    for (int i = 0; i < ncp->n; ++i) {
        linear->trial[i] = (ncp->lower != NULL ? ncp->lower[i] : 0.0) - z[i];
    }
    tpMatrix_Multiply(&J, linear->trial, linear->F, linear->q);
    tpLcp lcp = { .n = ncp->n, .M = J, .q = linear->q, .isFree = ncp->isFree };
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.startBasis = isWarm ? linear->basis : NULL;
    options.endBasis = linear->basis;
    options.tolerance = 1e-10;
    return tpLcp_SolveLemke(&lcp, &options, memory, linear->solution, NULL) == tp_solved;
}

static tpSolveStatus iterateJosephy(const Judged* judged, const tpNcpOptions* options,
                                    Linearised* linear, tpSolverMemory* memory, double* z,
                                    int* iterations) {
    const tpNcp* ncp = judged->ncp;
    size_t size = sizeof(double) * (size_t)ncp->n;
    if (!ncp->evaluate(z, linear->F, ncp->context)) {
        return tp_numericalTrouble;
    }
    double residual = judge(z, linear->F, (void*)judged);
    for (; *iterations < options->iterationLimit && residual > options->tolerance; ++*iterations) {
        if (!solveLinearised(linear, ncp, *iterations > 0, memory, z)) {
            return tp_stalled;
        }
        // Every fifth step may raise the residual, to leave the neighbourhood of a bad point.
        double bound = *iterations % 5 == 4 ? 100.0 * residual : residual;
        bool isTaken = false;
        for (double t = 1.0; t > 1e-6 && !isTaken; t *= 0.5) {
            for (int i = 0; i < ncp->n; ++i) {
                double lower = ncp->lower != NULL ? ncp->lower[i] : 0.0;
                linear->trial[i] = z[i] + t * (lower + linear->solution[i] - z[i]);
            }
            if (ncp->evaluate(linear->trial, linear->trialF, ncp->context)) {
                double next = judge(linear->trial, linear->trialF, (void*)judged);
                isTaken = next < (1.0 - 1e-4 * t) * bound;
                residual = isTaken ? next : residual;
            }
        }
        if (!isTaken) {
            return tp_stalled;
        }
        memcpy(z, linear->trial, size);
        memcpy(linear->F, linear->trialF, size);
    }
    return residual <= options->tolerance ? tp_solved : tp_iterationLimit;
}

static tpSolveStatus runJosephy(const Judged* judged, const tpNcpOptions* options,
                                tpSolverMemory* memory, double* z, tpSolveReport* report) {
    double start = tpCpuSeconds();
    int iterations = 0;
    tpArenaMark mark = tpArena_Mark(&memory->arena);
    Linearised linear;
    tpSolveStatus status = tp_solverOutOfMemory;
    if (createLinearised(&linear, judged->ncp, &memory->arena)) {
        status = iterateJosephy(judged, options, &linear, memory, z, &iterations);
    }
    status = finish(judged, "josephy-newton", status, options->tolerance, iterations, start,
                    &memory->arena, z, report);
    tpArena_Release(&memory->arena, mark);
    return status;
}

// Portfolio -----------------------------------------------------------------------------------

// Keeps the point of a stage where it is the best so far.
static bool keep(tpSolveReport* report, const tpSolveReport* stage, const double* candidate, int n,
                 double* z) {
    tpSolveReport_AddStage(report, &stage->stages[0]);
    if (stage->residual < report->residual) {
        memcpy(z, candidate, sizeof(double) * (size_t)n);
        report->status = stage->status;
        report->solver = stage->solver;
        report->residual = stage->residual;
        report->plainResidual = stage->plainResidual;
    }
    return stage->status == tp_solved;
}

static void runStages(const Judged* judged, const tpNcpOptions* options, tpSolverMemory* memory,
                      const double* start, double* candidate, double* z, tpSolveReport* report) {
    int n = judged->ncp->n;
    size_t size = sizeof(double) * (size_t)n;
    tpSolveReport stage;
    tpNewtonOptions newton = tpDefaultNewtonOptions();
    newton.tolerance = options->tolerance;
    newton.iterationLimit = options->iterationLimit;
    for (int k = 0; k < 2; ++k) {
        newton.function = k == 0 ? tp_naturalMap : tp_fischerBurmeister;
        memcpy(candidate, start, size);
        runNewton(judged, &newton, memory, candidate, &stage);
        if (keep(report, &stage, candidate, n, z)) {
            return;
        }
    }
    // Josephy-Newton from the start, then from the best point.
    for (int k = 0; k < 2; ++k) {
        memcpy(candidate, k == 0 ? start : z, size);
        runJosephy(judged, options, memory, candidate, &stage);
        if (keep(report, &stage, candidate, n, z)) {
            return;
        }
    }
    memcpy(candidate, z, size);
    runNewton(judged, &newton, memory, candidate, &stage);
    keep(report, &stage, candidate, n, z);
}

tpSolveStatus tpNcp_Solve(const tpNcp* ncp, const tpNcpOptions* options, tpSolverMemory* memory,
                          double* z, tpSolveReport* report) {
    TP_NEED(ncp, (tpSolveStatus){ 0 });
    tpNcpOptions defaults = tpDefaultNcpOptions();
    tpSolveReport own;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    double* start = TP_SCRATCH(arena, double, ncp->n);
    double* candidate = TP_SCRATCH(arena, double, ncp->n);
    Judged judged;
    report = report != NULL ? report : &own;
    tpSolveReport_Start(report);
    report->status = tp_solverOutOfMemory;
    if (start != NULL && candidate != NULL && startJudging(ncp, z, arena, &judged)) {
        report->status = tp_numericalTrouble;
        memcpy(start, z, sizeof(double) * (size_t)ncp->n);
        runStages(&judged, options != NULL ? options : &defaults, memory, start, candidate, z,
                  report);
    }
    tpSolveStatus status = report->status;
    tpSolverMemory_End(memory, mark);
    return status;
}
