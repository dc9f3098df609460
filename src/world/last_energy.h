// The energies where the last step has ended, for the start of the next one: as long as nothing has
// been changed in between, they need not be found again.

#ifndef TIPPE_SRC_WORLD_LAST_ENERGY_H
#define TIPPE_SRC_WORLD_LAST_ENERGY_H

#include "dynamics/system.h"

typedef struct tpLastEnergy {
    bool isKnown;
    double kinetic, potential; // J
    // What they are of, besides masses and gravity of bodies: whoever changes these disturbs them.
    uint64_t structure, anchorShifts, lawChanges;
    double contactEnergy;
    tpVec3 gravity;
    TP_ARRAY(tpPose) poses;
    TP_ARRAY(tpVelocity) velocities;
} tpLastEnergy;

void tpLastEnergy_Destroy(tpLastEnergy* last, const tpAllocator* allocator);

// Notes the energies that the system has now. In crowds, and without joints, they are found as fast
// as the notes are compared: nothing is noted then, nor if memory ran out.
void tpLastEnergy_Note(tpLastEnergy* last, const tpSystem* system, double kinetic,
                       double potential);

// The energies of the system: those noted if it is the same to the last bit.
void tpLastEnergy_Find(const tpLastEnergy* last, const tpSystem* system, double* kinetic,
                       double* potential);

#endif
