// The work of forces on a block on a floor, by closed forms: what friction or a wall holds does no
// work, what slides takes force times distance, and the account of energy closes in every step. m =
// 1 kg, mu = 0.5, g = 10 m/s^2.

#include "support/floor.h"
#include "tippe/joints.h"

static const double step = 0.01, mass = 1.0, friction = 0.5, gravity = 10.0;

typedef struct Account {
    double work, frictionLoss, impactLoss, distance, gain;
    double open; // what the account of a step lacks at most, J
} Account;

// A second of a block that is pushed along x at its centre of mass; `damping` slows it down as
// well.
static Account push(tpStepperId stepper, double force, double damping) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.1);
    bodyDef.hasMass = true;
    bodyDef.mass.mass = mass;
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.02, 0.02));
    bodyDef.linearDamping = damping;
    tpBodyId block = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateBox(world, block, &shapeDef, &(tpBox){ { 0.4, 0.4, 0.2 } }, NULL);
    tpForceDef forceDef = tpDefaultForceDef();
    forceDef.body = block;
    forceDef.force = tpMakeVec3(force, 0.0, 0.0);
    tpCreateForce(world, &forceDef, NULL);
    Account sum = { .work = 0.0 };
    for (int k = 0; k < 100; ++k) {
        tpStepReport report = tpWorld_Step(world, step);
        double gain = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                      report.potentialBefore;
        sum.work += report.externalWork;
        sum.frictionLoss += report.frictionLoss;
        sum.impactLoss += report.impactLoss;
        sum.gain += gain;
        sum.open = fmax(sum.open,
                        fabs(gain - report.externalWork + report.frictionLoss + report.impactLoss));
    }
    sum.distance = tpBody_GetPosition(world, block).x;
    tpDestroyWorld(world);
    return sum;
}

// The spring of `penalty` sinks in at the start.
static const struct {
    tpStepperId id;
    bool isEuler; // a step goes by the velocity at its end
    double tolerance;
} steppers[] = {
    { tp_stewartTrinkle, true, 1e-9 },      { tp_anitescu, false, 1e-9 },
    { tp_mirtichCanny, false, 1e-9 },       { tp_benderSchmitt, false, 1e-9 },
    { tp_chakrabortyTrinkle, false, 1e-9 }, { tp_penalty, true, 1e-5 },
};
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static void heldForcesDoNoWork(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, 0.4 * mass * gravity * friction, 0.0);
        print_message("%s: work %.1e J\n", tpStepperName(steppers[i].id), account.work);
        CHECK_NEAR(account.distance, 0.0, steppers[i].tolerance);
        CHECK_NEAR(account.work, 0.0, steppers[i].tolerance);
        CHECK_NEAR(account.frictionLoss, 0.0, steppers[i].tolerance);
        CHECK_BELOW(account.open, steppers[i].tolerance);
    }
}

// a = F/m - mu g, for a second. Steps by the velocity at their end go a h^2 / 2 farther each; the
// force does work on that way too, and the step itself takes it.
static void slidingTakesForceTimesDistance(void** state) {
    (void)state;
    double force = 6.0, acceleration = force / mass - friction * gravity;
    double distance = 0.5 * acceleration;
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, force, 0.0);
        double excess = steppers[i].isEuler ? 0.5 * acceleration * step : 0.0;
        CHECK_NEAR(account.distance, distance + excess, steppers[i].tolerance);
        CHECK_NEAR(account.work, force * account.distance, steppers[i].tolerance);
        CHECK_NEAR(account.impactLoss, force * excess, steppers[i].tolerance);
        CHECK_NEAR(account.frictionLoss, friction * mass * gravity * distance,
                   steppers[i].tolerance);
        CHECK_BELOW(account.open, steppers[i].tolerance);
    }
}

// Damping takes energy beside friction, and none from a block that stands still.
static void dampedSlidingCloses(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, 9.0, 0.7);
        assert_true(account.distance > 0.5 && account.work > account.gain);
        CHECK_BELOW(account.open, 1e-12);
        account = push(steppers[i].id, 0.0, 0.7);
        CHECK_NEAR(account.work, 0.0, 1e-3 * steppers[i].tolerance + 2e-6);
    }
}

