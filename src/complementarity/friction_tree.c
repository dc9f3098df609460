#include "complementarity/friction_tree.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "complementarity/friction_tree_parts.h"

// Rows of contacts that are worth it.
enum { maxOtherRows = 160 };

// Iterations of the small problem.
enum { smallLimit = 30 };

// Contacts that open slower than this part of |q| under joints alone are taken for touching:
// between bodies that move together it is rounding that tells who is approached. An approach below
// the second part is rounding.
static const double nearlyClosed = 1e-4, noApproach = 1e-13;

// Rounds in which drives join the contacts, those above this part of their bound.
enum { maxChanges = 6 };
static const double nearBound = 0.8;

// A pivot below this part of its row's response is replaced by it: it is rounding.
static const double smallestPivot = 1e-13;

// Elimination -------------------------------------------------------------------------------------

// Lists the rows of blocks that hold. False if there are too many.
static bool listRows(tpFrictionTree* tree) {
    int count = 0, factors = 0;
    for (int k = 0; k < tree->placeCount; ++k) {
        tpTreeBody* own = &tree->bodies[k];
        own->firstRow = count;
        own->firstFactor = factors;
        for (int i = own->firstBlock; i < own[1].firstBlock; ++i) {
            int b = tree->links[i], side = tree->pair[2 * b] == own->body ? 0 : 1;
            int from = tree->first[b] + (tree->role[b] == tp_driveInTree ? 1 : 0);
            for (int row = from; tree->isHeld[b] && row < tree->first[b + 1]; ++row) {
                tpTreeRow* listed = &tree->rows[count++];
                listed->row = row;
                listed->child = (2 * row + side) * tp_treeWidth;
                listed->above = (2 * row + 1 - side) * tp_treeWidth;
            }
        }
        int m = count - own->firstRow;
        factors += m * m;
        if (m > tp_maxLinkRows) {
            return false;
        }
    }
    tree->bodies[tree->placeCount].firstRow = count;
    return true;
}

// L of the articulated mass. A unit mass is one and more: pivots below that are rounding.
static inline void factoriseMass(double* A, bool isUnitMass) {
    for (int j = 0; j < tp_treeWidth; ++j) {
        double* own = A + (size_t)(j * tp_treeWidth);
        double least = isUnitMass ? 1.0 : smallestPivot * own[j];
        double inverse = 1.0 / sqrt(fmax(own[j] - tpTree_Dot(j, own, own), least));
        own[j] = inverse;
        for (int i = j + 1; i < tp_treeWidth; ++i) {
            double* other = A + (size_t)(i * tp_treeWidth);
            other[j] = (other[j] - tpTree_Dot(j, other, own)) * inverse;
        }
    }
}

static inline void lowerMass(const double* L, double* x) {
    for (int i = 0; i < tp_treeWidth; ++i) {
        x[i] = (x[i] - tpTree_Dot(i, L + (size_t)(i * tp_treeWidth), x)) * L[i * tp_treeWidth + i];
    }
}

static inline void upperMass(const double* L, double* x) {
    for (int i = tp_treeWidth - 1; i >= 0; --i) {
        x[i] *= L[i * tp_treeWidth + i];
        for (int j = 0; j < i; ++j) {
            x[j] -= x[i] * L[i * tp_treeWidth + j];
        }
    }
}

