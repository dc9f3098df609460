// Leaps over sweeps that creep.

#ifndef TIPPE_SRC_SWEEPS_LIGHT_LEAP_H
#define TIPPE_SRC_SWEEPS_LIGHT_LEAP_H

#include "sweeps/light.h"

typedef struct tpLightLeap {
    float *first, *second; // impulses at two times, the same number of sweeps before each other
} tpLightLeap;

// False if memory ran out.
bool tpLightLeap_Create(tpLightLeap* leap, const tpLightSweeper* light, tpArena* arena);

// Keeps the impulses, as the second time; what was the second is the first.
void tpLightLeap_Keep(tpLightLeap* leap, const tpLightSweeper* light);

// As many sweeps after the second time as that was after the first: goes on along the last step if
// it is that of the time before. Returns by how many steps; 0: not at all.
double tpLightLeap_Take(tpLightLeap* leap, tpLightSweeper* light);

#endif
