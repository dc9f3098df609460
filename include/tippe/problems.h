// Complementarity problems from files.
//
// Reads these formats: plain-text LCPs, the text dumps
// of Siconos (LCP, mixed LCP, friction in 2D and 3D, local and global) and the HDF5 files of FCLIB.
// The kind of a file is recognised by its content.
//
//     tpProblem* problem;
//     tpError error;
//     if (tpReadProblem("stack.dat", tp_anyProblem, NULL, &problem, &error) != tp_success) {
//         fprintf(stderr, "%s\n", error.message); // stack.dat:17:3: expected ...
//     }

#ifndef TIPPE_PROBLEMS_H
#define TIPPE_PROBLEMS_H

#include "tippe/friction.h"

TP_BEGIN_DECLS

typedef enum tpProblemKind {
    tp_anyProblem = 0,    // as an argument: recognise it
    tp_lcpProblem,        // w = M z + q, 0 <= z, w >= 0, z . w = 0
    tp_mixedLcpProblem,   // the same, but some variables are free and their w is zero
    tp_friction2dProblem, // u = W r + q with Coulomb's law at every contact; (N, T) a contact
    tp_friction3dProblem  // (N, T1, T2) a contact
} tpProblemKind;

// A problem in memory, read only. Fields that its kind does not use are NULL or empty. Matrices are
// dense if they are dense in the file, otherwise sparse with rows ascending in each column.
typedef struct tpProblem {
    tpProblemKind kind;
    int size; // of z, or of r

    // M of a (mixed) LCP; W of a local friction problem; the mass matrix of a global one.
    tpMatrix matrix;
    // q of w = M z + q, q of u = W r + q, and in a global problem the right-hand side of
    // M v = q + H r. As many as `matrix` has rows.
    const double* q;

    const bool* isFree; // mixed LCP: which of the `size` variables are free

    int dimension; // friction: rows of a contact, 2 or 3
    int contactCount;
    const double* mu; // friction coefficient of each contact, >= 0

    // A friction problem that Tippe wrote: blocks of all kinds, given by bodies or by W.
    // `contactCount` is then its number of blocks, and the fields below are empty. NULL in other
    // files.
    const tpFrictionProblem* friction;
    const double* start; // impulses that its solve began with, `size` of them; or NULL

    bool isGlobal;   // friction as M v = q + H r, u = H^T v + b
    tpMatrix H;      // rows of `matrix` by `size`
    const double* b; // `size` of them
} tpProblem;

// Reads the problem in a file. `kind` is the kind that it must have, or tp_anyProblem. `allocator`
// may be NULL for the C library's heap. On failure *problem is NULL and the message starts with
// "file:line:column: " (text) or "file:/dataset: " (HDF5).
TP_API tpResult tpReadProblem(const char* path, tpProblemKind kind, const tpAllocator* allocator,
                              tpProblem** problem, tpError* error);

// The same from text in memory; `name` is the name of the file in messages.
TP_API tpResult tpParseProblem(const char* text, size_t length, const char* name,
                               tpProblemKind kind, const tpAllocator* allocator,
                               tpProblem** problem, tpError* error);

TP_API void tpDestroyProblem(tpProblem* problem);

// Writes a friction problem as an HDF5 file that tpReadProblem reads back to the bit, with the
// first and last impulses of a solve (either may be NULL) and a title. If all blocks are contacts
// of equal dimension, without elliptic scale and compliance, on bodies with a mass, the file has
// the problem in the global form of FCLIB as well. The file is complete or does not exist; a link
// under its name is replaced, not followed. tp_unsupported in a build without HDF5.
TP_API tpResult tpWriteFrictionProblem(const char* path, const tpFrictionProblem* problem,
                                       const double* start, const double* impulse,
                                       const char* title, tpError* error);

// "lcp", "mlcp", "fc2d", "fc3d"; "any" for tp_anyProblem.
TP_API const char* tpProblemKind_Name(tpProblemKind kind);

TP_END_DECLS

#endif
