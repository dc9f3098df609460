// Mechanisms that touch: joints are eliminated, and what is left is a small problem of the
// contacts.
//
// With the blocks that hold (e) and the others (c) of an island,
//
//     W_ee r_e + W_ec r_c + q_e = 0,    u_c = S r_c + p,
//     S = W_cc - W_ce W_ee^-1 W_ec,     p = q_c - W_ce W_ee^-1 q_e.
//
// A robot has hundreds of rows in joints, servos and rotors and a dozen contacts: one sparse
// factorisation of W_ee along the tree, one solve for each contact row, and Newton's steps are
// taken on a matrix of a few dozen rows. S is what the contacts feel of the whole mechanism, so its
// diagonal, other than that of W, is the right scale for their laws.
//
// An impulse of bounded size (a motor, a servo with an effort limit, dry friction in a joint) is a
// cone whose normal row touches nothing. Within its bound it holds like a joint, and is eliminated
// with them. One that turns out to be at its bound joins the contacts for the rest of the solve,
// and the problem is condensed again: what may go back is never done.
//
// Most limits of joints, and contacts of parts that are near each other, do not push. Those that
// neither push nor close at the start are left out until the answer would close them: then they
// join in the same way.

#include <float.h>
#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Dense rows that are worth it.
enum { maxRows = 160 };

// Rounds in which drives join the contacts, those above this part of their bound, and contacts that
// close, those faster than this part of the fastest.
enum { maxChanges = 16 };
static const double nearBound = 0.8, nearFastest = 0.1;

// Newton's steps on the small problem, and those of interior points where they were not enough.
enum { firstSteps = 6, pathSteps = 40, shiftSteps = 12 };

// Corrections by the residual of the whole island, and so many if each leaves but this part of it:
// S of stiff mechanisms is a small difference of large numbers.
enum { maxRounds = 4, mostRounds = 12 };
static const double fastRound = 0.2;

// No contact is asked for less than so many units of the last place of its impulses.
static const double roundings = 64.0;

// If Newton's method does not converge (redundant contacts), this part of the tolerance is enough.
// Below `nearEnough` only rounding is left. Interior points would find another one of many
// solutions there, and the next solve would start far from its own.
static const double enough = 0.3, nearEnough = 0.03;

// As long as drives may join them, contacts are solved to this part of their velocities.
static const double loosePart = 1e-4;

typedef struct tpCondensed {
    tpFrictionIsland* island;
    tpHeldBlocks* held;
    tpArena* arena;
    bool* isEliminated; // blocks
    bool* isDrive;      // blocks: an impulse of bounded size
    bool* isLeftOut;    // blocks: a contact or limit that does not push

    // The blocks that are left, and their first rows among themselves.
    int blockCount, rowCount;
    int* blocks;
    int* firstRows;
    int* dimensions;
    unsigned char* kinds;
    double* mu;

    double* r; // of the island
    double* u;
    double* column; // scratch: the island's rows
    double* S;      // by columns, in units of the problem
    double* q;
    double* own;   // impulses of the blocks that are left, in units of the problem
    double* shift; // the change of q so far, in the same units; NULL if q may not change
} tpCondensed;

// The bound of a drive: nothing but its own load acts on its normal row.
static double boundOf(const tpCondensed* condensed, int b) {
    const tpFrictionIsland* island = condensed->island;
    int row = island->row[b];
    double give = island->diagonal[(size_t)b * TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS];
    double load = give > 0.0 ? -island->q[row] / give : island->r[row];
    return island->mu[b] * fmax(load, 0.0);
}

// The impulse of a drive, of its bound.
static double loadOf(const tpCondensed* condensed, int b, double impulse) {
    double bound = boundOf(condensed, b);
    return bound > 0.0 ? fabs(impulse) / bound : INFINITY;
}

// A drive joins the contacts, with an impulse within its bound.
static void letGo(tpCondensed* condensed, int b) {
    const tpFrictionIsland* island = condensed->island;
    int row = island->row[b];
    double bound = boundOf(condensed, b);
    condensed->isEliminated[b] = false;
    condensed->r[row] = island->mu[b] > 0.0 ? bound / island->mu[b] : 0.0;
    condensed->r[row + 1] = fmin(fmax(condensed->r[row + 1], -bound), bound);
}

