// Sparse LU of small blocks: ordering by approximate minimum degree, symbolic analysis on the
// elimination tree [Davis06, chapters 4 and 7], left-looking elimination by block columns.

#include "complementarity/friction_factor.h"

#include <amd.h>
#include <math.h>
#include <string.h>

// A pivot below this is replaced by it. Diagonal blocks of a normalised island have entries of order
// one, so this is a hundred times rounding: what is smaller holds no information.
static const double smallestPivot = 1e-13;

enum { FRAME = TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS };

// Minimum degree by AMD's kernel, which takes its work space from us.
static bool orderByDegree(tpBlockFactor* factor) {
    const tpFrictionIsland* island = factor->island;
    int n = island->blockCount, entries = island->columnStart[n] - n;
    tpArena* arena = factor->arena;
    tpArenaMark mark = tpArena_Mark(arena);
    int size = entries + entries / 5 + 8 * n + 1;
    int* start = TP_SCRATCH(arena, int, n);
    int* index = TP_SCRATCH(arena, int, size);
    int* work = TP_SCRATCH(arena, int, 7 * n);
    if (arena->failed) {
        return false;
    }
    int* length = work;
    int used = 0;
    for (int j = 0; j < n; ++j) {
        start[j] = used;
        for (int k = island->columnStart[j]; k < island->columnStart[j + 1]; ++k) {
            if (island->blockRow[k] != j) {
                index[used++] = island->blockRow[k];
            }
        }
        length[j] = used - start[j];
    }
    // Nv, Next, Last, Head, Elen, Degree, W; Last receives the order, Next its inverse.
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, start, index, length, size, used, work + n, factor->rank, factor->order, work + 2 * n,
          work + 3 * n, work + 4 * n, work + 5 * n, control, info);
    tpArena_Release(arena, mark);
    for (int k = 0; k < n; ++k) {
        factor->rank[factor->order[k]] = k;
    }
    return true;
}

bool tpBlockFactor_Create(tpBlockFactor* factor, const tpFrictionIsland* island, tpArena* arena) {
    int n = island->blockCount;
    *factor = (tpBlockFactor){ .island = island, .arena = arena, .count = -1 };
    factor->order = TP_SCRATCH(arena, int, n);
    factor->rank = TP_SCRATCH(arena, int, n);
    factor->inPlay = TP_SCRATCH_ZEROED(arena, bool, n);
    factor->block = TP_SCRATCH(arena, int, n);
    factor->place = TP_SCRATCH(arena, int, n);
    factor->parent = TP_SCRATCH(arena, int, n);
    factor->start = TP_SCRATCH(arena, int, n + 1);
    factor->reachStart = TP_SCRATCH(arena, int, n + 1);
    factor->mark = TP_SCRATCH(arena, int, n);
    factor->stack = TP_SCRATCH(arena, int, 2 * n);
    factor->inverse = TP_SCRATCH(arena, double, n* FRAME);
    factor->column = TP_SCRATCH_ZEROED(arena, double, n* FRAME);
    factor->stride = island->uniformRows == 3 ? 9 : island->uniformRows == 2 ? 4 : FRAME;
    return !arena->failed && orderByDegree(factor);
}

