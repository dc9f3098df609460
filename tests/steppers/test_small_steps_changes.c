// What is kept of joints from step to step follows what users change between steps: a world that
// goes on after a change takes the same step as one that has made everything anew.

#include "support/check.h"
#include "tippe/joints.h"

enum { links = 6 };

typedef struct Arm {
    tpWorld* world;
    tpBodyId bodies[links];
    tpJointId joints[links];
} Arm;

// A chain of hinges that swings, with a branch that hangs on a ball or on a hinge: four links are
// in packs, or five.
static Arm makeArm(bool hasBall) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_smallSteps;
    Arm arm = { .world = tpCreateWorld(&worldDef) };
    for (int i = 0; i < links; ++i) {
        int before = i == links - 1 ? 1 : i - 1;
        double x = 0.4 * (before + 1), y = i == links - 1 ? 0.3 : 0.0;
        tpBodyDef body = tpDefaultBodyDef();
        body.position = tpMakeVec3(x + 0.2, y, 0.0);
        body.velocity = tpMakeVec3(0.0, 0.0, 0.1 * i);
        body.hasMass = true;
        body.mass.mass = 1.0;
        body.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.03, 0.04));
        arm.bodies[i] = tpCreateBody(arm.world, &body, NULL);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = hasBall && i == links - 1 ? tp_ballJoint : tp_revoluteJoint;
        joint.bodyA = before >= 0 ? arm.bodies[before] : (tpBodyId){ 0 };
        joint.bodyB = arm.bodies[i];
        joint.anchorA = joint.anchorB = tpMakeVec3(x, y, 0.0);
        joint.axis = i % 2 == 0 ? tpMakeVec3(0.0, 1.0, 0.0) : tpMakeVec3(0.0, 0.6, 0.8);
        arm.joints[i] = tpCreateJoint(arm.world, &joint, NULL);
    }
    return arm;
}

typedef void Change(Arm* arm);

static void changeNothing(Arm* arm) {
    (void)arm;
}

// The centre of mass moves, and anchors count from it.
static void moveCenter(Arm* arm) {
    tpMassProperties mass = { .mass = 2.0,
                              .center = tpMakeVec3(0.05, 0.02, -0.03),
                              .inertia = tpDiagonal(tpMakeVec3(0.03, 0.03, 0.05)) };
    assert_int_equal(tpBody_SetMass(arm->world, arm->bodies[2], &mass, NULL), tp_success);
}

static void setLaws(Arm* arm, int count, tpCoordinateDef def) {
    for (int i = 0; i < count; ++i) {
        if (i == links - 1) {
            def.limits[0] = 0.0; // an angle without a sign
        }
        assert_int_equal(tpJoint_SetCoordinate(arm->world, arm->joints[i], 0, &def, NULL),
                         tp_success);
    }
}

// Many rows for joints that had none; and a ball that no tree carries any more.
static void addLaws(Arm* arm) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.hasLimits = true;
    def.limits[0] = -0.05;
    def.limits[1] = 0.05;
    def.hasServo = true;
    def.servo = (tpServo){ 0.02, 0.0, 30.0, 1.0, 5.0 };
    def.friction = 0.1;
    setLaws(arm, links, def);
}

static void addRotors(Arm* arm, int count) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.armature = 0.1;
    setLaws(arm, count, def);
}

static void addSprings(Arm* arm, int count) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.hasSpring = true;
    def.spring = (tpSpring){ 20.0, 0.0, 0.3 };
    setLaws(arm, count, def);
}

// Anchors stay where they were.
static void makeHeavier(Arm* arm) {
    tpMassProperties mass = { .mass = 1.5, .inertia = tpDiagonal(tpMakeVec3(0.05, 0.01, 0.06)) };
    assert_int_equal(tpBody_SetMass(arm->world, arm->bodies[3], &mass, NULL), tp_success);
}

// A joint is off by less than the certificate allows, and its last look saw it closed.
static void openJoint(Arm* arm) {
    tpPose pose = { tpBody_GetPosition(arm->world, arm->bodies[4]),
                    tpBody_GetRotation(arm->world, arm->bodies[4]) };
    pose.rotation = tpMulQQ(tpQuatExp(tpMakeVec3(1e-8, 0.0, 1e-8)), pose.rotation);
    tpBody_SetPose(arm->world, arm->bodies[4], pose);
}

static void addAllRotors(Arm* arm) {
    addRotors(arm, links);
}

static void addAllSprings(Arm* arm) {
    addSprings(arm, links);
}

