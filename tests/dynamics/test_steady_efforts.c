// Servos that are stiff for the step and hold a load: what stands still has no velocity, what moves
// has that of its motion, and what is let go falls from rest. With the two steppers whose steps are
// symmetric.

#include "dynamics/steady_efforts.h"

#include "support/check.h"
#include "support/floor.h"
#include "support/scene_text.h"
#include "tippe/joints.h"

static const tpStepperId symmetric[] = { tp_anitescu, tp_benderSchmitt };

static tpWorld* createWorld(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    return tpCreateWorld(&def);
}

static tpBodyId addBody(tpWorld* world, double mass, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.center = tpZeroVec3();
    def.mass.inertia = tpScaleM(0.02 * mass, tpIdentityMat33());
    return tpCreateBody(world, &def, NULL);
}

static tpJointId addJoint(tpWorld* world, tpJointType type, tpBodyId a, tpBodyId b, tpVec3 anchor,
                          tpVec3 axis, double stiffness, double damping) {
    tpJointDef def = tpDefaultJointDef();
    def.type = type;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    def.coordinate.hasServo = stiffness > 0.0;
    def.coordinate.servo.stiffness = stiffness;
    def.coordinate.servo.damping = damping;
    return tpCreateJoint(world, &def, NULL);
}

// Of two efforts in a row the smaller one lasts, whatever their sign; none of two signs.
static void theSmallerEffortLasts(void** state) {
    (void)state;
    static const double cases[][3] = { { 1.0, 2.0, 1.0 },    { 2.0, 1.0, 1.0 },
                                       { -1.0, -2.0, -1.0 }, { -2.0, -1.0, -1.0 },
                                       { 1.0, -2.0, 0.0 },   { -2.0, 1.0, 0.0 },
                                       { 0.0, 1.0, 0.0 } };
    tpStepTimes times = { .h = 0.5, .kick = 0.25 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        tpServoMemory memory = { 0.0, 0.0 };
        double taken;
        tpServoMemory_Advance(&memory, cases[i][0], 0.75, &times, &taken);
        double given = tpServoMemory_Advance(&memory, cases[i][1], 0.75, &times, &taken);
        CHECK_NEAR(taken, 0.0, 0.0);
        CHECK_NEAR(given, 0.125 * cases[i][2], 1e-16);
        tpServoMemory_Advance(&memory, 0.0, 0.75, &times, &taken); // what was given is taken back
        CHECK_NEAR(taken, given, 0.0);
    }
}

