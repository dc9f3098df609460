#ifndef TIPPE_SRC_STEPPERS_MIRTICH_CANNY_MIRTICH_CANNY_H
#define TIPPE_SRC_STEPPERS_MIRTICH_CANNY_MIRTICH_CANNY_H

#include "steppers/stepper.h"

extern const tpStepper tpMirtichCannyStepper;

#endif
