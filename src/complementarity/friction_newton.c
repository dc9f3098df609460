// Semismooth Newton on Alart and Curnier's function [AlartCurnier91].
//
// With r^ = r - u (the island is normalised, so its step is one),
//
//     F_N = r_N - max(0, r^_N),    F_T = r_T - P(r^_T; mu max(0, r^_N)),
//
// P the projection on the disc of that radius. A block is open (F = r), sticking (F = u) or
// sliding. Open blocks leave the linear system. FRICTION.md has the derivatives.

#include "complementarity/friction_newton.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// The line search: merits remembered, halvings of a step, and first steps that may go uphill by
// freeGrowth (of the squared norm): where a contact changes its state, Newton finds the right set
// of states in a few full steps that a descent would never take. What changes in one place of many
// bodies takes more of them to come through: of 477 problems of walls, jenga and wedges that are
// struck 41 were not solved with four, 29 with eight. A few fine hulls that roll need four.
enum { MEMORY = 6, HALVINGS = 6, FREE_STEPS = 4, STARTING_SWEEPS = 10 };
enum { MANY_BODIES = 20, FREE_STEPS_OF_MANY = 8 };
// If they end higher than lostGrowth it was the wrong way.
static const double freeGrowth = 1e4, lostGrowth = 1e2;

// Armijo's constant on the squared norm of the function.
static const double sufficientDecrease = 1e-4;

// Shift that keeps the systems of rank deficient islands regular, in units of the mean diagonal:
// what it leaves undone in one step, the next step corrects.
static const double regularisation = 1e-9;

// Rigid contacts of bodies in space need no matrices.
static bool createLaws(tpFrictionNewton* newton, tpArena* arena) {
    const tpFrictionIsland* island = newton->island;
    if (!tpFrictionIsland_IsByBodies(island) || island->componentCount != 6 ||
        island->compliance != NULL) {
        return true;
    }
    tpFrictionLaw* laws = TP_SCRATCH_ZEROED(arena, tpFrictionLaw, island->blockCount);
    for (int b = 0; laws != NULL && b < island->blockCount; ++b) {
        laws[b].isPlain =
            island->kind[b] == tp_frictionCone && tpFrictionIsland_Rows(island, b) == 3;
    }
    newton->linear.laws = laws;
    return laws != NULL;
}

bool tpFrictionNewton_Create(tpFrictionNewton* newton, tpFrictionIsland* island, tpArena* arena) {
    int blocks = island->blockCount, rows = island->rowCount;
    newton->island = island;
    newton->iterations = 0;
    newton->isTooDear = false;
    if (!tpFrictionLinear_Create(&newton->linear, island, arena)) {
        return false;
    }
    newton->inPlay = TP_SCRATCH(arena, bool, blocks);
    newton->velocity = TP_SCRATCH(arena, double, blocks * newton->linear.lawStride);
    newton->impulse = TP_SCRATCH(arena, double, blocks * newton->linear.lawStride);
    newton->function = TP_SCRATCH(arena, double, rows);
    newton->step = TP_SCRATCH(arena, double, rows);
    newton->scratch = TP_SCRATCH(arena, double, rows);
    newton->r = TP_SCRATCH(arena, double, rows);
    newton->u = TP_SCRATCH(arena, double, rows);
    newton->trial = TP_SCRATCH(arena, double, rows);
    newton->trialVelocity = TP_SCRATCH(arena, double, rows);
    if (arena->failed || !createLaws(newton, arena)) {
        return false;
    }
    memcpy(newton->r, island->r, sizeof(double) * (size_t)rows);
    memcpy(newton->u, island->u, sizeof(double) * (size_t)rows);
    return true;
}

bool tpFrictionAlartCurnier(int n, int kind, double mu, const double* r, const double* u, double* F,
                            double* A, double* B) {
    memset(A, 0, sizeof(double) * (size_t)(n * n));
    memset(B, 0, sizeof(double) * (size_t)(n * n));
    if (kind == tp_frictionFree) {
        for (int i = 0; i < n; ++i) {
            F[i] = u[i];
            A[i * n + i] = 1.0;
        }
        return true;
    }
    double normal = r[0] - u[0];
    if (!(normal > 0.0)) {
        memcpy(F, r, sizeof(double) * (size_t)n);
        return false;
    }
    F[0] = u[0];
    double hat[TP_FRICTION_MAX_ROWS], norm = 0.0, radius = mu * normal;
    for (int i = 1; i < n; ++i) {
        hat[i] = r[i] - u[i];
        norm += hat[i] * hat[i];
    }
    norm = sqrt(norm);
    A[0] = 1.0;
    if (norm <= radius && radius > 0.0) {
        for (int i = 1; i < n; ++i) {
            F[i] = u[i];
            A[i * n + i] = 1.0;
        }
        return true;
    }
    // Sliding: dF_T = dr_T - mu t (dr_N - du_N) - ratio (I - t t') (dr_T - du_T).
    double ratio = norm > 0.0 ? radius / norm : 0.0;
    for (int i = 1; i < n; ++i) {
        F[i] = r[i] - ratio * hat[i];
    }
    double inverse = norm > 0.0 ? 1.0 / norm : 0.0;
    for (int i = 1; i < n; ++i) {
        double ti = hat[i] * inverse;
        A[i * n] = mu * ti;
        B[i * n] = -mu * ti;
        for (int j = 1; j < n; ++j) {
            double projector = (i == j ? 1.0 : 0.0) - ti * hat[j] * inverse;
            A[i * n + j] = ratio * projector;
            B[i * n + j] = (i == j ? 1.0 : 0.0) - ratio * projector;
        }
    }
    return true;
}

