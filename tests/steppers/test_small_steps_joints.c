// Joints in real time: closed forms of mechanisms, drives, limits, locks; the same bits on any
// number of threads.

#include <string.h>

#include "support/check.h"
#include "tippe/joints.h"
#include "tippe/state.h"

static const double gravity = 9.81;
static const tpBodyId nobody = { 0 };

static tpWorld* makeWorld(int threads) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.threadCount = threads;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.7;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    return world;
}

static tpBodyId addBox(tpWorld* world, tpVec3 place, tpVec3 size, double density) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = density;
    tpBox box = { size };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static void addFloor(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape, &plane, NULL);
}

static tpJointDef hinge(tpBodyId a, tpBodyId b, tpVec3 anchor) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = tpMakeVec3(0.0, 1.0, 0.0);
    return def;
}

static tpStepReport run(tpWorld* world, double h, double time) {
    tpStepReport report = { 0 };
    for (int k = 0; k < (int)lround(time / h); ++k) {
        report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
    }
    return report;
}

// A rod of 1 m and 1 kg that hangs at its end from the world, level at first: m l^2 / 3 about the
// pin.
static tpJointId addRod(tpWorld* world, const tpCoordinateDef* laws, tpBodyId* rod) {
    *rod = addBox(world, tpMakeVec3(0.5, 0.0, 0.0), tpMakeVec3(1.0, 0.1, 0.1), 100.0);
    tpJointDef def = hinge(nobody, *rod, tpZeroVec3());
    def.coordinate = *laws;
    tpError error = { 0 };
    tpJointId joint = tpCreateJoint(world, &def, &error);
    assert_true(tpJoint_IsValid(world, joint));
    return joint;
}

static const double rodInertia = 1.0 / 3.0 + 0.01 / 12.0;

// The turn of the level rod after `time`, by the classical Runge-Kutta method in small steps.
static double turnAfter(double time) {
    double q = 0.0, w = 0.0, h = 1e-4, k = 0.5 * gravity / rodInertia;
    for (int i = 0; i < (int)lround(time / h); ++i) {
        double a1 = k * cos(q), a2 = k * cos(q + 0.5 * h * w);
        double a3 = k * cos(q + 0.5 * h * w + 0.25 * h * h * a1);
        double a4 = k * cos(q + h * w + 0.5 * h * h * a2);
        q += h * w + h * h / 6.0 * (a1 + a2 + a3);
        w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    return q;
}

static void pendulumFollowsItsLaw(void** state) {
    (void)state;
    double last = 0.0;
    for (int level = 0; level < 2; ++level) {
        tpWorld* world = makeWorld(1);
        tpCoordinateDef none = tpDefaultCoordinateDef();
        tpBodyId rod;
        tpJointId joint = addRod(world, &none, &rod);
        double h = level == 0 ? 1.0 / 100.0 : 1.0 / 200.0;
        tpStepReport report = run(world, h, 1.5);
        double miss = fabs(tpJoint_GetValue(world, joint, 0) - turnAfter(1.5));
        CHECK_BELOW(miss, 0.04);
        CHECK_BELOW(report.jointDrift, 1e-8);
        if (level == 1) {
            CHECK_BELOW(miss, 0.6 * last);
        }
        last = miss;
        // It goes on without losing height: energy stays that of the start.
        report = run(world, h, 20.0);
        CHECK_NEAR(report.kineticAfter + report.potentialAfter, 0.0, 0.02 * 0.5 * gravity);
        tpDestroyWorld(world);
    }
}

static void servoHoldsAnArm(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasServo = true;
    laws.servo.stiffness = 500.0;
    laws.servo.damping = 20.0;
    tpBodyId rod;
    tpJointId joint = addRod(world, &laws, &rod);
    run(world, 1.0 / 200.0, 5.0);
    // k q = m g l / 2 cos q
    double q = tpJoint_GetValue(world, joint, 0);
    CHECK_NEAR(500.0 * q, 0.5 * gravity * cos(q), 1e-6);
    CHECK_NEAR(tpJoint_GetState(world, joint, 0).effort, -0.5 * gravity * cos(q), 1e-5);
    tpVec3 force, torque;
    tpJoint_GetReaction(world, joint, &force, &torque);
    CHECK_VEC3(force, tpMakeVec3(0.0, 0.0, gravity), 1e-5);
    tpDestroyWorld(world);
}

static void stiffServoDoesNotRing(void** state) {
    (void)state;
    for (int level = 0; level < 2; ++level) {
        tpWorld* world = makeWorld(1);
        double h = level == 0 ? 1.0 / 200.0 : 1.0 / 60.0;
        tpCoordinateDef laws = tpDefaultCoordinateDef();
        laws.hasServo = true;
        // Ten times what the step resolves, critically damped.
        double rate = 10.0 / h;
        laws.servo.stiffness = rodInertia * rate * rate;
        laws.servo.damping = 2.0 * rodInertia * rate;
        laws.servo.target = 0.5;
        tpBodyId rod;
        tpJointId joint = addRod(world, &laws, &rod);
        double last = 0.0;
        for (int k = 0; k < 60; ++k) {
            tpWorld_Step(world, h);
            double q = tpJoint_GetValue(world, joint, 0);
            assert_true(q >= last - 1e-9 && q < 0.5 + 1e-3);
            last = q;
        }
        CHECK_NEAR(last, 0.5, 1e-3);
        tpDestroyWorld(world);
    }
}

static void effortIsBounded(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpWorld_SetGravity(world, tpZeroVec3());
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasServo = true;
    laws.servo.stiffness = 1e5;
    laws.servo.damping = 1e3;
    laws.servo.target = 2.0;
    laws.servo.effort = 1.5;
    tpBodyId rod;
    tpJointId joint = addRod(world, &laws, &rod);
    double time = 0.5;
    run(world, 1.0 / 200.0, time);
    CHECK_NEAR(tpJoint_GetState(world, joint, 0).effort, 1.5, 1e-9);
    CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), 1.5 * time / rodInertia, 1e-3);
    tpDestroyWorld(world);
}

