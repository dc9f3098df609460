// Semismooth Newton for complementarity problems [DeLucaFacchineiKanzow96].
//
// The problem is written as Phi(z) = 0 with Phi_i = phi(z_i - l_i, F_i(z)), phi being
//     Fischer-Burmeister   a + b - sqrt(a^2 + b^2)    or the natural map   min(a, b),
// and Phi_i = F_i where z_i is free. An element of its generalised Jacobian is
//     H = diag(da) + diag(db) F'(z),    (da_i, db_i) the derivatives of phi,
// factorised sparsely. Globalisation uses the merit Psi = |Phi_FB|^2 / 2, which is smooth, with the
// nonmonotone rule of [GrippoLamparielloLucidi86]: a step may raise Psi above the last value, not
// above the largest of the last few. That carries steps across the ridges where a monotone search
// stalls. A direction that is no descent direction for Psi, or comes from a singular H, is replaced
// by that of the proximal problem F + e (z - z_k) with growing e, in the end by the gradient's.
// Natural-map steps that shrink the natural residual are taken whole: they end finitely where they
// end at all.

#include "complementarity/newton.h"
#include "math/elementary.h"

#include <math.h>
#include <string.h>

enum { merits = 32, halvings = 40 };

static const double armijo = 1e-4;   // share of the predicted descent asked of a step
static const double shrinkage = 0.5; // natural residual that a whole step has to reach
static const double singularPivot = 1e-13;

typedef struct NewtonSearch {
    const tpNcp* ncp;
    const tpNewtonOptions* options;
    tpSolverMemory* memory;
    tpNewtonJudge judge;
    void* judgeContext;
    int n;
    double* z;
    double* F;
    double* trial;
    double* trialF;
    double* step;
    double* phi; // of the function whose Newton step is sought
    double* da;
    double* db;
    double* gradient; // of Psi
    double* work;
    double* jacobian; // values in the problem's pattern
    tpSparseColumns H;
    tpSparseLu factor;
    int* dependent;
    int* replacedBy;
} NewtonSearch;

tpNewtonOptions tpDefaultNewtonOptions(void) {
    tpNewtonOptions options = { .tolerance = 1e-8,
                                .iterationLimit = 200,
                                .function = tp_fischerBurmeister,
                                .memoryLength = 8 };
    return options;
}

static bool createNewton(NewtonSearch* newton) {
    tpArena* arena = &newton->memory->arena;
    int n = newton->n;
    const tpMatrix* pattern = &newton->ncp->jacobianPattern;
    size_t entries = pattern->columnStarts != NULL ? (size_t)pattern->columnStarts[n]
                                                   : (size_t)n * (size_t)pattern->leading;
    double** vectors[] = { &newton->F,    &newton->trial,    &newton->trialF,
                           &newton->step, &newton->phi,      &newton->da,
                           &newton->db,   &newton->gradient, &newton->work };
    for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); ++v) {
        *vectors[v] = TP_SCRATCH_ZEROED(arena, double, n);
    }
    newton->jacobian = TP_SCRATCH_ZEROED(arena, double, entries);
    newton->H.n = n;
    newton->H.starts = TP_SCRATCH(arena, int, n + 1);
    newton->H.rows = TP_SCRATCH(arena, int, entries + (size_t)n);
    newton->H.values = TP_SCRATCH(arena, double, entries + (size_t)n);
    newton->dependent = TP_SCRATCH(arena, int, n);
    newton->replacedBy = TP_SCRATCH(arena, int, n);
    return !arena->failed && tpSparseLu_Create(&newton->factor, arena, &newton->memory->work, n, 0);
}

static bool isFree(const tpNcp* ncp, int i) {
    return ncp->isFree != NULL && ncp->isFree[i];
}

static double distance(const tpNcp* ncp, const double* z, int i) {
    return z[i] - (ncp->lower != NULL ? ncp->lower[i] : 0.0);
}

// a + b - sqrt(a^2 + b^2) without the cancellation where both are positive.
static double fischerBurmeister(double a, double b) {
    double norm = tpHypot(a, b);
    return a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b + norm) : a + b - norm;
}

static double meritOf(const NewtonSearch* newton, const double* z, const double* F) {
    double sum = 0.0;
    for (int i = 0; i < newton->n; ++i) {
        double value =
            isFree(newton->ncp, i) ? F[i] : fischerBurmeister(distance(newton->ncp, z, i), F[i]);
        sum += value * value;
    }
    return 0.5 * sum;
}

static double naturalResidual(const NewtonSearch* newton, const double* z, const double* F) {
    double worst = 0.0;
    for (int i = 0; i < newton->n; ++i) {
        double a = isFree(newton->ncp, i) ? F[i] : tpSmaller(distance(newton->ncp, z, i), F[i]);
        worst = tpLarger(worst, fabs(a));
    }
    return worst;
}

