// Newton's method on Alart and Curnier's function, shared by the Newton and the proximal solver.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_NEWTON_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_NEWTON_H

#include "complementarity/friction_linear.h"

// F of one block of n rows, and its derivatives by u (A) and r (B). Returns whether it is in play.
bool tpFrictionAlartCurnier(int n, int kind, double mu, const double* r, const double* u, double* F,
                            double* A, double* B);

typedef struct tpFrictionNewton {
    tpFrictionIsland* island;
    tpFrictionLinear linear;
    bool* inPlay;
    double* velocity; // derivatives of the function by u and by r, linear.lawStride numbers per
                      // block; of blocks whose law is plain, the law alone is found
    double* impulse;
    double* function; // F
    double* step;     // dr
    double* scratch;
    double* r; // the iterate and u = W r + q
    double* u;
    double* trial;
    double* trialVelocity;
    int iterations;
    bool isTooDear; // the next step is beyond what the island may cost
} tpFrictionNewton;

bool tpFrictionNewton_Create(tpFrictionNewton* newton, tpFrictionIsland* island, tpArena* arena);

// Moves newton->r on by `factor` of the way it came from `previous`, where that is a better start
// for the problem with this center. A center that drifts steadily is met half way.
void tpFrictionNewton_Predict(tpFrictionNewton* newton, double weight, const double* center,
                              const double* previous, const double* previousVelocity,
                              double factor);

// From newton->r, u: solves the problem with u + weight (r - center) in place of u, until the norm
// of the function is `fraction` of what it was or the island is solved (status tp_solved either
// way), the line search gives out (tp_stalled), or the limit. Offers every iterate to the island.
// Returns the last norm. Bold: the first steps may go uphill.
double tpFrictionNewton_Run(tpFrictionNewton* newton, double weight, const double* center,
                            bool isBold, double fraction, int limit, tpSolveStatus* status);

#endif
