// What joints hold and leave free: rows are the derivatives of what they measure.

#include "dynamics/joint_types.h"
#include "dynamics/joints.h"
#include "joint_rows.h"
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

// What a joint is off by is told in full: no more than B was moved in directions that the joint
// holds, and no less than the largest of two or three components of that can be. Directions that it
// leaves free do not count.
static void testDrift(void** state) {
    (void)state;
    const tpVec3 axis = tpMakeVec3(0.0, 0.6, 0.8), anchor = tpMakeVec3(0.4, 0.1, 0.2);
    const struct {
        tpJointType type;
        int slides, turns; // held: all of them (3), those across the axis (2), along it (1), none
    } cases[] = { { tp_ballJoint, 3, 0 },        { tp_revoluteJoint, 3, 2 },
                  { tp_fixedJoint, 3, 3 },       { tp_prismaticJoint, 2, 3 },
                  { tp_cylindricalJoint, 2, 2 }, { tp_planarJoint, 1, 2 } };
    tpRandom random = { 73 };
    for (int k = 0; k < 6 * 50; ++k) {
        tpWorld* world = makeJoint(cases[k % 6].type);
        const tpSystem* system = &world->system;
        tpPose poses[2] = { system->poses.data[0], system->poses.data[1] };
        CHECK_NEAR(tpJoints_PositionError(system, poses), 0.0, 1e-15);
        bool isTurn = k / 6 % 2 == 1;
        int held = isTurn ? cases[k % 6].turns : cases[k % 6].slides;
        tpVec3 by = randomVec3(&random, -0.01, 0.01);
        tpVec3 along = tpScale(tpDot(by, axis), axis);
        tpVec3 counted = held == 3   ? by
                         : held == 2 ? tpSub(by, along)
                         : held == 1 ? along
                                     : tpZeroVec3();
        if (isTurn) { // about the anchor
            if (held == 2) {
                by = counted; // turns about the axis are free, and mix with the others
            }
            tpQuat q = tpQuatExp(by);
            poses[1].position = tpAdd(anchor, tpRotate(q, tpSub(poses[1].position, anchor)));
            poses[1].rotation = tpMulQQ(q, poses[1].rotation);
        } else {
            poses[1].position = tpAdd(poses[1].position, by);
        }
        double told = tpJoints_PositionError(system, poses), size = tpLength(counted);
        CHECK_BELOW(told, size * (1.0 + 1e-4) + 1e-15);
        CHECK_BELOW(size / sqrt(fmax(1.0, held)) * (1.0 - 1e-4) - 1e-15, told);
        tpDestroyWorld(world);
    }
}

