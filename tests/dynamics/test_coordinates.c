// Coordinates of joints: what they read and how they are set, and motion in several of them against
// independent integration.

#include <string.h>

#include "support/joint_worlds.h"

// Reading and setting -----------------------------------------------------------------------------

// Random chains: what is set is read, near it and after whole turns; other coordinates and all
// speeds stay.
static void chainsReadWhatWasSet(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int trial = 0; trial < 400; ++trial) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId a = addBody(world, randomVec3(&random, -1.0, 1.0), 1.0, tpMakeVec3(1.0, 1.2, 1.4));
        tpBodyId b = addBody(world, randomVec3(&random, -1.0, 1.0), 2.0, tpMakeVec3(0.9, 1.0, 1.1));
        tpBody_SetPose(world, a, tpMakePose(tpZeroVec3(), randomRotation(&random)));
        tpBody_SetPose(world, b, tpMakePose(axisX, randomRotation(&random)));
        tpAxisDef axes[6];
        int count = 0, kinds[2] = { 0, 0 }, wanted = 1 + (int)(randomBits(&random) % 6);
        tpVec3 turns[3] = { axisX, axisY, axisZ };
        tpQuat tilt = randomRotation(&random);
        for (int i = 0; i < wanted; ++i) {
            int kind = (int)(randomBits(&random) & 1);
            kind = kinds[kind] == 3 ? 1 - kind : kind;
            tpAxisDef axis = { .kind = (tpAxisKind)kind, .coordinate = tpDefaultCoordinateDef() };
            axis.direction = tpRotate(tilt, turns[kinds[kind]++]);
            axis.coordinate.zero = randomBetween(&random, -2.0, 2.0);
            axes[count++] = axis;
        }
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_compoundJoint;
        def.bodyA = a;
        def.bodyB = b;
        def.anchorA = def.anchorB = randomVec3(&random, -1.0, 1.0);
        def.axes = axes;
        def.axisCount = count;
        tpJointId joint = addJoint(world, &def);
        assert_int_equal(tpJoint_GetCoordinateCount(world, joint), count);
        double values[6], speeds[6];
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR(tpJoint_GetValue(world, joint, i), axes[i].coordinate.zero, 1e-12);
        }
        // Away from gimbal lock: less than a quarter turn from the start.
        for (int i = 0; i < count; ++i) {
            values[i] = axes[i].coordinate.zero + randomBetween(&random, -1.2, 1.2);
            speeds[i] = randomBetween(&random, -2.0, 2.0);
            assert_int_equal(tpJoint_SetValue(world, joint, i, values[i], NULL), tp_success);
        }
        for (int i = 0; i < count; ++i) {
            assert_int_equal(tpJoint_SetSpeed(world, joint, i, speeds[i], NULL), tp_success);
        }
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR(tpJoint_GetValue(world, joint, i), values[i], 1e-11);
            CHECK_NEAR(tpJoint_GetSpeed(world, joint, i), speeds[i], 1e-11);
        }
        // The rate is the derivative of the value.
        double h = 1e-6, before[6];
        for (int i = 0; i < count; ++i) {
            before[i] = tpJoint_GetValue(world, joint, i);
        }
        tpWorld_SetStepper(world, tp_freeFlight);
        tpWorld_Step(world, h);
        for (int i = 0; i < count; ++i) {
            CHECK_NEAR((tpJoint_GetValue(world, joint, i) - before[i]) / h, speeds[i], 2e-4);
        }
        tpDestroyWorld(world);
    }
}

// A wheel that turns on and on counts its turns, forwards and after being set.
static void turnsAreCounted(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpBodyId wheel = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
        tpJointDef def = hingeOf(theWorld, wheel, tpZeroVec3(), axisZ);
        def.coordinate.zero = 0.25;
        tpJointId joint = addJoint(world, &def);
        assert_int_equal(tpJoint_SetSpeed(world, joint, 0, 20.0, NULL), tp_success);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.02);
        }
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.25 + 40.0, 1e-9);
        assert_int_equal(tpJoint_SetValue(world, joint, 0, 100.0, NULL), tp_success);
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 100.0, 1e-12);
        tpWorld_Step(world, 0.02);
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 100.4, 1e-9);
        tpDestroyWorld(world);
    }
}

