// The certificate of a step: what each law counts, limits that follow the scene's scale, and gains
// that add up.

#include "dynamics/certificate.h"

#include <float.h>

#include "support/check.h"
#include "world/world.h"

static tpStepReport makeReport(double before, double after, double work) {
    tpStepReport report = { .converged = true };
    report.kineticBefore = before;
    report.kineticAfter = after;
    report.externalWork = work;
    return report;
}

// A ball of the given radius and mass, in a system of its own.
static void makeBall(tpSystem* system, double radius, double mass, double gravity) {
    tpAllocator allocator = tpDefaultAllocator();
    tpSystem_Create(system, &allocator);
    assert_true(tpSystem_ReserveBody(system, 0));
    system->bodyCount = 1;
    system->bodies.data[0] = (tpBody){ .isLive = true, .kind = tp_dynamicBody, .firstShape = -1 };
    system->poses.data[0] = tpIdentityPose();
    system->velocities.data[0] = (tpVelocity){ .padding0 = 0.0 };
    double moment = mass * radius * radius; // of a hoop: its radius of gyration is the radius
    tpMassProperties given = { .mass = mass };
    given.inertia = tpDiagonal(tpMakeVec3(moment, moment, moment));
    assert_true(tpSystem_SetMass(system, 0, &given));
    system->gravity = tpMakeVec3(0.0, 0.0, -gravity);
}

static void testLaws(void** state) {
    (void)state;
    tpSystem system;
    makeBall(&system, 0.5, 2.0, 10.0);
    tpStepReport report = makeReport(1.0, 1.0, 0.0);
    assert_true(tpCertificate_Begin(&system, 1e-8, &report));
    CHECK_NEAR(report.limits.jointDrift, 0.5e-6, 1e-18);
    CHECK_NEAR(report.limits.penetration, 0.5e-3, 1e-15);
    tpStepReport clean = report;
    tpCertificate_End(&system, &clean);
    assert_int_equal(clean.violations, 0);
    // 1e-3 of what the ball has and of what gravity gives it over its radius.
    CHECK_NEAR(clean.limits.energy, 1e-3 * (1.0 + 2.0 * 10.0 * 0.5), 1e-12);

    tpStepReport wrong = report;
    wrong.residual = 2e-8;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 1u << tp_contactLaw);
    wrong = report;
    wrong.jointDrift = 1e-6;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 1u << tp_jointLaw);
    wrong = report;
    wrong.penetration = NAN;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 1u << tp_overlapLaw);
    wrong = report;
    wrong.kineticAfter = 1.5;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 1u << tp_energyLaw);
    CHECK_NEAR(wrong.energyIncrease, 0.5, 1e-15);
    // The same with the work that was done for it.
    wrong = report;
    wrong.kineticAfter = 1.5;
    wrong.externalWork = 0.5;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 0);
    // What the data's rounding makes unavoidable may be left over three times.
    static const double roundings[] = { 0.0, 1e-10, 1e-7 };
    for (int k = 0; k < 3; ++k) {
        for (int side = 0; side < 2; ++side) {
            wrong = report;
            wrong.rounding = roundings[k];
            wrong.residual = fmax(1e-8, 3.0 * roundings[k]) * (side == 0 ? 0.99 : 1.01);
            tpCertificate_End(&system, &wrong);
            assert_int_equal(wrong.violations, side == 0 ? 0 : 1u << tp_contactLaw);
        }
    }
    // What parts of the step have found is told once.
    system.breaches = 1u << tp_jointLaw | 1u << tp_energyLaw;
    wrong = report;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 1u << tp_jointLaw | 1u << tp_energyLaw);
    wrong = report;
    tpCertificate_End(&system, &wrong);
    assert_int_equal(wrong.violations, 0);
    tpSystem_Destroy(&system);
}

// A gain far below the limit in each step is told as soon as it adds up to the limit, and again for
// the next one.
static void testSlowGain(void** state) {
    (void)state;
    tpSystem system;
    makeBall(&system, 1.0, 1.0, 0.0);
    int told = 0, first = 0;
    double energy = 1.0;
    for (int k = 1; k <= 1000; ++k) {
        tpStepReport report = makeReport(energy, energy + 1e-5, 0.0);
        energy += 1e-5;
        tpCertificate_Begin(&system, 1e-8, &report);
        tpCertificate_End(&system, &report);
        told += report.violations != 0;
        first = told == 1 && first == 0 ? k : first;
    }
    assert_in_range(first, 100, 102);
    assert_in_range(told, 9, 10);
    tpSystem_Destroy(&system);
}

