// Joints against closed forms: what each type leaves free and holds, and loops that hold more than
// they need.

#include <string.h>

#include "dynamics/joints.h"
#include "dynamics/rows.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// The stepper of second order that the tests run; main goes through all of them.
static tpStepperId symmetric = tp_anitescu;

static const double g = 9.81;

static const tpVec3 down = { 0.0, -9.81, 0.0 };
static const tpVec3 some = { 0.1, 0.12, 0.15 }; // moments of inertia

// Types -----------------------------------------------------------------------------------------

// A rod released 60 degrees from hanging: time between the first crossing of the vertical and the
// third.
static double pendulumPeriod(tpStepperId stepper, double h) {
    tpWorld* world = worldOf(stepper, down);
    double angle = pi / 3.0;
    tpBodyDef def = bodyAt(tpMakeVec3(0.5 * sin(angle), -0.5 * cos(angle), 0.0), 1.0,
                           tpMakeVec3(0.004, 0.08, 1.0 / 12.0));
    tpBodyId rod = addBodyOf(world, &def);
    tpJointDef hinge = jointOf(tp_revoluteJoint, theWorld, rod, tpZeroVec3(), axisZ);
    addJoint(world, &hinge);
    double crossings[3];
    double before = 0.5 * sin(angle);
    for (int found = 0, k = 1; found < 3; ++k) {
        CHECK_BELOW(stepOn(world, h, 1), 1e-8);
        double now = tpBody_GetPosition(world, rod).x;
        if (now * before < 0.0) {
            crossings[found++] = h * (k - now / (now - before));
        }
        before = now;
        assert_true(k * h < 10.0);
    }
    tpDestroyWorld(world);
    return crossings[2] - crossings[0];
}

// T = 2 pi / (w agm(1, cos(angle / 2))), w^2 = m g l / I.
static void pendulumKeepsTime(void** state) {
    (void)state;
    double a = 1.0, b = cos(pi / 6.0);
    for (int k = 0; k < 6; ++k) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    double exact = 2.0 * pi / (sqrt(1.5 * g) * a);
    double coarse = pendulumPeriod(symmetric, 0.004) - exact;
    double fine = pendulumPeriod(symmetric, 0.001) - exact;
    double first = pendulumPeriod(tp_stewartTrinkle, 0.001) - exact;
    double second = pendulumPeriod(tp_stewartTrinkle, 0.0005) - exact;
    print_message("period %.9f: off by %.2e (h = .004), %.2e (.001); stewart-trinkle "
                  "%.2e (.001), %.2e (.0005)\n",
                  exact, coarse, fine, first, second);
    CHECK_BELOW(fabs(fine), 4e-6);
    if (symmetric == tp_benderSchmitt) {
        CHECK_BELOW(fabs(coarse), 1e-7); // stages of sixth order; crossings are read off linearly
    } else {
        CHECK_NEAR(coarse / fine, 16.0, 0.5); // second order
    }
    CHECK_BELOW(fabs(first), 1e-2);
    CHECK_BELOW(fabs(second), fabs(first) / 1.8);
}

static void hangingBodyWeighs(void** state) {
    (void)state;
    const tpJointType types[] = { tp_ballJoint, tp_revoluteJoint, tp_fixedJoint,
                                  tp_universalJoint };
    const tpStepperId steppers[] = { symmetric, tp_stewartTrinkle };
    for (int i = 0; i < 8; ++i) {
        tpWorld* world = worldOf(steppers[i / 4], down);
        tpBodyDef def = bodyAt(tpMakeVec3(0.0, -1.0, 0.0), 2.5, some);
        tpJointDef joint =
            jointOf(types[i % 4], theWorld, addBodyOf(world, &def), tpZeroVec3(), axisZ);
        joint.secondAxis = axisX;
        tpJointId id = addJoint(world, &joint);
        stepOn(world, 0.01, 20);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, id, &force, &torque);
        CHECK_VEC3(force, tpMakeVec3(0.0, 2.5 * g, 0.0), 1e-7);
        CHECK_VEC3(torque, tpZeroVec3(), 1e-7);
        tpDestroyWorld(world);
    }
}

