// Nonsmooth nonlinear conjugate gradients [SilcowitzNiebeErleben10, algorithm 2].
//
// A Gauss-Seidel sweep moves r to a new point; the way back, r - sweep(r), stands for a gradient,
// and Fletcher-Reeves combines it with the last direction. If the gradient grows the direction
// is forgotten. r and u = W r + q depend on each other linearly, so directions are carried as pairs
// and no product with W is needed beyond the sweep.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "math/elementary.h"

// Sweeps between fresh products W r + q; and between looks at the contraction, which goes up and
// down from sweep to sweep.
enum { REFRESH_INTERVAL = 50, WINDOW = 25 };

// Whether the residual, falling from `before` to `now` over a window, will be there within `left`
// more sweeps.
static bool isPromising(double before, double now, double tolerance, int left) {
    if (!(now < before)) {
        return false;
    }
    return tpLog(tolerance / now) / tpLog(now / before) * WINDOW <= left;
}

tpSolveStatus tpFrictionIsland_Nncg(tpFrictionIsland* island, const tpFrictionOptions* options,
                                    int limit, tpArena* arena, int* iterations) {
    int n = island->rowCount;
    size_t bytes = sizeof(double) * (size_t)n;
    double* r = tpArena_Get(arena, bytes); // iterate
    double* u = tpArena_Get(arena, bytes);
    double* sr = tpArena_Get(arena, bytes); // after the sweep
    double* su = tpArena_Get(arena, bytes);
    double* pr = tpArena_GetZeroed(arena, bytes); // direction
    double* pu = tpArena_GetZeroed(arena, bytes);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    memcpy(r, island->r, bytes);
    memcpy(u, island->u, bytes);
    double oldGradient = 0.0, best = island->residual, windowStart = best;
    tpSolveStatus status = tp_iterationLimit;
    int doubts = 0; // windows in a row that did not promise enough
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        memcpy(sr, r, bytes);
        memcpy(su, u, bytes);
        tpFrictionIsland_Sweep(island, options->localProximal, sr, su);
        ++*iterations;
        island->work += tpFrictionIsland_SweepWork(island);
        double residual = sqrt(tpFrictionIsland_ResidualSquared(island, sr, su));
        best = fmin(best, residual);
        if (k % WINDOW == WINDOW - 1) {
            doubts = isPromising(windowStart, best, island->tolerance, limit - k) ? 0 : doubts + 1;
            if (doubts == 2) {
                status = tp_stalled;
                limit = k + 1;
            }
            windowStart = best;
        }
        if (residual <= island->tolerance || k % REFRESH_INTERVAL == REFRESH_INTERVAL - 1 ||
            k == limit - 1 || island->work >= island->workLimit) {
            tpFrictionIsland_Velocity(island, sr, su);
            island->work += tpFrictionIsland_SweepWork(island);
            tpFrictionIsland_Offer(island, sr, su);
        }
        double gradient = 0.0;
        for (int i = 0; i < n; ++i) {
            gradient += (sr[i] - r[i]) * (sr[i] - r[i]);
        }
        double beta = oldGradient > 0.0 ? gradient / oldGradient : 0.0;
        beta = beta <= 1.0 ? beta : 0.0;
        oldGradient = gradient;
        for (int i = 0; i < n; ++i) {
            double dr = sr[i] - r[i], du = su[i] - u[i];
            r[i] = sr[i] + beta * pr[i];
            u[i] = su[i] + beta * pu[i];
            pr[i] = beta * pr[i] + dr;
            pu[i] = beta * pu[i] + du;
        }
    }
    return island->residual <= island->tolerance ? tp_solved : status;
}
