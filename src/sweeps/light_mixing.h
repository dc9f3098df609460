// Anderson mixing over light sweeps: mixing.h in single precision, products in double.

#ifndef TIPPE_SRC_SWEEPS_LIGHT_MIXING_H
#define TIPPE_SRC_SWEEPS_LIGHT_MIXING_H

#include "sweeps/light.h"
#include "sweeps/mixing.h"

// Differences that are kept; their products have room for one more.
enum { tp_lightMixed = tp_mixedSweeps - 1 };

typedef struct tpLightMixer {
    int kept, place; // differences there are, and where the next one goes
    bool hasLast;    // there is a `lastStep`
    double least;    // smallest size of a step so far, squared
    double size;     // of the last step, squared
    float* start;    // impulses before the sweeps
    float* step;     // what the sweeps have changed of the impulses
    float* lastStep; // the same of the time before
    float* lastReached;
    float* stepChange[tp_lightMixed];
    float* reachedChange[tp_lightMixed];
    double gram[tp_mixedSweeps][tp_mixedSweeps]; // products of step changes
} tpLightMixer;

// False if memory ran out.
bool tpLightMixer_Create(tpLightMixer* mixer, const tpLightSweeper* light, tpArena* arena);

// Before the first sweep, and whenever something else has changed impulses or velocities. Forgets
// all differences: contacts have changed their states since, and old differences lead in circles.
void tpLightMixer_Begin(tpLightMixer* mixer, const tpLightSweeper* light);

// After each few sweeps.
void tpLightMixer_End(tpLightMixer* mixer, tpLightSweeper* light);

#endif
