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

// Nodes in packs have the number of their pack in `depths`, below 0.
static int32_t marked(int32_t pack) {
    return -1 - pack;
}

// Whether a node can go into this pack: its children are in earlier ones, and the siblings before
// it are in none that comes later, so that its parent gets their impulses in the order of nodes.
static bool isReady(const tpJointTree* tree, int i, int32_t pack, const int32_t* depths) {
    const tpJointNode* node = &tree->nodes[i];
    for (int c = node->child; c >= 0; c = tree->nodes[c].sibling) {
        if (depths[c] >= 0 || depths[c] == marked(pack)) {
            return false;
        }
    }
    return node->sibling < 0 || depths[node->sibling] < 0;
}

// The farthest node that can go into a pack; -1: none.
static int findReady(const tpJointTree* tree, const tpTreePack* pack, int32_t number,
                     const int32_t* depths) {
    int best = -1;
    for (int i = 0; i < tree->nodeCount - 1; ++i) {
        bool isFarther = depths[i] > (best >= 0 ? depths[best] : 0);
        bool fits = pack->count == 0 || pack->axisCount == axisCountOf(&tree->nodes[i]);
        best = isFarther && fits && isReady(tree, i, number, depths) ? i : best;
    }
    return best;
}

// Fills a pack with nodes that are ready, the farthest first: that takes the fewest packs [Hu61].
// Returns how many nodes it has.
static int fillPack(const tpJointTree* tree, tpTreePack* pack, int32_t number, int32_t* depths) {
    pack->count = 0;
    while (pack->count < tp_treePackWidth) {
        int i = findReady(tree, pack, number, depths);
        if (i < 0) {
            break;
        }
        pack->axisCount = axisCountOf(&tree->nodes[i]);
        addNode(tree, pack, i);
        depths[i] = marked(number);
    }
    return pack->count;
}

void tpJointTree_Pack(tpJointTree* tree, tpTreePack* packs, tpTreePackAxis* axes, int32_t* depths) {
    int32_t deepest = findDepths(tree, depths);
    tree->packs = NULL;
    tree->packCount = 0;
    if (2 * (tree->nodeCount - 1) < 3 * deepest) {
        return; // next to a chain
    }
    for (int left = tree->nodeCount - 1; left > 0;) {
        tpTreePack* pack = &packs[tree->packCount];
        left -= fillPack(tree, pack, tree->packCount++, depths);
        pack->own = axes;
        axes += pack->axisCount;
    }
    tree->packs = packs;
    tree->kernels = tpGetTreeKernels(tpChooseWidth(tp_treePackWidth));
}
