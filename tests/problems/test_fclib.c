// FCLIB files, written here with HDF5 alone, are read back; wrong ones are named by their dataset.

#include <hdf5.h>
#include <unistd.h>

#include "problem_text.h"
#include "support/failing_allocator.h"

static char path[64];

static hid_t create(void) {
    strcpy(path, "/tmp/tippe_fclib_XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static void putNumbers(hid_t file, const char* name, hid_t type, const void* values, int count) {
    hsize_t length = (hsize_t)count;
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (count > 0) {
        assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
}

static void putInts(hid_t file, const char* group, const char* name, const int* values, int count) {
    char full[80];
    snprintf(full, sizeof(full), "%s/%s", group, name);
    putNumbers(file, full, H5T_NATIVE_INT, values, count);
}

static void putReals(hid_t file, const char* group, const char* name, const double* values,
                     int count) {
    char full[80];
    snprintf(full, sizeof(full), "%s/%s", group, name);
    putNumbers(file, full, H5T_NATIVE_DOUBLE, values, count);
}

// nz: 0 triplets, -1 columns, -2 rows.
static void putMatrixGroup(hid_t file, const char* group, const double* values, int rows,
                           int columns, int layout) {
    int count = countEntries(values, rows, columns, false);
    int lines = layout == -2 ? rows : columns, crossings = layout == -2 ? columns : rows;
    int* i = calloc((size_t)count + 3, sizeof(int));
    int* p = calloc((size_t)(count + lines) + 3, sizeof(int));
    double* x = calloc((size_t)count + 3, sizeof(double));
    int k = 0;
    for (int line = 0; line < lines; ++line) {
        for (int cross = 0; cross < crossings; ++cross) {
            double value = values[layout == -2 ? line + cross * rows : cross + line * rows];
            if (value != 0.0) {
                i[k] = cross;
                if (layout == 0) {
                    p[k] = line;
                }
                x[k++] = value;
            }
        }
        if (layout != 0) {
            p[line + 1] = k;
        }
    }
    int nz = layout == 0 ? count : layout, nzmax = count + 2;
    putInts(file, group, "m", &rows, 1);
    putInts(file, group, "n", &columns, 1);
    putInts(file, group, "nz", &nz, 1);
    putInts(file, group, "nzmax", &nzmax, 1);
    putInts(file, group, "i", i, layout == -1 ? nzmax : count);
    putInts(file, group, "p", p, layout == 0 ? count : lines + 1);
    putReals(file, group, "x", x, layout == -1 ? nzmax : count);
    free(i);
    free(p);
    free(x);
}

static tpProblem* readBack(tpProblemKind kind) {
    tpProblem* problem;
    tpError error;
    if (tpReadProblem(path, kind, NULL, &problem, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return problem;
}

static void localProblems(void** state) {
    (void)state;
    tpRandom random = { 21 };
    for (int layout = -2; layout <= 0; ++layout) {
        int dimension = layout == -1 ? 2 : 3, contacts = 4, size = dimension * contacts;
        double* W = randomMatrix(&random, size, size, dimension, 0.5);
        double* q = randomVector(&random, size, -1.0);
        double* mu = randomVector(&random, contacts, 0.0);
        hid_t file = create();
        putMatrixGroup(file, "/fclib_local/W", W, size, size, layout);
        putReals(file, "/fclib_local/vectors", "q", q, size);
        putReals(file, "/fclib_local/vectors", "mu", mu, contacts);
        putInts(file, "/fclib_local", "spacedim", &dimension, 1);
        H5Fclose(file);
        tpProblem* problem = readBack(tp_anyProblem);
        assert_int_equal(problem->kind,
                         dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem);
        assert_int_equal(problem->contactCount, contacts);
        assert_false(problem->isGlobal);
        checkMatrix(&problem->matrix, W, size, size);
        checkVector(problem->q, q, size);
        checkVector(problem->mu, mu, contacts);
        tpDestroyProblem(problem);
        unlink(path);
        free(W);
        free(q);
        free(mu);
    }
}

static void globalProblems(void** state) {
    (void)state;
    tpRandom random = { 22 };
    for (int layout = -2; layout <= 0; ++layout) {
        int dimension = 3, contacts = 3, size = 9, dofs = 12;
        double* M = randomMatrix(&random, dofs, dofs, 6, 0.8);
        double* H = randomMatrix(&random, dofs, size, 3, 0.7);
        double* f = randomVector(&random, dofs, -1.0);
        double* w = randomVector(&random, size, -1.0);
        double* mu = randomVector(&random, contacts, 0.0);
        hid_t file = create();
        putMatrixGroup(file, "/fclib_global/M", M, dofs, dofs, layout);
        putMatrixGroup(file, "/fclib_global/H", H, dofs, size, layout);
        putReals(file, "/fclib_global/vectors", "f", f, dofs);
        putReals(file, "/fclib_global/vectors", "w", w, size);
        putReals(file, "/fclib_global/vectors", "mu", mu, contacts);
        putInts(file, "/fclib_global", "spacedim", &dimension, 1);
        H5Fclose(file);
        tpProblem* problem = readBack(tp_friction3dProblem);
        assert_true(problem->isGlobal);
        checkMatrix(&problem->matrix, M, dofs, dofs);
        checkMatrix(&problem->H, H, dofs, size);
        checkVector(problem->q, f, dofs);
        checkVector(problem->b, w, size);
        checkVector(problem->mu, mu, contacts);
        tpDestroyProblem(problem);
        unlink(path);
        free(M);
        free(H);
        free(f);
        free(w);
        free(mu);
    }
}

// A small local problem with one thing wrong, by the name of the dataset that is replaced.
static void writeBroken(const char* name, hid_t type, const void* values, int count) {
    static const double x[] = { 1.0, 1.0, 1.0 }, q[] = { -1.0, 0.0, 0.0 }, mu[] = { 0.5 };
    static const int three = 3, columns = -1, p[] = { 0, 1, 2, 3 }, i[] = { 0, 1, 2 };
    const struct {
        const char* name;
        hid_t type;
        const void* values;
        int count;
    } parts[] = {
        { "/fclib_local/W/m", H5T_NATIVE_INT, &three, 1 },
        { "/fclib_local/W/n", H5T_NATIVE_INT, &three, 1 },
        { "/fclib_local/W/nz", H5T_NATIVE_INT, &columns, 1 },
        { "/fclib_local/W/p", H5T_NATIVE_INT, p, 4 },
        { "/fclib_local/W/i", H5T_NATIVE_INT, i, 3 },
        { "/fclib_local/W/x", H5T_NATIVE_DOUBLE, x, 3 },
        { "/fclib_local/vectors/q", H5T_NATIVE_DOUBLE, q, 3 },
        { "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, mu, 1 },
        { "/fclib_local/spacedim", H5T_NATIVE_INT, &three, 1 },
    };
    hid_t file = create();
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); ++k) {
        if (name == NULL || strcmp(parts[k].name, name) != 0) {
            putNumbers(file, parts[k].name, parts[k].type, parts[k].values, parts[k].count);
        }
    }
    if (count > 0) {
        putNumbers(file, name, type, values, count);
    }
    H5Fclose(file);
}

static void brokenFiles(void** state) {
    (void)state;
    static const int bigInt[] = { 2000000000 }, four[] = { 4 }, minusThree[] = { -3 };
    static const int badStart[] = { 1, 1, 2, 3 }, falling[] = { 0, 2, 1, 3 };
    static const int outside[] = { 0, 7, 2 }, negative[] = { 0, -1, 2 };
    static const double infinite[] = { 1.0, INFINITY, 1.0 }, minus[] = { -0.5 };
    static const double two[] = { 1.0, 2.0 };
    static const struct {
        const char* name;
        const int* ints;
        const double* reals;
        int count;
        const char* message;
    } cases[] = {
        { "/fclib_local/W/m", NULL, NULL, 0, "/fclib_local/W/m: expected a dataset, found none" },
        { "/fclib_local/W/x", NULL, NULL, 0, "/fclib_local/W/x: expected a dataset, found none" },
        { "/fclib_local/W/m", bigInt, NULL, 1,
          "/fclib_local/W: the matrix is 2000000000 x 3, its" },
        { "/fclib_local/W/m", four, NULL, 1,
          "/fclib_local/W: the matrix is 4 x 3, its vectors have 3 and 3" },
        { "/fclib_local/W/n", four, NULL, 1, "/fclib_local/W: the matrix is 3 x 4, its vectors" },
        { "/fclib_local/W/nz", bigInt, NULL, 1, "/fclib_local/W/p: expected at least 2000000000" },
        { "/fclib_local/W/nz", minusThree, NULL, 1, "/fclib_local/W/nz: expected at least -2" },
        { "/fclib_local/W/p", badStart, NULL, 4, "/fclib_local/W: p should begin with 0" },
        { "/fclib_local/W/p", falling, NULL, 4, "/fclib_local/W: p should never fall" },
        { "/fclib_local/W/i", outside, NULL, 3, "/fclib_local/W: entry 1 at (7, 1) lies outside" },
        { "/fclib_local/W/i", negative, NULL, 3, "entry 1 at (-1, 1) lies outside 3 x 3" },
        { "/fclib_local/W/x", NULL, infinite, 3, "/fclib_local/W: entry 1 is not finite" },
        { "/fclib_local/W/x", NULL, two, 2, "/fclib_local/W/x: expected at least 3 numbers" },
        { "/fclib_local/vectors/q", NULL, infinite, 3, "vectors/q: number 2 is not finite" },
        { "/fclib_local/vectors/q", NULL, two, 2, "its vectors have 2 and 2" },
        { "/fclib_local/vectors/mu", NULL, two, 2, "vectors/mu: expected 1 numbers, found 2" },
        { "/fclib_local/vectors/mu", NULL, minus, 1, "/fclib_local/vectors: mu should not be" },
        { "/fclib_local/spacedim", four, NULL, 1, "/fclib_local: spacedim should be 2 or 3" },
        { "/fclib_local/spacedim", NULL, NULL, 0, "/fclib_local/spacedim: expected a dataset" },
        { "/fclib_local/V/m", four, NULL, 1, "/fclib_local/V: equality constraints are not" },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        writeBroken(cases[k].name, cases[k].ints != NULL ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                    cases[k].ints != NULL ? (const void*)cases[k].ints : cases[k].reals,
                    cases[k].count);
        tpProblem* problem;
        tpError error = { 0 };
        assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
        assert_null(problem);
        assert_memory_equal(error.message, path, strlen(path));
        if (strstr(error.message, cases[k].message) == NULL) {
            fail_msg("expected \"%s\" in \"%s\"", cases[k].message, error.message);
        }
        unlink(path);
    }
}

static void otherFiles(void** state) {
    (void)state;
    tpProblem* problem;
    tpError error;
    hid_t file = create();
    H5Fclose(file);
    assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
    assert_non_null(
        strstr(error.message, ":/: expected a group fclib_local, fclib_global or tippe"));
    unlink(path);

    writeBroken(NULL, H5T_NATIVE_INT, NULL, 0);
    assert_int_equal(tpReadProblem(path, tp_lcpProblem, NULL, &problem, &error), tp_badInput);
    assert_non_null(strstr(error.message, ":/: expected a problem lcp, found fc3d"));

    // Cut short anywhere: refused, never a crash.
    FILE* whole = fopen(path, "rb");
    static char bytes[1 << 16];
    size_t length = fread(bytes, 1, sizeof(bytes), whole);
    fclose(whole);
    for (size_t cut = 8; cut < length; cut += 97) {
        FILE* part = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, cut, part), cut);
        fclose(part);
        assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
    }
    unlink(path);
}

// The most bytes that are out at once while a file is read.
typedef struct Meter {
    size_t used, most;
} Meter;

static void* meterAllocate(size_t size, void* context) {
    Meter* meter = context;
    meter->used += size;
    meter->most = meter->used > meter->most ? meter->used : meter->most;
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static void meterRelease(void* memory, size_t size, void* context) {
    ((Meter*)context)->used -= size;
    free(memory);
}

// A file of some kilobytes that says it has millions of numbers: sides of matrices, and vectors of
// which nothing was ever written. None of it is believed, and no memory is asked for.
static void claims(void** state) {
    (void)state;
    enum { many = 40000000, few = 3 };
    static const char* const empty[] = { "/fclib_local/vectors/q", "/fclib_local/W/p",
                                         "/fclib_local/W/x" };
    static const char* const says[] = { "vectors/q: more numbers than the file holds",
                                        "W/p: more numbers than the file holds",
                                        "W/x: more numbers than the file holds" };
    for (int k = 0; k < 6; ++k) {
        bool isPacked = k >= 3;
        writeBroken(empty[k % 3], 0, NULL, 0);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hsize_t length = many, chunk = 1024;
        hid_t space = H5Screate_simple(1, &length, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
        if (isPacked) {
            H5Pset_chunk(create, 1, &chunk);
            H5Pset_deflate(create, 1);
        }
        hid_t type = k % 3 == 1 ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
        hid_t data = H5Dcreate2(file, empty[k % 3], type, space, H5P_DEFAULT, create, H5P_DEFAULT);
        assert_true(data >= 0);
        H5Dclose(data);
        H5Pclose(create);
        H5Sclose(space);
        H5Fclose(file);
        Meter meter = { 0, 0 };
        tpAllocator allocator = { meterAllocate, meterRelease, &meter };
        tpProblem* problem;
        tpError error = { 0 };
        assert_int_equal(tpReadProblem(path, tp_anyProblem, &allocator, &problem, &error),
                         tp_badInput);
        if (strstr(error.message, says[k % 3]) == NULL) {
            fail_msg("expected \"%s\" in \"%s\"", says[k % 3], error.message);
        }
        assert_in_range(meter.most, 0, 1 << 20);
        unlink(path);
    }
}

// Texts and attributes that other programs put beside the numbers.
static void otherThings(void** state) {
    (void)state;
    writeBroken(NULL, H5T_NATIVE_INT, NULL, 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t text = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(text, H5T_VARIABLE);
    const char* words = "a title of any length";
    hid_t attribute = H5Acreate2(file, "title", text, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, text, &words) >= 0);
    H5Aclose(attribute);
    hid_t group = H5Gcreate2(file, "/fclib_local/info", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t data = H5Dcreate2(group, "about", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(data, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &words) >= 0);
    H5Dclose(data);
    H5Gclose(group);
    H5Sclose(space);
    H5Tclose(text);
    H5Fclose(file);
    tpDestroyProblem(readBack(tp_friction3dProblem));
    unlink(path);
}

// A problem put together as programs do it that use more of HDF5: chunks with filters, compact
// data, other orders of bytes, single precision, attributes and comments on everything, datasets of
// other types and ranks beside, paths that lead elsewhere, groups of many members.
static void putVariant(hid_t file, const char* name, hid_t type, hid_t memory, const void* values,
                       int count, int variant) {
    hsize_t length = (hsize_t)count, chunk = 2;
    hid_t links = H5Pcreate(H5P_LINK_CREATE), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (variant == 1) {
        H5Pset_layout(create, H5D_COMPACT);
    } else if (variant >= 2) {
        H5Pset_chunk(create, 1, &chunk);
    }
    if (variant >= 3) {
        H5Pset_shuffle(create);
        H5Pset_deflate(create, 6);
        H5Pset_fletcher32(create);
    }
    hsize_t most = variant >= 2 ? H5S_UNLIMITED : length;
    hid_t space = H5Screate_simple(1, &length, &most);
    hid_t data = H5Dcreate2(file, name, type, space, links, create, H5P_DEFAULT);
    assert_true(data >= 0);
    assert_true(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    static const double number = 1.5;
    hid_t scalar = H5Screate(H5S_SCALAR);
    for (int k = 0; k < 5; ++k) { // more than the header has room for: it is continued elsewhere
        char label[16];
        snprintf(label, sizeof(label), "attribute%d", k);
        hid_t attribute =
            H5Acreate2(data, label, H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number) >= 0);
        H5Aclose(attribute);
    }
    H5Oset_comment(data, "a comment");
    H5Sclose(scalar);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(create);
    H5Pclose(links);
}

static void putForeign(hid_t file) {
    hsize_t sizes[5] = { 2, 2, 2, 2, 2 };
    hid_t type = H5Tcreate(H5T_COMPOUND, 16), space = H5Screate_simple(5, sizes, NULL);
    H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "b", 8, H5T_NATIVE_INT);
    assert_true(H5Tcommit2(file, "/kept_type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    hid_t data = H5Dcreate2(file, "/table", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Dclose(data);
    H5Tclose(type);
    H5Sclose(space);
    assert_true(H5Lcreate_soft("/fclib_local/W", file, "/matrix", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    for (int k = 0; k < 100; ++k) {
        char name[40];
        snprintf(name, sizeof(name), "/notes/about_%d", k);
        putNumbers(file, name, H5T_NATIVE_INT, &k, 1);
    }
}

// Sets the bit of every attribute that says it is not to be shared, as newer versions of HDF5 do.
static void keepAttributesUnshared(void) {
    FILE* file = fopen(path, "r+b");
    static unsigned char bytes[1 << 20];
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    int count = 0;
    for (size_t k = 0; k + 9 < length; k += 8) {
        if (bytes[k] == 0x0c && bytes[k + 1] == 0 && (bytes[k + 4] & ~4) == 0 &&
            bytes[k + 8] == 1 && memcmp(bytes + k + 16, "attribute", 9) == 0) {
            bytes[k + 4] = 4;
            count += 1;
        }
    }
    assert_true(count >= 45);
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void writtenByOthers(void** state) {
    (void)state;
    static const double x[] = { 1.0, 2.0, 4.0 }, q[] = { -1.0, 0.5, 0.25 }, mu[] = { 0.5 };
    static const int three = 3, columns = -1, p[] = { 0, 1, 2, 3 }, i[] = { 0, 1, 2 };
    for (int variant = 0; variant < 8; ++variant) {
        int form = variant % 4;
        hid_t real = variant < 4 ? H5T_IEEE_F64LE : H5T_IEEE_F32BE;
        hid_t whole = variant < 4 ? H5T_STD_I32LE : H5T_STD_I64BE;
        hid_t file = create();
        putVariant(file, "/fclib_local/W/m", whole, H5T_NATIVE_INT, &three, 1, form);
        putVariant(file, "/fclib_local/W/n", whole, H5T_NATIVE_INT, &three, 1, form);
        putVariant(file, "/fclib_local/W/nz", whole, H5T_NATIVE_INT, &columns, 1, form);
        putVariant(file, "/fclib_local/W/p", whole, H5T_NATIVE_INT, p, 4, form);
        putVariant(file, "/fclib_local/W/i", whole, H5T_NATIVE_INT, i, 3, form);
        putVariant(file, "/fclib_local/W/x", real, H5T_NATIVE_DOUBLE, x, 3, form);
        putVariant(file, "/fclib_local/vectors/q", real, H5T_NATIVE_DOUBLE, q, 3, form);
        putVariant(file, "/fclib_local/vectors/mu", real, H5T_NATIVE_DOUBLE, mu, 1, form);
        putVariant(file, "/fclib_local/spacedim", whole, H5T_NATIVE_INT, &three, 1, form);
        putForeign(file);
        H5Fclose(file);
        for (int k = 0; k < 2; ++k) {
            tpProblem* problem = readBack(tp_friction3dProblem);
            static const double W[] = { 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0 };
            checkMatrix(&problem->matrix, W, 3, 3);
            checkVector(problem->q, q, 3);
            checkVector(problem->mu, mu, 1);
            tpDestroyProblem(problem);
            keepAttributesUnshared();
        }
        unlink(path);
    }
}

// A problem without contacts may have vectors of no length, or none of them; its matrix too.
static void emptyProblems(void** state) {
    (void)state;
    static const int two = 2, three = 3, zero = 0, columns = -1, p[] = { 0 };
    static const double f[] = { 1.0, 2.0, 3.0 };
    for (int variant = 0; variant < 3; ++variant) {
        hid_t file = create();
        putVariant(file, "/fclib_global/spacedim", H5T_STD_I32LE, H5T_NATIVE_INT, &two, 1, 0);
        putVariant(file, "/fclib_global/vectors/f", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, f, 3, 0);
        if (variant > 0) {
            putVariant(file, "/fclib_global/H/m", H5T_STD_I32LE, H5T_NATIVE_INT, &three, 1, 0);
            putVariant(file, "/fclib_global/H/n", H5T_STD_I32LE, H5T_NATIVE_INT,
                       variant == 1 ? &zero : &two, 1, 0);
            putVariant(file, "/fclib_global/H/nz", H5T_STD_I32LE, H5T_NATIVE_INT, &columns, 1, 0);
            putVariant(file, "/fclib_global/H/p", H5T_STD_I32LE, H5T_NATIVE_INT, p, 1, 0);
        }
        H5Fclose(file);
        tpProblem* problem = NULL;
        tpError error = { 0 };
        tpResult result = tpReadProblem(path, tp_anyProblem, NULL, &problem, &error);
        if (variant < 2) {
            assert_int_equal(result, tp_success);
            assert_int_equal(problem->kind, tp_friction2dProblem);
            assert_int_equal(problem->contactCount, 0);
            tpDestroyProblem(problem);
        } else {
            assert_int_equal(result, tp_badInput); // there are contacts, and vectors are missing
        }
        unlink(path);
    }
}

// Links to other files, and data kept in other files, lead nowhere.
static void elsewhere(void** state) {
    (void)state;
    tpProblem* problem;
    tpError error = { 0 };
    writeBroken("/fclib_local/vectors/mu", 0, NULL, 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Lcreate_external("/etc/passwd", "/x", file, "/fclib_local/vectors/mu",
                                   H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
    unlink(path);
    writeBroken("/fclib_local/vectors/mu", 0, NULL, 0);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hsize_t length = 1;
    hid_t space = H5Screate_simple(1, &length, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(create, "/etc/passwd", 0, 8);
    hid_t data = H5Dcreate2(file, "/fclib_local/vectors/mu", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                            create, H5P_DEFAULT);
    H5Dclose(data);
    H5Pclose(create);
    H5Sclose(space);
    H5Fclose(file);
    assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
    unlink(path);
}

static void everyAllocationMayFail(void** state) {
    (void)state;
    writeBroken(NULL, H5T_NATIVE_INT, NULL, 0);
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpProblem* problem;
        tpResult result = tpReadProblem(path, tp_anyProblem, &allocator, &problem, NULL);
        assert_true(result == tp_success || result == tp_outOfMemory);
        tpDestroyProblem(problem);
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(localProblems),   cmocka_unit_test(globalProblems),
        cmocka_unit_test(brokenFiles),     cmocka_unit_test(otherFiles),
        cmocka_unit_test(claims),          cmocka_unit_test(otherThings),
        cmocka_unit_test(elsewhere),       cmocka_unit_test(everyAllocationMayFail),
        cmocka_unit_test(writtenByOthers), cmocka_unit_test(emptyProblems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
