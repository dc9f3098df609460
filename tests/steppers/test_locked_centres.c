// Bodies whose centres have locked axes, at contacts: closed forms of what is left to them, with
// every stepper that has contacts.

#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01, g = 9.81;

typedef struct Way {
    const char* stepper;
    double slack; // of what rests or goes evenly, m
    double slide; // of what slides until it sticks, m
    double speed; // after an impact whose direction a step may change, m/s
    bool hasRestitution;
} Way;

static const Way ways[] = {
    { "stewart-trinkle", 1e-9, 0.01, 0.02, false },
    { "anitescu", 1e-9, 1e-6, 1e-9, true },
    { "mirtich-canny", 1e-9, 0.005, 1e-9, true },
    { "bender-schmitt", 1e-9, 1e-6, 1e-9, true },
    { "chakraborty-trinkle", 1e-9, 1e-5, 3e-4, true },
    { "small-steps", 1e-5, 2.5e-3, 1e-6, false },
    { "auto", 1e-9, 1e-9, 1e-9, true },
};
enum { wayCount = sizeof(ways) / sizeof(ways[0]) };

// A box of .4 m by .4 m by .2 m on a plane that leans by .4 in x, and may go along x.
static tpWorld* makeSlope(const char* stepper, const char* mu, const char* velocity,
                          const char* speed, const char* locked) {
    char text[2000];
    snprintf(text, sizeof(text),
             "{ \"tippe\": 1, \"name\": \"rail\", \"gravity\": [0, 0, -9.81],"
             " \"materials\": { \"m\": { \"friction\": %s } }, \"bodies\": ["
             " { \"name\": \"slope\", \"kind\": \"kinematic\", \"velocity\": [%s, 0, 0], "
             "\"material\": \"m\", \"shapes\": ["
             " { \"type\": \"plane\", \"normal\": [\"sin(0.4)\", 0, \"cos(0.4)\"] } ] },"
             " { \"name\": \"a\", \"mass\": 2, \"material\": \"m\", \"velocity\": %s,"
             " \"position\": [\"0.1 * sin(0.4)\", 0, \"0.1 * cos(0.4)\"],"
             " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": \"0.4 * 180 / pi\" },"
             " \"locked\": %s,"
             " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
             " \"simulation\": { \"stepper\": \"%s\", \"step\": 0.01, \"until\": 1 } }",
             mu, speed, velocity, locked, stepper);
    return makeWorldFrom(text);
}

static void checkReport(const Way* way, const tpStepReport* report) {
    assert_int_equal(report->failureCount, 0);
    assert_int_equal(report->violations, 0);
    CHECK_BELOW(report->energyIncrease, strcmp(way->stepper, "small-steps") == 0 ? 1e-4 : 1e-9);
}

// What the contacts push with together, N.
static double loadOn(const tpWorld* world) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double load = 0.0;
    for (int i = 0; i < count; ++i) {
        load += contacts[i].normalImpulse / h;
    }
    return load;
}

// Locked in x it does not go down the slope, with friction and without. Its lock holds what the
// slope pushes it aside with, N sin a, so that it carries N = m g / cos a.
static void standsOnSlopes(void** state) {
    (void)state;
    static const char* const mus[] = { "0", "0.3" };
    for (int k = 0; k < 2 * wayCount; ++k) {
        const Way* way = &ways[k / 2];
        tpWorld* world = makeSlope(way->stepper, mus[k % 2], "[0, 0, 0]", "0",
                                   "[\"x\", \"rx\", \"ry\", \"rz\"]");
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 0; i < 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
            tpVec3 place = tpBody_GetPosition(world, body), v = tpBody_GetVelocity(world, body);
            CHECK_NEAR(place.x, 0.1 * sin(0.4), 1e-15);
            CHECK_NEAR(v.x, 0.0, 1e-15);
            CHECK_VEC3(place, tpMakeVec3(0.1 * sin(0.4), 0.0, 0.1 * cos(0.4)), way->slack);
        }
        // Friction that holds may share the load with the lock.
        if (k % 2 == 0) {
            CHECK_NEAR(loadOn(world), 2.0 * g / cos(0.4), 1e-3);
        }
        tpDestroyWorld(world);
    }
}

// Across the slope it slides: friction mu m g / cos a brakes it until it stands.
static void slidesAcross(void** state) {
    (void)state;
    double speed = 1.5, rate = 0.3 * g / cos(0.4), stop = speed / rate;
    for (int k = 0; k < wayCount; ++k) {
        const Way* way = &ways[k];
        tpWorld* world =
            makeSlope(way->stepper, "0.3", "[0, 1.5, 0]", "0", "[\"x\", \"rx\", \"ry\", \"rz\"]");
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 1; i <= 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
            double t = fmin(i * h, stop);
            tpVec3 place = tpBody_GetPosition(world, body);
            CHECK_NEAR(place.x, 0.1 * sin(0.4), 1e-15);
            CHECK_NEAR(place.y, speed * t - 0.5 * rate * t * t, way->slide);
        }
        tpDestroyWorld(world);
    }
}

