// A step of any stepper, cut where fast bodies would pass through each other.
//
// Steppers look for contacts where bodies are at the start of a step, or where they will be at its
// end. Bodies that move by more than their thickness in between would be seen from the wrong side,
// or not at all. Such a step is taken in pieces: up to the moment before the two meet, then one so
// short that they only touch, and then the rest. What each piece leaves is ordinary work for the
// stepper.

#ifndef TIPPE_SRC_STEPPERS_PIECES_H
#define TIPPE_SRC_STEPPERS_PIECES_H

#include "steppers/stepper.h"

// Takes the step, in one piece or several; contacts, reactions of joints and the report are those
// of the whole step.
void tpStepper_Take(const tpStepper* stepper, tpSystem* system, void* state,
                    const tpOptions* options, double h, tpStepReport* report);

// The same with options that are in the scales of the system already.
void tpPieces_Take(const tpStepper* stepper, tpSystem* system, void* state,
                   const tpOptions* options, double h, tpStepReport* report);

// Aims the targets of kinematic bodies, which are for the end of a whole step, for the next part of
// what is left of it.
void tpPieces_AimTargets(tpSystem* system, const tpPose* targets, double part);

#endif
