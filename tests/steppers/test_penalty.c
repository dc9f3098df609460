// Contacts as springs: the stiff limit is the rigid steppers, the fine limit is mechanics of
// springs.

#include "support/floor.h"

static void setOption(tpWorld* world, const char* name, const char* value) {
    tpError error;
    if (tpWorld_SetOption(world, name, value, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
}

static void setNumber(tpWorld* world, const char* name, double value) {
    char text[32];
    snprintf(text, sizeof(text), "%.17g", value);
    setOption(world, name, text);
}

static tpWorld* makeWorld(tpStepperId stepper, tpVec3 gravity, double mu) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = gravity;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addBall(tpWorld* world, tpVec3 place, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 1.0 / (4.0 / 3.0 * acos(-1.0) * 1e-3); // 1 kg
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, body, &shapeDef, &sphere, NULL);
    return body;
}

static tpBodyId addBox(tpWorld* world, tpVec3 place, tpQuat rotation, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = rotation;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 100.0;
    tpBox box = { { 0.4, 0.3, 0.2 } };
    tpCreateBox(world, body, &shapeDef, &box, NULL);
    return body;
}

// The stiff limit -------------------------------------------------------------------------------

typedef struct Scene {
    tpWorld* world;
    tpBodyId bodies[4];
} Scene;

static tpBodyId addCapsule(tpWorld* world, tpVec3 place, tpQuat rotation, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = rotation;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 300.0;
    tpCapsule capsule = { .radius = 0.1, .length = 0.5, .axis = { 1.0, 0.0, 0.0 } };
    tpCreateCapsule(world, body, &shapeDef, &capsule, NULL);
    return body;
}

// Balls that roll into each other, a capsule that falls on its end and slides. No contact is
// redundant, so that rigid bodies have one solution and not many.
static Scene makeScene(tpStepperId stepper) {
    Scene scene;
    scene.world = makeWorld(stepper, tpMakeVec3(0.0, 0.0, -9.81), 0.3);
    tpVec3 still = tpZeroVec3();
    scene.bodies[0] = addBall(scene.world, tpMakeVec3(0.0, 0.0, 0.1), tpMakeVec3(1.5, 0.0, 0.0));
    scene.bodies[1] = addBall(scene.world, tpMakeVec3(0.25, 0.05, 0.1), still);
    scene.bodies[2] = addBall(scene.world, tpMakeVec3(0.46, 0.0, 0.1), still);
    tpQuat tilt = tpQuatExp(tpMakeVec3(0.3, 0.2, 0.1));
    scene.bodies[3] =
        addCapsule(scene.world, tpMakeVec3(0.0, 2.0, 0.3), tilt, tpMakeVec3(0.5, 0.2, -1.0));
    return scene;
}

// Runs the penalty scheme and a rigid one side by side, both from the state of the rigid one at
// each step; returns the largest difference of velocities after a step.
static double differenceFrom(Scene rigid, const char* scheme, double stiffness, double exponent) {
    const double h = 0.01;
    double largest = 0.0;
    Scene soft = makeScene(tp_penalty);
    setOption(soft.world, "scheme", scheme);
    setNumber(soft.world, "stiffness", stiffness);
    setNumber(soft.world, "exponent", exponent);
    for (int k = 0; k < 40; ++k) {
        for (int i = 0; i < 4; ++i) {
            tpPose pose = tpMakePose(tpBody_GetPosition(rigid.world, rigid.bodies[i]),
                                     tpBody_GetRotation(rigid.world, rigid.bodies[i]));
            tpBody_SetPose(soft.world, soft.bodies[i], pose);
            tpBody_SetVelocity(soft.world, soft.bodies[i],
                               tpBody_GetVelocity(rigid.world, rigid.bodies[i]),
                               tpBody_GetAngularVelocity(rigid.world, rigid.bodies[i]));
        }
        tpWorld_Step(rigid.world, h);
        tpStepReport report = tpWorld_Step(soft.world, h);
        assert_true(report.converged);
        for (int i = 0; i < 4; ++i) {
            double difference = tpDistanceBetween(tpBody_GetVelocity(rigid.world, rigid.bodies[i]),
                                                  tpBody_GetVelocity(soft.world, soft.bodies[i]));
            largest = fmax(largest, difference);
        }
    }
    tpDestroyWorld(soft.world);
    tpDestroyWorld(rigid.world);
    return largest;
}

static Scene makeLinearLimit(void) {
    Scene scene = makeScene(tp_anitescu);
    setOption(scene.world, "theta", "1");
    setOption(scene.world, "energy_guard", "false");
    return scene;
}

static Scene makeImplicitLimit(void) {
    Scene scene = makeScene(tp_stewartTrinkle);
    setOption(scene.world, "variant", "nonlinear");
    return scene;
}

// Velocities tend to those of the complementarity problem as stiffness^(-1/b) [Anitescu03, (2.6),
// (2.9)].
static void stiffLimitIsComplementarity(void** state) {
    (void)state;
    const char* const schemes[] = { "linearly-implicit", "implicit" };
    const double exponents[] = { 1.0, 1.5, 2.5 };
    for (int s = 0; s < 2; ++s) {
        for (int e = 0; e < 3; ++e) {
            double last = 0.0, order = 0.0;
            // Overlaps of (4 N s / h / stiffness)^(1/b): from some 1e-5 m down by a factor of ten.
            for (int k = 0; k < 4; ++k) {
                double stiffness = 4e2 * pow(10.0, exponents[e] * (5.0 + k));
                Scene rigid = s == 0 ? makeLinearLimit() : makeImplicitLimit();
                double difference = differenceFrom(rigid, schemes[s], stiffness, exponents[e]);
                order = k > 0 ? log10(last / difference) : 0.0;
                printf("%s, b = %g, stiffness %.1e: velocities differ by %.2e m/s, order %.3f\n",
                       schemes[s], exponents[e], stiffness, difference, order / exponents[e]);
                last = difference;
            }
            CHECK_NEAR(order / exponents[e], 1.0 / exponents[e], 0.03 / exponents[e]);
            CHECK_BELOW(last, 1e-4);
        }
    }
}

// A box that lands on its corners and slides: which corner carries how much is not a question for
// rigid bodies, but whatever springs say, the rigid law is met better the stiffer they are.
static void boxTendsToTheRigidLaw(void** state) {
    (void)state;
    double last = 0.0;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeWorld(tp_penalty, tpMakeVec3(0.0, 0.0, -9.81), 0.3);
        setNumber(world, "stiffness", 1e8 * pow(1e3, k)); // overlaps fall by 100
        tpQuat tilt = tpQuatExp(tpMakeVec3(0.3, 0.2, 0.1));
        addBox(world, tpMakeVec3(0.0, 0.0, 0.3), tilt, tpMakeVec3(0.5, 0.2, -1.0));
        double residual = 0.0;
        for (int i = 0; i < 60; ++i) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            assert_true(report.converged);
            residual = fmax(residual, report.residual);
        }
        printf("stiffness 1e%d: residual of the rigid law %.1e\n", 8 + 3 * k, residual);
        if (k > 0) {
            CHECK_NEAR(log10(last / residual), 2.0, 0.2);
        }
        last = residual;
        tpDestroyWorld(world);
    }
    CHECK_BELOW(last, 1e-4);
}

