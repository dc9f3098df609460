// Each island that hangs on joints is held against its own energies; springs alone, and what lies
// loose, are not held against anything.

#include "dynamics/island_rises.h"

#include <string.h>

#include "dynamics/forces.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// Bodies on joints to the world: 0 on a ball joint, 1 on a hinge that a spring turns, 2 on a hinge
// with a servo, 3 on a spring alone, 4 on nothing. 8 J and 50 mJ of motion each.
static tpWorld* makeWorld(void) {
    tpWorld* world = worldOf(tp_stewartTrinkle, tpMakeVec3(0.0, 0.0, -10.0));
    for (int i = 0; i < 5; ++i) {
        tpVec3 place = tpMakeVec3(10.0 * i, 0.0, 3.0), moments = tpMakeVec3(0.1, 0.1, 0.1);
        tpBodyDef def = bodyAt(place, 4.0, moments);
        def.velocity = tpMakeVec3(0.0, 2.0, 0.0);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, 1.0);
        tpBodyId body = addBodyOf(world, &def);
        static const tpJointType types[] = { tp_ballJoint, tp_revoluteJoint, tp_revoluteJoint,
                                             tp_springJoint };
        if (i == 4) {
            break;
        }
        tpJointDef joint = jointOf(types[i], theWorld, body, tpMakeVec3(10.0 * i, 0.0, 4.0), axisX);
        joint.anchorB = i == 3 ? place : joint.anchorB;
        joint.coordinate.hasSpring = i == 1 || i == 3;
        joint.coordinate.spring.stiffness = 6.0;
        joint.coordinate.hasServo = i == 2;
        joint.coordinate.servo.stiffness = 6.0;
        joint.coordinate.servo.effort = INFINITY;
        addJoint(world, &joint);
    }
    return world;
}

static const double part = 1e-3, far = 1e9;

// Which bodies are marked, one bit each, after some have got faster by a part of their energy.
static unsigned marked(const double* gains, double rise, double drift) {
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    tpIslandRises rises;
    assert_true(tpIslandRises_Begin(&rises, system));
    for (int i = 0; i < 5; ++i) {
        double factor = sqrt(1.0 + gains[i]);
        system->velocities.data[i].linear.y *= factor;
        system->velocities.data[i].angular.z *= factor;
    }
    bool isMarked[5];
    assert_true(tpIslandRises_Mark(&rises, system, part, rise, 0.0, drift, isMarked));
    unsigned bits = 0;
    for (int i = 0; i < 5; ++i) {
        bits |= isMarked[i] ? 1u << i : 0u;
    }
    tpDestroyWorld(world);
    return bits;
}

// The limit is a thousandth of what moves, 8.05 J, and of a fall by the size of the body, 40 J for
// an arm of 1 m.
static void gainsAreJudgedIslandByIsland(void** state) {
    (void)state;
    const double motion = 8.05, limit = part * (motion + 40.0) / motion;
    CHECK_NEAR(limit, 5.97e-3, 1e-5);
    double below = 0.99 * limit, above = 1.02 * limit;
    // What one loses does not make room for another.
    assert_int_equal(marked((double[5]){ above, -0.5, 0.0, 0.0, 0.0 }, (above - 0.5) * motion, far),
                     1u);
    assert_int_equal(marked((double[5]){ below, below, 0.0, 0.0, 0.0 }, 2.0 * below * motion, far),
                     0u);
    assert_int_equal(marked((double[5]){ 0.0, above, 0.0, 0.0, 0.0 }, above * motion, far), 2u);
    // Springs alone swing, and what lies loose has no joint to blame.
    assert_int_equal(marked((double[5]){ 0.0, 0.0, 0.0, 0.5, 0.5 }, motion, far), 0u);
    assert_int_equal(marked((double[5]){ NAN, 0.0, 0.0, 0.0, 0.0 }, 0.0, far) & 1u, 1u);
}

// Of drives the work of all is known: what the others have gained is not theirs.
static void drivesHaveTheRest(void** state) {
    (void)state;
    const double motion = 8.05, limit = part * (1.2 * motion + 40.0);
    double gains[5] = { -0.1, 0.0, 0.2, 0.0, 0.1 };
    double others = (-0.1 + 0.1) * motion, paid = 0.2 * motion; // by the servo
    assert_int_equal(marked(gains, others + 0.2 * motion - paid, far), 0u);
    assert_int_equal(marked(gains, others + 0.99 * limit, far), 0u);
    assert_int_equal(marked(gains, others + 1.02 * limit, far), 1u << 2);
}

