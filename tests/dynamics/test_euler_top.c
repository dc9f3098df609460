// The closed form of the free top against Euler's equations, and against itself.

#include "dynamics/euler_top.h"
#include "support/check.h"

typedef struct topState {
    tpVec3 L; // in principal axes
    tpQuat q;
} topState;

static topState rateOf(tpVec3 J, topState at) {
    tpVec3 w = tpMulParts(J, at.L);
    tpQuat spin = tpMakeQuat(0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z);
    return (topState){ tpCross(at.L, w), tpMulQQ(at.q, spin) };
}

static topState ahead(topState from, double h, topState rate) {
    tpQuat q = from.q, r = rate.q;
    return (topState){ tpMulAdd(from.L, h, rate.L),
                       tpMakeQuat(q.w + h * r.w, q.x + h * r.x, q.y + h * r.y, q.z + h * r.z) };
}

// Euler's equations by Runge and Kutta's rule of fourth order.
static topState integrate(tpVec3 J, topState at, double time, int steps) {
    double h = time / steps;
    for (int i = 0; i < steps; ++i) {
        topState a = rateOf(J, at), b = rateOf(J, ahead(at, 0.5 * h, a));
        topState c = rateOf(J, ahead(at, 0.5 * h, b)), d = rateOf(J, ahead(at, h, c));
        at = ahead(ahead(ahead(ahead(at, h / 6.0, a), h / 3.0, b), h / 3.0, c), h / 6.0, d);
    }
    return at;
}

static int middleOf(tpVec3 J) {
    double low = fmin(J.x, fmin(J.y, J.z)), high = tpMaxPart(J);
    return J.x != low && J.x != high ? 0 : J.y != low && J.y != high ? 1 : 2;
}

static double angleBetween(tpQuat a, tpQuat b) {
    return tpLength(tpQuatLog(tpMulQQ(tpConjugate(a), b)));
}

static double energyOf(tpVec3 J, tpVec3 L) {
    return tpDot(L, tpMulParts(J, L));
}

// Random bodies in all orders of their moments, forwards and backwards, over up to five turns.
static void itSolvesEulersEquations(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int middles[3] = { 0, 0, 0 };
    for (int trial = 0; trial < 120; ++trial) {
        tpVec3 J = randomVec3(&random, 0.4, 2.0), L = randomVec3(&random, -3.0, 3.0);
        double time = (trial % 2 == 0 ? 1.0 : -1.0) * randomBetween(&random, 0.001, 8.0);
        int middle = middleOf(J);
        middles[middle]++;
        topState end = integrate(J, (topState){ L, tpIdentityQuat() }, time, 6000);
        tpQuat turn = tpEulerTop_Turn(J, middle, time, L);
        CHECK_BELOW(angleBetween(turn, tpNormalizeQuat(end.q)), 1e-9);
        CHECK_VEC3(tpUnrotate(turn, L), end.L, 1e-9);
        CHECK_NEAR(energyOf(J, tpUnrotate(turn, L)), energyOf(J, L), 1e-14 * energyOf(J, L));
    }
    assert_true(middles[0] > 20 && middles[1] > 20 && middles[2] > 20);
}

// One turn over any time is that over its parts, however they are cut: many turns, tiny ones, and
// those where the momentum comes to point the other way.
static void partsMakeTheWhole(void** state) {
    (void)state;
    tpRandom random = { 5 };
    static const double times[6] = { 1e-8, 1e-3, 0.3, 7.0, 200.0, 1e4 };
    for (int trial = 0; trial < 600; ++trial) {
        tpVec3 J = randomVec3(&random, 0.4, 2.0), L = randomVec3(&random, -3.0, 3.0);
        double time = times[trial % 6], cut = randomBetween(&random, 0.0, 1.0) * time;
        int middle = middleOf(J);
        tpQuat whole = tpEulerTop_Turn(J, middle, time, L);
        tpQuat first = tpEulerTop_Turn(J, middle, cut, L);
        tpQuat second = tpEulerTop_Turn(J, middle, time - cut, tpUnrotate(first, L));
        // Rounding of L at the cut is another orbit, and grows with the time on it.
        CHECK_BELOW(angleBetween(whole, tpMulQQ(first, second)), 1e-14 * (10.0 + 100.0 * time));
        tpVec3 end = tpUnrotate(whole, L);
        CHECK_NEAR(energyOf(J, end), energyOf(J, L), 4e-15 * energyOf(J, L));
    }
}

