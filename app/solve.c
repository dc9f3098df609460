// tippe solve: a complementarity problem from a file.
//
// Reads, solves, judges with the residual function of the problem's kind, and reports. What is
// called solved here is called so by the judge: a solver's own opinion alone is not enough.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "output_file.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"
#include "tippe/problems.h"

enum { mostSolvers = 32 };

typedef struct SolveOptions {
    const char* file;
    const char* kind;
    const char* solver;
    double tolerance;
    const char* out;
    bool json, isWarm;
} SolveOptions;

// A solved (or not solved) problem.
typedef struct Solution {
    const tpProblem* problem;
    double* values; // z, or the impulses
    tpSolveReport report;
    double residual, plainResidual; // as judged here
    double seconds;                 // CPU
    int exitStatus;
    const char* status; // "solved", "not solved", "infeasible"
} Solution;

static const char notes[] =
    "Formats: plain LCPs (n s, M row by row, q, z), text files of Siconos (LCP, MLCP, friction in\n"
    "2D and 3D with W or with M and H; dense, block and sparse matrices), HDF5 files of FCLIB "
    "and\n"
    "of tippe run --dump. The format is recognised by its content.\n"
    "\n"
    "Residual of an LCP: max |min(z, M z + q)| / max(1, |q|). Residual of a friction problem: the\n"
    "scale-free natural map of Coulomb's law divided by |q|. The plain residuals are not divided.\n"
    "\n"
    "Exit status: 0 solved; 1 not solved (the best point found is written, its residual given);\n"
    "4 proved infeasible (nothing is written); 2 bad file or usage.\n";

// Reading the command line --------------------------------------------------------------------

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         SolveOptions* options) {
    static const char* const kinds[] = { "lcp", "mlcp", "fc2d", "fc3d", NULL };
    const tpArgument table[] = {
        { "kind", optionChoice, &options->kind, NULL,
          "what the file contains, if that is not clear from its content", kinds },
        { "solver", optionText, &options->solver, "NAME",
          "auto (the default: chooses and escalates) or a name of tippe list", NULL },
        { "tolerance", optionPositive, &options->tolerance, "X",
          "judged residual to reach, default 1e-8", NULL },
        { "out", optionText, &options->out, "FILE",
          "write the solution, a number per line: z, or the impulses N, T1[, T2] contact by "
          "contact",
          NULL },
        { "warm", optionFlag, &options->isWarm, NULL,
          "start from the impulses in the file (files of tippe run --dump have them)", NULL },
        { "json", optionFlag, &options->json, NULL,
          "print the result, with the solution, as one JSON object", NULL },
    };
    const tpOperand operands[] = { { "FILE", &options->file, true, "the problem", NULL } };
    const tpArgumentTable line = {
        "solve", "Solves a complementarity problem from a file", operands, 1,
        table,   (int)(sizeof(table) / sizeof(table[0])),        notes,
    };
    return parseArguments(&line, argumentCount, arguments);
}

static tpProblemKind findKind(const char* name) {
    for (tpProblemKind kind = tp_lcpProblem; name != NULL && kind <= tp_friction3dProblem; ++kind) {
        if (strcmp(tpProblemKind_Name(kind), name) == 0) {
            return kind;
        }
    }
    return tp_anyProblem;
}

static bool isFriction(const tpProblem* problem) {
    return problem->kind == tp_friction2dProblem || problem->kind == tp_friction3dProblem;
}

// Whether there is a solver of this name for this kind; says so if there is none.
static bool checkSolver(const tpProblem* problem, const char* name) {
    const char* names[mostSolvers + 1];
    int count;
    if (isFriction(problem)) {
        const tpFrictionSolver* solvers = tpFrictionSolvers(&count);
        for (int i = 0; i < count && i < mostSolvers; ++i) {
            names[i] = solvers[i].name;
        }
    } else {
        const tpLcpSolver* solvers = tpLcpSolvers(&count);
        for (int i = 0; i < count && i < mostSolvers; ++i) {
            names[i] = solvers[i].name;
        }
    }
    count = count < mostSolvers ? count : mostSolvers;
    names[count] = NULL;
    for (int i = 0; i < count; ++i) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    char what[40];
    snprintf(what, sizeof(what), "solver for %s", tpProblemKind_Name(problem->kind));
    complainOfName("solve", what, name, names);
    return false;
}

