// The tree of a problem: what is kept of the last one, and what has to be made anew.
//
// A mechanism has the same bodies and joints in every solve, and in most solves the same rows as in
// the one before: rounds of a drift change biases alone, and a step begins where the last one
// ended. So trees stay with the solver's memory, each with a copy of all numbers that its factors
// were made from. They are compared bit for bit, which costs less than a hundredth of making them:
// nobody has to say what has changed, and the answer is the same as without anything kept.

#include <string.h>

#include "complementarity/friction_tree_parts.h"

// A step of two halves has two kinds of problems in turn: springs of joints act in the first.
enum { keptTrees = 2 };

// Blocks ------------------------------------------------------------------------------------------

// A cone of two rows whose normal row moves no body.
static bool isDrive(const tpFrictionTree* tree, int rows, int first) {
    const tpFrictionBodies* bodies = tree->given;
    const tpFrictionProblem* problem = tree->problem;
    size_t at = (size_t)first * tp_treeWidth;
    if (rows != 2 || problem->compliance == NULL || !(problem->compliance[first] > 0.0)) {
        return false;
    }
    for (int i = 0; i < tp_treeWidth; ++i) {
        if (bodies->jacobianA[at + (size_t)i] != 0.0 || bodies->jacobianB[at + (size_t)i] != 0.0) {
            return false;
        }
    }
    return true;
}

static bool isSamePair(const tpFrictionBodies* bodies, int b) {
    return bodies->bodyA[b] == bodies->bodyA[b - 1] && bodies->bodyB[b] == bodies->bodyB[b - 1];
}

// Rows and roles of all blocks, and which of them lead. False if the tree would not be worth it, or
// memory ran out.
static bool listBlocks(tpFrictionTree* tree) {
    const tpFrictionProblem* problem = tree->problem;
    int rows = 0, others = 0, together = 0;
    bool isLeading = true;
    tree->leadBlocks = tree->leadRows = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        int count = problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        int kind = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        tree->first[b] = rows;
        tree->first[b + 1] = rows + count;
        bool hasTerms = tpTree_HasTerms(tree, b);
        tree->role[b] = kind == tp_frictionFree ? (hasTerms ? tp_cutInTree : tp_jointInTree)
                        : kind == tp_frictionCone && !hasTerms && isDrive(tree, count, rows)
                            ? tp_driveInTree
                            : tp_contactInTree;
        rows += count;
        together = b > 0 && isSamePair(tree->given, b) ? together + 1 : 1;
        others += tpTree_IsLink(tree->role[b]) || together > tp_manyContacts ? 0 : count;
        isLeading = isLeading && tree->role[b] == tp_contactInTree;
        if (isLeading) {
            tree->leadBlocks = b + 1;
            tree->leadRows = rows;
        }
    }
    tree->first[tree->blockCount] = rows;
    tree->rowCount = rows;
    return 2 * others <= rows;
}

// The moving bodies of all blocks; without `isMoving` all move. False if a block has one body
// twice, or a joint none.
static bool listPairs(tpFrictionTree* tree, const bool* isMoving) {
    const tpFrictionBodies* bodies = tree->given;
    for (int b = 0; b < tree->blockCount; ++b) {
        int x = bodies->bodyA[b], y = bodies->bodyB[b], *pair = tree->pair + (size_t)2 * (size_t)b;
        if (x >= 0 && x == y) {
            return false;
        }
        pair[0] = x >= 0 && (isMoving == NULL || isMoving[x]) ? x : -1;
        pair[1] = y >= 0 && (isMoving == NULL || isMoving[y]) ? y : -1;
        if (tpTree_IsLink(tree->role[b]) && pair[0] < 0 && pair[1] < 0) {
            return false;
        }
    }
    return true;
}

// What is kept ------------------------------------------------------------------------------------

