// The best impulses that a solve has come to.

#ifndef TIPPE_SRC_SWEEPS_KEPT_IMPULSES_H
#define TIPPE_SRC_SWEEPS_KEPT_IMPULSES_H

#include "sweeps/sweeper.h"

// Impulses of all contacts without torsion, and their residual.
typedef struct tpKeptImpulses {
    double* impulses; // of each pack
    double miss;      // m/s; infinite before anything is kept
} tpKeptImpulses;

// False if memory ran out.
bool tpKeptImpulses_Create(tpKeptImpulses* kept, const tpSweeper* sweeper, tpArena* arena);

// Keeps the sweeper's impulses if they are the best so far.
void tpKeptImpulses_Keep(tpKeptImpulses* kept, const tpSweeper* sweeper, double miss);

// Gives the best ones back. Velocities are the caller's task (tpSweeper_WarmStart).
void tpKeptImpulses_TakeBack(const tpKeptImpulses* kept, tpSweeper* sweeper);

#endif
