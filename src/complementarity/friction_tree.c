#include "complementarity/friction_tree.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Velocities of a body.
enum { width = 6 };

// Rows of one link, and rows of contacts, that are worth it.
enum { maxLinkRows = 16, maxOtherRows = 160 };

// Iterations of the small problem.
enum { smallLimit = 30 };

// Contacts that open slower than this part of |q| under joints alone are taken for touching:
// between bodies that move together it is rounding that tells who is approached. An approach below
// the second part is rounding.
static const double nearlyClosed = 1e-4, noApproach = 1e-13;

// Rounds in which drives join the contacts, those above this part of their bound.
enum { maxChanges = 6 };
static const double nearBound = 0.8;

// A pivot below this part of its row's response is replaced by it: it is rounding.
static const double smallestPivot = 1e-13;

// A pivot of an inverse inertia below this part of its diagonal entry is rounding of a zero.
static const double smallestMoment = 1e-14;

// What a block is to the tree.
typedef enum tpTreeRole { tp_jointInTree, tp_driveInTree, tp_contactInTree } tpTreeRole;

// Rows of joints between a body and its parent.
typedef struct tpTreeRow {
    int row;                   // of the problem
    int child;                 // where g begins in G
    int above;                 // the same of the parent's side
    double size;               // its response to itself without the tree
    double a[width], Y[width]; // as in body_tree.h
} tpTreeRow;

typedef struct tpTreeBody {
    int body;
    int parent;                 // place, -1 if it has none
    int firstBlock;             // in the list of blocks of links
    int firstRow;               // in the list of rows of links
    int firstFactor;            // where K begins
    bool isUnit;                // nothing hangs on it
    double mass[width * width]; // articulated, then L: lower half, diagonals inverted
} tpTreeBody;

struct tpFrictionTree {
    const tpFrictionProblem* problem;
    tpArena* arena;
    int bodyCount, blockCount, rowCount;
    int* first;          // row of each block, one more at the end
    int* pair;           // moving bodies of each block, -1 if there is none
    unsigned char* role; // tpTreeRole of each block
    bool* isHeld;        // of each block
    double* G;           // of each row: of its first body, of its second

    int placeCount;
    int* place;         // of each body, -1 if it does not move
    tpTreeBody* bodies; // by places, parents first; one more at the end
    int* links;         // blocks by places
    tpTreeRow* rows;
    double* K;
    double* force; // of each place, then its velocity
    double* x;     // of each row of links

    // What is left: blocks that do not hold, of those that may carry something.
    bool* isActive; // of each block
    int otherCount, otherRows;
    int* others;
    int* otherFirst;
    double* p; // of each row: its velocity under joints alone
};

// Products ----------------------------------------------------------------------------------------

static inline double dot6(const double* x, const double* y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5];
}

