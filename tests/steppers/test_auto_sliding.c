// Bodies that slide, as flows carry them: blocks that turn on four corners, slips that end and
// begin in all directions, and bodies of which directions are locked.

#include "support/scene_text.h"
#include "tippe/world.h"

static const double h = 0.01, g = 9.81;

static const char* const accuracies[] = { "1e-2", "1e-3", "1e-4" };

// Blocks that turn --------------------------------------------------------------------------------

// A block of .4 m by .4 m by .2 m on its four corners, of 1 kg and friction .3.
static const double mu = 0.3, height = 0.1, moment = 0.32 / 12.0;

typedef struct Planar {
    double q[6]; // x, y, turn, and their rates
} Planar;

// Solves three equations by Gauss and Jordan; the pivots of these are not small.
static void eliminate(double rows[3][4]) {
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            double factor = i == k ? 0.0 : rows[i][k] / rows[k][k];
            for (int j = k; j < 4; ++j) {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        rows[k][3] /= rows[k][k];
    }
}

// The rates of its state. Corners carry N = c + a x + b y, as equal springs do, with which it does
// not tip: the weight, and the moments of N and of friction at the bottom.
static Planar ratesOf(const Planar* state) {
    const double* q = state->q;
    double places[4][2], slips[4][2], rows[3][4] = { { 0.0 } };
    for (int i = 0; i < 4; ++i) {
        double a = i & 1 ? 0.2 : -0.2, b = i & 2 ? 0.2 : -0.2;
        double x = a * cos(q[2]) - b * sin(q[2]), y = a * sin(q[2]) + b * cos(q[2]);
        double u = q[3] - q[5] * y, v = q[4] + q[5] * x, size = fmax(hypot(u, v), 1e-12);
        places[i][0] = x, places[i][1] = y, slips[i][0] = u / size, slips[i][1] = v / size;
        const double parts[3] = { 1.0, x, y };
        for (int k = 0; k < 3; ++k) {
            rows[0][k] += parts[k];
            rows[1][k] += parts[k] * (x - height * mu * slips[i][0]);
            rows[2][k] += parts[k] * (y - height * mu * slips[i][1]);
        }
    }
    rows[0][3] = g;
    eliminate(rows);
    Planar rates = { { q[3], q[4], q[5], 0.0, 0.0, 0.0 } };
    for (int i = 0; i < 4; ++i) {
        double load = rows[0][3] + rows[1][3] * places[i][0] + rows[2][3] * places[i][1];
        double x = -mu * load * slips[i][0], y = -mu * load * slips[i][1];
        rates.q[3] += x;
        rates.q[4] += y;
        rates.q[5] += (places[i][0] * y - places[i][1] * x) / moment;
    }
    return rates;
}

static Planar along(const Planar* from, double time, const Planar* rates) {
    Planar to = *from;
    for (int k = 0; k < 6; ++k) {
        to.q[k] += time * rates->q[k];
    }
    return to;
}

// Takes a step of the user by a hundred steps of Runge and Kutta, up to where it stands still.
static void slideOn(Planar* state) {
    double part = 0.01 * h;
    for (int i = 0; i < 100 && hypot(state->q[3], state->q[4]) + fabs(state->q[5]) > 1e-3; ++i) {
        Planar a = ratesOf(state), place = along(state, 0.5 * part, &a);
        Planar b = ratesOf(&place);
        place = along(state, 0.5 * part, &b);
        Planar c = ratesOf(&place);
        place = along(state, part, &c);
        Planar d = ratesOf(&place);
        for (int k = 0; k < 6; ++k) {
            state->q[k] += part / 6.0 * (a.q[k] + 2.0 * b.q[k] + 2.0 * c.q[k] + d.q[k]);
        }
    }
}

// Four contacts under one block have one load too many. The block slides and turns as on equal
// springs, up to where it stops. (Flows left it to methods, which have loads of their own in each
// step: at 1e-4 it was off by 8 times what is asked for, and said to be by 3,000 times, with 659
// substeps.)
static void blocksTurnAsOnSprings(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"turning\", \"gravity\": [0, 0, -9.81],"
            " \"materials\": { \"m\": { \"friction\": 0.3 } }, \"bodies\": ["
            " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
            " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
            " \"velocity\": [2, 0.5, 0], \"angular_velocity\": [0, 0, 3],"
            " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        Planar right = { { 0.0, 0.0, 0.0, 2.0, 0.5, 3.0 } };
        int substepCount = 0;
        for (int i = 1; i <= 80; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            slideOn(&right);
            tpVec3 place = tpBody_GetPosition(world, body);
            assert_int_equal(report.violations, 0);
            CHECK_NEAR(place.x, right.q[0], report.errorAsked);
            CHECK_NEAR(place.y, right.q[1], report.errorAsked);
            assert_true(report.errorEstimate <= report.errorAsked);
            substepCount += report.substepCount;
        }
        print_message("%s: %d substeps\n", accuracies[k], substepCount);
        assert_true(substepCount < 80);
        tpDestroyWorld(world);
    }
}

