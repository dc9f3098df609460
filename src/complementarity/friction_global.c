// The global friction problem reduced to its contacts: W = H^T M^-1 H.
//
// M is factorised once (it need not be symmetric). Each column of H gives M^-1 H e_j, whose product
// with H^T is a column of W. M^-1 H e_j is sparse if M falls apart into bodies, so the products
// only visit rows of H that it reaches.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "math/sparse_lu.h"
#include "tippe/friction.h"

// A pivot below this part of its column counts as zero, and M as singular.
static const double singularPivot = 1e-14;

// A copy of M or H by columns with sorted rows.
typedef struct Sparse {
    int rows, columns;
    int* start;
    int* index;
    double* value;
} Sparse;

static bool isSane(const tpMatrix* A) {
    if (A->rowCount < 0 || A->columnCount < 0) {
        return false;
    }
    for (int j = 0; j < A->columnCount; ++j) {
        bool dense = A->columnStarts == NULL;
        int begin = dense ? 0 : A->columnStarts[j];
        int end = dense ? A->rowCount : A->columnStarts[j + 1];
        for (int k = begin; k < end; ++k) {
            double x = dense ? A->values[(size_t)j * (size_t)A->leading + (size_t)k] : A->values[k];
            if (!isfinite(x) ||
                (!dense && (A->rowIndices[k] < 0 || A->rowIndices[k] >= A->rowCount))) {
                return false;
            }
        }
    }
    return true;
}

// The transpose by columns, rows sorted, zeros dropped.
static bool transpose(const tpMatrix* A, tpArena* arena, Sparse* out) {
    bool dense = A->columnStarts == NULL;
    size_t capacity = dense ? (size_t)A->rowCount * (size_t)A->columnCount
                            : (size_t)A->columnStarts[A->columnCount];
    out->rows = A->columnCount;
    out->columns = A->rowCount;
    out->start = TP_SCRATCH_ZEROED(arena, int, A->rowCount + 2);
    out->index = TP_SCRATCH(arena, int, capacity);
    out->value = TP_SCRATCH(arena, double, capacity);
    if (arena->failed) {
        return false;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < A->columnCount; ++j) {
            int begin = dense ? 0 : A->columnStarts[j];
            int end = dense ? A->rowCount : A->columnStarts[j + 1];
            for (int k = begin; k < end; ++k) {
                double x =
                    dense ? A->values[(size_t)j * (size_t)A->leading + (size_t)k] : A->values[k];
                int i = dense ? k : A->rowIndices[k];
                if (x == 0.0) {
                    continue;
                }
                if (pass == 0) {
                    ++out->start[i + 2];
                } else {
                    out->index[out->start[i + 1]] = j;
                    out->value[out->start[i + 1]++] = x;
                }
            }
        }
        for (int i = 0; pass == 0 && i < A->rowCount; ++i) {
            out->start[i + 2] += out->start[i + 1];
        }
    }
    return true;
}

static tpMatrix viewOf(const Sparse* A) {
    return tpSparseMatrix(A->rows, A->columns, A->start, A->index, A->value);
}

// A factorisation of M and room for one solve. A solve destroys its right side.
typedef struct Solver {
    Sparse M;
    tpSparseLu lu;
    double work; // multiply-adds
    double *right, *solution;
} Solver;

static tpResult factorise(Solver* solver, tpArena* arena, tpError* error) {
    int n = solver->M.rows;
    solver->right = TP_SCRATCH_ZEROED(arena, double, n);
    solver->solution = TP_SCRATCH(arena, double, n);
    int* dependent = TP_SCRATCH(arena, int, n);
    int* replacedBy = TP_SCRATCH(arena, int, n);
    if (arena->failed || !tpSparseLu_Create(&solver->lu, arena, &solver->work, n, 0)) {
        return tpError_OutOfMemory(error);
    }
    tpSparseColumns columns = { n, solver->M.start, solver->M.index, solver->M.value };
    int singular =
        tpSparseLu_Factorise(&solver->lu, &columns, singularPivot, dependent, replacedBy);
    if (singular < 0) {
        return tpError_OutOfMemory(error);
    }
    if (singular > 0) {
        return tpError_Set(error, tp_badInput, "the mass matrix is singular");
    }
    return tp_success;
}

static void solve(Solver* solver) {
    tpSparseLu_Solve(&solver->lu, solver->right, solver->solution);
}

// Writes column j of W into `column` and the rows it touched into `touched`; returns their number.
static int columnOfW(Solver* solver, const Sparse* H, const Sparse* rowsOfH, int j, double* column,
                     int* mark, int* touched) {
    memset(solver->right, 0, sizeof(double) * (size_t)H->rows);
    for (int k = H->start[j]; k < H->start[j + 1]; ++k) {
        solver->right[H->index[k]] = H->value[k];
    }
    solve(solver);
    int count = 0;
    for (int d = 0; d < H->rows; ++d) {
        double x = solver->solution[d];
        for (int k = rowsOfH->start[d]; x != 0.0 && k < rowsOfH->start[d + 1]; ++k) {
            int i = rowsOfH->index[k];
            if (mark[i] != j + 1) {
                mark[i] = j + 1;
                column[i] = 0.0;
                touched[count++] = i;
            }
            column[i] += rowsOfH->value[k] * x;
        }
    }
    return count;
}

typedef TP_ARRAY(int) Indices;
typedef TP_ARRAY(double) Values;

