// The file driver: at any moment the file on disk is what the last commit made it.
//
// A copy of the file taken between any two calls is what a kill there would leave. Each copy is
// opened by plain HDF5 and must hold exactly what was committed.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made_frames.h"
#include "recording/guarded_file.h"
#include "recording/journal.h"

static char path[256], copyPath[256], journalPath[256];

static void copyFile(void) {
    char command[600];
    snprintf(command, sizeof(command), "cp %s %s", path, copyPath);
    assert_int_equal(system(command), 0);
}

enum { datasetCount = 4, rowsMost = 20000 };

static double value(int dataset, int row) {
    return sin(dataset + 0.001 * row) + dataset;
}

static hid_t createDataset(hid_t file, int index) {
    char name[16];
    snprintf(name, sizeof(name), "d%d", index);
    hsize_t size = 0, limit = H5S_UNLIMITED, chunk = (hsize_t)(64 << index);
    hid_t space = H5Screate_simple(1, &size, &limit), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(create, 1, &chunk);
    H5Pset_deflate(create, 1);
    hid_t data = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Pclose(create);
    H5Sclose(space);
    return data;
}

static void appendValues(hid_t data, int dataset, int before, int count) {
    hsize_t start = (hsize_t)before, many = (hsize_t)count, size = start + many;
    double* values = malloc((size_t)count * sizeof(double));
    for (int i = 0; i < count; ++i) {
        values[i] = value(dataset, before + i);
    }
    assert_true(H5Dset_extent(data, &size) >= 0);
    hid_t space = H5Dget_space(data), memory = H5Screate_simple(1, &many, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &many, NULL);
    assert_true(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    free(values);
}

// The file at `where`, read by plain HDF5.
static void checkFile(const char* where, const int* rows) {
    hid_t file = H5Fopen(where, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    static double values[rowsMost];
    for (int i = 0; i < datasetCount; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "d%d", i);
        hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
        assert_true(data >= 0);
        hid_t space = H5Dget_space(data);
        assert_int_equal(H5Sget_simple_extent_npoints(space), rows[i]);
        assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        for (int k = 0; k < rows[i]; ++k) {
            assert_true(values[k] == value(i, k));
        }
        H5Sclose(space);
        H5Dclose(data);
    }
    H5Fclose(file);
}

// Not forced to disk: the copies are taken through the same memory.
static hid_t createFile(int* reason) {
    tpAllocator allocator = tpDefaultAllocator();
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    hid_t file = tpGuardedFile_Create(descriptor, path, journalPath, false, &allocator, reason);
    close(descriptor);
    return file;
}

static void testEveryMoment(void** state) {
    (void)state;
    int reason = 0;
    hid_t file = createFile(&reason);
    assert_true(file >= 0);
    hid_t data[datasetCount];
    int rows[datasetCount] = { 0 }, committed[datasetCount] = { 0 };
    for (int i = 0; i < datasetCount; ++i) {
        data[i] = createDataset(file, i);
    }
    assert_int_equal(tpGuardedFile_Commit(file), 0);
    tpRandom random = { 5 };
    for (int round = 0; round < 60; ++round) {
        int writes = (int)(randomBits(&random) % 4);
        for (int w = 0; w < writes; ++w) {
            int i = (int)(randomBits(&random) % datasetCount);
            int count = 1 + (int)(randomBits(&random) % 300);
            if (rows[i] + count <= rowsMost) {
                appendValues(data[i], i, rows[i], count);
                rows[i] += count;
            }
        }
        if (round % 7 == 3) { // metadata goes to the driver, but nothing is committed
            assert_true(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
        }
        copyFile();
        checkFile(copyPath, committed);
        if (round % 3 == 0) {
            assert_int_equal(tpGuardedFile_Commit(file), 0);
            memcpy(committed, rows, sizeof(rows));
        }
    }
    assert_int_equal(tpGuardedFile_Close(file, false), 0);
    checkFile(path, rows);
    assert_int_equal(access(journalPath, F_OK), -1);
}

// What is written over committed pages is read back before it is committed, over many pages at
// once.
static void testReadBack(void** state) {
    (void)state;
    enum { count = 50000 };
    static double values[count], read[count];
    int reason = 0;
    hid_t file = createFile(&reason);
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t data =
        H5Dcreate2(file, "plain", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < count; ++i) {
            values[i] = value(round, i);
        }
        assert_true(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
        assert_memory_equal(read, values, sizeof(values));
        assert_int_equal(tpGuardedFile_Commit(file), 0);
    }
    H5Dclose(data);
    H5Sclose(space);
    assert_int_equal(tpGuardedFile_Close(file, false), 0);
}

// Discarding returns to the last commit.
static void testDiscard(void** state) {
    (void)state;
    int reason = 0, rows[datasetCount] = { 100, 0, 0, 0 };
    hid_t file = createFile(&reason);
    hid_t data[datasetCount];
    for (int i = 0; i < datasetCount; ++i) {
        data[i] = createDataset(file, i);
    }
    appendValues(data[0], 0, 0, 100);
    assert_int_equal(tpGuardedFile_Commit(file), 0);
    appendValues(data[0], 0, 100, 5000);
    appendValues(data[2], 2, 0, 5000);
    assert_int_equal(tpGuardedFile_Close(file, true), 0);
    checkFile(path, rows);
}

static void testCannotCreate(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    int reason = 0;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = tpGuardedFile_Create(-1, "none", journalPath, true, &allocator, &reason);
    assert_true(file < 0);
    assert_int_equal(reason, EBADF);
}

static int setUp(void** state) {
    (void)state;
    strcpy(path, testPath("guarded.h5"));
    strcpy(copyPath, testPath("copy.h5"));
    strcpy(journalPath, testPath("guarded.h5.journal"));
    return 0;
}

static int tearDown(void** state) {
    (void)state;
    removeTestDirectory();
    return 0;
}

// Two files are open at once, each with numbers of its own.
static void testSideBySide(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    char journals[2][256];
    const char* paths[2] = { path, copyPath };
    hid_t files[2], data[2][datasetCount];
    int reason = 0, rows[2][datasetCount] = { { 10, 300, 7, 1000 }, { 500, 3, 90, 0 } };
    for (int k = 0; k < 2; ++k) {
        snprintf(journals[k], sizeof(journals[k]), "%.240s.%d", journalPath, k);
        int descriptor = open(paths[k], O_RDWR | O_CREAT | O_TRUNC, 0666);
        files[k] =
            tpGuardedFile_Create(descriptor, paths[k], journals[k], false, &allocator, &reason);
        assert_true(files[k] >= 0);
        close(descriptor);
        for (int i = 0; i < datasetCount; ++i) {
            data[k][i] = createDataset(files[k], i);
        }
    }
    for (int i = 0; i < datasetCount; ++i) {
        for (int k = 0; k < 2; ++k) {
            appendValues(data[k][i], i, 0, rows[k][i]);
        }
    }
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < datasetCount; ++i) {
            H5Dclose(data[k][i]);
        }
        assert_int_equal(tpGuardedFile_Close(files[k], false), 0);
        checkFile(paths[k], rows[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testSideBySide),   cmocka_unit_test(testEveryMoment),
        cmocka_unit_test(testReadBack),     cmocka_unit_test(testDiscard),
        cmocka_unit_test(testCannotCreate),
    };
    return cmocka_run_group_tests(tests, setUp, tearDown);
}
