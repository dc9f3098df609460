// The accuracy that is asked for is the accuracy one gets: against closed forms, through impacts,
// sliding and joints.

#include <stdlib.h>
#include <string.h>

#include "auto_pendulum.h"
#include "support/floor.h"

static tpWorld* makeWorld(double mu, double restitution, const char* accuracy) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, mu, restitution);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    return world;
}

static tpBodyId addBall(tpWorld* world, tpVec3 place, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, body, &shapeDef, &sphere, NULL);
    return body;
}

// Height of the centre of a ball that was dropped, after t seconds, by its bounces.
static double bounceHeight(double drop, double e, double t) {
    const double g = 9.81;
    double fall = sqrt(2.0 * drop / g), speed = g * fall;
    if (t < fall) {
        return drop - 0.5 * g * t * t;
    }
    t -= fall;
    for (int bounce = 0; bounce < 60; ++bounce) {
        speed *= e;
        double flight = 2.0 * speed / g;
        if (t < flight) {
            return speed * t - 0.5 * g * t * t;
        }
        t -= flight;
    }
    return 0.0;
}

// A ball beside a second one that rests: groups of their own. Steps that do not know when impacts
// come.
static void bouncesAreFound(void** state) {
    (void)state;
    static const char* const texts[] = { "1e-2", "1e-3", "1e-4" };
    static const double steps[] = { 0.013, 1.0 / 60.0, 0.003 };
    for (int k = 0; k < 9; ++k) {
        double accuracy = strtod(texts[k % 3], NULL), h = steps[k / 3];
        tpWorld* world = makeWorld(0.3, 0.8, texts[k % 3]);
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 1.1), tpZeroVec3());
        tpBodyId other = addBall(world, tpMakeVec3(3.0, 0.0, 0.1), tpZeroVec3());
        for (int i = 1; i * h < 2.0; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.violations, 0);
            double height = tpBody_GetPosition(world, ball).z - 0.1;
            CHECK_NEAR(height, bounceHeight(1.0, 0.8, i * h), accuracy * 0.1);
            CHECK_NEAR(tpBody_GetPosition(world, other).z, 0.1, 1e-6);
        }
        tpDestroyWorld(world);
    }
}

// A ball slides, and rolls from the moment on that friction has given it the spin: v = 5/7 v0 at
// t = 2 v0 / (7 mu g).
static void slidingEndsInTime(void** state) {
    (void)state;
    static const char* const texts[] = { "1e-2", "1e-3", "1e-4" };
    const double mu = 0.2, v0 = 2.0, h = 0.01, g = 9.81;
    double slip = 2.0 * v0 / (7.0 * mu * g);
    for (int k = 0; k < 3; ++k) {
        double accuracy = strtod(texts[k], NULL);
        tpWorld* world = makeWorld(mu, 0.0, texts[k]);
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpMakeVec3(v0, 0.0, 0.0));
        double estimate = 0.0;
        for (int i = 1; i <= 100; ++i) {
            estimate = tpWorld_Step(world, h).errorEstimate;
            double t = fmin(i * h, slip), rest = i * h - t;
            double right = v0 * t - 0.5 * mu * g * t * t + rest * 5.0 / 7.0 * v0;
            CHECK_NEAR(tpBody_GetPosition(world, ball).x, right, accuracy * 0.1);
        }
        assert_true(isfinite(estimate) && estimate >= 0.0);
        tpDestroyWorld(world);
    }
}

static void pendulumIsFollowed(void** state) {
    (void)state;
    static const char* const texts[] = { "1e-2", "1e-3", "1e-4" };
    const double end = 3.0, h = 0.05;
    double right = pendulumState(end).angle;
    int substeps[3];
    for (int k = 0; k < 3; ++k) {
        tpBodyId bob;
        tpWorld* world = makePendulum(texts[k], 0.0, &bob);
        substeps[k] = 0;
        for (int i = 0; i < 60; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            substeps[k] += report.substepCount;
            // A part of the accuracy, and a hundredth of what the certificate allows.
            assert_true(report.jointDrift <= fmin(1e-5 * report.errorAsked, 1e-8));
        }
        tpVec3 place = tpBody_GetPosition(world, bob);
        double off = tpDistanceBetween(place, tpMakeVec3(cos(right), 0.0, -sin(right)));
        CHECK_NEAR(off, 0.0, strtod(texts[k], NULL));
        tpDestroyWorld(world);
    }
    assert_true(substeps[0] < substeps[1] && substeps[1] < substeps[2]);
}

