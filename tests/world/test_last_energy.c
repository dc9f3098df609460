// The energies of a report are those of the world when the step began, whatever has been changed
// since the last one.

#include <math.h>

#include "support/check.h"
#include "tippe/tippe.h"

typedef struct Arm {
    tpWorld* world;
    tpBodyId upper, lower;
    tpShapeId shape; // of the lower one
    tpJointId shoulder, elbow;
    tpSnapshot* start;
} Arm;

static tpJointId addHinge(tpWorld* world, tpBodyId a, tpBodyId b, double x) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = (tpVec3){ x, 0.0, 0.0 };
    def.axis = (tpVec3){ 0.0, 1.0, 0.0 };
    def.coordinate.armature = 0.2;
    def.coordinate.hasSpring = true;
    def.coordinate.spring = (tpSpring){ .stiffness = 3.0, .rest = 0.4 };
    return tpCreateJoint(world, &def, NULL);
}

static tpBodyId addLink(tpWorld* world, double x, tpShapeId* shape) {
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.x = x;
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    *shape = tpCreateBox(world, body, &shapeDef, &(tpBox){ .size = { 0.5, 0.1, 0.2 } }, NULL);
    return body;
}

static Arm makeArm(tpStepperId stepper) {
    Arm arm;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    arm.world = tpCreateWorld(&worldDef);
    arm.upper = addLink(arm.world, 0.5, &arm.shape);
    arm.lower = addLink(arm.world, 1.5, &arm.shape);
    arm.shoulder = addHinge(arm.world, (tpBodyId){ 0 }, arm.upper, 0.0);
    arm.elbow = addHinge(arm.world, arm.upper, arm.lower, 1.0);
    arm.start = tpWorld_Snapshot(arm.world);
    return arm;
}

static void setLaws(Arm* arm, bool isSpring) {
    tpCoordinateDef def = tpJoint_GetCoordinate(arm->world, arm->elbow, 0);
    if (isSpring) {
        def.spring.rest += 0.3;
    } else {
        def.armature *= 2.0;
    }
    assert_int_equal(tpJoint_SetCoordinate(arm->world, arm->elbow, 0, &def, NULL), tp_success);
}

// Changes of all kinds; the first is none.
enum { changes = 14 };
static void change(Arm* arm, int which) {
    tpWorld* world = arm->world;
    switch (which) {
    case 1:
        tpWorld_SetGravity(world, (tpVec3){ 0.0, 1.0, -5.0 });
        break;
    case 2:
        tpBody_SetGravityScale(world, arm->lower, 0.5);
        break;
    case 3:
        tpBody_SetVelocity(world, arm->lower, (tpVec3){ 0.0, 0.0, 1.0 },
                           (tpVec3){ 0.0, -0.5, 0.0 });
        break;
    case 4:
        tpBody_SetPose(world, arm->lower, (tpPose){ { 1.5, 0.0, 0.1 }, { 1.0, 0.0, 0.0, 0.0 } });
        break;
    case 5:
        assert_int_equal(tpShape_SetDensity(world, arm->shape, 700.0, NULL), tp_success);
        break;
    case 6:
        setLaws(arm, false);
        break;
    case 7:
        setLaws(arm, true);
        break;
    case 8:
        assert_int_equal(tpJoint_SetValue(world, arm->elbow, 0, 0.7, NULL), tp_success);
        break;
    case 9:
        assert_int_equal(tpJoint_SetSpeed(world, arm->elbow, 0, 2.0, NULL), tp_success);
        break;
    case 10:
        assert_int_equal(tpBody_SetKind(world, arm->upper, tp_fixedBody, NULL), tp_success);
        break;
    case 11:
        assert_int_equal(tpBody_SetKind(world, arm->upper, tp_dynamicBody, NULL), tp_success);
        break;
    case 12:
        assert_int_equal(tpWorld_Restore(world, arm->start, NULL), tp_success);
        break;
    case 13:
        tpDestroyJoint(world, arm->elbow);
        break;
    default:
        break;
    }
}

static void reportsBeginWithTheEnergiesOfNow(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_smallSteps, tp_anitescu };
    for (int s = 0; s < 2; ++s) {
        Arm arm = makeArm(steppers[s]);
        for (int which = 0; which < changes; ++which) {
            for (int k = 0; k < 3; ++k) {
                double kinetic = tpWorld_GetKineticEnergy(arm.world);
                double potential = tpWorld_GetPotentialEnergy(arm.world);
                tpStepReport report = tpWorld_Step(arm.world, 0.01);
                assert_false(report.undone);
                assert_true(report.kineticBefore == kinetic);
                assert_true(report.potentialBefore == potential);
                change(&arm, k == 1 ? which : 0);
            }
        }
        tpDestroySnapshot(arm.start);
        tpDestroyWorld(arm.world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reportsBeginWithTheEnergiesOfNow) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