static inline double dotOf(int n, const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static inline void addScaled6(double factor, const double* x, double* y) {
    for (int i = 0; i < width; ++i) {
        y[i] += factor * x[i];
    }
}

static double scaleOf(const tpFrictionTree* tree, int row) {
    return tree->problem->scale != NULL ? tree->problem->scale[row] : 1.0;
}

// Compliance and q in scaled rows.
static double complianceOf(const tpFrictionTree* tree, int row) {
    double e = scaleOf(tree, row);
    return tree->problem->compliance != NULL ? e * e * tree->problem->compliance[row] : 0.0;
}

static double freeVelocity(const tpFrictionTree* tree, int row) {
    return scaleOf(tree, row) * tree->problem->q[row];
}

// Masses ------------------------------------------------------------------------------------------

// L of an inverse mass: roots of the linear diagonal, then the lower half of the angular part by
// rows. False if the mass is not made of those two.
static bool rootOf(const double* A, double L[9], bool* isMoving) {
    *isMoving = false;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < width; ++j) {
            if (j != i && (A[i * width + j] != 0.0 || A[j * width + i] != 0.0)) {
                return false;
            }
        }
        L[i] = sqrt(A[i * width + i]);
        *isMoving = *isMoving || L[i] > 0.0;
    }
    const double* I = A + 3 * width + 3;
    double* T = L + 3; // 00 10 11 20 21 22
    static const int starts[3] = { 0, 1, 3 };
    memset(T, 0, sizeof(double) * 6);
    for (int j = 0; j < 3; ++j) {
        double* own = T + starts[j];
        double pivot = I[j * width + j] - dotOf(j, own, own);
        if (!(pivot > smallestMoment * I[j * width + j])) {
            continue;
        }
        *isMoving = true;
        own[j] = sqrt(pivot);
        for (int i = j + 1; i < 3; ++i) {
            double sum = 0.5 * (I[i * width + j] + I[j * width + i]);
            T[starts[i] + j] = (sum - dotOf(j, T + starts[i], own)) / own[j];
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

static int rowsOfBlock(const tpFrictionTree* tree, int b) {
    return tree->first[b + 1] - tree->first[b];
}

// A cone of two rows whose normal row moves no body.
static bool isDrive(const tpFrictionTree* tree, int b) {
    const tpFrictionBodies* bodies = tree->problem->bodies;
    size_t at = (size_t)tree->first[b] * width;
    if (rowsOfBlock(tree, b) != 2 || !(complianceOf(tree, tree->first[b]) > 0.0)) {
        return false;
    }
    for (int i = 0; i < width; ++i) {
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

static void formRows(tpFrictionTree* tree, const double* roots) {
    const tpFrictionBodies* bodies = tree->problem->bodies;
    for (int b = 0; b < tree->blockCount; ++b) {
        for (int side = 0; side < 2; ++side) {
            int body = tree->pair[2 * b + side];
            const double* J = side == 0 ? bodies->jacobianA : bodies->jacobianB;
            for (int row = tree->first[b]; body >= 0 && row < tree->first[b + 1]; ++row) {
                multiplyRoot(scaleOf(tree, row), J + (size_t)row * width,
                             roots + (size_t)9 * (size_t)body,
                             tree->G + (size_t)(2 * row + side) * width);
            }
        }
    }
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
    tree->G = TP_SCRATCH(arena, double, (size_t)tree->rowCount * 2 * width);
    tree->rows = TP_SCRATCH(arena, tpTreeRow, tree->rowCount);
    tree->K = TP_SCRATCH(arena, double, (size_t)tree->rowCount* maxLinkRows);
    tree->force = TP_SCRATCH(arena, double, (size_t)bodies* width);
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
    if (bodies == NULL || bodies->componentCount != width || problem->blockCount == 0) {
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
    double* roots = TP_SCRATCH(arena, double, (size_t)bodies->bodyCount * 9);
    if (arena->failed) {
        return NULL;
    }
    for (int i = 0; i < bodies->bodyCount; ++i) {
        if (!rootOf(bodies->inverseMass + (size_t)i * width * width, roots + (size_t)9 * (size_t)i,
                    &isMoving[i])) {
            return NULL;
        }
    }
    if (!listBlocks(tree, isMoving) || !reserve(tree) || !plant(tree, isMoving)) {
        return NULL;
    }
    formRows(tree, roots);
    return tree;
}

// Elimination -------------------------------------------------------------------------------------

// Lists the rows of blocks that hold. False if there are too many.
static bool listRows(tpFrictionTree* tree) {
    int count = 0, factors = 0;
    for (int k = 0; k < tree->placeCount; ++k) {
        tpTreeBody* own = &tree->bodies[k];
        own->firstRow = count;
        own->firstFactor = factors;
        for (int i = own->firstBlock; i < own[1].firstBlock; ++i) {
            int b = tree->links[i], side = tree->pair[2 * b] == own->body ? 0 : 1;
            int from = tree->first[b] + (tree->role[b] == tp_driveInTree ? 1 : 0);
            for (int row = from; tree->isHeld[b] && row < tree->first[b + 1]; ++row) {
                tpTreeRow* listed = &tree->rows[count++];
                listed->row = row;
                listed->child = (2 * row + side) * width;
                listed->above = (2 * row + 1 - side) * width;
            }
        }
        int m = count - own->firstRow;
        factors += m * m;
        if (m > maxLinkRows) {
            return false;
        }
    }
    tree->bodies[tree->placeCount].firstRow = count;
    return true;
}

// L of the articulated mass. It is one and more: pivots below that are rounding.
static inline void factoriseMass(double* A) {
    for (int j = 0; j < width; ++j) {
        double* own = A + (size_t)(j * width);
        double inverse = 1.0 / sqrt(fmax(own[j] - dotOf(j, own, own), 1.0));
        own[j] = inverse;
        for (int i = j + 1; i < width; ++i) {
            double* other = A + (size_t)(i * width);
            other[j] = (other[j] - dotOf(j, other, own)) * inverse;
        }
    }
}

static inline void lowerMass(const double* L, double* x) {
    for (int i = 0; i < width; ++i) {
        x[i] = (x[i] - dotOf(i, L + (size_t)(i * width), x)) * L[i * width + i];
    }
}

static inline void upperMass(const double* L, double* x) {
    for (int i = width - 1; i >= 0; --i) {
        x[i] *= L[i * width + i];
        for (int j = 0; j < i; ++j) {
            x[j] -= x[i] * L[i * width + j];
        }
    }
}

// Factorises the link of one place, and adds what it gives to its parent's mass.
static void factoriseLink(tpFrictionTree* tree, int k) {
    tpTreeBody* own = &tree->bodies[k];
    tpTreeRow* rows = tree->rows + own->firstRow;
    int m = own[1].firstRow - own->firstRow;
    double* K = tree->K + own->firstFactor;
    if (!own->isUnit) {
        factoriseMass(own->mass);
    }
    for (int i = 0; i < m; ++i) {
        double* a = rows[i].a;
        const double* g = tree->G + rows[i].child;
        memcpy(a, g, sizeof(double) * width);
        if (!own->isUnit) {
            lowerMass(own->mass, a);
        }
        for (int j = 0; j <= i; ++j) {
            K[i * m + j] = dot6(a, rows[j].a);
        }
        double compliance = complianceOf(tree, rows[i].row);
        K[i * m + i] += compliance;
        rows[i].size = dot6(g, g) + compliance;
    }
    tpTreeBody* parent = own->parent >= 0 ? &tree->bodies[own->parent] : NULL;
    for (int i = 0; i < m; ++i) {
        double* row = K + (size_t)(i * m);
        for (int j = 0; j < i; ++j) {
            row[j] = (row[j] - dotOf(j, row, K + (size_t)(j * m))) * K[j * m + j];
        }
        double pivot = row[i] - dotOf(i, row, row), least = smallestPivot * rows[i].size;
        row[i] = 1.0 / sqrt(pivot > least ? pivot : least);
        if (parent == NULL) {
            continue;
        }
        double* y = rows[i].Y;
        memcpy(y, tree->G + rows[i].above, sizeof(double) * width);
        for (int j = 0; j < i; ++j) {
            addScaled6(-row[j], rows[j].Y, y);
        }
        for (int c = 0; c < width; ++c) {
            y[c] *= row[i];
        }
        for (int c = 0; c < width; ++c) {
            for (int d = 0; d <= c; ++d) {
                parent->mass[c * width + d] += y[c] * y[d];
            }
        }
        parent->isUnit = false;
    }
}

static double factorise(tpFrictionTree* tree) {
    double work = 0.0;
    for (int k = 0; k < tree->placeCount; ++k) {
        tpTreeBody* own = &tree->bodies[k];
        own->isUnit = true;
        memset(own->mass, 0, sizeof(own->mass));
        for (int c = 0; c < width; ++c) {
            own->mass[c * (width + 1)] = 1.0;
        }
    }
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        double m = tree->bodies[k + 1].firstRow - tree->bodies[k].firstRow;
        factoriseLink(tree, k);
        work += 36.0 + 54.0 * m + 6.0 * m * m + m * m * m / 6.0;
    }
    return work;
}

// One body on the way to the root, as in body_tree.c.
static inline void goUp(const tpFrictionTree* tree, int k, double* y, double* z, double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const double* K = tree->K + own->firstFactor;
    int m = own[1].firstRow - own->firstRow;
    if (!own->isUnit) {
        lowerMass(own->mass, y);
    }
    for (int i = 0; i < m; ++i) {
        const double* row = K + (size_t)(i * m);
        z[i] = (z[i] - dot6(rows[i].a, y) - dotOf(i, row, z)) * row[i];
        if (parent != NULL) {
            addScaled6(z[i], rows[i].Y, parent);
        }
    }
}

static inline void goDown(const tpFrictionTree* tree, int k, double* y, double* z,
                          const double* parent) {
    const tpTreeBody* own = &tree->bodies[k];
    const tpTreeRow* rows = tree->rows + own->firstRow;
    const double* K = tree->K + own->firstFactor;
    int m = own[1].firstRow - own->firstRow;
    for (int i = 0; parent != NULL && i < m; ++i) {
        z[i] -= dot6(rows[i].Y, parent);
    }
    for (int i = m - 1; i >= 0; --i) {
        const double* row = K + (size_t)(i * m);
        z[i] *= row[i];
        for (int j = 0; j < i; ++j) {
            z[j] -= z[i] * row[j];
        }
        addScaled6(z[i], rows[i].a, y);
    }
    if (!own->isUnit) {
        upperMass(own->mass, y);
    }
}

// G_e v + C x = b for b in `x` and f in `force`: x becomes the impulses, force the velocities.
static void solveTree(tpFrictionTree* tree) {
    for (int k = tree->placeCount - 1; k >= 0; --k) {
        const tpTreeBody* own = &tree->bodies[k];
        goUp(tree, k, tree->force + (size_t)k * width, tree->x + own->firstRow,
             own->parent >= 0 ? tree->force + (size_t)own->parent * width : NULL);
    }
    for (int k = 0; k < tree->placeCount; ++k) {
        const tpTreeBody* own = &tree->bodies[k];
        goDown(tree, k, tree->force + (size_t)k * width, tree->x + own->firstRow,
               own->parent >= 0 ? tree->force + (size_t)own->parent * width : NULL);
    }
}

// What is left ------------------------------------------------------------------------------------

// Velocities of a block's rows for those of bodies, or forces of its impulses on bodies.
static void readOther(const tpFrictionTree* tree, int b, const double* velocity, double* u) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < rowsOfBlock(tree, b); ++i) {
            u[i] += dot6(tree->G + (size_t)(2 * (tree->first[b] + i) + side) * width,
                         velocity + (size_t)tree->place[body] * width);
        }
    }
}

static void pushOther(const tpFrictionTree* tree, int b, const double* r, double* force) {
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        for (int i = 0; body >= 0 && i < rowsOfBlock(tree, b); ++i) {
            addScaled6(r[i], tree->G + (size_t)(2 * (tree->first[b] + i) + side) * width,
                       force + (size_t)tree->place[body] * width);
        }
    }
}

