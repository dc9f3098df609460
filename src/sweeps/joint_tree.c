#include "sweeps/joint_tree.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sweeps/spatial.h"
#include "sweeps/tree_packs.h"

// Factors -----------------------------------------------------------------------------------------

// One column of the factors of a root. Inlined always: the loops have constant ends then.
__attribute__((always_inline)) static inline void eliminateColumn(double* L, int k, double least) {
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
    eliminateColumn(L, 0, least);
    eliminateColumn(L, 1, least);
    eliminateColumn(L, 2, least);
    eliminateColumn(L, 3, least);
    eliminateColumn(L, 4, least);
    eliminateColumn(L, 5, least);
}

// The pushes of a free root, D^-1 L^-1 p, as if it had six axes; and its velocity by them.
static void pushRoot(const double* L, const double* momentum, double* push) {
    for (int i = 0; i < 6; ++i) {
        push[i] = momentum[i];
        for (int j = 0; j < i; ++j) {
            push[i] -= L[6 * i + j] * push[j];
        }
    }
    for (int i = 0; i < 6; ++i) {
        push[i] *= L[7 * i];
    }
}

static void moveRoot(const double* L, const double* push, double* velocity) {
    for (int i = 5; i >= 0; --i) {
        velocity[i] = push[i];
        for (int j = i + 1; j < 6; ++j) {
            velocity[i] -= L[6 * j + i] * velocity[j];
        }
    }
}

static void eliminateAxis(tpJointAxis* axis, tpSpatialInertia* I) {
    double own = 0.0;
    multiply(I, axis->motion, axis->shown);
    for (int k = 0; k < 6; ++k) {
        own += fabs(axis->motion[k] * axis->shown[k]);
    }
    double d = dotSix(axis->motion, axis->shown) + axis->stiffness;
    axis->inverse = d > tp_leastPivot * own ? 1.0 / d : 0.0;
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

// The first node that is in no pack: the root, if there are packs.
static int firstAlone(const tpJointTree* tree) {
    return tree->packs != NULL ? tree->nodeCount - 1 : 0;
}

void tpJointTree_MarkAll(tpJointTree* tree) {
    for (int i = 0; i < tree->nodeCount; ++i) {
        tree->nodes[i].isDirty = true;
    }
}

// Marks the nodes whose rows within are others than those of the factors.
static void markChanged(tpJointTree* tree) {
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
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
            tree->axes[k].stiffness = tree->axes[k].rotor;
        }
    }
    tree->hasBounds = tpJointTree_NearCount(tree) < tree->rowCount;
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        tpAxisRow* row = &tree->rows[k];
        tree->hasBounds = tree->hasBounds || tpRowAnswer_IsBounded(&tree->answers[k]);
        if (tree->nodes[row->node].isDirty) {
            row->isIn = tree->answers[k].state == tp_withinRow;
            tree->axes[row->axis].stiffness += row->isIn ? tree->answers[k].stiffness : 0.0;
        }
    }
    if (tree->packs != NULL) {
        tree->kernels->factorise(tree);
    }
    for (int i = firstAlone(tree); i < tree->nodeCount; ++i) {
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
        if (tree->isFree) {
            pushRoot(tree->rootFactor, &tree->impulses[6 * i], tree->rootPush);
        }
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
    if (tree->packs != NULL) {
        tree->kernels->goDown(tree, NULL);
    }
    for (int i = firstAlone(tree); i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        Six p = readSix(&tree->impulses[6 * i]);
        handDown(tree, i, takeAxes(tree->axes + node->axis, tree->axes + node->axisEnd, p));
    }
}

// The same if nodes jump against their parents.
static void goDownJumping(tpJointTree* tree, const double* jumps) {
    if (tree->packs != NULL) {
        tree->kernels->goDown(tree, jumps);
    }
    for (int i = firstAlone(tree); i < tree->nodeCount; ++i) {
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
        moveRoot(tree->rootFactor, tree->rootPush, v);
    } else if (base != NULL) {
        memcpy(v, base, sizeof(v));
    }
    return readSix(v);
}

