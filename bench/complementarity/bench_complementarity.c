// Tippe's portfolios and single solvers against Siconos, problem by problem.
//
//     bench_complementarity OUT.csv OUT.md FILE...
//
// Every solve runs in a process of its own with a limit on its CPU time: a solver that crashes,
// prints or never ends costs nothing but its own row. What it leaves is judged by Tippe's residual
// functions, the same for all. Repeats are interleaved: all solvers of a problem once, then all
// again; the CSV keeps minimum and median of the CPU times of the solve alone. Short solves are
// done several times in their process and the quickest counts, so that first touches of memory do
// not. Siconos stops by residuals of its own, so it is given the loosest tolerance of a ladder with
// which its answer passes the judge, and the time of that run counts.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"

enum { mostRepeats = 9, warmRepeats = 5 };

static const double warmSeconds =
    0.02; // of CPU, after which a solve is not repeated in its process

static const double judgedTolerance = 1e-8;
static const double ladder[] = { 1e-8, 1e-10, 1e-12, 1e-14 };
static const int ladderLength = sizeof(ladder) / sizeof(ladder[0]);

// A problem, read by both, and what judges it.
typedef struct Subject {
    const char* path;
    const char* name;
    tpProblem* problem;
    tpFrictionGlobal reduced; // of global friction problems
    tpFrictionProblem friction;
    tpLcp lcp;
    Opponent* opponent;
} Subject;

// What a child process leaves in shared memory; the solution follows.
typedef struct Outcome {
    bool finished;
    bool isInfeasible; // said so, with a proof
    double seconds;
    char path[128]; // the stages of a portfolio
} Outcome;

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool isFriction(const Subject* subject) {
    return subject->problem->contactCount > 0;
}

// One solve -----------------------------------------------------------------------------------

static void notePath(const tpSolveReport* report, char* text, size_t size) {
    int used = 0;
    text[0] = '\0';
    for (int i = 0; i < report->stageCount && i < TP_MAX_SOLVE_STAGES && used < (int)size; ++i) {
        used += snprintf(text + used, size - (size_t)used, "%s%s", i == 0 ? "" : ">",
                         report->stages[i].solver);
    }
}

static void runOurs(const Subject* subject, const char* solver, double* z, Outcome* outcome) {
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    tpSolveReport report = { 0 };
    double start;
    if (isFriction(subject)) {
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = judgedTolerance;
        start = cpuSeconds();
        tpFrictionSolver_Find(solver)->solve(&subject->friction, &options, memory, z, NULL,
                                             &report);
    } else {
        start = cpuSeconds();
        tpLcpSolver_Find(solver)->solve(&subject->lcp, judgedTolerance, memory, z, &report);
    }
    outcome->seconds = cpuSeconds() - start;
    outcome->isInfeasible = report.status == tp_infeasible;
    notePath(&report, outcome->path, sizeof(outcome->path));
    tpDestroySolverMemory(memory);
}

// Solves in a child process; false if it crashed or ran out of time.
static bool solveApart(const Subject* subject, const char* ours, const OpponentSolver* theirs,
                       double tolerance, double timeLimit, Outcome* outcome, double* z) {
    fflush(NULL);
    memset(outcome, 0, sizeof(*outcome));
    memset(z, 0, sizeof(double) * (size_t)subject->problem->size);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = { (rlim_t)ceil(timeLimit), (rlim_t)ceil(timeLimit) };
        setrlimit(RLIMIT_CPU, &limit);
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        if (freopen("/dev/null", "w", stdout) == NULL ||
            freopen("/dev/null", "w", stderr) == NULL) {
            _exit(1);
        }
        double best = INFINITY, spent = 0.0;
        for (int i = 0; i < warmRepeats && (i == 0 || spent < warmSeconds); ++i) {
            memset(z, 0, sizeof(double) * (size_t)subject->problem->size);
            if (ours != NULL) {
                runOurs(subject, ours, z, outcome);
            } else {
                runOpponent(subject->opponent, theirs, tolerance, z, &outcome->seconds);
            }
            spent += outcome->seconds;
            best = fmin(best, outcome->seconds);
        }
        outcome->seconds = best;
        outcome->finished = true;
        _exit(0);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && outcome->finished;
}

