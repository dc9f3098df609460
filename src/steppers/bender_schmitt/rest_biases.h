// The biases of resting contacts during the drift of a step (resting.c).

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_REST_BIASES_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_REST_BIASES_H

#include "dynamics/followed_contacts.h"
#include "steppers/bender_schmitt/step.h"

// What the biases consist of, of each contact.
typedef struct tpRestBias {
    double closing; // the gap that the step may close, as a velocity; negative: push-out
    double meant;   // gap that is meant to be there at the end
    double turning; // what the motion of the points adds
    double slip[2]; // what half a drift adds to the slip of the start
} tpRestBias;

// Whether the part of the step is so short that joints keep their velocities alone.
bool tpRestBiases_IsShort(const tpBenderStep* step);

// From the gaps of the start.
void tpRestBiases_Make(tpBenderStep* step, tpRestBias* biases);

// Writes them into the rows; `differences` is room for a velocity per body.
void tpRestBiases_Set(tpBenderStep* step, const tpRestBias* biases,
                      const tpVelocity* meanVelocities, const tpVelocity* pushed,
                      tpVelocity* differences);

// What turns without impulses add to the gaps. False if memory ran out.
bool tpRestBiases_PredictTurning(tpBenderStep* step, tpRestBias* biases);

// Brings in what the rows have missed, by the true gaps at the end of the drift and the errors of
// joints. Returns the largest miss, in units of length; negative if memory ran out.
double tpRestBiases_Correct(tpBenderStep* step, tpRestBias* biases, tpFollowedContacts* ends);

#endif
