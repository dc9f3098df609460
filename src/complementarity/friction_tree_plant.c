// The order of bodies in a tree; rows and masses as its elimination takes them.

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "complementarity/friction_tree_parts.h"

// A pivot of an inverse inertia below this part of its diagonal entry is rounding of a zero.
static const double smallestMoment = 1e-14;

// Rows for each one that is cut, at the least: nets and chain mail are for others.
enum { leastPerCut = 4 };

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

// Rows as they are, but for their scales.
static void copyRows(const tpFrictionTree* tree, int from, int to, double* G) {
    const tpFrictionBodies* bodies = tree->given;
    for (int row = from; row < to; ++row, G += 2 * tp_treeWidth) {
        double e = tpTree_Scale(tree, row);
        const double* a = bodies->jacobianA + (size_t)row * tp_treeWidth;
        const double* b = bodies->jacobianB + (size_t)row * tp_treeWidth;
        for (int i = 0; i < tp_treeWidth; ++i) {
            G[i] = e * a[i];
            G[tp_treeWidth + i] = e * b[i];
        }
    }
}

static void writeTerms(tpFrictionTree* tree) {
    const tpFrictionBodies* given = tree->given;
    for (int row = 0; tree->termG != NULL && row < tree->rowCount; ++row) {
        double e = tpTree_Scale(tree, row);
        for (int i = given->firstTerms[row]; i < given->firstTerms[row + 1]; ++i) {
            const double* J = given->termJacobians + (size_t)i * tp_treeWidth;
            double* G = tree->termG + (size_t)i * tp_treeWidth;
            if (tree->isUnitMass) {
                multiplyRoot(e, J, tree->roots + (size_t)9 * (size_t)given->termBodies[i], G);
                continue;
            }
            for (int k = 0; k < tp_treeWidth; ++k) {
                G[k] = e * J[k];
            }
        }
    }
}

void tpFrictionTree_WriteRows(tpFrictionTree* tree, bool isLeading) {
    if (isLeading) {
        writeTerms(tree);
    }
    const tpFrictionBodies* bodies = tree->given;
    int from = isLeading ? 0 : tree->leadRows, to = isLeading ? tree->leadRows : tree->rowCount;
    double* G = isLeading ? tree->leadG : tree->G;
    if (!tree->isUnitMass) {
        copyRows(tree, from, to, G);
        return;
    }
    int begin = isLeading ? 0 : tree->leadBlocks;
    int end = isLeading ? tree->leadBlocks : tree->blockCount;
    for (int b = begin; b < end; ++b) {
        for (int side = 0; side < 2; ++side) {
            int body = tree->pair[2 * b + side];
            const double* J = side == 0 ? bodies->jacobianA : bodies->jacobianB;
            for (int row = tree->first[b]; body >= 0 && row < tree->first[b + 1]; ++row) {
                multiplyRoot(tpTree_Scale(tree, row), J + (size_t)row * tp_treeWidth,
                             tree->roots + (size_t)9 * (size_t)body,
                             G + (size_t)(2 * (row - from) + side) * tp_treeWidth);
            }
        }
    }
}

static double responseThrough(const tpFrictionTree* tree, int body, const double* J) {
    const double* M = tree->given->inverseMass + (size_t)body * tp_treeWidth * tp_treeWidth;
    double sum = 0.0;
    for (int i = 0; i < tp_treeWidth; ++i) {
        sum += J[i] * tpTree_Dot6(M + (size_t)i * tp_treeWidth, J);
    }
    return sum;
}

