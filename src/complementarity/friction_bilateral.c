// Islands of joints, with W formed or given: direct where no contact pushes, Newton where some do.
//
// If joints alone are at work the problem is one linear system, W r = -q, solved and refined.
// A chain with a heavy end is so badly conditioned that sweeps and proximal points need thousands
// of rounds for what one sparse factorisation of W gives. Redundant joints make W singular; a
// diagonal of `regularisation` (the rows are scaled to a mean diagonal of one) keeps the factors
// finite, and the refinement r <- r - (W + eps)^-1 (W r + q) converges to a solution where the rows
// are consistent.

#include <math.h>
#include <string.h>

#include "complementarity/block_graph.h"
#include "complementarity/friction_solvers.h"

static const double regularisation = 1e-12;

// Blocks a column of W has in an island that is a chain of joints with a contact here and there.
enum { chainCouples = 6 };

// Solves with the regularisation taken off, at the most.
enum { maxRounds = 4 };

static bool hasJoint(const tpFrictionIsland* island) {
    for (int b = 0; b < island->blockCount; ++b) {
        if (island->kind[b] == tp_frictionFree) {
            return true;
        }
    }
    return false;
}

// Joints are in play; contacts and limits must be out of it, without impulse. False if one is
// not.
static bool chooseJoints(const tpFrictionIsland* island, bool* inPlay) {
    for (int b = 0; b < island->blockCount; ++b) {
        inPlay[b] = island->kind[b] == tp_frictionFree;
        for (int k = island->row[b]; !inPlay[b] && k < island->row[b + 1]; ++k) {
            if (island->r[k] != 0.0) {
                return false;
            }
        }
    }
    return true;
}

// With the number of components a constant, the loop unrolls.
static inline double dotRows(int componentCount, const double* x, const double* y) {
    double sum = 0.0;
    for (int k = 0; k < componentCount; ++k) {
        sum += x[k] * y[k];
    }
    return sum;
}

// Adds what blocks i and j share by side `sideI` of one and `sideJ` of the other.
static void addShared(const tpFrictionIsland* island, int i, int sideI, int j, int sideJ,
                      double* W) {
    int rows = tpFrictionIsland_Rows(island, i), columns = tpFrictionIsland_Rows(island, j);
    int n = island->componentCount;
    const double* x = island->jacobian + (size_t)(2 * island->row[i] + sideI) * (size_t)n;
    for (int a = 0; a < rows; ++a, x += 2 * n) {
        const double* y = island->jacobian + (size_t)(2 * island->row[j] + sideJ) * (size_t)n;
        for (int b = 0; b < columns; ++b, y += 2 * n) {
            W[a * columns + b] += n == 6 ? dotRows(6, x, y) : dotRows(n, x, y);
        }
    }
}

// W_ij through the bodies that blocks i and j share, row by row.
static void coupling(const tpFrictionIsland* island, int i, int j, double* W) {
    int rows = tpFrictionIsland_Rows(island, i), columns = tpFrictionIsland_Rows(island, j);
    memset(W, 0, sizeof(double) * (size_t)(rows * columns));
    for (int side = 0; side < 4; ++side) {
        int sideI = side / 2, sideJ = side % 2, body = island->body[2 * i + sideI];
        if (body >= 0 && body == island->body[2 * j + sideJ]) {
            addShared(island, i, sideI, j, sideJ, W);
        }
    }
    for (int a = 0; i == j && a < rows; ++a) {
        W[a * columns + a] +=
            regularisation +
            (island->compliance != NULL ? island->compliance[island->row[i] + a] : 0.0);
    }
}

// W of an island given by bodies. False if memory ran out.
static bool formW(const tpFrictionIsland* island, tpArena* arena, tpBlockMatrix* W) {
    int blockCount = island->blockCount;
    int* columnStart = TP_SCRATCH(arena, int, blockCount + 1);
    tpBlockBodies bodies = { island->body, island->body + 1, 2, NULL, NULL };
    tpBlockGraph graph;
    if (columnStart == NULL ||
        !tpBlockGraph_Create(&graph, blockCount, island->bodyCount, &bodies, arena)) {
        return false;
    }
    int entries = 0;
    size_t numbers = 0;
    for (int j = 0; j < blockCount; ++j) {
        columnStart[j] = entries;
        int count;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, j, &count);
        for (int k = 0; k < count; ++k) {
            numbers += (size_t)tpFrictionIsland_Rows(island, j) *
                       (size_t)tpFrictionIsland_Rows(island, neighbours[k]);
        }
        entries += count;
    }
    columnStart[blockCount] = entries;
    int* blockRow = TP_SCRATCH(arena, int, entries);
    int* value = TP_SCRATCH(arena, int, entries);
    double* values = TP_SCRATCH(arena, double, numbers);
    if (arena->failed) {
        return false;
    }
    int place = 0;
    for (int j = 0; j < blockCount; ++j) {
        int count;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, j, &count);
        for (int k = 0; k < count; ++k) {
            int entry = columnStart[j] + k;
            blockRow[entry] = neighbours[k];
            value[entry] = place;
            coupling(island, neighbours[k], j, values + place);
            place +=
                tpFrictionIsland_Rows(island, j) * tpFrictionIsland_Rows(island, neighbours[k]);
        }
    }
    tpBlockMatrix matrix = { blockCount, 0, island->row, columnStart, blockRow, value, values };
    *W = matrix;
    return true;
}

// A contact or a limit that lets through.
static bool hasViolation(const tpFrictionIsland* island, const double* u) {
    for (int b = 0; b < island->blockCount; ++b) {
        if (island->kind[b] != tp_frictionFree && u[island->row[b]] < 0.0) {
            return true;
        }
    }
    return false;
}

