// Overlaps that a step leaves, most of all one that has cost all it may.

#ifndef TIPPE_SRC_STEPPERS_LATE_OVERLAPS_H
#define TIPPE_SRC_STEPPERS_LATE_OVERLAPS_H

#include "dynamics/system.h"

// The system is at the end of a step that its budget has ended, or of one that was hard or has
// failed and began without overlaps: moves bodies apart that overlap by more than a certified step
// may leave, as far as joints let them. Contacts that give are left alone. False if memory ran out.
bool tpLateOverlaps_Settle(tpSystem* system, const tpPose* starts, tpStepReport* report);

#endif
