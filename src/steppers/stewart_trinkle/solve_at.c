#include "steppers/stewart_trinkle/solve_at.h"

#include <string.h>

#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "steppers/stewart_trinkle/end_depth.h"
#include "steppers/stewart_trinkle/swings.h"

// Overlap at the end of a step that makes a contact active, in units of length: far below any use,
// above rounding.
static const double violation = 1e-12;

// The true way of springs is met to this, in units of length.
static const double swingTolerance = 1e-11;

enum { maxPasses = 8, maxSwings = 8 };

// The bias of a normal row, u_n = n . v + bias: gap / h - n . (v that led to the gap).
static double normalBias(const tpTimeStep* step, const tpLinearisation* at, int block,
                         int contact) {
    double bias = step->contacts[contact].gap / step->h;
    if (at->meanVelocities != NULL) {
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
        double gap = at->meanVelocities != NULL ? contact->gap
                                                : linearGap(step, contact, step->startVelocities);
        isActive[i] = wasActive || gap < tpTouchingGap * step->system->units.length;
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
        isActive[i] = (same != NULL && same->gap <= tpTouchingGap * step->system->units.length) ||
                      (isPredicted && contact->gap < 0.0);
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
// other features have met, those of the same two shapes that come nearest to it. False if there
// is none to add.
static bool addViolated(const tpTimeStep* step, bool* isActive) {
    bool isAdded = false;
    for (int k = 0, i = 0; k < step->endCount; ++k) {
        const tpContact* end = &step->endContacts[k];
        if (!(end->gap < -violation * step->system->units.length)) {
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
        if (!isActive[i] && linearGap(step, contact, step->meanVelocities) <
                                -violation * step->system->units.length) {
            isActive[i] = true;
            isAdded = true;
        }
    }
    return isAdded;
}

static void markHeld(const tpRows* rows, int block, bool* isHeld) {
    int body;
    for (int k = 0; tpRows_BodyAt(rows, block, k, &body); ++k) {
        if (body >= 0) {
            isHeld[body] = true;
        }
    }
}

// Bodies that nothing holds fly parabolas, so that collisions are located where they happen. The
// scheme itself moves them by h v+, which is lower: where that difference closes a gap, it is kept.
static void flyFreely(tpTimeStep* step) {
    const tpRows* rows = &step->rows;
    bool* isHeld = TP_SCRATCH_ZEROED(&step->system->arena, bool, step->bodyCount);
    if (isHeld == NULL) {
        return;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->kinds[b] == tp_frictionFree || rows->impulse[rows->firstRows[b]] != 0.0) {
            markHeld(rows, b, isHeld);
        }
    }
    for (int i = 0; i < step->bodyCount; ++i) {
        if (tpSystem_IsDynamic(step->system, i)) {
            step->meanVelocities[i].linear =
                tpScale(0.5, tpAdd(step->startVelocities[i].linear, step->pushed[i].linear));
        }
    }
    bool isSettled = false;
    while (!isSettled) {
        isSettled = true;
        for (int i = 0; i < step->bodyCount; ++i) {
            if (isHeld[i]) {
                step->meanVelocities[i].linear = step->pushed[i].linear;
            }
        }
        for (int b = 0; b < rows->blockCount; ++b) {
            bool isFlying = (rows->bodyA[b] >= 0 && !isHeld[rows->bodyA[b]]) ||
                            (rows->bodyB[b] >= 0 && !isHeld[rows->bodyB[b]]);
            if (!isFlying || rows->infos[b].source != tp_contactSource) {
                continue;
            }
            const tpContact* contact = &step->contacts[rows->infos[b].index];
            int row = rows->firstRows[b];
            double speed = rows->bias[row] + tpRows_RowVelocity(rows, row, step->meanVelocities,
                                                                contact->bodyA, contact->bodyB);
            if (step->h * speed < -violation * step->system->units.length) {
                markHeld(rows, b, isHeld);
                isSettled = false;
            }
        }
    }
}

// Solves for the impulses of the step with the contacts that are active, to the residual `rough` or
// as the settings say.
static bool solveActive(tpTimeStep* step, const tpLinearisation* at, const bool* isActive,
                        bool onVelocities, double rough, const tpStepProblem* problem) {
    tpRows_Clear(&step->rows);
    addContactRows(step, at, isActive, onVelocities);
    tpJointTreatment treatment = { step->h, 1.0, at->towards, step->h, 0.0, false };
    if (problem->taut != NULL) {
        tpTaut_AddJointRows(problem->taut, step, at->poses, &treatment);
    } else if (tpSwings_Find(step)) {
        tpSwings_AddJointRows(step, at->poses, &treatment);
    } else {
        return false;
    }
    const tpStewartTrinkleSettings* settings = problem->settings;
    if (problem->share.part < 1.0 && !tpStepShare_SlowCorrections(&problem->share, step)) {
        return false;
    }
    tpTimeStep_SetFreeVelocities(step);
    // Rows of the same step that were linearised elsewhere, or were fewer, have come nearer than
    // those of the last step.
    bool isFirst = !(problem->latest->h > 0.0);
    tpTimeStep_WarmStart(step, isFirst ? &problem->memory->history : problem->latest, 1.0);
    // It is the last problem that is judged.
    tpStepReport_ForgetVerdict(problem->report, problem->before);
    tpSolveSettings solve = settings->solve;
    solve.rough = rough;
    solve.isEnd = rough == 0.0;
    if (!tpRows_Solve(&step->rows, step->system, problem->memory->solver, &solve,
                      problem->report)) {
        return false;
    }
    tpTimeStep_ApplyImpulses(step);
    double miss;
    for (int k = 0; k < maxSwings; ++k) {
        if (!tpSwings_Correct(step, &miss)) {
            return false;
        }
        if (!(miss > swingTolerance)) {
            break;
        }
        tpTimeStep_SetFreeVelocities(step);
        tpStepReport_ForgetVerdict(problem->report, problem->before);
        if (!tpRows_Solve(&step->rows, step->system, problem->memory->solver, &solve,
                          problem->report)) {
            return false;
        }
        tpTimeStep_ApplyImpulses(step);
    }
    if (settings->isLocating) {
        flyFreely(step);
    }
    return !step->system->arena.failed;
}

// With more contacts than this a solve costs more than a search for contacts: those after which
// others follow need not be solved to the last digit.
enum { fewContacts = 40 };
static const double roughResidual = 1e-5;

bool tpStewartTrinkle_SolveAt(tpTimeStep* step, const tpLinearisation* at,
                              const tpStepProblem* problem, double limit, tpEnd* end) {
    bool* isActive = NULL;
    bool isLimited = limit < INFINITY;
    *end = (tpEnd){ .isRough = isLimited };
    for (int pass = 0; pass < maxPasses; ++pass) {
        end->isRough = end->isRough && pass < maxPasses - 1;
        if (isActive == NULL) {
            if (!tpPassage_FindContacts(problem->passage, step, at->poses)) {
                return false;
            }
            isActive = predictActive(step, at, &problem->memory->history);
            end->isRough = end->isRough && step->contactCount > fewContacts;
        }
        if (isActive == NULL ||
            !solveActive(step, at, isActive, false, end->isRough ? roughResidual : 0.0, problem)) {
            return false;
        }
        // A body that was hit may reach others that nobody looked at: look farther.
        bool isSpent = tpStepBudget_IsSpent(step->system);
        bool isLast = pass == maxPasses - 1;
        if (!isSpent && tpTimeStep_Outran(step, at->meanVelocities) && !isLast) {
            isActive = NULL;
            if (!tpTimeStep_Latest(step, problem->latest)) {
                return false;
            }
            continue;
        }
        bool isMoved = at->meanVelocities != NULL;
        if (isMoved && !tpPassage_FindEndContacts(problem->passage, step)) {
            return false;
        }
        bool isAdded = isMoved ? addViolated(step, isActive) : addLinearlyViolated(step, isActive);
        if (!isAdded || isSpent || isLast) {
            if (isLimited && !isMoved && !tpPassage_FindEndContacts(problem->passage, step)) {
                return false;
            }
            end->depth = isLimited ? tpStewartTrinkle_DeepestEnd(step, &end->off) : 0.0;
            bool isFinal = !end->isRough || (!isSpent && end->depth > limit);
            if (isFinal || end->depth < 0.0) {
                return end->depth >= 0.0;
            }
            end->isRough = false;
        }
        if (!tpTimeStep_Latest(step, problem->latest)) {
            return false;
        }
        if (pass == maxPasses - 2) {
            memset(isActive, true, sizeof(bool) * (size_t)step->contactCount);
        }
    }
    return true;
}

// Contact rows n . v >= 0 for what is closed [sec. 3.3]: a solution always exists, and overlaps
// that have come about stay. Geometry is taken at q + h v, as everywhere in the paper.
bool tpStewartTrinkle_SolveVelocities(tpTimeStep* step, const tpLinearisation* at,
                                      const tpStepProblem* problem) {
    if (!tpPassage_FindContacts(problem->passage, step, at->poses)) {
        return false;
    }
    bool* isActive = closedContacts(step, problem->settings->isPredicted);
    return isActive != NULL && solveActive(step, at, isActive, true, 0.0, problem);
}
