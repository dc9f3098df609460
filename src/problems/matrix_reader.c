// Matrices in the text of problem files: dense, in blocks, and sparse as CSparse prints them.
//
//     0 rows columns rows columns   values column by column
//     1 rows columns   blocks in compressed rows, each with its number before its values
//     2 rows columns   origin (1 triplet, 2 columns, 3 rows, 4 lower triangle of a symmetric
//                      matrix), a banner line, "[triplet:|csr:] m-by-n, nzmax: a nnz: b", then the
//                      entries

#include "problems/matrix_reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { denseStorage = 0, blockStorage = 1, sparseStorage = 2 };
enum { originRows = 3, originLowerTriangle = 4, mostBannerLines = 8 };

// Dense ---------------------------------------------------------------------------------------

static tpResult readDense(tpScanner* scanner, const char* name, int rowCount, int columnCount,
                          tpArena* arena, tpMatrix* matrix) {
    int again;
    if (tpScanner_Int(scanner, "the number of rows again", rowCount, rowCount, &again) ||
        tpScanner_Int(scanner, "the number of columns again", columnCount, columnCount, &again)) {
        return tp_badInput;
    }
    if (!tpScanner_CanHold(scanner, (double)rowCount * columnCount)) {
        return tpScanner_Fail(scanner, scanner->at,
                              "%s has %d x %d numbers, more than the rest of the file can hold",
                              name, rowCount, columnCount);
    }
    size_t count = (size_t)rowCount * (size_t)columnCount;
    double* values = TP_SCRATCH(arena, double, count);
    if (values == NULL) {
        return tpScanner_OutOfMemory(scanner);
    }
    *matrix = tpDenseMatrix(rowCount, columnCount, values);
    return tpScanner_Reals(scanner, name, values, count);
}

// Blocks --------------------------------------------------------------------------------------

typedef struct BlockPattern {
    int rowCount, columnCount; // in blocks
    int* rowEnds;              // cumulative
    int* columnEnds;
    int filledRows; // rows with a start in rowStarts
    int* rowStarts; // filledRows + 1
    int filled;     // blocks
    int* columns;   // of each block
} BlockPattern;

// `count` whole numbers in new memory of the arena.
static tpResult readInts(tpScanner* scanner, const char* what, int least, int most, bool rising,
                         int count, tpArena* arena, int** values) {
    if (!tpScanner_CanHold(scanner, count)) {
        return tpScanner_Fail(scanner, scanner->at,
                              "expected %d times %s, more than the rest of the file can hold",
                              count, what);
    }
    *values = TP_SCRATCH(arena, int, count);
    if (*values == NULL) {
        return tpScanner_OutOfMemory(scanner);
    }
    return tpScanner_Ints(scanner, what, least, most, rising, *values, count);
}

static tpResult readEnds(tpScanner* scanner, const char* what, int size, int count, tpArena* arena,
                         int** ends) {
    tpResult result = readInts(scanner, what, 0, size, true, count, arena, ends);
    if (result == tp_success && (count == 0 ? size != 0 : (*ends)[count - 1] != size)) {
        return tpScanner_Fail(scanner, scanner->at, "the last %s should be %d", what, size);
    }
    return result;
}

static tpResult readBlockPattern(tpScanner* scanner, const tpMatrix* matrix, int blockCount,
                                 tpArena* arena, BlockPattern* pattern) {
    tpResult result;
    int starts;
    if ((result = tpScanner_Int(scanner, "the number of block rows", 1, matrix->rowCount,
                                &pattern->rowCount)) ||
        (result = tpScanner_Int(scanner, "the number of block columns", 1, matrix->columnCount,
                                &pattern->columnCount)) ||
        (result = readEnds(scanner, "end of a block row", matrix->rowCount, pattern->rowCount,
                           arena, &pattern->rowEnds)) ||
        (result = readEnds(scanner, "end of a block column", matrix->columnCount,
                           pattern->columnCount, arena, &pattern->columnEnds)) ||
        (result = tpScanner_Int(scanner, "the number of block-row starts", 1, pattern->rowCount + 1,
                                &starts)) ||
        (result = tpScanner_Int(scanner, "the number of block columns listed", blockCount,
                                blockCount, &pattern->filled)) ||
        (result = readInts(scanner, "start of a block row", 0, blockCount, true, starts, arena,
                           &pattern->rowStarts)) ||
        (result = readInts(scanner, "block column", 0, pattern->columnCount - 1, false,
                           pattern->filled, arena, &pattern->columns))) {
        return result;
    }
    pattern->filledRows = starts - 1;
    if (pattern->rowStarts[0] != 0 || pattern->rowStarts[starts - 1] != blockCount) {
        return tpScanner_Fail(scanner, scanner->at, "block-row starts should go from 0 to %d",
                              blockCount);
    }
    return tp_success;
}

