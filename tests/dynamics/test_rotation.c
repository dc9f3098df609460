// Free rotation against closed forms and its invariants.

#include "dynamics/rotation.h"
#include "support/check.h"

static tpInertia inertiaOf(double a, double b, double c) {
    return tpMakeInertia(tpDiagonal(tpMakeVec3(a, b, c)));
}

// The T-handle I = (1, 2, 3), w = (.01, 5, .01): omega_y changes its sign at 2.741068 + 5.025929 n
// (Jacobi elliptic functions).
static void countFlips(double h, double* times, int wanted) {
    tpInertia inertia = inertiaOf(1.0, 2.0, 3.0);
    tpQuat q = tpIdentityQuat();
    tpVec3 w = tpMakeVec3(0.01, 5.0, 0.01);
    double before = 5.0;
    int found = 0;
    for (int64_t k = 1; found < wanted; ++k) {
        tpRotateFreely(&inertia, h, &q, &w);
        double now = tpUnrotate(q, w).y;
        if (now * before < 0.0) {
            times[found++] = h * ((double)k - now / (now - before));
        }
        before = now;
    }
}

static void flipsComeOnTime(void** state) {
    (void)state;
    double coarse[6], fine[6];
    countFlips(1.0 / 60.0, coarse, 6);
    countFlips(1.0 / 240.0, fine, 6);
    for (int n = 0; n < 6; ++n) {
        double exact = 2.741068 + 5.025929 * n;
        CHECK_NEAR(fine[n], exact, 2e-5);
        // At least second order: four times the step, sixteen times the error or more; here the
        // fourth-order rule leaves mostly the error of the linear interpolation.
        CHECK_BELOW(fabs(coarse[n] - exact), 2e-3);
    }
}

static void energyAndMomentumAreKept(void** state) {
    (void)state;
    tpInertia inertia = inertiaOf(1.0, 2.0, 3.0);
    tpQuat q = tpIdentityQuat();
    tpVec3 w = tpMakeVec3(0.01, 5.0, 0.01);
    tpVec3 start = tpInertia_Momentum(&inertia, q, w);
    double energy = 0.5 * tpDot(start, w);
    for (int k = 0; k < 240 * 60; ++k) {
        tpRotateFreely(&inertia, 1.0 / 240.0, &q, &w);
        tpVec3 momentum = tpInertia_Momentum(&inertia, q, w);
        CHECK_VEC3(momentum, start, 1e-11 * tpLength(start));
        CHECK_NEAR(0.5 * tpDot(momentum, w), energy, 1e-11 * energy);
    }
}

// A symmetric top: the axis turns about L at |L| / I1, the body about its axis at w3 (1 - I3/I1).
static void symmetricTopPrecesses(void** state) {
    (void)state;
    tpInertia inertia = inertiaOf(2.0, 2.0, 0.7);
    tpVec3 w0 = tpMakeVec3(0.8, 0.0, 6.0);
    tpVec3 momentum = tpMulParts(inertia.moments, w0);
    for (int steps = 1; steps <= 1000; steps *= 10) {
        tpQuat q = tpIdentityQuat();
        tpVec3 w = w0;
        for (int k = 0; k < steps; ++k) {
            tpRotateFreely(&inertia, 2.0 / steps, &q, &w);
        }
        tpQuat precession = tpQuatExp(tpScale(2.0 / 2.0, momentum));
        tpQuat spin = tpQuatExp(tpMakeVec3(0.0, 0.0, 2.0 * 6.0 * (1.0 - 0.7 / 2.0)));
        tpQuat exact = tpMulQQ(precession, spin);
        CHECK_BELOW(tpLength(tpQuatLog(tpMulQQ(exact, tpConjugate(q)))), 1e-13 * (10 + steps));
    }
}

