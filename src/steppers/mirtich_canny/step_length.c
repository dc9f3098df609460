// How long the steps are of bodies that were handed over (time_stepper.c), and what they may cost.

#include "dynamics/step_budget.h"
#include "steppers/mirtich_canny/frame.h"

// Steps are no longer and no shorter than these, in units of time. In between, turning bends the
// ways of contacts between the ends of a step by no more than a part of the tolerance.
static const double longestStep = 5e-3, shortestStep = 2e-4, bendingPart = 0.25;

// Work of a step beside its solves: of itself and of each of its bodies.
static const double stepWork = 2e4, bodyWork = 4e3;

static double lengthFrom(const tpEvents* events, double time) {
    const tpSystem* system = events->system;
    double bending = 0.0;
    for (int i = 0; i < events->radii.count; ++i) {
        // A shape that was destroyed has no radius, and no body.
        if (!(events->radii.data[i] > 0.0)) {
            continue;
        }
        int body = tpCollider_GetBody(system->collider, i);
        if (events->flights.data[body].kind == tp_stepped) {
            tpVec3 w = system->velocities.data[body].angular;
            bending = fmax(bending, tpLengthSquared(w) * events->radii.data[i]);
        }
    }
    // Half way through the step the chord of an arc is w^2 r h^2 / 8 off it.
    double way = bendingPart * events->settings.tolerance, unit = system->units.time;
    double h = bending > 0.0 ? sqrt(8.0 * way / bending) : longestStep * unit;
    h = fmin(fmax(h, shortestStep * unit), longestStep * unit);
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

// Of what a step of the world may cost, for events and for the steps between them. The rest is for
// the stepper that takes a frame that was too dear, from its start. It takes all bodies at once, so
// that a mechanism that has no solution would draw the others along: frames with joints have more,
// and hardly ever come to that.
static const double eventsPart = 0.6, jointedPart = 1.5;

double tpEvents_LeftShare(const tpEvents* events) {
    double part = !events->settings.handsOver        ? 1.0
                  : events->system->joints.count > 0 ? jointedPart
                                                     : eventsPart;
    part *= events->share;
    double work = events->work + events->steppingWork + tpStepBudget_Work(events->system);
    return part - (work - events->startWork) / tpStepBudget_Whole(events->system);
}
