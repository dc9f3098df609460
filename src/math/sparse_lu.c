// Left-looking sparse LU of [GilbertPeierls88], made for bases of pivoting methods.
//
// Unit columns (slacks) come first: they pivot on their own row without arithmetic, so the work is
// that of the part of the basis that is not slack. The others are taken in an order of minimum
// degree, with threshold pivoting: of the rows whose entry is within a factor of ten of the
// largest, the one with the fewest entries in B.

#include "math/sparse_lu.h"

#include <math.h>
#include <string.h>

#include "math/minimum_degree.h"

// A pivot may be this much smaller than the largest of its column if that keeps factors sparse.
static const double pivotThreshold = 0.1;

// What an operation of a factorisation or a sparse solve costs, in multiply-adds that stream
// through memory: it follows indices.
enum { factorCostUnit = 16, solveCostUnit = 4 };

bool tpSparseLu_Create(tpSparseLu* factor, tpArena* arena, double* work, int n, int etaCapacity) {
    memset(factor, 0, sizeof(*factor));
    factor->arena = arena;
    factor->work = work;
    factor->n = n;
    factor->rowOfStep = TP_SCRATCH(arena, int, n);
    factor->stepOfRow = TP_SCRATCH(arena, int, n);
    factor->columnOfStep = TP_SCRATCH(arena, int, n);
    factor->lower.starts = TP_SCRATCH_ZEROED(arena, int, n + 1);
    factor->upper.starts = TP_SCRATCH_ZEROED(arena, int, n + 1);
    factor->diagonal = TP_SCRATCH(arena, double, n);
    factor->etas = TP_SCRATCH(arena, double, (size_t)n*(size_t)etaCapacity);
    factor->etaPosition = TP_SCRATCH(arena, int, etaCapacity);
    factor->etaBefore = TP_SCRATCH(arena, int, etaCapacity);
    factor->etaActive = TP_SCRATCH(arena, int, etaCapacity);
    factor->etaWeights = TP_SCRATCH(arena, double, etaCapacity);
    factor->etaBetween = TP_SCRATCH(arena, double, (size_t)etaCapacity*(size_t)etaCapacity);
    factor->etaCapacity = etaCapacity;
    factor->rowWork = TP_SCRATCH_ZEROED(arena, double, n);
    factor->intWork = TP_SCRATCH(arena, int, (size_t)6 * (size_t)n);
    factor->mark = TP_SCRATCH_ZEROED(arena, unsigned char, n);
    return !arena->failed;
}

static bool reserve(tpArena* arena, tpLuColumns* columns, int more) {
    if (columns->capacity - columns->count >= more) {
        return true;
    }
    int capacity = 2 * columns->capacity + more + 256;
    int* rows = TP_SCRATCH(arena, int, capacity);
    double* values = TP_SCRATCH(arena, double, capacity);
    if (rows == NULL || values == NULL) {
        return false;
    }
    if (columns->count > 0) {
        memcpy(rows, columns->rows, sizeof(int) * (size_t)columns->count);
        memcpy(values, columns->values, sizeof(double) * (size_t)columns->count);
    }
    columns->rows = rows;
    columns->values = values;
    columns->capacity = capacity;
    return true;
}

static void append(tpLuColumns* columns, int row, double value) {
    columns->rows[columns->count] = row;
    columns->values[columns->count] = value;
    columns->count += 1;
}

static void takePivot(tpSparseLu* factor, int step, int row, int column, double value) {
    factor->rowOfStep[step] = row;
    factor->stepOfRow[row] = step;
    factor->columnOfStep[step] = column;
    factor->diagonal[step] = value;
    factor->lower.starts[step + 1] = factor->lower.count;
    factor->upper.starts[step + 1] = factor->upper.count;
}

