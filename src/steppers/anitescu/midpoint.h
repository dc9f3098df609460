// The second-order step of the Anitescu stepper, theta = 1/2.

#ifndef TIPPE_SRC_STEPPERS_ANITESCU_MIDPOINT_H
#define TIPPE_SRC_STEPPERS_ANITESCU_MIDPOINT_H

#include "steppers/memory.h"

typedef enum tpGuardVerdict {
    tp_guardAccepts,    // the step is made
    tp_guardRejects,    // energy would rise, whatever the restitution: the system is at its start
    tp_guardOutOfMemory // the step is not made
} tpGuardVerdict;

// One step, with the energy guard where the options ask for it. `threshold`: approaches slower than
// this do not bounce, m/s.
tpGuardVerdict tpMidpoint_GuardedStep(tpSystem* system, tpStepperMemory* memory,
                                      const tpOptions* options, double threshold, double h,
                                      tpStepReport* report);

#endif
