// Friction problems from FCLIB's HDF5 files [AcaryBremondKoziaraPerignon14].
//
//     /fclib_local   W (group), vectors/q, vectors/mu, spacedim       u = W r + q
//     /fclib_global  M, H (groups), vectors/f, vectors/w, vectors/mu  M v = f + H r, u = H^T v + w
//
// A matrix is a group with m, n, nz, i, p, x: triplets (i, p, x) for nz >= 0, compressed columns for
// nz = -1, compressed rows for nz = -2. Equality constraints (V, R or G) are refused, not dropped.
//
// Nothing in the file is believed before it is checked: its structure before HDF5 sees it
// (base/hdf5_check.h), then the sides of a matrix against the lengths of its vectors, and every length
// against the bytes that the file has for it. So a file takes memory in proportion to its own length,
// times what deflate can make of a byte.

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hdf5_check.h"
#include "problems/matrix_reader.h"
#include "problems/problem_reader.h"

// Deflate cannot do better than about 1 : 1032.
static const double largestCompression = 1100.0;

// Every dataset that is opened here.
const char* const tpFclibNames[] = { "m", "n", "nz", "i",  "p",        "x",
                                     "q", "f", "w",  "mu", "spacedim", NULL };

typedef struct FclibFile {
    hid_t file;
    const char* path;
    tpError* error;
} FclibFile;

static tpResult failAt(const FclibFile* fclib, const char* dataset, const char* message) {
    return tpError_Set(fclib->error, tp_badInput, "%.600s:%s: %s", fclib->path, dataset, message);
}

