#include "dynamics/solve.h"

#include <float.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_tree.h"
#include "dynamics/active_rows.h"
#include "dynamics/light_start.h"
#include "dynamics/painleve.h"
#include "dynamics/posed_problem.h"
#include "dynamics/pyramid.h"
#include "dynamics/reduced.h"
#include "dynamics/redundancy.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"

// Largest relative violation of the cone and of maximal dissipation, contact by contact, in the
// true cone whatever was solved.
void tpRows_JudgeContacts(const tpRows* rows, tpStepReport* report) {
    // Below these a ratio says nothing: the load or the speed is rounding.
    double largestLoad = 0.0, largestSpeed = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            int first = rows->firstRows[b];
            largestLoad = fmax(largestLoad, rows->impulse[first]);
            for (int k = 1; k < rows->dimensions[b]; ++k) {
                double speed = fabs(rows->scale[first + k] * rows->velocity[first + k]);
                largestSpeed = fmax(largestSpeed, speed);
            }
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        double limit = rows->mu[b] * rows->impulse[first];
        bool isContact = rows->infos[b].source == tp_contactSource;
        if (!isContact || !(limit > 1e-9 * largestLoad * rows->mu[b])) {
            continue;
        }
        double force = 0.0, speed = 0.0, power = 0.0;
        for (int k = first + 1; k < first + rows->dimensions[b]; ++k) {
            double r = rows->impulse[k] / rows->scale[k];
            double u = rows->velocity[k] * rows->scale[k];
            force += r * r;
            speed += u * u;
            power += r * u;
        }
        force = sqrt(force);
        speed = sqrt(speed);
        report->coneViolation = fmax(report->coneViolation, force / limit - 1.0);
        if (speed > 1e-6 * largestSpeed && speed > 1e-9 * rows->speedUnit) {
            double gap = (limit * speed + power) / (limit * speed);
            report->dissipationViolation = fmax(report->dissipationViolation, gap);
        }
    }
}

// What rounding alone leaves of the velocities u = W r + q: large impulses that cancel, as in a
// chain under load, allow no better.
static double roundingLevel(const tpRows* rows) {
    double sum = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = 0; k < rows->dimensions[b]; ++k) {
            int row = rows->firstRows[b] + k;
            double speed = rows->scale[row] * tpRows_Response(rows, b, row) * rows->impulse[row];
            sum += speed * speed;
        }
    }
    return 64.0 * DBL_EPSILON * sqrt(sum);
}

// Velocities that are rounding have no scale of their own: residuals are not relative to less, in
// units of speed.
static const double smallestScale = 1e-6;

// Outside the plane a pyramid is but a place to start from; with more rows than this it takes
// longer than that is worth.
enum { largestRestart = 150 };

// Multiply-adds of one solve beyond which a step is better off with what it has: a hundredth of a
// second for a contact or two (bodies that a joint holds inside each other have no solution at
// all), a tenth for small scenes, some seconds for thousands of contacts. The cone's own solvers
// have this share before the pyramid's turn comes.
static double workLimit(int rowCount) {
    return fmin(1e7 + 1e6 * rowCount, 1e8 + 4e5 * rowCount);
}
static const double firstShare = 0.3;

// While contacts may join, a solve has this share of the work: who joins is known long before the
// last digits, and these are lost if somebody does.
static const double trialShare = 0.1;

// In the plane the pyramid is exact, and pivoting ends: its turn comes early.
static double planarTrial(const tpRows* rows) {
    return 1e6 + 1e4 * rows->rowCount;
}

// All solves of a step together may cost as much as this many; once that is spent, each one has a
// small part of it, so that every step ends.
static const double solvesAtFullCost = 5.0, exhaustedShare = 0.02;

bool tpSystem_HasWorkLeft(const tpSystem* system) {
    return !tpStepBudget_IsSpent(system) &&
           system->solveWork < solvesAtFullCost * workLimit(system->solveRows);
}

