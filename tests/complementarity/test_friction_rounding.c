// Data that contradict each other: what is taken out of them, what is proved of them.

#include <math.h>
#include <string.h>

#include "box_on_corners.h"
#include "complementarity/friction_solvers.h"
#include "solver_memory.h"
#include "support/check.h"

// The corners are out of one plane by this, as no box can be.
static void warp(Box* box, double speed) {
    static const double signs[corners] = { 1.0, -1.0, -1.0, 1.0 };
    for (int c = 0; c < corners; ++c) {
        box->q[3 * c] += signs[c] * speed;
    }
}

// The island of a box with equal loads, which is the solution of the box that is not warped.
static tpFrictionIsland* loadIsland(const Box* box, tpFrictionSystem* system, double slack) {
    double r[rowCount] = { 0 };
    for (int c = 0; c < corners; ++c) {
        r[3 * c] = 0.05;
    }
    assert_true(tpFrictionSystem_Build(system, &box->problem, &memory->arena));
    tpFrictionSystem_Load(system, r);
    assert_int_equal(system->islandCount, 1);
    tpFrictionIsland* island = &system->islands[0];
    island->slack = slack;
    island->shift = TP_SCRATCH_ZEROED(&memory->arena, double, rowCount);
    island->workLimit = 1e9;
    island->tolerance = 1e-14;
    return island;
}

// Impulses that solve the problem with u + weight (r - center) in place of u: of corners that hold,
// and are the same for the box's motion.
static void makeProximal(const tpFrictionIsland* island, double weight, double* r) {
    for (int i = 0; i < rowCount; ++i) {
        r[i] = island->r[i] - island->u[i] / weight;
    }
}

static void contradictionsAreTakenOut(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    tpFrictionSystem system;
    double r[rowCount], u[rowCount];
    const double weight = 1e-4;
    // Not more than is allowed.
    tpFrictionIsland* island = loadIsland(&box, &system, 0.9e-8);
    double before = island->residual;
    assert_true(before > 1e-8);
    makeProximal(island, weight, r);
    assert_false(tpFrictionIsland_TakeShift(island, weight, r, island->r, u));
    CHECK_NEAR(island->residual, before, 0.0);
    for (int i = 0; i < rowCount; ++i) {
        CHECK_NEAR(island->shift[i], 0.0, 1e-18);
    }
    // The warp, and nothing else: no motion of the box could follow it.
    island = loadIsland(&box, &system, 1.1e-8);
    makeProximal(island, weight, r);
    assert_true(tpFrictionIsland_TakeShift(island, weight, r, island->r, u));
    // Rounding of u, over the weight.
    assert_true(island->residual < 1e-16 / weight);
    for (int c = 0; c < corners; ++c) {
        double shift = island->shift[3 * c] / system.scale[3 * c];
        CHECK_NEAR(shift, -0.1 - box.q[3 * c], 1e-15);
        CHECK_NEAR(island->shift[3 * c + 1], 0.0, 1e-15);
        CHECK_NEAR(u[3 * c], 0.0, 1e-16 / weight);
    }
}

// A point that is no better with its own data than the island's is with its is not taken over.
static void worsePointsAreNotTaken(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    tpFrictionSystem system;
    double r[rowCount], u[rowCount];
    tpFrictionIsland* island = loadIsland(&box, &system, 1e-6);
    double before = island->residual, q = island->q[0];
    const double weight = 1e-4;
    makeProximal(island, weight, r);
    r[0] += 1e-6 / weight;
    assert_false(tpFrictionIsland_TakeShift(island, weight, r, island->r, u));
    CHECK_NEAR(island->residual, before, 0.0);
    CHECK_NEAR(island->q[0], q, 1e-15);
    CHECK_NEAR(island->r[0], 0.05 / system.scale[0], 1e-15);
}

// Residuals that are not small beside the velocities are the solver's to answer.
static void largeResidualsAreNoContradictions(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-4);
    tpFrictionSystem system;
    double r[rowCount], u[rowCount];
    tpFrictionIsland* island = loadIsland(&box, &system, 1.0);
    makeProximal(island, 1e-4, r);
    assert_false(tpFrictionIsland_TakeShift(island, 1e-4, r, island->r, u));
}

// Corners that slip against each other, at the border of their cones, contradict each other like
// gaps do: a solve with leave to change data takes few steps.
static void contradictingSlipsAreSolved(void** state) {
    (void)state;
    static const double signs[corners] = { 1.0, -1.0, -1.0, 1.0 };
    Box box;
    makeBox(&box, false);
    for (int c = 0; c < corners; ++c) {
        box.q[3 * c + 1] += 2e-8 * signs[c];
        box.q[3 * c + 2] += 1e-8 * signs[c];
    }
    warp(&box, 1e-8);
    double r[rowCount] = { 0 }, u[rowCount], shift[rowCount];
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = 1e-12;
    options.slack = 1e-7;
    options.shift = shift;
    tpSolveReport report;
    assert_int_equal(tpFriction_Solve(&box.problem, &options, memory, r, u, &report), tp_solved);
    assert_true(report.shift > 0.0 && report.shift <= 1e-7);
    assert_true(report.iterations < 60);
}