// With two locked axes it goes up and down alone. A slope that comes along x lifts it, at V tan a,
// with N (cos a - mu sin a) = m g.
static void isLifted(void** state) {
    (void)state;
    double load = 2.0 * g / (cos(0.4) - 0.3 * sin(0.4));
    for (int k = 0; k < wayCount; ++k) {
        const Way* way = &ways[k];
        tpWorld* world = makeSlope(way->stepper, "0.3", "[0, 0, \"0.5 * tan(0.4)\"]", "0.5",
                                   "[\"x\", \"y\", \"rx\", \"ry\", \"rz\"]");
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 1; i <= 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
            double z = 0.1 * cos(0.4) + 0.5 * tan(0.4) * i * h;
            CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(0.1 * sin(0.4), 0.0, z),
                       way->slack);
        }
        CHECK_NEAR(loadOn(world), load, 1e-3);
        tpDestroyWorld(world);
    }
}

// A block that can go nowhere but up, on a belt: friction moves nothing and has its work all the
// same, mu m g V.
static void rubsOnBelts(void** state) {
    (void)state;
    for (int k = 0; k <= wayCount; ++k) {
        const Way* way = &ways[k < wayCount ? k : 3];
        int count = k < wayCount ? 1 : 40;
        char text[2000];
        snprintf(
            text, sizeof(text),
            "{ \"tippe\": 1, \"name\": \"belt\", \"gravity\": [0, 0, -9.81],"
            " \"materials\": { \"m\": { \"friction\": 0.3 } }, \"bodies\": ["
            " { \"name\": \"belt\", \"kind\": \"kinematic\", \"material\": \"m\","
            " \"velocity\": [0.5, 0, 0], \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, "
            "0, 1] } ] },"
            " { \"repeat\": { \"i\": %d }, \"name\": \"a{i}\", \"mass\": 2, \"material\": \"m\","
            " \"position\": [\"0.5 * i\", 0, 0.1],"
            " \"locked\": [\"x\", \"y\", \"rx\", \"ry\", \"rz\"],"
            " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
            " \"simulation\": { \"stepper\": \"%s\", \"step\": 0.01, \"until\": 1 } }",
            count, way->stepper);
        tpWorld* world = makeWorldFrom(text);
        if (k == wayCount) { // a crowd, by sweeps alone
            assert_int_equal(tpWorld_SetOption(world, "budget", "3000", NULL), tp_success);
            assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-4", NULL), tp_success);
        }
        double loss = 0.0, work = 0.0;
        int sweeps = 0;
        for (int i = 0; i < 20; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            loss += report.frictionLoss;
            work += report.externalWork;
            sweeps += report.iterationCount;
            checkReport(way, &report);
        }
        // Sweeps alone find it (1,352 where the portfolio has to help).
        assert_true(k < wayCount || sweeps < 400);
        double rubbed = count * 0.3 * 2.0 * g * 0.5 * 20.0 * h;
        CHECK_NEAR(loss, rubbed, 1e-4 * rubbed);
        CHECK_NEAR(work, rubbed, 1e-4 * rubbed);
        tpDestroyWorld(world);
    }
}