double tpFrictionTree_ResponseOf(const tpFrictionTree* tree, int b, int row) {
    const tpFrictionBodies* given = tree->given;
    double e = tpTree_Scale(tree, row), sum = 0.0;
    size_t at = (size_t)row * tp_treeWidth;
    int x = tree->pair[2 * b], y = tree->pair[2 * b + 1];
    sum += x >= 0 ? responseThrough(tree, x, given->jacobianA + at) : 0.0;
    sum += y >= 0 ? responseThrough(tree, y, given->jacobianB + at) : 0.0;
    for (int i = tpTree_FirstTerm(tree, row); i < tpTree_FirstTerm(tree, row + 1); ++i) {
        sum += responseThrough(tree, given->termBodies[i],
                               given->termJacobians + (size_t)i * tp_treeWidth);
    }
    return e * e * sum + tpTree_Compliance(tree, row);
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

bool tpFrictionTree_FindRoots(tpFrictionTree* tree, bool* isMoving) {
    const tpFrictionBodies* bodies = tree->given;
    tree->areWhole = true;
    for (int i = 0; i < bodies->bodyCount; ++i) {
        double* root = tree->roots + (size_t)9 * (size_t)i;
        if (!rootOf(bodies->inverseMass + (size_t)i * tp_treeWidth * tp_treeWidth, root,
                    &isMoving[i])) {
            return false;
        }
        tree->areWhole = tree->areWhole && (!isMoving[i] || isWhole(root));
    }
    return true;
}

// Tree --------------------------------------------------------------------------------------------

// The blocks that join bodies, those of one pair together, as ends of lists: next[2 b + side] is
// the next end at the same body, whose list begins at heads[body]; the world is the last body.
static void joinBodies(const tpFrictionTree* tree, int* heads, int* next) {
    int world = tree->bodyCount;
    for (int i = 0; i <= world; ++i) {
        heads[i] = -1;
    }
    for (int b = tree->blockCount - 1; b >= tree->leadBlocks; --b) {
        if (!tpTree_IsLink(tree->role[b]) || tree->isCut[b - tree->leadBlocks]) {
            continue;
        }
        const int* pair = tree->pair + (size_t)2 * (size_t)b;
        for (int side = 0; side < 2; ++side) {
            int end = pair[side] >= 0 ? pair[side] : world;
            next[2 * b + side] = heads[end];
            heads[end] = 2 * b + side;
        }
    }
}

// Blocks of one joint follow each other, and have the same pair of bodies.
bool tpFrictionTree_CutLoops(tpFrictionTree* tree) {
    tpArenaMark mark = tpArena_Mark(tree->arena);
    int world = tree->bodyCount, last[2] = { -2, -2 }, rows = 0;
    int* parent = TP_SCRATCH(tree->arena, int, world + 1);
    if (parent == NULL) {
        return false;
    }
    for (int i = 0; i <= world; ++i) {
        parent[i] = i;
    }
    for (int b = tree->leadBlocks; b < tree->blockCount; ++b) {
        bool* isCut = &tree->isCut[b - tree->leadBlocks];
        *isCut = false;
        rows += tree->role[b] == tp_cutInTree ? tpTree_RowsOfBlock(tree, b) : 0;
        if (!tpTree_IsLink(tree->role[b])) {
            continue;
        }
        const int* pair = tree->pair + (size_t)2 * (size_t)b;
        int ends[2] = { pair[0] >= 0 ? pair[0] : world, pair[1] >= 0 ? pair[1] : world };
        bool isSame = (ends[0] == last[0] && ends[1] == last[1]) ||
                      (ends[0] == last[1] && ends[1] == last[0]);
        int x = tpForest_Root(parent, ends[0]), y = tpForest_Root(parent, ends[1]);
        if (x == y && !isSame) {
            *isCut = true;
            rows += tpTree_RowsOfBlock(tree, b);
            continue;
        }
        parent[x > y ? x : y] = x > y ? y : x;
        last[0] = ends[0];
        last[1] = ends[1];
    }
    tpArena_Release(tree->arena, mark);
    return rows <= tp_maxCutRows && rows * leastPerCut <= tree->rowCount - tree->leadRows;
}

static void putBody(tpFrictionTree* tree, int body, int parent) {
    tree->place[body] = tree->placeCount;
    tree->bodies[tree->placeCount].body = body;
    tree->bodies[tree->placeCount++].parent = parent;
}

// Bodies from the world outwards, then those that fly; the blocks of each link with its outer body.
bool tpFrictionTree_Plant(tpFrictionTree* tree, const bool* isMoving) {
    tpArenaMark mark = tpArena_Mark(tree->arena);
    int world = tree->bodyCount, links = 0, done = 0;
    int* heads = TP_SCRATCH(tree->arena, int, world + 1);
    int* next = TP_SCRATCH(tree->arena, int, 2 * tree->blockCount);
    if (tree->arena->failed) {
        return false;
    }
    joinBodies(tree, heads, next);
    tree->placeCount = 0;
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
                    tree->links[links++] = (end >> 1) - tree->leadBlocks;
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
