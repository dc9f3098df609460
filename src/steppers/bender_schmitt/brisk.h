// Steps in real time: a fixed number of parts with two sweeps each, whatever the certificate says.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_H

#include "steppers/bender_schmitt/step.h"

// The whole step, in parts: `step` has its first five entries. The contacts are listed when somebody asks for
// them. False where memory ran out.
bool tpBrisk_Step(tpBenderStep* step, int parts);

// Whether this scene can be stepped so: joints and torsional friction need the other way.
bool tpBrisk_CanStep(const tpSystem* system);

#endif
