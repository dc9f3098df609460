// Islands that sleep: when they fall asleep, what wakes them, and that nothing else changes.

#include <string.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/joints.h"

static const double h = 1.0 / 60.0;

typedef struct Yard {
    tpWorld* world;
    tpBodyId floor, lift;       // the lift is kinematic, beside the piles
    tpBodyId left[3], right[3]; // two piles of cubes, 4 m apart
    bool hasForces;
} Yard;

static tpBodyId addCube(tpWorld* world, const tpShapeDef* shape, double x, double z) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(x, 0.0, z);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpBox box = { { 1.0, 1.0, 1.0 } };
    tpCreateBox(world, body, shape, &box, NULL);
    return body;
}

static Yard makeYard(const char* sleep, tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    Yard yard;
    memset(&yard, 0, sizeof(yard));
    yard.world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(yard.world, "sleep", sleep, NULL), tp_success);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = tpCreateMaterial(yard.world, &material, NULL);
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    yard.floor = tpCreateBody(yard.world, &body, NULL);
    tpCreatePlane(yard.world, yard.floor, &shape, &plane, NULL);
    body.kind = tp_kinematicBody;
    body.position = tpMakeVec3(-8.0, 0.0, 0.5);
    yard.lift = tpCreateBody(yard.world, &body, NULL);
    tpBox box = { { 1.0, 1.0, 1.0 } };
    tpCreateBox(yard.world, yard.lift, &shape, &box, NULL);
    for (int i = 0; i < 3; ++i) {
        yard.left[i] = addCube(yard.world, &shape, -2.0, 0.5 + i);
        yard.right[i] = addCube(yard.world, &shape, 2.0, 0.5 + i);
    }
    return yard;
}

// Steps that account for their energy; in real time, and for forces on what friction holds, no step
// does.
static tpStepReport stepOn(const Yard* yard, int steps) {
    tpStepReport report;
    memset(&report, 0, sizeof(report));
    for (int k = 0; k < steps; ++k) {
        report = tpWorld_Step(yard->world, h);
        assert_false(report.undone);
        if (tpWorld_GetStepper(yard->world) == tp_smallSteps || yard->hasForces) {
            continue;
        }
        double change = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                        report.potentialBefore;
        double known = report.externalWork - report.frictionLoss - report.impactLoss;
        CHECK_NEAR(change, known, 1e-8);
    }
    return report;
}

static bool sleeps(const Yard* yard, const tpBodyId pile[3]) {
    bool first = tpBody_IsAsleep(yard->world, pile[0]);
    for (int i = 1; i < 3; ++i) {
        assert_int_equal(tpBody_IsAsleep(yard->world, pile[i]), first);
    }
    return first;
}

static Yard makeSleepingYard(void) {
    Yard yard = makeYard("true", tp_benderSchmitt);
    tpStepReport report = stepOn(&yard, 45);
    assert_int_equal(report.sleepingCount, 6);
    assert_true(sleeps(&yard, yard.left) && sleeps(&yard, yard.right));
    return yard;
}

// The force of the floor on both piles, N.
static double weightOnFloor(const Yard* yard, double step) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(yard->world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        bool isOnFloor = contacts[i].bodyB.slot == yard->floor.slot ||
                         contacts[i].bodyA.slot == yard->floor.slot;
        sum += isOnFloor ? contacts[i].normalImpulse / step : 0.0;
    }
    return sum;
}

static void quietIslandsFallAsleep(void** state) {
    (void)state;
    static const tpStepperId ways[] = { tp_benderSchmitt, tp_smallSteps };
    for (int way = 0; way < 2; ++way) {
        Yard yard = makeYard("true", ways[way]);
        // Not before half a second.
        tpStepReport report = stepOn(&yard, 28);
        assert_int_equal(report.sleepingCount, 0);
        // Soft contacts take a little longer to come to rest.
        report = stepOn(&yard, way == 0 ? 30 : 45);
        assert_int_equal(report.sleepingCount, 6);
        uint64_t before = tpWorld_HashState(yard.world);
        int contacts = report.contactCount;
        assert_int_equal(contacts, 24);
        report = stepOn(&yard, 60);
        assert_true(tpWorld_HashState(yard.world) == before);
        // Contacts, forces and energy are those of bodies that rest.
        assert_int_equal(report.contactCount, contacts);
        CHECK_NEAR(weightOnFloor(&yard, h), 6000.0 * 9.81, way == 0 ? 1e-5 : 100.0);
        report = tpWorld_Step(yard.world, 0.25 * h);
        CHECK_NEAR(weightOnFloor(&yard, 0.25 * h), 6000.0 * 9.81, way == 0 ? 1e-5 : 100.0);
        assert_int_equal(report.iterationCount, 0);
        int count;
        const tpContactInfo* listed = tpWorld_GetContacts(yard.world, &count);
        double deepest = 0.0;
        for (int i = 0; i < count; ++i) {
            deepest = fmax(deepest, -listed[i].gap);
        }
        assert_true(deepest > (way == 0 ? 0.0 : 1e-5) && report.penetration == deepest);
        // In real time piles stand a millimetre deep in each other.
        CHECK_NEAR(report.kineticAfter + report.potentialAfter, 2.0 * 4500.0 * 9.81,
                   way == 0 ? 1e-5 : 200.0);
        tpDestroyWorld(yard.world);
    }
}

