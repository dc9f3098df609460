// Locked directions: nothing moves along them, and the others keep their own inertia.

#include "dynamics/locks.h"
#include "support/check.h"

static const double moments[3] = { 0.2, 0.5, 0.6 };

static tpInertia makeInertia(void) {
    return tpMakeInertia(tpDiagonal(tpMakeVec3(moments[0], moments[1], moments[2])));
}

static void testProjections(void** state) {
    (void)state;
    tpVec3 v = tpMakeVec3(1.0, 2.0, 3.0);
    CHECK_VEC3(tpLocks_Linear(tp_lockY, v), tpMakeVec3(1.0, 0.0, 3.0), 0.0);
    CHECK_VEC3(tpLocks_Linear(tp_lockTurnX, v), v, 0.0);
    CHECK_VEC3(tpLocks_Angular(tp_lockTurnX | tp_lockTurnZ, v), tpMakeVec3(0.0, 2.0, 0.0), 0.0);
    assert_true(tpLocks_Turns(tp_lockTurnZ) && !tpLocks_Turns(tp_lockX | tp_lockY));
}

static double component(tpVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double entry(const tpMat33* M, int row, int column) {
    return component(column == 0 ? M->cx : column == 1 ? M->cy : M->cz, row);
}

static const uint32_t lines[3] = { tp_lockX, tp_lockY, tp_lockZ };
static const uint32_t turns[3] = { tp_lockTurnX, tp_lockTurnY, tp_lockTurnZ };

// Each of the six locks takes away its own component and no other.
static void testEveryMask(void** state) {
    (void)state;
    tpVec3 v = tpMakeVec3(1.0, 2.0, 3.0);
    for (uint32_t mask = 0; mask < 64; ++mask) {
        uint32_t locked = 0;
        for (int i = 0; i < 3; ++i) {
            locked |= mask >> i & 1 ? lines[i] : 0;
            locked |= mask >> (3 + i) & 1 ? turns[i] : 0;
        }
        tpVec3 linear = tpLocks_Linear(locked, v), angular = tpLocks_Angular(locked, v);
        for (int i = 0; i < 3; ++i) {
            assert_true(component(linear, i) == (mask >> i & 1 ? 0.0 : i + 1.0));
            assert_true(component(angular, i) == (mask >> (3 + i) & 1 ? 0.0 : i + 1.0));
        }
        assert_int_equal(tpLocks_Turns(locked), mask >> 3 != 0);
    }
}

// Whatever is locked: between free axes the result is the inverse of the inertia's block of them,
// and it has neither row nor column of a locked one.
static void testInverse(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int trial = 0; trial < 64; ++trial) {
        tpInertia inertia = makeInertia();
        tpQuat turned = randomRotation(&random);
        tpMat33 I = tpInertia_World(&inertia, turned);
        uint32_t locked = 0;
        for (int i = 0; i < 3; ++i) {
            locked |= trial >> i & 1 ? turns[i] : 0;
        }
        tpMat33 inverse = tpLocks_InverseInertia(&inertia, locked, turned);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                bool isFree = !(locked & turns[i]) && !(locked & turns[j]);
                double product = 0.0;
                for (int k = 0; k < 3; ++k) {
                    product += entry(&inverse, i, k) * entry(&I, k, j);
                }
                if (isFree) {
                    CHECK_NEAR(product, i == j ? 1.0 : 0.0, 1e-14);
                } else {
                    assert_true(entry(&inverse, i, j) == 0.0);
                }
            }
        }
    }
}

// What has no inertia about an axis does not turn about it, and turns about the other as it would.
static void testWithoutInertia(void** state) {
    (void)state;
    for (int bare = 0; bare < 3; ++bare) {
        for (int lock = 0; lock < 3; ++lock) {
            double own[3] = { 0.5, 0.5, 0.5 };
            own[bare] = 0.0;
            tpInertia inertia = tpMakeInertia(tpDiagonal(tpMakeVec3(own[0], own[1], own[2])));
            tpMat33 inverse = tpLocks_InverseInertia(&inertia, turns[lock], tpIdentityQuat());
            for (int i = 0; i < 3; ++i) {
                for (int j = 0; j < 3; ++j) {
                    bool turnsThere = i == j && i != lock && i != bare;
                    CHECK_NEAR(entry(&inverse, i, j), turnsThere ? 2.0 : 0.0, 1e-15);
                }
            }
        }
    }
}

