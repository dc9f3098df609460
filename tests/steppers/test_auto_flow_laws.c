// Flows of what is driven and of what is held twice: closed forms of servos and motors, the steps
// in which they come to the end of their effort, and doors on two and three hinges.

#include "auto_flows.h"
#include "dynamics/forces.h"
#include "dynamics/joint_state.h"

// A slider of 1 kg along y without gravity, and its coordinate.
static tpWorld* makeSlider(double speed, tpCoordinateDef** def) {
    tpWorld* world = makeJointWorld(tp_prismaticJoint, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0),
                                    tpMakeVec3(0.0, speed, 0.0), tpZeroVec3());
    *def = &world->system.joints.data[0].coordinates[0].def;
    tpWorld_Step(world, 1e-12); // measures the scales
    return world;
}

static double effortOf(const tpWorld* world, const tpTaken* taken, double h) {
    tpJoints_WriteReactions((tpSystem*)&world->system, taken->reactions);
    return world->system.joints.data[0].coordinates[0].effort / h;
}

// x'' = -k (x - a) - c x' from rest at 0. What the servo does is work from outside.
static void servosSwing(void** state) {
    (void)state;
    const double k = 40.0, c = 0.8, a = 0.3, h = 0.02;
    tpCoordinateDef* def;
    tpWorld* world = makeSlider(0.0, &def);
    tpSystem* system = &world->system;
    def->hasServo = true;
    def->servo = (tpServo){ .target = a, .stiffness = k, .damping = c, .effort = INFINITY };
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    double work = 0.0, push = 0.0;
    for (int i = 0; i < 20; ++i) {
        tpTaken taken = takeStep(&flowing, h);
        assert_false(taken.isBad);
        work += taken.report.externalWork;
        push += h * effortOf(world, &taken, h);
    }
    double time = 20 * h, rate = 0.5 * c, turn = sqrt(k - rate * rate);
    double swing = exp(-rate * time) * (cos(turn * time) + rate / turn * sin(turn * time));
    CHECK_NEAR(system->poses.data[0].position.y, a * (1.0 - swing), 1e-5);
    double v = system->velocities.data[0].linear.y;
    CHECK_NEAR(work, 0.5 * v * v, 1e-5);
    CHECK_NEAR(push, v, 1e-9); // the momentum is all its impulse
    tpDestroyWorld(world);
}

// A servo that wants more than it has pushes evenly. It comes back to its gains where
// k (a - x) = F: a step beyond that has a moment in it, and so has one the other way.
static void servosThatGiveAllPushEvenly(void** state) {
    (void)state;
    const double k = 40.0, a = 1.0, force = 10.0;
    tpCoordinateDef* def;
    tpWorld* world = makeSlider(0.0, &def);
    tpSystem* system = &world->system;
    def->hasServo = true;
    def->servo = (tpServo){ .target = a, .stiffness = k, .effort = force };
    double end = sqrt(2.0 * (a - force / k) / force);
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    tpTaken taken = takeStep(&flowing, 0.9 * end);
    assert_false(taken.isBad);
    CHECK_NEAR(system->velocities.data[0].linear.y, 0.9 * end * force, 1e-12);
    CHECK_NEAR(system->poses.data[0].position.y, 0.5 * force * 0.81 * end * end, 1e-12);
    CHECK_NEAR(effortOf(world, &taken, 0.9 * end), force, 1e-12);
    assert_true(beginFlow(&flowing, world, false));
    assert_true(takeStep(&flowing, 0.2 * end).isBad);
    // within its gains, on the way to the other edge
    system->poses.data[0].position.y = a;
    assert_true(beginFlow(&flowing, world, false));
    assert_true(takeStep(&flowing, 0.2).isBad);
    tpDestroyWorld(world);
}