// A bob on a rod of length 1 circles at 40 degrees: W^2 = g / cos, tension m g / cos.
static void conicalPendulumCircles(void** state) {
    (void)state;
    double angle = 40.0 * pi / 180.0, rate = sqrt(g / cos(angle));
    tpWorld* world = worldOf(symmetric, down);
    tpBodyDef def = bodyAt(tpMakeVec3(sin(angle), -cos(angle), 0.0), 2.0, some);
    def.velocity = tpMakeVec3(0.0, 0.0, -rate * sin(angle));
    tpBodyId bob = addBodyOf(world, &def);
    tpJointDef rod = jointOf(tp_distanceJoint, theWorld, bob, tpZeroVec3(), axisX);
    rod.anchorB = def.position;
    tpJointId id = addJoint(world, &rod);
    for (int k = 1; k <= 2000; ++k) {
        CHECK_BELOW(stepOn(world, 0.001, 1), 1e-8);
        double turn = 0.001 * k * rate;
        tpVec3 place = tpMakeVec3(sin(angle) * cos(turn), -cos(angle), -sin(angle) * sin(turn));
        CHECK_VEC3(tpBody_GetPosition(world, bob), place, 2e-5);
    }
    tpVec3 force, torque;
    tpJoint_GetReaction(world, id, &force, &torque);
    CHECK_NEAR(tpLength(force), 2.0 * g / cos(angle), 1e-3);
    CHECK_NEAR(force.y, 2.0 * g, 1e-3);
    tpDestroyWorld(world);
}

// Down a slope of 30 degrees; h / t more in a step that moves with the new velocity.
static void prismaticSlides(void** state) {
    (void)state;
    tpVec3 axis = tpMakeVec3(cos(pi / 6.0), 0.5, 0.0);
    const tpStepperId steppers[] = { symmetric, tp_stewartTrinkle };
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = worldOf(steppers[i], down);
        tpBodyDef def = bodyAt(tpMakeVec3(0.2, 0.3, 0.1), 2.0, some);
        tpBodyId body = addBodyOf(world, &def);
        tpJointDef joint = jointOf(tp_prismaticJoint, theWorld, body, tpZeroVec3(), axis);
        tpJointId id = addJoint(world, &joint);
        CHECK_BELOW(stepOn(world, 0.01, 100), 1e-8);
        double slide = -0.25 * g * (i == 0 ? 1.0 : 1.01);
        CHECK_VEC3(tpBody_GetPosition(world, body), tpMulAdd(def.position, slide, axis), 1e-7);
        CHECK_VEC3(tpBody_GetVelocity(world, body), tpScale(-0.5 * g, axis), 1e-7);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, id, &force, &torque);
        double push = 2.0 * g * cos(pi / 6.0);
        CHECK_VEC3(force, tpMakeVec3(-0.5 * push, cos(pi / 6.0) * push, 0.0), 1e-6);
        tpDestroyWorld(world);
    }
}

static void cylindricalSlidesAndTurns(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpMakeVec3(3.0, -g, 0.0));
    tpBodyDef def = bodyAt(tpMakeVec3(0.0, 0.0, 0.0), 2.0, some);
    def.angularVelocity = tpMakeVec3(0.0, 7.0, 0.0);
    tpBodyId body = addBodyOf(world, &def);
    tpJointDef joint = jointOf(tp_cylindricalJoint, theWorld, body, tpZeroVec3(), axisY);
    addJoint(world, &joint);
    CHECK_BELOW(stepOn(world, 0.01, 100), 1e-8);
    CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(0.0, -0.5 * g, 0.0), 1e-7);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, body), tpMakeVec3(0.0, 7.0, 0.0), 1e-7);
    tpDestroyWorld(world);
}

