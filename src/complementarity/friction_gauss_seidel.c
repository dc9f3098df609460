// Block Gauss-Seidel with exact one-contact solves and a local proximal term.
//
// A sweep visits the blocks in order; each is solved with W_jj + eps I on the diagonal and -eps r_j
// on the right, which has the same fixed points. Without the proximal term exact local solves can
// cycle where contacts slide. With W, u = W r + q is carried along, so that a block that stays open
// costs nothing and the residual of a sweep is there when it ends. By bodies, their velocities are
// carried along and W is never formed.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Sweeps between fresh products W r + q, which wash out the rounding carried along.
enum { REFRESH_INTERVAL = 50, DIAGONAL = TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS };

// Solves block j with its velocity given: its impulse rj moves, `change` receives by how much.
// False if it did not.
static bool solveBlock(const tpFrictionIsland* island, int j, double proximal, double* rj,
                       const double* uj, double* change) {
    int n = tpFrictionIsland_Rows(island, j), kind = island->kind[j];
    if (kind != tp_frictionFree && uj[0] >= 0.0 && rj[0] == 0.0) {
        bool open = true;
        for (int i = 1; i < n; ++i) {
            open = open && rj[i] == 0.0;
        }
        if (open) {
            return false;
        }
    }
    const double* W = island->diagonal + (size_t)j * DIAGONAL;
    double A[DIAGONAL] = { 0 }, b[TP_FRICTION_MAX_ROWS] = { 0 };
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
        return false;
    }
    double moved = 0.0;
    for (int i = 0; i < n; ++i) {
        double old = rj[i];
        rj[i] = change[i];
        change[i] -= old;
        moved += fabs(change[i]);
    }
    return moved > 0.0;
}

// Between blocks only the velocities of bodies are carried; u is read off at the end.
static void sweepBodies(const tpFrictionIsland* island, double proximal, double* r, double* u) {
    double* velocity = island->velocity;
    memset(velocity, 0, sizeof(double) * (size_t)(island->bodyCount * island->componentCount));
    for (int j = 0; j < island->blockCount; ++j) {
        tpFrictionIsland_PushBodies(island, j, r + island->row[j], velocity);
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < island->blockCount; ++j) {
            int row = island->row[j], n = tpFrictionIsland_Rows(island, j);
            double* uj = u + row;
            tpFrictionIsland_ReadBodies(island, j, velocity, uj);
            for (int i = 0; i < n; ++i) {
                uj[i] += island->q[row + i];
                if (island->compliance != NULL) {
                    uj[i] += island->compliance[row + i] * r[row + i];
                }
            }
            double change[TP_FRICTION_MAX_ROWS];
            if (pass == 0 && solveBlock(island, j, proximal, r + row, uj, change)) {
                tpFrictionIsland_PushBodies(island, j, change, velocity);
            }
        }
    }
}

void tpFrictionIsland_Sweep(const tpFrictionIsland* island, double proximal, double* r, double* u) {
    // A block alone is solved for good.
    proximal = island->blockCount > 1 ? proximal : 0.0;
    if (tpFrictionIsland_IsByBodies(island)) {
        sweepBodies(island, proximal, r, u);
        return;
    }
    for (int j = 0; j < island->blockCount; ++j) {
        int row = island->row[j];
        double change[TP_FRICTION_MAX_ROWS];
        if (solveBlock(island, j, proximal, r + row, u + row, change)) {
            tpFrictionIsland_AddColumn(island, j, change, u);
        }
    }
}

// Counted in multiply-adds of a factorisation, which run about three times as fast as those of a
// sweep; a local solve is worth about 200.
double tpFrictionIsland_SweepWork(const tpFrictionIsland* island) {
    double blocks = 200.0 * (double)island->blockCount;
    if (tpFrictionIsland_IsByBodies(island)) {
        return blocks + 16.0 * (double)island->rowCount * (double)island->componentCount;
    }
    int last = island->W.columnStart[island->blockCount] - 1;
    return blocks + 3.0 * (double)island->W.value[last];
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
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        tpFrictionIsland_Sweep(island, options->localProximal, r, u);
        ++*iterations;
        island->work += tpFrictionIsland_SweepWork(island);
        double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
        if (residual <= island->tolerance || k % REFRESH_INTERVAL == REFRESH_INTERVAL - 1 ||
            k == limit - 1 || island->work >= island->workLimit) {
            tpFrictionIsland_Velocity(island, r, u);
            island->work += tpFrictionIsland_SweepWork(island);
            tpFrictionIsland_Offer(island, r, u);
        }
    }
    return island->residual <= island->tolerance ? tp_solved : tp_iterationLimit;
}
