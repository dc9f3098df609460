// A friction problem given by bodies into islands: W = J M^-1 J^T is not formed.
//
// With M^-1 = L L^T of each body, G = S J L has W' = G G^T: bodies have unit mass in the
// coordinates L^-1 v. A body whose inverse mass is zero couples nothing. Islands are bodies
// connected by blocks.

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "complementarity/island_store.h"
#include "math/pairs.h"

// A pivot of the inverse mass below this part of its diagonal entry is rounding of a zero.
static const double smallestPivot = 1e-14;

typedef struct BodyBuilder {
    const tpFrictionProblem* problem;
    tpArena* arena;
    int blockCount;
    int rowCount;
    int componentCount;
    int* row;       // first row of each block
    double* root;   // L of each body
    bool* isMoving; // of each body: its inverse mass is not zero
    int* parent;    // forest of bodies, then of blocks without any
    int* localBody; // number of a body in its island
} BodyBuilder;

// Lower L with L L^T = A for a symmetric positive semidefinite A. False where A is zero.
static inline bool factorMass(int n, const double* A, double* L) {
    bool isMoving = false;
    memset(L, 0, sizeof(double) * (size_t)(n * n));
    for (int j = 0; j < n; ++j) {
        double pivot = A[j * n + j];
        for (int k = 0; k < j; ++k) {
            pivot -= L[j * n + k] * L[j * n + k];
        }
        if (!(pivot > smallestPivot * A[j * n + j])) {
            continue;
        }
        isMoving = true;
        double root = sqrt(pivot);
        L[j * n + j] = root;
        for (int i = j + 1; i < n; ++i) {
            double sum = 0.5 * (A[i * n + j] + A[j * n + i]);
            for (int k = 0; k < j; ++k) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            L[i * n + j] = sum / root;
        }
    }
    return isMoving;
}

// The bodies of a block that can move: -1 for the others, and for the second of two equal ones.
static void movingBodies(const BodyBuilder* builder, int block, int pair[2]) {
    const tpFrictionBodies* bodies = builder->problem->bodies;
    pair[0] = bodies->bodyA[block];
    pair[1] = bodies->bodyB[block];
    for (int side = 0; side < 2; ++side) {
        if (pair[side] >= 0 && !builder->isMoving[pair[side]]) {
            pair[side] = -1;
        }
    }
    if (pair[0] == pair[1]) {
        pair[1] = -1;
    }
}

static bool prepare(BodyBuilder* builder) {
    const tpFrictionProblem* problem = builder->problem;
    const tpFrictionBodies* bodies = problem->bodies;
    tpArena* arena = builder->arena;
    int n = builder->componentCount = bodies->componentCount;
    builder->blockCount = problem->blockCount;
    builder->row = TP_SCRATCH(arena, int, problem->blockCount + 1);
    builder->root = TP_SCRATCH(arena, double, bodies->bodyCount* n* n);
    builder->isMoving = TP_SCRATCH(arena, bool, bodies->bodyCount);
    builder->parent = TP_SCRATCH(arena, int, bodies->bodyCount + problem->blockCount);
    builder->localBody = TP_SCRATCH(arena, int, bodies->bodyCount);
    if (arena->failed) {
        return false;
    }
    int row = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        builder->row[b] = row;
        row += problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
    }
    builder->row[problem->blockCount] = row;
    builder->rowCount = row;
    for (int i = 0; i < bodies->bodyCount + problem->blockCount; ++i) {
        builder->parent[i] = i;
    }
    for (int i = 0; i < bodies->bodyCount; ++i) {
        size_t at = (size_t)i * (size_t)(n * n);
        const double* A = bodies->inverseMass + at;
        builder->isMoving[i] =
            n == 6 ? factorMass(6, A, builder->root + at) : factorMass(n, A, builder->root + at);
    }
    return true;
}

// The node of the forest that stands for a block: its first moving body, or itself.
static int nodeOf(const BodyBuilder* builder, int block) {
    int pair[2];
    movingBodies(builder, block, pair);
    return pair[0] >= 0   ? pair[0]
           : pair[1] >= 0 ? pair[1]
                          : builder->problem->bodies->bodyCount + block;
}