// Two links in a row, each on a stiff servo, one with a rotor and the other with a bound.
static void armsStandStill(void** state) {
    (void)state;
    const double steps[] = { 1.0 / 60.0, 1.0 / 200.0 };
    for (int s = 0; s < 2; ++s) {
        for (int k = 0; k < 2; ++k) {
            tpWorld* world = createWorld(symmetric[s]);
            tpBodyId none = { 0, 0 }, upper = addBody(world, 2.0, tpMakeVec3(0.5, 0.0, 0.0));
            tpBodyId lower = addBody(world, 1.0, tpMakeVec3(1.5, 0.0, 0.0));
            tpVec3 y = tpMakeVec3(0.0, 1.0, 0.0);
            tpJointId first =
                addJoint(world, tp_revoluteJoint, none, upper, tpZeroVec3(), y, 20000.0, 900.0);
            tpJointId second = addJoint(world, tp_revoluteJoint, upper, lower,
                                        tpMakeVec3(1.0, 0.0, 0.0), y, 9000.0, 300.0);
            tpCoordinateDef def = tpJoint_GetCoordinate(world, second, 0);
            def.armature = 0.05;
            def.servo.effort = 40.0;
            assert_int_equal(tpJoint_SetCoordinate(world, second, 0, &def, NULL), tp_success);
            tpStepReport report = tpWorld_Step(world, steps[k]);
            for (int i = 0; i < (int)(4.0 / steps[k]); ++i) {
                report = tpWorld_Step(world, steps[k]);
            }
            assert_int_equal(report.violations, 0);
            assert_true(fabs(report.externalWork) < 1e-10);
            assert_true(fabs(report.impactLoss) + fabs(report.frictionLoss) < 1e-10);
            assert_true(report.kineticAfter < 1e-18);
            assert_true(fabs(tpJoint_GetSpeed(world, first, 0)) < 1e-9);
            assert_true(fabs(tpJoint_GetSpeed(world, second, 0)) < 1e-9);
            // The static error is that of the law, and its effort carries the load.
            double a = tpJoint_GetValue(world, first, 0), b = tpJoint_GetValue(world, second, 0);
            double outer = 9.81 * 0.5 * cos(a + b);
            double inner = 9.81 * (2.0 * 0.5 * cos(a) + cos(a)) + outer;
            CHECK_NEAR(20000.0 * a, inner, 1e-7);
            CHECK_NEAR(9000.0 * b, outer, 1e-7);
            CHECK_NEAR(tpJoint_GetState(world, first, 0).effort, -inner, 1e-7);
            tpVec3 force, torque;
            tpJoint_GetReaction(world, first, &force, &torque);
            CHECK_VEC3(force, tpMakeVec3(0.0, 0.0, 3.0 * 9.81), 1e-7);
            tpDestroyWorld(world);
        }
    }
}

// A servo presses a block at a slant on a floor with friction, and the contacts answer. Nothing
// moves, so nothing is lost and nobody works, while the servo kicks all the time.
static void checkHeldLoad(tpStepperId stepper) {
    tpWorld* world = worldWithFloor(stepper, 0.8, 0.0);
    tpBodyId none = { 0, 0 }, block = addBody(world, 3.0, tpMakeVec3(0.0, 0.0, 0.5));
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateBox(world, block, &shape, &(tpBox){ .size = { 1.0, 1.0, 1.0 } }, NULL);
    tpJointId slide = addJoint(world, tp_cylindricalJoint, none, block, tpMakeVec3(0.0, 0.0, 0.5),
                               tpMakeVec3(0.3, 0.0, -1.0), 1e5, 4e3);
    tpCoordinateDef def = tpJoint_GetCoordinate(world, slide, 0);
    def.servo.target = 1e-3; // in the floor
    assert_int_equal(tpJoint_SetCoordinate(world, slide, 0, &def, NULL), tp_success);
    double lost = 0.0, rubbed = 0.0, worked = 0.0;
    for (int i = 0; i < 300; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        if (i >= 100) {
            lost += fabs(report.impactLoss);
            rubbed += fabs(report.frictionLoss);
            worked += fabs(report.externalWork);
        }
    }
    CHECK_NEAR(tpJoint_GetState(world, slide, 0).effort, 100.0, 1e-6);
    CHECK_BELOW(lost, 1e-9);
    CHECK_BELOW(rubbed, 1e-9);
    CHECK_BELOW(worked, 1e-9);
    tpDestroyWorld(world);
}

static void heldLoadsLoseNothing(void** state) {
    (void)state;
    checkHeldLoad(tp_anitescu);
    checkHeldLoad(tp_benderSchmitt);
}

// The load of a stiff servo grows and shrinks: the velocity is the rate of the positions.
static void velocitiesAreThoseOfTheMotion(void** state) {
    (void)state;
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = createWorld(symmetric[s]);
        tpBodyId none = { 0, 0 }, weight = addBody(world, 3.0, tpZeroVec3());
        tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
        tpJointId slide =
            addJoint(world, tp_prismaticJoint, none, weight, tpZeroVec3(), z, 1e5, 4e3);
        double h = 0.01, before = 0.0, now = 0.0, speed = 0.0, worst = 0.0;
        for (int i = 0; i < 200; ++i) {
            tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, -9.81 - 3.0 * sin(4.0 * h * i)));
            tpWorld_Step(world, h);
            double after = tpJoint_GetValue(world, slide, 0);
            if (i > 20) {
                worst = fmax(worst, fabs(speed - (after - before) / (2.0 * h)));
            }
            before = now;
            now = after;
            speed = tpJoint_GetSpeed(world, slide, 0);
        }
        // Without balance it would be off by up to g h / 2, 0.05 to 0.06, all the time.
        CHECK_BELOW(worst, 1.5e-3);
        tpDestroyWorld(world);
    }
}

