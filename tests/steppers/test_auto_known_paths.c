// Steps in which the paths of all bodies are known: beside plates that go from keyframe to
// keyframe, beside bodies that sleep, along paths side by side, and from an impact on. Nobody looks
// for contacts in most of them, and what is met is met in time.

#include <string.h>

#include "dynamics/figures.h"
#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01, g = 10.0;

static tpVec3 placeOf(tpWorld* world, const char* name) {
    return tpBody_GetPosition(world, tpWorld_FindBody(world, name));
}

// A ball falls by 1 m on a plate that goes up at .5 m/s for 2 s and stands then, and bounces by .8.
// Keyframes lie at multiples of h, and one between them.
static const char* const lift =
    "{ \"tippe\": 1, \"name\": \"lift\", \"gravity\": [0, 0, -10],"
    " \"materials\": { \"m\": { \"friction\": 0, \"restitution\": 0.8 } }, \"bodies\": ["
    " { \"name\": \"plate\", \"kind\": \"kinematic\", \"material\": \"m\","
    " \"position\": [0, 0, -0.1], \"shapes\": [ { \"type\": \"box\", \"size\": [4, 4, 0.2] } ],"
    " \"keyframes\": [ { \"time\": 0, \"position\": [0, 0, -0.1] },"
    " { \"time\": 0.7, \"position\": [0, 0, 0.25] }, { \"time\": 1.203, \"position\": [0, 0, "
    "0.5015] },"
    " { \"time\": 2, \"position\": [0, 0, 0.9] } ] },"
    " { \"name\": \"ball\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 1.1],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

// Its height above the plate while that goes up: in the frame of the plate it is thrown down.
static double heightAfter(double t) {
    double height = 1.0, speed = -0.5;
    for (;;) {
        double flight = (speed + sqrt(speed * speed + 2.0 * g * height)) / g;
        if (t <= flight) {
            return height + speed * t - 0.5 * g * t * t;
        }
        t -= flight;
        speed = 0.8 * (g * flight - speed);
        height = 0.0;
    }
}

static void liftsAreCalm(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(lift);
    int queryCount = 0;
    for (int i = 1; i < 200; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        queryCount += report.contactQueryCount;
        double height = placeOf(world, "ball").z - 0.1 - (placeOf(world, "plate").z + 0.1);
        CHECK_NEAR(height, heightAfter(i * h), 1e-6);
        CHECK_NEAR(tpBody_GetVelocity(world, tpWorld_FindBody(world, "plate")).z, 0.5, 1e-9);
    }
    print_message("%d queries\n", queryCount);
    assert_true(queryCount < 60);
    tpDestroyWorld(world);
}

// Two balls of .1 m on a floor without friction, one of which lies still.
static const char* const still =
    "{ \"tippe\": 1, \"name\": \"still\", \"gravity\": [0, 0, -10],"
    " \"materials\": { \"m\": { \"friction\": 0, \"restitution\": 1 } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"still\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
    " { \"name\": \"coming\", \"mass\": 1, \"material\": \"m\", \"position\": [-2.2, 0, 0.1],"
    " \"velocity\": [2, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

// The impulse of the floor on both is what they weigh, in every step, asleep or not.
static void checkWeights(tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += contacts[i].normalImpulse * fabs(contacts[i].normal.z);
    }
    assert_int_equal(count, 2);
    CHECK_NEAR(sum, 2.0 * g * h, 1e-8);
}

// Beside one that sleeps the other one goes on as known, and a snapshot goes on alike; it wakes it
// in time: they meet after 1 s.
static void sleepersAreNoTrouble(void** state) {
    (void)state;
    tpWorld *world = makeWorldFrom(still), *other = makeWorldFrom(still);
    int queryCount = 0;
    tpSnapshot* snapshot = NULL;
    for (int i = 1; i <= 150; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        queryCount += i > 20 && i < 95 ? report.contactQueryCount : 0;
        if (i < 95) {
            checkWeights(world);
            assert_int_equal(report.contactCount, 2);
            assert_int_equal(report.sleepingCount, i > 20 || report.sleepingCount > 0 ? 1 : 0);
            CHECK_NEAR(report.potentialAfter, 2.0 * g * 0.1, 1e-8);
        }
        if (i == 50) {
            snapshot = tpWorld_Snapshot(world);
            assert_int_equal(tpWorld_Restore(other, snapshot, NULL), tp_success);
        } else if (i > 50) {
            tpWorld_Step(other, h);
            tpVec3 here = placeOf(world, "coming"), there = placeOf(other, "coming");
            assert_memory_equal(&here, &there, sizeof(here));
        }
        CHECK_NEAR(placeOf(world, "coming").x, fmin(-2.2 + 2.0 * i * h, -0.2), 1e-6);
        CHECK_NEAR(placeOf(world, "still").x, fmax(-2.0 + 2.0 * i * h, 0.0), 1e-6);
    }
    print_message("%d queries\n", queryCount);
    assert_true(queryCount < 30);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(other);
    tpDestroyWorld(world);
}

// Two balls roll side by side at 2 m/s, .3 m apart, and come nearer by 1 mm/s: as far as their
// speeds tell they could meet after five steps.
static const char* const pair =
    "{ \"tippe\": 1, \"name\": \"pair\", \"gravity\": [0, 0, -10],"
    " \"materials\": { \"m\": { \"friction\": 0.5, \"restitution\": 0 } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"left\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0.25, 0.1],"
    " \"velocity\": [2, -0.0005, 0], \"angular_velocity\": [0.005, 20, 0],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
    " { \"name\": \"right\", \"mass\": 1, \"material\": \"m\", \"position\": [0, -0.25, 0.1],"
    " \"velocity\": [2, 0.0005, 0], \"angular_velocity\": [-0.005, 20, 0],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

