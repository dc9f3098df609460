// With directions J and velocities u_k at the iterate z_k, rows are taken as linear in z,
//
//     u / f = J z + (u_k / f - J z_k),     z = z_free + M^-1 J' r,
//
// f being theta for what is a mean over the step (gaps, joints, friction in the middle) and 1 for
// friction at the end. Dividing a row of the contact law by a positive number changes nothing in
// it. The passes contract by h times the turning of the directions; each answer is exact where
// nothing turns.

#include "steppers/chakraborty_trinkle/frozen.h"

#include <string.h>

#include "dynamics/pyramid.h"
#include "dynamics/solve.h"
#include "dynamics/step_budget.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"

// Multiply-adds that a linear problem may take.
static double workLimit(const tpRows* rows) {
    return 1e8 + 2e6 * rows->rowCount;
}

static void copyJoint(const tpIslandProblem* problem, int block, tpRows* out, int copy) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpRows* middles = &geometry->jointMiddles;
    int own = block - geometry->contactBlocks;
    size_t componentCount = (size_t)out->componentCount;
    size_t numbers = componentCount * (size_t)out->dimensions[copy];
    size_t from = componentCount * (size_t)middles->firstRows[own];
    size_t to = componentCount * (size_t)out->firstRows[copy];
    memcpy(out->jacobianA + to, middles->jacobianA + from, sizeof(double) * numbers);
    memcpy(out->jacobianB + to, middles->jacobianB + from, sizeof(double) * numbers);
    for (int k = 0; k < out->dimensions[copy]; ++k) {
        out->scale[out->firstRows[copy] + k] = middles->scale[middles->firstRows[own] + k];
        tpRows_CopyTerms(out, out->firstRows[copy] + k, middles, middles->firstRows[own] + k);
        out->compliance[out->firstRows[copy] + k] =
            geometry->jointEnds.compliance[geometry->jointEnds.firstRows[own] + k];
    }
}

static double rowTimes(const tpRows* rows, int block, int row, const tpVelocity* velocities) {
    return tpRows_RowVelocity(rows, row, velocities, rows->bodyA[block], rows->bodyB[block]);
}

// The island's blocks at the places of the last evaluation.
static void freeze(const tpIslandProblem* problem, tpRows* out) {
    const tpStepGeometry* geometry = problem->geometry;
    const tpTimeStep* step = geometry->step;
    const tpRows* rows = &step->rows;
    tpRows_Clear(out);
    out->inverseMass = rows->inverseMass;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b], first = rows->firstRows[block];
        bool isContact = block < geometry->contactBlocks;
        int copy = tpRows_AddBlock(out, step->system, rows->infos[block],
                                   (tpFrictionKind)rows->kinds[block], rows->dimensions[block],
                                   rows->bodyA[block], rows->bodyB[block]);
        out->mu[copy] = rows->mu[block];
        if (isContact) {
            const tpContactPlace* place = &geometry->middles[block];
            tpContact contact = step->contacts[block];
            tpContactLaw law = step->laws[block];
            contact.normal = place->normal;
            contact.pointA = place->pointA;
            contact.pointB = place->pointB;
            law.tangents[0] = place->tangents[0];
            law.tangents[1] = place->tangents[1];
            tpRows_SetContact(out, copy, geometry->middlePoses, &contact, &law);
            tpNormalAction_SetRow(&geometry->actions[block], place, out, copy);
        } else {
            copyJoint(problem, block, out, copy);
        }
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            int row = out->firstRows[copy] + k;
            bool isMean = !isContact || k == 0 || !geometry->frictionAtEnd[block];
            double share = isMean ? problem->theta : 1.0;
            double r = rows->impulse[first + k];
            // Compliance stays out of the bias: the solver adds it.
            double u = rows->velocity[first + k] - out->compliance[row] * r;
            out->compliance[row] /= share;
            out->impulse[row] = r;
            out->q[row] = u / share + rowTimes(out, copy, row, step->kicked) -
                          rowTimes(out, copy, row, step->pushed);
            out->bias[row] = 0.0; // what the solve adds to q is found here
        }
    }
}

// A linear problem is solved to this part of what it has to correct: geometry changes after it.
static const double roughPart = 1e-5;

// Of the residual that a pass may leave: what its linear problem aims at, and what will do for it.
static const double aimPart = 0.1, enoughPart = 0.3;

// Passes one after the other that leave more than this part of the residual, after which another
// method has its turn.
static const double crawling = 0.4;
enum { mostCrawls = 2 };

// Levers are those of the middle of the step, so that passes shrink the residual slowly where
// bodies turn far. Newton's method, which sees bodies turn, has its turn if passes are near the
// answer (part of the scale of velocities) and four others would not reach it.
static const double nearPart = 0.03;

static bool isForNewton(const tpIslandProblem* problem, double before, double norm, double enough) {
    double shrink = norm / before, afterFour = norm * shrink * shrink * shrink * shrink;
    return tpIslandProblem_TurnsFar(problem) && norm < before &&
           norm < nearPart * tpIslandProblem_Scale(problem) && afterFour > enough;
}

// Work of writing the linear problem and judging its answer, per block or body.
static const double freezeWork = 5e3;

