#include "dynamics/pyramid.h"

#include <string.h>

#include "dynamics/islands.h"
#include "math/elementary.h"

// Beside the directions: the normal, lambda, and both signs of torsion and of two axes of rolling.
enum { maxDirections = 64, maxVariables = maxDirections + 8 };

// Corners of the regular polygon.
typedef struct tpDirections {
    int count;
    double cosines[maxDirections], sines[maxDirections];
} tpDirections;

static void makeDirections(int count, tpDirections* out) {
    out->count = count;
    for (int i = 0; i < count; ++i) {
        double angle = 6.283185307179586477 * i / count;
        out->cosines[i] = tpCos(angle);
        out->sines[i] = tpSin(angle);
    }
}

// How a block's variables make its impulses: r = P z for all but lambda.
typedef struct tpGenerator {
    int rowCount, columnCount;
    bool hasCone;                                 // one more variable, lambda
    double P[maxVariables][TP_FRICTION_MAX_ROWS]; // by columns
} tpGenerator;

static double* addColumn(tpGenerator* generator) {
    double* column = generator->P[generator->columnCount++];
    memset(column, 0, sizeof(double) * TP_FRICTION_MAX_ROWS);
    return column;
}

// Rows of sliding friction in a cone block; those behind them are moments.
static int slidingRows(const tpRows* rows, int block) {
    bool isContact = rows->infos[block].source == tp_contactSource;
    return isContact                     ? tpRows_FrictionRows(rows, block).slidingCount
           : rows->dimensions[block] > 2 ? 2
                                         : 1;
}

static void makeGenerator(const tpRows* rows, int block, const tpDirections* directions,
                          tpGenerator* out) {
    int rowCount = rows->dimensions[block];
    const double* scale = rows->scale + rows->firstRows[block];
    out->rowCount = rowCount;
    out->columnCount = 0;
    out->hasCone = rows->kinds[block] == tp_frictionCone;
    if (!out->hasCone) {
        for (int k = 0; k < rowCount; ++k) {
            addColumn(out)[k] = scale[k];
        }
        return;
    }
    addColumn(out)[0] = scale[0];
    int slidingCount = slidingRows(rows, block);
    if (slidingCount == 1) {
        addColumn(out)[1] = scale[1];
        addColumn(out)[1] = -scale[1];
    } else if (slidingCount == 2) {
        for (int i = 0; i < directions->count; ++i) {
            double* column = addColumn(out);
            column[1] = scale[1] * directions->cosines[i];
            column[2] = scale[2] * directions->sines[i];
        }
    }
    for (int k = 1 + slidingCount; k < rowCount; ++k) {
        addColumn(out)[k] = scale[k];
        addColumn(out)[k] = -scale[k];
    }
}

static int variableCount(const tpRows* rows, int block, int directionCount) {
    int rowCount = rows->dimensions[block];
    if (rows->kinds[block] != tp_frictionCone) {
        return rowCount;
    }
    int slidingCount = slidingRows(rows, block);
    int sliding = slidingCount == 1 ? 2 : slidingCount == 2 ? directionCount : 0;
    return 2 + sliding + 2 * (rowCount - 1 - slidingCount);
}

// W of two blocks, compliance included. The LCP has velocities and impulses side by side: it counts
// in units of mass and speed.
static void coupling(const tpRows* rows, int b, int c,
                     double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]) {
    tpRows_Coupling(rows, b, c, W);
    for (int k = 0; b == c && k < rows->dimensions[b]; ++k) {
        W[k][k] += rows->compliance[rows->firstRows[b] + k];
    }
    for (int i = 0; rows->massUnit != 1.0 && i < rows->dimensions[b]; ++i) {
        for (int k = 0; k < rows->dimensions[c]; ++k) {
            W[i][k] *= rows->massUnit;
        }
    }
}

// The LCP of one island, by columns.
typedef struct tpIslandLcp {
    int n;
    int* columnStarts;
    int* rowIndices;
    double* values;
    double* q;
    double* z;
    bool* isFree;
    unsigned char* basis; // where Lemke's method starts
    int* firstVariables;  // by block of the island
} tpIslandLcp;

