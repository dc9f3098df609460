// Joints that hold directions twice: rows that depend on others are found and set aside, and
// linkages that only just move do.

#include "dynamics/redundancy.h"

#include <math.h>
#include <string.h>

#include "joint_rows.h"
#include "support/joint_worlds.h"
#include "world/world.h"

static tpBodyId addLink(tpWorld* world, tpVec3 position) {
    return addBody(world, position, 1.0, tpMakeVec3(0.01, 0.012, 0.015));
}

// A parallelogram in the x-z plane with hinges along y: 20 rows, of which three are redundant.
static tpWorld* makeParallelogram(tpStepperId stepper, bool isClosed) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId none = { 0, 0 };
    tpBodyId left = addLink(world, tpMakeVec3(0.1, 0.0, -0.1));
    tpBodyId bar = addLink(world, tpMakeVec3(0.45, 0.0, -0.2));
    tpBodyId right = addLink(world, tpMakeVec3(0.6, 0.0, -0.1));
    tpVec3 axis = tpMakeVec3(0.0, 1.0, 0.0);
    addHinge(world, none, left, tpMakeVec3(0.0, 0.0, 0.0), axis);
    addHinge(world, left, bar, tpMakeVec3(0.2, 0.0, -0.2), axis);
    addHinge(world, bar, right, tpMakeVec3(0.7, 0.0, -0.2), axis);
    if (isClosed) {
        addHinge(world, right, none, tpMakeVec3(0.5, 0.0, 0.0), axis);
    }
    return world;
}

static void dependentRowsAreSetAside(void** state) {
    (void)state;
    for (int isClosed = 0; isClosed < 2; ++isClosed) {
        tpWorld* world = makeParallelogram(tp_anitescu, isClosed);
        tpSystem* system = &world->system;
        tpRows rows = makeJointRows(system);
        size_t size = 6 * sizeof(double) * (size_t)rows.rowCount;
        double before[2][6 * 32];
        assert_true(size <= sizeof(before[0]));
        memcpy(before[0], rows.jacobianA, size);
        memcpy(before[1], rows.jacobianB, size);
        tpRedundancy redundancy;
        assert_true(tpRedundancy_SetAside(&redundancy, &rows, system));
        assert_int_equal(redundancy.count, isClosed ? 3 : 0);
        for (int i = 0; i < redundancy.count; ++i) {
            assert_true(rows.compliance[redundancy.rows[i]] == 1.0);
            rows.q[redundancy.rows[i]] = 0.0;
        }
        assert_true(tpRedundancy_PutBack(&redundancy, &rows, system));
        for (int i = 0; i < redundancy.count; ++i) {
            assert_true(rows.compliance[redundancy.rows[i]] == 0.0);
        }
        assert_memory_equal(before[0], rows.jacobianA, size);
        assert_memory_equal(before[1], rows.jacobianB, size);
        tpDestroyWorld(world);
    }
}

// Loops of more rows than are looked at stay as they are; that is no failure.
static void longLoopsAreLeftAlone(void** state) {
    (void)state;
    static const int links[] = { 30, 100 }; // 155 rows, and 505
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId last = theWorld;
        tpVec3 y = tpMakeVec3(0.0, 1.0, 0.0);
        for (int i = 0; i <= links[k]; ++i) {
            double angle = 6.0 * i / links[k];
            tpVec3 place = tpMakeVec3(cos(angle), 0.0, sin(angle));
            tpBodyId next = i < links[k] ? addLink(world, place) : theWorld;
            addHinge(world, last, next, place, y);
            last = next;
        }
        tpSystem* system = &world->system;
        tpRows rows = makeJointRows(system);
        assert_int_equal(rows.rowCount, 5 * (links[k] + 1));
        assert_true(tpRedundancy_Find(&rows, system));
        tpRedundancy redundancy;
        assert_true(tpRedundancy_SetAside(&redundancy, &rows, system));
        assert_int_equal(redundancy.count, k == 0 ? 3 : 0); // all links stay in their plane
        tpDestroyWorld(world);
    }
}

// The parallelogram swings as a pendulum does: energy is kept, no solve fails.
static void linkagesMove(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_chakrabortyTrinkle, tp_stewartTrinkle };
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = makeParallelogram(steppers[s], true);
        double start = tpWorld_GetPotentialEnergy(world), fastest = 0.0, end = start;
        for (int k = 0; k < 240; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 240.0);
            assert_int_equal(report.failureCount, 0);
            assert_int_equal(report.violations, 0);
            fastest = fmax(fastest, report.kineticAfter);
            end = report.kineticAfter + report.potentialAfter;
        }
        assert_true(fastest > 1.0);
        if (steppers[s] != tp_stewartTrinkle) { // implicit Euler damps
            CHECK_NEAR(end, start, 1e-3 * fastest);
        }
        tpDestroyWorld(world);
    }
}

static void setServos(tpWorld* world, bool hasServo) {
    for (int i = 0; i < 4; ++i) {
        tpJointId joint = tpWorld_GetJoint(world, i);
        tpCoordinateDef law = tpJoint_GetCoordinate(world, joint, 0);
        law.hasServo = hasServo;
        law.servo = (tpServo){ .stiffness = 1e4, .damping = 100.0, .effort = INFINITY };
        assert_int_equal(tpJoint_SetCoordinate(world, joint, 0, &law, NULL), tp_success);
    }
}

// The rows that are set aside now.
static int listSetAside(tpSystem* system, int found[3]) {
    tpRows rows = makeJointRows(system);
    tpRedundancy redundancy;
    assert_true(tpRedundancy_SetAside(&redundancy, &rows, system));
    for (int i = 0; i < redundancy.count && i < 3; ++i) {
        found[i] = redundancy.rows[i];
    }
    return redundancy.count;
}

// Rows of servos stand between the rigid ones in some solves of a step and not in others: the same
// rigid rows are set aside.
static void servosStandBetween(void** state) {
    (void)state;
    tpWorld* world = makeParallelogram(tp_anitescu, true);
    tpSystem* system = &world->system;
    int before[3], recalled[3], anew[3];
    setServos(world, true);
    assert_int_equal(listSetAside(system, before), 3);
    setServos(world, false);
    assert_int_equal(listSetAside(system, recalled), 3);
    system->stepCount += 1; // nothing is remembered from another step
    assert_int_equal(listSetAside(system, anew), 3);
    assert_memory_equal(recalled, anew, sizeof(anew));
    assert_true(before[2] > anew[2]);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependentRowsAreSetAside),
        cmocka_unit_test(longLoopsAreLeftAlone),
        cmocka_unit_test(linkagesMove),
        cmocka_unit_test(servosStandBetween),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
