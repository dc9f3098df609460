// Fuzzes the reader of FCLIB's HDF5 files: whatever the file, it is refused with a message or
// becomes a problem whose parts fit together, and it takes memory in proportion to its length.
//
// The input is a byte that chooses one of two files, a local and a global problem, then a list of
// changes to it (changed_file.h). As with recordings every file is checked, and of those that pass
// the check one in eight is read by HDF5. TIPPE_FUZZ_ALL=1 reads them all.

// For memfd_create.
#define _GNU_SOURCE

#include <hdf5.h>
#include <math.h>

#include "base/hdf5_check.h"
#include "base/part_file.h"
#include "budget.h"
#include "changed_file.h"
#include "problems/problem_reader.h"
#include "recording/journal.h"

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments);

enum { fileCount = 2, placeBytes = 2 };

static OriginalFile originals[fileCount];
static FuzzImage image;

const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    return "quarantine_size_mb=4:malloc_context_size=4";
}

static void putNumbers(hid_t file, const char* name, hid_t type, const void* values, int count,
                       bool isPacked) {
    hsize_t length = (hsize_t)count;
    hid_t links = H5Pcreate(H5P_LINK_CREATE), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (isPacked) {
        H5Pset_chunk(create, 1, &length);
        H5Pset_shuffle(create);
        H5Pset_deflate(create, 4);
    }
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, links, create, H5P_DEFAULT);
    REQUIRE(dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(create);
    H5Pclose(links);
}

static void putInts(hid_t file, const char* group, const char* name, const int* values, int count) {
    char full[80];
    snprintf(full, sizeof(full), "%s/%s", group, name);
    putNumbers(file, full, H5T_NATIVE_INT, values, count, false);
}

// The identity of size n, by columns (layout -1), rows (-2) or triplets.
static void putIdentity(hid_t file, const char* group, int n, int layout, bool isPacked) {
    int i[8], p[9];
    double x[8];
    for (int k = 0; k <= n; ++k) {
        p[k] = k;
    }
    for (int k = 0; k < n; ++k) {
        i[k] = k;
        x[k] = 1.0 + k;
    }
    int nz = layout < 0 ? layout : n;
    char name[80];
    putInts(file, group, "m", &n, 1);
    putInts(file, group, "n", &n, 1);
    putInts(file, group, "nz", &nz, 1);
    putInts(file, group, "nzmax", &n, 1);
    putInts(file, group, "i", i, n);
    putInts(file, group, "p", p, layout < 0 ? n + 1 : n);
    snprintf(name, sizeof(name), "%s/x", group);
    putNumbers(file, name, H5T_NATIVE_DOUBLE, x, n, isPacked);
}

static void makeFile(int which, const char* path) {
    const double vector[6] = { -1.0, 0.5, 0.25, -2.0, 0.0, 1.0 };
    const double mu[2] = { 0.5, 0.7 };
    int dimension = 3;
    const char* title[1] = { "a title" };
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(file >= 0);
    const char* group = which == 0 ? "/fclib_local" : "/fclib_global";
    char name[80];
    if (which == 0) {
        putIdentity(file, "/fclib_local/W", 6, -1, true);
        putNumbers(file, "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, vector, 6, false);
    } else {
        putIdentity(file, "/fclib_global/M", 6, 0, false);
        putIdentity(file, "/fclib_global/H", 6, -2, false);
        putNumbers(file, "/fclib_global/vectors/f", H5T_IEEE_F32BE, vector, 6, false);
        putNumbers(file, "/fclib_global/vectors/w", H5T_NATIVE_DOUBLE, vector, 6, true);
    }
    snprintf(name, sizeof(name), "%s/vectors/mu", group);
    putNumbers(file, name, H5T_NATIVE_DOUBLE, mu, 2, false);
    putInts(file, group, "spacedim", &dimension, 1);
    // A text of variable length, as many programs write it: never read, and no reason to refuse the
    // file.
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    putNumbers(file, "/info/title", text, title, 1, false);
    H5Tclose(text);
    H5Fclose(file);

    takeOriginal(&originals[which], path);
}

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments) {
    (void)argumentCount;
    (void)arguments;
    char path[64];
    nameScratch(path);
    for (int i = 0; i < fileCount; ++i) {
        makeFile(i, path);
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    openImage(&image);
    return 0;
}

static void checkProblem(const tpProblem* problem) {
    int rowCount = problem->isGlobal ? problem->H.rowCount : problem->size;
    REQUIRE(problem->dimension == 2 || problem->dimension == 3);
    REQUIRE(problem->size == problem->dimension * problem->contactCount);
    REQUIRE(problem->matrix.rowCount == rowCount && problem->matrix.columnCount == rowCount);
    REQUIRE(!problem->isGlobal || problem->H.columnCount == problem->size);
    for (int i = 0; i < rowCount; ++i) {
        REQUIRE(isfinite(problem->q[i]));
    }
    for (int i = 0; i < problem->contactCount; ++i) {
        REQUIRE(problem->mu[i] >= 0.0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length) {
    if (length == 0) {
        return 0;
    }
    size_t size =
        changeFile(&image, &originals[data[0] % fileCount], placeBytes, data + 1, length - 1);
    tpAllocator heap = tpDefaultAllocator();
    bool outOfMemory = false;
    REQUIRE(ftruncate(image.descriptor, (off_t)size) == 0 &&
            tpWriteAll(image.descriptor, image.bytes, size, 0));
    const char* wrong =
        tpCheckHdf5(image.descriptor, size, tp_problemFile, tpFclibNames, &heap, &outOfMemory);
    REQUIRE(!outOfMemory);
    if (wrong != NULL || (!image.opensAll && tpHashBytes(data, length) % 8 != 0)) {
        return 0;
    }
    Budget budget = { 0, 100 * size + ((size_t)1 << 22) };
    tpAllocator allocator = { budgetAllocate, budgetRelease, &budget };
    tpProblem* problem = NULL;
    tpError error = { .result = tp_success };
    tpResult result = tpReadProblem(image.path, tp_anyProblem, &allocator, &problem, &error);
    REQUIRE((result == tp_success) == (problem != NULL));
    if (problem != NULL) {
        checkProblem(problem);
    } else {
        REQUIRE(error.message[0] != '\0');
    }
    tpDestroyProblem(problem);
    REQUIRE(budget.used == 0);
    return 0;
}
