// Proximal points with Newton inside.
//
// The problem with u + weight (r - center) in place of u has W + weight I, regular whatever the
// rank of W, and the same solutions once center has stopped moving. Newton brings the function down
// to a tenth; then the center moves. A weight that Newton masters easily is cut, so that
// convergence in the end is as fast as Newton's own; one that it does not is raised and the step
// done again.

#include <math.h>
#include <string.h>

#include "complementarity/friction_newton.h"
#include "complementarity/friction_solvers.h"

// How far an inner solve goes, and how many steps it may take before its weight counts as too
// small.
static const double innerFraction = 0.1;
enum { INNER_LIMIT = 100 };

// Weights in units of the mean diagonal of W. Below the least nothing is regularised any more in
// double precision; above the greatest a step hardly moves.
static const double leastWeight = 1e-10, greatestWeight = 10.0;

// Far from the solution a large weight, near it a small one. If contacts that do not give may
// contradict each other, not so small that this throws impulses far along what nothing holds.
static const double leastFirstWeight = 1e-6, leastWithSlack = 1e-5;

// Steps of Newton's method up to which a weight is easy, and cut to a tenth, or manageable, and cut
// to a half; the first weight in units of the relative residual; and all steps of a try.
typedef struct Patience {
    int easy, manageable, limit;
    double start;
} Patience;

// In a struck wall half of the contacts that carry slide, and the path of interior points, which
// comes next, stands still: friction is not associated. What is won by proximal points is thrown
// away there. Where many bodies slide these go on therefore. They begin with a larger weight, since
// those that fail cost eight steps each, and it falls faster. FRICTION.md has the figures.
enum { SLIDING_BODIES = 20, SLIDING_LIMIT = 400 };
static const double slidingPart = 0.2, bordering = 0.998;

static bool isSliding(const tpFrictionIsland* island) {
    if (island->bodyCount < SLIDING_BODIES) {
        return false;
    }
    int carrying = 0, sliding = 0;
    for (int b = 0; b < island->blockCount; ++b) {
        const double* r = island->r + island->row[b];
        double bound = island->mu[b] * r[0], square = 0.0;
        if (island->kind[b] != tp_frictionCone || !(bound > 0.0)) {
            continue;
        }
        for (int i = 1; i < tpFrictionIsland_Rows(island, b); ++i) {
            square += r[i] * r[i];
        }
        ++carrying;
        sliding += square >= bordering * bound * bound;
    }
    return carrying > 0 && sliding >= slidingPart * carrying;
}

static Patience patienceOf(const tpFrictionIsland* island, const tpFrictionOptions* options,
                           int limit, bool isFirst) {
    return isFirst && options->iterationLimit <= 0 && isSliding(island)
               ? (Patience){ .easy = 4, .manageable = 10, .limit = SLIDING_LIMIT, .start = 1.0 }
               : (Patience){
                     .easy = 3, .manageable = 8, .limit = limit, .start = options->proximalStart
                 };
}

static double firstWeight(const tpFrictionIsland* island, double start) {
    double square = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            square += island->weight[b] * island->q[i] * island->q[i];
        }
    }
    double share = square > 0.0 ? island->residual / sqrt(square) : 1.0;
    bool mayContradict = island->slack > 0.0 && island->compliance == NULL;
    double least = mayContradict ? leastWithSlack : leastFirstWeight;
    return fmin(fmax(start * share, least), 1.0);
}

// A weight that failed is avoided for a while: what is remembered of it after each success.
static const double forgetting = 0.6;

// A step after which the residual has grown by more than this went to another branch of solutions.
static const double lostGrowth = 10.0;

// A sweep gets Newton out of a corner far from the solution; near it, where contacts have several
// states to choose from, it can throw it away, and is taken back.
static const double sweepGrowth = 2.0;

// A move of the center that leaves this part of the residual crawls. A part of the data that W
// answers with the eigenvalue e falls by weight / (weight + e) in a move: below this e, in units of
// the mean diagonal of W, they are taken to contradict each other.
static const double crawling = 0.7, contradicting = 4.3e-5;

