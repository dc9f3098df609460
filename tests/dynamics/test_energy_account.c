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
    tpRowVelocities velocities = { before, system->velocities.data, NULL, NULL };
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

// What is exchanged with a kick is taken off at once, or afterwards.
static void testKick(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(1.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpVelocity start[2] = { system->velocities.data[0], system->velocities.data[1] };
    tpVelocity kicked[2] = { start[0], start[1] };
    kicked[ball].linear = tpAdd(start[ball].linear, tpMakeVec3(0.2, 0.0, -0.5));
    kicked[ball].angular = tpMakeVec3(0.1, 0.3, -0.2);
    memcpy(system->velocities.data, kicked, sizeof(kicked));
    rows.impulse[0] = 2.0 * ballMass;
    rows.impulse[1] = -0.3;
    rows.impulse[2] = 0.1;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    tpRowVelocities velocities = { kicked, system->velocities.data, NULL, NULL };
    tpStepReport after = { 0 }, once = { 0 };
    tpRows_AccountEnergy(&rows, &velocities, &after);
    double whole = after.impactLoss;
    tpRows_AccountKick(&rows, start, kicked, 0.5, &after);
    const tpKick kick = { start, kicked, 0.5 };
    velocities.stroke = tpStrokeVelocities(system, &velocities, &kick, 1);
    assert_non_null(velocities.stroke);
    tpRows_AccountEnergy(&rows, &velocities, &once);
    CHECK_NEAR(once.impactLoss, after.impactLoss, 1e-13);
    CHECK_NEAR(once.frictionLoss, after.frictionLoss, 1e-13);
    // A kick of .5 m/s towards the floor, of which half is taken off.
    CHECK_NEAR(whole - after.impactLoss, 0.5 * 0.5 * rows.impulse[0], 1e-13);
    tpDestroyWorld(world);
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(testContact), cmocka_unit_test(testKick),
                                        cmocka_unit_test(testSlack) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