// Unit columns pivot first. Writes the other columns to `others` and returns their number.
static int takeUnitColumns(tpSparseLu* factor, const tpSparseColumns* B, int* others) {
    int otherCount = 0;
    int step = 0;
    for (int j = 0; j < factor->n; ++j) {
        int k = B->starts[j];
        bool isUnit = B->starts[j + 1] == k + 1 && B->values[k] == 1.0;
        if (isUnit && factor->stepOfRow[B->rows[k]] < 0) {
            takePivot(factor, step++, B->rows[k], j, 1.0);
        } else {
            others[otherCount++] = j;
        }
    }
    factor->unitCount = step;
    return otherCount;
}

// Counts the entries of the columns `others` in each row that is not yet pivoted, and sorts the
// columns into an order that keeps the factors sparse. False if memory ran out.
static bool orderColumns(tpSparseLu* factor, const tpSparseColumns* B, int* others, int count,
                         int* rowCounts, int* newRow) {
    int rowCount = 0;
    for (int i = 0; i < factor->n; ++i) {
        rowCounts[i] = 0;
        newRow[i] = factor->stepOfRow[i] < 0 ? rowCount++ : -1;
    }
    int entryCount = 0;
    for (int c = 0; c < count; ++c) {
        for (int k = B->starts[others[c]]; k < B->starts[others[c] + 1]; ++k) {
            bool isLeft = newRow[B->rows[k]] >= 0;
            entryCount += isLeft;
            rowCounts[B->rows[k]] += isLeft;
        }
    }
    if (count < 3) {
        return true;
    }
    tpArenaMark mark = tpArena_Mark(factor->arena);
    int* rows = TP_SCRATCH(factor->arena, int, entryCount);
    int* starts = TP_SCRATCH(factor->arena, int, count + 1);
    int* order = TP_SCRATCH(factor->arena, int, count);
    int* sorted = TP_SCRATCH(factor->arena, int, count);
    bool isDone = false;
    if (!factor->arena->failed) {
        int used = 0;
        for (int c = 0; c < count; ++c) {
            starts[c] = used;
            for (int k = B->starts[others[c]]; k < B->starts[others[c] + 1]; ++k) {
                if (newRow[B->rows[k]] >= 0) {
                    rows[used++] = newRow[B->rows[k]];
                }
            }
        }
        starts[count] = used;
        isDone = tpMinimumDegree_OrderColumns(rowCount, count, starts, rows, factor->arena, order);
    }
    for (int c = 0; isDone && c < count; ++c) {
        sorted[c] = others[order[c]];
    }
    if (isDone) {
        memcpy(others, sorted, sizeof(int) * (size_t)count);
    }
    tpArena_Release(factor->arena, mark);
    return isDone;
}

static bool isUnitRow(const tpSparseLu* factor, int row) {
    int step = factor->stepOfRow[row];
    return step >= 0 && step < factor->unitCount;
}

// The rows that column j of B reaches through L, in topological order at the end of `order`:
// returns where they begin. Marks all rows it lists. Rows of unit columns reach nothing and are
// left out.
static int reach(tpSparseLu* factor, const tpSparseColumns* B, int j, int* order, int* stack,
                 int* next) {
    int n = factor->n;
    int top = n;
    const tpLuColumns* L = &factor->lower;
    for (int k = B->starts[j]; k < B->starts[j + 1]; ++k) {
        if (factor->mark[B->rows[k]] != 0 || isUnitRow(factor, B->rows[k])) {
            continue;
        }
        int depth = 0;
        stack[0] = B->rows[k];
        while (depth >= 0) {
            int row = stack[depth];
            int step = factor->stepOfRow[row];
            if (factor->mark[row] == 0) {
                factor->mark[row] = 1;
                next[depth] = step >= 0 ? L->starts[step] : 0;
            }
            int end = step >= 0 ? L->starts[step + 1] : 0;
            int child = -1;
            while (next[depth] < end && child < 0) {
                int candidate = L->rows[next[depth]++];
                child = factor->mark[candidate] == 0 ? candidate : -1;
            }
            if (child >= 0) {
                stack[++depth] = child;
            } else {
                order[--top] = row;
                depth -= 1;
            }
        }
    }
    return top;
}

