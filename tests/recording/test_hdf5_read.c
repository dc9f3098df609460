// What the careful reader of HDF5 takes, and what it refuses: files in memory, with one thing in
// each of them that is right, or off by one, or of another type, shape, chunk or filter.

#include "recording/hdf5_read.h"

#include <string.h>

#include "recording/chunks.h"
#include "support/check.h"

static hid_t file;
static tpArena arena;

static int openFile(void** state) {
    (void)state;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    file = H5Fcreate("in_memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    tpAllocator allocator = tpDefaultAllocator();
    tpArena_Create(&arena, &allocator);
    return file >= 0 ? 0 : -1;
}

static int closeFile(void** state) {
    (void)state;
    tpArena_Destroy(&arena);
    return H5Fclose(file) >= 0 ? 0 : -1;
}

static hid_t textType(size_t length) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length);
    return type;
}

static void putAttribute(const char* name, hid_t type, hid_t memoryType, hsize_t count,
                         const void* values) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, memoryType, values) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void attributesAreChecked(void** state) {
    (void)state;
    const int whole[2] = { 42, 43 };
    const double numbers[3] = { 1.5, -2.5, 3.5 };
    hid_t four = textType(4);
    putAttribute("int", H5T_STD_I32LE, H5T_NATIVE_INT, 1, whole);
    putAttribute("ints", H5T_STD_I32LE, H5T_NATIVE_INT, 2, whole);
    putAttribute("long", H5T_STD_I64LE, H5T_NATIVE_INT, 1, whole);
    putAttribute("numbers", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, numbers);
    putAttribute("floats", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, 3, numbers);
    putAttribute("text", four, four, 1, "abcd");
    putAttribute("texts", four, four, 2, "abcdefgh");
    int value = 0;
    assert_true(tpReadIntAttribute(file, "int", &value));
    assert_int_equal(value, 42);
    assert_false(tpReadIntAttribute(file, "ints", &value));
    assert_false(tpReadIntAttribute(file, "long", &value));
    assert_false(tpReadIntAttribute(file, "none", &value));
    double read[3] = { 0.0, 0.0, 0.0 };
    assert_true(tpReadNumberAttributes(file, "numbers", 3, read));
    assert_memory_equal(read, numbers, sizeof(read));
    assert_false(tpReadNumberAttributes(file, "numbers", 2, read));
    assert_false(tpReadNumberAttributes(file, "numbers", 4, read));
    assert_false(tpReadNumberAttributes(file, "floats", 3, read));
    assert_false(tpReadNumberAttributes(file, "int", 1, read));
    assert_false(tpReadNumberAttributes(file, "none", 1, read));
    const char* text = NULL;
    assert_true(tpReadTextAttribute(file, "text", 4, &arena, &text));
    assert_string_equal(text, "abcd");
    assert_false(tpReadTextAttribute(file, "text", 3, &arena, &text));
    assert_false(tpReadTextAttribute(file, "texts", 8, &arena, &text));
    assert_false(tpReadTextAttribute(file, "int", 8, &arena, &text));
    assert_false(tpReadTextAttribute(file, "none", 8, &arena, &text));
    H5Tclose(four);
}