// Solving -------------------------------------------------------------------------------------

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void solveLcp(const SolveOptions* options, tpSolverMemory* memory, Solution* solution) {
    const tpProblem* problem = solution->problem;
    tpLcp lcp = {
        .n = problem->size, .M = problem->matrix, .q = problem->q, .isFree = problem->isFree
    };
    const tpLcpSolver* solver = tpLcpSolver_Find(options->solver);
    double start = cpuSeconds();
    solver->solve(&lcp, options->tolerance, memory, solution->values, &solution->report);
    solution->seconds = cpuSeconds() - start;
    solution->residual =
        tpLcp_Residual(&lcp, solution->values, NULL, memory, &solution->plainResidual);
}

static void solveGivenFriction(const SolveOptions* options, const tpFrictionProblem* friction,
                               tpSolverMemory* memory, double* u, Solution* solution) {
    const tpProblem* problem = solution->problem;
    if (options->isWarm && problem->start != NULL) {
        memcpy(solution->values, problem->start, sizeof(double) * (size_t)problem->size);
    }
    const tpFrictionSolver* solver = tpFrictionSolver_Find(options->solver);
    tpFrictionOptions frictionOptions = tpDefaultFrictionOptions();
    frictionOptions.tolerance = options->tolerance;
    double start = cpuSeconds();
    solver->solve(friction, &frictionOptions, memory, solution->values, u, &solution->report);
    solution->seconds += cpuSeconds() - start;
    tpFrictionResidual residual;
    if (tpFriction_Judge(friction, solution->values, u, memory, &residual)) {
        solution->residual = residual.natural;
        solution->plainResidual = residual.plain;
    }
}

static void solveLocalFriction(const SolveOptions* options, const tpMatrix* W, const double* q,
                               tpSolverMemory* memory, double* u, Solution* solution) {
    const tpProblem* problem = solution->problem;
    tpFrictionProblem friction = {
        .blockCount = problem->contactCount,
        .dimension = problem->dimension,
        .mu = problem->mu,
        .q = q,
        .W = W,
    };
    solveGivenFriction(options, &friction, memory, u, solution);
}

// False (with a message printed) where a global problem cannot be reduced.
static bool solveFriction(const SolveOptions* options, tpSolverMemory* memory, double* u,
                          Solution* solution) {
    const tpProblem* problem = solution->problem;
    if (problem->friction != NULL) {
        solveGivenFriction(options, problem->friction, memory, u, solution);
        return true;
    }
    if (!problem->isGlobal) {
        solveLocalFriction(options, &problem->matrix, problem->q, memory, u, solution);
        return true;
    }
    tpFrictionGlobal reduced;
    tpError error;
    double start = cpuSeconds();
    tpResult result = tpFriction_ReduceGlobal(&problem->matrix, &problem->H, problem->q, problem->b,
                                              NULL, &reduced, &error);
    solution->seconds = cpuSeconds() - start;
    if (result != tp_success) {
        fprintf(stderr, "tippe solve: %s: %s\n", options->file, error.message);
        return false;
    }
    solveLocalFriction(options, &reduced.W, reduced.q, memory, u, solution);
    tpFrictionGlobal_Destroy(&reduced);
    return true;
}

// The exit status follows the judge, and the solver only in what the judge cannot see.
static void concludeSolution(const SolveOptions* options, Solution* solution) {
    solution->exitStatus = exitNotSolved;
    solution->status = "not solved";
    if (solution->residual <= options->tolerance) {
        solution->exitStatus = exitDone;
        solution->status = "solved";
    } else if (solution->report.status == tp_infeasible) {
        solution->exitStatus = exitInfeasible;
        solution->status = "infeasible";
    }
}

