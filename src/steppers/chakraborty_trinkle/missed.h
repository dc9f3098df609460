// Contacts that nobody saw where the step began, and that overlap where it ends: other features of the
// same bodies, mostly.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MISSED_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MISSED_H

#include "steppers/chakraborty_trinkle/islands.h"

// The contacts of the step with those that were missed among them, as they were at its start, in the
// arena. `missedCount` says how many are new. False where memory ran out.
bool tpImplicitStep_FindMissed(tpImplicitStep* step, tpContact** contacts, int* count,
                               int* missedCount);

#endif
