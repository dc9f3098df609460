// Springs between bodies that nothing else holds.
//
// The scheme takes forces at the end of the step: implicit Euler, which damps a spring at the rate
// h w^2 / 2. Where a spring is all that acts between bodies it need not be so. Half of its impulse
// acts before the drift and half after it, with the force half way through: of second order, stable
// for any stiffness, and undamped, as in the symmetric steps of the other steppers. Springs that
// are stiff for the step stay with the scheme.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SWINGS_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SWINGS_H

#include "dynamics/joints.h"
#include "dynamics/time_step.h"

// Sets step->swinging: joints that are springs whose bodies have no contact among the rows so far
// and no other joint. False if memory ran out.
bool tpSwings_Find(tpTimeStep* step);

// Adds the rows of all joints: those of springs that swing at the start, the others as told.
void tpSwings_AddJointRows(tpTimeStep* step, const tpPose* poses,
                           const tpJointTreatment* treatment);

// All joints act as the scheme says, and forces before the drift.
void tpSwings_Leave(tpTimeStep* step);

// Takes the true way of springs that swing into their rows: directions bend within the step. What
// rows have missed of it comes in `miss`, in units of length. False if memory ran out.
bool tpSwings_Correct(tpTimeStep* step, double* miss);

#endif