// Eliminates with the columns of L that column j meets; rowWork holds the result on the rows
// order[top..n). What lies in rows of unit columns goes to U as it is: no column of L has an entry
// there.
static void eliminate(tpSparseLu* factor, const tpSparseColumns* B, int j, const int* order,
                      int top) {
    double* x = factor->rowWork;
    const tpLuColumns* L = &factor->lower;
    for (int k = B->starts[j]; k < B->starts[j + 1]; ++k) {
        if (isUnitRow(factor, B->rows[k])) {
            append(&factor->upper, B->rows[k], B->values[k]);
        } else {
            x[B->rows[k]] += B->values[k];
        }
    }
    for (int t = top; t < factor->n; ++t) {
        int step = factor->stepOfRow[order[t]];
        double value = x[order[t]];
        if (step < 0 || value == 0.0) {
            continue;
        }
        for (int k = L->starts[step]; k < L->starts[step + 1]; ++k) {
            x[L->rows[k]] -= L->values[k] * value;
        }
        factor->factorCost += L->starts[step + 1] - L->starts[step];
    }
}

// Moves the eliminated column into U and L around the best pivot. False: it is dependent.
static bool storeColumn(tpSparseLu* factor, int step, int j, double smallest, const int* order,
                        int top, const int* rowCounts) {
    double* x = factor->rowWork;
    double largest = 0.0;
    for (int t = top; t < factor->n; ++t) {
        if (factor->stepOfRow[order[t]] < 0 && fabs(x[order[t]]) > largest) {
            largest = fabs(x[order[t]]);
        }
    }
    int pivotRow = -1;
    for (int t = top; t < factor->n && largest > smallest; ++t) {
        int row = order[t];
        double size = fabs(x[row]);
        if (factor->stepOfRow[row] >= 0 || size < pivotThreshold * largest) {
            continue;
        }
        bool isBetter = pivotRow < 0 || rowCounts[row] < rowCounts[pivotRow] ||
                        (rowCounts[row] == rowCounts[pivotRow] && size > fabs(x[pivotRow]));
        pivotRow = isBetter ? row : pivotRow;
    }
    double pivot = pivotRow >= 0 ? x[pivotRow] : 1.0;
    for (int t = top; t < factor->n; ++t) {
        int row = order[t];
        double value = x[row];
        x[row] = 0.0;
        factor->mark[row] = 0;
        if (pivotRow < 0 || row == pivotRow || value == 0.0) {
            continue;
        }
        if (factor->stepOfRow[row] >= 0) {
            append(&factor->upper, row, value);
        } else {
            append(&factor->lower, row, value / pivot);
        }
    }
    if (pivotRow >= 0) {
        takePivot(factor, step, pivotRow, j, pivot);
    }
    return pivotRow >= 0;
}

