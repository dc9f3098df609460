// A friction problem into islands: pattern of blocks, connected components, scaled values.
//
// First the pattern of coupled blocks by columns, from the matrix or from the bodies that blocks
// share; made symmetric, with every diagonal block in it. Then union-find gives the islands. Last the
// values are written into the islands' own order, scaled. Blocks that are zero through and through do
// not couple.

#include <math.h>
#include <string.h>

#include "complementarity/friction_island.h"

// Where the rows and blocks of the problem stand, and the pattern found.
typedef struct Builder {
    const tpFrictionProblem* problem;
    tpArena* arena;
    int blockCount;
    int rowCount;
    int* row;           // first row of each block, blockCount + 1
    int* blockOfRow;    // of each row
    int* bodyStart;     // blocks of each body, by bodies
    int* bodyBlocks;    //
    int* columnStart;   // pattern, symmetric, rows ascending
    int* blockRow;      //
    double* trace;      // of each diagonal block, elliptic scale included
    double* columnWork; // one column of blocks: rows x 4
} Builder;

static int rowsOf(const Builder* builder, int block) {
    return builder->row[block + 1] - builder->row[block];
}

static double ellipse(const tpFrictionProblem* problem, int row) {
    return problem->scale != NULL ? problem->scale[row] : 1.0;
}

static bool layOutRows(Builder* builder) {
    const tpFrictionProblem* problem = builder->problem;
    builder->blockCount = problem->blockCount;
    builder->rowCount = tpFriction_RowCount(problem);
    builder->row = TP_SCRATCH(builder->arena, int, builder->blockCount + 1);
    builder->blockOfRow = TP_SCRATCH(builder->arena, int, builder->rowCount);
    builder->trace = TP_SCRATCH(builder->arena, double, builder->blockCount);
    builder->columnWork =
        TP_SCRATCH_ZEROED(builder->arena, double, builder->rowCount* TP_FRICTION_MAX_ROWS);
    if (builder->arena->failed) {
        return false;
    }
    int row = 0;
    for (int b = 0; b < builder->blockCount; ++b) {
        int rows = problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        builder->row[b] = row;
        for (int i = 0; i < rows; ++i) {
            builder->blockOfRow[row + i] = b;
        }
        row += rows;
    }
    builder->row[builder->blockCount] = row;
    return true;
}

// Blocks of each body, ascending.
static bool listBodies(Builder* builder) {
    const tpFrictionBodies* bodies = builder->problem->bodies;
    builder->bodyStart = TP_SCRATCH_ZEROED(builder->arena, int, bodies->bodyCount + 2);
    builder->bodyBlocks = TP_SCRATCH(builder->arena, int, 2 * builder->blockCount);
    if (builder->arena->failed) {
        return false;
    }
    int* start = builder->bodyStart;
    for (int pass = 0; pass < 2; ++pass) {
        for (int b = 0; b < builder->blockCount; ++b) {
            int pair[2] = { bodies->bodyA[b], bodies->bodyB[b] };
            for (int side = 0; side < 2; ++side) {
                if (pair[side] < 0 || (side == 1 && pair[1] == pair[0])) {
                    continue;
                }
                if (pass == 0) {
                    ++start[pair[side] + 2];
                } else {
                    builder->bodyBlocks[start[pair[side] + 1]++] = b;
                }
            }
        }
        if (pass == 0) {
            for (int body = 0; body < bodies->bodyCount; ++body) {
                start[body + 2] += start[body + 1];
            }
        }
    }
    return true;
}

