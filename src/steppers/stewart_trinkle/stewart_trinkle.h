#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_H

#include "steppers/stepper.h"

extern const tpStepper tpStewartTrinkleStepper;

#endif
