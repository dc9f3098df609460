// Substeps by need: mechanisms that few contacts hold take fewer where that costs no accuracy, and
// mechanisms in flight fall along parabolas however many they take.

#include <string.h>

#include "steppers/small_steps/state.h"
#include "support/floor.h"
#include "tippe/joints.h"
#include "world/world.h"

enum { links = 9 };

static const double h = 1.0 / 200.0;

typedef struct Robot {
    tpWorld* world;
    tpBodyId bodies[links];
} Robot;

static void setSubsteps(tpWorld* world, const char* count) {
    assert_int_equal(tpWorld_SetOption(world, "substeps", count, NULL), tp_success);
}

static void join(tpWorld* world, tpBodyId a, tpBodyId b, tpVec3 anchor, tpVec3 axis,
                 const tpCoordinateDef* laws) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    if (laws != NULL) {
        def.coordinate = *laws;
    }
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
}

// A tree of balls on hinges with servos, its lowest ball at this height over the floor.
static Robot makeRobot(double height, double mu, double stiffness, double damping) {
    static const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    Robot robot = { .world = worldWithFloor(tp_smallSteps, mu, 0.0) };
    tpVec3 places[links];
    for (int i = 0; i < links; ++i) {
        int parent = (i - 1) / 2;
        places[i] = i == 0 ? tpMakeVec3(0.0, 0.0, height + 0.41)
                           : tpAdd(places[parent], tpMakeVec3(i % 2 == 1 ? 0.25 : -0.25,
                                                              0.03 * (i % 5 - 2), -0.12));
        tpBodyDef def = tpDefaultBodyDef();
        def.position = places[i];
        robot.bodies[i] = tpCreateBody(robot.world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        shape.density = 1000.0;
        shape.group = 2;
        shape.mask = ~2u;
        tpSphere sphere = { .radius = 0.05 };
        tpCreateSphere(robot.world, robot.bodies[i], &shape, &sphere, NULL);
        if (i > 0) {
            tpCoordinateDef laws = tpDefaultCoordinateDef();
            laws.hasServo = true;
            laws.servo = (tpServo){ 0.0, 0.0, stiffness, damping, INFINITY };
            laws.armature = 0.01;
            join(robot.world, robot.bodies[parent], robot.bodies[i], places[parent], axes[i % 3],
                 &laws);
        }
    }
    return robot;
}

static tpBodyId addLink(tpWorld* world, tpVec3 place) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = tpMakeVec3(0.5, 0.0, 1.0);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 1000.0;
    shape.mask = 0;
    tpCreateBox(world, body, &shape, &(tpBox){ .size = { 0.3, 0.1, 0.05 } }, NULL);
    return body;
}

// Three links that are thrown, alone or with a spring between their ends, whatever the substeps.
static void centresFollowParabolas(void** state) {
    (void)state;
    static const char* const counts[3] = { "0", "1", "4" };
    for (int trial = 0; trial < 6; ++trial) {
        tpWorldDef worldDef = tpDefaultWorldDef();
        worldDef.stepper = tp_smallSteps;
        worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
        tpWorld* world = tpCreateWorld(&worldDef);
        setSubsteps(world, counts[trial / 2]);
        tpBodyId list[3];
        for (int i = 0; i < 3; ++i) {
            list[i] = addLink(world, tpMakeVec3(0.3 * i, 0.0, 0.0));
            if (i > 0) {
                join(world, list[i - 1], list[i], tpMakeVec3(0.3 * i - 0.15, 0.0, 0.0),
                     tpMakeVec3(0.0, 1.0, 0.0), NULL);
            }
        }
        tpBody_SetVelocity(world, list[2], tpMakeVec3(0.5, 0.0, 1.0), tpMakeVec3(0.0, 0.5, 0.0));
        if (trial % 2 == 1) {
            tpJointDef def = tpDefaultJointDef();
            def.type = tp_springJoint;
            def.bodyA = list[0];
            def.bodyB = list[2];
            def.anchorB = tpMakeVec3(0.6, 0.0, 0.0);
            def.coordinate.spring.stiffness = 10.0;
            assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
        }
        for (int k = 0; k < 60; ++k) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        tpVec3 center = tpZeroVec3();
        for (int i = 0; i < 3; ++i) {
            center = tpMulAdd(center, 1.0 / 3.0, tpBody_GetPosition(world, list[i]));
        }
        CHECK_VEC3(center, tpMakeVec3(0.3 + 0.5, 0.0, 1.0 - 0.5 * 9.81), 1e-8);
        tpDestroyWorld(world);
    }
}