// Two shafts at 30 degrees with a cross between: the driven one runs unevenly by the law of Cardan,
// w_B / w_A = cos b / (cos^2 t + sin^2 t cos^2 b). The bearings hold three rows more than needed,
// so that right sides are consistent to rounding only: what a solve reports is not looked at here.
static void universalTurnsUnevenly(void** state) {
    (void)state;
    double bend = pi / 6.0;
    tpVec3 along = tpMakeVec3(cos(bend), sin(bend), 0.0);
    tpVec3 round = tpMakeVec3(0.02, 0.02, 0.02);
    tpWorld* world = worldOf(symmetric, tpZeroVec3());
    tpBodyDef defA = bodyAt(tpMakeVec3(-0.5, 0.0, 0.0), 1.0, round);
    defA.angularVelocity = tpScale(5.0, axisX);
    tpBodyId a = addBodyOf(world, &defA);
    tpBodyDef defB = bodyAt(tpMakeVec3(0.5 * along.x, 0.5 * along.y, 0.0), 1.0, round);
    defB.angularVelocity = tpScale(5.0 * cos(bend), along);
    tpBodyId b = addBodyOf(world, &defB);
    tpJointDef bearingA = jointOf(tp_revoluteJoint, theWorld, a, defA.position, axisX);
    tpJointDef bearingB = jointOf(tp_revoluteJoint, theWorld, b, defB.position, along);
    tpJointDef cross = jointOf(tp_universalJoint, a, b, tpZeroVec3(), axisZ);
    cross.secondAxis = tpCross(along, axisZ);
    addJoint(world, &bearingA);
    addJoint(world, &bearingB);
    addJoint(world, &cross);
    double energy = tpWorld_GetKineticEnergy(world), least = 2.0, most = 0.0;
    for (int k = 0; k < 2000; ++k) {
        CHECK_BELOW(tpWorld_Step(world, 0.001).jointDrift, 1e-8);
        tpVec3 armA = tpRotate(tpBody_GetRotation(world, a), axisZ);
        tpVec3 armB = tpRotate(tpBody_GetRotation(world, b), cross.secondAxis);
        CHECK_NEAR(tpDot(armA, armB), 0.0, 1e-8);
        double ratio = tpDot(tpBody_GetAngularVelocity(world, b), along) /
                       tpBody_GetAngularVelocity(world, a).x;
        double cosine = armA.z, sine = armA.y;
        double law = cos(bend) / (cosine * cosine + sine * sine * cos(bend) * cos(bend));
        CHECK_NEAR(ratio, law, 1e-7);
        CHECK_NEAR(tpWorld_GetKineticEnergy(world), energy, 1e-4 * energy);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    CHECK_NEAR(least, cos(bend), 1e-3); // it has been through the whole turn
    CHECK_NEAR(most, 1.0 / cos(bend), 1e-3);
    tpDestroyWorld(world);
}

// A motor drives a shaft between two crosses, one constraint too many, against friction: what comes
// out turns evenly.
static void cardanShaftIsSolved(void** state) {
    (void)state;
    const tpStepperId steppers[] = { symmetric, tp_stewartTrinkle };
    for (int i = 0; i < 2; ++i) {
        double bend = pi / 6.0;
        tpVec3 along = tpMakeVec3(cos(bend), sin(bend), 0.0), cross = tpCross(along, axisZ);
        tpVec3 slim = tpMakeVec3(0.02, 0.02, 0.02);
        tpWorld* world = worldOf(steppers[i], tpMakeVec3(0.0, 0.0, -g));
        tpBodyDef defs[3] = { bodyAt(tpMakeVec3(-0.5, 0.0, 0.0), 1.0, slim),
                              bodyAt(tpMakeVec3(0.5 * along.x, 0.5 * along.y, 0.0), 1.0, slim),
                              bodyAt(tpMakeVec3(along.x + 0.5, along.y, 0.0), 1.0, slim) };
        defs[0].angularVelocity = defs[2].angularVelocity = tpScale(5.0, axisX);
        defs[1].angularVelocity = tpScale(5.0 * cos(bend), along);
        tpBodyId a = addBodyOf(world, &defs[0]);
        tpBodyId b = addBodyOf(world, &defs[1]);
        tpBodyId c = addBodyOf(world, &defs[2]);
        tpJointDef driven = jointOf(tp_revoluteJoint, theWorld, a, defs[0].position, axisX);
        driven.coordinate.hasMotor = true;
        driven.coordinate.motor.speed = 5.0;
        driven.coordinate.motor.effort = 100.0;
        tpJointDef first = jointOf(tp_universalJoint, a, b, tpZeroVec3(), axisZ);
        first.secondAxis = cross;
        tpJointDef second = jointOf(tp_universalJoint, b, c, along, cross);
        second.secondAxis = axisZ;
        tpJointDef braked = jointOf(tp_revoluteJoint, theWorld, c, defs[2].position, axisX);
        braked.coordinate.friction = 0.5;
        addJoint(world, &driven);
        addJoint(world, &first);
        addJoint(world, &second);
        addJoint(world, &braked);
        for (int k = 0; k < 200; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            CHECK_BELOW(report.residual, 1e-8);
            CHECK_BELOW(report.jointDrift, 1e-8);
            assert_int_equal(report.failureCount, 0);
            CHECK_NEAR(tpBody_GetAngularVelocity(world, c).x, 5.0, i == 0 ? 1e-6 : 1e-2);
        }
        tpDestroyWorld(world);
    }
}

static void fixedBodiesMoveAsOne(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpZeroVec3());
    tpVec3 spin = tpMakeVec3(1.0, 2.0, -1.5);
    // the common centre is the origin
    tpBodyDef defA = bodyAt(tpMakeVec3(-0.25, 0.0, 0.0), 2.0, some);
    tpBodyDef defB = bodyAt(tpMakeVec3(0.5, 0.0, 0.0), 1.0, tpMakeVec3(0.2, 0.1, 0.25));
    defA.angularVelocity = defB.angularVelocity = spin;
    defA.velocity = tpCross(spin, defA.position);
    defB.velocity = tpCross(spin, defB.position);
    tpBodyId a = addBodyOf(world, &defA);
    tpBodyId b = addBodyOf(world, &defB);
    tpJointDef weld = jointOf(tp_fixedJoint, a, b, tpMakeVec3(0.1, 0.0, 0.0), axisX);
    addJoint(world, &weld);
    tpVec3 momentum = tpWorld_GetAngularMomentum(world, tpZeroVec3());
    CHECK_BELOW(stepOn(world, 0.002, 1000), 1e-8);
    tpPose poseA = tpBody_GetPose(world, a), poseB = tpBody_GetPose(world, b);
    CHECK_VEC3(tpUnrotate(poseA.rotation, tpSub(poseB.position, poseA.position)),
               tpMakeVec3(0.75, 0.0, 0.0), 1e-8);
    CHECK_NEAR(fabs(tpDotQQ(poseA.rotation, poseB.rotation)), 1.0, 1e-12);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, a), tpBody_GetAngularVelocity(world, b), 1e-8);
    CHECK_VEC3(tpWorld_GetAngularMomentum(world, tpZeroVec3()), momentum, 1e-7);
    tpDestroyWorld(world);
}

