// What a step of the flow is off by, as its own stages tell.

#ifndef TIPPE_SRC_STEPPERS_AUTO_FLOW_ERROR_H
#define TIPPE_SRC_STEPPERS_AUTO_FLOW_ERROR_H

#include "steppers/auto/flow.h"

// Of one body of the group: at the end of the step, m, and m/s at its surface, and half way, where
// a polynomial of third degree through start and end has it, m.
typedef struct tpFlowError {
    double position, speed, middle;
} tpFlowError;

// After a step of h seconds that was good and has ended where the system is.
tpFlowError tpFlow_BodyError(const tpFlow* flow, const tpGroupRun* run, int body, double h);

// The largest of the group, velocities times the time scale, and that half way, m. `middle` may be
// NULL.
double tpFlow_Error(const tpFlow* flow, const tpGroupRun* run, double h, double* middle);

// In parts of what is allowed: if that error is at most so much, the step needs no halves.
static const double tpFlow_Enough = 0.5;

#endif
