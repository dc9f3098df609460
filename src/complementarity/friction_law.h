// What a contact of three rows does in a step of Newton's method, without matrices.
//
// Its linearised law A (du + weight dr) + B dr = -F (friction_linear.h) has one of two forms. A
// contact that sticks has A = I, B = 0. One that slides along -t, with n normal to t in the plane
// of contact and ratio = R / |r^_T| of Alart and Curnier's function, has C = weight A + B with
//
//     C^-1   = (1 / weight) (e_N + (1 - weight) mu t) e_N' + t t' + n n' / c,
//     C^-1 A = (1 / weight) (e_N + mu t) e_N' + (ratio / c) n n',   c = 1 - (1 - weight) ratio:
//
// two products of vectors in place of three, and nothing to invert.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_LAW_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_LAW_H

#include <stdbool.h>

typedef struct tpFrictionLaw {
    bool isPlain; // the block is a contact of three rows, and what follows tells its law
    bool isSliding;
    double mu, t[2], ratio;
} tpFrictionLaw;

// F of Alart and Curnier at (r, u), and the law. Returns whether it is in play.
bool tpFrictionLaw_Find(double mu, const double* r, const double* u, double* F, tpFrictionLaw* law);

// y = C^-1 x, and y = C^-1 A x.
void tpFrictionLaw_Solve(const tpFrictionLaw* law, double weight, const double* x, double* y);
void tpFrictionLaw_Respond(const tpFrictionLaw* law, double weight, const double* x, double* y);

// Adds G_i^T (C^-1 A) G_j to the 6 x 6 blocks of the two bodies of a contact: values + couple[k]
// for aa, ab, ba, bb, none if that is negative. G has three rows, six numbers per body.
void tpFrictionLaw_AddProducts(const tpFrictionLaw* law, double weight, const double* G,
                               const int* couple, double* values);

#endif
