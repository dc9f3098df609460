// What the nodes of a tree answer to impulses on themselves: blocks of the inverse matrix, from the
// root to the nodes that are asked for.
//
// A block goes from the parent to the body's centre as velocities do, and gets what the axes of the
// joint add. Blocks are symmetric: they are kept as inertias are, `mass` being what linear
// impulses do to linear velocities, `coupling` angular impulses to linear velocities.

#include <string.h>

#include "sweeps/joint_tree.h"
#include "sweeps/spatial.h"

// The response of a parent to impulses, at the body's centre. With R w = w x r, rows of R being (0,
// z, -y), (-z, 0, x), (y, -x, 0): G = B + R C, A' = A + B R' + R G'.
static void carryResponse(const tpSpatialInertia* block, const double* r, tpSpatialInertia* to) {
    const double *A = block->mass, *B = block->coupling, *C = block->inertia;
    double* G = to->coupling;
    double x = r[0], y = r[1], z = r[2];
    memcpy(to->inertia, C, sizeof(to->inertia));
    G[0] = B[0] + (z * C[3] - y * C[4]);
    G[1] = B[1] + (z * C[1] - y * C[5]);
    G[2] = B[2] + (z * C[5] - y * C[2]);
    G[3] = B[3] + (x * C[4] - z * C[0]);
    G[4] = B[4] + (x * C[5] - z * C[3]);
    G[5] = B[5] + (x * C[2] - z * C[4]);
    G[6] = B[6] + (y * C[0] - x * C[3]);
    G[7] = B[7] + (y * C[3] - x * C[1]);
    G[8] = B[8] + (y * C[4] - x * C[5]);
    to->mass[0] = A[0] + (B[1] * z - B[2] * y) + (z * G[1] - y * G[2]);
    to->mass[1] = A[1] + (B[5] * x - B[3] * z) + (x * G[5] - z * G[3]);
    to->mass[2] = A[2] + (B[6] * y - B[7] * x) + (y * G[6] - x * G[7]);
    to->mass[3] = A[3] + (B[2] * x - B[0] * z) + (z * G[4] - y * G[5]);
    to->mass[4] = A[4] + (B[0] * y - B[1] * x) + (z * G[7] - y * G[8]);
    to->mass[5] = A[5] + (B[3] * y - B[4] * x) + (x * G[8] - z * G[6]);
}

// block += a b' + b a'
static void addProducts(tpSpatialInertia* block, const double* a, const double* b) {
    double *A = block->mass, *B = block->coupling, *C = block->inertia;
    A[0] += 2.0 * a[0] * b[0];
    A[1] += 2.0 * a[1] * b[1];
    A[2] += 2.0 * a[2] * b[2];
    A[3] += a[0] * b[1] + b[0] * a[1];
    A[4] += a[0] * b[2] + b[0] * a[2];
    A[5] += a[1] * b[2] + b[1] * a[2];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            B[3 * i + j] += a[i] * b[3 + j] + b[i] * a[3 + j];
        }
    }
    C[0] += 2.0 * a[3] * b[3];
    C[1] += 2.0 * a[4] * b[4];
    C[2] += 2.0 * a[5] * b[5];
    C[3] += a[3] * b[4] + b[3] * a[4];
    C[4] += a[3] * b[5] + b[3] * a[5];
    C[5] += a[4] * b[5] + b[4] * a[5];
}

// What an axis adds: with N = 1 - s U' / d the block becomes N block N' + s s' / d.
static void addAxis(const tpJointAxis* axis, tpSpatialInertia* block) {
    double y[6], half;
    const double *s = axis->motion, *U = axis->shown;
    multiply(block, U, y);
    half = 0.5 * axis->inverse * (1.0 + axis->inverse * dotSix(U, y));
    for (int i = 0; i < 6; ++i) {
        y[i] = half * s[i] - axis->inverse * y[i];
    }
    addProducts(block, y, s);
}

// That of a free root, column by column from the last: no more of a column is found than is new.
static void invertRoot(const double* L, tpSpatialInertia* block) {
    double rows[36];
    for (int k = 5; k >= 0; --k) {
        double x[6] = { 0.0 };
        x[k] = 1.0;
        for (int i = k + 1; i < 6; ++i) {
            for (int j = k; j < i; ++j) {
                x[i] -= L[6 * i + j] * x[j];
            }
        }
        for (int i = 5; i >= k; --i) {
            x[i] *= L[7 * i];
            for (int j = i + 1; j < 6; ++j) {
                x[i] -= L[6 * j + i] * x[j];
            }
            rows[6 * k + i] = x[i];
        }
    }
    *block = (tpSpatialInertia){ .mass = { rows[0], rows[7], rows[14], rows[1], rows[2], rows[8] },
                                 .coupling = { rows[3], rows[4], rows[5], rows[9], rows[10],
                                               rows[11], rows[15], rows[16], rows[17] },
                                 .inertia = { rows[21], rows[28], rows[35], rows[22], rows[23],
                                              rows[29] } };
}

void tpJointTree_Invert(tpJointTree* tree, tpSpatialInertia* inverses) {
    for (int i = tree->nodeCount - 1; i >= 0; --i) {
        const tpJointNode* node = &tree->nodes[i];
        if (!node->isWanted) {
            continue;
        }
        if (node->parent >= 0) {
            carryResponse(&inverses[node->parent], node->arm, &inverses[i]);
        } else if (tree->isFree) {
            invertRoot(tree->rootFactor, &inverses[i]);
        } else {
            memset(&inverses[i], 0, sizeof(inverses[i]));
        }
        for (int k = node->axis; k < node->axisEnd; ++k) {
            addAxis(&tree->axes[k], &inverses[i]);
        }
    }
}
