// Couplings of coordinates: gears, tendons and springs on sums, against closed forms and
// independent integration.

#include <string.h>

#include "dynamics/couplings.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// Those that hold joints, and those that are less exact or sleep.
static const tpStepperId allSteppers[] = { tp_stewartTrinkle,     tp_anitescu,
                                           tp_benderSchmitt,      tp_mirtichCanny,
                                           tp_chakrabortyTrinkle, tp_penalty,
                                           tp_smallSteps,         tp_auto };
enum { allCount = sizeof(allSteppers) / sizeof(allSteppers[0]) };

static tpBodyId addWheel(tpWorld* world, tpVec3 position, double mass, double moment) {
    return addBody(world, position, mass, tpMakeVec3(moment, moment, moment));
}

static tpCouplingId addCoupling(tpWorld* world, tpCouplingDef* def, const tpJointId* joints,
                                const double* factors, int count) {
    tpCouplingTerm terms[8];
    for (int i = 0; i < count; ++i) {
        terms[i] = (tpCouplingTerm){ joints[i], 0, factors[i] };
    }
    def->terms = terms;
    def->termCount = count;
    tpError error = { 0 };
    tpCouplingId coupling = tpCreateCoupling(world, def, &error);
    if (!tpCoupling_IsValid(world, coupling)) {
        fail_msg("%s", error.message);
    }
    return coupling;
}

// Sun, carrier and ring of a planetary gear, by Willis' equation: sun + 2 ring = 3 carrier. A
// torque on the sun accelerates all three as Lagrange's equations say.
static void planetaryGearTurns(void** state) {
    (void)state;
    const double moments[3] = { 0.2, 1.5, 0.7 }, factors[3] = { 1.0, 2.0, -3.0 }, torque = 0.9;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpJointId joints[3];
        double numerator = 0.0, denominator = 0.0;
        for (int i = 0; i < 3; ++i) {
            tpBodyId body = addWheel(world, tpZeroVec3(), 1.0 + i, moments[i]);
            joints[i] = addHinge(world, theWorld, body, tpZeroVec3(), axisZ);
            numerator += factors[i] * (i == 0 ? torque : 0.0) / moments[i];
            denominator += factors[i] * factors[i] / moments[i];
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasValue = true;
        tpCouplingId gear = addCoupling(world, &def, joints, factors, 3);
        double lambda = -numerator / denominator, h = 0.01, time = 0.0;
        for (int i = 0; i < 100; ++i) {
            tpJoint_ApplyEffort(world, joints[0], 0, torque);
            tpStepReport report = tpWorld_Step(world, h);
            assert_true(report.converged);
            time += h;
        }
        for (int i = 0; i < 3; ++i) {
            double rate = ((i == 0 ? torque : 0.0) + factors[i] * lambda) / moments[i];
            CHECK_NEAR(tpJoint_GetSpeed(world, joints[i], 0), rate * time, 1e-9);
        }
        tpCoordinateState sum = tpCoupling_GetState(world, gear);
        CHECK_NEAR(sum.value, 0.0, 1e-9);
        CHECK_NEAR(sum.speed, 0.0, 1e-9);
        CHECK_NEAR(sum.limitEffort, lambda, 1e-8);
        // What the sun's axle carries: the torque applied and the gear's own.
        tpVec3 force, moment;
        tpJoint_GetReaction(world, joints[0], &force, &moment);
        CHECK_NEAR(moment.z, torque + lambda, 1e-8);
        tpDestroyWorld(world);
    }
}

