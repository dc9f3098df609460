// Steps that are too long for their joints are taken in halves: a fast gyroscope, and a chain that
// whips.

#include "support/floor.h"
#include "tippe/joints.h"
#include "tippe/world.h"

static tpWorld* makeGyroscope(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_stewartTrinkle;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef def = tpDefaultBodyDef();
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 1.0, 0.0));
    tpVec3 axis = tpRotate(def.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    def.position = tpScale(0.17, axis);
    def.angularVelocity = tpScale(140.0, axis);
    def.hasMass = true;
    def.mass.mass = 1.3;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.009, 0.009, 0.012));
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyB = tpCreateBody(world, &def, NULL);
    tpCreateJoint(world, &joint, NULL);
    return world;
}

// A chain of 30 links that is let go from the horizontal.
static tpWorld* makeChain(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_stewartTrinkle;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyId last = { 0, 0 };
    for (int i = 0; i < 30; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position.x = 0.05 * i + 0.025;
        def.hasMass = true;
        def.mass.mass = 0.02;
        def.mass.inertia = tpDiagonal(tpMakeVec3(1e-6, 4e-6, 4e-6));
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_ballJoint;
        joint.bodyA = last;
        joint.bodyB = last = tpCreateBody(world, &def, NULL);
        joint.anchorA.x = joint.anchorB.x = 0.05 * i;
        tpCreateJoint(world, &joint, NULL);
    }
    return world;
}

typedef struct Run {
    double start, highest, end; // energy, J
    int halved, uncertified, substeps;
} Run;

static Run run(tpWorld* world, double h, int steps, const char* guard) {
    assert_int_equal(tpWorld_SetOption(world, "energy_guard", guard, NULL), tp_success);
    Run result = { .start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world) };
    result.highest = result.start;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        result.end = report.kineticAfter + report.potentialAfter;
        result.highest = fmax(result.highest, result.end);
        result.halved += report.fallback != NULL;
        result.uncertified += report.violations != 0;
        result.substeps += report.substepCount;
        CHECK_NEAR(report.kineticBefore + report.potentialBefore + report.externalWork,
                   result.end + report.frictionLoss + report.impactLoss,
                   1e-9 * (1.0 + fabs(result.highest)));
    }
    tpDestroyWorld(world);
    return result;
}

static void gyroscopeGainsNothing(void** state) {
    (void)state;
    Run loose = run(makeGyroscope(), 1.0 / 30.0, 30, "false");
    assert_true(loose.highest > 100.0 * loose.start && loose.uncertified > 0);
    assert_int_equal(loose.halved, 0);
    Run kept = run(makeGyroscope(), 1.0 / 30.0, 90, "true");
    assert_true(kept.halved > 0 && kept.substeps > 2 * 90);
    assert_int_equal(kept.uncertified, 0);
    CHECK_BELOW(kept.highest - kept.start, 1e-3 * kept.start);
    CHECK_BELOW(kept.start - kept.end, 0.1 * kept.start);
}

static void chainGainsNothing(void** state) {
    (void)state;
    Run kept = run(makeChain(), 1.0 / 60.0, 90, "true");
    assert_true(kept.halved > 0 && kept.halved < 90);
    assert_int_equal(kept.uncertified, 0);
    CHECK_BELOW(kept.highest - kept.start, 1e-2);
}

// A foot that begins 2.4 mm deep in the ground, with a leg on it. Parts bring it out within the
// first of them: the shorter, the faster. The whole step is better, and it is said.
static void overlapIsNoReason(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_stewartTrinkle;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = 0.018;
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 0.005, 0.0));
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyA = tpCreateBody(world, &def, NULL);
    tpCreateBox(world, joint.bodyA, &shape, &(tpBox){ { 0.2, 0.1, 0.04 } }, NULL);
    def = tpDefaultBodyDef();
    def.position.z = 0.25;
    joint.bodyB = tpCreateBody(world, &def, NULL);
    tpCreateCapsule(world, joint.bodyB, &shape, &(tpCapsule){ 0.04, 0.3, { 0.0, 0.0, 1.0 } }, NULL);
    joint.anchorA.z = joint.anchorB.z = 0.04;
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    Run out = run(world, 0.0025, 20, "true");
    print_message("foot in the ground: %.3f J at the start, %.3f J at most\n", out.start,
                  out.highest);
    CHECK_BELOW(out.highest, out.start + 2.0);
    assert_true(out.uncertified > 0);
}

