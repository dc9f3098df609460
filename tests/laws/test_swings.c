// Smooth motion keeps its energy at any step: the energy guard lets swings about a mean pass and
// stops what adds up. A frictionless egg that spins, a body on a spring, a four-bar linkage, a
// gyroscope.

#include "support/floor.h"
#include "tippe/joints.h"

static const double g = 9.81;

static tpWorld* makeWorld(tpStepperId stepper, double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    return tpCreateWorld(&def);
}

// What a run has done to the energy, relative to what there was, and how many steps were not
// certified.
typedef struct Run {
    double lost, largest; // at the end, and the largest deviation on the way
    int uncertified;
    double solves; // per step
} Run;

static Run run(tpWorld* world, double h, double seconds, double scale) {
    Run result = { .lost = 0.0 };
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double work = 0.0, losses = 0.0;
    for (int k = 0; k < (int)lround(seconds / h); ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_false(report.undone);
        work += report.externalWork;
        losses += report.frictionLoss + report.impactLoss;
        double energy = report.kineticAfter + report.potentialAfter;
        CHECK_NEAR(energy - start, work - losses, 1e-11 * scale);
        result.lost = (start + work - energy) / scale;
        result.largest = fmax(result.largest, fabs(result.lost));
        result.uncertified += report.violations != 0;
        result.solves += report.solveCount * h / seconds;
    }
    tpDestroyWorld(world);
    return result;
}

static void check(const char* name, tpStepperId stepper, double h, Run result, double limit) {
    print_message("%s, %s, h = 1/%.0f: lost %.1e, %.1e at most, %.1f solves per step\n", name,
                  tpStepperName(stepper), 1.0 / h, result.lost, result.largest, result.solves);
    CHECK_BELOW(result.largest, limit);
    assert_int_equal(result.uncertified, 0);
    // Swings are no reason to take shorter parts of a step for ever.
    CHECK_BELOW(result.solves, 200.0);
}

