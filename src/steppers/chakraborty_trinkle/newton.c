// Semismooth Newton's method with a nonmonotone search along the step [GrippoLamparielloLucidi86].
//
// The merit is the length of the residual. A whole step that shrinks it is taken as it is;
// otherwise steps are halved until it falls below the largest of the last few. Small islands are
// solved dense, larger ones by sparse factors.

#include "steppers/chakraborty_trinkle/newton.h"

#include <float.h>
#include <string.h>

#include "complementarity/solver.h"
#include "dynamics/step_budget.h"
#include "math/sparse_lu.h"
#include "steppers/chakraborty_trinkle/problem_parts.h"

enum { recentMerits = 6, halvings = 14, largestDense = 130 };

typedef struct IslandNewton {
    tpIslandProblem* problem;
    int n; // unknowns
    int m; // of them, z
    double* x;
    double* best;
    double* trial;
    double* step;
    double* F;
    double* trialF;
    double* right;
    double* matrix; // dense, by rows
    int* pivots;
    tpMatrixEntries jacobian;
    tpEliminated* eliminated;
    tpSparseColumns columns;
    tpSparseLu factor;
    int* scratch;
    const double* factorWork; // counted by the factor
    double workLimit;         // of the step, where this solve has to end
} IslandNewton;

static bool create(IslandNewton* newton, tpIslandProblem* problem, tpSolverMemory* memory) {
    tpArena* arena = &memory->arena;
    memset(newton, 0, sizeof(*newton));
    int n = problem->size, m = problem->bodyCount * problem->geometry->step->rows.componentCount;
    newton->problem = problem;
    newton->factorWork = &memory->work;
    newton->n = n;
    newton->m = m;
    double** vectors[] = { &newton->x, &newton->best,   &newton->trial, &newton->step,
                           &newton->F, &newton->trialF, &newton->right };
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); ++k) {
        *vectors[k] = TP_SCRATCH(arena, double, n);
    }
    newton->eliminated = TP_SCRATCH(arena, tpEliminated, problem->blockCount);
    int entries = tpIslandProblem_EntryBound(problem);
    newton->jacobian.capacity = entries;
    newton->jacobian.rows = TP_SCRATCH(arena, int, entries);
    newton->jacobian.columns = TP_SCRATCH(arena, int, entries);
    newton->jacobian.values = TP_SCRATCH(arena, double, entries);
    newton->pivots = TP_SCRATCH(arena, int, 2 * m);
    if (m <= largestDense) {
        newton->matrix = TP_SCRATCH(arena, double, m* m);
        return !arena->failed;
    }
    newton->columns.n = m;
    newton->columns.starts = TP_SCRATCH(arena, int, m + 1);
    newton->columns.rows = TP_SCRATCH(arena, int, entries);
    newton->columns.values = TP_SCRATCH(arena, double, entries);
    newton->scratch = TP_SCRATCH(arena, int, m);
    return !arena->failed &&
           tpSparseLu_Create(&newton->factor, &memory->arena, &memory->work, m, 0);
}

