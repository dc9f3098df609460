// What drives and holds the coordinates of joints: armature, servos, friction and limits, against
// closed forms and independent integration.

#include <string.h>

#include "support/joint_worlds.h"
#include "world/world.h"

// Armature ----------------------------------------------------------------------------------------

// Period of a pendulum of angle `amplitude`: 4 K(sin(a/2)) / omega, by the arithmetic-geometric
// mean.
static double pendulumPeriod(double omega, double amplitude) {
    double a = 1.0, b = cos(0.5 * amplitude);
    for (int i = 0; i < 20; ++i) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2.0 * pi / (omega * a);
}

// Time of the first passage through the bottom, by Newton's method on the last step.
static double quarterPeriod(tpStepperId stepper, double armature, double amplitude, double h) {
    double g = 9.81, mass = 1.3, length = 0.4;
    tpWorld* world = worldOf(stepper, tpMakeVec3(0.0, -g, 0.0));
    tpVec3 place = tpMakeVec3(length * sin(amplitude), -length * cos(amplitude), 0.0);
    tpBodyId bob = addBody(world, place, mass, tpMakeVec3(0.02, 0.03, 0.04));
    tpJointDef def = hingeOf(theWorld, bob, tpZeroVec3(), axisZ);
    def.coordinate.zero = amplitude;
    def.coordinate.armature = armature;
    tpJointId joint = addJoint(world, &def);
    double before, value = amplitude;
    do {
        before = value;
        tpWorld_Step(world, h);
        value = tpJoint_GetValue(world, joint, 0);
    } while (value > 0.0);
    double speed = tpJoint_GetSpeed(world, joint, 0);
    double time = tpWorld_GetTime(world) - value / speed;
    assert_true(before > 0.0);
    tpDestroyWorld(world);
    return time;
}

static void armatureSlowsAPendulum(void** state) {
    (void)state;
    double inertia = 0.04 + 1.3 * 0.4 * 0.4, armature = 0.35, amplitude = 1.0;
    double omega = sqrt(1.3 * 9.81 * 0.4 / (inertia + armature));
    double expected = 0.25 * pendulumPeriod(omega, amplitude);
    // Second order: two steps tell the limit, and one short step is within 1e-9.
    double coarse = quarterPeriod(tp_anitescu, armature, amplitude, 1e-3);
    double fine = quarterPeriod(tp_anitescu, armature, amplitude, 5e-4);
    printf(
        "armature: quarter period %.12f, off by %.1e (h = 1e-3), %.1e (5e-4), extrapolated %.1e\n",
        expected, coarse - expected, fine - expected, (4.0 * fine - coarse) / 3.0 - expected);
    CHECK_NEAR((4.0 * fine - coarse) / 3.0, expected, 1e-9);
    CHECK_NEAR(quarterPeriod(tp_anitescu, armature, amplitude, 2e-5), expected, 1e-9);
    // The higher order of bender-schmitt.
    CHECK_NEAR(quarterPeriod(tp_benderSchmitt, armature, amplitude, 1e-3), expected, 1e-6);
    const tpStepperId others[] = { tp_stewartTrinkle, tp_chakrabortyTrinkle, tp_mirtichCanny,
                                   tp_penalty };
    for (int s = 0; s < 4; ++s) {
        CHECK_NEAR(quarterPeriod(others[s], armature, amplitude, 1e-4), expected, 2e-3);
    }
}

// A body that spins about an axis through its joint, held by a hinge or by a ball joint with the
// same damping; its spin after some steps, and what the account says that the damper took.
static double dampedSpin(tpStepperId stepper, tpJointType type, int axis, double* taken) {
    tpWorld* world = worldOf(stepper, tpZeroVec3());
    tpBodyId wheel = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(0.2, 0.2, 0.2));
    tpVec3 along = axis == 0 ? axisX : axis == 1 ? axisY : axisZ;
    tpJointDef def = jointOf(type, theWorld, wheel, tpZeroVec3(), along);
    if (type == tp_ballJoint) {
        def.axis = axisZ; // so that all three of its turns come up
    }
    def.coordinate.damping = 0.7;
    addJoint(world, &def);
    tpBody_SetVelocity(world, wheel, tpZeroVec3(), tpScale(3.0, along));
    *taken = 0.0;
    for (int k = 0; k < 20; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        *taken -= report.externalWork;
    }
    double spin = tpDot(tpBody_GetAngularVelocity(world, wheel), along);
    tpDestroyWorld(world);
    return spin;
}

