// Kicks of gravity, forces and damping, and the energies and momenta of a system.

#include <string.h>

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

// Three bodies, the one in the middle under every kind of force: what each of the kicks gives it is
// the sum of force times the time in which the force acts; the others get their weight alone.
static void everyForceKicks(void** state) {
    (void)state;
    const double from = 0.3, to = 0.45, time = 0.25, h = 0.1, acting = 0.05;
    for (int way = 0; way < 4; ++way) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        for (int i = 0; i < 3; ++i) {
            addBall(world, tpMakeVec3(i, 0.0, 2.0), tpZeroVec3());
        }
        tpQuat q = tpQuatExp(tpMakeVec3(0.3, -0.4, 0.8));
        system->poses.data[1].rotation = q;
        tpBodyId body = tpWorld_GetBody(world, 1);
        tpVec3 push = tpMakeVec3(1.0, 2.0, 3.0), twist = tpMakeVec3(0.3, 0.1, -0.2);
        tpVec3 point = tpMakeVec3(0.1, -0.3, 0.2);
        tpForceDef force = tpDefaultForceDef();
        force.body = body;
        force.frame = tp_bodyFrame;
        force.force = push;
        force.torque = twist;
        force.hasPoint = true;
        force.point = point;
        force.from = from;
        force.to = to;
        tpCreateForce(world, &force, NULL);
        force.from = 10.0; // not yet
        force.to = 20.0;
        tpCreateForce(world, &force, NULL);
        tpVec3 load = tpMakeVec3(-4.0, 5.0, 1.0), moment = tpMakeVec3(0.0, 0.7, 0.2);
        tpBody_ApplyForce(world, body, load, tp_worldFrame);
        tpBody_ApplyTorque(world, body, moment, tp_worldFrame);
        tpVec3 linear = tpAdd(tpScale(acting, tpRotate(q, push)), tpScale(h, load));
        tpVec3 angular = tpAdd(tpScale(acting, tpRotate(q, tpAdd(twist, tpCross(point, push)))),
                               tpScale(h, moment));
        double weight = -10.0 * h;
        double work = 0.0;
        if (way == 0) {
            work = tpSystem_Kick(system, time, h, tp_forwardSweep);
        } else if (way == 1) {
            work = tpSystem_Kick(system, time, h, tp_backwardSweep);
        } else if (way == 2) {
            tpSystem_KickForces(system, time, h);
        } else {
            weight = 0.0;
            work = tpSystem_KickBody(system, 1, time, h);
            CHECK_NEAR(work, tpSystem_BodyKineticEnergy(system, 1), 1e-13);
            work = 0.0;
        }
        CHECK_NEAR(work, 0.0, 0.0); // nothing damps
        for (int i = 0; i < 3; ++i) {
            tpVec3 v = tpMakeVec3(0.0, 0.0, weight), w = tpZeroVec3();
            if (i == 1) {
                v = tpMulAdd(v, 1.0 / ballMass, linear);
                w = tpScale(1.0 / ballMoment, angular);
            }
            CHECK_VEC3(system->velocities.data[i].linear, v, 1e-13);
            CHECK_VEC3(system->velocities.data[i].angular, w, 1e-12);
        }
        tpDestroyWorld(world);
    }
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

// Few bodies, and more than one thread sums: ball i of n flies at speed i at height i, so that the
// energies are sums of squares and of numbers. One look at each body finds the same bits as one for
// each kind of energy.
static void energiesOfMany(void** state) {
    (void)state;
    const int counts[] = { 40, 1500 };
    for (int k = 0; k < 2; ++k) {
        int n = counts[k];
        tpWorld* world = makeEmptyWorld();
        for (int i = 0; i < n; ++i) {
            addBall(world, tpMakeVec3(0.0, 0.0, i), tpMakeVec3(0.0, i, 0.0));
        }
        const tpSystem* system = &world->system;
        double kinetic, potential, count = n;
        tpSystem_FindEnergies(system, &kinetic, &potential);
        double squares = count * (count - 1.0) * (2.0 * count - 1.0) / 6.0;
        double heights = count * (count - 1.0) / 2.0;
        CHECK_NEAR(kinetic, 0.5 * ballMass * squares, 1e-12 * kinetic);
        CHECK_NEAR(potential, 10.0 * ballMass * heights, 1e-12 * potential);
        assert_true(kinetic == tpSystem_KineticEnergy(system));
        assert_true(potential == tpSystem_PotentialEnergy(system));
        assert_true(tpSystem_Energy(system) == kinetic + potential);
        tpDestroyWorld(world);
    }
}

