// Sparse LU of small blocks: ordering by approximate minimum degree, symbolic analysis on the
// elimination tree [Davis06, chapters 4 and 7], left-looking elimination by block columns.

#include "math/block_lu.h"

#include <math.h>
#include <string.h>

#include "math/minimum_degree.h"

bool tpBlockLu_Create(tpBlockLu* factor, const tpBlockMatrix* matrix, tpArena* arena) {
    int n = matrix->count, largest = 0;
    for (int b = 0; b < n; ++b) {
        int size = matrix->row[b + 1] - matrix->row[b];
        largest = size > largest ? size : largest;
    }
    *factor = (tpBlockLu){ .matrix = matrix, .arena = arena, .count = -1 };
    factor->stride = largest * largest;
    factor->order = TP_SCRATCH(arena, int, n);
    factor->inPlay = TP_SCRATCH_ZEROED(arena, bool, n);
    factor->block = TP_SCRATCH(arena, int, n);
    factor->size = TP_SCRATCH(arena, int, n);
    factor->place = TP_SCRATCH(arena, int, n);
    factor->parent = TP_SCRATCH(arena, int, n);
    factor->start = TP_SCRATCH(arena, int, n + 1);
    factor->reachStart = TP_SCRATCH(arena, int, n + 1);
    factor->mark = TP_SCRATCH(arena, int, n);
    factor->stack = TP_SCRATCH(arena, int, 2 * n);
    factor->inverse = TP_SCRATCH(arena, double, n * factor->stride);
    factor->column = TP_SCRATCH_ZEROED(arena, double, n * factor->stride);
    factor->subtract = tpBlockColumn_Find(matrix->uniform, tpChooseWidth(4));
    factor->six = tpSixKernels_Find(tpChooseWidth(4));
    return !arena->failed &&
           tpMinimumDegree_Order(n, matrix->columnStart, matrix->blockRow, arena, factor->order);
}

// Rows above the diagonal of column j of U: all blocks met on the way from the neighbours of j up
// the tree, in topological order at the end of the stack. Returns where they begin.
static int findReach(tpBlockLu* factor, int j) {
    const tpBlockMatrix* matrix = factor->matrix;
    int top = factor->count, b = factor->block[j];
    int* path = factor->stack + matrix->count;
    factor->mark[j] = j;
    for (int k = matrix->columnStart[b]; k < matrix->columnStart[b + 1]; ++k) {
        int i = factor->place[matrix->blockRow[k]];
        if (i < 0 || i >= j) {
            continue;
        }
        int length = 0;
        while (factor->mark[i] != j) {
            path[length++] = i;
            factor->mark[i] = j;
            i = factor->parent[i];
        }
        while (length > 0) {
            factor->stack[--top] = path[--length];
        }
    }
    return top;
}

// The elimination tree [Davis06, sec. 4.1], with path compression in `stack`.
static void findTree(tpBlockLu* factor) {
    const tpBlockMatrix* matrix = factor->matrix;
    int* ancestor = factor->stack;
    for (int j = 0; j < factor->count; ++j) {
        int b = factor->block[j];
        factor->parent[j] = -1;
        ancestor[j] = -1;
        for (int k = matrix->columnStart[b]; k < matrix->columnStart[b + 1]; ++k) {
            int i = factor->place[matrix->blockRow[k]];
            while (i >= 0 && i < j) {
                int next = ancestor[i];
                ancestor[i] = j;
                if (next < 0) {
                    factor->parent[i] = j;
                }
                i = next;
            }
        }
    }
}

static bool reserve(tpBlockLu* factor, int entries) {
    if (entries <= factor->capacity) {
        return true;
    }
    int capacity = entries + entries / 4;
    size_t numbers = (size_t)capacity * (size_t)factor->stride;
    factor->rows = TP_SCRATCH(factor->arena, int, capacity);
    factor->reach = TP_SCRATCH(factor->arena, int, capacity);
    factor->L = TP_SCRATCH(factor->arena, double, numbers);
    factor->U = TP_SCRATCH(factor->arena, double, numbers);
    factor->capacity = factor->arena->failed ? 0 : capacity;
    return !factor->arena->failed;
}

