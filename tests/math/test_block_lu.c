// Sparse LU of small blocks against products with the matrix itself.

#include "math/block_lu.h"

#include <string.h>

#include "support/check.h"

enum { mostBlocks = 40, mostRows = mostBlocks * TP_BLOCK_MAX };

// A block matrix with random blocks at random couples, strong on the diagonal.
typedef struct Matrix {
    tpBlockMatrix view;
    int row[mostBlocks + 1], columnStart[mostBlocks + 1];
    int blockRow[mostBlocks * mostBlocks], value[mostBlocks * mostBlocks];
    double values[mostRows * mostRows];
    double dense[mostRows][mostRows];
} Matrix;

static void randomMatrix(Matrix* matrix, tpRandom* random, int n, int uniform) {
    static bool coupled[mostBlocks][mostBlocks];
    memset(coupled, 0, sizeof(coupled));
    memset(matrix->dense, 0, sizeof(matrix->dense));
    matrix->row[0] = 0;
    for (int i = 0; i < n; ++i) {
        int size = uniform > 0 ? uniform : 1 + (int)(randomBits(random) % TP_BLOCK_MAX);
        matrix->row[i + 1] = matrix->row[i] + size;
        coupled[i][i] = true;
    }
    for (int e = 0; e < 2 * n; ++e) {
        int a = (int)(randomBits(random) % (uint64_t)n),
            b = (int)(randomBits(random) % (uint64_t)n);
        coupled[a][b] = coupled[b][a] = true;
    }
    int blocks = 0, values = 0;
    for (int j = 0; j < n; ++j) {
        matrix->columnStart[j] = blocks;
        for (int i = 0; i < n; ++i) {
            if (!coupled[i][j]) {
                continue;
            }
            matrix->blockRow[blocks] = i;
            matrix->value[blocks++] = values;
            for (int a = matrix->row[i]; a < matrix->row[i + 1]; ++a) {
                for (int b = matrix->row[j]; b < matrix->row[j + 1]; ++b) {
                    double x = randomBetween(random, -1.0, 1.0) + (a == b ? 20.0 : 0.0);
                    matrix->values[values++] = x;
                    matrix->dense[a][b] = x;
                }
            }
        }
    }
    matrix->columnStart[n] = blocks;
    matrix->view = (tpBlockMatrix){ .count = n,
                                    .uniform = uniform,
                                    .row = matrix->row,
                                    .columnStart = matrix->columnStart,
                                    .blockRow = matrix->blockRow,
                                    .value = matrix->value,
                                    .values = matrix->values };
}

// Solves with the blocks in play, and compares; rows out of play must keep their value.
static void checkSolve(tpBlockLu* lu, const Matrix* matrix, const bool* inPlay, tpRandom* random) {
    static double x[mostRows], b[mostRows];
    int n = matrix->view.count, rows = matrix->row[n];
    static bool isIn[mostRows];
    for (int k = 0; k < n; ++k) {
        for (int i = matrix->row[k]; i < matrix->row[k + 1]; ++i) {
            isIn[i] = inPlay[k];
            x[i] = randomBetween(random, -1.0, 1.0);
        }
    }
    for (int i = 0; i < rows; ++i) {
        b[i] = isIn[i] ? 0.0 : 7.0;
        for (int j = 0; isIn[i] && j < rows; ++j) {
            b[i] += isIn[j] ? matrix->dense[i][j] * x[j] : 0.0;
        }
    }
    tpBlockLu_Solve(lu, b);
    for (int i = 0; i < rows; ++i) {
        CHECK_NEAR(b[i], isIn[i] ? x[i] : 7.0, 1e-12);
    }
}

static void solvesRandomBlocks(void** state) {
    (void)state;
    tpRandom random = { 3 };
    tpArena arena;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena_Create(&arena, &allocator);
    for (int trial = 0; trial < 120; ++trial) {
        static Matrix matrix;
        int n = 1 + (int)(randomBits(&random) % mostBlocks);
        int uniform = trial % 7; // 0: blocks of all sizes
        randomMatrix(&matrix, &random, n, uniform);
        tpBlockLu lu;
        assert_true(tpBlockLu_Create(&lu, &matrix.view, &arena));
        bool inPlay[mostBlocks];
        for (int round = 0; round < 3; ++round) {
            for (int k = 0; k < n; ++k) {
                inPlay[k] = round == 0 || randomBits(&random) % 3 != 0;
            }
            assert_true(tpBlockLu_Analyse(&lu, inPlay));
            tpBlockLu_Factorise(&lu);
            checkSolve(&lu, &matrix, inPlay, &random);
        }
        tpArena_Reset(&arena);
    }
    tpArena_Destroy(&arena);
}

