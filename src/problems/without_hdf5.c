// FCLIB's files in a build without HDF5.

#include "base/error.h"
#include "problems/problem_reader.h"

tpResult tpReadFclib(const char* path, tpProblemKind kind, tpOwnedProblem* owned, tpError* error) {
    (void)kind;
    (void)owned;
    return tpError_Set(error, tp_unsupported,
                       "%s: this is an HDF5 file, and this build of Tippe has no HDF5", path);
}