static bool allocate(tpCondensed* condensed) {
    tpArena* arena = condensed->arena;
    int n = condensed->island->blockCount, rows = condensed->island->rowCount;
    condensed->isEliminated = TP_SCRATCH(arena, bool, n);
    condensed->isDrive = TP_SCRATCH(arena, bool, n);
    condensed->isLeftOut = TP_SCRATCH(arena, bool, n);
    condensed->blocks = TP_SCRATCH(arena, int, n);
    condensed->firstRows = TP_SCRATCH(arena, int, n + 1);
    condensed->dimensions = TP_SCRATCH(arena, int, n);
    condensed->kinds = TP_SCRATCH(arena, unsigned char, n);
    condensed->mu = TP_SCRATCH(arena, double, n);
    condensed->r = TP_SCRATCH(arena, double, rows);
    condensed->u = TP_SCRATCH(arena, double, rows);
    condensed->column = TP_SCRATCH(arena, double, rows);
    return !arena->failed;
}

// Lists the blocks that are left. False if there are too many.
static bool listBlocks(tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    condensed->blockCount = condensed->rowCount = 0;
    for (int b = 0; b < island->blockCount; ++b) {
        if (condensed->isEliminated[b] || condensed->isLeftOut[b]) {
            continue;
        }
        int i = condensed->blockCount++;
        condensed->blocks[i] = b;
        condensed->firstRows[i] = condensed->rowCount;
        condensed->dimensions[i] = tpFrictionIsland_Rows(island, b);
        condensed->kinds[i] = island->kind[b];
        condensed->mu[i] = island->mu[b];
        condensed->rowCount += condensed->dimensions[i];
    }
    condensed->firstRows[condensed->blockCount] = condensed->rowCount;
    return condensed->rowCount <= maxRows;
}

// Factorises W_ee and forms S, in units of the problem: r = r' / sqrt(weight), u = u' sqrt(weight).
static bool formMatrix(tpCondensed* condensed) {
    tpFrictionIsland* island = condensed->island;
    tpArena* arena = condensed->arena;
    int n = condensed->rowCount;
    condensed->S = TP_SCRATCH(arena, double, n* n);
    condensed->q = TP_SCRATCH(arena, double, n);
    condensed->own = TP_SCRATCH(arena, double, n);
    condensed->shift = island->slack > 0.0 ? TP_SCRATCH(arena, double, n) : NULL;
    if (arena->failed ||
        !tpHeldBlocks_Factorise(condensed->held, condensed->isEliminated, &island->work) ||
        !tpHeldBlocks_Reduce(condensed->held, condensed->blockCount, condensed->blocks,
                             condensed->firstRows, condensed->S)) {
        return false;
    }
    for (int j = 0, column = 0; j < condensed->blockCount; ++j) {
        for (; column < condensed->firstRows[j + 1]; ++column) {
            double* S = condensed->S + (size_t)column * (size_t)n;
            for (int i = 0; i < condensed->blockCount; ++i) {
                double units = sqrt(island->weight[condensed->blocks[i]] *
                                    island->weight[condensed->blocks[j]]);
                for (int a = condensed->firstRows[i]; a < condensed->firstRows[i + 1]; ++a) {
                    S[a] *= units;
                }
            }
        }
    }
    island->work += (double)n * tpFrictionIsland_SweepWork(island);
    return true;
}

// The velocities of what is left without its own impulses, if what is eliminated holds.
static void setVelocities(tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    int n = condensed->rowCount;
    // From the iterate: u_c - W_ce W_ee^-1 u_e is what it would be with u_e = 0.
    memcpy(condensed->column, condensed->u, sizeof(double) * (size_t)island->rowCount);
    tpHeldBlocks_Solve(condensed->held, condensed->column);
    for (int i = 0; i < condensed->blockCount; ++i) {
        int b = condensed->blocks[i], first = condensed->firstRows[i];
        double* rows = condensed->q + first;
        for (int a = 0; a < condensed->dimensions[i]; ++a) {
            rows[a] = condensed->u[island->row[b] + a];
        }
        tpHeldBlocks_TakeResponse(condensed->held, b, condensed->column, rows);
        for (int a = 0; a < condensed->dimensions[i]; ++a) {
            rows[a] *= sqrt(island->weight[b]);
            condensed->own[first + a] = condensed->r[island->row[b] + a] / sqrt(island->weight[b]);
        }
    }
    for (int j = 0; j < n; ++j) {
        const double* column = condensed->S + (size_t)j * (size_t)n;
        for (int i = 0; i < n; ++i) {
            condensed->q[i] -= column[i] * condensed->own[j];
        }
    }
}

