// Solves of rows with known answers: a ball that hits the floor sticks or slides.

#include <string.h>

#include "ball_cases.h"
#include "dynamics/solve.h"
#include "dynamics/step_budget.h"
#include "support/failing_allocator.h"

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
    // Without memory it does not judge, and says so.
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpSolverMemory* none = tpCreateSolverMemory(&allocator);
    tpStepReport unjudged = { .converged = true };
    heap.failAllAfter = true;
    heap.failAt = heap.requests + 1;
    assert_false(tpRows_Judge(&rows, none, &unjudged));
    assert_true(unjudged.residual == 0.0);
    tpDestroySolverMemory(none);
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

// A tower of balls that comes down on the floor, each rather beside the middle of the one below.
enum { towerHeight = 100 };

static tpRows makeTower(tpWorld* world, double mu) {
    tpSystem* system = &world->system;
    tpContact contacts[towerHeight];
    int below = addFloor(world);
    tpRandom random = { 21 };
    for (int i = 0; i < towerHeight; ++i) {
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, (2 * i + 1) * ballRadius),
                           tpMakeVec3(0.3 - 0.1 * (i % 5), 0.1 * (i % 7), -1.0 - 0.05 * i));
        contacts[i] = makeContact(system, ball, below);
        contacts[i].normal = tpNormalize(tpAdd(contacts[i].normal, randomVec3(&random, -0.2, 0.2)));
        below = ball;
    }
    tpRows rows = makeRows(system, contacts, towerHeight, mu);
    rows.speedUnit = 1.0;
    system->certificate = TP_USUAL_CERTIFICATE;
    return rows;
}

// The pyramid is solved by itself if it may take the work. If it may not, the circular cone is, and
// the report says so. Either way the impulses are those of the cone that was solved.
static void testPyramid(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        tpRows rows = makeTower(world, 0.05);
        tpSolveSettings settings = { .cone = tp_pyramidCone,
                                     .directionCount = 8,
                                     .tolerance = 1e-10 };
        world->system.solveWork = k == 0 ? 0.0 : 1e300;
        tpStepReport report = { .converged = true };
        assert_true(tpRows_Solve(&rows, &world->system, memory, &settings, &report));
        tpStepReport judged = { .converged = true };
        assert_true(tpRows_Judge(&rows, memory, &judged));
        double momentum = 0.0, upwards = 0.0;
        for (int b = 0; b < rows.blockCount; ++b) {
            assert_true(rows.impulse[rows.firstRows[b]] >= 0.0);
            CHECK_NEAR(rows.velocity[rows.firstRows[b]], 0.0, 1e-6);
        }
        tpRows_ApplyImpulses(&rows, world->system.velocities.data);
        for (int i = 1; i <= towerHeight; ++i) {
            momentum += ballMass * (world->system.velocities.data[i].linear.z + 0.95 + 0.05 * i);
        }
        for (int j = 0; j < 3; ++j) { // of the lowest ball, as the floor's contact gives it
            upwards += rows.impulse[j] * rows.jacobianA[6 * j + 2];
        }
        CHECK_NEAR(upwards, momentum, 1e-9);
        if (k == 0) {
            assert_null(report.fallback);
            assert_true(report.converged && report.residual < 1e-8);
            assert_true(judged.coneViolation < 1e-9); // within the cone of its outer edges
            assert_true(judged.residual > 1e-6);      // an eighth of a circle is no circle
        } else {
            assert_string_equal(report.fallback, "circular cone");
            CHECK_BELOW(report.residual, 1e-8);
            CHECK_BELOW(judged.residual, 1e-8);
        }
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
}

