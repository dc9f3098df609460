#include "steppers/auto/flow_moments.h"

#include <string.h>

#include "steppers/auto/flow_laws.h"
#include "steppers/auto/flow_solve.h"

#define ROOT6 2.449489742783178
const double tpFlow_Times[tp_flowStages + 1] = {
    0.0, 0.3, (4.0 - ROOT6) / 10.0, (4.0 + ROOT6) / 10.0, 1.0, 1.0,
};

const double tpFlow_LeastCosine = 0.5;

// Of its first speed: a slip that is slower at the end of a step is coming to its end.
static const double endingPart = 0.7;

// Guesses ----------------------------------------------------------------------------------------

// The earliest of what is in the step counts.
static void guess(tpFlow* flow, double part) {
    bool isInside = part > 0.0 && part < 1.0;
    if (isInside && (flow->momentPart < 0.0 || part < flow->momentPart)) {
        flow->momentPart = part;
    }
}

void tpFlow_GuessMoment(tpFlow* flow, int stage, double first, double now) {
    guess(flow, tpFlow_Times[stage] * first / (first - now));
}

void tpFlow_GuessSlip(tpFlow* flow, int stage, int contact, double now) {
    const double* times = tpFlow_Times;
    int last = 0;
    for (int k = 1; flow->isFar && k < stage && k < tp_flowStages; ++k) {
        last = times[k] > times[last] && times[k] < times[stage] ? k : last;
    }
    double first = flow->memory->slips[last][contact];
    guess(flow, times[last] + (times[stage] - times[last]) * first / (first - now));
}

// What was `first` at the start and is less, but not nothing, at the end of the step comes to
// nothing after it: the earliest such moment counts.
static void guessLater(tpFlow* flow, double first, double last) {
    if (isfinite(first) && last > 0.0 && last < first) {
        flow->laterPart = fmin(flow->laterPart, first / (first - last));
    }
}

void tpFlow_GuessLawMoment(tpFlow* flow, int stage, int place, const tpFlowLawForce* law) {
    for (int k = 0; k < tp_lawParts; ++k) {
        double first = flow->memory->firstLawMargins[place][k];
        if (law->margins[k] <= 0.0 && isfinite(first)) {
            tpFlow_GuessMoment(flow, stage, first, law->margins[k]);
        }
    }
}

void tpFlow_GuessSince(tpFlow* flow, double since, double h) {
    if (since > 0.0 && since < h) {
        flow->momentPart = 1.0 - since / h;
    }
}

void tpFlow_GuessBetween(tpFlow* flow, int stage) {
    double before = 0.0;
    for (int k = 1; k < stage; ++k) {
        before = tpFlow_Times[k] < tpFlow_Times[stage] ? fmax(before, tpFlow_Times[k]) : before;
    }
    flow->momentPart = 0.5 * (before + tpFlow_Times[stage]);
}

void tpFlow_GuessAhead(tpFlow* flow, const tpFlowMeeting* meeting, double part, double h) {
    if (meeting->isThere && meeting->since == 0.0 && isfinite(meeting->ahead)) {
        flow->aheadPart = part + meeting->ahead / h;
    }
}

// Conditions -------------------------------------------------------------------------------------

// What a contact could push less before it comes off, or, if it sticks, before it slides, N.
static double contactMargin(const tpFlow* flow, const tpSystem* system, const double* forces,
                            int contact) {
    const tpFlowRows* rows = flow->memory->now;
    const tpContactLaw* law = &rows->laws[contact];
    const double* own = &forces[rows->firstRows[contact]];
    if (flow->plan.modes[contact] != tp_flowSticks) {
        return own[0];
    }
    int count = tpFlowRows_FrictionCount(rows, system, contact);
    tpVec3 friction = tpScale(own[1], law->tangents[0]);
    friction = count > 1 ? tpMulAdd(friction, own[2], law->tangents[1]) : friction;
    double size = tpContactLaw_FrictionSize(law, friction, count > 2 ? own[3] : 0.0);
    return fmin(own[0], law->muStatic * own[0] - size);
}

bool tpFlow_AreHeld(tpFlow* flow, const tpSystem* system, int stage) {
    tpFlowMemory* memory = flow->memory;
    const double* forces = memory->impulses[stage];
    double margins[tp_flowContacts + tp_flowLaws];
    int count = flow->plan.contactCount;
    for (int i = 0; i < count; ++i) {
        margins[i] = contactMargin(flow, system, forces, i);
    }
    for (int i = 0; i < flow->plan.rowCount; ++i) {
        const tpFlowRow* row = &memory->pushes.rows[i];
        if (row->law > 0) {
            const tpFlowLaw* law = &flow->plan.laws[row->law - 1];
            margins[count++] = tpFlowLaw_Margin(law, system, &flow->plan, forces[i]);
        }
    }
    bool areHeld = true;
    for (int i = 0; i < count; ++i) {
        memory->firstMargins[i] = stage == 0 ? margins[i] : memory->firstMargins[i];
        if (stage > 0) {
            guessLater(flow, memory->firstMargins[i], margins[i]);
        }
        if (stage > 0 && margins[i] < 0.0 && memory->firstMargins[i] > 0.0) {
            tpFlow_GuessMoment(flow, stage, memory->firstMargins[i], margins[i]);
            areHeld = false;
        }
        // The force of the first stage is the mean up to the second one. (A ball that left a dome
        // .007 s after the start of a stride left it at once.)
        if (stage == 0 && i < flow->plan.contactCount && forces[memory->now->firstRows[i]] < 0.0) {
            flow->pulls |= 1u << i;
        }
        if (stage == 0 && margins[i] < 0.0) {
            tpFlow_GuessMoment(flow, 1, 1.0, -1.0);
            areHeld = false;
        }
    }
    return areHeld;
}

bool tpFlow_GoesOnAtEnd(tpFlow* flow, const tpSystem* system) {
    const tpFlowPlan* plan = &flow->plan;
    const tpFlowMemory* memory = flow->memory;
    bool goesOn = true;
    for (int i = 0; i < plan->lawCount; ++i) {
        tpFlowLawForce law = tpFlowLaw_Force(&plan->laws[i], system, plan);
        for (int k = 0; k < tp_lawParts; ++k) {
            guessLater(flow, memory->firstLawMargins[i][k], law.margins[k]);
        }
        if (!law.goesOn) {
            tpFlow_GuessLawMoment(flow, tp_flowStages, i, &law);
            goesOn = false;
        }
    }
    for (int i = 0; i < plan->contactCount; ++i) {
        const tpFlowSlip* first = &memory->firstSlips[i];
        double slip[tp_flowFriction], along = 0.0;
        if (plan->modes[i] != tp_flowSlides) {
            continue;
        }
        double size = tpFlowRows_Slip(memory->now, system, i, slip);
        for (int k = 0; k < tp_flowFriction; ++k) {
            along += slip[k] * first->direction[k];
        }
        if (along < tpFlow_LeastCosine * size) {
            tpFlow_GuessSlip(flow, tp_flowStages, i, along);
            flow->slipHasTurned = true;
            goesOn = false;
        }
        guessLater(flow, first->size, along);
        if (along < endingPart * first->size) {
            flow->endingSlip = fmin(flow->endingSlip, size);
        }
    }
    return goesOn;
}