// Factorises the link of one place by its rows, and adds what it gives to its parent's mass.
static void factoriseLink(tpFrictionTree* tree, int k) {
    tpTreeBody* own = &tree->bodies[k];
    tpTreeRow* rows = tree->rows + own->firstRow;
    int m = own[1].firstRow - own->firstRow;
    double* K = tree->K + own->firstFactor;
    if (!own->isUnit) {
        factoriseMass(own->mass, tree->isUnitMass);
    }
    for (int i = 0; i < m; ++i) {
        double* a = rows[i].a;
        const double* g = tree->G + rows[i].child;
        memcpy(a, g, sizeof(double) * tp_treeWidth);
        if (!own->isUnit) {
            lowerMass(own->mass, a);
        }
        for (int j = 0; j <= i; ++j) {
            K[i * m + j] = tpTree_Dot6(a, rows[j].a);
        }
        double compliance = tpTree_Compliance(tree, rows[i].row);
        K[i * m + i] += compliance;
        rows[i].size = tpTree_Dot6(g, g) + compliance;
    }
    tpTreeBody* parent = own->parent >= 0 ? &tree->bodies[own->parent] : NULL;
    for (int i = 0; i < m; ++i) {
        double* row = K + (size_t)(i * m);
        for (int j = 0; j < i; ++j) {
            row[j] = (row[j] - tpTree_Dot(j, row, K + (size_t)(j * m))) * K[j * m + j];
        }
        double pivot = row[i] - tpTree_Dot(i, row, row), least = smallestPivot * rows[i].size;
        row[i] = 1.0 / sqrt(pivot > least ? pivot : least);
        if (parent == NULL) {
            continue;
        }
        double* y = rows[i].Y;
        memcpy(y, tree->G + rows[i].above, sizeof(double) * tp_treeWidth);
        for (int j = 0; j < i; ++j) {
            tpTree_AddScaled6(-row[j], rows[j].Y, y);
        }
        for (int c = 0; c < tp_treeWidth; ++c) {
            y[c] *= row[i];
        }
        for (int c = 0; c < tp_treeWidth; ++c) {
            for (int d = 0; d <= c; ++d) {
                parent->mass[c * tp_treeWidth + d] += y[c] * y[d];
            }
        }
        parent->isUnit = false;
    }
}

static void setMasses(tpFrictionTree* tree) {
    for (int k = 0; k < tree->placeCount; ++k) {
        tpTreeBody* own = &tree->bodies[k];
        own->isUnit = tree->isUnitMass;
        if (!tree->isUnitMass) {
            tpFrictionTree_MassOf(tree, own->body, own->mass);
            continue;
        }
        memset(own->mass, 0, sizeof(own->mass));
        for (int c = 0; c < tp_treeWidth; ++c) {
            own->mass[c * (tp_treeWidth + 1)] = 1.0;
        }
    }
}

// All links, by motions if all that hold anything are those of joints. False if they are not.
static bool factoriseLinks(tpFrictionTree* tree, double* work) {
    setMasses(tree);
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        tpTreeBody* own = &tree->bodies[k];
        int m = own[1].firstRow - own->firstRow;
        own->isMotion = m > 0 && !tree->isUnitMass;
        if (!own->isMotion) {
            factoriseLink(tree, k);
        } else if (!tpTreeMotion_Factorise(tree, k)) {
            return false;
        }
        *work += 36.0 + 54.0 * m + 6.0 * m * m + m * m * m / 6.0;
    }
    return true;
}

static double factorise(tpFrictionTree* tree) {
    double work = 0.0;
    if (!factoriseLinks(tree, &work)) {
        tpFrictionTree_UseUnitMass(tree);
        factoriseLinks(tree, &work);
    }
    return work;
}

// One body on the way to the root, as in body_tree.c.
static inline void goUp(const tpFrictionTree* tree, int k, double* y, double* z, double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const double* K = tree->K + own->firstFactor;
    int m = own[1].firstRow - own->firstRow;
    if (!own->isUnit) {
        lowerMass(own->mass, y);
    }
    for (int i = 0; i < m; ++i) {
        const double* row = K + (size_t)(i * m);
        z[i] = (z[i] - tpTree_Dot6(rows[i].a, y) - tpTree_Dot(i, row, z)) * row[i];
        if (parent != NULL) {
            tpTree_AddScaled6(z[i], rows[i].Y, parent);
        }
    }
}

static inline void goDown(const tpFrictionTree* tree, int k, double* y, double* z,
                          const double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const double* K = tree->K + own->firstFactor;
    int m = own[1].firstRow - own->firstRow;
    for (int i = 0; parent != NULL && i < m; ++i) {
        z[i] -= tpTree_Dot6(rows[i].Y, parent);
    }
    for (int i = m - 1; i >= 0; --i) {
        const double* row = K + (size_t)(i * m);
        z[i] *= row[i];
        for (int j = 0; j < i; ++j) {
            z[j] -= z[i] * row[j];
        }
        tpTree_AddScaled6(z[i], rows[i].a, y);
    }
    if (!own->isUnit) {
        upperMass(own->mass, y);
    }
}

