// Entries of a sparse matrix in any order, and from them the matrix by columns.

#include "problems/matrix_reader.h"

bool tpTriplets_Add(tpTriplets* triplets, int row, int column, double value) {
    return TP_PUSH(&triplets->allocator, triplets->rows, row) &&
           TP_PUSH(&triplets->allocator, triplets->columns, column) &&
           TP_PUSH(&triplets->allocator, triplets->values, value);
}

void tpTriplets_Free(tpTriplets* triplets) {
    TP_FREE_ARRAY(&triplets->allocator, triplets->rows);
    TP_FREE_ARRAY(&triplets->allocator, triplets->columns);
    TP_FREE_ARRAY(&triplets->allocator, triplets->values);
}

// Counts of `keys` become starts: starts[k] is the first place of key k in sorted order.
static void countStarts(const int* keys, int count, int* starts, int keyCount) {
    for (int k = 0; k <= keyCount; ++k) {
        starts[k] = 0;
    }
    for (int i = 0; i < count; ++i) {
        ++starts[keys[i] + 1];
    }
    for (int k = 0; k < keyCount; ++k) {
        starts[k + 1] += starts[k];
    }
}

// Two stable counting sorts, by row and then by column, so that rows ascend inside a column. Equal
// entries are then neighbours, in the order they were given, and are added up in that order.
bool tpTriplets_ToMatrix(const tpTriplets* triplets, int rowCount, int columnCount, tpArena* arena,
                         tpMatrix* matrix) {
    int count = triplets->values.count;
    int* starts = TP_SCRATCH(arena, int, columnCount + 1);
    int* rows = TP_SCRATCH(arena, int, count);
    double* values = TP_SCRATCH(arena, double, count);
    tpArenaMark mark = tpArena_Mark(arena);
    int* byRow = TP_SCRATCH(arena, int, count);
    int* next = TP_SCRATCH(arena, int, (rowCount > columnCount ? rowCount : columnCount) + 1);
    if (starts == NULL || rows == NULL || values == NULL || byRow == NULL || next == NULL) {
        return false;
    }
    countStarts(triplets->rows.data, count, next, rowCount);
    for (int i = 0; i < count; ++i) {
        byRow[next[triplets->rows.data[i]]++] = i;
    }
    countStarts(triplets->columns.data, count, next, columnCount);
    for (int j = 0; j <= columnCount; ++j) {
        starts[j] = next[j];
    }
    for (int k = 0; k < count; ++k) {
        int i = byRow[k];
        int place = next[triplets->columns.data[i]]++;
        rows[place] = triplets->rows.data[i];
        values[place] = triplets->values.data[i];
    }
    tpArena_Release(arena, mark);

    int kept = 0;
    for (int j = 0, k = 0; j < columnCount; ++j) {
        int first = kept;
        for (int end = starts[j + 1]; k < end; ++k) {
            if (kept > first && rows[kept - 1] == rows[k]) {
                values[kept - 1] += values[k];
            } else {
                rows[kept] = rows[k];
                values[kept] = values[k];
                ++kept;
            }
        }
        starts[j] = first;
    }
    starts[columnCount] = kept;
    *matrix = tpSparseMatrix(rowCount, columnCount, starts, rows, values);
    return true;
}