// The entries P_b' W P_c, `stride` apart from column to column.
static void writeCoupling(const tpRows* rows, int b, int c, const tpGenerator* other,
                          const tpGenerator* own, int firstRow, int stride, int* rowIndices,
                          double* values) {
    double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    coupling(rows, b, c, W);
    for (int column = 0; column < own->columnCount; ++column) {
        double image[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < other->rowCount; ++i) {
            image[i] = 0.0;
            for (int j = 0; j < own->rowCount; ++j) {
                image[i] += W[i][j] * own->P[column][j];
            }
        }
        int* indices = rowIndices + (size_t)column * (size_t)stride;
        double* entries = values + (size_t)column * (size_t)stride;
        for (int row = 0; row < other->columnCount; ++row) {
            double sum = 0.0;
            for (int i = 0; i < other->rowCount; ++i) {
                sum += other->P[row][i] * image[i];
            }
            indices[row] = firstRow + row;
            entries[row] = sum;
        }
    }
}

// Writes the columns of one block of the island. All but lambda's have the same rows: those of the
// neighbours, and lambda's own.
static void writeColumns(const tpRows* rows, const tpIslands* islands, const int* blocks,
                         const int* localOf, int local, const tpDirections* directions,
                         tpIslandLcp* lcp, int* entry) {
    int c = blocks[local];
    tpGenerator own, other;
    makeGenerator(rows, c, directions, &own);
    int neighbourCount;
    const int* neighbours = tpBlockGraph_Neighbours(&islands->graph, c, &neighbourCount);
    int stride = own.hasCone ? 1 : 0;
    for (int k = 0; k < neighbourCount; ++k) {
        int count = variableCount(rows, neighbours[k], directions->count);
        stride += rows->kinds[neighbours[k]] == tp_frictionCone ? count - 1 : count;
    }
    int offset = *entry;
    for (int k = 0; k < neighbourCount; ++k) {
        int b = neighbours[k];
        makeGenerator(rows, b, directions, &other);
        writeCoupling(rows, b, c, &other, &own, lcp->firstVariables[localOf[b]], stride,
                      lcp->rowIndices + offset, lcp->values + offset);
        offset += other.columnCount;
    }
    int first = lcp->firstVariables[local];
    for (int column = 0; column < own.columnCount; ++column) {
        lcp->columnStarts[first + column] = *entry + column * stride;
        if (own.hasCone) {
            lcp->rowIndices[offset + column * stride] = first + own.columnCount;
            lcp->values[offset + column * stride] = column == 0 ? rows->mu[c] : -1.0;
        }
    }
    *entry += own.columnCount * stride;
    if (own.hasCone) {
        lcp->columnStarts[first + own.columnCount] = *entry;
        for (int row = 1; row < own.columnCount; ++row) {
            lcp->rowIndices[*entry] = first + row;
            lcp->values[(*entry)++] = 1.0;
        }
    }
}

static void writeRightSide(const tpRows* rows, const int* blocks, int blockCount,
                           const tpDirections* directions, tpIslandLcp* lcp) {
    for (int local = 0; local < blockCount; ++local) {
        int b = blocks[local];
        tpGenerator generator;
        makeGenerator(rows, b, directions, &generator);
        const double* q = rows->q + rows->firstRows[b];
        int first = lcp->firstVariables[local];
        for (int column = 0; column < generator.columnCount; ++column) {
            double sum = 0.0;
            for (int i = 0; i < generator.rowCount; ++i) {
                sum += generator.P[column][i] * q[i];
            }
            lcp->q[first + column] = sum / rows->speedUnit;
            lcp->isFree[first + column] = rows->kinds[b] == tp_frictionFree;
        }
        if (generator.hasCone) {
            lcp->q[first + generator.columnCount] = 0.0;
            lcp->isFree[first + generator.columnCount] = false;
        }
    }
}

static void readImpulses(tpRows* rows, const int* blocks, int blockCount,
                         const tpDirections* directions, const tpIslandLcp* lcp) {
    for (int local = 0; local < blockCount; ++local) {
        int b = blocks[local];
        tpGenerator generator;
        makeGenerator(rows, b, directions, &generator);
        for (int i = 0; i < generator.rowCount; ++i) {
            double sum = 0.0;
            for (int column = 0; column < generator.columnCount; ++column) {
                sum += generator.P[column][i] * lcp->z[lcp->firstVariables[local] + column];
            }
            rows->impulse[rows->firstRows[b] + i] = rows->massUnit * rows->speedUnit * sum;
        }
    }
}