// The ways of a row from its bodies to the root: y and z of each place on them, as in body_tree.c.
typedef struct tpTreeStep {
    int place;
    double y[width], z[maxLinkRows];
} tpTreeStep;

typedef struct tpTreeTrace {
    int first, count;
} tpTreeTrace;

static int depthOf(const tpFrictionTree* tree, int body) {
    int depth = 0;
    for (int k = body >= 0 ? tree->place[body] : -1; k >= 0; k = tree->bodies[k].parent) {
        depth += 1;
    }
    return depth;
}

static tpTreeTrace traceRow(const tpFrictionTree* tree, int b, int row, int first,
                            tpTreeStep* steps) {
    tpTreeTrace trace = { first, 0 };
    double carried[2][width];
    int heads[2];
    for (int side = 0; side < 2; ++side) {
        int body = tree->pair[2 * b + side];
        heads[side] = body >= 0 ? tree->place[body] : -1;
        if (body >= 0) {
            memcpy(carried[side], tree->G + (size_t)(2 * row + side) * width,
                   sizeof(carried[side]));
        }
    }
    while (heads[0] >= 0 || heads[1] >= 0) {
        int side = heads[0] >= heads[1] ? 0 : 1, k = heads[side];
        const tpTreeBody* own = &tree->bodies[k];
        tpTreeStep* step = &steps[first + trace.count++];
        step->place = k;
        memcpy(step->y, carried[side], sizeof(step->y));
        if (heads[0] == heads[1]) {
            addScaled6(1.0, carried[1 - side], step->y);
            heads[1 - side] = -1;
        }
        memset(step->z, 0, sizeof(double) * (size_t)(own[1].firstRow - own->firstRow));
        memset(carried[side], 0, sizeof(carried[side]));
        goUp(tree, k, step->y, step->z, own->parent >= 0 ? carried[side] : NULL);
        heads[side] = own->parent;
    }
    return trace;
}