// In a planar world what leaves the plane does not count, also of joints that have a way of their
// own in space; and rows are in units of length if they move anything, in any direction.
static void testPlanesAndUnits(void** state) {
    (void)state;
    const tpJointType types[] = { tp_ballJoint, tp_revoluteJoint, tp_fixedJoint };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeJoint(types[k]);
        tpSystem* system = &world->system;
        system->units.length = 0.25;
        tpRows rows = makeJointRows(system);
        for (int row = 0; row < rows.rowCount; ++row) {
            assert_true(tpRows_ErrorUnit(&rows, row) == (row < 3 ? 0.25 : 1.0));
        }
        system->isPlanar = true;
        for (int axis = 0; axis < 3; ++axis) {
            tpPose poses[2] = { system->poses.data[0], system->poses.data[1] };
            poses[1].position.x += axis == 0 ? 0.01 : 0.0;
            poses[1].position.y += axis == 1 ? 0.01 : 0.0;
            poses[1].position.z += axis == 2 ? 0.01 : 0.0;
            CHECK_NEAR(tpJoints_PositionError(system, poses), axis == 2 ? 0.0 : 0.01, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

// Beyond its limits a joint is off by as much as it is beyond, and of several joints the worst
// counts, whichever comes first.
static void testDriftOfLimits(void** state) {
    (void)state;
    const tpJointType types[2] = { tp_cylindricalJoint, tp_revoluteJoint };
    for (int k = 0; k < 2 * 4; ++k) {
        tpWorld* world = makeJoint(types[k % 2]);
        tpSystem* system = &world->system;
        tpJointDef second = tpDefaultJointDef(); // a ball joint that is off by 1 cm, or a dead one
        second.type = tp_ballJoint;
        second.bodyA = tpWorld_GetBody(world, 0);
        second.anchorA = tpZeroVec3();
        second.anchorB = tpZeroVec3();
        tpJointId ball = tpCreateJoint(world, &second, NULL);
        assert_true(tpJoint_IsValid(world, ball));
        system->joints.data[1].anchorA.x += 0.01;
        CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 0.01, 1e-15);
        if (k / 2 % 2 == 1) {
            tpDestroyJoint(world, ball);
            CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 0.0, 1e-15);
        }
        const tpJoint* joint = &system->joints.data[0];
        for (int i = 0; i < joint->coordinateCount; ++i) {
            tpCoordinateDef* def = &system->joints.data[0].coordinates[i].def;
            def->hasLimits = true;
            def->limits[0] = -0.1;
            def->limits[1] = 0.2;
            for (int side = 0; side < 2; ++side) {
                double displacements[2] = { 0.0, 0.0 };
                displacements[i] = side == 0 ? -0.4 : 0.6;
                tpPose poses[2] = { system->poses.data[0], tpIdentityPose() };
                poses[1] = tpJoint_PoseOfB(joint, poses[0], displacements);
                double beyond = side == 0 ? 0.3 : 0.4;
                CHECK_NEAR(tpJoints_PositionError(system, poses), beyond, 1e-12);
            }
            def->hasLimits = false;
        }
        tpDestroyWorld(world);
    }
}

// A coupling is off by as much as its sum is from its value, or beyond its limits; of two couplings
// the worse one counts.
static void testDriftOfCouplings(void** state) {
    (void)state;
    for (int first = 0; first < 2; ++first) {
        tpWorld* world = makeJoint(tp_cylindricalJoint);
        tpSystem* system = &world->system;
        tpJointId id = tpWorld_GetJoint(world, 0);
        for (int i = 0; i < 2; ++i) {
            tpCouplingTerm terms[2] = { { id, 0, 2.0 }, { id, 1, -3.0 } };
            tpCouplingDef def = tpDefaultCouplingDef();
            def.terms = terms;
            def.termCount = 2;
            def.hasValue = i == first;
            def.value = 0.0;
            def.hasLimits = !def.hasValue;
            def.limits[0] = -0.5;
            def.limits[1] = 0.25;
            assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, NULL)));
        }
        CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 0.0, 1e-15);
        const double shifts[4] = { 0.1, -0.2, 0.4, -0.6 };
        for (int k = 0; k < 4; ++k) {
            double displacements[2] = { 0.5 * shifts[k], 0.0 };
            tpPose poses[2] = { system->poses.data[0], tpIdentityPose() };
            poses[1] = tpJoint_PoseOfB(&system->joints.data[0], poses[0], displacements);
            CHECK_NEAR(tpJoints_PositionError(system, poses), fabs(shifts[k]), 1e-12);
            // Without the value the limits are left.
            system->couplings.data[first].def.hasValue = false;
            double beyond = fmax(shifts[k] - 0.25, fmax(-0.5 - shifts[k], 0.0));
            CHECK_NEAR(tpJoints_PositionError(system, poses), beyond, 1e-12);
            system->couplings.data[first].def.hasValue = true;
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testDrift),         cmocka_unit_test(testPlanesAndUnits),
        cmocka_unit_test(testDriftOfLimits), cmocka_unit_test(testDriftOfCouplings),
        cmocka_unit_test(testHeld),          cmocka_unit_test(testCoordinates)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
