// A few rows that are all held: impulses along them stop what they measure, also where something is
// held twice or a row moves nothing.

#include "dynamics/few_rows.h"
#include "joint_rows.h"
#include "support/joint_worlds.h"
#include "world/world.h"

static tpBodyId addLink(tpWorld* world, tpVec3 position) {
    return addBody(world, position, 1.5, tpMakeVec3(0.01, 0.012, 0.015));
}

// Links on hinges one after the other, the last one hinged to the world too if it is closed.
static tpWorld* makeChain(int count, bool isClosed, bool isPlanar) {
    tpWorldDef def = tpDefaultWorldDef();
    def.planar = isPlanar;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId last = { 0, 0 };
    tpVec3 axis = tpMakeVec3(0.0, 0.0, 1.0);
    for (int i = 0; i < count; ++i) {
        tpBodyId next = addLink(world, tpMakeVec3(0.2 * i + 0.1, i % 2 ? 0.1 : -0.1, 0.0));
        addHinge(world, last, next, tpMakeVec3(0.2 * i, 0.0, 0.0), axis);
        last = next;
    }
    if (isClosed) {
        addHinge(world, last, theWorld, tpMakeVec3(0.2 * count, 0.0, 0.0), axis);
    }
    return world;
}

// Bodies that move anyhow, and what rows measure of that. Returns the largest of these velocities.
static double measure(tpRows* rows, const tpSystem* system) {
    double largest = 0.0;
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k) {
            rows->q[k] = tpRows_RowVelocity(rows, k, system->velocities.data, rows->bodyA[b],
                                            rows->bodyB[b]);
            largest = fmax(largest, fabs(rows->q[k]));
        }
    }
    return largest;
}

static void push(tpSystem* system) {
    for (int i = 0; i < system->bodyCount; ++i) {
        double x = 1.0 + 0.3 * i, z = system->isPlanar ? 0.0 : 0.4;
        system->velocities.data[i] =
            (tpVelocity){ .linear = tpMakeVec3(x, 0.7 - x, z),
                          .angular = tpMakeVec3(z, -2.0 * z, 3.0 - 2.0 * x) };
    }
}

// Impulses stop what is measured, to rounding if nothing is held twice.
static void stop(tpWorld* world, double tolerance) {
    tpSystem* system = &world->system;
    push(system);
    tpRows rows = makeJointRows(system);
    assert_true(measure(&rows, system) > 0.5);
    assert_true(tpRows_SolveFew(&rows));
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    assert_true(measure(&rows, system) < tolerance);
    tpDestroyWorld(world);
}

static void whatIsHeldStops(void** state) {
    (void)state;
    stop(makeChain(1, false, false), 1e-13);
    stop(makeChain(7, false, false), 1e-12);
}

// The closed loop in space holds three directions twice.
static void whatIsHeldTwiceStops(void** state) {
    (void)state;
    stop(makeChain(3, true, false), 1e-10);
    stop(makeChain(4, true, false), 1e-10);
}

// A rod to the world that is there twice: of all impulses that stop the body the least ones are
// halves. The pivot of the second rod is rounding, of either sign.
static void twinsShareEvenly(void** state) {
    (void)state;
    for (int i = 0; i < 64; ++i) {
        tpWorldDef def = tpDefaultWorldDef();
        tpWorld* world = tpCreateWorld(&def);
        tpBodyId body = addLink(world, tpMakeVec3(0.1, 0.0, 0.0));
        tpJointDef rod = jointOf(tp_distanceJoint, theWorld, body, tpZeroVec3(), axisX);
        rod.anchorA = tpMakeVec3(0.3 + 0.07 * i, 1.0, 0.5 - 0.03 * i);
        rod.anchorB = tpMakeVec3(0.1, 0.02 * i, 0.05);
        addJoint(world, &rod);
        addJoint(world, &rod);
        tpSystem* system = &world->system;
        system->velocities.data[0].linear = tpNormalize(tpSub(rod.anchorB, rod.anchorA));
        tpRows rows = makeJointRows(system);
        assert_int_equal(rows.rowCount, 2);
        CHECK_NEAR(measure(&rows, system), 1.0, 1e-14);
        assert_true(tpRows_SolveFew(&rows));
        CHECK_NEAR(rows.impulse[0], rows.impulse[1], 1e-6 * fabs(rows.impulse[0]));
        tpRows_ApplyImpulses(&rows, system->velocities.data);
        assert_true(measure(&rows, system) < 1e-10);
        tpDestroyWorld(world);
    }
}

