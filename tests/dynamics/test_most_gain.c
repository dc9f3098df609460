// What bodies can gain in a step: no less than what they do gain, and not much more.

#include "dynamics/most_gain.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forcesGiveTheirWork),
        cmocka_unit_test(drivesGiveTheirWork),
        cmocka_unit_test(movedBodiesStrike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
