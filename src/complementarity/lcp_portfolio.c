// The table of LCP solvers and the portfolio that chooses among them.
//
// Order: what is cheap when it works first, what proves there is no solution before what searches
// long. Each stage starts from the problem, not from the last stage's troubles, but for Lemke from
// the best point's basis. The best point by the judge is kept, and only the judge says "solved".
// Limits go by counted work, never by the clock, so that runs repeat.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_form.h"
#include "math/elementary.h"

typedef struct Portfolio {
    const tpLcp* lcp;
    const tpLcpOptions* options;
    tpSolverMemory* memory;
    tpSolveReport* report;
    double* best;
    double* candidate;
    double* covering;
    unsigned char* basis;
} Portfolio;

tpLcpOptions tpDefaultLcpOptions(void) {
    tpLcpOptions options = { .tolerance = 1e-8, .workLimit = 6e10 };
    return options;
}

// Keeps the stage, and its point where it is the best so far. True: solved.
static bool keep(Portfolio* portfolio, const tpSolveReport* stage) {
    tpSolveReport* report = portfolio->report;
    tpSolveReport_AddStage(report, &stage->stages[0]);
    if (stage->residual < report->residual) {
        memcpy(portfolio->best, portfolio->candidate, sizeof(double) * (size_t)portfolio->lcp->n);
        report->residual = stage->residual;
        report->plainResidual = stage->plainResidual;
        report->solver = stage->solver;
        report->status = stage->status;
    }
    return stage->status == tp_solved;
}

static bool isSpent(const Portfolio* portfolio) {
    return tpSolverMemory_IsSpent(portfolio->memory);
}

static bool tryLemke(Portfolio* portfolio, const unsigned char* startBasis, const double* covering,
                     int pivotLimit) {
    tpSolveReport stage;
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.tolerance = portfolio->options->tolerance;
    options.pivotLimit = pivotLimit;
    options.startBasis = startBasis;
    options.covering = covering;
    options.endBasis = portfolio->basis;
    tpLcp_SolveLemke(portfolio->lcp, &options, portfolio->memory, portfolio->candidate, &stage);
    return keep(portfolio, &stage);
}

static bool tryNewton(Portfolio* portfolio, tpNewtonFunction function, double startValue) {
    tpSolveReport stage;
    tpNewtonOptions options = tpDefaultNewtonOptions();
    options.tolerance = portfolio->options->tolerance;
    options.function = function;
    options.iterationLimit = function == tp_naturalMap ? 50 : 150;
    options.startFromZ = true;
    for (int i = 0; i < portfolio->lcp->n; ++i) {
        portfolio->candidate[i] = startValue;
    }
    tpLcp_SolveNewton(portfolio->lcp, &options, portfolio->memory, portfolio->candidate, &stage);
    return keep(portfolio, &stage);
}

static bool tryPrincipalPivoting(Portfolio* portfolio) {
    tpSolveReport stage;
    tpPrincipalPivotingOptions options = tpDefaultPrincipalPivotingOptions();
    options.tolerance = portfolio->options->tolerance;
    options.pivotLimit = 200;
    tpLcp_SolvePrincipalPivoting(portfolio->lcp, &options, portfolio->memory, portfolio->candidate,
                                 &stage);
    return keep(portfolio, &stage);
}

static bool tryLagged(Portfolio* portfolio) {
    tpSolveReport stage;
    tpLaggedOptions options = tpDefaultLaggedOptions();
    options.tolerance = portfolio->options->tolerance;
    options.iterationLimit = 40;
    tpSolveStatus status = tpLcp_SolveLagged(portfolio->lcp, &options, portfolio->memory,
                                             portfolio->candidate, &stage);
    return status != tp_notApplicable && keep(portfolio, &stage);
}

static bool tryEnumeration(Portfolio* portfolio) {
    tpSolveReport stage;
    tpEnumerationOptions options = tpDefaultEnumerationOptions();
    options.tolerance = portfolio->options->tolerance;
    tpLcp_SolveEnumeration(portfolio->lcp, &options, portfolio->memory, portfolio->candidate,
                           &stage);
    return keep(portfolio, &stage);
}

