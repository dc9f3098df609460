// Where the energy of impulses goes: what is booked is what the bodies have lost.

#include "ball_cases.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"

static void book(double vx, double normal, double along, tpStepReport* report, double* lost) {
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(vx, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpVelocity before[2] = { system->velocities.data[0], system->velocities.data[1] };
    double energy = tpSystem_KineticEnergy(system);
    rows.impulse[0] = normal;
    rows.impulse[1] = along;
    rows.impulse[2] = 0.0;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    *lost = energy - tpSystem_KineticEnergy(system);
    *report = (tpStepReport){ 0 };
    tpRowVelocities velocities = { before, system->velocities.data, NULL };
    tpRows_AccountEnergy(&rows, &velocities, report);
    tpDestroyWorld(world);
}

static void testContact(void** state) {
    (void)state;
    tpStepReport report;
    double lost;
    // The approach is stopped: m v^2 / 2 goes in the impact.
    book(0.0, 3.0 * ballMass, 0.0, &report, &lost);
    CHECK_NEAR(report.impactLoss, 0.5 * ballMass * 9.0, 1e-13);
    CHECK_NEAR(report.frictionLoss, 0.0, 1e-15);
    // Reflected: nothing is lost.
    book(0.0, 6.0 * ballMass, 0.0, &report, &lost);
    CHECK_NEAR(report.impactLoss, 0.0, 1e-13);
    CHECK_NEAR(lost, 0.0, 1e-13);
    // Friction takes the impulse times the mean slip.
    double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment, push = -0.5;
    book(4.0, 3.0 * ballMass, push, &report, &lost);
    CHECK_NEAR(report.frictionLoss, -push * (4.0 + 0.5 * push * along), 1e-13);
    CHECK_NEAR(report.frictionLoss + report.impactLoss - report.externalWork, lost, 1e-12);
}

static void testSlack(void** state) {
    (void)state;
    tpStepReport report = { 0 };
    tpAddDriveWork(2.0, &report);
    tpAddDriveWork(-0.5, &report);
    CHECK_NEAR(report.externalWork, 1.5, 1e-15);
    assert_true(tpStepReport_GetDriveSlack(&report) > 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testContact),
                                        cmocka_unit_test(testSlack) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