// A servo that is taken away leaves no velocity behind.
static void releasedLoadsFallFromRest(void** state) {
    (void)state;
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = createWorld(symmetric[s]);
        tpBodyId none = { 0, 0 }, weight = addBody(world, 3.0, tpZeroVec3());
        tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
        tpJointId slide =
            addJoint(world, tp_prismaticJoint, none, weight, tpZeroVec3(), z, 1e6, 2e4);
        for (int i = 0; i < 300; ++i) {
            tpWorld_Step(world, 0.01);
        }
        double start = tpJoint_GetValue(world, slide, 0);
        CHECK_NEAR(start, -3.0 * 9.81 / 1e6, 1e-12);
        tpCoordinateDef def = tpJoint_GetCoordinate(world, slide, 0);
        def.hasServo = false;
        assert_int_equal(tpJoint_SetCoordinate(world, slide, 0, &def, NULL), tp_success);
        for (int i = 0; i < 50; ++i) {
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpJoint_GetValue(world, slide, 0) - start, -0.5 * 9.81 * 0.25, 1e-9);
        CHECK_NEAR(tpJoint_GetSpeed(world, slide, 0), -9.81 * 0.5, 1e-9);
        tpDestroyWorld(world);
    }
}

// The same for a servo on the sum of two slides, and through a snapshot.
static void couplingsHoldToo(void** state) {
    (void)state;
    // `bender-schmitt` solves couplings by sweeps, to its certificate alone.
    tpWorld* world = createWorld(tp_anitescu);
    tpBodyId none = { 0, 0 };
    tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0);
    tpJointId slides[2];
    for (int k = 0; k < 2; ++k) {
        tpBodyId weight = addBody(world, 2.0, tpMakeVec3(1.0 * k, 0.0, 0.0));
        slides[k] = addJoint(world, tp_prismaticJoint, none, weight, tpMakeVec3(1.0 * k, 0.0, 0.0),
                             z, 0.0, 0.0);
    }
    // One hangs on the other over a pulley; the servo carries both.
    const tpCouplingTerm rope[2] = { { slides[0], 0, 1.0 }, { slides[1], 0, -1.0 } };
    const tpCouplingTerm both[2] = { { slides[0], 0, 1.0 }, { slides[1], 0, 1.0 } };
    tpCouplingDef held = tpDefaultCouplingDef();
    held.terms = rope;
    held.termCount = 2;
    held.hasValue = true;
    tpCreateCoupling(world, &held, NULL);
    tpCouplingDef driven = tpDefaultCouplingDef();
    driven.terms = both;
    driven.termCount = 2;
    driven.hasServo = true;
    driven.servo.stiffness = 1e6;
    driven.servo.damping = 2e4;
    tpCouplingId servo = tpCreateCoupling(world, &driven, NULL);
    for (int i = 0; i < 300; ++i) {
        tpWorld_Step(world, 0.01);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, 0.01);
    }
    uint64_t hash = tpWorld_HashState(world);
    CHECK_BELOW(fabs(tpCoupling_GetState(world, servo).speed), 1e-9);
    CHECK_NEAR(tpCoupling_GetState(world, servo).effort, 2.0 * 9.81, 1e-6);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    for (int i = 0; i < 100; ++i) {
        tpWorld_Step(world, 0.01);
    }
    assert_true(tpWorld_HashState(world) == hash);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// A frame of two legs on stiff servos, whose feet hold by friction: nothing moves, so that friction