// The same on three arms that turn as they are told: the wheels take up what the torque and the
// arms give, and nothing is lost. In the plane and in space.
static void gearsOnTurningArms(tpStepperId stepper, bool isPlanar) {
    const double moments[3] = { 0.2, 1.5, 0.7 }, factors[3] = { 1.0, 2.0, -3.0 }, torque = 0.9;
    const double turns[3] = { 0.4, -0.3, 0.6 };
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.gravity = tpZeroVec3();
    worldDef.planar = isPlanar;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyId wheels[3];
    tpJointId joints[3];
    double square = 0.0;
    for (int i = 0; i < 3; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_kinematicBody;
        def.angularVelocity = tpScale(turns[i], axisZ);
        tpBodyId arm = tpCreateBody(world, &def, NULL);
        wheels[i] = addWheel(world, tpZeroVec3(), 1.0 + i, moments[i]);
        tpBody_SetVelocity(world, wheels[i], tpZeroVec3(), def.angularVelocity);
        joints[i] = addHinge(world, arm, wheels[i], tpZeroVec3(), axisZ);
        square += factors[i] * factors[i] / moments[i];
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasValue = true;
    tpCouplingId gear = addCoupling(world, &def, joints, factors, 3);
    double lambda = -factors[0] * torque / moments[0] / square, h = 0.01;
    double given = 0.0, gained = 0.0, lost = 0.0, kicks = 0.0;
    for (int k = 0; k < 100; ++k) {
        tpJoint_ApplyEffort(world, joints[0], 0, torque);
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.converged);
        given += report.externalWork;
        lost += report.numericalLoss;
    }
    for (int i = 0; i < 3; ++i) {
        double rate = ((i == 0 ? torque : 0.0) + factors[i] * lambda) / moments[i];
        double turn = tpBody_GetAngularVelocity(world, wheels[i]).z;
        CHECK_NEAR(turn, turns[i] + rate, 1e-9);
        kicks += moments[i] * rate * rate;
        gained += 0.5 * moments[i] * (turn * turn - turns[i] * turns[i]);
    }
    CHECK_NEAR(tpCoupling_GetState(world, gear).value, 0.0, 1e-9);
    // Schemes whose efforts act with the speed at the end of a step lose the square of each kick.
    bool isImplicit = stepper == tp_stewartTrinkle || stepper == tp_penalty;
    CHECK_NEAR(lost, isImplicit ? 0.5 * h * kicks : 0.0, 1e-9);
    CHECK_NEAR(given, gained + lost, 1e-9);
    tpDestroyWorld(world);
}

static void armsDoWorkThroughGears(void** state) {
    (void)state;
    for (int s = 0; s < allCount; ++s) {
        if (allSteppers[s] != tp_smallSteps) { // its joints give way a little
            gearsOnTurningArms(allSteppers[s], false);
            gearsOnTurningArms(allSteppers[s], true);
        }
    }
}

// Two geared wheels without shapes under a motor's torque: they turn in place, which is not rest.
static void turningWheelsStayAwake(void** state) {
    (void)state;
    const double factors[2] = { 1.0, 3.0 }, moments[2] = { 0.2, 0.5 }, torque = 0.04;
    for (int s = 0; s < allCount; ++s) {
        tpWorld* world = worldOf(allSteppers[s], tpZeroVec3());
        if (allSteppers[s] == tp_auto) { // it is as accurate as it is asked to be
            assert_int_equal(tpWorld_SetOption(world, "accuracy", "1e-6", NULL), tp_success);
        }
        tpJointId joints[2];
        for (int i = 0; i < 2; ++i) {
            tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
            tpBodyId wheel = addWheel(world, place, 1.0, moments[i]);
            joints[i] = addHinge(world, theWorld, wheel, place, axisZ);
        }
        tpCoordinateDef laws = tpJoint_GetCoordinate(world, joints[0], 0);
        laws.hasMotor = true;
        laws.motor = (tpMotor){ 100.0, torque };
        assert_int_equal(tpJoint_SetCoordinate(world, joints[0], 0, &laws, NULL), tp_success);
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasValue = true;
        addCoupling(world, &def, joints, factors, 2);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.02);
        }
        double rate = torque / (moments[0] + moments[1] / 9.0);
        CHECK_NEAR(tpJoint_GetSpeed(world, joints[0], 0), 2.0 * rate, 1e-8);
        CHECK_NEAR(tpJoint_GetSpeed(world, joints[1], 0), -2.0 * rate / 3.0, 1e-8);
        tpDestroyWorld(world);
    }
}

