#include "sweeps/joint_tree.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tippe/math.h"

// Spatial inertias --------------------------------------------------------------------------------

static inline void multiply(const tpSpatialInertia* I, const double* v, double* momentum) {
    const double *A = I->mass, *B = I->coupling, *C = I->inertia;
    momentum[0] = A[0] * v[0] + A[3] * v[1] + A[4] * v[2] + B[0] * v[3] + B[1] * v[4] + B[2] * v[5];
    momentum[1] = A[3] * v[0] + A[1] * v[1] + A[5] * v[2] + B[3] * v[3] + B[4] * v[4] + B[5] * v[5];
    momentum[2] = A[4] * v[0] + A[5] * v[1] + A[2] * v[2] + B[6] * v[3] + B[7] * v[4] + B[8] * v[5];
    momentum[3] = B[0] * v[0] + B[3] * v[1] + B[6] * v[2] + C[0] * v[3] + C[3] * v[4] + C[4] * v[5];
    momentum[4] = B[1] * v[0] + B[4] * v[1] + B[7] * v[2] + C[3] * v[3] + C[1] * v[4] + C[5] * v[5];
    momentum[5] = B[2] * v[0] + B[5] * v[1] + B[8] * v[2] + C[4] * v[3] + C[5] * v[4] + C[2] * v[5];
}

static inline double dotSix(const double* a, const double* b) {
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// I -= U U' / d
static inline void subtractSquare(tpSpatialInertia* I, const double* U, double inverse) {
    double *A = I->mass, *B = I->coupling, *C = I->inertia, x[6];
    for (int k = 0; k < 6; ++k) {
        x[k] = inverse * U[k];
    }
    A[0] -= x[0] * U[0];
    A[1] -= x[1] * U[1];
    A[2] -= x[2] * U[2];
    A[3] -= x[0] * U[1];
    A[4] -= x[0] * U[2];
    A[5] -= x[1] * U[2];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[3 * i + j] -= x[i] * U[3 + j];
        }
    }
    C[0] -= x[3] * U[3];
    C[1] -= x[4] * U[4];
    C[2] -= x[5] * U[5];
    C[3] -= x[3] * U[4];
    C[4] -= x[3] * U[5];
    C[5] -= x[4] * U[5];
}

// The same inertia for velocities at a point from which r leads to where it is known. With R w =
// r x w: B' = B - A R, C' = C - B' R + R B'.
static inline void moveInertia(const tpSpatialInertia* I, const double* r, tpSpatialInertia* to) {
    const double *A = I->mass, *B = I->coupling, *C = I->inertia;
    double* G = to->coupling;
    double x = r[0], y = r[1], z = r[2];
    memcpy(to->mass, A, sizeof(to->mass));
    // Columns of R: (0, z, -y), (-z, 0, x), (y, -x, 0).
    G[0] = B[0] - (A[3] * z - A[4] * y);
    G[1] = B[1] - (A[4] * x - A[0] * z);
    G[2] = B[2] - (A[0] * y - A[3] * x);
    G[3] = B[3] - (A[1] * z - A[5] * y);
    G[4] = B[4] - (A[5] * x - A[3] * z);
    G[5] = B[5] - (A[3] * y - A[1] * x);
    G[6] = B[6] - (A[5] * z - A[2] * y);
    G[7] = B[7] - (A[2] * x - A[4] * z);
    G[8] = B[8] - (A[4] * y - A[5] * x);
    // Entry ij of B' R is column i of B times column j of R; of R G: row i of R times column j of
    // G. Rows of R: (0, -z, y), (z, 0, -x), (-y, x, 0).
    to->inertia[0] = C[0] - (B[3] * z - B[6] * y) + (y * G[6] - z * G[3]);
    to->inertia[1] = C[1] - (B[7] * x - B[1] * z) + (z * G[1] - x * G[7]);
    to->inertia[2] = C[2] - (B[2] * y - B[5] * x) + (x * G[5] - y * G[2]);
    to->inertia[3] = C[3] - (B[6] * x - B[0] * z) + (y * G[7] - z * G[4]);
    to->inertia[4] = C[4] - (B[0] * y - B[3] * x) + (y * G[8] - z * G[5]);
    to->inertia[5] = C[5] - (B[1] * y - B[4] * x) + (z * G[2] - x * G[8]);
}

