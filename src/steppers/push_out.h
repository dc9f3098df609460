// Overlaps taken back without touching velocities.

#ifndef TIPPE_SRC_STEPPERS_PUSH_OUT_H
#define TIPPE_SRC_STEPPERS_PUSH_OUT_H

#include "dynamics/system.h"

typedef struct tpPushOut {
    tpSystem* system;
    double rest; // the overlap that contacts may keep if no body is small, m
    int rounds;  // of moving and looking again, at most

    // What touches where the bodies are, found anew by `look` once they have moved: false if memory
    // ran out.
    const tpContact* found;
    int foundCount;
    const double* kept; // of each: overlap that is not taken back in this step, m; NULL: none
    bool (*look)(struct tpPushOut* push);
    void* context;        // of `look`
    tpStepReport* report; // energy that bodies gain on the way is taken off its losses

    // Of a round.
    bool* isMoved;   // of each body: it takes part
    tpContact* near; // contacts of such bodies
    double* room;    // of each of these: how far they may close, m; negative: they have to open
    int nearCount;
    double longest; // way out of a contact, m
} tpPushOut;

// Moves bodies apart that overlap; `found` lists what touches then. False if memory ran out.
bool tpPushOut_Settle(tpPushOut* push);

#endif
