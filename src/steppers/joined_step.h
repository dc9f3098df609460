// A step of the world that leaves joints together.
//
// Joints that are torn apart cannot be closed again without energy from nowhere. If a step tears
// some, it is taken again from its start in two parts. The islands of those joints go as far as
// their joints hold, and stand still for the rest of the step, which the report says. All other
// bodies take the whole step without them. An island is what joints, couplings and contacts hold
// together, contacts being those that bodies can come to within the step.

#ifndef TIPPE_SRC_STEPPERS_JOINED_STEP_H
#define TIPPE_SRC_STEPPERS_JOINED_STEP_H

#include "steppers/kept.h"

typedef struct tpJoinedStep {
    const tpStepper* stepper;
    tpSystem* system;
    void* state;
    const tpOptions* options;
    double h;
    tpKept start; // the motion alone if no joint can be torn
    bool mayTear; // there are joints
} tpJoinedStep;

// Keeps the start of the step. False if memory ran out.
bool tpJoinedStep_Begin(tpJoinedStep* step);

// Moves the system by h seconds.
void tpJoinedStep_Take(tpJoinedStep* step, tpStepReport* report);

#endif
