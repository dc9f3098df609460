// Fuzzes the reader of FCLIB's HDF5 files: whatever the file, it is refused with a message or
// becomes a problem whose parts fit together, and it takes memory in proportion to its length.
//
// The input is a list of changes to one of two files made at the start, a local and a global
// problem: a byte that chooses the file, then for each change a byte that says what to do, two that
// say where among the bytes that are not zero, and what to put there. As with recordings every file
// is checked, and of those that pass the check one in eight is read by HDF5. TIPPE_FUZZ_ALL=1 reads
// them all.

// For memfd_create.
#define _GNU_SOURCE

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hdf5_check.h"
#include "base/part_file.h"
#include "problems/problem_reader.h"

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { fileCount = 2, largestFile = 1 << 17 };

typedef struct Original {
    unsigned char bytes[largestFile];
    size_t size;
    size_t places[largestFile]; // of bytes that are not zero
    size_t placeCount;
} Original;

static Original originals[fileCount];
static unsigned char changed[largestFile];
static char path[64];
static int image;
static bool opensAll;

const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    return "quarantine_size_mb=4:malloc_context_size=4";
}

// A byte of the file stands for at most about a thousand in memory, and the problem is held twice.
typedef struct Budget {
    size_t used, limit;
} Budget;

static void* budgetAllocate(size_t size, void* context) {
    Budget* budget = context;
    budget->used += size;
    REQUIRE(budget->used <= budget->limit);
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static void budgetRelease(void* memory, size_t size, void* context) {
    Budget* budget = context;
    REQUIRE(budget->used >= size);
    budget->used -= size;
    free(memory);
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

static void makeFile(int which) {
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

    Original* original = &originals[which];
    FILE* stream = fopen(path, "rb");
    REQUIRE(stream != NULL);
    original->size = fread(original->bytes, 1, largestFile, stream);
    REQUIRE(original->size > 0 && original->size < largestFile && fclose(stream) == 0);
    unlink(path);
    for (size_t i = 0; i < original->size; ++i) {
        if (original->bytes[i] != 0) {
            original->places[original->placeCount++] = i;
        }
    }
}

int LLVMFuzzerInitialize(int* argumentCount, char*** arguments) {
    (void)argumentCount;
    (void)arguments;
    snprintf(path, sizeof(path), "/tmp/tippe_fuzz_%d.h5", (int)getpid());
    for (int i = 0; i < fileCount; ++i) {
        makeFile(i);
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    image = memfd_create("problem", 0);
    REQUIRE(image >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
    opensAll = getenv("TIPPE_FUZZ_ALL") != NULL;
    return 0;
}

// Applies the changes and returns the size of the file.
static size_t change(const Original* original, const uint8_t* data, size_t length) {
    memcpy(changed, original->bytes, original->size);
    size_t size = original->size;
    while (length >= 4) {
        size_t number = (size_t)data[1] | (size_t)data[2] << 8;
        // Bytes behind a place matter as well: the high ones of a number are zeros.
        size_t where =
            (original->places[number % original->placeCount] + (data[0] >> 3 & 1)) % size;
        size_t count = 1 + (data[0] >> 4), room = size - where;
        count = count < room ? count : room;
        size_t given = count < length - 3 ? count : length - 3;
        switch (data[0] & 7) {
        case 0:
            size = where + 1;
            break;
        case 1:
            changed[where] ^= data[3];
            break;
        case 2:
            memset(changed + where, data[3], count);
            break;
        default:
            memcpy(changed + where, data + 3, given);
            break;
        }
        size_t used = (data[0] & 7) > 2 ? 3 + given : 4;
        data += used;
        length -= used;
    }
    return size;
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
    size_t size = change(&originals[data[0] % fileCount], data + 1, length - 1);
    uint64_t mix = 0;
    for (size_t i = 0; i < length; ++i) {
        mix = (mix ^ data[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    tpAllocator heap = tpDefaultAllocator();
    bool outOfMemory = false;
    REQUIRE(ftruncate(image, (off_t)size) == 0 && tpWriteAll(image, changed, size, 0));
    const char* wrong = tpCheckHdf5(image, size, tp_problemFile, tpFclibNames, &heap, &outOfMemory);
    REQUIRE(!outOfMemory);
    if (wrong != NULL || (!opensAll && mix >> 61 != 0)) {
        return 0;
    }
    Budget budget = { 0, 100 * size + ((size_t)1 << 22) };
    tpAllocator allocator = { budgetAllocate, budgetRelease, &budget };
    tpProblem* problem = NULL;
    tpError error = { .result = tp_success };
    tpResult result = tpReadProblem(path, tp_anyProblem, &allocator, &problem, &error);
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
