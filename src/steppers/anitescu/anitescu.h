#ifndef TIPPE_SRC_STEPPERS_ANITESCU_H
#define TIPPE_SRC_STEPPERS_ANITESCU_H

#include "steppers/stepper.h"

extern const tpStepper tpAnitescuStepper;

#endif