// A friction impulse this near the limit, relative, counts as sliding; a part of one smaller than
// this as nothing.
static const double limitWidth = 1e-9;

// Marks the directions that make up a friction impulse: in the plane of the contact the two corners
// of the polygon around it. Returns the sum of their multiples.
static double markSliding(const double* impulse, const double* scale,
                          const tpDirections* directions, double least, unsigned char* basis) {
    double x = impulse[1] / scale[1], y = impulse[2] / scale[2];
    double sector = 6.283185307179586477 / directions->count;
    double angle = tpAtan2(y, x);
    if (!isfinite(angle)) {
        return 0.0; // impulses beyond all numbers: a method may have ended there
    }
    int i = (int)floor((angle < 0.0 ? angle + 6.283185307179586477 : angle) / sector);
    i = i < directions->count ? i : directions->count - 1;
    int j = (i + 1) % directions->count;
    double first = (x * directions->sines[j] - y * directions->cosines[j]) / tpSin(sector);
    double second = (y * directions->cosines[i] - x * directions->sines[i]) / tpSin(sector);
    basis[i] = first > least ? tp_zBasic : tp_wBasic;
    basis[j] = second > least ? tp_zBasic : tp_wBasic;
    return fmax(first, 0.0) + fmax(second, 0.0);
}

// The same for all friction rows of a block: moments, and sliding in the plane, have two directions
// each.
static double markDirections(const double* impulse, const double* scale, int rowCount,
                             int slidingCount, const tpDirections* directions, double least,
                             unsigned char* basis) {
    double sum = 0.0;
    int row = 1;
    if (slidingCount == 2) {
        sum = markSliding(impulse, scale, directions, least, basis);
        basis += directions->count;
        row = 3;
    }
    for (; row < rowCount; ++row, basis += 2) {
        double along = impulse[row] / scale[row];
        basis[along > 0.0 ? 0 : 1] = fabs(along) > least ? tp_zBasic : tp_wBasic;
        sum += fabs(along);
    }
    return sum;
}

// The basis that belongs to the impulses given, from the last step or another solver: which
// contacts push, in which directions, and which slide. False if nothing pushes.
static bool guessBasis(const tpRows* rows, const int* blocks, int blockCount,
                       const tpDirections* directions, const tpIslandLcp* lcp) {
    bool pushes = false;
    for (int local = 0; local < blockCount; ++local) {
        int b = blocks[local], rowCount = rows->dimensions[b];
        const double* impulse = rows->impulse + rows->firstRows[b];
        unsigned char* basis = lcp->basis + lcp->firstVariables[local];
        if (rows->kinds[b] == tp_frictionFree || !(impulse[0] > 0.0)) {
            continue;
        }
        pushes = true;
        basis[0] = tp_zBasic;
        double limit = rows->mu[b] * impulse[0] / rows->scale[rows->firstRows[b]];
        if (rows->kinds[b] == tp_frictionCone && rowCount > 1) {
            double sum =
                markDirections(impulse, rows->scale + rows->firstRows[b], rowCount,
                               slidingRows(rows, b), directions, limitWidth * limit, basis + 1);
            int lambda = variableCount(rows, b, directions->count) - 1;
            basis[lambda] = sum >= (1.0 - limitWidth) * limit ? tp_zBasic : tp_wBasic;
        }
    }
    return pushes;
}