// The basis of the best point: z_i is basic where it outweighs w_i.
static void readBestBasis(Portfolio* portfolio) {
    const tpLcp* lcp = portfolio->lcp;
    double* w = portfolio->candidate;
    tpMatrix_Multiply(&lcp->M, portfolio->best, lcp->q, w);
    for (int i = 0; i < lcp->n; ++i) {
        portfolio->basis[i] = portfolio->best[i] > w[i] ? tp_zBasic : tp_wBasic;
    }
}

static bool proveInfeasible(Portfolio* portfolio) {
    double start = tpCpuSeconds();
    int pivots;
    tpSolveStatus status =
        tpLcp_ProveInfeasible(portfolio->lcp, portfolio->memory, portfolio->candidate, &pivots);
    tpSolveStage stage = { "infeasibility", status, HUGE_VAL, pivots, tpCpuSeconds() - start };
    tpSolveReport_AddStage(portfolio->report, &stage);
    if (status == tp_infeasible) {
        portfolio->report->status = tp_infeasible;
        portfolio->report->solver = "infeasibility";
    }
    return status == tp_infeasible;
}

// Coverings by a fixed sequence, over three orders of magnitude.
static void fillCovering(Portfolio* portfolio, int round) {
    uint64_t state = 0x5DEECE66Du + (uint64_t)round;
    for (int i = 0; i < portfolio->lcp->n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        portfolio->covering[i] = tpPow(10.0, -3.0 * (double)(state >> 11) * 0x1p-53);
    }
}

static void runStages(Portfolio* portfolio) {
    int n = portfolio->lcp->n;
    const unsigned char* start = portfolio->options->startBasis;
    if (tryLemke(portfolio, start, NULL, 4 * n + 200) || isSpent(portfolio) ||
        tryLagged(portfolio) || isSpent(portfolio) || tryNewton(portfolio, tp_naturalMap, 0.0) ||
        isSpent(portfolio) || tryPrincipalPivoting(portfolio) || isSpent(portfolio) ||
        proveInfeasible(portfolio) || isSpent(portfolio) ||
        tryNewton(portfolio, tp_fischerBurmeister, 0.0) || isSpent(portfolio)) {
        return;
    }
    readBestBasis(portfolio);
    if (tryLemke(portfolio, portfolio->basis, NULL, 8 * n + 200)) {
        return;
    }
    for (int round = 0; round < 4 && !isSpent(portfolio); ++round) {
        fillCovering(portfolio, round);
        if (tryLemke(portfolio, NULL, portfolio->covering, 20 * n + 500) ||
            tryNewton(portfolio, tp_fischerBurmeister, tpPow(10.0, round - 1.0))) {
            return;
        }
    }
    if (!isSpent(portfolio)) {
        tryEnumeration(portfolio);
    }
}

tpSolveStatus tpLcp_Solve(const tpLcp* lcp, const tpLcpOptions* options, tpSolverMemory* memory,
                          double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    tpLcpOptions defaults = tpDefaultLcpOptions();
    tpSolveReport ownReport;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    Portfolio portfolio = { .lcp = lcp,
                            .options = options != NULL ? options : &defaults,
                            .memory = memory,
                            .report = report != NULL ? report : &ownReport,
                            .best = z,
                            .candidate = TP_SCRATCH_ZEROED(arena, double, lcp->n),
                            .covering = TP_SCRATCH(arena, double, lcp->n),
                            .basis = TP_SCRATCH_ZEROED(arena, unsigned char, lcp->n) };
    // A portfolio inside another solve has what is left of its work.
    double outerWork = memory->work, outerLimit = memory->workLimit;
    memory->work = 0.0;
    memory->workLimit = fmin(portfolio.options->workLimit, outerLimit - outerWork);
    tpSolveReport_Start(portfolio.report);
    tpLcpForm form;
    tpSolveStatus soundness =
        arena->failed ? tp_solverOutOfMemory : tpLcpForm_Create(&form, lcp, false, arena);
    memset(z, 0, sizeof(double) * (size_t)lcp->n);
    if (soundness == tp_solved) {
        runStages(&portfolio);
        if (portfolio.options->endBasis != NULL) {
            if (strcmp(portfolio.report->solver, "lemke") != 0) {
                readBestBasis(&portfolio);
            }
            memcpy(portfolio.options->endBasis, portfolio.basis, (size_t)lcp->n);
        }
    } else {
        portfolio.report->status = soundness;
    }
    tpSolveStatus status = portfolio.report->status;
    portfolio.report->work = memory->work;
    memory->work += outerWork;
    memory->workLimit = outerLimit;
    tpSolverMemory_End(memory, mark);
    return status;
}