// G_e v + C x = b for b in `x` and f in `force`: x becomes the impulses, force the velocities.
static void solveTree(tpFrictionTree* tree) {
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        const tpTreeBody* own = &tree->bodies[k];
        double *force = tree->force + (size_t)k * tp_treeWidth, *x = tree->x + own->firstRow;
        double* parent = own->parent >= 0 ? tree->force + (size_t)own->parent * tp_treeWidth : NULL;
        if (own->isMotion) {
            tpTreeMotion_GoUp(tree, k, force, x, parent);
        } else {
            goUp(tree, k, force, x, parent);
        }
    }
    for (int k = 0; k < tree->placeCount; ++k) {
        const tpTreeBody* own = &tree->bodies[k];
        double *force = tree->force + (size_t)k * tp_treeWidth, *x = tree->x + own->firstRow;
        const double* parent =
            own->parent >= 0 ? tree->force + (size_t)own->parent * tp_treeWidth : NULL;
        if (own->isMotion) {
            tpTreeMotion_GoDown(tree, k, force, x, parent);
        } else {
            goDown(tree, k, force, x, parent);
        }
    }
}

// What is left ------------------------------------------------------------------------------------

// Velocities of a block's rows for those of bodies, or forces of its impulses on bodies.
static void readOther(const tpFrictionTree* tree, int b, const double* velocity, double* u) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < tpTree_RowsOfBlock(tree, b); ++i) {
            u[i] += tpTree_Dot6(tree->G + (size_t)(2 * (tree->first[b] + i) + side) * tp_treeWidth,
                                velocity + (size_t)tree->place[body] * tp_treeWidth);
        }
    }
}

static void pushOther(const tpFrictionTree* tree, int b, const double* r, double* force) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < tpTree_RowsOfBlock(tree, b); ++i) {
            tpTree_AddScaled6(r[i],
                              tree->G + (size_t)(2 * (tree->first[b] + i) + side) * tp_treeWidth,
                              force + (size_t)tree->place[body] * tp_treeWidth);
        }
    }
}

// The ways of a block from its bodies to the root: y and z of its rows at each place on them, as in
// body_tree.c. A link that is eliminated by its motions has their parts in y, and no z.
typedef struct tpTreeStep {
    int place;
    int plus, minus; // numbers of each row in y and z
    double *y, *z;
} tpTreeStep;

typedef struct tpTreeTrace {
    const tpTreeStep* steps;
    int count;
} tpTreeTrace;

static int depthOf(const tpFrictionTree* tree, int body) {
    int depth = 0;
    for (int k = body >= 0 ? tree->place[body] : -1; k >= 0; k = tree->bodies[k].parent) {
        depth += 1;
    }
    return depth;
}

// One place on the way of a row: `own` is the force there, and becomes that on the parent.
static void traceStep(const tpFrictionTree* tree, tpTreeStep* step, int row, double* own) {
    int k = step->place;
    double up[tp_treeWidth] = { 0.0 };
    double* parent = tree->bodies[k].parent >= 0 ? up : NULL;
    double *y = step->y + (size_t)(row * step->plus), *z = step->z + (size_t)(row * step->minus);
    if (tree->bodies[k].isMotion) {
        tpTreeMotion_Trace(tree, k, own, y, parent);
    } else {
        memcpy(y, own, sizeof(up));
        memset(z, 0, sizeof(double) * (size_t)step->minus);
        goUp(tree, k, y, z, parent);
    }
    memcpy(own, up, sizeof(up));
}

// `steps` has room for the whole way. False if memory ran out.
static bool traceBlock(const tpFrictionTree* tree, int b, tpTreeStep* steps, tpTreeTrace* trace) {
    double carried[2][TP_FRICTION_MAX_ROWS][tp_treeWidth];
    int heads[2], rows = tpTree_RowsOfBlock(tree, b);
    *trace = (tpTreeTrace){ steps, 0 };
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        heads[side] = body >= 0 ? tree->place[body] : -1;
        for (int i = 0; body >= 0 && i < rows; ++i) {
            memcpy(carried[side][i],
                   tree->G + (size_t)(2 * (tree->first[b] + i) + side) * tp_treeWidth,
                   sizeof(carried[side][i]));
        }
    }
    while (heads[0] >= 0 || heads[1] >= 0) {
        int side = heads[0] >= heads[1] ? 0 : 1, k = heads[side];
        const tpTreeBody* own = &tree->bodies[k];
        tpTreeStep* step = &steps[trace->count++];
        step->place = k;
        step->plus = own->isMotion ? tree->motions[k].freeCount : tp_treeWidth;
        step->minus = own->isMotion ? 0 : own[1].firstRow - own->firstRow;
        step->y = TP_SCRATCH(tree->arena, double, rows*(step->plus + step->minus));
        if (step->y == NULL) {
            return false;
        }
        step->z = step->y + (size_t)(rows * step->plus);
        bool isJoined = heads[0] == heads[1];
        for (int i = 0; i < rows; ++i) {
            if (isJoined) {
                tpTree_AddScaled6(1.0, carried[1 - side][i], carried[side][i]);
            }
            traceStep(tree, step, i, carried[side][i]);
        }
        heads[1 - side] = isJoined ? -1 : heads[1 - side];
        heads[side] = own->parent;
    }
    return true;
}