static void judge(const Subject* subject, const double* z, Row* row) {
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    row->residual = row->plainResidual = INFINITY;
    if (isFriction(subject)) {
        tpFrictionResidual residual;
        double* u = calloc((size_t)subject->problem->size, sizeof(double));
        if (u != NULL && tpFriction_Judge(&subject->friction, z, u, memory, &residual)) {
            row->residual = residual.natural;
            row->plainResidual = residual.plain;
        }
        free(u);
    } else {
        row->residual = tpLcp_Residual(&subject->lcp, z, NULL, memory, &row->plainResidual);
    }
    tpDestroySolverMemory(memory);
}

// One problem ---------------------------------------------------------------------------------

// Solves once and keeps the time; the first time also finds the rung of the ladder and the
// residual.
static void runRow(const Subject* subject, const OpponentSolver* theirs, double timeLimit,
                   Outcome* outcome, double* z, Row* row) {
    if (row->repeatCount > 0 && !row->isSolved && !row->isInfeasible) {
        return; // it will not do better the second time
    }
    bool isFirst = row->repeatCount == 0;
    int rungCount = theirs != NULL && isFirst ? ladderLength : 1;
    for (int rung = 0; rung < rungCount; ++rung) {
        double tolerance = isFirst ? ladder[rung] : row->tolerance;
        bool finished = solveApart(subject, theirs == NULL ? row->solver : NULL, theirs, tolerance,
                                   timeLimit, outcome, z);
        if (isFirst) {
            Row attempt = *row;
            judge(subject, z, &attempt);
            bool isBetter = finished && !(attempt.residual >= row->residual);
            if (rung == 0 || isBetter) {
                row->residual = finished ? attempt.residual : INFINITY;
                row->plainResidual = finished ? attempt.plainResidual : INFINITY;
                row->tolerance = tolerance;
                row->seconds[0] = finished ? outcome->seconds : timeLimit;
                row->isInfeasible = finished && outcome->isInfeasible;
                strcpy(row->path, outcome->path);
            }
            row->isSolved = row->residual <= judgedTolerance;
            if (row->isSolved || !finished) {
                break;
            }
        } else if (finished) {
            row->seconds[row->repeatCount] = outcome->seconds;
        } else {
            row->seconds[row->repeatCount] = timeLimit;
        }
    }
    ++row->repeatCount;
}

