// Puts joints and contacts right after bodies were moved along a line that leaves both.

#ifndef TIPPE_SRC_STEPPERS_AUTO_CLOSING_H
#define TIPPE_SRC_STEPPERS_AUTO_CLOSING_H

#include "steppers/auto/group_run.h"

// Joints, and joints that are open by more than a drift, m. Whether bodies were moved for that.
void tpGroupRun_CloseJoints(const tpGroupRun* run);
bool tpGroupRun_CloseJointsTo(const tpGroupRun* run, double drift);

// Joints, and the gaps of contacts that have pushed: a method takes a contact with a gap for one
// that is to come, and its step is of first order then.
void tpGroupRun_Close(tpGroupRun* run, const tpTally* tally);

#endif
