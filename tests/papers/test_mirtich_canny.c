// The experiments of [MirtichCanny94, sec. 5] and what must hold in them: energy falls, no pair is
// deeper than the collision tolerance, and numbers that are known are met.

#include <stdlib.h>

#include "papers/paper_world.h"

static const double g = 9.81;

// Scenes run as they stand; slow builds take the first seconds of the long ones.
static double shortened(double seconds) {
    const char* part = getenv("TIPPE_TEST_SHARE");
    return part != NULL ? seconds * atof(part) : seconds;
}

// What a run of events adds up to.
typedef struct Counters {
    long checks, collisions, microcollisions, heapOperations, handedOver;
    double deepest, largestRise;
} Counters;

// One step, held to the laws.
static void step(tpWorld* world, double h, Counters* counters) {
    tpStepReport report = tpWorld_Step(world, h);
    double before = report.kineticBefore + report.potentialBefore + report.externalWork;
    double rise = report.kineticAfter + report.potentialAfter - before;
    counters->checks += tpStepReport_GetFigure(&report, "checks");
    counters->collisions += tpStepReport_GetFigure(&report, "collisions");
    counters->microcollisions += tpStepReport_GetFigure(&report, "microcollisions");
    counters->heapOperations += tpStepReport_GetFigure(&report, "heap_operations");
    counters->handedOver += tpStepReport_GetFigure(&report, "handed_over");
    counters->deepest = fmax(counters->deepest, report.penetration);
    counters->largestRise = fmax(counters->largestRise, rise);
    assert_false(report.undone);
    // Relative to what there is: heights count from zero.
    double rounding = 1e-11 * (1.0 + fabs(report.potentialBefore) + report.kineticBefore);
    CHECK_BELOW(rise, rounding);
    CHECK_BELOW(report.penetration, tpWorld_GetOption(world, "collision_tolerance"));
}

static void print(const char* name, const Counters* counters) {
    print_message("%s: %ld checks, %ld collisions, %ld microcollisions, %ld heap operations, "
                  "deepest %.2e m, energy rises by %.1e J in a step at most\n",
                  name, counters->checks, counters->collisions, counters->microcollisions,
                  counters->heapOperations, counters->deepest, counters->largestRise);
}

// A ball on a turning platter goes round off its axis, at 2/7 of its rate.
static void platter(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("ball_platter");
    tpBodyId ball = tpWorld_FindBody(world, "ball");
    const double rate = 2.0 / 7.0 * 6.283185307179586, speed = 0.3;
    const double centerX = 0.5 - speed / rate, radius = speed / rate;
    const double seconds = 10.0;
    Counters counters = { 0 };
    double angle = 0.0, last = 0.0, growth = 0.0;
    for (int k = 0; k < 300; ++k) {
        step(world, seconds / 300, &counters);
        tpVec3 p = tpBody_GetPosition(world, ball);
        double now = atan2(p.y, p.x - centerX);
        angle += remainder(now - last, 6.283185307179586);
        last = now;
        growth = fmax(growth, fabs(hypot(p.x - centerX, p.y) / radius - 1.0));
    }
    print("platter", &counters);
    print_message("platter: rate off by %.2e, radius by %.2e at most\n",
                  angle / seconds / rate - 1.0, growth);
    CHECK_NEAR(angle / seconds / rate, 1.0, 1e-4);
    CHECK_BELOW(growth, 1e-3);
    tpDestroyWorld(world);
}