// Visits the blocks coupled to block j in any order, each once. `mark` holds j + 1 for those seen.
static int coupledBlocks(const Builder* builder, int j, int* mark, int* found) {
    const tpFrictionProblem* problem = builder->problem;
    int count = 0;
    mark[j] = j + 1;
    found[count++] = j;
    if (problem->W == NULL) {
        const tpFrictionBodies* bodies = problem->bodies;
        int pair[2] = { bodies->bodyA[j], bodies->bodyB[j] };
        for (int side = 0; side < 2; ++side) {
            if (pair[side] < 0) {
                continue;
            }
            for (int k = builder->bodyStart[pair[side]]; k < builder->bodyStart[pair[side] + 1];
                 ++k) {
                int i = builder->bodyBlocks[k];
                if (mark[i] != j + 1) {
                    mark[i] = j + 1;
                    found[count++] = i;
                }
            }
        }
        return count;
    }
    const tpMatrix* W = problem->W;
    for (int column = builder->row[j]; column < builder->row[j + 1]; ++column) {
        bool dense = W->columnStarts == NULL;
        int begin = dense ? 0 : W->columnStarts[column];
        int end = dense ? W->rowCount : W->columnStarts[column + 1];
        for (int k = begin; k < end; ++k) {
            int row = dense ? k : W->rowIndices[k];
            double entry =
                dense ? W->values[(size_t)column * (size_t)W->leading + (size_t)k] : W->values[k];
            int i = builder->blockOfRow[row];
            if (entry != 0.0 && mark[i] != j + 1) {
                mark[i] = j + 1;
                found[count++] = i;
            }
        }
    }
    return count;
}

// Adds the transposed pattern to a pattern by columns. Gives columns with ascending rows.
static bool symmetrise(Builder* builder, const int* start, const int* rows, int* mark) {
    int n = builder->blockCount;
    tpArena* arena = builder->arena;
    int total = start[n];
    int* transposedStart = TP_SCRATCH_ZEROED(arena, int, n + 2);
    int* transposed = TP_SCRATCH(arena, int, total);
    builder->columnStart = TP_SCRATCH_ZEROED(arena, int, n + 2);
    if (arena->failed) {
        return false;
    }
    for (int k = 0; k < total; ++k) {
        ++transposedStart[rows[k] + 2];
    }
    for (int i = 0; i < n; ++i) {
        transposedStart[i + 2] += transposedStart[i + 1];
    }
    for (int j = 0; j < n; ++j) {
        for (int k = start[j]; k < start[j + 1]; ++k) {
            transposed[transposedStart[rows[k] + 1]++] = j;
        }
    }
    // Count the union, then write it row by row of the union's transpose, which sorts it.
    memset(mark, 0, sizeof(int) * (size_t)n);
    int* out = NULL;
    int* place = builder->columnStart;
    for (int pass = 0; pass < 2; ++pass) {
        memset(mark, 0, sizeof(int) * (size_t)n);
        for (int j = 0; j < n; ++j) {
            const int* lists[2] = { rows + start[j], transposed + transposedStart[j] };
            int counts[2] = { start[j + 1] - start[j],
                              transposedStart[j + 1] - transposedStart[j] };
            for (int side = 0; side < 2; ++side) {
                for (int k = 0; k < counts[side]; ++k) {
                    int i = lists[side][k];
                    if (mark[i] == j + 1) {
                        continue;
                    }
                    mark[i] = j + 1;
                    if (pass == 0) {
                        ++place[i + 2];
                    } else {
                        out[place[i + 1]++] = j;
                    }
                }
            }
        }
        if (pass == 0) {
            for (int i = 0; i < n; ++i) {
                place[i + 2] += place[i + 1];
            }
            out = TP_SCRATCH(arena, int, place[n + 1]);
            if (out == NULL) {
                return false;
            }
        }
    }
    builder->blockRow = out;
    return true;
}

static bool findPattern(Builder* builder) {
    int n = builder->blockCount;
    tpArena* arena = builder->arena;
    int* mark = TP_SCRATCH_ZEROED(arena, int, n);
    int* found = TP_SCRATCH(arena, int, n);
    int* start = TP_SCRATCH(arena, int, n + 1);
    if (arena->failed) {
        return false;
    }
    int total = 0;
    for (int j = 0; j < n; ++j) {
        start[j] = total;
        total += coupledBlocks(builder, j, mark, found);
    }
    start[n] = total;
    int* rows = TP_SCRATCH(arena, int, total);
    if (rows == NULL) {
        return false;
    }
    memset(mark, 0, sizeof(int) * (size_t)n);
    for (int j = 0; j < n; ++j) {
        coupledBlocks(builder, j, mark, rows + start[j]);
    }
    return symmetrise(builder, start, rows, mark);
}