static inline void addInertia(tpSpatialInertia* sum, const tpSpatialInertia* I) {
    for (int k = 0; k < 6; ++k) {
        sum->mass[k] += I->mass[k];
        sum->inertia[k] += I->inertia[k];
    }
    for (int k = 0; k < 9; ++k) {
        sum->coupling[k] += I->coupling[k];
    }
}

// Adds an impulse on a body to its parent's, about the parent's centre.
static inline void addMoved(double* sum, const double* r, const double* impulse) {
    sum[0] += impulse[0];
    sum[1] += impulse[1];
    sum[2] += impulse[2];
    sum[3] += impulse[3] + (r[1] * impulse[2] - r[2] * impulse[1]);
    sum[4] += impulse[4] + (r[2] * impulse[0] - r[0] * impulse[2]);
    sum[5] += impulse[5] + (r[0] * impulse[1] - r[1] * impulse[0]);
}

// The velocity of the parent at the body's centre.
static inline void carry(const double* velocity, const double* r, double* there) {
    const double* w = velocity + 3;
    there[0] = velocity[0] + (w[1] * r[2] - w[2] * r[1]);
    there[1] = velocity[1] + (w[2] * r[0] - w[0] * r[2]);
    there[2] = velocity[2] + (w[0] * r[1] - w[1] * r[0]);
    there[3] = w[0];
    there[4] = w[1];
    there[5] = w[2];
}

// Six numbers in registers: those of a node while its axes are gone through.
typedef struct Six {
    tpVec3 linear, angular;
} Six;

static inline Six readSix(const double* x) {
    return (Six){ { x[0], x[1], x[2] }, { x[3], x[4], x[5] } };
}

static inline void writeSix(Six v, double* x) {
    x[0] = v.linear.x;
    x[1] = v.linear.y;
    x[2] = v.linear.z;
    x[3] = v.angular.x;
    x[4] = v.angular.y;
    x[5] = v.angular.z;
}

// In the order of dotSix.
static inline double along(const double* a, Six b) {
    return (a[0] * b.linear.x + a[1] * b.linear.y + a[2] * b.linear.z) +
           (a[3] * b.angular.x + a[4] * b.angular.y + a[5] * b.angular.z);
}

static inline Six plus(Six v, double factor, const double* x) {
    v.linear.x += factor * x[0];
    v.linear.y += factor * x[1];
    v.linear.z += factor * x[2];
    v.angular.x += factor * x[3];
    v.angular.y += factor * x[4];
    v.angular.z += factor * x[5];
    return v;
}

// Factors -----------------------------------------------------------------------------------------

// A root's inertia as L D L', L with ones on its diagonal: L below the diagonal, 1 / D on it.
static void factoriseRoot(const tpSpatialInertia* I, double* L) {
    const double *A = I->mass, *B = I->coupling, *C = I->inertia;
    const double lower[36] = {
        A[0], 0.0,  0.0,  0.0,  0.0,  0.0, A[3], A[1], 0.0,  0.0,  0.0,  0.0,
        A[4], A[5], A[2], 0.0,  0.0,  0.0, B[0], B[3], B[6], C[0], 0.0,  0.0,
        B[1], B[4], B[7], C[3], C[1], 0.0, B[2], B[5], B[8], C[4], C[5], C[2]
    };
    double least = 0.0;
    for (int k = 0; k < 6; ++k) {
        least = lower[7 * k] > least ? lower[7 * k] : least;
    }
    least *= 1e-15;
    memcpy(L, lower, sizeof(lower));
    for (int k = 0; k < 6; ++k) {
        double inverse = 1.0 / (L[7 * k] > least ? L[7 * k] : least);
        for (int i = k + 1; i < 6; ++i) {
            double factor = L[6 * i + k] * inverse;
            for (int j = k + 1; j <= i; ++j) {
                L[6 * i + j] -= factor * L[6 * j + k];
            }
        }
        for (int i = k + 1; i < 6; ++i) {
            L[6 * i + k] *= inverse;
        }
        L[7 * k] = inverse;
    }
}

