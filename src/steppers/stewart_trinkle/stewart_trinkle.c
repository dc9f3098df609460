// Implicit time stepping with inelastic contact and Coulomb friction [StewartTrinkle96].
//
// The step in the paper's order: predict the configuration, find contacts there, linearise, solve for
// impulses, move; in the nonlinear variant repeat from the configuration found (sec. 3.4). README.md
// beside this file has the equations and the table of symbols.

#include "steppers/stewart_trinkle/stewart_trinkle.h"

#include <string.h>

#include "dynamics/joints.h"
#include "steppers/drift.h"

// A contact counts as closed below this gap, m: bodies placed in contact touch from the first step on.
static const double closedGap = 1e-9;

// Overlap at the end of a step that makes a contact active, m: far below any use, above rounding.
static const double violation = 1e-12;

// The fixed point of sec. 3.4 has settled when no velocity changes by more than this, relative.
static const double fixedPointTolerance = 1e-13;

enum { maxPasses = 8, maxFixedPoints = 40 };

// Where the rows are linearised: poses, and the velocities that led there from the start of the step.
typedef struct tpLinearisation {
    tpPose* poses;
    const tpVelocity* moves;   // NULL: the poses are those of the start
    const tpVelocity* towards; // the same as rows have them, tpTimeStep_LinearMoves
} tpLinearisation;

// The bias of a normal row, u_n = n . v + bias: gap / h - n . (v that led to the gap).
static double normalBias(const tpTimeStep* step, const tpLinearisation* at, int block,
                         int contact) {
    double bias = step->contacts[contact].gap / step->h;
    if (at->moves != NULL) {
        const tpContact* c = &step->contacts[contact];
        int row = step->rows.firstRows[block];
        bias -= tpRows_RowVelocity(&step->rows, row, at->towards, c->bodyA, c->bodyB);
    }
    return bias;
}

// The gap to which velocities would lead, for a contact found at the start.
static double linearGap(const tpTimeStep* step, const tpContact* contact,
                        const tpVelocity* velocities) {
    tpVec3 u = tpSub(tpTimeStep_PointVelocity(step, contact->bodyA, contact->pointA, velocities),
                     tpTimeStep_PointVelocity(step, contact->bodyB, contact->pointB, velocities));
    return contact->gap + step->h * tpDot(u, contact->normal);
}

// The active set of sec. 4: active in the step before, or violated at the prediction.
static bool* predictActive(tpTimeStep* step, const tpLinearisation* at,
                           const tpContactHistory* history) {
    bool* isActive = TP_SCRATCH(&step->system->arena, bool, step->contactCount);
    int cursor = 0;
    for (int i = 0; isActive != NULL && i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContactMemory* last = tpContactHistory_Find(history, contact, &cursor);
        bool wasActive = last != NULL && tpLengthSquared(last->impulse) > 0.0;
        double gap =
            at->moves != NULL ? contact->gap : linearGap(step, contact, step->startVelocities);
        isActive[i] = wasActive || gap < closedGap;
    }
    return isActive;
}

// On the level of velocities (sec. 3.3): closed at the start of the step; with prediction also what
// would be violated at its end.
static bool* closedContacts(tpTimeStep* step, bool isPredicted) {
    bool* isActive = TP_SCRATCH(&step->system->arena, bool, step->contactCount);
    tpContact* start;
    int startCount;
    if (isActive == NULL || tpSystem_FindContacts(step->system, step->startPoses, step->margins,
                                                  &start, &startCount) != tp_success) {
        return NULL;
    }
    int cursor = 0;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        const tpContact* same =
            tpContacts_FindSame(tpContact_Key(contact), start, startCount, &cursor);
        isActive[i] =
            (same != NULL && same->gap <= closedGap) || (isPredicted && contact->gap < 0.0);
    }
    return isActive;
}

static void addContactRows(tpTimeStep* step, const tpLinearisation* at, const bool* isActive,
                           bool onVelocities) {
    for (int i = 0; i < step->contactCount; ++i) {
        if (!isActive[i]) {
            continue;
        }
        int block = tpRows_AddContact(&step->rows, step->system, at->poses, &step->contacts[i], i,
                                      &step->laws[i], 0.0);
        if (!onVelocities) {
            step->rows.bias[step->rows.firstRows[block]] = normalBias(step, at, block, i);
        }
    }
}

// Adds the contacts that are violated where the step ends: those with the same features, or, where
// other features have met, those of the same two shapes that come nearest to it. False where there is
// none to add.
static bool addViolated(const tpTimeStep* step, bool* isActive) {
    bool isAdded = false;
    for (int k = 0, i = 0; k < step->endCount; ++k) {
        const tpContact* end = &step->endContacts[k];
        if (!(end->gap < -violation)) {
            continue;
        }
        while (i < step->contactCount && (step->contacts[i].shapeA < end->shapeA ||
                                          (step->contacts[i].shapeA == end->shapeA &&
                                           step->contacts[i].shapeB < end->shapeB))) {
            ++i;
        }
        int same = -1, nearest = -1;
        bool hasActive = false;
        for (int j = i; j < step->contactCount && step->contacts[j].shapeA == end->shapeA &&
                        step->contacts[j].shapeB == end->shapeB;
             ++j) {
            same = step->contacts[j].feature == end->feature ? j : same;
            hasActive = hasActive || isActive[j];
            bool isNearer =
                nearest < 0 || tpDistanceBetween(step->contacts[j].pointA, end->pointA) <
                                   tpDistanceBetween(step->contacts[nearest].pointA, end->pointA);
            nearest = isNearer ? j : nearest;
        }
        int chosen = same >= 0 ? same : hasActive ? -1 : nearest;
        if (chosen >= 0 && !isActive[chosen]) {
            isActive[chosen] = true;
            isAdded = true;
        }
    }
    return isAdded;
}

