// FCLIB's files in a build without HDF5.

#include "base/error.h"
#include "problems/problem_reader.h"

tpResult tpReadFclib(const char* path, tpProblemKind kind, tpOwnedProblem* owned, tpError* error) {
    (void)kind;
    (void)owned;
    return tpError_Set(error, tp_unsupported,
                       "%s: this is an HDF5 file, and this build of Tippe has no HDF5", path);
}

tpResult tpWriteFrictionProblem(const char* path, const tpFrictionProblem* problem,
                                const double* start, const double* impulse, const char* title,
                                tpError* error) {
    (void)problem;
    (void)start;
    (void)impulse;
    (void)title;
    return tpError_Set(
        error, tp_unsupported,
        "%s: problems are written as HDF5 files, and this build of Tippe has no HDF5", path);
}
