// The friction portfolio: a list of stages, each an island solver, tried on the islands left over.
//
// Islands of joints alone are one linear system. Then cheap sweeps settle the easy islands and
// accelerated gradients bring the others near; proximal points, with Newton inside, solve what is
// left, if need be from other starts. A stage never makes an island worse, so the best found
// survives. Decisions go by counted work, never by the clock, so that runs repeat. The answer is
// judged by tpFriction_Judge on the problem as it was given: nothing else can say "solved".

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/friction_linear.h"
#include "complementarity/friction_solvers.h"
#include "complementarity/friction_tree.h"

typedef tpSolveStatus IslandSolver(tpFrictionIsland* island, const tpFrictionOptions* options,
                                   int limit, tpArena* arena, int* iterations);

typedef struct Stage {
    const char* name; // as in the table of solvers
    IslandSolver* solve;
    int limit;            // iterations on one island, where the options do not say
    double localProximal; // 0: as the options have it
    double proximalStart; // 0: as the options have it
    int restartSweeps;    // > 0: begin anew at zero with so many sweeps, not at the best found
    int pathSteps;        // > 0: begin anew at the end of a path of so many interior points
    bool isForHard;       // islands that are good enough are left as they are
} Stage;

// The approach by accelerated gradients: what it may cost, in factorisations, and the iterations
// below which it is not worth beginning.
static const double approachFactorisations = 4.0, leastApproach = 30.0;

// Contacts of an island up to which all of the first sweeps are worth their time. With more than a
// few, a start whose residual is below this part of |q| is as good for Newton's method as the end
// of the sweeps, which cost as much as several of its steps.
enum { largestSwept = 100, fewSwept = 10 };
static const double nearPart = 1e-2;

// Contacts of an island up to which a solve that failed is looked into, and for how long: that may
// take this part of what the solve has taken, or half a millisecond.
enum { largestJam = 500, jamLimit = 60 };
static const double jamPart = 0.1, smallJam = 1e6;

// Rounding of u = W r + q, in units of the last place of r: below this no solver can see.
static const double roundingFloor = 8.0 * DBL_EPSILON;

// Islands reach a little below their share of the tolerance, for the judge sums in another order.
static const double safety = 0.9;

tpFrictionOptions tpDefaultFrictionOptions(void) {
    return (tpFrictionOptions){ .tolerance = 1e-8,
                                .velocityTolerance = 0.0,
                                .enough = 0.0,
                                .workLimit = 2e11,
                                .iterationLimit = 0,
                                .localProximal = 0.1,
                                .proximalStart = 0.1 };
}

static tpSolveStatus sweepAnew(tpFrictionIsland* island, const Stage* stage,
                               const tpFrictionOptions* options, tpArena* arena, int* iterations) {
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    memset(island->r, 0, bytes);
    memcpy(island->u, island->q, bytes);
    island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
    return tpFrictionIsland_Nncg(island, options, stage->restartSweeps, arena, iterations);
}

// Begins an island anew, solves, and keeps the better of the old and the new.
static tpSolveStatus restart(tpFrictionIsland* island, const Stage* stage,
                             const tpFrictionOptions* options, int limit, tpArena* arena,
                             int* iterations) {
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    double* r = tpArena_Get(arena, bytes);
    double* u = tpArena_Get(arena, bytes);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    memcpy(r, island->r, bytes);
    tpSolveStatus status =
        stage->pathSteps > 0 ? tpFrictionIsland_Center(island, stage->pathSteps, arena, iterations)
                             : sweepAnew(island, stage, options, arena, iterations);
    if (status != tp_solved && status != tp_solverOutOfMemory && status != tp_notApplicable) {
        status = stage->solve(island, options, limit, arena, iterations);
    }
    // Data may have been made to agree since.
    tpFrictionIsland_Velocity(island, r, u);
    double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
    if (!(island->residual <= residual)) {
        memcpy(island->r, r, bytes);
        memcpy(island->u, u, bytes);
        island->residual = residual;
    }
    return status;
}

static double secondsNow(const tpFrictionOptions* options) {
    return options->isUntimed ? 0.0 : tpCpuSeconds();
}

static bool isStopped(const tpFrictionOptions* options) {
    return options->stop != NULL && *options->stop != 0;
}

