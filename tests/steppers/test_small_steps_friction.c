// Torsional and elliptic friction in small steps: closed forms, an independent integration, threads
// and snapshots.

#include "support/check.h"
#include "tippe/world.h"

static const double gravity = 9.81, radius = 0.5, mu = 0.3, arm = 0.02;

// A floor that turns at `spin`.
static tpWorld* makeTurningWorld(int threads, double torsion, double along, double across,
                                 double spin) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.threadCount = threads;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = mu;
    material.friction.torsionalArm = torsion;
    material.friction.ellipse[0] = along;
    material.friction.ellipse[1] = across;
    material.friction.direction = tpMakeVec3(1.0, 0.0, 0.0);
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = spin != 0.0 ? tp_kinematicBody : tp_fixedBody;
    floorDef.angularVelocity.z = spin;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shape, &plane, NULL);
    return world;
}

static tpWorld* makeWorld(int threads, double torsion, double along, double across) {
    return makeTurningWorld(threads, torsion, along, across, 0.0);
}

static tpBodyId addBall(tpWorld* world, tpVec3 place, tpVec3 velocity, tpVec3 spin) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    def.angularVelocity = spin;
    def.hasMass = true;
    def.mass.mass = 2.0;
    double moment = 0.4 * 2.0 * radius * radius;
    def.mass.inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpSphere ball = { radius };
    tpCreateSphere(world, body, &shape, &ball, NULL);
    return body;
}

// I w' = -mu e_r m g until the ball stands; then nothing moves any more.
static void spinningBallStopsInTime(void** state) {
    (void)state;
    static const double steps[] = { 0.01, 1.0 / 240.0 };
    double slowing = mu * arm * gravity / (0.4 * radius * radius), start = 0.8 * slowing;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(1, arm, 1.0, 1.0);
        tpBodyId ball =
            addBall(world, tpMakeVec3(0.0, 0.0, radius), tpZeroVec3(), tpMakeVec3(0.0, 0.0, start));
        double h = steps[k];
        for (int i = 1; i * h < 0.78; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            double spin = tpBody_GetAngularVelocity(world, ball).z;
            assert_true(report.residual < 1e-12 && report.noteCount == 0);
            // The first step finds its load.
            CHECK_NEAR(spin, start - slowing * i * h, 2e-2 * slowing * h + 1e-6 * start);
            if (i > 20) {
                int count;
                const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
                assert_int_equal(count, 1);
                CHECK_NEAR(fabs(contacts[0].torsionalImpulse), mu * arm * 2.0 * gravity * h,
                           1e-4 * mu * arm * 2.0 * gravity * h);
            }
        }
        while (tpWorld_GetTime(world) < 0.8 + 2.0 * h) {
            tpWorld_Step(world, h);
        }
        assert_true(fabs(tpBody_GetAngularVelocity(world, ball).z) < 1e-12);
        tpDestroyWorld(world);
    }
}

// Velocities of a ball that slides along x and spins: of its centre, about y, about z.
typedef struct Slide {
    double v, roll, spin;
} Slide;

// The law: force and moment are against (u, e_r w_n), together as large as mu times the load.
static Slide slowingOf(Slide s) {
    double u = s.v - radius * s.roll, w = arm * s.spin, size = sqrt(u * u + w * w);
    double inverse = 1.0 / (0.4 * radius * radius), push = size > 0.0 ? mu * gravity / size : 0.0;
    return (Slide){ -push * u, inverse * radius * push * u, -inverse * arm * push * w };
}

static Slide ahead(Slide s, double t, Slide by) {
    return (Slide){ s.v + t * by.v, s.roll + t * by.roll, s.spin + t * by.spin };
}

static Slide integrate(Slide s, double time) {
    int count = 20000;
    double t = time / count;
    for (int i = 0; i < count; ++i) {
        Slide a = slowingOf(s), b = slowingOf(ahead(s, 0.5 * t, a));
        Slide c = slowingOf(ahead(s, 0.5 * t, b)), d = slowingOf(ahead(s, t, c));
        s = ahead(s, t / 6.0, a);
        s = ahead(s, t / 3.0, b);
        s = ahead(s, t / 3.0, c);
        s = ahead(s, t / 6.0, d);
    }
    return s;
}

static void slidingAndSpinningShareTheFriction(void** state) {
    (void)state;
    Slide exact = integrate((Slide){ 1.0, 0.0, 60.0 }, 0.09);
    double errors[2];
    for (int k = 0; k < 2; ++k) {
        double h = k == 0 ? 0.01 : 0.001;
        tpWorld* world = makeWorld(1, arm, 1.0, 1.0);
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, radius), tpMakeVec3(1.0, 0.0, 0.0),
                                tpMakeVec3(0.0, 0.0, 60.0));
        for (int i = 0; i < (k == 0 ? 9 : 90); ++i) {
            tpWorld_Step(world, h);
        }
        tpVec3 v = tpBody_GetVelocity(world, ball), w = tpBody_GetAngularVelocity(world, ball);
        errors[k] =
            fabs(v.x - exact.v) + radius * fabs(w.y - exact.roll) + arm * fabs(w.z - exact.spin);
        tpDestroyWorld(world);
    }
    // 1.6 m/s of sliding and spinning are on the way to 0.
    print_message("sliding and spinning: errors %.2g and %.2g m/s\n", errors[0], errors[1]);
    assert_true(errors[0] < 1e-2 && errors[1] < 1e-3);
}

