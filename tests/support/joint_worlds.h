// Bodies held by joints, for tests: what cannot be made fails the test with its message.
#ifndef TIPPE_TESTS_SUPPORT_JOINT_WORLDS_H
#define TIPPE_TESTS_SUPPORT_JOINT_WORLDS_H

#include "support/check.h"
#include "tippe/tippe.h"

static const double pi = 3.14159265358979323846;
static const tpVec3 axisX = { 1.0, 0.0, 0.0 };
static const tpVec3 axisY = { 0.0, 1.0, 0.0 };
static const tpVec3 axisZ = { 0.0, 0.0, 1.0 };
static const tpBodyId theWorld = { 0, 0 };

// Steppers that hold joints by solving.
static const tpStepperId jointSteppers[] = { tp_stewartTrinkle,     tp_anitescu,
                                             tp_benderSchmitt,      tp_mirtichCanny,
                                             tp_chakrabortyTrinkle, tp_penalty };
enum { jointStepperCount = sizeof(jointSteppers) / sizeof(jointSteppers[0]) };

static inline tpWorld* worldOf(tpStepperId stepper, tpVec3 gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = gravity;
    tpWorld* world = tpCreateWorld(&def);
    assert_non_null(world);
    return world;
}

static inline tpBodyDef bodyAt(tpVec3 position, double mass, tpVec3 moments) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.hasMass = true;
    def.mass = (tpMassProperties){ mass, tpZeroVec3(), tpDiagonal(moments) };
    return def;
}

static inline tpBodyId addBodyOf(tpWorld* world, const tpBodyDef* def) {
    tpError error = { 0 };
    tpBodyId body = tpCreateBody(world, def, &error);
    if (!tpBody_IsValid(world, body)) {
        fail_msg("%s", error.message);
    }
    return body;
}

static inline tpBodyId addBody(tpWorld* world, tpVec3 position, double mass, tpVec3 moments) {
    tpBodyDef def = bodyAt(position, mass, moments);
    return addBodyOf(world, &def);
}

static inline tpJointDef jointOf(tpJointType type, tpBodyId bodyA, tpBodyId bodyB, tpVec3 anchor,
                                 tpVec3 axis) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = bodyA;
    def.bodyB = bodyB;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    return def;
}

static inline tpJointDef hingeOf(tpBodyId bodyA, tpBodyId bodyB, tpVec3 anchor, tpVec3 axis) {
    return jointOf(tp_revoluteJoint, bodyA, bodyB, anchor, axis);
}

static inline tpJointId addJoint(tpWorld* world, const tpJointDef* def) {
    tpError error = { 0 };
    tpJointId joint = tpCreateJoint(world, def, &error);
    if (!tpJoint_IsValid(world, joint)) {
        fail_msg("%s", error.message);
    }
    return joint;
}

static inline tpJointId addHinge(tpWorld* world, tpBodyId bodyA, tpBodyId bodyB, tpVec3 anchor,
                                 tpVec3 axis) {
    tpJointDef def = hingeOf(bodyA, bodyB, anchor, axis);
    return addJoint(world, &def);
}

// Steps, every one of which has to reach its tolerances; the largest joint error on the way.
static inline double stepOn(tpWorld* world, double h, int count) {
    double drift = 0.0;
    for (int k = 0; k < count; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        drift = fmax(drift, report.jointDrift);
    }
    return drift;
}

#endif
