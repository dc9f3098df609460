// Contacts that give: springs and dampers at contact points, against closed forms.

#include <string.h>

#include "support/floor.h"

static const double gravity = 9.81, mass = 2.0, radius = 0.1;

typedef struct Law {
    double stiffness, damping, mu;
} Law;

static tpWorld* makeWorld(Law law, tpVec3 pull) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    worldDef.gravity = pull;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = law.mu;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1); // the floor is rigid
    material.contact = (tpCompliance){ 1.0 / law.stiffness, law.damping };
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 2);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addBody(tpWorld* world, bool isBox, double height, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, height);
    def.velocity = velocity;
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.inertia.cx.x = def.mass.inertia.cy.y = def.mass.inertia.cz.z = 0.01;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 2;
    if (isBox) {
        tpCreateBox(world, body, &shapeDef,
                    &(tpBox){ { 2.0 * radius, 2.0 * radius, 2.0 * radius } }, NULL);
    } else {
        tpCreateSphere(world, body, &shapeDef, &(tpSphere){ radius }, NULL);
    }
    return body;
}

// Every step is certified, and being pressed in is no overlap.
static void run(tpWorld* world, double h, int count) {
    for (int k = 0; k < count; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.violations == 0);
        assert_true(report.residual <= 1e-8);
        assert_true(report.penetration <= 0.0);
    }
}

static tpVec3 down(void) {
    return tpMakeVec3(0.0, 0.0, -gravity);
}

// At rest a point is pressed in by its load times its compliance, a box by a quarter of its weight:
// for any step.
static void bodiesSinkByTheirWeight(void** state) {
    (void)state;
    const Law laws[3] = { { 1e4, 0.0, 0.5 }, { 1e4, 100.0, 0.5 }, { 1e8, 1e6, 0.0 } };
    for (int i = 0; i < 12; ++i) {
        Law law = laws[i % 3];
        bool isBox = i / 3 % 2 == 1, isEuler = i / 6 == 1;
        double sunk = mass * gravity / law.stiffness / (isBox ? 4.0 : 1.0);
        tpWorld* world = makeWorld(law, down());
        tpBodyId body = addBody(world, isBox, radius - sunk, tpZeroVec3());
        if (isEuler) {
            assert_int_equal(tpWorld_SetOption(world, "theta", "1", NULL), tp_success);
        }
        run(world, 0.01, 100);
        assert_float_equal(tpBody_GetPosition(world, body).z, radius - sunk, 1e-10);
        assert_true(tpLength(tpBody_GetVelocity(world, body)) < 1e-8);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        assert_int_equal(count, isBox ? 4 : 1);
        double load = 0.0, weight = 0.01 * mass * gravity;
        for (int k = 0; k < count; ++k) {
            assert_float_equal(contacts[k].gap, -sunk, 1e-10);
            assert_float_equal(contacts[k].normalImpulse * count / weight, 1.0, 1e-4);
            load += contacts[k].normalImpulse;
        }
        assert_float_equal(load / weight, 1.0, 1e-5);
        tpDestroyWorld(world);
    }
}

// z'' + d/m z' + k/m z = 0 about the rest position while the point stays pressed in.
static double oscillation(double start, Law law, double time) {
    double decay = 0.5 * law.damping / mass;
    double omega = sqrt(law.stiffness / mass - decay * decay);
    return start * exp(-decay * time) * (cos(omega * time) + decay / omega * sin(omega * time));
}

static void ballsOscillateToSecondOrder(void** state) {
    (void)state;
    const Law law = { 2e3, 10.0, 0.3 };
    double sunk = mass * gravity / law.stiffness, start = -0.4 * sunk, time = 0.5;
    double errors[2];
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = makeWorld(law, down());
        assert_int_equal(tpWorld_SetOption(world, "energy_guard", "false", NULL), tp_success);
        tpBodyId ball = addBody(world, false, radius - sunk + start, tpZeroVec3());
        int count = i == 0 ? 100 : 200;
        run(world, time / count, count);
        double wanted = radius - sunk + oscillation(start, law, time);
        errors[i] = fabs(tpBody_GetPosition(world, ball).z - wanted);
        tpDestroyWorld(world);
    }
    assert_true(errors[1] < 5e-3 * fabs(start));
    assert_float_equal(errors[0] / errors[1], 4.0, 0.4);
}