static void moversWake(void** state) {
    (void)state;
    // A ball that rolls by far away wakes nobody; one that comes near wakes the pile it hits.
    Yard yard = makeSleepingYard();
    tpWorld* world = yard.world;
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(8.0, 6.0, 0.4);
    def.velocity = tpMakeVec3(-8.0, 0.0, 0.0);
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpSphere sphere = { .radius = 0.4 };
    tpCreateSphere(world, ball, &shape, &sphere, NULL);
    assert_int_equal(stepOn(&yard, 1).sleepingCount, 6);
    stepOn(&yard, 40);
    assert_true(sleeps(&yard, yard.left) && sleeps(&yard, yard.right));
    assert_false(tpBody_IsAsleep(world, ball));
    tpPose pose = tpMakePose(tpMakeVec3(5.0, 0.0, 0.4), tpIdentityQuat());
    tpBody_SetPose(world, ball, pose);
    double x = tpBody_GetPosition(world, yard.right[0]).x;
    int waited = 0;
    while (sleeps(&yard, yard.right)) {
        stepOn(&yard, 1);
        assert_true(++waited < 30);
    }
    // It wakes in time to be hit, not after.
    CHECK_BELOW(fabs(tpBody_GetPosition(world, yard.right[0]).x - x), 0.2);
    assert_true(waited > 10);
    stepOn(&yard, 5);
    assert_true(tpBody_GetPosition(world, yard.right[0]).x < x - 1e-3);
    assert_true(sleeps(&yard, yard.left));
    tpDestroyWorld(world);
}

static void usersWake(void** state) {
    (void)state;
    // A velocity, a place, gravity, and a support that is moved.
    for (int cause = 0; cause < 4; ++cause) {
        Yard yard = makeSleepingYard();
        tpWorld* world = yard.world;
        tpPose pose = tpBody_GetPose(world, yard.left[2]);
        bool wakesAll = cause >= 2;
        if (cause == 0) {
            tpBody_SetVelocity(world, yard.left[2], tpMakeVec3(0.0, 0.01, 0.0), tpZeroVec3());
        } else if (cause == 1) {
            pose.position.z += 0.1;
            tpBody_SetPose(world, yard.left[2], pose);
        } else if (cause == 2) {
            tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -5.0));
        } else {
            pose = tpMakePose(tpMakeVec3(0.0, 0.0, -0.1), tpIdentityQuat());
            tpBody_SetPose(world, yard.floor, pose);
        }
        stepOn(&yard, 1);
        assert_false(sleeps(&yard, yard.left));
        assert_int_equal(sleeps(&yard, yard.right), !wakesAll);
        // And rests again, later.
        stepOn(&yard, 120);
        assert_true(sleeps(&yard, yard.left) && sleeps(&yard, yard.right));
        tpDestroyWorld(world);
    }
}

static void forcesWake(void** state) {
    (void)state;
    Yard yard = makeYard("true", tp_benderSchmitt);
    tpForceDef def = tpDefaultForceDef();
    def.body = yard.left[2];
    def.force = tpMakeVec3(200.0, 0.0, 0.0);
    def.from = 1.0;
    def.to = 1.5;
    tpCreateForce(yard.world, &def, NULL);
    yard.hasForces = true;
    stepOn(&yard, 45);
    assert_true(sleeps(&yard, yard.left));
    stepOn(&yard, 20); // past a second
    assert_false(sleeps(&yard, yard.left));
    assert_true(sleeps(&yard, yard.right));
    stepOn(&yard, 120);
    assert_true(sleeps(&yard, yard.left));
    tpDestroyWorld(yard.world);
}

