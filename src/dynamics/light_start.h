// Where solves of many contacts begin.
//
// Newton's method makes twenty to sixty steps from a tenth of |q| until it converges fast, and a
// step of a pile takes as long as hundreds of light sweeps (sweeps/light.h), which lead there for a
// tenth of that work. They leave out by themselves what carries nothing, so that all contacts
// within reach are swept: who joins a solve is known before it.

#ifndef TIPPE_SRC_DYNAMICS_LIGHT_START_H
#define TIPPE_SRC_DYNAMICS_LIGHT_START_H

#include "dynamics/rows.h"

typedef struct tpLightStart {
    double goal;                       // the residual that the solve is asked for, m/s
    double work;                       // what the start may take
    const volatile sig_atomic_t* stop; // as in tpFrictionOptions

    // Found.
    double spent; // work
    bool isSwept; // the impulses are where Newton's method begins well
} tpLightStart;

// Whether these rows are what light sweeps can do, and so many that it is worth while: rigid
// contacts alone, in space, without torsion or rolling.
bool tpLightStart_Suits(const tpRows* rows);

// Brings the impulses of the rows nearer to the law of contact, if they are far from it and the
// work is enough for some sweeps. False if memory ran out.
bool tpLightStart_Find(tpLightStart* start, tpRows* rows, tpArena* arena);

#endif
