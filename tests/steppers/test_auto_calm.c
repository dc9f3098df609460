// Steps in which nothing can happen: nothing is done in them but moving bodies, and all that does
// happen is still met in time.

#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01;

// Two balls that fly towards each other without gravity, .8 m apart, and meet after 40 steps.
static const char* const flight =
    "{ \"tippe\": 1, \"name\": \"flight\", \"gravity\": [0, 0, 0],"
    " \"materials\": { \"m\": { \"friction\": 0, \"restitution\": 1 } }, \"bodies\": ["
    " { \"name\": \"left\", \"mass\": 1, \"material\": \"m\", \"position\": [-0.5, 0, 0],"
    " \"velocity\": [1, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
    " { \"name\": \"right\", \"mass\": 1, \"material\": \"m\", \"position\": [0.5, 0, 0],"
    " \"velocity\": [-1, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

static double placeOf(tpWorld* world, const char* name) {
    return tpBody_GetPosition(world, tpWorld_FindBody(world, name)).x;
}

static int stepFor(tpWorld* world, int count) {
    int queryCount = 0;
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        queryCount += report.contactQueryCount;
    }
    return queryCount;
}

static void bodiesMeetInTime(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(flight);
    int early = stepFor(world, 20);
    assert_true(early < 5); // nobody looks for contacts in most of them
    stepFor(world, 40);
    // They have met at .4 s and come back.
    CHECK_NEAR(placeOf(world, "left"), -0.3, 1e-9);
    CHECK_NEAR(placeOf(world, "right"), 0.3, 1e-9);
    int late = stepFor(world, 100);
    assert_true(late < 10);
    CHECK_NEAR(placeOf(world, "left"), -1.3, 1e-9);
    tpDestroyWorld(world);
}

// Whatever users do in the meantime counts at once.
static void changesCountAtOnce(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(flight);
    stepFor(world, 10);
    tpBodyId left = tpWorld_FindBody(world, "left");
    tpBody_SetVelocity(world, left, tpMakeVec3(-2.0, 0.0, 0.0), tpZeroVec3());
    stepFor(world, 5);
    CHECK_NEAR(placeOf(world, "left"), -0.5, 1e-12);
    tpBody_ApplyImpulse(world, left, tpMakeVec3(3.0, 0.0, 0.0), tp_worldFrame);
    stepFor(world, 5);
    CHECK_NEAR(placeOf(world, "left"), -0.45, 1e-12);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -2.0));
    stepFor(world, 10);
    CHECK_NEAR(tpBody_GetPosition(world, left).z, -0.01, 1e-12);
    tpWorld_SetGravity(world, tpZeroVec3());
    stepFor(world, 1);

    // A wall in the way of a body that nothing was near to.
    tpBody_SetVelocity(world, left, tpMakeVec3(-1.0, 0.0, 0.0), tpZeroVec3());
    stepFor(world, 10);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    def.position = tpMakeVec3(placeOf(world, "left") - 0.25, 0.0, 0.0);
    tpBodyId wall = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBox box = { tpMakeVec3(0.1, 2.0, 2.0) };
    tpCreateBox(world, wall, &shape, &box, NULL);
    stepFor(world, 40);
    assert_true(placeOf(world, "left") > def.position.x);
    tpDestroyWorld(world);
}

// A ball that bounces for ever on the floor: it leaves as it comes, and nobody looks for contacts
// while it is in the air, near to the floor or not. It bounces at .45 s, and each .9 s later.
static void bouncesAreCalm(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"bounce\", \"gravity\": [0, 0, -9.8765432098765432],"
        " \"materials\": { \"m\": { \"friction\": 0, \"restitution\": 1 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"ball\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 1.1],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
    int busyCount = 0;
    for (int i = 0; i < 360; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.98 * h);
        assert_int_equal(report.violations, 0);
        busyCount += report.contactQueryCount > 0 ? 1 : 0;
    }
    assert_true(busyCount < 20);
    double time = 360 * 0.98 * h - 4 * 0.9;
    double height = tpBody_GetPosition(world, tpWorld_FindBody(world, "ball")).z;
    CHECK_NEAR(height, 1.1 - 0.5 * 9.8765432098765432 * time * time, 1e-6);
    tpDestroyWorld(world);
}