static void structureWakes(void** state) {
    (void)state;
    Yard yard = makeSleepingYard();
    tpDestroyBody(yard.world, yard.left[0]); // under the two others
    double z = tpBody_GetPosition(yard.world, yard.left[1]).z;
    stepOn(&yard, 1);
    assert_false(tpBody_IsAsleep(yard.world, yard.left[1]));
    assert_true(sleeps(&yard, yard.right)); // which has nothing to do with it
    stepOn(&yard, 120);
    CHECK_NEAR(tpBody_GetPosition(yard.world, yard.left[1]).z, z - 1.0, 1e-6);
    assert_true(tpBody_IsAsleep(yard.world, yard.left[1]));
    // A joint pulls at once.
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_springJoint;
    joint.bodyA = yard.floor;
    joint.bodyB = yard.right[2];
    joint.anchorA = tpMakeVec3(2.0, 0.0, 6.0);
    joint.anchorB = tpMakeVec3(2.0, 0.0, 3.0);
    joint.coordinate.hasSpring = true;
    joint.coordinate.spring.stiffness = 1e5;
    joint.coordinate.spring.rest = 1.0;
    tpJointId spring = tpCreateJoint(yard.world, &joint, NULL);
    assert_true(tpJoint_IsValid(yard.world, spring));
    stepOn(&yard, 8);
    assert_true(tpBody_GetPosition(yard.world, yard.right[2]).z > 3.0);
    tpDestroyWorld(yard.world);
}

// A body that comes far away wakes nobody; one that falls on a pile wakes it, and a shape on the
// floor wakes all.
static void newcomersWake(void** state) {
    (void)state;
    Yard yard = makeSleepingYard();
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    addCube(yard.world, &shape, -8.0, 5.0);
    stepOn(&yard, 2);
    assert_true(sleeps(&yard, yard.left) && sleeps(&yard, yard.right));
    tpBodyId rider = addCube(yard.world, &shape, 2.0, 3.6);
    stepOn(&yard, 30);
    assert_true(sleeps(&yard, yard.left));
    assert_false(tpBody_IsAsleep(yard.world, yard.right[2]));
    tpDestroyBody(yard.world, rider);
    stepOn(&yard, 90);
    assert_true(sleeps(&yard, yard.right));
    tpPlane wall = { .normal = { 1.0, 0.0, 0.0 }, .offset = -50.0 };
    tpCreatePlane(yard.world, yard.floor, &shape, &wall, NULL);
    stepOn(&yard, 1);
    assert_false(sleeps(&yard, yard.left) || sleeps(&yard, yard.right));
    tpDestroyWorld(yard.world);
}

static void liftsWake(void** state) {
    (void)state;
    // One cube stands on the lift; the lift sets off, and comes near the left pile.
    Yard yard = makeYard("true", tp_benderSchmitt);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyId rider = addCube(yard.world, &shape, -8.0, 1.5);
    stepOn(&yard, 45);
    assert_true(tpBody_IsAsleep(yard.world, rider) && sleeps(&yard, yard.left));
    tpBody_SetVelocity(yard.world, yard.lift, tpMakeVec3(0.0, 0.0, -0.5), tpZeroVec3());
    stepOn(&yard, 30);
    assert_false(tpBody_IsAsleep(yard.world, rider));
    CHECK_NEAR(tpBody_GetPosition(yard.world, rider).z, 1.25, 1e-6);
    // Moving a kinematic body is a disturbance to all; going on is not.
    stepOn(&yard, 40);
    assert_true(sleeps(&yard, yard.left));
    tpBody_SetVelocity(yard.world, yard.lift, tpMakeVec3(2.0, 0.0, 0.0), tpZeroVec3());
    tpPose pose = tpMakePose(tpMakeVec3(-8.0, 0.0, 0.5), tpIdentityQuat());
    tpBody_SetPose(yard.world, yard.lift, pose);
    stepOn(&yard, 45);
    assert_true(sleeps(&yard, yard.left));
    stepOn(&yard, 120);
    assert_false(sleeps(&yard, yard.left));
    assert_true(tpBody_GetPosition(yard.world, yard.left[0]).x > -2.0 + 0.01);
    tpDestroyWorld(yard.world);
}

static tpBodyId addWheel(tpWorld* world, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
    return tpCreateBody(world, &def, NULL);
}

static tpJointId addHinge(tpWorld* world, tpBodyId a, tpBodyId b, tpVec3 anchor) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    tpJointId joint = tpCreateJoint(world, &def, NULL);
    assert_true(tpJoint_IsValid(world, joint));
    return joint;
}

