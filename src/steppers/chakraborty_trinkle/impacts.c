#include "steppers/chakraborty_trinkle/impacts.h"

#include <string.h>

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"

// Rows of a velocity problem that is solved to rounding.
enum { finestRows = 60 };

// Velocities that are rounding, in units of speed.
static const double restSpeed = 1e-13;

// Contacts nearer than this where a step ends are closed, in units of length.
static const double closedGap = 1e-9;

// Without restitution impacts are located only if there are so few contacts.
enum { fewContacts = 12 };

// The shortest parts in which impacts are located, in halvings of a step, for up to so many bodies:
// many hit each other all the time, and all of them take the short parts.
enum { deepestLocating = 7, deepestOfMany = 2 };
static const struct {
    int bodyCount, halvings;
} deepest[] = { { 6, deepestLocating }, { 16, 5 }, { 40, 3 } };

// Approaches that are worth locating: parts of the largest speed, with restitution and without, and
// without of the threshold of bounces.
static const double leastPart = 1e-6, hardPart = 0.02, hardThreshold = 0.125;

// Energy may rise by this part of it in an impact: the tolerance of the solves.
static const double guardSlack = 1e-10;

double tpImpacts_Energy(const tpSystem* system, const tpStepReport* report) {
    return tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) - report->externalWork;
}

// Slower approaches do not bounce in this part of the step.
static double thresholdOf(const tpImplicitStep* step) {
    const tpImplicitSettings* settings = &step->settings;
    double part = step->base.h / settings->wholeStep;
    return settings->isScaled ? settings->threshold * part : settings->threshold;
}

static double largestSpeed(const tpTimeStep* base) {
    double speed = 0.0;
    for (int i = 0; i < base->bodyCount; ++i) {
        if (tpSystem_IsDynamic(base->system, i)) {
            const tpVelocity* velocity = &base->startVelocities[i];
            speed = fmax(speed, tpVelocity_LargestSpeed(base->system, i, velocity));
        }
    }
    return speed;
}

static bool isShortest(const tpImplicitStep* step) {
    int halvings = deepestOfMany;
    for (int i = (int)(sizeof(deepest) / sizeof(deepest[0])) - 1; i >= 0; --i) {
        halvings = step->base.bodyCount <= deepest[i].bodyCount ? deepest[i].halvings : halvings;
    }
    return step->base.h < 1.5 * ldexp(step->settings.wholeStep, -halvings);
}

bool tpImpacts_AreWorthLocating(const tpImplicitStep* step) {
    const tpTimeStep* base = &step->base;
    const tpRows* rows = &base->rows;
    if (isShortest(step) || step->settings.theta >= 1.0) {
        return false;
    }
    double speed = largestSpeed(base), threshold = step->settings.threshold;
    double lowest = step->settings.isScaled ? ldexp(threshold, -deepestLocating) : threshold;
    double least = fmax(lowest, leastPart * speed);
    double hard = fmax(hardThreshold * threshold, hardPart * speed);
    for (int i = 0; i < base->contactCount; ++i) {
        int row = rows->firstRows[i];
        if (!step->isImpact[step->islands.ofBlock[i]] || step->geometry.carried[i] ||
            !(rows->impulse[row] > 0.0)) {
            continue;
        }
        double approach =
            -tpRows_RowVelocity(rows, row, base->startVelocities, rows->givenA[i], rows->givenB[i]);
        bool bounces = base->laws[i].restitution > 0.0;
        if (bounces ? approach > least : approach > hard && base->contactCount <= fewContacts) {
            return true;
        }
    }
    return false;
}

// Small problems to the last digit, where that can be had; others as exactly as is asked.
static bool solveVelocities(tpImplicitStep* step, tpStepperMemory* memory, tpStepReport* report) {
    tpRows* rows = &step->base.rows;
    tpSystem* system = step->base.system;
    double asked = step->settings.tolerance, largest = 0.0, unit = system->units.speed;
    for (int k = 0; k < rows->rowCount; ++k) {
        largest = fmax(largest, fabs(rows->q[k]));
        rows->velocity[k] = rows->q[k];
    }
    if (largest < restSpeed * unit) {
        return true;
    }
    tpSolveSettings settings = { tp_circularCone, step->settings.directionCount,
                                 fmin(asked, fmax(1e-12 * largest, 1e-16 * unit)), 0.0 };
    if (rows->rowCount <= finestRows && !tpStepBudget_IsSpent(system)) {
        tpStepReport trial = *report;
        if (!tpRows_Solve(rows, system, memory->solver, &settings, &trial)) {
            return false;
        }
        if (trial.failureCount == report->failureCount) {
            *report = trial;
            return true;
        }
    }
    settings.tolerance = asked;
    return tpRows_Solve(rows, system, memory->solver, &settings, report);
}

