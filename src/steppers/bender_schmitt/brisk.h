// Steps in real time: a fixed number of parts with a sweep or two each, whatever the certificate says.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_BRISK_H

#include "steppers/bender_schmitt/step.h"

// Solves the contacts of `step->start`, found at the start poses, and moves the bodies to the end of the
// step, with their velocities there. The contacts' impulses over the whole step stand in `total` of the
// packs, those of the last part in `impulse`. `step->time` has begun with the whole of the forces. False
// where memory ran out.
bool tpBrisk_Solve(tpBenderStep* step, int parts);

// Lists the contacts of the step and remembers what the next one starts from; `ends` are the contacts at
// its end. False where memory ran out.
bool tpBrisk_List(tpBenderStep* step, const tpContact* ends, int endCount, int parts);

// Whether this scene can be stepped so: joints and torsional friction need the other way.
bool tpBrisk_CanStep(const tpSystem* system);

#endif