static bool openSubject(const char* path, Subject* subject) {
    memset(subject, 0, sizeof(*subject));
    subject->path = path;
    const char* slash = strrchr(path, '/');
    subject->name = slash != NULL ? slash + 1 : path;
    tpError error;
    if (tpReadProblem(path, tp_anyProblem, NULL, &subject->problem, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    tpProblem* problem = subject->problem;
    subject->lcp = (tpLcp){
        .n = problem->size, .M = problem->matrix, .q = problem->q, .isFree = problem->isFree
    };
    subject->friction = (tpFrictionProblem){ .blockCount = problem->contactCount,
                                             .dimension = problem->dimension,
                                             .mu = problem->mu,
                                             .q = problem->q,
                                             .W = &problem->matrix };
    if (problem->isGlobal) {
        if (tpFriction_ReduceGlobal(&problem->matrix, &problem->H, problem->q, problem->b, NULL,
                                    &subject->reduced, &error) != tp_success) {
            fprintf(stderr, "%s: %s\n", path, error.message);
            return false;
        }
        subject->friction.W = &subject->reduced.W;
        subject->friction.q = subject->reduced.q;
    }
    // Siconos reads its own files as they are; the others are written down in its format first.
    char copy[] = "/tmp/tippe_bench_XXXXXX.dat";
    bool isTheirs = strstr(path, ".dat") != NULL && !problem->isGlobal;
    if (!isTheirs && !writeForOpponent(copy, problem, &subject->friction)) {
        return false;
    }
    subject->opponent = readOpponent(isTheirs ? path : copy, problem->kind);
    if (!isTheirs) {
        unlink(copy);
    }
    return subject->opponent != NULL;
}

// Tippe's single solvers: Lemke's method beside Siconos' one, or all of them.
static void startOwnRows(const Subject* subject, Table* table) {
    bool all = getenv("TIPPE_BENCH_ALL") != NULL;
    int count;
    if (isFriction(subject)) {
        const tpFrictionSolver* solvers = tpFrictionSolvers(&count);
        for (int i = 1; all && i < count; ++i) {
            startRow(table, subject->name, subject->problem, "tippe", solvers[i].name);
        }
        return;
    }
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int i = 1; i < count; ++i) {
        if (all || strcmp(solvers[i].name, "lemke") == 0) {
            startRow(table, subject->name, subject->problem, "tippe", solvers[i].name);
        }
    }
}

static void benchSubject(const Subject* subject, int repeats, double timeLimit, Table* table) {
    int size = subject->problem->size;
    size_t bytes = sizeof(Outcome) + sizeof(double) * (size_t)size;
    Outcome* outcome = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    double* z = (double*)(outcome + 1);
    int first = table->count;
    const OpponentSolver* theirs[64] = { NULL };
    startRow(table, subject->name, subject->problem, "tippe", "auto");
    startOwnRows(subject, table);
    for (int i = 0; i < opponentSolverCount; ++i) {
        const OpponentSolver* solver = &opponentSolvers[i];
        if (solver->kind == subject->problem->kind &&
            (solver->sizeLimit == 0 || size <= solver->sizeLimit)) {
            theirs[table->count - first] = solver;
            startRow(table, subject->name, subject->problem, "siconos", solver->name);
        }
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (int i = first; i < table->count; ++i) {
            runRow(subject, theirs[i - first], timeLimit, outcome, z, &table->rows[i]);
        }
    }
    for (int i = first; i < table->count; ++i) {
        Row* row = &table->rows[i];
        printf("%-46s %-8s %-18s %-10s %9.2e %10.3e s\n", row->problem, row->program, row->solver,
               row->isSolved       ? "solved"
               : row->isInfeasible ? "infeasible"
                                   : "-",
               row->residual, smallestTime(row));
        fflush(stdout);
    }
    munmap(outcome, bytes);
}

int main(int argumentCount, char** arguments) {
    if (argumentCount < 4) {
        fprintf(stderr, "usage: bench_complementarity OUT.csv OUT.md FILE...\n");
        return 2;
    }
    const char* repeatText = getenv("TIPPE_BENCH_REPEATS");
    const char* limitText = getenv("TIPPE_BENCH_SECONDS");
    int repeats = repeatText != NULL ? atoi(repeatText) : 3;
    repeats = repeats < 1 ? 1 : repeats > mostRepeats ? mostRepeats : repeats;
    double timeLimit = limitText != NULL ? atof(limitText) : 6.0;
    Table table = { 0 };
    bool written = true;
    for (int i = 3; i < argumentCount; ++i) {
        Subject subject;
        if (openSubject(arguments[i], &subject)) {
            benchSubject(&subject, repeats, timeLimit, &table);
        }
        if (subject.problem != NULL && subject.problem->isGlobal) {
            tpFrictionGlobal_Destroy(&subject.reduced);
        }
        tpDestroyProblem(subject.problem);
        // After every problem, so that a run that is cut short has left what it measured.
        written = writeCsv(arguments[1], &table, repeats, timeLimit) &&
                  writeSummary(arguments[2], &table, repeats, timeLimit);
    }
    free(table.rows);
    return written ? 0 : 1;
}
