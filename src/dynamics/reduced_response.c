// W of contacts and limits on trees: what their rows feel of each other through the joints.
//
// An impulse in a row goes from its bodies to their roots once. The numbers that it leaves at the
// axes on its way are its trace (sweeps/joint_tree_traces.c), and W of two rows is the sum of the
// products of their traces over the axes that both pass.

#include <string.h>

#include "dynamics/reduced.h"

// Up to four rows of a block on one of its bodies.
typedef struct tpReducedEnd {
    int row, count;       // of the matrix
    int body, tree, node; // tree -1: a body without joints
    int length;           // of its trace
    double (*traces)[tp_traceWidth], (*answers)[tp_traceWidth];
} tpReducedEnd;

// The scaled directions of rows of a block on its body A or B.
static void readDirections(const tpRows* rows, int block, int side, int from, int count,
                           double (*directions)[6]) {
    int first = rows->firstRows[block] + from;
    const double* J = (side == 0 ? rows->jacobianA : rows->jacobianB) + (size_t)6 * (size_t)first;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 6; ++k) {
            directions[i][k] = rows->scale[first + i] * J[6 * i + k];
        }
    }
}

// A body without joints has six axes of its own, by its inverse mass: the trace is the row.
static void traceLoose(const tpRows* rows, const tpReducedEnd* end, double (*directions)[6]) {
    const double* inverse = rows->inverseMass + (size_t)36 * (size_t)end->body;
    memset(end->traces, 0, sizeof(*end->traces) * 6);
    memset(end->answers, 0, sizeof(*end->answers) * 6);
    for (int i = 0; i < end->count; ++i) {
        for (int k = 0; k < 6; ++k) {
            double sum = 0.0;
            for (int j = 0; j < 6; ++j) {
                sum += inverse[6 * k + j] * directions[i][j];
            }
            end->traces[k][i] = directions[i][k];
            end->answers[k][i] = sum;
        }
    }
}

static bool addEnds(const tpReduced* reduced, const tpRows* rows, int block, int row,
                    tpArena* arena, tpReducedEnd* ends, int* endCount) {
    const int bodies[2] = { rows->bodyA[block], rows->bodyB[block] };
    for (int side = 0; side < 2; ++side) {
        for (int from = 0; bodies[side] >= 0 && from < rows->dimensions[block];
             from += tp_traceWidth) {
            int left = rows->dimensions[block] - from, link = reduced->linkOf[bodies[side]];
            tpReducedEnd* end = &ends[(*endCount)++];
            *end = (tpReducedEnd){ .row = row + from,
                                   .count = left < tp_traceWidth ? left : tp_traceWidth,
                                   .body = bodies[side],
                                   .tree = link >= 0 ? reduced->treeOf[link] : -1,
                                   .length = 6 };
            if (link >= 0) {
                end->node = link - reduced->firstLinks[end->tree];
                end->length = tpJointTree_TraceLength(&reduced->trees[end->tree], end->node);
            }
            size_t bytes = sizeof(double) * tp_traceWidth * (size_t)end->length;
            end->traces = tpArena_Get(arena, bytes);
            end->answers = tpArena_Get(arena, bytes);
            if (arena->failed) {
                return false;
            }
            double directions[tp_traceWidth][6];
            readDirections(rows, block, side, from, end->count, directions);
            if (link >= 0) {
                tpJointTree_Trace(&reduced->trees[end->tree], end->node, directions, end->count,
                                  end->traces, end->answers);
            } else {
                traceLoose(rows, end, directions);
            }
        }
    }
    return true;
}

// Adds what rows of two ends feel of each other.
static void addPair(const tpReduced* reduced, const tpReducedEnd* a, const tpReducedEnd* b, int n,
                    double* W) {
    if (a->tree != b->tree || (a->tree < 0 && a->body != b->body)) {
        return;
    }
    int shared =
        a->tree < 0 ? 6 : tpJointTree_SharedLength(&reduced->trees[a->tree], a->node, b->node);
    double sums[tp_traceWidth][tp_traceWidth] = { { 0.0 } };
    double(*traces)[tp_traceWidth] = a->traces + (a->length - shared);
    double(*answers)[tp_traceWidth] = b->answers + (b->length - shared);
    for (int k = 0; k < shared; ++k) {
        for (int i = 0; i < a->count; ++i) {
            for (int j = 0; j < tp_traceWidth; ++j) {
                sums[i][j] += traces[k][i] * answers[k][j];
            }
        }
    }
    for (int i = 0; i < a->count; ++i) {
        for (int j = 0; j < b->count; ++j) {
            W[(size_t)(a->row + i) * (size_t)n + (size_t)(b->row + j)] += sums[i][j];
            if (a != b) {
                W[(size_t)(b->row + j) * (size_t)n + (size_t)(a->row + i)] += sums[i][j];
            }
        }
    }
}

double* tpReduced_FormMatrix(const tpReduced* reduced, const tpRows* rows, const int* blocks,
                             int count, tpArena* arena) {
    int n = 0, endCount = 0;
    for (int i = 0; i < count; ++i) {
        n += rows->dimensions[blocks[i]];
    }
    double* W = TP_SCRATCH_ZEROED(arena, double, (size_t)n*(size_t)n);
    tpReducedEnd* ends = TP_SCRATCH(arena, tpReducedEnd, 4 * count);
    if (arena->failed) {
        return NULL;
    }
    for (int i = 0, row = 0; i < count; row += rows->dimensions[blocks[i++]]) {
        if (!addEnds(reduced, rows, blocks[i], row, arena, ends, &endCount)) {
            return NULL;
        }
        int first = rows->firstRows[blocks[i]];
        for (int k = 0; k < rows->dimensions[blocks[i]]; ++k) {
            double e = rows->scale[first + k];
            W[(size_t)(row + k) * (size_t)(n + 1)] = e * e * rows->compliance[first + k];
        }
    }
    for (int a = 0; a < endCount; ++a) {
        for (int b = a; b < endCount; ++b) {
            addPair(reduced, &ends[a], &ends[b], n, W);
        }
    }
    return W;
}

bool tpReduced_Pose(const tpReduced* reduced, const tpRows* rows, tpFrictionProblem* problem,
                    tpMatrix* matrix) {
    int* blocks = TP_SCRATCH(rows->arena, int, rows->blockCount);
    for (int b = 0; blocks != NULL && b < rows->blockCount; ++b) {
        blocks[b] = b;
    }
    double* W = blocks != NULL
                    ? tpReduced_FormMatrix(reduced, rows, blocks, rows->blockCount, rows->arena)
                    : NULL;
    int n = rows->rowCount;
    for (int i = 0; W != NULL && i < n; ++i) {
        // Without scales and compliance, which the problem has apart.
        W[(size_t)i * (size_t)(n + 1)] -= rows->scale[i] * rows->scale[i] * rows->compliance[i];
        for (int j = 0; j < n; ++j) {
            W[(size_t)i * (size_t)n + (size_t)j] /= rows->scale[i] * rows->scale[j];
        }
    }
    *matrix = tpDenseMatrix(n, n, W);
    problem->W = matrix;
    problem->bodies = problem->mechanism = NULL;
    return W != NULL;
}