// A swing about a mean has an excess of its own size and no more.
static void testSwing(void** state) {
    (void)state;
    tpSystem system;
    makeBall(&system, 1.0, 1.0, 0.0);
    double largest = 0.0;
    for (int k = 0; k < 1000; ++k) {
        double before = 1.0 + 4e-4 * sin(0.1 * k), after = 1.0 + 4e-4 * sin(0.1 * (k + 1));
        tpStepReport report = makeReport(before, after, 0.0);
        tpCertificate_Begin(&system, 1e-8, &report);
        tpCertificate_End(&system, &report);
        assert_int_equal(report.violations, 0);
        largest = fmax(largest, report.energyExcess);
    }
    CHECK_NEAR(largest, 8e-4, 4e-6);
    tpSystem_Destroy(&system);
}

// The same scene in other units has the same limits in these units.
static void testUnits(void** state) {
    (void)state;
    tpSystem metres, millimetres;
    makeBall(&metres, 0.2, 3.0, 9.81);
    makeBall(&millimetres, 200.0, 3.0, 9810.0);
    tpStepReport a = makeReport(1.0, 1.0, 0.0), b = makeReport(1e6, 1e6, 0.0);
    tpCertificate_Begin(&metres, 1e-8, &a);
    tpCertificate_Begin(&millimetres, 1e-8, &b);
    tpCertificate_End(&metres, &a);
    tpCertificate_End(&millimetres, &b);
    CHECK_NEAR(1e3 * a.limits.penetration, b.limits.penetration, 1e-12);
    CHECK_NEAR(1e3 * a.limits.jointDrift, b.limits.jointDrift, 1e-15);
    CHECK_NEAR(1e6 * a.limits.energy, b.limits.energy, 1e-6);
    tpSystem_Destroy(&metres);
    tpSystem_Destroy(&millimetres);
}

// The limit grows with what is traded, whichever way, and with the energy there is: by 1e-3 of it.
// A loss and a gain in contacts cancel.
// Links that are jammed carry forces without bound. Their work in rounded velocities is a loss of
// friction and a gain of impacts: a gain of energy beside them is one nonetheless.
static void testCancelledLosses(void** state) {
    (void)state;
    tpSystem system;
    makeBall(&system, 0.5, 2.0, 10.0);
    tpStepReport report = makeReport(1.0, 1.5, 0.0);
    assert_true(tpCertificate_Begin(&system, 1e-8, &report));
    report.frictionLoss = -9e3;
    report.impactLoss = 9e3 - 0.5;
    tpCertificate_End(&system, &report);
    assert_int_equal(report.violations, 1u << tp_energyLaw);
    CHECK_BELOW(report.limits.energy, 0.02);
    // Impulses that a solve got wrong leave the rounding of their work, 2^24 J here: no more is at
    // play than twice the energies that are known.
    report = makeReport(1.0, 1.0, 0.0);
    report.frictionLoss = -6.9e22;
    report.impactLoss = 6.9e22 + 16777216.0;
    CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report), 2e-3 * (1.0 + 2.0 * 10.0 * 0.5), 1e-12);
    tpSystem_Destroy(&system);
}