// The ball slides with constant deceleration of its slip, then rolls: time, place and velocity.
static void bowlingHook(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("bowling");
    setOption(world, "collision_tolerance", "0.001"); // the paper's
    tpBodyId ball = tpWorld_FindBody(world, "ball");
    const double mu = 0.1, radius = 0.108, h = 1.0 / 60.0;
    const tpVec3 slip0 = tpMakeVec3(8.0, -3.24, 0.0); // v + w x (-R z)
    double rolls = 2.0 * tpLength(slip0) / (7.0 * mu * g);
    CHECK_NEAR(rolls, 2.513819, 1e-6);
    Counters counters = { 0 };
    double rolled = NAN;
    tpVec3 place = tpZeroVec3();
    for (int k = 1; k * h < 2.6; ++k) {
        tpVec3 w = tpBody_GetAngularVelocity(world, ball), v = tpBody_GetVelocity(world, ball);
        double before = hypot(v.x - radius * w.y, v.y + radius * w.x);
        tpVec3 start = tpBody_GetPosition(world, ball), startV = v;
        step(world, h, &counters);
        w = tpBody_GetAngularVelocity(world, ball);
        v = tpBody_GetVelocity(world, ball);
        double after = hypot(v.x - radius * w.y, v.y + radius * w.x);
        // Within the step slip falls at 7/2 mu g until it is gone.
        if (isnan(rolled) && after < 0.02 && before > 0.02) {
            double into = before / (3.5 * mu * g);
            rolled = (k - 1) * h + into;
            tpVec3 a = tpScale(1.0 / into, tpSub(v, startV));
            place = tpMulAdd(tpMulAdd(start, into, startV), 0.5 * into * into, a);
        }
    }
    tpVec3 v = tpBody_GetVelocity(world, ball);
    print("bowling, before the pins", &counters);
    print_message("bowling: rolls at %.6f s (%.6f), at (%.5f, %.5f), with (%.6f, %.6f) m/s\n",
                  rolled, rolls, place.x, place.y, v.x, v.y);
    CHECK_NEAR(rolled, rolls, 1e-3 * rolls);
    CHECK_NEAR(place.x, 17.23762, 1e-3 * 17.23762);
    CHECK_NEAR(place.y, 1.163539, 1e-3 * 1.163539);
    CHECK_NEAR(v.x, 5.714286, 1e-3 * 5.714286);
    CHECK_NEAR(v.y, 0.925714, 1e-3 * 0.925714);
    tpDestroyWorld(world);
}

// The ball meets the rack and pins fall.
static void bowlingStrike(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("bowling");
    setOption(world, "collision_tolerance", "0.001"); // the paper's
    Counters counters = { 0 };
    for (int k = 0; k < (int)(30.0 * shortened(5.0)); ++k) {
        step(world, 1.0 / 30.0, &counters);
    }
    int fallen = 0;
    for (int i = 1; i <= 10; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "pin%d", i);
        tpBodyId pin = tpWorld_FindBody(world, name);
        tpVec3 up = tpRotate(tpBody_GetRotation(world, pin), tpMakeVec3(0.0, 0.0, 1.0));
        fallen += up.z < 0.7 || tpBody_GetPosition(world, pin).z < 0.0;
    }
    print("bowling", &counters);
    print_message("bowling: %d of ten pins down\n", fallen);
    assert_true(fallen >= 6 || shortened(1.0) < 1.0);
    tpDestroyWorld(world);
}

// Height of the next apex over the floor, from the state in flight.
static double apex(const tpWorld* world, tpBodyId ball) {
    double v = tpBody_GetVelocity(world, ball).z;
    return tpBody_GetPosition(world, ball).z - 0.1 + 0.5 * v * v / g;
}

static void bouncingBall(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("bouncing_ball");
    tpBodyId ball = tpWorld_FindBody(world, "ball");
    const double e = 0.5, first = sqrt(2.0 / g), h = 1e-3;
    double tolerance = tpWorld_GetOption(world, "collision_tolerance");
    double end = first * (1.0 + e) / (1.0 - e);
    CHECK_NEAR(end, 1.354571, 1e-6);
    Counters counters = { 0 };
    double worst = 0.0, highest = 0.0;
    for (int k = 1; k <= 2000; ++k) {
        step(world, h, &counters);
        double t = k * h, start = first, bounce = 1.0;
        // Which flight: bounce n starts at start, takes 2 first e^n, and rises to e^(2n).
        int n = 1;
        for (double length = 2.0 * first * e; n <= 5 && t > start + length; ++n, length *= e) {
            start += length;
        }
        bounce = pow(e, 2.0 * n);
        double into = t - start;
        if (n <= 5 && into > 0.0 && into < 2.0 * first * pow(e, n)) {
            worst = fmax(worst, fabs(apex(world, ball) - bounce));
        }
        if (t >= end + 2e-3) {
            highest = fmax(highest, fabs(tpBody_GetPosition(world, ball).z - 0.1));
        }
    }
    print("bouncing ball", &counters);
    print_message(
        "bouncing ball: apexes off by %.2e m at most; from %.6f s on within %.2e m of the "
        "floor (collision tolerance %.1e m)\n",
        worst, end + 2e-3, highest, tolerance);
    CHECK_BELOW(worst, 1e-6);
    CHECK_BELOW(highest, tolerance);
    tpDestroyWorld(world);
}

static void runMarbles(const char* scene, double seconds, Counters* counters, double speeds[5]) {
    tpWorld* world = makePaperWorld(scene);
    for (int k = 0; k < (int)(30.0 * seconds); ++k) {
        step(world, 1.0 / 30.0, counters);
    }
    for (int i = 0; i < 5; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "marble%d", i);
        speeds[i] = tpBody_GetVelocity(world, tpWorld_FindBody(world, name)).x;
    }
    print(scene, counters);
    print_message("%s: %.4f %.4f %.4f %.4f %.4f m/s\n", scene, speeds[0], speeds[1], speeds[2],
                  speeds[3], speeds[4]);
    tpDestroyWorld(world);
}

