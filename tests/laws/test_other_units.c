// The same scene measured in other units of length, mass and time, 1024 times as large or as small,
// has the same bits: tolerances follow scenes by powers of 1024, and such a factor changes no
// digit. Long enough for impacts, rims, joints that drift, motors that stall and contacts that come
// and go, whose tolerances the short runs of test_symmetries.c do not meet.

#include "support/check.h"
#include "tippe/joints.h"

typedef enum Scene { slidingStack, chainOnCrate, tumbling, machine, linkage, sceneCount } Scene;

// How many of the scene's own units a metre, a kilogram and a second are.
typedef struct Units {
    double length, mass, time;
} Units;

static tpVec3 inUnit(Units unit, double x, double y, double z) {
    return tpMakeVec3(unit.length * x, unit.length * y, unit.length * z);
}

static double forceOf(Units unit, double force) {
    return force * unit.mass * unit.length / (unit.time * unit.time);
}

static tpShapeDef shapeOf(void) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    return shape;
}

static tpBodyDef bodyOf(Units unit, tpVec3 place, tpVec3 velocity, tpVec3 spin) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpScale(unit.length, place);
    def.velocity = tpScale(unit.length / unit.time, velocity);
    def.angularVelocity = tpScale(1.0 / unit.time, spin);
    return def;
}

static double densityOf(Units unit, double density) {
    return density * unit.mass / (unit.length * unit.length * unit.length);
}

static tpBodyId addBox(tpWorld* world, Units unit, const tpBodyDef* def, tpVec3 size,
                       double density) {
    tpShapeDef shape = shapeOf();
    shape.density = densityOf(unit, density);
    tpBox box = { tpScale(unit.length, size) };
    tpBodyId body = tpCreateBody(world, def, NULL);
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static void addStack(tpWorld* world, Units unit) {
    for (int i = 0; i < 3; ++i) {
        tpBodyDef def = bodyOf(unit, tpMakeVec3(0.02 * i, 0.01 * i, 0.101 + 0.2 * i),
                               tpMakeVec3(1.5 - 0.4 * i, 0.1, 0.0), tpZeroVec3());
        addBox(world, unit, &def, tpMakeVec3(0.3, 0.25, 0.2), 70.0 + 70.0 * i);
    }
}

static void addChain(tpWorld* world, Units unit) {
    tpBodyId last = { 0 };
    for (int i = 0; i < 4; ++i) {
        tpBodyDef def =
            bodyOf(unit, tpMakeVec3(0.13 + 0.26 * i, 0.0, 0.9), tpZeroVec3(), tpZeroVec3());
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.6);
        tpBodyId link = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = shapeOf();
        shape.density = densityOf(unit, 500.0);
        tpCapsule capsule = { .radius = 0.03 * unit.length,
                              .length = 0.2 * unit.length,
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

static void addThings(tpWorld* world, Units unit) {
    tpShapeDef shape = shapeOf();
    shape.density = densityOf(unit, 130.0);
    tpBodyDef def = bodyOf(unit, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.5, 0.2, 0.0),
                           tpMakeVec3(3.0, 1.0, 2.0));
    def.rotation = tpQuatFromAxisAngle(tpNormalize(tpMakeVec3(1.0, 0.3, 0.0)), 0.9);
    tpCylinder cylinder = { .radius = 0.1 * unit.length,
                            .length = 0.3 * unit.length,
                            .axis = { 0.0, 0.0, 1.0 } };
    tpCreateCylinder(world, tpCreateBody(world, &def, NULL), &shape, &cylinder, NULL);
    def = bodyOf(unit, tpMakeVec3(0.5, 0.1, 0.4), tpMakeVec3(-0.6, 0.0, 0.0), tpZeroVec3());
    def.rotation = tpQuatFromAxisAngle(tpNormalize(tpMakeVec3(0.0, 1.0, 0.3)), 1.7);
    addBox(world, unit, &def, tpMakeVec3(0.2, 0.2, 0.12), 140.0);
    def = bodyOf(unit, tpMakeVec3(0.2, -0.1, 0.9), tpZeroVec3(), tpMakeVec3(1.0, 2.0, 0.5));
    addBox(world, unit, &def, tpMakeVec3(0.2, 0.15, 0.1), 300.0);
}

static void join(tpWorld* world, tpJointDef* joint, tpJointType type, tpBodyId a, tpBodyId b,
                 tpVec3 anchor) {
    joint->type = type;
    joint->bodyA = a;
    joint->bodyB = b;
    joint->anchorA = joint->anchorB = anchor;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, joint, NULL)));
}