// Slips that end and begin ------------------------------------------------------------------------

static const char* const ellipsoid =
    "{ \"tippe\": 1, \"name\": \"ellipsoid\", \"gravity\": [0, 0, -9.81],"
    " \"materials\": { \"m\": { \"friction\": 0.2 } }, \"bodies\": ["
    " { \"name\": \"floor\", \"kind\": \"fixed\", \"material\": \"m\","
    " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
    " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
    " \"velocity\": [1, 0.3, 0], \"angular_velocity\": [0, 0, 8],"
    " \"shapes\": [ { \"type\": \"ellipsoid\", \"radii\": [0.3, 0.2, 0.1] } ] } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.005, \"until\": 1 } }";

// An ellipsoid slides and spins, rolls for a twentieth of a second, slides again, and so twice. Its
// slip turns the faster the smaller it is: nobody steps over its end, and what begins to slide
// needs short steps. Flows come near to the end, and take over where the slip has grown. The truth
// is chakraborty-trinkle at a 32nd of the step. (Methods were left with it, gave up, and were off
// by 6.3 times what is asked for at 1e-4, and said to be by 216 times; 20 million counted units of
// work at 1e-3 instead of 6.5.)
static void slipsTurnAndEnd(void** state) {
    (void)state;
    tpWorld* right = makeWorldFrom(ellipsoid);
    tpWorld* worlds[3];
    tpError error;
    assert_int_equal(tpWorld_SetStepper(right, tp_chakrabortyTrinkle), tp_success);
    for (int k = 0; k < 3; ++k) {
        worlds[k] = makeWorldFrom(ellipsoid);
        assert_int_equal(tpWorld_SetOption(worlds[k], "accuracy", accuracies[k], &error),
                         tp_success);
    }
    for (int i = 1; i <= 200; ++i) {
        for (int k = 0; k < 32; ++k) {
            tpWorld_Step(right, 0.005 / 32);
        }
        tpVec3 place = tpBody_GetPosition(right, tpWorld_FindBody(right, "a"));
        for (int k = 0; k < 3; ++k) {
            tpStepReport report = tpWorld_Step(worlds[k], 0.005);
            tpVec3 here = tpBody_GetPosition(worlds[k], tpWorld_FindBody(worlds[k], "a"));
            assert_true(tpDistanceBetween(place, here) <= report.errorAsked);
            assert_true(k == 2 || report.errorEstimate <= report.errorAsked);
        }
    }
    tpDestroyWorld(right);
    for (int k = 0; k < 3; ++k) {
        tpDestroyWorld(worlds[k]);
    }
}

// A block that is put on a belt slides until it goes along. What is left of the slip near its end
// takes no time: the flow goes on from there, with contacts that stick, and makes up the momentum.
// (It was left to the method, whole and in halves: 54 solves.)
static void slipsAreStopped(void** state) {
    (void)state;
    double speed = 1.2, end = speed / (0.25 * g);
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"belt\", \"gravity\": [0, 0, -9.81],"
            " \"materials\": { \"m\": { \"friction\": 0.25 } }, \"bodies\": ["
            " { \"name\": \"belt\", \"kind\": \"kinematic\", \"material\": \"m\","
            " \"velocity\": [1.2, 0, 0],"
            " \"shapes\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"position\": [0, 0, 0.1],"
            " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        int solveCount = 0;
        double impulse = 0.0;
        for (int i = 1; i <= 100; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            double t = fmin(i * h, end);
            assert_int_equal(report.violations, 0);
            CHECK_NEAR(tpBody_GetPosition(world, body).x, 0.125 * g * t * t + speed * (i * h - t),
                       report.errorAsked);
            assert_true(report.errorEstimate <= report.errorAsked);
            solveCount += report.solveCount;
            int count;
            const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
            for (int j = 0; j < count; ++j) {
                impulse += fabs(contacts[j].frictionImpulse.x);
            }
            CHECK_NEAR(impulse, tpBody_GetVelocity(world, body).x, 1e-9);
        }
        print_message("%s: %d solves\n", accuracies[k], solveCount);
        assert_true(solveCount < 52);
        tpDestroyWorld(world);
    }
}

// Locks -------------------------------------------------------------------------------------------

