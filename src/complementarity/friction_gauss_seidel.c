// Block Gauss-Seidel with exact one-contact solves and a local proximal term.
//
// A sweep visits the blocks in order; each is solved with W_jj + eps I on the diagonal and -eps r_j
// on the right, which has the same fixed points. Without the proximal term exact local solves can
// cycle where contacts slide. u = W r + q is carried along, so that a block that stays open costs
// nothing and the residual of a sweep is there when it ends.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Sweeps between fresh products W r + q, which wash out the rounding carried along.
enum { REFRESH_INTERVAL = 50 };

void tpFrictionIsland_Sweep(const tpFrictionIsland* island, double proximal, double* r, double* u) {
    for (int j = 0; j < island->blockCount; ++j) {
        int row = island->row[j], n = tpFrictionIsland_Rows(island, j);
        double* rj = r + row;
        const double* uj = u + row;
        int kind = island->kind[j];
        if (kind != tp_frictionFree && uj[0] >= 0.0 && rj[0] == 0.0) {
            bool open = true;
            for (int i = 1; i < n; ++i) {
                open = open && rj[i] == 0.0;
            }
            if (open) {
                continue;
            }
        }
        const double* W = island->values + island->value[island->diagonal[j]];
        double A[TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS];
        double b[TP_FRICTION_MAX_ROWS], change[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < n; ++i) {
            double sum = uj[i];
            for (int k = 0; k < n; ++k) {
                A[i * n + k] = W[i * n + k] + (i == k ? proximal : 0.0);
                sum -= A[i * n + k] * rj[k];
            }
            b[i] = sum;
            change[i] = rj[i];
        }
        if (!tpFrictionSolveLocal(n, kind, island->mu[j], A, b, change)) {
            continue;
        }
        double moved = 0.0;
        for (int i = 0; i < n; ++i) {
            double old = rj[i];
            rj[i] = change[i];
            change[i] -= old;
            moved += fabs(change[i]);
        }
        if (moved > 0.0) {
            tpFrictionIsland_AddColumn(island, j, change, u);
        }
    }
}

double tpFrictionIsland_SweepWork(const tpFrictionIsland* island) {
    int last = island->columnStart[island->blockCount] - 1;
    return (double)island->value[last] + 60.0 * (double)island->blockCount;
}

tpSolveStatus tpFrictionIsland_GaussSeidel(tpFrictionIsland* island,
                                           const tpFrictionOptions* options, int limit,
                                           tpArena* arena, int* iterations) {
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    double* r = tpArena_Get(arena, bytes);
    double* u = tpArena_Get(arena, bytes);
    if (u == NULL) {
        return tp_solverOutOfMemory;
    }
    memcpy(r, island->r, bytes);
    memcpy(u, island->u, bytes);
    for (int k = 0; k < limit && !(island->residual <= island->tolerance); ++k) {
        tpFrictionIsland_Sweep(island, options->localProximal, r, u);
        ++*iterations;
        island->work += tpFrictionIsland_SweepWork(island);
        double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
        if (residual <= island->tolerance || k % REFRESH_INTERVAL == REFRESH_INTERVAL - 1 ||
            k == limit - 1) {
            tpFrictionIsland_Velocity(island, r, u);
            island->work += tpFrictionIsland_SweepWork(island);
            tpFrictionIsland_Offer(island, r, u);
        }
    }
    return island->residual <= island->tolerance ? tp_solved : tp_iterationLimit;
}
