// Moments in which friction changes: slips that turn round, and joints that do; and those in which
// a force ends, or a contact begins to give. The motion after them is as accurate as before.

#include "dynamics/figures.h"
#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01;
static const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };

// Steps a world and compares the place of body `a` along an axis in each step, in parts of what is
// asked for.
static void followAt(const char* text, tpVec3 axis, double (*place)(double), double step,
                     int count) {
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(text);
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        tpVec3 start = tpBody_GetPosition(world, body);
        for (int i = 1; i <= count; ++i) {
            tpStepReport report = tpWorld_Step(world, step);
            assert_int_equal(report.violations, 0);
            double way = tpDot(axis, tpSub(tpBody_GetPosition(world, body), start));
            CHECK_NEAR(way, place(i * step), 0.5 * report.errorAsked);
        }
        tpDestroyWorld(world);
    }
}

static void follow(const char* text, tpVec3 axis, double (*place)(double), int count) {
    followAt(text, axis, place, h, count);
}

// A block goes up a slope of 3 in 4 at 2 m/s with friction of .3, turns round and slides back.
static double upAndDown(double t) {
    const double g = 9.81, brake = g * (0.6 + 0.3 * 0.8), back = g * (0.6 - 0.3 * 0.8);
    double s = fmin(t, 2.0 / brake);
    return 2.0 * s - 0.5 * brake * s * s - 0.5 * back * (t - s) * (t - s);
}

static void blocksTurnRound(void** state) {
    (void)state;
    follow("{ \"tippe\": 1, \"name\": \"slope\", \"gravity\": [0, 0, -9.81],"
           " \"materials\": { \"m\": { \"friction\": 0.3 } }, \"bodies\": ["
           " { \"name\": \"slope\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
           " { \"type\": \"plane\", \"normal\": [0.6, 0, 0.8], \"offset\": 0 } ] },"
           " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0.06, 0, 0.08],"
           " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": 36.869897645844021 },"
           " \"velocity\": [-1.6, 0, 1.2], \"shapes\": ["
           " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
           " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }",
           tpMakeVec3(-0.8, 0.0, 0.6), upAndDown, 100);
}

// A body of 1 kg on a spring of 100 N/m, and a slide with dry friction of 1.7 N: half swings of
// .3142 s about +-.017 m, from .5 m on.
static double halfSwings(double t) {
    const double w = 10.0, a = 0.017, half = 0.31415926535897932;
    double from = 0.5, sign = -1.0;
    for (; t > half; t -= half, sign = -sign) {
        from = -2.0 * sign * a - from;
    }
    return -sign * a + (from + sign * a) * cos(w * t) - 0.5;
}

static const char* const slide =
    "{ \"tippe\": 1, \"name\": \"slide\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
    " { \"name\": \"a\", \"mass\": 1, \"position\": [0.5, 0, 0], \"shapes\": ["
    " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": ["
    " { \"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [null, \"a\"],"
    " \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0], \"zero\": 0.5,"
    " \"spring\": { \"stiffness\": 100 }, \"friction\": 1.7 } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

static void slidesTurnRound(void** state) {
    (void)state;
    follow(slide, tpMakeVec3(1.0, 0.0, 0.0), halfSwings, 200);
}

// Steps of the user that are longer than strides: the flow goes on within them. By the method the
// force of friction was that of after the turn from the start of a step on, in whole and halves
// alike: 2.8 times what is asked for at 1e-4, with an estimate of .6.
static void slidesTurnRoundInLongSteps(void** state) {
    (void)state;
    followAt(slide, tpMakeVec3(1.0, 0.0, 0.0), halfSwings, 0.04, 50);
}

// A block slides off a table. It begins to tip when its centre passes the edge, in the middle of a
// step, and the same shapes go on pushing each other: with other features. Returns its place at .36
// s.
static tpVec3 slideOff(const char* accuracy, double step, double* estimate, double* asked) {
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"table\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0.1956126060942826 } }, \"bodies\": ["
        " { \"name\": \"table\", \"kind\": \"fixed\", \"material\": \"m\","
        " \"position\": [-1, 0, -0.5], \"shapes\": [ { \"type\": \"box\", \"size\": [2, 2, 1] } ] "
        "},"
        " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": "
        "[-0.23204856131049673, 0, 0.05],"
        " \"velocity\": [1.5538782859802831, 0, 0], \"shapes\": ["
        " { \"type\": \"box\", \"size\": [0.3, 0.2, 0.1] } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    int count = (int)(0.8 / step + 0.5);
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, step);
        assert_int_equal(report.violations, 0);
        *estimate = report.errorEstimate;
        *asked = report.errorAsked;
    }
    tpVec3 place = tpBody_GetPosition(world, tpWorld_FindBody(world, "a"));
    tpDestroyWorld(world);
    return place;
}