// Fills columnWork with the columns of block j (rows x rowsOf(j), row by row), from the matrix.
static void gatherColumn(Builder* builder, int j) {
    const tpMatrix* W = builder->problem->W;
    int n = rowsOf(builder, j);
    for (int c = 0; c < n; ++c) {
        int column = builder->row[j] + c;
        if (W->columnStarts == NULL) {
            for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
                int i = builder->blockRow[k];
                for (int row = builder->row[i]; row < builder->row[i + 1]; ++row) {
                    builder->columnWork[row * 4 + c] =
                        W->values[(size_t)column * (size_t)W->leading + (size_t)row];
                }
            }
        } else {
            for (int k = W->columnStarts[column]; k < W->columnStarts[column + 1]; ++k) {
                builder->columnWork[W->rowIndices[k] * 4 + c] = W->values[k];
            }
        }
    }
}

// The same from bodies: J_i M^-1 J_j^T.
static void formColumn(Builder* builder, int j) {
    const tpFrictionBodies* bodies = builder->problem->bodies;
    int degrees = bodies->degrees, n = rowsOf(builder, j);
    int pair[2] = { bodies->bodyA[j], bodies->bodyB[j] };
    const double* jacobians[2] = { bodies->jacobianA, bodies->jacobianB };
    for (int side = 0; side < 2; ++side) {
        int body = pair[side];
        if (body < 0) {
            continue;
        }
        // P = M^-1 J_j^T, degrees x n.
        double P[6][TP_FRICTION_MAX_ROWS];
        const double* inverse = bodies->inverseMass + (size_t)body * (size_t)(degrees * degrees);
        const double* Jj = jacobians[side] + (size_t)builder->row[j] * (size_t)degrees;
        for (int a = 0; a < degrees; ++a) {
            for (int c = 0; c < n; ++c) {
                double sum = 0.0;
                for (int b = 0; b < degrees; ++b) {
                    sum += inverse[a * degrees + b] * Jj[c * degrees + b];
                }
                P[a][c] = sum;
            }
        }
        for (int k = builder->bodyStart[body]; k < builder->bodyStart[body + 1]; ++k) {
            int i = builder->bodyBlocks[k];
            int sides[2] = { bodies->bodyA[i], bodies->bodyB[i] };
            for (int other = 0; other < 2; ++other) {
                if (sides[other] != body) {
                    continue;
                }
                for (int row = builder->row[i]; row < builder->row[i + 1]; ++row) {
                    const double* Ji = jacobians[other] + (size_t)row * (size_t)degrees;
                    for (int c = 0; c < n; ++c) {
                        double sum = 0.0;
                        for (int a = 0; a < degrees; ++a) {
                            sum += Ji[a] * P[a][c];
                        }
                        builder->columnWork[row * 4 + c] += sum;
                    }
                }
            }
        }
    }
}

static void loadColumn(Builder* builder, int j) {
    if (builder->problem->W != NULL) {
        gatherColumn(builder, j);
    } else {
        formColumn(builder, j);
    }
    const double* compliance = builder->problem->compliance;
    for (int c = 0; compliance != NULL && c < rowsOf(builder, j); ++c) {
        int row = builder->row[j] + c;
        builder->columnWork[row * 4 + c] += compliance[row];
    }
}

static void clearColumn(Builder* builder, int j) {
    for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
        int i = builder->blockRow[k];
        memset(builder->columnWork + (size_t)builder->row[i] * 4, 0,
               sizeof(double) * 4 * (size_t)rowsOf(builder, i));
    }
}

static int findRoot(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// Numbers islands by their first block; order lists blocks island by island, ascending inside.
static int orderIslands(const Builder* builder, int* parent, int* islandOf, int* islandStart,
                        int* order) {
    int n = builder->blockCount, islands = 0;
    for (int j = 0; j < n; ++j) {
        parent[j] = j;
    }
    for (int j = 0; j < n; ++j) {
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            int a = findRoot(parent, j), b = findRoot(parent, builder->blockRow[k]);
            if (a < b) {
                parent[b] = a;
            } else {
                parent[a] = b;
            }
        }
    }
    memset(islandStart, 0, sizeof(int) * (size_t)(n + 2));
    for (int j = 0; j < n; ++j) {
        int root = findRoot(parent, j);
        islandOf[j] = root == j ? islands++ : islandOf[root];
        ++islandStart[islandOf[j] + 2];
    }
    for (int i = 0; i < islands; ++i) {
        islandStart[i + 2] += islandStart[i + 1];
    }
    for (int j = 0; j < n; ++j) {
        order[islandStart[islandOf[j] + 1]++] = j;
    }
    return islands;
}