// And back: velocities, and rates of the axes.
static void goUp(tpJointTree* tree, const double* base, const double* jumps, double* velocities) {
    for (int i = tree->nodeCount - 1; i >= firstAlone(tree); --i) {
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
    if (tree->packs != NULL) {
        tree->kernels->goUp(tree, jumps, velocities);
    }
}

static tpJointAxis* axesEnd(const tpJointTree* tree) {
    return tree->axes + tree->nodes[tree->nodeCount - 1].axisEnd;
}

// The velocity at which a row answers with this impulse.
static double speedAt(const tpRowAnswer* row, double impulse) {
    return (row->offset - impulse) / row->stiffness - row->bias;
}

// Part of the numbers in a bound by which it is narrower than it would have to be: roundings.
static const double narrower = 1e-14;

// Narrows the rates of an axis to those at which the row is settled: see tpRowAnswer_IsSettled.
static void narrow(tpJointAxis* axis, double sign, const tpRowAnswer* row) {
    double low = -INFINITY, high = INFINITY, bias = 2.0 * fabs(row->bias);
    if (row->state == tp_deadRow) {
        return;
    }
    if (!(row->stiffness > 0.0)) {
        low = INFINITY; // it has to be asked
    } else if (row->state == tp_withinRow) {
        low = speedAt(row, row->most);
        high = speedAt(row, row->least);
    } else if (row->state == tp_atLeastRow) {
        // Limits that are not met have neither.
        low = row->offset == row->least ? -row->bias : speedAt(row, row->least);
    } else {
        high = speedAt(row, row->most);
    }
    // What is no bound becomes no number, which is larger or smaller than nothing.
    low += narrower * (fabs(low) + bias);
    high -= narrower * (fabs(high) + bias);
    double from = sign > 0.0 ? low : -high, to = sign > 0.0 ? high : -low;
    axis->lowest = from > axis->lowest ? from : axis->lowest;
    axis->highest = to < axis->highest ? to : axis->highest;
}

// What rows give their axes before anything moves.
static void setLoads(tpJointTree* tree) {
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->load = axis->rotor * axis->rotorSpeed;
    }
    const tpPlainRows* plain = &tree->plain;
    for (int k = 0; k < plain->count; ++k) {
        tree->axes[plain->axes[k]].load += 0.0 - plain->stiffness[k] * plain->bias[k];
    }
    if (plain->count > 0) {
        return;
    }
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        const tpAxisRow* row = &tree->rows[k];
        tree->axes[row->axis].load += row->sign * tpRowAnswer_Start(&tree->answers[k]);
    }
}

// The same, and the rates at which rows stay as they are.
static void setBoundedLoads(tpJointTree* tree) {
    if (!tree->hasBounds) {
        setLoads(tree);
        return;
    }
    bool hasFar = tree->near != NULL;
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->load = axis->rotor * axis->rotorSpeed;
        axis->lowest = hasFar ? axis->farLowest : -INFINITY;
        axis->highest = hasFar ? axis->farHighest : INFINITY;
    }
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        const tpAxisRow* row = &tree->rows[k];
        tpJointAxis* axis = &tree->axes[row->axis];
        axis->load += row->sign * tpRowAnswer_Start(&tree->answers[k]);
        narrow(axis, row->sign, &tree->answers[k]);
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
    if (tree->jumps != NULL) {
        goDownJumping(tree, tree->jumps);
    } else {
        goDown(tree);
    }
    goUp(tree, tree->base, tree->jumps, velocities);
}

void tpJointTree_ReadRows(tpJointTree* tree) {
    for (int n = 0; n < tpJointTree_NearCount(tree); ++n) {
        tpJointTree_ReadRow(tree, tpJointTree_NearRow(tree, n));
    }
}

