// Bodies that are unions of convex pieces with the geometrically implicit stepper: each pair of
// pieces is a contact of its own. Dumbbells, halves of a box, an L of two boxes, a seam.

#include "support/floor.h"

static const double g = 9.81;

typedef struct Piece {
    tpVec3 size; // of a box; the radius of a ball in x if y is 0
    tpVec3 place;
} Piece;

static tpWorld* makeWorld(tpStepperId stepper, double mu, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -g);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, mu, restitution);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static tpBodyId addUnion(tpWorld* world, const Piece* pieces, int count, tpBodyDef def) {
    tpBodyId body = tpCreateBody(world, &def, NULL);
    for (int i = 0; i < count; ++i) {
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        shape.density = 1000.0;
        tpPose pose = tpIdentityPose();
        pose.position = pieces[i].place;
        tpGeometry geometry;
        tpSphere ball = { pieces[i].size.x };
        tpBox box = { pieces[i].size };
        tpResult result = pieces[i].size.y == 0.0 ? tpMakeSphere(&ball, pose, &geometry, NULL)
                                                  : tpMakeBox(&box, pose, &geometry, NULL);
        assert_int_equal(result, tp_success);
        assert_true(tpCreateShape(world, body, &shape, &geometry, NULL).slot != 0);
    }
    return body;
}

// Steps whose laws all hold and in which no energy is won.
static void stepWell(tpWorld* world, double h) {
    tpStepReport report = tpWorld_Step(world, h);
    double energy = report.kineticBefore + report.potentialBefore;
    assert_int_equal(report.failureCount, 0);
    assert_int_equal(report.violations, 0);
    CHECK_BELOW(report.kineticAfter + report.potentialAfter - energy, 1e-9 * fabs(energy));
    CHECK_BELOW(report.penetration, 1e-6);
}

// A dumbbell that slides comes to roll at v / (1 + m r^2 / I), and keeps that to rounding.
static void dumbbellRolls(void** state) {
    (void)state;
    const double r = 0.1, mass = 2.0, moment = 0.012;
    const Piece balls[] = { { { 0.1, 0.0, 0.0 }, { 0.0, -0.3, 0.0 } },
                            { { 0.1, 0.0, 0.0 }, { 0.0, 0.3, 0.0 } } };
    tpWorld* world = makeWorld(tp_chakrabortyTrinkle, 0.4, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.position.z = r;
    def.velocity.x = 1.0;
    def.hasMass = true;
    def.mass.mass = mass;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.2, moment, 0.2));
    tpBodyId body = addUnion(world, balls, 2, def);
    for (int k = 0; k < 200; ++k) {
        stepWell(world, 0.005);
    }
    double rolling = 1.0 / (1.0 + moment / (mass * r * r));
    double before = tpWorld_GetKineticEnergy(world);
    CHECK_NEAR(tpBody_GetVelocity(world, body).x, rolling, 1e-6);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).y, rolling / r, 1e-5);
    for (int k = 0; k < 200; ++k) {
        stepWell(world, 0.005);
    }
    CHECK_NEAR(tpWorld_GetKineticEnergy(world), before, 1e-12);
    CHECK_NEAR(tpBody_GetPosition(world, body).z, r, 1e-12);
    CHECK_NEAR(tpBody_GetPosition(world, body).y, 0.0, 1e-12);
    tpDestroyWorld(world);
}

