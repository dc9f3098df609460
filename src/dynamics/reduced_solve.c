// The problem of contacts and limits on trees: who takes part, its solution, its verdict.

#include <math.h>
#include <string.h>

#include "complementarity/solver.h"
#include "dynamics/reduced.h"

// Pushing -----------------------------------------------------------------------------------------

// A solve at work.
typedef struct tpReducedSolve {
    tpReduced* reduced;
    tpRows* rows;
    const tpFrictionOptions* options;
    tpArena* arena;
    bool* isActive; // of each block
    int* blocks;    // that take part
    int blockCount;
    double* pushes; // on links, six numbers each
    double* moved;  // what they do to links
    double* change; // the same of all bodies
    double* first;  // impulses that the solve begins with
    double goal;
    int iterations;
    double work;
} tpReducedSolve;

// An impulse of six numbers onto a body.
static void pushBody(tpReducedSolve* solve, int body, const double* sum) {
    tpReduced* reduced = solve->reduced;
    int link = reduced->linkOf[body];
    if (link < 0) {
        const double* inverse = solve->rows->inverseMass + (size_t)36 * (size_t)body;
        double* change = solve->change + (size_t)6 * (size_t)body;
        for (int j = 0; j < 6; ++j) {
            change[j] += tpDotSix(inverse + 6 * j, sum);
        }
        return;
    }
    int number = reduced->treeOf[link];
    reduced->trees[number].nodes[link - reduced->firstLinks[number]].isWanted = true;
    for (int j = 0; j < 6; ++j) {
        solve->pushes[6 * link + j] += sum[j];
    }
}

// The impulses of a block onto its bodies.
static void pushBlock(tpReducedSolve* solve, int block) {
    const tpRows* rows = solve->rows;
    const int bodies[2] = { rows->bodyA[block], rows->bodyB[block] };
    int first = rows->firstRows[block], end = first + rows->dimensions[block];
    for (int side = 0; side < 2; ++side) {
        if (bodies[side] < 0) {
            continue;
        }
        const double* J = side == 0 ? rows->jacobianA : rows->jacobianB;
        double sum[6] = { 0.0 };
        for (int k = first; k < end; ++k) {
            for (int j = 0; j < 6; ++j) {
                sum[j] += rows->impulse[k] * J[(size_t)6 * (size_t)k + (size_t)j];
            }
        }
        pushBody(solve, bodies[side], sum);
    }
    for (int k = first; rows->termCount > 0 && k < end; ++k) {
        for (int i = 0; i < rows->termCounts[k]; ++i) {
            const tpRowTerm* term = &rows->terms[rows->firstTerms[k] + i];
            double sum[6];
            for (int j = 0; j < 6; ++j) {
                sum[j] = rows->impulse[k] * term->jacobian[j];
            }
            if (term->isDynamic) {
                pushBody(solve, term->body, sum);
            }
        }
    }
}