// All columns of W, appended to growing arrays.
static bool formW(Solver* solver, const Sparse* H, const Sparse* rowsOfH, tpArena* arena,
                  Indices* starts, Indices* rows, Values* values) {
    const tpAllocator* allocator = &arena->allocator;
    int n = H->columns;
    double* column = TP_SCRATCH(arena, double, n);
    int* mark = TP_SCRATCH_ZEROED(arena, int, n);
    int* touched = TP_SCRATCH(arena, int, n);
    if (arena->failed || !TP_PUSH(allocator, *starts, 0)) {
        return false;
    }
    for (int j = 0; j < n; ++j) {
        int count = columnOfW(solver, H, rowsOfH, j, column, mark, touched);
        if (!TP_RESERVE(allocator, *rows, rows->count + count) ||
            !TP_RESERVE(allocator, *values, values->count + count)) {
            return false;
        }
        for (int k = 0; k < count; ++k) {
            rows->data[rows->count++] = touched[k];
            values->data[values->count++] = column[touched[k]];
        }
        if (!TP_PUSH(allocator, *starts, rows->count)) {
            return false;
        }
    }
    return true;
}

// Moves everything into one piece of memory that the result owns.
static bool pack(tpFrictionGlobal* reduced, int contacts, int componentCount, const Indices* starts,
                 const Indices* rows, const Values* values) {
    size_t doubles = (size_t)values->count + (size_t)contacts + (size_t)componentCount;
    size_t ints = (size_t)starts->count + (size_t)rows->count;
    reduced->memorySize = doubles * sizeof(double) + ints * sizeof(int);
    reduced->memory = tpAllocate(&reduced->allocator, reduced->memorySize);
    if (reduced->memory == NULL && reduced->memorySize > 0) {
        return false;
    }
    double* d = reduced->memory;
    reduced->q = d;
    reduced->velocity = d + contacts;
    double* w = d + contacts + componentCount;
    int* s = (int*)(d + doubles);
    if (values->count > 0) {
        memcpy(w, values->data, sizeof(double) * (size_t)values->count);
        memcpy(s + starts->count, rows->data, sizeof(int) * (size_t)rows->count);
    }
    memcpy(s, starts->data, sizeof(int) * (size_t)starts->count);
    reduced->W = tpSparseMatrix(contacts, contacts, s, s + starts->count, w);
    return true;
}

static tpResult reduce(const tpMatrix* M, const tpMatrix* H, const double* f, const double* w,
                       tpArena* arena, Solver* solver, tpFrictionGlobal* reduced, tpError* error) {
    Sparse flipped, sortedH, rowsOfH;
    if (!transpose(M, arena, &flipped)) {
        return tpError_OutOfMemory(error);
    }
    tpMatrix flippedView = viewOf(&flipped);
    if (!transpose(&flippedView, arena, &solver->M) || !transpose(H, arena, &rowsOfH)) {
        return tpError_OutOfMemory(error);
    }
    tpMatrix rowsView = viewOf(&rowsOfH);
    if (!transpose(&rowsView, arena, &sortedH)) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = factorise(solver, arena, error);
    if (result != tp_success) {
        return result;
    }
    Indices starts = { 0 }, rows = { 0 };
    Values values = { 0 };
    bool enough = formW(solver, &sortedH, &rowsOfH, arena, &starts, &rows, &values) &&
                  pack(reduced, H->columnCount, M->rowCount, &starts, &rows, &values);
    TP_FREE_ARRAY(&arena->allocator, starts);
    TP_FREE_ARRAY(&arena->allocator, rows);
    TP_FREE_ARRAY(&arena->allocator, values);
    if (!enough) {
        return tpError_OutOfMemory(error);
    }
    memcpy(solver->right, f, sizeof(double) * (size_t)M->rowCount);
    solve(solver);
    memcpy(reduced->velocity, solver->solution, sizeof(double) * (size_t)M->rowCount);
    tpMatrix_MultiplyTransposed(H, reduced->velocity, w, reduced->q);
    return tp_success;
}

tpResult tpFriction_ReduceGlobal(const tpMatrix* M, const tpMatrix* H, const double* f,
                                 const double* w, const tpAllocator* allocator,
                                 tpFrictionGlobal* reduced, tpError* error) {
    TP_NEED(M, tp_badInput);
    *reduced =
        (tpFrictionGlobal){ .allocator = allocator != NULL ? *allocator : tpDefaultAllocator() };
    if (!isSane(M) || !isSane(H) || M->rowCount != M->columnCount || M->rowCount < 1 ||
        H->rowCount != M->rowCount) {
        return tpError_Set(error, tp_badInput,
                           "M is %d by %d and H %d by %d, with entries that "
                           "are finite: M must be square and H have its rows",
                           M->rowCount, M->columnCount, H->rowCount, H->columnCount);
    }
    tpArena arena;
    tpArena_Create(&arena, &reduced->allocator);
    Solver solver = { 0 };
    tpResult result = reduce(M, H, f, w, &arena, &solver, reduced, error);
    tpArena_Destroy(&arena);
    return result;
}

void tpFrictionGlobal_Destroy(tpFrictionGlobal* reduced) {
    TP_NEED(reduced, );
    tpRelease(&reduced->allocator, reduced->memory, reduced->memorySize);
    *reduced = (tpFrictionGlobal){ .allocator = reduced->allocator };
}