static bool needsWork(const tpFrictionIsland* island) {
    bool isGoodEnough = island->residual <= island->enough && island->work >= island->grace;
    return !(island->residual <= island->tolerance) && !island->isExhausted && !isGoodEnough;
}

// Whether a stage begins with what costs as much as a step of Newton's method. What is left of the
// work once that is too dear is for sweeps.
static bool hasNewton(const Stage* stage) {
    return stage->solve == tpFrictionIsland_ProximalFirst ||
           stage->solve == tpFrictionIsland_Proximal ||
           stage->solve == tpFrictionIsland_FindRounding;
}

// Runs one stage on every island that needs it. False if memory ran out.
static bool runStage(tpFrictionSystem* system, const Stage* stage, const tpFrictionOptions* options,
                     tpArena* arena, double* work, tpSolveReport* report) {
    tpSolveStage done = { .solver = stage->name, .status = tp_solved };
    tpFrictionOptions chosen = *options;
    chosen.localProximal =
        stage->localProximal > 0.0 ? stage->localProximal : options->localProximal;
    chosen.proximalStart =
        stage->proximalStart > 0.0 ? stage->proximalStart : options->proximalStart;
    int limit = options->iterationLimit > 0 ? options->iterationLimit : stage->limit;
    double start = secondsNow(options), sum = 0.0;
    bool needed = false, enough = true;
    for (int i = 0; i < system->islandCount && enough; ++i) {
        tpFrictionIsland* island = &system->islands[i];
        bool isGoodEnough = stage->isForHard && island->residual <= island->enough;
        if (needsWork(island) && !isGoodEnough) {
            tpArenaMark mark = tpArena_Mark(arena);
            double before = island->work;
            island->workLimit = before + fmax(0.0, options->workLimit - *work);
            bool isTooDear =
                hasNewton(stage) && tpFrictionIsland_IsTooDear(island, island->newtonWork);
            tpSolveStatus status =
                isTooDear ? tp_notApplicable
                : stage->restartSweeps > 0 || stage->pathSteps > 0
                    ? restart(island, stage, &chosen, limit, arena, &done.iterations)
                    : stage->solve(island, &chosen, limit, arena, &done.iterations);
            tpArena_Release(arena, mark);
            *work += island->work - before;
            if (status != tp_notApplicable) {
                needed = true;
                done.status = status != tp_solved ? status : done.status;
            }
            enough = status != tp_solverOutOfMemory;
        }
        sum += island->residual * island->residual;
    }
    if (needed) {
        done.residual = sqrt(sum) / system->qNorm;
        done.seconds = secondsNow(options) - start;
        tpSolveReport_AddStage(report, &done);
        report->solver = stage->name;
    }
    return enough;
}

// The residual that rounding alone leaves of an island.
static double roundingOf(const tpFrictionIsland* island) {
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            sum += island->weight[b] * island->r[i] * island->r[i];
        }
    }
    return roundingFloor * sqrt(sum);
}

// What solved islands leave of the goal is shared out among the others, by their rows; none is
// asked for more than rounding allows. True if there are no others.
static bool shareTolerance(tpFrictionSystem* system, double goal) {
    double left = goal * goal;
    int rows = 0;
    for (int i = 0; i < system->islandCount; ++i) {
        const tpFrictionIsland* island = &system->islands[i];
        if (!needsWork(island)) {
            left -= island->residual * island->residual;
        } else {
            rows += island->rowCount;
        }
    }
    int unsolved = 0;
    for (int i = 0; i < system->islandCount; ++i) {
        tpFrictionIsland* island = &system->islands[i];
        if (needsWork(island)) {
            double share = sqrt(fmax(left, 0.0) * (double)island->rowCount / (double)rows);
            island->tolerance = fmax(share, roundingOf(island));
            unsolved += needsWork(island);
        }
    }
    return unsolved == 0;
}

// The residual below which the data are known to let no impulses come, relative like the judge's;
// zero while an island is left for which that is not known.
static double roundingOfAll(const tpFrictionSystem* system) {
    double sum = 0.0;
    for (int i = 0; i < system->islandCount; ++i) {
        const tpFrictionIsland* island = &system->islands[i];
        if (needsWork(island)) {
            return 0.0;
        }
        sum += island->isExhausted ? island->rounding * island->rounding : 0.0;
    }
    return sqrt(sum) / system->qNorm;
}

