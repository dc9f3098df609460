// Steps that tear joints apart are taken again, whatever a torn joint has turned by, and so are
// steps that drive bodies into each other.

#include "steppers/joined_step.h"

#include <tippe/joints.h>

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "support/check.h"
#include "world/world.h"

static const double fullStep = 0.01;

// A stepper that tears the joint of the whole step and turns it by three turns; shorter steps leave
// everything where it is.
static void tear(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    (void)state;
    (void)options;
    if (h > 0.5 * fullStep) {
        system->poses.data[1].position.x += 1.0;
        system->joints.data[0].coordinates[0].displacement += 6.0 * 3.14159265358979323846;
    }
    report->jointDrift = tpJoints_PositionError(system, system->poses.data);
    report->contactCount = 0;
}

// A flap on a hinge that is at its lower limit.
static tpWorld* makeWorld(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    worldDef.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = tpCreateBody(world, &bodyDef, NULL);
    bodyDef.kind = tp_dynamicBody;
    bodyDef.position.x = 0.5;
    bodyDef.hasMass = true;
    bodyDef.mass = (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal((tpVec3){ 0.1, 0.1, 0.1 }) };
    def.bodyB = tpCreateBody(world, &bodyDef, NULL);
    def.axis = tpMakeVec3(0.0, 1.0, 0.0);
    def.coordinate.hasLimits = true;
    def.coordinate.limits[0] = 0.0;
    def.coordinate.limits[1] = 1.0;
    assert_true(tpCreateJoint(world, &def, NULL).slot != 0);
    tpWorld_Step(world, fullStep);
    return world;
}

// Takes a full step of the world by another stepper.
static tpStepReport takeBy(tpWorld* world, const tpStepper* stepper) {
    tpSystem* system = &world->system;
    tpArena_Reset(&system->arena);
    tpStepReport report = { .converged = true, .substepCount = 1 };
    tpCertificate_Begin(system, 1e-8, &report);
    tpSystem_MeasureUnits(system, fullStep);
    tpSystem_FindEnergies(system, &report.kineticBefore, &report.potentialBefore);
    tpStepBudget_Begin(system);
    tpJoinedStep step = {
        .stepper = stepper, .system = system, .options = &world->options, .h = fullStep
    };
    assert_true(tpJoinedStep_Begin(&step));
    tpJoinedStep_Take(&step, &report);
    return report;
}

// The flap seems to be beyond its limit by three turns, if its angle at the start is counted from
// where the torn joint has turned to. Then the torn step was left as it was.
static void turnedJointsAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    const tpStepper tearing = { .name = "tearing", .seesCrossings = true, .step = tear };
    tpStepReport report = takeBy(world, &tearing);
    CHECK_BELOW(report.jointDrift, 1e-9);
    CHECK_BELOW(tpJoints_PositionError(system, system->poses.data), 1e-9);
    CHECK_NEAR(system->poses.data[1].position.x, 0.5, 1e-9);
    CHECK_NEAR(system->joints.data[0].coordinates[0].displacement, 0.0, 1e-9);
    assert_true((system->breaches >> tp_jointLaw & 1) != 0);
    tpDestroyWorld(world);
}

// What somebody moves slowly explains no joint that is torn by a metre; what is moved fast may be
// held by nothing.
static void slowLiftsTearNothing(void** state) {
    (void)state;
    const tpStepper tearing = {
        .name = "tearing", .seesCrossings = true, .closesAccount = true, .step = tear
    };
    const double speeds[] = { 0.01, 100.0 };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld();
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.kind = tp_kinematicBody;
        bodyDef.position.y = 100.0;
        bodyDef.velocity.z = speeds[k];
        tpCreateBody(world, &bodyDef, NULL);
        takeBy(world, &tearing);
        CHECK_NEAR(world->system.poses.data[1].position.x, k == 0 ? 0.5 : 1.5, 1e-9);
        tpDestroyWorld(world);
    }
}

// A stepper whose work ends while it lets every ball fall at 100 m/s.
static void sink(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    (void)state;
    (void)options;
    for (int i = 1; i < system->bodyCount; ++i) {
        system->poses.data[i].position.z -= tpSystem_IsDynamic(system, i) ? 100.0 * h : 0.0;
        report->penetration = fmax(report->penetration, 0.5 - system->poses.data[i].position.z);
    }
    tpStepBudget_Spend(system, 1e12);
}