// A box and the same box of two halves, thrown: the same fall, the same hits of corners and edges,
// and the same rest.
static void halvesAreAWhole(void** state) {
    (void)state;
    const Piece whole = { { 0.2, 0.3, 0.1 }, { 0.0, 0.0, 0.0 } };
    const Piece halves[] = { { { 0.1, 0.3, 0.1 }, { -0.05, 0.0, 0.0 } },
                             { { 0.1, 0.3, 0.1 }, { 0.05, 0.0, 0.0 } } };
    tpWorld* worlds[2];
    tpBodyId bodies[2];
    for (int i = 0; i < 2; ++i) {
        worlds[i] = makeWorld(tp_chakrabortyTrinkle, 0.5, 0.2);
        tpBodyDef def = tpDefaultBodyDef();
        def.position.z = 0.3;
        def.rotation = tpQuatExp(tpMakeVec3(0.5, -0.3, 0.2));
        def.angularVelocity = tpMakeVec3(1.0, 2.0, -1.0);
        def.velocity.x = 0.5;
        bodies[i] = addUnion(worlds[i], i == 0 ? &whole : halves, i == 0 ? 1 : 2, def);
    }
    double worst = 0.0;
    for (int k = 0; k < 300; ++k) {
        tpVec3 places[2];
        for (int i = 0; i < 2; ++i) {
            stepWell(worlds[i], 0.004);
            places[i] = tpBody_GetPosition(worlds[i], bodies[i]);
        }
        worst = fmax(worst, tpLength(tpSub(places[0], places[1])));
        // Hits that bounce are the same to rounding; slower ones are located only if there are few
        // contacts, and the halves have twice as many.
        CHECK_BELOW(worst, k < 75 ? 1e-12 : 1e-3);
    }
    print_message("a box and its two halves: %.1e m apart in 1.2 s of tumbling\n", worst);
    CHECK_NEAR(tpBody_GetPosition(worlds[1], bodies[1]).z, 0.05, 1e-7);
    tpDestroyWorld(worlds[0]);
    tpDestroyWorld(worlds[1]);
}