// Through gimbal lock: three turns of a ball that spins about the middle axis.
static void gimbalsPassTheirLock(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpBodyId ball = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
    tpAxisDef axes[3] = { { "yaw", tp_turnAxis, axisZ, tpDefaultCoordinateDef() },
                          { "pitch", tp_turnAxis, axisY, tpDefaultCoordinateDef() },
                          { "roll", tp_turnAxis, axisX, tpDefaultCoordinateDef() } };
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_compoundJoint;
    def.bodyB = ball;
    def.axes = axes;
    def.axisCount = 3;
    tpJointId joint = addJoint(world, &def);
    tpBody_SetVelocity(world, ball, tpZeroVec3(), tpMakeVec3(0.0, 1.0, 0.0));
    for (int i = 0; i < 400; ++i) {
        tpWorld_Step(world, 0.01);
    }
    assert_int_equal(tpJoint_FindCoordinate(world, joint, "pitch"), 1);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 1), 4.0, 1e-9);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.0, 1e-9);
    CHECK_NEAR(tpJoint_GetValue(world, joint, 2), 0.0, 1e-9);
    tpDestroyWorld(world);
}

// Every type reads what it leaves free.
static void typesHaveTheirCoordinates(void** state) {
    (void)state;
    static const struct {
        tpJointType type;
        int count;
    } types[] = { { tp_ballJoint, 1 },        { tp_revoluteJoint, 1 },  { tp_prismaticJoint, 1 },
                  { tp_cylindricalJoint, 2 }, { tp_universalJoint, 2 }, { tp_fixedJoint, 0 },
                  { tp_distanceJoint, 1 },    { tp_planarJoint, 3 },    { tp_gearJoint, 0 },
                  { tp_screwJoint, 1 },       { tp_springJoint, 1 } };
    for (int t = 0; t < 11; ++t) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId a = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
        tpBodyId b = addBody(world, tpMakeVec3(1.0, 0.0, 0.0), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
        tpBodyId c = addBody(world, tpMakeVec3(2.0, 0.0, 0.0), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
        tpJointDef def = tpDefaultJointDef();
        def.type = types[t].type;
        def.bodyA = a;
        def.bodyB = b;
        bool isSpan = def.type == tp_distanceJoint || def.type == tp_springJoint;
        def.anchorA = isSpan ? tpZeroVec3() : tpMakeVec3(0.5, 0.0, 0.0);
        def.anchorB = isSpan ? axisX : def.anchorA;
        def.axis = axisZ;
        def.secondAxis = axisX;
        def.pitch = 0.5;
        tpJointId joint = addJoint(world, &def);
        tpJointDef arm = hingeOf(b, c, tpMakeVec3(1.5, 0.0, 0.0), axisY);
        tpJointId outer = addJoint(world, &arm);
        assert_int_equal(tpJoint_SetSpeed(world, outer, 0, 0.7, NULL), tp_success);
        assert_int_equal(tpJoint_GetCoordinateCount(world, joint), types[t].count);
        for (int i = 0; i < types[t].count; ++i) {
            double value = 0.3 + 0.2 * i + (isSpan ? 1.0 : 0.0);
            tpError error;
            if (tpJoint_SetValue(world, joint, i, value, &error) != tp_success) {
                fail_msg("%s", error.message);
            }
            assert_int_equal(tpJoint_SetSpeed(world, joint, i, -0.4, NULL), tp_success);
            CHECK_NEAR(tpJoint_GetValue(world, joint, i), value, 1e-12);
            CHECK_NEAR(tpJoint_GetSpeed(world, joint, i), -0.4, 1e-12);
        }
        // What hangs on it has come along.
        CHECK_NEAR(tpJoint_GetValue(world, outer, 0), 0.0, 1e-12);
        CHECK_NEAR(tpJoint_GetSpeed(world, outer, 0), 0.7, 1e-12);
        tpStepReport report = tpWorld_Step(world, 1e-4);
        CHECK_BELOW(report.jointDrift, 1e-10);
        tpDestroyWorld(world);
    }
}

// The side that holds on to nothing moves; a closed loop is refused and nothing moves.
static void loopsAreRefused(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpBodyId links[3];
    for (int i = 0; i < 3; ++i) {
        links[i] = addBody(world, tpMakeVec3(0.5 + i, 0.0, 0.0), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
    }
    tpJointDef def = hingeOf(links[0], links[1], axisX, axisZ);
    tpJointId free = addJoint(world, &def);
    def = hingeOf(links[1], links[2], tpMakeVec3(2.0, 0.0, 0.0), axisZ);
    tpJointId second = addJoint(world, &def);
    def = hingeOf(theWorld, links[2], tpMakeVec3(3.0, 0.0, 0.0), axisZ);
    addJoint(world, &def);
    tpVec3 held = tpBody_GetPosition(world, links[2]);
    assert_int_equal(tpJoint_SetValue(world, second, 0, 0.5, NULL), tp_success);
    CHECK_VEC3(tpBody_GetPosition(world, links[2]), held, 0.0); // A's side has moved
    CHECK_NEAR(tpJoint_GetValue(world, second, 0), 0.5, 1e-14);
    CHECK_NEAR(tpJoint_GetValue(world, free, 0), 0.0, 1e-14);
    CHECK_BELOW(tpWorld_Step(world, 1e-3).jointDrift, 1e-10);

    def = hingeOf(theWorld, links[0], tpBody_GetPosition(world, links[0]), axisZ);
    addJoint(world, &def);
    uint64_t hash = tpWorld_HashState(world);
    tpError error = { 0 };
    assert_int_equal(tpJoint_SetValue(world, second, 0, 1.0, &error), tp_unsupported);
    assert_non_null(strstr(error.message, "loop"));
    assert_int_equal(tpJoint_SetSpeed(world, free, 0, 1.0, &error), tp_unsupported);
    assert_true(tpWorld_HashState(world) == hash);
    tpDestroyWorld(world);
}

static void badCompoundsAreRefused(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpBodyId body = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(1.0, 1.0, 1.0));
    tpAxisDef axes[7];
    for (int i = 0; i < 7; ++i) {
        axes[i] = (tpAxisDef){ NULL, tp_turnAxis, axisX, tpDefaultCoordinateDef() };
    }
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_compoundJoint;
    def.bodyB = body;
    def.axes = axes;
    const int counts[] = { 0, -1, 2, 7 }; // two equal turns
    for (int i = 0; i < 4; ++i) {
        def.axisCount = counts[i];
        tpError error = { 0 };
        assert_false(tpJoint_IsValid(world, tpCreateJoint(world, &def, &error)));
        assert_true(strlen(error.message) > 0);
    }
    def.axisCount = 1;
    axes[0].coordinate.armature = -1.0;
    tpError error = { 0 };
    assert_false(tpJoint_IsValid(world, tpCreateJoint(world, &def, &error)));
    assert_non_null(strstr(error.message, "armature"));
    axes[0].coordinate.armature = 0.0;
    tpJointId joint = addJoint(world, &def);
    tpCoordinateDef law = tpJoint_GetCoordinate(world, joint, 0);
    law.hasServo = true;
    law.servo.stiffness = NAN;
    assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &law, &error), tp_badInput);
    assert_non_null(strstr(error.message, "servo"));
    assert_false(tpJoint_GetCoordinate(world, joint, 0).hasServo);
    tpDestroyWorld(world);
}

