// Contacts whose point moves over its body, in scenes of few bodies (turning_points.c).

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_TURNING_POINTS_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_TURNING_POINTS_H

#include "steppers/small_steps/step.h"

// Whether such a contact of these bodies is looked for in the next step: its arms are then those of
// the middle of that.
bool tpSmallStep_LooksForTurning(const tpSmallStep* step, int bodyA, int bodyB);

// Finds them before the substeps, and begins the step of their bodies. False if memory ran out.
bool tpSmallStep_BeginTurning(tpSmallStep* step);

// Ends it, before bodies are moved.
void tpSmallStep_EndTurning(tpSmallStep* step);

// Once they have been moved: contacts are judged as the substeps have left them.
void tpSmallStep_LeaveTurning(tpSmallStep* step);

#endif
