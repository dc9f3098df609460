// The constrained drift: gap(q1) >= 0 and Theta(q1) = 0 with q1 = drift(q, v', h).
//
// The problem is nonlinear in q1. Contacts that are closed at the start hold: their rows keep the
// directions of the start, as constraints of RATTLE do, and their biases are corrected by what the
// true gap at the end says, those of friction by the slip half way through the drift. Contacts that
// close within the step have the directions of the end instead, so that they take energy and give
// none; their rows are written afresh where each solve leads, as in [StewartTrinkle96, sec. 3.4].
// From the third round on rows that push stay if their features are gone where the solve leads.
// The first solve has all rows from the start, so that nothing passes through anything on its way.
//
// The careful way gives no energy, at the price of second order: every contact has its linear row
// of the start, as in (4.11), and one with the directions of the end. If a gap bends open on the
// way the first one binds, without work; where it bends shut the second one, which brakes. Rows
// that bind stay when others are written: rims whose lowest point runs around have several.

#include "dynamics/reduced.h"
#include "dynamics/report.h"
#include "steppers/covered_points.h"
#include "steppers/drift_problem.h"
#include "steppers/rim_points.h"

#include <string.h>

// The drift starts again at most so often if bodies outrun what was searched for contacts.
enum { maxPasses = 5 };

// Contacts at the system's poses.
static bool findContacts(const tpDrift* drift, tpContact** contacts, int* count) {
    tpTimeStep* step = drift->step;
    const tpDriftSettings* settings = drift->settings;
    bool isDone = settings->find != NULL
                      ? settings->find(settings->context, step, contacts, count)
                      : tpSystem_FindContacts(step->system, step->system->poses.data, step->margins,
                                              contacts, count) == tp_success;
    *count = isDone ? tpContacts_DropRimPoints(*contacts, *count) : 0;
    *count = tpContacts_DropCovered(step->system, step->margins, *contacts, *count);
    return isDone;
}

// Velocities of the rows without impulses: those of the drift.
static void setDriftVelocities(tpTimeStep* step) {
    tpVelocity* kept = step->freeVelocities;
    step->freeVelocities = step->freeMeanVelocities;
    if (step->reduced != NULL) {
        step->reduced->free = step->freeMeanVelocities;
    }
    tpTimeStep_SetFreeVelocities(step);
    step->freeVelocities = kept;
}

// Takes the impulses over from rows of other contacts, and of the same joints.
static void carryImpulses(const tpRows* from, const tpContact* fromContacts, tpRows* to,
                          const tpContact* toContacts) {
    int old = 0;
    for (int b = 0; b < to->blockCount; ++b) {
        bool isContact = to->infos[b].source == tp_contactSource;
        const tpContact* contact = isContact ? &toContacts[to->infos[b].index] : NULL;
        bool isSame = false;
        for (; old < from->blockCount && !isSame; ++old) {
            bool isOldContact = from->infos[old].source == tp_contactSource;
            int order = !isContact ? (isOldContact ? -1 : 0)
                        : !isOldContact
                            ? 1
                            : tpContact_CompareKeys(&fromContacts[from->infos[old].index], contact);
            if (order > 0) {
                break;
            }
            isSame = order == 0 && from->dimensions[old] == to->dimensions[b];
            for (int k = 0; isSame && k < to->dimensions[b]; ++k) {
                to->impulse[to->firstRows[b] + k] = from->impulse[from->firstRows[old] + k];
            }
        }
    }
}

// By how much impulses miss the law of contact; INFINITY if memory ran out.
static double judge(const tpDrift* drift) {
    const tpRows* rows = &drift->step->rows;
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    tpFrictionResidual judged;
    bool isDone =
        tpFriction_Judge(&problem, rows->impulse, rows->velocity, drift->memory->solver, &judged);
    return isDone ? judged.velocity : INFINITY;
}

