// Rows that close loops or couple joints: eliminated from what contacts feel of the tree.
//
// With the cut rows f first, S = [S_ff S_fc; S_cf S_cc] of the tree without them. They hold, u_f =
// 0, so that with S_ff = L L^T, Y = L^-1 S_fc and y = L^-1 p_f
//
//     S_cc - Y^T Y,    p_c - Y^T y,    r_f = -L^-T (y + Y r_c)
//
// are what contacts feel of the mechanism with its loops closed, and the impulses that close them.
// A row that depends on others (a planar linkage held in space) has a pivot that is rounding: it
// carries nothing, and holds if the others do. If it does not (drives hold both wheels of a gear
// that is to turn) it is locked, and drives have to give way.

#include <math.h>
#include <string.h>

#include "complementarity/friction_tree_parts.h"

// A pivot below this part of what the row feels of its bodies alone is rounding.
static const double smallestPivot = 1e-12;

static void factorise(tpFrictionTree* tree, const double* S) {
    size_t n = (size_t)tree->otherRows, f = (size_t)tree->cutRows;
    int i0 = 0;
    for (size_t j = 0; j < f; ++j) {
        while ((int)j >= tree->otherFirst[i0 + 1]) {
            i0 += 1;
        }
        int b = tree->others[i0], row = tree->first[b] + (int)j - tree->otherFirst[i0];
        double* own = tree->cutL + j * f;
        double size = tpFrictionTree_ResponseOf(tree, b, row);
        double pivot = S[j * n + j] - tpTree_Dot((int)j, own, own);
        double inverse = pivot > smallestPivot * size ? 1.0 / sqrt(pivot) : 0.0;
        own[j] = inverse;
        for (size_t i = j + 1; i < f; ++i) {
            double* other = tree->cutL + i * f;
            other[j] = (S[j * n + i] - tpTree_Dot((int)j, other, own)) * inverse;
        }
    }
}

// x <- L^-1 x, x <- L^-T x.
static void lower(const tpFrictionTree* tree, double* x) {
    size_t f = (size_t)tree->cutRows;
    for (size_t i = 0; i < f; ++i) {
        const double* own = tree->cutL + i * f;
        x[i] = (x[i] - tpTree_Dot((int)i, own, x)) * own[i];
    }
}

static void upper(const tpFrictionTree* tree, double* x) {
    size_t f = (size_t)tree->cutRows;
    for (size_t i = f; i-- > 0;) {
        const double* own = tree->cutL + i * f;
        x[i] *= own[i];
        for (size_t j = 0; j < i; ++j) {
            x[j] -= x[i] * own[j];
        }
    }
}

// Takes a block, whose rows are `first` to `end`, out of a system of n rows: it has no impulse and
// feels nothing.
static void takeOut(size_t first, size_t end, size_t n, double* S, double* q) {
    for (size_t row = first; row < end; ++row) {
        for (size_t k = 0; k < n; ++k) {
            S[row * n + k] = S[k * n + row] = k == row ? 1.0 : 0.0;
        }
        q[row] = 0.0;
    }
}

// Drives that hold may leave a contact or a limit nothing to move: what is left of its row is
// rounding, and impulses that answer it would be beyond all bounds. Such blocks are taken out; how
// fast they close goes into `stuck`. Other drives that are stuck stay: they give what they have.
static void takeOutStuck(const tpFrictionTree* tree, double* S, double* q, double* stuck) {
    size_t f = (size_t)tree->cutRows, n = (size_t)tree->otherRows - f;
    for (int i = tree->cutCount; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        size_t first = (size_t)tree->otherFirst[i] - f, end = (size_t)tree->otherFirst[i + 1] - f;
        double size = tpFrictionTree_ResponseOf(tree, b, tree->first[b]);
        bool isStuck =
            tree->role[b] == tp_contactInTree && !(S[first * n + first] > smallestPivot * size);
        stuck[i - tree->cutCount] = isStuck ? fmax(-q[first], 0.0) : 0.0;
        if (isStuck) {
            takeOut(first, end, n, S, q);
        }
    }
}

bool tpFrictionTree_EliminateCuts(tpFrictionTree* tree, const double* S, const double* p,
                                  tpCutSystem* left) {
    tpArena* arena = tree->arena;
    size_t n = (size_t)tree->otherRows, f = (size_t)tree->cutRows, c = n - f;
    double* small = TP_SCRATCH(arena, double, c* c);
    double* q = TP_SCRATCH(arena, double, c);
    left->Y = TP_SCRATCH(arena, double, f* c);
    left->y = TP_SCRATCH(arena, double, f);
    left->missed = TP_SCRATCH(arena, double, f);
    left->stuck = TP_SCRATCH(arena, double, tree->otherCount - tree->cutCount);
    left->S = small;
    left->q = q;
    if (arena->failed) {
        return false;
    }
    factorise(tree, S);
    for (size_t i = 0; i < f; ++i) {
        const double* own = tree->cutL + i * f;
        left->y[i] = p[i] - tpTree_Dot((int)i, own, left->y);
        left->missed[i] = own[i] == 0.0 ? fabs(left->y[i]) : 0.0;
        left->y[i] *= own[i];
    }
    for (size_t j = 0; j < c; ++j) {
        double* own = left->Y + j * f;
        memcpy(own, S + (f + j) * n, sizeof(double) * f);
        lower(tree, own);
        q[j] = p[f + j] - tpTree_Dot((int)f, own, left->y);
        for (size_t i = 0; i <= j; ++i) {
            small[j * c + i] = small[i * c + j] =
                S[(f + j) * n + f + i] - tpTree_Dot((int)f, own, left->Y + i * f);
        }
    }
    takeOutStuck(tree, small, q, left->stuck);
    return true;
}

void tpFrictionTree_SolveCuts(const tpFrictionTree* tree, const tpCutSystem* left, double* own) {
    size_t f = (size_t)tree->cutRows, c = (size_t)tree->otherRows - f;
    for (size_t i = 0; i < f; ++i) {
        own[i] = -left->y[i];
    }
    for (size_t j = 0; j < c; ++j) {
        for (size_t i = 0; i < f; ++i) {
            own[i] -= left->Y[j * f + i] * own[f + j];
        }
    }
    upper(tree, own);
}

void tpFrictionTree_HoldCuts(const tpFrictionTree* tree, double* x) {
    lower(tree, x);
    upper(tree, x);
    for (int i = 0; i < tree->cutRows; ++i) {
        x[i] = -x[i];
    }
}