// Whether looking for a jam costs little beside what the island has cost.
static bool isJamCheap(const tpFrictionIsland* island) {
    return jamLimit * tpFrictionIsland_SweepWork(island) <= fmax(jamPart * island->work, smallJam);
}

// Of islands that are not solved. Adds to work. False if memory ran out.
static bool findJam(tpFrictionSystem* system, tpArena* arena, double* work, tpSolveReport* report) {
    for (int i = 0; i < system->islandCount; ++i) {
        tpFrictionIsland* island = &system->islands[i];
        double bound = 0.0, before = island->work;
        tpArenaMark mark = tpArena_Mark(arena);
        if (needsWork(island) && island->blockCount <= largestJam && isJamCheap(island) &&
            !tpFrictionIsland_FindJam(island, jamLimit, arena, &bound)) {
            return false;
        }
        tpArena_Release(arena, mark);
        *work += island->work - before;
        report->jam = fmax(report->jam, bound / system->qNorm);
    }
    return true;
}

static bool mayShift(const tpFrictionOptions* options) {
    return options->shift != NULL && options->slack > 0.0;
}

// Builds the islands, runs the stages, stores the best r. False if memory ran out.
static bool runStages(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                      const Stage* stages, int stageCount, tpArena* arena, double* r,
                      tpSolveReport* report) {
    tpFrictionSystem system;
    if (mayShift(options)) {
        memset(options->shift, 0, sizeof(double) * (size_t)tpFriction_RowCount(problem));
    }
    if (problem->blockCount == 0) {
        return true;
    }
    if (!tpFrictionSystem_Build(&system, problem, arena)) {
        return false;
    }
    tpFrictionSystem_Load(&system, r);
    double goal = safety * fmax(options->tolerance * system.qNorm, options->velocityTolerance);
    double willDo = safety * options->enough;
    double* shift = mayShift(options) ? TP_SCRATCH_ZEROED(arena, double, system.rowCount) : NULL;
    if (arena->failed) {
        return false;
    }
    for (int i = 0, row = 0; i < system.islandCount; ++i) {
        tpFrictionIsland* island = &system.islands[i];
        island->tolerance = -1.0;
        island->enough = willDo * sqrt((double)island->rowCount / (double)system.rowCount);
        island->grace = INFINITY;
        island->isExhausted = false;
        island->stop = options->stop;
        island->rounding = 0.0;
        island->slack = mayShift(options) ? options->slack : 0.0;
        island->shift = shift != NULL ? shift + row : NULL;
        row += island->rowCount;
        island->work = island->newtonWork = 0.0;
        if (!isfinite(island->residual)) {
            memset(island->r, 0, sizeof(double) * (size_t)island->rowCount);
            memcpy(island->u, island->q, sizeof(double) * (size_t)island->rowCount);
            island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
        }
        tpFrictionIsland_BeginGrace(island);
    }
    double work = 0.0;
    bool enough = true;
    for (int s = 0; s < stageCount && enough && work < options->workLimit && !isStopped(options) &&
                    !shareTolerance(&system, goal);
         ++s) {
        enough = runStage(&system, &stages[s], options, arena, &work, report);
    }
    enough = enough && (isStopped(options) || findJam(&system, arena, &work, report));
    report->work = work;
    report->rounding = roundingOfAll(&system);
    tpFrictionSystem_Store(&system, r);
    for (int i = 0; shift != NULL && i < system.rowCount; ++i) {
        options->shift[system.sourceRow[i]] = shift[i] / system.scale[i];
        report->shift = fmax(report->shift, fabs(shift[i] / system.scale[i]));
    }
    return enough;
}

static double* changedData(const tpFrictionProblem* problem, const double* shift, tpArena* arena) {
    int rowCount = tpFriction_RowCount(problem);
    double* q = TP_SCRATCH(arena, double, rowCount);
    for (int i = 0; q != NULL && i < rowCount; ++i) {
        q[i] = problem->q[i] + shift[i];
    }
    return q;
}