// Five links welded to each other and to the world at both ends: as many rows as may be, six of
// them held twice.
static void asManyAsMayBeStop(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId last = theWorld;
    tpVec3 axis = tpMakeVec3(0.0, 0.0, 1.0);
    for (int i = 0; i <= 5; ++i) {
        tpBodyId next = i < 5 ? addLink(world, tpMakeVec3(0.2 * i, 0.1 * i, 0.0)) : theWorld;
        tpJointDef weld =
            i < 5 ? jointOf(tp_fixedJoint, last, next, tpMakeVec3(0.2 * i, 0.0, 0.0), axis)
                  : jointOf(tp_fixedJoint, next, last, tpMakeVec3(1.0, 0.0, 0.0), axis);
        addJoint(world, &weld);
        last = next;
    }
    tpRows rows = makeJointRows(&world->system);
    assert_int_equal(rows.rowCount, tp_fewRows);
    stop(world, 1e-10);
}

// In the plane rows of a hinge across it move nothing, nor do three of a slide.
static void rowsOfThePlaneStop(void** state) {
    (void)state;
    stop(makeChain(3, false, true), 1e-12);
    tpWorldDef def = tpDefaultWorldDef();
    def.planar = true;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId cart = addLink(world, tpMakeVec3(0.1, 0.0, 0.0));
    tpJointDef slide =
        jointOf(tp_prismaticJoint, theWorld, cart, tpZeroVec3(), tpMakeVec3(1.0, 0.0, 0.0));
    addJoint(world, &slide);
    stop(world, 1e-12);
}

// Rows that give: what is left of their velocities is what their impulses make them give.
static void softRowsGive(void** state) {
    (void)state;
    tpWorld* world = makeChain(4, false, false);
    tpSystem* system = &world->system;
    push(system);
    tpRows rows = makeJointRows(system);
    measure(&rows, system);
    for (int k = 0; k < rows.rowCount; ++k) {
        rows.compliance[k] = 0.03 * (1 + k % 5);
    }
    assert_true(tpRows_SolveFew(&rows));
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    assert_true(measure(&rows, system) > 0.01);
    for (int k = 0; k < rows.rowCount; ++k) {
        CHECK_NEAR(rows.q[k], -rows.compliance[k] * rows.impulse[k], 1e-12);
    }
    tpDestroyWorld(world);
}

// More rows than a few, and rows that only push, are for others.
static void othersAreLeftAlone(void** state) {
    (void)state;
    tpWorld* world = makeChain(8, false, false);
    tpRows many = makeJointRows(&world->system);
    assert_int_equal(many.rowCount, 40);
    assert_false(tpRows_SolveFew(&many));
    tpDestroyWorld(world);
    world = makeChain(1, false, false);
    tpRows pushing = makeJointRows(&world->system);
    pushing.kinds[0] = tp_frictionNonnegative;
    pushing.impulse[0] = 7.0;
    assert_false(tpRows_SolveFew(&pushing));
    assert_true(pushing.impulse[0] == 7.0);
    tpDestroyWorld(world);
    // Nor is anything said of rows that are no numbers.
    world = makeChain(2, false, false);
    tpRows broken = makeJointRows(&world->system);
    broken.jacobianB[6] = NAN;
    broken.impulse[1] = 7.0;
    assert_false(tpRows_SolveFew(&broken));
    assert_true(broken.impulse[1] == 7.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatIsHeldStops),    cmocka_unit_test(whatIsHeldTwiceStops),
        cmocka_unit_test(asManyAsMayBeStop),  cmocka_unit_test(rowsOfThePlaneStop),
        cmocka_unit_test(othersAreLeftAlone), cmocka_unit_test(twinsShareEvenly),
        cmocka_unit_test(softRowsGive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
