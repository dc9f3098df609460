// What the stepper keeps from step to step.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_STATE_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_STATE_H

#include "dynamics/sleep.h"
#include "steppers/memory.h"

typedef struct tpSmallSteps {
    tpStepperMemory* memory; // shared with the other steppers: the collider's state

    // Contacts at the end of the last step, which are those at the start of the next, and for what they
    // hold: the poses, and how far each body may move.
    tpContactArray contacts;
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(double) margins;
    uint64_t structure;      // of the system; 0: nothing is known
    TP_ARRAY(tpVec3) starts; // the impulse each of those contacts starts from, on A in world axes
    tpContactArray past;     // contacts of the last step's start
    tpSleep sleep;
} tpSmallSteps;

// Entries of tpStepper.
bool tpSmallSteps_Create(tpSystem* system, void** state);
void tpSmallSteps_Destroy(tpSystem* system, void* state);
size_t tpSmallSteps_SavedSize(const void* state);
void tpSmallSteps_Save(const void* state, void* saved);
bool tpSmallSteps_Restore(tpSystem* system, void* state, const void* saved);

#endif