static void solveRoot(const double* L, const double* momentum, double* velocity) {
    for (int i = 0; i < 6; ++i) {
        velocity[i] = momentum[i];
        for (int j = 0; j < i; ++j) {
            velocity[i] -= L[6 * i + j] * velocity[j];
        }
    }
    for (int i = 5; i >= 0; --i) {
        velocity[i] *= L[7 * i];
        for (int j = i + 1; j < 6; ++j) {
            velocity[i] -= L[6 * j + i] * velocity[j];
        }
    }
}

// An axis along which next to nothing moves, as two of three turns in gimbal lock, counts as held.
static const double leastPivot = 1e-12;

static void eliminateAxis(tpJointAxis* axis, tpSpatialInertia* I) {
    double own = 0.0;
    multiply(I, axis->motion, axis->shown);
    for (int k = 0; k < 6; ++k) {
        own += fabs(axis->motion[k] * axis->shown[k]);
    }
    double d = dotSix(axis->motion, axis->shown) + axis->stiffness;
    axis->inverse = d > leastPivot * own ? 1.0 / d : 0.0;
    subtractSquare(I, axis->shown, axis->inverse);
}

// What a node and all beyond it show to its joint: its own inertia, and what its children lend.
static void gatherInertia(const tpJointTree* tree, tpJointNode* node) {
    tpSpatialInertia* left = &node->left;
    if (node->child < 0) {
        memset(left, 0, sizeof(*left));
    } else {
        const tpJointNode* first = &tree->nodes[node->child];
        *left = first->lent;
        for (int c = first->sibling; c >= 0; c = tree->nodes[c].sibling) {
            addInertia(left, &tree->nodes[c].lent);
        }
    }
    for (int k = 0; k < 3; ++k) {
        left->mass[k] += node->mass;
    }
    for (int k = 0; k < 6; ++k) {
        left->inertia[k] += node->inertia[k];
    }
}

static void factoriseNode(tpJointTree* tree, int i) {
    tpJointNode* node = &tree->nodes[i];
    tpSpatialInertia* left = &node->left;
    gatherInertia(tree, node);
    for (int k = node->axisEnd - 1; k >= node->axis; --k) {
        eliminateAxis(&tree->axes[k], left);
    }
    if (node->parent >= 0) {
        moveInertia(left, node->arm, &node->lent);
        tree->nodes[node->parent].isDirty = true;
    } else if (tree->isFree) {
        factoriseRoot(left, tree->rootFactor);
    }
}

void tpJointTree_MarkAll(tpJointTree* tree) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        tree->nodes[i].isDirty = true;
    }
}

// Marks the nodes whose rows within are others than those of the factors.
static void markChanged(tpJointTree* tree) {
    for (int k = 0; k < tree->rowCount; ++k) {
        if (tree->rows[k].isIn != (tree->answers[k].state == tp_withinRow)) {
            tree->nodes[tree->rows[k].node].isDirty = true;
        }
    }
}

void tpJointTree_Factorise(tpJointTree* tree) {
    markChanged(tree);
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        for (int k = node->axis; node->isDirty && k < node->axisEnd; ++k) {
            tree->axes[k].stiffness = 0.0;
        }
    }
    tree->hasBounds = false;
    for (int k = 0; k < tree->rowCount; ++k) {
        tpAxisRow* row = &tree->rows[k];
        tree->hasBounds = tree->hasBounds || tpRowAnswer_IsBounded(&tree->answers[k]);
        if (tree->nodes[row->node].isDirty) {
            row->isIn = tree->answers[k].state == tp_withinRow;
            tree->axes[row->axis].stiffness += row->isIn ? tree->answers[k].stiffness : 0.0;
        }
    }
    for (int i = 0; i < tree->nodeCount; ++i) {
        if (tree->nodes[i].isDirty) {
            factoriseNode(tree, i);
            tree->nodes[i].isDirty = false;
        }
    }
}

