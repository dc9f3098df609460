// Strides over many steps of the user: the motion in between is as accurate as at their ends,
// joints hold, forces are right, and what users change in between counts at once.

#include <stdlib.h>

#include "auto_pendulum.h"
#include "world/world.h"

static const double h = 1e-3;

// The load of the pivot: gravity and what bends the path of the bob, along and across the rod.
static tpVec3 pivotForce(PendulumState now) {
    const double m = 2.0, g = 9.81, pull = m * g / (m + 0.02);
    double c = cos(now.angle), s = sin(now.angle), turn = pull * c;
    tpVec3 rod = tpMakeVec3(c, 0.0, -s), across = tpMakeVec3(-s, 0.0, -c);
    tpVec3 acceleration = tpAdd(tpScale(-now.speed * now.speed, rod), tpScale(turn, across));
    return tpMulAdd(tpMakeVec3(0.0, 0.0, m * g), m, acceleration);
}

// Each step is compared: at the ends of strides, in the middle and anywhere else.
static void motionInBetweenIsRight(void** state) {
    (void)state;
    static const char* const texts[] = { "1e-2", "1e-3", "1e-4" };
    for (int k = 0; k < 3; ++k) {
        double accuracy = strtod(texts[k], NULL);
        tpBodyId bob;
        tpWorld* world = makePendulum(texts[k], 0.0, &bob);
        PendulumState right = { 0.0, 0.0 };
        int freeCount = 0;
        for (int i = 0; i < 1000; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            PendulumState middle = pendulumFrom(right, 0.5 * h);
            right = pendulumFrom(middle, 0.5 * h);
            freeCount += report.substepCount == 0 ? 1 : 0;
            assert_int_equal(report.violations, 0);
            assert_true(report.jointDrift < 1e-8);
            CHECK_BELOW(pendulumMiss(world, bob, right), accuracy);
            CHECK_BELOW(pendulumSpeedMiss(world, bob, right), 5.0 * accuracy);
            tpVec3 force, torque;
            tpJoint_GetReaction(world, tpWorld_GetJoint(world, 0), &force, &torque);
            CHECK_VEC3(force, pivotForce(middle), 0.2);
        }
        assert_true(freeCount > 800);
        tpDestroyWorld(world);
    }
}

// The first step of a group is the begin of a stride, if its velocities keep what is held. If they
// do not, a method finds the impulse that they have to come to: a bob that moves across its hinge
// stops, and swings with the rest.
static void strideFromTheFirstStepOn(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpBodyId bob;
        tpWorld* world = makePendulum("1e-3", 0.0, &bob);
        tpBody_SetVelocity(world, bob, tpMakeVec3(0.0, k == 0 ? 0.0 : 1.0, 0.0), tpZeroVec3());
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
        double step = world->system.bodies.data[0].carrierStep;
        assert_true(k == 0 ? step > 10.0 * h : step <= h);
        tpVec3 velocity = tpBody_GetVelocity(world, bob);
        CHECK_NEAR(velocity.y, 0.0, 1e-9);
        CHECK_NEAR(velocity.z, -9.81 * 2.0 / 2.02 * h, 1e-4);
        tpDestroyWorld(world);
    }
}

// What is told about the error is neither too little nor a thousand times too much.
static void estimatesAreSharp(void** state) {
    (void)state;
    static const char* const texts[] = { "1e-2", "1e-3", "1e-4" };
    for (int k = 0; k < 3; ++k) {
        tpBodyId bob;
        tpWorld* world = makePendulum(texts[k], 0.0, &bob);
        double miss = 0.0, estimate = 0.0;
        for (int i = 1; i <= 3000; ++i) {
            estimate = tpWorld_Step(world, h).errorEstimate;
            if (i % 100 == 0) {
                miss = fmax(miss, pendulumMiss(world, bob, pendulumState(i * h)));
            }
        }

        CHECK_BELOW(miss, estimate);
        CHECK_BELOW(estimate, 1e3 * miss);
        tpDestroyWorld(world);
    }
}

// Steps until one costs nothing: then a stride is under way. Returns the time.
static double stepIntoStride(tpWorld* world) {
    for (int i = 0; i < 300; ++i) {
        tpWorld_Step(world, h);
    }
    int more = 0;
    while (tpWorld_Step(world, h).substepCount > 0) {
        assert_true(++more < 50);
    }
    return tpWorld_GetTime(world);
}

// A kick in the middle of a stride.
static void kicksCountAtOnce(void** state) {
    (void)state;
    tpBodyId bob;
    tpWorld* world = makePendulum("1e-4", 0.0, &bob);
    PendulumState right = pendulumState(stepIntoStride(world));
    right.speed += 1.5;
    double c = cos(right.angle), s = sin(right.angle);
    tpBody_SetVelocity(world, bob, tpMakeVec3(-s * right.speed, 0.0, -c * right.speed),
                       tpMakeVec3(0.0, right.speed, 0.0));
    for (int i = 0; i < 300; ++i) {
        assert_int_equal(tpWorld_Step(world, h).violations, 0);
        right = pendulumFrom(right, h);
        CHECK_BELOW(pendulumMiss(world, bob, right), 2e-4);
    }
    tpDestroyWorld(world);
}

