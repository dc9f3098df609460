// Mechanisms that have come to rest stay there: feet do not sink or creep, and carry the weight;
// what lies on many points stays on the floor.

#include "support/floor.h"
#include "tippe/joints.h"

enum { legs = 2, corners = 4 };

static const double h = 1.0 / 200.0, footRadius = 0.005;

typedef struct Robot {
    tpWorld* world;
    tpBodyId feet[legs];
    double weight; // N
} Robot;

static tpBodyId addLink(Robot* robot, tpVec3 place, tpVec3 size, double mass) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    tpBodyId body = tpCreateBody(robot->world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.group = 2;
    shape.mask = ~2u; // links do not meet each other
    shape.density = mass / (size.x * size.y * size.z);
    tpCreateBox(robot->world, body, &shape, &(tpBox){ .size = size }, NULL);
    return body;
}

static tpBodyId addWeight(Robot* robot, tpVec3 place, tpVec3 size, double mass) {
    robot->weight += 9.81 * mass;
    return addLink(robot, place, size, mass);
}

// What acts on all hinges.
typedef struct Laws {
    double stiffness, damping, friction; // N m/rad, N m s/rad, N m
} Laws;

static void hinge(tpWorld* world, tpBodyId a, tpBodyId b, tpVec3 anchor, tpVec3 axis,
                  const Laws* laws) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    def.coordinate.hasServo = true;
    def.coordinate.servo = (tpServo){ 0.0, 0.0, laws->stiffness, laws->damping, INFINITY };
    def.coordinate.armature = 0.01;
    def.coordinate.friction = laws->friction;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
}

// A foot touches by four balls.
static void addCorners(Robot* robot, tpBodyId foot, double depth) {
    for (int i = 0; i < corners; ++i) {
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        shape.group = 2;
        shape.mask = ~2u;
        shape.density = 1000.0;
        shape.pose.position =
            tpMakeVec3(i < 2 ? -0.08 : 0.09, i % 2 == 0 ? 0.025 : -0.03, footRadius - 0.03 - depth);
        tpCreateSphere(robot->world, foot, &shape, &(tpSphere){ .radius = footRadius }, NULL);
    }
    robot->weight += 9.81 * tpBody_GetMass(robot->world, foot).mass;
}

// A trunk on two legs of hip, thigh, shank and foot: pitch and roll in the hip and the ankle, pitch
// in the knee.
static Robot makeRobot(const char* substeps, double depth, const Laws* laws) {
    static const tpVec3 pitch = { 0.0, 1.0, 0.0 }, roll = { 1.0, 0.0, 0.0 };
    Robot robot = { .world = worldWithFloor(tp_smallSteps, 0.6, 0.0) };
    tpWorld* world = robot.world;
    assert_int_equal(tpWorld_SetOption(world, "substeps", substeps, NULL), tp_success);
    tpBodyId trunk =
        addWeight(&robot, tpMakeVec3(0.02, 0.01, 1.05), tpMakeVec3(0.2, 0.3, 0.5), 20.0);
    for (int leg = 0; leg < legs; ++leg) {
        double y = leg == 0 ? 0.12 : -0.12;
        tpVec3 hip = tpMakeVec3(0.0, y, 0.75), knee = tpMakeVec3(0.01, y, 0.4),
               ankle = tpMakeVec3(0.0, y, 0.06);
        tpBodyId pelvis = addWeight(&robot, hip, tpMakeVec3(0.08, 0.08, 0.08), 1.5);
        tpBodyId thigh =
            addWeight(&robot, tpMakeVec3(0.0, y, 0.58), tpMakeVec3(0.08, 0.08, 0.3), 2.0);
        tpBodyId shank =
            addWeight(&robot, tpMakeVec3(0.0, y, 0.23), tpMakeVec3(0.06, 0.06, 0.3), 1.7);
        tpBodyId joint = addWeight(&robot, ankle, tpMakeVec3(0.03, 0.03, 0.03), 0.1);
        tpBodyId foot = robot.feet[leg] =
            addLink(&robot, tpMakeVec3(0.03, y, 0.03), tpMakeVec3(0.2, 0.06, 0.03), 0.6);
        addCorners(&robot, foot, depth);
        hinge(world, trunk, pelvis, hip, pitch, laws);
        hinge(world, pelvis, thigh, hip, roll, laws);
        hinge(world, thigh, shank, knee, pitch, laws);
        hinge(world, shank, joint, ankle, pitch, laws);
        hinge(world, joint, foot, ankle, roll, laws);
    }
    return robot;
}

static double loadOf(const tpWorld* world) {
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double impulse = 0.0;
    for (int c = 0; c < count; ++c) {
        impulse += fabs(contacts[c].normalImpulse);
    }
    return impulse / h;
}

// Ten seconds, after two in which it settles: feet stay where they are, to a nanometre per second,
// and every step has its certificate.
static void standStill(const char* substeps, double depth) {
    // Stiffer than one substep can damp.
    static const Laws laws = { 500.0, 10.0, 0.3 };
    Robot robot = makeRobot(substeps, depth, &laws);
    for (int k = 0; k < 400; ++k) {
        tpWorld_Step(robot.world, h);
    }
    tpVec3 places[legs];
    for (int leg = 0; leg < legs; ++leg) {
        places[leg] = tpBody_GetPosition(robot.world, robot.feet[leg]);
    }
    for (int k = 0; k < 2000; ++k) {
        tpStepReport report = tpWorld_Step(robot.world, h);
        assert_int_equal(report.contactCount, legs * corners);
        assert_int_equal(report.violations, 0);
        CHECK_NEAR(loadOf(robot.world) / robot.weight, 1.0, 1e-6);
        for (int leg = 0; leg < legs; ++leg) {
            tpBodyId foot = robot.feet[leg];
            CHECK_BELOW(tpLength(tpBody_GetVelocity(robot.world, foot)), 1e-9);
            CHECK_BELOW(tpDistanceBetween(tpBody_GetPosition(robot.world, foot), places[leg]),
                        1e-8);
        }
    }
    tpDestroyWorld(robot.world);
}

static void robotsStandStill(void** state) {
    (void)state;
    standStill("0", 0.0);
}

// Feet that begin in the floor are pushed out first.
static void robotsThatAreLiftedStandStill(void** state) {
    (void)state;
    standStill("4", 1e-3);
}

// A robot that cannot stand falls, and lies on its links. What takes small overlaps back moves
// joints that dry friction holds; where contacts and joints find no common end for that, points
// stay where they are instead of being pushed into the floor.
static void lieStill(double stiffness) {
    const Laws laws = { stiffness, 0.1 * stiffness, 1.0 };
    Robot robot = makeRobot("4", 0.0, &laws);
    for (int k = 0; k < 1600; ++k) {
        tpStepReport report = tpWorld_Step(robot.world, h);
        if (k >= 800) {
            assert_int_equal(report.violations & 1 << tp_overlapLaw, 0);
            assert_int_equal(report.violations & 1 << tp_energyLaw, 0);
        }
    }
    tpDestroyWorld(robot.world);
}

static void robotsLieStill(void** state) {
    (void)state;
    lieStill(5.0);
    lieStill(6.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robotsStandStill),
        cmocka_unit_test(robotsThatAreLiftedStandStill),
        cmocka_unit_test(robotsLieStill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
