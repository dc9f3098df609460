// One step of the scheme: the impulses of a step of given length, without moving the system.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_H

#include "steppers/memory.h"

// A contact counts as closed below this gap, m: bodies placed in contact touch from the first step
// on.
static const double tpTouchingGap = 1e-9;

typedef struct tpStewartTrinkleSettings {
    tpSolveSettings solve;
    int variant;      // tp_positionVariant and so on
    bool isPredicted; // contacts are linearised at q + h v
    bool isLocating;  // the step may be a part of one, between collisions
    double wholeStep; // of which it is a part, s
} tpStewartTrinkleSettings;

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

// Solves for the impulses of a step that has begun and applies them to its velocities and moves.
// `passage` is NULL unless collisions are located. False if memory ran out.
bool tpStewartTrinkle_Solve(tpTimeStep* step, const tpStewartTrinkleSettings* settings,
                            const tpPassage* passage, tpStepperMemory* memory,
                            tpStepReport* report);

#endif
