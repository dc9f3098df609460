// Contacts that slide, as Newton's method of friction_states.c sees them: how far they are from
// their law, and the rows of Newton's matrix.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_SLIDING_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_SLIDING_H

#include "complementarity/friction_states.h"

// Rows along which nothing moves are left as they are.
static const double tp_leastSlidingPivot = 1e-13;

// A contact that slides, and where it was when it was last looked at.
typedef struct tpSlidingLook {
    int first, rows; // its tangential rows, among those that slide
    bool isDrive;
    const double* follows;        // how its normal impulse follows what slides; NULL: a drive
    double start;                 // its normal impulse if nothing slides
    double mu, bound;             // the bound of a drive
    double rho, speed;            // impulse per velocity, and velocity per impulse
    double normal;                // its normal impulse
    double hat[tp_statedRowRoom]; // r - rho u
    double length, ratio;         // of hat; the part of hat that is within the bound
    bool sticks;                  // all of it is
} tpSlidingLook;

// The small problem at work: impulses and velocities of the tangential rows, and Newton's matrix
// with the right-hand side last.
typedef struct tpSliding {
    tpFrictionStates* states;
    int count, lookCount;
    bool arePlain; // all contacts have two tangential rows and nothing else slides
    double* r;
    double* u;
    double* J;
} tpSliding;

// What held rows do if those that slide change: a row of W_HH^-1 W_HT.
static inline const double* tpFrictionStates_Follows(const tpFrictionStates* states,
                                                     int heldPlace) {
    return states->follows + (size_t)heldPlace * states->followStride;
}

// Lists the contacts that slide; held rows have their changes.
void tpSliding_Open(tpSliding* sliding);

// How far these contacts are from their law after changes, m/s.
double tpSliding_Look(const tpSliding* sliding, const double* change);

// Newton's step from where they have last been looked at. False if there is none.
bool tpSliding_FindStep(const tpSliding* sliding, double* step);

#endif