// The same body described in other axes moves the same.
static void principalAxesDoNotMatter(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int trial = 0; trial < 200; ++trial) {
        tpVec3 moments = randomVec3(&random, 1.0, 1.9);
        tpQuat turn = randomRotation(&random);
        tpMat33 r = tpMatFromQuat(turn);
        tpMat33 tensor = tpMulMM(tpMulMM(r, tpDiagonal(moments)), tpTranspose(r));
        tpInertia straight = tpMakeInertia(tpDiagonal(moments));
        tpInertia turned = tpMakeInertia(tensor);
        tpQuat q = randomRotation(&random);
        tpVec3 w = randomVec3(&random, -5.0, 5.0);
        tpVec3 w1 = w, w2 = w;
        // Principal axes of both bodies are aligned when q2 turn = q1.
        tpQuat q1 = q, q2 = tpMulQQ(q, tpConjugate(turn));
        for (int k = 0; k < 50; ++k) {
            tpRotateFreely(&straight, 0.02, &q1, &w1);
            tpRotateFreely(&turned, 0.02, &q2, &w2);
        }
        CHECK_VEC3(w2, w1, 1e-10);
        tpQuat difference = tpMulQQ(tpConjugate(q1), tpMulQQ(q2, turn));
        CHECK_NEAR(fabs(difference.w), 1.0, 1e-12);
    }
}

static void spheresTurnExactly(void** state) {
    (void)state;
    tpInertia inertia = inertiaOf(0.4, 0.4, 0.4);
    tpQuat q = tpIdentityQuat();
    tpVec3 w = tpMakeVec3(0.0, 0.0, 1000.0);
    tpRotateFreely(&inertia, 0.1, &q, &w);
    tpQuat exact = tpQuatExp(tpMakeVec3(0.0, 0.0, 100.0));
    CHECK_NEAR(fabs(tpDotQQ(q, exact)), 1.0, 1e-13);
    CHECK_VEC3(w, tpMakeVec3(0.0, 0.0, 1000.0), 0.0);
}

// Very fast spin and a needle: nothing breaks, invariants hold.
static void extremesStayFinite(void** state) {
    (void)state;
    tpInertia inertia = inertiaOf(1.0, 1.0, 1e-4);
    tpQuat q = tpIdentityQuat();
    tpVec3 w = tpMakeVec3(3.0, -2.0, 4000.0);
    tpVec3 start = tpInertia_Momentum(&inertia, q, w);
    double energy = 0.5 * tpDot(start, w);
    for (int k = 0; k < 100; ++k) {
        tpRotateFreely(&inertia, 0.05, &q, &w);
    }
    tpVec3 momentum = tpInertia_Momentum(&inertia, q, w);
    CHECK_VEC3(momentum, start, 1e-9 * tpLength(start));
    CHECK_NEAR(0.5 * tpDot(momentum, w), energy, 1e-8 * energy);
    CHECK_BELOW(tpLength(w), tpInertia_SpeedBound(&inertia, q, w) * (1.0 + 1e-12));
}

// No motion of a given energy is faster than a turn about the axis of the least moment, and a body
// that tumbles close to that axis comes close to the bound.
static void boundsOfSpeedAreReached(void** state) {
    (void)state;
    const double moments[3] = { 0.5, 0.2, 0.6 };
    tpInertia inertia = inertiaOf(moments[0], moments[1], moments[2]);
    tpRandom random = { 5 };
    for (int trial = 0; trial < 50; ++trial) {
        tpQuat q = randomRotation(&random);
        tpVec3 own = randomVec3(&random, -2.0, 2.0);
        own.y = trial % 2 == 0 ? 40.0 : own.y;
        tpVec3 w = tpRotate(q, own);
        double twice =
            moments[0] * own.x * own.x + moments[1] * own.y * own.y + moments[2] * own.z * own.z;
        double bound = tpInertia_SpeedBound(&inertia, q, w), fastest = 0.0;
        CHECK_NEAR(bound, sqrt(twice / 0.2), 1e-12 * bound);
        for (int k = 0; k < 200; ++k) {
            tpRotateFreely(&inertia, 0.01, &q, &w);
            fastest = fmax(fastest, tpLength(w));
        }
        CHECK_BELOW(fastest, bound * (1.0 + 1e-12));
        assert_true(trial % 2 == 1 || fastest > 0.98 * bound);
    }
    tpInertia ball = inertiaOf(0.4, 0.4, 0.4);
    CHECK_NEAR(tpInertia_SpeedBound(&ball, tpIdentityQuat(), tpMakeVec3(2.0, 3.0, 6.0)), 7.0, 0.0);
}

