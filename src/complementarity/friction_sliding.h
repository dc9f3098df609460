// Contacts that slide, as Newton's method of friction_states.c sees them: how far they are from
// their law, and the rows of Newton's matrix.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_SLIDING_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_SLIDING_H

#include "complementarity/friction_states.h"

// Rows along which nothing moves are left as they are.
static const double tp_leastSlidingPivot = 1e-13;

// The small problem at work: impulses and velocities of the tangential rows, and Newton's matrix
// with the right-hand side last.
typedef struct tpSliding {
    tpFrictionStates* states;
    int count;
    double* r;
    double* u;
    double* J;
} tpSliding;

// What held rows do if those that slide change: a row of W_HH^-1 W_HT.
static inline const double* tpFrictionStates_Follows(const tpFrictionStates* states,
                                                     int heldPlace) {
    return states->follows + (size_t)heldPlace * (size_t)states->slidingCount;
}

// How far the contacts that slide are from their law after these changes, m/s; writes Newton's rows
// if they are asked for.
double tpSliding_Look(const tpSliding* sliding, const double* change, bool writes);

#endif
