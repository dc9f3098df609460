// What bodies can gain in a step: no less than what they do gain, and not much more.

#include "dynamics/most_gain.h"

#include <math.h>

#include "support/scene_text.h"
#include "tippe/world.h"
#include "world/world.h"

// The bound for a step of h seconds from where the world is.
static double mostGain(tpWorld* world, double h) {
    tpSystem* system = &world->system;
    tpKeptMotion start;
    assert_true(tpKeptMotion_Take(&start, system));
    return tpSystem_MostGain(system, &start, h);
}

// A scene of one body of 2 kg with more keys of its own, and more beside it.
static tpWorld* makeBody(const char* gravity, const char* own, const char* beside) {
    char text[2048];
    snprintf(text, sizeof(text),
             "{ \"tippe\": 1, \"gravity\": [0, 0, %s], \"bodies\": ["
             " { \"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"shapes\": ["
             " { \"type\": \"sphere\", \"radius\": 0.1 } ]%s } ]%s,"
             " \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }",
             gravity, own, beside);
    return makeWorldFrom(text);
}

static void check(const char* gravity, const char* own, const char* beside, double h, double gain) {
    tpWorld* world = makeBody(gravity, own, beside);
    CHECK_NEAR(mostGain(world, h), gain, 1e-9 * (1.0 + gain));
    tpDestroyWorld(world);
}

// A fall, and a force and a torque on a body that goes and turns with them.
static void forcesGiveTheirWork(void** state) {
    (void)state;
    const double h = 0.02;
    check("-10", ", \"velocity\": [0, 0, -3]", "", h, 20.0 * h * (3.0 + 0.5 * 10.0 * h));
    check("0", ", \"velocity\": [3, 0, 0], \"angular_velocity\": [0, 4, 0]",
          ", \"forces\": [ { \"body\": \"a\", \"force\": [8, 0, 0], \"torque\": [0, 5, 0] } ]", h,
          8.0 * h * (3.0 + 0.5 * 4.0 * h) + 5.0 * h * (4.0 + 0.5 * 50.0 * h));
    check("0", ", \"velocity\": [3, 0, 0]", "", h, 0.0);
    // A body that falls upwards.
    check("-10", ", \"gravity_scale\": -2, \"velocity\": [0, 0, 3]", "", h,
          40.0 * h * (3.0 + 0.5 * 20.0 * h));
}

// A force at a point of a body turns it about the centre of mass, which need not be its origin.
static void forcesAtPointsTurn(void** state) {
    (void)state;
    const double h = 0.02;
    static const double places[] = { 0.1, -0.4, 0.0 };
    for (int i = 0; i < 3; ++i) {
        char force[256];
        snprintf(force, sizeof(force),
                 ", \"forces\": [ { \"body\": \"a\", \"force\": [0, 0, -8], \"at\": [%g, 0, 0] } ]",
                 places[i]);
        double torque = 8.0 * fabs(places[i] - 0.1);
        check("0", ", \"center_of_mass\": [0.1, 0, 0], \"velocity\": [3, 0, 0]", force, h,
              8.0 * h * (3.0 + 0.5 * 4.0 * h) + torque * h * 0.5 * 10.0 * torque * h);
    }
}

// A servo gives the energy of its spring, or its greatest effort all the way; a motor its effort
// over what it can turn by.
static void drivesGiveTheirWork(void** state) {
    (void)state;
    const double h = 0.02;
    const char* const slide = ", \"joints\": [ { \"name\": \"j\", \"type\": \"prismatic\","
                              " \"bodies\": [null, \"a\"], \"anchor\": [0, 0, 0],"
                              " \"axis\": [1, 0, 0], %s } ]";
    char text[512];
    snprintf(text, sizeof(text), slide, "\"servo\": { \"target\": 0.3, \"stiffness\": 1000 }");
    check("0", "", text, h, 0.5 * 1000.0 * 0.09);
    snprintf(text, sizeof(text), slide,
             "\"servo\": { \"target\": 0.3, \"stiffness\": 1000, \"effort\": 7 }");
    check("0", ", \"velocity\": [2, 0, 0]", text, h, 7.0 * (0.3 + 2.0 * h));
    snprintf(text, sizeof(text), slide, "\"motor\": { \"speed\": 3, \"effort\": 50 }");
    check("0", ", \"velocity\": [2, 0, 0]", text, h, 50.0 * 5.0 * h);
    check("0", ", \"velocity\": [-2, 0, 0]", text, h, 50.0 * 5.0 * h);
    snprintf(text, sizeof(text), slide, "\"spring\": { \"rest\": 0.2, \"stiffness\": 100 }");
    check("0", "", text, h, 0.5 * 100.0 * 0.04);
}