static void testTraded(void** state) {
    (void)state;
    tpSystem system;
    makeBall(&system, 0.5, 2.0, 10.0);
    tpStepReport plain = makeReport(1.0, 1.0, 0.0);
    assert_true(tpCertificate_Begin(&system, 1e-8, &plain));
    double base = tpCertificate_EnergyLimit(&system, &plain);
    for (int sign = -1; sign <= 1; sign += 2) {
        tpStepReport report = plain;
        report.externalWork = sign * 0.3;
        report.frictionLoss = sign * 0.04;
        report.impactLoss = sign * 0.005;
        CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report) - base, 0.345e-3, 1e-15);
        report.frictionLoss = -report.frictionLoss;
        CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report) - base, 0.335e-3, 1e-15);
        report.impactLoss = -report.impactLoss;
        CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report) - base, 0.345e-3, 1e-15);
        // Energies have rounding, the larger the farther from the origin.
        report = plain;
        report.potentialBefore = sign * 3e12;
        report.potentialAfter = -sign * 1e12;
        double rounding = tpCertificate_EnergyLimit(&system, &report) - base;
        assert_true(rounding > 4e12 * DBL_EPSILON && rounding < 1000.0 * 4e12 * DBL_EPSILON);
        CHECK_NEAR(rounding / (64.0 * 4e12 * DBL_EPSILON), 1.0, 1e-6);
    }
    const double kinetics[3][2] = { { 4.0, 1.0 }, { 1.0, 4.0 }, { 4.0, 4.0 } };
    for (int k = 0; k < 3; ++k) {
        tpStepReport report = makeReport(kinetics[k][0], kinetics[k][1], 0.0);
        CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report) - base, 3e-3, 1e-15);
        // But a gain is no measure of itself.
        report.energyIncrease = 2.5;
        CHECK_NEAR(tpCertificate_EnergyLimit(&system, &report) - base, 0.5e-3, 1e-15);
    }
    tpSystem_Destroy(&system);
}

// Gains at the end of a step ----------------------------------------------------------------------

// A ball of 2 kg at `before` J and then at `after` J, with so much work done on it in between.
typedef struct Gained {
    tpSystem system;
    tpKeptMotion start;
    tpStepReport report;
} Gained;

static void gain(Gained* g, double before, double after, double work) {
    makeBall(&g->system, 0.5, 2.0, 10.0);
    g->report = makeReport(before, 0.0, work);
    assert_true(tpCertificate_Begin(&g->system, 1e-8, &g->report));
    g->system.velocities.data[0].linear.x = sqrt(before);
    assert_true(tpKeptMotion_Take(&g->start, &g->system));
    g->system.velocities.data[0].linear.x = sqrt(after);
}

static double energyOf(const Gained* g) {
    tpVec3 v = g->system.velocities.data[0].linear;
    return v.x * v.x;
}

// A hundredth of what a step may gain is left alone, a half is taken, twice as much is taken and
// told. It may gain 1e-3 of what gravity gives the ball over its size, 10 J, and of the most that
// it had of late.
static void testEndGains(void** state) {
    (void)state;
    static const double parts[] = { -5.0, 0.01, 0.09, 0.11, 0.5, 0.99, 1.01, 2.0, 300.0 };
    for (int k = 0; k < 18; ++k) {
        Gained g;
        double part = parts[k / 2], rise = part * 1e-3 * (10.0 + 0.999 * 40.0);
        if (k % 2 == 0) { // the most is that after the step
            rise = part < 0.0 ? part * 0.011 : part * 1e-3 * 11.0 / (1.0 - 1e-3 * part);
        }
        gain(&g, 1.0, 1.0 + rise, 0.0);
        g.system.energyPeak = k % 2 == 0 ? 0.0 : 40.0;
        tpCertificate_TakeEndGains(&g.system, &g.start, &g.report);
        bool isTaken = part > 0.1;
        CHECK_NEAR(energyOf(&g), isTaken ? 1.0 : 1.0 + rise, 1e-12);
        CHECK_NEAR(g.report.impactLoss, isTaken ? rise : 0.0, 1e-12);
        CHECK_NEAR(g.report.numericalLoss, isTaken ? rise : 0.0, 1e-12);
        assert_int_equal(g.report.noteCount, isTaken ? 1 : 0);
        assert_int_equal(g.system.breaches, part > 1.0 ? 1u << tp_energyLaw : 0u);
        tpSystem_Destroy(&g.system);
    }
}