// One ball on the floor, closed form: m (v+ - v) = -m g h + h gamma x^b with x = -gap - h v+.
static void oneBallIsClosedForm(void** state) {
    (void)state;
    const double h = 0.01, gamma = 1e5, speed = -2.0, height = 0.1005;
    tpWorld* world = makeWorld(tp_penalty, tpMakeVec3(0.0, 0.0, -9.81), 0.0);
    setNumber(world, "stiffness", gamma);
    setOption(world, "exponent", "1");
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, height), tpMakeVec3(0.0, 0.0, speed));
    tpStepReport report = tpWorld_Step(world, h);
    double expected = (speed - 9.81 * h - h * gamma * (height - 0.1)) / (1.0 + h * h * gamma);
    CHECK_NEAR(tpBody_GetVelocity(world, ball).z, expected, 1e-12);
    double overlap = 0.1 - height - h * expected;
    CHECK_NEAR(report.penetration, overlap, 1e-12);
    // The residual is that of the rigid law, and tells of the overlap.
    CHECK_NEAR(report.residual, overlap / h / fabs(speed - 9.81 * h + (height - 0.1) / h), 1e-9);
    tpDestroyWorld(world);
}

// The fine limit --------------------------------------------------------------------------------

typedef struct Bounce {
    double deepest, duration, rebound;
} Bounce;

