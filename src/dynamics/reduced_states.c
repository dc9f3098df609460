// Few contacts on trees by what each of them does (complementarity/friction_states.h), with the
// factors of the last solve if the problem is the same but for its velocities.

#include <float.h>
#include <math.h>
#include <string.h>

#include "dynamics/reduced.h"
#include "math/pairs.h"

// Rows for which there is room, and more of them than the step has had at its start.
enum { mostKept = 63, moreRows = 9 };

// Numbers of the key of a block, and of each of its rows.
enum { blockNumbers = 4, rowNumbers = 12 };

// Rounds until the states of contacts no longer change.
enum { mostRounds = 3 };

// Roundings of the velocities that impulses give.
static const double roundings = 64.0;

bool tpReduced_ReserveKept(tpReduced* reduced, const tpRows* rows) {
    tpKeptProblem* kept = &reduced->kept;
    tpArena* arena = &reduced->system->arena;
    kept->blockCount = 0;
    int wanted = rows->rowCount + moreRows < mostKept ? rows->rowCount + moreRows : mostKept;
    if (wanted <= kept->rowRoom) {
        return true;
    }
    size_t n = (size_t)wanted, numbers = n * (blockNumbers + rowNumbers);
    kept->key = TP_SCRATCH(arena, double, numbers);
    kept->other = TP_SCRATCH(arena, double, numbers);
    kept->W = TP_SCRATCH(arena, double, n* n);
    kept->r = TP_SCRATCH(arena, double, n);
    kept->rowRoom = kept->blockRoom = 0;
    if (arena->failed || !tpFrictionStates_Reserve(&kept->states, arena, wanted, wanted)) {
        return false;
    }
    kept->rowRoom = kept->blockRoom = wanted;
    return true;
}

// Writes what tells problems apart; returns its end.
static double* writeKey(const tpRows* rows, const int* blocks, int count, double* key) {
    for (int i = 0; i < count; ++i) {
        int b = blocks[i], first = rows->firstRows[b];
        key[0] = rows->bodyA[b];
        key[1] = rows->bodyB[b];
        key[2] = 8 * rows->dimensions[b] + rows->kinds[b];
        key[3] = rows->mu[b];
        key += blockNumbers;
        for (int k = first; k < first + rows->dimensions[b]; ++k) {
            const double* a = rows->jacobianA + (size_t)6 * (size_t)k;
            const double* c = rows->jacobianB + (size_t)6 * (size_t)k;
            for (int j = 0; j < 6; ++j) {
                key[j] = rows->bodyA[b] >= 0 ? rows->scale[k] * a[j] : 0.0;
                key[6 + j] = rows->bodyB[b] >= 0 ? rows->scale[k] * c[j] : 0.0;
            }
            key += rowNumbers;
        }
    }
    return key;
}

// Whether the blocks are those that the kept problem has; else it is posed anew. False in `isDone`
// if memory ran out.
static bool pose(tpReduced* reduced, const tpRows* rows, const int* blocks, int count,
                 bool* isDone) {
    tpKeptProblem* kept = &reduced->kept;
    const double* end = writeKey(rows, blocks, count, kept->other);
    size_t bytes = (size_t)(end - kept->other) * sizeof(double);
    *isDone = true;
    if (kept->blockCount == count && memcmp(kept->key, kept->other, bytes) == 0) {
        return true;
    }
    double* last = kept->key;
    kept->key = kept->other;
    kept->other = last;
    kept->blockCount = count;
    kept->rowCount = 0;
    tpFrictionStates* states = &kept->states;
    for (int i = 0; i < count; ++i) {
        int b = blocks[i];
        double mu = rows->kinds[b] == tp_frictionCone ? rows->mu[b] : 0.0;
        states->contacts[i] = (tpStatedContact){
            .row = kept->rowCount, .rows = rows->dimensions[b], .muStatic = mu, .muDynamic = mu
        };
        kept->rowCount += rows->dimensions[b];
    }
    states->contactCount = count;
    states->rowCount = kept->rowCount;
    states->W = kept->W;
    tpArenaMark mark = tpArena_Mark(&reduced->system->arena);
    *isDone = tpReduced_FormMatrix(reduced, rows, blocks, count, &reduced->system->arena, kept->W);
    tpArena_Release(&reduced->system->arena, mark);
    return false;
}

static bool isSmall(const tpReduced* reduced, const tpRows* rows, const int* blocks, int count) {
    int n = 0;
    for (int i = 0; i < count; ++i) {
        if (rows->dimensions[blocks[i]] > tp_mostStatedRows) {
            return false;
        }
        n += rows->dimensions[blocks[i]];
    }
    return n <= reduced->kept.rowRoom;
}

// Impulses to begin with, and the velocities with them; returns what rounding leaves of these.
static double load(tpKeptProblem* kept, const tpRows* rows, const int* blocks) {
    tpFrictionStates* states = &kept->states;
    size_t n = (size_t)kept->rowCount;
    double rounding = 0.0;
    for (int i = 0, at = 0; i < kept->blockCount; ++i) {
        int first = rows->firstRows[blocks[i]];
        for (int k = 0; k < states->contacts[i].rows; ++k, ++at) {
            kept->r[at] = states->solved[at] = rows->impulse[first + k] / rows->scale[first + k];
            states->u[at] = rows->scale[first + k] * rows->q[first + k];
        }
    }
    for (size_t i = 0; i < n; ++i) {
        const double* W = kept->W + i * n;
        states->u[i] += tpDotNumbers((int)n, W, kept->r);
        rounding += W[i] * kept->r[i] * W[i] * kept->r[i];
    }
    return roundings * DBL_EPSILON * sqrt(rounding);
}

bool tpReduced_SolveByStates(tpReduced* reduced, tpRows* rows, const int* blocks, int count,
                             double tolerance, int* rounds) {
    tpKeptProblem* kept = &reduced->kept;
    tpFrictionStates* states = &kept->states;
    bool isDone;
    if (!isSmall(reduced, rows, blocks, count)) {
        return false;
    }
    bool isSame = pose(reduced, rows, blocks, count, &isDone);
    if (!isDone) {
        kept->blockCount = 0;
        return false;
    }
    double rounding = load(kept, rows, blocks);
    if (!isSame) {
        tpFrictionStates_Read(states);
    }
    double allowed = fmax(tolerance, rounding) / sqrt((double)kept->rowCount);
    int used = mostRounds;
    bool isSolved = tpFrictionStates_Solve(states, kept->r, allowed, &used);
    *rounds += used;
    if (!isSolved) {
        kept->blockCount = 0;
        return false;
    }
    tpFrictionStates_KeepInCones(states);
    for (int i = 0, at = 0; i < count; ++i) {
        int first = rows->firstRows[blocks[i]];
        for (int k = 0; k < rows->dimensions[blocks[i]]; ++k, ++at) {
            rows->impulse[first + k] = states->solved[at] * rows->scale[first + k];
        }
    }
    return true;
}