// Gross is a hundred times the limit, if it was never there before: neither of late, nor over the
// fall of the ball's own size (10 J), nor as work.
static void testGrossGains(void** state) {
    (void)state;
    static const struct {
        double before, after, peak, work;
        bool isGross;
    } cases[] = {
        { 1.0, 6.0, 0.0, 0.0, false },     { 1.0, 10.9, 0.0, 0.0, false },
        { 1.0, 11.1, 0.0, 0.0, true },     { 1.0, 12.0, 5.0, 0.0, false },
        { 1.0, 17.0, 5.0, 0.0, true },     { 1.0, 16.0, 0.0, 5.0, false },
        { 1.0, 17.0, 0.0, 5.0, true },     { 1.0, 11.1, 0.0, -5.0, true },
        { 11.5, 13.6, 0.0, 0.0, false },   { 11.5, 14.2, 0.0, 0.0, true },
        { 500.0, 400.0, 0.0, 0.0, false }, { 1.0, 1e6, 0.0, 0.0, true },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        Gained g;
        gain(&g, cases[k].before, cases[k].after, cases[k].work);
        g.system.energyPeak = cases[k].peak;
        bool isKnown = tpCertificate_TakeGrossGains(&g.system, &g.start, &g.report);
        assert_int_equal(isKnown, !cases[k].isGross);
        assert_int_equal(g.system.breaches, cases[k].isGross ? 1u << tp_energyLaw : 0u);
        assert_int_equal(g.report.noteCount, cases[k].isGross ? 1 : 0);
        double taken = cases[k].after - energyOf(&g);
        CHECK_NEAR(g.report.impactLoss, taken, 1e-12 * cases[k].after);
        CHECK_NEAR(g.report.numericalLoss, taken, 1e-12 * cases[k].after);
        if (cases[k].isGross) { // back to what there was
            CHECK_NEAR(energyOf(&g), cases[k].before, 1e-9 * cases[k].after);
        } else {
            CHECK_NEAR(energyOf(&g), cases[k].after, 1e-12 * cases[k].after);
            CHECK_NEAR(g.report.kineticAfter, cases[k].after, 1e-12 * cases[k].after);
        }
        tpSystem_Destroy(&g.system);
    }
    // Of no number nothing can be taken.
    Gained g;
    gain(&g, 1.0, INFINITY, 0.0);
    assert_true(tpCertificate_TakeGrossGains(&g.system, &g.start, &g.report));
    assert_int_equal(g.report.noteCount, 0);
    tpSystem_Destroy(&g.system);
}

// One body has become faster by 6 J, another one slower. If the account says that they lost as
// much, the first has gained it from nothing; not if nothing is missing: then it was handed on. A
// loss of impacts below zero is a gain that joints have made, and takes nothing back.
static void testIslandGains(void** state) {
    (void)state;
    static const struct {
        double friction, impact, work;
        bool hasGained;
    } cases[] = { { 0.0, 0.0, 0.0, false }, { 6.0, 0.0, 0.0, true },  { 0.0, 6.0, 0.0, true },
                  { 3.0, 3.0, 0.0, true },  { 6.0, -6.0, 0.0, true }, { -6.0, 6.0, 0.0, false },
                  { 8.0, 0.0, 2.0, true },  { 2.0, 0.0, 2.0, false }, { 0.0, 0.0, -6.0, true } };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        tpWorldDef def = tpDefaultWorldDef();
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        for (int i = 0; i < 2; ++i) {
            tpBodyDef body = tpDefaultBodyDef();
            body.position.x = 10.0 * i;
            body.hasMass = true;
            body.mass.mass = 2.0;
            body.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
            body.velocity.x = 3.0;
            tpCreateBody(world, &body, NULL);
        }
        tpSystem* system = &world->system;
        tpKeptMotion start;
        assert_true(tpKeptMotion_Take(&start, system));
        system->velocities.data[0].linear.x = sqrt(15.0);
        system->velocities.data[1].linear.x = sqrt(3.0);
        tpStepReport report = makeReport(18.0, 18.0, cases[k].work);
        report.frictionLoss = cases[k].friction;
        report.impactLoss = cases[k].impact;
        assert_int_equal(
            tpCertificate_HasIslandGained(system, start.poses, start.velocities, &report),
            cases[k].hasGained);
        tpCertificate_JudgeIslands(system, start.poses, start.velocities, &report);
        assert_int_equal(system->breaches, cases[k].hasGained ? 1u << tp_energyLaw : 0u);
        assert_int_equal(report.noteCount, cases[k].hasGained ? 1 : 0);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testLaws),        cmocka_unit_test(testSlowGain),
        cmocka_unit_test(testSwing),       cmocka_unit_test(testUnits),
        cmocka_unit_test(testTraded),      cmocka_unit_test(testCancelledLosses),
        cmocka_unit_test(testEndGains),    cmocka_unit_test(testGrossGains),
        cmocka_unit_test(testIslandGains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
