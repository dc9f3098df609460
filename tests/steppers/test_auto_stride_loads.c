// Strides through contacts that stay: bodies are where closed forms have them in every step of the
// user, with the forces that hold them there, and the account of energy closes.

#include "dynamics/figures.h"
#include "support/scene_text.h"
#include "tippe/world.h"

static const double g = 9.81, h = 5e-3;

// A ball of 2 kg and .1 m on a slope.
static const char* const slope =
    "{ \"tippe\": 1, \"name\": \"slope\", \"gravity\": [4.905, 0, -8.495709211125343],"
    " \"materials\": { \"m\": { \"friction\": 0.5 } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": "
    "\"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"ball\", \"mass\": 2, \"material\": \"m\", \"position\": [0, 0, 0.1],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 2 } }";

static tpBodyId ballOf(tpWorld* world) {
    return tpWorld_FindBody(world, "ball");
}

// 1 if the ball is body A of the contact, on which its impulses act, else -1.
static double sideOf(tpWorld* world, const tpContactInfo* contact) {
    return contact->bodyA.slot == ballOf(world).slot ? 1.0 : -1.0;
}

// Rolling, with 5/7 of the acceleration of a body that slides without friction: half of g is along.
static void rollingIsFollowed(void** state) {
    (void)state;
    const double pull = 5.0 / 7.0 * 0.5 * g, weight = 2.0 * g * 0.8660254037844386;
    tpWorld* world = makeWorldFrom(slope);
    tpVec3 last = tpZeroVec3();
    int freeCount = 0;
    for (int i = 1; i <= 300; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double time = i * h;
        freeCount += report.substepCount == 0 ? 1 : 0;
        tpVec3 place = tpBody_GetPosition(world, ballOf(world));
        CHECK_NEAR(place.x, 0.5 * pull * time * time, 1e-6);
        CHECK_NEAR(place.z, 0.1, 1e-9);
        CHECK_NEAR(tpBody_GetVelocity(world, ballOf(world)).x, pull * time, 1e-6);
        assert_int_equal(report.violations, 0);
        assert_int_equal(report.contactCount, 1);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        assert_int_equal(count, 1);
        CHECK_NEAR(contacts[0].normalImpulse / h, weight, 1e-6 * weight);
        CHECK_NEAR(tpLength(contacts[0].frictionImpulse) / h, 2.0 / 7.0 * g, 1e-5);
        if (report.substepCount == 0) {
            CHECK_NEAR(contacts[0].point.x, place.x, 1e-9);
        }
        assert_int_equal(contacts[0].state, tp_sticking);
        tpVec3 velocity = tpBody_GetVelocity(world, ballOf(world));
        double gained = 2.0 * (velocity.x - last.x - 0.5 * g * h);
        CHECK_NEAR(contacts[0].frictionImpulse.x * sideOf(world, contacts), gained, 1e-12);
        last = velocity;
    }
    assert_true(freeCount > 250);
    tpDestroyWorld(world);
}

// A ball that slides at first and rolls from 2 v / (7 mu g) on, at 5/7 of its speed.
static const char* const bowling =
    "{ \"tippe\": 1, \"name\": \"bowling\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": 0.2 } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": "
    "\"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"ball\", \"mass\": 2, \"material\": \"m\", \"position\": [0, 0, 0.1],"
    " \"velocity\": [7, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 2 } }";

static void slidingEndsWhereItShould(void** state) {
    (void)state;
    const double slow = 0.2 * g, end = 2.0 / slow;
    tpWorld* world = makeWorldFrom(bowling);
    double lost = 0.0, first = 0.5 * 2.0 * 49.0, energy = first;
    int freeCount = 0;
    for (int i = 1; i <= 400; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double time = i * h, sliding = fmin(time, end);
        double right = 7.0 * sliding - 0.5 * slow * sliding * sliding + 5.0 * (time - sliding);
        CHECK_NEAR(tpBody_GetPosition(world, ballOf(world)).x, right, 1e-4);
        assert_int_equal(report.violations, 0);
        freeCount += report.substepCount == 0 ? 1 : 0;
        lost += report.frictionLoss + report.impactLoss;
        energy = report.kineticAfter;
        CHECK_NEAR(first - lost, energy, 1e-9 * first);
    }
    assert_true(freeCount > 300);
    CHECK_NEAR(lost, 2.0 / 7.0 * first, 1e-4 * first);
    tpDestroyWorld(world);
}