// Table ---------------------------------------------------------------------------------------

static tpSolveStatus solveAuto(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                               double* z, tpSolveReport* report) {
    tpLcpOptions options = tpDefaultLcpOptions();
    options.tolerance = tolerance;
    return tpLcp_Solve(lcp, &options, memory, z, report);
}

static tpSolveStatus solveLemke(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                double* z, tpSolveReport* report) {
    tpLemkeOptions options = tpDefaultLemkeOptions();
    options.tolerance = tolerance;
    return tpLcp_SolveLemke(lcp, &options, memory, z, report);
}

static tpSolveStatus solveLemkeTableau(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                       double* z, tpSolveReport* report) {
    tpLemkeTableauOptions options = tpDefaultLemkeTableauOptions();
    options.tolerance = tolerance;
    return tpLcp_SolveLemkeTableau(lcp, &options, memory, z, report);
}

static tpSolveStatus solvePrincipalPivoting(const tpLcp* lcp, double tolerance,
                                            tpSolverMemory* memory, double* z,
                                            tpSolveReport* report) {
    tpPrincipalPivotingOptions options = tpDefaultPrincipalPivotingOptions();
    options.tolerance = tolerance;
    return tpLcp_SolvePrincipalPivoting(lcp, &options, memory, z, report);
}

static tpSolveStatus solveNewton(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                 double* z, tpSolveReport* report) {
    tpNewtonOptions options = tpDefaultNewtonOptions();
    options.tolerance = tolerance;
    return tpLcp_SolveNewton(lcp, &options, memory, z, report);
}

static tpSolveStatus solveNewtonNatural(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                        double* z, tpSolveReport* report) {
    tpNewtonOptions options = tpDefaultNewtonOptions();
    options.tolerance = tolerance;
    options.function = tp_naturalMap;
    return tpLcp_SolveNewton(lcp, &options, memory, z, report);
}

static tpSolveStatus solveLagged(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                 double* z, tpSolveReport* report) {
    tpLaggedOptions options = tpDefaultLaggedOptions();
    options.tolerance = tolerance;
    return tpLcp_SolveLagged(lcp, &options, memory, z, report);
}

static tpSolveStatus solveEnumeration(const tpLcp* lcp, double tolerance, tpSolverMemory* memory,
                                      double* z, tpSolveReport* report) {
    tpEnumerationOptions options = tpDefaultEnumerationOptions();
    options.tolerance = tolerance;
    return tpLcp_SolveEnumeration(lcp, &options, memory, z, report);
}

static const tpLcpSolver table[] = {
    { "auto", "portfolio: chooses, escalates, proves infeasibility", solveAuto },
    { "lemke", "revised Lemke, sparse factors, warm starts", solveLemke },
    { "lemke-tableau", "Lemke with an explicit tableau and the lexicographic rule",
      solveLemkeTableau },
    { "lagged", "contact problems as a sequence of monotone ones", solveLagged },
    { "newton", "semismooth Newton on the Fischer-Burmeister function", solveNewton },
    { "newton-natural", "semismooth Newton on the natural map", solveNewtonNatural },
    { "principal-pivoting", "block principal pivoting, for P matrices", solvePrincipalPivoting },
    { "enumeration", "all complementary bases of a small problem", solveEnumeration },
};

const tpLcpSolver* tpLcpSolvers(int* count) {
    TP_NEED(count, NULL);
    *count = (int)(sizeof(table) / sizeof(table[0]));
    return table;
}

const tpLcpSolver* tpLcpSolver_Find(const char* name) {
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (size_t k = 0; isGiven && k < sizeof(table) / sizeof(table[0]); ++k) {
        if (strcmp(table[k].name, name) == 0) {
            return &table[k];
        }
    }
    return NULL;
}
