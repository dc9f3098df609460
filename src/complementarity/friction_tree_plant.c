// Which bodies and rows of a problem make a tree, brought to unit mass.

#include <math.h>
#include <string.h>

#include "complementarity/friction_tree_parts.h"

// A pivot of an inverse inertia below this part of its diagonal entry is rounding of a zero.
static const double smallestMoment = 1e-14;

// Masses ------------------------------------------------------------------------------------------

// L of an inverse mass: roots of the linear diagonal, then the lower half of the angular part by
// rows. False if the mass is not made of those two.
static bool rootOf(const double* A, double L[9], bool* isMoving) {
    *isMoving = false;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < tp_treeWidth; ++j) {
            if (j != i && (A[i * tp_treeWidth + j] != 0.0 || A[j * tp_treeWidth + i] != 0.0)) {
                return false;
            }
        }
        L[i] = sqrt(A[i * tp_treeWidth + i]);
        *isMoving = *isMoving || L[i] > 0.0;
    }
    const double* I = A + 3 * tp_treeWidth + 3;
    double* T = L + 3; // 00 10 11 20 21 22
    static const int starts[3] = { 0, 1, 3 };
    memset(T, 0, sizeof(double) * 6);
    for (int j = 0; j < 3; ++j) {
        double* own = T + starts[j];
        double pivot = I[j * tp_treeWidth + j] - tpTree_Dot(j, own, own);
        if (!(pivot > smallestMoment * I[j * tp_treeWidth + j])) {
            continue;
        }
        *isMoving = true;
        own[j] = sqrt(pivot);
        for (int i = j + 1; i < 3; ++i) {
            double sum = 0.5 * (I[i * tp_treeWidth + j] + I[j * tp_treeWidth + i]);
            T[starts[i] + j] = (sum - tpTree_Dot(j, T + starts[i], own)) / own[j];
        }
    }
    return true;
}

// e J L.
static inline void multiplyRoot(double e, const double* J, const double* L, double* G) {
    G[0] = e * J[0] * L[0];
    G[1] = e * J[1] * L[1];
    G[2] = e * J[2] * L[2];
    G[3] = e * (J[3] * L[3] + J[4] * L[4] + J[5] * L[6]);
    G[4] = e * (J[4] * L[5] + J[5] * L[7]);
    G[5] = e * J[5] * L[8];
}

// The problem -------------------------------------------------------------------------------------

// A cone of two rows whose normal row moves no body.
static bool isDrive(const tpFrictionTree* tree, int b) {
    const tpFrictionBodies* bodies = tree->problem->bodies;
    size_t at = (size_t)tree->first[b] * tp_treeWidth;
    if (tpTree_RowsOfBlock(tree, b) != 2 || !(tpTree_Compliance(tree, tree->first[b]) > 0.0)) {
        return false;
    }
    for (int i = 0; i < tp_treeWidth; ++i) {
        if (bodies->jacobianA[at + (size_t)i] != 0.0 || bodies->jacobianB[at + (size_t)i] != 0.0) {
            return false;
        }
    }
    return true;
}

// Rows and roles of blocks; without `isMoving` all bodies move. False if the tree would not be
// worth it.
static bool listBlocks(tpFrictionTree* tree, const bool* isMoving) {
    const tpFrictionProblem* problem = tree->problem;
    int rows = 0, others = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        int count = problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        int kind = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        tree->first[b] = rows;
        tree->first[b + 1] = rows += count;
        int* pair = tree->pair + (size_t)2 * (size_t)b;
        pair[0] = problem->bodies->bodyA[b];
        pair[1] = problem->bodies->bodyB[b];
        if (pair[0] >= 0 && pair[0] == pair[1]) {
            return false;
        }
        for (int side = 0; side < 2; ++side) {
            bool moves = pair[side] >= 0 && (isMoving == NULL || isMoving[pair[side]]);
            pair[side] = moves ? pair[side] : -1;
        }
        tree->role[b] = kind == tp_frictionFree                       ? tp_jointInTree
                        : kind == tp_frictionCone && isDrive(tree, b) ? tp_driveInTree
                                                                      : tp_contactInTree;
        if (tree->role[b] != tp_contactInTree && pair[0] < 0 && pair[1] < 0) {
            return false;
        }
        others += tree->role[b] == tp_contactInTree ? count : 0;
    }
    tree->rowCount = rows;
    return 2 * others <= rows;
}

// Rows as they are, but for their scales.
static void copyRows(tpFrictionTree* tree) {
    const tpFrictionBodies* bodies = tree->problem->bodies;
    for (int row = 0; row < tree->rowCount; ++row) {
        double e = tpTree_Scale(tree, row), *G = tree->G + (size_t)(2 * row) * tp_treeWidth;
        const double* a = bodies->jacobianA + (size_t)row * tp_treeWidth;
        const double* b = bodies->jacobianB + (size_t)row * tp_treeWidth;
        for (int i = 0; i < tp_treeWidth; ++i) {
            G[i] = e * a[i];
            G[tp_treeWidth + i] = e * b[i];
        }
    }
}

