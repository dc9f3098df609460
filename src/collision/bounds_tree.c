// The dynamic tree of boxes: insertion by surface, rotations on the way up, and building from the
// top.

#include "collision/bounds_tree.h"

#include "geometry/area_split.h"

void tpCreateBoundsTree(tpBoundsTree* tree, const tpAllocator* allocator) {
    *tree = (tpBoundsTree){ .root = -1, .firstFree = -1, .allocator = *allocator };
}

void tpDestroyBoundsTree(tpBoundsTree* tree) {
    TP_FREE_ARRAY(&tree->allocator, tree->nodes);
    TP_FREE_ARRAY(&tree->allocator, tree->scratch);
}

bool tpBoundsTree_Reserve(tpBoundsTree* tree, int leafCount) {
    return TP_RESERVE(&tree->allocator, tree->nodes, 2 * leafCount) &&
           TP_RESERVE(&tree->allocator, tree->scratch, 2 * leafCount);
}

static double unitedArea(const tpBounds* a, const tpBounds* b) {
    tpBounds u = tpUniteBounds(*a, *b);
    return tpHalfArea(&u);
}

static bool isLeaf(const tpBoundsNode* node) {
    return node->child[0] < 0;
}

static int32_t takeNode(tpBoundsTree* tree) {
    int32_t index = tree->firstFree;
    if (index >= 0) {
        tree->firstFree = tree->nodes.data[index].parent;
        return index;
    }
    TP_ASSERT(tree->nodes.count < tree->nodes.capacity);
    return tree->nodes.count++;
}

static void freeNode(tpBoundsTree* tree, int32_t index) {
    tree->nodes.data[index].parent = tree->firstFree;
    tree->nodes.data[index].height = -1;
    tree->firstFree = index;
}

// Box and height of an inner node from its children.
static void refit(tpBoundsTree* tree, int32_t index) {
    tpBoundsNode* nodes = tree->nodes.data;
    const tpBoundsNode* a = &nodes[nodes[index].child[0]];
    const tpBoundsNode* b = &nodes[nodes[index].child[1]];
    nodes[index].bounds = tpUniteBounds(a->bounds, b->bounds);
    nodes[index].height = 1 + (a->height > b->height ? a->height : b->height);
}

// Rotations -----------------------------------------------------------------------------------

// Exchanges child `side` of `top` with child `inner` of top's other child.
static void exchange(tpBoundsTree* tree, int32_t top, int side, int inner) {
    tpBoundsNode* nodes = tree->nodes.data;
    int32_t lifted = nodes[top].child[1 - side]; // stays a child of top
    int32_t down = nodes[top].child[side];
    int32_t up = nodes[lifted].child[inner];
    nodes[top].child[side] = up;
    nodes[up].parent = top;
    nodes[lifted].child[inner] = down;
    nodes[down].parent = lifted;
    refit(tree, lifted);
}

// The exchange that shrinks the box of a child the most, if any does.
static void rotate(tpBoundsTree* tree, int32_t top) {
    const tpBoundsNode* nodes = tree->nodes.data;
    double most = 0.0;
    int bestSide = -1, bestInner = 0;
    for (int side = 0; side < 2; ++side) {
        const tpBoundsNode* down = &nodes[nodes[top].child[side]];
        const tpBoundsNode* other = &nodes[nodes[top].child[1 - side]];
        if (isLeaf(other)) {
            continue;
        }
        double before = tpHalfArea(&other->bounds);
        for (int inner = 0; inner < 2; ++inner) {
            // `inner` goes up, `down` takes its place beside the one that stays.
            const tpBoundsNode* stays = &nodes[other->child[1 - inner]];
            double gain = before - unitedArea(&down->bounds, &stays->bounds);
            if (gain > most) {
                most = gain;
                bestSide = side;
                bestInner = inner;
            }
        }
    }
    if (bestSide >= 0) {
        exchange(tree, top, bestSide, bestInner);
    }
}

static void refitUpwards(tpBoundsTree* tree, int32_t index) {
    while (index >= 0) {
        rotate(tree, index);
        refit(tree, index);
        index = tree->nodes.data[index].parent;
    }
}

