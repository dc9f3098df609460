// A step of the world that leaves joints together and bodies apart.
//
// Joints that are torn apart cannot be closed again without energy from nowhere, and a body that
// was driven half way into another is pushed out on the other side. Energy from nowhere stays. A
// step that does one of these is taken again from its start in two parts. The islands of those
// joints and bodies take it by linear rows; if these fail too they go as far as all goes well, and
// stand still for the rest of the step, which the report says. All other bodies take the whole step
// without them. Islands whose distances were left taut, or found no end of late, begin with linear
// rows. An island is what joints, couplings and contacts hold together, contacts being
// those that bodies can come to within the step.

#ifndef TIPPE_SRC_STEPPERS_JOINED_STEP_H
#define TIPPE_SRC_STEPPERS_JOINED_STEP_H

#include "steppers/kept.h"

typedef struct tpJoinedStep {
    const tpStepper* stepper;
    tpSystem* system;
    void* state;
    const tpOptions* options;
    double h;
    tpKept start;   // the motion alone if nothing is ever taken again
    bool mayTear;   // there are joints
    tpVec3* forces; // of joints, in the last step; NULL if nobody asks
} tpJoinedStep;

// Keeps the start of the step. False if memory ran out.
bool tpJoinedStep_Begin(tpJoinedStep* step);

// Moves the system by h seconds.
void tpJoinedStep_Take(tpJoinedStep* step, tpStepReport* report);

#endif
