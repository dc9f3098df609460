// How the normal impulse of a contact acts on its bodies, so that it works against the gap alone.
//
// The wrench (n; arm x n) of the middle does the work h n . u over a step, u the velocity of the two points
// there; the gap changes by psi1 - psi0, which differs from it by the third power of the way. What a closed
// contact does not lose or gain in its gap would be won or lost as energy. So the direction is a discrete
// gradient of the gap [Gonzalez96]: with s the relative spin and l a length of the bodies,
//
//     push = n + c u,   couple = c l^2 s,   c = ((psi1 - psi0) / h - n . u) / (u . u + l^2 s . s),
//
// the smallest change of the wrench (force at the contact point, couple) with push . u + couple . s =
// (psi1 - psi0) / h. It is of second order in the way, symmetric in time, the same for every observer, and
// equal and opposite on the two bodies. In the paper's step, theta = 1, c is 0.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NORMAL_ACTION_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_NORMAL_ACTION_H

#include "dynamics/rows.h"
#include "steppers/chakraborty_trinkle/implicit_contact.h"
#include "steppers/chakraborty_trinkle/travel.h"

typedef struct tpNormalAction {
    tpVec3 push, couple;
    tpVec3 velocity, spin; // u, s
    double part;           // c = defect times weight
    double defect;         // what the wrench of the middle misses, m/s
    double square;         // l^2
    double weight;         // 1 / (u . u + l^2 s . s), falling to 0 where nothing moves
    double weightSlope;    // by u . u + l^2 s . s
} tpNormalAction;

// For the paper's step.
tpNormalAction tpNormalAction_AtEnd(const tpContactPlace* place);

// `rate`: (psi1 - psi0) / h, m/s; `length`: l, m.
tpNormalAction tpNormalAction_Make(const tpContactPlace* middle, const tpWaypoint* a,
                                   const tpWaypoint* b, double rate, double length, double h);

// Writes the normal row of a block.
void tpNormalAction_SetRow(const tpNormalAction* action, const tpContactPlace* middle, tpRows* rows,
                           int block);

#endif
