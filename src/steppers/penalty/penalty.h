#ifndef TIPPE_SRC_STEPPERS_PENALTY_PENALTY_H
#define TIPPE_SRC_STEPPERS_PENALTY_PENALTY_H

#include "steppers/stepper.h"

extern const tpStepper tpPenaltyStepper;

#endif
