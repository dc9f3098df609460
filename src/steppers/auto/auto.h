#ifndef TIPPE_SRC_STEPPERS_AUTO_H
#define TIPPE_SRC_STEPPERS_AUTO_H

#include "steppers/stepper.h"

extern const tpStepper tpAutoStepper;

#endif
