// What the joints of a tree carry.

#include <stddef.h>
#include <string.h>

#include "sweeps/joint_tree.h"
#include "sweeps/spatial.h"
#include "sweeps/tree_packs.h"

// What a body lacks to move as it does.
static inline Six lackOf(const tpJointNode* node, const double* v, const double* momentum) {
    const double* I = node->inertia;
    Six f = { { node->mass * v[0], node->mass * v[1], node->mass * v[2] },
              { I[0] * v[3] + I[3] * v[4] + I[4] * v[5], I[3] * v[3] + I[1] * v[4] + I[5] * v[5],
                I[4] * v[3] + I[5] * v[4] + I[2] * v[5] } };
    return momentum != NULL ? plus(f, -1.0, momentum) : f;
}

void tpJointTree_Reactions(const tpJointTree* tree, const double* momenta, const double* velocities,
                           double* impulses) {
    if (tree->packs != NULL) {
        tree->kernels->react(tree, momenta, velocities, impulses);
        return;
    }
    for (int i = 0; i < tree->nodeCount; ++i) {
        const tpJointNode* node = &tree->nodes[i];
        Six f = lackOf(node, &velocities[6 * i], momenta != NULL ? &momenta[6 * i] : NULL);
        if (node->child >= 0) {
            f = plus(f, 1.0, &impulses[6 * i]); // what its children need
        }
        writeSix(f, &impulses[6 * i]);
        if (node->parent >= 0) {
            // The first of its children is the last in the list of them.
            double* sum = &impulses[6 * node->parent];
            if (node->sibling < 0) {
                memset(sum, 0, 6 * sizeof(double));
            }
            addMoved(sum, node->arm, &impulses[6 * i]);
        }
    }
}