// A dataset of any type and shape; chunks of rank `chunkRank` if that is not 0.
static void putData(const char* name, hid_t type, int rank, const hsize_t* size,
                    const hsize_t* chunk, unsigned filters, hid_t memoryType, const void* values) {
    hsize_t most[3] = { H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED };
    hid_t space = H5Screate_simple(rank, size, chunk != NULL ? most : NULL);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk != NULL) {
        H5Pset_chunk(create, rank, chunk);
    }
    if (filters & 1u) {
        H5Pset_shuffle(create);
    }
    if (filters & 2u) {
        H5Pset_deflate(create, 1);
    }
    if (filters & 4u) {
        H5Pset_fletcher32(create);
    }
    hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    assert_true(data >= 0);
    if (values != NULL) {
        assert_true(H5Dwrite(data, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }
    H5Dclose(data);
    H5Pclose(create);
    H5Sclose(space);
}

static void textsAreChecked(void** state) {
    (void)state;
    hid_t three = textType(3), endless = H5Tcopy(H5T_C_S1);
    H5Tset_size(endless, H5T_VARIABLE);
    const hsize_t two[2] = { 2, 1 }, one[1] = { 1 }, chunk[1] = { 2 };
    const char* words[1] = { "abc" };
    const int number[2] = { 1, 2 };
    putData("words", three, 1, two, NULL, 0, three, "abcdef");
    putData("word", three, 1, one, NULL, 0, three, "xyz");
    putData("chunked", three, 1, two, chunk, 0, three, "abcdef");
    putData("packed", three, 1, two, chunk, 2, three, "abcdef");
    putData("square", three, 2, two, NULL, 0, three, "abcdef");
    putData("endless", endless, 1, one, NULL, 0, endless, words);
    putData("number", H5T_STD_I32LE, 1, two, NULL, 0, H5T_NATIVE_INT, number);
    char* texts = NULL;
    const char* text = NULL;
    size_t stride = 0;
    hsize_t count = 0;
    for (int k = 0; k < 2; ++k) {
        assert_true(
            tpReadTexts(file, k == 0 ? "words" : "chunked", 6, &arena, &texts, &stride, &count));
        assert_true(stride == 4 && count == 2);
        assert_memory_equal(texts, "abc\0def\0", 8);
    }
    assert_false(tpReadTexts(file, "words", 5, &arena, &texts, &stride, &count));
    assert_false(tpReadTexts(file, "words", 2, &arena, &texts, &stride, &count));
    const char* refused[5] = { "packed", "square", "endless", "number", "none" };
    for (int k = 0; k < 5; ++k) {
        assert_false(tpReadTexts(file, refused[k], 99, &arena, &texts, &stride, &count));
    }
    assert_true(tpReadText(file, "word", 3, &arena, &text));
    assert_string_equal(text, "xyz");
    assert_false(tpReadText(file, "word", 2, &arena, &text));
    assert_false(tpReadText(file, "words", 99, &arena, &text)); // two are not one
    H5Tclose(three);
    H5Tclose(endless);
}

static void tablesAreChecked(void** state) {
    (void)state;
    const double numbers[6] = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 };
    const hsize_t table[2] = { 2, 3 }, list[1] = { 6 }, none[2] = { 0, 3 };
    putData("table", H5T_IEEE_F64LE, 2, table, NULL, 0, H5T_NATIVE_DOUBLE, numbers);
    putData("list", H5T_IEEE_F64LE, 1, list, NULL, 0, H5T_NATIVE_DOUBLE, numbers);
    putData("empty", H5T_IEEE_F64LE, 2, none, NULL, 0, H5T_NATIVE_DOUBLE, NULL);
    putData("floats", H5T_IEEE_F32LE, 2, table, NULL, 0, H5T_NATIVE_DOUBLE, numbers);
    putData("pieces", H5T_IEEE_F64LE, 2, table, table, 0, H5T_NATIVE_DOUBLE, numbers);
    double read[6] = { 0.0 };
    assert_true(tpReadTable(file, "table", tp_doubleColumn, 2, 3, read));
    assert_memory_equal(read, numbers, sizeof(read));
    memset(read, 0, sizeof(read));
    assert_true(tpReadTable(file, "list", tp_doubleColumn, 6, 1, read));
    assert_memory_equal(read, numbers, sizeof(read));
    assert_true(tpReadTable(file, "empty", tp_doubleColumn, 0, 3, read));
    const struct {
        const char* name;
        tpColumnKind kind;
        hsize_t rows, width;
    } refused[] = { { "table", tp_doubleColumn, 1, 3 },  { "table", tp_doubleColumn, 3, 3 },
                    { "table", tp_doubleColumn, 2, 2 },  { "table", tp_doubleColumn, 2, 1 },
                    { "table", tp_doubleColumn, 6, 1 },  { "table", tp_int64Column, 2, 3 },
                    { "list", tp_doubleColumn, 5, 1 },   { "list", tp_doubleColumn, 6, 2 },
                    { "floats", tp_doubleColumn, 2, 3 }, { "pieces", tp_doubleColumn, 2, 3 },
                    { "nothing", tp_doubleColumn, 2, 3 } };
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); ++k) {
        assert_false(tpReadTable(file, refused[k].name, refused[k].kind, refused[k].rows,
                                 refused[k].width, read));
    }
}