// Next to the middle axis: the momentum stays there for long, then turns over to the other end.
static void itTurnsOverOnTime(void** state) {
    (void)state;
    // T-handle: moments 1, 2, 3; w = (.01, 5, .01); w_y is zero at this time, and
    // half a period later (the complete elliptic integral by arithmetic and geometric means).
    const double first = 2.7410680556, half = 5.0259291382;
    tpVec3 J = tpMakeVec3(1.0, 0.5, 1.0 / 3.0), L = tpMakeVec3(0.01, 10.0, 0.03);
    for (int n = 0; n < 4; ++n) {
        double exact = first + half * n;
        double before = tpUnrotate(tpEulerTop_Turn(J, 1, exact - 1e-9, L), L).y;
        double after = tpUnrotate(tpEulerTop_Turn(J, 1, exact + 1e-9, L), L).y;
        assert_true(before * after < 0.0 && (before > 0.0) == (n % 2 == 0));
    }
    // There it points the other way: exactly half way between two such times.
    double over = first + 0.5 * half;
    tpQuat turn = tpEulerTop_Turn(J, 1, over, L);
    topState end = integrate(J, (topState){ L, tpIdentityQuat() }, over, 20000);
    CHECK_VEC3(tpUnrotate(turn, L), end.L, 1e-8);
    CHECK_BELOW(angleBetween(turn, tpNormalizeQuat(end.q)), 1e-8);
}

// Spin about a principal axis stays; so does a body at rest; speeds without a phase break nothing.
static void edgesAreKept(void** state) {
    (void)state;
    tpVec3 J = tpMakeVec3(0.5, 0.8, 1.7);
    for (int axis = 0; axis < 3; ++axis) {
        tpVec3 L = tpMakeVec3(axis == 0, axis == 1, axis == 2);
        double speed = axis == 0 ? J.x : axis == 1 ? J.y : J.z;
        tpQuat exact = tpQuatExp(tpScale(0.9 * speed, L));
        CHECK_BELOW(angleBetween(tpEulerTop_Turn(J, 1, 0.9, L), exact), 1e-15);
    }
    CHECK_BELOW(angleBetween(tpEulerTop_Turn(J, 1, 1.0, tpZeroVec3()), tpIdentityQuat()), 1e-300);
    static const double speeds[4] = { 1e6, 1e12, 1e150, 1e300 };
    for (int k = 0; k < 4; ++k) {
        tpVec3 L = tpScale(speeds[k], tpMakeVec3(0.6, 0.64, 0.48));
        tpQuat turn = tpEulerTop_Turn(J, 1, 1.0, L);
        CHECK_NEAR(tpDotQQ(turn, turn), 1.0, 1e-15);
        tpVec3 end = tpUnrotate(turn, tpMakeVec3(0.6, 0.64, 0.48));
        CHECK_NEAR(energyOf(J, end), energyOf(J, tpMakeVec3(0.6, 0.64, 0.48)), 1e-9);
    }
}

// What has no momentum does not turn, and what has more than a double can hold turns nobody knows
// where.
static void nothingTurnsWithoutMomentum(void** state) {
    (void)state;
    tpVec3 J = tpMakeVec3(1.0 / 0.3, 1.0 / 0.4, 1.0 / 0.6);
    const tpVec3 momenta[3] = { { 0.0, 0.0, 0.0 }, { 0.0, INFINITY, 1.0 }, { NAN, 1.0, 1.0 } };
    for (int i = 0; i < 3; ++i) {
        tpQuat turn = tpEulerTop_Turn(J, 1, 0.1, momenta[i]);
        assert_true(turn.w == 1.0 && turn.x == 0.0 && turn.y == 0.0 && turn.z == 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothingTurnsWithoutMomentum),
        cmocka_unit_test(itSolvesEulersEquations),
        cmocka_unit_test(partsMakeTheWhole),
        cmocka_unit_test(itTurnsOverOnTime),
        cmocka_unit_test(edgesAreKept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