// An arm whose motor drives it against its limit, a servo of bounded effort on a slide with limits,
// which carries a wheel with motor and dry friction, and a ball that spins and rolls with friction.
static void addMachine(tpWorld* world, Units unit) {
    tpBodyDef def = bodyOf(unit, tpMakeVec3(0.0, 1.0, 0.6), tpZeroVec3(), tpZeroVec3());
    tpBodyId arm = addBox(world, unit, &def, tpMakeVec3(1.0, 0.08, 0.08), 500.0);
    tpJointDef hinge = tpDefaultJointDef();
    hinge.axis = tpMakeVec3(0.0, 1.0, 0.0);
    hinge.coordinate.hasLimits = hinge.coordinate.hasMotor = true;
    hinge.coordinate.limits[0] = -0.3;
    hinge.coordinate.limits[1] = 0.3;
    hinge.coordinate.motor.speed = 2.0 / unit.time;
    hinge.coordinate.motor.effort = forceOf(unit, 3.0 * unit.length);
    join(world, &hinge, tp_revoluteJoint, (tpBodyId){ 0 }, arm, inUnit(unit, 0.0, 1.0, 0.6));
    def = bodyOf(unit, tpMakeVec3(0.35, 1.0, 0.9), tpZeroVec3(), tpZeroVec3());
    addBox(world, unit, &def, tpMakeVec3(0.12, 0.12, 0.12), 300.0);
    def = bodyOf(unit, tpMakeVec3(0.0, 0.0, 0.1), tpZeroVec3(), tpZeroVec3());
    tpBodyId base = addBox(world, unit, &def, tpMakeVec3(0.6, 0.4, 0.2), 400.0);
    def = bodyOf(unit, tpMakeVec3(0.0, 0.0, 0.4), tpZeroVec3(), tpZeroVec3());
    tpBodyId slider = addBox(world, unit, &def, tpMakeVec3(0.1, 0.1, 0.1), 300.0);
    tpJointDef rail = tpDefaultJointDef();
    rail.axis = tpMakeVec3(1.0, 0.0, 0.0);
    rail.coordinate.hasLimits = rail.coordinate.hasServo = true;
    rail.coordinate.limits[0] = -0.1 * unit.length;
    rail.coordinate.limits[1] = 0.05 * unit.length;
    rail.coordinate.servo = (tpServo){ .target = 0.12 * unit.length,
                                       .stiffness = forceOf(unit, 200.0) / unit.length,
                                       .damping = forceOf(unit, 10.0) * unit.time / unit.length,
                                       .effort = forceOf(unit, 8.0) };
    join(world, &rail, tp_prismaticJoint, base, slider, inUnit(unit, 0.0, 0.0, 0.4));
    def = bodyOf(unit, tpMakeVec3(0.3, 0.0, 0.45), tpZeroVec3(), tpZeroVec3());
    tpBodyId wheel = addBox(world, unit, &def, tpMakeVec3(0.2, 0.05, 0.1), 300.0);
    tpJointDef axle = tpDefaultJointDef();
    axle.axis = tpMakeVec3(0.0, 1.0, 0.0);
    axle.coordinate.hasMotor = true;
    axle.coordinate.motor.speed = 5.0 / unit.time;
    axle.coordinate.motor.effort = forceOf(unit, 0.3 * unit.length);
    axle.coordinate.friction = forceOf(unit, 0.01 * unit.length);
    join(world, &axle, tp_revoluteJoint, slider, wheel, inUnit(unit, 0.3, 0.0, 0.45));
    def = bodyOf(unit, tpMakeVec3(0.8, 0.0, 0.11), tpMakeVec3(-1.0, 0.2, 0.0),
                 tpMakeVec3(0.0, 0.0, 20.0));
    tpShapeDef shape = shapeOf();
    shape.density = densityOf(unit, 500.0);
    tpSphere sphere = { .radius = 0.1 * unit.length };
    tpCreateSphere(world, tpCreateBody(world, &def, NULL), &shape, &sphere, NULL);
}

// A linkage above the floor that swings and turns against the limits of a hinge and a slide.
static void addLinkage(tpWorld* world, Units unit) {
    static const tpJointType types[4] = { tp_revoluteJoint, tp_universalJoint, tp_prismaticJoint,
                                          tp_ballJoint };
    tpBodyId last = { 0 };
    for (int i = 0; i < 4; ++i) {
        tpBodyDef def = bodyOf(unit, tpMakeVec3(0.15 + 0.3 * i, 0.05 * i, 3.0), tpZeroVec3(),
                               tpMakeVec3(1.0 + i, -3.0, 2.0 * i));
        tpBodyId link = addBox(world, unit, &def, tpMakeVec3(0.2, 0.1, 0.06), 400.0 + 300.0 * i);
        tpJointDef joint = tpDefaultJointDef();
        joint.axis =
            types[i] == tp_revoluteJoint ? tpMakeVec3(0.0, 1.0, 0.0) : tpMakeVec3(1.0, 0.0, 0.0);
        joint.secondAxis = tpMakeVec3(0.0, 0.0, 1.0);
        double reach = types[i] == tp_prismaticJoint ? 0.04 * unit.length : 0.3;
        joint.coordinate.hasLimits = i % 2 == 0;
        joint.coordinate.limits[0] = -reach;
        joint.coordinate.limits[1] = reach;
        join(world, &joint, types[i], last, link, inUnit(unit, 0.3 * i, 0.05 * i, 3.0));
        last = link;
    }
}

