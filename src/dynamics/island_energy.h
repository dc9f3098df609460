// Energy that islands have gained in a step out of nothing, and taking it out again.

#ifndef TIPPE_SRC_DYNAMICS_ISLAND_ENERGY_H
#define TIPPE_SRC_DYNAMICS_ISLAND_ENERGY_H

#include "dynamics/kept_motion.h"

// Takes `rise` (J), by which the system has gained more energy since `start` than work explains,
// from the velocities of the islands that have gained it. Islands are what joints and the contacts
// of the step hold together. All velocities of an island become smaller by one factor, which leaves
// its contacts and joints as admissible as they were. Returns what was taken, J: more than `rise`
// if other islands have lost energy meanwhile.
double tpSystem_TakeGains(tpSystem* system, const tpKeptMotion* start, double rise);

#endif