static double affordable(const tpRows* rows, tpSystem* system, double share) {
    system->solveRows = rows->rowCount > system->solveRows ? rows->rowCount : system->solveRows;
    double limit = workLimit(system->solveRows);
    double left = fmax(solvesAtFullCost * limit - system->solveWork, exhaustedShare * limit);
    return share * fmin(limit, left);
}

static void spend(tpSystem* system, const tpRows* rows, double work) {
    system->solveWork += work;
    int joints = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        joints += rows->infos[b].source == tp_jointSource;
    }
    tpStepBudget_SpendSolve(system, work, rows->rowCount, joints);
}

static double budgetOf(const tpSystem* system, const tpSolveSettings* settings) {
    return settings->isEnd ? tpStepBudget_ForEndSolve(system) : tpStepBudget_ForSolve(system);
}

static bool hasContact(const tpRows* rows) {
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource && rows->impulse[rows->firstRows[b]] > 0.0) {
            return true;
        }
    }
    return false;
}

double tpSolveGoal(double tolerance, double certificate, double size) {
    // A certificate that asks for less than usual is what the user wants, and no more.
    double relative = 0.5 * certificate * size;
    return certificate > TP_USUAL_CERTIFICATE ? fmax(tolerance, 0.9 * certificate * size)
                                              : fmin(tolerance, relative);
}

static double sizeOf(const tpRows* rows) {
    return fmax(tpRows_FreeSize(rows), smallestScale * rows->speedUnit);
}

double tpRows_RoughSize(const tpRows* rows) {
    double square = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isLimit =
            rows->kinds[b] == tp_frictionNonnegative && rows->infos[b].source != tp_contactSource;
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k) {
            double speed = rows->scale[k] * rows->q[k];
            square += isLimit && speed > 0.0 ? 0.0 : speed * speed;
        }
    }
    return sqrt(square);
}

bool tpRows_IsExact(const tpRows* rows, const tpSystem* system, const tpSolveSettings* settings,
                    double residual) {
    double size = sizeOf(rows);
    return residual * size <= tpSolveGoal(settings->tolerance, system->certificate, size);
}

static double velocityTolerance(const tpRows* rows, const tpSystem* system,
                                const tpSolveSettings* settings) {
    double goal = tpSolveGoal(settings->tolerance, system->certificate, sizeOf(rows));
    return settings->rough > 0.0 ? fmax(goal, settings->rough * tpRows_RoughSize(rows)) : goal;
}

// Bodies are jammed if that accounts for this part of the residual.
static const double jamPart = 0.1;

static void shiftBiases(tpRows* rows, const double* shift) {
    for (int i = 0; i < rows->rowCount; ++i) {
        rows->bias[i] += shift[i];
        rows->q[i] += shift[i];
    }
}

// Mechanisms first: W of rows that act on more than two bodies is costly, and rows that the system
// has written need no check but the verdict.
static tpSolveStatus solveProblem(tpRows* rows, const tpFrictionOptions* options,
                                  tpSolverMemory* memory, tpSolveReport* solve) {
    if (rows->reduced != NULL) {
        tpReduced_Solve(rows->reduced, rows, options, memory, solve);
        return solve->status;
    }
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    if (tpFriction_SolveMechanism(&problem, options, memory, rows->impulse, rows->velocity,
                                  rows->changeRoom, solve)) {
        rows->solvedChange = rows->changeRoom;
        return tp_solved;
    }
    problem = tpRows_FrictionProblem(rows, &bodies);
    problem.mechanism = NULL;
    return tpFriction_SolveIslands(&problem, options, memory, rows->impulse, rows->velocity, solve);
}

