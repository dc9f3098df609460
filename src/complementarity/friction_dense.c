// Newton's method on a small problem with a dense matrix, without an island of its own.
//
// What is left of a mechanism when its joints are eliminated is a dozen contacts that all feel each
// other. Taking such a problem apart, bringing it to a common scale, searching an order for its
// blocks and keeping them sparse costs several times what a dense factorisation of it does. The
// function, its derivatives and the measure of the residual are those of friction_newton.c. There
// is no line search: from a start of the step before two or three whole steps do, and if they do
// not the problem goes to the solvers of islands, from where it began.

#include <float.h>
#include <math.h>
#include <string.h>

#include "complementarity/friction_newton.h"
#include "complementarity/friction_solvers.h"
#include "complementarity/friction_states.h"
#include "math/pairs.h"

// Rows up to which all of them at once are worth it, and whole steps that are: some at first, in
// which contacts find out what they do, and more as long as each leaves less than this part.
enum { mostRows = 64, freeSteps = 6, mostSteps = 16 };

// Rows up to which what contacts and drives do is worth finding out.
enum { mostStatedRows = 240 };
static const double leastGain = 0.7;

// A step that has left less than this part of the residual is near the end: the next one may go by
// the same factors.
static const double nearGain = 0.01;

// A start whose residual is above this part of |q| is far off: sweeps come first. If the steps do
// not get there, more sweeps are made from where they began, and steps again. With rolling friction
// S is all but singular, and that does not help.
enum { startingSweeps = 10, moreSweeps = 30, mostAttempts = 2, mostRowsOfBlock = 3 };
static const double nearPart = 0.01;

// Shift of the diagonal, in units of its mean in each block, for contacts that share a load in many
// ways.
static const double regularisation = 1e-9;

// A residual that has grown to this many times the first is lost.
static const double lostGrowth = 1e3;

// Impulses that have grown to this many times those of the start, or of q, are no answer: contacts
// and drives jam each other, and all that follows would start from there.
static const double jammedGrowth = 1e3;

// No contact is asked for less than so many units of the last place of its impulses.
static const double roundings = 64.0;

typedef struct tpDenseFriction {
    const tpFrictionProblem* problem;
    const double* S; // symmetric
    int n;
    double* rho; // of each block: rows over the trace of its part of S
    double* u;
    double* step;
    double* J;       // of the rows in play, the right-hand side last; then its factors
    int* rows;       // those rows
    int* pivots;     // of each step of the elimination: the row that came to its place
    int factored;    // rows in play of the factors in J, 0: there are none
    double mostLoad; // impulses of a larger size are no answer
} tpDenseFriction;

static int rowsOf(const tpDenseFriction* dense, int b) {
    return dense->problem->dimensions[b];
}

static double muOf(const tpDenseFriction* dense, int b) {
    return dense->problem->kinds[b] == tp_frictionCone ? dense->problem->mu[b] : 0.0;
}

// False if the problem is not one for this.
static bool prepare(tpDenseFriction* dense) {
    const tpFrictionProblem* problem = dense->problem;
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        double trace = 0.0;
        for (int i = row; i < row + rowsOf(dense, b); ++i) {
            trace += dense->S[(size_t)i * (size_t)dense->n + (size_t)i];
        }
        bool isCone = problem->kinds[b] == tp_frictionCone;
        bool isLimit = problem->kinds[b] == tp_frictionNonnegative && rowsOf(dense, b) == 1;
        if (!(trace > 0.0) || !(isCone || isLimit)) {
            return false;
        }
        dense->rho[b] = rowsOf(dense, b) / trace;
        row += rowsOf(dense, b);
    }
    return true;
}

// z += a x + b y.
static inline void addTwo(int n, double a, const double* restrict x, double b,
                          const double* restrict y, double* restrict z) {
    for (int i = 0; i < n; ++i) {
        z[i] += a * x[i] + b * y[i];
    }
}

// y += factor x.
static inline void addScaled(int n, double factor, const double* restrict x, double* restrict y) {
    for (int i = 0; i < n; ++i) {
        y[i] += factor * x[i];
    }
}