// Along an axis of the ellipse a block slows down by mu e g.
static void ellipsesSlowByTheirAxes(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(1, 0.0, 1.0, 0.5);
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, 0.1);
        def.velocity = k == 0 ? tpMakeVec3(2.0, 0.0, 0.0) : tpMakeVec3(0.0, 2.0, 0.0);
        tpBodyId block = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpBox box = { { 1.0, 1.0, 0.2 } };
        tpCreateBox(world, block, &shape, &box, NULL);
        for (int i = 0; i < 48; ++i) {
            tpWorld_Step(world, 1.0 / 240.0);
        }
        double slowed = mu * (k == 0 ? 1.0 : 0.5) * gravity * 48.0 / 240.0;
        CHECK_NEAR(tpLength(tpBody_GetVelocity(world, block)), 2.0 - slowed, 0.02 * slowed);
        tpDestroyWorld(world);
    }
}

static tpWorld* makePile(int threads) {
    tpWorld* world = makeWorld(threads, arm, 1.0, 1.0);
    for (int i = 0; i < 600; ++i) {
        int x = i % 10, y = i / 10 % 10, z = i / 100;
        addBall(world, tpMakeVec3(0.97 * x + 0.02 * z, 0.97 * y, 0.5 + 0.98 * z), tpZeroVec3(),
                tpMakeVec3(0.1 * x, 0.0, 3.0 * (y - 4)));
    }
    return world;
}

static void pilesContinueOnAnyThreads(void** state) {
    (void)state;
    tpWorld *one = makePile(1), *two = makePile(2);
    for (int i = 0; i < 8; ++i) {
        tpWorld_Step(one, 1.0 / 120.0);
        tpWorld_Step(two, 1.0 / 120.0);
    }
    assert_true(tpWorld_HashState(one) == tpWorld_HashState(two));
    tpSnapshot* snapshot = tpWorld_Snapshot(one);
    for (int i = 0; i < 8; ++i) {
        tpWorld_Step(one, 1.0 / 120.0);
        tpWorld_Step(two, 1.0 / 120.0);
    }
    uint64_t hash = tpWorld_HashState(one);
    assert_true(hash == tpWorld_HashState(two));
    assert_int_equal(tpWorld_Restore(one, snapshot, NULL), tp_success);
    for (int i = 0; i < 8; ++i) {
        tpWorld_Step(one, 1.0 / 120.0);
    }
    assert_true(hash == tpWorld_HashState(one));
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(one);
    tpDestroyWorld(two);
}

// A floor that turns does work on what it takes along. A ball in the middle is spun up by the
// moment mu e_r m g: the floor gives I w^2, half of which is rubbed off. One that rolls without
// slip gets all of it. Steps had this work as energy from nowhere and were not certified.
static void turningFloorsDoWork(void** state) {
    (void)state;
    const double spin = 3.0, moment = 0.4 * 2.0 * radius * radius;
    double given[2], rubbed[2], risen[2];
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeTurningWorld(1, k == 0 ? arm : 0.0, 1.0, 1.0, spin);
        // Rolling without slip, at a speed across: the ball goes round in a circle.
        double across = k == 0 ? 0.0 : 0.6, speed = k == 0 ? 0.0 : 0.3 * spin - across;
        addBall(world, tpMakeVec3(k == 0 ? 0.0 : 0.3, 0.0, radius), tpMakeVec3(0.0, across, 0.0),
                tpMakeVec3(speed / radius, 0.0, 0.0));
        given[k] = rubbed[k] = 0.0;
        double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        for (int i = 0; i < 6000; ++i) {
            tpStepReport report = tpWorld_Step(world, 1e-3);
            given[k] += report.externalWork;
            rubbed[k] += report.frictionLoss;
            assert_int_equal(report.violations & (1u << tp_energyLaw), 0);
        }
        risen[k] = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world) - start;
        tpDestroyWorld(world);
    }
    print_message("given %.4f and %.4f J, rubbed off %.4f and %.4f\n", given[0], given[1],
                  rubbed[0], rubbed[1]);
    CHECK_NEAR(given[0], moment * spin * spin, 0.01 * moment * spin * spin);
    CHECK_NEAR(rubbed[0], 0.5 * given[0], 0.01 * given[0]);
    CHECK_NEAR(given[1], risen[1], 0.01 * risen[1]);
    CHECK_BELOW(0.1, risen[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spinningBallStopsInTime),
        cmocka_unit_test(slidingAndSpinningShareTheFriction),
        cmocka_unit_test(ellipsesSlowByTheirAxes),
        cmocka_unit_test(pilesContinueOnAnyThreads),
        cmocka_unit_test(turningFloorsDoWork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