static bool solveCircular(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                          const tpSolveSettings* settings, double limit, tpStepReport* report,
                          double* residual) {
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-14;
    options.velocityTolerance = velocityTolerance(rows, system, settings);
    options.enough =
        settings->enough > 0.0
            ? settings->enough
            : fmax(system->certificate * sizeOf(rows),
                   settings->rough > 0.0 ? settings->rough * tpRows_RoughSize(rows) : 0.0);
    options.workLimit = limit;
    options.isUntimed = true;
    options.isSwept = settings->isSwept;
    options.stop = system->stop;
    options.slack = rows->gapSlack;
    options.shift =
        rows->gapSlack > 0.0 ? TP_SCRATCH(&system->arena, double, rows->rowCount) : NULL;
    tpSolveReport solve;
    tpSolveStatus status = solveProblem(rows, &options, memory, &solve);
    report->solveCount += 1;
    report->iterationCount += solve.iterations;
    spend(system, rows, solve.work);
    if (solve.shift > 0.0) {
        shiftBiases(rows, options.shift);
        report->gapShift = fmax(report->gapShift, solve.shift * rows->h);
    }
    // The judge divides by |q|; where that is next to nothing, by the smallest scale.
    double norm = tpRows_FreeSize(rows);
    double reached = solve.residual * (norm > 0.0 ? norm : 1.0);
    double size = fmax(norm, smallestScale * rows->speedUnit);
    *residual = reached / size;
    if (status != tp_solved && solve.jam > jamPart * solve.residual) {
        tpStepReport_AddNote(report, "jammed: bodies are pressed together on several sides, and "
                                     "no motion satisfies all of their contacts");
    }
    if (status == tp_solved) {
        return true;
    }
    double rounding = roundingLevel(rows);
    rounding = status == tp_solvedToRounding ? fmax(solve.rounding * norm, rounding) : rounding;
    bool isAtRounding = status == tp_solvedToRounding || reached <= rounding;
    if (isAtRounding) {
        report->rounding = fmax(report->rounding, fmin(reached, rounding) / size);
        tpStepReport_AddNote(report, "solved to rounding: the data of contacts that hold each "
                                     "other allow no smaller residual");
    }
    return isAtRounding;
}

static bool solvePyramid(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                         const tpPyramidOptions* options, tpStepReport* report, double* residual) {
    tpPyramidResult result;
    if (!tpPyramid_Solve(rows, &system->arena, memory, options, &result)) {
        return false;
    }
    report->solveCount += result.islandCount;
    report->iterationCount += result.pivotCount;
    system->solveWork += result.work;
    *residual = result.residual;
    return result.failureCount == 0;
}

// u = W r + q for impulses that came without it.
static bool computeVelocities(tpRows* rows, tpSolverMemory* memory) {
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    tpFrictionResidual judged;
    return tpFriction_Judge(&problem, rows->impulse, rows->velocity, memory, &judged);
}

// The cone from the vertex of the pyramid, islands that are solved already apart. Keeps what is
// there where that is better. False if memory ran out.
static bool restart(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                    const tpSolveSettings* settings, double limit, tpStepReport* report,
                    bool* isSolved, double* residual) {
    size_t bytes = sizeof(double) * (size_t)rows->rowCount;
    double* kept = tpArena_Get(&system->arena, 2 * bytes);
    if (kept == NULL) {
        return false;
    }
    memcpy(kept, rows->impulse, bytes);
    memcpy(kept + rows->rowCount, rows->velocity, bytes);
    double start = system->solveWork, best = *residual, unused;
    tpPyramidOptions options = { .directionCount = settings->directionCount,
                                 .tolerance = 1e-10,
                                 .workLimit = limit,
                                 .settled = velocityTolerance(rows, system, settings) };
    solvePyramid(rows, system, memory, &options, report, &unused);
    tpStepBudget_Spend(system, system->solveWork - start);
    if (system->arena.failed) {
        return false;
    }
    double left = fmax(limit - (system->solveWork - start), exhaustedShare * limit);
    *isSolved = solveCircular(rows, system, memory, settings, left, report, residual);
    if (!*isSolved && !(*residual < best)) {
        memcpy(rows->impulse, kept, bytes);
        memcpy(rows->velocity, kept + rows->rowCount, bytes);
        *residual = best;
    }
    return true;
}

