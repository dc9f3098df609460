// Lemke's method: the basis and where it starts.
//
// A start needs a nonsingular basis with one variable of each pair in it and all free variables.
// A warm start drops the columns that the factorisation finds dependent. If the free variables'
// own block is singular (circuits, redundant joints), a dependent free column is brought in by a
// pair of exchanges with a complementary pair that makes the two-by-two block nonsingular; where no
// pair does, the row is redundant and its w, which is zero, stays in the basis.

#include <math.h>
#include <string.h>

#include "complementarity/lcp_lemke.h"

// Columns of a starting basis are dependent below this pivot, relative to their largest entry.
static const double startTolerance = 1e-10;

bool tpLemke_Create(tpLemke* lemke, const tpLcpForm* form, const tpLemkeOptions* options,
                    tpSolverMemory* memory) {
    memset(lemke, 0, sizeof(*lemke));
    tpArena* arena = &memory->arena;
    int n = form->n;
    int entryCapacity = form->M.starts[n] + 2 * n;
    lemke->form = form;
    lemke->options = options;
    lemke->memory = memory;
    lemke->n = n;
    lemke->variableAt = TP_SCRATCH(arena, int, n);
    lemke->positionOf = TP_SCRATCH(arena, int, 2 * n + 1);
    lemke->partnerOfFixed = TP_SCRATCH(arena, int, n);
    lemke->columns.n = n;
    lemke->columns.starts = TP_SCRATCH(arena, int, n + 1);
    lemke->columns.rows = TP_SCRATCH(arena, int, entryCapacity);
    lemke->columns.values = TP_SCRATCH(arena, double, entryCapacity);
    lemke->dependent = TP_SCRATCH(arena, int, n);
    lemke->replacedBy = TP_SCRATCH(arena, int, n);
    lemke->d = TP_SCRATCH_ZEROED(arena, double, n);
    lemke->tieBreaker = TP_SCRATCH_ZEROED(arena, double, n);
    lemke->x = TP_SCRATCH(arena, double, n);
    lemke->y = TP_SCRATCH(arena, double, n);
    lemke->alpha = TP_SCRATCH(arena, double, n);
    lemke->rowWork = TP_SCRATCH(arena, double, n);
    lemke->positionWork = TP_SCRATCH(arena, double, n);
    lemke->candidates = TP_SCRATCH(arena, int, n);
    return !arena->failed &&
           tpSparseLu_Create(&lemke->factor, arena, &memory->work, n, options->refactorInterval);
}

void tpLemke_Column(const tpLemke* lemke, int variable, double* column) {
    const tpSparseColumns* M = &lemke->form->M;
    int n = lemke->n;
    if (tpLemke_IsZ0(lemke, variable)) {
        for (int i = 0; i < n; ++i) {
            column[i] = -lemke->d[i];
        }
        return;
    }
    memset(column, 0, sizeof(double) * (size_t)n);
    if (variable < n) {
        column[variable] = 1.0;
        return;
    }
    for (int k = M->starts[variable - n]; k < M->starts[variable - n + 1]; ++k) {
        column[M->rows[k]] -= M->values[k];
    }
}

static void gatherBasis(tpLemke* lemke) {
    const tpSparseColumns* M = &lemke->form->M;
    tpSparseColumns* B = &lemke->columns;
    int n = lemke->n;
    int used = 0;
    for (int position = 0; position < n; ++position) {
        int variable = lemke->variableAt[position];
        B->starts[position] = used;
        if (variable < n) {
            B->rows[used] = variable;
            B->values[used++] = 1.0;
        } else if (tpLemke_IsZ0(lemke, variable)) {
            for (int i = 0; i < n; ++i) {
                if (lemke->d[i] != 0.0) {
                    B->rows[used] = i;
                    B->values[used++] = -lemke->d[i];
                }
            }
        } else {
            for (int k = M->starts[variable - n]; k < M->starts[variable - n + 1]; ++k) {
                B->rows[used] = M->rows[k];
                B->values[used++] = -M->values[k];
            }
        }
    }
    B->starts[n] = used;
}

int tpLemke_Factor(tpLemke* lemke) {
    gatherBasis(lemke);
    lemke->etaCost = 0;
    return tpSparseLu_Factorise(&lemke->factor, &lemke->columns, startTolerance * 1e-3,
                                lemke->dependent, lemke->replacedBy);
}

// x += B^-1 (b - B x); the gathered basis must be the factorised one.
static void refine(tpLemke* lemke, const double* b, double* x) {
    const tpSparseColumns* B = &lemke->columns;
    double* r = lemke->rowWork;
    memcpy(r, b, sizeof(double) * (size_t)lemke->n);
    for (int j = 0; j < lemke->n; ++j) {
        for (int k = B->starts[j]; k < B->starts[j + 1]; ++k) {
            r[B->rows[k]] -= B->values[k] * x[j];
        }
    }
    tpSparseLu_Solve(&lemke->factor, r, lemke->positionWork);
    for (int j = 0; j < lemke->n; ++j) {
        x[j] += lemke->positionWork[j];
    }
}

void tpLemke_ComputeValues(tpLemke* lemke, bool isRefined) {
    size_t size = sizeof(double) * (size_t)lemke->n;
    memcpy(lemke->rowWork, lemke->form->q, size);
    tpSparseLu_Solve(&lemke->factor, lemke->rowWork, lemke->x);
    memcpy(lemke->rowWork, lemke->tieBreaker, size);
    tpSparseLu_Solve(&lemke->factor, lemke->rowWork, lemke->y);
    if (isRefined) {
        refine(lemke, lemke->form->q, lemke->x);
    }
    lemke->valueScale = tpLarger(1.0, tpMaxAbs(lemke->x, lemke->n));
}

