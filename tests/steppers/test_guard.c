// Steps that the energy guard of anitescu refuses whole, with no work left for shorter ones.

#include "steppers/anitescu/guard.h"

#include <tippe/joints.h>

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/step_budget.h"
#include "steppers/memory.h"
#include "steppers/pieces.h"
#include "support/check.h"
#include "world/world.h"

static const double h = 1.0 / 200.0;

// A load a millimetre above the floor, on a foot and a servo that is much faster than the step.
static tpWorld* makeWorld(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    tpShapeDef shapeDef = tpDefaultShapeDef();
    bodyDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &bodyDef, NULL);
    tpCreatePlane(world, floor, &shapeDef, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    bodyDef.kind = tp_dynamicBody;
    bodyDef.hasMass = true;
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_prismaticJoint;
    bodyDef.position = tpMakeVec3(0.0, 0.0, 2e-4);
    bodyDef.mass =
        (tpMassProperties){ 1e-8, tpZeroVec3(), tpDiagonal((tpVec3){ 1e-15, 1e-15, 1e-15 }) };
    def.bodyA = tpCreateBody(world, &bodyDef, NULL);
    tpCreateBox(world, def.bodyA, &shapeDef, &(tpBox){ .size = { 8e-4, 8e-4, 4e-4 } }, NULL);
    bodyDef.position.z = 8e-4;
    bodyDef.mass =
        (tpMassProperties){ 1e-6, tpZeroVec3(), tpDiagonal((tpVec3){ 1e-13, 1e-13, 1e-13 }) };
    def.bodyB = tpCreateBody(world, &bodyDef, NULL);
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    def.coordinate.hasServo = true;
    def.coordinate.servo = (tpServo){ .stiffness = 1e4, .damping = 1e-5, .effort = INFINITY };
    assert_true(tpCreateJoint(world, &def, NULL).slot != 0);
    return world;
}

// A step with a part of the budget that the first try uses up.
static tpStepReport takeShort(tpWorld* world) {
    tpSystem* system = &world->system;
    tpArena_Reset(&system->arena);
    tpStepReport report = { .converged = true, .substepCount = 1 };
    tpCertificate_Begin(system, 1e-8, &report);
    tpSystem_MeasureUnits(system, h);
    tpSystem_FindEnergies(system, &report.kineticBefore, &report.potentialBefore);
    tpStepBudget_Begin(system);
    system->stepShare = 1e-4;
    tpStepper_Take(world->stepper, system, world->stepperState, &world->options, h, &report);
    system->time += h;
    return report;
}

// Most steps are not tried once several were refused, and all are again once one was right.
static void refusedStepsAreNotAllTried(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpEnergyBook* book = tpStepperMemory_BookOf(world->stepperState);
    for (int k = 0; k < 10; ++k) {
        takeShort(world);
    }
    assert_int_equal(book->refused, 0);
    book->refused = 4;
    for (int k = 5; k <= 16; ++k) {
        tpStepReport report = takeShort(world);
        assert_true(report.noteCount > 0);
        assert_string_equal(report.notes[0], "the energy guard acted");
        assert_int_equal(report.violations, 0);
        assert_int_equal(book->refused, k);
        CHECK_BELOW(fabs(world->system.velocities.data[2].linear.z), 1e-9);
    }
    assert_int_equal(takeShort(world).noteCount, 0);
    assert_int_equal(book->refused, 0);
    tpDestroyWorld(world);
}

// Pushing out what solves have left of a gap gives as much energy as the tolerances of solves may:
// such a step is not solved again with less of the push.
static void solvesAreNotRepeatedForTheirRounding(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpEnergyBook* book = tpStepperMemory_BookOf(world->stepperState);
    for (int k = 0; k < 10; ++k) {
        takeShort(world);
    }
    for (int i = 1; i <= 2; ++i) {
        world->system.poses.data[i].position.z -= 1.6e-14;
    }
    book->refused = 5;
    tpStepReport report = takeShort(world);
    assert_int_equal(book->refused, 6);
    assert_int_equal(report.solveCount, 1);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(refusedStepsAreNotAllTried),
                                        cmocka_unit_test(solvesAreNotRepeatedForTheirRounding) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
