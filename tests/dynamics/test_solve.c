// Solves of rows with known answers: a ball that hits the floor sticks or slides.

#include "ball_cases.h"
#include "dynamics/solve.h"

// A ball of velocity (vx, vy, -3): normal impulse 3 m, and along the floor what stops the slip or
// what friction can give.
static void solveBall(double vx, double vy, double mu, const tpSolveSettings* settings,
                      double impulse[3], tpStepReport* report) {
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(vx, vy, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, mu);
    rows.speedUnit = 1.0;
    system->certificate = TP_USUAL_CERTIFICATE;
    *report = (tpStepReport){ .converged = true };
    assert_true(tpRows_Solve(&rows, system, memory, settings, report));
    for (int k = 0; k < 3; ++k) {
        impulse[k] = rows.impulse[k];
    }
    CHECK_NEAR(rows.velocity[0], 0.0, 1e-9);
    // The judge of impulses that come from elsewhere agrees, and sees a wrong one.
    tpStepReport judged = { .converged = true };
    assert_true(tpRows_Judge(&rows, memory, &judged));
    CHECK_BELOW(judged.residual, 1e-8);
    rows.impulse[0] *= 1.01;
    assert_true(tpRows_Judge(&rows, memory, &judged));
    assert_true(judged.residual > 1e-4);
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

static void testBall(void** state) {
    (void)state;
    const double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    tpSolveSettings settings = { .cone = tp_circularCone, .directionCount = 8, .tolerance = 1e-12 };
    double r[3];
    tpStepReport report;
    // Sticks: the slip of .5 m/s ends.
    solveBall(0.3, -0.4, 0.5, &settings, r, &report);
    assert_true(report.converged && report.failureCount == 0 && report.solveCount >= 1);
    CHECK_BELOW(report.residual, 1e-8);
    CHECK_NEAR(r[0], 3.0 * ballMass, 1e-8);
    CHECK_NEAR(r[1], -0.3 / along, 1e-8);
    CHECK_NEAR(r[2], 0.4 / along, 1e-8);
    // Slides: mu r_n against the slip.
    solveBall(30.0, -40.0, 0.5, &settings, r, &report);
    CHECK_NEAR(r[0], 3.0 * ballMass, 1e-8);
    CHECK_NEAR(r[1], -0.6 * 0.5 * r[0], 1e-7);
    CHECK_NEAR(r[2], 0.8 * 0.5 * r[0], 1e-7);
    // Without friction there is none.
    solveBall(30.0, -40.0, 0.0, &settings, r, &report);
    CHECK_NEAR(r[0], 3.0 * ballMass, 1e-8);
}

// A ball between floor and ceiling, each of which wants it .1 um/s away from itself: no impulses do
// that. Within the slack the solve gives way, by as much as they contradict each other, and says by
// how much; biases and velocities of the rows have it.
static void testSlack(void** state) {
    (void)state;
    const double wanted = 1e-7, h = 0.02;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -0.3));
    int floor = addFloor(world);
    tpContact contacts[2] = { makeContact(system, ball, floor), makeContact(system, ball, floor) };
    contacts[1].normal = tpMakeVec3(0.0, 0.0, -1.0);
    contacts[1].pointA.z = contacts[1].pointB.z = 2.0 * ballRadius;
    tpRows rows = makeRows(system, contacts, 2, 0.5);
    double q[6], bias[6];
    for (int i = 0; i < 6; ++i) {
        rows.bias[i] = i % 3 == 0 ? -wanted : 0.0;
        rows.q[i] += rows.bias[i];
        q[i] = rows.q[i];
        bias[i] = rows.bias[i];
    }
    rows.speedUnit = 1.0;
    rows.h = h;
    rows.gapSlack = 1e-6;
    system->certificate = TP_USUAL_CERTIFICATE;
    tpSolveSettings settings = { .cone = tp_circularCone, .directionCount = 8, .tolerance = 1e-12 };
    tpStepReport report = { .converged = true };
    assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
    CHECK_BELOW(report.residual, 1e-8);
    double given[2], speed = rows.velocity[0] - rows.bias[0];
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(rows.q[i] - q[i], rows.bias[i] - bias[i], 1e-15);
        if (i % 3 == 0) {
            given[i / 3] = rows.bias[i] - bias[i];
            assert_true(rows.impulse[i] >= 0.0);
            CHECK_NEAR(rows.velocity[i], 0.0, 1e-9);
            // The ball's own speed away from the surface, as both rows have it.
            CHECK_NEAR(rows.velocity[i] - rows.bias[i], i == 0 ? speed : -speed, 1e-12);
        }
    }
    CHECK_NEAR(given[0] + given[1], 2.0 * wanted, 2e-9);
    CHECK_NEAR(report.gapShift, h * fmax(given[0], given[1]), 1e-15);
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

// What a solve aims at: the tolerance, or half of the certificate; nine tenths of a certificate
// that asks for less than usual, if the tolerance does not ask for less still.
static void testGoal(void** state) {
    (void)state;
    CHECK_NEAR(tpSolveGoal(1e-10, 1e-3, 2.0), 0.9e-3 * 2.0, 1e-15);
    CHECK_NEAR(tpSolveGoal(1e-2, 1e-3, 2.0), 1e-2, 1e-15);
    CHECK_NEAR(tpSolveGoal(1e-2, 1e-8, 2.0), 1e-8, 1e-20);
    CHECK_NEAR(tpSolveGoal(1e-10, 1e-8, 2.0), 1e-10, 1e-22);
}

// The budget of a step: five solves at full cost, after which a solve has a small part.
static void testBudget(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    system->solveRows = 100;
    system->solveWork = 0.0;
    assert_true(tpSystem_HasWorkLeft(system));
    system->solveWork = 1e300;
    assert_false(tpSystem_HasWorkLeft(system));
    // A solve of n rows costs at most as many multiply-adds as the lower of two lines.
    const int rows[] = { 3, 100, 1000, 20000 };
    const double full[] = { 1.3e7, 1.1e8, 5e8, 8.1e9 };
    for (int i = 0; i < 4; ++i) {
        system->solveRows = rows[i];
        system->solveWork = 4.999 * full[i];
        assert_true(tpSystem_HasWorkLeft(system));
        system->solveWork = 5.001 * full[i];
        assert_false(tpSystem_HasWorkLeft(system));
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testBall), cmocka_unit_test(testGoal),
                                        cmocka_unit_test(testSlack), cmocka_unit_test(testBudget) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