// A two-axis gimbal with a disc: against Lagrange's equations by Runge-Kutta.
//   T = (A + B sin^2 p) y'^2 / 2 + C p'^2 / 2 with yaw y, pitch p about the disc's centre.
static void gimbalFollowsLagrange(void** state) {
    (void)state;
    // Inertia of the body: x = 0.2, y = 0.3, z = 0.4. Yaw about z, then pitch about y: in body axes
    // the yaw axis is (-sin p, 0, cos p): its moment is x sin^2 + z cos^2 + armature of the yaw.
    double x = 0.2, y = 0.3, z = 0.4, yawArmature = 0.15, pitchArmature = 0.05;
    double s[4] = { 0.0, 0.4, 2.0, -1.0 }; // yaw, pitch, rates
    int count = 100000;
    double time = 1.0, dt = time / count;
    for (int i = 0; i < count; ++i) {
        double k[4][4];
        for (int j = 0; j < 4; ++j) {
            double at[4];
            for (int n = 0; n < 4; ++n) {
                at[n] = s[n] + (j == 0 ? 0.0 : (j == 3 ? dt : 0.5 * dt) * k[j - 1][n]);
            }
            double inertia =
                x * sin(at[1]) * sin(at[1]) + z * cos(at[1]) * cos(at[1]) + yawArmature;
            double slope = (x - z) * sin(2.0 * at[1]);
            k[j][0] = at[2];
            k[j][1] = at[3];
            k[j][2] = -slope * at[2] * at[3] / inertia;
            k[j][3] = 0.5 * slope * at[2] * at[2] / (y + pitchArmature);
        }
        for (int n = 0; n < 4; ++n) {
            s[n] += dt / 6.0 * (k[0][n] + 2.0 * k[1][n] + 2.0 * k[2][n] + k[3][n]);
        }
    }
    double errors[2];
    for (int r = 0; r < 2; ++r) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId body = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(x, y, z));
        tpAxisDef axes[2] = { { "yaw", tp_turnAxis, axisZ, tpDefaultCoordinateDef() },
                              { "pitch", tp_turnAxis, axisY, tpDefaultCoordinateDef() } };
        axes[0].coordinate.armature = yawArmature;
        axes[1].coordinate.armature = pitchArmature;
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_compoundJoint;
        def.bodyB = body;
        def.axes = axes;
        def.axisCount = 2;
        tpJointId joint = addJoint(world, &def);
        tpJoint_SetValue(world, joint, 1, 0.4, NULL);
        tpJoint_SetSpeed(world, joint, 0, 2.0, NULL);
        tpJoint_SetSpeed(world, joint, 1, -1.0, NULL);
        int steps = 250 << r;
        for (int i = 0; i < steps; ++i) {
            tpWorld_Step(world, time / steps);
        }
        errors[r] = fabs(tpJoint_GetValue(world, joint, 0) - s[0]) +
                    fabs(tpJoint_GetValue(world, joint, 1) - s[1]) +
                    fabs(tpJoint_GetSpeed(world, joint, 0) - s[2]) +
                    fabs(tpJoint_GetSpeed(world, joint, 1) - s[3]);
        tpDestroyWorld(world);
    }
    printf("gimbal: off by %.1e (h = .004), %.1e (.002)\n", errors[0], errors[1]);
    CHECK_BELOW(errors[0], 1e-4);
    CHECK_BELOW(errors[1], 0.3 * errors[0]);
}