// Wheels on a body that floats: coupling them keeps momentum, and takes up no more energy than it
// gives.
static void floatingGearsKeepMomentum(void** state) {
    (void)state;
    const tpVec3 places[4] = {
        { 1.0, 0.2, 0.0 }, { -0.7, 0.5, 0.3 }, { 0.0, -1.0, 0.4 }, { 0.3, 0.1, -0.9 }
    };
    const tpVec3 axes[4] = {
        { 1.0, 0.0, 0.0 }, { 0.0, 0.6, 0.8 }, { 0.6, 0.8, 0.0 }, { 0.0, 0.0, 1.0 }
    };
    const double factors[4] = { 1.0, -0.5, 2.0, 0.3 }, moments[4] = { 0.1, 0.05, 0.2, 0.15 };
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpBodyId bodies[5];
        bodies[0] = addWheel(world, tpZeroVec3(), 5.0, 1.0);
        tpJointId joints[4];
        for (int i = 0; i < 4; ++i) {
            bodies[i + 1] = addWheel(world, places[i], 0.5, moments[i]);
            joints[i] = addHinge(world, bodies[0], bodies[i + 1], places[i], axes[i]);
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasValue = true;
        tpCouplingId gear = addCoupling(world, &def, joints, factors, 4);
        // Speeds that the gear allows.
        const double speeds[4] = { 2.0, -2.0, -1.65, 1.0 };
        for (int i = 0; i < 4; ++i) {
            assert_int_equal(tpJoint_SetSpeed(world, joints[i], 0, speeds[i], NULL), tp_success);
        }
        CHECK_NEAR(tpCoupling_GetState(world, gear).speed, 0.0, 1e-9);
        tpVec3 linear[2], angular[2];
        double energy[2];
        for (int pass = 0; pass < 2; ++pass) {
            linear[pass] = angular[pass] = tpZeroVec3();
            for (int i = 0; i < 5; ++i) {
                double mass = i == 0 ? 5.0 : 0.5, moment = i == 0 ? 1.0 : moments[i - 1];
                tpVec3 v = tpBody_GetVelocity(world, bodies[i]);
                tpVec3 w = tpBody_GetAngularVelocity(world, bodies[i]);
                linear[pass] = tpMulAdd(linear[pass], mass, v);
                angular[pass] = tpAdd(angular[pass], tpScale(moment, w));
                angular[pass] =
                    tpMulAdd(angular[pass], mass, tpCross(tpBody_GetPosition(world, bodies[i]), v));
            }
            tpStepReport report = { 0 };
            for (int i = 0; i < 100 && pass == 0; ++i) {
                report = tpWorld_Step(world, 0.002);
                assert_true(report.converged);
                energy[i == 0 ? 0 : 1] = i == 0 ? report.kineticBefore : report.kineticAfter;
            }
        }
        bool isSoft = jointSteppers[s] == tp_penalty || jointSteppers[s] == tp_stewartTrinkle ||
                      jointSteppers[s] == tp_mirtichCanny;
        CHECK_VEC3(linear[1], linear[0], 1e-10);
        CHECK_VEC3(angular[1], angular[0], isSoft ? 2e-3 : 1e-7);
        CHECK_NEAR(tpCoupling_GetState(world, gear).value, 0.0, 1e-9);
        assert_true(energy[1] < energy[0] * (1.0 + 1e-6));
        tpDestroyWorld(world);
    }
}

// Three pendulums whose angles keep a linear relation, beside the integration of Lagrange's
// equations.
static const double lengths[3] = { 1.0, 0.7, 0.4 }, masses[3] = { 1.0, 2.0, 0.5 };
static const double pendulumFactors[3] = { 1.0, -0.5, 0.8 };
static const double ownMoment = 0.05, g = 9.81;