// Room for the LCP of an island; false if memory ran out.
static bool reserveLcp(const tpRows* rows, const tpIslands* islands, const int* blocks,
                       int blockCount, int directionCount, tpArena* arena, tpIslandLcp* lcp) {
    lcp->firstVariables = TP_SCRATCH(arena, int, blockCount);
    if (lcp->firstVariables == NULL) {
        return false;
    }
    lcp->n = 0;
    size_t entries = 0;
    for (int local = 0; local < blockCount; ++local) {
        lcp->firstVariables[local] = lcp->n;
        int own = variableCount(rows, blocks[local], directionCount);
        lcp->n += own;
        int neighbourCount;
        const int* neighbours =
            tpBlockGraph_Neighbours(&islands->graph, blocks[local], &neighbourCount);
        size_t column = 1;
        for (int k = 0; k < neighbourCount; ++k) {
            column += (size_t)variableCount(rows, neighbours[k], directionCount);
        }
        entries += column * (size_t)own;
    }
    lcp->columnStarts = TP_SCRATCH(arena, int, lcp->n + 1);
    lcp->rowIndices = TP_SCRATCH(arena, int, entries);
    lcp->values = TP_SCRATCH(arena, double, entries);
    lcp->q = TP_SCRATCH(arena, double, lcp->n);
    lcp->z = TP_SCRATCH_ZEROED(arena, double, lcp->n);
    lcp->isFree = TP_SCRATCH(arena, bool, lcp->n);
    lcp->basis = TP_SCRATCH_ZEROED(arena, unsigned char, lcp->n);
    return !arena->failed;
}

static double islandResidual(const tpRows* rows, const int* blocks, int blockCount) {
    double sum = 0.0;
    for (int local = 0; local < blockCount; ++local) {
        sum += tpRows_ResidualSquared(rows, blocks[local]);
    }
    return sqrt(sum);
}

// Solves the LCP of one island into its z and adds to the result.
static void solveIsland(const tpIslandLcp* lcp, bool isWarm, const tpPyramidOptions* options,
                        tpSolverMemory* memory, tpPyramidResult* result) {
    tpLcp problem = { .n = lcp->n,
                      .M = tpSparseMatrix(lcp->n, lcp->n, lcp->columnStarts, lcp->rowIndices,
                                          lcp->values),
                      .q = lcp->q,
                      .isFree = lcp->isFree };
    tpLcpOptions chosen = tpDefaultLcpOptions();
    chosen.tolerance = options->tolerance;
    chosen.workLimit = fmax(options->workLimit - result->work, 0.0);
    chosen.startBasis = isWarm ? lcp->basis : NULL;
    tpSolveReport report;
    tpSolveStatus status = tpLcp_Solve(&problem, &chosen, memory, lcp->z, &report);
    result->islandCount += 1;
    result->pivotCount += report.iterations;
    result->work += report.work;
    result->failureCount += status == tp_solved ? 0 : 1;
    result->residual = fmax(result->residual, report.residual);
}

bool tpPyramid_Solve(tpRows* rows, tpArena* arena, tpSolverMemory* memory,
                     const tpPyramidOptions* options, tpPyramidResult* result) {
    memset(result, 0, sizeof(*result));
    int directionCount = options->directionCount;
    TP_ASSERT(directionCount >= 3 && directionCount <= maxDirections);
    tpDirections directions;
    makeDirections(directionCount, &directions);
    tpIslands islands;
    int* localOf = TP_SCRATCH(arena, int, rows->blockCount);
    if (localOf == NULL || !tpIslands_Find(&islands, rows, arena)) {
        return false;
    }
    for (int i = 0; i < islands.count; ++i) {
        tpArenaMark mark = tpArena_Mark(arena);
        const int* blocks = islands.blocks + islands.starts[i];
        int blockCount = islands.starts[i + 1] - islands.starts[i];
        if (options->settled > 0.0 &&
            islandResidual(rows, blocks, blockCount) <= options->settled) {
            continue;
        }
        tpIslandLcp lcp;
        if (!reserveLcp(rows, &islands, blocks, blockCount, directionCount, arena, &lcp)) {
            return false;
        }
        for (int local = 0; local < blockCount; ++local) {
            localOf[blocks[local]] = local;
        }
        int entry = 0;
        for (int local = 0; local < blockCount; ++local) {
            writeColumns(rows, &islands, blocks, localOf, local, &directions, &lcp, &entry);
        }
        lcp.columnStarts[lcp.n] = entry;
        writeRightSide(rows, blocks, blockCount, &directions, &lcp);
        bool isWarm = guessBasis(rows, blocks, blockCount, &directions, &lcp);
        solveIsland(&lcp, isWarm, options, memory, result);
        readImpulses(rows, blocks, blockCount, &directions, &lcp);
        tpArena_Release(arena, mark);
    }
    return true;
}