// A spring pulls its two points along the line between them, by stiffness times stretch, and its
// damper takes exp(-c t / m) of the speed at which it lengthens.
static void testSpring(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    system->gravity = tpZeroVec3();
    int a = addBall(world, tpMakeVec3(0.0, 0.0, 0.0), tpMakeVec3(0.0, 0.0, 0.0));
    int b = addBall(world, tpMakeVec3(2.0, 0.0, 0.0), tpMakeVec3(0.0, 0.0, 0.0));
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_springJoint;
    joint.bodyA = tpWorld_GetBody(world, 0);
    joint.bodyB = tpWorld_GetBody(world, 1);
    joint.anchorA = tpMakeVec3(0.0, 0.1, 0.0);
    joint.anchorB = tpMakeVec3(2.0, 0.1, 0.0);
    joint.coordinate.spring.stiffness = 30.0;
    joint.coordinate.spring.rest = 0.5;
    tpError error;
    tpJointId spring = tpCreateJoint(world, &joint, &error);
    if (!tpJoint_IsValid(world, spring)) {
        fail_msg("%s", error.message);
    }
    const double h = 0.01, pull = 30.0 * 1.5 * h;
    CHECK_NEAR(tpSystem_Kick(system, 0.0, h, tp_forwardSweep), 0.0, 1e-15);
    const tpVelocity* v = system->velocities.data;
    CHECK_VEC3(v[a].linear, tpMakeVec3(pull / ballMass, 0.0, 0.0), 1e-13);
    CHECK_VEC3(v[b].linear, tpMakeVec3(-pull / ballMass, 0.0, 0.0), 1e-13);
    CHECK_VEC3(v[a].angular, tpMakeVec3(0.0, 0.0, -0.1 * pull / ballMoment), 1e-13);
    CHECK_VEC3(v[b].angular, tpMakeVec3(0.0, 0.0, 0.1 * pull / ballMoment), 1e-13);
    // The damper alone.
    tpSpring* law = &system->joints.data[0].coordinates[0].def.spring;
    law->stiffness = 0.0;
    law->damping = 3.0;
    double speed = v[b].linear.x - v[a].linear.x - 0.1 * (v[b].angular.z - v[a].angular.z);
    double response = 2.0 * (1.0 / ballMass + 0.1 * 0.1 / ballMoment);
    double before = tpSystem_KineticEnergy(system);
    double work = tpSystem_Kick(system, 0.0, h, tp_forwardSweep);
    double after = v[b].linear.x - v[a].linear.x - 0.1 * (v[b].angular.z - v[a].angular.z);
    CHECK_NEAR(after, speed * exp(-3.0 * response * h), 1e-12);
    CHECK_NEAR(tpSystem_KineticEnergy(system) - before, work, 1e-13);
    tpDestroyWorld(world);
}

static void addSpring(tpWorld* world, int a, int b, tpRandom* random, tpSpring law) {
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_springJoint;
    joint.bodyA = tpWorld_GetBody(world, a);
    joint.bodyB = tpWorld_GetBody(world, b);
    joint.anchorA = tpAdd(tpBody_GetPosition(world, joint.bodyA), randomVec3(random, -0.3, 0.3));
    joint.anchorB = tpAdd(tpBody_GetPosition(world, joint.bodyB), randomVec3(random, -0.3, 0.3));
    joint.coordinate.spring = law;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
}