// A ball or a block that is locked in y is hit by one of half its mass from the side, along n: an
// impulse p changes the speed along n by p (cos^2 b / 2 + 1), and its own velocity in x alone.
static void impactsGiveMomentum(void** state) {
    (void)state;
    static const double restitutions[] = { 0.0, 0.5 };
    static const char* const shapes[] = { "\"type\": \"sphere\", \"radius\": 0.1",
                                          "\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]" };
    static const char* const turned =
        "\"rotation\": { \"axis\": [0, 0, 1], \"degrees\": \"108 / pi\" }";
    for (int k = 0; k < 4 * wayCount; ++k) {
        const Way* way = &ways[k / 4];
        const char* shape = shapes[k / 2 % 2];
        double e = restitutions[k % 2];
        if (e > 0.0 && !way->hasRestitution) {
            continue;
        }
        char text[2000];
        snprintf(text, sizeof(text),
                 "{ \"tippe\": 1, \"name\": \"balls\", \"gravity\": [0, 0, 0], \"materials\": {"
                 " \"m\": { \"friction\": 0, \"restitution\": %g } }, \"bodies\": ["
                 " { \"name\": \"a\", \"mass\": 2, \"material\": \"m\", \"locked\": [\"y\"],"
                 " %s, \"shapes\": [ { %s } ] },"
                 " { \"name\": \"b\", \"mass\": 1, \"material\": \"m\","
                 " \"position\": [\"0.25 * cos(0.6)\", \"0.25 * sin(0.6)\", 0],"
                 " \"velocity\": [\"-2 * cos(0.6)\", \"-2 * sin(0.6)\", 0],"
                 " %s, \"shapes\": [ { %s } ] } ],"
                 " \"simulation\": { \"stepper\": \"%s\", \"step\": 0.01, \"until\": 1 } }",
                 e, turned, shape, turned, shape, way->stepper);
        tpWorld* world = makeWorldFrom(text);
        for (int i = 0; i < 4; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            checkReport(way, &report);
        }
        double impulse = (1.0 + e) * 2.0 / (0.5 * cos(0.6) * cos(0.6) + 1.0);
        tpVec3 a = tpBody_GetVelocity(world, tpWorld_FindBody(world, "a"));
        tpVec3 b = tpBody_GetVelocity(world, tpWorld_FindBody(world, "b"));
        tpVec3 n = tpMakeVec3(cos(0.6), sin(0.6), 0.0);
        assert_true(a.y == 0.0);
        CHECK_NEAR(a.x, -0.5 * impulse * n.x, way->speed);
        CHECK_VEC3(b, tpScale(impulse - 2.0, n), way->speed);
        tpDestroyWorld(world);
    }
}

// A certified crowd of bender-schmitt, which is swept in single precision: pairs of blocks on a
// slope without friction, the lower one locked in x, the upper one held by it. The pair goes across
// evenly; the ground carries m g (1 + sin^2 a) / cos a of the one, m g cos a of the other, and they
// press each other with m g sin a.
static void crowdsAreHeld(void** state) {
    (void)state;
    static const char* const text =
        "{ \"tippe\": 1, \"name\": \"rails\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0 } }, \"bodies\": ["
        " { \"name\": \"slope\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [\"sin(0.4)\", 0, \"cos(0.4)\"] } ] },"
        " { \"repeat\": { \"i\": 40 }, \"name\": \"a{i}\", \"mass\": 2, \"material\": \"m\","
        " \"velocity\": [0, 0.5, 0], \"locked\": [\"x\"],"
        " \"position\": [\"0.1 * sin(0.4)\", \"0.5 * i\", \"0.1 * cos(0.4)\"],"
        " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": \"0.4 * 180 / pi\" },"
        " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] },"
        " { \"repeat\": { \"i\": 40 }, \"name\": \"b{i}\", \"mass\": 2, \"material\": \"m\","
        " \"velocity\": [0, 0.5, 0],"
        " \"position\": [\"0.1 * sin(0.4) - 0.4 * cos(0.4)\", \"0.5 * i\","
        " \"0.1 * cos(0.4) + 0.4 * sin(0.4)\"],"
        " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": \"0.4 * 180 / pi\" },"
        " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
        " \"simulation\": { \"stepper\": \"bender-schmitt\", \"step\": 0.01, \"until\": 1 } }";
    tpWorld* world = makeWorldFrom(text);
    assert_int_equal(tpWorld_SetOption(world, "budget", "3000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-4", NULL), tp_success);
    double a = 0.4, load = 40.0 * 2.0 * g * ((1.0 + sin(a) * sin(a)) / cos(a) + cos(a) + sin(a));
    for (int i = 1; i <= 20; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        assert_int_equal(report.violations, 0);
        CHECK_NEAR(loadOn(world), load, 1e-3 * load);
    }
    for (int i = 0; i < 40; ++i) {
        char name[8];
        snprintf(name, sizeof(name), "a%d", i);
        tpVec3 first = tpMakeVec3(0.1 * sin(a), 0.5 * i + 0.1, 0.1 * cos(a));
        tpBodyId body = tpWorld_FindBody(world, name);
        CHECK_VEC3(tpBody_GetPosition(world, body), first, 1e-4);
        assert_true(tpBody_GetPosition(world, body).x == first.x);
        name[0] = 'b';
        tpVec3 second = tpAdd(first, tpMakeVec3(-0.4 * cos(a), 0.0, 0.4 * sin(a)));
        CHECK_VEC3(tpBody_GetPosition(world, tpWorld_FindBody(world, name)), second, 1e-4);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standsOnSlopes),
        cmocka_unit_test(slidesAcross),
        cmocka_unit_test(isLifted),
        cmocka_unit_test(rubsOnBelts),
        cmocka_unit_test(impactsGiveMomentum),
        cmocka_unit_test(crowdsAreHeld),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