static void rates(const double x[6], double dx[6]) {
    double numerator = 0.0, denominator = 0.0, moments[3], torques[3];
    for (int i = 0; i < 3; ++i) {
        moments[i] = ownMoment + masses[i] * lengths[i] * lengths[i];
        torques[i] = -masses[i] * g * lengths[i] * sin(x[i]);
        numerator += pendulumFactors[i] * torques[i] / moments[i];
        denominator += pendulumFactors[i] * pendulumFactors[i] / moments[i];
    }
    for (int i = 0; i < 3; ++i) {
        dx[i] = x[3 + i];
        dx[3 + i] = (torques[i] - pendulumFactors[i] * numerator / denominator) / moments[i];
    }
}

static void integrate(double x[6], double h, int count) {
    for (int n = 0; n < count; ++n) {
        double k[4][6], y[6];
        for (int stage = 0; stage < 4; ++stage) {
            const double parts[4] = { 0.0, 0.5, 0.5, 1.0 };
            for (int i = 0; i < 6; ++i) {
                y[i] = x[i] + (stage > 0 ? parts[stage] * h * k[stage - 1][i] : 0.0);
            }
            rates(y, k[stage]);
        }
        for (int i = 0; i < 6; ++i) {
            x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
    }
}

static double pendulumError(tpStepperId stepper, double h) {
    tpWorld* world = worldOf(stepper, tpMakeVec3(0.0, 0.0, -g));
    tpJointId joints[3];
    for (int i = 0; i < 3; ++i) {
        tpVec3 pivot = tpMakeVec3(0.0, i, 0.0);
        tpBodyId body =
            addWheel(world, tpAdd(pivot, tpMakeVec3(0.0, 0.0, -lengths[i])), masses[i], ownMoment);
        joints[i] = addHinge(world, theWorld, body, pivot, axisY);
    }
    const double start[3] = { 0.8, 0.4, -0.75 };
    double x[6] = { 0.0 };
    for (int i = 0; i < 3; ++i) {
        x[i] = start[i];
        assert_int_equal(tpJoint_SetValue(world, joints[i], 0, start[i], NULL), tp_success);
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasValue = true;
    addCoupling(world, &def, joints, pendulumFactors, 3);
    double duration = 1.0;
    for (int i = 0; i < (int)(duration / h + 0.5); ++i) {
        tpWorld_Step(world, h);
    }
    integrate(x, 1e-4, 10000);
    double error = 0.0;
    for (int i = 0; i < 3; ++i) {
        error = fmax(error, fabs(tpJoint_GetValue(world, joints[i], 0) - x[i]));
    }
    tpDestroyWorld(world);
    return error;
}

static void pendulumsFollowLagrange(void** state) {
    (void)state;
    for (int s = 0; s < jointStepperCount; ++s) {
        double coarse = pendulumError(jointSteppers[s], 0.004),
               fine = pendulumError(jointSteppers[s], 0.002);
        bool isSecond = jointSteppers[s] == tp_anitescu || jointSteppers[s] == tp_benderSchmitt ||
                        jointSteppers[s] == tp_chakrabortyTrinkle;
        assert_true(fine < 0.03);
        assert_true(coarse / fine > (isSecond ? 3.5 : 1.7));
        if (isSecond) {
            assert_true(fine < 1e-4);
        }
    }
}

// One tendon pulls two sprung arms: at rest, with a = K sum f^2 / k, the sum is a T / (1 + a).
static void tendonSharesItsPull(void** state) {
    (void)state;
    const double stiffness[3] = { 4.0, 9.0, 2.0 }, factors[3] = { 0.5, -1.2, 0.7 };
    const double gain = 20.0, target = 0.6;
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpBodyId base = addWheel(world, tpZeroVec3(), 1e3, 1e3);
        tpJointId fixed = addHinge(world, theWorld, base, tpZeroVec3(), axisX);
        tpCoordinateDef locked = tpJoint_GetCoordinate(world, fixed, 0);
        locked.hasLimits = true;
        assert_int_equal(tpJoint_SetCoordinate(world, fixed, 0, &locked, NULL), tp_success);
        tpJointId joints[3];
        double a = 0.0;
        for (int i = 0; i < 3; ++i) {
            tpVec3 place = tpMakeVec3(i, 0.0, 0.5);
            tpBodyId arm = addWheel(world, place, 1.0, 0.1);
            joints[i] = addHinge(world, base, arm, place, i == 1 ? axisY : axisX);
            tpCoordinateDef laws = tpJoint_GetCoordinate(world, joints[i], 0);
            laws.hasSpring = true;
            laws.spring = (tpSpring){ stiffness[i], 1.0, 0.0 };
            assert_int_equal(tpJoint_SetCoordinate(world, joints[i], 0, &laws, NULL), tp_success);
            a += gain * factors[i] * factors[i] / stiffness[i];
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasServo = true;
        def.servo.stiffness = gain;
        def.servo.damping = 1.0;
        def.servo.target = target;
        tpCouplingId tendon = addCoupling(world, &def, joints, factors, 3);
        for (int i = 0; i < 700; ++i) {
            tpWorld_Step(world, 0.02);
        }
        tpCoordinateState sum = tpCoupling_GetState(world, tendon);
        double wanted = a * target / (1.0 + a);
        CHECK_NEAR(sum.value, wanted, 1e-9);
        CHECK_NEAR(sum.effort, gain * (target - wanted), 1e-7);
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(tpJoint_GetValue(world, joints[i], 0),
                       factors[i] * gain * (target - wanted) / stiffness[i], 1e-8);
        }
        // Any gain is stable, and a bounded one pulls with its bound.
        def.servo.stiffness = 1e9;
        def.servo.damping = 1e5;
        assert_int_equal(tpCoupling_SetLaws(world, tendon, &def, NULL), tp_success);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.02);
        }
        CHECK_NEAR(tpCoupling_GetState(world, tendon).value, target, 1e-6);
        def.servo.effort = 1.0;
        assert_int_equal(tpCoupling_SetLaws(world, tendon, &def, NULL), tp_success);
        for (int i = 0; i < 700; ++i) {
            tpWorld_Step(world, 0.02);
        }
        sum = tpCoupling_GetState(world, tendon);
        CHECK_NEAR(sum.effort, 1.0, 1e-7);
        CHECK_NEAR(sum.value, a / gain, 1e-7);
        tpDestroyWorld(world);
    }
}

