// The laws of contacts in Newton's method, by their vectors. See the header for the equations.

#include "complementarity/friction_law.h"

#include <math.h>
#include <string.h>

#include "math/pairs.h"

bool tpFrictionLaw_Find(double mu, const double* r, const double* u, double* F,
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

// The block of the bodies `a` and `b`, out += left right' of `count` pairs of vectors; those of a
// contact are twelve numbers apart.
static inline void addOuter(int count, const double* left, const double* right, double* out) {
    tpSix row[3];
    for (int k = 0; k < count; ++k) {
        row[k] = tpLoadSix(right + 12 * k);
    }
    for (int i = 0; i < 6; ++i) {
        tpSix sum = tpLoadSix(out + 6 * i);
        for (int k = 0; k < count; ++k) {
            double factor = left[12 * k + i];
            tpPair both = { factor, factor };
            sum.a += both * row[k].a;
            sum.b += both * row[k].b;
            sum.c += both * row[k].c;
        }
        memcpy(out + 6 * i, &sum, 6 * sizeof(double));
    }
}

static inline void addAll(int count, const double* left, const double* right, const int* couple,
                          double* values) {
    for (int c = 0; c < 4; ++c) {
        if (couple[c] >= 0) {
            addOuter(count, left + 6 * (c / 2), right + 6 * (c % 2), values + couple[c]);
        }
    }
}

void tpFrictionLaw_AddProducts(const tpFrictionLaw* law, double weight, const double* G,
                               const int* couple, double* values) {
    double left[36], right[24], inverse = 1.0 / weight;
    if (!law->isSliding) {
        for (int i = 0; i < 36; ++i) {
            left[i] = G[i] * inverse;
        }
        addAll(3, left, G, couple, values);
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
    addAll(2, left, right, couple, values);
}
