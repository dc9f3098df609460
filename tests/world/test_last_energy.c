// The energies of a report are those of the world when the step began, whatever has been changed
// since the last one.

#include <math.h>
#include <string.h>

#include "dynamics/forces.h"
#include "support/check.h"
#include "tippe/tippe.h"
#include "world/world.h"

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

// What is noted here is not true, so that whoever gets it has not looked at the system.
static const double falseKinetic = -1.0, falsePotential = -2.0;

static void checkFound(const tpLastEnergy* last, const tpSystem* system, bool isNoted,
                       const char* what) {
    double found[2], expected[2] = { falseKinetic, falsePotential };
    if (!isNoted) {
        tpSystem_FindEnergies(system, &expected[0], &expected[1]);
    }
    tpLastEnergy_Find(last, system, &found[0], &found[1]);
    if (memcmp(found, expected, sizeof(found)) != 0) {
        fail_msg("%s: %g and %g J instead of %g and %g", what, found[0], found[1], expected[0],
                 expected[1]);
    }
}

static void checkNumber(const tpLastEnergy* last, const tpSystem* system, double* number,
                        const char* what) {
    double before = *number;
    *number = nextafter(before, INFINITY);
    checkFound(last, system, false, what);
    *number = before;
    checkFound(last, system, true, what);
}

static void checkCount(const tpLastEnergy* last, const tpSystem* system, uint64_t* count,
                       const char* what) {
    *count += 1;
    checkFound(last, system, false, what);
    *count -= 1;
    checkFound(last, system, true, what);
}

static void notesAreOfTheSameSystemAlone(void** state) {
    (void)state;
    Arm arm = makeArm(tp_anitescu);
    tpWorld_Step(arm.world, 0.01);
    tpSystem* system = &arm.world->system;
    tpLastEnergy* last = &arm.world->lastEnergy;
    tpLastEnergy_Note(last, system, falseKinetic, falsePotential);
    checkFound(last, system, true, "nothing");
    for (int i = 0; i < system->bodyCount; ++i) {
        tpPose* pose = &system->poses.data[i];
        tpVelocity* velocity = &system->velocities.data[i];
        double* const places[] = { &pose->position.x, &pose->rotation.w };
        double* const rates[] = { &velocity->linear.x, &velocity->angular.x };
        for (int k = 0; k < 3; ++k) {
            checkNumber(last, system, places[0] + k, "position");
            checkNumber(last, system, rates[0] + k, "velocity");
            checkNumber(last, system, rates[1] + k, "angular velocity");
            checkNumber(last, system, &system->gravity.x + k, "gravity");
        }
        for (int k = 0; k < 4; ++k) {
            checkNumber(last, system, places[1] + k, "rotation");
        }
    }
    checkNumber(last, system, &system->contactEnergy, "energy of contacts");
    checkCount(last, system, &system->structure, "structure");
    checkCount(last, system, &system->anchorShifts, "anchors");
    checkCount(last, system, &system->lawChanges, "laws");
    system->hasDisturbed = true;
    checkFound(last, system, false, "disturbed");
    tpDestroySnapshot(arm.start);
    tpDestroyWorld(arm.world);
}

// A law between bodies that nothing moves disturbs none of them.
static void lawsOfFixedBodiesCount(void** state) {
    (void)state;
    const tpStepperId steppers[] = { tp_smallSteps, tp_anitescu };
    for (int s = 0; s < 2; ++s) {
        Arm arm = makeArm(steppers[s]);
        tpBody_SetKind(arm.world, arm.upper, tp_fixedBody, NULL);
        tpBody_SetKind(arm.world, arm.lower, tp_fixedBody, NULL);
        tpWorld_Step(arm.world, 0.01);
        double before = tpWorld_GetPotentialEnergy(arm.world);
        setLaws(&arm, true);
        double potential = tpWorld_GetPotentialEnergy(arm.world);
        assert_true(potential > before);
        assert_true(tpWorld_Step(arm.world, 0.01).potentialBefore == potential);
        tpDestroySnapshot(arm.start);
        tpDestroyWorld(arm.world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reportsBeginWithTheEnergiesOfNow),
                                        cmocka_unit_test(notesAreOfTheSameSystemAlone),
                                        cmocka_unit_test(lawsOfFixedBodiesCount) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
