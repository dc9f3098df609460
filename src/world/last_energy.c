#include "world/last_energy.h"

#include <string.h>

#include "dynamics/forces.h"

enum { mostBodies = 512 };

void tpLastEnergy_Destroy(tpLastEnergy* last, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, last->poses);
    TP_FREE_ARRAY(allocator, last->velocities);
}

void tpLastEnergy_Note(tpLastEnergy* last, const tpSystem* system, double kinetic,
                       double potential) {
    int count = system->bodyCount;
    last->isKnown = system->joints.count > 0 && system->couplings.count == 0 && count > 0 &&
                    count <= mostBodies && TP_RESERVE(&system->allocator, last->poses, count) &&
                    TP_RESERVE(&system->allocator, last->velocities, count);
    if (!last->isKnown) {
        return;
    }
    last->kinetic = kinetic;
    last->potential = potential;
    last->structure = system->structure;
    last->anchorShifts = system->anchorShifts;
    last->lawChanges = system->lawChanges;
    last->contactEnergy = system->contactEnergy;
    last->gravity = system->gravity;
    memcpy(last->poses.data, system->poses.data, sizeof(tpPose) * (size_t)count);
    memcpy(last->velocities.data, system->velocities.data, sizeof(tpVelocity) * (size_t)count);
}

// The structure tells how many bodies there are.
static bool isSame(const tpLastEnergy* last, const tpSystem* system) {
    size_t count = (size_t)system->bodyCount;
    return last->isKnown && !system->hasDisturbed && last->structure == system->structure &&
           last->anchorShifts == system->anchorShifts && last->lawChanges == system->lawChanges &&
           last->contactEnergy == system->contactEnergy &&
           memcmp(&last->gravity, &system->gravity, sizeof(tpVec3)) == 0 &&
           memcmp(last->poses.data, system->poses.data, sizeof(tpPose) * count) == 0 &&
           memcmp(last->velocities.data, system->velocities.data, sizeof(tpVelocity) * count) == 0;
}

void tpLastEnergy_Find(const tpLastEnergy* last, const tpSystem* system, double* kinetic,
                       double* potential) {
    if (isSame(last, system)) {
        *kinetic = last->kinetic;
        *potential = last->potential;
    } else {
        tpSystem_FindEnergies(system, kinetic, potential);
    }
}
