#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_SMALL_STEPS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_SMALL_STEPS_H

#include "steppers/stepper.h"

extern const tpStepper tpSmallStepsStepper;

#endif