// A block on a slope, which it cannot go down: the lock takes what the slope pushes it down by, so
// that it is pressed by m g / cos a and slides across, up to its stop.
static void locksHoldOnSlopes(void** state) {
    (void)state;
    double speed = 1.5, rate = 0.3 * g / cos(0.4), stop = speed / rate;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorldFrom(
            "{ \"tippe\": 1, \"name\": \"rail\", \"gravity\": [0, 0, -9.81],"
            " \"materials\": { \"m\": { \"friction\": 0.3 } }, \"bodies\": ["
            " { \"name\": \"slope\", \"kind\": \"fixed\", \"material\": \"m\", \"shapes\": ["
            " { \"type\": \"plane\", \"normal\": [\"sin(0.4)\", 0, \"cos(0.4)\"] } ] },"
            " { \"name\": \"a\", \"mass\": 1, \"material\": \"m\", \"velocity\": [0, 1.5, 0],"
            " \"position\": [\"0.1 * sin(0.4)\", 0, \"0.1 * cos(0.4)\"],"
            " \"rotation\": { \"axis\": [0, 1, 0], \"degrees\": \"0.4 * 180 / pi\" },"
            " \"locked\": [\"x\", \"rx\", \"ry\", \"rz\"],"
            " \"shapes\": [ { \"type\": \"box\", \"size\": [0.4, 0.4, 0.2] } ] } ],"
            " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }");
        tpError error;
        assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracies[k], &error), tp_success);
        tpBodyId body = tpWorld_FindBody(world, "a");
        int substepCount = 0;
        for (int i = 1; i <= 80; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            double t = fmin(i * h, stop);
            tpVec3 place = tpBody_GetPosition(world, body);
            CHECK_NEAR(place.y, speed * t - 0.5 * rate * t * t, report.errorAsked);
            CHECK_NEAR(place.x, 0.1 * sin(0.4), 1e-9);
            assert_true(report.errorEstimate <= report.errorAsked);
            substepCount += report.substepCount;
        }
        assert_true(substepCount < 40);
        tpDestroyWorld(world);
    }
}

static const char* const chainText =
    "{ \"tippe\": 1, \"name\": \"chain\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
    " { \"repeat\": { \"i\": 3 }, \"name\": \"b{i}\", \"mass\": 0.5,"
    " \"inertia\": [1e-3, 0.004, 0.004], \"position\": [\"0.3 * i + 0.15\", 0, 0]%s } ],"
    " \"joints\": [ { \"name\": \"j0\", \"type\": \"%s\", \"bodies\": [null, \"b0\"],"
    " \"anchor\": [0, 0, 0]%s },"
    " { \"repeat\": { \"i\": 2 }, \"name\": \"k{i}\", \"type\": \"%s\","
    " \"bodies\": [\"b{i}\", \"b{i + 1}\"], \"anchor\": [\"0.3 * (i + 1)\", 0, 0]%s } ],"
    " \"simulation\": { \"stepper\": \"auto\", \"step\": 0.01, \"until\": 1 } }";

// A chain of ball joints whose links are locked to a plane moves as one of hinges does, and the
// flow carries both, though locks and joints hold links twice. (Methods carried it: 263 substeps.)
static void lockedChainsSwingLikeHinges(void** state) {
    (void)state;
    char text[2][2000];
    snprintf(text[0], sizeof(text[0]), chainText, ", \"locked\": [\"y\", \"rx\", \"rz\"]", "ball",
             "", "ball", "");
    snprintf(text[1], sizeof(text[1]), chainText, "", "revolute", ", \"axis\": [0, 1, 0]",
             "revolute", ", \"axis\": [0, 1, 0]");
    tpWorld* locked = makeWorldFrom(text[0]);
    tpWorld* hinged = makeWorldFrom(text[1]);
    int substepCount = 0;
    for (int i = 1; i <= 100; ++i) {
        tpStepReport report = tpWorld_Step(locked, h);
        tpWorld_Step(hinged, h);
        substepCount += report.substepCount;
        assert_int_equal(report.violations, 0);
        tpVec3 a = tpBody_GetPosition(locked, tpWorld_FindBody(locked, "b2"));
        tpVec3 b = tpBody_GetPosition(hinged, tpWorld_FindBody(hinged, "b2"));
        assert_true(a.y == 0.0);
        CHECK_NEAR(a.x, b.x, report.errorAsked);
        CHECK_NEAR(a.z, b.z, report.errorAsked);
    }
    print_message("%d substeps\n", substepCount);
    assert_true(substepCount < 150);
    tpDestroyWorld(locked);
    tpDestroyWorld(hinged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksTurnAsOnSprings),
        cmocka_unit_test(slipsTurnAndEnd),
        cmocka_unit_test(slipsAreStopped),
        cmocka_unit_test(locksHoldOnSlopes),
        cmocka_unit_test(lockedChainsSwingLikeHinges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
