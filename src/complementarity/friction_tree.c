#include "complementarity/friction_tree.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_tree_parts.h"

// Rows of contacts that are worth it.
enum { maxOtherRows = 240 };

// Iterations of the small problem.
enum { smallLimit = 30 };

// An approach below this part of |q| is rounding.
static const double noApproach = 1e-13;

// Rounds in which drives join the contacts, those above this part of their bound. If the rest was
// not solved, because drives hold that cannot, or if that was not the first round, all join that
// may come to their bounds: what drives and contacts do is found out in one go.
enum { maxChanges = 12 };
static const double nearBound = 0.8, mayBeBound = 0.05;

// What is left ------------------------------------------------------------------------------------

// Velocities of a block's rows for those of bodies, or forces of its impulses on bodies.
void tpFrictionTree_ReadOther(const tpFrictionTree* tree, int b, const double* velocity,
                              double* u) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < tpTree_RowsOfBlock(tree, b); ++i) {
            u[i] += tpTree_Dot6(tpTree_Row(tree, tree->first[b] + i, side),
                                velocity + (size_t)tree->place[body] * tp_treeWidth);
        }
    }
    for (int i = 0; tree->termG != NULL && i < tpTree_RowsOfBlock(tree, b); ++i) {
        int row = tree->first[b] + i, end = tpTree_FirstTerm(tree, row + 1);
        for (int k = tpTree_FirstTerm(tree, row); k < end; ++k) {
            int place = tree->place[tree->given->termBodies[k]];
            u[i] += place < 0 ? 0.0
                              : tpTree_Dot6(tree->termG + (size_t)k * tp_treeWidth,
                                            velocity + (size_t)place * tp_treeWidth);
        }
    }
}

static void pushOther(const tpFrictionTree* tree, int b, const double* r, double* force) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < tpTree_RowsOfBlock(tree, b); ++i) {
            tpTree_AddScaled6(r[i], tpTree_Row(tree, tree->first[b] + i, side),
                              force + (size_t)tree->place[body] * tp_treeWidth);
        }
    }
    for (int i = 0; tree->termG != NULL && i < tpTree_RowsOfBlock(tree, b); ++i) {
        int row = tree->first[b] + i, end = tpTree_FirstTerm(tree, row + 1);
        for (int k = tpTree_FirstTerm(tree, row); k < end; ++k) {
            int place = tree->place[tree->given->termBodies[k]];
            if (place >= 0) {
                tpTree_AddScaled6(r[i], tree->termG + (size_t)k * tp_treeWidth,
                                  force + (size_t)place * tp_treeWidth);
            }
        }
    }
}

// Velocities of blocks that do not hold, under joints alone.
static void readOthers(tpFrictionTree* tree) {
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isHeld[b]) {
            continue;
        }
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row) {
            tree->p[row] = tpTree_FreeVelocity(tree, row);
        }
        tpFrictionTree_ReadOther(tree, b, tree->force, tree->p + tree->first[b]);
    }
}

static double sizeOfQ(const tpFrictionTree* tree) {
    double sum = 0.0;
    for (int row = 0; row < tree->rowCount; ++row) {
        sum += tpTree_FreeVelocity(tree, row) * tpTree_FreeVelocity(tree, row);
    }
    return sqrt(sum);
}

// Solving what is left ----------------------------------------------------------------------------

// How the small problem is solved, and what it has come to.
typedef struct tpTreeSolve {
    const tpFrictionOptions* options;
    double goal;
    tpSmallEffort effort;
    bool isReached;  // the small problem was solved
    bool isUnlocked; // drives had to be let go before there was anything to solve
    int* iterations;
    double* work;
} tpTreeSolve;

// Solves what is left, `n` blocks of the others from `from` on.
static bool solveSmall(tpFrictionTree* tree, tpTreeSolve* solve, const double* S, const double* p,
                       double* own, double* shift) {
    tpArena* arena = tree->arena;
    int from = tree->cutCount, n = tree->otherCount - from, rows = tree->otherRows - tree->cutRows;
    int* dimensions = TP_SCRATCH(arena, int, n);
    unsigned char* kinds = TP_SCRATCH(arena, unsigned char, n);
    double* mu = TP_SCRATCH(arena, double, n);
    if (arena->failed) {
        return false;
    }
    const tpFrictionProblem* problem = tree->problem;
    for (int i = 0; i < n; ++i) {
        int b = tree->others[from + i];
        dimensions[i] = tpTree_RowsOfBlock(tree, b);
        kinds[i] = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        mu[i] = kinds[i] == tp_frictionCone ? problem->mu[b] : 0.0;
    }
    tpMatrix matrix = tpDenseMatrix(rows, rows, S);
    tpFrictionProblem small = {
        .blockCount = n, .dimensions = dimensions, .kinds = kinds, .mu = mu, .q = p, .W = &matrix
    };
    tpSmallSolve settings = { .tolerance = tp_smallPart * solve->goal,
                              .limit = smallLimit,
                              .workLimit = solve->options->workLimit,
                              .effort = solve->effort,
                              .isReached = &solve->isReached,
                              .hasJoints = tree->bodies[tree->placeCount].firstRow > 0,
                              .slack = shift != NULL ? solve->options->slack : 0.0,
                              .shift = shift };
    return tpFriction_SolveSmall(&small, solve->options, &settings, arena, own, solve->iterations,
                                 solve->work);
}