typedef struct Landing {
    int solves, steps, uncertified;
    double load, drift, speed;
    tpVec3 places[links];
} Landing;

static Landing land(double height, double mu, double stiffness, const char* substeps, int steps) {
    Robot robot = makeRobot(height, mu, stiffness, stiffness / 25.0);
    Landing landing = { .steps = steps };
    double weight = 0.0;
    setSubsteps(robot.world, substeps);
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(robot.world, h);
        landing.solves += report.solveCount;
        landing.uncertified += report.violations != 0 ? 1 : 0;
        landing.drift = fmax(landing.drift, report.jointDrift);
    }
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(robot.world, &count);
    for (int i = 0; i < count; ++i) {
        landing.load += contacts[i].normalImpulse / h;
    }
    for (int i = 0; i < links; ++i) {
        weight += 9.81 * tpBody_GetMass(robot.world, robot.bodies[i]).mass;
        landing.places[i] = tpBody_GetPosition(robot.world, robot.bodies[i]);
        landing.speed =
            fmax(landing.speed, tpLength(tpBody_GetVelocity(robot.world, robot.bodies[i])));
    }
    landing.load /= weight;
    tpDestroyWorld(robot.world);
    return landing;
}

static double farthest(const Landing* a, const Landing* b) {
    double most = 0.0;
    for (int i = 0; i < links; ++i) {
        most = fmax(most, tpDistanceBetween(a->places[i], b->places[i]));
    }
    return most;
}

// A robot that falls .3 m takes all four substeps for a while, and comes to rest in single ones
// where it does with eight; it rests under its weight. A number that is asked for is taken.
static void robotsComeToRestWithFewer(void** state) {
    (void)state;
    Landing few = land(0.3, 1.0, 50.0, "0", 1000), all = land(0.3, 1.0, 50.0, "4", 1000),
            more = land(0.3, 1.0, 50.0, "8", 1000);
    assert_int_equal(all.solves, 4 * all.steps);
    assert_int_equal(few.uncertified, 0);
    assert_in_range(few.solves, few.steps + 12, 3 * few.steps / 2);
    CHECK_NEAR(few.load, 1.0, 1e-6);
    CHECK_BELOW(few.speed, 1e-6);
    CHECK_BELOW(few.drift, 1e-6);
    CHECK_BELOW(farthest(&few, &more), 2.0 * farthest(&all, &more) + 1e-3);
}

// Where it moves slowly and contacts hold it all the time, what turns velocities is left to the
// next step. It settles no farther from where sixteen substeps lead than with one that leaves
// nothing, under its weight, and joints hold.
static void slowRobotsSettle(void** state) {
    (void)state;
    Landing by = land(1e-5, 20.0, 1000.0, "0", 400), one = land(1e-5, 20.0, 1000.0, "1", 400),
            fine = land(1e-5, 20.0, 1000.0, "16", 400);
    assert_int_equal(by.uncertified, 0);
    CHECK_BELOW(by.drift, 2e-7);
    CHECK_BELOW(by.speed, 1e-9);
    CHECK_NEAR(by.load, 1.0, 1e-9);
    CHECK_BELOW(farthest(&by, &fine), farthest(&one, &fine));
}

// The energy of what nothing damps is kept by all substeps, as before.
static void undampedTakesAll(void** state) {
    (void)state;
    for (int trial = 0; trial < 2; ++trial) {
        Robot robot = makeRobot(0.2, 1.0, 50.0, trial == 0 ? 0.0 : 2.0);
        tpWorld* world = robot.world;
        if (trial == 1) {
            // Beside it boxes that are swept.
            for (int i = 0; i < 8; ++i) {
                tpBodyDef def = tpDefaultBodyDef();
                def.position = tpMakeVec3(3.0 + i, 0.0, 0.05);
                addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), 1000.0);
            }
        }
        for (int k = 0; k < 100; ++k) {
            assert_int_equal(tpWorld_Step(world, h).solveCount, 4);
        }
        tpDestroyWorld(world);
    }
}