// The chunks that the writer makes, and no others.
static bool isWritten(int rank, const hsize_t* size, const hsize_t* chunk) {
    hsize_t frames, together, width = rank == 3 ? size[2] : 1;
    tpBlockChunk(size[1], width, &frames, &together);
    bool isTable = chunk[0] == 1024 || chunk[0] == 2048;
    if (rank == 1) {
        return isTable || chunk[0] == 8;
    }
    bool isBlock = chunk[0] == frames && chunk[1] == together && (rank == 2 || chunk[2] == width);
    return isBlock || (rank == 2 && isTable && chunk[1] == size[1]);
}

static bool isTaken(hid_t type, tpColumnKind kind, int rank, int askedRank, const hsize_t* size,
                    const hsize_t* chunk, unsigned filters) {
    static int number = 0;
    char name[32];
    snprintf(name, sizeof(name), "column%d", number++);
    putData(name, type, rank, size, chunk, filters, H5T_NATIVE_DOUBLE, NULL);
    hsize_t found[3] = { 0, 0, 0 };
    hid_t column = tpOpenColumn(file, name, kind, askedRank, found);
    if (column >= 0) {
        assert_memory_equal(found, size, sizeof(hsize_t) * (size_t)rank);
        H5Dclose(column);
    }
    return column >= 0;
}

static void chunksAreThoseOfTheWriter(void** state) {
    (void)state;
    const hsize_t lengths[] = { 1, 2, 5, 7, 8, 9, 13, 64, 256, 1023, 1024, 1025, 2048 };
    enum { lengthCount = sizeof(lengths) / sizeof(lengths[0]) };
    int taken = 0, tries = 0;
    for (int rank = 1; rank <= 3; ++rank) {
        for (int i = 0; i < lengthCount; ++i) {
            for (int j = 0; j < (rank > 1 ? lengthCount : 1); ++j) {
                for (int k = 0; k < (rank > 2 ? 6 : 2); ++k) {
                    hsize_t size[3] = { 1, k % 2 == 0 ? 7 : 13, 3 };
                    hsize_t chunk[3] = { lengths[i], lengths[j], 2 + (hsize_t)k / 2 };
                    bool wanted = isWritten(rank, size, chunk);
                    assert_int_equal(
                        isTaken(H5T_IEEE_F64LE, tp_doubleColumn, rank, rank, size, chunk, 0),
                        wanted);
                    taken += wanted;
                    tries += 1;
                }
            }
        }
        // As the writer has it, of any size.
        for (hsize_t count = 1; count < 3000 && rank > 1; count = 3 * count + 1) {
            hsize_t size[3] = { 1, count, 7 }, chunk[3] = { 0, 0, 7 };
            tpBlockChunk(count, rank == 3 ? 7 : 1, &chunk[0], &chunk[1]);
            assert_true(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, rank, rank, size, chunk, 0));
        }
    }
    assert_true(taken > 10 && taken < tries / 4);
    const hsize_t size[3] = { 4, 7, 3 }, chunk[3] = { 1024, 7, 3 };
    for (unsigned filters = 0; filters < 8; ++filters) {
        assert_int_equal(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, 1, 1, size, chunk, filters),
                         filters < 4);
    }
    assert_false(isTaken(H5T_IEEE_F64LE, tp_int64Column, 1, 1, size, chunk, 0));
    assert_false(isTaken(H5T_IEEE_F32LE, tp_doubleColumn, 1, 1, size, chunk, 0));
    assert_false(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, 2, 1, size, chunk, 0));
    assert_false(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, 1, 2, size, chunk, 0));
    hsize_t found[3];
    assert_true(tpOpenColumn(file, "no column", tp_doubleColumn, 1, found) < 0);
    // Not in chunks at all.
    putData("whole", H5T_IEEE_F64LE, 1, size, NULL, 0, H5T_NATIVE_DOUBLE, NULL);
    assert_true(tpOpenColumn(file, "whole", tp_doubleColumn, 1, found) < 0);
}