static bool solveRows(tpRows* rows, tpFrozenMethod method, int directionCount, double tolerance,
                      double enough, tpSystem* system, tpSolverMemory* memory,
                      tpStepReport* report) {
    if (method == tp_frozenLemke) {
        tpPyramidOptions options = { .directionCount = directionCount,
                                     .tolerance = 1e-10,
                                     .workLimit =
                                         fmin(workLimit(rows), tpStepBudget_ForSolve(system)) };
        tpPyramidResult result;
        if (!tpPyramid_Solve(rows, &system->arena, memory, &options, &result)) {
            return false;
        }
        tpStepBudget_Spend(system, result.work);
        report->solveCount += 1;
        report->iterationCount += result.pivotCount;
        return true;
    }
    // Judged by the equations of the step, not by its own certificate.
    tpStepReport own = *report;
    tpSolveSettings settings = { .cone = tp_circularCone,
                                 .directionCount = directionCount,
                                 .tolerance = aimPart * tolerance,
                                 .enough = enoughPart * enough };
    if (!tpRows_Solve(rows, system, memory, &settings, &own)) {
        return false;
    }
    report->solveCount = own.solveCount;
    report->iterationCount = own.iterationCount;
    return true;
}

// What the solve has changed in the gaps and slips of redundant contacts, so that they agree, is
// changed in the equations of the step too.
static void shiftEquations(tpIslandProblem* problem, const tpRows* answer, tpStepReport* report) {
    tpStepGeometry* geometry = problem->geometry;
    const tpRows* rows = &geometry->step->rows;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        for (int k = 0; block < geometry->contactBlocks && k < rows->dimensions[block]; ++k) {
            bool isMean = k == 0 || !geometry->frictionAtEnd[block];
            double* shift = &geometry->shifts[rows->firstRows[block] + k];
            *shift += (isMean ? problem->theta : 1.0) * answer->bias[answer->firstRows[b] + k];
            report->gapShift = fmax(report->gapShift, fabs(*shift) * geometry->step->h);
        }
    }
}

// r from the answer, and z = z_free + M^-1 J' r.
static void accept(tpIslandProblem* problem, const tpRows* answer) {
    tpTimeStep* step = problem->geometry->step;
    for (int i = 0; i < problem->bodyCount; ++i) {
        step->pushed[problem->bodies[i]] = step->kicked[problem->bodies[i]];
    }
    tpRows_ApplyImpulses(answer, step->pushed);
    for (int b = 0; b < problem->blockCount; ++b) {
        int first = step->rows.firstRows[problem->blocks[b]];
        for (int k = 0; k < answer->dimensions[b]; ++k) {
            step->rows.impulse[first + k] = answer->impulse[answer->firstRows[b] + k];
        }
    }
}

bool tpIslandProblem_SolveFrozen(tpIslandProblem* problem, tpFrozenMethod method,
                                 int directionCount, tpIslandTolerance tolerance, int passes,
                                 tpSolverMemory* memory, tpStepReport* report, tpIslandSolve* out) {
    tpSystem* system = problem->geometry->step->system;
    tpArena* arena = &system->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    tpRows rows;
    double* F = TP_SCRATCH(arena, double, problem->size);
    double* best = TP_SCRATCH(arena, double, problem->size);
    bool isDone = tpRows_Create(&rows, system, problem->blockCount, problem->rowCount) &&
                  F != NULL && best != NULL;
    double least = INFINITY, before = INFINITY;
    int crawls = 0;
    for (int pass = 0; isDone && pass <= passes; ++pass) {
        tpIslandProblem_Evaluate(problem, F);
        double norm = tpIslandProblem_Norm(problem, F);
        // The first point is where another method gave up.
        if (pass > 0 && norm < least) {
            crawls = norm < crawling * least ? 0 : crawls + 1;
            least = norm;
            tpIslandProblem_Get(problem, best);
        } else if (pass > 0) {
            ++crawls;
        }
        bool isSlow = pass > 1 && isForNewton(problem, before, norm, tolerance.enough);
        if (least <= tolerance.enough || crawls > mostCrawls || isSlow || pass == passes) {
            break;
        }
        before = norm;
        tpStepBudget_Spend(system, freezeWork * (problem->blockCount + problem->bodyCount));
        if (pass > 0 && tpIslandProblem_IsDear(problem)) {
            break;
        }
        freeze(problem, &rows);
        double rough = roughPart * fmin(norm, tpIslandProblem_Scale(problem));
        bool isRough = rough > tolerance.enough;
        if (isRough || pass > 0) {
            tpRows_AllowSlack(&rows, system, problem->geometry->step->h);
        }
        isDone = solveRows(&rows, method, directionCount, tolerance.enough,
                           fmax(tolerance.enough, rough), system, memory, report);
        // Contradictions are those of the data only once the rest is solved. Stacks at rest would
        // take the residual of a solve for one, answer it in the next step with twice as much, and
        // sink (40 cubes by 2e-8 m): if the first pass is fine it takes gaps as they are.
        if (!isRough) {
            shiftEquations(problem, &rows, report);
        }
        accept(problem, &rows);
        out->iterations += 1;
    }
    if (isDone) {
        tpIslandProblem_Set(problem, best);
        tpIslandProblem_Evaluate(problem, F);
        out->residual = least;
        out->isSolved = least <= tolerance.enough;
    }
    tpArena_Release(arena, mark);
    return isDone && !arena->failed;
}
