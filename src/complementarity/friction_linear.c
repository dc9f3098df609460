// The linear system of a Newton step, with W or by bodies. See the header for the equations.

#include "complementarity/friction_linear.h"

#include <string.h>

#include "complementarity/friction_solvers.h"

static bool createWithW(tpFrictionLinear* linear, tpArena* arena) {
    const tpBlockMatrix* W = &linear->island->W;
    int last = W->columnStart[W->count] - 1;
    int n = W->row[W->count] - W->row[W->count - 1];
    int rows = W->row[W->blockRow[last] + 1] - W->row[W->blockRow[last]];
    linear->matrix = *W;
    linear->values = TP_SCRATCH(arena, double, W->value[last] + n * rows);
    linear->matrix.values = linear->values;
    return !arena->failed;
}

// The blocks of each body: those of body i are list[start[i]] .. list[start[i + 1] - 1].
static void listBlocks(const tpFrictionIsland* island, int* start, int* list) {
    int n = island->bodyCount, blocks = island->blockCount;
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < 2 * blocks; ++k) {
            int body = island->body[k];
            if (body >= 0 && pass == 0) {
                ++start[body + 2];
            } else if (body >= 0) {
                list[start[body + 1]++] = k / 2;
            }
        }
        for (int i = 0; pass == 0 && i < n; ++i) {
            start[i + 2] += start[i + 1];
        }
    }
}

// The pattern of bodies that share a block, by columns. Returns the number of its entries.
static int findPattern(const tpFrictionIsland* island, const int* start, const int* list, int* mark,
                       int* columnStart, int* blockRow) {
    int n = island->bodyCount, entries = 0;
    for (int j = 0; j < n; ++j) {
        mark[j] = -1;
    }
    for (int j = 0; j < n; ++j) {
        columnStart[j] = entries;
        mark[j] = j;
        blockRow[entries++] = j;
        for (int k = start[j]; k < start[j + 1]; ++k) {
            const int* pair = island->body + 2 * list[k];
            int other = pair[0] == j ? pair[1] : pair[0];
            if (other >= 0 && mark[other] != j) {
                mark[other] = j;
                blockRow[entries++] = other;
            }
        }
    }
    columnStart[n] = entries;
    return entries;
}

// Where the four products of a block's two bodies stand in the matrix; -1: a body that is fixed.
static void findCouples(const tpFrictionLinear* linear, const tpBlockMatrix* matrix) {
    const tpFrictionIsland* island = linear->island;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int c = 0; c < 4; ++c) {
            int i = island->body[2 * b + c / 2], j = island->body[2 * b + c % 2];
            bool isInside = i >= 0 && j >= 0;
            linear->couple[4 * b + c] = -1;
            for (int k = isInside ? matrix->columnStart[j] : 0;
                 isInside && k < matrix->columnStart[j + 1]; ++k) {
                if (matrix->blockRow[k] == i) {
                    linear->couple[4 * b + c] = matrix->value[k];
                    break;
                }
            }
        }
    }
}

static bool createByBodies(tpFrictionLinear* linear, tpArena* arena) {
    const tpFrictionIsland* island = linear->island;
    int n = island->bodyCount, blocks = island->blockCount, componentCount = island->componentCount;
    int* start = TP_SCRATCH_ZEROED(arena, int, n + 2); // blocks of each body
    int* list = TP_SCRATCH(arena, int, 2 * blocks);
    int* mark = TP_SCRATCH(arena, int, n);
    int* row = TP_SCRATCH(arena, int, n + 1);
    int* columnStart = TP_SCRATCH(arena, int, n + 1);
    int* blockRow = TP_SCRATCH(arena, int, n + 2 * blocks);
    int* value = TP_SCRATCH(arena, int, n + 2 * blocks);
    linear->couple = TP_SCRATCH(arena, int, 4 * blocks);
    linear->inverse = TP_SCRATCH(arena, double, blocks * linear->lawStride);
    linear->response = TP_SCRATCH(arena, double, blocks * linear->lawStride);
    linear->bodyChange = TP_SCRATCH(arena, double, n* componentCount);
    linear->allInPlay = TP_SCRATCH(arena, bool, n);
    if (arena->failed) {
        return false;
    }
    listBlocks(island, start, list);
    int entries = findPattern(island, start, list, mark, columnStart, blockRow);
    int size = componentCount * componentCount;
    for (int j = 0; j <= n; ++j) {
        row[j] = j * componentCount;
    }
    for (int j = 0; j < n; ++j) {
        linear->allInPlay[j] = true;
    }
    for (int k = 0; k < entries; ++k) {
        value[k] = k * size;
    }
    linear->values = TP_SCRATCH(arena, double, entries* size);
    linear->matrix = (tpBlockMatrix){ .count = n,
                                      .uniform = componentCount,
                                      .row = row,
                                      .columnStart = columnStart,
                                      .blockRow = blockRow,
                                      .value = value,
                                      .values = linear->values };
    findCouples(linear, &linear->matrix);
    return !arena->failed;
}