// Accelerated gradients for as long as a few factorisations would take: the larger the island, the
// more of them, and the nearer they bring it.
static tpSolveStatus approach(tpFrictionIsland* island, const tpFrictionOptions* options, int limit,
                              tpArena* arena, int* iterations) {
    if (options->isSwept) {
        return tp_notApplicable;
    }
    tpArenaMark mark = tpArena_Mark(arena);
    tpFrictionLinear linear;
    bool* all = TP_SCRATCH(arena, bool, island->blockCount);
    double factor = -1.0;
    if (all != NULL && tpFrictionLinear_Create(&linear, island, arena)) {
        memset(all, true, sizeof(bool) * (size_t)island->blockCount);
        factor = tpFrictionLinear_Work(&linear, all);
    }
    tpArena_Release(arena, mark);
    if (factor < 0.0) {
        return tp_solverOutOfMemory;
    }
    double sweep = tpFrictionIsland_SweepWork(island);
    double worth = fmin(approachFactorisations * factor, island->workLimit - island->work) / sweep;
    if (worth < leastApproach) {
        return tp_notApplicable;
    }
    return tpFrictionIsland_Apgd(island, options, worth < limit ? (int)worth : limit, arena,
                                 iterations);
}

static double speedWithoutImpulses(const tpFrictionIsland* island) {
    double square = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            square += island->weight[b] * island->q[i] * island->q[i];
        }
    }
    return sqrt(square);
}

// The first sweeps. They settle what is small; of what is large they only say where to begin.
static tpSolveStatus sweepFirst(tpFrictionIsland* island, const tpFrictionOptions* options,
                                int limit, tpArena* arena, int* iterations) {
    if (options->isSwept || (island->blockCount > fewSwept &&
                             island->residual <= nearPart * speedWithoutImpulses(island))) {
        return tp_notApplicable;
    }
    bool isLarge = island->blockCount > largestSwept;
    return tpFrictionIsland_Nncg(island, options, isLarge ? limit / 2 : limit, arena, iterations);
}

static const Stage portfolio[] = {
    { "bilateral", tpFrictionIsland_Bilateral, .limit = 30 },
    { "nncg", sweepFirst, .limit = 20 },
    { "apgd", approach, .limit = 5000 },
    { "proximal", tpFrictionIsland_ProximalFirst, .limit = 25 },
    { "interior", tpFrictionIsland_Proximal, .limit = 150, .pathSteps = 40, .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 400, .isForHard = true },
    { "rounding", tpFrictionIsland_FindRounding, .limit = 200, .isForHard = true },
    { "bilateral", tpFrictionIsland_Formed, .limit = 30, .isForHard = true },
    { "nncg", tpFrictionIsland_Nncg, .limit = 1000, .localProximal = 0.3, .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 2000, .proximalStart = 1e4,
      .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 4000, .restartSweeps = 200,
      .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 4000, .proximalStart = 1.0,
      .restartSweeps = 50, .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 8000, .restartSweeps = 1000,
      .isForHard = true },
    { "proximal", tpFrictionIsland_Proximal, .limit = 8000, .isForHard = true },
};

// The verdict on the problem with its q as it was changed. False if memory ran out.
static bool judgeShifted(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                         tpSolverMemory* memory, const double* r, double* u, double* velocity,
                         const tpSolveReport* report, tpFrictionResidual* residual) {
    tpFrictionProblem judged = *problem;
    if (report->shift > 0.0) {
        judged.q = changedData(problem, options->shift, &memory->arena);
    }
    bool isThere = judged.q != NULL || problem->q == NULL;
    return isThere && tpFriction_JudgeBodies(&judged, r, u, velocity, memory, residual);
}

// |q| in scaled rows, 1 where it is zero.
static double sizeOfQ(const tpFrictionProblem* problem) {
    double sum = 0.0;
    for (int i = 0, count = tpFriction_RowCount(problem); i < count; ++i) {
        double q = problem->q[i] * (problem->scale != NULL ? problem->scale[i] : 1.0);
        sum += q * q;
    }
    return sum > 0.0 ? sqrt(sum) : 1.0;
}

// Rounds in which the impulses of joints are corrected by what they have left.
enum { maxRefinements = 2 };