// The same where contacts are linearised at the start: what the linearised gaps at the end say, for
// there the linear rows are all that the problem knows of the shapes.
static bool addLinearlyViolated(const tpTimeStep* step, bool* isActive) {
    bool isAdded = false;
    for (int i = 0; i < step->contactCount; ++i) {
        const tpContact* contact = &step->contacts[i];
        if (!isActive[i] && linearGap(step, contact, step->moves) < -violation) {
            isActive[i] = true;
            isAdded = true;
        }
    }
    return isAdded;
}

// Solves for the impulses of the step with the contacts that are active.
static bool solveActive(tpTimeStep* step, const tpLinearisation* at, const bool* isActive,
                        bool onVelocities, tpStepperMemory* memory, const tpSolveSettings* settings,
                        tpStepReport* report) {
    tpRows_Clear(&step->rows);
    addContactRows(step, at, isActive, onVelocities);
    tpJointTreatment treatment = { step->h, 1.0, at->towards, step->h };
    tpJoints_AddRows(&step->rows, step->system, at->poses, &treatment);
    tpTimeStep_SetFreeVelocities(step);
    tpTimeStep_WarmStart(step, &memory->history, 1.0);
    if (!tpRows_Solve(&step->rows, step->system, memory->solver, settings, report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    return true;
}

// Finds contacts where `at` says, solves, and solves again while contacts outside the active set are
// violated where the step ends. A pile that is hit grows its active set layer by layer; when that takes
// long, the last pass has every contact there is.
static bool solveAt(tpTimeStep* step, const tpLinearisation* at, tpStepperMemory* memory,
                    const tpSolveSettings* settings, tpStepReport* report) {
    bool* isActive = NULL;
    for (int pass = 0; pass < maxPasses; ++pass) {
        if (isActive == NULL) {
            if (!tpTimeStep_FindContacts(step, at->poses)) {
                return false;
            }
            isActive = predictActive(step, at, &memory->history);
        }
        if (isActive == NULL || !solveActive(step, at, isActive, false, memory, settings, report)) {
            return false;
        }
        // A body that was hit may reach others that nobody looked at: look farther.
        if (tpTimeStep_Outran(step, at->moves)) {
            isActive = NULL;
            continue;
        }
        if (at->moves != NULL && !tpTimeStep_FindEndContacts(step)) {
            return false;
        }
        bool isAdded =
            at->moves != NULL ? addViolated(step, isActive) : addLinearlyViolated(step, isActive);
        if (!isAdded) {
            return true;
        }
        if (pass == maxPasses - 2) {
            memset(isActive, true, sizeof(bool) * (size_t)step->contactCount);
        }
    }
    return true;
}

// Contact rows n . v >= 0 for what is closed [sec. 3.3]: a solution always exists, and overlaps that
// have come about stay. Geometry is taken at q + h v, as everywhere in the paper.
static bool solveVelocities(tpTimeStep* step, const tpLinearisation* at, bool isPredicted,
                            tpStepperMemory* memory, const tpSolveSettings* settings,
                            tpStepReport* report) {
    if (!tpTimeStep_FindContacts(step, at->poses)) {
        return false;
    }
    bool* isActive = closedContacts(step, isPredicted);
    return isActive != NULL && solveActive(step, at, isActive, true, memory, settings, report);
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
    tpVelocity* towards = TP_SCRATCH(arena, tpVelocity, step->bodyCount);
    if (moves == NULL || towards == NULL) {
        return false;
    }
    double last = INFINITY;
    for (int k = 0; k < maxFixedPoints; ++k) {
        if (!solveAt(step, at, memory, settings, report)) {
            return false;
        }
        double change = k > 0 ? largestChange(step, step->moves, moves) : INFINITY;
        if (change <= fixedPointTolerance || (k > 20 && change < 1e-10 && change >= last)) {
            return true;
        }
        last = change;
        memcpy(moves, step->moves, sizeof(tpVelocity) * (size_t)step->bodyCount);
        tpTimeStep_Move(step, moves, at->poses);
        tpTimeStep_LinearMoves(step, towards);
        at->moves = moves;
        at->towards = towards;
    }
    // Features that come and go keep it from settling: rows of all of them together do.
    memcpy(step->system->poses.data, step->startPoses, sizeof(tpPose) * (size_t)step->bodyCount);
    tpDriftSettings careful = { *settings, 1.0, true };
    double miss;
    if (!tpDrift_Solve(step, memory, &careful, &miss, report)) {
        return false;
    }
    report->fallback = "rows that stay";
    report->failureCount += miss > tpClosedGap ? 1 : 0;
    report->converged = report->converged && miss <= tpClosedGap;
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
    tpLinearisation at = { NULL, NULL, NULL };
    bool isDone = tpTimeStep_Begin(&step, system, h, h, report);
    if (isDone) {
        at.poses = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
        isDone = at.poses != NULL;
    }
    if (isDone) {
        // Contacts are taken at q + h v, where the paper linearises, or at q.
        bool isMoved = isPredicted || variant == tp_velocityVariant;
        at.moves = at.towards = isMoved ? step.startVelocities : NULL;
        if (isMoved) {
            tpTimeStep_Move(&step, step.startVelocities, at.poses);
        } else if (system->bodyCount > 0) {
            memcpy(at.poses, step.startPoses, sizeof(tpPose) * (size_t)system->bodyCount);
        }
        isDone = variant == tp_nonlinearVariant
                     ? solveFixedPoint(&step, &at, memory, &settings, report)
                 : variant == tp_velocityVariant
                     ? solveVelocities(&step, &at, isPredicted, memory, &settings, report)
                     : solveAt(&step, &at, memory, &settings, report);
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
