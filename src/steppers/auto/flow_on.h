// The flow within a step of the user, if strides would be shorter than that step. (After moments it
// was tried too: where something has just changed the flow seldom goes on, and tries cost more than
// they saved.)

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_ON_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_ON_H

#include "steppers/auto/group_run.h"

// Whether it is worth a try.
bool tpGroupRun_MayFlowOn(const tpGroupRun* run);

// Goes on along the flow from `start` seconds after the begin of the run, as far as the accuracy
// allows, to the end of the user's step or up to the next moment. Returns for how many seconds; 0
// if there is no flow that goes on, and then all is as it was, but for the pace.
double tpGroupRun_FlowOn(tpGroupRun* run, double start);

#endif