// Damping of a ball joint acts on turns about any axis as that of a hinge about it, and takes as
// much: by the rule of the midpoint in symmetric steps, at the end of others.
static void dampersOfBallsAreThoseOfHinges(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_benderSchmitt, tp_chakrabortyTrinkle,
                                            tp_stewartTrinkle, tp_mirtichCanny };
    const double part = 0.7 * 0.01 / 0.2; // of the spin, per step
    for (int s = 0; s < 5; ++s) {
        double midpoint = 3.0 * pow((1.0 - 0.5 * part) / (1.0 + 0.5 * part), 20.0);
        double implicit = 3.0 * pow(1.0 + part, -20.0);
        for (int axis = 0; axis < 3; ++axis) {
            double takenByHinge, takenByBall;
            double hinge = dampedSpin(steppers[s], tp_revoluteJoint, axis, &takenByHinge);
            double ball = dampedSpin(steppers[s], tp_ballJoint, axis, &takenByBall);
            CHECK_NEAR(ball, hinge, 1e-12);
            CHECK_NEAR(takenByBall, takenByHinge, 1e-12);
            if (steppers[s] != tp_mirtichCanny) {
                CHECK_NEAR(hinge, s < 3 ? midpoint : implicit, 1e-12);
            }
            CHECK_NEAR(hinge, 3.0 * exp(-20.0 * part), s < 3 ? 2e-4 : 2e-2);
            if (s < 3) {
                CHECK_NEAR(takenByHinge, 0.5 * 0.2 * (9.0 - hinge * hinge), 1e-12);
            }
        }
    }
}

// A block on a slide with armature of its own mass falls at half of gravity; energy counts the
// rotor.
static void armatureHalvesAFall(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpMakeVec3(0.0, 0.0, -10.0));
        tpBodyId block = addBody(world, tpZeroVec3(), 2.0, tpMakeVec3(0.1, 0.1, 0.1));
        tpJointDef def = hingeOf(theWorld, block, tpZeroVec3(), axisZ);
        def.type = tp_prismaticJoint;
        def.coordinate.armature = 2.0;
        addJoint(world, &def);
        double work = 0.0;
        for (int i = 0; i < 100; ++i) {
            work += tpWorld_Step(world, 0.01).externalWork;
        }
        CHECK_NEAR(tpBody_GetVelocity(world, block).z, -5.0, 1e-9);
        CHECK_NEAR(tpWorld_GetKineticEnergy(world), 0.5 * 4.0 * 25.0, 1e-8);
        CHECK_NEAR(work, 0.0, 1e-9);
        tpDestroyWorld(world);
    }
}

// A bead on the radial slide of a hub too heavy to be slowed, with armature a along the slide:
//   (m + a) r'' = m w^2 r.
// The slide gets faster by turning alone, and takes the rotor along.
static void armatureOnTurningSlides(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_stewartTrinkle,     tp_anitescu, tp_benderSchmitt,
                                     tp_chakrabortyTrinkle, tp_penalty,  tp_smallSteps };
    const double mass = 0.5, armature = 1.5, turn = 3.0, start = 0.1, time = 0.4;
    const double rate = turn * sqrt(mass / (mass + armature));
    for (size_t s = 0; s < sizeof(steppers) / sizeof(*steppers); ++s) {
        double errors[2];
        for (int r = 0; r < 2; ++r) {
            tpWorld* world = worldOf(steppers[s], tpZeroVec3());
            tpBodyId hub = addBody(world, tpZeroVec3(), 1e6, tpMakeVec3(1e6, 1e6, 1e6));
            tpBodyId bead =
                addBody(world, tpMakeVec3(start, 0.0, 0.0), mass, tpMakeVec3(1e-3, 1e-3, 1e-3));
            tpJointDef def = hingeOf(theWorld, hub, tpZeroVec3(), axisZ);
            addJoint(world, &def);
            def = hingeOf(hub, bead, tpMakeVec3(start, 0.0, 0.0), axisX);
            def.type = tp_prismaticJoint;
            def.coordinate.armature = armature;
            tpJointId slide = addJoint(world, &def);
            tpVec3 spin = tpMakeVec3(0.0, 0.0, turn);
            tpBody_SetVelocity(world, hub, tpZeroVec3(), spin);
            tpBody_SetVelocity(world, bead, tpMakeVec3(0.0, turn * start, 0.0), spin);
            int steps = 50 << r;
            for (int i = 0; i < steps; ++i) {
                tpWorld_Step(world, time / steps);
            }
            errors[r] = fabs(start + tpJoint_GetValue(world, slide, 0) - start * cosh(rate * time));
            tpDestroyWorld(world);
        }
        printf("armature on a turning slide: off by %.1e (h = .008), %.1e (.004)\n", errors[0],
               errors[1]);
        CHECK_BELOW(errors[0], 2e-3);
        CHECK_BELOW(errors[1], 0.6 * errors[0] + 1e-9);
    }
}

