#include "complementarity/body_tree.h"

#include <math.h>
#include <string.h>

#include "complementarity/block_graph.h"

// A pivot below this is replaced by it: rows are scaled to a diagonal of one, what is smaller is
// rounding.
static const double smallestPivot = 1e-13;

// Loops over the velocities of a body unroll if their number n is a constant.

static inline double dot(int n, const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static inline void addScaled(int n, double factor, const double* x, double* y) {
    for (int i = 0; i < n; ++i) {
        y[i] += factor * x[i];
    }
}

// The body at the other end of a block, -1 for the world.
static int otherBody(const tpFrictionIsland* island, int block, int body) {
    const int* pair = island->body + (size_t)2 * (size_t)block;
    return pair[0] == body ? pair[1] : pair[0];
}

// Visits the bodies from those that are joined to the world outwards, then those that are not.
// False if there is a loop.
static bool visit(tpBodyTree* tree, const tpBlockGraph* graph, const bool* mayHold) {
    const tpFrictionIsland* island = tree->island;
    int count = 0, blocks = 0, done = 0;
    for (int i = 0; i < island->bodyCount; ++i) {
        tree->place[i] = -1;
    }
    for (int b = 0; b < island->blockCount; ++b) {
        const int* pair = island->body + (size_t)2 * (size_t)b;
        int body = pair[0] >= 0 ? pair[0] : pair[1];
        if (mayHold[b] && (pair[0] < 0) != (pair[1] < 0) && tree->place[body] < 0) {
            tree->place[body] = count;
            tree->parent[count] = -1;
            tree->body[count++] = body;
        }
    }
    int grounded = count;
    for (int start = 0; start <= island->bodyCount; ++start) {
        for (; done < count; ++done) {
            int body = tree->body[done], own = tree->parent[done];
            tree->firstBlock[done] = blocks;
            for (int k = graph->starts[body]; k < graph->starts[body + 1]; ++k) {
                int b = graph->blocks[k];
                if (!mayHold[b]) {
                    continue;
                }
                int other = otherBody(island, b, body);
                int at = other >= 0 ? tree->place[other] : -1;
                bool isOwn = other >= 0 ? at >= 0 && at == own : own < 0;
                if (isOwn && (other >= 0 || done < grounded)) {
                    tree->block[blocks++] = b;
                } else if (other >= 0 && at < 0) {
                    tree->place[other] = count;
                    tree->parent[count] = done;
                    tree->body[count++] = other;
                } else if (other < 0 || tree->parent[at] != done) {
                    return false;
                }
            }
        }
        if (start < island->bodyCount && tree->place[start] < 0) {
            tree->place[start] = count;
            tree->parent[count] = -1;
            tree->body[count++] = start;
        }
    }
    tree->firstBlock[count] = blocks;
    return true;
}

bool tpBodyTree_Create(tpBodyTree* tree, const tpFrictionIsland* island, const bool* mayHold,
                       tpArena* arena, bool* isTree) {
    int bodies = island->bodyCount, rows = 0;
    *tree = (tpBodyTree){ .island = island };
    *isTree = false;
    for (int b = 0; b < island->blockCount; ++b) {
        const int* pair = island->body + (size_t)2 * (size_t)b;
        if (mayHold[b] && pair[0] < 0 && pair[1] < 0) {
            return true;
        }
        rows += mayHold[b] ? tpFrictionIsland_Rows(island, b) : 0;
    }
    tree->place = TP_SCRATCH(arena, int, bodies + 1);
    tree->body = TP_SCRATCH(arena, int, bodies + 1);
    tree->parent = TP_SCRATCH(arena, int, bodies + 1);
    tree->isUnit = TP_SCRATCH(arena, bool, bodies + 1);
    tree->firstBlock = TP_SCRATCH(arena, int, bodies + 1);
    tree->block = TP_SCRATCH(arena, int, island->blockCount);
    tpBlockBodies pairs = { island->body, island->body + 1, 2, NULL, NULL };
    tpBlockGraph graph;
    if (arena->failed || !tpBlockGraph_Create(&graph, island->blockCount, bodies, &pairs, arena)) {
        return false;
    }
    if (!visit(tree, &graph, mayHold)) {
        return true;
    }
    // K of a link has the square of its rows.
    size_t factors = 0, n = (size_t)island->componentCount;
    for (int k = 0; k < bodies; ++k) {
        size_t own = 0;
        for (int i = tree->firstBlock[k]; i < tree->firstBlock[k + 1]; ++i) {
            own += (size_t)tpFrictionIsland_Rows(island, tree->block[i]);
        }
        factors += own * own;
    }
    tree->firstRow = TP_SCRATCH(arena, int, bodies + 1);
    tree->row = TP_SCRATCH(arena, int, rows);
    tree->child = TP_SCRATCH(arena, int, rows);
    tree->above = TP_SCRATCH(arena, int, rows);
    tree->firstFactor = TP_SCRATCH(arena, int, bodies + 1);
    tree->mass = TP_SCRATCH(arena, double, (size_t)bodies* n* n);
    tree->lower = TP_SCRATCH(arena, double, (size_t)rows* n);
    tree->upper = TP_SCRATCH(arena, double, (size_t)rows* n);
    tree->factor = TP_SCRATCH(arena, double, factors);
    tree->force = TP_SCRATCH(arena, double, (size_t)bodies* n);
    tree->impulse = TP_SCRATCH(arena, double, rows);
    tree->velocity = TP_SCRATCH(arena, double, (size_t)bodies* n);
    *isTree = !arena->failed;
    return !arena->failed;
}

// Lists the rows of held blocks, and where their directions begin.
static void listRows(tpBodyTree* tree, const bool* isHeld) {
    const tpFrictionIsland* island = tree->island;
    int count = 0, factor = 0, n = island->componentCount;
    for (int k = 0; k < island->bodyCount; ++k) {
        tree->firstRow[k] = count;
        tree->firstFactor[k] = factor;
        for (int i = tree->firstBlock[k]; i < tree->firstBlock[k + 1]; ++i) {
            int b = tree->block[i];
            const int* pair = island->body + (size_t)2 * (size_t)b;
            int side = pair[0] == tree->body[k] ? 0 : 1;
            for (int row = island->row[b]; isHeld[b] && row < island->row[b + 1]; ++row) {
                tree->row[count] = row;
                tree->child[count] = (2 * row + side) * n;
                tree->above[count++] = pair[1 - side] >= 0 ? (2 * row + 1 - side) * n : -1;
            }
        }
        int own = count - tree->firstRow[k];
        factor += own * own;
    }
    tree->firstRow[island->bodyCount] = count;
}

// A = L L^T in place, n x n by rows; diagonals of L inverted. Reads the lower half.
static inline void factorise(int n, double* A) {
    for (int j = 0; j < n; ++j) {
        double pivot = A[j * n + j] - dot(j, A + (size_t)(j * n), A + (size_t)(j * n));
        double inverse = 1.0 / sqrt(pivot > smallestPivot ? pivot : smallestPivot);
        A[j * n + j] = inverse;
        for (int i = j + 1; i < n; ++i) {
            double entry = A[i * n + j] - dot(j, A + (size_t)(i * n), A + (size_t)(j * n));
            A[i * n + j] = entry * inverse;
        }
    }
}

// x <- L^-1 x and x <- L^-T x.
static inline void solveLower(int n, const double* L, double* x) {
    for (int i = 0; i < n; ++i) {
        x[i] = (x[i] - dot(i, L + (size_t)(i * n), x)) * L[i * n + i];
    }
}

static inline void solveUpper(int n, const double* L, double* x) {
    for (int i = n - 1; i >= 0; --i) {
        x[i] *= L[i * n + i];
        addScaled(i, -x[i], L + (size_t)(i * n), x);
    }
}

// Factorises the link of one place, and adds what it gives to its parent's mass.
static inline void factoriseLink(tpBodyTree* tree, int k, int n, double regularisation) {
    const tpFrictionIsland* island = tree->island;
    int first = tree->firstRow[k], m = tree->firstRow[k + 1] - first;
    double* L = tree->mass + (size_t)(k * n * n);
    double* K = tree->factor + tree->firstFactor[k];
    double* a = tree->lower + (size_t)(first * n);
    double* Y = tree->upper + (size_t)(first * n);
    if (!tree->isUnit[k]) {
        factorise(n, L);
    }
    for (int i = 0; i < m; ++i) {
        memcpy(a + (size_t)(i * n), island->jacobian + tree->child[first + i],
               sizeof(double) * (size_t)n);
        if (!tree->isUnit[k]) {
            solveLower(n, L, a + (size_t)(i * n));
        }
        for (int j = 0; j <= i; ++j) {
            K[i * m + j] = dot(n, a + (size_t)(i * n), a + (size_t)(j * n));
        }
        K[i * m + i] +=
            regularisation +
            (island->compliance != NULL ? island->compliance[tree->row[first + i]] : 0.0);
    }
    factorise(m, K);
    if (tree->parent[k] < 0) {
        return;
    }
    double* M = tree->mass + (size_t)(tree->parent[k] * n * n);
    tree->isUnit[tree->parent[k]] = false;
    for (int i = 0; i < m; ++i) {
        double* y = Y + (size_t)(i * n);
        memcpy(y, island->jacobian + tree->above[first + i], sizeof(double) * (size_t)n);
        for (int j = 0; j < i; ++j) {
            addScaled(n, -K[i * m + j], Y + (size_t)(j * n), y);
        }
        for (int c = 0; c < n; ++c) {
            y[c] *= K[i * m + i];
        }
        for (int c = 0; c < n; ++c) {
            addScaled(n, y[c], y, M + (size_t)(c * n));
        }
    }
}

void tpBodyTree_Factorise(tpBodyTree* tree, const bool* isHeld, double regularisation) {
    int n = tree->island->componentCount, bodies = tree->island->bodyCount;
    listRows(tree, isHeld);
    memset(tree->mass, 0, sizeof(double) * (size_t)(bodies * n * n));
    for (int k = 0; k < bodies; ++k) {
        tree->isUnit[k] = true;
        for (int c = 0; c < n; ++c) {
            tree->mass[(k * n + c) * n + c] = 1.0;
        }
    }
    tree->work = 0.0;
    for (int k = bodies - 1; k >= 0; --k) {
        if (n == 6) {
            factoriseLink(tree, k, 6, regularisation);
        } else {
            factoriseLink(tree, k, n, regularisation);
        }
        double m = tree->firstRow[k + 1] - tree->firstRow[k];
        tree->work += (double)(n * n * n) / 6.0 + m * (double)(n * n) * 1.5 + m * m * (double)n +
                      m * m * m / 6.0;
    }
}

// One body on the way to the root: y = L^-1 force stays in its place, z = K^-1 (z - a y) in its
// rows, and the parent gets Y^T z.
static inline void goUp(const tpBodyTree* tree, int k, int n, double* y, double* z,
                        double* parent) {
    int first = tree->firstRow[k], m = tree->firstRow[k + 1] - first;
    if (!tree->isUnit[k]) {
        solveLower(n, tree->mass + (size_t)(k * n * n), y);
    }
    for (int i = 0; i < m; ++i) {
        z[i] -= dot(n, tree->lower + (size_t)((first + i) * n), y);
    }
    solveLower(m, tree->factor + tree->firstFactor[k], z);
    for (int i = 0; parent != NULL && i < m; ++i) {
        addScaled(n, z[i], tree->upper + (size_t)((first + i) * n), parent);
    }
}

// And back: the rows' impulses for the parent's velocity, and the velocity of the body.
static inline void goDown(const tpBodyTree* tree, int k, int n, double* y, double* z,
                          const double* parent) {
    int first = tree->firstRow[k], m = tree->firstRow[k + 1] - first;
    for (int i = 0; parent != NULL && i < m; ++i) {
        z[i] -= dot(n, tree->upper + (size_t)((first + i) * n), parent);
    }
    solveUpper(m, tree->factor + tree->firstFactor[k], z);
    for (int i = 0; i < m; ++i) {
        addScaled(n, z[i], tree->lower + (size_t)((first + i) * n), y);
    }
    if (!tree->isUnit[k]) {
        solveUpper(n, tree->mass + (size_t)(k * n * n), y);
    }
}

static inline void solveAll(tpBodyTree* tree, int n) {
    int bodies = tree->island->bodyCount;
    for (int k = bodies - 1; k >= 0; --k) {
        int parent = tree->parent[k];
        goUp(tree, k, n, tree->force + (size_t)(k * n), tree->impulse + tree->firstRow[k],
             parent >= 0 ? tree->force + (size_t)(parent * n) : NULL);
    }
    for (int k = 0; k < bodies; ++k) {
        int parent = tree->parent[k];
        goDown(tree, k, n, tree->force + (size_t)(k * n), tree->impulse + tree->firstRow[k],
               parent >= 0 ? tree->force + (size_t)(parent * n) : NULL);
        memcpy(tree->velocity + (size_t)(tree->body[k] * n), tree->force + (size_t)(k * n),
               sizeof(double) * (size_t)n);
    }
}

void tpBodyTree_Solve(tpBodyTree* tree, double* x) {
    int n = tree->island->componentCount, bodies = tree->island->bodyCount;
    int rows = tree->firstRow[bodies];
    memset(tree->force, 0, sizeof(double) * (size_t)(bodies * n));
    for (int i = 0; i < rows; ++i) {
        tree->impulse[i] = x[tree->row[i]];
    }
    if (n == 6) {
        solveAll(tree, 6);
    } else {
        solveAll(tree, n);
    }
    for (int i = 0; i < rows; ++i) {
        x[tree->row[i]] = tree->impulse[i];
    }
}

// What a unit of a row's impulse leaves on the ways from its bodies to the root: y and z of each
// place on them, from the outside in. With K the matrix of the whole system, f^T K^-1 h is the sum
// of y . y less that of z . z over the places that the ways of f and h share.
typedef struct tpTreeWay {
    int first, count; // in the lists of places and of where their numbers begin
} tpTreeWay;

typedef struct tpTreeWays {
    int* places;
    size_t* starts; // of y, then z
    double* numbers;
    int placeCount;
    size_t numberCount;
} tpTreeWays;

static int rowsAt(const tpBodyTree* tree, int k) {
    return tree->firstRow[k + 1] - tree->firstRow[k];
}

// The longest way of any block: places, and the numbers on it.
static void measureWay(const tpBodyTree* tree, const int* pair, int* places, size_t* numbers) {
    *places = 0;
    *numbers = 0;
    for (int side = 0; side < 2; ++side) {
        for (int k = pair[side] >= 0 ? tree->place[pair[side]] : -1; k >= 0; k = tree->parent[k]) {
            *places += 1;
            *numbers += (size_t)(tree->island->componentCount + rowsAt(tree, k));
        }
    }
}

// The way of one row. Places come in descending order: the farther of two heads moves on.
static tpTreeWay findWay(const tpBodyTree* tree, int block, int row, tpTreeWays* ways) {
    const tpFrictionIsland* island = tree->island;
    int n = island->componentCount;
    tpTreeWay way = { ways->placeCount, 0 };
    int heads[2];
    for (int side = 0; side < 2; ++side) {
        int body = island->body[2 * block + side];
        heads[side] = body >= 0 ? tree->place[body] : -1;
    }
    double carried[2][TP_FRICTION_MAX_ROWS] = { { 0.0 } };
    for (int side = 0; side < 2; ++side) {
        if (heads[side] >= 0) {
            memcpy(carried[side], island->jacobian + (size_t)(2 * row + side) * (size_t)n,
                   sizeof(double) * (size_t)n);
        }
    }
    while (heads[0] >= 0 || heads[1] >= 0) {
        int side = heads[0] >= heads[1] ? 0 : 1, k = heads[side];
        double* y = ways->numbers + ways->numberCount;
        memcpy(y, carried[side], sizeof(double) * (size_t)n);
        if (heads[0] == heads[1]) {
            addScaled(n, 1.0, carried[1 - side], y);
            heads[1 - side] = -1;
        }
        double* z = y + n;
        memset(z, 0, sizeof(double) * (size_t)rowsAt(tree, k));
        memset(carried[side], 0, sizeof(carried[side]));
        bool hasParent = tree->parent[k] >= 0;
        if (n == 6) {
            goUp(tree, k, 6, y, z, hasParent ? carried[side] : NULL);
        } else {
            goUp(tree, k, n, y, z, hasParent ? carried[side] : NULL);
        }
        ways->places[ways->placeCount] = k;
        ways->starts[ways->placeCount++] = ways->numberCount;
        ways->numberCount += (size_t)(n + rowsAt(tree, k));
        way.count += 1;
        heads[side] = tree->parent[k];
    }
    return way;
}

static double response(const tpBodyTree* tree, const tpTreeWays* ways, tpTreeWay a, tpTreeWay b) {
    int n = tree->island->componentCount, i = a.first, j = b.first;
    double sum = 0.0;
    while (i < a.first + a.count && j < b.first + b.count) {
        int k = ways->places[i];
        if (k == ways->places[j]) {
            const double* x = ways->numbers + ways->starts[i++];
            const double* y = ways->numbers + ways->starts[j++];
            sum += (n == 6 ? dot(6, x, y) : dot(n, x, y)) - dot(rowsAt(tree, k), x + n, y + n);
        } else if (k > ways->places[j]) {
            i += 1;
        } else {
            j += 1;
        }
    }
    return sum;
}

bool tpBodyTree_Reduce(tpBodyTree* tree, int blockCount, const int* blocks, const int* firstRows,
                       tpArena* arena, double* S) {
    const tpFrictionIsland* island = tree->island;
    int size = firstRows[blockCount];
    size_t places = 0, numbers = 0;
    for (int j = 0; j < blockCount; ++j) {
        int ownPlaces;
        size_t ownNumbers, rows = (size_t)tpFrictionIsland_Rows(island, blocks[j]);
        measureWay(tree, island->body + (size_t)2 * (size_t)blocks[j], &ownPlaces, &ownNumbers);
        places += rows * (size_t)ownPlaces;
        numbers += rows * ownNumbers;
    }
    tpTreeWays ways = { 0 };
    ways.places = TP_SCRATCH(arena, int, places);
    ways.starts = TP_SCRATCH(arena, size_t, places);
    ways.numbers = TP_SCRATCH(arena, double, numbers);
    tpTreeWay* ofRows = TP_SCRATCH(arena, tpTreeWay, size);
    if (arena->failed) {
        return false;
    }
    for (int j = 0; j < blockCount; ++j) {
        for (int c = 0; c < firstRows[j + 1] - firstRows[j]; ++c) {
            int row = island->row[blocks[j]] + c, column = firstRows[j] + c;
            ofRows[column] = findWay(tree, blocks[j], row, &ways);
            for (int i = 0; i <= column; ++i) {
                double entry = response(tree, &ways, ofRows[i], ofRows[column]);
                S[(size_t)column * (size_t)size + (size_t)i] = entry;
                S[(size_t)i * (size_t)size + (size_t)column] = entry;
            }
            S[(size_t)column * (size_t)size + (size_t)column] +=
                island->compliance != NULL ? island->compliance[row] : 0.0;
        }
    }
    return true;
}