// A ball 20 cm above the floor, and one that is so high that it takes the whole step of 1 m. The
// first one would come .8 m deep, out of which the next step would push it downwards. An eighth of
// the step ends in the air.
static void deepBodiesStop(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &bodyDef, NULL);
    tpCreatePlane(world, floor, &shape, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    bodyDef.kind = tp_dynamicBody;
    bodyDef.velocity.z = -100.0;
    const double heights[] = { 0.7, 9.0 };
    for (int i = 0; i < 2; ++i) {
        bodyDef.position = tpMakeVec3(3.0 * i, 0.0, heights[i]);
        tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
        tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.5 }, NULL);
    }
    tpWorld_Step(world, 1e-9);
    const tpStepper sinking = {
        .name = "sinking", .seesCrossings = true, .closesAccount = true, .step = sink
    };
    takeBy(world, &sinking);
    CHECK_NEAR(world->system.poses.data[1].position.z, 0.7 - 0.125, 1e-6);
    CHECK_NEAR(world->system.poses.data[2].position.z, 9.0 - 1.0, 1e-6);
    assert_int_equal(world->system.breaches, 1u << tp_overlapLaw);
    // One that has begun deep, and that the step brings hardly deeper, takes the whole step.
    world->system.poses.data[1].position.z = -19.5;
    takeBy(world, &sinking);
    CHECK_NEAR(world->system.poses.data[1].position.z, -19.5 - 1.0, 1e-9);
    tpDestroyWorld(world);
}

// A stepper whose whole step throws the flap at 1,000 m/s, or books as much work; shorter ones let
// it go on.
static void throwFlap(tpSystem* system, void* state, const tpOptions* options, double h,
                      tpStepReport* report) {
    (void)state;
    (void)options;
    if (h > 0.5 * fullStep) {
        system->velocities.data[1].linear.x = 1000.0;
        report->externalWork = 5e5;
    }
}

static void bookWork(tpSystem* system, void* state, const tpOptions* options, double h,
                     tpStepReport* report) {
    (void)state;
    (void)options;
    system->velocities.data[1].angular.y = h;
    report->externalWork = h > 0.5 * fullStep ? -5e5 : 0.0;
}

// Half a million joules do not come out of a hinge without drives, whatever the step says about
// work. Linear rows take it instead.
static void energyOutOfNothingIsTakenBack(void** state) {
    (void)state;
    const tpStepper steppers[] = {
        { .name = "throwing", .seesCrossings = true, .closesAccount = true, .step = throwFlap },
        { .name = "booking", .seesCrossings = true, .closesAccount = true, .step = bookWork },
    };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld();
        tpStepReport report = takeBy(world, &steppers[k]);
        CHECK_NEAR(world->system.velocities.data[1].linear.x, 0.0, 1e-9);
        CHECK_NEAR(world->system.velocities.data[1].angular.y, 0.0, 1e-9);
        CHECK_NEAR(report.externalWork, 0.0, 1e-9);
        assert_string_equal(report.fallback, "linear rows");
        assert_int_equal(world->system.breaches, 0);
        tpDestroyWorld(world);
    }
}

// A stepper whose whole step books work of the flap that nobody has done, much less than a stiff
// servo could do; it stays within what its steps may cost.
static void bookServo(tpSystem* system, void* state, const tpOptions* options, double h,
                      tpStepReport* report) {
    (void)state;
    (void)options;
    report->externalWork = h > 0.5 * fullStep && tpSystem_IsDynamic(system, 1) ? -1e3 : 0.0;
}

static void addServo(tpWorld* world) {
    tpCoordinateDef* def = &world->system.joints.data[0].coordinates[0].def;
    def->hasServo = true;
    def->servo = (tpServo){ 1.0, 0.0, 1e6, 0.0, INFINITY };
}