static double responseOf(const tpFrictionTree* tree, const tpTreeStep* steps, tpTreeTrace a,
                         tpTreeTrace b) {
    const tpTreeStep *x = steps + a.first, *endX = x + a.count;
    const tpTreeStep *y = steps + b.first, *endY = y + b.count;
    double sum = 0.0;
    while (x < endX && y < endY) {
        if (x->place == y->place) {
            const tpTreeBody* own = &tree->bodies[x->place];
            int m = own[1].firstRow - own->firstRow;
            sum += dot6(x->y, y->y) - dotOf(m, x->z, y->z);
            x += 1;
            y += 1;
        } else if (x->place > y->place) {
            x += 1;
        } else {
            y += 1;
        }
    }
    return sum;
}

// S = W_cc - W_ce W_ee^-1 W_ec by columns; NULL if memory ran out.
static double* formMatrix(tpFrictionTree* tree) {
    size_t n = (size_t)tree->otherRows, count = 0;
    for (int i = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        count += (size_t)rowsOfBlock(tree, b) *
                 (size_t)(depthOf(tree, tree->pair[2 * b]) + depthOf(tree, tree->pair[2 * b + 1]));
    }
    double* S = TP_SCRATCH(tree->arena, double, n* n);
    tpTreeTrace* traces = TP_SCRATCH(tree->arena, tpTreeTrace, n);
    tpTreeStep* steps = TP_SCRATCH(tree->arena, tpTreeStep, count);
    if (tree->arena->failed) {
        return NULL;
    }
    int first = 0;
    for (int i = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        for (int c = 0; c < rowsOfBlock(tree, b); ++c) {
            size_t column = (size_t)(tree->otherFirst[i] + c);
            traces[column] = traceRow(tree, b, tree->first[b] + c, first, steps);
            first += traces[column].count;
            for (size_t k = 0; k <= column; ++k) {
                S[column * n + k] = S[k * n + column] =
                    responseOf(tree, steps, traces[k], traces[column]);
            }
            S[column * n + column] += complianceOf(tree, tree->first[b] + c);
        }
    }
    return S;
}