static bool solveInCone(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                        const tpSolveSettings* settings, tpStepReport* report, bool* isSolved,
                        double* residual) {
    bool isPlanar = rows->componentCount == 3;
    double share = settings->share > 0.0 ? settings->share : 1.0;
    double limit = fmin(affordable(rows, system, share), budgetOf(system, settings));
    limit *= settings->isTrial ? trialShare : 1.0;
    double start = system->solveWork;
    bool mayRestart = rows->reduced == NULL && !settings->isTrial &&
                      (isPlanar || rows->rowCount <= largestRestart);
    double first = isPlanar     ? fmin(planarTrial(rows), limit)
                   : mayRestart ? firstShare * limit
                                : limit;
    *isSolved = solveCircular(rows, system, memory, settings, first, report, residual);
    if (*isSolved || !mayRestart) {
        return true;
    }
    double left = limit - (system->solveWork - start);
    if (hasContact(rows)) {
        if (!isPlanar) {
            tpStepReport_FallBack(report, "pyramid start",
                                  "a solve did not converge in its share of the work: it starts "
                                  "again from the pyramid");
        }
        return restart(rows, system, memory, settings, left, report, isSolved, residual);
    }
    *isSolved = solveCircular(rows, system, memory, settings, left, report, residual);
    return true;
}

// The pyramid as the cone of the problem is solved by pivoting, which ends by itself: the budget of
// the step has no say in it.
static bool solveInPyramid(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                           const tpSolveSettings* settings, tpStepReport* report, bool* isSolved,
                           double* residual) {
    double limit = affordable(rows, system, 1.0), start = system->solveWork;
    tpPyramidOptions options = { .directionCount = settings->directionCount,
                                 .tolerance = settings->tolerance / rows->speedUnit,
                                 .workLimit = limit };
    *isSolved = solvePyramid(rows, system, memory, &options, report, residual);
    if (system->arena.failed || !computeVelocities(rows, memory)) {
        return false;
    }
    if (!*isSolved && *residual > 1e-6) {
        double circular;
        double left = fmax(limit - (system->solveWork - start), exhaustedShare * limit);
        if (solveCircular(rows, system, memory, settings, left, report, &circular)) {
            tpStepReport_FallBack(report, "circular cone",
                                  "the pyramid was not solved: the circular cone is instead");
            *residual = circular;
        }
    }
    return true;
}

static bool solveAll(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                     const tpSolveSettings* settings, tpStepReport* report, bool* isSolved,
                     double* residual) {
    *isSolved = true;
    *residual = 0.0;
    if (rows->rowCount == 0 && rows->reduced == NULL) {
        return true;
    }
    return settings->cone == tp_circularCone
               ? solveInCone(rows, system, memory, settings, report, isSolved, residual)
               : solveInPyramid(rows, system, memory, settings, report, isSolved, residual);
}

// Times that blocks may join before all do, and those of them for which a step has means whose
// work is spent. All contacts within what 300 hulls could move are five times as many as those that
// touch, and a solve of all takes ten times as long as one of those that have joined. But if half
// as many join as there were, bodies fly apart, and there is no end of it.
enum { maxJoins = 10, lateJoins = 4 };

// Mechanisms are solved as a whole, and leave idle contacts out by themselves.
static bool isMechanism(const tpRows* rows, tpSolverMemory* memory) {
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    return tpFrictionTree_Suits(&problem, memory);
}

// Of the work that a solve may take: what a light start may.
static const double lightPart = 0.25;

static bool areAllActive(const tpRows* rows) {
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->kinds[b] != tp_frictionFree && !tpRows_IsActive(rows, b)) {
            return false;
        }
    }
    return true;
}

// Begins where light sweeps lead, once a step has turned out to be hard or where bodies flow: they
// do not keep the symmetry of a stack, which is solved without them and stands as it is. False if
// memory ran out.
static bool startLightly(tpRows* rows, tpSystem* system, tpSolveSettings* settings) {
    if (settings->cone != tp_circularCone ||
        !(settings->isFlowing || tpStepBudget_IsHard(system)) || !tpLightStart_Suits(rows)) {
        return true;
    }
    tpLightStart start = { .goal = velocityTolerance(rows, system, settings),
                           .work = lightPart * budgetOf(system, settings),
                           .stop = system->stop };
    bool isDone = tpLightStart_Find(&start, rows, &system->arena);
    tpStepBudget_Spend(system, start.spent);
    settings->isSwept = start.isSwept;
    return isDone;
}

