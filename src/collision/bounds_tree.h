// A dynamic tree of boxes: leaves come, go and move, and the tree keeps itself short and tight.
//
// Insertion descends towards the sibling that adds the least surface, and rotations on the way back
// up exchange a child with a grandchild where that shrinks a box [Kopta12]; when much has changed
// at once the tree is built anew from the top by the surface area heuristic [Wald07]. What a query
// finds depends on the leaves alone, not on the tree's shape.

#ifndef TIPPE_SRC_COLLISION_BOUNDS_TREE_H
#define TIPPE_SRC_COLLISION_BOUNDS_TREE_H

#include "base/memory.h"
#include "base/tasks.h"
#include "geometry/shape.h"

// 64 bytes: a cache line.
typedef struct tpBoundsNode {
    tpBounds bounds;
    int32_t child[2]; // leaf: -1 and the number of what it stands for
    int32_t parent;   // -1 at the root; of a free node: the next free one
    int32_t height;   // 0 for leaves, -1 for free nodes
} tpBoundsNode;

typedef struct tpBoundsTree {
    TP_ARRAY(tpBoundsNode) nodes;
    TP_ARRAY(int32_t) scratch; // leaves and then inner nodes, while the tree is built anew
    int32_t root, firstFree;   // -1: none
    int32_t leafCount;
    bool isOrdered;   // no leaf has come or gone since it was built: `scratch` has them in order
    double builtArea; // half surfaces of the inner boxes when it was built, together, m^2
    tpAllocator allocator;
} tpBoundsTree;

// Deepest tree that a query's stack takes; a deeper one is built anew.
enum { tp_treeHeightLimit = 100, tp_treeStackSize = tp_treeHeightLimit + 28 };

void tpCreateBoundsTree(tpBoundsTree* tree, const tpAllocator* allocator);
void tpDestroyBoundsTree(tpBoundsTree* tree);

// Room for that many leaves: until there are more, nothing below allocates.
bool tpBoundsTree_Reserve(tpBoundsTree* tree, int leafCount);

// The new leaf's node. Room must have been reserved.
int32_t tpBoundsTree_Insert(tpBoundsTree* tree, int32_t number, tpBounds bounds);
void tpBoundsTree_Remove(tpBoundsTree* tree, int32_t leaf);

// Gives a leaf new bounds and fits the boxes above it, where it stays: cheap, and good enough for a
// leaf that has not moved far.
void tpBoundsTree_Refit(tpBoundsTree* tree, int32_t leaf, tpBounds bounds);

// A new leaf without a place yet; tpBoundsTree_Rebuild must follow before anything else.
int32_t tpBoundsTree_AddLoose(tpBoundsTree* tree, int32_t number, tpBounds bounds);

// Takes out a leaf without more, which may be a loose one; tpBoundsTree_Rebuild must follow.
void tpBoundsTree_RemoveLoose(tpBoundsTree* tree, int32_t leaf);

// Gives a leaf new bounds without more; tpBoundsTree_Rebuild or tpBoundsTree_RefitAll must follow
// before the next query.
static inline void tpBoundsTree_SetLeaf(tpBoundsTree* tree, int32_t leaf, tpBounds bounds) {
    tree->nodes.data[leaf].bounds = bounds;
}

// Builds all inner nodes anew, by the threads of `tasks` (or NULL). Leaves keep their nodes.
void tpBoundsTree_Rebuild(tpBoundsTree* tree, tpTasks* tasks);

// Fits all inner nodes to leaves that have new bounds, which costs less. Returns their half
// surfaces together, which tell how good the tree still is (`builtArea`).
double tpBoundsTree_RefitAll(tpBoundsTree* tree, tpTasks* tasks);

// Visiting every leaf whose box overlaps `bounds`:
//
//     tpTreeWalk walk = tpBoundsTree_Walk(tree);
//     int32_t n;
//     while ((n = tpTreeWalk_Next(&walk, &bounds)) >= 0) { ... }
//
// gives the leaves' numbers. The tree must not change meanwhile.
typedef struct tpTreeWalk {
    const tpBoundsNode* nodes;
    int32_t stack[tp_treeStackSize];
    int32_t depth;
} tpTreeWalk;

static inline tpTreeWalk tpBoundsTree_Walk(const tpBoundsTree* tree) {
    tpTreeWalk walk;
    walk.nodes = tree->nodes.data;
    walk.depth = tree->root >= 0 ? 1 : 0;
    walk.stack[0] = tree->root;
    return walk;
}

static inline int32_t tpTreeWalk_Next(tpTreeWalk* walk, const tpBounds* bounds) {
    while (walk->depth > 0) {
        const tpBoundsNode* node = &walk->nodes[walk->stack[--walk->depth]];
        if (!tpBoundsOverlap(&node->bounds, bounds)) {
            continue;
        }
        if (node->child[0] < 0) {
            return node->child[1];
        }
        walk->stack[walk->depth++] = node->child[1];
        walk->stack[walk->depth++] = node->child[0];
    }
    return -1;
}

// The box of the leaf that tpTreeWalk_Next has just given.
static inline const tpBounds* tpTreeWalk_Bounds(const tpTreeWalk* walk) {
    return &walk->nodes[walk->stack[walk->depth]].bounds;
}

#endif