// Islands numbered by their first block; `source` lists blocks island by island, ascending inside.
static int orderIslands(BodyBuilder* builder, int* islandOf, int* islandStart, int* source) {
    int n = builder->blockCount, islands = 0;
    int nodes = builder->problem->bodies->bodyCount + n;
    for (int b = 0; b < n; ++b) {
        int pair[2];
        movingBodies(builder, b, pair);
        if (pair[0] >= 0 && pair[1] >= 0) {
            int x = tpForest_Root(builder->parent, pair[0]),
                y = tpForest_Root(builder->parent, pair[1]);
            builder->parent[x > y ? x : y] = x > y ? y : x;
        }
    }
    for (int i = 0; i < nodes; ++i) {
        islandOf[i] = -1;
    }
    memset(islandStart, 0, sizeof(int) * (size_t)(n + 2));
    for (int b = 0; b < n; ++b) {
        int root = tpForest_Root(builder->parent, nodeOf(builder, b));
        if (islandOf[root] < 0) {
            islandOf[root] = islands++;
        }
        ++islandStart[islandOf[root] + 2];
    }
    for (int i = 0; i < islands; ++i) {
        islandStart[i + 2] += islandStart[i + 1];
    }
    for (int b = 0; b < n; ++b) {
        int root = tpForest_Root(builder->parent, nodeOf(builder, b));
        source[islandStart[islandOf[root] + 1]++] = b;
    }
    return islands;
}

// The islands' arrays, one after the other in common memory.
typedef struct BodyStore {
    tpIslandStore common;
    int* body;
    double *compliance, *jacobian, *velocity;
} BodyStore;

static bool allocateStore(const BodyBuilder* builder, int islandCount, BodyStore* store) {
    tpArena* arena = builder->arena;
    int n = builder->blockCount, rows = builder->rowCount;
    *store = (BodyStore){ 0 };
    store->body = TP_SCRATCH(arena, int, 2 * n);
    if (builder->problem->compliance != NULL) {
        store->compliance = TP_SCRATCH(arena, double, rows);
    }
    store->jacobian = TP_SCRATCH_ZEROED(arena, double, rows * 2 * builder->componentCount);
    store->velocity =
        TP_SCRATCH(arena, double, builder->problem->bodies->bodyCount * builder->componentCount);
    return tpIslandStore_Reserve(&store->common, arena, n, rows, islandCount);
}

// G += e J L of bodies in space, two columns at once. Zeros of L right of its diagonal, but for one
// beside it, are left out: J is finite.
static inline void addSpatial(double e, const double* J, const double* L, double* G) {
    tpPair sum[3] = { { 0.0, 0.0 }, { 0.0, 0.0 }, { 0.0, 0.0 } };
    for (int c = 0; c < 6; ++c) {
        for (int p = 0; p <= c / 2; ++p) {
            sum[p] += J[c] * tpLoadPair(L + 6 * c + 2 * p);
        }
    }
    for (int p = 0; p < 3; ++p) {
        tpPair out = tpLoadPair(G + 2 * p) + e * sum[p];
        memcpy(G + 2 * p, &out, sizeof(out));
    }
}

// The same of any number of components.
static inline void addProduct(int componentCount, double e, const double* J, const double* L,
                              double* G) {
    double sum[6] = { 0.0 };
    for (int c = 0; c < componentCount; ++c) {
        for (int a = 0; a < componentCount; ++a) {
            sum[a] += J[c] * L[c * componentCount + a]; // zero above the diagonal
        }
    }
    for (int a = 0; a < componentCount; ++a) {
        G[a] += e * sum[a];
    }
}

static inline double dotRows(int width, const double* x, const double* y) {
    double sum = 0.0;
    for (int a = 0; a < width; ++a) {
        sum += x[a] * y[a];
    }
    return sum;
}

// G of one block without the block's scale, e J L; two bodies that are one go to the first side.
static void formJacobian(const BodyBuilder* builder, int block, const int pair[2], double* G) {
    const tpFrictionProblem* problem = builder->problem;
    const tpFrictionBodies* bodies = problem->bodies;
    int componentCount = builder->componentCount;
    int given[2] = { bodies->bodyA[block], bodies->bodyB[block] };
    for (int row = builder->row[block]; row < builder->row[block + 1];
         ++row, G += 2 * componentCount) {
        double e = problem->scale != NULL ? problem->scale[row] : 1.0;
        for (int side = 0; side < 2; ++side) {
            int body = given[side];
            int target = body == pair[0] ? 0 : 1;
            if (body < 0 || body != pair[target]) {
                continue;
            }
            const double* J = (side == 0 ? bodies->jacobianA : bodies->jacobianB) +
                              (size_t)row * (size_t)componentCount;
            const double* L =
                builder->root + (size_t)body * (size_t)(componentCount * componentCount);
            if (componentCount == 6) {
                addSpatial(e, J, L, G + (size_t)(6 * target));
            } else {
                addProduct(componentCount, e, J, L, G + (size_t)(target * componentCount));
            }
        }
    }
}

