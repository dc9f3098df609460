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

// With one free axis the inverse inertia is 1 / I about it, at any orientation; with two it is the
// inverse of the block of those two.
static void testInverse(void** state) {
    (void)state;
    tpInertia inertia = makeInertia();
    tpQuat turned = tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), 0.7);
    tpMat33 one = tpLocks_InverseInertia(&inertia, tp_lockTurnX | tp_lockTurnY, turned);
    double c = cos(0.7), s = sin(0.7);
    double Iyy = moments[1] * c * c + moments[2] * s * s;
    double Izz = moments[1] * s * s + moments[2] * c * c, Iyz = (moments[1] - moments[2]) * s * c;
    CHECK_NEAR(one.cz.z, 1.0 / Izz, 1e-13);
    CHECK_NEAR(one.cx.x, 0.0, 0.0);
    CHECK_NEAR(one.cz.y, 0.0, 0.0);
    tpMat33 two = tpLocks_InverseInertia(&inertia, tp_lockTurnX, turned);
    double determinant = Iyy * Izz - Iyz * Iyz;
    CHECK_NEAR(two.cy.y, Izz / determinant, 1e-13);
    CHECK_NEAR(two.cz.z, Iyy / determinant, 1e-13);
    CHECK_NEAR(two.cz.y, -Iyz / determinant, 1e-13);
    CHECK_NEAR(two.cx.x, 0.0, 0.0);
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(testProjections),
                                        cmocka_unit_test(testInverse),
                                        cmocka_unit_test(testRotate) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