static void cantileverHoldsItsMoment(void** state) {
    (void)state;
    const tpStepperId steppers[] = { symmetric, tp_stewartTrinkle };
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = worldOf(steppers[i], down);
        tpBodyDef def = bodyAt(tpMakeVec3(1.5, 0.0, 0.0), 2.0, some);
        tpJointDef weld =
            jointOf(tp_fixedJoint, theWorld, addBodyOf(world, &def), tpZeroVec3(), axisX);
        tpJointId id = addJoint(world, &weld);
        stepOn(world, 0.01, 50);
        tpVec3 force, torque;
        tpJoint_GetReaction(world, id, &force, &torque);
        CHECK_VEC3(force, tpMakeVec3(0.0, 2.0 * g, 0.0), 1e-6);
        CHECK_VEC3(torque, tpMakeVec3(0.0, 0.0, 3.0 * g), 1e-6);
        tpDestroyWorld(world);
    }
}

static void planarStaysInItsPlane(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpMakeVec3(1.0, -g, 0.5));
    tpBodyDef def = bodyAt(tpMakeVec3(0.0, 0.0, 0.0), 2.0, some);
    def.velocity = tpMakeVec3(0.0, 0.0, 1.0);
    def.angularVelocity = tpMakeVec3(0.0, 3.0, 0.0);
    tpBodyId body = addBodyOf(world, &def);
    tpJointDef joint = jointOf(tp_planarJoint, theWorld, body, tpZeroVec3(), axisY);
    tpJointId id = addJoint(world, &joint);
    CHECK_BELOW(stepOn(world, 0.01, 100), 1e-8);
    CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(0.5, 0.0, 1.25), 1e-7);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, body), tpMakeVec3(0.0, 3.0, 0.0), 1e-7);
    tpVec3 force, torque;
    tpJoint_GetReaction(world, id, &force, &torque);
    CHECK_VEC3(force, tpMakeVec3(0.0, 2.0 * g, 0.0), 1e-6);
    tpDestroyWorld(world);
}