// Rows above the diagonal of column j of U: all blocks met on the way from the neighbours of j up the
// tree, in topological order at the end of the stack. Returns where they begin.
static int findReach(tpBlockFactor* factor, int j) {
    const tpFrictionIsland* island = factor->island;
    int top = factor->count, b = factor->block[j];
    int* path = factor->stack + island->blockCount;
    factor->mark[j] = j;
    for (int k = island->columnStart[b]; k < island->columnStart[b + 1]; ++k) {
        int i = factor->place[island->blockRow[k]];
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
static void findTree(tpBlockFactor* factor) {
    const tpFrictionIsland* island = factor->island;
    int* ancestor = factor->stack;
    for (int j = 0; j < factor->count; ++j) {
        int b = factor->block[j];
        factor->parent[j] = -1;
        ancestor[j] = -1;
        for (int k = island->columnStart[b]; k < island->columnStart[b + 1]; ++k) {
            int i = factor->place[island->blockRow[k]];
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

static bool reserve(tpBlockFactor* factor, int entries) {
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

bool tpBlockFactor_Analyse(tpBlockFactor* factor, const bool* inPlay) {
    int n = factor->island->blockCount;
    if (factor->count >= 0 && memcmp(factor->inPlay, inPlay, sizeof(bool) * (size_t)n) == 0) {
        return true;
    }
    memcpy(factor->inPlay, inPlay, sizeof(bool) * (size_t)n);
    factor->count = 0;
    for (int k = 0; k < n; ++k) {
        int b = factor->order[k];
        factor->place[b] = inPlay[b] ? factor->count : -1;
        if (inPlay[b]) {
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

// C = A B.
static inline void multiply(int m, int k, int n, const double* A, const double* B, double* C) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int l = 0; l < k; ++l) {
                sum += A[i * k + l] * B[l * n + j];
            }
            C[i * n + j] = sum;
        }
    }
}

// Inverse of an n x n block by Gauss-Jordan with partial pivoting, small pivots replaced.
static void invertBlock(int n, const double* A, double* inverse) {
    double work[TP_FRICTION_MAX_ROWS][2 * TP_FRICTION_MAX_ROWS];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            work[i][j] = A[i * n + j];
            work[i][n + j] = i == j ? 1.0 : 0.0;
        }
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(work[i][k]) > fabs(work[best][k]) ? i : best;
        }
        if (best != k) {
            for (int j = 0; j < 2 * n; ++j) {
                double swap = work[k][j];
                work[k][j] = work[best][j];
                work[best][j] = swap;
            }
        }
        if (!(fabs(work[k][k]) >= smallestPivot)) {
            work[k][k] = work[k][k] < 0.0 ? -smallestPivot : smallestPivot;
        }
        double pivot = 1.0 / work[k][k];
        for (int j = 0; j < 2 * n; ++j) {
            work[k][j] *= pivot;
        }
        for (int i = 0; i < n; ++i) {
            double f = work[i][k];
            for (int j = 0; i != k && j < 2 * n; ++j) {
                work[i][j] -= f * work[k][j];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        memcpy(inverse + (size_t)(i * n), work[i] + n, sizeof(double) * (size_t)n);
    }
}

static int rowsAt(const tpBlockFactor* factor, int place) {
    return tpFrictionIsland_Rows(factor->island, factor->block[place]);
}

// Puts column j of the matrix into the work column.
static void scatterColumn(tpBlockFactor* factor, int j, const double* velocity,
                          const double* impulse, double shift) {
    const tpFrictionIsland* island = factor->island;
    int b = factor->block[j], n = rowsAt(factor, j), stride = factor->stride;
    for (int k = factor->reachStart[j]; k < factor->reachStart[j + 1]; ++k) {
        memset(factor->column + (size_t)(factor->reach[k] * stride), 0,
               sizeof(double) * (size_t)stride);
    }
    for (int k = factor->start[j]; k < factor->start[j + 1]; ++k) {
        memset(factor->column + (size_t)(factor->rows[k] * stride), 0,
               sizeof(double) * (size_t)stride);
    }
    for (int k = island->columnStart[b]; k < island->columnStart[b + 1]; ++k) {
        int row = island->blockRow[k], i = factor->place[row];
        if (i < 0) {
            continue;
        }
        int m = rowsAt(factor, i);
        const double* W = island->values + island->value[k];
        double* out = factor->column + (size_t)(i * stride);
        const double* A = velocity + (size_t)row * FRAME;
        if (m == 3 && n == 3) {
            multiply(3, 3, 3, A, W, out);
        } else {
            multiply(m, m, n, A, W, out);
        }
        if (i == j) {
            const double* B = impulse + (size_t)row * FRAME;
            for (int e = 0; e < n * n; ++e) {
                out[e] += B[e] + shift * A[e];
            }
        }
    }
}

void tpBlockFactor_Factorise(tpBlockFactor* factor, const double* velocity, const double* impulse,
                             double shift) {
    int stride = factor->stride;
    double* column = factor->column;
    double products = 0.0;
    bool threes = factor->island->uniformRows == 3;
    for (int j = 0; j < factor->count; ++j) {
        int n = rowsAt(factor, j);
        scatterColumn(factor, j, velocity, impulse, shift);
        for (int r = factor->reachStart[j]; r < factor->reachStart[j + 1]; ++r) {
            int k = factor->reach[r], m = rowsAt(factor, k);
            double* U = factor->U + (size_t)r * (size_t)stride;
            memcpy(U, column + (size_t)(k * stride), sizeof(double) * (size_t)stride);
            int begin = factor->start[k], end = factor->start[k + 1];
            const double* L = factor->L + (size_t)begin * (size_t)stride;
            if (threes) {
                for (int e = begin; e < end; ++e, L += 9) {
                    multiplySubtract(3, 3, 3, L, U, column + (size_t)(factor->rows[e] * 9));
                }
            } else {
                for (int e = begin; e < end; ++e, L += stride) {
                    int i = factor->rows[e];
                    multiplySubtract(rowsAt(factor, i), m, n, L, U, column + (size_t)(i * stride));
                }
            }
            products += (double)(end - begin);
        }
        double* inverse = factor->inverse + (size_t)j * FRAME;
        invertBlock(n, column + (size_t)(j * stride), inverse);
        for (int e = factor->start[j]; e < factor->start[j + 1]; ++e) {
            int i = factor->rows[e];
            multiply(rowsAt(factor, i), n, n, column + (size_t)(i * stride), inverse,
                     factor->L + (size_t)e * (size_t)stride);
        }
    }
    factor->work = products * 27.0 + 100.0 * (double)factor->count;
}

void tpBlockFactor_Solve(const tpBlockFactor* factor, double* x) {
    const tpFrictionIsland* island = factor->island;
    int stride = factor->stride;
    for (int j = 0; j < factor->count; ++j) {
        const double* xj = x + island->row[factor->block[j]];
        int n = rowsAt(factor, j);
        for (int e = factor->start[j]; e < factor->start[j + 1]; ++e) {
            int i = factor->rows[e];
            multiplySubtract(rowsAt(factor, i), n, 1, factor->L + (size_t)e * (size_t)stride, xj,
                             x + island->row[factor->block[i]]);
        }
    }
    for (int j = factor->count - 1; j >= 0; --j) {
        int n = rowsAt(factor, j);
        double solution[TP_FRICTION_MAX_ROWS];
        double* xj = x + island->row[factor->block[j]];
        multiply(n, n, 1, factor->inverse + (size_t)j * FRAME, xj, solution);
        memcpy(xj, solution, sizeof(double) * (size_t)n);
        for (int r = factor->reachStart[j]; r < factor->reachStart[j + 1]; ++r) {
            int i = factor->reach[r];
            multiplySubtract(rowsAt(factor, i), n, 1, factor->U + (size_t)r * (size_t)stride, xj,
                             x + island->row[factor->block[i]]);
        }
    }
}
