// Implicit time stepping with inelastic contact and Coulomb friction [StewartTrinkle96].
//
// The step in the paper's order: predict the configuration, find contacts there, linearise, solve for
// impulses, move; in the nonlinear variant repeat from the configuration found (sec. 3.4). README.md
// beside this file has the equations and the table of symbols.

#include "steppers/stewart_trinkle/stewart_trinkle.h"

#include <string.h>

#include "dynamics/joints.h"
#include "steppers/memory.h"

// A contact counts as closed for the velocity-level rows of sec. 3.3 below this gap, m.
static const double closedGap = 1e-9;

// The fixed point of sec. 3.4 has settled when no velocity changes by more than this, relative.
static const double fixedPointTolerance = 1e-13;

enum { maxPasses = 5, maxFixedPoints = 60 };

// Where the rows are linearised: poses, and the velocities that led there from the start of the step.
typedef struct tpLinearisation {
    tpPose* poses;
    const tpVelocity* moves; // NULL: the poses are those of the start
} tpLinearisation;

// The bias of a normal row, u_n = n . v + bias: gap / h - n . (v that led to the gap).
static double normalBias(const tpTimeStep* step, const tpLinearisation* at, int block,
                         int contact) {
    double bias = step->contacts[contact].gap / step->h;
    if (at->moves != NULL) {
        const tpContact* c = &step->contacts[contact];
        int row = step->rows.firstRows[block];
        bias -= tpRows_RowVelocity(&step->rows, row, at->moves, c->bodyA, c->bodyB);
    }
    return bias;
}

static void addContactRows(tpTimeStep* step, const tpLinearisation* at, bool onVelocities) {
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        bool isClosed = contact->gap <= (at->moves != NULL ? 0.0 : closedGap);
        if (onVelocities && !isClosed) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, step->system, at->poses, contact, i,
                                      &step->laws[i], 0.0);
        if (!onVelocities) {
            step->rows.bias[step->rows.firstRows[block]] = normalBias(step, at, block, i);
        }
    }
}

// Finds contacts where `at` says and solves for the impulses of the step.
static bool solveAt(tpTimeStep* step, const tpLinearisation* at, bool onVelocities,
                    tpStepperMemory* memory, const tpSolveSettings* settings,
                    tpStepReport* report) {
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (!tpTimeStep_FindContacts(step, at->poses)) {
            return false;
        }
        addContactRows(step, at, onVelocities);
        tpJointTreatment treatment = { step->h, 1.0, at->moves };
        tpJoints_AddRows(&step->rows, step->system, at->poses, &treatment);
        tpTimeStep_SetFreeVelocities(step);
        tpTimeStep_WarmStart(step, &memory->history);
        if (!tpRows_Solve(&step->rows, step->system, memory->solver, settings, report)) {
            return false;
        }
        tpTimeStep_ApplyImpulses(step);
        // A body that was hit may reach others that nobody looked at: look farther, solve again.
        if (!tpTimeStep_Outran(step, at->moves)) {
            return true;
        }
    }
    return true;
}

static double largestChange(const tpTimeStep* step, const tpVelocity* a, const tpVelocity* b) {
    double change = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        double size = 1.0 + tpLength(b[i].linear) + tpLength(b[i].angular);
        double difference = tpDistanceBetween(a[i].linear, b[i].linear) +
                            tpDistanceBetween(a[i].angular, b[i].angular);
        change = fmax(change, difference / size);
    }
    return change;
}

// Linearise, solve, and linearise again where the solution leads, until it stays [sec. 3.4].
static bool solveFixedPoint(tpTimeStep* step, tpLinearisation* at, tpStepperMemory* memory,
                            const tpSolveSettings* settings, tpStepReport* report) {
    tpArena* arena = &step->system->arena;
    tpVelocity* moves = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    if (moves == NULL) {
        return false;
    }
    double last = INFINITY;
    for (int k = 0; k < maxFixedPoints; ++k) {
        if (!solveAt(step, at, false, memory, settings, report)) {
            return false;
        }
        double change = k > 0 ? largestChange(step, step->moves, moves) : INFINITY;
        if (change <= fixedPointTolerance || (k > 20 && change < 1e-10 && change >= last)) {
            return true;
        }
        last = change;
        memcpy(moves, step->moves, sizeof(tpVelocity) * (size_t)step->bodyCount);
        tpTimeStep_Move(step, moves, at->poses);
        at->moves = moves;
    }
    report->failureCount += 1;
    report->converged = false;
    report->fallback = "last fixed point";
    return true;
}

static bool hasRestitution(const tpTimeStep* step) {
    for (int i = 0; i < step->contactCount; ++i) {
        if (step->laws[i].restitution > 0.0) {
            return true;
        }
    }
    return false;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpStepperMemory* memory = state;
    tpSolveSettings settings = tpSolveSettings_FromOptions(options);
    int variant = (int)options->values[tp_variantOption];
    bool isPredicted = (int)options->values[tp_lineariseOption] == tp_predictedLinearisation;
    tpTimeStep step;
    tpLinearisation at = { NULL, NULL };
    bool isDone = tpTimeStep_Begin(&step, system, h, report);
    if (isDone) {
        at.poses = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
        isDone = at.poses != NULL;
    }
    if (isDone) {
        // Contacts and inertia are taken at q + h v, where the paper linearises, or at q.
        at.moves = isPredicted ? step.startVelocities : NULL;
        if (isPredicted) {
            tpTimeStep_Move(&step, step.startVelocities, at.poses);
        } else if (system->bodyCount > 0) {
            memcpy(at.poses, step.startPoses, sizeof(tpPose) * (size_t)system->bodyCount);
        }
        isDone =
            variant == tp_nonlinearVariant
                ? solveFixedPoint(&step, &at, memory, &settings, report)
                : solveAt(&step, &at, variant == tp_velocityVariant, memory, &settings, report);
    }
    if (!isDone || !tpTimeStep_Finish(&step, memory->solver, &memory->history, report)) {
        report->undone = true;
        report->note = "out of memory";
        return;
    }
    if (hasRestitution(&step)) {
        report->note = "stewart-trinkle is inelastic: restitution is not used";
    }
}

static const tpOptionIndex used[] = { tp_toleranceOption, tp_coneOption,      tp_directionsOption,
                                      tp_variantOption,   tp_lineariseOption, tp_optionCount };

const tpStepper tpStewartTrinkleStepper = {
    .name = "stewart-trinkle",
    .summary = "implicit time stepping, exact complementarity, inelastic impacts",
    .options = used,
    .create = tpStepperMemory_Create,
    .destroy = tpStepperMemory_Destroy,
    .step = step,
    .savedSize = tpStepperMemory_SavedSize,
    .save = tpStepperMemory_Save,
    .restore = tpStepperMemory_Restore,
};