// A spring takes what its body gains.
static void springsAreCounted(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    tpIslandRises rises;
    assert_true(tpIslandRises_Begin(&rises, system));
    CHECK_NEAR(rises.bodies[1], 8.05 + 120.0, 1e-12);
    CHECK_NEAR(rises.joints[1], 0.0, 1e-15);
    CHECK_NEAR(rises.joints[3], 3.0, 1e-12);
    double turn = 0.4, taken = 0.5 * 6.0 * turn * turn;
    system->poses.data[1].rotation = tpQuatExp(tpScale(turn, axisX));
    system->velocities.data[1].linear.y = sqrt(4.0 - taken / 2.0); // 2 kg v^2
    bool isMarked[5];
    assert_true(tpIslandRises_Mark(&rises, system, 1e-12, 0.0, 0.0, far, isMarked));
    assert_false(isMarked[1]);
    system->velocities.data[1].linear.y = 2.0;
    assert_true(tpIslandRises_Mark(&rises, system, part, 0.0, 0.0, far, isMarked));
    assert_true(isMarked[1]);
    tpDestroyWorld(world);
}

// Joints that are apart mark their own bodies, however little these have gained.
static void tornJointsAreMarked(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    tpIslandRises rises;
    assert_true(tpIslandRises_Begin(&rises, system));
    system->poses.data[0].position.x += 1e-3;
    system->poses.data[3].position.x += 1e-3; // nothing is held there
    bool isMarked[5];
    assert_true(tpIslandRises_Mark(&rises, system, part, 0.0, 0.0, 1e-4, isMarked));
    const bool expected[5] = { true, false, false, false, false };
    assert_memory_equal(isMarked, expected, sizeof(expected));
    tpDestroyWorld(world);
}

// What is left of a rise for those that have pushed, after bodies have gained parts of their
// motion.
static double unpaid(const double* gains, double rise, void (*push)(tpSystem* system)) {
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    for (int i = 0; i < 5; ++i) {
        double factor = sqrt(1.0 + gains[i]);
        system->velocities.data[i].linear.y *= factor;
        system->velocities.data[i].angular.z *= factor;
    }
    system->poses.data[3].position.x += 0.1; // the spring is not what it was at the start
    push(system);
    tpIslandRises rises;
    assert_true(tpIslandRises_BeginAt(&rises, system, &start));
    CHECK_NEAR(rises.bodies[1], 8.05 + 120.0, 1e-12);
    CHECK_NEAR(rises.joints[3], 3.0, 1e-12);
    double left = tpIslandRises_Unpaid(&rises, system, rise);
    tpDestroyWorld(world);
    return left;
}

static void nobody(tpSystem* system) {
    (void)system;
}

static void limitOfTheFirstHinge(tpSystem* system) {
    tpCoordinate* coordinate = &system->joints.data[1].coordinates[0];
    coordinate->def.hasLimits = true;
    coordinate->limitEffort = 0.1;
}

static void freeLimitOfTheFirstHinge(tpSystem* system) {
    limitOfTheFirstHinge(system);
    system->joints.data[1].coordinates[0].limitEffort = 0.0;
}

static void boundedServo(tpSystem* system) {
    tpCoordinate* coordinate = &system->joints.data[2].coordinates[0];
    coordinate->def.servo.effort = 1e3;
    coordinate->effort = -1.0;
}

static void contactOfTheLast(tpSystem* system) {
    static tpContactInfo contact;
    memset(&contact, 0, sizeof(contact));
    contact.bodyA.slot = 5;
    contact.normalImpulse = 1.0;
    TP_RESERVE(&system->allocator, system->contacts, 1);
    system->contacts.data[0] = contact;
    system->contacts.count = 1;
}

// Only islands in which something has pushed one way have to pay; what they gained is known, or it
// is what the others leave of the rise.
static void whoPushesPays(void** state) {
    (void)state;
    const double motion = 8.05, bend = 0.5 * 6.0 * 0.01;
    const double gains[5] = { 0.1, 0.2, 0.3, 0.4, 0.5 };
    double rise = 1.5 * motion + bend;
    CHECK_NEAR(unpaid(gains, rise, nobody), 0.0, 0.0);
    CHECK_NEAR(unpaid(gains, rise, freeLimitOfTheFirstHinge), 0.0, 0.0);
    CHECK_NEAR(unpaid(gains, rise, limitOfTheFirstHinge), 0.2 * motion, 1e-12);
    CHECK_NEAR(unpaid(gains, rise, boundedServo), 0.3 * motion, 1e-12);
    CHECK_NEAR(unpaid(gains, rise, contactOfTheLast), 0.5 * motion, 1e-12);
    // Losses of others pay for nothing.
    const double traded[5] = { -0.9, 0.2, 0.0, 0.0, 0.0 };
    CHECK_NEAR(unpaid(traded, -0.7 * motion + bend, limitOfTheFirstHinge), 0.2 * motion, 1e-12);
    // Nobody has a kilojoule that is booked.
    CHECK_NEAR(unpaid(gains, rise + 1e3, nobody), 0.3 * motion + 1e3, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gainsAreJudgedIslandByIsland),
        cmocka_unit_test(drivesHaveTheRest),
        cmocka_unit_test(springsAreCounted),
        cmocka_unit_test(tornJointsAreMarked),
        cmocka_unit_test(whoPushesPays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
