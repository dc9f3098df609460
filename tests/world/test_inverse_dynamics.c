// Efforts that make a motion: against closed forms, and put back into the step.

#include <string.h>

#include "support/check.h"
#include "tippe/tippe.h"

static const double g = 9.81;
static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu,           tp_benderSchmitt,
                                        tp_mirtichCanny,   tp_chakrabortyTrinkle, tp_penalty };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]), linkCount = 3 };

// A chain of links that hang from the world along x, each with a hinge about y (and the middle one
// about z).
static tpWorld* makeArm(tpStepperId stepper, tpJointId* joints) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -g);
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId last = { 0, 0 };
    for (int i = 0; i < linkCount; ++i) {
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(i + 0.5, 0.0, 2.0);
        tpBodyId link = tpCreateBody(world, &bodyDef, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.density = 100.0;
        tpCreateBox(world, link, &shape, &(tpBox){ { 0.8, 0.1, 0.1 } }, NULL);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyA = last;
        joint.bodyB = link;
        joint.anchorA = joint.anchorB = tpMakeVec3(i, 0.0, 2.0);
        joint.axis = i == 1 ? tpMakeVec3(0.0, 0.0, 1.0) : tpMakeVec3(0.0, 1.0, 0.0);
        joint.coordinate.damping = 0.1;
        joint.coordinate.armature = 0.02;
        joints[i] = tpCreateJoint(world, &joint, NULL);
        last = link;
    }
    return world;
}

// A motion that is wanted step by step comes about with the efforts found.
static void effortsMakeTheMotion(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpJointId joints[linkCount];
        tpWorld* world = makeArm(steppers[s], joints);
        double h = 0.005;
        for (int i = 0; i < 20; ++i) {
            double time = (i + 1) * h, wanted[linkCount], efforts[linkCount], residual;
            for (int k = 0; k < linkCount; ++k) {
                wanted[k] = (0.5 + 0.3 * k) * sin(4.0 * time + k) - (0.5 + 0.3 * k) * sin(k);
            }
            uint64_t before = tpWorld_HashState(world);
            assert_int_equal(tpWorld_InverseDynamics(world, h, wanted, efforts, &residual, NULL),
                             tp_success);
            assert_true(tpWorld_HashState(world) == before);
            assert_int_equal(tpWorld_ApplyEfforts(world, efforts, NULL), tp_success);
            tpWorld_Step(world, h);
            for (int k = 0; k < linkCount; ++k) {
                CHECK_NEAR(tpJoint_GetSpeed(world, joints[k], 0), wanted[k], 1e-10);
                CHECK_NEAR(tpJoint_GetState(world, joints[k], 0).effort, efforts[k], 1e-9);
            }
        }
        tpDestroyWorld(world);
    }
}

// Holding still takes the moments of the weights beyond each hinge.
static void holdingTakesTheWeight(void** state) {
    (void)state;
    tpJointId joints[linkCount];
    tpWorld* world = makeArm(tp_anitescu, joints);
    double still[linkCount] = { 0.0, 0.0, 0.0 }, efforts[linkCount];
    assert_int_equal(tpWorld_InverseDynamics(world, 0.01, still, efforts, NULL, NULL), tp_success);
    double weight = g * 100.0 * 0.8 * 0.1 * 0.1;
    CHECK_NEAR(efforts[0], -weight * (0.5 + 1.5 + 2.5), 1e-7);
    CHECK_NEAR(efforts[1], 0.0, 1e-7);
    CHECK_NEAR(efforts[2], -weight * 0.5, 1e-7);
    // One that is not driven has no effort, and the others make up for it.
    still[2] = NAN;
    assert_int_equal(tpWorld_InverseDynamics(world, 0.01, still, efforts, NULL, NULL), tp_success);
    CHECK_NEAR(efforts[2], 0.0, 0.0);
    tpDestroyWorld(world);
}