// A crank that turns by a timetable: the wheel on its rim, and the one that a gear couples to it
// without touching it, sleep until it sets off, follow it, and do not fall asleep before it stops.
// A wheel that has nothing to do with it sleeps on.
static void timetablesWake(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_benderSchmitt;
    worldDef.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&worldDef);
    assert_int_equal(tpWorld_SetOption(world, "sleep", "true", NULL), tp_success);
    const tpBodyId ground = { 0, 0 };
    tpKeyframe frames[4] = { { .time = 0.0 }, { .time = 1.0 }, { .time = 3.0 }, { .time = 9.0 } };
    for (int i = 0; i < 4; ++i) {
        tpVec3 turn = tpMakeVec3(0.0, 0.0, i < 2 ? 0.0 : 1.0);
        frames[i].pose = tpMakePose(tpZeroVec3(), tpQuatExp(turn));
    }
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.keyframes = frames;
    def.keyframeCount = 4;
    tpBodyId crank = tpCreateBody(world, &def, NULL);
    tpBodyId rider = addWheel(world, tpMakeVec3(1.0, 0.0, 0.0));
    tpBodyId geared = addWheel(world, tpMakeVec3(0.0, 3.0, 0.0));
    tpBodyId idle = addWheel(world, tpMakeVec3(0.0, -3.0, 0.0));
    addHinge(world, crank, rider, tpMakeVec3(1.0, 0.0, 0.0));
    addHinge(world, ground, idle, tpMakeVec3(0.0, -3.0, 0.0));
    tpCouplingTerm terms[2] = { { addHinge(world, ground, crank, tpZeroVec3()), 0, 2.0 },
                                { addHinge(world, ground, geared, tpMakeVec3(0.0, 3.0, 0.0)), 0,
                                  1.0 } };
    tpCouplingDef gear = tpDefaultCouplingDef();
    gear.terms = terms;
    gear.termCount = 2;
    gear.hasValue = true;
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &gear, NULL)));
    for (int k = 1; k <= 300; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.converged);
        bool isTold = k > 60 && k <= 180, isQuiet = (k > 45 && k <= 60) || k > 240;
        assert_true(!isTold || !tpBody_IsAsleep(world, rider));
        assert_true(!isTold || !tpBody_IsAsleep(world, geared));
        assert_true(!isQuiet || tpBody_IsAsleep(world, rider));
        assert_true(!isQuiet || tpBody_IsAsleep(world, geared));
        assert_true(k <= 45 || tpBody_IsAsleep(world, idle));
        double turn = 0.5 * fmin(fmax(k * h - 1.0, 0.0), 2.0);
        CHECK_VEC3(tpBody_GetPosition(world, rider), tpMakeVec3(cos(turn), sin(turn), 0.0), 1e-4);
        tpVec3 angle = tpQuatLog(tpBody_GetRotation(world, geared));
        CHECK_VEC3(angle, tpMakeVec3(0.0, 0.0, -2.0 * turn), 1e-4);
    }
    tpDestroyWorld(world);
}

static void snapshotsKnowWhoSleeps(void** state) {
    (void)state;
    Yard yard = makeSleepingYard();
    tpBody_SetVelocity(yard.world, yard.left[2], tpMakeVec3(0.5, 0.0, 0.0), tpZeroVec3());
    stepOn(&yard, 3);
    tpSnapshot* snapshot = tpWorld_Snapshot(yard.world);
    assert_non_null(snapshot);
    uint64_t hashes[2];
    double weights[2];
    int sleeping[2];
    for (int run = 0; run < 2; ++run) {
        if (run == 1) {
            assert_int_equal(tpWorld_Restore(yard.world, snapshot, NULL), tp_success);
            assert_true(sleeps(&yard, yard.right));
            assert_false(sleeps(&yard, yard.left));
        }
        stepOn(&yard, 20);
        sleeping[run] = sleeps(&yard, yard.right);
        weights[run] = weightOnFloor(&yard, h);
        tpBody_SetVelocity(yard.world, yard.right[2], tpMakeVec3(0.0, 0.7, 0.0), tpZeroVec3());
        stepOn(&yard, 90);
        hashes[run] = tpWorld_HashState(yard.world);
    }
    assert_true(sleeping[0] && sleeping[1]);
    assert_true(weights[0] == weights[1]);
    assert_true(hashes[0] == hashes[1]);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(yard.world);
}

