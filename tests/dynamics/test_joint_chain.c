// Chains of turns and slides: the pose for displacements, and the displacements of a pose.

#include "dynamics/joint_chain.h"
#include "support/check.h"
#include "world/world.h"

static void testRoundTrip(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef def = tpDefaultBodyDef();
    tpJointDef joint = tpDefaultJointDef();
    const tpAxisDef axes[4] = { { .kind = tp_slideAxis, .direction = tpMakeVec3(1.0, 0.0, 0.0) },
                                { .kind = tp_turnAxis, .direction = tpMakeVec3(0.0, 0.0, 1.0) },
                                { .kind = tp_slideAxis, .direction = tpMakeVec3(0.0, 1.0, 0.0) },
                                { .kind = tp_turnAxis, .direction = tpMakeVec3(0.0, 1.0, 0.0) } };
    joint.type = tp_compoundJoint;
    joint.axes = axes;
    joint.axisCount = 4;
    joint.bodyA = tpCreateBody(world, &def, NULL);
    joint.bodyB = tpCreateBody(world, &def, NULL);
    tpError error;
    if (!tpJoint_IsValid(world, tpCreateJoint(world, &joint, &error))) {
        fail_msg("%s", error.message);
    }
    const tpJoint* made = &world->system.joints.data[0];
    const double q[4] = { 0.3, 0.7, -0.4, 0.5 };
    tpQuat rotation;
    tpVec3 span;
    tpChain_Pose(made, q, &rotation, &span);
    // Slide x by q0; turn about z by q1; slide along the turned y by q2; turn about the turned y.
    tpQuat z = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), q[1]);
    tpQuat y = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), q[3]);
    tpVec3 way = tpAdd(tpMakeVec3(q[0], 0.0, 0.0), tpRotate(z, tpMakeVec3(0.0, q[2], 0.0)));
    CHECK_VEC3(span, way, 1e-15);
    CHECK_VEC3(tpQuatLog(tpMulQQ(tpConjugate(tpMulQQ(z, y)), rotation)), tpZeroVec3(), 1e-15);

    tpQuat a = tpQuatExp(tpMakeVec3(0.2, -0.9, 0.4));
    tpChain chain;
    tpChain_Place(made, a, tpMulQQ(a, rotation), tpRotate(a, span), &chain);
    assert_int_equal(chain.turnCount, 2);
    assert_int_equal(chain.slideCount, 2);
    CHECK_VEC3(chain.twist, tpZeroVec3(), 1e-13);
    CHECK_VEC3(chain.gap, tpZeroVec3(), 1e-13);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR(chain.turns[i].value, q[chain.turns[i].coordinate], 1e-13);
        CHECK_NEAR(chain.slides[i].value, q[chain.slides[i].coordinate], 1e-13);
    }
    tpDestroyWorld(world);
}

static void testIndependent(void** state) {
    (void)state;
    tpVec3 x = tpMakeVec3(1.0, 0.0, 0.0), y = tpMakeVec3(0.0, 1.0, 0.0);
    const tpVec3 apart[3] = { x, y, tpMakeVec3(0.6, 0.0, 0.8) };
    const tpVec3 flat[3] = { x, y, tpMakeVec3(0.6, 0.8, 0.0) };
    assert_true(tpAreIndependent(apart, 1) && tpAreIndependent(apart, 2));
    assert_true(tpAreIndependent(apart, 3));
    assert_false(tpAreIndependent(flat, 3));
    const tpVec3 same[2] = { x, tpNeg(x) };
    assert_false(tpAreIndependent(same, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testRoundTrip),
                                        cmocka_unit_test(testIndependent) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