// One marble in, one out: with 5/7 of the speed once it rolls. The others creep, for the first
// keeps its spin.
static void marblesOfSpheres(void** state) {
    (void)state;
    Counters counters = { 0 };
    double speeds[5];
    runMarbles("marbles_spheres", 2.0, &counters, speeds);
    CHECK_NEAR(speeds[4], 5.0 / 7.0 * 0.5, 1e-4);
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        assert_true(speeds[i] > 0.0);
        CHECK_BELOW(speeds[i], 0.05);
        sum += speeds[i];
    }
    // 2/7 of the first one's momentum is in its spin, and goes to them in the end.
    CHECK_NEAR(sum, 2.0 / 7.0 * 0.5, 1e-3);
}

static void marblesOfFacets(void** state) {
    (void)state;
    Counters counters = { 0 };
    double speeds[5];
    runMarbles("marbles", shortened(0.5), &counters, speeds);
    if (shortened(1.0) == 1.0) {
        assert_true(speeds[4] > 0.25);
        for (int i = 0; i < 4; ++i) {
            CHECK_BELOW(fabs(speeds[i]), 0.1);
        }
    }
}

// Slope of the least squares line through equidistant values, times their span.
static double fittedDrift(const double* values, int count) {
    double mean = 0.0, slope = 0.0, square = 0.0;
    for (int i = 0; i < count; ++i) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; ++i) {
        double t = i - 0.5 * (count - 1);
        slope += t * (values[i] - mean);
        square += t * t;
    }
    return slope / square * (count - 1);
}

static void blockOnRamp(void** state) {
    (void)state;
    enum { steps = 300 };
    tpWorld* world = makePaperWorld("block_ramp");
    tpBodyId block = tpWorld_FindBody(world, "block");
    tpVec3 start = tpBody_GetPosition(world, block);
    tpVec3 down = tpMakeVec3(cos(0.349065850398866), 0.0, -sin(0.349065850398866));
    Counters counters = { 0 };
    double along[steps], across[steps];
    for (int k = 0; k < steps; ++k) {
        step(world, 10.0 / steps, &counters);
        tpVec3 moved = tpSub(tpBody_GetPosition(world, block), start);
        along[k] = tpDot(moved, down);
        across[k] = moved.y;
    }
    print("block on ramp", &counters);
    print_message("block on ramp: drifts by %.2e m along and %.2e m across in 10 s\n",
                  fittedDrift(along, steps), fittedDrift(across, steps));
    CHECK_BELOW(fabs(fittedDrift(along, steps)), 1e-9);
    CHECK_BELOW(fabs(fittedDrift(across, steps)), 1e-9);
    tpDestroyWorld(world);
}

// Coins hit each other and settle; all end at rest or off the platform.
static void coinsSettle(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("coins");
    Counters counters = { 0 };
    for (int k = 0; k < (int)(30.0 * shortened(5.0)); ++k) {
        step(world, 1.0 / 30.0, &counters);
    }
    print("coins", &counters);
    int resting = 0, gone = 0;
    for (int i = 0; i < 8; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "%s%d", i < 4 ? "rolled" : "thrown", i % 4);
        tpBodyId coin = tpWorld_FindBody(world, name);
        gone += tpBody_GetPosition(world, coin).z < -0.02;
        resting += tpLength(tpBody_GetVelocity(world, coin)) < 0.05;
    }
    print_message("coins: %d at rest, %d off the platform\n", resting, gone);
    assert_true(resting + gone >= 6 || shortened(1.0) < 1.0);
    tpDestroyWorld(world);
}

static void eulerDisc(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("euler_disc");
    tpBodyId disc = tpWorld_FindBody(world, "disc");
    Counters counters = { 0 };
    double height = tpBody_GetPosition(world, disc).z;
    for (int k = 0; k < 15; ++k) {
        step(world, 1.0 / 30.0, &counters);
    }
    print("spinning coin", &counters);
    print_message("spinning coin: height %.5f m, at the start %.5f m\n",
                  tpBody_GetPosition(world, disc).z, height);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platter),          cmocka_unit_test(bowlingHook),
        cmocka_unit_test(bouncingBall),     cmocka_unit_test(blockOnRamp),
        cmocka_unit_test(marblesOfSpheres), cmocka_unit_test(marblesOfFacets),
        cmocka_unit_test(bowlingStrike),    cmocka_unit_test(coinsSettle),
        cmocka_unit_test(eulerDisc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