// The impulses of the others, `own`, for velocities p under the joints alone.
static bool solveOthers(tpFrictionTree* tree, tpTreeSolve* solve, const double* p, double* own,
                        double* shift) {
    const double* S = tpFrictionTree_FormMatrix(tree);
    int f = tree->cutRows, c = tree->otherRows - f;
    tpCutSystem left = { .S = S, .q = p };
    if (S == NULL || (f > 0 && !tpFrictionTree_EliminateCuts(tree, S, p, &left))) {
        return false;
    }
    *solve->work += f * f * (f / 6.0 + c) + 0.5 * f * c * c;
    solve->isUnlocked = f > 0 && tpFrictionTree_UnlockCuts(tree, &left, solve->goal) > 0;
    if (solve->isUnlocked) {
        return true;
    }
    int before = *solve->iterations;
    for (int i = 0; shift != NULL && i < f; ++i) {
        shift[i] = 0.0;
    }
    if (c > 0 &&
        !solveSmall(tree, solve, left.S, left.q, own + f, shift != NULL ? shift + f : NULL)) {
        return false;
    }
    if (f > 0) {
        tpFrictionTree_SolveCuts(tree, &left, own);
        *solve->iterations += *solve->iterations == before ? 1 : 0;
    }
    return true;
}

// Solving -----------------------------------------------------------------------------------------

static void setFreeVelocities(tpFrictionTree* tree) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        tree->x[i] = -tpTree_FreeVelocity(tree, tree->leadRows + tree->rows[i].row);
    }
}

static void clearForces(tpFrictionTree* tree) {
    memset(tree->force, 0, sizeof(double) * (size_t)tree->placeCount * tp_treeWidth);
}

static bool holdsAll(const tpFrictionTree* tree) {
    for (int b = 0; b < tree->blockCount; ++b) {
        if (!tree->isHeld[b]) {
            return false;
        }
    }
    return true;
}

static bool mayShift(const tpFrictionOptions* options) {
    return options->slack > 0.0 && options->shift != NULL;
}

// The blocks that take part, and the joints under their impulses. False if memory ran out or there
// are too many.
static bool solveActive(tpFrictionTree* tree, tpTreeSolve* solve, double* r) {
    double* p = TP_SCRATCH(tree->arena, double, tree->otherRows);
    double* own = TP_SCRATCH(tree->arena, double, tree->otherRows);
    bool isShifting = mayShift(solve->options);
    double* shift = isShifting ? TP_SCRATCH(tree->arena, double, tree->otherRows) : NULL;
    if (tree->arena->failed || tree->otherRows - tree->cutRows > maxOtherRows) {
        return false;
    }
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            p[k] = tree->p[row];
            own[k] = r[row] / tpTree_Scale(tree, row);
        }
    }
    if (!solveOthers(tree, solve, p, own, shift)) {
        return false;
    }
    if (solve->isUnlocked) {
        return true;
    }
    clearForces(tree);
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        pushOther(tree, b, own + tree->otherFirst[i], tree->force);
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            r[row] = own[k] * tpTree_Scale(tree, row);
            if (isShifting) {
                solve->options->shift[row] = shift[k] / tpTree_Scale(tree, row);
            }
        }
    }
    if (tree->isUnitMass) {
        setFreeVelocities(tree);
        tpFrictionTree_Pass(tree, true);
    } else {
        tpFrictionTree_PassMore(tree);
    }
    return true;
}

// Once with the blocks that hold as they are chosen. False if memory ran out or there are too many
// others.
static bool solveChosen(tpFrictionTree* tree, tpTreeSolve* solve, double* r) {
    if (!tpFrictionTree_Factorise(tree)) {
        return false;
    }
    *solve->work += tree->work + 30.0 * tree->rowCount;
    solve->isReached = true;
    setFreeVelocities(tree);
    clearForces(tree);
    bool hasOthers = !holdsAll(tree);
    tpFrictionTree_Pass(tree, !hasOthers);
    readOthers(tree);
    double size = sizeOfQ(tree);
    solve->isUnlocked = tpFrictionTree_Choose(tree, solve->goal, r) > 0;
    if (solve->isUnlocked) {
        return true;
    }
    bool isFirst = true;
    for (int count = 1; count > 0; isFirst = false) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        tpFrictionTree_ListOthers(tree);
        bool isAlone = isFirst && tree->otherCount == 0;
        bool isLeft = isAlone && !hasOthers; // all is solved already
        if (!isLeft && !solveActive(tree, solve, r)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        if (solve->isUnlocked) {
            return true;
        }
        *solve->iterations += isAlone ? 1 : 0;
        count = tpFrictionTree_JoinApproached(tree,
                                              fmin(noApproach * size, tp_smallPart * solve->goal));
    }
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->leadRows + tree->rows[i].row;
        r[row] = tree->x[i] * tpTree_Scale(tree, row);
    }
    return true;
}

