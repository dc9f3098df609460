// Lemke's method with an explicit tableau and the lexicographic rule, as [StewartTrinkle96] use it
// [CottlePangStone92, algorithms 4.4.1 and 4.4.5].
//
// The tableau is B^-1 (I | -M | -e | q), n rows of 2 n + 2, its first n columns being B^-1 itself.
// Of the rows that tie in the ratio test, the one leaves whose row of B^-1, divided by its pivot,
// is lexicographically least: no basis can come back. Costs 4 n^2 operations a pivot and keeps
// every rounding error; lcp_lemke.c is the one to use. This one is here to be compared with, and
// because its few lines can be held against the book.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/lcp_form.h"

typedef struct Tableau {
    int n;
    int width;    // 2 n + 2
    double* rows; // n x width
    int* basic;   // by row: w_i is i, z_i is n + i, z0 is 2 n
    double ties;  // relative width of a tie
} Tableau;

tpLemkeTableauOptions tpDefaultLemkeTableauOptions(void) {
    tpLemkeTableauOptions options = { .tolerance = 1e-8, .tieTolerance = 1e-12 };
    return options;
}

static double* rowOf(const Tableau* tableau, int i) {
    return tableau->rows + (size_t)i * (size_t)tableau->width;
}

static bool createTableau(Tableau* tableau, const tpLcpForm* form, double ties, tpArena* arena) {
    int n = form->n;
    tableau->n = n;
    tableau->width = 2 * n + 2;
    tableau->rows = TP_SCRATCH_ZEROED(arena, double, (size_t)n*(size_t)tableau->width);
    tableau->basic = TP_SCRATCH(arena, int, n);
    tableau->ties = ties;
    if (arena->failed) {
        return false;
    }
    for (int j = 0; j < n; ++j) {
        double* row = rowOf(tableau, j);
        row[j] = 1.0;
        row[2 * n] = -1.0;
        row[2 * n + 1] = form->q[j];
        tableau->basic[j] = j;
        for (int k = form->M.starts[j]; k < form->M.starts[j + 1]; ++k) {
            rowOf(tableau, form->M.rows[k])[n + j] = -form->M.values[k];
        }
    }
    return true;
}

static void pivot(Tableau* tableau, int row, int column) {
    double* pivotRow = rowOf(tableau, row);
    double inverse = 1.0 / pivotRow[column];
    for (int k = 0; k < tableau->width; ++k) {
        pivotRow[k] *= inverse;
    }
    pivotRow[column] = 1.0;
    for (int i = 0; i < tableau->n; ++i) {
        double* other = rowOf(tableau, i);
        double factor = other[column];
        if (i == row || factor == 0.0) {
            continue;
        }
        for (int k = 0; k < tableau->width; ++k) {
            other[k] -= factor * pivotRow[k];
        }
        other[column] = 0.0;
    }
    tableau->basic[row] = column;
}

// The sign of (row a) / pivotA - (row b) / pivotB in lexicographic order: values first, then B^-1.
static int compareRows(const Tableau* tableau, const double* a, double pivotA, const double* b,
                       double pivotB) {
    int value = 2 * tableau->n + 1;
    for (int k = -1; k < tableau->n; ++k) {
        int column = k < 0 ? value : k;
        double left = a[column] / pivotA;
        double right = b[column] / pivotB;
        double width = tableau->ties * tpLarger(1.0, tpLarger(fabs(left), fabs(right)));
        if (fabs(left - right) > width) {
            return left < right ? -1 : 1;
        }
    }
    return 0;
}

// The row that leaves when `column` enters; -1: a ray. z0 goes first where it is tied by value.
static int ratioTest(const Tableau* tableau, int column) {
    int leaving = -1;
    double largest = 0.0;
    for (int i = 0; i < tableau->n; ++i) {
        largest = tpLarger(largest, fabs(rowOf(tableau, i)[column]));
    }
    double smallest = 1e-11 * tpLarger(1.0, largest);
    for (int i = 0; i < tableau->n; ++i) {
        const double* row = rowOf(tableau, i);
        if (row[column] <= smallest) {
            continue;
        }
        const double* best = leaving >= 0 ? rowOf(tableau, leaving) : NULL;
        if (best == NULL || compareRows(tableau, row, row[column], best, best[column]) < 0) {
            leaving = i;
        }
    }
    int value = 2 * tableau->n + 1;
    for (int i = 0; leaving >= 0 && i < tableau->n; ++i) {
        const double* row = rowOf(tableau, i);
        const double* best = rowOf(tableau, leaving);
        if (tableau->basic[i] == 2 * tableau->n && row[column] > smallest &&
            row[value] / row[column] <=
                best[value] / best[column] + tableau->ties * tpLarger(1.0, fabs(row[value]))) {
            leaving = i;
        }
    }
    return leaving;
}

static int firstRow(const Tableau* tableau) {
    int leaving = 0;
    for (int i = 1; i < tableau->n; ++i) {
        if (compareRows(tableau, rowOf(tableau, i), 1.0, rowOf(tableau, leaving), 1.0) < 0) {
            leaving = i;
        }
    }
    return leaving;
}

static tpSolveStatus followPath(Tableau* tableau, int pivotLimit, int* pivots) {
    int n = tableau->n;
    int leaving = firstRow(tableau);
    int entering = 2 * n;
    if (rowOf(tableau, leaving)[2 * n + 1] >= 0.0) {
        return tp_solved;
    }
    while (*pivots < pivotLimit) {
        int left = tableau->basic[leaving];
        pivot(tableau, leaving, entering);
        *pivots += 1;
        if (left == 2 * n) {
            return tp_solved;
        }
        entering = left < n ? left + n : left - n;
        leaving = ratioTest(tableau, entering);
        if (leaving < 0) {
            return tp_secondaryRay;
        }
    }
    return tp_iterationLimit;
}

tpSolveStatus tpLcp_SolveLemkeTableau(const tpLcp* lcp, const tpLemkeTableauOptions* options,
                                      tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    double start = tpCpuSeconds();
    tpLemkeTableauOptions defaults = tpDefaultLemkeTableauOptions();
    options = options != NULL ? options : &defaults;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    int pivots = 0;
    tpLcpForm form;
    Tableau tableau;
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, false, arena);
    if (status == tp_solved && form.freeCount > 0) {
        status = tp_notApplicable;
    }
    if (status == tp_solved && lcp->n > 0) {
        memset(z, 0, sizeof(double) * (size_t)lcp->n);
        double* scaled = TP_SCRATCH_ZEROED(arena, double, lcp->n);
        status = tp_solverOutOfMemory;
        if (createTableau(&tableau, &form, options->tieTolerance, arena) && scaled != NULL) {
            int limit = options->pivotLimit > 0 ? options->pivotLimit : 50 * lcp->n + 1000;
            status = followPath(&tableau, limit, &pivots);
            for (int i = 0; i < lcp->n; ++i) {
                int variable = tableau.basic[i];
                if (variable >= lcp->n && variable < 2 * lcp->n) {
                    scaled[variable - lcp->n] = rowOf(&tableau, i)[2 * lcp->n + 1];
                }
            }
            tpLcpForm_Unscale(&form, scaled, z);
        }
    }
    status = tpLcp_Finish(lcp, "lemke-tableau", status, tp_numericalTrouble, options->tolerance,
                          pivots, start, memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
