// Overlaps taken back without touching velocities.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PUSH_OUT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PUSH_OUT_H

#include "steppers/bender_schmitt/step.h"

// Adds to the moves of the drift what takes back a part of the overlaps at the start. The contacts'
// impulses and biases stay those of the solve. False where memory ran out.
bool tpPushOut_Move(tpBenderStep* step);

#endif
