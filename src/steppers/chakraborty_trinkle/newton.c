// Semismooth Newton's method with a nonmonotone search along the step [GrippoLamparielloLucidi86].
//
// The merit is half the square of the residual. A whole step that shrinks the residual is taken as it
// is; otherwise steps are halved until the merit falls below the largest of the last few. Impulses of
// redundant contacts (a box on four corners) are not unique and the Jacobian then has no inverse: a
// small multiple of the change of impulses is added to the rows of r, which leaves every solution as it
// is and picks a nearby one.

#include "steppers/chakraborty_trinkle/newton.h"

#include <float.h>
#include <string.h>

#include "complementarity/basis_factor.h"
#include "complementarity/solver.h"

enum { recentMerits = 6, halvings = 14, largestDense = 90 };

static const double proximal = 1e-9; // relative to 1 / rho

typedef struct Newton {
    tpIslandProblem* problem;
    int n;
    double* x;
    double* best;
    double* trial;
    double* step;
    double* F;
    double* trialF;
    double* matrix; // dense, by rows
    int* pivots;
    tpTriplets jacobian;
    tpColumns columns;
    tpBasisFactor factor;
    int* scratch;
} Newton;

static bool create(Newton* newton, tpIslandProblem* problem, tpSolverMemory* memory) {
    tpArena* arena = &memory->arena;
    memset(newton, 0, sizeof(*newton));
    int n = problem->size;
    newton->problem = problem;
    newton->n = n;
    double** vectors[] = { &newton->x,    &newton->best, &newton->trial,
                           &newton->step, &newton->F,    &newton->trialF };
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); ++k) {
        *vectors[k] = TP_SCRATCH(arena, double, n);
    }
    int entries = tpIslandProblem_EntryBound(problem) + problem->rowCount;
    newton->jacobian.capacity = entries;
    newton->jacobian.rows = TP_SCRATCH(arena, int, entries);
    newton->jacobian.columns = TP_SCRATCH(arena, int, entries);
    newton->jacobian.values = TP_SCRATCH(arena, double, entries);
    newton->pivots = TP_SCRATCH(arena, int, 2 * n);
    if (n <= largestDense) {
        newton->matrix = TP_SCRATCH(arena, double, n* n);
        return !arena->failed;
    }
    newton->columns.n = n;
    newton->columns.starts = TP_SCRATCH(arena, int, n + 1);
    newton->columns.rows = TP_SCRATCH(arena, int, entries);
    newton->columns.values = TP_SCRATCH(arena, double, entries);
    newton->scratch = TP_SCRATCH(arena, int, n);
    return !arena->failed && tpBasisFactor_Create(&newton->factor, memory, n, 0);
}

// Gaussian elimination with partial pivoting; b becomes the solution. False where it breaks down.
static bool solveDense(int n, double* A, double* b) {
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        }
        double pivot = A[best * n + k];
        if (!(fabs(pivot) > 1e-300)) {
            return false;
        }
        if (best != k) {
            for (int j = k; j < n; ++j) {
                double kept = A[k * n + j];
                A[k * n + j] = A[best * n + j];
                A[best * n + j] = kept;
            }
            double kept = b[k];
            b[k] = b[best];
            b[best] = kept;
        }
        for (int i = k + 1; i < n; ++i) {
            double factor = A[i * n + k] / pivot;
            if (factor == 0.0) {
                continue;
            }
            for (int j = k + 1; j < n; ++j) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = b[i];
        for (int j = i + 1; j < n; ++j) {
            sum -= A[i * n + j] * b[j];
        }
        b[i] = sum / A[i * n + i];
    }
    return true;
}

// Triplets into columns, entries at the same place summed.
static void compress(Newton* newton) {
    const tpTriplets* list = &newton->jacobian;
    tpColumns* out = &newton->columns;
    int n = newton->n;
    memset(out->starts, 0, sizeof(int) * (size_t)(n + 1));
    for (int k = 0; k < list->count; ++k) {
        ++out->starts[list->columns[k] + 1];
    }
    for (int j = 0; j < n; ++j) {
        out->starts[j + 1] += out->starts[j];
        newton->pivots[j] = out->starts[j];
    }
    for (int k = 0; k < list->count; ++k) {
        int at = newton->pivots[list->columns[k]]++;
        out->rows[at] = list->rows[k];
        out->values[at] = list->values[k];
    }
    for (int i = 0; i < n; ++i) {
        newton->scratch[i] = -1;
    }
    int used = 0;
    for (int j = 0; j < n; ++j) {
        int begin = out->starts[j], end = out->starts[j + 1], first = used;
        out->starts[j] = first;
        for (int k = begin; k < end; ++k) {
            int row = out->rows[k];
            if (newton->scratch[row] >= first) {
                out->values[newton->scratch[row]] += out->values[k];
            } else {
                newton->scratch[row] = used;
                out->rows[used] = row;
                out->values[used++] = out->values[k];
            }
        }
    }
    out->starts[n] = used;
}