// Velocities of blocks that do not hold, under joints alone.
static void readOthers(tpFrictionTree* tree) {
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isHeld[b]) {
            continue;
        }
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row) {
            tree->p[row] = freeVelocity(tree, row);
        }
        readOther(tree, b, tree->force, tree->p + tree->first[b]);
    }
}

static double sizeOfQ(const tpFrictionTree* tree) {
    double sum = 0.0;
    for (int row = 0; row < tree->rowCount; ++row) {
        sum += freeVelocity(tree, row) * freeVelocity(tree, row);
    }
    return sqrt(sum);
}

// A block takes part if it is nearly closed, or carries something to begin with.
static void chooseActive(tpFrictionTree* tree, double size, const double* r) {
    for (int b = 0; b < tree->blockCount; ++b) {
        tree->isActive[b] = !tree->isHeld[b] && tree->p[tree->first[b]] < nearlyClosed * size;
        for (int row = tree->first[b]; !tree->isHeld[b] && row < tree->first[b + 1]; ++row) {
            tree->isActive[b] = tree->isActive[b] || r[row] != 0.0;
        }
    }
}

static void listOthers(tpFrictionTree* tree) {
    tree->otherCount = tree->otherRows = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isActive[b]) {
            tree->others[tree->otherCount] = b;
            tree->otherFirst[tree->otherCount++] = tree->otherRows;
            tree->otherRows += rowsOfBlock(tree, b);
        }
    }
    tree->otherFirst[tree->otherCount] = tree->otherRows;
}

// Blocks that are approached by more than `least` now, with the velocities in `force`, join.
// Returns their number.
static int joinApproached(tpFrictionTree* tree, double least) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        if (tree->isHeld[b] || tree->isActive[b]) {
            continue;
        }
        double u[TP_FRICTION_MAX_ROWS] = { freeVelocity(tree, tree->first[b]) };
        readOther(tree, b, tree->force, u);
        if (u[0] < -least) {
            tree->isActive[b] = true;
            count += 1;
        }
    }
    return count;
}

// The impulses of what is left, `own`, for velocities p under the joints alone.
static bool solveOthers(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        const double* p, double* own, int* iterations, double* work) {
    tpArena* arena = tree->arena;
    int n = tree->otherCount;
    int* dimensions = TP_SCRATCH(arena, int, n);
    unsigned char* kinds = TP_SCRATCH(arena, unsigned char, n);
    double* mu = TP_SCRATCH(arena, double, n);
    double* S = formMatrix(tree);
    if (S == NULL) {
        return false;
    }
    const tpFrictionProblem* problem = tree->problem;
    for (int i = 0; i < n; ++i) {
        int b = tree->others[i];
        dimensions[i] = rowsOfBlock(tree, b);
        kinds[i] = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        mu[i] = kinds[i] == tp_frictionCone ? problem->mu[b] : 0.0;
    }
    tpMatrix matrix = tpDenseMatrix(tree->otherRows, tree->otherRows, S);
    tpFrictionProblem small = {
        .blockCount = n, .dimensions = dimensions, .kinds = kinds, .mu = mu, .q = p, .W = &matrix
    };
    tpSmallSolve settings = { tp_smallPart * goal, smallLimit, options->workLimit };
    return tpFriction_SolveSmall(&small, options, &settings, arena, own, iterations, work);
}

// Solving -----------------------------------------------------------------------------------------

