// Friction problems from FCLIB's HDF5 files [AcaryBremondKoziaraPerignon14].
//
//     /fclib_local   W (group), vectors/q, vectors/mu, spacedim       u = W r + q
//     /fclib_global  M, H (groups), vectors/f, vectors/w, vectors/mu  M v = f + H r, u = H^T v + w
//
// Equality constraints (V, R or G) are refused, not dropped. A group /tippe beside these holds the
// same problem, or one that FCLIB has no form for, as tpWriteFrictionProblem wrote it; it is
// preferred.
//
// Nothing in the file is believed before it is checked: its structure before HDF5 sees it
// (base/hdf5_check.h), then the sides of a matrix against the lengths of its vectors, and every
// length against the bytes that the file has for it. So a file takes memory in proportion to its
// own length, times what deflate can make of a byte.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hdf5_check.h"
#include "problems/problem_file.h"

// Everything that is opened here: datasets, then groups.
const char* const tpFclibNames[] = { "m",
                                     "n",
                                     "nz",
                                     "i",
                                     "p",
                                     "x",
                                     "q",
                                     "f",
                                     "w",
                                     "mu",
                                     "spacedim",
                                     "degrees",
                                     "bodies",
                                     "dimension",
                                     "kind",
                                     "body_a",
                                     "body_b",
                                     "inverse_mass",
                                     "jacobian_a",
                                     "jacobian_b",
                                     "scale",
                                     "start",
                                     "compliance",
                                     "W",
                                     "M",
                                     "H",
                                     "vectors",
                                     "fclib_local",
                                     "fclib_global",
                                     "tippe",
                                     NULL };

// Problems ------------------------------------------------------------------------------------

// Dimension and contacts from `rows`, the number of local velocities; then mu.
static tpResult readContacts(const tpProblemFile* file, const char* group, int rows,
                             tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    char vectors[40];
    snprintf(vectors, sizeof(vectors), "%s/vectors", group);
    tpResult result =
        tpProblemFile_ReadInt(file, group, "spacedim", 2, &owned->arena, &problem->dimension);
    if (result) {
        return result;
    }
    if (problem->dimension > 3) {
        return tpProblemFile_Fail(file, group, "spacedim should be 2 or 3");
    }
    if (rows % problem->dimension != 0) {
        return tpProblemFile_Fail(file, group, "the rows are no multiple of spacedim");
    }
    problem->kind = problem->dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem;
    problem->size = rows;
    problem->contactCount = rows / problem->dimension;
    result = tpProblemFile_ReadReals(file, vectors, "mu", problem->contactCount, &owned->arena,
                                     &problem->mu);
    for (int c = 0; result == tp_success && c < problem->contactCount; ++c) {
        if (problem->mu[c] < 0.0) {
            return tpProblemFile_Fail(file, vectors, "mu should not be negative");
        }
    }
    return result;
}

// Whether a problem has no contacts: writers leave out vectors of no length, and may leave out the
// matrix that has them as a side.
static bool hasNoContacts(const tpProblemFile* file, const char* group, const char* matrix,
                          const char* vector, tpArena* arena) {
    char name[64];
    const char* const left[2] = { "mu", vector };
    for (int k = 0; k < 2; ++k) {
        snprintf(name, sizeof(name), "%s/vectors/%s", group, left[k]);
        if (tpProblemFile_Has(file, name)) {
            return false;
        }
    }
    int columns = 0;
    snprintf(name, sizeof(name), "%s/%s", group, matrix);
    return !tpProblemFile_Has(file, name) ||
           (tpProblemFile_ReadInt(file, name, "n", 0, arena, &columns) == tp_success &&
            columns == 0);
}

static tpResult readEmpty(const tpProblemFile* file, const char* group, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    tpResult result =
        tpProblemFile_ReadInt(file, group, "spacedim", 2, &owned->arena, &problem->dimension);
    problem->kind = problem->dimension == 2 ? tp_friction2dProblem : tp_friction3dProblem;
    return result;
}

