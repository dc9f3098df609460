// Proofs that an LCP has no feasible point, by linear programming through Lemke's method.
//
// The program  min t  subject to  M z + q + t d >= 0, z >= 0, t >= 0  (equations in rows of free
// variables, whose z have no sign) with d_i = max(-q_i, 0), or -q_i in an equation, is solved by
// z = 0, t = 1 or better. Its dual is max -q'y subject to M'y <= 0, d'y <= 1, y >= 0. Where the
// optimum is positive, y is Farkas' certificate. The optimality conditions of the pair are the LCP
//
//     |  0   0  -M' |        | 0 |
//     |  0   0  -d' |   and  | 1 |     for (z, t, y),
//     |  M   d   0  |        | q |
//
// skew and therefore positive semidefinite, on which Lemke's method cannot fail but by rounding
// [CottlePangStone92, theorem 4.4.1]. The certificate is checked on the original data, so nothing
// rests on how it was found.

#include <math.h>

#include "complementarity/lcp_form.h"

typedef struct Program {
    tpLcp lcp;
    int* starts;
    int* rows;
    double* values;
    double* q;
    bool* isFree;
} Program;

static void put(Program* program, int* used, int row, double value) {
    if (value != 0.0) {
        program->rows[*used] = row;
        program->values[*used] = value;
        *used += 1;
    }
}

// Columns of z are (0, 0, M), of t (0, 0, d), of y (-M', -d', 0).
static bool buildProgram(Program* program, const tpLcpForm* form, tpArena* arena) {
    const tpSparseColumns* M = &form->M;
    int n = form->n;
    int size = 2 * n + 1;
    int capacity = 2 * M->starts[n] + 2 * n;
    program->starts = TP_SCRATCH(arena, int, size + 1);
    program->rows = TP_SCRATCH(arena, int, capacity);
    program->values = TP_SCRATCH(arena, double, capacity);
    program->q = TP_SCRATCH_ZEROED(arena, double, size);
    program->isFree = TP_SCRATCH_ZEROED(arena, bool, size);
    int* next = TP_SCRATCH_ZEROED(arena, int, n + 1);
    double* d = TP_SCRATCH(arena, double, n);
    if (arena->failed) {
        return false;
    }
    int used = 0;
    for (int j = 0; j < n; ++j) {
        program->starts[j] = used;
        program->isFree[j] = form->isFree[j];
        program->isFree[n + 1 + j] = form->isFree[j];
        program->q[n + 1 + j] = form->q[j];
        d[j] = form->isFree[j] || form->q[j] < 0.0 ? -form->q[j] : 0.0;
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            put(program, &used, n + 1 + M->rows[k], M->values[k]);
            next[M->rows[k] + 1] += 1;
        }
    }
    program->starts[n] = used;
    program->q[n] = 1.0;
    for (int i = 0; i < n; ++i) {
        put(program, &used, n + 1 + i, d[i]);
    }
    // Rows of M by counting: column y_i starts with its entry -d_i, then those of -M'.
    for (int i = 0; i < n; ++i) {
        program->starts[n + 1 + i] = used;
        int entries = next[i + 1];
        put(program, &used, n, -d[i]);
        next[i] = used;
        used += entries;
    }
    program->starts[size] = used;
    for (int j = 0; j < n; ++j) {
        for (int k = M->starts[j]; k < M->starts[j + 1]; ++k) {
            int place = next[M->rows[k]]++;
            program->rows[place] = j;
            program->values[place] = -M->values[k];
        }
    }
    program->lcp.n = size;
    program->lcp.q = program->q;
    program->lcp.isFree = program->isFree;
    program->lcp.M = tpSparseMatrix(size, size, program->starts, program->rows, program->values);
    return true;
}

// Entries of y below this share of the largest are dropped before the certificate is checked.
static const double certificateRange = 1e-8;

// What the radius in the scaled problem has to exceed to be called a proof. Rounding in M'y leaves
// radii of 1e14 and more for clean certificates. A feasible problem whose points are astronomically
// large (|z| = 2^n for Csizmadia's matrices) has certificates of large radius too, but only with
// entries of y spread over as many orders of magnitude, which the range above forbids.
static const double provingRadius = 1e12;

// What is left of a column of M'y beyond its bound, as part of what was summed: rounding of sums
// that cancel leaves less. A small entry that nothing cancels is no rounding: beyond its reciprocal
// there may be a solution.
static const double largestLeft = 1e-10;

static bool isRounding(const tpLcpForm* form, const double* y) {
    for (int j = 0; j < form->n; ++j) {
        double sum = 0.0, size = 0.0;
        for (int k = form->M.starts[j]; k < form->M.starts[j + 1]; ++k) {
            double term = form->M.values[k] * y[form->M.rows[k]];
            sum += term;
            size += fabs(term);
        }
        if ((form->isFree[j] ? fabs(sum) : sum) > largestLeft * size) {
            return false;
        }
    }
    return true;
}

static bool isProof(const tpLcpForm* form, const double* y, tpSolverMemory* memory) {
    tpLcp scaled = { .n = form->n,
                     .M = tpSparseMatrix(form->n, form->n, form->M.starts, form->M.rows,
                                         form->M.values),
                     .q = form->q,
                     .isFree = form->isFree };
    return isRounding(form, y) && tpLcp_InfeasibilityRadius(&scaled, y, memory) > provingRadius;
}

// y of the scaled problem, without signs that are wrong and entries that are noise.
static void readCertificate(const tpLcpForm* form, const double* solution, double* y) {
    const double* found = solution + form->n + 1;
    double least = certificateRange * tpMaxAbs(found, form->n);
    for (int i = 0; i < form->n; ++i) {
        bool isKept = form->isFree[i] ? fabs(found[i]) > least : found[i] > least;
        y[i] = isKept ? found[i] : 0.0;
    }
}

tpSolveStatus tpLcp_ProveInfeasible(const tpLcp* lcp, tpSolverMemory* memory, double* y,
                                    int* pivots) {
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    tpLcpForm form;
    Program program;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, true, arena);
    *pivots = 0;
    if (status == tp_solved) {
        double* solution = TP_SCRATCH(arena, double, 2 * lcp->n + 1);
        status = tp_solverOutOfMemory;
        if (solution != NULL && buildProgram(&program, &form, arena)) {
            tpSolveReport report;
            tpLemkeOptions options = tpDefaultLemkeOptions();
            options.tolerance = 1e-10;
            tpLcp_SolveLemke(&program.lcp, &options, memory, solution, &report);
            *pivots = report.iterations;
            readCertificate(&form, solution, y);
            status = isProof(&form, y, memory) ? tp_infeasible : tp_stalled;
            // y'(M z + q) of the scaled rows D M D and D q is that of D y.
            for (int i = 0; i < lcp->n; ++i) {
                y[i] *= form.D[i];
            }
        }
    }
    tpSolverMemory_End(memory, mark);
    return status;
}
