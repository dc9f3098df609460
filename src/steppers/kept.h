// A state of the system and of the stepper that moves it, to go back to.

#ifndef TIPPE_SRC_STEPPERS_KEPT_H
#define TIPPE_SRC_STEPPERS_KEPT_H

#include "dynamics/kept_motion.h"
#include "steppers/stepper.h"

typedef struct tpKept {
    tpKeptMotion motion;
    const char** carriers; // of bodies
    void* saved;           // what the stepper keeps, NULL if nothing
    size_t savedSize;
} tpKept;

// Copies into the system's arena; `stepper` may be NULL, then the motion alone is kept. False if
// memory ran out.
bool tpKept_Take(tpKept* kept, tpSystem* system, const tpStepper* stepper, const void* state);

// Puts all of it back, or the motion alone if `stepper` is NULL. False if memory ran out.
bool tpKept_PutBack(const tpKept* kept, tpSystem* system, const tpStepper* stepper, void* state);

#endif