// A servo on the sum of two slides carries their weights with the static error of its stiffness, at
// rest, with every stepper.
static void servoOnTheSumCarriesWeights(void** state) {
    (void)state;
    const double factors[2] = { 1.0, 2.0 }, stiffness = 1000.0;
    for (int s = 0; s < allCount; ++s) {
        tpWorld* world = worldOf(allSteppers[s], tpMakeVec3(0.0, 0.0, -9.81));
        tpJointId joints[2];
        for (int i = 0; i < 2; ++i) {
            tpJointDef slide = tpDefaultJointDef();
            slide.type = tp_prismaticJoint;
            slide.anchorA = slide.anchorB = tpMakeVec3(i, 0.0, 1.0);
            slide.axis = axisZ;
            slide.bodyB = addWheel(world, slide.anchorB, factors[i], 0.1);
            joints[i] = tpCreateJoint(world, &slide, NULL);
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasServo = true;
        def.servo.stiffness = stiffness;
        def.servo.damping = 40.0;
        tpCouplingId rope = addCoupling(world, &def, joints, factors, 2);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.01);
        }
        tpCoordinateState sum = tpCoupling_GetState(world, rope);
        bool isLoose = allSteppers[s] == tp_auto; // to 1e-3, as it is asked to
        CHECK_NEAR(sum.value, -9.81 / stiffness, isLoose ? 1e-3 : 1e-11);
        CHECK_NEAR(sum.speed, 0.0, isLoose ? 1e-2 : 1e-9);
        CHECK_NEAR(sum.effort, 9.81, isLoose ? 1.0 : 1e-7);
        tpDestroyWorld(world);
    }
}

