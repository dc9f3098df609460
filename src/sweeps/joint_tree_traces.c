// What impulses on the nodes of a tree do to each other, from their ways to the root alone.
//
// The factors of a tree are those of a matrix H = L D L' with one number of D per axis and six for
// a free root. An impulse that goes down from its node leaves at each axis on its way the number
// s . p, and what is left of it at the root: that is its column of L^-1. With t and t' the traces
// of two impulses, the velocity along one under the other is the sum of t t' / d over the axes that
// both pass: those from where their ways meet to the root. Nothing has to come back up.

#include "sweeps/joint_tree.h"

#include <string.h>

enum { wide = tp_traceWidth };

// The impulses of a trace on their way, components first.
typedef struct Travelling {
    double p[6][tp_traceWidth];
} Travelling;

static inline void passAxis(const tpJointAxis* axis, Travelling* at, double* trace,
                            double* answer) {
    const double *s = axis->motion, *U = axis->shown;
    double along[tp_traceWidth], push[tp_traceWidth];
    for (int i = 0; i < wide; ++i) {
        along[i] = (s[0] * at->p[0][i] + s[1] * at->p[1][i] + s[2] * at->p[2][i]) +
                   (s[3] * at->p[3][i] + s[4] * at->p[4][i] + s[5] * at->p[5][i]);
        push[i] = axis->inverse * along[i];
    }
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < wide; ++i) {
            at->p[k][i] -= push[i] * U[k];
        }
    }
    memcpy(trace, along, sizeof(along));
    memcpy(answer, push, sizeof(push));
}

// To the parent's centre.
static inline void moveDown(const double* r, Travelling* at) {
    double(*p)[tp_traceWidth] = at->p;
    for (int i = 0; i < wide; ++i) {
        p[3][i] += r[1] * p[2][i] - r[2] * p[1][i];
        p[4][i] += r[2] * p[0][i] - r[0] * p[2][i];
        p[5][i] += r[0] * p[1][i] - r[1] * p[0][i];
    }
}

// A free root counts as six axes: the rows of its factor.
static void passRoot(const double* L, Travelling* at, double (*traces)[tp_traceWidth],
                     double (*answers)[tp_traceWidth]) {
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < wide; ++i) {
            double sum = at->p[k][i];
            for (int j = 0; j < k; ++j) {
                sum -= L[6 * k + j] * traces[j][i];
            }
            traces[k][i] = sum;
            answers[k][i] = L[7 * k] * sum;
        }
    }
}

int tpJointTree_TraceLength(const tpJointTree* tree, int node) {
    int length = tree->isFree ? 6 : 0;
    for (; node >= 0; node = tree->nodes[node].parent) {
        length += tree->nodes[node].axisEnd - tree->nodes[node].axis;
    }
    return length;
}

void tpJointTree_Trace(const tpJointTree* tree, int node, double (*impulses)[6], int count,
                       double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth]) {
    Travelling at;
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < wide; ++i) {
            at.p[k][i] = i < count ? impulses[i][k] : 0.0;
        }
    }
    int place = 0;
    for (; node >= 0; node = tree->nodes[node].parent) {
        const tpJointNode* own = &tree->nodes[node];
        for (int k = own->axisEnd - 1; k >= own->axis; --k, ++place) {
            passAxis(&tree->axes[k], &at, traces[place], answers[place]);
        }
        if (own->parent >= 0) {
            moveDown(own->arm, &at);
        }
    }
    if (tree->isFree) {
        passRoot(tree->rootFactor, &at, traces + place, answers + place);
    }
}

int tpJointTree_SharedLength(const tpJointTree* tree, int a, int b) {
    // Parents have larger numbers.
    while (a != b) {
        int* lower = a < b ? &a : &b;
        *lower = tree->nodes[*lower].parent;
    }
    return tpJointTree_TraceLength(tree, a);
}