void tpFrictionTree_UseUnitMass(tpFrictionTree* tree) {
    const tpFrictionBodies* bodies = tree->problem->bodies;
    tree->isUnitMass = true;
    for (int b = 0; b < tree->blockCount; ++b) {
        for (int side = 0; side < 2; ++side) {
            int body = tree->pair[2 * b + side];
            const double* J = side == 0 ? bodies->jacobianA : bodies->jacobianB;
            for (int row = tree->first[b]; body >= 0 && row < tree->first[b + 1]; ++row) {
                multiplyRoot(tpTree_Scale(tree, row), J + (size_t)row * tp_treeWidth,
                             tree->roots + (size_t)9 * (size_t)body,
                             tree->G + (size_t)(2 * row + side) * tp_treeWidth);
            }
        }
    }
}

void tpFrictionTree_MassOf(const tpFrictionTree* tree, int body, double* mass) {
    const double* L = tree->roots + (size_t)9 * (size_t)body;
    memset(mass, 0, sizeof(double) * tp_treeWidth * tp_treeWidth);
    for (int i = 0; i < 3; ++i) {
        mass[i * (tp_treeWidth + 1)] = 1.0 / (L[i] * L[i]);
    }
    // (T T^T)^-1 by the inverse of T.
    double a = 1.0 / L[3], c = 1.0 / L[5], f = 1.0 / L[8];
    double b = -L[4] * a * c, e = -L[7] * c * f, d = -(L[6] * a + L[7] * b) * f;
    double* angular = mass + 3 * tp_treeWidth + 3;
    angular[0] = a * a + b * b + d * d;
    angular[tp_treeWidth] = angular[1] = b * c + d * e;
    angular[tp_treeWidth + 1] = c * c + e * e;
    angular[2 * tp_treeWidth] = angular[2] = d * f;
    angular[2 * tp_treeWidth + 1] = angular[tp_treeWidth + 2] = e * f;
    angular[2 * tp_treeWidth + 2] = f * f;
}

// Whether no direction of a body is locked.
static bool isWhole(const double* L) {
    return L[0] > 0.0 && L[1] > 0.0 && L[2] > 0.0 && L[3] > 0.0 && L[5] > 0.0 && L[8] > 0.0;
}

// Tree --------------------------------------------------------------------------------------------