// An ellipsoid on end, tilted by 1.2 rad, that spins at 60 rad/s without friction.
static tpWorld* makeEgg(tpStepperId stepper) {
    tpWorld* world = makeWorld(stepper, g);
    addMaterial(world, 0.0, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    double tilt = 1.2, a = 0.03, c = 0.05;
    def.position.z = sqrt(a * a * sin(tilt) * sin(tilt) + c * c * cos(tilt) * cos(tilt));
    def.rotation = tpQuatExp(tpMakeVec3(0.0, tilt, 0.0));
    def.angularVelocity = tpMakeVec3(0.0, 0.0, 60.0);
    tpBodyId egg = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 2650.0;
    tpGeometry geometry;
    assert_int_equal(
        tpMakeEllipsoid(&(tpEllipsoid){ { a, a, c } }, tpIdentityPose(), &geometry, NULL),
        tp_success);
    tpCreateShape(world, egg, &shape, &geometry, NULL);
    tpReleaseGeometry(&geometry);
    return world;
}

static void eggKeepsSpinning(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    static const tpStepperId steppers[] = { tp_anitescu, tp_benderSchmitt, tp_chakrabortyTrinkle };
    for (int i = 0; i < 9; ++i) {
        tpStepperId stepper = steppers[i / 3];
        tpWorld* world = makeEgg(stepper);
        double h = steps[i % 3], scale = tpWorld_GetKineticEnergy(world);
        double limit = stepper == tp_benderSchmitt ? 1e-3 : 5e-4;
        check("egg", stepper, h, run(world, h, 5.0, scale), limit);
    }
}

static tpWorld* makeOrbit(tpStepperId stepper) {
    tpWorld* world = makeWorld(stepper, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.8, 0.0, 0.0);
    def.velocity = tpMakeVec3(0.0, 2.1, 1.0);
    def.hasMass = true;
    def.mass.mass = 0.7;
    def.mass.inertia = tpDiagonal(tpMakeVec3(1e-4, 1e-4, 1e-4));
    tpJointDef spring = tpDefaultJointDef();
    spring.type = tp_springJoint;
    spring.bodyB = tpCreateBody(world, &def, NULL);
    spring.anchorB = def.position;
    spring.coordinate.hasSpring = true;
    spring.coordinate.spring.stiffness = 55.0;
    tpCreateJoint(world, &spring, NULL);
    return world;
}

// An orbit about the end of a spring. The discrete gradient of chakraborty-trinkle takes exactly
// what the spring gains.
static void springKeepsOrbit(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    static const tpStepperId steppers[] = { tp_anitescu, tp_benderSchmitt, tp_chakrabortyTrinkle };
    for (int i = 0; i < 9; ++i) {
        tpStepperId stepper = steppers[i / 3];
        tpWorld* world = makeOrbit(stepper);
        double h = steps[i % 3];
        double scale = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        double limit = stepper == tp_chakrabortyTrinkle ? 1e-11 : 2e-3;
        check("spring orbit", stepper, h, run(world, h, 20.0, scale), limit);
    }
}

// stewart-trinkle took springs by implicit Euler, and the same orbit ended in its centre with all
// steps certified. Now its swing grows with h^2 and has no trend; long steps say that it is larger
// than they may.
static void swingHasNoTrend(void** state) {
    (void)state;
    static const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    for (int i = 0; i < 3; ++i) {
        tpWorld* world = makeOrbit(tp_stewartTrinkle);
        double scale = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        double h = steps[i], phase = h * sqrt(55.0 / 0.7), limit = 0.25 * phase * phase;
        Run result = run(world, h, 20.0, scale);
        print_message("spring orbit, stewart-trinkle, h = 1/%.0f: lost %.1e, %.1e at most, %d "
                      "uncertified\n",
                      1.0 / h, result.lost, result.largest, result.uncertified);
        CHECK_BELOW(result.largest, limit);
        assert_true(i < 2 ? result.uncertified > 0 : result.uncertified == 0);
    }
}

// Springs on a body that a joint holds are those of the scheme, and so is one from there to another
// body: energy does not rise.
static void heldBodiesDoNotSwing(void** state) {
    (void)state;
    tpWorld* world = makeOrbit(tp_stewartTrinkle);
    tpBodyDef def = tpDefaultBodyDef();
    tpJointDef joint = tpDefaultJointDef();
    joint.coordinate.spring.stiffness = 30.0;
    tpBodyId bodies[3] = { { 0, 0 } };
    for (int i = 1; i < 3; ++i) {
        def.position = tpMakeVec3(3.0, 0.5 * i, 0.0);
        def.velocity = tpMakeVec3(0.0, 0.0, 1.0 - i);
        def.hasMass = true;
        def.mass.mass = 1.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
        bodies[i] = tpCreateBody(world, &def, NULL);
        joint.type = tp_springJoint;
        joint.coordinate.hasSpring = true;
        joint.bodyA = bodies[i - 1];
        joint.bodyB = bodies[i];
        joint.anchorA = i == 1 ? tpMakeVec3(3.0, 0.0, 1.0) : tpMakeVec3(3.0, 0.5, 0.0);
        joint.anchorB = def.position;
        tpCreateJoint(world, &joint, NULL);
    }
    joint.type = tp_ballJoint;
    joint.coordinate.hasSpring = false;
    joint.bodyA = bodies[0];
    joint.bodyB = bodies[1];
    joint.anchorA = joint.anchorB = tpMakeVec3(3.0, 0.0, 0.0);
    tpCreateJoint(world, &joint, NULL);
    double scale = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    Run result = run(world, 1.0 / 240.0, 2.0, scale);
    assert_int_equal(result.uncertified, 0);
    assert_true(result.lost > 0.0);
}

// A crank of .2 m, a coupler of .6 m and a rocker of .5 m on a frame of .6 m: it turns in a
// vertical plane.
static tpWorld* makeFourBar(tpStepperId stepper) {
    tpWorld* world = makeWorld(stepper, g);
    const tpVec3 corners[4] = {
        { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.2 }, { 0.546556, 0.0, 0.447537 }, { 0.6, 0.0, 0.0 }
    };
    tpBodyId last = { 0, 0 };
    for (int i = 0; i < 4; ++i) {
        tpBodyId next = { 0, 0 };
        if (i < 3) {
            tpVec3 span = tpSub(corners[i + 1], corners[i]);
            double length = tpLength(span), mass = 2.0 * length;
            tpBodyDef def = tpDefaultBodyDef();
            def.position = tpScale(0.5, tpAdd(corners[i], corners[i + 1]));
            def.hasMass = true;
            def.mass.mass = mass;
            double moment = mass * length * length / 12.0;
            def.mass.inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
            next = tpCreateBody(world, &def, NULL);
        }
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyA = last;
        joint.bodyB = next;
        joint.anchorA = joint.anchorB = corners[i];
        joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
        tpCreateJoint(world, &joint, NULL);
        last = next;
    }
    tpBody_SetVelocity(world, tpWorld_GetBody(world, 0), tpMakeVec3(1.0, 0.0, 0.0),
                       tpMakeVec3(0.0, 10.0, 0.0));
    return world;
}

static void fourBarKeepsTurning(void** state) {
    (void)state;
    tpWorld* world = makeFourBar(tp_anitescu);
    // The first step makes the velocities of the other bars.
    tpWorld_Step(world, 1.0 / 240.0);
    double scale = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    check("four bars", tp_anitescu, 1.0 / 240.0, run(world, 1.0 / 240.0, 20.0, scale), 2e-3);
}

// A fast gyroscope on a ball joint, at steps in which it turns by up to four radians.
static void gyroscopePrecesses(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_chakrabortyTrinkle };
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = makeWorld(steppers[i], g);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.15, 0.0, 0.08);
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
        double scale = tpWorld_GetKineticEnergy(world), h = 1.0 / 30.0;
        check("gyroscope", steppers[i], h, run(world, h, 5.0, scale), 1e-3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eggKeepsSpinning),    cmocka_unit_test(springKeepsOrbit),
        cmocka_unit_test(swingHasNoTrend),     cmocka_unit_test(heldBodiesDoNotSwing),
        cmocka_unit_test(fourBarKeepsTurning), cmocka_unit_test(gyroscopePrecesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
