// An impact on the way of a flow: what it makes of velocities, in no time.
//
// A method that locates an impact itself does so within a step, whole and in halves. The flow knows
// the moment already, so that nothing is left but the law of the impact: that of bender-schmitt,
// README.md.

#ifndef TIPPE_SRC_STEPPERS_AUTO_STRIKE_H
#define TIPPE_SRC_STEPPERS_AUTO_STRIKE_H

#include "steppers/auto/group_run.h"

// Lets shapes of the group that touch and close collide where they are, and stops those that close
// still. `taken`, which has been started, has the impulses, and the losses. False if that did not
// come to an end, or energy came from nowhere: then velocities are as they were. `run->hasMemory`
// tells whether memory ran out.
bool tpGroupRun_Strike(tpGroupRun* run, tpTaken* taken);

#endif