// y += S x, by columns; those of contacts that carry nothing are left out.
static void multiplyAdd(const tpDenseFriction* dense, const double* x, double* y) {
    size_t n = (size_t)dense->n;
    int waiting = -1;
    for (int j = 0; j < dense->n; ++j) {
        if (x[j] == 0.0) {
            continue;
        }
        if (waiting < 0) {
            waiting = j;
            continue;
        }
        addTwo(dense->n, x[waiting], dense->S + (size_t)waiting * n, x[j], dense->S + (size_t)j * n,
               y);
        waiting = -1;
    }
    if (waiting >= 0) {
        addScaled(dense->n, x[waiting], dense->S + (size_t)waiting * n, y);
    }
}

// u = S r + q; returns the residual as the judge has it.
static double judge(tpDenseFriction* dense, const double* r) {
    const tpFrictionProblem* problem = dense->problem;
    double sum = 0.0;
    memcpy(dense->u, problem->q, sizeof(double) * (size_t)dense->n);
    multiplyAdd(dense, r, dense->u);
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        int rows = rowsOf(dense, b);
        double scaled[TP_FRICTION_MAX_ROWS], map[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < rows; ++i) {
            scaled[i] = dense->rho[b] * dense->u[row + i];
        }
        tpFrictionNaturalMap(rows, problem->kinds[b], muOf(dense, b), r + row, scaled, map);
        for (int i = 0; i < rows; ++i) {
            sum += map[i] / dense->rho[b] * (map[i] / dense->rho[b]);
        }
        row += rows;
    }
    return sqrt(sum);
}

// The size of impulses, as velocities that they give.
static double loadOf(const tpDenseFriction* dense, const double* r) {
    double sum = 0.0;
    for (int b = 0, row = 0; b < dense->problem->blockCount; ++b) {
        for (int end = row + rowsOf(dense, b); row < end; ++row) {
            sum += r[row] / dense->rho[b] * (r[row] / dense->rho[b]);
        }
    }
    return sqrt(sum);
}

static double roundingOf(const tpDenseFriction* dense, const double* r) {
    return roundings * DBL_EPSILON * loadOf(dense, r);
}

// z -= a x + b y for an even n.
static inline void takeTwo(int n, double a, const double* restrict x, double b,
                           const double* restrict y, double* restrict z) {
    for (int i = 0; i < n; i += 2) {
        z[i] -= a * x[i] + b * y[i];
        z[i + 1] -= a * x[i + 1] + b * y[i + 1];
    }
}

// One sweep of exact solutions of one block after the other.
static void sweep(tpDenseFriction* dense, double* r) {
    const tpFrictionProblem* problem = dense->problem;
    size_t n = (size_t)dense->n;
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        int rows = rowsOf(dense, b);
        double A[TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS], rest[TP_FRICTION_MAX_ROWS];
        double own[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < rows; ++i) {
            const double* S = dense->S + (size_t)(row + i) * n;
            rest[i] = tpDotNumbers(dense->n, S, r) + problem->q[row + i] -
                      tpDotNumbers(rows, S + row, r + row);
            memcpy(A + (size_t)(i * rows), S + row, sizeof(double) * (size_t)rows);
            own[i] = r[row + i];
        }
        if (tpFrictionSolveLocal(rows, problem->kinds[b], muOf(dense, b), A, rest, own)) {
            memcpy(r + row, own, sizeof(double) * (size_t)rows);
        }
        row += rows;
    }
}

// Numbers from one row of J to the next: even, so that pairs of columns end with the row.
size_t tpDense_Stride(int count) {
    return ((size_t)count + 2) & ~(size_t)1;
}

// Newton's step -----------------------------------------------------------------------------------

