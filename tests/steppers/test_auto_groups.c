// Groups of bodies that can have to do with each other, and taking all but one out of the system.

#include "auto_balls.h"
#include "dynamics/body_islands.h"
#include "steppers/auto/groups.h"
#include "tippe/joints.h"

static const double h = 0.01;

// Two balls that touch each other on the floor, one alone on it, two that only fly, two that meet
// within the step, and two on a joint.
static void groupsByNearness(void** state) {
    (void)state;
    tpWorld* world = makeFloorWorld(h);
    tpVec3 still = tpZeroVec3();
    int first = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), still);
    int second = addBall(world, tpMakeVec3(0.2, 0.0, 0.1), still);
    int alone = addBall(world, tpMakeVec3(5.0, 0.0, 0.1), still);
    int flying = addBall(world, tpMakeVec3(0.0, 5.0, 5.0), tpMakeVec3(1.0, 0.0, 0.0));
    int other = addBall(world, tpMakeVec3(0.0, 9.0, 5.0), still);
    int left = addBall(world, tpMakeVec3(0.0, 20.0, 5.0), tpMakeVec3(20.0, 0.0, 0.0));
    int right = addBall(world, tpMakeVec3(0.5, 20.0, 5.0), tpMakeVec3(-20.0, 0.0, 0.0));
    int held = addBall(world, tpMakeVec3(0.0, 30.0, 5.0), still);
    int bob = addBall(world, tpMakeVec3(1.0, 30.0, 5.0), still);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = tpWorld_GetBody(world, held);
    joint.bodyB = tpWorld_GetBody(world, bob);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));

    tpGroups groups;
    tpSystem* system = &world->system;
    assert_true(tpGroups_Find(&groups, system, h, false));
    const int* of = groups.ofBody;
    assert_int_equal(groups.count, 5);
    assert_int_equal(of[0], -1); // the floor
    assert_int_equal(of[first], 0);
    assert_int_equal(of[second], 0);
    assert_int_equal(of[alone], 1);
    assert_int_equal(of[left], of[right]);
    assert_int_equal(of[held], of[bob]);
    assert_int_equal(groups.flying, groups.count - 1);
    assert_int_equal(of[flying], groups.flying);
    assert_int_equal(of[other], groups.flying);
    assert_int_equal(groups.sizes[0], 2);
    assert_int_equal(groups.pairCounts[0], 3); // two with the floor, one between
    assert_int_equal(groups.pairCounts[1], 1);
    assert_int_equal(groups.jointCounts[of[held]], 1);
    assert_int_equal(groups.jointCounts[0], 0);

    assert_true(tpGroups_Find(&groups, system, h, true));
    for (int i = 1; i < system->bodyCount; ++i) {
        assert_int_equal(groups.ofBody[i], groups.ofBody[1]);
    }
    tpDestroyWorld(world);
}

// Nobody but the group moves by impulses while it is alone; then all is as it was, but for the
// group's own motion.
static void isolatedGroupsComeBack(void** state) {
    (void)state;
    tpWorld* world = makeFloorWorld(h);
    tpVec3 slow = tpMakeVec3(0.1, 0.2, 0.0);
    int first = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), slow);
    int second = addBall(world, tpMakeVec3(5.0, 0.0, 0.1), slow);
    tpSystem* system = &world->system;
    tpGroups groups;
    assert_true(tpGroups_Find(&groups, system, h, false));
    tpPose poses[3];
    tpVelocity velocities[3];
    memcpy(poses, system->poses.data, sizeof(poses));
    memcpy(velocities, system->velocities.data, sizeof(velocities));
    double inverse = system->bodies.data[second].inverseMass;
    assert_true(inverse > 0.0);

    tpGroups_Isolate(&groups, system, groups.ofBody[first]);
    assert_true(tpSystem_IsDynamic(system, first));
    assert_false(tpSystem_IsDynamic(system, second));
    CHECK_VEC3(system->velocities.data[second].linear, tpZeroVec3(), 0.0);
    system->poses.data[first].position.x += 1.0;
    tpGroups_Rejoin(&groups, system, groups.ofBody[first], poses, velocities);
    assert_true(tpSystem_IsDynamic(system, second));
    CHECK_NEAR(system->bodies.data[second].inverseMass, inverse, 0.0);
    CHECK_VEC3(system->velocities.data[second].linear, slow, 0.0);
    CHECK_NEAR(system->poses.data[first].position.x, 1.0, 1e-15);
    CHECK_VEC3(system->poses.data[second].position, poses[second].position, 0.0);
    tpDestroyWorld(world);
}

// Groups hold as long as no body has gone farther than its margin.
static void outrunMargins(void** state) {
    (void)state;
    tpWorld* world = makeFloorWorld(h);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpMakeVec3(1.0, 0.0, 0.0));
    tpSystem* system = &world->system;
    tpGroups groups;
    assert_true(tpGroups_Find(&groups, system, h, false));
    tpPose starts[2];
    memcpy(starts, system->poses.data, sizeof(starts));
    // It can go at its speed, and a part more.
    assert_true(groups.margins[ball] > 1.0 * h);
    assert_false(tpSystem_HasOutrun(system, starts, groups.margins));
    system->poses.data[ball].position.x += 0.99 * groups.margins[ball];
    assert_false(tpSystem_HasOutrun(system, starts, groups.margins));
    system->poses.data[ball].position.x += 0.02 * groups.margins[ball];
    assert_true(tpSystem_HasOutrun(system, starts, groups.margins));
    tpDestroyWorld(world);
}

// A ball drives another one against a third within one step. The third is in another group, since
// the second one stands still at first; it was like a wall, and the second one came back from it.
// So it is if it sleeps.
static void drivenBodiesMeetOthers(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = tp_auto;
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        addMaterial(world, 0.0, 1.0);
        const double gap = 0.004, speed = 2.0;
        int first =
            addBall(world, tpMakeVec3(k == 0 ? 0.0 : -2.0, 0.0, 0.0), tpMakeVec3(speed, 0.0, 0.0));
        int second = addBall(world, tpMakeVec3(0.2 + gap, 0.0, 0.0), tpZeroVec3());
        int third = addBall(world, tpMakeVec3(0.4 + 2.0 * gap, 0.0, 0.0), tpZeroVec3());
        int count = k == 0 ? 1 : 101;
        for (int i = 0; i < count; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.violations, 0);
        }
        const tpVelocity* velocities = world->system.velocities.data;
        double way = 0.4 + 2.0 * gap + (speed * h - 2.0 * gap);
        CHECK_NEAR(velocities[first].linear.x, 0.0, 1e-9);
        CHECK_NEAR(velocities[second].linear.x, 0.0, 1e-9);
        CHECK_NEAR(velocities[third].linear.x, speed, 1e-9);
        CHECK_NEAR(world->system.poses.data[third].position.x, way, 1e-6);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groupsByNearness),
        cmocka_unit_test(isolatedGroupsComeBack),
        cmocka_unit_test(outrunMargins),
        cmocka_unit_test(drivenBodiesMeetOthers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