// Steps of other lengths, and gravity that ends, in the middle of a stride.
static void worldsMayChange(void** state) {
    (void)state;
    tpBodyId bob;
    tpWorld* world = makePendulum("1e-4", 0.0, &bob);
    PendulumState right = pendulumState(stepIntoStride(world));
    for (int i = 0; i < 40; ++i) {
        double step = h * (0.5 + 0.13 * (i % 7));
        tpWorld_Step(world, step);
        right = pendulumFrom(right, step);
        CHECK_BELOW(pendulumMiss(world, bob, right), 2e-4);
    }
    double before = tpWorld_GetTime(world), now = stepIntoStride(world);
    right = pendulumFrom(right, now - before);
    tpWorld_SetGravity(world, tpZeroVec3());
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, h);
        right.angle += h * right.speed;
        CHECK_BELOW(pendulumMiss(world, bob, right), 2e-4);
    }
    tpDestroyWorld(world);
}

// A snapshot within a stride goes on as the world does.
static void snapshotsKeepStrides(void** state) {
    (void)state;
    tpBodyId bob;
    tpWorld* world = makePendulum("1e-3", 0.0, &bob);
    stepIntoStride(world);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpVec3 ends[2];
    for (int run = 0; run < 2; ++run) {
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, h);
        }
        ends[run] = tpBody_GetPosition(world, bob);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    }
    assert_memory_equal(&ends[0], &ends[1], sizeof(tpVec3));
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// A rod that turns without gravity against damping: w = w0 exp(-c t / I).
static void dampersAreFollowed(void** state) {
    (void)state;
    const double c = 0.4, inertia = 2.02, w0 = 1.5;
    tpBodyId bob;
    tpWorld* world = makePendulum("1e-3", c, &bob);
    tpWorld_SetGravity(world, tpZeroVec3());
    tpJointId joint = tpWorld_GetJoint(world, 0);
    assert_int_equal(tpJoint_SetSpeed(world, joint, 0, w0, NULL), tp_success);
    int freeCount = 0;
    double loss = 0.0;
    for (int i = 1; i <= 1000; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        freeCount += report.substepCount == 0 ? 1 : 0;
        assert_int_equal(report.violations, 0);
        double fade = exp(-c * i * h / inertia);
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), w0 * inertia / c * (1.0 - fade), 1e-4);
        CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), w0 * fade, 1e-3);
        // The damper's work counts as that of what acts from outside.
        loss += report.frictionLoss + report.impactLoss - report.externalWork;
        CHECK_NEAR(loss, 0.5 * inertia * w0 * w0 * (1.0 - fade * fade), 1e-3);
    }
    assert_true(freeCount > 800);
    tpDestroyWorld(world);
}

// The same with dry friction f: it stops after t = I w0 / f and stays, and a limit stops it before.
static void frictionAndLimitsEndStrides(void** state) {
    (void)state;
    const double f = 3.0, inertia = 2.02, w0 = 1.2;
    double end = inertia * w0 / f, farthest = 0.5 * w0 * end;
    const double limits[] = { 10.0, 0.3 };
    for (int k = 0; k < 2; ++k) {
        tpBodyId bob;
        tpWorld* world = makePendulum("1e-3", 0.0, &bob);
        tpWorld_SetGravity(world, tpZeroVec3());
        tpJointId joint = tpWorld_GetJoint(world, 0);
        tpCoordinateDef def = tpJoint_GetCoordinate(world, joint, 0);
        def.friction = f;
        def.hasLimits = true;
        def.limits[0] = -1.0;
        def.limits[1] = limits[k];
        assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &def, NULL), tp_success);
        assert_int_equal(tpJoint_SetSpeed(world, joint, 0, w0, NULL), tp_success);
        int freeCount = 0;
        for (int i = 1; i <= 1000; ++i) {
            freeCount += tpWorld_Step(world, h).substepCount == 0 ? 1 : 0;
            double t = fmin(i * h, end);
            double right = fmin(w0 * t - 0.5 * f / inertia * t * t, limits[k]);
            CHECK_NEAR(tpJoint_GetValue(world, joint, 0), right, 1e-4);
            assert_true(tpJoint_GetValue(world, joint, 0) < fmin(farthest, limits[k]) + 1e-6);
        }
        assert_true(freeCount > 100);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motionInBetweenIsRight), cmocka_unit_test(strideFromTheFirstStepOn),
        cmocka_unit_test(estimatesAreSharp),      cmocka_unit_test(kicksCountAtOnce),
        cmocka_unit_test(worldsMayChange),        cmocka_unit_test(snapshotsKeepStrides),
        cmocka_unit_test(dampersAreFollowed),     cmocka_unit_test(frictionAndLimitsEndStrides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
