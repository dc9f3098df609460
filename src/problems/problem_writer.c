// Friction problems into files: the group /tippe that body_form.c reads, and FCLIB's global form
// [AcaryBremondKoziaraPerignon14] beside it if the problem has one,
//
//     M v = f + H r,  u = H^T v + w    with f = 0 and w = q: v is what the impulses change.
//
// HDF5 writes into memory (its core driver), and the image goes to disk in one piece.

#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/part_file.h"
#include "math/block_lu.h"
#include "tippe/problems.h"

// Datasets are packed in chunks of this many numbers; shorter ones are written as they are.
enum { chunkLength = 8192, packing = 6 };

typedef struct Writer {
    hid_t file;
    bool hasWorked; // no call of HDF5 has failed
    tpArena arena;
} Writer;

static void put(Writer* writer, const char* name, hid_t type, const void* values, size_t count) {
    hsize_t length = (hsize_t)count, chunk = chunkLength;
    hid_t links = H5Pcreate(H5P_LINK_CREATE), create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_obj_track_times(create, 0); // the same problem gives the same file
    if (count > chunkLength) {
        H5Pset_chunk(create, 1, &chunk);
        H5Pset_shuffle(create);
        H5Pset_deflate(create, packing);
    }
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t dataset = H5Dcreate2(writer->file, name, type, space, links, create, H5P_DEFAULT);
    writer->hasWorked =
        writer->hasWorked && dataset >= 0 &&
        (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Pclose(create);
    H5Pclose(links);
}

static void putInts(Writer* writer, const char* name, const int* values, size_t count) {
    put(writer, name, H5T_NATIVE_INT, values, count);
}

static void putInt(Writer* writer, const char* name, int value) {
    putInts(writer, name, &value, 1);
}

static void putReals(Writer* writer, const char* name, const double* values, size_t count) {
    if (values != NULL) {
        put(writer, name, H5T_NATIVE_DOUBLE, values, count);
    }
}

// A text of fixed length, closed by a zero.
static void putText(Writer* writer, const char* name, const char* text) {
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 1);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t dataset = H5Dcreate2(writer->file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    writer->hasWorked = writer->hasWorked && dataset >= 0 &&
                        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    H5Pclose(links);
    H5Sclose(space);
    H5Tclose(type);
}

static int rowsOf(const tpFrictionProblem* problem, int block) {
    return problem->dimensions != NULL ? problem->dimensions[block] : problem->dimension;
}

static int kindOf(const tpFrictionProblem* problem, int block) {
    return problem->kinds != NULL ? problem->kinds[block] : tp_frictionCone;
}

// A matrix by compressed columns, in a group.
static void putMatrix(Writer* writer, const char* group, int rows, int columns, const int* starts,
                      const int* indices, const double* values) {
    char name[64];
    const char* names[] = { "m", "n", "nzmax", "nz" };
    int numbers[] = { rows, columns, starts[columns], -1 };
    for (int k = 0; k < 4; ++k) {
        snprintf(name, sizeof(name), "%s/%s", group, names[k]);
        putInt(writer, name, numbers[k]);
    }
    snprintf(name, sizeof(name), "%s/p", group);
    putInts(writer, name, starts, (size_t)columns + 1);
    snprintf(name, sizeof(name), "%s/i", group);
    putInts(writer, name, indices, (size_t)starts[columns]);
    snprintf(name, sizeof(name), "%s/x", group);
    putReals(writer, name, values, (size_t)starts[columns]);
}

// The group /tippe ----------------------------------------------------------------------------

// W as it is, or its columns made sparse.
static bool putW(Writer* writer, const tpMatrix* W) {
    if (W->columnStarts != NULL) {
        putMatrix(writer, "/tippe/W", W->rowCount, W->columnCount, W->columnStarts, W->rowIndices,
                  W->values);
        return true;
    }
    size_t n = (size_t)W->rowCount;
    int* starts = TP_SCRATCH(&writer->arena, int, n + 1);
    int* rows = TP_SCRATCH(&writer->arena, int, n* n);
    double* values = TP_SCRATCH(&writer->arena, double, n* n);
    if (writer->arena.failed) {
        return false;
    }
    int used = 0;
    for (int j = 0; j < W->columnCount; ++j) {
        starts[j] = used;
        for (int i = 0; i < W->rowCount; ++i) {
            rows[used] = i;
            values[used++] = W->values[(size_t)j * (size_t)W->leading + (size_t)i];
        }
    }
    starts[W->columnCount] = used;
    putMatrix(writer, "/tippe/W", W->rowCount, W->columnCount, starts, rows, values);
    return true;
}

static void putBodies(Writer* writer, const tpFrictionBodies* bodies, size_t blocks, size_t rows) {
    size_t componentCount = (size_t)bodies->componentCount;
    putInt(writer, "/tippe/degrees", bodies->componentCount);
    putInt(writer, "/tippe/bodies", bodies->bodyCount);
    putReals(writer, "/tippe/inverse_mass", bodies->inverseMass,
             (size_t)bodies->bodyCount * componentCount * componentCount);
    putInts(writer, "/tippe/blocks/body_a", bodies->bodyA, blocks);
    putInts(writer, "/tippe/blocks/body_b", bodies->bodyB, blocks);
    putReals(writer, "/tippe/rows/jacobian_a", bodies->jacobianA, rows * componentCount);
    putReals(writer, "/tippe/rows/jacobian_b", bodies->jacobianB, rows * componentCount);
}

static bool putOwnForm(Writer* writer, const tpFrictionProblem* problem, const double* start,
                       const double* impulse) {
    size_t blocks = (size_t)problem->blockCount, rows = (size_t)tpFriction_RowCount(problem);
    int* dimensions = TP_SCRATCH(&writer->arena, int, blocks);
    int* kinds = TP_SCRATCH(&writer->arena, int, blocks);
    double* mu = TP_SCRATCH(&writer->arena, double, blocks);
    if (writer->arena.failed) {
        return false;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        dimensions[b] = rowsOf(problem, b);
        kinds[b] = kindOf(problem, b);
        mu[b] = problem->mu != NULL && kinds[b] == tp_frictionCone ? problem->mu[b] : 0.0;
    }
    putInts(writer, "/tippe/blocks/dimension", dimensions, blocks);
    putInts(writer, "/tippe/blocks/kind", kinds, blocks);
    putReals(writer, "/tippe/blocks/mu", mu, blocks);
    putReals(writer, "/tippe/rows/q", problem->q, rows);
    putReals(writer, "/tippe/rows/scale", problem->scale, rows);
    putReals(writer, "/tippe/rows/compliance", problem->compliance, rows);
    putReals(writer, "/tippe/rows/start", start, rows);
    putReals(writer, "/tippe/rows/impulse", impulse, rows);
    if (problem->W != NULL) {
        return putW(writer, problem->W);
    }
    if (problem->bodies != NULL) {
        putBodies(writer, problem->bodies, blocks, rows);
    }
    return true;
}

// FCLIB's global form -------------------------------------------------------------------------

static bool isAll(const double* values, int count, double value) {
    for (int i = 0; values != NULL && i < count; ++i) {
        if (values[i] != value) {
            return false;
        }
    }
    return true;
}

// Whether the problem is one of contacts alone, of 2 or 3 rows, on bodies.
static bool hasGlobalForm(const tpFrictionProblem* problem) {
    int dimension = problem->blockCount > 0 ? rowsOf(problem, 0) : 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        if (kindOf(problem, b) != tp_frictionCone || rowsOf(problem, b) != dimension) {
            return false;
        }
    }
    int rows = tpFriction_RowCount(problem);
    return problem->bodies != NULL && (dimension == 2 || dimension == 3) &&
           isAll(problem->scale, rows, 1.0) && isAll(problem->compliance, rows, 0.0);
}

