// Step control by the time of impact.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_FIRST_IMPACT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_FIRST_IMPACT_H

#include "steppers/bender_schmitt/step.h"

// The drift for at most h seconds, ending where the first contact is hit; time.h says how long it
// was. False if memory ran out.
bool tpFirstImpact_Drift(tpBenderStep* step, double h);

#endif
