#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BENDER_SCHMITT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BENDER_SCHMITT_H

#include "steppers/stepper.h"

extern const tpStepper tpBenderSchmittStepper;

#endif
