// Numbers and matrices out of an HDF5 file, each checked before it is believed.

#include "problems/problem_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "problems/matrix_reader.h"

// Deflate cannot do better than about 1 : 1032.
static const double largestCompression = 1100.0;

tpResult tpProblemFile_Fail(const tpProblemFile* file, const char* dataset, const char* message) {
    return tpError_Set(file->error, tp_badInput, "%.600s:%s: %s", file->path, dataset, message);
}

bool tpProblemFile_Has(const tpProblemFile* file, const char* name) {
    return H5Lexists(file->id, name, H5P_DEFAULT) > 0;
}

// Datasets ------------------------------------------------------------------------------------

// What is wrong with an open dataset of `count` elements; NULL: nothing.
static const char* findTrouble(hid_t dataset, H5T_class_t class, hssize_t count) {
    if (class != H5T_INTEGER && class != H5T_FLOAT) {
        return "expected numbers";
    }
    if (count < 0 || count > INT_MAX - 1) {
        return "expected a vector of at most 2^31 - 2 numbers";
    }
    // Of numbers that were never written the file holds nothing.
    if ((double)count > largestCompression * (double)H5Dget_storage_size(dataset)) {
        return "more numbers than the file holds bytes for";
    }
    return NULL;
}

// Opens a dataset of numbers and gives its length; negative if it is none. The caller closes it.
static hid_t openNumbers(const tpProblemFile* file, const char* name, int* length) {
    hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
    if (dataset < 0) {
        tpProblemFile_Fail(file, name, "expected a dataset, found none");
        return -1;
    }
    hid_t type = H5Dget_type(dataset);
    hid_t space = H5Dget_space(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    const char* trouble = findTrouble(dataset, class, count);
    if (trouble != NULL) {
        tpProblemFile_Fail(file, name, trouble);
        H5Dclose(dataset);
        return -1;
    }
    *length = (int)count;
    return dataset;
}

// The length of a dataset of numbers.
static tpResult readLength(const tpProblemFile* file, const char* name, int* length) {
    hid_t dataset = openNumbers(file, name, length);
    if (dataset < 0) {
        return tp_badInput;
    }
    H5Dclose(dataset);
    return tp_success;
}

// Reads a vector of ints or doubles. Its length is whatever the dataset has, at least `least`.
static tpResult readVector(const tpProblemFile* file, const char* name, hid_t type,
                           size_t elementSize, int least, tpArena* arena, void** values,
                           int* length) {
    hid_t dataset = openNumbers(file, name, length);
    if (dataset < 0) {
        return tp_badInput;
    }
    tpResult result = tp_success;
    if (*length < least) {
        char message[80];
        snprintf(message, sizeof(message), "expected at least %d numbers, found %d", least,
                 *length);
        result = tpProblemFile_Fail(file, name, message);
    } else if ((*values = tpArena_Get(arena, (size_t)*length * elementSize)) == NULL) {
        result = tpError_OutOfMemory(file->error);
    } else if (*length > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        result = tpProblemFile_Fail(file, name, "the numbers cannot be read");
    }
    H5Dclose(dataset);
    return result;
}

tpResult tpProblemFile_ReadInts(const tpProblemFile* file, const char* group, const char* name,
                                int least, tpArena* arena, int** values, int* length) {
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return readVector(file, path, H5T_NATIVE_INT, sizeof(int), least, arena, (void**)values,
                      length);
}

tpResult tpProblemFile_ReadInt(const tpProblemFile* file, const char* group, const char* name,
                               int least, tpArena* arena, int* value) {
    int* values = NULL;
    int length;
    tpResult result = tpProblemFile_ReadInts(file, group, name, 1, arena, &values, &length);
    if (result == tp_success) {
        *value = values[0];
        if (*value < least) {
            char path[80], message[80];
            snprintf(path, sizeof(path), "%s/%s", group, name);
            snprintf(message, sizeof(message), "expected at least %d, found %d", least, *value);
            return tpProblemFile_Fail(file, path, message);
        }
    }
    return result;
}

// Exactly `count` finite numbers.
tpResult tpProblemFile_ReadReals(const tpProblemFile* file, const char* group, const char* name,
                                 int count, tpArena* arena, const double** values) {
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    double* numbers;
    int length;
    tpResult result = readVector(file, path, H5T_NATIVE_DOUBLE, sizeof(double), count, arena,
                                 (void**)&numbers, &length);
    if (result != tp_success) {
        return result;
    }
    char message[80];
    if (length != count) {
        snprintf(message, sizeof(message), "expected %d numbers, found %d", count, length);
        return tpProblemFile_Fail(file, path, message);
    }
    for (int i = 0; i < count; ++i) {
        if (!(numbers[i] - numbers[i] == 0.0)) {
            snprintf(message, sizeof(message), "number %d is not finite", i + 1);
            return tpProblemFile_Fail(file, path, message);
        }
    }
    *values = numbers;
    return tp_success;
}

// Matrices ------------------------------------------------------------------------------------

typedef struct RawMatrix {
    int m, n, nz;
    int* i;
    int* p;
    const double* x;
    int count; // entries
} RawMatrix;

// `rowVector` and `columnVector` name vectors as long as the sides.
static tpResult readRawMatrix(const tpProblemFile* file, const char* group, const char* rowVector,
                              const char* columnVector, tpArena* arena, RawMatrix* raw) {
    tpResult result;
    int iLength, pLength, rowCount, columnCount;
    if ((result = tpProblemFile_ReadInt(file, group, "m", 0, arena, &raw->m)) ||
        (result = tpProblemFile_ReadInt(file, group, "n", 0, arena, &raw->n)) ||
        (result = tpProblemFile_ReadInt(file, group, "nz", -2, arena, &raw->nz))) {
        return result;
    }
    if ((result = readLength(file, rowVector, &rowCount)) ||
        (result = readLength(file, columnVector, &columnCount))) {
        return result;
    }
    if (raw->m != rowCount || raw->n != columnCount) {
        char message[120];
        snprintf(message, sizeof(message), "the matrix is %d x %d, its vectors have %d and %d",
                 raw->m, raw->n, rowCount, columnCount);
        return tpProblemFile_Fail(file, group, message);
    }
    bool isTriplet = raw->nz >= 0;
    int pNeeded = isTriplet ? raw->nz : (raw->nz == -1 ? raw->n : raw->m) + 1;
    if ((result = tpProblemFile_ReadInts(file, group, "p", pNeeded, arena, &raw->p, &pLength))) {
        return result;
    }
    raw->count = isTriplet ? raw->nz : raw->p[pNeeded - 1];
    if (raw->count < 0) {
        return tpProblemFile_Fail(file, group, "the last number of p is negative");
    }
    if ((result = tpProblemFile_ReadInts(file, group, "i", raw->count, arena, &raw->i, &iLength))) {
        return result;
    }
    // Unused places at the end, up to nzmax, are allowed.
    char path[80];
    snprintf(path, sizeof(path), "%s/x", group);
    void* x;
    int xLength;
    result =
        readVector(file, path, H5T_NATIVE_DOUBLE, sizeof(double), raw->count, arena, &x, &xLength);
    raw->x = x;
    return result;
}

// One entry, checked.
static tpResult addEntry(const tpProblemFile* file, const char* group, const RawMatrix* raw, int k,
                         int row, int column, tpTriplets* triplets) {
    char message[120];
    if (row < 0 || row >= raw->m || column < 0 || column >= raw->n) {
        snprintf(message, sizeof(message), "entry %d at (%d, %d) lies outside %d x %d", k, row,
                 column, raw->m, raw->n);
        return tpProblemFile_Fail(file, group, message);
    }
    if (!(raw->x[k] - raw->x[k] == 0.0)) {
        snprintf(message, sizeof(message), "entry %d is not finite", k);
        return tpProblemFile_Fail(file, group, message);
    }
    return tpTriplets_Add(triplets, row, column, raw->x[k]) ? tp_success
                                                            : tpError_OutOfMemory(file->error);
}

static tpResult addEntries(const tpProblemFile* file, const char* group, const RawMatrix* raw,
                           tpTriplets* triplets) {
    tpResult result = tp_success;
    if (raw->nz >= 0) {
        for (int k = 0; result == tp_success && k < raw->count; ++k) {
            result = addEntry(file, group, raw, k, raw->i[k], raw->p[k], triplets);
        }
        return result;
    }
    int lineCount = raw->nz == -1 ? raw->n : raw->m;
    if (raw->p[0] != 0) {
        return tpProblemFile_Fail(file, group, "p should begin with 0");
    }
    for (int line = 0; result == tp_success && line < lineCount; ++line) {
        if (raw->p[line + 1] < raw->p[line] || raw->p[line + 1] > raw->count) {
            return tpProblemFile_Fail(file, group, "p should never fall");
        }
        for (int k = raw->p[line]; result == tp_success && k < raw->p[line + 1]; ++k) {
            bool byColumns = raw->nz == -1;
            result = addEntry(file, group, raw, k, byColumns ? raw->i[k] : line,
                              byColumns ? line : raw->i[k], triplets);
        }
    }
    return result;
}

tpResult tpProblemFile_ReadMatrix(const tpProblemFile* file, const char* group,
                                  const char* rowVector, const char* columnVector,
                                  tpOwnedProblem* owned, tpMatrix* matrix) {
    if (!tpProblemFile_Has(file, group)) {
        return tpProblemFile_Fail(file, group, "expected a matrix, found none");
    }
    tpArena scratch;
    tpArena_Create(&scratch, &owned->allocator);
    RawMatrix raw;
    tpTriplets triplets = { .allocator = owned->allocator };
    tpResult result = readRawMatrix(file, group, rowVector, columnVector, &scratch, &raw);
    if (result == tp_success) {
        result = addEntries(file, group, &raw, &triplets);
    }
    if (result == tp_success &&
        !tpTriplets_ToMatrix(&triplets, raw.m, raw.n, &owned->arena, matrix)) {
        result = tpError_OutOfMemory(file->error);
    }
    tpTriplets_Free(&triplets);
    tpArena_Destroy(&scratch);
    return result;
}