// Solves ------------------------------------------------------------------------------------------

// Eliminates the axes of a node: what is left of its impulse p is for its parent.
static inline Six takeAxes(tpJointAxis* first, tpJointAxis* end, Six p) {
    while (end > first) {
        tpJointAxis* axis = --end;
        double push = axis->inverse * (axis->push + along(axis->motion, p));
        axis->push = push;
        p = plus(p, -push, axis->shown);
    }
    return p;
}

// Hands what is left of a node's impulse on to its parent, about the parent's centre.
static inline void handDown(tpJointTree* tree, int i, Six p) {
    const tpJointNode* node = &tree->nodes[i];
    if (node->parent < 0) {
        writeSix(p, &tree->impulses[6 * i]);
        return;
    }
    double* sum = &tree->impulses[6 * node->parent];
    double x = node->arm[0], y = node->arm[1], z = node->arm[2];
    tpVec3 f = p.linear, t = p.angular;
    Six moved = {
        f, { t.x + (y * f.z - z * f.y), t.y + (z * f.x - x * f.z), t.z + (x * f.y - y * f.x) }
    };
    writeSix(plus(moved, 1.0, sum), sum);
}

// From the leaves to the root: `impulses` has the momenta of the nodes, axes the impulses of their
// rows in `push`.
static void goDown(tpJointTree* tree) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        Six p = readSix(&tree->impulses[6 * i]);
        handDown(tree, i, takeAxes(tree->axes + node->axis, tree->axes + node->axisEnd, p));
    }
}

// The same if nodes jump against their parents.
static void goDownJumping(tpJointTree* tree, const double* jumps) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        Six p = readSix(&tree->impulses[6 * i]);
        p = takeAxes(tree->axes + node->axis, tree->axes + node->axisEnd, p);
        if (node->parent >= 0) {
            double momentum[6];
            multiply(&node->left, &jumps[6 * i], momentum);
            p = plus(p, -1.0, momentum);
        }
        handDown(tree, i, p);
    }
}

// The velocity of a node before its joint moves.
static inline Six beginNode(const tpJointTree* tree, int i, const double* base,
                            const double* velocities) {
    const tpJointNode* node = &tree->nodes[i];
    if (node->parent >= 0) {
        Six v = readSix(&velocities[6 * node->parent]);
        double x = node->arm[0], y = node->arm[1], z = node->arm[2];
        tpVec3 w = v.angular;
        v.linear.x += w.y * z - w.z * y;
        v.linear.y += w.z * x - w.x * z;
        v.linear.z += w.x * y - w.y * x;
        return v;
    }
    double v[6] = { 0.0 };
    if (tree->isFree) {
        solveRoot(tree->rootFactor, &tree->impulses[6 * i], v);
    } else if (base != NULL) {
        memcpy(v, base, sizeof(v));
    }
    return readSix(v);
}

// And back: velocities, and rates of the axes.
static void goUp(tpJointTree* tree, const double* base, const double* jumps, double* velocities) {
    for (int i = tree->nodeCount - 1; i >= 0; --i) {
        const tpJointNode* node = &tree->nodes[i];
        Six v = beginNode(tree, i, base, velocities);
        if (jumps != NULL && (node->parent >= 0 || !tree->isFree)) {
            v = plus(v, 1.0, &jumps[6 * i]);
        }
        for (int k = node->axis; k < node->axisEnd; ++k) {
            tpJointAxis* axis = &tree->axes[k];
            double rate = axis->push - axis->inverse * along(axis->shown, v);
            axis->rate = rate;
            v = plus(v, rate, axis->motion);
        }
        writeSix(v, &velocities[6 * i]);
    }
}

static tpJointAxis* axesEnd(const tpJointTree* tree) {
    return tree->axes + tree->nodes[tree->nodeCount - 1].axisEnd;
}

static void setLoads(tpJointTree* tree) {
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->load = 0.0;
    }
    for (int k = 0; k < tree->rowCount; ++k) {
        const tpAxisRow* row = &tree->rows[k];
        tree->axes[row->axis].load += row->sign * tpRowAnswer_Start(&tree->answers[k]);
    }
}

