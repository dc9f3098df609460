// Small dense quadratic programs in a box:
//
//     min x^T A x / 2 + b^T x,     |x_i| <= bound_i,     A symmetric, positive semidefinite,
//
// by active sets: the free variables go to where they have no gradient, or until the first of them
// is at its bound, which it keeps; if none is, those at a bound that want to leave it are free
// again. The minimum falls with every step that is longer than nothing, so that sets do not come
// back. Newton's method on the complementarity conditions, which reads the sets of the next step
// from the signs of the last one, goes round in circles on the drives of a robot, and so does a
// search along projected steps: gears and loops make A singular, and steps are long along
// directions that do not matter.
//
// A singular A has no one minimum. So A + E is solved for, E a small diagonal, for x - center, the
// center being the last answer: proximal points, of which two or three are enough.

#ifndef TIPPE_SRC_COMPLEMENTARITY_BOX_QP_H
#define TIPPE_SRC_COMPLEMENTARITY_BOX_QP_H

#include "base/memory.h"

typedef struct tpBoxQp {
    int n;
    size_t stride;       // from one row of A to the next
    const double* A;     // by rows
    const double* shift; // E, positive
    const double* bound;
    double* x;       // within the box; the answer
    double* g;       // A x + b, of the x as it is
    double* scratch; // tpBoxQp_Room numbers
} tpBoxQp;

size_t tpBoxQp_Room(int n);

// Until no free variable has a gradient above `least`, and none at a bound wants to leave it by
// more. Adds the steps that it took. False if it does not get there; x is in the box all the same,
// and g belongs to it.
bool tpBoxQp_Solve(tpBoxQp* qp, double least, int* steps);

#endif
