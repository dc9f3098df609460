// What overlaps at the end of the drift of a large problem.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_WAY_OUT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_WAY_OUT_H

#include "steppers/bender_schmitt/step.h"

// Moves bodies apart that overlap at the end of the drift, where step->found lists what touches; it
// lists what touches then. False if memory ran out.
bool tpWayOut_Settle(tpBenderStep* step);

#endif
