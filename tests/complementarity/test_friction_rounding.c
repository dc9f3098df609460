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

static void contradictionsAreTakenOut(void** state) {
    (void)state;
    Box box;
    makeBox(&box, false);
    warp(&box, 1e-8);
    tpFrictionSystem system;
    tpFrictionOptions options = tpDefaultFrictionOptions();
    int iterations = 0;
    // Not more than is allowed.
    tpFrictionIsland* island = loadIsland(&box, &system, 0.9e-8);
    double before = island->residual;
    assert_true(before > 1e-8);
    assert_int_equal(
        tpFrictionIsland_MakeConsistent(island, &options, 50, &memory->arena, &iterations),
        tp_notApplicable);
    CHECK_NEAR(island->residual, before, 0.0);
    // The warp, and nothing else.
    island = loadIsland(&box, &system, 1.1e-8);
    tpFrictionIsland_MakeConsistent(island, &options, 50, &memory->arena, &iterations);
    assert_true(island->residual < 1e-15);
    for (int c = 0; c < corners; ++c) {
        double shift = island->shift[3 * c] / system.scale[3 * c];
        CHECK_NEAR(shift, -0.1 - box.q[3 * c], 1e-15);
        CHECK_NEAR(island->shift[3 * c + 1], 0.0, 1e-15);
    }
    // The same beside a tilt, which is the box's to answer.
    double warped = island->shift[0];
    box.q[0] += 3e-9;
    box.q[3] += 3e-9;
    island = loadIsland(&box, &system, 1.1e-8);
    tpFrictionIsland_MakeConsistent(island, &options, 50, &memory->arena, &iterations);
    assert_true(iterations > 0 && iterations < 20);
    CHECK_NEAR(island->shift[0], warped, 1e-3 * fabs(warped));
    CHECK_NEAR(island->shift[3], -warped, 1e-3 * fabs(warped));
}

// Corners at the border of their cones, which slip by less than anybody knows: it is a
// contradiction like that of the gaps, which no motion of the box could follow.
static void slipBelowTheResidualIsNone(void** state) {
    (void)state;
    static const double signs[corners] = { 1.0, -1.0, -1.0, 1.0 };
    static const double slips[] = { 1e-9, 1e-7 };
    for (int k = 0; k < 2; ++k) {
        Box box;
        tpFrictionSystem system;
        makeBox(&box, false);
        tpFrictionIsland* island = loadIsland(&box, &system, 1e-6);
        for (int c = 0; c < corners; ++c) {
            int row = island->row[c];
            island->r[row + 1] = -signs[c] * island->mu[c] * island->r[row];
        }
        tpFrictionIsland_Velocity(island, island->r, island->u);
        for (int i = 0; i < rowCount; ++i) {
            double wanted = i % 3 == 0   ? 1e-8 * signs[i / 3]
                            : i % 3 == 1 ? slips[k] * signs[i / 3]
                                         : 0.0;
            island->q[i] += wanted * system.scale[i] - island->u[i];
            island->u[i] = wanted * system.scale[i];
        }
        island->residual = sqrt(tpFrictionIsland_ResidualSquared(island, island->r, island->u));
        tpFrictionOptions options = tpDefaultFrictionOptions();
        int iterations = 0;
        tpFrictionIsland_MakeConsistent(island, &options, 50, &memory->arena, &iterations);
        assert_true(island->residual < 1e-14);
        for (int c = 0; c < corners; ++c) {
            double taken = -island->shift[3 * c + 1] / system.scale[3 * c + 1];
            CHECK_NEAR(taken, k == 0 ? slips[0] * signs[c] : 0.0, 1e-12);
        }
    }
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
        cmocka_unit_test(slipBelowTheResidualIsNone),
        cmocka_unit_test(solvesReportTheirShift),
        cmocka_unit_test(boundsAreTrue),
        cmocka_unit_test(jawsAreFound),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
