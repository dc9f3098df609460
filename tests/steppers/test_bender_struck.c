// Impacts while joints and contacts hold: what these carry up to the impact is no part of it. The
// results are known without the time of the impact.

#include "support/scene_text.h"
#include "tippe/world.h"

static tpWorld* makeScene(const char* head, const char* bodies, const char* joint) {
    char text[4096];
    int length = snprintf(
        text, sizeof(text),
        "{ \"tippe\": 1, \"name\": \"struck\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { %s }, \"bodies\": [ %s ], \"joints\": [ %s ],"
        " \"simulation\": { \"stepper\": \"bender-schmitt\", \"step\": 0.01, \"until\": 1 } }",
        head, bodies, joint);
    assert_in_range(length, 1, (int)sizeof(text) - 1);
    return makeWorldFrom(text);
}

static void run(tpWorld* world, double until, double h) {
    int count = (int)lround(until / h);
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
    }
}

// A ball of 1 kg on an arm of 1 m, from 1 rad, strikes a block of .5 kg that rests on the floor, at
// the height of its centre. The block slides v^2 / (2 mu g) far. Friction of what the floor had
// carried up to the impact braked it too: 3 mm were missing at .01 s, and .05 mm at 1/1600 s.
static void pendulumStrikesBlock(void** state) {
    (void)state;
    const double g = 9.81, e = 0.5, mu = 0.25, mass = 0.5, inertia = 1.004;
    const double sine = 0.05, cosine = sqrt(1.0 - sine * sine), start = -1.0;
    double rate = sqrt(2.0 * g * (cosine - cos(start)) / inertia);
    double impulse = (1.0 + e) * cosine * rate / (cosine * cosine / inertia + 1.0 / mass);
    double speed = impulse / mass;
    double right = 0.25 + 0.5 * speed * speed / (mu * g);
    char bodies[1024], joint[256];
    snprintf(bodies, sizeof(bodies),
             " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
             " { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
             " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
             " \"material\": \"n\", \"position\": [%.17g, 0, %.17g], \"shapes\": ["
             " { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
             " { \"name\": \"b\", \"mass\": 0.5, \"material\": \"m\", \"position\": [0.25, 0, 0.2],"
             " \"shapes\": [ { \"type\": \"box\", \"size\": [0.2, 0.4, 0.4] } ] }",
             sin(start), 0.2 + cosine - cos(start));
    snprintf(joint, sizeof(joint),
             " { \"type\": \"revolute\", \"bodies\": [null, \"a\"], \"anchor\": [0, 0, %.17g],"
             " \"axis\": [0, -1, 0] }",
             0.2 + cosine);
    const double steps[] = { 0.01, 0.0025, 0.000625 };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeScene("\"m\": { \"friction\": 0.25, \"restitution\": 0.5 },"
                                   " \"n\": { \"restitution\": 0.5 }",
                                   bodies, joint);
        run(world, 2.0, steps[k]);
        tpVec3 place = tpBody_GetPosition(world, tpWorld_FindBody(world, "b"));
        print_message("at %g s: off by %.2e m\n", steps[k], place.x - right);
        CHECK_NEAR(place.x, right, 6.0 * steps[k] * steps[k]);
        tpDestroyWorld(world);
    }
}

// A plank of 1 kg and 1 m on a hinge at its end falls from the level onto a ball without weight,
// which flies off. What the hinge had not carried yet made the impact faster or slower.
static void plankStrikesBall(void** state) {
    (void)state;
    const double g = 9.81, e = 0.6, mass = 0.3, radius = 0.05, half = 0.02, along = 0.8;
    const double angle = 0.5, inertia = 1.0 / 12.0 + 0.25;
    double rate = sqrt(2.0 * g * 0.5 * sin(angle) / inertia);
    double impulse = (1.0 + e) * rate * along / (1.0 / mass + along * along / inertia);
    char bodies[1024];
    snprintf(bodies, sizeof(bodies),
             " { \"name\": \"p\", \"mass\": 1, \"inertia\": [0.01, %.17g, %.17g],"
             " \"material\": \"m\", \"position\": [0.5, 0, 0], \"shapes\": ["
             " { \"type\": \"box\", \"size\": [1, 0.3, 0.04] } ] },"
             " { \"name\": \"b\", \"mass\": 0.3, \"inertia\": [0.0003, 0.0003, 0.0003],"
             " \"material\": \"m\", \"gravity_scale\": 0, \"position\": [%.17g, 0, %.17g],"
             " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.05 } ] }",
             1.0 / 12.0, 1.0 / 12.0, along * cos(angle) - (radius + half) * sin(angle),
             -along * sin(angle) - (radius + half) * cos(angle));
    const double steps[] = { 0.01, 0.0025, 0.000625 };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeScene("\"m\": { \"restitution\": 0.6 }", bodies,
                                   " { \"type\": \"revolute\", \"bodies\": [null, \"p\"],"
                                   " \"anchor\": [0, 0, 0], \"axis\": [0, -1, 0] }");
        run(world, 0.4, steps[k]);
        tpVec3 velocity = tpBody_GetVelocity(world, tpWorld_FindBody(world, "b"));
        print_message("at %g s: off by %.2e m/s\n", steps[k], tpLength(velocity) - impulse / mass);
        CHECK_NEAR(tpLength(velocity), impulse / mass, 20.0 * steps[k] * steps[k] + 1e-9);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulumStrikesBlock),
        cmocka_unit_test(plankStrikesBall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