// A sled on a rough floor: the effort is what friction and inertia take together.
static void frictionCounts(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = steppers[s];
        def.gravity = tpMakeVec3(0.0, 0.0, -g);
        tpWorld* world = tpCreateWorld(&def);
        tpMaterialDef rough = tpDefaultMaterialDef();
        rough.friction.staticCoefficient = rough.friction.dynamicCoefficient = 0.4;
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = tpCreateMaterial(world, &rough, NULL);
        shape.density = 1000.0;
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.kind = tp_fixedBody;
        tpBodyId floor = tpCreateBody(world, &bodyDef, NULL);
        tpCreatePlane(world, floor, &shape, &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
        bodyDef.kind = tp_dynamicBody;
        bodyDef.position = tpMakeVec3(0.0, 0.0, 0.05);
        tpBodyId sled = tpCreateBody(world, &bodyDef, NULL);
        tpCreateBox(world, sled, &shape, &(tpBox){ { 0.4, 0.2, 0.1 } }, NULL);
        tpAxisDef axes[3] = {
            { "x", tp_slideAxis, { 1.0, 0.0, 0.0 }, tpDefaultCoordinateDef() },
            { "z", tp_slideAxis, { 0.0, 0.0, 1.0 }, tpDefaultCoordinateDef() },
            { "turn", tp_turnAxis, { 0.0, 1.0, 0.0 }, tpDefaultCoordinateDef() },
        };
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_compoundJoint;
        joint.bodyB = sled;
        joint.anchorA = joint.anchorB = bodyDef.position;
        joint.axes = axes;
        joint.axisCount = 3;
        tpJointId rail = tpCreateJoint(world, &joint, NULL);
        assert_true(tpJoint_IsValid(world, rail));
        double h = 0.01, mass = tpBody_GetMass(world, sled).mass, efforts[3];
        for (int i = 0; i < 20; ++i) {
            tpWorld_Step(world, h);
        }
        for (int i = 0; i < 5; ++i) {
            const double wanted[3] = { 0.02 * (i + 1), NAN, NAN };
            assert_int_equal(tpWorld_InverseDynamics(world, h, wanted, efforts, NULL, NULL),
                             tp_success);
            tpWorld_ApplyEfforts(world, efforts, NULL);
            tpWorld_Step(world, h);
            CHECK_NEAR(tpJoint_GetSpeed(world, rail, 0), wanted[0], 1e-10);
        }
        bool isSoft = steppers[s] == tp_penalty;
        CHECK_NEAR(efforts[0], mass * (2.0 + 0.4 * g), isSoft ? 0.5 : 1e-6);
        tpDestroyWorld(world);
    }
}

static void impossibleSpeedsAreTold(void** state) {
    (void)state;
    tpJointId joints[linkCount];
    tpWorld* world = makeArm(tp_anitescu, joints);
    // The first hinge is stopped by its limits, whatever the effort.
    tpCoordinateDef laws = tpJoint_GetCoordinate(world, joints[0], 0);
    laws.hasLimits = true;
    assert_int_equal(tpJoint_SetCoordinate(world, joints[0], 0, &laws, NULL), tp_success);
    double wanted[linkCount] = { 1.0, 0.0, 0.0 }, efforts[linkCount], residual;
    tpError error = { 0 };
    assert_int_equal(tpWorld_InverseDynamics(world, 0.01, wanted, efforts, &residual, &error),
                     tp_notSolved);
    assert_true(residual > 0.5);
    assert_true(strlen(error.message) > 0);
    wanted[0] = INFINITY;
    assert_int_equal(tpWorld_InverseDynamics(world, 0.01, wanted, efforts, NULL, NULL),
                     tp_badInput);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effortsMakeTheMotion),
        cmocka_unit_test(holdingTakesTheWeight),
        cmocka_unit_test(frictionCounts),
        cmocka_unit_test(impossibleSpeedsAreTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