// phi and its derivatives at the current point. At the kink a = b = 0 of Fischer-Burmeister any
// unit vector serves; the diagonal one keeps both parts of H.
static void linearise(NewtonSearch* newton, tpNewtonFunction function) {
    for (int i = 0; i < newton->n; ++i) {
        double a = distance(newton->ncp, newton->z, i);
        double b = newton->F[i];
        if (isFree(newton->ncp, i)) {
            newton->phi[i] = b;
            newton->da[i] = 0.0;
            newton->db[i] = 1.0;
        } else if (function == tp_naturalMap) {
            newton->phi[i] = a < b ? a : b;
            newton->da[i] = a < b ? 1.0 : 0.0;
            newton->db[i] = a < b ? 0.0 : 1.0;
        } else {
            double norm = tpHypot(a, b);
            newton->phi[i] = fischerBurmeister(a, b);
            newton->da[i] = norm > 1e-150 ? 1.0 - a / norm : 1.0 - sqrt(0.5);
            newton->db[i] = norm > 1e-150 ? 1.0 - b / norm : 1.0 - sqrt(0.5);
        }
    }
}

// H = diag(da) + diag(db) (F' + proximal I), by columns.
static void assemble(NewtonSearch* newton, double proximal) {
    const tpMatrix* pattern = &newton->ncp->jacobianPattern;
    bool isDense = pattern->columnStarts == NULL;
    int used = 0;
    for (int j = 0; j < newton->n; ++j) {
        int begin = isDense ? 0 : pattern->columnStarts[j];
        int end = isDense ? newton->n : pattern->columnStarts[j + 1];
        const double* values =
            isDense ? newton->jacobian + (size_t)j * (size_t)pattern->leading : newton->jacobian;
        double diagonal = newton->da[j] + newton->db[j] * proximal;
        newton->H.starts[j] = used;
        for (int k = begin; k < end; ++k) {
            int i = isDense ? k : pattern->rowIndices[k];
            double value = newton->db[i] * values[k];
            if (i == j) {
                value += diagonal;
                diagonal = 0.0;
            }
            if (value != 0.0) {
                newton->H.rows[used] = i;
                newton->H.values[used++] = value;
            }
        }
        if (diagonal != 0.0) {
            newton->H.rows[used] = j;
            newton->H.values[used++] = diagonal;
        }
    }
    newton->H.starts[newton->n] = used;
}

// gradient = H' phi of the assembled H.
static void computeGradient(NewtonSearch* newton) {
    const tpSparseColumns* H = &newton->H;
    for (int j = 0; j < newton->n; ++j) {
        double sum = 0.0;
        for (int k = H->starts[j]; k < H->starts[j + 1]; ++k) {
            sum += H->values[k] * newton->phi[H->rows[k]];
        }
        newton->gradient[j] = sum;
    }
}

// step = -H^-1 phi; dependent columns stay where they are. False: not finite, or no memory.
static bool solveForStep(NewtonSearch* newton, bool* isSingular) {
    int n = newton->n;
    int count = tpSparseLu_Factorise(&newton->factor, &newton->H, singularPivot, newton->dependent,
                                     newton->replacedBy);
    *isSingular = count != 0;
    if (count < 0) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        newton->work[i] = -newton->phi[i];
    }
    tpSparseLu_Solve(&newton->factor, newton->work, newton->step);
    for (int c = 0; c < count; ++c) {
        newton->step[newton->dependent[c]] = 0.0;
    }
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += newton->step[i];
    }
    return isfinite(sum);
}