// What a product of two blocks takes at the least: finding them is more than one multiplication.
static const double leastProduct = 20.0;

// A column of L is multiplied once for each of its rows.
static void estimateWork(tpBlockLu* factor) {
    factor->work = 0.0;
    for (int k = 0; k < factor->count; ++k) {
        double length = (double)(factor->start[k + 1] - factor->start[k]);
        double size = (double)factor->size[k];
        double product = fmax(size * size * size, leastProduct);
        factor->work += product * (length + 1.0) * (length + 1.0);
    }
}

bool tpBlockLu_Analyse(tpBlockLu* factor, const bool* inPlay) {
    int n = factor->matrix->count;
    if (factor->count >= 0 && memcmp(factor->inPlay, inPlay, sizeof(bool) * (size_t)n) == 0) {
        return true;
    }
    memcpy(factor->inPlay, inPlay, sizeof(bool) * (size_t)n);
    factor->count = 0;
    for (int k = 0; k < n; ++k) {
        int b = factor->order[k];
        factor->place[b] = inPlay[b] ? factor->count : -1;
        if (inPlay[b]) {
            factor->size[factor->count] = factor->matrix->row[b + 1] - factor->matrix->row[b];
            factor->block[factor->count++] = b;
        }
    }
    findTree(factor);

    // Count the entries of each column of L, then list them.
    int* start = factor->start;
    memset(start, 0, sizeof(int) * (size_t)(n + 1));
    for (int pass = 0; pass < 2; ++pass) {
        int total = 0;
        for (int j = 0; j < factor->count; ++j) {
            factor->mark[j] = -1;
        }
        for (int j = 0; j < factor->count; ++j) {
            int top = findReach(factor, j);
            factor->reachStart[j] = total;
            for (int k = top; k < factor->count; ++k, ++total) {
                int i = factor->stack[k];
                if (pass == 0) {
                    ++start[i + 1];
                } else {
                    factor->reach[total] = i;
                    factor->rows[start[i]++] = j;
                }
            }
        }
        factor->reachStart[factor->count] = total;
        if (pass == 0) {
            for (int j = 0; j < factor->count; ++j) {
                start[j + 1] += start[j];
            }
            if (!reserve(factor, total)) {
                factor->count = -1;
                return false;
            }
        } else {
            for (int j = factor->count; j > 0; --j) {
                start[j] = start[j - 1];
            }
            start[0] = 0;
        }
    }
    estimateWork(factor);
    return true;
}

static inline void multiplySubtract(int m, int k, int n, const double* A, const double* B,
                                    double* C) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int l = 0; l < k; ++l) {
                sum += A[i * k + l] * B[l * n + j];
            }
            C[i * n + j] -= sum;
        }
    }
}

// Gauss and Jordan's method in place: column k of the inverse takes the room of column k.
static inline void invertBlock(int n, const double* A, double* inverse) {
    double work[TP_BLOCK_MAX][TP_BLOCK_MAX];
    int swapped[TP_BLOCK_MAX];
    for (int i = 0; i < n; ++i) {
        memcpy(work[i], A + (size_t)(i * n), sizeof(double) * (size_t)n);
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(work[i][k]) > fabs(work[best][k]) ? i : best;
        }
        swapped[k] = best;
        for (int j = 0; best != k && j < n; ++j) {
            double swap = work[k][j];
            work[k][j] = work[best][j];
            work[best][j] = swap;
        }
        if (!(fabs(work[k][k]) >= TP_SMALLEST_PIVOT)) {
            work[k][k] = work[k][k] < 0.0 ? -TP_SMALLEST_PIVOT : TP_SMALLEST_PIVOT;
        }
        double pivot = 1.0 / work[k][k];
        work[k][k] = 1.0;
        for (int j = 0; j < n; ++j) {
            work[k][j] *= pivot;
        }
        for (int i = 0; i < n; ++i) {
            double f = work[i][k];
            work[i][k] = i != k ? 0.0 : f;
            for (int j = 0; i != k && j < n; ++j) {
                work[i][j] -= f * work[k][j];
            }
        }
    }
    // Rows that changed places are columns of the inverse that do so.
    for (int k = n - 1; k >= 0; --k) {
        for (int i = 0; swapped[k] != k && i < n; ++i) {
            double swap = work[i][k];
            work[i][k] = work[i][swapped[k]];
            work[i][swapped[k]] = swap;
        }
    }
    for (int i = 0; i < n; ++i) {
        memcpy(inverse + (size_t)(i * n), work[i], sizeof(double) * (size_t)n);
    }
}