// Leaves --------------------------------------------------------------------------------------

// Descends while putting the box further down is cheaper than making it a sibling here. The cost of
// a place is the surface it adds: that of the new parent, and the growth of all boxes above.
static int32_t findSibling(const tpBoundsTree* tree, const tpBounds* bounds) {
    const tpBoundsNode* nodes = tree->nodes.data;
    int32_t index = tree->root;
    while (!isLeaf(&nodes[index])) {
        double united = unitedArea(&nodes[index].bounds, bounds);
        double growth = united - tpHalfArea(&nodes[index].bounds);
        double costs[2];
        for (int k = 0; k < 2; ++k) {
            const tpBoundsNode* child = &nodes[nodes[index].child[k]];
            double with = unitedArea(&child->bounds, bounds);
            costs[k] = growth + (isLeaf(child) ? with : with - tpHalfArea(&child->bounds));
        }
        if (united < costs[0] && united < costs[1]) {
            break;
        }
        index = nodes[index].child[costs[1] < costs[0] ? 1 : 0];
    }
    return index;
}

int32_t tpBoundsTree_AddLoose(tpBoundsTree* tree, int32_t number, tpBounds bounds) {
    int32_t leaf = takeNode(tree);
    tree->nodes.data[leaf] = (tpBoundsNode){ bounds, { -1, number }, -1, 0 };
    ++tree->leafCount;
    tree->isOrdered = false;
    return leaf;
}

int32_t tpBoundsTree_Insert(tpBoundsTree* tree, int32_t number, tpBounds bounds) {
    int32_t leaf = tpBoundsTree_AddLoose(tree, number, bounds);
    tpBoundsNode* nodes = tree->nodes.data;
    if (tree->root < 0) {
        tree->root = leaf;
        return leaf;
    }
    int32_t sibling = findSibling(tree, &bounds);
    int32_t above = nodes[sibling].parent;
    int32_t parent = takeNode(tree);
    nodes[parent] = (tpBoundsNode){ bounds, { sibling, leaf }, above, 1 };
    nodes[sibling].parent = nodes[leaf].parent = parent;
    if (above < 0) {
        tree->root = parent;
    } else {
        nodes[above].child[nodes[above].child[0] == sibling ? 0 : 1] = parent;
    }
    refitUpwards(tree, parent);
    if (nodes[tree->root].height > tp_treeHeightLimit) {
        tpBoundsTree_Rebuild(tree, NULL);
    }
    return leaf;
}

void tpBoundsTree_RemoveLoose(tpBoundsTree* tree, int32_t leaf) {
    --tree->leafCount;
    tree->isOrdered = false;
    freeNode(tree, leaf);
}

void tpBoundsTree_Remove(tpBoundsTree* tree, int32_t leaf) {
    tpBoundsNode* nodes = tree->nodes.data;
    int32_t parent = nodes[leaf].parent;
    tpBoundsTree_RemoveLoose(tree, leaf);
    if (parent < 0) {
        tree->root = -1;
        return;
    }
    int32_t sibling = nodes[parent].child[nodes[parent].child[0] == leaf ? 1 : 0];
    int32_t above = nodes[parent].parent;
    nodes[sibling].parent = above;
    freeNode(tree, parent);
    if (above < 0) {
        tree->root = sibling;
        return;
    }
    nodes[above].child[nodes[above].child[0] == parent ? 0 : 1] = sibling;
    refitUpwards(tree, above);
}

static bool isSameBounds(const tpBounds* a, const tpBounds* b) {
    return a->lower.x == b->lower.x && a->lower.y == b->lower.y && a->lower.z == b->lower.z &&
           a->upper.x == b->upper.x && a->upper.y == b->upper.y && a->upper.z == b->upper.z;
}

void tpBoundsTree_Refit(tpBoundsTree* tree, int32_t leaf, tpBounds bounds) {
    tpBoundsNode* nodes = tree->nodes.data;
    nodes[leaf].bounds = bounds;
    for (int32_t i = nodes[leaf].parent; i >= 0; i = nodes[i].parent) {
        tpBounds before = nodes[i].bounds;
        refit(tree, i);
        if (isSameBounds(&before, &nodes[i].bounds)) {
            return;
        }
    }
}

