// The state that a part of a step changes, to take it again.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_ATTEMPT_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_ATTEMPT_H

#include "steppers/bender_schmitt/step.h"

typedef struct tpAttempt {
    tpPose* poses;
    tpVelocity* velocities;
    double* reactions; // of joints
    double* motion;
    tpTally tally;
    tpStepReport report;
} tpAttempt;

// In the arena. False where memory ran out.
bool tpAttempt_Keep(tpAttempt* attempt, const tpBenderStep* step, const tpTally* tally);

// Puts everything back but the count of what it has cost.
void tpAttempt_Undo(const tpAttempt* attempt, tpBenderStep* step, tpTally* tally);

#endif