// A motor below its speed pushes evenly, and a step beyond its coming there has a moment in it.
static void motorsComeToTheirSpeed(void** state) {
    (void)state;
    const double speed = 2.0, force = 4.0;
    tpCoordinateDef* def;
    tpWorld* world = makeSlider(0.0, &def);
    def->hasMotor = true;
    def->motor = (tpMotor){ .speed = speed, .effort = force };
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    tpTaken taken = takeStep(&flowing, 0.4);
    assert_false(taken.isBad);
    CHECK_NEAR(world->system.velocities.data[0].linear.y, 0.4 * force, 1e-12);
    CHECK_NEAR(effortOf(world, &taken, 0.4), force, 1e-12);
    assert_true(beginFlow(&flowing, world, false));
    assert_true(takeStep(&flowing, 0.2).isBad);
    tpDestroyWorld(world);
}

// A pendulum of 1 m and 1 kg that a motor turns evenly about y: its torque carries the weight,
// m g cos(w t), and all of its work is potential energy. One that is too weak for that is seen.
static void motorsHoldTheirSpeed(void** state) {
    (void)state;
    const double w = -1.5, g = 9.81, h = 0.05;
    for (int k = 0; k < 2; ++k) {
        tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
        tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments,
                                        tpMakeVec3(0.0, 0.0, -w), tpMakeVec3(0.0, w, 0.0));
        tpSystem* system = &world->system;
        tpCoordinateDef* def = &system->joints.data[0].coordinates[0].def;
        def->hasMotor = true;
        def->motor = (tpMotor){ .speed = w, .effort = k == 0 ? 20.0 : 5.0 };
        tpWorld_Step(world, 1e-12);
        double energy = tpSystem_Energy(system);
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        tpTaken taken = takeStep(&flowing, h);
        assert_int_equal(taken.isBad, k == 1);
        if (k == 0) {
            CHECK_NEAR(system->poses.data[0].position.x, cos(w * h), 1e-9);
            CHECK_NEAR(system->poses.data[0].position.z, -sin(w * h), 1e-9);
            CHECK_NEAR(system->velocities.data[0].angular.y, w, 1e-12);
            CHECK_NEAR(effortOf(world, &taken, h), g * sin(w * h) / (w * h) * -1.0, 1e-6);
            CHECK_NEAR(taken.report.externalWork, tpSystem_Energy(system) - energy, 1e-6);
        }
        tpDestroyWorld(world);
    }
}

// A door on so many hinges in a row, whose weight turns it, after half a second.
static tpVec3 turnDoor(int hingeCount, tpVec3 forces[3]) {
    tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
    tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments,
                                    tpZeroVec3(), tpZeroVec3());
    for (int k = 1; k < hingeCount; ++k) {
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyB = tpWorld_GetBody(world, 0);
        joint.anchorA = joint.anchorB = tpMakeVec3(0.0, k % 2 == 1 ? 0.5 : -0.5, 0.0);
        joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    }
    tpWorld_Step(world, 1e-12);
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int i = 0; i < 20; ++i) {
        tpTaken taken = takeStep(&flowing, 0.025);
        assert_false(taken.isBad);
        assert_true(taken.report.residual < 1e-10);
        tpJoints_WriteReactions(&world->system, taken.reactions);
    }
    for (int k = 0; k < hingeCount; ++k) {
        forces[k] = world->system.joints.data[k].force;
    }
    tpVec3 end = world->system.poses.data[0].position;
    tpDestroyWorld(world);
    return end;
}

// Hinges in a row hold all but the turn two and three times: the motion is that of one, and they
// share the load. The outer two of three are alike.
static void whatIsHeldTwiceMovesAlike(void** state) {
    (void)state;
    tpVec3 one[3], two[3], three[3];
    tpVec3 right = turnDoor(1, one);
    assert_true(tpDistanceBetween(turnDoor(2, two), right) < 1e-10);
    assert_true(tpDistanceBetween(turnDoor(3, three), right) < 1e-10);
    assert_true(tpDistanceBetween(tpAdd(two[0], two[1]), one[0]) < 1e-8);
    tpVec3 outer = tpAdd(three[1], three[2]);
    assert_true(tpDistanceBetween(tpAdd(three[0], outer), one[0]) < 1e-8);
    assert_true(tpDistanceBetween(three[1], three[2]) < 1e-6);
    assert_true(tpDot(three[0], one[0]) > 0.0 && tpDot(outer, one[0]) > 0.0);
}