// A body that flies beside a pendulum: nothing is said of joints, since they are held.
static void jointsOfOthersAreHeld(void** state) {
    (void)state;
    tpBodyId bob;
    tpWorld* world = makePendulum("1e-3", 0.0, &bob);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(50.0, 0.0, 0.0);
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
    tpBodyId flying = tpCreateBody(world, &def, NULL);
    for (int i = 0; i < 20; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_int_equal(report.noteCount, 0);
        assert_string_equal(tpBody_GetCarrier(world, flying), "free-flight");
    }
    tpDestroyWorld(world);
}

// What carries a body can be asked, and bodies in flight are left to free flight.
static void carriersAreTold(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.3, 0.0, "1e-3");
    tpBodyId flying = addBall(world, tpMakeVec3(0.0, 0.0, 50.0), tpZeroVec3());
    tpBodyId resting = addBall(world, tpMakeVec3(3.0, 0.0, 0.1), tpZeroVec3());
    tpWorld_Step(world, 0.01);
    assert_string_equal(tpBody_GetCarrier(world, flying), "free-flight");
    assert_non_null(tpBody_GetCarrier(world, resting));
    assert_string_not_equal(tpBody_GetCarrier(world, resting), "free-flight");
    tpDestroyWorld(world);
}

// Two balls that fly towards each other from far are found before they meet.
static void groupsMeet(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0, 1.0, "1e-3");
    tpWorld_SetGravity(world, tpZeroVec3());
    tpBodyId a = addBall(world, tpMakeVec3(-5.0, 0.0, 2.0), tpMakeVec3(10.0, 0.0, 0.0));
    tpBodyId b = addBall(world, tpMakeVec3(5.0, 0.0, 2.0), tpMakeVec3(-10.0, 0.0, 0.0));
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, 0.01);
    }
    // They touch after 4.9 / 10 s and exchange their velocities.
    CHECK_VEC3(tpBody_GetVelocity(world, a), tpMakeVec3(-10.0, 0.0, 0.0), 1e-6);
    CHECK_NEAR(tpBody_GetPosition(world, a).x, -0.1 - 10.0 * 0.51, 1e-4);
    CHECK_NEAR(tpBody_GetPosition(world, b).x, 0.1 + 10.0 * 0.51, 1e-4);
    tpDestroyWorld(world);
}

static double loadOf(const tpWorld* world, double h) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += contacts[i].normalImpulse / h;
    }
    return sum;
}

// A ball that lies still is left alone, with what it weighs in the list of contacts; another one
// that comes rolling wakes it, and the two exchange what elastic balls exchange.
static void restIsLeftAlone(void** state) {
    (void)state;
    const double h = 0.01, g = 9.81;
    tpWorld* world = makeWorld(0.0, 1.0, "1e-3");
    tpBodyId resting = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpZeroVec3());
    tpBodyId coming = addBall(world, tpMakeVec3(-2.2, 0.0, 0.1), tpMakeVec3(2.0, 0.0, 0.0));
    double weight = g * tpBody_GetMass(world, resting).mass;
    bool hasSlept = false;
    for (int i = 0; i < 90; ++i) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
        hasSlept = hasSlept || tpBody_IsAsleep(world, resting);
        CHECK_NEAR(loadOf(world, h), 2.0 * weight, 1e-6 * weight);
    }
    assert_true(hasSlept);
    for (int i = 0; i < 60; ++i) {
        tpWorld_Step(world, h);
    }
    assert_false(tpBody_IsAsleep(world, resting));
    // They touch after 1 s.
    CHECK_NEAR(tpBody_GetPosition(world, resting).x, 2.0 * 0.5, 1e-4);
    CHECK_NEAR(tpBody_GetPosition(world, coming).x, -0.2, 1e-4);
    tpDestroyWorld(world);
}

// Sleep and what is known of groups go into snapshots.
static void snapshotsKeepTheRest(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.3, 0.5, "1e-3");
    addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpZeroVec3());
    tpBodyId ball = addBall(world, tpMakeVec3(0.15, 0.0, 1.0), tpMakeVec3(0.0, 0.2, 0.0));
    for (int i = 0; i < 30; ++i) {
        tpWorld_Step(world, 0.01);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    assert_non_null(snapshot);
    tpVec3 ends[2];
    for (int run = 0; run < 2; ++run) {
        for (int i = 0; i < 40; ++i) {
            tpWorld_Step(world, 0.01);
        }
        ends[run] = tpBody_GetPosition(world, ball);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    }
    assert_memory_equal(&ends[0], &ends[1], sizeof(tpVec3));
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

static tpBodyId addBox(tpWorld* world, tpBodyKind kind, tpVec3 place, tpVec3 halfSize) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = place;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 500.0;
    tpBox box = { tpScale(2.0, halfSize) };
    tpCreateBox(world, body, &shapeDef, &box, NULL);
    return body;
}

