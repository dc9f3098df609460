// Kicks of gravity, forces and damping, and the energies and momenta of a system.

#include "ball_cases.h"
#include "dynamics/forces.h"

static void testKick(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(1.0, 0.0, 2.0), tpMakeVec3(3.0, 0.0, 0.0));
    tpForceDef force = tpDefaultForceDef();
    force.body = tpWorld_GetBody(world, 0);
    force.force = tpMakeVec3(0.0, 8.0, 0.0);
    force.hasPoint = true;
    force.point = tpMakeVec3(0.1, 0.0, 0.0);
    tpCreateForce(world, &force, NULL);
    tpSystem_KickForces(system, 0.0, 0.25);
    const tpVelocity* v = &system->velocities.data[ball];
    CHECK_VEC3(v->linear, tpMakeVec3(3.0, 8.0 * 0.25 / ballMass, -10.0 * 0.25), 1e-14);
    CHECK_VEC3(v->angular, tpMakeVec3(0.0, 0.0, 0.1 * 8.0 * 0.25 / ballMoment), 1e-13);
    tpDestroyWorld(world);
}

// Damping takes exp(-k t) of the velocity, and says what it took.
static void testDamping(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyDef def = tpDefaultBodyDef();
    def.velocity = tpMakeVec3(4.0, 0.0, 0.0);
    def.linearDamping = 2.0;
    def.hasMass = true;
    def.mass.mass = ballMass;
    def.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    tpCreateBody(world, &def, NULL);
    double before = tpSystem_KineticEnergy(system);
    double work = tpSystem_KickDamping(system, 0.3);
    double after = tpSystem_KineticEnergy(system);
    CHECK_NEAR(system->velocities.data[0].linear.x, 4.0 * exp(-0.6), 1e-12);
    assert_true(work < 0.0);
    // Against the velocities before it: m (v1 - v0) v0.
    CHECK_NEAR(work, ballMass * (4.0 * exp(-0.6) - 4.0) * 4.0, 1e-10);
    assert_true(after < before);
    tpDestroyWorld(world);
}

static void testSums(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int a = addBall(world, tpMakeVec3(0.0, 0.0, 2.0), tpMakeVec3(1.0, 0.0, 0.0));
    int b = addBall(world, tpMakeVec3(0.0, 3.0, 5.0), tpMakeVec3(0.0, 0.0, -2.0));
    addFloor(world);
    system->velocities.data[b].angular = tpMakeVec3(0.0, 0.0, 6.0);
    CHECK_NEAR(tpSystem_PotentialEnergy(system), ballMass * 10.0 * 7.0, 1e-12);
    double turning = 0.5 * ballMoment * 36.0;
    CHECK_NEAR(tpSystem_BodyKineticEnergy(system, b), 0.5 * ballMass * 4.0 + turning, 1e-13);
    CHECK_NEAR(tpSystem_KineticEnergy(system), 0.5 * ballMass * 5.0 + turning, 1e-13);
    CHECK_VEC3(tpSystem_LinearMomentum(system), tpMakeVec3(2.0, 0.0, -4.0), 1e-14);
    // r x m v about the origin, and the spin.
    tpVec3 expected = tpMakeVec3(3.0 * -4.0, 2.0 * 2.0, ballMoment * 6.0);
    CHECK_VEC3(tpSystem_AngularMomentum(system, tpZeroVec3()), expected, 1e-13);
    tpVelocity change = { .linear = tpMakeVec3(0.5, 0.0, 0.0) };
    CHECK_NEAR(tpSystem_BodyPower(system, a, &change, &system->velocities.data[a]), ballMass * 0.5,
               1e-14);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testKick), cmocka_unit_test(testDamping),
                                        cmocka_unit_test(testSums) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