// A contradiction does not fall when the center moves, whatever the weight: one move shows it, and
// the weight need not come down first.
static void contradictionsAreSeenAtLargeWeights(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    tpFrictionSystem system;
    tpFrictionIsland* island = loadIsland(&box, &system, 1.1e-8);
    island->tolerance = 1e-12;
    island->grace = INFINITY;
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.proximalStart = 1e7; // the first weight is 1
    int iterations = 0;
    assert_int_equal(tpFrictionIsland_Proximal(island, &options, 3, &memory->arena, &iterations),
                     tp_solved);
    for (int c = 0; c < corners; ++c) {
        CHECK_NEAR(island->shift[3 * c] / system.scale[3 * c], -0.1 - box.q[3 * c], 1e-14);
    }
}

// Rows that give by nothing are rigid: they may contradict each other like those of a problem that
// does not speak of compliance, and are solved in the same steps.
static void noComplianceIsRigid(void** state) {
    (void)state;
    double none[rowCount] = { 0 }, r[2][rowCount], u[rowCount], shift[rowCount];
    int iterations[2];
    for (int isGiven = 0; isGiven < 2; ++isGiven) {
        Box box;
        makeBox(&box, false);
        warp(&box, 1e-8);
        box.problem.compliance = isGiven ? none : NULL;
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-12;
        options.slack = 1e-7;
        options.shift = shift;
        memset(r[isGiven], 0, sizeof(r[isGiven]));
        tpSolveReport report;
        assert_int_equal(tpFriction_Solve(&box.problem, &options, memory, r[isGiven], u, &report),
                         tp_solved);
        assert_true(report.shift > 0.0);
        iterations[isGiven] = report.iterations;
    }
    assert_int_equal(iterations[0], iterations[1]);
    assert_memory_equal(r[0], r[1], sizeof(r[0]));
}

static void solvesReportTheirShift(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    double r[rowCount], u[rowCount], shift[rowCount];
    for (int isAllowed = 0; isAllowed < 2; ++isAllowed) {
        tpFrictionOptions options = tpDefaultFrictionOptions();
        options.tolerance = 1e-13;
        options.slack = isAllowed ? 1e-7 : 0.0;
        options.shift = shift;
        memset(r, 0, sizeof(r));
        for (int c = 0; c < corners; ++c) {
            r[3 * c] = 0.05;
        }
        tpSolveReport report;
        tpSolveStatus status = tpFriction_Solve(&box.problem, &options, memory, r, u, &report);
        assert_true(isAllowed ? report.shift <= 1e-7 : report.shift == 0.0);
        // What is called solved is so with the data that the report speaks of.
        double q[rowCount];
        for (int i = 0; i < rowCount; ++i) {
            q[i] = box.q[i] + (isAllowed ? shift[i] : 0.0);
        }
        tpFrictionProblem judged = box.problem;
        judged.q = q;
        tpFrictionResidual residual;
        assert_true(tpFriction_Judge(&judged, r, u, memory, &residual));
        CHECK_NEAR(residual.natural, report.residual, 1e-15);
        assert_true(status == tp_solved || status == tp_solvedToRounding);
    }
}

// With all corners holding no residual is below the warp: four rows, each off by it.
static void boundsAreTrue(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    tpFrictionSystem system;
    tpFrictionOptions options = tpDefaultFrictionOptions();
    int iterations = 0;
    tpFrictionIsland* island = loadIsland(&box, &system, 0.0);
    assert_int_equal(
        tpFrictionIsland_FindRounding(island, &options, 50, &memory->arena, &iterations),
        tp_solvedToRounding);
    assert_true(island->isExhausted);
    assert_true(island->rounding <= 2e-8 * (1.0 + 1e-9) && island->rounding > 0.6e-8);
    // Consistent data have no bound.
    makeBox(&box, false);
    box.q[0] += 1e-8;
    box.q[3] += 1e-8;
    island = loadIsland(&box, &system, 0.0);
    assert_true(island->residual > 1e-9);
    assert_int_equal(
        tpFrictionIsland_FindRounding(island, &options, 50, &memory->arena, &iterations),
        tp_notApplicable);
    assert_false(island->isExhausted);
}

static void jawsAreFound(void** state) {
    (void)state;
    Box box;
    tpFrictionSystem system;
    double bound;
    makeBox(&box, true);
    tpFrictionIsland* island = loadIsland(&box, &system, 0.0);
    assert_true(tpFrictionIsland_FindJam(island, 50, &memory->arena, &bound));
    // Each of the four corners comes in with 0.1 m/s whatever the box does.
    assert_true(bound > 0.15 && bound <= 0.2 * (1.0 + 1e-9));
    assert_true(island->residual >= bound * (1.0 - 1e-9));
    // Jaws that follow each other hold the box between them.
    box.q[6] = box.q[9] = 0.1;
    island = loadIsland(&box, &system, 0.0);
    assert_true(tpFrictionIsland_FindJam(island, 50, &memory->arena, &bound));
    CHECK_NEAR(bound, 0.0, 1e-12);
    // A floor alone jams nothing, nor does one that is warped: a corner can let go.
    makeBox(&box, false);
    warp(&box, 0.01);
    island = loadIsland(&box, &system, 0.0);
    assert_true(tpFrictionIsland_FindJam(island, 50, &memory->arena, &bound));
    CHECK_NEAR(bound, 0.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictionsAreTakenOut),
        cmocka_unit_test(contradictionsAreSeenAtLargeWeights),
        cmocka_unit_test(worsePointsAreNotTaken),
        cmocka_unit_test(largeResidualsAreNoContradictions),
        cmocka_unit_test(contradictingSlipsAreSolved),
        cmocka_unit_test(noComplianceIsRigid),
        cmocka_unit_test(solvesReportTheirShift),
        cmocka_unit_test(boundsAreTrue),
        cmocka_unit_test(jawsAreFound),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