// Twelve books of unequal height in a shelf that is as wide as they are, one of them pulled: paths
// that cannot be followed, by methods that are all hard at work. Comparing them and checking their
// steps ends when a step has cost what it may, 1e8 ns, and the report says that the accuracy was
// missed.
static void hardStepsEnd(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.3, 0.0, "1e-3");
    static const double widths[] = { 0.03, 0.025, 0.04, 0.02, 0.035, 0.03 };
    tpBodyId pulled = { 0 };
    double x = 0.0;
    addBox(world, tp_fixedBody, tpMakeVec3(-0.01, 0.0, 0.15), tpMakeVec3(0.01, 0.15, 0.15));
    for (int i = 0; i < 12; ++i) {
        double width = widths[i % 6], height = 0.2 + 0.02 * (3 * i % 4);
        tpVec3 place = tpMakeVec3(x + 0.5 * width, 0.0, 0.5 * height);
        tpVec3 halfSize = tpMakeVec3(0.5 * width, 0.075 + 0.005 * (i % 3), 0.5 * height);
        tpBodyId book = addBox(world, tp_dynamicBody, place, halfSize);
        pulled = i == 5 ? book : pulled;
        x += width;
    }
    addBox(world, tp_fixedBody, tpMakeVec3(x + 0.01, 0.0, 0.15), tpMakeVec3(0.01, 0.15, 0.15));
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        tpBody_ApplyForce(world, pulled, tpMakeVec3(0.0, -100.0, 20.0), tp_worldFrame);
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        most = fmax(most, report.work);
    }
    CHECK_BELOW(most, 1e8);
    tpDestroyWorld(world);
}

// A pyramid of 210 boxes: so many are not compared, and the method for piles carries them from the
// start, certified.
static void crowdsStartAtOnce(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.6, 0.0, "1e-3");
    const tpVec3 halfSize = tpMakeVec3(0.5, 0.5, 0.5);
    tpBodyId top = { 0 };
    for (int row = 0; row < 20; ++row) {
        for (int i = 0; i < 20 - row; ++i) {
            top = addBox(world, tp_dynamicBody, tpMakeVec3(1.05 * (i + 0.5 * row), 0.0, 0.5 + row),
                         halfSize);
        }
    }
    tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
    assert_int_equal(report.violations, 0);
    assert_string_equal(tpBody_GetCarrier(world, top), "bender-schmitt");
    CHECK_NEAR(tpBody_GetPosition(world, top).z, 19.5, 1e-6);
    CHECK_BELOW(report.work, 1e9);
    tpDestroyWorld(world);
}

// Nobody follows the paths of 36 balls side by side that fall onto a floor; the estimate does not
// say that they are exact.
static void crowdsAreNotExact(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.4, 0.2, "1e-3");
    for (int i = 0; i < 36; ++i) {
        addBall(world, tpMakeVec3(0.2001 * (i % 6), 0.2001 * (i / 6), 0.3), tpZeroVec3());
    }
    tpStepReport report = { 0 };
    for (int i = 0; i < 40; ++i) {
        report = tpWorld_Step(world, 1.0 / 100.0);
    }
    assert_true(report.errorEstimate > report.errorAsked);
    tpDestroyWorld(world);
}

// An impact of two bodies alone is located, and flights are exact: nothing is compared, and nothing
// but the steps in which the ball strikes does any work. With whole and
// halves of the first ones it was 3.6e4 ns.
static void loneImpactsAreNotCompared(void** state) {
    (void)state;
    const double h = 0.01;
    tpWorld* world = makeWorld(0.0, 0.9, "1e-4");
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 1.1), tpMakeVec3(0.3, 0.0, 0.0));
    double work = 0.0;
    int substeps = 0;
    for (int i = 1; i <= 120; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        work += report.work;
        substeps += report.substepCount;
        double off = fabs(tpBody_GetPosition(world, ball).z - 0.1 - bounceHeight(1.0, 0.9, i * h));
        CHECK_BELOW(off, report.errorEstimate + 1e-9);
        CHECK_BELOW(report.errorEstimate, 1e-2 * report.errorAsked);
    }
    print_message("%d steps, %g of work\n", substeps, work);
    CHECK_BELOW(work, 2.5e4);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bouncesAreFound),      cmocka_unit_test(slidingEndsInTime),
        cmocka_unit_test(pendulumIsFollowed),   cmocka_unit_test(carriersAreTold),
        cmocka_unit_test(groupsMeet),           cmocka_unit_test(restIsLeftAlone),
        cmocka_unit_test(snapshotsKeepTheRest), cmocka_unit_test(jointsOfOthersAreHeld),
        cmocka_unit_test(hardStepsEnd),         cmocka_unit_test(crowdsStartAtOnce),
        cmocka_unit_test(crowdsAreNotExact),    cmocka_unit_test(loneImpactsAreNotCompared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