// Without a damper nothing is lost, however stiff the spring is for the step.
static void bouncesKeepTheirEnergy(void** state) {
    (void)state;
    const double stiffness[3] = { 1e3, 1e5, 1e9 };
    for (int i = 0; i < 6; ++i) {
        bool isBox = i >= 3;
        tpWorld* world = makeWorld((Law){ stiffness[i % 3], 0.0, 0.5 }, down());
        addBody(world, isBox, 2.0 * radius, tpZeroVec3());
        double before = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        for (int k = 0; k < 100; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            double now = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
            assert_float_equal(now / before, 1.0, 1e-7);
            CHECK_NEAR(report.impactLoss, 0.0, 1e-7 * before);
            CHECK_NEAR(report.numericalLoss, 0.0, 1e-7 * before);
            CHECK_NEAR(report.externalWork, 0.0, 1e-7 * before);
        }
        tpDestroyWorld(world);
    }
}

// A ball without weight leaves when spring and damper together cease to push: with b = d / 2m and
// w^2 = k/m - b^2 its speed is then exp(-b/w (pi - atan(2 b w / (w^2 - b^2)))) times that of its
// arrival.
static void dampersTakeTheirPart(void** state) {
    (void)state;
    const Law law = { 1e4, 40.0, 0.0 };
    double b = 0.5 * law.damping / mass, w = sqrt(law.stiffness / mass - b * b);
    double e = exp(-b / w * (acos(-1.0) - atan2(2.0 * b * w, w * w - b * b)));
    tpWorld* world = makeWorld(law, tpZeroVec3());
    tpBodyId ball = addBody(world, false, radius + 0.01, tpMakeVec3(0.0, 0.0, -1.0));
    run(world, 1e-4, 700);
    assert_float_equal(tpBody_GetVelocity(world, ball).z, e, 1e-3 * e);
    assert_true(tpBody_GetPosition(world, ball).z > radius);
    tpDestroyWorld(world);
}

// Friction knows no creep: what sticks stays where it is, what slides is slowed down by mu g.
static void stickingDoesNotCreep(void** state) {
    (void)state;
    const Law law = { 1e5, 200.0, 0.5 };
    const double slope = 0.4;
    tpWorld* world = makeWorld(law, tpMakeVec3(gravity * sin(slope), 0.0, -gravity * cos(slope)));
    tpBodyId box = addBody(world, true, radius, tpZeroVec3());
    run(world, 0.01, 300);
    tpVec3 place = tpBody_GetPosition(world, box);
    run(world, 0.01, 500);
    assert_true(tpLength(tpSub(tpBody_GetPosition(world, box), place)) < 1e-9);
    tpDestroyWorld(world);
    double sunk = mass * gravity / law.stiffness;
    world = makeWorld(law, down());
    tpBodyId ball = addBody(world, false, radius - sunk, tpMakeVec3(3.0, 0.0, 0.0));
    run(world, 0.01, 20); // it slides all the time
    assert_float_equal(tpBody_GetVelocity(world, ball).x, 3.0 - law.mu * gravity * 0.2, 1e-6);
    tpDestroyWorld(world);
}