static Bounce bounce(double h, double damping, const char* scheme) {
    tpWorld* world = makeWorld(tp_penalty, tpZeroVec3(), 0.0);
    setOption(world, "stiffness", "1e6");
    setOption(world, "scheme", scheme);
    setNumber(world, "damping", damping);
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpMakeVec3(0.0, 0.0, -1.0));
    Bounce bounce = { 0.0, 0.0, -1.0 };
    while (tpBody_GetPosition(world, ball).z <= 0.1 && bounce.duration < 1.0) {
        bounce.deepest = fmax(bounce.deepest, tpWorld_Step(world, h).penetration);
        bounce.duration += h;
    }
    bounce.rebound = tpBody_GetVelocity(world, ball).z;
    tpDestroyWorld(world);
    return bounce;
}

// Hertz: m v^2 / 2 = gamma x^(5/2) / (5/2), and the contact lasts 2.9432 x / v.
static void fineStepsFollowHertz(void** state) {
    (void)state;
    double deepest = pow(1.25 / 1e6, 0.4);
    double last = 0.0, order = 0.0;
    for (int k = 0; k < 4; ++k) {
        double h = 4e-5 / (1 << k);
        Bounce b = bounce(h, 0.0, k % 2 == 0 ? "linearly-implicit" : "implicit");
        double loss = 1.0 - b.rebound;
        order = k > 0 ? log2(last / loss) : 0.0;
        printf("h = %.1e: overlap %.4e of %.4e m, %.4e of %.4e s, rebound %.4f, order %.2f\n", h,
               b.deepest, deepest, b.duration, 2.9432 * deepest, b.rebound, order);
        last = loss;
        if (k == 3) {
            CHECK_NEAR(b.deepest, deepest, 2e-3 * deepest);
            CHECK_NEAR(b.duration, 2.9432 * deepest, 5e-3 * 2.9432 * deepest);
            CHECK_BELOW(loss, 0.01);
        }
    }
    CHECK_NEAR(order, 1.0, 0.1);
}

// With the damper the rebound is 1 - (2/3) damping speed, to first order [HuntCrossley75].
static void damperTakesItsPart(void** state) {
    (void)state;
    const double h = 5e-6;
    double elastic = bounce(h, 0.0, "linearly-implicit").rebound;
    for (int k = 1; k <= 2; ++k) {
        double damping = 0.015 * k;
        double lost = elastic - bounce(h, damping, "linearly-implicit").rebound;
        CHECK_NEAR(lost, 2.0 / 3.0 * damping, 0.04 * damping);
    }
    // However strong, it never pulls.
    double rebound = bounce(h, 1e3, "linearly-implicit").rebound;
    assert_true(rebound >= -1e-9 && rebound < 0.05);
}

// Friction --------------------------------------------------------------------------------------

// A box on a slope: Coulomb's law holds it, the regularised one lets it creep at c tan(slope) / mu.
static void creepIsThatOfTheLaw(void** state) {
    (void)state;
    const double slope = 0.2, mu = 0.5;
    const double creeps[] = { 0.0, 1e-3, 0.02 };
    for (int k = 0; k < 3; ++k) {
        tpVec3 gravity = tpMakeVec3(9.81 * sin(slope), 0.0, -9.81 * cos(slope));
        tpWorld* world = makeWorld(tp_penalty, gravity, mu);
        setNumber(world, "creep", creeps[k]);
        tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.1), tpIdentityQuat(), tpZeroVec3());
        for (int i = 0; i < 200; ++i) {
            assert_true(tpWorld_Step(world, 0.01).converged);
        }
        double speed = tpBody_GetVelocity(world, box).x;
        CHECK_NEAR(speed, creeps[k] * tan(slope) / mu, 1e-9 + 1e-6 * creeps[k]);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiffLimitIsComplementarity), cmocka_unit_test(boxTendsToTheRigidLaw),
        cmocka_unit_test(oneBallIsClosedForm),         cmocka_unit_test(fineStepsFollowHertz),
        cmocka_unit_test(damperTakesItsPart),          cmocka_unit_test(creepIsThatOfTheLaw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
