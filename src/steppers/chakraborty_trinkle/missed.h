// Contacts that nobody saw where the step began, and that overlap where it ends: other features of
// the same bodies, mostly.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MISSED_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_MISSED_H

#include "steppers/chakraborty_trinkle/islands.h"

// The contacts of the step with those that were missed among them, as they were at its start, in
// the arena.
typedef struct tpCompletion {
    tpContact* contacts;
    int* sources; // their numbers in the step, -1: missed
    int count, missedCount;
} tpCompletion;

// False if memory ran out.
bool tpImplicitStep_FindMissed(tpImplicitStep* step, tpCompletion* out);

// What a solve has found, to begin the next from: impulses of contacts by number, and which bodies
// took the step with theta = 1.
typedef struct tpFound {
    double (*impulses)[TP_FRICTION_MAX_ROWS];
    double* thetas;
} tpFound;

// False if memory ran out.
bool tpImplicitStep_Keep(tpImplicitStep* step, tpFound* out);

// For the contacts of the completed list, which are those of the step by now.
void tpImplicitStep_Resume(tpImplicitStep* step, const tpCompletion* completion,
                           const tpFound* found);

#endif
