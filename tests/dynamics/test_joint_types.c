// What joints hold and leave free: rows are the derivatives of what they measure.

#include "dynamics/joint_types.h"
#include "support/check.h"
#include "world/world.h"

static tpBodyId addLink(tpWorld* world, tpVec3 place) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2, 0.25));
    return tpCreateBody(world, &def, NULL);
}

static tpWorld* makeJoint(tpJointType type) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = type;
    joint.bodyA = addLink(world, tpMakeVec3(0.0, 0.0, 0.0));
    joint.bodyB = addLink(world, tpMakeVec3(1.0, 0.2, 0.0));
    joint.anchorA = joint.anchorB = tpMakeVec3(0.4, 0.1, 0.2);
    joint.axis = tpMakeVec3(0.0, 0.6, 0.8);
    joint.secondAxis = tpMakeVec3(1.0, 0.0, 0.0);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    return world;
}

static void follow(tpPose* poses, const tpVelocity* velocities, double t) {
    for (int i = 0; i < 2; ++i) {
        poses[i].position = tpMulAdd(poses[i].position, t, velocities[i].linear);
        poses[i].rotation =
            tpMulQQ(tpQuatExp(tpScale(t, velocities[i].angular)), poses[i].rotation);
    }
}

// Nothing is off where a joint is made, and errors grow as the rows say, whatever the velocities.
static void testHeld(void** state) {
    (void)state;
    const tpJointType types[] = { tp_revoluteJoint, tp_prismaticJoint, tp_ballJoint,
                                  tp_fixedJoint,    tp_universalJoint, tp_cylindricalJoint,
                                  tp_planarJoint };
    const int held[] = { 5, 5, 3, 6, 4, 4, 3 };
    tpRandom random = { 3 };
    for (int k = 0; k < 7; ++k) {
        tpWorld* world = makeJoint(types[k]);
        const tpJoint* joint = &world->system.joints.data[0];
        tpPose poses[2] = { world->system.poses.data[0], world->system.poses.data[1] };
        tpJointPlace place = tpJoint_Place(joint, poses);
        tpJointRows rows = tpJoint_HeldRows(joint, &place);
        assert_int_equal(rows.rowCount, held[k]);
        tpVelocity velocities[2] = { 0 };
        for (int i = 0; i < 2; ++i) {
            velocities[i].linear = randomVec3(&random, -1.0, 1.0);
            velocities[i].angular = randomVec3(&random, -1.0, 1.0);
        }
        const double t = 1e-6;
        follow(poses, velocities, t);
        tpJointPlace moved = tpJoint_Place(joint, poses);
        tpJointRows then = tpJoint_HeldRows(joint, &moved);
        for (int i = 0; i < rows.rowCount; ++i) {
            CHECK_NEAR(rows.rows[i].error, 0.0, 1e-15);
            double speed = tpJointRow_Speed(joint, &rows.rows[i], velocities);
            CHECK_NEAR(then.rows[i].error / t, speed, 1e-5);
        }
        tpDestroyWorld(world);
    }
}

// Coordinates of chains: B is put at given displacements, and they are found again.
static void testCoordinates(void** state) {
    (void)state;
    const tpJointType types[] = { tp_revoluteJoint, tp_prismaticJoint, tp_universalJoint,
                                  tp_cylindricalJoint, tp_planarJoint };
    tpRandom random = { 5 };
    for (int k = 0; k < 5; ++k) {
        tpWorld* world = makeJoint(types[k]);
        const tpJoint* joint = &world->system.joints.data[0];
        assert_true(tpJointType_IsChain(types[k]));
        double wanted[6], found[6];
        for (int i = 0; i < joint->coordinateCount; ++i) {
            wanted[i] = randomBetween(&random, -0.8, 0.8);
        }
        tpPose a = world->system.poses.data[0];
        a.rotation = tpQuatExp(randomVec3(&random, -1.0, 1.0));
        tpPose b = tpJoint_PoseOfB(joint, a, wanted);
        tpJointPlace place = tpJoint_PlaceAt(joint, a, b);
        tpJoint_Displacements(joint, &place, found);
        for (int i = 0; i < joint->coordinateCount; ++i) {
            CHECK_NEAR(found[i], wanted[i], 1e-12);
        }
        tpJointRows rows = tpJoint_HeldRows(joint, &place);
        for (int i = 0; i < rows.rowCount; ++i) {
            CHECK_NEAR(rows.rows[i].error, 0.0, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testHeld),
                                        cmocka_unit_test(testCoordinates) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