// Writes the rows of one block in play, and their right-hand side: F and what blocks that leave
// play change of it. `count` rows are in play, from `place` on those of the block.
static void writeRows(tpDenseFriction* dense, int block, int row, int place, int count,
                      const double* F, const double* A, const double* B, const double* left) {
    int rows = rowsOf(dense, block);
    size_t n = (size_t)dense->n, stride = tpDense_Stride(count);
    double rho = dense->rho[block];
    for (int i = 0; i < rows; ++i) {
        double* J = dense->J + (size_t)(place + i) * stride;
        double sum = -F[i];
        memset(J, 0, sizeof(double) * (size_t)count);
        for (int k = 0; k < rows; ++k) {
            double factor = rho * A[i * rows + k];
            if (factor == 0.0) {
                continue;
            }
            const double* S = dense->S + (size_t)(row + k) * n;
            if (count == dense->n) {
                addScaled(count, factor, S, J);
            } else {
                for (int c = 0; c < count; ++c) {
                    J[c] += factor * S[dense->rows[c]];
                }
            }
            J[place + k] += regularisation * A[i * rows + k];
            sum -= left != NULL ? factor * left[row + k] : 0.0;
        }
        for (int k = 0; k < rows; ++k) {
            J[place + k] += B[i * rows + k];
        }
        J[count] = sum;
        J[stride - 1] = stride - 1 > (size_t)count ? 0.0 : sum;
    }
}

// Brings the row with the largest number in column k, of those from row k on, to row k; `pivot` is
// the row that it was. False if none is above `least`.
static bool bringPivot(int count, int k, double* J, int* pivot, double least) {
    size_t stride = tpDense_Stride(count);
    int best = k;
    double largest = fabs(J[(size_t)k * stride + (size_t)k]);
    for (int i = k + 1; i < count; ++i) {
        double size = fabs(J[(size_t)i * stride + (size_t)k]);
        best = size > largest ? i : best;
        largest = size > largest ? size : largest;
    }
    double *own = J + (size_t)k * stride, *other = J + (size_t)best * stride;
    for (int c = 0; best != k && c <= count; ++c) {
        double swap = own[c];
        own[c] = other[c];
        other[c] = swap;
    }
    *pivot = best;
    return largest > least;
}

// Two columns at a time: rows are short, and go through memory half as often.
bool tpDense_Eliminate(int count, double* J, int* pivots, double least) {
    size_t stride = tpDense_Stride(count);
    for (int k = 0; k < count; k += 2) {
        if (!bringPivot(count, k, J, &pivots[k], least)) {
            return false;
        }
        double* first = J + (size_t)k * stride;
        double inverse = 1.0 / first[k];
        if (k + 1 == count) {
            break;
        }
        // Column k holds the factors of its own elimination from here on.
        for (int i = k + 1; i < count; ++i) {
            double* row = J + (size_t)i * stride;
            row[k] *= inverse;
            row[k + 1] -= row[k] * first[k + 1];
        }
        if (!bringPivot(count, k + 1, J, &pivots[k + 1], least)) {
            return false;
        }
        double* second = first + stride;
        addScaled(count - k - 1, -second[k], first + k + 2, second + k + 2);
        inverse = 1.0 / second[k + 1];
        for (int i = k + 2; i < count; ++i) {
            double* row = J + (size_t)i * stride;
            row[k + 1] *= inverse;
            takeTwo((int)stride - k - 2, row[k], first + k + 2, row[k + 1], second + k + 2,
                    row + k + 2);
        }
    }
    for (int k = count - 1; k >= 0; --k) {
        double* row = J + (size_t)k * stride;
        double sum = row[count];
        for (int c = k + 1; c < count; ++c) {
            sum -= row[c] * J[(size_t)c * stride + (size_t)count];
        }
        row[count] = sum / row[k];
    }
    return true;
}

// The same for another right-hand side, by the factors.
static void solveFactored(int count, const double* J, const int* pivots, double* b) {
    size_t stride = tpDense_Stride(count);
    for (int k = 0; k < count; ++k) {
        double swap = b[k];
        b[k] = b[pivots[k]];
        b[pivots[k]] = swap;
    }
    for (int k = 1; k < count; ++k) {
        b[k] -= tpDotNumbers(k, J + (size_t)k * stride, b);
    }
    for (int k = count - 1; k >= 0; --k) {
        const double* row = J + (size_t)k * stride;
        b[k] = (b[k] - tpDotNumbers(count - k - 1, row + k + 1, b + k + 1)) / row[k];
    }
}