static inline void invertSix(bool (*invert)(const double*, double*), const double* A,
                             double* inverse) {
    if (!invert(A, inverse)) {
        invertBlock(6, A, inverse);
    }
}

// The sizes that matter are spelled out here and below, for the compiler to unroll.
void tpInvertBlock(int n, const double* A, double* inverse) {
    switch (n) {
    case 3:
        invertBlock(3, A, inverse);
        return;
    case 6:
        invertSix(tpSixKernels_Find(1).invert, A, inverse);
        return;
    default:
        invertBlock(n, A, inverse);
    }
}

// Puts column j of the matrix into the work column.
static void scatterColumn(tpBlockLu* factor, int j) {
    const tpBlockMatrix* matrix = factor->matrix;
    int b = factor->block[j], stride = factor->stride;
    for (int k = factor->reachStart[j]; k < factor->reachStart[j + 1]; ++k) {
        memset(factor->column + (size_t)(factor->reach[k] * stride), 0,
               sizeof(double) * (size_t)stride);
    }
    for (int k = factor->start[j]; k < factor->start[j + 1]; ++k) {
        memset(factor->column + (size_t)(factor->rows[k] * stride), 0,
               sizeof(double) * (size_t)stride);
    }
    for (int k = matrix->columnStart[b]; k < matrix->columnStart[b + 1]; ++k) {
        int i = factor->place[matrix->blockRow[k]];
        if (i >= 0) {
            memcpy(factor->column + (size_t)(i * stride), matrix->values + matrix->value[k],
                   sizeof(double) * (size_t)(factor->size[i] * factor->size[j]));
        }
    }
}

// A block of rows n of L, from the work column.
static inline void scale(const tpBlockLu* factor, int m, int n, const double* column,
                         const double* inverse, double* L) {
    if (m == 6 && n == 6) {
        factor->six.multiply(column, inverse, L);
    } else {
        tpMultiplyBlocks(m, n, n, column, inverse, L);
    }
}

static inline void subtractFrom(int m, int n, const double* A, const double* x, double* y) {
    if (m == 6 && n == 6) {
        multiplySubtract(6, 6, 1, A, x, y);
    } else {
        multiplySubtract(m, n, 1, A, x, y);
    }
}

// Subtracts column k of L times U_kj from the work column.
static inline void eliminate(tpBlockLu* factor, int k, int n, const double* U) {
    int begin = factor->start[k], end = factor->start[k + 1], stride = factor->stride;
    const double* L = factor->L + (size_t)begin * (size_t)stride;
    double* column = factor->column;
    if (factor->subtract != NULL) {
        factor->subtract(L, factor->rows + begin, end - begin, U, column);
        return;
    }
    switch (factor->matrix->uniform) {
    case 2:
        for (int e = begin; e < end; ++e, L += 4) {
            multiplySubtract(2, 2, 2, L, U, column + (size_t)factor->rows[e] * 4);
        }
        return;
    default:
        for (int e = begin; e < end; ++e, L += stride) {
            int i = factor->rows[e];
            multiplySubtract(factor->size[i], factor->size[k], n, L, U,
                             column + (size_t)(i * stride));
        }
    }
}