// A ball of moment I about its centre, on a ball joint with armature a in a hub that turns at w and
// is too heavy to be slowed: the rotor's speed r is counted in the axes of the hub, so that
//   (I + a) r' = a w x r,
// and r goes around at a w / (I + a). The symmetric step is of second order.
static void armatureOnATurningBall(void** state) {
    (void)state;
    const double moment = 0.2, armature = 0.3, turn = 3.0, time = 0.4;
    const tpVec3 relative = tpMakeVec3(2.0, 0.0, 1.0), spin = tpMakeVec3(0.0, 0.0, turn);
    const double angle = armature * turn * time / (moment + armature);
    tpVec3 expected =
        tpAdd(spin, tpMakeVec3(relative.x * cos(angle), relative.x * sin(angle), relative.z));
    double errors[2];
    for (int r = 0; r < 2; ++r) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId hub = addBody(world, tpZeroVec3(), 1e9, tpMakeVec3(1e9, 1e9, 1e9));
        tpBodyId ball = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(moment, moment, moment));
        tpJointDef def = hingeOf(theWorld, hub, tpZeroVec3(), axisZ);
        addJoint(world, &def);
        def = hingeOf(hub, ball, tpZeroVec3(), axisX);
        def.type = tp_ballJoint;
        def.coordinate.armature = armature;
        addJoint(world, &def);
        tpBody_SetVelocity(world, hub, tpZeroVec3(), spin);
        tpBody_SetVelocity(world, ball, tpZeroVec3(), tpAdd(spin, relative));
        int steps = 50 << r;
        for (int i = 0; i < steps; ++i) {
            tpWorld_Step(world, time / steps);
        }
        errors[r] = tpLength(tpSub(tpBody_GetAngularVelocity(world, ball), expected));
        tpDestroyWorld(world);
    }
    printf("armature on a turning ball: off by %.1e (h = .008), %.1e (.004)\n", errors[0],
           errors[1]);
    CHECK_BELOW(errors[0], 1e-3);
    CHECK_BELOW(errors[1], 0.27 * errors[0]);
}

// A ball joint's armature is an inertia about all axes: a body with isotropic inertia turns as a
// heavier one.
static void armatureOfBallJoints(void** state) {
    (void)state;
    tpVec3 ends[2];
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = worldOf(tp_anitescu, tpMakeVec3(0.0, 0.0, -9.81));
        double own = k == 0 ? 0.2 : 0.5;
        tpBodyId body = addBody(world, tpMakeVec3(0.5, 0.0, 0.0), 1.0, tpMakeVec3(own, own, own));
        tpJointDef def = hingeOf(theWorld, body, tpZeroVec3(), axisX);
        def.type = tp_ballJoint;
        def.coordinate.armature = k == 0 ? 0.3 : 0.0;
        addJoint(world, &def);
        tpBody_SetVelocity(world, body, tpMakeVec3(0.0, 0.5, 0.0), tpMakeVec3(0.3, 0.0, 1.0));
        double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        for (int i = 0; i < 500; ++i) {
            tpWorld_Step(world, 0.002);
        }
        double after = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        CHECK_NEAR(after, energy, 1e-4);
        ends[k] = tpBody_GetPosition(world, body);
        tpDestroyWorld(world);
    }
    CHECK_VEC3(ends[0], ends[1], 1e-4);
}

// Servos ------------------------------------------------------------------------------------------

typedef struct Arm {
    double mass, length, inertia; // about the centre of mass
    tpServo servo;
    double armature, damping, torque;
} Arm;

static double armAcceleration(const Arm* arm, double angle, double speed) {
    double inertia = arm->inertia + arm->mass * arm->length * arm->length + arm->armature;
    double effort = arm->servo.stiffness * (arm->servo.target - angle) +
                    arm->servo.damping * (arm->servo.speed - speed);
    effort = fmin(fmax(effort, -arm->servo.effort), arm->servo.effort);
    double weight = -arm->mass * 9.81 * arm->length * sin(angle);
    return (weight + effort + arm->torque - arm->damping * speed) / inertia;
}