static void setFreeVelocities(tpFrictionTree* tree) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        tree->x[i] = -freeVelocity(tree, tree->rows[i].row);
    }
}

static void clearForces(tpFrictionTree* tree) {
    memset(tree->force, 0, sizeof(double) * (size_t)tree->placeCount * width);
}

// The blocks that take part, and the joints under their impulses. False if memory ran out or there
// are too many.
static bool solveActive(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        double* r, int* iterations, double* work) {
    double* p = TP_SCRATCH(tree->arena, double, tree->otherRows);
    double* own = TP_SCRATCH(tree->arena, double, tree->otherRows);
    if (tree->arena->failed || tree->otherRows > maxOtherRows) {
        return false;
    }
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            p[k] = tree->p[row];
            own[k] = r[row] / scaleOf(tree, row);
        }
    }
    if (!solveOthers(tree, options, goal, p, own, iterations, work)) {
        return false;
    }
    setFreeVelocities(tree);
    clearForces(tree);
    for (int i = 0, k = 0; i < tree->otherCount; ++i) {
        int b = tree->others[i];
        pushOther(tree, b, own + tree->otherFirst[i], tree->force);
        for (int row = tree->first[b]; row < tree->first[b + 1]; ++row, ++k) {
            r[row] = own[k] * scaleOf(tree, row);
        }
    }
    solveTree(tree);
    return true;
}

// Once with the blocks that hold as they are chosen. False if memory ran out or there are too many
// others.
static bool solveChosen(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                        double* r, int* iterations, double* work) {
    *work += factorise(tree) + 30.0 * tree->rowCount;
    setFreeVelocities(tree);
    clearForces(tree);
    solveTree(tree);
    readOthers(tree);
    double size = sizeOfQ(tree);
    chooseActive(tree, size, r);
    bool isFirst = true;
    for (int count = 1; count > 0; isFirst = false) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        listOthers(tree);
        bool isAlone = isFirst && tree->otherCount == 0;
        if (!isAlone && !solveActive(tree, options, goal, r, iterations, work)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        *iterations += isAlone ? 1 : 0;
        count = joinApproached(tree, noApproach * size);
    }
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
        r[row] = tree->x[i] * scaleOf(tree, row);
    }
    return true;
}

// The load of a drive: nothing else acts on its normal row.
static double loadOf(const tpFrictionTree* tree, int b) {
    int row = tree->first[b];
    return fmax(-tree->problem->q[row] / tree->problem->compliance[row], 0.0);
}

// Drives above `part` of their bounds join the contacts. Returns their number.
static int letGo(tpFrictionTree* tree, double part, double* r) {
    int count = 0;
    for (int b = 0; b < tree->blockCount; ++b) {
        int row = tree->first[b];
        if (tree->role[b] != tp_driveInTree || !tree->isHeld[b]) {
            continue;
        }
        double load = loadOf(tree, b) / scaleOf(tree, row);
        double bound = tree->problem->mu[b] * load * scaleOf(tree, row + 1);
        if (fabs(r[row + 1]) > part * bound) {
            tree->isHeld[b] = false;
            r[row + 1] = fmin(fmax(r[row + 1], -bound), bound);
            count += 1;
        }
    }
    return count;
}

bool tpFrictionTree_Solve(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                          double* r, int* iterations, double* work) {
    for (int b = 0; b < tree->blockCount; ++b) {
        tree->isHeld[b] = tree->role[b] != tp_contactInTree;
        if (tree->role[b] == tp_driveInTree) {
            r[tree->first[b]] = loadOf(tree, b);
        }
    }
    letGo(tree, nearBound, r);
    for (int change = 0; change < maxChanges; ++change) {
        tpArenaMark mark = tpArena_Mark(tree->arena);
        if (!listRows(tree) || !solveChosen(tree, options, goal, r, iterations, work)) {
            return false;
        }
        tpArena_Release(tree->arena, mark);
        if (letGo(tree, 1.0, r) == 0) {
            return true;
        }
        letGo(tree, nearBound, r);
    }
    return false;
}

void tpFrictionTree_Refine(tpFrictionTree* tree, const double* u, double* r) {
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
        tree->x[i] = -scaleOf(tree, row) * u[row];
    }
    clearForces(tree);
    solveTree(tree);
    for (int i = 0; i < tree->bodies[tree->placeCount].firstRow; ++i) {
        int row = tree->rows[i].row;
        r[row] += tree->x[i] * scaleOf(tree, row);
    }
}
