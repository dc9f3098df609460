// What joints and slips are at: a step that turns one of them round, or brings it to an edge of its
// law, is told from one that goes on.

#include "auto_flows.h"
#include "steppers/auto/modes.h"

static uint64_t modesAt(tpWorld* world, double rate) {
    tpSystem* system = &world->system;
    tpGroups groups;
    assert_true(tpGroups_Find(&groups, system, 1e-2, true));
    tpVec3 angular = tpMakeVec3(0.0, rate, 0.0);
    tpSystem_SetVelocity(system, 0, tpCross(angular, system->poses.data[0].position), angular);
    return tpModes_OfJoints(system, &groups, 0);
}

static tpWorld* makeArm(tpCoordinateDef def) {
    tpVec3 moments = tpMakeVec3(1.0, 1.0, 1.0), zero = tpZeroVec3();
    tpWorld* world =
        makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments, zero, zero);
    tpJointId joint = tpWorld_GetJoint(world, 0);
    assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &def, NULL), tp_success);
    return world;
}

static tpCoordinateDef coordinateOf(tpWorld* world) {
    return tpJoint_GetCoordinate(world, tpWorld_GetJoint(world, 0), 0);
}

// A joint with friction goes up, down, or not at all; without friction nobody asks.
static void jointsTurn(void** state) {
    (void)state;
    tpWorld* bare = makeArm((tpCoordinateDef){ 0 });
    assert_true(modesAt(bare, 1.0) == modesAt(bare, -1.0));
    tpCoordinateDef def = coordinateOf(bare);
    tpDestroyWorld(bare);
    def.friction = 2.0;
    tpWorld* world = makeArm(def);
    uint64_t up = modesAt(world, 1.0), down = modesAt(world, -1.0), still = modesAt(world, 0.0);
    assert_true(up != down && up != still && down != still);
    assert_true(up == modesAt(world, 0.3));
    tpDestroyWorld(world);
}

// A servo of 6 N m wants 10 - 2 w: it gives all of it up to 2 rad/s. A motor comes to its speed.
static void drivesComeToTheirEdge(void** state) {
    (void)state;
    tpCoordinateDef def = { .hasServo = true,
                            .servo = {
                                .target = 1.0, .stiffness = 10.0, .damping = 2.0, .effort = 6.0 } };
    tpWorld* world = makeArm(def);
    assert_true(modesAt(world, 0.0) == modesAt(world, 1.9));
    assert_true(modesAt(world, 1.9) != modesAt(world, 2.1));
    assert_true(modesAt(world, 2.1) == modesAt(world, 7.9));
    assert_true(modesAt(world, 7.9) != modesAt(world, 8.1));
    tpDestroyWorld(world);
    tpCoordinateDef motor = { .hasMotor = true, .motor = { .speed = 3.0, .effort = 1.0 } };
    world = makeArm(motor);
    assert_true(modesAt(world, 2.0) == modesAt(world, 2.9));
    assert_true(modesAt(world, 2.9) != modesAt(world, 3.0));
    tpDestroyWorld(world);
}

static void limitsAreEdges(void** state) {
    (void)state;
    tpCoordinateDef def = { .hasLimits = true, .limits = { -0.5, 0.0 } };
    tpCoordinateDef wide = { .hasLimits = true, .limits = { -0.5, 0.1 } };
    tpWorld *at = makeArm(def), *within = makeArm(wide);
    assert_true(modesAt(at, 0.0) != modesAt(within, 0.0));
    tpDestroyWorld(at);
    tpDestroyWorld(within);
}

// A ball on a floor that slides one way at the start of a step and another way at its end.
static void slipsTurn(void** state) {
    (void)state;
    static const struct {
        tpVec3 first, last;
        tpContactState state;
        bool hasTurned;
    } cases[] = {
        { { 1.0, 0.0, 0.0 }, { 0.4, 0.0, 0.0 }, tp_sliding, false },
        { { 1.0, 0.0, 0.0 }, { -0.4, 0.0, 0.0 }, tp_sliding, true },
        { { 1.0, 0.0, 0.0 }, { 0.5, 0.5, 0.0 }, tp_sliding, false },
        { { 1.0, 0.0, 0.0 }, { 0.1, 0.9, 0.0 }, tp_sliding, true },
        { { 1.0, 0.0, 0.0 }, { -0.4, 0.0, 0.0 }, tp_sticking, false },
        { { 1.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 }, tp_sliding, false },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = tp_auto;
        tpWorld* world = tpCreateWorld(&def);
        addMaterial(world, 0.3, 0.0);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        addBall(world, tpMakeVec3(0.0, 0.0, 0.1), cases[k].last);
        tpContact contact = { .bodyA = 1,
                              .bodyB = 0,
                              .normal = { 0.0, 0.0, 1.0 },
                              .pointA = tpZeroVec3(),
                              .pointB = tpZeroVec3() };
        tpContactInfo info = tpContactInfo_Make(&contact);
        info.normalImpulse = 1.0;
        info.state = cases[k].state;
        tpTally tally = { &info, 1 };
        tpVelocity starts[2] = { { .linear = tpZeroVec3() }, { .linear = cases[k].first } };
        assert_int_equal(tpModes_HasSlipTurned(&tally, &world->system, starts), cases[k].hasTurned);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jointsTurn),
        cmocka_unit_test(drivesComeToTheirEdge),
        cmocka_unit_test(limitsAreEdges),
        cmocka_unit_test(slipsTurn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
