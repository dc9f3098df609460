// The same scene measured in another unit of length, 1024 times as long or as short, has the same
// bits: tolerances follow scenes by powers of 1024, and such a factor changes no digit. Long
// enough for impacts, rims, joints that drift and contacts that come and go, whose tolerances the
// short runs of test_symmetries.c do not meet.

#include "support/check.h"
#include "tippe/joints.h"

typedef enum Scene { slidingStack, chainOnCrate, tumbling, sceneCount } Scene;

static tpVec3 inUnit(double unit, double x, double y, double z) {
    return tpMakeVec3(unit * x, unit * y, unit * z);
}

static tpShapeDef shapeOf(void) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    return shape;
}

static tpBodyDef bodyOf(double unit, tpVec3 place, tpVec3 velocity, tpVec3 spin) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpScale(unit, place);
    def.velocity = tpScale(unit, velocity);
    def.angularVelocity = spin;
    return def;
}

// Densities make the masses the same in all units.
static double densityOf(double unit, double density) {
    return density / (unit * unit * unit);
}

static void addBox(tpWorld* world, double unit, const tpBodyDef* def, tpVec3 size, double density) {
    tpShapeDef shape = shapeOf();
    shape.density = densityOf(unit, density);
    tpBox box = { tpScale(unit, size) };
    tpCreateBox(world, tpCreateBody(world, def, NULL), &shape, &box, NULL);
}

static void addStack(tpWorld* world, double unit) {
    for (int i = 0; i < 3; ++i) {
        tpBodyDef def = bodyOf(unit, tpMakeVec3(0.02 * i, 0.01 * i, 0.101 + 0.2 * i),
                               tpMakeVec3(1.5 - 0.4 * i, 0.1, 0.0), tpZeroVec3());
        addBox(world, unit, &def, tpMakeVec3(0.3, 0.25, 0.2), 70.0 + 70.0 * i);
    }
}

static void addChain(tpWorld* world, double unit) {
    tpBodyId last = { 0 };
    for (int i = 0; i < 4; ++i) {
        tpBodyDef def =
            bodyOf(unit, tpMakeVec3(0.13 + 0.26 * i, 0.0, 0.9), tpZeroVec3(), tpZeroVec3());
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.6);
        tpBodyId link = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = shapeOf();
        shape.density = densityOf(unit, 500.0);
        tpCapsule capsule = { .radius = 0.03 * unit,
                              .length = 0.2 * unit,
                              .axis = { 0.0, 0.0, 1.0 } };
        tpCreateCapsule(world, link, &shape, &capsule, NULL);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_ballJoint;
        joint.bodyA = last;
        joint.bodyB = link;
        joint.anchorA = joint.anchorB = inUnit(unit, 0.26 * i, 0.0, 0.9);
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
        last = link;
    }
    tpBodyDef def = bodyOf(unit, tpMakeVec3(0.1, 0.0, 0.15), tpZeroVec3(), tpZeroVec3());
    addBox(world, unit, &def, tpMakeVec3(0.3, 0.3, 0.3), 110.0);
}

static void addThings(tpWorld* world, double unit) {
    tpShapeDef shape = shapeOf();
    shape.density = densityOf(unit, 130.0);
    tpBodyDef def = bodyOf(unit, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.5, 0.2, 0.0),
                           tpMakeVec3(3.0, 1.0, 2.0));
    def.rotation = tpQuatFromAxisAngle(tpNormalize(tpMakeVec3(1.0, 0.3, 0.0)), 0.9);
    tpCylinder cylinder = { .radius = 0.1 * unit, .length = 0.3 * unit, .axis = { 0.0, 0.0, 1.0 } };
    tpCreateCylinder(world, tpCreateBody(world, &def, NULL), &shape, &cylinder, NULL);
    def = bodyOf(unit, tpMakeVec3(0.5, 0.1, 0.4), tpMakeVec3(-0.6, 0.0, 0.0), tpZeroVec3());
    def.rotation = tpQuatFromAxisAngle(tpNormalize(tpMakeVec3(0.0, 1.0, 0.3)), 1.7);
    addBox(world, unit, &def, tpMakeVec3(0.2, 0.2, 0.12), 140.0);
    def = bodyOf(unit, tpMakeVec3(0.2, -0.1, 0.9), tpZeroVec3(), tpMakeVec3(1.0, 2.0, 0.5));
    addBox(world, unit, &def, tpMakeVec3(0.2, 0.15, 0.1), 300.0);
}

static tpWorld* makeWorld(tpStepperId stepper, Scene scene, double unit) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = inUnit(unit, 0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.4;
    material.restitution = 0.2;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    tpBodyDef floor = tpDefaultBodyDef();
    floor.kind = tp_fixedBody;
    tpShapeDef shape = shapeOf();
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &floor, NULL), &shape, &plane, NULL);
    (scene == slidingStack ? addStack : scene == chainOnCrate ? addChain : addThings)(world, unit);
    return world;
}

static void compareContacts(const tpWorld* plain, const tpWorld* other, double unit) {
    int count, otherCount;
    const tpContactInfo* a = tpWorld_GetContacts(plain, &count);
    const tpContactInfo* b = tpWorld_GetContacts(other, &otherCount);
    assert_int_equal(otherCount, count);
    for (int i = 0; i < count; ++i) {
        assert_true(b[i].gap == unit * a[i].gap);
        assert_true(b[i].normalImpulse == unit * a[i].normalImpulse);
    }
}

static void compareRuns(tpStepperId stepper, Scene scene, double unit) {
    static const int steps[sceneCount] = { 130, 65, 90 };
    tpWorld* plain = makeWorld(stepper, scene, 1.0);
    tpWorld* other = makeWorld(stepper, scene, unit);
    for (int k = 0; k < steps[scene]; ++k) {
        tpStepReport a = tpWorld_Step(plain, 1.0 / 240.0), b = tpWorld_Step(other, 1.0 / 240.0);
        assert_int_equal(a.contactCount, b.contactCount);
        compareContacts(plain, other, unit);
        for (int i = 0; i < tpWorld_GetBodyCount(plain); ++i) {
            tpBodyId body = tpWorld_GetBody(plain, i);
            tpVec3 expected = tpScale(unit, tpBody_GetPosition(plain, body));
            if (tpDistanceBetween(tpBody_GetPosition(other, body), expected) != 0.0) {
                fail_msg("%s, scene %d, unit %g: body %d is off by %g units in step %d",
                         tpStepperName(stepper), scene, unit, i,
                         tpDistanceBetween(tpBody_GetPosition(other, body), expected) / unit, k);
            }
        }
    }
    tpDestroyWorld(plain);
    tpDestroyWorld(other);
}

static void unitsOfLengthChangeNothing(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_mirtichCanny,
                                            tp_benderSchmitt, tp_smallSteps };
    for (int i = 0; i < 5; ++i) {
        for (int scene = 0; scene < sceneCount; ++scene) {
            compareRuns(steppers[i], (Scene)scene, 1024.0);
            compareRuns(steppers[i], (Scene)scene, 1.0 / 1024.0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(unitsOfLengthChangeNothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
