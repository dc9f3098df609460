// What all solvers of complementarity problems share: matrices, memory, statuses and reports.
//
// A solver is a function of a problem. It writes the best point it found and a report; the residual
// in the report is computed by the problem's own residual function, which knows no solver, so a
// status of tp_solved always means that this residual is finite and within the tolerance.

#ifndef TIPPE_SOLVER_H
#define TIPPE_SOLVER_H

#include "tippe/base.h"

TP_BEGIN_DECLS

// Matrices ------------------------------------------------------------------------------------

// A view of a matrix that the caller keeps. Dense if columnStarts is NULL: entry (i, j) is
// values[i + j * leading]. Otherwise sparse by columns: the entries of column j are
// values[k] at row rowIndices[k], columnStarts[j] <= k < columnStarts[j + 1], each row at most
// once, in any order.
typedef struct tpMatrix {
    int rowCount;
    int columnCount;
    const double* values;
    int leading;             // dense only, at least rowCount
    const int* columnStarts; // sparse only, columnCount + 1 of them
    const int* rowIndices;   // sparse only
} tpMatrix;

static inline tpMatrix tpDenseMatrix(int rowCount, int columnCount, const double* values) {
    tpMatrix matrix;
    matrix.rowCount = rowCount;
    matrix.columnCount = columnCount;
    matrix.values = values;
    matrix.leading = rowCount;
    matrix.columnStarts = NULL;
    matrix.rowIndices = NULL;
    return matrix;
}

static inline tpMatrix tpSparseMatrix(int rowCount, int columnCount, const int* columnStarts,
                                      const int* rowIndices, const double* values) {
    tpMatrix matrix;
    matrix.rowCount = rowCount;
    matrix.columnCount = columnCount;
    matrix.values = values;
    matrix.leading = 0;
    matrix.columnStarts = columnStarts;
    matrix.rowIndices = rowIndices;
    return matrix;
}

// y = A x + b. b may be NULL (zero) or y itself; x may not overlap y.
TP_API void tpMatrix_Multiply(const tpMatrix* A, const double* x, const double* b, double* y);

// y = A' x + b, alike.
TP_API void tpMatrix_MultiplyTransposed(const tpMatrix* A, const double* x, const double* b,
                                        double* y);

// Memory --------------------------------------------------------------------------------------

// Scratch memory for solvers. It grows with the largest problem and is used again, so a sequence of
// problems of one size allocates only once. One thread at a time.
typedef struct tpSolverMemory tpSolverMemory;

// NULL if there is no memory. A NULL allocator means the C library's heap.
TP_API tpSolverMemory* tpCreateSolverMemory(const tpAllocator* allocator);
TP_API void tpDestroySolverMemory(tpSolverMemory* memory);

// Reports -------------------------------------------------------------------------------------

typedef enum tpSolveStatus {
    tp_solved = 0,        // the judged residual is within the tolerance
    tp_iterationLimit,    // stopped by a limit; the best point found is returned
    tp_stalled,           // no further progress (a line search or a contraction gave out)
    tp_secondaryRay,      // Lemke's path goes to infinity: this says nothing about solvability
    tp_infeasible,        // proved to have no solution, by a certificate that was checked
    tp_numericalTrouble,  // singular matrices or numbers that are not finite, and no fallback
                          // helped
    tp_badProblem,        // invalid sizes or values (NaN, indices out of range)
    tp_solverOutOfMemory, // memory ran out
    tp_notApplicable,     // this solver is not made for this problem (size, kind)
    tp_solvedToRounding   // as near to a solution as slightly contradicting data allow
} tpSolveStatus;

// "solved", "iteration limit", ...
TP_API const char* tpSolveStatus_Name(tpSolveStatus status);

// What one solver of the portfolio did.
typedef struct tpSolveStage {
    const char* solver; // its name, as tippe list has it
    tpSolveStatus status;
    double residual; // judged, of the point this stage left
    int iterations;  // pivots, Newton steps or sweeps
    double seconds;  // CPU time
} tpSolveStage;

#define TP_MAX_SOLVE_STAGES 24

typedef struct tpSolveReport {
    tpSolveStatus status;
    const char* solver;   // the stage that gave the answer
    double residual;      // judged: relative, see the problem's residual function
    double plainResidual; // the same without the scale
    int iterations;       // of all stages
    double seconds;       // CPU time of all stages
    double rounding;      // of friction: lower bound of the residual by contradicting data; 0:
                          // unknown
    double jam;           // of friction: lower bound of the residual by bodies jammed between
                          // others; 0: none was found
    double shift;         // of friction: largest change of q within the slack allowed, in units of
                          // u
    double work;          // of portfolios: multiply-adds, counted; the same on every machine
    int stageCount;       // stages beyond TP_MAX_SOLVE_STAGES are counted but not kept
    tpSolveStage stages[TP_MAX_SOLVE_STAGES];
} tpSolveReport;

TP_END_DECLS

#endif
