// W of contacts and limits on trees: what their rows feel of each other through the joints.
//
// An impulse in a row goes from its bodies to their roots once. The numbers that it leaves at the
// axes on its way are its trace (sweeps/joint_tree_traces.c), and W of two rows is the sum of the
// products of their traces over the axes that both pass.

#include <string.h>

#include "dynamics/reduced.h"
#include "math/pairs.h"

// Up to four rows of a block on one of its bodies.
typedef struct tpReducedEnd {
    int row, count; // of the matrix
    int first;      // of the rows of the step
    const double* jacobian;
    int body, tree, node; // tree -1: a body without joints
    int length;           // of its trace
    double (*traces)[tp_traceWidth], (*answers)[tp_traceWidth];
} tpReducedEnd;

// The scaled directions of an end's rows.
static void readDirections(const tpRows* rows, const tpReducedEnd* end, double (*directions)[6]) {
    for (int i = 0; i < end->count; ++i) {
        for (int k = 0; k < 6; ++k) {
            directions[i][k] = rows->scale[end->first + i] * end->jacobian[6 * i + k];
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

// An end of so many rows on one body, without traces.
static tpReducedEnd makeEnd(const tpReduced* reduced, int body, int row, int count, int first,
                            const double* jacobian) {
    int link = reduced->linkOf[body];
    int tree = link >= 0 ? reduced->treeOf[link] : -1;
    return (tpReducedEnd){ .row = row,
                           .count = count,
                           .first = first,
                           .jacobian = jacobian,
                           .body = body,
                           .tree = tree,
                           .node = link >= 0 ? link - reduced->firstLinks[tree] : -1,
                           .length = link >= 0 ? reduced->links[link].length : 6 };
}

// The ends of a block; a coupling has more bodies than two.
static int addEnds(const tpReduced* reduced, const tpRows* rows, int block, int row,
                   tpReducedEnd* ends) {
    const int bodies[2] = { rows->bodyA[block], rows->bodyB[block] };
    int count = 0, dimension = rows->dimensions[block];
    for (int side = 0; side < 2; ++side) {
        const double* jacobian = side == 0 ? rows->jacobianA : rows->jacobianB;
        for (int from = 0; bodies[side] >= 0 && from < dimension; from += tp_traceWidth) {
            int first = rows->firstRows[block] + from, left = dimension - from;
            ends[count++] = makeEnd(reduced, bodies[side], row + from,
                                    left < tp_traceWidth ? left : tp_traceWidth, first,
                                    jacobian + (size_t)6 * (size_t)first);
        }
    }
    for (int k = 0; rows->termCount > 0 && k < dimension; ++k) {
        int first = rows->firstRows[block] + k;
        for (int i = 0; i < rows->termCounts[first]; ++i) {
            const tpRowTerm* term = &rows->terms[rows->firstTerms[first] + i];
            if (term->isDynamic) {
                ends[count++] = makeEnd(reduced, term->body, row + k, 1, first, term->jacobian);
            }
        }
    }
    return count;
}

// The traces of all ends. False if memory ran out.
static bool traceEnds(const tpReduced* reduced, const tpRows* rows, tpReducedEnd* ends, int count,
                      tpArena* arena) {
    size_t length = 0;
    for (int i = 0; i < count; ++i) {
        length += (size_t)ends[i].length;
    }
    double(*room)[tp_traceWidth] = tpArena_Get(arena, 2 * length * sizeof(*room));
    if (room == NULL) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        tpReducedEnd* end = &ends[i];
        double directions[tp_traceWidth][6];
        end->traces = room;
        end->answers = room + end->length;
        room += 2 * end->length;
        readDirections(rows, end, directions);
        if (end->tree >= 0) {
            tpJointTree_Trace(&reduced->trees[end->tree], end->node, directions, end->count,
                              end->traces, end->answers);
        } else {
            traceLoose(rows, end, directions);
        }
    }
    return true;
}

// Sums of products of two traces over the places that both share.
static inline void multiplyTraces(double (*traces)[tp_traceWidth], double (*answers)[tp_traceWidth],
                                  int shared, int count,
                                  double sums[tp_traceWidth][tp_traceWidth]) {
    tpPair left[tp_traceWidth] = { 0 }, right[tp_traceWidth] = { 0 };
    for (int k = 0; k < shared; ++k) {
        tpPair low = tpLoadPair(answers[k]), high = tpLoadPair(answers[k] + 2);
        for (int i = 0; i < count; ++i) {
            left[i] += traces[k][i] * low;
            right[i] += traces[k][i] * high;
        }
    }
    for (int i = 0; i < count; ++i) {
        memcpy(sums[i], &left[i], sizeof(tpPair));
        memcpy(sums[i] + 2, &right[i], sizeof(tpPair));
    }
}

// Places from where the ways of two ends to the root meet. Parents have larger numbers.
static int sharedLength(const tpReduced* reduced, const tpReducedEnd* a, const tpReducedEnd* b) {
    const tpJointNode* nodes = reduced->trees[a->tree].nodes;
    int i = a->node, j = b->node;
    while (i != j) {
        if (i < j) {
            i = nodes[i].parent;
        } else {
            j = nodes[j].parent;
        }
    }
    return reduced->links[reduced->firstLinks[a->tree] + i].length;
}

// What rows of two ends feel of each other. False: nothing.
static inline bool multiplyEnds(const tpReduced* reduced, const tpReducedEnd* a,
                                const tpReducedEnd* b, double sums[tp_traceWidth][tp_traceWidth]) {
    if (a->tree != b->tree || (a->tree < 0 && a->body != b->body)) {
        return false;
    }
    int shared = a->tree < 0 ? 6 : sharedLength(reduced, a, b);
    double(*traces)[tp_traceWidth] = a->traces + (a->length - shared);
    double(*answers)[tp_traceWidth] = b->answers + (b->length - shared);
    if (a->count == 3) {
        multiplyTraces(traces, answers, shared, 3, sums); // most contacts: no loop is left
    } else {
        multiplyTraces(traces, answers, shared, a->count, sums);
    }
    return true;
}

// Adds what rows of two ends feel of each other.
static void addPair(const tpReduced* reduced, const tpReducedEnd* a, const tpReducedEnd* b, int n,
                    double* W) {
    double sums[tp_traceWidth][tp_traceWidth];
    if (!multiplyEnds(reduced, a, b, sums)) {
        return;
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

// The same if no other ends have these rows: nothing has to be there before.
static inline void writePair(const tpReduced* reduced, const tpReducedEnd* a, const tpReducedEnd* b,
                             int n, double* W) {
    double sums[tp_traceWidth][tp_traceWidth];
    if (!multiplyEnds(reduced, a, b, sums)) {
        memset(sums, 0, sizeof(sums));
    }
    double *upper = W + (size_t)a->row * (size_t)n + (size_t)b->row,
           *lower = W + (size_t)b->row * (size_t)n + (size_t)a->row;
    if (a != b && a->count == 3 && b->count == 3) {
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                lower[j * n + i] = upper[i * n + j] = sums[i][j];
            }
        }
        return;
    }
    for (int i = 0; i < a->count; ++i) {
        for (int j = 0; j < b->count; ++j) {
            upper[i * n + j] = sums[i][j];
            if (a != b) {
                lower[j * n + i] = sums[i][j];
            }
        }
    }
}

// All pairs of ends. Of contacts with what does not move each row has one end.
static void multiplyAll(const tpReduced* reduced, const tpReducedEnd* ends, int endCount,
                        bool isSingle, int n, double* W) {
    if (!isSingle) {
        memset(W, 0, sizeof(double) * (size_t)n * (size_t)n);
    }
    for (int a = 0; a < endCount; ++a) {
        for (int b = a; b < endCount; ++b) {
            if (isSingle) {
                writePair(reduced, &ends[a], &ends[b], n, W);
            } else {
                addPair(reduced, &ends[a], &ends[b], n, W);
            }
        }
    }
}

bool tpReduced_FormMatrix(const tpReduced* reduced, const tpRows* rows, const int* blocks,
                          int count, tpArena* arena, double* W) {
    int n = 0, endCount = 0;
    for (int i = 0; i < count; ++i) {
        n += rows->dimensions[blocks[i]];
    }
    tpReducedEnd* ends = TP_SCRATCH(arena, tpReducedEnd, 4 * count + rows->termCount);
    if (arena->failed) {
        return false;
    }
    bool isSingle = true;
    for (int i = 0, row = 0; i < count; row += rows->dimensions[blocks[i++]]) {
        int own = addEnds(reduced, rows, blocks[i], row, ends + endCount);
        isSingle = isSingle && own == 1;
        endCount += own;
    }
    if (!traceEnds(reduced, rows, ends, endCount, arena)) {
        return false;
    }
    multiplyAll(reduced, ends, endCount, isSingle, n, W);
    for (int i = 0, row = 0; i < count; ++i) {
        int first = rows->firstRows[blocks[i]];
        for (int k = 0; k < rows->dimensions[blocks[i]]; ++k, ++row) {
            double e = rows->scale[first + k];
            W[(size_t)row * (size_t)(n + 1)] += e * e * rows->compliance[first + k];
        }
    }
    return true;
}

bool tpReduced_Pose(tpReduced* reduced, tpRows* rows, tpFrictionProblem* problem,
                    tpMatrix* matrix) {
    int* blocks = TP_SCRATCH(rows->arena, int, rows->blockCount);
    for (int b = 0; blocks != NULL && b < rows->blockCount; ++b) {
        blocks[b] = b;
    }
    int n = rows->rowCount;
    double* W = TP_SCRATCH(rows->arena, double, (size_t)n*(size_t)n);
    double* q = TP_SCRATCH(rows->arena, double, n);
    if (rows->arena->failed || !tpReduced_ReadFreeQ(reduced, rows, q)) {
        return false;
    }
    bool isFormed = tpReduced_FormMatrix(reduced, rows, blocks, rows->blockCount, rows->arena, W);
    for (int i = 0; isFormed && i < n; ++i) {
        // Without scales and compliance, which the problem has apart.
        W[(size_t)i * (size_t)(n + 1)] -= rows->scale[i] * rows->scale[i] * rows->compliance[i];
        for (int j = 0; j < n; ++j) {
            W[(size_t)i * (size_t)n + (size_t)j] /= rows->scale[i] * rows->scale[j];
        }
    }
    *matrix = tpDenseMatrix(n, n, W);
    problem->W = matrix;
    problem->q = q;
    problem->bodies = problem->mechanism = NULL;
    return isFormed;
}