static bool solveProblem(const SolveOptions* options, Solution* solution) {
    const tpProblem* problem = solution->problem;
    solution->residual = solution->plainResidual = INFINITY;
    solution->report.solver = "none";
    if (problem->size == 0) {
        solution->residual = solution->plainResidual = 0.0;
        concludeSolution(options, solution);
        return true;
    }
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    solution->values = calloc((size_t)problem->size, sizeof(double));
    double* u = calloc((size_t)problem->size, sizeof(double));
    bool done = false;
    if (memory == NULL || solution->values == NULL || u == NULL) {
        fprintf(stderr, "tippe solve: out of memory\n");
    } else if (isFriction(problem)) {
        done = solveFriction(options, memory, u, solution);
    } else {
        solveLcp(options, memory, solution);
        done = true;
    }
    free(u);
    tpDestroySolverMemory(memory);
    if (done) {
        concludeSolution(options, solution);
    }
    return done;
}

// Reporting -----------------------------------------------------------------------------------

static bool writeSolution(const char* path, const Solution* solution) {
    tpOutputFile output;
    if (!openOutput("solve", path, &output)) {
        return false;
    }
    for (int i = 0; i < solution->problem->size && checkOutput(&output); ++i) {
        fprintf(output.stream, "%.17g\n", solution->values[i]);
    }
    return commitOutput("solve", &output);
}

static int countKeptStages(const tpSolveReport* report) {
    return report->stageCount < TP_MAX_SOLVE_STAGES ? report->stageCount : TP_MAX_SOLVE_STAGES;
}

// What JSON has no number for is null.
static void printJsonNumber(const char* key, double value) {
    if (isfinite(value)) {
        printf(", \"%s\": %.17g", key, value);
    } else {
        printf(", \"%s\": null", key);
    }
}