typedef struct tpDenseLaw {
    double F[TP_FRICTION_MAX_ROWS], A[TP_LAW], B[TP_LAW];
    double lastA[TP_LAW], lastB[TP_LAW]; // of the factors
    bool isInPlay, wasInPlay;
} tpDenseLaw;

// Factors serve once more if derivatives have changed by less than this, in all contacts.
static const double sameLaw = 0.05;

static bool isNearlySame(int rows, const double* a, const double* b) {
    bool isSame = true;
    for (int i = 0; i < rows * rows; ++i) {
        isSame = isSame && fabs(a[i] - b[i]) < sameLaw;
    }
    return isSame;
}

// Whether the factors are nearly those of the laws as they are now.
static bool mayReuse(const tpDenseFriction* dense, const tpDenseLaw* laws, int count) {
    bool isSame = dense->factored == count && count > 0;
    for (int b = 0; isSame && b < dense->problem->blockCount; ++b) {
        const tpDenseLaw* law = &laws[b];
        int rows = rowsOf(dense, b);
        isSame = law->isInPlay == law->wasInPlay &&
                 (!law->isInPlay || (isNearlySame(rows, law->A, law->lastA) &&
                                     isNearlySame(rows, law->B, law->lastB)));
    }
    return isSame;
}

static void keepLaws(const tpDenseFriction* dense, tpDenseLaw* laws) {
    for (int b = 0; b < dense->problem->blockCount; ++b) {
        size_t bytes = sizeof(double) * (size_t)(rowsOf(dense, b) * rowsOf(dense, b));
        laws[b].wasInPlay = laws[b].isInPlay;
        if (laws[b].isInPlay) {
            memcpy(laws[b].lastA, laws[b].A, bytes);
            memcpy(laws[b].lastB, laws[b].B, bytes);
        }
    }
}

// The step of rows in play by the factors of an earlier step.
static void stepByFactors(tpDenseFriction* dense, const tpDenseLaw* laws, int count) {
    double x[mostRows];
    for (int b = 0, place = 0; b < dense->problem->blockCount; ++b) {
        for (int i = 0; laws[b].isInPlay && i < rowsOf(dense, b); ++i) {
            x[place++] = -laws[b].F[i];
        }
    }
    solveFactored(count, dense->J, dense->pivots, x);
    for (int k = 0; k < count; ++k) {
        dense->step[dense->rows[k]] = x[k];
    }
}

// The step of rows in play by factors of its own; `left` is what blocks that leave play change.
// False if J is singular.
static bool stepAnew(tpDenseFriction* dense, tpDenseLaw* laws, int count, const double* left) {
    for (int b = 0, row = 0, place = 0; b < dense->problem->blockCount; ++b) {
        int rows = rowsOf(dense, b);
        if (laws[b].isInPlay) {
            writeRows(dense, b, row, place, count, laws[b].F, laws[b].A, laws[b].B, left);
            place += rows;
        }
        row += rows;
    }
    dense->factored = 0;
    if (!tpDense_Eliminate(count, dense->J, dense->pivots, DBL_MIN)) {
        return false;
    }
    for (int k = 0; k < count; ++k) {
        dense->step[dense->rows[k]] = dense->J[(size_t)k * tpDense_Stride(count) + (size_t)count];
    }
    dense->factored = count;
    keepLaws(dense, laws);
    return true;
}