// What a spring or servo can still do depends on where the joint is.
static void placesCount(void** state) {
    (void)state;
    const double h = 0.02, places[] = { 0.0, 0.1, -0.1, 0.3, 0.5 };
    for (size_t i = 0; i < 2 * sizeof(places) / sizeof(places[0]); ++i) {
        double place = places[i / 2], k = i % 2 == 0 ? 1000.0 : 100.0, way = place - 0.3;
        char text[512];
        snprintf(text, sizeof(text),
                 ", \"joints\": [ { \"name\": \"j\", \"type\": \"prismatic\","
                 " \"bodies\": [null, \"a\"], \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0],"
                 " \"%s\": { \"%s\": 0.3, \"stiffness\": %g } } ]",
                 i % 2 == 0 ? "servo" : "spring", i % 2 == 0 ? "target" : "rest", k);
        tpWorld* world = makeBody("0", "", text);
        world->system.poses.data[0].position.x += place;
        CHECK_NEAR(mostGain(world, h), 0.5 * k * way * way, 1e-10);
        tpDestroyWorld(world);
    }
}

// A user's effort does its work on the way that it finds, and on that which it makes.
static void effortsGiveTheirWork(void** state) {
    (void)state;
    const double h = 0.02, effort = 30.0;
    for (int k = -1; k <= 1; ++k) {
        char own[64];
        snprintf(own, sizeof(own), ", \"velocity\": [%d, 0, 0]", 2 * k);
        tpWorld* world = makeBody("0", own,
                                  ", \"joints\": [ { \"name\": \"j\", \"type\": \"prismatic\","
                                  " \"bodies\": [null, \"a\"], \"anchor\": [0, 0, 0],"
                                  " \"axis\": [1, 0, 0] } ]");
        CHECK_NEAR(mostGain(world, h), 0.0, 0.0);
        world->system.joints.data[0].coordinates[0].applied = effort;
        double way = 2.0 * (double)(k * k) * h + 0.5 * effort / 2.0 * h * h;
        CHECK_NEAR(mostGain(world, h), effort * way, 1e-12);
        tpDestroyWorld(world);
    }
}