// The violations of contacts by their definition: friction beyond mu times the load, and power that
// is not the most friction can take. Loads and speeds that are rounding beside the largest say
// nothing, nor do joints.
static void testJudgedContacts(void** state) {
    (void)state;
    tpRandom random = { 22 };
    tpWorld* world = makeEmptyWorld();
    tpRows rows = makeTower(world, 0.4);
    rows.speedUnit = 1e-3;
    for (int n = 0; n < 400; ++n) {
        double largestLoad = 0.0, largestSpeed = 0.0, cone = 0.0, dissipation = 0.0;
        for (int b = 0; b < rows.blockCount; ++b) {
            int first = rows.firstRows[b];
            rows.infos[b].source = randomBits(&random) % 4 == 0 ? tp_jointSource : tp_contactSource;
            rows.mu[b] = randomBetween(&random, 0.1, 1.0);
            double small = randomBits(&random) % 3 == 0 ? 1e-8 : 1.0;
            double slow = pow(10.0, -randomBetween(&random, 0.0, n % 2 == 0 ? 4.0 : 14.0));
            for (int k = 0; k < 3; ++k) {
                rows.impulse[first + k] = randomBetween(&random, k == 0 ? 0.2 : -0.2, 0.5) * small;
                rows.velocity[first + k] = randomBetween(&random, -1.0, 1.0) * slow;
                rows.scale[first + k] = randomBetween(&random, 0.5, 2.0);
            }
            rows.impulse[first] *= n % 5 == 0 && randomBits(&random) % 2 == 0 ? 1e-12 : 1.0;
            if (rows.infos[b].source == tp_contactSource) {
                double x = rows.velocity[first + 1] * rows.scale[first + 1];
                double y = rows.velocity[first + 2] * rows.scale[first + 2];
                largestLoad = fmax(largestLoad, rows.impulse[first]);
                largestSpeed = fmax(largestSpeed, fmax(fabs(x), fabs(y)));
            }
        }
        for (int b = 0; b < rows.blockCount; ++b) {
            const double *r = rows.impulse + rows.firstRows[b], *scale = rows.scale + 3 * b;
            const double* u = rows.velocity + rows.firstRows[b];
            if (rows.infos[b].source != tp_contactSource || r[0] <= 1e-9 * largestLoad) {
                continue;
            }
            double force = hypot(r[1] / scale[1], r[2] / scale[2]);
            double speed = hypot(u[1] * scale[1], u[2] * scale[2]), limit = rows.mu[b] * r[0];
            cone = fmax(cone, force / limit - 1.0);
            if (speed > 1e-6 * largestSpeed && speed > 1e-9 * rows.speedUnit) {
                dissipation =
                    fmax(dissipation, 1.0 + (r[1] * u[1] + r[2] * u[2]) / (limit * speed));
            }
        }
        tpStepReport report = { .converged = true };
        tpRows_JudgeContacts(&rows, &report);
        CHECK_NEAR(report.coneViolation, cone, 1e-12 * (1.0 + cone));
        CHECK_NEAR(report.dissipationViolation, dissipation, 1e-12 * (1.0 + dissipation));
        report.coneViolation = report.dissipationViolation = 1e20; // what was worse before stays
        tpRows_JudgeContacts(&rows, &report);
        assert_true(report.coneViolation == 1e20 && report.dissipationViolation == 1e20);
    }
    tpDestroyWorld(world);
}

// |q| without the rows of limits that are open.
static void testRoughSize(void** state) {
    (void)state;
    tpRandom random = { 23 };
    tpWorld* world = makeEmptyWorld();
    tpRows rows = makeTower(world, 0.4);
    for (int n = 0; n < 50; ++n) {
        double square = 0.0;
        for (int b = 0; b < rows.blockCount; ++b) {
            bool isJoint = randomBits(&random) % 2 == 0, isLimit = randomBits(&random) % 2 == 0;
            rows.infos[b].source = isJoint ? tp_jointSource : tp_contactSource;
            rows.kinds[b] = isLimit ? tp_frictionNonnegative : tp_frictionFree;
            for (int k = 0; k < 3; ++k) {
                double q = randomBetween(&random, -1.0, 1.0);
                rows.q[rows.firstRows[b] + k] = q;
                square += isJoint && isLimit && q > 0.0 ? 0.0 : q * q;
            }
        }
        CHECK_NEAR(tpRows_RoughSize(&rows), sqrt(square), 1e-12);
    }
    tpDestroyWorld(world);
}

