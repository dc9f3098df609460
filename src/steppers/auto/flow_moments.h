// What ends a step of a flow: something that was held comes off, slips, stops or is at a limit; and
// when, as far as rates tell.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_MOMENTS_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_MOMENTS_H

#include "steppers/auto/flow_solve.h"

// The times of stages, and of the end, in parts of the step.
extern const double tpFlow_Times[tp_flowStages + 1];

// The cosine of the angle by which the direction of a slip may turn in a step.
extern const double tpFlow_LeastCosine;

// What was `first` at the start of the step and is `now` at a stage comes to nothing in between,
// evenly: the earliest such moment counts.
void tpFlow_GuessMoment(tpFlow* flow, int stage, double first, double now);

// The same of the slip of a contact, along its first one, which goes evenly: from the stage before,
// or from the start where a moment is landed on, since stages are of low order.
void tpFlow_GuessSlip(tpFlow* flow, int stage, int contact, double now);

// The same of a law: the parts that have ended tell. (With the rate of the coordinate alone nobody
// knew when a motor comes to its speed, or a servo to the edge of its effort.)
void tpFlow_GuessLawMoment(tpFlow* flow, int stage, int place, const tpFlowLawForce* law);

// The same of what has happened so many seconds before the end of a step of h.
void tpFlow_GuessSince(tpFlow* flow, double since, double h);

// The same of what was there at the stages before and is not at this one: half way from the last of
// their times.
void tpFlow_GuessBetween(tpFlow* flow, int stage);

// What bodies are going to meet if they go on as they do after a part of a step of h, where they
// have met nothing yet.
void tpFlow_GuessAhead(tpFlow* flow, const tpFlowMeeting* meeting, double part, double h);

// Whether contacts push, stick and motors hold by the forces of a stage, of which the last one is
// at the end of the step: the means of the step may when these do not.
bool tpFlow_AreHeld(tpFlow* flow, const tpSystem* system, int stage);

// Whether laws and slips are still what they were where the step ends: the last stage is there too,
// but its velocities are of a lower order.
bool tpFlow_GoesOnAtEnd(tpFlow* flow, const tpSystem* system);

#endif
