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

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/block_column.h"

typedef struct tpFrictionLaw {
    bool isPlain; // the block is a contact of three rows, and what follows tells its law
    bool isSliding;
    double mu, t[2], ratio;
} tpFrictionLaw;

// F of Alart and Curnier at (r, u), and the law. Returns whether it is in play.
static inline bool tpFrictionLaw_Find(double mu, const double* r, const double* u, double* F,
                                      tpFrictionLaw* law) {
    double normal = r[0] - u[0];
    if (!(normal > 0.0)) {
        memcpy(F, r, 3 * sizeof(double));
        return false;
    }
    double x = r[1] - u[1], y = r[2] - u[2];
    double norm = sqrt(x * x + y * y), radius = mu * normal;
    F[0] = u[0];
    law->isSliding = !(norm <= radius && radius > 0.0);
    if (!law->isSliding) {
        F[1] = u[1];
        F[2] = u[2];
        return true;
    }
    double inverse = norm > 0.0 ? 1.0 / norm : 0.0;
    law->mu = mu;
    law->t[0] = x * inverse;
    law->t[1] = y * inverse;
    law->ratio = radius * inverse;
    F[1] = r[1] - law->ratio * x;
    F[2] = r[2] - law->ratio * y;
    return true;
}

// y = C^-1 x, and y = C^-1 A x.
void tpFrictionLaw_Solve(const tpFrictionLaw* law, double weight, const double* x, double* y);
void tpFrictionLaw_Respond(const tpFrictionLaw* law, double weight, const double* x, double* y);

// Adds G_i^T (C^-1 A) G_j to the 6 x 6 blocks of the two bodies of a contact: values + couple[k]
// for aa, ab, ba, bb, none if that is negative. G has three rows, six numbers per body.
void tpFrictionLaw_AddProducts(const tpFrictionLaw* law, double weight, const double* G,
                               const int* couple, double* values, const tpSixKernels* six);

#endif
