// The step of distances that are taut: Newton's method on rows at its end, see taut.h.

#include "dynamics/joints.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "steppers/stewart_trinkle/linearisation.h"

// Linearisations, and those after which features of contacts that take turns are told.
enum { maxTaut = 24, maxIdle = 3 };

// Of what the certificate lets joints be apart: what they give if they are taut, and what is good
// enough then.
static const double givenPart = 0.5, enoughPart = 0.75;

// The rows have settled when no velocity changes by more than this, relative. Impulses across a
// distance are what its tension makes of that.
static const double settled = 1e-4;

// Features that take turns do so if changes do not become smaller than this part of the last.
static const double idlePart = 0.5;

// By how much joints are apart where the last solve leads; negative if memory ran out.
static double apartAtEnd(tpTimeStep* step) {
    tpPose* poses = TP_SCRATCH(&step->system->arena, tpPose, step->bodyCount);
    if (poses == NULL) {
        return -1.0;
    }
    tpTimeStep_Move(step, step->meanVelocities, poses);
    return tpJoints_PositionError(step->system, poses);
}

bool tpStewartTrinkle_SolveTaut(tpTimeStep* step, tpLinearisation* at, bool isSolved,
                                tpStepProblem* problem) {
    tpStepReport* report = problem->report;
    double enough = fmax(report->limits.penetration, tpStepShare_DeepestMeant(&problem->share));
    double given = givenPart * report->limits.jointDrift, last = INFINITY;
    tpTaut taut;
    tpLeading leading;
    if (!tpTaut_Begin(&taut, step, given) || !tpLeading_Begin(&leading, step)) {
        return false;
    }
    if (isSolved) {
        tpTaut_Read(&taut, step);
        if (!tpLeading_Follow(&leading, step, problem, at)) {
            return false;
        }
    }
    problem->taut = &taut;
    bool isDone = true;
    for (int k = 0, idle = 0; isDone; ++k) {
        tpEnd end;
        bool isLast = k == maxTaut - 1;
        isDone = tpStewartTrinkle_SolveAt(step, at, problem, isLast ? INFINITY : enough, &end);
        tpTaut_Read(&taut, step);
        double apart = apartAtEnd(step), change = INFINITY;
        if (!isDone || apart < 0.0) {
            return false;
        }
        if (k > 0 || isSolved) {
            change = tpTimeStep_LargestChange(step, step->meanVelocities, leading.meanVelocities);
        }
        bool isClosed = apart <= enoughPart * report->limits.jointDrift && end.depth <= enough;
        if (isLast || tpStepBudget_IsSpent(step->system) ||
            (isClosed && change <= settled && !end.isRough)) {
            break;
        }
        // Features of contacts that take turns settle half way.
        idle = end.depth > enough && change > idlePart * last ? idle + 1 : 0;
        last = change;
        isDone = idle > maxIdle ? tpLeading_FollowPart(&leading, 0.5, step, problem, at)
                                : tpLeading_Follow(&leading, step, problem, at);
    }
    problem->taut = NULL;
    // What is not held fast by its tension is closed as ever.
    *problem->settings->isTight = tpTaut_IsTight(step);
    step->jointSlack = *problem->settings->isTight ? given : 0.0;
    tpStepReport_FallBack(report, "taut joints",
                          "joints are taut: their tension holds their directions, and they give by "
                          "a part of what is certified");
    return isDone;
}