// Runge-Kutta of fourth order with many steps.
static void integrateArm(const Arm* arm, double time, double* angle, double* speed) {
    int count = 20000;
    double h = time / count, x = *angle, v = *speed;
    for (int i = 0; i < count; ++i) {
        double a1 = armAcceleration(arm, x, v);
        double a2 = armAcceleration(arm, x + 0.5 * h * v, v + 0.5 * h * a1);
        double a3 = armAcceleration(arm, x + 0.5 * h * (v + 0.5 * h * a1), v + 0.5 * h * a2);
        double a4 = armAcceleration(arm, x + h * (v + 0.5 * h * a2), v + h * a3);
        x += h * v + h * h / 6.0 * (a1 + a2 + a3);
        v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    *angle = x;
    *speed = v;
}

static tpJointId addArm(tpWorld* world, const Arm* arm, double angle) {
    tpVec3 place = tpMakeVec3(arm->length * sin(angle), -arm->length * cos(angle), 0.0);
    tpBodyId body =
        addBody(world, place, arm->mass, tpMakeVec3(arm->inertia, arm->inertia, arm->inertia));
    tpJointDef def = hingeOf(theWorld, body, tpZeroVec3(), axisZ);
    def.coordinate.zero = angle;
    def.coordinate.hasServo = arm->servo.stiffness > 0.0 || arm->servo.damping > 0.0;
    def.coordinate.servo = arm->servo;
    def.coordinate.armature = arm->armature;
    def.coordinate.damping = arm->damping;
    return addJoint(world, &def);
}

static double armError(tpStepperId stepper, const Arm* arm, double h, double time, double angle,
                       double speed) {
    tpWorld* world = worldOf(stepper, tpMakeVec3(0.0, -9.81, 0.0));
    tpJointId joint = addArm(world, arm, 0.5);
    int count = (int)lround(time / h);
    for (int i = 0; i < count; ++i) {
        if (arm->torque != 0.0) {
            tpJoint_ApplyEffort(world, joint, 0, arm->torque);
        }
        tpWorld_Step(world, h);
    }
    double error =
        hypot(tpJoint_GetValue(world, joint, 0) - angle, tpJoint_GetSpeed(world, joint, 0) - speed);
    tpDestroyWorld(world);
    return error;
}

// Driven by a servo, by a servo at its limit, by a torque, with damping: second order in the step,
// first order elsewhere.
static void drivenArmsFollowTheirEquations(void** state) {
    (void)state;
    static const struct {
        const char* name;
        Arm arm;
    } cases[] = {
        { "servo", { 1.0, 0.5, 0.05, { 1.2, 0.3, 40.0, 3.0, INFINITY }, 0.0, 0.0, 0.0 } },
        { "servo, armature", { 1.0, 0.5, 0.05, { 1.2, 0.0, 40.0, 3.0, INFINITY }, 0.2, 0.1, 0.0 } },
        { "torque", { 1.0, 0.5, 0.05, { 0.0, 0.0, 0.0, 0.0, INFINITY }, 0.0, 0.0, 2.0 } },
        { "damping", { 1.0, 0.5, 0.05, { 0.0, 0.0, 0.0, 0.0, INFINITY }, 0.1, 0.8, 3.0 } },
        { "limited servo", { 1.0, 0.5, 0.05, { 3.0, 0.0, 40.0, 3.0, 6.0 }, 0.0, 0.0, 0.0 } },
    };
    for (int k = 0; k < 5; ++k) {
        double q = 0.5, u = 0.0;
        integrateArm(&cases[k].arm, 1.0, &q, &u);
        double coarse = armError(tp_anitescu, &cases[k].arm, 0.004, 1.0, q, u);
        double fine = armError(tp_anitescu, &cases[k].arm, 0.002, 1.0, q, u);
        printf("%s: off by %.1e (h = .004), %.1e (.002)\n", cases[k].name, coarse, fine);
        CHECK_BELOW(coarse, 2e-3);
        CHECK_BELOW(fine, k == 4 ? 0.5 * coarse : 0.3 * coarse);
        static const tpStepperId others[] = { tp_stewartTrinkle, tp_benderSchmitt, tp_mirtichCanny,
                                              tp_chakrabortyTrinkle, tp_penalty };
        for (int s = 0; s < 5; ++s) {
            double first = armError(others[s], &cases[k].arm, 0.004, 1.0, q, u);
            double second = armError(others[s], &cases[k].arm, 0.001, 1.0, q, u);
            printf("    %s: %.1e, %.1e (.001)\n", tpStepperName(others[s]), first, second);
            CHECK_BELOW(second, 0.06);
            CHECK_BELOW(second, 0.5 * first + 5e-5); // bender-schmitt chooses its own parts
        }
    }
}

// Held against gravity, an arm hangs by m g l cos / stiffness: sin(q) m g l = stiffness (target -
// q).
static void servosHoldWithTheirStaticError(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        Arm arm = { 2.0, 0.6, 0.1, { 0.5 * pi, 0.0, 300.0, 30.0, INFINITY }, 0.0, 0.0, 0.0 };
        tpWorld* world = worldOf(jointSteppers[s], tpMakeVec3(0.0, -9.81, 0.0));
        tpJointId joint = addArm(world, &arm, 0.5 * pi);
        for (int i = 0; i < 600; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        double expected = 0.5 * pi;
        for (int i = 0; i < 100; ++i) {
            expected = 0.5 * pi - 2.0 * 9.81 * 0.6 * sin(expected) / 300.0;
        }
        tpCoordinateState held = tpJoint_GetState(world, joint, 0);
        CHECK_NEAR(held.value, expected, 1e-9);
        CHECK_NEAR(held.speed, 0.0, 1e-5);
        CHECK_NEAR(held.effort, 2.0 * 9.81 * 0.6 * sin(expected), 1e-6);
        tpDestroyWorld(world);
    }
}

// Far stiffer than the step: the arm goes to its target without passing it and stays, whatever the
// gain.
static void stiffServosDoNotRing(void** state) {
    (void)state;
    double h = 1.0 / 60.0, inertia = 0.1 + 2.0 * 0.36;
    for (int s = 0; s < jointStepperCount; ++s) {
        for (double factor = 1.0; factor <= 1e8; factor *= 10.0) {
            // `factor` times the gain at which an explicit step becomes unstable, critically
            // damped.
            double stiffness = factor * 4.0 * inertia / (h * h);
            double damping = 2.0 * sqrt(stiffness * inertia);
            Arm arm = { 2.0, 0.6, 0.1, { 0.3, 0.0, stiffness, damping, INFINITY }, 0.0, 0.0, 0.0 };
            tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
            tpJointId joint = addArm(world, &arm, 0.0);
            double last = 0.0;
            for (int i = 0; i < 60; ++i) {
                tpWorld_Step(world, h);
                double value = tpJoint_GetValue(world, joint, 0);
                // The linear rows of stewart-trinkle overshoot by what the arc bends in a step,
                // once.
                double slack = jointSteppers[s] == tp_stewartTrinkle ? 0.01 : 1e-7;
                assert_true(value <= 0.3 + slack && value >= last - slack);
                last = value;
            }
            CHECK_NEAR(last, 0.3, 1e-6);
            CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), 0.0, 1e-6);
            tpDestroyWorld(world);
        }
    }
}