// A box pulled by a constant force, at its centre of mass or at a point, with load taken off it:
// the work is force times the way of the point in every step, and the account closes.
static void pulledBox(tpStepperId stepper, bool isOffCentre, bool isLoad) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.05);
    tpBodyId box = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 1000.0;
    tpCreateBox(world, box, &shapeDef, &(tpBox){ { 0.1, 0.1, 0.1 } }, NULL);
    tpVec3 force = tpMakeVec3(4.0, 0.0, 9.0), point = tpZeroVec3();
    if (isOffCentre) {
        point = tpMakeVec3(0.05, 0.02, 0.03);
    }
    tpForceDef forceDef = tpDefaultForceDef();
    forceDef.body = box;
    forceDef.force = force;
    forceDef.hasPoint = isOffCentre;
    forceDef.point = point;
    if (!isLoad) {
        tpCreateForce(world, &forceDef, NULL);
    }
    double work = 0.0, open = 0.0;
    for (int k = 0; k < 240; ++k) {
        if (isLoad) {
            tpVec3 at = tpTransformPoint(tpBody_GetPose(world, box), point);
            tpBody_ApplyForceAt(world, box, force, at, tp_worldFrame);
        }
        tpStepReport report = tpWorld_Step(world, 1.0 / 240.0);
        double gain = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                      report.potentialBefore;
        work += report.externalWork;
        open =
            fmax(open, fabs(gain - report.externalWork + report.frictionLoss + report.impactLoss));
    }
    tpPose end = tpBody_GetPose(world, box);
    tpVec3 way = tpSub(tpTransformPoint(end, point), tpAdd(bodyDef.position, point));
    print_message("%s%s: %.9f J, force times way %.9f J\n", tpStepperName(stepper),
                  isOffCentre ? ", off centre" : "", work, tpDot(force, way));
    CHECK_NEAR(work, tpDot(force, way), 1e-9);
    CHECK_BELOW(open, 1e-12);
    tpDestroyWorld(world);
}

static void pullingTakesForceTimesWay(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        for (int k = 0; k < 4; ++k) {
            bool isExact =
                steppers[i].id != tp_mirtichCanny && steppers[i].id != tp_chakrabortyTrinkle;
            if (k % 2 == 0 || isExact) {
                pulledBox(steppers[i].id, k % 2 == 1, k >= 2);
            }
        }
    }
}

// A motor that stalls at its limit does no work, and nothing is lost.
static void stalledMotorsDoNoWork(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = steppers[i].id;
        tpWorld* world = tpCreateWorld(&def);
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(0.3, 0.0, 0.0);
        bodyDef.hasMass = true;
        bodyDef.mass.mass = 1.0;
        bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(0.01, 0.01, 0.01));
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyB = tpCreateBody(world, &bodyDef, NULL);
        joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
        joint.coordinate.hasLimits = joint.coordinate.hasMotor = true;
        joint.coordinate.limits[0] = -0.5;
        joint.coordinate.limits[1] = 0.5;
        joint.coordinate.motor.speed = -2.0;
        joint.coordinate.motor.effort = 5.0;
        tpCreateJoint(world, &joint, NULL);
        double work = 0.0, loss = 0.0;
        for (int k = 0; k < 400; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 240.0);
            work += k >= 200 ? fabs(report.externalWork) : 0.0;
            loss += k >= 200 ? fabs(report.impactLoss) : 0.0;
        }
        print_message("%s: work %.1e J, loss %.1e J at the limit\n", tpStepperName(steppers[i].id),
                      work, loss);
        CHECK_BELOW(fmax(work, loss), 1e-8);
        tpDestroyWorld(world);
    }
}

// A motor winds up a spring with a wheel at its own speed: its work is k angle^2 / 2, in every
// step. By bender-schmitt a part of it was missing, and energy seemed to rise instead.
static void motorsWindSprings(void** state) {
    (void)state;
    const double stiffness = 86.4, speed = 2.5, h = 1.0 / 120.0;
    static const tpStepperId winders[] = { tp_anitescu, tp_benderSchmitt, tp_mirtichCanny };
    for (int i = 0; i < 3; ++i) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = winders[i];
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.hasMass = true;
        bodyDef.mass =
            (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal((tpVec3){ 0.2, 0.2, 0.2 }) };
        bodyDef.angularVelocity.y = speed;
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyB = tpCreateBody(world, &bodyDef, NULL);
        joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
        joint.coordinate.hasMotor = joint.coordinate.hasSpring = true;
        joint.coordinate.motor.speed = speed;
        joint.coordinate.motor.effort = 1e3;
        joint.coordinate.spring.stiffness = stiffness;
        assert_true(tpCreateJoint(world, &joint, NULL).slot != 0);
        for (int k = 1; k <= 60; ++k) {
            tpStepReport report = tpWorld_Step(world, h);
            double wound = 0.5 * stiffness * speed * speed * h * h * (2.0 * k - 1.0);
            assert_int_equal(report.violations, 0);
            CHECK_NEAR(report.externalWork, wound, 1e-9);
            CHECK_NEAR(report.numericalLoss, 0.0, 1e-9);
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heldForcesDoNoWork),    cmocka_unit_test(slidingTakesForceTimesDistance),
        cmocka_unit_test(dampedSlidingCloses),   cmocka_unit_test(pullingTakesForceTimesWay),
        cmocka_unit_test(stalledMotorsDoNoWork), cmocka_unit_test(motorsWindSprings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
