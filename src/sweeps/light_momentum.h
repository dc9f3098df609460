// Light sweeps with momentum.

#ifndef TIPPE_SRC_SWEEPS_LIGHT_MOMENTUM_H
#define TIPPE_SRC_SWEEPS_LIGHT_MOMENTUM_H

#include "sweeps/light.h"

typedef struct tpLightMomentum {
    // Part of the last change that is made once more, at most; it falls in a solve. Negative:
    // to be chosen with the contacts.
    double most;
    bool isLong;               // long rounds gain: contacts rub, several of them per pair
    bool mayBeCalm;            // they rub, one per pair
    bool isCalm;               // such a pile lies: its loads hardly move, and there is more of it
    double loads;              // of all contacts when momentum began, squared as sizes are
    double size;               // of the last sweep's own step, squared
    double least;              // smallest size since momentum began to build up
    int age;                   // sweeps since then
    float* start;              // impulses before the sweep whose step is measured
    float *last, *lastChanges; // impulses and changes of velocity after the sweep before
    float* reckoned;           // changes of velocity before they are made of the impulses anew
} tpLightMomentum;

// Before a solve, and after a stall: momentum is as large as it may be again.
void tpLightMomentum_Reset(tpLightMomentum* momentum);

// Memory for the contacts that have been chosen; the rest stays. False if memory ran out.
bool tpLightMomentum_Create(tpLightMomentum* momentum, const tpLightSweeper* light, tpArena* arena);

// Before the first sweep, and whenever something else has changed impulses or velocities.
void tpLightMomentum_Begin(tpLightMomentum* momentum, const tpLightSweeper* light);

// So many sweeps, the last of which is measured. It is left as it is: impulses are in their cones.
void tpLightMomentum_Sweep(tpLightMomentum* momentum, tpLightSweeper* light, int sweeps);

// Between two calls of that.
void tpLightMomentum_GoOn(tpLightMomentum* momentum, tpLightSweeper* light);

#endif
