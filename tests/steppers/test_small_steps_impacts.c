// Impacts within a step of small-steps: pairs strike one after the other, in the substep in which
// they meet.

#include "support/check.h"
#include "support/floor.h"

static const double g = 9.81;

static tpWorld* makeWorld(double gravity, double friction, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, restitution);
    return world;
}

static tpBodyId addBall(tpWorld* world, tpVec3 position, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.velocity = velocity;
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateSphere(world, ball, &shape, &(tpSphere){ 0.1 }, NULL);
    return ball;
}

// What nothing touches flies along a parabola at any step, with its energy.
static void flightIsAParabola(void** state) {
    (void)state;
    const double steps[] = { 1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0 };
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = makeWorld(g, 0.0, 1.0);
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 5.0), tpMakeVec3(1.0, 2.0, 3.0));
        for (int k = 0; k < (int)lround(1.0 / steps[s]); ++k) {
            tpWorld_Step(world, steps[s]);
        }
        tpVec3 end = tpBody_GetPosition(world, ball);
        CHECK_NEAR(end.x, 1.0, 1e-12);
        CHECK_NEAR(end.y, 2.0, 1e-12);
        CHECK_NEAR(end.z, 8.0 - 0.5 * g, 1e-12);
        tpDestroyWorld(world);
    }
}

// An elastic ball keeps its energy, whenever in a step it meets the floor; one with e = .5 has a
// quarter of it after each bounce.
static void ballsBounce(void** state) {
    (void)state;
    for (int k = 0; k < 8; ++k) {
        double e = k % 2 == 0 ? 1.0 : 0.5, drop = 1.0 + 0.013 * k, highest = 0.0;
        tpWorld* world = makeWorld(g, 0.3, e);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 0.1 + drop), tpZeroVec3());
        // To the top after the first bounce.
        double until = sqrt(2.0 * drop / g) * (1.0 + e);
        for (int i = 0; i < (int)ceil(120.0 * until) + 2; ++i) {
            tpWorld_Step(world, 1.0 / 120.0);
            bool isUp = i > (int)(120.0 * sqrt(2.0 * drop / g)) + 2;
            highest = isUp ? fmax(highest, tpBody_GetPosition(world, ball).z - 0.1) : 0.0;
        }
        // The top is seen at the end of a step. A ball bounces up to one of four substeps before it
        // touches, with the speed that brings it as far as if it had touched.
        double h = 1.0 / 120.0;
        CHECK_NEAR(highest, e * e * drop, g * h * h / 8.0 + 1e-3 * e * e * drop);
        tpDestroyWorld(world);
    }
}

// How high what falls from a height rises after its first bounce, as a part of the exact height, by
// its energy on the way up; and how fast it turns then.
static double riseOf(double restitution, double drop, double h, bool isBox, double* spin) {
    tpWorld* world = makeWorld(g, 0.3, restitution);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId body;
    if (isBox) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, 0.1 + drop);
        body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateBox(world, body, &shape, &(tpBox){ { 0.4, 0.3, 0.2 } }, NULL);
    } else {
        body = addBall(world, tpMakeVec3(0.0, 0.0, 0.1 + drop), tpZeroVec3());
    }
    double height = 0.0, up = sqrt(2.0 * drop / g) + 3.0 * h;
    for (double t = 0.0; t < up; t += h) {
        tpWorld_Step(world, h);
        double speed = tpBody_GetVelocity(world, body).z;
        height = tpBody_GetPosition(world, body).z - 0.1 + speed * speed / (2.0 * g);
    }
    *spin = tpLength(tpBody_GetAngularVelocity(world, body));
    tpDestroyWorld(world);
    return height / (restitution * restitution * drop);
}

// The same whenever in a step and in a substep it lands, by both ways in which impacts are taken.
static void everyRestitutionIsMet(void** state) {
    (void)state;
    const double restitutions[] = { 0.3, 0.4, 0.49, 0.5, 0.7, 1.0 };
    double least[2] = { INFINITY, INFINITY }, most[2] = { 0.0, 0.0 }, spin = 0.0;
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 12; ++k) {
            for (int isBox = 0; isBox < 2; ++isBox) {
                double turned, drop = 0.5 + 0.0071 * k;
                double rise = riseOf(restitutions[i], drop, 0.01, isBox == 1, &turned);
                least[isBox] = fmin(least[isBox], rise);
                most[isBox] = fmax(most[isBox], rise);
                spin = fmax(spin, turned);
            }
        }
    }
    print_message("rise: balls %.4f to %.4f, boxes %.4f to %.4f of what is exact; %.3f rad/s\n",
                  least[0], most[0], least[1], most[1], spin);
    CHECK_BELOW(0.99, least[0]);
    CHECK_BELOW(most[0], 1.002);
    CHECK_BELOW(0.97, least[1]);
    CHECK_BELOW(most[1], 1.015);
    CHECK_BELOW(spin, 0.1);
}

