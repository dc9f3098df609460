// The certificate of a step: what each law counts, limits that follow the scene's scale, and gains
// that add up.

#include "dynamics/certificate.h"

#include <float.h>

#include "support/check.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testLaws),   cmocka_unit_test(testSlowGain),
        cmocka_unit_test(testSwing),  cmocka_unit_test(testUnits),
        cmocka_unit_test(testTraded), cmocka_unit_test(testCancelledLosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