// What rests comes to the same rows in every step, those of its start and those that it meets: the
// impulses of the last step may be nearer than those of the last solve.
static bool chooseStart(tpDrift* drift) {
    tpTimeStep* step = drift->step;
    size_t bytes = sizeof(double) * (size_t)step->rows.rowCount;
    double* carried = tpArena_Get(&step->system->arena, bytes);
    if (carried == NULL) {
        return false;
    }
    double residual = judge(drift);
    memcpy(carried, step->rows.impulse, bytes);
    tpTimeStep_WarmStart(step, &drift->memory->history, 1.0);
    // Of two rows of one contact it is the later that binds.
    for (int i = 0; i + 1 < step->contactCount; ++i) {
        if (tpContact_CompareKeys(&step->contacts[i], &step->contacts[i + 1]) == 0) {
            memset(step->rows.impulse + step->rows.firstRows[i], 0,
                   sizeof(double) * (size_t)step->rows.dimensions[i]);
        }
    }
    if (!(judge(drift) < residual)) {
        memcpy(step->rows.impulse, carried, bytes);
    }
    return true;
}

// Rounds that are corrected after need not be solved to the last digit. With fewer contacts than
// this another solve costs less than another search for contacts; then all rounds are.
enum { fewContacts = 40 };

// The residual of the first round, and the part of what rows have missed that the next one may
// leave.
static const double firstRough = 1e-5, roughPart = 0.01;

// The residual that will do in the next round: 0 if it may be the last.
static double nextRough(const tpDrift* drift) {
    const tpTimeStep* step = drift->step;
    double size = tpRows_RoughSize(&step->rows);
    double missed = drift->miss * step->system->units.length / step->h;
    double rough = size > 0.0 ? fmin(roughPart * missed / size, firstRough) : 0.0;
    return drift->isSettled || rough < 10.0 * step->system->certificate ? 0.0 : rough;
}

// Solves; the residual comes in `reached`.
static bool solveRows(tpDrift* drift, double rough, double* reached) {
    tpTimeStep* step = drift->step;
    tpStepReport* report = drift->report;
    double before = report->residual;
    tpSolveSettings settings = drift->settings->solve;
    settings.rough = rough;
    report->residual = 0.0;
    bool isDone = drift->hasSprings ? tpDrift_SolveSprings(drift)
                                    : tpRows_Solve(&step->rows, step->system, drift->memory->solver,
                                                   &settings, report);
    *reached = report->residual;
    report->residual = fmax(before, *reached);
    return isDone;
}

static bool solveOnce(tpDrift* drift, int round, double rough, double* reached) {
    tpTimeStep* step = drift->step;
    setDriftVelocities(step);
    if (round > 1 && drift->settings->room > 0.0 && !chooseStart(drift)) {
        return false;
    }
    if (!solveRows(drift, rough, reached)) {
        return false;
    }
    if (drift->hasSprings) {
        tpTimeStep_ApplyImpulses(step);
    } else {
        tpTimeStep_ApplySolved(step);
    }
    tpTimeStep_Drift(step);
    return true;
}

// Rows of features that have pushed and are gone stay from this round on. Before it they often are
// those of the first guess.
enum { firstCollecting = 3 };

// Solves, measures at the end and writes the rows again, until they agree with where they lead.
// Ends after the first solve where that drives bodies beyond where anybody looked, if `mayOutrun`
// is false.
static bool iterate(tpDrift* drift, bool mayOutrun, bool* hasOutrun) {
    tpTimeStep* step = drift->step;
    tpSystem* system = step->system;
    *hasOutrun = false;
    drift->lastApart = INFINITY;
    const tpStepReport verdict = *drift->report;
    double rough = step->contactCount > fewContacts ? firstRough : 0.0, reached;
    for (int k = 1;; ++k) {
        drift->miss = drift->apart = 0.0;
        drift->isSettled = true;
        drift->isCollecting = k >= firstCollecting;
        if (!solveOnce(drift, k, rough, &reached)) {
            return false;
        }
        *hasOutrun = !mayOutrun && k == 1 && tpTimeStep_Outran(step, NULL);
        if (*hasOutrun) {
            tpStepReport_ForgetVerdict(drift->report, &verdict);
        }
        bool hasRows = step->rows.rowCount > 0 || step->reduced != NULL;
        if (!hasRows || *hasOutrun) {
            return true;
        }
        if (!findContacts(drift, &step->endContacts, &step->endCount)) {
            return false;
        }
        if (!tpDrift_CorrectContacts(drift) || !tpDrift_CorrectJoints(drift, step->contactCount)) {
            return false;
        }
        bool isOver = k >= tp_driftCorrections - 1 || !tpSystem_HasWorkLeft(system);
        bool isExact =
            rough == 0.0 || tpRows_IsExact(&step->rows, system, &drift->settings->solve, reached);
        if (k == tp_driftCorrections || (isExact && (drift->isSettled || isOver))) {
            return true;
        }
        rough = rough > 0.0 && !isOver ? nextRough(drift) : 0.0;
        // It is the last problem that is judged.
        tpStepReport_ForgetVerdict(drift->report, &verdict);
        tpRows before = step->rows;
        const tpContact* contacts = step->contacts;
        if (!tpDrift_RewriteRows(drift, k)) {
            return false;
        }
        carryImpulses(&before, contacts, &step->rows, step->contacts);
    }
}