// A box that lands flat does not turn, though its corners are solved one after the other.
static void boxBouncesFlat(void** state) {
    (void)state;
    tpWorld* world = makeWorld(g, 0.5, 0.5);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 1.1);
    tpBodyId box = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpCreateBox(world, box, &shape, &(tpBox){ { 0.4, 0.3, 0.2 } }, NULL);
    double highest = 0.0, spin = 0.0;
    for (int k = 0; k < 45; ++k) {
        tpWorld_Step(world, 1.0 / 60.0);
        highest = k > 30 ? fmax(highest, tpBody_GetPosition(world, box).z - 0.1) : 0.0;
        spin = fmax(spin, tpLength(tpBody_GetAngularVelocity(world, box)));
    }
    print_message("a box rises to %.3f of .25 m and turns with %.3f rad/s at most\n", highest,
                  spin);
    CHECK_NEAR(highest, 0.25, 0.01);
    CHECK_BELOW(spin, 0.1);
    tpDestroyWorld(world);
}

// The velocity of a ball that strikes a row of others, which touch, is handed on to the last.
static void rowHandsVelocityOn(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0, 0.0, 1.0);
    tpBodyId balls[6];
    for (int i = 0; i < 6; ++i) {
        double x = i == 0 ? -0.05 : 0.2 * i;
        balls[i] =
            addBall(world, tpMakeVec3(x, 0.0, 0.0), tpMakeVec3(i == 0 ? 3.0 : 0.0, 0.0, 0.0));
    }
    for (int k = 0; k < 30; ++k) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(tpBody_GetVelocity(world, balls[i]).x, i == 5 ? 3.0 : 0.0, 1e-5);
    }
    tpDestroyWorld(world);
}

// Spinning boxes that meet with friction keep their momentum and gain nothing.
static void frictionGivesNothing(void** state) {
    (void)state;
    tpRandom random = { 77 };
    for (int k = 0; k < 60; ++k) {
        tpWorld* world =
            makeWorld(0.0, randomBetween(&random, 0.1, 1.0), randomBetween(&random, 0.3, 1.0));
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpBodyId bodies[2];
        for (int i = 0; i < 2; ++i) {
            tpBodyDef def = tpDefaultBodyDef();
            double side = i == 0 ? -1.0 : 1.0;
            def.position = tpMakeVec3(0.4 * side, randomBetween(&random, -0.05, 0.05), 0.0);
            def.velocity = tpMakeVec3(-3.0 * side, 0.0, 0.0);
            def.angularVelocity = randomVec3(&random, -20.0, 20.0);
            def.rotation = randomRotation(&random);
            bodies[i] = tpCreateBody(world, &def, NULL);
            tpCreateBox(world, bodies[i], &shape, &(tpBox){ { 0.2, 0.25, 0.3 } }, NULL);
        }
        double energy = tpWorld_GetKineticEnergy(world);
        for (int i = 0; i < 20; ++i) {
            double before = tpWorld_GetKineticEnergy(world);
            tpWorld_Step(world, 1.0 / 60.0);
            CHECK_BELOW(tpWorld_GetKineticEnergy(world) - before, 1e-3 * energy);
        }
        tpVec3 sum =
            tpAdd(tpBody_GetVelocity(world, bodies[0]), tpBody_GetVelocity(world, bodies[1]));
        CHECK_BELOW(tpLength(sum), 1e-9);
        tpDestroyWorld(world);
    }
}

// A block of elastic balls lands on a floor. While velocities of parting were given after the last
// substep, to what had approached before the first, it kept less than half of its energy.
static void elasticCrowdKeepsItsEnergy(void** state) {
    (void)state;
    const int side = 5;
    tpWorld* world = makeWorld(g, 0.0, 1.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpRandom random = { 5 };
    for (int i = 0; i < side * side * side; ++i) {
        addBall(world,
                tpMakeVec3(0.21 * (i % side) + randomBetween(&random, -1e-3, 1e-3),
                           0.21 * (i / side % side) + randomBetween(&random, -1e-3, 1e-3),
                           0.6 + 0.21 * (i / (side * side))),
                tpZeroVec3());
    }
    double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double last = energy, rise = 0.0;
    for (int k = 0; k < 100; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        last = report.kineticAfter + report.potentialAfter;
        rise = fmax(rise, last - report.kineticBefore - report.potentialBefore);
    }
    print_message("%d balls keep %.4f of their energy and gain %.1e of it in a step\n",
                  side * side * side, last / energy, rise / energy);
    CHECK_NEAR(last, energy, 5e-3 * energy);
    CHECK_BELOW(rise, 1e-4 * energy);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flightIsAParabola),
        cmocka_unit_test(ballsBounce),
        cmocka_unit_test(boxBouncesFlat),
        cmocka_unit_test(everyRestitutionIsMet),
        cmocka_unit_test(rowHandsVelocityOn),
        cmocka_unit_test(frictionGivesNothing),
        cmocka_unit_test(elasticCrowdKeepsItsEnergy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