// Back to the center, from which a sweep may lead to a better one. Returns the residual there.
static double restart(tpFrictionNewton* newton, tpFrictionIsland* island,
                      const tpFrictionOptions* options, double* center, double* centerVelocity,
                      double centerResidual) {
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    memcpy(newton->r, center, bytes);
    memcpy(newton->u, centerVelocity, bytes);
    tpFrictionIsland_Sweep(island, options->localProximal, newton->r, newton->u);
    island->work += tpFrictionIsland_SweepWork(island);
    double residual = sqrt(tpFrictionIsland_ResidualSquared(island, newton->r, newton->u));
    if (residual < sweepGrowth * centerResidual) {
        memcpy(center, newton->r, bytes);
        memcpy(centerVelocity, newton->u, bytes);
        return residual;
    }
    memcpy(newton->r, center, bytes);
    memcpy(newton->u, centerVelocity, bytes);
    return centerResidual;
}

static tpSolveStatus solve(tpFrictionIsland* island, const tpFrictionOptions* options, int limit,
                           bool isFirst, tpArena* arena, int* iterations) {
    tpFrictionNewton newton;
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    double* center = tpArena_Get(arena, bytes);
    double* centerVelocity = tpArena_Get(arena, bytes);
    double* previous = tpArena_Get(arena, bytes); // the center before
    double* previousVelocity = tpArena_Get(arena, bytes);
    if (arena->failed || !tpFrictionNewton_Create(&newton, island, arena)) {
        return tp_solverOutOfMemory;
    }
    tpSolveStatus status = tp_iterationLimit;
    Patience patience = patienceOf(island, options, limit, isFirst);
    double weight = firstWeight(island, patience.start), lastWeight = 0.0;
    double failedWeight = 0.0, centerResidual = island->residual;
    bool isBold = true;
    memcpy(center, newton.r, bytes);
    memcpy(centerVelocity, newton.u, bytes);
    while (!tpFrictionIsland_IsDone(island)) {
        if (newton.iterations >= patience.limit) {
            patience = patienceOf(island, options, limit, isFirst); // as it is by now
        }
        if (newton.iterations >= patience.limit) {
            break;
        }
        int before = newton.iterations;
        if (lastWeight > 0.0) {
            tpFrictionNewton_Predict(&newton, weight, center, previous, previousVelocity,
                                     lastWeight / weight);
        }
        tpFrictionNewton_Run(&newton, weight, center, isBold, innerFraction, INNER_LIMIT, &status);
        int spent = newton.iterations - before;
        if (status == tp_solverOutOfMemory || newton.isTooDear) {
            break;
        }
        double residual = sqrt(tpFrictionIsland_ResidualSquared(island, newton.r, newton.u));
        if (status == tp_solved && residual <= lostGrowth * centerResidual) {
            bool isCrawling = residual > crawling * centerResidual;
            bool isStanding =
                isCrawling && weight * (centerResidual - residual) <= contradicting * residual;
            centerResidual = residual;
            isBold = true;
            lastWeight = weight;
            weight *= spent <= patience.easy ? 0.1 : spent <= patience.manageable ? 0.5 : 1.0;
            weight = fmax(fmax(weight, fmin(lastWeight, 2.0 * failedWeight)), leastWeight);
            failedWeight *= forgetting;
            memcpy(previous, center, bytes);
            memcpy(previousVelocity, centerVelocity, bytes);
            memcpy(center, newton.r, bytes);
            memcpy(centerVelocity, newton.u, bytes);
            if (isStanding &&
                tpFrictionIsland_TakeShift(island, lastWeight, center, previous, centerVelocity)) {
                memcpy(newton.u, centerVelocity, bytes);
                centerResidual = island->residual;
                lastWeight = 0.0;
            } else if (isCrawling && island->residual <= island->enough) {
                break; // its data agree, and it is good enough
            }
        } else {
            isBold = !isBold;
            failedWeight = weight;
            weight = fmin(weight * 5.0, greatestWeight);
            lastWeight = 0.0;
            centerResidual =
                restart(&newton, island, options, center, centerVelocity, centerResidual);
        }
    }
    *iterations += newton.iterations;
    return island->residual <= island->tolerance ? tp_solved
           : status == tp_solved                 ? tp_iterationLimit
                                                 : status;
}

tpSolveStatus tpFrictionIsland_Proximal(tpFrictionIsland* island, const tpFrictionOptions* options,
                                        int limit, tpArena* arena, int* iterations) {
    return solve(island, options, limit, false, arena, iterations);
}

tpSolveStatus tpFrictionIsland_ProximalFirst(tpFrictionIsland* island,
                                             const tpFrictionOptions* options, int limit,
                                             tpArena* arena, int* iterations) {
    return solve(island, options, limit, true, arena, iterations);
}
