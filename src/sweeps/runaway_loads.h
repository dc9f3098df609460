// Loads that no weight and no impact has made.

#ifndef TIPPE_SRC_SWEEPS_RUNAWAY_LOADS_H
#define TIPPE_SRC_SWEEPS_RUNAWAY_LOADS_H

#include "sweeps/sweeper.h"

// Takes them out of the impulses that a solve is to begin with. `start` are the velocities without
// impulses, `size` is their tpSweeper_FreeSpeed, m/s. Returns how many contacts had them.
int tpSweeper_DropRunawayLoads(tpSweeper* sweeper, const tpVelocity* start, double size);

#endif
