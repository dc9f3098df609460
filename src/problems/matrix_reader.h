// Matrices of problem files: text in three storages, and entries from anywhere into columns.

#ifndef TIPPE_SRC_PROBLEMS_MATRIX_READER_H
#define TIPPE_SRC_PROBLEMS_MATRIX_READER_H

#include "base/memory.h"
#include "problems/scanner.h"
#include "tippe/solver.h"

// Entries in any order; an entry that stands twice is added up.
typedef struct tpTriplets {
    tpAllocator allocator;
    TP_ARRAY(int) rows;
    TP_ARRAY(int) columns;
    TP_ARRAY(double) values;
} tpTriplets;

// False if memory ran out.
bool tpTriplets_Add(tpTriplets* triplets, int row, int column, double value);
void tpTriplets_Free(tpTriplets* triplets);

// The sparse matrix of the entries, which must lie inside it, in memory of the arena.
bool tpTriplets_ToMatrix(const tpTriplets* triplets, int rowCount, int columnCount, tpArena* arena,
                         tpMatrix* matrix);

// Reads "storage size0 size1 ..." [the NumericsMatrix of Siconos]. `name` is the matrix's in
// messages. The arrays come from the arena.
tpResult tpReadMatrix(tpScanner* scanner, const char* name, tpArena* arena, tpMatrix* matrix);

#endif