// Servos and dampers with rotors; laws that nothing limits are side by side (plain_laws.h). With an
// effort that they never have they are rows with bounds.
static void driveSoftly(Arm* arm, double effort, double stiffness, bool hasSprings) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.hasServo = true;
    def.servo = (tpServo){
        .target = 0.2, .speed = 0.1, .stiffness = stiffness, .damping = 0.3, .effort = effort
    };
    def.damping = 0.05;
    def.armature = 0.01;
    def.hasSpring = hasSprings;
    def.spring = (tpSpring){ 20.0, 0.1, 0.3 };
    setLaws(arm, links - 1, def);
}

static void addServos(Arm* arm) {
    driveSoftly(arm, INFINITY, 8.0, false);
}

static void steps(const Arm* arm, int count) {
    for (int i = 0; i < count; ++i) {
        tpWorld_Step(arm->world, 1.0 / 200.0);
    }
}

// The other world gets the changed state as bytes: it keeps nothing of what it has found before.
static void changesAreFollowed(void** state) {
    (void)state;
    Change* const changes[] = { changeNothing, moveCenter,  addLaws,   addAllRotors,
                                addAllSprings, makeHeavier, openJoint, addServos };
    enum { changeCount = sizeof(changes) / sizeof(changes[0]) };
    uint64_t hashes[2 * changeCount];
    for (int k = 0; k < 2 * changeCount; ++k) {
        Arm arm = makeArm(k < changeCount), other = makeArm(k < changeCount);
        steps(&arm, 3);
        steps(&other, 2);
        changes[k % changeCount](&arm);
        tpSnapshot* snapshot = tpWorld_Snapshot(arm.world);
        assert_int_equal(tpWorld_Restore(other.world, snapshot, NULL), tp_success);
        for (int i = 0; i < 40; ++i) {
            tpStepReport a = tpWorld_Step(arm.world, 1.0 / 200.0);
            tpStepReport b = tpWorld_Step(other.world, 1.0 / 200.0);
            assert_true(a.kineticAfter == b.kineticAfter && a.potentialAfter == b.potentialAfter);
            assert_int_equal(a.violations, 0);
        }
        hashes[k] = tpWorld_HashState(arm.world);
        assert_true(tpWorld_HashState(other.world) == hashes[k]);
        for (int j = 0; j < k; ++j) {
            assert_true(hashes[j] != hashes[k]);
        }
        tpDestroySnapshot(snapshot);
        tpDestroyWorld(arm.world);
        tpDestroyWorld(other.world);
    }
}

// What rotors and springs have is in the energies, whenever they came.
static void lateLawsHaveEnergy(void** state) {
    (void)state;
    Arm arm = makeArm(true);
    tpWorld_SetGravity(arm.world, tpZeroVec3());
    tpStepReport before = tpWorld_Step(arm.world, 1e-9);
    double rotors = 0.0, springs = 0.0;
    for (int i = 0; i < links - 1; ++i) {
        double speed = tpJoint_GetSpeed(arm.world, arm.joints[i], 0);
        rotors += 0.5 * 0.1 * speed * speed;
    }
    addRotors(&arm, links - 1);
    tpStepReport turning = tpWorld_Step(arm.world, 1e-9);
    CHECK_NEAR(turning.kineticBefore - before.kineticAfter, rotors, 1e-9);
    assert_true(rotors > 1e-3);
    for (int i = 0; i < links - 1; ++i) {
        double stretch = tpJoint_GetValue(arm.world, arm.joints[i], 0) - 0.3;
        springs += 0.5 * 20.0 * stretch * stretch;
    }
    addSprings(&arm, links - 1);
    tpStepReport pulled = tpWorld_Step(arm.world, 1e-9);
    CHECK_NEAR(pulled.potentialBefore - turning.potentialAfter, springs, 1e-9);
    tpSnapshot* snapshot = tpWorld_Snapshot(arm.world);
    Arm other = makeArm(true);
    assert_int_equal(tpWorld_Restore(other.world, snapshot, NULL), tp_success);
    CHECK_NEAR(tpWorld_Step(other.world, 1e-9).potentialBefore, pulled.potentialAfter, 1e-12);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(arm.world);
    tpDestroyWorld(other.world);
}