// A whole step from r, with u as it is there; by the factors of the last one if these are nearly
// the same and `isNear`. False if J is singular.
static bool takeStep(tpDenseFriction* dense, tpDenseLaw* laws, bool isNear, double* left,
                     double* r) {
    const tpFrictionProblem* problem = dense->problem;
    int count = 0;
    bool isLeaving = false;
    memset(dense->step, 0, sizeof(double) * (size_t)dense->n);
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        int rows = rowsOf(dense, b);
        double scaled[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < rows; ++i) {
            scaled[i] = dense->rho[b] * dense->u[row + i];
        }
        tpDenseLaw* law = &laws[b];
        law->isInPlay = tpFrictionAlartCurnier(rows, problem->kinds[b], muOf(dense, b), r + row,
                                               scaled, law->F, law->A, law->B);
        for (int i = 0; i < rows; ++i) {
            if (law->isInPlay) {
                dense->rows[count++] = row + i;
            } else {
                dense->step[row + i] = -r[row + i];
                isLeaving = isLeaving || r[row + i] != 0.0;
            }
        }
        row += rows;
    }
    if (isLeaving) {
        memset(left, 0, sizeof(double) * (size_t)dense->n);
        multiplyAdd(dense, dense->step, left);
    }
    if (isNear && !isLeaving && mayReuse(dense, laws, count)) {
        stepByFactors(dense, laws, count);
    } else if (!stepAnew(dense, laws, count, isLeaving ? left : NULL)) {
        return false;
    }
    for (int i = 0; i < dense->n; ++i) {
        r[i] += dense->step[i];
    }
    return true;
}

static int largestBlock(const tpDenseFriction* dense) {
    int largest = 0;
    for (int b = 0; b < dense->problem->blockCount; ++b) {
        largest = rowsOf(dense, b) > largest ? rowsOf(dense, b) : largest;
    }
    return largest;
}

// Whole steps from r, whose residual is known, until it is below the tolerance. False if they do
// not get there.
static bool iterate(tpDenseFriction* dense, double tolerance, tpDenseLaw* laws, double* left,
                    double residual, double* r, int* steps) {
    double size = sqrt(tpDotNumbers(dense->n, dense->problem->q, dense->problem->q));
    double lost = lostGrowth * fmax(residual, size);
    bool isNear = false;
    dense->factored = 0;
    while (residual > fmax(tolerance, roundingOf(dense, r)) && residual < lost &&
           *steps < mostSteps && takeStep(dense, laws, isNear, left, r)) {
        double last = residual;
        residual = judge(dense, r);
        isNear = residual < nearGain * last;
        *steps += 1;
        lost = *steps < freeSteps ? lost : leastGain * last;
    }
    return residual <= fmax(tolerance, roundingOf(dense, r)) && loadOf(dense, r) <= dense->mostLoad;
}

// Whether r solves the problem with q shifted as `small` says, to what will do.
static bool isSolvedShifted(tpDenseFriction* dense, const tpSmallSolve* small, double settled,
                            double* q, const double* r) {
    const tpFrictionProblem* problem = dense->problem;
    for (int i = 0; i < dense->n; ++i) {
        q[i] = problem->q[i] + (small->shift != NULL ? small->shift[i] : 0.0);
    }
    tpFrictionProblem shifted = *problem;
    shifted.q = q;
    dense->problem = &shifted;
    bool isSolved = judge(dense, r) <= fmax(settled, roundingOf(dense, r));
    dense->problem = problem;
    return isSolved;
}

// By what contacts and drives do, from `start`, whose velocities are in u. What is left where they
// contradict each other goes into the shift of `small`. If that does not get there, once more with
// contacts that give a little.
static bool solveByStates(tpDenseFriction* dense, const tpSmallSolve* small, tpArena* arena,
                          const double* start, double* r, int* rounds) {
    const tpFrictionProblem* problem = dense->problem;
    size_t n = (size_t)dense->n;
    double size = sqrt(tpDotNumbers(dense->n, problem->q, problem->q));
    double allowed = fmax(small->tolerance, roundingOf(dense, start)) / sqrt((double)dense->n);
    double settled = fmax(tp_settledFactor * small->tolerance, 0.3 * tp_stalledPart * size);
    double *q = TP_SCRATCH(arena, double, n), *u = TP_SCRATCH(arena, double, n);
    if (arena->failed) {
        return false;
    }
    memcpy(u, dense->u, sizeof(double) * n);
    for (int attempt = 0; attempt < 2; ++attempt) {
        memcpy(r, start, sizeof(double) * n);
        if (tpFriction_SolveByStates(problem, small, u, allowed, 0.5 * settled, attempt > 0, arena,
                                     r, rounds) &&
            loadOf(dense, r) <= dense->mostLoad && isSolvedShifted(dense, small, settled, q, r)) {
            return true;
        }
        if (small->shift != NULL) {
            memset(small->shift, 0, sizeof(double) * n);
        }
    }
    return false;
}