// Rows of the contacts that are closed where the part ends, in islands that were hit, and of the
// joints. `bounces` receives e u_n^- of each block of a contact. False if memory ran out.
static bool addRows(tpImplicitStep* step, double** bounces, bool* isAny) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    int count = base->contactCount;
    bool* isClosed = TP_SCRATCH(&system->arena, bool, count);
    *bounces = TP_SCRATCH_ZEROED(&system->arena, double, count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        bool isPushed = base->rows.impulse[base->rows.firstRows[i]] > 0.0;
        isClosed[i] = step->isImpact[step->islands.ofBlock[i]] &&
                      (isPushed || base->contacts[i].gap <= closedGap * system->units.length);
    }
    if (!tpTimeStep_UseContacts(base, base->contacts, count)) {
        return false;
    }
    tpRows* rows = &base->rows;
    for (int i = 0; i < count; ++i) {
        if (!isClosed[i]) {
            continue;
        }
        int block = tpRows_AddContact(rows, system, system->poses.data, &base->contacts[i], i,
                                      &base->laws[i], 0.0);
        double approach = tpRows_RowVelocity(rows, rows->firstRows[block], base->kicked,
                                             rows->givenA[block], rows->givenB[block]);
        if (base->laws[i].restitution > 0.0 && approach < -thresholdOf(step)) {
            (*bounces)[block] = base->laws[i].restitution * approach;
            *isAny = true;
        }
    }
    tpJointTreatment treatment = { base->h, 0.0, NULL, 0.0, 0.0 };
    tpJoints_AddRows(rows, system, system->poses.data, &treatment);
    return true;
}

// Solves with this part of the restitution, from the velocities before.
static bool solveWith(tpImplicitStep* step, const double* bounces, double factor,
                      const tpVelocity* before, tpStepperMemory* memory, tpStepReport* report) {
    tpTimeStep* base = &step->base;
    tpRows* rows = &base->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            rows->bias[rows->firstRows[b]] = factor * bounces[b];
        }
    }
    memset(rows->impulse, 0, sizeof(double) * (size_t)rows->rowCount);
    tpTimeStep_SetFreeVelocities(base);
    if (!solveVelocities(step, memory, report)) {
        return false;
    }
    memcpy(base->system->velocities.data, before, sizeof(tpVelocity) * (size_t)base->bodyCount);
    tpRows_ApplyImpulses(rows, base->system->velocities.data);
    return true;
}

// Whether machines without contacts are driven or damped. Joints hold in the mean of a midpoint
// step; a drive that sets in leaves velocities at its end which open the joints, change sign from
// step to step and never decay. Without drives they are small and part of the energy that is kept.
static bool isDriven(const tpImplicitStep* step) {
    const tpRows* rows = &step->base.rows;
    for (int b = 0; step->base.contactCount == 0 && b < rows->blockCount; ++b) {
        tpRowRole role = rows->infos[b].role;
        if (role == tp_servoRole || role == tp_motorRole || role == tp_damperRole ||
            role == tp_frictionRole) {
            return true;
        }
    }
    return false;
}

bool tpImpacts_End(tpImplicitStep* step, tpStepperMemory* memory, tpTally* tally, double energy,
                   tpStepReport* report) {
    tpTimeStep* base = &step->base;
    tpSystem* system = base->system;
    bool isAny = isDriven(step);
    for (int k = 0; k < step->islands.count; ++k) {
        isAny = isAny || step->isImpact[k];
    }
    if (!isAny) {
        return true;
    }
    size_t bytes = sizeof(tpVelocity) * (size_t)base->bodyCount;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    double* bounces;
    bool mayGain = false;
    if (before == NULL || !addRows(step, &bounces, &mayGain)) {
        return false;
    }
    memcpy(before, system->velocities.data, bytes);
    base->freeVelocities = base->freeMeanVelocities = before;
    static const double factors[] = { 1.0, 0.75, 0.5, 0.25, 0.0 };
    enum { factorCount = sizeof(factors) / sizeof(factors[0]) };
    for (int k = mayGain ? 0 : factorCount - 1; k < factorCount; ++k) {
        tpStepReport kept = *report;
        if (!solveWith(step, bounces, factors[k], before, memory, report)) {
            return false;
        }
        double allowed = energy + guardSlack * tpSystem_KineticEnergy(system);
        if (k + 1 == factorCount || tpStepBudget_IsSpent(system) ||
            tpImpacts_Energy(system, report) <= allowed) {
            break;
        }
        kept.solveCount = report->solveCount;
        kept.iterationCount = report->iterationCount;
        *report = kept;
        tpStepReport_AddNote(report, "the energy guard acted");
    }
    tpRowVelocities velocities = { before, system->velocities.data, NULL };
    tpRows_AccountEnergy(&base->rows, &velocities, report);
    tpJoints_AddReactions(system, &base->rows, step->settings.wholeStep);
    return tpTimeStep_Tally(base, tally);
}