// Laws without bounds go to the same bits as those with bounds that are never met, whatever changes
// on the way.
static void softLawsAreThoseWithBounds(void** state) {
    (void)state;
    const double efforts[2] = { INFINITY, 1e30 };
    for (int k = 0; k < 4; ++k) {
        bool hasBall = k % 2 == 1, hasSprings = k / 2 == 1;
        Arm arms[2] = { makeArm(hasBall), makeArm(hasBall) };
        for (int i = 0; i < 60; ++i) {
            for (int a = 0; a < 2; ++a) {
                if (i % 20 == 3) {
                    // In the end both have bounds that they meet.
                    driveSoftly(&arms[a], i < 40 ? efforts[a] : 0.3, 8.0 + i, hasSprings);
                }
                if (i % 20 == 9) {
                    tpJoint_SetTarget(arms[a].world, arms[a].joints[1], 0, 0.4 - 0.01 * i, 0.0);
                }
                if (i % 20 == 14) {
                    tpBody_SetVelocity(arms[a].world, arms[a].bodies[3], tpMakeVec3(0.1, 0.0, 0.3),
                                       tpMakeVec3(1.0, 0.5, 0.0));
                }
            }
            double h = i < 30 ? 1.0 / 200.0 : 1.0 / 100.0;
            tpStepReport one = tpWorld_Step(arms[0].world, h);
            tpStepReport other = tpWorld_Step(arms[1].world, h);
            assert_true(one.externalWork == other.externalWork);
            assert_true(one.kineticAfter == other.kineticAfter);
            for (int j = 0; j < links; ++j) {
                assert_true(tpJoint_GetState(arms[0].world, arms[0].joints[j], 0).effort ==
                            tpJoint_GetState(arms[1].world, arms[1].joints[j], 0).effort);
                tpVec3 x = tpBody_GetPosition(arms[0].world, arms[0].bodies[j]);
                tpVec3 y = tpBody_GetPosition(arms[1].world, arms[1].bodies[j]);
                assert_true(x.x == y.x && x.y == y.y && x.z == y.z);
            }
        }
        tpDestroyWorld(arms[0].world);
        tpDestroyWorld(arms[1].world);
    }
}

// A pendulum far away, of which a change is one of the laws of the scene.
static tpJointId addPendulum(const Arm* arm) {
    tpBodyDef body = tpDefaultBodyDef();
    body.position = tpMakeVec3(50.0, 0.0, -1.0);
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.03, 0.04));
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpCreateBody(arm->world, &body, NULL);
    joint.anchorA = joint.anchorB = tpMakeVec3(50.0, 0.0, 0.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    return tpCreateJoint(arm->world, &joint, NULL);
}

static void setLimits(Arm* arm, double limit) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    def.hasLimits = true;
    def.limits[0] = -limit;
    def.limits[1] = 2.0 * limit;
    setLaws(arm, links - 1, def);
}

// Rows of limits that stay from step to step go to the same bits as those that are written anew in
// each, because some law of the scene has changed; and they follow their own laws.
static void limitsStayAsTheyAre(void** state) {
    (void)state;
    Arm arms[2] = { makeArm(false), makeArm(false) };
    tpJointId pendulums[2];
    for (int a = 0; a < 2; ++a) {
        setLimits(&arms[a], 0.3);
        pendulums[a] = addPendulum(&arms[a]);
    }
    double most[2] = { 0.0, 0.0 };
    for (int i = 0; i < 160; ++i) {
        for (int a = 0; a < 2 && i == 80; ++a) {
            setLimits(&arms[a], 0.6);
        }
        tpCoordinateDef def = tpDefaultCoordinateDef();
        assert_int_equal(tpJoint_SetCoordinate(arms[1].world, pendulums[1], 0, &def, NULL),
                         tp_success);
        double h = i < 120 ? 1.0 / 200.0 : 1.0 / 100.0;
        tpWorld_Step(arms[0].world, h);
        tpWorld_Step(arms[1].world, h);
        for (int j = 0; j < links; ++j) {
            tpVec3 x = tpBody_GetPosition(arms[0].world, arms[0].bodies[j]);
            tpVec3 y = tpBody_GetPosition(arms[1].world, arms[1].bodies[j]);
            assert_true(x.x == y.x && x.y == y.y && x.z == y.z);
        }
        for (int j = 0; j < links - 1; ++j) {
            double value = tpJoint_GetValue(arms[0].world, arms[0].joints[j], 0);
            most[i / 80] = fmax(most[i / 80], fmax(-value, 0.5 * value));
        }
    }
    CHECK_NEAR(most[0], 0.3, 1e-4);
    CHECK_NEAR(most[1], 0.6, 1e-4);
    tpDestroyWorld(arms[0].world);
    tpDestroyWorld(arms[1].world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changesAreFollowed),
        cmocka_unit_test(lateLawsHaveEnergy),
        cmocka_unit_test(softLawsAreThoseWithBounds),
        cmocka_unit_test(limitsStayAsTheyAre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