// Where the accuracy is missed the estimate says so.
static void tippingIsSaid(void** state) {
    (void)state;
    double estimate, asked;
    tpVec3 right = slideOff("1e-6", 0.0025, &estimate, &asked);
    for (int i = 0; i < 3; ++i) {
        double off = tpDistanceBetween(slideOff(accuracies[i], h, &estimate, &asked), right);
        print_message("%s: off %.2g estimate %.2g of what is asked for\n", accuracies[i],
                      off / asked, estimate / asked);
        assert_true(off <= asked || estimate > asked);
    }
}

// A ball of .1 m slides on a box without friction at .15 m/s, 7.11 cm from the edge, goes over the
// edge and leaves it. On the edge its angle a has a'' = g / r sin a, and it leaves where g cos a =
// r a'^2.
static double overEdge(double t) {
    const double g = 9.81, r = 0.1, v = 0.15, far = 0.0711, step = 1e-3;
    if (t < far / v) {
        return v * t;
    }
    double left = t - far / v, angle = 0.0, rate = v / r;
    while (left > 0.0 && g * cos(angle) > r * rate * rate) {
        double dt = fmin(step, left);
        double a1 = g / r * sin(angle), b1 = rate;
        double a2 = g / r * sin(angle + 0.5 * dt * b1), b2 = rate + 0.5 * dt * a1;
        double a3 = g / r * sin(angle + 0.5 * dt * b2), b3 = rate + 0.5 * dt * a2;
        double a4 = g / r * sin(angle + dt * b3), b4 = rate + dt * a3;
        angle += dt / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
        rate += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        left -= dt;
    }
    return far + r * sin(angle) + left * r * rate * cos(angle);
}

// The contact stays, and its curvature jumps. Flows went over that: their levels were wrong alike,
// by 15 times what is asked for at 1e-4 here.
static void ballsGoOverEdges(void** state) {
    (void)state;
    const double steps[] = { 0.0025, 0.01, 0.02 };
    for (int k = 0; k < 3; ++k) {
        followAt("{ \"tippe\": 1, \"name\": \"edge\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
                 " { \"name\": \"table\", \"kind\": \"fixed\", \"position\": [-1, 0, -0.5],"
                 " \"shapes\": [ { \"type\": \"box\", \"size\": [2, 2, 1] } ] },"
                 " { \"name\": \"a\", \"mass\": 1, \"position\": [-0.0711, 0, 0.1],"
                 " \"velocity\": [0.15, 0, 0], \"shapes\": ["
                 " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
                 " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }",
                 tpMakeVec3(1.0, 0.0, 0.0), overEdge, steps[k], (int)(0.9 / steps[k]));
    }
}

// A ball slides down a dome without friction, from .2 rad, and leaves it where 2 / 3 of its first
// height is left: it keeps the speed to the side that it has there, however long the steps are. It
// left at the start of the step, in whole and halves alike.
static void domesLetGo(void** state) {
    (void)state;
    const double g = 9.81, length = 1.1;
    double cosine = cos(0.2) * 2.0 / 3.0, right = sqrt(g * length * cosine) * cosine;
    const double steps[] = { 0.01, 0.02, 0.04 };
    for (int k = 0; k < 3; ++k) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{ \"tippe\": 1, \"name\": \"dome\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
                 " { \"name\": \"dome\", \"kind\": \"fixed\", \"shapes\": ["
                 " { \"type\": \"sphere\", \"radius\": 1 } ] },"
                 " { \"name\": \"a\", \"mass\": 1, \"position\": [%.17g, 0, %.17g], \"shapes\": ["
                 " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
                 " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }",
                 length * sin(0.2), length * cos(0.2));
        tpWorld* world = makeWorldFrom(text);
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", "1e-4", &error), tp_success);
        double asked = 0.0;
        for (int i = 0; i < (int)lround(1.0 / steps[k]); ++i) {
            asked = tpWorld_Step(world, steps[k]).errorAsked;
        }
        tpVec3 velocity = tpBody_GetVelocity(world, tpWorld_FindBody(world, "a"));
        print_message("at %g s: off by %.2e m/s\n", steps[k], velocity.x - right);
        CHECK_NEAR(velocity.x, right, asked); // in a second
        tpDestroyWorld(world);
    }
}

