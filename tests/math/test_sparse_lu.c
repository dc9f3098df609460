// Sparse factors against products with the matrix itself: random bases, updates, dependent columns.

#include "math/sparse_lu.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

enum { maxSize = 60, maxEntries = maxSize * maxSize };

typedef struct Basis {
    tpSparseColumns columns;
    int starts[maxSize + 1];
    int rows[maxEntries];
    double values[maxEntries];
    double dense[maxSize][maxSize]; // by column
} Basis;

static void compress(Basis* basis, int n) {
    int used = 0;
    for (int j = 0; j < n; ++j) {
        basis->starts[j] = used;
        for (int i = 0; i < n; ++i) {
            if (basis->dense[j][i] != 0.0) {
                basis->rows[used] = i;
                basis->values[used++] = basis->dense[j][i];
            }
        }
    }
    basis->starts[n] = used;
    basis->columns.n = n;
    basis->columns.starts = basis->starts;
    basis->columns.rows = basis->rows;
    basis->columns.values = basis->values;
}

// A mixture of unit columns and sparse random ones, with a strong diagonal so that it is regular.
static void randomColumn(Basis* basis, tpRandom* random, int n, int j, double density) {
    memset(basis->dense[j], 0, sizeof(basis->dense[j]));
    if (randomBetween(random, 0.0, 1.0) < 0.4) {
        basis->dense[j][j] = 1.0;
        return;
    }
    for (int i = 0; i < n; ++i) {
        if (randomBetween(random, 0.0, 1.0) < density) {
            basis->dense[j][i] = randomBetween(random, -1.0, 1.0);
        }
    }
    basis->dense[j][j] += 3.0;
}

static void multiply(const Basis* basis, int n, const double* x, double* b) {
    memset(b, 0, sizeof(double) * (size_t)n);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            b[i] += basis->dense[j][i] * x[j];
        }
    }
}

static void checkSolves(const tpSparseLu* factor, const Basis* basis, tpRandom* random, int n) {
    double x[maxSize], b[maxSize], y[maxSize], solved[maxSize];
    for (int i = 0; i < n; ++i) {
        x[i] = randomBetween(random, -1.0, 1.0);
    }
    multiply(basis, n, x, b);
    tpSparseLu_Solve(factor, b, solved);
    for (int i = 0; i < n; ++i) {
        CHECK_NEAR(solved[i], x[i], 1e-9);
    }
    // B'y = c with c = B'x gives y = x.
    for (int j = 0; j < n; ++j) {
        b[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            b[j] += basis->dense[j][i] * x[i];
        }
    }
    tpSparseLu_SolveTransposed(factor, b, y);
    for (int i = 0; i < n; ++i) {
        CHECK_NEAR(y[i], x[i], 1e-9);
    }
}

static void solvesRandomBases(void** state) {
    (void)state;
    tpRandom random = { 11 };
    tpArena arena;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena_Create(&arena, &allocator);
    double work = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        static Basis basis;
        int dependent[maxSize], replacedBy[maxSize];
        int n = 1 + (int)(randomBits(&random) % maxSize);
        double density = randomBetween(&random, 0.02, 0.3);
        for (int j = 0; j < n; ++j) {
            randomColumn(&basis, &random, n, j, density);
        }
        compress(&basis, n);
        tpSparseLu factor;
        assert_true(tpSparseLu_Create(&factor, &arena, &work, n, 10));
        int count = tpSparseLu_Factorise(&factor, &basis.columns, 1e-12, dependent, replacedBy);
        assert_int_equal(count, 0);
        checkSolves(&factor, &basis, &random, n);
        // Replace columns one after the other; the solves must follow.
        for (int update = 0; update < 10; ++update) {
            double alpha[maxSize], column[maxSize];
            int j = (int)(randomBits(&random) % (uint64_t)n);
            randomColumn(&basis, &random, n, j, density);
            memcpy(column, basis.dense[j], sizeof(column));
            tpSparseLu_Solve(&factor, column, alpha);
            tpSparseLu_Replace(&factor, j, alpha);
            checkSolves(&factor, &basis, &random, n);
        }
        tpArena_Reset(&arena);
    }
    tpArena_Destroy(&arena);
}

// Columns that are sums of others are found, and the basis with unit columns instead is solved.
static void findsDependentColumns(void** state) {
    (void)state;
    tpRandom random = { 12 };
    tpArena arena;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena_Create(&arena, &allocator);
    double work = 0.0;
    for (int trial = 0; trial < 100; ++trial) {
        static Basis basis;
        int dependent[maxSize], replacedBy[maxSize];
        int n = 6 + (int)(randomBits(&random) % (maxSize - 6));
        for (int j = 0; j < n; ++j) {
            randomColumn(&basis, &random, n, j, 0.2);
        }
        int defects = 1 + (int)(randomBits(&random) % 2);
        for (int d = 0; d < defects; ++d) {
            for (int i = 0; i < n; ++i) {
                basis.dense[d][i] = basis.dense[d + 2][i] - 2.0 * basis.dense[d + 4][i];
            }
        }
        compress(&basis, n);
        tpSparseLu factor;
        assert_true(tpSparseLu_Create(&factor, &arena, &work, n, 1));
        int count = tpSparseLu_Factorise(&factor, &basis.columns, 1e-12, dependent, replacedBy);
        assert_int_equal(count, defects);
        for (int d = 0; d < count; ++d) {
            memset(basis.dense[dependent[d]], 0, sizeof(basis.dense[0]));
            basis.dense[dependent[d]][replacedBy[d]] = 1.0;
        }
        checkSolves(&factor, &basis, &random, n);
        tpArena_Reset(&arena);
    }
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesRandomBases),
        cmocka_unit_test(findsDependentColumns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