// Takes a step of what books; its account closes.
static void takeBooked(tpWorld* world) {
    const tpStepper booking = {
        .name = "booking", .seesCrossings = true, .closesAccount = true, .step = bookServo
    };
    tpStepReport report = takeBy(world, &booking);
    double kinetic, potential;
    tpSystem_FindEnergies(&world->system, &kinetic, &potential);
    double rise = kinetic + potential - report.kineticBefore - report.potentialBefore;
    assert_true(rise - report.externalWork <= 1e-9 * kinetic);
    assert_true(report.externalWork > -1.0);
    assert_string_equal(report.fallback, "linear rows");
}

// What drives can give bounds no work that is booked: a servo could have done it, and yet the
// energies do not agree. The step is taken again, and its books are closed.
static void gainsOfBooksAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    addServo(world);
    takeBooked(world);
    tpDestroyWorld(world);
}

// The flap takes the step again by itself, without a body that flies by. The 5 kJ of that body must
// not hide what the flap gains.
static void gainsOfPartsAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    addServo(world);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.y = 100.0;
    bodyDef.velocity.y = 100.0;
    bodyDef.hasMass = true;
    bodyDef.mass = (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal((tpVec3){ 0.1, 0.1, 0.1 }) };
    tpCreateBody(world, &bodyDef, NULL);
    takeBooked(world);
    tpDestroyWorld(world);
}

// A stepper whose whole step has cost all it may, and books work that nobody has done: ten times
// what a certified step may gain.
static void bookDearly(tpSystem* system, void* state, const tpOptions* options, double h,
                       tpStepReport* report) {
    (void)state;
    (void)options;
    if (h > 0.5 * fullStep && tpSystem_IsDynamic(system, 1)) {
        report->externalWork = -10.0 * tpCertificate_EnergyLimit(system, report);
        tpStepBudget_Spend(system, 3.0 * tpStepBudget_Whole(system));
    }
}

// Gains of a step that has cost all it may are left to the velocities of bodies, as far as these
// have the energy: what rests can pay nothing.
static void restingBodiesPayNothing(void** state) {
    (void)state;
    const tpStepper booking = {
        .name = "booking", .seesCrossings = true, .closesAccount = true, .step = bookDearly
    };
    for (int isMoving = 0; isMoving < 2; ++isMoving) {
        tpWorld* world = makeWorld();
        world->system.energyPeak = 50.0; // J: it has been fast of late
        tpSystem_SetVelocity(&world->system, 1, tpMakeVec3(0.0, 0.0, -5.0 * isMoving),
                             tpMakeVec3(0.0, 10.0 * isMoving, 0.0));
        tpStepReport report = takeBy(world, &booking);
        assert_true(isMoving ? report.externalWork < -1e-3 : report.externalWork > -1e-9);
        tpDestroyWorld(world);
    }
}

// A stepper that throws the ball 100 m high within a step, and stops it there; in shorter ones it
// falls.
static void hurl(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    (void)state;
    (void)options;
    (void)report;
    system->poses.data[0].position.z += h > 0.5 * fullStep ? 100.0 : 0.0;
}

static void thrownBodiesComeBack(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.z = 5.0;
    tpCreateSphere(world, tpCreateBody(world, &bodyDef, NULL), &shape, &(tpSphere){ 0.5 }, NULL);
    tpWorld_Step(world, 1e-9);
    const tpStepper hurling = {
        .name = "hurling", .seesCrossings = true, .closesAccount = true, .step = hurl
    };
    takeBy(world, &hurling);
    CHECK_NEAR(world->system.poses.data[0].position.z, 5.0, 1e-3);
    assert_int_equal(world->system.breaches, 1u << tp_energyLaw);
    tpDestroyWorld(world);
}

// A servo that can give that much may.
static void servosMayThrow(void** state) {
    (void)state;
    const tpStepper throwing = {
        .name = "throwing", .seesCrossings = true, .closesAccount = true, .step = throwFlap
    };
    tpWorld* world = makeWorld();
    tpCoordinateDef* def = &world->system.joints.data[0].coordinates[0].def;
    def->hasServo = true;
    def->servo = (tpServo){ 1.0, 0.0, 1e6, 0.0, INFINITY };
    tpStepReport report = takeBy(world, &throwing);
    CHECK_NEAR(world->system.velocities.data[1].linear.x, 1000.0, 1e-9);
    CHECK_NEAR(report.externalWork, 5e5, 1e-9);
    assert_int_equal(world->system.breaches, 0);
    tpDestroyWorld(world);
}

