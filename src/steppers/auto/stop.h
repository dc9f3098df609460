// The ends of slips.
//
// A slip that is nearly over ends so soon that nothing else changes until then: friction takes it
// away by the impulses that bring the contact to rest, in a time in which nobody moves. So the flow
// goes on from there with contacts that stick, and no step has to find the end itself. README.md.

#ifndef TIPPE_SRC_STEPPERS_AUTO_STOP_H
#define TIPPE_SRC_STEPPERS_AUTO_STOP_H

#include "steppers/auto/group_run.h"

// Slips that are slower and come to their end may be stopped, m/s.
double tpGroupRun_StopSpeed(const tpGroupRun* run);

// Stops such slips `start` seconds after the begin of the user's step, and goes on by the flow.
// Returns how far it has come; 0 if these contacts do not stick then, and nothing has moved.
double tpGroupRun_StopAndFlowOn(tpGroupRun* run, double start);

#endif
