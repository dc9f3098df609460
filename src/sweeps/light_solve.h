// Rounds of light sweeps until a certificate is met.

#ifndef TIPPE_SRC_SWEEPS_LIGHT_SOLVE_H
#define TIPPE_SRC_SWEEPS_LIGHT_SOLVE_H

#include <signal.h>

#include "sweeps/light.h"

typedef struct tpLightTask {
    const tpVelocity* start; // velocities without impulses, another array than the sweeper's
    double goal;             // for tpSweeper_Miss, m/s
    double enough;           // the same for a solve that has stalled
    int limit;               // of light sweeps
    // Asked for better impulses of the chosen contacts if sweeps have stalled several times; may be
    // NULL. False if memory ran out.
    bool (*help)(void* context, const tpLightSweeper* light);
    void* context;
    // Not NULL and pointing to a nonzero number: the solve ends with what there is.
    const volatile sig_atomic_t* stop;

    // Found.
    int sweeps;
    double miss;
} tpLightTask;

// Goes on from the sweeper's impulses, with velocities that belong to them, and leaves both so;
// `speed` of its packs is that of the velocities. Without joints and torsion. False if memory ran
// out.
bool tpLight_Solve(tpSweeper* sweeper, tpLightTask* task, tpArena* arena);

#endif