static int findRoot(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The blocks that join bodies, those of one pair together, as ends of lists: next[2 b + side] is
// the next end at the same body, whose list begins at heads[body]; the world is the last body.
// False if they close a loop.
static bool joinBodies(const tpFrictionTree* tree, int* parent, int* heads, int* next) {
    int world = tree->bodyCount, last[2] = { -2, -2 };
    for (int i = 0; i <= world; ++i) {
        parent[i] = i;
        heads[i] = -1;
    }
    for (int b = tree->blockCount - 1; b >= 0; --b) {
        if (tree->role[b] == tp_contactInTree) {
            continue;
        }
        const int* pair = tree->pair + (size_t)2 * (size_t)b;
        int ends[2] = { pair[0] >= 0 ? pair[0] : world, pair[1] >= 0 ? pair[1] : world };
        bool isSame = (ends[0] == last[0] && ends[1] == last[1]) ||
                      (ends[0] == last[1] && ends[1] == last[0]);
        int x = findRoot(parent, ends[0]), y = findRoot(parent, ends[1]);
        if (x == y && !isSame) {
            return false;
        }
        parent[x > y ? x : y] = x > y ? y : x;
        for (int side = 0; side < 2; ++side) {
            last[side] = ends[side];
            next[2 * b + side] = heads[ends[side]];
            heads[ends[side]] = 2 * b + side;
        }
    }
    return true;
}

static void putBody(tpFrictionTree* tree, int body, int parent) {
    tree->place[body] = tree->placeCount;
    tree->bodies[tree->placeCount].body = body;
    tree->bodies[tree->placeCount++].parent = parent;
}

// Bodies from the world outwards, then those that fly; the blocks of each link with its outer body.
static bool plant(tpFrictionTree* tree, const bool* isMoving) {
    tpArenaMark mark = tpArena_Mark(tree->arena);
    int world = tree->bodyCount, links = 0, done = 0;
    int* parent = TP_SCRATCH(tree->arena, int, world + 1);
    int* heads = TP_SCRATCH(tree->arena, int, world + 1);
    int* next = TP_SCRATCH(tree->arena, int, 2 * tree->blockCount);
    if (tree->arena->failed || !joinBodies(tree, parent, heads, next)) {
        return false;
    }
    for (int i = 0; i < world; ++i) {
        tree->place[i] = -1;
    }
    for (int end = heads[world]; end >= 0; end = next[end]) {
        int body = tree->pair[end ^ 1];
        if (tree->place[body] < 0) {
            putBody(tree, body, -1);
        }
    }
    int grounded = tree->placeCount;
    for (int start = 0; start <= world; ++start) {
        for (; done < tree->placeCount; ++done) {
            tpTreeBody* own = &tree->bodies[done];
            own->firstBlock = links;
            for (int end = heads[own->body]; end >= 0; end = next[end]) {
                int other = tree->pair[end ^ 1];
                bool isOwn = other < 0 ? done < grounded : tree->place[other] == own->parent;
                if (isOwn && (other < 0 || own->parent >= 0)) {
                    tree->links[links++] = end >> 1;
                } else if (other >= 0 && tree->place[other] < 0) {
                    putBody(tree, other, done);
                }
            }
        }
        if (start < world && isMoving[start] && tree->place[start] < 0) {
            putBody(tree, start, -1);
        }
    }
    tree->bodies[tree->placeCount].firstBlock = links;
    tpArena_Release(tree->arena, mark);
    return true;
}

static bool reserve(tpFrictionTree* tree) {
    tpArena* arena = tree->arena;
    int blocks = tree->blockCount, bodies = tree->bodyCount;
    tree->place = TP_SCRATCH(arena, int, bodies + 1);
    tree->bodies = TP_SCRATCH(arena, tpTreeBody, bodies + 1);
    tree->links = TP_SCRATCH(arena, int, blocks);
    tree->isHeld = TP_SCRATCH(arena, bool, blocks);
    tree->G = TP_SCRATCH(arena, double, (size_t)tree->rowCount * 2 * tp_treeWidth);
    tree->rows = TP_SCRATCH(arena, tpTreeRow, tree->rowCount);
    tree->K = TP_SCRATCH(arena, double, (size_t)tree->rowCount* tp_maxLinkRows);
    tree->motions = TP_SCRATCH(arena, tpTreeMotion, bodies);
    tree->force = TP_SCRATCH(arena, double, (size_t)bodies* tp_treeWidth);
    tree->x = TP_SCRATCH(arena, double, tree->rowCount);
    tree->isActive = TP_SCRATCH(arena, bool, blocks);
    tree->p = TP_SCRATCH(arena, double, tree->rowCount);
    tree->others = TP_SCRATCH(arena, int, blocks);
    tree->otherFirst = TP_SCRATCH(arena, int, blocks + 1);
    return !arena->failed;
}

// A tree of which nothing is known but its blocks; NULL if the problem is of another kind, or
// memory ran out.
static tpFrictionTree* begin(const tpFrictionProblem* problem, tpArena* arena) {
    const tpFrictionBodies* bodies = problem->bodies;
    if (bodies == NULL || bodies->componentCount != tp_treeWidth || problem->blockCount == 0) {
        return NULL;
    }
    tpFrictionTree* tree = tpArena_GetZeroed(arena, sizeof(tpFrictionTree));
    int* first = TP_SCRATCH(arena, int, problem->blockCount + 1);
    int* pair = TP_SCRATCH(arena, int, 2 * problem->blockCount);
    unsigned char* role = TP_SCRATCH(arena, unsigned char, problem->blockCount);
    if (arena->failed) {
        return NULL;
    }
    *tree = (tpFrictionTree){ .problem = problem,
                              .arena = arena,
                              .bodyCount = bodies->bodyCount,
                              .blockCount = problem->blockCount,
                              .first = first,
                              .pair = pair,
                              .role = role };
    return tree;
}

bool tpFrictionTree_Suits(const tpFrictionProblem* problem, tpArena* arena) {
    tpArenaMark mark = tpArena_Mark(arena);
    tpFrictionTree* tree = begin(problem, arena);
    int count = tree != NULL ? tree->bodyCount + 1 : 0;
    int* parent = TP_SCRATCH(arena, int, count);
    int* heads = TP_SCRATCH(arena, int, count);
    int* next = TP_SCRATCH(arena, int, tree != NULL ? 2 * tree->blockCount : 0);
    bool isSuited = tree != NULL && !arena->failed && listBlocks(tree, NULL) &&
                    joinBodies(tree, parent, heads, next);
    tpArena_Release(arena, mark);
    return isSuited;
}

tpFrictionTree* tpFrictionTree_Create(const tpFrictionProblem* problem, tpArena* arena) {
    tpFrictionTree* tree = begin(problem, arena);
    if (tree == NULL) {
        return NULL;
    }
    const tpFrictionBodies* bodies = problem->bodies;
    bool* isMoving = TP_SCRATCH(arena, bool, bodies->bodyCount);
    tree->roots = TP_SCRATCH(arena, double, (size_t)bodies->bodyCount * 9);
    if (arena->failed) {
        return NULL;
    }
    bool areWhole = true;
    for (int i = 0; i < bodies->bodyCount; ++i) {
        double* root = tree->roots + (size_t)9 * (size_t)i;
        if (!rootOf(bodies->inverseMass + (size_t)i * tp_treeWidth * tp_treeWidth, root,
                    &isMoving[i])) {
            return NULL;
        }
        areWhole = areWhole && (!isMoving[i] || isWhole(root));
    }
    if (!listBlocks(tree, isMoving) || !reserve(tree) || !plant(tree, isMoving)) {
        return NULL;
    }
    if (areWhole) {
        copyRows(tree);
    } else {
        tpFrictionTree_UseUnitMass(tree);
    }
    return tree;
}