// A bead on the radial slide of a hub that turns freely, with a spring and a damper along the
// slide:
//   m r'' = m r w^2 - k (r - r0) - d r',   (I + m r^2) w = constant.
// The law of the slide is of second order though its axis turns within the step.
static void slidesOnTurningBodies(void** state) {
    (void)state;
    const double hub = 0.02, mass = 0.5, own = 0.001, d = 1.0, k = 4.0, start = 0.1;
    const double momentum = (hub + own + mass * start * start) * 3.0;
    double s[2] = { start, 0.2 }, time = 0.5;
    int count = 20000;
    double dt = time / count;
    for (int i = 0; i < count; ++i) {
        double slope[4][2];
        for (int j = 0; j < 4; ++j) {
            double part = j == 0 ? 0.0 : (j == 3 ? dt : 0.5 * dt);
            double r = s[0] + (j == 0 ? 0.0 : part * slope[j - 1][0]);
            double u = s[1] + (j == 0 ? 0.0 : part * slope[j - 1][1]);
            double w = momentum / (hub + own + mass * r * r);
            slope[j][0] = u;
            slope[j][1] = r * w * w - (k * (r - start) + d * u) / mass;
        }
        for (int n = 0; n < 2; ++n) {
            s[n] += dt / 6.0 * (slope[0][n] + 2.0 * slope[1][n] + 2.0 * slope[2][n] + slope[3][n]);
        }
    }
    for (int kind = 0; kind < 3; ++kind) { // damping of the joint, of its spring, of its servo
        double errors[2];
        for (int r = 0; r < 2; ++r) {
            tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
            tpBodyId middle = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(hub, hub, hub));
            tpBodyId bead =
                addBody(world, tpMakeVec3(start, 0.0, 0.0), mass, tpMakeVec3(own, own, own));
            tpJointDef def = tpDefaultJointDef();
            def.type = tp_revoluteJoint;
            def.bodyB = middle;
            def.axis = axisZ;
            addJoint(world, &def);
            def = tpDefaultJointDef();
            def.type = tp_prismaticJoint;
            def.bodyA = middle;
            def.bodyB = bead;
            def.anchorA = def.anchorB = tpMakeVec3(start, 0.0, 0.0);
            def.axis = axisX;
            def.coordinate.damping = kind == 0 ? d : 0.0;
            def.coordinate.hasSpring = kind < 2;
            def.coordinate.spring.stiffness = k;
            def.coordinate.spring.damping = kind == 1 ? d : 0.0;
            def.coordinate.hasServo = kind == 2;
            def.coordinate.servo.stiffness = k;
            def.coordinate.servo.damping = d;
            tpJointId slide = addJoint(world, &def);
            tpVec3 spin = tpMakeVec3(0.0, 0.0, 3.0);
            tpBody_SetVelocity(world, middle, tpZeroVec3(), spin);
            tpBody_SetVelocity(world, bead, tpMakeVec3(0.2, 3.0 * start, 0.0), spin);
            int steps = 125 << r;
            for (int i = 0; i < steps; ++i) {
                tpWorld_Step(world, time / steps);
            }
            errors[r] = fabs(start + tpJoint_GetValue(world, slide, 0) - s[0]) +
                        fabs(tpJoint_GetSpeed(world, slide, 0) - s[1]);
            tpDestroyWorld(world);
        }
        printf("slide, law %d: off by %.1e (h = .004), %.1e (.002)\n", kind, errors[0], errors[1]);
        CHECK_BELOW(errors[0], 2e-5);
        CHECK_BELOW(errors[1], 0.3 * errors[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chainsReadWhatWasSet),  cmocka_unit_test(turnsAreCounted),
        cmocka_unit_test(gimbalsPassTheirLock),  cmocka_unit_test(typesHaveTheirCoordinates),
        cmocka_unit_test(loopsAreRefused),       cmocka_unit_test(badCompoundsAreRefused),
        cmocka_unit_test(gimbalFollowsLagrange), cmocka_unit_test(slidesOnTurningBodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
