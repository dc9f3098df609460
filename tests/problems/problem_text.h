// Problem files as text: a buffer to print into, random matrices, and their three storages.

#ifndef TIPPE_TESTS_PROBLEMS_PROBLEM_TEXT_H
#define TIPPE_TESTS_PROBLEMS_PROBLEM_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/problems.h"

typedef struct Text {
    char* data;
    size_t length, capacity;
} Text;

static inline void put(Text* text, const char* format, ...) {
    va_list arguments;
    if (text->capacity < text->length + 4096) {
        text->capacity = 2 * text->capacity + 8192;
        text->data = realloc(text->data, text->capacity);
        assert_non_null(text->data);
    }
    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->data + text->length, 4096, format, arguments);
    va_end(arguments);
}

static inline void freeText(Text* text) {
    free(text->data);
    memset(text, 0, sizeof(*text));
}

// A dense matrix by columns, zeros where a random pattern of `size` x `size` blocks has none.
static inline double* randomMatrix(tpRandom* random, int rows, int columns, int size, double fill) {
    double* values = calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
    assert_non_null(values);
    for (int bj = 0; bj < columns; bj += size) {
        for (int bi = 0; bi < rows; bi += size) {
            if (randomBetween(random, 0.0, 1.0) >= fill) {
                continue;
            }
            for (int j = bj; j < bj + size && j < columns; ++j) {
                for (int i = bi; i < bi + size && i < rows; ++i) {
                    values[i + j * rows] = randomBetween(random, -10.0, 10.0);
                }
            }
        }
    }
    return values;
}

static inline double* randomVector(tpRandom* random, int count, double low) {
    double* values = calloc((size_t)count + 1, sizeof(double));
    assert_non_null(values);
    for (int i = 0; i < count; ++i) {
        values[i] = randomBetween(random, low, 10.0);
    }
    return values;
}

static inline void putVector(Text* text, const double* values, int count) {
    for (int i = 0; i < count; ++i) {
        put(text, "%32.24e ", values[i]);
    }
    put(text, "\n");
}

typedef enum Storage { dense, blocks, triplet, lowerTriangle, byColumns, byRows } Storage;

enum { storageCount = 6 };

static inline void putBlocks(Text* text, const double* values, int rows, int columns, int size) {
    int blockRows = rows / size, blockColumns = columns / size;
    int* starts = calloc((size_t)blockRows + 1, sizeof(int));
    int* list = calloc((size_t)blockRows * (size_t)blockColumns + 1, sizeof(int));
    int count = 0;
    for (int bi = 0; bi < blockRows; ++bi) {
        for (int bj = 0; bj < blockColumns; ++bj) {
            if (values[bi * size + bj * size * rows] != 0.0) {
                list[count++] = bj;
            }
        }
        starts[bi + 1] = count;
    }
    put(text, "%d\n", count);
    if (count > 0) {
        put(text, "%d\n%d\n", blockRows, blockColumns);
        for (int bi = 0; bi < blockRows; ++bi) {
            put(text, "%d\t", (bi + 1) * size);
        }
        put(text, "\n");
        for (int bj = 0; bj < blockColumns; ++bj) {
            put(text, "%d\t", (bj + 1) * size);
        }
        put(text, "\n%d\n%d\n", blockRows + 1, count);
        for (int bi = 0; bi <= blockRows; ++bi) {
            put(text, "%d\t", starts[bi]);
        }
        put(text, "\n");
        for (int k = 0; k < count; ++k) {
            put(text, "%d\t", list[k]);
        }
        put(text, "\n");
        for (int bi = 0; bi < blockRows; ++bi) {
            for (int k = starts[bi]; k < starts[bi + 1]; ++k) {
                put(text, "%d\n", k);
                for (int j = 0; j < size; ++j) {
                    for (int i = 0; i < size; ++i) {
                        put(text, "%32.24e\n", values[bi * size + i + (list[k] * size + j) * rows]);
                    }
                }
            }
        }
    }
    free(starts);
    free(list);
}

static inline int countEntries(const double* values, int rows, int columns, bool lowerOnly) {
    int count = 0;
    for (int j = 0; j < columns; ++j) {
        for (int i = lowerOnly ? j : 0; i < rows; ++i) {
            count += values[i + j * rows] != 0.0;
        }
    }
    return count;
}