// What a run has cost: steps that were refused, and counted work.
typedef struct Costs {
    int rejectedCount;
    double work;
} Costs;

static Costs costsOf(const char* text, double step, int count) {
    Costs costs = { 0, 0.0 };
    tpWorld* world = makeWorldFrom(text);
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, step);
        assert_int_equal(report.violations, 0);
        costs.rejectedCount += (int)report.figures[tp_rejectedFigure];
        costs.work += report.work;
    }
    tpDestroyWorld(world);
    return costs;
}

static const char* const spinning =
    "{ \"tippe\": 1, \"name\": \"spin\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": { \"static\": 0.2, \"dynamic\": 0.2,"
    " \"torsional\": 0.4 } } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.4, 0.4, 0.4],"
    " \"material\": \"m\", \"position\": [0, 0, 1], \"angular_velocity\": [0, 0, 1.962],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.004, \"until\": 1.5 } }";

// A ball spins on the spot, and its friction stops it after 1 s, at the end of a step. What slid
// sticks from then on: 3 steps are refused, which were 9.
static void spinsThatStopStick(void** state) {
    (void)state;
    Costs costs = costsOf(spinning, 1.0 / 240.0, 360);
    assert_in_range(costs.rejectedCount, 0, 5);
}

// It stops 1e-10 s before the end of a step. Steps after that are not as short as this rest, from
// which they grew again: they took 500,000 ns.
static void shortRestsAreForgotten(void** state) {
    (void)state;
    Costs costs = costsOf(spinning, 0.00416666666667, 360);
    assert_true(costs.work > 0.0 && costs.work < 1.5e5);
}

// A ball falls by a metre and bounces. Flights end where the method finds the impact, and no flow
// looks for it before: that took 340,000 ns.
static void flightsEndByTheMethod(void** state) {
    (void)state;
    Costs costs = costsOf(
        "{ \"tippe\": 1, \"name\": \"bounce\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0, \"restitution\": 0.5 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 1.1],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.004, \"until\": 2 } }",
        1.0 / 240.0, 480);
    assert_true(costs.work > 0.0 && costs.work < 2.8e5);
}

// A force of 8 N pushes a block of 1 kg against friction of .4, and ends in the middle of a step.
static double pushedAndLeft(double t) {
    const double end = 0.533, brake = 0.4 * 9.81, push = 8.0 - brake, speed = push * end;
    double s = fmin(fmax(t - end, 0.0), speed / brake), first = fmin(t, end);
    return 0.5 * push * first * first + speed * s - 0.5 * brake * s * s;
}

// Steps that nobody checked went over the end of the force: 1.2 times what was asked for at 1e-4,
// with an estimate of 1e-5 of it.
static void forcesEnd(void** state) {
    (void)state;
    follow("{ \"tippe\": 1, \"name\": \"push\", \"gravity\": [0, 0, -9.81],"
           " \"materials\": { \"m\": { \"friction\": 0.4 } }, \"bodies\": ["
           " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
           " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
           " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
           " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
           " \"forces\": [ { \"body\": \"a\", \"force\": [8, 0, 0], \"to\": 0.533 } ],"
           " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 2 } }",
           tpMakeVec3(1.0, 0.0, 0.0), pushedAndLeft, 200);
}

// The way of a ball of 1 kg that falls .3 m onto a spring of 4000 N/m, from the moment of contact.
static double inSpring(double speed, double t) {
    const double g = 9.81, w = sqrt(4000.0), sag = g / 4000.0;
    return -sag + sag * cos(w * t) - speed / w * sin(w * t);
}

// It bounces for ever.
static double softBounces(double t) {
    const double g = 9.81, drop = 0.3, fall = sqrt(2.0 * drop / g), speed = g * fall;
    double low = 0.049, high = 0.099; // pi / w and more: it leaves in between
    for (int k = 0; k < 60; ++k) {
        double middle = 0.5 * (low + high);
        bool isIn = inSpring(speed, middle) < 0.0;
        low = isIn ? middle : low;
        high = isIn ? high : middle;
    }
    if (t < fall) {
        return -0.5 * g * t * t;
    }
    double s = fmod(t - fall, low + 2.0 * fall);
    return s < low ? inSpring(speed, s) - drop
                   : speed * (s - low) - 0.5 * g * (s - low) * (s - low) - drop;
}

// Gaps were closed at once, and trust from the moment of contact was carried into the spring: a
// ball stayed on the floor, and was off by 15,000 times what was asked for.
static const char* const soft =
    "{ \"tippe\": 1, \"name\": \"soft\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"contact\": { \"compliance\": 0.000125 } } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
    " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.4],"
    " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }";
static void softContactsBounce(void** state) {
    (void)state;
    follow(soft, tpMakeVec3(0.0, 0.0, 1.0), softBounces, 150);
}

// A step of the user as long as the contact needs 40 to 90 checked ones. With 32 at most it was
// given up, and off by 4.5, 19 and 2,800 times what was asked for.
static void softContactsBounceInLongSteps(void** state) {
    (void)state;
    followAt(soft, tpMakeVec3(0.0, 0.0, 1.0), softBounces, 0.04, 37);
}

// A ball that rolls at 2 m/s hits a wall at .25 s, where a step ends, and hops. What a rest of 1e-9
// s of the step is off by made a rate of the error, and the next steps were as short: the landing
// at .366 s took 24, and the estimate was .5 of what is asked for afterwards.
static void impactsEndSteps(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"wall\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"friction\": 0.3, \"restitution\": 0.6 } }, \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"wall\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [-1, 0, 0], \"offset\": -0.6 } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
        " \"material\": \"m\", \"position\": [0, 0, 0.1], \"velocity\": [2, 0, 0],"
        " \"angular_velocity\": [0, 20, 0], \"shapes\": ["
        " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }");
    tpBodyId ball = tpWorld_FindBody(world, "a");
    int most = 0;
    for (int i = 1; i <= 50; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.violations, 0);
        most = i > 26 && report.substepCount > most ? report.substepCount : most;
        // The wall stops the slip of the spin: 2/7 of it become a jump.
        double t = i * h - 0.25, jump = 2.0 / 3.5;
        if (t > 0.0 && t < 2.0 * jump / 9.81) {
            tpVec3 place = tpBody_GetPosition(world, ball);
            CHECK_NEAR(place.x, 0.5 - 1.2 * t, 0.1 * report.errorAsked);
            CHECK_NEAR(place.z, 0.1 + jump * t - 0.5 * 9.81 * t * t, 0.1 * report.errorAsked);
        }
        assert_true(report.errorEstimate < 0.1 * report.errorAsked);
    }
    assert_in_range(most, 1, 8);
    tpDestroyWorld(world);
}