// A ball on a platter that turns evenly goes around at 2/7 of its rate, until the platter stops.
static const char* const platter =
    "{ \"tippe\": 1, \"name\": \"platter\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": 1 } }, \"bodies\": ["
    " { \"name\": \"platter\", \"kind\": \"kinematic\", \"material\": \"m\", \"position\": [0, 0, "
    "-0.1],"
    " \"angular_velocity\": [0, 0, 3.5], \"shapes\": [ { \"type\": \"box\", \"size\": [4, 4, 0.2] "
    "} ] },"
    " { \"name\": \"ball\", \"mass\": 1, \"material\": \"m\", \"position\": [0.5, 0, 0.1],"
    " \"velocity\": [0, 0.5, 0], \"angular_velocity\": [12.5, 0, 0],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 2 } }";

static void whatMovesEvenlyCarries(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(platter);
    int freeCount = 0;
    for (int i = 1; i <= 400; ++i) {
        freeCount += tpWorld_Step(world, h).substepCount == 0 ? 1 : 0;
        double angle = i * h; // 2/7 of 3.5 rad/s
        tpVec3 right = tpMakeVec3(0.5 * cos(angle), 0.5 * sin(angle), 0.1);
        CHECK_VEC3(tpBody_GetPosition(world, ballOf(world)), right, 1e-3);
    }
    assert_true(freeCount > 250);
    tpBodyId carrier = tpWorld_FindBody(world, "platter");
    tpBody_SetVelocity(world, carrier, tpZeroVec3(), tpZeroVec3());
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, h);
    }
    // It goes at .5 m/s and turns the other way at 1.25 m/s: friction takes 5/7 of the one and 2/7
    // of the other, and nothing is left.
    CHECK_VEC3(tpBody_GetVelocity(world, ballOf(world)), tpZeroVec3(), 5e-3);
    tpDestroyWorld(world);
}

// A snapshot within a stride, as bytes in another world: the same bits and the same contacts.
static void snapshotsKeepLoads(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(slope);
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, h);
    }
    while (tpWorld_Step(world, h).substepCount > 0) {
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    size_t size;
    const void* bytes = tpSnapshot_GetBytes(snapshot, &size);
    tpSnapshot* copy = tpCreateSnapshot(bytes, size, NULL, NULL);
    assert_non_null(copy);
    tpWorld* other = makeWorldFrom(slope);
    assert_int_equal(tpWorld_Restore(other, copy, NULL), tp_success);
    for (int i = 0; i < 150; ++i) {
        tpStepReport a = tpWorld_Step(world, h), b = tpWorld_Step(other, h);
        tpVec3 here = tpBody_GetPosition(world, ballOf(world));
        tpVec3 there = tpBody_GetPosition(other, ballOf(other));
        assert_memory_equal(&here, &there, sizeof(here));
        assert_int_equal(a.substepCount, b.substepCount);
        int count, otherCount;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        const tpContactInfo* others = tpWorld_GetContacts(other, &otherCount);
        assert_int_equal(count, otherCount);
        CHECK_NEAR(contacts[0].normalImpulse, others[0].normalImpulse, 0.0);
    }
    tpDestroySnapshot(copy);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(other);
    tpDestroyWorld(world);
}

// An ellipsoid rocks on the back of another one that is fixed.
static const char* const rocking =
    "{ \"tippe\": 1, \"name\": \"rocking\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": 3 } }, \"bodies\": ["
    " { \"name\": \"large\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": [ { \"type\": "
    "\"ellipsoid\", \"radii\": [3, 2, 1] } ] },"
    " { \"name\": \"small\", \"density\": 1000, \"material\": \"m\", \"position\": [0, 0, 1.1],"
    " \"velocity\": [0.05, -0.03, 0], \"angular_velocity\": [0.3, 0.5, 1],"
    " \"shapes\": [ { \"type\": \"ellipsoid\", \"radii\": [0.3, 0.2, 0.1] } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 1 } }";

// The work of a second at an accuracy, and the strides that were refused.
static double rockingWork(const char* accuracy, int* refusedCount) {
    tpWorld* world = makeWorldFrom(rocking);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    double work = 0.0;
    *refusedCount = 0;
    for (int i = 0; i < 200; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        work += report.work;
        *refusedCount += report.figures[tp_rejectedFigure];
        assert_int_equal(report.violations, 0);
    }
    tpDestroyWorld(world);
    return work;
}

// Ends of long strides lie beside the contact by more than rounding. If they were not closed,
// the next stride would take the contact for one that is to come.
static void contactsAreClosedAtEnds(void** state) {
    (void)state;
    int refusedCount, fineCount;
    double loose = rockingWork("1e-2", &refusedCount), fine = rockingWork("1e-4", &fineCount);
    CHECK_BELOW(loose, fine);
    assert_true(refusedCount <= 6);
    assert_true(fineCount <= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contactsAreClosedAtEnds),  cmocka_unit_test(rollingIsFollowed),
        cmocka_unit_test(slidingEndsWhereItShould), cmocka_unit_test(whatMovesEvenlyCarries),
        cmocka_unit_test(snapshotsKeepLoads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