// What the impulses of all rows change of the velocities of bodies.
static void pushAll(tpReducedSolve* solve) {
    tpReduced* reduced = solve->reduced;
    const tpRows* rows = solve->rows;
    memset(solve->pushes, 0, sizeof(double) * 6 * (size_t)reduced->linkCount);
    memset(solve->moved, 0, sizeof(double) * 6 * (size_t)reduced->linkCount);
    memset(solve->change, 0, sizeof(double) * 6 * (size_t)rows->bodyCount);
    for (int k = 0; k < reduced->treeCount; ++k) {
        for (int i = 0; i < reduced->trees[k].nodeCount; ++i) {
            reduced->trees[k].nodes[i].isWanted = false;
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (solve->isActive[b]) {
            pushBlock(solve, b);
        }
    }
    for (int k = 0; k < reduced->treeCount; ++k) {
        tpJointTree* tree = &reduced->trees[k];
        size_t place = (size_t)6 * (size_t)reduced->firstLinks[k];
        tpJointTree_Want(tree);
        if (tree->nodes[tree->nodeCount - 1].isWanted) {
            tpJointTree_Push(tree, solve->pushes + place, solve->moved + place);
        }
    }
    for (int i = 0; i < reduced->linkCount; ++i) {
        memcpy(solve->change + (size_t)6 * (size_t)reduced->links[i].body, solve->moved + 6 * i,
               6 * sizeof(double));
    }
}

// u = W r + q of all rows.
static void readVelocities(tpReducedSolve* solve) {
    tpRows* rows = solve->rows;
    for (int i = 0; i < rows->rowCount; ++i) {
        rows->velocity[i] = rows->q[i] + rows->compliance[i] * rows->impulse[i];
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        tpReduced_ReadBlock(rows, b, solve->change, rows->velocity + rows->firstRows[b]);
    }
}

// Solving -----------------------------------------------------------------------------------------

// Contacts that open slower than this part of the fastest are taken for touching: between bodies
// that move together it is rounding that tells who is approached.
static const double nearlyClosed = 1e-4;

// An approach below this part of |q| is rounding.
static const double noApproach = 1e-13;

// Iterations of the small problem, and the part of what is asked for that it is solved to.
enum { smallLimit = 30 };
static const double safety = 0.5;

static bool carries(const tpRows* rows, int block) {
    for (int k = rows->firstRows[block]; k < rows->firstRows[block] + rows->dimensions[block];
         ++k) {
        if (rows->impulse[k] != 0.0) {
            return true;
        }
    }
    return false;
}

// Blocks that are nearly closed, or carry something to begin with.
static void choose(tpReducedSolve* solve) {
    tpRows* rows = solve->rows;
    double fastest = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        if (rows->infos[b].source == tp_boundedSource || rows->kinds[b] == tp_frictionFree) {
            continue;
        }
        fastest = fmax(fastest, -rows->scale[first] * rows->q[first]);
        for (int k = first + 1; k < first + rows->dimensions[b]; ++k) {
            fastest = fmax(fastest, fabs(rows->scale[k] * rows->q[k]));
        }
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        solve->isActive[b] = rows->kinds[b] == tp_frictionFree ||
                             rows->scale[first] * rows->q[first] < nearlyClosed * fastest ||
                             carries(rows, b);
    }
    for (int i = 0; i < solve->reduced->driveCount; ++i) {
        const tpReducedDrive* drive = &solve->reduced->drives[i];
        solve->isActive[drive->block] = drive->state == tp_driveInRows;
    }
}

// Blocks that are approached now join. Returns their number.
static int join(tpReducedSolve* solve, double least) {
    const tpRows* rows = solve->rows;
    int count = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->firstRows[b];
        if (!solve->isActive[b] && rows->scale[first] * rows->velocity[first] < -least) {
            solve->isActive[b] = true;
            count += 1;
        }
    }
    return count;
}

// The problem of the blocks that take part, in scaled rows.
typedef struct tpSmallProblem {
    tpFrictionProblem problem;
    tpMatrix matrix;
    int rowCount;
    double *W, *r, *shift;
} tpSmallProblem;

static void listActive(tpReducedSolve* solve) {
    solve->blockCount = 0;
    for (int b = 0; b < solve->rows->blockCount; ++b) {
        if (solve->isActive[b]) {
            solve->blocks[solve->blockCount++] = b;
        }
    }
}

static bool pose(tpReducedSolve* solve, tpSmallProblem* small) {
    const tpRows* rows = solve->rows;
    tpArena* arena = solve->arena;
    int n = solve->blockCount;
    small->rowCount = 0;
    for (int i = 0; i < n; ++i) {
        small->rowCount += rows->dimensions[solve->blocks[i]];
    }
    int* dimensions = TP_SCRATCH(arena, int, n);
    unsigned char* kinds = TP_SCRATCH(arena, unsigned char, n);
    double* mu = TP_SCRATCH(arena, double, n);
    double* q = TP_SCRATCH(arena, double, small->rowCount);
    small->r = TP_SCRATCH(arena, double, small->rowCount);
    small->shift = TP_SCRATCH_ZEROED(arena, double, small->rowCount);
    size_t m = (size_t)small->rowCount;
    double* W = TP_SCRATCH(arena, double, m* m);
    if (arena->failed || !tpReduced_FormMatrix(solve->reduced, rows, solve->blocks, n, arena, W)) {
        return false;
    }
    for (int i = 0, at = 0; i < n; ++i) {
        int b = solve->blocks[i];
        dimensions[i] = rows->dimensions[b];
        kinds[i] = rows->kinds[b];
        mu[i] = kinds[i] == tp_frictionCone ? rows->mu[b] : 0.0;
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k, ++at) {
            q[at] = rows->scale[k] * rows->q[k];
            small->r[at] = rows->impulse[k] / rows->scale[k];
        }
    }
    small->W = W;
    small->matrix = tpDenseMatrix(small->rowCount, small->rowCount, W);
    small->problem = (tpFrictionProblem){ .blockCount = n,
                                          .dimensions = dimensions,
                                          .kinds = kinds,
                                          .mu = mu,
                                          .q = q,
                                          .W = &small->matrix };
    return true;
}