// Adds the response of m rows of one block to n of another, by columns.
static void addResponse(const tpTreeStep* x, int m, const tpTreeStep* y, int n, size_t stride,
                        double* S) {
    if (x->plus == 1 && x->minus == 0) {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                S[(size_t)j * stride + (size_t)i] += x->y[i] * y->y[j];
            }
        }
        return;
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            S[(size_t)j * stride + (size_t)i] +=
                tpTree_Dot(x->plus, x->y + (size_t)(i * x->plus), y->y + (size_t)(j * x->plus)) -
                tpTree_Dot(x->minus, x->z + (size_t)(i * x->minus), y->z + (size_t)(j * x->minus));
        }
    }
}

// The part of S between two blocks: what the places that are on both ways say.
static void addResponses(tpTreeTrace a, int m, tpTreeTrace b, int n, size_t stride, double* S) {
    const tpTreeStep *x = a.steps, *endX = x + a.count, *y = b.steps, *endY = y + b.count;
    while (x < endX && y < endY) {
        if (x->place == y->place) {
            addResponse(x++, m, y++, n, stride, S);
        } else if (x->place > y->place) {
            x += 1;
        } else {
            y += 1;
        }
    }
}

// S = W_cc - W_ce W_ee^-1 W_ec by columns; NULL if memory ran out.
static double* formMatrix(tpFrictionTree* tree) {
    size_t n = (size_t)tree->otherRows;
    double* S = TP_SCRATCH_ZEROED(tree->arena, double, n* n);
    tpTreeTrace* traces = TP_SCRATCH(tree->arena, tpTreeTrace, tree->otherCount);
    if (tree->arena->failed) {
        return NULL;
    }
    for (int i = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i], rows = tpTree_RowsOfBlock(tree, b);
        int depth = depthOf(tree, tree->pair[2 * b]) + depthOf(tree, tree->pair[2 * b + 1]);
        tpTreeStep* steps = TP_SCRATCH(tree->arena, tpTreeStep, depth);
        if (tree->arena->failed || !traceBlock(tree, b, steps, &traces[i])) {
            return NULL;
        }
        size_t column = (size_t)tree->otherFirst[i];
        for (int k = 0; k <= i; ++k) {
            addResponses(traces[k], tpTree_RowsOfBlock(tree, tree->others[k]), traces[i], rows, n,
                         S + column * n + (size_t)tree->otherFirst[k]);
        }
        for (size_t c = column; c < column + (size_t)rows; ++c) {
            for (size_t k = 0; k < column; ++k) {
                S[k * n + c] = S[c * n + k];
            }
            S[c * n + c] += tpTree_Compliance(tree, tree->first[b] + (int)(c - column));
        }
    }
    return S;
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
        readOther(tree, b, tree->force, tree->p + tree->first[b]);
    }
}

static double sizeOfQ(const tpFrictionTree* tree) {
    double sum = 0.0;
    for (int row = 0; row < tree->rowCount; ++row) {
        sum += tpTree_FreeVelocity(tree, row) * tpTree_FreeVelocity(tree, row);
    }
    return sqrt(sum);
}

// Locked blocks ----------------------------------------------------------------------------------

// Between bodies that joints and drives hold together no impulse changes what a contact or limit
// sees. If it is not approached it has none to give. If it is, some of the drives must give way,
// and all that are on its way are let go.

