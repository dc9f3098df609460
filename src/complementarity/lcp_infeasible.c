// Proofs that an LCP has no feasible point, by linear programming through Lemke's method.
//
// The program  min t  subject to  M z + q + t d >= 0, z >= 0, t >= 0  (equations in rows of free
// variables, whose z have no sign) with d_i = max(-q_i, 0), or -q_i in an equation, is solved by z = 0,
// t = 1 or better. Its dual is  max -q'y  subject to  M'y <= 0, d'y <= 1, y >= 0. Where the optimum is
// positive, y is Farkas' certificate. The optimality conditions of the pair are the LCP
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
    const tpColumns* M = &form->M;
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

// y of the original problem: y'(M z + q) scales with the rows, D M D and D q.
static void readCertificate(const tpLcpForm* form, const double* solution, double* y) {
    for (int i = 0; i < form->n; ++i) {
        double value = solution[form->n + 1 + i];
        y[i] = form->D[i] * (form->isFree[i] ? value : tpLarger(value, 0.0));
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
            double scale = tpLarger(1.0, tpMaxAbs(lcp->q, lcp->n));
            double radius = tpLcp_InfeasibilityRadius(lcp, y, memory);
            status = radius > TP_INFEASIBILITY_RADIUS * scale ? tp_infeasible : tp_stalled;
        }
    }
    tpSolverMemory_End(memory, mark);
    return status;
}