// The values of one block, column by column, behind its number.
static tpResult readBlock(tpScanner* scanner, const BlockPattern* pattern, int row, int block,
                          tpTriplets* triplets) {
    int number;
    if (tpScanner_Int(scanner, "the number of the next block", block, block, &number)) {
        return tp_badInput;
    }
    int column = pattern->columns[block];
    int firstRow = row == 0 ? 0 : pattern->rowEnds[row - 1];
    int firstColumn = column == 0 ? 0 : pattern->columnEnds[column - 1];
    for (int j = firstColumn; j < pattern->columnEnds[column]; ++j) {
        for (int i = firstRow; i < pattern->rowEnds[row]; ++i) {
            tpWord word = tpScanner_Next(scanner);
            double value;
            if (!tpWord_ToReal(word, &value)) {
                char expected[80];
                snprintf(expected, sizeof(expected), "a number of block %d", block);
                return tpScanner_FailExpected(scanner, word, expected);
            }
            if (!tpTriplets_Add(triplets, i, j, value)) {
                return tpScanner_OutOfMemory(scanner);
            }
        }
    }
    return tp_success;
}

static tpResult readBlocks(tpScanner* scanner, const tpMatrix* matrix, tpArena* arena,
                           tpTriplets* triplets) {
    int blockCount;
    tpResult result = tpScanner_Int(scanner, "the number of blocks", 0, INT_MAX, &blockCount);
    if (result != tp_success || blockCount == 0) {
        return result; // a matrix without blocks ends here
    }
    tpArenaMark mark = tpArena_Mark(arena);
    BlockPattern pattern;
    result = readBlockPattern(scanner, matrix, blockCount, arena, &pattern);
    for (int row = 0; result == tp_success && row < pattern.filledRows; ++row) {
        int end = pattern.rowStarts[row + 1];
        for (int block = pattern.rowStarts[row]; result == tp_success && block < end; ++block) {
            result = readBlock(scanner, &pattern, row, block, triplets);
        }
    }
    tpArena_Release(arena, mark);
    return result;
}

// Sparse --------------------------------------------------------------------------------------

typedef enum SparseLayout { tripletLayout, columnLayout, rowLayout } SparseLayout;

typedef struct SparseHeader {
    SparseLayout layout;
    int entryCount; // of triplets; otherwise what the file claims
} SparseHeader;

// Finds `text` in the line; NULL if it is not there.
static const char* findInLine(tpWord line, const char* text) {
    int length = (int)strlen(text);
    for (int i = 0; i + length <= line.length; ++i) {
        if (memcmp(line.start + i, text, (size_t)length) == 0) {
            return line.start + i;
        }
    }
    return NULL;
}

// The whole number behind `key` in the line, -1 if there is none.
static int numberBehind(tpWord line, const char* key) {
    const char* c = findInLine(line, key);
    const char* end = line.start + line.length;
    if (c == NULL) {
        return -1;
    }
    c += strlen(key);
    while (c < end && *c == ' ') {
        ++c;
    }
    const char* first = c;
    while (c < end && *c >= '0' && *c <= '9') {
        ++c;
    }
    return tpWord_ToInt((tpWord){ first, (int)(c - first) });
}

// "m-by-n": the number before "-by-".
static int numberBefore(tpWord line, const char* key) {
    const char* end = findInLine(line, key);
    if (end == NULL) {
        return -1;
    }
    const char* first = end;
    while (first > line.start && first[-1] >= '0' && first[-1] <= '9') {
        --first;
    }
    return tpWord_ToInt((tpWord){ first, (int)(end - first) });
}

