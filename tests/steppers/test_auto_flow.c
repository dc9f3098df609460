// The smooth motion of a group by steps of fourth order: closed forms of what slides, rolls, swings
// and spins, and the steps in which something happens.

#include "auto_balls.h"
#include "steppers/auto/flow.h"
#include "tippe/joints.h"

// The flow of the only group of a world.
typedef struct Flowing {
    tpFlow flow;
    tpGroups groups;
    tpGroupRun run;
} Flowing;

static bool beginFlow(Flowing* flowing, tpWorld* world, bool slides) {
    tpSystem* system = &world->system;
    bool canGo;
    memset(flowing, 0, sizeof(*flowing));
    assert_true(tpGroups_Find(&flowing->groups, system, 1e-2, true));
    flowing->run = (tpGroupRun){ .system = system,
                                 .groups = &flowing->groups,
                                 .pace.pushing = slides ? tp_slidingBit : 0 };
    assert_true(tpFlow_Begin(&flowing->flow, &flowing->run, &canGo));
    return canGo;
}

static tpTaken takeStep(Flowing* flowing, double h) {
    tpTaken taken;
    assert_true(tpFlow_TakeStep(&flowing->flow, &flowing->run, 0.0, h, &taken));
    return taken;
}

static tpWorld* makeBallWorld(double friction, tpVec3 up, tpVec3 velocity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, 0.0);
    addFloor(world, up);
    addBall(world, tpScale(0.1, up), velocity);
    tpWorld_Step(world, 1e-12); // measures the scales
    tpSystem_SetVelocity(&world->system, 1, velocity, tpZeroVec3());
    world->system.poses.data[1].position = tpScale(0.1, up);
    return world;
}

// A ball that slides is braked by mu g, and gets a spin of 5/2 mu g t / r. What it loses is the
// friction's way.
static void slidingIsExact(void** state) {
    (void)state;
    const double mu = 0.2, g = 9.81, h = 0.05, v = 3.0;
    tpWorld* world = makeBallWorld(mu, tpMakeVec3(0.0, 0.0, 1.0), tpMakeVec3(v, 0.0, 0.0));
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, true));
    tpTaken taken = takeStep(&flowing, h);
    assert_false(taken.isBad);
    const tpSystem* system = &world->system;
    CHECK_NEAR(system->velocities.data[1].linear.x, v - mu * g * h, 1e-12);
    CHECK_NEAR(system->poses.data[1].position.x, v * h - 0.5 * mu * g * h * h, 1e-12);
    CHECK_NEAR(system->poses.data[1].position.z, 0.1, 1e-12);
    CHECK_NEAR(system->velocities.data[1].angular.y, 2.5 * mu * g * h / 0.1, 1e-11);
    double mass = system->bodies.data[1].mass;
    double slip = v * h - 0.5 * 3.5 * mu * g * h * h;
    CHECK_NEAR(taken.report.frictionLoss, mu * mass * g * slip, 1e-12 * mass);
    assert_int_equal(taken.tally.count, 1);
    CHECK_NEAR(taken.tally.list[0].normalImpulse, mass * g * h, 1e-12 * mass);
    // on A, the floor
    CHECK_NEAR(taken.tally.list[0].frictionImpulse.x, mu * mass * g * h, 1e-12 * mass);
    assert_int_equal(taken.tally.list[0].state, tp_sliding);
    tpDestroyWorld(world);
}

// The slip of 3 m/s is used up after 2 v / (7 mu g): a step beyond that has a moment in it.
static void slipsThatEndAreSeen(void** state) {
    (void)state;
    const double end = 2.0 * 3.0 / (7.0 * 0.2 * 9.81);
    for (int k = 0; k < 2; ++k) {
        tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0), velocity = tpMakeVec3(3.0, 0.0, 0.0);
        tpWorld* world = makeBallWorld(0.2, up, velocity);
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, true));
        assert_int_equal(takeStep(&flowing, (k == 0 ? 0.9 : 1.2) * end).isBad, k == 1);
        tpDestroyWorld(world);
    }
}

// A ball that rolls down a slope has 5/7 of g sin a, and a friction of 2/7 m g sin a, which the
// slope has to give.
static void rollingIsExact(void** state) {
    (void)state;
    const double angle = 0.5, g = 9.81, h = 0.1;
    tpVec3 up = tpMakeVec3(sin(angle), 0.0, cos(angle));
    tpVec3 down = tpMakeVec3(cos(angle), 0.0, -sin(angle));
    double needed = 2.0 / 7.0 * tan(angle);
    for (int k = 0; k < 2; ++k) {
        double mu = (k == 0 ? 1.01 : 0.99) * needed;
        tpWorld* world = makeBallWorld(mu, up, tpZeroVec3());
        Flowing flowing;
        assert_true(beginFlow(&flowing, world, false));
        tpTaken taken = takeStep(&flowing, h);
        assert_int_equal(taken.isBad, k == 1);
        if (k == 0) {
            const tpSystem* system = &world->system;
            double speed = 5.0 / 7.0 * g * sin(angle) * h, mass = system->bodies.data[1].mass;
            CHECK_VEC3(system->velocities.data[1].linear, tpScale(speed, down), 1e-12);
            CHECK_NEAR(system->velocities.data[1].angular.y, speed / 0.1, 1e-11);
            CHECK_NEAR(taken.tally.list[0].normalImpulse, mass * g * cos(angle) * h, 1e-12 * mass);
            CHECK_NEAR(tpLength(taken.tally.list[0].frictionImpulse),
                       2.0 / 7.0 * mass * g * sin(angle) * h, 1e-12 * mass);
            assert_true(taken.report.frictionLoss == 0.0);
        }
        tpDestroyWorld(world);
    }
}