// A stepper whose work ends with the dumbbell deep in the floor. It has lost more energy than it
// takes to lift it.
static void dip(tpSystem* system, void* state, const tpOptions* options, double h,
                tpStepReport* report) {
    (void)state;
    (void)options;
    (void)h;
    system->poses.data[1].position.z = 0.495;
    system->poses.data[2].position.z = 0.499;
    report->penetration = 5e-3;
    report->impactLoss = 1e3;
    tpStepBudget_Spend(system, tpStepBudget_Whole(system));
}

// Two balls on a rod come out of the floor, and stay on their rod.
static void joinedBodiesComeOut(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &bodyDef, NULL);
    tpCreatePlane(world, floor, &shape, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    bodyDef.kind = tp_dynamicBody;
    tpBodyId balls[2];
    for (int i = 0; i < 2; ++i) {
        bodyDef.position = tpMakeVec3(1.5 * i, 0.0, 0.5);
        balls[i] = tpCreateBody(world, &bodyDef, NULL);
        tpCreateSphere(world, balls[i], &shape, &(tpSphere){ 0.5 }, NULL);
    }
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_fixedJoint;
    def.bodyA = balls[0];
    def.bodyB = balls[1];
    def.anchorA = def.anchorB = tpMakeVec3(0.75, 0.0, 0.5);
    assert_true(tpCreateJoint(world, &def, NULL).slot != 0);
    tpWorld_Step(world, 1e-9);
    const tpStepper dipping = {
        .name = "dipping", .seesCrossings = true, .closesAccount = true, .step = dip
    };
    tpStepReport report = takeBy(world, &dipping);
    const tpPose* poses = world->system.poses.data;
    CHECK_BELOW(report.penetration, report.limits.penetration);
    CHECK_BELOW(0.5 - report.limits.penetration, fmin(poses[1].position.z, poses[2].position.z));
    CHECK_BELOW(tpJoints_PositionError(&world->system, poses), 1e-9);
    tpDestroyWorld(world);
}

// A stepper whose work ends with the ball in the floor; nothing is lost.
static void graze(tpSystem* system, void* state, const tpOptions* options, double h,
                  tpStepReport* report) {
    (void)state;
    (void)options;
    (void)h;
    system->poses.data[1].position.z = 0.49;
    system->velocities.data[1].linear = tpMakeVec3(2.0, 0.0, 0.0);
    report->penetration = 0.01;
    tpStepBudget_Spend(system, 3.0 * tpStepBudget_Whole(system));
}

// A ball of 500 kg that comes out of the floor pays for that with its velocity, however much work
// the step has cost.
static void liftedBodiesPay(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &bodyDef, NULL);
    tpCreatePlane(world, floor, &shape, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    bodyDef.kind = tp_dynamicBody;
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.5);
    bodyDef.velocity.x = 2.0;
    tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.5 }, NULL);
    tpWorld_Step(world, 1e-9);
    const tpStepper grazing = {
        .name = "grazing", .seesCrossings = true, .closesAccount = true, .step = graze
    };
    tpStepReport report = takeBy(world, &grazing);
    double z = world->system.poses.data[1].position.z;
    double speed = world->system.velocities.data[1].linear.x;
    CHECK_BELOW(report.penetration, report.limits.penetration);
    CHECK_BELOW(0.5 - report.limits.penetration, z);
    CHECK_NEAR(0.5 * speed * speed + 9.81 * z, 0.5 * 4.0 + 9.81 * 0.49, 1e-9);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turnedJointsAreTakenBack), cmocka_unit_test(slowLiftsTearNothing),
        cmocka_unit_test(deepBodiesStop),           cmocka_unit_test(energyOutOfNothingIsTakenBack),
        cmocka_unit_test(servosMayThrow),           cmocka_unit_test(gainsOfBooksAreTakenBack),
        cmocka_unit_test(gainsOfPartsAreTakenBack), cmocka_unit_test(thrownBodiesComeBack),
        cmocka_unit_test(joinedBodiesComeOut),      cmocka_unit_test(liftedBodiesPay),
        cmocka_unit_test(restingBodiesPayNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