static double roundingOf(const tpFrictionIsland* island) {
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            sum += island->weight[b] * island->r[i] * island->r[i];
        }
    }
    return roundings * DBL_EPSILON * sqrt(sum);
}

// The size of the velocities without impulses, in units of velocity.
static double speedOf(const tpFrictionIsland* island) {
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            sum += island->weight[b] * island->q[i] * island->q[i];
        }
    }
    return sqrt(sum);
}

// Newton's method; if it does not get there interior points, then proximal points. False if memory
// ran out.
static bool solveIsland(tpFrictionIsland* island, const tpFrictionOptions* options,
                        const tpSmallSolve* small, double willDo, tpArena* arena, int* iterations) {
    tpSolveStatus status = tp_solved;
    if (small->effort != tp_restOfEffort && !(island->residual <= island->tolerance)) {
        status = tpFrictionIsland_Newton(island, options, firstSteps, arena, iterations);
    }
    if (small->effort == tp_quickEffort) {
        return status != tp_solverOutOfMemory;
    }
    // Rows that contradict each other are told by proximal points within a few steps; interior
    // points would not get below what they contradict each other by.
    if (status != tp_solverOutOfMemory && island->slack > 0.0 &&
        !(island->residual <= island->enough)) {
        status = tpFrictionIsland_Proximal(island, options, shiftSteps, arena, iterations);
    }
    if (status != tp_solverOutOfMemory && !(island->residual <= island->enough)) {
        status = tpFrictionIsland_Interior(island, options, pathSteps, arena, iterations);
    }
    island->tolerance = willDo;
    if (status != tp_solverOutOfMemory && !(island->residual <= willDo)) {
        status = tpFrictionIsland_Proximal(island, options, 4 * small->limit, arena, iterations);
    }
    return status != tp_solverOutOfMemory;
}

bool tpFriction_SolveSmall(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                           const tpSmallSolve* small, tpArena* arena, double* r, int* iterations,
                           double* work) {
    bool isReached = true;
    if (small->isReached != NULL) {
        *small->isReached = true;
    }
    if (small->shift != NULL) {
        memset(small->shift, 0, sizeof(double) * (size_t)problem->W->rowCount);
    }
    if (small->effort != tp_restOfEffort &&
        tpFriction_SolveDense(problem, small, arena, r, iterations, work)) {
        return true;
    }
    tpFrictionSystem system;
    if (!tpFrictionSystem_Build(&system, problem, arena)) {
        return false;
    }
    tpFrictionSystem_Load(&system, r);
    // The first steps are to see which drives are asked for too much.
    double slack = small->effort != tp_quickEffort ? small->slack : 0.0;
    double* shift = slack > 0.0 ? TP_SCRATCH_ZEROED(arena, double, system.rowCount) : NULL;
    if (arena->failed) {
        return false;
    }
    for (int i = 0, row = 0; i < system.islandCount; ++i) {
        tpFrictionIsland* island = &system.islands[i];
        island->slack = slack;
        island->shift = shift != NULL ? shift + row : NULL;
        row += island->rowCount;
        double share = small->tolerance * sqrt((double)island->rowCount / (double)system.rowCount);
        island->tolerance = fmax(share, roundingOf(island));
        island->work = island->newtonWork = 0.0;
        island->workLimit = small->workLimit - *work;
        island->enough = fmax(island->tolerance, nearEnough / tp_smallPart * share);
        island->grace = INFINITY;
        island->isExhausted = false;
        island->stop = options->stop;
        double stalled = tp_stalledPart * speedOf(island);
        island->enough = fmax(island->enough, stalled);
        double willDo = fmax(fmax(island->tolerance, enough / tp_smallPart * share), stalled);
        bool isDone = solveIsland(island, options, small, willDo, arena, iterations);
        *work += island->work;
        if (!isDone) {
            return false;
        }
        isReached = isReached && island->residual <= willDo;
    }
    if (small->isReached != NULL) {
        *small->isReached = isReached;
    }
    for (int i = 0; shift != NULL && i < system.rowCount; ++i) {
        small->shift[system.sourceRow[i]] = shift[i] / system.scale[i];
    }
    tpFrictionSystem_Store(&system, r);
    return true;
}

