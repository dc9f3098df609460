// The law of a contact by its vectors against the matrices of Alart and Curnier's function.

#include "complementarity/friction_law.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "complementarity/friction_newton.h"
#include "support/check.h"

static double next(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

typedef struct Case {
    double mu, weight, r[3], u[3];
} Case;

// Contacts that stick, slide or are open, some without friction, at weights of all sizes.
static Case makeCase(uint64_t* state, int number) {
    Case made = { .mu = number % 7 == 0 ? 0.0 : fabs(next(state)),
                  .weight = pow(10.0, -1.0 - 4.0 * fabs(next(state))) };
    for (int i = 0; i < 3; ++i) {
        made.r[i] = (i == 0 ? 1.0 : 0.5) * next(state);
        made.u[i] = 0.5 * next(state);
        // Without friction nothing may be left to project.
        made.r[i] = number % 21 == 0 && i > 0 ? made.u[i] : made.r[i];
    }
    return made;
}

// C^-1 and C^-1 A by elimination.
static void eliminate(const Case* from, const double* A, const double* B, double* inverse,
                      double* response) {
    double C[9];
    for (int i = 0; i < 9; ++i) {
        C[i] = from->weight * A[i] + B[i];
    }
    tpInvertBlock(3, C, inverse);
    tpMultiplyBlocks(3, 3, 3, inverse, A, response);
}

static void vectorsAgreeWithMatrices(void** unused) {
    (void)unused;
    uint64_t state = 11;
    int sliding = 0, sticking = 0, open = 0;
    for (int k = 0; k < 400; ++k) {
        Case from = makeCase(&state, k);
        double F[3], plainF[3], A[9], B[9], inverse[9], response[9];
        tpFrictionLaw law = { .isPlain = true };
        bool inPlay = tpFrictionAlartCurnier(3, tp_frictionCone, from.mu, from.r, from.u, F, A, B);
        assert_int_equal(tpFrictionLaw_Find(from.mu, from.r, from.u, plainF, &law), inPlay);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(plainF[i], F[i], 1e-15);
        }
        open += !inPlay;
        sliding += inPlay && law.isSliding;
        sticking += inPlay && !law.isSliding;
        if (!inPlay) {
            continue;
        }
        eliminate(&from, A, B, inverse, response);
        double x[3] = { next(&state), next(&state), next(&state) };
        double solved[3], expected[3], tolerance = 1e-13 / from.weight;
        tpFrictionLaw_Solve(&law, from.weight, x, solved);
        tpMultiplyBlocks(3, 3, 1, inverse, x, expected);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(solved[i], expected[i], tolerance);
        }
        tpFrictionLaw_Respond(&law, from.weight, x, solved);
        tpMultiplyBlocks(3, 3, 1, response, x, expected);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(solved[i], expected[i], tolerance);
        }
    }
    assert_true(sliding > 80 && sticking > 20 && open > 100);
}

// G' S G of both bodies, and of one beside what is fixed.
static void productsAreThoseOfTheResponse(void** unused) {
    (void)unused;
    uint64_t state = 5;
    for (int k = 0; k < 200; ++k) {
        Case from = makeCase(&state, k);
        double F[3], A[9], B[9], inverse[9], response[9], G[36], SG[36], values[4 * 36];
        tpFrictionLaw law = { .isPlain = true };
        if (!tpFrictionLaw_Find(from.mu, from.r, from.u, F, &law)) {
            continue;
        }
        tpFrictionAlartCurnier(3, tp_frictionCone, from.mu, from.r, from.u, F, A, B);
        eliminate(&from, A, B, inverse, response);
        for (int i = 0; i < 36; ++i) {
            G[i] = next(&state);
        }
        tpMultiplyBlocks(3, 3, 12, response, G, SG);
        int couple[4] = { 0, 36, 72, 108 };
        bool isBesideFixed = k % 3 == 0;
        for (int c = 1; isBesideFixed && c < 4; ++c) {
            couple[c] = -1;
        }
        for (int i = 0; i < 4 * 36; ++i) {
            values[i] = 1.0;
        }
        tpSixKernels six = tpSixKernels_Find(1);
        tpFrictionLaw_AddProducts(&law, from.weight, G, couple, values, &six);
        for (int i = 0; i < 4 * 36; ++i) {
            int c = i / 36, a = 6 * (c / 2) + i % 36 / 6, b = 6 * (c % 2) + i % 6;
            double sum = 1.0;
            for (int row = 0; couple[c] >= 0 && row < 3; ++row) {
                sum += G[12 * row + a] * SG[12 * row + b];
            }
            CHECK_NEAR(values[i], sum, 1e-13 / from.weight);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectorsAgreeWithMatrices),
        cmocka_unit_test(productsAreThoseOfTheResponse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