// A ball on a spring of 4 MN/m is in it for 1.6 ms, of a step of .04 s, and no step of 96 is short
// enough for 1e-7. That is given up for some steps, and no more.
static void hopeComesBack(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"hard\", \"gravity\": [0, 0, -9.81],"
        " \"materials\": { \"m\": { \"contact\": { \"compliance\": 0.000000125 } } },"
        " \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.4],"
        " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.04, \"until\": 2 } }");
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", "1e-7", &error), tp_success);
    int givenUp = 0;
    for (int i = 0; i < 50; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.04);
        assert_int_equal(report.violations, 0);
        bool isGivenUp = false;
        for (int k = 0; k < report.noteCount; ++k) {
            isGivenUp = isGivenUp || strstr(report.notes[k], "accuracy was not met") != NULL;
        }
        givenUp += isGivenUp ? 1 : 0;
    }
    assert_in_range(givenUp, 1, 15);
    tpDestroyWorld(world);
}

// A body of 1 kg on a spring of 50 N/m runs into the stop of its slide at .2 m, and swings back
// from there.
static double stoppedSwings(double t) {
    const double w = sqrt(50.0), size = hypot(0.2, 3.0 / w), phase = atan2(3.0 / w, -0.2);
    double hit = (phase - acos(0.2 / size)) / w;
    return 0.2 + (t < hit ? size * cos(w * t - phase) : 0.2 * cos(w * (t - hit)));
}

// The spring was held back for half of the shortest step, a 512th of the user's: as much as is
// asked for at 1e-4.
static void stopsTakeNoTime(void** state) {
    (void)state;
    follow("{ \"tippe\": 1, \"name\": \"stop\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
           " { \"name\": \"a\", \"mass\": 1, \"position\": [-0.2, 0, 0],"
           " \"velocity\": [3, 0, 0], \"shapes\": ["
           " { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ], \"joints\": ["
           " { \"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [null, \"a\"],"
           " \"anchor\": [0, 0, 0], \"axis\": [1, 0, 0], \"zero\": -0.2,"
           " \"spring\": { \"stiffness\": 50 }, \"limits\": [-0.5, 0.2] } ],"
           " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.5 } }",
           tpMakeVec3(1.0, 0.0, 0.0), stoppedSwings, 150);
}