// Orientations stay of length one to rounding, however long a body turns.
static void orientationsKeepTheirLength(void** state) {
    (void)state;
    const tpInertia bodies[3] = { inertiaOf(0.4, 0.4, 0.4), inertiaOf(0.4, 0.4, 0.7),
                                  inertiaOf(0.3, 0.4, 0.6) };
    for (int k = 0; k < 3; ++k) {
        tpQuat q = tpQuatExp(tpMakeVec3(0.3, 0.2, -0.5));
        tpVec3 w = tpMakeVec3(3.0, -2.0, 4.0);
        for (int i = 0; i < 20000; ++i) {
            tpRotateFreely(&bodies[k], 0.013, &q, &w);
        }
        CHECK_NEAR(tpDotQQ(q, q), 1.0, 1e-15);
    }
}

// Three kinds of body turn the same where they meet: moments that are nearly equal, by closed forms
// that have nothing in common.
static void kindsOfBodiesMeet(void** state) {
    (void)state;
    static const double apart[3][3] = { { 1.0, 0.0, 0.5 }, { 0.5, 1.0, 0.0 }, { 0.0, 0.5, 1.0 } };
    for (int k = 0; k < 3; ++k) {
        for (int top = 0; top < 2; ++top) {
            double third = top == 1 ? 0.4 : 1.0, near = 1e-9;
            tpInertia equal = inertiaOf(1.0, 1.0, third);
            tpInertia unequal = inertiaOf(1.0 + near * apart[k][0], 1.0 + near * apart[k][1],
                                          third + near * apart[k][2]);
            assert_true(equal.isIsotropic == (top == 0) && !unequal.isIsotropic);
            assert_int_equal(unequal.symmetryAxis, -1);
            assert_int_equal(equal.symmetryAxis, 2);
            tpQuat q = tpQuatExp(tpMakeVec3(0.3, 0.2, -0.5)), p = q;
            tpVec3 w = tpMakeVec3(1.0, 5.0, 2.0), v = w;
            tpRotateFreely(&equal, 3.0, &q, &w);
            tpRotateFreely(&unequal, 3.0, &p, &v);
            CHECK_VEC3(v, w, 1e-7);
            CHECK_BELOW(tpLength(tpQuatLog(tpMulQQ(p, tpConjugate(q)))), 1e-7);
        }
    }
}

// A top is known as one about whichever of its axes it is one, and turns the same: the axes are
// renamed in a circle, its rotation and velocity with them.
static void topsAreKnownByTheirAxis(void** state) {
    (void)state;
    const double moments[3] = { 0.3, 0.3, 0.5 };
    tpVec3 last = tpZeroVec3();
    for (int k = 0; k < 3; ++k) {
        double turned[3], spin[3];
        const double velocity[3] = { 1.0, 4.0, 2.0 };
        for (int i = 0; i < 3; ++i) {
            turned[(i + k) % 3] = moments[i];
            spin[(i + k) % 3] = velocity[i];
        }
        tpInertia top = inertiaOf(turned[0], turned[1], turned[2]);
        assert_int_equal(top.symmetryAxis, (2 + k) % 3);
        tpQuat q = tpIdentityQuat();
        tpVec3 w = tpMakeVec3(spin[0], spin[1], spin[2]);
        tpRotateFreely(&top, 0.7, &q, &w);
        const double after[3] = { w.x, w.y, w.z };
        tpVec3 back = tpMakeVec3(after[k % 3], after[(1 + k) % 3], after[(2 + k) % 3]);
        if (k > 0) {
            CHECK_VEC3(back, last, 1e-14);
        }
        last = back;
    }
    assert_int_equal(inertiaOf(0.3, 0.4, 0.5).symmetryAxis, -1);
    // Equal to rounding, in any unit.
    for (int k = -60; k <= 60; k += 20) {
        double unit = ldexp(1.0, k);
        tpInertia top = inertiaOf(0.3 * unit, 0.3 * unit * (1.0 + 5e-13), 0.5 * unit);
        tpInertia none = inertiaOf(0.3 * unit, 0.3 * unit * (1.0 + 5e-12), 0.5 * unit);
        assert_true(top.symmetryAxis == 2 && none.symmetryAxis == -1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kindsOfBodiesMeet),           cmocka_unit_test(flipsComeOnTime),
        cmocka_unit_test(energyAndMomentumAreKept),    cmocka_unit_test(symmetricTopPrecesses),
        cmocka_unit_test(principalAxesDoNotMatter),    cmocka_unit_test(spheresTurnExactly),
        cmocka_unit_test(extremesStayFinite),          cmocka_unit_test(boundsOfSpeedAreReached),
        cmocka_unit_test(orientationsKeepTheirLength), cmocka_unit_test(topsAreKnownByTheirAxis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