// Joints that are further apart than this after the last round are not closed by another search
// for contacts, in units of length or rad.
static const double lostApart = 1e-3;

bool tpDrift_Solve(tpTimeStep* step, tpStepperMemory* memory, const tpDriftSettings* settings,
                   tpDriftResult* result, tpStepReport* report) {
    tpDrift drift = { .step = step, .memory = memory, .settings = settings, .report = report };
    tpRows last = { 0 }; // of the pass before, its contacts, and whether joints have rows
    const tpContact* lastContacts = NULL;
    bool wasReduced = false;
    for (int pass = 1; pass <= maxPasses; ++pass) {
        if (pass > 1) {
            // The drift of the last pass has turned bodies; inertia is that of the start.
            memcpy(step->system->poses.data, step->startPoses,
                   sizeof(tpPose) * (size_t)step->bodyCount);
        }
        bool isLast = pass == maxPasses || !tpSystem_HasWorkLeft(step->system), hasOutrun;
        tpContact* contacts;
        int count;
        if (!findContacts(&drift, &contacts, &count)) {
            return false;
        }
        if (step->reduced != NULL && !tpReduced_Bears(step->reduced, count)) {
            step->reduced = NULL;
        }
        if (!tpTimeStep_UseContacts(step, contacts, count)) {
            return false;
        }
        result->isForeseen = tpDrift_ForeseesStrike(&drift, &result->isLively);
        if (result->isForeseen) {
            return true;
        }
        if (!tpDrift_AddStartRows(&drift)) {
            return false;
        }
        if (pass > 1 && wasReduced == (step->reduced != NULL)) {
            carryImpulses(&last, lastContacts, &step->rows, step->contacts);
        }
        if (!iterate(&drift, isLast, &hasOutrun)) {
            return false;
        }
        last = step->rows;
        lastContacts = step->contacts;
        wasReduced = step->reduced != NULL;
        // Rounds that have not settled for lack of work would be fewer in another pass.
        bool isOver = !hasOutrun && !drift.isSettled && !tpSystem_HasWorkLeft(step->system);
        isLast = isLast || isOver;
        // The rounds may diverge if a joint's lever changes its sign within the step. Contacts
        // within what bodies would then move are all that there are, for nothing.
        result->isLost = settings->mayGiveUp && !hasOutrun && drift.apart > lostApart &&
                         tpTimeStep_Outran(step, NULL);
        if (result->isLost || isLast || (!hasOutrun && !tpTimeStep_Outran(step, NULL))) {
            break;
        }
    }
    result->miss = drift.miss;
    result->overlap = 0.0;
    // Contacts that give overlap as they are meant to.
    for (int i = 0; i < drift.startCount && !drift.hasSprings; ++i) {
        result->overlap = fmax(result->overlap, -drift.start[i].gap);
    }
    result->hasCollided = tpDrift_HasCollided(&drift);
    result->rest = NULL;
    result->dampingLoss = 0.0;
    if (result->isLost) {
        return true;
    }
    if (step->reduced != NULL &&
        !tpReduced_KeepBends(step->reduced, &memory->bends, &memory->allocator)) {
        return false;
    }
    return tpRowHistory_Keep(&memory->driftRows, &memory->allocator, &step->rows, step->h,
                             drift.jointBias) &&
           (!drift.hasSprings || tpDrift_FinishSprings(&drift, result));
}