// Building anew -------------------------------------------------------------------------------

// Deeper than this, parts are cut in halves.
enum { medianDepth = 48 };

// Orders leaves in two parts; returns the size of the first, from 1 to count - 1.
static int32_t splitLeaves(const tpBoundsNode* nodes, int32_t* leaves, int32_t count, int depth) {
    tpItemBounds bounds = { &nodes[0].bounds, sizeof(tpBoundsNode) };
    return depth > medianDepth ? count / 2 : tpSplitByArea(leaves, count, bounds);
}

// Leaves that become one part of the tree, with as many inner nodes as that needs.
typedef struct TreePart {
    int32_t* leaves;
    int32_t count;
    const int32_t* inner; // count - 1 of them
    int32_t parent;
    int side, depth; // child of the parent
} TreePart;

// Large parts are split by threads, all of one depth at once, until they are small; then threads
// build these. The tree is the same on any number of threads.
enum { smallPart = 1024, partLimit = 256 };

// A part that is split.
typedef struct PartSplit {
    int part;
    int32_t top; // the inner node
    TreePart halves[2];
} PartSplit;

typedef struct BoundsBuilder {
    tpBoundsTree* tree;
    TreePart parts[partLimit]; // small ones in the end
    int partCount;
    double areas[partLimit]; // half surfaces of their inner boxes
    int32_t tops[partLimit]; // inner nodes above them, parents before children
    int topCount;
    PartSplit splits[partLimit]; // of one depth
} BoundsBuilder;

static void attach(tpBoundsTree* tree, const TreePart* part, int32_t index) {
    tree->nodes.data[index].parent = part->parent;
    if (part->parent >= 0) {
        tree->nodes.data[part->parent].child[part->side] = index;
    } else {
        tree->root = index;
    }
}

// Makes the inner node of a part, and its two halves.
static int32_t splitPart(tpBoundsTree* tree, const TreePart* part, TreePart halves[2]) {
    int32_t index = part->inner[0];
    int32_t first = splitLeaves(tree->nodes.data, part->leaves, part->count, part->depth);
    attach(tree, part, index);
    tree->nodes.data[index].height = 1; // not a leaf; fitted when its children are
    halves[0] = (TreePart){ part->leaves, first, part->inner + 1, index, 0, part->depth + 1 };
    halves[1] =
        (TreePart){ part->leaves + first, part->count - first, part->inner + first, index, 1,
                    part->depth + 1 };
    return index;
}

// Returns the half surfaces of its inner boxes together.
static double buildPart(tpBoundsTree* tree, const TreePart* part) {
    if (part->count == 1) {
        attach(tree, part, part->leaves[0]);
        return 0.0;
    }
    TreePart halves[2];
    int32_t index = splitPart(tree, part, halves);
    double area = buildPart(tree, &halves[0]);
    area += buildPart(tree, &halves[1]);
    refit(tree, index);
    return area + tpHalfArea(&tree->nodes.data[index].bounds);
}

static void buildSmall(void* context, int number, int worker) {
    (void)worker;
    BoundsBuilder* builder = context;
    builder->areas[number] = buildPart(builder->tree, &builder->parts[number]);
}

static void splitLarge(void* context, int number, int worker) {
    (void)worker;
    BoundsBuilder* builder = context;
    PartSplit* split = &builder->splits[number];
    split->top = splitPart(builder->tree, &builder->parts[split->part], split->halves);
}

// Splits until parts are small or as many as there is room for.
static void cutParts(BoundsBuilder* builder, TreePart whole, tpTasks* tasks) {
    builder->parts[0] = whole;
    builder->partCount = 1;
    for (int count = 1; count > 0;) {
        count = 0;
        for (int i = 0; i < builder->partCount && builder->partCount + count < partLimit; ++i) {
            if (builder->parts[i].count > smallPart) {
                builder->splits[count++].part = i;
            }
        }
        tpTasks_Run(tasks, splitLarge, builder, count);
        for (int k = 0; k < count; ++k) {
            const PartSplit* split = &builder->splits[k];
            builder->tops[builder->topCount++] = split->top;
            builder->parts[split->part] = split->halves[0];
            builder->parts[builder->partCount++] = split->halves[1];
        }
    }
}

