// Parts of the iterated impulses: shock propagation; and an option that is another stepper's.

#include "steppers/bender_schmitt/shock.h"
#include "support/column.h"
#include "support/floor.h"

static void shockCarriesLoadsDown(void** state) {
    (void)state;
    Column* column = makeColumn();
    int plain = sweepsTo(column, 1e-3, true);
    startColumn(column);
    assert_true(tpShock_Propagate(&column->sweeper, &column->arena));
    double worst = 0.0;
    for (int level = 1; level <= height; ++level) {
        double load = height + 1.0 - level;
        worst = fmax(worst, fabs(loadUnder(column, level) / load - 1.0));
    }
    // The pass leaves impulses; velocities follow from them with the true masses.
    memset(column->velocities, 0, sizeof(tpVelocity) * (height + 1));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    tpSweeper_WarmStart(&column->sweeper);
    int after = sweepsTo(column, 1e-3, true);
    print_message("loads after the pass within %.1e; %d sweeps after it, %d without\n", worst,
                  after, plain);
    CHECK_BELOW(worst, 1e-3);
    assert_true(20 * after < plain);
    destroyColumn(column);
}

// What was an option of this stepper is a stepper of its own.
static void substepsAreAnotherStepper(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    tpWorld* world = tpCreateWorld(&def);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "substeps", "4", &error), tp_badInput);
    assert_non_null(strstr(error.message, "small-steps"));
    assert_int_equal(tpWorld_SetStepper(world, tp_smallSteps), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "substeps", "8", &error), tp_success);
    tpDestroyWorld(world);
}

enum { fieldSide = 13, thrownCount = 8 };

// Capsules that fall on uneven ground and roll over its edges.
static tpWorld* throwOnField(int seed) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.3);
    tpRandom random = { (uint64_t)seed };
    double heights[fieldSide * fieldSide];
    for (int i = 0; i < fieldSide * fieldSide; ++i) {
        heights[i] = randomBetween(&random, -0.06, 0.06);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field, capsule;
    assert_int_equal(tpMakeHeightField(&allocator, fieldSide, fieldSide, 0.4, 0.4, heights,
                                       tpIdentityPose(), &field, NULL),
                     tp_success);
    assert_int_equal(tpMakeCapsule(&(tpCapsule){ 0.1, 0.2, { 0.0, 0.0, 1.0 } }, tpIdentityPose(),
                                   &capsule, NULL),
                     tp_success);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpCreateShape(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &field, NULL);
    tpReleaseGeometry(&field);
    for (int i = 0; i < thrownCount; ++i) {
        bodyDef = tpDefaultBodyDef();
        bodyDef.position = tpMakeVec3(0.5 * (i % 3 - 1), 0.5 * (i / 3 - 1), 0.4 + 0.05 * i);
        bodyDef.rotation = randomRotation(&random);
        bodyDef.velocity = randomVec3(&random, -1.0, 1.0);
        bodyDef.angularVelocity = randomVec3(&random, -8.0, 8.0);
        tpCreateShape(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &capsule, NULL);
    }
    tpReleaseGeometry(&capsule);
    return world;
}

// The work of a step is bounded: an impact is located in a few drifts, also if the gap jumps when a
// contact gets another name, and energy that swings is not chased by ever shorter parts.
static void impactsTakeFewSolves(void** state) {
    (void)state;
    int most = 0, all = 0;
    double overlap = 0.0;
    for (int seed = 1; seed <= 3; ++seed) {
        tpWorld* world = throwOnField(seed);
        for (int k = 0; k < 120; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
            assert_int_equal(report.violations, 0);
            most = report.solveCount > most ? report.solveCount : most;
            all += report.solveCount;
            overlap = fmax(overlap, report.penetration);
        }
        tpDestroyWorld(world);
    }
    print_message("capsules on uneven ground: %d solves in 360 steps, %d in one; overlap %.1e m\n",
                  all, most, overlap);
    assert_in_range(most, 1, 1000);
    assert_in_range(all, 1, 30000);
    CHECK_BELOW(overlap, 1e-6);
}

// Cones shot at plates of 1 and 2 mm turn at up to 3e4 rad/s after the impact, radians in the
// shortest parts that other steps need: none of them gains energy.
static void shotConesGainNothing(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int i = 0; i < 24; ++i) {
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = tp_benderSchmitt;
        tpWorld* world = tpCreateWorld(&def);
        addMaterial(world, 0.3, 0.0);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.kind = tp_fixedBody;
        tpBox plate = { { 1.0, 1.0, i % 2 == 0 ? 0.001 : 0.002 } };
        tpCreateBox(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &plate, NULL);
        bodyDef = tpDefaultBodyDef();
        bodyDef.position.z = 3.01;
        bodyDef.rotation = randomRotation(&random);
        bodyDef.velocity = tpMakeVec3(20.0, 10.0, -500.0);
        bodyDef.angularVelocity = randomVec3(&random, -10.0, 10.0);
        tpCone cone = { .radius = 0.005, .length = 0.02, .axis = { 0.0, 0.0, 1.0 } };
        tpGeometry geometry;
        assert_int_equal(tpMakeCone(&cone, tpIdentityPose(), &geometry, NULL), tp_success);
        tpCreateShape(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &geometry, NULL);
        tpReleaseGeometry(&geometry);
        double start = tpWorld_GetKineticEnergy(world), energy = start;
        for (int k = 0; k < 4; ++k) {
            tpWorld_Step(world, 1.0 / 60.0);
            double after = tpWorld_GetKineticEnergy(world);
            CHECK_BELOW(after - energy, 1e-5 * start);
            energy = after;
        }
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shockCarriesLoadsDown),
        cmocka_unit_test(substepsAreAnotherStepper),
        cmocka_unit_test(impactsTakeFewSolves),
        cmocka_unit_test(shotConesGainNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
