// The inner loops of block columns against plain sums, and all widths against each other.

#include "math/block_column.h"

#include <math.h>
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(subtractsProducts),
                                        cmocka_unit_test(othersHaveNone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
