#include "dynamics/step_budget.h"

#include <math.h>

#include "dynamics/forces.h"
#include "dynamics/report.h"

// A step of up to this many contacts may cost the same: 50 ms on the machine where
// work was weighed. Larger
// ones have as much more as their factorisations grow.
enum { smallStep = 500 };
static const double smallBudget = 7.5e7;

// What a step keeps for its end: so many solves as the largest it has had, and no more than this
// part of the budget.
static const double endingSolves = 6.0, endingPart = 0.5;

// A step that has cost this part of its budget is hard.
static const double hardPart = 0.2;

// A solve may take this part of what is left; and of the budget at the least (some sweeps of all
// contacts).
static const double solvePart = 0.6, lastPart = 0.02;

// Work of a query: of each body (it turns freely, its bounds are looked up) and of each contact.
static const double bodyQuery = 2500.0, contactQuery = 900.0;

// Of what bodies reach: contacts that are as near as this are those of the step; others it may
// meet.
static const double touchingPart = 0.01;

// Of the rise of energy that a certificate allows: what an end may gain.
static const double allowedRise = 0.1;

static double limitOf(const tpSystem* system) {
    double size = (double)system->stepSize / smallStep;
    return smallBudget * (size > 1.0 ? size * size : 1.0);
}

void tpStepBudget_Begin(tpSystem* system) {
    system->stepWork = 0.0;
    system->largestWork = 0.0;
    system->stepSize = 0;
}

void tpStepBudget_Spend(tpSystem* system, double work) {
    system->stepWork += work;
    system->largestWork = fmax(system->largestWork, work);
}

void tpStepBudget_SpendQuery(tpSystem* system, const tpContact* contacts, int count) {
    double near = touchingPart * system->scales.reach;
    int touching = 0;
    for (int i = 0; i < count; ++i) {
        touching += contacts[i].gap <= near;
    }
    system->stepSize = touching > system->stepSize ? touching : system->stepSize;
    tpStepBudget_Spend(system, bodyQuery * system->bodyCount + contactQuery * count);
}

bool tpStepBudget_IsHard(const tpSystem* system) {
    return system->stepWork >= hardPart * limitOf(system);
}

bool tpStepBudget_IsSpent(const tpSystem* system) {
    double limit = limitOf(system);
    double kept = fmin(endingSolves * system->largestWork, endingPart * limit);
    return system->stepWork >= limit - kept;
}

double tpStepBudget_ForSolve(const tpSystem* system) {
    double limit = limitOf(system);
    return fmax(solvePart * (limit - system->stepWork), lastPart * limit);
}

static void takeEnergy(tpSystem* system, double energy) {
    double moving = 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        moving += tpSystem_IsDynamic(system, i) ? tpSystem_BodyKineticEnergy(system, i) : 0.0;
    }
    double factor = energy < moving ? sqrt(1.0 - energy / moving) : 0.0;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i)) {
            tpVelocity* velocity = &system->velocities.data[i];
            velocity->linear = tpScale(factor, velocity->linear);
            velocity->angular = tpScale(factor, velocity->angular);
        }
    }
}

void tpStepBudget_End(tpSystem* system, tpStepReport* report) {
    if (!tpStepBudget_IsSpent(system) || report->undone) {
        return;
    }
    tpStepReport_FallBack(report, "end of work",
                          "the step has cost all that one of its size may: its rest was taken with "
                          "what there was");
    double rise = tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system) -
                  report->kineticBefore - report->potentialBefore - report->externalWork;
    if (rise > allowedRise * report->limits.energy) {
        takeEnergy(system, rise);
        report->impactLoss += rise;
        report->numericalLoss += rise;
        tpStepReport_AddNote(report, "energy that the end of the step gained was taken out again");
    }
}
