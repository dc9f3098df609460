#include "steppers/stewart_trinkle/solve.h"

#include <string.h>

#include "dynamics/joints.h"
#include "dynamics/redundancy.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "steppers/drift.h"
#include "steppers/stewart_trinkle/linearisation.h"
#include "steppers/stewart_trinkle/swings.h"

// Overlap at the end of a step that makes a contact active, in units of length: far below any use,
// above rounding.
static const double violation = 1e-12;

// The fixed point of sec. 3.4 has settled when no velocity changes by more than this, relative.
static const double fixedPointTolerance = 1e-13;

// Part of the overlap that the certificate allows at which a step that was deeper is good enough.
static const double shallowPart = 0.1;

// Rows that end deep are those of taut joints if joints are off by this part of the depth.
static const double tautPart = 0.5;

// The true way of springs is met to this, in units of length.
static const double swingTolerance = 1e-11;

enum { maxPasses = 8, maxFixedPoints = 40, maxShallow = 12, mostIdle = 3, maxSwings = 8 };

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

// How deep bodies may overlap after the step: as deep as where it ends, and deeper by what joints
// are off there, for those are brought back by moving bodies. Negative if memory ran out.
static double deepestEnd(tpTimeStep* step, double* off) {
    double nearest = INFINITY;
    *off = 0.0;
    for (int i = 0; i < step->endCount; ++i) {
        nearest = fmin(nearest, step->endContacts[i].gap);
    }
    if (step->system->joints.count > 0 && step->endCount > 0) {
        tpPose* poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
        if (poses == NULL) {
            return -1.0;
        }
        tpTimeStep_Move(step, step->meanVelocities, poses);
        *off = tpJoints_PositionError(step->system, poses);
    }
    return fmax(0.0, *off - nearest);
}

// With more contacts than this a solve costs more than a search for contacts: those after which
// others follow need not be solved to the last digit.
enum { fewContacts = 40 };
static const double roughResidual = 1e-5;