static void startPass(tpJointTree* tree, const double* momenta) {
    memcpy(tree->impulses, momenta, sizeof(double) * 6 * (size_t)tree->nodeCount);
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->push = axis->load;
    }
}

// Velocities by the loads that are set.
static void solveLoaded(tpJointTree* tree, const double* momenta, double* velocities) {
    startPass(tree, momenta);
    goDown(tree);
    goUp(tree, tree->base, NULL, velocities);
}

void tpJointTree_ReadRows(tpJointTree* tree) {
    for (int k = 0; k < tree->rowCount; ++k) {
        const tpAxisRow* row = &tree->rows[k];
        tpRowAnswer_Set(&tree->answers[k], row->sign * tree->axes[row->axis].rate);
    }
}

void tpJointTree_Solve(tpJointTree* tree, const double* momenta, double* velocities) {
    setLoads(tree);
    solveLoaded(tree, momenta, velocities);
    tpJointTree_ReadRows(tree);
}

void tpJointTree_SolveJumping(tpJointTree* tree, const double* momenta, const double* jumps,
                              double* velocities) {
    setLoads(tree);
    startPass(tree, momenta);
    goDownJumping(tree, jumps);
    goUp(tree, tree->base, jumps, velocities);
}

// Whether rows are within their bounds after a solve, the `trial`th; else they have changed their
// states, and the factors follow.
static bool isBounded(tpJointTree* tree, int trial) {
    if (!tree->hasBounds || trial == tp_mostTrials) {
        return true;
    }
    tpJointTree_ReadRows(tree);
    if (!tpRowAnswers_Follow(tree->answers, tree->rowCount, trial)) {
        return true;
    }
    tpJointTree_Factorise(tree);
    return false;
}

static int solveFrom(tpJointTree* tree, const double* momenta, double* velocities, int trial) {
    for (;; ++trial) {
        setLoads(tree);
        solveLoaded(tree, momenta, velocities);
        if (isBounded(tree, trial)) {
            return trial;
        }
    }
}

int tpJointTree_SolveBounded(tpJointTree* tree, const double* momenta, double* velocities) {
    return solveFrom(tree, momenta, velocities, 0);
}

void tpJointTree_Want(tpJointTree* tree) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        if (node->parent >= 0 && node->isWanted) {
            tree->nodes[node->parent].isWanted = true;
        }
    }
}

// From the nodes that are wanted to the root; others have no impulse.
static void pushDown(tpJointTree* tree, const double* changes) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        if (tree->nodes[i].isWanted) {
            memcpy(&tree->impulses[6 * i], &changes[6 * i], 6 * sizeof(double));
        }
    }
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        if (!node->isWanted) {
            continue;
        }
        for (int k = node->axis; k < node->axisEnd; ++k) {
            tree->axes[k].push = 0.0;
        }
        Six p = readSix(&tree->impulses[6 * i]);
        handDown(tree, i, takeAxes(tree->axes + node->axis, tree->axes + node->axisEnd, p));
    }
}

// And back to all: `impulses` become the changes of velocities.
static void pushUp(tpJointTree* tree, double* velocities) {
    double* all = tree->impulses;
    for (int i = tree->nodeCount - 1; i >= 0; --i) {
        const tpJointNode* node = &tree->nodes[i];
        Six v = beginNode(tree, i, NULL, all);
        for (int k = node->axis; k < node->axisEnd; ++k) {
            tpJointAxis* axis = &tree->axes[k];
            double rate =
                (node->isWanted ? axis->push : 0.0) - axis->inverse * along(axis->shown, v);
            v = plus(v, rate, axis->motion);
            axis->rate += rate;
        }
        writeSix(v, &all[6 * i]);
        writeSix(plus(v, 1.0, &velocities[6 * i]), &velocities[6 * i]);
    }
}

void tpJointTree_Push(tpJointTree* tree, const double* changes, double* velocities) {
    pushDown(tree, changes);
    pushUp(tree, velocities);
}

