// Contacts that a drift has run into although they were none at its start.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_MISSED_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_MISSED_H

#include "steppers/bender_schmitt/step.h"

// Looks for contacts at the end of the drift, with margins for the next step: step->found. False
// if memory ran out.
bool tpMissed_Look(tpBenderStep* step);

// The contacts at the start with those that were missed, in the collider's order; `count` is that
// of the start where nothing was missed. False if memory ran out.
bool tpMissed_Add(tpBenderStep* step, tpContact** contacts, int* count);

#endif
