// Shock propagation: a pass that carries loads from the top of a pile to its ground at once.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SHOCK_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_SHOCK_H

#include "sweeps/sweeper.h"

// One pass over the levels of the contact graph. Velocities are left as the frozen masses made
// them: the caller sets them anew from the impulses. False if memory ran out.
bool tpShock_Propagate(tpSweeper* sweeper, tpArena* arena);

#endif