// A motor of 6 N m turns a pendulum of 1 m up to 1.5 rad/s, which it comes to .29 s after it has
// begun, in the middle of a step of .04 s, and holds. Whole and halves of that step went at that
// speed from its start: 1.3 times what is asked for at 1e-4, with an estimate of 8e-4.
static double motorStarts(double t) {
    const double d = 2e-5, inertia = 1.004;
    double angle = 0.0, rate = 0.0, left = t;
    while (left > 0.0 && rate < 1.5) {
        double part = fmin(d, left), middle = angle + 0.5 * part * rate;
        double turn = (6.0 - 9.81 * sin(middle)) / inertia;
        angle += part * (rate + 0.5 * part * turn);
        rate += part * turn;
        left -= part;
    }
    return sin(angle + 1.5 * left);
}

static void motorsComeToTheirSpeed(void** state) {
    (void)state;
    followAt("{ \"tippe\": 1, \"name\": \"arm\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
             " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
             " \"position\": [0, 0, -1], \"shapes\": ["
             " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ], \"joints\": ["
             " { \"name\": \"j\", \"type\": \"revolute\", \"bodies\": [null, \"a\"],"
             " \"anchor\": [0, 0, 0], \"axis\": [0, -1, 0],"
             " \"motor\": { \"speed\": 1.5, \"effort\": 6 } } ],"
             " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.04, \"until\": 0.4 } }",
             tpMakeVec3(1.0, 0.0, 0.0), motorStarts, 0.04, 10);
}

// A ball rolls .8 m down a slope of 7 in 24 into a level floor, which keeps what its spin about the
// new contact was, and rolls on. The way along the level.
static double intoValley(double t) {
    double a = 5.0 / 7.0 * 9.81 * 0.28, end = sqrt(1.6 / a);
    double after = a * end * (0.4 + 0.96) / 1.4;
    return t < end ? 0.48 * a * t * t : 0.768 + after * (t - end);
}

// The floor is near from the start on, and the slope afterwards: neither is a reason for short
// strides. With bounds on the way that were twice as wide, and counted the turning of the ball, it
// was 51 steps.
static void valleysAreReached(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"valley\", \"gravity\": [0, 0, -9.81], \"materials\": {"
            " \"m\": { \"friction\": 1 } }, \"bodies\": ["
            " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
            " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 },"
            " { \"type\": \"plane\", \"normal\": [0.28, 0, 0.96], \"offset\": 0 } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.004, 0.004, 0.004],"
            " \"material\": \"m\", \"position\": [-0.75371428571428571, 0, 0.324],"
            " \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1.6 } }");
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], NULL), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        double start = tpBody_GetPosition(world, body).x;
        int substeps = 0;
        for (int i = 1; i <= 160; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            substeps += report.substepCount;
            double way = tpBody_GetPosition(world, body).x - start;
            CHECK_NEAR(way, intoValley(i * h), 0.5 * report.errorAsked);
        }
        print_message("at %s: %d steps\n", accuracies[k], substeps);
        assert_in_range(substeps, 1, 45);
        tpDestroyWorld(world);
    }
}

// A ball rolls off a table at 2 m/s after .25 s, within a step of .04 s, and falls from there. (A
// method loses the contact at the end of a step, and lets the ball fall from its start, in whole
// and halves alike: it was off by 25 times what is asked for at 1e-2, unsaid.)
static double offTheTable(double t) {
    double s = fmax(t - 0.25, 0.0);
    return -0.5 * 9.81 * s * s;
}

static void ballsLeaveTablesInTime(void** state) {
    (void)state;
    followAt("{ \"tippe\": 1, \"name\": \"table\", \"gravity\": [0, 0, -9.81],"
             " \"materials\": { \"m\": { \"friction\": 0.4 } }, \"bodies\": ["
             " { \"name\": \"table\", \"kind\": \"fixed\", \"material\": \"m\","
             " \"position\": [-0.5, 0, -0.1], \"shapes\": ["
             " { \"type\": \"box\", \"size\": [2, 1, 0.2] } ] },"
             " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
             " \"velocity\": [2, 0, 0], \"angular_velocity\": [0, 20, 0], \"shapes\": ["
             " { \"type\": \"sphere\", \"radius\": 0.1 } ] } ],"
             " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.04, \"until\": 0.6 } }",
             tpMakeVec3(0.0, 0.0, 1.0), offTheTable, 0.04, 15);
}