// A ball that comes to another one touches something new.
static void newcomersAreSeen(void** state) {
    (void)state;
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0);
    tpWorld* world = makeBallWorld(0.2, up, tpMakeVec3(3.0, 0.0, 0.0));
    addBall(world, tpMakeVec3(0.35, 0.0, 0.1), tpZeroVec3());
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, true));
    assert_false(takeStep(&flowing, 0.02).isBad);
    assert_true(takeStep(&flowing, 0.05).isBad);
    tpDestroyWorld(world);
}

static tpWorld* makeJointWorld(tpJointType type, tpVec3 place, tpVec3 moments, tpVec3 velocity,
                               tpVec3 angular) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.position = place;
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(moments);
    body.velocity = velocity;
    body.angularVelocity = angular;
    tpJointDef joint = tpDefaultJointDef();
    joint.type = type;
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    return world;
}

// Where a pendulum is after half a second, by so many steps.
static tpVec3 swing(int count) {
    tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
    tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments,
                                    tpZeroVec3(), tpZeroVec3());
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int i = 0; i < count; ++i) {
        assert_false(takeStep(&flowing, 0.5 / count).isBad);
    }
    tpVec3 end = world->system.poses.data[0].position;
    tpDestroyWorld(world);
    return end;
}

// Half the step, a sixteenth of the error.
static void stepsAreOfFourthOrder(void** state) {
    (void)state;
    tpVec3 right = swing(256);
    double coarse = tpDistanceBetween(swing(8), right), fine = tpDistanceBetween(swing(16), right);
    assert_true(coarse < 1e-3 && coarse > 1e-7);
    double order = log2(coarse / fine);
    assert_true(order > 3.5 && order < 5.5);
}

// A fast top in steady precession, with 200 rad/s about its own axis: its tilt stays, and the axis
// goes round at 2.789422 rad/s. A step of 20 ms has four radians of spin in it.
static void fastTopsTakeLongSteps(void** state) {
    (void)state;
    const double tilt = 0.5235987755982988, rate = 2.789422, h = 0.02;
    tpVec3 axis = tpMakeVec3(sin(tilt), 0.0, cos(tilt)), up = tpMakeVec3(0.0, 0.0, 1.0);
    tpVec3 angular = tpAdd(tpScale(200.0 - rate * cos(tilt), axis), tpScale(rate, up));
    tpVec3 place = tpScale(0.1, axis), moments = tpMakeVec3(0.01, 0.01, 0.002);
    tpWorld* world = makeJointWorld(tp_ballJoint, place, moments, tpCross(angular, place), angular);
    tpSystem* system = &world->system;
    // The body's axis of symmetry is its own z axis.
    system->poses.data[0].rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
    system->joints.data[0].anchorB = tpMakeVec3(0.0, 0.0, -0.1);
    tpSystem_SetVelocity(system, 0, tpCross(angular, place), angular);
    Flowing flowing;
    assert_true(beginFlow(&flowing, world, false));
    for (int i = 0; i < 25; ++i) {
        assert_false(takeStep(&flowing, h).isBad);
    }
    tpVec3 end = system->poses.data[0].position;
    CHECK_NEAR(end.z, 0.1 * cos(tilt), 1e-6);
    CHECK_NEAR(atan2(end.y, end.x), 25 * h * rate, 1e-5);
    tpDestroyWorld(world);
}

// Two hinges on one line hold everything but the turn twice.
static void whatIsHeldTwiceIsLeftToOthers(void** state) {
    (void)state;
    tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
    tpWorld* world = makeJointWorld(tp_revoluteJoint, tpMakeVec3(1.0, 0.0, 0.0), moments,
                                    tpZeroVec3(), tpZeroVec3());
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpWorld_GetBody(world, 0);
    joint.anchorA = joint.anchorB = tpMakeVec3(0.0, 1.0, 0.0);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
    Flowing flowing;
    assert_false(beginFlow(&flowing, world, false));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slidingIsExact),
        cmocka_unit_test(slipsThatEndAreSeen),
        cmocka_unit_test(rollingIsExact),
        cmocka_unit_test(newcomersAreSeen),
        cmocka_unit_test(stepsAreOfFourthOrder),
        cmocka_unit_test(fastTopsTakeLongSteps),
        cmocka_unit_test(whatIsHeldTwiceIsLeftToOthers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