static double largestOfColumn(const tpSparseColumns* B, int j) {
    double largest = 0.0;
    for (int k = B->starts[j]; k < B->starts[j + 1]; ++k) {
        double size = fabs(B->values[k]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

// Gives each dependent column the unit column of a row that is left.
static void replaceDependent(tpSparseLu* factor, int step, int count, const int* dependent,
                             int* replacedBy) {
    int row = 0;
    for (int d = 0; d < count; ++d) {
        while (factor->stepOfRow[row] >= 0) {
            row += 1;
        }
        replacedBy[d] = row;
        takePivot(factor, step++, row, dependent[d], 1.0);
    }
}

int tpSparseLu_Factorise(tpSparseLu* factor, const tpSparseColumns* B, double tolerance,
                         int* dependent, int* replacedBy) {
    int n = factor->n;
    factor->lower.count = 0;
    factor->upper.count = 0;
    factor->etaCount = 0;
    factor->factorCost = B->starts[n];
    for (int i = 0; i < n; ++i) {
        factor->stepOfRow[i] = -1;
    }
    int* others = factor->intWork;
    int* rowCounts = others + n;
    int* order = others + 2 * (size_t)n;
    int* stack = others + 3 * (size_t)n;
    int* next = others + 4 * (size_t)n;

    int otherCount = takeUnitColumns(factor, B, others);
    if (!orderColumns(factor, B, others, otherCount, rowCounts, next)) {
        return -1;
    }
    int step = factor->unitCount;
    int dependentCount = 0;
    for (int c = 0; c < otherCount; ++c) {
        int j = others[c];
        int most = n + B->starts[j + 1] - B->starts[j];
        if (!reserve(factor->arena, &factor->lower, most) ||
            !reserve(factor->arena, &factor->upper, most)) {
            return -1;
        }
        double smallest = tolerance * largestOfColumn(B, j);
        int top = reach(factor, B, j, order, stack, next);
        eliminate(factor, B, j, order, top);
        if (storeColumn(factor, step, j, smallest, order, top, rowCounts)) {
            step += 1;
        } else {
            factor->upper.count = factor->upper.starts[step];
            dependent[dependentCount++] = j;
        }
    }
    replaceDependent(factor, step, dependentCount, dependent, replacedBy);
    *factor->work += (double)(factorCostUnit * (factor->factorCost + n));
    return dependentCount;
}

static void countSolve(const tpSparseLu* factor) {
    double entries = (double)factor->lower.count + (double)factor->upper.count + factor->n;
    *factor->work += solveCostUnit * entries + (double)factor->etaCount * factor->n;
}

void tpSparseLu_Solve(const tpSparseLu* factor, double* b, double* x) {
    const tpLuColumns* L = &factor->lower;
    const tpLuColumns* U = &factor->upper;
    countSolve(factor);
    for (int step = factor->unitCount; step < factor->n; ++step) {
        double value = b[factor->rowOfStep[step]];
        if (value != 0.0) {
            for (int k = L->starts[step]; k < L->starts[step + 1]; ++k) {
                b[L->rows[k]] -= L->values[k] * value;
            }
        }
    }
    for (int step = factor->n - 1; step >= factor->unitCount; --step) {
        double value = b[factor->rowOfStep[step]] / factor->diagonal[step];
        x[factor->columnOfStep[step]] = value;
        if (value != 0.0) {
            for (int k = U->starts[step]; k < U->starts[step + 1]; ++k) {
                b[U->rows[k]] -= U->values[k] * value;
            }
        }
    }
    for (int step = 0; step < factor->unitCount; ++step) {
        x[factor->columnOfStep[step]] = b[factor->rowOfStep[step]];
    }
    if (factor->etaCount > 0) {
        tpSparseLu_ApplyUpdates(factor, x);
    }
}

void tpSparseLu_SolveTransposed(const tpSparseLu* factor, double* c, double* y) {
    const tpLuColumns* L = &factor->lower;
    const tpLuColumns* U = &factor->upper;
    countSolve(factor);
    tpSparseLu_ApplyUpdatesTransposed(factor, c);
    for (int step = 0; step < factor->n; ++step) {
        double value = c[factor->columnOfStep[step]];
        for (int k = U->starts[step]; k < U->starts[step + 1]; ++k) {
            value -= U->values[k] * y[U->rows[k]];
        }
        y[factor->rowOfStep[step]] = value / factor->diagonal[step];
    }
    for (int step = factor->n - 1; step >= factor->unitCount; --step) {
        double value = y[factor->rowOfStep[step]];
        for (int k = L->starts[step]; k < L->starts[step + 1]; ++k) {
            value -= L->values[k] * y[L->rows[k]];
        }
        y[factor->rowOfStep[step]] = value;
    }
}
