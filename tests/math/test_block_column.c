// The inner loops of block columns against plain sums, and all widths against each other.

#include "math/block_column.h"

#include <math.h>
#include <string.h>

#include "math/block_lu.h"
#include "support/check.h"

enum { blocks = 7, listed = 5, largest = 36 };

typedef struct Sample {
    double L[listed * largest], U[largest], column[blocks * largest];
} Sample;

static void fill(Sample* sample, tpRandom* random) {
    for (int i = 0; i < listed * largest; ++i) {
        sample->L[i] = randomBetween(random, -1.0, 1.0);
    }
    for (int i = 0; i < largest; ++i) {
        sample->U[i] = randomBetween(random, -1.0, 1.0);
    }
    for (int i = 0; i < blocks * largest; ++i) {
        sample->column[i] = randomBetween(random, -1.0, 1.0);
    }
}

static void subtractsProducts(void** state) {
    (void)state;
    const int rows[listed] = { 6, 0, 3, 1, 5 };
    tpRandom random = { 11 };
    for (int size = 3; size <= 6; size += 3) {
        Sample sample;
        fill(&sample, &random);
        int square = size * size;
        double expected[blocks * largest], found[blocks * largest], wide[blocks * largest];
        memcpy(expected, sample.column, sizeof(expected));
        memcpy(found, sample.column, sizeof(found));
        memcpy(wide, sample.column, sizeof(wide));
        for (int e = 0; e < listed; ++e) {
            for (int i = 0; i < size; ++i) {
                for (int j = 0; j < size; ++j) {
                    for (int k = 0; k < size; ++k) {
                        expected[rows[e] * square + i * size + j] -=
                            sample.L[e * square + i * size + k] * sample.U[k * size + j];
                    }
                }
            }
        }
        tpBlockColumn_Find(size, 1)(sample.L, rows, listed, sample.U, found);
        for (int i = 0; i < blocks * largest; ++i) {
            CHECK_NEAR(found[i], expected[i], 1e-15);
        }
        tpBlockColumn_Subtract* four = tpBlockColumn_Find(size, 4);
        if (four != NULL) {
            four(sample.L, rows, listed, sample.U, wide);
            assert_memory_equal(wide, found, sizeof(wide));
        }
    }
}

static void othersHaveNone(void** state) {
    (void)state;
    assert_null(tpBlockColumn_Find(2, 1));
    assert_null(tpBlockColumn_Find(0, tpChooseWidth(4)));
    assert_null(tpBlockColumn_Find(6, 8));
}

static void invertsSix(void** state) {
    (void)state;
    tpRandom random = { 12 };
    tpSixKernels plain = tpSixKernels_Find(1), wide = tpSixKernels_Find(tpChooseWidth(4));
    for (int trial = 0; trial < 20; ++trial) {
        double A[largest], inverse[largest], other[largest];
        for (int i = 0; i < largest; ++i) {
            A[i] = randomBetween(&random, -1.0, 1.0) + (i % 7 == 0 ? 8.0 : 0.0);
        }
        assert_true(plain.invert(A, inverse));
        for (int i = 0; i < largest; ++i) {
            double sum = 0.0;
            for (int k = 0; k < 6; ++k) {
                sum += A[i / 6 * 6 + k] * inverse[6 * k + i % 6];
            }
            CHECK_NEAR(sum, i % 7 == 0 ? 1.0 : 0.0, 1e-14);
        }
        assert_true(wide.invert(A, other));
        assert_memory_equal(inverse, other, sizeof(other));
        // A small pivot calls for another row.
        A[0] = 0.01 * A[6];
        memset(other, 0, sizeof(other));
        memset(inverse, 0, sizeof(inverse));
        assert_false(plain.invert(A, other));
        assert_false(wide.invert(A, other));
        assert_memory_equal(inverse, other, sizeof(other));
    }
}

// To the bit of tpMultiplyBlocks, also where all products are negative zeros.
static void multipliesSix(void** state) {
    (void)state;
    tpRandom random = { 14 };
    tpSixKernels plain = tpSixKernels_Find(1), wide = tpSixKernels_Find(tpChooseWidth(4));
    for (int trial = 0; trial < 20; ++trial) {
        Sample sample;
        fill(&sample, &random);
        double* A = sample.L;
        for (int k = 0; k < 6; ++k) {
            A[6 + k] = sample.U[6 * k + 3] > 0.0 ? -0.0 : 0.0;
        }
        double expected[largest], found[largest], other[largest];
        tpMultiplyBlocks(6, 6, 6, A, sample.U, expected);
        plain.multiply(A, sample.U, found);
        wide.multiply(A, sample.U, other);
        assert_memory_equal(found, expected, sizeof(found));
        assert_memory_equal(other, expected, sizeof(other));
    }
}

static void addsCouples(void** state) {
    (void)state;
    tpRandom random = { 13 };
    const int couple[4] = { 36, 0, -1, 72 };
    for (int count = 2; count <= 3; ++count) {
        Sample sample;
        fill(&sample, &random);
        const double *left = sample.L, *right = sample.L + 36;
        double expected[blocks * largest], found[blocks * largest], wide[blocks * largest];
        memcpy(expected, sample.column, sizeof(expected));
        memcpy(found, sample.column, sizeof(found));
        memcpy(wide, sample.column, sizeof(wide));
        for (int i = 0; i < 4 * largest; ++i) {
            int c = i / 36, a = 6 * (c / 2) + i % 36 / 6, b = 6 * (c % 2) + i % 6;
            for (int k = 0; couple[c] >= 0 && k < count; ++k) {
                expected[couple[c] + i % 36] += left[12 * k + a] * right[12 * k + b];
            }
        }
        tpSixKernels_Find(1).addCouples(count, left, right, couple, found);
        tpSixKernels_Find(tpChooseWidth(4)).addCouples(count, left, right, couple, wide);
        assert_memory_equal(found, expected, sizeof(found));
        assert_memory_equal(wide, expected, sizeof(wide));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(subtractsProducts),
                                        cmocka_unit_test(invertsSix),
                                        cmocka_unit_test(multipliesSix),
                                        cmocka_unit_test(addsCouples),
                                        cmocka_unit_test(othersHaveNone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