// What a solve leaves fits together: velocities are those of its impulses, the report's figures
// those that the judge finds, work and failures are counted.
static void checkSolve(tpWorld* world, tpRows* rows, const tpStepReport* report, double before) {
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int size = rows->rowCount;
    double velocities[3 * towerHeight];
    assert_true(size <= 3 * towerHeight);
    memcpy(velocities, rows->velocity, sizeof(double) * (size_t)size);
    tpStepReport judged = { .converged = true };
    assert_true(tpRows_Judge(rows, memory, &judged));
    for (int k = 0; k < size; ++k) {
        CHECK_NEAR(velocities[k], rows->velocity[k], 1e-9);
    }
    CHECK_NEAR(report->residual, judged.residual, 1e-9);
    CHECK_NEAR(report->coneViolation, judged.coneViolation, 1e-9);
    CHECK_NEAR(report->dissipationViolation, judged.dissipationViolation, 1e-9);
    assert_true(report->converged == (report->failureCount == 0));
    assert_true(report->solveCount > 0 && report->iterationCount > 0);
    double work = system->solveWork - before;
    assert_true(work > 0.0);
    // Each solve costs its own work and 600 for each of its rows.
    double others = (system->stepWork - work) / (600.0 * size);
    assert_true(others > 0.0 && others <= report->solveCount);
    tpDestroySolverMemory(memory);
}

// A ball between floor and ceiling, which approach each other or part, at any angle: impulses that
// nothing can satisfy are no solution, and what is reported is what is left.
static void testContradictions(void** state) {
    (void)state;
    tpRandom random = { 24 };
    int failed = 0, restarted = 0;
    for (int n = 0; n < 60; ++n) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), randomVec3(&random, -1.0, 1.0));
        int floor = addFloor(world);
        tpContact contacts[3] = { makeContact(system, ball, floor),
                                  makeContact(system, ball, floor),
                                  makeContact(system, ball, floor) };
        for (int i = 1; i < 3; ++i) {
            contacts[i].normal = tpNormalize(
                tpAdd(tpMakeVec3(0.0, 0.0, i == 1 ? -1.0 : 0.0), randomVec3(&random, -0.3, 0.3)));
            contacts[i].pointA = contacts[i].pointB =
                tpMulAdd(system->poses.data[ball].position, -ballRadius, contacts[i].normal);
        }
        tpRows rows = makeRows(system, contacts, 3, randomBetween(&random, 0.0, 1.5));
        bool isPressed = n % 3 != 0;
        for (int i = 0; i < 3; ++i) {
            rows.bias[rows.firstRows[i]] = isPressed ? -0.5 : 0.0;
            rows.q[rows.firstRows[i]] += rows.bias[rows.firstRows[i]];
        }
        rows.speedUnit = 1.0;
        system->certificate = TP_USUAL_CERTIFICATE;
        tpSolveSettings settings = { .cone = tp_circularCone,
                                     .directionCount = 8,
                                     .tolerance = 1e-12 };
        tpStepReport report = { .converged = true };
        assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
        checkSolve(world, &rows, &report, 0.0);
        // Floor and ceiling that do not approach are met by impulses.
        assert_true(isPressed || report.converged);
        assert_true(report.converged || report.residual > 1e-8);
        failed += !report.converged;
        restarted += report.fallback != NULL && strcmp(report.fallback, "pyramid start") == 0;
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
    assert_true(failed > 5 && restarted > 5);
}

// A ball in a gap that is open by a hair: to stop it, its two contacts press against each other a
// million times as hard as it moves. Their rounding is all that is left, which is told and is no
// failure. It is no more than the residual; what was told before stays if it is more.
static void testRounding(void** state) {
    (void)state;
    int told = 0, below = 0, same = 0;
    for (int k = 0; k < 40; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        double slope = 1e-8 * (1.0 + k);
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(-1.0, 0.0, 0.3));
        int floor = addFloor(world);
        tpContact contacts[2] = { makeContact(system, ball, floor),
                                  makeContact(system, ball, floor) };
        for (int i = 0; i < 2; ++i) {
            contacts[i].normal = tpNormalize(tpMakeVec3(slope, 0.0, i == 0 ? 1.0 : -1.0));
            contacts[i].pointA = contacts[i].pointB =
                tpMulAdd(system->poses.data[ball].position, -ballRadius, contacts[i].normal);
        }
        tpRows rows = makeRows(system, contacts, 2, 0.0);
        rows.speedUnit = 1.0;
        system->certificate = 1e-25;
        tpSolveSettings settings = { .cone = tp_circularCone,
                                     .directionCount = 8,
                                     .tolerance = 1e-30 };
        double before = k % 2 == 0 ? 0.0 : 0.25;
        tpStepReport report = { .converged = true, .rounding = before };
        assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
        bool isTold = report.noteCount > 0 && strstr(report.notes[0], "rounding") != NULL;
        if (isTold) {
            assert_true(report.converged && report.failureCount == 0);
            assert_true(report.residual > 0.0 && report.residual < 1e-4);
            if (before > 0.0) {
                assert_true(report.rounding == before);
            } else {
                assert_true(report.rounding > 0.0);
                assert_true(report.rounding <= report.residual * (1.0 + 1e-12));
                below += report.rounding < 0.99 * report.residual;
                same += report.rounding > 0.99 * report.residual;
            }
        }
        told += isTold;
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
    print_message("%d told, rounding as large as the residual in %d, less in %d\n", told, same,
                  below);
    assert_true(told > 5 && same > 0 && below > 0);
}

