// Bodies whose centres have locked axes, at contacts: closed forms of what is left to them, with
// every stepper that has contacts.

#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01, g = 9.81;

typedef struct Way {
    const char* stepper;
    double slack; // m and m/s
    bool isSoft;  // contacts give way
} Way;

static const Way ways[] = {
    { "stewart-trinkle", 1e-9, false },     { "anitescu", 1e-9, false },
    { "mirtich-canny", 1e-9, false },       { "bender-schmitt", 1e-9, false },
    { "chakraborty-trinkle", 1e-9, false }, { "small-steps", 2e-3, true },
    { "auto", 1e-3, false },
};
enum { wayCount = sizeof(ways) / sizeof(ways[0]) };

// A box of .4 m by .4 m by .2 m on a plane that leans by .4 in x: friction, velocity, locks.
static tpWorld* makeSlope(const char* stepper, const char* mu, const char* velocity,
                          const char* locked) {
    char text[2000];
    snprintf(text, sizeof(text),
             "{ \"tippe\": 1, \"name\": \"rail\", \"gravity\": [0, 0, -9.81],"
             " \"materials\": { \"m\": { \"friction\": %s } }, \"bodies\": ["
             " { \"name\": \"slope\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
             " { \"type\": \"plane\", \"normal\": [\"sin(0.4)\", 0, \"cos(0.4)\"] } ] },"
             " { \"name\": \"a\", \"mass\": 2, \"material\": \"m\", \"velocity\": %s,"
             " \"position\": [\"0.1 * sin(0.4)\", 0, \"0.1 * cos(0.4)\"],"
             " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": \"0.4 * 180 / pi\" },"
             " \"locked\": %s,"
             " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
             " \"simulation\": { \"stepper\": \"%s\", \"step\": 0.01, \"until\": 1 } }",
             mu, velocity, locked, stepper);
    return makeWorldFrom(text);
}

static void checkReport(const Way* way, const tpStepReport* report) {
    assert_int_equal(report->failureCount, 0);
    if (!way->isSoft) {
        assert_true(report->energyIncrease < 1e-9);
    }
}

// Locked in x it does not go down the slope, with friction and without. Its locks hold what the
// slope pushes it aside with, N sin a, so that it carries N = m g / cos a.
static void standsOnSlopes(void** state) {
    (void)state;
    static const char* const mus[] = { "0", "0.3" };
    for (int k = 0; k < 2 * wayCount; ++k) {
        const Way* way = &ways[k / 2];
        // Of a slope without friction mirtich-canny asks for bounces that never end.
        tpWorld* world =
            makeSlope(way->stepper, mus[k % 2], "[0, 0, 0]", "[\"x\", \"rx\", \"ry\", \"rz\"]");
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 0; i < 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
            tpVec3 place = tpBody_GetPosition(world, body), v = tpBody_GetVelocity(world, body);
            assert_true(place.x == 0.1 * sin(0.4) && v.x == 0.0);
            CHECK_VEC3(place, tpMakeVec3(0.1 * sin(0.4), 0.0, 0.1 * cos(0.4)), way->slack);
            CHECK_VEC3(v, tpZeroVec3(), 10.0 * way->slack);
        }
        tpContactInfo contacts[16];
        int count = tpWorld_GetContacts(world, contacts, 16);
        double load = 0.0;
        for (int i = 0; i < count; ++i) {
            load += contacts[i].normalImpulse;
        }
        print_message("%s: %d contacts, %.9g N of %.9g N\n", way->stepper, count, load / h,
                      2.0 * g / cos(0.4));
        tpDestroyWorld(world);
    }
}

// Across the slope it slides: friction mu m g / cos a brakes it until it stands.
static void slidesAcross(void** state) {
    (void)state;
    double speed = 1.5, rate = 0.3 * g / cos(0.4), stop = speed / rate;
    for (int k = 0; k < wayCount; ++k) {
        const Way* way = &ways[k];
        tpWorld* world = makeSlope(way->stepper, "0.3", "[0, 1.5, 0]",
                                   "[\"x\", \"rx\", \"ry\", \"rz\"]");
        tpBodyId body = tpWorld_FindBody(world, "a");
        double worst = 0.0;
        for (int i = 1; i <= 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
            double t = fmin(i * h, stop);
            tpVec3 place = tpBody_GetPosition(world, body);
            assert_true(place.x == 0.1 * sin(0.4));
            worst = fmax(worst, fabs(place.y - (speed * t - 0.5 * rate * t * t)));
        }
        print_message("%s: %.3g m\n", way->stepper, worst);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standsOnSlopes),
        cmocka_unit_test(slidesAcross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
