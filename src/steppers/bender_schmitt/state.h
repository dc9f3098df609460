// What the stepper keeps from step to step, and what a step works with.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STATE_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_STATE_H

#include "dynamics/sleep.h"
#include "steppers/memory.h"

// Impulses of a contact in the last step, in world axes, to start from: those that kept positions
// and those that kept velocities admissible.
typedef struct tpRestMemory {
    int32_t shapeA, shapeB;
    uint64_t feature;
    tpVec3 drift, stop; // on A, N s
    double driftTorsion, stopTorsion;
} tpRestMemory;

typedef struct tpBenderSchmitt {
    tpStepperMemory* memory; // shared with the other steppers: solver, turns of joints, collider
    TP_ARRAY(tpRestMemory) rests;   // in the collider's order
    TP_ARRAY(double) driftImpulses; // impulses of joint rows, in their order
    TP_ARRAY(double) stopImpulses;

    // Contacts at the end of the last step, which are those at the start of the next, and for what
    // they hold: the poses, and how far each body may move.
    tpContactArray contacts;
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(double) margins;
    uint64_t structure; // of the system; 0: nothing is known

    // Steps before the portfolio is asked again to solve a problem that is not small, and how many
    // there were the last time.
    int wait, patience;
    // The same for steps that keep the energy to the last digits (part.c).
    int bluntWait, bluntPatience;
    tpSleep sleep;
    TP_ARRAY(tpContactInfo) tallied; // the step's tally between two of its parts
} tpBenderSchmitt;

// Entries of tpStepper.
bool tpBenderSchmitt_Create(tpSystem* system, void** state);
void tpBenderSchmitt_Destroy(tpSystem* system, void* state);
size_t tpBenderSchmitt_SavedSize(const void* state);
void tpBenderSchmitt_Save(const void* state, void* saved);
bool tpBenderSchmitt_Restore(tpSystem* system, void* state, tpSavedReader* reader);

// The memory of a contact, or NULL. Contacts are asked for in order; `cursor` starts at 0.
const tpRestMemory* tpBenderSchmitt_Find(const tpBenderSchmitt* state, const tpContact* contact,
                                         int* cursor);

// Adds the contacts of islands that have just woken: half of what they carried held positions, half
// velocities. False if memory ran out.
bool tpBenderSchmitt_AddWoken(tpBenderSchmitt* state, const tpAllocator* allocator);

#endif
