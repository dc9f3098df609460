// Conjugate directions over sweeps.

#ifndef TIPPE_SRC_SWEEPS_ACCELERATE_H
#define TIPPE_SRC_SWEEPS_ACCELERATE_H

#include "sweeps/sweeper.h"

// Impulses of the packs, as they were and as they are going; the same for joints and velocities.
typedef struct tpAccelerator {
    int packNumbers, jointNumbers, bodyCount;
    double* last;      // impulses before the sweep
    double* direction; // of the impulses
    tpVelocity* lastVelocities;
    tpVelocity* velocityDirection; // what the direction does to the velocities
    double size;                   // of the last change, squared; 0: none yet
} tpAccelerator;

// False if memory ran out.
bool tpAccelerator_Create(tpAccelerator* accelerator, const tpSweeper* sweeper, tpArena* arena);

// Before the first sweep, and whenever something else has changed the impulses; after each sweep.
void tpAccelerator_Begin(tpAccelerator* accelerator, const tpSweeper* sweeper);
void tpAccelerator_End(tpAccelerator* accelerator, tpSweeper* sweeper);

#endif