// A torque on the first wheel turns both: T = (I_1 + ratio^2 I_2) dw_1/dt.
static void gearKeepsItsRatio(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpZeroVec3());
    tpBodyDef defA = bodyAt(tpMakeVec3(0.0, 0.0, 0.0), 1.0, tpMakeVec3(0.3, 0.3, 0.5));
    tpBodyDef defB = bodyAt(tpMakeVec3(1.0, 0.0, 0.0), 1.0, tpMakeVec3(0.2, 0.2, 0.25));
    tpBodyId a = addBodyOf(world, &defA);
    tpBodyId b = addBodyOf(world, &defB);
    tpJointDef shaftA = jointOf(tp_revoluteJoint, theWorld, a, defA.position, axisZ);
    tpJointDef shaftB = jointOf(tp_revoluteJoint, theWorld, b, defB.position, axisZ);
    tpJointDef gear = jointOf(tp_gearJoint, a, b, tpZeroVec3(), axisZ);
    gear.ratio = -2.0;
    addJoint(world, &shaftA);
    addJoint(world, &shaftB);
    addJoint(world, &gear);
    tpForceDef force = tpDefaultForceDef();
    force.body = a;
    force.torque = tpMakeVec3(0.0, 0.0, 3.0);
    tpCreateForce(world, &force, NULL);
    for (int k = 1; k <= 200; ++k) {
        stepOn(world, 0.01, 1);
        CHECK_NEAR(tpBody_GetAngularVelocity(world, a).z, 2.0 * 0.01 * k, 1e-7);
        CHECK_NEAR(tpBody_GetAngularVelocity(world, b).z, -4.0 * 0.01 * k, 1e-7);
    }
    tpDestroyWorld(world);
}

// Falling turns the nut: (m + I / l^2) dv/dt = -m g, l = pitch / 2 pi.
static void screwTurnsAsItSlides(void** state) {
    (void)state;
    double lead = 0.2, part = 1.0 / (1.0 + 0.12 / (2.0 * lead * lead));
    tpWorld* world = worldOf(symmetric, down);
    tpBodyDef def = bodyAt(tpMakeVec3(0.0, 0.0, 0.0), 2.0, some);
    tpBodyId body = addBodyOf(world, &def);
    tpJointDef joint = jointOf(tp_screwJoint, theWorld, body, tpZeroVec3(), axisY);
    joint.pitch = 2.0 * pi * lead;
    addJoint(world, &joint);
    CHECK_BELOW(stepOn(world, 0.01, 300), 1e-8); // more than ten turns
    CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(0.0, -4.5 * g * part, 0.0), 1e-6);
    CHECK_NEAR(tpBody_GetVelocity(world, body).y, -3.0 * g * part, 1e-6);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).y, -3.0 * g * part / lead, 1e-6);
    tpDestroyWorld(world);
}

