// What a part of the world's step takes back of overlaps and joint errors at its start: its share.
//
// A step may be a part of the world's: up to a collision, in front of a fast body, a half of a
// half. The scheme takes an error back within the step, at the speed error / h, which grows without
// bound as h goes to 0.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SHARE_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SHARE_H

#include "steppers/stewart_trinkle/solve.h"

typedef struct tpStepShare {
    double part;            // of the world's step, 1 for all of it
    const tpContact* start; // contacts where the part begins; none for a whole step
    int startCount;
} tpStepShare;

// Of a step that has begun; `passage` may be NULL. False if memory ran out.
bool tpStepShare_Find(tpStepShare* share, const tpTimeStep* step, const tpPassage* passage);

// Errors of position in the joints' rows at the start of the step, in the order of the rows. False
// if memory ran out.
bool tpStepShare_FindErrors(const tpTimeStep* step, tpRows* start);

// Changes the biases of the step's rows so that they take back the share. False if memory ran out.
bool tpStepShare_SlowCorrections(const tpStepShare* share, tpTimeStep* step);

// The deepest overlap that the step is to leave, and a little more for rows that bend, m.
double tpStepShare_DeepestMeant(const tpStepShare* share);

#endif
