// How long the steps are of bodies that were handed over (time_stepper.c).

#include "dynamics/step_budget.h"
#include "steppers/mirtich_canny/frame.h"

// Steps are no longer and no shorter than these, in units of time. In between, turning bends the
// ways of contacts between the ends of a step by no more than a part of the tolerance.
static const double longestStep = 5e-3, shortestStep = 2e-4, bendingPart = 0.25;

// Work of a step beside its solves: of itself and of each of its bodies.
static const double stepWork = 2e4, bodyWork = 4e3;

// Of what a frame may cost: steps may use so much more than goes with the time they have come.
static const double inAdvance = 0.25;

// Steps in which gravity is as strong as in a star are so short that a frame would take minutes.
// Once they cost more than goes with their length they become longer, up to the rest of the frame.
// Solves have budgets of their own, and do not count.
static double affordableLength(const tpEvents* events, double time) {
    double used = events->steppingWork / tpStepBudget_Whole(events->system);
    bool isDear = used > time / events->length + inAdvance;
    return used > 1.0 ? events->length : isDear ? 2.0 * events->stepLength : 0.0;
}

static double lengthFrom(const tpEvents* events, double time) {
    const tpSystem* system = events->system;
    double bending = 0.0;
    for (int i = 0; i < events->radii.count; ++i) {
        int body = tpCollider_GetBody(system->collider, i);
        if (events->flights.data[body].kind == tp_stepped && events->radii.data[i] > 0.0) {
            tpVec3 w = system->velocities.data[body].angular;
            bending = fmax(bending, tpLengthSquared(w) * events->radii.data[i]);
        }
    }
    // Half way through the step the chord of an arc is w^2 r h^2 / 8 off it.
    double way = bendingPart * events->settings.tolerance, unit = system->units.time;
    double h = bending > 0.0 ? sqrt(8.0 * way / bending) : longestStep * unit;
    h = fmin(fmax(h, shortestStep * unit), longestStep * unit);
    double affordable = affordableLength(events, time);
    if (affordable > h) {
        tpStepReport_AddNote(events->report, "steps became longer, for the frame had cost enough");
        h = affordable;
    }
    double left = events->length - time;
    return left / fmax(ceil(left / h * (1.0 - 1e-9)), 1.0);
}

double tpEvents_LongestStep(const tpEvents* events) {
    return longestStep * events->system->units.time;
}

void tpEvents_ChooseStep(tpEvents* events, double time) {
    events->stepLength = lengthFrom(events, time);
    events->steppingWork += stepWork + bodyWork * events->flights.count;
}