static void armatureSlowsAPendulum(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.armature = 0.7;
    tpBodyId rod;
    tpJointId joint = addRod(world, &laws, &rod);
    tpWorld_SetGravity(world, tpZeroVec3());
    // A torque of 2 N m for 0.4 s.
    for (int k = 0; k < 200; ++k) {
        tpJoint_ApplyEffort(world, joint, 0, 2.0);
        tpWorld_Step(world, 0.002);
    }
    CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), 0.8 / (rodInertia + 0.7), 1e-5);
    tpDestroyWorld(world);
}

// Three wheels of a differential, q1 + q2 = 2 q3; a torque turns the first.
static void couplingsMakeADifferential(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpWorld_SetGravity(world, tpZeroVec3());
    tpJointId joints[3];
    tpCouplingTerm terms[3];
    const double factors[3] = { 1.0, 1.0, -2.0 };
    for (int k = 0; k < 3; ++k) {
        tpVec3 place = tpMakeVec3(2.0 * k, 0.0, 0.0);
        tpBodyId wheel = addBox(world, place, tpMakeVec3(0.5, 0.1, 0.5), 100.0);
        tpJointDef def = hinge(nobody, wheel, place);
        tpError error = { 0 };
        joints[k] = tpCreateJoint(world, &def, &error);
        terms[k] = (tpCouplingTerm){ joints[k], 0, factors[k] };
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = 3;
    def.hasValue = true;
    tpError error = { 0 };
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, &error)));
    for (int k = 0; k < 80; ++k) {
        tpJoint_ApplyEffort(world, joints[0], 0, 0.05);
        tpStepReport report = tpWorld_Step(world, 1.0 / 200.0);
        assert_int_equal(report.noteCount, 0);
        CHECK_BELOW(report.jointDrift, 1e-9);
    }
    // I q'' = tau e1 + l a with a . q'' = 0.
    double inertia = 2.5 / 12.0 * 0.5, gain = 0.05 * 0.4 / inertia;
    CHECK_NEAR(tpJoint_GetSpeed(world, joints[0], 0), 5.0 / 6.0 * gain, 1e-4);
    CHECK_NEAR(tpJoint_GetSpeed(world, joints[1], 0), -1.0 / 6.0 * gain, 1e-4);
    CHECK_NEAR(tpJoint_GetSpeed(world, joints[2], 0), 2.0 / 6.0 * gain, 1e-4);
    tpDestroyWorld(world);
}