static tpWorld* makeWorld(tpStepperId stepper, Scene scene, Units unit) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpScale(1.0 / (unit.time * unit.time), inUnit(unit, 0.0, 0.0, -9.81));
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
    void (*const add[sceneCount])(tpWorld*, Units) = { addStack, addChain, addThings, addMachine,
                                                       addLinkage };
    add[scene](world, unit);
    return world;
}

static void compareContacts(const tpWorld* plain, const tpWorld* other, Units unit) {
    int count, otherCount;
    const tpContactInfo* a = tpWorld_GetContacts(plain, &count);
    const tpContactInfo* b = tpWorld_GetContacts(other, &otherCount);
    assert_int_equal(otherCount, count);
    for (int i = 0; i < count; ++i) {
        assert_true(b[i].gap == unit.length * a[i].gap);
        double impulse = unit.mass * unit.length / unit.time;
        if (b[i].normalImpulse != impulse * a[i].normalImpulse) {
            fail_msg("units %g m, %g kg, %g s: contact %d carries %.17g instead of %.17g N s",
                     1.0 / unit.length, 1.0 / unit.mass, 1.0 / unit.time, i,
                     b[i].normalImpulse / impulse, a[i].normalImpulse);
        }
    }
}

// Squares of rounding errors of less than 1e-154 m underflow in one unit and not in another.
static const double underflow = 1e-150;

// On machines some steppers do not have the same bits: auto and the sliding contacts of mechanisms
// choose pivots among rows of different units (auto on linkages too), and what hinges of
// small-steps turn against limits rounds otherwise. There the motion is the same to this, m.
static const double nearly = 1e-6;

static double allowedOf(tpStepperId stepper, Scene scene, Units unit) {
    bool isNear = stepper == tp_auto || stepper == tp_mirtichCanny || stepper == tp_smallSteps ||
                  (stepper == tp_benderSchmitt && unit.mass != 1.0);
    return scene == machine && isNear ? nearly : underflow;
}

static void compareRuns(tpStepperId stepper, Scene scene, Units unit) {
    static const int steps[sceneCount] = { 130, 65, 90, 110, 60 };
    const Units si = { 1.0, 1.0, 1.0 };
    double allowed = allowedOf(stepper, scene, unit);
    tpWorld *plain = makeWorld(stepper, scene, si), *other = makeWorld(stepper, scene, unit);
    int count = stepper == tp_auto && scene == machine ? 60 : steps[scene];
    for (int k = 0; k < count; ++k) {
        tpStepReport a = tpWorld_Step(plain, 1.0 / 240.0);
        tpStepReport b = tpWorld_Step(other, unit.time / 240.0);
        assert_int_equal(a.contactCount, b.contactCount);
        // Loads that nothing tells apart are shared by impulses that have a unit of mass.
        if (allowed == underflow && unit.mass == 1.0) {
            compareContacts(plain, other, unit);
        }
        for (int i = 0; i < tpWorld_GetBodyCount(plain); ++i) {
            tpBodyId body = tpWorld_GetBody(plain, i);
            tpVec3 expected = tpScale(unit.length, tpBody_GetPosition(plain, body));
            double off = tpDistanceBetween(tpBody_GetPosition(other, body), expected) / unit.length;
            if (!(off <= allowed)) {
                fail_msg("%s, scene %d, units %g m, %g kg, %g s: body %d is off by %g m in step %d",
                         tpStepperName(stepper), scene, 1.0 / unit.length, 1.0 / unit.mass,
                         1.0 / unit.time, i, off, k);
            }
        }
    }
    tpDestroyWorld(plain);
    tpDestroyWorld(other);
}

// In all scenes by the units of length, and by all units where machines are driven: mass and time
// enter through what forces do.
static void compareScenes(const tpStepperId* steppers, int count) {
    static const Units lengths[] = { { 1024.0, 1.0, 1.0 }, { 1.0 / 1024.0, 1.0, 1.0 } };
    static const Units others[] = { { 1.0, 1024.0, 1.0 },
                                    { 1.0, 1.0, 1024.0 },
                                    { 1024.0, 1.0 / 1024.0, 1.0 / 1024.0 } };
    for (int i = 0; i < count; ++i) {
        for (int scene = 0; scene < sceneCount; ++scene) {
            compareRuns(steppers[i], (Scene)scene, lengths[0]);
            compareRuns(steppers[i], (Scene)scene, lengths[1]);
        }
        for (int k = 0; k < 3; ++k) {
            compareRuns(steppers[i], machine, others[k]);
        }
    }
}

static void unitsChangeNothing(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_mirtichCanny,
                                            tp_benderSchmitt, tp_smallSteps };
    compareScenes(steppers, 5);
}

static void unitsChangeNothingOfImplicitSteps(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_chakrabortyTrinkle };
    compareScenes(steppers, 1);
}

static void unitsChangeNothingOfChosenSteps(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_auto };
    compareScenes(steppers, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(unitsChangeNothing),
                                        cmocka_unit_test(unitsChangeNothingOfImplicitSteps),
                                        cmocka_unit_test(unitsChangeNothingOfChosenSteps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