// Until somebody sleeps, and while nobody does, it is the same motion bit for bit.
static void sleepChangesNothingElse(void** state) {
    (void)state;
    Yard with = makeYard("true", tp_benderSchmitt), without = makeYard("false", tp_benderSchmitt);
    const Yard* yards[2] = { &with, &without };
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(tpWorld_SetOption(yards[i]->world, "sleep_time", "2", NULL), tp_success);
        tpBody_SetVelocity(yards[i]->world, yards[i]->left[2], tpMakeVec3(2.0, 0.0, 0.0),
                           tpMakeVec3(0.0, 0.3, 0.1));
    }
    for (int k = 0; k < 90; ++k) {
        stepOn(&with, 1);
        stepOn(&without, 1);
        assert_true(tpWorld_HashState(with.world) == tpWorld_HashState(without.world));
    }
    // Another stepper, or the option off: all are awake.
    stepOn(&with, 300);
    assert_true(sleeps(&with, with.right));
    assert_int_equal(tpWorld_SetOption(with.world, "sleep", "false", NULL), tp_success);
    assert_int_equal(stepOn(&with, 1).sleepingCount, 0);
    assert_false(sleeps(&with, with.right));
    tpDestroyWorld(with.world);
    tpDestroyWorld(without.world);
}

static void otherSteppersFindAllAwake(void** state) {
    (void)state;
    Yard yard = makeSleepingYard();
    assert_int_equal(tpWorld_SetStepper(yard.world, tp_anitescu), tp_success);
    assert_false(sleeps(&yard, yard.left));
    tpBody_SetVelocity(yard.world, yard.left[2], tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3());
    stepOn(&yard, 10);
    assert_true(tpBody_GetPosition(yard.world, yard.left[2]).x > -2.0 + 0.05);
    CHECK_NEAR(weightOnFloor(&yard, h), 6000.0 * 9.81, 1e-3);
    tpDestroyWorld(yard.world);
}

// Each request of the steps around falling asleep and waking refused once: the step says so,
// nothing is lost, and the world goes on.
static void refusedMemoryIsSurvived(void** state) {
    (void)state;
    int refused = 0;
    for (int n = 1;; ++n) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = tp_benderSchmitt;
        def.allocator = allocator;
        tpWorld* world = tpCreateWorld(&def);
        assert_int_equal(tpWorld_SetOption(world, "sleep", "true", NULL), tp_success);
        assert_int_equal(tpWorld_SetOption(world, "sleep_time", "0.05", NULL), tp_success);
        tpShapeDef shape = tpDefaultShapeDef();
        tpBodyDef body = tpDefaultBodyDef();
        body.kind = tp_fixedBody;
        tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
        tpCreatePlane(world, tpCreateBody(world, &body, NULL), &shape, &plane, NULL);
        tpBodyId cubes[2] = { addCube(world, &shape, 0.0, 0.5), addCube(world, &shape, 0.0, 1.5) };
        heap.requests = 0;
        heap.failAt = n;
        bool isAsleep = false;
        for (int k = 0; k < 12; ++k) {
            tpStepReport report = tpWorld_Step(world, h);
            refused += report.undone ? 1 : 0;
            if (k == 7) {
                isAsleep = tpBody_IsAsleep(world, cubes[0]);
                tpBody_SetVelocity(world, cubes[1], tpMakeVec3(0.0, 0.0, 0.1), tpZeroVec3());
            }
        }
        bool isTried = heap.requests < n;
        heap.failAt = 0;
        assert_true(isAsleep || !isTried);
        for (int k = 0; k < 60; ++k) {
            assert_false(tpWorld_Step(world, h).undone);
        }
        assert_true(tpBody_IsAsleep(world, cubes[0]) && tpBody_IsAsleep(world, cubes[1]));
        CHECK_NEAR(tpBody_GetMass(world, cubes[0]).mass, 1000.0, 1e-9);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
        if (isTried) {
            break;
        }
    }
    print_message("%d steps were refused memory\n", refused);
    assert_true(refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quietIslandsFallAsleep),
        cmocka_unit_test(moversWake),
        cmocka_unit_test(usersWake),
        cmocka_unit_test(forcesWake),
        cmocka_unit_test(structureWakes),
        cmocka_unit_test(newcomersWake),
        cmocka_unit_test(liftsWake),
        cmocka_unit_test(timetablesWake),
        cmocka_unit_test(snapshotsKnowWhoSleeps),
        cmocka_unit_test(sleepChangesNothingElse),
        cmocka_unit_test(otherSteppersFindAllAwake),
        cmocka_unit_test(refusedMemoryIsSurvived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