// A body on a spring that nothing else holds, without weight.
static tpBodyId addOrbit(tpWorld* world) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(20.8, 0.0, 0.0);
    def.velocity = tpMakeVec3(0.0, 2.1, 1.0);
    def.gravityScale = 0.0;
    def.hasMass = true;
    def.mass.mass = 0.7;
    def.mass.inertia = tpDiagonal(tpMakeVec3(1e-4, 1e-4, 1e-4));
    tpJointDef spring = tpDefaultJointDef();
    spring.type = tp_springJoint;
    spring.bodyB = tpCreateBody(world, &def, NULL);
    spring.anchorA.x = 20.0;
    spring.anchorB = def.position;
    spring.coordinate.hasSpring = true;
    spring.coordinate.spring.stiffness = 55.0;
    tpCreateJoint(world, &spring, NULL);
    return spring.bodyB;
}

// A box that lies on a floor 10 m below.
static tpBodyId addBoxOnFloor(tpWorld* world) {
    addMaterial(world, 0.5, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, -10.0 }, NULL);
    def = tpDefaultBodyDef();
    def.position = tpMakeVec3(50.0, 0.0, -9.9);
    return addSolidBox(world, &def, tpMakeVec3(0.2, 0.2, 0.2), 1000.0);
}

// The steps of a gyroscope are taken in parts for the gyroscope alone: what is on a spring beside
// it goes to the same places as without it, a box stays where it lies and tells its weight, and the
// gyroscope moves as it does without them.
static void othersTakeTheWholeStep(void** state) {
    (void)state;
    const double h = 1.0 / 30.0, weight = 8.0 * 9.81;
    tpWorld *all = makeGyroscope(), *spun = makeGyroscope(), *swung = makeGyroscope();
    tpDestroyBody(swung, tpWorld_GetBody(swung, 0));
    tpBodyId top = tpWorld_GetBody(all, 0), sameTop = tpWorld_GetBody(spun, 0);
    tpBodyId orbit = addOrbit(all), sameOrbit = addOrbit(swung), box = addBoxOnFloor(all);
    int halved = 0;
    for (int k = 0; k < 60; ++k) {
        tpStepReport report = tpWorld_Step(all, h);
        tpWorld_Step(spun, h);
        tpWorld_Step(swung, h);
        halved += report.fallback != NULL;
        CHECK_VEC3(tpBody_GetPosition(all, orbit), tpBody_GetPosition(swung, sameOrbit), 1e-12);
        CHECK_VEC3(tpBody_GetPosition(all, box), tpMakeVec3(50.0, 0.0, -9.9), 1e-9);
        CHECK_NEAR(report.kineticBefore + report.potentialBefore + report.externalWork,
                   report.kineticAfter + report.potentialAfter + report.frictionLoss +
                       report.impactLoss,
                   1e-9 * 120.0);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(all, &count);
        double carried = 0.0;
        for (int i = 0; i < count; ++i) {
            carried += contacts[i].normalImpulse;
        }
        CHECK_NEAR(carried, weight * h, 1e-8);
        if (k < 10) {
            CHECK_VEC3(tpBody_GetPosition(all, top), tpBody_GetPosition(spun, sameTop), 1e-9);
        }
    }
    assert_true(halved > 50);
    tpDestroyWorld(all);
    tpDestroyWorld(spun);
    tpDestroyWorld(swung);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gyroscopeGainsNothing),
        cmocka_unit_test(overlapIsNoReason),
        cmocka_unit_test(othersTakeTheWholeStep),
        cmocka_unit_test(chainGainsNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
