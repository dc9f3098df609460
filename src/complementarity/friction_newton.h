// Newton's method on Alart and Curnier's function, shared by the Newton and the proximal solver.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_NEWTON_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_NEWTON_H

#include "complementarity/friction_factor.h"

typedef struct tpFrictionNewton {
    tpFrictionIsland* island;
    tpBlockFactor factor;
    bool* inPlay;
    double* velocity; // derivative of the function by u and by r, 16 numbers a block
    double* impulse;
    double* function; // F
    double* step;     // dr and W dr
    double* stepVelocity;
    double* r; // the iterate and u = W r + q
    double* u;
    double* trial;
    double* trialVelocity;
    int iterations;
} tpFrictionNewton;

bool tpFrictionNewton_Create(tpFrictionNewton* newton, tpFrictionIsland* island, tpArena* arena);

// From newton->r, u: solves the problem with u + weight (r - center) in place of u, until the norm of
// the function is `fraction` of what it was or the island is solved (status tp_solved either way), the
// line search gives out (tp_stalled), or the limit. Offers every iterate to the island. Returns the
// last norm.
double tpFrictionNewton_Run(tpFrictionNewton* newton, double weight, const double* center,
                            double fraction, int limit, tpSolveStatus* status);

#endif