static void pathsSideBySideAreKnown(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(pair);
    int queryCount = 0;
    for (int i = 1; i <= 200; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        queryCount += report.contactQueryCount;
        CHECK_NEAR(placeOf(world, "left").x, 2.0 * i * h, 1e-7);
        CHECK_NEAR(placeOf(world, "right").y, -0.25 + 0.0005 * i * h, 1e-7);
    }
    print_message("%d queries\n", queryCount);
    assert_true(queryCount < 200);
    tpDestroyWorld(world);
}

// A ball between two walls, 2 m apart for its centre, without gravity: it meets one after .55 s and
// every second then, at 2 m/s. The steps with an impact are taken by events, the others fly.
static const char* const walls =
    "{ \"tippe\": 1, \"name\": \"walls\", \"gravity\": [0, 0, 0],"
    " \"materials\": { \"m\": { \"friction\": 0.3, \"restitution\": 1 } }, \"bodies\": ["
    " { \"name\": \"walls\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [1, 0, 0], \"offset\": -1.1 },"
    " { \"type\": \"plane\", \"normal\": [-1, 0, 0], \"offset\": -1.1 } ] },"
    " { \"name\": \"ball\", \"mass\": 1, \"material\": \"m\", \"position\": [-0.11, 0, 0],"
    " \"velocity\": [2, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

static void impactsAreEvents(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(walls);
    tpBodyId ball = tpWorld_FindBody(world, "ball");
    int eventCount = 0;
    for (int i = 1; i <= 400; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        double way = fmod(0.89 + 2.0 * i * h, 4.0);
        double x = way < 2.0 ? way - 1.0 : 3.0 - way;
        CHECK_NEAR(placeOf(world, "ball").x, x, 1e-7);
        const char* carrier = tpBody_GetCarrier(world, ball);
        bool isEvent = strcmp(carrier, "mirtich-canny") == 0;
        assert_true(isEvent || strcmp(carrier, "free-flight") == 0);
        assert_int_equal(report.figures[tp_collisionFigure] > 0, isEvent);
        eventCount += isEvent ? 1 : 0;
    }
    assert_int_equal(eventCount, 4);
    tpDestroyWorld(world);
}

// A ball at 2 m/s strikes one that lies still, after .053 s, and that one the next one, .005 s
// later: two impacts in one step, one after the other, are events too. (The method went through
// them whole and in halves.)
static void impactsInARowAreEvents(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"row\", \"gravity\": [0, 0, 0],"
        " \"materials\": { \"m\": { \"friction\": 0.3, \"restitution\": 1 } }, \"bodies\": ["
        " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [-0.306, 0, 0],"
        " \"velocity\": [2, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
        " { \"name\": \"b\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
        " { \"name\": \"c\", \"mass\": 1, \"material\": \"m\", \"position\": [0.21, 0, 0],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
    for (int i = 1; i <= 20; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double t = i * h;
        CHECK_NEAR(placeOf(world, "a").x, -0.306 + 2.0 * fmin(t, 0.053), 1e-7);
        CHECK_NEAR(placeOf(world, "b").x, 2.0 * fmin(fmax(t - 0.053, 0.0), 0.005), 1e-7);
        CHECK_NEAR(placeOf(world, "c").x, 0.21 + 2.0 * fmax(t - 0.058, 0.0), 1e-7);
        if (i == 6) {
            assert_int_equal(report.figures[tp_collisionFigure], 2);
            assert_int_equal(report.solveCount, 0);
            assert_int_equal(report.figures[tp_rejectedFigure], 0);
            assert_string_equal(tpBody_GetCarrier(world, tpWorld_FindBody(world, "b")),
                                "mirtich-canny");
        }
    }
    tpDestroyWorld(world);
}

// A ball that lies still from the start sleeps after a few steps, however short these are; one that
// swings does not where it turns round.
static void stillnessIsSeenSoon(void** state) {
    (void)state;
    const double shortStep = 1e-3;
    tpWorld* world = makeWorldFrom(still);
    tpBodyId ball = tpWorld_FindBody(world, "still");
    for (int i = 1; i <= 8; ++i) {
        tpWorld_Step(world, shortStep);
    }
    assert_true(tpBody_IsAsleep(world, ball));
    tpDestroyWorld(world);

    world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"swing\", \"gravity\": [0, 0, -10], \"bodies\": ["
        " { \"name\": \"bob\", \"mass\": 1, \"position\": [0.01, 0, -1],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"joints\": [ { \"name\": \"j\", \"type\": \"revolute\", \"bodies\": [null, \"bob\"],"
        " \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.001, \"until\": 1 } }");
    for (int i = 1; i <= 4000; ++i) {
        tpWorld_Step(world, shortStep);
        assert_false(tpBody_IsAsleep(world, tpWorld_FindBody(world, "bob")));
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(liftsAreCalm),
        cmocka_unit_test(sleepersAreNoTrouble),
        cmocka_unit_test(pathsSideBySideAreKnown),
        cmocka_unit_test(impactsAreEvents),
        cmocka_unit_test(impactsInARowAreEvents),
        cmocka_unit_test(stillnessIsSeenSoon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
