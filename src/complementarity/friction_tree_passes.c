// The elimination of a mechanism's joints, and the passes along its tree that follow: forces go to
// the root, velocities come back.

#include <math.h>
#include <string.h>

#include "complementarity/friction_tree_parts.h"

// A pivot below this part of its row's response is replaced by it: it is rounding.
static const double smallestPivot = 1e-13;

// Lists the rows of blocks that hold. False if there are too many.
static bool listRows(tpFrictionTree* tree) {
    int count = 0, factors = 0;
    for (int k = 0; k < tree->placeCount; ++k) {
        tpTreeBody* own = &tree->bodies[k];
        own->firstRow = count;
        own->firstFactor = factors;
        for (int i = own->firstBlock; i < own[1].firstBlock; ++i) {
            int b = tree->leadBlocks + tree->links[i];
            int side = tree->pair[2 * b] == own->body ? 0 : 1;
            int from = tree->first[b] + (tree->role[b] == tp_driveInTree ? 1 : 0);
            for (int at = from; tree->isHeld[b] && at < tree->first[b + 1]; ++at) {
                tpTreeRow* listed = &tree->rows[count++];
                int row = at - tree->leadRows;
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
            tpTree_LowerMass(own->mass, a);
        }
        for (int j = 0; j <= i; ++j) {
            K[i * m + j] = tpTree_Dot6(a, rows[j].a);
        }
        double compliance = tpTree_Compliance(tree, tree->leadRows + rows[i].row);
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

bool tpFrictionTree_Factorise(tpFrictionTree* tree) {
    const bool* isHeld = tree->isHeld + tree->leadBlocks;
    size_t count = (size_t)tree->key.blockCount;
    if (tree->isFactored && memcmp(tree->key.isHeld, isHeld, sizeof(bool) * count) == 0) {
        return true;
    }
    tree->isFactored = false;
    if (!listRows(tree)) {
        return false;
    }
    tree->work = 0.0;
    if (!factoriseLinks(tree, &tree->work)) {
        tree->isUnitMass = true;
        tpFrictionTree_WriteRows(tree, false);
        tpFrictionTree_WriteRows(tree, true);
        factoriseLinks(tree, &tree->work);
    }
    memcpy(tree->key.isHeld, isHeld, sizeof(bool) * count);
    tree->isFactored = true;
    tree->factorisations += 1;
    return true;
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

// Velocities from the forces that the way to the root has left, and impulses if these are wanted.
static void goDownTree(tpFrictionTree* tree, bool wantsImpulses) {
    for (int k = 0; k < tree->placeCount; ++k) {
        const tpTreeBody* own = &tree->bodies[k];
        double *force = tree->force + (size_t)k * tp_treeWidth, *x = tree->x + own->firstRow;
        const double* parent =
            own->parent >= 0 ? tree->force + (size_t)own->parent * tp_treeWidth : NULL;
        if (own->isMotion) {
            tpTreeMotion_GoDown(tree, k, force, wantsImpulses ? x : NULL, parent);
        } else {
            goDown(tree, k, force, x, parent);
        }
    }
}

void tpFrictionTree_Pass(tpFrictionTree* tree, bool wantsImpulses) {
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        const tpTreeBody* own = &tree->bodies[k];
        double *force = tree->force + (size_t)k * tp_treeWidth, *x = tree->x + own->firstRow;
        double* parent = own->parent >= 0 ? tree->force + (size_t)own->parent * tp_treeWidth : NULL;
        memcpy(tree->load + (size_t)k * tp_treeWidth, force, sizeof(double) * tp_treeWidth);
        if (own->isMotion) {
            tpTreeMotion_GoUp(tree, k, force, x, parent);
        } else {
            tpTree_GoUp(tree, k, force, x, parent);
        }
    }
    goDownTree(tree, wantsImpulses);
}

static bool isPushed(const double* force) {
    return force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0 || force[3] != 0.0 ||
           force[4] != 0.0 || force[5] != 0.0;
}

void tpFrictionTree_PassMore(tpFrictionTree* tree) {
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        const tpTreeBody* own = &tree->bodies[k];
        double* force = tree->force + (size_t)k * tp_treeWidth;
        double* parent = own->parent >= 0 ? tree->force + (size_t)own->parent * tp_treeWidth : NULL;
        if (own->isMotion && isPushed(force)) {
            tpTreeMotion_GoUpMore(tree, k, force, parent);
        } else if (own->isMotion) {
            memset(tree->motions[k].more, 0, sizeof(tree->motions[k].more));
        }
        tpTree_AddScaled6(1.0, tree->load + (size_t)k * tp_treeWidth, force);
        if (!own->isMotion) {
            tpTree_GoUp(tree, k, force, NULL, parent);
        }
    }
    goDownTree(tree, true);
}