void tpLemke_Exchange(tpLemke* lemke, int position, int variable) {
    tpSparseLu_Replace(&lemke->factor, position, lemke->alpha);
    lemke->fixedCount -= tpLemke_IsFixed(lemke, lemke->variableAt[position]);
    lemke->positionOf[lemke->variableAt[position]] = -1;
    lemke->variableAt[position] = variable;
    lemke->positionOf[variable] = position;
}

// Start ---------------------------------------------------------------------------------------

static void setVariable(tpLemke* lemke, int position, int variable) {
    int old = lemke->variableAt[position];
    if (lemke->positionOf[old] == position) {
        lemke->positionOf[old] = -1;
    }
    lemke->variableAt[position] = variable;
    lemke->positionOf[variable] = position;
}

static void layOut(tpLemke* lemke, const unsigned char* startBasis) {
    int n = lemke->n;
    lemke->fixedCount = 0;
    for (int v = 0; v <= 2 * n; ++v) {
        lemke->positionOf[v] = -1;
    }
    for (int i = 0; i < n; ++i) {
        bool isZ = lemke->form->isFree[i] || (startBasis != NULL && startBasis[i] == tp_zBasic);
        lemke->variableAt[i] = isZ ? n + i : i;
        lemke->positionOf[lemke->variableAt[i]] = i;
        lemke->partnerOfFixed[i] = -1;
    }
}

// Answers a factorisation with dependent columns: complementary ones go out with their pair;
// a free one whose left-over row is that of an equation leaves its place to that row's w.
static void dropDependent(tpLemke* lemke, int count) {
    int n = lemke->n;
    for (int c = 0; c < count; ++c) {
        int position = lemke->dependent[c];
        int row = lemke->replacedBy[c];
        int variable = lemke->variableAt[position];
        if (!tpLemke_IsFree(lemke, variable)) {
            setVariable(lemke, position, tpLemke_Row(lemke, variable));
        } else if (!lemke->form->isFree[row]) {
            int other = lemke->positionOf[n + row];
            if (other >= 0) {
                setVariable(lemke, other, row);
            }
        } else {
            setVariable(lemke, position, row);
            lemke->partnerOfFixed[row] = variable;
            lemke->fixedCount += 1;
        }
    }
}

// The complementary pair with w basic whose two-by-two block with the fixed row and the free column
// is best: alpha holds the free column, `rowOfInverse` that row of B^-1. -1: none.
static int bestPair(const tpLemke* lemke, const double* rowOfInverse) {
    const tpSparseColumns* M = &lemke->form->M;
    int n = lemke->n;
    int best = -1;
    double bestSize = startTolerance;
    for (int k = 0; k < n; ++k) {
        int position = lemke->positionOf[k];
        if (lemke->form->isFree[k] || position < 0 || fabs(lemke->alpha[position]) <= bestSize) {
            continue;
        }
        double product = 0.0;
        for (int e = M->starts[k]; e < M->starts[k + 1]; ++e) {
            product -= rowOfInverse[M->rows[e]] * M->values[e];
        }
        double size = tpSmaller(fabs(product), fabs(lemke->alpha[position]));
        if (size > bestSize) {
            best = k;
            bestSize = size;
        }
    }
    return best;
}

// Brings the free variable that w of `row` keeps out into the basis, together with the z of a
// complementary pair.
static bool freeFixedRow(tpLemke* lemke, int row) {
    int n = lemke->n;
    int variable = lemke->partnerOfFixed[row];
    int fixedPosition = lemke->positionOf[row];
    if (lemke->factor.etaCount + 2 > lemke->factor.etaCapacity && tpLemke_Factor(lemke) != 0) {
        return false;
    }
    tpLemke_Column(lemke, variable, lemke->rowWork);
    tpSparseLu_Solve(&lemke->factor, lemke->rowWork, lemke->alpha);
    memset(lemke->positionWork, 0, sizeof(double) * (size_t)n);
    lemke->positionWork[fixedPosition] = 1.0;
    tpSparseLu_SolveTransposed(&lemke->factor, lemke->positionWork, lemke->rowWork);
    int pair = bestPair(lemke, lemke->rowWork);
    if (pair < 0) {
        return true;
    }
    tpLemke_Exchange(lemke, lemke->positionOf[pair], variable);
    tpLemke_Column(lemke, n + pair, lemke->rowWork);
    tpSparseLu_Solve(&lemke->factor, lemke->rowWork, lemke->alpha);
    tpLemke_Exchange(lemke, fixedPosition, n + pair);
    lemke->partnerOfFixed[row] = -1;
    return true;
}

bool tpLemke_Start(tpLemke* lemke, const unsigned char* startBasis) {
    layOut(lemke, startBasis);
    int dependentCount = tpLemke_Factor(lemke);
    for (int pass = 0; dependentCount > 0; ++pass) {
        if (pass == 30 || (pass == 10 && startBasis != NULL)) {
            return startBasis != NULL && tpLemke_Start(lemke, NULL);
        }
        dropDependent(lemke, dependentCount);
        dependentCount = tpLemke_Factor(lemke);
    }
    if (dependentCount < 0) {
        return false;
    }
    bool isChanged = false;
    for (int i = 0; i < lemke->n; ++i) {
        if (lemke->partnerOfFixed[i] >= 0 && lemke->positionOf[i] >= 0) {
            if (!freeFixedRow(lemke, i)) {
                return false;
            }
            isChanged = true;
        }
    }
    return !isChanged || tpLemke_Factor(lemke) == 0;
}