// A kinematic body that moves and turns takes a rod along.
static void toldBodiesCarryOthers(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpBodyDef told = tpDefaultBodyDef();
    told.kind = tp_kinematicBody;
    told.velocity = tpMakeVec3(0.5, 0.0, 0.0);
    told.angularVelocity = tpMakeVec3(0.0, 2.0, 0.0);
    tpBodyId crank = tpCreateBody(world, &told, NULL);
    tpBodyId rod = addBox(world, tpMakeVec3(0.5, 0.0, 0.0), tpMakeVec3(1.0, 0.1, 0.1), 100.0);
    tpJointDef def = hinge(crank, rod, tpZeroVec3());
    def.coordinate.hasServo = true;
    def.coordinate.servo.stiffness = 1e4;
    def.coordinate.servo.damping = 1e2;
    tpError error = { 0 };
    tpJointId joint = tpCreateJoint(world, &def, &error);
    for (int k = 0; k < 200; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 200.0);
        CHECK_BELOW(report.jointDrift, 1e-9);
    }
    // A second at 2 rad/s, 0.5 m on.
    CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.0, 2e-3);
    CHECK_VEC3(tpBody_GetPosition(world, rod),
               tpMakeVec3(0.5 + 0.5 * cos(2.0), 0.0, -0.5 * sin(2.0)), 2e-3);
    tpDestroyWorld(world);
}

static void limitsMotorsAndFrictionHold(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpCoordinateDef laws = tpDefaultCoordinateDef();
    laws.hasLimits = true;
    laws.limits[0] = -1.0;
    laws.limits[1] = 0.3;
    tpBodyId rod;
    tpJointId joint = addRod(world, &laws, &rod);
    double past = 0.0;
    for (int k = 0; k < 400; ++k) {
        tpWorld_Step(world, 1.0 / 200.0);
        past = fmax(past, tpJoint_GetValue(world, joint, 0) - 0.3);
    }
    CHECK_BELOW(past, 1e-6);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.3, 1e-6);
    CHECK_NEAR(tpJoint_GetState(world, joint, 0).limitEffort, -0.5 * gravity * cos(0.3), 1e-3);
    // A motor turns it the other way, to the other limit.
    laws.hasMotor = true;
    laws.motor.speed = -2.0;
    laws.motor.effort = 100.0;
    assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &laws, NULL), tp_success);
    run(world, 1.0 / 200.0, 0.3);
    CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), -2.0, 1e-4);
    run(world, 1.0 / 200.0, 1.0);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 0), -1.0, 1e-4);
    // Dry friction of more than the weight's moment holds it where it is.
    laws.hasMotor = false;
    laws.friction = 6.0;
    assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &laws, NULL), tp_success);
    run(world, 1.0 / 200.0, 1.0);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 0), -1.0, 1e-3);
    CHECK_BELOW(fabs(tpJoint_GetSpeed(world, joint, 0)), 1e-5);
    tpDestroyWorld(world);
}

// A ball on a spring goes around its anchor without turning: the spring's direction follows, and
// its energy does not grow.
static void orbitsOnSpringsStayBounded(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        double h = k == 0 ? 1.0 / 60.0 : 1.0 / 240.0;
        tpWorld* world = makeWorld(1);
        tpWorld_SetGravity(world, tpZeroVec3());
        tpBodyId ball = addBox(world, tpMakeVec3(0.8, 0.0, 0.0), tpMakeVec3(0.1, 0.1, 0.1), 700.0);
        tpBody_SetVelocity(world, ball, tpMakeVec3(0.0, 2.1, 1.0), tpZeroVec3());
        tpJointDef def = hinge(nobody, ball, tpZeroVec3());
        def.type = tp_springJoint;
        def.anchorB = tpMakeVec3(0.8, 0.0, 0.0);
        def.coordinate.hasSpring = true;
        def.coordinate.spring = (tpSpring){ 55.0, 0.0, 0.0 };
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
        double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        run(world, h, 5.0);
        double end = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        CHECK_NEAR(end, start, (k == 0 ? 2e-3 : 1e-4) * start);
        tpDestroyWorld(world);
    }
}