// The islands' arrays, one after the other in common memory.
typedef struct Store {
    int *row, *columnStart, *blockRow, *value, *diagonal;
    unsigned char* kind;
    double *mu, *q, *weight, *values, *r, *u;
} Store;

static bool allocateStore(const Builder* builder, int islandCount, Store* store) {
    tpArena* arena = builder->arena;
    int n = builder->blockCount, rows = builder->rowCount, blocks = builder->columnStart[n];
    size_t valueCount = 0;
    for (int j = 0; j < n; ++j) {
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            valueCount += (size_t)(rowsOf(builder, j) * rowsOf(builder, builder->blockRow[k]));
        }
    }
    store->row = TP_SCRATCH(arena, int, n + islandCount);
    store->columnStart = TP_SCRATCH(arena, int, n + islandCount);
    store->blockRow = TP_SCRATCH(arena, int, blocks);
    store->value = TP_SCRATCH(arena, int, blocks);
    store->diagonal = TP_SCRATCH(arena, int, n);
    store->kind = TP_SCRATCH(arena, unsigned char, n);
    store->mu = TP_SCRATCH(arena, double, n);
    store->weight = TP_SCRATCH(arena, double, n);
    store->q = TP_SCRATCH(arena, double, rows);
    store->values = TP_SCRATCH(arena, double, valueCount);
    store->r = TP_SCRATCH_ZEROED(arena, double, rows);
    store->u = TP_SCRATCH_ZEROED(arena, double, rows);
    return !arena->failed;
}

// Writes one island's blocks, in order, at the front of the store, and moves the store on.
static void fillIsland(tpFrictionSystem* system, Builder* builder, Store* store, int firstBlock,
                       int firstRow, int blockCount, const int* localBlock,
                       tpFrictionIsland* island) {
    const tpFrictionProblem* problem = builder->problem;
    const int* order = system->source + firstBlock;
    int rows = 0, blocks = 0, values = 0, uniform = rowsOf(builder, order[0]);
    for (int b = 0; b < blockCount; ++b) {
        int j = order[b], n = rowsOf(builder, j);
        uniform = n == uniform ? uniform : 0;
        store->row[b] = rows;
        store->columnStart[b] = blocks;
        store->kind[b] = problem->kinds != NULL ? problem->kinds[j] : tp_frictionCone;
        store->mu[b] = store->kind[b] == tp_frictionCone ? problem->mu[j] : 0.0;
        double trace = builder->trace[j];
        double s = trace > 0.0 ? sqrt((double)n / trace) : 1.0;
        store->weight[b] = 1.0 / (s * s);
        loadColumn(builder, j);
        for (int c = 0; c < n; ++c) {
            int source = builder->row[j] + c;
            system->sourceRow[firstRow + rows + c] = source;
            system->scale[firstRow + rows + c] = s * ellipse(problem, source);
            store->q[rows + c] = system->scale[firstRow + rows + c] * problem->q[source];
        }
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            int i = builder->blockRow[k], m = rowsOf(builder, i);
            double ti = builder->trace[i];
            double si = ti > 0.0 ? sqrt((double)m / ti) : 1.0;
            store->blockRow[blocks] = localBlock[i];
            store->value[blocks] = values;
            if (i == j) {
                store->diagonal[b] = blocks;
            }
            for (int a = 0; a < m; ++a) {
                int row = builder->row[i] + a;
                for (int c = 0; c < n; ++c) {
                    store->values[values++] = si * ellipse(problem, row) *
                                              builder->columnWork[row * 4 + c] *
                                              system->scale[firstRow + rows + c];
                }
            }
            ++blocks;
        }
        clearColumn(builder, j);
        rows += n;
    }
    store->row[blockCount] = rows;
    store->columnStart[blockCount] = blocks;
    *island = (tpFrictionIsland){ .blockCount = blockCount,
                                  .rowCount = rows,
                                  .uniformRows = uniform,
                                  .row = store->row,
                                  .kind = store->kind,
                                  .mu = store->mu,
                                  .q = store->q,
                                  .weight = store->weight,
                                  .columnStart = store->columnStart,
                                  .blockRow = store->blockRow,
                                  .value = store->value,
                                  .values = store->values,
                                  .diagonal = store->diagonal,
                                  .r = store->r,
                                  .u = store->u };
    store->row += blockCount + 1;
    store->columnStart += blockCount + 1;
    store->blockRow += blocks;
    store->value += blocks;
    store->diagonal += blockCount;
    store->kind += blockCount;
    store->mu += blockCount;
    store->weight += blockCount;
    store->q += rows;
    store->values += values;
    store->r += rows;
    store->u += rows;
}