// The same as below for a contact of three rows: its squares are added to the sum.
static inline bool evaluatePlain(double mu, const double* r, const double* u, double weight,
                                 const double* center, double* F, tpFrictionLaw* law, double* sum) {
    double local[3];
    for (int i = 0; i < 3; ++i) {
        local[i] = u[i] + weight * (r[i] - center[i]);
    }
    bool isInPlay = tpFrictionLaw_Find(mu, r, local, F, law);
    for (int i = 0; i < 3; ++i) {
        *sum += F[i] * F[i];
    }
    return isInPlay;
}

// Square of |F| at (r, u), with F and its derivatives.
static double evaluate(tpFrictionNewton* newton, const double* r, const double* u, double weight,
                       const double* center) {
    const tpFrictionIsland* island = newton->island;
    tpFrictionLaw* laws = newton->linear.laws;
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b], n = tpFrictionIsland_Rows(island, b);
        double local[TP_FRICTION_MAX_ROWS], *F = newton->function + row;
        if (laws != NULL && laws[b].isPlain) {
            newton->inPlay[b] = evaluatePlain(island->mu[b], r + row, u + row, weight, center + row,
                                              F, &laws[b], &sum);
            continue;
        }
        for (int i = 0; i < n; ++i) {
            local[i] = u[row + i] + weight * (r[row + i] - center[row + i]);
        }
        size_t law = (size_t)b * (size_t)newton->linear.lawStride;
        newton->inPlay[b] =
            tpFrictionAlartCurnier(n, island->kind[b], island->mu[b], r + row, local, F,
                                   newton->velocity + law, newton->impulse + law);
        for (int i = 0; i < n; ++i) {
            sum += F[i] * F[i];
        }
    }
    return sum;
}

// What the next step takes.
static double stepWork(tpFrictionNewton* newton) {
    return newton->island->newtonWork = tpFrictionLinear_Work(&newton->linear, newton->inPlay);
}

// The Newton direction into step. False if memory ran out.
static bool direction(tpFrictionNewton* newton, double weight) {
    tpFrictionLinear* linear = &newton->linear;
    newton->island->work += newton->island->newtonWork;
    if (!tpFrictionLinear_Factorise(linear, newton->inPlay, newton->velocity, newton->impulse,
                                    weight)) {
        return false;
    }
    tpFrictionLinear_SolveFor(linear, newton->inPlay, newton->velocity, newton->function,
                              newton->step, newton->scratch);
    return true;
}

// Goes to the trial point, at which the function is known.
static void accept(tpFrictionNewton* newton) {
    double *r = newton->r, *u = newton->u;
    newton->r = newton->trial;
    newton->u = newton->trialVelocity;
    newton->trial = r;
    newton->trialVelocity = u;
}

// Walks along the step until the merit falls below the largest of the last few: sliding contacts
// change their minds in a way that a monotone search takes for failure. False if no length does.
// The velocities of the whole step are found from its impulses, those of shorter ones between.
static bool lineSearch(tpFrictionNewton* newton, double weight, const double* center,
                       double reference, double* merit) {
    const tpFrictionIsland* island = newton->island;
    int n = island->rowCount;
    double t = 1.0, *whole = newton->scratch;
    for (int h = 0; h < HALVINGS; ++h, t *= 0.5) {
        for (int i = 0; i < n; ++i) {
            newton->trial[i] = newton->r[i] + t * newton->step[i];
        }
        if (h == 0) {
            tpFrictionIsland_Velocity(island, newton->trial, newton->trialVelocity);
            memcpy(whole, newton->trialVelocity, sizeof(double) * (size_t)n);
        } else {
            for (int i = 0; i < n; ++i) {
                newton->trialVelocity[i] = newton->u[i] + t * (whole[i] - newton->u[i]);
            }
        }
        *merit = evaluate(newton, newton->trial, newton->trialVelocity, weight, center);
        if (*merit <= (1.0 - 2.0 * sufficientDecrease * t) * reference) {
            if (h > 0) {
                tpFrictionIsland_Velocity(island, newton->trial, newton->trialVelocity);
                *merit = evaluate(newton, newton->trial, newton->trialVelocity, weight, center);
            }
            accept(newton);
            return true;
        }
    }
    return false;
}