// Numbers the bodies that rows act on; -1 for the others. Returns how many there are.
static int numberBodies(const tpFrictionProblem* problem, int* number) {
    const tpFrictionBodies* bodies = problem->bodies;
    int count = 0;
    for (int i = 0; i < bodies->bodyCount; ++i) {
        number[i] = -1;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int pair[2] = { bodies->bodyA[b], bodies->bodyB[b] };
        for (int side = 0; side < 2; ++side) {
            if (pair[side] >= 0 && number[pair[side]] < 0) {
                number[pair[side]] = count++;
            }
        }
    }
    return count;
}

// M, block by block. False if a body has no mass matrix: some of its velocities cannot be changed.
static bool fillMass(const tpFrictionBodies* bodies, const int* number, int* starts, int* indices,
                     double* values) {
    int n = bodies->componentCount, used = 0;
    for (int i = 0; i < bodies->bodyCount; ++i) {
        if (number[i] < 0) {
            continue;
        }
        const double* inverse = bodies->inverseMass + (size_t)i * (size_t)(n * n);
        double mass[36];
        for (int k = 0; k < n; ++k) {
            if (!(inverse[k * n + k] > 0.0)) {
                return false;
            }
        }
        tpInvertBlock(n, inverse, mass);
        used = number[i] * n * n;
        for (int j = 0; j < n; ++j) {
            starts[number[i] * n + j] = used;
            for (int k = 0; k < n; ++k, ++used) {
                indices[used] = number[i] * n + k;
                values[used] = mass[k * n + j];
            }
        }
    }
    return true;
}

// H: the column of a row holds its jacobians.
static void fillJacobian(const tpFrictionProblem* problem, const int* number, int* starts,
                         int* indices, double* values) {
    const tpFrictionBodies* bodies = problem->bodies;
    int n = bodies->componentCount, used = 0, row = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        int pair[2] = { bodies->bodyA[b], bodies->bodyB[b] };
        for (int end = row + rowsOf(problem, b); row < end; ++row) {
            starts[row] = used;
            for (int side = 0; side < 2; ++side) {
                const double* J =
                    (side == 0 ? bodies->jacobianA : bodies->jacobianB) + (size_t)row * (size_t)n;
                for (int k = 0; pair[side] >= 0 && k < n; ++k) {
                    indices[used] = number[pair[side]] * n + k;
                    values[used++] = J[k];
                }
            }
        }
    }
    starts[row] = used;
}

