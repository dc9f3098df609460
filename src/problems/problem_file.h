// An open HDF5 file with a problem in it. What is wrong is told with the name of the dataset.

#ifndef TIPPE_SRC_PROBLEMS_PROBLEM_FILE_H
#define TIPPE_SRC_PROBLEMS_PROBLEM_FILE_H

#include <hdf5.h>

#include "problems/problem_reader.h"

typedef struct tpProblemFile {
    hid_t id;
    const char* path;
    tpError* error;
} tpProblemFile;

// Writes "path:dataset: message" and returns tp_badInput.
tpResult tpProblemFile_Fail(const tpProblemFile* file, const char* dataset, const char* message);

// Whether there is a dataset or group of this name.
bool tpProblemFile_Has(const tpProblemFile* file, const char* name);

// Whole numbers, at least `least` of them.
tpResult tpProblemFile_ReadInts(const tpProblemFile* file, const char* group, const char* name,
                                int least, tpArena* arena, int** values, int* length);

// One whole number, at least `least`.
tpResult tpProblemFile_ReadInt(const tpProblemFile* file, const char* group, const char* name,
                               int least, tpArena* arena, int* value);

// Exactly `count` finite numbers.
tpResult tpProblemFile_ReadReals(const tpProblemFile* file, const char* group, const char* name,
                                 int count, tpArena* arena, const double** values);

// A matrix that is a group m, n, nz, i, p, x: triplets (i, p, x) for nz >= 0, compressed columns
// for nz = -1, compressed rows for nz = -2. `rowVector` and `columnVector` name vectors as long as
// its sides.
tpResult tpProblemFile_ReadMatrix(const tpProblemFile* file, const char* group,
                                  const char* rowVector, const char* columnVector,
                                  tpOwnedProblem* owned, tpMatrix* matrix);

// The group /tippe: blocks of all kinds, given by bodies or by W (body_form.c).
tpResult tpReadBodyForm(const tpProblemFile* file, tpOwnedProblem* owned);

#endif