static void findTraces(Builder* builder) {
    for (int j = 0; j < builder->blockCount; ++j) {
        double trace = 0.0;
        loadColumn(builder, j);
        for (int c = 0; c < rowsOf(builder, j); ++c) {
            int row = builder->row[j] + c;
            double e = ellipse(builder->problem, row);
            trace += builder->columnWork[row * 4 + c] * e * e;
        }
        clearColumn(builder, j);
        builder->trace[j] = trace;
    }
}

static double scaledNorm(const tpFrictionProblem* problem, int rowCount) {
    double sum = 0.0;
    for (int i = 0; i < rowCount; ++i) {
        double q = problem->q[i] * ellipse(problem, i);
        sum += q * q;
    }
    return sum > 0.0 ? sqrt(sum) : 1.0;
}

bool tpFrictionSystem_Build(tpFrictionSystem* system, const tpFrictionProblem* problem,
                            tpArena* arena) {
    Builder builder = { .problem = problem, .arena = arena };
    if (!layOutRows(&builder) || (problem->W == NULL && !listBodies(&builder)) ||
        !findPattern(&builder)) {
        return false;
    }
    findTraces(&builder);
    int n = builder.blockCount;
    int* parent = TP_SCRATCH(arena, int, n);
    int* islandOf = TP_SCRATCH(arena, int, n);
    int* islandStart = TP_SCRATCH(arena, int, n + 2);
    *system = (tpFrictionSystem){ .blockCount = n, .rowCount = builder.rowCount };
    system->source = TP_SCRATCH(arena, int, n);
    system->scale = TP_SCRATCH(arena, double, builder.rowCount);
    system->sourceRow = TP_SCRATCH(arena, int, builder.rowCount);
    if (arena->failed) {
        return false;
    }
    system->islandCount = orderIslands(&builder, parent, islandOf, islandStart, system->source);
    system->islands = TP_SCRATCH(arena, tpFrictionIsland, system->islandCount);
    Store store;
    if (system->islands == NULL || !allocateStore(&builder, system->islandCount, &store)) {
        return false;
    }
    int* localBlock = parent; // no longer needed as a forest
    for (int i = 0, row = 0; i < system->islandCount; ++i) {
        int begin = islandStart[i], end = islandStart[i + 1];
        for (int b = begin; b < end; ++b) {
            localBlock[system->source[b]] = b - begin;
        }
        fillIsland(system, &builder, &store, begin, row, end - begin, localBlock,
                   &system->islands[i]);
        row += system->islands[i].rowCount;
    }
    system->qNorm = scaledNorm(problem, builder.rowCount);
    return true;
}

void tpFrictionSystem_Load(tpFrictionSystem* system, const double* r) {
    for (int i = 0, row = 0; i < system->islandCount; ++i) {
        tpFrictionIsland* island = &system->islands[i];
        for (int k = 0; k < island->rowCount; ++k, ++row) {
            island->r[k] = r[system->sourceRow[row]] / system->scale[row];
        }
        tpFrictionIsland_Velocity(island, island->r, island->u);
        island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
    }
}

void tpFrictionSystem_Store(const tpFrictionSystem* system, double* r) {
    for (int i = 0, row = 0; i < system->islandCount; ++i) {
        const tpFrictionIsland* island = &system->islands[i];
        for (int k = 0; k < island->rowCount; ++k, ++row) {
            r[system->sourceRow[row]] = island->r[k] * system->scale[row];
        }
    }
}