// A pendulum of 1 kg at 1 m with so much armature on its hinge and so large a moment about it
// swings for a step; its velocity is returned.
static tpVec3 swing(double armature, double moment, tpTaken* taken) {
    tpWorld* world =
        makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.5, moment, 0.5),
                       tpMakeVec3(0.0, 0.0, -2.0), tpMakeVec3(0.0, 2.0, 0.0));
    tpSystem* system = &world->system;
    system->joints.data[0].coordinates[0].def.armature = armature;
    tpWorld_Step(world, 1e-12); // measures the scales
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int k = 0; k < 4; ++k) {
        *taken = takeStep(&flowing, 0.05);
        assert_false(taken->isBad);
    }
    tpStepReport* report = &taken->report;
    report->kineticAfter = tpSystem_KineticEnergy(system);
    report->potentialAfter = tpSystem_PotentialEnergy(system);
    tpVec3 velocity = system->velocities.data[0].linear;
    tpDestroyWorld(world);
    return velocity;
}

// Armature on a hinge with the world is as good as a larger moment of the body about it.
static void armatureIsInertia(void** state) {
    (void)state;
    tpTaken with, without;
    tpVec3 a = swing(0.7, 0.1, &with), b = swing(0.0, 0.8, &without);
    CHECK_NEAR(tpDistanceBetween(a, b), 0.0, 1e-12);
    CHECK_NEAR(with.report.kineticAfter, without.report.kineticAfter, 1e-12);
    CHECK_NEAR(with.report.externalWork, 0.0, 1e-12);
    CHECK_NEAR(with.report.residual, 0.0, 1e-12);
}

// A second body of 1 kg on a slide along y, coupled to the first one so that both go y and -y / 2.
static tpCouplingId addGear(tpWorld* world) {
    tpBodyDef body = tpDefaultBodyDef();
    body.position = tpMakeVec3(1.0, 0.0, 0.0);
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_prismaticJoint;
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.anchorA = body.position;
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    tpCouplingTerm terms[] = { { tpWorld_GetJoint(world, 0), 0, 1.0 },
                               { tpWorld_GetJoint(world, 1), 0, 2.0 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = 2;
    def.hasValue = true;
    return tpCreateCoupling(world, &def, NULL);
}

// Two masses of 1 kg on slides along gravity: y'' + m g has to be the same force T on the first one
// and 2 T on the second, which goes half as far the other way. So y'' (1 + 1/4) = -g / 2.
static void gearsHold(void** state) {
    (void)state;
    const double g = 9.81, h = 0.2, rate = -g * 0.5 / 1.25;
    tpWorld* world = makeJointWorld(tp_prismaticJoint, tpZeroVec3(), tpMakeVec3(1.0, 1.0, 1.0),
                                    tpZeroVec3(), tpZeroVec3());
    tpCouplingId gear = addGear(world);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, -g, 0.0));
    tpWorld_Step(world, 1e-12); // measures the scales
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    tpTaken taken = takeStep(&flowing, h);
    assert_false(taken.isBad);
    const tpSystem* system = &world->system;
    CHECK_NEAR(system->velocities.data[0].linear.y, rate * h, 1e-9);
    CHECK_NEAR(system->velocities.data[1].linear.y, -0.5 * rate * h, 1e-9);
    CHECK_NEAR(system->poses.data[0].position.y, 0.5 * rate * h * h, 1e-9);
    CHECK_NEAR(taken.report.externalWork, 0.0, 1e-9);
    CHECK_NEAR(tpCoupling_GetState(world, gear).limitEffort, g + rate, 1e-9);
    tpVec3 force;
    tpJoint_GetReaction(world, tpWorld_GetJoint(world, 1), &force, NULL);
    CHECK_NEAR(force.y, 2.0 * (g + rate), 1e-9);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servosSwing),
        cmocka_unit_test(servosThatGiveAllPushEvenly),
        cmocka_unit_test(motorsComeToTheirSpeed),
        cmocka_unit_test(motorsHoldTheirSpeed),
        cmocka_unit_test(whatIsHeldTwiceMovesAlike),
        cmocka_unit_test(armatureIsInertia),
        cmocka_unit_test(gearsHold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