// A box that falls on its corner tumbles to rest; the report has the figure of rigid contact beside
// the certificate.
static void boxesTumbleToRest(void** state) {
    (void)state;
    tpWorld* world = makeWorld((Law){ 1e5, 300.0, 0.6 }, down());
    tpBodyId box = addBody(world, true, 3.0 * radius, tpZeroVec3());
    tpQuat turn = { 0.9, 0.3, 0.25, 0.1 };
    tpBody_SetPose(world, box, (tpPose){ { 0.0, 0.0, 3.0 * radius }, tpNormalizeQuat(turn) });
    double rigid = 0.0;
    for (int k = 0; k < 300; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.005);
        assert_true(report.violations == 0);
        rigid = fmax(rigid, report.rigidResidual);
    }
    assert_true(rigid > 1e-3); // it was pressed in and came out again
    assert_true(tpLength(tpBody_GetVelocity(world, box)) < 1e-5);
    double sunk = 0.25 * mass * gravity / 1e5;
    assert_float_equal(tpBody_GetPosition(world, box).z, radius - sunk, 1e-7);
    assert_true(tpWorld_Step(world, 0.005).rigidResidual < 1e-4);
    tpDestroyWorld(world);
}

// auto lets what rests stand still. It stays certified, pressed in by more than the overlap that is
// allowed (1e-3 of its size).
static void bodiesAtRestStayCertified(void** state) {
    (void)state;
    const Law law = { 1e4, 200.0, 0.5 };
    double sunk = 0.25 * mass * gravity / law.stiffness;
    tpWorld* world = makeWorld(law, tpMakeVec3(0.2 * gravity, 0.0, -gravity));
    assert_int_equal(tpWorld_SetStepper(world, tp_auto), tp_success);
    tpBodyId box = addBody(world, true, radius - sunk, tpZeroVec3());
    for (int k = 0; k < 200; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_true(report.violations == 0);
        assert_true(report.penetration <= 0.0);
    }
    tpVec3 velocity = tpBody_GetVelocity(world, box);
    assert_true(tpDot(velocity, velocity) == 0.0);
    assert_true(sunk > 1e-3 * radius * sqrt(3.0));
    tpDestroyWorld(world);
}

static void materialsMixAndAreChecked(void** state) {
    (void)state;
    tpWorld* world = makeWorld((Law){ 1e4, 8.0, 0.0 }, down());
    tpMaterialDef def = tpDefaultMaterialDef();
    def.contact = (tpCompliance){ 3e-4, 4.0 };
    assert_int_equal(tpCreateMaterial(world, &def, NULL), 3);
    // Springs one behind the other: the parts of the way are 1/4 and 3/4.
    tpCompliance mixed = tpGetPairCompliance(world, 2, 3);
    assert_float_equal(mixed.compliance, 4e-4, 1e-18);
    assert_float_equal(mixed.damping, 8.0 / 16.0 + 4.0 * 9.0 / 16.0, 1e-14);
    assert_float_equal(tpGetPairCompliance(world, 1, 2).damping, 8.0, 1e-14);
    tpPairDef pair = { .materials = { 1, 2 }, .hasContact = true };
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    assert_true(tpGetPairCompliance(world, 2, 1).compliance == 0.0);
    tpError error = { 0 };
    def.contact = (tpCompliance){ 0.0, 1.0 };
    assert_int_equal(tpCreateMaterial(world, &def, &error), -1);
    assert_non_null(strstr(error.message, "compliance"));
    def.contact = (tpCompliance){ NAN, 0.0 };
    assert_int_equal(tpMaterial_SetDef(world, 3, &def, &error), tp_badInput);
    tpDestroyWorld(world);
    assert_true((tpStepperLacks(tp_anitescu) & tp_lacksCompliance) == 0);
    assert_true((tpStepperLacks(tp_auto) & tp_lacksCompliance) == 0);
    const tpStepperId others[] = { tp_stewartTrinkle, tp_benderSchmitt, tp_smallSteps,
                                   tp_mirtichCanny, tp_chakrabortyTrinkle };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        assert_true((tpStepperLacks(others[i]) & tp_lacksCompliance) != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesSinkByTheirWeight),   cmocka_unit_test(ballsOscillateToSecondOrder),
        cmocka_unit_test(bouncesKeepTheirEnergy),    cmocka_unit_test(dampersTakeTheirPart),
        cmocka_unit_test(stickingDoesNotCreep),      cmocka_unit_test(boxesTumbleToRest),
        cmocka_unit_test(bodiesAtRestStayCertified), cmocka_unit_test(materialsMixAndAreChecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
