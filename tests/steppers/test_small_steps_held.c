// Mechanisms that are no trees hold what is asked of them against loads that are large beside the
// inertia of their light links.

#include "support/check.h"
#include "tippe/joints.h"

static const double h = 1.0 / 200.0;
static const tpBodyId nobody = { 0 };

static tpWorld* makeWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    return tpCreateWorld(&def);
}

// A phalanx of 5 g and 2 cm from x on, on a hinge about y.
static tpJointId addPhalanx(tpWorld* world, tpBodyId parent, double x, double effort,
                            tpBodyId* body) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(x + 0.01, 0.0, 0.0);
    *body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 5e-3 / (0.02 * 0.01 * 0.01);
    tpCreateBox(world, *body, &shape, &(tpBox){ { 0.02, 0.01, 0.01 } }, NULL);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyA = parent;
    joint.bodyB = *body;
    joint.anchorA = joint.anchorB = tpMakeVec3(x, 0.0, 0.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.friction = 0.01;
    joint.coordinate.armature = 2e-4;
    joint.coordinate.hasServo = effort > 0.0;
    joint.coordinate.servo.target = 1.0;
    joint.coordinate.servo.stiffness = 10.0;
    joint.coordinate.servo.damping = 0.1;
    joint.coordinate.servo.effort = effort;
    tpError error = { 0 };
    tpJointId id = tpCreateJoint(world, &joint, &error);
    assert_true(tpJoint_IsValid(world, id));
    return id;
}

// A finger whose two angles a tendon couples, by their sum or by a limit of it. A servo of 1 N m
// pulls at the first joint, the second one has dry friction alone: each step begins against the
// whole load, and the sum stays what it was.
static void holdFinger(bool isLimit) {
    tpWorld* world = makeWorld();
    tpBodyId bodies[2];
    tpJointId joints[2];
    joints[0] = addPhalanx(world, nobody, 0.0, 1.0, &bodies[0]);
    joints[1] = addPhalanx(world, bodies[0], 0.02, 0.0, &bodies[1]);
    tpCouplingTerm terms[2] = { { joints[0], 0, 1.0 }, { joints[1], 0, 1.0 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = isLimit ? 1 : 2;
    def.hasValue = !isLimit;
    def.hasLimits = isLimit;
    def.limits[0] = -1.0;
    tpError error = { 0 };
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, &error)));
    for (int k = 0; k < 100; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        CHECK_BELOW(report.jointDrift, 1e-9);
        double sum = tpJoint_GetValue(world, joints[0], 0) +
                     (isLimit ? 0.0 : tpJoint_GetValue(world, joints[1], 0));
        CHECK_BELOW(isLimit ? sum : fabs(sum), 1e-8);
    }
    tpDestroyWorld(world);
}

static void couplingsHoldFingers(void** state) {
    (void)state;
    holdFinger(false);
}

static void limitsOfCouplingsHoldFingers(void** state) {
    (void)state;
    holdFinger(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(couplingsHoldFingers),
        cmocka_unit_test(limitsOfCouplingsHoldFingers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
