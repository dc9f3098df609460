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

#include "complementarity/friction_solvers.h"

// What held_blocks.c adds to the diagonal of W.
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

// A contact or a limit that lets through.
static bool hasViolation(const tpFrictionIsland* island, const double* u) {
    for (int b = 0; b < island->blockCount; ++b) {
        if (island->kind[b] != tp_frictionFree && u[island->row[b]] < 0.0) {
            return true;
        }
    }
    return false;
}

// What a pair of blocks takes in forming W, and the part of the work that is left which that may
// be.
static const double pairWork = 300.0, formedPart = 0.25;

// Whether so many contacts are on one body that W, which is full then, would take too much of what
// the island may cost. A pair of blocks is counted once for each body that they share.
static bool isCrowded(const tpFrictionIsland* island, int* counts) {
    if (!tpFrictionIsland_IsByBodies(island)) {
        return false;
    }
    for (int k = 0; k < 2 * island->blockCount; ++k) {
        counts[island->body[k] >= 0 ? island->body[k] : island->bodyCount] += 1;
    }
    double pairs = 0.0;
    for (int i = 0; i < island->bodyCount; ++i) {
        pairs += (double)counts[i] * (double)counts[i];
    }
    return pairWork * pairs > formedPart * (island->workLimit - island->work);
}

// r <- r - (W + eps)^-1 u for the joints, until the residual is small or stays. What the joints
// alone make contacts and limits do is read from the last r, also where it is no better than the
// first.
static bool refine(tpFrictionIsland* island, tpHeldBlocks* held, const bool* inPlay, int limit,
                   tpArena* arena, int* iterations, bool* letsThrough) {
    double* r = TP_SCRATCH(arena, double, island->rowCount);
    double* u = TP_SCRATCH(arena, double, island->rowCount);
    if (arena->failed || !tpHeldBlocks_Factorise(held, inPlay, &island->work)) {
        return false;
    }
    memcpy(r, island->r, sizeof(double) * (size_t)island->rowCount);
    memcpy(u, island->u, sizeof(double) * (size_t)island->rowCount);
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        tpHeldBlocks_Solve(held, u);
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
    tpHeldBlocks held;
    bool* inPlay = TP_SCRATCH(arena, bool, island->blockCount);
    int* counts = TP_SCRATCH_ZEROED(arena, int, island->bodyCount + 1);
    if (arena->failed) {
        return tp_solverOutOfMemory;
    }
    if (isCrowded(island, counts)) {
        return tp_notApplicable;
    }
    if (!tpHeldBlocks_Create(&held, island, arena)) {
        return tp_solverOutOfMemory;
    }
    island->work += held.formWork;
    if (chooseJoints(island, inPlay)) {
        bool letsThrough;
        if (!refine(island, &held, inPlay, limit, arena, iterations, &letsThrough)) {
            return tp_solverOutOfMemory;
        }
        if (island->residual <= island->tolerance || !letsThrough) {
            // Without a contact at work this is as far as rounding lets anyone go.
            island->isExhausted = true;
            return island->residual <= island->tolerance ? tp_solved : tp_stalled;
        }
    }
    // A contact or a limit is at work.
    tpSolveStatus status =
        tpFrictionIsland_Condense(island, &held, options, limit, arena, iterations);
    if (status == tp_solved || status == tp_solverOutOfMemory) {
        return status;
    }
    if (!tpFrictionIsland_IsByBodies(island)) {
        return tp_notApplicable;
    }
    double formed = held.formWork;
    const tpBlockMatrix* W = tpHeldBlocks_W(&held);
    if (W == NULL) {
        return tp_solverOutOfMemory;
    }
    island->work += held.formWork - formed;
    // If patches of contacts fill W, the system of the bodies is
    // much the cheaper, and has its turn first.
    if (W->columnStart[W->count] > chainCouples * W->count) {
        return tp_notApplicable;
    }
    return solveFormed(island, W, options, limit, arena, iterations);
}

tpSolveStatus tpFrictionIsland_Formed(tpFrictionIsland* island, const tpFrictionOptions* options,
                                      int limit, tpArena* arena, int* iterations) {
    if (!tpFrictionIsland_IsByBodies(island) || !hasJoint(island)) {
        return tp_notApplicable;
    }
    tpHeldBlocks held = { .island = island, .arena = arena };
    const tpBlockMatrix* W = tpHeldBlocks_W(&held);
    island->work += held.formWork;
    return W != NULL ? solveFormed(island, W, options, limit, arena, iterations)
                     : tp_solverOutOfMemory;
}