// The account: what a servo gives is work from outside, to the last bit of energy.
static void servoWorkIsInTheAccount(void** state) {
    (void)state;
    Arm arm = { 1.0, 0.5, 0.05, { 1.2, 0.3, 40.0, 3.0, 8.0 }, 0.15, 0.1, 0.0 };
    tpWorld* world = worldOf(tp_anitescu, tpMakeVec3(0.0, -9.81, 0.0));
    tpJointId joint = addArm(world, &arm, 0.5);
    double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double work = 0.0, loss = 0.0;
    for (int i = 0; i < 200; ++i) {
        tpJoint_ApplyEffort(world, joint, 0, 0.5);
        tpStepReport report = tpWorld_Step(world, 0.005);
        work += report.externalWork;
        loss += report.impactLoss + report.frictionLoss;
    }
    double after = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    CHECK_NEAR(after - energy, work - loss, 1e-10);
    CHECK_NEAR(loss, 0.0, 2e-3);
    tpDestroyWorld(world);
}

// Dry friction holds a coordinate up to its limit and takes that much beyond.
static void frictionHoldsAndSlides(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpBodyId wheel = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(2.0, 2.0, 2.0));
        tpJointDef def = hingeOf(theWorld, wheel, tpZeroVec3(), axisZ);
        def.coordinate.friction = 1.5;
        tpJointId joint = addJoint(world, &def);
        for (int i = 0; i < 50; ++i) {
            tpJoint_ApplyEffort(world, joint, 0, 1.4);
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.0, 1e-10);
        for (int i = 0; i < 50; ++i) {
            tpJoint_ApplyEffort(world, joint, 0, 2.5);
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpJoint_GetSpeed(world, joint, 0), (2.5 - 1.5) / 2.0 * 0.5, 1e-9);
        CHECK_NEAR(tpJoint_GetState(world, joint, 0).effort, 2.5, 1e-9);
        tpDestroyWorld(world);
    }
}