int tpJointTree_PushBounded(tpJointTree* tree, const double* momenta, const double* changes,
                            double* velocities) {
    tpJointTree_Push(tree, changes, velocities);
    return isBounded(tree, 0) ? 0 : solveFrom(tree, momenta, velocities, 1);
}

static void clearPushes(tpJointTree* tree) {
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->push = 0.0;
    }
}

void tpJointTree_Correct(tpJointTree* tree, const double* jumps, const double* errors,
                         double* shifts) {
    memset(tree->impulses, 0, sizeof(double) * 6 * (size_t)tree->nodeCount);
    clearPushes(tree);
    for (int k = 0; errors != NULL && k < tree->rowCount; ++k) {
        const tpRowAnswer* answer = &tree->answers[k];
        if (answer->state == tp_withinRow) {
            const tpAxisRow* row = &tree->rows[k];
            tree->axes[row->axis].push -= row->sign * answer->stiffness * errors[k];
        }
    }
    goDownJumping(tree, jumps);
    goUp(tree, NULL, jumps, shifts);
}

void tpJointTree_Reactions(const tpJointTree* tree, const double* momenta, const double* velocities,
                           double* impulses) {
    memset(impulses, 0, sizeof(double) * 6 * (size_t)tree->nodeCount);
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        const double *v = &velocities[6 * i], *p = &momenta[6 * i], *I = node->inertia;
        double* f = &impulses[6 * i];
        for (int k = 0; k < 3; ++k) {
            f[k] += node->mass * v[k] - p[k];
        }
        f[3] += I[0] * v[3] + I[3] * v[4] + I[4] * v[5] - p[3];
        f[4] += I[3] * v[3] + I[1] * v[4] + I[5] * v[5] - p[4];
        f[5] += I[4] * v[3] + I[5] * v[4] + I[2] * v[5] - p[5];
        if (node->parent >= 0) {
            addMoved(&impulses[6 * node->parent], node->arm, f);
        }
    }
}

// Inverse -----------------------------------------------------------------------------------------

// A full 6 x 6 block of the parent, at the body's centre: rows, then columns, as velocities are.
static void carryBlock(const double* block, const double* r, double* there) {
    double half[36];
    for (int j = 0; j < 6; ++j) {
        double column[6], moved[6];
        for (int i = 0; i < 6; ++i) {
            column[i] = block[6 * i + j];
        }
        carry(column, r, moved);
        for (int i = 0; i < 6; ++i) {
            half[6 * i + j] = moved[i];
        }
    }
    for (int i = 0; i < 6; ++i) {
        carry(&half[6 * i], r, &there[6 * i]);
    }
}

// What an axis adds: with N = 1 - s U' / d the block becomes N block N' + s s' / d.
static void addAxis(const tpJointAxis* axis, double* block) {
    double y[6];
    const double *s = axis->motion, *U = axis->shown;
    for (int i = 0; i < 6; ++i) {
        y[i] = axis->inverse * dotSix(&block[6 * i], U);
    }
    double more = axis->inverse * (1.0 + dotSix(U, y));
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            block[6 * i + j] += more * s[i] * s[j] - (s[i] * y[j] + y[i] * s[j]);
        }
    }
}

void tpJointTree_Invert(tpJointTree* tree, double (*inverses)[36]) {
    for (int i = tree->nodeCount - 1; i >= 0; --i) {
        const tpJointNode* node = &tree->nodes[i];
        if (!node->isWanted) {
            continue;
        }
        if (node->parent >= 0) {
            carryBlock(inverses[node->parent], node->arm, inverses[i]);
        } else {
            memset(inverses[i], 0, sizeof(inverses[i]));
            for (int k = 0; tree->isFree && k < 6; ++k) {
                double unit[6] = { 0.0 };
                unit[k] = 1.0;
                solveRoot(tree->rootFactor, unit, &inverses[i][6 * k]);
            }
        }
        for (int k = node->axis; k < node->axisEnd; ++k) {
            addAxis(&tree->axes[k], inverses[i]);
        }
    }
}