// A ball spins on the spot and is braked evenly: its motion is simple, and one stride goes up to
// the step of the user in which it stops. (With first strides of half a time scale it took three,
// and 44 solves.)
static void spinsAreBrakedInOneStride(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{ \"tippe\": 1, \"name\": \"spin\", \"gravity\": [0, 0, -9.81], \"materials\": {"
        " \"m\": { \"friction\": { \"static\": 0.2, \"dynamic\": 0.2, \"torsional\": 0.4 } } },"
        " \"bodies\": ["
        " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
        " { \"type\": \"plane\", \"normal\": [0, 0, 1], \"offset\": 0 } ] },"
        " { \"name\": \"a\", \"mass\": 1, \"inertia\": [0.4, 0.4, 0.4], \"material\": \"m\","
        " \"position\": [0, 0, 1], \"angular_velocity\": [0, 0, 1.962], \"shapes\": ["
        " { \"type\": \"sphere\", \"radius\": 1 } ] } ],"
        " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.07, \"until\": 1.4 } }");
    int solves = 0;
    for (int i = 1; i <= 20; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.07);
        double spin = fmax(1.962 * (1.0 - 0.07 * i), 0.0);
        solves += report.solveCount;
        CHECK_NEAR(tpBody_GetAngularVelocity(world, tpWorld_FindBody(world, "a")).z, spin, 1e-9);
    }
    assert_true(solves < 40);
    tpDestroyWorld(world);
}

// A cone without friction tumbles over the edges of hills.
static const char* const hills =
    "{ \"tippe\": 1, \"name\": \"hills\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": 0 } }, \"bodies\": ["
    " { \"name\": \"g\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
    " { \"type\": \"heightfield\", \"columns\": 4, \"rows\": 4, \"spacing\": [0.4, 0.4],"
    " \"heights\": [0.01, -0.04, 0.03, -0.02, 0.05, -0.04, 0.03, -0.04, 0.06, 0.04, -0.05, 0.02,"
    " -0.03, 0, 0.04, -0.04] } ] },"
    " { \"name\": \"a\", \"density\": 1000, \"material\": \"m\", \"position\": [0, 0, 0.25],"
    " \"rotation\": { \"axis\": [1, 0, 0], \"degrees\": 8 }, \"velocity\": [-0.7, 0, 0],"
    " \"angular_velocity\": [13, -20, 30], \"shapes\": ["
    " { \"type\": \"cone\", \"radius\": 0.11, \"length\": 0.11 } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": \"1 / 60\", \"until\": 1 } }";

// Normals change at once there, and a flow goes anywhere: its halves, which do not agree with the
// whole of it, are no way to the moment. (They were kept, with 1.3 percent more energy.)
static void edgesGiveNothing(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(hills);
    for (int i = 0; i < 60; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        assert_int_equal(report.violations, 0);
        CHECK_BELOW(report.energyIncrease, 0.1 * report.limits.energy);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksTurnRound),
        cmocka_unit_test(slidesTurnRound),
        cmocka_unit_test(slidesTurnRoundInLongSteps),
        cmocka_unit_test(tippingIsSaid),
        cmocka_unit_test(ballsGoOverEdges),
        cmocka_unit_test(domesLetGo),
        cmocka_unit_test(spinsThatStopStick),
        cmocka_unit_test(shortRestsAreForgotten),
        cmocka_unit_test(flightsEndByTheMethod),
        cmocka_unit_test(forcesEnd),
        cmocka_unit_test(softContactsBounce),
        cmocka_unit_test(softContactsBounceInLongSteps),
        cmocka_unit_test(impactsEndSteps),
        cmocka_unit_test(hopeComesBack),
        cmocka_unit_test(stopsTakeNoTime),
        cmocka_unit_test(valleysAreReached),
        cmocka_unit_test(motorsComeToTheirSpeed),
        cmocka_unit_test(spinsAreBrakedInOneStride),
        cmocka_unit_test(ballsLeaveTablesInTime),
        cmocka_unit_test(edgesGiveNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