static bool putGlobalForm(Writer* writer, const tpFrictionProblem* problem, const double* impulse,
                          const char* title) {
    const tpFrictionBodies* bodies = problem->bodies;
    tpArena* arena = &writer->arena;
    int rows = tpFriction_RowCount(problem), componentCount = bodies->componentCount;
    int* number = TP_SCRATCH(arena, int, bodies->bodyCount);
    int count = arena->failed ? 0 : numberBodies(problem, number), size = count * componentCount;
    int* massStarts = TP_SCRATCH(arena, int, size + 1);
    int* massRows = TP_SCRATCH(arena, int, size* componentCount);
    double* mass = TP_SCRATCH(arena, double, size* componentCount);
    int* starts = TP_SCRATCH(arena, int, rows + 1);
    int* indices = TP_SCRATCH(arena, int, rows * 2 * componentCount);
    double* values = TP_SCRATCH(arena, double, rows * 2 * componentCount);
    double* zeros = TP_SCRATCH_ZEROED(arena, double, size);
    if (arena->failed) {
        return false;
    }
    massStarts[size] = size * componentCount;
    if (!fillMass(bodies, number, massStarts, massRows, mass)) {
        return true; // the group /tippe has it all
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        if (bodies->bodyA[b] >= 0 && bodies->bodyA[b] == bodies->bodyB[b]) {
            return true;
        }
    }
    fillJacobian(problem, number, starts, indices, values);
    putInt(writer, "/fclib_global/spacedim", rowsOf(problem, 0));
    putMatrix(writer, "/fclib_global/M", size, size, massStarts, massRows, mass);
    putMatrix(writer, "/fclib_global/H", size, rows, starts, indices, values);
    putReals(writer, "/fclib_global/vectors/f", zeros, (size_t)size);
    putReals(writer, "/fclib_global/vectors/w", problem->q, (size_t)rows);
    putReals(writer, "/fclib_global/vectors/mu", problem->mu, (size_t)problem->blockCount);
    putText(writer, "/fclib_global/info/title", title != NULL ? title : "");
    putText(writer, "/fclib_global/info/description", "a step of Tippe");
    putText(writer, "/fclib_global/info/math_info", "M v = H r, u = H^T v + w");
    putReals(writer, "/solution/r", impulse, (size_t)rows);
    return true;
}

// The file ------------------------------------------------------------------------------------

// Everything, into memory; *image is the file's content, from malloc.
static tpResult buildImage(const tpFrictionProblem* problem, const double* start,
                           const double* impulse, const char* title, void** image, size_t* size,
                           tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    Writer writer = { .hasWorked = true };
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, 0);
    writer.file = H5Fcreate("problem", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (writer.file < 0) {
        return tpError_Set(error, tp_ioError, "HDF5 cannot make a file in memory");
    }
    tpArena_Create(&writer.arena, &allocator);
    bool enough = putOwnForm(&writer, problem, start, impulse);
    if (enough && hasGlobalForm(problem)) {
        enough = putGlobalForm(&writer, problem, impulse, title);
    }
    tpArena_Destroy(&writer.arena);
    writer.hasWorked = writer.hasWorked && H5Fflush(writer.file, H5F_SCOPE_GLOBAL) >= 0;
    ssize_t length = writer.hasWorked ? H5Fget_file_image(writer.file, NULL, 0) : -1;
    *image = length > 0 ? malloc((size_t)length) : NULL;
    bool isDone =
        *image != NULL && H5Fget_file_image(writer.file, *image, (size_t)length) == length;
    *size = isDone ? (size_t)length : 0;
    H5Fclose(writer.file);
    if (!enough || (length > 0 && *image == NULL)) {
        return tpError_OutOfMemory(error);
    }
    return isDone ? tp_success : tpError_Set(error, tp_ioError, "HDF5 could not write");
}

tpResult tpWriteFrictionProblem(const char* path, const tpFrictionProblem* problem,
                                const double* start, const double* impulse, const char* title,
                                tpError* error) {
    tpResult result = tpFriction_Check(problem, error);
    if (result != tp_success) {
        return result;
    }
    H5E_auto2_t printer;
    void* printerData;
    H5Eget_auto2(H5E_DEFAULT, &printer, &printerData);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    void* image = NULL;
    size_t size = 0;
    result = buildImage(problem, start, impulse, title, &image, &size, error);
    H5Eset_auto2(H5E_DEFAULT, printer, printerData);
    if (result == tp_success) {
        tpPartFile part;
        bool isOpen = tpPartFile_CreateOver(&part, path);
        bool isWritten = isOpen && tpWriteAll(part.file, image, size, 0);
        if (isOpen && !isWritten) {
            tpPartFile_Discard(&part);
        }
        if (!isWritten || !tpPartFile_Place(&part)) {
            result = tpError_Set(error, tp_ioError, "%s: %s", path, strerror(errno));
        }
    }
    free(image);
    return result;
}