bool tpFrictionLinear_Create(tpFrictionLinear* linear, const tpFrictionIsland* island,
                             tpArena* arena) {
    int largest = 0;
    for (int b = 0; b < island->blockCount; ++b) {
        int rows = tpFrictionIsland_Rows(island, b);
        largest = rows > largest ? rows : largest;
    }
    *linear = (tpFrictionLinear){ .island = island, .lawStride = largest * largest };
    bool created = tpFrictionIsland_IsByBodies(island) ? createByBodies(linear, arena)
                                                       : createWithW(linear, arena);
    return created && tpBlockLu_Create(&linear->factor, &linear->matrix, arena);
}

// Contacts of three rows by their vectors, 6 x 6 blocks in wide registers: in steps of struck
// walls, jenga, wedges and arches a multiply-add, with all else that a step of Newton's method
// does, takes .18 to .23 ns. In sweeps, contact queries and rows, which share the budget of a step
// with it, it takes .35 to .4.
static const double partOfPlain = 0.45;

double tpFrictionLinear_Work(tpFrictionLinear* linear, const bool* inPlay) {
    bool bodies = tpFrictionIsland_IsByBodies(linear->island);
    if (!tpBlockLu_Analyse(&linear->factor, bodies ? linear->allInPlay : inPlay)) {
        return -1.0;
    }
    double assembly = bodies ? 600.0 * (double)linear->island->blockCount
                             : 3.0 * tpFrictionIsland_SweepWork(linear->island);
    return (linear->laws != NULL ? partOfPlain : 1.0) * (linear->factor.work + assembly);
}

static void assembleWithW(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                          const double* B, double weight) {
    const tpBlockMatrix* W = &linear->island->W;
    for (int j = 0; j < W->count; ++j) {
        if (!inPlay[j]) {
            continue;
        }
        int n = W->row[j + 1] - W->row[j];
        for (int k = W->columnStart[j]; k < W->columnStart[j + 1]; ++k) {
            int i = W->blockRow[k];
            if (!inPlay[i]) {
                continue;
            }
            int m = W->row[i + 1] - W->row[i];
            double* out = linear->values + W->value[k];
            const double* Ai = A + (size_t)i * (size_t)linear->lawStride;
            const double* Wk = W->values + W->value[k];
            if (W->uniform == 3) {
                tpMultiplyBlocks(3, 3, 3, Ai, Wk, out);
            } else {
                tpMultiplyBlocks(m, m, n, Ai, Wk, out);
            }
            for (int e = 0; i == j && e < n * n; ++e) {
                out[e] += B[(size_t)i * (size_t)linear->lawStride + (size_t)e] + weight * Ai[e];
            }
        }
    }
}

static void solveWithW(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                       const double* F, double* step, double* scratch) {
    const tpFrictionIsland* island = linear->island;
    // Blocks out of play move as they must; what that does to the others goes to the right side.
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            step[i] = inPlay[b] ? 0.0 : -F[i];
        }
    }
    tpFrictionIsland_Multiply(island, step, scratch);
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b], n = tpFrictionIsland_Rows(island, b);
        const double* Ab = A + (size_t)b * (size_t)linear->lawStride;
        for (int i = 0; inPlay[b] && i < n; ++i) {
            double sum = -F[row + i];
            for (int j = 0; j < n; ++j) {
                sum -= Ab[i * n + j] * scratch[row + j];
            }
            step[row + i] = sum;
        }
    }
    tpBlockLu_Solve(&linear->factor, step);
}

static inline bool isPlain(const tpFrictionLinear* linear, int b) {
    return linear->laws != NULL && linear->laws[b].isPlain;
}

// C^-1 and C^-1 A of one block.
static inline void eliminateRows(int n, tpFrictionLinear* linear, int b, const double* A,
                                 const double* B, double weight) {
    const tpFrictionIsland* island = linear->island;
    int row = island->row[b];
    double C[TP_LAW] = { 0 }, *inverse = linear->inverse + (size_t)b * (size_t)linear->lawStride;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double own = weight + (island->compliance != NULL ? island->compliance[row + j] : 0.0);
            C[i * n + j] = own * A[i * n + j] + B[i * n + j];
        }
    }
    tpInvertBlock(n, C, inverse);
    tpMultiplyBlocks(n, n, n, inverse, A, linear->response + (size_t)b * (size_t)linear->lawStride);
}

// Adds G_i^T (C^-1 A) G_j to the blocks of the bodies of one block.
static inline void addRows(int n, int componentCount, tpFrictionLinear* linear, int b) {
    const tpFrictionIsland* island = linear->island;
    const double* G = island->jacobian + (size_t)(island->row[b] * 2 * componentCount);
    double SG[TP_FRICTION_MAX_ROWS * 2 * TP_BLOCK_MAX];
    tpMultiplyBlocks(n, n, 2 * componentCount,
                     linear->response + (size_t)b * (size_t)linear->lawStride, G, SG);
    for (int c = 0; c < 4; ++c) {
        if (linear->couple[4 * b + c] < 0) {
            continue;
        }
        double* out = linear->values + linear->couple[4 * b + c];
        const double* left = G + (c / 2) * componentCount;
        const double* right = SG + (c % 2) * componentCount;
        for (int i = 0; i < componentCount; ++i) {
            for (int j = 0; j < componentCount; ++j) {
                double sum = out[i * componentCount + j];
                for (int k = 0; k < n; ++k) {
                    sum += left[2 * k * componentCount + i] * right[2 * k * componentCount + j];
                }
                out[i * componentCount + j] = sum;
            }
        }
    }
}

