// Forces of the user, a medium, limits that hold, and contacts that give: what acts on bodies
// beside joints and rigid contacts, and when it begins and ends.

#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01;

typedef struct Place {
    double x, z;
} Place;

// Steps a world and compares the place of body `a` with the right one in each step, in parts of
// what is asked for. The steps that were taken.
static int follow(const char* text, const char* accuracy, const Place* right, int count) {
    tpWorld* world = makeWorldFrom(text);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    tpBodyId body = tpWorld_FindBody(world, "a");
    int substeps = 0;
    for (int i = 1; i <= count; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        substeps += report.substepCount;
        tpVec3 place = tpBody_GetPosition(world, body);
        double off = hypot(place.x - right[i].x, place.z - right[i].z);
        CHECK_NEAR(off, 0.0, 0.5 * report.errorAsked);
    }
    tpDestroyWorld(world);
    return substeps;
}

static void followAll(const char* text, const Place* right, int count, int most) {
    const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };
    for (int k = 0; k < 3; ++k) {
        int substeps = follow(text, accuracies[k], right, count);
        print_message("at %s: %d steps\n", accuracies[k], substeps);
        assert_in_range(substeps, 1, most);
    }
}

// A ball of 1 kg is thrown into a medium that takes .8 of its speed per second. Each step was one
// of the method, and its halves: 400.
static void mediaBrake(void** state) {
    (void)state;
    const double c = 0.8, g = 9.81;
    Place right[201];
    for (int i = 0; i <= 200; ++i) {
        double t = i * h, part = (1.0 - exp(-c * t)) / c;
        right[i] = (Place){ 2.0 * part, 5.0 - g / c * (t - part) };
    }
    followAll("{ \"tippe\": 1, \"name\": \"medium\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
              " { \"name\": \"a\", \"mass\": 1, \"position\": [0, 0, 5], \"velocity\": [2, 0, 0],"
              " \"damping\": { \"linear\": 0.8 }, \"shapes\": ["
              " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2 } }",
              right, 200, 60);
}

// The height and the speed of a body that rises at `speed` from `height` in that medium, after t.
static double heightIn(double height, double speed, double t, double* now) {
    const double c = 1.5, g = 9.81;
    *now = (speed + g / c) * exp(-c * t) - g / c;
    return height + (speed + g / c) * (1.0 - exp(-c * t)) / c - g * t / c;
}

// A ball falls in a medium that takes 1.5 of its speed per second, and bounces to .7 of its speed.
// Near the floor it was left to the method, whose steps are not exact in a medium: 5.7e5 to
// 9.3e5 ns of work at the three accuracies.
static void mediaBounce(void** state) {
    (void)state;
    const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"medium\", \"gravity\": [0, 0, -9.81],"
            " \"materials\": { \"m\": { \"restitution\": 0.7 } }, \"bodies\": ["
            " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
            " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 1.1],"
            " \"damping\": { \"linear\": 1.5 }, \"shapes\": ["
            " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.2 } }");
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], NULL), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        double work = 0.0, left = 0.0, height = 1.0, speed = 0.0, now;
        for (int i = 1; i <= 120; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            work += report.work;
            double t = i * h - left;
            if (heightIn(height, speed, t, &now) < 0.0) {
                double low = t - h, high = t;
                for (int n = 0; n < 60; ++n) {
                    double middle = 0.5 * (low + high);
                    bool isAbove = heightIn(height, speed, middle, &now) > 0.0;
                    low = isAbove ? middle : low;
                    high = isAbove ? high : middle;
                }
                left += low;
                t -= low;
                height = 0.0;
                speed = -0.7 * now;
            }
            double right = 0.1 + heightIn(height, speed, t, &now);
            CHECK_NEAR(tpBody_GetPosition(world, body).z, right, 0.5 * report.errorAsked);
        }
        print_message("at %s: %g of work\n", accuracies[k], work);
        assert_true(work < 4e5);
        tpDestroyWorld(world);
    }
}