static void heavyEndHangsOnLightLinks(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpBodyId last = nobody;
    for (int k = 0; k < 20; ++k) {
        bool isEnd = k == 19;
        tpVec3 size = isEnd ? tpMakeVec3(1.0, 1.0, 1.0) : tpMakeVec3(0.2, 0.05, 0.05);
        tpVec3 place = isEnd ? tpMakeVec3(4.3, 0.0, 0.0) : tpMakeVec3(0.1 + 0.2 * k, 0.0, 0.0);
        tpBodyId link = addBox(world, place, size, isEnd ? 50.0 : 100.0);
        tpJointDef def = hinge(last, link, tpMakeVec3(0.2 * k, 0.0, 0.0));
        def.type = k % 2 == 0 ? tp_ballJoint : tp_universalJoint;
        def.secondAxis = tpMakeVec3(0.0, 0.0, 1.0);
        tpError error = { 0 };
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, &error)));
        last = link;
    }
    // 50 kg on links of 50 g: it swings, and links of 200 mm stay together.
    double drift = 0.0, most = 0.0;
    for (int k = 0; k < 600; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 200.0);
        drift = fmax(drift, report.jointDrift);
        most = fmax(most, report.kineticAfter + report.potentialAfter);
    }
    CHECK_BELOW(drift, 0.01);
    CHECK_BELOW(most, 0.01 * 50.0 * gravity * 4.3);
    tpDestroyWorld(world);
}

static void lockedBodiesStay(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    addFloor(world);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 2.0);
    def.locked = tp_lockX | tp_lockTurnX | tp_lockTurnY;
    def.angularVelocity = tpMakeVec3(0.0, 0.0, 3.0);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1.0;
    tpBox box = { { 1.0, 0.5, 0.4 } };
    tpCreateBox(world, body, &shape, &box, NULL);
    for (int k = 0; k < 300; ++k) {
        tpBody_ApplyForce(world, body, tpMakeVec3(5.0, 0.2, 0.0), tp_worldFrame);
        tpWorld_Step(world, 1.0 / 120.0);
        tpVec3 w = tpBody_GetAngularVelocity(world, body);
        CHECK_BELOW(fabs(w.x) + fabs(w.y), 1e-15);
        CHECK_BELOW(fabs(tpBody_GetPosition(world, body).x), 1e-15);
    }
    // It fell to the floor all the same.
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.2, 5e-3);
    tpDestroyWorld(world);
}

// 60 kg on four feet of 0.1 kg at 60 steps per second: contacts feel the whole mechanism.
static void lightFeetCarryAHeavyTrunk(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    addFloor(world);
    tpBodyId trunk =
        addBox(world, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.6, 0.4, 0.2), 60.0 / 0.048);
    double weight = 60.0 * gravity;
    for (int i = 0; i < 4; ++i) {
        double x = i < 2 ? 0.25 : -0.25, y = i % 2 == 0 ? 0.15 : -0.15;
        tpBodyId leg = addBox(world, tpMakeVec3(x, y, 0.2), tpMakeVec3(0.05, 0.05, 0.4), 300.0);
        tpBodyId foot =
            addBox(world, tpMakeVec3(x, y, 0.01), tpMakeVec3(0.1, 0.1, 0.02), 0.1 / 0.0002);
        weight += (0.3 + 0.1) * gravity;
        tpJointDef defs[2] = { hinge(trunk, leg, tpMakeVec3(x, y, 0.4)),
                               hinge(leg, foot, tpMakeVec3(x, y, 0.02)) };
        for (int k = 0; k < 2; ++k) {
            defs[k].coordinate.hasServo = true;
            defs[k].coordinate.servo.stiffness = 5e3;
            defs[k].coordinate.servo.damping = 100.0;
            tpCreateJoint(world, &defs[k], NULL);
        }
    }
    run(world, 1.0 / 60.0, 3.0);
    double load = 0.0;
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        load += 60.0 * contacts[i].normalImpulse;
    }
    tpVec3 place = tpBody_GetPosition(world, trunk);
    print_message("trunk at %.5f m, load %.5f of the weight\n", place.z, load / weight);
    CHECK_NEAR(place.z, 0.5, 1.2e-3);
    CHECK_NEAR(place.x, 0.0, 1e-3);
    CHECK_NEAR(load, weight, 1e-3 * weight);
    tpDestroyWorld(world);
}

