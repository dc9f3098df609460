// A part of a step.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PART_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_PART_H

#include "steppers/bender_schmitt/step.h"

// Takes a part of at most `left` seconds: to the first impact, or shorter where energy would be
// wrong. time.h says how long it was. False if memory ran out.
bool tpPart_Take(tpBenderStep* step, double left, tpTally* tally);

#endif
