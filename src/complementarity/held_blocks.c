#include "complementarity/held_blocks.h"

#include <string.h>

#include "complementarity/block_graph.h"

static const double regularisation = 1e-12;

// With the number of components a constant, the loop unrolls.
static inline double dotRows(int componentCount, const double* x, const double* y) {
    double sum = 0.0;
    for (int k = 0; k < componentCount; ++k) {
        sum += x[k] * y[k];
    }
    return sum;
}

// Adds what blocks i and j share by side `sideI` of one and `sideJ` of the other.
static void addShared(const tpFrictionIsland* island, int i, int sideI, int j, int sideJ,
                      double* W) {
    int rows = tpFrictionIsland_Rows(island, i), columns = tpFrictionIsland_Rows(island, j);
    int n = island->componentCount;
    const double* x = island->jacobian + (size_t)(2 * island->row[i] + sideI) * (size_t)n;
    for (int a = 0; a < rows; ++a, x += 2 * n) {
        const double* y = island->jacobian + (size_t)(2 * island->row[j] + sideJ) * (size_t)n;
        for (int b = 0; b < columns; ++b, y += 2 * n) {
            W[a * columns + b] += n == 6 ? dotRows(6, x, y) : dotRows(n, x, y);
        }
    }
}

// W_ij through the bodies that blocks i and j share, row by row.
static void coupling(const tpFrictionIsland* island, int i, int j, double* W) {
    int rows = tpFrictionIsland_Rows(island, i), columns = tpFrictionIsland_Rows(island, j);
    memset(W, 0, sizeof(double) * (size_t)(rows * columns));
    for (int side = 0; side < 4; ++side) {
        int sideI = side / 2, sideJ = side % 2, body = island->body[2 * i + sideI];
        if (body >= 0 && body == island->body[2 * j + sideJ]) {
            addShared(island, i, sideI, j, sideJ, W);
        }
    }
    for (int a = 0; i == j && a < rows; ++a) {
        W[a * columns + a] +=
            regularisation +
            (island->compliance != NULL ? island->compliance[island->row[i] + a] : 0.0);
    }
}

// What it takes to find a neighbour and to form what it shares: beside its numbers, and of each.
static const double neighbourWork = 100.0, numberWork = 20.0;

// W of an island given by bodies. False if memory ran out.
static bool formW(const tpFrictionIsland* island, tpArena* arena, tpBlockMatrix* W, double* work) {
    int blockCount = island->blockCount;
    int* columnStart = TP_SCRATCH(arena, int, blockCount + 1);
    tpBlockBodies bodies = { island->body, island->body + 1, 2, NULL, NULL };
    tpBlockGraph graph;
    if (columnStart == NULL ||
        !tpBlockGraph_Create(&graph, blockCount, island->bodyCount, &bodies, arena)) {
        return false;
    }
    int entries = 0;
    size_t numbers = 0;
    for (int j = 0; j < blockCount; ++j) {
        columnStart[j] = entries;
        int count;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, j, &count);
        for (int k = 0; k < count; ++k) {
            numbers += (size_t)tpFrictionIsland_Rows(island, j) *
                       (size_t)tpFrictionIsland_Rows(island, neighbours[k]);
        }
        entries += count;
    }
    columnStart[blockCount] = entries;
    *work += neighbourWork * entries + numberWork * (double)numbers;
    int* blockRow = TP_SCRATCH(arena, int, entries);
    int* value = TP_SCRATCH(arena, int, entries);
    double* values = TP_SCRATCH(arena, double, numbers);
    if (arena->failed) {
        return false;
    }
    int place = 0;
    for (int j = 0; j < blockCount; ++j) {
        int count;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, j, &count);
        for (int k = 0; k < count; ++k) {
            int entry = columnStart[j] + k;
            blockRow[entry] = neighbours[k];
            value[entry] = place;
            coupling(island, neighbours[k], j, values + place);
            place +=
                tpFrictionIsland_Rows(island, j) * tpFrictionIsland_Rows(island, neighbours[k]);
        }
    }
    tpBlockMatrix matrix = { blockCount, 0, island->row, columnStart, blockRow, value, values };
    *W = matrix;
    return true;
}

// A cone of two rows whose normal row touches nothing, by its column of W.
static bool isAlone(const tpFrictionIsland* island, int b) {
    const tpBlockMatrix* W = &island->W;
    for (int k = W->columnStart[b]; k < W->columnStart[b + 1]; ++k) {
        int i = W->blockRow[k];
        const double* values = W->values + W->value[k];
        for (int a = 0; a < tpFrictionIsland_Rows(island, i); ++a) {
            bool isOwn = i == b && a == 0;
            if ((!isOwn && values[2 * a] != 0.0) || (isOwn && values[1] != 0.0)) {
                return false;
            }
        }
    }
    return true;
}

bool tpHeldBlocks_IsDrive(const tpHeldBlocks* held, int block) {
    const tpFrictionIsland* island = held->island;
    if (island->kind[block] != tp_frictionCone || tpFrictionIsland_Rows(island, block) != 2) {
        return false;
    }
    if (!tpFrictionIsland_IsByBodies(island)) {
        return isAlone(island, block);
    }
    int n = 2 * island->componentCount;
    const double* G = island->jacobian + (size_t)island->row[block] * (size_t)n;
    for (int a = 0; a < n; ++a) {
        if (G[a] != 0.0) {
            return false;
        }
    }
    return true;
}