// Limits of a compound joint's axis stop it; the effort of the limit is that of the torque.
static void limitsOfAxesStop(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpBodyId body = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(0.3, 0.3, 0.3));
        tpAxisDef axes[2] = { { "swing", tp_turnAxis, axisX, tpDefaultCoordinateDef() },
                              { "twist", tp_turnAxis, axisZ, tpDefaultCoordinateDef() } };
        axes[1].coordinate.hasLimits = true;
        axes[1].coordinate.limits[0] = -INFINITY;
        axes[1].coordinate.limits[1] = 0.2;
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_compoundJoint;
        def.bodyB = body;
        def.axes = axes;
        def.axisCount = 2;
        tpJointId joint = addJoint(world, &def);
        for (int i = 0; i < 200; ++i) {
            tpJoint_ApplyEffort(world, joint, 1, 0.5);
            tpWorld_Step(world, 0.01);
        }
        tpCoordinateState twist = tpJoint_GetState(world, joint, 1);
        CHECK_NEAR(twist.value, 0.2, 1e-8);
        CHECK_NEAR(twist.limitEffort, -0.5, 1e-6);
        CHECK_NEAR(tpJoint_GetValue(world, joint, 0), 0.0, 1e-8);
        tpDestroyWorld(world);
    }
}

// Laws that a coordinate does not have do nothing, whatever numbers they are given: the same bits.
static void lawsThatAreNotThereDoNothing(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu,      tp_stewartTrinkle,
                                            tp_benderSchmitt, tp_chakrabortyTrinkle,
                                            tp_mirtichCanny,  tp_smallSteps,
                                            tp_auto };
    for (int s = 0; s < 7; ++s) {
        tpPose ends[2][2];
        for (int hasNumbers = 0; hasNumbers < 2; ++hasNumbers) {
            tpWorld* world = worldOf(steppers[s], tpMakeVec3(0.0, -9.81, 0.0));
            tpVec3 moments = tpMakeVec3(0.02, 0.03, 0.04);
            tpBodyId upper = addBody(world, tpMakeVec3(0.5, 0.0, 0.0), 1.0, moments);
            tpBodyId lower = addBody(world, tpMakeVec3(1.5, 0.0, 0.0), 2.0, moments);
            tpJointDef defs[2] = { hingeOf(theWorld, upper, tpZeroVec3(), axisZ),
                                   hingeOf(upper, lower, axisX, axisZ) };
            for (int i = 0; i < 2; ++i) {
                if (hasNumbers) {
                    tpCoordinateDef* given = &defs[i].coordinate;
                    given->limits[0] = -0.01;
                    given->limits[1] = 0.01;
                    given->motor.speed = 3.0;
                    given->motor.effort = 50.0;
                    given->servo.target = 0.5;
                    given->servo.stiffness = 100.0;
                    given->servo.damping = 10.0;
                    given->servo.effort = 5.0;
                }
                addJoint(world, &defs[i]);
            }
            for (int k = 0; k < 30; ++k) {
                tpWorld_Step(world, 0.01);
            }
            memcpy(ends[hasNumbers], world->system.poses.data, sizeof(ends[0]));
            tpDestroyWorld(world);
        }
        assert_memory_equal(ends[0], ends[1], sizeof(ends[0]));
        assert_true(ends[0][1].position.y < -0.1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(armatureSlowsAPendulum),
        cmocka_unit_test(dampersOfBallsAreThoseOfHinges),
        cmocka_unit_test(armatureHalvesAFall),
        cmocka_unit_test(armatureOnTurningSlides),
        cmocka_unit_test(armatureOnATurningBall),
        cmocka_unit_test(armatureOfBallJoints),
        cmocka_unit_test(drivenArmsFollowTheirEquations),
        cmocka_unit_test(servosHoldWithTheirStaticError),
        cmocka_unit_test(stiffServosDoNotRing),
        cmocka_unit_test(servoWorkIsInTheAccount),
        cmocka_unit_test(frictionHoldsAndSlides),
        cmocka_unit_test(limitsOfAxesStop),
        cmocka_unit_test(lawsThatAreNotThereDoNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
