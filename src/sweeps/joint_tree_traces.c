// What impulses on the nodes of a tree do to each other, from their ways to the root alone.
//
// The factors of a tree are those of a matrix H = L D L' with one number of D per axis and six for
// a free root. An impulse that goes down from its node leaves at each axis on its way the number
// s . p, and what is left of it at the root: that is its column of L^-1. With t and t' the traces
// of two impulses, the velocity along one under the other is the sum of t t' / d over the axes that
// both pass: those from where their ways meet to the root. Nothing has to come back up.

#include "sweeps/joint_tree.h"

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

static const tpTreeKernels* kernelsOf(const tpJointTree* tree) {
    return tree->kernels != NULL ? tree->kernels
                                 : tpGetTreeKernels(tpChooseWidth(tp_treePackWidth));
}

void tpJointTree_PushTraced(tpJointTree* tree, int node, double (*answers)[tp_traceWidth],
                            const double* r) {
    kernelsOf(tree)->push(tree, node, answers, r);
}

void tpJointTree_ReadTraced(const tpJointTree* tree, int node, double (*traces)[tp_traceWidth],
                            double* u) {
    kernelsOf(tree)->read(tree, node, traces, u);
}

int tpJointTree_SharedLength(const tpJointTree* tree, int a, int length, int b) {
    // Parents have larger numbers.
    while (a != b) {
        if (a < b) {
            length -= tree->nodes[a].axisEnd - tree->nodes[a].axis;
            a = tree->nodes[a].parent;
        } else {
            b = tree->nodes[b].parent;
        }
    }
    return length;
}
