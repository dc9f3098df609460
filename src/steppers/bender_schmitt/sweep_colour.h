// Which contacts are swept at once.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_COLOUR_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SWEEP_COLOUR_H

#include "steppers/bender_schmitt/sweep.h"

// Gives every contact its place in the sweeper's packs and cuts the packs into runs and colours; packs
// themselves are not made yet. The last `torsionCount` packs are for contacts with torsion. The bodies'
// masses are known. False where memory ran out.
bool tpSweeper_Colour(tpSweeper* sweeper, const tpContact* contacts, const bool* isTorsional,
                      int count, tpArena* arena);

#endif
