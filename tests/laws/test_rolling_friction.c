// Rolling friction: an arm e beside the coefficient mu, in one cone with sliding friction.
//
// A ball of radius R and mass m that rolls has a friction force f and a rolling moment M with
// f^2 + (M / e)^2 = (mu N)^2, and slips and turns in the ratio e^2 f / M : 1 (greatest
// dissipation). With X = f R / M and s = e / R, its speed v and spin w obey v = w R (1 + s^2 X),
// and f = mu N s X / sqrt(1 + s^2 X^2). On a slope of angle a,
//
//     dv/dt = g sin a - f / m,    R dw/dt = (5/2) (f - M / R) / m    (rolling down)
//
// On the level the ball slows down by 5/7 mu g e / R but for terms of the order s^2, and stops. At
// rest f = m g sin a and M = f R: a ball stays on slopes up to tan a = mu s / sqrt(1 + s^2).

#include <string.h>

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static const double mu = 0.5, arm = 0.01, radius = 0.1, gravity = 9.81;

// A ball on a floor whose normal is turned by `slope` about y, so that it rolls towards x.
static tpWorld* makeWorld(tpStepperId stepper, double slope, double speed, bool isPlanar,
                          tpBodyId* ball) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    worldDef.planar = isPlanar;
    tpVec3 up = isPlanar ? tpMakeVec3(0.0, 1.0, 0.0) : tpMakeVec3(0.0, 0.0, 1.0);
    worldDef.gravity = tpScale(-gravity * cos(slope), up);
    worldDef.gravity.x = gravity * sin(slope);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = mu;
    material.friction.rollingArm = arm;
    tpCreateMaterial(world, &material, NULL);
    addFloor(world, up);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpScale(radius, up);
    def.velocity = tpMakeVec3(speed, 0.0, 0.0);
    def.angularVelocity =
        tpScale(speed / radius, isPlanar ? tpMakeVec3(0.0, 0.0, -1.0) : tpMakeVec3(0.0, 1.0, 0.0));
    def.hasMass = true;
    def.mass.mass = 2.0;
    double moment = 0.4 * def.mass.mass * radius * radius;
    def.mass.inertia.cx.x = def.mass.inertia.cy.y = def.mass.inertia.cz.z = moment;
    *ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateSphere(world, *ball, &shapeDef, &(tpSphere){ radius }, NULL);
    return world;
}

static tpStepReport run(tpWorld* world, double h, double time) {
    tpStepReport worst = { 0 };
    int count = (int)floor(time / h + 0.5);
    for (int k = 0; k < count; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.violations == 0);
        worst.residual = fmax(worst.residual, report.residual);
    }
    assert_true(worst.residual <= 1e-8);
    return worst;
}

// The acceleration down a slope, with friction in the cone; X is found by bisection.
static double acceleration(double slope) {
    double s = arm / radius, low = 0.0, high = 1e6, friction = 0.0;
    for (int k = 0; k < 200; ++k) {
        double X = 0.5 * (low + high);
        friction = mu * gravity * cos(slope) * s * X / sqrt(1.0 + s * s * X * X);
        double forward = gravity * sin(slope) - friction;
        double rolled = 2.5 * friction * (1.0 - 1.0 / X) * (1.0 + s * s * X);
        // More friction turns the ball faster and drives it less.
        if (rolled < forward) {
            low = X;
        } else {
            high = X;
        }
    }
    return gravity * sin(slope) - friction;
}

static void rollingBallsStop(void** state) {
    (void)state;
    double slowing = -acceleration(0.0);
    double s = arm / radius;
    assert_float_equal(slowing / (5.0 / 7.0 * mu * gravity * s), 1.0, s * s);
    for (int i = 0; i < 2 * stepperCount; ++i) {
        bool isPlanar = i >= stepperCount;
        tpBodyId ball;
        tpWorld* world = makeWorld(steppers[i % stepperCount], 0.0, 1.0, isPlanar, &ball);
        run(world, 0.01, 0.5);
        double first = tpBody_GetVelocity(world, ball).x;
        run(world, 0.01, 1.0);
        double second = tpBody_GetVelocity(world, ball).x;
        assert_float_equal(first - second, slowing, 1e-8);
        // It rests after v / slowing, and for good.
        run(world, 0.01, second / slowing + 0.02);
        assert_true(fabs(tpBody_GetVelocity(world, ball).x) < 1e-12);
        double place = tpBody_GetPosition(world, ball).x;
        run(world, 0.01, 1.0);
        assert_float_equal(tpBody_GetPosition(world, ball).x, place, 1e-12);
        tpDestroyWorld(world);
    }
}