// A column is no longer than a chunk and what its bytes in the file could be unpacked to.
static void lengthsAreBacked(void** state) {
    (void)state;
    const hsize_t chunk[1] = { 1024 }, inOne[1] = { 1024 }, beyond[1] = { 1025 };
    assert_true(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, 1, 1, inOne, chunk, 2));
    assert_false(isTaken(H5T_IEEE_F64LE, tp_doubleColumn, 1, 1, beyond, chunk, 2));
    static double zeros[200000];
    const hsize_t many[1] = { 200000 };
    putData("zeros", H5T_IEEE_F64LE, 1, many, chunk, 3, H5T_NATIVE_DOUBLE, zeros);
    hsize_t size[3] = { 0 };
    hid_t column = tpOpenColumn(file, "zeros", tp_doubleColumn, 1, size);
    assert_true(column >= 0 && size[0] == 200000);
    hsize_t stored = H5Dget_storage_size(column), most = stored * 1100 / 8 + 1024;
    for (int k = 0; k < 2; ++k) { // stretched as far as may be, and one further
        hsize_t length = most + (hsize_t)k;
        assert_true(H5Dset_extent(column, &length) >= 0);
        hid_t again = tpOpenColumn(file, "zeros", tp_doubleColumn, 1, size);
        assert_int_equal(again >= 0, k == 0);
        if (again >= 0) {
            H5Dclose(again);
        }
    }
    H5Dclose(column);
}

// Rows, and things side by side in them, are those that were asked for.
static void rowsAreThoseAskedFor(void** state) {
    (void)state;
    enum { rows = 20, things = 5, width = 3 };
    static double values[rows][things][width];
    for (int i = 0; i < rows * things * width; ++i) {
        values[i / (things * width)][i / width % things][i % width] = i;
    }
    const hsize_t size[3] = { rows, things, width };
    hsize_t chunk[3] = { 0, 0, width }, found[3];
    tpBlockChunk(things, width, &chunk[0], &chunk[1]);
    putData("block", H5T_IEEE_F64LE, 3, size, chunk, 3, H5T_NATIVE_DOUBLE, values);
    hid_t column = tpOpenColumn(file, "block", tp_doubleColumn, 3, found);
    assert_true(column >= 0);
    for (hsize_t first = 0; first < rows; first += 3) {
        for (hsize_t count = 0; first + count <= rows; count += 2) {
            for (hsize_t from = 0; from < things; ++from) {
                for (hsize_t many = 0; from + many <= things; ++many) {
                    double read[rows * things * width];
                    assert_true(
                        tpReadRows(column, tp_doubleColumn, first, count, from, many, read));
                    hsize_t begin = many > 0 ? from : 0, across = many > 0 ? many : things;
                    for (hsize_t i = 0; i < count * across * width; ++i) {
                        hsize_t row = i / (across * width), thing = i / width % across;
                        assert_true(read[i] == values[first + row][begin + thing][i % width]);
                    }
                }
            }
        }
    }
    double beyond[things * width];
    assert_false(tpReadRows(column, tp_doubleColumn, rows, 1, 0, 0, beyond));
    H5Dclose(column);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributesAreChecked), cmocka_unit_test(textsAreChecked),
        cmocka_unit_test(tablesAreChecked),     cmocka_unit_test(chunksAreThoseOfTheWriter),
        cmocka_unit_test(lengthsAreBacked),     cmocka_unit_test(rowsAreThoseAskedFor),
    };
    return cmocka_run_group_tests(tests, openFile, closeFile);
}