static tpResult readSparseHeader(tpScanner* scanner, int origin, const tpMatrix* matrix,
                                 SparseHeader* header) {
    // What stands behind the origin, and banners, are for people; the header has "-by-" in it.
    const char* bannerAt = tpScanner_Peek(scanner).start;
    tpWord line = tpScanner_RestOfLine(scanner);
    for (int i = 0; i < mostBannerLines && findInLine(line, "-by-") == NULL; ++i) {
        line = tpScanner_RestOfLine(scanner);
    }
    int rowCount = numberBefore(line, "-by-");
    int columnCount = numberBehind(line, "-by-");
    if (rowCount < 0 || columnCount < 0) {
        return tpScanner_Fail(scanner, bannerAt,
                              "expected a banner line and then the header of a sparse matrix, "
                              "'m-by-n, nzmax: a nnz: b'");
    }
    if (rowCount != matrix->rowCount || columnCount != matrix->columnCount) {
        return tpScanner_Fail(scanner, line.start, "expected a matrix %d-by-%d, found %d-by-%d",
                              matrix->rowCount, matrix->columnCount, rowCount, columnCount);
    }
    header->layout = columnLayout;
    if (findInLine(line, "triplet") != NULL) {
        header->layout = tripletLayout;
    } else if (findInLine(line, "csr") != NULL || origin == originRows) {
        header->layout = rowLayout;
    }
    header->entryCount = numberBehind(line, "nnz:");
    if (header->entryCount < 0) {
        return tpScanner_Fail(scanner, line.start, "expected 'nnz: ' and a number of entries");
    }
    return tp_success;
}

// ": value", the colon by itself or at either of its neighbours.
static tpResult readColonAndValue(tpScanner* scanner, double* value) {
    tpWord word = tpScanner_Next(scanner);
    if (word.length > 1 && word.start[0] == ':') {
        ++word.start;
        --word.length;
    } else if (tpWord_Is(word, ":")) {
        word = tpScanner_Next(scanner);
    } else {
        return tpScanner_FailExpected(scanner, word, "':'");
    }
    if (!tpWord_ToReal(word, value)) {
        return tpScanner_FailExpected(scanner, word, "the value of an entry");
    }
    return tp_success;
}

// Lines "row column : value".
static tpResult readTriplets(tpScanner* scanner, const tpMatrix* matrix, int entryCount,
                             bool isLowerTriangle, tpTriplets* triplets) {
    for (int k = 0; k < entryCount; ++k) {
        int row, column;
        double value;
        if (tpScanner_Int(scanner, "the row of an entry", 0, matrix->rowCount - 1, &row) ||
            tpScanner_Int(scanner, "the column of an entry", 0, matrix->columnCount - 1, &column) ||
            readColonAndValue(scanner, &value)) {
            return tp_badInput;
        }
        if (!tpTriplets_Add(triplets, row, column, value) ||
            (isLowerTriangle && row != column && !tpTriplets_Add(triplets, column, row, value))) {
            return tpScanner_OutOfMemory(scanner);
        }
    }
    return tp_success;
}

static tpResult expectWord(tpScanner* scanner, const char* text) {
    tpWord word = tpScanner_Next(scanner);
    return tpWord_Is(word, text) ? tp_success : tpScanner_FailExpected(scanner, word, text);
}

// "col j : locations p to q" (or "row"); q is p - 1 in an empty column. Gives the number of
// entries.
static tpResult readLineHeading(tpScanner* scanner, int line, int entriesBefore, int* entryCount) {
    int first, number;
    tpScanner_Next(scanner); // "col" or "row", which the caller has seen
    if (tpScanner_Int(scanner, "the next column or row", line, line, &number) ||
        expectWord(scanner, ":") || expectWord(scanner, "locations") ||
        tpScanner_Int(scanner, "the first location", entriesBefore, entriesBefore, &first) ||
        expectWord(scanner, "to")) {
        return tp_badInput;
    }
    tpWord word = tpScanner_Next(scanner);
    int last = tpWord_ToInt(word);
    bool isNumber = last >= 0 || tpWord_Is(word, "-1");
    if (!isNumber || last < first - 1) {
        return tpScanner_FailExpected(scanner, word, "the last location, not before the first");
    }
    *entryCount = last - first + 1;
    return tp_success;
}

