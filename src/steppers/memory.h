// What the steppers that solve complementarity problems keep from step to step.

#ifndef TIPPE_SRC_STEPPERS_MEMORY_H
#define TIPPE_SRC_STEPPERS_MEMORY_H

#include "dynamics/energy_guard.h"
#include "dynamics/joint_bends.h"
#include "dynamics/row_history.h"
#include "dynamics/time_step.h"
#include "steppers/stepper.h"

typedef struct tpStepperMemory {
    tpAllocator allocator;
    tpSolverMemory* solver;
    tpContactHistory history;
    tpRowHistory driftRows, endRows; // of joints, in the two problems of a symmetric step
    tpJointBendsList bends;          // of trees of joints, in the first of them
    TP_ARRAY(tpVelocity) before;     // velocities at the start of the last step
    double lastLoss;                 // energy lost in the last step, J
    tpEnergyBook book;               // of the energy guard
    uint64_t structure;              // of the system when it last took a step, 0 before
    const tpSystem* system;
} tpStepperMemory;

// Entries of tpStepper.
bool tpStepperMemory_Create(tpSystem* system, void** state);
void tpStepperMemory_Destroy(tpSystem* system, void* state);
size_t tpStepperMemory_SavedSize(const void* state);
void tpStepperMemory_Save(const void* state, void* memory);
bool tpStepperMemory_Restore(tpSystem* system, void* state, tpSavedReader* reader);
tpEnergyBook* tpStepperMemory_BookOf(void* state);

// All of them, for steppers that keep nothing else.
#define TP_STEPPER_MEMORY                                                                          \
    .create = tpStepperMemory_Create, .destroy = tpStepperMemory_Destroy,                          \
    .savedSize = tpStepperMemory_SavedSize, .save = tpStepperMemory_Save,                          \
    .restore = tpStepperMemory_Restore, .bookOf = tpStepperMemory_BookOf

// How the rows are solved, from the options.
tpSolveSettings tpSolveSettings_FromOptions(const tpOptions* options);

#endif