// What earlier solves have reported stays if it is worse, and counts add up.
static void testWorseStays(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        tpRows rows = makeTower(world, 0.05);
        tpSolveSettings settings = { .cone = tp_circularCone,
                                     .directionCount = 8,
                                     .tolerance = 1e-12 };
        double before = k == 0 ? 0.0 : 0.5;
        tpStepReport report = { .converged = k == 0,
                                .residual = before,
                                .solveCount = 7,
                                .iterationCount = 1000,
                                .failureCount = 3 };
        assert_true(tpRows_Solve(&rows, &world->system, memory, &settings, &report));
        assert_true(report.converged == (k == 0) && report.failureCount == 3);
        assert_true(report.solveCount > 7 && report.iterationCount > 1000);
        assert_true(k == 0 ? report.residual < 1e-10 : report.residual == 0.5);
        report.residual = before;
        assert_true(tpRows_Judge(&rows, memory, &report));
        assert_true(k == 0 ? report.residual < 1e-10 : report.residual == 0.5);
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
}

// Velocities that are next to nothing have no scale of their own: residuals count in a millionth of
// the unit of speed.
static void testSmallScale(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        double approach = k == 0 ? 1e-9 : 4.0, unit = 0.5;
        int ball =
            addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -approach));
        tpContact contact = makeContact(&world->system, ball, addFloor(world));
        tpRows rows = makeRows(&world->system, &contact, 1, 0.0);
        rows.speedUnit = unit;
        rows.impulse[0] = 0.9 * ballMass * approach; // a tenth of the approach is left
        tpStepReport judged = { .converged = true };
        assert_true(tpRows_Judge(&rows, memory, &judged));
        CHECK_NEAR(judged.residual, k == 0 ? 1e-10 / (1e-6 * unit) : 0.1, 1e-12);
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
}

// A solve has its share of what the step has left, and of what all solves may cost: it ends by
// whichever is less. This one is asked for more than doubles can give.
static void testLimitsOfWork(void** state) {
    (void)state;
    double work[3];
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        tpRows rows = makeTower(world, 0.6);
        tpSolveSettings settings = {
            .cone = tp_circularCone, .directionCount = 8, .tolerance = 1e-30, .share = 0.5
        };
        system->certificate = 1e-30;
        tpStepBudget_Begin(system);
        double start = k == 1 ? tpStepBudget_Whole(system) : 0.0;
        system->stepWork = start;
        system->solveWork = k == 2 ? 1e300 : 0.0;
        tpStepReport report = { .converged = true };
        assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
        work[k] = system->stepWork - start;
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
    print_message("%g, %g if the step is spent, %g if solves are\n", work[0], work[1], work[2]);
    CHECK_BELOW(work[1], 0.6 * work[0]);
    // Looking for jams is part of all three.
    CHECK_BELOW(work[2], 0.8 * work[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testLimitsOfWork),   cmocka_unit_test(testRounding),
        cmocka_unit_test(testWorseStays),     cmocka_unit_test(testSmallScale),
        cmocka_unit_test(testContradictions), cmocka_unit_test(testPyramid),
        cmocka_unit_test(testJudgedContacts), cmocka_unit_test(testRoughSize),
        cmocka_unit_test(testBall),           cmocka_unit_test(testGoal),
        cmocka_unit_test(testSlack),          cmocka_unit_test(testBudget)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