// Takes over impulses, and what was added to q.
static void take(tpReducedSolve* solve, const tpSmallProblem* small) {
    tpRows* rows = solve->rows;
    for (int i = 0, at = 0; i < solve->blockCount; ++i) {
        int b = solve->blocks[i];
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k, ++at) {
            rows->impulse[k] = small->r[at] * rows->scale[k];
            if (solve->options->shift != NULL) {
                solve->options->shift[k] = small->shift[at] / rows->scale[k];
            }
        }
    }
}

// Velocities with what was added to q.
static void follow(tpReducedSolve* solve) {
    tpRows* rows = solve->rows;
    pushAll(solve);
    readVelocities(solve);
    for (int k = 0; solve->options->shift != NULL && k < rows->rowCount; ++k) {
        rows->velocity[k] += solve->options->shift[k];
    }
}

// How far impulses are from the law, as tpFriction_Judge has it. Contacts that carry nothing and
// are not approached are within it. Drives that are part of trees are left out, or not.
static double judge(const tpReducedSolve* solve, bool hasDrives) {
    const tpRows* rows = solve->rows;
    double square = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isDrive = rows->infos[b].source == tp_boundedSource;
        bool isOneSided = rows->kinds[b] != tp_frictionFree;
        bool isIdle =
            (isOneSided && !carries(rows, b) && rows->velocity[rows->firstRows[b]] >= 0.0) ||
            (isDrive && !hasDrives && !solve->isActive[b]);
        square += isIdle ? 0.0 : tpRows_ResidualSquared(rows, b);
    }
    return sqrt(square);
}

// What is left of a small problem without the rows that hold. False if memory ran out.
static bool solveRest(tpReducedSolve* solve, tpSmallProblem* small, tpSmallSolve* settings) {
    tpFreeRows free;
    if (!tpFreeRows_Eliminate(&free, &small->problem, small->W, small->r, solve->arena)) {
        return false;
    }
    settings->shift = settings->shift != NULL ? free.shift : NULL;
    if (free.restCount > 0 &&
        !tpFriction_SolveSmall(&free.problem, solve->options, settings, solve->arena, free.r,
                               &solve->iterations, &solve->work)) {
        return false;
    }
    tpFreeRows_PutBack(&free, small->r, small->shift);
    return true;
}

// The blocks that take part. False if memory ran out.
static bool solveListed(tpReducedSolve* solve, tpSmallEffort effort) {
    const tpFrictionOptions* options = solve->options;
    double tolerance = tp_smallPart * safety * solve->goal;
    bool hasDrives = false, hasFree = false;
    for (int i = 0; i < solve->blockCount; ++i) {
        hasDrives = hasDrives || solve->rows->infos[solve->blocks[i]].source == tp_boundedSource;
        hasFree = hasFree || solve->rows->kinds[solve->blocks[i]] == tp_frictionFree;
    }
    bool knowsStates = effort == tp_quickEffort && !hasDrives && !hasFree;
    if (knowsStates && tpReduced_SolveByStates(solve->reduced, solve->rows, solve->blocks,
                                               solve->blockCount, tolerance, &solve->iterations)) {
        return true;
    }
    tpSmallProblem small;
    if (solve->reduced->system->arena.failed || !pose(solve, &small)) {
        return false;
    }
    bool isShifting = options->slack > 0.0 && options->shift != NULL && effort != tp_quickEffort;
    tpSmallSolve settings = { .tolerance = tolerance,
                              .limit = smallLimit,
                              .workLimit = options->workLimit,
                              .effort = effort,
                              .slack = isShifting ? options->slack : 0.0,
                              .shift = isShifting ? small.shift : NULL,
                              .knowsStates = knowsStates };
    solve->work += 10.0 * (double)small.rowCount * (double)small.rowCount;
    bool isDone = hasFree ? solveRest(solve, &small, &settings)
                          : tpFriction_SolveSmall(&small.problem, options, &settings, solve->arena,
                                                  small.r, &solve->iterations, &solve->work);
    if (isDone) {
        take(solve, &small);
    }
    return isDone;
}

