// Few contacts by what each of them does (complementarity/friction_states.h), and other ways if
// that does not get there. Factors last over all substeps of a step that turns little.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/solver.h"
#include "math/pairs.h"
#include "steppers/small_steps/few_contacts.h"

// Rounds until the states of contacts (open, sticking, sliding) no longer change; sweeps if they
// still do, and if no method ends.
enum { mostRounds = 4, someSweeps = 10, mostSweeps = 40 };

// Steps that contacts with torsion are worth, and in the last solve of a step; rounds in that.
enum { someCreep = 25, lastCreep = 100, lastRounds = 30 };

// All solvers may leave so many times what is allowed, a twentieth of what the certificate allows,
// or this part of the velocities without impulses, and may take so many cubes of the rows.
static const double moreAllowed = 10.0, allTolerance = 1e-10, cubesOfWork = 100.0;

size_t tpFewContacts_ScratchSize(int rows, int nearRows) {
    // What tpFriction_SolveDense takes, each part on a line of its own.
    size_t n = (size_t)rows, lines = 16 * 64;
    size_t dense = sizeof(double) * (n * (n + 2) + 8 * n) + tpFriction_DenseLawSize() * n + lines;
    // What the solvers of tpFriction_Solve take, measured, and a third more. With less they end
    // without a solution.
    size_t near = (size_t)nearRows, all = sizeof(double) * 12 * near * near + (size_t)64 * 1024;
    return dense > all ? dense : all;
}

static void sweep(tpFewContacts* few) {
    size_t n = (size_t)few->rowCount;
    for (int c = 0; c < few->contactCount; ++c) {
        const tpFewContact* contact = &few->contacts[c];
        double A[tp_traceWidth * tp_traceWidth], rest[tp_traceWidth], own[tp_traceWidth];
        for (int i = 0; i < contact->rows; ++i) {
            const double* W = few->W + (size_t)(contact->row + i) * n;
            rest[i] = few->q[contact->row + i] + tpDotNumbers(few->rowCount, W, few->solved) -
                      tpDotNumbers(contact->rows, W + contact->row, few->solved + contact->row);
            memcpy(A + i * contact->rows, W + contact->row, sizeof(double) * (size_t)contact->rows);
        }
        if (tpFriction_SolveOne(contact->rows, A, rest, few->mu[c], own)) {
            memcpy(few->solved + contact->row, own, sizeof(double) * (size_t)contact->rows);
        }
    }
}

// q = u - W r, q being u as it began.
static void findFree(const tpFewContacts* few) {
    size_t n = (size_t)few->rowCount;
    for (int i = 0; i < few->rowCount; ++i) {
        few->q[i] -= tpDotNumbers(few->rowCount, few->W + (size_t)i * n, few->r);
    }
}

// Sweeps from impulses where others may have ended, which go on from there, and the states that
// they lead to.
static void sweepFrom(tpFewContacts* few, double* impulses, int count) {
    size_t n = (size_t)few->rowCount;
    memcpy(few->solved, impulses, sizeof(double) * n);
    for (int c = 0; c < few->contactCount; ++c) {
        few->mu[c] = few->states.contacts[c].muDynamic;
    }
    for (int k = 0; k < count; ++k) {
        sweep(few);
    }
    memcpy(impulses, few->solved, sizeof(double) * n);
    for (int i = 0; i < few->rowCount; ++i) {
        few->u[i] = few->q[i] + tpDotNumbers(few->rowCount, few->W + (size_t)i * n, few->solved);
    }
    tpFrictionStates_Read(&few->states);
}

static tpFrictionProblem poseProblem(const tpFewContacts* few, const tpMatrix* W) {
    return (tpFrictionProblem){ .blockCount = few->contactCount,
                                .dimensions = few->dimensions,
                                .kinds = few->kinds,
                                .mu = few->mu,
                                .q = few->q,
                                .W = W };
}

// By the solver of small dense problems, from r. False if that does not get there.
static bool solveDense(tpFewContacts* few, double allowed, tpArena* arena) {
    int iterations = 0;
    double work = 0.0;
    tpMatrix W = tpDenseMatrix(few->rowCount, few->rowCount, few->W);
    tpFrictionProblem problem = poseProblem(few, &W);
    tpSmallSolve settings = { .tolerance = allowed, .knowsStates = true };
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    if (!tpFriction_SolveDense(&problem, &settings, arena, few->solved, &iterations, &work)) {
        return false;
    }
    tpFrictionStates_Read(&few->states);
    return true;
}

// By all solvers of problems with friction, from r. Robots that lie on many points have problems
// that only the path inside the cones gets to the end of; a few of these solves bring them to rest.
static bool solveByAll(tpFewContacts* few, double allowed, tpArena* arena) {
    double n = few->rowCount;
    tpMatrix W = tpDenseMatrix(few->rowCount, few->rowCount, few->W);
    tpFrictionProblem problem = poseProblem(few, &W);
    tpFrictionOptions options = tpDefaultFrictionOptions();
    tpSolverMemory memory = { .arena = *arena, .workLimit = HUGE_VAL };
    options.tolerance = allTolerance;
    options.velocityTolerance = moreAllowed * allowed;
    options.workLimit = cubesOfWork * n * n * n;
    options.isUntimed = true;
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    tpSolveStatus status = tpFriction_Solve(&problem, &options, &memory, few->solved, few->u, NULL);
    *arena = memory.arena; // with the blocks that it may have got
    tpFrictionStates_Read(&few->states);
    return status == tp_solved;
}

static bool solveByStates(tpFewContacts* few, double allowed, bool isLast) {
    int rounds = few->hasTorsion && isLast ? lastRounds : mostRounds;
    return tpFrictionStates_Solve(&few->states, few->r, allowed, &rounds);
}

bool tpFewContacts_Solve(tpFewContacts* few, double allowed, bool isLast, tpArena* arena) {
    memcpy(few->q, few->u, sizeof(double) * (size_t)few->rowCount);
    memcpy(few->solved, few->r, sizeof(double) * (size_t)few->rowCount);
    few->states.creepSteps = isLast ? lastCreep : someCreep;
    bool isSolved = solveByStates(few, allowed, isLast);
    if (!isSolved) {
        // Many contacts that meet at once: sweeps find out what most of them do.
        findFree(few);
        memcpy(few->swept, few->r, sizeof(double) * (size_t)few->rowCount);
        sweepFrom(few, few->swept, someSweeps);
        isSolved = solveByStates(few, allowed, isLast) ||
                   (isLast && solveDense(few, allowed, arena)) ||
                   (isLast && !few->isWary && solveByAll(few, allowed, arena));
        if (!isSolved) {
            sweepFrom(few, few->swept, mostSweeps - someSweeps);
        }
    }
    tpFrictionStates_KeepInCones(&few->states);
    return isSolved;
}