// Loops -----------------------------------------------------------------------------------------

// Three hinges hold fifteen rows where five would do.
static void doorSwingsOnThreeHinges(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpMakeVec3(0.0, 0.0, -g));
    tpBodyDef def = bodyAt(tpMakeVec3(0.4, 0.0, 1.0), 20.0, tpMakeVec3(6.7, 7.8, 1.1));
    def.angularVelocity = tpMakeVec3(0.0, 0.0, 1.5);
    def.velocity = tpMakeVec3(0.0, 0.6, 0.0);
    tpBodyId door = addBodyOf(world, &def);
    tpJointId hinges[3];
    for (int k = 0; k < 3; ++k) {
        tpJointDef hinge =
            jointOf(tp_revoluteJoint, theWorld, door, tpMakeVec3(0.0, 0.0, 0.2 + 0.8 * k), axisZ);
        hinges[k] = addJoint(world, &hinge);
    }
    double drift = stepOn(world, 0.005, 1000);
    print_message("door: joint error %.2e\n", drift);
    CHECK_BELOW(drift, 1e-8);
    tpVec3 sum = tpZeroVec3();
    for (int k = 0; k < 3; ++k) {
        tpVec3 force, torque;
        tpJoint_GetReaction(world, hinges[k], &force, &torque);
        sum = tpAdd(sum, force);
    }
    CHECK_NEAR(tpBody_GetAngularVelocity(world, door).z, 1.5, 1e-6);
    CHECK_NEAR(sum.z, 20.0 * g, 1e-4);
    CHECK_NEAR(sqrt(sum.x * sum.x + sum.y * sum.y), 20.0 * 0.4 * 1.5 * 1.5, 1e-2);
    tpDestroyWorld(world);
}

static tpBodyId addBar(tpWorld* world, tpVec3 from, tpVec3 to) {
    tpVec3 span = tpSub(to, from);
    double length = tpLength(span), moment = length * length * length / 12.0; // 1 kg/m
    tpBodyDef def =
        bodyAt(tpMakeVec3(0.0, 0.0, 0.0), length, tpMakeVec3(0.01 * moment, moment, moment));
    def.position = tpScale(0.5, tpAdd(from, to));
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 0.0, atan2(span.y, span.x)));
    return addBodyOf(world, &def);
}

// The largest error of the energy over 5 s.
static double runFourBar(bool isPlanar, double h, double* drift) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = symmetric;
    worldDef.gravity = down;
    worldDef.planar = isPlanar;
    tpWorld* world = tpCreateWorld(&worldDef);
    // Crank 1, coupler 2.5, rocker 2 on a base of 2.5: the crank can turn fully.
    tpVec3 pins[4] = { { 0.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 0.0 }, { 2.5, 0.0, 0.0 } };
    double across = tpDistanceBetween(pins[1], pins[3]);
    double along = (2.5 * 2.5 - 2.0 * 2.0 + across * across) / (2.0 * across);
    tpVec3 toward = tpScale(1.0 / across, tpSub(pins[3], pins[1]));
    tpVec3 side = tpCross(axisZ, toward);
    pins[2] = tpMulAdd(tpMulAdd(pins[1], along, toward), sqrt(6.25 - along * along), side);
    tpBodyId bars[5] = { theWorld, theWorld, theWorld, theWorld, theWorld };
    for (int k = 0; k < 3; ++k) {
        bars[k + 1] = addBar(world, pins[k], pins[k + 1]);
    }
    for (int k = 0; k < 4; ++k) {
        tpJointDef pin = jointOf(tp_revoluteJoint, bars[k], bars[k + 1], pins[k], axisZ);
        addJoint(world, &pin);
    }
    double start = tpWorld_GetPotentialEnergy(world), swing = 0.0;
    *drift = 0.0;
    for (int k = 0; k < (int)(5.0 / h + 0.5); ++k) {
        *drift = fmax(*drift, stepOn(world, h, 1));
        double now = tpWorld_GetPotentialEnergy(world) + tpWorld_GetKineticEnergy(world);
        swing = fmax(swing, fabs(now - start));
    }
    tpDestroyWorld(world);
    return swing;
}

