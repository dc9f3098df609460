// Bodies that begin a step touching and approaching each other: thrown so by a user, or in the
// first state of a scene. Newton's law holds for such an impact as for one within a step, and the
// bodies fly for the whole step after it.

#include "support/floor.h"

static const double g = 9.81, h = 1.0 / 60.0, e = 0.8, speed = 2.0;

// Steppers that resolve impacts one after another at their times, and how exact they are.
typedef struct Located {
    tpStepperId stepper;
    double tolerance;
} Located;

static const Located steppers[] = { { tp_benderSchmitt, 1e-8 }, { tp_mirtichCanny, 2e-4 } };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static tpWorld* makeWorld(tpStepperId stepper, double gravity, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.0, restitution);
    return world;
}

static tpBodyId addBall(tpWorld* world, tpVec3 position, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.velocity = velocity;
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.5 }, NULL);
    return ball;
}

static tpBodyId addBox(tpWorld* world, const tpBodyDef* def, tpVec3 half) {
    tpBodyId body = tpCreateBody(world, def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateBox(world, body, &shape, &(tpBox){ tpScale(2.0, half) }, NULL);
    return body;
}

// After one step from a bounce at its start.
static void checkFlight(tpWorld* world, tpBodyId body, double height, double tolerance) {
    tpStepReport report = tpWorld_Step(world, h);
    assert_int_equal(report.violations, 0);
    CHECK_NEAR(tpBody_GetVelocity(world, body).z, e * speed - g * h, tolerance);
    CHECK_NEAR(tpBody_GetPosition(world, body).z, height + e * speed * h - 0.5 * g * h * h,
               tolerance);
}

static void bodiesAreThrownDownFromContact(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorld* world = makeWorld(steppers[i].stepper, g, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.0, 0.0, -speed));
        checkFlight(world, ball, 0.5, steppers[i].tolerance);
        tpDestroyWorld(world);

        world = makeWorld(steppers[i].stepper, g, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = 0.2;
        def.velocity.z = -speed;
        tpBodyId box = addBox(world, &def, tpMakeVec3(0.4, 0.3, 0.2));
        checkFlight(world, box, 0.2, steppers[i].tolerance);
        tpDestroyWorld(world);
    }
}

// A body that has come to rest is struck: its velocity is set between two steps.
static void bodiesAtRestAreStruck(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorld* world = makeWorld(steppers[i].stepper, g, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.0, 0.0, 0.0));
        for (int k = 0; k < 10; ++k) {
            tpWorld_Step(world, h);
        }
        CHECK_NEAR(tpBody_GetVelocity(world, ball).z, 0.0, 1e-2);
        tpBody_SetVelocity(world, ball, tpMakeVec3(0.0, 0.0, -speed), tpMakeVec3(0.0, 0.0, 0.0));
        checkFlight(world, ball, 0.5, 10.0 * steppers[i].tolerance);
        tpDestroyWorld(world);
    }
}

// A long box on one of its edges, struck down without friction: the impulse (1 + e) v / (1 / m +
// d^2 / I) acts at the distance d beside its centre.
static void boxesOnAnEdgeTurn(void** state) {
    (void)state;
    const double tilt = 0.5, halfLength = 0.5, halfHeight = 0.05;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorld* world = makeWorld(steppers[i].stepper, 0.0, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.rotation = tpMakeQuat(cos(0.5 * tilt), 0.0, sin(0.5 * tilt), 0.0);
        def.position.z = halfLength * sin(tilt) + halfHeight * cos(tilt);
        def.velocity.z = -speed;
        tpBodyId box = addBox(world, &def, tpMakeVec3(halfLength, 0.2, halfHeight));
        double mass = tpBody_GetMass(world, box).mass;
        double inertia = mass * (halfLength * halfLength + halfHeight * halfHeight) / 3.0;
        double arm = halfLength * cos(tilt) - halfHeight * sin(tilt);
        double impulse = (1.0 + e) * speed / (1.0 / mass + arm * arm / inertia);
        tpWorld_Step(world, h);
        CHECK_NEAR(tpBody_GetVelocity(world, box).z, impulse / mass - speed,
                   10.0 * steppers[i].tolerance);
        CHECK_NEAR(tpBody_GetAngularVelocity(world, box).y, -impulse * arm / inertia,
                   10.0 * steppers[i].tolerance);
        tpDestroyWorld(world);
    }
}

// A row of elastic balls that touch: as many leave as have come.
static void rowsPassOnWhatCame(void** state) {
    (void)state;
    enum { ballCount = 5 };
    for (int i = 0; i < stepperCount; ++i) {
        for (int coming = 1; coming < ballCount; ++coming) {
            tpWorld* world = makeWorld(steppers[i].stepper, 0.0, 1.0);
            tpBodyId balls[ballCount];
            for (int k = 0; k < ballCount; ++k) {
                balls[k] = addBall(world, tpMakeVec3((double)k, 0.0, 0.0),
                                   tpMakeVec3(k < coming ? speed : 0.0, 0.0, 0.0));
            }
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.violations, 0);
            for (int k = 0; k < ballCount; ++k) {
                double left = k >= ballCount - coming ? speed : 0.0;
                CHECK_NEAR(tpBody_GetVelocity(world, balls[k]).x, left, steppers[i].tolerance);
            }
            tpDestroyWorld(world);
        }
    }
}

// A ball lies on a plate whose speed changes from step to step: no impact, however elastic both
// are.
static void restingBallsStayOnPlatesThatAccelerate(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_benderSchmitt, g, e);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.position.z = -0.1;
    tpBodyId plate = addBox(world, &def, tpMakeVec3(2.0, 2.0, 0.1));
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(0.0, 0.0, 0.0));
    for (int k = 1; k <= 120; ++k) {
        double z = -0.1 + 0.5 * 3.0 * k * h * k * h;
        tpBody_SetTarget(world, plate,
                         (tpPose){ tpMakeVec3(0.0, 0.0, z), tpMakeQuat(1.0, 0.0, 0.0, 0.0) });
        tpWorld_Step(world, h);
        CHECK_NEAR(tpBody_GetPosition(world, ball).z, z + 0.6, 1e-7);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesAreThrownDownFromContact),
        cmocka_unit_test(bodiesAtRestAreStruck),
        cmocka_unit_test(boxesOnAnEdgeTurn),
        cmocka_unit_test(rowsPassOnWhatCame),
        cmocka_unit_test(restingBallsStayOnPlatesThatAccelerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