void tpBlockLu_Factorise(tpBlockLu* factor) {
    int stride = factor->stride;
    double* column = factor->column;
    for (int j = 0; j < factor->count; ++j) {
        int n = factor->size[j];
        scatterColumn(factor, j);
        for (int r = factor->reachStart[j]; r < factor->reachStart[j + 1]; ++r) {
            int k = factor->reach[r];
            double* U = factor->U + (size_t)r * (size_t)stride;
            memcpy(U, column + (size_t)(k * stride), sizeof(double) * (size_t)stride);
            eliminate(factor, k, n, U);
        }
        double* inverse = factor->inverse + (size_t)(j * stride);
        if (n == 6) {
            invertSix(factor->six.invert, column + (size_t)(j * stride), inverse);
        } else {
            tpInvertBlock(n, column + (size_t)(j * stride), inverse);
        }
        for (int e = factor->start[j]; e < factor->start[j + 1]; ++e) {
            int i = factor->rows[e];
            scale(factor, factor->size[i], n, column + (size_t)(i * stride), inverse,
                  factor->L + (size_t)e * (size_t)stride);
        }
    }
}

void tpBlockLu_Solve(const tpBlockLu* factor, double* x) {
    const tpBlockMatrix* matrix = factor->matrix;
    int stride = factor->stride;
    for (int j = 0; j < factor->count; ++j) {
        const double* xj = x + matrix->row[factor->block[j]];
        int n = factor->size[j];
        for (int e = factor->start[j]; e < factor->start[j + 1]; ++e) {
            int i = factor->rows[e];
            subtractFrom(factor->size[i], n, factor->L + (size_t)e * (size_t)stride, xj,
                         x + matrix->row[factor->block[i]]);
        }
    }
    for (int j = factor->count - 1; j >= 0; --j) {
        int n = factor->size[j];
        double solution[TP_BLOCK_MAX];
        double* xj = x + matrix->row[factor->block[j]];
        const double* inverse = factor->inverse + (size_t)(j * stride);
        if (n == 6) {
            tpMultiplyBlocks(6, 6, 1, inverse, xj, solution);
        } else {
            tpMultiplyBlocks(n, n, 1, inverse, xj, solution);
        }
        memcpy(xj, solution, sizeof(double) * (size_t)n);
        for (int r = factor->reachStart[j]; r < factor->reachStart[j + 1]; ++r) {
            int i = factor->reach[r];
            subtractFrom(factor->size[i], n, factor->U + (size_t)r * (size_t)stride, xj,
                         x + matrix->row[factor->block[i]]);
        }
    }
}

static bool isZero(int n, const double* x) {
    for (int i = 0; i < n; ++i) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

void tpBlockLu_SolveLower(const tpBlockLu* factor, double* x) {
    const tpBlockMatrix* matrix = factor->matrix;
    int stride = factor->stride;
    for (int j = 0; j < factor->count; ++j) {
        const double* xj = x + matrix->row[factor->block[j]];
        int n = factor->size[j];
        if (isZero(n, xj)) {
            continue;
        }
        for (int e = factor->start[j]; e < factor->start[j + 1]; ++e) {
            int i = factor->rows[e];
            subtractFrom(factor->size[i], n, factor->L + (size_t)e * (size_t)stride, xj,
                         x + matrix->row[factor->block[i]]);
        }
    }
}

void tpBlockLu_SolveDiagonal(const tpBlockLu* factor, const double* x, double* y) {
    for (int j = 0; j < factor->count; ++j) {
        int row = factor->matrix->row[factor->block[j]], n = factor->size[j];
        const double* inverse = factor->inverse + (size_t)(j * factor->stride);
        tpMultiplyBlocks(n, n, 1, inverse, x + row, y + row);
    }
}