// A snapshot goes on as the world does.
static void snapshotsKeepCalm(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(flight);
    stepFor(world, 10);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpWorld* other = makeWorldFrom(flight);
    assert_int_equal(tpWorld_Restore(other, snapshot, NULL), tp_success);
    for (int i = 0; i < 60; ++i) {
        tpStepReport a = tpWorld_Step(world, h), b = tpWorld_Step(other, h);
        assert_int_equal(a.contactQueryCount, b.contactQueryCount);
        double here = placeOf(world, "left"), there = placeOf(other, "left");
        assert_memory_equal(&here, &there, sizeof(here));
    }
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(other);
    tpDestroyWorld(world);
}

// A world without bodies is calm too.
static void emptyWorldsStep(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    stepFor(world, 10);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    stepFor(world, 10);
    CHECK_NEAR(tpWorld_GetTime(world), 20.0 * h, 1e-12);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// Nobody looks far ahead in a crowd, where all are near to each other after a few steps: that took
// minutes with ten thousand balls.
static void crowdsAreNotCalm(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    for (int i = 0; i < 200; ++i) {
        tpBodyDef ball = tpDefaultBodyDef();
        ball.position = tpMakeVec3(0.5 * (i % 10), 0.5 * (i / 10), 0.0);
        tpShapeDef shape = tpDefaultShapeDef();
        tpCreateSphere(world, tpCreateBody(world, &ball, NULL), &shape, &(tpSphere){ 0.1 }, NULL);
    }
    for (int i = 0; i < 20; ++i) {
        assert_true(tpWorld_Step(world, h).contactQueryCount > 0);
    }
    tpDestroyWorld(world);
}

// A box rests on a slope of 3 in 4 that holds it, with gravity of 10 m/s^2.
static const char* const resting =
    "{ \"tippe\": 1, \"name\": \"rest\", \"gravity\": [0, 0, -10],"
    " \"materials\": { \"m\": { \"friction\": 1 } }, \"bodies\": ["
    " { \"name\": \"slope\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0.6, 0, 0.8], \"offset\": 0 } ] },"
    " { \"name\": \"box\", \"mass\": 1, \"material\": \"m\", \"position\": [0.06, 0, 0.08],"
    " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": 36.869897645844021 },"
    " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

// On the slope, the first of the two: the weight of the box.
static void checkWeight(tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 4);
    tpVec3 sum = tpZeroVec3();
    for (int i = 0; i < count; ++i) {
        sum = tpMulAdd(sum, contacts[i].normalImpulse, contacts[i].normal);
        sum = tpAdd(sum, contacts[i].frictionImpulse);
    }
    CHECK_NEAR(tpLength(tpSub(sum, tpMakeVec3(0.0, 0.0, -10.0 * h))), 0.0, 1e-9);
}

// Where all sleep nobody looks for anything; contacts stay, energies too, and what users do counts
// at once, after a snapshot as well.
static void stillWorldsStay(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(resting);
    stepFor(world, 60);
    assert_int_equal(stepFor(world, 100), 0);
    checkWeight(world);
    tpStepReport report = tpWorld_Step(world, h);
    assert_int_equal(report.sleepingCount, 1);
    assert_int_equal(report.contactCount, 4);
    CHECK_NEAR(report.time, 1.61, 1e-12);
    assert_true(report.kineticAfter == 0.0 && report.potentialAfter == report.potentialBefore);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpBody_ApplyImpulse(world, tpWorld_FindBody(world, "box"), tpMakeVec3(-0.8, 0.0, 0.6),
                        tp_worldFrame);
    stepFor(world, 1);
    double pushed = placeOf(world, "box");
    CHECK_NEAR(pushed, 0.06 - 0.8 * (h - 0.5 * 14.0 * h * h), 1e-6);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    stepFor(world, 1);
    checkWeight(world);
    assert_int_equal(stepFor(world, 3), 0);
    tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, 10.0));
    stepFor(world, 10);
    double height = tpBody_GetPosition(world, tpWorld_FindBody(world, "box")).z;
    CHECK_NEAR(height, 0.08 + 5.0 * 0.01, 1e-6);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesMeetInTime), cmocka_unit_test(changesCountAtOnce),
        cmocka_unit_test(bouncesAreCalm),   cmocka_unit_test(snapshotsKeepCalm),
        cmocka_unit_test(emptyWorldsStep),  cmocka_unit_test(crowdsAreNotCalm),
        cmocka_unit_test(stillWorldsStay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