bool tpHeldBlocks_Create(tpHeldBlocks* held, const tpFrictionIsland* island, tpArena* arena) {
    *held = (tpHeldBlocks){ .island = island, .arena = arena, .W = island->W };
    if (!tpFrictionIsland_IsByBodies(island)) {
        return true;
    }
    bool* mayHold = TP_SCRATCH(arena, bool, island->blockCount);
    if (mayHold == NULL) {
        return false;
    }
    for (int b = 0; b < island->blockCount; ++b) {
        mayHold[b] = island->kind[b] == tp_frictionFree || tpHeldBlocks_IsDrive(held, b);
    }
    return tpBodyTree_Create(&held->tree, island, mayHold, arena, &held->isTree) &&
           (held->isTree || tpHeldBlocks_W(held) != NULL);
}

const tpBlockMatrix* tpHeldBlocks_W(tpHeldBlocks* held) {
    bool isThere =
        held->W.values != NULL || formW(held->island, held->arena, &held->W, &held->formWork);
    return isThere ? &held->W : NULL;
}

bool tpHeldBlocks_Factorise(tpHeldBlocks* held, const bool* isHeld, double* work) {
    held->isHeld = isHeld;
    if (held->isTree) {
        tpBodyTree_Factorise(&held->tree, isHeld, regularisation);
        *work += held->tree.work;
        return true;
    }
    if (!tpBlockLu_Create(&held->factor, &held->W, held->arena) ||
        !tpBlockLu_Analyse(&held->factor, isHeld)) {
        return false;
    }
    tpBlockLu_Factorise(&held->factor);
    *work += held->factor.work;
    return true;
}

void tpHeldBlocks_Solve(tpHeldBlocks* held, double* x) {
    if (held->isTree) {
        tpBodyTree_Solve(&held->tree, x);
    } else {
        tpBlockLu_Solve(&held->factor, x);
    }
}

void tpHeldBlocks_TakeResponse(const tpHeldBlocks* held, int block, const double* x, double* rows) {
    int n = tpFrictionIsland_Rows(held->island, block);
    if (held->isTree) {
        double response[TP_FRICTION_MAX_ROWS];
        tpFrictionIsland_ReadBodies(held->island, block, held->tree.velocity, response);
        for (int c = 0; c < n; ++c) {
            rows[c] -= response[c];
        }
        return;
    }
    // W is symmetric.
    const tpBlockMatrix* W = &held->W;
    for (int k = W->columnStart[block]; k < W->columnStart[block + 1]; ++k) {
        int i = W->blockRow[k], m = tpFrictionIsland_Rows(held->island, i);
        const double* values = W->values + W->value[k];
        for (int a = 0; held->isHeld[i] && a < m; ++a) {
            for (int c = 0; c < n; ++c) {
                rows[c] -= values[a * n + c] * x[W->row[i] + a];
            }
        }
    }
}

// Column `c` of a block of W: the rows of held blocks into y, those of blocks that have a place
// into `out`.
static void takeColumn(const tpHeldBlocks* held, int block, int c, const int* firstRows,
                       const int* places, double* y, double* out) {
    const tpBlockMatrix* W = &held->W;
    int n = tpFrictionIsland_Rows(held->island, block);
    memset(y, 0, sizeof(double) * (size_t)held->island->rowCount);
    for (int k = W->columnStart[block]; k < W->columnStart[block + 1]; ++k) {
        int i = W->blockRow[k], m = tpFrictionIsland_Rows(held->island, i);
        const double* values = W->values + W->value[k];
        for (int a = 0; a < m; ++a) {
            if (held->isHeld[i]) {
                y[W->row[i] + a] = values[a * n + c];
            } else if (places[i] >= 0) {
                out[firstRows[places[i]] + a] = values[a * n + c];
            }
        }
    }
}

static double dot(int n, const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

// S = W_cc - Y' D^-1 Y with Y = L^-1 W_ec: a column of Y is zero but on the way to the root of the
// elimination.
static bool reduceMatrix(tpHeldBlocks* held, int blockCount, const int* blocks,
                         const int* firstRows, double* S) {
    const tpFrictionIsland* island = held->island;
    int size = firstRows[blockCount];
    size_t rows = (size_t)island->rowCount;
    int* places = TP_SCRATCH(held->arena, int, island->blockCount);
    double* Y = TP_SCRATCH(held->arena, double, (size_t)size* rows);
    double* scaled = TP_SCRATCH(held->arena, double, rows);
    if (held->arena->failed) {
        return false;
    }
    for (int b = 0; b < island->blockCount; ++b) {
        places[b] = -1;
    }
    for (int j = 0; j < blockCount; ++j) {
        places[blocks[j]] = j;
    }
    memset(S, 0, sizeof(double) * (size_t)size * (size_t)size);
    for (int j = 0; j < blockCount; ++j) {
        for (int c = 0; c < firstRows[j + 1] - firstRows[j]; ++c) {
            int column = firstRows[j] + c;
            double* y = Y + (size_t)column * rows;
            double* out = S + (size_t)column * (size_t)size;
            takeColumn(held, blocks[j], c, firstRows, places, y, out);
            tpBlockLu_SolveLower(&held->factor, y);
            memset(scaled, 0, sizeof(double) * rows);
            tpBlockLu_SolveDiagonal(&held->factor, y, scaled);
            for (int i = 0; i <= column; ++i) {
                out[i] -= dot(island->rowCount, Y + (size_t)i * rows, scaled);
            }
        }
    }
    for (int column = 0; column < size; ++column) {
        for (int i = 0; i < column; ++i) {
            S[(size_t)i * (size_t)size + (size_t)column] =
                S[(size_t)column * (size_t)size + (size_t)i];
        }
    }
    return true;
}

bool tpHeldBlocks_Reduce(tpHeldBlocks* held, int blockCount, const int* blocks,
                         const int* firstRows, double* S) {
    return held->isTree
               ? tpBodyTree_Reduce(&held->tree, blockCount, blocks, firstRows, held->arena, S)
               : reduceMatrix(held, blockCount, blocks, firstRows, S);
}