// Bodies anywhere, turning anyhow, with springs between any points of them: what a kick gives to
// one end it takes from the other, and dampers take what they say. Springs alone in either order
// undo themselves when time runs back.
static void springsKeepMomentum(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int n = 0; n < 30; ++n) {
        bool isDamped = n % 2 == 1;
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        system->gravity = tpZeroVec3();
        for (int i = 0; i < 3; ++i) {
            addBall(world, randomVec3(&random, -2.0, 2.0), randomVec3(&random, -1.0, 1.0));
        }
        for (int i = 0; i < 3; ++i) {
            tpSpring law = { randomBetween(&random, 5.0, 50.0), isDamped ? 4.0 : 0.0, 0.7 };
            addSpring(world, i, (i + 1) % 3, &random, law);
            system->velocities.data[i].angular = randomVec3(&random, -1.0, 1.0);
        }
        tpVelocity start[3];
        memcpy(start, system->velocities.data, sizeof(start));
        tpVec3 about = randomVec3(&random, -1.0, 1.0), p = tpSystem_LinearMomentum(system),
               l = tpSystem_AngularMomentum(system, about);
        double work = tpSystem_Kick(system, 0.0, 0.02, tp_forwardSweep);
        assert_true(isDamped ? work < -1e-6 : work == 0.0);
        assert_true(tpDistanceBetween(system->velocities.data[0].linear, start[0].linear) > 1e-4);
        CHECK_VEC3(tpSystem_LinearMomentum(system), p, 1e-13);
        CHECK_VEC3(tpSystem_AngularMomentum(system, about), l, 1e-13);
        for (int i = 0; i < 3 && !isDamped; ++i) {
            system->joints.data[i].coordinates[0].def.spring.stiffness *= -1.0;
        }
        tpSystem_Kick(system, 0.0, 0.02, tp_backwardSweep);
        for (int i = 0; i < 3 && !isDamped; ++i) {
            CHECK_VEC3(system->velocities.data[i].linear, start[i].linear, 1e-13);
            CHECK_VEC3(system->velocities.data[i].angular, start[i].angular, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

// The speed at which a damper lengthens decays by exp(-c w t), w being what a unit of impulse does
// to that speed, found by giving one: in space, in the plane, and where bodies are locked.
static void dampersDecay(void** state) {
    (void)state;
    tpRandom random = { 12 };
    for (int n = 0; n < 60; ++n) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        system->gravity = tpZeroVec3();
        for (int i = 0; i < 2; ++i) {
            addBall(world, randomVec3(&random, -2.0, 2.0), randomVec3(&random, -1.0, 1.0));
            system->velocities.data[i].angular = randomVec3(&random, -1.0, 1.0);
        }
        system->isPlanar = n % 3 == 1;
        system->bodies.data[0].locked = n % 3 == 2 ? tp_lockX | tp_lockTurnY : 0;
        addSpring(world, 0, 1, &random, (tpSpring){ 0.0, 3.0, 0.5 });
        const tpJoint* spring = &system->joints.data[0];
        tpVec3 a = tpTransformPoint(system->poses.data[0], spring->anchorA);
        tpVec3 b = tpTransformPoint(system->poses.data[1], spring->anchorB);
        tpVec3 along = tpNormalize(tpSub(b, a));
        double speeds[3], work = 0.0, energy = tpSystem_KineticEnergy(system);
        for (int k = 0; k < 3; ++k) {
            speeds[k] = tpDot(
                tpSub(tpSystem_PointVelocity(system, 1, b), tpSystem_PointVelocity(system, 0, a)),
                along);
            if (k == 0) {
                work = tpSystem_Kick(system, 0.0, 0.05, tp_backwardSweep);
                CHECK_NEAR(tpSystem_KineticEnergy(system) - energy, work, 1e-12);
            } else if (k == 1) {
                tpVec3 armA = tpSub(a, system->poses.data[0].position);
                tpVec3 armB = tpSub(b, system->poses.data[1].position);
                tpSystem_ApplyImpulse(system, 0, tpNeg(along), tpNeg(tpCross(armA, along)));
                tpSystem_ApplyImpulse(system, 1, along, tpCross(armB, along));
            }
        }
        double response = speeds[2] - speeds[1];
        CHECK_NEAR(speeds[1], speeds[0] * exp(-3.0 * response * 0.05), 1e-12);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testKick),     cmocka_unit_test(everyForceKicks),
        cmocka_unit_test(testDamping),  cmocka_unit_test(testSums),
        cmocka_unit_test(testSpring),   cmocka_unit_test(springsKeepMomentum),
        cmocka_unit_test(dampersDecay), cmocka_unit_test(energiesOfMany)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