// Solves what takes part, then what joins. False if memory ran out.
static bool solveActive(tpReducedSolve* solve, tpSmallEffort effort, double size) {
    for (int count = 1; count > 0;) {
        tpArenaMark mark = tpArena_Mark(solve->arena);
        listActive(solve);
        if (solve->blockCount > 0 && !solveListed(solve, effort)) {
            return false;
        }
        tpArena_Release(solve->arena, mark);
        follow(solve);
        count = join(solve, fmin(noApproach * size, tp_smallPart * safety * solve->goal));
    }
    return true;
}

// All solvers, on all blocks. False if memory ran out.
static bool solveByAll(tpReducedSolve* solve, tpSolverMemory* memory) {
    tpSmallProblem small;
    for (int b = 0; b < solve->rows->blockCount; ++b) {
        solve->isActive[b] = true;
    }
    for (int i = 0; i < solve->reduced->driveCount; ++i) {
        const tpReducedDrive* drive = &solve->reduced->drives[i];
        solve->isActive[drive->block] = drive->state == tp_driveInRows;
    }
    listActive(solve);
    if (!pose(solve, &small)) {
        return false;
    }
    tpFrictionOptions options = *solve->options;
    options.slack = 0.0;
    options.shift = NULL;
    tpSolveReport report;
    tpSolveStatus status =
        tpFriction_SolveIslands(&small.problem, &options, memory, small.r, NULL, &report);
    solve->iterations += report.iterations;
    solve->work += report.work;
    take(solve, &small);
    follow(solve);
    return status != tp_solverOutOfMemory;
}

// Laws, rates and reactions by the velocities that were found.
static void finish(tpReducedSolve* solve) {
    tpReduced* reduced = solve->reduced;
    for (int i = 0; i < 6 * reduced->linkCount; ++i) {
        reduced->velocities[i] += solve->moved[i];
        reduced->momenta[i] += solve->pushes[i];
    }
    for (int k = 0; k < reduced->treeCount; ++k) {
        tpJointTree* tree = &reduced->trees[k];
        int first = reduced->firstLinks[k];
        size_t place = (size_t)6 * (size_t)first;
        tpJointTree_Reactions(tree, reduced->momenta + place, reduced->velocities + place,
                              solve->pushes + place);
        for (int i = 0; i < tree->nodeCount; ++i) {
            tpReducedLink* link = &reduced->links[first + i];
            const double* f = solve->pushes + place + 6 * i;
            link->impulse =
                (tpWrench){ tpMakeVec3(f[0], f[1], f[2]), tpMakeVec3(f[3], f[4], f[5]) };
            if (link->joint < 0) {
                continue;
            }
            const double* w = reduced->velocities + place + 6 * i + 3;
            const double* base = tree->nodes[i].parent >= 0
                                     ? reduced->velocities + place + 6 * tree->nodes[i].parent + 3
                                     : tree->base + 3;
            tpVec3 turn = tpMakeVec3(w[0] - base[0], w[1] - base[1], w[2] - base[2]);
            link->rate = link->sign * tpDot(link->axis, turn);
            link->along = tpDotSix(tree->axes[i].motion, f);
            for (int j = 0; j < tp_reducedLawCount; ++j) {
                double bias = j == tp_reducedRotor ? link->bias[5] : link->laws[j].bias;
                link->laws[j].impulse = -link->laws[j].stiffness * (link->rate + bias);
            }
        }
    }
    double* change = solve->rows->changeRoom;
    for (int i = 0; i < 6 * solve->rows->bodyCount; ++i) {
        change[i] += solve->change[i];
    }
    solve->rows->solvedChange = change;
    tpReduced_ReadDrives(reduced, solve->rows);
}