static bool areEqual(const void* a, const void* b, size_t bytes) {
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static void copy(void* to, const void* from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

// Whether bodies and planted blocks are those of the key.
static bool hasSameBlocks(const tpFrictionTree* tree) {
    const tpTreeKey* key = &tree->key;
    const tpFrictionProblem* problem = tree->problem;
    int lead = tree->leadBlocks;
    size_t count = (size_t)key->blockCount;
    if (!tree->hasKey || key->bodyCount != tree->bodyCount ||
        key->blockCount != tree->blockCount - lead ||
        key->rowCount != tree->rowCount - tree->leadRows ||
        !areEqual(key->bodyA, tree->given->bodyA + lead, sizeof(int) * count) ||
        !areEqual(key->bodyB, tree->given->bodyB + lead, sizeof(int) * count) ||
        !areEqual(key->role, tree->role + lead, count)) {
        return false;
    }
    for (int b = 0; b < key->blockCount; ++b) {
        int kind = problem->kinds != NULL ? problem->kinds[lead + b] : tp_frictionCone;
        if (key->kinds[b] != kind || key->dimensions[b] != tpTree_RowsOfBlock(tree, lead + b)) {
            return false;
        }
    }
    return true;
}

// The trees of a memory; NULL if memory ran out.
static tpFrictionTree* treesOf(tpSolverMemory* memory) {
    const tpAllocator* allocator = &memory->arena.allocator;
    if (memory->trees == NULL) {
        memory->trees = tpAllocateZeroed(allocator, keptTrees * sizeof(tpFrictionTree));
        for (int i = 0; memory->trees != NULL && i < keptTrees; ++i) {
            memory->trees[i].allocator = *allocator;
            tpArena_Create(&memory->trees[i].kept, allocator);
        }
        memory->arena.failed = memory->arena.failed || memory->trees == NULL;
    }
    return memory->trees;
}

void tpFrictionTrees_Destroy(tpFrictionTree* trees) {
    if (trees != NULL) {
        tpAllocator allocator = trees->allocator;
        for (int i = 0; i < keptTrees; ++i) {
            tpArena_Destroy(&trees[i].kept);
        }
        tpRelease(&allocator, trees, keptTrees * sizeof(tpFrictionTree));
    }
}

// Takes problem and blocks over from another tree.
static void shareBlocks(tpFrictionTree* tree, const tpFrictionTree* from) {
    tree->problem = from->problem;
    tree->given = from->given;
    tree->arena = from->arena;
    tree->bodyCount = from->bodyCount;
    tree->blockCount = from->blockCount;
    tree->rowCount = from->rowCount;
    tree->leadBlocks = from->leadBlocks;
    tree->leadRows = from->leadRows;
    tree->first = from->first;
    tree->pair = from->pair;
    tree->role = from->role;
}

// Takes bodies and planted blocks for the key. False if memory ran out.
static bool learnBlocks(tpFrictionTree* tree) {
    const tpFrictionProblem* problem = tree->problem;
    tpTreeKey* key = &tree->key;
    tpArena* kept = &tree->kept;
    int lead = tree->leadBlocks, blocks = tree->blockCount - lead, bodies = tree->bodyCount;
    int rows = tree->rowCount - tree->leadRows;
    size_t places = (size_t)rows * tp_treeWidth;
    tree->hasKey = tree->isPlanted = tree->hasNumbers = tree->isFactored = false;
    tpArena_Reset(kept);
    tree->response = (tpKeptResponse){ 0 };
    *key = (tpTreeKey){ .bodyCount = bodies,
                        .blockCount = blocks,
                        .rowCount = rows,
                        .dimensions = TP_SCRATCH(kept, int, blocks),
                        .bodyA = TP_SCRATCH(kept, int, blocks),
                        .bodyB = TP_SCRATCH(kept, int, blocks),
                        .kinds = TP_SCRATCH(kept, unsigned char, blocks),
                        .role = TP_SCRATCH(kept, unsigned char, blocks),
                        .isMoving = TP_SCRATCH(kept, bool, bodies),
                        .isHeld = TP_SCRATCH(kept, bool, blocks),
                        .jacobianA = TP_SCRATCH(kept, double, places),
                        .jacobianB = TP_SCRATCH(kept, double, places),
                        .compliance = TP_SCRATCH(kept, double, rows),
                        .scale = TP_SCRATCH(kept, double, rows),
                        .inverseMass = TP_SCRATCH(kept, double, (size_t)bodies * 36) };
    tree->roots = TP_SCRATCH(kept, double, (size_t)bodies * 9);
    tree->G = TP_SCRATCH(kept, double, 2 * places);
    tree->place = TP_SCRATCH(kept, int, bodies + 1);
    tree->bodies = TP_SCRATCH(kept, tpTreeBody, bodies + 1);
    tree->links = TP_SCRATCH(kept, int, blocks);
    tree->isCut = TP_SCRATCH_ZEROED(kept, bool, blocks);
    tree->rows = TP_SCRATCH(kept, tpTreeRow, rows);
    tree->K = TP_SCRATCH(kept, double, (size_t)rows* tp_maxLinkRows);
    tree->motions = TP_SCRATCH(kept, tpTreeMotion, bodies);
    tree->force = TP_SCRATCH(kept, double, (size_t)bodies* tp_treeWidth);
    tree->load = TP_SCRATCH(kept, double, (size_t)bodies* tp_treeWidth);
    tree->x = TP_SCRATCH(kept, double, rows);
    if (kept->failed) {
        tree->arena->failed = true;
        return false;
    }
    for (int b = 0; b < blocks; ++b) {
        int kind = problem->kinds != NULL ? problem->kinds[lead + b] : tp_frictionCone;
        key->kinds[b] = (unsigned char)kind;
        key->dimensions[b] = tpTree_RowsOfBlock(tree, lead + b);
        key->bodyA[b] = tree->given->bodyA[lead + b];
        key->bodyB[b] = tree->given->bodyB[lead + b];
        key->role[b] = tree->role[lead + b];
    }
    tree->isSuited = listPairs(tree, NULL) && tpFrictionTree_CutLoops(tree);
    tree->hasKey = !tree->arena->failed;
    return tree->hasKey;
}

// The tree with the blocks of a problem, one that has them already if there is one; NULL if the
// problem is of another kind, or memory ran out.
static tpFrictionTree* begin(const tpFrictionProblem* problem, tpSolverMemory* memory) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    tpArena* arena = &memory->arena;
    if (bodies == NULL || bodies->componentCount != tp_treeWidth || problem->blockCount == 0) {
        return NULL;
    }
    tpFrictionTree* trees = treesOf(memory);
    int* first = TP_SCRATCH(arena, int, problem->blockCount + 1);
    int* pair = TP_SCRATCH(arena, int, 2 * problem->blockCount);
    unsigned char* role = TP_SCRATCH(arena, unsigned char, problem->blockCount);
    if (arena->failed) {
        return NULL;
    }
    tpFrictionTree blocks = { .problem = problem,
                              .given = bodies,
                              .arena = arena,
                              .bodyCount = bodies->bodyCount,
                              .blockCount = problem->blockCount,
                              .first = first,
                              .pair = pair,
                              .role = role };
    if (!listBlocks(&blocks)) {
        return NULL;
    }
    tpFrictionTree *found = NULL, *oldest = trees;
    unsigned long uses = 0;
    for (int i = 0; i < keptTrees; ++i) {
        shareBlocks(&trees[i], &blocks);
        uses = trees[i].lastUse > uses ? trees[i].lastUse : uses;
        oldest = trees[i].lastUse < oldest->lastUse ? &trees[i] : oldest;
        found = found == NULL && hasSameBlocks(&trees[i]) ? &trees[i] : found;
    }
    if (found == NULL) {
        found = learnBlocks(oldest) ? oldest : NULL;
    }
    if (found != NULL) {
        found->lastUse = uses + 1;
    }
    return found;
}

// Whether the numbers of bodies and planted rows are those of the key.
static bool haveSameMasses(const tpFrictionTree* tree) {
    return tree->hasNumbers && areEqual(tree->key.inverseMass, tree->given->inverseMass,
                                        sizeof(double) * 36 * (size_t)tree->bodyCount);
}

static bool haveSameRows(const tpFrictionTree* tree) {
    const tpTreeKey* key = &tree->key;
    const tpFrictionProblem* problem = tree->problem;
    size_t count = (size_t)key->rowCount, lead = (size_t)tree->leadRows;
    size_t bytes = sizeof(double) * count, wide = bytes * tp_treeWidth;
    const double* a = tree->given->jacobianA + lead * tp_treeWidth;
    const double* b = tree->given->jacobianB + lead * tp_treeWidth;
    if (!tree->hasNumbers || !areEqual(key->jacobianA, a, wide) ||
        !areEqual(key->jacobianB, b, wide)) {
        return false;
    }
    for (size_t i = 0; problem->scale == NULL && i < count; ++i) {
        if (key->scale[i] != 1.0) {
            return false;
        }
    }
    for (size_t i = 0; problem->compliance == NULL && i < count; ++i) {
        if (key->compliance[i] != 0.0) {
            return false;
        }
    }
    return (problem->scale == NULL || areEqual(key->scale, problem->scale + lead, bytes)) &&
           (problem->compliance == NULL ||
            areEqual(key->compliance, problem->compliance + lead, bytes));
}

static void learnRows(tpFrictionTree* tree) {
    tpTreeKey* key = &tree->key;
    const tpFrictionProblem* problem = tree->problem;
    size_t lead = (size_t)tree->leadRows;
    size_t wide = sizeof(double) * (size_t)key->rowCount * tp_treeWidth;
    copy(key->jacobianA, tree->given->jacobianA + lead * tp_treeWidth, wide);
    copy(key->jacobianB, tree->given->jacobianB + lead * tp_treeWidth, wide);
    for (int i = 0; i < key->rowCount; ++i) {
        int row = tree->leadRows + i;
        key->scale[i] = problem->scale != NULL ? problem->scale[row] : 1.0;
        key->compliance[i] = problem->compliance != NULL ? problem->compliance[row] : 0.0;
    }
}

// Masses, and the order of bodies if others move than before. False if there is no tree.
static bool useMasses(tpFrictionTree* tree) {
    tpTreeKey* key = &tree->key;
    bool* isMoving = TP_SCRATCH(tree->arena, bool, tree->bodyCount);
    if (isMoving == NULL || !tpFrictionTree_FindRoots(tree, isMoving)) {
        return false;
    }
    copy(key->inverseMass, tree->given->inverseMass, sizeof(double) * 36 * (size_t)tree->bodyCount);
    if (!tree->isPlanted ||
        !areEqual(key->isMoving, isMoving, sizeof(bool) * (size_t)tree->bodyCount)) {
        copy(key->isMoving, isMoving, sizeof(bool) * (size_t)tree->bodyCount);
        tree->isPlanted = listPairs(tree, isMoving) && tpFrictionTree_CutLoops(tree) &&
                          tpFrictionTree_Plant(tree, isMoving);
    }
    return tree->isPlanted;
}

// Room for what belongs to one solve.
static bool reserve(tpFrictionTree* tree) {
    tpArena* arena = tree->arena;
    int blocks = tree->blockCount;
    tree->isHeld = TP_SCRATCH(arena, bool, blocks);
    tree->isActive = TP_SCRATCH(arena, bool, blocks);
    tree->p = TP_SCRATCH(arena, double, tree->rowCount);
    tree->others = TP_SCRATCH(arena, int, blocks);
    tree->otherFirst = TP_SCRATCH(arena, int, blocks + 1);
    tree->leadG = TP_SCRATCH(arena, double, (size_t)tree->leadRows * 2 * tp_treeWidth);
    int terms = tpTree_FirstTerm(tree, tree->rowCount);
    tree->termG = terms > 0 ? TP_SCRATCH(arena, double, (size_t)terms* tp_treeWidth) : NULL;
    tree->cutL = TP_SCRATCH(arena, double, (size_t)tree->cutRows*(size_t)tree->cutRows);
    return !arena->failed;
}

// Joints and drives that close loops are none of the tree: their blocks are left to it. False if
// they have too many rows.
static bool useCuts(tpFrictionTree* tree) {
    tree->cutCount = tree->cutRows = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tpTree_IsLink(tree->role[b]) && tree->isCut[b - tree->leadBlocks]) {
            tree->role[b] = tree->role[b] == tp_jointInTree ? tp_cutInTree : tp_contactInTree;
        }
        if (tree->role[b] == tp_cutInTree) {
            tree->cutCount += 1;
            tree->cutRows += tpTree_RowsOfBlock(tree, b);
        }
    }
    return tree->cutRows <= tp_maxCutRows;
}

// Trees -------------------------------------------------------------------------------------------

bool tpFrictionTree_Suits(const tpFrictionProblem* problem, tpSolverMemory* memory) {
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpFrictionTree* tree = begin(problem, memory);
    bool isSuited = tree != NULL && tree->isSuited;
    tpSolverMemory_End(memory, mark);
    return isSuited;
}

tpFrictionTree* tpFrictionTree_Create(const tpFrictionProblem* problem, tpSolverMemory* memory) {
    tpFrictionTree* tree = begin(problem, memory);
    if (tree == NULL) {
        return NULL;
    }
    bool areSame = haveSameMasses(tree), isSameTree = areSame && haveSameRows(tree);
    tree->hasNumbers = isSameTree;
    if ((!areSame && !useMasses(tree)) || !listPairs(tree, tree->key.isMoving) || !useCuts(tree) ||
        !reserve(tree)) {
        return NULL;
    }
    if (!isSameTree) {
        learnRows(tree);
        tree->hasNumbers = true;
        tree->isFactored = false;
        tree->isUnitMass = !tree->areWhole;
        tpFrictionTree_WriteRows(tree, false);
    }
    tpFrictionTree_WriteRows(tree, true);
    return tree;
}
