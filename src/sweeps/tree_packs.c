#include "sweeps/tree_packs.h"

const tpTreeKernels* tpGetTreeKernels(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width >= 4 && tpHasWidth(4)) {
        return &tp_avx2TreeKernels;
    }
#endif
    (void)width;
    return &tp_plainTreeKernels;
}

static int axisCountOf(const tpJointNode* node) {
    return node->axisEnd - node->axis;
}

static void addNode(const tpJointTree* tree, tpTreePack* pack, int i) {
    const tpJointNode* node = &tree->nodes[i];
    for (int lane = pack->count; lane < (pack->count == 0 ? tp_treePackWidth : pack->count + 1);
         ++lane) {
        pack->nodes[lane] = i;
        pack->at[lane] = 6 * i;
        pack->parentAt[lane] = 6 * node->parent;
        pack->axes[lane] = &tree->axes[node->axis];
    }
    pack->count += 1;
}

// Distances from the root; returns the largest one.
static int32_t findDepths(const tpJointTree* tree, int32_t* depths) {
    int32_t deepest = 0;
    for (int i = tree->nodeCount - 1; i >= 0; --i) {
        int parent = tree->nodes[i].parent;
        depths[i] = parent >= 0 ? depths[parent] + 1 : 0;
        deepest = depths[i] > deepest ? depths[i] : deepest;
    }
    return deepest;
}

void tpJointTree_Pack(tpJointTree* tree, tpTreePack* packs, tpTreePackAxis* axes, int32_t* depths) {
    int32_t deepest = findDepths(tree, depths);
    tree->packs = NULL;
    tree->packCount = 0;
    if (2 * (tree->nodeCount - 1) < 3 * deepest) {
        return; // next to a chain
    }
    for (int32_t depth = deepest; depth > 0; --depth) {
        tpTreePack* pack = NULL;
        for (int i = 0; i < tree->nodeCount; ++i) {
            if (depths[i] != depth) {
                continue;
            }
            int own = axisCountOf(&tree->nodes[i]);
            if (pack == NULL || pack->count == tp_treePackWidth || pack->axisCount != own) {
                pack = &packs[tree->packCount++];
                pack->count = 0;
                pack->axisCount = own;
                pack->own = axes;
                axes += own;
            }
            addNode(tree, pack, i);
        }
    }
    tree->packs = packs;
    tree->kernels = tpGetTreeKernels(tpChooseWidth(tp_treePackWidth));
}
