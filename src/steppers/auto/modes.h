// What joints and contacts of a group are at: which way they go, and whether they are at an edge of
// their law. A step in which that changes has a moment in it.

#ifndef TIPPE_SRC_STEPPERS_AUTO_MODES_H
#define TIPPE_SRC_STEPPERS_AUTO_MODES_H

#include "dynamics/tally.h"
#include "steppers/auto/groups.h"

// A number for the directions in which joints with friction go, for servos that give all of their
// effort, motors that are at their speed and joints at their limits, in the state that the system
// is in.
uint64_t tpModes_OfJoints(const tpSystem* system, const tpGroups* groups, int group);

// Whether a limit of a joint has pushed in the last step.
bool tpModes_AreAtLimit(const tpSystem* system, const tpGroups* groups, int group);

// Whether a contact of a step slides another way at its end than at its start, where bodies had
// these velocities.
bool tpModes_HasSlipTurned(const tpTally* tally, const tpSystem* system, const tpVelocity* starts);

// How fast the bodies of a contact part along its normal now, m/s.
double tpModes_SpeedApart(const tpContactInfo* info, const tpSystem* system);

#endif