// A spring between the turns of three wheels swings with the frequency of the reduced inertia, and
// keeps its energy.
static void springOnTheSumSwings(void** state) {
    (void)state;
    const double moments[3] = { 0.4, 1.1, 0.6 }, factors[3] = { 1.0, -2.0, 0.5 }, stiffness = 30.0;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[3];
    double inverse = 0.0;
    for (int i = 0; i < 3; ++i) {
        tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
        joints[i] =
            addHinge(world, theWorld, addWheel(world, place, 1.0, moments[i]), place, axisZ);
        inverse += factors[i] * factors[i] / moments[i];
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasSpring = true;
    def.spring.stiffness = stiffness;
    def.spring.rest = -0.2;
    tpCouplingId spring = addCoupling(world, &def, joints, factors, 3);
    double omega = sqrt(stiffness * inverse), h = 1e-3, first = 0.0;
    for (int i = 0; i < 1000; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        double energy = report.kineticAfter + report.potentialAfter;
        first = i == 0 ? report.kineticBefore + report.potentialBefore : first;
        CHECK_NEAR(energy, first, 1e-9);
        CHECK_NEAR(report.externalWork, 0.0, 1e-12);
    }
    // The mean of both ends swings at tan(w h / 2) = omega h / 2.
    double seen = 2.0 / h * atan(0.5 * omega * h);
    CHECK_NEAR(tpCoupling_GetState(world, spring).value, -0.2 + 0.2 * cos(seen), 1e-9);
    tpDestroyWorld(world);
}

// The same with a damper and a servo beside it by schemes with one solve: implicit Euler of the
// sum, step by step.
static void springOnTheSumIsImplicit(void** state) {
    (void)state;
    const double moments[3] = { 0.4, 1.1, 0.6 }, factors[3] = { 1.0, -2.0, 0.5 };
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = worldOf(s == 0 ? tp_stewartTrinkle : tp_penalty, tpZeroVec3());
        tpJointId joints[3];
        double inverse = 0.0;
        for (int i = 0; i < 3; ++i) {
            tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
            tpBodyId wheel = addWheel(world, place, 1.0, moments[i]);
            joints[i] = addHinge(world, theWorld, wheel, place, axisZ);
            inverse += factors[i] * factors[i] / moments[i];
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasSpring = def.hasServo = true;
        def.spring = (tpSpring){ .stiffness = 30.0, .damping = 0.2, .rest = -0.2 };
        def.servo.stiffness = 12.0;
        def.servo.damping = 0.1;
        def.servo.target = 0.3;
        tpCouplingId coupling = addCoupling(world, &def, joints, factors, 3);
        double h = 0.01, value = 0.0, speed = 0.0;
        for (int i = 0; i < 200; ++i) {
            tpWorld_Step(world, h);
            double push = 30.0 * (-0.2 - value) + 12.0 * (0.3 - value);
            speed = (speed + h * inverse * push) / (1.0 + inverse * h * (0.3 + h * 42.0));
            value += h * speed;
            tpCoordinateState sum = tpCoupling_GetState(world, coupling);
            CHECK_NEAR(sum.speed, speed, 1e-9);
            CHECK_NEAR(sum.value, value, 1e-9);
        }
        tpDestroyWorld(world);
    }
}

// Wheels that turn against a limit of their sum stop there and push.
static void limitOfTheSumHolds(void** state) {
    (void)state;
    const double factors[3] = { 1.0, 1.0, -1.0 };
    for (int s = 0; s < jointStepperCount; ++s) {
        tpWorld* world = worldOf(jointSteppers[s], tpZeroVec3());
        tpJointId joints[3];
        for (int i = 0; i < 3; ++i) {
            tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
            joints[i] = addHinge(world, theWorld, addWheel(world, place, 1.0, 0.5), place, axisZ);
        }
        tpCouplingDef def = tpDefaultCouplingDef();
        def.hasLimits = true;
        def.limits[0] = -INFINITY;
        def.limits[1] = 0.5;
        tpCouplingId stop = addCoupling(world, &def, joints, factors, 3);
        for (int i = 0; i < 200; ++i) {
            tpJoint_ApplyEffort(world, joints[0], 0, 1.0);
            tpWorld_Step(world, 0.01);
            assert_true(tpCoupling_GetState(world, stop).value < 0.5 + 1e-6);
        }
        tpCoordinateState sum = tpCoupling_GetState(world, stop);
        CHECK_NEAR(sum.value, 0.5, 1e-6);
        CHECK_NEAR(sum.limitEffort, -1.0 / 3.0, 1e-6);
        // Past the limit, that far is the drift; and at a lower limit the push is the other way.
        tpSystem* system = &world->system;
        assert_int_equal(tpJoint_SetValue(world, joints[2], 0, 0.0, NULL), tp_success);
        assert_int_equal(tpJoint_SetValue(world, joints[1], 0, 0.0, NULL), tp_success);
        assert_int_equal(tpJoint_SetValue(world, joints[0], 0, 1.7, NULL), tp_success);
        CHECK_NEAR(tpCouplings_PositionError(system, system->poses.data), 1.2, 1e-12);
        tpDestroyCoupling(world, stop);
        // What holds a value is off by as much on either side of it.
        def.hasLimits = false;
        def.hasValue = true;
        for (int k = -1; k <= 1; ++k) {
            def.value = 1.7 * factors[0] + 0.3 * k;
            stop = addCoupling(world, &def, joints, factors, 3);
            CHECK_NEAR(tpCouplings_PositionError(system, system->poses.data), k == 0 ? 0.0 : 0.3,
                       1e-12);
            tpDestroyCoupling(world, stop);
        }
        def.hasLimits = true;
        def.hasValue = false;
        def.limits[0] = -0.5;
        def.limits[1] = INFINITY;
        stop = addCoupling(world, &def, joints, factors, 3);
        assert_int_equal(tpJoint_SetValue(world, joints[0], 0, -1.1, NULL), tp_success);
        CHECK_NEAR(tpCouplings_PositionError(system, system->poses.data), 0.6, 1e-12);
        assert_int_equal(tpJoint_SetValue(world, joints[0], 0, 1.7, NULL), tp_success);
        CHECK_NEAR(tpCouplings_PositionError(system, system->poses.data), 0.0, 0.0);
        for (int i = 0; i < 400; ++i) {
            tpJoint_ApplyEffort(world, joints[0], 0, -1.0);
            tpWorld_Step(world, 0.01);
        }
        sum = tpCoupling_GetState(world, stop);
        CHECK_NEAR(sum.value, -0.5, 1e-6);
        CHECK_NEAR(sum.limitEffort, 1.0 / 3.0, 1e-6);
        tpDestroyWorld(world);
    }
}

// A servo is stiff if a step takes more than half of its way to the target; a spring never is.
static void stiffServosAreTold(void** state) {
    (void)state;
    static const double stiffness[] = { 1.0, 1e6 };
    for (int hasServo = 0; hasServo < 2; ++hasServo) {
        for (int i = 0; i < 2; ++i) {
            tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
            tpBodyId wheel = addWheel(world, tpZeroVec3(), 1.0, 0.1);
            tpJointId hinge = addHinge(world, theWorld, wheel, tpZeroVec3(), axisZ);
            tpCouplingDef def = tpDefaultCouplingDef();
            def.hasServo = hasServo;
            def.hasSpring = !hasServo;
            def.servo.stiffness = def.spring.stiffness = stiffness[i];
            addCoupling(world, &def, &hinge, (double[]){ 1.0 }, 1);
            bool isStiff = tpCouplings_Begin(&world->system, 0.01);
            assert_int_equal(isStiff, hasServo && i == 1);
            tpDestroyWorld(world);
        }
    }
}

static int mistakes;
static void countMistake(const char* function, const char* argument, const char* message) {
    (void)function;
    (void)argument;
    (void)message;
    mistakes += 1;
}

static void wrongCouplingsAreRefused(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joint = addHinge(world, theWorld, addWheel(world, axisX, 1.0, 1.0), axisX, axisZ);
    tpCouplingTerm terms[2] = { { joint, 0, 1.0 }, { joint, 0, 2.0 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasValue = true;
    def.terms = terms;
    tpError error;
    struct {
        int count, coordinate;
        double factor, value;
    } wrong[] = { { 0, 0, 1.0, 0.0 }, { 2, 0, 1.0, 0.0 }, { 1, 1, 1.0, 0.0 }, { 1, -1, 1.0, 0.0 },
                  { 1, 0, 0.0, 0.0 }, { 1, 0, NAN, 0.0 }, { 1, 0, 1.0, NAN } };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        memset(&error, 0, sizeof(error));
        def.termCount = wrong[i].count;
        terms[0].coordinate = wrong[i].coordinate;
        terms[0].factor = wrong[i].factor;
        def.value = wrong[i].value;
        assert_false(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, &error)));
        assert_true(strlen(error.message) > 0);
    }
    terms[0] = (tpCouplingTerm){ joint, 0, 1.5 };
    def.termCount = 1;
    def.value = 0.0;
    def.name = "lock";
    tpCouplingId lock = tpCreateCoupling(world, &def, NULL);
    assert_true(tpCoupling_IsValid(world, lock));
    assert_string_equal(tpCoupling_GetName(world, tpWorld_FindCoupling(world, "lock")), "lock");
    CHECK_NEAR(tpCoupling_GetTerm(world, lock, 0).factor, 1.5, 0.0);
    tpSetMisuseHook(countMistake);
    tpCoupling_SetTarget(world, lock, 1.0, 0.0);
    tpCoupling_GetTerm(world, lock, 1);
    tpDestroyJoint(world, joint); // and its couplings
    assert_int_equal(tpWorld_GetCouplingCount(world), 0);
    tpCoupling_GetState(world, lock);
    tpDestroyCoupling(world, lock);
    tpSetMisuseHook(NULL);
    assert_int_equal(mistakes, 4);
    tpDestroyWorld(world);
}