// Mechanisms without loops, in one go and with the verdict. False if there is none or it does not
// get there: r is then as it was.
static bool solveAlongTree(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                           tpSolverMemory* memory, double* r, double* u, double* bodyVelocity,
                           tpSolveReport* report, tpFrictionResidual* residual) {
    tpArena* arena = &memory->arena;
    int rowCount = tpFriction_RowCount(problem);
    tpFrictionTree* tree = tpFrictionTree_Create(problem, memory);
    double* kept = tree != NULL ? TP_SCRATCH(arena, double, rowCount) : NULL;
    if (kept == NULL) {
        return false;
    }
    memcpy(kept, r, sizeof(double) * (size_t)rowCount);
    double size = sizeOfQ(problem);
    double goal = fmax(options->tolerance * size, options->velocityTolerance);
    double willDo = fmax(goal, fmin(options->enough, tp_stalledPart * size));
    tpSolveStage done = { .solver = "bilateral", .status = tp_solved };
    double work = 0.0, start = secondsNow(options);
    bool isFound = tpFrictionTree_Solve(tree, options, safety * goal, r, &done.iterations, &work);
    for (int i = 0; isFound && mayShift(options) && i < rowCount; ++i) {
        report->shift = fmax(report->shift, fabs(options->shift[i]));
    }
    for (int k = 0; isFound && k <= maxRefinements; ++k) {
        if (k > 0) {
            tpFrictionTree_Refine(tree, u, r);
        }
        if (judgeShifted(problem, options, memory, r, u, bodyVelocity, report, residual) &&
            residual->velocity <= (k < maxRefinements ? goal : willDo)) {
            done.residual = residual->natural;
            done.seconds = secondsNow(options) - start;
            tpSolveReport_AddStage(report, &done);
            report->work = work;
            return true;
        }
    }
    memcpy(r, kept, sizeof(double) * (size_t)rowCount);
    report->shift = 0.0;
    return false;
}

bool tpFriction_SolveMechanism(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                               tpSolverMemory* memory, double* r, double* u, double* velocity,
                               tpSolveReport* report) {
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpFrictionResidual residual;
    tpSolveReport_Start(report);
    report->solver = portfolio[0].name;
    bool isSolved = solveAlongTree(problem, options, memory, r, u, velocity, report, &residual);
    tpSolverMemory_End(memory, mark);
    if (isSolved) {
        report->residual = residual.natural;
        report->plainResidual = residual.plain;
        report->status = tp_solved;
    }
    return isSolved;
}

// A solve from check to verdict.
static tpSolveStatus solveBy(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                             const Stage* stages, int stageCount, bool mayBeTree,
                             tpSolverMemory* memory, double* r, double* u, tpSolveReport* report) {
    tpFrictionOptions chosen = options != NULL ? *options : tpDefaultFrictionOptions();
    tpSolveReport local;
    report = report != NULL ? report : &local;
    tpSolveReport_Start(report);
    report->solver = stages[0].name;
    if (tpFriction_Check(problem, NULL) != tp_success) {
        return report->status = tp_badProblem;
    }
    double start = secondsNow(&chosen);
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    double* velocity = u;
    if (velocity == NULL) {
        velocity = TP_SCRATCH(&memory->arena, double, tpFriction_RowCount(problem));
    }
    tpFrictionResidual residual;
    bool isAlongTree =
        velocity != NULL && mayBeTree &&
        solveAlongTree(problem, &chosen, memory, r, velocity, NULL, report, &residual);
    bool enough = isAlongTree ||
                  (velocity != NULL &&
                   runStages(problem, &chosen, stages, stageCount, &memory->arena, r, report) &&
                   judgeShifted(problem, &chosen, memory, r, velocity, NULL, report, &residual));
    tpSolverMemory_End(memory, mark);
    report->seconds = secondsNow(&chosen) - start;
    if (!enough) {
        return report->status = tp_solverOutOfMemory;
    }
    report->residual = residual.natural;
    report->plainResidual = residual.plain;
    bool solved = residual.natural <= chosen.tolerance ||
                  residual.velocity <= fmax(chosen.velocityTolerance, chosen.enough);
    int kept = report->stageCount < TP_MAX_SOLVE_STAGES ? report->stageCount : TP_MAX_SOLVE_STAGES;
    tpSolveStatus last = kept > 0 ? report->stages[kept - 1].status : tp_stalled;
    report->status = solved                   ? tp_solved
                     : report->rounding > 0.0 ? tp_solvedToRounding
                     : last == tp_solved      ? tp_stalled
                                              : last;
    return report->status;
}

