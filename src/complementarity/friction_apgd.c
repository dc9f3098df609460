// Accelerated projected gradient with De Saxce's correction.
//
// For a given s = mu |u_T| the problem is the convex one of finding r in K with u + s e_N in K*,
// the minimum of r W r / 2 + (q + s e_N) r. Nesterov's method with restarts where the gradient
// turns against the motion [ODonoghueCandes15] solves it, one product with W an iteration; s is
// renewed at every iteration [AcaryCadouxLemarechalMalick11]. Cheap, hard to upset, slow in the
// end: for rough answers to problems too large to factorise.
//
// Deviation from the paper: s follows the iterate instead of waiting for the convex problem.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Iterations of the power method for the largest eigenvalue of W, and the margin on top of it.
enum { POWER_ITERATIONS = 12 };
static const double stepMargin = 1.1;

// Looks at the residual and the direction of motion.
enum { CHECK_INTERVAL = 5 };

static double largestEigenvalue(tpFrictionIsland* island, double* x, double* y) {
    int n = island->rowCount;
    double value = 1.0;
    // Uneven, so that it is orthogonal to nothing in particular.
    for (int i = 0; i < n; ++i) {
        x[i] = 1.0 + 0.1 * (double)(i % 7);
    }
    for (int k = 0; k < POWER_ITERATIONS; ++k) {
        double norm = 0.0;
        for (int i = 0; i < n; ++i) {
            norm += x[i] * x[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < n; ++i) {
            x[i] /= norm;
        }
        tpFrictionIsland_Multiply(island, x, y);
        island->work += tpFrictionIsland_SweepWork(island);
        value = 0.0;
        for (int i = 0; i < n; ++i) {
            value += y[i] * y[i];
        }
        value = sqrt(value);
        if (!(value > 0.0)) {
            return 1.0;
        }
        memcpy(x, y, sizeof(double) * (size_t)n);
    }
    return value;
}

// next = P_K(y - step (u + mu |u_T| e_N)); returns the gradient's product with the motion next - r.
static double project(const tpFrictionIsland* island, double step, const double* y, const double* u,
                      const double* r, double* next) {
    double along = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b], n = tpFrictionIsland_Rows(island, b);
        double slip = 0.0;
        for (int i = 1; i < n; ++i) {
            slip += u[row + i] * u[row + i];
        }
        double correction = island->kind[b] == tp_frictionCone ? island->mu[b] * sqrt(slip) : 0.0;
        for (int i = 0; i < n; ++i) {
            next[row + i] = y[row + i] - step * (u[row + i] + (i == 0 ? correction : 0.0));
        }
        tpFrictionProject(n, island->kind[b], island->mu[b], next + row);
        for (int i = 0; i < n; ++i) {
            along += (y[row + i] - next[row + i]) * (next[row + i] - r[row + i]);
        }
    }
    return along;
}

tpSolveStatus tpFrictionIsland_Apgd(tpFrictionIsland* island, const tpFrictionOptions* options,
                                    int limit, tpArena* arena, int* iterations) {
    (void)options;
    int n = island->rowCount;
    size_t bytes = sizeof(double) * (size_t)n;
    double* r = tpArena_Get(arena, bytes);
    double* u = tpArena_Get(arena, bytes);
    double* y = tpArena_Get(arena, bytes); // extrapolated
    double* uy = tpArena_Get(arena, bytes);
    double* next = tpArena_Get(arena, bytes);
    double* uNext = tpArena_Get(arena, bytes);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    double step = 1.0 / (stepMargin * largestEigenvalue(island, y, uy)), theta = 1.0;
    memcpy(r, island->r, bytes);
    memcpy(u, island->u, bytes);
    memcpy(y, r, bytes);
    memcpy(uy, u, bytes);
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        double along = project(island, step, y, uy, r, next);
        tpFrictionIsland_Velocity(island, next, uNext);
        ++*iterations;
        island->work += tpFrictionIsland_SweepWork(island);
        double thetaNext = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta);
        double beta = theta * (1.0 - theta) / (theta * theta + thetaNext);
        theta = thetaNext;
        if (along > 0.0) {
            theta = 1.0;
            beta = 0.0;
        }
        for (int i = 0; i < n; ++i) {
            y[i] = next[i] + beta * (next[i] - r[i]);
            uy[i] = uNext[i] + beta * (uNext[i] - u[i]);
        }
        memcpy(r, next, bytes);
        memcpy(u, uNext, bytes);
        if (k % CHECK_INTERVAL == 0 || k == limit - 1 || island->work >= island->workLimit) {
            tpFrictionIsland_Offer(island, r, u);
        }
    }
    return island->residual <= island->tolerance ? tp_solved : tp_iterationLimit;
}