size_t tpFriction_DenseLawSize(void) {
    return sizeof(tpDenseLaw);
}

bool tpFriction_SolveDense(const tpFrictionProblem* problem, const tpSmallSolve* small,
                           tpArena* arena, double* r, int* iterations, double* work) {
    const tpMatrix* W = problem->W;
    if (W == NULL || W->rowCount > mostStatedRows || W->columnStarts != NULL ||
        problem->compliance != NULL || problem->scale != NULL || problem->kinds == NULL ||
        problem->dimensions == NULL) {
        return false;
    }
    int n = W->rowCount;
    tpArenaMark mark = tpArena_Mark(arena);
    size_t rows = (size_t)n, blocks = (size_t)problem->blockCount;
    tpDenseFriction dense = { .problem = problem, .S = W->values, .n = n };
    dense.rho = TP_SCRATCH(arena, double, blocks);
    dense.u = TP_SCRATCH(arena, double, rows);
    dense.step = TP_SCRATCH(arena, double, rows);
    dense.J = TP_SCRATCH(arena, double, rows*(rows + 2));
    dense.rows = TP_SCRATCH(arena, int, rows);
    dense.pivots = TP_SCRATCH(arena, int, rows + 1);
    double* own = TP_SCRATCH(arena, double, rows);
    double* left = TP_SCRATCH(arena, double, rows);
    double* start = TP_SCRATCH(arena, double, rows);
    tpDenseLaw* laws = TP_SCRATCH(arena, tpDenseLaw, blocks);
    bool isSolved = false;
    if (!arena->failed && prepare(&dense)) {
        double size = sqrt(tpDotNumbers(n, problem->q, problem->q));
        memcpy(start, r, sizeof(double) * rows);
        dense.mostLoad = jammedGrowth * fmax(loadOf(&dense, start), size);
        double residual = judge(&dense, start);
        memcpy(own, start, sizeof(double) * rows);
        // Maybe there is nothing to do.
        isSolved = residual <= fmax(small->tolerance, roundingOf(&dense, start));
        int rounds = 0;
        if (!isSolved && !small->knowsStates && largestBlock(&dense) <= tp_mostStatedRows) {
            isSolved = solveByStates(&dense, small, arena, start, own, &rounds);
            residual = isSolved ? residual : judge(&dense, start);
        }
        *iterations += rounds;
        *work += (double)(rounds * n * n) * ((double)n / 6.0 + 3.0);
        int sweeps = residual > nearPart * size ? startingSweeps : 0;
        int attempts = largestBlock(&dense) <= mostRowsOfBlock ? mostAttempts : 1;
        for (int attempt = 0; attempt < attempts && !isSolved && n <= mostRows; ++attempt) {
            for (int i = 0; i < sweeps; ++i) {
                sweep(&dense, start);
            }
            memcpy(own, start, sizeof(double) * rows);
            int steps = 0;
            residual = sweeps > 0 ? judge(&dense, own) : residual;
            isSolved = iterate(&dense, small->tolerance, laws, left, residual, own, &steps);
            *iterations += sweeps > 0 && steps == 0 ? 1 : steps;
            *work += (double)(steps * n * n) * ((double)n / 3.0 + 3.0) + (double)(sweeps * n * n);
            sweeps = moreSweeps;
        }
    }
    if (isSolved) {
        memcpy(r, own, sizeof(double) * rows);
    }
    tpArena_Release(arena, mark);
    return isSolved;
}
