// What sweeps get: inverse masses in world axes, arms and frames of contacts.

#include "ball_cases.h"
#include "dynamics/sweep_input.h"

static void testBody(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyDef def = tpDefaultBodyDef();
    def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), 0.5);
    def.hasMass = true;
    def.mass.mass = 4.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25));
    tpCreateBody(world, &def, NULL);
    int ground = addFloor(world);
    tpSweepBody body = tpSystem_SweepBody(system, 0);
    double c = cos(0.5), s = sin(0.5);
    CHECK_NEAR(body.inverseMass, 0.25, 1e-15);
    CHECK_NEAR(body.inverseInertia[0], c * c / 0.1 + s * s / 0.2, 1e-13);
    CHECK_NEAR(body.inverseInertia[1], s * s / 0.1 + c * c / 0.2, 1e-13);
    CHECK_NEAR(body.inverseInertia[2], 4.0, 1e-13);
    CHECK_NEAR(body.inverseInertia[3], c * s * (1.0 / 0.1 - 1.0 / 0.2), 1e-13);
    CHECK_NEAR(body.inverseInertia[4], 0.0, 1e-14);
    // Turned anyhow: R diag R'.
    tpQuat q = tpQuatExp(tpMakeVec3(0.7, -1.1, 0.4));
    system->poses.data[0].rotation = q;
    tpMat33 r = tpMatFromQuat(q);
    tpMat33 inverse = tpMulMM(
        r, tpMulMM(tpDiagonal(tpMakeVec3(1.0 / 0.1, 1.0 / 0.2, 1.0 / 0.25)), tpTranspose(r)));
    const double six[6] = { inverse.cx.x, inverse.cy.y, inverse.cz.z,
                            inverse.cy.x, inverse.cz.x, inverse.cz.y };
    body = tpSystem_SweepBody(system, 0);
    for (int i = 0; i < 6; ++i) {
        assert_true(fabs(six[i]) > 1e-3);
        CHECK_NEAR(body.inverseInertia[i], six[i], 1e-13);
    }
    tpSweepBody fixed = tpSystem_SweepBody(system, ground);
    assert_true(fixed.inverseMass == 0.0 && fixed.inverseInertia[0] == 0.0);
    tpDestroyWorld(world);
}

// One contact in a sweeper: its responses are those of the rows.
static void testContact(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpContactLaw law = makeLaw(0.5);
    tpSweeper sweeper;
    assert_true(tpSystem_CreateSweeper(system, system->poses.data, &contact, &law, 1,
                                       &system->arena, &sweeper));
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&sweeper, 0, &lane);
    assert_non_null(pack);
    assert_true(sweeper.bodies[ball].inverseMass == 1.0 / ballMass);
    CHECK_NEAR(pack->muStatic[lane], 0.5, 1e-15);
    CHECK_NEAR(pack->armA[2][lane], -ballRadius, 1e-15);
    CHECK_NEAR(pack->response[0][lane], 1.0 / ballMass, 1e-15);
    double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    CHECK_NEAR(pack->response[3][lane], along, 1e-13);
    tpDestroyWorld(world);
}

// Contacts take torsion if they have friction, and in space.
static void testTorsion(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    for (int k = 0; k < 8; ++k) {
        tpContactLaw law = makeLaw(k % 2 == 0 ? 0.0 : 0.5);
        law.arm = k / 2 % 2 == 0 ? 0.0 : 0.02;
        system->isPlanar = k >= 4;
        tpSweeper sweeper;
        assert_true(tpSystem_CreateSweeper(system, system->poses.data, &contact, &law, 1,
                                           &system->arena, &sweeper));
        assert_int_equal(sweeper.torsionCount, k == 3 ? 1 : 0);
    }
    tpDestroyWorld(world);
}

// Centres keep the axes that no lock takes, in the world's axes; without locks of centres, or with
// those of turns and of bodies that do not move alone, nobody writes any.
static void testLocks(void** state) {
    (void)state;
    static const uint32_t locks[] = { 0, tp_lockTurnX, tp_lockX, tp_lockY | tp_lockZ, tp_lockZ };
    for (size_t k = 0; k < 2 * sizeof(locks) / sizeof(locks[0]); ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        int first = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
        int second = addBall(world, tpMakeVec3(9.0, 0.0, ballRadius), tpZeroVec3());
        int floor = addFloor(world);
        uint32_t locked = locks[k / 2];
        bool isMovable = k % 2 == 0;
        system->bodies.data[isMovable ? second : floor].locked = locked;
        tpContact contact = makeContact(system, first, floor);
        tpContactLaw law = makeLaw(0.5);
        tpSweeper sweeper;
        assert_true(tpSystem_CreateSweeper(system, system->poses.data, &contact, &law, 1,
                                           &system->arena, &sweeper));
        uint32_t lines = locked & (tp_lockX | tp_lockY | tp_lockZ);
        assert_true((sweeper.freeAxes != NULL) == (isMovable && lines != 0));
        if (sweeper.freeAxes != NULL) {
            CHECK_VEC3(sweeper.freeAxes[first], tpMakeVec3(1.0, 1.0, 1.0), 0.0);
            tpVec3 isFree = tpMakeVec3((locked & tp_lockX) != 0 ? 0.0 : 1.0,
                                       (locked & tp_lockY) != 0 ? 0.0 : 1.0,
                                       (locked & tp_lockZ) != 0 ? 0.0 : 1.0);
            CHECK_VEC3(sweeper.freeAxes[second], isFree, 0.0);
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testBody), cmocka_unit_test(testContact),
                                        cmocka_unit_test(testTorsion),
                                        cmocka_unit_test(testLocks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