// The load of a drive: nothing else acts on its normal row.
static double loadOf(const tpFrictionTree* tree, int b) {
    int row = tree->first[b];
    return fmax(-tree->problem->q[row] / tree->problem->compliance[row], 0.0);
}

// Drives above `part` of their bounds join the contacts. Returns their number.
static int letGo(tpFrictionTree* tree, double part, double* r) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        int row = tree->first[b];
        if (tree->role[b] != tp_driveInTree || !tree->isHeld[b]) {
            continue;
        }
        double load = loadOf(tree, b) / tpTree_Scale(tree, row);
        double bound = tree->problem->mu[b] * load * tpTree_Scale(tree, row + 1);
        if (fabs(r[row + 1]) > part * bound) {
            tree->isHeld[b] = false;
            r[row + 1] = fmin(fmax(r[row + 1], -bound), bound);
            count += 1;
        }
    }
    return count;
}

// Links that could not be eliminated by their motions in an earlier solve are tried again: what is
// kept must not change any answer.
static void forgetUnitMass(tpFrictionTree* tree) {
    if (tree->isUnitMass && tree->areWhole) {
        tree->isUnitMass = tree->isFactored = false;
        tpFrictionTree_WriteRows(tree, false);
        tpFrictionTree_WriteRows(tree, true);
    }
}

bool tpFrictionTree_Solve(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                          double* r, int* iterations, double* work) {
    forgetUnitMass(tree);
    for (int b = 0; b < tree->blockCount; ++b) {
        tree->isHeld[b] = tpTree_IsLink(tree->role[b]);
        if (tree->role[b] == tp_driveInTree) {
            r[tree->first[b]] = loadOf(tree, b);
        }
    }
    letGo(tree, nearBound, r);
    // While drives hold, contacts may contradict each other, and no patience would solve them: a
    // few steps are enough to see which drives are asked for more than they have.
    tpTreeSolve solve = { options, goal, tp_quickEffort, true, false, iterations, work };
    for (int change = 0; change < maxChanges; ++change) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        if (mayShift(options)) {
            memset(options->shift, 0, sizeof(double) * (size_t)tree->rowCount);
        }
        if (!solveChosen(tree, &solve, r)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        if (solve.isUnlocked) {
            continue;
        }
        bool isChanged = letGo(tree, solve.isReached ? 1.0 : mayBeBound, r) > 0;
        if (!isChanged && (solve.isReached || solve.effort == tp_restOfEffort)) {
            return true;
        }
        if (isChanged) {
            letGo(tree, change == 0 && solve.isReached ? nearBound : mayBeBound, r);
        }
        solve.effort = isChanged ? tp_quickEffort : tp_restOfEffort;
    }
    return false;
}

// The velocities that rows of links have to lose.
static void setLeft(tpFrictionTree* tree, const double* u) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->leadRows + tree->rows[i].row;
        tree->x[i] = -tpTree_Scale(tree, row) * u[row];
    }
    clearForces(tree);
}

// Corrects the impulses of cut rows, and leaves their forces and the velocities of links to solve.
static void refineCuts(tpFrictionTree* tree, const double* u, double* r) {
    double x[tp_maxCutRows];
    for (int i = 0, k = 0; i < tree->cutCount; ++i) {
        int b = tree->others[i], first = k;
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            x[k] = tpTree_Scale(tree, row) * u[row];
        }
        tpFrictionTree_ReadOther(tree, b, tree->force, x + first);
    }
    tpFrictionTree_HoldCuts(tree, x);
    setLeft(tree, u);
    for (int i = 0, k = 0; i < tree->cutCount; ++i) {
        int b = tree->others[i];
        pushOther(tree, b, x + k, tree->force);
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            r[row] += x[k] * tpTree_Scale(tree, row);
        }
    }
}

void tpFrictionTree_Refine(tpFrictionTree* tree, const double* u, double* r) {
    setLeft(tree, u);
    tpFrictionTree_Pass(tree, true);
    if (tree->cutRows > 0) {
        refineCuts(tree, u, r);
        tpFrictionTree_Pass(tree, true);
    }
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->leadRows + tree->rows[i].row;
        r[row] += tree->x[i] * tpTree_Scale(tree, row);
    }
}
