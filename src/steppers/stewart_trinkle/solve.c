#include "steppers/stewart_trinkle/solve.h"

#include <string.h>

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/redundancy.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "steppers/drift.h"
#include "steppers/stewart_trinkle/linearisation.h"
#include "steppers/stewart_trinkle/swings.h"

// The fixed point of sec. 3.4 has settled when no velocity changes by more than this, relative.
static const double fixedPointTolerance = 1e-13;

// Part of the overlap that the certificate allows at which a step that was deeper is good enough.
static const double shallowPart = 0.1;

// Rows that end deep are those of taut joints if joints are off by this part of the depth.
static const double tautPart = 0.5;

enum { maxFixedPoints = 40, maxShallow = 24, mostIdle = 3 };

// A linearisation that leaves more than this part of the least depth before it gains nothing; more
// than the other one is slow.
static const double idlePart = 0.9, slowPart = 0.5;

// Features that come and go may keep the fixed point from settling: rows of all of them together
// do.
static bool solveCarefully(tpTimeStep* step, const tpStepProblem* problem, double* miss) {
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
    *miss = drift.miss;
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
    double miss;
    return solveCarefully(step, problem, &miss);
}

// The energy where the impulses of the step lead, J. INFINITY if memory ran out.
static double endEnergy(tpTimeStep* step) {
    tpSystem* system = step->system;
    tpKeptMotion now;
    if (!tpKeptMotion_Take(&now, system)) {
        return INFINITY;
    }
    tpTimeStep_Move(step, step->meanVelocities, system->poses.data);
    memcpy(system->velocities.data, step->velocities, sizeof(tpVelocity) * (size_t)step->bodyCount);
    double energy = tpSystem_Energy(system);
    tpKeptMotion_PutBack(&now, system);
    return energy;
}

// Where rows were linearised that have ended least deep, and the energy that they lead to.
typedef struct tpShallowest {
    double depth, energy;
    tpLinearisation at;
    tpLeading leading;
} tpShallowest;

static bool beginShallowest(const tpTimeStep* step, tpShallowest* best) {
    best->depth = best->energy = INFINITY;
    best->at.poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
    return best->at.poses != NULL && tpLeading_Begin(&best->leading, step);
}

static void keepShallowest(const tpTimeStep* step, const tpLinearisation* at, double depth,
                           double energy, tpShallowest* best) {
    size_t bytes = sizeof(tpVelocity) * (size_t)step->bodyCount;
    best->depth = depth;
    best->energy = energy;
    memcpy(best->at.poses, at->poses, sizeof(tpPose) * (size_t)step->bodyCount);
    best->at.meanVelocities = best->at.towards = NULL;
    if (at->meanVelocities != NULL) {
        memcpy(best->leading.meanVelocities, at->meanVelocities, bytes);
        memcpy(best->leading.towards, at->towards, bytes);
        best->at.meanVelocities = best->leading.meanVelocities;
        best->at.towards = best->leading.towards;
    }
}

// Rows of all contacts together, unless they miss by more than the linear rows that ended least
// deep, or have made energy that these have not: those are taken then, as a solve that has failed.
// What they leave of overlaps is taken back later, but joints that they leave apart are torn.
// (Three beams on a log were 56 mm in each other by all rows, 5 mm by the linear ones, and came out
// of that with 5 kJ.)
static bool solveBest(tpTimeStep* step, const tpShallowest* best, const tpStepProblem* problem) {
    tpSystem* system = step->system;
    tpStepReport* report = problem->report;
    double miss;
    if (!solveCarefully(step, problem, &miss)) {
        return false;
    }
    if (system->joints.count > 0 || tpSystem_IsStopped(system)) {
        return true;
    }
    bool isNearer = miss > tpClosedGap && best->depth < miss * system->units.length;
    double made = endEnergy(step) - best->energy;
    if (!isNearer && !(made > tpCertificate_EnergyLimit(system, report))) {
        return true;
    }
    memcpy(system->poses.data, step->startPoses, sizeof(tpPose) * (size_t)step->bodyCount);
    tpEnd end;
    bool isDone = tpStewartTrinkle_SolveAt(step, &best->at, problem, INFINITY, &end);
    report->failureCount += 1;
    report->converged = false;
    return isDone;
}

// Whether linearisations that gain little go on: steps that are not hard can pay for that, and
// where there are joints the rows of all contacts together hold them better.
static bool mayBeSlow(const tpTimeStep* step) {
    return step->system->joints.count == 0 && !tpStepBudget_IsHard(step->system);
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
        double part = mayBeSlow(step) ? idlePart : slowPart;
        idle = end.depth < part * best.depth ? 0 : idle + 1;
        if (end.depth < best.depth) {
            keepShallowest(step, at, end.depth, endEnergy(step), &best);
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
        return solveBest(step, &best, problem);
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
        return tpStewartTrinkle_SolveVelocities(step, &at, &problem);
    case tp_repeatedVariant:
        return settings->isTaut ? tpStewartTrinkle_SolveTaut(step, &at, false, &problem)
                                : solveUntilShallow(step, &at, &problem);
    default:
        return tpStewartTrinkle_SolveAt(step, &at, &problem, INFINITY, &end);
    }
}
