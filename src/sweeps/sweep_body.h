// A body as the sweeps see it.

#ifndef TIPPE_SRC_SWEEPS_SWEEP_BODY_H
#define TIPPE_SRC_SWEEPS_SWEEP_BODY_H

// Inverse mass of a body; all zeros if impulses do not move it.
typedef struct tpSweepBody {
    double inverseMass;
    double inverseInertia[6]; // world axes: xx yy zz xy xz yz
    double spare;             // free for the sweeps' caller
} tpSweepBody;

_Static_assert(sizeof(tpSweepBody) == 64, "one cache line per body");

#endif