// A snapshot knows how many substeps the next step needs.
static void snapshotsKnowTheNeed(void** state) {
    (void)state;
    Robot first = makeRobot(0.1, 1.0, 50.0, 2.0), second = makeRobot(0.1, 1.0, 50.0, 2.0);
    for (int k = 0; k < 200; ++k) {
        tpSnapshot* snapshot = tpWorld_Snapshot(first.world);
        assert_int_equal(tpWorld_Restore(second.world, snapshot, NULL), tp_success);
        tpDestroySnapshot(snapshot);
        tpStepReport a = tpWorld_Step(first.world, h), b = tpWorld_Step(second.world, h);
        assert_int_equal(a.solveCount, b.solveCount);
        for (int i = 0; i < links; ++i) {
            tpVec3 x = tpBody_GetPosition(first.world, first.bodies[i]),
                   y = tpBody_GetPosition(second.world, second.bodies[i]);
            assert_memory_equal(&x, &y, sizeof(x));
        }
    }
    tpDestroyWorld(first.world);
    tpDestroyWorld(second.world);
}

// A pendulum of a kilogram whose rod begins level, with or without laws at its hinge.
static void addPendulum(tpWorld* world, double y, double length, const tpCoordinateDef* laws) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(length, y, 0.0);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpScaleM(0.01, tpIdentityMat33());
    tpBodyId none = { 0, 0 }, body = tpCreateBody(world, &def, NULL);
    join(world, none, body, tpMakeVec3(0.0, y, 0.0), tpMakeVec3(0.0, 1.0, 0.0), laws);
}

static tpWorld* makeAir(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    return tpCreateWorld(&def);
}

// What damps a servo is its own damping and that of its joint; the stiffest servo for its damping
// counts, and of joints without a servo the one with the least damping. Springs damp nothing.
static void lawsAreWeighed(void** state) {
    (void)state;
    const struct {
        double stiffness, own, joint; // of the servo; of the joint
    } cases[] = { { 50.0, 2.0, 0.5 }, { 90.0, 1.0, 2.0 }, { 0.0, 0.0, 0.7 }, { 0.0, 0.0, 0.3 } };
    for (int order = 0; order < 2; ++order) {
        for (int spring = 0; spring < 2; ++spring) {
            tpWorld* world = makeAir();
            for (int i = 0; i < 4; ++i) {
                int k = order == 0 ? i : 3 - i;
                tpCoordinateDef laws = tpDefaultCoordinateDef();
                laws.hasServo = cases[k].stiffness > 0.0;
                laws.servo = (tpServo){ 0.0, 0.0, cases[k].stiffness, cases[k].own, INFINITY };
                laws.damping = cases[k].joint;
                laws.hasSpring = spring == 1 && i == 2;
                laws.spring.stiffness = 1.0;
                addPendulum(world, i, 0.5, &laws);
            }
            tpWorld_Step(world, h);
            const tpSmallSteps* small = world->stepperState;
            if (spring == 0) {
                CHECK_NEAR(small->servoRate, 30.0, 1e-13); // 90 / 3
            } else {
                assert_true(isinf(small->servoRate));
            }
            CHECK_NEAR(small->leastDamping, 0.3, 0.0);
            tpDestroyWorld(world);
        }
    }
}

// By how much forces turn bodies: of pendulums that begin level and at rest the acceleration is
// g l / (l^2 + r^2), and the largest counts. What nothing touches counts 1e5 times.
static void unrestIsThatOfTheFastest(void** state) {
    (void)state;
    const double lengths[3] = { 0.4, 0.2, 0.9 }, step = 1e-4;
    double most = 0.0;
    for (int k = 0; k < 3; ++k) {
        most = fmax(most, 9.81 * lengths[k] / (lengths[k] * lengths[k] + 0.01));
    }
    for (int first = 0; first < 3; ++first) {
        tpWorld* world = makeAir();
        for (int k = 0; k < 3; ++k) {
            addPendulum(world, k, lengths[(first + k) % 3], NULL);
        }
        tpWorld_Step(world, step);
        const tpSmallSteps* small = world->stepperState;
        CHECK_NEAR(small->unrest, 1e5 * most, 1e-6 * 1e5 * most);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centresFollowParabolas),   cmocka_unit_test(robotsComeToRestWithFewer),
        cmocka_unit_test(slowRobotsSettle),         cmocka_unit_test(undampedTakesAll),
        cmocka_unit_test(snapshotsKnowTheNeed),     cmocka_unit_test(lawsAreWeighed),
        cmocka_unit_test(unrestIsThatOfTheFastest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