// A snapshot has laws and efforts of couplings.
static void snapshotsHaveCouplings(void** state) {
    (void)state;
    const double factors[2] = { 1.0, -2.0 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[2];
    for (int i = 0; i < 2; ++i) {
        tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
        joints[i] = addHinge(world, theWorld, addWheel(world, place, 1.0, 0.5), place, axisZ);
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasServo = true;
    def.servo.stiffness = 10.0;
    def.servo.target = 1.0;
    tpCouplingId servo = addCoupling(world, &def, joints, factors, 2);
    tpWorld_Step(world, 0.01);
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpCoordinateState before = tpCoupling_GetState(world, servo);
    tpCoupling_SetTarget(world, servo, -3.0, 0.0);
    tpWorld_Step(world, 0.01);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    tpCoordinateState after = tpCoupling_GetState(world, servo);
    assert_memory_equal(&before, &after, sizeof(before));
    CHECK_NEAR(tpCoupling_GetDef(world, servo).servo.target, 1.0, 0.0);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planetaryGearTurns),          cmocka_unit_test(armsDoWorkThroughGears),
        cmocka_unit_test(turningWheelsStayAwake),      cmocka_unit_test(floatingGearsKeepMomentum),
        cmocka_unit_test(pendulumsFollowLagrange),     cmocka_unit_test(tendonSharesItsPull),
        cmocka_unit_test(servoOnTheSumCarriesWeights), cmocka_unit_test(springOnTheSumSwings),
        cmocka_unit_test(springOnTheSumIsImplicit),    cmocka_unit_test(limitOfTheSumHolds),
        cmocka_unit_test(stiffServosAreTold),          cmocka_unit_test(wrongCouplingsAreRefused),
        cmocka_unit_test(snapshotsHaveCouplings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
