// One step of the scheme: the impulses of a step of given length, without moving the system.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_H

#include "steppers/stewart_trinkle/passage.h"

// A contact counts as closed below this gap, m: bodies placed in contact touch from the first step
// on.
static const double tpTouchingGap = 1e-9;

typedef struct tpStewartTrinkleSettings {
    tpSolveSettings solve;
    int variant;      // tp_positionVariant and so on
    bool isPredicted; // contacts are linearised at q + h v
    bool isLocating;  // the step may be a part of one, between collisions
    bool mayBeTaut;   // there are distances that can be taut, see taut.h
    bool isTaut;      // they are
    bool* isTight;    // comes back true if a tension holds its distance fast
    double wholeStep; // of which it is a part, s
} tpStewartTrinkleSettings;

// Solves for the impulses of a step that has begun and applies them to its velocities and moves.
// `passage` is NULL unless collisions are located. False if memory ran out.
bool tpStewartTrinkle_Solve(tpTimeStep* step, const tpStewartTrinkleSettings* settings,
                            const tpPassage* passage, tpStepperMemory* memory,
                            tpStepReport* report);

#endif
