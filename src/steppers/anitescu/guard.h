// The symmetric step under the energy guard: what is done where it would gain energy or does not
// settle.

#ifndef TIPPE_SRC_STEPPERS_ANITESCU_GUARD_H
#define TIPPE_SRC_STEPPERS_ANITESCU_GUARD_H

#include "steppers/memory.h"

// The paper's step of h seconds from the system's state, where nothing else keeps energy from
// rising. False if memory ran out.
typedef bool (*tpLastResort)(tpSystem* system, tpStepperMemory* memory, const tpOptions* options,
                             double threshold, double h, tpStepReport* report);

// One step of h seconds. `threshold`: approaches slower than this do not bounce, m/s. False if
// memory ran out.
bool tpGuard_Step(tpSystem* system, tpStepperMemory* memory, const tpOptions* options,
                  double threshold, double h, tpLastResort lastResort, tpStepReport* report);

#endif