// In space three of the twenty rows are redundant, in the plane none.
static void fourBarStaysTogether(void** state) {
    (void)state;
    for (int planar = 0; planar < 2; ++planar) {
        double driftCoarse, driftFine;
        double coarse = runFourBar(planar == 1, 0.004, &driftCoarse);
        double fine = runFourBar(planar == 1, 0.002, &driftFine);
        print_message("four bars, %s: joint error %.2e, energy within %.2e J (h = .004), %.2e\n",
                      planar == 1 ? "planar" : "space", fmax(driftCoarse, driftFine), coarse, fine);
        CHECK_BELOW(fmax(driftCoarse, driftFine), 1e-8);
        if (symmetric == tp_benderSchmitt) {
            CHECK_BELOW(fmax(coarse, fine), 1e-8); // stages of sixth order
        } else {
            CHECK_BELOW(fine, coarse / 3.5); // second order
        }
    }
}

// Rows of one joint written anew in their place are those that adding all of them gives, bit for
// bit; the others stay.
static void rowsAreRewrittenInPlace(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpSystem* system = &world->system;
    static const tpJointType types[] = { tp_ballJoint, tp_prismaticJoint, tp_revoluteJoint };
    tpBodyId bodies[4];
    for (int i = 0; i < 4; ++i) {
        tpBodyDef def = bodyAt(tpMakeVec3(i, 0.1 * i, 0.0), 1.0 + i, tpMakeVec3(0.1, 0.2, 0.25));
        bodies[i] = addBodyOf(world, &def);
    }
    for (int i = 0; i < 3; ++i) {
        tpJointDef def = jointOf(types[i], bodies[i], bodies[i + 1], tpMakeVec3(i + 0.5, 0.0, 0.1),
                                 tpMakeVec3(0.0, 0.6, 0.8));
        addJoint(world, &def);
    }
    int blocks, count;
    tpJoints_Begin(system, 0.01);
    tpJoints_Count(system, &blocks, &count);
    tpRows rows, fresh;
    assert_true(tpRows_Create(&rows, system, blocks, count) &&
                tpRows_Create(&fresh, system, blocks, count));
    tpJointTreatment treatment = { 0.01, 1.0, NULL, 0.01, 0.5, false };
    tpJoints_AddRows(&rows, system, system->poses.data, &treatment);
    for (int i = 0; i < 4; ++i) {
        tpPose* pose = &system->poses.data[i];
        pose->position = tpMulAdd(pose->position, 0.01 * (i + 1), tpMakeVec3(1.0, -2.0, 0.5));
        pose->rotation = tpMulQQ(tpQuatExp(tpMakeVec3(0.1 * i, 0.05, -0.1)), pose->rotation);
    }
    tpJoints_AddRows(&fresh, system, system->poses.data, &treatment);
    size_t numbers = sizeof(double) * (size_t)(fresh.rowCount * fresh.componentCount);
    assert_true(memcmp(rows.jacobianA, fresh.jacobianA, numbers) != 0);
    for (int b = 0, last = -1; b < rows.blockCount; ++b) {
        if (rows.infos[b].index != last) {
            last = rows.infos[b].index;
            tpJoint_RewriteRows(&rows, system, b, system->poses.data, &treatment);
        }
    }
    assert_int_equal(rows.blockCount, fresh.blockCount);
    assert_int_equal(rows.rowCount, fresh.rowCount);
    assert_memory_equal(rows.jacobianA, fresh.jacobianA, numbers);
    assert_memory_equal(rows.jacobianB, fresh.jacobianB, numbers);
    assert_memory_equal(rows.bias, fresh.bias, sizeof(double) * (size_t)fresh.rowCount);
    tpDestroyWorld(world);
}

