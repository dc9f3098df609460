#ifndef TIPPE_SRC_STEPPERS_FREE_FLIGHT_H
#define TIPPE_SRC_STEPPERS_FREE_FLIGHT_H

#include "steppers/stepper.h"

extern const tpStepper tpFreeFlightStepper;

#endif