// takes nothing, no impact loses anything, and the guard of energy has nothing to do.
static void feetThatHoldDoNoWork(void** state) {
    (void)state;
    tpWorld* world = makeWorldFrom(
        "{\"tippe\": 1, \"gravity\": [0, 0, -9.81], \"materials\": {\"rough\": {\"friction\": "
        "1.5}},"
        "\"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\","
        "\"shapes\": [{\"type\": \"plane\", \"normal\": [0, 0, 1], \"material\": \"rough\"}]},"
        "{\"name\": \"top\", \"position\": [0, 0, 0.85], \"mass\": 9, \"inertia\": [1, 1, 1]},"
        "{\"name\": \"left\", \"position\": [-0.6, 0, 0.05], \"mass\": 0.02,"
        "\"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.1], \"material\": \"rough\"}]},"
        "{\"name\": \"right\", \"position\": [0.6, 0, 0.05], \"mass\": 0.02,"
        "\"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.1], \"material\": \"rough\"}]}],"
        "\"joints\": [{\"name\": \"a\", \"type\": \"prismatic\", \"bodies\": [\"left\", \"top\"],"
        "\"anchor\": [0, 0, 0.85], \"axis\": [0.6, 0, 0.8],"
        "\"servo\": {\"stiffness\": 3e4, \"damping\": 900}},"
        "{\"name\": \"b\", \"type\": \"prismatic\", \"bodies\": [\"right\", \"top\"],"
        "\"anchor\": [0, 0, 0.85], \"axis\": [-0.6, 0, 0.8],"
        "\"servo\": {\"stiffness\": 3e4, \"damping\": 900}}],"
        "\"simulation\": {\"stepper\": \"anitescu\", \"step\": 0.005, \"until\": 1}}");
    tpStepReport report = tpWorld_Step(world, 0.005);
    for (int i = 0; i < 80; ++i) {
        report = tpWorld_Step(world, 0.005);
    }
    assert_int_equal(report.violations, 0);
    assert_int_equal(report.noteCount, 0);
    CHECK_NEAR(report.frictionLoss, 0.0, 1e-12);
    CHECK_NEAR(report.impactLoss, 0.0, 1e-12);
    CHECK_NEAR(report.externalWork, 0.0, 1e-12);
    tpDestroyWorld(world);
}

static void onlyWhatLastsIsSteady(void** state) {
    (void)state;
    tpServoMemory memory = { 0.0, 0.0 };
    const tpStepTimes times = { 0.1, 0.05, 0.1 };
    double taken;
    assert_true(tpServoMemory_Advance(&memory, 4.0, 1.0, &times, &taken) == 0.0 && taken == 0.0);
    assert_true(tpServoMemory_Advance(&memory, 6.0, 1.0, &times, &taken) == 0.05 * 4.0);
    assert_true(tpServoMemory_Advance(&memory, 5.0, 0.75, &times, &taken) ==
                (0.75 * 0.1 - 0.05) * 5.0);
    assert_true(taken == (0.75 * 0.1 - 0.05) * 4.0);
    assert_true(tpServoMemory_Advance(&memory, -5.0, 1.0, &times, &taken) == 0.0);
    assert_true(tpServoMemory_Advance(&memory, -5.0, 0.5, &times, &taken) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theSmallerEffortLasts),
        cmocka_unit_test(armsStandStill),
        cmocka_unit_test(heldLoadsLoseNothing),
        cmocka_unit_test(velocitiesAreThoseOfTheMotion),
        cmocka_unit_test(releasedLoadsFallFromRest),
        cmocka_unit_test(couplingsHoldToo),
        cmocka_unit_test(feetThatHoldDoNoWork),
        cmocka_unit_test(onlyWhatLastsIsSteady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