// The motion dq/dt = w q / 2 with w = inverse(q) L, which is all that locks leave, by 4,000
// explicit steps of second order.
static tpVec3 velocityOf(const tpInertia* inertia, uint32_t locked, tpVec3 L, tpQuat q) {
    return tpMulMV(tpLocks_InverseInertia(inertia, locked, q), L);
}

static tpQuat moved(tpQuat q, tpVec3 w, double h) {
    return tpMulQQ(tpQuatExp(tpScale(h, w)), q);
}

static tpQuat follow(const tpInertia* inertia, uint32_t locked, tpVec3 L, tpQuat q, double time) {
    const int count = 4000;
    double h = time / count;
    for (int k = 0; k < count; ++k) {
        q = moved(
            q, velocityOf(inertia, locked, L, moved(q, velocityOf(inertia, locked, L, q), 0.5 * h)),
            h);
    }
    return tpNormalizeQuat(q);
}

// Momentum about the free axes is kept to rounding, and halved steps are four times as near to the
// motion.
static void testSecondOrder(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int mask = 1; mask < 7; ++mask) {
        uint32_t locked = 0;
        for (int i = 0; i < 3; ++i) {
            locked |= mask >> i & 1 ? turns[i] : 0;
        }
        tpInertia inertia = makeInertia();
        tpQuat start = randomRotation(&random);
        tpVec3 w0 = tpLocks_Angular(locked, tpMakeVec3(1.0, -1.5, 2.0));
        tpVec3 L = tpLocks_Angular(locked, tpInertia_Momentum(&inertia, start, w0));
        tpQuat exact = follow(&inertia, locked, L, start, 0.4);
        double errors[2];
        for (int n = 0; n < 2; ++n) {
            tpQuat q = start;
            tpVec3 w = w0;
            int count = n == 0 ? 8 : 16;
            for (int k = 0; k < count; ++k) {
                tpLocks_Rotate(&inertia, locked, 0.4 / count, &q, &w);
            }
            CHECK_VEC3(tpLocks_Angular(locked, tpInertia_Momentum(&inertia, q, w)), L, 1e-13);
            CHECK_VEC3(w, velocityOf(&inertia, locked, L, q), 1e-13);
            errors[n] = tpLength(tpQuatLog(tpMulQQ(q, tpConjugate(exact))));
        }
        if (mask == 1 || mask == 2 || mask == 4) {
            CHECK_BELOW(errors[0], 1e-2);
            CHECK_NEAR(errors[0] / errors[1], 4.0, 0.3);
        } else { // about one axis the inertia stays what it is, and the turn is even
            CHECK_BELOW(errors[0], 1e-12);
        }
    }
}

// About the one free axis a body keeps its momentum: it turns evenly if the axis is a principal
// one.
static void testRotate(void** state) {
    (void)state;
    tpInertia inertia = makeInertia();
    tpQuat rotation = tpIdentityQuat();
    tpVec3 w = tpMakeVec3(0.0, 0.0, 1.5);
    tpLocks_Rotate(&inertia, tp_lockTurnX | tp_lockTurnY, 0.4, &rotation, &w);
    CHECK_VEC3(tpQuatLog(rotation), tpMakeVec3(0.0, 0.0, 0.6), 1e-14);
    CHECK_VEC3(w, tpMakeVec3(0.0, 0.0, 1.5), 1e-14);
    // One lock: the locked axis stays without turn, the energy is kept to second order.
    rotation = tpIdentityQuat();
    w = tpMakeVec3(0.0, 1.0, 2.0);
    double before = 0.5 * (moments[1] * w.y * w.y + moments[2] * w.z * w.z);
    for (int k = 0; k < 200; ++k) {
        tpLocks_Rotate(&inertia, tp_lockTurnX, 0.001, &rotation, &w);
    }
    CHECK_NEAR(w.x, 0.0, 1e-14);
    tpVec3 own = tpUnrotate(rotation, w);
    double after = 0.5 * (moments[0] * own.x * own.x + moments[1] * own.y * own.y +
                          moments[2] * own.z * own.z);
    CHECK_NEAR(after, before, 1e-3 * before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testProjections), cmocka_unit_test(testEveryMask),
        cmocka_unit_test(testInverse),     cmocka_unit_test(testWithoutInertia),
        cmocka_unit_test(testSecondOrder), cmocka_unit_test(testRotate)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