// A rod on a hinge whose end is said to move alone: by the least kinetic energy it turns with its
// angular momentum about the hinge, m l v = (m l^2 + I) w.
static void velocitiesAreMadeToFit(void** state) {
    (void)state;
    tpWorld* world = worldOf(symmetric, tpZeroVec3());
    tpBodyDef rod = bodyAt(tpMakeVec3(1.0, 0.0, 0.0), 2.0, tpMakeVec3(0.02, 0.02, 0.02));
    tpBodyId body = addBodyOf(world, &rod);
    tpJointDef hinge =
        jointOf(tp_revoluteJoint, (tpBodyId){ 0 }, body, tpZeroVec3(), tpMakeVec3(0.0, 1.0, 0.0));
    addJoint(world, &hinge);
    tpWorld_Step(world, 1e-3);
    tpSystem* system = &world->system;
    for (int i = 0; i < system->bodyCount; ++i) {
        system->velocities.data[i].linear = tpMakeVec3(0.3, 0.2, 1.0);
        system->velocities.data[i].angular = tpMakeVec3(0.5, 0.0, -0.1);
    }
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    assert_true(tpJoints_CorrectVelocities(system, memory));
    tpDestroySolverMemory(memory);
    double w = 2.0 / 2.02;
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(0.0, 0.0, w), 1e-9);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, body), tpMakeVec3(0.0, -w, 0.0), 1e-9);
    tpDestroyWorld(world);
}

// The drift of a hinge is the angle by which it is off, to either side.
static void turnsOffTheAxisAreDrift(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyDef def = bodyAt(tpMakeVec3(0.0, 0.0, 0.0), 1.0, tpMakeVec3(0.1, 0.1, 0.1));
        tpBodyId body = addBodyOf(world, &def);
        tpJointDef joint = jointOf(tp_revoluteJoint, (tpBodyId){ 0, 0 }, body, tpZeroVec3(),
                                   tpMakeVec3(0.0, 0.0, 1.0));
        addJoint(world, &joint);
        tpSystem* system = &world->system;
        CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 0.0, 1e-15);
        tpVec3 axis = tpMakeVec3(k < 2 ? 1.0 : 0.0, k < 2 ? 0.0 : 1.0, 0.0);
        tpPose turned = { .position = { 0.0, 0.0, 0.0 } };
        turned.rotation = tpQuatFromAxisAngle(axis, k % 2 == 0 ? 1e-3 : -1e-3);
        CHECK_NEAR(tpJoints_PositionError(system, &turned), 1e-3, 1e-8);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulumKeepsTime),         cmocka_unit_test(hangingBodyWeighs),
        cmocka_unit_test(conicalPendulumCircles),    cmocka_unit_test(prismaticSlides),
        cmocka_unit_test(cylindricalSlidesAndTurns), cmocka_unit_test(universalTurnsUnevenly),
        cmocka_unit_test(cardanShaftIsSolved),       cmocka_unit_test(fixedBodiesMoveAsOne),
        cmocka_unit_test(cantileverHoldsItsMoment),  cmocka_unit_test(planarStaysInItsPlane),
        cmocka_unit_test(gearKeepsItsRatio),         cmocka_unit_test(screwTurnsAsItSlides),
        cmocka_unit_test(doorSwingsOnThreeHinges),   cmocka_unit_test(fourBarStaysTogether),
        cmocka_unit_test(rowsAreRewrittenInPlace),   cmocka_unit_test(velocitiesAreMadeToFit),
        cmocka_unit_test(turnsOffTheAxisAreDrift),
    };
    int failures = 0;
    static const tpStepperId steppers[] = { tp_anitescu, tp_benderSchmitt };
    for (int s = 0; s < 2; ++s) {
        symmetric = steppers[s];
        failures += cmocka_run_group_tests_name(tpStepperName(symmetric), tests, NULL, NULL);
    }
    return failures;
}
