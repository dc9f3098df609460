// Newton's cradle with all balls touching, default settings, h = 1/60 s: five simultaneous contacts
// and ten strings. What the row does when it is hit is the law's; that it keeps momentum and gains
// no energy is not.

#include "papers/paper_world.h"

enum { ballCount = 5, steps = 600 };
static const double h = 1.0 / 60.0;

typedef struct Cradle {
    tpWorld* world;
    tpBodyId balls[ballCount];
} Cradle;

static Cradle makeCradle(tpStepperId stepper) {
    Cradle cradle;
    cradle.world = makePaperWorld("cradle");
    assert_int_equal(tpWorld_SetStepper(cradle.world, stepper), tp_success);
    for (int i = 0; i < ballCount; ++i) {
        char name[16];
        snprintf(name, sizeof(name), "ball%d", i);
        cradle.balls[i] = tpWorld_FindBody(cradle.world, name);
        assert_true(tpBody_IsValid(cradle.world, cradle.balls[i]));
    }
    return cradle;
}

static double momentum(const Cradle* cradle) {
    return tpWorld_GetLinearMomentum(cradle->world).x;
}

// Runs the cradle. `swing`: by how much energy may swing about its mean in a step without
// collisions, as a part of the energy that the first ball brings. Returns the energy at the end as
// such a part.
static double run(const Cradle* cradle, double swing, bool balances, double velocities[ballCount]) {
    double start = 0.0, lowest = -ballCount * 9.81 * 0.5, energy = 0.0, last = 0.0;
    bool hasHit = false;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(cradle->world, h);
        double before = report.kineticBefore + report.potentialBefore;
        energy = report.kineticAfter + report.potentialAfter;
        start = k == 0 ? before - lowest : start;
        CHECK_BELOW(energy - before, swing * start);
        CHECK_BELOW(energy - lowest, (1.0 + swing) * start);
        // Every joule is in the report: what contacts and joints took is what is missing.
        if (balances && report.noteCount == 0) {
            CHECK_NEAR(before - energy, report.impactLoss + report.frictionLoss, 1e-10);
        }
        CHECK_BELOW(report.residual, 1e-8);
        CHECK_BELOW(report.jointDrift, 1e-8);
        CHECK_BELOW(report.penetration, 1e-7);
        assert_int_equal(report.failureCount, 0);
        double now = momentum(cradle);
        if (!hasHit && tpBody_GetVelocity(cradle->world, cradle->balls[1]).x > 0.1) {
            // At the lowest point strings have nothing to say along x: h^2 g sin(angle) / length at
            // most.
            hasHit = true;
            CHECK_NEAR(now, last, 0.02 * last);
            for (int i = 0; i < ballCount; ++i) {
                velocities[i] = tpBody_GetVelocity(cradle->world, cradle->balls[i]).x / now;
            }
        }
        last = now;
        for (int i = 0; i < ballCount; ++i) {
            CHECK_BELOW(tpLength(tpBody_GetVelocity(cradle->world, cradle->balls[i])), 1.2);
            CHECK_BELOW(fabs(tpBody_GetPosition(cradle->world, cradle->balls[i]).y), 1e-9);
        }
    }
    assert_true(hasHit);
    return (energy - lowest) / start;
}

// Newton's law for all contacts at once: the first ball comes back at 3/5, the others leave at 2/5.
static void symmetricStep(void** state) {
    (void)state;
    Cradle cradle = makeCradle(tp_anitescu);
    double v[ballCount];
    double part = run(&cradle, 2e-4, true, v);
    printf("anitescu: %.4f of the energy after %g s; velocities %.3f %.3f %.3f %.3f %.3f\n", part,
           steps * h, v[0], v[1], v[2], v[3], v[4]);
    CHECK_NEAR(v[0], -0.6, 0.005);
    for (int i = 1; i < ballCount; ++i) {
        CHECK_NEAR(v[i], 0.4, 0.005);
    }
    assert_true(part > 0.95);
    tpDestroyWorld(cradle.world);
}

// Without a law of impact all leave together; with one, and an implicit step that loses energy as
// the balls swing, it is the same as above.
static void implicitStep(void** state) {
    (void)state;
    const char* const laws[] = { "none", "newton", "poisson" };
    for (int law = 0; law < 3; ++law) {
        Cradle cradle = makeCradle(tp_stewartTrinkle);
        setOption(cradle.world, "impact_law", laws[law]);
        double v[ballCount];
        double part = run(&cradle, 1e-9, false, v);
        printf("stewart-trinkle, %s: %.4f of the energy; velocities %.3f %.3f %.3f %.3f %.3f\n",
               laws[law], part, v[0], v[1], v[2], v[3], v[4]);
        for (int i = 1; i < ballCount; ++i) {
            CHECK_NEAR(v[i], v[1], 0.01);
            if (law > 0) {
                CHECK_NEAR(v[i], 0.4, 0.005);
            }
        }
        assert_true(part >= 0.0);
        tpDestroyWorld(cradle.world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetricStep),
        cmocka_unit_test(implicitStep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
