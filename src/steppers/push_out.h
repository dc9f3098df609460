// Overlaps taken back without touching velocities.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PUSH_OUT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PUSH_OUT_H

#include "steppers/bender_schmitt/step.h"

// Moves bodies apart that overlap at the end of the drift, where step->found lists what touches; it
// lists what touches then. The energy that bodies gain on the way is taken off the losses. False
// if memory ran out.
bool tpPushOut_Settle(tpBenderStep* step);

#endif
