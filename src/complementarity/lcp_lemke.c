// Lemke's method, revised and factorised [Lemke65; CottlePangStone92, sec. 4.4].
//
// From a basis with infeasible values x = B^-1 q, the artificial variable z0 enters with the
// covering vector d = B p, p > 0, just far enough to make all values nonnegative; then the
// complement of whatever left enters, until z0 leaves (a solution) or nothing limits the entering
// variable (a ray). Only the entering column B^-1 a is computed at each pivot, with sparse factors
// of the part of the basis that is not slack.
//
// Ties: q is thought to be q + epsilon t with an infinitesimal epsilon and a generic t. y = B^-1 t
// is carried along and orders what x leaves tied, which is the lexicographic rule with one generic
// column instead of the n columns of B^-1. Rows are tied within the tolerance of [Harris73]; among
// tied rows those with pivots very much smaller than the largest are passed over.
//
// Accuracy: values are recomputed from q at every factorisation. The basis at the end is solved
// afresh; where that shows negative values, the method starts again from that basis.
// Deviation from the paper: the covering vector of a warm start, B p, need not be positive, so a
// ray from a warm start means nothing and the method starts again from w = q.

#include "complementarity/lcp_lemke.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

// Values this much below zero, relative to the largest, count as zero in the ratio test.
static const double feasibilityTolerance = 1e-12;

// Among tied rows, pivots smaller than this times the largest are avoided.
static const double tiedPivotThreshold = 1e-4;

// What an operation of a factorisation costs, in operations of an update: it follows indices, the
// other streams through memory.
enum { factorToEtaCost = 40 };

// Multiply-adds of a pivot for each row, solves apart: ratio test, values, covering column.
enum { pivotCost = 12 };

// Restarts from the final basis where its recomputed values are not feasible.
enum { restartLimit = 8 };

tpLemkeOptions tpDefaultLemkeOptions(void) {
    tpLemkeOptions options = { .tolerance = 1e-8, .refactorInterval = 64, .pivotTolerance = 1e-11 };
    return options;
}

// A fixed sequence of generic numbers in [1, 2), so that runs repeat exactly.
static double genericNumber(uint64_t* state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return 1.0 + (double)(bits >> 11) * 0x1p-53;
}

static bool hasSign(const tpLemke* lemke, int variable) {
    return !tpLemke_IsFree(lemke, variable) && !tpLemke_IsFixed(lemke, variable);
}

// rows = sum of basis columns times `weights` (by position); the gathered basis must be current.
static void combineColumns(const tpLemke* lemke, const double* weights, double* rows) {
    const tpSparseColumns* B = &lemke->columns;
    memset(rows, 0, sizeof(double) * (size_t)lemke->n);
    for (int j = 0; j < lemke->n; ++j) {
        for (int k = B->starts[j]; weights[j] != 0.0 && k < B->starts[j + 1]; ++k) {
            rows[B->rows[k]] += B->values[k] * weights[j];
        }
    }
}

// Sets the perturbation so that y is positive where x has a sign.
static void setTieBreaker(tpLemke* lemke) {
    uint64_t state = 1;
    for (int j = 0; j < lemke->n; ++j) {
        double number = genericNumber(&state);
        lemke->positionWork[j] = hasSign(lemke, lemke->variableAt[j]) ? number : 0.0;
    }
    combineColumns(lemke, lemke->positionWork, lemke->tieBreaker);
}

static bool isFeasible(const tpLemke* lemke, double tolerance) {
    for (int j = 0; j < lemke->n; ++j) {
        if (hasSign(lemke, lemke->variableAt[j]) && lemke->x[j] < -tolerance) {
            return false;
        }
    }
    return true;
}

// d = B p; alpha = B^-1 (-d) = -p. Returns the position that leaves for z0: the most negative x /
// p.
static int enterCovering(tpLemke* lemke, bool isWarm) {
    double* p = lemke->positionWork;
    for (int j = 0; j < lemke->n; ++j) {
        int variable = lemke->variableAt[j];
        p[j] = hasSign(lemke, variable) ? 1.0 : 0.0;
        if (p[j] != 0.0 && !isWarm && lemke->options->covering != NULL) {
            p[j] = lemke->options->covering[tpLemke_Row(lemke, variable)];
        }
    }
    combineColumns(lemke, p, lemke->d);
    int leaving = -1;
    for (int j = 0; j < lemke->n; ++j) {
        lemke->alpha[j] = -p[j];
        if (p[j] <= 0.0) {
            continue;
        }
        double difference =
            leaving < 0 ? -1.0 : lemke->x[j] / p[j] - lemke->x[leaving] / p[leaving];
        bool isLower = difference < 0.0 ||
                       (difference == 0.0 && lemke->y[j] / p[j] < lemke->y[leaving] / p[leaving]);
        leaving = isLower ? j : leaving;
    }
    return leaving;
}