static void printJsonString(const char* text) {
    putchar('"');
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < 32) {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

static void printJson(const SolveOptions* options, const Solution* solution) {
    const tpProblem* problem = solution->problem;
    const tpSolveReport* report = &solution->report;
    printf("{\"file\": ");
    printJsonString(options->file);
    printf(
        ", \"status\": \"%s\", \"reason\": \"%s\", \"kind\": \"%s\", \"global\": %s, \"size\": %d",
        solution->status, tpSolveStatus_Name(report->status), tpProblemKind_Name(problem->kind),
        problem->isGlobal ? "true" : "false", problem->size);
    if (isFriction(problem)) {
        printf(", \"contacts\": %d", problem->contactCount);
    }
    printf(", \"solver\": \"%s\", \"path\": [", report->solver);
    for (int i = 0; i < countKeptStages(report); ++i) {
        printf("%s\"%s\"", i == 0 ? "" : ", ", report->stages[i].solver);
    }
    printf("]");
    printJsonNumber("residual", solution->residual);
    printJsonNumber("residual_plain", solution->plainResidual);
    printJsonNumber("tolerance", options->tolerance);
    printJsonNumber("rounding", report->rounding);
    printJsonNumber("jam", report->jam);
    printf(", \"iterations\": %d", report->iterations);
    printJsonNumber("time", solution->seconds);
    printf(", \"stages\": [");
    for (int i = 0; i < countKeptStages(report); ++i) {
        const tpSolveStage* stage = &report->stages[i];
        printf("%s{\"solver\": \"%s\", \"status\": \"%s\", \"iterations\": %d", i == 0 ? "" : ", ",
               stage->solver, tpSolveStatus_Name(stage->status), stage->iterations);
        printJsonNumber("residual", stage->residual);
        printJsonNumber("time", stage->seconds);
        printf("}");
    }
    printf("], \"solution\": [");
    for (int i = 0; solution->exitStatus != exitInfeasible && i < problem->size; ++i) {
        printf("%s%.17g", i == 0 ? "" : ", ", solution->values[i]);
    }
    printf("]}\n");
}

static void printProblem(const SolveOptions* options, const tpProblem* problem) {
    printf("%s: ", options->file);
    if (isFriction(problem)) {
        printf("%dD friction, %d contacts%s\n", problem->dimension, problem->contactCount,
               problem->isGlobal ? ", global" : "");
        return;
    }
    int freeCount = 0;
    for (int i = 0; problem->isFree != NULL && i < problem->size; ++i) {
        freeCount += problem->isFree[i] ? 1 : 0;
    }
    if (problem->kind == tp_mixedLcpProblem) {
        printf("mixed LCP, %d free and %d complementary variables\n", freeCount,
               problem->size - freeCount);
    } else {
        printf("LCP, %d variables\n", problem->size);
    }
}

static void printSummary(const SolveOptions* options, const Solution* solution) {
    const tpSolveReport* report = &solution->report;
    printProblem(options, solution->problem);
    if (solution->exitStatus == exitDone) {
        printf("solved by %s", report->solver);
    } else if (solution->exitStatus == exitInfeasible) {
        printf("infeasible: no point satisfies the inequalities, proved by %s", report->solver);
    } else {
        printf("NOT SOLVED (%s), best point by %s", tpSolveStatus_Name(report->status),
               report->solver);
    }
    printf("\n\n  residual    %.3g  (tolerance %g)\n  plain       %.3g\n  iterations  %d\n"
           "  time        %.3g s of CPU\n",
           solution->residual, options->tolerance, solution->plainResidual, report->iterations,
           solution->seconds);
    if (report->rounding > 0.0) {
        printf("  rounding    %.3g  (the data allow no smaller residual)\n", report->rounding);
    }
    if (report->jam > 0.0) {
        printf("  jam         %.3g  (impulses that balance each other allow no smaller residual)\n",
               report->jam);
    }
    if (report->stageCount > 0) {
        printf("\n  %-24s %-20s %10s %11s %10s\n", "stage", "ended", "residual", "iterations",
               "seconds");
    }
    for (int i = 0; i < countKeptStages(report); ++i) {
        const tpSolveStage* stage = &report->stages[i];
        printf("  %-24s %-20s %10.2e %11d %10.2e\n", stage->solver,
               tpSolveStatus_Name(stage->status), stage->residual, stage->iterations,
               stage->seconds);
    }
    if (report->stageCount > TP_MAX_SOLVE_STAGES) {
        printf("  and %d more\n", report->stageCount - TP_MAX_SOLVE_STAGES);
    }
    if (options->out != NULL && solution->exitStatus != exitInfeasible) {
        printf("\nwrote %s\n", options->out);
    }
}

static int solveAndReport(const SolveOptions* options, const tpProblem* problem) {
    Solution solution = { .problem = problem };
    int status = exitCouldNotGoOn;
    if (solveProblem(options, &solution)) {
        status = solution.exitStatus;
        if (options->out != NULL && status != exitInfeasible &&
            !writeSolution(options->out, &solution)) {
            status = exitCouldNotGoOn;
        } else if (options->json) {
            printJson(options, &solution);
        } else if (options->out == NULL || !isStandardOutput(options->out)) {
            printSummary(options, &solution);
        }
    }
    free(solution.values);
    return status;
}

int runSolve(int argumentCount, char** arguments) {
    SolveOptions options = { .solver = "auto", .tolerance = 1e-8 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpProblem* problem;
    tpError error;
    tpResult result = tpReadProblem(options.file, findKind(options.kind), NULL, &problem, &error);
    if (result != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        return result == tp_outOfMemory ? exitCouldNotGoOn : exitBadInput;
    }
    tpCommandFiles files = startFiles("solve");
    addOutput(&files, "--out", options.out);
    addOutput(&files, "--json", options.json ? "-" : NULL);
    addInput(&files, "the problem", options.file);
    int status = exitBadInput;
    if (checkSolver(problem, options.solver) && canWriteFiles(&files)) {
        status = solveAndReport(&options, problem);
    }
    tpDestroyProblem(problem);
    return status;
}
