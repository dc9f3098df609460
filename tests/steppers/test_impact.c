// Restitution by the laws of Newton and Poisson with the steppers that know both: collisions are
// located inside the step.

#include "support/floor.h"
#include "tippe/joints.h"

static void setOption(tpWorld* world, const char* name, const char* value) {
    tpError error;
    if (tpWorld_SetOption(world, name, value, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
}

static const char* const laws[] = { "newton", "poisson" };

static tpWorld* makeWorldOf(tpStepperId stepper, const char* law, bool isPlanar, tpVec3 gravity,
                            double mu, double e) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = gravity;
    def.planar = isPlanar;
    tpWorld* world = tpCreateWorld(&def);
    setOption(world, "impact_law", law);
    addMaterial(world, mu, e);
    return world;
}

static tpWorld* makeWorld(const char* law, bool isPlanar, tpVec3 gravity, double mu, double e) {
    return makeWorldOf(tp_stewartTrinkle, law, isPlanar, gravity, mu, e);
}

static double kineticEnergy(const tpWorld* world, tpBodyId body, double mass, double inertia) {
    tpVec3 v = tpBody_GetVelocity(world, body), w = tpBody_GetAngularVelocity(world, body);
    return 0.5 * (mass * tpLengthSquared(v) + inertia * tpLengthSquared(w));
}

// Apexes of a bouncing ball are e^(2k) of the first height, at any step size.
static void apexesAreExact(void** state) {
    (void)state;
    const double steps[] = { 1.0 / 60.0, 0.023, 0.01, 0.001 };
    const double e = 0.8, height = 1.0, g = 9.81;
    for (int k = 0; k < 8; ++k) {
        tpWorld* world = makeWorld(laws[k % 2], false, tpMakeVec3(0.0, 0.0, -g), 0.3, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = height + 0.1;
        tpBodyId ball = tpCreateBody(world, &def, NULL);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpSphere sphere = { 0.1 };
        tpCreateSphere(world, ball, &shapeDef, &sphere, NULL);
        double h = steps[k / 2], last = 0.0;
        int apexes = 0;
        for (int i = 0; i * h < 3.0 && apexes < 4; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            double now = tpBody_GetVelocity(world, ball).z;
            double energy = g * (tpBody_GetPosition(world, ball).z - 0.1) + 0.5 * now * now;
            double rise = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                          report.potentialBefore;
            CHECK_BELOW(rise, 1e-9);
            CHECK_BELOW(report.penetration, 1e-9);
            CHECK_BELOW(report.residual, 1e-8);
            if (last > 0.0 && now <= 0.0) {
                apexes += 1;
                CHECK_NEAR(energy / g, height * pow(e, 2.0 * apexes), 1e-8);
            }
            last = now;
        }
        assert_int_equal(apexes, 4);
        tpDestroyWorld(world);
    }
}

// The rod and the floor -------------------------------------------------------------------------

typedef struct Rod {
    double angle, mu, e;
    double vx, vy, omega;
} Rod;

static const double rodLength = 1.0, rodRadius = 0.05, rodMass = 1.0, rodInertia = 0.09;

// One contact in the plane: u = W r + b in the order normal, tangential.
typedef struct Contact {
    double nn, nt, tt;
} Contact;

static Contact contactOf(double angle, double point[2]) {
    point[0] = -0.5 * rodLength * cos(angle);
    point[1] = -0.5 * rodLength * sin(angle) - rodRadius;
    Contact W = { 1.0 / rodMass + point[0] * point[0] / rodInertia,
                  -point[0] * point[1] / rodInertia,
                  1.0 / rodMass + point[1] * point[1] / rodInertia };
    return W;
}

// Coulomb's law with a normal impulse of r_n: sticks if it can, else slides.
static double frictionFor(Contact W, double bt, double rn, double mu) {
    double stick = -(bt + W.nt * rn) / W.tt;
    return fmax(-mu * rn, fmin(mu * rn, stick));
}

// The impulse whose normal part is at least `least` and leaves u_n >= 0: a root of a function of
// r_n that grows (away from Painleve's paradox), by halving.
static void solveContact(Contact W, double bn, double bt, double mu, double least, double r[2]) {
    double low = least, high = least + 100.0;
    r[0] = least;
    r[1] = frictionFor(W, bt, least, mu);
    if (bn + W.nn * r[0] + W.nt * r[1] >= 0.0) {
        return;
    }
    for (int k = 0; k < 200; ++k) {
        r[0] = 0.5 * (low + high);
        r[1] = frictionFor(W, bt, r[0], mu);
        if (bn + W.nn * r[0] + W.nt * r[1] < 0.0) {
            low = r[0];
        } else {
            high = r[0];
        }
    }
}

// Impulse of the whole collision by each law.
static void collide(const Rod* rod, bool isPoisson, double r[2]) {
    double point[2];
    Contact W = contactOf(rod->angle, point);
    double un = rod->vy + rod->omega * point[0], ut = rod->vx - rod->omega * point[1];
    if (!isPoisson) {
        solveContact(W, (1.0 + rod->e) * un, ut, rod->mu, 0.0, r);
        return;
    }
    double c[2], x[2];
    solveContact(W, un, ut, rod->mu, 0.0, c);
    solveContact(W, un + W.nn * c[0] + W.nt * c[1], ut + W.nt * c[0] + W.tt * c[1], rod->mu,
                 rod->e * c[0], x);
    r[0] = c[0] + x[0];
    r[1] = c[1] + x[1];
}

// A step of h seconds; the rod touches after two thirds of it: there it has this angle.
static tpWorld* throwRod(tpStepperId stepper, const Rod* rod, const char* law, bool isGuarded,
                         double h, tpBodyId* body, tpStepReport* report) {
    tpWorld* world = makeWorldOf(stepper, law, true, tpZeroVec3(), rod->mu, rod->e);
    setOption(world, "energy_guard", isGuarded ? "true" : "false");
    setOption(world, "restitution_threshold", "0");
    setOption(world, "tolerance", "1e-13");
    addFloor(world, tpMakeVec3(0.0, 1.0, 0.0));
    double point[2];
    contactOf(rod->angle, point);
    const double time = h / 1.5;
    tpBodyDef def = tpDefaultBodyDef();
    double startAngle = rod->angle - time * rod->omega;
    def.position = tpMakeVec3(0.0, -point[1] - time * rod->vy, 0.0);
    def.rotation = tpQuatExp(tpMakeVec3(0.0, 0.0, startAngle));
    def.velocity = tpMakeVec3(rod->vx, rod->vy, 0.0);
    def.angularVelocity = tpMakeVec3(0.0, 0.0, rod->omega);
    def.hasMass = true;
    def.mass.mass = rodMass;
    def.mass.inertia.cx.x = def.mass.inertia.cy.y = def.mass.inertia.cz.z = rodInertia;
    *body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCapsule capsule = { rodRadius, rodLength, { 1.0, 0.0, 0.0 } };
    tpCreateCapsule(world, *body, &shapeDef, &capsule, NULL);
    *report = tpWorld_Step(world, h);
    return world;
}

static double rodEnergy(const Rod* rod) {
    return 0.5 * (rodMass * (rod->vx * rod->vx + rod->vy * rod->vy) +
                  rodInertia * rod->omega * rod->omega);
}

static Rod randomRod(tpRandom* random) {
    for (;;) {
        Rod rod;
        rod.angle = randomBetween(random, 0.3, 1.3);
        rod.mu = randomBetween(random, 0.05, 0.9);
        rod.e = randomBetween(random, 0.2, 1.0);
        rod.vx = randomBetween(random, -4.0, 4.0);
        rod.vy = randomBetween(random, -4.0, -1.0);
        rod.omega = randomBetween(random, -3.0, 3.0);
        double point[2];
        Contact W = contactOf(rod.angle, point);
        double approach = rod.vy + rod.omega * point[0];
        if (W.nn > 1.05 * rod.mu * fabs(W.nt) && approach < -0.5) {
            return rod;
        }
    }
}

// The rod after the whole collision by a law, without a guard.
static Rod rodAfter(const Rod* rod, int law) {
    double point[2], r[2];
    contactOf(rod->angle, point);
    collide(rod, law == 1, r);
    Rod after = *rod;
    after.vx += r[1] / rodMass;
    after.vy += r[0] / rodMass;
    after.omega += (point[0] * r[0] - point[1] * r[1]) / rodInertia;
    return after;
}

// A rod falls on its end: both laws against their closed forms, which differ; with the guard no
// energy is gained where the laws alone would.
static void eccentricImpacts(void** state) {
    (void)state;
    tpRandom random = { 5 };
    int gains = 0;
    double largestDifference = 0.0;
    for (int tried = 0; tried < 60; ++tried) {
        Rod rod = randomRod(&random);
        Rod after[2];
        for (int law = 0; law < 2; ++law) {
            after[law] = rodAfter(&rod, law);
            bool gainsEnergy = rodEnergy(&after[law]) > rodEnergy(&rod) * (1.0 + 1e-9);

            tpBodyId body;
            tpStepReport report;
            tpWorld* world =
                throwRod(tp_stewartTrinkle, &rod, laws[law], false, 0.0075, &body, &report);
            tpVec3 v = tpMakeVec3(after[law].vx, after[law].vy, 0.0);
            CHECK_VEC3(tpBody_GetVelocity(world, body), v, 1e-8);
            CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, after[law].omega, 1e-8);
            CHECK_NEAR(report.kineticBefore - report.kineticAfter,
                       report.impactLoss + report.frictionLoss, 1e-9);
            tpDestroyWorld(world);

            world = throwRod(tp_stewartTrinkle, &rod, laws[law], true, 0.0075, &body, &report);
            double guarded = kineticEnergy(world, body, rodMass, rodInertia);
            CHECK_BELOW(guarded, rodEnergy(&rod) * (1.0 + 1e-10));
            assert_int_equal(report.noteCount > 0, gainsEnergy);
            if (!gainsEnergy) {
                CHECK_NEAR(guarded, rodEnergy(&after[law]), 1e-7);
            }
            gains += gainsEnergy;
            tpDestroyWorld(world);
        }
        largestDifference = fmax(largestDifference, fabs(after[0].vy - after[1].vy) * rodMass);
    }
    printf("%d of 120 collisions would gain energy; laws differ by up to %.2f N s\n", gains,
           largestDifference);
    assert_true(gains > 0);
    assert_true(largestDifference > 0.1);
}

// The same with the geometrically implicit step, whose impacts are at the end of a 128th of the
// step: the rod turns by up to w h / 128 meanwhile, and the velocities are off in proportion.
static void eccentricImplicitImpacts(void** state) {
    (void)state;
    tpRandom random = { 5 };
    const double steps[] = { 0.0064, 0.0001 };
    double worst[2] = { 0.0, 0.0 };
    int gains = 0;
    for (int k = 0; k < 160; ++k) {
        Rod rod = randomRod(&random);
        int law = k % 2, size = k / 2 % 2;
        Rod after = rodAfter(&rod, law);
        tpBodyId body;
        tpStepReport report;
        tpWorld* world =
            throwRod(tp_chakrabortyTrinkle, &rod, laws[law], true, steps[size], &body, &report);
        double energy = kineticEnergy(world, body, rodMass, rodInertia);
        CHECK_BELOW(energy, rodEnergy(&rod) * (1.0 + 1e-9));
        CHECK_NEAR(report.kineticBefore - report.kineticAfter,
                   report.impactLoss + report.frictionLoss, 1e-9);
        assert_int_equal(report.violations, 0);
        if (rodEnergy(&after) > 0.99 * rodEnergy(&rod)) {
            gains += 1;
        } else {
            tpVec3 v = tpMakeVec3(after.vx, after.vy, 0.0);
            double off = tpLength(tpSub(tpBody_GetVelocity(world, body), v));
            off += rodLength * fabs(tpBody_GetAngularVelocity(world, body).z - after.omega);
            worst[size] = fmax(worst[size], off);
        }
        tpDestroyWorld(world);
    }
    printf("implicit: off by %.1e m/s at h = %g, %.1e at %g; %d are guarded or nearly so\n",
           worst[0], steps[0], worst[1], steps[1], gains);
    assert_true(gains < 60);
    CHECK_BELOW(worst[0], 6e-3);
    CHECK_BELOW(worst[1], 1e-4);
}

// Balls under gravity with the geometrically implicit step: an elastic one comes back to where it
// was let go, whatever the law; without friction and off-centre blows the laws are one.
static void implicitBallsBounce(void** state) {
    (void)state;
    const double restitutions[] = { 1.0, 0.8 };
    for (int k = 0; k < 4; ++k) {
        double e = restitutions[k / 2], g = 9.81, height = 1.0, h = 1.0 / 120.0, last = 0.0;
        tpWorld* world = makeWorldOf(tp_chakrabortyTrinkle, laws[k % 2], false,
                                     tpMakeVec3(0.0, 0.0, -g), 0.3, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = height + 0.1;
        tpBodyId ball = tpCreateBody(world, &def, NULL);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpCreateSphere(world, ball, &shapeDef, &(tpSphere){ 0.1 }, NULL);
        int apexes = 0;
        for (int i = 0; i < 600 && apexes < 4; ++i) {
            tpStepReport report = tpWorld_Step(world, h);
            double now = tpBody_GetVelocity(world, ball).z;
            CHECK_BELOW(report.kineticAfter + report.potentialAfter - report.kineticBefore -
                            report.potentialBefore,
                        1e-9);
            assert_int_equal(report.noteCount, 0);
            if (last > 0.0 && now <= 0.0) {
                double apex = tpBody_GetPosition(world, ball).z - 0.1 + 0.5 * now * now / g;
                apexes += 1;
                CHECK_NEAR(apex, height * pow(e, 2.0 * apexes), 3e-3);
            }
            last = now;
        }
        assert_int_equal(apexes, 4);
        tpDestroyWorld(world);
    }
}

// Two capsules in space: momenta are kept, the normal velocity is turned round by the part e.
static void momentaAreKept(void** state) {
    (void)state;
    tpRandom random = { 17 };
    for (int trial = 0; trial < 20; ++trial) {
        const double e = 0.6;
        tpWorld* world = makeWorld(laws[trial % 2], false, tpZeroVec3(), trial < 10 ? 0.0 : 0.3, e);
        tpBodyId bodies[2];
        for (int i = 0; i < 2; ++i) {
            tpBodyDef def = tpDefaultBodyDef();
            def.position = tpMakeVec3(i == 0 ? -0.35 : 0.35, 0.0, 0.0);
            def.position.y = randomBetween(&random, -0.1, 0.1);
            def.rotation = randomRotation(&random);
            def.velocity = tpMakeVec3(i == 0 ? 3.0 : -3.0, 0.0, 0.0);
            def.angularVelocity = randomVec3(&random, -1.0, 1.0);
            bodies[i] = tpCreateBody(world, &def, NULL);
            tpShapeDef shapeDef = tpDefaultShapeDef();
            shapeDef.material = 1;
            tpCapsule capsule = { 0.1, 0.3, { 1.0, 0.0, 0.0 } };
            tpCreateCapsule(world, bodies[i], &shapeDef, &capsule, NULL);
        }
        tpVec3 linear = tpWorld_GetLinearMomentum(world);
        tpVec3 angular = tpWorld_GetAngularMomentum(world, tpZeroVec3());
        bool hasHit = false;
        for (int k = 0; k < 40; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            hasHit = hasHit || report.impactLoss > 0.0;
            CHECK_BELOW(report.kineticAfter, report.kineticBefore * (1.0 + 1e-12));
        }
        assert_true(hasHit);
        CHECK_VEC3(tpWorld_GetLinearMomentum(world), linear, 1e-9);
        CHECK_VEC3(tpWorld_GetAngularMomentum(world, tpZeroVec3()), angular, 1e-9);
        tpDestroyWorld(world);
    }
}

// A pendulum strikes a wall: the joint takes part in the collision, and the turn comes back as -e.
static void pendulumStrikesAWall(void** state) {
    (void)state;
    for (int law = 0; law < 2; ++law) {
        const double e = 0.5;
        tpWorld* world = makeWorld(laws[law], true, tpZeroVec3(), 0.0, e);
        addFloor(world, tpMakeVec3(-1.0, 0.0, 0.0)); // solid where x >= 0
        tpBodyDef def = tpDefaultBodyDef();
        def.position =
            tpMakeVec3(-0.5, -1.0, 0.0); // of its centre; it hangs from the point (-0.5, 0)
        def.velocity = tpMakeVec3(2.0, 0.0, 0.0);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, 2.0);
        tpBodyId bob = tpCreateBody(world, &def, NULL);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpSphere sphere = { 0.1 };
        tpCreateSphere(world, bob, &shapeDef, &sphere, NULL);
        tpJointDef jointDef = tpDefaultJointDef();
        jointDef.type = tp_revoluteJoint;
        jointDef.bodyB = bob;
        jointDef.anchorA = jointDef.anchorB = tpMakeVec3(-0.5, 0.0, 0.0);
        jointDef.axis = tpMakeVec3(0.0, 0.0, 1.0);
        tpJointId joint = tpCreateJoint(world, &jointDef, NULL);
        assert_true(tpJoint_IsValid(world, joint));
        double before = 2.0;
        bool hasHit = false;
        for (int k = 0; k < 40; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            double now = tpBody_GetAngularVelocity(world, bob).z;
            CHECK_BELOW(report.jointDrift, 1e-8);
            CHECK_BELOW(report.penetration, 1e-8);
            if (now < 0.0 && !hasHit) {
                hasHit = true;
                CHECK_NEAR(now, -e * before, 2e-2); // the scheme is of first order in the swing
            }
            before = hasHit ? before : now;
        }
        assert_true(hasHit);
        tpDestroyWorld(world);
    }
}

// Without a law the scheme is inelastic, and says so where restitution is asked for.
static void inelasticByDefault(void** state) {
    (void)state;
    tpWorld* world = makeWorld("none", false, tpMakeVec3(0.0, 0.0, -9.81), 0.3, 0.8);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = 0.2;
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, ball, &shapeDef, &sphere, NULL);
    bool hasNote = false;
    for (int k = 0; k < 60; ++k) {
        hasNote = tpWorld_Step(world, 0.01).noteCount > 0 || hasNote;
        CHECK_BELOW(tpBody_GetVelocity(world, ball).z, 1e-9);
    }
    assert_true(hasNote);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apexesAreExact),           cmocka_unit_test(eccentricImpacts),
        cmocka_unit_test(eccentricImplicitImpacts), cmocka_unit_test(implicitBallsBounce),
        cmocka_unit_test(momentaAreKept),           cmocka_unit_test(pendulumStrikesAWall),
        cmocka_unit_test(inelasticByDefault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