static bool solveLinear(Newton* newton) {
    int n = newton->n;
    const tpTriplets* list = &newton->jacobian;
    for (int i = 0; i < n; ++i) {
        newton->step[i] = -newton->F[i];
    }
    if (newton->matrix != NULL) {
        memset(newton->matrix, 0, sizeof(double) * (size_t)n * (size_t)n);
        for (int k = 0; k < list->count; ++k) {
            newton->matrix[list->rows[k] * n + list->columns[k]] += list->values[k];
        }
        return solveDense(n, newton->matrix, newton->step);
    }
    compress(newton);
    int dependent = tpBasisFactor_Compute(&newton->factor, &newton->columns, 1e-14, newton->pivots,
                                          newton->pivots + n);
    if (dependent < 0) {
        return false;
    }
    memcpy(newton->trial, newton->step, sizeof(double) * (size_t)n);
    tpBasisFactor_Solve(&newton->factor, newton->trial, newton->step);
    for (int k = 0; k < dependent; ++k) {
        newton->step[newton->pivots[k]] = 0.0;
    }
    return true;
}

static void addProximal(Newton* newton) {
    const tpIslandProblem* problem = newton->problem;
    const tpRows* rows = &problem->geometry->step->rows;
    int momentum = problem->bodyCount * rows->degrees;
    tpTriplets* list = &newton->jacobian;
    for (int b = 0; b < problem->blockCount; ++b) {
        int block = problem->blocks[b];
        for (int k = 0; k < rows->dimensions[block]; ++k) {
            int at = momentum + problem->firstRow[b] + k;
            double scale = rows->scale[rows->firstRows[block] + k];
            list->rows[list->count] = list->columns[list->count] = at;
            list->values[list->count++] = proximal / (problem->geometry->rho[block] * scale);
        }
    }
}

static double normOf(const double* F, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

static double evaluateAt(Newton* newton, double t) {
    for (int i = 0; i < newton->n; ++i) {
        newton->trial[i] = newton->x[i] + t * newton->step[i];
    }
    tpIslandProblem_Set(newton->problem, newton->trial);
    tpIslandProblem_Evaluate(newton->problem, newton->trialF);
    return normOf(newton->trialF, newton->n);
}

// Leaves the trial point; false where no step is acceptable.
static bool search(Newton* newton, double allowed, double* norm) {
    double t = 1.0;
    for (int k = 0; k < halvings; ++k, t *= 0.5) {
        *norm = evaluateAt(newton, t);
        if (*norm <= (1.0 - 1e-4 * t) * allowed) {
            return true;
        }
    }
    return false;
}

static void iterate(Newton* newton, double tolerance, int limit, tpIslandSolve* out) {
    size_t bytes = sizeof(double) * (size_t)newton->n;
    double recent[recentMerits], norm = INFINITY, bestNorm = INFINITY;
    int count = 0;
    tpIslandProblem_Get(newton->problem, newton->x);
    memcpy(newton->best, newton->x, bytes);
    for (int k = 0; k <= limit; ++k) {
        tpIslandProblem_Linearise(newton->problem, newton->F, &newton->jacobian);
        norm = normOf(newton->F, newton->n);
        if (!isfinite(norm)) {
            break;
        }
        bool isBetter = norm < 0.5 * bestNorm;
        if (norm < bestNorm) {
            bestNorm = norm;
            memcpy(newton->best, newton->x, bytes);
        }
        // Past the tolerance it goes on while it gains.
        if (bestNorm == 0.0 || (bestNorm <= tolerance && !isBetter) || k == limit) {
            break;
        }
        addProximal(newton);
        recent[count++ % recentMerits] = norm;
        double allowed = 0.0;
        for (int i = 0; i < count && i < recentMerits; ++i) {
            allowed = fmax(allowed, recent[i]);
        }
        if (!solveLinear(newton) || !isfinite(normOf(newton->step, newton->n)) ||
            !search(newton, bestNorm <= tolerance ? norm : allowed, &norm)) {
            break;
        }
        memcpy(newton->x, newton->trial, bytes);
        out->iterations += 1;
    }
    tpIslandProblem_Set(newton->problem, newton->best);
    tpIslandProblem_Evaluate(newton->problem, newton->F);
    out->residual = normOf(newton->F, newton->n);
    out->isSolved = out->residual <= tolerance;
}

bool tpIslandProblem_Solve(tpIslandProblem* problem, double tolerance, int iterationLimit,
                           tpSolverMemory* memory, tpIslandSolve* out) {
    memset(out, 0, sizeof(*out));
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    Newton newton;
    bool isCreated = create(&newton, problem, memory);
    if (isCreated) {
        iterate(&newton, tolerance, iterationLimit, out);
        isCreated = !memory->arena.failed;
    }
    tpSolverMemory_End(memory, mark);
    return isCreated;
}