static tpResult readLocal(const tpProblemFile* file, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    if (tpProblemFile_Has(file, "/fclib_local/V") || tpProblemFile_Has(file, "/fclib_local/R")) {
        return tpProblemFile_Fail(file, "/fclib_local/V", "equality constraints are not supported");
    }
    if (hasNoContacts(file, "/fclib_local", "W", "q", &owned->arena)) {
        return readEmpty(file, "/fclib_local", owned);
    }
    const char* q = "/fclib_local/vectors/q";
    tpResult result =
        tpProblemFile_ReadMatrix(file, "/fclib_local/W", q, q, owned, &problem->matrix);
    if (result) {
        return result;
    }
    result = readContacts(file, "/fclib_local", problem->matrix.rowCount, owned);
    return result ? result
                  : tpProblemFile_ReadReals(file, "/fclib_local/vectors", "q", problem->size,
                                            &owned->arena, &problem->q);
}

static tpResult readGlobal(const tpProblemFile* file, tpOwnedProblem* owned) {
    tpProblem* problem = &owned->problem;
    if (tpProblemFile_Has(file, "/fclib_global/G")) {
        return tpProblemFile_Fail(file, "/fclib_global/G",
                                  "equality constraints are not supported");
    }
    if (hasNoContacts(file, "/fclib_global", "H", "w", &owned->arena)) {
        return readEmpty(file, "/fclib_global", owned);
    }
    tpResult result;
    const char* f = "/fclib_global/vectors/f";
    const char* w = "/fclib_global/vectors/w";
    if ((result =
             tpProblemFile_ReadMatrix(file, "/fclib_global/M", f, f, owned, &problem->matrix)) ||
        (result = tpProblemFile_ReadMatrix(file, "/fclib_global/H", f, w, owned, &problem->H))) {
        return result;
    }
    const char* vectors = "/fclib_global/vectors";
    problem->isGlobal = true;
    if ((result = readContacts(file, "/fclib_global", problem->H.columnCount, owned)) ||
        (result = tpProblemFile_ReadReals(file, vectors, "f", problem->H.rowCount, &owned->arena,
                                          &problem->q))) {
        return result;
    }
    return tpProblemFile_ReadReals(file, vectors, "w", problem->size, &owned->arena, &problem->b);
}

static tpResult readOpened(const tpProblemFile* file, tpProblemKind kind, tpOwnedProblem* owned) {
    tpResult result;
    if (tpProblemFile_Has(file, "/tippe")) {
        result = tpReadBodyForm(file, owned);
    } else if (tpProblemFile_Has(file, "/fclib_local")) {
        result = readLocal(file, owned);
    } else if (tpProblemFile_Has(file, "/fclib_global")) {
        result = readGlobal(file, owned);
    } else {
        return tpProblemFile_Fail(file, "/", "expected a group fclib_local, fclib_global or tippe");
    }
    if (result == tp_success && kind != tp_anyProblem && kind != owned->problem.kind) {
        char message[80];
        snprintf(message, sizeof(message), "expected a problem %s, found %s",
                 tpProblemKind_Name(kind), tpProblemKind_Name(owned->problem.kind));
        result = tpProblemFile_Fail(file, "/", message);
    }
    return result;
}

tpResult tpReadFclib(const char* path, tpProblemKind kind, tpOwnedProblem* owned, tpError* error) {
    tpProblemFile opened = { .path = path, .id = -1, .error = error };
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    bool outOfMemory = false;
    if (file < 0 || fstat(file, &status) != 0) {
        tpResult result = tpProblemFile_Fail(&opened, "/", strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return result;
    }
    const char* wrong = tpCheckHdf5(file, (uint64_t)status.st_size, tp_problemFile, tpFclibNames,
                                    &owned->allocator, &outOfMemory);
    close(file);
    if (outOfMemory) {
        return tpError_OutOfMemory(error);
    }
    if (wrong != NULL) {
        return tpError_Set(error, tp_badInput,
                           "%.600s: an HDF5 file that is damaged, or not of the oldest format and "
                           "plain (%s)",
                           path, wrong);
    }

    // HDF5 would print its own errors; ours say more to the user.
    H5E_auto2_t printer;
    void* printerData;
    H5Eget_auto2(H5E_DEFAULT, &printer, &printerData);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    opened.id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    tpResult result;
    if (opened.id < 0) {
        result = tpProblemFile_Fail(&opened, "/", "an HDF5 file that cannot be opened");
    } else {
        result = readOpened(&opened, kind, owned);
        H5Fclose(opened.id);
    }
    H5Eset_auto2(H5E_DEFAULT, printer, printerData);
    return result;
}