// Whether the rows that hold a place to its parent leave it no motion.
static bool isRigid(const tpFrictionTree* tree, int k) {
    int count = 0;
    for (int i = tree->bodies[k].firstRow; i < tree->bodies[k + 1].firstRow; ++i) {
        count += tpTree_Compliance(tree, tree->rows[i].row) > 0.0 ? 0 : 1;
    }
    return count >= tp_treeWidth;
}

static int letGoAt(tpFrictionTree* tree, int k) {
    int count = 0;
    for (int i = tree->bodies[k].firstBlock; i < tree->bodies[k + 1].firstBlock; ++i) {
        int b = tree->links[i];
        if (tree->role[b] == tp_driveInTree && tree->isHeld[b]) {
            tree->isHeld[b] = false;
            count += 1;
        }
    }
    return count;
}

// The next place on the way between the bodies of a block, heads being those where its two ends
// are; -1 if they have met.
static int nextOnWay(const tpFrictionTree* tree, int heads[2]) {
    if (heads[0] == heads[1]) {
        return -1;
    }
    int side = heads[0] > heads[1] ? 0 : 1, k = heads[side];
    heads[side] = tree->bodies[k].parent;
    return k;
}

static bool isLocked(const tpFrictionTree* tree, int b) {
    int heads[2] = { tpTree_PlaceOf(tree, tree->pair[2 * b]),
                     tpTree_PlaceOf(tree, tree->pair[2 * b + 1]) };
    for (int k; (k = nextOnWay(tree, heads)) >= 0;) {
        if (!isRigid(tree, k)) {
            return false;
        }
    }
    return true;
}

// Lets the drives of a locked block go. Returns their number.
static int unlock(tpFrictionTree* tree, int b) {
    int heads[2] = { tpTree_PlaceOf(tree, tree->pair[2 * b]),
                     tpTree_PlaceOf(tree, tree->pair[2 * b + 1]) };
    int count = 0;
    for (int k; (k = nextOnWay(tree, heads)) >= 0;) {
        count += letGoAt(tree, k);
    }
    return count;
}

// What is left, chosen ---------------------------------------------------------------------------

// A block takes part if it is nearly closed, or carries something to begin with, and is not locked.
// Returns the number of drives that had to be let go.
static int chooseActive(tpFrictionTree* tree, double size, double goal, double* r) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        double p = tree->p[tree->first[b]];
        tree->isActive[b] = !tree->isHeld[b] && p < nearlyClosed * size;
        for (int row = tree->first[b]; !tree->isHeld[b] && row < tree->first[b + 1]; ++row) {
            tree->isActive[b] = tree->isActive[b] || r[row] != 0.0;
        }
        if (tree->isActive[b] && tree->role[b] == tp_contactInTree && isLocked(tree, b)) {
            int drives = p < -tp_smallPart * goal ? unlock(tree, b) : 0;
            tree->isActive[b] = p < -tp_smallPart * goal && drives == 0;
            for (int row = tree->first[b]; !tree->isActive[b] && row < tree->first[b + 1]; ++row) {
                r[row] = 0.0;
            }
            count += drives;
        }
    }
    return count;
}

static void listOthers(tpFrictionTree* tree) {
    tree->otherCount = tree->otherRows = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isActive[b]) {
            tree->others[tree->otherCount] = b;
            tree->otherFirst[tree->otherCount++] = tree->otherRows;
            tree->otherRows += tpTree_RowsOfBlock(tree, b);
        }
    }
    tree->otherFirst[tree->otherCount] = tree->otherRows;
}

// Blocks that are approached by more than `least` now, with the velocities in `force`, join.
// Returns their number.
static int joinApproached(tpFrictionTree* tree, double least) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isHeld[b] || tree->isActive[b]) {
            continue;
        }
        double u[TP_FRICTION_MAX_ROWS] = { tpTree_FreeVelocity(tree, tree->first[b]) };
        readOther(tree, b, tree->force, u);
        if (u[0] < -least) {
            tree->isActive[b] = true;
            count += 1;
        }
    }
    return count;
}