// Gaussian elimination with partial pivoting; b becomes the solution. False if it breaks down.
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
static void compress(IslandNewton* newton) {
    const tpMatrixEntries* list = &newton->jacobian;
    tpSparseColumns* out = &newton->columns;
    int n = newton->m;
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

// Equations of turning count as in the norm where pivots are chosen.
static void weighEquations(IslandNewton* newton) {
    const tpIslandProblem* problem = newton->problem;
    if (problem->geometry->step->system->units.length == 1.0) {
        return;
    }
    for (int k = 0; k < newton->jacobian.count; ++k) {
        newton->jacobian.values[k] *= tpIslandProblem_Weight(problem, newton->jacobian.rows[k]);
    }
    for (int i = 0; i < newton->m; ++i) {
        newton->right[i] *= tpIslandProblem_Weight(problem, i);
    }
}

// Newton's step: z from the linear system, then the impulses.
static bool solveLinear(IslandNewton* newton) {
    int m = newton->m;
    const tpMatrixEntries* list = &newton->jacobian;
    weighEquations(newton);
    if (newton->matrix != NULL) {
        memset(newton->matrix, 0, sizeof(double) * (size_t)m * (size_t)m);
        for (int k = 0; k < list->count; ++k) {
            newton->matrix[list->rows[k] * m + list->columns[k]] += list->values[k];
        }
        memcpy(newton->step, newton->right, sizeof(double) * (size_t)m);
        tpStepBudget_Spend(newton->problem->geometry->step->system, (double)m * m * m / 6.0);
        if (!solveDense(m, newton->matrix, newton->step)) {
            return false;
        }
    } else {
        compress(newton);
        double before = *newton->factorWork;
        int missing = tpSparseLu_Factorise(&newton->factor, &newton->columns, 1e-15, newton->pivots,
                                           newton->pivots + m);
        tpStepBudget_Spend(newton->problem->geometry->step->system, *newton->factorWork - before);
        if (missing != 0) {
            return false;
        }
        tpSparseLu_Solve(&newton->factor, newton->right, newton->step);
    }
    tpIslandProblem_Recover(newton->problem, newton->eliminated, newton->step);
    return true;
}

static double normOf(const double* F, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

// Work of equations at a point, per body (free rotation), per block, and per contact of smooth
// surfaces; their slopes take as much again.
static const double bodyWork = 1.5e3, blockWork = 1e3, smoothWork = 7e3;

static void spend(const IslandNewton* newton, double share) {
    const tpIslandProblem* problem = newton->problem;
    double work = bodyWork * problem->bodyCount + blockWork * problem->blockCount;
    for (int i = 0; i < problem->blockCount; ++i) {
        int contact = problem->blocks[i];
        bool isContact = contact < problem->geometry->contactBlocks;
        work += isContact && problem->geometry->contacts[contact].isSmooth ? smoothWork : 0.0;
    }
    tpStepBudget_Spend(problem->geometry->step->system, share * work);
}

static double evaluateAt(IslandNewton* newton, double t) {
    spend(newton, 1.0);
    for (int i = 0; i < newton->n; ++i) {
        newton->trial[i] = newton->x[i] + t * newton->step[i];
    }
    tpIslandProblem_Set(newton->problem, newton->trial);
    tpIslandProblem_Evaluate(newton->problem, newton->trialF);
    return tpIslandProblem_Norm(newton->problem, newton->trialF);
}

// The part of the step that turns no body by more than this against the point it is at, rad: what
// has been linearised holds no farther, and to follow wild spins through a step takes long.
static double longestStep(const IslandNewton* newton) {
    static const double largestTurn = 3.0;
    const tpTimeStep* step = newton->problem->geometry->step;
    int componentCount = step->rows.componentCount;
    double fastest = 0.0;
    for (int i = 0; i < newton->problem->bodyCount; ++i) {
        tpVelocity change = { .linear = tpZeroVec3() }; // in the plane only some are set
        tpFromComponents(componentCount, newton->step + i * componentCount, &change);
        fastest = fmax(fastest, tpLength(change.angular));
    }
    return fastest * step->h > largestTurn ? largestTurn / (fastest * step->h) : 1.0;
}

// Leaves the trial point; false if no step is acceptable.
static bool search(IslandNewton* newton, double allowed, double* norm) {
    double t = longestStep(newton);
    for (int k = 0; k < halvings; ++k, t *= 0.5) {
        *norm = evaluateAt(newton, t);
        if (*norm <= (1.0 - 1e-4 * t) * allowed) {
            return true;
        }
    }
    return false;
}

// Directions of impulses follow the gap by dividing by the twist of two bodies (normal_action.h).
// If that is slow, what rounding leaves of the gap is a small part of a large impulse, and the
// momentum is uncertain by it while the rows are met. Iterations that gain no more have come to
// that.
static const double uncertainPart = 1e3, stuckPart = 0.9;
enum { mostStuck = 4 };

// Below this part of the goal all that is left are impulses of open contacts: each iteration
// shrinks them by the proximal term (linearise.c), and it took up to 28 to bring them to zero.
static const double nothingPart = 1e-8;

// Rows are met well at this many times the residual below which nothing is left to gain: a tenth of
// what certificates ask for.
static const double rowsPart = 1e3;

// The best point so far.
typedef struct BestPoint {
    double norm, rows; // of its residual, and of that of the rows alone
} BestPoint;

static bool isUncertain(const BestPoint* best, tpIslandTolerance tolerance) {
    return best->norm <= uncertainPart * tolerance.enough && best->rows <= tolerance.enough;
}

// Takes the present point if it is better: nearer, or of points that are good enough but do not
// meet the rows well the one that meets them best. Whether much was gained: `least` are the
// smallest figures of all points so far.
static bool keepBest(IslandNewton* newton, double norm, tpIslandTolerance tolerance,
                     BestPoint* best, BestPoint* least) {
    double rows = tpIslandProblem_NormOfRows(newton->problem, newton->F);
    bool areBothEnough = norm <= tolerance.enough && best->norm <= tolerance.enough;
    bool isByRows = areBothEnough && fmax(rows, best->rows) > rowsPart * tolerance.least;
    if (isByRows ? rows < best->rows : norm < best->norm) {
        *best = (BestPoint){ norm, rows };
        memcpy(newton->best, newton->x, sizeof(double) * (size_t)newton->n);
    }
    bool isGain = norm < 0.5 * least->norm ||
                  (rows < 0.5 * least->rows && least->rows > rowsPart * tolerance.least);
    *least = (BestPoint){ fmin(least->norm, norm), fmin(least->rows, rows) };
    return isGain;
}

static void iterate(IslandNewton* newton, tpIslandTolerance tolerance, int limit,
                    tpIslandSolve* out) {
    size_t bytes = sizeof(double) * (size_t)newton->n;
    const tpSystem* measured = newton->problem->geometry->step->system;
    newton->workLimit = measured->stepWork + tpStepBudget_ForSolve(measured);
    double recent[recentMerits], norm = INFINITY;
    BestPoint best = { INFINITY, INFINITY }, least = best;
    int count = 0, idle = 0, stuck = 0;
    tpIslandProblem_Get(newton->problem, newton->x);
    memcpy(newton->best, newton->x, bytes);
    for (int k = 0; k <= limit; ++k) {
        tpIslandProblem_Linearise(newton->problem, newton->F, &newton->jacobian, newton->right,
                                  newton->eliminated);
        norm = tpIslandProblem_Norm(newton->problem, newton->F);
        if (!isfinite(norm)) {
            break;
        }
        stuck = norm < stuckPart * least.norm ? 0 : stuck + 1;
        idle = keepBest(newton, norm, tolerance, &best, &least) ? 0 : idle + 1;
        // Past the goal it goes on while it gains; on the way there it gives up where good enough.
        int patience = least.norm <= tolerance.least ? 0 : least.norm <= tolerance.goal ? 1 : 3;
        bool isDone = (least.norm <= tolerance.enough && idle > patience) ||
                      (isUncertain(&best, tolerance) && stuck >= mostStuck && idle >= mostStuck);
        tpSystem* system = newton->problem->geometry->step->system;
        spend(newton, 2.0);
        bool isSpent = system->stepWork >= newton->workLimit;
        if (least.norm <= nothingPart * tolerance.least || isDone || k == limit || isSpent) {
            break;
        }
        recent[count++ % recentMerits] = norm;
        double allowed = 0.0;
        for (int i = 0; i < count && i < recentMerits; ++i) {
            allowed = fmax(allowed, recent[i]);
        }
        if (!solveLinear(newton) || !isfinite(normOf(newton->step, newton->n)) ||
            !search(newton, least.norm <= tolerance.least ? norm : allowed, &norm)) {
            break;
        }
        memcpy(newton->x, newton->trial, bytes);
        out->iterations += 1;
    }
    tpIslandProblem_Set(newton->problem, newton->best);
    tpIslandProblem_Evaluate(newton->problem, newton->F);
    out->residual = tpIslandProblem_Norm(newton->problem, newton->F);
    out->isSolved =
        out->residual <= tolerance.enough || (isUncertain(&best, tolerance) && stuck >= mostStuck);
}

bool tpIslandProblem_Solve(tpIslandProblem* problem, tpIslandTolerance tolerance,
                           int iterationLimit, tpSolverMemory* memory, tpIslandSolve* out) {
    memset(out, 0, sizeof(*out));
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    IslandNewton newton;
    bool isCreated = create(&newton, problem, memory);
    if (isCreated) {
        iterate(&newton, tolerance, iterationLimit, out);
        isCreated = !memory->arena.failed;
    }
    tpSolverMemory_End(memory, mark);
    return isCreated;
}
