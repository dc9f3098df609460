// Servos that hold a load through symmetric steps.
//
// A servo that is stiff for the step gives more than half of its impulse before the drift (its
// share w), while gravity gives half of its own: with the same load in every step, bodies that do
// not move would have the velocity (w - 1/2) h g at the ends of steps. So the part of the effort
// that lasts from step to step is balanced there: (w - 1/2) h times it acts at the end of a step,
// and is taken back at the start of the next one. The motion stays what it is; the velocities
// between steps become those of the motion, to second order. README.md, "Steady efforts".

#ifndef TIPPE_SRC_DYNAMICS_STEADY_EFFORTS_H
#define TIPPE_SRC_DYNAMICS_STEADY_EFFORTS_H

#include "dynamics/system.h"

// A symmetric step of h seconds, with forces for `kick` seconds before its drift; reactions are
// means over `whole` seconds.
typedef struct tpStepTimes {
    double h, kick, whole;
} tpStepTimes;

// The effort of this step comes in. Returns the impulse at the end of the step, and in `taken` what
// was taken back at its start.
double tpServoMemory_Advance(tpServoMemory* memory, double effort, double share,
                             const tpStepTimes* times, double* taken);

// Takes back at the start of a step what acted at the end of the last one.
void tpJoints_TakeBackSteady(tpSystem* system, double h, double kick);

// Other steppers have nothing to take back.
void tpJoints_ForgetSteady(tpSystem* system);

#endif