// By how much q of the blocks that are left may still be changed.
static double slackLeft(const tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    double used = 0.0;
    for (int i = 0; condensed->shift != NULL && i < condensed->blockCount; ++i) {
        int b = condensed->blocks[i];
        for (int row = island->row[b]; row < island->row[b + 1]; ++row) {
            used = fmax(used, sqrt(island->weight[b]) * fabs(island->shift[row]));
        }
    }
    return condensed->shift != NULL ? fmax(island->slack - used, 0.0) : 0.0;
}

// What was added to q of what is left is added to that of the island.
static void takeShift(tpCondensed* condensed) {
    tpFrictionIsland* island = condensed->island;
    bool isShifted = false;
    for (int i = 0; condensed->shift != NULL && i < condensed->blockCount; ++i) {
        int b = condensed->blocks[i];
        for (int a = 0; a < condensed->dimensions[i]; ++a) {
            double change = condensed->shift[condensed->firstRows[i] + a] / sqrt(island->weight[b]);
            isShifted = isShifted || change != 0.0;
            island->q[island->row[b] + a] += change;
            island->shift[island->row[b] + a] += change;
        }
    }
    if (isShifted) {
        tpFrictionIsland_Velocity(island, island->r, island->u);
        island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
    }
}

static bool solveSmall(tpCondensed* condensed, const tpFrictionOptions* options, double tolerance,
                       int limit, int* iterations) {
    int n = condensed->rowCount;
    tpMatrix S = tpDenseMatrix(n, n, condensed->S);
    tpFrictionProblem problem = { .blockCount = condensed->blockCount,
                                  .dimensions = condensed->dimensions,
                                  .kinds = condensed->kinds,
                                  .mu = condensed->mu,
                                  .q = condensed->q,
                                  .W = &S };
    tpSmallSolve small = { .tolerance = tolerance,
                           .limit = limit,
                           .workLimit = condensed->island->workLimit,
                           .slack = slackLeft(condensed),
                           .shift = condensed->shift };
    return tpFriction_SolveSmall(&problem, options, &small, condensed->arena, condensed->own,
                                 iterations, &condensed->island->work);
}

// The impulses of the whole island for those of what is left.
static void expand(tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    for (int i = 0; i < condensed->blockCount; ++i) {
        int b = condensed->blocks[i];
        for (int a = 0; a < condensed->dimensions[i]; ++a) {
            condensed->r[island->row[b] + a] =
                condensed->own[condensed->firstRows[i] + a] * sqrt(island->weight[b]);
        }
    }
    for (int k = 0; k < 2; ++k) { // the second time for rounding, and for what keeps the factors
                                  // regular
        tpFrictionIsland_Velocity(island, condensed->r, condensed->u);
        tpHeldBlocks_Solve(condensed->held, condensed->u);
        for (int b = 0; b < island->blockCount; ++b) {
            for (int i = island->row[b]; condensed->isEliminated[b] && i < island->row[b + 1];
                 ++i) {
                condensed->r[i] -= condensed->u[i];
            }
        }
    }
    tpFrictionIsland_Velocity(island, condensed->r, condensed->u);
}

// Drives that hold more than their bound join the contacts, and with them those that are near it.
// Returns their number.
static int letGoOverloaded(tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    double largest = 0.0;
    int count = 0;
    for (int b = 0; b < island->blockCount; ++b) {
        if (condensed->isDrive[b] && condensed->isEliminated[b]) {
            largest = fmax(largest, loadOf(condensed, b, condensed->r[island->row[b] + 1]));
        }
    }
    for (int b = 0; largest > 1.0 && b < island->blockCount; ++b) {
        if (condensed->isDrive[b] && condensed->isEliminated[b] &&
            loadOf(condensed, b, condensed->r[island->row[b] + 1]) > nearBound) {
            letGo(condensed, b);
            count += 1;
        }
    }
    return count;
}

// How fast a contact that is left out would close, in units of the problem; not above 0 if it would
// not, or is not left out.
static double closingOf(const tpCondensed* condensed, int b) {
    const tpFrictionIsland* island = condensed->island;
    return condensed->isLeftOut[b] ? -condensed->u[island->row[b]] * sqrt(island->weight[b]) : 0.0;
}

// Contacts that were left out and would close join the others. Returns their number.
static int takeClosing(tpCondensed* condensed) {
    double fastest = 0.0;
    int count = 0;
    for (int b = 0; b < condensed->island->blockCount; ++b) {
        fastest = fmax(fastest, closingOf(condensed, b));
    }
    for (int b = 0; fastest > 0.0 && b < condensed->island->blockCount; ++b) {
        if (closingOf(condensed, b) > nearFastest * fastest) {
            condensed->isLeftOut[b] = false;
            count += 1;
        }
    }
    return count;
}

