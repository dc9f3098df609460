// Going up to a moment by the flow of a group.
//
// A slip that ends, a joint that turns round, a contact that no longer sticks: methods know the
// forces of a step, not when in it they change, and whole and halves of a step can be wrong alike.
// (A block that turned round on a slope stood still until the end of the step, in both.) The flow
// tells the moment by its rates. It takes the group there, and the method goes on from there, where
// the slip is nothing.

#ifndef TIPPE_SRC_STEPPERS_AUTO_LANDING_H
#define TIPPE_SRC_STEPPERS_AUTO_LANDING_H

#include "steppers/auto/flow.h"

// Carries the group to the moment that is expected in the user's step, and to the end of the step
// if there is none. Returns how far it has come, s: 0 if nothing is expected, or no flow can tell.
// What is taken has been started.
// `refused` may be NULL: a flow whose step over all of the user's step was bad just now.
double tpGroupRun_Land(tpGroupRun* run, const tpFlow* refused);

// Whether a moment is thought to be in the user's step.
bool tpGroupRun_AwaitsMoment(const tpGroupRun* run);

#endif