void tpJointTree_TurnRotors(tpJointTree* tree) {
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->rotorSpeed = axis->rate;
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

// Whether rows are where the rates of now ask them to be: most solves find them so, and nobody has
// to write down what they answer. On a bound it may say no; the rows themselves know.
static bool areSettled(const tpJointTree* tree) {
    for (const tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        if (!(axis->rate > axis->lowest && axis->rate < axis->highest)) {
            return false;
        }
    }
    return true;
}

// Whether an axis leaves the rates at which its far rows give nothing.
static bool hurries(const tpJointTree* tree) {
    for (const tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        if (!(axis->rate > axis->farLowest && axis->rate < axis->farHighest)) {
            return true;
        }
    }
    return false;
}

// Far rows of axes that hurry are far no more. The iterates that bounds are found with have left
// those rows out: they come in where the last solve is.
static void takeFarRows(tpJointTree* tree) {
    tree->nearCount = 0;
    for (int k = 0; k < tree->rowCount; ++k) {
        tpAxisRow* row = &tree->rows[k];
        const tpJointAxis* axis = &tree->axes[row->axis];
        if (row->isFar && !(axis->rate > axis->farLowest && axis->rate < axis->farHighest)) {
            tpRowAnswer* answer = &tree->answers[k];
            row->isFar = false;
            tpRowAnswer_Set(answer, row->sign * axis->rate);
            answer->pathVelocity = answer->velocity;
            answer->pathImpulse = answer->impulse;
        }
        if (!row->isFar) {
            tree->near[tree->nearCount++] = k;
        }
    }
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        if (!(axis->rate > axis->farLowest && axis->rate < axis->farHighest)) {
            axis->farLowest = -INFINITY;
            axis->farHighest = INFINITY;
        }
    }
    setBoundedLoads(tree);
}

// Whether rows are within their bounds after a solve, the `trial`th; else they have changed their
// states, and the factors follow.
static bool isBounded(tpJointTree* tree, int trial) {
    if (!tree->hasBounds || trial == tp_mostTrials || areSettled(tree)) {
        return true;
    }
    if (tree->near != NULL && hurries(tree)) {
        takeFarRows(tree);
        if (areSettled(tree)) {
            return true;
        }
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
        setBoundedLoads(tree);
        solveLoaded(tree, momenta, velocities);
        if (isBounded(tree, trial)) {
            return trial;
        }
    }
}

int tpJointTree_SolveBounded(tpJointTree* tree, const double* momenta, double* velocities) {
    return solveFrom(tree, momenta, velocities, 0);
}

void tpJointTree_Begin(tpJointTree* tree, const double* momenta) {
    setBoundedLoads(tree);
    startPass(tree, momenta);
    goDown(tree);
}

int tpJointTree_End(tpJointTree* tree, const double* momenta, double* velocities) {
    goUp(tree, tree->base, NULL, velocities);
    return isBounded(tree, 0) ? 0 : solveFrom(tree, momenta, velocities, 1);
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
    if (tree->packs != NULL) {
        tree->kernels->pushDown(tree);
    }
    for (int i = firstAlone(tree); i < tree->nodeCount; ++i) {
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
    for (int i = tree->nodeCount - 1; i >= firstAlone(tree); --i) {
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
    if (tree->packs != NULL) {
        tree->kernels->pushUp(tree, velocities);
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
    memset(tree->rootPush, 0, sizeof(tree->rootPush));
}

void tpJointTree_BeginChange(tpJointTree* tree) {
    clearPushes(tree);
}

void tpJointTree_EndChange(tpJointTree* tree, double* changes) {
    goUp(tree, NULL, NULL, changes);
}

void tpJointTree_PushAxes(tpJointTree* tree, const double* pushes, const double* twist,
                          double* changes) {
    memset(tree->impulses, 0, sizeof(double) * 6 * (size_t)tree->nodeCount);
    memcpy(&tree->impulses[6 * tree->nodeCount - 3], twist, 3 * sizeof(double));
    memset(tree->rootPush, 0, sizeof(tree->rootPush));
    for (tpJointAxis* axis = tree->axes; axis < axesEnd(tree); ++axis) {
        axis->push = *pushes++;
    }
    goDown(tree);
    goUp(tree, NULL, NULL, changes);
}

void tpJointTree_Correct(tpJointTree* tree, const double* jumps, const double* errors,
                         double* shifts) {
    memset(tree->impulses, 0, sizeof(double) * 6 * (size_t)tree->nodeCount);
    clearPushes(tree);
    for (int n = 0; errors != NULL && n < tpJointTree_NearCount(tree); ++n) {
        int k = tpJointTree_NearRow(tree, n);
        const tpRowAnswer* answer = &tree->answers[k];
        if (answer->state == tp_withinRow) {
            const tpAxisRow* row = &tree->rows[k];
            tree->axes[row->axis].push -= row->sign * answer->stiffness * errors[k];
        }
    }
    goDownJumping(tree, jumps);
    goUp(tree, NULL, jumps, shifts);
}