// r <- r - (W + eps)^-1 u for the joints, until the residual is small or stays. What the joints
// alone make contacts and limits do is read from the last r, also where it is no better than the
// first.
static bool refine(tpFrictionIsland* island, const tpBlockMatrix* W, const bool* inPlay, int limit,
                   tpArena* arena, int* iterations, bool* letsThrough) {
    tpBlockLu factor;
    double* r = TP_SCRATCH(arena, double, island->rowCount);
    double* u = TP_SCRATCH(arena, double, island->rowCount);
    if (arena->failed || !tpBlockLu_Create(&factor, W, arena) ||
        !tpBlockLu_Analyse(&factor, inPlay)) {
        return false;
    }
    tpBlockLu_Factorise(&factor);
    island->work += factor.work;
    memcpy(r, island->r, sizeof(double) * (size_t)island->rowCount);
    memcpy(u, island->u, sizeof(double) * (size_t)island->rowCount);
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        tpBlockLu_Solve(&factor, u);
        for (int b = 0; b < island->blockCount; ++b) {
            for (int i = island->row[b]; inPlay[b] && i < island->row[b + 1]; ++i) {
                r[i] -= u[i];
            }
        }
        tpFrictionIsland_Velocity(island, r, u);
        *iterations += 1;
        double before = island->residual;
        if (!tpFrictionIsland_Offer(island, r, u) || island->residual > 0.9 * before) {
            break;
        }
    }
    *letsThrough = hasViolation(island, u);
    return true;
}

// Newton, then proximal points, on the island with W formed and regular.
static tpSolveStatus solveRegular(tpFrictionIsland* island, const tpFrictionOptions* options,
                                  int limit, tpArena* arena, int* iterations) {
    tpSolveStatus status = tpFrictionIsland_Newton(island, options, limit, arena, iterations);
    if (status != tp_solved && status != tp_solverOutOfMemory) {
        tpFrictionOptions small = *options;
        small.proximalStart = 1e-4;
        status = tpFrictionIsland_Proximal(island, &small, 10 * limit, arena, iterations);
    }
    return status;
}

// The same for the island as it is: what the regularisation leaves, eps r, is taken off q, again
// and again (proximal points of that weight), until nothing is gained. A motor's large load would
// show it otherwise.
static tpSolveStatus solveFormed(tpFrictionIsland* island, const tpBlockMatrix* W,
                                 const tpFrictionOptions* options, int limit, tpArena* arena,
                                 int* iterations) {
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    double* q = tpArena_Get(arena, bytes);
    double* r = tpArena_Get(arena, bytes); // the best so far
    double* u = tpArena_Get(arena, bytes);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    tpSolveStatus status = tp_stalled;
    for (int round = 0; round < maxRounds && !tpFrictionIsland_IsDone(island); ++round) {
        double before = island->residual;
        memcpy(r, island->r, bytes);
        memcpy(u, island->u, bytes);
        for (int i = 0; i < island->rowCount; ++i) {
            q[i] = island->q[i] - regularisation * island->r[i];
        }
        tpFrictionIsland formed = *island;
        formed.W = *W;
        formed.q = q;
        tpArenaMark mark = tpArena_Mark(arena);
        status = solveRegular(&formed, options, limit, arena, iterations);
        tpArena_Release(arena, mark);
        island->work = formed.work;
        if (status == tp_solverOutOfMemory) {
            return status;
        }
        tpFrictionIsland_Velocity(island, island->r, island->u);
        island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
        if (!(island->residual < before)) {
            memcpy(island->r, r, bytes);
            memcpy(island->u, u, bytes);
            island->residual = before;
            break;
        }
    }
    return island->residual <= island->tolerance ? tp_solved
           : status == tp_solved                 ? tp_stalled
                                                 : status;
}

tpSolveStatus tpFrictionIsland_Bilateral(tpFrictionIsland* island, const tpFrictionOptions* options,
                                         int limit, tpArena* arena, int* iterations) {
    if (!hasJoint(island)) {
        return tp_notApplicable;
    }
    tpBlockMatrix W = island->W;
    bool* inPlay = TP_SCRATCH(arena, bool, island->blockCount);
    bool isByBodies = tpFrictionIsland_IsByBodies(island);
    if (arena->failed || (isByBodies && !formW(island, arena, &W))) {
        return tp_solverOutOfMemory;
    }
    if (chooseJoints(island, inPlay)) {
        bool letsThrough;
        if (!refine(island, &W, inPlay, limit, arena, iterations, &letsThrough)) {
            return tp_solverOutOfMemory;
        }
        if (island->residual <= island->tolerance || !letsThrough) {
            // Without a contact at work this is as far as rounding lets anyone go.
            island->isExhausted = true;
            return island->residual <= island->tolerance ? tp_solved : tp_stalled;
        }
    }
    // A contact or a limit is at work.
    tpSolveStatus status = tpFrictionIsland_Condense(island, &W, options, limit, arena, iterations);
    if (status == tp_solved || status == tp_solverOutOfMemory) {
        return status;
    }
    // If patches of contacts fill W, the system of the bodies is
    // much the cheaper, and has its turn first.
    if (!isByBodies || W.columnStart[W.count] > chainCouples * W.count) {
        return tp_notApplicable;
    }
    return solveFormed(island, &W, options, limit, arena, iterations);
}

tpSolveStatus tpFrictionIsland_Formed(tpFrictionIsland* island, const tpFrictionOptions* options,
                                      int limit, tpArena* arena, int* iterations) {
    if (!tpFrictionIsland_IsByBodies(island) || !hasJoint(island)) {
        return tp_notApplicable;
    }
    tpBlockMatrix W;
    if (!formW(island, arena, &W)) {
        return tp_solverOutOfMemory;
    }
    return solveFormed(island, &W, options, limit, arena, iterations);
}
