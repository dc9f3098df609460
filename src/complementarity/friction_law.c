// The laws of contacts in Newton's method, by their vectors. See the header for the equations.

#include "complementarity/friction_law.h"

#include <math.h>
#include <string.h>

static inline double sidewaysOf(const tpFrictionLaw* law, double weight) {
    return 1.0 - (1.0 - weight) * law->ratio;
}

void tpFrictionLaw_Solve(const tpFrictionLaw* law, double weight, const double* x, double* y) {
    y[0] = x[0] / weight;
    if (!law->isSliding) {
        y[1] = x[1] / weight;
        y[2] = x[2] / weight;
        return;
    }
    // c (x - t t' x) is that of n; without a direction, t = 0, it is all of x.
    double inverse = 1.0 / sidewaysOf(law, weight);
    double along = law->t[0] * x[1] + law->t[1] * x[2];
    double push = (1.0 - weight) * law->mu * y[0] + along - along * inverse;
    y[1] = push * law->t[0] + x[1] * inverse;
    y[2] = push * law->t[1] + x[2] * inverse;
}

void tpFrictionLaw_Respond(const tpFrictionLaw* law, double weight, const double* x, double* y) {
    y[0] = x[0] / weight;
    if (!law->isSliding) {
        y[1] = x[1] / weight;
        y[2] = x[2] / weight;
        return;
    }
    double aside = (law->t[0] * x[2] - law->t[1] * x[1]) * (law->ratio / sidewaysOf(law, weight));
    double push = law->mu * y[0];
    y[1] = push * law->t[0] - aside * law->t[1];
    y[2] = push * law->t[1] + aside * law->t[0];
}

void tpFrictionLaw_AddProducts(const tpFrictionLaw* law, double weight, const double* G,
                               const int* couple, double* values, const tpSixKernels* six) {
    double left[36], right[24], inverse = 1.0 / weight;
    if (!law->isSliding) {
        for (int i = 0; i < 36; ++i) {
            left[i] = G[i] * inverse;
        }
        six->addCouples(3, left, G, couple, values);
        return;
    }
    double aside = law->ratio / sidewaysOf(law, weight), push = law->mu * inverse;
    for (int i = 0; i < 12; ++i) {
        double along = law->t[0] * G[12 + i] + law->t[1] * G[24 + i];
        left[i] = G[i] * inverse + push * along;
        right[i] = G[i];
        right[12 + i] = law->t[0] * G[24 + i] - law->t[1] * G[12 + i];
        left[12 + i] = aside * right[12 + i];
    }
    six->addCouples(2, left, right, couple, values);
}