// Fills block b of an island from block `from` of the problem. Returns its scale s.
static double fillBlock(const BodyBuilder* builder, BodyStore* store, int b, int from, int row) {
    const tpFrictionProblem* problem = builder->problem;
    int n = builder->row[from + 1] - builder->row[from], width = 2 * builder->componentCount;
    int pair[2];
    movingBodies(builder, from, pair);
    double* G = store->jacobian + (size_t)(row * width);
    formJacobian(builder, from, pair, G);
    int used = pair[1] >= 0 ? width : builder->componentCount; // the rest of each row is zero
    double* W = store->common.diagonal + (size_t)b * tp_diagonalStride;
    double trace = 0.0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            const double *x = G + (size_t)(i * width), *y = G + (size_t)(j * width);
            W[i * n + j] = W[j * n + i] = used == 6    ? dotRows(6, x, y)
                                          : used == 12 ? dotRows(12, x, y)
                                                       : dotRows(used, x, y);
        }
        if (store->compliance != NULL) {
            int source = builder->row[from] + i;
            double e = problem->scale != NULL ? problem->scale[source] : 1.0;
            store->compliance[row + i] = e * e * problem->compliance[source];
            W[i * n + i] += store->compliance[row + i];
        }
        trace += W[i * n + i];
    }
    double s = trace > 0.0 ? sqrt((double)n / trace) : 1.0;
    for (int i = 0; i < n * width; ++i) {
        G[i] *= s;
    }
    for (int i = 0; i < n * n; ++i) {
        W[i] *= s * s;
    }
    for (int i = 0; store->compliance != NULL && i < n; ++i) {
        store->compliance[row + i] *= s * s;
    }
    tpIslandStore_SetLaw(&store->common, problem, b, from);
    store->common.weight[b] = 1.0 / (s * s);
    for (int side = 0; side < 2; ++side) {
        store->body[2 * b + side] = pair[side] >= 0 ? builder->localBody[pair[side]] : -1;
    }
    return s;
}

static bool isRigid(const double* compliance, int rows) {
    for (int i = 0; compliance != NULL && i < rows; ++i) {
        if (compliance[i] != 0.0) {
            return false;
        }
    }
    return true;
}

static void fillIsland(tpFrictionSystem* system, BodyBuilder* builder, BodyStore* store,
                       int firstBlock, int firstRow, int blockCount, tpFrictionIsland* island) {
    const int* source = system->source + firstBlock;
    int bodyCount = 0, rows = 0;
    for (int b = 0; b < blockCount; ++b) {
        int pair[2];
        movingBodies(builder, source[b], pair);
        for (int side = 0; side < 2; ++side) {
            if (pair[side] >= 0 && builder->localBody[pair[side]] < 0) {
                builder->localBody[pair[side]] = bodyCount++;
            }
        }
    }
    for (int b = 0; b < blockCount; ++b) {
        int from = source[b], n = builder->row[from + 1] - builder->row[from];
        store->common.row[b] = rows;
        double s = fillBlock(builder, store, b, from, rows);
        for (int i = 0; i < n; ++i) {
            int row = builder->row[from] + i;
            double scale =
                tpFrictionSystem_SetRow(system, builder->problem, firstRow + rows + i, row, s);
            store->common.q[rows + i] = scale * builder->problem->q[row];
        }
        rows += n;
    }
    *island = tpIslandStore_Take(&store->common, blockCount, rows);
    island->bodyCount = bodyCount;
    island->componentCount = builder->componentCount;
    island->body = store->body;
    island->jacobian = store->jacobian;
    island->compliance = isRigid(store->compliance, rows) ? NULL : store->compliance;
    island->velocity = store->velocity;
    store->body += 2 * blockCount;
    store->compliance = store->compliance != NULL ? store->compliance + rows : NULL;
    store->jacobian += (size_t)rows * 2 * (size_t)builder->componentCount;
    store->velocity += bodyCount * builder->componentCount;
}

bool tpFrictionSystem_BuildByBodies(tpFrictionSystem* system, const tpFrictionProblem* problem,
                                    tpArena* arena) {
    BodyBuilder builder = { .problem = problem, .arena = arena };
    if (!prepare(&builder)) {
        return false;
    }
    int n = builder.blockCount, bodyCount = problem->bodies->bodyCount;
    int* islandOf = TP_SCRATCH(arena, int, n + bodyCount);
    int* islandStart = TP_SCRATCH(arena, int, n + 2);
    if (!tpFrictionSystem_Start(system, arena, n, builder.rowCount)) {
        return false;
    }
    system->islandCount = orderIslands(&builder, islandOf, islandStart, system->source);
    system->islands = TP_SCRATCH_ZEROED(arena, tpFrictionIsland, system->islandCount);
    BodyStore store;
    if (system->islands == NULL || !allocateStore(&builder, system->islandCount, &store)) {
        return false;
    }
    for (int i = 0; i < bodyCount; ++i) {
        builder.localBody[i] = -1;
    }
    for (int i = 0, row = 0; i < system->islandCount; ++i) {
        int begin = islandStart[i], end = islandStart[i + 1];
        fillIsland(system, &builder, &store, begin, row, end - begin, &system->islands[i]);
        row += system->islands[i].rowCount;
    }
    return true;
}
