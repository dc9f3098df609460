// Contacts of a step that lets collisions happen.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_PASSAGE_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_PASSAGE_H

#include "steppers/memory.h"

typedef struct tpCollidingPair {
    int32_t shapeA, shapeB;
} tpCollidingPair;

// Collisions that a step lets happen: contacts of these pairs that are open at its start are not
// held.
typedef struct tpPassage {
    const tpCollidingPair* pairs;
    int pairCount;
    const tpContact* start; // contacts at the start of the step
    int startCount;
    double touching; // m: contacts with larger gaps at the start are open
} tpPassage;

bool tpPassage_Lets(const tpPassage* passage, const tpContact* contact);

// The contacts of a step at the given poses, and those where it ends, without those that are let
// pass; `passage` may be NULL: nothing passes. False if memory ran out.
bool tpPassage_FindContacts(const tpPassage* passage, tpTimeStep* step, const tpPose* poses);
bool tpPassage_FindEndContacts(const tpPassage* passage, tpTimeStep* step);

#endif
