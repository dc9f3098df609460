// Recordings with a number that nobody has written.

#ifndef TIPPE_TESTS_RECORDING_FORGED_H
#define TIPPE_TESTS_RECORDING_FORGED_H

#include <hdf5.h>
#include <stdlib.h>

#include "support/check.h"

// Puts a number in the place of one in a column of whole numbers; returns the one that was there.
static inline int forge(const char* path, const char* column, int64_t row, int number) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t data = H5Dopen2(file, column, H5P_DEFAULT);
    hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(H5Dget_space(data));
    assert_true((hsize_t)row < count);
    int* numbers = malloc(sizeof(int) * count);
    assert_true(H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    int old = numbers[row];
    numbers[row] = number;
    assert_true(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    free(numbers);
    H5Dclose(data);
    H5Fclose(file);
    return old;
}

#endif
