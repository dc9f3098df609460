// How the normal impulse of a contact acts on its bodies, so that it works against the gap alone.
//
// The wrench (n; arm x n) of the middle does the work h n . u over a step, u the velocity of the
// two points there; the gap changes by psi1 - psi0, which differs from it by the third power of the
// way. What a closed contact does not lose or gain in its gap would be won or lost as energy. So
// the direction is a discrete gradient of the gap [Gonzalez96]: with s the relative spin and l a
// length of the bodies,
//
//     push = n + c u,   couple = c l^2 s,   c = ((psi1 - psi0) / h - n . u) / (u . u + l^2 s . s),
//
// the smallest change of the wrench (force at the contact point, couple) with push . u + couple . s
// = (psi1 - psi0) / h. It is of second order in the way, symmetric in time, and equal and opposite
// on the two bodies. Bodies that turn together have hardly a relative twist, and no such change is
// small: c fades out there, and what is left is met by couples along the spins of the two bodies,
// each by its own. Momentum is kept then too, angular momentum to second order. In the paper's
// step, theta = 1, nothing is changed.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NORMAL_ACTION_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NORMAL_ACTION_H

#include "dynamics/rows.h"
#include "steppers/chakraborty_trinkle/implicit_contact.h"
#include "steppers/chakraborty_trinkle/travel.h"

// Spins of the bodies that impulses move, zero for others, and what a change of a wrench is
// measured with.
typedef struct tpTwistScale {
    tpVec3 spinA, spinB;
    double square;    // l^2
    double least;     // twists that hardly count for the step, m/s
    double leastPair; // and those that hardly count beside the spins
} tpTwistScale;

tpTwistScale tpMakeTwistScale(const tpSystem* system, int bodyA, int bodyB, const tpWaypoint* a,
                              const tpWaypoint* b, double h);

// 1 / square for the square of a twist, falling to 0 far below least^2. `slope` (or NULL) receives
// its derivative.
double tpTwistWeight(double square, double least, double* slope);

// The part of l^2 times their own spins that makes couples on the two bodies do the work `missing`.
double tpSpinPart(const tpTwistScale* scale, double missing);

typedef struct tpNormalAction {
    tpVec3 push;             // on A at its point, and the other way on B at its own
    tpVec3 coupleA, coupleB; // on A and on B
    tpVec3 velocity, spin;   // u, s
    double part;             // c = defect times weight
    double defect;           // what the wrench of the middle misses, m/s
    double square;           // l^2
    double weight;           // nearly 1 / (u . u + l^2 s . s)
    double weightSlope;      // by u . u + l^2 s . s
} tpNormalAction;

// For the paper's step.
tpNormalAction tpNormalAction_AtEnd(const tpContactPlace* place);

// `rate`: (psi1 - psi0) / h, m/s.
tpNormalAction tpNormalAction_Make(const tpContactPlace* middle, const tpWaypoint* a,
                                   const tpWaypoint* b, const tpTwistScale* scale, double rate);

// Writes the normal row of a block.
void tpNormalAction_SetRow(const tpNormalAction* action, const tpContactPlace* middle, tpRows* rows,
                           int block);

#endif
