// One contact: projection on the cone, and the exact solution, judged by the natural map.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "complementarity/friction_island.h"

// xorshift64*, so that the cases are the same everywhere.
static uint64_t state = 88172645463325252u;

static double uniform(double low, double high) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return low + (high - low) * (double)((state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double norm(int n, const double* x) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// |natural map| of r relative to the sizes in the problem.
static double residual(int n, double mu, const double* A, const double* b, const double* r) {
    double u[4], map[4];
    for (int i = 0; i < n; ++i) {
        u[i] = b[i];
        for (int j = 0; j < n; ++j) {
            u[i] += A[i * n + j] * r[j];
        }
    }
    tpFrictionNaturalMap(n, tp_frictionCone, mu, r, u, map);
    return norm(n, map) / (norm(n, r) + norm(n, b));
}

// G G^T plus a skew part: positive definite, unsymmetric by `skew`.
static void randomBlock(int n, int rank, double diagonal, double skew, double* A) {
    double G[4][8];
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < rank; ++k) {
            G[i][k] = uniform(-1.0, 1.0);
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = i == j ? diagonal : 0.0;
            for (int k = 0; k < rank; ++k) {
                sum += G[i][k] * G[j][k];
            }
            double part = skew * uniform(-1.0, 1.0);
            A[i * n + j] = sum + (i == j ? 0.0 : part);
            A[j * n + i] = sum - (i == j ? 0.0 : part);
        }
    }
}

static void testProjection(void** unused) {
    (void)unused;
    for (int k = 0; k < 20000; ++k) {
        int n = 1 + k % 4;
        double mu = uniform(0.0, 2.0), x[4], p[4], rest[4], inner = 0.0;
        // Smooth contacts, and forces along the normal alone, are the edges of the cases.
        mu = k % 10 == 0 ? 0.0 : mu;
        for (int i = 0; i < n; ++i) {
            x[i] = p[i] = i > 0 && k % 3 == 0 ? 0.0 : uniform(-1.0, 1.0);
        }
        tpFrictionProject(n, tp_frictionCone, mu, p);
        // Moreau: p in K, x - p in the polar cone, orthogonal.
        assert_true(p[0] >= 0.0 && norm(n - 1, p + 1) <= mu * p[0] + 1e-15);
        for (int i = 0; i < n; ++i) {
            rest[i] = x[i] - p[i];
            inner += rest[i] * p[i];
        }
        assert_true(fabs(inner) <= 1e-15);
        assert_true(mu * norm(n - 1, rest + 1) <= -rest[0] + 1e-15);
    }
}

static void testRandomContacts(void** unused) {
    (void)unused;
    double worst = 0.0;
    for (int k = 0; k < 100000; ++k) {
        int n = 2 + k % 3;
        double A[16], b[4], r[4], mu = uniform(0.0, 1.5);
        double skew = k % 2 ? 0.05 : 0.0;
        int rank = k % 7 ? 6 : 1 + k % n;
        randomBlock(n, rank, 1e-3, skew, A);
        double scale = pow(10.0, uniform(-4.0, 4.0));
        for (int i = 0; i < n * n; ++i) {
            A[i] *= k % 3 ? 1.0 : scale;
        }
        for (int i = 0; i < n; ++i) {
            b[i] = uniform(-1.0, 1.0);
        }
        assert_true(tpFriction_SolveOne(n, A, b, mu, r));
        // Judged at the scale of the block, as e3 is.
        double trace = 0.0, scaled[16], scaledR[4];
        for (int i = 0; i < n; ++i) {
            trace += A[i * n + i];
        }
        for (int i = 0; i < n * n; ++i) {
            scaled[i] = A[i] * n / trace;
        }
        for (int i = 0; i < n; ++i) {
            scaledR[i] = r[i] * trace / n;
        }
        worst = fmax(worst, residual(n, mu, scaled, b, scaledR));
    }
    assert_true(worst < 1e-11);
}

// Sliding with W = 1: r = (1, -mu t), closed form; just inside the cone it sticks.
static void testClosedForms(void** unused) {
    (void)unused;
    double identity[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    double A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, r[4];
    double slide[3] = { -1.0, 3.0, 4.0 };
    assert_true(tpFriction_SolveOne(3, A, slide, 0.5, r));
    assert_float_equal(r[0], 1.0, 1e-15);
    assert_float_equal(r[1], -0.3, 1e-15);
    assert_float_equal(r[2], -0.4, 1e-15);
    double stick[3] = { -1.0, 0.3, 0.39 };
    assert_true(tpFriction_SolveOne(3, A, stick, 0.5, r));
    assert_float_equal(r[1], -0.3, 1e-15);
    assert_float_equal(r[2], -0.39, 1e-15);
    double open[3] = { 1e-9, 5.0, 5.0 };
    assert_true(tpFriction_SolveOne(3, A, open, 0.5, r));
    assert_float_equal(norm(3, r), 0.0, 0.0);
    double torsion[4] = { -2.0, 2.0, 4.0, 4.0 };
    assert_true(tpFriction_SolveOne(4, identity, torsion, 0.5, r));
    for (int i = 1; i < 4; ++i) {
        assert_float_equal(r[i], -torsion[i] / 6.0, 1e-15);
    }
}

static void testRefusals(void** unused) {
    (void)unused;
    double A[9] = { 0 }, b[3] = { -1.0, 0.0, 0.0 }, r[3] = { 1.0, 1.0, 1.0 };
    assert_false(tpFriction_SolveOne(3, A, b, 0.5, r));
    assert_float_equal(norm(3, r), 0.0, 0.0);
    A[0] = NAN;
    assert_false(tpFriction_SolveOne(3, A, b, 0.5, r));
    assert_float_equal(norm(3, r), 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testProjection),
        cmocka_unit_test(testRandomContacts),
        cmocka_unit_test(testClosedForms),
        cmocka_unit_test(testRefusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