// A rocket of 1 kg and .2 kg m^2 with a thrust of 15 N along its axis, and a torque of .3 N m from
// which its angle is .75 t^2: places by Simpson's rule. Between the ends of strides it was 1.4
// times what is asked for off, until these were compared with the quarters.
static void rocketsTurn(void** state) {
    (void)state;
    Place right[201] = { { 0.0, 5.0 } };
    double u = 0.0, v = 0.0;
    const int parts = 40;
    for (int i = 1; i <= 200; ++i) {
        right[i] = right[i - 1];
        for (int k = 0; k < parts; ++k) {
            double d = h / parts, t = (i - 1) * h + k * d;
            double force[3][2];
            for (int m = 0; m < 3; ++m) {
                double s = t + 0.5 * m * d;
                force[m][0] = 15.0 * sin(0.75 * s * s);
                force[m][1] = 15.0 * cos(0.75 * s * s) - 9.81;
            }
            right[i].x += d * u + d * d / 6.0 * (force[0][0] + 2.0 * force[1][0]);
            right[i].z += d * v + d * d / 6.0 * (force[0][1] + 2.0 * force[1][1]);
            u += d / 6.0 * (force[0][0] + 4.0 * force[1][0] + force[2][0]);
            v += d / 6.0 * (force[0][1] + 4.0 * force[1][1] + force[2][1]);
        }
    }
    followAll("{ \"tippe\": 1, \"name\": \"rocket\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
              " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.2, 0.2, 0.2],"
              " \"position\": [0, 0, 5], \"shapes\": ["
              " { \"type\": \"box\", \"size\": [0.2, 0.2, 0.8] } ] } ],"
              " \"forces\": [ { \"body\": \"a\", \"force\": [0, 0, 15], \"torque\": [0, 0.3, 0],"
              " \"frame\": \"body\" } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2 } }",
              right, 200, 60);
}

// Where a slide of 2 kg on a spring of 80 N/m with a damper of 1.5 N s/m is, a time after a force
// of 30 N has begun.
static double pushedFor(double t) {
    double decay = 1.5 / 4.0, rate = sqrt(40.0 - decay * decay);
    return t <= 0.0
               ? 0.0
               : 0.375 * (1.0 - exp(-decay * t) * (cos(rate * t) + decay / rate * sin(rate * t)));
}

// The slide rests until a force begins in the middle of a long step, and ends in that of another.
// Rest is exact, and what came after it was trusted: 10 times what is asked for at 1e-4, with an
// estimate of .03.
static void restSaysNothingOfPushes(void** state) {
    (void)state;
    const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };
    const double step = 0.04;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"slide\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
            " { \"name\": \"a\", \"mass\": 2, \"shapes\": ["
            " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": ["
            " { \"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [null, \"a\"],"
            " \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0], \"spring\": { \"stiffness\": 80 },"
            " \"damping\": 1.5 } ], \"forces\": [ { \"body\": \"a\", \"force\": [30, 0, 0],"
            " \"from\": 0.205, \"to\": 0.555 } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.04, \"until\": 2 } }");
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], NULL), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        for (int i = 1; i <= 50; ++i) {
            tpStepReport report = tpWorld_Step(world, step);
            double right = pushedFor(step * i - 0.205) - pushedFor(step * i - 0.555);
            CHECK_NEAR(tpBody_GetPosition(world, body).x, right, 0.5 * report.errorAsked);
        }
        tpDestroyWorld(world);
    }
}

// Where a pendulum of 1 m is, from an angle on, if gravity pulls it back at `pull` / s^2.
static void swing(double angle, double pull, Place* right) {
    double rate = 0.0;
    const int parts = 40;
    right[0] = (Place){ sin(angle), -cos(angle) };
    for (int i = 1; i <= 200; ++i) {
        for (int k = 0; k < parts; ++k) {
            double d = h / parts, a[4], w[4];
            for (int m = 0; m < 4; ++m) {
                double part = m == 0 ? 0.0 : m == 3 ? d : 0.5 * d;
                w[m] = rate + (m > 0 ? part * a[m - 1] : 0.0);
                a[m] = -pull * sin(angle + (m > 0 ? part * w[m - 1] : 0.0));
            }
            angle += d / 6.0 * (w[0] + 2.0 * w[1] + 2.0 * w[2] + w[3]);
            rate += d / 6.0 * (a[0] + 2.0 * a[1] + 2.0 * a[2] + a[3]);
        }
        right[i] = (Place){ sin(angle), -cos(angle) };
    }
}