// Figures of seven bodies with servos that fall on each other.
static tpWorld* makeCrowd(int threads) {
    tpWorld* world = makeWorld(threads);
    addFloor(world);
    for (int i = 0; i < 80; ++i) {
        double x = 1.2 * (i % 8), y = 1.2 * (i / 8 % 2), z = 1.0 + 1.1 * (i / 16);
        tpBodyId trunk = addBox(world, tpMakeVec3(x, y, z), tpMakeVec3(0.3, 0.3, 0.5), 500.0);
        for (int k = 0; k < 6; ++k) {
            double side = k % 2 == 0 ? 1.0 : -1.0, place = z + 0.2 * (k / 2 - 1);
            tpBodyId limb = addBox(world, tpMakeVec3(x + 0.3 * side, y, place),
                                   tpMakeVec3(0.28, 0.1, 0.1), 300.0);
            tpJointDef def = hinge(trunk, limb, tpMakeVec3(x + 0.15 * side, y, place));
            def.coordinate.hasServo = true;
            def.coordinate.servo.stiffness = 200.0;
            def.coordinate.servo.damping = 10.0;
            def.coordinate.servo.effort = 5.0;
            def.coordinate.armature = 0.01;
            tpError error = { 0 };
            tpCreateJoint(world, &def, &error);
        }
    }
    return world;
}