static bool holdsDrive(const tpCondensed* condensed) {
    for (int b = 0; b < condensed->island->blockCount; ++b) {
        if (condensed->isDrive[b] && condensed->isEliminated[b]) {
            return true;
        }
    }
    return false;
}

static double sizeOf(const tpCondensed* condensed) {
    double sum = 0.0;
    for (int i = 0; i < condensed->rowCount; ++i) {
        sum += condensed->q[i] * condensed->q[i];
    }
    return sqrt(sum);
}

// With the blocks as they are chosen. `isNew`: drives or contacts have joined. False if memory ran
// out.
static bool solveChosen(tpCondensed* condensed, const tpFrictionOptions* options, int limit,
                        int* iterations, bool* isNew) {
    tpFrictionIsland* island = condensed->island;
    if (!formMatrix(condensed)) {
        return false;
    }
    *isNew = false;
    double tolerance = tp_smallPart * island->tolerance;
    bool isLoose = holdsDrive(condensed);
    bool isFast = true;
    for (int round = 0;
         (round < maxRounds || (isFast && round < mostRounds)) && !tpFrictionIsland_IsSpent(island);
         ++round) {
        double before = island->residual;
        tpArenaMark mark = tpArena_Mark(condensed->arena);
        tpFrictionIsland_Velocity(island, condensed->r, condensed->u);
        setVelocities(condensed);
        bool isDone =
            condensed->rowCount == 0 ||
            solveSmall(condensed, options,
                       isLoose ? fmax(tolerance, loosePart * tp_smallPart * sizeOf(condensed))
                               : tolerance,
                       limit, iterations);
        tpArena_Release(condensed->arena, mark);
        if (!isDone) {
            return false;
        }
        takeShift(condensed);
        expand(condensed);
        *iterations += condensed->rowCount == 0 ? 1 : 0;
        tpFrictionIsland_Offer(island, condensed->r, condensed->u);
        *isNew = !(island->residual <= island->tolerance) &&
                 letGoOverloaded(condensed) + takeClosing(condensed) > 0;
        if (island->residual <= island->tolerance || *isNew) {
            break;
        }
        isFast = island->residual < fastRound * before;
        tolerance *= isLoose ? 1.0 : 0.1;
        isLoose = false;
    }
    return true;
}

// What is eliminated and what is left out at the start.
static void choose(tpCondensed* condensed) {
    const tpFrictionIsland* island = condensed->island;
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b];
        bool isDrive = tpHeldBlocks_IsDrive(condensed->held, b);
        condensed->isDrive[b] = isDrive;
        condensed->isEliminated[b] = island->kind[b] == tp_frictionFree || isDrive;
        condensed->isLeftOut[b] =
            !condensed->isEliminated[b] && condensed->r[row] == 0.0 && condensed->u[row] > 0.0;
        if (isDrive &&
            loadOf(condensed, b, condensed->r[row + 1] - condensed->u[row + 1]) > nearBound) {
            letGo(condensed, b);
        }
    }
}

tpSolveStatus tpFrictionIsland_Condense(tpFrictionIsland* island, tpHeldBlocks* held,
                                        const tpFrictionOptions* options, int limit, tpArena* arena,
                                        int* iterations) {
    tpCondensed condensed = { .island = island, .held = held, .arena = arena };
    if (!allocate(&condensed)) {
        return tp_solverOutOfMemory;
    }
    memcpy(condensed.r, island->r, sizeof(double) * (size_t)island->rowCount);
    memcpy(condensed.u, island->u, sizeof(double) * (size_t)island->rowCount);
    choose(&condensed);
    bool isNew = true;
    for (int change = 0; isNew && change < maxChanges && !tpFrictionIsland_IsDone(island);
         ++change) {
        tpArenaMark mark = tpArena_Mark(arena);
        if (!listBlocks(&condensed)) {
            return change == 0 ? tp_notApplicable : tp_stalled;
        }
        if (!solveChosen(&condensed, options, limit, iterations, &isNew)) {
            return tp_solverOutOfMemory;
        }
        tpArena_Release(arena, mark);
    }
    return island->residual <= island->tolerance ? tp_solved : tp_stalled;
}