// A basic w that has to stay zero and would not: it has to leave at once.
static int blockingFixed(const tpLemke* lemke, double smallest) {
    int blocking = -1;
    for (int j = 0; lemke->fixedCount > 0 && j < lemke->n; ++j) {
        if (tpLemke_IsFixed(lemke, lemke->variableAt[j]) && fabs(lemke->alpha[j]) > smallest &&
            (blocking < 0 || fabs(lemke->alpha[j]) > fabs(lemke->alpha[blocking]))) {
            blocking = j;
        }
    }
    return blocking;
}

// The position that first becomes zero when the entering variable moves by `direction`; -1: none, a
// ray.
static int ratioTest(const tpLemke* lemke, double direction) {
    const double* x = lemke->x;
    const double* y = lemke->y;
    const double* alpha = lemke->alpha;
    double smallest = lemke->options->pivotTolerance * tpLarger(1.0, tpMaxAbs(alpha, lemke->n));
    int fixed = blockingFixed(lemke, tpLarger(smallest, 1e-9));
    if (fixed >= 0) {
        return fixed;
    }
    // How far the entering variable may go when values may fall below zero by the slack.
    int count = 0;
    for (int j = 0; j < lemke->n; ++j) {
        lemke->candidates[count] = j;
        count += direction * alpha[j] > smallest;
    }
    double slack = feasibilityTolerance * lemke->valueScale;
    double bound = HUGE_VAL;
    for (int c = 0; c < count; ++c) {
        int j = lemke->candidates[c];
        if (!tpLemke_IsFree(lemke, lemke->variableAt[j])) {
            bound = tpSmaller(bound, (tpLarger(x[j], 0.0) + slack) / (direction * alpha[j]));
        }
    }
    // Who is tied: z0 goes first.
    int tiedCount = 0;
    double largest = 0.0;
    for (int c = 0; c < count; ++c) {
        int j = lemke->candidates[c];
        double a = direction * alpha[j];
        if (x[j] <= bound * a && !tpLemke_IsFree(lemke, lemke->variableAt[j])) {
            if (tpLemke_IsZ0(lemke, lemke->variableAt[j])) {
                return j;
            }
            largest = tpLarger(largest, a);
            lemke->candidates[tiedCount++] = j;
        }
    }
    int leaving = -1;
    for (int c = 0; c < tiedCount; ++c) {
        int j = lemke->candidates[c];
        double a = direction * alpha[j];
        if (a >= tiedPivotThreshold * largest &&
            (leaving < 0 || y[j] * (direction * alpha[leaving]) < y[leaving] * a)) {
            leaving = j;
        }
    }
    return leaving;
}

// Exchanges the variable at `position` for the entering one and updates all values.
static void pivot(tpLemke* lemke, int position, int entering) {
    double* x = lemke->x;
    double* y = lemke->y;
    const double* alpha = lemke->alpha;
    double stepX = x[position] / alpha[position];
    double stepY = y[position] / alpha[position];
    for (int j = 0; j < lemke->n; ++j) {
        x[j] -= stepX * alpha[j];
        y[j] -= stepY * alpha[j];
    }
    x[position] = stepX;
    y[position] = stepY;
    tpLemke_Exchange(lemke, position, entering);
    lemke->pivots += 1;
}

// Factors afresh when the next update has no room, or when it pays: with k updates of cost k n each
// so far, the average cost of a pivot, factorisation included, is least when the last one costs the
// average.
static bool refactorIfDue(tpLemke* lemke) {
    tpSparseLu* factor = &lemke->factor;
    long long updates = factor->etaCount;
    long long etaWork = updates * lemke->n;
    long long factorWork = factorToEtaCost * (factor->factorCost + lemke->n);
    lemke->etaCost += etaWork;
    bool isDue = updates >= factor->etaCapacity || etaWork * updates > lemke->etaCost + factorWork;
    if (!isDue) {
        return true;
    }
    if (tpLemke_Factor(lemke) != 0) {
        return false;
    }
    tpLemke_ComputeValues(lemke, false);
    return true;
}

static int complementOf(const tpLemke* lemke, int variable) {
    int n = lemke->n;
    if (tpLemke_IsFixed(lemke, variable) && lemke->partnerOfFixed[variable] >= 0) {
        return lemke->partnerOfFixed[variable];
    }
    return variable < n ? variable + n : variable - n;
}

// Follows the path of almost complementary bases. tp_solved: z0 has left.
static tpSolveStatus followPath(tpLemke* lemke, bool isWarm, int pivotLimit) {
    int leaving = enterCovering(lemke, isWarm);
    int entering = 2 * lemke->n;
    if (leaving < 0) {
        return tp_numericalTrouble;
    }
    while (lemke->pivots < pivotLimit && !tpSolverMemory_IsSpent(lemke->memory)) {
        lemke->memory->work += pivotCost * lemke->n;
        int left = lemke->variableAt[leaving];
        pivot(lemke, leaving, entering);
        if (tpLemke_IsZ0(lemke, left)) {
            return tp_solved;
        }
        int enteredAt = leaving;
        if (!refactorIfDue(lemke)) {
            return tp_numericalTrouble;
        }
        entering = complementOf(lemke, left);
        tpLemke_Column(lemke, entering, lemke->rowWork);
        tpSparseLu_Solve(&lemke->factor, lemke->rowWork, lemke->alpha);
        // A free variable moves to the side that lets the one before it grow.
        bool isDown = tpLemke_IsFree(lemke, entering) && lemke->alpha[enteredAt] > 0.0;
        leaving = ratioTest(lemke, isDown ? -1.0 : 1.0);
        if (leaving < 0) {
            return tp_secondaryRay;
        }
    }
    return tp_iterationLimit;
}