void tpFrictionNewton_Predict(tpFrictionNewton* newton, double weight, const double* center,
                              const double* previous, const double* previousVelocity,
                              double factor) {
    for (int i = 0; i < newton->island->rowCount; ++i) {
        newton->trial[i] = newton->r[i] + factor * (newton->r[i] - previous[i]);
        newton->trialVelocity[i] = newton->u[i] + factor * (newton->u[i] - previousVelocity[i]);
    }
    double here = evaluate(newton, newton->r, newton->u, weight, center);
    if (evaluate(newton, newton->trial, newton->trialVelocity, weight, center) < here) {
        accept(newton);
    }
}

double tpFrictionNewton_Run(tpFrictionNewton* newton, double weight, const double* center,
                            bool isBold, double fraction, int limit, tpSolveStatus* status) {
    tpFrictionIsland* island = newton->island;
    double history[MEMORY];
    double merit = evaluate(newton, newton->r, newton->u, weight, center);
    double goal = fraction * fraction * merit;
    bool isLarge = island->bodyCount >= MANY_BODIES;
    int freeSteps = !isBold ? 0 : isLarge ? FREE_STEPS_OF_MANY : FREE_STEPS;
    *status = tp_iterationLimit;
    for (int k = 0; k < limit && !tpFrictionIsland_IsSpent(island); ++k) {
        history[k % MEMORY] = k > 0 && k < freeSteps ? history[0] : merit;
        if (k == freeSteps && merit > lostGrowth * history[0]) {
            *status = tp_stalled;
            break;
        }
        if (tpFrictionIsland_IsTooDear(island, stepWork(newton))) {
            newton->isTooDear = true;
            break;
        }
        if (!direction(newton, weight)) {
            *status = tp_solverOutOfMemory;
            break;
        }
        ++newton->iterations;
        double reference = merit, found;
        for (int i = 0; i < MEMORY && i <= k; ++i) {
            reference = fmax(reference, history[i]);
        }
        if (!lineSearch(newton, weight, center, k < freeSteps ? freeGrowth * reference : reference,
                        &found)) {
            *status = tp_stalled;
            break;
        }
        merit = found;
        tpFrictionIsland_Offer(island, newton->r, newton->u);
        if (island->residual <= island->tolerance || merit <= goal) {
            *status = tp_solved;
            break;
        }
    }
    return sqrt(merit);
}

// A start whose residual is below this part of what it is without impulses is near enough.
static const double nearPart = 0.01;

static bool isNear(const tpFrictionIsland* island) {
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            sum += island->weight[b] * island->q[i] * island->q[i];
        }
    }
    return island->residual <= nearPart * sqrt(sum);
}

tpSolveStatus tpFrictionIsland_Newton(tpFrictionIsland* island, const tpFrictionOptions* options,
                                      int limit, tpArena* arena, int* iterations) {
    tpFrictionNewton newton;
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    double* center = tpArena_Get(arena, bytes);
    if (arena->failed || !tpFrictionNewton_Create(&newton, island, arena)) {
        return tp_solverOutOfMemory;
    }
    bool isBold = isNear(island);
    tpSolveStatus status = isBold ? tp_solved : tp_stalled;
    memcpy(newton.r, island->r, bytes);
    memcpy(newton.u, island->u, bytes);
    while (newton.iterations < limit && !newton.isTooDear && !tpFrictionIsland_IsDone(island)) {
        // Where rounding stopped it there is nothing to find by another start.
        if (status == tp_stalled && newton.iterations > 0 && island->residual <= island->enough) {
            break;
        }
        // A start near enough for Newton's method, and a new one where it got lost.
        if (status == tp_stalled) {
            memcpy(newton.r, island->r, bytes);
            memcpy(newton.u, island->u, bytes);
            for (int i = 0; i < STARTING_SWEEPS; ++i) {
                tpFrictionIsland_Sweep(island, options->localProximal, newton.r, newton.u);
                island->work += tpFrictionIsland_SweepWork(island);
            }
            tpFrictionIsland_Velocity(island, newton.r, newton.u);
            tpFrictionIsland_Offer(island, newton.r, newton.u);
            isBold = !isBold;
        }
        memcpy(center, newton.r, bytes);
        tpFrictionNewton_Run(&newton, regularisation, center, isBold, 1e-3,
                             limit - newton.iterations, &status);
        if (status == tp_solverOutOfMemory) {
            break;
        }
    }
    *iterations += newton.iterations;
    return island->residual <= island->tolerance ? tp_solved
           : status == tp_solved                 ? tp_iterationLimit
                                                 : status;
}