static const Stage gaussSeidel = { "gauss-seidel", tpFrictionIsland_GaussSeidel, .limit = 20000 };
static const Stage nncg = { "nncg", tpFrictionIsland_Nncg, .limit = 20000 };
static const Stage newton = { "newton", tpFrictionIsland_Newton, .limit = 100 };
static const Stage apgd = { "apgd", tpFrictionIsland_Apgd, .limit = 20000 };
static const Stage interior[] = {
    { "interior", tpFrictionIsland_Interior, .limit = 100 },
    { "interior", tpFrictionIsland_Proximal, .limit = 200, .pathSteps = 100 },
};
static const Stage proximal = { "proximal", tpFrictionIsland_Proximal, .limit = 2000 };

tpSolveStatus tpFriction_Solve(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                               tpSolverMemory* memory, double* r, double* u,
                               tpSolveReport* report) {
    TP_NEED(problem, (tpSolveStatus){ 0 });
    return solveBy(problem, options, portfolio, (int)(sizeof portfolio / sizeof *portfolio), true,
                   memory, r, u, report);
}

tpSolveStatus tpFriction_SolveIslands(const tpFrictionProblem* problem,
                                      const tpFrictionOptions* options, tpSolverMemory* memory,
                                      double* r, double* u, tpSolveReport* report) {
    return solveBy(problem, options, portfolio, (int)(sizeof portfolio / sizeof *portfolio), false,
                   memory, r, u, report);
}

static tpSolveStatus solveGaussSeidel(const tpFrictionProblem* problem,
                                      const tpFrictionOptions* options, tpSolverMemory* memory,
                                      double* r, double* u, tpSolveReport* report) {
    return solveBy(problem, options, &gaussSeidel, 1, false, memory, r, u, report);
}

static tpSolveStatus solveNncg(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                               tpSolverMemory* memory, double* r, double* u,
                               tpSolveReport* report) {
    return solveBy(problem, options, &nncg, 1, false, memory, r, u, report);
}

static tpSolveStatus solveNewton(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                                 tpSolverMemory* memory, double* r, double* u,
                                 tpSolveReport* report) {
    return solveBy(problem, options, &newton, 1, false, memory, r, u, report);
}

static tpSolveStatus solveProximal(const tpFrictionProblem* problem,
                                   const tpFrictionOptions* options, tpSolverMemory* memory,
                                   double* r, double* u, tpSolveReport* report) {
    return solveBy(problem, options, &proximal, 1, false, memory, r, u, report);
}

static tpSolveStatus solveInterior(const tpFrictionProblem* problem,
                                   const tpFrictionOptions* options, tpSolverMemory* memory,
                                   double* r, double* u, tpSolveReport* report) {
    return solveBy(problem, options, interior, 2, false, memory, r, u, report);
}

static tpSolveStatus solveApgd(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                               tpSolverMemory* memory, double* r, double* u,
                               tpSolveReport* report) {
    return solveBy(problem, options, &apgd, 1, false, memory, r, u, report);
}

static const tpFrictionSolver solvers[] = {
    { "auto", "chooses among those below, island by island, and escalates", tpFriction_Solve },
    { "gauss-seidel", "block Gauss-Seidel with exact one-contact solves", solveGaussSeidel },
    { "nncg", "nonsmooth nonlinear conjugate gradients on Gauss-Seidel", solveNncg },
    { "newton", "semismooth Newton on Alart and Curnier's function", solveNewton },
    { "proximal", "proximal points with Newton inside", solveProximal },
    { "interior", "interior points with Nesterov and Todd's scaling, proximal points at the end",
      solveInterior },
    { "apgd", "accelerated projected gradient with De Saxce's correction", solveApgd },
};

const tpFrictionSolver* tpFrictionSolvers(int* count) {
    TP_NEED(count, NULL);
    *count = (int)(sizeof solvers / sizeof *solvers);
    return solvers;
}

const tpFrictionSolver* tpFrictionSolver_Find(const char* name) {
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (size_t i = 0; isGiven && i < sizeof solvers / sizeof *solvers; ++i) {
        if (strcmp(solvers[i].name, name) == 0) {
            return &solvers[i];
        }
    }
    return NULL;
}