// The sizes that matter, contacts of bodies in space, are spelled out for the compiler to unroll.
static void addBlock(tpFrictionLinear* linear, int b, const double* A, const double* B,
                     double weight) {
    int n = tpFrictionIsland_Rows(linear->island, b);
    int componentCount = linear->island->componentCount;
    if (isPlain(linear, b)) {
        const double* G =
            linear->island->jacobian + (size_t)(linear->island->row[b] * 2 * componentCount);
        tpFrictionLaw_AddProducts(&linear->laws[b], weight, G, linear->couple + 4 * b,
                                  linear->values, &linear->factor.six);
    } else if (n == 3 && componentCount == 6) {
        eliminateRows(3, linear, b, A, B, weight);
        addRows(3, 6, linear, b);
    } else {
        eliminateRows(n, linear, b, A, B, weight);
        addRows(n, componentCount, linear, b);
    }
}

static void assembleByBodies(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                             const double* B, double weight) {
    const tpFrictionIsland* island = linear->island;
    const tpBlockMatrix* matrix = &linear->matrix;
    int componentCount = island->componentCount;
    memset(linear->values, 0,
           sizeof(double) *
               (size_t)(matrix->columnStart[matrix->count] * componentCount * componentCount));
    for (int j = 0; j < matrix->count; ++j) {
        double* diagonal = linear->values + matrix->value[matrix->columnStart[j]];
        for (int i = 0; i < componentCount; ++i) {
            diagonal[i * componentCount + i] = 1.0;
        }
    }
    for (int b = 0; b < island->blockCount; ++b) {
        if (inPlay[b]) {
            size_t law = (size_t)b * (size_t)linear->lawStride;
            addBlock(linear, b, A + law, B + law, weight);
        }
    }
}

// y = C^-1 x and y = C^-1 A x of one block.
static void solveBlock(const tpFrictionLinear* linear, int b, int n, const double* x, double* y) {
    if (isPlain(linear, b)) {
        tpFrictionLaw_Solve(&linear->laws[b], linear->weight, x, y);
    } else {
        tpMultiplyBlocks(n, n, 1, linear->inverse + (size_t)b * (size_t)linear->lawStride, x, y);
    }
}

static void respondBlock(const tpFrictionLinear* linear, int b, int n, const double* x, double* y) {
    if (isPlain(linear, b)) {
        tpFrictionLaw_Respond(&linear->laws[b], linear->weight, x, y);
    } else {
        tpMultiplyBlocks(n, n, 1, linear->response + (size_t)b * (size_t)linear->lawStride, x, y);
    }
}

static void solveByBodies(tpFrictionLinear* linear, const bool* inPlay, const double* F,
                          double* step) {
    const tpFrictionIsland* island = linear->island;
    double* change = linear->bodyChange;
    memset(change, 0, sizeof(double) * (size_t)(island->bodyCount * island->componentCount));
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b], n = tpFrictionIsland_Rows(island, b);
        double offset[TP_FRICTION_MAX_ROWS];
        const double* part = F + row;
        if (inPlay[b]) {
            solveBlock(linear, b, n, F + row, offset);
            part = offset;
        }
        for (int i = 0; i < n; ++i) {
            step[row + i] = -part[i];
        }
        tpFrictionIsland_PushBodies(island, b, step + row, change);
    }
    tpBlockLu_Solve(&linear->factor, change);
    for (int b = 0; b < island->blockCount; ++b) {
        if (!inPlay[b]) {
            continue;
        }
        int row = island->row[b], n = tpFrictionIsland_Rows(island, b);
        double du[TP_FRICTION_MAX_ROWS], moved[TP_FRICTION_MAX_ROWS];
        tpFrictionIsland_ReadBodies(island, b, change, du);
        respondBlock(linear, b, n, du, moved);
        for (int i = 0; i < n; ++i) {
            step[row + i] -= moved[i];
        }
    }
}

bool tpFrictionLinear_Factorise(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                                const double* B, double weight) {
    bool bodies = tpFrictionIsland_IsByBodies(linear->island);
    if (!tpBlockLu_Analyse(&linear->factor, bodies ? linear->allInPlay : inPlay)) {
        return false;
    }
    linear->weight = weight;
    if (bodies) {
        assembleByBodies(linear, inPlay, A, B, weight);
    } else {
        assembleWithW(linear, inPlay, A, B, weight);
    }
    tpBlockLu_Factorise(&linear->factor);
    return true;
}

void tpFrictionLinear_SolveFor(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                               const double* F, double* step, double* scratch) {
    if (tpFrictionIsland_IsByBodies(linear->island)) {
        solveByBodies(linear, inPlay, F, step);
    } else {
        solveWithW(linear, inPlay, A, F, step, scratch);
    }
}