// A coupling of two slides, x + 2 y: what its spring holds or its servo can do.
static void couplingsGiveTheirWork(void** state) {
    (void)state;
    const double h = 0.02;
    const char* const text =
        "{ \"tippe\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
        " { \"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"velocity\": [1, 0, 0] },"
        " { \"name\": \"b\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"velocity\": [0, 3, 0] } "
        "],"
        " \"joints\": ["
        " { \"name\": \"x\", \"type\": \"prismatic\", \"bodies\": [null, \"a\"], \"anchor\": [0, "
        "0, 0],"
        " \"axis\": [1, 0, 0] },"
        " { \"name\": \"y\", \"type\": \"prismatic\", \"bodies\": [null, \"b\"], \"anchor\": [0, "
        "0, 0],"
        " \"axis\": [0, 1, 0] } ],"
        " \"couplings\": [ { \"name\": \"c\", \"of\": [[\"x\", 1], [\"y\", 2]], %s } ],"
        " \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }";
    const struct {
        const char* drive;
        double gain;
    } cases[] = {
        { "\"spring\": { \"rest\": 0.2, \"stiffness\": 100 }", 0.5 * 100.0 * 0.04 },
        { "\"servo\": { \"target\": -0.3, \"stiffness\": 1000 }", 0.5 * 1000.0 * 0.09 },
        { "\"servo\": { \"target\": -0.3, \"stiffness\": 1000, \"effort\": 5 }",
          5.0 * (0.3 + (1.0 + 2.0 * 3.0) * h) },
        { "\"value\": 0", 0.0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char whole[2048];
        snprintf(whole, sizeof(whole), text, cases[i].drive);
        tpWorld* world = makeWorldFrom(whole);
        CHECK_NEAR(mostGain(world, h), cases[i].gain, 1e-10);
        tpDestroyCoupling(world, tpWorld_GetCoupling(world, 0));
        CHECK_NEAR(mostGain(world, h), 0.0, 0.0);
        tpDestroyWorld(world);
    }
}

// What moves on its own strikes others with a multiple of its speed, and drives what hangs on it
// without bound.
static void movedBodiesStrike(void** state) {
    (void)state;
    const char* const text =
        "{ \"tippe\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
        " { \"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"shapes\": ["
        " { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
        " { \"name\": \"b\", \"kind\": \"kinematic\", \"position\": [1, 0, 0],"
        " \"velocity\": [-3, 0, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] }"
        " ]%s, \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }";
    char whole[1024];
    snprintf(whole, sizeof(whole), text, "");
    tpWorld* world = makeWorldFrom(whole);
    double struck = mostGain(world, 0.01);
    CHECK_BELOW(0.5 * 2.0 * 6.0 * 6.0, struck); // by an elastic wall
    CHECK_BELOW(struck, 100.0 * 0.5 * 2.0 * 6.0 * 6.0);
    tpDestroyWorld(world);
    snprintf(whole, sizeof(whole), text,
             ", \"joints\": [ { \"name\": \"j\", \"type\": \"ball\","
             " \"bodies\": [\"b\", \"a\"], \"anchor\": [1, 0, 0] } ]");
    world = makeWorldFrom(whole);
    assert_true(isinf(mostGain(world, 0.01)));
    tpDestroyWorld(world);
}

// The bound for one body beside two that move on their own.
static double strikeGain(const char* first, const char* second) {
    char whole[1024];
    snprintf(whole, sizeof(whole),
             "{ \"tippe\": 1, \"gravity\": [0, 0, 0], \"bodies\": ["
             " { \"name\": \"a\", \"mass\": 2, \"shapes\": [ { \"type\": \"sphere\", \"radius\": "
             "0.1 } ] },"
             " { \"name\": \"b\", \"kind\": \"kinematic\", \"position\": [1, 0, 0]%s,"
             " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.2 } ] },"
             " { \"name\": \"c\", \"kind\": \"kinematic\", \"position\": [2, 0, 0]%s,"
             " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.2 } ] } ],"
             " \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }",
             first, second);
    tpWorld* world = makeWorldFrom(whole);
    double gain = mostGain(world, 0.01);
    tpDestroyWorld(world);
    return gain;
}

// The fastest one counts, wherever it is in the list and whether it goes or turns: as the square of
// the speed of its farthest point.
static void theFastestStrikes(void** state) {
    (void)state;
    const char *slow = ", \"velocity\": [1, 0, 0]", *fast = ", \"velocity\": [0, -3, 0]";
    const char *turns = ", \"angular_velocity\": [0, 0, 15]", *none = "";
    const char* both = ", \"velocity\": [0, 1, 0], \"angular_velocity\": [0, 10, 0]";
    double whole = strikeGain(fast, none);
    CHECK_NEAR(strikeGain(none, none), 0.0, 0.0);
    CHECK_NEAR(strikeGain(slow, none), whole / 9.0, 1e-12 * whole);
    CHECK_NEAR(strikeGain(fast, slow), whole, 0.0);
    CHECK_NEAR(strikeGain(slow, fast), whole, 0.0);
    // How far its points are from the centre is known to a factor of two.
    double turning = strikeGain(turns, none), reach = 3.0 / 15.0 * sqrt(turning / whole);
    assert_true(reach >= 0.2 && reach < 0.4);
    CHECK_NEAR(strikeGain(turns, slow), turning, 0.0);
    CHECK_NEAR(strikeGain(slow, turns), turning, 0.0);
    double part = (1.0 + 10.0 * reach) / 3.0;
    CHECK_NEAR(strikeGain(none, both), part * part * whole, 1e-12 * whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forcesGiveTheirWork),  cmocka_unit_test(forcesAtPointsTurn),
        cmocka_unit_test(drivesGiveTheirWork),  cmocka_unit_test(placesCount),
        cmocka_unit_test(effortsGiveTheirWork), cmocka_unit_test(couplingsGiveTheirWork),
        cmocka_unit_test(movedBodiesStrike),    cmocka_unit_test(theFastestStrikes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