// Finds contacts where `at` says, solves, and solves again while contacts outside the active set
// are violated where the step ends. A pile that is hit grows its active set layer by layer; when
// that takes long, the last pass has every contact there is. What ends deeper than `limit` will be
// linearised again (INFINITY: nothing will).
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
        if (!isSpent && tpTimeStep_Outran(step, at->meanVelocities)) {
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
        if (!isAdded || isSpent) {
            if (isLimited && !isMoved && !tpPassage_FindEndContacts(problem->passage, step)) {
                return false;
            }
            end->depth = isLimited ? deepestEnd(step, &end->off) : 0.0;
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
static bool solveVelocities(tpTimeStep* step, const tpLinearisation* at,
                            const tpStepProblem* problem) {
    if (!tpPassage_FindContacts(problem->passage, step, at->poses)) {
        return false;
    }
    bool* isActive = closedContacts(step, problem->settings->isPredicted);
    return isActive != NULL && solveActive(step, at, isActive, true, 0.0, problem);
}

// Features that come and go may keep the fixed point from settling: rows of all of them together
// do.
static bool solveCarefully(tpTimeStep* step, const tpStepProblem* problem) {
    memcpy(step->system->poses.data, step->startPoses, sizeof(tpPose) * (size_t)step->bodyCount);
    tpDriftSettings careful = {
        .solve = problem->settings->solve,
        .gamma = problem->share.part,
        .isCareful = true,
        .isWhole = true,
    };
    tpStepReport* report = problem->report;
    tpStepReport_ForgetVerdict(report, problem->before);
    tpSwings_Leave(step);
    tpDriftResult drift;
    if (!tpDrift_Solve(step, problem->memory, &careful, &drift, report)) {
        return false;
    }
    tpStepReport_FallBack(report, "rows that stay",
                          "the fixed point did not settle: rows of all its contacts together");
    report->failureCount += drift.miss > tpClosedGap ? 1 : 0;
    report->converged = report->converged && drift.miss <= tpClosedGap;
    return true;
}

// Linearise, solve, and linearise again where the solution leads, until it stays [sec. 3.4].
static bool solveFixedPoint(tpTimeStep* step, tpLinearisation* at, const tpStepProblem* problem) {
    tpLeading leading;
    if (!tpLeading_Begin(&leading, step)) {
        return false;
    }
    double last = INFINITY;
    tpEnd end;
    for (int k = 0; k < maxFixedPoints; ++k) {
        if (!tpStewartTrinkle_SolveAt(step, at, problem, INFINITY, &end)) {
            return false;
        }
        double change =
            k > 0 ? tpTimeStep_LargestChange(step, step->meanVelocities, leading.meanVelocities)
                  : INFINITY;
        if (change <= fixedPointTolerance || (k > 20 && change < 1e-10 && change >= last)) {
            return true;
        }
        if (tpStepBudget_IsSpent(step->system)) {
            break;
        }
        last = change;
        if (!tpLeading_Follow(&leading, step, problem, at)) {
            return false;
        }
    }
    if (problem->settings->isLocating || tpStepBudget_IsSpent(step->system)) {
        problem->report->failureCount += 1;
        problem->report->converged = false;
        tpStepReport_FallBack(problem->report, "last fixed point",
                              "the fixed point did not settle: the last one is taken");
        return true;
    }
    return solveCarefully(step, problem);
}

// Where rows were linearised that have ended least deep.
typedef struct tpShallowest {
    double depth;
    tpLinearisation at;
    tpLeading leading;
} tpShallowest;

static bool beginShallowest(const tpTimeStep* step, tpShallowest* best) {
    best->depth = INFINITY;
    best->at.poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
    return best->at.poses != NULL && tpLeading_Begin(&best->leading, step);
}

static void keepShallowest(const tpTimeStep* step, const tpLinearisation* at, double depth,
                           tpShallowest* best) {
    size_t bytes = sizeof(tpVelocity) * (size_t)step->bodyCount;
    best->depth = depth;
    memcpy(best->at.poses, at->poses, sizeof(tpPose) * (size_t)step->bodyCount);
    best->at.meanVelocities = best->at.towards = NULL;
    if (at->meanVelocities != NULL) {
        memcpy(best->leading.meanVelocities, at->meanVelocities, bytes);
        memcpy(best->leading.towards, at->towards, bytes);
        best->at.meanVelocities = best->leading.meanVelocities;
        best->at.towards = best->leading.towards;
    }
}

// Linear rows do not know how gaps bend. A step that ends deeper than its certificate allows is
// linearised again where it leads, as in sec. 3.4, until it is far from that. If the work of the
// step ends before, it has the rows that end least deep.
static bool solveUntilShallow(tpTimeStep* step, tpLinearisation* at, tpStepProblem* problem) {
    double enough = problem->report->limits.penetration,
           meant = tpStepShare_DeepestMeant(&problem->share);
    tpLeading leading;
    tpShallowest best;
    if (!tpLeading_Begin(&leading, step) || !beginShallowest(step, &best)) {
        return false;
    }
    int idle = 0;
    tpEnd end = { .isRough = false };
    for (int k = 0; k < maxShallow && idle < mostIdle; ++k) {
        if (!tpStewartTrinkle_SolveAt(step, at, problem, fmax(enough, meant), &end)) {
            return false;
        }
        if (end.depth <= fmax(enough, meant)) {
            return true;
        }
        bool isTaut = k == 0 && end.off > tautPart * end.depth;
        if (isTaut && problem->settings->mayBeTaut && tpTaut_IsTight(step)) {
            return tpStewartTrinkle_SolveTaut(step, at, true, problem);
        }
        if (tpStepBudget_IsSpent(step->system)) {
            bool isLast = end.depth <= best.depth && !end.isRough;
            return isLast || tpStewartTrinkle_SolveAt(step, end.depth <= best.depth ? at : &best.at,
                                                      problem, INFINITY, &end);
        }
        idle = end.depth < 0.5 * best.depth ? 0 : idle + 1;
        if (end.depth < best.depth) {
            keepShallowest(step, at, end.depth, &best);
        }
        if (k == 0) {
            enough *= shallowPart;
            tpStepReport_FallBack(problem->report, "fixed point",
                                  "linear rows end too deep: linearised again where they lead");
        }
        if (!tpLeading_Follow(&leading, step, problem, at)) {
            return false;
        }
    }
    if (!problem->settings->isLocating) {
        return solveCarefully(step, problem);
    }
    return !end.isRough || tpStewartTrinkle_SolveAt(step, &best.at, problem, INFINITY, &end);
}

bool tpStewartTrinkle_Solve(tpTimeStep* step, const tpStewartTrinkleSettings* settings,
                            const tpPassage* passage, tpStepperMemory* memory,
                            tpStepReport* report) {
    tpSystem* system = step->system;
    tpContactHistory latest = { .h = 0.0 };
    const tpStepReport before = *report;
    tpEnd end;
    tpStepProblem problem = { .settings = settings,
                              .passage = passage,
                              .memory = memory,
                              .latest = &latest,
                              .before = &before,
                              .report = report };
    if (!tpStepShare_Find(&problem.share, step, passage)) {
        return false;
    }
    tpLinearisation at = { TP_SCRATCH(&system->arena, tpPose, system->bodyCount), NULL, NULL };
    if (at.poses == NULL) {
        return false;
    }
    tpRows start;
    if (system->joints.count > 0) {
        if (!tpStepShare_FindErrors(step, &start)) {
            return false;
        }
        tpRows_SetMasses(&start, system);
        if (!tpRedundancy_Find(&start, system)) {
            return false;
        }
    }
    // Contacts are taken at q + h v, where the paper linearises, or at q.
    bool isMoved = settings->isPredicted || settings->variant == tp_velocityVariant;
    at.meanVelocities = at.towards = isMoved ? step->startVelocities : NULL;
    if (isMoved) {
        tpTimeStep_Move(step, step->startVelocities, at.poses);
    } else if (system->bodyCount > 0) {
        memcpy(at.poses, step->startPoses, sizeof(tpPose) * (size_t)system->bodyCount);
    }
    switch (settings->variant) {
    case tp_nonlinearVariant:
        return solveFixedPoint(step, &at, &problem);
    case tp_velocityVariant:
        return solveVelocities(step, &at, &problem);
    case tp_repeatedVariant:
        return settings->isTaut ? tpStewartTrinkle_SolveTaut(step, &at, false, &problem)
                                : solveUntilShallow(step, &at, &problem);
    default:
        return tpStewartTrinkle_SolveAt(step, &at, &problem, INFINITY, &end);
    }
}