static double dot(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

static bool isDescent(const NewtonSearch* newton) {
    double slope = dot(newton->gradient, newton->step, newton->n);
    double length = sqrt(dot(newton->step, newton->step, newton->n));
    double steepness = sqrt(dot(newton->gradient, newton->gradient, newton->n));
    return slope < -1e-10 * length * steepness;
}

static bool evaluateTrial(NewtonSearch* newton, double t) {
    for (int i = 0; i < newton->n; ++i) {
        newton->trial[i] = newton->z[i] + t * newton->step[i];
    }
    return newton->ncp->evaluate(newton->trial, newton->trialF, newton->ncp->context);
}

// Largest t = 1, 1/2, 1/4, ... that meets the nonmonotone rule. Leaves the trial point.
static bool searchLine(NewtonSearch* newton, double reference, double* merit) {
    double slope = dot(newton->gradient, newton->step, newton->n);
    double t = 1.0;
    for (int k = 0; k < halvings; ++k, t *= 0.5) {
        if (!evaluateTrial(newton, t)) {
            continue;
        }
        *merit = meritOf(newton, newton->trial, newton->trialF);
        if (*merit <= reference + armijo * t * slope) {
            return true;
        }
    }
    return false;
}

static void acceptTrial(NewtonSearch* newton) {
    memcpy(newton->z, newton->trial, sizeof(double) * (size_t)newton->n);
    memcpy(newton->F, newton->trialF, sizeof(double) * (size_t)newton->n);
}

// The whole natural-map step, where it shrinks the natural residual.
static bool tryNaturalStep(NewtonSearch* newton, double* merit) {
    bool isSingular;
    linearise(newton, tp_naturalMap);
    assemble(newton, 0.0);
    if (!solveForStep(newton, &isSingular) || !evaluateTrial(newton, 1.0)) {
        return false;
    }
    double before = naturalResidual(newton, newton->z, newton->F);
    double after = naturalResidual(newton, newton->trial, newton->trialF);
    *merit = meritOf(newton, newton->trial, newton->trialF);
    return after <= shrinkage * before;
}

// A step of Fischer-Burmeister with what it takes to descend. Leaves the trial point.
static bool tryMeritStep(NewtonSearch* newton, double reference, double* merit) {
    linearise(newton, tp_fischerBurmeister);
    assemble(newton, 0.0);
    computeGradient(newton);
    double size = tpMaxAbs(newton->H.values, newton->H.starts[newton->n]);
    double proximal = 0.0;
    for (int k = 0; k < 5; ++k) {
        bool isSingular;
        if (k > 0) {
            proximal = k == 1 ? 1e-8 * size : 100.0 * proximal;
            assemble(newton, proximal);
        }
        if (solveForStep(newton, &isSingular) && !(isSingular && k == 0) && isDescent(newton) &&
            searchLine(newton, reference, merit)) {
            return true;
        }
    }
    for (int i = 0; i < newton->n; ++i) {
        newton->step[i] = -newton->gradient[i];
    }
    return searchLine(newton, reference, merit);
}

static double largestMerit(const double* recent, int count, int length) {
    double largest = 0.0;
    for (int k = 0; k < count && k < length; ++k) {
        largest = tpLarger(largest, recent[(count - 1 - k) % merits]);
    }
    return largest;
}

static tpSolveStatus iterate(NewtonSearch* newton, double* best, int* iterations) {
    double recent[merits];
    int length = newton->options->memoryLength < merits ? newton->options->memoryLength : merits;
    length = length < 1 ? 1 : length;
    double bestResidual = HUGE_VAL;
    int extra = 2; // steps after the tolerance is met, while they gain a factor of ten
    double merit = meritOf(newton, newton->z, newton->F);
    for (int k = 0; k <= newton->options->iterationLimit; ++k) {
        double residual = newton->judge(newton->z, newton->F, newton->judgeContext);
        double before = bestResidual;
        if (residual < bestResidual) {
            bestResidual = residual;
            memcpy(best, newton->z, sizeof(double) * (size_t)newton->n);
        }
        bool isGaining = residual < 0.1 * before;
        if (bestResidual <= newton->options->tolerance &&
            (extra-- == 0 || !isGaining || residual == 0.0)) {
            return tp_solved;
        }
        if (k == newton->options->iterationLimit || tpSolverMemory_IsSpent(newton->memory)) {
            break;
        }
        if (!newton->ncp->jacobian(newton->z, newton->jacobian, newton->ncp->context)) {
            return tp_numericalTrouble;
        }
        recent[k % merits] = merit;
        bool isTaken = newton->options->function == tp_naturalMap && tryNaturalStep(newton, &merit);
        if (!isTaken && !tryMeritStep(newton, largestMerit(recent, k + 1, length), &merit)) {
            return bestResidual <= newton->options->tolerance ? tp_solved : tp_stalled;
        }
        acceptTrial(newton);
        *iterations += 1;
    }
    return tp_iterationLimit;
}

tpSolveStatus tpNewton_Run(const tpNcp* ncp, const tpNewtonOptions* options, tpNewtonJudge judge,
                           void* judgeContext, tpSolverMemory* memory, double* z, int* iterations) {
    tpArena* arena = &memory->arena;
    NewtonSearch newton = { .ncp = ncp,
                            .options = options,
                            .memory = memory,
                            .judge = judge,
                            .judgeContext = judgeContext,
                            .n = ncp->n,
                            .z = TP_SCRATCH(arena, double, ncp->n) };
    if (newton.z == NULL || !createNewton(&newton)) {
        return tp_solverOutOfMemory;
    }
    memcpy(newton.z, z, sizeof(double) * (size_t)ncp->n);
    if (!ncp->evaluate(newton.z, newton.F, ncp->context)) {
        return tp_numericalTrouble;
    }
    tpSolveStatus status = iterate(&newton, z, iterations);
    return arena->failed ? tp_solverOutOfMemory : status;
}