// A ball rolls over the seam of two boxes. Its contact with the second box is open at the start of
// the step in which it crosses, by g0 <= (v h)^2 / 2r, and carries the weight at its end: that
// costs the work m g g0, and nothing else does.
static double crossSeam(double h) {
    const Piece ground[] = { { { 1.0, 1.0, 0.2 }, { -0.5, 0.0, 0.1 } },
                             { { 1.0, 1.0, 0.2 }, { 0.5, 0.0, 0.1 } } };
    tpWorld* world = makeWorld(tp_chakrabortyTrinkle, 0.6, 0.0);
    tpBodyDef groundDef = tpDefaultBodyDef();
    groundDef.kind = tp_fixedBody;
    addUnion(world, ground, 2, groundDef);
    const Piece ball = { { 0.1, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(-0.203, 0.02, 0.3);
    def.velocity.x = 1.0;
    def.angularVelocity.y = 10.0;
    tpBodyId body = addUnion(world, &ball, 1, def);
    double before = tpWorld_GetKineticEnergy(world);
    for (int k = 0; k < (int)lround(0.4 / h); ++k) {
        stepWell(world, h);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.3, 1e-11);
    CHECK_NEAR(tpBody_GetPosition(world, body).y, 0.02, 1e-11);
    double lost = before - tpWorld_GetKineticEnergy(world);
    tpDestroyWorld(world);
    return lost;
}

static void seamIsHardlyFelt(void** state) {
    (void)state;
    const double r = 0.1, weight = 4000.0 / 3.0 * 3.14159265358979 * r * r * r * g;
    for (double h = 0.01; h > 0.001; h *= 0.5) {
        double lost = crossSeam(h), bound = weight * h * h / (2.0 * r);
        print_message("a ball over a seam, h = %g: %.1e J lost, at most %.1e\n", h, lost, bound);
        assert_true(lost >= -1e-12);
        CHECK_BELOW(lost, 1.01 * bound);
    }
}

// The L, its foot along x from the corner at the origin: the centre of mass is at (.1, .05) + (.05,
// .1).
static const Piece angle[] = { { { 0.3, 0.1, 0.1 }, { 0.15, 0.0, 0.05 } },
                               { { 0.1, 0.1, 0.3 }, { 0.05, 0.0, 0.25 } } };

// An L that turns about an edge of its foot is a pendulum: the angle of its centre of mass follows
// a'' = -m g c cos a / I from the same start, by Runge and Kutta's method.
static void anglePivots(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_chakrabortyTrinkle, 3.0, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    tpBodyId body = addUnion(world, angle, 2, def);
    // Two equal boxes: 3 kg each.
    tpVec3 centre = tpMakeVec3(0.1, 0.0, 0.15);
    double mass = 6.0, arm = sqrt(centre.x * centre.x + centre.z * centre.z);
    double each = 3.0 * (0.01 + 0.09) / 12.0;
    double moment = 2.0 * each + 3.0 * (0.15 * 0.15 + 0.05 * 0.05 + 0.05 * 0.05 + 0.25 * 0.25);
    double a = atan2(centre.z, centre.x), w = 1.5, h = 0.002;
    // About the edge at the origin, the other end of the foot going up.
    tpBody_SetVelocity(world, body, tpMakeVec3(-w * centre.z, 0.0, w * centre.x),
                       tpMakeVec3(0.0, -w, 0.0));
    double c = mass * g * arm / moment, worst = 0.0;
    for (int k = 0; k < 75; ++k) {
        stepWell(world, h);
        for (int i = 0; i < 10; ++i) {
            double s = 0.1 * h, k1 = -c * cos(a), k2 = -c * cos(a + 0.5 * s * w);
            double k3 = -c * cos(a + 0.5 * s * w + 0.25 * s * s * k1);
            double k4 = -c * cos(a + s * w + 0.5 * s * s * k2);
            a += s * w + s * s / 6.0 * (k1 + k2 + k3);
            w += s / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
        tpVec3 exact = tpMakeVec3(arm * cos(a), 0.0, arm * sin(a));
        worst = fmax(worst, tpLength(tpSub(tpBody_GetPosition(world, body), exact)));
    }
    print_message("an L on its edge: %.1e m off in .15 s, %.2f rad\n", worst, a);
    CHECK_BELOW(worst, 2e-5);
    tpDestroyWorld(world);
}

// An L that leans on another and a dumbbell on both: nothing is won, nothing overlaps, all comes to
// rest as high as with another exact stepper.
static void unionsPileUp(void** state) {
    (void)state;
    const Piece balls[] = { { { 0.06, 0.0, 0.0 }, { -0.1, 0.0, 0.0 } },
                            { { 0.06, 0.0, 0.0 }, { 0.1, 0.0, 0.0 } } };
    double heights[2];
    static const tpStepperId steppers[] = { tp_chakrabortyTrinkle, tp_anitescu };
    for (int s = 0; s < 2; ++s) {
        tpWorld* world = makeWorld(steppers[s], 0.6, 0.0);
        tpBodyDef def = tpDefaultBodyDef();
        addUnion(world, angle, 2, def);
        def.position = tpMakeVec3(0.42, 0.01, 0.41);
        def.rotation = tpQuatExp(tpMakeVec3(0.0, 3.14159265358979, 0.0));
        addUnion(world, angle, 2, def);
        def.position = tpMakeVec3(0.2, 0.0, 0.5);
        def.rotation = tpIdentityQuat();
        addUnion(world, balls, 2, def);
        for (int k = 0; k < 250; ++k) {
            if (s == 0) {
                stepWell(world, 0.004);
            } else {
                tpWorld_Step(world, 0.004);
            }
        }
        heights[s] = tpWorld_GetPotentialEnergy(world);
        print_message("%s: unions have %.6f J at height, %.1e J in motion\n",
                      tpStepperName(steppers[s]), heights[s], tpWorld_GetKineticEnergy(world));
        CHECK_BELOW(tpWorld_GetKineticEnergy(world), 1e-12);
        tpDestroyWorld(world);
    }
    CHECK_NEAR(heights[0], heights[1], 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumbbellRolls),    cmocka_unit_test(halvesAreAWhole),
        cmocka_unit_test(seamIsHardlyFelt), cmocka_unit_test(anglePivots),
        cmocka_unit_test(unionsPileUp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
