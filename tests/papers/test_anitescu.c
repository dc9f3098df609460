// Anitescu 2003: the ball and the wall in one dimension, and the 66 discs.

#include <stdlib.h>

#include "papers/paper_world.h"

static double bounceOffWall(double e, double h, const char* theta) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_anitescu;
    def.planar = true;
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    setOption(world, "theta", theta);
    setOption(world, "cone", "pyramid"); // solved by pivots, to rounding
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    materialDef.restitution = e;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = tpCreateMaterial(world, &materialDef, NULL);
    tpBodyDef wallDef = tpDefaultBodyDef();
    wallDef.kind = tp_fixedBody;
    tpPlane plane = { { -1.0, 0.0, 0.0 }, -1.1 };
    tpCreatePlane(world, tpCreateBody(world, &wallDef, NULL), &shapeDef, &plane, NULL);
    tpBodyDef ballDef = tpDefaultBodyDef();
    ballDef.velocity = tpMakeVec3(1.0, 0.0, 0.0);
    tpBodyId ball = tpCreateBody(world, &ballDef, NULL);
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, ball, &shapeDef, &sphere, NULL);
    for (int k = 0; k * h < 1.5; ++k) {
        tpWorld_Step(world, h);
    }
    double speed = tpBody_GetVelocity(world, ball).x;
    tpDestroyWorld(world);
    return speed;
}

// Section III: the rebound is -e for every step size, also where a step lands exactly on the wall.
static void wallGivesBackItsPart(void** state) {
    (void)state;
    const double exact[] = { .1, .05, .04, .0625, .03125, .0125, .00625, .01, .005 };
    const char* const thetas[] = { "0.5", "1" };
    for (int t = 0; t < 2; ++t) {
        // The paper's step stops at gap / h before it bounces: rounding of the place counts 1 / h
        // times.
        double tolerance = t == 0 ? 1e-14 : 5e-14;
        for (int i = 0; i < 9; ++i) {
            CHECK_NEAR(bounceOffWall(1.0, exact[i], thetas[t]), -1.0, tolerance);
            CHECK_NEAR(bounceOffWall(0.4, exact[i], thetas[t]), -0.4, tolerance);
        }
        for (int i = 0; i < 200; ++i) {
            double h = .005 + i * (.1 - .005) / 199.0;
            CHECK_NEAR(bounceOffWall(0.4, h, thetas[t]), -0.4, tolerance);
        }
    }
}

typedef struct Pile {
    double residual, penetration, largestRise, energyStart, energyEnd;
    int rises, failures, uncertified, mostContacts;
} Pile;

static Pile runPile(const char* const options[][2], int optionCount, double restitution,
                    int stepCount) {
    tpWorld* world = makePaperWorld("discs66");
    for (int i = 0; i < optionCount; ++i) {
        setOption(world, options[i][0], options[i][1]);
    }
    tpPairDef pair = { .materials = { 1, 1 }, .hasRestitution = true, .restitution = restitution };
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    Pile pile = { 0 };
    for (int k = 0; k < stepCount; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.05);
        double before = report.kineticBefore + report.potentialBefore;
        double rise = report.kineticAfter + report.potentialAfter - before;
        pile.energyStart = k == 0 ? before : pile.energyStart;
        pile.energyEnd = before + rise;
        pile.largestRise = fmax(pile.largestRise, rise);
        pile.rises += rise > 1e-9 * pile.energyStart ? 1 : 0;
        pile.residual = fmax(pile.residual, report.residual);
        pile.penetration = fmax(pile.penetration, report.penetration);
        pile.failures += report.failureCount;
        pile.uncertified += report.violations != 0 ? 1 : 0;
        pile.mostContacts =
            report.contactCount > pile.mostContacts ? report.contactCount : pile.mostContacts;
    }
    tpDestroyWorld(world);
    printf("e = %g: %d contacts at most, residual %.1e, penetration %.1e m, energy %.1f -> %.1f J, "
           "%d rises, the largest %.1e of the start\n",
           restitution, pile.mostContacts, pile.residual, pile.penetration, pile.energyStart,
           pile.energyEnd, pile.rises, pile.largestRise / pile.energyStart);
    return pile;
}

static void checkSolved(const Pile* pile) {
    CHECK_BELOW(pile->residual, 1e-8);
    CHECK_BELOW(pile->penetration, 1e-8);
    assert_int_equal(pile->failures, 0);
}

// Section V with the paper's own step: every problem is solved, nothing overlaps; without
// restitution energy falls in every step. With it and without the guard it rises in a handful, by
// less than 2e-4. The pile is chaotic, and now and then a path has a larger rise: of three that
// part soon, the middle one counts.
static void discsByThePaper(void** state) {
    (void)state;
    Pile pile = runPile(NULL, 0, 0.0, 400);
    checkSolved(&pile);
    assert_int_equal(pile.rises, 0);
    const char* const gammas[][2] = { { "gamma", "1" },
                                      { "gamma", "0.999999" },
                                      { "gamma", "0.9999" } };
    double rises[3];
    for (int i = 0; i < 3; ++i) {
        pile = runPile(&gammas[i], 1, 0.4, 400);
        checkSolved(&pile);
        assert_in_range(pile.rises, 0, 8);
        rises[i] = pile.largestRise / pile.energyStart;
    }
    double least = fmin(rises[0], fmin(rises[1], rises[2]));
    double most = fmax(rises[0], fmax(rises[1], rises[2]));
    CHECK_BELOW(rises[0] + rises[1] + rises[2] - least - most, 2e-4);
    CHECK_BELOW(most, 1e-3);
}

// The default step; TIPPE_LONG=1 in the environment follows the pile for the paper's 20 s.
static void discsByDefault(void** state) {
    (void)state;
    const char* const options[][2] = { { "theta", "0.5" },
                                       { "cone", "circular" },
                                       { "energy_guard", "true" } };
    int stepCount = getenv("TIPPE_LONG") != NULL ? 400 : 100;
    Pile pile = runPile(options, 3, 0.0, stepCount);
    checkSolved(&pile);
    assert_int_equal(pile.rises, 0);
    // With restitution half of the steps end with their means. What is left of overlaps then is a
    // matter of chance (1e-8 to 5e-6 m on seven paths whose friction differs by 1e-7 to 1e-3), but
    // within the certificate.
    pile = runPile(options, 3, 0.4, stepCount);
    CHECK_BELOW(pile.residual, 1e-8);
    CHECK_BELOW(pile.penetration, 1e-5);
    assert_int_equal(pile.failures, 0);
    assert_int_equal(pile.uncertified, 0);
    assert_int_equal(pile.rises, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wallGivesBackItsPart),
        cmocka_unit_test(discsByThePaper),
        cmocka_unit_test(discsByDefault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