static bool reserve(tpReducedSolve* solve) {
    tpArena* arena = solve->arena;
    const tpRows* rows = solve->rows;
    solve->isActive = TP_SCRATCH(arena, bool, rows->blockCount);
    solve->blocks = TP_SCRATCH(arena, int, rows->blockCount);
    solve->pushes = TP_SCRATCH(arena, double, 6 * solve->reduced->linkCount);
    solve->moved = TP_SCRATCH(arena, double, 6 * solve->reduced->linkCount);
    solve->change = TP_SCRATCH(arena, double, 6 * rows->bodyCount);
    solve->first = TP_SCRATCH(arena, double, rows->rowCount);
    return !arena->failed;
}

// Blocks that have to, quickly and then with more effort. False if memory ran out.
static bool solveSmall(tpReducedSolve* solve, double size, double* residual) {
    choose(solve);
    bool isDone = solveActive(solve, tp_quickEffort, size);
    *residual = isDone ? judge(solve, false) : INFINITY;
    if (isDone && *residual > solve->goal) {
        isDone = solveActive(solve, tp_restOfEffort, size);
        *residual = judge(solve, false);
    }
    return isDone;
}

// All but drives that are part of trees. False if memory ran out.
static bool solveContacts(tpReducedSolve* solve, tpSolverMemory* memory, double size, double willDo,
                          double* residual) {
    bool isDone = solveSmall(solve, size, residual);
    // What drives hold may be what others have to move. Impulses that grew against such drives
    // without an end would throw what is free now.
    if (isDone && *residual > willDo && tpReduced_FreeHolding(solve->reduced, solve->rows)) {
        memcpy(solve->rows->impulse, solve->first, sizeof(double) * (size_t)solve->rows->rowCount);
        tpReduced_MoveAgain(solve->reduced, solve->rows);
        isDone = solveSmall(solve, size, residual);
    }
    if (isDone && *residual > willDo) {
        isDone = solveByAll(solve, memory);
        *residual = judge(solve, false);
    }
    return isDone;
}

bool tpReduced_Solve(tpReduced* reduced, tpRows* rows, const tpFrictionOptions* options,
                     tpSolverMemory* memory, tpSolveReport* report) {
    tpArena* arena = &reduced->system->arena;
    tpReducedSolve solve = { .reduced = reduced, .rows = rows, .options = options, .arena = arena };
    tpSolveReport_Start(report);
    if (!reserve(&solve)) {
        return false;
    }
    memcpy(solve.first, rows->impulse, sizeof(double) * (size_t)rows->rowCount);
    double size = tpRows_FreeSize(rows);
    solve.goal = fmax(options->tolerance * size, options->velocityTolerance);
    double willDo = fmax(solve.goal, fmin(options->enough, tp_stalledPart * size));
    if (options->shift != NULL) {
        memset(options->shift, 0, sizeof(double) * (size_t)rows->rowCount);
    }
    bool isDone = true;
    double residual = INFINITY, allowed = tp_smallPart * safety * solve.goal;
    for (int round = 1;; ++round) {
        isDone = solveContacts(&solve, memory, size, willDo, &residual);
        finish(&solve);
        if (!isDone || !tpReduced_ChangeDrives(reduced, rows, allowed, round)) {
            break;
        }
        tpReduced_MoveAgain(reduced, rows);
    }
    residual = isDone && reduced->driveCount > 0 ? judge(&solve, true) : residual;
    tpReduced_TakeDrives(reduced);
    for (int k = 0; options->shift != NULL && k < rows->rowCount; ++k) {
        report->shift = fmax(report->shift, fabs(options->shift[k]));
    }
    report->status = !isDone              ? tp_solverOutOfMemory
                     : residual <= willDo ? tp_solved
                                          : tp_iterationLimit;
    report->residual = size > 0.0 ? residual / size : residual;
    report->iterations = solve.iterations;
    report->work = solve.work;
    return isDone;
}
