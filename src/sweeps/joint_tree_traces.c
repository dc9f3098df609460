// What impulses on the nodes of a tree do to each other, from their ways to the root alone.
//
// The factors of a tree are those of a matrix H = L D L' with one number of D per axis and six for
// a free root. An impulse that goes down from its node leaves at each axis on its way the number
// s . p, and what is left of it at the root: that is its column of L^-1. With t and t' the traces
// of two impulses, the velocity along one under the other is the sum of t t' / d over the axes that
// both pass: those from where their ways meet to the root. Nothing has to come back up.

#include "sweeps/joint_tree.h"

#include "math/pairs.h"
#include "sweeps/tree_packs.h"

int tpJointTree_TraceLength(const tpJointTree* tree, int node) {
    int length = tree->isFree ? 6 : 0;
    for (; node >= 0; node = tree->nodes[node].parent) {
        length += tree->nodes[node].axisEnd - tree->nodes[node].axis;
    }
    return length;
}

void tpJointTree_Trace(const tpJointTree* tree, int node, double (*impulses)[6], int count,
                       double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth]) {
    double components[6][tp_traceWidth];
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < tp_traceWidth; ++i) {
            components[k][i] = i < count ? impulses[i][k] : 0.0;
        }
    }
    tpGetTreeKernels(tpChooseWidth(tp_treePackWidth))
        ->trace(tree, node, components, traces, answers);
}

// An answer times the impulses.
static inline double answerTo(const double* answer, tpPair low, tpPair high) {
    return tpPair_Sum(tpLoadPair(answer) * low) + tpPair_Sum(tpLoadPair(answer + 2) * high);
}

void tpJointTree_PushTraced(tpJointTree* tree, int node, double (*answers)[tp_traceWidth],
                            const double* r) {
    tpPair low = tpLoadPair(r), high = tpLoadPair(r + 2);
    for (; node >= 0; node = tree->nodes[node].parent) {
        const tpJointNode* own = &tree->nodes[node];
        for (int k = own->axisEnd - 1; k >= own->axis; --k, ++answers) {
            tree->axes[k].push += answerTo(*answers, low, high);
        }
    }
    for (int k = 0; tree->isFree && k < 6; ++k) {
        tree->rootPush[k] += answerTo(answers[k], low, high);
    }
}

void tpJointTree_AddTraced(const tpJointTree* tree, int node, double (*traces)[tp_traceWidth],
                           double* u) {
    tpPair low = { 0.0, 0.0 }, high = { 0.0, 0.0 };
    for (; node >= 0; node = tree->nodes[node].parent) {
        const tpJointNode* own = &tree->nodes[node];
        for (int k = own->axisEnd - 1; k >= own->axis; --k, ++traces) {
            low += tree->axes[k].push * tpLoadPair(*traces);
            high += tree->axes[k].push * tpLoadPair(*traces + 2);
        }
    }
    for (int k = 0; tree->isFree && k < 6; ++k) {
        low += tree->rootPush[k] * tpLoadPair(traces[k]);
        high += tree->rootPush[k] * tpLoadPair(traces[k] + 2);
    }
    for (int i = 0; i < 2; ++i) {
        u[i] += low[i];
        u[2 + i] += high[i];
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