// Inner nodes whose children have been fitted; returns their half surfaces together.
static double refitTops(tpBoundsTree* tree, const int32_t* tops, int count) {
    double area = 0.0;
    for (int i = count - 1; i >= 0; --i) {
        refit(tree, tops[i]);
        area += tpHalfArea(&tree->nodes.data[tops[i]].bounds);
    }
    return area;
}

// Gathers all leaves, loose ones too, and uses the other nodes as inner ones.
void tpBoundsTree_Rebuild(tpBoundsTree* tree, tpTasks* tasks) {
    int32_t count = 0, innerCount = 0;
    int32_t* inner = TP_PLACE(tree->scratch, tree->leafCount);
    tree->firstFree = -1;
    for (int32_t i = tree->nodes.count - 1; i >= 0; --i) {
        if (tree->nodes.data[i].height == 0) {
            tree->scratch.data[count++] = i;
        } else {
            freeNode(tree, i);
        }
    }
    TP_ASSERT(count == tree->leafCount);
    tree->root = -1;
    while (innerCount < count - 1) {
        inner[innerCount++] = takeNode(tree);
    }
    if (count == 0) {
        return;
    }
    BoundsBuilder builder;
    builder.tree = tree;
    builder.topCount = 0;
    cutParts(&builder, (TreePart){ tree->scratch.data, count, inner, -1, 0, 0 }, tasks);
    tpTasks_Run(tasks, buildSmall, &builder, builder.partCount);
    tree->builtArea = 0.0;
    for (int i = 0; i < builder.partCount; ++i) {
        tree->builtArea += builder.areas[i];
    }
    tree->builtArea += refitTops(tree, builder.tops, builder.topCount);
    tree->isOrdered = true;
}

// Fitting -----------------------------------------------------------------------------------------

// Inner nodes and the parts of the tree below them, which threads fit.
typedef struct BoundsFitter {
    tpBoundsTree* tree;
    int32_t parts[partLimit]; // their top nodes
    double areas[partLimit];  // half surfaces of their inner boxes
    int partCount;
    int32_t tops[partLimit]; // parents before children
    int topCount;
} BoundsFitter;

static double refitBelow(tpBoundsTree* tree, int32_t index) {
    const tpBoundsNode* node = &tree->nodes.data[index];
    if (isLeaf(node)) {
        return 0.0;
    }
    double area = refitBelow(tree, node->child[0]);
    area += refitBelow(tree, node->child[1]);
    refit(tree, index);
    return area + tpHalfArea(&tree->nodes.data[index].bounds);
}

static void refitPart(void* context, int number, int worker) {
    (void)worker;
    BoundsFitter* fitter = context;
    fitter->areas[number] = refitBelow(fitter->tree, fitter->parts[number]);
}

double tpBoundsTree_RefitAll(tpBoundsTree* tree, tpTasks* tasks) {
    if (tree->root < 0) {
        return 0.0;
    }
    BoundsFitter fitter = { .tree = tree, .parts = { tree->root }, .partCount = 1 };
    const tpBoundsNode* nodes = tree->nodes.data;
    // The tree is opened from the top, level by level, until there are enough parts.
    for (int before = 0; before < fitter.partCount;) {
        before = fitter.partCount;
        for (int i = 0; i < before && fitter.partCount < partLimit; ++i) {
            int32_t top = fitter.parts[i];
            if (!isLeaf(&nodes[top])) {
                fitter.tops[fitter.topCount++] = top;
                fitter.parts[i] = nodes[top].child[0];
                fitter.parts[fitter.partCount++] = nodes[top].child[1];
            }
        }
    }
    tpTasks_Run(tasks, refitPart, &fitter, fitter.partCount);
    double area = 0.0;
    for (int i = 0; i < fitter.partCount; ++i) {
        area += fitter.areas[i];
    }
    return area + refitTops(tree, fitter.tops, fitter.topCount);
}
