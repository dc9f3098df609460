// A friction problem into islands: pattern of blocks, connected components, scaled values.
//
// First the pattern of coupled blocks by columns, made symmetric, with every diagonal block in it.
// Then union-find gives the islands. Last the values are written into the islands' own order,
// scaled. Blocks that are zero through and through do not couple.

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "complementarity/island_store.h"

// Where the rows and blocks of the problem stand, and the pattern found.
typedef struct MatrixBuilder {
    const tpFrictionProblem* problem;
    tpArena* arena;
    int blockCount;
    int rowCount;
    int* row;           // first row of each block, blockCount + 1
    int* blockOfRow;    // of each row
    int* columnStart;   // pattern, symmetric, rows ascending
    int* blockRow;      //
    double* trace;      // of each diagonal block, elliptic scale included
    double* columnWork; // one column of blocks
} MatrixBuilder;

static int rowsOf(const MatrixBuilder* builder, int block) {
    return builder->row[block + 1] - builder->row[block];
}

static double ellipse(const tpFrictionProblem* problem, int row) {
    return problem->scale != NULL ? problem->scale[row] : 1.0;
}

static bool layOutRows(MatrixBuilder* builder) {
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

// Visits the blocks coupled to block j in any order, each once. `mark` holds j + 1 for those seen.
static int coupledBlocks(const MatrixBuilder* builder, int j, int* mark, int* found) {
    const tpFrictionProblem* problem = builder->problem;
    int count = 0;
    mark[j] = j + 1;
    found[count++] = j;
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
static bool symmetrise(MatrixBuilder* builder, const int* start, const int* rows, int* mark) {
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

static bool findPattern(MatrixBuilder* builder) {
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
static void gatherColumn(MatrixBuilder* builder, int j) {
    const tpMatrix* W = builder->problem->W;
    int n = rowsOf(builder, j);
    for (int c = 0; c < n; ++c) {
        int column = builder->row[j] + c;
        if (W->columnStarts == NULL) {
            for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
                int i = builder->blockRow[k];
                for (int row = builder->row[i]; row < builder->row[i + 1]; ++row) {
                    builder->columnWork[row * TP_FRICTION_MAX_ROWS + c] =
                        W->values[(size_t)column * (size_t)W->leading + (size_t)row];
                }
            }
        } else {
            for (int k = W->columnStarts[column]; k < W->columnStarts[column + 1]; ++k) {
                builder->columnWork[W->rowIndices[k] * TP_FRICTION_MAX_ROWS + c] = W->values[k];
            }
        }
    }
}

static void loadColumn(MatrixBuilder* builder, int j) {
    gatherColumn(builder, j);
    const double* compliance = builder->problem->compliance;
    for (int c = 0; compliance != NULL && c < rowsOf(builder, j); ++c) {
        int row = builder->row[j] + c;
        builder->columnWork[row * TP_FRICTION_MAX_ROWS + c] += compliance[row];
    }
}

static void clearColumn(MatrixBuilder* builder, int j) {
    for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
        int i = builder->blockRow[k];
        memset(builder->columnWork + (size_t)builder->row[i] * TP_FRICTION_MAX_ROWS, 0,
               sizeof(double) * TP_FRICTION_MAX_ROWS * (size_t)rowsOf(builder, i));
    }
}

// Numbers islands by their first block; order lists blocks island by island, ascending inside.
static int orderIslands(const MatrixBuilder* builder, int* parent, int* islandOf, int* islandStart,
                        int* order) {
    int n = builder->blockCount, islands = 0;
    for (int j = 0; j < n; ++j) {
        parent[j] = j;
    }
    for (int j = 0; j < n; ++j) {
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            int a = tpForest_Root(parent, j), b = tpForest_Root(parent, builder->blockRow[k]);
            if (a < b) {
                parent[b] = a;
            } else {
                parent[a] = b;
            }
        }
    }
    memset(islandStart, 0, sizeof(int) * (size_t)(n + 2));
    for (int j = 0; j < n; ++j) {
        int root = tpForest_Root(parent, j);
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
typedef struct MatrixStore {
    tpIslandStore common;
    int *columnStart, *blockRow, *value;
    double* values;
} MatrixStore;

static bool allocateStore(const MatrixBuilder* builder, int islandCount, MatrixStore* store) {
    tpArena* arena = builder->arena;
    int n = builder->blockCount, rows = builder->rowCount, blocks = builder->columnStart[n];
    size_t valueCount = 0;
    for (int j = 0; j < n; ++j) {
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            valueCount += (size_t)(rowsOf(builder, j) * rowsOf(builder, builder->blockRow[k]));
        }
    }
    store->columnStart = TP_SCRATCH(arena, int, n + islandCount);
    store->blockRow = TP_SCRATCH(arena, int, blocks);
    store->value = TP_SCRATCH(arena, int, blocks);
    store->values = TP_SCRATCH(arena, double, valueCount);
    return tpIslandStore_Reserve(&store->common, arena, n, rows, islandCount);
}

// Writes one island's blocks, in order, at the front of the store, and moves the store on.
static void fillIsland(tpFrictionSystem* system, MatrixBuilder* builder, MatrixStore* store,
                       int firstBlock, int firstRow, int blockCount, const int* localBlock,
                       tpFrictionIsland* island) {
    const tpFrictionProblem* problem = builder->problem;
    const int* order = system->source + firstBlock;
    int rows = 0, blocks = 0, values = 0, uniform = rowsOf(builder, order[0]);
    for (int b = 0; b < blockCount; ++b) {
        int j = order[b], n = rowsOf(builder, j);
        uniform = n == uniform ? uniform : 0;
        store->common.row[b] = rows;
        store->columnStart[b] = blocks;
        tpIslandStore_SetLaw(&store->common, problem, b, j);
        double trace = builder->trace[j];
        double s = trace > 0.0 ? sqrt((double)n / trace) : 1.0;
        store->common.weight[b] = 1.0 / (s * s);
        loadColumn(builder, j);
        for (int c = 0; c < n; ++c) {
            int source = builder->row[j] + c;
            double scale = tpFrictionSystem_SetRow(system, problem, firstRow + rows + c, source, s);
            store->common.q[rows + c] = scale * problem->q[source];
        }
        for (int k = builder->columnStart[j]; k < builder->columnStart[j + 1]; ++k) {
            int i = builder->blockRow[k], m = rowsOf(builder, i);
            double ti = builder->trace[i];
            double si = ti > 0.0 ? sqrt((double)m / ti) : 1.0;
            store->blockRow[blocks] = localBlock[i];
            store->value[blocks] = values;
            for (int a = 0; a < m; ++a) {
                int row = builder->row[i] + a;
                for (int c = 0; c < n; ++c) {
                    store->values[values++] = si * ellipse(problem, row) *
                                              builder->columnWork[row * TP_FRICTION_MAX_ROWS + c] *
                                              system->scale[firstRow + rows + c];
                }
            }
            if (i == j) {
                memcpy(store->common.diagonal + (size_t)b * tp_diagonalStride,
                       store->values + values - n * n, sizeof(double) * (size_t)(n * n));
            }
            ++blocks;
        }
        clearColumn(builder, j);
        rows += n;
    }
    store->columnStart[blockCount] = blocks;
    *island = tpIslandStore_Take(&store->common, blockCount, rows);
    island->W = (tpBlockMatrix){ .count = blockCount,
                                 .uniform = uniform,
                                 .row = island->row,
                                 .columnStart = store->columnStart,
                                 .blockRow = store->blockRow,
                                 .value = store->value,
                                 .values = store->values };
    store->columnStart += blockCount + 1;
    store->blockRow += blocks;
    store->value += blocks;
    store->values += values;
}

static void findTraces(MatrixBuilder* builder) {
    const tpMatrix* W = builder->problem->W;
    const double* compliance = builder->problem->compliance;
    memset(builder->trace, 0, sizeof(double) * (size_t)builder->blockCount);
    for (int row = 0; row < builder->rowCount; ++row) {
        double entry = compliance != NULL ? compliance[row] : 0.0;
        if (W->columnStarts == NULL) {
            entry += W->values[(size_t)row * (size_t)W->leading + (size_t)row];
        } else {
            for (int k = W->columnStarts[row]; k < W->columnStarts[row + 1]; ++k) {
                entry += W->rowIndices[k] == row ? W->values[k] : 0.0;
            }
        }
        double e = ellipse(builder->problem, row);
        builder->trace[builder->blockOfRow[row]] += entry * e * e;
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
    MatrixBuilder builder = { .problem = problem, .arena = arena };
    if (problem->W == NULL) {
        bool built = tpFrictionSystem_BuildByBodies(system, problem, arena);
        system->qNorm = built ? scaledNorm(problem, system->rowCount) : 1.0;
        return built;
    }
    if (!layOutRows(&builder) || !findPattern(&builder)) {
        return false;
    }
    findTraces(&builder);
    int n = builder.blockCount;
    int* parent = TP_SCRATCH(arena, int, n);
    int* islandOf = TP_SCRATCH(arena, int, n);
    int* islandStart = TP_SCRATCH(arena, int, n + 2);
    if (!tpFrictionSystem_Start(system, arena, n, builder.rowCount)) {
        return false;
    }
    system->islandCount = orderIslands(&builder, parent, islandOf, islandStart, system->source);
    system->islands = TP_SCRATCH_ZEROED(arena, tpFrictionIsland, system->islandCount);
    MatrixStore store;
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