// The impulses of what is left, `own`, for velocities p under the joints alone.
static bool solveOthers(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        const double* p, double* own, int* iterations, double* work) {
    tpArena* arena = tree->arena;
    int n = tree->otherCount;
    int* dimensions = TP_SCRATCH(arena, int, n);
    unsigned char* kinds = TP_SCRATCH(arena, unsigned char, n);
    double* mu = TP_SCRATCH(arena, double, n);
    double* S = formMatrix(tree);
    if (S == NULL) {
        return false;
    }
    const tpFrictionProblem* problem = tree->problem;
    for (int i = 0; i < n; ++i) {
        int b = tree->others[i];
        dimensions[i] = tpTree_RowsOfBlock(tree, b);
        kinds[i] = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        mu[i] = kinds[i] == tp_frictionCone ? problem->mu[b] : 0.0;
    }
    tpMatrix matrix = tpDenseMatrix(tree->otherRows, tree->otherRows, S);
    tpFrictionProblem small = {
        .blockCount = n, .dimensions = dimensions, .kinds = kinds, .mu = mu, .q = p, .W = &matrix
    };
    tpSmallSolve settings = { tp_smallPart * goal, smallLimit, options->workLimit };
    return tpFriction_SolveSmall(&small, options, &settings, arena, own, iterations, work);
}

// Solving -----------------------------------------------------------------------------------------

static void setFreeVelocities(tpFrictionTree* tree) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        tree->x[i] = -tpTree_FreeVelocity(tree, tree->rows[i].row);
    }
}

static void clearForces(tpFrictionTree* tree) {
    memset(tree->force, 0, sizeof(double) * (size_t)tree->placeCount * tp_treeWidth);
}

// The blocks that take part, and the joints under their impulses. False if memory ran out or there
// are too many.
static bool solveActive(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        double* r, int* iterations, double* work) {
    double* p = TP_SCRATCH(tree->arena, double, tree->otherRows);
    double* own = TP_SCRATCH(tree->arena, double, tree->otherRows);
    if (tree->arena->failed || tree->otherRows > maxOtherRows) {
        return false;
    }
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            p[k] = tree->p[row];
            own[k] = r[row] / tpTree_Scale(tree, row);
        }
    }
    if (!solveOthers(tree, options, goal, p, own, iterations, work)) {
        return false;
    }
    setFreeVelocities(tree);
    clearForces(tree);
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        pushOther(tree, b, own + tree->otherFirst[i], tree->force);
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            r[row] = own[k] * tpTree_Scale(tree, row);
        }
    }
    solveTree(tree);
    return true;
}

// Once with the blocks that hold as they are chosen. `isUnlocked`: drives had to be let go before
// there was anything to solve. False if memory ran out or there are too many others.
static bool solveChosen(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        double* r, int* iterations, double* work, bool* isUnlocked) {
    *work += factorise(tree) + 30.0 * tree->rowCount;
    setFreeVelocities(tree);
    clearForces(tree);
    solveTree(tree);
    readOthers(tree);
    double size = sizeOfQ(tree);
    *isUnlocked = chooseActive(tree, size, goal, r) > 0;
    if (*isUnlocked) {
        return true;
    }
    bool isFirst = true;
    for (int count = 1; count > 0; isFirst = false) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        listOthers(tree);
        bool isAlone = isFirst && tree->otherCount == 0;
        if (!isAlone && !solveActive(tree, options, goal, r, iterations, work)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        *iterations += isAlone ? 1 : 0;
        count = joinApproached(tree, noApproach * size);
    }
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
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

bool tpFrictionTree_Solve(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                          double* r, int* iterations, double* work) {
    for (int b = 0; b < tree->blockCount; ++b) {
        tree->isHeld[b] = tree->role[b] != tp_contactInTree;
        if (tree->role[b] == tp_driveInTree) {
            r[tree->first[b]] = loadOf(tree, b);
        }
    }
    letGo(tree, nearBound, r);
    for (int change = 0; change < maxChanges; ++change) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        bool isUnlocked;
        if (!listRows(tree) ||
            !solveChosen(tree, options, goal, r, iterations, work, &isUnlocked)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        if (!isUnlocked && letGo(tree, 1.0, r) == 0) {
            return true;
        }
        if (!isUnlocked) {
            letGo(tree, nearBound, r);
        }
    }
    return false;
}

void tpFrictionTree_Refine(tpFrictionTree* tree, const double* u, double* r) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
        tree->x[i] = -tpTree_Scale(tree, row) * u[row];
    }
    clearForces(tree);
    solveTree(tree);
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
        r[row] += tree->x[i] * tpTree_Scale(tree, row);
    }
}