static inline void putTriplets(Text* text, const double* values, int rows, int columns,
                               bool lowerOnly) {
    int count = countEntries(values, rows, columns, lowerOnly);
    put(text, "triplet: %d-by-%d, nzmax: %d nnz: %d\n", rows, columns, 2 * count, count);
    // From the last column to the first: triplets may come in any order.
    for (int j = columns - 1; j >= 0; --j) {
        for (int i = lowerOnly ? j : 0; i < rows; ++i) {
            if (values[i + j * rows] != 0.0) {
                put(text, "    %d %d : %.17g\n", i, j, values[i + j * rows]);
            }
        }
    }
}

static inline void putCompressed(Text* text, const double* values, int rows, int columns,
                                 bool rowwise) {
    int lines = rowwise ? rows : columns, crossings = rowwise ? columns : rows, count = 0;
    put(text, "%s%d-by-%d, nzmax: %d nnz: %d, 1-norm: %g\n", rowwise ? "csr: " : "", rows, columns,
        countEntries(values, rows, columns, false), countEntries(values, rows, columns, false),
        12.5);
    for (int line = 0; line < lines; ++line) {
        int inLine = 0;
        for (int cross = 0; cross < crossings; ++cross) {
            inLine += values[rowwise ? line + cross * rows : cross + line * rows] != 0.0;
        }
        put(text, "    %s %d : locations %d to %d\n", rowwise ? "row" : "col", line, count,
            count + inLine - 1);
        count += inLine;
        for (int cross = 0; cross < crossings; ++cross) {
            double value = values[rowwise ? line + cross * rows : cross + line * rows];
            if (value != 0.0) {
                put(text, "      %d : %.17g\n", cross, value);
            }
        }
    }
}

static inline void putMatrix(Text* text, Storage storage, const double* values, int rows,
                             int columns, int blockSize) {
    put(text, "%d\n%d\n%d\n", storage == dense ? 0 : storage == blocks ? 1 : 2, rows, columns);
    if (storage == dense) {
        put(text, "%d\t%d\n", rows, columns);
        for (int i = 0; i < rows * columns; ++i) {
            put(text, "%32.24e %s", values[i], (i + 1) % columns == 0 ? "\n" : "");
        }
        return;
    }
    if (storage == blocks) {
        putBlocks(text, values, rows, columns, blockSize);
        return;
    }
    static const int origins[] = {
        [triplet] = 1, [lowerTriangle] = 4, [byColumns] = 2, [byRows] = 3
    };
    put(text, "%d\nCSparse Version 3.1.9, May 4, 2016.  Copyright\n", origins[storage]);
    if (storage == triplet || storage == lowerTriangle) {
        putTriplets(text, values, rows, columns, storage == lowerTriangle);
    } else {
        putCompressed(text, values, rows, columns, storage == byRows);
    }
}

// The matrix read has the very bits of the dense one.
static inline void checkMatrix(const tpMatrix* matrix, const double* values, int rows,
                               int columns) {
    assert_int_equal(matrix->rowCount, rows);
    assert_int_equal(matrix->columnCount, columns);
    for (int j = 0; j < columns; ++j) {
        if (matrix->columnStarts == NULL) {
            for (int i = 0; i < rows; ++i) {
                assert_true(matrix->values[i + j * matrix->leading] == values[i + j * rows]);
            }
            continue;
        }
        int k = matrix->columnStarts[j];
        for (int i = 0; i < rows; ++i) {
            double value = 0.0;
            if (k < matrix->columnStarts[j + 1] && matrix->rowIndices[k] == i) {
                value = matrix->values[k++];
            }
            assert_true(value == values[i + j * rows]);
        }
        assert_int_equal(k, matrix->columnStarts[j + 1]); // rows ascend, none was left over
    }
}

static inline void checkVector(const double* actual, const double* expected, int count) {
    for (int i = 0; i < count; ++i) {
        assert_true(actual[i] == expected[i]);
    }
}

static inline tpProblem* parse(const Text* text, tpProblemKind kind) {
    tpProblem* problem;
    tpError error;
    if (tpParseProblem(text->data, text->length, "test", kind, NULL, &problem, &error) !=
        tp_success) {
        fail_msg("%s", error.message);
    }
    return problem;
}

#endif