// Compressed columns or rows: headings, each followed by its lines "index : value". Heading lines
// may be missing at the end: Siconos prints as many rows as there are columns.
static tpResult readCompressed(tpScanner* scanner, const tpMatrix* matrix, bool byRows,
                               int claimedCount, tpTriplets* triplets) {
    int lineCount = byRows ? matrix->rowCount : matrix->columnCount;
    int crossCount = byRows ? matrix->columnCount : matrix->rowCount;
    for (int line = 0; line < lineCount; ++line) {
        tpWord word = tpScanner_Peek(scanner);
        if (!tpWord_Is(word, "col") && !tpWord_Is(word, "row")) {
            break;
        }
        int count = 0;
        if (readLineHeading(scanner, line, triplets->values.count, &count)) {
            return tp_badInput;
        }
        for (int k = 0; k < count; ++k) {
            int cross;
            double value;
            if (tpScanner_Int(scanner, "the index of an entry", 0, crossCount - 1, &cross) ||
                readColonAndValue(scanner, &value)) {
                return tp_badInput;
            }
            if (!tpTriplets_Add(triplets, byRows ? line : cross, byRows ? cross : line, value)) {
                return tpScanner_OutOfMemory(scanner);
            }
        }
    }
    if (triplets->values.count != claimedCount) {
        return tpScanner_Fail(scanner, scanner->at, "expected %d entries in all, found %d",
                              claimedCount, triplets->values.count);
    }
    return tp_success;
}

static tpResult readSparse(tpScanner* scanner, const tpMatrix* matrix, tpTriplets* triplets) {
    int origin;
    SparseHeader header = { .entryCount = 0 };
    const char* originAt = tpScanner_Peek(scanner).start;
    if (tpScanner_Int(scanner, "the origin of a sparse matrix", 0, originLowerTriangle, &origin)) {
        return tp_badInput;
    }
    if (origin == originLowerTriangle && matrix->rowCount != matrix->columnCount) {
        return tpScanner_Fail(scanner, originAt,
                              "the lower half of a symmetric matrix, which is %d-by-%d: not square",
                              matrix->rowCount, matrix->columnCount);
    }
    if (readSparseHeader(scanner, origin, matrix, &header)) {
        return tp_badInput;
    }
    if (header.layout == tripletLayout) {
        return readTriplets(scanner, matrix, header.entryCount, origin == originLowerTriangle,
                            triplets);
    }
    return readCompressed(scanner, matrix, header.layout == rowLayout, header.entryCount, triplets);
}

tpResult tpReadMatrix(tpScanner* scanner, const char* name, tpArena* arena, tpMatrix* matrix) {
    int storage, rowCount, columnCount;
    char what[80];
    snprintf(what, sizeof(what), "the storage of %s", name);
    if (tpScanner_Int(scanner, what, denseStorage, sparseStorage, &storage)) {
        return tp_badInput;
    }
    const char* sizesAt = scanner->at;
    if (tpScanner_Int(scanner, "the number of rows", 0, INT_MAX - 1, &rowCount) ||
        tpScanner_Int(scanner, "the number of columns", 0, INT_MAX - 1, &columnCount)) {
        return tp_badInput;
    }
    if (storage == denseStorage) {
        return readDense(scanner, name, rowCount, columnCount, arena, matrix);
    }
    // Behind a matrix stand vectors as long as its sides, so that the file bounds those too.
    if (!tpScanner_CanHold(scanner, rowCount) || !tpScanner_CanHold(scanner, columnCount)) {
        return tpScanner_Fail(scanner, sizesAt,
                              "%s is %d x %d, and the file is too short for vectors of that size",
                              name, rowCount, columnCount);
    }
    *matrix = tpSparseMatrix(rowCount, columnCount, NULL, NULL, NULL);
    tpTriplets triplets = { .allocator = arena->allocator };
    tpResult result = storage == blockStorage ? readBlocks(scanner, matrix, arena, &triplets)
                                              : readSparse(scanner, matrix, &triplets);
    if (result == tp_success &&
        !tpTriplets_ToMatrix(&triplets, rowCount, columnCount, arena, matrix)) {
        result = tpScanner_OutOfMemory(scanner);
    }
    tpTriplets_Free(&triplets);
    return result;
}
