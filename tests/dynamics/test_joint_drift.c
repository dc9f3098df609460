// The correction of joints that are apart, where limits take part.

#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// Wheels on hinges about z, one beside the other, with upper limits.
static void addWheels(tpWorld* world, tpJointId* joints, const double* limits, int count) {
    for (int i = 0; i < count; ++i) {
        tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
        double moment = i == 1 ? 0.05 : 0.5; // the second takes the most of what the sum lacks
        tpBodyId wheel = addBody(world, place, 1.0, tpMakeVec3(moment, moment, moment));
        tpJointDef def = hingeOf(theWorld, wheel, place, axisZ);
        def.coordinate.hasLimits = true;
        def.coordinate.limits[0] = -INFINITY;
        def.coordinate.limits[1] = limits[i];
        joints[i] = addJoint(world, &def);
    }
}

static void holdSum(tpWorld* world, const tpJointId* joints, int count, double value) {
    tpCouplingTerm terms[3];
    for (int i = 0; i < count; ++i) {
        terms[i] = (tpCouplingTerm){ joints[i], 0, 1.0 };
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = count;
    def.hasValue = true;
    def.value = value;
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, NULL)));
}

static void turnWheel(tpWorld* world, int index, double angle) {
    world->system.poses.data[index].rotation = tpQuatExp(tpMakeVec3(0.0, 0.0, angle));
}

static int correct(tpWorld* world, double tolerance, double* drift) {
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    tpStepBudget_Begin(&world->system);
    int rounds = tpJoints_Correct(&world->system, memory, tolerance);
    *drift = tpJoints_PositionError(&world->system, world->system.poses.data);
    tpDestroySolverMemory(memory);
    return rounds;
}

// Three wheels whose angles sum up to one: the first past or near its limit of .3, the second at
// its own of .4, the third far from one.
static tpWorld* threeWheels(double first, double third) {
    const double limits[3] = { 0.3, 0.4, 10.0 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[3];
    addWheels(world, joints, limits, 3);
    holdSum(world, joints, 3, 1.0);
    turnWheel(world, 0, first);
    turnWheel(world, 1, 0.4);
    turnWheel(world, 2, third);
    return world;
}

// To bring the first wheel back from its limit the sum turns the second past its own, and the other
// way round: if a limit were forgotten as soon as it is met, errors would be halved by each round.
static void limitsThatPushEachOther(void** state) {
    (void)state;
    tpWorld* world = threeWheels(0.3 + 1e-5, 0.3 - 3e-5);
    double drift;
    int rounds = correct(world, 1e-12, &drift);
    assert_in_range(rounds, 1, 4);
    assert_true(drift <= 1e-12);
    const tpPose* poses = world->system.poses.data;
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(2.0 * asin(poses[i].rotation.z), i == 1 ? 0.4 : 0.3, 1e-12);
    }
    tpDestroyWorld(world);
}

// A round that pushes another wheel past its limit by more than what it mends is not the last one.
static void aWorseRoundIsNotTheLast(void** state) {
    (void)state;
    tpWorld* world = threeWheels(0.3 + 1e-9, 0.3 - 1e-9 - 9e-10);
    double drift;
    assert_true(correct(world, 1e-13, &drift) > 0);
    assert_true(drift <= 1e-13);
    tpDestroyWorld(world);
}

// Limits that leave the sum no way: as far apart as before at most.
static void noWayIsNotMadeWorse(void** state) {
    (void)state;
    const double limits[2] = { 0.3, 0.3 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[2];
    addWheels(world, joints, limits, 2);
    holdSum(world, joints, 2, 0.6 + 2e-7);
    turnWheel(world, 0, 0.3 + 1e-7);
    turnWheel(world, 1, 0.3);
    double before = tpJoints_PositionError(&world->system, world->system.poses.data), drift;
    assert_int_equal(correct(world, 1e-12, &drift), -1);
    assert_true(drift <= before);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limitsThatPushEachOther),
        cmocka_unit_test(aWorseRoundIsNotTheLast),
        cmocka_unit_test(noWayIsNotMadeWorse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