// z from the values of the basic variables; a z0 still in the basis is left out.
static void readSolution(const tpLemke* lemke, double* scaled, double* z) {
    for (int i = 0; i < lemke->n; ++i) {
        int position = lemke->positionOf[lemke->n + i];
        scaled[i] = position >= 0 ? lemke->x[position] : 0.0;
    }
    tpLcpForm_Unscale(lemke->form, scaled, z);
}

// The complementary basis that remains when z0 is thrown out.
static void readBasis(const tpLemke* lemke, unsigned char* basis) {
    for (int i = 0; i < lemke->n; ++i) {
        basis[i] = lemke->positionOf[lemke->n + i] >= 0 ? tp_zBasic : tp_wBasic;
    }
}

// Paths, each from the basis where the last one ended, until the recomputed values are good.
static tpSolveStatus solvePaths(tpLemke* lemke, const tpLcp* lcp, unsigned char* basis, bool isWarm,
                                tpArena* arena, double* z) {
    const tpLemkeOptions* options = lemke->options;
    int pivotLimit = options->pivotLimit > 0 ? options->pivotLimit : 50 * lemke->n + 1000;
    double* candidate = TP_SCRATCH(arena, double, lemke->n);
    double* scaled = TP_SCRATCH(arena, double, lemke->n);
    if (candidate == NULL || scaled == NULL) {
        return tp_solverOutOfMemory;
    }
    double best = HUGE_VAL;
    tpSolveStatus status = tp_numericalTrouble;
    for (int attempt = 0; attempt < restartLimit; ++attempt) {
        if (!tpLemke_Start(lemke, isWarm ? basis : NULL)) {
            return arena->failed ? tp_solverOutOfMemory : tp_numericalTrouble;
        }
        setTieBreaker(lemke);
        tpLemke_ComputeValues(lemke, true);
        status = tp_solved;
        if (!isFeasible(lemke, isWarm ? 1e-3 * options->tolerance : 0.0)) {
            // A warm start that is not near saves nothing: it gets a share of a cold one's pivots.
            int share = isWarm ? lemke->pivots + lemke->n / 2 + 50 : pivotLimit;
            status = followPath(lemke, isWarm, share < pivotLimit ? share : pivotLimit);
            if (status == tp_solved && tpLemke_Factor(lemke) == 0) {
                tpLemke_ComputeValues(lemke, true);
            }
        }
        readSolution(lemke, scaled, candidate);
        readBasis(lemke, basis);
        double residual = tpLcp_ResidualIn(lcp, candidate, arena, NULL);
        if (residual < best) {
            best = residual;
            memcpy(z, candidate, sizeof(double) * (size_t)lemke->n);
        }
        if (best <= options->tolerance || lemke->pivots >= pivotLimit ||
            tpSolverMemory_IsSpent(lemke->memory)) {
            break;
        }
        if (status == tp_secondaryRay && !isWarm) {
            break;
        }
        isWarm = status == tp_solved;
    }
    return status;
}

tpSolveStatus tpLcp_SolveLemke(const tpLcp* lcp, const tpLemkeOptions* options,
                               tpSolverMemory* memory, double* z, tpSolveReport* report) {
    TP_NEED(lcp, (tpSolveStatus){ 0 });
    double start = tpCpuSeconds();
    tpLemkeOptions defaults = tpDefaultLemkeOptions();
    options = options != NULL ? options : &defaults;
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    tpArena* arena = &memory->arena;
    tpLcpForm form;
    tpLemke lemke = { 0 };
    tpSolveStatus status = tpLcpForm_Create(&form, lcp, true, arena);
    if (status == tp_solved) {
        unsigned char* basis = TP_SCRATCH_ZEROED(arena, unsigned char, lcp->n);
        if (basis != NULL && tpLemke_Create(&lemke, &form, options, memory)) {
            memset(z, 0, sizeof(double) * (size_t)lcp->n);
            if (options->startBasis != NULL) {
                memcpy(basis, options->startBasis, (size_t)lcp->n);
            }
            status = solvePaths(&lemke, lcp, basis, options->startBasis != NULL, arena, z);
            if (options->endBasis != NULL) {
                memcpy(options->endBasis, basis, (size_t)lcp->n);
            }
        } else {
            status = tp_solverOutOfMemory;
        }
    }
    status = tpLcp_Finish(lcp, "lemke", status, tp_numericalTrouble, options->tolerance,
                          lemke.pivots, start, memory, z, report);
    tpSolverMemory_End(memory, mark);
    return status;
}