// A ball on a taut rope of 1 m: a pendulum, from the level. The rope is a limit that holds, and
// each step was one of the method: 284.
static void ropesHold(void** state) {
    (void)state;
    Place right[201];
    swing(0.5 * 3.14159265358979323846, 9.81, right);
    followAll("{ \"tippe\": 1, \"name\": \"rope\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
              " { \"name\": \"a\", \"mass\": 1, \"position\": [1, 0, 0], \"shapes\": ["
              " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": ["
              " { \"name\": \"r\", \"type\": \"distance\", \"bodies\": [null, \"a\"],"
              " \"anchors\": [[0, 0, 0], [1, 0, 0]], \"limits\": [0, 1] } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2 } }",
              right, 200, 120);
}

// Two pendulums of 1 m from 30 degrees, side by side, .005 m between their balls all along: what is
// near and does not come nearer is no reason for short steps. Each step was one of the method, 1341
// in all.
static void neighboursSwing(void** state) {
    (void)state;
    Place right[201];
    swing(3.14159265358979323846 / 6.0, 9.81 / 1.004, right);
    followAll("{ \"tippe\": 1, \"name\": \"two\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
              " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
              " \"position\": [0.5, 0, -0.86602540378443865], \"shapes\": ["
              " { \"type\": \"sphere\", \"radius\": 0.1 } ] },"
              " { \"name\": \"b\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
              " \"position\": [0.705, 0, -0.86602540378443865], \"shapes\": ["
              " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": ["
              " { \"type\": \"revolute\", \"bodies\": [null, \"a\"], \"anchor\": [0, 0, 0],"
              " \"axis\": [0, -1, 0] },"
              " { \"type\": \"revolute\", \"bodies\": [null, \"b\"], \"anchor\": [0.205, 0, 0],"
              " \"axis\": [0, -1, 0] } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2 } }",
              right, 200, 200);
}

// A block on a table that turns round by keyframes, .7 of a step after the step before: it slides
// on until it goes with the table again. The table went at the mean of both speeds in that step,
// and the block was off by 170 times what is asked for at 1e-4, with an estimate of 2e-6.
static void tablesTurnRound(void** state) {
    (void)state;
    const double v = 0.5, turn = 0.157, brake = 0.2 * 9.81;
    Place right[101];
    for (int i = 0; i <= 100; ++i) {
        double t = i * h, slid = fmin(fmax(t - turn, 0.0), 2.0 * v / brake);
        double back = fmax(t - turn - 2.0 * v / brake, 0.0);
        right[i] =
            (Place){ v * fmin(t, turn) + v * slid - 0.5 * brake * slid * slid - v * back, 0.1 };
    }
    followAll("{ \"tippe\": 1, \"name\": \"table\", \"gravity\": [0, 0, -9.81], \"materials\": {"
              " \"m\": { \"friction\": 0.2 } }, \"bodies\": ["
              " { \"name\": \"table\", \"kind\": \"kinematic\", \"material\": \"m\","
              " \"position\": [0, 0, -0.1], \"shapes\": ["
              " { \"type\": \"box\", \"size\": [4, 2, 0.2] } ], \"keyframes\": ["
              " { \"time\": 0, \"position\": [0, 0, -0.1] },"
              " { \"time\": 0.157, \"position\": [0.0785, 0, -0.1] },"
              " { \"time\": 2.157, \"position\": [-0.9215, 0, -0.1] } ] },"
              " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
              " \"velocity\": [0.5, 0, 0], \"shapes\": ["
              " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }",
              right, 100, 400);
}

// The height of a ball above a floor that gives, per second: k depth + c depth', never less than 0.
static double pushOf(double height, double speed, bool isIn) {
    return isIn ? fmax(0.0, -4000.0 * height - 8.0 * speed) : 0.0;
}

// A ball falls on a floor that gives and damps, and leaves it three times. The last part of the
// force was missing in whole and halves alike: 7.6 times what is asked for at 1e-4, unsaid. At 1e-3
// parts of steps that the energy guard had once found right for long ones were made of short ones
// too, which nobody could lead on to a higher order: 12 times.
static void softFloorsLetGo(void** state) {
    (void)state;
    Place right[151] = { { 0.0, 0.4 } };
    double height = 0.3, speed = 0.0;
    bool isIn = false;
    const int parts = 20000;
    for (int i = 1; i <= 150; ++i) {
        for (int k = 0; k < parts; ++k) {
            double d = h / parts, before = height;
            isIn = isIn && (height < 0.0);
            double first = pushOf(height, speed, isIn) - 9.81;
            double middle = pushOf(height + 0.5 * d * speed, speed + 0.5 * d * first, isIn) - 9.81;
            height += d * (speed + 0.5 * d * first);
            speed += d * middle;
            isIn = isIn || (before >= 0.0 && height < 0.0);
        }
        right[i] = (Place){ 0.0, 0.1 + height };
    }
    followAll("{ \"tippe\": 1, \"name\": \"soft\", \"gravity\": [0, 0, -9.81], \"materials\": {"
              " \"m\": { \"contact\": { \"compliance\": 0.000125, \"damping\": 16 } } },"
              " \"bodies\": [ { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
              " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
              " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.4],"
              " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
              " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }",
              right, 150, 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mediaBrake),
        cmocka_unit_test(rocketsTurn),
        cmocka_unit_test(ropesHold),
        cmocka_unit_test(neighboursSwing),
        cmocka_unit_test(tablesTurnRound),
        cmocka_unit_test(softFloorsLetGo),
        cmocka_unit_test(restSaysNothingOfPushes),
        cmocka_unit_test(mediaBounce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