static void invertsBlocks(void** state) {
    (void)state;
    tpRandom random = { 4 };
    for (int trial = 0; trial < 400; ++trial) {
        double A[36], inverse[36];
        int n = 1 + trial % TP_BLOCK_MAX;
        // In every other round the large entries are off the diagonal, which is nearly zero: rows
        // have to change places.
        bool isTurned = trial / TP_BLOCK_MAX % 2 == 1 && n > 1;
        for (int i = 0; i < n * n; ++i) {
            int row = i / n, large = isTurned ? (row + 1) % n : row;
            A[i] = randomBetween(&random, -1.0, 1.0) + (i % n == large ? 3.0 : 0.0);
            A[i] *= isTurned && i % n == row ? 1e-9 : 1.0;
        }
        tpInvertBlock(n, A, inverse);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                double sum = 0.0;
                for (int k = 0; k < n; ++k) {
                    sum += A[i * n + k] * inverse[k * n + j];
                }
                CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-12);
            }
        }
    }
    // A singular block gives numbers all the same.
    double zero[9] = { 0 }, inverse[9];
    tpInvertBlock(3, zero, inverse);
    for (int i = 0; i < 9; ++i) {
        assert_true(isfinite(inverse[i]));
    }
}

// x . A^-1 z by the two halves of a symmetric factorisation, against a whole solve; sparse x and z.
static void halvesMakeTheWhole(void** state) {
    (void)state;
    static Matrix matrix;
    tpRandom random = { 77 };
    tpAllocator allocator = tpDefaultAllocator();
    for (int trial = 0; trial < 20; ++trial) {
        int n = 4 + trial;
        randomMatrix(&matrix, &random, n, trial % 2 == 0 ? 3 : 0);
        int rows = matrix.row[n];
        for (int j = 0, k = 0; j < n; ++j) {
            for (int e = matrix.columnStart[j]; e < matrix.columnStart[j + 1]; ++e) {
                int i = matrix.blockRow[e];
                for (int a = matrix.row[i]; a < matrix.row[i + 1]; ++a) {
                    for (int b = matrix.row[j]; b < matrix.row[j + 1]; ++b, ++k) {
                        matrix.values[k] = 0.5 * (matrix.dense[a][b] + matrix.dense[b][a]);
                    }
                }
            }
        }
        tpArena arena;
        tpArena_Create(&arena, &allocator);
        tpBlockLu factor;
        bool inPlay[mostBlocks];
        for (int b = 0; b < n; ++b) {
            inPlay[b] = b % 4 != 3;
        }
        assert_true(tpBlockLu_Create(&factor, &matrix.view, &arena) &&
                    tpBlockLu_Analyse(&factor, inPlay));
        tpBlockLu_Factorise(&factor);
        double x[mostRows] = { 0.0 }, z[mostRows] = { 0.0 }, y[mostRows] = { 0.0 };
        double solved[mostRows], half = 0.0, whole = 0.0;
        x[0] = 1.0;
        z[matrix.row[1]] = 2.0;
        z[matrix.row[2]] = -1.0;
        memcpy(solved, z, sizeof(solved));
        tpBlockLu_Solve(&factor, solved);
        whole = solved[0];
        tpBlockLu_SolveLower(&factor, x);
        tpBlockLu_SolveLower(&factor, z);
        tpBlockLu_SolveDiagonal(&factor, z, y);
        for (int i = 0; i < rows; ++i) {
            half += x[i] * y[i];
        }
        CHECK_NEAR(half, whole, 1e-14);
        tpArena_Destroy(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesRandomBlocks),
        cmocka_unit_test(invertsBlocks),
        cmocka_unit_test(halvesMakeTheWhole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
