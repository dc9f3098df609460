// Steps that tear joints apart are taken again, whatever a torn joint has turned by.

#include "steppers/joined_step.h"

#include <tippe/joints.h>

#include "dynamics/certificate.h"
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

// The flap seems to be beyond its limit by three turns, if its angle at the start is counted from
// where the torn joint has turned to. Then the torn step was left as it was.
static void turnedJointsAreTakenBack(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    const tpStepper tearing = { .name = "tearing", .seesCrossings = true, .step = tear };
    tpArena_Reset(&system->arena);
    tpStepReport report = { .converged = true, .substepCount = 1 };
    tpCertificate_Begin(system, 1e-8, &report);
    tpSystem_MeasureUnits(system, fullStep);
    tpStepBudget_Begin(system);
    tpJoinedStep step = {
        .stepper = &tearing, .system = system, .options = &world->options, .h = fullStep
    };
    assert_true(tpJoinedStep_Begin(&step));
    tpJoinedStep_Take(&step, &report);
    CHECK_BELOW(report.jointDrift, 1e-9);
    CHECK_BELOW(tpJoints_PositionError(system, system->poses.data), 1e-9);
    CHECK_NEAR(system->poses.data[1].position.x, 0.5, 1e-9);
    CHECK_NEAR(system->joints.data[0].coordinates[0].displacement, 0.0, 1e-9);
    assert_true((system->breaches >> tp_jointLaw & 1) != 0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turnedJointsAreTakenBack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
