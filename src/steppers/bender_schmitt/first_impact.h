// Step control by the time of impact.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_FIRST_IMPACT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_FIRST_IMPACT_H

#include "steppers/bender_schmitt/step.h"

// The drift for at most h seconds, ending where the first contact is hit; time.h says how long it
// was. False if memory ran out.
bool tpFirstImpact_Drift(tpBenderStep* step, double h);

// Whether a contact of the start has hit before the step began: it is closed, and with the
// velocities that the step was given it closes fast, as a user or a first state may have it. The
// part ends at once then, with the collision; held by the drift, the contact would lose its
// restitution. Without restitution there is nothing to lose.
bool tpFirstImpact_IsAtStart(const tpBenderStep* step, int contact);

// Whether a contact at the end is none that the drift has held; `same` is that at the start, or -1.
bool tpFirstImpact_IsFree(const tpBenderStep* step, int same);

#endif
