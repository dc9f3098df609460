// Anderson mixing over sweeps.

#ifndef TIPPE_SRC_SWEEPS_MIXING_H
#define TIPPE_SRC_SWEEPS_MIXING_H

#include "sweeps/sweeper.h"

enum { tp_mixedSweeps = 6 }; // differences that are kept

typedef struct tpMixer {
    int packNumbers, jointNumbers, bodyNumbers;
    int kept, place;  // differences there are, and where the next one goes
    bool hasLast;     // there is a `lastStep`
    double least;     // smallest size of a step so far, squared
    double* weight;   // of each impulse in the size of a step
    double* start;    // impulses of packs, of joints, then velocities, before the sweeps
    double* step;     // what the sweeps have changed
    double* reached;  // where they have come to
    double* lastStep; // the same of the time before
    double* lastReached;
    double* stepChange[tp_mixedSweeps];
    double* reachedChange[tp_mixedSweeps];
    double gram[tp_mixedSweeps][tp_mixedSweeps]; // products of step changes
} tpMixer;

// False if memory ran out.
bool tpMixer_Create(tpMixer* mixer, const tpSweeper* sweeper, tpArena* arena);

// Before the first sweep, and whenever something else has changed the impulses; after each sweep,
// or after each few.
void tpMixer_Begin(tpMixer* mixer, const tpSweeper* sweeper);
void tpMixer_End(tpMixer* mixer, tpSweeper* sweeper);

// Solves the normal equations of `count` differences by Cholesky's factors: `gram` has their
// products with each other, `gamma` those with the last step, and then the factors of the
// differences. False if the differences are dependent.
bool tpSolveMixing(const double gram[tp_mixedSweeps][tp_mixedSweeps], int count, double* gamma);

#endif