static bool solveActive(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                        const tpSolveSettings* settings, tpStepReport* report, bool* isSolved,
                        double* residual) {
    tpSolveSettings chosen = *settings;
    if (!startLightly(rows, system, &chosen)) {
        return false;
    }
    if (areAllActive(rows) || (settings->cone == tp_circularCone && isMechanism(rows, memory))) {
        return solveAll(rows, system, memory, &chosen, report, isSolved, residual);
    }
    tpActiveRows active;
    if (!tpActiveRows_Choose(&active, rows, &system->arena)) {
        return false;
    }
    chosen.isTrial = settings->cone == tp_circularCone;
    for (int k = 0, late = 0; active.activeCount < rows->blockCount; ++k) {
        late += k > 0 && tpStepBudget_IsSpent(system);
        if (k == maxJoins || late > lateJoins) {
            tpActiveRows_TakeAll(&active, rows);
        }
        tpActiveRows_Gather(&active, rows);
        chosen.isTrial = chosen.isTrial && active.rows.rowCount > largestRestart &&
                         !tpStepBudget_IsSpent(system);
        if (!solveAll(&active.rows, system, memory, &chosen, report, isSolved, residual)) {
            return false;
        }
        int joined = tpActiveRows_Scatter(&active, rows);
        bool hasJoined = joined > 0, areMany = joined > active.rows.blockCount / 2;
        late = areMany ? lateJoins : late;
        if (!hasJoined && (*isSolved || !chosen.isTrial)) {
            return true;
        }
        chosen.isTrial = hasJoined && settings->cone == tp_circularCone;
    }
    chosen.isTrial = false;
    return solveAll(rows, system, memory, &chosen, report, isSolved, residual);
}

// Solves without the rows of joints that depend on others.
static bool solveIndependent(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                             const tpSolveSettings* settings, tpStepReport* report, bool* isSolved,
                             double* residual) {
    if (rows->reduced != NULL) {
        return solveAll(rows, system, memory, settings, report, isSolved, residual);
    }
    tpRedundancy redundancy;
    if (!tpRedundancy_SetAside(&redundancy, rows, system) ||
        !solveActive(rows, system, memory, settings, report, isSolved, residual)) {
        return false;
    }
    if (redundancy.count == 0) {
        return true;
    }
    rows->solvedChange = NULL;
    return tpRedundancy_PutBack(&redundancy, rows, system);
}

bool tpRows_Solve(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                  const tpSolveSettings* settings, tpStepReport* report) {
    if (rows->rowCount == 0 && rows->reduced == NULL) {
        return true;
    }
    double residual = 0.0;
    bool isSolved = false;
    rows->solvedChange = NULL;
    if (rows->reduced != NULL) {
        tpReduced_MoveFreely(rows->reduced, rows);
    }
    tpArenaMark mark = tpArena_Mark(&system->arena);
    const double* start = tpPosedProblem_Begin(system, rows);
    bool isDone = !system->arena.failed &&
                  solveIndependent(rows, system, memory, settings, report, &isSolved, &residual);
    if (isDone) {
        tpPosedProblem_End(system, rows, start, residual, isSolved);
    }
    tpArena_Release(&system->arena, mark);
    if (!isDone) {
        return false;
    }
    tpRows_NamePainleve(rows, report);
    report->failureCount += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, residual);
    tpRows_JudgeContacts(rows, report);
    return true;
}

bool tpRows_Judge(tpRows* rows, tpSolverMemory* memory, tpStepReport* report) {
    if (rows->rowCount == 0) {
        return true;
    }
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    tpFrictionResidual judged;
    if (!tpFriction_Judge(&problem, rows->impulse, rows->velocity, memory, &judged)) {
        return false;
    }
    double size = sizeOf(rows);
    report->residual = fmax(report->residual, judged.velocity / size);
    tpRows_JudgeContacts(rows, report);
    return true;
}