static void bitsDoNotDependOnThreads(void** state) {
    (void)state;
    uint64_t hashes[2];
    for (int run = 0; run < 2; ++run) {
        tpWorld* world = makeCrowd(run == 0 ? 1 : 3);
        for (int k = 0; k < 120; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
            assert_false(report.undone);
            CHECK_BELOW(report.jointDrift, 1e-3);
        }
        hashes[run] = tpWorld_HashState(world);
        tpDestroyWorld(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void snapshotsContinue(void** state) {
    (void)state;
    tpWorld* world = makeCrowd(1);
    for (int k = 0; k < 40; ++k) {
        tpWorld_Step(world, 1.0 / 120.0);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    uint64_t hashes[2];
    for (int run = 0; run < 2; ++run) {
        for (int k = 0; k < 30; ++k) {
            tpWorld_Step(world, 1.0 / 120.0);
        }
        hashes[run] = tpWorld_HashState(world);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    }
    assert_true(hashes[0] == hashes[1]);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

static tpBodyId addLink(tpWorld* world, tpVec3 place, double mass, double moment) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.center = tpZeroVec3();
    def.mass.inertia = tpScaleM(moment, tpIdentityMat33());
    return tpCreateBody(world, &def, NULL);
}

// A walker on bent legs, with dry friction in its hinges: contacts must not feel at its feet what
// the legs would weigh if that friction held whatever comes.
static void dryFrictionInLegsIsNoLock(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    addFloor(world);
    tpBodyId trunk = addLink(world, tpMakeVec3(0.0, 0.0, 0.6), 30.0, 0.9);
    for (int i = 0; i < 4; ++i) {
        double x = i < 2 ? 0.3 : -0.3, y = i % 2 == 0 ? 0.2 : -0.2;
        tpBodyId thigh = addLink(world, tpMakeVec3(x - 0.075, y, 0.45), 0.8, 0.005);
        tpBodyId shank = addLink(world, tpMakeVec3(x - 0.075, y, 0.165), 0.2, 0.002);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        shape.pose.position = tpMakeVec3(0.075, 0.0, -0.135);
        tpSphere foot = { 0.03 };
        tpCreateSphere(world, shank, &shape, &foot, NULL);
        for (int k = 0; k < 2; ++k) {
            tpJointDef def = k == 0 ? hinge(trunk, thigh, tpMakeVec3(x, y, 0.6))
                                    : hinge(thigh, shank, tpMakeVec3(x - 0.15, y, 0.3));
            def.coordinate.friction = 0.1;
            def.coordinate.damping = 1.0;
            def.coordinate.hasServo = true;
            def.coordinate.servo.stiffness = 600.0;
            tpCreateJoint(world, &def, NULL);
        }
    }
    tpStepReport report = run(world, 0.005, 1.5);
    CHECK_NEAR(tpBody_GetPosition(world, trunk).z, 0.6, 0.05);
    CHECK_BELOW(tpLength(tpBody_GetVelocity(world, trunk)), 0.05);
    CHECK_BELOW(report.jointDrift, 1e-6);
    tpDestroyWorld(world);
}

// A statue on two feet without armature, whose stiff ankles give way to a small effort: they must
// not be counted as if they held whatever comes, or landing throws the feet.
static void weakAnklesAreNoLocks(void** state) {
    (void)state;
    for (double gain = 1.0; gain < 200.0; gain *= 5.0) {
        tpWorld* world = makeWorld(1);
        addFloor(world);
        tpBodyId trunk = addLink(world, tpMakeVec3(0.0, 0.0, 1.003), 50.0, 3.0);
        for (int i = 0; i < 2; ++i) {
            double y = i == 0 ? 0.1 : -0.1;
            tpBodyId foot = addLink(world, tpMakeVec3(0.0, y, 0.053), 0.3, 2e-4);
            tpShapeDef shape = tpDefaultShapeDef();
            shape.material = 1;
            shape.pose.position = tpMakeVec3(0.0, 0.0, -0.03);
            tpBox sole = { tpMakeVec3(0.1, 0.04, 0.02) };
            tpCreateBox(world, foot, &shape, &sole, NULL);
            tpJointDef def = hinge(trunk, foot, tpMakeVec3(0.0, y, 0.083));
            def.coordinate.hasServo = true;
            def.coordinate.servo.stiffness = gain * 2000.0;
            def.coordinate.servo.damping = gain * 100.0;
            def.coordinate.servo.effort = 12.0;
            tpCreateJoint(world, &def, NULL);
        }
        tpStepReport report = run(world, 0.005, 0.5);
        CHECK_BELOW(tpLength(tpBody_GetVelocity(world, trunk)), 1.0);
        CHECK_BELOW(report.jointDrift, 1e-4);
        tpDestroyWorld(world);
    }
}

// An arm begins beyond its limit, and a weak servo brings it back too slowly to be waited for.
static void passedLimitsAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1);
    tpBodyId arm = addBox(world, tpMakeVec3(0.2, 0.0, 0.0), tpMakeVec3(0.4, 0.1, 0.1), 500.0);
    tpJointDef def = hinge(nobody, arm, tpZeroVec3());
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    def.coordinate.hasLimits = true;
    def.coordinate.limits[0] = 0.3;
    def.coordinate.limits[1] = 1.0;
    def.coordinate.hasServo = true;
    def.coordinate.servo.target = 0.31;
    def.coordinate.servo.stiffness = 0.1;
    def.coordinate.servo.damping = 10.0;
    tpJointId joint = tpCreateJoint(world, &def, NULL);
    tpStepReport report = run(world, 0.005, 0.2);
    double value = tpJoint_GetValue(world, joint, 0);
    assert_true(value >= 0.3 - 1e-6 && value < 0.301);
    CHECK_BELOW(report.jointDrift, 1e-6);
    CHECK_BELOW(fabs(tpJoint_GetSpeed(world, joint, 0)), 1e-3);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orbitsOnSpringsStayBounded),
        cmocka_unit_test(couplingsMakeADifferential),
        cmocka_unit_test(toldBodiesCarryOthers),
        cmocka_unit_test(pendulumFollowsItsLaw),
        cmocka_unit_test(servoHoldsAnArm),
        cmocka_unit_test(stiffServoDoesNotRing),
        cmocka_unit_test(effortIsBounded),
        cmocka_unit_test(armatureSlowsAPendulum),
        cmocka_unit_test(limitsMotorsAndFrictionHold),
        cmocka_unit_test(heavyEndHangsOnLightLinks),
        cmocka_unit_test(lockedBodiesStay),
        cmocka_unit_test(lightFeetCarryAHeavyTrunk),
        cmocka_unit_test(bitsDoNotDependOnThreads),
        cmocka_unit_test(dryFrictionInLegsIsNoLock),
        cmocka_unit_test(weakAnklesAreNoLocks),
        cmocka_unit_test(passedLimitsAreTakenBack),
        cmocka_unit_test(snapshotsContinue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