static void steepSlopesRollGentleOnesDoNot(void** state) {
    (void)state;
    double s = arm / radius, limit = atan(mu * s / sqrt(1.0 + s * s));
    for (int i = 0; i < 2 * stepperCount; ++i) {
        bool isPlanar = i >= stepperCount;
        tpBodyId ball;
        tpWorld* world = makeWorld(steppers[i % stepperCount], 0.99 * limit, 0.0, isPlanar, &ball);
        run(world, 0.01, 1.0);
        assert_true(fabs(tpBody_GetVelocity(world, ball).x) < 1e-12);
        assert_true(fabs(tpBody_GetPosition(world, ball).x) < 1e-12);
        tpDestroyWorld(world);
        const double steeper[2] = { 1.01 * limit, 3.0 * limit };
        for (int k = 0; k < 2; ++k) {
            world = makeWorld(steppers[i % stepperCount], steeper[k], 0.0, isPlanar, &ball);
            run(world, 0.01, 1.0);
            double first = tpBody_GetVelocity(world, ball).x;
            run(world, 0.01, 0.5);
            double second = tpBody_GetVelocity(world, ball).x;
            assert_float_equal((second - first) / 0.5, acceleration(steeper[k]), 1e-8);
            tpDestroyWorld(world);
        }
    }
}

// With a torsional arm too all six rows are there: spin and roll stop, and the same as with a
// pyramid.
static void spinAndRollStop(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        tpBodyId ball;
        tpWorld* world = makeWorld(tp_anitescu, 0.0, 0.5, false, &ball);
        tpMaterialDef def = tpMaterial_GetDef(world, 1);
        def.friction.torsionalArm = 0.02;
        assert_int_equal(tpMaterial_SetDef(world, 1, &def, NULL), tp_success);
        if (i == 1) {
            assert_int_equal(tpWorld_SetOption(world, "cone", "pyramid", NULL), tp_success);
        }
        tpBody_SetVelocity(world, ball, tpMakeVec3(0.5, 0.0, 0.0), tpMakeVec3(0.0, 5.0, 8.0));
        run(world, 0.01, 3.0);
        assert_true(tpLength(tpBody_GetVelocity(world, ball)) < 1e-12);
        assert_true(tpLength(tpBody_GetAngularVelocity(world, ball)) < 1e-11);
        tpDestroyWorld(world);
    }
}

// A moment on the contact is listed, and numbers that mean nothing are refused.
static void momentsAreListed(void** state) {
    (void)state;
    tpBodyId ball;
    tpWorld* world = makeWorld(tp_anitescu, 0.0, 1.0, false, &ball);
    run(world, 0.01, 0.1);
    int count;
    const tpContactInfo contact = *tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 1);
    double friction = tpLength(contact.frictionImpulse);
    double rolling = tpLength(contact.rollingImpulse) / arm;
    double limit = mu * contact.normalImpulse;
    assert_float_equal(sqrt(friction * friction + rolling * rolling) / limit, 1.0, 1e-9);
    assert_float_equal(tpDot(contact.rollingImpulse, contact.normal), 0.0, 1e-15);
    tpMaterialDef def = tpMaterial_GetDef(world, 1);
    assert_float_equal(def.friction.rollingArm, arm, 0.0);
    def.friction.rollingArm = -1.0;
    tpError error = { 0 };
    assert_int_equal(tpMaterial_SetDef(world, 1, &def, &error), tp_badInput);
    assert_non_null(strstr(error.message, "friction"));
    tpDestroyWorld(world);
    assert_true((tpStepperLacks(tp_benderSchmitt) & tp_lacksRollingFriction) != 0);
    assert_true((tpStepperLacks(tp_anitescu) & tp_lacksRollingFriction) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rollingBallsStop),
        cmocka_unit_test(steepSlopesRollGentleOnesDoNot),
        cmocka_unit_test(spinAndRollStop),
        cmocka_unit_test(momentsAreListed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
