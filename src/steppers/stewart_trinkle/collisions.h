// A step in which collisions are located and resolved one by one.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_COLLISIONS_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_COLLISIONS_H

#include "steppers/stewart_trinkle/impact.h"
#include "steppers/stewart_trinkle/solve.h"

// The whole step with its report. False if memory ran out.
bool tpStewartTrinkle_StepThroughCollisions(tpSystem* system, tpStepperMemory* memory,
                                            const tpStewartTrinkleSettings* settings,
                                            const tpImpactLaw* impacts, tpStepReport* report);

#endif