static bool exists(const FclibFile* fclib, const char* name) {
    return H5Lexists(fclib->file, name, H5P_DEFAULT) > 0;
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

// Opens a dataset of numbers and gives its length; negative where it is none. The caller closes it.
static hid_t openNumbers(const FclibFile* fclib, const char* name, int* length) {
    hid_t dataset = H5Dopen2(fclib->file, name, H5P_DEFAULT);
    if (dataset < 0) {
        failAt(fclib, name, "expected a dataset, found none");
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
        failAt(fclib, name, trouble);
        H5Dclose(dataset);
        return -1;
    }
    *length = (int)count;
    return dataset;
}

// The length of a dataset of numbers.
static tpResult readLength(const FclibFile* fclib, const char* name, int* length) {
    hid_t dataset = openNumbers(fclib, name, length);
    if (dataset < 0) {
        return tp_badInput;
    }
    H5Dclose(dataset);
    return tp_success;
}

// Reads a vector of ints or doubles. Its length is whatever the dataset has, at least `least`.
static tpResult readVector(const FclibFile* fclib, const char* name, hid_t type, size_t elementSize,
                           int least, tpArena* arena, void** values, int* length) {
    hid_t dataset = openNumbers(fclib, name, length);
    if (dataset < 0) {
        return tp_badInput;
    }
    tpResult result = tp_success;
    if (*length < least) {
        char message[80];
        snprintf(message, sizeof(message), "expected at least %d numbers, found %d", least,
                 *length);
        result = failAt(fclib, name, message);
    } else if ((*values = tpArena_Get(arena, (size_t)*length * elementSize)) == NULL) {
        result = tpError_OutOfMemory(fclib->error);
    } else if (*length > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        result = failAt(fclib, name, "the numbers cannot be read");
    }
    H5Dclose(dataset);
    return result;
}

static tpResult readInts(const FclibFile* fclib, const char* group, const char* name, int least,
                         tpArena* arena, int** values, int* length) {
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return readVector(fclib, path, H5T_NATIVE_INT, sizeof(int), least, arena, (void**)values,
                      length);
}

static tpResult readInt(const FclibFile* fclib, const char* group, const char* name, int least,
                        tpArena* arena, int* value) {
    int* values = NULL;
    int length;
    tpResult result = readInts(fclib, group, name, 1, arena, &values, &length);
    if (result == tp_success) {
        *value = values[0];
        if (*value < least) {
            char path[80], message[80];
            snprintf(path, sizeof(path), "%s/%s", group, name);
            snprintf(message, sizeof(message), "expected at least %d, found %d", least, *value);
            return failAt(fclib, path, message);
        }
    }
    return result;
}

// Exactly `count` finite numbers.
static tpResult readReals(const FclibFile* fclib, const char* group, const char* name, int count,
                          tpArena* arena, const double** values) {
    char path[80];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    double* numbers;
    int length;
    tpResult result = readVector(fclib, path, H5T_NATIVE_DOUBLE, sizeof(double), count, arena,
                                 (void**)&numbers, &length);
    if (result != tp_success) {
        return result;
    }
    char message[80];
    if (length != count) {
        snprintf(message, sizeof(message), "expected %d numbers, found %d", count, length);
        return failAt(fclib, path, message);
    }
    for (int i = 0; i < count; ++i) {
        if (!(numbers[i] - numbers[i] == 0.0)) {
            snprintf(message, sizeof(message), "number %d is not finite", i + 1);
            return failAt(fclib, path, message);
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
static tpResult readRawMatrix(const FclibFile* fclib, const char* group, const char* rowVector,
                              const char* columnVector, tpArena* arena, RawMatrix* raw) {
    tpResult result;
    int iLength, pLength, rowCount, columnCount;
    if ((result = readInt(fclib, group, "m", 0, arena, &raw->m)) ||
        (result = readInt(fclib, group, "n", 0, arena, &raw->n)) ||
        (result = readInt(fclib, group, "nz", -2, arena, &raw->nz))) {
        return result;
    }
    if ((result = readLength(fclib, rowVector, &rowCount)) ||
        (result = readLength(fclib, columnVector, &columnCount))) {
        return result;
    }
    if (raw->m != rowCount || raw->n != columnCount) {
        char message[120];
        snprintf(message, sizeof(message), "the matrix is %d x %d, its vectors have %d and %d",
                 raw->m, raw->n, rowCount, columnCount);
        return failAt(fclib, group, message);
    }
    bool isTriplet = raw->nz >= 0;
    int pNeeded = isTriplet ? raw->nz : (raw->nz == -1 ? raw->n : raw->m) + 1;
    if ((result = readInts(fclib, group, "p", pNeeded, arena, &raw->p, &pLength))) {
        return result;
    }
    raw->count = isTriplet ? raw->nz : raw->p[pNeeded - 1];
    if (raw->count < 0) {
        return failAt(fclib, group, "the last number of p is negative");
    }
    if ((result = readInts(fclib, group, "i", raw->count, arena, &raw->i, &iLength))) {
        return result;
    }
    // Unused places at the end, up to nzmax, are allowed.
    char path[80];
    snprintf(path, sizeof(path), "%s/x", group);
    void* x;
    int xLength;
    result =
        readVector(fclib, path, H5T_NATIVE_DOUBLE, sizeof(double), raw->count, arena, &x, &xLength);
    raw->x = x;
    return result;
}

// One entry, checked.
static tpResult addEntry(const FclibFile* fclib, const char* group, const RawMatrix* raw, int k,
                         int row, int column, tpTriplets* triplets) {
    char message[120];
    if (row < 0 || row >= raw->m || column < 0 || column >= raw->n) {
        snprintf(message, sizeof(message), "entry %d at (%d, %d) lies outside %d x %d", k, row,
                 column, raw->m, raw->n);
        return failAt(fclib, group, message);
    }
    if (!(raw->x[k] - raw->x[k] == 0.0)) {
        snprintf(message, sizeof(message), "entry %d is not finite", k);
        return failAt(fclib, group, message);
    }
    return tpTriplets_Add(triplets, row, column, raw->x[k]) ? tp_success
                                                            : tpError_OutOfMemory(fclib->error);
}

static tpResult addEntries(const FclibFile* fclib, const char* group, const RawMatrix* raw,
                           tpTriplets* triplets) {
    tpResult result = tp_success;
    if (raw->nz >= 0) {
        for (int k = 0; result == tp_success && k < raw->count; ++k) {
            result = addEntry(fclib, group, raw, k, raw->i[k], raw->p[k], triplets);
        }
        return result;
    }
    int lineCount = raw->nz == -1 ? raw->n : raw->m;
    if (raw->p[0] != 0) {
        return failAt(fclib, group, "p should begin with 0");
    }
    for (int line = 0; result == tp_success && line < lineCount; ++line) {
        if (raw->p[line + 1] < raw->p[line] || raw->p[line + 1] > raw->count) {
            return failAt(fclib, group, "p should never fall");
        }
        for (int k = raw->p[line]; result == tp_success && k < raw->p[line + 1]; ++k) {
            bool byColumns = raw->nz == -1;
            result = addEntry(fclib, group, raw, k, byColumns ? raw->i[k] : line,
                              byColumns ? line : raw->i[k], triplets);
        }
    }
    return result;
}

static tpResult readMatrix(const FclibFile* fclib, const char* group, const char* rowVector,
                           const char* columnVector, tpOwnedProblem* owned, tpMatrix* matrix) {
    if (!exists(fclib, group)) {
        return failAt(fclib, group, "expected a matrix, found none");
    }
    tpArena scratch;
    tpArena_Create(&scratch, &owned->allocator);
    RawMatrix raw;
    tpTriplets triplets = { .allocator = owned->allocator };
    tpResult result = readRawMatrix(fclib, group, rowVector, columnVector, &scratch, &raw);
    if (result == tp_success) {
        result = addEntries(fclib, group, &raw, &triplets);
    }
    if (result == tp_success &&
        !tpTriplets_ToMatrix(&triplets, raw.m, raw.n, &owned->arena, matrix)) {
        result = tpError_OutOfMemory(fclib->error);
    }
    tpTriplets_Free(&triplets);
    tpArena_Destroy(&scratch);
    return result;
}

// Problems ------------------------------------------------------------------------------------

// Dimension and contacts from `rows`, the number of local velocities; then mu.
static tpResult readContacts(const FclibFile* fclib, const char* group, int rows,
                             tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    char vectors[40];
    snprintf(vectors, sizeof(vectors), "%s/vectors", group);
    tpResult result = readInt(fclib, group, "spacedim", 2, &owned->arena, &problem->dimension);
    if (result) {
        return result;
    }
    if (problem->dimension > 3) {
        return failAt(fclib, group, "spacedim should be 2 or 3");
    }
    if (rows % problem->dimension != 0) {
        return failAt(fclib, group, "the rows are no multiple of spacedim");
    }
    problem->kind = problem->dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem;
    problem->size = rows;
    problem->contactCount = rows / problem->dimension;
    result = readReals(fclib, vectors, "mu", problem->contactCount, &owned->arena, &problem->mu);
    for (int c = 0; result == tp_success && c < problem->contactCount; ++c) {
        if (problem->mu[c] < 0.0) {
            return failAt(fclib, vectors, "mu should not be negative");
        }
    }
    return result;
}

static tpResult readLocal(const FclibFile* fclib, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    if (exists(fclib, "/fclib_local/V") || exists(fclib, "/fclib_local/R")) {
        return failAt(fclib, "/fclib_local/V", "equality constraints are not supported");
    }
    const char* q = "/fclib_local/vectors/q";
    tpResult result = readMatrix(fclib, "/fclib_local/W", q, q, owned, &problem->matrix);
    if (result) {
        return result;
    }
    result = readContacts(fclib, "/fclib_local", problem->matrix.rowCount, owned);
    return result ? result
                  : readReals(fclib, "/fclib_local/vectors", "q", problem->size, &owned->arena,
                              &problem->q);
}

static tpResult readGlobal(const FclibFile* fclib, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    if (exists(fclib, "/fclib_global/G")) {
        return failAt(fclib, "/fclib_global/G", "equality constraints are not supported");
    }
    tpResult result;
    const char* f = "/fclib_global/vectors/f";
    const char* w = "/fclib_global/vectors/w";
    if ((result = readMatrix(fclib, "/fclib_global/M", f, f, owned, &problem->matrix)) ||
        (result = readMatrix(fclib, "/fclib_global/H", f, w, owned, &problem->H))) {
        return result;
    }
    const char* vectors = "/fclib_global/vectors";
    problem->isGlobal = true;
    if ((result = readContacts(fclib, "/fclib_global", problem->H.columnCount, owned)) ||
        (result =
             readReals(fclib, vectors, "f", problem->H.rowCount, &owned->arena, &problem->q))) {
        return result;
    }
    return readReals(fclib, vectors, "w", problem->size, &owned->arena, &problem->b);
}

static tpResult readOpened(const FclibFile* fclib, tpProblemKind kind, tpOwnedProblem* owned) {
    tpResult result;
    if (exists(fclib, "/fclib_local")) {
        result = readLocal(fclib, owned);
    } else if (exists(fclib, "/fclib_global")) {
        result = readGlobal(fclib, owned);
    } else {
        return failAt(fclib, "/", "expected a group fclib_local or fclib_global");
    }
    if (result == tp_success && kind != tp_anyProblem && kind != owned->problem.kind) {
        char message[80];
        snprintf(message, sizeof(message), "expected a problem %s, found %s",
                 tpProblemKind_Name(kind), tpProblemKind_Name(owned->problem.kind));
        result = failAt(fclib, "/", message);
    }
    return result;
}

tpResult tpReadFclib(const char* path, tpProblemKind kind, tpOwnedProblem* owned, tpError* error) {
    FclibFile fclib = { .path = path, .file = -1, .error = error };
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    bool outOfMemory = false;
    if (file < 0 || fstat(file, &status) != 0) {
        tpResult result = failAt(&fclib, "/", strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return result;
    }
    const char* wrong = tpCheckHdf5(file, (uint64_t)status.st_size, tp_problemFile, tpFclibNames,
                                    &owned->allocator, &outOfMemory);
    close(file);
    if (outOfMemory) {
        return tpError_OutOfMemory(error);
    }
    if (wrong != NULL) {
        return tpError_Set(error, tp_badInput,
                           "%.600s: an HDF5 file that is damaged, or not of the oldest format and "
                           "plain (%s)",
                           path, wrong);
    }

    // HDF5 would print its own errors; ours say more to the user.
    H5E_auto2_t printer;
    void* printerData;
    H5Eget_auto2(H5E_DEFAULT, &printer, &printerData);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    fclib.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    tpResult result;
    if (fclib.file < 0) {
        result = failAt(&fclib, "/", "an HDF5 file that cannot be opened");
    } else {
        result = readOpened(&fclib, kind, owned);
        H5Fclose(fclib.file);
    }
    H5Eset_auto2(H5E_DEFAULT, printer, printerData);
    return result;
}
